/* layout.c - where the parts of the segment lie. */
#include "config.h"

#include "pldi_layout.h"

static uint64_t place(uint64_t *end, uint64_t bytes)
{
	uint64_t off = *end;

	*end = (off + bytes + PLDI_PAGE - 1) / PLDI_PAGE * PLDI_PAGE;
	return off;
}

void pldi_layout_fill(struct pldi_head_shm *h, int32_t nranks, uint64_t reserve)
{
	uint64_t n = (uint64_t)nranks, end = 0;

	h->nranks = nranks;
	h->reserve = reserve;
	h->dense_stride = PLDI_DENSE_BYTES + PLDI_COLOUR;
	h->sparse_stride = reserve + PLDI_COLOUR;
	h->domain_stride =
		(sizeof(struct pldi_domain_shm) + 2 * n * sizeof(int32_t) + PLDI_LINE - 1) /
		PLDI_LINE * PLDI_LINE;

	h->stats_stride = pldi_stats_stride(nranks);
	h->acts_stride = h->observe & PLDI_OBSERVE_SCHEDULE
				 ? PLDI_ACTS_MOST * sizeof(struct pldi_act_shm)
				 : 0;

	place(&end, sizeof(struct pldi_head_shm));
	h->slots_off = place(&end, n * sizeof(struct pldi_slot_shm));
	h->domains_off = place(&end, PLDI_MAX_DOMAINS * h->domain_stride);
	h->flags_off = place(&end, PLDI_MAX_DOMAINS * n * sizeof(struct pldi_flag_shm));
	h->buffers_off = place(&end, PLDI_MAX_BUFFERS * sizeof(struct pldi_buffer_shm));
	h->arenas_off = place(&end, PLDI_ARENAS * sizeof(struct pldi_arena_shm));
	h->stats_off = place(&end, n * h->stats_stride);
	h->acts_off = place(&end, n * h->acts_stride);
	h->host_off = place(&end, reserve);
	h->dense_off = place(&end, n * h->dense_stride);
	h->sparse_off = place(&end, n * h->sparse_stride);
	h->bytes = end;
}
