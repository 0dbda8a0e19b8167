/*
 * t_fold.c - reducing arrays, and their prefixes: bit for bit what a model gives that goes element
 * by element in the order that pld/coll.h promises.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>

#include "../unit/unit.h"

#include "pldi_coll.h"
#include "pldi_half.h"

#define MOST 40		/* arrays */
#define MOST_ELEMS 4097 /* of one */
#define GUARD 0xa5

static const pl_dtype dtypes[] = { PL_FP64,  PL_FP32,  PL_FP16,	 PL_BF16,   PL_INT8,   PL_INT16,
				   PL_INT32, PL_INT64, PL_UINT8, PL_UINT16, PL_UINT32, PL_UINT64 };
static const pld_op ops[] = { PLD_SUM, PLD_MAX, PLD_MIN, PLD_PROD };
static const char *const op_names[] = { "SUM", "MAX", "MIN", "PROD" };
static const int32_t arrays[] = { 1, 2, 3, 15, 16, 17, 31, 32, 33, 40 };
static const int64_t counts[] = { 0, 1, 5, 1023, 1025, MOST_ELEMS };

/* ---- numbers of every dtype ------------------------------------------------------------------ */

/* d: FP64; f: the other floating dtypes; i, u: integers, extended to 64 bits. */
union number {
	double d;
	float f;
	int64_t i;
	uint64_t u;
};

static bool is_float(pl_dtype t)
{
	return t <= PL_BF16;
}

static bool is_signed(pl_dtype t)
{
	return t >= PL_INT8 && t <= PL_INT64;
}

static union number get(pl_dtype t, const void *array, int64_t at)
{
	const unsigned char *p = array;
	const size_t bytes = pl_dtype_bytes(t);
	union number v = { .u = 0 };
	uint16_t half;

	p += at * (int64_t)bytes;
	if (t == PL_FP16 || t == PL_BF16) {
		memcpy(&half, p, sizeof(half));
		v.f = t == PL_FP16 ? pldi_fp16_to_fp32(half) : pldi_bf16_to_fp32(half);
		return v;
	}
	memcpy(&v, p, bytes); /* the low bytes come first */
	if (is_signed(t) && bytes < 8 && v.u >> (8 * bytes - 1))
		v.u |= UINT64_MAX << 8 * bytes;
	return v;
}

static void put(pl_dtype t, void *array, int64_t at, union number v)
{
	const size_t bytes = pl_dtype_bytes(t);
	uint16_t half;

	if (t == PL_FP16 || t == PL_BF16) {
		half = t == PL_FP16 ? pldi_fp32_to_fp16(v.f) : pldi_fp32_to_bf16(v.f);
		v.u = half;
	}
	memcpy((char *)array + at * (int64_t)bytes, &v, bytes);
}

/* ---- the model ------------------------------------------------------------------------------- */

/* Of FP32 and FP64: one NaN for all, and -0 below +0. */
static double greater(double a, double b)
{
	if (isnan(a) || isnan(b))
		return (double)NAN;
	if (a == b)
		return signbit(a) ? b : a;
	return a > b ? a : b;
}

static union number combine(pl_dtype t, pld_op op, union number a, union number b)
{
	union number v = { .u = 0 };
	int wide;

	if (is_float(t) && (op == PLD_MAX || op == PLD_MIN)) {
		const double x = t == PL_FP64 ? a.d : (double)a.f;
		const double y = t == PL_FP64 ? b.d : (double)b.f;
		const double r = op == PLD_MAX ? greater(x, y) : -greater(-x, -y);

		if (t == PL_FP64)
			v.d = isnan(r) ? (double)NAN : r;
		else
			v.f = isnan(r) ? NAN : (float)r;
	} else if (t == PL_FP64) {
		v.d = op == PLD_SUM ? a.d + b.d : a.d * b.d;
	} else if (is_float(t)) {
		v.f = op == PLD_SUM ? a.f + b.f : a.f * b.f;
	} else if (op == PLD_MAX || op == PLD_MIN) {
		wide = is_signed(t) ? a.i > b.i : a.u > b.u;
		v = wide == (op == PLD_MAX) ? a : b;
	} else {
		/* through an element of the dtype, which drops what does not fit */
		v.u = op == PLD_SUM ? a.u + b.u : a.u * b.u;
		v = get(t, &v, 0);
	}
	return v;
}

/* A number that went through an element of the dtype. */
static union number rounded(pl_dtype t, union number v)
{
	unsigned char elem[8];

	put(t, elem, 0, v);
	return get(t, elem, 0);
}

