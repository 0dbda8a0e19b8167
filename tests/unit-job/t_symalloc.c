/* t_symalloc.c - the job-wide allocator against a model that looks at every free place. */
#include "config.h"

#include "ranks.h"

#include "pldi_symalloc.h"

#define RESERVE (1 << 20)
#define SLICES (16384 + 16) /* lines of the dense window, and to spare */

/* A rank of a job of three, and its job. */
struct job {
	struct pldi_segment seg;
	struct pldi_rank *self;
};

static struct job make_job(void)
{
	struct job j;

	j.self = ranks_make(3, 1, RESERVE);
	j.seg = j.self->seg;
	return j;
}

/* What a buffer takes of its window: the rule, written again. */
static uint64_t taken(enum pldi_region region, uint64_t bytes)
{
	switch (region) {
	case PLDI_REGION_DENSE:
		return (bytes + 63) / 64 * 64;
	case PLDI_REGION_SPARSE:
		return (bytes + 4095) / 4096 * 4096 + 4096;
	case PLDI_REGION_HOST:
		return (bytes + 4095) / 4096 * 4096;
	default:
		return 0;
	}
}

/* ---- the model: for each region a map of its units ------------------------------------------- */

struct model {
	unsigned char used[PLDI_ARENAS][SLICES];
};

static uint64_t unit(enum pldi_region region)
{
	return region == PLDI_REGION_DENSE ? 64 : 4096;
}

static uint64_t units(enum pldi_region region)
{
	return region == PLDI_REGION_DENSE ? PLDI_DENSE_BYTES / 64 : RESERVE / 4096;
}

/* The lowest free run of so many bytes, in bytes; or UINT64_MAX and the longest run. */
static uint64_t first_fit(const struct model *m, enum pldi_region region, uint64_t bytes,
			  uint64_t *longest)
{
	uint64_t run = 0;

	*longest = 0;
	for (uint64_t i = 0; i < units(region); i++) {
		run = m->used[region][i] ? 0 : run + 1;
		if (run * unit(region) > *longest)
			*longest = run * unit(region);
		if (run * unit(region) >= bytes)
			return (i + 1 - run) * unit(region);
	}
	return UINT64_MAX;
}

static void mark(struct model *m, enum pldi_region region, uint64_t off, uint64_t bytes, int used)
{
	memset(&m->used[region][off / unit(region)], used, bytes / unit(region));
}

/* The free ranges of the arena are the runs of the map. */
static void check_arena(const struct job *j, const struct model *m, enum pldi_region region)
{
	const struct pldi_arena_shm *a = pldi_arena(j->seg.base, region);
	uint64_t at = 0;

	for (uint64_t i = 0; i < a->nfree; i++) {
		const struct pldi_range_shm *r = &a->free[i];

		for (; at < r->off / unit(region); at++)
			if (!m->used[region][at])
				ck_abort_msg("unit %d is free, and not listed", (int)at);
		for (; at < (r->off + r->bytes) / unit(region); at++)
			if (m->used[region][at])
				ck_abort_msg("unit %d is listed, and not free", (int)at);
		if (r->bytes == 0 || (i > 0 && r[-1].off + r[-1].bytes >= r->off))
			ck_abort_msg("range %d is empty, out of order, or touches its neighbour",
				     (int)i);
	}
	for (; at < units(region); at++)
		if (!m->used[region][at])
			ck_abort_msg("unit %d is free, and not listed", (int)at);
}

/* Allocates, and compares with where the model would. */
static int allocate(const struct job *j, struct model *m, uint64_t bytes, int host,
		    struct pldi_place *p)
{
	enum pldi_region region = host			    ? PLDI_REGION_HOST
				  : bytes <= PLDI_DENSE_MAX ? PLDI_REGION_DENSE
							    : PLDI_REGION_SPARSE;
	uint64_t largest = 7, longest = 0, dense = 0, off = 0;
	enum pldi_symalloc_rc rc = pldi_symalloc(j->self, bytes, host, 3, p, &largest);

	if (bytes == 0) {
		ck_assert(rc == PLDI_SYMALLOC_OK && p->region == PLDI_REGION_NONE && p->off == 0);
		return 0;
	}
	off = first_fit(m, region, taken(region, bytes), &longest);
	if (off == UINT64_MAX && region == PLDI_REGION_DENSE) {
		dense = longest;
		region = PLDI_REGION_SPARSE;
		off = first_fit(m, region, taken(region, bytes), &longest);
	}
	if (off == UINT64_MAX) {
		ck_assert_int_eq(rc, PLDI_SYMALLOC_RANGE);
		ck_assert_uint_eq(largest, longest > dense ? longest : dense);
		return -1;
	}
	if (rc != PLDI_SYMALLOC_OK || p->region != region || p->off != off)
		ck_abort_msg(
			"%llu bytes: rc %d, region %d, offset %llu; wanted region %d, offset %llu",
			(unsigned long long)bytes, rc, p->region, (unsigned long long)p->off,
			region, (unsigned long long)off);
	mark(m, region, off, taken(region, bytes), 1);
	return 0;
}

