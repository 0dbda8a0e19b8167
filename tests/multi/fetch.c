/* fetch.c - changes of one element of a peer, by all at once: each whole, its old value true. */
#include "config.h"

#include "multi.h"

static const pl_dtype integers[] = { PL_INT8,  PL_INT16,  PL_INT32,  PL_INT64,
				     PL_UINT8, PL_UINT16, PL_UINT32, PL_UINT64 };

/* Over the number of ranks; some ms even of the shortest calls, so that ranks do meet. */
enum { TIMES = 120000, FEWER = 30000 };

#define LOST (INT64_C(10000000000)) /* ns: where a wake-up takes some 10 us */

/* ---- one change, and a model of it ----------------------------------------------------------- */

enum change { ADD, AND, OR, XOR, SWAP, COMPARE_SWAP, CHANGES };

static const char *const names[] = { "add", "and", "or", "xor", "swap", "compare_swap" };

static int64_t change(enum change op, pld_tensor t, int peer, const pl_dims *at, int64_t expected,
		      int64_t value)
{
	switch (op) {
	case ADD:
		return pld_fetch_add(t, peer, at, value);
	case AND:
		return pld_fetch_and(t, peer, at, value);
	case OR:
		return pld_fetch_or(t, peer, at, value);
	case XOR:
		return pld_fetch_xor(t, peer, at, value);
	case SWAP:
		return pld_swap(t, peer, at, value);
	default:
		return pld_compare_swap(t, peer, at, expected, value);
	}
}

static int bits_of(pl_dtype t)
{
	return 8 * (int)pl_dtype_bytes(t);
}

static uint64_t mask_of(pl_dtype t)
{
	return UINT64_MAX >> (64 - bits_of(t));
}

/* All in 64 bits, of which an element has the low ones. */
static uint64_t model(enum change op, uint64_t old, uint64_t expected, uint64_t value,
		      uint64_t mask)
{
	switch (op) {
	case ADD:
		return (old + value) & mask;
	case AND:
		return old & value & mask;
	case OR:
		return (old | value) & mask;
	case XOR:
		return (old ^ value) & mask;
	case SWAP:
		return value & mask;
	default:
		return ((old ^ expected) & mask) == 0 ? value & mask : old & mask;
	}
}

/* Bits of an element as the number that they are in the dtype. */
static int64_t extended(pl_dtype t, uint64_t bits)
{
	const int signed_ = t == PL_INT8 || t == PL_INT16 || t == PL_INT32 || t == PL_INT64;

	if (signed_ && bits >> (bits_of(t) - 1) & 1)
		bits |= ~mask_of(t);
	return (int64_t)bits;
}

static uint64_t bits_at(pld_tensor t, int peer, int64_t at)
{
	const size_t bytes = pl_dtype_bytes(pl_dtype_of(pld_local(t)));
	uint64_t bits = 0;

	memcpy(&bits, (char *)pld_ptr(t, peer) + at * (int64_t)bytes, bytes);
	return bits;
}

/* ---- alone ----------------------------------------------------------------------------------- */

/* Every change from and to the ends of each dtype's range; the elements beside it stay. */
static void ends_of_ranges(const struct multi *m, pl_dtype t, enum change op)
{
	const int bits = bits_of(t);
	const uint64_t mask = mask_of(t), fill = UINT64_C(0xa5a5a5a5a5a5a5a5) & mask;
	const int64_t ends[] = { 0,
				 1,
				 -1,
				 (int64_t)(UINT64_MAX << (bits - 1)),
				 (int64_t)(mask >> 1),
				 (int64_t)mask,
				 (int64_t)(mask / 3) };
	pld_tensor w = pld_new_window(PL_SHAPE(3), t);
	const int peer = multi_next(m);
	char *there = pld_ptr(w, peer);

	memset(there, 0xa5, 3 * pl_dtype_bytes(t));
	for (int i = 0; i < ROWS(ends) * ROWS(ends) * ROWS(ends); i++) {
		const int64_t old = ends[i % ROWS(ends)], value = ends[i / 7 % 7];
		const int64_t expected = ends[i / 49];
		const int64_t wanted = extended(t, (uint64_t)old & mask);

		memcpy(there + pl_dtype_bytes(t), &old, pl_dtype_bytes(t));
		expect_int(m, names[op], i, change(op, w, peer, PL_AT(1), expected, value), wanted);
		expect_int(m, pl_dtype_name(t), i, (int64_t)bits_at(w, peer, 1),
			   (int64_t)model(op, (uint64_t)old, (uint64_t)expected, (uint64_t)value,
					  mask));
		expect_true(m, "neighbours",
			    bits_at(w, peer, 0) == fill && bits_at(w, peer, 2) == fill);
	}
	pld_free_window(w);
}

