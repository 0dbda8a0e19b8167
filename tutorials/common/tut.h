/* tut.h - what every step shares: options, inputs from a formula or a file, the golden check. */
#ifndef TUT_H
#define TUT_H

#include <pld.h>

/* One run of a step, the same on every rank. */
struct tut {
	const struct tut_step *step;
	const char *mode;	    /* one of the step's modes; NULL: it has none */
	const char *input, *output; /* .npy files, or NULL */
	int64_t size;		    /* elements of a rank's slice: --size, else the step's */
	int repeat;		    /* times that the kernel runs, back to back: --repeat, else 1 */
	pl_tensor x;		    /* the input */
};

struct tut_step {
	const char *name;
	const char *modes;	   /* "load,store", the default first; NULL: none */
	const char *devices;	   /* when started alone without -d: "0,1" */
	int64_t size;		   /* 64: the step takes --size and --repeat; 0: it does not */
	int (*run)(struct tut *t); /* in every rank; its value is the rank's exit status */
};

/*
 * tut_main - what main returns.  Reads the options, makes the ranks with pld_run, and runs
 * step->run in each; prints OK once when all is well.  Wrong options: one line, exit status 2.
 */
int tut_main(int argc, char **argv, const struct tut_step *step);

/* 1 when --mode (or the default) is this mode. */
int tut_mode_is(const struct tut *t, const char *mode);

/* What the element at index at should be, at[0] being the rank; computed from t->x. */
typedef double tut_value(const struct tut *t, const int64_t *at);

/*
 * tut_input - the world tensor [P, ..] that a step works on: FP32 in memory that all ranks see.
 * From --input, or x[r][i] = ((r * 7919 + i * 104729) % 2003 - 1001) / 256, i counting the
 * elements of a rank's slice.  Written by rank 0; others may read it inside PLD_HOST.
 * Collective.  A file that does not fit ends the job with status 2.
 */
pl_tensor tut_input(struct tut *t, const pl_dims *shape);
/* The same where the step has a formula of its own instead of the noise. */
pl_tensor tut_input_by(struct tut *t, const pl_dims *shape, tut_value *formula);

/*
 * tut_turn - what use number `use` of `uses` multiplies its input by: 1 in the last use, -1 in the
 * one before it, 1 before that; 0 in the first of an even number.  A kernel that adds its result to
 * y then ends with the y of a single use; but no two uses in a row move the same data, and what
 * goes wrong in one of them stays in y.
 */
int tut_turn(int use, int uses);

/* How close: |got - want| <= 1e-5 + 1e-5 |want|, or equal.  Integers: always equal. */
enum tut_how { TUT_CLOSE, TUT_EXACT };

/*
 * tut_check - y against want, by rank 0 after PLD_HOST; writes --output.  0, or 1 after a line
 * that names step, mode, P, rank, the largest error and where it is, and up to five more that say
 * what the ranks have instead: explain.h.  A NaN is always an error.
 */
int tut_check(struct tut *t, pl_tensor y, tut_value *want, enum tut_how how);
/* The same for a step's second result, which --output does not write; name: "allred". */
int tut_check_too(struct tut *t, const char *name, pl_tensor y, tut_value *want, enum tut_how how);

/* Bytes that the calls of a rank move in one run of the kernel: read from other ranks and written
 * to them. */
typedef int64_t tut_bytes(const struct tut *t, int rank);

/*
 * tut_cost - after PLD_HOST: prints, on rank 0, the bytes that every rank's calls have really
 * moved in a use of the kernel, and what the formula says (NULL: there is none).  0, or 1 after
 * one line when they are not equal.  Collective; a rank with an error to report need not call it:
 *
 *	return tut_check(t, y, want, TUT_CLOSE) || tut_cost(t, bytes);
 *
 * because a rank that ends with a status other than 0 ends the job.  It prints
 *
 *	cost: bytes moved by rank 0, 1, ..: 384 384 384 384 (formula: 384 384 384 384)
 */
int tut_cost(struct tut *t, tut_bytes *formula);

#endif
