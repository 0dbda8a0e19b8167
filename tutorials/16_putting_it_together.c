/*
 * Step 16 of 16: three collectives and some arithmetic in one kernel.
 *
 * You know: 11 all-reduce, 12 broadcast, 13 all-gather, and how each uses a signal.
 * New here: one after the other; three signals, or one for all three.
 * Picture:  weights from the root, the sum of everybody's x, everybody's x times the weights.
 *
 *     the root's w  --- broadcast --> w --------------------+
 *     everybody's x --- allreduce --> allred = x0 + x1 + .. |
 *     everybody's x --- allgather --> [ x0 x1 .. ] -------- * --> gathered = [ x0 w, x1 w, .. ]
 *
 * Cost:     2 (P-1) B bytes moved a rank, and B more by each but the root, B = 4 --size.
 * Run:      pldrun -n 4 ./16_putting_it_together
 *           ./16_putting_it_together -d 0,1,2 --mode one --size 1000 --repeat 200
 * Prints:   the bytes that each rank has moved, those of the formula, and OK
 * Try:      PLD_RING: what does pld say about the signal, and what does it take to please it?
 */
#include "common/tut.h"
#define ROOT 0

/* 1. A window and a signal for each collective. */
struct windows {
	pld_tensor w, ar, ag, signal[3];
};

/* 2. The root stages the weights; broadcast. */
static void share(pl_tensor w, const struct windows *win, int turn)
{
	const pl_dims *at = PL_AT(0, 0), *all = PL_SHAPE(1, pl_dim(w, 1));

	if (pld_rank(pld_get_comm_ctx(win->w)) == ROOT)
		pl_store(pl_mul(pl_load(w, at, all), turn), at, win->w);
	pld_broadcast(win->w, .signal = win->signal[0], .root = ROOT);
}

/* 3. Stage x, all-reduce, store. */
static void reduce(pl_tensor x, pl_tensor allred, const struct windows *win, int turn)
{
	const pl_dims *at = PL_AT(0, 0), *all = PL_SHAPE(1, pl_dim(x, 1));

	pl_store(pl_mul(pl_load(x, at, all), turn), at, win->ar);
	pld_allreduce(win->ar, .signal = win->signal[1], .op = PLD_SUM, .mode = PLD_MESH);
	pl_store(pl_add(pl_load(allred, at, all), pl_load(win->ar, at, all)), at, allred);
}

/* 4. All-gather x; each row times the weights, which every rank has in its own slice. */
static void gather(pl_tensor x, pl_tensor gathered, const struct windows *win)
{
	const pl_dims *one = PL_SHAPE(1, pl_dim(x, 1));
	pl_tile w = pl_load(win->w, PL_AT(0, 0), one);

	pld_allgather(x, win->ag, .signal = win->signal[2]);
	for (int p = 0; p < pld_nranks(pld_get_comm_ctx(win->ag)); p++) {
		const pl_dims *at = PL_AT(0, p * pl_dim(x, 1));
		pl_tile row = pl_mul(pl_load(win->ag, PL_AT(p, 0), one), w);

		pl_store(pl_add(pl_load(gathered, at, one), row), at, gathered);
	}
}

/* 5. The kernel, and its uses back to back. */
static void compose(pl_tensor x, pl_tensor w, pl_tensor allred, pl_tensor gathered,
		    const struct windows *win, int turn)
{
	share(w, win, turn);
	reduce(x, allred, win, turn);
	gather(x, gathered, win);
}

static void device(pl_tensor x, pl_tensor w, pl_tensor allred, pl_tensor gathered,
		   const struct windows *win, int uses)
{
	for (int k = 1; k <= uses; k++)
		PLD_INCORE(compose(x, w, allred, gathered, win, tut_turn(k, uses)));
}

/* 6. w goes to every rank; only the root looks at it. */
static void host(const struct tut *t, pl_tensor w, pl_tensor allred, pl_tensor gathered)
{
	int64_t n = pl_dynamic("NR");
	struct windows win;

	win.w = pld_new_window(PL_SHAPE(1, t->size), PL_FP32);
	win.ar = pld_new_window(PL_SHAPE(1, t->size), PL_FP32);
	win.ag = pld_new_window(PL_SHAPE(n, t->size), PL_FP32);
	for (int i = 0; i < 3; i++)
		win.signal[i] = pld_new_window(PL_SHAPE(n, 1), PL_INT32);
	if (tut_mode_is(t, "one"))
		win.signal[1] = win.signal[2] = win.signal[0];
	for (int r = 0; r < n; r++)
		PLD_DISPATCH(r, device(pl_at(t->x, r), w, pl_at(allred, r), pl_at(gathered, r),
				       &win, t->repeat));
}

/* 7. x[r][j] = 100 r + j, w[j] = 1 + j.  A product is rounded once, there as here. */
static double ramp(const struct tut *t, const int64_t *at)
{
	(void)t;
	return (double)(100 * at[0] + at[2]);
}

static double want_gathered(const struct tut *t, const int64_t *at)
{
	int64_t j = at[2] % t->size;

	return (float)(pl_read_float(t->x, PL_AT(at[2] / t->size, 0, j)) * (float)(1 + j));
}

/* The builtin adds in the order of ranks, up to 16 of them: so does this, in FP32. */
static double want_allred(const struct tut *t, const int64_t *at)
{
	float sum = 0;

	for (int64_t k = 0; k < pl_dim(t->x, 0); k++)
		sum += (float)pl_read_float(t->x, PL_AT(k, 0, at[2]));
	return sum;
}

/* 8. Broadcast, all-reduce, all-gather. */
static int64_t bytes(const struct tut *t, int rank)
{
	return ((rank != ROOT) + 2 * (pl_dim(t->x, 0) - 1)) * t->size * 4;
}

static int run(struct tut *t)
{
	int64_t n = pl_dynamic("NR");
	enum tut_how how = n <= 16 ? TUT_EXACT : TUT_CLOSE;
	pl_tensor w = pld_host_tensor(PL_SHAPE(1, t->size), PL_FP32);
	pl_tensor allred = pld_host_tensor(PL_SHAPE(n, 1, t->size), PL_FP32);
	pl_tensor gathered = pld_host_tensor(PL_SHAPE(n, 1, n * t->size), PL_FP32);

	tut_input_by(t, PL_SHAPE(n, 1, t->size), ramp);
	for (int64_t j = 0; pld_rank(pld_world()) == 0 && j < t->size; j++)
		pl_write(w, PL_AT(0, j), (float)(1 + j));
	PLD_HOST(host(t, w, allred, gathered));
	return tut_check(t, gathered, want_gathered, TUT_EXACT) ||
	       tut_check_too(t, "allred", allred, want_allred, how) || tut_cost(t, bytes);
}

int main(int argc, char **argv)
{
	const struct tut_step step = { .name = "16_putting_it_together",
				       .modes = "three,one",
				       .devices = "0,1",
				       .size = 64,
				       .run = run };

	return tut_main(argc, argv, &step);
}
