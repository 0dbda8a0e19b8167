/* pldi_rma.h - moving elements between mappings: plain, and added atomically. */
#ifndef PLDI_RMA_H
#define PLDI_RMA_H

#include <pld/rma.h>

#include "pldi_copy.h"
#include "pldi_window.h"

/* Copies a plan; long runs past the caches.  All is ordered before the caller's next notify. */
void pldi_rma_copy(const struct pldi_runs *r, void *dst, const void *src);

/*
 * Adds the elements of a plan to dst, each atomically to the same on any rank and to notify: for
 * integers one locked addition (wrapping), for floating dtypes a compare-and-swap until nobody
 * came between; FP16 and BF16 add in FP32 and round.  src is read plainly.  Relaxed: orders
 * nothing; the notify that follows does.
 */
void pldi_rma_add(const struct pldi_runs *r, pl_dtype dtype, void *dst, const void *src);

/* PL_EINVAL: atomic is no pld_atomic. */
pl_status pldi_atomic_fail(int atomic, const char *call, const char *where);

/* A box of two layouts in blocks of chunk_rows x chunk_cols, see pld_put. */
struct pldi_move {
	const struct pl_layout *dst_layout, *src_layout;
	void *dst; /* first element of the box */
	const void *src;
	pl_dims shape;
	int64_t chunk_rows, chunk_cols; /* 0: all */
	pld_atomic atomic;
};
void pldi_rma_move(const struct pldi_move *m);

/* Of a box of so many elements. */
static inline int64_t pldi_box_bytes(const pl_dims *shape, int64_t elem_bytes)
{
	int64_t bytes = elem_bytes;

	for (int64_t k = 0; k < shape->n; k++)
		bytes *= shape->d[k];
	return bytes;
}

#endif
