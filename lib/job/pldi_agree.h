/*
 * pldi_agree.h - collective calls that compare themselves: every one has a number in its domain,
 * and every member posts what it calls under that number.
 *
 * A member's flag of a domain (struct pldi_flag_shm) holds, for its last call: the number v that
 * others wait for, a fingerprint (hash of operation and arguments, beside the number), and a small
 * payload; fingerprint and payload twice, for even and odd numbers.
 *
 *     [A1] write record, payload[n % 2], print[n % 2]
 *     [A2] post v = n
 *     [A3] wait for v >= n of every member
 *     [A4] read print[n % 2] and payload[n % 2] of every member
 *
 * Two copies are enough: a member writes those of n + 2 after A3 of n + 1, so after every member
 * has posted n + 1, so after every member has done A4 of n.
 *
 * A fingerprint that differs is PL_EMISMATCH on every member, since each has the odd ones among
 * those it reads; the text comes from the records of both calls.  The domain is broken from then
 * on: calls on it return PL_EABORTED.  Only those that release (pldi_agree_release) still run; they
 * neither post, so that slower members still find what they differ from, nor wait.
 */
#ifndef PLDI_AGREE_H
#define PLDI_AGREE_H

#include "pldi_job.h"

/* A collective call: what is compared. */
struct pldi_call {
	enum pldi_opcode op;
	int64_t arg[PLDI_CALL_ARGS];
	const char *call; /* the public one, where it is not the opcode's; not compared */
};

static inline const char *pldi_call_name(const struct pldi_call *c)
{
	return c->call ? c->call : pldi_opcode_name(c->op);
}

/*
 * Begins a collective call of this thread on d: checks that no other thread is in one and that d
 * is live.  Ends it.
 */
pl_status pldi_begin(struct pldi_domain *d, const char *call, const char *where);
void pldi_end(struct pldi_domain *d);

/* [A1] [A2] Takes the next number. */
void pldi_post(struct pldi_domain *d, const struct pldi_call *c,
	       const int64_t payload[PLDI_CALL_ARGS], const char *where);

/*
 * Whether a member has posted another call under d's last number: for who waits for that member
 * elsewhere than in [A3].  Between look and sleep: its post and the ring that follows pair with
 * this as [N1] and [N2] of pldi_bell.h do.
 */
bool pldi_differs(const struct pldi_domain *d, const struct pldi_call *c, int32_t member);

/* The comparison of [A4], for a caller that has seen every member post. */
pl_status pldi_compare(struct pldi_domain *d, const struct pldi_call *c, const char *where);

/* [A3], and the comparison of [A4]. */
pl_status pldi_meet(struct pldi_domain *d, const struct pldi_call *c, const char *where);

/* pldi_post and pldi_meet. */
pl_status pldi_agree(struct pldi_domain *d, const struct pldi_call *c,
		     const int64_t payload[PLDI_CALL_ARGS], const char *where);

/* A call that is nothing but one agreement: pldi_begin, pldi_agree, pldi_end. */
pl_status pldi_collect(struct pldi_domain *d, const struct pldi_call *c,
		       const int64_t payload[PLDI_CALL_ARGS], const char *where);

/*
 * As pldi_agree; on a broken domain it does nothing, and waits for nobody: its members may
 * release in any order and number.
 */
pl_status pldi_agree_release(struct pldi_domain *d, const struct pldi_call *c, const char *where);

/* What a member posted with its last call; valid until the next call on d. */
static inline const int64_t *pldi_posted(const struct pldi_domain *d, int32_t member)
{
	return d->flags[member].payload[d->seq % 2];
}

#endif
