/*
 * p2p_scenarios.c - the reference's point-to-point scenarios (PUT-1 to 5, GET-1 and 2, RST-1 to 4,
 * WIN-1 to 3), with levels and dispatches, at any number of ranks.
 *
 * Inputs are ramps: element k of rank r's slice is step * r + k.  GET-1 and 2 tell the rank that
 * reads the caller, which is the next one only among two.
 */
#include "config.h"

#include "multi.h"

struct rig;

/* A scenario: what a device runs, in a second kernel too, and what must come out. */
struct scenario {
	const char *name;
	int64_t rows, cols; /* of a rank's slice, for input and windows */
	int step;
	pl_dtype dtype;
	void (*kernel)(const struct rig *g), (*then)(const struct rig *g);
	double (*wanted)(const struct rig *g, int r, const int64_t *at);
};

struct rig {
	const struct scenario *s;
	pl_dims slice;
	pl_tensor x, y; /* [P, slice], host tensors */
	pld_tensor src, dst, signal;
	int n, me;
};

static int next_of(const struct rig *g)
{
	return (g->me + 1) % g->n;
}

static int prev_of(int r, int n)
{
	return (r + n - 1) % n;
}

static void tell(const struct rig *g, int peer)
{
	pld_notify(g->signal, peer, PL_AT(0, 0), 1, PLD_NOTIFY_ADD);
}

static void wait_told(const struct rig *g, int expected)
{
	pld_wait(g->signal, PL_AT(0, 0), expected, PLD_WAIT_GE);
}

/* ---- put ------------------------------------------------------------------------------------- */

static void ring_put_by(const struct rig *g, int rows, int cols, pld_pipeline pipeline)
{
	pl_copy(g->src, pl_at(g->x, g->me));
	pld_put(g->dst, next_of(g), g->src, .chunk_rows = rows, .chunk_cols = cols,
		.pipeline = pipeline);
	tell(g, next_of(g));
	wait_told(g, 1);
	pl_copy(pl_at(g->y, g->me), g->dst);
}

static void ring_put(const struct rig *g)
{
	ring_put_by(g, 0, 0, PLD_PIPELINE_AUTO);
}

static void pipelined_put(const struct rig *g)
{
	ring_put_by(g, 4, 64, PLD_PIPELINE_ON);
}

static void chunked_put(const struct rig *g)
{
	ring_put_by(g, 2, 32, PLD_PIPELINE_AUTO);
}

/* Everyone, the root too, adds a constant to the root's slice: 10, 32, 54, .. */
static void add_to_root(const struct rig *g)
{
	PL_SCOPE {
		pl_store(pl_full(&g->slice, g->s->dtype, 10 + 22 * g->me), PL_AT(0, 0), g->src);
	}
	pld_put(g->dst, 0, g->src, .atomic = PLD_ATOMIC_ADD);
	tell(g, 0);
	if (g->me == 0) {
		wait_told(g, g->n);
		pl_copy(pl_at(g->y, 0), g->dst);
	}
}

static void put_row(const struct rig *g)
{
	pl_copy(g->src, pl_at(g->x, g->me));
	pld_put(g->dst, next_of(g), g->src, .dst_offsets = PL_AT(1, 0), .src_offsets = PL_AT(0, 0),
		.shape = PL_SHAPE(1, 64));
	tell(g, next_of(g));
	wait_told(g, 1);
	pl_copy(pl_at(g->y, g->me), g->dst);
}

/* ---- get ------------------------------------------------------------------------------------- */

static void ring_get(const struct rig *g)
{
	pl_copy(g->src, pl_at(g->x, g->me));
	tell(g, prev_of(g->me, g->n));
	wait_told(g, 1);
	pld_get(g->dst, next_of(g), g->src);
	pl_copy(pl_at(g->y, g->me), g->dst);
}

static void get_row(const struct rig *g)
{
	pl_copy(g->src, pl_at(g->x, g->me));
	tell(g, prev_of(g->me, g->n));
	wait_told(g, 1);
	pld_get(g->dst, next_of(g), g->src, .dst_offsets = PL_AT(1, 0), .src_offsets = PL_AT(0, 0),
		.shape = PL_SHAPE(1, 64));
	pl_copy(pl_at(g->y, g->me), g->dst);
}

/* ---- remote_store ---------------------------------------------------------------------------- */

static pl_tile input(const struct rig *g, const pl_dims *at, const pl_dims *shape)
{
	return pl_load(pl_at(g->x, g->me), at, shape);
}

static void store_whole(const struct rig *g)
{
	pld_remote_store(input(g, PL_AT(0, 0), &g->slice), g->dst, next_of(g), PL_AT(0, 0));
	tell(g, next_of(g));
	wait_told(g, 1);
	pl_copy(pl_at(g->y, g->me), g->dst);
}

