/* door.c - hands the job's descriptors to ranks that a wrapper has started without them. */
#include "config.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "pldi_door.h"
#include "pldi_output.h"

enum { BACKLOG = 128, AT_ONCE = 16 };

/* ---- opening --------------------------------------------------------------------------------- */

static void make_id(char text[PLDI_DOOR_TEXT])
{
	uuid_t id;

	uuid_generate(id);
	uuid_unparse_lower(id, text);
}

static void lock(struct pldi_door *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
	strcpy(d->name, "-");
	strcpy(d->secret, "-");
}

void pldi_door_open(struct pldi_door *d, int epoll)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int n;

	*d = (struct pldi_door){ .epoll = epoll };
	for (int i = 0; i < PLDI_VISITORS; i++)
		d->visitor[i] = -1;
	make_id(d->name);
	make_id(d->secret);
	/* abstract: behind a zero byte, no file, gone with its last descriptor */
	n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, PLDI_DOOR_NAME "%s", d->name);
	d->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->fd < 0 ||
	    bind(d->fd, (struct sockaddr *)&a,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) ||
	    listen(d->fd, BACKLOG) ||
	    pldi_epoll_add(epoll, d->fd, EPOLLIN, PLDI_EVENT_DOOR, PLDI_VISITORS))
		lock(d);
}

/* ---- visitors -------------------------------------------------------------------------------- */

static void send_away(struct pldi_door *d, int place)
{
	if (d->visitor[place] >= 0)
		close(d->visitor[place]); /* epoll forgets it, too */
	d->visitor[place] = -1;
}

static void answer(int fd, enum pldi_door_answer word, const int *fds)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = { 0 };
	uint32_t text = word;
	struct iovec io = { &text, sizeof(text) };
	struct msghdr msg = { .msg_iov = &io, .msg_iovlen = 1 };

	if (fds) {
		control.head.cmsg_len = CMSG_LEN(2 * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(&control.head), fds, 2 * sizeof(int));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
	}
	/* one that does not take it asks again */
	sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Has the visitor said the secret?  It stays while it has said nothing. */
static void listen_to(struct pldi_door *d, int place, const int fds[2])
{
	char said[PLDI_DOOR_TEXT + 1];
	ssize_t n = recv(d->visitor[place], said, sizeof(said), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == PLDI_DOOR_TEXT && memcmp(said, d->secret, PLDI_DOOR_TEXT) == 0)
		answer(d->visitor[place], PLDI_DOOR_GIVEN, fds);
	send_away(d, place);
}

static bool is_own_user(int fd)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 && who.uid == geteuid();
}

static void let_in(struct pldi_door *d, int visitor, const int fds[2])
{
	const int place = (int)(d->next++ % PLDI_VISITORS);

	send_away(d, place);
	d->visitor[place] = visitor;
	if (pldi_epoll_add(d->epoll, visitor, EPOLLIN, PLDI_EVENT_DOOR, place))
		send_away(d, place);
	else
		listen_to(d, place, fds);
}

void pldi_door_event(struct pldi_door *d, int place, int seg_fd, int status_fd)
{
	const int fds[2] = { seg_fd, status_fd };
	int visitor;

	if (place < PLDI_VISITORS) {
		if (d->visitor[place] >= 0)
			listen_to(d, place, fds);
		return;
	}
	for (int i = 0; d->fd >= 0 && i < AT_ONCE; i++) {
		visitor = accept4(d->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (visitor >= 0 && is_own_user(visitor)) {
			let_in(d, visitor, fds);
		} else if (visitor >= 0) {
			answer(visitor, PLDI_DOOR_STRANGER, NULL);
			close(visitor);
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
			lock(d); /* else epoll would call again and again */
		} else {
			return;
		}
	}
}
