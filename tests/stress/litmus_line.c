/*
 * litmus_line.c - can waiter and poster of a line miss each other?
 *
 * As litmus_bell.c, with the functions of pldi_line.h.  Forbidden: the waiter, announced, sees the
 * old value and would sleep on it, while the poster sees no sleeper.  Then the same on a copy of
 * the header in which [P1] is a relaxed store.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "pldi_line.h"
#include "stress.h"
#include "tests/stress/weak_line.h"

struct round {
	_Alignas(128) _Atomic uint32_t v; /* together, as in a flag */
	_Atomic uint32_t sleepers;
	_Alignas(128) uint32_t seen; /* what the waiter found */
	_Alignas(128) bool woke;     /* what the poster did */
};

struct shared {
	bool weak;
	struct round round[STRESS_BATCH];
};

static _Thread_local bool woke;

/* In the place of lib/sync/futex.c. */
void pldi_futex_wake(_Atomic uint32_t *word)
{
	(void)word;
	woke = true;
}

int pldi_futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t deadline_ns)
{
	(void)word, (void)seen, (void)deadline_ns;
	return 0;
}

static void aim(int worker, int round, void *arg)
{
	struct shared *s = arg;

	(void)worker;
	/* relaxed: only to have the line near */
	(void)atomic_load_explicit(&s->round[round].sleepers, memory_order_relaxed);
}

static void play(int worker, int round, void *arg)
{
	struct shared *s = arg;
	struct round *r = &s->round[round];
	struct pldi_line l = { &r->v, &r->sleepers };

	woke = false;
	if (worker == 0) {
		pldi_line_announce(l);
		r->seen = pldi_line_look(l);
		return;
	}
	if (s->weak)
		weak_line_post((struct weak_line){ &r->v, &r->sleepers }, 1);
	else
		pldi_line_post(l, 1);
	r->woke = woke;
}

static uint64_t judge(void *arg)
{
	struct shared *s = arg;
	uint64_t forbidden = 0;

	for (int i = 0; i < STRESS_BATCH; i++) {
		struct round *r = &s->round[i];

		forbidden += !pldi_line_reached(r->seen, 1) && !r->woke;
		/* relaxed: ordered by the meetings */
		atomic_store_explicit(&r->v, 0, memory_order_relaxed);
		atomic_store_explicit(&r->sleepers, 0, memory_order_relaxed);
	}
	return forbidden;
}

int main(void)
{
	struct stress s = stress_begin("litmus_line", 1);
	struct shared *shared = stress_shared(sizeof(*shared));
	struct stress_duel duel = { aim, play, judge, shared };
	struct stress_result strong, weak;

	if (s.cpus < 2) {
		printf("skip: one CPU, two sides never run at the same time\n");
		return 77;
	}
	strong = stress_duel(&s, &duel, s.run_ns / 2);
	shared->weak = true;
	weak = stress_duel(&s, &duel, s.run_ns / 2);
	printf("post: %" PRIu64 " of %" PRIu64 " rounds forbidden; weak post: %" PRIu64
	       " of %" PRIu64 "\n",
	       strong.forbidden, strong.rounds, weak.forbidden, weak.rounds);
	if (weak.forbidden == 0)
		printf("note: this machine does not show a weaker post\n");
	return strong.forbidden != 0;
}
