/* launch.c - the outer process: signals, terminal, and the job's exit status. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pldi_clock.h"
#include "pldi_inner.h"
#include "pldi_tree.h"

#define ONCE_NS INT64_C(100000000)  /* the same signal within this time is one */
#define ACK_NS 100000000	    /* for ranks to be told to stop */
#define KILL_NS INT64_C(1000000000) /* for inner to end after it was told to kill */

enum { CHILDREN_MOST = 256 };

/* Signals that concern the job. */
static const int handled[] = { SIGINT,	SIGTERM, SIGHUP,  SIGQUIT,  SIGUSR1,
			       SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH, SIGURG };
enum { NHANDLED = sizeof(handled) / sizeof(handled[0]) };
/* Timers of whoever started us, and readers that have gone: no reason to end, none to forward. */
static const int swallowed[] = { SIGALRM, SIGVTALRM, SIGPROF, SIGPIPE };
enum { NSWALLOWED = sizeof(swallowed) / sizeof(swallowed[0]) };

struct outer {
	const struct pldi_launch *l;
	struct pldi_before before;
	int subreaper;		  /* as it was */
	sigset_t set;		  /* handled, and SIGCHLD */
	pid_t had[CHILDREN_MOST]; /* children before */
	int nhad;

	pid_t inner;
	int control;
	int64_t last_ns[NHANDLED]; /* when each signal came last */
	int signal;		   /* the last that ends jobs */
	int64_t kill_ns;	   /* when inner is killed; 0: not */
};

/* ---- before and after ------------------------------------------------------------------------ */

/* A descriptor of ours must not become somebody's stdin, stdout or stderr. */
static void open_standard(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static void take_over(struct outer *o)
{
	struct sigaction now;

	sigemptyset(&o->set);
	sigaddset(&o->set, SIGCHLD);
	sigaddset(&o->set, PLDI_SIGNAL_REPORT);
	for (int i = 0; i < NSWALLOWED; i++)
		sigaddset(&o->set, swallowed[i]);
	for (int i = 0; i < NHANDLED; i++)
		/* what this process was started to ignore (nohup) is ignored */
		if (sigaction(handled[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(&o->set, handled[i]);
	sigprocmask(SIG_BLOCK, &o->set, &o->before.mask);
	sigaction(SIGPIPE, NULL, &o->before.pipe);
	/* ignored, children would vanish without a status */
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, &o->before.chld);
	getrlimit(RLIMIT_NOFILE, &o->before.files);
	prctl(PR_GET_CHILD_SUBREAPER, &o->subreaper);
	/*
	 * Not in a program that calls pld_run: the orphans of its own children would come to it
	 * and end with the job.  There, children of ranks outlive an inner that is SIGKILLed.
	 */
	if (o->l->argv)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	o->nhad = pldi_children(getpid(), o->had, CHILDREN_MOST);
}

static void give_back(struct outer *o)
{
	const struct timespec now = { 0, 0 };
	siginfo_t info = { 0 };
	sigset_t report;

	/* one that comes too late is nobody's */
	sigemptyset(&report);
	sigaddset(&report, PLDI_SIGNAL_REPORT);
	while (sigtimedwait(&report, NULL, &now) > 0)
		continue;
	prctl(PR_SET_CHILD_SUBREAPER, (unsigned long)o->subreaper);
	/* a child of the caller's that died meanwhile: its signal was taken by us */
	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid)
		raise(SIGCHLD);
	sigaction(SIGCHLD, &o->before.chld, NULL);
	sigprocmask(SIG_SETMASK, &o->before.mask, NULL);
}

/* ---- signals --------------------------------------------------------------------------------- */

static void tell_inner(const struct outer *o, enum pldi_control what, int sig)
{
	struct pldi_control_msg msg = { what, sig };

	while (send(o->control, &msg, sizeof(msg), MSG_NOSIGNAL) < 0 && errno == EINTR)
		continue;
}

/* As any program stops; in an orphaned process group nothing stops. */
static void stop(struct outer *o, bool forwarded)
{
	struct timeval ack = { 0, ACK_NS / 1000 };
	struct sigaction action = { .sa_handler = SIG_DFL }, before;
	sigset_t tstp;
	char byte;

	setsockopt(o->control, SOL_SOCKET, SO_RCVTIMEO, &ack, sizeof(ack));
	/* if inner is slow, or dead, this stops all the same */
	while (forwarded && recv(o->control, &byte, 1, 0) < 0 && errno == EINTR)
		continue;
	tell_inner(o, PLDI_CONTROL_STOPPED, 0);
	sigaction(SIGTSTP, &action, &before);
	sigemptyset(&tstp);
	sigaddset(&tstp, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &tstp, NULL); /* here it stops */
	sigprocmask(SIG_BLOCK, &tstp, NULL);
	sigaction(SIGTSTP, &before, NULL);
	tell_inner(o, PLDI_CONTROL_GOES_ON, 0);
}

static int index_of(int sig)
{
	for (int i = 0; i < NHANDLED; i++)
		if (handled[i] == sig)
			return i;
	return -1;
}

/*
 * Was it this very signal, a moment ago?  One that the terminal sent and a shell passes on, or a
 * process that signals both the group and us, means one.
 */
static bool is_echo(struct outer *o, int i)
{
	int64_t now_ns = pldi_now_ns(), last_ns = o->last_ns[i];

	if (last_ns && now_ns - last_ns < ONCE_NS && handled[i] != SIGTSTP && handled[i] != SIGCONT)
		return true;
	o->last_ns[i] = now_ns;
	return false;
}

static void got_signal(struct outer *o, int sig, const siginfo_t *info)
{
	/* the kernel's own are the terminal's: ranks are in its foreground group, too */
	const bool forward = info->si_code != SI_KERNEL;
	const bool again = sig == SIGINT && (o->signal == SIGINT || o->signal == SIGTERM);

	if (sig == PLDI_SIGNAL_REPORT)
		tell_inner(o, PLDI_CONTROL_REPORT, 0);
	if (index_of(sig) < 0 || is_echo(o, index_of(sig)))
		return;
	if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT)
		o->signal = sig;
	if (sig == SIGCONT)
		kill(o->inner, SIGCONT);
	tell_inner(o, forward ? PLDI_CONTROL_FORWARD : PLDI_CONTROL_SIGNAL, sig);
	if (again) {
		tell_inner(o, PLDI_CONTROL_KILL, sig);
		o->kill_ns = pldi_now_ns() + KILL_NS;
	}
	if (sig == SIGTSTP)
		stop(o, forward);
}

/* ---- inner ----------------------------------------------------------------------------------- */

static int next_signal(const struct outer *o, siginfo_t *info)
{
	struct timespec t;
	int64_t left_ns;

	if (!o->kill_ns)
		return sigwaitinfo(&o->set, info);
	left_ns = o->kill_ns - pldi_now_ns();
	left_ns = left_ns > 0 ? left_ns : 0;
	t = (struct timespec){ left_ns / 1000000000, left_ns % 1000000000 };
	return sigtimedwait(&o->set, info, &t);
}

/* Until inner has died: its wait status. */
static int wait_for_inner(struct outer *o)
{
	siginfo_t info;
	int status, sig;

	while (waitpid(o->inner, &status, WNOHANG) != o->inner) {
		sig = next_signal(o, &info);
		if (o->kill_ns && pldi_now_ns() >= o->kill_ns) {
			kill(o->inner, SIGKILL);
			o->kill_ns = 0;
		}
		if (sig > 0)
			got_signal(o, sig, &info);
	}
	return status;
}

/* It is a rank's: when that closes it, its writer shall see it closed. */
static void leave_stdin(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		dup2(fd, STDIN_FILENO);
		close(fd);
	}
}

