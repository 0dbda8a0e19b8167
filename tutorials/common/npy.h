/* npy.h - reading and writing numpy's .npy files: one array a file. */
#ifndef NPY_H
#define NPY_H

#include <pl.h>

/* An array in memory. */
struct npy {
	pl_dtype dtype;
	pl_dims dims;  /* n == 0: a single value */
	int64_t count; /* elements */
	void *data;    /* packed, row-major, this machine's byte order; from malloc */
};

/* Why a file was refused: what came, what is allowed.  The caller puts the file's name before. */
struct npy_error {
	char text[400];
};

/*
 * npy_read - a whole file: format versions 1.0, 2.0 and 3.0, both byte orders, C and Fortran order,
 * the dtypes of pl_dtype (but bf16, which .npy does not have), 0 to PL_MAX_DIMS dimensions, any of
 * them zero.  Returns 0 and an array to be freed with npy_free; or -1 and why, a untouched.
 */
int npy_read(const char *file, struct npy *a, struct npy_error *why);
void npy_free(struct npy *a);

/*
 * npy_write - a packed row-major array as version 1.0, C order, this machine's byte order.
 * Returns 0, or -1 and why; the file may then be incomplete, which npy_read notices.
 */
int npy_write(const char *file, pl_dtype dtype, const pl_dims *dims, const void *data,
	      struct npy_error *why);

/* "(3, 1, 64)", as numpy writes a shape; into text, which is returned. */
struct npy_shape {
	char text[160];
};
const char *npy_shape_text(const pl_dims *dims, struct npy_shape *s);

/* "float32": numpy's name of a dtype. */
const char *npy_dtype_name(pl_dtype dtype);

#endif
