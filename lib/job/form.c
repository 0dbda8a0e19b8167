/*
 * form.c - the members of a new domain meet.
 *
 * They have no domain of their own yet in which they could agree, so they meet in the job's domain
 * table, under its lock: whoever comes first makes an entry with the member list, the others find
 * an entry with the same parent and list to which they have not come.  All then wait until all n
 * have come.
 *
 * A rank that finds an entry of another list and the same parent that names it, to which it has not
 * come, and to which a rank of its own list has, can never be met: that rank waits there for it,
 * and it would wait here for that rank.  They disagree, and every rank that any of the lists
 * names must hear it: those who wait, and those who come later and would wait for ever.  So both
 * entries, and those of further lists, are refused together: who waits is woken, who comes is
 * turned away, once each, and when all have been told the entries are free again.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "pldi_delay.h"
#include "pldi_domain.h"
#include "pldi_lock.h"

/* Why there is no domain. */
struct no_domain {
	pl_status status;
	int error; /* PL_ENOMEM: an errno, or 0: the table is full */
	int32_t other;
	char mine[128], theirs[128], at[PLDI_SITE_TEXT + 1];
};

/* Of broken: the domain never was one. */
enum { NEVER_FORMED = 2 };

/* By member, behind the list: 0 not come, 1 + site of its call, or TOLD: came with another list. */
enum { TOLD = -1 };

static int32_t *came(const struct pldi_form *f, struct pldi_domain_shm *e)
{
	return e->list + f->self->nranks;
}

static struct pldi_domain_shm *entry(const struct pldi_form *f, uint32_t id)
{
	return pldi_domain_entry(f->self->seg.base, id);
}

static uint32_t entries(const struct pldi_form *f)
{
	return pldi_head(f->self->seg.base)->domains_used;
}

static int32_t position(const int32_t *list, int32_t n, int32_t rank)
{
	for (int32_t i = 0; i < n; i++)
		if (list[i] == rank)
			return i;
	return -1;
}

static bool is_mine(const struct pldi_form *f, const struct pldi_domain_shm *e)
{
	return e->n == f->n && memcmp(e->list, f->list, (size_t)f->n * sizeof(f->list[0])) == 0;
}

/* The entry in this state for f's list to which self has not come, or 0. */
static uint32_t find(const struct pldi_form *f, enum pldi_domain_state state)
{
	for (uint32_t id = 1; id < entries(f); id++) {
		struct pldi_domain_shm *e = entry(f, id);

		if (e->state == state && e->parent == f->parent && is_mine(f, e) &&
		    !came(f, e)[f->me])
			return id;
	}
	return 0;
}

/* The entry in this state where a rank of f's list waits (or has waited) for self, or 0. */
static uint32_t find_conflict(const struct pldi_form *f, enum pldi_domain_state state,
			      int32_t *other)
{
	for (uint32_t id = 1; id < entries(f); id++) {
		struct pldi_domain_shm *e = entry(f, id);
		int32_t at;

		if (e->state != state || e->parent != f->parent || is_mine(f, e))
			continue;
		at = position(e->list, e->n, f->self->rank);
		if (at < 0 || came(f, e)[at])
			continue;
		for (*other = 0; *other < e->n; ++*other)
			if (came(f, e)[*other] > 0 && position(f->list, f->n, e->list[*other]) >= 0)
				return id;
	}
	return 0;
}

/* Makes an entry; its memory is backed, for all members.  0 and an error: there is none. */
static uint32_t make_entry(const struct pldi_form *f, struct no_domain *no)
{
	struct pldi_head_shm *h = f->self->seg.base;
	struct pldi_domain_shm *e;
	uint32_t id;

	for (id = 1; id < h->domains_used; id++)
		if (entry(f, id)->state == PLDI_DOMAIN_FREE)
			break;
	no->status = PL_ENOMEM;
	no->error = 0;
	if (id == PLDI_MAX_DOMAINS)
		return 0;
	no->error = pldi_segment_commit(&f->self->seg, h->domains_off + id * h->domain_stride,
					h->domain_stride);
	if (no->error == 0)
		no->error = pldi_segment_commit(&f->self->seg,
						h->flags_off + (uint64_t)id * (uint64_t)h->nranks *
								       sizeof(struct pldi_flag_shm),
						(uint64_t)f->n * sizeof(struct pldi_flag_shm));
	if (no->error)
		return 0;
	if (id == h->domains_used)
		h->domains_used++;

	e = entry(f, id);
	e->state = PLDI_DOMAIN_FORMING;
	e->parent = f->parent;
	e->n = f->n;
	e->left = 0;
	/* relaxed: under the lock */
	atomic_store_explicit(&e->joined, 0, memory_order_relaxed);
	atomic_store_explicit(&e->broken, 0, memory_order_relaxed);
	memcpy(e->list, f->list, (size_t)f->n * sizeof(f->list[0]));
	memset(came(f, e), 0, (size_t)f->n * sizeof(int32_t));
	no->status = PL_OK;
	return id;
}

