/*
 * coll_shapes.c - every collective against the serial model: shapes, dtypes, operations, roots,
 * operands, signals, domains.
 *
 * Each table is one direction; the other properties of a call go round, so that they also meet.
 */
#include "config.h"

#include "coll_try.h"

enum { MOST_BYTES = 1 << 20 };

static const struct {
	const char *name;
	pl_dims shape; /* an extent of P: the number of members */
} shapes[] = {
	{ "one", { 1, { 1 } } },
	{ "few", { 1, { 3 } } },
	{ "seventeen", { 1, { 17 } } },
	{ "2-d", { 2, { 3, 5 } } },
	{ "a row", { 2, { 1, 257 } } },
	{ "3-d", { 3, { 2, 3, 43 } } },
	{ "4-d", { 4, { 3, 1, 2, 7 } } },
	{ "5-d", { 5, { 1, 2, 3, 2, 11 } } },
	{ "6-d", { 6, { 2, 1, 3, 1, 2, 3 } } },
	{ "no rows", { 1, { 0 } } },
	{ "no rows, 3-d", { 3, { 0, 4, 5 } } },
	{ "no columns", { 2, { 3, 0 } } },
	{ "one short of a chunk", { 1, { 4095 } } },
	{ "a chunk", { 2, { 16, 256 } } },
	{ "one past a chunk", { 1, { 4097 } } },
	{ "chunks", { 2, { 3, 4099 } } },
};

/* ---- going round ----------------------------------------------------------------------------- */

/* The i-th call of a table: what it does not fix. */
static struct coll_case going_round(const struct coll_rig *g, enum coll_kind kind, int i)
{
	struct coll_case c = { .kind = kind,
			       .dtype = multi_dtypes[i % MULTI_DTYPES],
			       .op = (pld_op)(i / 3 % 4),
			       .mode = (pld_mode)(i % 4),
			       .scan = (pld_scan_kind)(i / 2 % 2),
			       .root = i % g->p,
			       .shape = { 2, { 3, 7 } },
			       .input = (enum coll_input)(i / 2 % COLL_INPUTS),
			       .cells = (enum coll_cells)(i % COLL_CELLS),
			       .offset = i % 3 ? 0 : 1 + i % 5,
			       .seed = (uint64_t)(i + 1000 * (int)kind),
			       .settle = true,
			       .wide_counts = i % 2 };

	return c;
}

static void all_shapes(const struct coll_rig *g)
{
	for (int kind = 0; kind < COLL_KINDS; kind++)
		for (int i = 0; i < ROWS(shapes); i++) {
			struct coll_case c = going_round(g, (enum coll_kind)kind, i);

			c.shape = shapes[i].shape;
			coll_try(g, &c);
			if (g->p > 3 && i % 2)
				continue;
			c.cells = c.cells ? COLL_LINES : COLL_PLAIN;
			c.seed++;
			coll_try(g, &c);
		}
}

/* Every dtype with every operation, in every kind and mode that reduces, on both ways to meet. */
static void all_ops(const struct coll_rig *g)
{
	static const enum coll_kind kinds[] = { COLL_ALLREDUCE, COLL_REDUCE, COLL_SCAN,
						COLL_REDUCE_SCATTER, COLL_REDUCE_SCATTER_V };

	for (int k = 0; k < ROWS(kinds); k++)
		for (int i = 0; i < MULTI_DTYPES * 4 * 4; i++) {
			struct coll_case c = going_round(g, kinds[k], i / 4);

			if (kinds[k] != COLL_ALLREDUCE && i % 4 > 1)
				continue;
			if (g->p > 3 && (i + i / 16 + k) % 3) /* other ones, by dtype */
				continue;
			c.dtype = multi_dtypes[i / 16];
			c.op = (pld_op)(i / 4 % 4);
			c.mode = (pld_mode)(i % 4);
			c.scan = (pld_scan_kind)(i % 2);
			c.shape = *PL_SHAPE(i % 3 ? 67 : 2); /* beside the flags, too */
			c.settle = false;
			coll_try(g, &c);
		}
}

/* Every dtype, in every kind that only moves. */
static void all_dtypes(const struct coll_rig *g)
{
	static const enum coll_kind kinds[] = { COLL_BROADCAST,	  COLL_ALLGATHER, COLL_ALLGATHER_V,
						COLL_GATHER,	  COLL_SCATTER,	  COLL_ALL_TO_ALL,
						COLL_ALL_TO_ALL_V };

	for (int k = 0; k < ROWS(kinds); k++)
		for (int i = 0; i < MULTI_DTYPES * 2; i++) {
			struct coll_case c = going_round(g, kinds[k], i);

			c.dtype = multi_dtypes[i / 2];
			c.shape = *PL_SHAPE(i % 2 ? 3 : 31, i % 2 + 1);
			c.settle = false;
			coll_try(g, &c);
		}
}

