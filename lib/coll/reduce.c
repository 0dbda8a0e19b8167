/*
 * reduce.c - reductions whose result is not the same everywhere: to a root, prefixes, scattered.
 *
 * Reduce and scan go by shares: rank r works on segment r of all slices, which nobody else touches
 * between the two barriers, so that the work is even and the result may be stored in place.
 */
#include "config.h"

#include "pldi_coll.h"
#include "pldi_opts.h"

/* What a small call posted, by member. */
static void posted_sources(const struct pldi_coll *c)
{
	for (int32_t m = 0; m < c->d->pub.nranks; m++)
		c->d->source[m] = pldi_coll_posted(c, m, c->count * c->elem_bytes);
}

/* ---- to a root ------------------------------------------------------------------------------- */

static pl_status small_reduce(struct pldi_coll *c, const struct pld_reduce_opts *o)
{
	void *const out[] = { c->target.at_ };
	pl_status rc = pldi_coll_exchange(c, o->input, o->input.as_ ? o->input.at_ : c->target.at_,
					  c->count * c->elem_bytes);

	if (rc || c->d->pub.rank != o->root)
		return rc;
	posted_sources(c);
	pldi_fold(c->dtype, o->op, c->d->source, c->d->pub.nranks, out, 1, c->count);
	return PL_OK;
}

static pl_status reduce(struct pldi_coll *c, const struct pld_reduce_opts *o)
{
	struct pldi_domain *d = c->d;
	const int32_t me = d->pub.rank, n = d->pub.nranks;
	const int64_t at = pldi_segment_at(c->count, n, me);
	const int64_t elems = pldi_segment_at(c->count, n, me + 1) - at;
	pl_status rc;

	if ((rc = pldi_coll_begin(c, o->input, NULL)) || (rc = pldi_coll_barrier(c, 0, PLDI_STEP)))
		return rc;
	for (int32_t m = 0; m < n; m++)
		d->source[m] = pldi_coll_read(c, m, at, elems);
	d->target[0] = pldi_coll_write(c, o->root, at, elems);
	pldi_fold(c->dtype, o->op, d->source, n, d->target, 1, elems);
	return pldi_coll_barrier(c, 0, PLDI_REUSE);
}

pl_status(pld_reduce)(pld_tensor target, const struct pld_reduce_opts *opts, const char *where)
{
	struct pldi_coll c = { .call = "pld_reduce", .where = where };
	struct pld_reduce_opts o = { 0 };
	pl_status rc;

	if ((rc = pldi_coll_target(&c, target, PLDI_CALL_REDUCE)) ||
	    (opts && (rc = pldi_opts(&o, sizeof(o), opts, 0, c.call, where))) ||
	    (rc = pldi_coll_op(&c, o.op)) || (rc = pldi_coll_root(&c, o.root)))
		return rc;
	c.what.arg[2] = o.op;
	c.what.arg[3] = o.root;
	if ((rc = pldi_coll_signal(&c, o.signal, 1)) ||
	    (o.input.as_ && (rc = pldi_coll_local(&c, o.input, c.count, target.at_, ".input"))))
		return rc;
	if (pldi_coll_fits_payload(&c, c.count * c.elem_bytes))
		rc = small_reduce(&c, &o);
	else
		rc = reduce(&c, &o);
	return pldi_coll_end(&c, rc);
}

/* ---- prefixes -------------------------------------------------------------------------------- */

static pl_status small_scan(struct pldi_coll *c, const struct pld_scan_opts *o)
{
	const int32_t n = c->d->pub.rank + (o->kind == PLD_INCLUSIVE);
	void *const out[] = { c->target.at_ };
	pl_status rc = pldi_coll_exchange(c, (pl_tensor){ NULL, NULL },
					  o->input.as_ ? o->input.at_ : c->target.at_,
					  c->count * c->elem_bytes);

	if (rc)
		return rc;
	posted_sources(c);
	/* the fold of a prefix is a prefix of the fold; rank 0 has an empty one, if any */
	if (n)
		pldi_fold(c->dtype, o->op, c->d->source, n, out, 1, c->count);
	else
		pldi_fold_scan(c->dtype, o->op, o->kind, c->d->source, 1, out, c->count);
	return PL_OK;
}

static pl_status scan(struct pldi_coll *c, const struct pld_scan_opts *o)
{
	struct pldi_domain *d = c->d;
	const int32_t me = d->pub.rank, n = d->pub.nranks;
	const int64_t at = pldi_segment_at(c->count, n, me);
	const int64_t elems = pldi_segment_at(c->count, n, me + 1) - at;
	pl_status rc;

	if ((rc = pldi_coll_begin(c, o->input, NULL)) || (rc = pldi_coll_barrier(c, 0, PLDI_STEP)))
		return rc;
	for (int32_t m = 0; m < n; m++) {
		d->source[m] = pldi_coll_read(c, m, at, elems);
		d->target[m] = pldi_coll_write(c, m, at, elems);
	}
	pldi_fold_scan(c->dtype, o->op, o->kind, d->source, n, d->target, elems);
	return pldi_coll_barrier(c, 0, PLDI_REUSE);
}

