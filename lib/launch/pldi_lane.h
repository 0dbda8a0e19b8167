/* pldi_lane.h - one of pldrun's own output files, and the order in which streams flow into it. */
#ifndef PLDI_LANE_H
#define PLDI_LANE_H

#include "pldi_output.h"

enum {
	PLDI_LINE_MOST = 64 << 10, /* a longer line is passed on in pieces */
	PLDI_LINE_FIRST = 4 << 10, /* a stream's buffer grows from here */
};

/* -1: no memory. */
int pldi_lane_init(struct pldi_lane *lane, int fd);
/* Puts s, whose text or end has changed, into the list where it belongs. */
void pldi_lane_sort(struct pldi_stream *s);
/* No more text comes. */
void pldi_lane_end(struct pldi_stream *s);
/* Stages text of streams; taken is called for each that has room again. */
void pldi_lane_fill(struct pldi_lane *lane, int label, int64_t now_ns,
		    void (*taken)(struct pldi_output *o, struct pldi_stream *s),
		    struct pldi_output *o);
/* Writes what is staged, as far as the file takes it. */
void pldi_lane_flush(struct pldi_lane *lane);
/* Is there text that may pass now? */
bool pldi_lane_more(const struct pldi_lane *lane);
/* When time alone will let text pass, or INT64_MAX. */
int64_t pldi_lane_due(const struct pldi_lane *lane);

#endif
