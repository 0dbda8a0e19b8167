/*
 * stuck.c - jobs that go on no more, and jobs that only look so, for check-deadlock.
 *
 *	stuck SCENARIO
 *
 * Windows 1, 2, 3 are sig (4 INT32), data (an FP32 for each rank) and rows, the signal of a
 * collective.  check-deadlock finds a line of this file by the name behind the @ at its end.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pld.h>

#define CELL PL_AT(1)

struct job {
	pld_ctx world, pair; /* pair: ranks 0 and 1 */
	pld_tensor sig, data, rows;
	int me, n, next;
};

/* Seconds that a rank which is not stuck keeps the others waiting. */
static double patience(void)
{
	const char *text = getenv("STUCK_SECONDS");

	return text && *text ? atof(text) : 2;
}

static void nap(double seconds)
{
	struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

	while (nanosleep(&t, &t))
		continue;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void compute(double seconds)
{
	const double end = now() + seconds;

	while (now() < end)
		continue;
}

static void notify(const struct job *j, int peer)
{
	pld_notify(j->sig, peer, CELL, 1, PLD_NOTIFY_ADD);
}

/* ---- a ring in which rank 1 does something wrong: the rank after it waits -------------------- */

static void barrier_at_the_end(const struct job *j)
{
	pld_barrier(j->world); /* @end */
}

static void missing_notify(const struct job *j)
{
	if (j->me != 1)
		notify(j, j->next);
	pld_wait(j->sig, CELL, 1, PLD_WAIT_GE); /* @missing-notify */
	barrier_at_the_end(j);
}

static void wrong_peer(const struct job *j)
{
	notify(j, j->me == 1 ? 1 : j->next);
	pld_wait(j->sig, CELL, 1, PLD_WAIT_GE); /* @wrong-peer */
	barrier_at_the_end(j);
}

static void wrong_cell(const struct job *j)
{
	pld_notify(j->sig, j->next, PL_AT(j->me == 1 ? 2 : 1), 1, PLD_NOTIFY_ADD);
	pld_wait(j->sig, CELL, 1, PLD_WAIT_GE); /* @wrong-cell */
	barrier_at_the_end(j);
}

static void wrong_value(const struct job *j)
{
	pld_notify(j->sig, j->next, CELL, j->me == 1 ? 2 : 3, PLD_NOTIFY_ADD);
	pld_wait(j->sig, CELL, 3, PLD_WAIT_GE); /* @wrong-value */
	barrier_at_the_end(j);
}

static void overshoot(const struct job *j)
{
	pld_notify(j->sig, j->next, CELL, j->me == 1 ? 7 : 5, PLD_NOTIFY_ADD);
	pld_wait(j->sig, CELL, 5, PLD_WAIT_EQ); /* @overshoot */
	barrier_at_the_end(j);
}

static void any_of_two(const struct job *j)
{
	const struct pld_condition c[] = { { j->sig, CELL, 1, PLD_WAIT_GE },
					   { j->sig, PL_AT(3), 1, PLD_WAIT_GE } };

	if (j->me != 1 && j->n > 1)
		notify(j, j->next);
	pld_wait_any(c, 2, PLD_FOREVER); /* @any-of-two */
	barrier_at_the_end(j);
}

/* What rank 1 stores is no notify: the next rank sleeps by then. */
static void plain_store(const struct job *j)
{
	if (j->me != 1)
		notify(j, j->next);
	else
		nap(1);
	if (j->me == 1)
		((volatile int32_t *)pld_ptr(j->sig, j->next))[1] = 1;
	pld_wait(j->sig, CELL, 1, PLD_WAIT_GE); /* @plain-store */
	barrier_at_the_end(j);
}

/* Everyone waits before it notifies. */
static void cycle(const struct job *j)
{
	pld_wait(j->sig, CELL, 1, PLD_WAIT_GE); /* @cycle */
	notify(j, j->next);
}

/* ---- one rank waits for a notify, which others would send after a call of all ---------------- */

static void wait_against_barrier(const struct job *j)
{
	if (j->me == j->n - 1)
		pld_wait(j->sig, CELL, 1, PLD_WAIT_GE); /* @wait-against-barrier */
	pld_barrier(j->world);				/* @barrier-against-wait */
	notify(j, j->next);
}

static void wait_against_allocation(const struct job *j)
{
	if (j->me == 0)
		pld_wait(j->sig, CELL, 1, PLD_WAIT_GE); /* @wait-against-allocation */
	pld_alloc_window_buffer(.bytes = 4096);		/* @allocation-against-wait */
	notify(j, j->next);
}

static void wait_against_finalize(const struct job *j)
{
	if (j->me == j->n - 1)
		pld_wait(j->sig, CELL, 1, PLD_WAIT_GE); /* @wait-against-finalize */
	pld_finalize();					/* @finalize-against-wait */
	exit(0);
}

/* ---- collectives of different domains -------------------------------------------------------- */

static void pair_against_world(const struct job *j)
{
	pld_barrier(j->me == 1 ? j->pair : j->world); /* @pair-against-world */
}

static void pair_against_allreduce(const struct job *j)
{
	if (j->me == 1)
		pld_barrier(j->pair); /* @pair-against-allreduce */
	else
		pld_allreduce(j->data, .signal = j->rows); /* @allreduce-against-pair */
}

/* ---- an error that returns ------------------------------------------------------------------- */

static void kernel(const struct job *j)
{
	if (pld_put(j->data, j->me == 0 ? 99 : j->next, pld_local(j->data)) == PL_OK) /* @failed */
		notify(j, j->next);
	pld_wait(j->sig, CELL, 1, PLD_WAIT_GE); /* @after-a-failed-dispatch */
}

static void on_device(const struct job *j)
{
	PLD_INCORE(kernel(j));
}

static void dispatch_all(const struct job *j)
{
	for (int r = 0; r < j->n; r++)
		PLD_DISPATCH(r, on_device(j));
}

static void failed_dispatch(const struct job *j)
{
	pl_set_errors(PL_ERRORS_RETURN);
	PLD_HOST(dispatch_all(j)); /* @end-of-host */
}

/* ---- another thread -------------------------------------------------------------------------- */

static void *pauses(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void idle_thread(const struct job *j)
{
	pthread_t thread;

	if (j->me == 0)
		pthread_create(&thread, NULL, pauses, NULL);
	pld_wait(j->sig, CELL, 1, PLD_WAIT_GE); /* @idle-thread */
}

static void notify_all(const struct job *j)
{
	for (int r = 0; r < j->n; r++)
		notify(j, r);
}

static void *notifies_later(void *arg)
{
	nap(patience());
	notify_all(arg);
	return NULL;
}

static void notifying_thread(const struct job *j)
{
	pthread_t thread;

	if (j->me == 0)
		pthread_create(&thread, NULL, notifies_later, (void *)(uintptr_t)j);
	pld_wait(j->sig, CELL, 1, PLD_WAIT_GE);
	if (j->me == 0)
		pthread_join(thread, NULL);
}

/* ---- ways of rank 0 to keep the others waiting ----------------------------------------------- */

static void computes(const struct job *j)
{
	(void)j;
	compute(patience());
}

static void sleeps(const struct job *j)
{
	(void)j;
	nap(patience());
}

static void reads(const struct job *j)
{
	char c;

	(void)j;
	if (read(STDIN_FILENO, &c, 1) != 1)
		exit(9);
}

static void has_a_deadline(const struct job *j)
{
	const int64_t ns = (int64_t)(patience() * 1e9);

	if (pld_wait_for(j->sig, PL_AT(0), 1, PLD_WAIT_GE, ns) != PL_ETIMEDOUT)
		exit(9);
}

static void tests(const struct job *j)
{
	const double end = now() + patience();

	while (!pld_test(j->sig, PL_AT(0), 1, PLD_WAIT_GE) && now() < end)
		nap(0.001);
}

static void has_a_child(const struct job *j)
{
	int status;
	pid_t pid;

	(void)j;
	pid = fork();
	if (pid == 0) {
		nap(patience());
		_exit(7);
	}
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 7)
		exit(9);
}

/* Rank 0 notifies from the handler of a signal that comes while it waits, after a while. */
static const struct job *handled;

static void on_alarm(int sig)
{
	(void)sig;
	compute(patience());
	notify_all(handled);
}

static void in_a_handler(const struct job *j)
{
	const struct itimerval soon = { { 0, 0 }, { 0, 100000 } };

	handled = j;
	signal(SIGALRM, on_alarm);
	if (j->me == 0)
		setitimer(ITIMER_REAL, &soon, NULL);
	pld_wait(j->sig, CELL, 1, PLD_WAIT_GE);
}

/* Whenever one looks, all but one sleep, and that one changes while one looks. */
static void passes_a_token(const struct job *j)
{
	enum { LAST = 1 << 24 };
	const double end = now() + patience() / 2;
	int step = 1;

	for (int k = 1; step == 1; k++) {
		if (j->me == 0) {
			step = now() < end ? 1 : LAST;
			pld_notify(j->sig, j->next, CELL, step, PLD_NOTIFY_ADD);
		}
		pld_wait(j->sig, CELL, k, PLD_WAIT_GE);
		if (j->me != 0) {
			step = pl_read_int(j->sig, CELL) >= LAST ? LAST : 1;
			pld_notify(j->sig, j->next, CELL, step, PLD_NOTIFY_ADD);
		}
	}
}

/* ---- every state of a rank at once, for a report --------------------------------------------- */

static volatile sig_atomic_t quits;

static void on_quit(int sig)
{
	(void)sig;
	quits = 1;
}

/* Rank 0 computes, 1 sleeps, 2 waits, 3 has stopped itself, the last waits and has been stopped by
 * check-deadlock; until a SIGQUIT, of which rank 0 ends the job. */
static void all_states(const struct job *j)
{
	signal(SIGQUIT, on_quit);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (j->me == 0 && !quits)
		continue;
	if (j->me == 0)
		pld_abort(7, NULL);
	while (j->me == 1)
		nap(1);
	if (j->me == 3)
		raise(SIGSTOP);
	pld_wait(j->sig, CELL, 1, PLD_WAIT_GE); /* @all-states */
}

/* ---- main ------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	void (*run)(const struct job *j);
	/* or: what rank 0 does before it notifies all, which wait */
	void (*keep_waiting)(const struct job *j);
} scenarios[] = {
	{ "missing-notify", missing_notify, NULL },
	{ "wrong-peer", wrong_peer, NULL },
	{ "wrong-cell", wrong_cell, NULL },
	{ "wrong-value", wrong_value, NULL },
	{ "overshoot", overshoot, NULL },
	{ "any-of-two", any_of_two, NULL },
	{ "plain-store", plain_store, NULL },
	{ "cycle", cycle, NULL },
	{ "wait-against-barrier", wait_against_barrier, NULL },
	{ "wait-against-allocation", wait_against_allocation, NULL },
	{ "wait-against-finalize", wait_against_finalize, NULL },
	{ "pair-against-world", pair_against_world, NULL },
	{ "pair-against-allreduce", pair_against_allreduce, NULL },
	{ "failed-dispatch", failed_dispatch, NULL },
	{ "idle-thread", idle_thread, NULL },
	{ "notifying-thread", notifying_thread, NULL },
	{ "computes", NULL, computes },
	{ "sleeps", NULL, sleeps },
	{ "reads", NULL, reads },
	{ "has-a-deadline", NULL, has_a_deadline },
	{ "tests", NULL, tests },
	{ "has-a-child", NULL, has_a_child },
	{ "in-a-handler", in_a_handler, NULL },
	{ "passes-a-token", passes_a_token, NULL },
	{ "all-states", all_states, NULL },
};

