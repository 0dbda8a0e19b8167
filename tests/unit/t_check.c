/* t_check.c - indices and boxes: what is inside, what is not, and what the error says. */
#include "config.h"

#include "pldi_tensor.h"
#include "unit.h"

#define MAX INT64_MAX

static const struct {
	const char *name;
	pl_dims shape, at;
	int64_t off;
	const char *text; /* NULL: fine */
} indices[] = {
	{ "first", { 2, { 2, 64 } }, { 2, { 0, 0 } }, 0, NULL },
	{ "last", { 2, { 2, 64 } }, { 2, { 1, 63 } }, 127, NULL },
	{ "one", { 1, { 5 } }, { 1, { 4 } }, 4, NULL },
	{ "seven", { 7, { 2, 2, 2, 2, 2, 2, 2 } }, { 7, { 1, 1, 1, 1, 1, 1, 1 } }, 127, NULL },
	{ "row over",
	  { 2, { 2, 64 } },
	  { 2, { 2, 0 } },
	  0,
	  "x: index (2, 0) outside shape (2, 64)" },
	{ "column over", { 2, { 2, 64 } }, { 2, { 0, 64 } }, 0, "index (0, 64) outside" },
	{ "negative", { 2, { 2, 64 } }, { 2, { 0, -1 } }, 0, "index (0, -1) outside" },
	{ "least", { 1, { 5 } }, { 1, { INT64_MIN } }, 0, "outside shape (5)" },
	{ "most", { 1, { 5 } }, { 1, { MAX } }, 0, "outside shape (5)" },
	{ "empty", { 2, { 0, 3 } }, { 2, { 0, 0 } }, 0, "outside shape (0, 3)" },
	{ "too few",
	  { 2, { 2, 64 } },
	  { 1, { 0 } },
	  0,
	  "x: index (0) has 1 dimension, shape (2, 64) has 2" },
	{ "too many", { 1, { 5 } }, { 2, { 0, 0 } }, 0, "index (0, 0) has 2 dimensions" },
	{ "none", { 1, { 5 } }, { 0, { 0 } }, 0, "index () has 0 dimensions" },
	{ "nonsense", { 1, { 5 } }, { 9, { 0 } }, 0, "has 9 dimensions" },
};

static const struct pl_layout *layout(const pl_dims *shape)
{
	return pldi_layout_packed(PL_INT8, shape, "t", "here:1");
}

START_TEST(index_in_shape)
{
	int64_t off = -77;
	pl_status s =
		pldi_index(layout(&indices[_i].shape), &indices[_i].at, &off, "t", "here:1", "x");

	if (indices[_i].text) {
		ck_assert_msg(s == PL_EINVAL && off == -77, "%s", indices[_i].name);
		expect_error(indices[_i].name, PL_EINVAL, "t", indices[_i].text);
		ck_assert_str_eq(pl_last_error()->where, "here:1");
	} else {
		ck_assert_msg(s == PL_OK && off == indices[_i].off, "%s: %d, offset %lld",
			      indices[_i].name, (int)s, (long long)off);
	}
}
END_TEST

