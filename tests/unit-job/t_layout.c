/* t_layout.c - geometry of the segment: nothing overlaps, windows at constant distances. */
#include "config.h"

#include <inttypes.h>
#include <stdbool.h>

#include "../unit/unit.h"

#include "pldi_layout.h"

static const int32_t counts[] = { 1, 2, 3, 4, 5, 7, 8, 16, 63, 64, 65, 255, 256, 1000, 4095, 4096 };
static const uint32_t observed[] = { 0, PLDI_OBSERVE_STATS,
				     PLDI_OBSERVE_STATS | PLDI_OBSERVE_SCHEDULE };
static const uint64_t reserves[] = { PLDI_PAGE,		3 * PLDI_PAGE,	   UINT64_C(1) << 20,
				     UINT64_C(1) << 30, UINT64_C(5) << 32, UINT64_C(1) << 44 };

struct part {
	const char *name;
	uint64_t off, bytes;
};

/* In order, aligned, apart, and the last ends where the segment does, to the page. */
static void check_parts(const struct pldi_head_shm *h, const struct part *part, int n)
{
	for (int i = 0; i < n; i++) {
		uint64_t end = part[i].off + part[i].bytes;
		uint64_t next = i + 1 < n ? part[i + 1].off : h->bytes;

		ck_assert_msg(part[i].off % PLDI_PAGE == 0, "%s at %" PRIu64, part[i].name,
			      part[i].off);
		ck_assert_msg(end >= part[i].off && end <= next && next - end < PLDI_PAGE,
			      "%s ends at %" PRIu64 ", the next part is at %" PRIu64, part[i].name,
			      end, next);
	}
}

START_TEST(parts)
{
	const uint64_t n = (uint64_t)counts[_i];

	for (int i = 0; i < ROWS(reserves) * ROWS(observed); i++) {
		struct pldi_head_shm h = { .observe = observed[i / ROWS(reserves)] };
		const uint64_t r = reserves[i % ROWS(reserves)];
		const bool schedule = h.observe & PLDI_OBSERVE_SCHEDULE;

		pldi_layout_fill(&h, counts[_i], r);
		ck_assert(h.nranks == counts[_i] && h.reserve == r);
		check_parts(&h,
			    (struct part[]){
				    { "head", 0, sizeof(h) },
				    { "slots", h.slots_off, n * sizeof(struct pldi_slot_shm) },
				    { "domains", h.domains_off,
				      PLDI_MAX_DOMAINS * h.domain_stride },
				    { "flags", h.flags_off,
				      PLDI_MAX_DOMAINS * n * sizeof(struct pldi_flag_shm) },
				    { "buffers", h.buffers_off,
				      PLDI_MAX_BUFFERS * sizeof(struct pldi_buffer_shm) },
				    { "arenas", h.arenas_off,
				      PLDI_ARENAS * sizeof(struct pldi_arena_shm) },
				    { "counters", h.stats_off, n * h.stats_stride },
				    { "schedules", h.acts_off,
				      n * schedule * PLDI_ACTS_MOST * sizeof(struct pldi_act_shm) },
				    { "host", h.host_off, r },
				    { "dense", h.dense_off, n * h.dense_stride },
				    { "sparse", h.sparse_off, n * h.sparse_stride } },
			    11);
		/* both lists of a domain */
		ck_assert(h.domain_stride >=
			  sizeof(struct pldi_domain_shm) + 2 * n * sizeof(int32_t));
		ck_assert(h.domain_stride % PLDI_LINE == 0);
		/* both counts by peer; schedules are there or not at all */
		ck_assert(h.stats_stride >=
			  offsetof(struct pldi_stats_shm, moved) + 2 * n * sizeof(int64_t));
		ck_assert_uint_eq(h.acts_stride,
				  schedule ? PLDI_ACTS_MOST * sizeof(struct pldi_act_shm) : 0);
	}
}
END_TEST

