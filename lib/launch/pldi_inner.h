/* pldi_inner.h - the inner process of a launch: its state and its parts. */
#ifndef PLDI_INNER_H
#define PLDI_INNER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include "pldi_door.h"
#include "pldi_feed.h"
#include "pldi_job.h"
#include "pldi_launch.h"
#include "pldi_output.h"
#include "pldi_segment.h"

/* How things were when pldi_launch was called: so ranks get them. */
struct pldi_before {
	sigset_t mask;
	struct sigaction chld, pipe;
	struct rlimit files;
};

/* What outer tells inner. */
enum pldi_control {
	PLDI_CONTROL_SIGNAL,  /* outer got it; the terminal has sent it to the ranks, too */
	PLDI_CONTROL_FORWARD, /* a process sent it to outer alone */
	PLDI_CONTROL_KILL,    /* it was once too often: end now */
	PLDI_CONTROL_REPORT,  /* what do ranks do? */
	PLDI_CONTROL_STOPPED, /* outer is about to stop */
	PLDI_CONTROL_GOES_ON,
};
struct pldi_control_msg {
	int32_t what; /* enum pldi_control */
	int32_t signal;
};

/* A rank, as its launcher knows it: from wait and from the status pipe. */
struct pldi_proc {
	pid_t pid;
	int pidfd; /* -1: none */
	int wait_status;
	struct rusage usage; /* of it and of the children that it has waited for */
	bool started, gone;
	bool init, final, error; /* what it has told */
	uint32_t epoch;		 /* of its slot at the last look for a deadlock: odd, it slept */
	uint64_t cpu_ticks;	 /* that it had used when all slept first */
	int failed;		 /* 0, or exit status of the job if it is this one that counts */
};

/* A file that an option names, for what the job's counters say. */
struct pldi_result {
	const char *option, *path; /* path NULL: not asked for */
	int fd;			   /* -1: not open */
	int error;		   /* errno of the first write that failed */
};

struct pldi_inner {
	const struct pldi_launch *l;
	const struct pldi_before *before;
	pid_t outer;
	int control, signals, told[2], epoll, deaths; /* descriptors; deaths: epoll of all pidfds */
	int null_fd;
	int here; /* the folder that pldrun was started in, for stdin_file; -1: not needed */

	struct pldi_segment seg;
	/* own copies: ranks may scribble over the segment's head */
	uint64_t slots_off, stats_off, stats_stride, acts_off;
	struct pldi_output out;
	struct pldi_door door;
	struct pldi_feed feed; /* fd -1: ranks have stdin by other ways */

	struct pldi_proc *ranks;
	int alive;
	bool pidfds; /* there are descriptors enough to have one of each rank */

	const char *path; /* of the program */

	/* how it ends (watch.c) */
	int first;	    /* rank that is first known to have failed, or -1 */
	int blamed;	    /* rank that it followed, or itself */
	int verdict;	    /* status that is the launcher's decision, or 0 */
	int signal;	    /* that was meant to end the job, or 0 */
	int64_t ending_ns;  /* when the end began, or 0 */
	int64_t ring_ns;    /* next ring; PLDI_NO_DEADLINE: none */
	int64_t kill_ns;    /* when all that is left is killed */
	int64_t give_up_ns; /* output that nobody takes is waited for until then; 0: for ever */
	bool termed, give_up;
	int64_t timeout_ns; /* absolute */
	int64_t stopped_ns; /* since when outer is stopped, or 0 */

	/* deadlock.c */
	int64_t look_ns;   /* next look */
	int64_t asleep_ns; /* since when all are known to sleep, 0: they do not */
	bool warned;	   /* that threads may go on */

	int64_t oom_kills; /* on this machine, before the ranks did anything */

	/* results.c */
	struct pldi_result report, schedule;
	int64_t begun_ns;
	struct timespec begun; /* the same, as a date */

	char *text; /* lines that this process prints at the very end */
	size_t text_len;
};

/* The whole life of the inner process. */
_Noreturn void pldi_inner(const struct pldi_launch *l, const struct pldi_before *before,
			  pid_t outer, int control);

