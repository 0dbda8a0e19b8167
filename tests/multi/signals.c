/* signals.c - notify: both operations, every cell of any window, many writers, order of data. */
#include "config.h"

#include "multi.h"

#define CELL PL_AT(0)

/* One cell a rank. */
static pld_tensor one_cell(void)
{
	return pld_new_window(PL_SHAPE(1), PL_INT32);
}

static int64_t cell(pld_tensor s)
{
	return pl_read_int(s, CELL);
}

/* ---- operations ------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	struct {
		int32_t value;
		pld_notify_op op;
	} step[4];
	int steps;
	int32_t wanted;
} operations[] = {
	{ "add", { { 5, PLD_NOTIFY_ADD }, { 7, PLD_NOTIFY_ADD } }, 2, 12 },
	{ "negative add", { { 5, PLD_NOTIFY_ADD }, { -7, PLD_NOTIFY_ADD } }, 2, -2 },
	{ "add 0", { { 0, PLD_NOTIFY_ADD } }, 1, 0 },
	{ "set", { { 5, PLD_NOTIFY_SET } }, 1, 5 },
	{ "set twice", { { 5, PLD_NOTIFY_SET }, { -9, PLD_NOTIFY_SET } }, 2, -9 },
	{ "set 0", { { 3, PLD_NOTIFY_ADD }, { 0, PLD_NOTIFY_SET } }, 2, 0 },
	{ "set, then add", { { 5, PLD_NOTIFY_SET }, { 1, PLD_NOTIFY_ADD } }, 2, 6 },
	{ "add, set, add",
	  { { 9, PLD_NOTIFY_ADD }, { 1, PLD_NOTIFY_SET }, { 2, PLD_NOTIFY_ADD } },
	  3,
	  3 },
	{ "wraps up", { { INT32_MAX, PLD_NOTIFY_SET }, { 1, PLD_NOTIFY_ADD } }, 2, INT32_MIN },
	{ "wraps down", { { INT32_MIN, PLD_NOTIFY_SET }, { -1, PLD_NOTIFY_ADD } }, 2, INT32_MAX },
	{ "adds the least",
	  { { -1, PLD_NOTIFY_SET }, { INT32_MIN, PLD_NOTIFY_ADD } },
	  2,
	  INT32_MAX },
};

/* Each rank on the cell of the next one; then on its own. */
static void one_writer(const struct multi *m)
{
	for (int to_self = 0; to_self < 2; to_self++) {
		int peer = to_self ? m->me : multi_next(m);

		for (int i = 0; i < ROWS(operations); i++) {
			pld_tensor s = one_cell();

			for (int k = 0; k < operations[i].steps; k++)
				expect_status(m, operations[i].name,
					      pld_notify(s, peer, CELL, operations[i].step[k].value,
							 operations[i].step[k].op),
					      PL_OK);
			pld_wait(s, CELL, operations[i].wanted, PLD_WAIT_EQ);
			pld_barrier(pld_world());
			expect_int(m, operations[i].name, 0, cell(s), operations[i].wanted);
			pld_free_window(s);
		}
	}
}

/* Everyone adds to everyone's one cell, some of it negative: no addition is lost. */
static void many_writers(const struct multi *m)
{
	enum { ROUNDS = 2000 };
	pld_tensor s = one_cell();
	int64_t wanted = 0;

	for (int k = 0; k < ROUNDS; k++)
		for (int peer = 0; peer < m->n; peer++)
			pld_notify(s, peer, CELL, k % 3 ? m->me + 1 : -1, PLD_NOTIFY_ADD);
	for (int r = 0; r < m->n; r++)
		for (int k = 0; k < ROUNDS; k++)
			wanted += k % 3 ? r + 1 : -1;
	pld_barrier(pld_world());
	expect_int(m, "cell", 0, cell(s), wanted);
	pld_free_window(s);
}

/* Thresholds that grow: the peer goes on as soon as it likes, so >= and nothing is reset. */
static void thresholds(const struct multi *m)
{
	pld_tensor s = one_cell();
	uint64_t random = multi_seed(1, (uint64_t)m->me, 0);
	int sum = 0;

	for (int k = 1; k <= 500; k++) {
		pld_notify(s, multi_next(m), CELL, k, PLD_NOTIFY_ADD);
		sum += k;
		pld_wait(s, CELL, sum, PLD_WAIT_GE);
		expect_true(m, "cell has reached the threshold", cell(s) >= sum);
		multi_delay(&random);
	}
	pld_barrier(pld_world());
	expect_int(m, "cell", 0, cell(s), sum);
	pld_free_window(s);
}

