/*
 * coll_repeat.c - collectives back to back: every operand is written again the moment a call
 * returns, results are read late, ranks are delayed at random, and one signal serves all.
 *
 * Every rank goes round like this, so that a member that returns too early, or that is written to
 * too early, shows in somebody's data:
 *
 *	stage use k | check what use k - 1 gave | delay | call | delay | copy the result out
 *
 * Element i that rank r gives in use k is value(k, r, i), so that no two are the same.
 */
#include "config.h"

#include "multi.h"

#include <stdbool.h>

struct loop {
	const struct multi *m;
	const struct kind *kind;
	int n, me;
	int64_t rows, cols; /* of a block */
	int64_t block, all; /* elements of a block, and of a slice: P blocks */
	pld_tensor target, came, signal;
	pl_tensor input, counts; /* P blocks; P counts */
	int64_t *give, *copy, count[64];
	int32_t copied[64];
	uint64_t random;
};

struct kind {
	const char *name;
	bool in_slice; /* what a rank gives is in its slice, else in input */
	pld_mode mode;
	pl_status (*call)(struct loop *l, int k);
	void (*check)(const struct loop *l, int k);
};

static int64_t value(int k, int r, int64_t i)
{
	return ((int64_t)k * 64 + r) * 1000003 + i;
}

/* Of ranks 0 .. n - 1. */
static int64_t sum(int k, int n, int64_t i)
{
	return n * value(k, 0, i) + (int64_t)n * (n - 1) / 2 * 1000003;
}

static int root_of(const struct loop *l, int k)
{
	return k / 3 % l->n; /* the same one some times */
}

/* Rows that a rank sends to another, or has. */
static int64_t rows_of(const struct loop *l, int k, int from, int to)
{
	return (k + from + 2 * to) % (l->rows + 1);
}

static void expect_run(const struct loop *l, int k, int64_t first, int64_t n, int from, int64_t i)
{
	for (int64_t j = 0; j < n; j++)
		if (l->copy[first + j] != value(k, from, i + j))
			multi_fail(l->m,
				   "%s: use %d: element %lld: got %lld, wanted %lld of rank %d",
				   l->kind->name, k, (long long)(first + j),
				   (long long)l->copy[first + j], (long long)value(k, from, i + j),
				   from);
}

static void expect_sum(const struct loop *l, int k, int64_t first, int64_t n, int ranks)
{
	for (int64_t i = first; i < first + n; i++)
		if (l->copy[i] != sum(k, ranks, i))
			multi_fail(l->m, "%s: use %d: element %lld: got %lld, wanted %lld",
				   l->kind->name, k, (long long)i, (long long)l->copy[i],
				   (long long)sum(k, ranks, i));
}

/* ---- reductions ------------------------------------------------------------------------------ */

static pl_status allreduce(struct loop *l, int k)
{
	(void)k;
	return pld_allreduce(l->target, .signal = l->signal, .mode = l->kind->mode);
}

static void check_allreduce(const struct loop *l, int k)
{
	expect_sum(l, k, 0, l->all, l->n);
}

static pl_status reduce(struct loop *l, int k)
{
	return pld_reduce(l->target, .signal = l->signal, .root = root_of(l, k));
}

static void check_reduce(const struct loop *l, int k)
{
	if (l->me == root_of(l, k))
		expect_sum(l, k, 0, l->all, l->n);
	else
		expect_run(l, k, 0, l->all, l->me, 0);
}

static pl_status scan(struct loop *l, int k)
{
	(void)k;
	return pld_scan(l->target, .signal = l->signal);
}

static void check_scan(const struct loop *l, int k)
{
	expect_sum(l, k, 0, l->all, l->me + 1);
}

static pl_status reduce_scatter(struct loop *l, int k)
{
	(void)k;
	return pld_reduce_scatter(l->target, .signal = l->signal);
}

static void check_reduce_scatter(const struct loop *l, int k)
{
	expect_sum(l, k, l->me * l->block, l->block, l->n);
}

/* Rows from the first ranks to the last one, which has what remains. */
static int64_t share(const struct loop *l, int k, int r)
{
	return r < l->n - 1 ? (k + r) % (l->rows + 1) : -1;
}

