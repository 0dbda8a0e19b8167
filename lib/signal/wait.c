/* wait.c - waiting for one's own cells: spin, yield, then sleep on the rank's doorbell. */
#include "config.h"

#include <stdlib.h>

#include "pldi_delay.h"
#include "pldi_signal.h"

#define FEW 16 /* conditions that pld_wait_any keeps on its stack */

/* ---- the wait -------------------------------------------------------------------------------- */

/* Index of the first cell that holds, or -1.  acquire: pairs with [N1] of pldi_bell.h. */
static inline int first_true(const struct pldi_cell *cells, int n)
{
	for (int i = 0; i < n; i++)
		if (pldi_cell_holds(atomic_load_explicit(cells[i].word, memory_order_acquire),
				    &cells[i]))
			return i;
	return -1;
}

/* The same between look and sleep: [W3] of pldi_bell.h. */
static int first_true_w3(const struct pldi_cell *cells, int n)
{
	for (int i = 0; i < n; i++)
		if (pldi_cell_holds(pldi_bell_cell(cells[i].word), &cells[i]))
			return i;
	return -1;
}

static int sleep_until(struct pldi_rank *self, const struct pldi_cell *cells, int n,
		       int64_t deadline_ns, const struct pldi_stop *stop)
{
	struct pldi_bell bell = { &self->slot->doorbell, &self->slot->sleepers };
	/* of several conditions the launcher is told the first, and that there are more */
	struct pldi_sleep s = { .kind = n == 1 ? PLDI_WAIT_CELL : PLDI_WAIT_CELLS,
				.cmp = cells[0].cmp,
				.wanted = cells[0].expected,
				.word = cells[0].word,
				.index = cells[0].index,
				.buffer = cells[0].buffer,
				.name = cells[0].name,
				.who = cells[0].who,
				.deadline_ns = deadline_ns };
	bool published;
	uint32_t looked;
	int rc;

	if (deadline_ns == PLD_FOREVER && pldi_alone(self))
		return PL_EDEADLOCK;
	pldi_bell_announce(bell); /* [W1] */
	published = pldi_sleep_begin(self, &s);
	for (;;) {
		looked = pldi_bell_look(bell); /* [W2] */
		PLDI_DELAY();
		rc = first_true_w3(cells, n); /* [W3] */
		if (rc >= 0)
			break;
		/* an abort and a stop ring the bell: after [W2] they end the sleep */
		if (pldi_aborted(self) || (stop && stop->holds(stop->arg))) {
			rc = PL_EABORTED;
			break;
		}
		if (pldi_bell_sleep(bell, looked, deadline_ns)) { /* [W4] */
			rc = first_true_w3(cells, n);
			if (rc < 0)
				rc = PL_ETIMEDOUT;
			break;
		}
	}
	pldi_sleep_end(self, published);
	pldi_bell_leave(bell); /* [W5] */
	return rc;
}

static int wait_until(struct pldi_rank *self, const struct pldi_cell *cells, int n,
		      int64_t deadline_ns, const struct pldi_stop *stop)
{
	struct pldi_backoff backoff = { 0, 0, 0, 0 };
	int i;

	while ((i = first_true(cells, n)) < 0) {
		if (pldi_backoff(&backoff, &self->patience))
			return sleep_until(self, cells, n, deadline_ns, stop);
		if (deadline_ns != PLD_FOREVER && pldi_now_ns() >= deadline_ns)
			return PL_ETIMEDOUT;
	}
	return i;
}

/* The same, counted and listed. */
static int wait_observed(struct pldi_rank *self, const struct pldi_cell *cells, int n,
			 int64_t deadline_ns, const struct pldi_stop *stop)
{
	int64_t since_ns;
	int rc;

	for (int i = 0; i < n; i++)
		pldi_observe_act(self->observe,
				 cells[i].cmp == PLD_WAIT_GE ? PLDI_ACT_WAIT_GE : PLDI_ACT_WAIT_EQ,
				 self->rank, cells[i].buffer, cells[i].at, cells[i].expected, 0,
				 cells[i].reuse);
	since_ns = pldi_now_ns();
	rc = wait_until(self, cells, n, deadline_ns, stop);
	pldi_observe_wait_ns(self->observe, pldi_now_ns() - since_ns);
	return rc;
}

