/* pldi_tensor.h - layouts, and the checks of indices and boxes that every call makes. */
#ifndef PLDI_TENSOR_H
#define PLDI_TENSOR_H

#include <pl/tensor.h>

#include "pldi_status.h"

/* ---- layouts -------------------------------------------------------------------------------- */

/* What a struct pl_layout of the library is; the handle's pointer is to pub. */
struct pldi_layout {
	struct pl_layout pub;
	int packed;	       /* row-major without gaps */
	int64_t low_off;       /* elements from the first one to the one at the lowest address, */
	int64_t high_off;      /* and to the one at the highest; 0 when empty */
	const char *dead_text; /* of ndim 0, see pldi_layout_dead(); else NULL */
};

static inline const struct pldi_layout *pldi_layout(const struct pl_layout *l)
{
	return (const struct pldi_layout *)l;
}

static inline int pldi_is_packed(const struct pl_layout *l)
{
	return pldi_layout(l)->packed;
}

static inline int64_t pldi_bytes(const struct pl_layout *l)
{
	return l->count * l->elem_bytes;
}

/*
 * The one layout of this shape and dtype, row-major and packed.  NULL after an error: shape or
 * dtype are none, more than INT64_MAX bytes, or the table of layouts is full.  Any thread.
 */
const struct pl_layout *pldi_layout_packed(pl_dtype dtype, const pl_dims *shape, const char *call,
					   const char *where);

/*
 * The same with strides in elements, any: negative, 0, larger than the shape needs.  A stride that
 * moves nothing (extent 1, or an empty tensor) is replaced by that of a packed layout, so that
 * layouts which mean the same are one.
 */
const struct pl_layout *pldi_layout_strided(pl_dtype dtype, const pl_dims *shape,
					    const int64_t *stride, const char *call,
					    const char *where);

/*
 * Makes *l (memory of the caller's) a layout without dimensions: every check refuses it with
 * PL_EINVAL and this text, "window freed at step.c:31".  Reading it is always safe.
 */
void pldi_layout_dead(struct pldi_layout *l, const char *text);

static inline pl_dims pldi_shape_of(const struct pl_layout *l)
{
	pl_dims s = { l->ndim, { 0 } };

	for (int i = 0; i < l->ndim; i++)
		s.d[i] = l->dim[i];
	return s;
}

/* Same number of dimensions and extents; of layouts with one dtype and packed: a == b. */
int pldi_same_shape(const struct pl_layout *a, const struct pl_layout *b);

/* "(2, 64)", for errors; returns text.  d may be NULL or have any n. */
enum { PLDI_DIMS_TEXT = 168 };
const char *pldi_dims_text(const pl_dims *d, char text[PLDI_DIMS_TEXT]);

/* ---- checks --------------------------------------------------------------------------------- */

/*
 * t can be used: not null, not dead.  PL_OK, or the status that the null tensor stands for, or
 * PL_EINVAL.  what: the argument's name in errors.
 */
pl_status pldi_tensor_check(const struct pl_layout *l, const char *call, const char *where,
			    const char *what);

/* Ends of the checks below, out of line and predicted as rare: fail with the numbers. */
pl_status pldi_index_fail(const struct pl_layout *l, const pl_dims *at, const char *call,
			  const char *where, const char *what) __attribute__((cold, noinline));
pl_status pldi_box_fail(const struct pl_layout *l, const pl_dims *at, const pl_dims *shape,
			const pl_dims *valid, const char *call, const char *where, const char *what)
	__attribute__((cold, noinline));

/* The compiler cannot see that a cold end never returns PL_OK, and would warn of unset offsets. */
static inline pl_status pldi_not_ok(pl_status s)
{
	if (s == PL_OK)
		__builtin_unreachable();
	return s;
}

/*
 * at is an element of l: its offset in elements.  Else PL_EINVAL (l null: its status), with what
 * before "index (3, 0) outside shape (2, 64)".  *off only on success.
 */
static inline pl_status pldi_index(const struct pl_layout *l, const pl_dims *at, int64_t *off,
				   const char *call, const char *where, const char *what)
{
	int64_t sum = 0;

	if (!l || !at || !l->ndim || at->n != l->ndim)
		return pldi_not_ok(pldi_index_fail(l, at, call, where, what));
	for (int i = 0; i < l->ndim; i++) {
		/* unsigned: a negative index is a huge one */
		if ((uint64_t)at->d[i] >= (uint64_t)l->dim[i])
			return pldi_not_ok(pldi_index_fail(l, at, call, where, what));
		sum += at->d[i] * l->stride[i];
	}
	*off = sum;
	return PL_OK;
}

/*
 * The box [at, at + shape) lies inside l: the offset of its first element in elements (0 when it
 * is empty).  Extents of 0 are allowed.  Else as pldi_index.
 */
static inline pl_status pldi_box(const struct pl_layout *l, const pl_dims *at, const pl_dims *shape,
				 int64_t *off, const char *call, const char *where,
				 const char *what)
{
	uint64_t sum = 0;
	int empty = 0;

	if (!l || !at || !shape || !l->ndim || at->n != l->ndim || shape->n != l->ndim)
		return pldi_not_ok(pldi_box_fail(l, at, shape, NULL, call, where, what));
	for (int i = 0; i < l->ndim; i++) {
		const uint64_t from = (uint64_t)at->d[i], extent = (uint64_t)shape->d[i];
		const uint64_t dim = (uint64_t)l->dim[i];

		/* never from + extent, which may overflow */
		if (from > dim || extent > dim - from)
			return pldi_not_ok(pldi_box_fail(l, at, shape, NULL, call, where, what));
		empty |= !extent;
		sum += from * (uint64_t)l->stride[i];
	}
	*off = empty ? 0 : (int64_t)sum;
	return PL_OK;
}

/*
 * A box that may end at l's end: *clipped is what of [at, at + shape) both lies inside l and is
 * asked for by valid (NULL: as shape, and then the whole box must lie inside).  shape and valid
 * have extents >= 0, at is inside l or at its end.  off: of the first element, 0 when empty.
 */
pl_status pldi_box_valid(const struct pl_layout *l, const pl_dims *at, const pl_dims *shape,
			 const pl_dims *valid, pl_dims *clipped, int64_t *off, const char *call,
			 const char *where, const char *what);

/* ---- named extents -------------------------------------------------------------------------- */

/* pl_bind for the library: a binding that ends with the job. */
pl_status pldi_bind(const char *name, int64_t value, const char *call, const char *where);

/* Binds what PLD_DIMS says, "NAME=VALUE,NAME=VALUE": how pldrun --dim reaches a rank. */
pl_status pldi_bind_env(const char *call, const char *where);

/* Before a new job: drops what pldi_bind and pldi_bind_env bound, and NR; pl_bind's stay. */
void pldi_dynamic_reset(void);

/* 0: "NAME=VALUE", a name and a whole number >= 0, as pldrun --dim takes it.  Else -1. */
int pldi_dim_parse(const char *text, size_t bytes, char name[64], int64_t *value);

#endif
