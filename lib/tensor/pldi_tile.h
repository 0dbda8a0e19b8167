/* pldi_tile.h - tiles and the arena they live in, for the calls of other layers that make them. */
#ifndef PLDI_TILE_H
#define PLDI_TILE_H

#include <pl/tile.h>

#include "pldi_tensor.h"

struct pl_tile_ {
	const struct pl_layout *layout; /* packed: equal shape and dtype is one pointer */
	void *data;			/* 64-byte aligned */
	pl_dims valid;
};

/*
 * Asked before every tile operation, in the whole process; PL_OK allows it, else the operation
 * returns that status or the null tile.  NULL, the default: all are allowed.  Set by layer level.
 */
void pldi_tiles_gate(pl_status (*fn)(const char *call, const char *where));

/* What the gate says; every call that takes or makes a tile begins with it. */
pl_status pldi_tiles_allowed(const char *call, const char *where);

/*
 * A new tile in the calling thread's innermost scope, and where its elements go: not set, also
 * those outside valid, which must be zero when it is handed out (pldi_tile_clear).  valid NULL: all
 * of shape.  The null tile after PL_EINVAL or PL_ENOMEM.
 */
pl_tile pldi_tile_new(pl_dtype dtype, const pl_dims *shape, const pl_dims *valid, void **data,
		      const char *call, const char *where);

/* Zeroes the elements unless all are valid. */
void pldi_tile_clear(pl_tile t);

/*
 * t can be used by this thread now: PL_OK; else the status the null tile stands for, or PL_EINVAL
 * (its scope has ended, or it is another thread's).  what: the argument's name in errors.
 */
pl_status pldi_tile_check(pl_tile t, const char *call, const char *where, const char *what);

#endif
