/* pld/rma.h - moving data to and from a peer's slice. */
#ifndef PLD_RMA_H
#define PLD_RMA_H

#include <pld/signal.h>

PL_BEGIN_DECLS

/*
 * All of these are done when they return: the source may be reused, the destination is filled.
 * None tells the peer: notify it, or pass .signal to pld_put.  peer is a rank of the window's
 * domain and may be the caller.  Boxes are checked against both tensors before a byte moves.
 */

typedef enum pld_pipeline { PLD_PIPELINE_AUTO = 0, PLD_PIPELINE_ON = 1 } pld_pipeline;
typedef enum pld_atomic { PLD_ATOMIC_NONE = 0, PLD_ATOMIC_ADD = 1 } pld_atomic;

/*
 * pld_remote_load - region [at, at + shape) of peer's slice as a new tile of that shape.
 * valid_shape (option): read only so much of it; the tile's valid part is then the intersection
 * of the region's, valid_shape's and the slice's extents, the rest of the tile is zero, and no
 * byte outside the valid part is read.  Without it the region must lie inside the slice.
 */
PL_API pl_tile (pld_remote_load)(pld_tensor t, int peer, const pl_dims *at, const pl_dims *shape,
				 const pl_dims *valid_shape, const char *where);

/*
 * pld_remote_store - the tile's valid part into peer's slice at `at`; same dtype and number of
 * dimensions.  atomic (option): PLD_ATOMIC_ADD adds to what is there, atomically per element,
 * every dtype (integers wrap).
 */
PL_API pl_status (pld_remote_store)(pl_tile tile, pld_tensor t, int peer, const pl_dims *at,
				    pld_atomic atomic, const char *where);

struct pld_put_opts {
	size_t size_ PL_OPTS_SIZE_(struct pld_put_opts);
	const pl_dims *dst_offsets, *src_offsets, *shape; /* all three or none */
	pld_atomic atomic;
	int chunk_rows, chunk_cols; /* >= 0, 0: all; copy in blocks of this size; same result */
	pld_pipeline pipeline;	    /* ON needs both chunks; same result */
	pld_tensor signal;	    /* then notify peer's cell signal_at, after the data */
	const pl_dims *signal_at;
	int32_t signal_value; /* 0 means 1 */
	pld_notify_op signal_op;
};

/*
 * pld_put - local src (a tensor, or the own slice of a window) into peer's slice of dst.
 * Same dtype and number of dimensions; whole tensors of equal shape, or the box `shape` at
 * src_offsets to dst_offsets, inside both.  A zero extent moves nothing (and still signals).
 * .atomic = PLD_ATOMIC_ADD adds, atomically per element.  .signal must be a window of dst's
 * domain.  With peer == me the regions must not overlap (PL_EINVAL).
 */
PL_API pl_status (pld_put)(pld_tensor dst, int peer, pl_tensor src, const struct pld_put_opts *o,
			   const char *where);

struct pld_get_opts {
	size_t size_ PL_OPTS_SIZE_(struct pld_get_opts);
	const pl_dims *dst_offsets, *src_offsets, *shape;
	int chunk_rows, chunk_cols;
	pld_pipeline pipeline;
};

/*
 * pld_get - peer's slice of src into local dst (a tensor, or the own slice of a window).  Rules as
 * pld_put.  The peer must have written, and the caller have waited for, what it reads.
 */
PL_API pl_status (pld_get)(pl_tensor dst, int peer, pld_tensor src, const struct pld_get_opts *o,
			   const char *where);

/* ---- one element, atomically ----------------------------------------------------------------- */

/*
 * pld_fetch_add, _and, _or, _xor, pld_swap, pld_compare_swap - change the element `at` of peer's
 * slice in one step that no other access of the same element comes between, and return what it was.
 *
 *   t      window of any integer dtype; peer: a rank of its domain, may be the caller
 *   value  what is added (wrapping), combined bit by bit, or stored; compare_swap stores it only if
 *          the element is `expected`.  Both must fit the dtype's bits, as a signed or an unsigned
 *          number: -1 is all ones.
 *
 * Atomic to each other, to pld_notify, and to PLD_ATOMIC_ADD, on any rank.  Sequentially
 * consistent: all ranks see all of them in one order; as release and acquire they order the
 * caller's other accesses like a notify and a wait.  A rank that waits for the element (INT32: a
 * cell) wakes as by a notify.  After an error: 0, and pl_last_error() tells.  A UINT64 comes back
 * as the INT64 of the same bits.
 */
