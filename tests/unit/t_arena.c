/* t_arena.c - lives of tiles: scopes however they are left, threads, a full arena, memory back. */
#include "config.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <pl.h>

#include "pldi_tile.h"
#include "unit.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
enum { SANITIZED = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) };
#else
enum { SANITIZED = 0 };
#endif

static pl_tile seven(void)
{
	return pl_full(PL_SHAPE(4), PL_INT32, 7);
}

static int lives(pl_tile t)
{
	return pldi_tile_check(t, "t", "here:1", "x") == PL_OK;
}

/* Words of /proc/self/statm: pages of address space, pages in memory. */
static long pages(int word)
{
	long v[2] = { 0, 0 };
	FILE *f = fopen("/proc/self/statm", "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%ld %ld", &v[0], &v[1]), 2);
	fclose(f);
	return v[word];
}

START_TEST(ends_with_scope)
{
	pl_tile outer = seven(), inner = { NULL, 0, 0 }, again;
	int32_t x[4] = { 0 };

	PL_SCOPE {
		inner = seven();
		ck_assert(lives(inner) && lives(outer));
	}
	ck_assert(lives(outer) && !lives(inner));
	expect_error("ended", PL_EINVAL, "t", "x is a tile whose scope has ended");
	/* a new scope of the same depth is another one, and takes the same memory */
	PL_SCOPE {
		again = seven();
		ck_assert_ptr_eq(again.t_, inner.t_);
		ck_assert(lives(again) && !lives(inner));
		ck_assert_int_eq(pl_store(inner, PL_AT(0), pl_wrap(x, PL_SHAPE(4), PL_INT32)),
				 PL_EINVAL);
		ck_assert_ptr_null(pl_add(inner, again).t_);
		ck_assert_ptr_null(pl_add(again, inner).t_);
		ck_assert_ptr_null(pl_cast(inner, PL_FP32).t_);
		ck_assert_int_eq(pl_assign(again, inner), PL_EINVAL);
		ck_assert_int_eq(pl_assign(inner, again), PL_EINVAL);
	}
	ck_assert_int_eq(x[0], 0);
}
END_TEST

START_TEST(nested)
{
	pl_tile t[3];

	PL_SCOPE {
		t[0] = seven();
		PL_SCOPE {
			t[1] = seven();
			PL_SCOPE {
				t[2] = seven();
				ck_assert(lives(t[0]) && lives(t[1]) && lives(t[2]));
			}
			ck_assert(lives(t[0]) && lives(t[1]) && !lives(t[2]));
		}
		/* made in the outer scope after the inner one */
		t[2] = seven();
		ck_assert(lives(t[0]) && !lives(t[1]) && lives(t[2]));
	}
	ck_assert(!lives(t[0]) && !lives(t[1]) && !lives(t[2]));
}
END_TEST

static pl_tile leave_by_return(void)
{
	PL_SCOPE {
		return seven();
	}
	return (pl_tile){ NULL, 0, 0 };
}

START_TEST(left_early)
{
	pl_tile by_break = { NULL, 0, 0 }, by_goto = by_break, by_return = by_break, after;

	PL_SCOPE {
		PL_SCOPE {
			by_break = seven();
			break;
		}
		ck_assert(lives(by_break));
		PL_SCOPE {
			by_goto = seven();
			goto out;
		}
	out:
		by_return = leave_by_return();
		after = seven();
		ck_assert(lives(by_break) && lives(by_goto) && lives(by_return) && lives(after));
		PL_SCOPE {
			after = seven();
		}
		ck_assert(lives(by_return) && !lives(after));
	}
	ck_assert(!lives(by_break) && !lives(by_goto) && !lives(by_return));
	/* nothing was left behind: the next tile is where the first one was */
	PL_SCOPE {
		ck_assert_ptr_eq(seven().t_, by_break.t_);
	}
}
END_TEST

/* A scope left again and again without an end around it: one clear error, no crash. */
START_TEST(too_deep)
{
	pl_status s = PL_OK;
	int n;

	for (n = 0; n < 2000000 && s == PL_OK; n++) {
		PL_SCOPE {
			s = pl_last_error()->status;
			break;
		}
	}
	ck_assert_int_eq(n, 1 << 20);
	expect_error("too deep", PL_ENOMEM, "PL_SCOPE", "1048576 scopes are open");
	ck_assert(lives(seven()));
}
END_TEST

static void *uses_others(void *arg)
{
	const pl_tile *t = arg;
	pl_tile own;
	int bad = lives(*t);

	PL_SCOPE {
		own = seven();
		bad |= lives(*t) << 1 | !lives(own) << 2;
	}
	return (void *)(intptr_t)bad;
}

