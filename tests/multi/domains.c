/* domains.c - subsets and splits: members, numbers, isolation, many at once, used again. */
#include "config.h"

#include "multi.h"

#define CELL PL_AT(0)
enum { MOST = 64 };

/* The domain has exactly these world ranks, in this order; or this rank is no member. */
static void expect_members(const struct multi *m, const char *what, pld_ctx c, const int *list,
			   int n)
{
	int me = -1;

	for (int i = 0; i < n; i++)
		if (list[i] == m->me)
			me = i;
	expect_int(m, what, -1, pld_is_member(c), me >= 0);
	if (me < 0)
		return;
	expect_int(m, what, -2, pld_nranks(c), n);
	expect_int(m, what, -3, pld_rank(c), me);
	for (int i = 0; i < n; i++)
		expect_int(m, what, i, pld_world_rank(c, i), list[i]);
}

/* A message round the ring of a domain, through a window and a signal of its own. */
static void expect_ring(const struct multi *m, const char *what, pld_ctx c, int tag)
{
	pld_tensor w = pld_new_window(PL_SHAPE(2), PL_INT32, .domain = c);
	pld_tensor s = pld_new_window(PL_SHAPE(1), PL_INT32, .domain = c);
	int n = pld_nranks(c), me = pld_rank(c), prev = (me + n - 1) % n;
	int32_t *next = pld_ptr(w, (me + 1) % n);
	const int32_t *own = pld_ptr(w, me);

	next[0] = tag;
	next[1] = m->me;
	pld_notify(s, (me + 1) % n, CELL, 1, PLD_NOTIFY_ADD);
	pld_wait(s, CELL, 1, PLD_WAIT_EQ);
	expect_int(m, what, 0, own[0], tag);
	expect_int(m, what, 1, own[1], pld_world_rank(c, prev));
	pld_free_window(s);
	pld_free_window(w);
}

/* ---- subsets --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	int n, list[8];
} subsets[] = {
	{ "one", 1, { 0 } },
	{ "two", 2, { 0, 1 } },
	{ "two, turned", 2, { 1, 0 } },
	{ "ends", 2, { 2, 0 } },
	{ "three, mixed", 3, { 1, 2, 0 } },
	{ "not the first", 2, { 1, 3 } },
	{ "even ones", 3, { 0, 2, 4 } },
	{ "eight, mixed", 8, { 5, 2, 7, 0, 1, 6, 3, 4 } },
};

static void subset(const struct multi *m)
{
	for (int i = 0; i < ROWS(subsets); i++) {
		int most = 0;
		pld_ctx c;

		for (int k = 0; k < subsets[i].n; k++)
			most = subsets[i].list[k] > most ? subsets[i].list[k] : most;
		if (most >= m->n)
			continue;
		c = pld_domain_subset(pld_world(), subsets[i].list, subsets[i].n);
		expect_members(m, subsets[i].name, c, subsets[i].list, subsets[i].n);
		if (!pld_is_member(c))
			continue;
		expect_ring(m, subsets[i].name, c, 1000 + i);
		expect_status(m, subsets[i].name, pld_domain_free(c), PL_OK);
	}
}

/* Everyone, turned round; then each alone; then halves of halves: ranks are those of the parent. */
static void nested(const struct multi *m)
{
	int turned[MOST], list[MOST], n = m->n;
	pld_ctx all, alone, inner;

	for (int r = 0; r < n; r++)
		turned[r] = n - 1 - r;
	all = pld_domain_subset(pld_world(), turned, n);
	expect_members(m, "turned", all, turned, n);
	expect_ring(m, "turned", all, 1);
	alone = pld_domain_subset(all, (int[]){ pld_rank(all) }, 1);
	expect_members(m, "alone", alone, &m->me, 1);
	expect_ring(m, "alone", alone, 2);

	/* the first half of the turned domain, turned again */
	for (int k = 0; k < (n + 1) / 2; k++) {
		list[k] = (n + 1) / 2 - 1 - k;
		turned[k] = n - 1 - list[k]; /* in the world */
	}
	inner = pld_domain_subset(all, list, (n + 1) / 2);
	expect_members(m, "half of it", inner, turned, (n + 1) / 2);
	if (pld_is_member(inner)) {
		expect_ring(m, "half of it", inner, 3);
		pld_domain_free(inner);
	}
	pld_domain_free(alone);
	pld_domain_free(all);
}

