/* pldi_feed.h - a copy of standard input for every rank: pldrun --stdin all. */
#ifndef PLDI_FEED_H
#define PLDI_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLDI_FEED_BYTES = 64 << 10 };

/* What one rank reads from. */
struct pldi_reader {
	int fd;	      /* -1: it has closed its end, or is not fed */
	size_t taken; /* of the block */
	bool waiting; /* for room in its pipe */
};

/*
 * One block at a time: the next is read when all readers have taken this one.  So a fast one waits
 * for the slowest, and nothing is read that no reader has room for but one block.
 */
struct pldi_feed {
	int epoll;
	int fd;	       /* input; -1: there is none, it has ended, or nobody reads */
	bool own;      /* fd is a file of ours: non-blocking without a change to anybody else's */
	bool pollable; /* else it never blocks: a file */
	bool is_socket;
	bool polled;	  /* epoll will say that there is input */
	int64_t again_ns; /* this is in the background of its terminal: look again then; or 0 */
	int error;	  /* errno of a failed read */

	char *block;
	size_t bytes;		    /* in block */
	int nreaders, left, behind; /* left: not closed; behind: that have not taken all of it */
	struct pldi_reader *readers;
};

/* Takes over standard input.  -1: errno. */
int pldi_feed_open(struct pldi_feed *f, int epoll, int nreaders);
/* For a reader that is about to start: its end; -1: errno. */
int pldi_feed_pipe(struct pldi_feed *f, int reader);

void pldi_feed_input_event(struct pldi_feed *f);
void pldi_feed_reader_event(struct pldi_feed *f, int reader, uint32_t events);
/* Moves input on; returns when it must be called again without an event, or INT64_MAX. */
int64_t pldi_feed_pump(struct pldi_feed *f, int64_t now_ns);
/* A reader has died; a child of it that holds its end shall keep nobody waiting. */
void pldi_feed_drop(struct pldi_feed *f, int reader);
/* Nobody shall get more of it. */
void pldi_feed_close(struct pldi_feed *f);

#endif