static const struct {
	const char *name;
	pl_dims dims, at, shape;
	int64_t off;
	const char *text;
} boxes[] = {
	{ "all", { 2, { 4, 8 } }, { 2, { 0, 0 } }, { 2, { 4, 8 } }, 0, NULL },
	{ "inner", { 2, { 4, 8 } }, { 2, { 1, 2 } }, { 2, { 3, 6 } }, 10, NULL },
	{ "empty inside", { 2, { 4, 8 } }, { 2, { 1, 2 } }, { 2, { 0, 6 } }, 0, NULL },
	{ "empty at the end", { 2, { 4, 8 } }, { 2, { 4, 8 } }, { 2, { 0, 0 } }, 0, NULL },
	{ "empty past the end", { 2, { 4, 8 } }, { 2, { 5, 0 } }, { 2, { 0, 0 } }, 0, "outside" },
	{ "of an empty one", { 2, { 0, 8 } }, { 2, { 0, 0 } }, { 2, { 0, 8 } }, 0, NULL },
	{ "rows over",
	  { 2, { 2, 64 } },
	  { 2, { 1, 0 } },
	  { 2, { 2, 64 } },
	  0,
	  "x: box of shape (2, 64) at (1, 0) outside shape (2, 64)" },
	{ "columns over", { 2, { 2, 64 } }, { 2, { 0, 1 } }, { 2, { 1, 64 } }, 0, "outside" },
	{ "negative at",
	  { 2, { 2, 64 } },
	  { 2, { -1, 0 } },
	  { 2, { 1, 1 } },
	  0,
	  "at (-1, 0) outside" },
	{ "negative extent",
	  { 2, { 2, 64 } },
	  { 2, { 0, 0 } },
	  { 2, { 1, -1 } },
	  0,
	  "x: shape (1, -1) has a negative extent" },
	{ "negative extent inside",
	  { 1, { 5 } },
	  { 1, { 2 } },
	  { 1, { -1 } },
	  0,
	  "negative extent" },
	{ "sum overflows", { 1, { 5 } }, { 1, { 2 } }, { 1, { MAX } }, 0, "outside" },
	{ "both huge", { 1, { MAX } }, { 1, { MAX } }, { 1, { MAX } }, 0, "outside" },
	{ "huge", { 1, { MAX } }, { 1, { MAX - 1 } }, { 1, { 1 } }, MAX - 1, NULL },
	{ "huge and out", { 1, { MAX } }, { 1, { MAX - 1 } }, { 1, { 2 } }, 0, "outside" },
	{ "least", { 1, { 5 } }, { 1, { INT64_MIN } }, { 1, { INT64_MIN } }, 0, "negative extent" },
	{ "few at",
	  { 2, { 2, 4 } },
	  { 1, { 0 } },
	  { 2, { 1, 1 } },
	  0,
	  "index (0) has 1 dimension" },
	{ "few extents",
	  { 2, { 2, 4 } },
	  { 2, { 0, 0 } },
	  { 1, { 1 } },
	  0,
	  "shape (1) has 1 dimension, shape (2, 4) has 2" },
};

START_TEST(box_in_shape)
{
	int64_t off = -77;
	pl_dims clipped;
	pl_status s = pldi_box(layout(&boxes[_i].dims), &boxes[_i].at, &boxes[_i].shape, &off, "t",
			       "here:1", "x");

	if (boxes[_i].text) {
		ck_assert_msg(s == PL_EINVAL && off == -77, "%s", boxes[_i].name);
		expect_error(boxes[_i].name, PL_EINVAL, "t", boxes[_i].text);
		return;
	}
	ck_assert_msg(s == PL_OK && off == boxes[_i].off, "%s: %d, offset %lld", boxes[_i].name,
		      (int)s, (long long)off);
	/* without a valid shape the other check is the same */
	s = pldi_box_valid(layout(&boxes[_i].dims), &boxes[_i].at, &boxes[_i].shape, NULL, &clipped,
			   &off, "t", "here:1", "x");
	ck_assert_msg(s == PL_OK && off == boxes[_i].off && clipped.d[0] == boxes[_i].shape.d[0],
		      "%s", boxes[_i].name);
}
END_TEST

