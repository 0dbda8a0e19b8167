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
	char where[160];	 /* "/sys/fs/cgroup/a/memory.max", "/proc/meminfo" */
};

/*
 * Memory of the process's cgroup and all its parents (v1 and v2): limit less use, reclaimable page
 * cache not counted as use.  Fills *cgroup; and *machine from MemAvailable.
 */
void pldi_memory_limits(const char *root, struct pldi_memory_limit *cgroup,
			struct pldi_memory_limit *machine);

/* Physical memory of the machine in bytes, at least 1 GiB. */
int64_t pldi_ram_bytes(void);

#endif
