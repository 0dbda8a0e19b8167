/* t_view.c - views are made once, found again, and dead when their buffer is freed. */
#include "config.h"

#include <pld.h>

#include "../unit/unit.h"

#include "pldi_rank.h"
#include "pldi_window.h"

static struct pldi_memory *memory(void)
{
	return pldi_self()->memory;
}

static void start(void)
{
	ck_assert_int_eq(pld_init(NULL), PL_OK);
}

static void stop(void)
{
	ck_assert_int_eq(pld_finalize(), PL_OK);
}

/* As many views as are found in the buckets, each where its hash says: by looking for it. */
static size_t counted(void)
{
	size_t n = 0;

	for (size_t i = 0; i < memory()->nbuckets; i++)
		for (struct pldi_view *v = memory()->bucket[i]; v; v = v->in_bucket) {
			if (pldi_view_get(v->buffer, pldi_view_domain(&v->pub), v->pub.layout, "t",
					  NULL) != &v->pub)
				return 0;
			n++;
		}
	return n;
}

/* ---- interning ------------------------------------------------------------------------------- */

START_TEST(same_and_other)
{
	pld_buffer a = pld_alloc_window_buffer(.bytes = 4096),
		   b = pld_alloc_window_buffer(.bytes = 4096);
	pld_ctx one = pld_domain_split(pld_world(), 0, 0);
	pld_tensor v = pld_window(a, PL_SHAPE(4, 8), PL_FP32);

	/* the same: object and address */
	ck_assert_ptr_eq(pld_window(a, PL_SHAPE(4, 8), PL_FP32).as_, v.as_);
	ck_assert_ptr_eq(pld_window(a, PL_SHAPE(4, 8), PL_FP32, .domain = pld_world()).as_, v.as_);
	ck_assert_ptr_eq(pl_slice(v, PL_AT(0, 0), PL_SHAPE(4, 8)).as_, v.as_);
	/* at another offset it is the same object, for that is in the handle */
	ck_assert_ptr_eq(pld_window(a, PL_SHAPE(4, 8), PL_FP32, .offset_bytes = 128).as_, v.as_);
	ck_assert_ptr_eq(pld_window(a, PL_SHAPE(4, 8), PL_FP32, .offset_bytes = 128).at_,
			 (char *)v.at_ + 128);
	/* another shape, dtype, layout, buffer, domain */
	ck_assert_ptr_ne(pld_window(a, PL_SHAPE(8, 4), PL_FP32).as_, v.as_);
	ck_assert_ptr_ne(pld_window(a, PL_SHAPE(4, 8), PL_INT32).as_, v.as_);
	ck_assert_ptr_ne(pl_slice(v, PL_AT(0, 0), PL_SHAPE(4, 7)).as_, v.as_);
	ck_assert_ptr_ne(pld_window(b, PL_SHAPE(4, 8), PL_FP32).as_, v.as_);
	ck_assert_ptr_ne(pld_window(a, PL_SHAPE(4, 8), PL_FP32, .domain = one).as_, v.as_);
	ck_assert_ptr_eq(pld_window(a, PL_SHAPE(4, 8), PL_FP32, .domain = one).as_->domain, one.d_);
	ck_assert_uint_eq(counted(), memory()->nviews);
	stop();
}
END_TEST

/* The view of t[i], down to one dimension: what pl_at gives without looking for it. */
START_TEST(inner_chain)
{
	pld_buffer b = pld_alloc_window_buffer(.bytes = 1 << 16);
	pld_tensor v = pld_window(b, PL_SHAPE(2, 3, 2, 3, 2, 5), PL_INT16), w = v;
	int64_t off = 0;

	for (int dims = 6; dims > 1; dims--) {
		const struct pl_layout *l = w.as_->layout;
		int64_t last = l->dim[0] - 1;

		ck_assert_ptr_eq(w.as_->inner->layout, l->inner);
		ck_assert_ptr_eq(w.as_->inner->domain, v.as_->domain);
		ck_assert_ptr_eq(w.as_->inner->delta, v.as_->delta);
		off += last * l->stride[0] * 2;
		w = pl_at(w, last);
		ck_assert_int_eq(w.as_->layout->ndim, dims - 1);
		ck_assert_ptr_eq(w.at_, (char *)v.at_ + off);
		/* it is the object that asking for it gives */
		ck_assert_ptr_eq(w.as_,
				 pldi_view_get(pldi_view(v.as_)->buffer, pldi_view_domain(v.as_),
					       w.as_->layout, "t", NULL));
	}
	ck_assert_ptr_null(w.as_->inner);
	ck_assert_uint_eq(memory()->nviews, 6);
	stop();
}
END_TEST

/* Strided views have strided rows. */
START_TEST(inner_of_a_slice)
{
	pld_tensor v = pld_new_window(PL_SHAPE(6, 8), PL_INT32);
	pld_tensor part = pl_slice(v, PL_AT(1, 2), PL_SHAPE(4, 3)), row = pl_at(part, 2);

	for (int i = 0; i < 48; i++)
		pl_write(v, PL_AT(i / 8, i % 8), i);
	ck_assert(row.as_->layout->ndim == 1 && row.as_->layout->dim[0] == 3);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pl_read_int(row, PL_AT(i)), 3 * 8 + 2 + i);
	stop();
}
END_TEST

