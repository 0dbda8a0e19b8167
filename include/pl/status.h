/* pl/status.h - what a call returns, and what an error does. */
#ifndef PL_STATUS_H
#define PL_STATUS_H

#include <pl/base.h>

PL_BEGIN_DECLS

/* 0 or negative; one type for both vocabularies.  Values are ABI, append only. */
typedef enum pl_status {
	PL_OK = 0,
	PL_EINVAL = -1,	     /* an argument: shape, dtype, peer, bounds, option */
	PL_ELEVEL = -2,	     /* not allowed at this level, or before init, after finalize */
	PL_ENOMEM = -3,	     /* segment, /dev/shm or arena exhausted */
	PL_ETIMEDOUT = -4,   /* the caller's timeout; never fatal, never calls the handler */
	PL_EMISMATCH = -5,   /* ranks disagree about a collective call */
	PL_EABORTED = -6,     /* the job is ending: a peer died, abort, deadlock */
	PL_ESYS = -7,	      /* a system call failed */
	PL_EUNSUPPORTED = -8, /* a mode that this build or dtype does not have */
	PL_EDEADLOCK = -9     /* a wait that nobody is left to end */
} pl_status;

/* One error, born once.  Its texts live until the next error of this thread. */
struct pl_error {
	pl_status status;
	const char *call;  /* "pld_put" */
	const char *where; /* "step.c:31", the caller's place */
	const char *text;  /* numbers seen and numbers allowed */
};

typedef enum pl_errors { PL_ERRORS_END = 0, PL_ERRORS_RETURN = 1 } pl_errors;

/*
 * pl_set_errors - what an error of this rank (all its threads) does from now on; returns the
 * former setting.
 *
 * PL_ERRORS_END (default): one line on stderr, `pld: rank R: call: what, allowed, file:line`, and
 * the end of the whole job with exit status 1; 120 for PL_EDEADLOCK.
 * PL_ERRORS_RETURN: the call returns the status.  A call that returns a tile or a tensor returns
 * the null one, and every call that is given a null one does nothing and returns the status of
 * the error that made it (or null again): a chain of calls is checked once, at its end.
 * PL_ETIMEDOUT is an answer, not an error: it is only ever returned.
 */
PL_API pl_errors pl_set_errors(pl_errors what);

/*
 * pl_set_error_handler - fn is called with each error of this rank before it takes effect; NULL:
 * none.  fn must not call pl_ or pld_.
 */
PL_API void pl_set_error_handler(void (*fn)(const struct pl_error *e, void *arg), void *arg);

/* The last error of this thread; status PL_OK and empty texts when there was none. */
PL_API const struct pl_error *pl_last_error(void);

/* "PL_EINVAL"; "unknown pl_status" for a value that is none. */
PL_API const char *pl_status_name(pl_status s);

PL_END_DECLS
#endif
