/*
 * e_coll_local.c - wrong local operands of every collective: what they are, and what they overlap;
 * beside each overlap, the places next to it that are right.
 */
#include "config.h"

#include "collectives.h"

#define ROWS 2
#define COLS 3

#define MAKES(name)                                                                                \
	static void name(struct coll_stage *s, const struct collective *c, struct args *a,         \
			 char *text)

/* Of the stage's domain. */
static pld_tensor big;	/* rows for a target and any operand */
static pld_tensor gone; /* has been freed */

static int operand_rows(struct coll_stage *s, const struct collective *c)
{
	return (int)pl_dim(coll_local(s, c, s->w), 0);
}

/* ---- by themselves --------------------------------------------------------------------------- */

MAKES(dtype)
{
	a->root = s->me; /* the one that scatter reads */
	a->local = coll_local(s, c, pld_window(s->b, PL_SHAPE(s->n * ROWS, COLS), PL_FP32));
	snprintf(text, WRONG_TEXT, "%s is FP32, target is INT32", c->local_name);
}

static void other_rows(struct coll_stage *s, const struct collective *c, struct args *a, char *text,
		       int more)
{
	const int right = operand_rows(s, c), rows = right + more;

	a->root = s->me;
	a->local = pl_wrap(s->local, PL_SHAPE(rows, COLS), PL_INT32);
	snprintf(text, WRONG_TEXT, "%s of shape (%d, %d) has %d elements; it needs %d",
		 c->local_name, rows, COLS, rows * COLS, right * COLS);
}

MAKES(a_row_short)
{
	other_rows(s, c, a, text, -1);
}

MAKES(a_row_long)
{
	other_rows(s, c, a, text, 1);
}

/* Any number of rows, but they are the target's. */
MAKES(columns)
{
	a->local = pl_wrap(s->local, PL_SHAPE(5, COLS + 1), PL_INT32);
	snprintf(text, WRONG_TEXT, "%s of shape (5, %d) has %d elements; it needs %d",
		 c->local_name, COLS + 1, 5 * (COLS + 1), 5 * COLS);
}

MAKES(strided)
{
	const int rows = operand_rows(s, c);

	a->root = s->me;
	a->local = pl_slice(pl_wrap(s->local, PL_SHAPE(rows, COLS + 1), PL_INT32), PL_AT(0, 1),
			    PL_SHAPE(rows, COLS));
	snprintf(text, WRONG_TEXT,
		 "%s of shape (%d, %d) has strides (%d, 1); a collective takes packed ones: copy "
		 "it with pl_copy",
		 c->local_name, rows, COLS, COLS + 1);
}

MAKES(freed)
{
	a->root = s->me;
	a->local = pld_local(gone);
	snprintf(text, WRONG_TEXT, "%s: window freed at @", c->local_name);
}

/* ---- and the target -------------------------------------------------------------------------- */

/* Of one member, the own block is the slice. */
static const char *may_be(const struct coll_stage *s, const struct collective *c)
{
	const int block = c->local_is == ONE_BLOCK && c->takes & BLOCKS;

	if (c->takes & INPUT || (block && s->n == 1))
		return "exactly that slice, or ";
	return block ? "exactly the own block of it, or " : "";
}

/* Both in big: the target from one row on, the operand from another element on. */
static void lay(struct coll_stage *s, const struct collective *c, struct args *a, int target_row,
		int elem)
{
	a->root = s->me;
	a->target = pl_slice(big, PL_AT(target_row, 0), PL_SHAPE(s->n * ROWS, COLS));
	a->local = pl_wrap((int32_t *)pld_ptr(big, s->me) + elem,
			   PL_SHAPE(operand_rows(s, c), COLS), PL_INT32);
}

static void overlap(struct coll_stage *s, const struct collective *c, struct args *a, char *text,
		    int target_row, int elem)
{
	lay(s, c, a, target_row, elem);
	snprintf(text, WRONG_TEXT,
		 "%s overlaps the own slice of target; allowed: %sdisjoint from it", c->local_name,
		 may_be(s, c));
}

MAKES(over_the_first_element)
{
	const int elems = operand_rows(s, c) * COLS;

	overlap(s, c, a, text, s->n * s->n * ROWS, s->n * s->n * ROWS * COLS - elems + 1);
}

MAKES(over_the_last_element)
{
	overlap(s, c, a, text, 0, s->n * ROWS * COLS - 1);
}

/* One element behind what would be in place. */
MAKES(beside_the_place)
{
	overlap(s, c, a, text, 0, c->local_is == ONE_BLOCK ? s->me * ROWS * COLS + 1 : 1);
}

/* Exactly a part of the target, but not one that this collective may have. */
MAKES(in_a_wrong_place)
{
	const int block = c->local_is == ONE_BLOCK && c->takes & BLOCKS;

	overlap(s, c, a, text, 0, block ? (s->me + 1) % s->n * ROWS * COLS : 0);
}

