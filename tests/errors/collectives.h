/* collectives.h - every collective as a row, what its calls are made of, and what they refuse. */
#ifndef COLLECTIVES_H
#define COLLECTIVES_H

#include "errors.h"

#define MOST_RANKS 5

/* What a collective takes beside the signal. */
enum takes {
	TARGET = 1, /* all but the barrier */
	OP = 2,
	MODE = 4,
	KIND = 8,
	ROOT = 16,
	INPUT = 32,   /* .input: may be null, may be the own slice */
	LOCAL = 64,   /* a local operand: must be given */
	BLOCKS = 128, /* target is a block a member */
	COUNTS = 256,
	RECEIVED = 512,
};

/* Local operands have as many elements as this. */
enum local_is { OWN_SLICE, ONE_BLOCK, ALL_SLICES };

/* The arguments of a call.  What the collective does not take is not looked at. */
struct args {
	pld_tensor target, signal, received;
	pl_tensor local, counts;
	pld_op op;
	pld_mode mode;
	pld_scan_kind kind;
	int root;
};

struct collective {
	const char *name;
	unsigned takes;
	enum local_is local_is;
	const char *local_name;
	/* makes the call; its place into *where; a NULL: nothing but that */
	int (*call)(const struct args *a, const char **where);
	/* with options that say to have so many bytes, and one behind those that are known */
	int (*sized)(const struct args *a, size_t size, const char *where);
	size_t opts_bytes;
};

/* ---- calls ----------------------------------------------------------------------------------- */

/*
 * Without arguments only the place.  On one line each: which line a call on two has, compilers
 * disagree about.
 */
#define MADE(status) (*where = PL_WHERE, a ? (int)ERRORS_STATUS(status) : 0)
#define SIGNAL .signal = a->signal
#define CONTRIBUTED .input = a->local

static int barrier(const struct args *a, const char **where)
{
	return MADE(pld_barrier(a->signal));
}

static int allreduce(const struct args *a, const char **where)
{
	return MADE(pld_allreduce(a->target, SIGNAL, .op = a->op, .mode = a->mode, CONTRIBUTED));
}

static int broadcast(const struct args *a, const char **where)
{
	return MADE(pld_broadcast(a->target, SIGNAL, .root = a->root, CONTRIBUTED));
}

static int reduce(const struct args *a, const char **where)
{
	return MADE(pld_reduce(a->target, SIGNAL, .op = a->op, .root = a->root, CONTRIBUTED));
}

static int scan(const struct args *a, const char **where)
{
	return MADE(pld_scan(a->target, SIGNAL, .op = a->op, .kind = a->kind, CONTRIBUTED));
}

static int reduce_scatter(const struct args *a, const char **where)
{
	return MADE(pld_reduce_scatter(a->target, SIGNAL, .op = a->op, CONTRIBUTED));
}

static int reduce_scatter_v(const struct args *a, const char **where)
{
	return MADE(pld_reduce_scatter_v(a->target, a->counts, SIGNAL, .op = a->op, CONTRIBUTED));
}

static int allgather(const struct args *a, const char **where)
{
	return MADE(pld_allgather(a->local, a->target, SIGNAL));
}

static int allgather_v(const struct args *a, const char **where)
{
	return MADE(pld_allgather_v(a->local, a->target, a->received, SIGNAL));
}

static int gather(const struct args *a, const char **where)
{
	return MADE(pld_gather(a->local, a->target, SIGNAL, .root = a->root));
}

static int scatter(const struct args *a, const char **where)
{
	return MADE(pld_scatter(a->local, a->target, SIGNAL, .root = a->root));
}

static int all_to_all(const struct args *a, const char **where)
{
	return MADE(pld_all_to_all(a->local, a->target, SIGNAL));
}

static int all_to_all_v(const struct args *a, const char **where)
{
	return MADE(pld_all_to_all_v(a->local, a->target, a->counts, a->received, SIGNAL));
}

/* ---- the same with options of another size --------------------------------------------------- */

/* As a program that was built with a later pld would have them. */
#define NEWER(tag, bytes)                                                                          \
	struct {                                                                                   \
		struct tag known;                                                                  \
		int64_t unknown;                                                                   \
	} o = { { .size_ = (bytes) }, 9 }

