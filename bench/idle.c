/*
 * idle.c - what a long wait costs.
 *
 *	bench/idle [seconds]
 *
 * Rank 0 waits for a notify, rank 1 for one that never comes, with a time limit; then it notifies.
 * Prints each rank's CPU time of its wait.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/resource.h>

#include <pld.h>

#include "median.h"

static double cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-3;
}

static int body(void *arg)
{
	const double seconds = *(const double *)arg;
	int me = pld_rank(pld_world());
	pld_tensor cell = pld_new_window(PL_SHAPE(1), PL_INT32);
	double begin_ms = cpu_ms(), begin_s = now_s();

	if (me == 0)
		pld_wait(cell, PL_AT(0), 1, PLD_WAIT_GE);
	else
		pld_wait_for(cell, PL_AT(0), 1, PLD_WAIT_GE, (int64_t)(seconds * 1e9));
	printf("rank %d waited %.2f s and used %.3f ms of CPU (bar: 20 ms in 10 s)\n", me,
	       now_s() - begin_s, cpu_ms() - begin_ms);
	if (me == 1)
		pld_notify(cell, 0, PL_AT(0), 1, PLD_NOTIFY_ADD);
	return 0;
}

int main(int argc, char **argv)
{
	struct pld_config config = PLD_CONFIG(.default_ndevices = 2);
	double seconds = argc > 1 ? atof(argv[1]) : 10;

	return pld_run(&config, body, &seconds);
}
