/* pld/coll.h - collectives. */
#ifndef PLD_COLL_H
#define PLD_COLL_H

#include <pld/signal.h>

PL_BEGIN_DECLS

/*
 * What all collectives have in common.
 *
 * Domain.  Every member of the domain of `target` (barrier: of the signal) makes the call; P is the
 * number of members, me the caller's rank.  Any P >= 1, every dtype, any number of elements, also
 * none.  Operands are packed (row-major without gaps); dtypes of one call are equal.  Windows have
 * 1 to 6 dimensions.  A call returns when the caller may write its operands again and read its
 * result; nothing else has to stand between one collective and the next.
 *
 * Blocks.  Where the target is "P blocks", its first extent is a multiple of P: block r is the
 * r-th P-th of its rows.  A tensor that holds one block has as many elements, in any shape.
 *
 * .input  What this rank contributes, instead of its slice of the target: packed, the dtype and
 *         number of elements of the target.  Either the own slice itself or disjoint from it.
 * .op     PLD_SUM, PLD_PROD, PLD_MAX, PLD_MIN.  Integers wrap.  MAX and MIN do not depend on the
 *         order of operands.  Sums and products of floating dtypes combine in an order that P alone
 *         fixes: ranks ascending; above 16 members ascending inside groups of 16 consecutive ranks,
 *         then the groups ascending.  So the result has the same bits on every rank, run and
 *         machine.  PLD_RING has an order of its own, as fixed: block i is x[i] + (x[i-1] + (..
 *         (x[i+2] + x[i+1]))).  FP16 and BF16 are combined in FP32 and rounded at the end, on the
 *         ring at each hop.
 * .root   A rank of the domain, the same on every member.
 * .signal The cells to synchronise on, instead of the library's own: an INT32 window of the
 *         target's domain.  The cells used are zero before, and zero again when all members have
 *         returned, so one signal serves any sequence of collectives.  P cells: [P], [P, 1],
 *         [P, stride] (member r's cell is (r, 0)) or a packed window of at least P elements.
 *         PLD_TWO_PHASE needs 2 rows of P cells, PLD_RING 2 (P - 1) rows: [rows, P] (member r's
 *         cell of row k is (k, r)), more rows, or a packed window of that many elements.
 *         With .signal a call runs its named schedule: what step 08 to 15 of the tutorials do by
 *         hand, with what makes it repeatable.
 * .mode   PLD_AUTO: the library chooses (with .signal: PLD_MESH).
 *
 * Agreement.  Members compare what they call: operation, dtype, number of elements, op, root, mode,
 * buffer and offset of every window operand, number of the call in the domain.  If they differ, or
 * one leaves out a call, every member gets PL_EMISMATCH with both calls and both source lines.
 * PL_EABORTED when the job ends meanwhile.
 */

typedef enum pld_op { PLD_SUM = 0, PLD_MAX = 1, PLD_MIN = 2, PLD_PROD = 3 } pld_op;
typedef enum pld_mode { PLD_AUTO = 0, PLD_MESH = 1, PLD_TWO_PHASE = 2, PLD_RING = 3 } pld_mode;
typedef enum pld_scan_kind { PLD_INCLUSIVE = 0, PLD_EXCLUSIVE = 1 } pld_scan_kind;

/*
 * pld_barrier - returns when every member has called it; what any of them wrote before, all see
 * after.  Collective over the domain.
 *
 *	pld_barrier(ctx)     on the library's own cells
 *	pld_barrier(signal)  on the caller's: P cells, see .signal above
 *
 * Protocol on cells: each member adds 1 to its cell at every peer, waits for 1 or more in every
 * peer's cell of its own, then takes 1 off each; a subtraction, because a fast peer may already
 * have added its next credit.
 */
PL_API pl_status pld_barrier_signal(pld_tensor signal, const char *where);
PL_API pl_status pld_barrier_domain(pld_ctx domain, const char *where);

struct pld_allreduce_opts {
	size_t size_ PL_OPTS_SIZE_(struct pld_allreduce_opts);
	pld_tensor signal;
	pld_op op;
	pld_mode mode;
	pl_tensor input;
};
/*
 * pld_allreduce - every slice of target becomes the reduction over all slices.  Bytes that a rank
 * moves, B being those of its slice and s(r) those of segment r, elements [r n / P, (r + 1) n / P):
 *
 *	PLD_MESH       reads every peer, 16 KiB at a time:    (P - 1) B
 *	PLD_TWO_PHASE  reduces its segment, gathers the rest: B + (P - 2) s(me)
 *	PLD_RING       segments around the ring, two rounds:  2 B - s(me) - s(me - 1)
 */
PL_API pl_status (pld_allreduce)(pld_tensor target, const struct pld_allreduce_opts *o,
				 const char *where);

struct pld_broadcast_opts {
	size_t size_ PL_OPTS_SIZE_(struct pld_broadcast_opts);
	pld_tensor signal;
	int root;
	pl_tensor input; /* read on root only */
};
/* pld_broadcast - every slice of target becomes root's (default 0), or root's .input. */
PL_API pl_status (pld_broadcast)(pld_tensor target, const struct pld_broadcast_opts *o,
				 const char *where);

