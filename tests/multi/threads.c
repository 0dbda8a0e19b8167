/* threads.c - eight threads a rank notify, wait and move data at once: all arrives, once. */
#include "config.h"

#include <pthread.h>

#include "multi.h"

enum { THREADS = 8, WORDS = 33 };

/* What a thread gets: its number and what the rank has made. */
struct thread {
	const struct multi *m;
	int t;
	pld_tensor data, cells, more;
	_Atomic int *results;
};

static void run_threads(const struct multi *m, void *(*body)(void *arg), const struct thread *as,
			int count)
{
	pthread_t id[THREADS];
	struct thread x[THREADS];
	struct multi row[THREADS];

	for (int t = 0; t < count; t++) {
		row[t] = *m;
		x[t] = *as;
		x[t].m = &row[t];
		x[t].t = t;
		if (pthread_create(&id[t], NULL, body, &x[t]))
			multi_fail(m, "pthread_create");
	}
	for (int t = 0; t < count; t++)
		pthread_join(id[t], NULL);
}

/* ---- each thread with its like in the next rank ---------------------------------------------- */

static void *ring_body(void *arg)
{
	struct thread *x = arg;
	const struct multi *m = x->m;
	pl_dims row = *PL_AT(x->t, 0), full = *PL_AT(x->t, 0), empty = *PL_AT(x->t, 1);
	int32_t words[WORDS];

	for (int k = 1; k <= 200; k++) {
		for (int i = 0; i < WORDS; i++)
			words[i] = 100000 * m->me + 1000 * x->t + k + i;
		if (k % 2)
			pld_put(x->data, multi_next(m),
				pl_wrap(words, PL_SHAPE(1, WORDS), PL_INT32), .dst_offsets = &row,
				.src_offsets = PL_AT(0, 0), .shape = PL_SHAPE(1, WORDS),
				.signal = x->cells, .signal_at = &full);
		else
			PL_SCOPE {
				pl_tensor w = pl_wrap(words, PL_SHAPE(1, WORDS), PL_INT32);
				pl_tile tile = pl_load(w, PL_AT(0, 0), PL_SHAPE(1, WORDS));

				pld_remote_store(tile, x->data, multi_next(m), &row);
				pld_notify(x->cells, multi_next(m), &full, 1, PLD_NOTIFY_ADD);
			}
		pld_wait(x->cells, &full, k, PLD_WAIT_GE);
		for (int i = 0; i < WORDS; i++)
			expect_int(m, "word", i, pl_read_int(pl_at(x->data, x->t), PL_AT(i)),
				   100000 * multi_prev(m) + 1000 * x->t + k + i);
		pld_notify(x->cells, multi_prev(m), &empty, 1, PLD_NOTIFY_ADD);
		pld_wait(x->cells, &empty, k, PLD_WAIT_GE);
	}
	return NULL;
}

static void ring(const struct multi *m)
{
	struct thread x = { .data = pld_new_window(PL_SHAPE(THREADS, WORDS), PL_INT32),
			    .cells = pld_new_window(PL_SHAPE(THREADS, 2), PL_INT32) };

	run_threads(m, ring_body, &x, THREADS);
	for (int t = 0; t < THREADS; t++)
		for (int c = 0; c < 2; c++)
			expect_int(m, "notifies", 2 * t + c, pl_read_int(x.cells, PL_AT(t, c)),
				   200);
	pld_barrier(pld_world());
	pld_free_window(x.cells);
	pld_free_window(x.data);
}

/* ---- all threads on the same cells ----------------------------------------------------------- */

enum { SENT = 300 };

/* Odd ones send, to everyone; even ones wait, on one cell, for thresholds of their own. */
static void *crowd_body(void *arg)
{
	struct thread *x = arg;
	const struct multi *m = x->m;
	int all = SENT * m->n * THREADS / 2;
	uint64_t random = multi_seed(71, (uint64_t)m->me, (uint64_t)x->t);

	if (x->t % 2) {
		for (int k = 0; k < SENT; k++) {
			multi_delay(&random);
			for (int r = 0; r < m->n; r++)
				pld_notify(x->cells, r, PL_AT(0), 1, PLD_NOTIFY_ADD);
		}
		return NULL;
	}
	for (int k = 1; k <= 10; k++) {
		int expected = all * k / 10 - x->t;

		pld_wait(x->cells, PL_AT(0), expected, PLD_WAIT_GE);
		expect_true(m, "cell has reached the threshold",
			    pl_read_int(x->cells, PL_AT(0)) >= expected);
	}
	pld_wait(x->cells, PL_AT(0), all, PLD_WAIT_EQ);
	return NULL;
}

