/* t_dynamic.c - names bound to extents: names, values, both places of a clash, PLD_DIMS, jobs. */
#include "config.h"

#include <stdio.h>

#include <pl.h>

#include "pldi_tensor.h"
#include "unit.h"

START_TEST(bind)
{
	ck_assert_int_lt(pl_dynamic("M"), 0);
	expect_error("unbound", PL_EINVAL, "pl_dynamic", "'M' is bound to nothing");
	ck_assert_int_eq((pl_bind)("M", 12, "a.c:1"), PL_OK);
	ck_assert_int_eq(pl_dynamic("M"), 12);
	ck_assert_int_eq((pl_bind)("M", 12, "b.c:2"), PL_OK);
	ck_assert_int_eq((pl_bind)("M", 13, "c.c:3"), PL_EINVAL);
	expect_error("other value", PL_EINVAL, "pl_bind",
		     "M is 12, bound at a.c:1, and cannot become 13 at c.c:3");
	ck_assert_int_eq(pl_dynamic("M"), 12);
	ck_assert_int_eq(pl_bind("zero", 0), PL_OK);
	ck_assert_int_eq(pl_dynamic("zero"), 0);
	ck_assert_int_eq(pl_bind("big", INT64_MAX), PL_OK);
	ck_assert_int_eq(pl_dynamic("big"), INT64_MAX);
	ck_assert_int_eq(pl_bind("neg", -1), PL_EINVAL);
	expect_error("negative", PL_EINVAL, "pl_bind", "neg = -1");
	ck_assert_int_lt(pl_dynamic("neg"), 0);
	ck_assert_int_lt(pl_dynamic("NR"), 0);
	expect_error("NR", PL_EINVAL, "pl_dynamic", "pld_init");
	ck_assert_int_lt((pl_dynamic)(NULL, NULL), 0);
}
END_TEST

#define LETTERS_63 "abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz0123456789"

static const struct {
	const char *name;
	const char *text;
	int fine;
} names[] = {
	{ "one letter", "M", 1 },   { "underscore", "_", 1 },	 { "all kinds", "a_Z9", 1 },
	{ "63", LETTERS_63, 1 },    { "64", LETTERS_63 "x", 0 }, { "empty", "", 0 },
	{ "digit first", "9a", 0 }, { "space", "a b", 0 },	 { "equals", "a=b", 0 },
	{ "comma", "a,b", 0 },	    { "minus", "a-b", 0 },	 { "not ASCII", "\xc3\xa4", 0 },
	{ "NULL", NULL, 0 },
};

START_TEST(naming)
{
	const pl_status s = pl_bind(names[_i].text, 5);

	ck_assert_msg(s == (names[_i].fine ? PL_OK : PL_EINVAL), "%s", names[_i].name);
	if (names[_i].fine)
		ck_assert_int_eq(pl_dynamic(names[_i].text), 5);
	else
		expect_error(names[_i].name, PL_EINVAL, "pl_bind", "a letter or _");
}
END_TEST

static const struct {
	const char *name, *dims;
	const char *text; /* NULL: A is 1, and B 22 where it is given */
} envs[] = {
	{ "one", "A=1", NULL },
	{ "two", "A=1,B=22", NULL },
	{ "same twice", "A=1,A=1", NULL },
	{ "differ", "A=1,A=2", "A is 1, bound at pldrun --dim, and cannot become 2" },
	{ "no value", "A", "'A' is not NAME=VALUE" },
	{ "empty value", "A=", "'A=' is not NAME=VALUE" },
	{ "negative", "A=-1", "'A=-1' is not" },
	{ "plus", "A=+1", "'A=+1' is not" },
	{ "space", "A= 1", "'A= 1' is not" },
	{ "trailing comma", "A=1,", "'' is not" },
	{ "double comma", "A=1,,B=22", "'' is not" },
	{ "trailing text", "A=1x", "'A=1x' is not" },
	{ "hexadecimal", "A=0x1", "'A=0x1' is not" },
	{ "too large", "A=9223372036854775808", "is not NAME=VALUE" },
	{ "very long", "A=00000000000000000000000000000000000001", "is not NAME=VALUE" },
	{ "name", "1A=1", "'1A=1' is not" },
	{ "second wrong", "A=1,B=q", "'B=q' is not" },
};

