/*
 * storm_domain.c - domains are made by splits and subsets, of domains too, used and freed, at
 * random: each has its own members, windows, signals and collectives.
 */
#include "config.h"

#include <stdbool.h>

#include "storm.h"

enum { DEPTH = 4, KEPT = 6 };

/* Sum over members, so that a stranger or a missing one shows. */
static int64_t id_of(int world_rank)
{
	return 1 + (int64_t)world_rank * world_rank * 7919;
}

static void use_collectives(const struct storm *s, pld_ctx c, uint64_t *random)
{
	const int n = pld_nranks(c), root = (int)multi_pick(random, n);
	pld_tensor t = pld_new_window(PL_SHAPE(2), PL_INT64, .domain = c);
	pld_tensor signal = pld_new_window(PL_SHAPE(64), PL_INT32, .domain = c);
	int64_t *own = pl_data(pld_local(t)), sum = 0, last = 0;

	for (int i = 0; i < n; i++) {
		sum += id_of(pld_world_rank(c, i));
		last = i == root ? pld_world_rank(c, i) : last;
	}
	own[0] = id_of(s->m.me);
	own[1] = n;
	if (multi_pick(random, 2))
		pld_allreduce(t);
	else
		pld_allreduce(t, .signal = signal);
	expect_int(&s->m, "sum of a domain", 0, own[0], sum);
	expect_int(&s->m, "size of a domain", 1, own[1], (int64_t)n * n);
	pld_barrier(c);
	own[0] = s->m.me;
	pld_broadcast(t, .root = root);
	expect_int(&s->m, "broadcast in a domain", root, own[0], last);
	pld_free_window(signal);
	pld_free_window(t);
}

/* A token round the ring of a domain. */
static void use_signals(const struct storm *s, pld_ctx c, int32_t tag)
{
	pld_tensor signal = pld_new_window(PL_SHAPE(1), PL_INT32, .domain = c);
	const int n = pld_nranks(c), me = pld_rank(c);

	if (me == 0)
		pld_notify(signal, (me + 1) % n, PL_AT(0), tag, PLD_NOTIFY_SET);
	pld_wait(signal, PL_AT(0), tag, PLD_WAIT_EQ);
	if (me != 0)
		pld_notify(signal, (me + 1) % n, PL_AT(0), tag, PLD_NOTIFY_SET);
	expect_int(&s->m, "token", 0, *(int32_t *)pl_data(pld_local(signal)), tag);
	pld_free_window(signal);
}

/* Members of c draw the same from *random; what it becomes may differ between domains. */
static void nest(const struct storm *s, pld_ctx c, uint64_t seed, int depth)
{
	uint64_t random = seed;
	pld_ctx part;

	use_collectives(s, c, &random);
	use_signals(s, c, 1 + (int32_t)multi_pick(&random, 1000));
	multi_delay(&seed);
	for (int i = (int)multi_pick(&random, 3); depth < DEPTH && i > 0; i--) {
		const uint64_t below = multi_random(&random);

		if (multi_pick(&random, 2)) {
			const int colours = 1 + (int)multi_pick(&random, 3);
			const int colour = (int)multi_seed(below, 1, (uint64_t)s->m.me) & 0xffff;

			/* one of them without a domain */
			part = pld_domain_split(c, colour % (colours + 1) - 1, colour >> 8);
		} else {
			part = storm_subset(c, &random);
		}
		if (!pld_is_member(part))
			continue;
		/* the same for all members of the part */
		nest(s, part, multi_seed(below, 2, (uint64_t)pld_world_rank(part, 0)), depth + 1);
		pld_domain_free(part);
	}
}

/* Domains that live long and overlap, used in random order; any is replaced now and then. */
static void keep(const struct storm *s, pld_ctx *kept, uint64_t *random)
{
	for (int i = 0; i < 2 * KEPT; i++) {
		pld_ctx *d = &kept[multi_pick(random, KEPT)];
		uint64_t use = multi_random(random);
		const bool replace = d->d_ == NULL || multi_pick(random, 8) == 0;

		if (replace && d->d_ && pld_is_member(*d))
			pld_domain_free(*d);
		if (replace)
			*d = storm_subset(pld_world(), random);
		if (pld_is_member(*d))
			use_collectives(s, *d, &use);
	}
}

int main(int argc, char **argv)
{
	struct storm s = storm_begin("storm_domain", argc, argv);
	pld_ctx kept[KEPT] = { { NULL } };

	while (storm_more(&s)) {
		uint64_t random = multi_seed(s.seed, 2, (uint64_t)s.rounds);

		nest(&s, pld_world(), multi_random(&random), 0);
		keep(&s, kept, &random);
	}
	for (int i = 0; i < KEPT; i++)
		if (pld_is_member(kept[i]))
			pld_domain_free(kept[i]);
	return storm_end(&s);
}
