/* npy_header.h - the text in front of an .npy file's data.  Private to npy*.c. */
#ifndef NPY_HEADER_H
#define NPY_HEADER_H

#include "npy.h"

struct npy_header {
	pl_dtype dtype;
	int swapped; /* elements are of the other byte order */
	int fortran; /* first index fastest */
	pl_dims dims;
};

/* len bytes of text (no NUL needed) into h.  0, or -1 and why. */
int npy_parse_header(const char *text, size_t len, struct npy_header *h, struct npy_error *why);

/* Letters of dtype in descr, "f4"; NULL when .npy has no such dtype. */
const char *npy_descr(pl_dtype dtype);

int npy_little_endian(void);

/* why->text = the message; always -1. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int npy_fail(struct npy_error *why, const char *format, ...);

#endif
