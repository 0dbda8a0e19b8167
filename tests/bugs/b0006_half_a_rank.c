/*
 * b0006_half_a_rank.c - a pld_init that failed left half a rank.
 *
 * Cause: names of the environment (pldrun --dim) were bound after the process had become a rank; a
 * name that the program had bound differently made pld_init fail then.
 * Shape: such a pld_init, twice, then calls that need a rank; and a pld_init that works after all.
 * Fails: pld_world_size() gives 1, and the second pld_init says that it is the second.
 */
#include "config.h"

#include <sys/wait.h>
#include <unistd.h>

#include "../errors/errors.h"

static const struct row {
	const char *name;
	int64_t value;
	const char *dims; /* PLD_DIMS */
} rows[] = {
	{ "M", 3, "M=4" },
	{ "M", 3, "K=1,M=4" },
};

static void no_rank(void)
{
	FAILS(pld_world_size(), PL_ELEVEL, "pld_world_size", "called before pld_init");
	FAILS(pld_world(), PL_ELEVEL, "pld_world", "called before pld_init");
	FAILS(pld_finalize(), PL_ELEVEL, "pld_finalize", "called before pld_init");
}

static int run(const struct row *row)
{
	char text[256];

	errors_return();
	setenv("PLD_DIMS", row->dims, 1);
	HOLDS(pl_bind(row->name, row->value) == PL_OK);
	FAILS(pld_init(NULL), PL_EINVAL, "pld_init", "*");
	snprintf(text, sizeof(text), "%s", pl_last_error()->text);
	no_rank();
	FAILS(pld_init(NULL), PL_EINVAL, "pld_init", text);
	no_rank();
	unsetenv("PLD_DIMS");
	WORKS(pld_init(NULL));
	HOLDS(pld_world_size() == 1);
	WORKS(pld_finalize());
	return errors_state()->failed;
}

int main(void)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0)
			_exit(run(&rows[i]));
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			abort();
		if (status) {
			fprintf(stderr, "%s: wait status 0x%x\n", rows[i].dims, (unsigned)status);
			failed++;
		}
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
