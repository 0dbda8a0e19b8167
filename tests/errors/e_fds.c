/*
 * e_fds.c - a program that closes the descriptors that it does not know, and opens files of its own
 * under their numbers: the job's memory still works, and no byte of the files changes.
 */
#include "config.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errors.h"
#include "pldi_job.h"

static const char mine[] = "a file of the program's\n";

/* A file of the program's own under number fd. */
static void take(int fd)
{
	int file = memfd_create("e_fds", 0);

	if (file < 0 || write(file, mine, sizeof(mine)) != sizeof(mine) || dup2(file, fd) != fd)
		abort();
	if (file != fd)
		close(file);
}

static void is_untouched(int fd, const char *where)
{
	char seen[2 * sizeof(mine)];
	struct stat st;

	if (fstat(fd, &st) == 0 && st.st_size == sizeof(mine) &&
	    pread(fd, seen, sizeof(seen), 0) == sizeof(mine) &&
	    memcmp(seen, mine, sizeof(mine)) == 0)
		return;
	errors_report(where, "an open file, as it was", PL_OK);
}

static void works(int me, int n)
{
	pld_tensor small = pld_new_window(PL_SHAPE(n), PL_INT32);
	pld_tensor large = pld_new_window(PL_SHAPE(1 << 20), PL_INT32);
	pl_tensor host = pld_host_tensor(PL_SHAPE(1 << 18), PL_INT32);

	WORKS(small);
	WORKS(large);
	WORKS(host);
	HOLDS(pl_read_int(large, PL_AT((1 << 20) - 1)) == 0);
	WORKS(pl_write(large, PL_AT((1 << 20) - 1), me + 1));
	WORKS(pld_put(pl_slice(small, PL_AT(me), PL_SHAPE(1)), (me + 1) % n,
		      pl_slice(large, PL_AT((1 << 20) - 1), PL_SHAPE(1))));
	WORKS(pld_barrier(pld_world()));
	HOLDS(pl_read_int(small, PL_AT((me + n - 1) % n)) == (me + n - 1) % n + 1);
	WORKS(pld_host_free(host));
	WORKS(pld_free_window(large));
	WORKS(pld_free_window(small));
}

int main(void)
{
	int seg_fd, told_fd, me, n;

	if (pld_init(NULL))
		return EXIT_FAILURE;
	errors_return();
	me = pld_rank(pld_world());
	n = pld_nranks(pld_world());
	seg_fd = pldi_self()->seg.fd;
	told_fd = pldi_self()->status_fd;
	works(me, n);
	close(seg_fd);
	works(me, n);
	take(seg_fd);
	works(me, n);
	is_untouched(seg_fd, PL_WHERE);
	/* then pldrun is not told of pld_finalize any more, and takes the job for a failed one */
	if (getenv("TAKE_ALL") && told_fd >= 0)
		take(told_fd);
	WORKS(pld_finalize());
	is_untouched(seg_fd, PL_WHERE);
	if (getenv("TAKE_ALL") && told_fd >= 0)
		is_untouched(told_fd, PL_WHERE);
	return errors_state()->failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
