/* put_get.c - put and get: chunks, zero extents, oneself, fused notifies, any source. */
#include "config.h"

#include "multi.h"

#define CELL PL_AT(0)

static pld_tensor one_cell(void)
{
	return pld_new_window(PL_SHAPE(1), PL_INT32);
}

/* Element k of rank r's data. */
static int32_t value(int r, int64_t k)
{
	return (int32_t)(1000003 * (r + 1) + k);
}

/* A local tensor with the rank's data, and memory for it. */
static pl_tensor filled(const struct multi *m, int32_t *memory, const pl_dims *shape)
{
	pl_tensor t = pl_wrap(memory, shape, PL_INT32);

	for (int64_t k = 0; k < pl_count(t); k++)
		memory[k] = value(m->me, k);
	return t;
}

static void expect_from(const struct multi *m, const char *what, const int32_t *got, int64_t count,
			int from)
{
	for (int64_t k = 0; k < count; k++)
		expect_int(m, what, k, got[k], value(from, k));
}

/* ---- chunks ---------------------------------------------------------------------------------- */

enum { MOST = 4096 };

static const struct {
	const char *name;
	pl_dims shape;
	int rows, cols;
} grids[] = {
	{ "whole", { 2, { 8, 64 } }, 0, 0 },
	{ "4 by 2", { 2, { 8, 64 } }, 2, 32 },
	{ "rows alone", { 2, { 8, 64 } }, 3, 0 },
	{ "columns alone", { 2, { 8, 64 } }, 0, 7 },
	{ "rows do not divide", { 2, { 8, 64 } }, 3, 64 },
	{ "columns do not divide", { 2, { 8, 64 } }, 8, 48 },
	{ "neither divides", { 2, { 7, 61 } }, 3, 25 },
	{ "one element a chunk", { 2, { 5, 9 } }, 1, 1 },
	{ "larger than the extents", { 2, { 8, 64 } }, 100, 1000 },
	{ "a vector", { 1, { 101 } }, 1, 10 },
	{ "leading extents are rows", { 4, { 3, 2, 5, 11 } }, 4, 3 },
	{ "six", { 6, { 2, 3, 1, 2, 2, 5 } }, 5, 2 },
	{ "largest int", { 2, { 3, 5 } }, INT32_MAX, INT32_MAX },
};

/* One put or get with these chunks; dst has been cleared everywhere. */
static void move_in_chunks(const struct multi *m, int i, pld_pipeline pipeline, int pull,
			   pld_tensor dst, pld_tensor src, pl_tensor local)
{
	if (!pull)
		pld_put(dst, multi_next(m), local, .chunk_rows = grids[i].rows,
			.chunk_cols = grids[i].cols, .pipeline = pipeline);
	else
		pld_get(dst, multi_prev(m), src, .chunk_rows = grids[i].rows,
			.chunk_cols = grids[i].cols, .pipeline = pipeline);
}

static void chunks(const struct multi *m)
{
	static int32_t memory[MOST];

	for (int i = 0; i < ROWS(grids); i++) {
		pld_tensor dst = pld_new_window(&grids[i].shape, PL_INT32);
		pld_tensor src = pld_new_window(&grids[i].shape, PL_INT32);
		pl_tensor local = filled(m, memory, &grids[i].shape);
		int pipelines = grids[i].rows && grids[i].cols ? 2 : 1;

		pl_copy(src, local);
		for (int way = 0; way < 2 * pipelines; way++) {
			memset(pld_ptr(dst, m->me), 0, (size_t)pl_count(local) * 4);
			pld_barrier(pld_world());
			move_in_chunks(m, i, (pld_pipeline)(way / 2), way % 2, dst, src, local);
			pld_barrier(pld_world());
			expect_from(m, grids[i].name, pld_ptr(dst, m->me), pl_count(local),
				    multi_prev(m));
		}
		pld_free_window(dst);
		pld_free_window(src);
	}
}

/* ---- nothing to move ------------------------------------------------------------------------- */

