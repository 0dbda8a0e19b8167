/*
 * Step 13 of 16: all slices to all: pulled by hand, pushed by the builtin, or not moved at all.
 *
 * You know: 05 pull and push, 08 stage, barrier, work, store; 12 a builtin beside its hand version.
 * New here: everybody has a part and everybody gets the whole; pld_allgather; pld_all.
 * Picture:  row p of the result is the slice of rank p, on every rank.
 *
 *     rank 0  x0 --+--> row 0 of y0, y1, y2        y0 = [ x0 x1 x2 ]
 *     rank 1  x1 --+--> row 1 of y0, y1, y2        y1 = [ x0 x1 x2 ]
 *     rank 2  x2 --+--> row 2 of y0, y1, y2        y2 = [ x0 x1 x2 ]
 *
 * Cost:     (P-1) B bytes read, or written, a rank, B = 4 --size; as a view 0; 1 barrier; N-1 more
 *           for --repeat N.
 * Run:      pldrun -n 4 ./13_allgather
 *           ./13_allgather -d 0,1,2 --mode view --size 1000 --repeat 200
 * Prints:   cost: bytes moved by rank 0, 1, ..: 768 768 768 768 (formula: 768 768 768 768)
 *           OK
 * Try:      view without its second barrier, P = 8, --repeat 200.
 */
#include "common/tut.h"

/* 1. The barrier of step 08. */
static void hand_barrier(pld_tensor signal, int credits)
{
	pld_ctx ctx = pld_get_comm_ctx(signal);
	int me = pld_rank(ctx), n = pld_nranks(ctx);

	for (int peer = 0; peer < n; peer++)
		if (peer != me)
			pld_notify(signal, peer, PL_AT(me, 0), 1, PLD_NOTIFY_ADD);
	for (int src = 0; src < n; src++)
		if (src != me)
			pld_wait(signal, PL_AT(src, 0), credits, PLD_WAIT_GE);
}

/* 2. Row p of the result. */
static void add_row(pl_tensor y, int p, pl_tile row, int64_t size)
{
	const pl_dims *at = PL_AT(0, p * size);

	pl_store(pl_add(pl_load(y, at, PL_SHAPE(1, size)), row), at, y);
}

/* 3. Pull.  Stage my slice in my row; barrier; row p from rank p, my own too. */
static void by_hand(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int k, int uses)
{
	pld_ctx ctx = pld_get_comm_ctx(data);
	const pl_dims *one = PL_SHAPE(1, pl_dim(x, 1));

	pl_store(pl_load(x, PL_AT(0, 0), one), PL_AT(pld_rank(ctx), 0), data);
	hand_barrier(signal, 2 * k - 1);
	for (int p = 0; p < pld_nranks(ctx); p++)
		add_row(y, p, pld_remote_load(data, p, PL_AT(p, 0), one), pl_dim(x, 1));
	if (k < uses)
		hand_barrier(signal, 2 * k);
}

/* 4. Push: from x, which no peer can reach, into everybody's window.  Auto: signal is null. */
static void builtin(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int k, int uses)
{
	(void)k, (void)uses;
	pld_allgather(x, data, .signal = signal);
	for (int p = 0; p < pld_nranks(pld_get_comm_ctx(data)); p++)
		add_row(y, p, pl_load(data, PL_AT(p, 0), PL_SHAPE(1, pl_dim(x, 1))), pl_dim(x, 1));
}

/* 5. Neither: after a barrier, everybody's slice is a row of one tensor.  data is [1, size]. */
static void view(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int k, int uses)
{
	const pl_dims *at = PL_AT(0, 0), *one = PL_SHAPE(1, pl_dim(x, 1));
	pl_tensor all = pld_all(data);

	pl_store(pl_load(x, at, one), at, data);
	pld_barrier(signal);
	for (int p = 0; p < pl_dim(all, 0); p++)
		add_row(y, p, pl_load(pl_at(all, p), at, one), pl_dim(x, 1));
	if (k < uses)
		pld_barrier(signal);
}

/* 6. The uses, back to back.  mine is x, turned: as in step 08, but in memory to push from. */
typedef void kernel(pl_tensor x, pl_tensor y, pld_tensor data, pld_tensor signal, int k, int uses);

static void device(pl_tensor x, pl_tensor mine, pl_tensor y, pld_tensor data, pld_tensor signal,
		   kernel *use, int uses)
{
	const pl_dims *at = PL_AT(0, 0), *all = PL_SHAPE(1, pl_dim(x, 1));

	for (int k = 1; k <= uses; k++) {
		PLD_INCORE(pl_store(pl_mul(pl_load(x, at, all), tut_turn(k, uses)), at, mine));
		PLD_INCORE(use(mine, y, data, signal, k, uses));
	}
}

static void host(const struct tut *t, pl_tensor x, pl_tensor mine, pl_tensor y)
{
	int64_t n = pl_dynamic("NR");
	int by_view = tut_mode_is(t, "view");
	pld_tensor data = pld_new_window(PL_SHAPE(by_view ? 1 : n, t->size), PL_FP32);
	pld_tensor signal = pld_new_window(PL_SHAPE(n, 1), PL_INT32);
	kernel *use = by_view ? view : tut_mode_is(t, "hand") ? by_hand : builtin;

	if (tut_mode_is(t, "auto"))
		signal = (pld_tensor){ 0 };
	for (int r = 0; r < n; r++)
		PLD_DISPATCH(r, device(pl_at(x, r), pl_at(mine, r), pl_at(y, r), data, signal, use,
				       t->repeat));
}

/* 7. x[r][j] = 100 r + j; element p size + j of every y is x[p][j]. */
static double ramp(const struct tut *t, const int64_t *at)
{
	(void)t;
	return (double)(100 * at[0] + at[2]);
}

static double want(const struct tut *t, const int64_t *at)
{
	return pl_read_float(t->x, PL_AT(at[2] / t->size, 0, at[2] % t->size));
}

/* 8. A slice from, or to, every peer; in a view it is the program that reads, not a call. */
static int64_t bytes(const struct tut *t, int rank)
{
	(void)rank;
	return tut_mode_is(t, "view") ? 0 : (pl_dim(t->x, 0) - 1) * t->size * 4;
}

static int run(struct tut *t)
{
	int64_t n = pl_dynamic("NR");
	pl_tensor x = tut_input_by(t, PL_SHAPE(n, 1, t->size), ramp);
	pl_tensor mine = pld_host_tensor(PL_SHAPE(n, 1, t->size), PL_FP32);
	pl_tensor y = pld_host_tensor(PL_SHAPE(n, 1, n * t->size), PL_FP32);

	PLD_HOST(host(t, x, mine, y));
	return tut_check(t, y, want, TUT_EXACT) ||
	       tut_cost(t, tut_mode_is(t, "auto") ? NULL : bytes);
}

int main(int argc, char **argv)
{
	const struct tut_step step = { .name = "13_allgather",
				       .modes = "hand,builtin,view,auto",
				       .devices = "0,1",
				       .size = 64,
				       .run = run };

	return tut_main(argc, argv, &step);
}
