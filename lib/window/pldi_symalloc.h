/* pldi_symalloc.h - the job-wide allocator: one offset for all ranks, whatever the domain. */
#ifndef PLDI_SYMALLOC_H
#define PLDI_SYMALLOC_H

#include "pldi_job.h"

/* Where a buffer lies: the same for every member. */
struct pldi_place {
	enum pldi_region region;
	uint32_t entry;	 /* of the buffer table */
	uint32_t number; /* from 1, in the order of allocation in the job */
	uint64_t off;	 /* in the region's window */
};

enum pldi_symalloc_rc {
	PLDI_SYMALLOC_OK = 0,
	PLDI_SYMALLOC_RANGE = 1,   /* no free range is long enough */
	PLDI_SYMALLOC_BUFFERS = 2, /* PLDI_MAX_BUFFERS are live */
	PLDI_SYMALLOC_TABLE = 3,   /* no memory for the tables themselves */
	PLDI_SYMALLOC_ABORTED = 4,
};

/*
 * Reserves a range for `members` ranks, in the host region or, by size, in the dense or the sparse
 * one.  Backs no memory of the buffer.  *largest: the longest free range, when there is none.
 */
enum pldi_symalloc_rc pldi_symalloc(struct pldi_rank *self, uint64_t bytes, bool host,
				    int32_t members, struct pldi_place *p, uint64_t *largest);

/* A member is done with the buffer.  Whether it is the last, who returns the range. */
bool pldi_symalloc_leave(struct pldi_rank *self, const struct pldi_place *p);

/* Gives the range back.  -1: the job ends. */
int pldi_symalloc_return(struct pldi_rank *self, const struct pldi_place *p);

#endif
