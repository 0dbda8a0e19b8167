/* check.c - what is wrong with an index or a box, in words; and boxes that may be clipped. */
#include "config.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "pldi_tensor.h"

int pldi_same_shape(const struct pl_layout *a, const struct pl_layout *b)
{
	if (a->ndim != b->ndim)
		return 0;
	for (int i = 0; i < a->ndim; i++)
		if (a->dim[i] != b->dim[i])
			return 0;
	return 1;
}

const char *pldi_dims_text(const pl_dims *d, char text[PLDI_DIMS_TEXT])
{
	size_t n = 0;

	if (!d) {
		snprintf(text, PLDI_DIMS_TEXT, "(nothing)");
		return text;
	}
	for (int64_t i = 0; i < d->n && i < PL_MAX_DIMS; i++)
		n += (size_t)snprintf(text + n, PLDI_DIMS_TEXT - n, "%s%" PRId64, i ? ", " : "(",
				      d->d[i]);
	snprintf(text + n, PLDI_DIMS_TEXT - n, n ? ")" : "()");
	return text;
}

pl_status pldi_tensor_check(const struct pl_layout *l, const char *call, const char *where,
			    const char *what)
{
	if (!l)
		return pldi_null_status(call, where, what);
	if (!l->ndim)
		return pldi_fail(PL_EINVAL, call, where, "%s: %s", what, pldi_layout(l)->dead_text);
	return PL_OK;
}

/* d has as many dimensions as l; name: "index". */
static pl_status same_ndim(const struct pl_layout *l, const pl_dims *d, const char *name,
			   const char *call, const char *where, const char *what)
{
	char seen[PLDI_DIMS_TEXT], allowed[PLDI_DIMS_TEXT];
	pl_dims shape;

	assert(l); /* else pldi_tensor_check() has failed */
	shape = pldi_shape_of(l);
	if (!d)
		return pldi_fail(PL_EINVAL, call, where, "%s: no %s given", what, name);
	if (d->n != l->ndim)
		return pldi_fail(PL_EINVAL, call, where,
				 "%s: %s %s has %" PRId64 " dimension%s, shape %s has %d", what,
				 name, pldi_dims_text(d, seen), d->n, d->n == 1 ? "" : "s",
				 pldi_dims_text(&shape, allowed), (int)l->ndim);
	return PL_OK;
}

pl_status pldi_index_fail(const struct pl_layout *l, const pl_dims *at, const char *call,
			  const char *where, const char *what)
{
	char seen[PLDI_DIMS_TEXT], allowed[PLDI_DIMS_TEXT];
	pl_status s = pldi_tensor_check(l, call, where, what);
	pl_dims shape;

	if (s == PL_OK)
		s = same_ndim(l, at, "index", call, where, what);
	if (s != PL_OK)
		return s;
	shape = pldi_shape_of(l);
	return pldi_fail(PL_EINVAL, call, where, "%s: index %s outside shape %s", what,
			 pldi_dims_text(at, seen), pldi_dims_text(&shape, allowed));
}

pl_status pldi_box_fail(const struct pl_layout *l, const pl_dims *at, const pl_dims *shape,
			const pl_dims *valid, const char *call, const char *where, const char *what)
{
	char from[PLDI_DIMS_TEXT], extent[PLDI_DIMS_TEXT], allowed[PLDI_DIMS_TEXT];
	pl_status s = pldi_tensor_check(l, call, where, what);
	pl_dims whole;

	if (s == PL_OK)
		s = same_ndim(l, at, "index", call, where, what);
	if (s == PL_OK)
		s = same_ndim(l, shape, "shape", call, where, what);
	if (s == PL_OK && valid)
		s = same_ndim(l, valid, "valid shape", call, where, what);
	if (s != PL_OK)
		return s;
	assert(l && shape); /* else same_ndim() has failed */
	for (int i = 0; i < l->ndim; i++)
		if (shape->d[i] < 0 || (valid && valid->d[i] < 0))
			return pldi_fail(PL_EINVAL, call, where, "%s: %s %s has a negative extent",
					 what, shape->d[i] < 0 ? "shape" : "valid shape",
					 pldi_dims_text(shape->d[i] < 0 ? shape : valid, extent));
	whole = pldi_shape_of(l);
	return pldi_fail(PL_EINVAL, call, where, "%s: box of shape %s at %s outside shape %s", what,
			 pldi_dims_text(shape, extent), pldi_dims_text(at, from),
			 pldi_dims_text(&whole, allowed));
}

pl_status pldi_box_valid(const struct pl_layout *l, const pl_dims *at, const pl_dims *shape,
			 const pl_dims *valid, pl_dims *clipped, int64_t *off, const char *call,
			 const char *where, const char *what)
{
	pl_dims part;
	pl_status s;

	if (!valid) {
		s = pldi_box(l, at, shape, off, call, where, what);
		if (s == PL_OK)
			*clipped = *shape;
		return s;
	}
	if (!l || !at || !shape || !l->ndim || at->n != l->ndim || shape->n != l->ndim ||
	    valid->n != l->ndim)
		return pldi_box_fail(l, at, shape, valid, call, where, what);
	part = (pl_dims){ shape->n, { 0 } };
	for (int i = 0; i < l->ndim; i++) {
		int64_t left;

		if (at->d[i] < 0 || at->d[i] > l->dim[i] || shape->d[i] < 0 || valid->d[i] < 0)
			return pldi_box_fail(l, at, shape, valid, call, where, what);
		left = l->dim[i] - at->d[i];
		left = left < shape->d[i] ? left : shape->d[i];
		part.d[i] = left < valid->d[i] ? left : valid->d[i];
	}
	s = pldi_box(l, at, &part, off, call, where, what);
	if (s == PL_OK)
		*clipped = part;
	return s;
}
