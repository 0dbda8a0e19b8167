/* pldi_signal.h - cells: what notify and wait do once their arguments are checked. */
#ifndef PLDI_SIGNAL_H
#define PLDI_SIGNAL_H

#include <pld/signal.h>

#include "pldi_window.h"

/* A cell of the own slice, to be waited for. */
struct pldi_cell {
	const _Atomic int32_t *word;
	int32_t expected;
	pld_wait_cmp cmp;
	int64_t index; /* of the cell in its view's slice, in elements */
	uint32_t buffer;
	const char *name; /* of the buffer */
	int64_t at;	  /* of the cell in its buffer, in elements */
	struct pldi_awaited who;
	bool reuse; /* see struct pldi_domain */
};

/* Fills buffer, name and at of a cell whose word is set. */
static inline void pldi_cell_place(struct pldi_cell *c, pld_tensor signal)
{
	const struct pld_window_ *b = pldi_view(signal.as_)->buffer;

	c->buffer = b->place.number;
	c->name = b->name;
	c->at = c->word - (const _Atomic int32_t *)b->at;
}

static inline bool pldi_cell_holds(int32_t seen, const struct pldi_cell *c)
{
	return c->cmp == PLD_WAIT_GE ? seen >= c->expected : seen == c->expected;
}

/* A reason to give up a wait, beside the end of the job; what makes it hold rings the bell. */
struct pldi_stop {
	bool (*holds)(const void *arg);
	const void *arg;
};

/*
 * Waits until one of n cells holds: its index, the lowest if several.  Without an error born:
 * PL_ETIMEDOUT; PL_EABORTED when the job ends, or stop (may be NULL) holds; PL_EDEADLOCK when
 * nobody is there to notify.
 */
int pldi_wait_cells(struct pldi_rank *self, const struct pldi_cell *cells, int n,
		    int64_t deadline_ns, const struct pldi_stop *stop);

/*
 * Adds to, or sets, member peer's cell at byte off of t's slice, and rings if its owner sleeps.
 *
 * A release of all earlier writes, non-temporal stores included and without a fence for them: on
 * x86 a locked operation empties the write-combining buffers (Intel SDM vol. 3, 12.3.1; AMD APM
 * vol. 2, 7.4.1), elsewhere such stores are ordered like others.
 */
static inline void pldi_signal(pld_tensor t, const struct pldi_domain *d, int peer,
			       int64_t off_bytes, int32_t value, pld_notify_op op)
{
	_Atomic int32_t *cell = pldi_peer_at(t, peer, off_bytes);

	if (pldi_observed(d->self->observe))
		pldi_window_act(op == PLD_NOTIFY_ADD ? PLDI_ACT_NOTIFY_ADD : PLDI_ACT_NOTIFY_SET, t,
				d, peer, off_bytes, value);
	if (op == PLD_NOTIFY_ADD)
		pldi_bell_add(cell, value);
	else
		pldi_bell_set(cell, value);
	pldi_bell_tell(d->bell[peer]);
}

/* A window can be a signal: INT32. */
pl_status pldi_signal_fail(pld_tensor t, const char *call, const char *where);
static inline pl_status pldi_signal_check(pld_tensor t, const char *call, const char *where)
{
	if (__builtin_expect(t.as_->layout->dtype == PL_INT32, 1))
		return PL_OK;
	return pldi_signal_fail(t, call, where);
}

pl_status pldi_notify_op_fail(int op, const char *call, const char *where);
static inline pl_status pldi_notify_op_check(pld_notify_op op, const char *call, const char *where)
{
	if (__builtin_expect((unsigned)op <= PLD_NOTIFY_SET, 1))
		return PL_OK;
	return pldi_notify_op_fail((int)op, call, where);
}

#endif
