/* ops.c - arithmetic on arrays: one loop for each operation and dtype, written once. */
#include "config.h"

#include "pldi_half.h"
#include "pldi_ops.h"

/*
 * Maximum and minimum whose result does not depend on the order of operands, bit for bit, so that
 * any tree of them gives the same on every rank: one NaN for all, and +0 above -0 (of two equal
 * numbers only zeros differ in their bits: in the sign).
 */
#define ORDERED(fn, type, bits, from_bits, nan, before, join)                                      \
	static inline type fn(type a, type b)                                                      \
	{                                                                                          \
		const type same = from_bits(bits(a) join bits(b));                                 \
                                                                                                   \
		return a before b ? a : b before a ? b : a == b ? same : from_bits(nan);           \
	}
ORDERED(max_float, float, pldi_bits32, pldi_float32, 0x7fc00000, >, &)
ORDERED(min_float, float, pldi_bits32, pldi_float32, 0x7fc00000, <, |)
ORDERED(max_double, double, pldi_bits64, pldi_float64, 0x7ff8000000000000, >, &)
ORDERED(min_double, double, pldi_bits64, pldi_float64, 0x7ff8000000000000, <, |)

#define VALUE_NATIVE(x) (x)
#define VALUE_FP16(x) pldi_fp16_to_fp32(x)
#define VALUE_BF16(x) pldi_bf16_to_fp32(x)
#define ROUND_NATIVE(v) (v)
#define ROUND_FP16(v) pldi_fp32_to_fp16(v)
#define ROUND_BF16(v) pldi_fp32_to_bf16(v)

#define ADD_FLOAT(compute, a, b) ((a) + (b))
#define SUB_FLOAT(compute, a, b) ((a) - (b))
#define MUL_FLOAT(compute, a, b) ((a) * (b))
#define MAX_FLOAT(compute, a, b) max_##compute(a, b)
#define MIN_FLOAT(compute, a, b) min_##compute(a, b)

/* The type that integers compute in is unsigned: it wraps, where int would be undefined. */
#define ADD_SIGNED(compute, a, b) ((compute)(a) + (compute)(b))
#define SUB_SIGNED(compute, a, b) ((compute)(a) - (compute)(b))
#define MUL_SIGNED(compute, a, b) ((compute)(a) * (compute)(b))
#define MAX_SIGNED(compute, a, b) ((a) > (b) ? (a) : (b))
#define MIN_SIGNED(compute, a, b) ((a) < (b) ? (a) : (b))
#define ADD_UNSIGNED ADD_SIGNED
#define SUB_UNSIGNED SUB_SIGNED
#define MUL_UNSIGNED MUL_SIGNED
#define MAX_UNSIGNED MAX_SIGNED
#define MIN_UNSIGNED MIN_SIGNED

#define LOOP(OP, name, type, class, codec, compute)                                                \
	static void OP##_##name(void *restrict out, const void *a, const void *b, size_t n)        \
	{                                                                                          \
		type *o = out;                                                                     \
		const type *x = a, *y = b;                                                         \
                                                                                                   \
		for (size_t i = 0; i < n; i++)                                                     \
			o[i] = (type)ROUND_##codec(                                                \
				OP##_##class(compute, VALUE_##codec(x[i]), VALUE_##codec(y[i])));  \
	}
#define PLDI_DTYPE(name, type, class, codec, compute)                                              \
	LOOP(ADD, name, type, class, codec, compute)                                               \
	LOOP(SUB, name, type, class, codec, compute)                                               \
	LOOP(MUL, name, type, class, codec, compute)                                               \
	LOOP(MAX, name, type, class, codec, compute)                                               \
	LOOP(MIN, name, type, class, codec, compute)
#include "dtypes.def"
#undef PLDI_DTYPE

static pldi_op_fn *const table[][PLDI_OPS] = {
#define PLDI_DTYPE(name, type, class, codec, compute)                                              \
	[PL_##name] = { ADD_##name, SUB_##name, MUL_##name, MAX_##name, MIN_##name },
#include "dtypes.def"
#undef PLDI_DTYPE
};

pldi_op_fn *pldi_op(enum pldi_op op, pl_dtype t)
{
	return table[t][op];
}
