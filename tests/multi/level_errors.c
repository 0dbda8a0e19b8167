/* level_errors.c - what each level may call, and how errors come out of levels. */
#include "config.h"

#include "multi.h"

/* Windows and memory that the calls below use; none of them must have an effect where refused. */
struct rig {
	const struct multi *m;
	pld_tensor w, signal; /* [4] of INT32, [P] of INT32 */
	pld_buffer b;
	pl_tensor local; /* [4] of INT32 */
	int ran;	 /* bodies that were evaluated */
};

/* ---- calls ----------------------------------------------------------------------------------- */

static int null_status(const void *p)
{
	return p ? PL_OK : pl_last_error()->status;
}

static int do_alloc(struct rig *g)
{
	pld_buffer b = pld_alloc_window_buffer(.bytes = 64);
	int rc = null_status(b.w_);

	(void)g;
	return rc ? rc : (int)pld_free_window_buffer(b);
}

static int do_window(struct rig *g)
{
	return null_status(pld_window(g->b, PL_SHAPE(4), PL_INT32).as_);
}

static int do_host_tensor(struct rig *g)
{
	pl_tensor t = pld_host_tensor(PL_SHAPE(4), PL_INT32);
	int rc = null_status(t.as_);

	(void)g;
	return rc ? rc : (int)pld_host_free(t);
}

static int do_subset(struct rig *g)
{
	pld_ctx c = pld_domain_subset(pld_world(), &g->m->me, 1);
	int rc = null_status(pld_is_member(c) ? c.d_ : NULL);

	return rc ? rc : (int)pld_domain_free(c);
}

static int do_barrier(struct rig *g)
{
	int rc = pld_barrier(pld_world());

	return rc ? rc : (int)pld_barrier(g->signal);
}

static int do_notify(struct rig *g)
{
	return pld_notify(g->w, g->m->me, PL_AT(0), 0, PLD_NOTIFY_ADD);
}

static int do_test(struct rig *g)
{
	int rc = pld_test(g->w, PL_AT(0), 0, PLD_WAIT_EQ);

	return rc < 0 ? rc : PL_OK;
}

static int do_wait(struct rig *g)
{
	return pld_wait(g->w, PL_AT(0), 0, PLD_WAIT_EQ);
}

static int do_put(struct rig *g)
{
	return pld_put(g->w, g->m->me, g->local);
}

static int do_get(struct rig *g)
{
	return pld_get(g->local, g->m->me, g->w);
}

static int do_remote_load(struct rig *g)
{
	return null_status(pld_remote_load(g->w, g->m->me, PL_AT(0), PL_SHAPE(4)).t_);
}

static int do_tile(struct rig *g)
{
	return null_status(pl_load(g->local, PL_AT(0), PL_SHAPE(4)).t_);
}

static void count(struct rig *g)
{
	g->ran++;
}

static int do_host(struct rig *g)
{
	return PLD_HOST(count(g));
}

static int do_dispatch(struct rig *g)
{
	return PLD_DISPATCH(g->m->me, count(g));
}

static int do_incore(struct rig *g)
{
	return PLD_INCORE(count(g));
}

/* Reads, writes, copies, shapes, queries: anywhere. */
static int do_anywhere(struct rig *g)
{
	int32_t memory[8] = { 0 };
	pl_tensor t = pl_wrap(memory, PL_SHAPE(2, 4), PL_INT32);
	int rc;

	if ((rc = null_status(pl_slice(pl_at(t, 1), PL_AT(1), PL_SHAPE(2)).as_)) ||
	    (rc = null_status(pl_slice(g->w, PL_AT(1), PL_SHAPE(2)).as_)) ||
	    (rc = null_status(pld_all(g->w).as_)) || (rc = pl_copy(pl_at(t, 0), g->w)) ||
	    (rc = pl_write(g->w, PL_AT(0), 0)))
		return rc;
	expect_int(g->m, "read", 0, pl_read_int(g->w, PL_AT(0)), 0);
	expect_int(g->m, "world size", 0, pld_world_size(), g->m->n);
	expect_int(g->m, "world rank", 0, pld_world_rank(pld_world(), g->m->me), g->m->me);
	expect_int(g->m, "NR", 0, pl_dynamic("NR"), g->m->n);
	return PL_OK;
}

