/* levels.c - host, device, in-core: who runs what, in which order, and what lives how long. */
#include "config.h"

#include "multi.h"

/* ---- who runs what --------------------------------------------------------------------------- */

/* What one rank has run, in order. */
struct log {
	int n, item[64];
	int evaluated; /* arguments of dispatches */
};

static int argument(struct log *log, int v)
{
	log->evaluated++;
	return v;
}

static void note(struct log *log, int item)
{
	log->item[log->n++] = item;
}

static void note_on_device(struct log *log, int item)
{
	PLD_INCORE(note(log, item));
	PLD_INCORE(note(log, item + 1000));
}

/* Items for ranks in any order, several for some; item k goes to rank 5 k % P. */
static void order_host(struct log *log, int n)
{
	for (int k = 0; k < 20; k++)
		PLD_DISPATCH(5 * k % n, note_on_device(log, argument(log, k)));
}

/* Each rank runs its items in the program's order, and evaluates nothing of the others'. */
static void order(const struct multi *m)
{
	struct log log = { 0 };
	int at = 0;

	expect_status(m, "PLD_HOST", PLD_HOST(order_host(&log, m->n)), PL_OK);
	for (int k = 0; k < 20; k++) {
		if (5 * k % m->n != m->me)
			continue;
		expect_int(m, "first kernel of item", k, log.item[2 * at], k);
		expect_int(m, "second kernel of item", k, log.item[2 * at + 1], k + 1000);
		at++;
	}
	expect_int(m, "kernels", 0, log.n, 2 * at);
	expect_int(m, "arguments evaluated", 0, log.evaluated, at);
}

/* ---- literal and permuted devices ------------------------------------------------------------ */

struct binary {
	pl_tensor a, b, y;
};

static void add_kernel(pl_tensor a, pl_tensor b, pl_tensor y)
{
	pl_dims all = { 2, { pl_dim(a, 0), pl_dim(a, 1) } };

	pl_store(pl_add(pl_load(a, PL_AT(0, 0), &all), pl_load(b, PL_AT(0, 0), &all)), PL_AT(0, 0),
		 y);
}

static void sub_kernel(pl_tensor a, pl_tensor b, pl_tensor y)
{
	pl_dims all = { 2, { pl_dim(a, 0), pl_dim(a, 1) } };

	pl_store(pl_sub(pl_load(a, PL_AT(0, 0), &all), pl_load(b, PL_AT(0, 0), &all)), PL_AT(0, 0),
		 y);
}

static void add_device(pl_tensor a, pl_tensor b, pl_tensor y)
{
	PLD_INCORE(add_kernel(a, b, y));
}

static void sub_device(pl_tensor a, pl_tensor b, pl_tensor y)
{
	PLD_INCORE(sub_kernel(a, b, y));
}

/* EX-2: two literal devices, two functions. */
static void literal_host(const struct binary *g)
{
	PLD_DISPATCH(1, sub_device(g->a, g->b, pl_at(g->y, 1)));
	PLD_DISPATCH(0, add_device(g->a, g->b, pl_at(g->y, 0)));
}

static void literal(const struct multi *m)
{
	struct binary g = { pld_host_tensor(PL_SHAPE(128, 128), PL_FP32),
			    pld_host_tensor(PL_SHAPE(128, 128), PL_FP32),
			    pld_host_tensor(PL_SHAPE(2, 128, 128), PL_FP32) };

	for (int k = 0; m->me == 0 && k < 128 * 128; k++) {
		pl_write(g.a, PL_AT(k / 128, k % 128), 5);
		pl_write(g.b, PL_AT(k / 128, k % 128), 3);
	}
	PLD_HOST(literal_host(&g));
	for (int k = 0; k < 128 * 128; k++) {
		expect_float(m, "a + b", k, pl_read_float(g.y, PL_AT(0, k / 128, k % 128)), 8);
		expect_float(m, "a - b", k, pl_read_float(g.y, PL_AT(1, k / 128, k % 128)), 2);
	}
	pld_host_free(g.y);
	pld_host_free(g.b);
	pld_host_free(g.a);
}