static void zero_extents(const struct multi *m)
{
	int32_t memory[64], told = 0;
	pld_tensor w = pld_new_window(PL_SHAPE(4, 8), PL_INT32), s = one_cell();
	pld_tensor none = pld_new_window(PL_SHAPE(4, 0), PL_INT32);
	pl_tensor local = filled(m, memory, PL_SHAPE(4, 8));
	pl_tensor no_memory = pl_wrap(NULL, PL_SHAPE(4, 0), PL_INT32);
	int next = multi_next(m);

	for (int i = 0; i < 2; i++) {
		const pl_dims shape = *PL_SHAPE(i ? 0 : 4, i ? 8 : 0);

		expect_status(m, "put of a box",
			      pld_put(w, next, local, .dst_offsets = PL_AT(0, 0),
				      .src_offsets = PL_AT(0, 0), .shape = &shape),
			      PL_OK);
		expect_status(m, "put at the end",
			      pld_put(w, next, local, .signal = s, .dst_offsets = PL_AT(4, 8),
				      .src_offsets = PL_AT(4, 8), .shape = PL_SHAPE(0, 0),
				      .signal_at = CELL),
			      PL_OK);
		expect_status(m, "put in chunks",
			      pld_put(w, next, local, .dst_offsets = PL_AT(0, 0),
				      .src_offsets = PL_AT(0, 0), .shape = &shape, .chunk_rows = 2,
				      .chunk_cols = 3, .pipeline = PLD_PIPELINE_ON),
			      PL_OK);
		expect_status(m, "get",
			      pld_get(local, next, w, .dst_offsets = PL_AT(0, 0),
				      .src_offsets = PL_AT(0, 0), .shape = &shape),
			      PL_OK);
		told++;
	}
	expect_status(m, "put of an empty tensor",
		      pld_put(none, next, no_memory, .signal = s, .signal_at = CELL), PL_OK);
	expect_status(m, "get of one", pld_get(no_memory, next, none), PL_OK);
	pld_wait(s, CELL, told + 1, PLD_WAIT_GE);
	pld_barrier(pld_world());
	expect_int(m, "notifies", 0, pl_read_int(s, CELL), told + 1);
	expect_filled(m, "window", pld_ptr(w, m->me), 0, 128);
	expect_from(m, "local tensor", memory, 32, m->me);
	pld_free_window(none);
	pld_free_window(s);
	pld_free_window(w);
}

/* ---- oneself --------------------------------------------------------------------------------- */

/* Every call with peer == me, beside ranks that do the same. */
static void oneself(const struct multi *m)
{
	int32_t memory[24], back[24] = { 0 };
	pld_tensor w = pld_new_window(PL_SHAPE(2, 12), PL_INT32), s = one_cell();
	pl_tensor local = filled(m, memory, PL_SHAPE(2, 12));
	pl_tensor to = pl_wrap(back, PL_SHAPE(2, 12), PL_INT32);
	const int32_t *own = pld_ptr(w, m->me);

	expect_true(m, "pld_ptr of oneself is the own slice",
		    pld_ptr(w, m->me) == pl_data(pld_local(w)));
	pld_put(w, m->me, local, .signal = s, .signal_at = CELL);
	pld_wait(s, CELL, 1, PLD_WAIT_EQ);
	expect_from(m, "put", own, 24, m->me);
	pld_get(to, m->me, w);
	expect_from(m, "get", back, 24, m->me);
	pld_put(w, m->me, local, .atomic = PLD_ATOMIC_ADD);
	for (int k = 0; k < 24; k++)
		expect_int(m, "atomic put", k, own[k], 2 * value(m->me, k));
	PL_SCOPE {
		pl_tile t = pld_remote_load(w, m->me, PL_AT(1, 0), PL_SHAPE(1, 12));

		pld_remote_store(t, w, m->me, PL_AT(0, 0));
		pld_remote_store(t, w, m->me, PL_AT(0, 0), .atomic = PLD_ATOMIC_ADD);
	}
	for (int k = 0; k < 24; k++)
		expect_int(m, "remote_store", k, own[k],
			   k < 12 ? 4 * value(m->me, k + 12) : 2 * value(m->me, k));
	/* one row of a window into another row of the same one */
	pld_put(w, m->me, w, .dst_offsets = PL_AT(1, 0), .src_offsets = PL_AT(0, 0),
		.shape = PL_SHAPE(1, 12));
	expect_bytes(m, "row to row", own + 12, own, 12 * sizeof(int32_t));
	pld_barrier(pld_world());
	pld_free_window(s);
	pld_free_window(w);
}

/* ---- fused notifies -------------------------------------------------------------------------- */

static const struct {
	const char *name;
	int32_t before, value;
	pld_notify_op op;
	int32_t wanted;
} fused[] = {
	{ "0 means 1", 0, 0, PLD_NOTIFY_ADD, 1 },
	{ "add", 0, 3, PLD_NOTIFY_ADD, 3 },
	{ "add to what is there", 10, 3, PLD_NOTIFY_ADD, 13 },
	{ "negative", 10, -3, PLD_NOTIFY_ADD, 7 },
	{ "set", 10, 3, PLD_NOTIFY_SET, 3 },
	{ "set, 0 means 1", 10, 0, PLD_NOTIFY_SET, 1 },
	{ "set negative", 10, INT32_MIN, PLD_NOTIFY_SET, INT32_MIN },
};

