/* pldi_process.h - what /proc says of a process. */
#ifndef PLDI_PROCESS_H
#define PLDI_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pldi_process {
	pid_t parent;
	char state;    /* R S D T t Z, as in proc(5) */
	bool launcher; /* its name begins with pldrun */
	long threads;
	uint64_t cpu_ticks; /* used so far, user and system */
};

/* In a pid namespace under a /proc of another, its numbers are not ours. */
bool pldi_process_visible(void);
/* -1: it is not there, or cannot be seen. */
int pldi_process_look(pid_t pid, struct pldi_process *p);
/* Whether root is among the ancestors of pid, or top, to which orphans come. */
bool pldi_process_below(pid_t pid, pid_t root, pid_t top);
/* Whether pid blocks or catches a signal, and so does not die of it.  -1: errno. */
int pldi_process_expects(pid_t pid, int sig);

#endif
