/* t_status.c - the birth of an error: what is recorded, who is told, what it ends. */
#include "config.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pldi_status.h"
#include "unit.h"

START_TEST(names)
{
	static const char *const all[] = { "PL_OK",	  "PL_EINVAL",	  "PL_ELEVEL",
					   "PL_ENOMEM",	  "PL_ETIMEDOUT", "PL_EMISMATCH",
					   "PL_EABORTED", "PL_ESYS",	  "PL_EUNSUPPORTED",
					   "PL_EDEADLOCK" };

	for (int i = 0; i < ROWS(all); i++)
		ck_assert_str_eq(pl_status_name((pl_status)-i), all[i]);
	ck_assert_str_eq(pl_status_name((pl_status)1), "unknown pl_status");
	ck_assert_str_eq(pl_status_name((pl_status)-10), "unknown pl_status");
	ck_assert_str_eq(pl_status_name((pl_status)INT32_MIN), "unknown pl_status");
	ck_assert_str_eq(pl_status_name((pl_status)INT32_MAX), "unknown pl_status");
}
END_TEST

START_TEST(recorded)
{
	char long_text[3000];

	ck_assert_int_eq(pl_last_error()->status, PL_OK);
	ck_assert_str_eq(pl_last_error()->text, "");
	ck_assert_str_eq(pl_last_error()->call, "");
	ck_assert_str_eq(pl_last_error()->where, "");
	ck_assert_int_eq(pldi_fail(PL_ENOMEM, "call", "a.c:1", "%d of %s", 3, "four"), PL_ENOMEM);
	ck_assert_int_eq(pl_last_error()->status, PL_ENOMEM);
	ck_assert_str_eq(pl_last_error()->call, "call");
	ck_assert_str_eq(pl_last_error()->where, "a.c:1");
	ck_assert_str_eq(pl_last_error()->text, "3 of four");
	ck_assert_int_eq(pldi_fail(PL_ESYS, "other", NULL, "x"), PL_ESYS);
	ck_assert_str_eq(pl_last_error()->where, "");
	memset(long_text, 'y', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	pldi_fail(PL_EINVAL, "call", "a.c:1", "%s", long_text);
	ck_assert_uint_eq(strlen(pl_last_error()->text), 1023);
	/* the text of an error may be part of the next one */
	pldi_fail(PL_EINVAL, "call", "a.c:1", "first");
	pldi_fail(PL_EINVAL, "call", "a.c:2", "second after %s", pl_last_error()->text);
	ck_assert_str_eq(pl_last_error()->text, "second after first");
}
END_TEST

START_TEST(null_status)
{
	ck_assert_int_eq(pldi_null_status("call", "a.c:1", "tile"), PL_EINVAL);
	expect_error("nothing before", PL_EINVAL, "call", "tile is null");
	pldi_fail(PL_ENOMEM, "maker", "a.c:2", "why");
	ck_assert_int_eq(pldi_null_status("call", "a.c:3", "tile"), PL_ENOMEM);
	expect_error("passes on", PL_ENOMEM, "maker", "why");
}
END_TEST

static void *other_thread(void *arg)
{
	*(int *)arg = pl_last_error()->status == PL_OK;
	pldi_fail(PL_ESYS, "there", NULL, "of the other thread");
	return NULL;
}

START_TEST(per_thread)
{
	int was_ok = 0;
	pthread_t t;

	pldi_fail(PL_EINVAL, "here", NULL, "mine");
	ck_assert_int_eq(pthread_create(&t, NULL, other_thread, &was_ok), 0);
	pthread_join(t, NULL);
	ck_assert(was_ok);
	expect_error("mine", PL_EINVAL, "here", "mine");
}
END_TEST

static void count_errors(const struct pl_error *e, void *arg)
{
	if (e->status == PL_ENOMEM && strcmp(e->text, "seen") == 0)
		++*(int *)arg;
}

START_TEST(handler)
{
	int n = 0;

	pl_set_error_handler(count_errors, &n);
	pldi_fail(PL_ENOMEM, "call", NULL, "seen");
	ck_assert_int_eq(n, 1);
	pldi_null_status("call", NULL, "tile");
	ck_assert_int_eq(n, 1);
	pl_set_error_handler(NULL, NULL);
	pldi_fail(PL_ENOMEM, "call", NULL, "seen");
	ck_assert_int_eq(n, 1);
}
END_TEST

START_TEST(modes)
{
	struct pldi_errors own = { .mode = PL_ERRORS_RETURN };

	ck_assert_int_eq(pl_set_errors(PL_ERRORS_END), PL_ERRORS_RETURN);
	ck_assert_int_eq(pl_set_errors(PL_ERRORS_RETURN), PL_ERRORS_END);
	/* a rank that is a thread has its own */
	pl_set_errors(PL_ERRORS_END);
	pldi_errors_use(&own);
	ck_assert_ptr_eq(pldi_errors(), &own);
	ck_assert_int_eq(pldi_fail(PL_EINVAL, "call", NULL, "returns"), PL_EINVAL);
	pldi_errors_use(NULL);
	ck_assert_int_eq(pl_set_errors(PL_ERRORS_RETURN), PL_ERRORS_END);
}
END_TEST

/* What a level returns: the first error inside it; and that counts for the level around it too. */
START_TEST(marks)
{
	int outer = pldi_errors_mark(), inner;

	pldi_fail(PL_EINVAL, "call", NULL, "first");
	inner = pldi_errors_mark();
	ck_assert_int_eq(pldi_errors_unmark(inner), PL_OK);
	inner = pldi_errors_mark();
	pldi_fail(PL_ENOMEM, "call", NULL, "second");
	pldi_fail(PL_ESYS, "call", NULL, "third");
	ck_assert_int_eq(pldi_errors_unmark(inner), PL_ENOMEM);
	ck_assert_int_eq(pldi_errors_unmark(outer), PL_EINVAL);
	outer = pldi_errors_mark();
	inner = pldi_errors_mark();
	pldi_fail(PL_ELEVEL, "call", NULL, "inside");
	ck_assert_int_eq(pldi_errors_unmark(inner), PL_ELEVEL);
	ck_assert_int_eq(pldi_errors_unmark(outer), PL_ELEVEL);
}
END_TEST

static void end_with_7(const struct pl_error *e)
{
	_exit(e->status == PL_EINVAL ? 7 : 8);
}

/* What stderr gets from a process that makes an error in mode END; its wait status. */
static int run_end(const char *where, int hook, char *out, size_t bytes)
{
	int fd[2], status;
	ssize_t n, total = 0;
	pid_t child;

	ck_assert_int_eq(pipe(fd), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		dup2(fd[1], 2);
		close(fd[0]);
		pl_set_errors(PL_ERRORS_END);
		if (hook)
			pldi_errors()->end = end_with_7;
		pldi_fail(PL_EINVAL, "pl_load", where, "index %d", 3);
		_exit(99);
	}
	close(fd[1]);
	while ((n = read(fd[0], out + total, bytes - 1 - (size_t)total)) > 0)
		total += n;
	out[total] = '\0';
	close(fd[0]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status;
}

START_TEST(ends)
{
	char out[400];
	int status = run_end("step.c:31", 0, out, sizeof(out));

	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	ck_assert_str_eq(out, "pld: pl_load: index 3, step.c:31\n");
	status = run_end(NULL, 0, out, sizeof(out));
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	ck_assert_str_eq(out, "pld: pl_load: index 3\n");
	status = run_end("step.c:31", 1, out, sizeof(out));
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	ck_assert_str_eq(out, "");
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, names);
	tcase_add_test(tc, recorded);
	tcase_add_test(tc, null_status);
	tcase_add_test(tc, per_thread);
	tcase_add_test(tc, handler);
	tcase_add_test(tc, modes);
	tcase_add_test(tc, marks);
	tcase_add_test(tc, ends);
}

int main(void)
{
	return unit_run("status", add);
}
