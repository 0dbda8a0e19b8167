/*
 * act.c - a rank that does what its arguments say, for the scripts of this folder.
 *
 * An argument is an action, or RANK:action for that rank alone; in order:
 *
 *     init  final  barrier  error         calls of pld; error: one with a wrong argument
 *     wait  notify=R                      for a notify that the second sends to rank R
 *     abort=N  exit=N  _exit=N  raise=SIG
 *     sleep=S  spin                       seconds; for ever, without a system call
 *     catch=SIG  ignore=SIG  block        catch: "got SIG COUNT" is printed; block: all
 *     until=N                             wait until N caught signals have come
 *     print=TEXT  eprint=TEXT             a line, or with a last '.' instead of a newline none
 *     fork                                a child that does nothing until it is killed
 *     scribble  flood                     garbage over the segment's start; into the status pipe
 *     claim=N                             says in the segment that it ends the job with status N
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pld.h>

#include "pldi_job.h"

static pld_tensor cell;
static volatile sig_atomic_t caught;

static void count(int sig)
{
	char text[] = "got 00 0\n";

	text[4] = (char)('0' + sig / 10);
	text[5] = (char)('0' + sig % 10);
	text[7] = (char)('1' + caught++);
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(99);
}

static void nap(double seconds)
{
	struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

	while (nanosleep(&t, &t))
		continue;
}

static void print(FILE *to, const char *text)
{
	size_t n = strlen(text);

	if (n && text[n - 1] == '.')
		fprintf(to, "%.*s", (int)(n - 1), text);
	else
		fprintf(to, "%s\n", text);
	fflush(to);
}

static void block_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

static void until(int n)
{
	while (caught < n)
		nap(0.001);
}

static void leave_child(void)
{
	if (fork() == 0)
		for (;;)
			pause();
}

/* Also where a sanitizer would catch it. */
static void die(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
}

static void spin(void)
{
	for (volatile unsigned i = 0;; i++)
		continue;
}

/* The segment's start in this process, or NULL. */
static void *segment(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long begin = 0;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if ((strstr(line, "/pld-") || strstr(line, "memfd:pld")) &&
		    sscanf(line, "%lx-", &begin) == 1)
			break;
	if (maps)
		fclose(maps);
	return (void *)(uintptr_t)begin;
}

/* Over the head and the slots of all ranks. */
static void scribble(void)
{
	void *base = segment();

	if (base)
		memset(base, 0xa5, 40000);
}

/* Where ranks tell the launcher that they have finalized. */
static void flood(void)
{
	const char *job = getenv("PLD_JOB");
	unsigned char text[1001];
	int seg_fd, fd;

	if (!job || sscanf(job, "%*u:%d:%d", &seg_fd, &fd) != 2)
		return;
	srand(1);
	for (int i = 0; i < 2000; i++) {
		for (size_t k = 0; k < sizeof(text); k++)
			text[k] = (unsigned char)(rand() >> 8);
		if (write(fd, text, sizeof(text)) < 0)
			return;
	}
}

/* Actions with a value. */
static int act_on(const char *name, const char *value)
{
	const int n = atoi(value);

	if (strcmp(name, "notify") == 0)
		return pld_notify(cell, n, PL_AT(0), 1, PLD_NOTIFY_ADD);
	if (strcmp(name, "abort") == 0)
		pld_abort(n, "told to");
	else if (strcmp(name, "claim") == 0)
		return !pldi_abort_claim(segment(), pld_rank(pld_world()), n);
	else if (strcmp(name, "exit") == 0)
		exit(n);
	else if (strcmp(name, "_exit") == 0)
		_exit(n);
	else if (strcmp(name, "raise") == 0)
		die(n);
	else if (strcmp(name, "sleep") == 0)
		nap(atof(value));
	else if (strcmp(name, "catch") == 0)
		signal(n, count);
	else if (strcmp(name, "ignore") == 0)
		signal(n, SIG_IGN);
	else if (strcmp(name, "until") == 0)
		until(n);
	else if (strcmp(name, "print") == 0)
		print(stdout, value);
	else if (strcmp(name, "eprint") == 0)
		print(stderr, value);
	else
		return -1;
	return 0;
}

static int act(const char *name)
{
	if (strcmp(name, "init") == 0) {
		pld_init(NULL);
		cell = pld_new_window(PL_SHAPE(1), PL_INT32);
	} else if (strcmp(name, "final") == 0) {
		pld_finalize();
	} else if (strcmp(name, "barrier") == 0) {
		pld_barrier(pld_world());
	} else if (strcmp(name, "error") == 0) {
		pld_notify(cell, 9999, PL_AT(0), 1, PLD_NOTIFY_ADD);
	} else if (strcmp(name, "wait") == 0) {
		pld_wait(cell, PL_AT(0), 1, PLD_WAIT_GE);
	} else if (strcmp(name, "spin") == 0) {
		spin();
	} else if (strcmp(name, "block") == 0) {
		block_signals();
	} else if (strcmp(name, "scribble") == 0) {
		scribble();
	} else if (strcmp(name, "flood") == 0) {
		flood();
	} else if (strcmp(name, "fork") == 0) {
		leave_child();
	} else {
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *rank = getenv("PLD_RANK");
	char name[32];

	for (int i = 1; i < argc; i++) {
		const char *a = argv[i], *colon = strchr(a, ':'), *equals;

		if (colon && strspn(a, "0123456789") == (size_t)(colon - a)) {
			if (atoi(a) != atoi(rank ? rank : "0"))
				continue;
			a = colon + 1;
		}
		equals = strchr(a, '=');
		snprintf(name, sizeof(name), "%.*s", equals ? (int)(equals - a) : 31, a);
		if (equals ? act_on(name, equals + 1) : act(name)) {
			fprintf(stderr, "act: '%s' failed or is no action\n", argv[i]);
			return 98;
		}
	}
	return 0;
}
