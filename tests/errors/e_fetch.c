/*
 * e_fetch.c - wrong arguments of the changes of one element, of pld_mapped and pld_get_stats; not a
 * bit changes.
 */
#include "config.h"

#include "errors.h"

#define FILL 77

typedef int64_t fetch_fn(pld_tensor t, int peer, const pl_dims *at, int64_t value,
			 const char *where);

static const struct {
	const char *name;
	fetch_fn *fn;
} calls[] = {
	{ "pld_fetch_add", pld_fetch_add }, { "pld_fetch_and", pld_fetch_and },
	{ "pld_fetch_or", pld_fetch_or },   { "pld_fetch_xor", pld_fetch_xor },
	{ "pld_swap", pld_swap },
};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

/* What an error leaves: 0, which no element here holds. */
static int status_of(int64_t old)
{
	return old ? 0 : (int)pl_last_error()->status;
}

/* All six calls with the same arguments; the errors differ in the call's name. */
#define ALL_FAIL(t, peer, at, value, text)                                                         \
	do {                                                                                       \
		for (int c_ = 0; c_ < CALLS; c_++)                                                 \
			FAILS(status_of(calls[c_].fn((t), (peer), (at), (value), PL_WHERE)),       \
			      PL_EINVAL, calls[c_].name, (text));                                  \
		FAILS(status_of(pld_compare_swap((t), (peer), (at), (value), (value))), PL_EINVAL, \
		      "pld_compare_swap", (text));                                                 \
	} while (0)

struct stage {
	pld_tensor w; /* (2, 8) of INT32 */
	int n;
};

static void peers(const struct stage *s)
{
	const int far[] = { -1, s->n, INT32_MAX, INT32_MIN };
	char text[80];

	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		snprintf(text, sizeof(text), "peer %d; the window's domain has ranks 0 to %d",
			 far[i], s->n - 1);
		ALL_FAIL(s->w, far[i], PL_AT(0, 0), 1, text);
		FAILS(pld_mapped(pld_get_comm_ctx(s->w), far[i]), PL_EINVAL, "pld_mapped", text);
	}
}

static void indices(const struct stage *s)
{
	ALL_FAIL(s->w, 0, PL_AT(2, 0), 1, "element: index (2, 0) outside shape (2, 8)");
	ALL_FAIL(s->w, 0, PL_AT(0, 8), 1, "element: index (0, 8) outside shape (2, 8)");
	ALL_FAIL(s->w, 0, PL_AT(-1, 0), 1, "element: index (-1, 0) outside shape (2, 8)");
	ALL_FAIL(s->w, 0, PL_AT(0), 1, "element: index (0) has 1 dimension, shape (2, 8) has 2");
	ALL_FAIL(s->w, 0, NULL, 1, "element: no index given");
}

/* ---- dtypes and values ----------------------------------------------------------------------- */

static void floating(void)
{
	static const pl_dtype dtypes[] = { PL_FP64, PL_FP32, PL_FP16, PL_BF16 };
	char text[120];

	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		pld_tensor f = pld_new_window(PL_SHAPE(1), dtypes[i]);

		snprintf(text, sizeof(text),
			 "the window is of %s; allowed: INT8, INT16, INT32, INT64, UINT8, UINT16, "
			 "UINT32, UINT64",
			 pl_dtype_name(dtypes[i]));
		ALL_FAIL(f, 0, PL_AT(0), 1, text);
		/* no bit of anything: 0 still */
		HOLDS(pl_read_float(f, PL_AT(0)) == 0);
		WORKS(pld_free_window(f));
	}
}

static const struct {
	pl_dtype dtype;
	int64_t low, high;
} ranges[] = {
	{ PL_INT8, -128, 255 },
	{ PL_UINT8, -128, 255 },
	{ PL_INT16, -32768, 65535 },
	{ PL_UINT16, -32768, 65535 },
	{ PL_INT32, INT32_MIN, UINT32_MAX },
	{ PL_UINT32, INT32_MIN, UINT32_MAX },
};

