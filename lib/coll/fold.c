/*
 * fold.c - reducing many arrays into one, or into prefixes, in an order that their number fixes.
 *
 * Blocks of some KiB, so that the accumulators stay in the first-level cache while every source is
 * read once.  Up to 16 operands combine from the first to the last; more in groups of 16, and then
 * the groups: shorter chains of dependent roundings, and an order that a tree of that width could
 * follow as well.
 */
#include "config.h"

#include "pldi_coll.h"
#include "pldi_dtype.h"
#include "pldi_ops.h"

#define GROUP 16
#define BLOCK_BYTES 4096

static const enum pldi_op ops[] = {
	[PLD_SUM] = PLDI_ADD,
	[PLD_MAX] = PLDI_MAX,
	[PLD_MIN] = PLDI_MIN,
	[PLD_PROD] = PLDI_MUL,
};

static pl_dtype accumulates_in(pl_dtype t)
{
	return t == PL_FP16 || t == PL_BF16 ? PL_FP32 : t;
}

/* One block's value so far.  An operation's output is no operand of it, so there are two. */
struct accumulator {
	_Alignas(64) char data[2][BLOCK_BYTES];
	int now;
	bool empty;
};

struct folding {
	pl_dtype dtype, compute;
	pldi_op_fn *fn;
	int64_t elem_bytes;
	size_t n; /* elements of the block */
	struct accumulator group, total;
	_Alignas(64) char operand[BLOCK_BYTES]; /* one in the type that it is computed in */
};

static void start(struct folding *f, pl_dtype dtype, pld_op op)
{
	f->dtype = dtype;
	f->compute = accumulates_in(dtype);
	f->fn = pldi_op(ops[op], f->compute);
	f->elem_bytes = (int64_t)pl_dtype_bytes(dtype);
}

static int64_t block_elems(const struct folding *f)
{
	return BLOCK_BYTES / (int64_t)pl_dtype_bytes(f->compute);
}

static void add(struct folding *f, struct accumulator *a, const void *operand)
{
	if (a->empty) {
		a->empty = false;
		memcpy(a->data[a->now], operand, f->n * pl_dtype_bytes(f->compute));
		return;
	}
	f->fn(a->data[1 - a->now], a->data[a->now], operand, f->n);
	a->now = 1 - a->now;
}

/* Block of a source, in the type that it is computed in. */
static const void *load(struct folding *f, const void *src, int64_t at)
{
	const char *from = (const char *)src + at * f->elem_bytes;

	if (f->compute == f->dtype)
		return from;
	pldi_cast(f->compute, f->operand, f->dtype, from, f->n);
	return f->operand;
}

static void store(const struct folding *f, void *dst, int64_t at, const void *value)
{
	char *to = (char *)dst + at * f->elem_bytes;

	if (f->compute == f->dtype)
		memcpy(to, value, f->n * (size_t)f->elem_bytes);
	else
		pldi_cast(f->dtype, to, f->compute, value, f->n);
}

static void clear(struct folding *f)
{
	f->group.empty = f->total.empty = true;
	f->group.now = f->total.now = 0;
}

/* The group is complete: it joins the groups before it. */
static void close_group(struct folding *f)
{
	add(f, &f->total, f->group.data[f->group.now]);
	f->group.empty = true;
}

static const void *fold_block(struct folding *f, const void *const *src, int32_t n, int64_t at)
{
	clear(f);
	for (int32_t i = 0; i < n; i++) {
		add(f, &f->group, load(f, src[i], at));
		if (n > GROUP && (i % GROUP == GROUP - 1 || i == n - 1))
			close_group(f);
	}
	return n > GROUP ? f->total.data[f->total.now] : f->group.data[f->group.now];
}

void pldi_fold(pl_dtype dtype, pld_op op, const void *const *src, int32_t n, void *const *dst,
	       int32_t ndst, int64_t count)
{
	struct folding f;
	int64_t most;

	if (n == 1) { /* no operation, no rounding: the same bits */
		for (int32_t k = 0; k < ndst; k++)
			pldi_coll_copy(dst[k], src[0], count * (int64_t)pl_dtype_bytes(dtype));
		return;
	}
	start(&f, dtype, op);
	most = block_elems(&f);
	for (int64_t at = 0; at < count; at += most) {
		const void *value;

		f.n = (size_t)(count - at < most ? count - at : most);
		value = fold_block(&f, src, n, at);
		for (int32_t k = 0; k < ndst; k++)
			store(&f, dst[k], at, value);
	}
}

/* ---- prefixes -------------------------------------------------------------------------------- */

/* What an operation does not change, n times. */
static void fill_identity(struct folding *f, pld_op op, void *out)
{
	const struct pldi_dtype *t = pldi_dtype(f->compute);
	unsigned char elem[8] = { 0 };

	if (t->class == PLDI_FLOAT)
		pldi_elem_from_float(f->compute,
				     op == PLD_SUM    ? 0.0
				     : op == PLD_PROD ? 1.0
				     : op == PLD_MAX  ? -__builtin_inf()
						      : __builtin_inf(),
				     elem);
	else if (op == PLD_PROD)
		pldi_elem_from_int(f->compute, 1, elem);
	else if (op == PLD_MAX && t->class == PLDI_SIGNED)
		elem[t->bytes - 1] = 0x80; /* little end first, as on every machine pld runs on */
	else if (op == PLD_MIN) {
		memset(elem, 0xff, t->bytes);
		if (t->class == PLDI_SIGNED)
			elem[t->bytes - 1] = 0x7f;
	}
	for (size_t i = 0; i < f->n; i++)
		memcpy((char *)out + i * t->bytes, elem, t->bytes);
}

/* The prefix so far: the groups that are complete and the one that is not. */
static const void *prefix(struct folding *f)
{
	struct accumulator *t = &f->total;

	if (t->empty)
		return f->group.data[f->group.now];
	if (f->group.empty)
		return t->data[t->now];
	f->fn(f->operand, t->data[t->now], f->group.data[f->group.now], f->n);
	return f->operand;
}

static void scan_block(struct folding *f, pld_op op, pld_scan_kind kind, const void *const *src,
		       int32_t n, void *const *dst, int64_t at)
{
	_Alignas(64) char before[BLOCK_BYTES]; /* the prefix that ends before i */

	clear(f);
	if (kind == PLD_EXCLUSIVE)
		fill_identity(f, op, before);
	for (int32_t i = 0; i < n; i++) {
		add(f, &f->group, load(f, src[i], at));
		if (kind == PLD_INCLUSIVE) {
			store(f, dst[i], at, prefix(f));
		} else {
			store(f, dst[i], at, before);
			memcpy(before, prefix(f), f->n * pl_dtype_bytes(f->compute));
		}
		if (i % GROUP == GROUP - 1)
			close_group(f);
	}
}

void pldi_fold_scan(pl_dtype dtype, pld_op op, pld_scan_kind kind, const void *const *src,
		    int32_t n, void *const *dst, int64_t count)
{
	struct folding f;
	int64_t most;

	start(&f, dtype, op);
	most = block_elems(&f);
	for (int64_t at = 0; at < count; at += most) {
		f.n = (size_t)(count - at < most ? count - at : most);
		scan_block(&f, op, kind, src, n, dst, at);
	}
}

/* ---- two ------------------------------------------------------------------------------------- */

void pldi_fold_two(pl_dtype dtype, pld_op op, void *out, const void *a, const void *b,
		   int64_t count)
{
	const void *src[] = { a, b };
	void *dst[] = { out };

	pldi_fold(dtype, op, src, 2, dst, 1, count);
}
