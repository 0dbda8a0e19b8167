/* t_rma.c - moving boxes between layouts, whole and in blocks, and adding atomically, against loops
 * that go element by element. */
#include "config.h"

#include <math.h>
#include <pthread.h>

#include "../unit/unit.h"

#include "pldi_rma.h"

#define AREA (1 << 16) /* elements */

static const pl_dtype dtypes[] = { PL_FP64,  PL_FP32,  PL_FP16,	 PL_BF16,   PL_INT8,   PL_INT16,
				   PL_INT32, PL_INT64, PL_UINT8, PL_UINT16, PL_UINT32, PL_UINT64 };

/* ---- a random layout ------------------------------------------------------------------------- */

struct side {
	const struct pl_layout *layout;
	int64_t first; /* of the box, in elements from the area's start */
};

/*
 * Extents at least those of the box; dimensions in any order in memory, with gaps, some backwards.
 * zero: a stride may be 0 too, which only a source can have.
 */
static struct side random_side(uint64_t *random, pl_dtype dtype, const pl_dims *box, int zero)
{
	const int n = (int)box->n, shuffled = next_random(random) % 3 == 0;
	int64_t stride[PL_MAX_DIMS] = { 0 }, span = 1, low = 0;
	pl_dims shape = *box;
	int order[PL_MAX_DIMS]; /* innermost first */
	struct side s;

	for (int i = 0; i < n; i++)
		order[i] = n - 1 - i;
	for (int i = n - 1; shuffled && i > 0; i--) {
		int k = (int)(next_random(random) % (uint64_t)(i + 1)), swap = order[i];

		order[i] = order[k];
		order[k] = swap;
	}
	for (int i = 0; i < n; i++) {
		const int d = order[i];

		shape.d[d] += (int64_t)(next_random(random) % 3);
		stride[d] = span;
		span = span * (shape.d[d] ? shape.d[d] : 1) + (int64_t)(next_random(random) % 3);
		if (next_random(random) % 4 == 0) {
			stride[d] = -stride[d];
			low += stride[d] * (box->d[d] ? box->d[d] - 1 : 0);
		}
		if (zero && next_random(random) % 8 == 0)
			stride[d] = 0;
	}
	s.layout = pldi_layout_strided(dtype, &shape, stride, "t", NULL);
	s.first = -low;
	ck_assert_msg(s.layout && span - low < AREA, "span %lld", (long long)span);
	return s;
}

static pl_dims random_box(uint64_t *random)
{
	pl_dims box = { 1 + (int64_t)(next_random(random) % PL_MAX_DIMS), { 0 } };
	const uint64_t most = box.n <= 2 ? 40 : box.n <= 4 ? 6 : 2;

	for (int i = 0; i < box.n; i++)
		box.d[i] = (int64_t)(next_random(random) % most) + (next_random(random) % 20 != 0);
	return box;
}

static int64_t offset(const struct side *s, const int64_t *index, int n)
{
	int64_t off = s->first;

	for (int i = 0; i < n; i++)
		off += index[i] * s->layout->stride[i];
	return off;
}

static int next_index(int64_t *index, const pl_dims *box)
{
	for (int i = (int)box->n - 1; i >= 0; i--) {
		if (++index[i] < box->d[i])
			return 1;
		index[i] = 0;
	}
	return 0;
}

static int is_empty(const pl_dims *box)
{
	for (int i = 0; i < box->n; i++)
		if (box->d[i] == 0)
			return 1;
	return 0;
}

/* ---- moving ---------------------------------------------------------------------------------- */

static void fill(unsigned char *p, size_t bytes, uint64_t *random)
{
	for (size_t i = 0; i < bytes; i += 8) {
		uint64_t r = next_random(random);

		memcpy(p + i, &r, 8);
	}
}

