/* coll_try.c - staging a call, making it, and looking at everything it may and may not change. */
#include "config.h"

#include "coll_try.h"

enum { GUARD = 64, GUARD_BYTE = 0xa5 };

/* The operands of one call. */
struct operands {
	pld_tensor target, received, signal;
	pl_tensor input, counts; /* null: none */
	char *around;		 /* of the target: guard, slice, guard */
	char *give;		 /* where the contribution is staged */
	int64_t n;		 /* its elements */
	int64_t e, count;	 /* bytes of an element, elements of the target */
	int64_t count_of[COLL_MEMBERS];
};

/* ---- buffers --------------------------------------------------------------------------------- */

static int64_t slot_cells(const struct multi *m)
{
	return 2 * (int64_t)(m->n + 2) * (m->n + 2) + 8;
}

struct coll_rig coll_open(const struct multi *m, int64_t bytes)
{
	const int64_t all = bytes + 4 * GUARD;
	struct coll_rig g = { .m = m, .domain = pld_world(), .p = m->n, .me = m->me };

	g.bytes = bytes;
	g.data = pld_alloc_window_buffer(.bytes = all);
	g.input = pld_alloc_window_buffer(.bytes = all);
	g.counts = pld_alloc_window_buffer(.bytes = 8 * COLL_MEMBERS);
	g.cells = pld_alloc_window_buffer(.bytes = 4 * COLL_SLOTS * slot_cells(m));
	g.heap = malloc((size_t)all);
	g.wanted = malloc((size_t)all);
	expect_true(m, "memory", g.heap && g.wanted);
	return g;
}

void coll_close(struct coll_rig *g)
{
	free(g->wanted);
	free(g->heap);
	pld_free_window_buffer(g->cells);
	pld_free_window_buffer(g->counts);
	pld_free_window_buffer(g->input);
	pld_free_window_buffer(g->data);
}

struct coll_rig coll_on(const struct coll_rig *g, pld_ctx domain, int slot)
{
	struct coll_rig on = *g;

	on.domain = domain;
	on.p = pld_nranks(domain);
	on.me = pld_rank(domain);
	on.slot = slot;
	return on;
}

void coll_delay(uint64_t *state)
{
	const uint64_t r = multi_random(state);

	multi_delay(state);
	if (r % 16 == 0)
		for (int64_t until = multi_now_ns() + (int64_t)(r >> 8) % 300000;
		     multi_now_ns() < until;)
			sched_yield();
}

/* ---- signals --------------------------------------------------------------------------------- */

static pld_tensor cells_of(const struct coll_rig *g, const pl_dims *shape)
{
	return pld_window(g->cells, shape, PL_INT32, .domain = g->domain,
			  .offset_bytes = 4 * g->slot * slot_cells(g->m));
}

static pld_tensor one_row(const struct coll_rig *g, enum coll_cells form)
{
	const int64_t p = g->p;

	switch (form) {
	case COLL_PLAIN:
		return cells_of(g, PL_SHAPE(p));
	case COLL_COLUMN:
		return cells_of(g, PL_SHAPE(p, 1));
	case COLL_WIDE:
		return cells_of(g, PL_SHAPE(p, 3));
	case COLL_LANE:
		return pl_slice(cells_of(g, PL_SHAPE(p, 3)), PL_AT(0, 1), PL_SHAPE(p, 1));
	default:
		return cells_of(g, PL_SHAPE(2, p, 2));
	}
}

static pld_tensor rows_of(const struct coll_rig *g, enum coll_cells form, int64_t rows)
{
	const int64_t p = g->p;

	switch (form) {
	case COLL_PLAIN:
		return cells_of(g, PL_SHAPE(rows, p));
	case COLL_COLUMN:
		return cells_of(g, PL_SHAPE(rows + 1, p));
	case COLL_WIDE:
		return cells_of(g, PL_SHAPE(rows, p + 2));
	case COLL_LANE:
		return pl_slice(cells_of(g, PL_SHAPE(rows + 1, p + 2)), PL_AT(1, 1),
				PL_SHAPE(rows, p));
	default:
		return cells_of(g, PL_SHAPE(rows * p + 3));
	}
}

