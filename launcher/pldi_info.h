/* pldi_info.h - pldrun --info. */
#ifndef PLDI_INFO_H
#define PLDI_INFO_H

#include <stddef.h>
#include <stdint.h>

/*
 * Prints what this process may use of the machine, what would limit a job of nranks ranks (0: one
 * for each CPU) with reserve_bytes each (0: found), and what to do about it.
 */
void pldi_info(int nranks, int64_t reserve_bytes);

/* bind.c: the CPUs that this process may use, as a mask of *bytes to free.  NULL: not known. */
unsigned char *pldi_allowed_cpus(size_t *bytes);

/* bind.c: packages, NUMA nodes, cores and hardware threads, as hwloc sees them. */
void pldi_topology(char *text, size_t text_bytes);

#endif