START_TEST(moves)
{
	static unsigned char dst[AREA * 8], want[AREA * 8], src[AREA * 8];
	const pl_dtype dtype = dtypes[_i];
	const size_t bytes = pl_dtype_bytes(dtype);
	uint64_t random = 100 + (uint64_t)_i;

	fill(src, sizeof(src), &random);
	fill(dst, sizeof(dst), &random);
	memcpy(want, dst, sizeof(dst));
	for (int round = 0; round < 300; round++) {
		pl_dims box = random_box(&random);
		struct side to = random_side(&random, dtype, &box, 0);
		struct side from = random_side(&random, dtype, &box, 1);
		struct pldi_move m = { .dst_layout = to.layout,
				       .src_layout = from.layout,
				       .dst = dst + to.first * (int64_t)bytes,
				       .src = src + from.first * (int64_t)bytes,
				       .shape = box };
		int64_t index[PL_MAX_DIMS] = { 0 };

		if (round % 3) {
			m.chunk_rows = (int64_t)(next_random(&random) % 12);
			m.chunk_cols = (int64_t)(next_random(&random) % 12);
		}
		pldi_rma_move(&m);
		if (!is_empty(&box))
			do
				memcpy(want + offset(&to, index, (int)box.n) * (int64_t)bytes,
				       src + offset(&from, index, (int)box.n) * (int64_t)bytes,
				       bytes);
			while (next_index(index, &box));
		if (memcmp(dst, want, sizeof(dst)))
			ck_abort_msg("%s, round %d: %lld dimensions, chunks of %lld x %lld",
				     pl_dtype_name(dtype), round, (long long)box.n,
				     (long long)m.chunk_rows, (long long)m.chunk_cols);
	}
}
END_TEST

/* Long enough to go past the caches, at every alignment of the ends. */
START_TEST(long_moves)
{
	const size_t bytes = (13 << 20) + 64;
	unsigned char *src = malloc(bytes), *dst = malloc(bytes), *want = malloc(bytes);
	uint64_t random = 5;

	ck_assert(src && dst && want);
	fill(src, bytes - bytes % 8, &random);
	for (int shift = 0; shift < 20; shift += 3) {
		pl_dims box = { 1, { (13 << 20) + 5 - shift } };
		const struct pl_layout *l = pldi_layout_packed(PL_UINT8, &box, "t", NULL);

		memset(dst, 0x11, bytes);
		memcpy(want, dst, bytes);
		memcpy(want + shift, src + 2 * shift, (size_t)box.d[0]);
		pldi_rma_move(&(struct pldi_move){ .dst_layout = l,
						   .src_layout = l,
						   .dst = dst + shift,
						   .src = src + 2 * shift,
						   .shape = box });
		ck_assert_msg(memcmp(dst, want, bytes) == 0, "shift %d", shift);
	}
	free(src);
	free(dst);
	free(want);
}
END_TEST

/* ---- adding ---------------------------------------------------------------------------------- */

static int64_t wrapped(pl_dtype dtype, int64_t v)
{
	switch (dtype) {
	case PL_INT8:
		return (int8_t)v;
	case PL_UINT8:
		return (uint8_t)v;
	case PL_INT16:
		return (int16_t)v;
	case PL_UINT16:
		return (uint16_t)v;
	default:
		return v;
	}
}

static int is_float(pl_dtype dtype)
{
	return dtype < PL_INT8;
}

static int64_t element(pl_tensor t, int64_t i)
{
	return is_float(pl_dtype_of(t)) ? (int64_t)pl_read_float(t, PL_AT(i))
					: pl_read_int(t, PL_AT(i));
}

/* Small whole numbers, whose sums every dtype holds exactly, but for integers that wrap. */
START_TEST(adds)
{
	static _Alignas(64) unsigned char dst[AREA * 8], src[AREA * 8];
	static int64_t want[AREA], add[AREA];
	const pl_dtype dtype = dtypes[_i];
	const int64_t bytes = (int64_t)pl_dtype_bytes(dtype);
	pl_tensor d = pl_wrap(dst, PL_SHAPE(AREA), dtype), s = pl_wrap(src, PL_SHAPE(AREA), dtype);
	uint64_t random = 200 + (uint64_t)_i;
	int signed_ = dtype < PL_UINT8;

	for (int64_t i = 0; i < AREA; i++) {
		add[i] = (int64_t)(next_random(&random) % 7) - 3 * signed_;
		want[i] = (int64_t)(next_random(&random) % 60);
		pl_write(s, PL_AT(i), add[i]);
		pl_write(d, PL_AT(i), want[i]);
	}
	for (int round = 0; round < 30; round++) {
		pl_dims box = random_box(&random);
		struct side to = random_side(&random, dtype, &box, 0);
		struct side from = random_side(&random, dtype, &box, 1);
		int64_t index[PL_MAX_DIMS] = { 0 };

		pldi_rma_move(&(struct pldi_move){ .dst_layout = to.layout,
						   .src_layout = from.layout,
						   .dst = dst + to.first * bytes,
						   .src = src + from.first * bytes,
						   .shape = box,
						   .chunk_rows = round % 3,
						   .chunk_cols = round % 5,
						   .atomic = PLD_ATOMIC_ADD });
		if (!is_empty(&box))
			do
				want[offset(&to, index, (int)box.n)] +=
					add[offset(&from, index, (int)box.n)];
			while (next_index(index, &box));
	}
	for (int64_t i = 0; i < AREA; i++)
		if (element(d, i) != wrapped(dtype, want[i]))
			ck_abort_msg("%s, element %lld: %lld, wanted %lld", pl_dtype_name(dtype),
				     (long long)i, (long long)element(d, i), (long long)want[i]);
}
END_TEST

