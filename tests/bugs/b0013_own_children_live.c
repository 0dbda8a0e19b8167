/*
 * b0013_own_children_live.c - pld_run killed processes that were not its job's.
 *
 * Cause: the caller became a subreaper while the job ran, so orphans of its own children came to it
 * and ended with the job; and of its children only 256 were remembered, others were killed, too.
 * Shape: a child of ours forks a daemon and dies while the job runs; a caller with 300 children.
 * Fails: the daemon is dead after the job; or one of the 300 is.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pld.h>

#define MANY 300

static int ends[2]; /* a job's rank 0 lets the child of ours end */
static int ready[2];

static int body(void *arg)
{
	char c;

	(void)arg;
	if (pld_rank(pld_world()) == 0 &&
	    (write(ends[1], "x", 1) != 1 || read(ready[0], &c, 1) != 1))
		return 1;
	pld_barrier(pld_world());
	return 0;
}

/* The child: makes a daemon, waits for the job, dies, and its daemon says that it is an orphan. */
_Noreturn static void child(int told)
{
	const pid_t me = getpid();
	char c;

	if (fork() == 0) {
		const pid_t self = getpid();

		if (write(told, &self, sizeof(self)) != (ssize_t)sizeof(self))
			_exit(1);
		while (getppid() == me)
			usleep(1000);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	_exit(read(ends[0], &c, 1) != 1);
}

static int orphan_lives(void)
{
	struct pld_config config = PLD_CONFIG(.ndevices = 2);
	int told[2], status, alive;
	pid_t daemon;

	if (pipe(ends) || pipe(ready) || pipe(told))
		return 0;
	if (fork() == 0)
		child(told[1]);
	if (read(told[0], &daemon, sizeof(daemon)) != (ssize_t)sizeof(daemon))
		return 0;
	status = pld_run(&config, body, NULL);
	alive = kill(daemon, 0) == 0;
	kill(daemon, SIGKILL);
	while (wait(NULL) > 0)
		continue;
	return status == 0 && alive;
}

static int many_live(void)
{
	struct pld_config config = PLD_CONFIG(.ndevices = 2);
	pid_t pids[MANY];
	int status, died = 0;

	for (int i = 0; i < MANY; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			for (;;)
				pause();
	}
	status = pld_run(&config, body, NULL);
	for (int i = 0; i < MANY; i++) {
		died += waitpid(pids[i], NULL, WNOHANG) != 0;
		kill(pids[i], SIGKILL);
	}
	while (wait(NULL) > 0)
		continue;
	return status == 125 && !died;
}

int main(void)
{
	int bad = 0;

	if (!orphan_lives())
		bad = puts("an orphan of a child of ours ended with the job") > 0;
	if (!many_live())
		bad = puts("of 300 children some ended, or the job was not refused with 125") > 0;
	return bad;
}
