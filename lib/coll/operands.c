/* operands.c - the operands of a collective: checked, and written into its fingerprint. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "pldi_coll.h"

/* Places in pldi_call.arg, alike for every collective: see calls.def. */
enum {
	ARG_DTYPE = 0,
	ARG_COUNT = 1,
	ARG_RECEIVED = 2,
	ARG_BUFFER = 4,
	ARG_SIGNAL = 6,
	ARG_CELL_STEP = 8,
	ARG_ROW_STEP = 9,
};

static pl_status null_status(void)
{
	return pl_last_error()->status;
}

/* Number of a window's buffer, and the byte in it: the same on every member. */
static void fingerprint_window(struct pldi_coll *c, int arg, pld_tensor t)
{
	const struct pld_window_ *b = pldi_view(t.as_)->buffer;

	c->what.arg[arg] = b->place.number;
	c->what.arg[arg + 1] = (char *)t.at_ - (char *)b->at;
}

static pl_status check_packed(const struct pldi_coll *c, const struct pl_layout *l,
			      const char *what)
{
	char shape[PLDI_DIMS_TEXT], strides[PLDI_DIMS_TEXT];
	pl_dims s, d = { l->ndim, { 0 } };

	if (pldi_is_packed(l))
		return PL_OK;
	s = pldi_shape_of(l);
	for (int i = 0; i < l->ndim; i++)
		d.d[i] = l->stride[i];
	return pldi_fail(PL_EINVAL, c->call, c->where,
			 "%s of shape %s has strides %s; a collective takes packed ones: copy it "
			 "with pl_copy",
			 what, pldi_dims_text(&s, shape), pldi_dims_text(&d, strides));
}

pl_status pldi_coll_target(struct pldi_coll *c, pld_tensor target, enum pldi_opcode op)
{
	c->d = pldi_window_check(target, PLDI_MAY_COLLECT, c->call, c->where, "target");
	if (!c->d)
		return null_status();
	c->what.op = op;
	c->target = target;
	c->dtype = target.as_->layout->dtype;
	c->count = target.as_->layout->count;
	c->elem_bytes = target.as_->layout->elem_bytes;
	c->what.arg[ARG_DTYPE] = c->dtype;
	c->what.arg[ARG_COUNT] = c->count;
	fingerprint_window(c, ARG_BUFFER, target);
	return check_packed(c, target.as_->layout, "target");
}

/* ---- what must not overlap ------------------------------------------------------------------- */

struct range {
	const void *at;
	int64_t bytes;
	const char *name;
};

static struct range range_of(pl_tensor t, const char *name)
{
	return (struct range){ t.at_, pldi_bytes(t.as_), name };
}

/* The cells that the call changes, and what lies between them. */
static struct range cells_of(const struct pldi_coll *c)
{
	return (struct range){ c->signal.at_, c->cells * (int64_t)sizeof(int32_t), ".signal" };
}

static bool ranges_meet(struct range a, struct range b)
{
	const uintptr_t x = (uintptr_t)a.at, y = (uintptr_t)b.at;

	return a.bytes > 0 && b.bytes > 0 && x < y + (uintptr_t)b.bytes &&
	       y < x + (uintptr_t)a.bytes;
}

static pl_status check_apart(const struct pldi_coll *c, struct range a, struct range b)
{
	if (!ranges_meet(a, b))
		return PL_OK;
	return pldi_fail(PL_EINVAL, c->call, c->where, "%s and %s overlap in memory; they must not",
			 a.name, b.name);
}

pl_status pldi_coll_apart(const struct pldi_coll *c, pl_tensor a, const char *a_name, pl_tensor b,
			  const char *b_name)
{
	return check_apart(c, range_of(a, a_name), range_of(b, b_name));
}

/* ---- the signal ------------------------------------------------------------------------------ */

/* Distances between cells, in elements; false: too few of them. */
static bool cell_steps(const struct pl_layout *l, int64_t rows, int32_t members, int64_t *row_step,
		       int64_t *cell_step)
{
	const bool packed = pldi_is_packed(l) && l->count / members >= rows;

	*row_step = 0;
	*cell_step = 0;
	if (rows == 0)
		return true;
	if (rows == 1 && l->dim[0] >= members && l->count >= members) {
		*cell_step = l->stride[0];
		return true;
	}
	if (rows > 1 && l->ndim > 1 && l->dim[0] >= rows && l->dim[1] >= members &&
	    l->count >= rows * members) {
		*row_step = l->stride[0];
		*cell_step = l->stride[1];
		return true;
	}
	*row_step = members;
	*cell_step = 1;
	return packed;
}

