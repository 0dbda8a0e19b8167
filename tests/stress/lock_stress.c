/*
 * lock_stress.c - the lock between processes: nobody else inside, and an abort frees its waiters.
 *
 *	count	workers add to plain counters under the lock; the totals must be exact
 *	wake	a worker gives the lock back while another sleeps: that one has it at once, and not
 *		only when it looks at the abort word the next time
 *	abort	a worker that holds the lock ends without giving it back; the others wait until the
 *		abort word changes, and must then all be told so
 */
#include "config.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "pldi_clock.h"
#include "pldi_lock.h"
#include "stress.h"

#define WORKERS 4
#define HAND_OVERS 15
#define SLOW_NS 10000000 /* half of the time between two looks */

struct shared {
	_Alignas(128) _Atomic uint32_t lock;
	_Alignas(128) _Atomic uint32_t aborted;
	_Atomic uint32_t waiting;
	_Alignas(128) int64_t a; /* two counters that must agree, on two lines */
	_Alignas(128) int64_t b;
	_Alignas(128) int64_t until_ns;
	uint64_t seed;
	int64_t added[WORKERS];
	_Atomic int32_t turn;
	int64_t given_ns;
	int64_t took_ns[HAND_OVERS];
};

static int add(int me, void *arg)
{
	struct shared *s = arg;
	uint64_t random = s->seed + (uint64_t)me;
	int64_t n = 0;
	int bad = 0;

	while (n % 64 || pldi_now_ns() < s->until_ns) {
		if (pldi_lock(&s->lock, &s->aborted))
			return 1;
		bad += s->a != s->b;
		s->a++;
		/* now and then somebody waits long enough to sleep */
		if (stress_random(&random) % 256 == 0)
			sched_yield();
		s->b++;
		pldi_unlock(&s->lock);
		n++;
	}
	s->added[me] = n;
	if (bad)
		printf("worker %d: %d times two inside\n", me, bad);
	return bad != 0;
}

static void wait_turn(struct shared *s, int32_t turn)
{
	/* acquire: pairs with the release in hand_over, for the times */
	while (atomic_load_explicit(&s->turn, memory_order_acquire) != turn)
		sched_yield();
}

/* Turn 2 i: worker 0 may take the lock.  2 i + 1: it has it, worker 1 wants it. */
static int hand_over(int me, void *arg)
{
	struct shared *s = arg;

	for (int i = 0; i < HAND_OVERS; i++) {
		wait_turn(s, 2 * i + me);
		if (me == 0) {
			if (pldi_lock(&s->lock, &s->aborted))
				return 1;
			atomic_store_explicit(&s->turn, 2 * i + 1, memory_order_release);
			/* relaxed: only to see that somebody is about to sleep */
			while (atomic_load_explicit(&s->lock, memory_order_relaxed) != 2)
				sched_yield();
			s->given_ns = pldi_now_ns();
			while (pldi_now_ns() < s->given_ns + 200000)
				sched_yield();
			s->given_ns = pldi_now_ns();
			pldi_unlock(&s->lock);
		} else {
			if (pldi_lock(&s->lock, &s->aborted))
				return 1;
			s->took_ns[i] = pldi_now_ns() - s->given_ns;
			pldi_unlock(&s->lock);
			atomic_store_explicit(&s->turn, 2 * i + 2, memory_order_release);
		}
	}
	return 0;
}

/* Nearly all of the hand-overs: a machine that is busy with other things may delay many. */
static int mostly_slow(const int64_t *took_ns)
{
	int slow = 0;

	for (int i = 0; i < HAND_OVERS; i++)
		slow += took_ns[i] > SLOW_NS;
	printf("wake: %d of %d hand-overs slow\n", slow, HAND_OVERS);
	return slow >= HAND_OVERS - 1;
}

static int wait_for_dead(int me, void *arg)
{
	struct shared *s = arg;

	if (me == 0) {
		if (pldi_lock(&s->lock, &s->aborted))
			return 1;
		/* relaxed, all: counts and flags without data */
		atomic_fetch_add_explicit(&s->waiting, 1, memory_order_relaxed);
		while (atomic_load_explicit(&s->waiting, memory_order_relaxed) < WORKERS)
			sched_yield();
		/* all others are at the lock, or on their way into it */
		atomic_store_explicit(&s->aborted, 1, memory_order_relaxed);
		return 0;
	}
	while (atomic_load_explicit(&s->waiting, memory_order_relaxed) == 0)
		sched_yield();
	atomic_fetch_add_explicit(&s->waiting, 1, memory_order_relaxed);
	return pldi_lock(&s->lock, &s->aborted) == 0;
}

int main(void)
{
	struct stress s = stress_begin("lock_stress", 1);
	struct shared *shared = stress_shared(sizeof(*shared));
	int64_t begin_ns, total = 0;
	int failed;

	shared->seed = s.seed;
	shared->until_ns = pldi_now_ns() + s.run_ns;
	failed = stress_run(&s, WORKERS, add, shared);
	for (int w = 0; w < WORKERS; w++)
		total += shared->added[w];
	printf("count: %" PRId64 " and %" PRId64 ", added %" PRId64 "\n", shared->a, shared->b,
	       total);
	failed += shared->a != total || shared->b != total;

	memset(shared, 0, sizeof(*shared));
	failed += stress_run(&s, 2, hand_over, shared);
	failed += mostly_slow(shared->took_ns);

	begin_ns = pldi_now_ns();
	for (int i = 0; i < 5; i++) {
		memset(shared, 0, sizeof(*shared));
		failed += stress_run(&s, WORKERS, wait_for_dead, shared);
	}
	printf("abort: 5 times, %" PRId64 " ms each\n", (pldi_now_ns() - begin_ns) / 5000000);
	return failed != 0;
}
