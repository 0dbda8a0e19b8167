/*
 * coll_hand.c - the reference's collectives by hand (HC-1 to 6), with primitives only, at any
 * number of ranks.  Each uses its cells once, so they do not come back to zero.
 */
#include "config.h"

#include "coll_scene.h"

/* ---- the hand barrier ------------------------------------------------------------------------ */

static void notify_all(const struct scene *g, int64_t row, pld_notify_op op)
{
	for (int r = 0; r < g->n; r++)
		if (r != g->me)
			pld_notify(g->cells, r, PL_AT(row, g->me), 1, op);
}

static void wait_all(const struct scene *g, int64_t row)
{
	for (int r = 0; r < g->n; r++)
		if (r != g->me)
			pld_wait(g->cells, PL_AT(row, r), 1, PLD_WAIT_GE);
}

static void barrier(const struct scene *g, int64_t row)
{
	notify_all(g, row, PLD_NOTIFY_ADD);
	wait_all(g, row);
}

/* What a scenario leaves in its cells is no matter of the scenario's: the frame wants zeros. */
static void clear_cells(const struct scene *g)
{
	int32_t *cell = pl_data(pld_local(g->cells));

	for (int64_t i = 0; i < pl_count(pld_local(g->cells)); i++)
		cell[i] = 0;
}

static pl_tile load_row(const struct scene *g, int peer, int64_t at, int64_t n)
{
	return pld_remote_load(g->a, peer, PL_AT(0, at), PL_SHAPE(1, n));
}

static void stage(const struct scene *g)
{
	pl_copy(g->a, scene_x(g, 0));
}

/* ---- HC-1 to 6 ------------------------------------------------------------------------------- */

static void mesh(const struct scene *g)
{
	pl_tile sum;

	stage(g);
	barrier(g, 0);
	sum = pl_load(g->a, PL_AT(0, 0), PL_SHAPE(1, 256));
	for (int r = 0; r < g->n; r++)
		if (r != g->me)
			sum = pl_add(sum, load_row(g, r, 0, 256));
	pl_store(sum, PL_AT(0, 0), scene_y(g, 0));
}

/* Boundaries of chunks: P need not divide 256. */
static int64_t chunk(const struct scene *g, int q)
{
	return 256 * (int64_t)q / g->n;
}

/* A round: a full barrier, then chunk q of the left neighbour, added to the own one or taken. */
static void ring_round(const struct scene *g, int row, int q, bool add)
{
	const int left = multi_prev(g->m);
	const int64_t at = chunk(g, q), n = chunk(g, q + 1) - at;
	pl_tile theirs;

	barrier(g, row);
	theirs = load_row(g, left, at, n);
	if (add)
		theirs = pl_add(pl_load(g->a, PL_AT(0, at), PL_SHAPE(1, n)), theirs);
	pl_store(theirs, PL_AT(0, at), g->a);
}

static void ring(const struct scene *g)
{
	const int n = g->n;

	stage(g);
	for (int s = 0; s < n - 1; s++)
		ring_round(g, s, (g->me - s - 2 + 2 * n) % n, true);
	for (int s = 0; s < n - 1; s++)
		ring_round(g, n - 1 + s, (g->me - s - 1 + n) % n, false);
	pl_copy(scene_y(g, 0), g->a);
}

static void allgather(const struct scene *g)
{
	stage(g);
	barrier(g, 0);
	for (int r = 0; r < g->n; r++)
		pl_store(load_row(g, r, 0, 64), PL_AT(0, 64 * r), scene_y(g, 0));
}

static void reduce_scatter(const struct scene *g)
{
	const int64_t mine = 64 * g->me;
	pl_tile sum;

	stage(g);
	barrier(g, 0);
	sum = pl_load(g->a, PL_AT(0, mine), PL_SHAPE(1, 64));
	for (int r = 0; r < g->n; r++)
		if (r != g->me)
			sum = pl_add(sum, load_row(g, r, mine, 64));
	pl_store(sum, PL_AT(0, 0), scene_y(g, 0));
}

