/*
 * allreduce.c - every slice becomes the reduction over all: the three schedules that the tutorials
 * build by hand (steps 08, 09 and 10), and the library's own.
 */
#include "config.h"

#include "pldi_coll.h"
#include "pldi_opts.h"

/* ---- mesh ------------------------------------------------------------------------------------ */

/*
 * Everybody reads every peer, a chunk at a time.  A chunk is stored over the own one when all have
 * read it: the barrier between is what a result in place costs.  The last one is also why the
 * caller may write its slice again when the call returns.
 */
static pl_status mesh(struct pldi_coll *c, pld_op op)
{
	struct pldi_domain *d = c->d;
	const int64_t most = PLDI_CHUNK_BYTES / c->elem_bytes;
	const int32_t me = d->pub.rank, n = d->pub.nranks;
	_Alignas(64) char sum[PLDI_CHUNK_BYTES];
	void *const out[] = { sum };
	pl_status rc = pldi_coll_barrier(c, 0, PLDI_STEP);

	for (int64_t at = 0; rc == PL_OK && (at < c->count || at == 0); at += most) {
		const int64_t elems = c->count - at < most ? c->count - at : most;

		for (int32_t m = 0; m < n; m++)
			d->source[m] = m == me ? pldi_coll_own(c, at)
					       : pldi_coll_read(c, m, at, elems);
		pldi_fold(c->dtype, op, d->source, n, out, 1, elems);
		rc = pldi_coll_barrier(c, 0, PLDI_REUSE);
		if (rc == PL_OK)
			pldi_coll_copy(pldi_coll_own(c, at), sum, elems * c->elem_bytes);
	}
	return rc;
}

/* ---- two phases ------------------------------------------------------------------------------ */

/*
 * Rank r reduces segment r, then everybody collects the segments.  Nobody but r reads segment r
 * before the second barrier, so the result may be stored in place at once; and r's copies of other
 * segments are read by nobody after it.
 */
static pl_status two_phase(struct pldi_coll *c, pld_op op)
{
	struct pldi_domain *d = c->d;
	const int32_t me = d->pub.rank, n = d->pub.nranks;
	const int64_t mine = pldi_segment_at(c->count, n, me);
	const int64_t elems = pldi_segment_at(c->count, n, me + 1) - mine;
	void *const out[] = { pldi_coll_own(c, mine) };
	pl_status rc = pldi_coll_barrier(c, 0, PLDI_STEP);

	if (rc)
		return rc;
	for (int32_t m = 0; m < n; m++)
		d->source[m] = m == me ? out[0] : pldi_coll_read(c, m, mine, elems);
	pldi_fold(c->dtype, op, d->source, n, out, 1, elems);
	if ((rc = pldi_coll_barrier(c, 1, PLDI_STEP)))
		return rc;
	for (int32_t m = 0; m < n; m++) {
		const int64_t at = pldi_segment_at(c->count, n, m);
		const int64_t size = pldi_segment_at(c->count, n, m + 1) - at;

		pldi_coll_copy(pldi_coll_own(c, at), pldi_coll_read(c, m, at, size),
			       size * c->elem_bytes);
	}
	return pldi_coll_barrier(c, 0, PLDI_REUSE);
}

/* ---- ring ------------------------------------------------------------------------------------ */

/*
 * P segments travel around the ring (P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce
 * algorithms for clusters of workstations", 2009): in round s < P - 1 a rank adds its left
 * neighbour's segment q to its own, in the P - 1 rounds after that it takes over finished ones.
 * Each round goes chunk by chunk, and row s of the signal counts the chunks that the left
 * neighbour has ready for round s.
 *
 * A chunk is overwritten in the gather half, P - 1 rounds after its reader was told of it; in each
 * of these rounds one rank further waited for the same chunk, so the writer's wait is later than
 * the reader's read, and no round needs a barrier.  The next call does: the last reads of a rank's
 * segments are not followed by a word to it.
 */
struct ring {
	struct pldi_coll *c;
	int32_t me, n, left, right;
	int64_t chunk;	/* elements */
	int64_t chunks; /* of the longest segment; shorter ones synchronise as often */
};

