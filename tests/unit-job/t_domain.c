/* t_domain.c - domains against a model: who is in them, in which order, where their slices lie. */
#include "config.h"

#include <sched.h>

#include <pld/coll.h>
#include <pld/memory.h>

#include "pldi_domain.h"
#include "ranks.h"

static struct pldi_domain *domain(pld_ctx c)
{
	return (struct pldi_domain *)(uintptr_t)c.d_;
}

/* What a domain of these world ranks must look like to self. */
static void check_domain(struct pldi_rank *self, pld_ctx c, const int32_t *list, int32_t n)
{
	const struct pldi_head_shm *h = self->seg.base;
	struct pldi_domain *d = domain(c);
	int32_t step = n > 1 ? list[1] - list[0] : 1;

	RANK_HOLDS(d && pld_nranks(c) == n && d->shm->state == PLDI_DOMAIN_LIVE && d->shm->n == n);
	if (!d || pld_nranks(c) != n)
		return;
	RANK_HOLDS(list[pld_rank(c)] == self->rank);
	for (int32_t m = 0; m < n; m++) {
		RANK_HOLDS(pld_world_rank(c, m) == list[m] && d->shm->list[m] == list[m]);
		for (int region = PLDI_REGION_DENSE; region <= PLDI_REGION_SPARSE; region++)
			RANK_HOLDS(d->delta[region][m] ==
				   (ptrdiff_t)(pldi_window_off(h, region, list[m]) -
					       pldi_window_off(h, region, self->rank)));
		RANK_HOLDS(d->bell[m].doorbell == &pldi_slot(self->seg.base, list[m])->doorbell);
		if (m > 1 && list[m] - list[m - 1] != step)
			step = 0;
	}
	RANK_HOLDS(d->spacing == step);
	/* its members are there */
	RANK_HOLDS(pld_barrier(c) == PL_OK);
}

/* ---- splits ---------------------------------------------------------------------------------- */

struct pick {
	int colour, key;
};

/* The same on every rank. */
static struct pick pick(uint64_t seed, int rank)
{
	uint64_t random = seed * 1000 + (uint64_t)rank;

	return (struct pick){ (int)(next_random(&random) % 4) - 1,
			      (int)(next_random(&random) % 5) * 1000000 - 2000000 };
}

/* Members of self's colour by key, then by rank in `of`: repeated selection of the least. */
static int32_t model_split(struct pldi_domain *of, uint64_t seed, int colour, int32_t *list)
{
	bool taken[RANKS_MOST] = { false };
	int32_t n = 0;

	for (;;) {
		int least = -1;

		for (int m = 0; m < of->pub.nranks; m++) {
			if (taken[m] || pick(seed, of->world_rank[m]).colour != colour)
				continue;
			if (least < 0 || pick(seed, of->world_rank[m]).key <
						 pick(seed, of->world_rank[least]).key)
				least = m;
		}
		if (least < 0)
			return n;
		taken[least] = true;
		list[n++] = of->world_rank[least];
	}
}

/* Splits `of`, checks, splits the part again. */
static void split(struct pldi_rank *self, pld_ctx of, uint64_t seed, int depth)
{
	const struct pick mine = pick(seed, self->rank);
	int32_t list[RANKS_MOST], n = model_split(domain(of), seed, mine.colour, list);
	pld_ctx c = pld_domain_split(of, mine.colour, mine.key);

	RANK_HOLDS(pld_is_member(c) == (mine.colour >= 0));
	if (!pld_is_member(c))
		return;
	check_domain(self, c, list, n);
	if (depth > 1)
		split(self, c, seed + 7, depth - 1);
	RANK_HOLDS(pld_domain_free(c) == PL_OK);
}

static void random_splits(struct pldi_rank *self, void *arg)
{
	pld_ctx world = { &self->world->pub };

	(void)arg;
	for (uint64_t seed = 1; seed <= 60; seed++)
		split(self, world, seed, 3);
	RANK_HOLDS(pld_barrier(world) == PL_OK);
	/* their entries were used again */
	RANK_HOLDS(pldi_head(self->seg.base)->domains_used <= 1 + 4 * (uint32_t)self->nranks);
	for (uint32_t id = 1; id < pldi_head(self->seg.base)->domains_used; id++)
		RANK_HOLDS(pldi_domain_entry(self->seg.base, id)->state == PLDI_DOMAIN_FREE);
}

START_TEST(splits)
{
	ranks_run(ranks_counts[_i], random_splits, NULL);
}
END_TEST

/* ---- subsets --------------------------------------------------------------------------------- */

/* A random order of some ranks; the same on every rank. */
static int32_t pick_list(uint64_t *random, int nranks, int *list)
{
	int n = 1 + (int)(next_random(random) % (uint64_t)nranks), all[RANKS_MOST];

	for (int r = 0; r < nranks; r++)
		all[r] = r;
	for (int i = 0; i < n; i++) {
		int k = i + (int)(next_random(random) % (uint64_t)(nranks - i)), swap = all[k];

		all[k] = all[i];
		list[i] = all[i] = swap;
	}
	return n;
}