static void crowd(const struct multi *m)
{
	struct thread x = { .cells = pld_new_window(PL_SHAPE(1), PL_INT32) };

	run_threads(m, crowd_body, &x, THREADS);
	expect_int(m, "notifies", 0, pl_read_int(x.cells, PL_AT(0)), SENT * m->n * THREADS / 2);
	pld_barrier(pld_world());
	pld_free_window(x.cells);
}

/* ---- additions, loads, waits for any --------------------------------------------------------- */

/* Everyone adds to everyone's elements in each way there is, and reads what others have. */
static void *adds_body(void *arg)
{
	struct thread *x = arg;
	const struct multi *m = x->m;
	float ones[WORDS], back[WORDS];

	for (int i = 0; i < WORDS; i++)
		ones[i] = 1;
	for (int k = 0; k < 60; k++) {
		int peer = (m->me + k + x->t) % m->n;
		pl_tensor one = pl_wrap(ones, PL_SHAPE(1, WORDS), PL_FP32);

		pld_put(x->data, peer, one, .atomic = PLD_ATOMIC_ADD);
		PL_SCOPE {
			pl_tile t = pld_remote_load(x->more, peer, PL_AT(0, 0), PL_SHAPE(1, WORDS));

			pld_remote_store(t, x->data, peer, PL_AT(0, 0), .atomic = PLD_ATOMIC_ADD);
		}
		pld_get(pl_wrap(back, PL_SHAPE(1, WORDS), PL_FP32), peer, x->more);
		for (int i = 0; i < WORDS; i++)
			expect_float(m, "read from a peer", i, back[i], 2);
		pld_notify(x->cells, peer, PL_AT(k % 4), 1, PLD_NOTIFY_ADD);
		expect_int(m, "test", k, pld_test(x->cells, PL_AT(k % 4), 0, PLD_WAIT_GE), 1);
	}
	return NULL;
}

static void adds(const struct multi *m)
{
	struct thread x = { .data = pld_new_window(PL_SHAPE(1, WORDS), PL_FP32),
			    .more = pld_new_window(PL_SHAPE(1, WORDS), PL_FP32),
			    .cells = pld_new_window(PL_SHAPE(4), PL_INT32) };
	int64_t hits = 0, notifies[4] = { 0 };

	for (int i = 0; i < WORDS; i++)
		pl_write(x.more, PL_AT(0, i), 2.0);
	for (int r = 0; r < m->n; r++)
		for (int t = 0; t < THREADS; t++)
			for (int k = 0; k < 60; k++)
				if ((r + k + t) % m->n == m->me) {
					hits++;
					notifies[k % 4]++;
				}
	pld_barrier(pld_world());
	run_threads(m, adds_body, &x, THREADS);
	pld_barrier(pld_world());
	for (int i = 0; i < WORDS; i++)
		expect_float(m, "sum", i, pl_read_float(x.data, PL_AT(0, i)), 3.0 * (double)hits);
	for (int c = 0; c < 4; c++)
		expect_int(m, "notifies", c, pl_read_int(x.cells, PL_AT(c)), notifies[c]);
	pld_barrier(pld_world());
	pld_free_window(x.cells);
	pld_free_window(x.more);
	pld_free_window(x.data);
}

/* Each thread waits for any of its two cells; the next rank's like sets one or the other. */
static void *any_body(void *arg)
{
	struct thread *x = arg;
	const struct multi *m = x->m;
	pl_dims at[2] = { *PL_AT(x->t, 0), *PL_AT(x->t, 1) }, empty = *PL_AT(x->t, 2);
	struct pld_condition c[2] = { { x->cells, &at[0], 1, PLD_WAIT_EQ },
				      { x->cells, &at[1], 1, PLD_WAIT_EQ } };

	for (int k = 1; k <= 150; k++) {
		int i = (k * 5 + x->t) % 3 % 2, rc;

		pld_notify(x->cells, multi_next(m), &at[i], 1, PLD_NOTIFY_ADD);
		do
			rc = pld_wait_any(c, 2, k % 2 ? PLD_FOREVER : 100000);
		while (rc == PL_ETIMEDOUT);
		expect_int(m, "index", k, rc, i);
		pld_notify(x->cells, m->me, &at[i], -1, PLD_NOTIFY_ADD);
		pld_notify(x->cells, multi_prev(m), &empty, 1, PLD_NOTIFY_ADD);
		pld_wait(x->cells, &empty, k, PLD_WAIT_GE);
	}
	return NULL;
}

