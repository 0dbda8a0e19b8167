/*
 * pldi_layout.h - every struct that ranks and the launcher share, and where it lies in the segment.
 *
 *     [ head ][ slot of each rank ][ domain table ][ flags of each domain's members ]
 *     [ buffer table ][ arenas: free ranges of the host, dense and sparse regions ]
 *     [ counters of each rank ][ schedule of each rank, where one is asked for ]
 *     [ host region: host tensors, one memory for all ]
 *     [ dense window of rank 0 | of rank 1 | .. ]    small buffers, windows 1 MiB apart
 *     [ sparse window of rank 0 | of rank 1 | .. ]   the others, windows a reserve apart
 *
 * A buffer lies at the same offset in the window of every rank.  Window r starts at
 * r x (size + PLDI_COLOUR) of its region: a constant distance, so that all ranks' slices form one
 * strided tensor, and an odd number of cache lines, so that equal offsets do not share the low 12
 * address bits (else reading two windows while writing one stalls on false dependencies between
 * stores and loads).
 *
 * Offsets are bytes from the segment's start.  The file is sparse: only what is used has memory,
 * and whoever uses a part first commits it (segment.c).  The layout is ABI between ranks and
 * launcher: a change raises PLDI_ABI.
 */
#ifndef PLDI_LAYOUT_H
#define PLDI_LAYOUT_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "pldi_observe.h"

#define PLDI_ABI 3u
#define PLDI_MAGIC 0x31646c70u /* "pld1" */

#define PLDI_LINE 64
#define PLDI_PAIR 128 /* the adjacent-line prefetcher fetches pairs */
#define PLDI_PAGE 4096
#define PLDI_COLOUR 1088 /* 17 lines */

#define PLDI_MAX_RANKS 4096 /* 1 + the launcher's number fits 16 bits: pldi_head_shm.aborted */
#define PLDI_MAX_DOMAINS 1024
#define PLDI_MAX_BUFFERS 16384
#define PLDI_DENSE_BYTES (1 << 20)
#define PLDI_DENSE_MAX (16 << 10) /* a larger buffer goes to the sparse region */

#define PLDI_SITES 128
#define PLDI_SITE_TEXT 56
#define PLDI_CALL_ARGS 10
#define PLDI_PAYLOAD 4 /* words */
#define PLDI_NAME_TEXT 24
#define PLDI_ERROR_TEXT 256

/* ---- head ------------------------------------------------------------------------------------ */

/* Written by the launcher before any rank exists and constant from then on, but for the words
 * after `constant`. */
struct pldi_head_shm {
	uint32_t magic, abi;
	int32_t nranks, cpus; /* cpus: that the launcher may use */
	int32_t is_memfd;
	uint32_t observe;  /* PLDI_OBSERVE_STATS, PLDI_OBSERVE_SCHEDULE */
	uint64_t dev, ino; /* of the segment's descriptor: is it still the segment? */
	uint64_t bytes;
	uint64_t map_hint; /* address to map it at, 0: any */
	uint64_t reserve;
	uint64_t slots_off;
	uint64_t domains_off, domain_stride;
	uint64_t flags_off;
	uint64_t buffers_off;
	uint64_t arenas_off;
	uint64_t stats_off, stats_stride;
	uint64_t acts_off, acts_stride; /* stride 0: no schedules */
	uint64_t host_off;
	uint64_t dense_off, dense_stride;
	uint64_t sparse_off, sparse_stride;

	/*
	 * 0, or who ended the job first: 1 + the rank, or 1 + nranks for the launcher; and above 16
	 * bits the exit status that ranks take because of it.
	 */
	_Alignas(PLDI_LINE) _Atomic uint32_t aborted;

	/* guards domain table, buffer table and arenas */
	_Alignas(PLDI_PAIR) _Atomic uint32_t lock;
	uint32_t domains_used; /* entries of the domain table that were ever used; reading another
				* would give it memory */
	uint32_t buffers_used; /* the same of the buffer table */
	uint32_t next_buffer;  /* number of the next buffer, from 1, in the order of allocation */
};

/* ---- slots ----------------------------------------------------------------------------------- */

/* A source line, "file.c:31": pointers to it mean nothing in another process. */
struct pldi_site_shm {
	_Atomic uint64_t key; /* the owner's pointer, 0: empty */
	char text[PLDI_SITE_TEXT];
};

