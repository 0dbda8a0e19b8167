/* t_tensor.c - wrapping, views, and single elements through the calls that users make. */
#include "config.h"

#include <math.h>
#include <stdio.h>

#include <pl.h>

#include "pldi_tensor.h"
#include "unit.h"

START_TEST(wrap)
{
	float x[6];
	pl_tensor t = pl_wrap(x, PL_SHAPE(2, 3), PL_FP32);

	ck_assert(!pl_is_null(t));
	ck_assert_ptr_eq(pl_data(t), x);
	ck_assert_int_eq(pl_ndim(t), 2);
	ck_assert_int_eq(pl_count(t), 6);
	ck_assert_int_eq(pl_dtype_of(t), PL_FP32);
	ck_assert(pl_dim(t, 0) == 2 && pl_dim(t, 1) == 3);
	ck_assert(!pl_is_null(pl_wrap(NULL, PL_SHAPE(0, 3), PL_FP32)));
	ck_assert(pl_is_null(pl_wrap(NULL, PL_SHAPE(1, 3), PL_FP32)));
	expect_error("NULL", PL_EINVAL, "pl_wrap", "data is NULL for shape (1, 3)");
	ck_assert(pl_is_null(pl_wrap(x, PL_SHAPE(-1), PL_FP32)));
	expect_error("negative", PL_EINVAL, "pl_wrap", "(-1) has a negative extent");
	ck_assert(pl_is_null(pl_wrap(x, PL_SHAPE(1), (pl_dtype)7)));
	expect_error("dtype", PL_EINVAL, "pl_wrap", "dtype 7 is no pl_dtype");
	ck_assert_ptr_nonnull(strstr(pl_last_error()->where, "t_tensor.c:"));
}
END_TEST

START_TEST(arguments_once)
{
	float x[4] = { 0, 1, 2, 3 };
	int i = 0, j = 10, calls = 0, values = 0;
	pl_tensor t = pl_wrap(x, PL_SHAPE(4), PL_FP32);
	pl_dims s = *PL_SHAPE(i++, j++);

	ck_assert(i == 1 && j == 11);
	ck_assert(s.n == 2 && s.d[0] == 0 && s.d[1] == 10);
	ck_assert(pl_read_float((calls++, t), PL_AT(i++)) == 1.0);
	ck_assert(calls == 1 && i == 2);
	ck_assert_int_eq(pl_write((calls++, t), PL_AT(0), (values++, 1.5f)), PL_OK);
	ck_assert(calls == 2 && values == 1);
}
END_TEST

START_TEST(at)
{
	int32_t x[24];
	pl_tensor t = pl_wrap(x, PL_SHAPE(2, 3, 4), PL_INT32), row;

	for (int i = 0; i < 24; i++)
		x[i] = i;
	row = pl_at(pl_at(t, 1), 2);
	ck_assert_ptr_eq(pl_data(row), &x[20]);
	ck_assert(pl_ndim(row) == 1 && pl_dim(row, 0) == 4);
	ck_assert_int_eq(pl_read_int(row, PL_AT(3)), 23);
	ck_assert(pl_is_null(pl_at(t, 2)));
	expect_error("over", PL_EINVAL, "pl_at", "t: index 2 outside shape (2, 3, 4)");
	ck_assert(pl_is_null(pl_at(t, -1)));
	expect_error("negative", PL_EINVAL, "pl_at", "index -1 outside");
	ck_assert(pl_is_null(pl_at(row, 0)));
	expect_error("one dimension", PL_EINVAL, "pl_at", "t has shape (4), 2 dimensions");
	ck_assert(pl_is_null(pl_at(pl_wrap(NULL, PL_SHAPE(0, 3), PL_INT8), 0)));
	expect_error("empty", PL_EINVAL, "pl_at", "index 0 outside shape (0, 3)");
}
END_TEST

