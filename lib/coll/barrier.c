/*
 * barrier.c - the barrier: on the library's flags, or on the caller's cells by credits.
 *
 * On cells, member r's cell in member q's slice is the one of index r:
 *
 *     [B1] for each peer:   peer.cell[me] += 1
 *     [B2] for each source: wait until me.cell[source] >= 1
 *     [B3] for each source: me.cell[source] -= 1
 *
 * Nobody leaves before all have entered, since B2 needs the B1 of every peer.  A cell holds 0, 1,
 * or 2: a fast peer may add the credit of its next barrier before B3 here, but not a third, since
 * its next B2 needs this rank's next B1.  Hence >= and not ==, and a subtraction and not a store of
 * 0, which would lose that credit.  After all have returned the cells are 0.
 */
#include "config.h"

#include <pld/coll.h>

#include "pldi_agree.h"
#include "pldi_signal.h"

pl_status pld_barrier_domain(pld_ctx domain, const char *where)
{
	static const char call[] = "pld_barrier";
	static const struct pldi_call what = { .op = PLDI_CALL_BARRIER };
	struct pldi_domain *d;

	if (!pldi_live(PLDI_MAY_COLLECT, call, where) || !(d = pldi_domain_of(domain, call, where)))
		return pl_last_error()->status;
	return pldi_collect(d, &what, NULL, where);
}

/* Distance in elements between the cells of two neighbouring members, or 0 and an error. */
static int64_t cell_step(const struct pl_layout *l, int32_t members, const char *call,
			 const char *where)
{
	char text[PLDI_DIMS_TEXT];
	pl_dims shape = pldi_shape_of(l);

	if (l->dim[0] >= members && l->count >= members)
		return l->stride[0];
	if (pldi_is_packed(l) && l->count >= members)
		return 1;
	pldi_fail(PL_EINVAL, call, where,
		  "a signal of shape %s for %d members; it needs %d cells: [%d], "
		  "[%d, 1], or a packed window of as many elements",
		  pldi_dims_text(&shape, text), members, members, members, members);
	return 0;
}

/* What a wait of [B2] gives up for: the source is in another call, or a member has found out. */
struct source {
	const struct pldi_domain *domain;
	const struct pldi_call *what;
	int32_t member;
};

static bool disagrees(const void *arg)
{
	const struct source *s = arg;

	/* relaxed: a flag that carries no data; its setter rings the bells */
	return atomic_load_explicit(&s->domain->shm->broken, memory_order_relaxed) ||
	       pldi_differs(s->domain, s->what, s->member);
}

/* [B1] [B2] [B3].  -1: the job ends, or members disagree. */
static int credits(pld_tensor signal, struct pldi_domain *d, int64_t step,
		   const struct pldi_call *what)
{
	const int64_t bytes = step * (int64_t)sizeof(int32_t);
	const int32_t me = d->pub.rank, n = d->pub.nranks;
	struct source source = { d, what, 0 };
	const struct pldi_stop stop = { disagrees, &source };
	struct pldi_cell cell = { .expected = 1,
				  .cmp = PLD_WAIT_GE,
				  .buffer = pldi_view(signal.as_)->buffer->place.number };

	for (int32_t peer = 0; peer < n; peer++)
		if (peer != me)
			pldi_signal(signal, d, peer, me * bytes, 1, PLD_NOTIFY_ADD);
	for (int32_t m = 0; m < n; m++) {
		if (m == me)
			continue;
		source.member = m;
		cell.index = m * step;
		cell.word = (const _Atomic int32_t *)signal.at_ + cell.index;
		if (pldi_wait_cells(d->self, &cell, 1, PLD_FOREVER, &stop) < 0)
			return -1;
	}
	for (int32_t m = 0; m < n; m++)
		if (m != me)
			pldi_signal(signal, d, me, m * bytes, -1, PLD_NOTIFY_ADD);
	return 0;
}

pl_status pld_barrier_signal(pld_tensor signal, const char *where)
{
	static const char call[] = "pld_barrier";
	struct pldi_domain *d = pldi_window_check(signal, PLDI_MAY_COLLECT, call, where, "signal");
	struct pldi_call what = { .op = PLDI_CALL_BARRIER_SIGNAL };
	const struct pld_window_ *b;
	int64_t step;
	pl_status rc;

	if (!d)
		return pl_last_error()->status;
	if ((rc = pldi_signal_check(signal, call, where)))
		return rc;
	step = cell_step(signal.as_->layout, d->pub.nranks, call, where);
	if (!step)
		return pl_last_error()->status;
	if ((rc = pldi_begin(d, call, where)))
		return rc;
	b = pldi_view(signal.as_)->buffer;
	what.arg[0] = b->place.number;
	what.arg[1] = (char *)signal.at_ - (char *)b->at;
	what.arg[2] = step;
	if (d->broken) {
		rc = pldi_agree(d, &what, NULL, where);
	} else {
		pldi_post(d, &what, NULL, where);
		if (credits(signal, d, step, &what) == 0)
			rc = pldi_compare(d, &what, where);
		else
			rc = pldi_aborted(d->self) ? pldi_fail_aborted(d->self, call, where)
						   : pldi_meet(d, &what, where);
	}
	pldi_end(d);
	return rc;
}
