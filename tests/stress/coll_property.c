/*
 * coll_property.c - any collective, on any domain, with any operands, equals the serial model.
 *
 *	pldrun -n 5 coll_property [seed]
 *
 * Batches of random calls, back to back, on the world and on some random subsets of it, in turn.
 * Every rank draws the same calls from the seed (the argument, STRESS_SEED, or the clock's), which
 * is printed.  1 second; or this rank count's part of STRESS_SECONDS.
 */
#include "config.h"

#include "../multi/coll_try.h"

enum {
	BATCH = 40,
	SUBSETS = 3,
	MOST_ELEMS = 100000,
	MOST_BYTES = 8 * MOST_ELEMS + 4096,
	RANK_COUNTS = 6, /* of this test in tests/RANKS */
};

static int64_t below(uint64_t *s, int64_t n)
{
	return multi_pick(s, n);
}

/* ---- a random call --------------------------------------------------------------------------- */

/* Mostly few; often what a chunk of 16 KiB just holds or just does not, also P times. */
static int64_t random_count(uint64_t *s, const struct coll_case *c, int p)
{
	const int64_t chunk = 16384 / (int64_t)pl_dtype_bytes(c->dtype);

	switch (below(s, 8)) {
	case 0:
	case 1:
		return below(s, 10);
	case 2:
		return below(s, 40);
	case 3:
		return below(s, 2000);
	case 4:
		return (1 + below(s, 3)) * chunk - 2 + below(s, 5);
	case 5:
		return p * chunk - 2 + below(s, 5);
	case 6:
		return p * below(s, 600) + below(s, 2);
	default:
		return below(s, 4) ? below(s, 8000) : below(s, MOST_ELEMS + 1);
	}
}

/* That many elements, or a few less, in 1 to 6 dimensions. */
static pl_dims random_shape(uint64_t *s, int64_t count)
{
	pl_dims shape = { 1 + below(s, 6), { 0 } };
	int64_t rest = 1;

	if (below(s, 3) == 0)
		shape.n = 1;
	for (int i = 1; i < shape.n; i++) {
		shape.d[i] = 1 + below(s, 3);
		rest *= shape.d[i];
	}
	shape.d[0] = count / rest;
	if (shape.n > 1 && below(s, 4) == 0 && shape.d[0] > 0) { /* the long one elsewhere */
		const int64_t first = shape.d[0], k = 1 + below(s, shape.n - 1);

		shape.d[0] = shape.d[k];
		shape.d[k] = first;
	}
	return shape;
}

static struct coll_case random_case(uint64_t *s, int p)
{
	struct coll_case c = { .kind = (enum coll_kind)below(s, COLL_KINDS) };
	int64_t count, most = MOST_ELEMS;

	c.dtype = multi_dtypes[below(s, MULTI_DTYPES)];
	c.op = (pld_op)below(s, 4);
	c.mode = (pld_mode)below(s, 4);
	c.scan = (pld_scan_kind)below(s, 2);
	c.root = (int)below(s, p);
	c.input = (enum coll_input)below(s, COLL_INPUTS);
	c.cells = below(s, 2) ? COLL_LINES : (enum coll_cells)below(s, COLL_CELLS);
	c.offset = below(s, 3) ? 0 : below(s, 64);
	c.settle = below(s, 4) == 0;
	c.wide_counts = below(s, 2);
	if (below(s, 5) == 0)
		c.wrong = (enum coll_wrong)below(s, COLL_WRONGS);
	if (coll_has_blocks(c.kind) || c.kind == COLL_SCATTER || c.kind == COLL_REDUCE_SCATTER_V)
		most /= p + (c.wrong != COLL_RIGHT);
	count = random_count(s, &c, p);
	c.shape = random_shape(s, count > most ? most : count);
	c.seed = multi_random(s);
	return c;
}

/* ---- batches --------------------------------------------------------------------------------- */

static pld_ctx random_subset(uint64_t *s, int n)
{
	int list[COLL_MEMBERS];

	for (int i = 0; i < n; i++)
		list[i] = i;
	for (int i = n - 1; i > 0; i--) {
		const int64_t k = below(s, i + 1);
		const int other = list[k];

		list[k] = list[i];
		list[i] = other;
	}
	return pld_domain_subset(pld_world(), list, 1 + (int)below(s, n));
}

static void batch(const struct coll_rig *world, uint64_t s)
{
	pld_ctx d[1 + SUBSETS] = { pld_world() };

	for (int i = 1; i <= SUBSETS; i++)
		d[i] = random_subset(&s, world->p);
	for (int i = 0; i < BATCH; i++) {
		const int which = below(&s, 2) ? 0 : 1 + (int)below(&s, SUBSETS);
		uint64_t call = multi_random(&s);
		struct coll_rig on;
		struct coll_case c;

		if (!pld_is_member(d[which]))
			continue;
		on = coll_on(world, d[which], which);
		c = random_case(&call, on.p);
		coll_try(&on, &c);
	}
	for (int i = 1; i <= SUBSETS; i++)
		if (pld_is_member(d[i]))
			pld_domain_free(d[i]);
}

/* Rank 0's seed, and whether its time is over: what all must know alike. */
static int64_t from_rank_0(pld_tensor one, int64_t mine)
{
	*(int64_t *)pl_data(pld_local(one)) = mine;
	pld_broadcast(one);
	return *(int64_t *)pl_data(pld_local(one));
}

static uint64_t own_seed(const char *arg)
{
	const char *text = arg ? arg : getenv("STRESS_SEED");

	return text ? strtoull(text, NULL, 0) : (uint64_t)multi_now_ns();
}

int main(int argc, char **argv)
{
	const char *seconds = getenv("STRESS_SECONDS");
	const double run_s = seconds && *seconds ? atof(seconds) / RANK_COUNTS : 1;
	struct multi m = { .program = "coll_property", .row = "batches" };
	struct coll_rig world;
	int64_t until_ns, batches = 0;
	pld_tensor one;
	uint64_t seed;

	pld_init(NULL);
	pl_set_errors(PL_ERRORS_RETURN);
	m.me = pld_rank(pld_world());
	m.n = pld_nranks(pld_world());
	world = coll_open(&m, MOST_BYTES);
	one = pld_new_window(PL_SHAPE(1), PL_INT64);
	seed = (uint64_t)from_rank_0(one, (int64_t)own_seed(argc > 1 ? argv[1] : NULL));
	if (m.me == 0)
		printf("coll_property: %d ranks, %.1f s, STRESS_SEED=%llu\n", m.n, run_s,
		       (unsigned long long)seed);
	until_ns = multi_now_ns() + (int64_t)(run_s * 1e9);
	do
		batch(&world, multi_seed(seed, (uint64_t)m.n, (uint64_t)batches++));
	while (from_rank_0(one, multi_now_ns() < until_ns));
	if (m.me == 0)
		printf("coll_property: %lld batches of %d calls\n", (long long)batches, BATCH);
	pld_free_window(one);
	coll_close(&world);
	pld_finalize();
	return 0;
}
