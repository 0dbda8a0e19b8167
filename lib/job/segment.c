/* segment.c - creating, mapping, backing the job's memory: all shared memory is mapped here. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>
#include <uuid/uuid.h>

#ifdef HAVE_VALGRIND_VALGRIND_H
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#include "pldi_machine.h"
#include "pldi_segment.h"

#define SHM_PREFIX "pld-"
#define MAP_HINT 0x200000000000u /* free in ordinary programs on x86-64 and arm64, and under ASan */
#define SPAN_MAX (UINT64_C(1) << 45) /* from the hint to where programs lie */
#define RESERVE_MIN (UINT64_C(1) << 20)
#define COMMIT_PIECE (UINT64_C(1) << 20) /* so that a signal costs little work */
#define HUGE_PAGE (UINT64_C(2) << 20)
#define START_UNCHECKED (INT64_C(8) << 20) /* a small job is not worth a look at limits */
#define PROCESS_LEAST (128 << 10)	   /* what the smallest rank takes by itself */

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* ---- creating -------------------------------------------------------------------------------- */

/*
 * A launcher killed between shm_open and shm_unlink leaves an empty name: remove this user's.  One
 * that another launcher is about to unlink itself may go too; it takes ENOENT for success.
 */
void pldi_segment_remove_stale_names(void)
{
	DIR *dir = opendir(PLDI_SHM_DIR);
	struct dirent *entry;
	struct stat st;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, SHM_PREFIX, strlen(SHM_PREFIX)) == 0 &&
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && st.st_size == 0 && st.st_uid == geteuid())
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	closedir(dir);
}

static int open_shm(void)
{
	char name[sizeof("/" SHM_PREFIX) + UUID_STR_LEN];
	uuid_t id;
	char id_text[UUID_STR_LEN];
	int fd;

	pldi_segment_remove_stale_names();
	uuid_generate(id);
	uuid_unparse_lower(id, id_text);
	snprintf(name, sizeof(name), "/" SHM_PREFIX "%s", id_text);
	fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		shm_unlink(name);
	return fd;
}

/* What is preferred, or else the other: a filter may refuse memfd_create. */
static int open_segment(int32_t *is_memfd)
{
	int prefer_memfd = pldi_why_memfd() != NULL, fd = -1;

	for (int i = 0; i < 2 && fd < 0; i++) {
		*is_memfd = i ? !prefer_memfd : prefer_memfd;
		fd = *is_memfd ? memfd_create("pld", MFD_CLOEXEC) : open_shm();
	}
	return fd;
}

static const char *room_of(int is_memfd, int64_t *free_bytes)
{
	struct statvfs fs;

	if (is_memfd) {
		*free_bytes = pldi_memory_left().available_bytes;
		return "memory";
	}
	*free_bytes = 0;
	if (statvfs(PLDI_SHM_DIR, &fs) == 0)
		*free_bytes = fs.f_blocks ? (int64_t)(fs.f_bavail * fs.f_frsize) : INT64_MAX;
	return PLDI_SHM_DIR;
}

/* The largest file and mapping that limits leave to a segment. */
static uint64_t span_limit(void)
{
	uint64_t span = SPAN_MAX;
	struct rlimit as, fsize;

	if (getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur != RLIM_INFINITY &&
	    as.rlim_cur / 2 < span)
		span = as.rlim_cur / 2; /* the program needs some too */
	if (getrlimit(RLIMIT_FSIZE, &fsize) == 0 && fsize.rlim_cur != RLIM_INFINITY &&
	    fsize.rlim_cur < span)
		span = fsize.rlim_cur;
	return span;
}

static uint64_t found_reserve(int nranks, uint32_t observe)
{
	uint64_t reserve = RESERVE_MIN, ram = (uint64_t)pldi_ram_bytes(), span = span_limit();
	struct pldi_head_shm h = { .observe = observe };

	if (RUNNING_ON_VALGRIND)
		return PLDI_RESERVE_VALGRIND;
	while (reserve < ram)
		reserve *= 2;
	for (; reserve > RESERVE_MIN; reserve /= 2) {
		pldi_layout_fill(&h, nranks, reserve);
		if (h.bytes <= span)
			break;
	}
	return reserve;
}

static int set_size(int fd, uint64_t bytes)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	int rc;

	/* RLIMIT_FSIZE would be a signal instead of EFBIG */
	sigaction(SIGXFSZ, &ignore, &before);
	rc = ftruncate(fd, (off_t)bytes);
	sigaction(SIGXFSZ, &before, NULL);
	return rc;
}

