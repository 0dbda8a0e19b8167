/*
 * coll_model.h - collectives as a serial program computes them: what each member contributes, and
 * what each must get.
 *
 * It shares no code with the library: conversions, orders of combining and addressing are written
 * again, the plainest way.
 */
#ifndef COLL_MODEL_H
#define COLL_MODEL_H

#include "multi.h"

#include <stdbool.h>

enum { COLL_MEMBERS = 64 };

enum coll_kind {
	COLL_BARRIER,
	COLL_ALLREDUCE,
	COLL_BROADCAST,
	COLL_REDUCE,
	COLL_SCAN,
	COLL_REDUCE_SCATTER,
	COLL_REDUCE_SCATTER_V,
	COLL_ALLGATHER,
	COLL_ALLGATHER_V,
	COLL_GATHER,
	COLL_SCATTER,
	COLL_ALL_TO_ALL,
	COLL_ALL_TO_ALL_V,
	COLL_KINDS
};

/* Where what a rank contributes is. */
enum coll_input {
	COLL_IN_PLACE, /* in its slice of the target; where a call can't: as COLL_IN_HEAP */
	COLL_IN_SLICE, /* the same, and passed as .input */
	COLL_IN_HEAP,
	COLL_IN_WINDOW,
	COLL_INPUTS
};

/* Shapes of .signal.  One row of P cells:             rows of P cells: */
enum coll_cells {
	COLL_LINES,  /* no .signal */
	COLL_PLAIN,  /* [P]                             [rows, P] */
	COLL_COLUMN, /* [P, 1]                          [rows + 1, P] */
	COLL_WIDE,   /* [P, 3]                          [rows, P + 2] */
	COLL_LANE,   /* a column of [P, 3]              a part of [rows + 1, P + 2] */
	COLL_PACKED, /* [2, P, 2]                       [rows P + 3] */
	COLL_RINGS,  /* [2 (P - 1) + 1, P], for all */
	COLL_CELLS
};

/* What one member does wrong with its counts. */
enum coll_wrong { COLL_RIGHT, COLL_TOO_MANY, COLL_NEGATIVE, COLL_WRONGS };

/* One call. */
struct coll_case {
	enum coll_kind kind;
	pl_dtype dtype;
	pld_op op;
	pld_mode mode; /* allreduce */
	pld_scan_kind scan;
	int root;
	pl_dims shape; /* of the target; where it is blocks, of one of them, or the most of one */
	enum coll_input input;
	enum coll_cells cells;
	enum coll_wrong wrong;
	int64_t offset; /* of the target in its buffer, elements */
	uint64_t seed;	/* of data and counts */
	uint64_t shake; /* of delays */
	bool settle; /* look at the cells after it: two barriers that hide what comes too early */
	bool wide_counts; /* INT64 */
};

/* The target's first extent is blocks of rows, one a member. */
static inline bool coll_has_blocks(enum coll_kind kind)
{
	return kind == COLL_REDUCE_SCATTER || kind == COLL_ALLGATHER || kind == COLL_GATHER ||
	       kind == COLL_ALL_TO_ALL || kind == COLL_ALL_TO_ALL_V || kind == COLL_ALLGATHER_V;
}

/* Elements of a row of the target: all its extents but the first. */
int64_t coll_row_elems(const struct coll_case *c);

/*
 * Rows, as the call that `from` makes says it: what it sends to `to` (all_to_all_v), what it sends
 * at all (allgather_v), what it gets (reduce_scatter_v).  coll_moved: what really moves.
 */
int64_t coll_rows(const struct coll_case *c, int p, int from, int to);
int64_t coll_moved(const struct coll_case *c, int p, int from, int to);

/* The first extent of the target. */
int64_t coll_extent(const struct coll_case *c, int p);

/* Who gives wrong counts: a member, towards another. */
int coll_wrong_member(const struct coll_case *c, int p);

/* Elements [first, first + n) of what a member contributes. */
void coll_give(const struct coll_case *c, int member, int64_t first, int64_t n, void *out);

/* What stands in a member's target before the call, where nothing of its own does. */
void coll_junk(const struct coll_case *c, int member, int64_t n, void *out);

/*
 * The own slice of the target after the call of `me`: on entry what was there before it, junk or
 * the contribution.  *first, *n: the elements that the call specifies.
 */
void coll_wanted(const struct coll_case *c, int p, int me, void *slice, int64_t *first, int64_t *n);

/* "allreduce FP32 PLD_SUM .." */
const char *coll_text(const struct coll_case *c, int p, int me, char *to, size_t bytes);

#endif
