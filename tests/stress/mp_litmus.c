/*
 * mp_litmus.c - is data there when its signal is?
 *
 * The writer fills lines with the round's number, by plain or by non-temporal stores, and signals
 * by the functions of pldi_bell.h or pldi_line.h; the reader, who waits for the signal without
 * sleeping, must find all of it.  In a release both kinds of store count: on x86 that holds because
 * every signal is a locked instruction.
 *
 * Then the same on copies of the headers whose signals are relaxed stores: non-temporal data must
 * be seen to come late, else a note says that this machine does not show it.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "pldi_bell.h"
#include "pldi_line.h"
#include "stress.h"
#include "tests/stress/weak_bell.h"
#include "tests/stress/weak_line.h"

#define WORDS 48 /* three lines; the third is not filled to its end */

enum signal { BELL_ADD, BELL_SET, LINE_POST, WEAK_SET, WEAK_POST, SIGNALS };
static const char *const names[] = { "bell_add", "bell_set", "line_post", "weak bell_set",
				     "weak line_post" };

struct round {
	_Alignas(128) int32_t data[WORDS];
	_Alignas(128) _Atomic int32_t cell;
	_Alignas(128) _Atomic uint32_t v;
	_Alignas(128) _Atomic uint32_t doorbell;
	_Atomic uint32_t sleepers; /* nobody sleeps */
	_Alignas(128) bool late;
};

struct shared {
	enum signal signal;
	bool stream;
	int32_t base; /* of the batch: fresh data without clearing it */
	struct round round[STRESS_BATCH];
};

/* In the place of lib/sync/futex.c: nobody sleeps. */
void pldi_futex_wake(_Atomic uint32_t *word)
{
	(void)word;
}

int pldi_futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t deadline_ns)
{
	(void)word, (void)seen, (void)deadline_ns;
	return 0;
}

static void write_data(int32_t *data, int32_t x, bool stream)
{
	/* from the end: a signal that overtakes anything overtakes the first word */
	for (int i = WORDS - 2; i >= 0; i--) {
#if defined(__x86_64__)
		if (stream)
			_mm_stream_si32(&data[i], x);
		else
			data[i] = x;
#else
		(void)stream;
		data[i] = x;
#endif
	}
}

static void be_writer(struct round *r, const struct shared *s, int32_t x)
{
	struct pldi_bell b = { &r->doorbell, &r->sleepers };

	write_data(r->data, x, s->stream);
	switch (s->signal) {
	case BELL_ADD:
		pldi_bell_add(&r->cell, 1);
		pldi_bell_tell(b);
		break;
	case BELL_SET:
		pldi_bell_set(&r->cell, 1);
		pldi_bell_tell(b);
		break;
	case LINE_POST:
		pldi_line_post((struct pldi_line){ &r->v, &r->sleepers }, 1);
		break;
	case WEAK_SET:
		weak_bell_set(&r->cell, 1);
		break;
	default:
		weak_line_post((struct weak_line){ &r->v, &r->sleepers }, 1);
		break;
	}
}

static void be_reader(struct round *r, const struct shared *s, int32_t x)
{
	const bool line = s->signal == LINE_POST || s->signal == WEAK_POST;
	int bad = 0;

	if (line) {
		while (!pldi_line_test((struct pldi_line){ &r->v, &r->sleepers }, 1))
			continue;
	} else {
		while (pldi_bell_cell(&r->cell) == 0)
			continue;
	}
	for (int i = 0; i < WORDS - 1; i++)
		bad += r->data[i] != x;
	r->late = bad != 0;
}

/* The data's lines come to the reader, so that the writer's stores take a while. */
static void aim(int worker, int round, void *arg)
{
	const struct shared *s = arg;

	if (worker == 0) {
		for (int i = 0; i < WORDS; i += 16)
			(void)*(const volatile int32_t *)&s->round[round].data[i];
	}
}

static void play(int worker, int round, void *arg)
{
	struct shared *s = arg;

	if (worker == 0)
		be_reader(&s->round[round], s, s->base + 1);
	else
		be_writer(&s->round[round], s, s->base + 1);
}

static uint64_t judge(void *arg)
{
	struct shared *s = arg;
	uint64_t late = 0;

	for (int i = 0; i < STRESS_BATCH; i++) {
		late += s->round[i].late;
		/* relaxed, all: ordered by the meetings */
		atomic_store_explicit(&s->round[i].cell, 0, memory_order_relaxed);
		atomic_store_explicit(&s->round[i].v, 0, memory_order_relaxed);
	}
	s->base++;
	return late;
}

int main(void)
{
	struct stress s = stress_begin("mp_litmus", 2);
	struct shared *shared = stress_shared(sizeof(*shared));
	struct stress_duel duel = { aim, play, judge, shared };
	int failed = 0;

	if (s.cpus < 2) {
		printf("skip: one CPU, two sides never run at the same time\n");
		return 77;
	}
	for (int i = 0; i < 2 * SIGNALS; i++) {
		struct stress_result r;

		shared->signal = i / 2;
		shared->stream = i % 2;
		if (s.threads && shared->signal >= WEAK_SET)
			continue; /* its lost order is a race, which ThreadSanitizer reports */
		r = stress_duel(&s, &duel, s.run_ns / (2 * SIGNALS));
		printf("%s data, %s: late in %" PRIu64 " of %" PRIu64 " rounds\n",
		       shared->stream ? "non-temporal" : "plain", names[shared->signal],
		       r.forbidden, r.rounds);
		if (shared->signal < WEAK_SET)
			failed |= r.forbidden != 0;
		else if (shared->stream && r.forbidden == 0)
			printf("note: this machine does not show it\n");
	}
	return failed;
}
