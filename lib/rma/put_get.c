/* put_get.c - whole tensors, or boxes of them, to and from a peer's slice. */
#include "config.h"

#include "pldi_opts.h"
#include "pldi_rma.h"
#include "pldi_signal.h"

/* What put and get have in common; dst or src is the peer's. */
struct transfer {
	const char *call, *where;
	const struct pl_layout *dst, *src;
	const pl_dims *dst_offsets, *src_offsets, *shape;
	int chunk_rows, chunk_cols;
	pld_pipeline pipeline;
};

static pl_status check_options(const struct transfer *t)
{
	int boxes = !!t->dst_offsets + !!t->src_offsets + !!t->shape;

	if (boxes != 0 && boxes != 3)
		return pldi_fail(
			PL_EINVAL, t->call, t->where,
			"%s%s%sgiven; allowed: all of .dst_offsets, .src_offsets, .shape, or none",
			t->dst_offsets ? ".dst_offsets " : "",
			t->src_offsets ? ".src_offsets " : "", t->shape ? ".shape " : "");
	if (t->chunk_rows < 0 || t->chunk_cols < 0)
		return pldi_fail(PL_EINVAL, t->call, t->where,
				 "chunks of %d rows and %d columns; allowed: 0 (all) and more",
				 t->chunk_rows, t->chunk_cols);
	if ((unsigned)t->pipeline > PLD_PIPELINE_ON)
		return pldi_fail(
			PL_EINVAL, t->call, t->where,
			"pipeline is %d; allowed: PLD_PIPELINE_AUTO (0), PLD_PIPELINE_ON (1)",
			(int)t->pipeline);
	if (t->pipeline == PLD_PIPELINE_ON && !(t->chunk_rows && t->chunk_cols))
		return pldi_fail(
			PL_EINVAL, t->call, t->where,
			"PLD_PIPELINE_ON with chunks of %d rows and %d columns; it needs both",
			t->chunk_rows, t->chunk_cols);
	return PL_OK;
}

static pl_status fail_shapes(const struct transfer *t)
{
	char dst_text[PLDI_DIMS_TEXT], src_text[PLDI_DIMS_TEXT];
	pl_dims dst_shape = pldi_shape_of(t->dst), src_shape = pldi_shape_of(t->src);

	return pldi_fail(PL_EINVAL, t->call, t->where, "src has shape %s, dst %s; %s",
			 pldi_dims_text(&src_shape, src_text), pldi_dims_text(&dst_shape, dst_text),
			 t->dst->ndim != t->src->ndim
				 ? "both need as many dimensions"
				 : "without .shape and offsets they must be equal");
}

/* dtypes, dimensions, boxes: fills m, but for the addresses, and the offsets in elements. */
static pl_status check_transfer(const struct transfer *t, struct pldi_move *m, int64_t *dst_off,
				int64_t *src_off)
{
	pl_status rc = check_options(t);

	if (rc)
		return rc;
	if (t->dst->dtype != t->src->dtype)
		return pldi_fail(PL_EINVAL, t->call, t->where, "src is %s, dst is %s",
				 pl_dtype_name(t->src->dtype), pl_dtype_name(t->dst->dtype));
	if (t->dst->ndim != t->src->ndim || (!t->shape && !pldi_same_shape(t->dst, t->src)))
		return fail_shapes(t);
	m->dst_layout = t->dst;
	m->src_layout = t->src;
	m->shape = t->shape ? *t->shape : pldi_shape_of(t->src);
	m->chunk_rows = t->chunk_rows;
	m->chunk_cols = t->chunk_cols;
	m->atomic = PLD_ATOMIC_NONE;
	*dst_off = *src_off = 0;
	if (!t->shape)
		return PL_OK;
	if ((rc = pldi_box(t->dst, t->dst_offsets, t->shape, dst_off, t->call, t->where,
			   "dst: .dst_offsets, .shape")) ||
	    (rc = pldi_box(t->src, t->src_offsets, t->shape, src_off, t->call, t->where,
			   "src: .src_offsets, .shape")))
		return rc;
	return PL_OK;
}

/* From the own slice to the own slice: dst and src are the first elements of the boxes. */
static pl_status check_apart(const struct transfer *t, const struct pldi_move *m, const void *dst,
			     const void *src)
{
	char text[PLDI_DIMS_TEXT];

	if (!pldi_boxes_overlap(dst, t->dst, src, t->src, &m->shape))
		return PL_OK;
	return pldi_fail(PL_EINVAL, t->call, t->where,
			 "dst and src overlap: shape %s at %p and at %p, peer is the caller",
			 pldi_dims_text(&m->shape, text), dst, src);
}

