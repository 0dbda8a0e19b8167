/* stats.c - a rank counts, and says what it has counted. */
#include "config.h"

#include <string.h>

#include <pld/observe.h>

#include "pldi_job.h"

static int commit(void *arg, void *at, size_t bytes)
{
	const struct pldi_segment *seg = arg;

	return pldi_segment_commit(seg, (uint64_t)((char *)at - (char *)seg->base), bytes);
}

pl_status pldi_observe_start(struct pldi_rank *self, pld_counters wanted, const char *call,
			     const char *where)
{
	struct pldi_head_shm *h = self->seg.base;
	struct pldi_observe *o = &self->observing;
	int rc;

	if (!h->observe && wanted == PLD_COUNTERS_OFF)
		return PL_OK;
	o->rank = self->rank;
	o->stats = pldi_stats_of(h, self->rank);
	if (h->observe & PLDI_OBSERVE_SCHEDULE)
		o->acts = (void *)((char *)self->seg.base + h->acts_off +
				   (uint64_t)self->rank * h->acts_stride);
	o->commit = commit;
	o->arg = &self->seg;
	rc = commit(&self->seg, o->stats, h->stats_stride);
	if (rc)
		return pldi_fail(PL_ENOMEM, call, where, "no memory for counters: %s",
				 strerror(rc));
	/* relaxed: for the launcher, when the rank has gone */
	atomic_store_explicit(&o->stats->on, 1, memory_order_relaxed);
	self->observe = o;
	return PL_OK;
}

pl_status(pld_get_stats)(struct pld_stats *s, size_t size, const char *where)
{
	static const char call[] = "pld_get_stats";
	struct pldi_rank *self = pldi_live(PLDI_MAY_ALL, call, where);
	const struct pldi_stats_shm *from;
	struct pld_stats all = { 0 };

	if (!self)
		return pl_last_error()->status;
	if (!s || size == 0 || size > sizeof(all))
		return pldi_fail(PL_EINVAL, call, where,
				 "%s of %zu bytes; this library's struct pld_stats has %zu",
				 s ? "a struct" : "a null pointer", size, sizeof(all));
	if (!self->observe)
		return pldi_fail(PL_EINVAL, call, where,
				 "nothing is counted; pldrun --stats, or .counters = "
				 "PLD_COUNTERS_ON in pld_config, switches it on");
	from = self->observe->stats;
	/* relaxed: this rank's own numbers */
	for (int32_t r = 0; r < self->nranks; r++) {
		all.remote_bytes_read +=
			atomic_load_explicit(&from->moved[r][0], memory_order_relaxed);
		all.remote_bytes_written +=
			atomic_load_explicit(&from->moved[r][1], memory_order_relaxed);
	}
	all.notifies = atomic_load_explicit(&from->notifies, memory_order_relaxed);
	all.waits = atomic_load_explicit(&from->waits, memory_order_relaxed);
	all.wait_ns = atomic_load_explicit(&from->wait_ns, memory_order_relaxed);
	all.collectives = atomic_load_explicit(&from->collectives, memory_order_relaxed);
	memcpy(s, &all, size);
	return PL_OK;
}