/* Numbers of any sign to and fro in cells of one writer, one cell each way, by Set and ==. */
static void ping_pong(const struct multi *m)
{
	static const int32_t sent[] = { 1, -1, INT32_MAX, INT32_MIN, 7, 0 };
	pld_tensor s = pld_new_window(PL_SHAPE(2), PL_INT32);
	int peer = m->me ^ 1;

	for (int k = 0; peer < m->n && k < 600; k++) {
		int32_t v = sent[k % ROWS(sent)];

		if (m->me % 2 == 0)
			pld_notify(s, peer, PL_AT(0), v, PLD_NOTIFY_SET);
		pld_wait(s, PL_AT(m->me % 2 ? 0 : 1), v, PLD_WAIT_EQ);
		if (m->me % 2)
			pld_notify(s, peer, PL_AT(1), v, PLD_NOTIFY_SET);
	}
	pld_barrier(pld_world());
	pld_free_window(s);
}

/* ---- cells of windows of any shape ----------------------------------------------------------- */

static const pl_dims shapes[] = {
	{ 1, { 7 } },
	{ 2, { 3, 5 } },
	{ 2, { 6, 1 } },
	{ 3, { 2, 3, 4 } },
	{ 4, { 2, 1, 3, 2 } },
	{ 5, { 2, 2, 1, 2, 2 } },
	{ 6, { 2, 2, 2, 1, 3, 2 } },
};

/* Index of the k-th element in row-major order. */
static pl_dims index_of(const pl_dims *shape, int64_t k)
{
	pl_dims at = { shape->n, { 0 } };

	for (int i = (int)shape->n - 1; i >= 0; i--) {
		at.d[i] = k % shape->d[i];
		k /= shape->d[i];
	}
	return at;
}

static void every_cell(const struct multi *m)
{
	for (int i = 0; i < ROWS(shapes); i++) {
		pld_tensor s = pld_new_window(&shapes[i], PL_INT32);
		const int32_t *own = pld_ptr(s, m->me);
		int64_t count = pl_count(pld_local(s));

		for (int64_t k = 0; k < count; k++) {
			pl_dims at = index_of(&shapes[i], k);

			pld_notify(s, multi_next(m), &at, (int32_t)(100 * m->me + k + 1),
				   PLD_NOTIFY_ADD);
		}
		for (int64_t k = 0; k < count; k++) {
			pl_dims at = index_of(&shapes[i], k);
			int32_t wanted = (int32_t)(100 * multi_prev(m) + k + 1);

			pld_wait(s, &at, wanted, PLD_WAIT_EQ);
			expect_int(m, "element", k, own[k], wanted);
		}
		pld_barrier(pld_world());
		pld_free_window(s);
	}
}

/* Cells of a column, of a box, of one row: the view's index, the window's element. */
static void cells_of_views(const struct multi *m)
{
	pld_tensor s = pld_new_window(PL_SHAPE(4, 6), PL_INT32);
	pld_tensor box = pl_slice(s, PL_AT(1, 2), PL_SHAPE(3, 4));
	pld_tensor column = pl_slice(box, PL_AT(0, 3), PL_SHAPE(3, 1));
	pld_tensor row = pl_at(box, 2);
	const int32_t *own = pld_ptr(s, m->me);
	int next = multi_next(m);

	pld_notify(box, next, PL_AT(0, 0), 1, PLD_NOTIFY_ADD);
	pld_notify(column, next, PL_AT(1, 0), 2, PLD_NOTIFY_ADD);
	pld_notify(row, next, PL_AT(1), 3, PLD_NOTIFY_SET);
	pld_wait(row, PL_AT(1), 3, PLD_WAIT_EQ);
	pld_wait(column, PL_AT(1, 0), 2, PLD_WAIT_EQ);
	pld_wait(box, PL_AT(0, 0), 1, PLD_WAIT_EQ);
	for (int k = 0; k < 24; k++)
		expect_int(m, "element", k, own[k],
			   k == 1 * 6 + 2   ? 1
			   : k == 2 * 6 + 5 ? 2
			   : k == 3 * 6 + 3 ? 3
					    : 0);
	pld_barrier(pld_world());
	pld_free_window(s);
}

