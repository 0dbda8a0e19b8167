/* t_tile.c - load, store, arithmetic, cast and assign as users call them; valid parts; nulls. */
#include "config.h"

#include <math.h>
#include <stdio.h>

#include <pl.h>

#include "pldi_tile.h"
#include "unit.h"

/* Element i of a tile, of its whole shape, by way of a cast to FP64. */
static double elem(pl_tile t, int64_t i)
{
	return ((const double *)pl_cast(t, PL_FP64).t_->data)[i];
}

static int64_t count(pl_tile t)
{
	return t.t_->layout->count;
}

START_TEST(load_store)
{
	float x[24], y[24];
	pl_tensor tx = pl_wrap(x, PL_SHAPE(4, 6), PL_FP32);
	pl_tensor ty = pl_wrap(y, PL_SHAPE(3, 8), PL_FP32);
	pl_tile t;

	for (int i = 0; i < 24; i++) {
		x[i] = (float)i;
		y[i] = -1;
	}
	t = pl_load(tx, PL_AT(1, 2), PL_SHAPE(2, 3));
	ck_assert_int_eq(count(t), 6);
	ck_assert(elem(t, 0) == 8 && elem(t, 2) == 10 && elem(t, 3) == 14 && elem(t, 5) == 16);
	ck_assert_int_eq(pl_store(t, PL_AT(1, 5), ty), PL_OK);
	for (int k = 0; k < 24; k++) {
		const int i = k / 8, j = k % 8, inside = i && j >= 5;

		ck_assert(y[k] == (float)(inside ? 6 * i + j - 3 : -1));
	}
	/* a value: what is loaded does not change with its source */
	for (int i = 0; i < 12; i++)
		x[i] = 99;
	ck_assert(elem(t, 0) == 8);
	/* a strided source, a strided target */
	t = pl_load(pl_slice(tx, PL_AT(0, 1), PL_SHAPE(4, 2)), PL_AT(2, 0), PL_SHAPE(2, 2));
	ck_assert(elem(t, 0) == 13 && elem(t, 3) == 20);
	ty = pl_slice(ty, PL_AT(0, 3), PL_SHAPE(2, 2));
	ck_assert_int_eq(pl_store(t, PL_AT(0, 0), ty), PL_OK);
	ck_assert(y[3] == 13 && y[4] == 14 && y[11] == 19 && y[12] == 20 && y[5] == -1);
}
END_TEST

START_TEST(load_refused)
{
	float x[4][6] = { { 0 } };
	pl_tensor t = pl_wrap(x, PL_SHAPE(4, 6), PL_FP32);
	pl_tile tile = pl_full(PL_SHAPE(2, 2), PL_FP32, 1);

	ck_assert_ptr_null(pl_load(t, PL_AT(3, 0), PL_SHAPE(2, 6)).t_);
	expect_error("over", PL_EINVAL, "pl_load",
		     "t: box of shape (2, 6) at (3, 0) outside shape (4, 6)");
	ck_assert_ptr_null(pl_load(t, PL_AT(0), PL_SHAPE(1, 1)).t_);
	expect_error("dimensions", PL_EINVAL, "pl_load", "index (0) has 1 dimension");
	ck_assert_int_eq(pl_store(tile, PL_AT(3, 0), t), PL_EINVAL);
	expect_error("store over", PL_EINVAL, "pl_store",
		     "t: box of shape (2, 2) at (3, 0) outside shape (4, 6)");
	ck_assert_int_eq(pl_store(tile, PL_AT(0), pl_at(t, 0)), PL_EINVAL);
	expect_error("store dimensions", PL_EINVAL, "pl_store", "shape (2, 2) has 2 dimensions");
	ck_assert_int_eq(pl_store(tile, PL_AT(0, 0), pl_wrap(x, PL_SHAPE(4, 6), PL_INT32)),
			 PL_EINVAL);
	expect_error("store dtype", PL_EINVAL, "pl_store", "a tile of FP32 into a tensor of INT32");
	for (int i = 0; i < 24; i++)
		ck_assert(x[i / 6][i % 6] == 0);
}
END_TEST