enum pldi_wait_kind {
	PLDI_WAIT_NONE = 0,
	PLDI_WAIT_CELL = 1,
	PLDI_WAIT_LINE = 2,
	PLDI_WAIT_CELLS = 3, /* one of several; the record has the first */
};

/* What a rank sleeps on, for the launcher. */
#define PLDI_NO_CALL UINT32_MAX
struct pldi_wait_shm {
	_Atomic uint32_t epoch; /* grows at each begin and end of a sleep: odd while asleep */
	_Atomic uint32_t kind;	/* enum pldi_wait_kind */
	_Atomic uint32_t cmp;	/* pld_wait_cmp; a line: GE */
	_Atomic int32_t wanted;
	_Atomic uint64_t off;	 /* of the word that is tested */
	_Atomic int64_t index;	 /* a cell: its linear index in the view */
	_Atomic uint32_t buffer; /* a cell: number of its buffer */
	_Atomic int32_t peer;	 /* world rank of who is to post or notify, -1: not known */
	_Atomic int64_t since_ns;
	_Atomic int64_t deadline_ns;
	_Atomic uint32_t domain;   /* of the collective call that waits, PLDI_NO_CALL: none does */
	_Atomic uint32_t call;	   /* its number there */
	char name[PLDI_NAME_TEXT]; /* a cell: of its buffer, or "" */
};

/* The last error of a rank that goes on after errors (PL_ERRORS_RETURN). */
struct pldi_error_shm {
	char text[PLDI_ERROR_TEXT];
};

enum pldi_slot_state {
	PLDI_SLOT_FREE = 0,
	PLDI_SLOT_INIT = 1,  /* pld_init has claimed it */
	PLDI_SLOT_FINAL = 2, /* pld_finalize has returned */
};

struct pldi_slot_shm {
	/* notifiers read sleepers and ring doorbell: pldi_bell.h */
	_Alignas(PLDI_PAIR) _Atomic uint32_t doorbell;
	_Atomic uint32_t sleepers;

	/* the owner writes, the launcher reads */
	_Alignas(PLDI_PAIR) _Atomic int32_t pid; /* 0: unclaimed */
	_Atomic uint32_t state;			 /* enum pldi_slot_state */
	_Atomic uint32_t doing;			 /* operation << 16 | site */
	_Atomic uint32_t threads_asleep;

	_Alignas(PLDI_LINE) struct pldi_wait_shm wait;

	struct pldi_site_shm site[PLDI_SITES];

	_Alignas(PLDI_LINE) struct pldi_error_shm error;
};

/* ---- domains --------------------------------------------------------------------------------- */

enum pldi_domain_state {
	PLDI_DOMAIN_FREE = 0,
	PLDI_DOMAIN_FORMING = 1,
	PLDI_DOMAIN_LIVE = 2,
	PLDI_DOMAIN_REFUSED = 3, /* ranks disagree about it; form.c */
};

/* Under the head's lock but for joined, sleepers and broken. */
struct pldi_domain_shm {
	uint32_t state; /* enum pldi_domain_state */
	uint32_t parent;
	int32_t n;
	int32_t left; /* members that have ended it; refused: that wait to be told */
	_Alignas(PLDI_LINE) _Atomic uint32_t joined; /* a pldi_line: members wait for n */
	_Atomic uint32_t sleepers;
	_Atomic uint32_t broken; /* 1: members disagreed about a call (pldi_agree.h); 2: form.c */
	uint32_t refusal;	 /* the same in entries that are refused together */
	/* then int32_t member[nranks], world ranks; int32_t came[nranks], see form.c */
	int32_t list[];
};

/* A collective call, as its caller wrote it before it posted it: for the text of a mismatch. */
struct pldi_call_shm {
	uint32_t seq, op, site;
	_Atomic uint32_t kept; /* 1: place has the site's text */
	int64_t arg[PLDI_CALL_ARGS];
	char place[PLDI_SITE_TEXT];
};

/*
 * What one member of one domain says to the others; only that member writes it, but for sleepers.
 * Of calls with even and odd numbers each has its own print, payload and call.
 */
struct pldi_flag_shm {
	_Alignas(PLDI_PAIR) _Atomic uint32_t v; /* a pldi_line: the member's posts so far */
	_Atomic uint32_t sleepers;
	_Atomic uint64_t print[2]; /* hash of the call << 32 | its number */
	_Alignas(PLDI_LINE) int64_t payload[2][PLDI_PAYLOAD];
	_Alignas(PLDI_PAIR) struct pldi_call_shm call[2];
};

