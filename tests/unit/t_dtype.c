/* t_dtype.c - the table of dtypes, and numbers as single elements. */
#include "config.h"

#include <math.h>

#include "pldi_dtype.h"
#include "unit.h"

static const struct {
	const char *name;
	pl_dtype dtype;
	size_t bytes;
	enum pldi_class class;
	int value; /* ABI */
} dtypes[] = {
	{ "FP64", PL_FP64, 8, PLDI_FLOAT, 1 },
	{ "FP32", PL_FP32, 4, PLDI_FLOAT, 2 },
	{ "FP16", PL_FP16, 2, PLDI_FLOAT, 3 },
	{ "BF16", PL_BF16, 2, PLDI_FLOAT, 4 },
	{ "INT8", PL_INT8, 1, PLDI_SIGNED, 8 },
	{ "INT16", PL_INT16, 2, PLDI_SIGNED, 9 },
	{ "INT32", PL_INT32, 4, PLDI_SIGNED, 10 },
	{ "INT64", PL_INT64, 8, PLDI_SIGNED, 11 },
	{ "UINT8", PL_UINT8, 1, PLDI_UNSIGNED, 16 },
	{ "UINT16", PL_UINT16, 2, PLDI_UNSIGNED, 17 },
	{ "UINT32", PL_UINT32, 4, PLDI_UNSIGNED, 18 },
	{ "UINT64", PL_UINT64, 8, PLDI_UNSIGNED, 19 },
};

START_TEST(table)
{
	int known = 0;

	ck_assert_int_eq((int)dtypes[_i].dtype, dtypes[_i].value);
	ck_assert_str_eq(pl_dtype_name(dtypes[_i].dtype), dtypes[_i].name);
	ck_assert_uint_eq(pl_dtype_bytes(dtypes[_i].dtype), dtypes[_i].bytes);
	ck_assert_int_eq(pldi_dtype(dtypes[_i].dtype)->class, dtypes[_i].class);
	for (int i = -300; i < 300; i++)
		known += pl_dtype_bytes((pl_dtype)i) != 0;
	ck_assert_int_eq(known, ROWS(dtypes));
	ck_assert_str_eq(pl_dtype_name((pl_dtype)5), "unknown pl_dtype");
	ck_assert_str_eq(pl_dtype_name((pl_dtype)0), "unknown pl_dtype");
	ck_assert_str_eq(pl_dtype_name((pl_dtype)-1), "unknown pl_dtype");
}
END_TEST

static const struct {
	const char *name;
	pl_dtype dtype;
	int64_t v;
	int rc;
} ints[] = {
	{ "int8 top", PL_INT8, 127, 0 },
	{ "int8 over", PL_INT8, 128, -1 },
	{ "int8 bottom", PL_INT8, -128, 0 },
	{ "int8 under", PL_INT8, -129, -1 },
	{ "int16 top", PL_INT16, 32767, 0 },
	{ "int16 over", PL_INT16, 32768, -1 },
	{ "int16 under", PL_INT16, -32769, -1 },
	{ "int32 top", PL_INT32, INT32_MAX, 0 },
	{ "int32 over", PL_INT32, INT32_MAX + (int64_t)1, -1 },
	{ "int32 bottom", PL_INT32, INT32_MIN, 0 },
	{ "int32 under", PL_INT32, INT32_MIN - (int64_t)1, -1 },
	{ "int64 top", PL_INT64, INT64_MAX, 0 },
	{ "int64 bottom", PL_INT64, INT64_MIN, 0 },
	{ "uint8 top", PL_UINT8, 255, 0 },
	{ "uint8 over", PL_UINT8, 256, -1 },
	{ "uint8 negative", PL_UINT8, -1, -1 },
	{ "uint16 top", PL_UINT16, 65535, 0 },
	{ "uint16 over", PL_UINT16, 65536, -1 },
	{ "uint32 top", PL_UINT32, UINT32_MAX, 0 },
	{ "uint32 over", PL_UINT32, UINT32_MAX + (int64_t)1, -1 },
	{ "uint64 top", PL_UINT64, INT64_MAX, 0 },
	{ "uint64 negative", PL_UINT64, -1, -1 },
};