static void give_back(const struct job *j, struct model *m, const struct pldi_place *p,
		      uint64_t bytes)
{
	/* three members: the last is told so */
	ck_assert(!pldi_symalloc_leave(j->self, p) && !pldi_symalloc_leave(j->self, p) &&
		  pldi_symalloc_leave(j->self, p));
	ck_assert_int_eq(pldi_symalloc_return(j->self, p), 0);
	if (p->region != PLDI_REGION_NONE)
		mark(m, p->region, p->off, taken(p->region, bytes), 0);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint64_t bytes;
	int host;
	enum pldi_region region;
} choices[] = {
	{ "nothing", 0, 0, PLDI_REGION_NONE },
	{ "nothing, host", 0, 1, PLDI_REGION_NONE },
	{ "a byte", 1, 0, PLDI_REGION_DENSE },
	{ "most of dense", PLDI_DENSE_MAX, 0, PLDI_REGION_DENSE },
	{ "one more", PLDI_DENSE_MAX + 1, 0, PLDI_REGION_SPARSE },
	{ "a byte, host", 1, 1, PLDI_REGION_HOST },
	{ "much, host", 1 << 19, 1, PLDI_REGION_HOST },
};

START_TEST(choice)
{
	struct job j = make_job();
	struct pldi_place p;
	uint64_t largest;

	ck_assert_int_eq(pldi_symalloc(j.self, choices[_i].bytes, choices[_i].host, 3, &p,
				       &largest),
			 PLDI_SYMALLOC_OK);
	ck_assert_msg(p.region == choices[_i].region, "%s", choices[_i].name);
	ck_assert(p.number == 1 && p.entry == 0 && p.off == 0);
	ck_assert(pldi_buffer_entry(j.seg.base, 0)->number == 1);
	ck_assert_int_eq(pldi_symalloc_return(j.self, &p), 0);
	ck_assert(pldi_buffer_entry(j.seg.base, 0)->number == 0);
	/* entries are used again, numbers are not */
	ck_assert_int_eq(pldi_symalloc(j.self, 1, 0, 3, &p, &largest), PLDI_SYMALLOC_OK);
	ck_assert(p.number == 2 && p.entry == 0);
}
END_TEST

/* Random sizes, random frees; after each some look at the free ranges; in the end all is one. */
START_TEST(random_order)
{
	enum { LIVE = 400, STEPS = 20000 };
	static struct {
		struct pldi_place p;
		uint64_t bytes;
	} live[LIVE];
	static struct model m;
	struct job j = make_job();
	uint64_t random = (uint64_t)_i;
	int n = 0, full = 0;

	for (int step = 0; step < STEPS; step++) {
		uint64_t r = next_random(&random);
		int grow = step % 4000 < 2000 ? 6 : 3; /* of 10: fills, empties */

		if (n < LIVE && (n == 0 || (int)(r % 10) < grow)) {
			uint64_t size = next_random(&random);

			live[n].bytes = size % 8 == 0	? 0
					: size % 8 == 1 ? size / 8 % 200000
					: size % 8 < 4	? size / 8 % 20000
							: size / 8 % 300;
			if (allocate(&j, &m, live[n].bytes, r / 10 % 5 == 0, &live[n].p) == 0)
				n++;
			else
				full++;
		} else {
			int k = (int)(next_random(&random) % (uint64_t)n);

			give_back(&j, &m, &live[k].p, live[k].bytes);
			live[k] = live[--n];
		}
		for (int region = 0; step % 64 == 0 && region < PLDI_ARENAS; region++)
			check_arena(&j, &m, (enum pldi_region)region);
	}
	ck_assert_int_gt(full, 10); /* the windows were too small at times */
	while (n-- > 0)
		give_back(&j, &m, &live[n].p, live[n].bytes);
	for (int region = 0; region < PLDI_ARENAS; region++) {
		const struct pldi_arena_shm *a = pldi_arena(j.seg.base, (enum pldi_region)region);

		ck_assert(a->nfree == 1 && a->free[0].off == 0 && a->free[0].bytes == a->bytes);
	}
	for (uint32_t i = 0; i < pldi_head(j.seg.base)->buffers_used; i++)
		ck_assert_uint_eq(pldi_buffer_entry(j.seg.base, i)->number, 0);
}
END_TEST