/* Whole orders that are not the promised one: the test must be able to tell them apart. */
enum order { PROMISED, ASCENDING, DESCENDING, ROUNDED_EACH, GROUPS_OF_8, ORDERS };

static union number model(enum order order, pl_dtype t, pld_op op, const void *const *src,
			  int32_t n, int64_t at)
{
	const int32_t group = n <= 16 || order == ASCENDING ? n : order == GROUPS_OF_8 ? 8 : 16;
	union number total = { .u = 0 };

	for (int32_t first = 0; first < n; first += group) {
		const int32_t end = first + group < n ? first + group : n;
		union number v = get(t, src[order == DESCENDING ? n - 1 - first : first], at);

		for (int32_t k = first + 1; k < end; k++) {
			v = combine(t, op, v, get(t, src[order == DESCENDING ? n - 1 - k : k], at));
			if (order == ROUNDED_EACH)
				v = rounded(t, v);
		}
		total = first ? combine(t, op, total, v) : v;
	}
	return total;
}

/* What an operation does not change. */
static union number identity(pl_dtype t, pld_op op)
{
	const int bits = 8 * (int)pl_dtype_bytes(t);
	const uint64_t ones = UINT64_MAX >> (64 - bits);
	union number v = { .u = op == PLD_PROD };

	if (t == PL_FP64)
		v.d = op == PLD_SUM ? 0 : op == PLD_PROD ? 1 : op == PLD_MAX ? -HUGE_VAL : HUGE_VAL;
	else if (is_float(t))
		v.f = op == PLD_SUM    ? 0
		      : op == PLD_PROD ? 1
		      : op == PLD_MAX  ? -HUGE_VALF
				       : HUGE_VALF;
	else if (op == PLD_MAX && is_signed(t))
		v.i = -(int64_t)(ones >> 1) - 1;
	else if (op == PLD_MIN)
		v.u = is_signed(t) ? ones >> 1 : ones;
	return v;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Arrays with a guard before and behind each; they begin an odd element behind a line's start. */
struct arrays {
	_Alignas(64) unsigned char data[MOST + 1][(MOST_ELEMS + 9) * 8];
	unsigned char *at[MOST + 1];
};
static struct arrays in, copy, out;

/* Of the arrays that a row uses, and of one more: bytes, guards among them. */
static size_t used_bytes(pl_dtype t, int64_t count)
{
	return ((size_t)count + 8) * pl_dtype_bytes(t);
}

static void place(struct arrays *a, pl_dtype t, int32_t n, int64_t count)
{
	for (int k = 0; k <= n; k++) {
		memset(a->data[k], GUARD, used_bytes(t, count));
		a->at[k] = a->data[k] + pl_dtype_bytes(t) * (size_t)(k % 3 + 1);
	}
}

/*
 * Integers of all bits.  For sums numbers of very different size, among them large ones that
 * cancel, for products numbers near 1, for the others those too that need care.
 */
static union number some_number(pl_dtype t, pld_op op, uint64_t *random)
{
	static const double special[] = { 0.0, -0.0, HUGE_VAL, -HUGE_VAL, NAN, 1, -1, 65504 };
	const uint64_t r = next_random(random), fraction = next_random(random) >> 12;
	const int exponent = op == PLD_SUM ? (int)(r >> 8) % 24 - 12 : 0;
	double v = ldexp(1.0 + (double)fraction / 0x1p52, exponent) * (r >> 7 & 1 ? -1 : 1);
	union number any = { .u = r };