static void come(const struct pldi_form *f, struct pldi_domain_shm *e)
{
	came(f, e)[f->me] = 1 + (int32_t)pldi_site(f->self, f->where);
}

static void join(const struct pldi_form *f, uint32_t id)
{
	struct pldi_domain_shm *e = entry(f, id);
	struct pldi_flag_shm *flag = pldi_flag(f->self->seg.base, id, f->me);
	/* relaxed, all: nobody looks at them before all have come */
	uint32_t joined = 1 + atomic_load_explicit(&e->joined, memory_order_relaxed);

	PLDI_DELAY();
	come(f, e);
	atomic_store_explicit(&flag->v, 0, memory_order_relaxed);
	atomic_store_explicit(&flag->sleepers, 0, memory_order_relaxed);
	/* an ended domain had the same id and numbers */
	flag->call[0].seq = flag->call[1].seq = 0;
	PLDI_DELAY();
	if (joined == (uint32_t)e->n)
		e->state = PLDI_DOMAIN_LIVE;
	/* several post, but one at a time: the lock makes them one poster */
	pldi_line_post((struct pldi_line){ &e->joined, &e->sleepers }, joined);
}

/* ---- refusing -------------------------------------------------------------------------------- */

/* For texts: member `other` of e is who came with another list than f's. */
static void show(const struct pldi_form *f, struct pldi_domain_shm *e, int32_t other,
		 struct no_domain *no)
{
	const struct pldi_slot_shm *slot = pldi_slot(f->self->seg.base, e->list[other]);
	uint32_t site = (uint32_t)(came(f, e)[other] - 1) % PLDI_SITES;

	no->status = PL_EMISMATCH;
	no->other = e->list[other];
	pldi_ranks_text(no->mine, sizeof(no->mine), f->list, f->n);
	pldi_ranks_text(no->theirs, sizeof(no->theirs), e->list, e->n);
	snprintf(no->at, sizeof(no->at), "%.*s", PLDI_SITE_TEXT, slot->site[site].text);
}

/* The same for a rank of the refused entry `id`: somebody of another one. */
static void show_another(const struct pldi_form *f, uint32_t id, struct no_domain *no)
{
	for (uint32_t i = 1; i < entries(f); i++) {
		struct pldi_domain_shm *e = entry(f, i);

		if (i == id || e->state != PLDI_DOMAIN_REFUSED ||
		    e->refusal != entry(f, id)->refusal)
			continue;
		for (int32_t m = 0; m < e->n; m++) {
			if (came(f, e)[m] > 0) {
				show(f, e, m, no);
				return;
			}
		}
	}
}

/* Those whom refused entry e has told need not hear it again from `to`. */
static void tell(const struct pldi_form *f, struct pldi_domain_shm *e, struct pldi_domain_shm *to)
{
	for (int32_t m = 0; m < e->n; m++) {
		int32_t at = came(f, e)[m] ? position(to->list, to->n, e->list[m]) : -1;

		if (at >= 0 && !came(f, to)[at])
			came(f, to)[at] = TOLD;
	}
}

/* Entries that are refused together tell each other; when nobody is left to be told, all go. */
static void settle(const struct pldi_form *f, uint32_t refusal)
{
	bool told = true;

	for (uint32_t i = 1; i < entries(f); i++) {
		struct pldi_domain_shm *e = entry(f, i);

		if (e->state != PLDI_DOMAIN_REFUSED || e->refusal != refusal)
			continue;
		for (uint32_t k = 1; k < entries(f); k++)
			if (k != i && entry(f, k)->state == PLDI_DOMAIN_REFUSED &&
			    entry(f, k)->refusal == refusal)
				tell(f, entry(f, k), e);
		told = told && e->left == 0;
		for (int32_t m = 0; told && m < e->n; m++)
			told = came(f, e)[m] != 0;
	}
	for (uint32_t i = 1; told && i < entries(f); i++)
		if (entry(f, i)->state == PLDI_DOMAIN_REFUSED && entry(f, i)->refusal == refusal)
			entry(f, i)->state = PLDI_DOMAIN_FREE;
}

