/* copy.c - plans of runs, the plain copy along them, and whether two tensors overlap. */
#include "config.h"

#include "pldi_copy.h"
#include "pldi_dtype.h"

void pldi_runs_plan(struct pldi_runs *r, const struct pl_layout *dst, const struct pl_layout *src,
		    const pl_dims *shape)
{
	const int64_t elem = dst->elem_bytes;
	int64_t n[PL_MAX_DIMS], d[PL_MAX_DIMS], s[PL_MAX_DIMS];
	int k = 0;

	r->elem_bytes = elem;
	r->run_elems = 1;
	r->outer = 0;
	/* from the last dimension outwards: join those that go on where the one inside ends */
	for (int i = (int)shape->n - 1; i >= 0; i--) {
		if (shape->d[i] == 0) {
			r->run_elems = 0;
			return;
		}
		if (shape->d[i] == 1)
			continue;
		if (k && dst->stride[i] == d[k - 1] * n[k - 1] &&
		    src->stride[i] == s[k - 1] * n[k - 1]) {
			n[k - 1] *= shape->d[i];
			continue;
		}
		n[k] = shape->d[i];
		d[k] = dst->stride[i];
		s[k] = src->stride[i];
		k++;
	}
	if (k && d[0] == 1 && s[0] == 1) {
		r->run_elems = n[0];
		n[0] = 1;
	}
	while (--k >= 0) {
		if (n[k] == 1)
			continue;
		r->n[r->outer] = n[k];
		r->dst_step[r->outer] = d[k] * elem;
		r->src_step[r->outer] = s[k] * elem;
		r->outer++;
	}
}

static void copy_run(void *dst, const void *src, int64_t n, void *arg)
{
	memcpy(dst, src, (size_t)n * *(const size_t *)arg);
}

/* Runs of one element of a size that is known: a load and a store, no call. */
#define COPY_ONE(bytes)                                                                            \
	static void copy_##bytes(void *dst, const void *src, int64_t n, void *arg)                 \
	{                                                                                          \
		(void)n;                                                                           \
		(void)arg;                                                                         \
		memcpy(dst, src, bytes);                                                           \
	}
COPY_ONE(1)
COPY_ONE(2)
COPY_ONE(4)
COPY_ONE(8)

void pldi_runs_copy(const struct pldi_runs *r, void *dst, const void *src)
{
	size_t elem = (size_t)r->elem_bytes;

	if (r->run_elems != 1) {
		pldi_runs_each(r, dst, src, copy_run, &elem);
		return;
	}
	switch (elem) {
	case 1:
		pldi_runs_each(r, dst, src, copy_1, NULL);
		break;
	case 2:
		pldi_runs_each(r, dst, src, copy_2, NULL);
		break;
	case 4:
		pldi_runs_each(r, dst, src, copy_4, NULL);
		break;
	default:
		pldi_runs_each(r, dst, src, copy_8, NULL);
	}
}

void pldi_copy_box(void *dst, const struct pl_layout *dst_layout, const void *src,
		   const struct pl_layout *src_layout, const pl_dims *shape)
{
	struct pldi_runs r;

	pldi_runs_plan(&r, dst_layout, src_layout, shape);
	pldi_runs_copy(&r, dst, src);
}

static int64_t magnitude(int64_t v)
{
	return v < 0 ? -v : v;
}

/*
 * Is the address off elements from l's first one an element of l?  Greedy from the widest stride
 * down: right whenever the narrower dimensions together stay inside one step of the wider ones,
 * else it may say no to an element.  Never yes to a gap.
 */
static int is_element(const struct pl_layout *l, int64_t off)
{
	int order[PL_MAX_DIMS];

	for (int i = 0; i < l->ndim; i++) {
		int k = i;

		for (; k && magnitude(l->stride[order[k - 1]]) < magnitude(l->stride[i]); k--)
			order[k] = order[k - 1];
		order[k] = i;
		/* count from the lowest address: then every step goes up */
		if (l->stride[i] < 0)
			off -= (l->dim[i] - 1) * l->stride[i];
	}
	for (int k = 0; k < l->ndim; k++) {
		const int64_t step = magnitude(l->stride[order[k]]), most = l->dim[order[k]] - 1;
		int64_t steps;

		if (!step)
			continue;
		steps = off / step < most ? off / step : most;
		if (off < 0)
			return 0;
		off -= steps * step;
	}
	return off == 0;
}

