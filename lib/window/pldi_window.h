/* pldi_window.h - window buffers, host tensors and views, as this process sees them. */
#ifndef PLDI_WINDOW_H
#define PLDI_WINDOW_H

#include <pld/memory.h>

#include "pldi_job.h"
#include "pldi_symalloc.h"
#include "pldi_tensor.h"

/* A view: what pld_tensor points to; interned by buffer, domain and layout. */
struct pldi_view {
	struct pld_view_ pub;
	struct pld_window_ *buffer;
	struct pldi_view *of_buffer; /* next of the same buffer, or next dead one */
	struct pldi_view *in_bucket; /* next of the same hash */
};

/* A buffer; host tensors are buffers of the host region with a single slice. */
struct pld_window_ {
	struct pldi_domain *domain;
	struct pldi_place place;
	uint64_t bytes;
	int64_t dtype; /* 0: by bytes */
	pld_keep keep;
	void *at; /* own slice */
	const char *where, *name;
	bool dumped; /* counted in memory->dump_bytes */

	struct pldi_view *views;
	size_t ndead;		  /* dead views that still point here */
	struct pld_window_ *next; /* live: of the rank's, newest first; freed: next older one */
	bool host;		  /* a host tensor: one slice for all */
	int32_t host_depth;	  /* rank's depth of levels when it was made */

	const char *freed_where; /* NULL: live */
	struct pldi_layout dead; /* of its views, once freed */
	char dead_text[96];
};

/* A stale handle is an exact error until so many more have died; then its object is used again. */
#define PLDI_DEAD_KEPT 65536

/* What hangs off a rank. */
struct pldi_memory {
	struct pld_window_ *buffers;		      /* live */
	struct pld_window_ *freed_first, *freed_last; /* oldest first; handles may still exist */
	size_t nfreed;
	struct pldi_view **bucket;
	size_t nbuckets, nviews;
	struct pldi_view *dead_first, *dead_last; /* oldest first */
	size_t ndead;
	uint64_t dump_bytes;	  /* marked for core dumps */
	uint64_t left_bytes;	  /* under them when memory limits were last read */
	uint64_t unchecked_bytes; /* taken since */
};

/* The rank's memory object; NULL: no memory. */
struct pldi_memory *pldi_memory(struct pldi_rank *self);

/* view.c: the view of b with this layout, for peers of domain d.  NULL after an error. */
const struct pld_view_ *pldi_view_get(struct pld_window_ *b, struct pldi_domain *d,
				      const struct pl_layout *layout, const char *call,
				      const char *where);
/* All views of b become dead; under the rank's mutex. */
void pldi_views_kill(struct pldi_memory *m, struct pld_window_ *b);

static inline struct pldi_view *pldi_view(const struct pld_view_ *v)
{
	return (struct pldi_view *)(uintptr_t)v;
}

static inline struct pldi_domain *pldi_view_domain(const struct pld_view_ *v)
{
	return (struct pldi_domain *)(uintptr_t)v->domain;
}

/* t's domain has been freed, which a narrowed view outlives. */
pl_status pldi_domain_ended(const struct pldi_domain *d, const char *call, const char *where,
			    const char *what);

/*
 * What every call on a window checks first: t is not null, not freed, and the rank may make calls
 * of this class now.  The domain, or NULL after an error.
 */
static inline struct pldi_domain *pldi_window_check(pld_tensor t, enum pldi_right c,
						    const char *call, const char *where,
						    const char *what)
{
	struct pldi_domain *d;

	if (__builtin_expect(!t.as_ || !t.as_->layout->ndim, 0)) {
		pldi_tensor_check(t.as_ ? t.as_->layout : NULL, call, where, what);
		return NULL;
	}
	d = pldi_view_domain(t.as_);
	if (__builtin_expect(d->ended_where != NULL, 0)) {
		pldi_domain_ended(d, call, where, what);
		return NULL;
	}
	return pldi_may(d->self, c, call, where) == PL_OK ? d : NULL;
}

/* peer is a rank of d. */
pl_status pldi_peer_fail(const struct pldi_domain *d, int peer, const char *call,
			 const char *where);
static inline pl_status pldi_peer_check(const struct pldi_domain *d, int peer, const char *call,
					const char *where)
{
	if (__builtin_expect((uint32_t)peer < (uint32_t)d->pub.nranks, 1))
		return PL_OK;
	return pldi_peer_fail(d, peer, call, where);
}

/*
 * The one function through which a peer's memory is reached: address of peer's copy of what t's
 * handle has at byte off.
 */
static inline void *pldi_peer_at(pld_tensor t, int peer, int64_t off_bytes)
{
	return (char *)t.at_ + t.as_->delta[peer] + off_bytes;
}

/* An act on what t's handle has at byte off, of a rank that is observed (pldi_observe.h). */
void pldi_window_act(enum pldi_act act, pld_tensor t, const struct pldi_domain *d, int peer,
		     int64_t off_bytes, int64_t value);

/* The same address, for a move of so many bytes: what counts them. */
static inline void *pldi_peer_move(enum pldi_act act, pld_tensor t, const struct pldi_domain *d,
				   int peer, int64_t off_bytes, int64_t bytes)
{
	if (pldi_observed(d->self->observe))
		pldi_window_act(act, t, d, peer, off_bytes, bytes);
	return pldi_peer_at(t, peer, off_bytes);
}

/* Frees the buffers with PLD_KEEP_HOST made at `depth` levels or deeper.  First error. */
pl_status pldi_free_made_inside(struct pldi_rank *self, int depth, const char *where);

#endif
