/* lock.c - a futex lock whose waiters look at an abort word. */
#include "config.h"

#include "pldi_clock.h"
#include "pldi_delay.h"
#include "pldi_futex.h"
#include "pldi_lock.h"

#define LOOK_NS 20000000 /* between two looks at the abort word; holders need microseconds */

int pldi_lock(_Atomic uint32_t *word, const _Atomic uint32_t *aborted)
{
	uint32_t seen = 0;

	/* acquire, here and below: pairs with the release in pldi_unlock */
	if (atomic_compare_exchange_strong_explicit(word, &seen, 1, memory_order_acquire,
						    memory_order_relaxed))
		return 0;
	PLDI_DELAY();
	while (atomic_exchange_explicit(word, 2, memory_order_acquire) != 0) {
		/* relaxed: a flag that carries no data */
		if (atomic_load_explicit(aborted, memory_order_relaxed))
			return -1;
		PLDI_DELAY();
		pldi_futex_wait(word, 2, pldi_now_ns() + LOOK_NS);
	}
	return 0;
}

void pldi_unlock(_Atomic uint32_t *word)
{
	PLDI_DELAY();
	/* release: pairs with the acquires in pldi_lock */
	if (atomic_exchange_explicit(word, 0, memory_order_release) == 2)
		pldi_futex_wake(word);
}
