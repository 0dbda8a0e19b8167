/* atomic_add.c - additions of many ranks to the same elements: none is lost, of any dtype. */
#include "config.h"

#include "multi.h"

/*
 * Every rank adds the same small whole number several times: all partial sums are whole and small
 * enough to be exact in the dtype, so the order does not matter.  The bounds: 2048 in FP16, 256 in
 * BF16, 127 in INT8; integers of 8 bits may wrap, and then wrap alike.
 */
static int additions(pl_dtype t, int ranks)
{
	int most = t == PL_BF16 ? 256 : t == PL_FP16 ? 2048 : 60 * ranks;

	return most / ranks < 60 ? most / ranks : 60;
}

/* What n additions of 1 give in an integer of so many bytes, and in a floating dtype. */
static double sum_of(pl_dtype t, int64_t n)
{
	switch (t) {
	case PL_INT8:
		return (int8_t)n;
	case PL_UINT8:
		return (uint8_t)n;
	default:
		return (double)n;
	}
}

enum { COUNT = 37, PAIRS = 4000 /* over the number of ranks */ };

static pl_tensor filled_with(char *memory, pl_dtype t, int v)
{
	pl_tensor x = pl_wrap(memory, PL_SHAPE(COUNT), t);

	if (v < 0 && !multi_is_float(t))
		memset(memory, 0xff, COUNT * 8); /* -1 of signed ones, and what wraps to it */
	else
		for (int k = 0; k < COUNT; k++)
			multi_write(x, PL_AT(k), v);
	return x;
}

/*
 * Put into everyone's window, whole: P writers on each element.  First 1 and -1 by turns, often, so
 * that additions do meet and sums stay small; then 1 only.
 */
static void by_put(const struct multi *m)
{
	for (int i = 0; i < MULTI_DTYPES; i++) {
		pl_dtype t = multi_dtypes[i];
		pld_tensor w = pld_new_window(PL_SHAPE(COUNT), t);
		pld_tensor s = pld_new_window(PL_SHAPE(1), PL_INT32);
		char memory[2][COUNT * 8];
		pl_tensor plus = filled_with(memory[0], t, 1),
			  minus = filled_with(memory[1], t, -1);
		int rounds = additions(t, m->n);

		pld_barrier(pld_world());
		for (int k = 0; k < 2 * (PAIRS / m->n); k++)
			for (int r = 0; r < m->n; r++)
				pld_put(w, (m->me + r) % m->n, k % 2 ? minus : plus,
					.atomic = PLD_ATOMIC_ADD);
		for (int k = 0; k < rounds; k++)
			for (int r = 0; r < m->n; r++)
				pld_put(w, (m->me + r) % m->n, plus, .atomic = PLD_ATOMIC_ADD,
					.signal = s, .signal_at = PL_AT(0));
		pld_wait(s, PL_AT(0), rounds * m->n, PLD_WAIT_GE);
		for (int k = 0; k < COUNT; k++)
			expect_float(m, pl_dtype_name(t), k, multi_read(pld_local(w), PL_AT(k)),
				     sum_of(t, (int64_t)rounds * m->n));
		pld_barrier(pld_world());
		pld_free_window(s);
		pld_free_window(w);
	}
}

/* The same by tiles, to rank 0 alone, into every second column: the columns between stay. */
static void by_tile(const struct multi *m)
{
	for (int i = 0; i < MULTI_DTYPES; i++) {
		pl_dtype t = multi_dtypes[i];
		pld_tensor w = pld_new_window(PL_SHAPE(4, 6), t);
		int rounds = additions(t, m->n);

		for (int k = 0; k < rounds; k++)
			PL_SCOPE {
				pl_tile one = pl_full(PL_SHAPE(4, 1), t, 1);

				for (int c = 0; c < 6; c += 2)
					pld_remote_store(one, w, 0, PL_AT(0, c),
							 .atomic = PLD_ATOMIC_ADD);
			}
		pld_barrier(pld_world());
		for (int k = 0; k < 24; k++)
			expect_float(m, pl_dtype_name(t), k,
				     multi_read(pld_local(w), PL_AT(k / 6, k % 6)),
				     m->me == 0 && k % 6 % 2 == 0
					     ? sum_of(t, (int64_t)rounds * m->n)
					     : 0);
		pld_barrier(pld_world());
		pld_free_window(w);
	}
}

/* Neighbouring elements have different writers: an addition to one leaves the other alone. */
static void neighbours(const struct multi *m)
{
	for (int i = 0; i < MULTI_DTYPES; i++) {
		pl_dtype t = multi_dtypes[i];
		pld_tensor w = pld_new_window(PL_SHAPE(m->n, 3), t);
		char memory[3 * 8];
		pl_tensor ones = pl_wrap(memory, PL_SHAPE(1, 3), t);

		for (int k = 0; k < 3; k++)
			multi_write(ones, PL_AT(0, k), k + 1);
		for (int k = 0; k < 30; k++)
			for (int r = 0; r < m->n; r++)
				pld_put(w, r, ones, .atomic = PLD_ATOMIC_ADD,
					.dst_offsets = PL_AT(m->me, 0), .src_offsets = PL_AT(0, 0),
					.shape = PL_SHAPE(1, 3));
		pld_barrier(pld_world());
		for (int k = 0; k < 3 * m->n; k++)
			expect_float(m, pl_dtype_name(t), k,
				     multi_read(pld_local(w), PL_AT(k / 3, k % 3)),
				     30 * (k % 3 + 1));
		pld_barrier(pld_world());
		pld_free_window(w);
	}
}

