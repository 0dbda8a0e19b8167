/*
 * coll_incore.c - the reference's collectives inside kernels (IC-1 to 16), each on a signal, at any
 * number of ranks.  All cells are 0 after each.
 */
#include "config.h"

#include "coll_scene.h"

/* ---- staging --------------------------------------------------------------------------------- */

/* Tiles of 4096 elements, the last one as far as it goes. */
static void copy_by_tiles(pl_tensor to, pl_tensor from)
{
	const pl_dims *tile = PL_SHAPE(1, 4096);

	for (int64_t at = 0; at < pl_dim(from, 1); at += 4096)
		PL_SCOPE {
			pl_store(pl_load(from, PL_AT(0, at), tile, .valid_shape = tile),
				 PL_AT(0, at), to);
		}
}

static void stage(const struct scene *g, int k)
{
	pl_copy(g->a, scene_x(g, k));
}

static void done(const struct scene *g, int k)
{
	pl_copy(scene_y(g, k), g->b);
}

/* ---- IC-1 to 6 ------------------------------------------------------------------------------- */

static void allreduce(const struct scene *g)
{
	copy_by_tiles(pld_local(g->a), scene_x(g, 0));
	pld_allreduce(g->a, .signal = g->cells, .op = g->row->op, .mode = g->row->mode);
	copy_by_tiles(scene_y(g, 0), pld_local(g->a));
}

/* ---- IC-7 to 11 ------------------------------------------------------------------------------ */

static void read_peer(const struct scene *g, int peer)
{
	pl_store(pld_remote_load(g->a, peer, PL_AT(0, 0), PL_SHAPE(1, 64)), PL_AT(0, 0),
		 scene_y(g, 0));
}

static void barrier(const struct scene *g)
{
	stage(g, 0);
	pld_barrier(g->cells);
	read_peer(g, multi_next(g->m));
}

static void broadcast(const struct scene *g)
{
	if (g->me == 0)
		stage(g, 0);
	pld_broadcast(g->a, .signal = g->cells, .root = 0);
	pl_copy(scene_y(g, 0), g->a);
}

static void allgather(const struct scene *g)
{
	pld_allgather(scene_x(g, 0), g->b, .signal = g->cells);
	done(g, 0);
}

static void scatter_sum(const struct scene *g, int k)
{
	stage(g, k);
	pld_reduce_scatter(g->a, .signal = g->cells);
	pl_copy(scene_y(g, k), pl_slice(g->a, PL_AT(g->me, 0), PL_SHAPE(1, 64)));
}

static void reduce_scatter(const struct scene *g)
{
	scatter_sum(g, 0);
}

static void all_to_all(const struct scene *g)
{
	pld_all_to_all(scene_x(g, 0), g->b, .signal = g->cells);
	done(g, 0);
}

/* ---- IC-13 to 16: one signal, again and again ------------------------------------------------ */

/* Nothing is read before the end: what the second call gives. */
static void mixed(const struct scene *g)
{
	pld_barrier(g->cells);
	pld_all_to_all(scene_x(g, 0), g->b, .signal = g->cells);
	pld_all_to_all(scene_x(g, 1), g->b, .signal = g->cells);
	pld_barrier(g->cells);
	done(g, 0);
	done(g, 1);
}

static double second_exchanged(const struct scene *g, int r, int64_t i)
{
	return scene_exchanged(g, r, g->out_elems + i % g->out_elems);
}

static void allgather_twice(const struct scene *g)
{
	pld_allgather(scene_x(g, 0), g->b, .signal = g->cells);
	pld_allgather(scene_x(g, 1), g->b, .signal = g->cells);
	done(g, 0);
	done(g, 1);
}

static double second_gathered(const struct scene *g, int r, int64_t i)
{
	return scene_gathered(g, r, g->out_elems + i % g->out_elems);
}

static void reduce_scatter_twice(const struct scene *g)
{
	scatter_sum(g, 0);
	scatter_sum(g, 1);
}

static void allreduce_loop(const struct scene *g)
{
	for (int k = 0; k < g->row->rounds; k++) {
		stage(g, k);
		pld_allreduce(g->a, .signal = g->cells, .mode = g->row->mode);
		pl_copy(scene_y(g, k), g->a);
	}
}

static void broadcast_loop(const struct scene *g)
{
	for (int k = 0; k < g->row->rounds; k++) {
		stage(g, k);
		pld_broadcast(g->a, .signal = g->cells);
		pl_copy(scene_y(g, k), g->a);
	}
}

static void allgather_loop(const struct scene *g)
{
	for (int k = 0; k < g->row->rounds; k++) {
		pld_allgather(scene_x(g, k), g->b, .signal = g->cells);
		done(g, k);
	}
}

static void reduce_scatter_loop(const struct scene *g)
{
	for (int k = 0; k < g->row->rounds; k++)
		scatter_sum(g, k);
}

static void all_to_all_loop(const struct scene *g)
{
	for (int k = 0; k < g->row->rounds; k++) {
		pld_all_to_all(scene_x(g, k), g->b, .signal = g->cells);
		done(g, k);
	}
}

