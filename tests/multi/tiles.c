/*
 * tiles.c - remote_load and remote_store: valid shapes at the end of a slice, and not a byte beside
 * them; half-precision values; windows of 1 to 6 dimensions.
 */
#include "config.h"

#include <sys/mman.h>

#include "multi.h"
#include "pldi_tile.h"

#define CANARY 0xa5

/* ---- valid shapes ---------------------------------------------------------------------------- */

/* Of a slice of 5 x 7: element (i, j) of rank r's is 1000 r + 10 i + j. */
static const struct {
	const char *name;
	int64_t at[2], shape[2], asked[2]; /* asked -1: no .valid_shape */
	int64_t valid[2];
} loads[] = {
	{ "inside, not asked", { 1, 2 }, { 3, 4 }, { -1, -1 }, { 3, 4 } },
	{ "inside, less asked", { 1, 2 }, { 3, 4 }, { 2, 3 }, { 2, 3 } },
	{ "more asked than shape", { 1, 2 }, { 3, 4 }, { 9, 9 }, { 3, 4 } },
	{ "over the last column", { 1, 5 }, { 3, 4 }, { 3, 4 }, { 3, 2 } },
	{ "over the last row", { 4, 0 }, { 3, 7 }, { 3, 7 }, { 1, 7 } },
	{ "over the corner", { 3, 4 }, { 8, 8 }, { 8, 8 }, { 2, 3 } },
	{ "the corner element", { 4, 6 }, { 4, 4 }, { 4, 4 }, { 1, 1 } },
	{ "at the end", { 5, 7 }, { 2, 2 }, { 2, 2 }, { 0, 0 } },
	{ "past the rows only", { 5, 0 }, { 2, 2 }, { 2, 2 }, { 0, 2 } },
	{ "nothing asked", { 1, 1 }, { 3, 3 }, { 0, 0 }, { 0, 0 } },
	{ "no rows asked", { 1, 1 }, { 3, 3 }, { 0, 3 }, { 0, 3 } },
	{ "empty tile", { 1, 1 }, { 0, 3 }, { 5, 3 }, { 0, 3 } },
};

static pl_tile load_row(int i, pld_tensor w, int peer)
{
	pl_dims at = { 2, { loads[i].at[0], loads[i].at[1] } };
	pl_dims shape = { 2, { loads[i].shape[0], loads[i].shape[1] } };
	pl_dims asked = { 2, { loads[i].asked[0], loads[i].asked[1] } };

	if (asked.d[0] < 0)
		return pld_remote_load(w, peer, &at, &shape);
	return pld_remote_load(w, peer, &at, &shape, .valid_shape = &asked);
}

/* The tile holds the valid part; stored, it changes nothing but that: here, and at a peer. */
static void valid_shapes(const struct multi *m)
{
	pld_tensor w = pld_new_window(PL_SHAPE(5, 7), PL_INT32);
	pld_tensor to = pld_new_window(PL_SHAPE(9, 9), PL_INT32);
	int32_t here[9][9];
	int next = multi_next(m);

	for (int k = 0; k < 35; k++)
		pl_write(w, PL_AT(k / 7, k % 7), 1000 * m->me + 10 * (k / 7) + k % 7);
	for (int i = 0; i < ROWS(loads); i++) {
		memset(here, CANARY, sizeof(here));
		memset(pld_ptr(to, m->me), CANARY, sizeof(here));
		pld_barrier(pld_world());
		PL_SCOPE {
			pl_tile t = load_row(i, w, next);

			pl_store(t, PL_AT(0, 0), pl_wrap(here, PL_SHAPE(9, 9), PL_INT32));
			pld_remote_store(t, to, next, PL_AT(0, 0));
		}
		pld_barrier(pld_world());
		for (int k = 0; k < 81; k++) {
			int a = k / 9, b = k % 9;
			int valid = a < loads[i].valid[0] && b < loads[i].valid[1];
			int32_t v = (int32_t)(10 * (loads[i].at[0] + a) + loads[i].at[1] + b);
			const int32_t untouched = (int32_t)0xa5a5a5a5;

			expect_int(m, loads[i].name, k, here[a][b],
				   valid ? 1000 * next + v : untouched);
			/* my slice was written by the rank before, with what it read of mine */
			expect_int(m, loads[i].name, k, pl_read_int(to, PL_AT(a, b)),
				   valid ? 1000 * m->me + v : untouched);
		}
		pld_barrier(pld_world());
	}
	pld_free_window(to);
	pld_free_window(w);
}

