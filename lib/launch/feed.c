/* feed.c - standard input, copied to every rank. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pldi_feed.h"
#include "pldi_output.h"

#define FOREGROUND_NS 200000000 /* how often a job in the background looks whether it still is */

/* ---- set-up ---------------------------------------------------------------------------------- */

/*
 * As in lane.c: others share the open file that stdin is, so that stays as blocking as they want
 * it.  Pipes and terminals are opened a second time; a file is not, for it is read on from where
 * stdin is.
 */
static int open_input(struct pldi_feed *f)
{
	char path[32];
	struct stat st;

	if (fstat(STDIN_FILENO, &st))
		return -1;
	f->is_socket = S_ISSOCK(st.st_mode);
	if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", STDIN_FILENO);
		f->fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		f->own = f->fd >= 0;
	}
	if (f->fd < 0)
		f->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return f->fd < 0 ? -1 : 0;
}

/* Asks epoll for input.  False: it knows no such files, which never block. */
static bool poll_input(struct pldi_feed *f)
{
	if (!f->polled)
		f->polled = pldi_epoll_add(f->epoll, f->fd, EPOLLIN, PLDI_EVENT_FEED, -1) == 0;
	return f->polled;
}

static void stop_polling(struct pldi_feed *f)
{
	if (f->polled)
		epoll_ctl(f->epoll, EPOLL_CTL_DEL, f->fd, NULL);
	f->polled = false;
}

int pldi_feed_open(struct pldi_feed *f, int epoll, int nreaders)
{
	sigset_t ttin;

	*f = (struct pldi_feed){ .epoll = epoll, .fd = -1, .nreaders = nreaders };
	f->readers = calloc((size_t)nreaders, sizeof(*f->readers));
	f->block = malloc(PLDI_FEED_BYTES);
	if (!f->readers || !f->block || open_input(f))
		return -1;
	for (int r = 0; r < nreaders; r++)
		f->readers[r].fd = -1;
	f->pollable = poll_input(f);
	stop_polling(f); /* until there are readers */
	/* in the background a read from the terminal then fails, and stops nobody */
	sigemptyset(&ttin);
	sigaddset(&ttin, SIGTTIN);
	sigprocmask(SIG_BLOCK, &ttin, NULL);
	return 0;
}

int pldi_feed_pipe(struct pldi_feed *f, int reader)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	fcntl(ends[1], F_SETFL, O_NONBLOCK); /* the rank's end stays blocking */
	/* without events: epoll says that the other end is closed all the same */
	if (pldi_epoll_add(f->epoll, ends[1], 0, PLDI_EVENT_FEED, reader)) {
		close(ends[0]);
		close(ends[1]);
		return -1;
	}
	f->readers[reader] = (struct pldi_reader){ .fd = ends[1] };
	f->left++;
	return ends[0];
}

/* ---- readers --------------------------------------------------------------------------------- */

static void close_input(struct pldi_feed *f)
{
	if (f->fd < 0)
		return;
	stop_polling(f);
	close(f->fd); /* whoever writes there sees that nobody reads */
	f->fd = -1;
	f->again_ns = 0;
}

static void close_reader(struct pldi_feed *f, struct pldi_reader *r)
{
	close(r->fd); /* epoll forgets it, too */
	r->fd = -1;
	f->left--;
	if (r->taken < f->bytes)
		f->behind--;
}

static void wait_for_room(struct pldi_feed *f, struct pldi_reader *r, bool wait)
{
	struct epoll_event e = { .events = wait ? EPOLLOUT : 0 };

	if (r->waiting == wait)
		return;
	e.data.u64 = (uint64_t)PLDI_EVENT_FEED << 32 | (uint32_t)(r - f->readers);
	epoll_ctl(f->epoll, EPOLL_CTL_MOD, r->fd, &e);
	r->waiting = wait;
}

static void give(struct pldi_feed *f, struct pldi_reader *r)
{
	while (r->taken < f->bytes) {
		ssize_t n = write(r->fd, f->block + r->taken, f->bytes - r->taken);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			wait_for_room(f, r, true);
			return;
		}
		if (n < 0) { /* it has closed its end: the others go on */
			close_reader(f, r);
			return;
		}
		r->taken += (size_t)n;
	}
	f->behind--;
	wait_for_room(f, r, false);
}

void pldi_feed_reader_event(struct pldi_feed *f, int reader, uint32_t events)
{
	struct pldi_reader *r = &f->readers[reader];

	if (r->fd < 0)
		return;
	if (events & EPOLLERR)
		close_reader(f, r);
	else if (r->taken < f->bytes)
		give(f, r);
	if (f->left == 0)
		close_input(f);
}

void pldi_feed_drop(struct pldi_feed *f, int reader)
{
	if (!f->readers || f->readers[reader].fd < 0)
		return;
	close_reader(f, &f->readers[reader]);
	if (f->left == 0)
		close_input(f);
}

/* ---- input ----------------------------------------------------------------------------------- */

static ssize_t read_some(const struct pldi_feed *f)
{
	struct pollfd p = { .fd = f->fd, .events = POLLIN };

	if (f->is_socket)
		return recv(f->fd, f->block, PLDI_FEED_BYTES, MSG_DONTWAIT);
	if (f->pollable && !f->own && poll(&p, 1, 0) == 0) {
		errno = EAGAIN;
		return -1;
	}
	return read(f->fd, f->block, PLDI_FEED_BYTES);
}

/* The next block, to all.  False: there is none now. */
static bool next_block(struct pldi_feed *f, int64_t now_ns)
{
	ssize_t n = read_some(f);

	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN) {
		poll_input(f);
		return false;
	}
	if (n < 0 && errno == EIO && isatty(f->fd)) {
		stop_polling(f);
		f->again_ns = now_ns + FOREGROUND_NS;
		return false;
	}
	if (n <= 0) {
		f->error = n < 0 ? errno : 0;
		pldi_feed_close(f);
		return false;
	}
	f->bytes = (size_t)n;
	f->behind = f->left;
	for (int r = 0; r < f->nreaders; r++)
		f->readers[r].taken = 0;
	for (int r = 0; r < f->nreaders; r++)
		if (f->readers[r].fd >= 0)
			give(f, &f->readers[r]);
	if (f->left == 0)
		close_input(f);
	return true;
}

void pldi_feed_input_event(struct pldi_feed *f)
{
	stop_polling(f); /* the pump reads, and asks again if it must */
}

int64_t pldi_feed_pump(struct pldi_feed *f, int64_t now_ns)
{
	if (f->fd < 0 || f->left == 0 || f->behind || f->polled)
		return INT64_MAX;
	if (f->again_ns > now_ns)
		return f->again_ns;
	f->again_ns = 0;
	if (next_block(f, now_ns) && f->behind == 0)
		return now_ns; /* others get their turn */
	return f->again_ns ? f->again_ns : INT64_MAX;
}

void pldi_feed_close(struct pldi_feed *f)
{
	for (int r = 0; r < f->nreaders; r++)
		if (f->readers[r].fd >= 0)
			close_reader(f, &f->readers[r]);
	close_input(f);
}
