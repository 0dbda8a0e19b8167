/* pldi_options.h - the command line of pldrun. */
#ifndef PLDI_OPTIONS_H
#define PLDI_OPTIONS_H

#include "pldi_launch.h"

enum pldi_binding { PLDI_BIND_NONE, PLDI_BIND_CORE, PLDI_BIND_STRICT };

struct pldi_options {
	struct pldi_launch launch;
	enum pldi_binding bind;
	int nranks;   /* of -n; 0: not given */
	int *devices; /* of -d; NULL: 0, 1, .. */
	int ndevices;
	const char **env; /* of -x */
	int nenv;
	char *dims;	     /* of --dim */
	unsigned char *cpus; /* masks for --bind */
};

/*
 * Reads argv into *o.  0: run.  1: what was asked for (help) is printed, exit with 0.  -1: one line
 * on stderr says what is wrong.
 */
int pldi_options_read(struct pldi_options *o, int argc, char **argv);
void pldi_options_free(struct pldi_options *o);

/* CPU masks of all ranks for --bind.  0, or -1 and one line on stderr. */
int pldi_bind_ranks(struct pldi_options *o);

/* Has the launcher that is process pid print what its ranks do.  -1, and why. */
int pldi_report_ask(pid_t pid, char *why, size_t bytes);

#endif
