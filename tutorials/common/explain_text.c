/* explain_text.c - says what a wrong row holds, once for all ranks where it is the same. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"

#define LINES 4 /* for so many ways to be wrong */

/* Ranks are named by number, or as seen from the row's rank; the row's own is always "own". */
enum style { BY_NUMBER, BY_PLACE };

struct text {
	char s[400]; /* what does not fit is left out */
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
	size_t n = strlen(t->s);
	va_list args;

	va_start(args, format);
	vsnprintf(t->s + n, sizeof(t->s) - n, format, args);
	va_end(args);
}

/* "rank 2" */
static void add_rank(struct text *t, const struct explain *e, int64_t row, int rank,
		     enum style style)
{
	int64_t n = e->dims.d[0];

	if (style == BY_PLACE && n > 2 && rank == (row + 1) % n)
		add(t, "the next rank");
	else if (style == BY_PLACE && n > 2 && rank == (row - 1 + n) % n)
		add(t, "the previous rank");
	else
		add(t, "rank %d", rank);
}

/* "rank 2's slice", "the own slice" */
static void add_of(struct text *t, const struct explain *e, int64_t row, int rank, enum style style,
		   const char *what)
{
	if (rank == row) {
		add(t, "the own %s", what);
	} else {
		add_rank(t, e, row, rank, style);
		add(t, "'s %s", what);
	}
}

/* "elements 3 to 5" */
static void add_range(struct text *t, int64_t first, int64_t end)
{
	if (end == first + 1)
		add(t, "element %lld", (long long)first);
	else
		add(t, "elements %lld to %lld", (long long)first, (long long)(end - 1));
}

static void add_slice(struct text *t, const struct explain *e, int64_t row,
		      const struct explain_piece *p, enum style style)
{
	int64_t first = p->first + p->shift, end = p->end + p->shift;
	int usual = p->shift == explain_usual_shift(e, row, p->first);

	if (p->times != 1)
		add(t, "%g times ", p->times);
	if (e->xrow && e->xrow < e->xlen && first / e->xrow == (end - 1) / e->xrow) {
		add(t, "row %lld of ", (long long)(first / e->xrow));
	} else if (!usual) {
		add_range(t, first, end);
		add(t, " of ");
	}
	add_of(t, e, row, p->rank, style, usual && e->len < e->xlen ? "part" : "slice");
	if (p->plus != 0)
		add(t, " %s %g", p->plus < 0 ? "minus" : "plus", p->plus < 0 ? -p->plus : p->plus);
}

/* Odd numbers other than 1 come from a use that took what another one has staged. */
static void add_use(struct text *t, const struct explain *e, int times)
{
	if (e->repeat > 1 && times % 2 && times != 1)
		add(t, ", as with data of another use");
}

/* "without rank 2's part" */
static void add_odd(struct text *t, const struct explain *e, int64_t row, struct explain_odd odd,
		    enum style style)
{
	add(t, odd.times ? "with " : "without ");
	add_of(t, e, row, odd.rank, style, "part");
	if (odd.times == 2)
		add(t, " twice");
	else if (odd.times)
		add(t, " %d times", odd.times);
}

static void add_sum(struct text *t, const struct explain *e, int64_t row,
		    const struct explain_piece *p, enum style style)
{
	int64_t usual = explain_usual_shift(e, row, p->first);
	int missing = 0, another = 1;

	for (int k = 0; k < p->nodd; k++) {
		missing += p->odd[k].times == 0;
		if (p->odd[k].times % 2 && p->odd[k].times != 1)
			another = p->odd[k].times;
	}
	add(t, "the sum ");
	if (!p->nodd) {
		add(t, "over all ranks");
		if (usual != p->shift) {
			add(t, " of ");
			add_range(t, p->first + p->shift, p->end + p->shift);
		}
	} else if (p->ambiguous) {
		add(t, "without the parts of %d ranks", missing);
	} else if (p->nodd == 2 && missing == 1 && p->odd[0].times + p->odd[1].times == 2) {
		int in = p->odd[0].times ? 0 : 1;

		add(t, "with ");
		add_of(t, e, row, p->odd[in].rank, style, "part");
		add(t, " in place of ");
		add_of(t, e, row, p->odd[1 - in].rank, style, "part");
	} else if (p->nodd > 1 && missing == p->nodd) {
		add(t, "without the parts of ranks");
		for (int k = 0; k < p->nodd; k++)
			add(t, "%s %d", k ? "," : "", p->odd[k].rank);
	} else {
		for (int k = 0; k < p->nodd; k++) {
			add(t, k ? ", " : "");
			add_odd(t, e, row, p->odd[k], style);
		}
	}
	add_use(t, e, another);
}

/* What belongs elsewhere in the row. */
static void add_other_place(struct text *t, const struct explain *e, int64_t row,
			    const struct explain_piece *p, enum style style)
{
	int64_t first = p->first + p->shift, end = p->end + p->shift, block = explain_block(e);

	add(t, "what belongs ");
	if (block && first % block == 0 && end == first + block) {
		add(t, "in ");
		add_of(t, e, row, (int)(first / block), style, "place");
	} else {
		add(t, "at ");
		add_range(t, first, end);
	}
}

