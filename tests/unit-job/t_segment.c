/* t_segment.c - the job's memory: created, mapped, backed, given back; and what is refused. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit/unit.h"

#include "pldi_segment.h"

static char text[512];

static struct pldi_segment create(int n, int64_t reserve)
{
	struct pldi_segment seg = { .fd = -1 };

	ck_assert_msg(pldi_segment_create(n, reserve, 0, &seg, text, sizeof(text)) == 0, "%s",
		      text);
	return seg;
}

static uint64_t blocks(const struct pldi_segment *seg)
{
	struct stat st;

	ck_assert_int_eq(fstat(seg->fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static int all_are(const unsigned char *p, uint64_t n, unsigned char value)
{
	for (uint64_t i = 0; i < n; i++)
		if (p[i] != value)
			return 0;
	return 1;
}

/* ---- creating -------------------------------------------------------------------------------- */

static const int counts[] = { 1, 2, 5, 64, 256, 4096 };

START_TEST(created)
{
	const int n = counts[_i];
	struct pldi_segment seg = create(n, 1 << 20);
	const struct pldi_head_shm *h = seg.base;
	struct pldi_head_shm fresh = { 0 };
	struct pldi_domain_shm *world = pldi_domain_entry(seg.base, 0);
	struct stat st;
	int good = 0;

	pldi_layout_fill(&fresh, n, 1 << 20);
	ck_assert(h->magic == PLDI_MAGIC && h->abi == PLDI_ABI && h->nranks == n && h->cpus >= 1);
	ck_assert(h->reserve == 1 << 20 && h->bytes == fresh.bytes && seg.bytes == h->bytes);
	ck_assert(h->slots_off == fresh.slots_off && h->sparse_off == fresh.sparse_off);
	ck_assert(h->domains_used == 1 && h->buffers_used == 0 && h->next_buffer == 1);
	ck_assert(h->aborted == 0 && h->lock == 0);
	ck_assert(world->state == PLDI_DOMAIN_LIVE && world->n == n);
	for (int r = 0; r < n; r++)
		good += world->list[r] == r && pldi_slot(seg.base, r)->pid == 0 &&
			pldi_flag(seg.base, 0, r)->v == 0;
	ck_assert_int_eq(good, n);
	for (int region = 0; region < PLDI_ARENAS; region++) {
		const struct pldi_arena_shm *a = pldi_arena(seg.base, (enum pldi_region)region);

		ck_assert(a->nfree == 1 && a->free[0].off == 0 && a->free[0].bytes == a->bytes);
		ck_assert(a->bytes == (region == PLDI_REGION_DENSE ? PLDI_DENSE_BYTES : 1 << 20));
	}
	/* no name, no rights for others, not inherited, and little memory */
	ck_assert(fstat(seg.fd, &st) == 0 && st.st_nlink == 0 && (uint64_t)st.st_size == h->bytes);
	ck_assert((st.st_mode & 0077) == 0 || h->is_memfd);
	ck_assert(fcntl(seg.fd, F_GETFD) & FD_CLOEXEC);
	ck_assert(blocks(&seg) < (1 << 20) + (uint64_t)n * 3 * PLDI_PAGE * 6);
	pldi_segment_close(&seg);
	ck_assert(seg.fd == -1 && !seg.base);
	pldi_segment_close(&seg); /* of none: nothing */
}
END_TEST

static const struct {
	const char *name;
	int64_t given;
	uint64_t got; /* 0: refused */
} reserves[] = {
	{ "a byte", 1, PLDI_PAGE },
	{ "a page", PLDI_PAGE, PLDI_PAGE },
	{ "a byte more", PLDI_PAGE + 1, 2 * PLDI_PAGE },
	{ "a GiB", INT64_C(1) << 30, UINT64_C(1) << 30 },
	{ "all address space", INT64_C(1) << 47, 0 },
	{ "sum at 2^63", INT64_C(1) << 60, 0 },
	{ "sum wraps to small", INT64_C(1) << 62, 0 },
	{ "largest", INT64_MAX, 0 },
};

