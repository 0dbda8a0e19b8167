/*
 * Step 02 of 16: three levels.
 *
 * You know: 01 a dispatch for each rank, tiles.
 * New here: the names of the three levels, and how the rank travels down through them.
 * Picture:
 *
 *     host     PLD_HOST      the loop over all ranks; owns x[P] and y[P]
 *                |  r, x[r], y[r]
 *     device   PLD_DISPATCH  one rank's orchestration; owns its slices
 *                |  r, x[r], y[r]
 *     in-core  PLD_INCORE    the kernel: tiles and arithmetic; nothing else computes
 *
 * Cost:     no communication.
 * Run:      pldrun -n 3 ./02_programming_model
 *           ./02_programming_model -d 0,1,2
 * Prints:   OK
 * Try:      load a tile in device(), outside the kernel, and read what pld says.
 */
#include "common/tut.h"

/* 1. In-core: x * rank + x.  Two tile operations: multiply by a number, add a tile. */
static void scale(pl_tensor x, pl_tensor y, int rank)
{
	pl_tile t = pl_load(x, PL_AT(0, 0), PL_SHAPE(8, 8));

	pl_store(pl_add(pl_mul(t, rank), t), PL_AT(0, 0), y);
}

/* 2. Device: calls kernels in order.  The rank is an argument: it has no other source here. */
static void device(pl_tensor x, pl_tensor y, int rank)
{
	PLD_INCORE(scale(x, y, rank));
}

/* 3. Host: has no rank, it is the loop over them. */
static void host(pl_tensor x, pl_tensor y)
{
	for (int r = 0; r < pld_world_size(); r++)
		PLD_DISPATCH(r, device(pl_at(x, r), pl_at(y, r), r));
}

/* 4. y[r] = x[r] * (r + 1). */
static double want(const struct tut *t, const int64_t *at)
{
	return pl_read_float(t->x, PL_AT(at[0], at[1], at[2])) * (double)(at[0] + 1);
}

/* 5. PLD_HOST opens the host level; when it returns, every rank is done. */
static int run(struct tut *t)
{
	pl_tensor x = tut_input(t, PL_SHAPE(pld_world_size(), 8, 8));
	pl_tensor y = pld_host_tensor(PL_SHAPE(pld_world_size(), 8, 8), PL_FP32);

	PLD_HOST(host(x, y));
	return tut_check(t, y, want, TUT_CLOSE);
}

int main(int argc, char **argv)
{
	const struct tut_step step = { .name = "02_programming_model",
				       .devices = "0,1",
				       .run = run };

	return tut_main(argc, argv, &step);
}
