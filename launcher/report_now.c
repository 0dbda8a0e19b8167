/* report_now.c - pldrun --report-now PID: asks a pldrun that runs what its ranks do. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "pldi_launch.h"
#include "pldi_options.h"
#include "pldi_process.h"

/* A process that does not expect this signal would die of it. */
int pldi_report_ask(pid_t pid, char *why, size_t bytes)
{
	int expects = pldi_process_expects(pid, PLDI_SIGNAL_REPORT);

	if (expects < 0) {
		snprintf(why, bytes, "%s", errno == ENOENT ? "no such process" : strerror(errno));
		return -1;
	}
	if (!expects) {
		snprintf(why, bytes,
			 "this process is no pldrun, and no program that calls pld_run");
		return -1;
	}
	if (kill(pid, PLDI_SIGNAL_REPORT)) {
		snprintf(why, bytes, "%s", strerror(errno));
		return -1;
	}
	return 0;
}
