/*
 * coll_dispatch.c - the reference's scenarios of dispatch that go with collectives: slices without
 * a window (EX-1), kernels by device (EX-2), a replicated operand (EX-7), permuted placement (as
 * in EX-9), at any number of ranks.
 */
#include "config.h"

#include <math.h>

#include "multi.h"

#include <stdbool.h>

struct rig {
	const struct multi *m;
	pl_tensor a, b, y; /* host tensors */
	pld_tensor w;
	int n, me;
};

/* Not normal, but as irregular: multiples of 1/256 around 0. */
static double scattered(int64_t r, int64_t i)
{
	return (double)((r * 7919 + i * 104729) % 2003 - 1001) / 256.0;
}

/* What every rank may rely on: rank 0 has written it, and a PLD_HOST begins with a barrier. */
static void fill(const struct multi *m, pl_tensor t, int64_t of_slice,
		 double (*v)(int64_t, int64_t))
{
	float *x = pl_data(t);

	for (int64_t i = 0; m->me == 0 && i < pl_count(t); i++)
		x[i] = (float)v(i / of_slice, i % of_slice);
}

/* ---- EX-1 ------------------------------------------------------------------------------------ */

static void add_one(const struct rig *g)
{
	pl_tile x = pl_load(pl_at(g->a, g->me), PL_AT(0, 0), PL_SHAPE(16, 32));

	pl_store(pl_add(x, 1), PL_AT(0, 0), pl_at(g->y, g->me));
}

static void add_one_device(const struct rig *g)
{
	PLD_INCORE(add_one(g));
}

static void add_one_host(const struct rig *g)
{
	for (int r = 0; r < g->n; r++)
		PLD_DISPATCH(r, add_one_device(g));
}

static void no_window(const struct multi *m)
{
	struct rig g = { .m = m, .n = m->n, .me = m->me };
	const float *y;

	g.a = pld_host_tensor(PL_SHAPE(m->n, 16, 32), PL_FP32);
	g.y = pld_host_tensor(PL_SHAPE(m->n, 16, 32), PL_FP32);
	fill(m, g.a, 16 * 32, scattered);
	expect_status(m, "PLD_HOST", PLD_HOST(add_one_host(&g)), PL_OK);
	y = pl_data(g.y);
	for (int64_t i = 0; i < pl_count(g.y); i++)
		expect_float(m, "y", i, y[i], scattered(i / 512, i % 512) + 1);
	pld_host_free(g.y);
	pld_host_free(g.a);
}

/* ---- EX-2 ------------------------------------------------------------------------------------ */

enum { M = 64 }; /* extents are written M * 2 */

static double five(int64_t r, int64_t i)
{
	(void)r;
	(void)i;
	return 5;
}

static double three(int64_t r, int64_t i)
{
	(void)r;
	(void)i;
	return 3;
}

static void combine(const struct rig *g, bool adds)
{
	const pl_dims *all = PL_SHAPE(M * 2, M * 2);
	pl_tile a = pl_load(g->a, PL_AT(0, 0), all), b = pl_load(g->b, PL_AT(0, 0), all);

	pl_store(adds ? pl_add(a, b) : pl_sub(a, b), PL_AT(0, 0), pl_at(g->y, g->me));
}

static void combine_device(const struct rig *g, bool adds)
{
	PLD_INCORE(combine(g, adds));
}

static void combine_host(const struct rig *g)
{
	PLD_DISPATCH(0, combine_device(g, true));
	PLD_DISPATCH(1, combine_device(g, false));
}

static void two_kernels(const struct multi *m)
{
	struct rig g = { .m = m, .n = m->n, .me = m->me };
	const float *y;

	g.a = pld_host_tensor(PL_SHAPE(M * 2, M * 2), PL_FP32);
	g.b = pld_host_tensor(PL_SHAPE(M * 2, M * 2), PL_FP32);
	g.y = pld_host_tensor(PL_SHAPE(m->n, M * 2, M * 2), PL_FP32);
	fill(m, g.a, 1, five);
	fill(m, g.b, 1, three);
	expect_status(m, "PLD_HOST", PLD_HOST(combine_host(&g)), PL_OK);
	y = pl_data(g.y);
	for (int64_t i = 0; i < pl_count(g.y); i++) {
		const int64_t r = i / (4 * M * M);

		expect_float(m, "y", i, y[i], r == 0 ? 8 : r == 1 ? 2 : 0);
	}
	pld_host_free(g.y);
	pld_host_free(g.b);
	pld_host_free(g.a);
}

/* ---- EX-7 ------------------------------------------------------------------------------------ */

/* Row i of the own product: the rows of B, each times an element of A. */
static void multiply_row(const struct rig *g, int64_t i)
{
	const pl_tensor a = pl_at(g->a, g->me);
	pl_tile sum = pl_full(PL_SHAPE(1, 64), PL_FP32, 0);

	for (int64_t k = 0; k < 64; k++)
		sum = pl_add(sum, pl_mul(pl_load(g->b, PL_AT(k, 0), PL_SHAPE(1, 64)),
					 pl_read_float(a, PL_AT(i, k))));
	pl_store(sum, PL_AT(i, 0), pl_at(g->y, g->me));
}

static void multiply_device(const struct rig *g)
{
	for (int64_t i = 0; i < 64; i++)
		PLD_INCORE(multiply_row(g, i));
}