/*
 * The thread sanitizer has no room at the hint, turns it into 0, and so asks the kernel to map the
 * segment there.
 */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NO_HINT 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define NO_HINT 1
#endif
#ifndef NO_HINT
#define NO_HINT 0
#endif

static void *map(int fd, const struct pldi_head_shm *h)
{
	const int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_NORESERVE;
	void *base = MAP_FAILED;

	if (h->map_hint && !NO_HINT) {
		base = mmap((void *)(uintptr_t)h->map_hint, h->bytes, prot,
			    flags | MAP_FIXED_NOREPLACE, fd, 0);
		/* a kernel before 4.17 takes the address for a wish */
		if (base != MAP_FAILED && base != (void *)(uintptr_t)h->map_hint) {
			munmap(base, h->bytes);
			base = MAP_FAILED;
		}
	}
	if (base == MAP_FAILED)
		base = mmap(NULL, h->bytes, prot, flags, fd, 0);
	if (base == MAP_FAILED)
		return base;
	/* a core dump would else back every hole of the sparse file */
	madvise(base, h->bytes, MADV_DONTDUMP);
	/* asked for all windows at once, and no further mapping a buffer; commit_huge decides */
	madvise((char *)base + h->host_off, h->bytes - h->host_off, MADV_HUGEPAGE);
	return base;
}

static int arena_init(const struct pldi_segment *seg, enum pldi_region region, uint64_t bytes)
{
	struct pldi_arena_shm *arena = pldi_arena(seg->base, region);
	uint64_t off = (uint64_t)((char *)arena - (char *)seg->base);
	int rc = pldi_segment_commit(seg, off, offsetof(struct pldi_arena_shm, free[1]));

	if (rc)
		return rc;
	arena->bytes = bytes;
	arena->nfree = 1;
	arena->free[0] = (struct pldi_range_shm){ 0, bytes };
	return 0;
}

static uint64_t start_bytes(const struct pldi_head_shm *h)
{
	const uint64_t n = (uint64_t)h->nranks;

	return h->slots_off + n * (sizeof(struct pldi_slot_shm) + sizeof(struct pldi_flag_shm)) +
	       h->domain_stride + PLDI_ARENAS * (uint64_t)PLDI_PAGE;
}

/* As for windows (buffer.c): what can be seen is compared before memory is taken. */
static int check_start(const struct pldi_head_shm *h, char *text, size_t text_bytes)
{
	struct pldi_memory_limit left;
	int64_t need = (int64_t)start_bytes(h) + h->nranks * (int64_t)PROCESS_LEAST;

	if (need < START_UNCHECKED)
		return 0;
	left = pldi_memory_left();
	if (need <= left.available_bytes)
		return 0;
	snprintf(text, text_bytes,
		 "no memory for the start of %d ranks: %" PRId64 " KiB needed, %" PRId64
		 " KiB left under %s; raise that limit, or start fewer",
		 h->nranks, need >> 10, left.available_bytes >> 10, left.where);
	return -1;
}

/* The parts that ranks touch before they allocate anything: 0 or an errno. */
static int fill_segment(const struct pldi_segment *seg, const struct pldi_head_shm *h)
{
	const uint64_t n = (uint64_t)h->nranks;
	struct pldi_domain_shm *world;
	int rc;

	if ((rc = pldi_segment_commit(seg, 0, h->slots_off + n * sizeof(struct pldi_slot_shm))) ||
	    (rc = pldi_segment_commit(seg, h->domains_off, h->domain_stride)) ||
	    (rc = pldi_segment_commit(seg, h->flags_off, n * sizeof(struct pldi_flag_shm))))
		return rc;
	*pldi_head(seg->base) = *h;
	if ((rc = arena_init(seg, PLDI_REGION_HOST, h->reserve)) ||
	    (rc = arena_init(seg, PLDI_REGION_DENSE, PLDI_DENSE_BYTES)) ||
	    (rc = arena_init(seg, PLDI_REGION_SPARSE, h->reserve)))
		return rc;

	world = pldi_domain_entry(seg->base, 0);
	world->state = PLDI_DOMAIN_LIVE;
	world->n = h->nranks;
	for (int32_t r = 0; r < h->nranks; r++)
		world->list[r] = r;
	return 0;
}

