/* fetch.c - changing one element of a peer's slice in one step, and what it was before. */
#include "config.h"

#include <stdatomic.h>

#include "pldi_dtype.h"
#include "pldi_rma.h"

/* A call whose arguments are to be checked. */
struct change {
	const char *call, *where;
	enum pldi_opcode op;
	enum pldi_act act;
	int64_t value, expected; /* expected: of compare_swap */
};

/* ---- one element ----------------------------------------------------------------------------- */

/*
 * All seq_cst: each is the [N1] of pldi_bell.h, a release for who reads the element next and an
 * acquire of who changed it last.  An element is aligned: a window's offset is a multiple of its
 * size.  The type itself extends the old value, with its sign or with zeros.
 */
#define INTEGER(name, type)                                                                        \
	static int64_t fetch_##name(void *at, const struct change *c)                              \
	{                                                                                          \
		_Atomic type *cell = at;                                                           \
		const type value = (type)c->value;                                                 \
		type old = (type)c->expected;                                                      \
                                                                                                   \
		switch (c->act) {                                                                  \
		case PLDI_ACT_FETCH_ADD:                                                           \
			return (int64_t)atomic_fetch_add_explicit(cell, value,                     \
								  memory_order_seq_cst);           \
		case PLDI_ACT_FETCH_AND:                                                           \
			return (int64_t)atomic_fetch_and_explicit(cell, value,                     \
								  memory_order_seq_cst);           \
		case PLDI_ACT_FETCH_OR:                                                            \
			return (int64_t)atomic_fetch_or_explicit(cell, value,                      \
								 memory_order_seq_cst);            \
		case PLDI_ACT_FETCH_XOR:                                                           \
			return (int64_t)atomic_fetch_xor_explicit(cell, value,                     \
								  memory_order_seq_cst);           \
		case PLDI_ACT_SWAP:                                                                \
			return (int64_t)atomic_exchange_explicit(cell, value,                      \
								 memory_order_seq_cst);            \
		default: /* compare_swap; `old` stays `expected` where they are equal */           \
			atomic_compare_exchange_strong_explicit(cell, &old, value,                 \
								memory_order_seq_cst,              \
								memory_order_seq_cst);             \
			return (int64_t)old;                                                       \
		}                                                                                  \
	}
#define INTEGER_SIGNED(name, type) INTEGER(name, type)
#define INTEGER_UNSIGNED(name, type) INTEGER(name, type)
#define INTEGER_FLOAT(name, type)

#define PLDI_DTYPE(name, type, class, codec, compute) INTEGER_##class(name, type)
#include "dtypes.def"
#undef PLDI_DTYPE

typedef int64_t fetch_fn(void *at, const struct change *c);

#define ENTRY_SIGNED(name) [PL_##name] = fetch_##name,
#define ENTRY_UNSIGNED(name) [PL_##name] = fetch_##name,
#define ENTRY_FLOAT(name)

static fetch_fn *const fetch[] = {
#define PLDI_DTYPE(name, type, class, codec, compute) ENTRY_##class(name)
#include "dtypes.def"
#undef PLDI_DTYPE
};

/* ---- checks ---------------------------------------------------------------------------------- */

static pl_status fail_dtype(pl_dtype dtype, const struct change *c)
{
	return pldi_fail(PL_EINVAL, c->call, c->where,
			 "the window is of %s; allowed: INT8, INT16, INT32, INT64, UINT8, UINT16, "
			 "UINT32, UINT64",
			 pl_dtype_name(dtype));
}

/* v is a number of the dtype's bits, signed or not: a UINT64 comes as the INT64 of its bits. */
static pl_status check_value(const char *name, int64_t v, const struct pl_layout *l,
			     const struct change *c)
{
	const int bits = 8 * (int)l->elem_bytes;
	int64_t low, high;

	if (__builtin_expect(bits == 64, 1))
		return PL_OK;
	low = -(INT64_C(1) << (bits - 1));
	high = (INT64_C(1) << bits) - 1;
	if (__builtin_expect(v >= low && v <= high, 1))
		return PL_OK;
	return pldi_fail(PL_EINVAL, c->call, c->where,
			 "%s %lld does not fit the %d bits of %s; allowed: %lld to %lld", name,
			 (long long)v, bits, pl_dtype_name(l->dtype), (long long)low,
			 (long long)high);
}