static void barrier_loop(const struct scene *g)
{
	for (int k = 0; k < g->row->rounds; k++) {
		stage(g, k);
		pld_barrier(g->cells);
		pl_store(pld_remote_load(g->a, multi_next(g->m), PL_AT(0, 0), PL_SHAPE(1, 64)),
			 PL_AT(0, 0), scene_y(g, k));
		pld_barrier(g->cells); /* read, before it is staged again */
	}
}

/* ---- IC-12 ----------------------------------------------------------------------------------- */

/*
 * Rank r sends P - d rows to d.  A block has 4 rows, or P where those are more; x and y are P such
 * blocks of 64.
 */
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

/* The reader believes recv_counts alone. */
static void ragged(const struct scene *g)
{
	pld_tensor came = pl_at(g->more, 0);
	const int64_t cap = capacity(g);
	int32_t rows[64];

	for (int d = 0; d < g->n; d++)
		rows[d] = g->n - d;
	pld_all_to_all_v(scene_x(g, 0), g->b, pl_wrap(rows, PL_SHAPE(g->n, 1), PL_INT32),
			 pl_slice(came, PL_AT(0), PL_SHAPE(g->n)), .signal = g->cells);
	for (int s = 0; s < g->n; s++) {
		const int64_t k = pl_read_int(pld_local(came), PL_AT(s));

		expect_int(g->m, "recv_counts", s, k, g->n - g->me);
		pl_copy(pl_slice(scene_y(g, 0), PL_AT(s * cap, 0), PL_SHAPE(k, 64)),
			pl_slice(g->b, PL_AT(s * cap, 0), PL_SHAPE(k, 64)));
	}
}

static double ragged_wanted(const struct scene *g, int r, int64_t i)
{
	const int64_t row = i / 64, s = row / capacity(g), at = row % capacity(g);

	if (at >= g->n - r)
		return 0; /* y as it was */
	return 1000.0 * (double)s + 100.0 * r + 10.0 * (double)at + (double)(i % 64 % 10);
}

/* ---- running them ---------------------------------------------------------------------------- */

#define ONE_ROW                                                                                    \
	{                                                                                          \
		2,                                                                                 \
		{                                                                                  \
			SCENE_P, 1                                                                 \
		}                                                                                  \
	}
