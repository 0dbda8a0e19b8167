/* lane.c - lines of many streams into one file: not mixed, none lost, nobody waits for ever. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pldi_lane.h"

/*
 * A stream that has a whole line, or more of a line than a buffer holds, or its end, waits in
 * `ready`.  Who is in the middle of a line owns the lane until its newline or its end: others wait.
 * When others wait and the owner is silent for HOLD_NS, its line is ended with the mark '\' and a
 * newline; the rest, when it comes, begins with '\'.
 *
 * An unfinished line may be a question to the user.  When nothing else is to pass, a stream whose
 * rank may ask is shown after QUIET_NS.
 */
#define QUIET_NS 50000000
#define HOLD_NS 100000000

enum {
	OUT_BYTES = PLDI_LINE_MOST + 4096,
	PREFIX_MOST = 32, /* newline of a dangling line, "[4095] ", mark */
};

/* ---- lists ----------------------------------------------------------------------------------- */

static void leave_list(struct pldi_stream *s)
{
	if (!s->list)
		return;
	if (s->prev)
		s->prev->next = s->next;
	else
		s->list->first = s->next;
	if (s->next)
		s->next->prev = s->prev;
	else
		s->list->last = s->prev;
	s->prev = s->next = NULL;
	s->list = NULL;
}

static void enter_list(struct pldi_stream *s, struct pldi_list *list)
{
	leave_list(s);
	s->list = list;
	s->prev = list->last;
	if (list->last)
		list->last->next = s;
	else
		list->first = s;
	list->last = s;
}

/* Bytes that may be passed on now, without beginning a line whose end may yet come in time. */
static size_t passable(const struct pldi_stream *s)
{
	if (s->lines && !s->eof)
		return s->lines;
	return s->eof || s->full || s->lane->owner == s ? s->len : 0;
}

void pldi_lane_sort(struct pldi_stream *s)
{
	struct pldi_lane *lane = s->lane;

	if (lane->owner == s) {
		leave_list(s);
	} else if (passable(s)) {
		if (s->list != &lane->ready)
			enter_list(s, &lane->ready);
	} else if (s->len && s->answerable) {
		enter_list(s, &lane->partial);
	} else {
		leave_list(s);
	}
}

/* ---- staging --------------------------------------------------------------------------------- */

static size_t room(const struct pldi_lane *lane)
{
	return OUT_BYTES - lane->head - lane->len;
}

static void put(struct pldi_lane *lane, const char *text, size_t bytes)
{
	memcpy(lane->out + lane->head + lane->len, text, bytes);
	lane->len += bytes;
}

static void begin_line(struct pldi_lane *lane, struct pldi_stream *s, int label)
{
	char prefix[PREFIX_MOST];

	if (lane->dangling)
		put(lane, "\n", 1);
	lane->dangling = false;
	if (label && s->rank >= 0)
		put(lane, prefix, (size_t)snprintf(prefix, sizeof(prefix), "[%d] ", s->rank));
	if (s->broken)
		put(lane, "\\", 1);
	s->broken = false;
	s->begun = true;
}

static void consume(struct pldi_stream *s, size_t bytes)
{
	s->head += bytes;
	s->len -= bytes;
	s->full = false;
	s->lines -= bytes < s->lines ? bytes : s->lines;
	if (s->len == 0)
		s->head = 0;
}

/* How much of s's text one copy may take: with labels a line, else as many whole lines as fit. */
static size_t piece(const struct pldi_stream *s, size_t most, int label)
{
	const char *text = s->buf + s->head, *end;

	if (label) {
		end = memchr(text, '\n', most);
		return end ? (size_t)(end - text) + 1 : most;
	}
	end = s->lines ? memrchr(text, '\n', most) : NULL;
	return end ? (size_t)(end - text) + 1 : most;
}

/* The last line of a stream may have no newline. */
static void leave_if_ended(struct pldi_stream *s)
{
	struct pldi_lane *lane = s->lane;

	if (lane->owner != s || !s->eof || s->len)
		return;
	lane->owner = NULL;
	lane->dangling = true;
	s->begun = false;
}

void pldi_lane_end(struct pldi_stream *s)
{
	s->eof = true;
	leave_if_ended(s);
	pldi_lane_sort(s);
}

