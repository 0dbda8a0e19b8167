/* pl/tile.h - tiles: small packed arrays to compute with, freed by the scope they were made in. */
#ifndef PL_TILE_H
#define PL_TILE_H

#include <pl/tensor.h>

PL_BEGIN_DECLS

/*
 * A tile is a value in an arena of the calling thread: operations make new tiles, nothing is freed
 * by hand.  It lives until the scope it was made in ends (the kernel, or PL_SCOPE), and only its
 * thread can use it; use after that, or by another thread, is PL_EINVAL, never old data.
 *
 * Its shape is what was asked for; the valid part, a box at its origin, is what carries data and
 * all that is ever stored.  The rest is zero after pl_load and never leaves the tile.
 *
 * Calls that return a tile return the null one on error: PL_EINVAL; PL_ENOMEM when the arena is
 * full (PLD_ARENA_MB, 1024 MiB of address space a thread; pl_copy moves tensors without it);
 * PL_ELEVEL at host and device level.
 */
struct pl_tile_;
typedef struct pl_tile {
	const struct pl_tile_ *t_;	/* NULL: the null tile */
	uint32_t depth_, scope_;	/* which scope made it */
} pl_tile;

/*
 * pl_load(t, at, shape), pl_load(t, at, shape, .valid_shape = v) - the region [at, at + shape) of
 * t (of the own slice, when t is a view of a window).
 *
 *   at, shape    in  as many dimensions as t; extents >= 0; the region is inside t
 *   valid_shape  in  extents >= 0: read only so much, and no further than t's end; then only `at`
 *                    must be inside t or at its end
 */
PL_API pl_tile (pl_load)(pl_tensor t, const pl_dims *at, const pl_dims *shape,
			 const pl_dims *valid_shape, const char *where);

/*
 * pl_store(tile, at, t) - the tile's valid part into t, its first element at `at`.  Same dtype and
 * number of dimensions; the valid part fits into t.
 */
PL_API pl_status (pl_store)(pl_tile tile, const pl_dims *at, pl_tensor t, const char *where);

/*
 * pl_full - a tile of one value, all of it valid.  Floating dtypes: rounded once.  Integer dtypes:
 * PL_EINVAL unless the value is a whole number in range.
 */
PL_API pl_tile (pl_full)(const pl_dims *shape, pl_dtype dtype, double value, const char *where);

/*
 * pl_add, pl_sub, pl_mul, pl_max, pl_min (a, b) - element by element; b is a tile of a's shape,
 * valid shape and dtype, or a number.
 *
 * Integers wrap.  FP16 and BF16 compute in FP32 and round once, to nearest, ties to even.  pl_max
 * and pl_min do not depend on the order of their operands: if either is a NaN the result is the
 * positive quiet NaN without payload, and +0 is greater than -0.
 *
 * A number is converted to a's dtype first: rounded once for floating dtypes; for integer ones it
 * is PL_EINVAL unless it is a whole number in range.
 */
PL_API pl_tile pl_add_tile(pl_tile a, pl_tile b, const char *where);
PL_API pl_tile pl_sub_tile(pl_tile a, pl_tile b, const char *where);
PL_API pl_tile pl_mul_tile(pl_tile a, pl_tile b, const char *where);
PL_API pl_tile pl_max_tile(pl_tile a, pl_tile b, const char *where);
PL_API pl_tile pl_min_tile(pl_tile a, pl_tile b, const char *where);
PL_API pl_tile pl_add_f(pl_tile a, double b, const char *where);
PL_API pl_tile pl_sub_f(pl_tile a, double b, const char *where);
PL_API pl_tile pl_mul_f(pl_tile a, double b, const char *where);
PL_API pl_tile pl_max_f(pl_tile a, double b, const char *where);
PL_API pl_tile pl_min_f(pl_tile a, double b, const char *where);
PL_API pl_tile pl_add_i(pl_tile a, int64_t b, const char *where);
PL_API pl_tile pl_sub_i(pl_tile a, int64_t b, const char *where);
PL_API pl_tile pl_mul_i(pl_tile a, int64_t b, const char *where);
PL_API pl_tile pl_max_i(pl_tile a, int64_t b, const char *where);
PL_API pl_tile pl_min_i(pl_tile a, int64_t b, const char *where);

