/* e_coll_signal.c - signals that a collective cannot use. */
#include "config.h"

#include "collectives.h"

#define ROWS 2
#define COLS 3

#define MAKES(name)                                                                                \
	static void name(struct coll_stage *s, const struct collective *c, struct args *a,         \
			 char *text)

static pld_tensor big;	 /* of (.., COLS): target and signal together */
static pld_tensor gone;	 /* has been freed */
static pld_tensor apart; /* of another domain with the same ranks */
static pld_tensor wide;	 /* (2 n, n + 1), so that parts of it are not packed */

MAKES(dtype)
{
	(void)c;
	a->signal = pld_window(s->sb, PL_SHAPE(2 * s->n, s->n), PL_FP32);
	snprintf(text, WRONG_TEXT, "the signal is a window of FP32; a signal has INT32");
}

MAKES(freed)
{
	(void)s;
	a->signal = gone;
	snprintf(text, WRONG_TEXT, "%s: window freed at @",
		 c->takes & TARGET ? ".signal" : "signal");
}

MAKES(of_another_domain)
{
	(void)s, (void)c;
	a->signal = apart;
	snprintf(text, WRONG_TEXT,
		 ".signal is a window of another domain than target: its cells are other "
		 "members'");
}

/* Cells in the first column of big, from one row on: what lies between them belongs to them. */
static void lay(const struct coll_stage *s, struct args *a, int target_row, pld_tensor signal)
{
	a->target = pl_slice(big, PL_AT(target_row, 0), PL_SHAPE(s->n * ROWS, COLS));
	a->signal = signal;
}

static pld_tensor column(const struct coll_stage *s, int row)
{
	return pl_slice(big, PL_AT(row, 0), PL_SHAPE(s->n, 1));
}

MAKES(over_the_first_row)
{
	(void)c;
	lay(s, a, s->n - 1, column(s, 0));
	snprintf(text, WRONG_TEXT, ".signal and target overlap in memory; they must not");
}

MAKES(over_the_last_row)
{
	(void)c;
	lay(s, a, 0, column(s, s->n * ROWS - 1));
	snprintf(text, WRONG_TEXT, ".signal and target overlap in memory; they must not");
}

/* The operand begins with the last cell. */
MAKES(under_a_local)
{
	const pl_tensor local = coll_local(s, c, s->w);

	a->root = s->me; /* the one that scatter reads */
	a->signal = column(s, 0);
	a->local = pl_wrap((int32_t *)pld_ptr(big, s->me) + (s->n - 1) * COLS,
			   PL_SHAPE(pl_dim(local, 0), COLS), PL_INT32);
	snprintf(text, WRONG_TEXT, "%s and .signal overlap in memory; they must not",
		 c->local_name);
}

MAKES(under_counts)
{
	a->signal = column(s, 0);
	a->counts = pl_wrap((int32_t *)pld_ptr(big, s->me) + (s->n - 1) * COLS, PL_SHAPE(s->n),
			    PL_INT32);
	snprintf(text, WRONG_TEXT, "%s and .signal overlap in memory; they must not",
		 c->takes & RECEIVED ? "send_counts" : "counts");
}

/* One row apart, which is right; by all together. */
static void beside(struct coll_stage *s, const struct collective *c, int target_row, int signal_row)
{
	struct args a = coll_args(s, c);
	const char *where;

	memset(pld_ptr(big, s->me), 0, (size_t)pl_count(pld_local(big)) * sizeof(int32_t));
	WORKS(pld_barrier(s->d));
	lay(s, &a, target_row, column(s, signal_row));
	WORKS(c->call(&a, &where));
	WORKS(pld_barrier(s->d));
	for (int i = 0; i < s->n; i++)
		HOLDS(pl_read_int(big, PL_AT(signal_row + i, 0)) == 0);
}

/* ---- too few cells --------------------------------------------------------------------------- */

static void few(const struct coll_stage *s, struct args *a, char *text, pld_tensor signal,
		const char *shape)
{
	a->signal = signal;
	snprintf(text, WRONG_TEXT,
		 "a signal of shape %s for %d members; it needs %d cells: [%d], [%d, 1], or a "
		 "packed window of as many elements",
		 shape, s->n, s->n, s->n, s->n);
}

static void few_rows(const struct coll_stage *s, struct args *a, char *text, pld_mode mode,
		     pld_tensor signal, const char *shape)
{
	const int rows = mode == PLD_RING ? 2 * (s->n - 1) : 2;

	a->mode = mode;
	a->signal = signal;
	snprintf(text, WRONG_TEXT,
		 "a signal of shape %s for %d members; %s needs %d rows of %d cells: [%d, %d], or "
		 "a packed window of as many elements",
		 shape, s->n, mode == PLD_RING ? "PLD_RING" : "PLD_TWO_PHASE", rows, s->n, rows,
		 s->n);
}

/* So many elements, and the shape's text. */
static pld_tensor packed(const struct coll_stage *s, int cells, char shape[32])
{
	snprintf(shape, 32, "(%d)", cells);
	return pld_window(s->sb, PL_SHAPE(cells), PL_INT32);
}