START_TEST(valid_part)
{
	int16_t x[2][10], y[4][10];
	pl_tensor tx = pl_wrap(x, PL_SHAPE(2, 10), PL_INT16);
	pl_tensor ty = pl_wrap(y, PL_SHAPE(4, 10), PL_INT16);
	pl_tile t, u;

	for (int i = 0; i < 40; i++)
		y[i / 10][i % 10] = -1;
	for (int i = 0; i < 20; i++)
		x[i / 10][i % 10] = (int16_t)(i + 1);
	/* dirty memory where the tile will be */
	PL_SCOPE {
		pl_full(PL_SHAPE(100), PL_INT32, -1);
	}
	/* chunk of 4 columns at 8: two are left */
	t = pl_load(tx, PL_AT(0, 8), PL_SHAPE(2, 4), .valid_shape = PL_SHAPE(2, 4));
	for (int i = 0; i < 8; i++)
		ck_assert(elem(t, i) == (i % 4 < 2 ? x[i / 4][8 + i % 4] : 0));
	t = pl_add(t, 100);
	ck_assert_int_eq(pl_store(t, PL_AT(1, 8), ty), PL_OK);
	for (int i = 0; i < 40; i++)
		ck_assert_int_eq(y[i / 10][i % 10], i / 10 >= 1 && i / 10 <= 2 && i % 10 >= 8
							    ? x[i / 10 - 1][i % 10] + 100
							    : -1);
	/* the valid part may not fit either */
	ck_assert_int_eq(pl_store(t, PL_AT(1, 9), ty), PL_EINVAL);
	expect_error("valid over", PL_EINVAL, "pl_store", "box of shape (2, 2) at (1, 9)");
	/* operands must agree about it, and a cast keeps it */
	u = pl_full(PL_SHAPE(2, 4), PL_INT16, 1);
	ck_assert_ptr_null(pl_add(t, u).t_);
	expect_error("valid differs", PL_EINVAL, "pl_add",
		     "tiles with valid shape (2, 2) and (2, 4)");
	ck_assert_int_eq(pl_cast(t, PL_FP32).t_->valid.d[1], 2);
	/* nothing valid stores nothing */
	t = pl_load(tx, PL_AT(2, 0), PL_SHAPE(2, 4), .valid_shape = PL_SHAPE(2, 4));
	ck_assert(elem(t, 0) == 0 && elem(t, 7) == 0);
	ck_assert_int_eq(pl_store(t, PL_AT(4, 6), ty), PL_OK);
}
END_TEST

static const struct {
	const char *name;
	pl_dtype dtype;
	double value, got;
	const char *text;
} fulls[] = {
	{ "fp32", PL_FP32, 0.1, 0x1.99999ap-4, NULL },
	{ "fp16", PL_FP16, 1e9, INFINITY, NULL },
	{ "bf16", PL_BF16, 1.00390626, 0x1.02p0, NULL },
	{ "uint8", PL_UINT8, 255, 255, NULL },
	{ "uint8 over", PL_UINT8, 256, 0,
	  "the number 256: UINT8 holds whole numbers from 0 to 255" },
	{ "int32 fraction", PL_INT32, 0.5, 0, "the number 0.5: INT32 holds" },
	{ "int NaN", PL_INT64, NAN, 0, "nan: INT64 holds" },
	{ "unknown", (pl_dtype)6, 0, 0, "dtype 6 is no pl_dtype" },
};

START_TEST(full)
{
	/* 1: less than a block of the number; 5000: more than one, with a rest */
	static const int64_t counts[] = { 0, 1, 7, 5003 };

	for (int k = 0; k < ROWS(counts); k++) {
		pl_tile t = pl_full(PL_SHAPE(counts[k]), fulls[_i].dtype, fulls[_i].value);

		if (fulls[_i].text) {
			ck_assert_ptr_null(t.t_);
			expect_error(fulls[_i].name, PL_EINVAL, "pl_full", fulls[_i].text);
			continue;
		}
		ck_assert_int_eq(count(t), counts[k]);
		for (int64_t i = 0; i < counts[k]; i += i ? 997 : 1)
			ck_assert_msg(elem(t, i) == fulls[_i].got, "%s", fulls[_i].name);
	}
	ck_assert_ptr_null(pl_full(PL_SHAPE(-1), PL_FP32, 0).t_);
	expect_error("shape", PL_EINVAL, "pl_full", "(-1) has a negative extent");
}
END_TEST

