/* inner.c - the process that has the ranks: set-up, the loop, the end. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "pldi_clock.h"
#include "pldi_inner.h"
#include "pldi_machine.h"
#include "pldi_tree.h"

#define EVENTS 64

/* ---- what is said at the end ----------------------------------------------------------------- */

void pldi_say(struct pldi_inner *in, const char *fmt, ...)
{
	char line[1024];
	size_t n = (size_t)snprintf(line, sizeof(line), "%s: ", in->l->name);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	n = strlen(line);
	line[n++] = '\n';
	pldi_say_text(in, line, n);
}

void pldi_say_text(struct pldi_inner *in, const char *text, size_t bytes)
{
	char *all = realloc(in->text, in->text_len + bytes);

	if (!all)
		return;
	memcpy(all + in->text_len, text, bytes);
	in->text = all;
	in->text_len += bytes;
}

static void write_all(int fd, const char *text, size_t bytes)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	while (bytes) {
		ssize_t n = write(fd, text, bytes);

		if (n < 0 && errno == EAGAIN)
			poll(&p, 1, -1); /* somebody else has made it non-blocking */
		else if (n < 0 && errno != EINTR)
			return;
		text += n > 0 ? n : 0;
		bytes -= n > 0 ? (size_t)n : 0;
	}
}

/* ---- set-up ---------------------------------------------------------------------------------- */

/*
 * What the terminal sends to ranks, it sends to this process of the same group, too: so it is known
 * here before any rank's death of it.  SIGTERM is the kernel's as well, when outer dies.
 */
