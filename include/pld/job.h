/* pld/job.h - joining and leaving a job; domains: the world and subsets of it. */
#ifndef PLD_JOB_H
#define PLD_JOB_H

#include <pl.h>

PL_BEGIN_DECLS

#define PLD_VERSION_MAJOR 0
#define PLD_VERSION_MINOR 1
#define PLD_VERSION_PATCH 0
/* Version of the library that runs, "0.1.0". */
PL_API const char *pld_version(void);

/* ---- job ------------------------------------------------------------------------------------ */

/* Whether ranks count what their calls do: pld_get_stats. */
typedef enum pld_counters { PLD_COUNTERS_OFF = 0, PLD_COUNTERS_ON = 1 } pld_counters;

/* How many ranks, and what each may use.  Fill it with PLD_CONFIG. */
struct pld_config {
	size_t size_ PL_OPTS_SIZE_(struct pld_config);
	const int *device_ids;	/* logical, >= 0, all different, bind nothing; NULL: 0 .. n - 1 */
	int ndevices;		/* ranks; under pldrun 0 or the same number; 0: what pldrun said */
	int default_ndevices;	/* ranks when there is no pldrun and ndevices is 0; 0 means 1 */
	int workers;		/* helper threads a rank; only 0 for now (PL_EUNSUPPORTED) */
	int64_t reserve_bytes;	/* address space a rank for windows; 0: found */
	pld_counters counters;	/* ON: count; OFF: only if pldrun was told to */
};
#define PLD_CONFIG(...) { __VA_ARGS__, .size_ = sizeof(struct pld_config) }

/*
 * pld_run - run body(arg) in every rank and return the exit status.
 *
 *   config  in  NULL: as under pldrun, or one rank
 *   body    in  runs between pld_init and pld_finalize, which pld_run calls; its value is the
 *               rank's exit status, 0 to 255
 *
 * Under pldrun: returns this rank's status.  Alone with more than one rank: flushes stdio and
 * forks the ranks, which run body, exit with its value and never return from here; the caller,
 * which must have a single thread, launches and watches them as pldrun does and gets the status
 * that pldrun would exit with (see pldrun(1)).  Alone with one rank: runs body in this process.
 * A job at a time; may be called again after it returned, except under pldrun.
 * Errors: PL_EINVAL (config, threads, a job is running), PL_EUNSUPPORTED (workers); with
 * PL_ERRORS_RETURN they give 1.
 */
PL_API int (pld_run)(const struct pld_config *config, int (*body)(void *arg), void *arg,
		     const char *where);
#define pld_run(config, body, arg) (pld_run)((config), (body), (arg), PL_WHERE)

/*
 * pld_init - join the job that pldrun made, or become a job of one rank.  Collective over the
 * world, but does not wait for the others.  Once per process.  Makes stdout line-buffered when
 * pldrun reads it.
 * Errors: PL_ELEVEL (called before), PL_EINVAL (config disagrees with pldrun), PL_ESYS (segment
 * cannot be mapped, other version than pldrun's, descriptors closed by a wrapper).
 */
PL_API pl_status (pld_init)(const struct pld_config *config, const char *where);
#define pld_init(config) (pld_init)((config), PL_WHERE)

/*
 * pld_finalize - leave the job.  Collective over the world: returns when all ranks have called
 * it.  Windows, host tensors and domains are gone.  No other thread of the rank may be in pld: one
 * that waits is PL_ELEVEL.  A rank that exits with 0 after pld_init and without pld_finalize is an
 * error that ends the job.
 */
PL_API pl_status (pld_finalize)(const char *where);
#define pld_finalize() (pld_finalize)(PL_WHERE)

/*
 * pld_abort - end the job now, on every rank, with exit_status (0 to 255, others count as 1);
 * prints why (NULL: nothing) and does not return.
 */
PL_API void (pld_abort)(int exit_status, const char *why, const char *where);
#define pld_abort(exit_status, why) (pld_abort)((exit_status), (why), PL_WHERE)

/* Number of ranks of the job; negative status before pld_init. */
PL_API int64_t (pld_world_size)(const char *where);
#define pld_world_size() (pld_world_size)(PL_WHERE)

/* ---- domains -------------------------------------------------------------------------------- */

struct pld_domain_ { /* read by the inline calls: its beginning never changes */
	int32_t rank, nranks;
};

/* Nobody's domain, rank -1 of 0: what no member has, and what a context is after an error. */
PL_API extern const struct pld_domain_ pld_nobody_;

/* A domain as this rank sees it. */
typedef struct pld_ctx {
	const struct pld_domain_ *d_; /* NULL: none given */
} pld_ctx;

/* Own rank in the domain, 0 .. nranks - 1.  c must not be null. */
static inline int pld_rank(pld_ctx c)
{
	return c.d_->rank;
}
static inline int pld_nranks(pld_ctx c)
{
	return c.d_->nranks;
}
/* 0 for the context that a rank outside the domain gets, or any after an error: calls refuse it. */
static inline int pld_is_member(pld_ctx c)
{
	return c.d_ != NULL && c.d_->rank >= 0;
}

/* The domain of all ranks. */
PL_API pld_ctx (pld_world)(const char *where);
#define pld_world() (pld_world)(PL_WHERE)

/*
 * pld_domain_subset - ranks[0 .. n-1] of domain `of`, all different, become ranks 0 .. n-1 of a
 * new domain.  Collective over those n, in the same order; any other rank of `of` may call it too
 * and gets a context without membership at once (pld_is_member).  Domains may overlap; each has
 * its own windows and signals.
 */
PL_API pld_ctx (pld_domain_subset)(pld_ctx of, const int *ranks, int n, const char *where);
/* variadic, so that ranks may be written in place: (int[]){ 2, 0 } */
#define pld_domain_subset(...) (pld_domain_subset)(__VA_ARGS__, PL_WHERE)

/*
 * pld_domain_split - ranks of one colour become a domain, ordered by key, then by rank in `of`.
 * colour < 0: none, a context without membership.  Collective over `of`; colour and key may differ.
 */
PL_API pld_ctx (pld_domain_split)(pld_ctx of, int colour, int key, const char *where);
#define pld_domain_split(of, colour, key) (pld_domain_split)((of), (colour), (key), PL_WHERE)

/* Ends a domain.  Collective over it; its windows must have been freed; never the world. */
PL_API pl_status (pld_domain_free)(pld_ctx c, const char *where);
#define pld_domain_free(c) (pld_domain_free)((c), PL_WHERE)

/* Rank in the world of c's member `rank`; negative status when there is none. */
PL_API int (pld_world_rank)(pld_ctx c, int rank, const char *where);
#define pld_world_rank(c, rank) (pld_world_rank)((c), (rank), PL_WHERE)

PL_END_DECLS
#endif