/* Chunks of the own data are ready for round `round` of the right neighbour. */
static void tell_right(const struct ring *r, int64_t round, int64_t chunks)
{
	if (r->c->signal.as_)
		pldi_coll_notify(r->c, round, r->right, r->me, (int32_t)chunks);
	else
		pldi_step(r->c->d);
}

/* The left neighbour's chunk k is ready for round `round`. */
static pl_status wait_left(struct ring *r, int64_t round, int64_t k)
{
	struct pldi_coll *c = r->c;
	const uint32_t steps = round ? (uint32_t)((round - 1) * r->chunks + k + 1) : 0;

	if (c->signal.as_)
		return pldi_coll_wait(c, round, r->left, (int32_t)k + 1);
	if (pldi_await(c->d, r->left, c->d->entry + steps))
		return pldi_fail_aborted(c->d->self, c->call, c->where);
	return PL_OK;
}

static pl_status ring_round(struct ring *r, int64_t round, pld_op op)
{
	struct pldi_coll *c = r->c;
	const bool reduces = round < r->n - 1;
	const int64_t s = reduces ? round + 2 : round - r->n + 2;
	const int32_t q = (int32_t)((r->me - s + 2 * r->n) % r->n);
	const int64_t first = pldi_segment_at(c->count, r->n, q);
	const int64_t end = pldi_segment_at(c->count, r->n, q + 1);

	for (int64_t k = 0; k < r->chunks; k++) {
		const int64_t at = first + k * r->chunk;
		const int64_t elems = end - at < r->chunk ? end - at : r->chunk;
		pl_status rc = wait_left(r, round, k);

		if (rc)
			return rc;
		/* a segment without elements is read all the same by step 10 */
		if (elems > 0 || k == 0) {
			const void *theirs = pldi_coll_read(c, r->left, at, elems);

			if (reduces)
				pldi_fold_two(c->dtype, op, pldi_coll_own(c, at),
					      pldi_coll_own(c, at), theirs, elems);
			else
				pldi_coll_copy(pldi_coll_own(c, at), theirs, elems * c->elem_bytes);
		}
		if (round < 2 * (r->n - 1) - 1)
			tell_right(r, round + 1, 1);
	}
	return PL_OK;
}

/* Row 0 has the closing barrier too, which pldi_coll_barrier does not know of. */
static pl_status close_ring(struct ring *r)
{
	struct pldi_coll *c = r->c;
	const int32_t chunks = (int32_t)r->chunks;
	pl_status rc = PL_OK;

	if (!c->signal.as_)
		return pldi_coll_barrier(c, 0, PLDI_REUSE);
	c->d->reuse = true;
	for (int32_t m = 0; m < r->n; m++)
		if (m != r->me)
			pldi_coll_notify(c, 0, m, r->me, 1);
	for (int32_t m = 0; m < r->n && rc == PL_OK; m++)
		if (m != r->me)
			rc = pldi_coll_wait(c, 0, m, m == r->left ? chunks + 1 : 1);
	for (int32_t m = 0; m < r->n && rc == PL_OK; m++)
		if (m != r->me)
			pldi_coll_notify(c, 0, r->me, m, m == r->left ? -chunks - 1 : -1);
	for (int64_t row = 1; row < 2 * (r->n - 1) && rc == PL_OK; row++)
		pldi_coll_notify(c, row, r->me, r->left, -chunks);
	c->d->reuse = false;
	return rc;
}

static pl_status ring(struct pldi_coll *c, pld_op op)
{
	const int32_t me = c->d->pub.rank, n = c->d->pub.nranks;
	struct ring r = { .c = c,
			  .me = me,
			  .n = n,
			  .left = (me - 1 + n) % n,
			  .right = (me + 1) % n,
			  .chunk = PLDI_CHUNK_BYTES / c->elem_bytes };
	const int64_t longest = (c->count + n - 1) / n;
	pl_status rc = PL_OK;

	r.chunks = longest ? (longest + r.chunk - 1) / r.chunk : 1;
	/* on lines the entry is a barrier, and says that the own data is there */
	if (!c->signal.as_)
		rc = pldi_coll_barrier(c, 0, PLDI_STEP);
	else
		tell_right(&r, 0, r.chunks);
	for (int64_t round = 0; rc == PL_OK && round < 2 * (n - 1); round++)
		rc = ring_round(&r, round, op);
	return rc ? rc : close_ring(&r);
}