static pl_status fail_cells(const struct pldi_coll *c, const struct pl_layout *l, int64_t rows,
			    int32_t members)
{
	char text[PLDI_DIMS_TEXT], mode[64] = "";
	pl_dims shape = pldi_shape_of(l);

	if (rows == 1)
		return pldi_fail(PL_EINVAL, c->call, c->where,
				 "a signal of shape %s for %d members; it needs %d cells: [%d], "
				 "[%d, 1], or a packed window of as many elements",
				 pldi_dims_text(&shape, text), members, members, members, members);
	snprintf(mode, sizeof(mode), "%s",
		 rows == 2 && c->what.arg[3] == PLD_TWO_PHASE ? "PLD_TWO_PHASE" : "PLD_RING");
	return pldi_fail(PL_EINVAL, c->call, c->where,
			 "a signal of shape %s for %d members; %s needs %" PRId64 " rows of %d "
			 "cells: [%" PRId64 ", %d], or a packed window of as many elements",
			 pldi_dims_text(&shape, text), members, mode, rows, members, rows, members);
}

pl_status pldi_coll_signal(struct pldi_coll *c, pld_tensor signal, int64_t rows)
{
	const char *name = c->target.as_ ? ".signal"
					 : "signal"; /* of a barrier it is the operand */
	struct pldi_domain *d;
	pl_status rc;

	if (!signal.as_ && c->target.as_)
		return PL_OK;
	d = pldi_window_check(signal, PLDI_MAY_COLLECT, c->call, c->where, name);
	if (!d)
		return null_status();
	if ((rc = pldi_signal_check(signal, c->call, c->where)))
		return rc;
	if (c->d && d != c->d)
		return pldi_fail(PL_EINVAL, c->call, c->where,
				 ".signal is a window of another domain than target: its cells "
				 "are other members'");
	c->d = d;
	if (!cell_steps(signal.as_->layout, rows, d->pub.nranks, &c->row_step, &c->cell_step))
		return fail_cells(c, signal.as_->layout, rows, d->pub.nranks);
	c->signal = signal;
	if (rows)
		c->cells = (rows - 1) * c->row_step + (d->pub.nranks - 1) * c->cell_step + 1;
	if (c->target.as_ &&
	    (rc = check_apart(c, cells_of(c), range_of(pld_local(c->target), "target"))))
		return rc;
	fingerprint_window(c, ARG_SIGNAL, signal);
	c->what.arg[ARG_CELL_STEP] = c->cell_step;
	c->what.arg[ARG_ROW_STEP] = rows > 1 ? c->row_step : 0;
	return PL_OK;
}

/* ---- small arguments ------------------------------------------------------------------------- */

pl_status pldi_coll_op(const struct pldi_coll *c, pld_op op)
{
	if ((unsigned)op <= PLD_PROD)
		return PL_OK;
	return pldi_fail(PL_EINVAL, c->call, c->where,
			 "op is %d; allowed: PLD_SUM (0), PLD_MAX (1), PLD_MIN (2), PLD_PROD (3)",
			 (int)op);
}

pl_status pldi_coll_root(const struct pldi_coll *c, int root)
{
	if ((uint32_t)root < (uint32_t)c->d->pub.nranks)
		return PL_OK;
	return pldi_fail(PL_EINVAL, c->call, c->where,
			 "root %d; the target's domain has ranks 0 to %d", root,
			 c->d->pub.nranks - 1);
}

pl_status pldi_coll_blocks(const struct pldi_coll *c, int64_t *block)
{
	const struct pl_layout *l = c->target.as_->layout;
	char text[PLDI_DIMS_TEXT];
	pl_dims shape;

	if (l->dim[0] % c->d->pub.nranks == 0) {
		*block = c->count / c->d->pub.nranks;
		return PL_OK;
	}
	shape = pldi_shape_of(l);
	return pldi_fail(PL_EINVAL, c->call, c->where,
			 "target of shape %s for %d members; it is a block of rows a member: the "
			 "first extent must be a multiple of %d",
			 pldi_dims_text(&shape, text), c->d->pub.nranks, c->d->pub.nranks);
}

/* ---- local operands -------------------------------------------------------------------------- */