/*
 * pl_cast - the same shape and valid part in another dtype.  To floating: rounded once, to
 * nearest, ties to even; a NaN stays one, quiet, with its sign and the payload's upper bits.
 * Floating to integer: towards zero, saturating; NaN gives 0.  Integer to integer: wraps.
 */
PL_API pl_tile (pl_cast)(pl_tile a, pl_dtype dtype, const char *where);

/*
 * pl_assign - dst's elements and valid part become src's: how a result outlives an inner PL_SCOPE.
 * Same shape and dtype.  Copies of the handle dst see it too.
 */
PL_API pl_status (pl_assign)(pl_tile dst, pl_tile src, const char *where);

#define pl_full(shape, dtype, value) (pl_full)((shape), (dtype), (value), PL_WHERE)
#define pl_cast(a, dtype) (pl_cast)((a), (dtype), PL_WHERE)
#define pl_assign(dst, src) (pl_assign)((dst), (src), PL_WHERE)

#ifndef __cplusplus
struct pl_load_opts {
	const pl_dims *valid_shape;
};
#define PL_LOAD_PLAIN_(t, at, shape) (pl_load)(PL_LOCAL_(t), (at), (shape), NULL, PL_WHERE)
#define PL_LOAD_OPTS_(t, at, shape, ...)                                                           \
	(pl_load)(PL_LOCAL_(t), (at), (shape), (struct pl_load_opts){ __VA_ARGS__ }.valid_shape,   \
		  PL_WHERE)
#define pl_load(...) PL_CAT_(PL_LOAD, PL_PICK3_(__VA_ARGS__))(__VA_ARGS__)
#define pl_store(tile, at, t) (pl_store)((tile), (at), PL_LOCAL_(t), PL_WHERE)

#define PL_ARITH_(op, a, b)                                                                        \
	_Generic((b), pl_tile: pl_##op##_tile, float: pl_##op##_f, double: pl_##op##_f,            \
		 long double: pl_##op##_f, default: pl_##op##_i)((a), (b), PL_WHERE)
#define pl_add(a, b) PL_ARITH_(add, a, b)
#define pl_sub(a, b) PL_ARITH_(sub, a, b)
#define pl_mul(a, b) PL_ARITH_(mul, a, b)
#define pl_max(a, b) PL_ARITH_(max, a, b)
#define pl_min(a, b) PL_ARITH_(min, a, b)
#endif

/*
 * PL_SCOPE { ... } - tiles made inside end with it.  Leaving it by break, return or goto is safe:
 * its tiles then end with the enclosing scope.  A kernel (PLD_INCORE) is a scope by itself.
 */
struct pl_mark {
	uint32_t depth, scope;
	size_t top;
	int live;
};
PL_API struct pl_mark pl_scope_enter(const char *where);
PL_API void pl_scope_leave(struct pl_mark *m);

/* Inline, so that the compiler sees that a scope's body runs exactly once. */
static inline struct pl_mark pl_scope_begin_(const char *where)
{
	struct pl_mark m = pl_scope_enter(where);

	m.live = 1;
	return m;
}

static inline void pl_scope_end_(struct pl_mark *m)
{
	pl_scope_leave(m);
	m->live = 0;
}
#define PL_SCOPE                                                                                   \
	for (struct pl_mark PL_CAT_(pl_mark_, __LINE__) = pl_scope_begin_(PL_WHERE);               \
	     PL_CAT_(pl_mark_, __LINE__).live; pl_scope_end_(&PL_CAT_(pl_mark_, __LINE__)))

PL_END_DECLS
#endif
