/* host_tensors.c - tensors that are one memory for all ranks. */
#include "config.h"

#include "multi.h"

static const struct {
	const char *name;
	pl_dims shape;
	pl_dtype dtype;
} rows[] = {
	{ "one byte", { 1, { 1 } }, PL_UINT8 },
	{ "a matrix", { 2, { 9, 7 } }, PL_FP32 },
	{ "a page", { 1, { 4096 } }, PL_INT8 },
	{ "past a page", { 1, { 4097 } }, PL_INT8 },
	{ "seven dimensions", { 7, { 2, 1, 3, 2, 1, 2, 4 } }, PL_INT16 },
	{ "large", { 2, { 300, 1001 } }, PL_FP64 },
};

static size_t bytes_of(pl_tensor t)
{
	return (size_t)pl_count(t) * pl_dtype_bytes(pl_dtype_of(t));
}

/* Zeroed, also where a dirty one was; what any rank writes, all see after a barrier. */
static void one_memory(const struct multi *m)
{
	for (int i = 0; i < ROWS(rows); i++)
		for (int k = 0; k < 3; k++) {
			pl_tensor t = pld_host_tensor(&rows[i].shape, rows[i].dtype);
			unsigned char *data = pl_data(t);
			size_t bytes = bytes_of(t), wrong = 0;

			expect_int(m, rows[i].name, -1, pl_ndim(t), rows[i].shape.n);
			expect_filled(m, rows[i].name, data, 0, bytes);
			pld_barrier(pld_world());
			for (size_t b = (size_t)m->me; b < bytes; b += (size_t)m->n)
				data[b] = (unsigned char)(b * 7 + 1);
			pld_barrier(pld_world());
			for (size_t b = 0; b < bytes; b++)
				wrong += data[b] != (unsigned char)(b * 7 + 1);
			expect_int(m, rows[i].name, -2, (int64_t)wrong, 0);
			expect_status(m, "pld_host_free", pld_host_free(t), PL_OK);
		}
}

/* Several at once, freed in another order: each keeps what it has. */
static void several(const struct multi *m)
{
	enum { COUNT = 8 };
	pl_tensor t[COUNT];

	for (int i = 0; i < COUNT; i++) {
		t[i] = pld_host_tensor(PL_SHAPE(m->n, 1000 + 500 * i), PL_INT32);
		pl_write(t[i], PL_AT(m->me, 999), 100 * i + m->me);
	}
	pld_barrier(pld_world());
	for (int i = 0; i < COUNT; i++) {
		for (int k = i; k < COUNT; k++) {
			pl_tensor x = t[(k * 3) % COUNT];

			for (int r = 0; r < m->n; r++)
				expect_int(m, "element of rank", r, pl_read_int(x, PL_AT(r, 999)),
					   100 * ((k * 3) % COUNT) + r);
		}
		pld_host_free(t[(i * 3) % COUNT]);
	}
}

/* As source and destination of every local call, of put and get; a notify orders it too. */
static void used(const struct multi *m)
{
	pl_tensor x = pld_host_tensor(PL_SHAPE(m->n, 4, 8), PL_FP32);
	pl_tensor y = pld_host_tensor(PL_SHAPE(m->n, 4, 8), PL_FP32);
	pld_tensor w = pld_new_window(PL_SHAPE(4, 8), PL_FP32);
	pld_tensor s = pld_new_window(PL_SHAPE(1), PL_INT32);
	int next = multi_next(m), prev = multi_prev(m);

	PL_SCOPE {
		pl_store(pl_full(PL_SHAPE(4, 8), PL_FP32, m->me + 1), PL_AT(0, 0), pl_at(x, m->me));
	}
	pld_put(w, next, pl_at(x, m->me), .signal = s, .signal_at = PL_AT(0));
	pld_wait(s, PL_AT(0), 1, PLD_WAIT_GE);
	expect_float(m, "put from it", 0, pl_read_float(w, PL_AT(3, 7)), prev + 1);
	/* the notify came after the writer's own stores into x: they are there too */
	expect_float(m, "the writer's row", 0, pl_read_float(x, PL_AT(prev, 3, 7)), prev + 1);
	pld_get(pl_at(y, m->me), next, w);
	pld_barrier(pld_world());
	for (int r = 0; r < m->n; r++)
		expect_float(m, "got into it", r, pl_read_float(y, PL_AT(r, 2, 5)), r + 1);
	pld_barrier(pld_world());
	pld_free_window(s);
	pld_free_window(w);
	pld_host_free(y);
	pld_host_free(x);
}