START_TEST(other_thread)
{
	pl_tile t = { NULL, 0, 0 };
	void *bad;
	pthread_t thread;

	/* at depth 0 and 1, where the other thread has scopes too */
	for (int depth = 0; depth < 2; depth++) {
		struct pl_mark m = { 0, 0, 0, 0 };

		if (depth)
			m = pl_scope_enter("here:1");
		t = seven();
		ck_assert_int_eq(pthread_create(&thread, NULL, uses_others, &t), 0);
		pthread_join(thread, &bad);
		ck_assert_msg(bad == NULL, "depth %d: %d", depth, (int)(intptr_t)bad);
		ck_assert(lives(t));
		if (depth)
			pl_scope_leave(&m);
	}
}
END_TEST

/* A mark of another thread, or of a scope that an outer one ended, changes nothing. */
static void *leaves(void *arg)
{
	struct pl_mark m = *(struct pl_mark *)arg, outer, inner;
	pl_tile own[3];
	int lost;

	own[0] = seven();
	outer = pl_scope_enter("here:3");
	own[1] = seven();
	inner = pl_scope_enter("here:4");
	own[2] = seven();
	pl_scope_leave(&m);
	lost = !lives(own[0]) || !lives(own[1]) || !lives(own[2]) || m.live;
	pl_scope_leave(&inner);
	pl_scope_leave(&outer);
	return (void *)(intptr_t)lost;
}

START_TEST(strange_marks)
{
	struct pl_mark outer = pl_scope_enter("here:1"), inner = pl_scope_enter("here:2");
	pl_tile t;
	pthread_t thread;
	void *bad;

	ck_assert_int_eq(pthread_create(&thread, NULL, leaves, &inner), 0);
	pthread_join(thread, &bad);
	ck_assert_ptr_null(bad);
	pl_scope_leave(&outer);
	t = seven();
	pl_scope_leave(&inner);
	ck_assert(lives(t));
}
END_TEST

static void *takes_tiles(void *arg)
{
	PL_SCOPE {
		*(pl_tile *)arg = pl_full(PL_SHAPE(1 << 20), PL_INT8, 1);
	}
	return NULL;
}

START_TEST(threads_give_back)
{
	long before = 0;
	pthread_t thread;
	pl_tile t;

	for (int i = 0; i < 40; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, takes_tiles, &t), 0);
		pthread_join(thread, NULL);
		ck_assert_ptr_nonnull(t.t_);
		if (i == 4)
			before = pages(0);
	}
	/* 35 arenas of 1 GiB would be seen */
	ck_assert_int_lt((pages(0) - before) * sysconf(_SC_PAGESIZE), (long)512 << 20);
}
END_TEST

START_TEST(aligned)
{
	for (int n = 0; n < 200; n++)
		ck_assert_uint_eq((uintptr_t)pl_full(PL_SHAPE(n), PL_UINT8, n).t_->data % 64, 0);
}
END_TEST

START_TEST(memory_back)
{
	const long page = sysconf(_SC_PAGESIZE), before = pages(1);
	long inside = 0, after;

	if (SANITIZED)
		return; /* their shadow memory is counted too */
	PL_SCOPE {
		ck_assert_ptr_nonnull(pl_full(PL_SHAPE(300 << 20), PL_INT8, 1).t_);
		inside = pages(1);
	}
	after = pages(1);
	ck_assert_int_gt((inside - before) * page, (long)299 << 20);
	ck_assert_int_lt((after - before) * page, (long)80 << 20);
	/* 64 MiB stay, so that a loop over kernels does not fault its pages again and again */
	ck_assert_int_gt((after - before) * page, (long)50 << 20);
	/* and what comes back is usable */
	PL_SCOPE {
		ck_assert_ptr_nonnull(pl_full(PL_SHAPE(300 << 20), PL_INT8, 1).t_);
	}
	ck_assert_int_lt((pages(1) - before) * page, (long)80 << 20);
}
END_TEST

START_TEST(full)
{
	pl_tile t;

	setenv("PLD_ARENA_MB", "2", 1);
	/* just so much that data fits, but no head */
	ck_assert_ptr_null(pl_full(PL_SHAPE(2 << 20), PL_INT8, 1).t_);
	t = pl_full(PL_SHAPE(3 << 20), PL_INT8, 1);
	ck_assert_ptr_null(t.t_);
	expect_error("full", PL_ENOMEM, "pl_full", "a tile of 3145728 bytes, 2097152 of");
	expect_error("full", PL_ENOMEM, "pl_full", "PLD_ARENA_MB");
	expect_error("full", PL_ENOMEM, "pl_full", "pl_copy");
	t = pl_full(PL_SHAPE(1 << 20), PL_INT8, 1);
	ck_assert(lives(t));
	ck_assert_ptr_null(pl_full(PL_SHAPE(1 << 20), PL_INT8, 1).t_);
	ck_assert_ptr_null(pl_full(PL_SHAPE(INT64_MAX), PL_INT8, 1).t_);
	ck_assert_ptr_null(pl_full(PL_SHAPE(INT64_MAX - 60), PL_INT8, 1).t_);
	ck_assert(lives(t));
}
END_TEST

