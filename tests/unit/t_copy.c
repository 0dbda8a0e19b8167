/* t_copy.c - runs and copies of boxes with any strides against element by element; overlap. */
#include "config.h"

#include <stdio.h>

#include <pl.h>

#include "pldi_copy.h"
#include "unit.h"

/* Two layouts of one box; how many runs of how many elements it must become. */
static const struct {
	const char *name;
	pl_dims shape;
	int64_t dst[PL_MAX_DIMS], src[PL_MAX_DIMS];
	int outer;
	int64_t run_elems;
} plans[] = {
	{ "one element", { 3, { 1, 1, 1 } }, { 9, 9, 9 }, { 5, 5, 5 }, 0, 1 },
	{ "packed", { 3, { 2, 3, 4 } }, { 12, 4, 1 }, { 12, 4, 1 }, 0, 24 },
	{ "rows", { 2, { 3, 4 } }, { 10, 1 }, { 4, 1 }, 1, 4 },
	{ "planes of whole rows", { 3, { 2, 3, 4 } }, { 50, 4, 1 }, { 12, 4, 1 }, 1, 12 },
	{ "rows of planes", { 3, { 2, 3, 4 } }, { 24, 8, 1 }, { 36, 12, 1 }, 1, 4 },
	{ "column", { 2, { 5, 1 } }, { 7, 1 }, { 1, 1 }, 1, 1 },
	{ "transposed", { 2, { 3, 4 } }, { 4, 1 }, { 1, 3 }, 2, 1 },
	{ "backwards", { 1, { 6 } }, { 1 }, { -1 }, 1, 1 },
	{ "rows backwards", { 2, { 3, 4 } }, { 4, 1 }, { -4, 1 }, 1, 4 },
	{ "both backwards", { 2, { 3, 4 } }, { -4, -1 }, { -4, -1 }, 1, 1 },
	{ "one row to all", { 2, { 3, 4 } }, { 4, 1 }, { 0, 1 }, 1, 4 },
	{ "one element to all", { 2, { 3, 4 } }, { 4, 1 }, { 0, 0 }, 1, 1 },
	{ "seven",
	  { 7, { 2, 2, 2, 2, 2, 2, 2 } },
	  { 64, 32, 16, 8, 4, 2, 1 },
	  { 1, 2, 4, 8, 16, 32, 64 },
	  7,
	  1 },
	{ "seven packed",
	  { 7, { 2, 1, 2, 3, 1, 2, 2 } },
	  { 24, 9, 12, 4, 7, 2, 1 },
	  { 24, 8, 12, 4, 3, 2, 1 },
	  0,
	  48 },
	{ "extent 1 between", { 3, { 2, 1, 4 } }, { 4, 99, 1 }, { 4, 77, 1 }, 0, 8 },
	{ "empty", { 2, { 0, 4 } }, { 4, 1 }, { 4, 1 }, 0, 0 },
	{ "empty inside", { 2, { 4, 0 } }, { 4, 1 }, { 4, 1 }, 0, 0 },
};

enum { SPACE = 1024 }; /* elements of each side; boxes begin in the middle */

static void each_elem(char *dst, const char *src, int i, const pl_dims *shape, const int64_t *ds,
		      const int64_t *ss, size_t bytes)
{
	if (i == shape->n) {
		memcpy(dst, src, bytes);
		return;
	}
	for (int64_t k = 0; k < shape->d[i]; k++)
		each_elem(dst + k * ds[i] * (int64_t)bytes, src + k * ss[i] * (int64_t)bytes, i + 1,
			  shape, ds, ss, bytes);
}

static void count_run(void *dst, const void *src, int64_t n, void *arg)
{
	(void)dst;
	(void)src;
	((int64_t *)arg)[0]++;
	((int64_t *)arg)[1] += n;
}

