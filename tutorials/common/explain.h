/* explain.h - what a wrong result holds instead of the right one. */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include <stdint.h>
#include <stdio.h>

#include "tut.h"

/* A result that is not as wanted; plain arrays, a row for each rank. */
struct explain {
	const char *step, *name; /* begin each line; name: which result, or NULL */
	pl_dims dims;		 /* of the result: dims.d[0] ranks, len elements a row */
	int64_t len;
	const double *got, *want;
	const float *x;	    /* the inputs, xlen elements a rank; NULL: there are none */
	int64_t xlen, xrow; /* xrow: elements of a row of a slice, for a slice that has P rows */
	enum tut_how how;
	int repeat;
};

/* How far off: 0 when it passes, infinity for a NaN or where only one side is infinite. */
double explain_off_by(double got, double want, enum tut_how how);

/*
 * explain - a line for each way to be wrong: which ranks, which elements, and what they hold, when
 * that is exactly a part of the inputs, a sum of parts, or something that belongs elsewhere; else
 * the first element that nothing explains.  At most five lines.
 */
void explain(const struct explain *e, FILE *out);

/* ---- between explain.c and explain_text.c --------------------------------------------------- */

#define EXPLAIN_PIECES 16 /* of a row; and the most ranks that a sum is taken apart into */

enum explain_kind {
	EXPLAIN_NOTHING,
	EXPLAIN_ZEROS,
	EXPLAIN_SLICE, /* times * the slice of rank + plus */
	EXPLAIN_SUM,   /* of all slices, the odd ones another number of times than once */
	EXPLAIN_MAX,   /* of all slices */
	EXPLAIN_MIN,
	EXPLAIN_PRODUCT,
	EXPLAIN_OTHER_RANK,  /* the golden of rank, here */
	EXPLAIN_OTHER_PLACE, /* the golden of this rank, elsewhere */
	EXPLAIN_TIMES	     /* times * the golden */
};

struct explain_odd {
	int rank, times;
};

/* Elements first to end - 1 of a row, and the rule that gives each of them. */
struct explain_piece {
	enum explain_kind kind;
	int64_t first, end;
	int64_t shift; /* element i is, or is made of, the elements i + shift */
	int rank;
	double times, plus;
	enum explain_kind also; /* a fold that gives the same */
	int nodd, ambiguous;	/* ambiguous: as many other ranks give the same */
	struct explain_odd odd[EXPLAIN_PIECES];
};

/* A wrong row: its pieces, and what was wanted there (EXPLAIN_NOTHING: no part, no sum). */
struct explain_row {
	int64_t row;
	int npieces;
	struct explain_piece got[EXPLAIN_PIECES], wanted[EXPLAIN_PIECES];
	int64_t *
		order; /* or its blocks are those of these ranks, in this order; NULL: they are not */
};

/* 1 when the row is wrong, and then *r says how; r->order has room for a number a rank. */
int explain_row(const struct explain *e, int64_t row, struct explain_row *r, int64_t *order);

/*
 * What element at of a row is made of in a slice of the input, less at: of a slice as long as the
 * row the same elements, of a longer one the rank's part, of a shorter one all of it again.
 */
int64_t explain_usual_shift(const struct explain *e, int64_t row, int64_t at);

/* Elements of a rank's part of a row, for a row that has such parts: P of them; else 0. */
int64_t explain_block(const struct explain *e);

#endif
