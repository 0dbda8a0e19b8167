/*
 * coll_host.c - the reference's collectives at host level (HT-1 to 21): devices publish into
 * windows, the host calls the collective, devices consume.  At any number of ranks; all cells are 0
 * after each.
 *
 * HT-7 and 8 share the work between the lanes of a [P, stride] signal: here lane b of C is a call
 * of its own, on column b and on the b-th part of the data.
 */
#include "config.h"

#include "coll_scene.h"

/* ---- devices --------------------------------------------------------------------------------- */

static void publish(const struct scene *g, int k)
{
	PLD_INCORE(pl_copy(g->a, scene_x(g, k)));
}

static void consume_from(const struct scene *g, pl_tensor result, int k)
{
	PLD_INCORE(pl_copy(scene_y(g, k), result));
}

static void read_next(const struct scene *g, int k)
{
	PLD_INCORE(pld_get(scene_y(g, k), multi_next(g->m), g->a));
}

static void publish_all(const struct scene *g, int k)
{
	for (int r = 0; r < g->n; r++)
		PLD_DISPATCH(r, publish(g, k));
}

static void consume_all(const struct scene *g, pl_tensor result, int k)
{
	for (int r = 0; r < g->n; r++)
		PLD_DISPATCH(r, consume_from(g, result, k));
}

/* ---- HT-1 to 10 ------------------------------------------------------------------------------ */

static void allreduce(struct scene *g)
{
	for (int k = 0; k < scene_rounds(g); k++) {
		publish_all(g, k);
		pld_allreduce(g->a, .signal = g->cells, .op = g->row->op, .mode = g->row->mode);
		consume_all(g, pld_local(g->a), k);
	}
}

/* The row's number is C. */
static void allreduce_by_lanes(struct scene *g)
{
	const int64_t n = g->in_elems, lanes = g->row->number;
	const pld_tensor line = pl_at(g->a, 0);

	for (int k = 0; k < scene_rounds(g); k++) {
		publish_all(g, k);
		for (int64_t b = 0; b < lanes; b++) {
			const int64_t at = b * n / lanes, end = (b + 1) * n / lanes;

			pld_allreduce(pl_slice(line, PL_AT(at), PL_SHAPE(end - at)),
				      .signal = pl_slice(g->cells, PL_AT(0, b), PL_SHAPE(g->n, 1)));
		}
		consume_all(g, pld_local(g->a), k);
	}
}

/* ---- HT-11 to 14 ----------------------------------------------------------------------------- */

/* The second barrier: the next round publishes what the slowest may still read. */
static void barrier(struct scene *g)
{
	for (int k = 0; k < scene_rounds(g); k++) {
		publish_all(g, k);
		pld_barrier(g->cells);
		for (int r = 0; r < g->n; r++)
			PLD_DISPATCH(r, read_next(g, k));
		pld_barrier(g->cells);
	}
}

static void check_no_leak(const struct scene *g, int k)
{
	for (int64_t i = 0; g->me != 0 && i < 64; i++)
		if (multi_read(scene_y(g, k), PL_AT(0, i)) ==
		    multi_read(scene_x(g, k), PL_AT(0, i)))
			multi_fail(g->m, "y [%lld] is the own input", (long long)i);
}

static void broadcast(struct scene *g)
{
	for (int k = 0; k < scene_rounds(g); k++) {
		PLD_DISPATCH(0, publish(g, k));
		pld_broadcast(g->a, .signal = g->cells, .root = 0);
		consume_all(g, pld_local(g->a), k);
		check_no_leak(g, k);
	}
}

/* ---- HT-15 to 20 ----------------------------------------------------------------------------- */

/* Buffers of a round of its own. */
static pld_tensor result_of(const struct scene *g, int k)
{
	return k % 2 ? g->more : g->b;
}

static void allgather(struct scene *g)
{
	for (int k = 0; k < scene_rounds(g); k++) {
		publish_all(g, k);
		pld_allgather(g->a, result_of(g, k), .signal = g->cells);
		consume_all(g, pld_local(result_of(g, k)), k);
	}
}

static void all_to_all(struct scene *g)
{
	for (int k = 0; k < scene_rounds(g); k++) {
		publish_all(g, k);
		pld_all_to_all(g->a, result_of(g, k), .signal = g->cells);
		consume_all(g, pld_local(result_of(g, k)), k);
	}
}

static void reduce_scatter(struct scene *g)
{
	for (int k = 0; k < scene_rounds(g); k++) {
		publish_all(g, k);
		pld_reduce_scatter(g->a, .signal = g->cells);
		consume_all(g, pl_slice(pld_local(g->a), PL_AT(g->me, 0), PL_SHAPE(1, 64)), k);
	}
}

