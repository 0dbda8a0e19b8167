/*
 * pldi_bell.h - how a rank sleeps until one of its cells changes: the doorbell handshake.
 *
 * A cell is a bare 32-bit word that any rank may change and only its owner waits on.  The owner
 * sleeps on a doorbell, one a rank, beside a count of its sleepers; both on a line of their own.
 *
 *     owner, about to sleep              notifier
 *     [W1] sleepers += 1                 [N1] change the cell (read-modify-write)
 *     [W2] d = doorbell                  [N2] read sleepers; 0: done
 *     [W3] test the cell; true: leave    [N3] doorbell += 1
 *     [W4] sleep while doorbell == d     [N4] wake everyone on the doorbell
 *     [W5] sleepers -= 1
 *
 * No wake-up is lost.  W1, W3, N1 and N2 are seq_cst, so all ranks agree on their order.  If N1
 * comes before W3, the owner sees the new value and does not sleep.  Otherwise W1, W3, N1, N2 is
 * their order, N2 sees the sleeper, and N3 follows.  N3 then changes the doorbell after W2 read
 * it (had W2 seen N3, which is a release, N1 would be before W3), so W4 either finds another
 * value in the kernel and returns, or is asleep already and N4 wakes it.
 *
 * With N2 weaker, N1 and N2 may swap, both sides read the past, and the owner sleeps on a signal
 * already sent.  tests/stress/litmus_bell runs these functions and fails when N1 is a relaxed
 * store; tests/model/bell.pml checks the argument and a mutation.
 *
 * Several threads of the owner may sleep at once: each counts itself, all wake, each tests again.
 * An owner that dies between W1 and W5 leaves sleepers one too high: its notifiers pay for wakes
 * that find nobody, and nothing else breaks.
 */
#ifndef PLDI_BELL_H
#define PLDI_BELL_H

#include <stdatomic.h>
#include <stdint.h>

#include "pldi_delay.h"
#include "pldi_futex.h"

/* The two words, in the owner's slot. */
struct pldi_bell {
	_Atomic uint32_t *doorbell, *sleepers;
};

/* Before the loop over pldi_bell_look, test, pldi_bell_sleep. */
static inline void pldi_bell_announce(struct pldi_bell b)
{
	atomic_fetch_add_explicit(b.sleepers, 1, memory_order_seq_cst); /* [W1]; pairs with [N2] */
	PLDI_DELAY();
}

static inline uint32_t pldi_bell_look(struct pldi_bell b)
{
	/* [W2] acquire: pairs with [N3] */
	return atomic_load_explicit(b.doorbell, memory_order_acquire);
}

/* [W3] The cell, for the test between look and sleep; seq_cst: pairs with [N1]. */
static inline int32_t pldi_bell_cell(const _Atomic int32_t *cell)
{
	PLDI_DELAY();
	return atomic_load_explicit(cell, memory_order_seq_cst);
}

/* [W4].  -1 when the deadline has passed. */
static inline int pldi_bell_sleep(struct pldi_bell b, uint32_t looked, int64_t deadline_ns)
{
	return pldi_futex_wait(b.doorbell, looked, deadline_ns);
}

static inline void pldi_bell_leave(struct pldi_bell b)
{
	PLDI_DELAY();
	/* [W5] relaxed: a count that is too high costs a wake, never loses one */
	atomic_fetch_sub_explicit(b.sleepers, 1, memory_order_relaxed);
}

/* [N3] [N4], unconditionally: also how an abort reaches a sleeper. */
static inline void pldi_bell_ring(struct pldi_bell b)
{
	atomic_fetch_add_explicit(b.doorbell, 1, memory_order_release); /* [N3]; pairs with [W2] */
	PLDI_DELAY();
	pldi_futex_wake(b.doorbell); /* [N4] */
}

/* After a change of a cell by pldi_bell_add or pldi_bell_set. */
static inline void pldi_bell_tell(struct pldi_bell b)
{
	PLDI_DELAY();
	if (atomic_load_explicit(b.sleepers, memory_order_seq_cst)) /* [N2]; pairs with [W1] */
		pldi_bell_ring(b);
}

/* [N1] seq_cst: also the release that a wait's acquire pairs with. */
static inline void pldi_bell_add(_Atomic int32_t *cell, int32_t value)
{
	PLDI_DELAY();
	atomic_fetch_add_explicit(cell, value, memory_order_seq_cst);
}

static inline void pldi_bell_set(_Atomic int32_t *cell, int32_t value)
{
	PLDI_DELAY();
	/* an exchange, not a store: N1 must not pass N2 */
	atomic_exchange_explicit(cell, value, memory_order_seq_cst);
}

#endif
