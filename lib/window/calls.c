/* calls.c - the calls that allocate and free: arguments, levels. */
#include "config.h"

#include <inttypes.h>

#include "pldi_buffer.h"
#include "pldi_opts.h"

static struct pld_window_ *window_of(pld_buffer b)
{
	return (struct pld_window_ *)(uintptr_t)b.w_;
}

/* ---- window buffers -------------------------------------------------------------------------- */

/* Bytes and dtype of either form. */
static pl_status sizes(const struct pld_alloc_args *a, const char *call, struct pldi_request *q)
{
	const struct pl_layout *layout;

	if (!a->shape) {
		if (a->dtype)
			return pldi_fail(PL_EINVAL, call, q->where,
					 "dtype %s without a shape; allowed: shape "
					 "and dtype, or .bytes alone",
					 pl_dtype_name(a->dtype));
		if (a->bytes < 0)
			return pldi_fail(PL_EINVAL, call, q->where, "%" PRId64 " bytes", a->bytes);
		q->bytes = a->bytes;
		return PL_OK;
	}
	if (a->bytes)
		return pldi_fail(PL_EINVAL, call, q->where,
				 "a shape and %" PRId64 " bytes; allowed: shape "
				 "and dtype, or .bytes alone",
				 a->bytes);
	layout = pldi_layout_packed(a->dtype, a->shape, call, q->where);
	if (!layout)
		return pl_last_error()->status;
	q->bytes = pldi_bytes(layout);
	q->dtype = a->dtype;
	return PL_OK;
}

static pl_status request(const struct pld_alloc_args *args, const char *call,
			 struct pldi_request *q, struct pld_alloc_args *a)
{
	pl_status rc = pldi_opts(a, sizeof(*a), args, offsetof(struct pld_alloc_args, size_), call,
				 args->where_);
	struct pldi_rank *self;

	if (rc)
		return rc;
	q->op = PLDI_CALL_ALLOC;
	q->call = call;
	q->where = a->where_;
	self = pldi_live(PLDI_MAY_MEMORY, call, q->where);
	if (!self)
		return pl_last_error()->status;
	q->domain = a->domain.d_ ? pldi_domain_of(a->domain, call, q->where) : self->world;
	if (!q->domain)
		return pl_last_error()->status;
	q->keep = a->keep;
	q->name = a->name;
	if (a->keep != PLD_KEEP_HOST && a->keep != PLD_KEEP_JOB)
		return pldi_fail(PL_EINVAL, call, q->where,
				 "keep is %d; allowed: PLD_KEEP_HOST, "
				 "PLD_KEEP_JOB",
				 (int)a->keep);
	return sizes(a, call, q);
}

pld_buffer(pld_alloc_window_buffer)(const struct pld_alloc_args *args)
{
	struct pldi_request q = { 0 };
	struct pld_alloc_args a;
	pld_buffer b = { NULL };

	if (request(args, "pld_alloc_window_buffer", &q, &a) == PL_OK)
		b.w_ = pldi_buffer_new(&q);
	return b;
}

pld_tensor(pld_new_window)(const struct pld_alloc_args *args)
{
	static const char call[] = "pld_new_window";
	struct pldi_request q = { 0 };
	struct pld_alloc_args a;
	pld_tensor t = { NULL, NULL };
	pld_buffer b;

	if (request(args, call, &q, &a))
		return t;
	if (!a.shape) {
		pldi_fail(PL_EINVAL, call, q.where,
			  "no shape; %" PRId64 " bytes alone make a buffer "
			  "(pld_alloc_window_buffer), not a window",
			  a.bytes);
		return t;
	}
	if (a.shape->n >= PL_MAX_DIMS) {
		pldi_fail(PL_EINVAL, call, q.where, "%" PRId64 " dimensions; a window has 1 to %d",
			  a.shape->n, PL_MAX_DIMS - 1);
		return t;
	}
	b.w_ = pldi_buffer_new(&q);
	if (b.w_)
		t = (pld_window)(b, a.shape, a.dtype, NULL, q.where);
	return t;
}

