/* unit.h - what the unit tests share: running a suite, and looking at the last error. */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <pl/status.h>

#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* Runs the tests that add() puts into one case; what main returns.  Errors return a status. */
static inline int unit_run(const char *name, void (*add)(TCase *tc))
{
	Suite *suite = suite_create(name);
	TCase *tc = tcase_create(name);
	SRunner *runner;
	int failed;

	pl_set_errors(PL_ERRORS_RETURN);
	tcase_set_timeout(tc, 50);
	add(tc);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The last error: of this call and status, with this in its text. */
static inline void expect_error(const char *row, pl_status status, const char *call,
				const char *part)
{
	const struct pl_error *e = pl_last_error();

	ck_assert_msg(e->status == status && strcmp(e->call, call) == 0 && strstr(e->text, part),
		      "%s: wanted %s of %s with '%s', got %s of %s: %s", row,
		      pl_status_name(status), call, part, pl_status_name(e->status), e->call,
		      e->text);
}

/* ck_assert_msg for a loop: that one costs system calls also where it holds. */
#define expect_msg(holds, ...)                                                                     \
	do {                                                                                       \
		if (!(holds))                                                                      \
			ck_abort_msg(__VA_ARGS__);                                                 \
	} while (0)

/* A small generator, so that a failing row can be run again: the same numbers every time. */
static inline uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

#endif
