/*
 * pldi_observe.h - counting and listing what a rank's calls do to others: bytes, cells, time.
 *
 * Off by default: the rank's pointer to its struct pldi_observe is then NULL, and every place that
 * could count tests it (pldi_observed).  The numbers come from those places, which are few (the one
 * function that gives a peer's address to a move, the one that changes a cell, the one that waits
 * for one), and never from formulas.  They lie in the segment, so that the launcher has them
 * whatever becomes of the rank.
 */
#ifndef PLDI_OBSERVE_H
#define PLDI_OBSERVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a job observes: bits in the segment's head. */
enum { PLDI_OBSERVE_STATS = 1, PLDI_OBSERVE_SCHEDULE = 2 };

enum pldi_act {
	PLDI_ACT_NONE = 0,
#define PLDI_ACT(id, text, form) PLDI_ACT_##id,
#include "acts.def"
#undef PLDI_ACT
	PLDI_ACTS
};
enum pldi_act_form {
	PLDI_FORM_NONE,
	PLDI_FORM_READ,
	PLDI_FORM_WRITE,
	PLDI_FORM_UPDATE,
	PLDI_FORM_NOTIFY,
	PLDI_FORM_WAIT
};

/* ---- in the segment -------------------------------------------------------------------------- */

/* The counters of one rank, which alone writes them; its threads may do so at once. */
struct pldi_stats_shm {
	_Alignas(128) _Atomic uint32_t on; /* 1: the rank counts */
	uint32_t pad;
	_Atomic int64_t notifies, waits, wait_ns, collectives;
	_Atomic uint64_t acts; /* listed so far; above PLDI_ACTS_MOST: the rest are lost */
	/* by world rank: bytes read from it, bytes written to it */
	_Alignas(64) _Atomic int64_t moved[][2];
};

/* A line of a schedule. */
struct pldi_act_shm {
	_Atomic uint32_t act; /* enum pldi_act, the last to be written; 0: not yet */
	int32_t peer;	      /* world rank */
	uint32_t window;      /* number of its buffer */
	uint32_t reuse;	      /* 1: not in the step's schedule, but what makes a call repeatable */
	int64_t at;	      /* byte in the buffer; of cells and elements: linear index */
	int64_t value;	      /* bytes, or what is added, set, waited for */
};

#define PLDI_ACTS_MOST (UINT64_C(1) << 21) /* of a rank: 64 MiB */

static inline uint64_t pldi_stats_stride(int32_t nranks)
{
	uint64_t bytes =
		offsetof(struct pldi_stats_shm, moved) + (uint64_t)nranks * 2 * sizeof(int64_t);

	return (bytes + 127) / 128 * 128;
}

/* ---- in the rank ----------------------------------------------------------------------------- */

struct pldi_observe {
	int32_t rank; /* own, in the world */
	struct pldi_stats_shm *stats;
	struct pldi_act_shm *acts; /* NULL: no schedule */
	/* backs the bytes at a place of acts; 0, or an errno */
	int (*commit)(void *arg, void *at, size_t bytes);
	void *arg;
	_Atomic uint64_t backed; /* acts that have memory */
};

/*
 * Whether a rank with this pointer counts: what every place that could count asks.  With
 * PLDI_NO_OBSERVE none does: the build that bench/stats compares with.
 */
static inline bool pldi_observed(const struct pldi_observe *o)
{
#ifdef PLDI_NO_OBSERVE
	(void)o;
	return false;
#else
	return __builtin_expect(o != NULL, 0);
#endif
}

/*
 * One act.  peer: world rank (waits: the own).  at, value: as in struct pldi_act_shm.  bytes: of an
 * element that is updated, else 0.
 */
void pldi_observe_act(struct pldi_observe *o, enum pldi_act act, int32_t peer, uint32_t window,
		      int64_t at, int64_t value, int64_t bytes, bool reuse);
/* Bytes read from a peer that are no window's: payloads beside the library's flags. */
void pldi_observe_read(struct pldi_observe *o, int32_t peer, int64_t bytes);

static inline void pldi_observe_collective(struct pldi_observe *o)
{
	/* relaxed: counters order nothing */
	atomic_fetch_add_explicit(&o->stats->collectives, 1, memory_order_relaxed);
}
static inline void pldi_observe_wait_ns(struct pldi_observe *o, int64_t ns)
{
	atomic_fetch_add_explicit(&o->stats->wait_ns, ns, memory_order_relaxed);
}

/* "put"; "?" for a number that is none: the launcher reads numbers from the segment. */
const char *pldi_act_text(uint32_t act);
enum pldi_act_form pldi_act_form(uint32_t act);

#endif
