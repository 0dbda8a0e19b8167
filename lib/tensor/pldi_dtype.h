/* pldi_dtype.h - what a dtype is, and numbers and arrays from one dtype into another. */
#ifndef PLDI_DTYPE_H
#define PLDI_DTYPE_H

#include <pl/tensor.h>

enum pldi_class { PLDI_UNKNOWN, PLDI_FLOAT, PLDI_SIGNED, PLDI_UNSIGNED };

struct pldi_dtype {
	const char *name;
	uint8_t bytes; /* 0: not a dtype */
	uint8_t class; /* enum pldi_class */
};

/* Never NULL: a value that is no pl_dtype has 0 bytes and class PLDI_UNKNOWN. */
const struct pldi_dtype *pldi_dtype(pl_dtype t);

/*
 * A number as one element of dtype t.  Floating dtypes: rounded once.  Integer dtypes: -1, and
 * elem unchanged, unless it is a whole number in range.
 */
int pldi_elem_from_int(pl_dtype t, int64_t v, void *elem);
int pldi_elem_from_float(pl_dtype t, double v, void *elem);

/* One element of a floating dtype; exact. */
double pldi_elem_float(pl_dtype t, const void *elem);

/* One element of an integer dtype.  0, or -1 for a UINT64 above INT64_MAX, whose bits *v has. */
int pldi_elem_int(pl_dtype t, const void *elem, int64_t *v);

/*
 * n elements of dtype `from` as elements of dtype `to`, by pl_cast's rules; aligned arrays that do
 * not overlap.
 */
void pldi_cast(pl_dtype to, void *restrict out, pl_dtype from, const void *restrict in, size_t n);

/* "INT8 holds whole numbers from -128 to 127", for errors. */
const char *pldi_dtype_range(pl_dtype t, char *text, size_t text_bytes);

#endif