/* What was not read is zero, also where the arena held another tile before. */
static void rest_is_zero(const struct multi *m)
{
	pld_tensor w = pld_new_window(PL_SHAPE(2, 5), PL_INT32);

	for (int k = 0; k < 10; k++)
		pl_write(w, PL_AT(k / 5, k % 5), k + 1);
	pld_barrier(pld_world());
	PL_SCOPE {
		pl_full(PL_SHAPE(64, 64), PL_INT32, -1);
	}
	PL_SCOPE {
		pl_tile t = pld_remote_load(w, multi_next(m), PL_AT(1, 3), PL_SHAPE(4, 6),
					    .valid_shape = PL_SHAPE(4, 6));
		const int32_t *data = t.t_->data;

		for (int k = 0; k < 24; k++)
			expect_int(m, "element of the tile", k, data[k], k < 2 ? 9 + k : 0);
	}
	pld_barrier(pld_world());
	pld_free_window(w);
}

/* The invalid part stays out of additions at a peer, whatever is computed on it. */
static void invalid_part(const struct multi *m)
{
	pld_tensor w = pld_new_window(PL_SHAPE(1, 5), PL_FP32);
	pld_tensor sum = pld_new_window(PL_SHAPE(1, 8), PL_FP32);

	for (int k = 0; k < 5; k++)
		pl_write(w, PL_AT(0, k), (float)(k + 1));
	for (int k = 0; k < 8; k++)
		pl_write(sum, PL_AT(0, k), -0.5);
	pld_barrier(pld_world());
	PL_SCOPE {
		pl_tile t = pld_remote_load(w, multi_next(m), PL_AT(0, 2), PL_SHAPE(1, 8),
					    .valid_shape = PL_SHAPE(1, 8));

		/* of the whole tile: adding 10 makes the invalid part 10, which must not leave */
		pld_remote_store(pl_add(t, 10), sum, 0, PL_AT(0, 0), .atomic = PLD_ATOMIC_ADD);
	}
	pld_barrier(pld_world());
	for (int k = 0; k < 8; k++)
		expect_float(m, "sum", k, pl_read_float(sum, PL_AT(0, k)),
			     m->me == 0 && k < 3 ? m->n * (k + 13) - 0.5 : -0.5);
	pld_free_window(sum);
	pld_free_window(w);
}

/* ---- not a byte beside ----------------------------------------------------------------------- */

enum { PAGE = 4096 };

/*
 * A view that fills one page of each slice exactly, so that the pages before and after it can be
 * closed in this process: a byte read or written beside it is a SIGSEGV.
 */
static pld_tensor page_of(pld_buffer b, int peer, pl_dtype t)
{
	pld_tensor whole = pld_window(b, PL_SHAPE(1), PL_INT8);
	int64_t in_page = (int64_t)((uintptr_t)pld_ptr(whole, peer) % PAGE);

	return pld_window(b, PL_SHAPE(PAGE / (int64_t)pl_dtype_bytes(t)), t,
			  .offset_bytes = PAGE - in_page);
}

static void close_beside(const struct multi *m, pld_tensor page, int peer, int prot)
{
	char *at = pld_ptr(page, peer);

	if (mprotect(at - PAGE, PAGE, prot) || mprotect(at + PAGE, PAGE, prot))
		multi_fail(m, "mprotect of the pages beside a slice");
}

static void work_on_page(pld_tensor page, int peer, pl_dtype t)
{
	static char memory[3][PAGE] __attribute__((aligned(PAGE)));
	int64_t count = PAGE / (int64_t)pl_dtype_bytes(t);
	pl_tensor local = pl_wrap(memory[1], PL_SHAPE(count), t);
	struct pl_dims tail = *PL_AT(count - 3), past = *PL_SHAPE(64);

	PL_SCOPE {
		pl_tile all = pld_remote_load(page, peer, PL_AT(0), PL_SHAPE(count));
		pl_tile end = pld_remote_load(page, peer, &tail, &past, .valid_shape = &past);

		pl_store(end, &tail, local);
		pld_remote_store(end, page, peer, &tail);
		pld_remote_store(end, page, peer, &tail, .atomic = PLD_ATOMIC_ADD);
		pld_remote_store(all, page, peer, PL_AT(0));
	}
	pld_get(local, peer, page);
	pld_put(page, peer, local);
	pld_put(page, peer, local, .atomic = PLD_ATOMIC_ADD);
	pld_get(local, peer, page, .chunk_cols = 1000);
	for (int64_t n = 1; n <= 40; n++) /* short ones at both ends */
		for (int end = 0; end < 2; end++) {
			pl_dims at = *PL_AT(end ? count - n : 0);

			pld_get(local, peer, page, .dst_offsets = &at, .src_offsets = &at,
				.shape = PL_SHAPE(n));
			pld_put(page, peer, local, .dst_offsets = &at, .src_offsets = &at,
				.shape = PL_SHAPE(n));
		}
}