	if (op == PLD_SUM && r % 4 == 0)
		v = ldexp(r >> 7 & 1 ? -1 : 1, t == PL_FP16 ? 15 : 40);
	if ((op == PLD_MAX || op == PLD_MIN) && r % 64 < 8)
		v = special[r % 64];
	if (t == PL_FP64)
		any.d = v;
	else if (is_float(t))
		any.f = (float)v;
	return any;
}

static void fill(pl_dtype t, pld_op op, int32_t n, int64_t count, uint64_t seed)
{
	uint64_t random = seed;

	place(&in, t, n, count);
	place(&copy, t, n, count);
	place(&out, t, n, count);
	for (int k = 0; k <= n; k++) {
		for (int64_t i = 0; i < count; i++)
			put(t, in.at[k], i, some_number(t, op, &random));
		memcpy(copy.data[k], in.data[k], used_bytes(t, count));
	}
}

/* Array k is what it was, its guards too; but for its first `written` elements. */
static void expect_kept(const struct arrays *a, const struct arrays *was, int k, pl_dtype t,
			int64_t count, int64_t written, const char *what)
{
	const size_t first = (size_t)(a->at[k] - a->data[k]);
	const size_t behind = first + (size_t)written * pl_dtype_bytes(t);

	ck_assert_msg(memcmp(a->data[k], was->data[k], first) == 0 &&
			      memcmp(a->data[k] + behind, was->data[k] + behind,
				     used_bytes(t, count) - behind) == 0,
		      "%s: array %d: bytes outside were written", what, k);
}

/* Check writes a line for every assertion that holds, too: hence if. */
static void expect_elem(pl_dtype t, const void *array, int64_t at, union number want,
			const char *what)
{
	const size_t bytes = pl_dtype_bytes(t);
	unsigned char elem[8];

	put(t, elem, 0, want);
	if (memcmp((const char *)array + at * (int64_t)bytes, elem, bytes) != 0)
		ck_abort_msg("%s: element %lld", what, (long long)at);
}

static const char *text_of(pl_dtype t, pld_op op, int32_t n, int64_t count, const char *how)
{
	static char text[120];

	snprintf(text, sizeof(text), "%s, %s of %d x %lld, %s", pl_dtype_name(t), op_names[op], n,
		 (long long)count, how);
	return text;
}

/* ---- folding --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	int dsts; /* -1: every source */
	int of;	  /* so many of them are sources: the first, the middle one, the last */
} targets[] = {
	{ "apart", 1, 0 },     { "three apart", 3, 0 },		  { "in place of the first", 1, 1 },
	{ "in place", -1, 0 }, { "two of three in place", 3, 2 },
};

static void check_fold(pl_dtype t, pld_op op, int32_t n, int64_t count, int target)
{
	const char *what = text_of(t, op, n, count, targets[target].name);
	const int ndst = targets[target].dsts < 0 ? n : targets[target].dsts;
	const int of = targets[target].of < n ? targets[target].of : n;
	const int32_t in_place[] = { 0, n / 2, n - 1 };
	const void *src[MOST];
	void *dst[MOST];

	fill(t, op, n, count, (uint64_t)(n * 100 + count));
	for (int32_t k = 0; k < n; k++)
		src[k] = in.at[k];
	for (int k = 0; k < ndst; k++)
		dst[k] = targets[target].dsts < 0 ? in.at[k]
			 : k < of		  ? in.at[in_place[k]]
						  : out.at[k % (n + 1)];
	pldi_fold(t, op, src, n, dst, ndst, count);
	for (int32_t k = 0; k < n; k++)
		src[k] = copy.at[k];
	for (int64_t i = 0; i < count; i++) {
		union number want = model(PROMISED, t, op, src, n, i);

		for (int k = 0; k < ndst; k++)
			expect_elem(t, dst[k], i, want, what);
	}
	for (int k = 0; k <= n; k++) {
		bool written = false;

		for (int d = 0; d < ndst; d++)
			written |= dst[d] == in.at[k];
		expect_kept(&in, &copy, k, t, count, written ? count : 0, what);
	}
	place(&copy, t, n, count);
	for (int k = 0; k <= n; k++)
		expect_kept(&out, &copy, k, t, count, count, what);
}

START_TEST(folds)
{
	for (int o = 0; o < ROWS(ops); o++)
		for (int a = 0; a < ROWS(arrays); a++)
			for (int c = 0; c < ROWS(counts); c++)
				check_fold(dtypes[_i], ops[o], arrays[a], counts[c],
					   (o + a + c) % ROWS(targets));
}
END_TEST

START_TEST(all_targets)
{
	for (int target = 0; target < ROWS(targets); target++)
		for (int a = 0; a < ROWS(arrays); a++)
			check_fold(dtypes[_i], PLD_SUM, arrays[a], 5, target);
}
END_TEST

START_TEST(two)
{
	const pl_dtype t = dtypes[_i];

	for (int o = 0; o < ROWS(ops); o++)
		for (int target = 0; target < 3; target++) {
			const void *src[2];
			void *dst;

			fill(t, ops[o], 2, 1025, 3);
			src[0] = copy.at[0];
			src[1] = copy.at[1];
			dst = target == 2 ? out.at[0] : in.at[target];
			pldi_fold_two(t, ops[o], dst, in.at[0], in.at[1], 1025);
			for (int64_t i = 0; i < 1025; i++)
				expect_elem(t, dst, i, model(PROMISED, t, ops[o], src, 2, i),
					    text_of(t, ops[o], 2, 1025, "two"));
		}
}
END_TEST

