/*
 * large.c - copies long enough to go past the caches: whole and ragged, to and from a peer; their
 * data is there when the notify is.
 */
#include "config.h"

#include "multi.h"

#define CELL PL_AT(0)
#define PAST (12 << 20) /* from here on copies are non-temporal */

/* Bytes of a copy, and where it begins on both sides. */
static const struct {
	const char *name;
	int64_t bytes, dst_at, src_at;
} rows[] = {
	{ "one short of the threshold", PAST - 1, 0, 0 },
	{ "at the threshold", PAST, 0, 0 },
	{ "not a multiple of anything", PAST + 61, 0, 0 },
	{ "destination off by 1", PAST + 63, 1, 0 },
	{ "source off by 1", PAST + 64, 0, 1 },
	{ "both off", PAST + 65, 15, 7 },
};
#define SLICE (PAST + 4096)

/* Rank r's data is the part of one long random text that begins at 64 r. */
enum { SHIFT = 64, RANKS = 64, TEXT = 2 * (PAST + 4096) + SHIFT * RANKS };
static unsigned char text[TEXT];

static unsigned char *data_of(int rank)
{
	return text + SHIFT * (rank % RANKS);
}

static void make_text(void)
{
	uint64_t state = 1;

	for (size_t i = 0; i < TEXT; i += 8) {
		uint64_t word = multi_random(&state);

		memcpy(text + i, &word, TEXT - i < 8 ? TEXT - i : 8);
	}
}

/* The last bytes first: they are the youngest. */
static void expect_text(const struct multi *m, const char *what, const unsigned char *got,
			const unsigned char *wanted, int64_t bytes)
{
	int64_t last = bytes < 1000 ? bytes : 1000;

	expect_bytes(m, what, got + bytes - last, wanted + bytes - last, (size_t)last);
	if (memcmp(got, wanted, (size_t)bytes))
		expect_bytes(m, what, got, wanted, (size_t)bytes);
}

/* The box that came from rank `from` in this row, and zeros beside it. */
static void expect_box(const struct multi *m, int row, int from, const unsigned char *got)
{
	int64_t dst = rows[row].dst_at, end = dst + rows[row].bytes;

	expect_text(m, rows[row].name, got + dst, data_of(from) + rows[row].src_at,
		    rows[row].bytes);
	expect_filled(m, rows[row].name, got, 0, (size_t)dst);
	expect_filled(m, rows[row].name, got + end, 0, (size_t)(SLICE - end));
}

/* Fused or not by turns; the receiver looks as soon as it hears, without a barrier. */
static void put_row(const struct multi *m, int row, pld_tensor w, pld_tensor s, pl_tensor src)
{
	pl_dims dst_at = *PL_AT(rows[row].dst_at), src_at = *PL_AT(rows[row].src_at);
	pl_dims shape = *PL_SHAPE(rows[row].bytes);
	int next = multi_next(m);

	if (row % 2) {
		pld_put(w, next, src, .dst_offsets = &dst_at, .src_offsets = &src_at,
			.shape = &shape);
		pld_notify(s, next, CELL, 1, row % 3 ? PLD_NOTIFY_ADD : PLD_NOTIFY_SET);
	} else {
		pld_put(w, next, src, .dst_offsets = &dst_at, .src_offsets = &src_at,
			.shape = &shape, .signal = s, .signal_at = CELL);
	}
	pld_wait(s, CELL, 1, PLD_WAIT_GE);
	expect_box(m, row, multi_prev(m), pld_ptr(w, m->me));
}

static void push(const struct multi *m)
{
	pld_tensor w = pld_new_window(PL_SHAPE(SLICE), PL_UINT8);
	pl_tensor src = pl_wrap(data_of(m->me), PL_SHAPE(SLICE), PL_UINT8);

	for (int row = 0; row < ROWS(rows); row++) {
		pld_tensor s = pld_new_window(PL_SHAPE(1), PL_INT32);

		memset(pld_ptr(w, m->me), 0, SLICE);
		pld_barrier(pld_world());
		put_row(m, row, w, s, src);
		pld_free_window(s); /* all are through */
	}
	pld_free_window(w);
}

/* Into the own slice of another window, which the rank before then reads: what a get has stored is
 * there when the getter's notify is. */
static void pull(const struct multi *m)
{
	pld_tensor w = pld_new_window(PL_SHAPE(SLICE), PL_UINT8);
	pld_tensor to = pld_new_window(PL_SHAPE(SLICE), PL_UINT8);
	int next = multi_next(m), two_on = (m->me + 2) % m->n;

	memcpy(pld_ptr(w, m->me), data_of(m->me), SLICE);
	for (int row = 0; row < ROWS(rows); row += 2) {
		pl_dims dst_at = *PL_AT(rows[row].dst_at), src_at = *PL_AT(rows[row].src_at);
		pld_tensor s = pld_new_window(PL_SHAPE(1), PL_INT32);

		memset(pld_ptr(to, m->me), 0, SLICE);
		pld_barrier(pld_world());
		pld_get(to, next, w, .dst_offsets = &dst_at, .src_offsets = &src_at,
			.shape = PL_SHAPE(rows[row].bytes));
		pld_notify(s, multi_prev(m), CELL, 1, PLD_NOTIFY_ADD);
		expect_box(m, row, next, pld_ptr(to, m->me));
		pld_wait(s, CELL, 1, PLD_WAIT_GE);
		expect_box(m, row, two_on, pld_ptr(to, next));
		pld_free_window(s);
	}
	pld_free_window(to);
	pld_free_window(w);
}

/* Long rows with gaps: each run of its own past the caches. */
static void long_rows(const struct multi *m)
{
	enum { GAP = 100, WIDTH = PAST + 33 };
	pld_tensor w = pld_new_window(PL_SHAPE(2, WIDTH), PL_UINT8);
	pl_tensor src = pl_wrap(data_of(m->me), PL_SHAPE(2, PAST + GAP), PL_UINT8);
	pld_tensor s = pld_new_window(PL_SHAPE(1), PL_INT32);
	const unsigned char *own = pld_ptr(w, m->me), *from = data_of(multi_prev(m)) + 5;

	pld_put(w, multi_next(m), src, .dst_offsets = PL_AT(0, 0), .src_offsets = PL_AT(0, 5),
		.shape = PL_SHAPE(2, WIDTH), .signal = s, .signal_at = CELL);
	pld_wait(s, CELL, 1, PLD_WAIT_GE);
	expect_text(m, "second row", own + WIDTH, from + PAST + GAP, WIDTH);
	expect_text(m, "first row", own, from, WIDTH);
	pld_barrier(pld_world());
	pld_free_window(s);
	pld_free_window(w);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "push", push, 0 },
		{ "pull", pull, 0 },
		{ "long rows", long_rows, 0 },
	};

	make_text();
	return multi_run("large", cases, ROWS(cases));
}
