/*
 * Step 11 of 16: the sum in one call.
 *
 * You know: 08 the mesh, 09 two phases, 10 the ring; what each needs to be repeated.
 * New here: pld_allreduce; its modes; the shape of the signal says which one it is.
 * Picture:  one line instead of a kernel.
 *
 *     mode        does what   its cells         bytes read by rank r
 *     mesh        step 08     [P, 1]            (P-1) B
 *     two_phase   step 09     [2, P]            B + (P-2) seg(r)
 *     ring        step 10     [2 (P-1), P]      2 B - seg(r) - seg(r-1)
 *     auto        what pays   none of yours     measured only
 *
 * Cost:     as the steps; and, each time, what makes the call repeatable.
 * Run:      pldrun -n 4 ./11_allreduce_reveal
 *           ./11_allreduce_reveal -d 0,1,2 --mode ring --size 1000 --repeat 200
 * Prints:   cost: bytes moved by rank 0, 1, ..: 768 768 768 768 (formula: 768 768 768 768)
 *           OK
 * Try:      .op = PLD_MAX.  What is want then, and why only with --repeat 1?
 */
#include "common/tut.h"

/* 1. Use k: stage, one call, store.  Nothing between uses: the call is repeatable. */
static void by_mode(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, pld_mode mode,
		    int turn)
{
	const pl_dims *at = PL_AT(0, 0), *all = PL_SHAPE(1, pl_dim(x, 1));

	pl_store(pl_mul(pl_load(x, at, all), turn), at, data);
	pld_allreduce(data, .signal = signal, .op = PLD_SUM, .mode = mode);
	pl_store(pl_add(pl_load(y, at, all), pl_load(data, at, all)), at, y);
}

/* 2. Without a signal, on the library's own cells, it chooses. */
static void by_itself(pl_tensor x, pl_tensor y, pld_tensor data, int turn)
{
	const pl_dims *at = PL_AT(0, 0), *all = PL_SHAPE(1, pl_dim(x, 1));

	pl_store(pl_mul(pl_load(x, at, all), turn), at, data);
	pld_allreduce(data);
	pl_store(pl_add(pl_load(y, at, all), pl_load(data, at, all)), at, y);
}

static void device(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, pld_mode mode,
		   int uses)
{
	for (int k = 1; k <= uses; k++) {
		if (mode == PLD_AUTO)
			PLD_INCORE(by_itself(x, y, data, tut_turn(k, uses)));
		else
			PLD_INCORE(by_mode(x, y, data, signal, mode, tut_turn(k, uses)));
	}
}

/* 3. The mode, by its name. */
static pld_mode mode_of(const struct tut *t)
{
	return tut_mode_is(t, "mesh")	     ? PLD_MESH
	       : tut_mode_is(t, "two_phase") ? PLD_TWO_PHASE
	       : tut_mode_is(t, "ring")	     ? PLD_RING
					     : PLD_AUTO;
}

/* 4. The cells that the mode needs.  (A ring of one rank needs none; a window has some.) */
static pld_tensor cells(pld_mode mode)
{
	int64_t n = pl_dynamic("NR");

	if (mode == PLD_RING)
		return pld_new_window(PL_SHAPE(n > 1 ? 2 * (n - 1) : 1, n), PL_INT32);
	if (mode == PLD_TWO_PHASE)
		return pld_new_window(PL_SHAPE(2, n), PL_INT32);
	return pld_new_window(PL_SHAPE(n, 1), PL_INT32);
}

static void host(pl_tensor x, pl_tensor y, pld_mode mode, int64_t size, int uses)
{
	pld_tensor data = pld_new_window(PL_SHAPE(1, size), PL_FP32);
	pld_tensor signal = cells(mode);

	for (int r = 0; r < pl_dynamic("NR"); r++)
		PLD_DISPATCH(r, device(pl_at(x, r), pl_at(y, r), data, signal, mode, uses));
}

/* 5. As step 08. */
static double want(const struct tut *t, const int64_t *at)
{
	double sum = 0;

	for (int64_t r = 0; r < pl_dim(t->x, 0); r++)
		sum += pl_read_float(t->x, PL_AT(r, at[1], at[2]));
	return sum;
}

/* 6. The formulas of the three steps, seg(r) being the elements of segment r. */
static int64_t seg(const struct tut *t, int64_t r)
{
	int64_t n = pl_dim(t->x, 0);

	return (r + 1) * t->size / n - r * t->size / n;
}

static int64_t bytes(const struct tut *t, int rank)
{
	int64_t n = pl_dim(t->x, 0), left = (rank - 1 + n) % n, elems;

	if (tut_mode_is(t, "mesh"))
		elems = (n - 1) * t->size;
	else if (tut_mode_is(t, "two_phase"))
		elems = t->size + (n - 2) * seg(t, rank);
	else
		elems = 2 * t->size - seg(t, rank) - seg(t, left);
	return elems * (int64_t)sizeof(float);
}

static int run(struct tut *t)
{
	pl_tensor x = tut_input(t, PL_SHAPE(pl_dynamic("NR"), 1, t->size));
	pl_tensor y = pld_host_tensor(PL_SHAPE(pl_dynamic("NR"), 1, t->size), PL_FP32);
	pld_mode mode = mode_of(t);

	PLD_HOST(host(x, y, mode, t->size, t->repeat));
	return tut_check(t, y, want, TUT_CLOSE) || tut_cost(t, mode == PLD_AUTO ? NULL : bytes);
}

int main(int argc, char **argv)
{
	const struct tut_step step = { .name = "11_allreduce_reveal",
				       .modes = "mesh,two_phase,ring,auto",
				       .devices = "0,1,2,3",
				       .size = 64,
				       .run = run };

	return tut_main(argc, argv, &step);
}