/* ---- HT-21 ----------------------------------------------------------------------------------- */

/* Rank r sends P - d rows to d; a block has 4 rows, or P where those are more. */
static int64_t capacity(const struct scene *g)
{
	return g->n > 4 ? g->n : 4;
}

static double ragged_input(const struct scene *g, int k, int r, int64_t i)
{
	const int64_t row = i / 64, d = row / capacity(g), at = row % capacity(g);

	(void)k;
	return 1000.0 * r + 100.0 * (double)d + 10.0 * (double)at + (double)(i % 64 % 10);
}

static double ragged_wanted(const struct scene *g, int r, int64_t i)
{
	const int64_t row = i / 64, s = row / capacity(g), at = row % capacity(g);

	if (at >= g->n - r)
		return 0; /* y as it was */
	return 1000.0 * (double)s + 100.0 * r + 10.0 * (double)at + (double)(i % 64 % 10);
}

static void fill_counts(const struct scene *g, pld_tensor counts)
{
	for (int d = 0; d < g->n; d++)
		PLD_INCORE(pl_write(counts, PL_AT(d, 0), g->n - d));
}

/* The reader believes recv_counts alone. */
static void read_ragged(const struct scene *g, pld_tensor came)
{
	const int64_t cap = capacity(g);

	for (int s = 0; s < g->n; s++) {
		const int64_t k = pl_read_int(pld_local(came), PL_AT(s, 0));

		expect_int(g->m, "recv_counts", s, k, g->n - g->me);
		PLD_INCORE(pl_copy(pl_slice(scene_y(g, 0), PL_AT(s * cap, 0), PL_SHAPE(k, 64)),
				   pl_slice(g->b, PL_AT(s * cap, 0), PL_SHAPE(k, 64))));
	}
}

static void ragged(struct scene *g)
{
	pld_tensor send = pld_new_window(PL_SHAPE(g->n, 1), PL_INT32);
	pld_tensor came = pld_new_window(PL_SHAPE(g->n, 1), PL_INT32);

	publish_all(g, 0);
	for (int r = 0; r < g->n; r++)
		PLD_DISPATCH(r, fill_counts(g, send));
	pld_all_to_all_v(g->a, g->b, send, came, .signal = g->cells);
	for (int r = 0; r < g->n; r++)
		PLD_DISPATCH(r, read_ragged(g, came));
}

/* ---- running them ---------------------------------------------------------------------------- */

#define CELLS                                                                                      \
	{                                                                                          \
		1,                                                                                 \
		{                                                                                  \
			SCENE_P                                                                    \
		}                                                                                  \
	}
#define STRIDED(stride)                                                                            \
	{                                                                                          \
		2,                                                                                 \
		{                                                                                  \
			SCENE_P, (stride)                                                          \
		}                                                                                  \
	}
#define RING_ROWS                                                                                  \
	{                                                                                          \
		2,                                                                                 \
		{                                                                                  \
			SCENE_RINGS, SCENE_P                                                       \
		}                                                                                  \
	}
#define FLAT(n)                                                                                    \
	{                                                                                          \
		2,                                                                                 \
		{                                                                                  \
			1, (n)                                                                     \
		}                                                                                  \
	}
#define ROWS_64                                                                                    \
	{                                                                                          \
		2,                                                                                 \
		{                                                                                  \
			SCENE_P, 64                                                                \
		}                                                                                  \
	}

#define SCENE(text, slice, result, shape, x, run, want, many)                                      \
	{                                                                                          \
		.name = text, .dtype = PL_FP32, .in = slice, .out = result, .cells = shape,        \
		.input = (x), .host = (run), .wanted = (want), .rounds = (many)                    \
	}
#define REDUCES(text, n, shape, run, many, ...)                                                    \
	{                                                                                          \
		.name = text, .dtype = PL_FP32, .in = FLAT(n), .out = FLAT(n), .cells = shape,     \
		.input = scene_ramp, .host = (run), .wanted = scene_reduced, .rounds = (many),     \
		__VA_ARGS__                                                                        \
	}
#define HALF(text, n, x, what)                                                                     \
	{                                                                                          \
		.name = text, .dtype = PL_FP16, .in = FLAT(n), .out = FLAT(n), .cells = CELLS,     \
		.input = (x), .host = allreduce, .wanted = scene_reduced, .tolerance = 2e-2,       \
		.op = (what)                                                                       \
	}

