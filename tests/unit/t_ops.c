/* t_ops.c - arithmetic of every dtype against a model, and what does not depend on order. */
#include "config.h"

#include <math.h>

#include "pldi_dtype.h"
#include "pldi_half.h"
#include "pldi_ops.h"
#include "unit.h"

enum { N = 1031 }; /* a prime: no vector length divides it */

static const pl_dtype all[] = { PL_FP64,  PL_FP32,  PL_FP16,  PL_BF16,	 PL_INT8,   PL_INT16,
				PL_INT32, PL_INT64, PL_UINT8, PL_UINT16, PL_UINT32, PL_UINT64 };
static const char *const names[] = { "add", "sub", "mul", "max", "min" };

static uint64_t in_a[N + 1], in_b[N + 1], out[N + 2];

/* Integers: in 128 bits, cut to the width by the comparison of bytes. */
static void model_int(enum pldi_op op, pl_dtype t, const void *a, const void *b, void *r)
{
	__int128 x = 0, y = 0, z;
	const size_t bytes = pl_dtype_bytes(t);
	uint64_t u = 0;

	if (t < PL_UINT8) {
		int64_t v;

		pldi_elem_int(t, a, &v);
		x = v;
		pldi_elem_int(t, b, &v);
		y = v;
	} else {
		memcpy(&u, a, bytes);
		x = u;
		memcpy(&u, b, bytes);
		y = u;
	}
	if (op == PLDI_MAX || op == PLDI_MIN)
		z = (op == PLDI_MAX) == (x > y) ? x : y;
	else if (op == PLDI_MUL) /* the product of two UINT64 needs all 128 bits */
		z = (__int128)((unsigned __int128)x * (unsigned __int128)y);
	else
		z = op == PLDI_ADD ? x + y : x - y;
	u = (uint64_t)z;
	memcpy(r, &u, bytes);
}

static double model_order(enum pldi_op op, double x, double y)
{
	if (isnan(x) || isnan(y))
		return fabs((double)NAN);
	if (x == y)
		return (op == PLDI_MAX) == !signbit(x) ? x : y;
	return (op == PLDI_MAX) == (x > y) ? x : y;
}

static double exact(enum pldi_op op, double x, double y)
{
	switch (op) {
	case PLDI_ADD:
		return x + y;
	case PLDI_SUB:
		return x - y;
	case PLDI_MUL:
		return x * y;
	default:
		return model_order(op, x, y);
	}
}

static void model_float(enum pldi_op op, pl_dtype t, const void *a, const void *b, void *r)
{
	const double x = pldi_elem_float(t, a), y = pldi_elem_float(t, b);
	double z = exact(op, x, y);

	/* for FP32 and less the double is so much wider that rounding twice rounds rightly; for
	 * FP16 and BF16 the step through FP32 is what the header promises */
	if (t == PL_FP16 || t == PL_BF16)
		z = (double)(float)z;
	pldi_elem_from_float(t, z, r);
}

static void fill(pl_dtype t, void *data, uint64_t state)
{
	static const double edges[] = { 0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 65504, 3e38 };
	const size_t bytes = pl_dtype_bytes(t), fast = state & 1;

	for (size_t i = 0; i < N; i++) {
		const uint64_t u = next_random(&state);

		/* each edge meets each: the one argument's change fast, the other's slowly */
		memcpy((char *)data + i * bytes, &u, bytes);
		if (i < 81)
			pldi_elem_from_float(t, edges[fast ? i % 9 : i / 9],
					     (char *)data + i * bytes);
	}
}

START_TEST(all_ops)
{
	const pl_dtype t = all[_i];
	const size_t bytes = pl_dtype_bytes(t);

	fill(t, in_a, 2);
	fill(t, in_b, 3);
	for (int op = 0; op < PLDI_OPS; op++) {
		memset(out, 0x77, sizeof(out));
		pldi_op((enum pldi_op)op, t)(out, in_a, in_b, N);
		for (size_t i = 0; i < N; i++) {
			const char *a = (char *)in_a + i * bytes, *b = (char *)in_b + i * bytes;
			const char *got = (char *)out + i * bytes;
			_Alignas(8) char want[8] = { 0 };

			if (t <= PL_BF16)
				model_float((enum pldi_op)op, t, a, b, want);
			else
				model_int((enum pldi_op)op, t, a, b, want);
			if (t <= PL_BF16 && op < PLDI_MAX && isnan(pldi_elem_float(t, want)) &&
			    isnan(pldi_elem_float(t, got)))
				continue;
			ck_assert_msg(memcmp(got, want, bytes) == 0,
				      "%s of %s, element %zu: %a, %a", names[op], pl_dtype_name(t),
				      i, t <= PL_BF16 ? pldi_elem_float(t, got) : 0,
				      t <= PL_BF16 ? pldi_elem_float(t, want) : 0);
		}
		for (size_t i = N * bytes; i < sizeof(out); i++)
			ck_assert_msg(((char *)out)[i] == 0x77, "%s of %s wrote byte %zu",
				      names[op], pl_dtype_name(t), i);
	}
}
END_TEST

/* Bit for bit the same in either order, NaNs with any payload and zeros of both signs too. */
START_TEST(order)
{
	const pl_dtype t = all[_i];
	static uint64_t other[N + 2];
	const size_t bytes = pl_dtype_bytes(t);

	fill(t, in_a, 4);
	fill(t, in_b, 5);
	for (int op = PLDI_MAX; op <= PLDI_MIN; op++) {
		pldi_op((enum pldi_op)op, t)(out, in_a, in_b, N);
		pldi_op((enum pldi_op)op, t)(other, in_b, in_a, N);
		ck_assert_msg(memcmp(out, other, N * bytes) == 0, "%s of %s", names[op],
			      pl_dtype_name(t));
	}
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, all_ops, 0, ROWS(all));
	tcase_add_loop_test(tc, order, 0, ROWS(all));
}

int main(void)
{
	return unit_run("ops", add);
}
