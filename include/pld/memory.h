/* pld/memory.h - memory that ranks share: host tensors, window buffers, and views of them. */
#ifndef PLD_MEMORY_H
#define PLD_MEMORY_H

#include <pld/job.h>

PL_BEGIN_DECLS

/* ---- host tensors --------------------------------------------------------------------------- */

/*
 * pld_host_tensor - a tensor that is one memory for all ranks, zeroed; shape and dtype as for
 * pl_wrap.  Collective over the world.  Local calls only (pl_load, pl_at, ...): no peer operation
 * addresses it.  Ranks that write it at the same time must write different elements; what one
 * wrote, others see after a barrier or a notify and wait (PLD_HOST starts and ends with one).
 * PL_ENOMEM on all ranks or none; then the null tensor.
 */
PL_API pl_tensor (pld_host_tensor)(const pl_dims *shape, pl_dtype dtype, const char *where);
#define pld_host_tensor(shape, dtype) (pld_host_tensor)((shape), (dtype), PL_WHERE)

/* Frees it; t is what pld_host_tensor returned.  Collective over the world. */
PL_API pl_status (pld_host_free)(pl_tensor t, const char *where);
#define pld_host_free(t) (pld_host_free)((t), PL_WHERE)

/* ---- window buffers ------------------------------------------------------------------------- */

/* The same bytes on every member of a domain: no shape of its own. */
struct pld_window_;
typedef struct pld_buffer {
	const struct pld_window_ *w_;
} pld_buffer;

typedef enum pld_keep { PLD_KEEP_HOST = 0, PLD_KEEP_JOB = 1 } pld_keep;

struct pld_alloc_args {
	const char *where_;
	const pl_dims *shape; /* with dtype, or bytes alone */
	pl_dtype dtype;
	size_t size_ PL_OPTS_SIZE_(struct pld_alloc_args);
	int64_t bytes;
	pld_ctx domain;	  /* default: the world */
	pld_keep keep;	  /* PLD_KEEP_HOST: freed when the PLD_HOST it was made in ends */
	const char *name; /* for reports; default: its place */
};

/*
 * pld_alloc_window_buffer - as many bytes on every member, zeroed, 64-byte aligned, backed by
 * memory before it returns:
 *
 *	pld_alloc_window_buffer(PL_SHAPE(1, 256), PL_FP32)
 *	pld_alloc_window_buffer(.bytes = 1024)
 *
 * Zero bytes are a valid, empty buffer.  Collective over the domain: bytes, dtype and keep are
 * compared.  PL_ENOMEM on every member or on none, and then no memory stays taken; the null
 * buffer on error.  Buffers not freed before are freed by pld_finalize.
 */
PL_API pld_buffer (pld_alloc_window_buffer)(const struct pld_alloc_args *a);

/*
 * pld_free_window_buffer - returns when all members have called it; then the memory is back with
 * the system and every view of b is an error that names this place.  A member may use the
 * buffer until it calls.  Collective over b's domain.  After a PL_EMISMATCH on that domain it does
 * not wait, and the memory goes back with the last member's call.
 */
PL_API pl_status (pld_free_window_buffer)(pld_buffer b, const char *where);
#define pld_free_window_buffer(b) (pld_free_window_buffer)((b), PL_WHERE)

/* ---- distributed tensors: typed views of a window buffer ------------------------------------ */

struct pld_view_ { /* read by the inline calls: its beginning never changes */
	const struct pl_layout *layout;
	const ptrdiff_t *delta; /* delta[peer]: from my slice to peer's, bytes */
	const struct pld_domain_ *domain;
	const struct pld_view_ *inner; /* view of t[i] */
};

/* A tensor that peers can address.  Two words, passed in registers; owns nothing. */
typedef struct pld_tensor {
	void *at_;		     /* own slice */
	const struct pld_view_ *as_; /* NULL: the null tensor */
} pld_tensor;

struct pld_window_opts {
	size_t size_ PL_OPTS_SIZE_(struct pld_window_opts);
	pld_ctx domain;	      /* a subset of the buffer's domain; default: the buffer's */
	int64_t offset_bytes; /* multiple of the element size; default 0 */
};

/*
 * pld_window - a view of b: packed, row-major, 1 to 6 dimensions.  offset and view must fit into
 * the buffer.  Local: no other rank is involved, ranks may make different views; any number of
 * views of one buffer.  With .domain, ranks and peers are that domain's.
 */