/* All overlap, all stay until the end; each rank comes to its own ones only, at its own pace. */
static void random_subsets(struct pldi_rank *self, void *arg)
{
	enum { MANY = 80 };
	pld_ctx world = { &self->world->pub }, made[MANY];
	uint64_t random = 4711, pace = (uint64_t)self->rank;
	int lists[MANY][RANKS_MOST], n[MANY];

	(void)arg;
	for (int i = 0; i < MANY; i++) {
		int32_t ranks[RANKS_MOST], in = 0;

		n[i] = pick_list(&random, self->nranks, lists[i]);
		for (int m = 0; m < n[i]; m++) {
			ranks[m] = lists[i][m];
			in |= ranks[m] == self->rank;
		}
		made[i] = (pld_ctx){ NULL };
		if (!in && next_random(&pace) % 2) /* who is no member may call, or not */
			continue;
		made[i] = pld_domain_subset(world, lists[i], n[i]);
		RANK_HOLDS(pld_is_member(made[i]) == in);
		if (in)
			check_domain(self, made[i], ranks, n[i]);
	}
	for (int i = 0; i < MANY; i++)
		if (pld_is_member(made[i]))
			RANK_HOLDS(pld_domain_free(made[i]) == PL_OK);
}

START_TEST(subsets)
{
	ranks_run(ranks_counts[_i], random_subsets, NULL);
}
END_TEST

/* The same list twice, before either is complete: two domains, each with everybody. */
static void twice(struct pldi_rank *self, void *arg)
{
	pld_ctx world = { &self->world->pub };
	int list[RANKS_MOST];

	(void)arg;
	for (int r = 0; r < self->nranks; r++)
		list[r] = r;
	for (int i = 0; i < 300; i++) {
		pld_ctx a = pld_domain_subset(world, list, self->nranks);
		pld_ctx b = pld_domain_subset(world, list, self->nranks);

		RANK_HOLDS(a.d_ && b.d_ && domain(a)->id != domain(b)->id);
		RANK_HOLDS(pld_barrier(b) == PL_OK && pld_barrier(a) == PL_OK);
		RANK_HOLDS(pld_domain_free(a) == PL_OK && pld_domain_free(b) == PL_OK);
	}
}

START_TEST(same_list_twice)
{
	ranks_run(ranks_counts[_i], twice, NULL);
}
END_TEST

/* A subset of a subset: ranks are those of the domain that it is of. */
static void nested(struct pldi_rank *self, void *arg)
{
	pld_ctx world = { &self->world->pub };
	int reversed[RANKS_MOST], last_two[2] = { self->nranks - 2, self->nranks - 1 };
	int32_t expected[2] = { 1, 0 };
	pld_ctx all, two;

	(void)arg;
	for (int r = 0; r < self->nranks; r++)
		reversed[r] = self->nranks - 1 - r;
	all = pld_domain_subset(world, reversed, self->nranks);
	two = pld_domain_subset(all, last_two, 2);
	RANK_HOLDS(pld_is_member(two) == (self->rank < 2));
	if (pld_is_member(two)) {
		check_domain(self, two, expected, 2);
		RANK_HOLDS(domain(two)->shm->parent == domain(all)->id);
		RANK_HOLDS(pld_domain_free(two) == PL_OK);
	}
	RANK_HOLDS(pld_domain_free(all) == PL_OK);
}

START_TEST(subset_of_a_subset)
{
	for (size_t i = 1; i < ROWS(ranks_counts); i++)
		ranks_run(ranks_counts[i], nested, NULL);
}
END_TEST

/* ---- texts ----------------------------------------------------------------------------------- */

START_TEST(texts)
{
	int32_t list[20];
	char text[128], tiny[8];

	for (int i = 0; i < 20; i++)
		list[i] = i * 100;
	pldi_ranks_text(text, sizeof(text), list, 1);
	ck_assert_str_eq(text, "{0}");
	pldi_ranks_text(text, sizeof(text), list, 3);
	ck_assert_str_eq(text, "{0, 100, 200}");
	pldi_ranks_text(text, sizeof(text), list, 16);
	ck_assert_str_eq(text + strlen(text) - 7, ", 1500}");
	pldi_ranks_text(text, sizeof(text), list, 17);
	ck_assert_str_eq(text + strlen(text) - 9, "1500, ..}");
	pldi_ranks_text(tiny, sizeof(tiny), list, 20);
	ck_assert_uint_eq(strlen(tiny), sizeof(tiny) - 1);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, splits, 0, ROWS(ranks_counts));
	tcase_add_loop_test(tc, subsets, 0, ROWS(ranks_counts));
	tcase_add_loop_test(tc, same_list_twice, 0, ROWS(ranks_counts));
	tcase_add_test(tc, subset_of_a_subset);
	tcase_add_test(tc, texts);
}

int main(void)
{
	return unit_run("domain", add);
}