/* The notify that a put may carry, checked before any byte moves. */
static pl_status check_signal(const struct pld_put_opts *o, const struct pldi_domain *d,
			      int64_t *off, const char *call, const char *where)
{
	pl_status rc;

	if (!pldi_window_check(o->signal, PLDI_MAY_SIGNAL, call, where, ".signal"))
		return pl_last_error()->status;
	if ((rc = pldi_signal_check(o->signal, call, where)) ||
	    (rc = pldi_notify_op_check(o->signal_op, call, where)) ||
	    (rc = pldi_index(o->signal.as_->layout, o->signal_at, off, call, where, ".signal_at")))
		return rc;
	if (pldi_view_domain(o->signal.as_) != d)
		return pldi_fail(PL_EINVAL, call, where,
				 ".signal is a window of another domain than "
				 "dst: its peers have other numbers");
	return PL_OK;
}

pl_status(pld_put)(pld_tensor dst, int peer, pl_tensor src, const struct pld_put_opts *opts,
		   const char *where)
{
	static const char call[] = "pld_put";
	struct pldi_domain *d = pldi_window_check(dst, PLDI_MAY_SIGNAL, call, where, "dst");
	struct pld_put_opts o = { 0 };
	struct transfer t;
	struct pldi_move m;
	int64_t dst_off, src_off, cell_off = 0;
	pl_status rc;

	if (!d)
		return pl_last_error()->status;
	if ((rc = pldi_tensor_check(src.as_, call, where, "src")) ||
	    (rc = pldi_peer_check(d, peer, call, where)) ||
	    (opts && (rc = pldi_opts(&o, sizeof(o), opts, 0, call, where))))
		return rc;
	t = (struct transfer){ call,	      where,   dst.as_->layout, src.as_,      o.dst_offsets,
			       o.src_offsets, o.shape, o.chunk_rows,	o.chunk_cols, o.pipeline };
	if ((rc = check_transfer(&t, &m, &dst_off, &src_off)))
		return rc;
	if ((unsigned)o.atomic > PLD_ATOMIC_ADD)
		return pldi_atomic_fail((int)o.atomic, call, where);
	if (o.signal.as_ && (rc = check_signal(&o, d, &cell_off, call, where)))
		return rc;
	m.src = (const char *)src.at_ + src_off * m.src_layout->elem_bytes;
	if (peer == d->pub.rank &&
	    (rc = check_apart(&t, &m, (char *)dst.at_ + dst_off * m.dst_layout->elem_bytes, m.src)))
		return rc;

	pldi_doing(d->self, PLDI_OP_PUT, where);
	m.atomic = o.atomic;
	m.dst = pldi_peer_move(o.atomic ? PLDI_ACT_PUT_ADD : PLDI_ACT_PUT, dst, d, peer,
			       dst_off * m.dst_layout->elem_bytes,
			       pldi_box_bytes(&m.shape, m.src_layout->elem_bytes));
	pldi_rma_move(&m);
	if (o.signal.as_)
		pldi_signal(o.signal, d, peer, cell_off * (int64_t)sizeof(int32_t),
			    o.signal_value ? o.signal_value : 1, o.signal_op);
	return PL_OK;
}

pl_status(pld_get)(pl_tensor dst, int peer, pld_tensor src, const struct pld_get_opts *opts,
		   const char *where)
{
	static const char call[] = "pld_get";
	struct pldi_domain *d = pldi_window_check(src, PLDI_MAY_SIGNAL, call, where, "src");
	struct pld_get_opts o = { 0 };
	struct transfer t;
	struct pldi_move m;
	int64_t dst_off, src_off;
	pl_status rc;

	if (!d)
		return pl_last_error()->status;
	if ((rc = pldi_tensor_check(dst.as_, call, where, "dst")) ||
	    (rc = pldi_peer_check(d, peer, call, where)) ||
	    (opts && (rc = pldi_opts(&o, sizeof(o), opts, 0, call, where))))
		return rc;
	t = (struct transfer){ call,	      where,   dst.as_,	     src.as_->layout, o.dst_offsets,
			       o.src_offsets, o.shape, o.chunk_rows, o.chunk_cols,    o.pipeline };
	if ((rc = check_transfer(&t, &m, &dst_off, &src_off)))
		return rc;
	m.dst = (char *)dst.at_ + dst_off * m.dst_layout->elem_bytes;
	if (peer == d->pub.rank &&
	    (rc = check_apart(&t, &m, m.dst, (char *)src.at_ + src_off * m.src_layout->elem_bytes)))
		return rc;

	pldi_doing(d->self, PLDI_OP_GET, where);
	m.src = pldi_peer_move(PLDI_ACT_GET, src, d, peer, src_off * m.src_layout->elem_bytes,
			       pldi_box_bytes(&m.shape, m.src_layout->elem_bytes));
	pldi_rma_move(&m);
	return PL_OK;
}
