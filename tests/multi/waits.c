/* waits.c - wait, wait_for, wait_any, test: answers, time limits, and no CPU while asleep. */
#include "config.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "multi.h"

#define CELL PL_AT(0)
#define MS INT64_C(1000000)
#define LATE (30000 * MS) /* a machine with too much to do */

static pld_tensor one_cell(void)
{
	return pld_new_window(PL_SHAPE(1), PL_INT32);
}

/* ---- without blocking ------------------------------------------------------------------------ */

static const struct {
	const char *name;
	int32_t value, expected;
	pld_wait_cmp cmp;
	int holds;
} conditions[] = {
	{ "0 == 0", 0, 0, PLD_WAIT_EQ, 1 },
	{ "0 == 1", 0, 1, PLD_WAIT_EQ, 0 },
	{ "2 == 1", 2, 1, PLD_WAIT_EQ, 0 },
	{ "0 >= 1", 0, 1, PLD_WAIT_GE, 0 },
	{ "1 >= 1", 1, 1, PLD_WAIT_GE, 1 },
	{ "2 >= 1", 2, 1, PLD_WAIT_GE, 1 },
	{ "-1 >= 0", -1, 0, PLD_WAIT_GE, 0 },
	{ "0 >= -1", 0, -1, PLD_WAIT_GE, 1 },
	{ "-5 == -5", -5, -5, PLD_WAIT_EQ, 1 },
	{ "least >= least", INT32_MIN, INT32_MIN, PLD_WAIT_GE, 1 },
	{ "least >= most", INT32_MIN, INT32_MAX, PLD_WAIT_GE, 0 },
	{ "most >= least", INT32_MAX, INT32_MIN, PLD_WAIT_GE, 1 },
};

static void count_errors(const struct pl_error *e, void *arg)
{
	(void)e;
	++*(int *)arg;
}

/* Every call on the same cell; those that could block only where they cannot.  A time-out is an
 * answer: with the default of errors, which ends the job, it comes back, and no handler hears. */
static void answers(const struct multi *m)
{
	pld_tensor s = one_cell();
	int errors = 0;

	pl_set_error_handler(count_errors, &errors);
	for (int i = 0; i < ROWS(conditions); i++) {
		const char *name = conditions[i].name;
		int32_t expected = conditions[i].expected;
		pld_wait_cmp cmp = conditions[i].cmp;
		int holds = conditions[i].holds;
		struct pld_condition c = { s, CELL, expected, cmp };

		pl_write(s, CELL, conditions[i].value);
		expect_int(m, name, 0, pld_test(s, CELL, expected, cmp), holds);
		expect_status(m, name, pld_wait_for(s, CELL, expected, cmp, 0),
			      holds ? PL_OK : PL_ETIMEDOUT);
		expect_int(m, name, 1, pld_wait_any(&c, 1, 0), holds ? 0 : PL_ETIMEDOUT);
		if (holds) {
			expect_status(m, name, pld_wait(s, CELL, expected, cmp), PL_OK);
			expect_status(m, name, pld_wait_for(s, CELL, expected, cmp, PLD_FOREVER),
				      PL_OK);
			expect_status(m, name, pld_wait_for(s, CELL, expected, cmp, INT64_MAX - 1),
				      PL_OK);
			expect_int(m, name, 2, pld_wait_any(&c, 1, PLD_FOREVER), 0);
		}
		expect_int(m, name, 3, pl_read_int(s, CELL), conditions[i].value);
	}
	pl_set_error_handler(NULL, NULL);
	expect_int(m, "errors born", 0, errors, 0);
	pld_free_window(s);
}

/* ---- time limits ----------------------------------------------------------------------------- */

static void expire(const struct multi *m)
{
	static const int64_t limits[] = { 1, 1000, 200000, 5 * MS, 60 * MS };
	pld_tensor s = one_cell();
	struct pld_condition c[2] = { { s, CELL, 1, PLD_WAIT_GE }, { s, CELL, 7, PLD_WAIT_EQ } };

	for (int i = 0; i < ROWS(limits); i++) {
		int64_t begin = multi_now_ns(), took;

		expect_status(m, "wait_for", pld_wait_for(s, CELL, 1, PLD_WAIT_GE, limits[i]),
			      PL_ETIMEDOUT);
		took = multi_now_ns() - begin;
		expect_true(m, "not too early", took >= limits[i]);
		expect_true(m, "not much too late", took < limits[i] + LATE);
		begin = multi_now_ns();
		expect_status(m, "wait_any", pld_wait_any(c, 2, limits[i]), PL_ETIMEDOUT);
		took = multi_now_ns() - begin;
		expect_true(m, "not too early", took >= limits[i]);
		expect_true(m, "not much too late", took < limits[i] + LATE);
	}
	expect_int(m, "cell", 0, pl_read_int(s, CELL), 0);
	pld_barrier(pld_world()); /* all have expired */
	pld_free_window(s);
}