START_TEST(reserve)
{
	struct pldi_segment seg = { .fd = -1 };
	int n, fds = open("/dev/null", O_RDONLY);

	close(fds);
	for (n = 1; n <= 7; n += 2) {
		int rc = pldi_segment_create(n, reserves[_i].given, 0, &seg, text, sizeof(text));

		if (reserves[_i].got) {
			ck_assert_msg(rc == 0, "%s: %s", reserves[_i].name, text);
			ck_assert_uint_eq(pldi_head(seg.base)->reserve, reserves[_i].got);
			pldi_segment_close(&seg);
		} else {
			ck_assert_msg(rc == -1 && seg.fd == -1 &&
					      strstr(text, "cannot map a segment of ") &&
					      strstr(text, "give less with --reserve"),
				      "%s, %d ranks: %d, %s", reserves[_i].name, n, rc, text);
		}
	}
	/* nothing stays open */
	ck_assert_int_eq(open("/dev/null", O_RDONLY), fds);
	close(fds);
}
END_TEST

/* Found: as much as memory, a power of two, for any number of ranks. */
START_TEST(found)
{
	struct pldi_segment seg = create(counts[_i], 0);
	uint64_t r = pldi_head(seg.base)->reserve;

	ck_assert(r >= 1 << 20 && (r & (r - 1)) == 0);
	ck_assert_int_eq(pldi_segment_commit(&seg,
					     pldi_window_off(seg.base, PLDI_REGION_SPARSE,
							     counts[_i] - 1) +
						     r - 1,
					     1),
			 0);
	pldi_segment_close(&seg);
}
END_TEST

/* Room for schedules is asked for, and takes no memory before it is used. */
START_TEST(observed)
{
	struct pldi_segment seg = { .fd = -1 }, plain = create(3, 1 << 20);
	const struct pldi_head_shm *h;

	ck_assert_msg(pldi_segment_create(3, 1 << 20, PLDI_OBSERVE_STATS | PLDI_OBSERVE_SCHEDULE,
					  &seg, text, sizeof(text)) == 0,
		      "%s", text);
	h = pldi_head(seg.base);
	ck_assert_uint_eq(h->observe, PLDI_OBSERVE_STATS | PLDI_OBSERVE_SCHEDULE);
	ck_assert_uint_eq(pldi_head(plain.base)->observe, 0);
	ck_assert_uint_eq(pldi_head(plain.base)->acts_stride, 0);
	ck_assert_uint_eq(h->acts_stride, PLDI_ACTS_MOST * sizeof(struct pldi_act_shm));
	ck_assert(h->host_off >= h->acts_off + 3 * h->acts_stride);
	ck_assert(blocks(&seg) == blocks(&plain));
	pldi_segment_close(&seg);
	pldi_segment_close(&plain);
}
END_TEST

/* ---- mapping --------------------------------------------------------------------------------- */

START_TEST(mapped_twice)
{
	struct pldi_segment a = create(3, 1 << 20), b = { .fd = -1 };
	int fd = dup(a.fd);

	ck_assert_msg(pldi_segment_map(fd, &b, text, sizeof(text)) == 0, "%s", text);
	ck_assert(b.base != a.base && b.bytes == a.bytes && b.fd == fd);
	pldi_slot(a.base, 2)->pid = 77;
	ck_assert_int_eq(pldi_slot(b.base, 2)->pid, 77);
	pldi_segment_close(&a);
	/* the one that is left still is all of it */
	ck_assert_int_eq(pldi_slot(b.base, 2)->pid, 77);
	ck_assert(pldi_segment_has_fd(&b));
	pldi_segment_close(&b);
}
END_TEST

