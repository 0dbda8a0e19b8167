/*
 * litmus_bell.c - can both sides of the doorbell handshake miss each other?
 *
 * The waiter announces itself, looks and reads the cell; the notifier changes the cell and tells.
 * Both at the same time, by the very functions of pldi_bell.h, on fresh words each round; only the
 * futex calls are left out.  Forbidden: the waiter sees the old cell and would sleep, while the
 * notifier sees no sleeper, or rings a bell that the waiter looked at only afterwards.
 *
 * The same rounds then run on a copy of the header in which [N1] is relaxed, of pldi_bell_set a
 * relaxed store.  A machine on which that is never caught gives a note: this test proves little
 * there.  (x86 makes any add a full barrier: for the add it always does.)
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "pldi_bell.h"
#include "stress.h"
#include "tests/stress/weak_bell.h"

enum notify { SET, ADD, WEAK_SET, WEAK_ADD };
static const char *const notify_names[] = { "set", "add", "weak set", "weak add" };

struct round {
	_Alignas(128) _Atomic int32_t cell;
	_Alignas(128) _Atomic uint32_t doorbell; /* together, as in a slot */
	_Atomic uint32_t sleepers;
	_Alignas(128) int32_t seen; /* what the waiter found */
	uint32_t looked;
	_Alignas(128) bool rang; /* what the notifier did */
};

struct shared {
	enum notify notify;
	struct round round[STRESS_BATCH];
};

static _Thread_local bool rang;

/* In the place of lib/sync/futex.c. */
void pldi_futex_wake(_Atomic uint32_t *word)
{
	(void)word;
	rang = true;
}

int pldi_futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t deadline_ns)
{
	(void)word, (void)seen, (void)deadline_ns;
	return 0;
}

static void be_waiter(struct round *r)
{
	struct pldi_bell b = { &r->doorbell, &r->sleepers };

	pldi_bell_announce(b);
	r->looked = pldi_bell_look(b);
	r->seen = pldi_bell_cell(&r->cell);
}

static void be_notifier(struct round *r, enum notify how)
{
	struct pldi_bell b = { &r->doorbell, &r->sleepers };
	struct weak_bell w = { &r->doorbell, &r->sleepers };

	rang = false;
	switch (how) {
	case SET:
		pldi_bell_set(&r->cell, 1);
		pldi_bell_tell(b);
		break;
	case ADD:
		pldi_bell_add(&r->cell, 1);
		pldi_bell_tell(b);
		break;
	case WEAK_SET:
		weak_bell_set(&r->cell, 1);
		weak_bell_tell(w);
		break;
	case WEAK_ADD:
		weak_bell_add(&r->cell, 1);
		weak_bell_tell(w);
		break;
	}
	r->rang = rang;
}

static void aim(int worker, int round, void *arg)
{
	struct shared *s = arg;

	(void)worker;
	/* relaxed: only to have the line near, as a notifier that was here before has it */
	(void)atomic_load_explicit(&s->round[round].sleepers, memory_order_relaxed);
}

static void play(int worker, int round, void *arg)
{
	struct shared *s = arg;

	if (worker == 0)
		be_waiter(&s->round[round]);
	else
		be_notifier(&s->round[round], s->notify);
}

static uint64_t judge(void *arg)
{
	struct shared *s = arg;
	uint64_t forbidden = 0;

	for (int i = 0; i < STRESS_BATCH; i++) {
		struct round *r = &s->round[i];
		/* relaxed, all: ordered by the meetings */
		uint32_t now = atomic_load_explicit(&r->doorbell, memory_order_relaxed);

		forbidden += r->seen == 0 && (!r->rang || r->looked == now);
		atomic_store_explicit(&r->cell, 0, memory_order_relaxed);
		atomic_store_explicit(&r->doorbell, 0, memory_order_relaxed);
		atomic_store_explicit(&r->sleepers, 0, memory_order_relaxed);
	}
	return forbidden;
}

int main(void)
{
	struct stress s = stress_begin("litmus_bell", 1.5);
	struct shared *shared = stress_shared(sizeof(*shared));
	struct stress_duel duel = { aim, play, judge, shared };
	int failed = 0;

	if (s.cpus < 2) {
		printf("skip: one CPU, two sides never run at the same time\n");
		return 77;
	}
	for (enum notify how = SET; how <= WEAK_ADD; how++) {
		struct stress_result r;

		shared->notify = how;
		r = stress_duel(&s, &duel, s.run_ns / 4);
		printf("%s: %" PRIu64 " of %" PRIu64 " rounds forbidden\n", notify_names[how],
		       r.forbidden, r.rounds);
		if (how <= ADD)
			failed |= r.forbidden != 0;
		else if (r.forbidden == 0)
			printf("note: this machine does not show a weaker %s\n",
			       notify_names[how - WEAK_SET]);
	}
	return failed;
}
