/* views.c - views of buffers: where they lie, what they share, pld_all, pointers in windows. */
#include "config.h"

#include "multi.h"
#include "pldi_job.h"

/* ---- offsets, dtypes, shapes ----------------------------------------------------------------- */

static const struct {
	const char *name;
	int64_t offset_bytes;
	pl_dims shape;
	pl_dtype dtype;
} parts[] = {
	{ "all bytes", 0, { 1, { 240 } }, PL_UINT8 },
	{ "all as matrix", 0, { 2, { 6, 10 } }, PL_INT32 },
	{ "second half", 120, { 2, { 3, 5 } }, PL_INT64 },
	{ "one element", 236, { 1, { 1 } }, PL_FP32 },
	{ "odd offset", 3, { 3, { 3, 1, 7 } }, PL_INT8 },
	{ "halves", 2, { 1, { 119 } }, PL_BF16 },
	{ "nothing at the end", 240, { 1, { 0 } }, PL_FP64 },
	{ "six dimensions", 16, { 6, { 1, 2, 1, 3, 2, 2 } }, PL_INT16 },
};

/* Each view covers the bytes it says, here and at every peer, packed. */
static void places(const struct multi *m)
{
	pld_buffer b = pld_alloc_window_buffer(.bytes = 240);
	pld_tensor all = pld_window(b, PL_SHAPE(240), PL_UINT8);

	for (int i = 0; i < ROWS(parts); i++) {
		pld_tensor t = pld_window(b, &parts[i].shape, parts[i].dtype,
					  .offset_bytes = parts[i].offset_bytes);
		pl_tensor l = pld_local(t);
		int64_t count = 1;

		expect_int(m, parts[i].name, -1, pl_ndim(l), parts[i].shape.n);
		for (int k = 0; k < pl_ndim(l); k++) {
			expect_int(m, parts[i].name, k, pl_dim(l, k), parts[i].shape.d[k]);
			count *= parts[i].shape.d[k];
		}
		expect_int(m, parts[i].name, -2, pl_count(l), count);
		expect_int(m, parts[i].name, -3, pl_dtype_of(l), parts[i].dtype);
		for (int r = 0; r < m->n; r++)
			expect_int(m, parts[i].name, r,
				   (char *)pld_ptr(t, r) - (char *)pld_ptr(all, r),
				   parts[i].offset_bytes);
		expect_true(m, "the same domain", pld_get_comm_ctx(t).d_ == pld_world().d_);
	}
	pld_free_window_buffer(b);
}

/* Ranks look at a buffer through views of their own; what one puts, others find through theirs. */
static void aliases(const struct multi *m)
{
	pld_buffer b = pld_alloc_window_buffer(PL_SHAPE(64), PL_INT32);
	pld_tensor rows = pld_window(b, PL_SHAPE(4, 16), PL_INT32);
	pld_tensor column = pld_window(b, PL_SHAPE(64, 1), PL_INT32);
	pld_tensor late = pld_window(b, PL_SHAPE(16), PL_INT32, .offset_bytes = 48 * 4);
	pld_tensor mine = m->me % 2 ? rows : column;
	int32_t memory[64];

	for (int k = 0; k < 64; k++)
		memory[k] = 1000 * (m->me + 1) + k;
	pld_put(mine, multi_next(m),
		pl_wrap(memory, m->me % 2 ? PL_SHAPE(4, 16) : PL_SHAPE(64, 1), PL_INT32));
	pld_barrier(pld_world());
	for (int k = 0; k < 64; k++)
		expect_int(m, "through the other view", k,
			   m->me % 2 ? pl_read_int(column, PL_AT(k, 0))
				     : pl_read_int(rows, PL_AT(k / 16, k % 16)),
			   1000 * (multi_prev(m) + 1) + k);
	pld_barrier(pld_world());
	/* a cell is one word, whatever view names it */
	pld_notify(late, multi_next(m), PL_AT(15), 7, PLD_NOTIFY_SET);
	pld_wait(rows, PL_AT(3, 15), 7, PLD_WAIT_EQ);
	pld_wait(column, PL_AT(63, 0), 7, PLD_WAIT_EQ);
	pld_barrier(pld_world());
	pld_free_window_buffer(b);
}