/* What the accessors say is inside its part, on its own lines, and the same for the same number. */
START_TEST(accessors)
{
	struct pldi_head_shm h = { 0 };
	char *base = (char *)&h;
	const int32_t n = counts[_i], last = n - 1;

	pldi_layout_fill(&h, n, UINT64_C(1) << 30);
	ck_assert_ptr_eq(pldi_slot(&h, 0), base + h.slots_off);
	ck_assert((char *)(pldi_slot(&h, last) + 1) <= base + h.domains_off);
	ck_assert_ptr_eq(pldi_domain_entry(&h, 0), base + h.domains_off);
	ck_assert((char *)pldi_domain_entry(&h, PLDI_MAX_DOMAINS - 1) + h.domain_stride <=
		  base + h.flags_off);
	ck_assert_ptr_eq(pldi_flag(&h, 0, 0), base + h.flags_off);
	ck_assert_ptr_eq(pldi_flag(&h, 7, 0), pldi_flag(&h, 6, last) + 1);
	ck_assert((char *)(pldi_flag(&h, PLDI_MAX_DOMAINS - 1, last) + 1) <= base + h.buffers_off);
	ck_assert((char *)(pldi_buffer_entry(&h, PLDI_MAX_BUFFERS - 1) + 1) <= base + h.arenas_off);
	ck_assert((char *)(pldi_arena(&h, PLDI_REGION_SPARSE) + 1) <= base + h.stats_off);
	ck_assert_ptr_eq(pldi_stats_of(&h, 0), base + h.stats_off);
	ck_assert((char *)pldi_stats_of(&h, last) + h.stats_stride <= base + h.acts_off);
	ck_assert(h.stats_off % PLDI_PAIR == 0 && h.stats_stride % PLDI_PAIR == 0);
	ck_assert(h.slots_off % PLDI_PAIR == 0 && sizeof(struct pldi_slot_shm) % PLDI_PAIR == 0);
	ck_assert(h.flags_off % PLDI_PAIR == 0);
}
END_TEST

/* Whether rank r's window is where it must be, beside those of others. */
static int is_placed(const struct pldi_head_shm *h, enum pldi_region region, uint64_t bytes,
		     int32_t r)
{
	const uint64_t off = pldi_window_off(h, region, r), first = pldi_window_off(h, region, 0);

	/* a constant distance; its end before the next one's begin, and inside the segment */
	if (off != first + (uint64_t)r * (bytes + PLDI_COLOUR) || off % PLDI_LINE ||
	    off + bytes > h->bytes)
		return 0;
	/* no two of 64 neighbours agree in the low 12 bits */
	for (int32_t k = r + 1; k < r + 64 && k < h->nranks; k++)
		if (off % PLDI_PAGE == pldi_window_off(h, region, k) % PLDI_PAGE)
			return 0;
	return 1;
}

static void check_windows(const struct pldi_head_shm *h, enum pldi_region region, uint64_t bytes)
{
	const uint64_t step = region == PLDI_REGION_DENSE ? h->dense_stride : h->sparse_stride;
	int placed = 0;

	ck_assert_uint_eq(step, bytes + PLDI_COLOUR);
	for (int32_t r = 0; r < h->nranks; r++)
		placed += is_placed(h, region, bytes, r) &&
			  pldi_window_off(h, PLDI_REGION_HOST, r) == h->host_off;
	ck_assert_int_eq(placed, h->nranks);
}

START_TEST(windows)
{
	struct pldi_head_shm h = { 0 };

	for (int i = 0; i < ROWS(reserves); i++) {
		pldi_layout_fill(&h, counts[_i], reserves[i]);
		check_windows(&h, PLDI_REGION_DENSE, PLDI_DENSE_BYTES);
		check_windows(&h, PLDI_REGION_SPARSE, reserves[i]);
	}
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, parts, 0, ROWS(counts));
	tcase_add_loop_test(tc, accessors, 0, ROWS(counts));
	tcase_add_loop_test(tc, windows, 0, ROWS(counts));
}

int main(void)
{
	return unit_run("layout", add);
}
