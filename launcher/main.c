/* main.c - pldrun. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "pldi_options.h"

/* Dies of the signal that ended the job: a shell's loop then ends, too. */
static void die_of(int sig)
{
	const struct rlimit no_core = { 0, 0 };
	sigset_t set;

	setrlimit(RLIMIT_CORE, &no_core);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int main(int argc, char **argv)
{
	struct pldi_options o;
	int rc = pldi_options_read(&o, argc, argv), status = PLDI_EXIT_LAUNCHER, by_signal = 0;

	if (rc > 0)
		status = fflush(stdout) ? PLDI_EXIT_LAUNCHER : 0;
	else if (rc == 0 && pldi_bind_ranks(&o) == 0)
		status = pldi_launch(&o.launch, &by_signal);
	pldi_options_free(&o);
	if (by_signal == SIGINT)
		die_of(by_signal);
	return status;
}
