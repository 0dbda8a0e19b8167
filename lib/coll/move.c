/*
 * move.c - blocks between members, pushed: allgather, gather, scatter, all_to_all.
 *
 * Who writes into peers waits on entry until all have come, since a slower peer may still be
 * reading what the last call brought.  That barrier is what a step, which is used once, does not
 * need.
 */
#include "config.h"

#include "pldi_coll.h"
#include "pldi_opts.h"

static const pl_tensor none;

/* block bytes from src into elements [at, at + block) of a member's slice. */
static void push(struct pldi_coll *c, int32_t member, int64_t at, const void *src, int64_t block)
{
	pldi_coll_copy(pldi_coll_write(c, member, at, block), src, block * c->elem_bytes);
}

/* ---- everybody's to everybody ---------------------------------------------------------------- */

static pl_status small_allgather(struct pldi_coll *c, pl_tensor local, int64_t block)
{
	const int64_t bytes = block * c->elem_bytes;
	pl_status rc = pldi_coll_exchange(c, none, local.at_, bytes);

	for (int32_t m = 0; rc == PL_OK && m < c->d->pub.nranks; m++)
		memcpy(pldi_coll_own(c, m * block), pldi_coll_posted(c, m, bytes), (size_t)bytes);
	return rc;
}

static pl_status allgather(struct pldi_coll *c, pl_tensor local, int64_t block)
{
	const int32_t me = c->d->pub.rank, n = c->d->pub.nranks;
	pl_status rc;

	if ((rc = pldi_coll_begin(c, none, NULL)) || (rc = pldi_coll_barrier(c, 0, PLDI_REUSE)))
		return rc;
	for (int32_t i = 0; i < n; i++)
		push(c, pldi_coll_turn(c, i), me * block, local.at_, block);
	return pldi_coll_barrier(c, 0, PLDI_STEP);
}

pl_status(pld_allgather)(pl_tensor local, pld_tensor target, const struct pld_move_opts *opts,
			 const char *where)
{
	struct pldi_coll c = { .call = "pld_allgather", .where = where };
	struct pld_move_opts o = { 0 };
	int64_t block;
	pl_status rc;

	if ((rc = pldi_coll_target(&c, target, PLDI_CALL_ALLGATHER)) ||
	    (opts && (rc = pldi_opts(&o, sizeof(o), opts, 0, c.call, where))) ||
	    (rc = pldi_coll_blocks(&c, &block)) || (rc = pldi_coll_signal(&c, o.signal, 1)) ||
	    (rc = pldi_coll_local(&c, local, block, pldi_coll_own(&c, c.d->pub.rank * block),
				  "local")))
		return rc;
	rc = pldi_coll_fits_payload(&c, block * c.elem_bytes) ? small_allgather(&c, local, block)
							      : allgather(&c, local, block);
	return pldi_coll_end(&c, rc);
}

/* ---- with a root ----------------------------------------------------------------------------- */

pl_status(pld_gather)(pl_tensor local, pld_tensor target, const struct pld_rooted_opts *opts,
		      const char *where)
{
	struct pldi_coll c = { .call = "pld_gather", .where = where };
	struct pld_rooted_opts o = { 0 };
	int64_t block, at;
	pl_status rc;

	if ((rc = pldi_coll_target(&c, target, PLDI_CALL_GATHER)) ||
	    (opts && (rc = pldi_opts(&o, sizeof(o), opts, 0, c.call, where))) ||
	    (rc = pldi_coll_root(&c, o.root)) || (rc = pldi_coll_blocks(&c, &block)))
		return rc;
	at = c.d->pub.rank * block;
	c.what.arg[2] = o.root;
	if ((rc = pldi_coll_signal(&c, o.signal, 1)) ||
	    (rc = pldi_coll_local(&c, local, block, pldi_coll_own(&c, at), "local")))
		return rc;
	if ((rc = pldi_coll_begin(&c, none, NULL)) == PL_OK &&
	    (rc = pldi_coll_barrier(&c, 0, PLDI_REUSE)) == PL_OK) {
		push(&c, o.root, at, local.at_, block);
		rc = pldi_coll_barrier(&c, 0, PLDI_STEP);
	}
	return pldi_coll_end(&c, rc);
}

pl_status(pld_scatter)(pl_tensor input, pld_tensor target, const struct pld_rooted_opts *opts,
		       const char *where)
{
	struct pldi_coll c = { .call = "pld_scatter", .where = where };
	struct pld_rooted_opts o = { 0 };
	int32_t n;
	pl_status rc;

	if ((rc = pldi_coll_target(&c, target, PLDI_CALL_SCATTER)) ||
	    (opts && (rc = pldi_opts(&o, sizeof(o), opts, 0, c.call, where))) ||
	    (rc = pldi_coll_root(&c, o.root)))
		return rc;
	n = c.d->pub.nranks;
	c.what.arg[2] = o.root;
	if ((rc = pldi_coll_signal(&c, o.signal, 1)) ||
	    (c.d->pub.rank == o.root &&
	     (rc = pldi_coll_local(&c, input, n * c.count, NULL, "input"))))
		return rc;
	if ((rc = pldi_coll_begin(&c, none, NULL)) == PL_OK &&
	    (rc = pldi_coll_barrier(&c, 0, PLDI_REUSE)) == PL_OK) {
		for (int32_t m = 0; c.d->pub.rank == o.root && m < n; m++)
			push(&c, m, 0, (char *)input.at_ + m * c.count * c.elem_bytes, c.count);
		rc = pldi_coll_barrier(&c, 0, PLDI_STEP);
	}
	return pldi_coll_end(&c, rc);
}

/* ---- a different one for every pair ---------------------------------------------------------- */

pl_status(pld_all_to_all)(pl_tensor input, pld_tensor target, const struct pld_move_opts *opts,
			  const char *where)
{
	struct pldi_coll c = { .call = "pld_all_to_all", .where = where };
	struct pld_move_opts o = { 0 };
	int64_t block;
	pl_status rc;

	if ((rc = pldi_coll_target(&c, target, PLDI_CALL_ALL_TO_ALL)) ||
	    (opts && (rc = pldi_opts(&o, sizeof(o), opts, 0, c.call, where))) ||
	    (rc = pldi_coll_blocks(&c, &block)) || (rc = pldi_coll_signal(&c, o.signal, 1)) ||
	    (rc = pldi_coll_local(&c, input, c.count, NULL, "input")))
		return rc;
	if ((rc = pldi_coll_begin(&c, none, NULL)) == PL_OK &&
	    (rc = pldi_coll_barrier(&c, 0, PLDI_REUSE)) == PL_OK) {
		for (int32_t i = 0; i < c.d->pub.nranks; i++) {
			const int32_t m = pldi_coll_turn(&c, i);

			push(&c, m, c.d->pub.rank * block,
			     (char *)input.at_ + m * block * c.elem_bytes, block);
		}
		rc = pldi_coll_barrier(&c, 0, PLDI_STEP);
	}
	return pldi_coll_end(&c, rc);
}