/* Threads that add 1 and take it off again, at once: none of it is lost to another. */
struct adders {
	pl_dtype dtype;
	_Alignas(64) unsigned char cells[64 * 8];
	_Alignas(64) unsigned char ones[64 * 8], less[64 * 8];
	pthread_barrier_t start;
};

static void *add_and_take(void *arg)
{
	struct adders *a = arg;
	const struct pl_layout *l = pldi_layout_packed(a->dtype, PL_SHAPE(64), "t", NULL);

	pthread_barrier_wait(&a->start);
	for (int i = 0; i < 2000; i++)
		pldi_rma_move(&(struct pldi_move){ .dst_layout = l,
						   .src_layout = l,
						   .dst = a->cells,
						   .src = i % 2 ? a->less : a->ones,
						   .shape = { 1, { 64 } },
						   .atomic = PLD_ATOMIC_ADD });
	return NULL;
}

START_TEST(adds_of_threads)
{
	enum { THREADS = 4 };
	struct adders a = { .dtype = dtypes[_i] };
	pl_tensor cells = pl_wrap(a.cells, PL_SHAPE(64), a.dtype);
	pl_tensor ones = pl_wrap(a.ones, PL_SHAPE(64), a.dtype);
	pl_tensor less = pl_wrap(a.less, PL_SHAPE(64), a.dtype);
	pthread_t thread[THREADS];

	memset(a.less, 0xff, sizeof(a.less)); /* -1 of every integer */
	for (int64_t i = 0; i < 64; i++) {
		pl_write(cells, PL_AT(i), i);
		pl_write(ones, PL_AT(i), 1);
		if (is_float(a.dtype))
			pl_write(less, PL_AT(i), -1.0);
	}
	pthread_barrier_init(&a.start, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, add_and_take, &a), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&a.start);
	for (int64_t i = 0; i < 64; i++)
		if (element(cells, i) != i)
			ck_abort_msg("%s, cell %lld: %lld", pl_dtype_name(a.dtype), (long long)i,
				     (long long)element(cells, i));
}
END_TEST

/* A NaN is never equal to itself: an addition to it ends all the same. */
START_TEST(adds_to_nan)
{
	if (!is_float(dtypes[_i]))
		return;
	_Alignas(8) unsigned char cells[4 * 8] = { 0 }, two[4 * 8] = { 0 };
	pl_tensor c = pl_wrap(cells, PL_SHAPE(4), dtypes[_i]),
		  t = pl_wrap(two, PL_SHAPE(4), dtypes[_i]);
	const struct pl_layout *l = c.as_;

	pl_write(c, PL_AT(0), (double)NAN);
	pl_write(c, PL_AT(1), (double)INFINITY);
	pl_write(c, PL_AT(2), -0.0);
	for (int i = 0; i < 4; i++)
		pl_write(t, PL_AT(i), i == 1 ? (double)-INFINITY : i == 2 ? -0.0 : 2.0);
	pldi_rma_move(&(struct pldi_move){ .dst_layout = l,
					   .src_layout = l,
					   .dst = cells,
					   .src = two,
					   .shape = { 1, { 4 } },
					   .atomic = PLD_ATOMIC_ADD });
	ck_assert(isnan(pl_read_float(c, PL_AT(0))) && isnan(pl_read_float(c, PL_AT(1))));
	ck_assert(pl_read_float(c, PL_AT(2)) == 0 && signbit(pl_read_float(c, PL_AT(2))));
	ck_assert(pl_read_float(c, PL_AT(3)) == 2);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, moves, 0, ROWS(dtypes));
	tcase_add_test(tc, long_moves);
	tcase_add_loop_test(tc, adds, 0, ROWS(dtypes));
	tcase_add_loop_test(tc, adds_of_threads, 0, ROWS(dtypes));
	tcase_add_loop_test(tc, adds_to_nan, 0, ROWS(dtypes));
}

int main(void)
{
	return unit_run("rma", add);
}