START_TEST(foreign)
{
	struct pldi_segment seg = create(1, 1 << 20), other = { .fd = -1 };
	struct pldi_head_shm head = *pldi_head(seg.base);
	int file = memfd_create("t", MFD_CLOEXEC), pipes[2], null = open("/dev/null", O_RDWR);
	char want[80];

	ck_assert_int_eq(pipe(pipes), 0);
	const int foreign_fds[] = { file, pipes[0], pipes[1], null, 999 };

	for (int i = 0; i < ROWS(foreign_fds); i++) {
		snprintf(want, sizeof(want), "descriptor %d is not the job's segment",
			 foreign_fds[i]);
		ck_assert_int_eq(pldi_segment_map(foreign_fds[i], &other, text, sizeof(text)), -1);
		ck_assert_str_eq(text, want);
	}
	/* a head that is cut short, has another magic, another layout */
	ck_assert(write(file, &head, sizeof(head) - 1) == sizeof(head) - 1);
	ck_assert_int_eq(pldi_segment_map(file, &other, text, sizeof(text)), -1);
	head.magic++;
	ck_assert(pwrite(file, &head, sizeof(head), 0) == sizeof(head));
	ck_assert_int_eq(pldi_segment_map(file, &other, text, sizeof(text)), -1);
	head.magic--;
	head.abi += 3;
	ck_assert(pwrite(file, &head, sizeof(head), 0) == sizeof(head));
	ck_assert_int_eq(pldi_segment_map(file, &other, text, sizeof(text)), -1);
	snprintf(want, sizeof(want),
		 "pldrun has segment layout %u, this library has %u: ", PLDI_ABI + 3, PLDI_ABI);
	ck_assert_msg(strncmp(text, want, strlen(want)) == 0, "%s", text);
	ck_assert(other.fd == -1 && !other.base);
	ck_assert_int_eq(fcntl(file, F_GETFD), FD_CLOEXEC); /* stays the caller's */
	pldi_segment_close(&seg);
}
END_TEST

/* ---- backing --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint64_t off, bytes, pages;
} pieces[] = {
	{ "nothing", 5, 0, 0 },
	{ "a byte", 0, 1, 1 },
	{ "last byte of a page", 4095, 1, 1 },
	{ "over a border", 4095, 2, 2 },
	{ "a page", 4096, 4096, 1 },
	{ "a page, shifted", 1088, 4096, 2 },
	{ "a MiB", 0, 1 << 20, 256 },
	{ "past a MiB", 0, (1 << 20) + 1, 257 },
	{ "three MiB, shifted", 3 * 1088, 3 << 20, 769 },
};

START_TEST(committed)
{
	struct pldi_segment seg = create(2, 16 << 20);
	uint64_t at = (pldi_window_off(seg.base, PLDI_REGION_SPARSE, 1) + PLDI_PAGE - 1) /
		      PLDI_PAGE * PLDI_PAGE;
	uint64_t before = blocks(&seg), off = at + pieces[_i].off, bytes = pieces[_i].bytes;
	unsigned char *p = (unsigned char *)seg.base + off;

	ck_assert_int_eq(pldi_segment_commit(&seg, off, bytes), 0);
	ck_assert_msg(blocks(&seg) - before == pieces[_i].pages * PLDI_PAGE, "%s: %llu bytes",
		      pieces[_i].name, (unsigned long long)(blocks(&seg) - before));
	ck_assert(all_are(p, bytes, 0));
	memset(p, 0x5a, bytes);
	ck_assert_uint_eq(blocks(&seg) - before, pieces[_i].pages * PLDI_PAGE);
	/* again: what is there stays */
	ck_assert_int_eq(pldi_segment_commit(&seg, off, bytes), 0);
	ck_assert(all_are(p, bytes, 0x5a));
	/* whole pages go back, and read as zero when they come again */
	pldi_segment_punch(&seg, off, bytes);
	pldi_segment_punch(&seg, at, PLDI_PAGE * (pieces[_i].pages + 2));
	ck_assert_uint_eq(blocks(&seg), before);
	ck_assert_int_eq(pldi_segment_commit(&seg, off, bytes), 0);
	ck_assert(all_are(p, bytes, 0));
	pldi_segment_close(&seg);
}
END_TEST

