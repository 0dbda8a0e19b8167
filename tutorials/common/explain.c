/*
 * explain.c - finds what a wrong row holds.
 *
 * From the first wrong element on, rules are tried that could have made it: a slice, the sum
 * without a rank, what belongs elsewhere.  Each is followed as far as it gives what is there, and
 * the one that goes furthest is taken; of several, the simplest, which is tried first.  So nothing
 * is said that is not so for every element of the piece.
 */
#include <math.h>

#include "explain.h"

/* Where rules are tried: element at of v, which is a row of the result or of the golden. */
struct search {
	const struct explain *e;
	const double *v;
	int64_t row, at, low; /* elements before low are taken */
	struct explain_piece *best;
};

double explain_off_by(double got, double want, enum tut_how how)
{
	double off = fabs(got - want);

	if (got == want)
		return 0;
	if (isnan(off) || isinf(off))
		return INFINITY;
	return how == TUT_CLOSE && off <= 1e-5 + 1e-5 * fabs(want) ? 0 : off;
}

int64_t explain_block(const struct explain *e)
{
	int64_t n = e->dims.d[0];

	if (n > 1 && ((e->dims.n > 2 && e->dims.d[1] == n) || (e->x && e->len == n * e->xlen)))
		return e->len / n;
	return 0;
}

static double input(const struct explain *e, int64_t rank, int64_t i)
{
	return i < 0 || i >= e->xlen ? NAN : (double)e->x[rank * e->xlen + i];
}

static double fold(const struct explain *e, enum explain_kind kind, int64_t i)
{
	double all = input(e, 0, i);

	for (int64_t k = 1; k < e->dims.d[0]; k++) {
		double v = input(e, k, i);

		if (kind == EXPLAIN_SUM)
			all += v;
		else if (kind == EXPLAIN_PRODUCT)
			all *= v;
		else if (kind == EXPLAIN_MAX ? v > all : v < all)
			all = v;
	}
	return all;
}

/* What the rule gives for element i of the row; NaN: nothing. */
static double value(const struct explain *e, const struct explain_piece *p, int64_t row, int64_t i)
{
	int64_t from = i + p->shift;
	double v;

	switch (p->kind) {
	case EXPLAIN_ZEROS:
		return 0;
	case EXPLAIN_SLICE:
		return p->times * input(e, p->rank, from) + p->plus;
	case EXPLAIN_SUM:
		v = fold(e, p->kind, from);
		for (int k = 0; k < p->nodd; k++)
			v += (p->odd[k].times - 1) * input(e, p->odd[k].rank, from);
		return v;
	case EXPLAIN_MAX:
	case EXPLAIN_MIN:
	case EXPLAIN_PRODUCT:
		return fold(e, p->kind, from);
	case EXPLAIN_OTHER_RANK:
		return e->want[p->rank * e->len + i];
	case EXPLAIN_OTHER_PLACE:
		return from < 0 || from >= e->len ? NAN : e->want[row * e->len + from];
	case EXPLAIN_TIMES:
		return p->times * e->want[row * e->len + i];
	case EXPLAIN_NOTHING:
		break;
	}
	return NAN;
}

static int is_slice(const struct explain_piece *p)
{
	return p->kind == EXPLAIN_SLICE && p->times == 1 && p->plus == 0;
}

/* Slices are copied; what has been computed may be rounded. */
static int gives(const struct search *s, const struct explain_piece *p, int64_t i)
{
	enum tut_how how = is_slice(p) || p->kind == EXPLAIN_ZEROS ? TUT_EXACT : TUT_CLOSE;

	return explain_off_by(s->v[i], value(s->e, p, s->row, i), how) == 0;
}

/*
 * Fewer elements than this can be equal by chance: the more rules there are of a kind, the more.
 * (Inputs are no noise to the last bit: a few elements of all slices differ by the same steps.)
 */
