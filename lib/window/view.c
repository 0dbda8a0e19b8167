/* view.c - views of window buffers: made once, found again, dead when their buffer is freed. */
#include "config.h"

#include <stdlib.h>

#include "pldi_domain.h"
#include "pldi_opts.h"
#include "pldi_window.h"

#define BUCKETS_FIRST 256

/* ---- the table ------------------------------------------------------------------------------- */

static size_t hash(const struct pld_window_ *b, const struct pldi_domain *d,
		   const struct pl_layout *layout)
{
	uint64_t h = (uint64_t)(uintptr_t)b;

	h = (h ^ (h >> 29)) * UINT64_C(0xbf58476d1ce4e5b9) + (uint64_t)(uintptr_t)layout;
	h = (h ^ (h >> 29)) * UINT64_C(0x94d049bb133111eb) + (uint64_t)(uintptr_t)d;
	return (size_t)(h ^ (h >> 32));
}

static int grow(struct pldi_memory *m)
{
	size_t n = m->nbuckets ? 2 * m->nbuckets : BUCKETS_FIRST;
	struct pldi_view **bucket = calloc(n, sizeof(*bucket));

	if (!bucket)
		return -1;
	for (size_t i = 0; i < m->nbuckets; i++) {
		for (struct pldi_view *v = m->bucket[i], *next; v; v = next) {
			size_t at = hash(v->buffer, pldi_view_domain(&v->pub), v->pub.layout) % n;

			next = v->in_bucket;
			v->in_bucket = bucket[at];
			bucket[at] = v;
		}
	}
	free(m->bucket);
	m->bucket = bucket;
	m->nbuckets = n;
	return 0;
}

static struct pldi_view *find(const struct pldi_memory *m, const struct pld_window_ *b,
			      const struct pldi_domain *d, const struct pl_layout *layout)
{
	struct pldi_view *v = NULL;

	if (m->nbuckets)
		for (v = m->bucket[hash(b, d, layout) % m->nbuckets]; v; v = v->in_bucket)
			if (v->buffer == b && pldi_view_domain(&v->pub) == d &&
			    v->pub.layout == layout)
				break;
	return v;
}

static struct pldi_view *new_view(struct pldi_memory *m)
{
	struct pldi_view *v = m->dead_first;

	if (m->ndead <= PLDI_DEAD_KEPT)
		return calloc(1, sizeof(*v));
	m->dead_first = v->of_buffer;
	m->ndead--;
	v->buffer->ndead--;
	*v = (struct pldi_view){ 0 };
	return v;
}

/* Under the mutex; makes the views of t[i] first. */
static struct pldi_view *get(struct pldi_memory *m, struct pld_window_ *b, struct pldi_domain *d,
			     const struct pl_layout *layout)
{
	struct pldi_view *v = find(m, b, d, layout), *inner = NULL;
	size_t at;

	if (v)
		return v;
	if (layout->inner && !(inner = get(m, b, d, layout->inner)))
		return NULL;
	if (m->nviews >= m->nbuckets && grow(m))
		return NULL;
	v = new_view(m);
	if (!v)
		return NULL;
	v->pub.layout = layout;
	/* of an empty buffer there is no slice: any distance does */
	v->pub.delta =
		d->delta[b->place.region == PLDI_REGION_NONE ? PLDI_REGION_DENSE : b->place.region];
	v->pub.domain = &d->pub;
	v->pub.inner = inner ? &inner->pub : NULL;
	v->buffer = b;
	v->of_buffer = b->views;
	b->views = v;
	at = hash(b, d, layout) % m->nbuckets;
	v->in_bucket = m->bucket[at];
	m->bucket[at] = v;
	m->nviews++;
	d->nviews++;
	return v;
}

const struct pld_view_ *pldi_view_get(struct pld_window_ *b, struct pldi_domain *d,
				      const struct pl_layout *layout, const char *call,
				      const char *where)
{
	struct pldi_rank *self = b->domain->self;
	struct pldi_view *v;

	if (self->forked) { /* a thread that is not in the child may have had the mutex */
		pldi_may_not(self, call, where);
		return NULL;
	}
	pthread_mutex_lock(&self->mutex);
	v = get(self->memory, b, d, layout);
	pthread_mutex_unlock(&self->mutex);
	if (!v) {
		pldi_fail(PL_ENOMEM, call, where, "no memory for a view; the rank has %zu",
			  self->memory->nviews);
		return NULL;
	}
	return &v->pub;
}