static pld_tensor signal_of(const struct coll_rig *g, const struct coll_case *c)
{
	const bool allreduce = c->kind == COLL_ALLREDUCE;
	const int64_t around = 2 * (int64_t)(g->p - 1);

	if (c->cells == COLL_LINES)
		return (pld_tensor){ NULL, NULL };
	if (c->cells == COLL_RINGS && (g->p > 1 || c->mode != PLD_TWO_PHASE))
		return cells_of(g, PL_SHAPE(around + 1, g->p));
	if (allreduce && c->mode == PLD_RING)
		return rows_of(g, c->cells, around ? around : 1);
	if (allreduce && c->mode == PLD_TWO_PHASE)
		return rows_of(g, c->cells, 2);
	return one_row(g, c->cells);
}

/* ---- staging --------------------------------------------------------------------------------- */

static bool is_reduction(enum coll_kind kind)
{
	return kind == COLL_ALLREDUCE || kind == COLL_REDUCE || kind == COLL_SCAN ||
	       kind == COLL_REDUCE_SCATTER || kind == COLL_REDUCE_SCATTER_V;
}

/* The target: its slice is junk, between guards. */
static void stage_target(const struct coll_rig *g, const struct coll_case *c, struct operands *o)
{
	pl_dims shape = c->shape;
	char *slice;

	shape.d[0] = coll_extent(c, g->p);
	o->e = (int64_t)pl_dtype_bytes(c->dtype);
	o->target = pld_window(g->data, &shape, c->dtype, .domain = g->domain,
			       .offset_bytes = GUARD + c->offset * o->e);
	expect_true(g->m, "a view of the target", o->target.as_ != NULL);
	slice = pl_data(pld_local(o->target));
	o->count = pl_count(pld_local(o->target));
	o->around = slice - GUARD;
	memset(o->around, GUARD_BYTE, GUARD);
	memset(slice + o->count * o->e, GUARD_BYTE, GUARD);
	coll_junk(c, g->me, o->count, slice);
}

/* How much a member contributes. */
static void measure(const struct coll_rig *g, const struct coll_case *c, struct operands *o)
{
	const int64_t row = coll_row_elems(c);

	o->n = o->count;
	if (c->kind == COLL_ALLGATHER || c->kind == COLL_GATHER)
		o->n = c->shape.d[0] * row;
	else if (c->kind == COLL_ALLGATHER_V)
		o->n = coll_rows(c, g->p, g->me, 0) * row;
	else if (c->kind == COLL_SCATTER)
		o->n = c->root == g->me ? o->count * g->p : 0;
	else if (c->kind == COLL_BROADCAST)
		o->n = c->root == g->me ? o->count : 0;
	else if (c->kind == COLL_BARRIER)
		o->n = 0;
}

/* What is contributed, as an operand: of the shape that fits, or flat where any shape will do. */
static pl_tensor as_operand(const struct coll_rig *g, const struct coll_case *c,
			    const struct operands *o)
{
	pl_dims shape = c->shape;

	if (c->kind == COLL_ALLGATHER_V)
		shape.d[0] = coll_rows(c, g->p, g->me, 0);
	else if (c->seed % 2)
		return pl_wrap(o->give, PL_SHAPE(o->n), c->dtype);
	else if (c->kind == COLL_SCATTER)
		shape.d[0] *= g->p;
	else if (c->kind != COLL_ALLGATHER && c->kind != COLL_GATHER)
		shape.d[0] = coll_extent(c, g->p);
	return pl_wrap(o->give, &shape, c->dtype);
}