struct pld_reduce_opts {
	size_t size_ PL_OPTS_SIZE_(struct pld_reduce_opts);
	pld_tensor signal;
	pld_op op;
	int root;
	pl_tensor input;
};
/*
 * pld_reduce - root's slice of target becomes the reduction over all slices; the others keep what
 * they contributed.
 */
PL_API pl_status (pld_reduce)(pld_tensor target, const struct pld_reduce_opts *o,
			      const char *where);

struct pld_scan_opts {
	size_t size_ PL_OPTS_SIZE_(struct pld_scan_opts);
	pld_tensor signal;
	pld_op op;
	pld_scan_kind kind;
	pl_tensor input;
};
/*
 * pld_scan - the slice of rank r becomes the reduction over the slices of ranks 0 .. r
 * (PLD_INCLUSIVE), or 0 .. r - 1 (PLD_EXCLUSIVE).  An exclusive scan gives rank 0 what changes
 * nothing: 0 (SUM), 1 (PROD), the dtype's lowest number (MAX; floating: minus infinity) or its
 * highest (MIN; floating: infinity).
 */
PL_API pl_status (pld_scan)(pld_tensor target, const struct pld_scan_opts *o, const char *where);

struct pld_reduce_scatter_opts {
	size_t size_ PL_OPTS_SIZE_(struct pld_reduce_scatter_opts);
	pld_tensor signal;
	pld_op op;
	pl_tensor input;
};
/*
 * pld_reduce_scatter - target is P blocks: block me of the own slice becomes the reduction of
 * everyone's block me; the other blocks are unspecified.  Reads (P - 1) blocks.
 */
PL_API pl_status (pld_reduce_scatter)(pld_tensor target, const struct pld_reduce_scatter_opts *o,
				      const char *where);
/*
 * pld_reduce_scatter_v - with blocks of different sizes: counts, P elements of INT32 or INT64, the
 * same on every member, are the rows of each block, one after the other; they sum up to target's
 * first extent.
 */
PL_API pl_status (pld_reduce_scatter_v)(pld_tensor target, pl_tensor counts,
					const struct pld_reduce_scatter_opts *o, const char *where);

struct pld_move_opts { /* allgather, allgather_v, all_to_all, all_to_all_v */
	size_t size_ PL_OPTS_SIZE_(struct pld_move_opts);
	pld_tensor signal;
};
struct pld_rooted_opts { /* gather, scatter */
	size_t size_ PL_OPTS_SIZE_(struct pld_rooted_opts);
	pld_tensor signal;
	int root;
};
/*
 * pld_allgather - local, one block, becomes block me of every member's target (P blocks).  local is
 * exactly block me of the own slice (in place), or disjoint from it.  Writes (P - 1) blocks.
 */
PL_API pl_status (pld_allgather)(pl_tensor local, pld_tensor target,
				 const struct pld_move_opts *o, const char *where);
/*
 * pld_allgather_v - blocks of different sizes: local has any number of rows (its first extent), of
 * as many elements as target's; each member's rows stand after those of the ranks before it in
 * every target, and recv_counts, P INT32 elements of a window, says how many came from each.  Rows
 * of target after the last are left as they were.  local is disjoint from the own slice of target.
 * When the rows of all members are more than target has, every member gets PL_EINVAL and nothing
 * moves but the counts.
 */
PL_API pl_status (pld_allgather_v)(pl_tensor local, pld_tensor target, pld_tensor recv_counts,
				   const struct pld_move_opts *o, const char *where);
/* pld_gather - as pld_allgather, to root's target only. */
PL_API pl_status (pld_gather)(pl_tensor local, pld_tensor target, const struct pld_rooted_opts *o,
			      const char *where);
/*
 * pld_scatter - block r of root's input (P blocks) becomes the slice of target of rank r.  Disjoint
 * from root's slice.  input is not read on other ranks, and may be null there: (pl_tensor){ 0 }.
 */
PL_API pl_status (pld_scatter)(pl_tensor input, pld_tensor target, const struct pld_rooted_opts *o,
			       const char *where);
/*
 * pld_all_to_all - block d of input becomes block me of member d's target; both P blocks, disjoint.
 * Writes (P - 1) blocks.
 */
PL_API pl_status (pld_all_to_all)(pl_tensor input, pld_tensor target,
				  const struct pld_move_opts *o, const char *where);
/*
 * pld_all_to_all_v - blocks of M rows: input and target have P * M rows, send_counts P elements of
 * INT32 or INT64, recv_counts P INT32 elements of a window of target's domain.  The first
 * send_counts[d] rows of block d become the first rows of block me of member d's target, and
 * element me of its recv_counts is their number.  Only those rows move; rows after them are left as
 * they were.  All operands are disjoint.
 *
 * A count above M moves M rows, and the call is PL_EINVAL on the rank that gave it, after all have
 * received: the domain stays in step.  A negative count is PL_EINVAL, and moves and counts as 0.
 */