enum { SPMD = 1, HOST = 2, DEVICE = 4, INCORE = 8, ALL = 15 };
static const char *const level_names[] = { "", "host", "device", "in-core" };

static const struct {
	const char *name;
	int (*call)(struct rig *g);
	int allowed; /* levels */
} calls[] = {
	{ "pld_alloc_window_buffer", do_alloc, SPMD | HOST },
	{ "pld_window", do_window, SPMD | HOST },
	{ "pld_host_tensor", do_host_tensor, SPMD | HOST },
	{ "pld_domain_subset", do_subset, SPMD | HOST },
	{ "pld_barrier", do_barrier, SPMD | HOST | INCORE },
	{ "pld_notify", do_notify, SPMD | INCORE },
	{ "pld_test", do_test, SPMD | INCORE },
	{ "pld_wait", do_wait, SPMD | INCORE },
	{ "pld_put", do_put, SPMD | INCORE },
	{ "pld_get", do_get, SPMD | INCORE },
	{ "pld_remote_load", do_remote_load, SPMD | INCORE },
	{ "pl_load", do_tile, SPMD | INCORE },
	{ "PLD_HOST", do_host, SPMD },
	{ "PLD_DISPATCH", do_dispatch, HOST },
	{ "PLD_INCORE", do_incore, DEVICE },
	{ "anywhere", do_anywhere, ALL },
};

/* All of them at the level that the rank is at.  A body that is refused is not evaluated. */
static void try_all(struct rig *g, int level)
{
	char part[256];

	snprintf(part, sizeof(part), "outside PLD_HOST;");
	if (level)
		snprintf(part, sizeof(part),
			 "not allowed at %s level, which began at %s:", level_names[level],
			 __FILE__);
	for (int i = 0; i < ROWS(calls); i++) {
		int ran = g->ran, allowed = calls[i].allowed >> level & 1;

		PL_SCOPE {
			expect_status(g->m, calls[i].name, calls[i].call(g),
				      allowed ? PL_OK : PL_ELEVEL);
		}
		if (!allowed) {
			expect_error(g->m, calls[i].name, PL_ELEVEL, part);
			expect_int(g->m, calls[i].name, level, g->ran, ran);
		}
	}
}

static void try_on_device(struct rig *g)
{
	try_all(g, 2);
	expect_status(g->m, "PLD_INCORE", PLD_INCORE(try_all(g, 3)), PL_ELEVEL);
}

static void try_host(struct rig *g)
{
	try_all(g, 1);
	for (int r = 0; r < g->m->n; r++)
		expect_status(g->m, "PLD_DISPATCH", PLD_DISPATCH(r, try_on_device(g)),
			      r == g->m->me ? PL_ELEVEL : PL_OK);
}

/* Each level lets through what it may and refuses the rest; after them all is allowed again. */
static void rights(const struct multi *m)
{
	static int32_t memory[4];
	struct rig g = { .m = m,
			 .b = pld_alloc_window_buffer(.bytes = 16),
			 .signal = pld_new_window(PL_SHAPE(m->n), PL_INT32),
			 .local = pl_wrap(memory, PL_SHAPE(4), PL_INT32) };

	g.w = pld_window(g.b, PL_SHAPE(4), PL_INT32);
	pl_set_errors(PL_ERRORS_RETURN);
	try_all(&g, 0);
	expect_status(m, "PLD_HOST", PLD_HOST(try_host(&g)), PL_ELEVEL);
	try_all(&g, 0);
	pl_set_errors(PL_ERRORS_END);
	for (int k = 0; k < 4; k++)
		expect_int(m, "window", k, pl_read_int(g.w, PL_AT(k)), 0);
	/* at no level, twice: one body; host: a dispatch; device: a kernel */
	expect_int(m, "bodies evaluated", 0, g.ran, 2 + 1 + 1);
	pld_barrier(pld_world());
	pld_free_window(g.signal);
	pld_free_window_buffer(g.b);
}

/* ---- which error comes out ------------------------------------------------------------------- */

