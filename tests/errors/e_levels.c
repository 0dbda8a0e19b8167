/* e_levels.c - every class of call at every level that forbids it, and at those that allow it. */
#include "config.h"

#include "collectives.h"

#define OUTSIDE "outside PLD_HOST; PLD_DISPATCH belongs inside it, PLD_INCORE inside PLD_DISPATCH"
#define AT_HOST                                                                                    \
	"not allowed at host level, which began at @; here: memory, domains, collectives and "     \
	"PLD_DISPATCH"
#define AT_DEVICE "not allowed at device level, which began at @; here: PLD_INCORE"
#define AT_INCORE                                                                                  \
	"not allowed at in-core level, which began at @; here: tiles, signals, remote memory and " \
	"collectives"

/* Made before any level. */
struct stage {
	pld_buffer b;
	pld_tensor w; /* (1, 8) of INT32 */
	pl_tensor host;
	pl_tile tile;
	struct coll_stage *coll;
	int me, n;
	int calls; /* of what must not be evaluated */
	int host_runs, device_runs, incore_runs;
};

static void count(struct stage *s)
{
	s->calls++;
}

/* ---- classes --------------------------------------------------------------------------------- */

static void memory_fails(const struct stage *s, const char *text)
{
	pld_ctx world = pld_world();

	FAILS(pld_alloc_window_buffer(.bytes = 8), PL_ELEVEL, "pld_alloc_window_buffer", text);
	FAILS(pld_new_window(PL_SHAPE(4), PL_INT32), PL_ELEVEL, "pld_new_window", text);
	FAILS(pld_window(s->b, PL_SHAPE(4), PL_INT32), PL_ELEVEL, "pld_window", text);
	FAILS(pld_free_window_buffer(s->b), PL_ELEVEL, "pld_free_window_buffer", text);
	FAILS(pld_free_window(s->w), PL_ELEVEL, "pld_free_window", text);
	FAILS(pld_host_tensor(PL_SHAPE(4), PL_INT32), PL_ELEVEL, "pld_host_tensor", text);
	FAILS(pld_host_free(s->host), PL_ELEVEL, "pld_host_free", text);
	FAILS(pld_domain_subset(world, (int[]){ 0 }, 1), PL_ELEVEL, "pld_domain_subset", text);
	FAILS(pld_domain_split(world, 0, 0), PL_ELEVEL, "pld_domain_split", text);
	FAILS(pld_domain_free(world), PL_ELEVEL, "pld_domain_free", text);
}

static void collectives_fail(const struct stage *s, const char *text)
{
	FAILS(pld_barrier(pld_world()), PL_ELEVEL, "pld_barrier", text);
	FAILS(pld_barrier(s->w), PL_ELEVEL, "pld_barrier", text);
	for (int i = 0; i < ncollectives; i++) {
		const struct args a = coll_args(s->coll, &collectives[i]);
		const char *where;
		int got;

		errors_begin();
		got = collectives[i].call(&a, &where);
		errors_fails(got, "at this level", PL_ELEVEL, collectives[i].name, text, where);
	}
}

static void signals_fail(const struct stage *s, const char *text)
{
	const struct pld_condition c = { s->w, PL_AT(0, 0), 1, PLD_WAIT_GE };
	int32_t mine[8] = { 0 };
	pl_tensor x = pl_wrap(mine, PL_SHAPE(1, 8), PL_INT32);

	FAILS(pld_notify(s->w, 0, PL_AT(0, 0), 1, PLD_NOTIFY_ADD), PL_ELEVEL, "pld_notify", text);
	FAILS(pld_wait(s->w, PL_AT(0, 0), 0, PLD_WAIT_GE), PL_ELEVEL, "pld_wait", text);
	FAILS(pld_wait_for(s->w, PL_AT(0, 0), 0, PLD_WAIT_GE, 0), PL_ELEVEL, "pld_wait_for", text);
	FAILS(pld_wait_any(&c, 1, 0), PL_ELEVEL, "pld_wait_any", text);
	FAILS(pld_test(s->w, PL_AT(0, 0), 0, PLD_WAIT_GE), PL_ELEVEL, "pld_test", text);
	FAILS(pld_put(s->w, 0, x), PL_ELEVEL, "pld_put", text);
	FAILS(pld_get(x, 0, s->w), PL_ELEVEL, "pld_get", text);
	FAILS(pld_remote_load(s->w, 0, PL_AT(0, 0), PL_SHAPE(1, 1)), PL_ELEVEL, "pld_remote_load",
	      text);
	FAILS(pld_remote_store(s->tile, s->w, 0, PL_AT(0, 0)), PL_ELEVEL, "pld_remote_store", text);
}

