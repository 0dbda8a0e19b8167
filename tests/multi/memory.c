/* memory.c - window buffers: zeroed each time, apart from one another, and given back. */
#include "config.h"

#include <sys/stat.h>

#include "multi.h"
#include "pldi_job.h"

static pld_buffer buffer_of(int64_t bytes)
{
	return pld_alloc_window_buffer(.bytes = bytes);
}

/* The own slice; bytes > 0. */
static unsigned char *slice(const struct multi *m, pld_buffer b)
{
	return pld_ptr(pld_window(b, PL_SHAPE(1), PL_UINT8), m->me);
}

/* ---- zeroed ---------------------------------------------------------------------------------- */

/* Below, at and above a line, a page, the most of the dense region (16 KiB), a piece of commit. */
static const int64_t sizes[] = {
	1,     3,     63,    64,    65,	   1000,	  4095,	   4096,	  4097,
	16383, 16384, 16385, 20000, 65536, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 * (1 << 20) + 17
};

/* Dirtied to the last byte and freed, the next owner of the range finds zeros. */
static void zeroed(const struct multi *m)
{
	for (int i = 0; i < ROWS(sizes); i++)
		for (int k = 0; k < 3; k++) {
			pld_buffer b = buffer_of(sizes[i]);

			expect_filled(m, "slice", slice(m, b), 0, (size_t)sizes[i]);
			memset(slice(m, b), 0xff, (size_t)sizes[i]);
			expect_status(m, "free", pld_free_window_buffer(b), PL_OK);
		}
}

/* Small ones take the range of a large one, and the reverse. */
static void zeroed_in_pieces(const struct multi *m)
{
	static const int64_t whole[] = { 16384, 1 << 20 }, part[] = { 1000, 100000 };

	for (int i = 0; i < 2; i++) {
		pld_buffer b[8];

		for (int k = 0; k < 3; k++) {
			b[0] = buffer_of(whole[i]);
			expect_filled(m, "whole", slice(m, b[0]), 0, (size_t)whole[i]);
			memset(slice(m, b[0]), 0xee, (size_t)whole[i]);
			pld_free_window_buffer(b[0]);
			for (int j = 0; j < 8; j++) {
				b[j] = buffer_of(part[i]);
				expect_filled(m, "part", slice(m, b[j]), 0, (size_t)part[i]);
				memset(slice(m, b[j]), 0xdd, (size_t)part[i]);
			}
			for (int j = 0; j < 8; j++)
				pld_free_window_buffer(b[(j * 3) % 8]);
		}
	}
}

/* ---- apart ----------------------------------------------------------------------------------- */

static void paint(const struct multi *m, pld_buffer b, int64_t bytes, int colour)
{
	memset(slice(m, b), colour, (size_t)bytes);
}

/* Three neighbours; the middle one goes, and comes again: the others keep every byte. */
static void neighbours(const struct multi *m)
{
	for (int i = 0; i < ROWS(sizes); i++) {
		pld_buffer a = buffer_of(sizes[i]), b = buffer_of(sizes[i]),
			   c = buffer_of(sizes[i]);

		paint(m, a, sizes[i], 0x10 + m->me);
		paint(m, b, sizes[i], 0x50);
		paint(m, c, sizes[i], 0x90 + m->me);
		pld_free_window_buffer(b);
		b = buffer_of(sizes[i]);
		expect_filled(m, "middle", slice(m, b), 0, (size_t)sizes[i]);
		paint(m, b, sizes[i], 0x60);
		pld_barrier(pld_world());
		expect_filled(m, "before", slice(m, a), (unsigned char)(0x10 + m->me),
			      (size_t)sizes[i]);
		expect_filled(m, "after", slice(m, c), (unsigned char)(0x90 + m->me),
			      (size_t)sizes[i]);
		pld_free_window_buffer(a);
		pld_free_window_buffer(c);
		expect_filled(m, "middle, alone", slice(m, b), 0x60, (size_t)sizes[i]);
		pld_free_window_buffer(b);
	}
}

