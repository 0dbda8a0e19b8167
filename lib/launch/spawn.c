/* spawn.c - starting the ranks. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pldi_delay.h"
#include "pldi_inner.h"
#include "pldi_launched.h"

/*
 * Where the job's two descriptors are in a rank: away from 0 to 9, which scripts use, and from 255,
 * which is bash's.
 */
enum { FD_WANTED = 249, STACK_BYTES = 256 << 10, PATH_BYTES = 4096 };

/* A rank about to be. */
struct start {
	struct pldi_inner *in;
	int rank;
	pid_t parent;
	int fds[3];	     /* its stdin, stdout, stderr */
	int seg_fd, told_fd; /* the numbers it will find the job's descriptors under */
	char **args, **env;
};

/* ---- in the rank ----------------------------------------------------------------------------- */

/*
 * In the child, before it is a rank.  When it will execute a program it shares all memory with the
 * parent, which waits: so this only makes system calls.
 */
static int become(const struct start *s)
{
	const struct pldi_before *before = s->in->before;
	const struct pldi_launch *l = s->in->l;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	PLDI_DELAY();
	if (getppid() != s->parent)
		kill(getpid(), SIGKILL); /* it died before it could send a signal */
	for (int i = 0; i < 3; i++)
		if (s->fds[i] != i && dup2(s->fds[i], i) < 0)
			return -1;
	if (l->cpus)
		syscall(SYS_sched_setaffinity, 0, l->cpus_bytes,
			l->cpus + (size_t)s->rank * l->cpus_bytes);
	PLDI_DELAY();
	sigaction(SIGCHLD, &before->chld, NULL);
	sigaction(SIGPIPE, &before->pipe, NULL);
	pldi_segment_unguard();
	return 0;
}

/* As a shell says it, of execve. */
static int status_of_error(int error)
{
	return error == ENOENT || error == ENOTDIR ? PLDI_EXIT_NOT_FOUND : PLDI_EXIT_NOT_RUN;
}

static int run_program(void *arg)
{
	struct start *s = arg;
	struct pldi_inner *in = s->in;
	struct pldi_told_msg msg = { (uint32_t)s->rank, PLDI_TOLD_NOT_RUN };
	int error;

	if (become(s) == 0 && dup2(in->seg.fd, s->seg_fd) >= 0 &&
	    dup2(in->told[1], s->told_fd) >= 0) {
		setrlimit(RLIMIT_NOFILE, &in->before->files);
		sigprocmask(SIG_SETMASK, &in->before->mask, NULL);
		execve(in->path, s->args + 1, s->env);
		if (errno == ENOEXEC) { /* a script without a first line that names its shell */
			s->args[1] = (char *)in->path;
			execve("/bin/sh", s->args, s->env);
		}
	}
	error = errno;
	msg.what |= (uint32_t)error << PLDI_TOLD_ERRNO_SHIFT;
	while (write(in->told[1], &msg, sizeof(msg)) < 0 && errno == EINTR)
		continue;
	return status_of_error(error);
}

_Noreturn static void run_body(const struct start *s)
{
	if (become(s))
		_exit(PLDI_EXIT_LAUNCHER);
	setrlimit(RLIMIT_NOFILE, &s->in->before->files);
	pldi_run_rank(s->in, s->rank);
}

/* ---- before the ranks ------------------------------------------------------------------------ */

/* Finds the program as execvp does.  0: in->path; or what it exits with, and why is said. */
static int find_program(struct pldi_inner *in, char *const *env)
{
	const char *name = in->l->argv[0], *dirs = pldi_env_value(env, "PATH"), *end;
	int refused = 0;
	char *path;
	struct stat st;

	in->path = name;
	if (strchr(name, '/'))
		return 0;
	path = malloc(PATH_BYTES);
	for (dirs = dirs ? dirs : "/bin:/usr/bin"; path && *name; dirs = end + 1) {
		end = strchrnul(dirs, ':');
		if (end - dirs < PATH_BYTES / 2 && strlen(name) < PATH_BYTES / 2) {
			sprintf(path, "%.*s%s%s", (int)(end - dirs), dirs, end > dirs ? "/" : "",
				name);
			in->path = path;
			if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
				if (access(path, X_OK) == 0)
					return 0;
				refused = errno;
			}
		}
		if (*end == '\0')
			break;
	}
	if (refused) {
		pldi_say(in, "cannot start %s: %s", name, strerror(refused));
		return PLDI_EXIT_NOT_RUN;
	}
	pldi_say(in, "cannot start %s: there is no such program in PATH", name);
	return PLDI_EXIT_NOT_FOUND;
}