static void tiles_fail(const struct stage *s, const char *text)
{
	FAILS(pl_load(s->w, PL_AT(0, 0), PL_SHAPE(1, 1)), PL_ELEVEL, "pl_load", text);
	FAILS(pl_store(s->tile, PL_AT(0, 0), s->w), PL_ELEVEL, "pl_store", text);
	FAILS(pl_full(PL_SHAPE(1), PL_INT32, 1), PL_ELEVEL, "pl_full", text);
	FAILS(pl_add(s->tile, s->tile), PL_ELEVEL, "pl_add", text);
	FAILS(pl_mul(s->tile, 2), PL_ELEVEL, "pl_mul", text);
	FAILS(pl_cast(s->tile, PL_FP32), PL_ELEVEL, "pl_cast", text);
	FAILS(pl_assign(s->tile, s->tile), PL_ELEVEL, "pl_assign", text);
}

/* Allowed anywhere. */
static void local_works(struct stage *s)
{
	int32_t mine[8] = { 0 };
	pl_tensor x = pl_wrap(mine, PL_SHAPE(1, 8), PL_INT32);

	WORKS(pl_write(s->w, PL_AT(0, 1), 11));
	HOLDS(pl_read_int(s->w, PL_AT(0, 1)) == 11);
	WORKS(pl_copy(x, s->w));
	HOLDS(mine[1] == 11);
	WORKS(pl_at(s->w, 0));
	WORKS(pl_slice(s->w, PL_AT(0, 0), PL_SHAPE(1, 2)));
	WORKS(pl_at(x, 0));
	WORKS(pld_all(s->w));
	WORKS(pld_world());
	HOLDS(pld_world_size() == s->n && pld_world_rank(pld_get_comm_ctx(s->w), s->me) == s->me);
	HOLDS(pl_dynamic("NR") == s->n && ((int32_t *)pld_ptr(s->w, s->me))[1] == 11);
}

/* ---- the levels ------------------------------------------------------------------------------ */

static void incore(struct stage *s)
{
	const struct pld_condition c = { s->w, PL_AT(0, 0), 0, PLD_WAIT_GE };
	pl_tile t;

	s->incore_runs++;
	memory_fails(s, AT_INCORE);
	FAILS(PLD_HOST(count(s)), PL_ELEVEL, "PLD_HOST", AT_INCORE);
	FAILS(PLD_DISPATCH(s->me, count(s)), PL_ELEVEL, "PLD_DISPATCH", AT_INCORE);
	FAILS(PLD_DISPATCH(s->n + 9, count(s)), PL_ELEVEL, "PLD_DISPATCH", AT_INCORE);
	FAILS(PLD_INCORE(count(s)), PL_ELEVEL, "PLD_INCORE", AT_INCORE);
	FAILS(pld_finalize(), PL_ELEVEL, "pld_finalize", AT_INCORE);
	local_works(s);
	t = pl_load(s->w, PL_AT(0, 0), PL_SHAPE(1, 4));
	WORKS(pl_store(pl_cast(pl_add(t, t), PL_INT32), PL_AT(0, 4), s->w));
	WORKS(pld_remote_store(t, s->w, s->me, PL_AT(0, 4)));
	WORKS(pld_remote_load(s->w, s->me, PL_AT(0, 0), PL_SHAPE(1, 1)));
	WORKS(pld_notify(s->w, s->me, PL_AT(0, 7), 1, PLD_NOTIFY_SET));
	WORKS(pld_wait(s->w, PL_AT(0, 7), 1, PLD_WAIT_GE));
	WORKS(pld_wait_any(&c, 1, 0));
	WORKS(pld_barrier(pld_world())); /* of every rank's kernel */
	coll_works(s->coll);
	s->tile = t;
}

static void device(struct stage *s)
{
	s->device_runs++;
	memory_fails(s, AT_DEVICE);
	collectives_fail(s, AT_DEVICE);
	signals_fail(s, AT_DEVICE);
	tiles_fail(s, AT_DEVICE);
	FAILS(PLD_HOST(count(s)), PL_ELEVEL, "PLD_HOST", AT_DEVICE);
	FAILS(PLD_DISPATCH(s->me, count(s)), PL_ELEVEL, "PLD_DISPATCH", AT_DEVICE);
	FAILS(pld_finalize(), PL_ELEVEL, "pld_finalize", AT_DEVICE);
	local_works(s);
	place(PL_WHERE), HOLDS(PLD_INCORE(incore(s)) == PL_ELEVEL); /* its first error */
	HOLDS(s->incore_runs == s->device_runs);
}

