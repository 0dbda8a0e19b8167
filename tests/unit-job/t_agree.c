/* t_agree.c - ranks that post, meet and compare calls; ranks are threads. */
#include "config.h"

#include <sched.h>

#include <pld/coll.h>

#include "pldi_agree.h"
#include "ranks.h"

#define ROUNDS 3000

#define CALL(id, ...)                                                                              \
	{                                                                                          \
		.op = (id), .arg = { __VA_ARGS__ }                                                 \
	}

static void nap(uint64_t *random)
{
	for (uint64_t i = next_random(random) % 4; i > 0; i--)
		sched_yield();
}

/* ---- agreeing -------------------------------------------------------------------------------- */

/* A payload that tells its rank and number; some calls without one between. */
static void all_see_all(struct pldi_rank *self, void *arg)
{
	struct pldi_domain *d = self->world;
	uint64_t random = (uint64_t)self->rank;

	(void)arg;
	for (int64_t i = 1; i <= ROUNDS; i++) {
		const struct pldi_call what = CALL(PLDI_CALL_ALLOC, i, -i, i << 40, 3);
		const int64_t payload[PLDI_CALL_ARGS] = { self->rank, i, ~i, self->rank * i };

		nap(&random);
		RANK_HOLDS(pldi_agree(d, &what, i % 3 ? payload : NULL, "a.c:1") == PL_OK);
		nap(&random);
		for (int32_t m = 0; i % 3 && m < self->nranks; m++) {
			const int64_t *p = pldi_posted(d, m);

			RANK_HOLDS(p[0] == m && p[1] == i && p[2] == ~i && p[3] == m * i);
		}
		RANK_HOLDS(d->seq == (uint32_t)i && !d->broken);
	}
}

START_TEST(agreeing)
{
	ranks_run(ranks_counts[_i], all_see_all, NULL);
}
END_TEST

/* ---- disagreeing ----------------------------------------------------------------------------- */

static const struct {
	const char *name;
	struct pldi_call most, one;
	const char *most_text, *one_text;
} rows[] = {
	{ "operation", CALL(PLDI_CALL_BARRIER, 0), CALL(PLDI_CALL_FINALIZE, 0), "pld_barrier()",
	  "pld_finalize()" },
	{ "first argument", CALL(PLDI_CALL_ALLOC, 64, 0, 0), CALL(PLDI_CALL_ALLOC, 65, 0, 0),
	  "pld_alloc_window_buffer(bytes 64, dtype none, keep PLD_KEEP_HOST)",
	  "pld_alloc_window_buffer(bytes 65, dtype none, keep PLD_KEEP_HOST)" },
	{ "second", CALL(PLDI_CALL_ALLOC, 64, PL_FP32, 0), CALL(PLDI_CALL_ALLOC, 64, PL_BF16, 0),
	  "pld_alloc_window_buffer(bytes 64, dtype FP32, keep PLD_KEEP_HOST)",
	  "pld_alloc_window_buffer(bytes 64, dtype BF16, keep PLD_KEEP_HOST)" },
	{ "third", CALL(PLDI_CALL_ALLOC, 64, 0, 0), CALL(PLDI_CALL_ALLOC, 64, 0, 1),
	  "pld_alloc_window_buffer(bytes 64, dtype none, keep PLD_KEEP_HOST)",
	  "pld_alloc_window_buffer(bytes 64, dtype none, keep PLD_KEEP_JOB)" },
	{ "fourth", CALL(PLDI_CALL_FREE, 7, 0, 0, 0), CALL(PLDI_CALL_FREE, 7, 0, 0, 1),
	  "pld_free_window_buffer(buffer 7)", "pld_free_window_buffer(buffer 7)" },
	{ "order", CALL(PLDI_CALL_BARRIER_SIGNAL, 1, 2, 3), CALL(PLDI_CALL_BARRIER_SIGNAL, 2, 1, 3),
	  "pld_barrier(signal buffer 1, signal offset 2, cell step 3)",
	  "pld_barrier(signal buffer 2, signal offset 1, cell step 3)" },
	{ "extreme", CALL(PLDI_CALL_HOST_TENSOR, INT64_MAX, PL_INT8),
	  CALL(PLDI_CALL_HOST_TENSOR, INT64_MIN, PL_INT8),
	  "pld_host_tensor(bytes 9223372036854775807, dtype INT8)",
	  "pld_host_tensor(bytes -9223372036854775808, dtype INT8)" },
	{ "level", CALL(PLDI_CALL_HOST_ENTER, 0), CALL(PLDI_CALL_HOST_LEAVE, 0), "PLD_HOST()",
	  "end of PLD_HOST()" },
};