static void ranges(const struct multi *m)
{
	for (int i = 0; i < ROWS(integers); i++)
		for (int op = ADD; op < CHANGES; op++)
			ends_of_ranges(m, integers[i], (enum change)op);
}

/* A change wakes the rank that has this number in the window's domain. */
static void token(const struct multi *m, pld_ctx domain)
{
	pld_tensor s = pld_new_window(PL_SHAPE(1), PL_INT32, .domain = domain);
	const int me = pld_rank(domain), n = pld_nranks(domain);

	for (int k = 1; k <= 50; k++) {
		if (me == 0)
			pld_fetch_add(s, (me + 1) % n, PL_AT(0), 1);
		if (pld_wait_for(s, PL_AT(0), k, PLD_WAIT_GE, LOST))
			multi_fail(m, "turn %d: slept through it", k);
		if (me != 0)
			pld_fetch_add(s, (me + 1) % n, PL_AT(0), 1);
	}
	pld_free_window(s);
}

/* Elements of a slice of a window, by ranks of a part of the world in another order. */
static void views(const struct multi *m)
{
	pld_ctx part = pld_domain_split(pld_world(), m->me % 2, -m->me);
	pld_buffer buf = pld_alloc_window_buffer(PL_SHAPE(4, 6), PL_INT16);
	pld_tensor all = pld_window(buf, PL_SHAPE(4, 6), PL_INT16);
	pld_tensor w = pld_window(buf, PL_SHAPE(4, 6), PL_INT16, .domain = part);
	pld_tensor box = pl_slice(w, PL_AT(1, 2), PL_SHAPE(3, 4));
	pld_tensor row = pl_at(box, 2);
	const int me = pld_rank(part), n = pld_nranks(part);

	expect_int(m, "old", 0, pld_fetch_add(box, (me + 1) % n, PL_AT(1, 3), me + 1), 0);
	expect_int(m, "old", 1, pld_fetch_or(row, (me + 1) % n, PL_AT(0), 100 + me), 0);
	pld_barrier(part);
	for (int k = 0; k < 24; k++)
		expect_int(m, "element", k, pl_read_int(all, PL_AT(k / 6, k % 6)),
			   k == 2 * 6 + 5   ? (me + n - 1) % n + 1
			   : k == 3 * 6 + 2 ? 100 + (me + n - 1) % n
					    : 0);
	token(m, part);
	pld_barrier(pld_world());
	pld_free_window_buffer(buf);
	pld_domain_free(part);
}

/* ---- all at once ----------------------------------------------------------------------------- */

/* Sums of numbers of any sign, in every slice, at elements beside each other. */
static void sums(const struct multi *m)
{
	for (int i = 0; i < ROWS(integers); i++) {
		const pl_dtype t = integers[i];
		pld_tensor w = pld_new_window(PL_SHAPE(3), t);
		uint64_t wanted[3] = { 0, 0, 0 };

		for (int r = 0; r < m->n; r++) {
			uint64_t random = multi_seed(41, (uint64_t)r, (uint64_t)i);

			for (int k = 0; k < TIMES / m->n; k++) {
				const int64_t add = multi_pick(&random, 256) - 128;
				const int peer = (int)multi_pick(&random, m->n);

				if (r == m->me)
					pld_fetch_add(w, peer, PL_AT(k % 3), add);
				if (peer == m->me)
					wanted[k % 3] += (uint64_t)add;
			}
		}
		pld_barrier(pld_world());
		for (int k = 0; k < 3; k++)
			expect_int(m, pl_dtype_name(t), k, (int64_t)bits_at(w, m->me, k),
				   (int64_t)(wanted[k] & mask_of(t)));
		pld_free_window(w);
	}
}

