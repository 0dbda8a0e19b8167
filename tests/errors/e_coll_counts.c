/*
 * e_coll_counts.c - counts that a collective cannot use, windows that cannot receive them, and the
 * errors that are known only when the counts have been exchanged: the domain stays in step.
 */
#include "config.h"

#include "collectives.h"

#define ROWS 2
#define COLS 3

#define MAKES(name)                                                                                \
	static void name(struct coll_stage *s, const struct collective *c, struct args *a,         \
			 char *text)

static pld_buffer mixed_buffer;
static pld_tensor mixed; /* all of it, of INT32: room for two operands */
static pld_tensor gone;	 /* has been freed */
static pld_tensor apart; /* (n) of INT32, of another domain with the same ranks */
static int64_t wide_counts[2 * MOST_RANKS];

static const char *counts_name(const struct collective *c)
{
	return c->takes & RECEIVED ? "send_counts" : "counts";
}

/* ---- counts given ---------------------------------------------------------------------------- */

MAKES(counts_dtype)
{
	a->counts = pl_wrap(s->shares, PL_SHAPE(s->n), PL_FP32);
	snprintf(text, WRONG_TEXT, "%s is FP32; allowed: INT32, INT64", counts_name(c));
}

MAKES(too_many_counts)
{
	a->counts = pl_wrap(s->shares, PL_SHAPE(s->n + 1), PL_INT32);
	snprintf(text, WRONG_TEXT, "%s of shape (%d) for %d members; it needs an element for each",
		 counts_name(c), s->n + 1, s->n);
}

MAKES(too_few_counts)
{
	a->counts = pl_wrap(s->shares, PL_SHAPE(s->n - 1, 1), PL_INT32);
	snprintf(text, WRONG_TEXT,
		 "%s of shape (%d, 1) for %d members; it needs an element for each", counts_name(c),
		 s->n - 1, s->n);
}

MAKES(strided_counts)
{
	a->counts = pl_slice(pl_wrap(wide_counts, PL_SHAPE(s->n, 2), PL_INT64), PL_AT(0, 0),
			     PL_SHAPE(s->n, 1));
	snprintf(text, WRONG_TEXT,
		 "%s of shape (%d, 1) has strides (2, 1); a collective takes packed ones: copy it "
		 "with pl_copy",
		 counts_name(c), s->n);
}

MAKES(counts_freed)
{
	(void)s;
	a->counts = pld_local(gone);
	snprintf(text, WRONG_TEXT, "%s: window freed at @", counts_name(c));
}

/* As INT64: all as they should be, but for the last. */
static void last_count(struct coll_stage *s, struct args *a, int64_t count)
{
	for (int i = 0; i < s->n; i++)
		wide_counts[i] = i < s->n - 1 ? ROWS : count;
	a->counts = pl_wrap(wide_counts, PL_SHAPE(s->n), PL_INT64);
}

MAKES(negative_count)
{
	(void)c;
	last_count(s, a, -1);
	snprintf(text, WRONG_TEXT, "counts[%d] is -1 after %d rows; target has %d rows", s->n - 1,
		 (s->n - 1) * ROWS, s->n * ROWS);
}

MAKES(a_row_too_many)
{
	(void)c;
	last_count(s, a, ROWS + 1);
	snprintf(text, WRONG_TEXT, "counts[%d] is %d after %d rows; target has %d rows", s->n - 1,
		 ROWS + 1, (s->n - 1) * ROWS, s->n * ROWS);
}

MAKES(most_rows)
{
	(void)c;
	last_count(s, a, INT64_MAX);
	snprintf(text, WRONG_TEXT,
		 "counts[%d] is 9223372036854775807 after %d rows; target has %d rows", s->n - 1,
		 (s->n - 1) * ROWS, s->n * ROWS);
}

MAKES(a_row_too_few)
{
	(void)c;
	last_count(s, a, ROWS - 1);
	snprintf(text, WRONG_TEXT, "counts sum up to %d rows; target has %d", s->n * ROWS - 1,
		 s->n * ROWS);
}

MAKES(sent_over_target)
{
	(void)c;
	a->counts = pl_wrap(pld_ptr(s->w, s->me), PL_SHAPE(s->n), PL_INT32);
	snprintf(text, WRONG_TEXT, "send_counts and target overlap in memory; they must not");
}

MAKES(sent_over_received)
{
	(void)c;
	a->received = pl_slice(mixed, PL_AT(1), PL_SHAPE(s->n));
	a->counts = pl_wrap(pld_ptr(mixed, s->me), PL_SHAPE(s->n), PL_INT64);
	snprintf(text, WRONG_TEXT, "send_counts and recv_counts overlap in memory; they must not");
}

/* ---- counts received ------------------------------------------------------------------------- */

MAKES(received_freed)
{
	(void)s, (void)c;
	a->received = gone;
	snprintf(text, WRONG_TEXT, "recv_counts: window freed at @");
}

MAKES(received_of_another_domain)
{
	(void)s, (void)c;
	a->received = apart;
	snprintf(text, WRONG_TEXT, "recv_counts is a window of another domain than target");
}

