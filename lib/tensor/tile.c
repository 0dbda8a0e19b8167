/* tile.c - tiles from tensors and back, and arithmetic on them. */
#include "config.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pldi_copy.h"
#include "pldi_dtype.h"
#include "pldi_ops.h"
#include "pldi_tile.h"

static_assert(sizeof(pl_tile) == 16, "ABI");
static_assert(sizeof(struct pl_mark) == 24, "ABI");

static const pl_tile null_tile = { NULL, 0, 0 };

pl_tile(pl_load)(pl_tensor t, const pl_dims *at, const pl_dims *shape, const pl_dims *valid_shape,
		 const char *where)
{
	pl_dims valid;
	pl_tile tile;
	int64_t off;
	void *data;

	if (pldi_tiles_allowed("pl_load", where) != PL_OK ||
	    pldi_box_valid(t.as_, at, shape, valid_shape, &valid, &off, "pl_load", where, "t") !=
		    PL_OK)
		return null_tile;
	tile = pldi_tile_new(t.as_->dtype, shape, &valid, &data, "pl_load", where);
	if (!tile.t_)
		return null_tile;
	pldi_tile_clear(tile);
	pldi_copy_box(data, tile.t_->layout, (const char *)t.at_ + off * t.as_->elem_bytes, t.as_,
		      &valid);
	return tile;
}

pl_status(pl_store)(pl_tile tile, const pl_dims *at, pl_tensor t, const char *where)
{
	const struct pl_tile_ *x = tile.t_;
	int64_t off;
	pl_status s;

	s = pldi_tiles_allowed("pl_store", where);
	if (s == PL_OK)
		s = pldi_tile_check(tile, "pl_store", where, "tile");
	if (s == PL_OK)
		s = pldi_box(t.as_, at, &x->valid, &off, "pl_store", where, "t");
	if (s != PL_OK)
		return s;
	if (x->layout->dtype != t.as_->dtype)
		return pldi_fail(PL_EINVAL, "pl_store", where,
				 "a tile of %s into a tensor of %s; pl_cast converts",
				 pl_dtype_name(x->layout->dtype), pl_dtype_name(t.as_->dtype));
	pldi_copy_box((char *)t.at_ + off * t.as_->elem_bytes, t.as_, x->data, x->layout,
		      &x->valid);
	return PL_OK;
}

/* Elements of a number that a loop over a tile repeats: whole blocks, then what is left. */
enum { BLOCK_BYTES = 4096 };
struct block {
	_Alignas(64) char data[BLOCK_BYTES];
	size_t elems;
};

static void fill_block(struct block *b, const void *elem, const struct pl_layout *like)
{
	const size_t bytes = (size_t)like->elem_bytes;
	size_t whole;

	b->elems = BLOCK_BYTES / bytes;
	if ((size_t)like->count < b->elems)
		b->elems = (size_t)like->count;
	whole = b->elems * bytes;
	if (!whole)
		return;
	memcpy(b->data, elem, bytes);
	/* twice as much each time */
	for (size_t done = bytes, n; done < whole; done += n) {
		n = done < whole - done ? done : whole - done;
		memcpy(b->data + done, b->data, n);
	}
}

static pl_status number_fail(pl_dtype dtype, const char *call, const char *where,
			     const char *number)
{
	char text[80];

	return pldi_fail(PL_EINVAL, call, where, "the number %s: %s", number,
			 pldi_dtype_range(dtype, text, sizeof(text)));
}

static pl_status elem_from_float(pl_dtype dtype, double v, void *elem, const char *call,
				 const char *where)
{
	char number[40];

	if (!pldi_elem_from_float(dtype, v, elem))
		return PL_OK;
	snprintf(number, sizeof(number), "%.17g", v);
	return number_fail(dtype, call, where, number);
}

static pl_status elem_from_int(pl_dtype dtype, int64_t v, void *elem, const char *call,
			       const char *where)
{
	char number[40];

	if (!pldi_elem_from_int(dtype, v, elem))
		return PL_OK;
	snprintf(number, sizeof(number), "%" PRId64, v);
	return number_fail(dtype, call, where, number);
}

