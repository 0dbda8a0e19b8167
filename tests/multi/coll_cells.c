/*
 * coll_cells.c - a collective with a signal uses exactly the cells that it says, whatever the
 * shape: a rank that comes late finds the others' credits there, and nothing anywhere else.
 */
#include "config.h"

#include "multi.h"

#include <stdbool.h>

enum { PATIENCE_S = 20 };

struct form {
	const char *name;
	pld_mode mode;
	/* The signal in a buffer of cells, and where in the buffer member r's cell of a row is. */
	pld_tensor (*signal)(pld_buffer b, int64_t p);
	int64_t (*cell)(int64_t p, int64_t row, int64_t r);
};

/* ---- one row --------------------------------------------------------------------------------- */

static pld_tensor plain(pld_buffer b, int64_t p)
{
	return pld_window(b, PL_SHAPE(p), PL_INT32);
}

static pld_tensor column(pld_buffer b, int64_t p)
{
	return pld_window(b, PL_SHAPE(p, 1), PL_INT32);
}

static pld_tensor strided(pld_buffer b, int64_t p)
{
	return pld_window(b, PL_SHAPE(p, 3), PL_INT32);
}

static pld_tensor lane(pld_buffer b, int64_t p)
{
	return pl_slice(strided(b, p), PL_AT(0, 2), PL_SHAPE(p, 1));
}

/* Fewer than P in the first extent: one after the other. */
static pld_tensor packed(pld_buffer b, int64_t p)
{
	return pld_window(b, PL_SHAPE(1, 2, p), PL_INT32);
}

static int64_t at_r(int64_t p, int64_t row, int64_t r)
{
	return row * p + r;
}

static int64_t at_3r(int64_t p, int64_t row, int64_t r)
{
	(void)p;
	return row + 3 * r;
}

static int64_t at_3r_2(int64_t p, int64_t row, int64_t r)
{
	return at_3r(p, row, r) + 2;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static pld_tensor two_rows(pld_buffer b, int64_t p)
{
	return pld_window(b, PL_SHAPE(2, p), PL_INT32);
}

static pld_tensor ring_rows(pld_buffer b, int64_t p)
{
	return pld_window(b, PL_SHAPE(2 * (p - 1), p), PL_INT32);
}

static pld_tensor part(pld_buffer b, int64_t p)
{
	return pl_slice(pld_window(b, PL_SHAPE(2 * p, p + 2), PL_INT32), PL_AT(1, 1),
			PL_SHAPE(2 * (p - 1), p));
}

static int64_t at_part(int64_t p, int64_t row, int64_t r)
{
	return (row + 1) * (p + 2) + 1 + r;
}

static const struct form forms[] = {
	{ "[P]", PLD_MESH, plain, at_r },
	{ "[P, 1]", PLD_MESH, column, at_r },
	{ "[P, 3]", PLD_MESH, strided, at_3r },
	{ "column of [P, 3]", PLD_MESH, lane, at_3r_2 },
	{ "[1, 2, P]", PLD_MESH, packed, at_r },
	{ "[2, P], two phases", PLD_TWO_PHASE, two_rows, at_r },
	{ "[2 (P - 1), P], ring", PLD_RING, ring_rows, at_r },
	{ "part of [2 P, P + 2], ring", PLD_RING, part, at_part },
};

/* ---- being late ------------------------------------------------------------------------------ */

/*
 * Rows in which r tells this rank while it is late.  Mesh and two phases begin with a barrier.  On
 * a ring only the left neighbour tells, each time that it is told itself: P - 1 times, since the
 * right one waits for this rank.
 */
static int64_t tells(const struct multi *m, const struct form *f, int r)
{
	if (f->mode != PLD_RING)
		return r != m->me;
	return r == multi_prev(m) ? m->n - 1 : 0;
}

/* Whether somebody must have told this rank in cell i. */
static bool told(const struct multi *m, const struct form *f, int64_t i)
{
	for (int r = 0; r < m->n; r++)
		for (int64_t row = 0; row < tells(m, f, r); row++)
			if (f->cell(m->n, row, r) == i)
				return true;
	return false;
}

static void look(const struct multi *m, const struct form *f, pld_tensor all)
{
	const int64_t n = pl_count(pld_local(all)), most_ns = PATIENCE_S * INT64_C(1000000000);
	const int32_t *cell = pl_data(pld_local(all));
	const struct timespec later = { 0, 1000000 };

	for (int64_t i = 0; i < n; i++)
		if (told(m, f, i))
			expect_status(m, f->name,
				      pld_wait_for(all, PL_AT(i), 1, PLD_WAIT_GE, most_ns), PL_OK);
	nanosleep(&later, NULL); /* for what should not come */
	for (int64_t i = 0; i < n; i++)
		expect_int(m, f->name, i, cell[i], told(m, f, i));
}

static void late(const struct multi *m, const struct form *f, int who)
{
	const int64_t n = 2 * m->n * (int64_t)(m->n + 2);
	pld_buffer b = pld_alloc_window_buffer(.bytes = 4 * n);
	pld_tensor target = pld_new_window(PL_SHAPE(5), PL_INT32);
	int32_t *x = pl_data(pld_local(target));

	for (int i = 0; i < 5; i++)
		x[i] = m->me + i;
	if (m->me == who)
		look(m, f, pld_window(b, PL_SHAPE(n), PL_INT32));
	pld_allreduce(target, .signal = f->signal(b, m->n), .mode = f->mode);
	for (int i = 0; i < 5; i++)
		expect_int(m, f->name, i, x[i], m->n * (m->n - 1) / 2 + i * m->n);
	pld_free_window(target);
	pld_free_window_buffer(b);
}

static void all(const struct multi *m)
{
	for (int i = 0; i < ROWS(forms); i++)
		for (int who = 0; who < m->n; who++)
			late(m, &forms[i], who);
}

int main(void)
{
	static const struct multi_case cases[] = { { "late", all, 2 } };

	return multi_run("coll_cells", cases, ROWS(cases));
}
