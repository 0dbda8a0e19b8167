/*
 * coll_bits.c - floating sums and products combine in the documented order: every rank gets the
 * bits that a serial program of that order gets, in every run, whoever is late.
 *
 * The model's orders (coll_model.c): ascending; above 16 members in groups of 16; around the ring.
 * Inputs are of very different sizes, so that most results round otherwise in another order.
 */
#include "config.h"

#include "coll_try.h"

enum { RUNS = 8, MOST_BYTES = 1 << 18 };

static const struct row {
	enum coll_kind kind;
	pld_mode mode;
	pld_scan_kind scan;
	enum coll_cells cells;
} rows[] = {
	{ COLL_ALLREDUCE, PLD_AUTO, 0, COLL_LINES },
	{ COLL_ALLREDUCE, PLD_MESH, 0, COLL_LINES },
	{ COLL_ALLREDUCE, PLD_TWO_PHASE, 0, COLL_LINES },
	{ COLL_ALLREDUCE, PLD_RING, 0, COLL_LINES },
	{ COLL_ALLREDUCE, PLD_AUTO, 0, COLL_PLAIN },
	{ COLL_ALLREDUCE, PLD_MESH, 0, COLL_PLAIN },
	{ COLL_ALLREDUCE, PLD_TWO_PHASE, 0, COLL_PLAIN },
	{ COLL_ALLREDUCE, PLD_RING, 0, COLL_PLAIN },
	{ COLL_REDUCE, PLD_AUTO, 0, COLL_LINES },
	{ COLL_REDUCE, PLD_AUTO, 0, COLL_PLAIN },
	{ COLL_SCAN, PLD_AUTO, PLD_INCLUSIVE, COLL_LINES },
	{ COLL_SCAN, PLD_AUTO, PLD_EXCLUSIVE, COLL_LINES },
	{ COLL_SCAN, PLD_AUTO, PLD_INCLUSIVE, COLL_PLAIN },
	{ COLL_SCAN, PLD_AUTO, PLD_EXCLUSIVE, COLL_PLAIN },
	{ COLL_REDUCE_SCATTER, PLD_AUTO, 0, COLL_LINES },
	{ COLL_REDUCE_SCATTER_V, PLD_AUTO, 0, COLL_PLAIN },
};

static const pl_dtype floats[] = { PL_FP64, PL_FP32, PL_FP16, PL_BF16 };

/* Beside the flags; some; more than a chunk, or, with many ranks, than a block that is folded. */
static int64_t size_of(const struct coll_rig *g, pl_dtype t, int which)
{
	if (which < 2)
		return which ? 67 : 2;
	return g->p > 9 ? 1100 : 16384 / (int64_t)pl_dtype_bytes(t) + 3;
}

/* The same data in every run, other delays. */
static void all(const struct coll_rig *g, int run, int one_of)
{
	int i = 0;

	for (int r = 0; r < ROWS(rows); r++)
		for (int t = 0; t < ROWS(floats); t++)
			for (int k = 0; k < 6; k++) {
				struct coll_case c = { .kind = rows[r].kind,
						       .mode = rows[r].mode,
						       .scan = rows[r].scan,
						       .cells = rows[r].cells,
						       .dtype = floats[t],
						       .op = k % 2 ? PLD_PROD : PLD_SUM,
						       .root = g->p - 1,
						       .seed = (uint64_t)(100 * t + k),
						       .shake = (uint64_t)run };

				if (++i % one_of != run % one_of || (k > 3 && (run + i) % 4))
					continue; /* large ones cost most, in the model */
				c.shape = *PL_SHAPE(size_of(g, c.dtype, k / 2));
				if (coll_has_blocks(c.kind) || c.kind == COLL_REDUCE_SCATTER_V)
					c.shape.d[0] = 1 + c.shape.d[0] / g->p;
				coll_try(g, &c);
			}
}

/* A run takes one call of so many, another run others: with many ranks calls are slow. */
static int every(int n)
{
	return n <= 3 ? 2 : n <= 9 ? 5 : n <= 20 ? 13 : 29;
}

static void in_the_world(const struct multi *m)
{
	struct coll_rig g = coll_open(m, MOST_BYTES);

	for (int run = 0; run < RUNS; run++)
		all(&g, run, every(m->n));
	coll_close(&g);
}

/* Ascending ranks are the domain's. */
static void turned(const struct multi *m)
{
	struct coll_rig g = coll_open(m, MOST_BYTES), on;
	pld_ctx d = pld_domain_split(pld_world(), 0, -m->me);

	on = coll_on(&g, d, 1);
	for (int run = 0; run < 3; run++)
		all(&on, run, 11);
	pld_domain_free(d);
	coll_close(&g);
}

int main(void)
{
	static const struct multi_case cases[] = { { "in the world", in_the_world, 0 },
						   { "turned", turned, 2 } };

	return multi_run("coll_bits", cases, ROWS(cases));
}