/* Every way in which a range can join its neighbours. */
START_TEST(merging)
{
	static const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					 { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	static struct model m;
	struct job j = make_job();
	struct pldi_place p[5];

	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(allocate(&j, &m, 100, 0, &p[i]), 0);
	for (int i = 0; i < 3; i++) {
		give_back(&j, &m, &p[1 + orders[_i][i]], 100);
		check_arena(&j, &m, PLDI_REGION_DENSE);
	}
	ck_assert_uint_eq(pldi_arena(j.seg.base, PLDI_REGION_DENSE)->nfree, 2);
	ck_assert_int_eq(allocate(&j, &m, 384, 0, &p[1]), 0); /* exactly the hole */
	ck_assert_uint_eq(p[1].off, 128);
	ck_assert_uint_eq(pldi_arena(j.seg.base, PLDI_REGION_DENSE)->nfree, 1);
}
END_TEST

/* When the dense window is full the sparse one takes small buffers; then there is no range. */
START_TEST(exhaustion)
{
	static struct model m;
	static struct pldi_place p[PLDI_MAX_BUFFERS + 1];
	struct job j = make_job();
	uint64_t largest = 0;
	int n = 0;

	while (allocate(&j, &m, PLDI_DENSE_MAX, 0, &p[n]) == 0)
		n++;
	ck_assert_int_eq(n, PLDI_DENSE_BYTES / PLDI_DENSE_MAX + RESERVE / (PLDI_DENSE_MAX + 4096));
	ck_assert_int_eq(pldi_symalloc(j.self, INT64_MAX, 0, 3, &p[n], &largest),
			 PLDI_SYMALLOC_RANGE);
	ck_assert_int_eq(pldi_symalloc(j.self, UINT64_MAX, 1, 3, &p[n], &largest),
			 PLDI_SYMALLOC_RANGE);
	while (n-- > 0)
		give_back(&j, &m, &p[n], PLDI_DENSE_MAX);
	/* as many buffers as there can be, with as many holes as there can be */
	for (n = 0; n < PLDI_MAX_BUFFERS; n++)
		if (pldi_symalloc(j.self, 64, 0, 1, &p[n], &largest))
			ck_abort_msg("buffer %d", n);
	ck_assert_int_eq(pldi_symalloc(j.self, 64, 0, 1, &p[n], &largest), PLDI_SYMALLOC_BUFFERS);
	ck_assert_int_eq(pldi_symalloc(j.self, 0, 1, 1, &p[n], &largest), PLDI_SYMALLOC_BUFFERS);
	for (n = 0; n < PLDI_MAX_BUFFERS; n += 2)
		pldi_symalloc_return(j.self, &p[n]);
	ck_assert_uint_eq(pldi_arena(j.seg.base, PLDI_REGION_DENSE)->nfree, PLDI_MAX_BUFFERS / 2);
	for (n = 1; n < PLDI_MAX_BUFFERS; n += 2)
		pldi_symalloc_return(j.self, &p[n]);
	ck_assert_uint_eq(pldi_arena(j.seg.base, PLDI_REGION_DENSE)->nfree, 1);
}
END_TEST

/* Ranks at once: no two live buffers share a byte, and all comes back. */
static void at_once(struct pldi_rank *self, void *arg)
{
	struct pldi_place p[20];
	uint64_t random = (uint64_t)self->rank, largest, bytes[20];

	(void)arg;
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 20; i++) {
			bytes[i] = 1 + next_random(&random) % 5000;
			RANK_HOLDS(pldi_symalloc(self, bytes[i], 1, 1, &p[i], &largest) ==
				   PLDI_SYMALLOC_OK);
			memset((char *)self->seg.base + pldi_head(self->seg.base)->host_off +
				       p[i].off,
			       self->rank + 1, bytes[i]);
		}
		for (int i = 0; i < 20; i++) {
			const char *at = (char *)self->seg.base +
					 pldi_head(self->seg.base)->host_off + p[i].off;

			RANK_HOLDS(at[0] == self->rank + 1 && at[bytes[i] - 1] == self->rank + 1);
			RANK_HOLDS(pldi_symalloc_leave(self, &p[i]));
			RANK_HOLDS(pldi_symalloc_return(self, &p[i]) == 0);
		}
	}
}

START_TEST(concurrently)
{
	ranks_run(5, at_once, NULL);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, choice, 0, ROWS(choices));
	tcase_add_loop_test(tc, random_order, 0, 4);
	tcase_add_loop_test(tc, merging, 0, 6);
	tcase_add_test(tc, exhaustion);
	tcase_add_test(tc, concurrently);
}

int main(void)
{
	return unit_run("symalloc", add);
}