static void stage_input(const struct coll_rig *g, const struct coll_case *c, struct operands *o)
{
	char *slice = o->around + GUARD, *home = slice;
	pld_tensor beside = pld_window(g->input, PL_SHAPE(o->n), c->dtype, .domain = g->domain,
				       .offset_bytes = GUARD);
	const bool optional = is_reduction(c->kind) || c->kind == COLL_BROADCAST;
	const bool gathers = c->kind == COLL_ALLGATHER || c->kind == COLL_GATHER;
	const bool at_home = optional || gathers;

	if (gathers)
		home += g->me * o->n * o->e;
	o->give = g->heap;
	if (at_home && (c->input == COLL_IN_PLACE || c->input == COLL_IN_SLICE))
		o->give = home;
	else if (c->input == COLL_IN_WINDOW)
		o->give = pl_data(pld_local(beside));
	coll_give(c, g->me, 0, o->n, o->give);
	if (c->kind == COLL_BARRIER || (optional && c->input == COLL_IN_PLACE))
		return;
	if ((c->kind == COLL_BROADCAST || c->kind == COLL_SCATTER) && c->root != g->me)
		return;
	o->input = as_operand(g, c, o);
	expect_true(g->m, "an operand", o->input.as_ != NULL);
}

/* Counts to send or to get, and what comes: junk that no member sends. */
static void stage_counts(const struct coll_rig *g, const struct coll_case *c, struct operands *o)
{
	int32_t *came, *narrow = (int32_t *)o->count_of;

	o->received = pld_window(g->counts, PL_SHAPE(g->p), PL_INT32, .domain = g->domain);
	came = pl_data(pld_local(o->received));
	for (int m = 0; m < g->p; m++)
		came[m] = -77;
	for (int m = 0; m < g->p; m++) {
		const bool pairs = c->kind == COLL_ALL_TO_ALL_V;
		const int64_t rows = coll_rows(c, g->p, pairs ? g->me : m, pairs ? m : 0);

		if (c->wide_counts)
			o->count_of[m] = rows;
		else
			narrow[m] = (int32_t)rows;
	}
	o->counts = pl_wrap(o->count_of, PL_SHAPE(g->p), c->wide_counts ? PL_INT64 : PL_INT32);
}

/* ---- the call -------------------------------------------------------------------------------- */

static pl_status reduce_by(const struct coll_case *c, const struct operands *o)
{
	switch (c->kind) {
	case COLL_ALLREDUCE:
		return pld_allreduce(o->target, .signal = o->signal, .op = c->op, .mode = c->mode,
				     .input = o->input);
	case COLL_REDUCE:
		return pld_reduce(o->target, .signal = o->signal, .op = c->op, .root = c->root,
				  .input = o->input);
	case COLL_SCAN:
		return pld_scan(o->target, .signal = o->signal, .op = c->op, .kind = c->scan,
				.input = o->input);
	case COLL_REDUCE_SCATTER:
		return pld_reduce_scatter(o->target, .signal = o->signal, .op = c->op,
					  .input = o->input);
	default:
		return pld_reduce_scatter_v(o->target, o->counts, .signal = o->signal, .op = c->op,
					    .input = o->input);
	}
}

static pl_status call(const struct coll_rig *g, const struct coll_case *c, const struct operands *o)
{
	switch (c->kind) {
	case COLL_BARRIER:
		return o->signal.as_ ? pld_barrier(o->signal) : pld_barrier(g->domain);
	case COLL_BROADCAST:
		return pld_broadcast(o->target, .signal = o->signal, .root = c->root,
				     .input = o->input);
	case COLL_ALLGATHER:
		return pld_allgather(o->input, o->target, .signal = o->signal);
	case COLL_ALLGATHER_V:
		return pld_allgather_v(o->input, o->target, o->received, .signal = o->signal);
	case COLL_GATHER:
		return pld_gather(o->input, o->target, .signal = o->signal, .root = c->root);
	case COLL_SCATTER:
		return pld_scatter(o->input, o->target, .signal = o->signal, .root = c->root);
	case COLL_ALL_TO_ALL:
		return pld_all_to_all(o->input, o->target, .signal = o->signal);
	case COLL_ALL_TO_ALL_V:
		return pld_all_to_all_v(o->input, o->target, o->counts, o->received,
					.signal = o->signal);
	default:
		return reduce_by(c, o);
	}
}

/* ---- looking at it --------------------------------------------------------------------------- */