/* What a rank's kernel does wrong, in this order; -1: nothing.  0: PL_EINVAL, 1: PL_ELEVEL. */
static const struct {
	const char *name;
	int rank[2]; /* who does what first; others nothing */
	int what[2][2];
	pl_status wanted;
} failures[] = {
	{ "nobody", { -1, -1 }, { { -1, -1 }, { -1, -1 } }, PL_OK },
	{ "rank 0", { 0, -1 }, { { 0, -1 }, { -1, -1 } }, PL_EINVAL },
	{ "rank 1 only", { 1, -1 }, { { 1, -1 }, { -1, -1 } }, PL_ELEVEL },
	{ "the first of two", { 0, -1 }, { { 1, 0 }, { -1, -1 } }, PL_ELEVEL },
	{ "the first of two, turned", { 0, -1 }, { { 0, 1 }, { -1, -1 } }, PL_EINVAL },
	{ "the lowest rank's", { 0, 1 }, { { 1, -1 }, { 0, -1 } }, PL_ELEVEL },
	{ "the lowest rank's, turned", { 1, 0 }, { { 1, -1 }, { 0, -1 } }, PL_EINVAL },
};

static void fail(int what)
{
	int32_t x = 0;

	if (what == 0)
		pl_write(pl_wrap(&x, PL_SHAPE(1), PL_INT32), PL_AT(5), 1);
	else if (what == 1)
		pld_alloc_window_buffer(.bytes = 4);
}

static pl_status status_of(int what)
{
	return what == 0 ? PL_EINVAL : what == 1 ? PL_ELEVEL : PL_OK;
}

static void fail_kernel(int first, int second)
{
	fail(first);
	fail(second);
}

static void fail_device(const struct multi *m, int first, int second)
{
	expect_status(m, "PLD_INCORE", PLD_INCORE(fail_kernel(first, second)), status_of(first));
	expect_status(m, "PLD_INCORE of nothing wrong", PLD_INCORE(fail_kernel(-1, -1)), PL_OK);
}

static void fail_host(const struct multi *m, int row)
{
	for (int r = 0; r < m->n; r++) {
		int first = -1, second = -1;

		for (int k = 0; k < 2; k++)
			if (failures[row].rank[k] == r) {
				first = failures[row].what[k][0];
				second = failures[row].what[k][1];
			}
		expect_status(m, "PLD_DISPATCH", PLD_DISPATCH(r, fail_device(m, first, second)),
			      r == m->me ? status_of(first) : PL_OK);
	}
}

/* Every rank gets the same: the lowest rank's first; the next PLD_HOST begins anew. */
static void first_errors(const struct multi *m)
{
	pl_set_errors(PL_ERRORS_RETURN);
	for (int i = 0; i < ROWS(failures); i++) {
		if (m->n == 1 && (failures[i].rank[0] == 1 || failures[i].rank[1] == 1))
			continue;
		expect_status(m, failures[i].name, PLD_HOST(fail_host(m, i)), failures[i].wanted);
		expect_status(m, "nothing", PLD_HOST((void)0), PL_OK);
	}
	pl_set_errors(PL_ERRORS_END);
}

/* ---- ranks that are none --------------------------------------------------------------------- */

static void wrong_rank_host(struct rig *g, int64_t rank)
{
	expect_status(g->m, "PLD_DISPATCH", PLD_DISPATCH(rank, count(g)), PL_EINVAL);
	expect_error(g->m, "PLD_DISPATCH", PL_EINVAL, "of a job of");
}

/* An error on every rank, not only on one; and the body is not evaluated. */
static void wrong_ranks(const struct multi *m)
{
	const int64_t ranks[] = { -1, m->n, INT64_MAX, INT64_MIN, (INT64_C(1) << 32) };
	struct rig g = { .m = m };

	pl_set_errors(PL_ERRORS_RETURN);
	for (int i = 0; i < ROWS(ranks); i++)
		expect_status(m, "PLD_HOST", PLD_HOST(wrong_rank_host(&g, ranks[i])), PL_EINVAL);
	pl_set_errors(PL_ERRORS_END);
	expect_int(m, "bodies evaluated", 0, g.ran, 0);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "rights", rights, 0 },
		{ "first errors", first_errors, 0 },
		{ "wrong ranks", wrong_ranks, 0 },
	};

	return multi_run("level_errors", cases, ROWS(cases));
}