/* What a rank does instead of pld_init, or before it. */
static void before_init(const char *scenario)
{
	const char *rank = getenv("PLD_RANK");

	if (strcmp(scenario, "leaves-early") == 0 && rank && atoi(rank) == 1)
		exit(0);
	if (strcmp(scenario, "begins-late") == 0 && rank && atoi(rank) == 0)
		nap(patience());
}

static void run(const struct job *j, void (*body)(const struct job *j),
		void (*keep_waiting)(const struct job *j))
{
	if (body) {
		body(j);
		return;
	}
	if (j->me == 0) {
		keep_waiting(j);
		notify_all(j);
	}
	pld_wait(j->sig, CELL, 1, PLD_WAIT_GE); /* @kept-waiting */
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	struct job j = { .me = 0 };

	before_init(name);
	pld_init(NULL);
	j.world = pld_world();
	j.me = pld_rank(j.world);
	j.n = pld_nranks(j.world);
	j.next = (j.me + 1) % j.n;
	j.sig = pld_new_window(PL_SHAPE(4), PL_INT32, .name = "sig"); /* @leaves-early */
	j.data = pld_new_window(PL_SHAPE(j.n), PL_FP32);
	j.rows = pld_new_window(PL_SHAPE(j.n), PL_INT32);
	if (j.n > 1)
		j.pair = pld_domain_subset(j.world, (int[]){ 0, 1 }, 2);
	pld_barrier(j.world); /* @begin */
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (strcmp(scenarios[i].name, name) == 0)
			run(&j, scenarios[i].run, scenarios[i].keep_waiting);
	pld_finalize();
	return 0;
}
