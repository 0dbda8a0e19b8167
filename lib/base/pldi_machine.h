/* pldi_machine.h - what this process may use of the machine: CPUs and memory, cgroups included. */
#ifndef PLDI_MACHINE_H
#define PLDI_MACHINE_H

#include <stdint.h>

/*
 * CPUs this process may run on, at least 1: its affinity mask, and no more than the CPU quota of
 * its cgroup and all parents (v1 and v2), rounded up.  root: where /proc and /sys are looked for,
 * "" for the real ones; tests give a made-up tree.  What cannot be read limits nothing.
 */
int pldi_cpus(const char *root);

/* The tightest limit on memory that can be seen, and the file that sets it. */
struct pldi_memory_limit {
	int64_t available_bytes; /* what is left under it; INT64_MAX: no limit seen */
	char where[240];	 /* "/sys/fs/cgroup/a/memory.max", "/proc/meminfo" */
};

/*
 * Memory of the process's cgroup and all its parents (v1 and v2): limit less use, reclaimable page
 * cache not counted as use.  Fills *cgroup; and *machine from MemAvailable.
 */
void pldi_memory_limits(const char *root, struct pldi_memory_limit *cgroup,
			struct pldi_memory_limit *machine);

/* The tighter of the two, of this process. */
static inline struct pldi_memory_limit pldi_memory_left(void)
{
	struct pldi_memory_limit cgroup, machine;

	pldi_memory_limits("", &cgroup, &machine);
	return machine.available_bytes < cgroup.available_bytes ? machine : cgroup;
}

enum pldi_group_limit_of { PLDI_LIMIT_CPUS, PLDI_LIMIT_MEMORY, PLDI_LIMIT_PIDS };

/* What one cgroup sets. */
struct pldi_group_limit {
	char file[240];
	int64_t limit;	   /* bytes; microseconds of CPU time in a period; processes */
	int64_t used;	   /* bytes, reclaimable page cache not counted; processes */
	int64_t period_us; /* CPU time */
};
typedef void pldi_group_limit_fn(const struct pldi_group_limit *l, void *arg);

/* Calls fn for each limit that the process's cgroup and its parents set (v1 and v2). */
void pldi_group_limits(const char *root, enum pldi_group_limit_of of, pldi_group_limit_fn *fn,
		       void *arg);

/* How many processes the kernel has killed for lack of memory, of a cgroup's too; 0: not known. */
int64_t pldi_oom_kills(const char *root);

/* Physical memory of the machine in bytes, at least 1 GiB. */
int64_t pldi_ram_bytes(void);

#define PLDI_HUGE_WORD 16

/*
 * What the kernel does about huge pages in files of the tmpfs that is mounted at dir (NULL: in a
 * memfd): never, deny, advise, within_size, always, force.  Returns whether a mapping that asks for
 * them can get some.
 */
int pldi_huge_pages(const char *root, const char *dir, char word[PLDI_HUGE_WORD]);

#define PLDI_SHM_DIR "/dev/shm"

/*
 * Why a job's segment would rather be a memfd than a file in /dev/shm, NULL: it would not.
 * /dev/shm reports that it is full, which a memfd does not: it is preferred unless it is missing,
 * cannot be written to, is small beside what memory and cgroup would allow (64 MB in many
 * containers), or is without the huge pages that a memfd can have.
 */
const char *pldi_why_memfd(void);

#endif
