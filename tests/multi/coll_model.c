/* coll_model.c - the serial model: numbers, orders of combining, and who gets what. */
#include "config.h"

#include <math.h>

#include "coll_model.h"

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* ---- numbers --------------------------------------------------------------------------------- */

/* In the type that it is computed in: INT64 or UINT64, FP64, or FP32 for the three shorter ones. */
union num {
	int64_t i;
	uint64_t u;
	double d;
	float f;
};

static uint32_t bits_of(float v)
{
	uint32_t u;

	memcpy(&u, &v, sizeof(u));
	return u;
}

static float of_bits(uint32_t u)
{
	float v;

	memcpy(&v, &u, sizeof(v));
	return v;
}

static float from_half(uint16_t h)
{
	const int e = h >> 10 & 31, m = h & 1023;
	float v;

	if (e == 31)
		v = m ? NAN : INFINITY;
	else
		v = e ? ldexpf((float)(1024 + m), e - 25) : ldexpf((float)m, -24);
	return h >> 15 ? -v : v;
}

/* To nearest, ties to even: what nearbyintf does. */
static uint16_t to_half(float v)
{
	const uint16_t sign = bits_of(v) >> 31 ? 0x8000 : 0;
	const float a = fabsf(v);
	int e;

	if (isnan(v))
		return 0x7e00;
	if (a >= 65520)
		return sign | 0x7c00;
	frexpf(a, &e);
	e = e - 1 < -14 || a == 0 ? -14 : e - 1;
	return (uint16_t)(sign + ((e + 14) << 10) + (int)nearbyintf(ldexpf(a, 10 - e)));
}

static float from_brain(uint16_t b)
{
	return of_bits((uint32_t)b << 16);
}

