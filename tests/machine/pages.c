/*
 * pages.c - whose memory a window is: each rank backs its own slice itself (so that the kernel
 * takes it from the rank's node), no page belongs to slices of two ranks, and every page lies where
 * its owner ran, as move_pages says.
 *
 * The linker sends the library's fallocate and madvise here first (--wrap, see local.mk).
 *
 * pages huge: prints how much of a window of 16 MiB is in huge pages, as smaps says, in MiB.
 */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <pld.h>

#include "pldi_job.h"

#define FAIL(...)                                                                                  \
	do {                                                                                       \
		fprintf(stderr, "pages: rank %d: ", pld_rank(pld_world()));                        \
		fprintf(stderr, __VA_ARGS__);                                                      \
		fputc('\n', stderr);                                                               \
		exit(1);                                                                           \
	} while (0)

/* What this rank has backed, as offsets in the segment. */
static uint64_t backed_from, backed_to;

int __real_fallocate(int fd, int mode, off_t off, off_t bytes);
int __wrap_fallocate(int fd, int mode, off_t off, off_t bytes);
int __real_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice);

static void note_backed(uint64_t off, uint64_t bytes)
{
	backed_from = off < backed_from ? off : backed_from;
	backed_to = off + bytes > backed_to ? off + bytes : backed_to;
}

int __wrap_fallocate(int fd, int mode, off_t off, off_t bytes)
{
	note_backed((uint64_t)off, (uint64_t)bytes);
	return __real_fallocate(fd, mode, off, bytes);
}

int __wrap_madvise(void *at, size_t bytes, int advice)
{
	if (advice == MADV_POPULATE_WRITE)
		note_backed((uint64_t)((char *)at - (char *)pldi_self()->seg.base), bytes);
	return __real_madvise(at, bytes, advice);
}

/* ---- slices ---------------------------------------------------------------------------------- */

static uint64_t offset_of(pld_tensor t, int rank)
{
	return (uint64_t)((char *)pld_ptr(t, rank) - (char *)pldi_self()->seg.base);
}

/* Of a large buffer: the pages that this rank backed are those of its slice, and no others. */
static void check_backed(pld_tensor t, uint64_t bytes)
{
	uint64_t off = offset_of(t, pld_rank(pld_world()));

	if (backed_from > off || backed_to < off + bytes)
		FAIL("has not backed its slice, [%llx, %llx), but [%llx, %llx)",
		     (unsigned long long)off, (unsigned long long)(off + bytes),
		     (unsigned long long)backed_from, (unsigned long long)backed_to);
	for (int r = 0; r < pld_nranks(pld_world()); r++) {
		uint64_t other = offset_of(t, r);

		if (r != pld_rank(pld_world()) && backed_from < other + bytes && backed_to > other)
			FAIL("has backed pages of rank %d's slice", r);
	}
}

static void check_pages_apart(const pld_tensor *t, const uint64_t *bytes, int n)
{
	for (int i = 0; i < n; i++) {
		for (int r = 0; r < pld_nranks(pld_world()); r++) {
			uint64_t last = (offset_of(t[i], r) + bytes[i] - 1) / PLDI_PAGE;

			for (int k = 0; k < n; k++)
				for (int q = 0; q < pld_nranks(pld_world()); q++)
					if ((k != i || q != r) &&
					    offset_of(t[k], q) >= offset_of(t[i], r) &&
					    offset_of(t[k], q) / PLDI_PAGE <= last)
						FAIL("windows %d and %d of ranks %d and %d share a "
						     "page",
						     i, k, r, q);
		}
	}
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Writes to a page, and asks where it is: its node, or -errno. */
static int node_of(volatile char *page)
{
	void *pages[1] = { (void *)(uintptr_t)page };
	int status = -EFAULT;

	*page = 1;
	return syscall(SYS_move_pages, 0, 1UL, pages, NULL, &status, 0) ? -errno : status;
}

static unsigned own_node(void)
{
	unsigned cpu = 0, node = 0;

	return getcpu(&cpu, &node) ? 0 : node;
}

static void check_nodes(pld_tensor t, uint64_t bytes, unsigned before)
{
	char *at = pld_ptr(t, pld_rank(pld_world()));

	for (uint64_t i = 0; i < bytes; i += PLDI_PAGE) {
		int node = node_of(at + i);

		if (node == -ENOSYS || node == -EPERM)
			return; /* a kernel without nodes, or a filter */
		if (node < 0)
			FAIL("move_pages: %s", strerror(-node));
		if (before == own_node() && (unsigned)node != before)
			FAIL("page %llu is on node %d, not on %u, where its owner runs",
			     (unsigned long long)(i / PLDI_PAGE), node, before);
	}
}

/* ---- huge pages ------------------------------------------------------------------------------ */

static void print_huge(void)
{
	const int64_t bytes = 16 << 20;
	pld_tensor t = pld_new_window(PL_SHAPE(bytes), PL_UINT8);
	char *at = pld_ptr(t, pld_rank(pld_world()));
	FILE *smaps = fopen("/proc/self/smaps", "r");
	unsigned long from = 0, to = 0, kib = 0;
	char line[512];

	memset(at, 1, (size_t)bytes);
	while (smaps && fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			continue;
		if (from < (unsigned long)at + (unsigned long)bytes && to > (unsigned long)at &&
		    sscanf(line, "ShmemPmdMapped: %lu", &kib) == 1)
			break;
	}
	if (smaps)
		fclose(smaps);
	printf("%lu MiB in huge pages\n", kib >> 10);
	pld_free_window(t);
	/* and it goes back, as small pages do */
	t = pld_new_window(PL_SHAPE(bytes), PL_UINT8);
	at = pld_ptr(t, pld_rank(pld_world()));
	for (int64_t i = 0; i < bytes; i++)
		if (at[i])
			FAIL("byte %lld of a new window is not zero", (long long)i);
}

int main(int argc, char **argv)
{
	static const uint64_t sizes[] = { 20 << 10, 5 << 20, 17000, 3 << 20, 40961 };
	enum { N = sizeof(sizes) / sizeof(sizes[0]) };
	pld_tensor t[N];

	pld_init(NULL);
	if (argc > 1 && strcmp(argv[1], "huge") == 0) {
		print_huge();
		return pld_finalize();
	}
	for (int i = 0; i < N; i++) {
		unsigned before = own_node();

		/* tables of the job come with the first allocation */
		backed_from = UINT64_MAX;
		backed_to = 0;
		t[i] = pld_new_window(PL_SHAPE((int64_t)sizes[i]), PL_UINT8);
		if (i > 0)
			check_backed(t[i], sizes[i]);
		check_nodes(t[i], sizes[i], before);
	}
	check_pages_apart(t, sizes, N);
	return pld_finalize();
}