static void empty(const struct multi *m)
{
	pl_tensor t = pld_host_tensor(PL_SHAPE(3, 0), PL_INT32);
	pl_tensor u = pld_host_tensor(PL_SHAPE(0), PL_FP64);

	expect_true(m, "not null", !pl_is_null(t) && !pl_is_null(u));
	expect_int(m, "elements", 0, pl_count(t) + pl_count(u), 0);
	expect_status(m, "free", pld_host_free(t), PL_OK);
	expect_status(m, "free", pld_host_free(u), PL_OK);
}

/* An empty one has no place: its free is not that of a tensor which lies where it would begin. */
static void empty_beside(const struct multi *m)
{
	for (int first = 0; first < 2; first++) {
		pl_tensor e = { NULL, NULL }, t, after;

		if (first)
			e = pld_host_tensor(PL_SHAPE(0), PL_INT32);
		t = pld_host_tensor(PL_SHAPE(5000), PL_INT32);
		if (!first)
			e = pld_host_tensor(PL_SHAPE(0), PL_INT32);
		if (m->me == 0)
			pl_write(t, PL_AT(4999), 77);
		pld_host_free(e);
		after = pld_host_tensor(PL_SHAPE(5000), PL_INT32);
		expect_true(m, "the next one lies elsewhere", pl_data(after) != pl_data(t));
		expect_int(m, "element", 4999, pl_read_int(t, PL_AT(4999)), 77);
		pld_barrier(pld_world());
		pld_host_free(after);
		expect_status(m, "free", pld_host_free(t), PL_OK);
	}
}

static void make(pl_tensor *t)
{
	*t = pld_host_tensor(PL_SHAPE(pld_world_size()), PL_INT32);
	for (int r = 0; r < pld_world_size(); r++)
		PLD_DISPATCH(r, pl_write(*t, PL_AT(r), r + 5));
}

/* Made inside PLD_HOST it stays, and the exit publishes what was written. */
static void outlives_host(const struct multi *m)
{
	pl_tensor t;

	PLD_HOST(make(&t));
	for (int r = 0; r < m->n; r++)
		expect_int(m, "element", r, pl_read_int(t, PL_AT(r)), r + 5);
	pld_host_free(t);
}

/* Only what pld_host_tensor returned can be freed, and once. */
static void wrong_frees(const struct multi *m)
{
	pl_tensor t = pld_host_tensor(PL_SHAPE(2, 4), PL_INT32);
	int32_t memory[8] = { 0 };

	pl_set_errors(PL_ERRORS_RETURN);
	expect_status(m, "a local tensor", pld_host_free(pl_wrap(memory, PL_SHAPE(8), PL_INT32)),
		      PL_EINVAL);
	expect_error(m, "a local tensor", PL_EINVAL, "not what pld_host_tensor returned");
	expect_status(m, "its end", pld_host_free(pl_at(t, 1)), PL_EINVAL);
	expect_status(m, "its beginning", pld_host_free(pl_at(t, 0)), PL_EINVAL);
	expect_status(m, "itself", pld_host_free(t), PL_OK);
	expect_status(m, "itself again", pld_host_free(t), PL_EINVAL);
	pl_set_errors(PL_ERRORS_END);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "one memory", one_memory, 0 },
		{ "several", several, 0 },
		{ "used", used, 0 },
		{ "empty", empty, 0 },
		{ "empty beside", empty_beside, 0 },
		{ "outlives PLD_HOST", outlives_host, 0 },
		{ "wrong frees", wrong_frees, 0 },
	};

	return multi_run("host_tensors", cases, ROWS(cases));
}
