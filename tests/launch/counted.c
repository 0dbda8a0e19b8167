/*
 * counted.c - calls whose bytes, cells and lines are known, for check-observe.
 *
 *	counted SCENARIO
 *
 * Windows 1, 2, 3 are data (64 FP32), cells (8 INT32) and numbers (8 INT64).
 */
#include "config.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pld.h>

#include "pldi_job.h"

struct job {
	pld_tensor data, cells, numbers;
	pl_tensor mine; /* 64 FP32 */
	int me, n, next;
};

/* Elements [to, to + elems) of a peer's data from the first of the own. */
static void put(struct job *j, int peer, int64_t to, int64_t elems, pld_atomic atomic)
{
	pld_put(j->data, peer, j->mine, .dst_offsets = PL_AT(to), .src_offsets = PL_AT(0),
		.shape = PL_SHAPE(elems), .atomic = atomic);
}

static void get(struct job *j, int peer, int64_t from, int64_t elems)
{
	pld_get(j->mine, peer, j->data, .dst_offsets = PL_AT(0), .src_offsets = PL_AT(from),
		.shape = PL_SHAPE(elems));
}

static void nothing(struct job *j)
{
	(void)j;
}

static void moves(struct job *j)
{
	pl_tile tile;

	put(j, j->next, 4, 10, PLD_ATOMIC_NONE);
	put(j, j->next, 20, 3, PLD_ATOMIC_ADD);
	get(j, j->next, 2, 2);
	tile = pld_remote_load(j->data, j->next, PL_AT(1), PL_SHAPE(5));
	pld_remote_store(tile, j->data, j->next, PL_AT(40));
	pld_remote_store(tile, j->data, j->next, PL_AT(48), PLD_ATOMIC_ADD);
	*(float *)pld_ptr(j->data, j->next) = 1; /* which nobody counts */
}

static void matrix(struct job *j)
{
	for (int p = 0; p < j->n; p++) {
		put(j, p, 0, j->me * j->n + p + 1, PLD_ATOMIC_NONE);
		get(j, p, 0, p + 1);
	}
}

static void cells(struct job *j)
{
	const pld_tensor c = j->cells;
	const struct pld_condition any[] = { { c, PL_AT(7), 1, PLD_WAIT_GE },
					     { c, PL_AT(4), 7, PLD_WAIT_GE } };

	pld_notify(c, j->next, PL_AT(1), 1, PLD_NOTIFY_ADD);
	pld_notify(c, j->next, PL_AT(2), 5, PLD_NOTIFY_SET);
	pld_notify(c, j->next, PL_AT(3), -2, PLD_NOTIFY_ADD);
	pld_put(j->data, j->next, j->mine, .signal = c, .signal_at = PL_AT(4), .signal_value = 7);
	pld_put(j->data, j->next, j->mine, .signal = c, .signal_at = PL_AT(5),
		.signal_op = PLD_NOTIFY_SET);
	pld_wait(c, PL_AT(1), 1, PLD_WAIT_GE);
	pld_wait(c, PL_AT(2), 5, PLD_WAIT_EQ);
	pld_wait(c, PL_AT(3), -2, PLD_WAIT_EQ);
	pld_wait_any(any, 2, PLD_FOREVER);
	pld_wait_for(c, PL_AT(5), 1, PLD_WAIT_GE, INT64_MAX);
	pld_test(c, PL_AT(5), 1, PLD_WAIT_GE);
}

static void atomics(struct job *j)
{
	pld_fetch_add(j->numbers, j->next, PL_AT(0), -3);
	pld_fetch_and(j->numbers, j->next, PL_AT(1), 15);
	pld_fetch_or(j->numbers, j->next, PL_AT(2), 16);
	pld_fetch_xor(j->numbers, j->next, PL_AT(3), 17);
	pld_swap(j->numbers, j->next, PL_AT(4), 18);
	pld_compare_swap(j->numbers, j->next, PL_AT(5), 1, 19);
	pld_fetch_add(j->cells, j->next, PL_AT(6), 1);
}

/* The odd and the even ranks, each backwards: a cell to the first of the own domain. */
static void domain(struct job *j)
{
	pld_ctx half = pld_domain_split(pld_world(), j->me % 2, -j->me);
	pld_tensor t = pld_new_window(PL_SHAPE(2), PL_INT32, .domain = half);
	pld_tensor second = pl_slice(t, PL_AT(1), PL_SHAPE(1));

	pld_notify(second, 0, PL_AT(0), 1, PLD_NOTIFY_ADD);
	pld_wait_for(second, PL_AT(0), 1, PLD_WAIT_GE, 0);
}

static void meetings(struct job *j)
{
	pld_tensor few = pl_slice(j->data, PL_AT(0), PL_SHAPE(2));

	for (int i = 0; i < 3; i++)
		pld_barrier(pld_world());
	pld_allreduce(few);
}

