/* pldi_half.h - FP16 and BF16 to and from FP32 and FP64, each rounded once, in integer code. */
#ifndef PLDI_HALF_H
#define PLDI_HALF_H

#include <stdint.h>
#include <string.h>

/*
 * Integer code, because a program may change the FPU's rounding or flush subnormals (one object
 * linked with -ffast-math is enough), and every rank must still round alike.
 *
 * All: to nearest, ties to even; subnormals exact; overflow to infinity; a NaN stays a NaN: quiet,
 * same sign, as many upper bits of its payload as fit.
 */

static inline uint32_t pldi_bits32(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

static inline float pldi_float32(uint32_t u)
{
	float f;

	memcpy(&f, &u, sizeof(f));
	return f;
}

static inline uint64_t pldi_bits64(double f)
{
	uint64_t u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

static inline double pldi_float64(uint64_t u)
{
	double f;

	memcpy(&f, &u, sizeof(f));
	return f;
}

/* u / 2^shift, to nearest, ties to even; 1 <= shift <= 63. */
static inline uint64_t pldi_round_shift(uint64_t u, int shift)
{
	return (u + (((uint64_t)1 << (shift - 1)) - 1) + (u >> shift & 1)) >> shift;
}

/*
 * The bits of a number with `mant` bits of fraction and an exponent that fills the rest of `width`
 * bits, narrowed to 16 bits with to_mant of fraction.  Constants but for u: folds into few
 * instructions.
 *
 * Rounding may carry into the exponent: that is the next binade, or infinity, as it should be.
 */
static inline uint16_t pldi_narrow(uint64_t u, int width, int mant, int to_mant)
{
	const int bias = (1 << (width - mant - 2)) - 1, to_bias = (1 << (14 - to_mant)) - 1;
	const int drop = mant - to_mant;
	const uint64_t magnitude = u & (((uint64_t)1 << (width - 1)) - 1);
	const uint64_t inf = (uint64_t)(2 * bias + 1) << mant;
	const uint32_t to_inf = (uint32_t)(2 * to_bias + 1) << to_mant;
	const uint32_t sign = (uint32_t)(u >> (width - 1)) << 15;
	const int exponent = (int)(magnitude >> mant) - bias + to_bias;
	uint32_t r;

	if (magnitude > inf) {
		uint32_t payload = (uint32_t)(magnitude >> drop) & ((1u << to_mant) - 1);

		r = to_inf | payload | 1u << (to_mant - 1);
	} else if (exponent >= 2 * to_bias + 1) {
		r = to_inf;
	} else if (exponent >= 1) {
		r = (uint32_t)pldi_round_shift(magnitude - ((uint64_t)(bias - to_bias) << mant),
					       drop);
	} else {
		/* subnormal: the leading 1 becomes visible; a source subnormal has none */
		const int hidden = magnitude >> mant != 0;
		const uint64_t fraction = (magnitude & (((uint64_t)1 << mant) - 1)) |
					  (uint64_t)hidden << mant;
		const int shift = drop + (hidden ? 1 - exponent : 1 - (to_bias - bias + 1));

		r = shift > mant + 2 ? 0 : (uint32_t)pldi_round_shift(fraction, shift);
	}
	return (uint16_t)(sign | r);
}

static inline uint16_t pldi_fp32_to_fp16(float f)
{
	return pldi_narrow(pldi_bits32(f), 32, 23, 10);
}

static inline uint16_t pldi_fp64_to_fp16(double f)
{
	return pldi_narrow(pldi_bits64(f), 64, 52, 10);
}

static inline uint16_t pldi_fp64_to_bf16(double f)
{
	return pldi_narrow(pldi_bits64(f), 64, 52, 7);
}

/* Same exponent on both sides: subnormals need no care, and the loops over it vectorise. */
static inline uint16_t pldi_fp32_to_bf16(float f)
{
	const uint32_t u = pldi_bits32(f), magnitude = u & 0x7fffffff;
	const uint32_t nan = u >> 16 | 0x40, number = (u + 0x7fff + (u >> 16 & 1)) >> 16;

	return (uint16_t)(magnitude > 0x7f800000 ? nan : number);
}

static inline float pldi_bf16_to_fp32(uint16_t h)
{
	const uint32_t u = (uint32_t)h << 16;

	return pldi_float32((u & 0x7fffffff) > 0x7f800000 ? u | 0x400000 : u);
}

static inline float pldi_fp16_to_fp32(uint16_t h)
{
	const uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = h & 0x7fff;
	uint32_t r;

	if (magnitude > 0x7c00) {
		r = 0x7fc00000 | magnitude << 13;
	} else if (magnitude == 0x7c00) {
		r = 0x7f800000;
	} else if (magnitude >= 0x0400) {
		r = (magnitude << 13) + ((127 - 15) << 23);
	} else if (magnitude) {
		/* subnormal, magnitude x 2^-24: move the leading 1 to the hidden place */
		const int up = __builtin_clz(magnitude) - 21;

		r = ((magnitude << up & 0x3ff) << 13) | (uint32_t)(127 - 14 - up) << 23;
	} else {
		r = 0;
	}
	return pldi_float32(sign | r);
}

#endif
