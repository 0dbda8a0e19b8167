/*
 * Step 07 of 16: any number of ranks.
 *
 * You know: 06 put and get around a ring.
 * New here: pl_dynamic: an extent that has a name, "NR", instead of a number.
 * Picture:  the kernels of step 06, unchanged; only the host's shapes say NR.
 *
 *     x, y  [ NR, 1, 64 ]        P = 2:  0 <-> 1
 *                                P = 3:  0 -> 1 -> 2 -> 0
 *                                P = 5:  0 -> 1 -> 2 -> 3 -> 4 -> 0
 *
 * Cost:     as step 06 for every P: one slice, one notify, one wait a rank.
 * Run:      pldrun -n 5 ./07_dynamic_rank_count
 *           ./07_dynamic_rank_count -d 0,1,2,3,4 --mode get
 * Prints:   OK
 * Try:      an extent of your own: pl_dynamic("SIZE") for the 64, and pldrun --dim SIZE=1000.
 */
#include "common/tut.h"

#define SIZE 64

/* 1. Push, as in step 06: nothing in a kernel knows P but through its context. */
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

/* 2. Pull.  The reader is r - 1 + n, not r - 1: rank 0's is the last one. */
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

/* 4. NR is bound to the number of ranks when the job starts. */
static void host(pl_tensor x, pl_tensor y, kernel *shift)
{
	pld_tensor src = pld_new_window(PL_SHAPE(1, SIZE), PL_FP32);
	pld_tensor dst = pld_new_window(PL_SHAPE(1, SIZE), PL_FP32);
	pld_tensor signal = pld_new_window(PL_SHAPE(1, 1), PL_INT32);

	for (int r = 0; r < pl_dynamic("NR"); r++)
		PLD_DISPATCH(r, device(pl_at(x, r), pl_at(y, r), src, dst, signal, shift));
}

/* 5. put: y[r] = x[r - 1]; get: y[r] = x[r + 1]. */
static double want(const struct tut *t, const int64_t *at)
{
	int64_t n = pl_dim(t->x, 0), r = at[0];
	int64_t from = tut_mode_is(t, "put") ? (r - 1 + n) % n : (r + 1) % n;

	return pl_read_float(t->x, PL_AT(from, at[1], at[2]));
}

/* 6. The world shape by name: one source for any P. */
static int run(struct tut *t)
{
	pl_tensor x = tut_input(t, PL_SHAPE(pl_dynamic("NR"), 1, SIZE));
	pl_tensor y = pld_host_tensor(PL_SHAPE(pl_dynamic("NR"), 1, SIZE), PL_FP32);

	PLD_HOST(host(x, y, tut_mode_is(t, "put") ? shift_by_put : shift_by_get));
	return tut_check(t, y, want, TUT_EXACT);
}

int main(int argc, char **argv)
{
	const struct tut_step step = {
		.name = "07_dynamic_rank_count", .modes = "put,get", .devices = "0,1", .run = run
	};

	return tut_main(argc, argv, &step);
}