/* The largest free number below fd that a rank may use. */
static int free_fd(const struct pldi_inner *in, int fd)
{
	rlim_t limit = in->before->files.rlim_cur;

	if ((rlim_t)fd > limit)
		fd = (int)limit;
	while (--fd > STDERR_FILENO)
		if (fcntl(fd, F_GETFD) < 0)
			return fd;
	return -1;
}

/* PLD_JOB, by the numbers that ranks will have. */
static int job_text(struct pldi_inner *in, const struct start *s, char text[PLDI_JOB_TEXT])
{
	struct pldi_job_env e = { .seg.fd = in->seg.fd, .status.fd = in->told[1] };

	if (pldi_job_fd_know(&e.seg) || pldi_job_fd_know(&e.status)) {
		pldi_say(in, "cannot look at the job's own descriptors: %s", strerror(errno));
		return -1;
	}
	e.seg.fd = s->seg_fd;
	e.status.fd = s->told_fd;
	memcpy(e.door, in->door.name, sizeof(e.door));
	memcpy(e.secret, in->door.secret, sizeof(e.secret));
	pldi_job_env_write(&e, text);
	return 0;
}

/*
 * Opened once a rank, so that each reads it from its beginning.  -1, and why is said: a pipe is
 * refused, since ranks would take its bytes from each other.
 */