static pl_status check_values(const struct pl_layout *l, const struct change *c)
{
	pl_status rc;

	if (pldi_dtype(l->dtype)->class == PLDI_FLOAT)
		return fail_dtype(l->dtype, c);
	rc = check_value("value", c->value, l, c);
	if (rc == PL_OK && c->act == PLDI_ACT_COMPARE_SWAP)
		rc = check_value("expected", c->expected, l, c);
	return rc;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Whether an element that was `old` has been written: a compare_swap may have found another. */
static bool written(int64_t old, const struct pl_layout *l, const struct change *c)
{
	return c->act != PLDI_ACT_COMPARE_SWAP ||
	       ((uint64_t)old ^ (uint64_t)c->expected) << (64 - 8 * l->elem_bytes) == 0;
}

static int64_t change(pld_tensor t, int peer, const pl_dims *at, const struct change *c)
{
	struct pldi_domain *d = pldi_window_check(t, PLDI_MAY_SIGNAL, c->call, c->where, "window");
	const struct pl_layout *l;
	int64_t off, old;

	if (!d)
		return 0;
	l = t.as_->layout;
	if (check_values(l, c) || pldi_peer_check(d, peer, c->call, c->where) ||
	    pldi_index(l, at, &off, c->call, c->where, "element"))
		return 0;
	off *= l->elem_bytes;
	pldi_doing(d->self, c->op, c->where);
	if (pldi_observed(d->self->observe))
		pldi_window_act(c->act, t, d, peer, off, c->value);
	old = fetch[l->dtype](pldi_peer_at(t, peer, off), c); /* [N1] of pldi_bell.h */
	if (written(old, l, c))
		pldi_bell_tell(d->bell[peer]); /* [N2] */
	return old;
}

int64_t(pld_fetch_add)(pld_tensor t, int peer, const pl_dims *at, int64_t value, const char *where)
{
	return change(t, peer, at,
		      &(struct change){ "pld_fetch_add", where, PLDI_OP_FETCH_ADD,
					PLDI_ACT_FETCH_ADD, value, 0 });
}

int64_t(pld_fetch_and)(pld_tensor t, int peer, const pl_dims *at, int64_t value, const char *where)
{
	return change(t, peer, at,
		      &(struct change){ "pld_fetch_and", where, PLDI_OP_FETCH_AND,
					PLDI_ACT_FETCH_AND, value, 0 });
}

int64_t(pld_fetch_or)(pld_tensor t, int peer, const pl_dims *at, int64_t value, const char *where)
{
	return change(t, peer, at,
		      &(struct change){ "pld_fetch_or", where, PLDI_OP_FETCH_OR, PLDI_ACT_FETCH_OR,
					value, 0 });
}

int64_t(pld_fetch_xor)(pld_tensor t, int peer, const pl_dims *at, int64_t value, const char *where)
{
	return change(t, peer, at,
		      &(struct change){ "pld_fetch_xor", where, PLDI_OP_FETCH_XOR,
					PLDI_ACT_FETCH_XOR, value, 0 });
}

int64_t(pld_swap)(pld_tensor t, int peer, const pl_dims *at, int64_t value, const char *where)
{
	return change(t, peer, at,
		      &(struct change){ "pld_swap", where, PLDI_OP_SWAP, PLDI_ACT_SWAP, value, 0 });
}

int64_t(pld_compare_swap)(pld_tensor t, int peer, const pl_dims *at, int64_t expected,
			  int64_t value, const char *where)
{
	return change(t, peer, at,
		      &(struct change){ "pld_compare_swap", where, PLDI_OP_COMPARE_SWAP,
					PLDI_ACT_COMPARE_SWAP, value, expected });
}
