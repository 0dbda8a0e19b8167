/* e_signal.c - wrong arguments of notify, waits and barriers; time-outs, which are no errors. */
#include "config.h"

#include "errors.h"

#define MOST_CONDITIONS 40

struct stage {
	pld_tensor sig, f; /* (2, 8) of INT32, of FP32 */
	int n;
};

static void notify(const struct stage *s)
{
	char text[80];

	for (int i = 0; i < 2; i++) {
		int peer = i ? s->n : -1;

		snprintf(text, sizeof(text), "peer %d; the window's domain has ranks 0 to %d", peer,
			 s->n - 1);
		FAILS(pld_notify(s->sig, peer, PL_AT(0, 0), 1, PLD_NOTIFY_ADD), PL_EINVAL,
		      "pld_notify", text);
	}
	FAILS(pld_notify(s->f, 0, PL_AT(0, 0), 1, PLD_NOTIFY_ADD), PL_EINVAL, "pld_notify",
	      "the signal is a window of FP32; a signal has INT32");
	FAILS(pld_notify(s->sig, 0, PL_AT(2, 0), 1, PLD_NOTIFY_ADD), PL_EINVAL, "pld_notify",
	      "cell: index (2, 0) outside shape (2, 8)");
	FAILS(pld_notify(s->sig, 0, PL_AT(0), 1, PLD_NOTIFY_ADD), PL_EINVAL, "pld_notify",
	      "cell: index (0) has 1 dimension, shape (2, 8) has 2");
	FAILS(pld_notify(s->sig, 0, NULL, 1, PLD_NOTIFY_ADD), PL_EINVAL, "pld_notify",
	      "cell: no index given");
	FAILS(pld_notify(s->sig, 0, PL_AT(0, 0), 1, (pld_notify_op)2), PL_EINVAL, "pld_notify",
	      "op is 2; allowed: PLD_NOTIFY_ADD (0), PLD_NOTIFY_SET (1)");
	FAILS(pld_notify(s->sig, 0, PL_AT(0, 0), 1, (pld_notify_op)-1), PL_EINVAL, "pld_notify",
	      "op is -1; allowed: PLD_NOTIFY_ADD (0), PLD_NOTIFY_SET (1)");
}

#define SWAPPED                                                                                    \
	"cmp is 3; allowed: PLD_WAIT_EQ (0), PLD_WAIT_GE (1); the order is "                       \
	"(signal, at, expected, cmp)"

static void waits(const struct stage *s)
{
	FAILS(pld_wait(s->f, PL_AT(0, 0), 1, PLD_WAIT_GE), PL_EINVAL, "pld_wait",
	      "the signal is a window of FP32; a signal has INT32");
	FAILS(pld_wait(s->sig, PL_AT(0, 8), 1, PLD_WAIT_GE), PL_EINVAL, "pld_wait",
	      "cell: index (0, 8) outside shape (2, 8)");
	FAILS(pld_wait(s->sig, PL_AT(0, 0), PLD_WAIT_GE, (pld_wait_cmp)3), PL_EINVAL, "pld_wait",
	      SWAPPED);
	FAILS(pld_wait_for(s->sig, PL_AT(0, 0), PLD_WAIT_GE, (pld_wait_cmp)3, 0), PL_EINVAL,
	      "pld_wait_for", SWAPPED);
	FAILS(pld_wait_for(s->sig, PL_AT(0), 1, PLD_WAIT_GE, 0), PL_EINVAL, "pld_wait_for",
	      "cell: index (0) has 1 dimension, shape (2, 8) has 2");
	FAILS(pld_wait_for(s->f, PL_AT(0, 0), 1, PLD_WAIT_GE, 0), PL_EINVAL, "pld_wait_for",
	      "the signal is a window of FP32; a signal has INT32");
	FAILS(pld_wait_for(s->sig, PL_AT(0, 0), 1, PLD_WAIT_GE, -1), PL_EINVAL, "pld_wait_for",
	      "timeout of -1 ns; allowed: 0 and more");
	FAILS(pld_wait_for(s->sig, PL_AT(0, 0), 0, PLD_WAIT_GE, INT64_MIN), PL_EINVAL,
	      "pld_wait_for", "timeout of -9223372036854775808 ns; allowed: 0 and more");
	FAILS(pld_test(s->sig, PL_AT(0, 0), PLD_WAIT_GE, (pld_wait_cmp)3), PL_EINVAL, "pld_test",
	      SWAPPED);
	FAILS(pld_test(s->sig, PL_AT(-1, 0), 1, PLD_WAIT_GE), PL_EINVAL, "pld_test",
	      "cell: index (-1, 0) outside shape (2, 8)");
	FAILS(pld_test(s->f, PL_AT(0, 0), 1, PLD_WAIT_GE), PL_EINVAL, "pld_test",
	      "the signal is a window of FP32; a signal has INT32");
}

