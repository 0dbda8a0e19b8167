/* coll_try.h - one call of a collective, staged, made, and held against the serial model. */
#ifndef COLL_TRY_H
#define COLL_TRY_H

#include "coll_model.h"

/* Buffers of the world that all calls of a test share, seen from one domain. */
struct coll_rig {
	const struct multi *m;
	pld_ctx domain;
	int p, me;     /* in the domain */
	int64_t slot;  /* which of the cells: members of two domains must not share any */
	int64_t bytes; /* of each buffer, and what is put around a target */
	pld_buffer data, input, counts, cells;
	char *heap, *wanted;
};

enum { COLL_SLOTS = 8 };

/* A slice of a target has at most `bytes`; collective over the world, as closing it. */
struct coll_rig coll_open(const struct multi *m, int64_t bytes);
void coll_close(struct coll_rig *g);

/* The same from another domain, on cells of its own. */
struct coll_rig coll_on(const struct coll_rig *g, pld_ctx domain, int slot);

/* Ends the job with a text when anything is not as the model says. */
void coll_try(const struct coll_rig *g, const struct coll_case *c);

/* Nothing, a little work, the CPU for another rank, or long enough for others to be far ahead. */
void coll_delay(uint64_t *state);

#endif