int pldi_wait_cells(struct pldi_rank *self, const struct pldi_cell *cells, int n,
		    int64_t deadline_ns, const struct pldi_stop *stop)
{
	if (!pldi_observed(self->observe))
		return wait_until(self, cells, n, deadline_ns, stop);
	return wait_observed(self, cells, n, deadline_ns, stop);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static pl_status cell_of(const struct pld_condition *c, struct pldi_cell *cell,
			 struct pldi_domain **d, const char *call, const char *where)
{
	int64_t off;
	pl_status rc;

	*d = pldi_window_check(c->signal, PLDI_MAY_SIGNAL, call, where, "signal");
	if (!*d)
		return pl_last_error()->status;
	if ((rc = pldi_signal_check(c->signal, call, where)) ||
	    (rc = pldi_index(c->signal.as_->layout, c->at, &off, call, where, "cell")))
		return rc;
	if ((unsigned)c->cmp > PLD_WAIT_GE)
		return pldi_fail(PL_EINVAL, call, where,
				 "cmp is %d; allowed: PLD_WAIT_EQ (0), "
				 "PLD_WAIT_GE (1); the order is (signal, at, expected, cmp)",
				 (int)c->cmp);
	cell->word = (const _Atomic int32_t *)c->signal.at_ + off;
	cell->expected = c->expected;
	cell->cmp = c->cmp;
	cell->index = off;
	cell->reuse = false;
	cell->who = PLDI_ANYBODY;
	pldi_cell_place(cell, c->signal);
	return PL_OK;
}

/* *deadline_ns: absolute, saturated. */
static pl_status deadline_of(int64_t timeout_ns, int64_t *deadline_ns, const char *call,
			     const char *where)
{
	*deadline_ns = PLD_FOREVER;
	if (timeout_ns < 0)
		return pldi_fail(PL_EINVAL, call, where, "timeout of %lld ns; allowed: 0 and more",
				 (long long)timeout_ns);
	if (timeout_ns != PLD_FOREVER &&
	    __builtin_add_overflow(pldi_now_ns(), timeout_ns, deadline_ns))
		*deadline_ns = PLD_FOREVER;
	return PL_OK;
}

/* What pldi_wait_cells returned, as an error if it is one. */
static int finish(struct pldi_rank *self, int rc, const struct pldi_cell *cell, const char *call,
		  const char *where)
{
	if (rc == PL_EABORTED)
		return pldi_fail_aborted(self, call, where);
	if (rc == PL_EDEADLOCK)
		return pldi_fail(
			PL_EDEADLOCK, call, where,
			"nobody can notify: the job has one rank, which has one thread and "
			"waits for cell [%lld] of window %u%s%s%s to be %s %d; it is %d",
			(long long)cell->index, cell->buffer, *cell->name ? " '" : "", cell->name,
			*cell->name ? "'" : "",
			cell->cmp == PLD_WAIT_EQ ? "==" : ">=", cell->expected,
			pldi_bell_cell(cell->word));
	return rc;
}

pl_status(pld_wait)(pld_tensor signal, const pl_dims *at, int32_t expected, pld_wait_cmp cmp,
		    const char *where)
{
	static const char call[] = "pld_wait";
	const struct pld_condition c = { signal, at, expected, cmp };
	struct pldi_domain *d;
	struct pldi_cell cell;
	pl_status rc = cell_of(&c, &cell, &d, call, where);

	if (rc)
		return rc;
	pldi_doing(d->self, PLDI_OP_WAIT, where);
	rc = finish(d->self, pldi_wait_cells(d->self, &cell, 1, PLD_FOREVER, NULL), &cell, call,
		    where);
	return rc < 0 ? rc : PL_OK;
}

pl_status(pld_wait_for)(pld_tensor signal, const pl_dims *at, int32_t expected, pld_wait_cmp cmp,
			int64_t timeout_ns, const char *where)
{
	static const char call[] = "pld_wait_for";
	const struct pld_condition c = { signal, at, expected, cmp };
	struct pldi_domain *d;
	struct pldi_cell cell;
	int64_t deadline_ns;
	pl_status rc = cell_of(&c, &cell, &d, call, where);

	if (rc || (rc = deadline_of(timeout_ns, &deadline_ns, call, where)))
		return rc;
	pldi_doing(d->self, PLDI_OP_WAIT, where);
	rc = finish(d->self, pldi_wait_cells(d->self, &cell, 1, deadline_ns, NULL), &cell, call,
		    where);
	return rc < 0 ? rc : PL_OK;
}

int(pld_test)(pld_tensor signal, const pl_dims *at, int32_t expected, pld_wait_cmp cmp,
	      const char *where)
{
	const struct pld_condition c = { signal, at, expected, cmp };
	struct pldi_domain *d;
	struct pldi_cell cell;
	pl_status rc = cell_of(&c, &cell, &d, "pld_test", where);

	if (rc)
		return rc;
	pldi_doing(d->self, PLDI_OP_TEST, where);
	return first_true(&cell, 1) == 0;
}

int(pld_wait_any)(const struct pld_condition *c, int n, int64_t timeout_ns, const char *where)
{
	static const char call[] = "pld_wait_any";
	struct pldi_cell few[FEW], *cells = few;
	struct pldi_domain *d, *first = NULL;
	int64_t deadline_ns;
	int rc = PL_OK;

	if (n < 1 || !c)
		return pldi_fail(PL_EINVAL, call, where, "%d conditions; at least 1", n);
	if (n > FEW && !(cells = malloc((size_t)n * sizeof(*cells))))
		return pldi_fail(PL_ENOMEM, call, where, "no memory for %d conditions", n);
	for (int i = 0; rc == PL_OK && i < n; i++) {
		rc = cell_of(&c[i], &cells[i], &d, call, where);
		first = d;
	}
	if (rc == PL_OK)
		rc = deadline_of(timeout_ns, &deadline_ns, call, where);
	if (rc == PL_OK) {
		pldi_doing(first->self, PLDI_OP_WAIT_ANY, where);
		rc = finish(first->self, pldi_wait_cells(first->self, cells, n, deadline_ns, NULL),
			    cells, call, where);
	}
	if (cells != few)
		free(cells);
	return rc;
}