static pl_status reduce_scatter_v(struct loop *l, int k)
{
	int64_t rest = l->n * l->rows;

	for (int r = 0; r < l->n; r++) {
		l->count[r] = r < l->n - 1 ? share(l, k, r) : rest;
		rest -= l->count[r];
	}
	return pld_reduce_scatter_v(l->target, l->counts, .signal = l->signal);
}

static void check_reduce_scatter_v(const struct loop *l, int k)
{
	int64_t before = 0;

	for (int r = 0; r < l->me; r++)
		before += share(l, k, r) * l->cols;
	expect_sum(l, k, before, l->me < l->n - 1 ? share(l, k, l->me) * l->cols : l->all - before,
		   l->n);
}

/* ---- moves ----------------------------------------------------------------------------------- */

static pl_status broadcast(struct loop *l, int k)
{
	return pld_broadcast(l->target, .signal = l->signal, .root = root_of(l, k));
}

static void check_broadcast(const struct loop *l, int k)
{
	expect_run(l, k, 0, l->all, root_of(l, k), 0);
}

static pl_tensor local_rows(const struct loop *l, int64_t rows)
{
	return pl_wrap(l->give, PL_SHAPE(rows, l->cols), PL_INT64);
}

static pl_status allgather(struct loop *l, int k)
{
	(void)k;
	return pld_allgather(local_rows(l, l->rows), l->target, .signal = l->signal);
}

static void check_gathered(const struct loop *l, int k)
{
	for (int r = 0; r < l->n; r++)
		expect_run(l, k, r * l->block, l->block, r, 0);
}

static pl_status allgather_v(struct loop *l, int k)
{
	return pld_allgather_v(local_rows(l, rows_of(l, k, l->me, 0)), l->target, l->came,
			       .signal = l->signal);
}

static void check_allgather_v(const struct loop *l, int k)
{
	int64_t before = 0;

	for (int r = 0; r < l->n; r++) {
		const int64_t rows = rows_of(l, k, r, 0);

		expect_int(l->m, "recv_counts", r, l->copied[r], rows);
		expect_run(l, k, before * l->cols, rows * l->cols, r, 0);
		before += rows;
	}
}

static pl_status gather(struct loop *l, int k)
{
	return pld_gather(local_rows(l, l->rows), l->target, .signal = l->signal,
			  .root = root_of(l, k));
}

static void check_gather(const struct loop *l, int k)
{
	if (l->me == root_of(l, k))
		check_gathered(l, k);
}

/* A block of it: the target is the first one of the window. */
static pl_status scatter(struct loop *l, int k)
{
	return pld_scatter(l->input, pl_slice(l->target, PL_AT(0, 0), PL_SHAPE(l->rows, l->cols)),
			   .signal = l->signal, .root = root_of(l, k));
}

static void check_scatter(const struct loop *l, int k)
{
	expect_run(l, k, 0, l->block, root_of(l, k), l->me * l->block);
}

static pl_status all_to_all(struct loop *l, int k)
{
	(void)k;
	return pld_all_to_all(l->input, l->target, .signal = l->signal);
}

static void check_all_to_all(const struct loop *l, int k)
{
	for (int r = 0; r < l->n; r++)
		expect_run(l, k, r * l->block, l->block, r, l->me * l->block);
}

static pl_status all_to_all_v(struct loop *l, int k)
{
	for (int r = 0; r < l->n; r++)
		l->count[r] = rows_of(l, k, l->me, r);
	return pld_all_to_all_v(l->input, l->target, l->counts, l->came, .signal = l->signal);
}

static void check_all_to_all_v(const struct loop *l, int k)
{
	for (int r = 0; r < l->n; r++) {
		const int64_t rows = rows_of(l, k, r, l->me);

		expect_int(l->m, "recv_counts", r, l->copied[r], rows);
		expect_run(l, k, r * l->block, rows * l->cols, r, l->me * l->block);
	}
}

/* ---- the barrier ----------------------------------------------------------------------------- */