/* Adds a line to what is printed at the end. */
void pldi_say(struct pldi_inner *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds text as it is. */
void pldi_say_text(struct pldi_inner *in, const char *text, size_t bytes);

/* ---- spawn.c --------------------------------------------------------------------------------- */

/* Starts all ranks; when one cannot start, why is said, and that is the verdict. */
void pldi_spawn(struct pldi_inner *in);
/* A rank could not become its program: says why, and the job ends. */
void pldi_spawn_failed(struct pldi_inner *in, int error);

/* Beside enum pldi_told: this, with the errno above it. */
enum { PLDI_TOLD_NOT_RUN = 'x', PLDI_TOLD_ERRNO_SHIFT = 8 };

/* Body of a rank that is a fork (run.c). */
_Noreturn void pldi_run_rank(struct pldi_inner *in, int rank);

/* ---- env.c ----------------------------------------------------------------------------------- */

#define PLDI_ENV_DIMS "PLD_DIMS" /* read by pldi_bind_env */
enum { PLDI_RANK_TEXT = 32 };

/* Environment of ranks; first PLDI_RANK_TEXT bytes for PLD_RANK; job: PLD_JOB.  NULL: no memory. */
char **pldi_env_make(const struct pldi_launch *l, const char *job);
/* The value a rank will see; NULL: none. */
const char *pldi_env_value(char *const *env, const char *name);
/*
 * "sh", then the arguments of a rank, {rank} and {nranks} replaced.  NULL: no memory.  args[1] may
 * be changed before pldi_args_free.
 */
char **pldi_args_make(char *const *argv, int rank, int nranks);
void pldi_args_free(char **args, char *const *argv);
/* Descriptors of a job that this process was started in go to no program that it starts. */
void pldi_env_hide_outer_job(void);

/* ---- watch.c --------------------------------------------------------------------------------- */

/* Reads what ranks have told. */
void pldi_watch_told(struct pldi_inner *in);
/* Reads signals to this process.  -1: outer has died. */
int pldi_watch_signals(struct pldi_inner *in);
/* Reaps: ranks in the order in which they died, then orphans. */
void pldi_watch_deaths(struct pldi_inner *in);
/* -1: outer has gone. */
int pldi_watch_control(struct pldi_inner *in);
/* What is due by now; returns when to call again, or PLDI_NO_DEADLINE. */
int64_t pldi_watch_timers(struct pldi_inner *in, int64_t now_ns);
/* The job ends, with this status whatever ranks do. */
void pldi_watch_verdict(struct pldi_inner *in, int status);
/* Exit status of the job; says which rank is to blame, if it has not said so itself. */
int pldi_watch_status(struct pldi_inner *in);

/* ---- report.c -------------------------------------------------------------------------------- */

/* A copy of a part of the segment: false when it is not there, for ranks may have cut it short. */
bool pldi_segment_read(const struct pldi_inner *in, void *to, size_t bytes, uint64_t off);

/* A copy of what a rank sleeps on; see struct pldi_wait_shm. */
struct pldi_sleeper {
	uint32_t epoch, kind, cmp, buffer, domain, call;
	int32_t wanted, peer;
	uint64_t off;
	int64_t index, since_ns, deadline_ns;
	char name[PLDI_NAME_TEXT];
};
/* False: the rank does not sleep, or cannot be read. */
bool pldi_report_sleeper(const struct pldi_inner *in, int rank, struct pldi_sleeper *s);
/* Whether what it waits for is there; *is: the word that it looks at. */
bool pldi_report_holds(const struct pldi_inner *in, const struct pldi_sleeper *s, int32_t *is);
/* Process of a rank, which may be a descendant of the one that was started; -1: not known. */
pid_t pldi_report_pid(const struct pldi_inner *in, int rank);

/* The operation that a rank is in or was in last, and its source line. */
struct pldi_last_call {
	char name[40], place[PLDI_SITE_TEXT];
};
/* False: none is known. */
bool pldi_report_call(const struct pldi_inner *in, int rank, struct pldi_last_call *c);
/* One sentence on what a rank does or did last: " in pld_wait at step.c:31", or "". */
void pldi_report_doing(struct pldi_inner *in, int rank, char *text, size_t bytes);
/* A row for each of n ranks: process, state, call, what it waits for; and their last errors. */
void pldi_report_table(const struct pldi_inner *in, const int *order, int n, FILE *to);
/* All ranks, said at the end; or printed now. */
void pldi_report_timeout(struct pldi_inner *in);
void pldi_report_now(struct pldi_inner *in);

/* ---- deadlock.c ------------------------------------------------------------------------------ */

/* Looks for one when that is due; returns when to call again. */
int64_t pldi_deadlock_look(struct pldi_inner *in, int64_t now_ns);

/* ---- results.c, counters.c, schedule.c ------------------------------------------------------- */

/* Opens the files of --report and --schedule.  -1: one cannot be, and that is said. */
int pldi_results_open(struct pldi_inner *in);
/*
 * When no rank is left: writes them, and says the table of --stats.  status: the job's; returned,
 * or what it is because a file could not be written.
 */
int pldi_results_write(struct pldi_inner *in, int status);

/* A rank's own status as a shell says it; -1: it was never started. */
int pldi_rank_status(const struct pldi_inner *in, int rank);

/* What a rank has counted, checked: a rank may write anything over it. */
struct pldi_counters {
	bool known; /* false: it is not there, or no numbers */
	int64_t bytes_read, bytes_written, notifies, waits, wait_ns, collectives;
	uint64_t acts;
	struct pldi_stats_shm *copy; /* whose moved[] is checked, too; from pldi_counters_open */
};
/* 0, or -1: no memory. */
int pldi_counters_open(const struct pldi_inner *in, struct pldi_counters *c);
void pldi_counters_close(struct pldi_counters *c);
void pldi_counters_read(const struct pldi_inner *in, int rank, struct pldi_counters *c);

/* What each option writes; c is open. */
void pldi_table_write(const struct pldi_inner *in, struct pldi_counters *c, FILE *to);
void pldi_report_write(const struct pldi_inner *in, struct pldi_counters *c, int status, FILE *to);
void pldi_schedule_write(const struct pldi_inner *in, struct pldi_counters *c, FILE *to);

#endif
