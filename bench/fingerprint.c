/*
 * fingerprint.c - what a collective call costs a rank that is alone.
 *
 *	bench/fingerprint [turns [name]]
 *
 * Prints nanoseconds a call: the median of the turns, and the minimum, which is what the call
 * itself takes.  bench/fingerprint-table runs it against a library that compares no calls.
 */
#define _GNU_SOURCE
#include <stdio.h>

#include <pld.h>

#include "median.h"

#define CALLS 2000
#define MOST 10000 /* turns */

enum kind { BARRIER, ALLREDUCE, ALLREDUCE_SIGNAL, BROADCAST, KINDS };
static const char *const names[] = { "barrier", "allreduce 8 B", "the same, .signal",
				     "broadcast 8 B" };

static void call(enum kind kind, pld_tensor data, pld_tensor signal)
{
	switch (kind) {
	case BARRIER:
		pld_barrier(pld_world());
		break;
	case ALLREDUCE:
		pld_allreduce(data);
		break;
	case ALLREDUCE_SIGNAL:
		pld_allreduce(data, .signal = signal);
		break;
	default:
		pld_broadcast(data, .root = 0);
		break;
	}
}

static double turn(enum kind kind, pld_tensor data, pld_tensor signal)
{
	double begin_s = now_s();

	for (int i = 0; i < CALLS; i++)
		call(kind, data, signal);
	return (now_s() - begin_s) * 1e9 / CALLS;
}

int main(int argc, char **argv)
{
	static double ns[KINDS][MOST];
	int turns = argc > 1 ? atoi(argv[1]) : 501;
	pld_tensor data, signal;

	turns = turns < 1 ? 1 : turns > MOST ? MOST : turns;
	pld_init(NULL);
	data = pld_new_window(PL_SHAPE(2), PL_FP32);
	signal = pld_new_window(PL_SHAPE(pld_nranks(pld_world())), PL_INT32);
	/* in turns, so that all see the same state of the machine */
	for (int i = 0; i < turns; i++)
		for (int k = 0; k < KINDS; k++)
			ns[k][i] = turn((enum kind)k, data, signal);
	for (int k = 0; k < KINDS; k++) {
		double middle = median(ns[k], turns);

		printf("%s|%d|%s|%.2f|%.2f\n", argc > 2 ? argv[2] : "", pld_nranks(pld_world()),
		       names[k], middle, ns[k][0]);
	}
	pld_finalize();
	return 0;
}