/* Limits that are not reached, the longest there are too: a token goes round, everyone waits. */
static void not_reached(const struct multi *m)
{
	static const int64_t limits[] = { 20000 * MS, INT64_MAX / 2, INT64_MAX - 1, PLD_FOREVER };
	pld_tensor s = one_cell();
	struct pld_condition c = { s, CELL, 1, PLD_WAIT_GE };

	for (int i = 0; i < 2 * ROWS(limits); i++) {
		int64_t limit = limits[i / 2], begin = multi_now_ns();

		while (m->me == 0 && m->n > 1 && multi_now_ns() - begin < MS)
			continue; /* most of the others wait by now */
		if (m->me == 0)
			pld_notify(s, multi_next(m), CELL, 1, PLD_NOTIFY_SET);
		if (i % 2)
			expect_int(m, "wait_any", i, pld_wait_any(&c, 1, limit), 0);
		else
			expect_status(m, "wait_for", pld_wait_for(s, CELL, 1, PLD_WAIT_GE, limit),
				      PL_OK);
		if (m->me != 0)
			pld_notify(s, multi_next(m), CELL, 1, PLD_NOTIFY_SET);
		pld_barrier(pld_world());
		pl_write(s, CELL, 0);
		pld_barrier(pld_world());
	}
	pld_free_window(s);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* Signals of the system end a sleep, not the wait. */
static void interrupted(const struct multi *m)
{
	struct sigaction alarm = { .sa_handler = on_alarm }, before;
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	pld_tensor s = one_cell(), never_set = one_cell();
	int64_t begin;

	sigaction(SIGALRM, &alarm, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	begin = multi_now_ns();
	expect_status(m, "wait_for", pld_wait_for(never_set, CELL, 1, PLD_WAIT_GE, 50 * MS),
		      PL_ETIMEDOUT);
	expect_true(m, "not too early", multi_now_ns() - begin >= 50 * MS);
	pld_notify(s, multi_next(m), CELL, 1, PLD_NOTIFY_ADD);
	expect_status(m, "wait", pld_wait(s, CELL, 1, PLD_WAIT_GE), PL_OK);
	expect_true(m, "cell", pl_read_int(s, CELL) >= 1);
	for (int k = 0; k < 20; k++)
		pld_barrier(pld_world());
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	pld_free_window(never_set);
	pld_free_window(s);
}

/* ---- wait_any -------------------------------------------------------------------------------- */

enum { MANY = 100 };

/* Of cells in one window; which hold is the row, the answer is the lowest. */
static void lowest(const struct multi *m)
{
	static const struct {
		int n, set[3]; /* -1: none */
	} rows[] = {
		{ 1, { 0, -1, -1 } },	{ 2, { 1, 0, -1 } },	  { 3, { 2, 1, -1 } },
		{ 16, { 15, -1, -1 } }, { 17, { 16, 3, 9 } },	  { 17, { 16, -1, -1 } },
		{ 40, { 39, 17, 38 } }, { MANY, { 99, 98, 97 } },
	};
	pld_tensor s = pld_new_window(PL_SHAPE(MANY), PL_INT32);
	struct pld_condition c[MANY];

	for (int i = 0; i < ROWS(rows); i++) {
		pl_dims at[MANY];
		int wanted = MANY;

		for (int k = 0; k < MANY; k++) {
			at[k] = *PL_AT(k);
			c[k] = (struct pld_condition){ s, &at[k], 1, PLD_WAIT_GE };
			pl_write(s, &at[k], 0);
		}
		pld_barrier(pld_world());
		expect_status(m, "none holds", pld_wait_any(c, rows[i].n, 0), PL_ETIMEDOUT);
		for (int k = 0; k < 3 && rows[i].set[k] >= 0; k++) {
			pld_notify(s, m->me, PL_AT(rows[i].set[k]), 1, PLD_NOTIFY_ADD);
			wanted = rows[i].set[k] < wanted ? rows[i].set[k] : wanted;
		}
		expect_int(m, "index of row", i, pld_wait_any(c, rows[i].n, PLD_FOREVER), wanted);
	}
	pld_free_window(s);
}

/* A peer says which one comes next; the waiter must find it among many, asleep or not. */
static void one_after_another(const struct multi *m)
{
	pld_tensor s = pld_new_window(PL_SHAPE(MANY), PL_INT32);
	pld_tensor taken = one_cell();
	struct pld_condition c[MANY];
	pl_dims at[MANY];
	uint64_t mine = multi_seed(7, (uint64_t)m->me, 0);
	uint64_t theirs = multi_seed(7, (uint64_t)multi_prev(m), 0), random = mine;

	for (int k = 0; k < MANY; k++) {
		at[k] = *PL_AT(k);
		c[k] = (struct pld_condition){ s, &at[k], 1, PLD_WAIT_EQ };
	}
	for (int k = 1; k <= 300; k++) {
		int wanted = (int)multi_pick(&theirs, MANY);

		multi_delay(&random);
		pld_notify(s, multi_next(m), PL_AT(multi_pick(&mine, MANY)), 1, PLD_NOTIFY_SET);
		expect_int(m, "index", k, pld_wait_any(c, MANY, PLD_FOREVER), wanted);
		pld_notify(s, m->me, PL_AT(wanted), 0, PLD_NOTIFY_SET);
		pld_notify(taken, multi_prev(m), CELL, 1, PLD_NOTIFY_ADD);
		pld_wait(taken, CELL, k, PLD_WAIT_GE);
	}
	pld_free_window(s);
	pld_free_window(taken);
}

/* A cell in the world, one among the even or odd ranks, one in a domain of one rank. */
static void several_domains(const struct multi *m)
{
	pld_ctx half = pld_domain_split(pld_world(), m->me % 2, m->me);
	pld_ctx alone = pld_domain_subset(pld_world(), (int[]){ m->me }, 1);
	pld_tensor s[3] = { one_cell(), pld_new_window(PL_SHAPE(1), PL_INT32, .domain = half),
			    pld_new_window(PL_SHAPE(1), PL_INT32, .domain = alone) };
	struct pld_condition c[3] = { { s[0], CELL, 1, PLD_WAIT_GE },
				      { s[1], CELL, 1, PLD_WAIT_GE },
				      { s[2], CELL, 1, PLD_WAIT_GE } };
	int peer[3] = { multi_next(m), (pld_rank(half) + 1) % pld_nranks(half), 0 };

	for (int k = 0; k < 60; k++) {
		int i = k % 3;

		pld_barrier(pld_world());
		pld_notify(s[i], peer[i], CELL, 1, PLD_NOTIFY_ADD);
		expect_int(m, "index", k, pld_wait_any(c, 3, PLD_FOREVER), i);
		pld_notify(s[i], pld_rank(pld_get_comm_ctx(s[i])), CELL, -1, PLD_NOTIFY_ADD);
		pld_barrier(pld_world());
	}
	for (int i = 2; i >= 0; i--)
		pld_free_window(s[i]);
	pld_domain_free(alone);
	pld_domain_free(half);
}

/* ---- no CPU while asleep --------------------------------------------------------------------- */

static int64_t cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * INT64_C(1000000000) +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

/* The last rank, after a time-out of 1 s of its own, ends the waits of the others: for a cell, for
 * any of two, in a barrier on cells. */
static void late_to_cells(const struct multi *m)
{
	pld_tensor s = pld_new_window(PL_SHAPE(m->n), PL_INT32);
	pld_tensor t = pld_new_window(PL_SHAPE(2), PL_INT32);
	struct pld_condition c[2] = { { t, PL_AT(1), 5, PLD_WAIT_EQ },
				      { t, CELL, 1, PLD_WAIT_EQ } };

	if (m->me == m->n - 1) {
		expect_status(m, "wait_for", pld_wait_for(t, CELL, 1, PLD_WAIT_GE, 1000 * MS),
			      PL_ETIMEDOUT);
		for (int r = 0; r < m->n; r++)
			pld_notify(t, r, CELL, 1, PLD_NOTIFY_SET);
	} else if (m->me % 3 == 0) {
		pld_wait(t, CELL, 1, PLD_WAIT_GE);
	} else if (m->me % 3 == 1) {
		expect_int(m, "index", 0, pld_wait_any(c, 2, PLD_FOREVER), 1);
	}
	pld_barrier(s);
	pld_free_window(t);
	pld_free_window(s);
}

static void late_to_barrier(const struct multi *m)
{
	pld_tensor t = one_cell();

	if (m->me == m->n - 1)
		pld_wait_for(t, CELL, 1, PLD_WAIT_GE, 1000 * MS);
	pld_barrier(pld_world());
	pld_free_window(t);
}

/* The CPU that the rank which used most of it did, in one wait. */
static int64_t most_cpu(const struct multi *m, void (*late)(const struct multi *m))
{
	pld_tensor used = pld_new_window(PL_SHAPE(1), PL_INT64);
	int64_t before = cpu_ns(), most = 0;

	late(m);
	pl_write(used, CELL, cpu_ns() - before);
	pld_barrier(pld_world());
	for (int r = 0; r < m->n; r++) {
		int64_t cpu = pl_read_int(pld_all(used), PL_AT(r, 0));

		most = cpu > most ? cpu : most;
	}
	pld_free_window(used);
	return most;
}

/* Tried again, since a virtual machine's host may take the CPU away and have it counted as used. */
static void long_waits(const struct multi *m)
{
	void (*const late[])(const struct multi *m) = { late_to_cells, late_to_barrier };

	for (int i = 0; i < ROWS(late); i++) {
		int64_t most = most_cpu(m, late[i]);

		for (int again = 0; most >= 20 * MS && again < 2; again++)
			most = most_cpu(m, late[i]);
		if (most >= 20 * MS)
			multi_fail(m,
				   "%s: a rank used %lld us of CPU in a wait of 1 s, wanted under "
				   "20000",
				   i ? "barrier" : "cells", (long long)(most / 1000));
	}
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "answers", answers, 0 },
		{ "expire", expire, 0 },
		{ "not reached", not_reached, 0 },
		{ "interrupted", interrupted, 0 },
		{ "any: the lowest", lowest, 0 },
		{ "any: one after another", one_after_another, 0 },
		{ "any: several domains", several_domains, 0 },
		{ "long waits", long_waits, 0 },
	};

	return multi_run("waits", cases, ROWS(cases));
}
