/* remote.c - tiles from and to a peer's slice. */
#include "config.h"

#include "pldi_opts.h"
#include "pldi_rma.h"
#include "pldi_tile.h"

pl_status pldi_atomic_fail(int atomic, const char *call, const char *where)
{
	return pldi_fail(PL_EINVAL, call, where,
			 "atomic is %d; allowed: PLD_ATOMIC_NONE (0), PLD_ATOMIC_ADD (1)", atomic);
}

pl_tile(pld_remote_load)(pld_tensor t, int peer, const pl_dims *at, const pl_dims *shape,
			 const pl_dims *valid_shape, const char *where)
{
	static const char call[] = "pld_remote_load";
	struct pldi_domain *d = pldi_window_check(t, PLDI_MAY_SIGNAL, call, where, "window");
	const pl_tile null_tile = { NULL, 0, 0 };
	pl_dims valid;
	pl_tile tile;
	int64_t off;
	void *data;

	if (!d || pldi_peer_check(d, peer, call, where) || pldi_tiles_allowed(call, where) ||
	    pldi_box_valid(t.as_->layout, at, shape, valid_shape, &valid, &off, call, where,
			   "window"))
		return null_tile;
	tile = pldi_tile_new(t.as_->layout->dtype, shape, &valid, &data, call, where);
	if (!tile.t_)
		return null_tile;
	pldi_doing(d->self, PLDI_OP_REMOTE_LOAD, where);
	pldi_tile_clear(tile);
	pldi_rma_move(&(struct pldi_move){
		.dst_layout = tile.t_->layout,
		.src_layout = t.as_->layout,
		.dst = data,
		.src = pldi_peer_move(PLDI_ACT_REMOTE_LOAD, t, d, peer,
				      off * t.as_->layout->elem_bytes,
				      pldi_box_bytes(&valid, t.as_->layout->elem_bytes)),
		.shape = valid });
	return tile;
}

pl_status(pld_remote_store)(pl_tile tile, pld_tensor t, int peer, const pl_dims *at,
			    pld_atomic atomic, const char *where)
{
	static const char call[] = "pld_remote_store";
	struct pldi_domain *d = pldi_window_check(t, PLDI_MAY_SIGNAL, call, where, "window");
	const struct pl_tile_ *x = tile.t_;
	int64_t off;
	pl_status rc;

	if (!d)
		return pl_last_error()->status;
	if ((rc = pldi_peer_check(d, peer, call, where)) ||
	    (rc = pldi_tiles_allowed(call, where)) ||
	    (rc = pldi_tile_check(tile, call, where, "tile")) ||
	    (rc = pldi_box(t.as_->layout, at, &x->valid, &off, call, where, "window")))
		return rc;
	if (x->layout->dtype != t.as_->layout->dtype)
		return pldi_fail(PL_EINVAL, call, where,
				 "a tile of %s into a window of %s; pl_cast converts",
				 pl_dtype_name(x->layout->dtype),
				 pl_dtype_name(t.as_->layout->dtype));
	if ((unsigned)atomic > PLD_ATOMIC_ADD)
		return pldi_atomic_fail((int)atomic, call, where);
	pldi_doing(d->self, PLDI_OP_REMOTE_STORE, where);
	pldi_rma_move(&(struct pldi_move){
		.dst_layout = t.as_->layout,
		.src_layout = x->layout,
		.dst = pldi_peer_move(atomic ? PLDI_ACT_REMOTE_STORE_ADD : PLDI_ACT_REMOTE_STORE, t,
				      d, peer, off * t.as_->layout->elem_bytes,
				      pldi_box_bytes(&x->valid, t.as_->layout->elem_bytes)),
		.src = x->data,
		.shape = x->valid,
		.atomic = atomic });
	return PL_OK;
}
