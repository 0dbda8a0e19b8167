/*
 * stats.c - nanoseconds of calls that could be counted.
 *
 *	pldrun -n P bench/stats [turns [name]]
 *
 * Prints the median and the minimum of the turns on rank 0.  bench/stats-table runs it without
 * counters, with --stats, with --schedule, and against a library that cannot count.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>

#include <pld.h>

#include "median.h"

#define CALLS 200 /* a turn: few, for each is a line of a schedule */
#define MOST 1000 /* turns */

enum kind { PUT, NOTIFY, WAIT, ALLREDUCE, KINDS };
static const char *const names[] = { "put 8 B", "notify", "wait, satisfied", "allreduce 8 B" };

struct rank {
	pld_tensor data, cells, sums;
	pl_tensor mine;
	int me, peer;
};

static void call(const struct rank *r, enum kind kind)
{
	switch (kind) {
	case PUT:
		pld_put(r->data, r->peer, r->mine);
		break;
	case NOTIFY:
		pld_notify(r->cells, r->peer, PL_AT(0), 1, PLD_NOTIFY_ADD);
		break;
	case WAIT:
		pld_wait(r->cells, PL_AT(1), 0, PLD_WAIT_GE);
		break;
	default:
		pld_allreduce(r->sums);
		break;
	}
}

/* All ranks call together; of all but a collective only rank 0 is timed alone. */
static double turn(const struct rank *r, enum kind kind)
{
	double begin_s;

	pld_barrier(pld_world());
	begin_s = now_s();
	for (int i = 0; i < CALLS && (r->me == 0 || kind == ALLREDUCE); i++)
		call(r, kind);
	return (now_s() - begin_s) * 1e9 / CALLS;
}

/* A CPU for each, so that both do not wait for one. */
static void pin(int me)
{
	cpu_set_t all, one;
	int left = me;

	if (sched_getaffinity(0, sizeof(all), &all) || CPU_COUNT(&all) <= me)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &all) && left-- == 0) {
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			sched_setaffinity(0, sizeof(one), &one);
		}
	}
}

int main(int argc, char **argv)
{
	static double ns[KINDS][MOST];
	static int64_t value[1];
	int turns = argc > 1 ? atoi(argv[1]) : 501;
	struct rank r;

	turns = turns < 1 ? 1 : turns > MOST ? MOST : turns;
	pld_init(NULL);
	r.me = pld_rank(pld_world());
	r.peer = pld_nranks(pld_world()) - 1 - r.me;
	r.data = pld_new_window(PL_SHAPE(1), PL_INT64);
	r.cells = pld_new_window(PL_SHAPE(64), PL_INT32);
	r.sums = pld_new_window(PL_SHAPE(2), PL_FP32);
	r.mine = pl_wrap(value, PL_SHAPE(1), PL_INT64);
	pin(r.me);
	for (int k = 0; k < KINDS; k++)
		turn(&r, (enum kind)k); /* warm */
	for (int i = 0; i < turns; i++)
		for (int k = 0; k < KINDS; k++)
			ns[k][i] = turn(&r, (enum kind)k);
	for (int k = 0; r.me == 0 && k < KINDS; k++) {
		double middle = median(ns[k], turns);

		printf("%s|%d|%s|%.2f|%.2f\n", argc > 2 ? argv[2] : "", pld_nranks(pld_world()),
		       names[k], middle, ns[k][0]);
	}
	pld_finalize();
	return 0;
}