START_TEST(bad_parameter)
{
	setenv("PLD_ARENA_MB", "1GB", 1);
	ck_assert_ptr_null(seven().t_);
	expect_error("bad", PL_EINVAL, "pl_full", "PLD_ARENA_MB='1GB'");
	PL_SCOPE {
		ck_assert_ptr_null(seven().t_);
	}
}
END_TEST

/* ulimit -v: less address space than PLD_ARENA_MB wants. */
START_TEST(little_address_space)
{
	struct rlimit limit;
	long used = pages(0) * sysconf(_SC_PAGESIZE);

	if (SANITIZED)
		return; /* they have taken terabytes already */
	limit.rlim_cur = limit.rlim_max = (rlim_t)used + ((rlim_t)100 << 20);
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
	ck_assert(lives(pl_full(PL_SHAPE(1 << 20), PL_INT8, 1)));
	ck_assert_ptr_null(pl_full(PL_SHAPE(200 << 20), PL_INT8, 1).t_);
	expect_error("small", PL_ENOMEM, "pl_full", "of the arena's 67108864 bytes are free");
}
END_TEST

START_TEST(no_address_space)
{
	struct rlimit limit;
	pl_tile t;

	if (SANITIZED)
		return;
	ck_assert_int_eq(getrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_cur = (rlim_t)(pages(0) * sysconf(_SC_PAGESIZE)) + (1 << 18);
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
	t = seven();
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_AS, &limit);
	ck_assert_ptr_null(t.t_);
	expect_error("none", PL_ENOMEM, "pl_full", "no address space for a tile arena");
	/* no half of it stayed */
	ck_assert(lives(seven()));
}
END_TEST

static int asked;

static pl_status refuse(const char *call, const char *where)
{
	asked++;
	return pldi_fail(PL_ELEVEL, call, where, "not here");
}

static pl_status allow(const char *call, const char *where)
{
	(void)call;
	(void)where;
	asked++;
	return PL_OK;
}

START_TEST(gate)
{
	pl_tile a = seven(), null = { NULL, 0, 0 };
	int32_t x[4] = { 1, 2, 3, 4 };
	pl_tensor t = pl_wrap(x, PL_SHAPE(4), PL_INT32);

	pldi_tiles_gate(refuse);
	ck_assert_ptr_null(seven().t_);
	expect_error("gate", PL_ELEVEL, "pl_full", "not here");
	ck_assert_ptr_null(pl_load(t, PL_AT(0), PL_SHAPE(1)).t_);
	expect_error("gate", PL_ELEVEL, "pl_load", "not here");
	ck_assert_int_eq(pl_store(a, PL_AT(0), t), PL_ELEVEL);
	expect_error("gate", PL_ELEVEL, "pl_store", "not here");
	ck_assert_ptr_null(pl_max(a, a).t_);
	expect_error("gate", PL_ELEVEL, "pl_max", "not here");
	ck_assert_ptr_null(pl_min(a, 1).t_);
	expect_error("gate", PL_ELEVEL, "pl_min", "not here");
	ck_assert_ptr_null(pl_sub(null, 1.0).t_);
	expect_error("gate before null", PL_ELEVEL, "pl_sub", "not here");
	ck_assert_ptr_null(pl_cast(a, PL_FP32).t_);
	expect_error("gate", PL_ELEVEL, "pl_cast", "not here");
	ck_assert_int_eq(pl_assign(a, a), PL_ELEVEL);
	expect_error("gate", PL_ELEVEL, "pl_assign", "not here");
	ck_assert_int_eq(asked, 8);
	/* tensors are free of it */
	ck_assert_int_eq(pl_write(t, PL_AT(0), 5), PL_OK);
	ck_assert_int_eq(pl_copy(pl_slice(t, PL_AT(0), PL_SHAPE(2)),
				 pl_slice(t, PL_AT(2), PL_SHAPE(2))),
			 PL_OK);
	ck_assert_int_eq(asked, 8);
	pldi_tiles_gate(allow);
	ck_assert(lives(pl_add(a, 1)) && asked == 9);
	pldi_tiles_gate(NULL);
	ck_assert(lives(pl_add(a, 1)) && asked == 9);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, ends_with_scope);
	tcase_add_test(tc, nested);
	tcase_add_test(tc, left_early);
	tcase_add_test(tc, too_deep);
	tcase_add_test(tc, other_thread);
	tcase_add_test(tc, strange_marks);
	tcase_add_test(tc, threads_give_back);
	tcase_add_test(tc, aligned);
	tcase_add_test(tc, memory_back);
	tcase_add_test(tc, full);
	tcase_add_test(tc, bad_parameter);
	tcase_add_test(tc, little_address_space);
	tcase_add_test(tc, no_address_space);
	tcase_add_test(tc, gate);
}

int main(void)
{
	return unit_run("arena", add);
}
