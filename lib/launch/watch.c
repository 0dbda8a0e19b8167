/* watch.c - how ranks end, who is to blame, and how the others follow. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pldi_clock.h"
#include "pldi_inner.h"
#include "pldi_machine.h"
#include "pldi_tree.h"

#define MS INT64_C(1000000)
#define RING_NS (10 * MS)
#define RING_MOST_NS (100 * MS)
#define TERM_NS (100 * MS)    /* after the end began: SIGTERM to ranks that are still there */
#define KILL_NS (600 * MS)    /* and SIGKILL */
#define GIVE_UP_NS (300 * MS) /* after a kill by the user: for output that nobody takes */
#define TICK_NS (10 * MS)

/* ---- what ranks tell ------------------------------------------------------------------------- */

static void told(struct pldi_inner *in, const struct pldi_told_msg *msg)
{
	struct pldi_proc *r;

	if (msg->rank >= (uint32_t)in->l->nranks)
		return;
	r = &in->ranks[msg->rank];
	switch (msg->what & 0xff) {
	case PLDI_TOLD_INIT:
		r->init = true;
		break;
	case PLDI_TOLD_FINAL:
		r->final = true;
		break;
	case PLDI_TOLD_ERROR:
		r->error = true;
		break;
	case PLDI_TOLD_NOT_RUN:
		if (!r->init)
			pldi_spawn_failed(in, (int)(msg->what >> PLDI_TOLD_ERRNO_SHIFT));
		break;
	}
}

/* All that is in the pipe now, and no more: a rank that floods it does not keep us here. */
void pldi_watch_told(struct pldi_inner *in)
{
	struct pldi_told_msg msg[64];
	int left = fcntl(in->told[0], F_GETPIPE_SZ);
	ssize_t n;

	if (left <= 0)
		left = 64 << 10; /* the usual size */
	while (left > 0 && (n = read(in->told[0], msg, sizeof(msg))) > 0) {
		for (size_t i = 0; i < (size_t)n / sizeof(msg[0]); i++)
			told(in, &msg[i]);
		left -= (int)n;
	}
}

/* ---- the others follow ----------------------------------------------------------------------- */

/* With the launcher's own copy of the geometry; repeated, see pldi_abort_wake. */
static void ring(struct pldi_inner *in)
{
	char *base = in->seg.base;

	for (int r = 0; r < in->l->nranks; r++)
		if (in->ranks[r].started && !in->ranks[r].gone && in->ranks[r].init)
			pldi_abort_wake((void *)(base + in->slots_off +
						 (size_t)r * sizeof(struct pldi_slot_shm)),
					base, in->seg.bytes);
}

static void begin_end(struct pldi_inner *in, int status)
{
	int64_t now_ns = pldi_now_ns();

	if (in->ending_ns)
		return;
	in->ending_ns = now_ns;
	in->ring_ns = now_ns;
	pldi_abort_claim(in->seg.base, in->l->nranks, status);
	if (in->signal == SIGHUP || in->signal == SIGQUIT)
		in->kill_ns = now_ns + in->l->grace_ns;
	else if (!in->signal)
		in->kill_ns = now_ns + KILL_NS;
}

void pldi_watch_verdict(struct pldi_inner *in, int status)
{
	if (!in->verdict && in->first < 0)
		in->verdict = status;
	begin_end(in, status);
}

/* SIGKILL to everything, now and again until nothing is left. */
static void kill_all(struct pldi_inner *in, int64_t now_ns)
{
	if (in->signal)
		pldi_watch_verdict(in, PLDI_EXIT_SIGNAL + in->signal);
	else
		begin_end(in, PLDI_EXIT_SIGNAL + SIGKILL);
	for (int r = 0; r < in->l->nranks; r++)
		if (in->ranks[r].started && !in->ranks[r].gone)
			kill(in->ranks[r].pid, SIGKILL);
	pldi_tree_kill_children(NULL, 0);
	in->kill_ns = now_ns + TICK_NS;
}