static void unlink_view(struct pldi_memory *m, const struct pldi_view *v)
{
	struct pldi_domain *d = pldi_view_domain(&v->pub);
	struct pldi_view **at = &m->bucket[hash(v->buffer, d, v->pub.layout) % m->nbuckets];

	while (*at != v)
		at = &(*at)->in_bucket;
	*at = v->in_bucket;
	m->nviews--;
	if (--d->nviews == 0 && d->ended_where)
		pldi_domain_delete_tables(d);
}

void pldi_views_kill(struct pldi_memory *m, struct pld_window_ *b)
{
	for (struct pldi_view *v = b->views, *next; v; v = next) {
		next = v->of_buffer;
		unlink_view(m, v);
		v->pub.layout = &b->dead.pub;
		v->pub.inner = NULL;
		v->of_buffer = NULL;
		b->ndead++;
		if (m->ndead++)
			m->dead_last->of_buffer = v;
		else
			m->dead_first = v;
		m->dead_last = v;
	}
	b->views = NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static const pld_tensor null_tensor;

static pl_status check_subset(const struct pldi_domain *sub, const struct pldi_domain *of,
			      const char *where)
{
	for (int32_t i = 0; i < sub->pub.nranks; i++) {
		int32_t k = 0;

		while (k < of->pub.nranks && of->world_rank[k] != sub->world_rank[i])
			k++;
		if (k == of->pub.nranks)
			return pldi_fail(
				PL_EINVAL, "pld_window", where,
				"rank %d of the world is in .domain, but not in the buffer's "
				"domain",
				sub->world_rank[i]);
	}
	return PL_OK;
}

static pl_status check_window(struct pld_window_ *b, const struct pld_window_opts *o,
			      const struct pl_layout *layout, const char *where)
{
	int64_t bytes = pldi_bytes(layout);

	if (layout->ndim >= PL_MAX_DIMS)
		return pldi_fail(PL_EINVAL, "pld_window", where,
				 "%d dimensions; a window has 1 to %d", layout->ndim,
				 PL_MAX_DIMS - 1);
	if (o->offset_bytes < 0 || o->offset_bytes % layout->elem_bytes)
		return pldi_fail(PL_EINVAL, "pld_window", where,
				 "offset of %lld bytes is not a "
				 "multiple >= 0 of the %lld of an element",
				 (long long)o->offset_bytes, (long long)layout->elem_bytes);
	if ((uint64_t)o->offset_bytes > b->bytes ||
	    (uint64_t)bytes > b->bytes - (uint64_t)o->offset_bytes)
		return pldi_fail(PL_EINVAL, "pld_window", where,
				 "a view of %lld bytes at byte %lld of "
				 "a buffer of %llu bytes",
				 (long long)bytes, (long long)o->offset_bytes,
				 (unsigned long long)b->bytes);
	return PL_OK;
}

pld_tensor(pld_window)(pld_buffer buffer, const pl_dims *shape, pl_dtype dtype,
		       const struct pld_window_opts *opts, const char *where)
{
	static const char call[] = "pld_window";
	struct pld_window_ *b = (struct pld_window_ *)(uintptr_t)buffer.w_;
	struct pld_window_opts o = { 0 };
	const struct pl_layout *layout;
	struct pldi_domain *d;
	pld_tensor t = null_tensor;

	if (!pldi_live(PLDI_MAY_MEMORY, call, where))
		return t;
	if (!b) {
		pldi_null_status(call, where, "buffer");
		return t;
	}
	if (b->freed_where) {
		pldi_fail(PL_EINVAL, call, where, "the buffer was freed at %s", b->freed_where);
		return t;
	}
	if (opts && pldi_opts(&o, sizeof(o), opts, 0, call, where))
		return t;
	layout = pldi_layout_packed(dtype, shape, call, where);
	if (!layout || check_window(b, &o, layout, where))
		return t;
	d = o.domain.d_ ? pldi_domain_of(o.domain, call, where) : b->domain;
	if (!d || (d != b->domain && check_subset(d, b->domain, where)))
		return t;
	t.as_ = pldi_view_get(b, d, layout, call, where);
	if (t.as_)
		t.at_ = (char *)b->at + o.offset_bytes;
	return t;
}

pld_tensor pld_at_tensor(pld_tensor t, int64_t i, const char *where)
{
	const struct pl_layout *l = t.as_ ? t.as_->layout : NULL;

	if (pldi_tensor_check(l, "pl_at", where, "tensor"))
		return null_tensor;
	if (l->ndim < 2) {
		pldi_fail(PL_EINVAL, "pl_at", where, "a tensor of 1 dimension; at least 2");
		return null_tensor;
	}
	if (i < 0 || i >= l->dim[0]) {
		pldi_fail(PL_EINVAL, "pl_at", where, "index %lld of %lld", (long long)i,
			  (long long)l->dim[0]);
		return null_tensor;
	}
	t.at_ = (char *)t.at_ + i * l->stride[0] * l->elem_bytes;
	t.as_ = t.as_->inner;
	return t;
}

pld_tensor pld_slice_tensor(pld_tensor t, const pl_dims *at, const pl_dims *shape,
			    const char *where)
{
	static const char call[] = "pl_slice";
	const struct pl_layout *l = t.as_ ? t.as_->layout : NULL;
	int64_t off;

	if (pldi_box(l, at, shape, &off, call, where, "tensor"))
		return null_tensor;
	t.at_ = (char *)t.at_ + off * l->elem_bytes;
	l = pldi_layout_strided(l->dtype, shape, l->stride, call, where);
	if (!l)
		return null_tensor;
	t.as_ = pldi_view_get(pldi_view(t.as_)->buffer, pldi_view_domain(t.as_), l, call, where);
	return t.as_ ? t : null_tensor;
}

static pl_status uneven(const struct pldi_domain *d, const char *where)
{
	char text[128];

	pldi_ranks_text(text, sizeof(text), d->world_rank, d->pub.nranks);
	return pldi_fail(PL_EINVAL, "pld_all", where,
			 "the domain's ranks in the world, %s, are not "
			 "evenly spaced: their slices are no strided tensor",
			 text);
}

pl_tensor(pld_all)(pld_tensor t, const char *where)
{
	static const char call[] = "pld_all";
	struct pldi_domain *d = pldi_window_check(t, PLDI_MAY_ALL, call, where, "window");
	const struct pl_layout *l;
	int64_t stride[PL_MAX_DIMS], step;
	pl_tensor all = { NULL, NULL };
	pl_dims shape;

	if (!d)
		return all;
	if (!d->spacing) {
		uneven(d, where);
		return all;
	}
	l = t.as_->layout;
	/* constant, also where the slice is empty */
	step = (int64_t)(pldi_view(t.as_)->buffer->place.region == PLDI_REGION_SPARSE
				 ? pldi_head(d->self->seg.base)->sparse_stride
				 : pldi_head(d->self->seg.base)->dense_stride);
	shape = (pl_dims){ l->ndim + 1, { d->pub.nranks } };
	stride[0] = d->spacing * step / l->elem_bytes;
	for (int i = 0; i < l->ndim; i++) {
		shape.d[i + 1] = l->dim[i];
		stride[i + 1] = l->stride[i];
	}
	l = pldi_layout_strided(l->dtype, &shape, stride, call, where);
	if (l)
		all = (pl_tensor){ pldi_peer_at(t, 0, 0), l };
	return all;
}

int(pld_mapped)(pld_ctx c, int peer, const char *where)
{
	static const char call[] = "pld_mapped";
	struct pldi_domain *d =
		pldi_live(PLDI_MAY_ALL, call, where) ? pldi_domain_of(c, call, where) : NULL;
	pl_status rc = d ? pldi_peer_check(d, peer, call, where) : pl_last_error()->status;

	return rc ? (int)rc : 1; /* one machine: every rank maps the whole segment */
}

void pldi_window_act(enum pldi_act act, pld_tensor t, const struct pldi_domain *d, int peer,
		     int64_t off_bytes, int64_t value)
{
	const struct pld_window_ *b = pldi_view(t.as_)->buffer;
	const enum pldi_act_form form = pldi_act_form(act);
	const int64_t elem_bytes = t.as_->layout->elem_bytes;
	int64_t at = (char *)t.at_ - (char *)b->at + off_bytes;

	if (form != PLDI_FORM_READ && form != PLDI_FORM_WRITE)
		at /= elem_bytes;
	pldi_observe_act(d->self->observe, act, d->world_rank[peer], b->place.number, at, value,
			 elem_bytes, d->reuse);
}

pl_status pldi_domain_ended(const struct pldi_domain *d, const char *call, const char *where,
			    const char *what)
{
	return pldi_fail(PL_EINVAL, call, where, "%s: its domain was freed at %s", what,
			 d->ended_where);
}

pl_status pldi_peer_fail(const struct pldi_domain *d, int peer, const char *call, const char *where)
{
	return pldi_fail(PL_EINVAL, call, where, "peer %d; the window's domain has ranks 0 to %d",
			 peer, d->pub.nranks - 1);
}