START_TEST(slice)
{
	int16_t x[24];
	pl_tensor t = pl_wrap(x, PL_SHAPE(4, 6), PL_INT16), s;

	for (int i = 0; i < 24; i++)
		x[i] = (int16_t)i;
	s = pl_slice(t, PL_AT(1, 2), PL_SHAPE(3, 2));
	ck_assert_ptr_eq(pl_data(s), &x[8]);
	ck_assert_int_eq(pl_read_int(s, PL_AT(2, 1)), 21);
	/* of a slice, and a row of it */
	s = pl_slice(s, PL_AT(1, 1), PL_SHAPE(2, 1));
	ck_assert_int_eq(pl_read_int(s, PL_AT(1, 0)), 21);
	ck_assert_int_eq(pl_read_int(pl_at(s, 0), PL_AT(0)), 15);
	/* whole rows are packed again, so "packed" is one pointer compare */
	ck_assert_ptr_eq(pl_slice(t, PL_AT(2, 0), PL_SHAPE(2, 6)).as_,
			 pl_wrap(x, PL_SHAPE(2, 6), PL_INT16).as_);
	ck_assert_ptr_eq(pl_slice(t, PL_AT(2, 1), PL_SHAPE(1, 3)).as_,
			 pl_wrap(x, PL_SHAPE(1, 3), PL_INT16).as_);
	s = pl_slice(t, PL_AT(4, 6), PL_SHAPE(0, 0));
	ck_assert(!pl_is_null(s) && pl_count(s) == 0);
	ck_assert(pl_is_null(pl_slice(t, PL_AT(2, 0), PL_SHAPE(3, 6))));
	expect_error("over", PL_EINVAL, "pl_slice",
		     "t: box of shape (3, 6) at (2, 0) outside shape (4, 6)");
}
END_TEST

START_TEST(nulls_pass)
{
	pl_tensor t = pl_wrap(NULL, PL_SHAPE(3, 3), PL_FP32); /* the error */
	const char *text = pl_last_error()->text;
	char first[200];

	snprintf(first, sizeof(first), "%s", text);
	t = pl_slice(pl_at(t, 9), PL_AT(0), PL_SHAPE(1));
	ck_assert(pl_is_null(t));
	ck_assert_int_eq(pl_read_int(t, PL_AT(0)), 0);
	ck_assert(isnan(pl_read_float(t, PL_AT(0))));
	ck_assert_int_eq(pl_write(t, PL_AT(0), 1), PL_EINVAL);
	ck_assert_int_eq(pl_write(t, PL_AT(0), 1.0), PL_EINVAL);
	ck_assert_int_eq(pl_copy(t, t), PL_EINVAL);
	expect_error("first error stays", PL_EINVAL, "pl_wrap", first);
}
END_TEST

static const struct {
	const char *name;
	pl_dtype dtype;
	int64_t v;
	const char *text; /* NULL: comes back */
} ints[] = {
	{ "int8", PL_INT8, -128, NULL },
	{ "int8 over", PL_INT8, 128, "128: INT8 holds whole numbers from -128 to 127" },
	{ "int16", PL_INT16, 32767, NULL },
	{ "int32", PL_INT32, INT32_MIN, NULL },
	{ "int64", PL_INT64, INT64_MIN, NULL },
	{ "uint8", PL_UINT8, 255, NULL },
	{ "uint8 negative", PL_UINT8, -1, "-1: UINT8 holds whole numbers from 0 to 255" },
	{ "uint64", PL_UINT64, INT64_MAX, NULL },
	{ "uint64 negative", PL_UINT64, -1, "from 0 to 18446744073709551615" },
	{ "fp32 exact", PL_FP32, 16777216, NULL },
	{ "fp32 inexact", PL_FP32, 16777217, "16777217 is no number of FP32" },
	{ "fp64 exact", PL_FP64, INT64_MIN, NULL },
	{ "fp64 inexact", PL_FP64, INT64_MAX, "9223372036854775807 is no number of FP64" },
	{ "fp16 exact", PL_FP16, -2048, NULL },
	{ "fp16 inexact", PL_FP16, 2049, "2049 is no number of FP16" },
	{ "fp16 infinite", PL_FP16, 65536, "65536 is no number of FP16" },
	{ "fp16 minus infinite", PL_FP16, INT64_MIN, "is no number of FP16" },
	{ "bf16 exact", PL_BF16, 256, NULL },
	{ "bf16 inexact", PL_BF16, 257, "257 is no number of BF16" },
};

