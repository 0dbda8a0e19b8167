/* futex.c - futex system calls: shared between processes, absolute deadlines. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pldi_clock.h"
#include "pldi_delay.h"
#include "pldi_futex.h"

int pldi_futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t deadline_ns)
{
	struct timespec t = { deadline_ns / 1000000000, deadline_ns % 1000000000 };
	struct timespec *until = deadline_ns == PLDI_NO_DEADLINE ? NULL : &t;

	PLDI_DELAY();
	/* WAIT_BITSET, for its absolute time on CLOCK_MONOTONIC */
	if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET, seen, until, NULL,
		    FUTEX_BITSET_MATCH_ANY) == 0)
		return 0;
	return errno == ETIMEDOUT ? -1 : 0;
}

void pldi_futex_wake(_Atomic uint32_t *word)
{
	PLDI_DELAY();
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