START_TEST(plan)
{
	static const pl_dtype of_bytes[] = { PL_INT8, PL_BF16, PL_FP32, PL_UINT64 };

	for (int k = 0; k < 4; k++) {
		const pl_dims *shape = &plans[_i].shape;
		const struct pl_layout *d =
			pldi_layout_strided(of_bytes[k], shape, plans[_i].dst, "t", NULL);
		const struct pl_layout *s =
			pldi_layout_strided(of_bytes[k], shape, plans[_i].src, "t", NULL);
		const size_t bytes = (size_t)d->elem_bytes;
		static char src[8 * SPACE], got[8 * SPACE], want[8 * SPACE];
		int64_t runs[2] = { 0, 0 };
		struct pldi_runs r;

		for (size_t i = 0; i < sizeof(src); i++)
			src[i] = (char)(i * 7 + i / 251);
		memset(got, 0x33, sizeof(got));
		memset(want, 0x33, sizeof(want));
		pldi_runs_plan(&r, d, s, shape);
		ck_assert_msg(r.run_elems == plans[_i].run_elems, "%s: runs of %lld elements",
			      plans[_i].name, (long long)r.run_elems);
		ck_assert_msg(!r.run_elems || r.outer == plans[_i].outer, "%s: %d loops",
			      plans[_i].name, r.outer);
		pldi_runs_each(&r, got, src, count_run, runs);
		ck_assert_msg(runs[1] == d->count && runs[0] * r.run_elems == d->count,
			      "%s: %lld runs", plans[_i].name, (long long)runs[0]);
		pldi_copy_box(got + SPACE / 2 * bytes, d, src + SPACE / 2 * bytes, s, shape);
		each_elem(want + SPACE / 2 * bytes, src + SPACE / 2 * bytes, 0, shape, d->stride,
			  s->stride, bytes);
		ck_assert_msg(!memcmp(got, want, sizeof(got)), "%s, %zu bytes an element",
			      plans[_i].name, bytes);
	}
}
END_TEST

/* A box smaller than the layouts, as put and load have it. */
START_TEST(boxes)
{
	uint64_t state = 7;

	for (int round = 0; round < 3000; round++) {
		static int16_t src[4096], got[4096], want[4096];
		pl_dims dd = { 1 + (int64_t)(next_random(&state) % 4), { 0 } }, sd, box;
		const struct pl_layout *d, *s;
		int64_t d_off = 0, s_off = 0;

		sd = box = dd;
		for (int i = 0; i < dd.n; i++) {
			const uint64_t u = next_random(&state);

			box.d[i] = (int64_t)(u % 5);
			dd.d[i] = box.d[i] + (int64_t)(u >> 8 & 1) * (int64_t)(u >> 16 & 3);
			sd.d[i] = box.d[i] + (int64_t)(u >> 9 & 1) * (int64_t)(u >> 24 & 3);
		}
		d = pldi_layout_packed(PL_INT16, &dd, "t", NULL);
		s = pldi_layout_packed(PL_INT16, &sd, "t", NULL);
		for (int i = 0; i < dd.n; i++) {
			d_off += (dd.d[i] - box.d[i]) * d->stride[i];
			s_off += (sd.d[i] - box.d[i]) * s->stride[i];
		}
		for (int i = 0; i < 4096; i++)
			src[i] = (int16_t)next_random(&state);
		memset(got, 0, sizeof(got));
		memset(want, 0, sizeof(want));
		if (d_off >= 4096 || s_off >= 4096)
			continue;
		pldi_copy_box(got + d_off, d, src + s_off, s, &box);
		each_elem((char *)(want + d_off), (char *)(src + s_off), 0, &box, d->stride,
			  s->stride, 2);
		ck_assert_msg(!memcmp(got, want, sizeof(got)), "round %d", round);
	}
}
END_TEST

static pl_tensor view(pl_tensor t, int64_t i, int64_t j, int64_t m, int64_t n)
{
	return pl_slice(t, PL_AT(i, j), PL_SHAPE(m, n));
}

START_TEST(copy)
{
	int32_t x[30], y[30] = { 0 };
	pl_tensor a = pl_wrap(x, PL_SHAPE(5, 6), PL_INT32);
	pl_tensor b = pl_wrap(y, PL_SHAPE(5, 6), PL_INT32);

	for (int i = 0; i < 30; i++)
		x[i] = i + 1;
	ck_assert_int_eq(pl_copy(view(b, 0, 0, 2, 3), view(a, 3, 3, 2, 3)), PL_OK);
	ck_assert(y[0] == 22 && y[2] == 24 && y[3] == 0 && y[6] == 28 && y[8] == 30 && y[9] == 0);
	ck_assert_int_eq(pl_copy(b, a), PL_OK);
	ck_assert(!memcmp(x, y, sizeof(x)));
	ck_assert_int_eq(pl_copy(view(b, 5, 6, 0, 0), view(a, 0, 0, 0, 0)), PL_OK);
	ck_assert_int_eq(pl_copy(view(b, 0, 0, 2, 3), view(a, 0, 0, 3, 2)), PL_EINVAL);
	expect_error("shape", PL_EINVAL, "pl_copy", "dst has shape (2, 3), src (3, 2)");
	ck_assert_int_eq(pl_copy(pl_wrap(y, PL_SHAPE(5, 6), PL_FP32), a), PL_EINVAL);
	expect_error("dtype", PL_EINVAL, "pl_copy", "dst is FP32, src INT32");
	ck_assert_int_eq(pl_copy(pl_at(b, 0), a), PL_EINVAL);
	expect_error("dimensions", PL_EINVAL, "pl_copy", "dst has shape (6), src (5, 6)");
	ck_assert_int_eq(pl_copy(a, a), PL_EINVAL);
	expect_error("itself", PL_EINVAL, "pl_copy", "overlap");
}
END_TEST

