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
#include <unistd.h>
#include <uuid/uuid.h>

#ifdef HAVE_VALGRIND_VALGRIND_H
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#include "pldi_machine.h"
#include "pldi_segment.h"

#define SHM_DIR "/dev/shm"
#define SHM_PREFIX "pld-"
#ifdef PLD_SANITIZE_THREAD
#define MAP_HINT 0 /* only the sanitizer knows where its shadow memory leaves room */
#else
#define MAP_HINT 0x200000000000u /* free in ordinary programs on x86-64 and arm64, and under ASan */
#endif
#define SPAN_MAX (UINT64_C(1) << 45) /* from the hint to where programs lie */
#define RESERVE_MIN (UINT64_C(1) << 20)
#define COMMIT_PIECE (UINT64_C(1) << 20) /* so that a signal costs little work */

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
	DIR *dir = opendir(SHM_DIR);
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

/*
 * /dev/shm reports that it is full, which a memfd does not: it is taken unless it is missing,
 * read-only, or small beside what memory and cgroup would allow (64 MB in many containers).
 */
static int open_shm(void)
{
	char name[sizeof("/" SHM_PREFIX) + UUID_STR_LEN];
	struct pldi_memory_limit cgroup, machine;
	struct statvfs fs;
	uuid_t id;
	char id_text[UUID_STR_LEN];
	int fd;

	if (statvfs(SHM_DIR, &fs))
		return -1;
	pldi_memory_limits("", &cgroup, &machine);
	if (cgroup.available_bytes > machine.available_bytes)
		cgroup = machine;
	/* a tmpfs without a limit reports no blocks at all */
	if (fs.f_blocks && fs.f_bavail * fs.f_frsize < (uint64_t)cgroup.available_bytes / 4)
		return -1;

	pldi_segment_remove_stale_names();
	uuid_generate(id);
	uuid_unparse_lower(id, id_text);
	snprintf(name, sizeof(name), "/" SHM_PREFIX "%s", id_text);
	fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		shm_unlink(name);
	return fd;
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

static void *map(int fd, uint64_t bytes, uint64_t hint)
{
	const int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_NORESERVE;
	void *base = MAP_FAILED;

	if (hint && !NO_HINT) {
		base = mmap((void *)(uintptr_t)hint, bytes, prot, flags | MAP_FIXED_NOREPLACE, fd,
			    0);
		/* a kernel before 4.17 takes the address for a wish */
		if (base != MAP_FAILED && base != (void *)(uintptr_t)hint) {
			munmap(base, bytes);
			base = MAP_FAILED;
		}
	}
	if (base == MAP_FAILED)
		base = mmap(NULL, bytes, prot, flags, fd, 0);
	if (base != MAP_FAILED)
		/* a core dump would else back every hole of the sparse file */
		madvise(base, bytes, MADV_DONTDUMP);
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
	struct pldi_segment seg = { .fd = open_shm() };
	struct stat st;
	int rc;

	if (seg.fd < 0) {
		h.is_memfd = 1;
		seg.fd = memfd_create("pld", MFD_CLOEXEC);
	}
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
			seg.base = map(seg.fd, h.bytes, h.map_hint);
		if (seg.base != MAP_FAILED || reserve_bytes || reserve <= RESERVE_MIN)
			break;
	}
	if (seg.base == MAP_FAILED) {
		snprintf(text, text_bytes,
			 "cannot map a segment of %" PRIu64 " MiB (%d ranks, %" PRIu64
			 " MiB address space each): %s; give less with --reserve, or raise "
			 "ulimit -v "
			 "and ulimit -f",
			 h.bytes >> 20, nranks, reserve >> 20, strerror(errno));
		goto close;
	}
	rc = fill_segment(&seg, &h);
	if (rc) {
		int64_t room;
		const char *place = pldi_segment_room(&seg, &room);

		snprintf(text, text_bytes,
			 "no memory for the start of %d ranks: %" PRId64 " KiB free in %s: %s",
			 nranks, room >> 10, place, strerror(rc));
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
	seg.base = map(fd, h.bytes, h.map_hint);
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

static int commit_piece(const struct pldi_segment *seg, uint64_t off, uint64_t bytes, int by_fd)
{
	int rc;

	do {
		if (by_fd)
			rc = fallocate(seg->fd, 0, (off_t)off, (off_t)bytes);
		else
			rc = madvise((char *)seg->base + off, bytes, MADV_POPULATE_WRITE);
	} while (rc && errno == EINTR);
	if (rc == 0)
		return 0;
	if (by_fd && errno == EOPNOTSUPP)
		return commit_piece(seg, off, bytes, 0);
	return errno == EFAULT ? ENOSPC
			       : errno; /* populate: a page that a store would get SIGBUS for */
}

int pldi_segment_commit(const struct pldi_segment *seg, uint64_t off, uint64_t bytes)
{
	uint64_t end = round_up(off + bytes, PLDI_PAGE);
	int by_fd;

	if (bytes == 0)
		return 0;
	/* the very first commit backs the head, before it can be read */
	by_fd = off == 0 || pldi_segment_has_fd(seg);
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
	struct statvfs fs;

	if (seg->base && pldi_head(seg->base)->is_memfd) {
		struct pldi_memory_limit cgroup, machine;

		pldi_memory_limits("", &cgroup, &machine);
		*free_bytes = cgroup.available_bytes < machine.available_bytes
				      ? cgroup.available_bytes
				      : machine.available_bytes;
		return "memory";
	}
	*free_bytes = 0;
	if (statvfs(SHM_DIR, &fs) == 0)
		*free_bytes = fs.f_blocks ? (int64_t)(fs.f_bavail * fs.f_frsize) : INT64_MAX;
	return SHM_DIR;
}