static void all_roots(const struct coll_rig *g)
{
	static const enum coll_kind kinds[] = { COLL_BROADCAST, COLL_REDUCE, COLL_GATHER,
						COLL_SCATTER };

	for (int k = 0; k < ROWS(kinds); k++)
		for (int i = 0; i < 4 * g->p; i++) {
			struct coll_case c = going_round(g, kinds[k], i);

			c.root = i / 4;
			c.shape = *PL_SHAPE(i % 2 ? 1 : 700);
			c.cells = i / 2 % 2 ? COLL_PLAIN : COLL_LINES;
			coll_try(g, &c);
		}
}

static void all_operands(const struct coll_rig *g)
{
	for (int kind = COLL_ALLREDUCE; kind < COLL_KINDS; kind++)
		for (int i = 0; i < COLL_INPUTS * 8; i++) {
			struct coll_case c = going_round(g, (enum coll_kind)kind, i);

			c.input = (enum coll_input)(i / 8);
			c.mode = (pld_mode)(i % 4);
			c.cells = i / 4 % 2 ? COLL_PLAIN : COLL_LINES;
			c.shape = *PL_SHAPE(2, i % 3 ? 1 : 1500);
			coll_try(g, &c);
		}
}

/* Every shape of a signal that a kind takes, and every way that two kinds can share one. */
static void all_cells(const struct coll_rig *g)
{
	for (int kind = 0; kind < COLL_KINDS; kind++)
		for (int form = COLL_PLAIN; form < COLL_CELLS; form++)
			for (int mode = 0; mode < (kind == COLL_ALLREDUCE ? 4 : 1); mode++) {
				struct coll_case c =
					going_round(g, (enum coll_kind)kind, form + mode);

				c.cells = (enum coll_cells)form;
				c.mode = (pld_mode)mode;
				c.shape = *PL_SHAPE(form % 2 ? 5 : 8193);
				coll_try(g, &c);
			}
	for (int i = 0; i < 200; i++) {
		struct coll_case c = going_round(g, (enum coll_kind)(i * 7 % COLL_KINDS), i);

		c.mode = (pld_mode)(i / 3 % 4);
		c.cells = COLL_RINGS; /* one for all */
		c.settle = i % 20 == 19;
		coll_try(g, &c);
	}
}

/* Counts of 0 and of everything come by themselves; here somebody gives wrong ones. */
static void wrong_counts(const struct coll_rig *g)
{
	const pl_errors before = pl_set_errors(PL_ERRORS_RETURN);

	for (int i = 0; i < 48; i++) {
		struct coll_case c =
			going_round(g, i % 2 ? COLL_ALL_TO_ALL_V : COLL_ALLGATHER_V, i / 2);

		c.wrong = (enum coll_wrong)(i / 2 % COLL_WRONGS);
		c.shape = *PL_SHAPE(5, i % 4 ? 3 : 900);
		c.settle = i % 5 == 0;
		coll_try(g, &c);
	}
	pl_set_errors(before);
}