/* A forming entry becomes a refused one, and whoever waits there is woken to be told. */
static void refuse(struct pldi_domain_shm *e, uint32_t refusal)
{
	e->state = PLDI_DOMAIN_REFUSED;
	e->refusal = refusal;
	/* relaxed, both: under the lock; broken comes before the post that waiters acquire */
	e->left = (int32_t)atomic_load_explicit(&e->joined, memory_order_relaxed);
	atomic_store_explicit(&e->broken, NEVER_FORMED, memory_order_relaxed);
	PLDI_DELAY();
	pldi_line_post((struct pldi_line){ &e->joined, &e->sleepers }, (uint32_t)e->n);
}

/* Self came with a list that conflicts with entry id. */
static void disagree(const struct pldi_form *f, uint32_t id, int32_t other, struct no_domain *no)
{
	struct pldi_domain_shm *e = entry(f, id);
	uint32_t own = find(f, PLDI_DOMAIN_FORMING);

	if (!own && !(own = make_entry(f, no)))
		return;
	show(f, e, other, no);
	if (e->state == PLDI_DOMAIN_FORMING)
		refuse(e, id);
	refuse(entry(f, own), e->refusal);
	come(f, entry(f, own));
	settle(f, e->refusal);
}

/* ---- meeting --------------------------------------------------------------------------------- */

/* Under the lock: comes to an entry, found or made; 0: no, because .. */
static uint32_t meet(const struct pldi_form *f, struct no_domain *no)
{
	uint32_t id, refused;
	int32_t other;

	if ((refused = find_conflict(f, PLDI_DOMAIN_FORMING, &other))) {
		disagree(f, refused, other, no);
		return 0;
	}
	id = find(f, PLDI_DOMAIN_FORMING);
	if (!id && (refused = find(f, PLDI_DOMAIN_REFUSED))) {
		come(f, entry(f, refused));
		show_another(f, refused, no);
		settle(f, entry(f, refused)->refusal);
		return 0;
	}
	if (!id && (refused = find_conflict(f, PLDI_DOMAIN_REFUSED, &other))) {
		disagree(f, refused, other, no);
		return 0;
	}
	if (!id)
		id = make_entry(f, no);
	if (id)
		join(f, id);
	return id;
}

/* Waits until all have come to the entry, or it is refused. */
static pl_status wait_all(const struct pldi_form *f, uint32_t id, struct no_domain *no)
{
	struct pldi_head_shm *h = pldi_head(f->self->seg.base);
	struct pldi_domain_shm *e = entry(f, id);

	if (pldi_wait_line(f->self, (struct pldi_line){ &e->joined, &e->sleepers }, (uint32_t)f->n,
			   PLDI_ANYBODY))
		return PL_EABORTED;
	PLDI_DELAY();
	/* relaxed: before the post that the wait has acquired */
	if (atomic_load_explicit(&e->broken, memory_order_relaxed) != NEVER_FORMED)
		return PL_OK;
	if (pldi_lock(&h->lock, &h->aborted))
		return PL_EABORTED;
	show_another(f, id, no);
	e->left--;
	settle(f, e->refusal);
	pldi_unlock(&h->lock);
	return PL_EMISMATCH;
}

static void fail(const struct pldi_form *f, const struct no_domain *no)
{
	if (no->status == PL_EMISMATCH)
		pldi_fail(
			PL_EMISMATCH, f->call, f->where,
			"ranks disagree about a new domain: rank %d makes one of the world's ranks "
			"%s, rank %d one of %s at %s",
			f->self->rank, no->mine, no->other, no->theirs, no->at);
	else if (no->status == PL_EABORTED)
		pldi_fail_aborted(f->self, f->call, f->where);
	else if (no->error)
		pldi_fail(PL_ENOMEM, f->call, f->where, "no memory for a domain of %d ranks: %s",
			  f->n, strerror(no->error));
	else
		pldi_fail(PL_ENOMEM, f->call, f->where,
			  "%d domains are in use, the most that a job can have; free some",
			  PLDI_MAX_DOMAINS);
}

struct pldi_domain *pldi_domain_form(const struct pldi_form *f)
{
	struct pldi_head_shm *h = pldi_head(f->self->seg.base);
	struct no_domain no = { .status = PL_EABORTED };
	struct pldi_domain *d = NULL;
	uint32_t id = 0;

	if (pldi_lock(&h->lock, &h->aborted) == 0) {
		id = meet(f, &no);
		pldi_unlock(&h->lock);
	}
	PLDI_DELAY();
	if (id)
		no.status = wait_all(f, id, &no);
	if (no.status != PL_OK) {
		fail(f, &no);
		return NULL;
	}
	d = pldi_domain_new(f->self, id, f->list, f->n, f->me);
	if (!d)
		pldi_fail(PL_ENOMEM, f->call, f->where, "no memory for a domain of %d ranks", f->n);
	return d;
}
