/*
 * pldi_launch.h - starting a job and seeing it through to its end: what pldrun and pld_run share.
 *
 *     caller of pldi_launch: outer      fork     inner                clone     ranks
 *       terminal, exit status     ------------>  segment, output,  ----------->   program
 *                                 <- control ->  watch, reaping    <- status --
 *
 * Outer receives the signals, stops and continues with the terminal, and returns the job's status.
 * Inner does the rest.  Both are subreapers (outer only in pldrun), so that no child of a rank
 * escapes: when outer dies, inner (which gets a signal of it) kills and reaps the tree; when inner
 * dies, its ranks get SIGKILL from the kernel and outer reaps the tree.
 */
#ifndef PLDI_LAUNCH_H
#define PLDI_LAUNCH_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include <pld/job.h>

/* Exit statuses that are not a rank's; beside them PLDI_EXIT_DEADLOCK. */
enum pldi_status_of_job {
	PLDI_EXIT_TIMEOUT = 124,
	PLDI_EXIT_LAUNCHER = 125, /* pldrun's own failure, wrong options too */
	PLDI_EXIT_NOT_RUN = 126,  /* the program is there but cannot start */
	PLDI_EXIT_NOT_FOUND = 127,
	PLDI_EXIT_SIGNAL = 128, /* + number of the signal */
};

enum { PLDI_STDIN_NONE = -1, PLDI_STDIN_ALL = -2 };

/* The signal of pldrun --report-now: to outer, never passed on. */
#define PLDI_SIGNAL_REPORT (SIGRTMIN + 3)

#define PLDI_GRACE_NS INT64_C(5000000000) /* usual time between SIGTERM and SIGKILL */

struct pldi_launch {
	const char *name; /* "pldrun": who speaks */
	int nranks;

	/* Ranks execute argv, with {rank} and {nranks} replaced in the arguments .. */
	char *const *argv;
	/* .. or, when it is NULL, are forks of this process that run body(arg) as pld_run says. */
	const struct pld_config *config;
	int (*body)(void *arg);
	void *arg;
	const char *where;

	/* Of each rank one after the other, masks for sched_setaffinity; NULL: as this process. */
	const unsigned char *cpus;
	size_t cpus_bytes; /* of one mask */

	const char *wdir;	/* NULL: here */
	const char *const *env; /* "NAME=VALUE", over the environment; NULL at the end, or NULL */
	const char *dims;	/* "NAME=VALUE,NAME=VALUE", or NULL */
	int label;		/* lines begin with [RANK] */
	int64_t timeout_ns;	/* 0: none */
	int64_t grace_ns;	/* between SIGTERM and SIGKILL */
	int64_t reserve_bytes;	/* 0: found */
	int stdin_rank;		/* who has this process's stdin, or PLDI_STDIN_NONE, _ALL */
	const char *stdin_file; /* what each rank opens as its stdin, or NULL */
	uint32_t observe;	/* PLDI_OBSERVE_STATS, PLDI_OBSERVE_SCHEDULE: what ranks count */
	int stats;		/* print a table of it at the end */
	const char *report;	/* file for it, "-": stdout; NULL: none */
	const char *schedule;	/* the same for what ranks list */
};

/*
 * Runs the job; returns its exit status when nothing of it is left.  *by_signal: the signal to this
 * process that ended it, or 0.
 */
int pldi_launch(const struct pldi_launch *l, int *by_signal);

#endif
