/*
 * pldi_agree.h - collective calls that compare themselves: every one has a number in its domain,
 * and every member posts what it calls under that number.
 *
 * A member's flag of a domain (struct pldi_flag_shm) holds a count v of its posts, which others
 * wait for, and of its last calls, twice, for even and odd numbers: a fingerprint (hash of
 * operation and arguments, beside the number), a small payload, and the call itself.
 *
 *     [A1] write call, payload[n % 2], print[n % 2]
 *     [A2] v += 1
 *     [A3] wait for the v of every member: as many posts as one's own
 *     [A4] read print[n % 2] and payload[n % 2] of every member
 *
 * Two copies are enough: a member writes those of n + 2 after A3 of n + 1, so after every member
 * has posted n + 1, so after every member has done A4 of n.
 *
 * A call may post further steps (pldi_step) after its entry, for members to wait for while they
 * work; all members post equally many in a call that they agree about, so the same v means the same
 * point everywhere.
 *
 * A fingerprint that differs is PL_EMISMATCH on every member, since each has the odd ones among
 * those it reads; the text comes from the flags of both.  The domain is broken from then on: calls
 * on it return PL_EABORTED.  Only those that release (pldi_agree_release) still run; they neither
 * post, so that slower members still find what they differ from, nor wait.
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
	       const int64_t payload[PLDI_PAYLOAD], const char *where);

/* A further post of the call under way. */
void pldi_step(struct pldi_domain *d);

/* Waits until a member has posted as often as `posts`.  -1: the job ends. */
int pldi_await(struct pldi_domain *d, int32_t member, uint32_t posts);
/* The same for every member, up to one's own last post: with pldi_step before it, a barrier. */
int pldi_await_all(struct pldi_domain *d);

/*
 * Whether a member has posted another call under d's last number: for who waits for that member
 * elsewhere than in [A3].  Between look and sleep: its post and the ring that follows pair with
 * this as [N1] and [N2] of pldi_bell.h do.
 */
bool pldi_differs(const struct pldi_domain *d, int32_t member);

/* The comparison of [A4] with one member, or all, for a caller that has seen them post. */
pl_status pldi_compare_one(struct pldi_domain *d, const struct pldi_call *c, int32_t member,
			   const char *where);
pl_status pldi_compare(struct pldi_domain *d, const struct pldi_call *c, const char *where);

/* [A3], and the comparison of [A4]. */
pl_status pldi_meet(struct pldi_domain *d, const struct pldi_call *c, const char *where);

/* pldi_post and pldi_meet. */
pl_status pldi_agree(struct pldi_domain *d, const struct pldi_call *c,
		     const int64_t payload[PLDI_PAYLOAD], const char *where);

/* A call that is nothing but one agreement: pldi_begin, pldi_agree, pldi_end. */
pl_status pldi_collect(struct pldi_domain *d, const struct pldi_call *c,
		       const int64_t payload[PLDI_PAYLOAD], const char *where);

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
