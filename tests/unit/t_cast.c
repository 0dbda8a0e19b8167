/* t_cast.c - every dtype into every other, number by number, against long double. */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "pldi_dtype.h"
#include "pldi_half.h"
#include "unit.h"

/* long double (64 bits of fraction) holds every number of every dtype: the model's common form. */
_Static_assert(sizeof(long double) >= 10, "the model needs it");

enum { N = 4096 };

static const pl_dtype all[] = { PL_FP64,  PL_FP32,  PL_FP16,  PL_BF16,	 PL_INT8,   PL_INT16,
				PL_INT32, PL_INT64, PL_UINT8, PL_UINT16, PL_UINT32, PL_UINT64 };

static int is_float(pl_dtype t)
{
	return t <= PL_BF16;
}

static long double value(pl_dtype t, const void *p)
{
	switch (t) {
	case PL_FP64:
		return *(const double *)p;
	case PL_FP32:
		return *(const float *)p;
	case PL_FP16:
		return pldi_fp16_to_fp32(*(const uint16_t *)p);
	case PL_BF16:
		return pldi_bf16_to_fp32(*(const uint16_t *)p);
	case PL_INT8:
		return *(const int8_t *)p;
	case PL_INT16:
		return *(const int16_t *)p;
	case PL_INT32:
		return *(const int32_t *)p;
	case PL_INT64:
		return *(const int64_t *)p;
	case PL_UINT8:
		return *(const uint8_t *)p;
	case PL_UINT16:
		return *(const uint16_t *)p;
	case PL_UINT32:
		return *(const uint32_t *)p;
	default:
		return *(const uint64_t *)p;
	}
}

/* x rounded to so many bits of fraction in a format with this least exponent; by rintl. */
static long double round_to(long double x, int mant, int least, long double most)
{
	int exponent;
	long double r;

	if (!isfinite(x) || x == 0)
		return x;
	frexpl(x, &exponent);
	exponent = exponent - 1 < least ? least : exponent - 1;
	r = ldexpl(rintl(ldexpl(x, mant - exponent)), exponent - mant);
	return fabsl(r) > most ? copysignl(INFINITY, x) : r;
}

static long double want(pl_dtype to, long double x, pl_dtype from)
{
	const int bits = 8 * (int)pl_dtype_bytes(to), sign = to < PL_UINT8;
	const long double top = ldexpl(1, bits - sign), low = sign ? -top : 0;

	switch (to) {
	case PL_FP64:
		return round_to(x, 52, -1022, DBL_MAX);
	case PL_FP32:
		return round_to(x, 23, -126, FLT_MAX);
	case PL_FP16:
		return round_to(x, 10, -14, 65504);
	case PL_BF16:
		return round_to(x, 7, -126, 0x1.fep127L);
	default:
		break;
	}
	if (isnan(x))
		return 0;
	if (is_float(from)) {
		x = truncl(x);
		return x < low ? low : x >= top ? top - 1 : x;
	}
	/* modulo 2^bits into the range */
	x -= floorl(x / ldexpl(1, bits)) * ldexpl(1, bits);
	return x >= top ? x - ldexpl(1, bits) : x;
}

/* Bits that are often a number near where something changes. */
static void fill(pl_dtype t, void *data)
{
	static const double edges[] = {
		0,	  -0.0,	     0.5,     -0.5,	 1.5,	  -1.5,	     127,    127.5,
		128,	  -128.5,    -129,    255.99,	 256,	  32767.9,   32768,  -32769,
		65519.99, 65520,     65536,   0x1p31,	 -0x1p31, -0x1.8p31, 0x1p32, 0x1p62,
		0x1p63,	  -0x1p63,   -0x1p64, 0x1p64,	 1e300,	  -1e300,    1e-45,  1e-300,
		INFINITY, -INFINITY, NAN,     2147483647
	};
	const size_t bytes = pl_dtype_bytes(t);
	uint64_t state = (uint64_t)t;

	for (size_t i = 0; i < N; i++) {
		uint64_t u = next_random(&state);

		/* runs of equal bits: near powers of two, and just off midpoints */
		if (i % 3 == 0)
			u = (u | 1) << (u >> 58);
		else if (i % 3 == 1)
			u = ((uint64_t)1 << (u & 63)) + ((uint64_t)1 << (u >> 6 & 63)) +
			    (u >> 12 & 3) - 1;
		memcpy((char *)data + i * bytes, &u, bytes);
	}
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		pldi_elem_from_float(t, edges[i], (char *)data + i * bytes);
}

START_TEST(to_all)
{
	const pl_dtype from = all[_i];
	static uint64_t in[N], out[N];

	fill(from, in);
	for (int k = 0; k < ROWS(all); k++) {
		const pl_dtype to = all[k];

		pldi_cast(to, out, from, in, N);
		for (size_t i = 0; i < N; i++) {
			const long double x = value(from, (char *)in + i * pl_dtype_bytes(from));
			const long double got = value(to, (char *)out + i * pl_dtype_bytes(to));
			const long double w = want(to, x, from);

			ck_assert_msg((isnan(w) && isnan(got)) ||
					      (got == w && (!is_float(to) || !is_float(from) ||
							    !signbit(got) == !signbit(w))),
				      "%s to %s, element %zu: %La gives %La, not %La",
				      pl_dtype_name(from), pl_dtype_name(to), i, x, got, w);
		}
	}
}
END_TEST

/* Nothing beside the n elements is touched; 255 to 257: around the block. */
START_TEST(lengths)
{
	static const size_t counts[] = { 0, 1, 7, 255, 256, 257, 511, 512, 1000 };
	static float in[1024];
	static int16_t out[1026];
	const size_t n = counts[_i];

	for (size_t i = 0; i < 1024; i++)
		in[i] = (float)i + 0.5f;
	memset(out, 0x55, sizeof(out));
	pldi_cast(PL_INT16, out + 1, PL_FP32, in, n);
	for (size_t i = 0; i < 1026; i++)
		ck_assert_int_eq(out[i], i >= 1 && i <= n ? (int)i - 1 : 0x5555);
}
END_TEST

/* A 64-bit integer just above the middle between two BF16: through a double it would be a tie. */
START_TEST(rounds_integers_once)
{
	const int64_t v = ((int64_t)1 << 62) + ((int64_t)1 << 54) + 1;
	const uint64_t u = ((uint64_t)1 << 63) + ((uint64_t)1 << 55) + 1;
	uint16_t h;

	pldi_cast(PL_BF16, &h, PL_INT64, &v, 1);
	ck_assert_int_eq(h, pldi_fp64_to_bf16(0x1.02p62));
	pldi_cast(PL_BF16, &h, PL_UINT64, &u, 1);
	ck_assert_int_eq(h, pldi_fp64_to_bf16(0x1.02p63));
}
END_TEST

START_TEST(keeps_nans)
{
	const double in = pldi_float64(0xfff4000000000000);
	uint32_t f;
	uint16_t h;

	pldi_cast(PL_FP32, &f, PL_FP64, &in, 1);
	ck_assert_uint_eq(f, 0xffe00000);
	pldi_cast(PL_FP16, &h, PL_FP64, &in, 1);
	ck_assert_uint_eq(h, 0xff00);
	pldi_cast(PL_BF16, &h, PL_FP64, &in, 1);
	ck_assert_uint_eq(h, 0xffe0);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, to_all, 0, ROWS(all));
	tcase_add_loop_test(tc, lengths, 0, 9);
	tcase_add_test(tc, rounds_integers_once);
	tcase_add_test(tc, keeps_nans);
}

int main(void)
{
	return unit_run("cast", add);
}
