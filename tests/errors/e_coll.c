/*
 * e_coll.c - wrong targets, small arguments and options of every collective; each is refused by the
 * rank that gives it, alone, and nobody else notices.
 */
#include "config.h"

#include "collectives.h"

#define ROWS 2
#define COLS 3

/* Of one domain, like what coll_stage has. */
static struct {
	pld_tensor gone;   /* has been freed */
	pld_tensor uneven; /* a row more than blocks have */
	pld_tensor wide;   /* a column more on either side */
} windows;

/* ---- small arguments ------------------------------------------------------------------------- */

static void op_below(struct coll_stage *s, const struct collective *c, struct args *a, char *text)
{
	(void)s, (void)c;
	a->op = (pld_op)-1;
	snprintf(text, WRONG_TEXT,
		 "op is %d; allowed: PLD_SUM (0), PLD_MAX (1), PLD_MIN (2), PLD_PROD (3)", -1);
}

static void op_above(struct coll_stage *s, const struct collective *c, struct args *a, char *text)
{
	(void)s, (void)c;
	a->op = (pld_op)4;
	snprintf(text, WRONG_TEXT,
		 "op is %d; allowed: PLD_SUM (0), PLD_MAX (1), PLD_MIN (2), PLD_PROD (3)", 4);
}

static void mode_below(struct coll_stage *s, const struct collective *c, struct args *a, char *text)
{
	(void)s, (void)c;
	a->mode = (pld_mode)-1;
	snprintf(text, WRONG_TEXT,
		 "mode is %d; allowed: PLD_AUTO (0), PLD_MESH (1), PLD_TWO_PHASE (2), PLD_RING (3)",
		 -1);
}

static void mode_above(struct coll_stage *s, const struct collective *c, struct args *a, char *text)
{
	(void)s, (void)c;
	a->mode = (pld_mode)4;
	snprintf(text, WRONG_TEXT,
		 "mode is %d; allowed: PLD_AUTO (0), PLD_MESH (1), PLD_TWO_PHASE (2), PLD_RING (3)",
		 4);
}

static void kind_below(struct coll_stage *s, const struct collective *c, struct args *a, char *text)
{
	(void)s, (void)c;
	a->kind = (pld_scan_kind)-1;
	snprintf(text, WRONG_TEXT, "kind is %d; allowed: PLD_INCLUSIVE (0), PLD_EXCLUSIVE (1)", -1);
}

static void kind_above(struct coll_stage *s, const struct collective *c, struct args *a, char *text)
{
	(void)s, (void)c;
	a->kind = (pld_scan_kind)2;
	snprintf(text, WRONG_TEXT, "kind is %d; allowed: PLD_INCLUSIVE (0), PLD_EXCLUSIVE (1)", 2);
}

static void root_below(struct coll_stage *s, const struct collective *c, struct args *a, char *text)
{
	(void)c;
	a->root = -1;
	snprintf(text, WRONG_TEXT, "root %d; the target's domain has ranks 0 to %d", -1, s->n - 1);
}

static void root_above(struct coll_stage *s, const struct collective *c, struct args *a, char *text)
{
	(void)c;
	a->root = s->n;
	snprintf(text, WRONG_TEXT, "root %d; the target's domain has ranks 0 to %d", s->n,
		 s->n - 1);
}

/* ---- targets --------------------------------------------------------------------------------- */

static void target_freed(struct coll_stage *s, const struct collective *c, struct args *a,
			 char *text)
{
	(void)s, (void)c;
	a->target = windows.gone;
	snprintf(text, WRONG_TEXT, "target: window freed at @");
}

static void target_strided(struct coll_stage *s, const struct collective *c, struct args *a,
			   char *text)
{
	(void)c;
	a->target = pl_slice(windows.wide, PL_AT(0, 1), PL_SHAPE(s->n * ROWS, COLS));
	snprintf(text, WRONG_TEXT,
		 "target of shape (%d, %d) has strides (%d, 1); a collective takes packed ones: "
		 "copy it with pl_copy",
		 s->n * ROWS, COLS, COLS + 2);
}

static void target_uneven(struct coll_stage *s, const struct collective *c, struct args *a,
			  char *text)
{
	(void)c;
	a->target = windows.uneven;
	snprintf(text, WRONG_TEXT,
		 "target of shape (%d, %d) for %d members; it is a block of rows a member: the "
		 "first extent must be a multiple of %d",
		 s->n * ROWS + 1, COLS, s->n, s->n);
}

static const struct wrong rows[] = {
	{ "op -1", OP, 1, op_below },
	{ "op 4", OP, 1, op_above },
	{ "mode -1", MODE, 1, mode_below },
	{ "mode 4", MODE, 1, mode_above },
	{ "kind -1", KIND, 1, kind_below },
	{ "kind 2", KIND, 1, kind_above },
	{ "root -1", ROOT, 1, root_below },
	{ "root P", ROOT, 1, root_above },
	{ "a freed target", TARGET, 1, target_freed },
	{ "a strided target", TARGET, 1, target_strided },
	{ "an uneven target", BLOCKS, 2, target_uneven },
};

/* ---- options --------------------------------------------------------------------------------- */