START_TEST(elem_from_int)
{
	unsigned char elem[9];
	int64_t back = 0;
	int rc;

	memset(elem, 0xa5, sizeof(elem));
	rc = pldi_elem_from_int(ints[_i].dtype, ints[_i].v, elem + 1);
	ck_assert_msg(rc == ints[_i].rc, "%s: %d", ints[_i].name, rc);
	if (rc) {
		for (size_t i = 0; i < sizeof(elem); i++)
			ck_assert_int_eq(elem[i], 0xa5);
		return;
	}
	rc = pldi_elem_int(ints[_i].dtype, elem + 1, &back);
	ck_assert_msg(rc == 0 && back == ints[_i].v, "%s: back %lld", ints[_i].name,
		      (long long)back);
	for (size_t i = 1 + pl_dtype_bytes(ints[_i].dtype); i < sizeof(elem); i++)
		ck_assert_int_eq(elem[i], 0xa5);
}
END_TEST

static const struct {
	const char *name;
	pl_dtype dtype;
	double v;
	int rc;
	double back;
} floats[] = {
	{ "fp64", PL_FP64, 0.1, 0, 0.1 },
	{ "fp32 rounds", PL_FP32, 0.1, 0, 0x1.99999ap-4 },
	{ "fp32 infinite", PL_FP32, 1e300, 0, INFINITY },
	{ "fp16 rounds", PL_FP16, 2049, 0, 2048 },
	{ "fp16 once", PL_FP16, 0x1.002000000001p0, 0, 0x1.004p0 },
	{ "bf16 rounds", PL_BF16, 257, 0, 256 },
	{ "bf16 once", PL_BF16, 0x1.010000000001p0, 0, 0x1.02p0 },
	{ "int8 whole", PL_INT8, -128, 0, -128 },
	{ "int8 over", PL_INT8, 128, -1, 0 },
	{ "int8 fraction", PL_INT8, 1.5, -1, 0 },
	{ "int8 minus zero", PL_INT8, -0.0, 0, 0 },
	{ "int32 top", PL_INT32, 2147483647, 0, 2147483647 },
	{ "int32 over", PL_INT32, 2147483648, -1, 0 },
	{ "int64 bottom", PL_INT64, -0x1p63, 0, -0x1p63 },
	{ "int64 over", PL_INT64, 0x1p63, -1, 0 },
	{ "int64 largest below", PL_INT64, 0x1.fffffffffffffp62, 0, 0x1.fffffffffffffp62 },
	{ "uint8 negative", PL_UINT8, -1, -1, 0 },
	{ "uint8 small negative", PL_UINT8, -0.25, -1, 0 },
	{ "uint64 large", PL_UINT64, 0x1p63, 0, 0x1p63 },
	{ "uint64 over", PL_UINT64, 0x1p64, -1, 0 },
	{ "int NaN", PL_INT16, NAN, -1, 0 },
	{ "int infinite", PL_INT64, INFINITY, -1, 0 },
	{ "uint infinite", PL_UINT64, INFINITY, -1, 0 },
	{ "int minus infinite", PL_INT32, -INFINITY, -1, 0 },
};

START_TEST(elem_from_float)
{
	char elem[9] = { 0 };
	double back;
	int rc = pldi_elem_from_float(floats[_i].dtype, floats[_i].v, elem + 1);

	ck_assert_msg(rc == floats[_i].rc, "%s: %d", floats[_i].name, rc);
	if (rc)
		return;
	back = pldi_elem_float(floats[_i].dtype, elem + 1);
	ck_assert_msg(back == floats[_i].back, "%s: back %a", floats[_i].name, back);
}
END_TEST

START_TEST(large_uint64)
{
	const uint64_t u = 0x8000000000000001;
	int64_t v;

	ck_assert_int_eq(pldi_elem_int(PL_UINT64, &u, &v), -1);
	ck_assert_uint_eq((uint64_t)v, u);
}
END_TEST

START_TEST(ranges)
{
	char text[80];

	ck_assert_str_eq(pldi_dtype_range(PL_INT8, text, sizeof(text)),
			 "INT8 holds whole numbers from -128 to 127");
	ck_assert_str_eq(
		pldi_dtype_range(PL_INT64, text, sizeof(text)),
		"INT64 holds whole numbers from -9223372036854775808 to 9223372036854775807");
	ck_assert_str_eq(pldi_dtype_range(PL_UINT64, text, sizeof(text)),
			 "UINT64 holds whole numbers from 0 to 18446744073709551615");
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, table, 0, ROWS(dtypes));
	tcase_add_loop_test(tc, elem_from_int, 0, ROWS(ints));
	tcase_add_loop_test(tc, elem_from_float, 0, ROWS(floats));
	tcase_add_test(tc, large_uint64);
	tcase_add_test(tc, ranges);
}

int main(void)
{
	return unit_run("dtype", add);
}