static int64_t least(const struct search *s, const struct explain_piece *p)
{
	int64_t block = explain_block(s->e), unit = block ? block : s->e->len;
	int simple = is_slice(p) || (p->kind == EXPLAIN_SUM && !p->nodd);
	int one = p->kind == EXPLAIN_SUM && p->nodd == 1;

	if (p->kind == EXPLAIN_ZEROS)
		return 1;
	if (simple || (one && p->odd[0].times >= 0 && p->odd[0].times <= 2))
		return unit < 4 ? unit : 4;
	if (s->e->len < 8)
		return s->e->len < 3 ? 3 : s->e->len;
	return p->kind >= EXPLAIN_MAX && p->kind < EXPLAIN_TIMES ? 4 : 8;
}

static void try(struct search *s, struct explain_piece p)
{
	struct explain_piece *best = s->best;

	p.first = p.end = s->at;
	while (p.end < s->e->len && gives(s, &p, p.end))
		p.end++;
	if (p.end == s->at)
		return;
	while (p.first > s->low && gives(s, &p, p.first - 1))
		p.first--;
	if (p.end - p.first < least(s, &p))
		return;
	if (p.end - p.first > best->end - best->first)
		*best = p;
	else if (p.end - p.first == best->end - best->first && p.nodd > 1 && best->nodd > 1)
		best->ambiguous = 1;
	else if (p.end - p.first == best->end - best->first && p.kind >= EXPLAIN_MAX &&
		 p.kind <= EXPLAIN_PRODUCT)
		best->also = p.kind;
}

#define PIECE(...) ((struct explain_piece){ __VA_ARGS__ })
#define SLICE(...) PIECE(.kind = EXPLAIN_SLICE, __VA_ARGS__)

int64_t explain_usual_shift(const struct explain *e, int64_t row, int64_t at)
{
	if (e->len > e->xlen)
		return e->xlen ? -(at / e->xlen) * e->xlen : 0;
	return e->len < e->xlen ? row * e->len : 0;
}

static int64_t usual_shift(const struct search *s)
{
	return explain_usual_shift(s->e, s->row, s->at);
}

/* The slices, where they belong and then from elsewhere. */
static void try_slices(struct search *s)
{
	const struct explain *e = s->e;
	int64_t shift = usual_shift(s), block = e->dims.d[e->dims.n - 1];

	for (int k = 0; k < e->dims.d[0]; k++)
		try(s, SLICE(.rank = k, .shift = shift, .times = 1));
	try(s, PIECE(.kind = EXPLAIN_SUM, .shift = shift));
	if (e->xlen < block)
		block = e->xlen;
	for (int k = 0; k < e->dims.d[0] && block; k++)
		for (int64_t o = s->at % block; o < e->xlen; o += block)
			if (input(e, k, o) == s->v[s->at])
				try(s, SLICE(.rank = k, .shift = o - s->at, .times = 1));
}

static int is_whole(double v)
{
	return fabs(v) <= 1000 && fabs(v - rint(v)) < 1e-4;
}

/* The first element from s->at on where what rank's slice has there says how often it is taken. */
static int64_t telling(const struct search *s, int64_t rank, int64_t shift)
{
	int64_t i = s->at;

	while (i + 1 < s->e->len && input(s->e, rank, i + shift) == 0)
		i++;
	return i;
}

/* A number of times a slice, a slice and a number. */
static void try_computed_slices(struct search *s)
{
	int64_t shift = usual_shift(s);

	for (int k = 0; k < s->e->dims.d[0]; k++) {
		int64_t i = telling(s, k, shift);
		double x = input(s->e, k, i + shift), times = s->v[i] / x, plus = s->v[i] - x;

		if (is_whole(times))
			try(s, SLICE(.rank = k, .shift = shift, .times = rint(times)));
		if (is_whole(plus))
			try(s, SLICE(.rank = k, .shift = shift, .times = 1, .plus = rint(plus)));
	}
}