PL_API int64_t (pld_fetch_add)(pld_tensor t, int peer, const pl_dims *at, int64_t value,
			       const char *where);
PL_API int64_t (pld_fetch_and)(pld_tensor t, int peer, const pl_dims *at, int64_t value,
			       const char *where);
PL_API int64_t (pld_fetch_or)(pld_tensor t, int peer, const pl_dims *at, int64_t value,
			      const char *where);
PL_API int64_t (pld_fetch_xor)(pld_tensor t, int peer, const pl_dims *at, int64_t value,
			       const char *where);
PL_API int64_t (pld_swap)(pld_tensor t, int peer, const pl_dims *at, int64_t value,
			  const char *where);
PL_API int64_t (pld_compare_swap)(pld_tensor t, int peer, const pl_dims *at, int64_t expected,
				  int64_t value, const char *where);
#define pld_fetch_add(t, peer, at, value) (pld_fetch_add)((t), (peer), (at), (value), PL_WHERE)
#define pld_fetch_and(t, peer, at, value) (pld_fetch_and)((t), (peer), (at), (value), PL_WHERE)
#define pld_fetch_or(t, peer, at, value) (pld_fetch_or)((t), (peer), (at), (value), PL_WHERE)
#define pld_fetch_xor(t, peer, at, value) (pld_fetch_xor)((t), (peer), (at), (value), PL_WHERE)
#define pld_swap(t, peer, at, value) (pld_swap)((t), (peer), (at), (value), PL_WHERE)
#define pld_compare_swap(t, peer, at, expected, value)                                             \
	(pld_compare_swap)((t), (peer), (at), (expected), (value), PL_WHERE)

PL_END_DECLS

#ifndef __cplusplus
#define PLD_REMOTE_LOAD_PLAIN_(t, peer, at, shape)                                                 \
	(pld_remote_load)((t), (peer), (at), (shape), NULL, PL_WHERE)
#define PLD_REMOTE_LOAD_OPTS_(t, peer, at, shape, ...)                                             \
	(pld_remote_load)((t), (peer), (at), (shape),                                              \
			  (struct pl_load_opts){ __VA_ARGS__ }.valid_shape, PL_WHERE)
#define pld_remote_load(...) PL_CAT_(PLD_REMOTE_LOAD, PL_PICK4_(__VA_ARGS__))(__VA_ARGS__)

struct pld_remote_store_opts {
	pld_atomic atomic;
};
#define PLD_REMOTE_STORE_PLAIN_(tile, t, peer, at)                                                 \
	(pld_remote_store)((tile), (t), (peer), (at), PLD_ATOMIC_NONE, PL_WHERE)
#define PLD_REMOTE_STORE_OPTS_(tile, t, peer, at, ...)                                             \
	(pld_remote_store)((tile), (t), (peer), (at),                                              \
			   (struct pld_remote_store_opts){ __VA_ARGS__ }.atomic, PL_WHERE)
#define pld_remote_store(...) PL_CAT_(PLD_REMOTE_STORE, PL_PICK4_(__VA_ARGS__))(__VA_ARGS__)

#define PLD_PUT_PLAIN_(dst, peer, src) (pld_put)((dst), (peer), PL_LOCAL_(src), NULL, PL_WHERE)
#define PLD_PUT_OPTS_(dst, peer, src, ...)                                                         \
	(pld_put)((dst), (peer), PL_LOCAL_(src), PLD_OPTS_(pld_put_opts, __VA_ARGS__), PL_WHERE)
#define pld_put(...) PL_CAT_(PLD_PUT, PL_PICK3_(__VA_ARGS__))(__VA_ARGS__)

#define PLD_GET_PLAIN_(dst, peer, src) (pld_get)(PL_LOCAL_(dst), (peer), (src), NULL, PL_WHERE)
#define PLD_GET_OPTS_(dst, peer, src, ...)                                                         \
	(pld_get)(PL_LOCAL_(dst), (peer), (src), PLD_OPTS_(pld_get_opts, __VA_ARGS__), PL_WHERE)
#define pld_get(...) PL_CAT_(PLD_GET, PL_PICK3_(__VA_ARGS__))(__VA_ARGS__)
#endif

#endif