/* A random life: sizes, order of frees, who is checked; each buffer has a colour of its own. */
static void random_life(const struct multi *m)
{
	enum { LIVE = 24, STEPS = 250 };
	struct {
		pld_buffer b;
		int64_t bytes;
		unsigned char colour;
	} live[LIVE] = { { { NULL }, 0, 0 } };
	uint64_t random = multi_seed(41, 0, 0);

	for (int step = 0; step < STEPS; step++) {
		int i = (int)multi_pick(&random, LIVE), k = (int)multi_pick(&random, LIVE);
		int64_t most = multi_pick(&random, 2) ? 20000 : 200000;

		if (live[i].b.w_) {
			expect_filled(m, "at its end", slice(m, live[i].b), live[i].colour,
				      (size_t)live[i].bytes);
			pld_free_window_buffer(live[i].b);
			live[i].b.w_ = NULL;
		} else {
			live[i].bytes = 1 + multi_pick(&random, most);
			live[i].b = buffer_of(live[i].bytes);
			live[i].colour = (unsigned char)(1 + (step + m->me) % 255);
			expect_filled(m, "new", slice(m, live[i].b), 0, (size_t)live[i].bytes);
			paint(m, live[i].b, live[i].bytes, live[i].colour);
		}
		if (live[k].b.w_)
			expect_filled(m, "in between", slice(m, live[k].b), live[k].colour,
				      (size_t)live[k].bytes);
	}
	for (int i = 0; i < LIVE; i++)
		if (live[i].b.w_)
			pld_free_window_buffer(live[i].b);
}

/* More than the dense region holds: the rest lies elsewhere and works alike. */
static void many_small(const struct multi *m)
{
	enum { COUNT = 100, BYTES = 16384 };
	pld_buffer b[COUNT];
	ptrdiff_t first = 0, last = 0;

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < COUNT; i++) {
			pld_tensor t;

			b[i] = buffer_of(BYTES);
			expect_filled(m, "new", slice(m, b[i]), 0, BYTES);
			paint(m, b[i], BYTES, i + 1);
			t = pld_window(b[i], PL_SHAPE(BYTES), PL_UINT8);
			last = (char *)pld_ptr(t, m->n - 1) - (char *)pld_ptr(t, 0);
			first = i == 0 ? last : first;
		}
		expect_true(m, "the last one is in another region", m->n == 1 || first != last);
		pld_barrier(pld_world());
		for (int i = 0; i < COUNT; i++) {
			pld_tensor t = pld_window(b[i], PL_SHAPE(BYTES), PL_UINT8);

			expect_filled(m, "own", pld_ptr(t, m->me), (unsigned char)(i + 1), BYTES);
			expect_filled(m, "peer's", pld_ptr(t, multi_next(m)),
				      (unsigned char)(i + 1), BYTES);
		}
		for (int i = 0; i < COUNT; i++)
			pld_free_window_buffer(b[i]);
	}
}

/* ---- nothing --------------------------------------------------------------------------------- */

static void zero_bytes(const struct multi *m)
{
	pld_buffer none[3] = { buffer_of(0), pld_alloc_window_buffer(PL_SHAPE(0, 4), PL_FP64),
			       buffer_of(0) };
	pld_tensor empty = pld_new_window(PL_SHAPE(3, 0, 2), PL_INT16), t;
	pl_tensor local = pl_wrap(NULL, PL_SHAPE(0), PL_INT32);

	for (int i = 0; i < 3; i++) {
		t = pld_window(none[i], PL_SHAPE(0), PL_INT32);
		expect_true(m, "a view", t.as_ != NULL);
		expect_status(m, "put", pld_put(t, multi_next(m), local), PL_OK);
		expect_status(m, "get", pld_get(local, multi_next(m), t), PL_OK);
	}
	expect_int(m, "elements of pld_all", 0, pl_count(pld_all(empty)), 0);
	expect_int(m, "first extent of pld_all", 0, pl_dim(pld_all(empty), 0), m->n);
	pl_set_errors(PL_ERRORS_RETURN);
	t = pld_window(none[0], PL_SHAPE(1), PL_UINT8);
	expect_true(m, "no view of a byte", t.as_ == NULL);
	expect_error(m, "view of a byte", PL_EINVAL, "a view of 1 bytes");
	pl_set_errors(PL_ERRORS_END);
	for (int i = 0; i < 3; i++)
		expect_status(m, "free", pld_free_window_buffer(none[i]), PL_OK);
	expect_status(m, "free", pld_free_window(empty), PL_OK);
}