pl_tile(pl_full)(const pl_dims *shape, pl_dtype dtype, double value, const char *where)
{
	struct block b;
	char elem[8], *data;
	void *start;
	pl_tile t;

	if (pldi_tiles_allowed("pl_full", where) != PL_OK)
		return null_tile;
	if (!pl_dtype_bytes(dtype)) {
		pldi_fail(PL_EINVAL, "pl_full", where, "dtype %d is no pl_dtype", (int)dtype);
		return null_tile;
	}
	if (elem_from_float(dtype, value, elem, "pl_full", where) != PL_OK)
		return null_tile;
	t = pldi_tile_new(dtype, shape, NULL, &start, "pl_full", where);
	if (!t.t_ || !t.t_->layout->count)
		return t;
	fill_block(&b, elem, t.t_->layout);
	data = start;
	for (size_t left = (size_t)t.t_->layout->count, n; left; left -= n) {
		n = left < b.elems ? left : b.elems;
		memcpy(data, b.data, n * pl_dtype_bytes(dtype));
		data += n * pl_dtype_bytes(dtype);
	}
	return t;
}

/* ---- arithmetic ----------------------------------------------------------------------------- */

static const char *const names[PLDI_OPS] = { "pl_add", "pl_sub", "pl_mul", "pl_max", "pl_min" };

static pl_status disagree(pl_tile a, pl_tile b, const char *call, const char *where)
{
	char ta[PLDI_DIMS_TEXT], tb[PLDI_DIMS_TEXT];
	pl_dims sa = pldi_shape_of(a.t_->layout), sb = pldi_shape_of(b.t_->layout);

	if (a.t_->layout->dtype != b.t_->layout->dtype)
		return pldi_fail(PL_EINVAL, call, where, "tiles of %s and %s; pl_cast converts",
				 pl_dtype_name(a.t_->layout->dtype),
				 pl_dtype_name(b.t_->layout->dtype));
	if (a.t_->layout != b.t_->layout)
		return pldi_fail(PL_EINVAL, call, where, "tiles of shape %s and %s",
				 pldi_dims_text(&sa, ta), pldi_dims_text(&sb, tb));
	return pldi_fail(PL_EINVAL, call, where, "tiles with valid shape %s and %s",
			 pldi_dims_text(&a.t_->valid, ta), pldi_dims_text(&b.t_->valid, tb));
}

static int same_dims(const pl_dims *a, const pl_dims *b)
{
	for (int i = 0; i < a->n; i++)
		if (a->d[i] != b->d[i])
			return 0;
	return 1;
}

/* A tile like a, with nothing in it. */
static pl_tile new_like(pl_tile a, pl_dtype dtype, void **data, const char *call, const char *where)
{
	const pl_dims shape = pldi_shape_of(a.t_->layout);

	return pldi_tile_new(dtype, &shape, &a.t_->valid, data, call, where);
}

static pl_tile tile_tile(enum pldi_op op, pl_tile a, pl_tile b, const char *where)
{
	const char *call = names[op];
	void *out;
	pl_tile t;

	if (pldi_tiles_allowed(call, where) != PL_OK ||
	    pldi_tile_check(a, call, where, "a") != PL_OK ||
	    pldi_tile_check(b, call, where, "b") != PL_OK)
		return null_tile;
	if (a.t_->layout != b.t_->layout || !same_dims(&a.t_->valid, &b.t_->valid)) {
		disagree(a, b, call, where);
		return null_tile;
	}
	t = new_like(a, a.t_->layout->dtype, &out, call, where);
	if (t.t_)
		pldi_op(op, a.t_->layout->dtype)(out, a.t_->data, b.t_->data,
						 (size_t)a.t_->layout->count);
	return t;
}