static void who(pl_tensor x, pl_tensor y)
{
	int rank = pld_rank(pld_world());

	for (int k = 0; k < 8; k++)
		pl_write(y, PL_AT(0, k), pl_read_int(x, PL_AT(0, k)) + 100 * rank);
}

static void who_device(pl_tensor x, pl_tensor y)
{
	PLD_INCORE(who(x, y));
}

static void permuted_host(pl_tensor x, pl_tensor y, int turn)
{
	int n = (int)pld_world_size();

	for (int i = 0; i < n; i++)
		PLD_DISPATCH(n - 1 - (i + turn) % n, who_device(pl_at(x, i), pl_at(y, i)));
}

/* EX-9: slice i on another rank; what the kernel adds tells on which. */
static void permuted(const struct multi *m)
{
	pl_tensor x = pld_host_tensor(PL_SHAPE(m->n, 1, 8), PL_INT32);
	pl_tensor y = pld_host_tensor(PL_SHAPE(m->n, 1, 8), PL_INT32);

	for (int i = 0; m->me == m->n - 1 && i < m->n; i++)
		for (int k = 0; k < 8; k++)
			pl_write(x, PL_AT(i, 0, k), 10000 * i + k);
	for (int turn = 0; turn < 3; turn++) {
		PLD_HOST(permuted_host(x, y, turn));
		for (int i = 0; i < m->n; i++)
			for (int k = 0; k < 8; k++)
				expect_int(m, "y", i * 8 + k, pl_read_int(y, PL_AT(i, 0, k)),
					   10000 * i + k + 100 * (m->n - 1 - (i + turn) % m->n));
		pld_barrier(pld_world());
	}
	pld_host_free(y);
	pld_host_free(x);
}

/* ---- collectives between dispatches and inside kernels --------------------------------------- */

static void stage(pld_tensor w, int v)
{
	pl_write(w, PL_AT(0), v);
}

static void stage_device(pld_tensor w, int v)
{
	PLD_INCORE(stage(w, v));
}

static void consume(pld_tensor w, pld_tensor signal, pl_tensor y)
{
	pld_ctx ctx = pld_get_comm_ctx(w);
	int next = (pld_rank(ctx) + 1) % pld_nranks(ctx);
	pl_tile t = pld_remote_load(w, next, PL_AT(0), PL_SHAPE(1));

	pl_store(t, PL_AT(0), y);
	pld_barrier(signal); /* in a kernel, on cells: all have read */
}

static void consume_device(pld_tensor w, pld_tensor signal, pl_tensor y)
{
	PLD_INCORE(consume(w, signal, y));
}

/* HT-11, HT-12: publish, barrier in the host body, consume; again with other data. */
static void publish_host(pl_tensor y, int rounds)
{
	int n = (int)pld_world_size();
	pld_tensor w = pld_new_window(PL_SHAPE(1), PL_INT32);
	pld_tensor signal = pld_new_window(PL_SHAPE(n, 1), PL_INT32);

	for (int k = 0; k < rounds; k++) {
		for (int r = 0; r < n; r++)
			PLD_DISPATCH(r, stage_device(w, 1000 * k + r));
		pld_barrier(signal);
		for (int r = 0; r < n; r++)
			PLD_DISPATCH(r, consume_device(w, signal, pl_at(pl_at(y, k), r)));
	}
}

static void collectives(const struct multi *m)
{
	enum { TIMES = 5 };
	pl_tensor y = pld_host_tensor(PL_SHAPE(TIMES, m->n, 1), PL_INT32);

	expect_status(m, "PLD_HOST", PLD_HOST(publish_host(y, TIMES)), PL_OK);
	for (int k = 0; k < TIMES; k++)
		for (int r = 0; r < m->n; r++)
			expect_int(m, "y", k * m->n + r, pl_read_int(y, PL_AT(k, r, 0)),
				   1000 * k + (r + 1) % m->n);
	pld_host_free(y);
}