static void value_range(int i)
{
	pld_tensor w = pld_new_window(PL_SHAPE(1), ranges[i].dtype);
	const int64_t outside[] = { ranges[i].low - 1, ranges[i].high + 1, INT64_MIN, INT64_MAX };
	const int64_t inside[] = { ranges[i].low, ranges[i].high, -1, 0 };
	const int me = pld_rank(pld_world());
	char value[160], expected[200];

	pl_write(w, PL_AT(0), 5);
	for (int k = 0; k < 4; k++) {
		snprintf(value, sizeof(value),
			 "value %lld does not fit the %d bits of %s; allowed: %lld to %lld",
			 (long long)outside[k], 8 * (int)pl_dtype_bytes(ranges[i].dtype),
			 pl_dtype_name(ranges[i].dtype), (long long)ranges[i].low,
			 (long long)ranges[i].high);
		snprintf(expected, sizeof(expected), "expected%s", value + strlen("value"));
		for (int c = 0; c < CALLS; c++)
			FAILS(status_of(calls[c].fn(w, 0, PL_AT(0), outside[k], PL_WHERE)),
			      PL_EINVAL, calls[c].name, value);
		FAILS(status_of(pld_compare_swap(w, 0, PL_AT(0), 5, outside[k])), PL_EINVAL,
		      "pld_compare_swap", value);
		FAILS(status_of(pld_compare_swap(w, 0, PL_AT(0), outside[k], 6)), PL_EINVAL,
		      "pld_compare_swap", expected);
	}
	HOLDS(pl_read_int(w, PL_AT(0)) == 5);
	for (int k = 0; k < 4; k++) {
		HOLDS(pld_swap(w, me, PL_AT(0), inside[k]) == 5);
		pld_compare_swap(w, me, PL_AT(0), inside[k], 5);
	}
	WORKS(pld_free_window(w));
}

/* Of 64 bits every number is one. */
static void no_range(void)
{
	static const pl_dtype dtypes[] = { PL_INT64, PL_UINT64 };

	for (int i = 0; i < 2; i++) {
		pld_tensor w = pld_new_window(PL_SHAPE(1), dtypes[i]);
		const int me = pld_rank(pld_world());

		pl_write(w, PL_AT(0), 5);
		HOLDS(pld_swap(w, me, PL_AT(0), INT64_MIN) == 5);
		HOLDS(pld_swap(w, me, PL_AT(0), -1) == INT64_MIN);
		HOLDS(pld_compare_swap(w, me, PL_AT(0), -1, INT64_MAX) == -1);
		HOLDS(pld_fetch_add(w, me, PL_AT(0), 1) == INT64_MAX);
		HOLDS(pld_fetch_or(w, me, PL_AT(0), 0) == INT64_MIN);
		WORKS(pld_free_window(w));
	}
}

/* ---- handles --------------------------------------------------------------------------------- */

static const pld_tensor no_window;

static void null_add(void)
{
	FAILS(status_of(pld_fetch_add(no_window, 0, PL_AT(0), 1)), PL_EINVAL, "pld_fetch_add",
	      "window is null");
}

static void null_compare_swap(void)
{
	FAILS(status_of(pld_compare_swap(no_window, 0, PL_AT(0), 1, 1)), PL_EINVAL,
	      "pld_compare_swap", "window is null");
}

static void null_context(void)
{
	FAILS(pld_mapped((pld_ctx){ NULL }, 0), PL_EINVAL, "pld_mapped", "the context is null");
}

