/*
 * b0010_finalize_under_a_wait.c - pld_finalize took memory away from a thread that waited in it.
 *
 * Cause: nothing looked for other threads of the rank before the segment was unmapped.
 * Shape: a thread sleeps in a wait of each kind while its rank calls pld_finalize; then it is told
 * and joined, and pld_finalize is called again.
 * Fails: SIGSEGV in the thread, or it sleeps for ever.
 */
#include "config.h"

#include <sched.h>

#include "../errors/errors.h"
#include "pldi_job.h"

static pl_status wait_plain(pld_tensor s)
{
	return pld_wait(s, PL_AT(0), 1, PLD_WAIT_GE);
}

static pl_status wait_for(pld_tensor s)
{
	return pld_wait_for(s, PL_AT(0), 1, PLD_WAIT_GE, PLD_FOREVER);
}

static pl_status wait_any(pld_tensor s)
{
	const struct pld_condition two[] = { { s, PL_AT(0), 1, PLD_WAIT_GE },
					     { s, PL_AT(1), 1, PLD_WAIT_GE } };

	return pld_wait_any(two, 2, PLD_FOREVER) == 0 ? PL_OK : PL_EINVAL;
}

static const struct {
	const char *name;
	pl_status (*fn)(pld_tensor s);
} waits[] = {
	{ "pld_wait", wait_plain },
	{ "pld_wait_for", wait_for },
	{ "pld_wait_any", wait_any },
};

/* One thread's wait, and what came of it. */
struct waiter {
	pl_status (*fn)(pld_tensor s);
	pld_tensor s;
	pl_status got;
};

static void *sleeper(void *arg)
{
	struct waiter *w = arg;

	w->got = w->fn(w->s);
	return NULL;
}

static void run_row(int i, int me)
{
	struct waiter w = { waits[i].fn, pld_new_window(PL_SHAPE(2), PL_INT32), PL_EINVAL };
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleeper, &w))
		abort();
	/* relaxed: only when it is there matters */
	while (!atomic_load_explicit(&pldi_self()->slot->threads_asleep, memory_order_relaxed))
		sched_yield();
	FAILS(pld_finalize(), PL_ELEVEL, "pld_finalize",
	      "another thread of this rank is waiting in pld");
	WORKS(pld_notify(w.s, me, PL_AT(0), 1, PLD_NOTIFY_ADD));
	pthread_join(thread, NULL);
	if (w.got != PL_OK)
		errors_report(waits[i].name, "PL_OK", w.got);
	WORKS(pld_free_window(w.s));
}

static void rows(int me, int n)
{
	(void)n;
	for (int i = 0; i < (int)(sizeof(waits) / sizeof(waits[0])); i++)
		run_row(i, me);
}

int main(void)
{
	return errors_main(rows);
}