/* A buffer of the world, seen by even and by odd ranks as theirs: peers count in the half. */
static void narrowed(const struct multi *m)
{
	pld_ctx half = pld_domain_split(pld_world(), m->me % 2, -m->me); /* highest rank first */
	pld_buffer b = pld_alloc_window_buffer(PL_SHAPE(2), PL_INT32);
	pld_tensor world = pld_window(b, PL_SHAPE(2), PL_INT32);
	pld_tensor t = pld_window(b, PL_SHAPE(2), PL_INT32, .domain = half);
	int rank = pld_rank(half), n = pld_nranks(half), next = (rank + 1) % n;

	expect_true(m, "the domain", pld_get_comm_ctx(t).d_ == half.d_);
	expect_true(m, "the slice", pl_data(pld_local(t)) == pl_data(pld_local(world)));
	for (int r = 0; r < n; r++)
		expect_true(m, "a peer's slice",
			    pld_ptr(t, r) == pld_ptr(world, pld_world_rank(half, r)));
	pld_notify(t, next, PL_AT(0), 100 + rank, PLD_NOTIFY_SET);
	pld_wait(world, PL_AT(0), 100 + (rank + n - 1) % n, PLD_WAIT_EQ);
	pld_barrier(pld_world());
	pld_free_window_buffer(b); /* the world's, before the domain */
	pld_domain_free(half);
}

/* ---- where slices lie ------------------------------------------------------------------------ */

/*
 * Slices of consecutive ranks are a constant distance apart, an odd number of lines and well away
 * from whole pages, so that equal offsets differ in their low address bits.  All begin on a line,
 * also behind a buffer of one byte.  Both regions.
 */
static void colour(const struct multi *m)
{
	static const int64_t bytes[] = { 64, 100, 16384, 16385, 1 << 20 };

	for (int i = 0; i < ROWS(bytes); i++) {
		pld_buffer before = pld_alloc_window_buffer(.bytes = 1);
		pld_tensor t = pld_new_window(PL_SHAPE(bytes[i]), PL_UINT8);
		ptrdiff_t step = m->n > 1 ? (char *)pld_ptr(t, 1) - (char *)pld_ptr(t, 0) : 64;

		expect_int(m, "bytes over a line in the distance", bytes[i], step % 64, 0);
		expect_int(m, "lines in the distance are odd", bytes[i], step / 64 % 2, 1);
		expect_true(m, "distance away from whole pages",
			    m->n == 1 || (step % 4096 >= 512 && step % 4096 <= 4096 - 512));
		expect_true(m, "slices do not meet", m->n == 1 || step >= bytes[i]);
		for (int r = 0; r < m->n; r++) {
			expect_int(m, "distance", r, (char *)pld_ptr(t, r) - (char *)pld_ptr(t, 0),
				   r * step);
			expect_int(m, "line", r, (int64_t)((uintptr_t)pld_ptr(t, r) % 64), 0);
		}
		pld_free_window(t);
		pld_free_window_buffer(before);
	}
}

/* The segment is at one address in all ranks, so an address in it means the same to all. */
static void pointers(const struct multi *m)
{
	struct node {
		struct node *next;
		int64_t number;
	} * node;
	pld_tensor where = pld_new_window(PL_SHAPE(1), PL_INT64);
	pld_tensor t = pld_new_window(PL_SHAPE((int64_t)sizeof(*node)), PL_UINT8);
	int agreed = 1;

	pl_write(where, PL_AT(0), (int64_t)(intptr_t)pldi_self()->seg.base);
	pld_barrier(pld_world());
	for (int r = 0; r < m->n; r++)
		agreed &= pl_read_int(pl_at(pld_all(where), r), PL_AT(0)) ==
			  (int64_t)(intptr_t)pldi_self()->seg.base;
	/* a ring through all ranks, each node made by the rank before its owner */
	node = pld_ptr(t, multi_next(m));
	node->next = pld_ptr(t, (m->me + 2) % m->n);
	node->number = 100 + multi_next(m);
	pld_barrier(pld_world());
	node = pld_ptr(t, 0);
	for (int k = 0; agreed && k < 2 * m->n; k++) {
		expect_int(m, "number of node", k, node->number, 100 + k % m->n);
		node = node->next;
	}
	pld_barrier(pld_world());
	pld_free_window(t);
	pld_free_window(where);
}

/* ---- pld_all, pld_ptr ------------------------------------------------------------------------ */

static const pl_dims all_shapes[] = {
	{ 1, { 1 } },
	{ 1, { 5000 } },
	{ 2, { 3, 4 } },
	{ 3, { 2, 1, 5 } },
	{ 6, { 1, 2, 3, 1, 2, 2 } },
	{ 2, { 40, 200 } },
};

