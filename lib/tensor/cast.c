/* cast.c - arrays of one dtype into another, by way of the widest type of the source's class. */
#include "config.h"

#include <string.h>

#include "pldi_dtype.h"
#include "pldi_half.h"

/*
 * 12 dtypes into 12 would be 144 loops.  Instead a block of the source is widened to double,
 * int64_t or uint64_t, which is exact, and then narrowed, which rounds or wraps once: 12 loops and
 * 36.  A block stays in the first-level cache.
 */
enum { BLOCK = 256 };

typedef void convert_fn(void *restrict out, const void *restrict in, size_t n);

#define WIDE_FLOAT double
#define WIDE_SIGNED int64_t
#define WIDE_UNSIGNED uint64_t

#define VALUE_NATIVE(x) (x)
#define VALUE_FP16(x) pldi_fp16_to_fp32(x)
#define VALUE_BF16(x) pldi_bf16_to_fp32(x)

#define ROUND_NATIVE(type, v) ((type)(v))
#define ROUND_FP16(type, v) pldi_fp64_to_fp16(v)
#define ROUND_BF16(type, v) pldi_fp64_to_bf16(v)

/*
 * v as a double that still rounds to 16 bits as v itself would: of a number with more than 53 bits
 * the last one kept stands for all that are dropped ("round to odd").
 */
static inline double odd_u64(uint64_t v)
{
	if (v >> 53 == 0)
		return (double)v;
	return (double)(v >> 11 | ((v & 0x7ff) != 0)) * 2048.0;
}

static inline double odd_i64(int64_t v)
{
	return v < 0 ? -odd_u64(0 - (uint64_t)v) : odd_u64((uint64_t)v);
}

#define ROUND_INT_NATIVE(type, odd, v) ((type)(v))
#define ROUND_INT_FP16(type, odd, v) pldi_fp64_to_fp16(odd(v))
#define ROUND_INT_BF16(type, odd, v) pldi_fp64_to_bf16(odd(v))

/* Towards zero, saturating, NaN to 0.  top: first number above the type's range. */
#define SATURATE(type, wide, lo, max, v)                                                           \
	do {                                                                                       \
		const double top = 2.0 * (double)((uint64_t)(max) / 2 + 1);                        \
		const double inside = (v) >= (double)(lo) && (v) < top ? (v) : 0.0;                \
		const type number = (type)(wide)inside;                                            \
                                                                                                   \
		o[i] = (v) >= top ? (type)(max) : (v) < (double)(lo) ? (type)(lo) : number;        \
	} while (0)

#define BITS(type) (8 * sizeof(type))
#define FROM_F64_FLOAT(type, codec, v) (o[i] = ROUND_##codec(type, v))
#define FROM_F64_SIGNED(type, codec, v)                                                            \
	SATURATE(type, int64_t, -(int64_t)(UINT64_MAX >> (65 - BITS(type))) - 1,                   \
		 UINT64_MAX >> (65 - BITS(type)), v)
#define FROM_F64_UNSIGNED(type, codec, v)                                                          \
	SATURATE(type, uint64_t, 0, UINT64_MAX >> (64 - BITS(type)), v)

#define FROM_INT_FLOAT(type, codec, odd, v) (o[i] = ROUND_INT_##codec(type, odd, v))
#define FROM_INT_SIGNED(type, codec, odd, v) (o[i] = (type)(v))
#define FROM_INT_UNSIGNED(type, codec, odd, v) (o[i] = (type)(v))

#define LOOP(fn, out_type, in_type, body)                                                          \
	static void fn(void *restrict out, const void *restrict in, size_t n)                      \
	{                                                                                          \
		out_type *o = out;                                                                 \
		const in_type *x = in;                                                             \
                                                                                                   \
		for (size_t i = 0; i < n; i++)                                                     \
			body;                                                                      \
	}

#define PLDI_DTYPE(name, type, class, codec, compute)                                              \
	LOOP(widen_##name, WIDE_##class, type, o[i] = VALUE_##codec(x[i]))                         \
	LOOP(from_float_##name, type, double, FROM_F64_##class(type, codec, x[i]))                 \
	LOOP(from_signed_##name, type, int64_t, FROM_INT_##class(type, codec, odd_i64, x[i]))      \
	LOOP(from_unsigned_##name, type, uint64_t, FROM_INT_##class(type, codec, odd_u64, x[i]))
#include "dtypes.def"
#undef PLDI_DTYPE

static const struct {
	convert_fn *widen;
	convert_fn *narrow[PLDI_UNSIGNED + 1]; /* by class of the source */
} table[] = {
#define PLDI_DTYPE(name, type, class, codec, compute)                                              \
	[PL_##name] = { widen_##name,                                                              \
			{ NULL, from_float_##name, from_signed_##name, from_unsigned_##name } },
#include "dtypes.def"
#undef PLDI_DTYPE
};

void pldi_cast(pl_dtype to, void *restrict out, pl_dtype from, const void *restrict in, size_t n)
{
	const struct pldi_dtype *source = pldi_dtype(from), *target = pldi_dtype(to);
	convert_fn *narrow = table[to].narrow[source->class];
	uint64_t wide[BLOCK];

	for (size_t done = 0, k; done < n; done += k) {
		k = n - done < BLOCK ? n - done : BLOCK;
		table[from].widen(wide, (const char *)in + done * source->bytes, k);
		narrow((char *)out + done * target->bytes, wide, k);
	}
}
