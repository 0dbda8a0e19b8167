/* launched.c - how a process finds the job that it was started in. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "pldi_clock.h"
#include "pldi_job.h"
#include "pldi_launched.h"

enum { DOOR_SECONDS = 30 }; /* the launcher starts its other ranks first */

/* ---- PLD_JOB --------------------------------------------------------------------------------- */

int pldi_job_fd_know(struct pldi_job_fd *f)
{
	struct stat st;

	if (fstat(f->fd, &st))
		return -1;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	return 0;
}

bool pldi_job_fd_valid(const struct pldi_job_fd *f)
{
	struct pldi_job_fd is = { .fd = f->fd };

	return pldi_job_fd_know(&is) == 0 && is.dev == f->dev && is.ino == f->ino;
}

void pldi_job_env_write(const struct pldi_job_env *e, char text[PLDI_JOB_TEXT])
{
	snprintf(text, PLDI_JOB_TEXT,
		 "%u:%d:%d:%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%s:%s", PLDI_ABI,
		 e->seg.fd, e->status.fd, e->seg.dev, e->seg.ino, e->status.dev, e->status.ino,
		 e->door, e->secret);
}

int pldi_job_env_read(const char *text, struct pldi_job_env *e, unsigned *abi)
{
	char again[PLDI_JOB_TEXT], colon;

	if (sscanf(text, "%u%c", abi, &colon) != 2 || colon != ':')
		return -1;
	if (*abi != PLDI_ABI)
		return 1;
	if (sscanf(text,
		   "%*u:%d:%d:%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%" SCNu64
		   ":%36[-0-9a-f]:%36[-0-9a-f]",
		   &e->seg.fd, &e->status.fd, &e->seg.dev, &e->seg.ino, &e->status.dev,
		   &e->status.ino, e->door, e->secret) != 8)
		return -1;
	/* strict: spaces, signs and leading zeros are read, but never written */
	pldi_job_env_write(e, again);
	return strcmp(text, again) ? -1 : 0;
}

/* ---- the door -------------------------------------------------------------------------------- */

static int connect_to(const char *door)
{
	const struct timeval limit = { .tv_sec = DOOR_SECONDS };
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	/* abstract: behind a zero byte, and no file */
	const int n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, PLDI_DOOR_NAME "%s", door);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	do {
		rc = connect(fd, (struct sockaddr *)&a,
			     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n));
	} while (rc && errno == EINTR);
	if (rc == 0)
		return fd;
	rc = errno;
	close(fd);
	errno = rc;
	return -1;
}

/* The answer and its descriptors; 0: none came; -1: errno. */
static int answer(int fd, int fds[2])
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	uint32_t word = 0;
	struct iovec io = { &word, sizeof(word) };
	struct msghdr msg = { .msg_iov = &io,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	const struct cmsghdr *c;
	ssize_t n;

	do {
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	c = n ? CMSG_FIRSTHDR(&msg) : NULL;
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(2 * sizeof(int))) {
		memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
	} else if (word == PLDI_DOOR_GIVEN) { /* there was no room for both */
		if (c && c->cmsg_len == CMSG_LEN(sizeof(int))) {
			memcpy(fds, CMSG_DATA(c), sizeof(int));
			close(fds[0]);
		}
		errno = EMFILE;
		return -1;
	}
	return n == sizeof(word) ? (int)word : 0;
}

/* Asks until there is an answer: a visitor is sent away without one when there are too many. */
static int visit(const struct pldi_job_env *e, int fds[2])
{
	const int64_t end_ns = pldi_now_ns() + DOOR_SECONDS * INT64_C(1000000000);
	const struct timespec nap = { 0, 10000000 };

	for (;;) {
		int fd = connect_to(e->door), got, error;

		if (fd < 0)
			return -1;
		got = -1;
		/* a stranger is answered, and sent away, before it has said anything */
		if (send(fd, e->secret, sizeof(e->secret), MSG_NOSIGNAL) > 0 || errno == EPIPE)
			got = answer(fd, fds);
		error = errno;
		close(fd);
		errno = error;
		if (got < 0 && errno != ECONNRESET)
			return -1;
		if (got > 0)
			return got;
		if (pldi_now_ns() >= end_ns) {
			errno = EAGAIN;
			return -1;
		}
		nanosleep(&nap, NULL);
	}
}