static void add_what(struct text *t, const struct explain *e, int64_t row,
		     const struct explain_piece *p, enum style style)
{
	switch (p->kind) {
	case EXPLAIN_ZEROS:
		add(t, "zeros, as if nothing had been written");
		break;
	case EXPLAIN_SLICE:
		add_slice(t, e, row, p, style);
		add_use(t, e, (int)p->times);
		break;
	case EXPLAIN_SUM:
		add_sum(t, e, row, p, style);
		break;
	case EXPLAIN_MAX:
		add(t, "the maximum over all ranks");
		break;
	case EXPLAIN_MIN:
		add(t, "the minimum over all ranks");
		break;
	case EXPLAIN_PRODUCT:
		add(t, "the product over all ranks");
		break;
	case EXPLAIN_OTHER_RANK:
		add(t, "what ");
		add_rank(t, e, row, p->rank, style);
		add(t, " should have");
		break;
	case EXPLAIN_OTHER_PLACE:
		add_other_place(t, e, row, p, style);
		break;
	case EXPLAIN_TIMES:
		if (p->times == 2)
			add(t, "twice what was wanted");
		else
			add(t, "%g times what was wanted", p->times);
		add_use(t, e, (int)p->times);
		break;
	case EXPLAIN_NOTHING:
		break;
	}
}

/* The first element that is like nothing known, with its index. */
static void add_unknown(struct text *t, const struct explain *e, int64_t row,
			const struct explain_piece *p)
{
	int64_t at[PL_MAX_DIMS], rest = p->first, i = row * e->len + p->first;

	if (explain_block(e) == 1 && p->end == p->first + 1) { /* the place is said */
		add(t, "%g, wanted %g", e->got[i], e->want[i]);
		return;
	}
	at[0] = row;
	for (int64_t k = e->dims.n - 1; k > 0; k--) {
		at[k] = rest % e->dims.d[k];
		rest /= e->dims.d[k];
	}
	add(t, "unexplained, first wrong at ");
	for (int k = 0; k < e->dims.n; k++)
		add(t, "[%lld]", (long long)at[k]);
	add(t, ": got %.9g, wanted %.9g", e->got[i], e->want[i]);
}

static int is_slice(const struct explain_piece *p)
{
	return p->kind == EXPLAIN_SLICE && p->times == 1 && p->plus == 0;
}

/* "the own slice, wanted rank 0's slice" */
static void add_piece(struct text *t, const struct explain *e, int64_t row,
		      const struct explain_piece *p, const struct explain_piece *w,
		      enum style style)
{
	if (p->kind == EXPLAIN_NOTHING) {
		add_unknown(t, e, row, p);
		return;
	}
	add_what(t, e, row, p, style);
	if (w->kind == EXPLAIN_SUM && is_slice(p)) {
		add(t, ", unreduced");
		if (p->also) {
			add(t, ", or ");
			add_what(t, e, row, &(struct explain_piece){ .kind = p->also }, style);
		}
	} else if (w->kind == EXPLAIN_SUM && p->kind >= EXPLAIN_MAX && p->kind <= EXPLAIN_PRODUCT) {
		add(t, ", not the sum");
	} else if (w->kind == EXPLAIN_SLICE && p->kind != EXPLAIN_ZEROS &&
		   p->kind != EXPLAIN_TIMES) {
		struct explain_piece of = *w;

		of.first = p->first;
		of.end = p->end;
		add(t, ", wanted ");
		add_slice(t, e, row, &of, style);
	} else if (w->kind == EXPLAIN_NOTHING && is_slice(p)) {
		add(t, ", unchanged");
	}
}

/* "elements 3 to 5" of the row, "in rank 2's place" */
static void add_where(struct text *t, const struct explain *e, int64_t row,
		      const struct explain_piece *p, enum style style)
{
	int64_t place = explain_block(e);

	if (place && p->first / place == (p->end - 1) / place) {
		add(t, "in ");
		add_of(t, e, row, (int)(p->first / place), style, "place");
	} else if (place && p->first % place == 0 && p->end % place == 0) {
		add(t, "in the places of ranks %lld to %lld", (long long)(p->first / place),
		    (long long)(p->end / place - 1));
	} else {
		add_range(t, p->first, p->end);
	}
}

static void add_order(struct text *t, const struct explain *e, const struct explain_row *r,
		      enum style style)
{
	int64_t n = e->dims.d[0], same = 1, turned = 1, back = 1;
	const int64_t *order = r->order;