/* ---- data before signal ---------------------------------------------------------------------- */

#define WORDS 61 /* crosses lines, ends inside one */

enum way { BY_POINTER, BY_STORE, BY_PUT, BY_REMOTE_STORE, BY_FUSED, WAYS };

static void send(enum way way, pld_tensor data, pld_tensor s, int peer, int32_t v)
{
	int32_t words[WORDS];
	volatile int32_t *there = pld_ptr(data, peer);

	for (int i = 0; i < WORDS; i++)
		words[i] = v + i;
	switch (way) {
	case BY_POINTER:
		for (int i = 0; i < WORDS; i++)
			there[i] = words[i];
		break;
	case BY_FUSED:
		pld_put(data, peer, pl_wrap(words, PL_SHAPE(WORDS), PL_INT32), .signal = s,
			.signal_at = CELL);
		return;
	case BY_STORE: { /* through a local tensor over the peer's memory */
		pl_tensor theirs = pl_wrap(pld_ptr(data, peer), PL_SHAPE(WORDS), PL_INT32);

		pl_copy(theirs, pl_wrap(words, PL_SHAPE(WORDS), PL_INT32));
		break;
	}
	case BY_PUT:
		pld_put(data, peer, pl_wrap(words, PL_SHAPE(WORDS), PL_INT32));
		break;
	default:
		PL_SCOPE {
			pl_tensor w = pl_wrap(words, PL_SHAPE(WORDS), PL_INT32);

			pld_remote_store(pl_load(w, CELL, PL_SHAPE(WORDS)), data, peer, CELL);
		}
	}
	pld_notify(s, peer, CELL, 1, PLD_NOTIFY_ADD);
}

/* Rounds of: fill the next rank's slice, tell it; it looks, and says that it has looked. */
static void data_then_signal(const struct multi *m)
{
	pld_tensor data = pld_new_window(PL_SHAPE(WORDS), PL_INT32);
	pld_tensor full = one_cell(), empty = one_cell();
	const volatile int32_t *own = pld_ptr(data, m->me);

	for (int k = 1; k <= 1000; k++) {
		send((enum way)(k % WAYS), data, full, multi_next(m), 1000 * m->me + k);
		pld_wait(full, CELL, k, PLD_WAIT_GE);
		for (int i = 0; i < WORDS; i++)
			expect_int(m, "word", i, own[i], 1000 * multi_prev(m) + k + i);
		pld_notify(empty, multi_prev(m), CELL, 1, PLD_NOTIFY_ADD);
		pld_wait(empty, CELL, k, PLD_WAIT_GE);
	}
	pld_free_window(data);
	pld_free_window(full);
	pld_free_window(empty);
}

/* Rank 0 writes at the last rank and tells only rank 1; the news goes rank by rank: what the first
 * has written is there when the last one hears. */
static void by_third_parties(const struct multi *m)
{
	pld_tensor data = pld_new_window(PL_SHAPE(WORDS), PL_INT32), s = one_cell();
	int last = m->n - 1;
	volatile int32_t *there = pld_ptr(data, last);

	for (int k = 1; k <= 300; k++) {
		for (int i = 0; m->me == 0 && i < WORDS; i++)
			there[i] = k * 100 + i;
		if (m->me > 0)
			pld_wait(s, CELL, k, PLD_WAIT_GE);
		for (int i = 0; m->me == last && i < WORDS; i++)
			expect_int(m, "word", i, there[i], k * 100 + i);
		pld_notify(s, multi_next(m), CELL, 1, PLD_NOTIFY_ADD);
		if (m->me == 0)
			pld_wait(s, CELL, k, PLD_WAIT_GE);
	}
	pld_barrier(pld_world());
	pld_free_window(data);
	pld_free_window(s);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "one writer", one_writer, 0 },
		{ "many writers", many_writers, 0 },
		{ "growing thresholds", thresholds, 0 },
		{ "ping-pong", ping_pong, 0 },
		{ "every cell", every_cell, 0 },
		{ "cells of views", cells_of_views, 0 },
		{ "data then signal", data_then_signal, 0 },
		{ "by third parties", by_third_parties, 0 },
	};

	return multi_run("signals", cases, ROWS(cases));
}