/* But for the one that has ended the job and not yet said why: its line is the reason for all. */
static void term_ranks(struct pldi_inner *in)
{
	int32_t status, by = pldi_abort_by(in->seg.base, &status);

	for (int r = 0; r < in->l->nranks; r++) {
		if (!in->ranks[r].started || in->ranks[r].gone || (r == by && !in->ranks[r].error))
			continue;
		pldi_tree_signal(in->ranks[r].pid, SIGTERM);
		pldi_tree_signal(in->ranks[r].pid, SIGCONT); /* a stopped one gets it, too */
	}
	in->termed = true;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t pldi_watch_timers(struct pldi_inner *in, int64_t now_ns)
{
	const bool gentle = in->signal != 0; /* ranks have the time that the signal gives them */
	int64_t due_ns = PLDI_NO_DEADLINE;

	if (in->give_up_ns && now_ns >= in->give_up_ns)
		in->give_up = true;
	if (in->give_up_ns)
		due_ns = in->give_up_ns;
	if (in->alive == 0)
		return due_ns;
	if (!in->ending_ns && !in->stopped_ns)
		due_ns = earlier(due_ns, pldi_deadlock_look(in, now_ns));
	if (!in->stopped_ns && now_ns >= in->timeout_ns && !in->ending_ns) {
		pldi_report_timeout(in);
		pldi_watch_verdict(in, PLDI_EXIT_TIMEOUT);
	}
	if (in->ending_ns && now_ns >= in->ring_ns) {
		ring(in);
		in->ring_ns = now_ns + (now_ns < in->ending_ns + KILL_NS ? RING_NS : RING_MOST_NS);
	}
	if (in->ending_ns && !gentle && !in->termed && now_ns >= in->ending_ns + TERM_NS)
		term_ranks(in);
	if (in->kill_ns && now_ns >= in->kill_ns)
		kill_all(in, now_ns);

	if (in->ending_ns)
		due_ns = earlier(due_ns, in->ring_ns);
	else if (!in->stopped_ns)
		due_ns = earlier(due_ns, in->timeout_ns);
	if (in->ending_ns && !gentle && !in->termed)
		due_ns = earlier(due_ns, in->ending_ns + TERM_NS);
	if (in->kill_ns)
		due_ns = earlier(due_ns, in->kill_ns);
	return due_ns;
}

/* ---- signals to end the job ------------------------------------------------------------------ */

static bool ends_jobs(int sig)
{
	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
}

static void signalled(struct pldi_inner *in, int sig, int64_t now_ns)
{
	if (!ends_jobs(sig))
		return;
	if (in->alive == 0) { /* only output is left, and the reader is not in a hurry */
		in->signal = sig;
		pldi_watch_verdict(in, PLDI_EXIT_SIGNAL + sig);
		in->give_up = true;
	} else if (!in->ending_ns) {
		in->signal = sig;
		if (sig == SIGTERM && !in->kill_ns)
			in->kill_ns = now_ns + in->l->grace_ns;
	}
}

int pldi_watch_signals(struct pldi_inner *in)
{
	struct signalfd_siginfo info;
	struct sigaction now;

	/* one that was ignored from the start is none to ranks: SIGTERM is read all the same */
	while (read(in->signals, &info, sizeof(info)) > 0) {
		if ((int)info.ssi_signo == PLDI_SIGNAL_REPORT)
			pldi_report_now(in);
		else if (info.ssi_signo != SIGCHLD && getppid() == in->outer &&
			 sigaction((int)info.ssi_signo, NULL, &now) == 0 &&
			 now.sa_handler != SIG_IGN)
			signalled(in, (int)info.ssi_signo, pldi_now_ns());
	}
	return getppid() == in->outer ? 0 : -1;
}

/* ---- deaths ---------------------------------------------------------------------------------- */

/* Exit status that the job takes from a rank's end; 0: it has not failed. */
static int failure(const struct pldi_proc *r)
{
	if (WIFSIGNALED(r->wait_status))
		return PLDI_EXIT_SIGNAL + WTERMSIG(r->wait_status);
	if (WEXITSTATUS(r->wait_status))
		return WEXITSTATUS(r->wait_status);
	return r->init && !r->final ? EXIT_FAILURE : 0;
}

/*
 * Rank is the first that is known to have failed.  If it only followed another that has ended the
 * job, that one is to blame, and its death is still to come.
 */
static int who_is_to_blame(const struct pldi_inner *in, int rank)
{
	int32_t status, by = pldi_abort_by(in->seg.base, &status);

	if (by >= 0 && by < in->l->nranks && WIFEXITED(in->ranks[rank].wait_status) &&
	    WEXITSTATUS(in->ranks[rank].wait_status) == status)
		return by;
	return rank;
}

static void drop_pidfd(struct pldi_proc *r)
{
	if (r->pidfd >= 0)
		close(r->pidfd);
	r->pidfd = -1;
}

static void rank_is_gone(struct pldi_inner *in, int rank, int wait_status,
			 const struct rusage *usage)
{
	struct pldi_proc *r = &in->ranks[rank];

	pldi_watch_told(in);	/* all that it has told is in the pipe */
	pldi_watch_signals(in); /* and what it may have died of is known */
	drop_pidfd(r);
	r->gone = true;
	r->wait_status = wait_status;
	r->usage = *usage;
	pldi_feed_drop(&in->feed, rank);
	r->failed = failure(r);
	in->alive--;
	if (r->failed && in->first < 0) {
		in->first = rank;
		in->blamed = who_is_to_blame(in, rank);
		begin_end(in, r->failed);
	}
}

static int rank_of(const struct pldi_inner *in, pid_t pid)
{
	for (int r = 0; r < in->l->nranks; r++)
		if (in->ranks[r].started && !in->ranks[r].gone && in->ranks[r].pid == pid)
			return r;
	return -1;
}

/* Ranks with a pidfd: epoll lists them in the order in which they died. */
static void reap_in_order(struct pldi_inner *in)
{
	struct epoll_event events[32];
	struct rusage usage;
	int n, status;

	while ((n = epoll_wait(in->deaths, events, 32, 0)) > 0) {
		for (int i = 0; i < n; i++) {
			int rank = (int)(uint32_t)events[i].data.u64;
			struct pldi_proc *r = &in->ranks[rank];

			if (wait4(r->pid, &status, WNOHANG, &usage) == r->pid)
				rank_is_gone(in, rank, status, &usage);
			else
				drop_pidfd(r); /* a debugger has it first: SIGCHLD will tell */
		}
	}
}

void pldi_watch_deaths(struct pldi_inner *in)
{
	siginfo_t info;
	struct rusage usage;
	int rank, status;
	pid_t again = 0;

	for (;;) {
		reap_in_order(in);
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == 0)
			return;
		rank = rank_of(in, info.si_pid);
		if (rank >= 0 && in->ranks[rank].pidfd >= 0 && info.si_pid != again) {
			again = info.si_pid; /* it has died since: others may have, before it */
			continue;
		}
		if (wait4(info.si_pid, &status, WNOHANG, &usage) == info.si_pid && rank >= 0)
			rank_is_gone(in, rank, status, &usage);
	}
}

