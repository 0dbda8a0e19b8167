/*
 * buffer.c - window buffers: the same bytes on every member of a domain, or on none.
 *
 * Allocation is two agreements (pldi_agree.h). Before the first, member 0 checks the limits that
 * can be seen and reserves a range; the first compares the calls and tells everyone the place, or
 * why there is none. Then each member backs its own slice with memory, and the second tells
 * whether all could: if not, all give theirs back. So no member has memory that another lacks, and
 * every member can name the same cause.
 *
 * A free waits until all members have called it, then each clears its own slice, by punching its
 * pages where they have no other buffer; the last to do so returns the range to the job.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "pldi_agree.h"
#include "pldi_buffer.h"
#include "pldi_delay.h"
#include "pldi_machine.h"
#include "pldi_opts.h"

#define DUMP_MAX (UINT64_C(64) << 20) /* of committed buffers in a core dump */
#define LIMITS_EVERY (1 << 20)

/* ---- objects --------------------------------------------------------------------------------- */

/* The segment goes with the rank: views are dead then, handles stay valid to ask. */
static void at_leave(struct pldi_rank *self)
{
	if (!self->memory)
		return;
	for (struct pld_window_ *b = self->memory->buffers; b; b = b->next) {
		b->freed_where = self->final_where;
		snprintf(b->dead_text, sizeof(b->dead_text), "window freed by pld_finalize at %s",
			 b->freed_where);
		pldi_layout_dead(&b->dead, b->dead_text);
		pldi_views_kill(self->memory, b);
	}
}

struct pldi_memory *pldi_memory(struct pldi_rank *self)
{
	pthread_mutex_lock(&self->mutex);
	if (!self->memory) {
		self->memory = calloc(1, sizeof(*self->memory));
		pldi_at_leave(at_leave);
	}
	pthread_mutex_unlock(&self->mutex);
	return self->memory;
}

/* An object, before anything is agreed that would have to be undone. */
static struct pld_window_ *new_object(struct pldi_rank *self)
{
	struct pldi_memory *m = pldi_memory(self);
	struct pld_window_ *b;

	if (!m)
		return NULL;
	pthread_mutex_lock(&self->mutex);
	b = m->freed_first;
	if (m->nfreed > PLDI_DEAD_KEPT && b->ndead == 0) {
		m->freed_first = b->next;
		m->nfreed--;
		memset(b, 0, sizeof(*b));
	} else {
		b = calloc(1, sizeof(*b));
	}
	pthread_mutex_unlock(&self->mutex);
	return b;
}

static void list_live(struct pldi_rank *self, struct pld_window_ *b)
{
	pthread_mutex_lock(&self->mutex);
	b->next = self->memory->buffers;
	self->memory->buffers = b;
	b->domain->nbuffers++;
	pthread_mutex_unlock(&self->mutex);
}

/* The object of a buffer that is no more, or never was: kept, since old handles may point to it. */
static void keep_freed(struct pldi_memory *m, struct pld_window_ *b, const char *where)
{
	b->freed_where = where ? where : "";
	b->next = NULL;
	if (m->nfreed++)
		m->freed_last->next = b;
	else
		m->freed_first = b;
	m->freed_last = b;
}

static void list_freed(struct pldi_rank *self, struct pld_window_ *b, const char *where)
{
	struct pldi_memory *m = self->memory;
	struct pld_window_ **at = &m->buffers;

	pthread_mutex_lock(&self->mutex);
	snprintf(b->dead_text, sizeof(b->dead_text), "window %s%sfreed at %s", b->name,
		 *b->name ? " " : "", where ? where : "");
	pldi_layout_dead(&b->dead, b->dead_text);
	pldi_views_kill(m, b);
	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	keep_freed(m, b, where);
	b->domain->nbuffers--;
	pthread_mutex_unlock(&self->mutex);
}

/* ---- backing one's own slice ----------------------------------------------------------------- */

static uint64_t slice_off(const struct pldi_rank *self, const struct pldi_place *p, int32_t rank)
{
	return pldi_window_off(self->seg.base, p->region, rank) + p->off;
}

/* Host tensors have one slice, which member 0 backs. */
static bool backs(const struct pldi_domain *d, const struct pldi_place *p)
{
	return p->region != PLDI_REGION_NONE && (p->region != PLDI_REGION_HOST || d->pub.rank == 0);
}