static pl_status wanted_status(const struct coll_rig *g, const struct coll_case *c)
{
	if (!c->wrong || (c->kind != COLL_ALL_TO_ALL_V && c->kind != COLL_ALLGATHER_V))
		return PL_OK;
	/* who sends says so; when there is no room for all, all do */
	if (c->kind == COLL_ALL_TO_ALL_V && coll_wrong_member(c, g->p) != g->me)
		return PL_OK;
	return PL_EINVAL;
}

static void check_received(const struct coll_rig *g, const struct coll_case *c,
			   const struct operands *o)
{
	const int32_t *came = pl_data(pld_local(o->received));

	for (int m = 0; m < g->p; m++) {
		int64_t rows = -77;

		if (c->kind == COLL_ALLGATHER_V)
			rows = coll_rows(c, g->p, m, 0);
		else if (c->kind == COLL_ALL_TO_ALL_V)
			rows = coll_moved(c, g->p, m, g->me);
		expect_int(g->m, "recv_counts", m, came[m], rows);
	}
}

/* Elements [first, first + n) of the slice, and the two guards. */
static void check_slice(const struct coll_rig *g, const struct coll_case *c,
			const struct operands *o, int64_t first, int64_t n)
{
	const char *slice = o->around + GUARD, *want = g->wanted;

	if (memcmp(slice + first * o->e, want + first * o->e, (size_t)(n * o->e)))
		for (int64_t i = first; i < first + n; i++)
			if (memcmp(slice + i * o->e, want + i * o->e, (size_t)o->e)) {
				uint64_t got = 0, wanted = 0;

				memcpy(&got, slice + i * o->e, (size_t)o->e);
				memcpy(&wanted, want + i * o->e, (size_t)o->e);
				multi_fail(g->m,
					   "element %lld of %lld: got bits 0x%llx, wanted 0x%llx",
					   (long long)i, (long long)o->count,
					   (unsigned long long)got, (unsigned long long)wanted);
			}
	expect_filled(g->m, "before the target", o->around, GUARD_BYTE, GUARD);
	expect_filled(g->m, "after the target", slice + o->count * o->e, GUARD_BYTE, GUARD);
	if (o->give >= slice && o->give <= slice + o->count * o->e)
		return;
	for (int64_t i = 0; i < o->n && i < 1024; i++) {
		char was[8];

		coll_give(c, g->me, i, 1, was);
		expect_bytes(g->m, "the input", o->give + i * o->e, was, (size_t)o->e);
	}
}

/* All members are out when the first barrier is, and none is in the next call before the second. */
static void check_cells(const struct coll_rig *g, const struct coll_case *c)
{
	const int64_t n = slot_cells(g->m);
	const int32_t *cell = pl_data(pld_local(cells_of(g, PL_SHAPE(n))));

	if (c->cells == COLL_LINES || !c->settle)
		return;
	pld_barrier(g->domain);
	for (int64_t i = 0; i < n; i++)
		expect_int(g->m, "cell", i, cell[i], 0);
	pld_barrier(g->domain);
}

void coll_try(const struct coll_rig *rig, const struct coll_case *c)
{
	uint64_t state = multi_seed(c->seed, c->shake, (uint64_t)rig->m->me);
	struct coll_rig g = *rig;
	struct multi m = *rig->m;
	struct operands o = { 0 };
	int64_t first, n;
	pl_status rc;
	char text[256];

	m.row = coll_text(c, g.p, g.me, text, sizeof(text));
	g.m = &m;
	stage_target(&g, c, &o);
	measure(&g, c, &o);
	expect_true(&m, "room in the buffers", (o.n + c->offset) * o.e <= g.bytes);
	stage_input(&g, c, &o);
	stage_counts(&g, c, &o);
	o.signal = signal_of(&g, c);
	expect_true(&m, "a signal", c->cells == COLL_LINES || o.signal.as_);
	memcpy(g.wanted, o.around + GUARD, (size_t)(o.count * o.e));
	coll_delay(&state);

	rc = call(&g, c, &o);
	expect_status(&m, "status", rc, wanted_status(&g, c));
	coll_delay(&state);
	coll_wanted(c, g.p, g.me, g.wanted, &first, &n);
	check_slice(&g, c, &o, first, n);
	check_received(&g, c, &o);
	check_cells(&g, c);
}
