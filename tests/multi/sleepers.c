/* sleepers.c - every wait goes to sleep at once: no notify, of any kind, is slept through. */
#include "config.h"

#include "multi.h"

#define CELL PL_AT(0)
#define LOST (INT64_C(10000000000)) /* ns: where a wake-up takes some 10 us */

static pld_tensor one_cell(void)
{
	return pld_new_window(PL_SHAPE(1), PL_INT32);
}

static void must(const struct multi *m, int64_t k, int rc)
{
	if (rc < 0)
		multi_fail(m, "hand-over %lld: %s: slept through a notify", (long long)k,
			   pl_status_name((pl_status)rc));
}

/* A token goes round, by turns of the two operations. */
static void token(const struct multi *m)
{
	pld_tensor s = one_cell();

	for (int k = 1; k <= 400; k++) {
		if (m->me == 0)
			pld_notify(s, multi_next(m), CELL, k % 2 ? 1 : k,
				   k % 2 ? PLD_NOTIFY_ADD : PLD_NOTIFY_SET);
		must(m, k, pld_wait_for(s, CELL, k, PLD_WAIT_GE, LOST));
		if (m->me != 0)
			pld_notify(s, multi_next(m), CELL, k % 2 ? 1 : k,
				   k % 2 ? PLD_NOTIFY_ADD : PLD_NOTIFY_SET);
	}
	pld_free_window(s);
}

/* Pairs, the delay before a notify sweeping over the way to sleep of the other: they do meet. */
static void pairs(const struct multi *m)
{
	pld_tensor s = one_cell();
	uint64_t random = multi_seed(3, (uint64_t)m->me, 0);
	int peer = m->me ^ 1;

	for (int k = 1; peer < m->n && k <= 3000; k++) {
		for (volatile unsigned i = multi_random(&random) % 1024; i > 0; i--)
			continue;
		pld_notify(s, peer, CELL, 1, PLD_NOTIFY_ADD);
		must(m, k, pld_wait_for(s, CELL, k, PLD_WAIT_GE, LOST));
	}
	pld_barrier(pld_world());
	pld_free_window(s);
}

/* Everyone throws at random cells of random peers; who is hit counts, asleep between hits. */
static void storm(const struct multi *m)
{
	enum { CELLS = 5, THROWN = 400 };
	pld_tensor s = pld_new_window(PL_SHAPE(CELLS), PL_INT32);
	uint64_t random = multi_seed(4, (uint64_t)m->me, 0);
	int wanted[CELLS] = { 0 };

	for (int r = 0; r < m->n; r++) {
		uint64_t theirs = multi_seed(4, (uint64_t)r, 0);

		for (int k = 0; k < THROWN; k++) {
			int peer = (int)multi_pick(&theirs, m->n);
			int cell = (int)multi_pick(&theirs, CELLS);

			wanted[cell] += peer == m->me;
		}
	}
	for (int k = 0; k < THROWN; k++) {
		int peer = (int)multi_pick(&random, m->n);

		pld_notify(s, peer, PL_AT(multi_pick(&random, CELLS)), 1, PLD_NOTIFY_ADD);
	}
	for (int c = 0; c < CELLS; c++) {
		must(m, c, pld_wait_for(s, PL_AT(c), wanted[c], PLD_WAIT_EQ, LOST));
		expect_int(m, "cell", c, pl_read_int(s, PL_AT(c)), wanted[c]);
	}
	pld_barrier(pld_world());
	pld_free_window(s);
}

/* Rank 0 takes from one cell a peer, whichever has something, until all is taken. */
static void any_of_all(const struct multi *m)
{
	enum { EACH = 300, MOST = 64 };
	pld_tensor s = pld_new_window(PL_SHAPE(m->n), PL_INT32);
	struct pld_condition c[MOST];
	pl_dims at[MOST];
	int n = m->n < MOST ? m->n : MOST, taken[MOST] = { 0 };
	uint64_t random = multi_seed(5, (uint64_t)m->me, 0);

	for (int r = 0; r < n; r++) {
		at[r] = *PL_AT(r);
		c[r] = (struct pld_condition){ s, &at[r], 1, PLD_WAIT_GE };
	}
	for (int k = 0; m->me < n && k < EACH; k++) {
		multi_delay(&random);
		pld_notify(s, 0, PL_AT(m->me), 1, PLD_NOTIFY_ADD);
	}
	for (int k = 0; m->me == 0 && k < EACH * n; k++) {
		int r = pld_wait_any(c, n, LOST);

		must(m, k, r);
		pld_notify(s, 0, PL_AT(r), -1, PLD_NOTIFY_ADD);
		taken[r]++;
	}
	for (int r = 0; m->me == 0 && r < n; r++)
		expect_int(m, "taken from rank", r, taken[r], EACH);
	pld_barrier(pld_world());
	pld_free_window(s);
}

/* Time limits that run out at about the time of the notify: either answer, never a loss. */
static void limits(const struct multi *m)
{
	pld_tensor s = one_cell();
	uint64_t random = multi_seed(6, (uint64_t)m->me, 0);

	for (int k = 1; k <= 500; k++) {
		int rc = PL_ETIMEDOUT;
		int64_t begin = multi_now_ns();

		for (volatile unsigned i = multi_random(&random) % 8192; i > 0; i--)
			continue;
		pld_notify(s, multi_next(m), CELL, 1, PLD_NOTIFY_ADD);
		while (rc == PL_ETIMEDOUT && multi_now_ns() - begin < LOST)
			rc = pld_wait_for(s, CELL, k, PLD_WAIT_GE, multi_pick(&random, 60000));
		must(m, k, rc);
		expect_true(m, "cell has reached the number", pl_read_int(s, CELL) >= k);
	}
	pld_barrier(pld_world());
	pld_free_window(s);
}

/* The library's own lines sleep too, and the two kinds do not disturb each other. */
static void barriers(const struct multi *m)
{
	pld_tensor s = pld_new_window(PL_SHAPE(m->n, 1), PL_INT32), token_cell = one_cell();
	uint64_t random = multi_seed(7, (uint64_t)m->me, 0);

	for (int k = 1; k <= 150; k++) {
		multi_delay(&random);
		pld_barrier(pld_world());
		pld_notify(token_cell, multi_next(m), CELL, 1, PLD_NOTIFY_ADD);
		pld_barrier(s);
		must(m, k, pld_wait_for(token_cell, CELL, k, PLD_WAIT_GE, LOST));
	}
	pld_free_window(token_cell);
	pld_free_window(s);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "token", token, 0 },	 { "pairs", pairs, 0 },
		{ "storm", storm, 0 },	 { "any of all", any_of_all, 0 },
		{ "limits", limits, 0 }, { "barriers", barriers, 0 },
	};

	setenv("PLD_SPIN_US", "0", 1);
	setenv("PLD_YIELDS", "0", 1);
	return multi_run("sleepers", cases, ROWS(cases));
}
