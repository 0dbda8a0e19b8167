/* run.c - pld_run: a job without pldrun, in this process or in forks of it. */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pldi_inner.h"
#include "pldi_launched.h"
#include "pldi_opts.h"
#include "pldi_rank.h"

#define CALL "pld_run"

/* ---- one rank -------------------------------------------------------------------------------- */

/*
 * Joins, runs the body and leaves.  A body that fails leaves without the others: pldrun ends them.
 * A rank that is alone always leaves, so that it can run again.
 */
static int run_rank(const struct pld_config *config, int (*body)(void *arg), void *arg,
		    const char *where)
{
	struct pldi_rank *self;
	int status;

	if (pldi_join(config, CALL, where))
		return EXIT_FAILURE;
	status = body(arg);
	self = pldi_self();
	if ((status == 0 || self->nranks == 1) && !self->final_where && pldi_leave(self, where))
		return EXIT_FAILURE;
	return status >= 0 && status <= 255 ? status : EXIT_FAILURE;
}

/* In a fork that shall be a rank: nothing of the launcher's stays. */
static void forget_launch(struct pldi_inner *in, int rank, int *seg_fd, int *told_fd)
{
	pldi_output_forget(&in->out);
	for (int r = 0; r < rank; r++)
		if (in->ranks[r].pidfd >= 0)
			close(in->ranks[r].pidfd);
	close(in->control);
	close(in->signals);
	close(in->epoll);
	close(in->deaths);
	close(in->null_fd);
	close(in->told[0]);
	*told_fd = in->told[1];
	/* the mapping goes, for the rank makes its own at the same address */
	*seg_fd = fcntl(in->seg.fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	pldi_segment_close(&in->seg);
}

static int set_number(const char *name, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	return setenv(name, text, 1);
}

_Noreturn void pldi_run_rank(struct pldi_inner *in, int rank)
{
	const struct pldi_launch *l = in->l;
	struct pld_config config = *l->config;
	int seg_fd, told_fd;
	struct pldi_job_env e = { .door = "-", .secret = "-" };
	char job[PLDI_JOB_TEXT];

	forget_launch(in, rank, &seg_fd, &told_fd);
	sigprocmask(SIG_SETMASK, &in->before->mask, NULL);
	e.seg.fd = seg_fd;
	e.status.fd = told_fd;
	if (pldi_job_fd_know(&e.seg) || pldi_job_fd_know(&e.status))
		_exit(PLDI_EXIT_LAUNCHER);
	pldi_job_env_write(&e, job);
	if (set_number(PLDI_ENV_RANK, rank) || set_number(PLDI_ENV_NRANKS, l->nranks) ||
	    setenv(PLDI_ENV_JOB, job, 1))
		_exit(PLDI_EXIT_LAUNCHER);
	exit(run_rank(&config, l->body, l->arg, l->where));
}

/* ---- the call -------------------------------------------------------------------------------- */

static int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int n = 0;

	if (!dir)
		return 1; /* cannot be known */
	while ((entry = readdir(dir)))
		n += isdigit((unsigned char)*entry->d_name) != 0;
	closedir(dir);
	return n;
}

static int launch(const struct pld_config *config, int nranks, int (*body)(void *arg), void *arg,
		  const char *where)
{
	const struct pldi_launch l = { .name = CALL,
				       .nranks = nranks,
				       .config = config,
				       .body = body,
				       .arg = arg,
				       .where = where,
				       .grace_ns = PLDI_GRACE_NS,
				       .reserve_bytes = config->reserve_bytes };
	int threads = count_threads(), by_signal;

	if (threads != 1) {
		pldi_fail(PL_EINVAL, CALL, where,
			  "called by a process with %d threads: it forks its "
			  "%d ranks, which is only safe with one",
			  threads, nranks);
		return EXIT_FAILURE;
	}
	fflush(NULL);
	return pldi_launch(&l, &by_signal);
}

int(pld_run)(const struct pld_config *config, int (*body)(void *arg), void *arg, const char *where)
{
	struct pldi_rank *self = pldi_self();
	struct pld_config known = { .size_ = sizeof(known) };
	int nranks;

	pldi_errors_of_job();
	if (!body) {
		pldi_fail(PL_EINVAL, CALL, where, "body is NULL");
		return EXIT_FAILURE;
	}
	if (self && self->forked) {
		pldi_may_not(self, CALL, where);
		return EXIT_FAILURE;
	}
	if (self && (!self->final_where || self->status_fd >= 0)) {
		pldi_fail(PL_EINVAL, CALL, where,
			  "this process %s a rank of the job that began at %s",
			  self->final_where ? "was" : "is", self->init_where);
		return EXIT_FAILURE;
	}
	if (config && pldi_opts(&known, sizeof(known), config, 0, CALL, where))
		return EXIT_FAILURE;
	known.size_ = sizeof(known);
	if (pldi_config_check(&known, 0, CALL, where))
		return EXIT_FAILURE;
	nranks = known.ndevices ? known.ndevices : known.default_ndevices;
	if (pldi_launched() || nranks <= 1)
		return run_rank(&known, body, arg, where);
	return launch(&known, nranks, body, arg, where);
}