/* Each slice has one rank that works on it; the pages are closed in that process only. */
static void closed_pages(const struct multi *m)
{
	pld_buffer b = pld_alloc_window_buffer(.bytes = 5 * PAGE);

	for (int i = 0; i < MULTI_DTYPES; i++) {
		int peer = multi_next(m);
		pld_tensor page = page_of(b, peer, multi_dtypes[i]);

		close_beside(m, page, peer, PROT_NONE);
		work_on_page(page, peer, multi_dtypes[i]);
		close_beside(m, page, peer, PROT_READ | PROT_WRITE);
	}
	pld_barrier(pld_world());
	pld_free_window_buffer(b);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Bits of half-precision numbers travel as they are, NaNs and their payloads too. */
static void half_bits(const struct multi *m)
{
	static const pl_dtype halves[] = { PL_FP16, PL_BF16 };
	enum { ALL = 1 << 16 };
	uint16_t *back = malloc(ALL * sizeof(*back));

	for (int i = 0; i < 2; i++) {
		pld_tensor w = pld_new_window(PL_SHAPE(256, 256), halves[i]);
		uint16_t *own = pld_ptr(w, m->me);

		for (int k = 0; k < ALL; k++)
			own[k] = (uint16_t)(k + m->me);
		pld_barrier(pld_world());
		PL_SCOPE {
			pl_tile t =
				pld_remote_load(w, multi_next(m), PL_AT(0, 0), PL_SHAPE(256, 256));

			pl_store(t, PL_AT(0, 0), pl_wrap(back, PL_SHAPE(256, 256), halves[i]));
		}
		for (int k = 0; k < ALL; k++)
			expect_int(m, pl_dtype_name(halves[i]), k, back[k],
				   (uint16_t)(k + multi_next(m)));
		pld_barrier(pld_world());
		pld_free_window(w);
	}
	free(back);
}

/* Half-precision work on a peer's data: loaded, computed on in FP32, stored back at the peer. */
static void half_work(const struct multi *m)
{
	static const pl_dtype halves[] = { PL_FP16, PL_BF16 };

	for (int i = 0; i < 2; i++) {
		pld_tensor w = pld_new_window(PL_SHAPE(1, 64), halves[i]);
		pld_tensor y = pld_new_window(PL_SHAPE(1, 64), halves[i]);

		for (int k = 0; k < 64; k++)
			pl_write(w, PL_AT(0, k), (double)(k + m->me % 4));
		pld_barrier(pld_world());
		PL_SCOPE {
			pl_tile t = pld_remote_load(w, multi_next(m), PL_AT(0, 0), PL_SHAPE(1, 64));
			pl_tile x = pl_add(pl_mul(pl_cast(t, PL_FP32), 3), 0.5f);

			pld_remote_store(pl_cast(x, halves[i]), y, multi_next(m), PL_AT(0, 0));
		}
		pld_barrier(pld_world());
		for (int k = 0; k < 64; k++) {
			double exact = 3 * (k + m->me % 4) + 0.5;
			/* BF16 has 8 bits: from 128 on steps of 1, ties to even */
			double whole = (double)(int64_t)exact;
			double wanted = halves[i] == PL_FP16 || exact < 128 ? exact
					: (int64_t)whole % 2		    ? whole + 1
									    : whole;

			expect_float(m, pl_dtype_name(halves[i]), k, pl_read_float(y, PL_AT(0, k)),
				     wanted);
		}
		pld_barrier(pld_world());
		pld_free_window(y);
		pld_free_window(w);
	}
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "valid shapes", valid_shapes, 0 }, { "rest is zero", rest_is_zero, 0 },
		{ "invalid part", invalid_part, 0 }, { "closed pages", closed_pages, 0 },
		{ "half: bits", half_bits, 0 },	     { "half: work", half_work, 0 },
	};

	return multi_run("tiles", cases, ROWS(cases));
}
