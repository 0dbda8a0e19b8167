/* pld/observe.h - what a rank's own calls have moved, sent and waited for. */
#ifndef PLD_OBSERVE_H
#define PLD_OBSERVE_H

#include <pld/job.h>

PL_BEGIN_DECLS

/* Totals of one rank since it joined the job. */
struct pld_stats {
	int64_t remote_bytes_read;    /* by its calls, from slices of other ranks */
	int64_t remote_bytes_written; /* to them */
	int64_t notifies;	      /* cells changed: notify, put with .signal, collectives */
	int64_t waits;		      /* cells waited for */
	int64_t wait_ns;	      /* time in waits, those of collectives and allocation too */
	int64_t collectives;	      /* collective calls, allocation and levels among them */
};

/*
 * pld_get_stats - this rank's counters into *s.  They count only in a job that was told to: by
 * pldrun --stats, --report or --schedule, or by `.counters = PLD_COUNTERS_ON` in pld_config; else
 * PL_EINVAL that says so.
 *
 * Counted is what calls do to memory of other ranks; a rank's own slice counts 0, and so does what
 * a program itself does through pld_ptr and pld_all.  An atomic on one element counts as read and
 * written.  Local; any thread.
 */
PL_API pl_status (pld_get_stats)(struct pld_stats *s, size_t size, const char *where);
#define pld_get_stats(s) (pld_get_stats)((s), sizeof(struct pld_stats), PL_WHERE)

PL_END_DECLS
#endif