/* Numbers drawn from one counter: nobody draws what another has drawn. */
static void tickets(const struct multi *m)
{
	for (int i = 0; i < ROWS(integers); i++) {
		const pl_dtype t = integers[i];
		const int total = TIMES / m->n * m->n;
		const int slots = bits_of(t) < 32 ? 1 << bits_of(t) : total;
		pld_tensor counter = pld_new_window(PL_SHAPE(1), t);
		pld_tensor drawn = pld_new_window(PL_SHAPE(slots), PL_INT32);

		for (int k = 0; k < TIMES / m->n; k++) {
			const int64_t ticket = pld_fetch_add(counter, 0, PL_AT(0), 1);

			pld_fetch_add(drawn, m->n - 1,
				      PL_AT((int64_t)((uint64_t)ticket & mask_of(t))), 1);
		}
		pld_barrier(pld_world());
		for (int k = 0; m->me == m->n - 1 && k < slots; k++)
			expect_int(m, pl_dtype_name(t), k, pl_read_int(drawn, PL_AT(k)),
				   total / slots + (k < total % slots));
		pld_free_window(drawn);
		pld_free_window(counter);
	}
}

/* Each sets and clears a bit of its own in one element: nobody else's change takes it back. */
static void own_bit(const struct multi *m, pld_tensor w)
{
	const pl_dtype t = pl_dtype_of(pld_local(w));
	const uint64_t bit = m->me < bits_of(t) ? UINT64_C(1) << m->me : 0;
	const int64_t others = (int64_t)(~bit & mask_of(t));

	for (int k = 0; bit && k < TIMES / m->n; k++) {
		const uint64_t clear = (uint64_t)pld_fetch_or(w, 0, PL_AT(0), (int64_t)bit) & bit;
		const uint64_t set = (uint64_t)pld_fetch_and(w, 0, PL_AT(0), others) & bit;

		if (clear || !set)
			multi_fail(m, "%s: the own bit, round %d", pl_dtype_name(t), k);
	}
}

/* Whoever toggles a bit finds it as the one before has left it: half of the times it was clear. */
static void toggle(const struct multi *m, pld_tensor w, pld_tensor clear)
{
	const int times = TIMES / m->n / 2 * 2;
	int64_t found = 0;

	for (int k = 0; k < times; k++)
		found += (pld_fetch_xor(w, 0, PL_AT(0), 4) & 4) == 0;
	pld_fetch_add(clear, 0, PL_AT(0), found);
	pld_barrier(pld_world());
	expect_int(m, "found clear", 0, pld_fetch_add(clear, 0, PL_AT(0), 0), times / 2 * m->n);
}

static void bits(const struct multi *m)
{
	for (int i = 0; i < ROWS(integers); i++) {
		pld_tensor w = pld_new_window(PL_SHAPE(1), integers[i]);
		pld_tensor clear = pld_new_window(PL_SHAPE(1), PL_INT64);

		own_bit(m, w);
		pld_barrier(pld_world());
		toggle(m, w, clear);
		expect_true(m, "all are clear", bits_at(w, 0, 0) == 0);
		pld_free_window(clear);
		pld_free_window(w);
	}
}

/* A lock in one rank's memory; under it plain numbers in another's. */
static void lock(const struct multi *m)
{
	for (int i = 0; i < ROWS(integers); i++) {
		pld_tensor w = pld_new_window(PL_SHAPE(1), integers[i]);
		pld_tensor data = pld_new_window(PL_SHAPE(2), PL_INT64);
		int64_t *under = pld_ptr(data, 0);
		const int owner = m->n - 1;

		for (int k = 0; k < FEWER / 4 / m->n; k++) {
			while (pld_compare_swap(w, owner, PL_AT(0), 0, m->me + 1) != 0)
				sched_yield();
			expect_int(m, "under the lock", k, under[0], -under[1]);
			under[0] += 1;
			if (k % 16 == 0)
				sched_yield();
			under[1] -= 1;
			/* taken: neither for others nor for the owner */
			expect_int(m, "taken", k,
				   pld_compare_swap(w, owner, PL_AT(0), 0, m->me + 1), m->me + 1);
			expect_int(m, "given back", k, pld_swap(w, owner, PL_AT(0), 0), m->me + 1);
		}
		pld_barrier(pld_world());
		expect_int(m, "counter", i, under[0], FEWER / 4 / m->n * m->n);
		pld_barrier(pld_world());
		pld_free_window(data);
		pld_free_window(w);
	}
}