pl_status(pld_scan)(pld_tensor target, const struct pld_scan_opts *opts, const char *where)
{
	struct pldi_coll c = { .call = "pld_scan", .where = where };
	struct pld_scan_opts o = { 0 };
	pl_status rc;

	if ((rc = pldi_coll_target(&c, target, PLDI_CALL_SCAN)) ||
	    (opts && (rc = pldi_opts(&o, sizeof(o), opts, 0, c.call, where))) ||
	    (rc = pldi_coll_op(&c, o.op)))
		return rc;
	if ((unsigned)o.kind > PLD_EXCLUSIVE)
		return pldi_fail(PL_EINVAL, c.call, where,
				 "kind is %d; allowed: PLD_INCLUSIVE (0), PLD_EXCLUSIVE (1)",
				 (int)o.kind);
	c.what.arg[2] = o.op;
	c.what.arg[3] = o.kind;
	if ((rc = pldi_coll_signal(&c, o.signal, 1)) ||
	    (o.input.as_ && (rc = pldi_coll_local(&c, o.input, c.count, target.at_, ".input"))))
		return rc;
	if (pldi_coll_fits_payload(&c, c.count * c.elem_bytes))
		rc = small_scan(&c, &o);
	else
		rc = scan(&c, &o);
	return pldi_coll_end(&c, rc);
}

/* ---- scattered ------------------------------------------------------------------------------- */

/* Elements [at, at + elems) of all slices into the own ones; nobody else reads those. */
static pl_status reduce_own(struct pldi_coll *c, const struct pld_reduce_scatter_opts *o,
			    int64_t at, int64_t elems)
{
	struct pldi_domain *d = c->d;
	const int32_t me = d->pub.rank, n = d->pub.nranks;
	void *const out[] = { pldi_coll_own(c, at) };
	pl_status rc;

	if ((rc = pldi_coll_begin(c, o->input, NULL)) || (rc = pldi_coll_barrier(c, 0, PLDI_STEP)))
		return rc;
	for (int32_t m = 0; m < n; m++)
		d->source[m] = m == me ? out[0] : pldi_coll_read(c, m, at, elems);
	pldi_fold(c->dtype, o->op, d->source, n, out, 1, elems);
	return pldi_coll_barrier(c, 0, PLDI_REUSE);
}

static pl_status check_scatter(struct pldi_coll *c, pld_tensor target, enum pldi_opcode op,
			       const struct pld_reduce_scatter_opts *opts,
			       struct pld_reduce_scatter_opts *o)
{
	pl_status rc;

	if ((rc = pldi_coll_target(c, target, op)) ||
	    (opts && (rc = pldi_opts(o, sizeof(*o), opts, 0, c->call, c->where))) ||
	    (rc = pldi_coll_op(c, o->op)))
		return rc;
	c->what.arg[2] = o->op;
	if ((rc = pldi_coll_signal(c, o->signal, 1)))
		return rc;
	return o->input.as_ ? pldi_coll_local(c, o->input, c->count, target.at_, ".input") : PL_OK;
}

pl_status(pld_reduce_scatter)(pld_tensor target, const struct pld_reduce_scatter_opts *opts,
			      const char *where)
{
	struct pldi_coll c = { .call = "pld_reduce_scatter", .where = where };
	struct pld_reduce_scatter_opts o = { 0 };
	int64_t block;
	pl_status rc = check_scatter(&c, target, PLDI_CALL_REDUCE_SCATTER, opts, &o);

	if (rc || (rc = pldi_coll_blocks(&c, &block)))
		return rc;
	return pldi_coll_end(&c, reduce_own(&c, &o, c.d->pub.rank * block, block));
}

/* Rows before the own block, and in it; hash: of all counts, which must be the same everywhere. */
static pl_status own_rows(const struct pldi_coll *c, pl_tensor counts, int64_t *before,
			  int64_t *mine, int64_t *hash)
{
	const int64_t rows = c->target.as_->layout->dim[0];
	uint64_t h = 0;
	int64_t sum = 0;

	for (int32_t m = 0; m < c->d->pub.nranks; m++) {
		const int64_t k = pldi_coll_count(counts, m);

		if (k < 0 || k > rows - sum)
			return pldi_fail(PL_EINVAL, c->call, c->where,
					 "counts[%d] is %lld after %lld rows; target has %lld rows",
					 m, (long long)k, (long long)sum, (long long)rows);
		if (m == c->d->pub.rank) {
			*before = sum;
			*mine = k;
		}
		sum += k;
		h = (h ^ (uint64_t)k) * UINT64_C(0x100000001b3);
	}
	if (sum != rows)
		return pldi_fail(PL_EINVAL, c->call, c->where,
				 "counts sum up to %lld rows; target has %lld", (long long)sum,
				 (long long)rows);
	*hash = (int64_t)(h >> 1);
	return PL_OK;
}

pl_status(pld_reduce_scatter_v)(pld_tensor target, pl_tensor counts,
				const struct pld_reduce_scatter_opts *opts, const char *where)
{
	struct pldi_coll c = { .call = "pld_reduce_scatter_v", .where = where };
	struct pld_reduce_scatter_opts o = { 0 };
	int64_t before = 0, mine = 0, row;
	pl_status rc = check_scatter(&c, target, PLDI_CALL_REDUCE_SCATTER_V, opts, &o);

	if (rc || (rc = pldi_coll_counts(&c, counts, "counts")) ||
	    (rc = own_rows(&c, counts, &before, &mine, &c.what.arg[3])))
		return rc;
	row = pldi_coll_row(&c);
	return pldi_coll_end(&c, reduce_own(&c, &o, before * row, mine * row));
}
