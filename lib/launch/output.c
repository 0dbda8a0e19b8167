/* output.c - the pipes that ranks print into. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pldi_clock.h"
#include "pldi_lane.h"
#include "pldi_launch.h"

int pldi_epoll_add(int epoll, int fd, uint32_t events, enum pldi_event kind, int index)
{
	struct epoll_event e = { .events = events };

	e.data.u64 = (uint64_t)kind << 32 | (uint32_t)index;
	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static bool same_file(int a, int b)
{
	struct stat sa, sb;

	return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* Can somebody answer a question through this stdin? */
static bool can_answer(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || isatty(fd));
}

/*
 * One rank's output needs no order: it gets the files themselves.  Where stdout and stderr are one
 * file, a rank has one pipe for both, which keeps the order in which it writes to them.
 */
int pldi_output_init(struct pldi_output *o, int epoll, int nranks, int label, int stdin_rank)
{
	const bool answers = stdin_rank != PLDI_STDIN_NONE && can_answer(STDIN_FILENO);

	*o = (struct pldi_output){ .epoll = epoll, .label = label };
	if (nranks == 1 && !label)
		return 0;
	o->nlanes = o->per_rank = same_file(STDOUT_FILENO, STDERR_FILENO) ? 1 : 2;
	o->nstreams = nranks * o->per_rank;
	o->streams = calloc((size_t)o->nstreams + 1, sizeof(*o->streams));
	if (!o->streams)
		return -1;
	for (int i = 0; i < o->nlanes; i++)
		if (pldi_lane_init(&o->lanes[i], i == 0 ? STDOUT_FILENO : STDERR_FILENO))
			return -1;
	for (int i = 0; i < o->nstreams; i++) {
		struct pldi_stream *s = &o->streams[i];

		s->fd = -1;
		s->rank = i / o->per_rank;
		s->lane = &o->lanes[i % o->per_rank];
		s->answerable = s->lane->interactive || (answers && (s->rank == stdin_rank ||
								     stdin_rank == PLDI_STDIN_ALL));
	}
	o->streams[o->nstreams].fd = -1;
	o->streams[o->nstreams].rank = -1;
	o->streams[o->nstreams].lane = &o->lanes[o->nlanes - 1];
	return 0;
}

static void poll_stream(struct pldi_output *o, struct pldi_stream *s)
{
	s->polled = pldi_epoll_add(o->epoll, s->fd, EPOLLIN, PLDI_EVENT_STREAM,
				   (int)(s - o->streams)) == 0;
}

int pldi_output_open(struct pldi_output *o, int rank, int fds[2])
{
	fds[0] = STDOUT_FILENO;
	fds[1] = STDERR_FILENO;
	for (int i = 0; i < o->per_rank; i++) {
		struct pldi_stream *s = &o->streams[rank * o->per_rank + i];
		int ends[2];

		s->buf = malloc(PLDI_LINE_FIRST);
		s->cap = PLDI_LINE_FIRST;
		if (!s->buf || pipe2(ends, O_CLOEXEC))
			return -1;
		fcntl(ends[0], F_SETFL, O_NONBLOCK); /* the rank's end stays blocking */
		s->fd = ends[0];
		fds[i] = ends[1];
		poll_stream(o, s);
	}
	if (o->per_rank == 1)
		fds[1] = fds[0];
	return 0;
}

void pldi_output_started(struct pldi_output *o, const int fds[2])
{
	for (int i = 0; i < o->per_rank; i++)
		close(fds[i]);
}