static void host(struct stage *s)
{
	const char *here = errors_state()->place;
	pld_tensor w;

	s->host_runs++;
	signals_fail(s, AT_HOST);
	tiles_fail(s, AT_HOST);
	FAILS(PLD_HOST(count(s)), PL_ELEVEL, "PLD_HOST", AT_HOST);
	FAILS(PLD_INCORE(count(s)), PL_ELEVEL, "PLD_INCORE", AT_HOST);
	FAILS(pld_finalize(), PL_ELEVEL, "pld_finalize", AT_HOST);
	local_works(s);
	w = pld_new_window(PL_SHAPE(4), PL_INT32);
	WORKS(w);
	WORKS(pld_window(s->b, PL_SHAPE(4), PL_INT32));
	WORKS(pld_free_window(w));
	coll_works(s->coll);
	for (int r = 0; r < s->n; r++) {
		pl_status got;

		place(PL_WHERE), got = PLD_DISPATCH(r, device(s));
		HOLDS(got == (r == s->me ? PL_ELEVEL : PL_OK));
	}
	HOLDS(s->device_runs == s->host_runs);
	place(here);
	/* the level is the host's again */
	FAILS(pl_full(PL_SHAPE(1), PL_INT32, 1), PL_ELEVEL, "pl_full", AT_HOST);
}

static void dispatches(struct stage *s)
{
	char text[80];

	for (int i = 0; i < 2; i++) {
		int rank = i ? s->n : -1;

		snprintf(text, sizeof(text), "rank %d of a job of %d rank%s", rank, s->n, "s");
		FAILS(PLD_DISPATCH(rank, count(s)), PL_EINVAL, "PLD_DISPATCH", text);
	}
	FAILS(PLD_DISPATCH(1LL << 32, count(s)), PL_EINVAL, "PLD_DISPATCH",
	      "rank 4294967296 of a job of * ranks");
	WORKS(PLD_DISPATCH(s->me, 0));
}

static void nothing(struct stage *s)
{
	s->host_runs++;
}

/* What PLD_HOST returns: the first error of the lowest rank that had one, on every rank. */
static void last_rank_fails(struct stage *s)
{
	if (s->me == s->n - 1) {
		pld_world_rank(pld_world(), -1);
		pl_full(PL_SHAPE(1), PL_INT32, 1);
	}
}

static void all_but_the_first_fail(struct stage *s)
{
	if (s->me == 1)
		pl_full(PL_SHAPE(1), PL_INT32, 1);
	else if (s->me)
		pld_world_rank(pld_world(), -1);
}

static void rows(int me, int n)
{
	struct stage s = { .b = pld_alloc_window_buffer(.bytes = 64),
			   .me = me,
			   .n = n,
			   .w = pld_new_window(PL_SHAPE(1, 8), PL_INT32),
			   .host = pld_host_tensor(PL_SHAPE(4), PL_INT32),
			   .coll = coll_stage_new(pld_world(), 2, 3) };

	PL_SCOPE {
		s.tile = pl_full(PL_SHAPE(1, 1), PL_INT32, 1);
		place(PL_WHERE), HOLDS(PLD_HOST(host(&s)) == PL_ELEVEL);
		HOLDS(s.host_runs == 1 && s.device_runs == 1 && s.incore_runs == 1);
		/* a tile of the kernel died with it */
		FAILS(pl_add(s.tile, 1), PL_EINVAL, "pl_add",
		      "a is a tile whose scope has ended, or another thread's; pl_assign carries "
		      "a result out of a scope");
	}
	HOLDS(PLD_HOST(dispatches(&s)) == PL_EINVAL);
	WORKS(PLD_HOST(nothing(&s)));
	HOLDS(s.calls == 0 && s.host_runs == 2);
	HOLDS(PLD_HOST(last_rank_fails(&s)) == PL_EINVAL);
	HOLDS(PLD_HOST(all_but_the_first_fail(&s)) == (n > 1 ? PL_ELEVEL : PL_OK));
	FAILS((pld_level_enter((pld_level)4, 0, PL_WHERE) ? PL_OK : (int)pl_last_error()->status),
	      PL_EINVAL, "pld_level_enter", "level 4");
	FAILS((pld_level_enter(PLD_LEVEL_SPMD, 0, PL_WHERE) ? PL_OK : (int)pl_last_error()->status),
	      PL_EINVAL, "pld_level_enter", "level 0");
	FAILS(PLD_DISPATCH(me, count(&s)), PL_ELEVEL, "PLD_DISPATCH", OUTSIDE);
	FAILS(PLD_INCORE(count(&s)), PL_ELEVEL, "PLD_INCORE", OUTSIDE);
	HOLDS(s.calls == 0);
	WORKS(pld_free_window(s.w));
	coll_stage_free(s.coll);
}

int main(void)
{
	return errors_main(rows);
}
