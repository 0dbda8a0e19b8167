/*
 * b0008_long_double.c - a long double lost its fraction in pl_write and tile arithmetic.
 *
 * Cause: the macros choose the call by the type of the value; float and double had their own, any
 * other type was taken for an integer.
 * Shape: every operation with a value of each of the three types, on both wide dtypes.
 * Fails: 1.75L is written as 1, 3 + 0.5L is 3.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include <pl.h>

enum { WRITE, ADD, SUB, MUL, MAX, MIN, OPS };

static const struct {
	const char *name;
	double wanted;
} ops[OPS] = {
	[WRITE] = { "pl_write 1.75", 1.75 }, [ADD] = { "3 + 1.75", 4.75 },
	[SUB] = { "3 - 1.75", 1.25 },	     [MUL] = { "3 * 1.75", 5.25 },
	[MAX] = { "max(-1, 1.75)", 1.75 },   [MIN] = { "min(3, 1.75)", 1.75 },
};

/* All results with a value of one type, into t [OPS]. */
#define RESULTS(v, t)                                                                              \
	do {                                                                                       \
		pl_tile three = pl_full(PL_SHAPE(1), pl_dtype_of(t), 3);                           \
		pl_tile minus = pl_full(PL_SHAPE(1), pl_dtype_of(t), -1);                          \
                                                                                                   \
		pl_write((t), PL_AT(WRITE), (v));                                                  \
		pl_store(pl_add(three, (v)), PL_AT(ADD), (t));                                     \
		pl_store(pl_sub(three, (v)), PL_AT(SUB), (t));                                     \
		pl_store(pl_mul(three, (v)), PL_AT(MUL), (t));                                     \
		pl_store(pl_max(minus, (v)), PL_AT(MAX), (t));                                     \
		pl_store(pl_min(three, (v)), PL_AT(MIN), (t));                                     \
	} while (0)

static int check(const char *type, pl_tensor t)
{
	int failed = 0;

	for (int i = 0; i < OPS; i++) {
		double got = pl_read_float(t, PL_AT(i));

		if (got == ops[i].wanted)
			continue;
		fprintf(stderr, "%s, %s: %s: got %g, wanted %g\n", pl_dtype_name(pl_dtype_of(t)),
			type, ops[i].name, got, ops[i].wanted);
		failed++;
	}
	return failed;
}

int main(void)
{
	static const pl_dtype dtypes[] = { PL_FP64, PL_FP32 };
	int failed = 0;

	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		double memory[OPS] = { 0 };
		pl_tensor t = pl_wrap(memory, PL_SHAPE(OPS), dtypes[i]);

		PL_SCOPE {
			RESULTS(1.75f, t);
			failed += check("float", t);
			RESULTS(1.75, t);
			failed += check("double", t);
			RESULTS(1.75L, t);
			failed += check("long double", t);
		}
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
