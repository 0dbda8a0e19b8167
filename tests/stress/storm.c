/* storm.c - seed, time and end of programs that do random things for a while. */
#include "config.h"

#include <stdbool.h>
#include <sys/stat.h>

#include "pldi_job.h"
#include "storm.h"

enum { RANK_COUNTS = 2 }; /* of such a test in tests/RANKS */

/* Rank 0's value, on every rank. */
static int64_t agreed(const struct storm *s, int64_t mine)
{
	*(int64_t *)pl_data(pld_local(s->one)) = mine;
	pld_broadcast(s->one);
	return *(int64_t *)pl_data(pld_local(s->one));
}

static double run_seconds(int argc, char **argv)
{
	const char *all = getenv("STRESS_SECONDS");

	if (argc > 1)
		return atof(argv[1]);
	return all && *all ? atof(all) / RANK_COUNTS : 1;
}

struct storm storm_begin(const char *name, int argc, char **argv)
{
	const char *seed = getenv("PLD_TEST_SEED");
	struct storm s = { .m = { .program = name, .row = "random" } };

	pld_init(NULL);
	s.m.me = pld_rank(pld_world());
	s.m.n = pld_nranks(pld_world());
	s.one = pld_new_window(PL_SHAPE(1), PL_INT64);
	s.seed = (uint64_t)agreed(&s, seed && *seed ? (int64_t)strtoull(seed, NULL, 0)
						    : multi_now_ns());
	s.until_ns = multi_now_ns() + (int64_t)(run_seconds(argc, argv) * 1e9);
	if (s.m.me == 0)
		printf("%s: %d ranks, %.1f s, PLD_TEST_SEED=%llu\n", name, s.m.n,
		       run_seconds(argc, argv), (unsigned long long)s.seed);
	return s;
}

bool storm_more(struct storm *s)
{
	if (!agreed(s, multi_now_ns() < s->until_ns))
		return false;
	s->rounds++;
	return true;
}

int storm_end(struct storm *s)
{
	if (s->m.me == 0)
		printf("%s: %lld rounds\n", s->m.program, (long long)s->rounds);
	pld_free_window(s->one);
	pld_finalize();
	return 0;
}

pld_ctx storm_subset(pld_ctx c, uint64_t *random)
{
	const int n = pld_nranks(c);
	int list[64];

	for (int i = 0; i < n; i++)
		list[i] = i;
	for (int i = n - 1; i > 0; i--) {
		const int64_t k = multi_pick(random, i + 1);
		const int other = list[k];

		list[k] = list[i];
		list[i] = other;
	}
	return pld_domain_subset(c, list, 1 + (int)multi_pick(random, n));
}

int64_t storm_memory(void)
{
	struct stat st;

	return fstat(pldi_self()->seg.fd, &st) ? -1 : (int64_t)st.st_blocks * 512;
}
