/* pld/signal.h - signal cells: notify a peer's, wait on one's own. */
#ifndef PLD_SIGNAL_H
#define PLD_SIGNAL_H

#include <pld/memory.h>

PL_BEGIN_DECLS

/* A signal is any INT32 window; a cell is one element of it. */

typedef enum pld_notify_op { PLD_NOTIFY_ADD = 0, PLD_NOTIFY_SET = 1 } pld_notify_op;
typedef enum pld_wait_cmp { PLD_WAIT_EQ = 0, PLD_WAIT_GE = 1 } pld_wait_cmp;
#define PLD_FOREVER INT64_MAX

/*
 * pld_notify - add value to, or set, cell `at` of peer's slice; wakes its owner when it waits.
 *
 *   signal  INT32 window, any shape
 *   peer    rank in signal's domain; may be the caller
 *   at      index of the cell, one entry a dimension
 *   value   may be negative; an ADD wraps at 32 bits
 *   op      ADD when a cell has several writers, SET only when it has one
 *
 * Never blocks.  Release: a rank whose wait sees this notify sees every earlier write of the
 * caller, non-temporal stores included.
 */
PL_API pl_status (pld_notify)(pld_tensor signal, int peer, const pl_dims *at, int32_t value,
			      pld_notify_op op, const char *where);
#define pld_notify(signal, peer, at, value, op)                                                    \
	(pld_notify)((signal), (peer), (at), (value), (op), PL_WHERE)

/*
 * pld_wait - block until own cell `at` is == (EQ) or >= (GE) expected.  Only reads the cell.
 * Spins, yields, then sleeps: a long wait uses no CPU.  Acquire: see pld_notify.  For counters
 * use GE: EQ misses a value that a fast peer has already passed.
 * PL_EABORTED when the job ends meanwhile; PL_EDEADLOCK when the job has one rank, which has one
 * thread: nobody could notify.  (Of several ranks that all wait pldrun ends the job: pldrun(1).)
 */
PL_API pl_status (pld_wait)(pld_tensor signal, const pl_dims *at, int32_t expected,
			    pld_wait_cmp cmp, const char *where);
#define pld_wait(signal, at, expected, cmp) (pld_wait)((signal), (at), (expected), (cmp), PL_WHERE)

/*
 * pld_wait_for - pld_wait for at most timeout_ns from now: then PL_ETIMEDOUT, which is not an
 * error.  0 tests once; negative is PL_EINVAL; PLD_FOREVER: as pld_wait.
 */
PL_API pl_status (pld_wait_for)(pld_tensor signal, const pl_dims *at, int32_t expected,
				pld_wait_cmp cmp, int64_t timeout_ns, const char *where);
#define pld_wait_for(signal, at, expected, cmp, timeout_ns)                                        \
	(pld_wait_for)((signal), (at), (expected), (cmp), (timeout_ns), PL_WHERE)

/* pld_test - without blocking: 1 when it holds (acquire), 0 when not, negative status. */
PL_API int (pld_test)(pld_tensor signal, const pl_dims *at, int32_t expected, pld_wait_cmp cmp,
		      const char *where);
#define pld_test(signal, at, expected, cmp) (pld_test)((signal), (at), (expected), (cmp), PL_WHERE)

struct pld_condition {
	pld_tensor signal;
	const pl_dims *at;
	int32_t expected;
	pld_wait_cmp cmp;
};

/*
 * pld_wait_any - block until one of n >= 1 conditions holds: its index, the lowest if several
 * hold.  Signals of different domains may be mixed.  timeout_ns as in pld_wait_for; else a
 * negative status.  An index written with PL_AT inside a loop is gone when the loop's body ends:
 * conditions that are filled in a loop point to pl_dims of the caller's.
 */
PL_API int (pld_wait_any)(const struct pld_condition *c, int n, int64_t timeout_ns,
			  const char *where);
/* variadic, so that conditions may be written in place */
#define pld_wait_any(...) (pld_wait_any)(__VA_ARGS__, PL_WHERE)

PL_END_DECLS
#endif