/* ---- domains --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	int n, list[9];
} domains[] = {
	{ "the last", 1, { -1 } },	  { "two, turned", 2, { 1, 0 } },
	{ "not the first", 2, { 1, 2 } }, { "not evenly spaced", 3, { 0, 3, 1 } },
	{ "ends", 3, { 4, 0, 2 } },	  { "all of eight, mixed", 8, { 5, 2, 7, 0, 1, 6, 3, 4 } },
};

static void some_of_all(const struct coll_rig *g, int i)
{
	for (int k = 0; k < 2 * COLL_KINDS; k++) {
		struct coll_case c = going_round(g, (enum coll_kind)(k % COLL_KINDS), i + k);

		c.settle = false;
		coll_try(g, &c);
	}
}

static void subsets(const struct coll_rig *g)
{
	for (int i = 0; i < ROWS(domains); i++) {
		struct coll_rig on;
		int list[9], most = 0;
		pld_ctx d;

		for (int k = 0; k < domains[i].n; k++) {
			list[k] = domains[i].list[k] < 0 ? g->p - 1 : domains[i].list[k];
			most = list[k] > most ? list[k] : most;
		}
		if (most >= g->p)
			continue;
		d = pld_domain_subset(g->domain, list, domains[i].n);
		if (!pld_is_member(d))
			continue;
		on = coll_on(g, d, 1 + i);
		some_of_all(&on, i);
		pld_domain_free(d);
	}
}

static void split(const struct coll_rig *g, int colours)
{
	pld_ctx d = pld_domain_split(g->domain, g->me % colours, -g->me);
	struct coll_rig on = coll_on(g, d, 7);

	some_of_all(&on, colours);
	pld_domain_free(d);
}

/* Calls on the world and on halves of it that overlap in the middle, in turn. */
static void overlapping(const struct coll_rig *g)
{
	int low[COLL_MEMBERS], high[COLL_MEMBERS], half = g->p / 2 + 1 < g->p ? g->p / 2 + 1 : g->p;
	pld_ctx a, b;

	for (int i = 0; i < half; i++) {
		low[i] = i;
		high[i] = g->p - 1 - i;
	}
	a = pld_domain_subset(g->domain, low, half);
	b = pld_domain_subset(g->domain, high, half);
	for (int i = 0; i < 60; i++) {
		struct coll_case c = going_round(g, (enum coll_kind)(i * 5 % COLL_KINDS), i);
		const pld_ctx d = i % 3 == 0 ? a : i % 3 == 1 ? b : g->domain;
		struct coll_rig on;

		if (!pld_is_member(d))
			continue;
		on = coll_on(g, d, 1 + i % 3);
		c.root %= on.p;
		c.settle = false;
		coll_try(&on, &c);
	}
	if (pld_is_member(a))
		pld_domain_free(a);
	if (pld_is_member(b))
		pld_domain_free(b);
}

/* ---- a plain tensor as an operand ------------------------------------------------------------ */

/* Operands that are windows, passed as such; and a target that is a part of another window. */
static void windows_as_operands(const struct multi *m)
{
	pld_tensor all = pld_new_window(PL_SHAPE(3, m->n, 4), PL_INT32);
	pld_tensor local = pld_new_window(PL_SHAPE(4), PL_INT32), target = pl_at(all, 1);
	int32_t *mine = pl_data(pld_local(local)), *got = pl_data(pld_local(all));

	for (int i = 0; i < 4; i++)
		mine[i] = 10 * m->me + i;
	expect_status(m, "allgather", pld_allgather(local, target), PL_OK);
	expect_status(m, "all_to_all", pld_all_to_all(target, pl_at(all, 2)), PL_OK);
	for (int r = 0; r < m->n; r++)
		for (int i = 0; i < 4; i++) {
			expect_int(m, "untouched", r * 4 + i, got[r * 4 + i], 0);
			expect_int(m, "gathered", r * 4 + i, got[(m->n + r) * 4 + i], 10 * r + i);
			expect_int(m, "exchanged", r * 4 + i, got[(2 * m->n + r) * 4 + i],
				   10 * m->me + i);
		}
	pld_free_window(local);
	pld_free_window(all);
}

/* ---- running them ---------------------------------------------------------------------------- */

static void on_world(const struct multi *m, void (*run)(const struct coll_rig *g))
{
	struct coll_rig g = coll_open(m, MOST_BYTES);

	run(&g);
	coll_close(&g);
}

static void splits(const struct coll_rig *g)
{
	split(g, 2);
	split(g, g->p); /* each alone */
}

#define CASE(f)                                                                                    \
	static void case_##f(const struct multi *m)                                                \
	{                                                                                          \
		on_world(m, f);                                                                    \
	}
CASE(all_shapes)
CASE(all_ops)
CASE(all_dtypes)
CASE(all_roots)
CASE(all_operands)
CASE(all_cells)
CASE(wrong_counts)
CASE(subsets)
CASE(splits)
CASE(overlapping)

int main(void)
{
	static const struct multi_case cases[] = {
		{ "shapes", case_all_shapes, 0 },
		{ "operations", case_all_ops, 0 },
		{ "dtypes", case_all_dtypes, 0 },
		{ "roots", case_all_roots, 0 },
		{ "operands", case_all_operands, 0 },
		{ "cells", case_all_cells, 0 },
		{ "wrong counts", case_wrong_counts, 0 },
		{ "subsets", case_subsets, 0 },
		{ "splits", case_splits, 0 },
		{ "overlapping", case_overlapping, 0 },
		{ "windows", windows_as_operands, 0 },
	};

	return multi_run("coll_shapes", cases, ROWS(cases));
}