static int open_stdin_file(struct pldi_inner *in)
{
	const char *path = in->l->stdin_file;
	int fd = openat(in->here, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		pldi_say(in, "--stdin %s: %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode)) {
		pldi_say(in,
			 "--stdin %s: not a file that each rank can open and read for itself; "
			 "allowed are all, none, a rank, a regular file, a device",
			 path);
	} else {
		fcntl(fd, F_SETFL, 0); /* it was only not to wait for the other end of a pipe */
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static int prepare_stdin(struct pldi_inner *in)
{
	int fd;

	if (!in->l->stdin_file)
		return 0;
	in->here = open(".", O_PATH | O_CLOEXEC);
	fd = open_stdin_file(in);
	if (fd < 0)
		return PLDI_EXIT_LAUNCHER;
	close(fd);
	return 0;
}

static int prepare(struct pldi_inner *in, struct start *s)
{
	char job[PLDI_JOB_TEXT];

	if (prepare_stdin(in))
		return PLDI_EXIT_LAUNCHER;
	if (in->l->wdir && chdir(in->l->wdir)) {
		pldi_say(in, "--wdir %s: %s", in->l->wdir, strerror(errno));
		return PLDI_EXIT_LAUNCHER;
	}
	if (!in->l->argv)
		return 0;
	pldi_env_hide_outer_job();
	s->seg_fd = free_fd(in, FD_WANTED + 1);
	s->told_fd = free_fd(in, s->seg_fd);
	if (s->told_fd < 0) {
		pldi_say(in,
			 "no descriptor is free for ranks under their limit of %llu (ulimit -n)",
			 (unsigned long long)in->before->files.rlim_cur);
		return PLDI_EXIT_LAUNCHER;
	}
	if (job_text(in, s, job))
		return PLDI_EXIT_LAUNCHER;
	s->env = pldi_env_make(in->l, job);
	if (!s->env) {
		pldi_say(in, "no memory for an environment");
		return PLDI_EXIT_LAUNCHER;
	}
	return find_program(in, s->env);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

void pldi_spawn_failed(struct pldi_inner *in, int error)
{
	const char *name = in->l->argv ? in->l->argv[0] : "rank";
	struct stat st;

	if (in->verdict)
		return; /* said once */
	if (error == ENOENT && stat(in->path, &st) == 0) {
		pldi_say(in, "cannot start %s: the interpreter that it names is missing", name);
		pldi_watch_verdict(in, PLDI_EXIT_NOT_RUN);
		return;
	}
	pldi_say(in, "cannot start %s: %s", name, strerror(error));
	pldi_watch_verdict(in, status_of_error(error));
}

static pid_t start_program(struct start *s, char *stack)
{
	pid_t pid;

	s->args = pldi_args_make(s->in->l->argv, s->rank, s->in->l->nranks);
	if (!s->args) {
		errno = ENOMEM;
		return -1;
	}
	snprintf(s->env[0], PLDI_RANK_TEXT, "%s=%d", PLDI_ENV_RANK, s->rank);
	/* as vfork, on a stack of its own: nothing is copied, and it returns when the child has
	 * become the program */
	pid = clone(run_program, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, s);
	pldi_args_free(s->args, s->in->l->argv);
	return pid;
}

static pid_t start_rank(struct start *s, char *stack)
{
	pid_t pid;

	if (s->in->l->argv)
		return start_program(s, stack);
	pid = fork();
	if (pid == 0)
		run_body(s);
	return pid;
}

/* What a rank will have as stdin; -1: errno, or 0 when it is said already. */
static int open_stdin(struct pldi_inner *in, int rank)
{
	int fd = in->null_fd;

	if (in->l->stdin_rank == PLDI_STDIN_ALL)
		return pldi_feed_pipe(&in->feed, rank);
	if (in->l->stdin_file) {
		fd = open_stdin_file(in);
		errno = 0;
		return fd;
	}
	return rank == in->l->stdin_rank ? STDIN_FILENO : fd;
}

static int spawn_one(struct pldi_inner *in, struct start *s, int rank, char *stack)
{
	struct pldi_proc *r = &in->ranks[rank];
	pid_t pid;

	s->rank = rank;
	s->fds[0] = open_stdin(in, rank);
	if (s->fds[0] < 0) {
		if (errno)
			pldi_say(in, "rank %d of %d: no pipe for its input: %s%s", rank,
				 in->l->nranks, strerror(errno),
				 errno == EMFILE ? " (ulimit -n)" : "");
		return -1;
	}
	if (pldi_output_open(&in->out, rank, s->fds + 1)) {
		pldi_say(in, "rank %d of %d: no pipe for its output: %s%s", rank, in->l->nranks,
			 strerror(errno), errno == EMFILE ? " (ulimit -n)" : "");
		return -1;
	}
	pid = start_rank(s, stack);
	if (pid < 0)
		pldi_say(in, "rank %d of %d cannot be started: fork: %s%s", rank, in->l->nranks,
			 strerror(errno),
			 errno == EAGAIN ? " (ulimit -u, or the limit of a cgroup)" : "");
	PLDI_DELAY();
	pldi_output_started(&in->out, s->fds + 1);
	if (s->fds[0] != STDIN_FILENO && s->fds[0] != in->null_fd)
		close(s->fds[0]);
	if (pid < 0)
		return -1;
	r->pid = pid;
	PLDI_DELAY();
	r->started = true;
	in->alive++;
	/* without one (too few descriptors, an old kernel) the order of deaths is less exact */
	r->pidfd = in->pidfds ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (r->pidfd >= 0 &&
	    pldi_epoll_add(in->deaths, r->pidfd, EPOLLIN, PLDI_EVENT_DEATH, rank)) {
		close(r->pidfd);
		r->pidfd = -1;
	}
	return 0;
}

void pldi_spawn(struct pldi_inner *in)
{
	struct start s = { .in = in, .parent = getpid() };
	char *stack = malloc(STACK_BYTES);
	int status = stack ? prepare(in, &s) : PLDI_EXIT_LAUNCHER;

	if (status)
		pldi_watch_verdict(in, status);
	for (int r = 0; r < in->l->nranks && !in->verdict; r++) {
		if (spawn_one(in, &s, r, stack))
			pldi_watch_verdict(in, PLDI_EXIT_LAUNCHER);
		pldi_watch_told(in); /* a program that cannot be run is told of by now */
		if (pldi_watch_signals(in))
			break;	/* outer has died: the loop sees it, too */
		if (in->signal) /* ranks that are not there yet will not get it */
			pldi_watch_verdict(in, PLDI_EXIT_SIGNAL + in->signal);
	}
	free(stack);
}