MAKES(received_dtype)
{
	(void)c;
	a->received = pld_window(s->cb, PL_SHAPE(s->n), PL_INT64);
	snprintf(text, WRONG_TEXT, "recv_counts is INT64; allowed: INT32");
}

MAKES(received_too_many)
{
	(void)c;
	a->received = pld_window(s->cb, PL_SHAPE(s->n, 2), PL_INT32);
	snprintf(text, WRONG_TEXT,
		 "recv_counts of shape (%d, 2) for %d members; it needs an element for each", s->n,
		 s->n);
}

MAKES(received_strided)
{
	(void)c;
	a->received = pl_slice(pld_window(s->cb, PL_SHAPE(s->n, 2), PL_INT32), PL_AT(0, 0),
			       PL_SHAPE(s->n, 1));
	snprintf(text, WRONG_TEXT,
		 "recv_counts of shape (%d, 1) has strides (2, 1); a collective takes packed "
		 "ones: copy it with pl_copy",
		 s->n);
}

MAKES(received_over_target)
{
	const int elems = s->n * ROWS * COLS;

	(void)c;
	a->target = pld_window(mixed_buffer, PL_SHAPE(s->n * ROWS, COLS), PL_INT32);
	a->received = pl_slice(mixed, PL_AT(elems - 1), PL_SHAPE(s->n));
	snprintf(text, WRONG_TEXT, "recv_counts and target overlap in memory; they must not");
}

MAKES(received_over_signal)
{
	(void)c;
	a->signal = pl_slice(mixed, PL_AT(0), PL_SHAPE(s->n));
	a->received = pl_slice(mixed, PL_AT(s->n - 1), PL_SHAPE(s->n));
	snprintf(text, WRONG_TEXT, "recv_counts and .signal overlap in memory; they must not");
}

MAKES(received_over_local)
{
	const int64_t elems = pl_count(a->local);

	a->local = pl_wrap(pld_ptr(mixed, s->me), PL_SHAPE(elems / COLS, COLS), PL_INT32);
	a->received = pl_slice(mixed, PL_AT(elems - 1), PL_SHAPE(s->n));
	snprintf(text, WRONG_TEXT, "%s and recv_counts overlap in memory; they must not",
		 c->local_name);
}

static const struct wrong rows[] = {
	{ "counts of FP32", COUNTS, 1, counts_dtype },
	{ "a count too many", COUNTS, 1, too_many_counts },
	{ "a count too few", COUNTS, 1, too_few_counts },
	{ "strided counts", COUNTS, 2, strided_counts },
	{ "freed counts", COUNTS, 1, counts_freed },
	{ "a negative count", COUNTS | OP, 1, negative_count },
	{ "a row too many", COUNTS | OP, 1, a_row_too_many },
	{ "INT64_MAX rows", COUNTS | OP, 1, most_rows },
	{ "a row too few", COUNTS | OP, 1, a_row_too_few },
	{ "send_counts over target", COUNTS | RECEIVED, 1, sent_over_target },
	{ "send_counts over recv_counts", COUNTS | RECEIVED, 1, sent_over_received },
	{ "freed recv_counts", RECEIVED, 1, received_freed },
	{ "recv_counts of another domain", RECEIVED, 1, received_of_another_domain },
	{ "recv_counts of INT64", RECEIVED, 1, received_dtype },
	{ "a received count too many", RECEIVED, 1, received_too_many },
	{ "strided recv_counts", RECEIVED, 2, received_strided },
	{ "recv_counts over target", RECEIVED, 1, received_over_target },
	{ "recv_counts over signal", RECEIVED, 1, received_over_signal },
	{ "recv_counts over local", RECEIVED, 1, received_over_local },
};

/* ---- more rows than INT32 can say ------------------------------------------------------------ */

#define MANY_ROWS (INT64_C(1) << 31)

static const char many_text[] = "%s has 2147483648 rows; recv_counts are INT32: at most 2147483647";

/* Rows of nothing: so many need no memory. */
static void many_rows(struct coll_stage *s, pld_tensor signal)
{
	const pl_tensor local = pl_wrap(s->local, PL_SHAPE(MANY_ROWS, 0), PL_INT32);
	const pl_tensor input = pl_wrap(s->local, PL_SHAPE(s->n * MANY_ROWS, 0), PL_INT32);
	const pl_tensor counts = pl_wrap(s->shares, PL_SHAPE(s->n), PL_INT32);
	const pld_tensor few = pld_window(s->b, PL_SHAPE(s->n, 0), PL_INT32);
	const pld_tensor many = pld_window(s->b, PL_SHAPE(s->n * MANY_ROWS, 0), PL_INT32);
	char text[WRONG_TEXT];

	snprintf(text, sizeof(text), many_text, "local");
	FAILS(pld_allgather_v(local, few, s->counts, .signal = signal), PL_EINVAL,
	      "pld_allgather_v", text);
	snprintf(text, sizeof(text), many_text, "a block of target");
	FAILS(pld_all_to_all_v(input, many, counts, s->counts, .signal = signal), PL_EINVAL,
	      "pld_all_to_all_v", text);
	HOLDS(coll_untouched(s));
}