/* ---- what outer says ------------------------------------------------------------------------- */

/* Signals that a terminal would send to children of ranks, too, reach them. */
static void forward(struct pldi_inner *in, int sig)
{
	const bool all = ends_jobs(sig) || sig == SIGTSTP || sig == SIGCONT;

	for (int r = 0; r < in->l->nranks; r++) {
		if (!in->ranks[r].started || in->ranks[r].gone)
			continue;
		if (all)
			pldi_tree_signal(in->ranks[r].pid, sig);
		else
			kill(in->ranks[r].pid, sig);
	}
}

int pldi_watch_control(struct pldi_inner *in)
{
	struct pldi_control_msg msg;
	int64_t now_ns = pldi_now_ns();
	ssize_t n = recv(in->control, &msg, sizeof(msg), MSG_DONTWAIT);

	if (n != (ssize_t)sizeof(msg))
		return n == 0 ? -1 : 0;
	switch ((enum pldi_control)msg.what) {
	case PLDI_CONTROL_FORWARD:
		forward(in, msg.signal);
		if (msg.signal == SIGTSTP)
			send(in->control, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		signalled(in, msg.signal, now_ns);
		break;
	case PLDI_CONTROL_SIGNAL:
		signalled(in, msg.signal, now_ns);
		break;
	case PLDI_CONTROL_KILL:
		in->give_up_ns = now_ns + GIVE_UP_NS;
		kill_all(in, now_ns);
		break;
	case PLDI_CONTROL_REPORT:
		pldi_report_now(in);
		break;
	case PLDI_CONTROL_STOPPED:
		in->stopped_ns = now_ns;
		break;
	case PLDI_CONTROL_GOES_ON:
		if (in->stopped_ns && in->timeout_ns != PLDI_NO_DEADLINE)
			in->timeout_ns += now_ns - in->stopped_ns;
		in->stopped_ns = 0;
		break;
	}
	return 0;
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static void say_why(struct pldi_inner *in, int rank)
{
	const struct pldi_proc *r = &in->ranks[rank];
	const char *more = "";
	char doing[160];

	pldi_report_doing(in, rank, doing, sizeof(doing));
	if (WIFSIGNALED(r->wait_status) && WCOREDUMP(r->wait_status))
		more = ", core dumped";
	else if (WIFSIGNALED(r->wait_status) && WTERMSIG(r->wait_status) == SIGKILL &&
		 pldi_oom_kills("") > in->oom_kills)
		more = ", probably by the kernel, which has killed for lack of memory meanwhile";
	if (WIFSIGNALED(r->wait_status))
		pldi_say(in, "rank %d (pid %d) was killed by signal %d (%s%s)%s", rank, (int)r->pid,
			 WTERMSIG(r->wait_status), strsignal(WTERMSIG(r->wait_status)), more,
			 doing);
	else if (WEXITSTATUS(r->wait_status))
		pldi_say(in, "rank %d (pid %d) ended with exit status %d%s", rank, (int)r->pid,
			 WEXITSTATUS(r->wait_status), doing);
	else
		pldi_say(in,
			 "rank %d (pid %d) ended with exit status 0, but without pld_finalize%s",
			 rank, (int)r->pid, doing);
}

/* The rank whose status is the job's. */
static int culprit(const struct pldi_inner *in)
{
	const struct pldi_proc *r = &in->ranks[in->blamed];

	/* the segment said what is not so; or it was us who killed it, when it had failed already
	 * but was slow to end: those that have followed have its status */
	if (!r->failed || (in->termed && WIFSIGNALED(r->wait_status)))
		return in->first;
	return in->blamed;
}

int pldi_watch_status(struct pldi_inner *in)
{
	const struct pldi_proc *r;
	int rank;

	if (in->verdict)
		return in->verdict;
	if (in->first < 0)
		return 0;
	rank = culprit(in);
	r = &in->ranks[rank];
	if (in->ranks[in->blamed].error) /* it has said why */
		return rank == in->blamed && WIFEXITED(r->wait_status) ? WEXITSTATUS(r->wait_status)
								       : r->failed;
	/* quiet: all know */
	if (!(in->signal && r->failed == PLDI_EXIT_SIGNAL + in->signal) &&
	    !(in->out.per_rank == 0 && r->failed == PLDI_EXIT_SIGNAL + SIGPIPE))
		say_why(in, rank);
	return r->failed;
}
