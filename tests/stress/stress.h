/* stress.h - what litmus and torture tests have in common: workers, shared memory, time, seed. */
#ifndef STRESS_H
#define STRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Workers are forked processes, as ranks are; in a ThreadSanitizer build, which does not see across
 * processes, and with STRESS_THREADS set, they are threads of one.
 *
 * A run lasts STRESS_SECONDS, or `seconds`.  Random numbers come from STRESS_SEED, or from the
 * clock; the seed is printed.  A run that lasts much longer hangs: that is printed and fails.
 */
struct stress {
	const char *name;
	int64_t run_ns;
	uint64_t seed;
	bool threads;
	bool long_run; /* STRESS_SECONDS is set: times may be judged */
	int cpus;      /* that this process may use */
};
struct stress stress_begin(const char *name, double seconds);

/* Zeroed memory that workers share. */
void *stress_shared(size_t bytes);

/* Runs fn(worker, arg) in n workers, each on a CPU of its own as far as they go.  Sum of what they
 * return: 0 if all passed. */
int stress_run(const struct stress *s, int n, int (*fn)(int worker, void *arg), void *arg);

/* The next of a sequence; *state is not 0.  Xorshift, G. Marsaglia, 2003. */
static inline uint64_t stress_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* ---- duels: two workers against each other, round by round ----------------------------------- */

#define STRESS_BATCH 256 /* rounds between two looks at what they did */

struct stress_duel {
	/* Both at the same time: first brings near what a round needs, then plays it. */
	void (*aim)(int worker, int round, void *arg);
	void (*play)(int worker, int round, void *arg);
	/* Alone, after a batch: number of rounds with a forbidden outcome; makes them fresh. */
	uint64_t (*judge)(void *arg);
	void *arg; /* in shared memory */
};

struct stress_result {
	uint64_t rounds, forbidden;
};

/* Runs it for run_ns. */
struct stress_result stress_duel(const struct stress *s, const struct stress_duel *d,
				 int64_t run_ns);

#endif