static void fused_values(const struct multi *m)
{
	pld_tensor w = pld_new_window(PL_SHAPE(16), PL_INT32);
	pld_tensor s = pld_new_window(PL_SHAPE(2, 3), PL_INT32);
	int32_t memory[16], *cells = pld_ptr(s, m->me);
	pl_tensor local = filled(m, memory, PL_SHAPE(16));

	for (int i = 0; i < ROWS(fused); i++) {
		for (int c = 0; c < 6; c++)
			cells[c] = fused[i].before;
		pld_barrier(pld_world());
		pld_put(w, multi_next(m), local, .signal = s, .signal_at = PL_AT(1, 1),
			.signal_value = fused[i].value, .signal_op = fused[i].op);
		pld_wait(s, PL_AT(1, 1), fused[i].wanted, PLD_WAIT_EQ);
		expect_from(m, fused[i].name, pld_ptr(w, m->me), 16, multi_prev(m));
		for (int c = 0; c < 6; c++)
			expect_int(m, fused[i].name, c, cells[c],
				   c == 4 ? fused[i].wanted : fused[i].before);
		pld_barrier(pld_world());
	}
	pld_free_window(s);
	pld_free_window(w);
}

/* The notify is the last of a put: who waits for it finds all of a long, chunked, strided box. */
static void fused_order(const struct multi *m)
{
	enum { EDGE = 150, CALLS = 40 };
	pld_tensor w = pld_new_window(PL_SHAPE(EDGE, EDGE), PL_INT32);
	pld_tensor full = one_cell(), empty = one_cell();
	static int32_t memory[EDGE][EDGE + 5];
	pl_tensor all = pl_wrap(memory, PL_SHAPE(EDGE, EDGE + 5), PL_INT32);
	const int32_t *own = pld_ptr(w, m->me);

	for (int k = 1; k <= CALLS; k++) {
		for (int i = 0; i < EDGE; i++)
			for (int j = 0; j < EDGE; j++)
				memory[i][j + 3] = value(m->me, k * EDGE * EDGE + i * EDGE + j);
		pld_put(w, multi_next(m), all, .dst_offsets = PL_AT(0, 0),
			.src_offsets = PL_AT(0, 3), .shape = PL_SHAPE(EDGE, EDGE),
			.chunk_rows = k % 2 ? 0 : 11, .chunk_cols = k % 3 ? 0 : 17, .signal = full,
			.signal_at = CELL);
		pld_wait(full, CELL, k, PLD_WAIT_GE);
		for (int64_t i = EDGE * EDGE - 1; i >= 0; i--) /* the last of it first */
			expect_int(m, "element", i, own[i],
				   value(multi_prev(m), k * EDGE * EDGE + i));
		pld_notify(empty, multi_prev(m), CELL, 1, PLD_NOTIFY_ADD);
		pld_wait(empty, CELL, k, PLD_WAIT_GE);
	}
	pld_free_window(empty);
	pld_free_window(full);
	pld_free_window(w);
}

/* ---- sources and destinations ---------------------------------------------------------------- */

enum { FROM_STACK, FROM_HOST, FROM_WINDOW, FROM_PART, FROM_SEVEN, SOURCES };
static const char *const source_names[] = { "stack", "host tensor", "own slice of a window",
					    "slice of a slice", "t[i] of 7 dimensions" };

/* The same 6 x 10 elements from everywhere: t[i][j] = value(me, 10 i + j). */
static pl_tensor source(int kind, int32_t *memory, pl_tensor shared, pld_tensor own, int me)
{
	pl_tensor plain = pl_wrap(memory, PL_SHAPE(6, 10), PL_INT32), t;
	static int32_t space[2][9][14];

	switch (kind) {
	case FROM_HOST:
		t = pl_at(shared, me);
		break;
	case FROM_WINDOW:
		t = pld_local(own);
		break;
	case FROM_PART:
		t = pl_wrap(space, PL_SHAPE(2, 9, 14), PL_INT32);
		t = pl_slice(pl_at(t, 1), PL_AT(1, 1), PL_SHAPE(7, 12));
		t = pl_slice(pl_slice(t, PL_AT(0, 1), PL_SHAPE(7, 11)), PL_AT(1, 1),
			     PL_SHAPE(6, 10));
		break;
	case FROM_SEVEN:
		t = pl_wrap(space, PL_SHAPE(2, 1, 1, 2, 1, 6, 10), PL_INT32);
		t = pl_at(pl_at(pl_at(pl_at(pl_at(t, 1), 0), 0), 1), 0);
		break;
	default:
		return plain;
	}
	pl_copy(t, plain);
	return t;
}