/* Whether another order is another result of n numbers of this dtype, if not of all of them. */
static bool can_show(enum order other, pl_dtype t, pld_op op, int32_t n)
{
	switch (other) {
	case ROUNDED_EACH:
		return t == PL_FP16 || t == PL_BF16;
	case ASCENDING:
		return n > 17 && (op == PLD_SUM || t <= PL_FP32);
	case GROUPS_OF_8:
		return n > 16 && (op == PLD_SUM || t <= PL_FP32);
	default:
		return op == PLD_SUM || t <= PL_FP32;
	}
}

static int differing(enum order other, pl_dtype t, pld_op op, int32_t n)
{
	const void *src[MOST];
	int differ = 0;

	fill(t, op, n, MOST_ELEMS, (uint64_t)n);
	for (int32_t k = 0; k < n; k++)
		src[k] = in.at[k];
	for (int64_t i = 0; i < MOST_ELEMS; i++) {
		union number x = rounded(t, model(PROMISED, t, op, src, n, i));
		union number y = rounded(t, model(other, t, op, src, n, i));

		differ += t == PL_FP64 ? x.d != y.d : x.f != y.f;
	}
	return differ;
}

/* The numbers above are such that every other order would be seen. */
START_TEST(order_shows)
{
	const pl_dtype t = dtypes[_i];

	for (int o = 0; is_float(t) && o < ROWS(ops); o += ROWS(ops) - 1)
		for (int a = 2; a < ROWS(arrays); a++)
			for (int other = ASCENDING; other < ORDERS; other++)
				ck_assert_msg(!can_show((enum order)other, t, ops[o], arrays[a]) ||
						      differing((enum order)other, t, ops[o],
								arrays[a]) > 0,
					      "%s: order %d",
					      text_of(t, ops[o], arrays[a], MOST_ELEMS, "shown"),
					      other);
}
END_TEST

/* ---- prefixes -------------------------------------------------------------------------------- */

/* All of few elements; of many the ends of blocks and every 61st: each prefix costs a fold. */
static bool looked_at(int64_t i, int64_t count)
{
	return count <= 5 || i % 61 == 0 || i % 512 < 2 || i % 512 == 511 || i == count - 1;
}

static void check_scan(pl_dtype t, pld_op op, pld_scan_kind kind, int32_t n, int64_t count,
		       bool in_place)
{
	const char *what =
		text_of(t, op, n, count, kind == PLD_INCLUSIVE ? "inclusive" : "exclusive");
	struct arrays *to = in_place ? &in : &out;
	const void *src[MOST];
	void *dst[MOST];

	fill(t, op, n, count, (uint64_t)(n * 10 + count));
	for (int32_t k = 0; k < n; k++) {
		src[k] = in.at[k];
		dst[k] = to->at[k];
	}
	pldi_fold_scan(t, op, kind, src, n, dst, count);
	for (int32_t k = 0; k < n; k++)
		src[k] = copy.at[k];
	for (int32_t r = 0; r < n; r++)
		for (int64_t i = 0; i < count; i++) {
			const int32_t operands = kind == PLD_INCLUSIVE ? r + 1 : r;

			if (looked_at(i, count))
				expect_elem(t, dst[r], i,
					    operands ? model(PROMISED, t, op, src, operands, i)
						     : identity(t, op),
					    what);
		}
	for (int k = 0; k <= n && !in_place; k++)
		expect_kept(&in, &copy, k, t, count, 0, what);
	if (!in_place)
		place(&copy, t, n, count);
	for (int k = 0; k <= n; k++)
		expect_kept(to, &copy, k, t, count, k < n ? count : 0, what);
}

START_TEST(scans)
{
	for (int o = 0; o < ROWS(ops); o++)
		for (int a = 0; a < ROWS(arrays); a++)
			for (int c = 0; c < ROWS(counts); c++)
				for (int kind = PLD_INCLUSIVE; kind <= PLD_EXCLUSIVE; kind++)
					check_scan(dtypes[_i], ops[o], (pld_scan_kind)kind,
						   arrays[a], counts[c], (a + c + kind) % 2);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, folds, 0, ROWS(dtypes));
	tcase_add_loop_test(tc, all_targets, 0, ROWS(dtypes));
	tcase_add_loop_test(tc, two, 0, ROWS(dtypes));
	tcase_add_loop_test(tc, order_shows, 0, ROWS(dtypes));
	tcase_add_loop_test(tc, scans, 0, ROWS(dtypes));
}

int main(void)
{
	return unit_run("fold", add);
}
