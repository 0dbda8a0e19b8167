/*
 * symalloc.c - ranges of the windows, first fit, lowest address first.
 *
 * Each region has a sorted array of free ranges; the arrays, and the table of live buffers that
 * counts who has left, are in the segment under one lock.  A job has few buffers and allocates
 * seldom: an array beats a tree, and a dump of it can be read.
 */
#include "config.h"

#include <string.h>

#include "pldi_delay.h"
#include "pldi_lock.h"
#include "pldi_symalloc.h"

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/*
 * What a buffer takes of its region.  Sparse: whole pages and a spare one, so that under no colour
 * two buffers share a page that a free would punch.
 */
static uint64_t taken_bytes(enum pldi_region region, uint64_t bytes)
{
	switch (region) {
	case PLDI_REGION_DENSE:
		return round_up(bytes, PLDI_LINE);
	case PLDI_REGION_SPARSE:
		return round_up(bytes, PLDI_PAGE) + PLDI_PAGE;
	case PLDI_REGION_HOST:
		return round_up(bytes, PLDI_PAGE);
	default:
		return 0;
	}
}

/* Backs the entries [0, n) of a table in the segment that grows. */
static int back(const struct pldi_rank *self, const void *table, uint64_t bytes)
{
	uint64_t off = (uint64_t)((const char *)table - (char *)self->seg.base);

	return pldi_segment_commit(&self->seg, off, bytes);
}

static int take(struct pldi_arena_shm *a, uint64_t bytes, uint64_t *off, uint64_t *largest)
{
	for (uint64_t i = 0; i < a->nfree; i++) {
		struct pldi_range_shm *r = &a->free[i];

		if (r->bytes > *largest)
			*largest = r->bytes;
		if (r->bytes < bytes)
			continue;
		*off = r->off;
		r->off += bytes;
		r->bytes -= bytes;
		if (r->bytes == 0) {
			a->nfree--;
			memmove(r, r + 1, (a->nfree - i) * sizeof(*r));
		}
		return 0;
	}
	return -1;
}

/* There is room for one more range: a live buffer separates any two free ones. */
static void give(struct pldi_arena_shm *a, uint64_t off, uint64_t bytes)
{
	uint64_t i = 0;
	bool joins_before, joins_after;

	while (i < a->nfree && a->free[i].off < off)
		i++;
	joins_before = i > 0 && a->free[i - 1].off + a->free[i - 1].bytes == off;
	joins_after = i < a->nfree && off + bytes == a->free[i].off;
	if (joins_before && joins_after) {
		a->free[i - 1].bytes += bytes + a->free[i].bytes;
		a->nfree--;
		memmove(&a->free[i], &a->free[i + 1], (a->nfree - i) * sizeof(a->free[0]));
	} else if (joins_before) {
		a->free[i - 1].bytes += bytes;
	} else if (joins_after) {
		a->free[i].off = off;
		a->free[i].bytes += bytes;
	} else {
		memmove(&a->free[i + 1], &a->free[i], (a->nfree - i) * sizeof(a->free[0]));
		a->free[i] = (struct pldi_range_shm){ off, bytes };
		a->nfree++;
	}
}

/* Under the lock: a free entry of the buffer table, backed. */
static enum pldi_symalloc_rc find_entry(struct pldi_rank *self, uint32_t *entry)
{
	struct pldi_head_shm *h = self->seg.base;

	for (*entry = 0; *entry < h->buffers_used; (*entry)++)
		if (pldi_buffer_entry(h, *entry)->number == 0)
			return PLDI_SYMALLOC_OK;
	if (*entry == PLDI_MAX_BUFFERS)
		return PLDI_SYMALLOC_BUFFERS;
	if (back(self, pldi_buffer_entry(h, *entry), sizeof(struct pldi_buffer_shm)))
		return PLDI_SYMALLOC_TABLE;
	h->buffers_used++;
	return PLDI_SYMALLOC_OK;
}