static void mark_for_dump(struct pldi_rank *self, struct pld_window_ *b)
{
	struct pldi_memory *m = self->memory;
	struct rlimit core;

	/* each range is a mapping of its own to the kernel: only where a dump could be */
	if (getrlimit(RLIMIT_CORE, &core) || core.rlim_cur == 0 ||
	    b->place.region == PLDI_REGION_NONE || m->dump_bytes + b->bytes > DUMP_MAX)
		return;
	b->dumped = true;
	m->dump_bytes += b->bytes;
	pldi_segment_dump(&self->seg, slice_off(self, &b->place, self->rank), b->bytes, 1);
}

/* The pages of a slice go back.  Not in the dense region, where a page has other buffers too. */
static void punch_slice(struct pldi_domain *d, const struct pldi_place *p, uint64_t bytes,
			int32_t member)
{
	uint64_t off = slice_off(d->self, p, d->world_rank[member]), first = off % PLDI_PAGE;

	if (p->region == PLDI_REGION_SPARSE || (p->region == PLDI_REGION_HOST && member == 0))
		pldi_segment_punch(&d->self->seg, off - first,
				   (first + bytes + PLDI_PAGE - 1) / PLDI_PAGE * PLDI_PAGE);
}

/* A slice that was in use is zero for the next owner. */
static void clear_slice(struct pldi_domain *d, const struct pldi_place *p, uint64_t bytes,
			int32_t member)
{
	if (p->region == PLDI_REGION_DENSE)
		memset((char *)d->self->seg.base + slice_off(d->self, p, d->world_rank[member]), 0,
		       bytes);
	else
		punch_slice(d, p, bytes, member);
}

/* ---- why there is no memory ------------------------------------------------------------------ */

enum lack {
	LACK_NOTHING = 0,
	LACK_RANGE = 1,	  /* detail: longest free range */
	LACK_BUFFERS = 2, /* live buffers */
	LACK_CGROUP = 3,  /* detail: bytes left */
	LACK_MACHINE = 4, /* detail: bytes left */
	LACK_BACKING = 5, /* detail: errno */
	LACK_ABORTED = 6,
};

static pl_status fail_lack(const struct pldi_request *q, enum lack lack, int64_t detail,
			   int32_t member)
{
	struct pldi_domain *d = q->domain;
	const char *call = q->call, *place;
	int32_t slices = q->op == PLDI_CALL_HOST_TENSOR ? 1 : d->pub.nranks;
	int64_t need = q->bytes > INT64_MAX / slices ? INT64_MAX : q->bytes * slices, room;
	struct pldi_memory_limit cgroup, machine;
	struct rlimit as;

	switch (lack) {
	case LACK_RANGE:
		return pldi_fail(PL_ENOMEM, call, q->where,
				 "no range of %" PRId64
				 " bytes and a spare page is free in the %" PRIu64
				 " bytes of address space a rank; the longest has %" PRId64
				 "; give more with pldrun --reserve%s",
				 q->bytes, pldi_head(d->self->seg.base)->reserve, detail,
				 getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur != RLIM_INFINITY
					 ? " and ulimit -v"
					 : "");
	case LACK_BUFFERS:
		return pldi_fail(PL_ENOMEM, call, q->where,
				 "%d buffers are live, the most that a job "
				 "can have; free some",
				 PLDI_MAX_BUFFERS);
	case LACK_CGROUP:
	case LACK_MACHINE:
		pldi_memory_limits("", &cgroup, &machine);
		return pldi_fail(PL_ENOMEM, call, q->where,
				 "%" PRId64 " bytes on %d rank%s need %" PRId64 " bytes, %" PRId64
				 " are left under %s; %s, or allocate less",
				 q->bytes, slices, slices == 1 ? "" : "s", need, detail,
				 lack == LACK_CGROUP ? cgroup.where : machine.where,
				 lack == LACK_CGROUP ? "raise that limit" : "free some");
	case LACK_BACKING:
		place = pldi_segment_room(&d->self->seg, &room);
		return pldi_fail(PL_ENOMEM, call, q->where,
				 "%" PRId64 " bytes on %d rank%s need %" PRId64
				 " bytes, %s has %" PRId64
				 " free (rank %d: %s); %s, or allocate less",
				 q->bytes, slices, slices == 1 ? "" : "s", need, place, room,
				 d->world_rank[member], strerror((int)detail),
				 *place == '/' && detail == ENOSPC
					 ? "enlarge it (mount -o remount,size=..)"
					 : "free some");
	default:
		return pldi_fail_aborted(d->self, call, q->where);
	}
}