/* ---- splits ---------------------------------------------------------------------------------- */

static int same(int r)
{
	(void)r;
	return 7;
}

static int parity(int r)
{
	return r % 2;
}

static int thirds(int r)
{
	return r % 3 == 2 ? -1 : r % 3 + 1000000;
}

static int nobody(int r)
{
	return r ? -r : INT32_MIN;
}

static int first_alone(int r)
{
	return r ? INT32_MAX : 0;
}

static int by_rank(int r)
{
	return r;
}

static int backwards(int r)
{
	return -r;
}

static int ends_first(int r)
{
	return r % 2 ? INT32_MAX : INT32_MIN;
}

static int scattered(int r)
{
	return r * 5 % 7;
}

static const struct {
	const char *name;
	int (*colour)(int r), (*key)(int r);
} splits[] = {
	{ "all, by rank", same, by_rank },
	{ "all, equal keys", same, same },
	{ "all, backwards", same, backwards },
	{ "all, extreme keys", same, ends_first },
	{ "parity, scattered", parity, scattered },
	{ "parity, backwards", parity, backwards },
	{ "thirds, one of them none", thirds, scattered },
	{ "first alone", first_alone, backwards },
	{ "each alone", by_rank, same },
	{ "nobody", nobody, same },
};

static void split(const struct multi *m)
{
	for (int i = 0; i < ROWS(splits); i++) {
		int mine = splits[i].colour(m->me), list[MOST], n = 0;
		pld_ctx c;

		/* ranks of my colour: lowest key first, then lowest rank */
		for (int r = 0; mine >= 0 && r < m->n; r++) {
			int at = n;

			if (splits[i].colour(r) != mine)
				continue;
			while (at > 0 && splits[i].key(list[at - 1]) > splits[i].key(r)) {
				list[at] = list[at - 1];
				at--;
			}
			list[at] = r;
			n++;
		}
		c = pld_domain_split(pld_world(), mine, splits[i].key(m->me));
		expect_members(m, splits[i].name, c, list, n);
		if (!pld_is_member(c))
			continue;
		expect_ring(m, splits[i].name, c, 10 * i + mine % 10);
		pld_domain_free(c);
	}
}

/* ---- isolation ------------------------------------------------------------------------------- */

/* Domain i is {i, i + 1, i + 2}: each rank in three; and the same list twice. */
struct cell_of {
	pld_ctx c;
	pld_tensor w, s;
	int sent;
};

static void make_overlapping(const struct multi *m, struct cell_of *d, int count)
{
	for (int i = 0; i < count; i++) {
		int first = i % m->n, list[3];

		for (int k = 0; k < 3; k++)
			list[k] = (first + k) % m->n;
		d[i] = (struct cell_of){ .c = pld_domain_subset(pld_world(), list, 3) };
		if (!pld_is_member(d[i].c))
			continue;
		d[i].w = pld_new_window(PL_SHAPE(4), PL_INT32, .domain = d[i].c);
		d[i].s = pld_new_window(PL_SHAPE(1), PL_INT32, .domain = d[i].c);
	}
}

/*
 * Many messages, in every domain by turns: each domain's window must have only its own domain's
 * messages, and its signal count only those.
 */
static void overlapping(const struct multi *m)
{
	struct cell_of d[2 * MOST];
	int count = 2 * m->n;

	make_overlapping(m, d, count);
	for (int round = 1; round <= 30; round++) {
		for (int k = 0; k < count; k++) {
			struct cell_of *x = &d[(k * 7 + round) % count];
			int32_t *next;

			if (!pld_is_member(x->c))
				continue;
			next = pld_ptr(x->w, (pld_rank(x->c) + 1) % 3);
			next[0] = round;
			next[1] = (int32_t)(x - d);
			pld_notify(x->s, (pld_rank(x->c) + 1) % 3, CELL, 1, PLD_NOTIFY_ADD);
		}
		for (int i = 0; i < count; i++) {
			const int32_t *own;

			if (!pld_is_member(d[i].c))
				continue;
			own = pld_ptr(d[i].w, pld_rank(d[i].c));
			pld_wait(d[i].s, CELL, round, PLD_WAIT_GE);
			expect_int(m, "round in domain", i, own[0], round);
			expect_int(m, "number of domain", i, own[1], i);
			expect_int(m, "notifies in domain", i, pl_read_int(d[i].s, CELL), round);
		}
		pld_barrier(pld_world());
	}
	for (int i = 0; i < count; i++) {
		if (!pld_is_member(d[i].c))
			continue;
		pld_free_window(d[i].s);
		pld_free_window(d[i].w);
		pld_domain_free(d[i].c);
	}
}

