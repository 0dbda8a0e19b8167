/* pldi_job.h - a rank and its domains, as this process sees them. */
#ifndef PLDI_JOB_H
#define PLDI_JOB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <pld/job.h>
#include <pl/tile.h>
#include <pld/level.h>

#include "pldi_bell.h"
#include "pldi_layout.h"
#include "pldi_line.h"
#include "pldi_observe.h"
#include "pldi_params.h"
#include "pldi_patience.h"
#include "pldi_segment.h"
#include "pldi_status.h"

/* What a rank may call now: levels, a fork and finalize take classes of calls away. */
enum pldi_right {
	PLDI_MAY_MEMORY = 1,	/* windows, host tensors, domains */
	PLDI_MAY_COLLECT = 2,	/* collectives */
	PLDI_MAY_SIGNAL = 4,	/* notify, wait, remote memory */
	PLDI_MAY_TILE = 8,	/* tiles */
	PLDI_MAY_HOST = 16,	/* PLD_HOST */
	PLDI_MAY_DISPATCH = 32, /* PLD_DISPATCH */
	PLDI_MAY_INCORE = 64,	/* PLD_INCORE */
	PLDI_MAY_FINALIZE = 128,
	PLDI_MAY_ALL = 255,
	/* at no level: what is only there inside another level is not */
	PLDI_MAY_SPMD = PLDI_MAY_ALL & ~(PLDI_MAY_DISPATCH | PLDI_MAY_INCORE),
};

/* Operations for a slot's `doing`: the collective calls, then the others. */
enum pldi_opcode {
#define PLDI_CALL(id, name, args) PLDI_CALL_##id,
#include "calls.def"
#undef PLDI_CALL
	PLDI_OP_FIRST = 256,
#define PLDI_OP(id, name) PLDI_OP_##id,
#include "ops.def"
#undef PLDI_OP
};
/* "pld_wait"; "?" for a number that is none: the launcher reads numbers from the segment. */
const char *pldi_opcode_name(uint32_t op);

struct pldi_rank;

/* A domain as one of its members sees it; begins with what the inline calls of pld.h read. */
struct pldi_domain {
	struct pld_domain_ pub;
	uint32_t id;
	struct pldi_rank *self;
	struct pldi_domain_shm *shm;
	struct pldi_domain *next; /* of self->domains */

	/* by member */
	int32_t *world_rank;
	int32_t *scratch;    /* for a split: a call that cannot fail once others wait */
	const void **source; /* for a collective: addresses that it reads */
	void **target;	     /* and that it writes */
	struct pldi_bell *bell;
	struct pldi_flag_shm *flags;
	ptrdiff_t *delta[PLDI_ARENAS]; /* by region: from my slice to the member's; host: NULL */

	int32_t spacing; /* of world ranks; 0: not even */
	uint32_t seq;	 /* number of the last collective call */
	uint64_t print;	 /* its fingerprint */
	uint32_t posts;	 /* made so far: at the same point of a call the same on every member */
	uint32_t entry;	 /* posts at the entry of the last call */
	bool reuse;	 /* what is done now is what makes a named schedule repeatable */
	bool broken;
	const char *ended_where;    /* NULL: live */
	uint32_t nbuffers;	    /* live, of this domain */
	size_t nviews;		    /* live; under self->mutex */
	_Atomic(const char *) busy; /* place of the collective call under way, or NULL */
};

/* A level that is open. */
struct pldi_open_level {
	pld_level level;
	const char *where;
	int errors_mark;
	struct pl_mark scope; /* in-core: its tiles */
};

/* All state of a rank. */
struct pldi_rank {
	int32_t rank, nranks;
	struct pldi_segment seg;
	struct pldi_slot_shm *slot;
	struct pldi_domain *world, *domains; /* domains: all, ended ones too */

	_Atomic uint32_t may; /* enum pldi_right, or of several */
	const char *init_where, *final_where;
	bool forked; /* this process is a child that a rank forked */
	struct pldi_rank
		*former; /* of the same process, an earlier job's: its views may be asked */
	int32_t pid;
	int status_fd; /* tells the launcher of init, finalize, errors; -1: no launcher */
	uint64_t status_dev, status_ino; /* of it: is it still the pipe? */

