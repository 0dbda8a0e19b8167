/*
 * Step 08 of 16: a sum over all ranks, by reading everybody.
 *
 * You know: 04 the barrier by hand, 05 remote load, 07 any number of ranks.
 * New here: all-reduce, and the four phases that all the steps from here on have: stage, barrier,
 *           work across ranks, store; --size and --repeat; what a program has moved.
 * Picture:  a full mesh; every rank reads every other one.
 *
 *     slices  x0  x1  x2  x3        y0 = x0 + x1 + x2 + x3
 *             |   |   |   |         y1 = x1 + x0 + x2 + x3
 *     y0 <----+---+---+---+         y2 = x2 + x0 + x1 + x3, ..
 *
 * Cost:     (P-1) B bytes read a rank, B = 4 --size; 1 barrier; N-1 more for --repeat N.
 * Run:      pldrun -n 4 ./08_allreduce_mesh
 *           ./08_allreduce_mesh -d 0,1,2 --size 1000 --repeat 200
 * Prints:   cost: bytes moved by rank 0, 1, ..: 768 768 768 768 (formula: 768 768 768 768)
 *           OK
 * Try:      swap stage and barrier.  How many runs with P = 2, with P = 8, until it shows?
 */
#include "common/tut.h"

/* 1. The barrier of step 04.  Each cell only grows: credits says how far it has to be now. */
static void hand_barrier(pld_tensor signal, int credits)
{
	pld_ctx ctx = pld_get_comm_ctx(signal);
	int me = pld_rank(ctx), n = pld_nranks(ctx);

	for (int peer = 0; peer < n; peer++)
		if (peer != me)
			pld_notify(signal, peer, PL_AT(me, 0), 1, PLD_NOTIFY_ADD);
	for (int src = 0; src < n; src++)
		if (src != me)
			pld_wait(signal, PL_AT(src, 0), credits, PLD_WAIT_GE);
}

/* 2. Use k of the kernel.  Stage; barrier; my slice, then each peer's on top of it; store. */
static void mesh(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int k, int uses)
{
	pld_ctx ctx = pld_get_comm_ctx(data);
	int me = pld_rank(ctx), n = pld_nranks(ctx);
	const pl_dims *at = PL_AT(0, 0), *all = PL_SHAPE(1, pl_dim(x, 1));
	pl_tile sum;

	pl_store(pl_mul(pl_load(x, at, all), tut_turn(k, uses)), at, data);
	hand_barrier(signal, 2 * k - 1);
	sum = pl_load(data, at, all);
	for (int peer = 0; peer < n; peer++)
		if (peer != me)
			sum = pl_add(sum, pld_remote_load(data, peer, at, all));
	pl_store(pl_add(pl_load(y, at, all), sum), at, y);

	/* 3. Read complete: nobody stages the next use before all have read this one. */
	if (k < uses)
		hand_barrier(signal, 2 * k);
}

/* 4. The uses, back to back. */
static void device(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int uses)
{
	for (int k = 1; k <= uses; k++)
		PLD_INCORE(mesh(x, y, data, signal, k, uses));
}

/* 5. A slice to read from, a cell for each rank. */
static void host(pl_tensor x, pl_tensor y, int64_t size, int uses)
{
	pld_tensor data = pld_new_window(PL_SHAPE(1, size), PL_FP32);
	pld_tensor signal = pld_new_window(PL_SHAPE(pl_dynamic("NR"), 1), PL_INT32);

	for (int r = 0; r < pl_dynamic("NR"); r++)
		PLD_DISPATCH(r, device(pl_at(x, r), pl_at(y, r), data, signal, uses));
}

/* 6. y[r] = x[0] + x[1] + .. + x[P - 1], for every r. */
static double want(const struct tut *t, const int64_t *at)
{
	double sum = 0;

	for (int64_t r = 0; r < pl_dim(t->x, 0); r++)
		sum += pl_read_float(t->x, PL_AT(r, at[1], at[2]));
	return sum;
}

/* 7. What one use costs a rank. */
static int64_t bytes(const struct tut *t, int rank)
{
	(void)rank;
	return (pl_dim(t->x, 0) - 1) * t->size * (int64_t)sizeof(float);
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
		.name = "08_allreduce_mesh", .devices = "0,1,2,3", .size = 64, .run = run
	};

	return tut_main(argc, argv, &step);
}