	for (int64_t b = 0; b < n; b++) {
		same &= order[b] == order[0];
		turned &= order[b] == (order[0] + b) % n;
		back &= order[b] == n - 1 - b;
	}
	if (same) {
		add_of(t, e, r->row, (int)order[0], style, "block");
		add(t, " in the place of every rank's");
	} else if (back) {
		add(t, "the blocks in reverse order");
	} else if (turned) {
		add(t, "the blocks in order, but beginning with ");
		add_of(t, e, r->row, (int)order[0], style, "");
		t->s[strlen(t->s) - 1] = 0;
	} else {
		add(t, "the blocks of ranks");
		for (int64_t b = 0; b < n; b++)
			add(t, "%s %lld", b ? "," : "", (long long)order[b]);
		add(t, " in this order, wanted 0 to %lld", (long long)n - 1);
	}
}

/* Whether the row is the slices of the input, each at its place. */
static int is_input(const struct explain *e, const struct explain_row *r)
{
	int64_t place = explain_block(e);
	int k = 0;

	while (place && k < r->npieces && is_slice(&r->got[k]) &&
	       r->wanted[k].kind == EXPLAIN_NOTHING && r->got[k].rank == r->got[k].first / place &&
	       r->got[k].first + r->got[k].shift == r->got[k].first % place)
		k++;
	return k > 1 && k == r->npieces;
}

/* Each thing that the row holds, once, behind the places where it is. */
static void add_row(struct text *t, const struct explain *e, const struct explain_row *r,
		    enum style style)
{
	struct text what[EXPLAIN_PIECES];

	t->s[0] = 0;
	if (r->order) {
		add_order(t, e, r, style);
		return;
	}
	if (is_input(e, r)) {
		add(t, "the slices, each in its place, unchanged");
		return;
	}
	for (int k = 0; k < r->npieces; k++) {
		what[k].s[0] = 0;
		add_piece(&what[k], e, r->row, &r->got[k], &r->wanted[k], style);
	}
	for (int k = 0, said = 0; k < r->npieces; k++) {
		struct text now = what[k];

		if (!now.s[0])
			continue;
		if (said++ == 3) {
			add(t, "; and more");
			break;
		}
		add(t, said > 1 ? "; " : "");
		for (int i = k; i < r->npieces; i++) {
			if (strcmp(what[i].s, now.s))
				continue;
			what[i].s[0] = 0;
			if (r->got[i].first == 0 && r->got[i].end == e->len)
				continue;
			add(t, i > k ? ", " : "");
			add_where(t, e, r->row, &r->got[i], style);
		}
		add(t, r->got[k].first == 0 && r->got[k].end == e->len ? "%s" : ": %s", now.s);
	}
}

/* Rows with a text, and what it is; the text of the first such row is counted as another one. */
static int count(const struct text *t, int64_t n)
{
	int different = 0;

	for (int64_t r = 0; r < n; r++) {
		int64_t k = 0;

		while (k < r && strcmp(t[k].s, t[r].s))
			k++;
		different += t[r].s[0] && k == r;
	}
	return different;
}

/* "ranks 0, 1, 4: " for the ranks with the text of rank first, which are taken off. */
static void print_line(const struct explain *e, struct text *t, int64_t first, FILE *out)
{
	struct text same = t[first];
	int64_t n = e->dims.d[0], many = 0;

	for (int64_t r = first; r < n; r++)
		many += !strcmp(t[r].s, same.s);
	fprintf(out, "%s: %s%s", e->step, e->name ? e->name : "", e->name ? ", " : "");
	if (many == n && n > 1)
		fprintf(out, "every rank");
	else
		fprintf(out, many > 1 ? "ranks" : "rank");
	for (int64_t r = first, k = 0; r < n; r++) {
		if (strcmp(t[r].s, same.s))
			continue;
		t[r].s[0] = 0;
		if (many < n || n == 1)
			fprintf(out, "%s %lld", k++ ? "," : "", (long long)r);
	}
	fprintf(out, ": %s\n", same.s);
}

void explain(const struct explain *e, FILE *out)
{
	int64_t n = e->dims.d[0], lines = 0, left = 0, rows = 0, nothing = 0;
	int64_t *order = calloc((size_t)n, sizeof(*order));
	struct text *by_number = calloc((size_t)n, sizeof(*by_number));
	struct text *by_place = calloc((size_t)n, sizeof(*by_place));
	struct text *t = by_number;

	for (int64_t r = 0; order && by_number && by_place && r < n; r++) {
		struct explain_row row;

		if (!explain_row(e, r, &row, order))
			continue;
		nothing += row.npieces == 1 && !row.order && row.got[0].kind == EXPLAIN_NOTHING &&
			   row.got[0].end == row.got[0].first + 1;
		rows++;
		add_row(&by_number[r], e, &row, BY_NUMBER);
		add_row(&by_place[r], e, &row, BY_PLACE);
	}
	if (by_number && by_place && count(by_place, n) < count(by_number, n))
		t = by_place;
	/* One element that nothing explains: there is no more to say than where it is. */
	for (int64_t r = 0; t && r < n && !(rows == 1 && nothing); r++) {
		if (!t[r].s[0])
			continue;
		if (lines++ < LINES)
			print_line(e, t, r, out);
		else
			left++;
	}
	if (left)
		fprintf(out, "%s: and %lld other ranks, in other ways\n", e->step, (long long)left);
	free(order);
	free(by_number);
	free(by_place);
}