	_Atomic bool publishing; /* a thread's sleep is in the slot's record */
	struct pldi_patience patience;
	struct pldi_params params;
	pthread_mutex_t mutex; /* guards the lists and tables of this struct, and sites */

	struct pldi_open_level open[4]; /* by depth: host, device, in-core */
	int depth;

	struct pldi_memory *memory; /* layer window: buffers, views, host tensors */

	struct pldi_observe *observe; /* &observing, or NULL: nothing is counted */
	struct pldi_observe observing;
};

/* The rank of this thread: its own when a test runs ranks as threads, else the process's. */
struct pldi_rank *pldi_self(void);
void pldi_self_use(struct pldi_rank *self); /* for this thread; NULL: the process's */

/* The domain behind a context that a call was given; NULL and an error: this rank is no member. */
struct pldi_domain *pldi_domain_of(pld_ctx c, const char *call, const char *where);

/*
 * The rank, when it is live and may make calls of this class; else NULL and an error is born.
 * pldi_may is the same for a call that has found its rank already.
 */
struct pldi_rank *pldi_live(enum pldi_right c, const char *call, const char *where);
pl_status pldi_may_not(struct pldi_rank *self, const char *call, const char *where);
static inline pl_status pldi_may(struct pldi_rank *self, enum pldi_right c, const char *call,
				 const char *where)
{
	/* relaxed: the rank's own switch; a thread that changes level while another calls races */
	if (__builtin_expect((atomic_load_explicit(&self->may, memory_order_relaxed) & c) != 0, 1))
		return PL_OK;
	return pldi_may_not(self, call, where);
}

/* ---- joining and leaving (rank.c) ------------------------------------------------------------ */

/* How the launcher tells a rank of its job, in the environment; strict. */
#define PLDI_ENV_RANK "PLD_RANK"
#define PLDI_ENV_NRANKS "PLD_NRANKS"
#define PLDI_ENV_JOB "PLD_JOB" /* pldi_launched.h */

/* What a rank tells the launcher on its status descriptor: one such message, written whole. */
enum pldi_told {
	PLDI_TOLD_INIT = 'i',
	PLDI_TOLD_FINAL = 'f',
	PLDI_TOLD_ERROR = 'e', /* the rank has printed an error that ends the job */
};
struct pldi_told_msg {
	uint32_t rank;
	uint32_t what; /* enum pldi_told */
};
void pldi_tell(const struct pldi_rank *self, enum pldi_told what);
void pldi_tell_as(int32_t rank, int status_fd, enum pldi_told what);

/* pld_init without the level check; config may be NULL. */
pl_status pldi_join(const struct pld_config *config, const char *call, const char *where);
/* From here on an error of this process is one of its job's: pldi_end_job. */
void pldi_errors_of_job(void);
/* The job this process was started in, before it has joined: its head, or NULL (launched.c). */
struct pldi_head_shm *pldi_launched_head(int32_t *rank, int *status_fd);
/* Is there a launcher: are the variables set? */
bool pldi_launched(void);
/* Whether config is well formed; nranks 0: no launcher said how many. */
pl_status pldi_config_check(const struct pld_config *config, int nranks, const char *call,
			    const char *where);
/* Layer window frees its tables when the rank leaves. */
void pldi_at_leave(void (*fn)(struct pldi_rank *self));

/* ---- what the rank is doing (site.c) --------------------------------------------------------- */

enum { PLDI_SITE_PROBES = 4 }; /* places that a line may be at */
uint32_t pldi_site_add(struct pldi_rank *self, const char *where, uint32_t at);
/* Number of a source line in the rank's site table. */
static inline uint32_t pldi_site(struct pldi_rank *self, const char *where)
{
	uint64_t key = (uint64_t)(uintptr_t)where;
	uint32_t i = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 57);

	for (uint32_t k = i; k < i + PLDI_SITE_PROBES; k++) {
		/* relaxed: written by this rank's threads, with the text that the key has */
		if (__builtin_expect(atomic_load_explicit(&self->slot->site[k % PLDI_SITES].key,
							  memory_order_relaxed) == key,
				     1))
			return k % PLDI_SITES;
	}
	return pldi_site_add(self, where, i);
}
static_assert(PLDI_SITES == 128, "pldi_site takes 7 bits");