static int watch_signals(void)
{
	static const int ends[] = { SIGINT, SIGHUP, SIGQUIT };
	struct sigaction now;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, PLDI_SIGNAL_REPORT); /* to this process instead of outer */
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(&set, ends[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Ranks get the limit as it was. */
static void raise_file_limit(const struct pldi_before *before)
{
	struct rlimit files = before->files;

	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

/* Output comes first. */
static bool enough_for_pidfds(const struct pldi_inner *in)
{
	const int others = 32; /* ours, and some that we were started with */
	const int each = 1 + in->out.per_rank + (in->l->stdin_rank == PLDI_STDIN_ALL);
	struct rlimit files;

	return getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	       files.rlim_cur >= (rlim_t)(in->l->nranks * each + others);
}

static int open_all(struct pldi_inner *in)
{
	in->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	in->signals = watch_signals();
	in->epoll = epoll_create1(EPOLL_CLOEXEC);
	in->deaths = epoll_create1(EPOLL_CLOEXEC);
	if (in->null_fd < 0 || in->signals < 0 || in->epoll < 0 || in->deaths < 0 ||
	    pipe2(in->told, O_CLOEXEC) || fcntl(in->told[0], F_SETFL, O_NONBLOCK) ||
	    pldi_epoll_add(in->epoll, in->control, EPOLLIN, PLDI_EVENT_CONTROL, 0) ||
	    pldi_epoll_add(in->epoll, in->signals, EPOLLIN, PLDI_EVENT_SIGNAL, 0) ||
	    pldi_epoll_add(in->epoll, in->told[0], EPOLLIN, PLDI_EVENT_TOLD, 0) ||
	    pldi_epoll_add(in->epoll, in->deaths, EPOLLIN, PLDI_EVENT_DEATH, 0)) {
		pldi_say(in, "cannot open what a launch needs: %s", strerror(errno));
		return -1;
	}
	return 0;
}

static int set_up(struct pldi_inner *in)
{
	const struct pldi_launch *l = in->l;
	const struct pldi_head_shm *h;
	char text[512];

	raise_file_limit(in->before);
	signal(SIGPIPE, SIG_IGN); /* output.c looks at EPIPE */
	if (pldi_results_open(in) || open_all(in))
		return -1;
	if (pldi_segment_create(l->nranks, l->reserve_bytes, l->observe, &in->seg, text,
				sizeof(text))) {
		pldi_say(in, "%s", text);
		return -1;
	}
	pldi_segment_guard(&in->seg);
	h = in->seg.base;
	in->slots_off = h->slots_off;
	in->stats_off = h->stats_off;
	in->stats_stride = h->stats_stride;
	in->acts_off = h->acts_off;
	in->ranks = calloc((size_t)l->nranks, sizeof(*in->ranks));
	if (!in->ranks ||
	    pldi_output_init(&in->out, in->epoll, l->nranks, l->label, l->stdin_rank)) {
		pldi_say(in, "no memory for the tables of %d ranks", l->nranks);
		return -1;
	}
	if (l->stdin_rank == PLDI_STDIN_ALL && pldi_feed_open(&in->feed, in->epoll, l->nranks)) {
		pldi_say(in, "--stdin all: %s", strerror(errno));
		return -1;
	}
	if (l->argv) /* forks have no wrapper */
		pldi_door_open(&in->door, in->epoll);
	in->pidfds = enough_for_pidfds(in);
	in->timeout_ns = l->timeout_ns ? pldi_now_ns() + l->timeout_ns : PLDI_NO_DEADLINE;
	return 0;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Outer has died, and nobody is left who could want anything of the job. */
_Noreturn static void end_as_orphan(void)
{
	pldi_tree_end(NULL, 0);
	_exit(PLDI_EXIT_LAUNCHER);
}

static void handle(struct pldi_inner *in, const struct epoll_event *e)
{
	const int index = (int)(uint32_t)e->data.u64;

	switch ((enum pldi_event)(e->data.u64 >> 32)) {
	case PLDI_EVENT_CONTROL:
		if (pldi_watch_control(in))
			end_as_orphan();
		break;
	case PLDI_EVENT_SIGNAL:
		if (pldi_watch_signals(in))
			end_as_orphan();
		pldi_watch_deaths(in);
		break;
	case PLDI_EVENT_TOLD:
		pldi_watch_told(in);
		break;
	case PLDI_EVENT_DEATH:
		pldi_watch_deaths(in);
		break;
	case PLDI_EVENT_STREAM:
		pldi_output_stream_event(&in->out, index);
		break;
	case PLDI_EVENT_LANE:
		pldi_output_lane_event(&in->out, index);
		break;
	case PLDI_EVENT_DOOR:
		pldi_door_event(&in->door, index, in->seg.fd, in->told[1]);
		break;
	case PLDI_EVENT_FEED:
		if (index < 0)
			pldi_feed_input_event(&in->feed);
		else
			pldi_feed_reader_event(&in->feed, index, e->events);
		break;
	}
}

static int wait_ms(int64_t due_ns, int64_t now_ns)
{
	if (due_ns == PLDI_NO_DEADLINE)
		return -1;
	if (due_ns <= now_ns)
		return 0;
	due_ns = (due_ns - now_ns + 999999) / 1000000;
	return due_ns < 3600000 ? (int)due_ns : 3600000;
}

static bool finished(const struct pldi_inner *in)
{
	return in->alive == 0 && in->out.draining &&
	       (pldi_output_empty(&in->out) || pldi_output_broken_pipe(&in->out) || in->give_up);
}

static void loop(struct pldi_inner *in)
{
	struct epoll_event events[EVENTS];

	pldi_watch_deaths(in); /* so far */
	while (!finished(in)) {
		int64_t now_ns = pldi_now_ns();
		int64_t due_ns = pldi_watch_timers(in, now_ns);
		int64_t output_ns = pldi_output_pump(&in->out, now_ns);
		int64_t feed_ns = pldi_feed_pump(&in->feed, now_ns);
		int n;

		if (feed_ns < due_ns)
			due_ns = feed_ns;
		if (in->feed.error)
			pldi_watch_verdict(in, PLDI_EXIT_LAUNCHER);

		if (pldi_output_broken_pipe(&in->out)) {
			pldi_watch_verdict(in, PLDI_EXIT_SIGNAL + SIGPIPE);
			pldi_output_hang_up(&in->out);
		}
		if (in->alive == 0 && !in->out.draining) {
			/* children that ranks have left behind; then all has been written */
			pldi_tree_end(NULL, 0);
			pldi_output_drain(&in->out);
			continue;
		}
		if (finished(in))
			break;
		n = epoll_wait(in->epoll, events, EVENTS,
			       wait_ms(due_ns < output_ns ? due_ns : output_ns, now_ns));
		for (int i = 0; i < n; i++)
			handle(in, &events[i]);
	}
}

/* ---- the end --------------------------------------------------------------------------------- */

static int conclude(struct pldi_inner *in)
{
	int status = pldi_watch_status(in), error;
	const char *lost = pldi_output_error(&in->out, &error);

	if (in->feed.error)
		pldi_say(in, "--stdin all: %s; ranks have not got all of it",
			 strerror(in->feed.error));
	if (lost) {
		pldi_say(in, "%s: %s; output is lost", lost, strerror(error));
		status = status ? status : PLDI_EXIT_LAUNCHER;
	}
	return status;
}

_Noreturn void pldi_inner(const struct pldi_launch *l, const struct pldi_before *before,
			  pid_t outer, int control)
{
	struct pldi_inner in = { .l = l,
				 .before = before,
				 .outer = outer,
				 .control = control,
				 .first = -1,
				 .blamed = -1,
				 .told = { -1, -1 },
				 .here = -1,
				 .feed.fd = -1,
				 .report = { "--report", l->report, -1, 0 },
				 .schedule = { "--schedule", l->schedule, -1, 0 },
				 .begun_ns = pldi_now_ns() };
	int status;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != outer)
		_exit(PLDI_EXIT_LAUNCHER); /* it died before it could send a signal */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	clock_gettime(CLOCK_REALTIME, &in.begun);

	if (set_up(&in)) {
		status = PLDI_EXIT_LAUNCHER;
	} else {
		pldi_spawn(&in);
		in.oom_kills = pldi_oom_kills("");
		dup2(in.null_fd, STDIN_FILENO); /* when its rank closes stdin, it is closed */
		loop(&in);
		status = conclude(&in);
	}
	/* no rank is left: the death of outer may now be that of this process */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != outer)
		_exit(PLDI_EXIT_LAUNCHER);
	status = pldi_results_write(&in, status);
	/* a leak checker would read, and so back, all of the sparse map */
	if (in.seg.base)
		pldi_segment_close(&in.seg);
	if (in.text_len && pldi_output_end_line(&in.out, STDERR_FILENO))
		write_all(STDERR_FILENO, "\n", 1);
	write_all(STDERR_FILENO, in.text, in.text_len);
	_exit(status);
}