/* So many elements, but with gaps between the rows. */
static pld_tensor loose(int rows, int cols, char shape[32])
{
	snprintf(shape, 32, "(%d, %d)", rows, cols);
	return pl_slice(wide, PL_AT(0, 0), PL_SHAPE(rows, cols));
}

MAKES(one_cell_short)
{
	char shape[32];

	(void)c;
	few(s, a, text, packed(s, s->n - 1, shape), shape);
}

MAKES(one_row_short)
{
	char shape[32];

	(void)c;
	few(s, a, text, loose(s->n - 1, s->n, shape), shape);
}

MAKES(two_phases_one_cell_short)
{
	char shape[32];

	(void)c;
	few_rows(s, a, text, PLD_TWO_PHASE, packed(s, 2 * s->n - 1, shape), shape);
}

MAKES(two_phases_one_row_short)
{
	char shape[32];

	(void)c;
	few_rows(s, a, text, PLD_TWO_PHASE, loose(2 * s->n, s->n - 1, shape), shape);
}

/* What is right for a mesh. */
MAKES(two_phases_on_a_mesh)
{
	char shape[32];

	(void)c;
	few_rows(s, a, text, PLD_TWO_PHASE, loose(s->n, 1, shape), shape);
}

MAKES(ring_one_cell_short)
{
	char shape[32];

	(void)c;
	few_rows(s, a, text, PLD_RING, packed(s, 2 * (s->n - 1) * s->n - 1, shape), shape);
}

MAKES(ring_one_row_short)
{
	char shape[32];

	(void)c;
	few_rows(s, a, text, PLD_RING, loose(2 * (s->n - 1) - 1, s->n, shape), shape);
}

MAKES(ring_on_two_phases)
{
	char shape[32];

	(void)c;
	few_rows(s, a, text, PLD_RING, loose(2, s->n, shape), shape);
}

MAKES(ring_on_a_mesh)
{
	char shape[32];

	(void)c;
	few_rows(s, a, text, PLD_RING, loose(s->n, 1, shape), shape);
}

/* From the ranks on that a row is wrong for. */
static const struct wrong rows[] = {
	{ "FP32", 0, 1, dtype },
	{ "freed", 0, 1, freed },
	{ "another domain", TARGET, 1, of_another_domain },
	{ "over the first row of target", TARGET, 1, over_the_first_row },
	{ "over the last row of target", TARGET, 1, over_the_last_row },
	{ "under a local operand", LOCAL, 1, under_a_local },
	{ "under .input", INPUT, 1, under_a_local },
	{ "under counts", COUNTS, 1, under_counts },
	{ "one cell short", 0, 1, one_cell_short },
	{ "one row short", 0, 3, one_row_short },
	{ "two phases, one cell short", MODE, 1, two_phases_one_cell_short },
	{ "two phases, one row short", MODE, 3, two_phases_one_row_short },
	{ "two phases on a mesh's", MODE, 2, two_phases_on_a_mesh },
	{ "ring, one cell short", MODE, 2, ring_one_cell_short },
	{ "ring, one row short", MODE, 3, ring_one_row_short },
	{ "ring on two phases'", MODE, 3, ring_on_two_phases },
	{ "ring on a mesh's", MODE, 2, ring_on_a_mesh },
};

static void all(int me, int n)
{
	pld_ctx d = pld_domain_split(pld_world(), 0, -me);
	pld_ctx other = pld_domain_split(pld_world(), 0, -me);
	struct coll_stage *s = coll_stage_new(d, ROWS, COLS);

	big = pld_new_window(PL_SHAPE((n * n + n + 2) * ROWS, COLS), PL_INT32, .domain = d);
	gone = pld_new_window(PL_SHAPE(2 * n, n), PL_INT32, .domain = d);
	apart = pld_new_window(PL_SHAPE(2 * n, n), PL_INT32, .domain = other);
	wide = pld_new_window(PL_SHAPE(2 * n, n + 1), PL_INT32, .domain = d);
	place(PL_WHERE), pld_free_window(gone);
	coll_fill(s);
	coll_refuse(s, rows, sizeof(rows) / sizeof(rows[0]));
	WORKS(pld_barrier(d));
	coll_works(s);
	for (int i = 0; i < ncollectives; i++) {
		if (collectives[i].takes & TARGET) {
			beside(s, &collectives[i], n, 0);
			beside(s, &collectives[i], 0, n * ROWS);
		}
	}
	for (int i = 0; i < n; i++)
		HOLDS(pl_read_int(apart, PL_AT(0, i)) == 0 && pl_read_int(wide, PL_AT(0, i)) == 0);
	WORKS(pld_free_window(big));
	WORKS(pld_free_window(apart));
	WORKS(pld_free_window(wide));
	coll_stage_free(s);
	WORKS(pld_domain_free(other));
	WORKS(pld_domain_free(d));
}

int main(void)
{
	return errors_main(all);
}