/*
 * Letters with numbers, and a box that holds one: who leaves one takes the one that was there.
 * None is lost and none is taken twice: their sum and the sum of their squares tell.
 */
static void mailbox_of(const struct multi *m, pl_dtype t)
{
	const int64_t each = TIMES / m->n;
	const uint64_t mask = mask_of(t);
	pld_tensor box = pld_new_window(PL_SHAPE(1), t);
	pld_tensor taken = pld_new_window(PL_SHAPE(2), PL_INT64);
	int64_t sum = 0, squares = 0;
	uint64_t letter;

	for (int64_t k = 1; k <= each; k++) {
		letter = (uint64_t)(m->me * each + k) & mask;
		letter = (uint64_t)pld_swap(box, 0, PL_AT(0), (int64_t)letter) & mask;
		sum += (int64_t)letter;
		squares += (int64_t)(letter * letter);
	}
	pld_fetch_add(taken, 0, PL_AT(0), sum);
	pld_fetch_add(taken, 0, PL_AT(1), squares);
	pld_barrier(pld_world());
	letter = bits_at(box, 0, 0); /* the last is still there */
	sum = (int64_t)letter;
	squares = (int64_t)(letter * letter);
	for (int64_t k = 1; k <= each * m->n; k++) {
		sum -= (int64_t)((uint64_t)k & mask);
		squares -= (int64_t)(((uint64_t)k & mask) * ((uint64_t)k & mask));
	}
	expect_int(m, "sum", 0, pld_fetch_add(taken, 0, PL_AT(0), 0), -sum);
	expect_int(m, "squares", 0, pld_fetch_add(taken, 0, PL_AT(1), 0), -squares);
	pld_barrier(pld_world());
	pld_free_window(taken);
	pld_free_window(box);
}

static void mailbox(const struct multi *m)
{
	for (int i = 0; i < ROWS(integers); i++)
		mailbox_of(m, integers[i]);
}

/* One element, changed in all the ways that there are, by all. */
static void mixed(const struct multi *m)
{
	pld_tensor s = pld_new_window(PL_SHAPE(2), PL_INT32);
	pld_tensor other = pld_new_window(PL_SHAPE(1), PL_INT32);
	int32_t memory[] = { 7, 70 };
	pl_tensor adds = pl_wrap(memory, PL_SHAPE(2), PL_INT32);

	for (int k = 0; k < FEWER / m->n; k++) {
		const int peer = (m->me + k) % m->n;
		int64_t seen = 0, found;

		pld_fetch_add(s, peer, PL_AT(0), 1000);
		pld_notify(s, peer, PL_AT(0), -3, PLD_NOTIFY_ADD);
		pld_put(s, peer, adds, .atomic = PLD_ATOMIC_ADD);
		while ((found = pld_compare_swap(s, peer, PL_AT(0), seen, seen + 20000)) != seen)
			seen = found;
		pld_put(other, peer, pl_slice(adds, PL_AT(1), PL_SHAPE(1)), .signal = s,
			.signal_at = PL_AT(1), .signal_value = 5);
		PL_SCOPE
			pld_remote_store(pl_full(PL_SHAPE(1), PL_INT32, 400), s, peer, PL_AT(1),
					 .atomic = PLD_ATOMIC_ADD);
	}
	pld_barrier(pld_world());
	for (int c = 0; c < 2; c++) {
		int64_t wanted = 0;

		for (int r = 0; r < m->n; r++)
			for (int k = 0; k < FEWER / m->n; k++)
				if ((r + k) % m->n == m->me)
					wanted += c ? 475 : 21004;
		expect_int(m, "element", c, pl_read_int(s, PL_AT(c)), wanted);
	}
	pld_free_window(other);
	pld_free_window(s);
}

/* The same with every dtype and additions by arrays, on elements beside each other. */
static void mixed_dtypes(const struct multi *m)
{
	for (int i = 0; i < ROWS(integers); i++) {
		const pl_dtype t = integers[i];
		pld_tensor w = pld_new_window(PL_SHAPE(4), t);
		char memory[4 * 8];
		pl_tensor adds = pl_wrap(memory, PL_SHAPE(4), t);

		for (int k = 0; k < 4; k++)
			pl_write(adds, PL_AT(k), k + 1);
		for (int k = 0; k < FEWER / m->n; k++) {
			pld_put(w, 0, adds, .atomic = PLD_ATOMIC_ADD);
			pld_fetch_add(w, 0, PL_AT(k % 4), 10);
		}
		pld_barrier(pld_world());
		for (int k = 0; k < 4; k++) {
			const int rounds = FEWER / m->n, tens = rounds / 4 + (k < rounds % 4);

			expect_int(m, pl_dtype_name(t), k, (int64_t)bits_at(w, 0, k),
				   (int64_t)((uint64_t)((rounds * (k + 1) + tens * 10) * m->n) &
					     mask_of(t)));
		}
		pld_barrier(pld_world());
		pld_free_window(w);
	}
}