static void options_of(struct coll_stage *s, const struct collective *c)
{
	static const size_t sizes[] = { 0, 7 };
	struct args a = coll_args(s, c);
	char text[WRONG_TEXT];
	const char *where;
	int got;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		snprintf(text, sizeof(text),
			 "options without their size: size_ is %d; use the macro %s(..), or set "
			 "size_ to the struct's size",
			 (int)sizes[i], c->name);
		errors_begin();
		got = c->sized(&a, sizes[i], where = PL_WHERE);
		errors_fails(got, c->name, PL_EINVAL, c->name, text, where);
	}
	errors_begin();
	got = c->sized(&a, c->opts_bytes + sizeof(int64_t), where = PL_WHERE);
	errors_fails(got, c->name, PL_EINVAL, c->name,
		     "options of * bytes with a value at byte *, this library knows *: the "
		     "program is newer than the library",
		     where);
	HOLDS(coll_untouched(s));
}

static void options(struct coll_stage *s)
{
	for (int i = 0; i < ncollectives; i++)
		if (collectives[i].sized)
			options_of(s, &collectives[i]);
	WORKS(pld_barrier(s->d));
	for (int i = 0; i < ncollectives; i++) {
		struct args a = coll_args(s, &collectives[i]);

		/* what is behind the struct is not looked at */
		if (collectives[i].sized)
			WORKS(collectives[i].sized(&a, collectives[i].opts_bytes, PL_WHERE));
	}
}

/* ---- null handles ---------------------------------------------------------------------------- */

/* For threads, which have had no error: a null argument is one. */
static struct coll_stage *stage;
static const struct collective *which;

static void null_fails(const struct args *a, const char *text)
{
	const char *where;
	int got;

	errors_begin();
	got = which->call(a, &where);
	errors_fails(got, which->name, PL_EINVAL, which->name, text, where);
}

static void null_target(void)
{
	struct args a = coll_args(stage, which);

	a.target = (pld_tensor){ NULL, NULL };
	a.signal = (pld_tensor){ NULL, NULL };
	null_fails(&a, which->takes & TARGET ? "target is null" : "signal is null");
}

static void null_local(void)
{
	struct args a = coll_args(stage, which);
	char text[WRONG_TEXT];

	a.root = stage->me; /* the one that scatter reads */
	a.local = (pl_tensor){ NULL, NULL };
	snprintf(text, sizeof(text), "%s is null", which->local_name);
	null_fails(&a, text);
}

static void null_counts(void)
{
	struct args a = coll_args(stage, which);

	a.counts = (pl_tensor){ NULL, NULL };
	null_fails(&a, which->takes & RECEIVED ? "send_counts is null" : "counts is null");
}

static void null_received(void)
{
	struct args a = coll_args(stage, which);

	a.received = (pld_tensor){ NULL, NULL };
	null_fails(&a, "recv_counts is null");
}

static void nulls(struct coll_stage *s)
{
	stage = s;
	for (int i = 0; i < ncollectives; i++) {
		which = &collectives[i];
		errors_fresh(null_target);
		if (which->takes & LOCAL)
			errors_fresh(null_local);
		if (which->takes & COUNTS)
			errors_fresh(null_counts);
		if (which->takes & RECEIVED)
			errors_fresh(null_received);
	}
	HOLDS(coll_untouched(s));
}

/* What a null handle was born of comes out: the status of memory that there was none of. */
static void born_of_memory(struct coll_stage *s)
{
	pld_tensor bad = pld_new_window(PL_SHAPE(INT64_MAX / 8), PL_INT64);

	HOLDS(pl_last_error()->status == PL_ENOMEM);
	for (int i = 0; i < ncollectives; i++) {
		struct args a = coll_args(s, &collectives[i]);
		const char *where;

		a.target = bad;
		if (!(collectives[i].takes & TARGET))
			a.signal = bad;
		PASSES_ON(collectives[i].call(&a, &where), PL_ENOMEM);
	}
}

/* ---- one rank alone -------------------------------------------------------------------------- */

/* Each rank in turn is wrong while the others make the right call already; then it does too. */
static void alone(struct coll_stage *s)
{
	for (int i = 0; i < ncollectives * s->n; i++) {
		const struct collective *c = &collectives[i / s->n];
		struct args right = coll_args(s, c), wrong = right;
		const char *where;
		int got;

		wrong.signal = pld_window(s->sb, PL_SHAPE(2 * s->n, s->n), PL_FP32);
		if (s->me == i % s->n) {
			errors_begin();
			got = c->call(&wrong, &where);
			errors_fails(got, c->name, PL_EINVAL, c->name,
				     "the signal is a window of FP32; a signal has INT32", where);
		}
		WORKS(c->call(&right, &where));
	}
}

static void all(int me, int n)
{
	pld_ctx d = pld_domain_split(pld_world(), 0, -me);
	struct coll_stage *s = coll_stage_new(d, ROWS, COLS);

	windows.gone = pld_new_window(PL_SHAPE(n * ROWS, COLS), PL_INT32, .domain = d);
	windows.uneven = pld_new_window(PL_SHAPE(n * ROWS + 1, COLS), PL_INT32, .domain = d);
	windows.wide = pld_new_window(PL_SHAPE(n * ROWS, COLS + 2), PL_INT32, .domain = d);
	place(PL_WHERE), pld_free_window(windows.gone);
	coll_fill(s);
	coll_refuse(s, rows, sizeof(rows) / sizeof(rows[0]));
	nulls(s);
	options(s);
	born_of_memory(s);
	alone(s);
	coll_works(s);
	WORKS(pld_free_window(windows.uneven));
	WORKS(pld_free_window(windows.wide));
	coll_stage_free(s);
	WORKS(pld_domain_free(d));
}

int main(void)
{
	return errors_main(all);
}