/* Barriers of overlapping domains, all ranks in the order of the domains, with delays. */
static void overlapping_barriers(const struct multi *m)
{
	struct cell_of d[2 * MOST];
	uint64_t random = multi_seed(51, (uint64_t)m->me, 0);
	int count = 2 * m->n;

	make_overlapping(m, d, count);
	for (int round = 1; round <= 60; round++)
		for (int i = 0; i < count; i++) {
			if (!pld_is_member(d[i].c))
				continue;
			multi_delay(&random);
			/* who has entered says so at both others */
			for (int k = 1; k < 3; k++)
				pld_notify(d[i].s, (pld_rank(d[i].c) + k) % 3, CELL, 1,
					   PLD_NOTIFY_ADD);
			pld_barrier(d[i].c);
			expect_true(m, "both others have entered",
				    pl_read_int(d[i].s, CELL) >= 2 * round);
			/* and nobody is two barriers ahead */
			expect_true(m, "nobody is far ahead",
				    pl_read_int(d[i].s, CELL) <= 2 * round + 2);
		}
	pld_barrier(pld_world());
	for (int i = 0; i < count; i++) {
		if (!pld_is_member(d[i].c))
			continue;
		pld_free_window(d[i].w);
		pld_free_window(d[i].s);
		pld_domain_free(d[i].c);
	}
}

/* ---- many ------------------------------------------------------------------------------------ */

/* More lives than the table has entries, of changing members; of many ranks fewer. */
static void used_again(const struct multi *m)
{
	for (int k = 0; k < multi_rounds(m, 1100); k++) {
		int first = k % m->n,
		    second = (k + 1 + k / m->n % (m->n > 1 ? m->n - 1 : 1)) % m->n;
		pld_ctx c = pld_domain_subset(pld_world(), (int[]){ first, second },
					      first == second ? 1 : 2);

		if (!pld_is_member(c))
			continue;
		expect_int(m, "world rank of 0", k, pld_world_rank(c, 0), first);
		pld_barrier(c);
		if (k % 50 == 0)
			expect_ring(m, "life", c, k);
		pld_domain_free(c);
	}
}

/* Some 500 at the same time: each with a window, all used, freed in another order. */
static void at_once(const struct multi *m)
{
	enum { COUNT = 200 };
	static pld_ctx c[COUNT];
	static pld_tensor w[COUNT];

	for (int i = 0; i < COUNT; i++) {
		c[i] = pld_domain_split(pld_world(), m->me % (1 + i % 4), i % 2 ? m->me : -m->me);
		w[i] = pld_new_window(PL_SHAPE(1), PL_INT32, .domain = c[i]);
		pld_notify(w[i], (pld_rank(c[i]) + 1) % pld_nranks(c[i]), CELL, i + 1,
			   PLD_NOTIFY_ADD);
	}
	for (int i = COUNT - 1; i >= 0; i--)
		pld_wait(w[i], CELL, i + 1, PLD_WAIT_EQ);
	for (int k = 0; k < COUNT; k++) {
		int i = k * 7 % COUNT;

		expect_int(m, "cell of domain", i, pl_read_int(w[i], CELL), i + 1);
		pld_free_window(w[i]);
		pld_domain_free(c[i]);
	}
}