static void broadcast_from(const struct scene *g, int root)
{
	if (g->me == root)
		stage(g);
	barrier(g, 0);
	pl_store(load_row(g, root, 0, 64), PL_AT(0, 0), scene_y(g, 0));
	/* the leak check: what only this rank has did not come through */
	if (g->me != root &&
	    multi_read(scene_y(g, 0), PL_AT(0, 5)) == multi_read(scene_x(g, 0), PL_AT(0, 5)))
		multi_fail(g->m, "y is the own input");
}

static void broadcast(const struct scene *g)
{
	broadcast_from(g, g->row->number);
}

/* Each pair has a cell with one writer, so that it may be set. */
static void all_to_all(const struct scene *g)
{
	for (int d = 0; d < g->n; d++)
		pld_put(g->a, d, scene_x(g, 0), .dst_offsets = PL_AT(g->me, 0),
			.src_offsets = PL_AT(d, 0), .shape = PL_SHAPE(1, 64));
	notify_all(g, 0, PLD_NOTIFY_SET);
	wait_all(g, 0);
	pl_copy(scene_y(g, 0), g->a);
}

/* ---- running them ---------------------------------------------------------------------------- */

static void in_core(const struct scene *g, void (*kernel)(const struct scene *g))
{
	PLD_INCORE(kernel(g));
}

static void by_hand(struct scene *g, void (*kernel)(const struct scene *g))
{
	for (int r = 0; r < g->n; r++)
		PLD_DISPATCH(r, in_core(g, kernel));
	pld_barrier(pld_world());
	clear_cells(g);
}

#define BY_HAND(kernel)                                                                            \
	static void hand_##kernel(struct scene *g)                                                 \
	{                                                                                          \
		by_hand(g, kernel);                                                                \
	}
BY_HAND(mesh)
BY_HAND(ring)
BY_HAND(allgather)
BY_HAND(reduce_scatter)
BY_HAND(broadcast)
BY_HAND(all_to_all)

#define ONE_ROW                                                                                    \
	{                                                                                          \
		2,                                                                                 \
		{                                                                                  \
			1, SCENE_P                                                                 \
		}                                                                                  \
	}

static const struct scene_row rows[] = {
	{ .name = "HC-1 mesh",
	  .dtype = PL_FP32,
	  .in = { 2, { 1, 256 } },
	  .out = { 2, { 1, 256 } },
	  .cells = ONE_ROW,
	  .input = scene_ramp,
	  .host = hand_mesh,
	  .wanted = scene_reduced },
	{ .name = "HC-2 ring",
	  .dtype = PL_FP32,
	  .in = { 2, { 1, 256 } },
	  .out = { 2, { 1, 256 } },
	  .cells = { 2, { SCENE_RING, SCENE_P } },
	  .input = scene_ramp,
	  .host = hand_ring,
	  .wanted = scene_reduced },
	{ .name = "HC-3 allgather",
	  .dtype = PL_FP32,
	  .in = { 2, { 1, 64 } },
	  .out = { 2, { 1, SCENE_TIMES_P(64) } },
	  .cells = ONE_ROW,
	  .input = scene_ramp,
	  .host = hand_allgather,
	  .wanted = scene_gathered },
	{ .name = "HC-4 reduce-scatter",
	  .dtype = PL_FP32,
	  .in = { 2, { 1, SCENE_TIMES_P(64) } },
	  .out = { 2, { 1, 64 } },
	  .cells = ONE_ROW,
	  .input = scene_ramp,
	  .host = hand_reduce_scatter,
	  .wanted = scene_scattered },
	{ .name = "HC-5 broadcast",
	  .dtype = PL_FP32,
	  .in = { 2, { 1, 64 } },
	  .out = { 2, { 1, 64 } },
	  .cells = ONE_ROW,
	  .input = scene_ramp,
	  .host = hand_broadcast,
	  .wanted = scene_root_0,
	  .number = 0 },
	{ .name = "HC-6 all-to-all",
	  .dtype = PL_FP32,
	  .in = { 2, { SCENE_P, 64 } },
	  .out = { 2, { SCENE_P, 64 } },
	  .cells = ONE_ROW,
	  .input = scene_pairs,
	  .host = hand_all_to_all,
	  .wanted = scene_exchanged },
};

static void all(const struct multi *m)
{
	scene_run_all(m, rows, ROWS(rows));
}

int main(void)
{
	static const struct multi_case cases[] = { { "scenarios", all, 0 } };

	return multi_run("coll_hand", cases, ROWS(cases));
}