/* Stages `most` bytes of s, or what there is room for; s owns the lane if that ends in a line. */
static void take(struct pldi_lane *lane, struct pldi_stream *s, size_t most, int label)
{
	while (most && room(lane) > PREFIX_MOST) {
		size_t bytes;

		if (!s->begun)
			begin_line(lane, s, label);
		bytes = room(lane) < most ? room(lane) : most;
		bytes = piece(s, bytes, label);
		put(lane, s->buf + s->head, bytes);
		s->begun = s->buf[s->head + bytes - 1] != '\n';
		consume(s, bytes);
		most -= bytes;
	}
	lane->owner = s->begun ? s : NULL;
	leave_if_ended(s);
	pldi_lane_sort(s);
}

static void break_line(struct pldi_lane *lane)
{
	struct pldi_stream *s = lane->owner;

	put(lane, "\\\n", 2);
	lane->owner = NULL;
	s->begun = false;
	s->broken = true;
	pldi_lane_sort(s);
}

/* Who is next, and how many of its bytes; NULL: nobody now. */
static struct pldi_stream *next_stream(struct pldi_lane *lane, int64_t now_ns, size_t *most)
{
	struct pldi_stream *s = lane->owner;

	if (s && s->len == 0 && lane->ready.first && now_ns - s->last_ns >= HOLD_NS) {
		break_line(lane);
		s = NULL;
	}
	if (!s)
		s = lane->ready.first;
	if (s) {
		*most = passable(s);
		return *most ? s : NULL;
	}
	s = lane->partial.first;
	if (s && now_ns - s->last_ns >= QUIET_NS) {
		*most = s->len;
		return s;
	}
	return NULL;
}

void pldi_lane_fill(struct pldi_lane *lane, int label, int64_t now_ns,
		    void (*taken)(struct pldi_output *o, struct pldi_stream *s),
		    struct pldi_output *o)
{
	struct pldi_stream *s;
	size_t most;

	while (room(lane) > PREFIX_MOST && (s = next_stream(lane, now_ns, &most))) {
		leave_list(s); /* and back to the end of it: all get their turn */
		take(lane, s, most, label);
		taken(o, s);
	}
}

bool pldi_lane_more(const struct pldi_lane *lane)
{
	return lane->owner ? lane->owner->len > 0 : lane->ready.first != NULL;
}

int64_t pldi_lane_due(const struct pldi_lane *lane)
{
	if (lane->len)
		return INT64_MAX;
	if (lane->owner)
		return lane->ready.first ? lane->owner->last_ns + HOLD_NS : INT64_MAX;
	return lane->partial.first ? lane->partial.first->last_ns + QUIET_NS : INT64_MAX;
}

/* ---- writing --------------------------------------------------------------------------------- */

/*
 * Others share the open file that our descriptor is, so it must stay as blocking as they want it;
 * and we must not block, because ranks die and signals come.  Pipes and terminals can be opened a
 * second time through /proc, as a file of our own.  Where that is refused (a terminal of another
 * user), small writes after poll do.
 */
int pldi_lane_init(struct pldi_lane *lane, int fd)
{
	char path[32];
	struct stat st;
	int own = -1;

	lane->fd = fd;
	lane->out = malloc(OUT_BYTES);
	if (!lane->out)
		return -1;
	lane->interactive = isatty(fd);
	if (fstat(fd, &st))
		return 0;
	lane->is_socket = S_ISSOCK(st.st_mode);
	if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (own >= 0)
			lane->fd = own;
		lane->reopened = own >= 0;
		lane->may_block = own < 0;
	}
	return 0;
}

static ssize_t write_some(const struct pldi_lane *lane)
{
	const char *text = lane->out + lane->head;
	struct pollfd p = { .fd = lane->fd, .events = POLLOUT };
	size_t bytes = lane->len;

	if (lane->is_socket)
		return send(lane->fd, text, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (lane->may_block) {
		const size_t little = lane->interactive ? 256 : 4096; /* what POLLOUT promises */

		if (poll(&p, 1, 0) == 0) {
			errno = EAGAIN;
			return -1;
		}
		bytes = bytes < little ? bytes : little;
	}
	return write(lane->fd, text, bytes);
}

void pldi_lane_flush(struct pldi_lane *lane)
{
	while (lane->len && !lane->error) {
		ssize_t n = write_some(lane);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			lane->error = errno;
			break;
		}
		lane->head += (size_t)n;
		lane->len -= (size_t)n;
	}
	lane->head = lane->len = 0;
}
