/*
 * coll_huge.c - collectives of more than 2^31 elements: allreduce, broadcast, allgather, INT8.
 *
 *	make huge		(pldrun -n 2 coll_huge [allreduce] [broadcast] [allgather])
 *
 * Not part of `make check`: each rank has a slice of 2 GiB.  Too little memory is a failure.
 */
#include "config.h"

#include "../multi/multi.h"

#include <inttypes.h>
#include <stdbool.h>

#define BLOCK ((INT64_C(1) << 30) + 3)

struct rig {
	const struct multi *m;
	pld_buffer b;
	int64_t n; /* bytes, and elements, of a slice */
	int8_t *slice;
};

/* Not the same in two places 2^31 or 2^32 apart. */
static int8_t value(int r, int64_t i)
{
	return (int8_t)(i + 3 * (i >> 31) + 5 * (i >> 16) + 17 * r);
}

static void stage(const struct rig *g, int64_t first, int64_t n)
{
	for (int64_t i = first; i < first + n; i++)
		g->slice[i] = value(g->m->me, i);
}

static void report(const struct rig *g, int64_t begin_ns, const char *what)
{
	if (g->m->me == 0)
		printf("coll_huge: %s of %" PRId64 " elements: %.1f s\n", what, g->n,
		       (double)(multi_now_ns() - begin_ns) * 1e-9);
}

static void allreduce(const struct rig *g)
{
	const int64_t begin_ns = multi_now_ns();

	stage(g, 0, g->n);
	expect_status(g->m, "pld_allreduce",
		      pld_allreduce(pld_window(g->b, PL_SHAPE(g->n), PL_INT8)), PL_OK);
	for (int64_t i = 0; i < g->n; i++) {
		int sum = 0;

		for (int r = 0; r < g->m->n; r++)
			sum += value(r, i);
		if (g->slice[i] != (int8_t)sum)
			expect_int(g->m, "the sum", i, g->slice[i], (int8_t)sum);
	}
	report(g, begin_ns, "allreduce");
}

static void broadcast(const struct rig *g)
{
	const int64_t begin_ns = multi_now_ns();
	const int root = g->m->n - 1;

	stage(g, 0, g->n);
	expect_status(g->m, "pld_broadcast",
		      pld_broadcast(pld_window(g->b, PL_SHAPE(g->n), PL_INT8), .root = root),
		      PL_OK);
	for (int64_t i = 0; i < g->n; i++)
		if (g->slice[i] != value(root, i))
			expect_int(g->m, "root's", i, g->slice[i], value(root, i));
	report(g, begin_ns, "broadcast");
}

/* In place: the own block is where it belongs. */
static void allgather(const struct rig *g)
{
	const pld_tensor target = pld_window(g->b, PL_SHAPE(g->m->n, BLOCK), PL_INT8);
	const int64_t begin_ns = multi_now_ns();

	memset(g->slice, 0x55, (size_t)g->n);
	stage(g, g->m->me * BLOCK, BLOCK);
	expect_status(g->m, "pld_allgather", pld_allgather(pl_at(target, g->m->me), target), PL_OK);
	for (int r = 0; r < g->m->n; r++)
		for (int64_t i = r * BLOCK; i < (r + 1) * BLOCK; i++)
			if (g->slice[i] != value(r, i))
				expect_int(g->m, "gathered", i, g->slice[i], value(r, i));
	report(g, begin_ns, "allgather");
}

static int64_t available_bytes(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	long long kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %lld kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib * 1024;
}

/* Half a GiB is for everything else. */
static bool has_room(const struct multi *m)
{
	const int64_t needs = m->n * m->n * BLOCK + (INT64_C(1) << 29);
	const int64_t has = available_bytes();

	if (has >= needs)
		return true;
	fprintf(stderr, "coll_huge: not run: needs %.1f GB, %.1f are available\n",
		(double)needs * 1e-9, (double)has * 1e-9);
	return false;
}

/* Those that the arguments name; without any, all. */
static bool wanted(int argc, char **argv, const char *what)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], what) == 0)
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	struct multi m = { .program = "coll_huge", .row = "2^31" };
	struct rig g = { .m = &m };

	pld_init(NULL);
	m.me = pld_rank(pld_world());
	m.n = pld_nranks(pld_world());
	if (m.n < 2)
		pld_abort(1, "coll_huge: not run: needs 2 ranks");
	if (m.me == 0 && !has_room(&m))
		pld_abort(1, "too little memory");
	pld_barrier(pld_world());
	g.n = m.n * BLOCK;
	g.b = pld_alloc_window_buffer(.bytes = g.n);
	g.slice = pl_data(pld_local(pld_window(g.b, PL_SHAPE(g.n), PL_INT8)));
	if (wanted(argc, argv, "allreduce"))
		allreduce(&g);
	if (wanted(argc, argv, "broadcast"))
		broadcast(&g);
	if (wanted(argc, argv, "allgather"))
		allgather(&g);
	pld_free_window_buffer(g.b);
	pld_finalize();
	return 0;
}
