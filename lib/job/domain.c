/* domain.c - subsets of the world: their objects in this process, and the calls. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pldi_agree.h"
#include "pldi_domain.h"
#include "pldi_lock.h"

/* ---- objects of this process ----------------------------------------------------------------- */

static int32_t spacing_of(const int32_t *list, int32_t n)
{
	int32_t step = n > 1 ? list[1] - list[0] : 1;

	for (int32_t m = 2; m < n; m++)
		if (list[m] - list[m - 1] != step)
			return 0;
	return step;
}

static void fill_tables(struct pldi_domain *d, const int32_t *list, int32_t n)
{
	void *base = d->self->seg.base;
	const struct pldi_head_shm *h = base;

	for (int32_t m = 0; m < n; m++) {
		struct pldi_slot_shm *slot = pldi_slot(base, list[m]);

		d->world_rank[m] = list[m];
		d->bell[m] = (struct pldi_bell){ &slot->doorbell, &slot->sleepers };
		for (int region = PLDI_REGION_DENSE; region <= PLDI_REGION_SPARSE; region++)
			d->delta[region][m] =
				(ptrdiff_t)(pldi_window_off(h, region, list[m]) -
					    pldi_window_off(h, region, list[d->pub.rank]));
	}
}

void pldi_domain_delete_tables(struct pldi_domain *d)
{
	free(d->world_rank);
	free(d->scratch);
	free(d->bell);
	free(d->source);
	free(d->target);
	free(d->delta[PLDI_REGION_DENSE]);
	free(d->delta[PLDI_REGION_SPARSE]);
	d->world_rank = d->scratch = NULL;
	d->bell = NULL;
	d->source = NULL;
	d->target = NULL;
	d->delta[PLDI_REGION_DENSE] = d->delta[PLDI_REGION_SPARSE] = NULL;
}

void pldi_domain_delete(struct pldi_domain *d)
{
	struct pldi_domain **at = &d->self->domains;

	while (*at != d)
		at = &(*at)->next;
	*at = d->next;
	pldi_domain_delete_tables(d);
	free(d);
}

struct pldi_domain *pldi_domain_new(struct pldi_rank *self, uint32_t id, const int32_t *list,
				    int32_t n, int32_t me)
{
	struct pldi_domain *d = calloc(1, sizeof(*d));
	size_t count = (size_t)n;

	if (!d)
		return NULL;
	d->pub = (struct pld_domain_){ .rank = me, .nranks = n };
	d->id = id;
	d->self = self;
	d->shm = pldi_domain_entry(self->seg.base, id);
	d->flags = pldi_flag(self->seg.base, id, 0);
	d->spacing = spacing_of(list, n);
	d->world_rank = calloc(count, sizeof(*d->world_rank));
	d->scratch = calloc(count, sizeof(*d->scratch));
	d->bell = calloc(count, sizeof(*d->bell));
	d->source = calloc(count, sizeof(*d->source));
	d->target = calloc(count, sizeof(*d->target));
	d->delta[PLDI_REGION_DENSE] = calloc(count, sizeof(ptrdiff_t));
	d->delta[PLDI_REGION_SPARSE] = calloc(count, sizeof(ptrdiff_t));
	if (!d->world_rank || !d->scratch || !d->bell || !d->source || !d->target ||
	    !d->delta[PLDI_REGION_DENSE] || !d->delta[PLDI_REGION_SPARSE]) {
		pldi_domain_delete_tables(d);
		free(d);
		return NULL;
	}
	fill_tables(d, list, n);
	pthread_mutex_lock(&self->mutex);
	d->next = self->domains;
	self->domains = d;
	pthread_mutex_unlock(&self->mutex);
	return d;
}

void pldi_ranks_text(char *to, size_t bytes, const int32_t *list, int32_t n)
{
	enum { SHOWN = 16 };
	size_t used = 0;

	for (int32_t i = 0; i < n && i < SHOWN && used < bytes; i++)
		used += (size_t)snprintf(to + used, bytes - used, "%s%d", i ? ", " : "{", list[i]);
	if (used < bytes)
		snprintf(to + used, bytes - used, "%s", n > SHOWN ? ", ..}" : "}");
}