START_TEST(many)
{
	pld_buffer b = pld_alloc_window_buffer(.bytes = 1 << 20);
	static const struct pld_view_ *made[5000];
	int again = 0;

	for (int i = 0; i < ROWS(made); i++)
		made[i] = pld_window(b, PL_SHAPE(i + 1), PL_INT8).as_;
	ck_assert_uint_eq(memory()->nviews, ROWS(made));
	ck_assert(memory()->nbuckets >= memory()->nviews);
	ck_assert_uint_eq(counted(), memory()->nviews);
	for (int i = 0; i < ROWS(made); i++)
		again += pld_window(b, PL_SHAPE(i + 1), PL_INT8).as_ == made[i];
	ck_assert_int_eq(again, ROWS(made));
	pld_free_window_buffer(b);
	ck_assert_uint_eq(memory()->nviews, 0);
	ck_assert_uint_eq(counted(), 0);
	ck_assert_uint_eq(memory()->ndead, ROWS(made));
	stop();
}
END_TEST

/* As many domains as meet in every bucket: a view is of one of them. */
START_TEST(of_many_domains)
{
	pld_buffer b = pld_alloc_window_buffer(.bytes = 64);
	static pld_ctx domain[900];
	int right = 0;

	for (int i = 0; i < ROWS(domain); i++) {
		domain[i] = pld_domain_split(pld_world(), 0, 0);
		right += pld_window(b, PL_SHAPE(4), PL_INT32, .domain = domain[i]).as_->domain ==
			 domain[i].d_;
	}
	ck_assert_int_eq(right, ROWS(domain));
	ck_assert_uint_eq(memory()->nviews, ROWS(domain));
	stop();
}
END_TEST

/* ---- death ----------------------------------------------------------------------------------- */

static int is_dead(pld_tensor t, const char *text)
{
	return t.as_->layout->ndim == 0 && !t.as_->inner && pl_write(t, PL_AT(0), 1) == PL_EINVAL &&
	       strstr(pl_last_error()->text, text);
}

START_TEST(death)
{
	pld_buffer a = pld_alloc_window_buffer(.bytes = 64),
		   b = pld_alloc_window_buffer(.bytes = 64);
	pld_tensor of_a = pld_window(a, PL_SHAPE(2, 8), PL_INT32), row = pl_at(of_a, 1);
	pld_tensor part = pl_slice(of_a, PL_AT(0, 1), PL_SHAPE(2, 2));
	pld_tensor of_b = pld_window(b, PL_SHAPE(2, 8), PL_INT32), new;

	ck_assert_int_eq((pld_free_window_buffer)(a, "first.c:1"), PL_OK);
	ck_assert(is_dead(of_a, "window freed at first.c:1"));
	ck_assert(is_dead(row, "window freed at first.c:1"));
	ck_assert(is_dead(part, "window freed at first.c:1"));
	/* others live */
	ck_assert_int_eq(pl_write(of_b, PL_AT(1, 7), 5), PL_OK);
	/* a buffer in the same place has views of its own */
	a = pld_alloc_window_buffer(.bytes = 64);
	new = pld_window(a, PL_SHAPE(2, 8), PL_INT32);
	ck_assert_ptr_eq(new.at_, of_a.at_);
	ck_assert_ptr_ne(new.as_, of_a.as_);
	ck_assert(is_dead(of_a, "window freed at first.c:1"));
	ck_assert_int_eq(pl_write(new, PL_AT(1, 7), 5), PL_OK);
	ck_assert_uint_eq(counted(), memory()->nviews);
	ck_assert_int_eq((pld_finalize)("last.c:9"), PL_OK);
	ck_assert(is_dead(of_b, "window freed by pld_finalize at last.c:9"));
	ck_assert(is_dead(new, "window freed by pld_finalize at last.c:9"));
	ck_assert(is_dead(row, "window freed at first.c:1"));
}
END_TEST

/* A stale handle is an exact error for as many deaths as promised; then objects are used again. */
START_TEST(objects_again)
{
	pld_tensor first = { NULL, NULL }, w;
	size_t reused = 0;

	for (int i = 0; i < PLDI_DEAD_KEPT + 2000; i++) {
		w = pld_new_window(PL_SHAPE(4), PL_INT32);
		if (i == 0)
			first = w;
		if (w.as_ == first.as_)
			reused += i > 0;
		if ((pld_free_window)(w, i ? "other.c:2" : "first.c:1") ||
		    (reused && i < PLDI_DEAD_KEPT))
			ck_abort_msg("window %d", i);
		if (i == PLDI_DEAD_KEPT - 1)
			ck_assert(is_dead(first, "window freed at first.c:1"));
	}
	ck_assert_uint_gt(reused, 0);
	ck_assert(memory()->ndead <= PLDI_DEAD_KEPT + 2 && memory()->nfreed <= PLDI_DEAD_KEPT + 2);
	stop();
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_checked_fixture(tc, start, NULL);
	tcase_add_test(tc, same_and_other);
	tcase_add_test(tc, inner_chain);
	tcase_add_test(tc, inner_of_a_slice);
	tcase_add_test(tc, many);
	tcase_add_test(tc, of_many_domains);
	tcase_add_test(tc, death);
	tcase_add_test(tc, objects_again);
}

int main(void)
{
	return unit_run("view", add);
}
