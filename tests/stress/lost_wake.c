/*
 * lost_wake.c - hand-overs between workers that sleep at once: a lost wake-up hangs.
 *
 *	bell	a token goes round; each worker waits for it on a cell of its own, one or two
 *		workers on a bell, and passes it on by an add or a set
 *	line	each worker posts its line and waits for all the others', again and again
 *
 * Patience is 0, so every wait goes to the kernel and there is no limit of time that would hide a
 * lost wake-up.  Short random delays move the notify over the other side's way to sleep.  Orders
 * that are too weak do not show here, system calls hide them: see litmus_bell and litmus_line.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pldi_bell.h"
#include "pldi_clock.h"
#include "pldi_line.h"
#include "pldi_patience.h"
#include "stress.h"

#define MOST 4 /* workers */

static const struct {
	const char *name;
	int workers, a_bell; /* a_bell: workers that sleep on one bell; 0: lines */
} rows[] = {
	{ "bell, 2 ranks", 2, 1 },
	{ "bell, 2 ranks of 2 threads", 4, 2 },
	{ "line, 2 ranks", 2, 0 },
	{ "line, 4 ranks", 4, 0 },
};
#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

struct shared {
	int workers, a_bell;
	uint64_t seed;
	int64_t until_ns;
	_Atomic int32_t last; /* round after which all leave */
	int32_t rounds;
	struct {
		_Alignas(128) _Atomic uint32_t doorbell;
		_Atomic uint32_t sleepers;
		_Alignas(128) _Atomic int32_t cell;
		_Alignas(128) _Atomic uint32_t v;
		_Atomic uint32_t v_sleepers;
	} of[MOST];
};

static const struct pldi_patience none = { 0, 0 };

static struct pldi_bell bell_of(struct shared *s, int worker)
{
	int owner = worker / s->a_bell;

	return (struct pldi_bell){ &s->of[owner].doorbell, &s->of[owner].sleepers };
}

static struct pldi_line line_of(struct shared *s, int worker)
{
	return (struct pldi_line){ &s->of[worker].v, &s->of[worker].v_sleepers };
}

/* Mostly none, at most some 4 us: what a system call takes. */
static void delay(uint64_t *random)
{
	unsigned n = stress_random(random) % 256;

	for (volatile unsigned i = n < 128 ? 0 : n * 8; i > 0; i--)
		continue;
}

static void wait_cell(struct shared *s, int worker, int32_t want, uint64_t *random)
{
	struct pldi_bell b = bell_of(s, worker);
	struct pldi_backoff backoff = { 0, 0, 0, 0 };
	uint32_t looked;

	while (pldi_bell_cell(&s->of[worker].cell) < want) {
		if (!pldi_backoff(&backoff, &none))
			continue;
		pldi_bell_announce(b);
		for (;;) {
			looked = pldi_bell_look(b);
			if (pldi_bell_cell(&s->of[worker].cell) >= want)
				break;
			delay(random);
			pldi_bell_sleep(b, looked, PLDI_NO_DEADLINE);
		}
		pldi_bell_leave(b);
	}
}

static void wait_line(struct shared *s, int worker, uint32_t want, uint64_t *random)
{
	struct pldi_line l = line_of(s, worker);
	uint32_t seen;

	if (pldi_line_test(l, want))
		return;
	pldi_line_announce(l);
	while (!pldi_line_reached(seen = pldi_line_look(l), want)) {
		delay(random);
		pldi_line_sleep(l, seen, PLDI_NO_DEADLINE);
	}
	pldi_line_leave(l);
}

/* Worker 0 ends the run with the round that it has just begun; relaxed: a later post or add orders
 * it for those who have come to that round. */
static void maybe_last(struct shared *s, int32_t round)
{
	if (pldi_now_ns() > s->until_ns)
		atomic_store_explicit(&s->last, round, memory_order_relaxed);
}

static int32_t last(const struct shared *s)
{
	return atomic_load_explicit(&s->last, memory_order_relaxed);
}

static int32_t pass_token(struct shared *s, int me, uint64_t *random)
{
	const int next = (me + 1) % s->workers;
	int32_t round = 0;

	do {
		round++;
		if (me == 0)
			maybe_last(s, round);
		else
			wait_cell(s, me, round, random);
		delay(random);
		if (stress_random(random) % 2)
			pldi_bell_add(&s->of[next].cell, 1);
		else
			pldi_bell_set(&s->of[next].cell, round);
		pldi_bell_tell(bell_of(s, next));
		if (me == 0)
			wait_cell(s, me, round, random);
	} while (round < last(s));
	return round;
}

static int32_t post_and_wait(struct shared *s, int me, uint64_t *random)
{
	int32_t round = 0;

	do {
		round++;
		if (me == 0)
			maybe_last(s, round);
		delay(random);
		pldi_line_post(line_of(s, me), (uint32_t)round);
		for (int i = 1; i < s->workers; i++)
			wait_line(s, (me + i) % s->workers, (uint32_t)round, random);
	} while (round < last(s));
	return round;
}

static int work(int me, void *arg)
{
	struct shared *s = arg;
	uint64_t random = s->seed + (uint64_t)me;
	int32_t rounds = s->a_bell ? pass_token(s, me, &random) : post_and_wait(s, me, &random);

	if (me == 0)
		s->rounds = rounds;
	return 0;
}

int main(void)
{
	struct stress s = stress_begin("lost_wake", 2);
	struct shared *shared = stress_shared(sizeof(*shared));
	int failed = 0;

	for (int i = 0; i < ROWS; i++) {
		memset(shared, 0, sizeof(*shared));
		shared->workers = rows[i].workers;
		shared->a_bell = rows[i].a_bell;
		shared->seed = s.seed;
		shared->until_ns = pldi_now_ns() + s.run_ns / ROWS;
		/* relaxed: no worker runs yet */
		atomic_store_explicit(&shared->last, INT32_MAX, memory_order_relaxed);
		failed += stress_run(&s, rows[i].workers, work, shared);
		printf("%s: %" PRId32 " rounds\n", rows[i].name, shared->rounds);
		for (int w = 0; w < MOST; w++) {
			/* relaxed: all workers have ended */
			if (atomic_load_explicit(&shared->of[w].sleepers, memory_order_relaxed) ||
			    atomic_load_explicit(&shared->of[w].v_sleepers, memory_order_relaxed)) {
				printf("a sleeper of %d is still counted\n", w);
				failed++;
			}
		}
	}
	return failed != 0;
}