static void several(const struct stage *s)
{
	const pl_dims *first = PL_AT(0, 0), *outside = PL_AT(2, 0);
	struct pld_condition c[MOST_CONDITIONS];

	for (int i = 0; i < MOST_CONDITIONS; i++)
		c[i] = (struct pld_condition){ s->sig, first, 1, PLD_WAIT_GE };
	FAILS(pld_wait_any(c, 0, 0), PL_EINVAL, "pld_wait_any", "0 conditions; at least 1");
	FAILS(pld_wait_any(c, -3, 0), PL_EINVAL, "pld_wait_any", "-3 conditions; at least 1");
	FAILS(pld_wait_any(NULL, 1, 0), PL_EINVAL, "pld_wait_any", "1 conditions; at least 1");
	FAILS(pld_wait_any(c, 2, -2), PL_EINVAL, "pld_wait_any",
	      "timeout of -2 ns; allowed: 0 and more");
	/* the last of many: kept on the stack, and not */
	for (int n = 2; n <= MOST_CONDITIONS; n += MOST_CONDITIONS - 2) {
		c[n - 1].cmp = (pld_wait_cmp)3;
		FAILS(pld_wait_any(c, n, 0), PL_EINVAL, "pld_wait_any", SWAPPED);
		c[n - 1].cmp = PLD_WAIT_GE;
		c[n - 1].at = outside;
		FAILS(pld_wait_any(c, n, 0), PL_EINVAL, "pld_wait_any",
		      "cell: index (2, 0) outside shape (2, 8)");
		c[n - 1].at = first;
		c[n - 1].signal = s->f;
		FAILS(pld_wait_any(c, n, 0), PL_EINVAL, "pld_wait_any",
		      "the signal is a window of FP32; a signal has INT32");
		c[n - 1].signal = s->sig;
		PASSES_ON(pld_wait_any(c, n, 0), PL_ETIMEDOUT);
	}
}

/* A time-out is an answer: returned, no error born, no handler called, the last error untouched. */
static void timeouts(const struct stage *s)
{
	struct pld_condition c = { s->sig, PL_AT(0, 0), 1, PLD_WAIT_GE };
	const struct pl_error *e = pl_last_error();
	const char *text = e->text;
	pl_status status = e->status;

	PASSES_ON(pld_wait_for(s->sig, PL_AT(0, 0), 1, PLD_WAIT_GE, 0), PL_ETIMEDOUT);
	PASSES_ON(pld_wait_for(s->sig, PL_AT(0, 0), 1, PLD_WAIT_EQ, 1000000), PL_ETIMEDOUT);
	PASSES_ON(pld_wait_any(&c, 1, 1000000), PL_ETIMEDOUT);
	WORKS(pld_test(s->sig, PL_AT(0, 0), 1, PLD_WAIT_EQ));
	HOLDS(pl_last_error()->text == text && pl_last_error()->status == status);
	HOLDS(pl_read_int(s->sig, PL_AT(0, 0)) == 0);
	pl_set_errors(PL_ERRORS_END); /* nor the end of the job */
	PASSES_ON(pld_wait_for(s->sig, PL_AT(0, 0), 1, PLD_WAIT_GE, 0), PL_ETIMEDOUT);
	PASSES_ON(pld_wait_any(&c, 1, 0), PL_ETIMEDOUT);
	pl_set_errors(PL_ERRORS_RETURN);
	WORKS(pld_wait_for(s->sig, PL_AT(0, 0), 0, PLD_WAIT_EQ, 0));
	WORKS(pld_wait_for(s->sig, PL_AT(0, 0), 0, PLD_WAIT_EQ, INT64_MAX - 1));
}