void pldi_output_forget(struct pldi_output *o)
{
	for (int i = 0; i < o->nstreams; i++)
		if (o->streams[i].fd >= 0)
			close(o->streams[i].fd);
	for (int i = 0; i < o->nlanes; i++)
		if (o->lanes[i].reopened)
			close(o->lanes[i].fd);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void stop_polling(struct pldi_output *o, struct pldi_stream *s)
{
	if (s->polled)
		epoll_ctl(o->epoll, EPOLL_CTL_DEL, s->fd, NULL);
	s->polled = false;
}

static void end_stream(struct pldi_output *o, struct pldi_stream *s)
{
	stop_polling(o, s);
	close(s->fd);
	s->fd = -1;
	pldi_lane_end(s);
}

/* Room behind the text; 0: the buffer is full, or there is no memory for a larger one. */
static size_t make_room(struct pldi_stream *s)
{
	if (s->head + s->len < s->cap)
		return s->cap - s->head - s->len;
	if (s->head) {
		memmove(s->buf, s->buf + s->head, s->len);
		s->head = 0;
	} else if (s->cap < PLDI_LINE_MOST) {
		char *buf = realloc(s->buf, s->cap * 4);

		if (!buf)
			return 0;
		s->buf = buf;
		s->cap *= 4;
	}
	return s->cap - s->head - s->len;
}

static void read_stream(struct pldi_output *o, struct pldi_stream *s)
{
	size_t space = make_room(s);
	char *at = s->buf + s->head + s->len, *newline;
	ssize_t n;

	if (space == 0) {
		stop_polling(o, s); /* until some of it has been passed on */
		s->full = true;
		pldi_lane_sort(s);
		return;
	}
	n = read(s->fd, at, space);
	if (n > 0) {
		newline = memrchr(at, '\n', (size_t)n);
		if (newline)
			s->lines = s->len + (size_t)(newline - at) + 1;
		s->len += (size_t)n;
		s->last_ns = pldi_now_ns();
		pldi_lane_sort(s);
	} else if (n == 0 || (errno != EINTR && errno != EAGAIN) ||
		   (errno == EAGAIN && o->draining)) {
		if (n < 0 && errno != EAGAIN)
			o->read_error = errno;
		end_stream(o, s);
	}
}

void pldi_output_stream_event(struct pldi_output *o, int stream)
{
	struct pldi_stream *s = &o->streams[stream];

	if (s->fd >= 0)
		read_stream(o, s);
}

/* s may have room again. */
static void taken(struct pldi_output *o, struct pldi_stream *s)
{
	if (s->len == 0 && s->cap > PLDI_LINE_FIRST) {
		char *buf = realloc(s->buf, PLDI_LINE_FIRST);

		s->buf = buf ? buf : s->buf;
		s->cap = PLDI_LINE_FIRST;
	}
	if (s->fd >= 0 && !s->polled)
		poll_stream(o, s);
}

/* ---- passing on ------------------------------------------------------------------------------ */

static void wait_for_lane(struct pldi_output *o, struct pldi_lane *lane, bool wait)
{
	if (wait == lane->waiting)
		return;
	if (!wait)
		epoll_ctl(o->epoll, EPOLL_CTL_DEL, lane->fd, NULL);
	else if (pldi_epoll_add(o->epoll, lane->fd, EPOLLOUT, PLDI_EVENT_LANE,
				(int)(lane - o->lanes)))
		return;
	lane->waiting = wait;
}

int64_t pldi_output_pump(struct pldi_output *o, int64_t now_ns)
{
	int64_t due = INT64_MAX;

	for (int i = 0; o->draining && i < o->nstreams; i++)
		if (o->streams[i].fd >= 0)
			read_stream(o, &o->streams[i]);
	for (int i = 0; i < o->nlanes; i++) {
		struct pldi_lane *lane = &o->lanes[i];

		do {
			pldi_lane_fill(lane, o->label, now_ns, taken, o);
			pldi_lane_flush(lane);
		} while (lane->len == 0 && pldi_lane_more(lane));
		wait_for_lane(o, lane, lane->len > 0);
		if (pldi_lane_due(lane) < due)
			due = pldi_lane_due(lane);
	}
	return due;
}

/* Where a rank writes to stderr itself, without a wait: what the file does not take is lost. */
void pldi_output_say(struct pldi_output *o, const char *text, size_t bytes)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };
	struct pldi_stream *s;
	char *buf;

	if (!o->nlanes) {
		if (poll(&p, 1, 0) == 1 && write(STDERR_FILENO, text, bytes) < 0)
			return; /* nobody to tell */
		return;
	}
	s = &o->streams[o->nstreams];
	buf = realloc(s->buf, s->head + s->len + bytes);
	if (!buf)
		return;
	s->buf = buf;
	s->cap = s->head + s->len + bytes;
	memcpy(buf + s->head + s->len, text, bytes);
	s->len += bytes;
	s->lines = s->len;
	pldi_lane_sort(s);
}

void pldi_output_lane_event(struct pldi_output *o, int lane)
{
	wait_for_lane(o, &o->lanes[lane], false); /* the pump tries, and waits again if it must */
}

void pldi_output_drain(struct pldi_output *o)
{
	o->draining = true;
}

bool pldi_output_empty(const struct pldi_output *o)
{
	for (int i = 0; i < o->nstreams; i++)
		if (o->streams[i].fd >= 0)
			return false;
	for (int i = 0; o->streams && i <= o->nstreams; i++)
		if (o->streams[i].len)
			return false;
	for (int i = 0; i < o->nlanes; i++)
		if (o->lanes[i].len)
			return false;
	return true;
}

void pldi_output_hang_up(struct pldi_output *o)
{
	for (int i = 0; i < o->nstreams; i++)
		if (o->streams[i].lane->error == EPIPE && o->streams[i].fd >= 0)
			end_stream(o, &o->streams[i]);
}

bool pldi_output_broken_pipe(const struct pldi_output *o)
{
	return o->lanes[0].error == EPIPE || o->lanes[1].error == EPIPE;
}

const char *pldi_output_error(const struct pldi_output *o, int *error)
{
	for (int i = 0; i < o->nlanes; i++) {
		*error = o->lanes[i].error;
		if (*error && *error != EPIPE)
			return i == 0 ? "stdout" : "stderr";
	}
	*error = o->read_error;
	return *error ? "the output of a rank" : NULL;
}

bool pldi_output_end_line(struct pldi_output *o, int fd)
{
	struct pldi_lane *lane = &o->lanes[fd == STDOUT_FILENO || o->nlanes < 2 ? 0 : 1];
	const bool inside = o->nlanes && (lane->dangling || lane->owner);

	lane->dangling = false;
	lane->owner = NULL;
	return inside;
}
