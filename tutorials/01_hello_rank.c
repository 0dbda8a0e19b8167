/*
 * Step 01 of 16: who am I?
 *
 * You know: C.
 * New here: ranks, one dispatch for each; load a tile, add to it, store it.
 * Picture:  x and y have a row for each rank, 8 by 8 numbers; rank r adds r to its own.
 *
 *                x                y
 *     rank 0 [ x[0] ]  + 0 ->  [ y[0] ]
 *     rank 1 [ x[1] ]  + 1 ->  [ y[1] ]
 *     rank 2 [ x[2] ]  + 2 ->  [ y[2] ]
 *
 * Cost:     no communication.
 * Run:      pldrun -n 3 ./01_hello_rank
 *           ./01_hello_rank -d 0,1,2           without pldrun
 * Prints:   OK                                 once, by rank 0, when all of y is right
 * Try:      let the loop in host() begin at 1.  Which rank does the error name, and why?
 */
#include "common/tut.h"

/* 1. What one rank computes, on its own 8 by 8 slices. */
static void add_rank(pl_tensor x, pl_tensor y, int rank)
{
	pl_tile t = pl_load(x, PL_AT(0, 0), PL_SHAPE(8, 8));

	pl_store(pl_add(t, rank), PL_AT(0, 0), y);
}

/* 2. One rank's part: here nothing but the call of the kernel. */
static void device(pl_tensor x, pl_tensor y, int rank)
{
	PLD_INCORE(add_rank(x, y, rank));
}

/* 3. Who does what: rank r gets slice r. */
static void host(pl_tensor x, pl_tensor y)
{
	for (int r = 0; r < pld_world_size(); r++)
		PLD_DISPATCH(r, device(pl_at(x, r), pl_at(y, r), r));
}

/* 4. What should come out: y[r] = x[r] + r. */
static double want(const struct tut *t, const int64_t *at)
{
	return pl_read_float(t->x, PL_AT(at[0], at[1], at[2])) + (double)at[0];
}

/* 5. The whole: input, run, check. */
static int run(struct tut *t)
{
	pl_tensor x = tut_input(t, PL_SHAPE(pld_world_size(), 8, 8));
	pl_tensor y = pld_host_tensor(PL_SHAPE(pld_world_size(), 8, 8), PL_FP32);

	PLD_HOST(host(x, y));
	return tut_check(t, y, want, TUT_CLOSE);
}

int main(int argc, char **argv)
{
	const struct tut_step step = { .name = "01_hello_rank", .devices = "0,1", .run = run };

	return tut_main(argc, argv, &step);
}