static void store_halves(const struct rig *g)
{
	for (int half = 0; half < 2; half++)
		pld_remote_store(input(g, PL_AT(0, 32 * half), PL_SHAPE(1, 32)), g->dst, next_of(g),
				 PL_AT(0, 32 * half));
	pld_notify(g->signal, next_of(g), PL_AT(0, 0), 1, PLD_NOTIFY_SET);
	wait_told(g, 1);
	pl_copy(pl_at(g->y, g->me), g->dst);
}

static void store_computed(const struct rig *g)
{
	pl_tile x = input(g, PL_AT(0, 0), &g->slice);

	pld_remote_store(pl_add(x, x), g->dst, next_of(g), PL_AT(0, 0));
	tell(g, next_of(g));
	wait_told(g, 1);
	pl_copy(pl_at(g->y, g->me), g->dst);
}

/* Row me of the own input into row me of the next rank's window; a barrier by hand. */
static void push_row(const struct rig *g)
{
	pld_remote_store(input(g, PL_AT(g->me, 0), PL_SHAPE(1, 64)), g->dst, next_of(g),
			 PL_AT(g->me, 0));
	for (int r = 0; r < g->n; r++)
		pld_notify(g->signal, r, PL_AT(g->me, 0), 1, PLD_NOTIFY_ADD);
	for (int r = 0; r < g->n; r++)
		pld_wait(g->signal, PL_AT(r, 0), 1, PLD_WAIT_GE);
}

static void copy_out(const struct rig *g)
{
	pl_copy(pl_at(g->y, g->me), g->dst);
}

/* ---- the own window -------------------------------------------------------------------------- */

static void slice_of_window(const struct rig *g)
{
	pl_tensor y = pl_at(g->y, g->me);

	pl_copy(g->src, pl_at(g->x, g->me));
	pl_copy(pl_slice(y, PL_AT(8, 0), PL_SHAPE(8, 64)),
		pl_slice(g->src, PL_AT(8, 0), PL_SHAPE(8, 64)));
}

static void slice_into_window(const struct rig *g)
{
	pl_tensor x = pl_at(g->x, g->me);

	for (int top = 0; top < 16; top += 8)
		pl_copy(pl_slice(g->dst, PL_AT(top, 0), PL_SHAPE(8, 64)),
			pl_slice(x, PL_AT(top, 0), PL_SHAPE(8, 64)));
	pl_copy(pl_at(g->y, g->me), g->dst);
}

/* y = x + fp32(window), the window being FP16 and half of x. */
static void add_converted(const struct rig *g)
{
	pl_tile x = input(g, PL_AT(0, 0), &g->slice);
	pld_tensor half = g->src;

	pl_store(pl_cast(pl_mul(x, 0.5), PL_FP16), PL_AT(0, 0), half);
	pl_store(pl_add(x, pl_cast(pl_load(half, PL_AT(0, 0), &g->slice), PL_FP32)), PL_AT(0, 0),
		 pl_at(g->y, g->me));
}

/* ---- what must come out ---------------------------------------------------------------------- */

static double input_at(const struct rig *g, int r, const int64_t *at)
{
	return multi_read(g->x, PL_AT(r, at[0], at[1]));
}

static double from_prev(const struct rig *g, int r, const int64_t *at)
{
	return input_at(g, prev_of(r, g->n), at);
}

static double from_next(const struct rig *g, int r, const int64_t *at)
{
	return input_at(g, (r + 1) % g->n, at);
}

static double twice_prev(const struct rig *g, int r, const int64_t *at)
{
	return 2 * from_prev(g, r, at);
}

static double sum_at_root(const struct rig *g, int r, const int64_t *at)
{
	(void)at;
	return r == 0 ? 10 * g->n + 11 * g->n * (g->n - 1) : 0;
}

static double row_0_of_prev(const struct rig *g, int r, const int64_t *at)
{
	return at[0] == 1 ? input_at(g, prev_of(r, g->n), (int64_t[]){ 0, at[1] }) : 0;
}

static double row_0_of_next(const struct rig *g, int r, const int64_t *at)
{
	return at[0] == 1 ? input_at(g, (r + 1) % g->n, (int64_t[]){ 0, at[1] }) : 0;
}

static double row_of_prev(const struct rig *g, int r, const int64_t *at)
{
	int from = prev_of(r, g->n);

	return at[0] == from ? input_at(g, from, at) : 0;
}

static double lower_rows(const struct rig *g, int r, const int64_t *at)
{
	return at[0] >= 8 ? input_at(g, r, at) : 0;
}