START_TEST(write_int)
{
	_Alignas(8) unsigned char x[16], before[16];
	pl_tensor t;
	pl_status s;
	size_t bytes = pl_dtype_bytes(ints[_i].dtype);

	memset(x, 0xa5, sizeof(x));
	memcpy(before, x, sizeof(x));
	t = pl_wrap(x, PL_SHAPE(2), ints[_i].dtype);
	s = pl_write(t, PL_AT(1), ints[_i].v);
	if (ints[_i].text) {
		ck_assert_msg(s == PL_EINVAL && !memcmp(x, before, sizeof(x)), "%s", ints[_i].name);
		expect_error(ints[_i].name, PL_EINVAL, "pl_write", ints[_i].text);
		return;
	}
	ck_assert_msg(s == PL_OK, "%s", ints[_i].name);
	if (ints[_i].dtype <= PL_BF16)
		ck_assert_msg(pl_read_float(t, PL_AT(1)) == (double)ints[_i].v, "%s",
			      ints[_i].name);
	else
		ck_assert_msg(pl_read_int(t, PL_AT(1)) == ints[_i].v, "%s", ints[_i].name);
	ck_assert(!memcmp(x, before, bytes) &&
		  !memcmp(x + 2 * bytes, before + 2 * bytes, sizeof(x) - 2 * bytes));
}
END_TEST

START_TEST(write_float)
{
	double d[1];
	float f[1];
	uint16_t h[1];
	int32_t n[1] = { 5 };

	ck_assert_int_eq(pl_write(pl_wrap(d, PL_SHAPE(1), PL_FP64), PL_AT(0), 0.1), PL_OK);
	ck_assert(d[0] == 0.1);
	ck_assert_int_eq(pl_write(pl_wrap(f, PL_SHAPE(1), PL_FP32), PL_AT(0), 0.1), PL_OK);
	ck_assert(f[0] == 0.1f);
	/* just above half way between two FP16, by less than an FP32 can tell */
	ck_assert_int_eq(pl_write(pl_wrap(h, PL_SHAPE(1), PL_FP16), PL_AT(0), 0x1.002000000001p0),
			 PL_OK);
	ck_assert_int_eq(h[0], 0x3c01);
	ck_assert_int_eq(pl_write(pl_wrap(n, PL_SHAPE(1), PL_INT32), PL_AT(0), 1.0), PL_EINVAL);
	expect_error("float into int", PL_EINVAL, "pl_write", "into a tensor of INT32");
	ck_assert_int_eq(n[0], 5);
	ck_assert_int_eq(pl_write(pl_wrap(n, PL_SHAPE(1), PL_INT32), PL_AT(1), 1), PL_EINVAL);
	expect_error("bounds", PL_EINVAL, "pl_write", "t: index (1) outside shape (1)");
}
END_TEST

START_TEST(read_kinds)
{
	float f[1] = { 2.5f };
	uint64_t u[2] = { UINT64_MAX, 7 };
	pl_tensor tf = pl_wrap(f, PL_SHAPE(1), PL_FP32), tu = pl_wrap(u, PL_SHAPE(2), PL_UINT64);

	ck_assert(pl_read_float(tf, PL_AT(0)) == 2.5);
	ck_assert_int_eq(pl_read_int(tu, PL_AT(1)), 7);
	ck_assert_int_eq(pl_read_int(tf, PL_AT(0)), 0);
	expect_error("int of float", PL_EINVAL, "pl_read_int", "t is FP32; pl_read_float");
	ck_assert(isnan(pl_read_float(tu, PL_AT(0))));
	expect_error("float of int", PL_EINVAL, "pl_read_float", "t is UINT64; pl_read_int");
	ck_assert_int_eq(pl_read_int(tu, PL_AT(0)), 0);
	expect_error("large", PL_EINVAL, "pl_read_int", "18446744073709551615");
	ck_assert_int_eq(pl_read_int(tu, PL_AT(2)), 0);
	expect_error("bounds", PL_EINVAL, "pl_read_int", "t: index (2) outside shape (2)");
}
END_TEST

/* Memory of any alignment: packed records, mapped files. */
START_TEST(unaligned)
{
	char raw[33] = { 0 };
	pl_tensor t = pl_wrap(raw + 1, PL_SHAPE(4), PL_FP64);

	ck_assert_int_eq(pl_write(t, PL_AT(2), -1.5), PL_OK);
	ck_assert(pl_read_float(t, PL_AT(2)) == -1.5);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, wrap);
	tcase_add_test(tc, arguments_once);
	tcase_add_test(tc, at);
	tcase_add_test(tc, slice);
	tcase_add_test(tc, nulls_pass);
	tcase_add_loop_test(tc, write_int, 0, ROWS(ints));
	tcase_add_test(tc, write_float);
	tcase_add_test(tc, read_kinds);
	tcase_add_test(tc, unaligned);
}

int main(void)
{
	return unit_run("tensor", add);
}