PL_API pl_status (pld_all_to_all_v)(pl_tensor input, pld_tensor target, pl_tensor send_counts,
				    pld_tensor recv_counts, const struct pld_move_opts *o,
				    const char *where);

PL_END_DECLS

#ifndef __cplusplus
#define pld_barrier(on)                                                                            \
	_Generic((on), pld_tensor: pld_barrier_signal, pld_ctx: pld_barrier_domain)((on), PL_WHERE)

/* (f)(arguments, NULL or options, where): the target alone, with one local operand, .. */
#define PLD_COLL1_PLAIN_(f, tag, t) (f)((t), NULL, PL_WHERE)
#define PLD_COLL1_OPTS_(f, tag, t, ...) (f)((t), PLD_OPTS_(tag, __VA_ARGS__), PL_WHERE)
#define PLD_COLL2_PLAIN_(f, tag, x, t) (f)(PL_LOCAL_(x), (t), NULL, PL_WHERE)
#define PLD_COLL2_OPTS_(f, tag, x, t, ...)                                                         \
	(f)(PL_LOCAL_(x), (t), PLD_OPTS_(tag, __VA_ARGS__), PL_WHERE)
/* .. with one after the target, .. */
#define PLD_COLL_COUNTS_PLAIN_(f, tag, t, c) (f)((t), PL_LOCAL_(c), NULL, PL_WHERE)
#define PLD_COLL_COUNTS_OPTS_(f, tag, t, c, ...)                                                   \
	(f)((t), PL_LOCAL_(c), PLD_OPTS_(tag, __VA_ARGS__), PL_WHERE)
/* .. and those that fill recv_counts */
#define PLD_COLL3_PLAIN_(f, tag, x, t, r) (f)(PL_LOCAL_(x), (t), (r), NULL, PL_WHERE)
#define PLD_COLL3_OPTS_(f, tag, x, t, r, ...)                                                      \
	(f)(PL_LOCAL_(x), (t), (r), PLD_OPTS_(tag, __VA_ARGS__), PL_WHERE)
#define PLD_COLL4_PLAIN_(f, tag, x, t, s, r)                                                       \
	(f)(PL_LOCAL_(x), (t), PL_LOCAL_(s), (r), NULL, PL_WHERE)
#define PLD_COLL4_OPTS_(f, tag, x, t, s, r, ...)                                                   \
	(f)(PL_LOCAL_(x), (t), PL_LOCAL_(s), (r), PLD_OPTS_(tag, __VA_ARGS__), PL_WHERE)

#define pld_allreduce(...)                                                                         \
	PL_CAT_(PLD_COLL1, PL_PICK1_(__VA_ARGS__))(pld_allreduce, pld_allreduce_opts, __VA_ARGS__)
#define pld_broadcast(...)                                                                         \
	PL_CAT_(PLD_COLL1, PL_PICK1_(__VA_ARGS__))(pld_broadcast, pld_broadcast_opts, __VA_ARGS__)
#define pld_reduce(...)                                                                            \
	PL_CAT_(PLD_COLL1, PL_PICK1_(__VA_ARGS__))(pld_reduce, pld_reduce_opts, __VA_ARGS__)
#define pld_scan(...)                                                                              \
	PL_CAT_(PLD_COLL1, PL_PICK1_(__VA_ARGS__))(pld_scan, pld_scan_opts, __VA_ARGS__)
#define pld_reduce_scatter(...)                                                                    \
	PL_CAT_(PLD_COLL1, PL_PICK1_(__VA_ARGS__))(pld_reduce_scatter, pld_reduce_scatter_opts,    \
						   __VA_ARGS__)
#define pld_reduce_scatter_v(...)                                                                  \
	PL_CAT_(PLD_COLL_COUNTS, PL_PICK2_(__VA_ARGS__))(pld_reduce_scatter_v,                     \
							 pld_reduce_scatter_opts, __VA_ARGS__)
#define pld_allgather(...)                                                                         \
	PL_CAT_(PLD_COLL2, PL_PICK2_(__VA_ARGS__))(pld_allgather, pld_move_opts, __VA_ARGS__)
#define pld_allgather_v(...)                                                                       \
	PL_CAT_(PLD_COLL3, PL_PICK3_(__VA_ARGS__))(pld_allgather_v, pld_move_opts, __VA_ARGS__)
#define pld_gather(...)                                                                            \
	PL_CAT_(PLD_COLL2, PL_PICK2_(__VA_ARGS__))(pld_gather, pld_rooted_opts, __VA_ARGS__)
#define pld_scatter(...)                                                                           \
	PL_CAT_(PLD_COLL2, PL_PICK2_(__VA_ARGS__))(pld_scatter, pld_rooted_opts, __VA_ARGS__)
#define pld_all_to_all(...)                                                                        \
	PL_CAT_(PLD_COLL2, PL_PICK2_(__VA_ARGS__))(pld_all_to_all, pld_move_opts, __VA_ARGS__)
#define pld_all_to_all_v(...)                                                                      \
	PL_CAT_(PLD_COLL4, PL_PICK4_(__VA_ARGS__))(pld_all_to_all_v, pld_move_opts, __VA_ARGS__)
#endif

#endif
