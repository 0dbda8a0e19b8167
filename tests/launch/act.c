/*
 * act.c - a rank that does what its arguments say, for the scripts of this folder.
 *
 * An argument is an action, or RANK:action for that rank alone; in order:
 *
 *     init  final  barrier  error         calls of pld; error: one with a wrong argument
 *     alloc  allreduce                    of a further window; of one
 *     wait  notify=R                      for a notify that the second sends to rank R; 1000 s
 *     abort=N  exit=N  _exit=N  raise=SIG
 *     sleep=S  spin                       seconds; for ever, without a system call
 *     catch=SIG  ignore=SIG  block        catch: "got SIG COUNT" is printed; block: all
 *     until=N                             wait until N caught signals have come
 *     print=TEXT  eprint=TEXT             a line, or with a last '.' instead of a newline none
 *     fork                                a child that does nothing until it is killed
 *     scribble  flood                     garbage over the segment's start; into the status pipe
 *     claim=N                             says in the segment that it ends the job with status N
 *     end=HOW                             exit0, exit3, segv, bus, abort or kill; at once
 *     doom=HOW                            the same, as soon as it sleeps in a call of pld
 *     alarm=HOW                           after 20 ms, whatever it does
 *
 * Who ends by HOW prints "dies NS" first: CLOCK_MONOTONIC, in hexadecimal.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <pld.h>

#include "pldi_clock.h"
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

/* ---- ends ------------------------------------------------------------------------------------ */

enum { TICK_US = 2000, ALARM_US = 20000 };

static const char *how; /* of doom and alarm */
static volatile char *forbidden, *beyond_file;

/* What a store to them gets is SIGSEGV and SIGBUS, from the kernel. */
static void map_traps(void)
{
	int fd = memfd_create("empty", MFD_CLOEXEC);

	/* cppcheck-suppress invalidFunctionArg ; -1: an anonymous mapping has no file */
	forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	beyond_file = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
}

/* Also in a signal handler. */
static void say_dies(void)
{
	char text[] = "dies 0000000000000000\n";
	uint64_t ns = (uint64_t)pldi_now_ns();

	for (size_t i = sizeof(text) - 3; ns; i--, ns /= 16)
		text[i] = "0123456789abcdef"[ns % 16];
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(99);
}

static int end(const char *by)
{
	say_dies();
	if (strcmp(by, "exit0") == 0)
		_exit(0);
	if (strcmp(by, "exit3") == 0)
		_exit(3);
	if (strcmp(by, "segv") == 0)
		*forbidden = 1;
	if (strcmp(by, "bus") == 0)
		*beyond_file = 1;
	if (strcmp(by, "abort") == 0)
		abort();
	if (strcmp(by, "kill") == 0)
		raise(SIGKILL);
	return -1;
}

static void on_tick(int sig)
{
	const struct pldi_rank *self = pldi_self();

	(void)sig;
	/* relaxed: this thread writes it */
	if (self && self->slot &&
	    atomic_load_explicit(&self->slot->wait.epoch, memory_order_relaxed) % 2)
		end(how);
}

static void on_alarm(int sig)
{
	(void)sig;
	end(how);
}

static int end_later(const char *by, void (*handler)(int), int first_us, int every_us)
{
	struct itimerval timer = { { 0, every_us }, { 0, first_us } };

	how = by;
	signal(SIGALRM, handler);
	return setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- what is done to the job ----------------------------------------------------------------- */

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
	else if (strcmp(name, "end") == 0)
		return end(value);
	else if (strcmp(name, "doom") == 0)
		return end_later(value, on_tick, TICK_US, TICK_US);
	else if (strcmp(name, "alarm") == 0)
		return end_later(value, on_alarm, ALARM_US, 0);
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
	} else if (strcmp(name, "alloc") == 0) {
		pld_new_window(PL_SHAPE(100000), PL_INT32);
	} else if (strcmp(name, "allreduce") == 0) {
		pld_allreduce(cell);
	} else if (strcmp(name, "error") == 0) {
		pld_notify(cell, 9999, PL_AT(0), 1, PLD_NOTIFY_ADD);
	} else if (strcmp(name, "wait") == 0) {
		/* with a deadline, if a far one: a job in which all wait is no deadlock */
		pld_wait_for(cell, PL_AT(0), 1, PLD_WAIT_GE, INT64_C(1000000000000));
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

	map_traps();
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