/* Is a corner of the box b, whose first element is off elements from a's, an element of a? */
static int corner_inside(const struct pl_layout *a, const struct pl_layout *b, int64_t off)
{
	for (int corner = 0; corner < 1 << b->ndim; corner++) {
		int64_t at = off;

		for (int i = 0; i < b->ndim; i++)
			if (corner >> i & 1)
				at += (b->dim[i] - 1) * b->stride[i];
		if (is_element(a, at))
			return 1;
	}
	return 0;
}

int pldi_overlap(const void *a, const struct pl_layout *a_layout, const void *b,
		 const struct pl_layout *b_layout)
{
	const struct pldi_layout *x = pldi_layout(a_layout), *y = pldi_layout(b_layout);
	const int64_t elem = a_layout->elem_bytes;
	const __int128 from_a = (intptr_t)a, from_b = (intptr_t)b; /* ends may be past an int64_t */

	if (!a_layout->count || !b_layout->count ||
	    from_a + (x->high_off + 1) * elem <= from_b + y->low_off * elem ||
	    from_b + (y->high_off + 1) * elem <= from_a + x->low_off * elem)
		return 0;
	if (x->packed && y->packed)
		return 1;
	/* Two boxes of equal shape in one grid meet just when one's corner lies in the other. */
	if ((from_b - from_a) % elem)
		return 0;
	return corner_inside(a_layout, b_layout, (int64_t)(from_b - from_a) / elem) ||
	       corner_inside(b_layout, a_layout, (int64_t)(from_a - from_b) / elem);
}

/* The layout of a box of l's. */
static struct pldi_layout box_of(const struct pl_layout *l, const pl_dims *shape)
{
	struct pldi_layout box = { .pub = *l };

	box.pub.count = 1;
	box.packed = pldi_layout(l)->packed;
	for (int i = 0; i < l->ndim; i++) {
		const int64_t reach = (shape->d[i] - 1) * l->stride[i];

		*(reach < 0 ? &box.low_off : &box.high_off) += reach;
		box.packed &= shape->d[i] == l->dim[i];
		box.pub.dim[i] = shape->d[i];
		box.pub.count *= shape->d[i];
	}
	return box;
}

int pldi_boxes_overlap(const void *a, const struct pl_layout *a_layout, const void *b,
		       const struct pl_layout *b_layout, const pl_dims *shape)
{
	const struct pldi_layout x = box_of(a_layout, shape), y = box_of(b_layout, shape);

	return pldi_overlap(a, &x.pub, b, &y.pub);
}

pl_status(pl_copy)(pl_tensor dst, pl_tensor src, const char *where)
{
	char to[PLDI_DIMS_TEXT], from[PLDI_DIMS_TEXT];
	pl_dims shape, other;
	pl_status s;

	s = pldi_tensor_check(dst.as_, "pl_copy", where, "dst");
	if (s == PL_OK)
		s = pldi_tensor_check(src.as_, "pl_copy", where, "src");
	if (s != PL_OK)
		return s;
	shape = pldi_shape_of(dst.as_);
	other = pldi_shape_of(src.as_);
	if (dst.as_->dtype != src.as_->dtype)
		return pldi_fail(PL_EINVAL, "pl_copy", where, "dst is %s, src %s; pl_cast converts",
				 pl_dtype_name(dst.as_->dtype), pl_dtype_name(src.as_->dtype));
	if (!pldi_same_shape(dst.as_, src.as_))
		return pldi_fail(PL_EINVAL, "pl_copy", where, "dst has shape %s, src %s",
				 pldi_dims_text(&shape, to), pldi_dims_text(&other, from));
	if (pldi_overlap(dst.at_, dst.as_, src.at_, src.as_))
		return pldi_fail(PL_EINVAL, "pl_copy", where,
				 "dst and src overlap: shape %s at %p and at %p",
				 pldi_dims_text(&shape, to), dst.at_, src.at_);
	pldi_copy_box(dst.at_, dst.as_, src.at_, src.as_, &shape);
	return PL_OK;
}
