/* args.h - the command line of an example: options with a number, and one file. */
#ifndef ARGS_H
#define ARGS_H

#include <stdint.h>

/* --name N */
struct args_option {
	const char *name, *help;
	int64_t *number; /* in: the default */
	int64_t least, most;
};

struct args {
	const char *program;
	const char *file_help; /* NULL: takes no file */
	int file_needed;
	const struct args_option *options; /* up to one without a name */
	const char *file;		   /* out; NULL: not given */
	int help;
	char wrong[400]; /* what was wrong, and what is allowed; empty: nothing */
};

/* Reads strictly; prints nothing, for with pldrun every rank comes here. */
void args_read(struct args *a, int argc, char **argv);

/*
 * In every rank, first of all: 0, or 1 when there is nothing to do but to exit with *status; rank 0
 * has then said why.
 */
int args_done(const struct args *a, int *status);

/* One rank has found that the input is unfit: says so, and ends the job with status 2. */
_Noreturn void args_fail(const struct args *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
