/* t_observe.c - counters and schedule of a rank: what acts add, what is listed, what is lost. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "../unit/unit.h"

#include "pldi_observe.h"

#define RANKS 3
#define ME 1
#define ACTS_BYTES (PLDI_ACTS_MOST * sizeof(struct pldi_act_shm))

/* A rank of a job of RANKS; its schedule has no memory until commit() gives it some. */
struct fixture {
	struct pldi_observe o;
	struct pldi_stats_shm *stats;
	_Atomic int commits;
	int refuse;  /* so many commits that are to come */
	int outside; /* commits of what is no part of the schedule */
};

static int commit(void *arg, void *at, size_t bytes)
{
	struct fixture *f = arg;

	if (f->refuse > 0) {
		f->refuse--;
		return ENOSPC;
	}
	if ((char *)at + bytes > (char *)f->o.acts + ACTS_BYTES) {
		f->outside++;
		return ENOMEM;
	}
	atomic_fetch_add(&f->commits, 1);
	return mprotect(at, bytes, PROT_READ | PROT_WRITE) ? errno : 0;
}

static void setup(struct fixture *f, bool schedule)
{
	const size_t bytes = pldi_stats_stride(RANKS);

	f->stats = aligned_alloc(128, bytes);
	ck_assert(f->stats != NULL);
	memset(f->stats, 0, bytes);
	f->o.rank = ME;
	f->o.stats = f->stats;
	f->o.commit = commit;
	f->o.arg = f;
	if (schedule) {
		f->o.acts = mmap(NULL, ACTS_BYTES, PROT_NONE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		ck_assert(f->o.acts != MAP_FAILED);
	}
}

static void teardown(struct fixture *f)
{
	if (f->o.acts)
		munmap(f->o.acts, ACTS_BYTES);
	free(f->stats);
}

/* ---- what an act counts ---------------------------------------------------------------------- */

static const struct {
	const char *word;
	enum pldi_act act;
	int64_t read, written, notifies,
		waits; /* of an act with value 40 on an element of 8 bytes */
} acts[] = {
	{ "remote_load", PLDI_ACT_REMOTE_LOAD, 40, 0, 0, 0 },
	{ "remote_store", PLDI_ACT_REMOTE_STORE, 0, 40, 0, 0 },
	{ "remote_store_add", PLDI_ACT_REMOTE_STORE_ADD, 0, 40, 0, 0 },
	{ "get", PLDI_ACT_GET, 40, 0, 0, 0 },
	{ "put", PLDI_ACT_PUT, 0, 40, 0, 0 },
	{ "put_add", PLDI_ACT_PUT_ADD, 0, 40, 0, 0 },
	{ "notify", PLDI_ACT_NOTIFY_ADD, 0, 0, 1, 0 },
	{ "notify", PLDI_ACT_NOTIFY_SET, 0, 0, 1, 0 },
	{ "wait", PLDI_ACT_WAIT_EQ, 0, 0, 0, 1 },
	{ "wait", PLDI_ACT_WAIT_GE, 0, 0, 0, 1 },
	{ "fetch_add", PLDI_ACT_FETCH_ADD, 8, 8, 0, 0 },
	{ "fetch_and", PLDI_ACT_FETCH_AND, 8, 8, 0, 0 },
	{ "fetch_or", PLDI_ACT_FETCH_OR, 8, 8, 0, 0 },
	{ "fetch_xor", PLDI_ACT_FETCH_XOR, 8, 8, 0, 0 },
	{ "swap", PLDI_ACT_SWAP, 8, 8, 0, 0 },
	{ "compare_swap", PLDI_ACT_COMPARE_SWAP, 8, 8, 0, 0 },
};

START_TEST(counted)
{
	ck_assert_int_eq(ROWS(acts), PLDI_ACTS - 1);
	for (int32_t peer = 0; peer < RANKS; peer++) {
		const int64_t remote = peer != ME;
		struct fixture f = { .refuse = 0 };

		setup(&f, false);
		for (int twice = 0; twice < 2; twice++)
			pldi_observe_act(&f.o, acts[_i].act, peer, 5, 6, 40, 8, false);
		for (int32_t r = 0; r < RANKS; r++) {
			ck_assert_int_eq(f.stats->moved[r][0],
					 r == peer ? 2 * remote * acts[_i].read : 0);
			ck_assert_int_eq(f.stats->moved[r][1],
					 r == peer ? 2 * remote * acts[_i].written : 0);
		}
		ck_assert_int_eq(f.stats->notifies, 2 * acts[_i].notifies);
		ck_assert_int_eq(f.stats->waits, 2 * acts[_i].waits);
		ck_assert(f.stats->wait_ns == 0 && f.stats->collectives == 0);
		ck_assert(f.stats->acts == 0 && f.commits == 0); /* nothing is listed */
		teardown(&f);
	}
	ck_assert_str_eq(pldi_act_text(acts[_i].act), acts[_i].word);
}
END_TEST

START_TEST(counted_beside)
{
	struct fixture f = { .refuse = 0 };

	setup(&f, true);
	for (int32_t peer = 0; peer < RANKS; peer++)
		pldi_observe_read(&f.o, peer, 32 + peer);
	pldi_observe_collective(&f.o);
	pldi_observe_collective(&f.o);
	pldi_observe_wait_ns(&f.o, 1000);
	pldi_observe_wait_ns(&f.o, 234);
	ck_assert(f.stats->moved[0][0] == 32 && f.stats->moved[ME][0] == 0 &&
		  f.stats->moved[2][0] == 34);
	for (int32_t peer = 0; peer < RANKS; peer++)
		ck_assert_int_eq(f.stats->moved[peer][1], 0);
	ck_assert(f.stats->collectives == 2 && f.stats->wait_ns == 1234);
	ck_assert(f.stats->notifies == 0 && f.stats->waits == 0 && f.stats->acts == 0);
	teardown(&f);
}
END_TEST

/* Numbers that are none come from a segment that somebody has written over. */
START_TEST(no_acts)
{
	const uint32_t none[] = { PLDI_ACT_NONE, PLDI_ACTS, 1000, UINT32_MAX };

	for (int i = 0; i < ROWS(none); i++) {
		ck_assert_str_eq(pldi_act_text(none[i]), "?");
		ck_assert_int_eq(pldi_act_form(none[i]), PLDI_FORM_NONE);
	}
}
END_TEST

/* ---- the list -------------------------------------------------------------------------------- */

static bool is_line(const struct pldi_act_shm *a, enum pldi_act act, int32_t peer, uint32_t window,
		    int64_t at, int64_t value, uint32_t reuse)
{
	return a->act == act && a->peer == peer && a->window == window && a->at == at &&
	       a->value == value && a->reuse == reuse;
}

START_TEST(listed)
{
	struct fixture f = { .refuse = 0 };

	setup(&f, true);
	for (int i = 0; i < ROWS(acts); i++)
		pldi_observe_act(&f.o, acts[i].act, i % RANKS, (uint32_t)(100 + i), INT64_MAX - i,
				 INT64_MIN + i, 8, i % 2);
	ck_assert_uint_eq(f.stats->acts, ROWS(acts));
	for (int i = 0; i < ROWS(acts); i++)
		ck_assert_msg(is_line(&f.o.acts[i], acts[i].act, i % RANKS, (uint32_t)(100 + i),
				      INT64_MAX - i, INT64_MIN + i, (uint32_t)(i % 2)),
			      "line %d", i);
	ck_assert_int_eq(f.o.acts[ROWS(acts)].act, PLDI_ACT_NONE);
	ck_assert_int_eq(f.commits, 1); /* in large steps */
	teardown(&f);
}
END_TEST

/* The last line that has room is listed; those behind it are counted, and lost. */
START_TEST(full)
{
	struct fixture f = { .refuse = 0 };
	const struct pldi_act_shm *last;

	setup(&f, true);
	last = &f.o.acts[PLDI_ACTS_MOST - 1];
	f.stats->acts = PLDI_ACTS_MOST - 2;
	for (int i = 0; i < 5; i++)
		pldi_observe_act(&f.o, PLDI_ACT_PUT, 2, 3, 4, 10 + i, 0, false);
	ck_assert_uint_eq(f.stats->acts, PLDI_ACTS_MOST + 3);
	ck_assert_int_eq(f.stats->moved[2][1], 10 + 11 + 12 + 13 + 14);
	ck_assert(is_line(last - 1, PLDI_ACT_PUT, 2, 3, 4, 10, 0));
	ck_assert(is_line(last, PLDI_ACT_PUT, 2, 3, 4, 11, 0));
	ck_assert(f.o.backed == PLDI_ACTS_MOST && f.outside == 0); /* and not a step more */
	teardown(&f);
}
END_TEST

/* Without memory a line is lost, and says so by its empty place; later ones get theirs. */
START_TEST(refused)
{
	struct fixture f = { .refuse = 2 };

	setup(&f, true);
	for (int i = 0; i < 4; i++)
		pldi_observe_act(&f.o, PLDI_ACT_GET, 0, 3, 4, 10 + i, 0, true);
	ck_assert(f.stats->acts == 4 && f.stats->moved[0][0] == 46);
	ck_assert(f.o.acts[0].act == PLDI_ACT_NONE && f.o.acts[1].act == PLDI_ACT_NONE);
	ck_assert(is_line(&f.o.acts[2], PLDI_ACT_GET, 0, 3, 4, 12, 1));
	ck_assert(is_line(&f.o.acts[3], PLDI_ACT_GET, 0, 3, 4, 13, 1));
	ck_assert_int_eq(f.commits, 1);
	teardown(&f);
}
END_TEST

/* ---- threads of one rank --------------------------------------------------------------------- */

enum { THREADS = 4, EACH = 200000 };

struct thread {
	struct fixture *f;
	pthread_barrier_t *start;
	int number;
	pthread_t thread;
};

static void *count_all(void *arg)
{
	struct thread *t = arg;

	pthread_barrier_wait(t->start);
	for (int i = 0; i < EACH; i++) {
		pldi_observe_act(&t->f->o, acts[i % ROWS(acts)].act, 2 * (i % 2),
				 (uint32_t)t->number, i, 40, 8, false);
		pldi_observe_collective(&t->f->o);
		pldi_observe_wait_ns(&t->f->o, t->number);
	}
	return NULL;
}

/* Each thread's acts, every one once and whole, in its order. */
static void check_lines(const struct fixture *f)
{
	int next[THREADS] = { 0 };

	for (int k = 0; k < THREADS * EACH; k++) {
		const struct pldi_act_shm *a = &f->o.acts[k];
		const uint32_t by = a->window;
		int i;

		if (by >= THREADS)
			ck_abort_msg("line %d: of thread %u", k, by);
		i = next[by]++;
		if (!is_line(a, acts[i % ROWS(acts)].act, 2 * (i % 2), by, i, 40, 0))
			ck_abort_msg("line %d: not act %d of thread %u", k, i, by);
	}
}

START_TEST(threads)
{
	struct fixture f = { .refuse = 0 };
	struct thread t[THREADS];
	pthread_barrier_t start;
	int64_t moved[2] = { 0, 0 }, notifies = 0, waits = 0;

	setup(&f, true);
	pthread_barrier_init(&start, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		t[i] = (struct thread){ .f = &f, .start = &start, .number = i };
		ck_assert_int_eq(pthread_create(&t[i].thread, NULL, count_all, &t[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i].thread, NULL);
	for (int i = 0; i < EACH; i++) {
		moved[0] += THREADS * acts[i % ROWS(acts)].read;
		moved[1] += THREADS * acts[i % ROWS(acts)].written;
		notifies += THREADS * acts[i % ROWS(acts)].notifies;
		waits += THREADS * acts[i % ROWS(acts)].waits;
	}
	for (int way = 0; way < 2; way++)
		ck_assert_int_eq(f.stats->moved[0][way] + f.stats->moved[2][way], moved[way]);
	ck_assert(f.stats->moved[ME][0] == 0 && f.stats->moved[ME][1] == 0);
	ck_assert(f.stats->notifies == notifies && f.stats->waits == waits);
	ck_assert_int_eq(f.stats->collectives, THREADS * EACH);
	ck_assert_int_eq(f.stats->wait_ns, EACH * (0 + 1 + 2 + 3));
	ck_assert_uint_eq(f.stats->acts, THREADS * EACH);
	check_lines(&f);
	pthread_barrier_destroy(&start);
	teardown(&f);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, counted, 0, ROWS(acts));
	tcase_add_test(tc, counted_beside);
	tcase_add_test(tc, no_acts);
	tcase_add_test(tc, listed);
	tcase_add_test(tc, full);
	tcase_add_test(tc, refused);
	tcase_add_test(tc, threads);
}

int main(void)
{
	return unit_run("observe", add);
}
