/*
 * e_nomem.c - allocations and system calls of the library that fail, one after the other: each is
 * one clear error, nothing is left half done, and the same call works when there is memory again.
 *
 * The linker sends the library's calls here first (--wrap, see local.mk).  One rank.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errors.h"
#include "pldi_job.h"
#include "pldi_window.h"

/* ---- what fails ------------------------------------------------------------------------------ */

enum fault { CALLOC, MALLOC, FALLOCATE, MADVISE, SHM_OPEN, MEMFD, NFAULTS };

/* In each: calls until the one that fails (0: none does), how many fail then, and with what. */
static struct {
	int after, times, error;
	int failed;
} faults[NFAULTS];

static void fail_at(enum fault f, int n, int times, int error)
{
	faults[f].after = n;
	faults[f].times = times;
	faults[f].error = error;
	faults[f].failed = 0;
}

static int fails(enum fault f)
{
	if (!faults[f].after || (faults[f].after > 1 && faults[f].after--))
		return 0;
	if (faults[f].times-- <= 0) {
		faults[f].after = 0;
		return 0;
	}
	faults[f].failed++;
	errno = faults[f].error;
	return 1;
}

void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
int __real_fallocate(int fd, int mode, off_t off, off_t bytes);
int __wrap_fallocate(int fd, int mode, off_t off, off_t bytes);
int __real_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice);
int __real_shm_open(const char *name, int flags, mode_t mode);
int __wrap_shm_open(const char *name, int flags, mode_t mode);
int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags);

void *__wrap_calloc(size_t n, size_t bytes)
{
	return fails(CALLOC) ? NULL : __real_calloc(n, bytes);
}

void *__wrap_malloc(size_t bytes)
{
	return fails(MALLOC) ? NULL : __real_malloc(bytes);
}

int __wrap_fallocate(int fd, int mode, off_t off, off_t bytes)
{
	return fails(FALLOCATE) ? -1 : __real_fallocate(fd, mode, off, bytes);
}

int __wrap_madvise(void *at, size_t bytes, int advice)
{
	return advice == MADV_POPULATE_WRITE && fails(MADVISE) ? -1
							       : __real_madvise(at, bytes, advice);
}

int __wrap_shm_open(const char *name, int flags, mode_t mode)
{
	return fails(SHM_OPEN) ? -1 : __real_shm_open(name, flags, mode);
}

int __wrap_memfd_create(const char *name, unsigned flags)
{
	return fails(MEMFD) ? -1 : __real_memfd_create(name, flags);
}

/* ---- joining --------------------------------------------------------------------------------- */

/* In children: a process has one job. */
static int in_child(void (*fn)(int n), int n)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		errors_state()->failed = 0;
		fn(n);
		exit(errors_state()->failed);
	}
	if (waitpid(pid, &status, 0) != pid)
		abort();
	return status;
}

static void init_without_tables(int n)
{
	fail_at(CALLOC, n, 1, ENOMEM);
	FAILS(pld_init(NULL), PL_ENOMEM, "pld_init", "no memory for a rank's tables");
	WORKS(pld_init(NULL));
	WORKS(pld_finalize());
}

static void init_without_files(int n)
{
	(void)n;
	fail_at(SHM_OPEN, 1, 1, EACCES);
	fail_at(MEMFD, 1, 1, EMFILE);
	FAILS(pld_init(NULL), PL_ESYS, "pld_init",
	      "no shared memory: neither /dev/shm nor memfd_create: Too many open files");
	/* either alone does */
	fail_at(SHM_OPEN, 1, 1, ENOENT);
	WORKS(pld_init(NULL));
	HOLDS(pldi_head(pldi_self()->seg.base)->is_memfd);
	WORKS(pld_finalize());
}

static void init_without_memory(int n)
{
	fail_at(FALLOCATE, n, 1, ENOSPC);
	FAILS(pld_init(NULL), PL_ESYS, "pld_init",
	      "no memory for the start of 1 ranks: * KiB free in *: No space left on device");
	/* a signal in between is none */
	fail_at(FALLOCATE, n, 3, EINTR);
	WORKS(pld_init(NULL));
	WORKS(pld_finalize());
}

