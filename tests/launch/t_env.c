/* t_env.c - arguments and environment of ranks. */
#include "config.h"

#include <stdio.h>

#include "../unit/unit.h"
#include "pldi_inner.h"

static const struct {
	const char *name, *text, *wanted;
} rows[] = {
	{ "nothing", "plain", "plain" },
	{ "empty", "", "" },
	{ "rank", "{rank}", "11" },
	{ "nranks", "{nranks}", "300" },
	{ "inside", "a{rank}b", "a11b" },
	{ "several", "{rank}.{nranks}.{rank}", "11.300.11" },
	{ "adjacent", "{rank}{rank}", "1111" },
	{ "another name", "{ranks}{Rank}{ rank}", "{ranks}{Rank}{ rank}" },
	{ "open", "{rank", "{rank" },
	{ "nested", "{{rank}}", "{11}" },
	{ "made by a replacement", "{r{rank}ank}", "{r11ank}" },
};

START_TEST(replaced)
{
	char program[] = "{rank}", *argv[] = { program, (char *)rows[_i].text, NULL };
	char **args = pldi_args_make(argv, 11, 300);

	ck_assert_str_eq(args[0], "sh");
	ck_assert_str_eq(args[1], "{rank}"); /* the program is no argument */
	ck_assert_msg(strcmp(args[2], rows[_i].wanted) == 0, "%s: got '%s'", rows[_i].name,
		      args[2]);
	ck_assert_ptr_null(args[3]);
	pldi_args_free(args, argv);
}
END_TEST

static int count(char *const *env, const char *name)
{
	const size_t bytes = strlen(name);
	int n = 0;

	for (; *env; env++)
		n += strncmp(*env, name, bytes) == 0 && (*env)[bytes] == '=';
	return n;
}

START_TEST(environment)
{
	const char *const settings[] = { "T_SET=1", "T_NEW=x=y", "T_SET=2", "T_EMPTY=", NULL };
	const struct pldi_launch l = { .nranks = 3, .env = settings, .dims = "M=3" };
	char **env;

	setenv("T_SET", "0", 1);
	setenv("T_KEPT", "k", 1);
	setenv("T_SETTER", "k", 1);
	setenv("PLD_RANK", "7", 1);
	setenv("PLD_JOB", "of another", 1);
	setenv("PLD_DIMS", "of another", 1);
	env = pldi_env_make(&l, "of this");
	ck_assert_ptr_nonnull(env);
	snprintf(env[0], PLDI_RANK_TEXT, "PLD_RANK=%d", 2);
	ck_assert_str_eq(pldi_env_value(env, "PLD_RANK"), "2");
	ck_assert_str_eq(pldi_env_value(env, "PLD_NRANKS"), "3");
	ck_assert_str_eq(pldi_env_value(env, "PLD_JOB"), "of this");
	ck_assert_str_eq(pldi_env_value(env, "PLD_DIMS"), "M=3");
	ck_assert_str_eq(pldi_env_value(env, "T_SET"), "2");
	ck_assert_str_eq(pldi_env_value(env, "T_NEW"), "x=y");
	ck_assert_str_eq(pldi_env_value(env, "T_EMPTY"), "");
	ck_assert_str_eq(pldi_env_value(env, "T_KEPT"), "k");
	ck_assert_str_eq(pldi_env_value(env, "T_SETTER"), "k");
	ck_assert_ptr_null(pldi_env_value(env, "T_NOT"));
	ck_assert_int_eq(count(env, "PLD_RANK"), 1);
	ck_assert_int_eq(count(env, "PLD_JOB"), 1);
	ck_assert_int_eq(count(env, "PLD_DIMS"), 1);
	ck_assert_int_eq(count(env, "T_SET"), 1);
	for (int i = 0; i < 4; i++) /* the others are not copies */
		free(env[i]);
	free(env);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, replaced, 0, ROWS(rows));
	tcase_add_test(tc, environment);
}

int main(void)
{
	return unit_run("env", add);
}