PL_API pld_tensor (pld_window)(pld_buffer b, const pl_dims *shape, pl_dtype dtype,
			       const struct pld_window_opts *o, const char *where);

/*
 * pld_new_window - both in one: a new buffer of exactly this shape, and the view of it.  Arguments
 * are those of pld_alloc_window_buffer's shape form.
 */
PL_API pld_tensor (pld_new_window)(const struct pld_alloc_args *a);

/* Frees the buffer that t is a view of; collective, as pld_free_window_buffer. */
PL_API pl_status (pld_free_window)(pld_tensor t, const char *where);
#define pld_free_window(t) (pld_free_window)((t), PL_WHERE)

/* Own slice as a local tensor; costs nothing. */
static inline pl_tensor pld_local(pld_tensor t)
{
	pl_tensor l = { t.at_, t.as_ ? t.as_->layout : NULL };

	return l;
}

/* The domain that t's peers are ranks of. */
static inline pld_ctx pld_get_comm_ctx(pld_tensor t)
{
	pld_ctx c = { t.as_ ? t.as_->domain : &pld_nobody_ };

	return c;
}

/*
 * Address of peer's copy of t's first element, in a few instructions and unchecked: t not null
 * and not freed, 0 <= peer < nranks.  Plain loads and stores through it are ordered by notify and
 * wait like any other access.
 */
static inline void *pld_ptr(pld_tensor t, int peer)
{
	return (char *)t.at_ + t.as_->delta[peer];
}

/*
 * pld_mapped - 1 when peer's windows are mapped in this process, so that pld_ptr works; 0 when not;
 * a negative status.  On one machine always 1: portable programs ask before they call pld_ptr.
 */
PL_API int (pld_mapped)(pld_ctx c, int peer, const char *where);
#define pld_mapped(c, peer) (pld_mapped)((c), (peer), PL_WHERE)

/*
 * pld_all - every member's slice of t as one local tensor of shape [nranks, shape of t]; no copy.
 * After a barrier, an all-gather that moves nothing.  The members' ranks in the world must be
 * evenly spaced (the world's are), else PL_EINVAL that names them.
 */
PL_API pl_tensor (pld_all)(pld_tensor t, const char *where);
#define pld_all(t) (pld_all)((t), PL_WHERE)

/* pl_at and pl_slice of a view: t[i], and a box of t; both again addressable by peers. */
PL_API pld_tensor pld_at_tensor(pld_tensor t, int64_t i, const char *where);
PL_API pld_tensor pld_slice_tensor(pld_tensor t, const pl_dims *at, const pl_dims *shape,
				   const char *where);

PL_END_DECLS

/* Local calls accept a view where they accept a tensor: the own slice. */
#undef PL_LOCAL_
#undef PL_AT_FN_
#undef PL_SLICE_FN_
#define PL_LOCAL_(t) _Generic((t), pl_tensor: pl_same_, pld_tensor: pld_local)(t)
#define PL_AT_FN_(t) _Generic((t), pl_tensor: pl_at_tensor, pld_tensor: pld_at_tensor)
#define PL_SLICE_FN_(t) _Generic((t), pl_tensor: pl_slice_tensor, pld_tensor: pld_slice_tensor)

#ifndef __cplusplus
#define PLD_OPTS_(tag, ...) (&(const struct tag){ __VA_ARGS__, .size_ = sizeof(struct tag) })

#define PLD_ALLOC_(...)                                                                            \
	(&(const struct pld_alloc_args){                                                           \
		.where_ = PL_WHERE, __VA_ARGS__, .size_ = sizeof(struct pld_alloc_args) })
#define pld_alloc_window_buffer(...) (pld_alloc_window_buffer)(PLD_ALLOC_(__VA_ARGS__))
#define pld_new_window(...) (pld_new_window)(PLD_ALLOC_(__VA_ARGS__))

#define PLD_WINDOW_PLAIN_(b, shape, dtype) (pld_window)((b), (shape), (dtype), NULL, PL_WHERE)
#define PLD_WINDOW_OPTS_(b, shape, dtype, ...)                                                     \
	(pld_window)((b), (shape), (dtype), PLD_OPTS_(pld_window_opts, __VA_ARGS__), PL_WHERE)
#define pld_window(...) PL_CAT_(PLD_WINDOW, PL_PICK3_(__VA_ARGS__))(__VA_ARGS__)
#endif

#endif