static void asleep(struct job *j)
{
	const struct timespec nap = { 0, 50000000 };

	if (j->me == 0) {
		pld_wait(j->cells, PL_AT(0), 1, PLD_WAIT_GE);
	} else if (j->me == 1) {
		nanosleep(&nap, NULL);
		pld_notify(j->cells, 0, PL_AT(0), 1, PLD_NOTIFY_ADD);
	}
}

static void crash(struct job *j)
{
	put(j, j->next, 0, 8, PLD_ATOMIC_NONE);
	pld_notify(j->cells, j->next, PL_AT(0), 1, PLD_NOTIFY_ADD);
	if (j->me != 1)
		pld_wait(j->cells, PL_AT(1), 1, PLD_WAIT_GE);
	signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would exit */
	raise(SIGSEGV);
}

static void many(struct job *j)
{
	for (uint64_t i = 0; i < PLDI_ACTS_MOST + 5; i++)
		pld_notify(j->cells, 0, PL_AT(0), 1, PLD_NOTIFY_ADD);
}

/* ---- over what the launcher reads ------------------------------------------------------------ */

static struct pldi_stats_shm *stats_of(int rank)
{
	return pldi_stats_of(pldi_self()->seg.base, rank);
}

/* Rank 0, when all have moved something. */
static bool is_first(struct job *j)
{
	put(j, j->next, 0, 8, PLD_ATOMIC_NONE);
	pld_barrier(pld_world());
	return j->me == 0;
}

static void noise(struct job *j)
{
	if (is_first(j))
		memset(stats_of(0), 0xff, (size_t)j->n * pldi_stats_stride(j->n));
}

static void negative(struct job *j)
{
	if (is_first(j))
		atomic_store(&stats_of(j->n - 1)->moved[0][1], -1);
}

static void wild_switch(struct job *j)
{
	if (is_first(j))
		atomic_store(&stats_of(j->n - 1)->on, 2);
}

static void huge(struct job *j)
{
	if (is_first(j))
		for (int i = 0; i < 2; i++)
			atomic_store(&stats_of(j->n - 1)->moved[0][i], INT64_MAX - 10);
}

static void more_lines(struct job *j)
{
	if (is_first(j))
		atomic_store(&stats_of(j->n - 1)->acts, UINT64_MAX);
}

static void wild_lines(struct job *j)
{
	const struct pldi_head_shm *h = pldi_self()->seg.base;

	if (is_first(j) && h->acts_stride)
		memset((char *)pldi_self()->seg.base + h->acts_off, 0xff, 64);
}

/* The launcher has its own copy of where things are. */
static void wild_head(struct job *j)
{
	struct pldi_head_shm *h = pldi_self()->seg.base;

	if (is_first(j)) {
		h->stats_off = h->acts_off = UINT64_MAX - 100;
		h->stats_stride = h->acts_stride = UINT64_MAX / 2;
	}
}

/* Most of what the launcher would read is gone. */
static void cut(struct job *j)
{
	put(j, 0, 0, 8, PLD_ATOMIC_NONE);
	_exit(ftruncate(pldi_self()->seg.fd, 4096) ? 98 : 7);
}

/* ---- main ------------------------------------------------------------------------------------ */

static void print_stats(void)
{
	struct pld_stats s;

	if (pld_get_stats(&s) == PL_OK)
		printf("%d %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
		       "\n",
		       pld_rank(pld_world()), s.remote_bytes_read, s.remote_bytes_written,
		       s.notifies, s.waits, s.wait_ns, s.collectives);
}

static const struct {
	const char *name;
	void (*run)(struct job *j);
} scenarios[] = {
	{ "nothing", nothing },
	{ "moves", moves },
	{ "matrix", matrix },
	{ "cells", cells },
	{ "atomics", atomics },
	{ "domain", domain },
	{ "meetings", meetings },
	{ "asleep", asleep },
	{ "crash", crash },
	{ "many", many },
	{ "noise", noise },
	{ "negative", negative },
	{ "huge", huge },
	{ "wild-switch", wild_switch },
	{ "more-lines", more_lines },
	{ "wild-lines", wild_lines },
	{ "wild-head", wild_head },
	{ "cut", cut },
};

int main(int argc, char **argv)
{
	static float values[64];
	struct job j = { .mine = pl_wrap(values, PL_SHAPE(64), PL_FP32) };

	pld_init(NULL);
	j.me = pld_rank(pld_world());
	j.n = pld_nranks(pld_world());
	j.next = (j.me + 1) % j.n;
	j.data = pld_new_window(PL_SHAPE(64), PL_FP32);
	j.cells = pld_new_window(PL_SHAPE(8), PL_INT32);
	j.numbers = pld_new_window(PL_SHAPE(8), PL_INT64);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (argc == 2 && strcmp(argv[1], scenarios[i].name) == 0) {
			scenarios[i].run(&j);
			if (getenv("PLD_TEST_PRINT"))
				print_stats();
			pld_finalize();
			return 0;
		}
	}
	fprintf(stderr, "counted: which scenario?\n");
	return 98;
}
