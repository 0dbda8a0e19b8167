/*
 * pldi_coll.h - what the collectives share: checked operands, ways to meet, loops that reduce.
 *
 * A schedule (modes and the others) is written once, over two ways to synchronise: on the caller's
 * cells, by the credits of sync.c, or on the library's lines (pldi_agree.h).
 *
 *     pldi_coll_begin      the call is posted, with its fingerprint
 *     pldi_coll_barrier    the first compares fingerprints before anything of a peer is touched
 *     ..                   moves, further barriers
 *     pldi_coll_end        cells are taken back to zero
 */
#ifndef PLDI_COLL_H
#define PLDI_COLL_H

#include <pld/coll.h>

#include "pldi_agree.h"
#include "pldi_rma.h"
#include "pldi_signal.h"

/* Bytes that a mode reads of each peer between two barriers, a ring between two handshakes. */
#define PLDI_CHUNK_BYTES 16384

/* Whether a barrier is one of the step that a builtin stands for, or what makes it repeatable. */
enum pldi_part { PLDI_STEP, PLDI_REUSE };

enum { PLDI_BARRIER_ROWS = 2 }; /* rows of cells that pldi_coll_barrier can use */

struct pldi_coll {
	struct pldi_domain *d;
	const char *call, *where;
	struct pldi_call what;

	pld_tensor target;
	pl_dtype dtype;
	int64_t count, elem_bytes; /* of the own slice of target */

	pld_tensor signal;	     /* null: the library's lines */
	int64_t row_step, cell_step; /* of its cells, in elements */
	int64_t cells; /* from the first that the call uses to the last, in elements */
	int32_t credits[PLDI_BARRIER_ROWS]; /* barriers of this call on each row so far */
	bool compared;			    /* fingerprints, with all members */
	bool begun;
};

/* ---- operands (operands.c) ------------------------------------------------------------------- */

/*
 * The target, and the domain that comes with it.  The call's name and place must be set.  Each of
 * these functions: PL_OK, or an error that is born.
 */
pl_status pldi_coll_target(struct pldi_coll *c, pld_tensor target, enum pldi_opcode op);

/* .signal of a mode that needs `rows` rows of a cell a member; a null one: the library's lines. */
pl_status pldi_coll_signal(struct pldi_coll *c, pld_tensor signal, int64_t rows);

pl_status pldi_coll_op(const struct pldi_coll *c, pld_op op);
pl_status pldi_coll_root(const struct pldi_coll *c, int root);

/* The target is P blocks: elements of one. */
pl_status pldi_coll_blocks(const struct pldi_coll *c, int64_t *block);

/*
 * A local operand: packed, of the target's dtype, with `count` elements (-1: any).  `home`: the
 * part of the own slice that it may be, exactly; NULL: it must be disjoint from the whole slice.
 */
pl_status pldi_coll_local(const struct pldi_coll *c, pl_tensor t, int64_t count, const void *home,
			  const char *what);

/* P counts of INT32 or INT64. */
pl_status pldi_coll_counts(const struct pldi_coll *c, pl_tensor counts, const char *what);
int64_t pldi_coll_count(pl_tensor counts, int32_t member);

/* recv_counts: a window of P INT32 of the target's domain; goes into the fingerprint. */
pl_status pldi_coll_received(struct pldi_coll *c, pld_tensor received);

/* Two packed operands share no byte. */
pl_status pldi_coll_apart(const struct pldi_coll *c, pl_tensor a, const char *a_name, pl_tensor b,
			  const char *b_name);

/* ---- meeting (sync.c) ------------------------------------------------------------------------ */

/*
 * What the caller contributes goes into its own slice (a null input: it is there), and the call is
 * posted.  payload may be NULL.
 */
pl_status pldi_coll_begin(struct pldi_coll *c, pl_tensor input,
			  const int64_t payload[PLDI_PAYLOAD]);

/* Returns when every member has come; with cells, to the barrier of this number on this row. */
pl_status pldi_coll_barrier(struct pldi_coll *c, int row, enum pldi_part part);

