/* t_layout.c - layouts: one object for what is equal, refused shapes, the bound, many threads. */
#include "config.h"

#include <pthread.h>

#include "pldi_tensor.h"
#include "unit.h"

static const struct pl_layout *packed(pl_dtype t, const pl_dims *s)
{
	return pldi_layout_packed(t, s, "t", "here:1");
}

static const struct pl_layout *strided(pl_dtype t, const pl_dims *s, const int64_t *stride)
{
	return pldi_layout_strided(t, s, stride, "t", "here:1");
}

START_TEST(fields)
{
	const struct pl_layout *l = packed(PL_FP16, PL_SHAPE(2, 3, 5));

	ck_assert_int_eq(l->ndim, 3);
	ck_assert_int_eq(l->dtype, PL_FP16);
	ck_assert_int_eq(l->elem_bytes, 2);
	ck_assert_int_eq(l->count, 30);
	ck_assert_int_eq(pldi_bytes(l), 60);
	ck_assert(l->stride[0] == 15 && l->stride[1] == 5 && l->stride[2] == 1);
	ck_assert(pldi_is_packed(l));
	ck_assert_int_eq(pldi_layout(l)->low_off, 0);
	ck_assert_int_eq(pldi_layout(l)->high_off, 29);
	ck_assert_ptr_eq(l->inner, packed(PL_FP16, PL_SHAPE(3, 5)));
	ck_assert_ptr_eq(l->inner->inner, packed(PL_FP16, PL_SHAPE(5)));
	ck_assert_ptr_null(l->inner->inner->inner);
	ck_assert_ptr_eq(packed(PL_FP16, PL_SHAPE(2, 3, 5)), l);
	ck_assert_ptr_ne(packed(PL_BF16, PL_SHAPE(2, 3, 5)), l);
	ck_assert_ptr_ne(packed(PL_FP16, PL_SHAPE(3, 2, 5)), l);
	ck_assert_ptr_eq(strided(PL_FP16, PL_SHAPE(2, 3, 5), (int64_t[]){ 15, 5, 1 }), l);
}
END_TEST

START_TEST(strides)
{
	/* rows backwards, far apart: a view [P, ..] over slices looks like this */
	const struct pl_layout *l = strided(PL_INT32, PL_SHAPE(3, 4), (int64_t[]){ -1000, 2 });

	ck_assert(!pldi_is_packed(l));
	ck_assert_int_eq(l->count, 12);
	ck_assert_int_eq(pldi_layout(l)->low_off, -2000);
	ck_assert_int_eq(pldi_layout(l)->high_off, 6);
	ck_assert_ptr_eq(l->inner, strided(PL_INT32, PL_SHAPE(4), (int64_t[]){ 2 }));
	/* one row of a matrix, and a [1, ..] view: packed, whatever the idle stride is */
	ck_assert_ptr_eq(strided(PL_INT32, PL_SHAPE(1, 4), (int64_t[]){ 77, 1 }),
			 packed(PL_INT32, PL_SHAPE(1, 4)));
	ck_assert_ptr_eq(strided(PL_INT32, PL_SHAPE(3, 1, 4), (int64_t[]){ 4, -9, 1 }),
			 packed(PL_INT32, PL_SHAPE(3, 1, 4)));
	/* a column stays strided */
	ck_assert(!pldi_is_packed(strided(PL_INT32, PL_SHAPE(3, 1), (int64_t[]){ 4, 1 })));
	/* all rows the same */
	l = strided(PL_INT32, PL_SHAPE(3, 4), (int64_t[]){ 0, 1 });
	ck_assert(!pldi_is_packed(l) && pldi_layout(l)->high_off == 3);
}
END_TEST

/* So many that places in the table clash: each still is what was asked for. */
START_TEST(many_strides)
{
	for (int i = 0; i < 10000; i++) {
		const int64_t stride[2] = { 2 + i, i % 7 };
		const struct pl_layout *l = strided(PL_INT8, PL_SHAPE(2, 2), stride);

		ck_assert(l->stride[0] == stride[0] && l->stride[1] == stride[1]);
		ck_assert_ptr_eq(strided(PL_INT8, PL_SHAPE(2, 2), stride), l);
	}
}
END_TEST

START_TEST(empty)
{
	const struct pl_layout *l = packed(PL_FP64, PL_SHAPE(0, 3));

	ck_assert_int_eq(l->count, 0);
	ck_assert_int_eq(pldi_bytes(l), 0);
	ck_assert_int_eq(l->inner->count, 3);
	ck_assert(pldi_is_packed(l) && pldi_layout(l)->high_off == 0);
	ck_assert_ptr_eq(strided(PL_FP64, PL_SHAPE(0, 3), (int64_t[]){ INT64_MAX, -7 }), l);
	ck_assert_int_eq(packed(PL_FP64, PL_SHAPE(3, 0))->inner->count, 0);
}
END_TEST