/* ---- calls ----------------------------------------------------------------------------------- */

static pl_status check_list(const struct pldi_domain *of, const int *ranks, int n, const char *call,
			    const char *where)
{
	if (n < 1 || n > of->pub.nranks || !ranks)
		return pldi_fail(PL_EINVAL, call, where, "%d ranks of a domain of %d", n,
				 of->pub.nranks);
	for (int i = 0; i < n; i++) {
		if (ranks[i] < 0 || ranks[i] >= of->pub.nranks)
			return pldi_fail(PL_EINVAL, call, where,
					 "ranks[%d] is %d, the domain has 0 to %d", i, ranks[i],
					 of->pub.nranks - 1);
		for (int k = 0; k < i; k++)
			if (ranks[k] == ranks[i])
				return pldi_fail(PL_EINVAL, call, where,
						 "ranks[%d] and ranks[%d] are both %d", k, i,
						 ranks[i]);
	}
	return PL_OK;
}

/*
 * What a rank outside a domain has for it, and anybody after an error.  Not a null pointer: that is
 * what an option that was not given looks like, and means the world.
 */
const struct pld_domain_ pld_nobody_ = { -1, 0 };

struct pldi_domain *pldi_domain_of(pld_ctx c, const char *call, const char *where)
{
	struct pldi_domain *d = (struct pldi_domain *)(uintptr_t)c.d_;

	if (!d)
		pldi_fail(PL_EINVAL, call, where, "the context is null");
	else if (d->pub.rank < 0)
		pldi_fail(PL_EINVAL, call, where, "this rank is no member of the context's domain");
	else if (d->ended_where)
		pldi_fail(PL_EINVAL, call, where, "the domain was freed at %s", d->ended_where);
	else if (d->self->final_where)
		pldi_fail(PL_EINVAL, call, where, "the domain ended with pld_finalize at %s",
			  d->self->final_where);
	else
		return d;
	return NULL;
}

static struct pldi_domain *checked(pld_ctx c, enum pldi_right may, const char *call,
				   const char *where)
{
	return pldi_live(may, call, where) ? pldi_domain_of(c, call, where) : NULL;
}

pld_ctx(pld_domain_subset)(pld_ctx of, const int *ranks, int n, const char *where)
{
	static const char call[] = "pld_domain_subset";
	struct pldi_domain *parent = checked(of, PLDI_MAY_MEMORY, call, where), *d = NULL;
	pld_ctx c = { &pld_nobody_ };
	int32_t *list;
	int me = -1;

	if (!parent || check_list(parent, ranks, n, call, where))
		return c;
	list = calloc((size_t)n, sizeof(*list));
	if (!list) {
		pldi_fail(PL_ENOMEM, call, where, "no memory for %d ranks", n);
		return c;
	}
	for (int i = 0; i < n; i++) {
		list[i] = parent->world_rank[ranks[i]];
		if (ranks[i] == parent->pub.rank)
			me = i;
	}
	pldi_doing(parent->self, PLDI_OP_SUBSET, where);
	if (me >= 0)
		d = pldi_domain_form(
			&(struct pldi_form){ parent->self, parent->id, list, n, me, call, where });
	free(list);
	if (d)
		c.d_ = &d->pub;
	return c;
}

/* Members of this rank's colour, by key, then by rank: into list; their number. */
static int32_t gather_colour(const struct pldi_domain *d, int64_t colour, int32_t *list,
			     int32_t *me)
{
	int32_t n = 0;

	for (int32_t m = 0; m < d->pub.nranks; m++) {
		int32_t i = n;

		if (pldi_posted(d, m)[0] != colour)
			continue;
		/* insertion by key keeps equal keys in the order of ranks */
		for (; i > 0 && pldi_posted(d, list[i - 1])[1] > pldi_posted(d, m)[1]; i--)
			list[i] = list[i - 1];
		list[i] = m;
		n++;
	}
	for (int32_t i = 0; i < n; i++) {
		if (list[i] == d->pub.rank)
			*me = i;
		list[i] = d->world_rank[list[i]];
	}
	return n;
}