/* ---- what lives how long --------------------------------------------------------------------- */

struct made {
	pld_ctx alone; /* this rank's own domain */
	pld_tensor host, job;
	pld_buffer sub;
	int seen; /* elements that were not zero when new */
};

static void dirty(pld_tensor t)
{
	for (int k = 0; k < 100; k++)
		pl_write(t, PL_AT(k), k + 1);
}

static int not_zero(pld_tensor t)
{
	int n = 0;

	for (int k = 0; k < 100; k++)
		n += pl_read_int(t, PL_AT(k)) != 0;
	return n;
}

static void make_host(struct made *g)
{
	g->host = pld_new_window(PL_SHAPE(100), PL_INT32);
	g->seen = not_zero(g->host);
	if (!g->job.as_)
		g->job = pld_new_window(PL_SHAPE(100), PL_INT32, .keep = PLD_KEEP_JOB);
	g->sub = pld_alloc_window_buffer(.bytes = 5000, .domain = g->alone);
	dirty(g->host);
	pld_free_window_buffer(g->sub);
	g->sub = pld_alloc_window_buffer(.bytes = 50000, .domain = g->alone); /* left to the end */
}

static void expect_dirty(const struct multi *m, const char *what, pld_tensor t)
{
	for (int k = 0; k < 100; k++)
		expect_int(m, what, k, pl_read_int(t, PL_AT(k)), k + 1);
}

/* Buffers of a PLD_HOST go with it, new ones are zero; kept and older ones stay as they are. */
static void lifetimes(const struct multi *m)
{
	pld_tensor before = pld_new_window(PL_SHAPE(100), PL_INT32);
	struct made g = { .alone = pld_domain_subset(pld_world(), &m->me, 1), .seen = -1 };

	dirty(before);
	for (int k = 0; k < 4; k++) {
		PLD_HOST(make_host(&g));
		if (k == 0)
			dirty(g.job);
		expect_int(m, "elements of the new window that were not 0", k, g.seen, 0);
		expect_dirty(m, "kept window", g.job);
		expect_dirty(m, "older window", before);
		pl_set_errors(PL_ERRORS_RETURN);
		expect_int(m, "read of a freed one", k, pl_read_int(g.host, PL_AT(0)), 0);
		expect_error(m, "read of a freed one", PL_EINVAL, "freed at");
		expect_status(m, "the rank's own one", pld_free_window_buffer(g.sub), PL_EINVAL);
		pl_set_errors(PL_ERRORS_END);
	}
	pld_free_window(g.job);
	pld_free_window(before);
	pld_domain_free(g.alone); /* has no windows any more */
}

/* A tile ends with its kernel. */
static void make_tile(pl_tile *t)
{
	*t = pl_full(PL_SHAPE(4), PL_INT32, 9);
}

static void use_tile(const struct multi *m, pl_tile t)
{
	int32_t memory[4] = { 0 };

	expect_status(m, "a tile of another kernel",
		      pl_store(t, PL_AT(0), pl_wrap(memory, PL_SHAPE(4), PL_INT32)), PL_EINVAL);
	expect_int(m, "memory", 0, memory[0], 0);
}

static void two_kernels(const struct multi *m)
{
	pl_tile t;

	PLD_INCORE(make_tile(&t));
	PLD_INCORE(use_tile(m, t));
}

static void tile_host(const struct multi *m)
{
	PLD_DISPATCH(m->me, two_kernels(m));
}

static void tile_lifetime(const struct multi *m)
{
	pl_set_errors(PL_ERRORS_RETURN);
	expect_status(m, "PLD_HOST", PLD_HOST(tile_host(m)), PL_EINVAL);
	pl_set_errors(PL_ERRORS_END);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "order", order, 0 },
		{ "literal devices", literal, 2 },
		{ "permuted devices", permuted, 0 },
		{ "collectives", collectives, 0 },
		{ "lifetimes", lifetimes, 0 },
		{ "tile lifetime", tile_lifetime, 0 },
	};

	return multi_run("levels", cases, ROWS(cases));
}