static inline void pldi_doing(struct pldi_rank *self, enum pldi_opcode op, const char *where)
{
	/* relaxed: for the launcher's report, orders nothing */
	atomic_store_explicit(&self->slot->doing, (uint32_t)op << 16 | pldi_site(self, where),
			      memory_order_relaxed);
}

/* ---- what is counted (stats.c) --------------------------------------------------------------- */

/* Counters on, where the job or the program's config wants them. */
pl_status pldi_observe_start(struct pldi_rank *self, pld_counters wanted, const char *call,
			     const char *where);

/* ---- ending the job (abort.c) ---------------------------------------------------------------- */

enum { PLDI_EXIT_DEADLOCK = 120 }; /* of every rank, and of the job */

static inline bool pldi_aborted(const struct pldi_rank *self)
{
	const struct pldi_head_shm *h = self->seg.base;

	/* relaxed: a flag; what it means is told by the launcher and by exit statuses */
	return atomic_load_explicit(&h->aborted, memory_order_relaxed) != 0;
}
/* Ends this process without a line because the job ends; or the status, under ERRORS_RETURN. */
pl_status pldi_fail_aborted(struct pldi_rank *self, const char *call, const char *where);
/*
 * pldi_errors()->end of a rank, and of a process that pldrun has started to be one: an error of
 * its pld_init is likely to be every rank's, and one of them prints it.
 */
void pldi_end_job(const struct pl_error *e);
/* pldi_errors()->note: the last error, for reports on a rank that does not do what others await. */
void pldi_note_error(const struct pl_error *e);
/*
 * Marks the job as ended, by `by` (a rank, or nranks for the launcher), with the exit status that
 * silent ranks take.  False: another was first.
 */
bool pldi_abort_claim(void *base, int32_t by, int32_t status);
/* Who has: a rank, nranks for the launcher, -1 for nobody; and that status. */
int32_t pldi_abort_by(const void *base, int32_t *status);
/*
 * Wakes a rank that sleeps, on its bell or on the line that it says: the offset is checked, since
 * for the launcher the segment is untrusted.  A rank that has looked at the abort word but does not
 * sleep yet misses the wake on a line (a bell keeps it): the launcher repeats it until all have
 * gone.
 */
void pldi_abort_wake(struct pldi_slot_shm *slot, void *base, uint64_t bytes);
/* All of them. */
void pldi_abort_ring(void *base, uint64_t bytes);

/* ---- sleeping, published (wait.c) ------------------------------------------------------------ */

/* Who could end a wait, for reports, where that is known: by the collective call that waits. */
struct pldi_awaited {
	int32_t peer;	 /* world rank, or -1 */
	uint32_t domain; /* PLDI_NO_CALL: no collective call */
	uint32_t call;	 /* its number there */
};
#define PLDI_ANYBODY ((struct pldi_awaited){ -1, PLDI_NO_CALL, 0 })

struct pldi_sleep {
	enum pldi_wait_kind kind;
	uint32_t cmp;
	int32_t wanted;
	const void *word; /* tested */
	int64_t index;
	uint32_t buffer;
	const char *name; /* of the buffer, or NULL */
	struct pldi_awaited who;
	int64_t deadline_ns;
	int64_t since_ns; /* set by pldi_sleep_begin */
};
/*
 * Between begin and end the thread may sleep.  Of a rank's threads one is published at a time:
 * begin returns whether it is this one; else pldi_sleep_publish tries again.
 */
bool pldi_sleep_begin(struct pldi_rank *self, struct pldi_sleep *s);
bool pldi_sleep_publish(struct pldi_rank *self, const struct pldi_sleep *s);
void pldi_sleep_end(struct pldi_rank *self, bool published);

/* Waits until a line has reached x.  -1: the job ends. */
int pldi_wait_line(struct pldi_rank *self, struct pldi_line l, uint32_t x, struct pldi_awaited who);

/* Nobody is there who could end a wait: a job of one rank that has one thread. */
bool pldi_alone(const struct pldi_rank *self);

#endif
