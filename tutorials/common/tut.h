/* tut.h - what every step shares: options, inputs from a formula or a file, the golden check. */
#ifndef TUT_H
#define TUT_H

#include <pld.h>

/* One run of a step, the same on every rank. */
struct tut {
	const struct tut_step *step;
	const char *mode;	    /* one of the step's modes; NULL: it has none */
	const char *input, *output; /* .npy files, or NULL */
	pl_tensor x;		    /* the input */
};

struct tut_step {
	const char *name;
	const char *modes;	   /* "load,store", the default first; NULL: none */
	const char *devices;	   /* when started alone without -d: "0,1" */
	int (*run)(struct tut *t); /* in every rank; its value is the rank's exit status */
};

/*
 * tut_main - what main returns.  Reads the options, makes the ranks with pld_run, and runs
 * step->run in each; prints OK once when all is well.  Wrong options: one line, exit status 2.
 */
int tut_main(int argc, char **argv, const struct tut_step *step);

/* 1 when --mode (or the default) is this mode. */
int tut_mode_is(const struct tut *t, const char *mode);

/*
 * tut_input - the world tensor [P, ..] that a step works on: FP32 in memory that all ranks see.
 * From --input, or x[r][i] = ((r * 7919 + i * 104729) % 2003 - 1001) / 256, i counting the
 * elements of a rank's slice.  Written by rank 0; others may read it inside PLD_HOST.
 * Collective.  A file that does not fit ends the job with status 2.
 */
pl_tensor tut_input(struct tut *t, const pl_dims *shape);

/* What the element at index at should be, at[0] being the rank; computed from t->x. */
typedef double tut_value(const struct tut *t, const int64_t *at);

/* How close: |got - want| <= 1e-5 + 1e-5 |want|, or equal.  Integers: always equal. */
enum tut_how { TUT_CLOSE, TUT_EXACT };

/*
 * tut_check - y against want, by rank 0 after PLD_HOST; writes --output.  0, or 1 after one line
 * that names step, mode, P, rank, the largest error and where it is.  A NaN is always an error.
 */
int tut_check(struct tut *t, pl_tensor y, tut_value *want, enum tut_how how);

#endif
