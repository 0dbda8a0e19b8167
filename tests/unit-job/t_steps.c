/* t_steps.c - posts inside a call: whom they wait for, what they order; ranks are threads. */
#include "config.h"

#include <sched.h>

#include "pldi_agree.h"
#include "ranks.h"

#define CALL(id, ...)                                                                              \
	{                                                                                          \
		.op = (id), .arg = { __VA_ARGS__ }                                                 \
	}

static void nap(uint64_t *random)
{
	for (uint64_t i = next_random(random) % 4; i > 0; i--)
		sched_yield();
}

/* What ranks write plainly for others to read: what posts order. */
struct board {
	pthread_barrier_t start;
	uint32_t from; /* posts that every member begins with */
	int64_t said[RANKS_MOST][8];
};

enum { STEPS = 5, STEP_ROUNDS = 400 };

/* Everyone has as many posts behind it as if it had made that many. */
static void begin_at(struct pldi_rank *self, struct board *b)
{
	self->world->posts = b->from;
	atomic_store_explicit(&self->world->flags[self->rank].v, b->from, memory_order_relaxed);
	pthread_barrier_wait(&b->start);
}

/*
 * A call of some steps, of which the numbers of steps alternate: in each a member says something,
 * posts, and waits for the one before it alone; then for all.  Payloads are read before the first
 * step, when the slowest member has not read them yet and the fastest is already steps ahead.
 */
static void in_steps(struct pldi_rank *self, void *arg)
{
	struct board *b = arg;
	struct pldi_domain *d = self->world;
	const int32_t n = self->nranks, prev = (self->rank + n - 1) % n;
	uint64_t random = 7 + (uint64_t)self->rank;
	uint32_t posts = b->from;

	begin_at(self, b);
	for (int64_t i = 1; i <= STEP_ROUNDS; i++) {
		const struct pldi_call what = CALL(PLDI_CALL_ALLREDUCE, i);
		const int64_t payload[PLDI_PAYLOAD] = { i * self->rank, i };
		const int steps = (int)(i % STEPS);

		RANK_HOLDS(pldi_begin(d, "f", "a.c:1") == PL_OK);
		RANK_HOLDS(pldi_agree(d, &what, payload, "a.c:1") == PL_OK);
		RANK_HOLDS(d->posts == ++posts && d->entry == posts);
		nap(&random);
		for (int32_t m = 0; m < n; m++)
			RANK_HOLDS(pldi_posted(d, m)[0] == i * m && pldi_posted(d, m)[1] == i);
		for (int s = 1; s <= steps; s++) {
			b->said[self->rank][s] = i * STEPS + s;
			pldi_step(d);
			RANK_HOLDS(d->posts == ++posts && d->entry == posts - (uint32_t)s);
			RANK_HOLDS(pldi_await(d, prev, d->entry + (uint32_t)s) == 0);
			RANK_HOLDS(b->said[prev][s] == i * STEPS + s);
		}
		nap(&random);
		pldi_step(d); /* a barrier: nobody writes its board again before all have read */
		posts++;
		RANK_HOLDS(pldi_await_all(d) == 0);
		for (int32_t m = 0; m < n && steps; m++)
			RANK_HOLDS(b->said[m][steps] == i * STEPS + steps);
		pldi_end(d);
	}
}

/* From 0, and over the end of 32 bits. */
static const uint32_t first_posts[] = { 0, UINT32_MAX - 60 };

START_TEST(steps)
{
	for (size_t i = 0; i < ROWS(first_posts); i++) {
		struct board b = { .from = first_posts[i] };

		pthread_barrier_init(&b.start, NULL, (unsigned)ranks_counts[_i]);
		ranks_run(ranks_counts[_i], in_steps, &b);
		pthread_barrier_destroy(&b.start);
	}
}
END_TEST

/* An await returns only when that member has posted so often, and asks nobody else. */
static void one_waits(struct pldi_rank *self, void *arg)
{
	struct board *b = arg;
	struct pldi_domain *d = self->world;
	const struct pldi_call same = CALL(PLDI_CALL_BARRIER, 0);

	RANK_HOLDS(pldi_agree(d, &same, NULL, "a.c:1") == PL_OK);
	if (self->rank == 0) {
		RANK_HOLDS(pldi_await(d, 1, d->entry + 3) == 0); /* rank 2 has no step yet */
		RANK_HOLDS(b->said[1][0] == 3);
		b->said[0][0] = 1;
		pldi_step(d);
	} else if (self->rank == 1) {
		for (int s = 1; s <= 3; s++) {
			sched_yield();
			b->said[1][0] = s;
			pldi_step(d);
		}
	} else {
		RANK_HOLDS(pldi_await(d, 0, d->entry + 1) == 0);
		RANK_HOLDS(b->said[0][0] == 1);
	}
}

START_TEST(awaiting_one)
{
	for (int i = 0; i < 200; i++) {
		struct board b = { .from = 0 };

		ranks_run(3, one_waits, &b);
	}
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, steps, 0, ROWS(ranks_counts));
	tcase_add_test(tc, awaiting_one);
}

int main(void)
{
	return unit_run("steps", add);
}
