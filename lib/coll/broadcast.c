/* broadcast.c - every slice becomes root's. */
#include "config.h"

#include "pldi_coll.h"
#include "pldi_opts.h"

static pl_status small(struct pldi_coll *c, const struct pld_broadcast_opts *o)
{
	const int64_t bytes = c->count * c->elem_bytes;
	const bool sends = c->d->pub.rank == o->root;
	const void *mine = o->input.as_ && sends ? o->input.at_ : c->target.at_;
	pl_status rc = pldi_coll_exchange(c, (pl_tensor){ NULL, NULL }, mine, sends ? bytes : 0);

	if (rc == PL_OK)
		memcpy(c->target.at_, pldi_coll_posted(c, o->root, bytes), (size_t)bytes);
	return rc;
}

/*
 * Pull: every member reads root's slice when root has come, and root returns when all have read.
 */
static pl_status pull(struct pldi_coll *c, const struct pld_broadcast_opts *o)
{
	const pl_tensor none = { NULL, NULL };
	pl_status rc;

	if ((rc = pldi_coll_begin(c, c->d->pub.rank == o->root ? o->input : none, NULL)) ||
	    (rc = pldi_coll_barrier(c, 0, PLDI_STEP)))
		return rc;
	pldi_coll_copy(c->target.at_, pldi_coll_read(c, o->root, 0, c->count),
		       c->count * c->elem_bytes);
	return pldi_coll_barrier(c, 0, PLDI_REUSE);
}

pl_status(pld_broadcast)(pld_tensor target, const struct pld_broadcast_opts *opts,
			 const char *where)
{
	struct pldi_coll c = { .call = "pld_broadcast", .where = where };
	struct pld_broadcast_opts o = { 0 };
	pl_status rc;

	if ((rc = pldi_coll_target(&c, target, PLDI_CALL_BROADCAST)) ||
	    (opts && (rc = pldi_opts(&o, sizeof(o), opts, 0, c.call, where))) ||
	    (rc = pldi_coll_root(&c, o.root)))
		return rc;
	c.what.arg[2] = o.root;
	if ((rc = pldi_coll_signal(&c, o.signal, 1)) ||
	    (o.input.as_ && (rc = pldi_coll_local(&c, o.input, c.count, target.at_, ".input"))))
		return rc;
	rc = pldi_coll_fits_payload(&c, c.count * c.elem_bytes) ? small(&c, &o) : pull(&c, &o);
	return pldi_coll_end(&c, rc);
}
