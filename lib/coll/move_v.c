/* move_v.c - blocks of different sizes: allgather_v, all_to_all_v.  Rows are first extents. */
#include "config.h"

#include <inttypes.h>

#include "pldi_coll.h"
#include "pldi_opts.h"

static const pl_tensor none;

/* A member's recv_counts[me] becomes rows; of a window beside the target. */
static void push_count(struct pldi_coll *c, pld_tensor received, int32_t member, int64_t rows)
{
	const int64_t off = c->d->pub.rank * (int64_t)sizeof(int32_t);
	int32_t *at = pldi_peer_move(PLDI_ACT_PUT, received, c->d, member, off, sizeof(*at));

	*at = (int32_t)rows;
}

static void push_rows(struct pldi_coll *c, int32_t member, int64_t row, const void *src,
		      int64_t rows)
{
	const int64_t elems = pldi_coll_row(c);

	pldi_coll_copy(pldi_coll_write(c, member, row * elems, rows * elems), src,
		       rows * elems * c->elem_bytes);
}

static pl_status fail_rows(const struct pldi_coll *c, const char *what, int64_t rows)
{
	return pldi_fail(PL_EINVAL, c->call, c->where,
			 "%s has %" PRId64 " rows; recv_counts are INT32: at most %d", what, rows,
			 INT32_MAX);
}

/* ---- allgather_v ----------------------------------------------------------------------------- */

/* Everybody's rows become known: beside the fingerprints, or by a round of their own on cells. */
static pl_status exchange_rows(struct pldi_coll *c, int64_t rows, pld_tensor received)
{
	int32_t *own = received.at_;
	pl_status rc;

	if (!c->signal.as_) {
		if ((rc = pldi_coll_exchange(c, none, &rows, sizeof(rows))))
			return rc;
		for (int32_t m = 0; m < c->d->pub.nranks; m++)
			own[m] = (int32_t) * (const int64_t *)pldi_coll_posted(c, m, sizeof(rows));
		return PL_OK;
	}
	if ((rc = pldi_coll_begin(c, none, NULL)) || (rc = pldi_coll_barrier(c, 0, PLDI_REUSE)))
		return rc;
	for (int32_t m = 0; m < c->d->pub.nranks; m++)
		push_count(c, received, m, rows);
	return pldi_coll_barrier(c, 0, PLDI_STEP);
}

pl_status(pld_allgather_v)(pl_tensor local, pld_tensor target, pld_tensor recv_counts,
			   const struct pld_move_opts *opts, const char *where)
{
	struct pldi_coll c = { .call = "pld_allgather_v", .where = where };
	struct pld_move_opts o = { 0 };
	int64_t rows, before = 0, all = 0, most;
	pl_status rc;

	if ((rc = pldi_coll_target(&c, target, PLDI_CALL_ALLGATHER_V)) ||
	    (opts && (rc = pldi_opts(&o, sizeof(o), opts, 0, c.call, where))) ||
	    (rc = pldi_coll_signal(&c, o.signal, 1)) ||
	    (rc = pldi_coll_received(&c, recv_counts)) ||
	    (rc = pldi_coll_local(&c, local, -1, NULL, "local")))
		return rc;
	rows = local.as_->dim[0];
	if (rows > INT32_MAX)
		return fail_rows(&c, "local", rows);
	if ((rc = pldi_coll_local(&c, local, rows * pldi_coll_row(&c), NULL, "local")) ||
	    (rc = pldi_coll_apart(&c, local, "local", pld_local(recv_counts), "recv_counts")))
		return rc;

	if ((rc = exchange_rows(&c, rows, recv_counts)))
		return pldi_coll_end(&c, rc);
	most = target.as_->layout->dim[0];
	for (int32_t m = 0; m < c.d->pub.nranks; m++) {
		before += m < c.d->pub.rank ? ((int32_t *)recv_counts.at_)[m] : 0;
		all += ((int32_t *)recv_counts.at_)[m];
	}
	for (int32_t i = 0; all <= most && i < c.d->pub.nranks; i++)
		push_rows(&c, pldi_coll_turn(&c, i), before, local.at_, rows);
	rc = pldi_coll_end(&c, pldi_coll_barrier(&c, 0, PLDI_STEP));
	if (rc || all <= most)
		return rc;
	return pldi_fail(PL_EINVAL, c.call, where,
			 "the members have %" PRId64 " rows together; target has room for %" PRId64,
			 all, most);
}

/* ---- all_to_all_v ---------------------------------------------------------------------------- */

/* After the move, so that the domain stays in step. */
static pl_status check_sent(const struct pldi_coll *c, pl_tensor send_counts, int64_t most)
{
	for (int32_t m = 0; m < c->d->pub.nranks; m++) {
		const int64_t k = pldi_coll_count(send_counts, m);

		if (k < 0)
			return pldi_fail(PL_EINVAL, c->call, c->where,
					 "send_counts[%d] is %" PRId64 "; allowed: 0 to %" PRId64
					 "; it counted as 0",
					 m, k, most);
		if (k > most)
			return pldi_fail(PL_EINVAL, c->call, c->where,
					 "send_counts[%d] is %" PRId64 "; a block has %" PRId64
					 " rows, so many were sent and the rest was cut off",
					 m, k, most);
	}
	return PL_OK;
}

pl_status(pld_all_to_all_v)(pl_tensor input, pld_tensor target, pl_tensor send_counts,
			    pld_tensor recv_counts, const struct pld_move_opts *opts,
			    const char *where)
{
	struct pldi_coll c = { .call = "pld_all_to_all_v", .where = where };
	struct pld_move_opts o = { 0 };
	int64_t block, most;
	pl_status rc;

	if ((rc = pldi_coll_target(&c, target, PLDI_CALL_ALL_TO_ALL_V)) ||
	    (opts && (rc = pldi_opts(&o, sizeof(o), opts, 0, c.call, where))) ||
	    (rc = pldi_coll_blocks(&c, &block)) || (rc = pldi_coll_signal(&c, o.signal, 1)) ||
	    (rc = pldi_coll_local(&c, input, c.count, NULL, "input")) ||
	    (rc = pldi_coll_counts(&c, send_counts, "send_counts")) ||
	    (rc = pldi_coll_received(&c, recv_counts)) ||
	    (rc = pldi_coll_apart(&c, send_counts, "send_counts", pld_local(target), "target")) ||
	    (rc = pldi_coll_apart(&c, send_counts, "send_counts", pld_local(recv_counts),
				  "recv_counts")) ||
	    (rc = pldi_coll_apart(&c, input, "input", pld_local(recv_counts), "recv_counts")))
		return rc;
	most = target.as_->layout->dim[0] / c.d->pub.nranks;
	if (most > INT32_MAX)
		return fail_rows(&c, "a block of target", most);

	if ((rc = pldi_coll_begin(&c, none, NULL)) || (rc = pldi_coll_barrier(&c, 0, PLDI_REUSE)))
		return pldi_coll_end(&c, rc);
	for (int32_t i = 0; i < c.d->pub.nranks; i++) {
		const int32_t m = pldi_coll_turn(&c, i);
		int64_t rows = pldi_coll_count(send_counts, m);

		rows = rows < 0 ? 0 : rows > most ? most : rows;
		push_rows(&c, m, c.d->pub.rank * most,
			  (const char *)input.at_ + m * block * c.elem_bytes, rows);
		push_count(&c, recv_counts, m, rows);
	}
	rc = pldi_coll_end(&c, pldi_coll_barrier(&c, 0, PLDI_STEP));
	return rc ? rc : check_sent(&c, send_counts, most);
}