START_TEST(overlap_packed)
{
	char x[64];

	for (int off = 0; off < 24; off++) {
		pl_tensor a = pl_wrap(x, PL_SHAPE(3), PL_INT32);
		pl_tensor b = pl_wrap(x + off, PL_SHAPE(3), PL_INT32);

		ck_assert_int_eq(pldi_overlap(a.at_, a.as_, b.at_, b.as_), off < 12);
		ck_assert_int_eq(pldi_overlap(b.at_, b.as_, a.at_, a.as_), off < 12);
	}
}
END_TEST

/* All pairs of equal boxes in one small tensor: the answer is that of a set of elements. */
START_TEST(overlap_views)
{
	enum { M = 5, N = 6 };
	int8_t x[M * N];
	pl_tensor t = pl_wrap(x, PL_SHAPE(M, N), PL_INT8);

	for (int m = 0; m <= M; m++)
		for (int n = 0; n <= N; n++)
			for (int a = 0; a < (M + 1 - m) * (N + 1 - n); a++)
				for (int b = 0; b < (M + 1 - m) * (N + 1 - n); b++) {
					const int w = N + 1 - n, ai = a / w, aj = a % w;
					const int bi = b / w, bj = b % w;
					pl_tensor p = view(t, ai, aj, m, n),
						  q = view(t, bi, bj, m, n);
					const int want = m && n && abs(ai - bi) < m &&
							 abs(aj - bj) < n;

					ck_assert_msg(pldi_overlap(p.at_, p.as_, q.at_, q.as_) ==
							      want,
						      "(%d, %d) and (%d, %d) of shape (%d, %d)", ai,
						      aj, bi, bj, m, n);
				}
}
END_TEST

/* Whatever the strides: never 1 for disjoint tensors. */
START_TEST(overlap_never_wrong)
{
	uint64_t state = 11;
	int seen = 0, missed = 0;

	for (int round = 0; round < 200000; round++) {
		static int16_t memory[256];
		unsigned char used[256] = { 0 };
		const struct pl_layout *l[2];
		const int16_t *at[2];
		int shared = 0, said;

		for (int k = 0; k < 2; k++) {
			pl_dims shape = { 1 + (int64_t)(next_random(&state) % 3), { 0 } };
			int64_t stride[3];

			for (int i = 0; i < shape.n; i++) {
				const uint64_t u = next_random(&state);

				shape.d[i] = (int64_t)(u % 4);
				stride[i] = (int64_t)(u >> 8 & 15) - 7;
			}
			l[k] = pldi_layout_strided(PL_INT16, &shape, stride, "t", NULL);
			at[k] = memory + 100 + next_random(&state) % 32;
		}
		for (int k = 0; k < 2; k++)
			for (int64_t e = 0; e < l[k]->count; e++) {
				int64_t off = at[k] - memory, rest = e;

				for (int i = l[k]->ndim - 1; i >= 0; i--) {
					off += rest % l[k]->dim[i] * l[k]->stride[i];
					rest /= l[k]->dim[i];
				}
				shared |= k == 1 && used[off] & 1;
				used[off] |= (unsigned char)(k + 1);
			}
		said = pldi_overlap(at[0], l[0], at[1], l[1]);
		ck_assert_msg(!said || shared, "round %d: disjoint, but said to overlap", round);
		seen += said;
		missed += shared && !said;
	}
	/* and it is not just always 0 */
	ck_assert_msg(seen > 4 * missed, "%d overlaps seen, %d missed", seen, missed);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, plan, 0, ROWS(plans));
	tcase_add_test(tc, boxes);
	tcase_add_test(tc, copy);
	tcase_add_test(tc, overlap_packed);
	tcase_add_test(tc, overlap_views);
	tcase_add_test(tc, overlap_never_wrong);
}

int main(void)
{
	return unit_run("copy", add);
}
