/* tensor.c - tensors over the caller's memory, views of them, and single elements. */
#include "config.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "pldi_dtype.h"
#include "pldi_tensor.h"

/* Handles and descriptors are compiled into programs. */
static_assert(sizeof(pl_tensor) == 2 * sizeof(void *), "ABI");
static_assert(sizeof(pl_dims) == 64, "ABI, and one cache line");
static_assert(offsetof(struct pl_layout, inner) == 24, "ABI");
static_assert(offsetof(struct pl_layout, dim) == 32, "ABI");
static_assert(offsetof(struct pl_layout, stride) == 88, "ABI");
static_assert(sizeof(pl_dtype) == 4, "ABI");

static const pl_tensor null_tensor = { NULL, NULL };

/* Element `off` of t. */
static void *element(pl_tensor t, int64_t off)
{
	return (char *)t.at_ + off * t.as_->elem_bytes;
}

pl_tensor(pl_wrap)(void *data, const pl_dims *shape, pl_dtype dtype, const char *where)
{
	const struct pl_layout *l = pldi_layout_packed(dtype, shape, "pl_wrap", where);
	char text[PLDI_DIMS_TEXT];

	if (!l)
		return null_tensor;
	if (!data && l->count) {
		pldi_fail(PL_EINVAL, "pl_wrap", where, "data is NULL for shape %s",
			  pldi_dims_text(shape, text));
		return null_tensor;
	}
	return (pl_tensor){ data, l };
}

pl_tensor pl_at_tensor(pl_tensor t, int64_t i, const char *where)
{
	char text[PLDI_DIMS_TEXT];
	pl_dims shape;

	if (pldi_tensor_check(t.as_, "pl_at", where, "t") != PL_OK)
		return null_tensor;
	if (t.as_->inner && (uint64_t)i < (uint64_t)t.as_->dim[0])
		return (pl_tensor){ element(t, i * t.as_->stride[0]), t.as_->inner };

	shape = pldi_shape_of(t.as_);
	if (!t.as_->inner)
		pldi_fail(PL_EINVAL, "pl_at", where,
			  "t has shape %s, 2 dimensions are needed; pl_read_int and pl_read_float "
			  "read an element",
			  pldi_dims_text(&shape, text));
	else
		pldi_fail(PL_EINVAL, "pl_at", where, "t: index %" PRId64 " outside shape %s", i,
			  pldi_dims_text(&shape, text));
	return null_tensor;
}

pl_tensor pl_slice_tensor(pl_tensor t, const pl_dims *at, const pl_dims *shape, const char *where)
{
	const struct pl_layout *l;
	int64_t off;

	if (pldi_box(t.as_, at, shape, &off, "pl_slice", where, "t") != PL_OK)
		return null_tensor;
	l = pldi_layout_strided(t.as_->dtype, shape, t.as_->stride, "pl_slice", where);
	return l ? (pl_tensor){ element(t, off), l } : null_tensor;
}

static int is_float(pl_tensor t)
{
	return pldi_dtype(t.as_->dtype)->class == PLDI_FLOAT;
}

int64_t(pl_read_int)(pl_tensor t, const pl_dims *at, const char *where)
{
	int64_t off, v;

	if (pldi_index(t.as_, at, &off, "pl_read_int", where, "t") != PL_OK)
		return 0;
	if (is_float(t)) {
		pldi_fail(PL_EINVAL, "pl_read_int", where, "t is %s; pl_read_float reads it",
			  pl_dtype_name(t.as_->dtype));
		return 0;
	}
	if (pldi_elem_int(t.as_->dtype, element(t, off), &v)) {
		pldi_fail(PL_EINVAL, "pl_read_int", where,
			  "the element is %" PRIu64 ", at most %" PRId64 " can be returned",
			  (uint64_t)v, INT64_MAX);
		return 0;
	}
	return v;
}

double(pl_read_float)(pl_tensor t, const pl_dims *at, const char *where)
{
	int64_t off;

	if (pldi_index(t.as_, at, &off, "pl_read_float", where, "t") != PL_OK)
		return (double)NAN;
	if (!is_float(t)) {
		pldi_fail(PL_EINVAL, "pl_read_float", where, "t is %s; pl_read_int reads it",
			  pl_dtype_name(t.as_->dtype));
		return (double)NAN;
	}
	return pldi_elem_float(t.as_->dtype, element(t, off));
}

/* Is this element of a floating dtype just v? */
static int is_exactly(pl_dtype dtype, const void *elem, int64_t v)
{
	const double back = pldi_elem_float(dtype, elem);

	return back >= -0x1p63 && back < 0x1p63 && (int64_t)back == v;
}

pl_status pl_write_int(pl_tensor t, const pl_dims *at, int64_t v, const char *where)
{
	char elem[8], text[80];
	int64_t off;
	pl_status s;

	s = pldi_index(t.as_, at, &off, "pl_write", where, "t");
	if (s != PL_OK)
		return s;
	if (pldi_elem_from_int(t.as_->dtype, v, elem))
		return pldi_fail(PL_EINVAL, "pl_write", where, "%" PRId64 ": %s", v,
				 pldi_dtype_range(t.as_->dtype, text, sizeof(text)));
	if (is_float(t) && !is_exactly(t.as_->dtype, elem, v))
		return pldi_fail(PL_EINVAL, "pl_write", where,
				 "%" PRId64 " is no number of %s; write it as a double to round it",
				 v, pl_dtype_name(t.as_->dtype));
	memcpy(element(t, off), elem, (size_t)t.as_->elem_bytes);
	return PL_OK;
}

pl_status pl_write_float(pl_tensor t, const pl_dims *at, double v, const char *where)
{
	char elem[8];
	int64_t off;
	pl_status s;

	s = pldi_index(t.as_, at, &off, "pl_write", where, "t");
	if (s != PL_OK)
		return s;
	if (!is_float(t))
		return pldi_fail(PL_EINVAL, "pl_write", where,
				 "%g, a floating number, into a tensor of %s; write an integer", v,
				 pl_dtype_name(t.as_->dtype));
	pldi_elem_from_float(t.as_->dtype, v, elem);
	memcpy(element(t, off), elem, (size_t)t.as_->elem_bytes);
	return PL_OK;
}