/* With one rank nobody could notify; a sanitizer may have a thread of its own. */
static void alone(const struct stage *s)
{
	struct pld_condition c = { s->sig, PL_AT(1, 1), 3, PLD_WAIT_EQ };

	if (s->n > 1 || SANITIZED)
		return;
	FAILS(pld_wait(s->sig, PL_AT(0, 2), 1, PLD_WAIT_GE), PL_EDEADLOCK, "pld_wait",
	      "nobody can notify: the job has one rank, which has one thread and waits for cell "
	      "[2] of window 1 'cells' to be >= 1; it is 0");
	FAILS(pld_wait_for(s->sig, PL_AT(1, 1), 3, PLD_WAIT_EQ, PLD_FOREVER), PL_EDEADLOCK,
	      "pld_wait_for",
	      "nobody can notify: the job has one rank, which has one thread and waits for cell "
	      "[9] of window 1 'cells' to be == 3; it is 0");
	FAILS(pld_wait_any(&c, 1, PLD_FOREVER), PL_EDEADLOCK, "pld_wait_any",
	      "nobody can notify: the job has one rank, which has one thread and waits for cell "
	      "[9] of window 1 'cells' to be == 3; it is 0");
}

static void barriers(const struct stage *s)
{
	pld_ctx nobody = { NULL };
	pld_tensor few = pl_slice(s->sig, PL_AT(0, 0), PL_SHAPE(1, s->n - 1));
	pld_tensor gaps = pl_slice(s->sig, PL_AT(0, 0), PL_SHAPE(s->n - 1, 2));
	char text[200];

	FAILS(pld_barrier(s->f), PL_EINVAL, "pld_barrier",
	      "the signal is a window of FP32; a signal has INT32");
	FAILS(pld_barrier(nobody), PL_EINVAL, "pld_barrier", "the context is null");
	snprintf(text, sizeof(text),
		 "a signal of shape (1, %d) for %d members; it needs %d cells: [%d], [%d, 1], or "
		 "a packed window of as many elements",
		 s->n - 1, s->n, s->n, s->n, s->n);
	FAILS(pld_barrier(few), PL_EINVAL, "pld_barrier", text);
	if (s->n == 3) { /* cells enough, but neither a row each nor packed */
		FAILS(pld_barrier(gaps), PL_EINVAL, "pld_barrier",
		      "a signal of shape (2, 2) for 3 members; it needs 3 cells: [3], [3, 1], or "
		      "a packed window of as many elements");
	}
}

static void rows(int me, int n)
{
	struct stage s = { .n = n,
			   .sig = pld_new_window(PL_SHAPE(2, 8), PL_INT32, .name = "cells"),
			   .f = pld_new_window(PL_SHAPE(2, 8), PL_FP32) };

	(void)me;
	notify(&s);
	waits(&s);
	several(&s);
	timeouts(&s);
	alone(&s);
	barriers(&s);
	for (int i = 0; i < 16; i++)
		HOLDS(pl_read_int(s.sig, PL_AT(i / 8, i % 8)) == 0);
	WORKS(pld_barrier(pld_world())); /* all have looked */
	if (n <= 16)
		WORKS(pld_barrier(s.sig));
}

int main(void)
{
	return errors_main(rows);
}