static void try_golden(struct search *s)
{
	const struct explain *e = s->e;
	const double *want = e->want + s->row * e->len;
	int64_t i = s->at;

	for (int k = 0; k < e->dims.d[0]; k++)
		if (k != s->row)
			try(s, PIECE(.kind = EXPLAIN_OTHER_RANK, .rank = k));
	for (int64_t o = 0; o < e->len; o++)
		if (o != s->at && explain_off_by(s->v[s->at], want[o], TUT_CLOSE) == 0)
			try(s, PIECE(.kind = EXPLAIN_OTHER_PLACE, .shift = o - s->at));
	while (i + 1 < e->len && want[i] == 0)
		i++;
	if (is_whole(s->v[i] / want[i]))
		try(s, PIECE(.kind = EXPLAIN_TIMES, .times = rint(s->v[i] / want[i])));
}

/* Sums with one rank not just once in it. */
static void try_one_odd(struct search *s, int64_t shift)
{
	for (int k = 0; k < s->e->dims.d[0]; k++) {
		int64_t i = telling(s, k, shift);
		double off = s->v[i] - fold(s->e, EXPLAIN_SUM, i + shift);
		double times = off / input(s->e, k, i + shift) + 1;

		if (is_whole(times))
			try(s, PIECE(.kind = EXPLAIN_SUM, .shift = shift, .nodd = 1,
				     .odd = { { k, (int)rint(times) } }));
	}
}

/* Sums with `more` more ranks, from rank on, that many times; off: what is missing at s->at. */
static void try_odd(struct search *s, struct explain_piece *p, int times, int rank, int more,
		    double off)
{
	if (!more && fabs(off) <= 1e-3)
		try(s, *p);
	for (; more && rank + more <= s->e->dims.d[0]; rank++) {
		double x = input(s->e, rank, s->at + p->shift);

		p->odd[p->nodd++] = (struct explain_odd){ rank, times };
		try_odd(s, p, times, rank + 1, more - 1, off - (times - 1) * x);
		p->nodd--;
	}
}

static void try_instead(struct search *s, int64_t shift)
{
	for (int in = 0; in < s->e->dims.d[0]; in++)
		for (int out = 0; out < s->e->dims.d[0]; out++)
			if (in != out)
				try(s, PIECE(.kind = EXPLAIN_SUM, .shift = shift, .nodd = 2,
					     .odd = { { in, 2 }, { out, 0 } }));
}

/* The fewest odd ranks that explain it. */
static void try_sums(struct search *s, int64_t shift)
{
	static const int times[] = { 0, 2, -1, 3 };
	/* Data of another use comes with the other sign: see tut_turn. */
	int ntimes = s->e->repeat > 1 ? 4 : 2;
	double off = s->v[s->at] - fold(s->e, EXPLAIN_SUM, s->at + shift);
	struct explain_piece p = PIECE(.kind = EXPLAIN_SUM, .shift = shift);
	int64_t n = s->e->dims.d[0];

	for (int nodd = 2; nodd <= n && n <= EXPLAIN_PIECES && !s->best->end; nodd++) {
		if (nodd == 2)
			try_instead(s, shift);
		for (int k = 0; k < ntimes; k++)
			try_odd(s, &p, times[k], 0, nodd, off);
	}
}

/* Part of a slice or of the sum, wherever: a little is found by chance. */
static void try_anywhere(struct search *s)
{
	const struct explain *e = s->e;
	double v = s->v[s->at];

	for (int64_t o = 0; o < e->xlen; o++) {
		for (int k = 0; k < e->dims.d[0]; k++)
			if (input(e, k, o) == v)
				try(s, SLICE(.rank = k, .shift = o - s->at, .times = 1));
		if (explain_off_by(v, fold(e, EXPLAIN_SUM, o), TUT_CLOSE) == 0)
			try(s, PIECE(.kind = EXPLAIN_SUM, .shift = o - s->at));
	}
	if (s->best->end - s->best->first < 8)
		*s->best = PIECE(.kind = EXPLAIN_NOTHING);
}