pld_ctx(pld_domain_split)(pld_ctx of, int colour, int key, const char *where)
{
	static const char call[] = "pld_domain_split";
	const struct pldi_call what = { .op = PLDI_CALL_SPLIT };
	struct pldi_domain *parent = checked(of, PLDI_MAY_MEMORY, call, where), *d = NULL;
	pld_ctx c = { &pld_nobody_ };
	int32_t n, me = 0;

	if (!parent || pldi_begin(parent, call, where))
		return c;
	if (pldi_agree(parent, &what, (const int64_t[PLDI_PAYLOAD]){ colour, key }, where) ==
		    PL_OK &&
	    colour >= 0) {
		n = gather_colour(parent, colour, parent->scratch, &me);
		d = pldi_domain_form(&(struct pldi_form){ parent->self, parent->id, parent->scratch,
							  n, me, call, where });
	}
	pldi_end(parent);
	if (d)
		c.d_ = &d->pub;
	return c;
}

/* The last member to leave gives the entry back. */
static pl_status leave_entry(struct pldi_domain *d, const char *call, const char *where)
{
	struct pldi_head_shm *h = pldi_head(d->self->seg.base);

	if (pldi_lock(&h->lock, &h->aborted))
		return pldi_fail_aborted(d->self, call, where);
	if (++d->shm->left == d->pub.nranks)
		d->shm->state = PLDI_DOMAIN_FREE;
	pldi_unlock(&h->lock);
	return PL_OK;
}

pl_status(pld_domain_free)(pld_ctx c, const char *where)
{
	static const char call[] = "pld_domain_free";
	struct pldi_domain *d = checked(c, PLDI_MAY_MEMORY, call, where);
	struct pldi_call what = { .op = PLDI_CALL_DOMAIN_FREE };
	pl_status rc;

	if (!d)
		return pl_last_error()->status;
	if (d == d->self->world)
		return pldi_fail(PL_EINVAL, call, where, "the world ends with pld_finalize");
	if (d->nbuffers)
		return pldi_fail(PL_EINVAL, call, where,
				 "the domain still has %u window buffers; "
				 "free them first",
				 d->nbuffers);
	if ((rc = pldi_begin(d, call, where)))
		return rc;
	what.arg[0] = d->id;
	rc = pldi_agree_release(d, &what, where);
	if (rc == PL_OK) { /* not after a mismatch: others are still members, and free it next */
		if (leave_entry(d, call, where))
			rc = PL_EABORTED;
		d->ended_where = where ? where : "";
		/* the object stays, for contexts; for narrowed views its tables, too */
		pthread_mutex_lock(&d->self->mutex);
		if (d->nviews == 0)
			pldi_domain_delete_tables(d);
		pthread_mutex_unlock(&d->self->mutex);
	}
	pldi_end(d);
	return rc;
}

pld_ctx(pld_world)(const char *where)
{
	struct pldi_rank *self = pldi_live(PLDI_MAY_ALL, "pld_world", where);
	pld_ctx c = { self ? &self->world->pub : &pld_nobody_ };

	return c;
}

int64_t(pld_world_size)(const char *where)
{
	struct pldi_rank *self = pldi_live(PLDI_MAY_ALL, "pld_world_size", where);

	return self ? self->nranks : (int64_t)pl_last_error()->status;
}

int(pld_world_rank)(pld_ctx c, int rank, const char *where)
{
	struct pldi_domain *d = checked(c, PLDI_MAY_ALL, "pld_world_rank", where);

	if (!d)
		return pl_last_error()->status;
	if (rank < 0 || rank >= d->pub.nranks)
		return pldi_fail(PL_EINVAL, "pld_world_rank", where,
				 "rank %d of a domain with ranks 0 to %d", rank, d->pub.nranks - 1);
	return d->world_rank[rank];
}