START_TEST(env)
{
	pl_status s;

	setenv("PLD_DIMS", envs[_i].dims, 1);
	s = pldi_bind_env("pld_init", "here:1");
	if (envs[_i].text) {
		ck_assert_msg(s == PL_EINVAL, "%s", envs[_i].name);
		expect_error(envs[_i].name, PL_EINVAL, "pld_init", envs[_i].text);
		return;
	}
	ck_assert_msg(s == PL_OK, "%s: %s", envs[_i].name, pl_last_error()->text);
	ck_assert_int_eq(pl_dynamic("A"), 1);
	if (strchr(envs[_i].dims, 'B'))
		ck_assert_int_eq(pl_dynamic("B"), 22);
}
END_TEST

START_TEST(env_unset)
{
	unsetenv("PLD_DIMS");
	ck_assert_int_eq(pldi_bind_env("pld_init", NULL), PL_OK);
	setenv("PLD_DIMS", "", 1);
	ck_assert_int_eq(pldi_bind_env("pld_init", NULL), PL_OK);
}
END_TEST

START_TEST(env_against_program)
{
	setenv("PLD_DIMS", "A=1", 1);
	ck_assert_int_eq((pl_bind)("A", 3, "main.c:9"), PL_OK);
	ck_assert_int_eq(pldi_bind_env("pld_init", "main.c:12"), PL_EINVAL);
	expect_error("clash", PL_EINVAL, "pld_init",
		     "A is 3, bound at main.c:9, and cannot become 1 at pldrun --dim");
}
END_TEST

START_TEST(reset)
{
	setenv("PLD_DIMS", "E=1", 1);
	ck_assert_int_eq(pl_bind("U", 1), PL_OK);
	ck_assert_int_eq(pldi_bind("J", 2, "pld_init", "here:1"), PL_OK);
	ck_assert_int_eq(pl_bind("NR", 3), PL_OK);
	ck_assert_int_eq(pl_bind("V", 4), PL_OK);
	ck_assert_int_eq(pldi_bind_env("pld_init", NULL), PL_OK);
	pldi_dynamic_reset();
	ck_assert(pl_dynamic("U") == 1 && pl_dynamic("V") == 4);
	ck_assert(pl_dynamic("J") < 0 && pl_dynamic("E") < 0 && pl_dynamic("NR") < 0);
	ck_assert_int_eq(pl_bind("NR", 5), PL_OK);
	ck_assert_int_eq(pl_dynamic("NR"), 5);
}
END_TEST

START_TEST(bounded)
{
	char name[16];

	for (int i = 0; i < 256; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		ck_assert_int_eq(pl_bind(name, i), PL_OK);
	}
	ck_assert_int_eq(pl_bind("more", 1), PL_ENOMEM);
	expect_error("full", PL_ENOMEM, "pl_bind", "more: 256 names are bound");
	ck_assert(pl_dynamic("n0") == 0 && pl_dynamic("n255") == 255);
	ck_assert_int_eq(pl_bind("n7", 7), PL_OK);
}
END_TEST

/* The place is copied: it may be a line of a library that is unloaded. */
START_TEST(place_is_copied)
{
	char where[] = "plugin.c:1";

	ck_assert_int_eq((pl_bind)("P", 1, where), PL_OK);
	memset(where, 'x', sizeof(where) - 1);
	ck_assert_int_eq((pl_bind)("P", 2, "here:1"), PL_EINVAL);
	expect_error("place", PL_EINVAL, "pl_bind", "plugin.c:1");
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, bind);
	tcase_add_loop_test(tc, naming, 0, ROWS(names));
	tcase_add_loop_test(tc, env, 0, ROWS(envs));
	tcase_add_test(tc, env_unset);
	tcase_add_test(tc, env_against_program);
	tcase_add_test(tc, reset);
	tcase_add_test(tc, bounded);
	tcase_add_test(tc, place_is_copied);
}

int main(void)
{
	return unit_run("dynamic", add);
}
