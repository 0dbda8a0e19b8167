/* pl/tensor.h - dtypes, shapes, named extents, tensors: memory that only this rank computes on. */
#ifndef PL_TENSOR_H
#define PL_TENSOR_H

#include <pl/status.h>

PL_BEGIN_DECLS

/* ---- dtypes --------------------------------------------------------------------------------- */

/* Values are ABI; the gaps keep a class together. */
typedef enum pl_dtype {
	PL_FP64 = 1,
	PL_FP32 = 2,
	PL_FP16 = 3, /* IEEE binary16 */
	PL_BF16 = 4, /* upper half of an FP32 */
	PL_INT8 = 8,
	PL_INT16 = 9,
	PL_INT32 = 10,
	PL_INT64 = 11,
	PL_UINT8 = 16,
	PL_UINT16 = 17,
	PL_UINT32 = 18,
	PL_UINT64 = 19
} pl_dtype;

/* Bytes of one element; 0 for a value that is no pl_dtype. */
PL_API size_t pl_dtype_bytes(pl_dtype t);

/* "FP32"; "unknown pl_dtype" for a value that is none. */
PL_API const char *pl_dtype_name(pl_dtype t);

/* ---- shapes and indices --------------------------------------------------------------------- */

#define PL_MAX_DIMS 7 /* so that pl_dims is one cache line */

typedef struct pl_dims {
	int64_t n; /* dimensions, 1 to PL_MAX_DIMS */
	int64_t d[PL_MAX_DIMS];
} pl_dims;

/*
 * PL_AT(i, j, ..) is the index of an element, PL_SHAPE(m, n, ..) are extents: both a const
 * pl_dims * that lives as long as the enclosing block (in C++: the full expression).  To keep one,
 * copy it: pl_dims s = *PL_SHAPE(4, 64);  1 to 7 integers, each evaluated once.
 */
#ifndef __cplusplus
#define PL_COUNT_(...) ((int64_t)(sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)))
#define PL_DIMS_(...) (&(const pl_dims){ PL_COUNT_(__VA_ARGS__), { __VA_ARGS__ } })
#else
#define PL_DIMS_(...) ((const pl_dims *)pl_dims_of_{ __VA_ARGS__ })
#endif
#define PL_AT(...) PL_DIMS_(__VA_ARGS__)
#define PL_SHAPE(...) PL_DIMS_(__VA_ARGS__)

/*
 * pl_dynamic - the extent that is bound to a name: by pl_bind, by `pldrun --dim NAME=VALUE`, and
 * "NR" by pld_init to the number of ranks.  PL_EINVAL (then a value < 0) when nothing is bound.
 */
PL_API int64_t (pl_dynamic)(const char *name, const char *where);
#define pl_dynamic(name) (pl_dynamic)((name), PL_WHERE)

/*
 * pl_bind - binds name to value in this process; any thread.
 *
 *   name   in  a letter or _, then letters, digits, _; at most 63
 *   value  in  >= 0
 *
 * Binding it again to the same value is fine; to another one is PL_EINVAL that names both places.
 */
PL_API pl_status (pl_bind)(const char *name, int64_t value, const char *where);
#define pl_bind(name, value) (pl_bind)((name), (value), PL_WHERE)

/* ---- tensors -------------------------------------------------------------------------------- */

/* Shape, strides and dtype: made by the library, never changed or freed.  Equal ones are one. */
struct pl_layout {
	int32_t ndim;
	pl_dtype dtype;
	int64_t elem_bytes;
	int64_t count;			/* elements */
	const struct pl_layout *inner;	/* layout of t[i]; NULL for one dimension */
	int64_t dim[PL_MAX_DIMS];	/* 0 is allowed: an empty tensor */
	int64_t stride[PL_MAX_DIMS];	/* elements; of an extent of 1: as if packed */
};

/* Two words, passed in registers; owns nothing. */
typedef struct pl_tensor {
	void *at_;
	const struct pl_layout *as_; /* NULL: the null tensor */
} pl_tensor;

/*
 * pl_wrap - a packed row-major tensor over memory of the caller's, which must outlive its use.
 *
 *   data   in  first element, any alignment; NULL only for an empty tensor
 *   shape  in  1 to 7 extents >= 0 with at most INT64_MAX bytes in all
 *
 * The null tensor on PL_EINVAL, or on PL_ENOMEM: a process can have 262144 different layouts.
 */
PL_API pl_tensor (pl_wrap)(void *data, const pl_dims *shape, pl_dtype dtype, const char *where);
#define pl_wrap(data, shape, dtype) (pl_wrap)((data), (shape), (dtype), PL_WHERE)