/* ---- the library's own ----------------------------------------------------------------------- */

/* A few bytes travel beside the fingerprint: one meeting, and no peer's slice is touched. */
static pl_status small(struct pldi_coll *c, pld_op op, pl_tensor input)
{
	struct pldi_domain *d = c->d;
	void *const out[] = { c->target.at_ };
	pl_status rc = pldi_coll_exchange(c, (pl_tensor){ NULL, NULL },
					  input.as_ ? input.at_ : c->target.at_,
					  c->count * c->elem_bytes);

	for (int32_t m = 0; rc == PL_OK && m < d->pub.nranks; m++)
		d->source[m] = pldi_coll_posted(c, m, c->count * c->elem_bytes);
	if (rc == PL_OK)
		pldi_fold(c->dtype, op, d->source, d->pub.nranks, out, 1, c->count);
	return rc;
}

/*
 * Rank r reduces segment r straight from all slices and stores it straight into all slices: every
 * byte is read once and written once, and between two meetings nobody else touches segment r.
 */
static pl_status shares(struct pldi_coll *c, pld_op op)
{
	struct pldi_domain *d = c->d;
	const int32_t me = d->pub.rank, n = d->pub.nranks;
	const int64_t at = pldi_segment_at(c->count, n, me);
	const int64_t elems = pldi_segment_at(c->count, n, me + 1) - at;
	pl_status rc = pldi_coll_barrier(c, 0, PLDI_STEP);

	if (rc)
		return rc;
	for (int32_t m = 0; m < n; m++) {
		d->source[m] = pldi_coll_read(c, m, at, elems);
		d->target[m] = pldi_coll_write(c, m, at, elems);
	}
	pldi_fold(c->dtype, op, d->source, n, d->target, n, elems);
	return pldi_coll_barrier(c, 0, PLDI_REUSE);
}

static int64_t signal_rows(pld_mode mode, int32_t n)
{
	return mode == PLD_RING ? 2 * ((int64_t)n - 1) : mode == PLD_TWO_PHASE ? 2 : 1;
}

pl_status(pld_allreduce)(pld_tensor target, const struct pld_allreduce_opts *opts,
			 const char *where)
{
	struct pldi_coll c = { .call = "pld_allreduce", .where = where };
	struct pld_allreduce_opts o = { 0 };
	pld_mode mode;
	pl_status rc;

	if ((rc = pldi_coll_target(&c, target, PLDI_CALL_ALLREDUCE)) ||
	    (opts && (rc = pldi_opts(&o, sizeof(o), opts, 0, c.call, where))) ||
	    (rc = pldi_coll_op(&c, o.op)))
		return rc;
	if ((unsigned)o.mode > PLD_RING)
		return pldi_fail(PL_EINVAL, c.call, where,
				 "mode is %d; allowed: PLD_AUTO (0), PLD_MESH (1), PLD_TWO_PHASE "
				 "(2), PLD_RING (3)",
				 (int)o.mode);
	mode = o.mode == PLD_AUTO && o.signal.as_ ? PLD_MESH : o.mode;
	c.what.arg[2] = o.op;
	c.what.arg[3] = mode;
	if ((rc = pldi_coll_signal(&c, o.signal, signal_rows(mode, c.d->pub.nranks))) ||
	    (o.input.as_ && (rc = pldi_coll_local(&c, o.input, c.count, target.at_, ".input"))))
		return rc;

	if (mode == PLD_AUTO && pldi_coll_fits_payload(&c, c.count * c.elem_bytes))
		return pldi_coll_end(&c, small(&c, o.op, o.input));
	if ((rc = pldi_coll_begin(&c, o.input, NULL)))
		return pldi_coll_end(&c, rc);
	if (c.d->pub.nranks == 1) /* the result is there */
		return pldi_coll_end(&c, pldi_coll_barrier(&c, 0, PLDI_REUSE));
	switch (mode) {
	case PLD_MESH:
		rc = mesh(&c, o.op);
		break;
	case PLD_TWO_PHASE:
		rc = two_phase(&c, o.op);
		break;
	case PLD_RING:
		rc = ring(&c, o.op);
		break;
	default:
		rc = shares(&c, o.op);
		break;
	}
	return pldi_coll_end(&c, rc);
}