/*
 * The call is over.  rc: how it went; of an operation that was never begun too.  Returns rc.
 */
pl_status pldi_coll_end(struct pldi_coll *c, pl_status rc);

/* Single cells, for schedules whose members do not all meet: row `row`, cell of `member`. */
void pldi_coll_notify(struct pldi_coll *c, int64_t row, int32_t peer, int32_t member, int32_t add);
pl_status pldi_coll_wait(struct pldi_coll *c, int64_t row, int32_t member, int32_t expected);

/* Whether the payload beside the library's lines can carry the call: no cells, few bytes. */
static inline bool pldi_coll_fits_payload(const struct pldi_coll *c, int64_t bytes)
{
	return !c->signal.as_ && bytes <= (int64_t)sizeof(int64_t[PLDI_PAYLOAD]);
}
/* pldi_coll_begin and its barrier; then pldi_coll_posted is what a member posted. */
pl_status pldi_coll_exchange(struct pldi_coll *c, pl_tensor input, const void *mine, int64_t bytes);
static inline const void *pldi_coll_posted(const struct pldi_coll *c, int32_t member, int64_t bytes)
{
	if (pldi_observed(c->d->self->observe))
		pldi_observe_read(c->d->self->observe, c->d->world_rank[member], bytes);
	return pldi_posted(c->d, member);
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* Elements of a row of the target: all extents but the first. */
static inline int64_t pldi_coll_row(const struct pldi_coll *c)
{
	const struct pl_layout *l = c->target.as_->layout;
	int64_t row = 1;

	for (int i = 1; i < l->ndim; i++)
		row *= l->dim[i];
	return row;
}

/* First element of segment i of n elements in p segments: floor(i n / p). */
static inline int64_t pldi_segment_at(int64_t n, int32_t p, int32_t i)
{
	return n / p * i + n % p * i / p;
}

static inline void *pldi_coll_own(const struct pldi_coll *c, int64_t elem)
{
	return (char *)c->target.at_ + elem * c->elem_bytes;
}

/* Where n elements of a peer's slice are read, or written, from element `elem` on. */
static inline const void *pldi_coll_read(const struct pldi_coll *c, int32_t peer, int64_t elem,
					 int64_t n)
{
	return pldi_peer_move(PLDI_ACT_REMOTE_LOAD, c->target, c->d, peer, elem * c->elem_bytes,
			      n * c->elem_bytes);
}
/* In which order a rank goes through its peers: a step's, or each begins with another one. */
static inline int32_t pldi_coll_turn(const struct pldi_coll *c, int32_t i)
{
	return c->signal.as_ ? i : (c->d->pub.rank + i) % c->d->pub.nranks;
}

static inline void *pldi_coll_write(const struct pldi_coll *c, int32_t peer, int64_t elem,
				    int64_t n)
{
	return pldi_peer_move(PLDI_ACT_PUT, c->target, c->d, peer, elem * c->elem_bytes,
			      n * c->elem_bytes);
}

/* Plain copy; long ones past the caches.  Nothing when both are the same. */
void pldi_coll_copy(void *dst, const void *src, int64_t bytes);

/* ---- reducing (fold.c) ----------------------------------------------------------------------- */

/*
 * dst[k][i] = src[0][i] op src[1][i] op .. , for i < count and every k < ndst, in the order that
 * pld/coll.h promises for n operands.  Aligned; a dst may be a src, else they do not overlap.
 */
void pldi_fold(pl_dtype dtype, pld_op op, const void *const *src, int32_t n, void *const *dst,
	       int32_t ndst, int64_t count);

/*
 * dst[r][i] = src[0][i] op .. op src[r][i] (inclusive), or up to src[r - 1][i], for every r < n;
 * the order is that of a fold.  dst[r] may be src[r].
 */
void pldi_fold_scan(pl_dtype dtype, pld_op op, pld_scan_kind kind, const void *const *src,
		    int32_t n, void *const *dst, int64_t count);

/* out = a op b. */
void pldi_fold_two(pl_dtype dtype, pld_op op, void *out, const void *a, const void *b,
		   int64_t count);

#endif
