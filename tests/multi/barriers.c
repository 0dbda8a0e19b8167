/* barriers.c - both barriers: nobody leaves before all have entered; cells are zero again. */
#include "config.h"

#include <stdatomic.h>

#include "multi.h"

/* ---- the proof ------------------------------------------------------------------------------- */

/* Each rank counts its barriers in its own slice, before it enters; who leaves looks at all. */
struct proof {
	pld_tensor entered; /* [1] of INT64 */
	int64_t count;
};

static _Atomic int64_t *counter(const struct proof *p, int r)
{
	return (_Atomic int64_t *)pld_ptr(p->entered, r);
}

static void enter(const struct multi *m, struct proof *p)
{
	/* relaxed: what orders it is the barrier under test */
	atomic_store_explicit(counter(p, m->me), ++p->count, memory_order_relaxed);
}

static void left(const struct multi *m, const struct proof *p)
{
	for (int r = 0; r < m->n; r++) {
		int64_t seen = atomic_load_explicit(counter(p, r), memory_order_relaxed);

		if (seen < p->count || seen > p->count + 1)
			multi_fail(m, "after barrier %lld rank %d has entered %lld",
				   (long long)p->count, r, (long long)seen);
	}
}

static struct proof new_proof(void)
{
	return (struct proof){ .entered = pld_new_window(PL_SHAPE(1), PL_INT64) };
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* In a shape: the number of ranks, twice that, and 3 more. */
enum { P = -1, PP = -2, P3 = -3 };

/*
 * A signal of this shape; member r's cell is (r, 0, ..), or element r of a packed window with so
 * many ranks and more (0: never): then the first extent is too small.
 */
static const struct {
	const char *name;
	pl_dims shape;
	int packed_from;
} shapes[] = {
	{ "[P]", { 1, { P } }, 0 },
	{ "[P, 1]", { 2, { P, 1 } }, 0 },
	{ "[P, 3]", { 2, { P, 3 } }, 0 },
	{ "[P, 16]", { 2, { P, 16 } }, 0 },
	{ "[P + 3]", { 1, { P3 } }, 0 },
	{ "[2 P, 2]", { 2, { PP, 2 } }, 0 },
	{ "[P, 2, 3]", { 3, { P, 2, 3 } }, 0 },
	{ "[P, 1, 1, 1, 1, 2]", { 6, { P, 1, 1, 1, 1, 2 } }, 0 },
	{ "packed [1, P]", { 2, { 1, P } }, 2 },
	{ "packed [1, 2 P]", { 2, { 1, PP } }, 2 },
	{ "packed [2, P]", { 2, { 2, P } }, 3 },
	{ "packed [1, 1, P + 3]", { 3, { 1, 1, P3 } }, 2 },
};

static pl_dims shape_of(int i, int ranks)
{
	pl_dims s = shapes[i].shape;

	for (int k = 0; k < s.n; k++)
		s.d[k] = s.d[k] == P	? ranks
			 : s.d[k] == P3 ? ranks + 3
			 : s.d[k] == PP ? 2 * ranks
					: s.d[k];
	return s;
}

/* Cells are 0, elements beside them what they were. */
static void expect_cells(const struct multi *m, const char *name, pld_tensor signal, int64_t count,
			 int64_t step, int32_t beside)
{
	const int32_t *own = pld_ptr(signal, m->me);

	for (int64_t k = 0; k < count; k++) {
		int cell = k % step == 0 && k / step < m->n;

		expect_int(m, name, k, own[k], cell ? 0 : beside);
	}
}

static void every_shape(const struct multi *m)
{
	struct proof p = new_proof();
	uint64_t random = multi_seed(61, (uint64_t)m->me, 0);
	const int rounds = multi_rounds(m, 50);

	for (int i = 0; i < ROWS(shapes); i++) {
		pl_dims shape = shape_of(i, m->n);
		pld_tensor s = pld_new_window(&shape, PL_INT32);
		int64_t count = pl_count(pld_local(s)), step = count / shape.d[0];
		int32_t *own = pld_ptr(s, m->me);

		if (shapes[i].packed_from && m->n >= shapes[i].packed_from)
			step = 1;
		for (int64_t k = 0; k < count; k++)
			own[k] = k % step == 0 && k / step < m->n ? 0 : 777;
		pld_barrier(pld_world());
		for (int k = 0; k < rounds; k++) {
			if (k >= rounds / 2)
				multi_delay(&random);
			enter(m, &p);
			expect_status(m, shapes[i].name, pld_barrier(s), PL_OK);
			left(m, &p);
		}
		pld_barrier(pld_world());
		expect_cells(m, shapes[i].name, s, count, step, 777);
		pld_free_window(s);
	}
	pld_free_window(p.entered);
}

/* A column of a larger window, and a row of one: views are signals too. */
static void views(const struct multi *m)
{
	struct proof p = new_proof();
	pld_tensor w = pld_new_window(PL_SHAPE(3, m->n + 2, 5), PL_INT32);
	pld_tensor column = pl_slice(pl_at(w, 1), PL_AT(1, 3), PL_SHAPE(m->n, 1));
	pld_tensor row = pld_new_window(PL_SHAPE(2, m->n), PL_INT32);
	const int32_t *own = pld_ptr(w, m->me);
	int64_t count = 15 * (m->n + 2);

	for (int64_t k = 0; k < count; k++)
		((int32_t *)pld_ptr(w, m->me))[k] = 555;
	for (int r = 0; r < m->n; r++)
		pl_write(column, PL_AT(r, 0), 0);
	pld_barrier(pld_world());
	for (int k = multi_rounds(m, 50); k > 0; k--) {
		enter(m, &p);
		pld_barrier(k % 2 ? column : pl_at(row, 1));
		left(m, &p);
	}
	pld_barrier(pld_world());
	for (int64_t k = 0; k < count; k++) {
		int64_t inner = k - 5 * (m->n + 2) - 5 - 3; /* from the column's first element */
		int cell = inner >= 0 && inner % 5 == 0 && inner / 5 < m->n;

		expect_int(m, "element", k, own[k], cell ? 0 : 555);
	}
	for (int64_t k = 0; k < 2 * m->n; k++)
		expect_int(m, "row", k, pl_read_int(row, PL_AT(k / m->n, k % m->n)), 0);
	pld_barrier(pld_world());
	pld_free_window(row);
	pld_free_window(w);
	pld_free_window(p.entered);
}

/* ---- many ------------------------------------------------------------------------------------ */

/* Half of them on one signal without anything between, then half of the domain. */
static void back_to_back(const struct multi *m)
{
	struct proof p = new_proof();
	const int rounds = multi_rounds(m, 2000);
	pld_tensor s = pld_new_window(PL_SHAPE(m->n, 1), PL_INT32);

	for (int k = 0; k < rounds; k++) {
		enter(m, &p);
		if (k < rounds / 2)
			pld_barrier(s);
		else
			pld_barrier(pld_world());
		left(m, &p);
	}
	expect_cells(m, "cell", s, m->n, 1, 0);
	pld_barrier(pld_world());
	pld_free_window(s);
	pld_free_window(p.entered);
}

/* Both forms and two signals in random order, with random delays, each rank its own. */
static void mixed(const struct multi *m)
{
	struct proof p = new_proof();
	pld_tensor s[2] = { pld_new_window(PL_SHAPE(m->n), PL_INT32),
			    pld_new_window(PL_SHAPE(1, m->n), PL_INT32) };
	uint64_t form = multi_seed(62, 0, 0), random = multi_seed(63, (uint64_t)m->me, 0);

	for (int k = multi_rounds(m, 500); k > 0; k--) {
		int64_t which = multi_pick(&form, 3);

		multi_delay(&random);
		enter(m, &p);
		if (which == 2)
			pld_barrier(pld_world());
		else
			pld_barrier(s[which]);
		left(m, &p);
	}
	pld_barrier(pld_world());
	for (int i = 0; i < 2; i++)
		expect_cells(m, "cell", s[i], m->n, 1, 0);
	pld_barrier(pld_world());
	pld_free_window(s[1]);
	pld_free_window(s[0]);
	pld_free_window(p.entered);
}

/* One rank is always late, another one each round: the others wait for it. */
static void latecomer(const struct multi *m)
{
	struct proof p = new_proof();
	pld_tensor s = pld_new_window(PL_SHAPE(m->n), PL_INT32);

	for (int k = 0; k < 40; k++) {
		int64_t begin = multi_now_ns();

		while (k % m->n == m->me && multi_now_ns() - begin < 200000)
			continue;
		enter(m, &p);
		if (k % 2)
			pld_barrier(s);
		else
			pld_barrier(pld_world());
		left(m, &p);
	}
	pld_free_window(s);
	pld_free_window(p.entered);
}

/* What a rank wrote before, by any call and at any peer, all read after. */
static void publishes(const struct multi *m)
{
	pld_tensor w = pld_new_window(PL_SHAPE(m->n, 3), PL_INT32);
	pld_tensor s = pld_new_window(PL_SHAPE(m->n), PL_INT32);

	for (int k = multi_rounds(m, 200); k > 0; k--) {
		int32_t words[3] = { k, k + m->me, k - m->me };

		for (int r = 0; r < m->n; r++)
			if ((r + k) % 2)
				pld_put(w, r, pl_wrap(words, PL_SHAPE(1, 3), PL_INT32),
					.dst_offsets = PL_AT(m->me, 0), .src_offsets = PL_AT(0, 0),
					.shape = PL_SHAPE(1, 3));
			else
				memcpy((int32_t *)pld_ptr(w, r) + 3 * m->me, words, sizeof(words));
		if (k % 3)
			pld_barrier(s);
		else
			pld_barrier(pld_world());
		for (int r = 0; r < m->n; r++)
			for (int c = 0; c < 3; c++)
				expect_int(m, "word of rank", r, pl_read_int(w, PL_AT(r, c)),
					   c == 0   ? k
					   : c == 1 ? k + r
						    : k - r);
		pld_barrier(s); /* all have read */
	}
	pld_free_window(s);
	pld_free_window(w);
}

/* Each half of the ranks on its own signal, the whole on another, by turns. */
static void of_domains(const struct multi *m)
{
	pld_ctx half = pld_domain_split(pld_world(), m->me % 2, -m->me);
	pld_tensor mine = pld_new_window(PL_SHAPE(pld_nranks(half)), PL_INT32, .domain = half);
	pld_tensor both = pld_new_window(PL_SHAPE(m->n), PL_INT32);
	pld_tensor narrowed = pld_new_window(PL_SHAPE(m->n), PL_INT32);
	struct proof p = new_proof();
	uint64_t random = multi_seed(64, (uint64_t)m->me, 0);

	for (int k = multi_rounds(m, 100); k > 0; k--) {
		multi_delay(&random);
		for (int i = 0; i < (m->me % 2 ? 3 : 1); i++) /* odd ones more often */
			pld_barrier(mine);
		enter(m, &p);
		pld_barrier(k % 2 ? both : narrowed);
		left(m, &p);
	}
	pld_barrier(pld_world());
	for (int r = 0; r < pld_nranks(half); r++)
		expect_int(m, "cell of the half", r, pl_read_int(mine, PL_AT(r)), 0);
	expect_cells(m, "cell", both, m->n, 1, 0);
	pld_barrier(pld_world());
	pld_free_window(p.entered);
	pld_free_window(narrowed);
	pld_free_window(both);
	pld_free_window(mine);
	pld_domain_free(half);
}

/* ---- refused --------------------------------------------------------------------------------- */

static void refused(const struct multi *m)
{
	pld_tensor few = pld_new_window(PL_SHAPE(m->n - 1, 1), PL_INT32);
	pld_tensor narrow = pld_new_window(PL_SHAPE(1, m->n + 1), PL_INT32);
	pld_tensor part = pl_slice(narrow, PL_AT(0, 0), PL_SHAPE(1, m->n - 1));
	pld_tensor floats = pld_new_window(PL_SHAPE(m->n), PL_FP32), null = { NULL, NULL };

	pl_set_errors(PL_ERRORS_RETURN);
	expect_status(m, "too few", pld_barrier(few), PL_EINVAL);
	expect_error(m, "too few", PL_EINVAL, "it needs");
	expect_status(m, "too few of a row", pld_barrier(part), PL_EINVAL);
	expect_status(m, "floats", pld_barrier(floats), PL_EINVAL);
	expect_error(m, "floats", PL_EINVAL, "FP32");
	expect_status(m, "null", pld_barrier(null), PL_EINVAL);
	pl_set_errors(PL_ERRORS_END);
	for (int r = 0; r < m->n - 1; r++)
		expect_int(m, "cell", r, pl_read_int(few, PL_AT(r, 0)), 0);
	pld_barrier(pld_world());
	pld_free_window(floats);
	pld_free_window(narrow);
	pld_free_window(few);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "every shape", every_shape, 0 },   { "views", views, 0 },
		{ "back to back", back_to_back, 0 }, { "mixed", mixed, 0 },
		{ "latecomer", latecomer, 0 },	     { "publishes", publishes, 0 },
		{ "of domains", of_domains, 2 },     { "refused", refused, 2 },
	};

	return multi_run("barriers", cases, ROWS(cases));
}