static void any(const struct multi *m)
{
	struct thread x = { .cells = pld_new_window(PL_SHAPE(THREADS, 3), PL_INT32) };

	run_threads(m, any_body, &x, THREADS);
	pld_barrier(pld_world());
	pld_free_window(x.cells);
}

/* Views made by all threads at once, often new ones: each names its own elements, anywhere. */
static void *views_body(void *arg)
{
	struct thread *x = arg;
	const struct multi *m = x->m;

	for (int k = 0; k < 400; k++) {
		int rows = 1 + k % 20, cols = 1 + (k / 20 + x->t) % 31;
		pld_tensor box = pl_slice(x->data, PL_AT(20 - rows, 1), PL_SHAPE(rows, cols));
		pld_tensor last = pl_at(box, rows - 1);
		int32_t got = 0;

		expect_true(m, "address",
			    pl_data(pld_local(last)) ==
				    (int32_t *)pld_ptr(x->data, m->me) + 19 * 40 + 1);
		pld_get(pl_wrap(&got, PL_SHAPE(1), PL_INT32), multi_next(m), last,
			.dst_offsets = PL_AT(0), .src_offsets = PL_AT(cols - 1),
			.shape = PL_SHAPE(1));
		expect_int(m, "element", cols, got, 1000 * multi_next(m) + 19 * 40 + cols);
	}
	return NULL;
}

static void views(const struct multi *m)
{
	struct thread x = { .data = pld_new_window(PL_SHAPE(20, 40), PL_INT32) };

	for (int k = 0; k < 800; k++)
		pl_write(x.data, PL_AT(k / 40, k % 40), 1000 * m->me + k);
	pld_barrier(pld_world());
	for (int k = 0; k < 3; k++) {
		run_threads(m, views_body, &x, THREADS);
		pld_barrier(pld_world());
	}
	pld_free_window(x.data);
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Each thread has its own last error. */
static void *errors_body(void *arg)
{
	struct thread *x = arg;
	char part[32];

	for (int k = 0; k < 200; k++) {
		int wrong = 1000 + 10 * x->t + k % 10;

		snprintf(part, sizeof(part), "index (%d)", wrong);
		expect_status(x->m, "notify",
			      pld_notify(x->cells, 0, PL_AT(wrong), 1, PLD_NOTIFY_ADD), PL_EINVAL);
		sched_yield();
		expect_error(x->m, "notify", PL_EINVAL, part);
	}
	return NULL;
}

static void errors(const struct multi *m)
{
	struct thread x = { .cells = pld_new_window(PL_SHAPE(1), PL_INT32) };

	pl_set_errors(PL_ERRORS_RETURN);
	run_threads(m, errors_body, &x, THREADS);
	pl_set_errors(PL_ERRORS_END);
	expect_int(m, "cell", 0, pl_read_int(x.cells, PL_AT(0)), 0);
	pld_barrier(pld_world());
	pld_free_window(x.cells);
}

/*
 * Two threads of rank 0 want the same barrier: one is in it, the other is told so.  That one lets
 * the other ranks in, so it was told while the first was waiting.
 */
static void *barrier_body(void *arg)
{
	struct thread *x = arg;
	int rc = pld_barrier(pld_world());

	if (rc == PL_OK)
		return NULL;
	expect_error(x->m, "second thread", PL_ELEVEL, "another thread of this rank");
	++*x->results;
	for (int r = 1; r < x->m->n; r++)
		pld_notify(x->cells, r, PL_AT(0), 1, PLD_NOTIFY_ADD);
	return NULL;
}

static void two_in_a_barrier(const struct multi *m)
{
	_Atomic int refused = 0;
	struct thread x = { .cells = pld_new_window(PL_SHAPE(1), PL_INT32), .results = &refused };

	if (m->me == 0) {
		pl_set_errors(PL_ERRORS_RETURN);
		run_threads(m, barrier_body, &x, 2);
		pl_set_errors(PL_ERRORS_END);
		expect_int(m, "threads refused", 0, refused, 1);
	} else {
		pld_wait(x.cells, PL_AT(0), 1, PLD_WAIT_GE);
		pld_barrier(pld_world());
	}
	pld_free_window(x.cells);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "ring", ring, 0 },
		{ "crowd", crowd, 0 },
		{ "adds", adds, 0 },
		{ "any", any, 0 },
		{ "views", views, 0 },
		{ "errors", errors, 0 },
		{ "two in a barrier", two_in_a_barrier, 2 },
	};

	return multi_run("threads", cases, ROWS(cases));
}