static pl_tile range(pl_dtype dtype)
{
	int32_t x[5] = { -3, -1, 0, 2, 5 };

	return pl_cast(pl_load(pl_wrap(x, PL_SHAPE(5), PL_INT32), PL_AT(0), PL_SHAPE(5)), dtype);
}

START_TEST(arithmetic)
{
	static const pl_dtype dtypes[] = { PL_FP64, PL_FP32,  PL_FP16,	PL_BF16,
					   PL_INT8, PL_INT16, PL_INT32, PL_INT64 };
	static const int v[5] = { -3, -1, 0, 2, 5 };
	const pl_tile a = range(dtypes[_i]), b = pl_full(PL_SHAPE(5), dtypes[_i], 2);
	const pl_tile got[][3] = {
		{ pl_add(a, b), pl_add(a, 2), pl_add(a, 2.0) },
		{ pl_sub(a, b), pl_sub(a, 2), pl_sub(a, 2.0f) },
		{ pl_mul(a, b), pl_mul(a, 2), pl_mul(a, 2.0) },
		{ pl_max(a, b), pl_max(a, (uint8_t)2), pl_max(a, 2.0) },
		{ pl_min(a, b), pl_min(a, 2L), pl_min(a, 2.0) },
	};

	for (int i = 0; i < 5; i++) {
		const int want[] = { v[i] + 2, v[i] - 2, v[i] * 2, v[i] > 2 ? v[i] : 2,
				     v[i] < 2 ? v[i] : 2 };

		for (int op = 0; op < 5; op++)
			for (int k = 0; k < 3; k++)
				ck_assert_msg(elem(got[op][k], i) == want[op], "%s, op %d, form %d",
					      pl_dtype_name(dtypes[_i]), op, k);
		ck_assert(elem(a, i) == v[i]);
	}
}
END_TEST

START_TEST(numbers)
{
	pl_tile i8 = pl_full(PL_SHAPE(3000), PL_INT8, 100), t;
	pl_tile h = pl_full(PL_SHAPE(3), PL_FP16, 1);
	pl_tile i64 = pl_full(PL_SHAPE(3), PL_INT64, 1);

	t = pl_add(i8, 100); /* wraps */
	ck_assert(elem(t, 0) == -56 && elem(t, 2999) == -56);
	ck_assert_ptr_null(pl_add(i8, 128).t_);
	expect_error("over", PL_EINVAL, "pl_add", "the number 128: INT8 holds");
	ck_assert_ptr_null(pl_mul(i8, 0.5).t_);
	expect_error("fraction", PL_EINVAL, "pl_mul", "the number 0.5: INT8 holds");
	ck_assert(elem(pl_mul(i8, 2.0), 1) == -56);
	/* 2049 is no FP16: rounded to 2048 before, the sum 2049 to 2048 after */
	ck_assert(elem(pl_add(h, 2049), 0) == 2048);
	/* an int64 stays one */
	t = pl_add(i64, INT64_C(9007199254740993));
	ck_assert_int_eq(((const int64_t *)t.t_->data)[2], INT64_C(9007199254740994));
	ck_assert_int_eq(count(pl_add(pl_full(PL_SHAPE(0), PL_INT8, 0), 1)), 0);
}
END_TEST

START_TEST(disagree)
{
	pl_tile a = pl_full(PL_SHAPE(2, 3), PL_FP32, 1);

	ck_assert_ptr_null(pl_add(a, pl_full(PL_SHAPE(3, 2), PL_FP32, 1)).t_);
	expect_error("shape", PL_EINVAL, "pl_add", "tiles of shape (2, 3) and (3, 2)");
	ck_assert_ptr_null(pl_mul(a, pl_full(PL_SHAPE(2, 3), PL_FP64, 1)).t_);
	expect_error("dtype", PL_EINVAL, "pl_mul", "tiles of FP32 and FP64; pl_cast");
	ck_assert_int_eq(pl_assign(a, pl_full(PL_SHAPE(6), PL_FP32, 1)), PL_EINVAL);
	expect_error("assign", PL_EINVAL, "pl_assign", "tiles of shape (2, 3) and (6)");
	ck_assert_ptr_null(pl_cast(a, (pl_dtype)5).t_);
	expect_error("cast", PL_EINVAL, "pl_cast", "dtype 5");
}
END_TEST