static void multiply_host(const struct rig *g)
{
	for (int r = 0; r < g->n; r++)
		PLD_DISPATCH(r, multiply_device(g));
}

static double other_scattered(int64_t r, int64_t i)
{
	return scattered(r + 42, i);
}

static void product(const struct multi *m)
{
	struct rig g = { .m = m, .n = m->n, .me = m->me };
	const float *y;

	g.a = pld_host_tensor(PL_SHAPE(m->n, 64, 64), PL_FP32);
	g.b = pld_host_tensor(PL_SHAPE(64, 64), PL_FP32);
	g.y = pld_host_tensor(PL_SHAPE(m->n, 64, 64), PL_FP32);
	fill(m, g.a, 64 * 64, scattered);
	fill(m, g.b, 64 * 64, other_scattered);
	expect_status(m, "PLD_HOST", PLD_HOST(multiply_host(&g)), PL_OK);
	y = (const float *)pl_data(g.y) + (int64_t)m->me * 64 * 64;
	for (int64_t i = 0; i < 64; i++)
		for (int64_t j = 0; j < 64; j++) {
			double want = 0;

			for (int64_t k = 0; k < 64; k++)
				want += scattered(m->me, 64 * i + k) *
					other_scattered(0, 64 * k + j);
			if (!(fabs(y[64 * i + j] - want) <= 1e-3 + 1e-5 * fabs(want)))
				expect_float(m, "y", 64 * i + j, y[64 * i + j], want);
		}
	pld_host_free(g.y);
	pld_host_free(g.b);
	pld_host_free(g.a);
}

/* ---- placement ------------------------------------------------------------------------------- */

/* Slice i is the matter of device i, or of the one after it. */
static int place(const struct rig *g, int i, bool permuted)
{
	return permuted ? (i + 1) % g->n : i;
}

static void upload(const struct rig *g, int i)
{
	PLD_INCORE(pl_copy(g->w, pl_at(g->b, i)));
}

static void add_weight(const struct rig *g, int i)
{
	const pl_dims *all = PL_SHAPE(128, 128);

	pl_store(pl_add(pl_load(pl_at(g->a, i), PL_AT(0, 0), all), pl_load(g->w, PL_AT(0, 0), all)),
		 PL_AT(0, 0), pl_at(g->y, i));
}

static void add_weight_device(const struct rig *g, int i)
{
	PLD_INCORE(add_weight(g, i));
}

static void add_host(const struct rig *g, bool permuted)
{
	for (int i = 0; i < g->n; i++)
		PLD_DISPATCH(place(g, i, permuted), add_weight_device(g, i));
}

static void upload_host(const struct rig *g, bool permuted)
{
	for (int i = 0; i < g->n; i++)
		PLD_DISPATCH(place(g, i, permuted), upload(g, i));
}

static double ten_and_more(int64_t r, int64_t i)
{
	(void)i;
	return 10 + (double)r;
}

static double seven(int64_t r, int64_t i)
{
	(void)r;
	(void)i;
	return 7;
}

static double two(int64_t r, int64_t i)
{
	(void)r;
	(void)i;
	return 2;
}

/* y = a + 10 + i, twice, with what was uploaded before its source was zeroed. */
static void run_placed(const struct multi *m, struct rig *g, bool permuted)
{
	const int64_t slice = 128 * 128;
	const float *y = pl_data(g->y), *w = pl_data(pld_local(g->w));

	fill(m, g->b, slice, ten_and_more);
	expect_status(m, "PLD_HOST", PLD_HOST(upload_host(g, permuted)), PL_OK);
	if (m->me == 0)
		memset(pl_data(g->b), 0, 4 * (size_t)pl_count(g->b));
	for (int turn = 0; turn < 2; turn++) {
		fill(m, g->a, slice, turn ? seven : two);
		expect_status(m, "PLD_HOST", PLD_HOST(add_host(g, permuted)), PL_OK);
		for (int64_t i = 0; i < pl_count(g->y); i++)
			expect_float(m, "y", i, y[i], (turn ? 7 : 2) + 10 + (double)(i / slice));
		pld_barrier(pld_world()); /* before a is written again */
	}
	for (int64_t i = 0; i < slice; i++)
		expect_float(m, "the weight", i, w[i], 10 + (permuted ? multi_prev(m) : m->me));
}

static void placement(const struct multi *m)
{
	struct rig g = { .m = m, .n = m->n, .me = m->me };

	g.a = pld_host_tensor(PL_SHAPE(m->n, 128, 128), PL_FP32);
	g.b = pld_host_tensor(PL_SHAPE(m->n, 128, 128), PL_FP32);
	g.y = pld_host_tensor(PL_SHAPE(m->n, 128, 128), PL_FP32);
	g.w = pld_new_window(PL_SHAPE(128, 128), PL_FP32);
	run_placed(m, &g, false);
	run_placed(m, &g, true);
	pld_free_window(g.w);
	pld_host_free(g.y);
	pld_host_free(g.b);
	pld_host_free(g.a);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "EX-1 no window", no_window, 0 },
		{ "EX-2 two kernels", two_kernels, 2 },
		{ "EX-7 product", product, 0 },
		{ "placement", placement, 0 },
	};

	return multi_run("coll_dispatch", cases, ROWS(cases));
}
