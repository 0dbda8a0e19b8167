/*
 * Example: other ways to wait, and calls that do more than one thing.
 *
 * Read after: step 06.
 * Shows:    put with a notify in it; adding into a peer (PLD_ATOMIC_ADD); waiting with a time
 *           limit, for any of several cells, or not at all; SET and EQ where a cell has one writer.
 * Run:      pldrun -n 4 ./waiting
 * Prints:   OK
 */
#include <pld.h>
#include <stdio.h>

#define SIZE 64
#define SECOND INT64_C(1000000000)

/* Rank 0 takes work from whoever is ready, in the order in which they are. */
static int collect(pld_tensor box, pld_tensor ready, int n)
{
	struct pld_condition any[64];
	pl_dims at[64]; /* copies: what PL_AT makes ends with the loop's body */
	int left[64], nleft = 0, bad = 0;

	for (int r = 1; r < n && r < 64; r++)
		left[nleft++] = r;
	while (nleft) {
		int k;

		for (int i = 0; i < nleft; i++) {
			at[i] = *PL_AT(left[i]);
			any[i] = (struct pld_condition){ ready, &at[i], 1, PLD_WAIT_GE };
		}
		k = pld_wait_any(any, nleft, PLD_FOREVER);
		bad |= pl_read_int(box, PL_AT(left[k], SIZE - 1)) != left[k];
		left[k] = left[--nleft];
	}
	return bad;
}

/* Everybody adds to rank 0's counter; the additions are atomic, so none is lost. */
static void count_in(pld_tensor counter, pld_tensor arrived)
{
	int32_t one[1] = { 1 };

	pld_put(counter, 0, pl_wrap(one, PL_SHAPE(1), PL_INT32), .atomic = PLD_ATOMIC_ADD,
		.signal = arrived, .signal_at = PL_AT(0));
}

static int body(void *arg)
{
	pld_ctx world = pld_world();
	int me = pld_rank(world), n = pld_nranks(world), bad = 0;
	pld_tensor box = pld_new_window(PL_SHAPE(n, SIZE), PL_INT32);
	pld_tensor cell = pld_new_window(PL_SHAPE(n), PL_INT32);
	pld_tensor counter = pld_new_window(PL_SHAPE(1), PL_INT32);
	pld_tensor turn = pld_new_window(PL_SHAPE(1), PL_INT32);
	int32_t row[SIZE], back[SIZE / 2];

	(void)arg;
	/* 1. Nobody has written to me yet: ask, and wait a moment in vain. */
	bad |= pld_test(turn, PL_AT(0), 1, PLD_WAIT_GE) != 0;
	bad |= pld_wait_for(turn, PL_AT(0), 1, PLD_WAIT_GE, 1000) != PL_ETIMEDOUT;
	pld_barrier(world);

	/* 2. My row to rank 0, in blocks, and the notify behind it: one call. */
	for (int i = 0; i < SIZE; i++)
		row[i] = me;
	if (me)
		pld_put(box, 0, pl_wrap(row, PL_SHAPE(1, SIZE), PL_INT32),
			.dst_offsets = PL_AT(me, 0), .src_offsets = PL_AT(0, 0),
			.shape = PL_SHAPE(1, SIZE), .chunk_rows = 1, .chunk_cols = 16,
			.pipeline = PLD_PIPELINE_ON, .signal = cell, .signal_at = PL_AT(me),
			.signal_op = PLD_NOTIFY_SET);
	else
		bad |= collect(box, cell, n);

	/* 3. Many writers, one counter. */
	count_in(counter, turn);
	if (me == 0) {
		bad |= pld_wait_for(turn, PL_AT(0), n, PLD_WAIT_GE, 60 * SECOND) != PL_OK;
		bad |= pl_read_int(counter, PL_AT(0)) != n;
	}
	pld_barrier(world);

	/* 4. Half of my row back, from rank 0. */
	pld_get(pl_wrap(back, PL_SHAPE(1, SIZE / 2), PL_INT32), 0, box, .dst_offsets = PL_AT(0, 0),
		.src_offsets = PL_AT(me, SIZE / 2), .shape = PL_SHAPE(1, SIZE / 2));
	bad |= back[0] != me || back[SIZE / 2 - 1] != me;

	/* 5. A token goes round by SET and EQ: one writer a cell, and nobody is ahead. */
	pld_barrier(world);
	if (me)
		pld_wait(cell, PL_AT(0), 7, PLD_WAIT_EQ);
	if (me + 1 < n)
		pld_notify(cell, me + 1, PL_AT(0), 7, PLD_NOTIFY_SET);

	pld_barrier(world);
	if (me == 0 && !bad)
		puts("OK");
	return bad;
}

int main(void)
{
	return pld_run(&(struct pld_config)PLD_CONFIG(.default_ndevices = 4), body, NULL);
}