/* Through the door; or why not. */
static int fetch(const struct pldi_job_env *e, int fds[2], char *why, size_t bytes)
{
	struct pldi_job_fd seg = e->seg, status = e->status;
	int got;

	if (strcmp(e->door, "-") == 0) {
		snprintf(why, bytes, "there is no socket to get them by");
		return -1;
	}
	got = visit(e, fds);
	if (got == PLDI_DOOR_STRANGER) {
		snprintf(why, bytes, "pldrun hands them to its own user alone, which uid %u is not",
			 (unsigned)geteuid());
		return -1;
	}
	if (got < 0 && errno == ECONNREFUSED)
		snprintf(why, bytes,
			 "pldrun cannot be asked for them: it has ended, or this process is in "
			 "another network namespace");
	else if (got < 0 && errno == EAGAIN)
		snprintf(why, bytes, "pldrun has not handed them over within %d s", DOOR_SECONDS);
	else if (got < 0)
		snprintf(why, bytes, "pldrun cannot be asked for them: %s%s", strerror(errno),
			 errno == EMFILE ? " (ulimit -n)" : "");
	if (got < 0)
		return -1;
	seg.fd = fds[0];
	status.fd = fds[1];
	if (pldi_job_fd_valid(&seg) && pldi_job_fd_valid(&status))
		return 0;
	close(fds[0]);
	close(fds[1]);
	snprintf(why, bytes, "others came from pldrun's socket");
	return -1;
}

/* ---- finding it ------------------------------------------------------------------------------ */

bool pldi_launched(void)
{
	return getenv(PLDI_ENV_JOB) != NULL;
}

/* Without errors of its own: it serves to report one. */
struct pldi_head_shm *pldi_launched_head(int32_t *rank, int *status_fd)
{
	const char *job = getenv(PLDI_ENV_JOB), *number = getenv(PLDI_ENV_RANK);
	struct pldi_job_env e;
	struct pldi_head_shm *h;
	unsigned abi;
	int64_t v;

	/* not through the door: a process that asks there may be a child of a rank, whose errors
	 * are not the job's */
	if (!job || !number || pldi_job_env_read(job, &e, &abi) || !pldi_job_fd_valid(&e.seg) ||
	    !(h = pldi_segment_map_head(e.seg.fd)))
		return NULL;
	if (pldi_parse_int(number, 0, h->nranks - 1, &v))
		return NULL;
	*rank = (int32_t)v;
	*status_fd = pldi_job_fd_valid(&e.status) ? e.status.fd : -1;
	return h;
}

static pl_status env_int(const char *name, int64_t least, int64_t most, int32_t *out,
			 const char *call, const char *where)
{
	const char *s = getenv(name);
	int64_t v;

	if (!s || pldi_parse_int(s, least, most, &v))
		return pldi_fail(PL_EINVAL, call, where,
				 "%s='%s' is not what pldrun sets: a whole "
				 "number from %" PRId64 " to %" PRId64,
				 name, s ? s : "", least, most);
	*out = (int32_t)v;
	return PL_OK;
}

static pl_status find_descriptors(struct pldi_launched *l, const struct pldi_job_env *e,
				  const char *call, const char *where)
{
	int fds[2];
	char why[160];

	if (pldi_job_fd_valid(&e->seg) && pldi_job_fd_valid(&e->status)) {
		l->seg_fd = e->seg.fd;
		l->status_fd = e->status.fd;
		return PL_OK;
	}
	if (fetch(e, fds, why, sizeof(why)))
		return pldi_fail(PL_ESYS, call, where,
				 "the job's descriptors %d and %d are closed or other files, for a "
				 "wrapper or a rank has started this process; %s",
				 e->seg.fd, e->status.fd, why);
	l->seg_fd = fds[0];
	l->status_fd = fds[1];
	l->handed = true;
	return PL_OK;
}

pl_status pldi_launched_find(struct pldi_launched *l, const char *call, const char *where)
{
	const char *job = getenv(PLDI_ENV_JOB);
	struct pldi_job_env e;
	unsigned abi;
	pl_status rc;
	int form;

	*l = (struct pldi_launched){ .seg_fd = -1, .status_fd = -1 };
	if (!job)
		return PL_OK;
	form = pldi_job_env_read(job, &e, &abi);
	if (form < 0)
		return pldi_fail(PL_EINVAL, call, where, "%s='%s' is not what pldrun sets",
				 PLDI_ENV_JOB, job);
	if (form > 0)
		return pldi_fail(PL_ESYS, call, where,
				 "pldrun has segment layout %u, this library has "
				 "%u: pldrun and libpld are of different versions",
				 abi, PLDI_ABI);
	if ((rc = env_int(PLDI_ENV_NRANKS, 1, PLDI_MAX_RANKS, &l->nranks, call, where)))
		return rc;
	if ((rc = env_int(PLDI_ENV_RANK, 0, l->nranks - 1, &l->rank, call, where)))
		return rc;
	return find_descriptors(l, &e, call, where);
}
