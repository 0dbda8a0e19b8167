/*
 * Step 12 of 16: one to all, by hand; then the builtin.
 *
 * You know: 05 remote load, 08 stage, barrier, work, store; --size, --repeat; 11 builtin, .signal.
 * New here: the root, a rank that is not like the others; pld_broadcast.
 * Picture:  only the root stages; everybody reads the root's slice.
 *
 *     rank 0, the root   data [ x0 ] ---+---> y0 = x0
 *     rank 1             data [    ]    +---> y1 = x0
 *     rank 2             data [    ]    +---> y2 = x0
 *
 * Cost:     B bytes read a rank, 0 by the root, B = 4 --size; 1 barrier; N-1 more for --repeat N.
 * Run:      pldrun -n 4 ./12_broadcast
 *           ./12_broadcast -d 0,1,2 --mode builtin --size 1000 --repeat 200
 * Prints:   cost: bytes moved by rank 0, 1, ..: 0 256 256 256 (formula: 0 256 256 256)
 *           OK
 * Try:      ROOT 2, with four ranks, with three, with two.
 */
#include <stdio.h>

#include "common/tut.h"

#define ROOT 0

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

/* 2. Use k.  The root stages; barrier; everybody, the root too, reads the root's slice. */
static void by_hand(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int k, int uses)
{
	int me = pld_rank(pld_get_comm_ctx(data));
	const pl_dims *at = PL_AT(0, 0), *all = PL_SHAPE(1, pl_dim(x, 1));

	if (me == ROOT)
		pl_store(pl_mul(pl_load(x, at, all), tut_turn(k, uses)), at, data);
	hand_barrier(signal, 2 * k - 1);
	pl_store(pl_add(pl_load(y, at, all), pld_remote_load(data, ROOT, at, all)), at, y);

	/* 3. Read complete: the root does not stage the next use before all have read this one. */
	if (k < uses)
		hand_barrier(signal, 2 * k);
}

/* 4. The root stages, and the builtin fills everybody's slice.  Auto: signal is null. */
static void builtin(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int k, int uses)
{
	int me = pld_rank(pld_get_comm_ctx(data));
	const pl_dims *at = PL_AT(0, 0), *all = PL_SHAPE(1, pl_dim(x, 1));

	if (me == ROOT)
		pl_store(pl_mul(pl_load(x, at, all), tut_turn(k, uses)), at, data);
	pld_broadcast(data, .signal = signal, .root = ROOT);
	pl_store(pl_add(pl_load(y, at, all), pl_load(data, at, all)), at, y);
}

/* 5. Either kernel, its uses back to back. */
typedef void kernel(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int k, int uses);

static void device(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, kernel *use,
		   int uses)
{
	for (int k = 1; k <= uses; k++)
		PLD_INCORE(use(x, y, data, signal, k, uses));
}

/* 6. Step 03's allocation by bytes. */
static void host(const struct tut *t, pl_tensor x, pl_tensor y)
{
	int64_t n = pl_dynamic("NR");
	pld_buffer data_bytes = pld_alloc_window_buffer(.bytes = t->size * 4);
	pld_buffer signal_bytes = pld_alloc_window_buffer(.bytes = n * 4);
	pld_tensor data = pld_window(data_bytes, PL_SHAPE(1, t->size), PL_FP32);
	pld_tensor signal = pld_window(signal_bytes, PL_SHAPE(n, 1), PL_INT32);
	kernel *use = tut_mode_is(t, "hand") ? by_hand : builtin;

	if (tut_mode_is(t, "auto"))
		signal = (pld_tensor){ 0 };
	for (int r = 0; r < n; r++)
		PLD_DISPATCH(r, device(pl_at(x, r), pl_at(y, r), data, signal, use, t->repeat));
}

/* 7. x[r][j] = 100 r + j; y[r] = x[root]. */
static double ramp(const struct tut *t, const int64_t *at)
{
	(void)t;
	return (double)(100 * at[0] + at[2]);
}

static double want(const struct tut *t, const int64_t *at)
{
	return pl_read_float(t->x, PL_AT(ROOT, at[1], at[2]));
}

/* 8. No rank may show its own row; rows of the ramp differ everywhere. */
static int leaks(const struct tut *t, pl_tensor y)
{
	for (int64_t r = 0; !t->input && t->size && r < pl_dim(y, 0); r++) {
		const pl_dims *at = PL_AT(r, 0, 0);

		if (r == ROOT || pl_read_float(y, at) != pl_read_float(t->x, at))
			continue;
		fprintf(stderr, "12_broadcast: rank %d shows its own row\n", (int)r);
		return 1;
	}
	return 0;
}

/* 9. The root's slice, for everybody else. */
static int64_t bytes(const struct tut *t, int rank)
{
	return rank == ROOT ? 0 : t->size * 4;
}

static int run(struct tut *t)
{
	int64_t n = pl_dynamic("NR");
	pl_tensor x = tut_input_by(t, PL_SHAPE(n, 1, t->size), ramp);
	pl_tensor y = pld_host_tensor(PL_SHAPE(n, 1, t->size), PL_FP32);
	int failed;

	PLD_HOST(host(t, x, y));
	failed = tut_check(t, y, want, TUT_EXACT);
	if (pld_rank(pld_world()) == 0)
		failed |= leaks(t, y);
	return failed || tut_cost(t, tut_mode_is(t, "auto") ? NULL : bytes);
}

int main(int argc, char **argv)
{
	const struct tut_step step = { .name = "12_broadcast",
				       .modes = "hand,builtin,auto",
				       .devices = "0,1",
				       .size = 64,
				       .run = run };

	return tut_main(argc, argv, &step);
}