/*
 * Under the lock: a range in `region`.  Its array is backed for as many free ranges as there can be
 * between the live buffers, so that no free needs memory.
 */
static enum pldi_symalloc_rc find_range(struct pldi_rank *self, enum pldi_region region,
					uint64_t bytes, uint64_t *off, uint64_t *largest)
{
	struct pldi_arena_shm *a = pldi_arena(self->seg.base, region);
	const uint64_t most = (uint64_t)pldi_head(self->seg.base)->buffers_used + 1;

	if (back(self, a, offsetof(struct pldi_arena_shm, free) + most * sizeof(a->free[0])))
		return PLDI_SYMALLOC_TABLE;
	return take(a, taken_bytes(region, bytes), off, largest) ? PLDI_SYMALLOC_RANGE
								 : PLDI_SYMALLOC_OK;
}

static enum pldi_symalloc_rc allocate(struct pldi_rank *self, uint64_t bytes, bool host,
				      int32_t members, struct pldi_place *p, uint64_t *largest)
{
	struct pldi_head_shm *h = self->seg.base;
	enum pldi_symalloc_rc rc = find_entry(self, &p->entry);
	struct pldi_buffer_shm *b = pldi_buffer_entry(h, p->entry);

	if (rc)
		return rc;
	p->off = 0;
	p->region = PLDI_REGION_NONE;
	if (bytes > 0) {
		p->region = host		      ? PLDI_REGION_HOST
			    : bytes <= PLDI_DENSE_MAX ? PLDI_REGION_DENSE
						      : PLDI_REGION_SPARSE;
		rc = find_range(self, p->region, bytes, &p->off, largest);
		if (rc == PLDI_SYMALLOC_RANGE && p->region == PLDI_REGION_DENSE) {
			p->region = PLDI_REGION_SPARSE;
			rc = find_range(self, p->region, bytes, &p->off, largest);
		}
		if (rc)
			return rc;
	}
	p->number = h->next_buffer++;
	PLDI_DELAY();
	b->number = p->number;
	b->region = p->region;
	b->off = p->off;
	b->bytes = bytes;
	b->members = members;
	atomic_store_explicit(&b->left, 0, memory_order_relaxed); /* under the lock */
	return PLDI_SYMALLOC_OK;
}

enum pldi_symalloc_rc pldi_symalloc(struct pldi_rank *self, uint64_t bytes, bool host,
				    int32_t members, struct pldi_place *p, uint64_t *largest)
{
	struct pldi_head_shm *h = self->seg.base;
	enum pldi_symalloc_rc rc;

	*largest = 0;
	if (bytes > INT64_MAX - 2 * PLDI_PAGE)
		return PLDI_SYMALLOC_RANGE;
	if (pldi_lock(&h->lock, &h->aborted))
		return PLDI_SYMALLOC_ABORTED;
	rc = allocate(self, bytes, host, members, p, largest);
	pldi_unlock(&h->lock);
	return rc;
}

bool pldi_symalloc_leave(struct pldi_rank *self, const struct pldi_place *p)
{
	struct pldi_buffer_shm *b = pldi_buffer_entry(self->seg.base, p->entry);
	/* before the count: after it, a last member may give the entry to another buffer */
	const int32_t members = b->members;

	/* acq_rel: what each member did with its slice is before what the last does */
	return atomic_fetch_add_explicit(&b->left, 1, memory_order_acq_rel) + 1 == members;
}

int pldi_symalloc_return(struct pldi_rank *self, const struct pldi_place *p)
{
	struct pldi_head_shm *h = self->seg.base;
	struct pldi_buffer_shm *b = pldi_buffer_entry(h, p->entry);

	PLDI_DELAY();
	if (pldi_lock(&h->lock, &h->aborted))
		return -1;
	if (p->region != PLDI_REGION_NONE)
		give(pldi_arena(h, p->region), p->off, taken_bytes(p->region, b->bytes));
	PLDI_DELAY();
	b->number = 0;
	pldi_unlock(&h->lock);
	return 0;
}
