/*
 * storm_alloc.c - buffers of random sizes come and go on the world and on subsets of it, in random
 * order: each is zero when it is new, holds what its members wrote until it goes, and at the end
 * the memory is back.
 */
#include "config.h"

#include <stdbool.h>

#include "storm.h"

enum {
	LIVE = 24,
	SUBSETS = 2,
	TURNS = 200,	  /* a round */
	DENSE = 1 << 20,  /* bytes a rank that small buffers keep: their pages are not returned */
	TABLES = 4 << 20, /* so are tables of domains and buffers */
	LARGE = 3 << 20,  /* elements of the largest */
};

struct held {
	pld_tensor t;
	pld_ctx domain;
	int64_t elems, number;
};

/* Around where sizes change what is done; few are large. */
static int64_t random_elems(uint64_t *s)
{
	switch (multi_pick(s, 8)) {
	case 0:
		return multi_pick(s, 3);
	case 1:
		return (16 << 10) / 4 - 2 + multi_pick(s, 5); /* the largest dense one */
	case 2:
	case 3:
		return multi_pick(s, 100);
	case 4:
		return multi_pick(s, 1 << 16);
	case 5:
		return (4096 << multi_pick(s, 6)) / 4 - 2 + multi_pick(s, 5);
	case 6:
		return multi_pick(s, 20) ? multi_pick(s, 1 << 18) : multi_pick(s, LARGE);
	default:
		return multi_pick(s, 4096);
	}
}

static int32_t pattern(int64_t number, int world_rank, int64_t at)
{
	return (int32_t)(number * 65537 + world_rank * 257 + at);
}

/* Of large ones a part: first, last, and some between. */
static int64_t step_of(int64_t elems)
{
	return elems < 5000 ? 1 : elems / 1009;
}

static void expect_slice(const struct storm *s, const struct held *h, int member, bool fresh)
{
	const int32_t *slice = pld_ptr(h->t, member);
	const int world = pld_world_rank(h->domain, member);

	for (int64_t i = 0; i < h->elems; i += step_of(h->elems))
		expect_int(&s->m, fresh ? "new slice" : "slice", i, slice[i],
			   fresh ? 0 : pattern(h->number, world, i));
}

static void take(const struct storm *s, struct held *h, pld_ctx domain, int64_t elems,
		 int64_t number)
{
	int32_t *own;

	*h = (struct held){ .domain = domain, .elems = elems, .number = number };
	h->t = pld_new_window(PL_SHAPE(elems), PL_INT32, .domain = domain);
	expect_slice(s, h, pld_rank(domain), true);
	own = pld_ptr(h->t, pld_rank(domain));
	for (int64_t i = 0; i < elems; i += step_of(elems))
		own[i] = pattern(number, s->m.me, i);
}

static void drop(const struct storm *s, struct held *h)
{
	const int n = pld_nranks(h->domain), me = pld_rank(h->domain);

	pld_barrier(h->domain);
	expect_slice(s, h, me, false);
	expect_slice(s, h, (me + 1) % n, false);
	pld_free_window(h->t);
	h->t = (pld_tensor){ NULL, NULL };
}

/* Every rank draws the same, and leaves out what concerns a domain that it is no member of. */
static void round_of(struct storm *s)
{
	uint64_t random = multi_seed(s->seed, 1, (uint64_t)s->rounds);
	struct held held[LIVE] = { 0 };
	pld_ctx domains[1 + SUBSETS] = { pld_world() };

	for (int i = 1; i <= SUBSETS; i++)
		domains[i] = storm_subset(pld_world(), &random);
	for (int turn = 0; turn < TURNS; turn++) {
		struct held *h = &held[multi_pick(&random, LIVE)];
		pld_ctx d = domains[multi_pick(&random, 1 + SUBSETS)];
		const int64_t elems = random_elems(&random);

		if (h->domain.d_ == NULL) {
			h->domain = d;
			if (pld_is_member(d))
				take(s, h, d, elems, s->rounds * TURNS + turn);
		} else {
			if (pld_is_member(h->domain))
				drop(s, h);
			h->domain = (pld_ctx){ NULL };
		}
	}
	for (int i = 0; i < LIVE; i++)
		if (pld_is_member(held[i].domain))
			drop(s, &held[i]);
	for (int i = 1; i <= SUBSETS; i++)
		if (pld_is_member(domains[i]))
			pld_domain_free(domains[i]);
}

int main(int argc, char **argv)
{
	struct storm s = storm_begin("storm_alloc", argc, argv);
	const int64_t before = storm_memory();
	int64_t left;

	while (storm_more(&s))
		round_of(&s);
	pld_barrier(pld_world());
	left = storm_memory() - before;
	if (left > s.m.n * (int64_t)DENSE + TABLES)
		multi_fail(&s.m, "%lld bytes of memory are still there", (long long)left);
	pld_barrier(pld_world());
	return storm_end(&s);
}