int pldi_segment_create(int nranks, int64_t reserve_bytes, uint32_t observe,
			struct pldi_segment *out, char *text, size_t text_bytes)
{
	struct pldi_head_shm h = { .magic = PLDI_MAGIC,
				   .abi = PLDI_ABI,
				   .observe = observe,
				   .map_hint = MAP_HINT,
				   .domains_used = 1,
				   .next_buffer = 1 };
	uint64_t reserve = round_up((uint64_t)reserve_bytes, PLDI_PAGE);
	const uint64_t most =
		INT64_MAX / ((uint64_t)nranks + 2); /* the layout's sums do not wrap */
	struct pldi_segment seg = { .fd = open_segment(&h.is_memfd) };
	struct stat st;
	int rc;

	if (seg.fd < 0 || fstat(seg.fd, &st)) {
		snprintf(text, text_bytes,
			 "no shared memory: neither /dev/shm nor memfd_create: %s",
			 strerror(errno));
		goto close;
	}
	h.cpus = pldi_cpus("");
	h.dev = st.st_dev;
	h.ino = st.st_ino;

	/* found: halved while the system refuses; given: taken or refused */
	for (reserve = reserve ? reserve : found_reserve(nranks, observe);; reserve /= 2) {
		pldi_layout_fill(&h, nranks, reserve);
		if (reserve > most)
			h.bytes = UINT64_MAX;
		seg.bytes = h.bytes;
		seg.base = MAP_FAILED;
		errno = EFBIG;
		if (h.bytes <= INT64_MAX && set_size(seg.fd, h.bytes) == 0)
			seg.base = map(seg.fd, &h);
		if (seg.base != MAP_FAILED || reserve_bytes || reserve <= RESERVE_MIN)
			break;
	}
	if (seg.base == MAP_FAILED) {
		snprintf(text, text_bytes,
			 "cannot map a segment of %" PRIu64 " MiB (%d ranks, %" PRIu64
			 " MiB address space each): %s; give less with --reserve, or raise "
			 "ulimit -v and ulimit -f",
			 h.bytes >> 20, nranks, reserve >> 20, strerror(errno));
		goto close;
	}
	if (check_start(&h, text, text_bytes))
		goto close;
	rc = fill_segment(&seg, &h);
	if (rc) {
		int64_t room;
		const char *place = room_of(h.is_memfd, &room);

		snprintf(text, text_bytes,
			 "no memory for the start of %d ranks: %" PRIu64 " KiB needed, %" PRId64
			 " KiB free in %s%s: %s",
			 nranks, start_bytes(&h) >> 10, room >> 10, place,
			 *place == '/' ? " (enlarge it: mount -o remount,size=..)" : "",
			 strerror(rc));
		goto close;
	}
	*out = seg;
	return 0;

close:
	pldi_segment_close(&seg);
	return -1;
}

int pldi_segment_map(int fd, struct pldi_segment *out, char *text, size_t text_bytes)
{
	struct pldi_segment seg = { .fd = fd };
	struct pldi_head_shm h;
	ssize_t got = pread(fd, &h, sizeof(h), 0);

	if (got != (ssize_t)sizeof(h) || h.magic != PLDI_MAGIC) {
		snprintf(text, text_bytes, "descriptor %d is not the job's segment", fd);
		return -1;
	}
	if (h.abi != PLDI_ABI) {
		snprintf(text, text_bytes,
			 "pldrun has segment layout %u, this library has %u: "
			 "pldrun and libpld are of different versions",
			 h.abi, PLDI_ABI);
		return -1;
	}
	seg.bytes = h.bytes;
	seg.base = map(fd, &h);
	if (seg.base == MAP_FAILED) {
		snprintf(
			text, text_bytes,
			"cannot map the segment of %" PRIu64 " MiB (%" PRIu64
			" MiB address space a rank): %s; give less with pldrun --reserve, or raise "
			"ulimit -v",
			h.bytes >> 20, h.reserve >> 20, strerror(errno));
		return -1;
	}
	*out = seg;
	return 0;
}