/* ---- memory ---------------------------------------------------------------------------------- */

enum pldi_region {
	PLDI_REGION_HOST = 0,
	PLDI_REGION_DENSE = 1,
	PLDI_REGION_SPARSE = 2,
	PLDI_REGION_NONE = 3, /* of a buffer without bytes */
};
#define PLDI_ARENAS 3

struct pldi_range_shm {
	uint64_t off, bytes;
};

/* Free ranges of a region's window, ascending, never adjacent.  Under the head's lock. */
struct pldi_arena_shm {
	uint64_t bytes; /* of the window */
	uint64_t nfree;
	struct pldi_range_shm free[PLDI_MAX_BUFFERS + 1];
};

/* A live buffer.  Under the head's lock but for left. */
struct pldi_buffer_shm {
	uint32_t number; /* 0: this entry is free */
	uint32_t region; /* enum pldi_region */
	uint64_t off, bytes;
	int32_t members;
	_Atomic int32_t left; /* members that have freed it: the last returns the range */
};

static_assert(sizeof(struct pldi_flag_shm) % PLDI_PAIR == 0, "one writer a line pair");
static_assert(sizeof(struct pldi_site_shm) == PLDI_LINE, "a site is a line");
static_assert(offsetof(struct pldi_slot_shm, pid) == PLDI_PAIR, "bell and state apart");
static_assert(offsetof(struct pldi_slot_shm, wait) == PLDI_PAIR + PLDI_LINE, "layout is ABI");
static_assert(offsetof(struct pldi_head_shm, aborted) % PLDI_LINE == 0, "layout is ABI");
static_assert(PLDI_COLOUR % PLDI_LINE == 0 && PLDI_COLOUR / PLDI_LINE % 2 == 1, "odd colour");
static_assert(sizeof(_Atomic uint64_t) == 8 && sizeof(_Atomic uint32_t) == 4, "bare words");

/* ---- geometry -------------------------------------------------------------------------------- */

/*
 * Fills h's sizes and offsets for nranks ranks with reserve bytes each (a multiple of a page), and
 * for what h->observe says.
 */
void pldi_layout_fill(struct pldi_head_shm *h, int32_t nranks, uint64_t reserve);

static inline struct pldi_head_shm *pldi_head(void *base)
{
	return base;
}

static inline struct pldi_slot_shm *pldi_slot(void *base, int32_t rank)
{
	struct pldi_slot_shm *slots = (void *)((char *)base + pldi_head(base)->slots_off);

	return slots + rank;
}

static inline struct pldi_stats_shm *pldi_stats_of(void *base, int32_t rank)
{
	const struct pldi_head_shm *h = base;

	return (void *)((char *)base + h->stats_off + (uint64_t)rank * h->stats_stride);
}

static inline struct pldi_domain_shm *pldi_domain_entry(void *base, uint32_t id)
{
	const struct pldi_head_shm *h = base;

	return (void *)((char *)base + h->domains_off + id * h->domain_stride);
}

static inline struct pldi_flag_shm *pldi_flag(void *base, uint32_t domain, int32_t member)
{
	const struct pldi_head_shm *h = base;
	struct pldi_flag_shm *flags = (void *)((char *)base + h->flags_off);

	return flags + (uint64_t)domain * (uint64_t)h->nranks + (uint64_t)member;
}

static inline struct pldi_buffer_shm *pldi_buffer_entry(void *base, uint32_t index)
{
	struct pldi_buffer_shm *buffers = (void *)((char *)base + pldi_head(base)->buffers_off);

	return buffers + index;
}

static inline struct pldi_arena_shm *pldi_arena(void *base, enum pldi_region region)
{
	struct pldi_arena_shm *arenas = (void *)((char *)base + pldi_head(base)->arenas_off);

	return arenas + region;
}

/* Offset of rank's window of a region; the host region has one window for all. */
static inline uint64_t pldi_window_off(const struct pldi_head_shm *h, enum pldi_region region,
				       int32_t rank)
{
	switch (region) {
	case PLDI_REGION_DENSE:
		return h->dense_off + (uint64_t)rank * h->dense_stride;
	case PLDI_REGION_SPARSE:
		return h->sparse_off + (uint64_t)rank * h->sparse_stride;
	default:
		return h->host_off;
	}
}

#endif