/* As many as a job can have, one more is an error, and one freed makes room. */
static void as_many_as_can_be(const struct multi *m)
{
	enum { WORLD = 1, TABLE = 1024 };
	static pld_ctx c[TABLE];
	pld_ctx more;

	for (int i = WORLD; m->me == 0 && i < TABLE; i++)
		c[i] = pld_domain_subset(pld_world(), (int[]){ 0 }, 1);
	if (m->me == 0) {
		pl_set_errors(PL_ERRORS_RETURN);
		more = pld_domain_subset(pld_world(), (int[]){ 0 }, 1);
		pl_set_errors(PL_ERRORS_END);
		expect_true(m, "one more is null", !pld_is_member(more));
		expect_error(m, "one more", PL_ENOMEM, "1024 domains are in use");
		pld_domain_free(c[500]);
		c[500] = pld_domain_subset(pld_world(), (int[]){ 0 }, 1);
		expect_true(m, "room again", pld_is_member(c[500]));
	}
	for (int i = WORLD; m->me == 0 && i < TABLE; i++)
		pld_domain_free(c[i]);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void wrong_lists(const struct multi *m)
{
	static const struct {
		const char *name, *part;
		int n, list[2];
	} rows[] = {
		{ "no ranks", "0 ranks of a domain", 0, { 0 } },
		{ "negative number", "-1 ranks of a domain", -1, { 0 } },
		{ "negative rank", "ranks[0] is -1", 1, { -1 } },
		{ "too large", "ranks[0] is 1000000", 1, { 1000000 } },
		{ "twice", "are both 0", 2, { 0, 0 } },
	};

	pl_set_errors(PL_ERRORS_RETURN);
	for (int i = 0; i < ROWS(rows); i++) {
		if (rows[i].n > m->n)
			continue;
		expect_true(m, rows[i].name,
			    !pld_is_member(
				    pld_domain_subset(pld_world(), rows[i].list, rows[i].n)));
		expect_error(m, rows[i].name, PL_EINVAL, rows[i].part);
	}
	expect_status(m, "below 0", pld_world_rank(pld_world(), -1), PL_EINVAL);
	expect_status(m, "above", pld_world_rank(pld_world(), m->n), PL_EINVAL);
	expect_status(m, "the world", pld_domain_free(pld_world()), PL_EINVAL);
	expect_status(m, "null context", pld_domain_free((pld_ctx){ NULL }), PL_EINVAL);
	expect_status(m, "barrier of none", pld_barrier((pld_ctx){ NULL }), PL_EINVAL);
	pl_set_errors(PL_ERRORS_END);
}

/* A domain with windows cannot end; an ended one cannot be used. */
static void ended(const struct multi *m)
{
	pld_ctx c = pld_domain_split(pld_world(), 0, 0);
	pld_tensor w = pld_new_window(PL_SHAPE(1), PL_INT32, .domain = c);
	pld_buffer b = { NULL };

	pl_set_errors(PL_ERRORS_RETURN);
	expect_status(m, "with a window", pld_domain_free(c), PL_EINVAL);
	expect_error(m, "with a window", PL_EINVAL, "still has 1 window buffers");
	expect_status(m, "window", pld_free_window(w), PL_OK);
	expect_status(m, "without", pld_domain_free(c), PL_OK);
	expect_status(m, "again", pld_domain_free(c), PL_EINVAL);
	expect_status(m, "barrier", pld_barrier(c), PL_EINVAL);
	expect_error(m, "barrier", PL_EINVAL, "freed");
	expect_status(m, "world rank", pld_world_rank(c, 0), PL_EINVAL);
	expect_true(m, "split", !pld_is_member(pld_domain_split(c, 0, 0)));
	b = pld_alloc_window_buffer(.bytes = 8, .domain = c);
	expect_true(m, "buffer", !b.w_);
	expect_error(m, "buffer", PL_EINVAL, "freed");
	pl_set_errors(PL_ERRORS_END);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "subset", subset, 0 },
		{ "nested", nested, 0 },
		{ "split", split, 0 },
		{ "overlapping", overlapping, 3 },
		{ "overlapping barriers", overlapping_barriers, 3 },
		{ "used again", used_again, 0 },
		{ "at once", at_once, 0 },
		{ "as many as can be", as_many_as_can_be, 0 },
		{ "wrong lists", wrong_lists, 0 },
		{ "ended", ended, 0 },
	};

	return multi_run("domains", cases, ROWS(cases));
}