static const struct {
	const char *name;
	pl_dtype dtype;
	pl_dims shape;
	const char *text; /* NULL: fine */
} shapes[] = {
	{ "no dimension", PL_INT8, { 0, { 0 } }, "0 dimensions" },
	{ "negative count", PL_INT8, { -1, { 0 } }, "-1 dimensions" },
	{ "eight", PL_INT8, { 8, { 0 } }, "8 dimensions" },
	{ "huge count", PL_INT8, { INT64_MAX, { 0 } }, "9223372036854775807 dimensions" },
	{ "seven", PL_INT8, { 7, { 1, 1, 1, 1, 1, 1, 1 } }, NULL },
	{ "negative", PL_INT8, { 2, { 3, -1 } }, "(3, -1) has a negative extent" },
	{ "dtype 0", (pl_dtype)0, { 1, { 3 } }, "dtype 0" },
	{ "dtype 5", (pl_dtype)5, { 1, { 3 } }, "dtype 5" },
	{ "largest", PL_INT8, { 1, { INT64_MAX } }, NULL },
	{ "bytes", PL_INT16, { 1, { INT64_MAX } }, "more than INT64_MAX bytes" },
	{ "product", PL_INT8, { 2, { INT64_MAX / 2, 3 } }, "more than INT64_MAX bytes" },
	{ "zero and product", PL_INT8, { 3, { 0, INT64_MAX, 2 } }, "more than INT64_MAX bytes" },
};

START_TEST(refused_shapes)
{
	const struct pl_layout *l = packed(shapes[_i].dtype, &shapes[_i].shape);

	ck_assert_msg(!l == !!shapes[_i].text, "%s", shapes[_i].name);
	if (shapes[_i].text)
		expect_error(shapes[_i].name, PL_EINVAL, "t", shapes[_i].text);
}
END_TEST

static const struct {
	const char *name;
	pl_dims shape;
	int64_t stride[2];
	int fine;
} spans[] = {
	{ "wide", { 2, { 2, 2 } }, { INT64_MAX / 4 - 2, 1 }, 1 },
	{ "reach", { 1, { 4 } }, { INT64_MAX / 2, 0 }, 0 },
	{ "sum", { 2, { 2, 2 } }, { INT64_MAX / 2 + 1, INT64_MAX / 2 + 1 }, 0 },
	{ "bytes", { 1, { 2 } }, { INT64_MAX / 4 + 1, 0 }, 0 },
	{ "negative", { 2, { 3, 2 } }, { INT64_MIN / 2, 1 }, 0 },
	{ "moves nothing", { 2, { 1, 2 } }, { INT64_MIN, 1 }, 1 },
};

START_TEST(refused_strides)
{
	const struct pl_layout *l = strided(PL_INT32, &spans[_i].shape, spans[_i].stride);

	ck_assert_msg(!l == !spans[_i].fine, "%s", spans[_i].name);
	if (!l)
		expect_error(spans[_i].name, PL_EINVAL, "t", "spans more than");
}
END_TEST

START_TEST(no_shape)
{
	ck_assert_ptr_null(packed(PL_FP32, NULL));
	expect_error("NULL", PL_EINVAL, "t", "a shape of 0 dimensions");
}
END_TEST

/* All of the table, then one clear error, and what exists still works. */
START_TEST(bounded)
{
	const struct pl_layout *first = packed(PL_INT8, PL_SHAPE(1)), *l;
	int64_t made = 0;

	for (int64_t n = 1; n <= 300000; n++) {
		l = packed(PL_INT8, PL_SHAPE(n));
		if (!l)
			break;
		ck_assert_int_eq(l->dim[0], n);
		made = n;
	}
	ck_assert_int_eq(made, 262144);
	expect_error("full", PL_ENOMEM, "t", "262144 exist");
	ck_assert_ptr_eq(packed(PL_INT8, PL_SHAPE(1)), first);
	ck_assert_ptr_null(packed(PL_INT8, PL_SHAPE(7, 7)));
}
END_TEST

enum { THREADS = 4, SHAPES = 2000 };

static void *make_all(void *arg)
{
	const struct pl_layout **mine = arg;

	for (int i = 0; i < SHAPES; i++)
		mine[i] = packed(PL_FP32, PL_SHAPE(i % 50, i / 50, 3));
	return NULL;
}

START_TEST(threads)
{
	static const struct pl_layout *seen[THREADS][SHAPES];
	pthread_t thread[THREADS];

	for (int t = 0; t < THREADS; t++)
		ck_assert_int_eq(pthread_create(&thread[t], NULL, make_all, seen[t]), 0);
	for (int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	for (int i = 0; i < SHAPES; i++) {
		ck_assert_ptr_nonnull(seen[0][i]);
		ck_assert_int_eq(seen[0][i]->dim[1], i / 50);
		for (int t = 1; t < THREADS; t++)
			ck_assert_ptr_eq(seen[t][i], seen[0][i]);
	}
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, fields);
	tcase_add_test(tc, strides);
	tcase_add_test(tc, many_strides);
	tcase_add_test(tc, empty);
	tcase_add_loop_test(tc, refused_shapes, 0, ROWS(shapes));
	tcase_add_loop_test(tc, refused_strides, 0, ROWS(spans));
	tcase_add_test(tc, no_shape);
	tcase_add_test(tc, bounded);
	tcase_add_test(tc, threads);
}

int main(void)
{
	return unit_run("layout", add);
}
