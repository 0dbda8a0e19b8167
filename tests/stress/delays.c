/* delays.c - what PLDI_DELAY() is in the copy of the library that storm-delays runs. */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "pldi_clock.h"
#include "pldi_delay.h"
#include "stress.h"

enum { YIELD_ONE_IN = 16, SLEEP_ONE_IN = 64, SLEEP_MOST_NS = 200000 };

static _Thread_local uint64_t state;

static uint64_t first_state(void)
{
	const char *seed = getenv("PLD_TEST_SEED"), *rank = getenv("PLD_RANK");
	uint64_t s = seed ? strtoull(seed, NULL, 0) : (uint64_t)pldi_now_ns();

	/* threads of a rank differ by where their own memory is */
	s += UINT64_C(0x9e3779b97f4a7c15) * (1 + (rank ? strtoull(rank, NULL, 0) : 99));
	s ^= (uint64_t)(uintptr_t)&state;
	return s ? s : 1;
}

void pldi_delay(void)
{
	struct timespec t = { 0, 0 };
	const int error = errno;
	uint64_t r;

	if (state == 0)
		state = first_state();
	r = stress_random(&state);
	if (r % SLEEP_ONE_IN == 1) {
		t.tv_nsec = (long)((r >> 16) % SLEEP_MOST_NS);
		nanosleep(&t, NULL);
	} else if (r % YIELD_ONE_IN == 0) {
		sched_yield();
	}
	errno = error;
}
