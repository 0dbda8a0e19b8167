/* t_fingerprint.c - calls that are not the same have fingerprints that are not the same. */
#include "config.h"

#include <stdio.h>

#include "pldi_agree.h"
#include "ranks.h"

#define CALL(id, ...)                                                                              \
	{                                                                                          \
		.op = (id), .arg = { __VA_ARGS__ }                                                 \
	}

/* Of a call, without its number, which is the lower half. */
static uint32_t print_of(struct pldi_domain *d, const struct pldi_call *c)
{
	pldi_post(d, c, NULL, "a.c:1");
	if ((uint32_t)d->print != d->seq || d->flags[0].print[d->seq % 2] != d->print)
		ck_abort_msg("call %u: its number, and what others read", d->seq);
	return (uint32_t)(d->print >> 32);
}

static int by_value(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void all_different(uint32_t *print, size_t n, const char *what)
{
	qsort(print, n, sizeof(print[0]), by_value);
	for (size_t i = 1; i < n; i++)
		if (print[i] == print[i - 1])
			ck_abort_msg("%s: two of %zu are equal", what, n);
}

enum { BITS = 64 * PLDI_CALL_ARGS, USUAL_BITS = 48 };

/* What programs call: small numbers, and the largest; then any. */
static struct pldi_call some_call(int i, uint64_t *random)
{
	static const int64_t number[] = { 0, 1, 2, 64, 1000, 1 << 20, -1, INT64_MAX, INT64_MIN };
	struct pldi_call c = CALL(PLDI_CALL_ALLREDUCE, 0);

	for (int k = 0; k < PLDI_CALL_ARGS; k++)
		c.arg[k] = i < ROWS(number) ? number[i]
			   : i < 40	    ? number[next_random(random) % ROWS(number)]
					    : (int64_t)next_random(random);
	return c;
}

/*
 * A call, and those that differ from it in one bit of one argument; and those from each other, but
 * for bits that no count and no offset has.
 */
START_TEST(a_bit)
{
	struct pldi_domain *d = ranks_make(1, 0, 1 << 20)->world;
	uint64_t random = 99;

	for (int i = 0; i < 60; i++) {
		struct pldi_call c = some_call(i, &random);
		uint32_t usual[PLDI_CALL_ARGS * USUAL_BITS + 1], print;
		size_t n = 0;
		char what[40];

		snprintf(what, sizeof(what), "call %d", i);
		usual[n++] = print = print_of(d, &c);
		for (int bit = 0; bit < BITS; bit++) {
			uint32_t other;

			c.arg[bit / 64] ^= (int64_t)(UINT64_C(1) << bit % 64);
			other = print_of(d, &c);
			if (other == print)
				ck_abort_msg("%s, argument %d, bit %d", what, bit / 64, bit % 64);
			if (bit % 64 < USUAL_BITS)
				usual[n++] = other;
			c.arg[bit / 64] ^= (int64_t)(UINT64_C(1) << bit % 64);
		}
		all_different(usual, n, what);
	}
}
END_TEST

/* Equal but for the operation; and but for the order of two arguments. */
START_TEST(an_operation)
{
	struct pldi_domain *d = ranks_make(1, 0, 1 << 20)->world;
	uint32_t print[PLDI_OP_FIRST], swapped[PLDI_CALL_ARGS * PLDI_CALL_ARGS];
	struct pldi_call c = { .op = PLDI_CALL_NONE };
	size_t n = 0;

	for (uint32_t op = 0; op < PLDI_OP_FIRST; op++) {
		c.op = (enum pldi_opcode)op;
		print[op] = print_of(d, &c);
	}
	all_different(print, PLDI_OP_FIRST, "operations");
	for (int i = 0; i < PLDI_CALL_ARGS; i++)
		c.arg[i] = i;
	swapped[n++] = print_of(d, &c);
	for (int i = 0; i < PLDI_CALL_ARGS; i++)
		for (int k = 0; k < i; k++) {
			c.arg[i] = k;
			c.arg[k] = i;
			swapped[n++] = print_of(d, &c);
			c.arg[i] = i;
			c.arg[k] = k;
		}
	all_different(swapped, n, "order");
	/* the same call is the same, on whatever number */
	ck_assert_uint_eq(print_of(d, &c), print_of(d, &c));
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, a_bit);
	tcase_add_test(tc, an_operation);
}

int main(void)
{
	return unit_run("fingerprint", add);
}