/*
 * It is waited for and so never delivered; but while a process waits for a signal, /proc shows it
 * as not blocked, and pldrun --report-now must see who takes it.
 */
static void never(int sig)
{
	(void)sig;
}

static int run_inner(struct outer *o)
{
	const struct sigaction taken = { .sa_handler = never };
	struct sigaction before;
	int control[2], status;
	pid_t outer = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control)) {
		fprintf(stderr, "%s: socketpair: %s\n", o->l->name, strerror(errno));
		return PLDI_EXIT_LAUNCHER;
	}
	o->inner = fork();
	if (o->inner == 0) {
		close(control[0]);
		pldi_inner(o->l, &o->before, outer, control[1]);
	}
	close(control[1]);
	o->control = control[0];
	if (o->inner < 0) {
		fprintf(stderr, "%s: fork: %s\n", o->l->name, strerror(errno));
		close(control[0]);
		return PLDI_EXIT_LAUNCHER;
	}
	if (o->l->argv)
		leave_stdin();
	sigaction(PLDI_SIGNAL_REPORT, &taken, &before);
	status = wait_for_inner(o);
	sigaction(PLDI_SIGNAL_REPORT, &before, NULL);
	close(control[0]);
	/* nothing is left when inner has ended as it should */
	pldi_tree_end(o->had, o->nhad);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (o->signal && WTERMSIG(status) == SIGKILL)
		return PLDI_EXIT_SIGNAL + o->signal;
	pldi_segment_remove_stale_names(); /* inner may have died before it could unlink one */
	fprintf(stderr, "%s: its inner process was killed by signal %d (%s), and the job with it\n",
		o->l->name, WTERMSIG(status), strsignal(WTERMSIG(status)));
	return PLDI_EXIT_LAUNCHER;
}

int pldi_launch(const struct pldi_launch *l, int *by_signal)
{
	struct outer o = { .l = l };
	int status;

	open_standard();
	take_over(&o);
	if (o.nhad < CHILDREN_MOST) {
		status = run_inner(&o);
	} else {
		/* those beyond could not be told from the job's, and would end with it */
		fprintf(stderr, "%s: this process has %d child processes or more; allowed: %d\n",
			l->name, CHILDREN_MOST, CHILDREN_MOST - 1);
		status = PLDI_EXIT_LAUNCHER;
	}
	give_back(&o);
	*by_signal = o.signal && status == PLDI_EXIT_SIGNAL + o.signal ? o.signal : 0;
	return status;
}
