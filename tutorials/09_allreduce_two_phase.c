/*
 * Step 09 of 16: the same sum in two phases.
 *
 * You know: 08 all-reduce as a mesh; what makes it repeatable.
 * New here: dividing the work: rank r adds up segment r alone, then everybody collects segments.
 *           Segments for any size: segment i is elements [i n / P, (i + 1) n / P).
 * Picture:  P = 3; lower case: a rank's contribution; upper case: the sum over all ranks.
 *
 *     data    0 [ a b c ]            result  0 [ A . . ]              y  0 [ A B C ]
 *             1 [ a b c ]  reduce            1 [ . B . ]  gather         1 [ A B C ]
 *             2 [ a b c ]  segment r         2 [ . . C ]  segments       2 [ A B C ]
 *
 * Cost:     B + (P-2) seg(r) bytes read by rank r, about 2 B; 2 barriers; N-1 more to repeat.
 * Run:      pldrun -n 4 ./09_allreduce_two_phase
 *           ./09_allreduce_two_phase -d 0,1,2 --size 1000 --repeat 200
 * Prints:   cost: bytes moved by rank 0, 1, ..: 384 384 384 384 (formula: 384 384 384 384)
 *           OK
 * Try:      leave out 5: --repeat 1000 stays right.  Which two barriers stand in for it?
 */
#include "common/tut.h"

/* 1. The barrier of step 08, on a row of cells of its own. */
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

/* 2. Where segment i of n elements begins: any n, any P; some segments may be empty. */
static int64_t begin(int64_t i, int64_t n, int64_t nranks)
{
	return i * n / nranks;
}

/* 3. Use k: stage, barrier, reduce my segment. */
static void reduce(pl_tensor x, pld_tensor data, pld_tensor result, pld_tensor signal, int k,
		   int uses)
{
	pld_ctx ctx = pld_get_comm_ctx(data);
	int me = pld_rank(ctx), n = pld_nranks(ctx);
	int64_t size = pl_dim(x, 1), first = begin(me, size, n);
	const pl_dims *at = PL_AT(0, first), *seg = PL_SHAPE(1, begin(me + 1, size, n) - first);
	pl_tile all = pl_load(x, PL_AT(0, 0), PL_SHAPE(1, size)), sum;

	pl_store(pl_mul(all, tut_turn(k, uses)), PL_AT(0, 0), data);
	hand_barrier(signal, 0, 2 * k - 1);
	sum = pl_load(data, at, seg);
	for (int peer = 0; peer < n; peer++)
		if (peer != me)
			sum = pl_add(sum, pld_remote_load(data, peer, at, seg));
	pl_store(sum, at, result);
}

/* 4. Barrier, then segment i from rank i, my own too. */
static void gather(pl_tensor y, pld_tensor result, pld_tensor signal, int k, int uses)
{
	int n = pld_nranks(pld_get_comm_ctx(result));

	hand_barrier(signal, 1, k);
	for (int i = 0; i < n; i++) {
		int64_t size = pl_dim(y, 1), first = begin(i, size, n);
		const pl_dims *at = PL_AT(0, first);
		const pl_dims *seg = PL_SHAPE(1, begin(i + 1, size, n) - first);
		pl_tile sum = pld_remote_load(result, i, at, seg);

		pl_store(pl_add(pl_load(y, at, seg), sum), at, y);
	}

	/* 5. Read complete, as in step 08. */
	if (k < uses)
		hand_barrier(signal, 0, 2 * k);
}

static void device(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor result, pld_tensor signal,
		   int uses)
{
	for (int k = 1; k <= uses; k++) {
		PLD_INCORE(reduce(x, data, result, signal, k, uses));
		PLD_INCORE(gather(y, result, signal, k, uses));
	}
}

/* 6. What is contributed, what is summed up, and two rows of cells. */
static void host(pl_tensor x, pl_tensor y, int64_t size, int uses)
{
	pld_tensor data = pld_new_window(PL_SHAPE(1, size), PL_FP32);
	pld_tensor result = pld_new_window(PL_SHAPE(1, size), PL_FP32);
	pld_tensor signal = pld_new_window(PL_SHAPE(2, pl_dynamic("NR")), PL_INT32);

	for (int r = 0; r < pl_dynamic("NR"); r++)
		PLD_DISPATCH(r, device(pl_at(x, r), pl_at(y, r), data, result, signal, uses));
}

/* 7. As step 08. */
static double want(const struct tut *t, const int64_t *at)
{
	double sum = 0;

	for (int64_t r = 0; r < pl_dim(t->x, 0); r++)
		sum += pl_read_float(t->x, PL_AT(r, at[1], at[2]));
	return sum;
}

/* 8. My segment from P-1 peers, and what is not my segment from its owners. */
static int64_t bytes(const struct tut *t, int rank)
{
	int64_t n = pl_dim(t->x, 0);
	int64_t seg = begin(rank + 1, t->size, n) - begin(rank, t->size, n);

	return ((n - 1) * seg + t->size - seg) * (int64_t)sizeof(float);
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
		.name = "09_allreduce_two_phase", .devices = "0,1,2,3", .size = 64, .run = run
	};

	return tut_main(argc, argv, &step);
}
