/*
 * b0004_null_after_old_error.c - a null handle was ignored although errors end the job.
 *
 * Cause: a call given a null handle returns the status of the thread's last error, of which the
 * handle is taken to be the result; an error of a time when errors returned was taken for it, too.
 * Shape: a job a row: an error under PL_ERRORS_RETURN, then PL_ERRORS_END and a null handle.
 * Fails: the call returns, and the job ends with 0 and prints nothing.
 */
#include "config.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../errors/errors.h"

struct row {
	const char *name, *line; /* all of stderr */
	void (*fn)(pld_tensor null);
};

static void put(pld_tensor null)
{
	int32_t x = 0;

	pld_put(null, 0, pl_wrap(&x, PL_SHAPE(1), PL_INT32));
}

static void notify(pld_tensor null)
{
	pld_notify(null, 0, PL_AT(0), 1, PLD_NOTIFY_ADD);
}

static void wait(pld_tensor null)
{
	pld_wait(null, PL_AT(0), 1, PLD_WAIT_GE);
}

static void barrier(pld_tensor null)
{
	pld_barrier(null);
}

static void free_window(pld_tensor null)
{
	pld_free_window(null);
}

static void write_local(pld_tensor null)
{
	pl_write(null, PL_AT(0), 1);
}

#define LINE(call) "pld: rank *: " call ": * is null, *b0004_null_after_old_error.c:*\n"

static const struct row rows[] = {
	{ "put", LINE("pld_put"), put },
	{ "notify", LINE("pld_notify"), notify },
	{ "wait", LINE("pld_wait"), wait },
	{ "barrier", LINE("pld_barrier"), barrier },
	{ "free", LINE("pld_free_window"), free_window },
	{ "write", LINE("pl_write"), write_local },
};

static int body(void *arg)
{
	const struct row *row = arg;
	const pld_tensor null = { NULL, NULL };

	errors_return();
	FAILS(pl_wrap(NULL, PL_SHAPE(3), PL_INT32), PL_EINVAL, "pl_wrap", "*");
	pl_set_errors(PL_ERRORS_END);
	row->fn(null);
	return 0;
}

static int run(const struct row *row, int file)
{
	const struct pld_config config = PLD_CONFIG(.ndevices = 2);
	struct row copy = *row;
	int before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100), status;
	char text[2048];
	ssize_t n;

	if (before < 0 || ftruncate(file, 0) || lseek(file, 0, SEEK_SET) ||
	    dup2(file, STDERR_FILENO) < 0)
		abort();
	status = pld_run(&config, body, &copy);
	n = pread(file, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	if (dup2(before, STDERR_FILENO) < 0)
		abort();
	close(before);
	if (status == 1 && errors_match(row->line, text, NULL) &&
	    strchr(text, '\n') == strrchr(text, '\n'))
		return 0;
	fprintf(stderr, "%s: status %d, wanted 1 and\n%s--- stderr\n%s", row->name, status,
		row->line, text);
	return 1;
}

int main(void)
{
	int file = memfd_create("b0004", MFD_CLOEXEC), failed = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		failed += run(&rows[i], file);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
