/*
 * Step 06 of 16: whole slices, and a handshake instead of a barrier.
 *
 * You know: 04 notify and wait, 05 push and pull.
 * New here: pld_put, pld_get: window to window, no tile; who has to be told what.
 * Picture:  a ring; next is (r + 1) % P.  One cell a rank, with one writer.
 *
 *     put   rank r:  1. src ==data==> next's dst        2. "it is there"  --> next's cell
 *     get   rank r:  1. "mine is ready" --> cell of r - 1, who reads me
 *                    2. dst <==data== next's src
 *
 * Cost:     one slice of 256 bytes, one notify and one wait a rank.
 * Run:      pldrun -n 3 ./06_put_get
 *           ./06_put_get -d 0,1,2 --mode get
 * Prints:   OK
 * Try:      replace put and notify by one call: pld_put(dst, next, src, .signal = signal,
 *           .signal_at = PL_AT(0, 0)).
 */
#include "common/tut.h"

#define SIZE 64

/* 1. Push: data first, then the notify; the receiver waits before it reads. */
static void shift_by_put(pl_tensor x, pl_tensor y, pld_tensor src, pld_tensor dst,
			 pld_tensor signal)
{
	pld_ctx ctx = pld_get_comm_ctx(src);
	int next = (pld_rank(ctx) + 1) % pld_nranks(ctx);

	pl_store(pl_load(x, PL_AT(0, 0), PL_SHAPE(1, SIZE)), PL_AT(0, 0), src);
	pld_put(dst, next, src);
	pld_notify(signal, next, PL_AT(0, 0), 1, PLD_NOTIFY_ADD);
	pld_wait(signal, PL_AT(0, 0), 1, PLD_WAIT_GE);
	pl_store(pl_load(dst, PL_AT(0, 0), PL_SHAPE(1, SIZE)), PL_AT(0, 0), y);
}

/* 2. Pull: tell the one who reads me; wait for the one I read. */
static void shift_by_get(pl_tensor x, pl_tensor y, pld_tensor src, pld_tensor dst,
			 pld_tensor signal)
{
	pld_ctx ctx = pld_get_comm_ctx(src);
	int me = pld_rank(ctx), n = pld_nranks(ctx);
	int next = (me + 1) % n, reader = (me - 1 + n) % n;

	pl_store(pl_load(x, PL_AT(0, 0), PL_SHAPE(1, SIZE)), PL_AT(0, 0), src);
	pld_notify(signal, reader, PL_AT(0, 0), 1, PLD_NOTIFY_ADD);
	pld_wait(signal, PL_AT(0, 0), 1, PLD_WAIT_GE);
	pld_get(dst, next, src);
	pl_store(pl_load(dst, PL_AT(0, 0), PL_SHAPE(1, SIZE)), PL_AT(0, 0), y);
}

/* 3. Either kernel. */
typedef void kernel(pl_tensor x, pl_tensor y, pld_tensor src, pld_tensor dst, pld_tensor signal);

static void device(pl_tensor x, pl_tensor y, pld_tensor src, pld_tensor dst, pld_tensor signal,
		   kernel *shift)
{
	PLD_INCORE(shift(x, y, src, dst, signal));
}

/* 4. Two windows, so that nobody writes what another still reads; one cell is enough. */
static void host(pl_tensor x, pl_tensor y, kernel *shift)
{
	pld_tensor src = pld_new_window(PL_SHAPE(1, SIZE), PL_FP32);
	pld_tensor dst = pld_new_window(PL_SHAPE(1, SIZE), PL_FP32);
	pld_tensor signal = pld_new_window(PL_SHAPE(1, 1), PL_INT32);

	for (int r = 0; r < pld_world_size(); r++)
		PLD_DISPATCH(r, device(pl_at(x, r), pl_at(y, r), src, dst, signal, shift));
}

/* 5. put: y[r] = x[r - 1]; get: y[r] = x[r + 1]. */
static double want(const struct tut *t, const int64_t *at)
{
	int64_t n = pl_dim(t->x, 0), r = at[0];
	int64_t from = tut_mode_is(t, "put") ? (r - 1 + n) % n : (r + 1) % n;

	return pl_read_float(t->x, PL_AT(from, at[1], at[2]));
}

/* 6. --mode says which. */
static int run(struct tut *t)
{
	pl_tensor x = tut_input(t, PL_SHAPE(pld_world_size(), 1, SIZE));
	pl_tensor y = pld_host_tensor(PL_SHAPE(pld_world_size(), 1, SIZE), PL_FP32);

	PLD_HOST(host(x, y, tut_mode_is(t, "put") ? shift_by_put : shift_by_get));
	return tut_check(t, y, want, TUT_EXACT);
}

int main(int argc, char **argv)
{
	const struct tut_step step = {
		.name = "06_put_get", .modes = "put,get", .devices = "0,1", .run = run
	};

	return tut_main(argc, argv, &step);
}