static inline int pl_is_null(pl_tensor t)
{
	return t.as_ == NULL;
}

/* Inline and unchecked: t not null, 0 <= i < pl_ndim(t). */
static inline void *pl_data(pl_tensor t)
{
	return t.at_;
}

static inline int pl_ndim(pl_tensor t)
{
	return t.as_->ndim;
}

static inline int64_t pl_count(pl_tensor t)
{
	return t.as_->count;
}

static inline pl_dtype pl_dtype_of(pl_tensor t)
{
	return t.as_->dtype;
}

static inline int64_t pl_dim(pl_tensor t, int i)
{
	return t.as_->dim[i];
}

/*
 * pl_at(t, i) - t[i]: one dimension less, same memory.  t: two dimensions at least; 0 <= i < its
 * first extent.  pl_slice(t, at, shape) - the box [at, at + shape) of t: as many dimensions, same
 * memory; inside t; extents of 0 are allowed.  Both take a tensor or a view of a window and return
 * the like; the null one on PL_EINVAL.  Neither copies or allocates.
 */
PL_API pl_tensor pl_at_tensor(pl_tensor t, int64_t i, const char *where);
PL_API pl_tensor pl_slice_tensor(pl_tensor t, const pl_dims *at, const pl_dims *shape,
				 const char *where);

/*
 * pl_read_int(t, at), pl_read_float(t, at) - one element, of any integer dtype or any floating one;
 * the other kind is PL_EINVAL, and so is a UINT64 above INT64_MAX.  After an error: 0, NaN.
 */
PL_API int64_t (pl_read_int)(pl_tensor t, const pl_dims *at, const char *where);
PL_API double (pl_read_float)(pl_tensor t, const pl_dims *at, const char *where);

/*
 * pl_write(t, at, v) - one element.  An integer v goes into any dtype that holds it exactly, a
 * float or double v into floating dtypes only, rounded once to nearest, ties to even; else
 * PL_EINVAL, and the element stays what it was.
 */
PL_API pl_status pl_write_int(pl_tensor t, const pl_dims *at, int64_t v, const char *where);
PL_API pl_status pl_write_float(pl_tensor t, const pl_dims *at, double v, const char *where);

/*
 * pl_copy(dst, src) - all elements of src into dst: equal shape and dtype, any strides, any size;
 * no tile, no arena.  dst and src must not overlap: PL_EINVAL where that can be seen (always when
 * both are packed or views of one tensor).
 */
PL_API pl_status (pl_copy)(pl_tensor dst, pl_tensor src, const char *where);

/* Hooks that pld widens to views of windows; not for users. */
static inline pl_tensor pl_same_(pl_tensor t)
{
	return t;
}
#define PL_LOCAL_(t) _Generic((t), pl_tensor: pl_same_)(t)
#define PL_AT_FN_(t) _Generic((t), pl_tensor: pl_at_tensor)
#define PL_SLICE_FN_(t) _Generic((t), pl_tensor: pl_slice_tensor)

#ifndef __cplusplus
#define pl_at(t, i) PL_AT_FN_(t)((t), (i), PL_WHERE)
#define pl_slice(t, at, shape) PL_SLICE_FN_(t)((t), (at), (shape), PL_WHERE)
#define pl_read_int(t, at) (pl_read_int)(PL_LOCAL_(t), (at), PL_WHERE)
#define pl_read_float(t, at) (pl_read_float)(PL_LOCAL_(t), (at), PL_WHERE)
#define pl_write(t, at, v)                                                                         \
	_Generic((v), float: pl_write_float, double: pl_write_float,                               \
		 long double: pl_write_float, default: pl_write_int)(                              \
		PL_LOCAL_(t), (at), (v), PL_WHERE)
#define pl_copy(dst, src) (pl_copy)(PL_LOCAL_(dst), PL_LOCAL_(src), PL_WHERE)
#endif

PL_END_DECLS

#ifdef __cplusplus
struct pl_dims_of_ { /* PL_AT for C++ */
	pl_dims v;
	template <class... I>
	constexpr pl_dims_of_(I... i) : v{ sizeof...(I), { static_cast<int64_t>(i)... } }
	{
		static_assert(sizeof...(I) >= 1 && sizeof...(I) <= PL_MAX_DIMS,
			      "1 to 7 dimensions");
	}
	operator const pl_dims *() const
	{
		return &v;
	}
};
#endif

#endif
