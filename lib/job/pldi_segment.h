/* pldi_segment.h - the job's memory: created by the launcher, mapped by every rank. */
#ifndef PLDI_SEGMENT_H
#define PLDI_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "pldi_layout.h"

/*
 * Reserve a rank in a job that valgrind watches: its search for leaks reads all that a process has
 * mapped, and reading a hole of the sparse segment gives it memory.
 */
#define PLDI_RESERVE_VALGRIND (UINT64_C(64) << 20)

struct pldi_segment {
	int fd; /* -1: none */
	void *base;
	uint64_t bytes;
};

/*
 * Creates a segment without a name for nranks ranks, with its head filled and what the ranks need
 * to start backed by memory, and maps it.  reserve_bytes: address space a rank for windows, 0:
 * found.  observe: what it has room to observe (pldi_observe.h).  The descriptor is close-on-exec.
 * 0, or -1 with one sentence in text and nothing left behind.
 */
int pldi_segment_create(int nranks, int64_t reserve_bytes, uint32_t observe,
			struct pldi_segment *out, char *text, size_t text_bytes);

/*
 * Maps the segment behind fd, which must have been made by this version.  0, or -1 as above (fd
 * stays open).
 */
int pldi_segment_map(int fd, struct pldi_segment *out, char *text, size_t text_bytes);

/* The head alone, for a process that is no rank: who has ended the job?  NULL: no segment. */
struct pldi_head_shm *pldi_segment_map_head(int fd);

/* Removes this user's names in /dev/shm of launchers that died between making and unlinking one. */
void pldi_segment_remove_stale_names(void);

void pldi_segment_close(struct pldi_segment *seg);

/*
 * For a launcher: no access of this process to seg, which stays where it is, ends in SIGBUS,
 * whatever ranks do to the file.  Undone in a process that becomes a rank.
 */
void pldi_segment_guard(const struct pldi_segment *seg);
void pldi_segment_unguard(void);

/*
 * Whether fd still is the segment: a program may have closed it, and opened a file of its own under
 * its number.
 */
int pldi_segment_has_fd(const struct pldi_segment *seg);

/*
 * Backs the pages of [off, off + bytes) with zeroed memory, those that had some keep it: after
 * it no access there can fail.  0 or an errno: ENOSPC /dev/shm full, ENOMEM.
 */
int pldi_segment_commit(const struct pldi_segment *seg, uint64_t off, uint64_t bytes);

/* Gives the pages wholly inside [off, off + bytes) back; they read as zero when backed again. */
void pldi_segment_punch(const struct pldi_segment *seg, uint64_t off, uint64_t bytes);

/* Whether [off, off + bytes) belongs into a core dump (by default nothing does). */
void pldi_segment_dump(const struct pldi_segment *seg, uint64_t off, uint64_t bytes, int dump);

/* Room that is left: "/dev/shm" or "memory", and bytes. */
const char *pldi_segment_room(const struct pldi_segment *seg, int64_t *free_bytes);

#endif
