/* pldi_copy.h - boxes of strided memory as contiguous runs: the one loop nest of every copy. */
#ifndef PLDI_COPY_H
#define PLDI_COPY_H

#include <string.h>

#include "pldi_tensor.h"

/*
 * A plan: `outer` loops around runs of run_elems elements that are contiguous on both sides.
 * Dimensions that follow one another on both sides are one, so that two packed tensors are a
 * single run, and rows of a matrix are a run each.
 */
struct pldi_runs {
	int64_t run_elems; /* 0: nothing to move */
	int64_t elem_bytes;
	int outer;		       /* loops, outermost first */
	int64_t n[PL_MAX_DIMS];	       /* >= 2 */
	int64_t dst_step[PL_MAX_DIMS]; /* bytes, any sign */
	int64_t src_step[PL_MAX_DIMS];
};

/*
 * The runs of a box of this shape in two layouts of the same element size and number of
 * dimensions.  Both sides: strides of any sign, 0 too.  The box was checked against both.
 */
void pldi_runs_plan(struct pldi_runs *r, const struct pl_layout *dst, const struct pl_layout *src,
		    const pl_dims *shape);

/* Moves (copies, adds, ..) n contiguous elements. */
typedef void pldi_run_fn(void *dst, const void *src, int64_t n, void *arg);

/*
 * Calls run for each run of a plan that starts at dst and src, in row-major order.  Inline, so that
 * a run function which the compiler sees becomes the body of the loops.
 */
static inline void pldi_runs_each(const struct pldi_runs *r, void *dst, const void *src,
				  pldi_run_fn *run, void *arg)
{
	int64_t i[PL_MAX_DIMS] = { 0 };
	const char *s = src;
	char *d = dst;
	int k;

	if (!r->run_elems)
		return;
	for (;;) {
		run(d, s, r->run_elems, arg);
		/* the next index, as an odometer counts */
		for (k = r->outer - 1; k >= 0 && i[k] == r->n[k] - 1; k--) {
			d -= i[k] * r->dst_step[k];
			s -= i[k] * r->src_step[k];
			i[k] = 0;
		}
		if (k < 0)
			return;
		i[k]++;
		d += r->dst_step[k];
		s += r->src_step[k];
	}
}

/* Plain copy along a plan; short runs are cheap.  The two sides do not overlap. */
void pldi_runs_copy(const struct pldi_runs *r, void *dst, const void *src);

/* Both in one: copies a box, dst and src being its first elements. */
void pldi_copy_box(void *dst, const struct pl_layout *dst_layout, const void *src,
		   const struct pl_layout *src_layout, const pl_dims *shape);

/*
 * 1: the tensors surely share an element.  0: they do not, or it cannot be told: exact for two
 * packed ones and for views of one tensor with equal shapes; disjoint ones are never 1.
 */
int pldi_overlap(const void *a, const struct pl_layout *a_layout, const void *b,
		 const struct pl_layout *b_layout);

/* The same for boxes of equal shape in them, a and b being the first elements of the boxes. */
int pldi_boxes_overlap(const void *a, const struct pl_layout *a_layout, const void *b,
		       const struct pl_layout *b_layout, const pl_dims *shape);

#endif
