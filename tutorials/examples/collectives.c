/*
 * Example: the collectives that no step has room for.
 *
 * Read after: step 16.
 * Shows:    parts of different sizes: where mine begins (pld_scan), all of them on every rank
 *           (pld_allgather_v), summed up and handed out again (pld_reduce_scatter_v); one rank
 *           that collects, decides and hands out (pld_gather, pld_reduce, pld_scatter); as many
 *           rows for each peer as one has for it (pld_all_to_all_v).
 * Picture:  rank r has r + 1 rows; row i of all is number i.
 *
 *     rank 0  [0]            rank 1  [1 2]            rank 2  [3 4 5]
 *
 * Run:      pldrun -n 4 ./collectives
 * Prints:   OK
 */
#include <pld.h>
#include <stdio.h>

/* Rows of ranks before r. */
static int32_t before(int r)
{
	return r * (r + 1) / 2;
}

static int differ(pl_tensor t, int64_t i, int64_t wanted)
{
	return pl_read_int(t, PL_AT(i)) != wanted;
}

/* 1. Everybody knows its own number of rows; a scan tells where they begin and end. */
static int my_place(int me)
{
	pld_tensor at = pld_new_window(PL_SHAPE(1), PL_INT32);
	int32_t mine[1] = { me + 1 };
	pl_tensor rows = pl_wrap(mine, PL_SHAPE(1), PL_INT32);
	int bad = 0;

	pld_scan(at, .input = rows, .kind = PLD_EXCLUSIVE);
	bad |= differ(pld_local(at), 0, before(me));
	pld_scan(at, .input = rows, .kind = PLD_INCLUSIVE);
	bad |= differ(pld_local(at), 0, before(me + 1));
	return bad;
}

/* 2. Parts of any size, in rank order, to everybody; then their sum over all ranks in parts. */
static int parts(int me, int n)
{
	pld_tensor all = pld_new_window(PL_SHAPE(before(n)), PL_INT32);
	pld_tensor counts = pld_new_window(PL_SHAPE(n), PL_INT32);
	pl_tensor mine = pl_slice(pld_host_tensor(PL_SHAPE(before(n)), PL_INT32), PL_AT(before(me)),
				  PL_SHAPE(me + 1));
	int bad = 0;

	for (int i = 0; i <= me; i++)
		pl_write(mine, PL_AT(i), before(me) + i);
	pld_allgather_v(mine, all, counts);
	for (int r = 0; r < n; r++)
		bad |= differ(pld_local(counts), r, r + 1);
	for (int i = 0; i < before(n); i++)
		bad |= differ(pld_local(all), i, i);

	pld_reduce_scatter_v(all, counts);
	for (int i = before(me); i < before(me + 1); i++)
		bad |= differ(pld_local(all), i, (int64_t)n * i);
	return bad;
}

/* 3. The last rank collects what all have to say, and gives each an answer of its own. */
static int one_decides(int me, int n)
{
	pld_tensor said = pld_new_window(PL_SHAPE(n), PL_INT32);
	pld_tensor answer = pld_new_window(PL_SHAPE(1), PL_INT32);
	pld_tensor most = pld_new_window(PL_SHAPE(2), PL_INT32);
	int32_t mine[2] = { 10 * me, -me };
	int boss = n - 1, bad = 0;

	pld_gather(pl_wrap(mine, PL_SHAPE(1), PL_INT32), said, .root = boss);
	for (int r = 0; r < n && me == boss; r++) {
		bad |= differ(pld_local(said), r, 10 * r);
		pl_write(said, PL_AT(r), 10 * r + boss);
	}
	/* only the root's first operand is read; the others may as well give none */
	pld_scatter(me == boss ? pld_local(said) : (pl_tensor){ 0 }, answer, .root = boss);
	bad |= differ(pld_local(answer), 0, 10 * me + boss);

	pld_reduce(most, .input = pl_wrap(mine, PL_SHAPE(2), PL_INT32), .op = PLD_MAX,
		   .root = boss);
	if (me == boss)
		bad |= differ(pld_local(most), 0, 10 * boss) | differ(pld_local(most), 1, 0);
	pld_reduce(most, .input = pl_wrap(mine, PL_SHAPE(2), PL_INT32), .op = PLD_MIN,
		   .root = boss);
	if (me == boss)
		bad |= differ(pld_local(most), 0, 0) | differ(pld_local(most), 1, -boss);
	return bad;
}

/* 4. Room for n rows from each; rank r has d of them for rank d, and only those move. */
static int as_many_as_needed(int me, int n)
{
	pld_tensor from = pld_new_window(PL_SHAPE(n * n), PL_INT32);
	pld_tensor to = pld_new_window(PL_SHAPE(n * n), PL_INT32);
	pld_tensor sends = pld_new_window(PL_SHAPE(n), PL_INT32);
	pld_tensor received = pld_new_window(PL_SHAPE(n), PL_INT32);
	int bad = 0;

	for (int d = 0; d < n; d++) {
		pl_write(sends, PL_AT(d), d);
		for (int i = 0; i < n; i++)
			pl_write(from, PL_AT(d * n + i), 1 + me);
	}
	pld_all_to_all_v(from, to, sends, received);
	for (int s = 0; s < n; s++) {
		bad |= differ(pld_local(received), s, me);
		for (int i = 0; i < n; i++)
			bad |= differ(pld_local(to), s * n + i, i < me ? 1 + s : 0);
	}
	return bad;
}

static int body(void *arg)
{
	int me = pld_rank(pld_world()), n = pld_nranks(pld_world()), bad = 0;

	(void)arg;
	bad |= my_place(me);
	bad |= parts(me, n);
	bad |= one_decides(me, n);
	bad |= as_many_as_needed(me, n);
	if (bad)
		fprintf(stderr, "collectives: rank %d of %d got something else\n", me, n);
	else if (me == 0)
		puts("OK");
	return bad;
}

int main(void)
{
	return pld_run(NULL, body, NULL);
}