static void over_a_peer(struct coll_stage *s, const struct collective *c, struct args *a,
			char *text, int peer)
{
	lay(s, c, a, 1, 0);
	a->local = pl_slice(pl_at(pld_all(big), peer), PL_AT(0, 0),
			    PL_SHAPE(operand_rows(s, c), COLS));
	snprintf(text, WRONG_TEXT, "%s overlaps rank %d's slice of target", c->local_name, peer);
}

MAKES(over_the_next)
{
	over_a_peer(s, c, a, text, (s->me + 1) % s->n);
}

MAKES(over_the_one_before)
{
	over_a_peer(s, c, a, text, (s->me + s->n - 1) % s->n);
}

static const struct wrong rows[] = {
	{ "local of FP32", LOCAL, 1, dtype },
	{ ".input of FP32", INPUT, 1, dtype },
	{ "local a row short", LOCAL | BLOCKS, 1, a_row_short },
	{ "local a row long", LOCAL | BLOCKS, 1, a_row_long },
	{ "input of scatter a row short", LOCAL | ROOT, 1, a_row_short },
	{ ".input a row short", INPUT, 1, a_row_short },
	{ ".input a row long", INPUT, 1, a_row_long },
	{ "strided local", LOCAL, 1, strided },
	{ "strided .input", INPUT, 1, strided },
	{ "freed local", LOCAL, 1, freed },
	{ "freed .input", INPUT, 1, freed },
	{ "local over the first element", LOCAL, 1, over_the_first_element },
	{ ".input over the first element", INPUT, 1, over_the_first_element },
	{ "local over the last element", LOCAL, 1, over_the_last_element },
	{ ".input over the last element", INPUT, 1, over_the_last_element },
	{ "local beside the place", LOCAL, 1, beside_the_place },
	{ ".input beside the place", INPUT, 1, beside_the_place },
	{ "local in a wrong place", LOCAL, 2, in_a_wrong_place },
	{ "local over the next rank's slice", LOCAL, 2, over_the_next },
	{ ".input over the next rank's slice", INPUT, 2, over_the_next },
	{ "local over another rank's slice", LOCAL, 3, over_the_one_before },
	{ ".input over another rank's slice", INPUT, 3, over_the_one_before },
};

/* ---- right ones ------------------------------------------------------------------------------ */

static void allowed(struct coll_stage *s, const struct collective *c)
{
	const int elems = operand_rows(s, c) * COLS, before = s->n * s->n * ROWS;
	struct args a = coll_args(s, c);
	const char *where;

	lay(s, c, &a, before, before * COLS - elems);
	a.root = 0;
	WORKS(c->call(&a, &where));
	lay(s, c, &a, 0, s->n * ROWS * COLS);
	a.root = 0;
	WORKS(c->call(&a, &where));
	if (*may_be(s, c)) {
		lay(s, c, &a, 0, c->local_is == ONE_BLOCK ? s->me * ROWS * COLS : 0);
		a.root = 0;
		WORKS(c->call(&a, &where));
	}
}

/* A scatter reads its input on root alone. */
static void not_read(struct coll_stage *s, const struct collective *c)
{
	struct args a = coll_args(s, c);
	const char *where;

	a.root = s->n - 1;
	if (s->me != a.root)
		a.local = (pl_tensor){ NULL, NULL };
	WORKS(c->call(&a, &where));
}

static void all(int me, int n)
{
	pld_ctx d = pld_domain_split(pld_world(), 0, -me);
	struct coll_stage *s = coll_stage_new(d, ROWS, COLS);

	big = pld_new_window(PL_SHAPE((n * n + 2 * n) * ROWS, COLS), PL_INT32, .domain = d);
	gone = pld_new_window(PL_SHAPE(n * ROWS, COLS), PL_INT32, .domain = d);
	place(PL_WHERE), pld_free_window(gone);
	coll_fill(s);
	coll_refuse(s, rows, sizeof(rows) / sizeof(rows[0]));
	/* columns that do not fit rows: only where rows are free */
	for (int i = 0; i < ncollectives; i++) {
		const struct wrong row = { "columns", LOCAL | RECEIVED, 1, columns };

		if (!(collectives[i].takes & BLOCKS))
			coll_refuse_one(s, &row, &collectives[i]);
	}
	WORKS(pld_barrier(d));
	for (int i = 0; i < ncollectives; i++) {
		if (collectives[i].takes & (LOCAL | INPUT))
			allowed(s, &collectives[i]);
		if (collectives[i].local_is == ALL_SLICES)
			not_read(s, &collectives[i]);
	}
	coll_works(s);
	WORKS(pld_free_window(big));
	coll_stage_free(s);
	WORKS(pld_domain_free(d));
}

int main(void)
{
	return errors_main(all);
}
