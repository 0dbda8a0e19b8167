/*
 * start.c - what pldrun adds to the start of two processes.
 *
 *	bench/start [pldrun [times]]
 *
 * `pldrun -n 2 true` against two forks and execs of the same `true`, in turns.  Prints medians.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "median.h"

#define MOST 1000 /* times */

/* A child that becomes pldrun, or without one `true` itself. */
static pid_t start(const char *pldrun)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (pldrun)
			execlp(pldrun, pldrun, "-n", "2", "true", (char *)NULL);
		else
			execlp("true", "true", (char *)NULL);
		perror(pldrun ? pldrun : "true");
		_exit(127);
	}
	return pid;
}

/* Milliseconds from the first fork to the last end, or -1. */
static double run(const char *pldrun, int n)
{
	double begin_s = now_s();
	int status, bad = 0;

	for (int i = 0; i < n; i++)
		bad |= start(pldrun) < 0;
	for (int i = 0; i < n; i++)
		bad |= wait(&status) < 0 || status != 0;
	return bad ? -1 : (now_s() - begin_s) * 1e3;
}

int main(int argc, char **argv)
{
	static double launched[MOST], bare[MOST], more[MOST];
	const char *pldrun = argc > 1 ? argv[1] : "./pldrun";
	int times = argc > 2 ? atoi(argv[2]) : 51;

	times = times < 1 ? 1 : times > MOST ? MOST : times;
	for (int i = -1; i < times; i++) {
		int at = i < 0 ? 0 : i; /* the first is not counted */

		launched[at] = run(pldrun, 1);
		bare[at] = run(NULL, 2);
		more[at] = launched[at] - bare[at];
		if (launched[at] < 0 || bare[at] < 0) {
			fprintf(stderr, "start: %s failed\n", launched[at] < 0 ? pldrun : "true");
			return 1;
		}
	}
	printf("%d times, ms (median): pldrun -n 2 true %.2f, two forks and execs %.2f, "
	       "difference %.2f (bar: 10)\n",
	       times, median(launched, times), median(bare, times), median(more, times));
	return 0;
}