/* What is left under a limit, but for what tables and page tables of the ranks may still take. */
static int64_t usable(const struct pldi_memory_limit *l)
{
	return l->available_bytes > LIMITS_EVERY ? l->available_bytes - LIMITS_EVERY : 0;
}

/*
 * Inside a memory cgroup fallocate itself may call the OOM killer, and a memfd knows no limit of
 * its own: what can be seen is compared before anybody commits.  Files are read once a MiB, and
 * more often when little is left.
 */
static enum lack check_limits(const struct pldi_request *q, int64_t *detail)
{
	struct pldi_rank *self = q->domain->self;
	struct pldi_memory *m = self->memory;
	struct pldi_memory_limit cgroup, machine;
	uint64_t need = (uint64_t)q->bytes;
	uint64_t slices = q->op == PLDI_CALL_HOST_TENSOR ? 1 : (uint64_t)q->domain->pub.nranks;
	int64_t room;

	if (__builtin_mul_overflow(need, slices, &need))
		need = UINT64_MAX / 2;
	if (!m)
		return LACK_NOTHING;
	m->unchecked_bytes += need;
	if (m->unchecked_bytes < LIMITS_EVERY && m->unchecked_bytes < m->left_bytes / 8)
		return LACK_NOTHING;
	pldi_memory_limits("", &cgroup, &machine);
	m->unchecked_bytes = 0;
	m->left_bytes = (uint64_t)usable(&cgroup);
	*detail = usable(&cgroup);
	if (cgroup.available_bytes != INT64_MAX && need > (uint64_t)*detail)
		return LACK_CGROUP;
	if (pldi_head(self->seg.base)->is_memfd) {
		*detail = usable(&machine);
		if ((uint64_t)*detail < m->left_bytes)
			m->left_bytes = (uint64_t)*detail;
		return machine.available_bytes != INT64_MAX && need > (uint64_t)*detail
			       ? LACK_MACHINE
			       : LACK_NOTHING;
	}
	*detail = ENOSPC; /* as fallocate would say, after much work */
	pldi_segment_room(&self->seg, &room);
	return need > (uint64_t)room ? LACK_BACKING : LACK_NOTHING;
}

/* ---- allocation ------------------------------------------------------------------------------ */

/* Member 0, before the first agreement. */
static enum lack reserve(const struct pldi_request *q, struct pldi_place *p, int64_t *detail)
{
	enum lack lack = check_limits(q, detail);
	uint64_t largest;

	if (lack)
		return lack;
	switch (pldi_symalloc(q->domain->self, (uint64_t)q->bytes, q->op == PLDI_CALL_HOST_TENSOR,
			      q->domain->pub.nranks, p, &largest)) {
	case PLDI_SYMALLOC_OK:
		return LACK_NOTHING;
	case PLDI_SYMALLOC_RANGE:
		*detail = (int64_t)largest;
		return LACK_RANGE;
	case PLDI_SYMALLOC_BUFFERS:
		return LACK_BUFFERS;
	case PLDI_SYMALLOC_TABLE:
		*detail = ENOSPC;
		return LACK_BACKING;
	default:
		return LACK_ABORTED;
	}
}

/* The first agreement: everyone knows the place, or fails for the same reason. */
static pl_status agree_place(const struct pldi_request *q, struct pldi_place *p)
{
	struct pldi_domain *d = q->domain;
	const struct pldi_call what = { q->op, { q->bytes, q->dtype, q->keep, 0 }, q->call };
	int64_t payload[PLDI_PAYLOAD] = { 0 }, detail = 0;
	const int64_t *told;
	bool lead = d->pub.rank == 0;
	pl_status rc;

	if (lead) {
		payload[0] = reserve(q, p, &detail);
		payload[1] = payload[0] ? detail : (int64_t)p->off;
		payload[2] = (int64_t)p->entry << 8 | (int64_t)p->region;
		payload[3] = p->number;
	}
	PLDI_DELAY();
	rc = pldi_agree(d, &what, payload, q->where);
	if (rc) {
		if (lead && payload[0] == LACK_NOTHING)
			pldi_symalloc_return(d->self, p);
		return rc;
	}
	PLDI_DELAY();
	told = pldi_posted(d, 0);
	if (told[0] != LACK_NOTHING)
		return fail_lack(q, (enum lack)told[0], told[1], 0);
	*p = (struct pldi_place){ .region = (enum pldi_region)(told[2] & 0xff),
				  .entry = (uint32_t)(told[2] >> 8),
				  .number = (uint32_t)told[3],
				  .off = (uint64_t)told[1] };
	return PL_OK;
}