static void all_slices(const struct multi *m)
{
	for (int i = 0; i < ROWS(all_shapes); i++) {
		pld_tensor t = pld_new_window(&all_shapes[i], PL_INT32);
		pl_tensor all = pld_all(t);
		int32_t *own = pld_ptr(t, m->me), *copy;
		int64_t count = pl_count(pld_local(t));
		pl_dims gathered = { all_shapes[i].n + 1, { m->n } };

		for (int64_t k = 0; k < count; k++)
			own[k] = (int32_t)(1000000 * m->me + k);
		pld_barrier(pld_world());
		expect_int(m, "dimensions", i, pl_ndim(all), all_shapes[i].n + 1);
		expect_int(m, "first extent", i, pl_dim(all, 0), m->n);
		for (int k = 0; k < all_shapes[i].n; k++)
			gathered.d[k + 1] = all_shapes[i].d[k];
		for (int r = 0; r < m->n; r++)
			expect_true(m, "t[r] is rank r's slice",
				    pl_data(pl_at(all, r)) == pld_ptr(t, r));
		copy = malloc((size_t)(count * m->n) * sizeof(*copy));
		pl_copy(pl_wrap(copy, &gathered, PL_INT32), all);
		for (int64_t k = 0; k < count * m->n; k++)
			expect_int(m, "gathered", k, copy[k],
				   (int32_t)(1000000 * (k / count) + k % count));
		free(copy);
		pld_barrier(pld_world());
		pld_free_window(t);
	}
}

/* Of a box, of one row, of a column; and stores through it reach the owner. */
static void all_of_parts(const struct multi *m)
{
	pld_tensor t = pld_new_window(PL_SHAPE(4, 6), PL_INT32);
	pl_tensor box = pld_all(pl_slice(t, PL_AT(1, 2), PL_SHAPE(2, 3)));
	pl_tensor row = pld_all(pl_at(t, 3));
	pl_tensor column = pld_all(pl_slice(t, PL_AT(0, 5), PL_SHAPE(4, 1)));
	int next = multi_next(m), from = multi_prev(m);

	for (int k = 0; k < 24; k++)
		pl_write(t, PL_AT(k / 6, k % 6), 100 * m->me + k);
	pld_barrier(pld_world());
	for (int r = 0; r < m->n; r++) {
		for (int k = 0; k < 6; k++) {
			expect_int(m, "box", k, pl_read_int(box, PL_AT(r, k / 3, k % 3)),
				   100 * r + (1 + k / 3) * 6 + 2 + k % 3);
			expect_int(m, "row", k, pl_read_int(row, PL_AT(r, k)), 100 * r + 18 + k);
		}
		for (int k = 0; k < 4; k++)
			expect_int(m, "column", k, pl_read_int(column, PL_AT(r, k, 0)),
				   100 * r + 6 * k + 5);
	}
	pld_barrier(pld_world());
	pl_write(box, PL_AT(next, 1, 1), -m->me - 1);
	pld_barrier(pld_world());
	expect_int(m, "written by the rank before", 0, pl_read_int(t, PL_AT(2, 3)), -from - 1);
	pld_free_window(t);
}

/* Evenly spaced domains have it, forwards and backwards; others an error that names their ranks. */
static void all_of_domains(const struct multi *m)
{
	static const struct {
		int ranks[4], n, even;
		const char *text;
	} rows[] = {
		{ { 0, 2 }, 2, 1, "" },
		{ { 3, 1 }, 2, 1, "" },
		{ { 1 }, 1, 1, "" },
		{ { 2, 1, 0 }, 3, 1, "" },
		{ { 0, 1, 3 }, 3, 0, "{0, 1, 3}" },
		{ { 2, 0, 1 }, 3, 0, "{2, 0, 1}" },
	};

	for (int i = 0; i < ROWS(rows); i++) {
		pld_ctx d = pld_domain_subset(pld_world(), rows[i].ranks, rows[i].n);
		pld_tensor t;
		pl_tensor all;

		if (!pld_is_member(d))
			continue;
		t = pld_new_window(PL_SHAPE(3), PL_INT32, .domain = d);
		pl_write(t, PL_AT(2), 10 + m->me);
		pld_barrier(d);
		pl_set_errors(PL_ERRORS_RETURN);
		all = pld_all(t);
		pl_set_errors(PL_ERRORS_END);
		if (rows[i].even)
			for (int k = 0; k < rows[i].n; k++)
				expect_int(m, "member's element", k, pl_read_int(all, PL_AT(k, 2)),
					   10 + rows[i].ranks[k]);
		else
			expect_error(m, "uneven", PL_EINVAL, rows[i].text);
		expect_true(m, "null where uneven", pl_is_null(all) == !rows[i].even);
		pld_barrier(d);
		pld_free_window(t);
		pld_domain_free(d);
	}
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "places", places, 0 },
		{ "aliases", aliases, 0 },
		{ "narrowed to a domain", narrowed, 0 },
		{ "colour", colour, 0 },
		{ "pointers", pointers, 0 },
		{ "all: slices", all_slices, 0 },
		{ "all: parts", all_of_parts, 0 },
		{ "all: domains", all_of_domains, 4 },
	};

	return multi_run("views", cases, ROWS(cases));
}
