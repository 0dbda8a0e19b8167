/* pldi_patience.h - what a waiter does before it sleeps: spin, then yield. */
#ifndef PLDI_PATIENCE_H
#define PLDI_PATIENCE_H

#include <sched.h>
#include <stdint.h>

#include "pldi_clock.h"

/*
 * With a CPU for each rank a waiter spins for about what a sleep would cost both sides (some
 * 20 us) and does not yield; with more ranks than CPUs it looks once and gives the CPU away, up to
 * `yields` times.  That is worth it while those that get the CPU are ranks, which soon give it
 * back; programs that compute keep it for milliseconds, so after PLDI_YIELD_NS it sleeps.
 */
#define PLDI_YIELD_NS 2000000

struct pldi_patience {
	int64_t spin_ns;
	int32_t yields;
};

struct pldi_backoff {
	int64_t until_ns;	 /* 0: spinning has not begun */
	int64_t yields_until_ns; /* 0: yielding has not begun */
	int32_t pauses, yields;
};

static inline void pldi_cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#endif
}

/*
 * Called after each failed test: 0 after a short delay, "test again"; 1: patience is at its end,
 * sleep.
 */
static inline int pldi_backoff(struct pldi_backoff *b, const struct pldi_patience *p)
{
	/* reading the clock costs as much as one pause, and a tenth of a yield */
	enum { PAUSES_A_CLOCK = 32, YIELDS_A_CLOCK = 4 };

	if (b->until_ns == 0)
		b->until_ns = p->spin_ns ? pldi_now_ns() + p->spin_ns : 1;
	if (b->until_ns > 1) {
		pldi_cpu_pause();
		if (++b->pauses % PAUSES_A_CLOCK || pldi_now_ns() < b->until_ns)
			return 0;
		b->until_ns = 1;
	}
	if (b->yields >= p->yields)
		return 1;
	if (b->yields_until_ns == 0)
		b->yields_until_ns = pldi_now_ns() + PLDI_YIELD_NS;
	else if (b->yields % YIELDS_A_CLOCK == 0 && pldi_now_ns() >= b->yields_until_ns)
		return 1;
	b->yields++;
	sched_yield();
	return 0;
}

#endif
