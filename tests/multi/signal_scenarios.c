/* signal_scenarios.c - the reference's scenarios SIG-1 to 5 and 9, with levels and dispatches. */
#include "config.h"

#include "multi.h"

/* What a dispatched function gets: the output is a host tensor, its row r is rank r's. */
struct rig {
	pld_tensor signal, data;
	pl_tensor out;
};

/* ---- SIG-1, SIG-2: tags around the ring ------------------------------------------------------ */

static void tag_kernel(const struct rig *g)
{
	pld_ctx ctx = pld_get_comm_ctx(g->signal);
	int me = pld_rank(ctx), n = pld_nranks(ctx);

	pld_notify(g->signal, (me + 1) % n, PL_AT(0, 0), me + 1, PLD_NOTIFY_ADD);
	pld_wait(g->signal, PL_AT(0, 0), 1, PLD_WAIT_GE);
	pl_write(g->out, PL_AT(me, 0, 0), pl_read_int(g->signal, PL_AT(0, 0)));
}

static void on_device(void (*kernel)(const struct rig *g), const struct rig *g)
{
	PLD_INCORE(kernel(g));
}

static void on_all(void (*kernel)(const struct rig *g), const struct rig *g)
{
	for (int r = 0; r < pld_world_size(); r++)
		PLD_DISPATCH(r, on_device(kernel, g));
}

static void expect_tags(const struct multi *m, pl_tensor out, const char *what)
{
	for (int r = 0; r < m->n; r++)
		expect_int(m, what, r, pl_read_int(out, PL_AT(r, 0, 0)), (r - 1 + m->n) % m->n + 1);
}

static void make_signal(struct rig *g, pld_keep keep)
{
	g->signal = pld_new_window(PL_SHAPE(1, 1), PL_INT32, .keep = keep);
}

static void tag_host(struct rig *g)
{
	make_signal(g, PLD_KEEP_HOST);
	on_all(tag_kernel, g);
}

static void sig_1(const struct multi *m)
{
	struct rig g = { .out = pld_host_tensor(PL_SHAPE(m->n, 1, 1), PL_INT32) };

	expect_status(m, "PLD_HOST", PLD_HOST(tag_host(&g)), PL_OK);
	expect_tags(m, g.out, "out");
	pld_host_free(g.out);
}

/* The window is made once and kept; what the second run without a clear finds shows why. */
static void sig_2(const struct multi *m)
{
	struct rig g = { .out = pld_host_tensor(PL_SHAPE(m->n, 1, 1), PL_INT32) };
	void *at;
	int tag = (m->me - 1 + m->n) % m->n + 1;

	PLD_HOST(make_signal(&g, PLD_KEEP_JOB));
	at = pld_ptr(g.signal, 0);
	for (int k = 0; k < 3; k++) {
		PLD_HOST(on_all(tag_kernel, &g));
		expect_tags(m, g.out, "out");
		expect_int(m, "cell before the clear", k, pl_read_int(g.signal, PL_AT(0, 0)), tag);
		pl_write(g.signal, PL_AT(0, 0), 0); /* PLD_HOST's entry orders it before a notify */
	}
	PLD_HOST(on_all(tag_kernel, &g));
	PLD_HOST(on_all(tag_kernel, &g));
	expect_int(m, "cell after two runs and no clear", 0, pl_read_int(g.signal, PL_AT(0, 0)),
		   2 * tag);
	expect_true(m, "the window stays where it was", at == pld_ptr(g.signal, 0));
	pld_free_window(g.signal);
	pld_host_free(g.out);
}

/* ---- SIG-3, SIG-4: credits, taken back by a notify of oneself -------------------------------- */

static void credit_kernel(const struct rig *g)
{
	pld_ctx ctx = pld_get_comm_ctx(g->signal);
	int me = pld_rank(ctx), next = (me + 1) % pld_nranks(ctx);

	for (int i = 0; i < 4; i++)
		pld_notify(g->signal, next, PL_AT(0, 0), 1, PLD_NOTIFY_ADD);
	pld_wait(g->signal, PL_AT(0, 0), 4, PLD_WAIT_GE);
	pld_notify(g->signal, me, PL_AT(0, 0), -4, PLD_NOTIFY_ADD);
}

static void credit_host(struct rig *g)
{
	make_signal(g, PLD_KEEP_JOB);
	on_all(credit_kernel, g);
}

static void sig_3(const struct multi *m)
{
	struct rig g = { 0 };

	PLD_HOST(credit_host(&g));
	expect_int(m, "cell", 0, pl_read_int(g.signal, PL_AT(0, 0)), 0);
	pld_free_window(g.signal);
}

/* The same cell again and again, with nothing but the subtraction to restore it; then without the
 * barriers of PLD_HOST, so that a fast neighbour's next credits meet the subtraction. */
static void sig_4(const struct multi *m)
{
	struct rig g = { 0 };

	PLD_HOST(make_signal(&g, PLD_KEEP_JOB));
	for (int k = 0; k < 3; k++) {
		PLD_HOST(on_all(credit_kernel, &g));
		expect_int(m, "cell after run", k, pl_read_int(g.signal, PL_AT(0, 0)), 0);
	}
	pld_barrier(pld_world()); /* all have looked */
	for (int k = 0; k < 500; k++)
		credit_kernel(&g);
	pld_barrier(pld_world());
	expect_int(m, "cell after 500 runs", 0, pl_read_int(g.signal, PL_AT(0, 0)), 0);
	pld_free_window(g.signal);
}