static void freed(void)
{
	pld_tensor w = pld_new_window(PL_SHAPE(2), PL_INT32), v;
	pld_ctx other = pld_domain_split(pld_world(), 0, 0);
	pld_buffer b = pld_alloc_window_buffer(PL_SHAPE(2), PL_INT32);

	/* a null handle carries the error that it was born of */
	v = pl_slice(w, PL_AT(0), PL_SHAPE(9));
	PASSES_ON(status_of(pld_swap(v, 0, PL_AT(0), 1)), PL_EINVAL);
	place(PL_WHERE), WORKS(pld_free_window(w));
	ALL_FAIL(w, 0, PL_AT(0), 1, "window: window freed at @");

	v = pld_window(b, PL_SHAPE(2), PL_INT32, .domain = other);
	place(PL_WHERE), WORKS(pld_domain_free(other));
	ALL_FAIL(v, 0, PL_AT(0), 1, "window: its domain was freed at @");
	FAILS(pld_mapped(other, 0), PL_EINVAL, "pld_mapped", "the domain was freed at @");
	WORKS(pld_free_window_buffer(b));
}

/* ---- levels ---------------------------------------------------------------------------------- */

static void at_host(const struct stage *s)
{
	for (int c = 0; c < CALLS; c++)
		FAILS(status_of(calls[c].fn(s->w, 0, PL_AT(0, 0), 1, PL_WHERE)), PL_ELEVEL,
		      calls[c].name,
		      "not allowed at host level, which began at @; here: memory, domains, "
		      "collectives and PLD_DISPATCH");
	HOLDS(pld_mapped(pld_world(), s->n - 1) == 1);
}

static void in_core(const struct stage *s)
{
	const int me = pld_rank(pld_world());

	HOLDS(pld_fetch_add(s->w, me, PL_AT(1, 7), 3) == FILL);
	HOLDS(pld_fetch_add(s->w, me, PL_AT(1, 7), -3) == FILL + 3);
}

static void device(const struct stage *s)
{
	PLD_INCORE(in_core(s));
}

static void host(const struct stage *s)
{
	at_host(s);
	for (int r = 0; r < s->n; r++)
		PLD_DISPATCH(r, device(s));
}

/* ---- counters -------------------------------------------------------------------------------- */

static void stats(void)
{
	struct pld_stats x = { .waits = 5 };
	char text[120];

	snprintf(text, sizeof(text),
		 "a struct of %zu bytes; this library's struct pld_stats has %zu", sizeof(x) + 8,
		 sizeof(x));
	FAILS((pld_get_stats)(&x, sizeof(x) + 8, PL_WHERE), PL_EINVAL, "pld_get_stats", text);
	snprintf(text, sizeof(text), "a struct of 0 bytes; this library's struct pld_stats has %zu",
		 sizeof(x));
	FAILS((pld_get_stats)(&x, 0, PL_WHERE), PL_EINVAL, "pld_get_stats", text);
	snprintf(text, sizeof(text),
		 "a null pointer of %zu bytes; this library's struct pld_stats has %zu", sizeof(x),
		 sizeof(x));
	FAILS(pld_get_stats(NULL), PL_EINVAL, "pld_get_stats", text);
	FAILS(pld_get_stats(&x), PL_EINVAL, "pld_get_stats",
	      "nothing is counted; pldrun --stats, or .counters = PLD_COUNTERS_ON in pld_config, "
	      "switches it on");
	HOLDS(x.waits == 5);
}

static void rows(int me, int n)
{
	struct stage s = { .w = pld_new_window(PL_SHAPE(2, 8), PL_INT32), .n = n };

	(void)me;
	for (int i = 0; i < 16; i++)
		pl_write(s.w, PL_AT(i / 8, i % 8), FILL);
	pld_barrier(pld_world());
	peers(&s);
	indices(&s);
	floating();
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		value_range((int)i);
	no_range();
	errors_fresh(null_add);
	errors_fresh(null_compare_swap);
	errors_fresh(null_context);
	freed();
	stats();
	place(PL_WHERE), HOLDS(PLD_HOST(host(&s)) == PL_ELEVEL);
	pld_barrier(pld_world());
	for (int i = 0; i < 16; i++)
		HOLDS(pl_read_int(s.w, PL_AT(i / 8, i % 8)) == FILL);
}

int main(void)
{
	return errors_main(rows);
}
