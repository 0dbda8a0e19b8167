/*
 * sync.c - how the members of a collective meet: by credits on the caller's cells, or by posts on
 * the library's lines.
 *
 * On cells, member r's cell of a row in member q's slice is the one of index r:
 *
 *     barrier g of a call on a row, g = 1, 2, ..
 *     [B1] for each peer:   peer.cell[me] += 1
 *     [B2] for each source: wait until me.cell[source] >= g
 *     and at the end of the call, K barriers having been on the row:
 *     [B3] for each source: me.cell[source] -= K
 *
 * Nobody leaves barrier g before all have entered it, since B2 needs the B1 of every peer.  A cell
 * holds 0 to K + 1: a fast peer may add the first credit of its next call before B3 here, but not a
 * second one, since its next B2 needs this rank's next B1.  Hence >= and not ==, and a subtraction
 * and not a store of 0, which would lose that credit.  After all have returned the cells are 0.
 */
#include "config.h"

#include "pldi_coll.h"
#include "pldi_delay.h"

/* ---- begin and end --------------------------------------------------------------------------- */

pl_status pldi_coll_begin(struct pldi_coll *c, pl_tensor input, const int64_t payload[PLDI_PAYLOAD])
{
	struct pldi_domain *d = c->d;
	pl_status rc = pldi_begin(d, c->call, c->where);

	if (rc)
		return rc;
	c->begun = true;
	if (d->broken) /* which this says */
		return pldi_agree(d, &c->what, payload, c->where);
	if (input.as_)
		pldi_coll_copy(c->target.at_, input.at_, c->count * c->elem_bytes);
	PLDI_DELAY();
	pldi_post(d, &c->what, payload, c->where);
	return PL_OK;
}

/* [B3] */
static void take_back(struct pldi_coll *c)
{
	PLDI_DELAY();
	c->d->reuse = true;
	for (int row = 0; row < PLDI_BARRIER_ROWS; row++)
		for (int32_t m = 0; c->credits[row] && m < c->d->pub.nranks; m++)
			if (m != c->d->pub.rank)
				pldi_coll_notify(c, row, c->d->pub.rank, m, -c->credits[row]);
	c->d->reuse = false;
}

pl_status pldi_coll_end(struct pldi_coll *c, pl_status rc)
{
	if (c->begun) {
		if (rc == PL_OK && c->signal.as_)
			take_back(c);
		pldi_end(c->d);
	}
	return rc;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static int64_t cell_at(const struct pldi_coll *c, int64_t row, int32_t member)
{
	return row * c->row_step + member * c->cell_step;
}

void pldi_coll_notify(struct pldi_coll *c, int64_t row, int32_t peer, int32_t member, int32_t add)
{
	pldi_signal(c->signal, c->d, peer, cell_at(c, row, member) * (int64_t)sizeof(int32_t), add,
		    PLD_NOTIFY_ADD);
}

/* What a wait gives up for: the source is in another call, or a member has found out. */
struct source {
	const struct pldi_domain *domain;
	int32_t member;
};

static bool disagrees(const void *arg)
{
	const struct source *s = arg;

	/* relaxed: a flag that carries no data; its setter rings the bells */
	return atomic_load_explicit(&s->domain->shm->broken, memory_order_relaxed) ||
	       pldi_differs(s->domain, s->member);
}

pl_status pldi_coll_wait(struct pldi_coll *c, int64_t row, int32_t member, int32_t expected)
{
	const struct source source = { c->d, member };
	const struct pldi_stop stop = { disagrees, &source };
	struct pldi_cell cell = { .expected = expected,
				  .cmp = PLD_WAIT_GE,
				  .index = cell_at(c, row, member),
				  .reuse = c->d->reuse,
				  .who = { c->d->world_rank[member], c->d->id, c->d->seq } };

	cell.word = (const _Atomic int32_t *)c->signal.at_ + cell.index;
	pldi_cell_place(&cell, c->signal);
	if (pldi_wait_cells(c->d->self, &cell, 1, PLD_FOREVER, &stop) < 0)
		return pldi_aborted(c->d->self) ? pldi_fail_aborted(c->d->self, c->call, c->where)
						: pldi_meet(c->d, &c->what, c->where);
	if (c->compared)
		return PL_OK;
	/* it posts before its credit; but of other cells than these the credit may be another's */
	if (pldi_await(c->d, member, c->d->entry))
		return pldi_fail_aborted(c->d->self, c->call, c->where);
	return pldi_compare_one(c->d, &c->what, member, c->where);
}

static pl_status barrier_on_cells(struct pldi_coll *c, int row)
{
	const int32_t me = c->d->pub.rank, n = c->d->pub.nranks, g = ++c->credits[row];
	pl_status rc = PL_OK;

	PLDI_DELAY();
	for (int32_t m = 0; m < n; m++) /* [B1] */
		if (m != me)
			pldi_coll_notify(c, row, m, me, 1);
	PLDI_DELAY();
	for (int32_t m = 0; m < n && rc == PL_OK; m++) /* [B2] */
		if (m != me)
			rc = pldi_coll_wait(c, row, m, g);
	return rc;
}

/* ---- both ------------------------------------------------------------------------------------ */

pl_status pldi_coll_barrier(struct pldi_coll *c, int row, enum pldi_part part)
{
	struct pldi_domain *d = c->d;
	pl_status rc = PL_OK;

	if (c->signal.as_) {
		d->reuse = part == PLDI_REUSE;
		rc = barrier_on_cells(c, row);
		d->reuse = false;
	} else if (!c->compared) {
		rc = pldi_meet(d, &c->what, c->where);
	} else {
		pldi_step(d);
		if (pldi_await_all(d))
			rc = pldi_fail_aborted(d->self, c->call, c->where);
	}
	PLDI_DELAY();
	c->compared = true;
	return rc;
}

pl_status pldi_coll_exchange(struct pldi_coll *c, pl_tensor input, const void *mine, int64_t bytes)
{
	int64_t payload[PLDI_PAYLOAD] = { 0 };
	pl_status rc;

	if (bytes)
		memcpy(payload, mine, (size_t)bytes);
	rc = pldi_coll_begin(c, input, payload);
	return rc ? rc : pldi_coll_barrier(c, 0, PLDI_STEP);
}

/* ---- copies ---------------------------------------------------------------------------------- */

void pldi_coll_copy(void *dst, const void *src, int64_t bytes)
{
	const struct pldi_runs run = { .run_elems = bytes, .elem_bytes = 1 };

	if (dst != src && bytes)
		pldi_rma_copy(&run, dst, src);
}