static void init_without_fallocate(int n)
{
	(void)n;
	fail_at(FALLOCATE, 1, 1000, EOPNOTSUPP);
	fail_at(MADVISE, 2, 1, EFAULT);
	FAILS(pld_init(NULL), PL_ESYS, "pld_init",
	      "no memory for the start of 1 ranks: * KiB free in *: No space left on device");
	fail_at(FALLOCATE, 1, 1000, EOPNOTSUPP);
	WORKS(pld_init(NULL));
	WORKS(pld_free_window(pld_new_window(PL_SHAPE(1 << 20), PL_FP32)));
	fail_at(MADVISE, 5, 1, ENOMEM); /* behind the tables */
	FAILS(pld_new_window(PL_SHAPE(1 << 20), PL_FP32), PL_ENOMEM, "pld_new_window",
	      "4194304 bytes on 1 rank need 4194304 bytes, * has * free (rank 0: Cannot allocate "
	      "memory); *, or allocate less");
	WORKS(pld_finalize());
}

/* They are committed behind the tables, and only where they are wanted. */
static void init_without_counters(int n)
{
	const struct pld_config counting = PLD_CONFIG(.counters = PLD_COUNTERS_ON);
	struct pld_stats stats;

	fail_at(FALLOCATE, n, 1, ENOSPC);
	FAILS(pld_init(&counting), PL_ENOMEM, "pld_init",
	      "no memory for counters: No space left on device");
	WORKS(pld_init(&counting));
	WORKS(pld_get_stats(&stats));
	WORKS(pld_finalize());
}