/* The second agreement: all have memory, or none keeps any.  error: what this member lacks. */
static pl_status agree_backing(const struct pldi_request *q, const struct pldi_place *p, int error)
{
	struct pldi_domain *d = q->domain;
	const struct pldi_call what = { q->op, { q->bytes, q->dtype, q->keep, 1 }, q->call };
	int64_t payload[PLDI_PAYLOAD] = { error };
	int32_t lacks = -1;
	int64_t detail = 0;
	pl_status rc;

	if (!error && backs(d, p))
		payload[0] = pldi_segment_commit(&d->self->seg,
						 slice_off(d->self, p, d->self->rank),
						 (uint64_t)q->bytes);
	PLDI_DELAY();
	rc = pldi_agree(d, &what, payload, q->where);
	for (int32_t m = 0; rc == PL_OK && lacks < 0 && m < d->pub.nranks; m++) {
		detail = pldi_posted(d, m)[0];
		if (detail)
			lacks = m;
	}
	if (rc == PL_OK && lacks < 0)
		return PL_OK;
	/* nothing was written there; and what was not backed must not be */
	punch_slice(d, p, (uint64_t)q->bytes, d->pub.rank);
	if (pldi_symalloc_leave(d->self, p))
		pldi_symalloc_return(d->self, p);
	return rc ? rc : fail_lack(q, LACK_BACKING, detail, lacks);
}

static void fill_object(struct pld_window_ *b, const struct pldi_request *q,
			const struct pldi_place *p)
{
	struct pldi_rank *self = q->domain->self;

	b->domain = q->domain;
	b->place = *p;
	b->bytes = (uint64_t)q->bytes;
	b->dtype = q->dtype;
	b->keep = q->keep;
	b->at = (char *)self->seg.base + slice_off(self, p, self->rank);
	b->where = q->where ? q->where : "";
	b->name = q->name ? q->name : "";
	b->host = q->op == PLDI_CALL_HOST_TENSOR;
	b->host_depth = self->depth;
}

struct pld_window_ *pldi_buffer_new(const struct pldi_request *q)
{
	struct pldi_domain *d = q->domain;
	struct pld_window_ *b;
	struct pldi_place p = { 0 };

	if (pldi_begin(d, q->call, q->where))
		return NULL;
	b = new_object(d->self); /* a lack of it is agreed like any other: the others wait */
	if (agree_place(q, &p) || agree_backing(q, &p, b ? 0 : ENOMEM)) {
		pldi_end(d);
		if (b) {
			pthread_mutex_lock(&d->self->mutex);
			keep_freed(d->self->memory, b, q->where);
			pthread_mutex_unlock(&d->self->mutex);
		}
		return NULL;
	}
	fill_object(b, q, &p);
	if (backs(d, &p))
		mark_for_dump(d->self, b);
	list_live(d->self, b);
	pldi_end(d);
	return b;
}

/*
 * Each member clears its own slice.  On a broken domain nobody has waited for the others, who may
 * still use theirs and each other's: there the last clears all.
 */
static pl_status release(struct pldi_domain *d, const struct pldi_place *p, uint64_t bytes,
			 const char *call, const char *where)
{
	if (!d->broken)
		clear_slice(d, p, bytes, d->pub.rank);
	PLDI_DELAY();
	if (!pldi_symalloc_leave(d->self, p))
		return PL_OK;
	PLDI_DELAY();
	for (int32_t m = 0; d->broken && m < d->pub.nranks; m++)
		clear_slice(d, p, bytes, m);
	return pldi_symalloc_return(d->self, p) ? pldi_fail_aborted(d->self, call, where) : PL_OK;
}

pl_status pldi_buffer_free(struct pld_window_ *b, enum pldi_opcode op, const char *call,
			   const char *where)
{
	struct pldi_domain *d = b->domain;
	struct pldi_rank *self = d->self;
	const struct pldi_call what = { op, { b->place.number }, call };
	pl_status rc;

	if ((rc = pldi_begin(d, call, where)))
		return rc;
	rc = pldi_agree_release(d, &what, where);
	if (rc == PL_OK) {
		if (b->dumped) {
			pldi_segment_dump(&self->seg, slice_off(self, &b->place, self->rank),
					  b->bytes, 0);
			self->memory->dump_bytes -= b->bytes;
		}
		list_freed(self, b, where);
		rc = release(d, &b->place, b->bytes, call, where);
	}
	pldi_end(d);
	return rc;
}
