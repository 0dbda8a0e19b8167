/*
 * Step 10 of 16: the same sum around a ring.
 *
 * You know: 06 a handshake with one neighbour, 09 segments; reduce, then gather.
 * New here: talking to neighbours only: P-1 rounds that add up, P-1 rounds that pass on; a row of
 *           cells for each round.  No barrier in a use.
 * Picture:  P = 3, left of r is r - 1; what rank r reads from its left in each round:
 *
 *     round             0                1                2                3
 *                 adds segment     adds segment     takes segment    takes segment
 *     rank 0            1                0                2                1
 *     rank 1            2                1                0                2
 *     rank 2            0                2                1                0
 *
 * Cost:     2 B - seg(r) - seg(r-1) bytes read by rank r; 2 (P-1) notifies and waits; N-1 barriers
 *           to repeat.
 * Run:      pldrun -n 4 ./10_allreduce_ring
 *           ./10_allreduce_ring -d 0,1,2 --size 1000 --repeat 200
 * Prints:   cost: bytes moved by rank 0, 1, ..: 384 384 384 384 (formula: 384 384 384 384)
 *           OK
 * Try:      round 0 on paper, P = 4: who adds which segment?  Then change the 2 in "me - s - 2".
 */
#include "common/tut.h"

/* 1. The barrier between uses: step 09's. */
static void hand_barrier(pld_tensor signal, int row, int credits)
{
	pld_ctx ctx = pld_get_comm_ctx(signal);
	int me = pld_rank(ctx), n = pld_nranks(ctx);

	for (int peer = 0; peer < n; peer++)
		if (peer != me)
			pld_notify(signal, peer, PL_AT(row, me), 1, PLD_NOTIFY_ADD);
	for (int src = 0; src < n; src++)
		if (src != me)
			pld_wait(signal, PL_AT(row, src), credits, PLD_WAIT_GE);
}

/* 2. Where segment i of n elements begins. */
static int64_t begin(int64_t i, int64_t n, int64_t nranks)
{
	return i * n / nranks;
}

/* 3. Segment q of the left neighbour: onto mine in the reduce half, instead of it after that. */
static void take(pld_tensor data, int64_t size, int left, int q, int add)
{
	int64_t n = pld_nranks(pld_get_comm_ctx(data));
	const pl_dims *at = PL_AT(0, begin(q, size, n));
	const pl_dims *seg = PL_SHAPE(1, begin(q + 1, size, n) - begin(q, size, n));
	pl_tile theirs = pld_remote_load(data, left, at, seg);

	pl_store(add ? pl_add(pl_load(data, at, seg), theirs) : theirs, at, data);
}

/* 4. Use k.  Row i of the signal: how often my left neighbour was ready for round i. */
static void ring(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int k, int uses)
{
	pld_ctx ctx = pld_get_comm_ctx(data);
	int me = pld_rank(ctx), n = pld_nranks(ctx);
	int left = (me - 1 + n) % n, right = (me + 1) % n;
	int64_t size = pl_dim(x, 1);
	const pl_dims *at = PL_AT(0, 0), *all = PL_SHAPE(1, size);

	pl_store(pl_mul(pl_load(x, at, all), tut_turn(k, uses)), at, data);
	pld_notify(signal, right, PL_AT(0, me), 1, PLD_NOTIFY_ADD);

	for (int s = 0; s < n - 1; s++) {
		pld_wait(signal, PL_AT(s, left), k, PLD_WAIT_GE);
		take(data, size, left, (me - s - 2 + 2 * n) % n, 1);
		pld_notify(signal, right, PL_AT(s + 1, me), 1, PLD_NOTIFY_ADD);
	}
	for (int s = 0; s < n - 1; s++) {
		pld_wait(signal, PL_AT(n - 1 + s, left), k, PLD_WAIT_GE);
		take(data, size, left, (me - s - 1 + n) % n, 0);
		if (s < n - 2)
			pld_notify(signal, right, PL_AT(n + s, me), 1, PLD_NOTIFY_ADD);
	}
	pl_store(pl_add(pl_load(y, at, all), pl_load(data, at, all)), at, y);

	/* 5. Read complete: on the last row, which no round uses. */
	if (k < uses)
		hand_barrier(signal, 2 * (n - 1), k);
}

static void device(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int uses)
{
	for (int k = 1; k <= uses; k++)
		PLD_INCORE(ring(x, y, data, signal, k, uses));
}

/* 6. A row of cells for each round, and one for the barrier. */
static void host(pl_tensor x, pl_tensor y, int64_t size, int uses)
{
	int64_t n = pl_dynamic("NR");
	pld_tensor data = pld_new_window(PL_SHAPE(1, size), PL_FP32);
	pld_tensor signal = pld_new_window(PL_SHAPE(2 * (n - 1) + 1, n), PL_INT32);

	for (int r = 0; r < n; r++)
		PLD_DISPATCH(r, device(pl_at(x, r), pl_at(y, r), data, signal, uses));
}

/* 7. As step 08. */
static double want(const struct tut *t, const int64_t *at)
{
	double sum = 0;

	for (int64_t r = 0; r < pl_dim(t->x, 0); r++)
		sum += pl_read_float(t->x, PL_AT(r, at[1], at[2]));
	return sum;
}

/* 8. Every segment but my own in the one half, every one but my left neighbour's in the other. */
static int64_t bytes(const struct tut *t, int rank)
{
	int64_t n = pl_dim(t->x, 0), left = (rank - 1 + n) % n;
	int64_t mine = begin(rank + 1, t->size, n) - begin(rank, t->size, n);
	int64_t its = begin(left + 1, t->size, n) - begin(left, t->size, n);

	return (2 * t->size - mine - its) * (int64_t)sizeof(float);
}

static int run(struct tut *t)
{
	pl_tensor x = tut_input(t, PL_SHAPE(pl_dynamic("NR"), 1, t->size));
	pl_tensor y = pld_host_tensor(PL_SHAPE(pl_dynamic("NR"), 1, t->size), PL_FP32);

	PLD_HOST(host(x, y, t->size, t->repeat));
	return tut_check(t, y, want, TUT_CLOSE) || tut_cost(t, bytes);
}

int main(int argc, char **argv)
{
	const struct tut_step step = {
		.name = "10_allreduce_ring", .devices = "0,1,2,3", .size = 64, .run = run
	};

	return tut_main(argc, argv, &step);
}
