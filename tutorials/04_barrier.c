/*
 * Step 04 of 16: a barrier, by hand; then the builtin.
 *
 * You know: 01 ranks, 02 levels, 03 windows.
 * New here: pld_notify, pld_wait; who am I from a window's context; pld_barrier at the end.
 * Picture:  every rank owns a column of P cells; rank r adds 1 to cell r of each peer.
 *
 *              cell 0  cell 1  cell 2
 *     rank 0 [   0       1       1   ]     after the barrier: 1 from every
 *     rank 1 [   1       0       1   ]     peer, 0 from oneself
 *     rank 2 [   1       1       0   ]
 *
 * Cost:     P-1 notifies and P-1 waits a rank, no payload.
 * Run:      pldrun -n 3 ./04_barrier
 *           ./04_barrier -d 0,1,2 --mode builtin
 * Prints:   OK
 * Try:      leave out the notify to rank 0: who hangs, and for what?
 */
#include "common/tut.h"

#define SIZE 64

/* 1. Tell every peer that I am here, in the cell that is mine; then hear from every peer. */
static void hand_barrier(pld_tensor signal)
{
	pld_ctx ctx = pld_get_comm_ctx(signal);
	int me = pld_rank(ctx), n = pld_nranks(ctx);

	for (int peer = 0; peer < n; peer++)
		if (peer != me)
			pld_notify(signal, peer, PL_AT(me, 0), 1, PLD_NOTIFY_ADD);
	for (int src = 0; src < n; src++)
		if (src != me)
			pld_wait(signal, PL_AT(src, 0), 1, PLD_WAIT_GE);
}

/* 2. After it, show the cells: no rank gets here before all have entered. */
static void by_hand(pl_tensor y, pld_tensor signal)
{
	hand_barrier(signal);
	for (int i = 0; i < pld_nranks(pld_get_comm_ctx(signal)); i++)
		pl_write(y, PL_AT(i, 0), pl_read_int(signal, PL_AT(i, 0)));
}

/* 3. The builtin leaves no cells to show; the proof is data that next wrote before the barrier. */
static void builtin(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal)
{
	pld_ctx ctx = pld_get_comm_ctx(data);
	int next = (pld_rank(ctx) + 1) % pld_nranks(ctx);

	pl_store(pl_load(x, PL_AT(0, 0), PL_SHAPE(1, SIZE)), PL_AT(0, 0), data);
	pld_barrier(signal);
	pl_store(pld_remote_load(data, next, PL_AT(0, 0), PL_SHAPE(1, SIZE)), PL_AT(0, 0), y);
}

/* 4. Two kernels, so two of each level. */
static void device_by_hand(pl_tensor y, pld_tensor signal)
{
	PLD_INCORE(by_hand(y, signal));
}

static void device_builtin(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal)
{
	PLD_INCORE(builtin(x, y, data, signal));
}

/* 5. pld_new_window is step 03's allocation and view in one.  Cells start at 0. */
static void host_by_hand(pl_tensor y)
{
	pld_tensor signal = pld_new_window(PL_SHAPE(pld_world_size(), 1), PL_INT32);

	for (int r = 0; r < pld_world_size(); r++)
		PLD_DISPATCH(r, device_by_hand(pl_at(y, r), signal));
}

static void host_builtin(pl_tensor x, pl_tensor y)
{
	pld_tensor data = pld_new_window(PL_SHAPE(1, SIZE), PL_FP32);
	pld_tensor signal = pld_new_window(PL_SHAPE(pld_world_size(), 1), PL_INT32);

	for (int r = 0; r < pld_world_size(); r++)
		PLD_DISPATCH(r, device_builtin(pl_at(x, r), pl_at(y, r), data, signal));
}

/* 6. By hand: y[r][i] = 1, but 0 for r itself.  Builtin: y[r] = x[r + 1]. */
static double want_by_hand(const struct tut *t, const int64_t *at)
{
	(void)t;
	return at[0] == at[1] ? 0 : 1;
}

static double want_builtin(const struct tut *t, const int64_t *at)
{
	return pl_read_float(t->x, PL_AT((at[0] + 1) % pl_dim(t->x, 0), at[1], at[2]));
}

/* 7. --mode says which. */
static int run(struct tut *t)
{
	int64_t n = pld_world_size();
	pl_tensor x, y;

	if (tut_mode_is(t, "hand")) {
		y = pld_host_tensor(PL_SHAPE(n, n, 1), PL_INT32);
		PLD_HOST(host_by_hand(y));
		return tut_check(t, y, want_by_hand, TUT_EXACT);
	}
	x = tut_input(t, PL_SHAPE(n, 1, SIZE));
	y = pld_host_tensor(PL_SHAPE(n, 1, SIZE), PL_FP32);
	PLD_HOST(host_builtin(x, y));
	return tut_check(t, y, want_builtin, TUT_EXACT);
}

int main(int argc, char **argv)
{
	const struct tut_step step = {
		.name = "04_barrier", .modes = "hand,builtin", .devices = "0,1", .run = run
	};

	return tut_main(argc, argv, &step);
}
