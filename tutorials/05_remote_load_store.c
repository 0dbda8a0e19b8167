/*
 * Step 05 of 16: a tile from a peer, a tile to a peer.
 *
 * You know: 03 windows, 04 signals and the barrier.
 * New here: pld_remote_load (pull), pld_remote_store (push), and on which side of each the
 *           barrier stands.
 * Picture:  a ring; next is (r + 1) % P.
 *
 *     load    rank r reads next's slice         y[r] = x[r + 1]
 *     store   rank r writes into next's slice   y[r] = x[r - 1]
 *
 * Cost:     one tile of 256 bytes a rank, one barrier: latency counts, not bandwidth.
 * Run:      pldrun -n 3 ./05_remote_load_store
 *           ./05_remote_load_store -d 0,1,2 --mode store
 * Prints:   OK
 * Try:      P = 2: swap want's two cases and see that both modes still pass.  Then P = 3.
 */
#include "common/tut.h"

#define SIZE 64

/* 1. Pull: write mine, barrier, read a peer's. */
static void shift_by_load(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal)
{
	pld_ctx ctx = pld_get_comm_ctx(data);
	int next = (pld_rank(ctx) + 1) % pld_nranks(ctx);

	pl_store(pl_load(x, PL_AT(0, 0), PL_SHAPE(1, SIZE)), PL_AT(0, 0), data);
	pld_barrier(signal);
	pl_store(pld_remote_load(data, next, PL_AT(0, 0), PL_SHAPE(1, SIZE)), PL_AT(0, 0), y);
}

/* 2. Push: write a peer's, barrier, read mine. */
static void shift_by_store(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal)
{
	pld_ctx ctx = pld_get_comm_ctx(data);
	int next = (pld_rank(ctx) + 1) % pld_nranks(ctx);
	pl_tile t = pl_load(x, PL_AT(0, 0), PL_SHAPE(1, SIZE));

	pld_remote_store(t, data, next, PL_AT(0, 0));
	pld_barrier(signal);
	pl_store(pl_load(data, PL_AT(0, 0), PL_SHAPE(1, SIZE)), PL_AT(0, 0), y);
}

/* 3. Either kernel: both have this type. */
typedef void kernel(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal);

static void device(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, kernel *shift)
{
	PLD_INCORE(shift(x, y, data, signal));
}

/* 4. Data to shift, and P cells for the barrier. */
static void host(pl_tensor x, pl_tensor y, kernel *shift)
{
	pld_tensor data = pld_new_window(PL_SHAPE(1, SIZE), PL_FP32);
	pld_tensor signal = pld_new_window(PL_SHAPE(pld_world_size(), 1), PL_INT32);

	for (int r = 0; r < pld_world_size(); r++)
		PLD_DISPATCH(r, device(pl_at(x, r), pl_at(y, r), data, signal, shift));
}

/* 5. load: y[r] = x[r + 1]; store: y[r] = x[r - 1].  + n: in C, -1 % n is not n - 1. */
static double want(const struct tut *t, const int64_t *at)
{
	int64_t n = pl_dim(t->x, 0), r = at[0];
	int64_t from = tut_mode_is(t, "load") ? (r + 1) % n : (r - 1 + n) % n;

	return pl_read_float(t->x, PL_AT(from, at[1], at[2]));
}

/* 6. --mode says which. */
static int run(struct tut *t)
{
	pl_tensor x = tut_input(t, PL_SHAPE(pld_world_size(), 1, SIZE));
	pl_tensor y = pld_host_tensor(PL_SHAPE(pld_world_size(), 1, SIZE), PL_FP32);

	PLD_HOST(host(x, y, tut_mode_is(t, "load") ? shift_by_load : shift_by_store));
	return tut_check(t, y, want, TUT_EXACT);
}

int main(int argc, char **argv)
{
	const struct tut_step step = {
		.name = "05_remote_load_store", .modes = "load,store", .devices = "0,1", .run = run
	};

	return tut_main(argc, argv, &step);
}
