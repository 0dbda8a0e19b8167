/*
 * pingpong.c - what notify and wait cost beside bare flags.
 *
 * Two ranks hand a token to and fro: by plain atomic stores into each other's window and a loop
 * that pauses, or does not; by pld_notify, ADD or SET, and pld_wait.  The same processes on the
 * same kind of memory, in turns, so that all see the same state of the machine.  The canary is a
 * barrier of two flags: its time says how far apart the two CPUs are at the moment.
 *
 *	bench/pingpong [turns]
 *
 * Prints nanoseconds one way: medians over the turns, and medians of each turn's ratio.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include <pld.h>

#include "median.h"

#define ROUNDS 2000
#define MOST 1000 /* turns */
#define APART 64  /* int32: cells are four lines apart */

enum kind { CANARY, TIGHT, BARE, ADD, SET, KINDS };
static const char *const names[] = { "canary", "bare, no pause", "bare flag", "notify ADD",
				     "notify SET" };

struct rank {
	pld_tensor cells;
	_Atomic int32_t *mine[KINDS], *peers[KINDS];
	int me;
	int32_t count[KINDS]; /* rounds so far */
};

static void pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static void flag_to(_Atomic int32_t *flag, int32_t value)
{
	atomic_store_explicit(flag, value, memory_order_release);
}

static void flag_wait(const _Atomic int32_t *flag, int32_t value, enum kind kind)
{
	while (atomic_load_explicit(flag, memory_order_acquire) < value)
		if (kind != TIGHT)
			pause_cpu();
}

static void to_peer(struct rank *r, enum kind kind, int32_t value)
{
	if (kind <= BARE)
		flag_to(r->peers[kind], value);
	else if (kind == ADD)
		pld_notify(r->cells, 1 - r->me, PL_AT(ADD, 0), 1, PLD_NOTIFY_ADD);
	else
		pld_notify(r->cells, 1 - r->me, PL_AT(SET, 0), value, PLD_NOTIFY_SET);
}

static void from_peer(struct rank *r, enum kind kind, int32_t value)
{
	if (kind <= BARE)
		flag_wait(r->mine[kind], value, kind);
	else
		pld_wait(r->cells, PL_AT(kind, 0), value, PLD_WAIT_GE);
}

/* Nanoseconds one way; of the canary, a barrier. */
static double turn(struct rank *r, enum kind kind)
{
	double begin_s;

	pld_barrier(pld_world());
	begin_s = now_s();
	for (int i = 0; i < ROUNDS; i++) {
		int32_t value = ++r->count[kind];

		if (kind == CANARY) {
			flag_to(r->peers[CANARY], value);
			flag_wait(r->mine[CANARY], value, CANARY);
		} else if (r->me == 0) {
			to_peer(r, kind, value);
			from_peer(r, kind, value);
		} else {
			from_peer(r, kind, value);
			to_peer(r, kind, value);
		}
	}
	return (now_s() - begin_s) * 1e9 / ROUNDS / (kind == CANARY ? 1 : 2);
}

/* A CPU for each, so that both do not wait for one. */
static void pin(int me)
{
	cpu_set_t all, one;
	int left = me;

	if (sched_getaffinity(0, sizeof(all), &all) || CPU_COUNT(&all) < 2)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &all) && left-- == 0) {
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			sched_setaffinity(0, sizeof(one), &one);
		}
	}
}

/* The middle of the turns' ratios. */
static double ratio(double ns[KINDS][MOST], int turns, enum kind of, enum kind to)
{
	static double each[MOST];

	for (int i = 0; i < turns; i++)
		each[i] = ns[of][i] / ns[to][i];
	return median(each, turns);
}

static void report(double ns[KINDS][MOST], int turns)
{
	double to_bare[KINDS], to_tight[KINDS];

	/* before a median sorts the turns */
	for (int k = ADD; k < KINDS; k++) {
		to_bare[k] = ratio(ns, turns, k, BARE);
		to_tight[k] = ratio(ns, turns, k, TIGHT);
	}
	printf("2 ranks, %d turns of %d rounds, ns one way (median; lowest)\n", turns, ROUNDS);
	for (int k = CANARY; k < KINDS; k++) {
		double middle = median(ns[k], turns);

		printf("%-15s %7.1f %7.1f", names[k], middle, ns[k][0]);
		if (k >= ADD)
			printf("  %.2f times the bare flag (bar: 1.5), %.2f without pause",
			       to_bare[k], to_tight[k]);
		printf("\n");
	}
}

static int body(void *arg)
{
	static double ns[KINDS][MOST];
	const int turns = *(const int *)arg;
	struct rank r = { .me = pld_rank(pld_world()) };

	if (pld_nranks(pld_world()) != 2) {
		if (r.me == 0)
			fprintf(stderr, "pingpong: needs 2 ranks\n");
		return 1;
	}
	r.cells = pld_new_window(PL_SHAPE(KINDS, APART), PL_INT32);
	for (int k = 0; k < KINDS; k++) {
		r.mine[k] = (_Atomic int32_t *)pld_ptr(r.cells, r.me) + k * APART;
		r.peers[k] = (_Atomic int32_t *)pld_ptr(r.cells, 1 - r.me) + k * APART;
	}
	pin(r.me);
	for (int k = 0; k < KINDS; k++)
		turn(&r, k); /* warm */
	for (int i = 0; i < turns; i++)
		for (int k = 0; k < KINDS; k++)
			ns[k][i] = turn(&r, k);
	if (r.me == 0)
		report(ns, turns);
	return 0;
}

int main(int argc, char **argv)
{
	struct pld_config config = PLD_CONFIG(.default_ndevices = 2);
	int turns = argc > 1 ? atoi(argv[1]) : 501;

	turns = turns < 1 ? 1 : turns > MOST ? MOST : turns;
	return pld_run(&config, body, &turns);
}