struct pldi_head_shm *pldi_segment_map_head(int fd)
{
	struct pldi_head_shm *h = mmap(NULL, sizeof(*h), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (h == MAP_FAILED)
		return NULL;
	if (h->magic == PLDI_MAGIC && h->abi == PLDI_ABI)
		return h;
	munmap(h, sizeof(*h));
	return NULL;
}

void pldi_segment_close(struct pldi_segment *seg)
{
	if (seg->base && seg->base != MAP_FAILED)
		munmap(seg->base, seg->bytes);
	if (seg->fd >= 0)
		close(seg->fd);
	*seg = (struct pldi_segment){ .fd = -1 };
}

/* ---- backing --------------------------------------------------------------------------------- */

int pldi_segment_has_fd(const struct pldi_segment *seg)
{
	const struct pldi_head_shm *h = seg->base;
	struct stat st;

	/* the head's dev and ino are zero while it is being made */
	return fstat(seg->fd, &st) == 0 &&
	       (h->magic == 0 || (st.st_dev == h->dev && st.st_ino == h->ino));
}

static int populate(const struct pldi_segment *seg, uint64_t off, uint64_t bytes)
{
	int rc;

	do
		rc = madvise((char *)seg->base + off, bytes, MADV_POPULATE_WRITE);
	while (rc && errno == EINTR);
	return rc ? errno : 0;
}

/*
 * For a kernel before 5.14, or a filter that refuses populate: a system call reads a byte of each
 * page, which then has memory, and fails where a load would be SIGBUS.
 */
static int touch(const struct pldi_segment *seg, uint64_t off, uint64_t bytes)
{
	struct iovec page[COMMIT_PIECE / PLDI_PAGE];
	int n = 0, pipes[2];
	ssize_t got;

	if (pipe2(pipes, O_CLOEXEC))
		return errno;
	for (uint64_t at = off; at < off + bytes; at += PLDI_PAGE)
		page[n++] = (struct iovec){ (char *)seg->base + at, 1 };
	do
		got = writev(pipes[1], page, n);
	while (got < 0 && errno == EINTR);
	close(pipes[0]);
	close(pipes[1]);
	return got == n ? 0 : EFAULT;
}

static int commit_piece(const struct pldi_segment *seg, uint64_t off, uint64_t bytes, int by_fd)
{
	int rc;

	while (by_fd && (rc = fallocate(seg->fd, 0, (off_t)off, (off_t)bytes)) && errno == EINTR)
		continue;
	if (by_fd && (rc == 0 || errno != EOPNOTSUPP))
		return rc ? errno : 0;
	rc = populate(seg, off, bytes);
	if (rc == EINVAL)
		rc = touch(seg, off, bytes);
	return rc == EFAULT ? ENOSPC : rc; /* a page that a store would get SIGBUS for */
}

/*
 * Huge pages come with faults that ask for them, not with fallocate: so whole ones are faulted in
 * first, where the system has them.  The caller backs what they have not.
 */
static void commit_huge(const struct pldi_segment *seg, uint64_t off, uint64_t end)
{
	const struct pldi_head_shm *h = seg->base;
	char word[PLDI_HUGE_WORD];

	off = round_up(off, HUGE_PAGE);
	if (off + HUGE_PAGE > end || off < h->host_off || (uintptr_t)seg->base % HUGE_PAGE ||
	    !pldi_huge_pages("", h->is_memfd ? NULL : PLDI_SHM_DIR, word))
		return;
	while (off + HUGE_PAGE <= end && populate(seg, off, HUGE_PAGE) == 0)
		off += HUGE_PAGE;
}

int pldi_segment_commit(const struct pldi_segment *seg, uint64_t off, uint64_t bytes)
{
	uint64_t end = round_up(off + bytes, PLDI_PAGE);
	int by_fd;

	if (bytes == 0)
		return 0;
	/* the very first commit backs the head, before it can be read */
	by_fd = off == 0 || pldi_segment_has_fd(seg);
	if (off > 0)
		commit_huge(seg, off, end);
	for (off -= off % PLDI_PAGE; off < end; off += COMMIT_PIECE) {
		uint64_t piece = end - off < COMMIT_PIECE ? end - off : COMMIT_PIECE;
		int rc = commit_piece(seg, off, piece, by_fd);

		if (rc)
			return rc;
	}
	return 0;
}

void pldi_segment_punch(const struct pldi_segment *seg, uint64_t off, uint64_t bytes)
{
	uint64_t first = round_up(off, PLDI_PAGE);
	uint64_t end = (off + bytes) / PLDI_PAGE * PLDI_PAGE;

	if (first < end)
		madvise((char *)seg->base + first, end - first, MADV_REMOVE);
}

void pldi_segment_dump(const struct pldi_segment *seg, uint64_t off, uint64_t bytes, int dump)
{
	uint64_t end = round_up(off + bytes, PLDI_PAGE);

	off -= off % PLDI_PAGE;
	madvise((char *)seg->base + off, end - off, dump ? MADV_DODUMP : MADV_DONTDUMP);
}

const char *pldi_segment_room(const struct pldi_segment *seg, int64_t *free_bytes)
{
	return room_of(seg->base && pldi_head(seg->base)->is_memfd, free_bytes);
}
