/* results.c - where the counters of a job go: files, opened before it and written after it. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pldi_inner.h"

typedef void result_fn(const struct pldi_inner *in, struct pldi_counters *c, int status, FILE *to);

/* ---- before the job -------------------------------------------------------------------------- */

static bool to_stdout(const struct pldi_result *r)
{
	return strcmp(r->path, "-") == 0;
}

static int open_one(struct pldi_inner *in, struct pldi_result *r)
{
	if (!r->path)
		return 0;
	/* here, and not where --wdir leads: that is for ranks */
	r->fd = to_stdout(r)
			? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
			: open(r->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	if (r->fd < 0)
		pldi_say(in, "%s %s: %s", r->option, r->path, strerror(errno));
	return r->fd < 0 ? -1 : 0;
}

/* Each would write over the other. */
static bool same_file(const struct pldi_result *a, const struct pldi_result *b)
{
	struct stat x, y;

	return a->fd >= 0 && b->fd >= 0 && !to_stdout(a) && !to_stdout(b) &&
	       fstat(a->fd, &x) == 0 && fstat(b->fd, &y) == 0 && S_ISREG(x.st_mode) &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int pldi_results_open(struct pldi_inner *in)
{
	if (open_one(in, &in->report) || open_one(in, &in->schedule))
		return -1;
	if (!same_file(&in->report, &in->schedule))
		return 0;
	pldi_say(in, "--report %s and --schedule %s are one file", in->report.path,
		 in->schedule.path);
	return -1;
}

/* ---- after it -------------------------------------------------------------------------------- */

int pldi_rank_status(const struct pldi_inner *in, int rank)
{
	const struct pldi_proc *r = in->ranks ? &in->ranks[rank] : NULL;

	if (!r || !r->started)
		return -1;
	return WIFSIGNALED(r->wait_status) ? PLDI_EXIT_SIGNAL + WTERMSIG(r->wait_status)
					   : WEXITSTATUS(r->wait_status);
}

/* The write of a stream: a file that somebody else has made non-blocking is waited for. */
static ssize_t put(void *cookie, const char *text, size_t bytes)
{
	struct pldi_result *r = cookie;
	struct pollfd p = { .fd = r->fd, .events = POLLOUT };
	ssize_t n = -1;

	while (!r->error && (n = write(r->fd, text, bytes)) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			r->error = errno;
		else
			poll(&p, 1, -1);
	}
	return n < 0 ? 0 : n; /* 0: an error, as fopencookie(3) wants it */
}

/* 0, or the errno of what went wrong. */
static int write_one(struct pldi_inner *in, struct pldi_result *r, struct pldi_counters *c,
		     int status, result_fn *fn)
{
	FILE *to = fopencookie(r, "w", (cookie_io_functions_t){ .write = put });

	if (!to)
		return ENOMEM;
	if (to_stdout(r) && pldi_output_end_line(&in->out, STDOUT_FILENO))
		fputc('\n', to);
	fn(in, c, status, to);
	fclose(to); /* whose errors put has kept */
	if (close(r->fd) && !r->error)
		r->error = errno;
	return r->error;
}

static int result(struct pldi_inner *in, struct pldi_result *r, struct pldi_counters *c, int status,
		  int so_far, result_fn *fn)
{
	int error = r->fd >= 0 ? write_one(in, r, c, status, fn) : 0;

	if (!error)
		return so_far;
	if (error == EPIPE && to_stdout(r)) /* a reader that has seen enough */
		return so_far ? so_far : PLDI_EXIT_SIGNAL + SIGPIPE;
	pldi_say(in, "%s %s: %s; the file is not complete", r->option, r->path, strerror(error));
	return so_far ? so_far : PLDI_EXIT_LAUNCHER;
}

static void schedule(const struct pldi_inner *in, struct pldi_counters *c, int status, FILE *to)
{
	(void)status;
	pldi_schedule_write(in, c, to);
}

static void say_table(struct pldi_inner *in, struct pldi_counters *c)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);

	if (!to)
		return;
	pldi_table_write(in, c, to);
	if (fclose(to) == 0)
		pldi_say_text(in, text, bytes);
	free(text);
}

int pldi_results_write(struct pldi_inner *in, int status)
{
	struct pldi_counters c;
	int after;

	if (!in->l->observe)
		return status;
	signal(SIGXFSZ, SIG_IGN); /* a limit on files is an error of the write */
	if (pldi_counters_open(in, &c)) {
		pldi_say(in, "no memory to read the counters of %d ranks", in->l->nranks);
		return status ? status : PLDI_EXIT_LAUNCHER;
	}
	after = result(in, &in->report, &c, status, status, pldi_report_write);
	after = result(in, &in->schedule, &c, status, after, schedule);
	for (int r = 0; in->seg.base && r < in->l->nranks; r++) {
		pldi_counters_read(in, r, &c);
		if (!c.known)
			pldi_say(in,
				 "rank %d's counters are no numbers: something has been "
				 "written over them",
				 r);
	}
	if (in->l->stats && in->seg.base)
		say_table(in, &c);
	pldi_counters_close(&c);
	return after;
}
