/*
 * pldi_line.h - the library's own flags: a counter that one rank posts and others wait for.
 *
 *     waiter                               the one poster
 *     [L1] sleepers += 1                   [P1] v = x
 *     [L2] read v; reached: leave          [P2] read sleepers; 0: done
 *     [L3] sleep while v is as read        [P3] wake everyone on v
 *     [L4] sleepers -= 1
 *
 * L1, L2, P1 and P2 are seq_cst; the argument is the one of pldi_bell.h, shorter by the doorbell:
 * the word that is tested is the word slept on, and it is read once.  v only grows, modulo 2^32;
 * "reached" compares as (int32_t)(v - x) >= 0, and nobody is 2^31 posts behind.
 *
 * No word is slept on in both ways: v here, the doorbell there.
 */
#ifndef PLDI_LINE_H
#define PLDI_LINE_H

#include <stdatomic.h>
#include <stdint.h>

#include "pldi_delay.h"
#include "pldi_futex.h"

struct pldi_line {
	_Atomic uint32_t *v, *sleepers;
};

static inline int pldi_line_reached(uint32_t v, uint32_t x)
{
	return (int32_t)(v - x) >= 0;
}

static inline void pldi_line_post(struct pldi_line l, uint32_t x)
{
	/*
	 * [P1] seq_cst: pairs with [L2]; also the release of what was written before.  An exchange:
	 * as a store and a fence, which some tunings choose, it would not hold non-temporal stores
	 * back (see pldi_signal.h).
	 */
	(void)atomic_exchange_explicit(l.v, x, memory_order_seq_cst);
	PLDI_DELAY();
	if (atomic_load_explicit(l.sleepers, memory_order_seq_cst)) /* [P2]; pairs with [L1] */
		pldi_futex_wake(l.v);				    /* [P3] */
}

/* Without sleeping; acquire: pairs with [P1]. */
static inline int pldi_line_test(struct pldi_line l, uint32_t x)
{
	return pldi_line_reached(atomic_load_explicit(l.v, memory_order_acquire), x);
}

static inline void pldi_line_announce(struct pldi_line l)
{
	atomic_fetch_add_explicit(l.sleepers, 1, memory_order_seq_cst); /* [L1]; pairs with [P2] */
	PLDI_DELAY();
}

static inline uint32_t pldi_line_look(struct pldi_line l)
{
	return atomic_load_explicit(l.v, memory_order_seq_cst); /* [L2]; pairs with [P1] */
}

static inline void pldi_line_sleep(struct pldi_line l, uint32_t looked, int64_t deadline_ns)
{
	pldi_futex_wait(l.v, looked, deadline_ns); /* [L3] */
}

static inline void pldi_line_leave(struct pldi_line l)
{
	PLDI_DELAY();
	/* [L4] relaxed: as [W5] of pldi_bell.h */
	atomic_fetch_sub_explicit(l.sleepers, 1, memory_order_relaxed);
}

#endif
