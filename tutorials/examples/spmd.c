/*
 * Example: a program without levels, as in MPI or OpenSHMEM.
 *
 * Read after: step 06.
 * Shows:    pld_init to pld_finalize; a barrier over a domain; a peer's memory by address
 *           (pld_ptr) and as one tensor (pld_all), with no copy at all; buffers by the byte, two
 *           views of one buffer, and freeing before the end.
 * Run:      pldrun -n 4 ./spmd
 * Prints:   OK, 4 ranks, pld 0.1.0
 */
#include <pld.h>
#include <stdio.h>

#define SIZE 1000

/* Rank r's elements: r, r + 1, r + 2, .. */
static void fill(pl_tensor own, int me)
{
	for (int64_t i = 0; i < SIZE; i++)
		pl_write(own, PL_AT(i), me + i);
}

/* 1. A peer's elements by address: a plain load each. */
static int64_t sum_by_address(pld_tensor data, int peer)
{
	const int64_t *theirs = pld_ptr(data, peer);
	int64_t sum = 0;

	for (int64_t i = 0; i < SIZE; i++)
		sum += theirs[i];
	return sum;
}

/* 2. The same through a tensor [n, SIZE] that is every rank's slice where it lies. */
static int64_t sum_of_row(pl_tensor all, int row)
{
	int64_t sum = 0;

	for (int64_t i = 0; i < pl_dim(all, 1); i++)
		sum += pl_read_int(all, PL_AT(row, i));
	return sum;
}

int main(void)
{
	pld_ctx world;
	pld_buffer buf;
	pld_tensor data, result;
	pl_tensor sums;
	int me, n, bad = 0;

	pld_init(NULL);
	world = pld_world();
	me = pld_rank(world);
	n = pld_nranks(world);

	/* 3. One buffer, two views: SIZE numbers, and one more behind them. */
	buf = pld_alloc_window_buffer(.bytes = (SIZE + 1) * 8, .name = "numbers and sum");
	data = pld_window(buf, PL_SHAPE(SIZE), PL_INT64);
	result = pld_window(buf, PL_SHAPE(1), PL_INT64, .offset_bytes = SIZE * 8);

	/* 4. pld_local: the own slice as a plain tensor.  After the barrier all see all of it. */
	fill(pld_local(data), me);
	pld_barrier(world);
	for (int peer = 0; peer < n; peer++) {
		int64_t want = SIZE * peer + SIZE * (SIZE - 1) / 2;

		bad |= sum_by_address(data, peer) != want;
		bad |= sum_of_row(pld_all(data), peer) != want;
	}

	/* 5. Every rank's sum in a host tensor; each writes an element of its own. */
	pl_write(result, PL_AT(0), sum_by_address(data, me));
	sums = pld_host_tensor(PL_SHAPE(n), PL_INT64);
	pl_write(sums, PL_AT(me), pl_read_int(result, PL_AT(0)));
	pld_barrier(world);
	for (int peer = 0; peer < n; peer++)
		bad |= pl_read_int(sums, PL_AT(peer)) != sum_by_address(data, peer);

	/* 6. Freeing waits until all have called it, so no peer still reads. */
	pld_free_window_buffer(buf);
	pld_host_free(sums);
	if (me == 0 && !bad)
		printf("OK, %d ranks, pld %s\n", n, pld_version()); /* the library's version */
	pld_finalize();
	return bad;
}