/* Pages that are only partly inside a punch stay. */
START_TEST(punched)
{
	struct pldi_segment seg = create(1, 1 << 20);
	uint64_t at = pldi_window_off(seg.base, PLDI_REGION_HOST, 0), before;
	unsigned char *p = (unsigned char *)seg.base + at;

	ck_assert_int_eq(pldi_segment_commit(&seg, at, 5 * PLDI_PAGE), 0);
	memset(p, 1, 5 * PLDI_PAGE);
	before = blocks(&seg);
	pldi_segment_punch(&seg, at + 1, PLDI_PAGE - 1);
	pldi_segment_punch(&seg, at + 1, PLDI_PAGE - 2);
	pldi_segment_punch(&seg, at, 0);
	ck_assert_uint_eq(blocks(&seg), before);
	pldi_segment_punch(&seg, at + 1, 3 * PLDI_PAGE); /* pages 1 and 2 */
	ck_assert_uint_eq(blocks(&seg), before - 2 * PLDI_PAGE);
	for (int i = 0; i < 5; i++)
		ck_assert(all_are(p + i * PLDI_PAGE, PLDI_PAGE, i != 1 && i != 2));
	pldi_segment_close(&seg);
}
END_TEST

/* Without the descriptor, or with another file's under its number. */
START_TEST(descriptor_gone)
{
	struct pldi_segment seg = create(1, 8 << 20);
	uint64_t at = pldi_window_off(seg.base, PLDI_REGION_SPARSE, 0);
	struct pldi_head_shm before = *pldi_head(seg.base);
	int file = memfd_create("t", MFD_CLOEXEC);
	struct stat st;

	ck_assert(pldi_segment_has_fd(&seg));
	close(seg.fd);
	ck_assert(!pldi_segment_has_fd(&seg));
	ck_assert_int_eq(pldi_segment_commit(&seg, at, 2 << 20), 0);
	memset((char *)seg.base + at, 3, 2 << 20);
	pldi_segment_punch(&seg, at, 2 << 20);
	ck_assert_int_eq(dup2(file, seg.fd), seg.fd);
	ck_assert(!pldi_segment_has_fd(&seg));
	ck_assert_int_eq(pldi_segment_commit(&seg, at, 2 << 20), 0);
	ck_assert(((char *)seg.base)[at] == 0);
	ck_assert(fstat(file, &st) == 0 && st.st_size == 0 && st.st_blocks == 0);
	ck_assert(memcmp(&before, seg.base, sizeof(before)) == 0); /* the head is what it was */
	munmap(seg.base, seg.bytes);
}
END_TEST

/* A file that ends before the mapping does: an error, not a signal. */
START_TEST(cut_short)
{
	struct pldi_segment seg = create(1, 8 << 20);
	uint64_t at = pldi_window_off(seg.base, PLDI_REGION_SPARSE, 0);

	ck_assert_int_eq(ftruncate(seg.fd, (off_t)at), 0);
	close(seg.fd);
	ck_assert_int_ne(pldi_segment_commit(&seg, at, 2 << 20), 0);
	munmap(seg.base, seg.bytes);
}
END_TEST

START_TEST(room)
{
	struct pldi_segment seg = create(1, 64 << 20), none = { .fd = -1 };
	int64_t bytes = -1;
	const char *where = pldi_segment_room(&seg, &bytes);

	ck_assert_str_eq(where, pldi_head(seg.base)->is_memfd ? "memory" : "/dev/shm");
	ck_assert(bytes > 0);
	/* before there is one, /dev/shm is meant */
	ck_assert_str_eq(pldi_segment_room(&none, &bytes), "/dev/shm");
	pldi_segment_dump(&seg, pldi_head(seg.base)->slots_off, 100, 1);
	pldi_segment_dump(&seg, pldi_head(seg.base)->slots_off, 100, 0);
	pldi_segment_close(&seg);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, created, 0, ROWS(counts));
	tcase_add_loop_test(tc, reserve, 0, ROWS(reserves));
	tcase_add_loop_test(tc, found, 0, ROWS(counts));
	tcase_add_test(tc, observed);
	tcase_add_test(tc, mapped_twice);
	tcase_add_test(tc, foreign);
	tcase_add_loop_test(tc, committed, 0, ROWS(pieces));
	tcase_add_test(tc, punched);
	tcase_add_test(tc, descriptor_gone);
	tcase_add_test(tc, cut_short);
	tcase_add_test(tc, room);
}

int main(void)
{
	return unit_run("segment", add);
}
