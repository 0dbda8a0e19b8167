/*
 * Example: changing one element of a peer in one step.
 *
 * Read after: step 06.
 * Shows:    tasks handed out by a counter (pld_fetch_add); a lock that nobody spins on (pld_swap,
 *           pld_compare_swap and a wait); seats taken and left in a set of bits (pld_fetch_or,
 *           pld_fetch_and, pld_fetch_xor); whether a peer's memory has an address here
 *           (pld_mapped); and what a rank's calls have moved (pld_get_stats).
 * Run:      pldrun -n 4 ./atomics
 * Prints:   OK
 */
#include <pld.h>
#include <stdio.h>

#define TASKS 1000
#define TURNS 50
#define CELL PL_AT(0)

/* 1. Whoever is free takes the next task: what the counter was is the task's number. */
static int64_t work(pld_tensor counter)
{
	int64_t sum = 0, task;

	while ((task = pld_fetch_add(counter, 0, CELL, 1)) < TASKS)
		sum += task;
	return sum;
}

/*
 * 2. A queue of ranks, of which the first has the lock and the others sleep, each on a cell of its
 * own (J. M. Mellor-Crummey, M. L. Scott, "Algorithms for scalable synchronization on shared-memory
 * multiprocessors", 1991).
 */
struct lock {
	pld_tensor tail; /* on rank 0: 1 + the last in the queue, 0 for nobody */
	pld_tensor next; /* on each: 1 + who comes after it */
	pld_tensor go;	 /* on each: 1 when it is its turn */
};

static void take(const struct lock *l, int me)
{
	int64_t before = pld_swap(l->tail, 0, CELL, me + 1);

	if (before == 0)
		return;
	pld_notify(l->next, (int)before - 1, CELL, me + 1, PLD_NOTIFY_SET);
	pld_wait(l->go, CELL, 1, PLD_WAIT_EQ);
	pl_write(l->go, CELL, 0);
}

static void give(const struct lock *l, int me)
{
	/* nobody has come after me: the queue is empty again */
	if (pld_compare_swap(l->tail, 0, CELL, me + 1, 0) == me + 1)
		return;
	pld_wait(l->next, CELL, 1, PLD_WAIT_GE);
	pld_notify(l->go, (int)pl_read_int(l->next, CELL) - 1, CELL, 1, PLD_NOTIFY_SET);
	pl_write(l->next, CELL, 0);
}

/* 3. Under the lock: by address where there is one, else by put and get, which every peer has. */
static void count(pld_tensor turns)
{
	int64_t there[1];
	pl_tensor copy = pl_wrap(there, PL_SHAPE(1), PL_INT64);

	if (pld_mapped(pld_world(), 0)) {
		++*(int64_t *)pld_ptr(turns, 0);
		return;
	}
	pld_get(copy, 0, turns);
	there[0]++;
	pld_put(turns, 0, copy);
}

/* 4. A seat is a bit: it is mine when it was free before I set it. */
static int sit_down(pld_tensor seats)
{
	int seat = 0;

	while (pld_fetch_or(seats, 0, PL_AT(seat / 32), INT64_C(1) << seat % 32) >> seat % 32 & 1)
		seat++;
	return seat;
}

static void stand_up(pld_tensor seats, int seat)
{
	pld_fetch_and(seats, 0, PL_AT(seat / 32), ~(INT64_C(1) << seat % 32) & UINT32_MAX);
}

/* 5. An element of 8 bytes is read and written; one of the own slice is nobody else's. */
static int moved_by_one(pld_tensor sum, int peer, int me)
{
	struct pld_stats before, after;
	int64_t bytes = peer == me ? 0 : 8;

	if (pld_get_stats(&before))
		return 1;
	pld_fetch_add(sum, peer, CELL, 0);
	pld_get_stats(&after);
	return after.remote_bytes_read - before.remote_bytes_read != bytes ||
	       after.remote_bytes_written - before.remote_bytes_written != bytes;
}

static int body(void *arg)
{
	pld_ctx world = pld_world();
	int me = pld_rank(world), n = pld_nranks(world), bad = 0, seat;
	pld_tensor counter = pld_new_window(PL_SHAPE(1), PL_INT64);
	pld_tensor sum = pld_new_window(PL_SHAPE(1), PL_INT64);
	pld_tensor turns = pld_new_window(PL_SHAPE(1), PL_INT64);
	pld_tensor seats = pld_new_window(PL_SHAPE(n / 32 + 1), PL_UINT32);
	pld_tensor taken = pld_new_window(PL_SHAPE(n), PL_UINT8);
	struct lock lock = { .tail = pld_new_window(PL_SHAPE(1), PL_INT32),
			     .next = pld_new_window(PL_SHAPE(1), PL_INT32),
			     .go = pld_new_window(PL_SHAPE(1), PL_INT32) };

	(void)arg;
	pld_fetch_add(sum, 0, CELL, work(counter));
	for (int k = 0; k < TURNS; k++) {
		take(&lock, me);
		count(turns);
		give(&lock, me);
	}
	seat = sit_down(seats);
	pld_fetch_xor(taken, 0, PL_AT(seat), 1); /* two on one seat would flip it back */
	pld_barrier(world);
	if (me == 0) {
		bad |= pl_read_int(sum, CELL) != (int64_t)TASKS * (TASKS - 1) / 2;
		bad |= pl_read_int(turns, CELL) != (int64_t)TURNS * n;
		for (int k = 0; k < n; k++)
			bad |= pl_read_int(taken, PL_AT(k)) != 1;
	}
	stand_up(seats, seat);
	bad |= moved_by_one(sum, (me + 1) % n, me);
	pld_barrier(world);
	for (int k = 0; me == 0 && k <= n / 32; k++)
		bad |= pl_read_int(seats, PL_AT(k)) != 0;
	if (me == 0 && !bad)
		puts("OK");
	return bad;
}

int main(void)
{
	return pld_run(&(struct pld_config)PLD_CONFIG(.default_ndevices = 4,
						      .counters = PLD_COUNTERS_ON),
		       body, NULL);
}