#define SIZED(name, tag, ...)                                                                      \
	static int name##_sized(const struct args *a, size_t size, const char *where)              \
	{                                                                                          \
		NEWER(tag, size);                                                                  \
                                                                                                   \
		return (int)(pld_##name)(__VA_ARGS__, &o.known, where);                            \
	}

SIZED(allreduce, pld_allreduce_opts, a->target)
SIZED(broadcast, pld_broadcast_opts, a->target)
SIZED(reduce, pld_reduce_opts, a->target)
SIZED(scan, pld_scan_opts, a->target)
SIZED(reduce_scatter, pld_reduce_scatter_opts, a->target)
SIZED(reduce_scatter_v, pld_reduce_scatter_opts, a->target, a->counts)
SIZED(allgather, pld_move_opts, a->local, a->target)
SIZED(allgather_v, pld_move_opts, a->local, a->target, a->received)
SIZED(gather, pld_rooted_opts, a->local, a->target)
SIZED(scatter, pld_rooted_opts, a->local, a->target)
SIZED(all_to_all, pld_move_opts, a->local, a->target)
SIZED(all_to_all_v, pld_move_opts, a->local, a->target, a->counts, a->received)

/* ---- rows ------------------------------------------------------------------------------------ */

#define REDUCES (TARGET | OP | INPUT)
#define ROW(name, takes, is, local, opts)                                                          \
	{                                                                                          \
		"pld_" #name, takes, is, local, name, name##_sized, sizeof(struct opts)            \
	}

static const struct collective collectives[] = {
	{ "pld_barrier", 0, OWN_SLICE, "", barrier, NULL, 0 },
	ROW(allreduce, REDUCES | MODE, OWN_SLICE, ".input", pld_allreduce_opts),
	ROW(broadcast, TARGET | INPUT | ROOT, OWN_SLICE, ".input", pld_broadcast_opts),
	ROW(reduce, REDUCES | ROOT, OWN_SLICE, ".input", pld_reduce_opts),
	ROW(scan, REDUCES | KIND, OWN_SLICE, ".input", pld_scan_opts),
	ROW(reduce_scatter, REDUCES | BLOCKS, OWN_SLICE, ".input", pld_reduce_scatter_opts),
	ROW(reduce_scatter_v, REDUCES | COUNTS, OWN_SLICE, ".input", pld_reduce_scatter_opts),
	ROW(allgather, TARGET | LOCAL | BLOCKS, ONE_BLOCK, "local", pld_move_opts),
	ROW(allgather_v, TARGET | LOCAL | RECEIVED, ONE_BLOCK, "local", pld_move_opts),
	ROW(gather, TARGET | LOCAL | BLOCKS | ROOT, ONE_BLOCK, "local", pld_rooted_opts),
	ROW(scatter, TARGET | LOCAL | ROOT, ALL_SLICES, "input", pld_rooted_opts),
	ROW(all_to_all, TARGET | LOCAL | BLOCKS, OWN_SLICE, "input", pld_move_opts),
	ROW(all_to_all_v, TARGET | LOCAL | BLOCKS | COUNTS | RECEIVED, OWN_SLICE, "input",
	    pld_move_opts),
};
enum { ncollectives = sizeof(collectives) / sizeof(collectives[0]) };

/* ---- what they take -------------------------------------------------------------------------- */

/*
 * Windows of a domain: what a call takes.  A block has `rows` rows of `cols` elements; b has room
 * for two targets and a row.
 */
struct coll_stage {
	pld_ctx d;
	int me, n, rows, cols;
	pld_buffer b, sb, cb;
	pld_tensor w;	     /* (n * rows, cols) of INT32, at the beginning of b */
	pld_tensor v;	     /* the same in another buffer */
	pld_tensor sig;	     /* (2 n, n) of INT32, at the beginning of sb: enough for every mode */
	pld_tensor sig_v;    /* the same in another buffer */
	pld_tensor counts;   /* (n) of INT32, at the beginning of cb */
	pld_tensor counts_v; /* the same in another buffer */
	int32_t local[2 * MOST_RANKS * MOST_RANKS * 64];
	int32_t shares[MOST_RANKS + 1]; /* counts of rows */
};

/* Collective over d, which stays the caller's. */
static inline struct coll_stage *coll_stage_new(pld_ctx d, int rows, int cols)
{
	struct coll_stage *s = calloc(1, sizeof(*s));
	int64_t high;

	if (!s)
		abort();
	s->d = d;
	s->me = pld_rank(d);
	s->n = pld_nranks(d);
	s->rows = rows;
	s->cols = cols;
	high = (int64_t)s->n * rows;
	s->b = pld_alloc_window_buffer(.bytes = (2 * high + 1) * cols * 4, .domain = d);
	s->w = pld_window(s->b, PL_SHAPE(high, cols), PL_INT32);
	s->v = pld_new_window(PL_SHAPE(high, cols), PL_INT32, .domain = d);
	s->sb = pld_alloc_window_buffer(.bytes = 8L * s->n * s->n + 16, .domain = d);
	s->sig = pld_window(s->sb, PL_SHAPE(2 * s->n, s->n), PL_INT32);
	s->sig_v = pld_new_window(PL_SHAPE(2 * s->n, s->n), PL_INT32, .domain = d);
	s->cb = pld_alloc_window_buffer(.bytes = 8L * (s->n + 2), .domain = d);
	s->counts = pld_window(s->cb, PL_SHAPE(s->n), PL_INT32);
	s->counts_v = pld_new_window(PL_SHAPE(s->n), PL_INT32, .domain = d);
	for (int i = 0; i < s->n; i++)
		s->shares[i] = rows;
	return s;
}

static inline void coll_stage_free(struct coll_stage *s)
{
	WORKS(pld_free_window_buffer(s->b));
	WORKS(pld_free_window(s->v));
	WORKS(pld_free_window_buffer(s->sb));
	WORKS(pld_free_window(s->sig_v));
	WORKS(pld_free_window_buffer(s->cb));
	WORKS(pld_free_window(s->counts_v));
	free(s);
}

static inline pl_tensor coll_local(struct coll_stage *s, const struct collective *c,
				   pld_tensor target)
{
	pl_tensor t = pld_local(target);
	int64_t rows = pl_dim(t, 0), cols = pl_dim(t, 1);

	if (c->local_is == ONE_BLOCK)
		rows /= s->n;
	else if (c->local_is == ALL_SLICES)
		rows *= s->n;
	return pl_wrap(s->local, PL_SHAPE(rows, cols), pl_dtype_of(t));
}

static inline void coll_set_target(struct coll_stage *s, const struct collective *c, struct args *a,
				   pld_tensor target)
{
	a->target = target;
	if (c->takes & LOCAL || a->local.as_)
		a->local = coll_local(s, c, target);
}

/* A right call on w; with another target, its local operand has to follow. */
static inline struct args coll_args(struct coll_stage *s, const struct collective *c)
{
	struct args a = { .received = s->counts };

	a.counts = pl_wrap(s->shares, PL_SHAPE(s->n), PL_INT32);
	if (c->takes & TARGET)
		coll_set_target(s, c, &a, s->w);
	else
		a.signal = s->sig;
	return a;
}

/* ---- refusals -------------------------------------------------------------------------------- */

#define FILL 77

/*
 * An argument that a collective must refuse.  make() spoils the arguments of a right call, and
 * writes the text of the error.
 */
#define WRONG_TEXT 400
struct wrong {
	const char *name;
	unsigned needs; /* of the collective; 0: any */
	int least;	/* ranks */
	void (*make)(struct coll_stage *s, const struct collective *c, struct args *a, char *text);
};

static inline void fill(pld_tensor t, int me)
{
	int32_t *at = pld_ptr(t, me);

	for (int64_t i = 0; i < pl_count(pld_local(t)); i++)
		at[i] = FILL;
}

static inline int filled(pld_tensor t, int me, int32_t value)
{
	const int32_t *at = pld_ptr(t, me);
	int64_t i = 0;

	while (i < pl_count(pld_local(t)) && at[i] == value)
		i++;
	return i == pl_count(pld_local(t));
}

/* What the slices of w, v and the counts are filled with before, and still must be. */
static inline void coll_fill(struct coll_stage *s)
{
	fill(s->w, s->me);
	fill(s->v, s->me);
	fill(s->counts, s->me);
	fill(s->counts_v, s->me);
	WORKS(pld_barrier(s->d));
}

static inline int coll_untouched(const struct coll_stage *s)
{
	return filled(s->w, s->me, FILL) && filled(s->v, s->me, FILL) &&
	       filled(s->counts, s->me, FILL) && filled(s->counts_v, s->me, FILL) &&
	       filled(s->sig, s->me, 0) && filled(s->sig_v, s->me, 0);
}

static inline void refuse(struct coll_stage *s, const struct wrong *row, const struct collective *c,
			  pld_tensor signal)
{
	struct args a = coll_args(s, c);
	char text[WRONG_TEXT], name[128];
	const char *where;
	int got;

	a.signal = signal;
	row->make(s, c, &a, text);
	errors_begin();
	got = c->call(&a, &where);
	snprintf(name, sizeof(name), "%s, %s, %s signal", c->name, row->name,
		 signal.as_ ? "with a" : "no");
	errors_fails(got, name, PL_EINVAL, c->name, text, where);
	if (!coll_untouched(s))
		errors_report(name, "nothing touched", got);
}

/*
 * A row with every collective that it fits, without and with a signal: refused on every rank, with
 * PL_EINVAL, and nothing has changed.
 */
static inline void coll_refuse_one(struct coll_stage *s, const struct wrong *row,
				   const struct collective *c)
{
	const pld_tensor none = { NULL, NULL };

	if ((c->takes & row->needs) != row->needs || s->n < row->least)
		return;
	if (c->takes & TARGET)
		refuse(s, row, c, none);
	refuse(s, row, c, s->sig);
}

static inline void coll_refuse(struct coll_stage *s, const struct wrong *rows, int nrows)
{
	for (int i = 0; i < nrows; i++)
		for (int k = 0; k < ncollectives; k++)
			coll_refuse_one(s, &rows[i], &collectives[k]);
}

/* Right calls of all kinds on s: nothing of an error has stayed. */
static inline void coll_works(struct coll_stage *s)
{
	const char *where;

	for (int i = 0; i < ncollectives; i++) {
		struct args a = coll_args(s, &collectives[i]);

		WORKS(collectives[i].call(&a, &where));
		a.signal = s->sig;
		WORKS(collectives[i].call(&a, &where));
	}
	WORKS(pld_barrier(s->d));
	for (int i = 0; i < 2 * s->n; i++)
		for (int k = 0; k < s->n; k++)
			HOLDS(pl_read_int(s->sig, PL_AT(i, k)) == 0);
	WORKS(pld_barrier(s->d));
}

#endif