/* ---- SIG-5: overlapping domains -------------------------------------------------------------- */

#define SWAP_ELEMS 64

/* Both members give the other their constant, 10 + rank in the world. */
static void swap_kernel(const struct rig *g)
{
	pld_ctx ctx = pld_get_comm_ctx(g->data);
	int me = pld_rank(ctx), other = 1 - me, world = pld_rank(pld_world());
	pl_tile mine = pl_full(PL_SHAPE(SWAP_ELEMS), PL_FP32, 10 + world);

	pld_remote_store(mine, g->data, other, PL_AT(0));
	pld_notify(g->signal, other, PL_AT(0), 1, PLD_NOTIFY_ADD);
	pld_wait(g->signal, PL_AT(0), 1, PLD_WAIT_GE);
	pl_store(pl_load(g->data, PL_AT(0), PL_SHAPE(SWAP_ELEMS)), PL_AT(0), pl_at(g->out, world));
}

/* Domain i is {i, i + 1}; all ranks go through them in the same order, each joins its own. */
static void swap_host(struct rig *pairs, pld_ctx *domain, int npairs)
{
	int n = (int)pld_world_size();

	for (int i = 0; i < npairs; i++) {
		struct rig *g = &pairs[i];

		domain[i] = pld_domain_subset(pld_world(), (int[]){ i, (i + 1) % n }, 2);
		if (!pld_is_member(domain[i]))
			continue;
		g->data = pld_new_window(PL_SHAPE(SWAP_ELEMS), PL_FP32, .domain = domain[i]);
		g->signal = pld_new_window(PL_SHAPE(1), PL_INT32, .domain = domain[i]);
	}
	for (int i = 0; i < npairs; i++) {
		PLD_DISPATCH(i, on_device(swap_kernel, &pairs[i]));
		PLD_DISPATCH((i + 1) % n, on_device(swap_kernel, &pairs[i]));
	}
}

static void swap_pairs(const struct multi *m, int npairs)
{
	struct rig pairs[64] = { 0 };
	pld_ctx domain[64];

	for (int i = 0; i < npairs; i++)
		pairs[i].out = pld_host_tensor(PL_SHAPE(m->n, SWAP_ELEMS), PL_FP32);
	expect_status(m, "PLD_HOST", PLD_HOST(swap_host(pairs, domain, npairs)), PL_OK);
	for (int i = 0; i < npairs; i++) {
		int a = i, b = (i + 1) % m->n;

		for (int r = 0; r < m->n; r++)
			for (int k = 0; k < SWAP_ELEMS; k++)
				expect_float(m, "out", (i * m->n + r) * SWAP_ELEMS + k,
					     pl_read_float(pairs[i].out, PL_AT(r, k)),
					     r == a   ? 10 + b
					     : r == b ? 10 + a
						      : 0);
		if (pld_is_member(domain[i]))
			pld_domain_free(domain[i]);
		pld_host_free(pairs[i].out);
	}
}

static void sig_5(const struct multi *m)
{
	swap_pairs(m, 2);
}

/* Every rank in two domains, the last one closes the ring. */
static void sig_5_ring(const struct multi *m)
{
	swap_pairs(m, m->n < 64 ? m->n : 64);
}

/* ---- SIG-9: send and receive in dispatches of their own -------------------------------------- */

static void send_kernel(const struct rig *g)
{
	pld_ctx ctx = pld_get_comm_ctx(g->data);
	int me = pld_rank(ctx), next = (me + 1) % pld_nranks(ctx);
	pl_tile mine = pl_full(PL_SHAPE(1, 64), PL_INT32, 1000 + me);

	pld_remote_store(mine, g->data, next, PL_AT(0, 0));
	pld_notify(g->signal, next, PL_AT(0, 0), 1, PLD_NOTIFY_ADD);
}

static void receive_kernel(const struct rig *g)
{
	int me = pld_rank(pld_get_comm_ctx(g->data));

	pld_wait(g->signal, PL_AT(0, 0), 1, PLD_WAIT_GE);
	pl_copy(pl_at(g->out, me), g->data);
}

static void send_receive_host(struct rig *g)
{
	make_signal(g, PLD_KEEP_HOST);
	g->data = pld_new_window(PL_SHAPE(1, 64), PL_INT32);
	on_all(send_kernel, g);
	on_all(receive_kernel, g);
}

static void sig_9(const struct multi *m)
{
	struct rig g = { .out = pld_host_tensor(PL_SHAPE(m->n, 1, 64), PL_INT32) };

	PLD_HOST(send_receive_host(&g));
	for (int r = 0; r < m->n; r++)
		for (int k = 0; k < 64; k++)
			expect_int(m, "out", r * 64 + k, pl_read_int(g.out, PL_AT(r, 0, k)),
				   1000 + (r - 1 + m->n) % m->n);
	pld_host_free(g.out);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "SIG-1 tag exchange", sig_1, 0 },
		{ "SIG-2 kept window, cleared", sig_2, 0 },
		{ "SIG-3 self-notify takes credits back", sig_3, 0 },
		{ "SIG-4 the same without a clear", sig_4, 0 },
		{ "SIG-5 two overlapping domains", sig_5, 3 },
		{ "SIG-5 a ring of them", sig_5_ring, 3 },
		{ "SIG-9 send and wait apart", sig_9, 0 },
	};

	return multi_run("signal_scenarios", cases, ROWS(cases));
}