/* ---- known only afterwards ------------------------------------------------------------------- */

static int all_are(pld_tensor t, int me, int32_t value)
{
	const int32_t *at = pld_ptr(t, me);

	for (int64_t i = 0; i < pl_count(pld_local(t)); i++)
		if (at[i] != value)
			return 0;
	return 1;
}

/* A row too many together: every member is told, and nothing has moved but the counts. */
static void no_room(struct coll_stage *s, pld_tensor signal)
{
	const int32_t *received = pld_ptr(s->counts, s->me);
	const int mine = s->me == s->n - 1 ? ROWS + 1 : ROWS;
	const pl_tensor local = pl_wrap(s->local, PL_SHAPE(mine, COLS), PL_INT32);
	char text[WRONG_TEXT];

	coll_fill(s);
	snprintf(text, sizeof(text), "the members have %d rows together; target has room for %d",
		 s->n * ROWS + 1, s->n * ROWS);
	FAILS(pld_allgather_v(local, s->w, s->counts, .signal = signal), PL_EINVAL,
	      "pld_allgather_v", text);
	HOLDS(all_are(s->w, s->me, 77) && all_are(s->sig_v, s->me, 0));
	for (int i = 0; i < s->n; i++)
		HOLDS(received[i] == (i == s->n - 1 ? ROWS + 1 : ROWS));
	WORKS(pld_barrier(s->d));
}

/* Rank `odd` sends a wrong number to the last rank: it is told, after all have received. */
static void wrong_number(struct coll_stage *s, pld_tensor signal, int odd, int64_t number)
{
	const int32_t *received = pld_ptr(s->counts, s->me);
	const pl_tensor input = pl_wrap(s->local, PL_SHAPE(s->n * ROWS, COLS), PL_INT32);
	pl_tensor counts;
	char text[WRONG_TEXT];

	coll_fill(s);
	for (int i = 0; i < s->n; i++)
		wide_counts[i] = s->me == odd && i == s->n - 1 ? number : 1;
	counts = pl_wrap(wide_counts, PL_SHAPE(s->n), PL_INT64);
	if (number < 0)
		snprintf(text, sizeof(text),
			 "send_counts[%d] is %d; allowed: 0 to %d; it counted as 0", s->n - 1,
			 (int)number, ROWS);
	else
		snprintf(text, sizeof(text),
			 "send_counts[%d] is %d; a block has %d rows, so many were sent and the "
			 "rest was cut off",
			 s->n - 1, (int)number, ROWS);
	if (s->me == odd)
		FAILS(pld_all_to_all_v(input, s->w, counts, s->counts, .signal = signal), PL_EINVAL,
		      "pld_all_to_all_v", text);
	else
		WORKS(pld_all_to_all_v(input, s->w, counts, s->counts, .signal = signal));
	for (int i = 0; i < s->n; i++) {
		const int cut = i == odd && s->me == s->n - 1;
		const int rows_came = !cut ? 1 : number < 0 ? 0 : ROWS;

		HOLDS(received[i] == rows_came);
		for (int k = 0; k < ROWS; k++)
			HOLDS(pl_read_int(s->w, PL_AT(i * ROWS + k, 0)) ==
			      (k < rows_came ? 1000 * i : 77));
	}
	WORKS(pld_barrier(s->d));
}

static void afterwards(struct coll_stage *s, pld_tensor signal)
{
	for (int i = 0; i < (int)(sizeof(s->local) / sizeof(s->local[0])); i++)
		s->local[i] = 1000 * s->me;
	no_room(s, signal);
	for (int odd = 0; odd < s->n; odd++) {
		wrong_number(s, signal, odd, -1);
		wrong_number(s, signal, odd, ROWS + 1);
	}
}

static void all(int me, int n)
{
	const pld_tensor none = { NULL, NULL };
	pld_ctx d = pld_domain_split(pld_world(), 0, -me);
	pld_ctx other = pld_domain_split(pld_world(), 0, -me);
	struct coll_stage *s = coll_stage_new(d, ROWS, COLS);

	mixed_buffer = pld_alloc_window_buffer(.bytes = (n * ROWS * COLS + 2 * n) * 4, .domain = d);
	mixed = pld_window(mixed_buffer, PL_SHAPE(n * ROWS * COLS + 2 * n), PL_INT32);
	gone = pld_new_window(PL_SHAPE(n), PL_INT32, .domain = d);
	apart = pld_new_window(PL_SHAPE(n), PL_INT32, .domain = other);
	place(PL_WHERE), pld_free_window(gone);
	coll_fill(s);
	coll_refuse(s, rows, sizeof(rows) / sizeof(rows[0]));
	many_rows(s, none);
	many_rows(s, s->sig);
	afterwards(s, none);
	afterwards(s, s->sig);
	coll_works(s);
	WORKS(pld_free_window_buffer(mixed_buffer));
	WORKS(pld_free_window(apart));
	coll_stage_free(s);
	WORKS(pld_domain_free(other));
	WORKS(pld_domain_free(d));
}

int main(void)
{
	return errors_main(all);
}