static uint16_t to_brain(float v)
{
	const uint32_t u = bits_of(v);

	return isnan(v) ? 0x7fc0 : (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static union num load(pl_dtype t, const void *from)
{
	union num x = { 0 };
	uint16_t h;

	switch (t) {
	case PL_FP16:
	case PL_BF16:
		memcpy(&h, from, 2);
		x.f = t == PL_FP16 ? from_half(h) : from_brain(h);
		break;
	case PL_INT8:
		x.i = *(const int8_t *)from;
		break;
	case PL_INT16:
		memcpy(&h, from, 2);
		x.i = (int16_t)h;
		break;
	case PL_INT32:
		memcpy(&x, from, 4);
		x.i = (int32_t)x.u;
		break;
	default: /* the rest is little end first, too */
		memcpy(&x, from, pl_dtype_bytes(t));
	}
	return x;
}

static void store(pl_dtype t, void *to, union num x)
{
	const uint16_t h = t == PL_FP16 ? to_half(x.f) : to_brain(x.f);

	if (t == PL_FP16 || t == PL_BF16)
		memcpy(to, &h, 2);
	else
		memcpy(to, &x, pl_dtype_bytes(t));
}

static bool is_unsigned(pl_dtype t)
{
	return t >= PL_UINT8;
}

/* Cut to the dtype's width, so that the next comparison sees what is stored. */
static union num cut(pl_dtype t, union num x)
{
	unsigned char bytes[8];

	store(t, bytes, x);
	return load(t, bytes);
}

static bool below(pl_dtype t, union num a, union num b)
{
	if (t == PL_FP64)
		return a.d < b.d || (a.d == b.d && signbit(a.d) > signbit(b.d));
	if (multi_is_float(t))
		return a.f < b.f || (a.f == b.f && (signbit(a.f) != 0) > (signbit(b.f) != 0));
	return is_unsigned(t) ? a.u < b.u : a.i < b.i;
}

static bool is_nan(pl_dtype t, union num a)
{
	return multi_is_float(t) && (t == PL_FP64 ? isnan(a.d) : isnan(a.f));
}

static union num combine(pl_dtype t, pld_op op, union num a, union num b)
{
	if (op == PLD_MAX || op == PLD_MIN) {
		if (is_nan(t, a))
			return a;
		if (is_nan(t, b))
			return b;
		return below(t, a, b) == (op == PLD_MAX) ? b : a;
	}
	if (t == PL_FP64)
		a.d = op == PLD_SUM ? a.d + b.d : a.d * b.d;
	else if (multi_is_float(t))
		a.f = op == PLD_SUM ? a.f + b.f : a.f * b.f;
	else
		a.u = op == PLD_SUM ? a.u + b.u : a.u * b.u;
	return multi_is_float(t) ? a : cut(t, a);
}

static union num no_change(pl_dtype t, pld_op op)
{
	const bool high = op == PLD_MIN;
	const int bits = 8 * (int)pl_dtype_bytes(t);
	union num x = { 0 };

	if (t == PL_FP64)
		x.d = op == PLD_SUM ? 0 : op == PLD_PROD ? 1 : high ? INFINITY : -INFINITY;
	else if (multi_is_float(t))
		x.f = op == PLD_SUM ? 0 : op == PLD_PROD ? 1 : high ? INFINITY : -INFINITY;
	else if (op == PLD_PROD)
		x.u = 1;
	else if (op != PLD_SUM && is_unsigned(t))
		x.u = high ? UINT64_MAX >> (64 - bits) : 0;
	else if (op != PLD_SUM)
		x.i = high ? INT64_MAX >> (64 - bits) : INT64_MIN >> (64 - bits);
	return x;
}

/* ---- orders ---------------------------------------------------------------------------------- */

static union num ascending(pl_dtype t, pld_op op, const union num *x, int n)
{
	union num v = x[0];

	for (int i = 1; i < n; i++)
		v = combine(t, op, v, x[i]);
	return v;
}

/* Groups of 16, and then the groups. */
static union num fold(pl_dtype t, pld_op op, const union num *x, int n)
{
	union num group[COLL_MEMBERS / 16] = { 0 };
	int groups = 0;

	for (int i = 0; i < n; i += 16)
		group[groups++] = ascending(t, op, x + i, n - i < 16 ? n - i : 16);
	return ascending(t, op, group, groups);
}

/* x[i] + (x[i - 1] + (.. (x[i + 2] + x[i + 1]))), rounded at each hop. */
static union num around(pl_dtype t, pld_op op, const union num *x, int n, int i)
{
	union num v = x[(i + 1) % n];

	for (int k = 2; k <= n; k++)
		v = cut(t, combine(t, op, x[(i + k) % n], v));
	return v;
}

/* ---- what members give ----------------------------------------------------------------------- */

/* Floats of many sizes, so that another order rounds otherwise; for MAX and MIN odd ones, too. */
static union num number(pl_dtype t, pld_op op, uint64_t r)
{
	static const double odd[] = { 0.0, -0.0, INFINITY, -INFINITY, 1.0, -1.0, 1.5, NAN };
	union num x = { .u = r };
	double v;

	if (!multi_is_float(t))
		return cut(t, x);
	v = 1 + (double)(r >> 12) / 4503599627370496.0;
	if (op == PLD_PROD)
		v = ldexp(v, -(int)(r & 1));
	else
		v = ldexp(v, (int)(r & 15) - 8);
	if (r >> 4 & 1)
		v = -v;
	if ((op == PLD_MAX || op == PLD_MIN) && (r >> 5 & 7) < 2)
		v = odd[r >> 8 & 7];
	if (t == PL_FP64)
		x.d = v;
	else
		x.f = (float)v;
	return x;
}

static union num given(const struct coll_case *c, uint64_t state, int64_t i)
{
	uint64_t s = state + (uint64_t)i * GOLDEN;
	unsigned char bytes[8];

	store(c->dtype, bytes, number(c->dtype, c->op, multi_random(&s)));
	return load(c->dtype, bytes);
}

static void fill(const struct coll_case *c, uint64_t state, int64_t first, int64_t n, void *out)
{
	const int64_t e = (int64_t)pl_dtype_bytes(c->dtype);

	for (int64_t i = 0; i < n; i++)
		store(c->dtype, (char *)out + i * e, given(c, state, first + i));
}

void coll_give(const struct coll_case *c, int member, int64_t first, int64_t n, void *out)
{
	fill(c, multi_seed(c->seed, 1, (uint64_t)member), first, n, out);
}

void coll_junk(const struct coll_case *c, int member, int64_t n, void *out)
{
	fill(c, multi_seed(c->seed, 2, (uint64_t)member), 0, n, out);
}

/* ---- shapes and counts ----------------------------------------------------------------------- */

int64_t coll_row_elems(const struct coll_case *c)
{
	int64_t n = 1;

	for (int i = 1; i < c->shape.n; i++)
		n *= c->shape.d[i];
	return n;
}

int coll_wrong_member(const struct coll_case *c, int p)
{
	return (int)(multi_seed(c->seed, 3, 0) % (uint64_t)p);
}

int64_t coll_rows(const struct coll_case *c, int p, int from, int to)
{
	const bool pairs = c->kind == COLL_ALL_TO_ALL_V;
	const uint64_t r = multi_seed(c->seed, 4 + (uint64_t)from, pairs ? (uint64_t)to : 0);
	const int64_t most = c->shape.d[0];

	if (c->kind == COLL_ALLGATHER_V && c->wrong)
		return most + 1;
	if (pairs && c->wrong && from == coll_wrong_member(c, p) && to == (from + 1) % p)
		return c->wrong == COLL_NEGATIVE ? -2 : most + 3;
	if (r % 4 == 0)
		return 0;
	return r % 4 == 1 ? most : (int64_t)((r >> 8) % (uint64_t)(most + 1));
}

int64_t coll_moved(const struct coll_case *c, int p, int from, int to)
{
	const int64_t rows = coll_rows(c, p, from, to), most = c->shape.d[0];

	return rows < 0 ? 0 : rows > most ? most : rows;
}

int64_t coll_extent(const struct coll_case *c, int p)
{
	int64_t rows = 0;

	if (c->kind != COLL_REDUCE_SCATTER_V)
		return c->shape.d[0] * (coll_has_blocks(c->kind) ? p : 1);
	for (int m = 0; m < p; m++)
		rows += coll_rows(c, p, m, 0);
	return rows;
}

/* ---- what members get ------------------------------------------------------------------------ */

struct slice {
	char *at;
	int64_t e, row; /* bytes of an element, elements of a row */
};

static void get_reduced(const struct coll_case *c, int p, int me, struct slice s, int64_t first,
			int64_t n)
{
	const int64_t count = coll_extent(c, p) * s.row;
	uint64_t state[COLL_MEMBERS];
	union num x[COLL_MEMBERS];
	int segment = 0;

	for (int m = 0; m < p; m++)
		state[m] = multi_seed(c->seed, 1, (uint64_t)m);
	for (int64_t i = first; i < first + n; i++) {
		union num v;

		for (int m = 0; m < p; m++)
			x[m] = given(c, state[m], i);
		while (i >= (segment + 1) * count / p)
			segment++;
		if (c->kind == COLL_ALLREDUCE && c->mode == PLD_RING)
			v = around(c->dtype, c->op, x, p, segment);
		else if (c->kind != COLL_SCAN)
			v = fold(c->dtype, c->op, x, p);
		else if (c->scan == PLD_EXCLUSIVE && me == 0)
			v = no_change(c->dtype, c->op);
		else
			v = fold(c->dtype, c->op, x, me + (c->scan == PLD_INCLUSIVE));
		store(c->dtype, s.at + i * s.e, v);
	}
}

/* Rows [row, row + rows) of what a member gives into rows from `to` on. */
static void get_rows(const struct coll_case *c, struct slice s, int from, int64_t row, int64_t rows,
		     int64_t to)
{
	coll_give(c, from, row * s.row, rows * s.row, s.at + to * s.row * s.e);
}

static void get_moved(const struct coll_case *c, int p, int me, struct slice s)
{
	const int64_t most = c->shape.d[0];
	int64_t at = 0;

	if (c->kind == COLL_ALLGATHER_V && c->wrong)
		return;
	for (int m = 0; m < p; m++) {
		switch (c->kind) {
		case COLL_ALLGATHER:
		case COLL_GATHER:
			get_rows(c, s, m, 0, most, m * most);
			break;
		case COLL_ALLGATHER_V:
			get_rows(c, s, m, 0, coll_rows(c, p, m, 0), at);
			at += coll_rows(c, p, m, 0);
			break;
		case COLL_ALL_TO_ALL:
			get_rows(c, s, m, me * most, most, m * most);
			break;
		default:
			get_rows(c, s, m, me * most, coll_moved(c, p, m, me), m * most);
		}
	}
}

void coll_wanted(const struct coll_case *c, int p, int me, void *slice, int64_t *first, int64_t *n)
{
	const struct slice s = { slice, (int64_t)pl_dtype_bytes(c->dtype), coll_row_elems(c) };

	*first = 0;
	*n = coll_extent(c, p) * s.row;
	switch (c->kind) {
	case COLL_BARRIER:
		break;
	case COLL_BROADCAST:
		coll_give(c, c->root, 0, *n, slice);
		break;
	case COLL_SCATTER:
		coll_give(c, c->root, me * *n, *n, slice);
		break;
	case COLL_REDUCE_SCATTER:
		*n = c->shape.d[0] * s.row;
		*first = me * *n;
		get_reduced(c, p, me, s, *first, *n);
		break;
	case COLL_REDUCE_SCATTER_V:
		for (int m = 0; m < me; m++)
			*first += coll_rows(c, p, m, 0) * s.row;
		*n = coll_rows(c, p, me, 0) * s.row;
		get_reduced(c, p, me, s, *first, *n);
		break;
	case COLL_REDUCE:
		if (me != c->root)
			coll_give(c, me, 0, *n, slice); /* it keeps what it gave */
		else
			get_reduced(c, p, me, s, 0, *n);
		break;
	case COLL_ALLREDUCE:
	case COLL_SCAN:
		get_reduced(c, p, me, s, 0, *n);
		break;
	default:
		if (c->kind != COLL_GATHER || me == c->root)
			get_moved(c, p, me, s);
	}
}

/* ---- text ------------------------------------------------------------------------------------ */

const char *coll_text(const struct coll_case *c, int p, int me, char *to, size_t bytes)
{
	static const char *const kinds[] = { "barrier",		 "allreduce", "broadcast",
					     "reduce",		 "scan",      "reduce_scatter",
					     "reduce_scatter_v", "allgather", "allgather_v",
					     "gather",		 "scatter",   "all_to_all",
					     "all_to_all_v" };
	static const char *const ops[] = { "SUM", "MAX", "MIN", "PROD" };
	static const char *const modes[] = { "AUTO", "MESH", "TWO_PHASE", "RING" };
	static const char *const inputs[] = { "place", "slice", "heap", "window" };
	static const char *const cells[] = { "lines", "plain",	"column", "wide",
					     "lane",  "packed", "rings" };
	int n = snprintf(to, bytes, "%s(%s, %s, %s, %s, root %d, [", kinds[c->kind],
			 pl_dtype_name(c->dtype), ops[c->op], modes[c->mode],
			 c->scan ? "exclusive" : "inclusive", c->root);

	for (int i = 0; i < c->shape.n; i++)
		n += snprintf(to + n, bytes - (size_t)n, "%lld,", (long long)c->shape.d[i]);
	snprintf(to + n, bytes - (size_t)n, "] in %s, cells %s, wrong %d, seed 0x%llx) as %d of %d",
		 inputs[c->input], cells[c->cells], (int)c->wrong, (unsigned long long)c->seed, me,
		 p);
	return to;
}