#define RING_ROWS                                                                                  \
	{                                                                                          \
		2,                                                                                 \
		{                                                                                  \
			SCENE_RING, SCENE_P                                                        \
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

#define REDUCES(text, t, n, x, how, shape, what, by)                                               \
	{                                                                                          \
		.name = text, .dtype = (t), .in = FLAT(n), .out = FLAT(n), .cells = shape,         \
		.input = (x), .kernel = allreduce, .wanted = scene_reduced, .tolerance = (by),     \
		.op = (what), .mode = (how)                                                        \
	}
#define MESH(text, t, n, x, what, by) REDUCES(text, t, n, x, PLD_MESH, ONE_ROW, what, by)
#define RING(text, t, n, x, what, by) REDUCES(text, t, n, x, PLD_RING, RING_ROWS, what, by)

static const struct scene_row reductions[] = {
	MESH("IC-1 mesh, 1", PL_FP32, 1, scene_ramp, PLD_SUM, 0),
	MESH("IC-1 mesh, 17", PL_FP32, 17, scene_ramp, PLD_SUM, 0),
	MESH("IC-1 mesh, 4097", PL_FP32, 4097, scene_ramp, PLD_SUM, 0),
	MESH("IC-1 mesh, 65537", PL_FP32, 65537, scene_ramp, PLD_SUM, 0),
	MESH("IC-2 SUM FP32", PL_FP32, 17, scene_ramp, PLD_SUM, 1e-5),
	MESH("IC-2 MAX FP32", PL_FP32, 17, scene_ramp, PLD_MAX, 1e-5),
	MESH("IC-2 MIN FP32", PL_FP32, 17, scene_ramp, PLD_MIN, 1e-5),
	MESH("IC-2 PROD FP32", PL_FP32, 17, scene_small, PLD_PROD, 1e-5),
	MESH("IC-2 SUM FP16", PL_FP16, 17, scene_small, PLD_SUM, 2e-2),
	MESH("IC-2 MAX FP16", PL_FP16, 17, scene_small, PLD_MAX, 2e-2),
	MESH("IC-2 MIN FP16", PL_FP16, 17, scene_small, PLD_MIN, 2e-2),
	MESH("IC-2 PROD FP16", PL_FP16, 17, scene_small, PLD_PROD, 2e-2),
	MESH("IC-3 FP16, 1", PL_FP16, 1, scene_small, PLD_SUM, 2e-2),
	MESH("IC-3 FP16, 17", PL_FP16, 17, scene_small, PLD_SUM, 2e-2),
	MESH("IC-3 FP16, 8193", PL_FP16, 8193, scene_small, PLD_SUM, 2e-2),
	RING("IC-4 ring, 1", PL_FP32, 1, scene_ramp, PLD_SUM, 0),
	RING("IC-4 ring, 17", PL_FP32, 17, scene_ramp, PLD_SUM, 0),
	RING("IC-4 ring, 4097", PL_FP32, 4097, scene_ramp, PLD_SUM, 0),
	RING("IC-4 ring, 65537", PL_FP32, 65537, scene_ramp, PLD_SUM, 0),
	RING("IC-5 ring SUM", PL_FP32, 17, scene_ramp, PLD_SUM, 1e-5),
	RING("IC-5 ring MAX", PL_FP32, 17, scene_ramp, PLD_MAX, 1e-5),
	RING("IC-5 ring MIN", PL_FP32, 17, scene_ramp, PLD_MIN, 1e-5),
	RING("IC-5 ring PROD", PL_FP32, 17, scene_small, PLD_PROD, 1e-5),
	RING("IC-6 ring FP16, 1", PL_FP16, 1, scene_small, PLD_SUM, 2e-2),
	RING("IC-6 ring FP16, 17", PL_FP16, 17, scene_small, PLD_SUM, 2e-2),
	RING("IC-6 ring FP16, 8193", PL_FP16, 8193, scene_small, PLD_SUM, 2e-2),
	RING("IC-6 ring FP16, 32769", PL_FP16, 32769, scene_small, PLD_SUM, 2e-2),
};

#define SCENE(text, slice, result, x, run, want, many)                                             \
	{                                                                                          \
		.name = text, .dtype = PL_FP32, .in = slice, .out = result, .cells = ONE_ROW,      \
		.input = (x), .kernel = (run), .wanted = (want), .rounds = (many)                  \
	}

static const struct scene_row others[] = {
	SCENE("IC-7 barrier", FLAT(64), FLAT(64), scene_ramp, barrier, scene_next, 1),
	SCENE("IC-8 broadcast", FLAT(64), FLAT(64), scene_ramp, broadcast, scene_root_0, 1),
	SCENE("IC-9 allgather", FLAT(64), ROWS_64, scene_ramp, allgather, scene_gathered, 1),
	SCENE("IC-10 reduce_scatter", ROWS_64, FLAT(64), scene_ramp, reduce_scatter,
	      scene_scattered, 1),
	SCENE("IC-11 all_to_all", ROWS_64, ROWS_64, scene_pairs, all_to_all, scene_exchanged, 1),
	SCENE("IC-13 mixed", ROWS_64, ROWS_64, scene_pairs, mixed, second_exchanged, 2),
	SCENE("IC-14 allgather twice", FLAT(64), ROWS_64, scene_ramp, allgather_twice,
	      second_gathered, 2),
	SCENE("IC-15 reduce_scatter twice", ROWS_64, FLAT(64), scene_ramp, reduce_scatter_twice,
	      scene_scattered, 2),
	SCENE("IC-16 barrier", FLAT(64), FLAT(64), scene_ramp, barrier_loop, scene_next, 5),
	SCENE("IC-16 allreduce", FLAT(256), FLAT(256), scene_ramp, allreduce_loop, scene_reduced,
	      2),
	SCENE("IC-16 broadcast", FLAT(64), FLAT(64), scene_ramp, broadcast_loop, scene_root_0, 3),
	SCENE("IC-16 allgather", FLAT(64), ROWS_64, scene_ramp, allgather_loop, scene_gathered, 4),
	SCENE("IC-16 reduce_scatter", ROWS_64, FLAT(64), scene_ramp, reduce_scatter_loop,
	      scene_scattered, 5),
	SCENE("IC-16 all_to_all", ROWS_64, ROWS_64, scene_pairs, all_to_all_loop, scene_exchanged,
	      3),
};

static const struct scene_row ring_loop[] = {
	{ .name = "IC-16 ring",
	  .dtype = PL_FP32,
	  .in = FLAT(256),
	  .out = FLAT(256),
	  .cells = RING_ROWS,
	  .input = scene_ramp,
	  .kernel = allreduce_loop,
	  .wanted = scene_reduced,
	  .rounds = 5,
	  .mode = PLD_RING },
};

static void all_reductions(const struct multi *m)
{
	scene_run_all(m, reductions, ROWS(reductions));
	scene_run_all(m, ring_loop, ROWS(ring_loop));
}

static void all_others(const struct multi *m)
{
	scene_run_all(m, others, ROWS(others));
}

static void all_ragged(const struct multi *m)
{
	const int64_t rows = m->n * (m->n > 4 ? (int64_t)m->n : 4);
	const struct scene_row row = { .name = "IC-12 all_to_all_v",
				       .dtype = PL_INT32,
				       .in = { 2, { rows, 64 } },
				       .out = { 2, { rows, 64 } },
				       .cells = ONE_ROW,
				       .input = ragged_input,
				       .kernel = ragged,
				       .wanted = ragged_wanted };

	scene_run_all(m, &row, 1);
}

int main(void)
{
	static const struct multi_case cases[] = { { "reductions", all_reductions, 0 },
						   { "others", all_others, 0 },
						   { "ragged", all_ragged, 0 } };

	return multi_run("coll_incore", cases, ROWS(cases));
}
