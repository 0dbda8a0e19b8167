/*
 * faults.c - preloaded by storm-faults: the N-th call of a kind that can fail does.
 *
 *	PLD_FAULT_FILE	a file of 64 bytes that processes share: how many calls there were, and the
 *			name of the one that failed
 *	PLD_FAULT_RANK	the rank whose calls are counted; -1: pldrun's, both processes, and those of
 *			ranks that are not programs yet
 *	PLD_FAULT_AT	N, from 1
 *	PLD_FAULT_HOW	0: a lack; 1: a signal or a refusal, or half of a read or write
 *
 * The calls are those of faults.def, and read, write and syscall.  It includes no header
 * that declares one of them: most are defined here with another list of arguments.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum { READ_WRITE = 2, MAP_SHARED_ = 1, PROT_READ_WRITE = 3, MODE = 0600 };

struct shared {
	_Atomic int calls;
	char name[60];
};

static struct shared *shared; /* NULL: this process is not concerned */
static int at, how;

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* Is it this call's turn?  errno is set. */
static int fails(const char *name, int lack, int refusal)
{
	const int error = how == 0 ? lack : refusal;

	if (!shared || error == 0)
		return 0;
	/* relaxed: a count */
	if (atomic_fetch_add_explicit(&shared->calls, 1, memory_order_relaxed) + 1 != at)
		return 0;
	strncpy(shared->name, name, sizeof(shared->name) - 1);
	errno = error;
	return 1;
}

#define FAULT(type, name, params, args, failed, lack, refusal)                                     \
	type name params;                                                                          \
	__attribute__((visibility("default"))) type name params                                    \
	{                                                                                          \
		static type(*next) params;                                                         \
		if (fails(#name, lack, refusal))                                                   \
			return failed;                                                             \
		if (!next)                                                                         \
			*(void **)&next = real(#name);                                             \
		return next args;                                                                  \
	}
#include "faults.def"
#undef FAULT

/* ---- with a rule of their own ---------------------------------------------------------------- */

enum { SHORT_LEAST = 512 }; /* a pipe takes and gives less than this as a whole */

#define MOVE(name, to)                                                                             \
	long name(int fd, to buf, size_t bytes);                                                   \
	__attribute__((visibility("default"))) long name(int fd, to buf, size_t bytes)             \
	{                                                                                          \
		static long (*next)(int fd, to buf, size_t bytes);                                 \
		if (!next)                                                                         \
			*(void **)&next = real(#name);                                             \
		if (fails(#name, EIO, EINTR)) {                                                    \
			if (how == 0 || bytes < SHORT_LEAST)                                       \
				return -1;                                                         \
			bytes /= 2;                                                                \
		}                                                                                  \
		return next(fd, buf, bytes);                                                       \
	}
MOVE(read, void *)
MOVE(write, const void *)

/* Not the futex: the kernel has no lack that it would answer with. */
long syscall(long number, long a, long b, long c, long d, long e, long f);
__attribute__((visibility("default"))) long syscall(long number, long a, long b, long c, long d,
						    long e, long f)
{
	static long (*next)(long number, long a, long b, long c, long d, long e, long f);

	if (!next)
		*(void **)&next = real("syscall");
	if (number != SYS_futex && fails("syscall", EMFILE, ENOSYS))
		return -1;
	return next(number, a, b, c, d, e, f);
}

/* ---- set-up ---------------------------------------------------------------------------------- */

__attribute__((constructor)) static void begin(void)
{
	const char *file = getenv("PLD_FAULT_FILE"), *rank = getenv("PLD_RANK");
	int (*real_open)(const char *path, int flags, int mode);
	void *(*real_mmap)(void *where, size_t bytes, int prot, int flags, int fd, long off);
	int fd;
	void *p;

	if (!file || atoi(getenv("PLD_FAULT_RANK")) != (rank ? atoi(rank) : -1))
		return;
	*(void **)&real_open = real("open");
	*(void **)&real_mmap = real("mmap");
	fd = real_open(file, READ_WRITE, MODE);
	p = real_mmap(NULL, sizeof(struct shared), PROT_READ_WRITE, MAP_SHARED_, fd, 0);
	syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (p == (void *)-1)
		return;
	at = atoi(getenv("PLD_FAULT_AT"));
	how = atoi(getenv("PLD_FAULT_HOW"));
	shared = p;
}