/* What is at element at of the golden: less can be wanted than can happen. */
static void find_wanted(const struct explain *e, int64_t row, int64_t at, struct explain_piece *p)
{
	struct search s = { e, e->want + row * e->len, row, at, 0, p };

	*p = PIECE(.kind = EXPLAIN_NOTHING);
	if (!e->x)
		return;
	try_slices(&s);
	try_computed_slices(&s);
}

static void find_got(const struct explain *e, int64_t row, int64_t at, int64_t low,
		     const struct explain_piece *wanted, struct explain_piece *p)
{
	struct search s = { e, e->got + row * e->len, row, at, low, p };
	int is_sum = wanted->kind == EXPLAIN_SUM;

	*p = PIECE(.kind = EXPLAIN_NOTHING);
	try(&s, PIECE(.kind = EXPLAIN_ZEROS));
	if (e->x)
		try_slices(&s);
	try_golden(&s);
	if (e->x) {
		for (int kind = EXPLAIN_MAX; kind <= EXPLAIN_PRODUCT; kind++)
			try(&s, PIECE(.kind = (enum explain_kind)kind, .shift = usual_shift(&s)));
		if (is_sum)
			try_one_odd(&s, wanted->shift);
		try_computed_slices(&s);
	}
	if (is_sum && !p->end)
		try_sums(&s, wanted->shift);
	for (int k = 0; k < p->nodd && p->ambiguous; k++)
		if (p->odd[k].times) /* nothing to say about it */
			*p = PIECE(.kind = EXPLAIN_NOTHING);
	if (e->x && !p->end)
		try_anywhere(&s);
}

/* The block of the golden that block b of the row is; -1: none. */
static int64_t block_at(const struct explain *e, const double *row, const double *golden, int64_t b)
{
	int64_t n = e->dims.d[0], len = e->len / n;

	for (int64_t k = 0; k < n; k++) {
		int64_t i = 0;

		while (i < len &&
		       explain_off_by(row[b * len + i], golden[k * len + i], e->how) == 0)
			i++;
		if (i == len)
			return k;
	}
	return -1;
}

/* Whether the blocks are the right ones in another order; each has to be one of its kind. */
static int is_order(const struct explain *e, int64_t row, int64_t *order)
{
	const double *got = e->got + row * e->len, *want = e->want + row * e->len;
	int64_t n = e->dims.d[0];

	if (n < 2 || e->len % n || e->len < 4)
		return 0;
	for (int64_t b = 0; b < n; b++) {
		order[b] = block_at(e, got, want, b);
		if (order[b] < 0 || block_at(e, want, want, b) != b)
			return 0;
	}
	return 1;
}

int explain_row(const struct explain *e, int64_t row, struct explain_row *r, int64_t *order)
{
	const double *got = e->got + row * e->len, *want = e->want + row * e->len;
	int64_t low = 0;
	int nothing = 0; /* how often nothing was found: it takes long */

	*r = (struct explain_row){ .row = row };
	for (int64_t at = 0; at < e->len; at++) {
		struct explain_piece *p, *w;

		if (explain_off_by(got[at], want[at], e->how) == 0)
			continue;
		if (!r->npieces && is_order(e, row, order))
			r->order = order;
		p = &r->got[r->npieces];
		w = &r->wanted[r->npieces];
		if (r->npieces == EXPLAIN_PIECES || r->order)
			return 1;
		*p = PIECE(.kind = EXPLAIN_NOTHING);
		if (nothing < 32) {
			find_wanted(e, row, at, w);
			find_got(e, row, at, low, w, p);
		}
		if (p->kind == EXPLAIN_NOTHING) {
			nothing++;
			if (r->npieces && p[-1].kind == EXPLAIN_NOTHING) {
				p[-1].end = at + 1;
				continue;
			}
			p->first = at;
			p->end = at + 1;
		} else if (w->first > p->first || w->end < p->end) {
			w->kind = EXPLAIN_NOTHING;
		}
		low = p->end;
		at = p->end - 1;
		r->npieces++;
	}
	return r->npieces > 0;
}
