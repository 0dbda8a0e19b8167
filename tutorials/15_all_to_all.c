/*
 * Step 15 of 16: something else for everybody, from everybody; then the builtin.
 *
 * You know: 04 SET for a cell with one writer, 06 put, 13 push and pull.
 * New here: P P different rows at once; put of a box; values that are set; pld_all_to_all.
 * Picture:  a transposed table; row d of rank r becomes row r of rank d.
 *
 *     rank 0   [ a0 b0 c0 ]        y0 = [ a0 a1 a2 ]
 *     rank 1   [ a1 b1 c1 ]        y1 = [ b0 b1 b2 ]
 *     rank 2   [ a2 b2 c2 ]        y2 = [ c0 c1 c2 ]
 *
 * Cost:     (P-1) B bytes written a rank, B = 4 --size; 1 barrier; N-1 more for --repeat N.
 * Run:      pldrun -n 4 ./15_all_to_all
 *           ./15_all_to_all -d 0,1,2 --mode builtin --size 1000 --repeat 200
 * Prints:   cost: bytes moved by rank 0, 1, ..: 768 768 768 768 (formula: 768 768 768 768)
 *           OK
 * Try:      begin with d = me, then me + 1 and so on around: nobody pushes where all others do.
 */
#include "common/tut.h"

/* 1. The barrier of step 08; each cell has one writer, so that a value may also be set. */
static void hand_barrier(pld_tensor signal, int value)
{
	pld_ctx ctx = pld_get_comm_ctx(signal);
	int me = pld_rank(ctx), n = pld_nranks(ctx);

	for (int peer = 0; peer < n; peer++)
		if (peer != me)
			pld_notify(signal, peer, PL_AT(me, 0), value, PLD_NOTIFY_SET);
	for (int src = 0; src < n; src++)
		if (src != me)
			pld_wait(signal, PL_AT(src, 0), value, PLD_WAIT_GE);
}

/* 2. What has come, row by row. */
static void add_rows(pl_tensor y, pld_tensor data)
{
	const pl_dims *one = PL_SHAPE(1, pl_dim(y, 1));

	for (int s = 0; s < pl_dim(y, 0); s++) {
		pl_tile row = pl_load(data, PL_AT(s, 0), one);

		pl_store(pl_add(pl_load(y, PL_AT(s, 0), one), row), PL_AT(s, 0), y);
	}
}

/* 3. Use k.  Row d of mine into row me of rank d, my own too; barrier; then all rows are there. */
static void by_hand(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int k, int uses)
{
	pld_ctx ctx = pld_get_comm_ctx(data);
	int me = pld_rank(ctx), n = pld_nranks(ctx);

	for (int d = 0; d < n; d++)
		pld_put(data, d, x, .dst_offsets = PL_AT(me, 0), .src_offsets = PL_AT(d, 0),
			.shape = PL_SHAPE(1, pl_dim(x, 1)));
	hand_barrier(signal, 2 * k - 1);
	add_rows(y, data);

	/* 4. Result consumed: nobody pushes the next use over rows that a rank still reads. */
	if (k < uses)
		hand_barrier(signal, 2 * k);
}

/* 5. The builtin, on the same window.  Auto: signal is null. */
static void builtin(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int k, int uses)
{
	(void)k, (void)uses;
	pld_all_to_all(x, data, .signal = signal);
	add_rows(y, data);
}

/* 6. The uses, back to back.  mine is x, turned, as in step 13. */
typedef void kernel(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int k, int uses);

static void device(pl_tensor x, pl_tensor mine, pl_tensor y, pld_tensor data, pld_tensor signal,
		   kernel *use, int uses)
{
	const pl_dims *at = PL_AT(0, 0), *all = PL_SHAPE(pl_dim(x, 0), pl_dim(x, 1));

	for (int k = 1; k <= uses; k++) {
		PLD_INCORE(pl_store(pl_mul(pl_load(x, at, all), tut_turn(k, uses)), at, mine));
		PLD_INCORE(use(mine, y, data, signal, k, uses));
	}
}

static void host(const struct tut *t, pl_tensor x, pl_tensor mine, pl_tensor y)
{
	int64_t n = pl_dynamic("NR");
	pld_tensor data = pld_new_window(PL_SHAPE(n, t->size), PL_FP32);
	pld_tensor signal = pld_new_window(PL_SHAPE(n, 1), PL_INT32);
	kernel *use = tut_mode_is(t, "hand") ? by_hand : builtin;

	if (tut_mode_is(t, "auto"))
		signal = (pld_tensor){ 0 };
	for (int r = 0; r < n; r++)
		PLD_DISPATCH(r, device(pl_at(x, r), pl_at(mine, r), pl_at(y, r), data, signal, use,
				       t->repeat));
}

/* 7. x[r][d][j] = 1000 r + 100 d + j; y[r][s] = x[s][r]. */
static double table(const struct tut *t, const int64_t *at)
{
	(void)t;
	return (double)(1000 * at[0] + 100 * at[1] + at[2]);
}

static double want(const struct tut *t, const int64_t *at)
{
	return pl_read_float(t->x, PL_AT(at[1], at[0], at[2]));
}

/* 8. A row to every peer. */
static int64_t bytes(const struct tut *t, int rank)
{
	(void)rank;
	return (pl_dim(t->x, 0) - 1) * t->size * 4;
}

static int run(struct tut *t)
{
	int64_t n = pl_dynamic("NR");
	pl_tensor x = tut_input_by(t, PL_SHAPE(n, n, t->size), table);
	pl_tensor mine = pld_host_tensor(PL_SHAPE(n, n, t->size), PL_FP32);
	pl_tensor y = pld_host_tensor(PL_SHAPE(n, n, t->size), PL_FP32);

	PLD_HOST(host(t, x, mine, y));
	return tut_check(t, y, want, TUT_EXACT) ||
	       tut_cost(t, tut_mode_is(t, "auto") ? NULL : bytes);
}

int main(int argc, char **argv)
{
	const struct tut_step step = { .name = "15_all_to_all",
				       .modes = "hand,builtin,auto",
				       .devices = "0,1",
				       .size = 64,
				       .run = run };

	return tut_main(argc, argv, &step);
}