static const struct {
	const char *name;
	pl_dims at, shape, valid, clipped;
	int64_t off;
	const char *text;
} valids[] = {
	/* in a tensor of shape (4, 10) */
	{ "all", { 2, { 0, 0 } }, { 2, { 4, 10 } }, { 2, { 4, 10 } }, { 2, { 4, 10 } }, 0, NULL },
	{ "asked", { 2, { 1, 0 } }, { 2, { 2, 4 } }, { 2, { 1, 3 } }, { 2, { 1, 3 } }, 10, NULL },
	{ "more than shape",
	  { 2, { 0, 2 } },
	  { 2, { 2, 4 } },
	  { 2, { 9, 9 } },
	  { 2, { 2, 4 } },
	  2,
	  NULL },
	{ "to the end",
	  { 2, { 0, 8 } },
	  { 2, { 1, 4 } },
	  { 2, { 1, 4 } },
	  { 2, { 1, 2 } },
	  8,
	  NULL },
	{ "at the end",
	  { 2, { 4, 10 } },
	  { 2, { 1, 4 } },
	  { 2, { 1, 4 } },
	  { 2, { 0, 0 } },
	  0,
	  NULL },
	{ "nothing", { 2, { 1, 1 } }, { 2, { 1, 4 } }, { 2, { 0, 4 } }, { 2, { 0, 4 } }, 0, NULL },
	{ "huge",
	  { 2, { 3, 9 } },
	  { 2, { MAX, MAX } },
	  { 2, { MAX, MAX } },
	  { 2, { 1, 1 } },
	  39,
	  NULL },
	{ "past the end",
	  { 2, { 0, 11 } },
	  { 2, { 1, 4 } },
	  { 2, { 1, 4 } },
	  { 0, { 0 } },
	  0,
	  "at (0, 11) outside" },
	{ "negative at",
	  { 2, { -1, 0 } },
	  { 2, { 1, 4 } },
	  { 2, { 1, 4 } },
	  { 0, { 0 } },
	  0,
	  "outside" },
	{ "least at",
	  { 2, { INT64_MIN, 0 } },
	  { 2, { 1, 4 } },
	  { 2, { 1, 4 } },
	  { 0, { 0 } },
	  0,
	  "outside" },
	{ "negative valid",
	  { 2, { 0, 0 } },
	  { 2, { 1, 4 } },
	  { 2, { 1, -4 } },
	  { 0, { 0 } },
	  0,
	  "valid shape (1, -4) has a negative extent" },
	{ "negative shape",
	  { 2, { 0, 0 } },
	  { 2, { -1, 4 } },
	  { 2, { 1, 4 } },
	  { 0, { 0 } },
	  0,
	  "shape (-1, 4) has a negative extent" },
	{ "valid of 1",
	  { 2, { 0, 0 } },
	  { 2, { 1, 4 } },
	  { 1, { 1 } },
	  { 0, { 0 } },
	  0,
	  "valid shape (1) has 1 dimension" },
};

START_TEST(valid_box)
{
	const struct pl_layout *l = layout(PL_SHAPE(4, 10));
	pl_dims clipped = { 0, { 0 } };
	int64_t off = -77;
	pl_status s = pldi_box_valid(l, &valids[_i].at, &valids[_i].shape, &valids[_i].valid,
				     &clipped, &off, "t", "here:1", "x");

	if (valids[_i].text) {
		ck_assert_msg(s == PL_EINVAL && off == -77 && !clipped.n, "%s", valids[_i].name);
		expect_error(valids[_i].name, PL_EINVAL, "t", valids[_i].text);
		return;
	}
	ck_assert_msg(s == PL_OK && off == valids[_i].off, "%s: offset %lld", valids[_i].name,
		      (long long)off);
	for (int i = 0; i < 2; i++)
		ck_assert_msg(clipped.d[i] == valids[_i].clipped.d[i], "%s: dimension %d is %lld",
			      valids[_i].name, i, (long long)clipped.d[i]);
}
END_TEST

START_TEST(strided_offsets)
{
	const struct pl_layout *l =
		pldi_layout_strided(PL_FP32, PL_SHAPE(3, 4), (int64_t[]){ -100, 2 }, "t", "here:1");
	int64_t off = 0;

	ck_assert_int_eq(pldi_index(l, PL_AT(2, 3), &off, "t", "here:1", "x"), PL_OK);
	ck_assert_int_eq(off, -194);
	ck_assert_int_eq(pldi_box(l, PL_AT(1, 1), PL_SHAPE(2, 3), &off, "t", "here:1", "x"), PL_OK);
	ck_assert_int_eq(off, -98);
}
END_TEST