static const struct scene_row rows[] = {
	REDUCES("HT-1 allreduce", 256, CELLS, allreduce, 1, .mode = PLD_MESH),
	REDUCES("HT-2 three times", 256, CELLS, allreduce, 3, .mode = PLD_MESH),
	REDUCES("HT-3 MAX", 256, CELLS, allreduce, 1, .op = PLD_MAX),
	HALF("HT-4 FP16, 1", 1, scene_ramp, PLD_SUM),
	HALF("HT-4 FP16, 17", 17, scene_ramp, PLD_SUM),
	HALF("HT-4 FP16, 257", 257, scene_ramp, PLD_SUM),
	HALF("HT-4 FP16, 8193", 8193, scene_ramp, PLD_SUM),
	HALF("HT-5 FP16 MAX", 17, scene_small, PLD_MAX),
	HALF("HT-5 FP16 MIN", 17, scene_small, PLD_MIN),
	HALF("HT-5 FP16 PROD", 17, scene_small, PLD_PROD),
	REDUCES("HT-6 17", 17, CELLS, allreduce, 1, .op = PLD_SUM),
	REDUCES("HT-6 257", 257, CELLS, allreduce, 1, .op = PLD_SUM),
	REDUCES("HT-7 2 lanes of 2, 1", 1, STRIDED(2), allreduce_by_lanes, 1, .number = 2),
	REDUCES("HT-7 4 lanes of 6, 4127", 4127, STRIDED(6), allreduce_by_lanes, 1, .number = 4),
	REDUCES("HT-7 2 lanes of 2, 1041", 1041, STRIDED(2), allreduce_by_lanes, 1, .number = 2),
	REDUCES("HT-7 as one, 4127", 4127, STRIDED(6), allreduce, 1, .op = PLD_SUM),
	REDUCES("HT-8 2 lanes of 2, 1", 1, STRIDED(2), allreduce_by_lanes, 2, .number = 2),
	REDUCES("HT-8 4 lanes of 6, 4127", 4127, STRIDED(6), allreduce_by_lanes, 2, .number = 4),
	REDUCES("HT-9 ring", 256, RING_ROWS, allreduce, 1, .mode = PLD_RING),
	REDUCES("HT-10 ring, three times", 256, RING_ROWS, allreduce, 3, .mode = PLD_RING),
	SCENE("HT-11 barrier", FLAT(64), FLAT(64), CELLS, scene_ramp, barrier, scene_next, 1),
	SCENE("HT-12 barrier twice", FLAT(64), FLAT(64), CELLS, scene_ramp, barrier, scene_next, 2),
	SCENE("HT-13 broadcast", FLAT(64), FLAT(64), CELLS, scene_ramp, broadcast, scene_root_0, 1),
	SCENE("HT-14 broadcast in a loop", FLAT(64), FLAT(64), CELLS, scene_ramp, broadcast,
	      scene_root_0, 2),
	SCENE("HT-15 allgather", FLAT(64), ROWS_64, CELLS, scene_ramp, allgather, scene_gathered,
	      1),
	SCENE("HT-16 allgather twice", FLAT(64), ROWS_64, CELLS, scene_ramp, allgather,
	      scene_gathered, 2),
	SCENE("HT-17 reduce_scatter", ROWS_64, FLAT(64), CELLS, scene_ramp, reduce_scatter,
	      scene_scattered, 1),
	SCENE("HT-18 reduce_scatter in a loop", ROWS_64, FLAT(64), CELLS, scene_ramp,
	      reduce_scatter, scene_scattered, 2),
	SCENE("HT-19 all_to_all", ROWS_64, ROWS_64, CELLS, scene_pairs, all_to_all, scene_exchanged,
	      1),
	SCENE("HT-20 all_to_all twice", ROWS_64, ROWS_64, CELLS, scene_pairs, all_to_all,
	      scene_exchanged, 2),
};

static void all(const struct multi *m)
{
	const int64_t high = m->n * (m->n > 4 ? (int64_t)m->n : 4);
	const struct scene_row row = { .name = "HT-21 all_to_all_v",
				       .dtype = PL_FP32,
				       .in = { 2, { high, 64 } },
				       .out = { 2, { high, 64 } },
				       .cells = CELLS,
				       .input = ragged_input,
				       .host = ragged,
				       .wanted = ragged_wanted };

	scene_run_all(m, rows, ROWS(rows));
	scene_run_all(m, &row, 1);
}

int main(void)
{
	static const struct multi_case cases[] = { { "scenarios", all, 0 } };

	return multi_run("coll_host", cases, ROWS(cases));
}