static void sources(const struct multi *m)
{
	int32_t memory[60], back[60];
	pl_tensor shared = pld_host_tensor(PL_SHAPE(m->n, 6, 10), PL_INT32);
	pl_tensor to = pl_wrap(back, PL_SHAPE(6, 10), PL_INT32);
	pld_tensor own = pld_new_window(PL_SHAPE(6, 10), PL_INT32);
	pld_tensor w = pld_new_window(PL_SHAPE(6, 10), PL_INT32);

	filled(m, memory, PL_SHAPE(6, 10));
	for (int kind = 0; kind < SOURCES; kind++) {
		pl_tensor t = source(kind, memory, shared, own, m->me);

		pld_barrier(pld_world());
		pld_put(w, multi_next(m), t);
		pld_barrier(pld_world());
		expect_from(m, source_names[kind], pld_ptr(w, m->me), 60, multi_prev(m));
		/* the same memory as a destination: what the next rank has is mine */
		pl_copy(t, pl_wrap((int32_t[60]){ 0 }, PL_SHAPE(6, 10), PL_INT32));
		pld_get(t, multi_next(m), w);
		pl_copy(to, t);
		expect_from(m, source_names[kind], back, 60, m->me);
	}
	pld_barrier(pld_world());
	pld_free_window(w);
	pld_free_window(own);
	pld_host_free(shared);
}

/* All ranks' slices as one source, forwards and in a domain of reversed order, into one window. */
static void peers_as_source(const struct multi *m)
{
	int *reversed = calloc((size_t)m->n, sizeof(*reversed));
	pld_ctx back;
	pld_tensor w, all;

	for (int r = 0; r < m->n; r++)
		reversed[r] = m->n - 1 - r;
	back = pld_domain_subset(pld_world(), reversed, m->n);
	w = pld_new_window(PL_SHAPE(10), PL_INT32, .domain = back);
	all = pld_new_window(PL_SHAPE(m->n, 10), PL_INT32, .domain = back);
	expect_int(m, "rank in the reversed domain", 0, pld_rank(back), m->n - 1 - m->me);
	for (int k = 0; k < 10; k++)
		pl_write(w, PL_AT(k), value(m->me, k));
	pld_barrier(back);
	pld_put(all, (pld_rank(back) + 1) % m->n, pld_all(w), .chunk_rows = 2, .chunk_cols = 3);
	pld_barrier(back);
	for (int r = 0; r < m->n; r++)
		expect_from(m, "row of the rank before",
			    (int32_t *)pld_ptr(all, pld_rank(back)) + 10 * r, 10, m->n - 1 - r);
	pld_barrier(back);
	pld_free_window(all);
	pld_free_window(w);
	pld_domain_free(back);
	free(reversed);
}

/* Views of the window side: a box of it, a row of it, a column; nothing beside them changes. */
static void parts_of_windows(const struct multi *m)
{
	pld_tensor w = pld_new_window(PL_SHAPE(3, 6, 10), PL_INT32);
	pld_tensor box = pl_slice(pl_at(w, 1), PL_AT(1, 2), PL_SHAPE(4, 7));
	pld_tensor column = pl_slice(box, PL_AT(0, 6), PL_SHAPE(4, 1));
	int32_t memory[64], back[4];
	int32_t wanted[180] = { 0 };
	int from = multi_prev(m);

	filled(m, memory, PL_SHAPE(64));
	pld_put(box, multi_next(m), pl_wrap(memory, PL_SHAPE(4, 7), PL_INT32));
	pld_put(pl_at(pl_at(w, 2), 5), multi_next(m), pl_wrap(memory + 28, PL_SHAPE(10), PL_INT32));
	pld_barrier(pld_world());
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 7; j++)
			wanted[60 + (1 + i) * 10 + 2 + j] = value(from, i * 7 + j);
	for (int j = 0; j < 10; j++)
		wanted[120 + 50 + j] = value(from, 28 + j);
	expect_bytes(m, "window", pld_ptr(w, m->me), wanted, sizeof(wanted));
	pld_get(pl_wrap(back, PL_SHAPE(4, 1), PL_INT32), multi_next(m), column);
	for (int i = 0; i < 4; i++)
		expect_int(m, "column", i, back[i], value(m->me, i * 7 + 6));
	pld_barrier(pld_world());
	pld_free_window(w);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "chunks", chunks, 0 },
		{ "zero extents", zero_extents, 0 },
		{ "oneself", oneself, 0 },
		{ "fused: values", fused_values, 0 },
		{ "fused: order", fused_order, 0 },
		{ "sources", sources, 0 },
		{ "peers as source", peers_as_source, 0 },
		{ "parts of windows", parts_of_windows, 0 },
	};

	return multi_run("put_get", cases, ROWS(cases));
}
