/*
 * runs.c - a program that uses pld_run, for check-run.
 *
 * runs NAME RANKS: what NAME says, see the table at the end.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pld.h>

static int nranks;

static int run(int (*body)(void *arg), void *arg)
{
	const struct pld_config config = PLD_CONFIG(.default_ndevices = nranks);

	return pld_run(&config, body, arg);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static int hello(void *arg)
{
	const int me = pld_rank(pld_world()), n = pld_nranks(pld_world());

	printf("%s %d of %d\n", arg ? (const char *)arg : "rank", me, n);
	return 0;
}

/* A token goes once around. */
static int around(void *arg)
{
	const int me = pld_rank(pld_world()), n = pld_nranks(pld_world());
	pld_tensor signal = pld_new_window(PL_SHAPE(1), PL_INT32);

	(void)arg;
	if (me == 0)
		pld_notify(signal, 1 % n, PL_AT(0), 1, PLD_NOTIFY_ADD);
	pld_wait(signal, PL_AT(0), 1, PLD_WAIT_GE);
	if (me)
		pld_notify(signal, (me + 1) % n, PL_AT(0), 1, PLD_NOTIFY_ADD);
	return 0;
}

static int give(void *arg)
{
	return pld_rank(pld_world()) == nranks - 1 ? *(const int *)arg : 0;
}

static int crash(void *arg)
{
	if (pld_rank(pld_world()) == 1) {
		signal(SIGSEGV, SIG_DFL); /* a sanitizer would catch it */
		raise(SIGSEGV);
	}
	return around(arg);
}

static int leaves(void *arg)
{
	(void)arg;
	exit(0);
}

static int again_inside(void *arg)
{
	return run(hello, arg);
}

static int finalizes(void *arg)
{
	(void)arg;
	return pld_finalize();
}

/* ---- programs -------------------------------------------------------------------------------- */

static int simple(void)
{
	char who[] = "simple";

	return run(hello, who);
}

static int token(void)
{
	return run(around, NULL);
}

/* What was in stdio's buffer comes out once. */
static int buffered(void)
{
	char buffer[1000];

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	printf("before ");
	return run(hello, NULL);
}

static int value(void)
{
	int three = 3;

	return run(give, &three);
}

static int strange_value(void)
{
	int value = 256;

	return run(give, &value);
}

static int crashes(void)
{
	return run(crash, NULL);
}

static int exits(void)
{
	return run(leaves, NULL);
}

static int nested(void)
{
	return run(again_inside, NULL);
}

static int finalized(void)
{
	return run(finalizes, NULL);
}

static int many(void)
{
	for (int i = 0; i < 20; i++) {
		int want = i % 3, got = run(give, &want);

		if (got != want) {
			printf("run %d gave %d\n", i, got);
			return 1;
		}
	}
	return 0;
}

static void *wait_here(void *arg)
{
	pthread_mutex_lock(arg);
	return NULL;
}

static int threads(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;
	int rc;

	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, wait_here, &mutex);
	pl_set_errors(PL_ERRORS_RETURN);
	rc = run(hello, NULL);
	printf("%d %s: %s\n", rc, pl_last_error()->call, pl_last_error()->text);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	return 0;
}

static int no_body(void)
{
	int rc;

	pl_set_errors(PL_ERRORS_RETURN);
	rc = run(NULL, NULL);
	printf("%d %s\n", rc, pl_last_error()->text);
	return 0;
}

static int workers(void)
{
	const struct pld_config config = PLD_CONFIG(.default_ndevices = nranks, .workers = 2);
	int rc;

	pl_set_errors(PL_ERRORS_RETURN);
	rc = pld_run(&config, hello, NULL);
	printf("%d %s %s\n", rc, pl_status_name(pl_last_error()->status), pl_last_error()->text);
	return 0;
}

static volatile sig_atomic_t seen;

static void see(int sig)
{
	seen = sig;
}

static int same_action(int sig, void (*handler)(int))
{
	struct sigaction now;

	sigaction(sig, NULL, &now);
	return now.sa_handler == handler;
}

/* The caller's handlers, mask, children, subreaper flag are as before. */
static int restores(void)
{
	sigset_t set, now;
	int subreaper = -1, status;
	pid_t child;

	signal(SIGINT, see);
	signal(SIGCHLD, see);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	child = fork();
	if (child == 0) {
		usleep(1000);
		_exit(7);
	}
	if (run(around, NULL))
		return 1;
	sigprocmask(SIG_BLOCK, NULL, &now);
	prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
	if (!same_action(SIGINT, see) || !same_action(SIGCHLD, see) || subreaper ||
	    !sigismember(&now, SIGUSR1) || sigismember(&now, SIGINT) || sigismember(&now, SIGCHLD))
		return 2;
	if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7)
		return 3;
	if (waitpid(-1, NULL, 0) != -1 || errno != ECHILD)
		return 4;
	return seen == SIGCHLD ? 0 : 5;
}

/* Ranks have the caller's handlers and mask. */
static int check_signals(void *arg)
{
	sigset_t now;

	(void)arg;
	sigprocmask(SIG_BLOCK, NULL, &now);
	return same_action(SIGINT, see) && same_action(SIGPIPE, SIG_DFL) &&
			       sigismember(&now, SIGUSR1) && !sigismember(&now, SIGINT) &&
			       !sigismember(&now, SIGCHLD) && !sigismember(&now, SIGTERM)
		       ? 0
		       : 9;
}

static int inherits(void)
{
	sigset_t set;

	signal(SIGINT, see);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return run(check_signals, NULL);
}

static void at_exit(void)
{
	if (write(STDOUT_FILENO, "exit\n", 5) < 0)
		_exit(96);
}

/* Ranks run exit handlers, as any program that returns from main; so does the caller, once. */
static int exit_handlers(void)
{
	atexit(at_exit);
	return run(hello, NULL);
}

static int after_init(void)
{
	pld_init(NULL);
	pl_set_errors(PL_ERRORS_RETURN);
	if (run(hello, NULL) != 1)
		return 2;
	puts(pl_last_error()->text);
	return pld_finalize();
}

static const struct {
	const char *name;
	int (*fn)(void);
} programs[] = {
	{ "simple", simple },	      { "token", token },
	{ "buffered", buffered },     { "value", value },
	{ "strange", strange_value }, { "crash", crashes },
	{ "exits", exits },	      { "nested", nested },
	{ "finalized", finalized },   { "many", many },
	{ "threads", threads },	      { "no-body", no_body },
	{ "workers", workers },	      { "restores", restores },
	{ "inherits", inherits },     { "exit-handlers", exit_handlers },
	{ "after-init", after_init },
};

int main(int argc, char **argv)
{
	if (argc < 3)
		return 98;
	nranks = atoi(argv[2]);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (strcmp(argv[1], programs[i].name) == 0)
			return programs[i].fn();
	return 98;
}
