/*
 * calm.c - healthy programs that look like deadlocks: all wait for one rank, which is slow.
 *
 *	calm SECONDS LONGEST
 *
 * Each round some rank is busy for up to LONGEST milliseconds, outside pld or half outside, while
 * the others sleep in some call that needs it.  For storm-calm, which gives rank 0 its input.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "storm.h"

static pld_tensor cells; /* 0: for meetings; 1: for the rank's own thread */

static void nap_ns(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	while (nanosleep(&t, &t))
		continue;
}

/* ---- what keeps a rank ----------------------------------------------------------------------- */

static void compute(int64_t ns)
{
	const int64_t until_ns = multi_now_ns() + ns;

	while (multi_now_ns() < until_ns)
		for (volatile int i = 0; i < 10000; i++)
			continue;
}

/* Rank 0's input comes when it comes; the others have none. */
static void read_input(int64_t ns)
{
	char byte;

	(void)ns;
	if (read(STDIN_FILENO, &byte, 1) < 0)
		exit(95);
}

/* As a debugger would, or ^Z. */
static void be_stopped(int64_t ns)
{
	const pid_t self = getpid();

	if (fork() == 0) {
		kill(self, SIGSTOP);
		nap_ns(ns);
		kill(self, SIGCONT);
		_exit(0);
	}
	nap_ns(1000000);
}

static void *notify_late(void *arg)
{
	nap_ns(*(int64_t *)arg);
	pld_notify(cells, pld_rank(pld_world()), PL_AT(1), 1, PLD_NOTIFY_SET);
	return NULL;
}

/* All ranks sleep in pld, and yet one of them will go on. */
static void wait_for_thread(int64_t ns)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, notify_late, &ns))
		exit(94);
	pld_wait(cells, PL_AT(1), 1, PLD_WAIT_EQ);
	pthread_join(thread, NULL);
	pld_notify(cells, pld_rank(pld_world()), PL_AT(1), 0, PLD_NOTIFY_SET);
}

static void wait_with_limit(int64_t ns)
{
	const int rc = pld_wait_for(cells, PL_AT(1), 7, PLD_WAIT_EQ, ns);

	if (rc != PL_ETIMEDOUT)
		exit(93);
}

static void look_again(int64_t ns)
{
	const int64_t until_ns = multi_now_ns() + ns;

	while (multi_now_ns() < until_ns && !pld_test(cells, PL_AT(1), 7, PLD_WAIT_EQ))
		nap_ns(100000);
}

static void (*const keeps[])(int64_t ns) = { compute,	 nap_ns,	  read_input,
					     be_stopped, wait_for_thread, wait_with_limit,
					     look_again };

/* ---- what the others wait in ----------------------------------------------------------------- */

static void meet(const struct storm *s, int slow, int kind)
{
	pld_ctx part;

	switch (kind) {
	case 0:
		pld_barrier(pld_world());
		break;
	case 1:
		for (int r = 0; s->m.me == slow && r < s->m.n; r++)
			pld_notify(cells, r, PL_AT(0), 1, PLD_NOTIFY_ADD);
		pld_wait(cells, PL_AT(0), 1, PLD_WAIT_GE);
		pld_notify(cells, s->m.me, PL_AT(0), -1, PLD_NOTIFY_ADD);
		break;
	case 2:
		pld_free_window(pld_new_window(PL_SHAPE(5000), PL_INT32));
		break;
	case 3:
		part = pld_domain_split(pld_world(), 0, s->m.n - s->m.me);
		pld_domain_free(part);
		break;
	default:
		pld_broadcast(s->one, .root = slow);
		break;
	}
}

int main(int argc, char **argv)
{
	struct storm s = storm_begin("calm", argc, argv);
	const int64_t longest_ns = (argc > 2 ? atoi(argv[2]) : 100) * INT64_C(1000000);

	cells = pld_new_window(PL_SHAPE(2), PL_INT32);
	while (storm_more(&s)) {
		uint64_t random = multi_seed(s.seed, 3, (uint64_t)s.rounds);
		const int slow = (int)multi_pick(&random, s.m.n);
		const int kind = (int)multi_pick(&random, 5);
		const int64_t ns = longest_ns / 2 + multi_pick(&random, longest_ns / 2 + 1);

		if (s.m.me == slow)
			keeps[multi_pick(&random, ROWS(keeps))](ns);
		meet(&s, slow, kind);
	}
	pld_free_window(cells);
	return storm_end(&s);
}
