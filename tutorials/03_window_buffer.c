/*
 * Step 03 of 16: memory that others can reach.
 *
 * You know: 01 ranks and tiles, 02 the levels.
 * New here: window buffers, and distributed tensors: typed views of them.
 * Picture:  one allocation, a slice in every rank; each uses its own.  Nothing is shared yet.
 *
 *     rank 0   x[0] ->  [ data, 256 x FP32 ]  -> y[0]
 *     rank 1   x[1] ->  [ data, 256 x FP32 ]  -> y[1]
 *     rank 2   x[2] ->  [ data, 256 x FP32 ]  -> y[2]
 *
 * Cost:     no communication; 1 KiB of window a rank.
 * Run:      pldrun -n 3 ./03_window_buffer
 *           ./03_window_buffer -d 0,1,2
 * Prints:   OK
 * Try:      a view of PL_SHAPE(1, 2 * SIZE) on the same buffer.
 */
#include "common/tut.h"

#define SIZE 256

/* 1. Through the window and out again.  To load and store, data is the rank's own slice. */
static void through_window(pl_tensor x, pl_tensor y, pld_tensor data)
{
	pl_store(pl_load(x, PL_AT(0, 0), PL_SHAPE(1, SIZE)), PL_AT(0, 0), data);
	pl_store(pl_load(data, PL_AT(0, 0), PL_SHAPE(1, SIZE)), PL_AT(0, 0), y);
}

/* 2. A parameter of type pld_tensor: a plain tensor does not compile here. */
static void device(pl_tensor x, pl_tensor y, pld_tensor data)
{
	PLD_INCORE(through_window(x, y, data));
}

/* 3. One buffer for all, before the loop; views cost nothing, so they may be made inside. */
static void host(pl_tensor x, pl_tensor y)
{
	pld_buffer buf = pld_alloc_window_buffer(PL_SHAPE(1, SIZE), PL_FP32);

	for (int r = 0; r < pld_world_size(); r++) {
		pld_tensor data = pld_window(buf, PL_SHAPE(1, SIZE), PL_FP32);

		PLD_DISPATCH(r, device(pl_at(x, r), pl_at(y, r), data));
	}
}

/* 4. y = x. */
static double want(const struct tut *t, const int64_t *at)
{
	return pl_read_float(t->x, PL_AT(at[0], at[1], at[2]));
}

/* 5. The buffer made inside PLD_HOST is freed at its end. */
static int run(struct tut *t)
{
	pl_tensor x = tut_input(t, PL_SHAPE(pld_world_size(), 1, SIZE));
	pl_tensor y = pld_host_tensor(PL_SHAPE(pld_world_size(), 1, SIZE), PL_FP32);

	PLD_HOST(host(x, y));
	return tut_check(t, y, want, TUT_EXACT);
}

int main(int argc, char **argv)
{
	const struct tut_step step = { .name = "03_window_buffer", .devices = "0,1", .run = run };

	return tut_main(argc, argv, &step);
}