/* ---- given back ------------------------------------------------------------------------------ */

/* Bytes that the segment has; between barriers nobody else changes it. */
static int64_t segment_bytes(const struct multi *m)
{
	struct stat st;

	pld_barrier(pld_world());
	if (fstat(pldi_self()->seg.fd, &st))
		multi_fail(m, "fstat of the segment");
	pld_barrier(pld_world());
	return (int64_t)st.st_blocks * 512;
}

static void expect_grown(const struct multi *m, const char *what, int64_t before, int64_t least)
{
	int64_t grown = segment_bytes(m) - before;

	if (grown < least || grown > least + m->n * 2 * PLDI_PAGE)
		multi_fail(
			m,
			"%s: the segment has grown by %lld bytes, wanted %lld and at most 2 pages "
			"a rank more",
			what, (long long)grown, (long long)least);
}

/* All of it, each time: large, odd, often; a host tensor has one slice only. */
static void given_back(const struct multi *m)
{
	static const int64_t large[] = { 20000, 8 << 20, (1 << 20) + 12345 };
	int64_t before;
	pl_tensor host;

	pld_free_window_buffer(buffer_of(20000)); /* the tables have what they need */
	before = segment_bytes(m);
	for (int i = 0; i < ROWS(large); i++) {
		pld_buffer b = buffer_of(large[i]);

		expect_grown(m, "with a buffer", before, large[i] * m->n);
		memset(slice(m, b), 1, (size_t)large[i]);
		pld_free_window_buffer(b);
		expect_int(m, "bytes after the free", i, segment_bytes(m), before);
	}
	for (int k = 0; k < 60; k++) {
		pld_buffer b = buffer_of(300000 + k), c = buffer_of(70000);

		memset(slice(m, b), 1, 300000);
		pld_free_window_buffer(k % 2 ? b : c);
		pld_free_window_buffer(k % 2 ? c : b);
	}
	expect_int(m, "bytes after 120 frees", 0, segment_bytes(m), before);
	host = pld_host_tensor(PL_SHAPE(1 << 20), PL_FP32);
	expect_grown(m, "with a host tensor", before, 4 << 20);
	pld_host_free(host);
	expect_int(m, "bytes after the host tensor", 0, segment_bytes(m), before);
}

/* Members of a domain have memory for its buffers, others not. */
static void only_members(const struct multi *m)
{
	enum { BYTES = 1 << 20 };
	pld_ctx half = pld_domain_split(pld_world(), m->me % 2 ? -1 : 0, m->me);
	int64_t before = segment_bytes(m), members = (m->n + 1) / 2;
	pld_tensor t = { NULL, NULL };

	if (pld_is_member(half)) {
		t = pld_new_window(PL_SHAPE(BYTES), PL_INT8, .domain = half);
		memset(pld_ptr(t, pld_rank(half)), 1, BYTES);
	}
	expect_grown(m, "with a buffer of half the ranks", before, BYTES * members);
	if (pld_is_member(half)) {
		pld_free_window(t);
		pld_domain_free(half);
	}
	expect_int(m, "bytes after the free", 0, segment_bytes(m), before);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "zeroed", zeroed, 0 },	 { "zeroed in pieces", zeroed_in_pieces, 0 },
		{ "neighbours", neighbours, 0 }, { "random life", random_life, 0 },
		{ "many small", many_small, 0 }, { "zero bytes", zero_bytes, 0 },
		{ "given back", given_back, 0 }, { "only members", only_members, 0 },
	};

	return multi_run("memory", cases, ROWS(cases));
}