/* Memory of the segment may be another member's slice of the target. */
static pl_status check_overlap(const struct pldi_coll *c, pl_tensor t, const void *home,
			       const char *what)
{
	const struct pldi_segment *seg = &c->d->self->seg;
	const struct range all = { seg->base, (int64_t)seg->bytes, "" }, own = range_of(t, what);
	struct range slice = { NULL, c->count * c->elem_bytes, "" };

	if (t.at_ == home || !ranges_meet(own, all))
		return PL_OK;
	for (int32_t m = 0; m < c->d->pub.nranks; m++) {
		slice.at = pldi_peer_at(c->target, m, 0);
		if (!ranges_meet(own, slice))
			continue;
		if (m != c->d->pub.rank)
			return pldi_fail(PL_EINVAL, c->call, c->where,
					 "%s overlaps rank %d's slice of target", what, m);
		return pldi_fail(PL_EINVAL, c->call, c->where,
				 "%s overlaps the own slice of target; allowed: %sdisjoint from it",
				 what,
				 !home			    ? ""
				 : t.as_->count == c->count ? "exactly that slice, or "
							    : "exactly the own block of it, or ");
	}
	return PL_OK;
}

pl_status pldi_coll_local(const struct pldi_coll *c, pl_tensor t, int64_t count, const void *home,
			  const char *what)
{
	char text[PLDI_DIMS_TEXT];
	pl_dims shape;
	pl_status rc = pldi_tensor_check(t.as_, c->call, c->where, what);

	if (rc)
		return rc;
	if (t.as_->dtype != c->dtype)
		return pldi_fail(PL_EINVAL, c->call, c->where, "%s is %s, target is %s", what,
				 pl_dtype_name(t.as_->dtype), pl_dtype_name(c->dtype));
	if (count >= 0 && t.as_->count != count) {
		shape = pldi_shape_of(t.as_);
		return pldi_fail(PL_EINVAL, c->call, c->where,
				 "%s of shape %s has %" PRId64 " elements; it needs %" PRId64, what,
				 pldi_dims_text(&shape, text), t.as_->count, count);
	}
	if ((rc = check_packed(c, t.as_, what)))
		return rc;
	if ((rc = check_apart(c, range_of(t, what), cells_of(c))))
		return rc;
	return check_overlap(c, t, home, what);
}

/* ---- counts ---------------------------------------------------------------------------------- */

pl_status pldi_coll_counts(const struct pldi_coll *c, pl_tensor counts, const char *what)
{
	char text[PLDI_DIMS_TEXT];
	pl_dims shape;
	pl_status rc = pldi_tensor_check(counts.as_, c->call, c->where, what);

	if (rc)
		return rc;
	if (counts.as_->dtype != PL_INT32 && counts.as_->dtype != PL_INT64)
		return pldi_fail(PL_EINVAL, c->call, c->where, "%s is %s; allowed: INT32, INT64",
				 what, pl_dtype_name(counts.as_->dtype));
	if (counts.as_->count != c->d->pub.nranks) {
		shape = pldi_shape_of(counts.as_);
		return pldi_fail(PL_EINVAL, c->call, c->where,
				 "%s of shape %s for %d members; it needs an element for each",
				 what, pldi_dims_text(&shape, text), c->d->pub.nranks);
	}
	if ((rc = check_packed(c, counts.as_, what)))
		return rc;
	return check_apart(c, range_of(counts, what), cells_of(c));
}

int64_t pldi_coll_count(pl_tensor counts, int32_t member)
{
	return counts.as_->dtype == PL_INT32 ? ((const int32_t *)counts.at_)[member]
					     : ((const int64_t *)counts.at_)[member];
}

pl_status pldi_coll_received(struct pldi_coll *c, pld_tensor received)
{
	struct pldi_domain *d =
		pldi_window_check(received, PLDI_MAY_COLLECT, c->call, c->where, "recv_counts");
	pl_status rc;

	if (!d)
		return null_status();
	if (d != c->d)
		return pldi_fail(PL_EINVAL, c->call, c->where,
				 "recv_counts is a window of another domain than target");
	if (received.as_->layout->dtype != PL_INT32)
		return pldi_fail(PL_EINVAL, c->call, c->where, "recv_counts is %s; allowed: INT32",
				 pl_dtype_name(received.as_->layout->dtype));
	if ((rc = pldi_coll_counts(c, pld_local(received), "recv_counts")) ||
	    (rc = pldi_coll_apart(c, pld_local(received), "recv_counts", pld_local(c->target),
				  "target")))
		return rc;
	fingerprint_window(c, ARG_RECEIVED, received);
	return PL_OK;
}
