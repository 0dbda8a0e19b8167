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

/* What a member has written for its call of this number. */
static bool recorded(struct pldi_domain *d, int32_t member, const struct pldi_call *c)
{
	const struct pldi_call_shm *r = &d->flags[member].call[d->seq % 2];

	return r->seq == d->seq && r->op == (uint32_t)c->op &&
	       memcmp(r->arg, c->arg, sizeof(r->arg)) == 0;
}

/*
 * A payload that tells its rank and number, and the call's record; some calls without a payload
 * between.  They stay until the next call, while faster members are in that one.
 */
static void all_see_all(struct pldi_rank *self, void *arg)
{
	struct pldi_domain *d = self->world;
	uint64_t random = (uint64_t)self->rank;

	(void)arg;
	for (int64_t i = 1; i <= ROUNDS; i++) {
		const struct pldi_call what =
			CALL(PLDI_CALL_ALLOC, i, -i, i << 40, 3, 0, 0, i, 7, 8, i);
		const int64_t payload[PLDI_PAYLOAD] = { self->rank, i, ~i, self->rank * i };

		nap(&random);
		RANK_HOLDS(pldi_agree(d, &what, i % 3 ? payload : NULL, "a.c:1") == PL_OK);
		nap(&random);
		for (int32_t m = 0; m < self->nranks; m++) {
			const int64_t *p = pldi_posted(d, m);

			RANK_HOLDS(recorded(d, m, &what));
			RANK_HOLDS(i % 3 == 0 ||
				   (p[0] == m && p[1] == i && p[2] == ~i && p[3] == m * i));
		}
		RANK_HOLDS(d->seq == (uint32_t)i && !d->broken);
		RANK_HOLDS(d->posts == (uint32_t)i && d->entry == d->posts);
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
	{ "order", CALL(PLDI_CALL_BARRIER_SIGNAL, 0, 0, 0, 0, 0, 0, 1, 2, 3),
	  CALL(PLDI_CALL_BARRIER_SIGNAL, 0, 0, 0, 0, 0, 0, 2, 1, 3),
	  "pld_barrier(signal buffer 1, signal offset 2, cell step 3)",
	  "pld_barrier(signal buffer 2, signal offset 1, cell step 3)" },
	{ "extreme", CALL(PLDI_CALL_HOST_TENSOR, INT64_MAX, PL_INT8),
	  CALL(PLDI_CALL_HOST_TENSOR, INT64_MIN, PL_INT8),
	  "pld_host_tensor(bytes 9223372036854775807, dtype INT8)",
	  "pld_host_tensor(bytes -9223372036854775808, dtype INT8)" },
	{ "last argument", CALL(PLDI_CALL_BARRIER_SIGNAL, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0),
	  CALL(PLDI_CALL_BARRIER_SIGNAL, 0, 0, 0, 0, 0, 0, 1, 2, 3, 1),
	  "pld_barrier(signal buffer 1, signal offset 2, cell step 3)",
	  "pld_barrier(signal buffer 1, signal offset 2, cell step 3)" },
	{ "named values", CALL(PLDI_CALL_ALLREDUCE, PL_BF16, 7, PLD_PROD, PLD_RING, 3, 64),
	  CALL(PLDI_CALL_ALLREDUCE, PL_BF16, 7, PLD_SUM, PLD_TWO_PHASE, 3, 64),
	  "pld_allreduce(dtype BF16, count 7, op PLD_PROD, mode PLD_RING, buffer 3, offset 64)",
	  "pld_allreduce(dtype BF16, count 7, op PLD_SUM, mode PLD_TWO_PHASE, buffer 3, offset "
	  "64)" },
	{ "arguments only where not 0",
	  CALL(PLDI_CALL_SCAN, PL_INT8, 0, PLD_MIN, PLD_EXCLUSIVE, 1, 0, 9, 0, 4),
	  CALL(PLDI_CALL_SCAN, PL_INT8, 0, PLD_MAX, PLD_INCLUSIVE, 1, 0),
	  "pld_scan(dtype INT8, count 0, op PLD_MIN, kind PLD_EXCLUSIVE, buffer 1, offset 0, "
	  "signal buffer 9, cell step 4)",
	  "pld_scan(dtype INT8, count 0, op PLD_MAX, kind PLD_INCLUSIVE, buffer 1, offset 0)" },
	{ "an argument without a name", CALL(PLDI_CALL_GATHER, PL_FP64, 5, 1, 77, 2, 8),
	  CALL(PLDI_CALL_GATHER, PL_FP64, 5, 0, 77, 2, 8),
	  "pld_gather(dtype FP64, count 5, root 1, buffer 2, offset 8)",
	  "pld_gather(dtype FP64, count 5, root 0, buffer 2, offset 8)" },
	{ "values that have no name", CALL(PLDI_CALL_REDUCE, PL_FP64, 5, 4, 1, 2, 8),
	  CALL(PLDI_CALL_REDUCE, PL_FP64, 5, -1, 1, 2, 8),
	  "pld_reduce(dtype FP64, count 5, op 4, root 1, buffer 2, offset 8)",
	  "pld_reduce(dtype FP64, count 5, op -1, root 1, buffer 2, offset 8)" },
	{ "level", CALL(PLDI_CALL_HOST_ENTER, 0), CALL(PLDI_CALL_HOST_LEAVE, 0), "PLD_HOST()",
	  "end of PLD_HOST()" },
};

/* Which row, who makes the other call, and how many calls before it agree. */
struct choice {
	int row, odd, before;
};

static void one_differs(struct pldi_rank *self, void *arg)
{
	const struct choice *c = arg;
	struct pldi_domain *d = self->world;
	const int odd = self->rank == c->odd;
	const struct pldi_call same = CALL(PLDI_CALL_BARRIER, 0);
	const struct pldi_call *mine = odd ? &rows[c->row].one : &rows[c->row].most;
	char text[700];

	for (int i = 0; i < c->before; i++) /* their records have gone */
		RANK_HOLDS(pldi_agree(d, &same, NULL, "dir/before.c:1") == PL_OK);
	RANK_HOLDS(pldi_agree(d, mine, NULL, odd ? "some/where/one.c:2" : "most.c:34") ==
		   PL_EMISMATCH);
	snprintf(text, sizeof(text),
		 "ranks disagree about call %d of the domain: rank %d calls %s at %s, rank %d "
		 "calls %s at %s",
		 c->before + 1, self->rank, odd ? rows[c->row].one_text : rows[c->row].most_text,
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
		struct choice first = { _i, 0, 3 }, last = { _i, ranks_counts[k] - 1, 4 };

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
		RANK_HOLDS(d->posts == 0 && d->flags[self->rank].call[0].seq == 0 &&
			   d->flags[self->rank].call[1].seq == 0);
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

/*
 * A member that knows already goes on to other calls, from so many places that they push that of
 * the one in question out of its site table; a slower one prints it all the same.
 */
static void places_stay(struct pldi_rank *self, void *arg)
{
	static char elsewhere[4 * PLDI_SITES][32];
	_Atomic int *gone_on = arg;
	const struct pldi_call own = CALL(PLDI_CALL_FREE, self->rank);

	pldi_post(self->world, &own, NULL, self->rank ? "fast.c:1" : "slow.c:2");
	if (self->rank == 1) {
		RANK_HOLDS(pldi_meet(self->world, &own, "fast.c:1") == PL_EMISMATCH);
		for (int i = 0; i < 4 * PLDI_SITES; i++) {
			snprintf(elsewhere[i], sizeof(elsewhere[i]), "other.c:%d", i);
			pldi_doing(self, PLDI_OP_NOTIFY, elsewhere[i]);
		}
		atomic_store_explicit(gone_on, 1, memory_order_release);
		return;
	}
	while (!atomic_load_explicit(gone_on, memory_order_acquire))
		sched_yield();
	RANK_HOLDS(pldi_meet(self->world, &own, "slow.c:2") == PL_EMISMATCH);
	RANK_HOLDS(strstr(pl_last_error()->text, "rank 1 calls pld_free_window_buffer(buffer 1) at "
						 "fast.c:1"));
}

START_TEST(old_places)
{
	_Atomic int gone_on = 0;

	ranks_run(2, places_stay, &gone_on);
}
END_TEST

/* A record that is no record of the call in question is not taken for one. */
static const struct {
	const char *name;
	uint32_t seq, op; /* of a call that is number 1 */
} stale_rows[] = {
	{ "of an older call", 0, PLDI_CALL_FREE },
	{ "of a newer call", 3, PLDI_CALL_FREE },
	{ "of no operation", 1, PLDI_CALL_NONE },
	{ "of an unknown operation", 1, 250 },
	{ "of one beside the collectives", 1, PLDI_OP_FETCH_ADD },
};

START_TEST(stale_record)
{
	struct pldi_rank *self = ranks_make(2, 0, 1 << 20);
	struct pldi_domain *d = self->world;
	const struct pldi_call what = CALL(PLDI_CALL_HOST_FREE, 5);
	struct pldi_flag_shm *other = &d->flags[1];

	/* rank 1 has posted number 1, a call with another fingerprint */
	other->call[1].seq = stale_rows[_i].seq;
	other->call[1].op = stale_rows[_i].op;
	other->print[1] = UINT64_C(99) << 32 | 1;
	other->v = 1;
	ck_assert_int_eq(pldi_agree(d, &what, NULL, "a.c:1"), PL_EMISMATCH);
	expect_error(stale_rows[_i].name, PL_EMISMATCH, "pld_host_free",
		     "rank 0 calls pld_host_free(buffer 5) at a.c:1, rank 1 calls another call");
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
		RANK_HOLDS(!pldi_differs(d, m)); /* posted or not: no other call */
	RANK_HOLDS(pldi_meet(d, &same, "a.c:1") == PL_OK);
	for (int s = 0; s < 3; s++) {
		pldi_step(d);
		for (int32_t m = 0; m < self->nranks; m++)
			RANK_HOLDS(!pldi_differs(d, m)); /* nor after steps */
	}
	pldi_post(d, &own, NULL, "a.c:2");
	for (int32_t m = 0; m < self->nranks; m++) {
		while (m != self->rank && !pldi_differs(d, m))
			sched_yield();
		RANK_HOLDS(pldi_differs(d, m) == (m != self->rank));
	}
	RANK_HOLDS(pldi_meet(d, &own, "a.c:2") == (self->nranks > 1 ? PL_EMISMATCH : PL_OK));
}

START_TEST(differing)
{
	ranks_run(ranks_counts[_i], differs, NULL);
}
END_TEST

/* Of one member, not of all: the others' calls are not looked at. */
START_TEST(comparing_one)
{
	struct pldi_rank *self = ranks_make(3, 0, 1 << 20);
	struct pldi_domain *d = self->world;
	const struct pldi_call what = CALL(PLDI_CALL_BARRIER, 0);

	pldi_post(d, &what, NULL, "a.c:1");
	d->flags[1].print[1] = d->print;
	d->flags[2].print[1] = d->print + (UINT64_C(1) << 32);
	d->flags[1].v = d->flags[2].v = 1;
	ck_assert_int_eq(pldi_compare_one(d, &what, 1, "a.c:1"), PL_OK);
	ck_assert(!d->broken && !pldi_differs(d, 1) && pldi_differs(d, 2));
	pldi_step(d); /* which they have not made */
	ck_assert(!pldi_differs(d, 1) && pldi_differs(d, 2));
	ck_assert_int_eq(pldi_compare_one(d, &what, 2, "a.c:1"), PL_EMISMATCH);
	ck_assert(d->broken && d->shm->broken == 1);
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
	tcase_add_test(tc, old_places);
	tcase_add_loop_test(tc, stale_record, 0, ROWS(stale_rows));
	tcase_add_loop_test(tc, differing, 0, ROWS(ranks_counts));
	tcase_add_test(tc, comparing_one);
	tcase_add_test(tc, begin_and_end);
	tcase_add_loop_test(tc, job_ends, 1, ROWS(ranks_counts));
}

int main(void)
{
	return unit_run("agree", add);
}