/* One before the next rank's slice is read, and one after: it is written again then. */
static pl_status barrier(struct loop *l, int k)
{
	const int next = multi_next(l->m);

	(void)k;
	for (int i = 0; i < 2; i++) {
		if (l->signal.as_)
			pld_barrier(l->signal);
		else
			pld_barrier(pld_world());
		if (i == 0)
			memcpy(l->give, pld_ptr(l->target, next), 8 * (size_t)l->all);
	}
	return PL_OK;
}

static void check_barrier(const struct loop *l, int k)
{
	const int64_t *next = l->give;

	for (int64_t i = 0; i < l->all; i++)
		expect_int(l->m, "the next rank's slice", i, next[i],
			   value(k, multi_next(l->m), i));
}

/* ---- going round ----------------------------------------------------------------------------- */

static const struct kind kinds[] = {
	{ "mesh", true, PLD_MESH, allreduce, check_allreduce },
	{ "two_phase", true, PLD_TWO_PHASE, allreduce, check_allreduce },
	{ "ring", true, PLD_RING, allreduce, check_allreduce },
	{ "auto", true, PLD_AUTO, allreduce, check_allreduce },
	{ "reduce", true, PLD_AUTO, reduce, check_reduce },
	{ "scan", true, PLD_AUTO, scan, check_scan },
	{ "reduce_scatter", true, PLD_AUTO, reduce_scatter, check_reduce_scatter },
	{ "reduce_scatter_v", true, PLD_AUTO, reduce_scatter_v, check_reduce_scatter_v },
	{ "broadcast", true, PLD_AUTO, broadcast, check_broadcast },
	{ "allgather", false, PLD_AUTO, allgather, check_gathered },
	{ "allgather_v", false, PLD_AUTO, allgather_v, check_allgather_v },
	{ "gather", false, PLD_AUTO, gather, check_gather },
	{ "scatter", false, PLD_AUTO, scatter, check_scatter },
	{ "all_to_all", false, PLD_AUTO, all_to_all, check_all_to_all },
	{ "all_to_all_v", false, PLD_AUTO, all_to_all_v, check_all_to_all_v },
	{ "barrier", true, PLD_AUTO, barrier, check_barrier },
};

/* Often nothing, so that others are late; sometimes long enough to be late. */
static void delay(struct loop *l)
{
	const uint64_t r = multi_random(&l->random);

	if (r % 4 == 0)
		multi_delay(&l->random);
	if (r % 16 == 1)
		for (int64_t until = multi_now_ns() + (int64_t)(r >> 8) % 200000;
		     multi_now_ns() < until;)
			continue;
}

static void stage(struct loop *l, const struct kind *kind, int k)
{
	int64_t *to = kind->in_slice ? pl_data(pld_local(l->target)) : l->give;

	for (int64_t i = 0; i < l->all; i++)
		to[i] = value(k, l->me, i);
}

static void use(struct loop *l, const struct kind *kind, int k)
{
	if (kind->in_slice)
		stage(l, kind, k);
	if (l->kind)
		l->kind->check(l, k - 1);
	if (!kind->in_slice) /* no peer reads it, and the barrier's check does */
		stage(l, kind, k);
	l->kind = kind;
	delay(l);
	expect_status(l->m, kind->name, kind->call(l, k), PL_OK);
	delay(l);
	memcpy(l->copy, pl_data(pld_local(l->target)), 8 * (size_t)l->all);
	memcpy(l->copied, pl_data(pld_local(l->came)), 4 * (size_t)l->n);
}

static void last_use(struct loop *l, int k)
{
	l->kind->check(l, k);
	l->kind = NULL;
}

/* ---- loops ----------------------------------------------------------------------------------- */

static struct loop begin(const struct multi *m, int64_t rows, int64_t cols)
{
	struct loop l = { .m = m, .n = m->n, .me = m->me, .rows = rows, .cols = cols };