START_TEST(cast)
{
	float x[] = { 1.9f, -1.9f, 300, -300, NAN, INFINITY };
	static const int want[] = { 1, -1, 127, -128, 0, 127 };
	pl_tile f = pl_load(pl_wrap(x, PL_SHAPE(6), PL_FP32), PL_AT(0), PL_SHAPE(6));
	pl_tile i = pl_cast(f, PL_INT8), same = pl_cast(f, PL_FP32);

	for (int k = 0; k < 6; k++)
		ck_assert(elem(i, k) == want[k]);
	ck_assert(elem(pl_cast(pl_full(PL_SHAPE(1), PL_INT16, 300), PL_UINT8), 0) == 44);
	/* to its own dtype: a new tile, not another name for it */
	ck_assert_int_eq(pl_assign(same, pl_full(PL_SHAPE(6), PL_FP32, 8)), PL_OK);
	ck_assert(elem(same, 0) == 8 && elem(f, 2) == 300);
}
END_TEST

START_TEST(assign)
{
	int32_t x[4] = { 1, 2, 3, 4 }, y[4] = { 0 };
	pl_tensor tx = pl_wrap(x, PL_SHAPE(4), PL_INT32), ty = pl_wrap(y, PL_SHAPE(4), PL_INT32);
	pl_tile sum = pl_full(PL_SHAPE(4), PL_INT32, 0);

	for (int k = 0; k < 10; k++)
		PL_SCOPE {
			pl_assign(sum, pl_add(sum, pl_load(tx, PL_AT(0), PL_SHAPE(4))));
		}
	ck_assert_int_eq(pl_store(sum, PL_AT(0), ty), PL_OK);
	ck_assert(y[0] == 10 && y[3] == 40);
	/* the valid part comes along */
	ck_assert_int_eq(pl_assign(sum,
				   pl_load(tx, PL_AT(3), PL_SHAPE(4), .valid_shape = PL_SHAPE(4))),
			 PL_OK);
	ck_assert_int_eq(pl_store(sum, PL_AT(0), ty), PL_OK);
	ck_assert(y[0] == 4 && y[1] == 20);
	ck_assert_int_eq(pl_assign(sum, sum), PL_OK);
}
END_TEST

/* One check at the end of a chain; the first error is the one that is told. */
START_TEST(chain)
{
	float x[4] = { 0 };
	pl_tensor t = pl_wrap(x, PL_SHAPE(4), PL_FP32);
	pl_tile bad = pl_load(t, PL_AT(2), PL_SHAPE(3));

	ck_assert_int_eq(pl_store(pl_add(pl_mul(pl_cast(bad, PL_FP64), 2), pl_max(bad, bad)),
				  PL_AT(0), t),
			 PL_EINVAL);
	expect_error("chain", PL_EINVAL, "pl_load", "box of shape (3) at (2)");
	ck_assert_int_eq(pl_assign(bad, bad), PL_EINVAL);
	ck_assert_ptr_null(pl_load(((pl_tensor){ NULL, NULL }), PL_AT(0), PL_SHAPE(1)).t_);
	expect_error("chain", PL_EINVAL, "pl_load", "box of shape (3) at (2)");
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, load_store);
	tcase_add_test(tc, load_refused);
	tcase_add_test(tc, valid_part);
	tcase_add_loop_test(tc, full, 0, ROWS(fulls));
	tcase_add_loop_test(tc, arithmetic, 0, 8);
	tcase_add_test(tc, numbers);
	tcase_add_test(tc, disagree);
	tcase_add_test(tc, cast);
	tcase_add_test(tc, assign);
	tcase_add_test(tc, chain);
}

int main(void)
{
	return unit_run("tile", add);
}
