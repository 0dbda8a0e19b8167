/* pldi_output.h - what ranks print, passed on in whole lines. */
#ifndef PLDI_OUTPUT_H
#define PLDI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pldi_lane;

/* A pipe from a rank: its stdout, its stderr, or both. */
struct pldi_stream {
	struct pldi_lane *lane;
	int fd; /* -1: closed */
	int rank;
	bool polled; /* by epoll: there is room in buf */
	bool eof;
	bool full;	 /* more came than buf can hold */
	bool answerable; /* its rank may be asking for input: unfinished lines are shown soon */

	char *buf;
	size_t cap, head, len; /* text that was not passed on: buf[head .. head + len) */
	size_t lines;	       /* bytes of it that are complete lines */
	int64_t last_ns;       /* when the last byte came */

	bool begun;  /* the first part of its line was passed on */
	bool broken; /* and pldrun ended that line, so the rest is marked */

	/* in its lane's list of those that have something to pass on, or of those with a part of a
	 * line, least recent first */
	struct pldi_list *list;
	struct pldi_stream *prev, *next;
};

struct pldi_list {
	struct pldi_stream *first, *last;
};

/* A file that streams flow into: this process's stdout, stderr, or both when they are one file. */
struct pldi_lane {
	int fd;
	bool reopened;	/* fd is ours: non-blocking without a change to anybody else's */
	bool may_block; /* fd is not, and can block: write little and only when poll says so */
	bool is_socket;
	bool waiting; /* for epoll to say that it takes more */
	bool interactive;
	int error; /* errno of a failed write: output is thrown away from then on */

	char *out;
	size_t head, len; /* staged: out[head .. head + len) */
	bool dangling;	  /* the last line staged has no newline, and nobody goes on with it */
	struct pldi_stream *owner; /* is in the middle of a line */
	struct pldi_list ready, partial;
};

struct pldi_output {
	int epoll;
	int label;
	int nstreams;
	struct pldi_stream *streams; /* per rank one or two, and at the end one of pldrun itself */
	int per_rank;	/* 0: ranks write to this process's stdout and stderr themselves */
	int read_error; /* errno of a rank's pipe that could not be read to its end */
	int nlanes;
	struct pldi_lane lanes[2];
	bool draining; /* no writers are left: an empty pipe is at its end */
};

/* What an epoll event is about: the kind in the upper half of its data, an index in the lower. */
enum pldi_event {
	PLDI_EVENT_CONTROL = 1,
	PLDI_EVENT_SIGNAL,
	PLDI_EVENT_TOLD,
	PLDI_EVENT_DEATH,
	PLDI_EVENT_STREAM,
	PLDI_EVENT_LANE,
	PLDI_EVENT_DOOR, /* index: as in pldi_door_event */
	PLDI_EVENT_FEED, /* index: the rank, or -1: there is input */
};
int pldi_epoll_add(int epoll, int fd, uint32_t events, enum pldi_event kind, int index);

/* stdin_rank: as in struct pldi_launch.  -1: no memory. */
int pldi_output_init(struct pldi_output *o, int epoll, int nranks, int label, int stdin_rank);
/* For a rank that is about to start: fds[0], fds[1] will be its stdout and stderr.  -1: errno. */
int pldi_output_open(struct pldi_output *o, int rank, int fds[2]);
/* After the start: closes the rank's ends here. */
void pldi_output_started(struct pldi_output *o, const int fds[2]);

void pldi_output_stream_event(struct pldi_output *o, int stream);
void pldi_output_lane_event(struct pldi_output *o, int lane);
/* Moves text on; returns when it must be called again without an event, or INT64_MAX. */
int64_t pldi_output_pump(struct pldi_output *o, int64_t now_ns);
/* Whole lines of pldrun's own, to stderr between those of ranks. */
void pldi_output_say(struct pldi_output *o, const char *text, size_t bytes);
/* All ranks and their children are gone: what is in the pipes is all that comes. */
void pldi_output_drain(struct pldi_output *o);
bool pldi_output_empty(const struct pldi_output *o);
/* The reader of stdout or stderr has gone. */
bool pldi_output_broken_pipe(const struct pldi_output *o);
/* Then ranks that write on get SIGPIPE, as they would without us. */
void pldi_output_hang_up(struct pldi_output *o);
/* Another error of stdout or stderr, or of what comes from ranks: its name and errno, or NULL. */
const char *pldi_output_error(const struct pldi_output *o, int *error);
/*
 * Does what was printed to stdout or stderr end inside a line?  Asked once: the caller ends it, if
 * it goes on with something else.
 */
bool pldi_output_end_line(struct pldi_output *o, int fd);
/* In a forked rank: closes what is the launcher's. */
void pldi_output_forget(struct pldi_output *o);

#endif