/* Which row, and who makes the other call. */
struct choice {
	int row, odd;
};

static void one_differs(struct pldi_rank *self, void *arg)
{
	const struct choice *c = arg;
	struct pldi_domain *d = self->world;
	const int odd = self->rank == c->odd;
	const struct pldi_call same = CALL(PLDI_CALL_BARRIER, 0);
	const struct pldi_call *mine = odd ? &rows[c->row].one : &rows[c->row].most;
	char text[512];

	for (int i = 0; i < 2 * PLDI_CALLS; i++) /* older records have gone */
		RANK_HOLDS(pldi_agree(d, &same, NULL, "dir/before.c:1") == PL_OK);
	RANK_HOLDS(pldi_agree(d, mine, NULL, odd ? "some/where/one.c:2" : "most.c:34") ==
		   PL_EMISMATCH);
	snprintf(text, sizeof(text),
		 "ranks disagree about call %d of the domain: rank %d calls %s at %s, rank %d "
		 "calls %s at %s",
		 2 * PLDI_CALLS + 1, self->rank,
		 odd ? rows[c->row].one_text : rows[c->row].most_text,
		 odd ? "one.c:2" : "most.c:34", odd ? (c->odd == 0 ? 1 : 0) : c->odd,
		 odd ? rows[c->row].most_text : rows[c->row].one_text,
		 odd ? "most.c:34" : "one.c:2");
	RANK_HOLDS(strcmp(pl_last_error()->text, text) == 0);
	RANK_HOLDS(strcmp(pl_last_error()->call, pldi_opcode_name(mine->op)) == 0);

	/* broken: agreements are refused, releases are not, and nobody waits for anybody */
	RANK_HOLDS(d->broken);
	RANK_HOLDS(pldi_agree(d, &same, NULL, "after.c:1") == PL_EABORTED);
	for (int i = 0; i <= self->rank; i++)
		RANK_HOLDS(pldi_agree_release(d, &same, "after.c:2") == PL_OK);
}

START_TEST(disagreeing)
{
	for (size_t k = 1; k < ROWS(ranks_counts); k++) {
		struct choice first = { _i, 0 }, last = { _i, ranks_counts[k] - 1 };

		ranks_run(ranks_counts[k], one_differs, &first);
		ranks_run(ranks_counts[k], one_differs, &last);
	}
}
END_TEST

/* An ended domain's id is used again: what its members called then is not what they call now. */
static void old_records(struct pldi_rank *self, void *arg)
{
	const struct pldi_call then = CALL(PLDI_CALL_BARRIER, 0);
	const struct pldi_call now = CALL(PLDI_CALL_FREE, self->rank);
	pld_ctx world = { &self->world->pub };
	struct pldi_domain *d;
	uint32_t id = 0;

	(void)arg;
	for (int round = 0; round < 3; round++) {
		d = (struct pldi_domain *)(uintptr_t)pld_domain_split(world, 0, 0).d_;
		RANK_HOLDS(d && (id == 0 || d->id == id));
		id = d->id;
		RANK_HOLDS(pldi_agree(d, round < 2 ? &then : &now, NULL, "x.c:1") ==
			   (round < 2 ? PL_OK : PL_EMISMATCH));
		if (round < 2)
			RANK_HOLDS(pld_domain_free((pld_ctx){ &d->pub }) == PL_OK);
	}
	RANK_HOLDS(strstr(pl_last_error()->text, "pld_free_window_buffer(buffer 0)") &&
		   strstr(pl_last_error()->text, "pld_free_window_buffer(buffer 1)"));
}

START_TEST(old_calls)
{
	ranks_run(2, old_records, NULL);
}
END_TEST

/* ---- pldi_differs ---------------------------------------------------------------------------- */

static void differs(struct pldi_rank *self, void *arg)
{
	struct pldi_domain *d = self->world;
	const struct pldi_call same = CALL(PLDI_CALL_BARRIER, 0);
	const struct pldi_call own = CALL(PLDI_CALL_FREE, self->rank);

	(void)arg;
	pldi_post(d, &same, NULL, "a.c:1");
	for (int32_t m = 0; m < self->nranks; m++)
		RANK_HOLDS(!pldi_differs(d, &same, m)); /* posted or not: no other call */
	RANK_HOLDS(pldi_meet(d, &same, "a.c:1") == PL_OK);
	pldi_post(d, &own, NULL, "a.c:2");
	for (int32_t m = 0; m < self->nranks; m++) {
		while (m != self->rank && !pldi_differs(d, &own, m))
			sched_yield();
		RANK_HOLDS(pldi_differs(d, &own, m) == (m != self->rank));
	}
	RANK_HOLDS(pldi_meet(d, &own, "a.c:2") == (self->nranks > 1 ? PL_EMISMATCH : PL_OK));
}