static double as_input(const struct rig *g, int r, const int64_t *at)
{
	return input_at(g, r, at);
}

static double one_and_a_half(const struct rig *g, int r, const int64_t *at)
{
	return 1.5 * input_at(g, r, at);
}

/* ---- running them ---------------------------------------------------------------------------- */

enum { RANKS = -1 }; /* as rows: the number of ranks */

static const struct scenario scenarios[] = {
	{ "PUT-1 ring put", 1, 64, 100, PL_FP32, ring_put, NULL, from_prev },
	{ "PUT-2 pipelined", 8, 128, 1000, PL_FP32, pipelined_put, NULL, from_prev },
	{ "PUT-3 chunked", 8, 64, 1000, PL_FP32, chunked_put, NULL, from_prev },
	{ "PUT-4 atomic add", 16, 16, 0, PL_INT32, add_to_root, NULL, sum_at_root },
	{ "PUT-5 a row", 2, 64, 100, PL_FP32, put_row, NULL, row_0_of_prev },
	{ "GET-1 ring get", 1, 64, 100, PL_FP32, ring_get, NULL, from_next },
	{ "GET-2 a row", 2, 64, 100, PL_FP32, get_row, NULL, row_0_of_next },
	{ "RST-1 whole tile", 1, 64, 100, PL_FP32, store_whole, NULL, from_prev },
	{ "RST-2 two halves", 1, 64, 100, PL_FP32, store_halves, NULL, from_prev },
	{ "RST-3 computed", 1, 64, 100, PL_FP32, store_computed, NULL, twice_prev },
	{ "RST-4 second kernel", RANKS, 64, 64, PL_BF16, push_row, copy_out, row_of_prev },
	{ "WIN-1 slice of window", 16, 64, 10000, PL_FP32, slice_of_window, NULL, lower_rows },
	{ "WIN-2 slice into window", 16, 64, 10000, PL_FP32, slice_into_window, NULL, as_input },
	{ "WIN-3 converted", 1, 64, 100, PL_FP32, add_converted, NULL, one_and_a_half },
};

static void device(const struct rig *g)
{
	PLD_INCORE(g->s->kernel(g));
	if (g->s->then)
		PLD_INCORE(g->s->then(g));
}

static void host(struct rig *g)
{
	pl_dtype window = g->s->kernel == add_converted ? PL_FP16 : g->s->dtype;

	g->src = pld_new_window(&g->slice, window);
	g->dst = pld_new_window(&g->slice, window);
	g->signal = pld_new_window(PL_SHAPE(g->n, 1), PL_INT32);
	for (int r = 0; r < g->n; r++)
		PLD_DISPATCH(r, device(g));
}

/* BF16 holds whole numbers up to 256: the ramp goes round there. */
static void fill_input(const struct multi *m, const struct rig *g)
{
	const pl_dims *slice = &g->slice;

	for (int r = 0; m->me == 0 && r < m->n; r++)
		for (int64_t i = 0; i < slice->d[0]; i++)
			for (int64_t k = 0; k < slice->d[1]; k++) {
				int64_t v = g->s->step * r + i * slice->d[1] + k;

				multi_write(g->x, PL_AT(r, i, k),
					    g->s->dtype == PL_BF16 ? (v * 7 + r) % 257 : v);
			}
}

static void run_scenario(const struct multi *m, const struct scenario *s)
{
	int64_t rows = s->rows == RANKS ? m->n : s->rows;
	struct rig g = { .s = s, .slice = { 2, { rows, s->cols } }, .n = m->n, .me = m->me };

	g.x = pld_host_tensor(PL_SHAPE(m->n, rows, s->cols), s->dtype);
	g.y = pld_host_tensor(PL_SHAPE(m->n, rows, s->cols), s->dtype);
	fill_input(m, &g);
	expect_status(m, "PLD_HOST", PLD_HOST(host(&g)), PL_OK);
	for (int r = 0; r < m->n; r++)
		for (int64_t i = 0; i < rows; i++)
			for (int64_t k = 0; k < s->cols; k++)
				expect_float(m, "y", (r * rows + i) * s->cols + k,
					     multi_read(g.y, PL_AT(r, i, k)),
					     s->wanted(&g, r, (int64_t[]){ i, k }));
	pld_host_free(g.x);
	pld_host_free(g.y);
}

static void all_scenarios(const struct multi *m)
{
	for (int i = 0; i < ROWS(scenarios); i++) {
		struct multi row = *m;

		row.row = scenarios[i].name;
		run_scenario(&row, &scenarios[i]);
	}
}

int main(void)
{
	static const struct multi_case cases[] = { { "scenarios", all_scenarios, 0 } };

	return multi_run("p2p_scenarios", cases, ROWS(cases));
}