/* elem: the number, in a's dtype. */
static pl_tile tile_elem(enum pldi_op op, pl_tile a, const void *elem, const char *where)
{
	const struct pl_layout *l = a.t_->layout;
	const char *x = a.t_->data;
	struct block b;
	void *out;
	pl_tile t;

	t = new_like(a, l->dtype, &out, names[op], where);
	if (!t.t_)
		return null_tile;
	fill_block(&b, elem, l);
	for (size_t done = 0, n; done < (size_t)l->count; done += n) {
		const size_t off = done * (size_t)l->elem_bytes;

		n = (size_t)l->count - done;
		n = n < b.elems ? n : b.elems;
		pldi_op(op, l->dtype)((char *)out + off, x + off, b.data, n);
	}
	return t;
}

static pl_tile tile_float(enum pldi_op op, pl_tile a, double v, const char *where)
{
	const char *call = names[op];
	char elem[8];

	if (pldi_tiles_allowed(call, where) != PL_OK ||
	    pldi_tile_check(a, call, where, "a") != PL_OK ||
	    elem_from_float(a.t_->layout->dtype, v, elem, call, where) != PL_OK)
		return null_tile;
	return tile_elem(op, a, elem, where);
}

static pl_tile tile_int(enum pldi_op op, pl_tile a, int64_t v, const char *where)
{
	const char *call = names[op];
	char elem[8];

	if (pldi_tiles_allowed(call, where) != PL_OK ||
	    pldi_tile_check(a, call, where, "a") != PL_OK ||
	    elem_from_int(a.t_->layout->dtype, v, elem, call, where) != PL_OK)
		return null_tile;
	return tile_elem(op, a, elem, where);
}

#define ARITHMETIC(name, op)                                                                       \
	pl_tile pl_##name##_tile(pl_tile a, pl_tile b, const char *where)                          \
	{                                                                                          \
		return tile_tile(op, a, b, where);                                                 \
	}                                                                                          \
	pl_tile pl_##name##_f(pl_tile a, double b, const char *where)                              \
	{                                                                                          \
		return tile_float(op, a, b, where);                                                \
	}                                                                                          \
	pl_tile pl_##name##_i(pl_tile a, int64_t b, const char *where)                             \
	{                                                                                          \
		return tile_int(op, a, b, where);                                                  \
	}
ARITHMETIC(add, PLDI_ADD)
ARITHMETIC(sub, PLDI_SUB)
ARITHMETIC(mul, PLDI_MUL)
ARITHMETIC(max, PLDI_MAX)
ARITHMETIC(min, PLDI_MIN)

pl_tile(pl_cast)(pl_tile a, pl_dtype dtype, const char *where)
{
	const struct pl_layout *l;
	void *out;
	pl_tile t;

	if (pldi_tiles_allowed("pl_cast", where) != PL_OK ||
	    pldi_tile_check(a, "pl_cast", where, "a") != PL_OK)
		return null_tile;
	t = new_like(a, dtype, &out, "pl_cast", where);
	if (!t.t_)
		return null_tile;
	l = a.t_->layout;
	if (l->dtype == dtype)
		memcpy(out, a.t_->data, (size_t)pldi_bytes(l));
	else
		pldi_cast(dtype, out, l->dtype, a.t_->data, (size_t)l->count);
	return t;
}

pl_status(pl_assign)(pl_tile dst, pl_tile src, const char *where)
{
	pl_status s;

	s = pldi_tiles_allowed("pl_assign", where);
	if (s == PL_OK)
		s = pldi_tile_check(dst, "pl_assign", where, "dst");
	if (s == PL_OK)
		s = pldi_tile_check(src, "pl_assign", where, "src");
	if (s != PL_OK)
		return s;
	if (dst.t_->layout != src.t_->layout)
		return disagree(dst, src, "pl_assign", where);
	if (dst.t_ != src.t_) {
		/* the handle is const for users; the tile was made by us, in memory that is not */
		((struct pl_tile_ *)dst.t_)->valid = src.t_->valid;
		memcpy(dst.t_->data, src.t_->data, (size_t)pldi_bytes(src.t_->layout));
	}
	return PL_OK;
}