START_TEST(differing)
{
	ranks_run(ranks_counts[_i], differs, NULL);
}
END_TEST

/* Calls that differ in a bit have different fingerprints: of many none is taken for another. */
static void bits(struct pldi_rank *self, void *arg)
{
	struct pldi_domain *d = self->world;
	const struct pldi_call same = CALL(PLDI_CALL_BARRIER, 0);
	uint64_t random = 99;

	(void)arg;
	for (int i = 0; i < 2000; i++) {
		struct pldi_call what =
			CALL(PLDI_CALL_ALLOC, (int64_t)next_random(&random), 2, i, 0);

		if (self->rank == 1)
			what.arg[i / 64 % PLDI_CALL_ARGS] ^= (int64_t)(UINT64_C(1) << i % 64);
		pldi_post(d, &what, NULL, "a.c:1");
		while (!pldi_line_test((struct pldi_line){ &d->flags[!self->rank].v,
							   &d->flags[!self->rank].sleepers },
				       d->seq))
			sched_yield();
		RANK_HOLDS(pldi_differs(d, &what, !self->rank));
		RANK_HOLDS(pldi_agree(d, &same, NULL, "a.c:2") == PL_OK);
	}
}

START_TEST(fingerprints)
{
	ranks_run(2, bits, NULL);
}
END_TEST

/* ---- one thread at a time -------------------------------------------------------------------- */

START_TEST(begin_and_end)
{
	struct pldi_domain d = { .ended_where = NULL };

	ck_assert_int_eq(pldi_begin(&d, "f", "a.c:1"), PL_OK);
	ck_assert_int_eq(pldi_begin(&d, "g", "a.c:2"), PL_ELEVEL);
	expect_error("busy", PL_ELEVEL, "g", "in a collective call on the same domain, at a.c:1");
	pldi_end(&d);
	ck_assert_int_eq(pldi_begin(&d, "h", NULL), PL_OK);
	ck_assert_int_eq(pldi_begin(&d, "g", "a.c:2"), PL_ELEVEL);
	pldi_end(&d);
	d.ended_where = "a.c:9";
	ck_assert_int_eq(pldi_begin(&d, "g", "a.c:2"), PL_EINVAL);
	expect_error("ended", PL_EINVAL, "g", "the domain was freed at a.c:9");
}
END_TEST

/* ---- the job ends meanwhile ------------------------------------------------------------------ */

/* All but the last wait for it; it ends the job. */
static void abandoned(struct pldi_rank *self, void *arg)
{
	const struct pldi_call same = CALL(PLDI_CALL_BARRIER, 0);
	int32_t status;
	pl_status rc;
	char text[80];

	(void)arg;
	if (self->rank == self->nranks - 1) {
		RANK_HOLDS(pldi_abort_claim(self->seg.base, self->rank, 5));
		RANK_HOLDS(!pldi_abort_claim(self->seg.base, 0, 6)); /* the first counts */
		RANK_HOLDS(pldi_abort_by(self->seg.base, &status) == self->rank && status == 5);
		/* a rank that was about to sleep misses a ring */
		for (int r = 0; r < self->nranks - 1; r++) {
			while (atomic_load_explicit(&pldi_slot(self->seg.base, r)->state,
						    memory_order_acquire) != PLDI_SLOT_FINAL) {
				pldi_abort_ring(self->seg.base, self->seg.bytes);
				sched_yield();
			}
		}
		return;
	}
	rc = pldi_agree(self->world, &same, NULL, "a.c:1");
	RANK_HOLDS(rc == PL_EABORTED);
	snprintf(text, sizeof(text), "the job ends: rank %d failed", self->nranks - 1);
	RANK_HOLDS(strcmp(pl_last_error()->text, text) == 0);
	atomic_store_explicit(&self->slot->state, PLDI_SLOT_FINAL, memory_order_release);
}

START_TEST(job_ends)
{
	for (int i = 0; i < 20; i++)
		ranks_run(ranks_counts[_i], abandoned, NULL);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, agreeing, 0, ROWS(ranks_counts));
	tcase_add_loop_test(tc, disagreeing, 0, ROWS(rows));
	tcase_add_test(tc, old_calls);
	tcase_add_loop_test(tc, differing, 0, ROWS(ranks_counts));
	tcase_add_test(tc, fingerprints);
	tcase_add_test(tc, begin_and_end);
	tcase_add_loop_test(tc, job_ends, 1, ROWS(ranks_counts));
}

int main(void)
{
	return unit_run("agree", add);
}