/* ---- waking ---------------------------------------------------------------------------------- */

/*
 * A token goes round, handed over by each change in turn, to ranks that sleep; each finds what the
 * one before it wrote plainly before.
 */
static const struct {
	int32_t before, value, after; /* the owner's cell; compare_swap expects `before` */
} handed[] = {
	[ADD] = { 3, 5, 8 }, [AND] = { 15, 6, 6 }, [OR] = { 1, 8, 9 },
	[XOR] = { 5, 3, 6 }, [SWAP] = { 2, 4, 4 }, [COMPARE_SWAP] = { 9, 10, 10 },
};

static void hand_over(const struct multi *m, pld_tensor s, pld_tensor letter, int k)
{
	const enum change op = (enum change)(k % CHANGES);
	const int next = multi_next(m);

	*(int64_t *)pld_ptr(letter, next) = k;
	expect_int(m, names[op], k,
		   change(op, s, next, PL_AT(0), handed[op].before, handed[op].value),
		   handed[op].before);
}

static void wakes(const struct multi *m)
{
	pld_tensor s = pld_new_window(PL_SHAPE(1), PL_INT32);
	pld_tensor letter = pld_new_window(PL_SHAPE(1), PL_INT64);

	pl_write(s, PL_AT(0), handed[0].before);
	pld_barrier(pld_world());
	for (int k = 0; k < 40 * CHANGES; k++) {
		if (m->me == 0)
			hand_over(m, s, letter, k);
		if (pld_wait_for(s, PL_AT(0), handed[k % CHANGES].after, PLD_WAIT_EQ, LOST))
			multi_fail(m, "hand-over %d by %s: slept through it", k,
				   names[k % CHANGES]);
		expect_int(m, "letter", k, pl_read_int(letter, PL_AT(0)), k);
		pld_notify(s, m->me, PL_AT(0), handed[(k + 1) % CHANGES].before, PLD_NOTIFY_SET);
		if (m->me != 0)
			hand_over(m, s, letter, k);
	}
	pld_free_window(letter);
	pld_free_window(s);
}

/* Pairs, the delay before a change sweeping over the way to sleep of the other: they do meet. */
static void wakes_in_time(const struct multi *m)
{
	pld_tensor s = pld_new_window(PL_SHAPE(1), PL_INT32);
	uint64_t random = multi_seed(47, (uint64_t)m->me, 0);
	int peer = m->me ^ 1;

	for (int k = 1; peer < m->n && k <= 2000; k++) {
		for (volatile unsigned i = multi_random(&random) % 1024; i > 0; i--)
			continue;
		if (k % 3 == 0)
			pld_fetch_add(s, peer, PL_AT(0), 1);
		else if (k % 3 == 1)
			pld_swap(s, peer, PL_AT(0), k);
		else
			pld_compare_swap(s, peer, PL_AT(0), k - 1, k);
		if (pld_wait_for(s, PL_AT(0), k, PLD_WAIT_GE, LOST))
			multi_fail(m, "change %d: slept through it", k);
	}
	pld_barrier(pld_world());
	pld_free_window(s);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "ranges", ranges, 0 },
		{ "views", views, 0 },
		{ "sums", sums, 0 },
		{ "tickets", tickets, 0 },
		{ "bits", bits, 0 },
		{ "lock", lock, 0 },
		{ "mailbox", mailbox, 0 },
		{ "mixed", mixed, 0 },
		{ "mixed dtypes", mixed_dtypes, 0 },
		{ "wakes", wakes, 0 },
		{ "wakes in time", wakes_in_time, 0 },
	};

	setenv("PLD_SPIN_US", "0", 1); /* every wait goes to sleep at once */
	setenv("PLD_YIELDS", "0", 1);
	return multi_run("fetch", cases, ROWS(cases));
}
