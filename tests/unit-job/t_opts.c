/* t_opts.c - options structs of programs that are older or newer than the library. */
#include "config.h"

#include "../unit/unit.h"

#include "pldi_opts.h"

/* What the library knows. */
struct known {
	size_t size_;
	int64_t a, b;
};

/* With the size behind other members, as struct pld_alloc_args has it. */
struct later {
	int64_t first;
	size_t size_;
	int64_t a;
};

static const struct {
	const char *name;
	size_t size;
	int64_t a, b, tail[2]; /* what the program has; tail: unknown here */
	int64_t got_a, got_b;
	const char *text; /* NULL: taken */
} rows[] = {
	{ "same", sizeof(struct known), 1, 2, { 0 }, 1, 2, NULL },
	{ "older by one", sizeof(struct known) - 8, 1, 2, { 0 }, 1, 0, NULL },
	{ "nothing but a size", sizeof(size_t), 1, 2, { 0 }, 0, 0, NULL },
	{ "newer, unused", sizeof(struct known) + 16, 1, 2, { 0 }, 1, 2, NULL },
	{ "newer by a byte, unused", sizeof(struct known) + 1, 1, 2, { 0x100 }, 1, 2, NULL },
	{ "newer, first used",
	  sizeof(struct known) + 16,
	  1,
	  2,
	  { 1 },
	  0,
	  0,
	  "options of 40 bytes with a value at byte 24, this library knows 24: the program is "
	  "newer than the library" },
	{ "newer, last used",
	  sizeof(struct known) + 16,
	  1,
	  2,
	  { 0, INT64_MIN },
	  0,
	  0,
	  "options of 40 bytes with a value at byte 39, this library knows 24: the program is "
	  "newer than the library" },
	{ "no size",
	  0,
	  1,
	  2,
	  { 0 },
	  0,
	  0,
	  "options without their size: size_ is 0; use the macro f(..), or set size_ to the "
	  "struct's size" },
	{ "size too small", 7, 1, 2, { 0 }, 0, 0, "options without their size: size_ is 7; " },
};

START_TEST(sizes)
{
	struct {
		struct known known;
		int64_t tail[2];
	} from = { { rows[_i].size, rows[_i].a, rows[_i].b },
		   { rows[_i].tail[0], rows[_i].tail[1] } };
	struct known to = { 99, 98, 97 };
	pl_status s = pldi_opts(&to, sizeof(to), &from, 0, "f", "here.c:1");

	if (rows[_i].text) {
		ck_assert_msg(s == PL_EINVAL, "%s", rows[_i].name);
		expect_error(rows[_i].name, PL_EINVAL, "f", rows[_i].text);
		ck_assert_str_eq(pl_last_error()->where, "here.c:1");
		ck_assert(to.a == 98 && to.b == 97); /* only on success */
		return;
	}
	ck_assert_msg(s == PL_OK && to.a == rows[_i].got_a && to.b == rows[_i].got_b,
		      "%s: %lld, %lld", rows[_i].name, (long long)to.a, (long long)to.b);
}
END_TEST

START_TEST(size_behind)
{
	struct later from = { 5, sizeof(from), 7 }, to = { 0 };

	ck_assert_int_eq(pldi_opts(&to, sizeof(to), &from, offsetof(struct later, size_), "f",
				   NULL),
			 PL_OK);
	ck_assert(to.first == 5 && to.a == 7);
	/* a size that does not even cover the size */
	from.size_ = offsetof(struct later, size_) + sizeof(size_t) - 1;
	ck_assert_int_eq(pldi_opts(&to, sizeof(to), &from, offsetof(struct later, size_), "f",
				   NULL),
			 PL_EINVAL);
	expect_error("behind", PL_EINVAL, "f", "size_ is 15");
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, sizes, 0, ROWS(rows));
	tcase_add_test(tc, size_behind);
}

int main(void)
{
	return unit_run("opts", add);
}
