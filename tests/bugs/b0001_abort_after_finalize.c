/*
 * b0001_abort_after_finalize.c - pld_abort after pld_finalize crashed.
 *
 * Cause: pld_abort wrote the end of the job into the segment, which pld_finalize had unmapped.
 * Shape: jobs of 1 and 3 ranks that finalize and then abort, with and without a reason.
 * Fails: SIGSEGV, status 139, instead of the status that was given.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pld.h>

static const struct row {
	const char *name;
	int ranks, status;
	const char *why;
} rows[] = {
	{ "alone", 1, 3, NULL },
	{ "alone, with a reason", 1, 3, "enough" },
	{ "alone, with 0", 1, 0, NULL },
	{ "three ranks", 3, 3, NULL },
	{ "three ranks, with a reason", 3, 255, "enough" },
};

static int body(void *arg)
{
	const struct row *row = arg;

	if (pld_finalize())
		return 99;
	pld_abort(row->status, row->why);
	return 98;
}

/* The test itself must not be the rank that ends. */
static int run(const struct row *row)
{
	const struct pld_config config = PLD_CONFIG(.ndevices = row->ranks);
	struct row copy = *row;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(pld_run(&config, body, &copy));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	if (WIFEXITED(status) && WEXITSTATUS(status) == row->status)
		return 0;
	fprintf(stderr, "%s: wait status 0x%x, wanted exit status %d\n", row->name,
		(unsigned)status, row->status);
	return 1;
}

int main(void)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		failed += run(&rows[i]);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
