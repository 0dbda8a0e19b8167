/*
 * e_mismatch_coll.c - members that disagree about a collective: each argument that they compare,
 * the order of calls, and calls left out; every one of them is told, with both calls and both
 * places.  The domain is broken, others live, and everything is released.
 */
#include "config.h"

#include <stdarg.h>

#include "collectives.h"
#include "mismatch.h"
#include "pldi_window.h"

/* ---- how a mismatch shows a call ------------------------------------------------------------- */

#define CALL_TEXT 320

static size_t add(char *text, size_t n, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static size_t add(char *text, size_t n, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	n += (size_t)vsnprintf(text + n, n < CALL_TEXT ? CALL_TEXT - n : 0, format, list);
	va_end(list);
	return n;
}

/* always: an offset of 0 too. */
static size_t add_window(char *text, size_t n, pld_tensor t, const char *name, int always)
{
	const struct pld_window_ *b = pldi_view(t.as_)->buffer;
	const long off = (long)((char *)t.at_ - (char *)b->at);

	n = add(text, n, "%sbuffer %u", name, b->place.number);
	return off || always ? add(text, n, ", %soffset %ld", name, off) : n;
}

static size_t add_signal(const struct coll_stage *s, char *text, size_t n, const struct args *a,
			 int always)
{
	const int rows = a->mode == PLD_RING ? 2 * (s->n - 1) : a->mode == PLD_TWO_PHASE ? 2 : 1;
	const pl_tensor cells = pld_local(a->signal);

	n = add_window(text, n, a->signal, "signal ", always);
	/* a row of cells, or the first cells of rows */
	n = add(text, n, ", cell step %d",
		rows > 1 || pl_ndim(cells) == 1 ? 1 : (int)cells.as_->stride[0]);
	if (rows == 1)
		return n;
	return add(text, n, ", row step %d",
		   pl_ndim(cells) == 1 ? s->n : (int)cells.as_->stride[0]);
}

static void call_text(const struct coll_stage *s, const struct collective *c, const struct args *a,
		      char text[CALL_TEXT])
{
	static const char *const ops[] = { "PLD_SUM", "PLD_MAX", "PLD_MIN", "PLD_PROD" };
	static const char *const modes[] = { "PLD_AUTO", "PLD_MESH", "PLD_TWO_PHASE", "PLD_RING" };
	const pl_tensor target = pld_local(a->target);
	size_t n = add(text, 0, "%s(", c->name);

	if (!(c->takes & TARGET)) {
		add(text, add_signal(s, text, n, a, 1), ")");
		return;
	}
	n = add(text, n, "dtype %s, count %d", pl_dtype_name(pl_dtype_of(target)),
		(int)pl_count(target));
	if (c->takes & OP)
		n = add(text, n, ", op %s", ops[a->op]);
	if (c->takes & MODE)
		n = add(text, n, ", mode %s",
			modes[a->mode == PLD_AUTO && a->signal.as_ ? PLD_MESH : a->mode]);
	if (c->takes & KIND)
		n = add(text, n, ", kind %s", a->kind ? "PLD_EXCLUSIVE" : "PLD_INCLUSIVE");
	if (c->takes & ROOT)
		n = add(text, n, ", root %d", a->root);
	if (c->takes & COUNTS && c->takes & OP)
		n = add(text, n, ", hash of counts *");
	if (c->takes & RECEIVED)
		n = add_window(text, add(text, n, ", "), a->received, "recv_counts ", 1);
	n = add_window(text, add(text, n, ", "), a->target, "", 1);
	if (a->signal.as_)
		n = add_signal(s, text, add(text, n, ", "), a, 0);
	add(text, n, ")");
}

/* ---- two calls ------------------------------------------------------------------------------- */

struct made {
	const struct collective *c;
	struct args a;
};

/* A window's end and a barrier of the domain, as calls: a->target says which window. */
static int free_call(const struct args *a, const char **where)
{
	return MADE(pld_free_window(a->target));
}

static int barrier_call(const struct args *a, const char **where)
{
	return MADE(pld_barrier(pld_get_comm_ctx(a->target)));
}

static int alloc_call(const struct args *a, const char **where)
{
	return MADE(pld_new_window(PL_SHAPE(4), PL_INT8, .domain = pld_get_comm_ctx(a->target)));
}

static const struct collective free_window = { .name = "pld_free_window", .call = free_call };
static const struct collective domain_barrier = { .name = "pld_barrier", .call = barrier_call };
static const struct collective new_window = { .name = "pld_new_window", .call = alloc_call };

static void made_text(const struct coll_stage *s, const struct made *m, char text[CALL_TEXT])
{
	if (m->c == &free_window)
		snprintf(text, CALL_TEXT, "pld_free_window_buffer(buffer %u)",
			 pldi_view(m->a.target.as_)->buffer->place.number);
	else if (m->c == &domain_barrier)
		snprintf(text, CALL_TEXT, "pld_barrier()");
	else if (m->c == &new_window)
		snprintf(text, CALL_TEXT,
			 "pld_alloc_window_buffer(bytes 4, dtype INT8, keep PLD_KEEP_HOST)");
	else
		call_text(s, m->c, &m->a, text);
}

/* Whose number in the world it is: in the domains of this test ranks go down. */
static int world_rank(const struct coll_stage *s, int rank)
{
	return s->n - 1 - rank;
}

/* All members but `odd` make the one call, that one the other. */
static void differ(struct coll_stage *s, const struct made *most, const struct made *one, int odd,
		   const char *what)
{
	const struct made *mine = s->me == odd ? one : most, *theirs = s->me == odd ? most : one;
	char text[2 * CALL_TEXT + 200], mine_text[CALL_TEXT], theirs_text[CALL_TEXT], name[200];
	char other[16] = "*";
	const char *here, *there;
	int got;

	made_text(s, mine, mine_text);
	made_text(s, theirs, theirs_text);
	if (s->me != odd)
		snprintf(other, sizeof(other), "%d", world_rank(s, odd));
	theirs->c->call(NULL, &there);
	snprintf(name, sizeof(name), "%s / %s, %s, rank %d", most->c->name, one->c->name, what,
		 world_rank(s, odd));
	errors_begin();
	got = mine->c->call(&mine->a, &here);
	snprintf(text, sizeof(text),
		 "ranks disagree about call * of the domain: rank %d calls %s at %s, rank %s "
		 "calls %s at %s",
		 world_rank(s, s->me), mine_text, mismatch_base(here), other, theirs_text,
		 mismatch_base(there));
	errors_fails(got, name, PL_EMISMATCH, mine->c->name, text, here);
}

/* ---- the domain afterwards ------------------------------------------------------------------- */

static struct coll_stage *begin(int cols)
{
	return coll_stage_new(pld_domain_split(pld_world(), 0, -pld_rank(pld_world())), 1, cols);
}

/* Nothing but releasing works; of it, everything. */
static void end(struct coll_stage *s, struct coll_stage *apart, const struct made *m)
{
	struct args a = coll_args(apart, &collectives[1]);
	const char *where;
	pld_ctx d = s->d;
	int got;

	if (m->c->takes) {
		errors_begin();
		got = m->c->call(&m->a, &where);
		errors_fails(got, "on a broken domain", PL_EABORTED, m->c->name, BROKEN, where);
	}
	FAILS(pld_barrier(d), PL_EABORTED, "pld_barrier", BROKEN);
	coll_stage_free(s);
	WORKS(pld_domain_free(d));
	WORKS(collectives[1].call(&a, &where));
}

/* ---- one argument ---------------------------------------------------------------------------- */

static void set_local(struct coll_stage *s, const struct collective *c, struct args *a)
{
	if (c->takes & LOCAL)
		a->local = coll_local(s, c, a->target);
}

static void other_dtype(struct coll_stage *s, const struct collective *c, struct args *a)
{
	a->target = pld_window(s->b, PL_SHAPE(s->n, s->cols), PL_FP32);
	set_local(s, c, a);
}

static void other_count(struct coll_stage *s, const struct collective *c, struct args *a)
{
	a->target = pld_window(s->b, PL_SHAPE(s->n, 2 * s->cols), PL_INT32);
	set_local(s, c, a);
}

static void other_buffer(struct coll_stage *s, const struct collective *c, struct args *a)
{
	(void)c;
	a->target = s->v;
}

static void other_offset(struct coll_stage *s, const struct collective *c, struct args *a)
{
	(void)c;
	a->target = pld_window(s->b, PL_SHAPE(s->n, s->cols), PL_INT32, .offset_bytes = 4);
}

static void other_op(struct coll_stage *s, const struct collective *c, struct args *a)
{
	(void)s, (void)c;
	a->op = PLD_MAX;
}

static void other_mode(struct coll_stage *s, const struct collective *c, struct args *a)
{
	(void)s, (void)c;
	a->mode = a->mode == PLD_RING ? PLD_MESH : PLD_RING;
}

static void other_kind(struct coll_stage *s, const struct collective *c, struct args *a)
{
	(void)s, (void)c;
	a->kind = PLD_EXCLUSIVE;
}

static void other_root(struct coll_stage *s, const struct collective *c, struct args *a)
{
	(void)c;
	a->root = s->n - 1;
}

static void other_shares(struct coll_stage *s, const struct collective *c, struct args *a)
{
	static int32_t shares[MOST_RANKS];

	(void)c;
	memset(shares, 0, sizeof(shares));
	shares[0] = s->n;
	a->counts = pl_wrap(shares, PL_SHAPE(s->n), PL_INT32);
}

static void other_received(struct coll_stage *s, const struct collective *c, struct args *a)
{
	(void)c;
	a->received = s->counts_v;
}

static void other_received_offset(struct coll_stage *s, const struct collective *c, struct args *a)
{
	(void)c;
	a->received = pld_window(s->cb, PL_SHAPE(s->n), PL_INT32, .offset_bytes = 8);
}

static void no_signal(struct coll_stage *s, const struct collective *c, struct args *a)
{
	(void)s, (void)c;
	a->signal = (pld_tensor){ NULL, NULL };
}

static void other_signal(struct coll_stage *s, const struct collective *c, struct args *a)
{
	(void)c;
	a->signal = s->sig_v;
}

static void other_signal_offset(struct coll_stage *s, const struct collective *c, struct args *a)
{
	(void)c;
	a->signal = pld_window(s->sb, PL_SHAPE(2 * s->n, s->n), PL_INT32, .offset_bytes = 4);
}

/* Cells one after the other, instead of each in a row of its own. */
static void other_step(struct coll_stage *s, const struct collective *c, struct args *a)
{
	(void)c;
	a->signal = pld_window(s->sb, PL_SHAPE(2 * s->n * s->n), PL_INT32);
}

/* Rows of cells that are further apart. */
static void other_row_step(struct coll_stage *s, const struct collective *c, struct args *a)
{
	const int rows = a->mode == PLD_RING ? 2 * (s->n - 1) : 2;

	(void)c;
	a->signal = pl_slice(pld_window(s->sb, PL_SHAPE(rows, s->n + 1), PL_INT32), PL_AT(0, 0),
			     PL_SHAPE(rows, s->n));
}

static const struct change {
	const char *name;
	unsigned needs; /* of the collective */
	int signal;	/* 1: only calls with one */
	void (*make)(struct coll_stage *s, const struct collective *c, struct args *a);
} changes[] = {
	{ "dtype", TARGET, 0, other_dtype },
	{ "count", TARGET, 0, other_count },
	{ "buffer", TARGET, 0, other_buffer },
	{ "offset", TARGET, 0, other_offset },
	{ "op", OP, 0, other_op },
	{ "mode", MODE, 0, other_mode },
	{ "kind", KIND, 0, other_kind },
	{ "root", ROOT, 0, other_root },
	{ "counts", COUNTS | OP, 0, other_shares },
	{ "recv_counts", RECEIVED, 0, other_received },
	{ "offset of recv_counts", RECEIVED, 0, other_received_offset },
	{ "signal, none", TARGET, 1, no_signal },
	{ "signal", 0, 1, other_signal },
	{ "offset of signal", 0, 1, other_signal_offset },
	{ "step of signal", 0, 1, other_step },
	{ "row step of signal", MODE, 1, other_row_step },
};

static int fits(const struct change *change, const struct collective *c, pld_mode mode,
		int with_signal)
{
	if ((c->takes & change->needs) != change->needs || (change->signal && !with_signal))
		return 0;
	/* one row of cells has no distance of rows; of several, cells are always neighbours */
	if (change->make == other_step || change->make == other_row_step)
		return (mode > PLD_MESH) == (change->make == other_row_step);
	return 1;
}

/* The odd rank, the signal, and which way the data go: few bytes travel with the call itself. */
static void change_one(int i, const struct collective *c, pld_mode mode, int variant,
		       struct coll_stage *apart)
{
	const struct change *change = &changes[i];
	const int k = (int)(c - collectives);
	const int with_signal = variant & 2 || !(c->takes & TARGET);
	struct coll_stage *s;
	struct made most, one;

	if (!fits(change, c, mode, with_signal))
		return;
	s = begin((i + k + (int)mode + variant) % 2 ? 16 : 1);
	most = (struct made){ c, coll_args(s, c) };
	most.a.mode = mode;
	if (with_signal)
		most.a.signal = s->sig;
	one = most;
	change->make(s, c, &one.a);
	differ(s, &most, &one, variant & 1 ? s->n - 1 : 0, change->name);
	end(s, apart, &most);
}

static void arguments(struct coll_stage *apart)
{
	for (int i = 0; i < (int)(sizeof(changes) / sizeof(changes[0])); i++) {
		for (int k = 0; k < ncollectives; k++) {
			const int modes = collectives[k].takes & MODE ? PLD_RING + 1 : 1;

			for (int v = 0; v < 4 * modes; v++)
				change_one(i, &collectives[k], (pld_mode)(v / 4), v % 4, apart);
		}
	}
}

/* ---- another call, and none ------------------------------------------------------------------ */

static struct made right(struct coll_stage *s, int i, int with_signal)
{
	struct made m = { &collectives[i], coll_args(s, &collectives[i]) };

	if (with_signal)
		m.a.signal = s->sig;
	return m;
}

/* The odd rank is one call ahead, or has the two in another order. */
static void order(struct coll_stage *apart)
{
	for (int i = 0; i < ncollectives * ncollectives; i++) {
		const int first = i / ncollectives, second = i % ncollectives;
		struct coll_stage *s;
		struct made most, one;

		if (first == second)
			continue;
		s = begin(i % 2 ? 16 : 1);
		most = right(s, first, i & 2);
		one = right(s, second, i & 4);
		differ(s, &most, &one, i % s->n, "order");
		end(s, apart, &most);
	}
}

/* Three equal calls, of which the odd rank leaves out the last and goes on. */
static void left_out(struct coll_stage *apart)
{
	static const struct collective *const next[] = { &free_window, &domain_barrier,
							 &new_window };

	for (int i = 0; i < ncollectives * 6; i++) {
		struct coll_stage *s = begin(i % 4 ? 16 : 1);
		struct made most = right(s, i / 6, i & 1);
		struct made one = { next[i / 2 % 3], { .target = s->v } };
		const char *where;

		WORKS(most.c->call(&most.a, &where));
		WORKS(most.c->call(&most.a, &where));
		differ(s, &most, &one, i % s->n, "left out");
		end(s, apart, &most);
	}
}

static void all(int me, int n)
{
	pld_ctx d = pld_domain_split(pld_world(), 0, 0);
	struct coll_stage *apart = coll_stage_new(d, 1, 16);

	(void)me, (void)n;
	arguments(apart);
	order(apart);
	left_out(apart);
	coll_works(apart);
	coll_stage_free(apart);
	WORKS(pld_domain_free(d));
}

int main(void)
{
	return errors_main(all);
}