	l.block = rows * cols;
	l.all = m->n * l.block;
	l.target = pld_new_window(PL_SHAPE(m->n * rows, cols), PL_INT64);
	l.came = pld_new_window(PL_SHAPE(m->n), PL_INT32);
	l.give = calloc((size_t)l.all, 8);
	l.copy = calloc((size_t)l.all, 8);
	expect_true(m, "memory", l.give && l.copy);
	l.input = pl_wrap(l.give, PL_SHAPE(m->n * rows, cols), PL_INT64);
	l.random = multi_seed(7, (uint64_t)m->me, (uint64_t)l.all);
	return l;
}

static void end(struct loop *l)
{
	pld_free_window(l->came);
	pld_free_window(l->target);
	free(l->give);
	free(l->copy);
}

/* The counts of a call are in l itself. */
static void loops(struct loop *l, pld_tensor signal, int uses)
{
	l->counts = pl_wrap(l->count, PL_SHAPE(l->n), PL_INT64);
	l->signal = signal;
	for (int i = 0; i < ROWS(kinds); i++) {
		for (int k = 0; k < uses; k++)
			use(l, &kinds[i], k);
		last_use(l, uses - 1);
	}
}

static void mixed(struct loop *l, pld_tensor signal, int uses)
{
	uint64_t all_alike = 11;

	l->counts = pl_wrap(l->count, PL_SHAPE(l->n), PL_INT64);
	for (int k = 0; k < uses; k++) {
		const bool lines = multi_pick(&all_alike, 4) == 0;

		l->signal = lines ? (pld_tensor){ NULL, NULL } : signal;
		use(l, &kinds[multi_pick(&all_alike, ROWS(kinds))], k);
	}
	last_use(l, uses - 1);
}

/* A signal that every kind and mode takes. */
static pld_tensor new_cells(const struct multi *m)
{
	return pld_new_window(PL_SHAPE(2 * (m->n - 1) + 1, m->n), PL_INT32);
}

static void free_cells(const struct multi *m, pld_tensor cells)
{
	const int32_t *cell = pl_data(pld_local(cells));

	pld_barrier(pld_world());
	for (int64_t i = 0; i < pl_count(pld_local(cells)); i++)
		expect_int(m, "cell", i, cell[i], 0);
	pld_free_window(cells);
}

/* Two phases need two rows, of which one rank's signal has one. */
static pld_tensor new_rows(const struct multi *m)
{
	return m->n > 1 ? new_cells(m) : pld_new_window(PL_SHAPE(2, 1), PL_INT32);
}

/* Large enough that a rank that comes early meets one that still reads. */
static int64_t large_cols(const struct multi *m)
{
	return (m->n <= 3 ? 32768 : 8192) / 4 / m->n;
}

static void large_on_lines(const struct multi *m)
{
	struct loop l = begin(m, 4, large_cols(m));

	loops(&l, (pld_tensor){ NULL, NULL }, m->n <= 3 ? 40 : 15);
	end(&l);
}

static void large_on_cells(const struct multi *m)
{
	struct loop l = begin(m, 4, large_cols(m));
	pld_tensor cells = new_rows(m);

	loops(&l, cells, m->n <= 3 ? 40 : 15);
	free_cells(m, cells);
	end(&l);
}

static void small_on_lines(const struct multi *m)
{
	struct loop l = begin(m, 1, 1);

	loops(&l, (pld_tensor){ NULL, NULL }, m->n <= 3 ? 200 : 40);
	end(&l);
}

static void small_on_cells(const struct multi *m)
{
	struct loop l = begin(m, 1, 1);
	pld_tensor cells = new_rows(m);

	loops(&l, cells, m->n <= 3 ? 100 : 20);
	free_cells(m, cells);
	end(&l);
}

static void mixed_kinds(const struct multi *m)
{
	struct loop l = begin(m, 3, 40);
	pld_tensor cells = new_rows(m);

	mixed(&l, cells, 1000);
	free_cells(m, cells);
	end(&l);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "large on lines", large_on_lines, 0 }, { "large on cells", large_on_cells, 0 },
		{ "small on lines", small_on_lines, 0 }, { "small on cells", small_on_cells, 0 },
		{ "mixed kinds", mixed_kinds, 0 },
	};

	return multi_run("coll_repeat", cases, ROWS(cases));
}