static pl_status free_buffer(struct pld_window_ *b, const char *call, const char *where)
{
	struct pldi_rank *self = pldi_live(PLDI_MAY_MEMORY, call, where);

	if (!self)
		return pl_last_error()->status;
	if (!b)
		return pldi_null_status(call, where, "buffer");
	if (b->freed_where)
		return pldi_fail(PL_EINVAL, call, where, "the buffer was freed at %s",
				 b->freed_where);
	return pldi_buffer_free(b, PLDI_CALL_FREE, call, where);
}

pl_status(pld_free_window_buffer)(pld_buffer b, const char *where)
{
	return free_buffer(window_of(b), "pld_free_window_buffer", where);
}

pl_status(pld_free_window)(pld_tensor t, const char *where)
{
	if (!t.as_ || !t.as_->layout->ndim)
		return pldi_tensor_check(t.as_ ? t.as_->layout : NULL, "pld_free_window", where,
					 "window");
	return free_buffer(pldi_view(t.as_)->buffer, "pld_free_window", where);
}

/*
 * Newest first: buffers are listed so, and every member lists those of a domain in the same order.
 */
pl_status pldi_free_made_inside(struct pldi_rank *self, int depth, const char *where)
{
	struct pld_window_ *b = self->memory ? self->memory->buffers : NULL, *next;
	pl_status first = PL_OK, rc;

	for (; b; b = next) {
		next = b->next;
		if (b->host_depth < depth || b->keep != PLD_KEEP_HOST)
			continue;
		rc = pldi_buffer_free(b, PLDI_CALL_FREE, "end of PLD_HOST", where);
		if (first == PL_OK)
			first = rc;
	}
	return first;
}

/* ---- host tensors ---------------------------------------------------------------------------- */

pl_tensor(pld_host_tensor)(const pl_dims *shape, pl_dtype dtype, const char *where)
{
	static const char call[] = "pld_host_tensor";
	struct pldi_rank *self = pldi_live(PLDI_MAY_MEMORY, call, where);
	const struct pl_layout *layout;
	struct pldi_request q = { .call = call,
				  .op = PLDI_CALL_HOST_TENSOR,
				  .dtype = dtype,
				  .keep = PLD_KEEP_JOB,
				  .where = where };
	pl_tensor t = { NULL, NULL };
	struct pld_window_ *b;

	if (!self)
		return t;
	layout = pldi_layout_packed(dtype, shape, call, where);
	if (!layout)
		return t;
	q.domain = self->world;
	q.bytes = pldi_bytes(layout);
	b = pldi_buffer_new(&q);
	if (b)
		t = (pl_tensor){ b->at, layout };
	return t;
}

/* The size too: an empty one, or the first part of one, has the address of another. */
static struct pld_window_ *host_buffer_of(const struct pldi_rank *self, pl_tensor t)
{
	struct pld_window_ *b = self->memory ? self->memory->buffers : NULL;

	while (b && !(b->host && b->at == t.at_ && b->dtype == (int64_t)t.as_->dtype &&
		      b->bytes == (uint64_t)pldi_bytes(t.as_)))
		b = b->next;
	return b;
}

pl_status(pld_host_free)(pl_tensor t, const char *where)
{
	static const char call[] = "pld_host_free";
	struct pldi_rank *self = pldi_live(PLDI_MAY_MEMORY, call, where);
	struct pld_window_ *b;

	if (!self)
		return pl_last_error()->status;
	if (!t.as_)
		return pldi_null_status(call, where, "tensor");
	b = host_buffer_of(self, t);
	if (!b)
		return pldi_fail(PL_EINVAL, call, where,
				 "the tensor is not what pld_host_tensor "
				 "returned, or has been freed");
	return pldi_buffer_free(b, PLDI_CALL_HOST_FREE, call, where);
}
