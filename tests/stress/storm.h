/* storm.h - what programs that do random things for a while have in common: seed, time, an end. */
#ifndef STORM_H
#define STORM_H

#include <stdbool.h>

#include "../multi/multi.h"

/* One rank's view; seed, and so what is drawn from it, is the same on every rank. */
struct storm {
	struct multi m;
	uint64_t seed;
	int64_t until_ns; /* of rank 0's clock */
	int64_t rounds;
	pld_tensor one;
};

/*
 * pld_init; the seed is PLD_TEST_SEED, or the clock's, and is printed.  A run lasts the seconds of
 * argv[1]; without it this rank count's part of STRESS_SECONDS, or 1.
 */
struct storm storm_begin(const char *name, int argc, char **argv);

/* Counts a round; whether there is time for it, which all ranks are told alike. */
bool storm_more(struct storm *s);

/* Prints the rounds; pld_finalize.  What main returns. */
int storm_end(struct storm *s);

/* 1 to nranks members of c, in random order: a context without membership for the others. */
pld_ctx storm_subset(pld_ctx c, uint64_t *random);

/* Bytes of the segment that have memory. */
int64_t storm_memory(void);

#endif