START_TEST(null_and_dead)
{
	struct pldi_layout dead;
	int64_t off;

	pldi_layout_dead(&dead, "window freed at step.c:31");
	ck_assert_int_eq(pldi_index(NULL, PL_AT(0), &off, "t", "here:1", "x"), PL_EINVAL);
	expect_error("null, first error", PL_EINVAL, "t", "x is null");
	pldi_fail(PL_ENOMEM, "maker", "here:2", "no memory");
	ck_assert_int_eq(pldi_index(NULL, PL_AT(0), &off, "t", "here:1", "x"), PL_ENOMEM);
	ck_assert_int_eq(pldi_box(NULL, PL_AT(0), PL_SHAPE(1), &off, "t", "here:1", "x"),
			 PL_ENOMEM);
	expect_error("null passes on", PL_ENOMEM, "maker", "no memory");

	ck_assert_int_eq(pldi_index(&dead.pub, PL_AT(0), &off, "t", "here:1", "x"), PL_EINVAL);
	expect_error("dead", PL_EINVAL, "t", "x: window freed at step.c:31");
	ck_assert_int_eq(pldi_index(&dead.pub, &(pl_dims){ 0, { 0 } }, &off, "t", "here:1", "x"),
			 PL_EINVAL);
	ck_assert_int_eq(pldi_box(&dead.pub, &(pl_dims){ 0, { 0 } }, &(pl_dims){ 0, { 0 } }, &off,
				  "t", "here:1", "x"),
			 PL_EINVAL);
	expect_error("dead", PL_EINVAL, "t", "x: window freed at step.c:31");
	ck_assert_int_eq(pldi_index(layout(PL_SHAPE(3)), NULL, &off, "t", "here:1", "x"),
			 PL_EINVAL);
	expect_error("no index", PL_EINVAL, "t", "x: no index given");
	ck_assert_int_eq(pldi_box(layout(PL_SHAPE(3)), PL_AT(0), NULL, &off, "t", "here:1", "x"),
			 PL_EINVAL);
	expect_error("no shape", PL_EINVAL, "t", "x: no shape given");
}
END_TEST

START_TEST(texts)
{
	char text[PLDI_DIMS_TEXT];
	const pl_dims least = {
		7, { INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN }
	};

	ck_assert_str_eq(pldi_dims_text(PL_SHAPE(3), text), "(3)");
	ck_assert_str_eq(pldi_dims_text(NULL, text), "(nothing)");
	ck_assert_str_eq(pldi_dims_text(&(pl_dims){ -4, { 0 } }, text), "()");
	pldi_dims_text(&least, text);
	ck_assert_str_eq(text + strlen(text) - 3, "08)");
}
END_TEST

START_TEST(same_shape)
{
	const struct pl_layout *a = layout(PL_SHAPE(2, 3));

	ck_assert(pldi_same_shape(a, pldi_layout_packed(PL_FP64, PL_SHAPE(2, 3), "t", NULL)));
	ck_assert(pldi_same_shape(a, pldi_layout_strided(PL_INT8, PL_SHAPE(2, 3),
							 (int64_t[]){ 1, 2 }, "t", NULL)));
	ck_assert(!pldi_same_shape(a, layout(PL_SHAPE(3, 2))));
	ck_assert(!pldi_same_shape(a, layout(PL_SHAPE(2, 3, 1))));
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, index_in_shape, 0, ROWS(indices));
	tcase_add_loop_test(tc, box_in_shape, 0, ROWS(boxes));
	tcase_add_loop_test(tc, valid_box, 0, ROWS(valids));
	tcase_add_test(tc, strided_offsets);
	tcase_add_test(tc, null_and_dead);
	tcase_add_test(tc, texts);
	tcase_add_test(tc, same_shape);
}

int main(void)
{
	return unit_run("check", add);
}