/* Boxes in chunks, from a strided source, with negative numbers, by everyone at once. */
static void chunked(const struct multi *m)
{
	pld_tensor w = pld_new_window(PL_SHAPE(9, 20), PL_FP32);
	float memory[9][31];
	pl_tensor space = pl_wrap(memory, PL_SHAPE(9, 31), PL_FP32);

	for (int i = 0; i < 9; i++)
		for (int j = 0; j < 31; j++)
			memory[i][j] = (float)((i * 31 + j) * (m->me % 2 ? -1 : 2));
	for (int r = 0; r < m->n; r++)
		pld_put(w, r, space, .dst_offsets = PL_AT(1, 2), .src_offsets = PL_AT(0, 7),
			.shape = PL_SHAPE(8, 17), .atomic = PLD_ATOMIC_ADD, .chunk_rows = 3,
			.chunk_cols = 5, .pipeline = PLD_PIPELINE_ON);
	pld_barrier(pld_world());
	for (int i = 0; i < 9; i++)
		for (int j = 0; j < 20; j++) {
			int inside = i >= 1 && j >= 2 && j < 19;
			int x = (i - 1) * 31 + j - 2 + 7, twos = (m->n + 1) / 2, ones = m->n / 2;

			expect_float(m, "element", i * 20 + j, pl_read_float(w, PL_AT(i, j)),
				     inside ? x * (2 * twos - ones) : 0);
		}
	pld_barrier(pld_world());
	pld_free_window(w);
}

/* Notify and atomic put on the same INT32 cells, of all ranks at once. */
static void with_notify(const struct multi *m)
{
	enum { ROUNDS = 500 };
	pld_tensor s = pld_new_window(PL_SHAPE(4), PL_INT32);
	int32_t memory[4] = { 1, 10, 100, -1 };
	pl_tensor adds = pl_wrap(memory, PL_SHAPE(4), PL_INT32);
	int wanted[4];

	for (int k = 0; k < ROUNDS; k++) {
		int peer = (m->me + k) % m->n;

		pld_put(s, peer, adds, .atomic = PLD_ATOMIC_ADD);
		pld_notify(s, peer, PL_AT(k % 4), 1000, PLD_NOTIFY_ADD);
	}
	for (int c = 0; c < 4; c++) {
		wanted[c] = 0;
		for (int r = 0; r < m->n; r++)
			for (int k = 0; k < ROUNDS; k++)
				if ((r + k) % m->n == m->me)
					wanted[c] += memory[c] + (k % 4 == c ? 1000 : 0);
	}
	pld_barrier(pld_world());
	for (int c = 0; c < 4; c++)
		expect_int(m, "cell", c, pl_read_int(s, PL_AT(c)), wanted[c]);
	pld_free_window(s);
}

/* Integers wrap, as the machine's do; what is added is the rank's own. */
static void wraps(const struct multi *m)
{
	static const pl_dtype integers[] = { PL_INT8,  PL_INT16,  PL_INT32,  PL_INT64,
					     PL_UINT8, PL_UINT16, PL_UINT32, PL_UINT64 };

	for (int i = 0; i < ROWS(integers); i++) {
		size_t bytes = pl_dtype_bytes(integers[i]);
		pld_tensor w = pld_new_window(PL_SHAPE(2), integers[i]);
		uint64_t mine = multi_seed(31, (uint64_t)m->me, 0), sum = 0, got[2] = { 0, 0 };
		uint64_t add[2] = { mine, mine },
			 mask = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
		char packed[2 * 8];

		for (int k = 0; k < 2; k++)
			memcpy(packed + k * (int)bytes, &add[k],
			       bytes); /* low bytes: little endian */
		for (int k = 0; k < 25; k++)
			pld_put(w, 0, pl_wrap(packed, PL_SHAPE(2), integers[i]),
				.atomic = PLD_ATOMIC_ADD);
		for (int r = 0; r < m->n; r++)
			sum += 25 * multi_seed(31, (uint64_t)r, 0);
		pld_barrier(pld_world());
		for (int k = 0; k < 2; k++) {
			memcpy(&got[k], (char *)pld_ptr(w, 0) + k * (int)bytes, bytes);
			expect_true(m, pl_dtype_name(integers[i]), got[k] == (sum & mask));
		}
		pld_barrier(pld_world());
		pld_free_window(w);
	}
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "puts", by_put, 0 },
		{ "tiles", by_tile, 0 },
		{ "neighbours", neighbours, 0 },
		{ "chunked", chunked, 0 },
		{ "with notify", with_notify, 0 },
		{ "wraps", wraps, 0 },
	};

	return multi_run("atomic_add", cases, ROWS(cases));
}
