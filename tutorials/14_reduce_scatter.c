/*
 * Step 14 of 16: publish everything, keep one chunk of the sum; then the builtin.
 *
 * You know: 08 the sum of all slices, 09 its first half, 13 rows in rank order.
 * New here: reduce-scatter as an operation of its own; pld_reduce_scatter.
 * Picture:  x of a rank is a row of P chunks; rank r gets the sum of everybody's chunk r.
 *
 *     rank 0   [ a0 | b0 | c0 ]        y0 = a0 + a1 + a2
 *     rank 1   [ a1 | b1 | c1 ]        y1 = b1 + b0 + b2
 *     rank 2   [ a2 | b2 | c2 ]        y2 = c2 + c0 + c1
 *
 * Cost:     (P-1) B bytes read a rank, B = 4 --size; 1 barrier; N-1 more for --repeat N.
 * Run:      pldrun -n 4 ./14_reduce_scatter
 *           ./14_reduce_scatter -d 0,1,2 --mode builtin --size 1000 --repeat 200
 * Prints:   cost: bytes moved by rank 0, 1, ..: 768 768 768 768 (formula: 768 768 768 768)
 *           OK
 * Try:      .op = PLD_MAX in the builtin.  What should want be?
 */
#include "common/tut.h"

/* 1. The barrier of step 08. */
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

/* 2. Chunk c of x into row c of the window: all of them, for each peer wants another one. */
static void stage(pl_tensor x, pld_tensor data, int64_t size, int turn)
{
	for (int c = 0; c < pld_nranks(pld_get_comm_ctx(data)); c++) {
		pl_tile chunk = pl_load(x, PL_AT(0, c * size), PL_SHAPE(1, size));

		pl_store(pl_mul(chunk, turn), PL_AT(c, 0), data);
	}
}

/* 3. Use k.  Stage; barrier; my own row of my slice, then that row of each peer on top of it. */
static void by_hand(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int k, int uses)
{
	pld_ctx ctx = pld_get_comm_ctx(data);
	int me = pld_rank(ctx), n = pld_nranks(ctx);
	const pl_dims *row = PL_AT(me, 0), *one = PL_SHAPE(1, pl_dim(y, 1));
	pl_tile sum;

	stage(x, data, pl_dim(y, 1), tut_turn(k, uses));
	hand_barrier(signal, 2 * k - 1);
	sum = pl_load(data, row, one);
	for (int peer = 0; peer < n; peer++)
		if (peer != me)
			sum = pl_add(sum, pld_remote_load(data, peer, row, one));
	pl_store(pl_add(pl_load(y, PL_AT(0, 0), one), sum), PL_AT(0, 0), y);

	/* 4. Read complete, as in step 08. */
	if (k < uses)
		hand_barrier(signal, 2 * k);
}

/* 5. The builtin leaves the sum in my own row; the others are anything.  Auto: signal is null. */
static void builtin(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int k, int uses)
{
	int me = pld_rank(pld_get_comm_ctx(data));
	const pl_dims *at = PL_AT(0, 0), *one = PL_SHAPE(1, pl_dim(y, 1));

	stage(x, data, pl_dim(y, 1), tut_turn(k, uses));
	pld_reduce_scatter(data, .signal = signal, .op = PLD_SUM);
	pl_store(pl_add(pl_load(y, at, one), pl_load(data, PL_AT(me, 0), one)), at, y);
}

/* 6. Either kernel, its uses back to back. */
typedef void kernel(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int k, int uses);

static void device(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, kernel *use,
		   int uses)
{
	for (int k = 1; k <= uses; k++)
		PLD_INCORE(use(x, y, data, signal, k, uses));
}

static void host(const struct tut *t, pl_tensor x, pl_tensor y)
{
	int64_t n = pl_dynamic("NR");
	pld_tensor data = pld_new_window(PL_SHAPE(n, t->size), PL_FP32);
	pld_tensor signal = pld_new_window(PL_SHAPE(n, 1), PL_INT32);
	kernel *use = tut_mode_is(t, "hand") ? by_hand : builtin;

	if (tut_mode_is(t, "auto"))
		signal = (pld_tensor){ 0 };
	for (int r = 0; r < n; r++)
		PLD_DISPATCH(r, device(pl_at(x, r), pl_at(y, r), data, signal, use, t->repeat));
}

/* 7. x[r][i] = 100 r + i; y[r][j] is the sum of x[k][r size + j] over all k. */
static double ramp(const struct tut *t, const int64_t *at)
{
	(void)t;
	return (double)(100 * at[0] + at[2]);
}

static double want(const struct tut *t, const int64_t *at)
{
	double sum = 0;

	for (int64_t k = 0; k < pl_dim(t->x, 0); k++)
		sum += pl_read_float(t->x, PL_AT(k, 0, at[0] * t->size + at[2]));
	return sum;
}

/* Whole numbers up to 2^24 are exact in FP32, and so is their sum in any order. */
static enum tut_how how(const struct tut *t)
{
	int64_t n = pl_dim(t->x, 0);

	return !t->input && n * n * (t->size + 100) <= 1 << 24 ? TUT_EXACT : TUT_CLOSE;
}

/* 8. My chunk, from every peer. */
static int64_t bytes(const struct tut *t, int rank)
{
	(void)rank;
	return (pl_dim(t->x, 0) - 1) * t->size * 4;
}

static int run(struct tut *t)
{
	int64_t n = pl_dynamic("NR");
	pl_tensor x = tut_input_by(t, PL_SHAPE(n, 1, n * t->size), ramp);
	pl_tensor y = pld_host_tensor(PL_SHAPE(n, 1, t->size), PL_FP32);

	PLD_HOST(host(t, x, y));
	return tut_check(t, y, want, how(t)) || tut_cost(t, tut_mode_is(t, "auto") ? NULL : bytes);
}

int main(int argc, char **argv)
{
	const struct tut_step step = { .name = "14_reduce_scatter",
				       .modes = "hand,builtin,auto",
				       .devices = "0,1",
				       .size = 64,
				       .run = run };

	return tut_main(argc, argv, &step);
}
