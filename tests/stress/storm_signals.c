/*
 * storm_signals.c - a signal a millisecond to every rank, with a handler that restarts system calls
 * and with one that does not: nothing is lost, ends early or comes out wrong.
 */
#include "config.h"

#include <signal.h>
#include <stdbool.h>

#include "storm.h"

enum {
	PERIOD_NS = 1000000,
	NAP_NS = 5000000,
	TURNS = 50,	 /* a round */
	ELEMS = 1 << 22, /* 16 MiB take some ms to commit, which some kernels interrupt */
};

static volatile sig_atomic_t caught;

static void on_signal(int sig)
{
	(void)sig;
	caught++;
}

/* Whether rank's handler restarts calls is drawn from its number. */
static timer_t signals_begin(int rank)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = rank % 2 ? SA_RESTART : 0 };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	const struct itimerspec every = { { 0, PERIOD_NS }, { 0, PERIOD_NS } };
	timer_t timer;

	sigaction(SIGUSR1, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &every, NULL)) {
		perror("timer_create");
		exit(1);
	}
	return timer;
}

static void token(const struct storm *s, pld_tensor signal, int32_t turn)
{
	const int next = multi_next(&s->m);

	if (s->m.me != 0)
		pld_wait(signal, PL_AT(0), turn, PLD_WAIT_GE);
	pld_notify(signal, next, PL_AT(0), 1, PLD_NOTIFY_ADD);
	if (s->m.me == 0)
		pld_wait(signal, PL_AT(0), turn, PLD_WAIT_GE);
	expect_int(&s->m, "token", turn, *(int32_t *)pl_data(pld_local(signal)), turn);
}

static void sum(const struct storm *s, pld_tensor data, int64_t turn)
{
	int32_t *own = pl_data(pld_local(data));

	for (int i = 0; i < 1000; i++)
		own[i] = (int32_t)(turn + i * s->m.me);
	pld_allreduce(data);
	for (int i = 0; i < 1000; i++)
		expect_int(&s->m, "sum", i, own[i],
			   s->m.n * turn + i * (int64_t)s->m.n * (s->m.n - 1) / 2);
}

/* A time-out is not over before its time. */
static void nap(const struct storm *s, pld_tensor signal)
{
	const int64_t begin_ns = multi_now_ns();
	const int rc = pld_wait_for(signal, PL_AT(0), INT32_MAX, PLD_WAIT_EQ, NAP_NS);
	const int64_t took_ns = multi_now_ns() - begin_ns;

	expect_status(&s->m, "time-out", rc, PL_ETIMEDOUT);
	if (took_ns < NAP_NS)
		multi_fail(&s->m, "a time-out of %d ns after %lld", NAP_NS, (long long)took_ns);
}

static void round_of(const struct storm *s)
{
	pld_tensor signal = pld_new_window(PL_SHAPE(1), PL_INT32);
	pld_tensor data = pld_new_window(PL_SHAPE(1000), PL_INT32);

	for (int32_t turn = 1; turn <= TURNS; turn++) {
		token(s, signal, turn);
		sum(s, data, turn);
		pld_barrier(pld_world());
		if (turn % (TURNS / 2) == 0) {
			pld_tensor large = pld_new_window(PL_SHAPE(ELEMS), PL_INT32);

			expect_int(&s->m, "new window", 0, *(int32_t *)pld_ptr(large, 0), 0);
			pld_free_window(large);
		}
		if (turn == TURNS / 2)
			nap(s, signal);
	}
	pld_free_window(data);
	pld_free_window(signal);
}

int main(int argc, char **argv)
{
	struct storm s;
	timer_t timer;
	int got;

	/* every wait sleeps: only there a signal ends a system call */
	setenv("PLD_SPIN_US", "0", 1);
	setenv("PLD_YIELDS", "0", 1);
	s = storm_begin("storm_signals", argc, argv);
	timer = signals_begin(s.m.me);
	while (storm_more(&s))
		round_of(&s);
	got = caught;
	timer_delete(timer);
	if (got == 0)
		multi_fail(&s.m, "no signal has come");
	if (s.m.me == 0)
		printf("storm_signals: %d signals to rank 0\n", got);
	return storm_end(&s);
}