static int joining(void)
{
	int status = 0;

	for (int n = 1; n <= 7; n++)
		status |= in_child(init_without_tables, n);
	for (int n = 1; n <= 6; n++)
		status |= in_child(init_without_memory, n);
	status |= in_child(init_without_counters, 7);
	status |= in_child(init_without_files, 0);
	status |= in_child(init_without_fallocate, 0);
	return status;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void domains(void)
{
	pld_ctx d;

	fail_at(CALLOC, 1, 1, ENOMEM);
	FAILS(pld_domain_subset(pld_world(), (int[]){ 0 }, 1), PL_ENOMEM, "pld_domain_subset",
	      "no memory for 1 ranks");
	for (int n = 2; n <= 7; n++) {
		fail_at(CALLOC, n, 1, ENOMEM);
		FAILS(pld_domain_subset(pld_world(), (int[]){ 0 }, 1), PL_ENOMEM,
		      "pld_domain_subset", "no memory for a domain of 1 ranks");
	}
	for (int n = 1; n <= 2; n++) {
		fail_at(FALLOCATE, n, 1, ENOSPC);
		FAILS(pld_domain_split(pld_world(), 0, 0), PL_ENOMEM, "pld_domain_split",
		      "no memory for a domain of 1 ranks: No space left on device");
	}
	d = pld_domain_split(pld_world(), 0, 0);
	WORKS(pld_barrier(d));
	WORKS(pld_domain_free(d));
}

static void buffers(void)
{
	/* the very first buffer: the object, and what hangs off the rank */
	fail_at(CALLOC, 1, 1, ENOMEM);
	FAILS(pld_alloc_window_buffer(.bytes = 64), PL_ENOMEM, "pld_alloc_window_buffer",
	      "64 bytes on 1 rank need 64 bytes, * has * free (rank 0: Cannot allocate memory); "
	      "*, or allocate less");
	for (int n = 1; n <= 2; n++) {
		fail_at(FALLOCATE, n, 1, ENOSPC); /* tables of the segment, the range's */
		FAILS(pld_alloc_window_buffer(.bytes = 64), PL_ENOMEM, "pld_alloc_window_buffer",
		      "64 bytes on 1 rank need 64 bytes, * has * free (rank 0: No space left on "
		      "device); *, or allocate less");
	}
	/* the slice: dense, sparse (its second piece), and the host's */
	fail_at(FALLOCATE, 2, 1, ENOSPC);
	FAILS(pld_alloc_window_buffer(.bytes = 64), PL_ENOMEM, "pld_alloc_window_buffer",
	      "64 bytes on 1 rank need 64 bytes, * has * free (rank 0: No space left on device); "
	      "*, or allocate less");
	fail_at(FALLOCATE, 3, 1, ENOSPC);
	FAILS(pld_alloc_window_buffer(.bytes = 2 << 20), PL_ENOMEM, "pld_alloc_window_buffer",
	      "2097152 bytes on 1 rank need 2097152 bytes, * has * free (rank 0: No space left "
	      "on device); *, or allocate less");
	fail_at(FALLOCATE, 2, 1, ENOSPC);
	FAILS(pld_host_tensor(PL_SHAPE(1 << 19), PL_INT32), PL_ENOMEM, "pld_host_tensor",
	      "2097152 bytes on 1 rank need 2097152 bytes, * has * free (rank 0: No space left "
	      "on device); *, or allocate less");
	/* the same calls now, in memory that is zero */
	fail_at(FALLOCATE, 0, 0, 0);
	for (int i = 0; i < 2; i++) {
		pld_tensor w = pld_new_window(PL_SHAPE(i ? 1 << 19 : 16), PL_INT32);

		WORKS(w);
		HOLDS(pl_read_int(w, PL_AT(i ? 262144 : 15)) == 0);
		WORKS(pl_write(w, PL_AT(i ? 262144 : 15), 7));
		WORKS(pld_free_window(w));
	}
}

static void views(void)
{
	pld_buffer b = pld_alloc_window_buffer(.bytes = 4096);
	pld_tensor w;

	/* the view of a row, the view itself */
	for (int n = 1; n <= 2; n++) {
		fail_at(CALLOC, n, 1, ENOMEM);
		FAILS(pld_window(b, PL_SHAPE(3, 5), PL_INT32), PL_ENOMEM, "pld_window",
		      "no memory for a view; the rank has *");
	}
	w = pld_window(b, PL_SHAPE(3, 5), PL_INT32);
	WORKS(w);
	fail_at(CALLOC, 1, 1, ENOMEM);
	FAILS(pl_slice(w, PL_AT(0, 0), PL_SHAPE(2, 2)), PL_ENOMEM, "pl_slice",
	      "no memory for a view; the rank has *");
	WORKS(pl_slice(w, PL_AT(0, 0), PL_SHAPE(2, 2)));
	WORKS(pld_free_window_buffer(b));
}

static void conditions(void)
{
	enum { MANY = 100 };
	pld_tensor w = pld_new_window(PL_SHAPE(4), PL_INT32);
	const pl_dims *at = PL_AT(3);
	struct pld_condition c[MANY];

	for (int i = 0; i < MANY; i++)
		c[i] = (struct pld_condition){ w, at, i < MANY - 1, PLD_WAIT_EQ };
	fail_at(MALLOC, 1, 1, ENOMEM);
	FAILS(pld_wait_any(c, MANY, PLD_FOREVER), PL_ENOMEM, "pld_wait_any",
	      "no memory for 100 conditions");
	errors_begin();
	HOLDS(pld_wait_any(c, MANY, PLD_FOREVER) == MANY - 1);
	WORKS(pld_free_window(w));
}

/* ---- tables of the job that are full --------------------------------------------------------- */

static void too_many_buffers(void)
{
	static pld_buffer made[PLDI_MAX_BUFFERS];
	int n = 0;

	while (n < PLDI_MAX_BUFFERS && (made[n] = pld_alloc_window_buffer(.bytes = 0)).w_)
		n++;
	HOLDS(n == PLDI_MAX_BUFFERS);
	FAILS(pld_alloc_window_buffer(.bytes = 64), PL_ENOMEM, "pld_alloc_window_buffer",
	      "16384 buffers are live, the most that a job can have; free some");
	while (n > 0)
		WORKS(pld_free_window_buffer(made[--n]));
	WORKS(pld_free_window_buffer(pld_alloc_window_buffer(.bytes = 64)));
}

static void no_range(void)
{
	pld_buffer b = pld_alloc_window_buffer(.bytes = 1 << 20);

	FAILS(pld_alloc_window_buffer(.bytes = 3 << 20), PL_ENOMEM, "pld_alloc_window_buffer",
	      "no range of 3145728 bytes and a spare page is free in the 4194304 bytes of "
	      "address space a rank; the longest has 3141632; give more with pldrun --reserve");
	WORKS(pld_free_window_buffer(b));
	WORKS(pld_free_window_buffer(pld_alloc_window_buffer(.bytes = 3 << 20)));
}

/* The buffer stays: others have it, and free it with pld_finalize. */
static void no_view_of_a_new_window(void)
{
	fail_at(CALLOC, 2, 1, ENOMEM);
	FAILS(pld_new_window(PL_SHAPE(3, 7), PL_INT32), PL_ENOMEM, "pld_window",
	      "no memory for a view; the rank has *");
	WORKS(pld_new_window(PL_SHAPE(3, 7), PL_INT32));
}

static void in_a_job(int n)
{
	const struct pld_config small = PLD_CONFIG(.reserve_bytes = 4 << 20);

	(void)n;
	WORKS(pld_init(&small));
	buffers();
	domains();
	views();
	conditions();
	no_range();
	too_many_buffers();
	no_view_of_a_new_window();
	WORKS(pld_finalize());
}

int main(void)
{
	int status;

	errors_return();
	status = joining() | in_child(in_a_job, 0);
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
