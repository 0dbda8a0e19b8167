/* t_half.c - every FP16 and BF16 both ways, and rounding at each midpoint, against a search. */
#include "config.h"

#include <math.h>

#include "pldi_half.h"
#include "unit.h"

/*
 * The model knows the formats only as lists of numbers: value[k] is what the bits k mean, in
 * ascending order, and value[number of finite ones] is where the next one would be, so that half
 * way to it everything becomes infinite.  All of them and all midpoints are exact doubles.
 */
struct format {
	const char *name;
	int mant, bias;
	float (*widen)(uint16_t);
	uint16_t (*from32)(float);
	uint16_t (*from64)(double);
	int finite;
	double value[0x8000];
};

static struct format formats[] = {
	{ "fp16", 10, 15, pldi_fp16_to_fp32, pldi_fp32_to_fp16, pldi_fp64_to_fp16, 0, { 0 } },
	{ "bf16", 7, 127, pldi_bf16_to_fp32, pldi_fp32_to_bf16, pldi_fp64_to_bf16, 0, { 0 } },
};

static struct format *setup_format(int i)
{
	struct format *f = &formats[i];
	const int binade = 1 << f->mant;

	f->finite = (2 * f->bias + 1) * binade;
	for (int k = 0; k <= f->finite; k++) {
		const int exponent = k / binade, fraction = k % binade;

		f->value[k] = exponent ? ldexp(binade + fraction, exponent - f->bias - f->mant)
				       : ldexp(fraction, 1 - f->bias - f->mant);
	}
	return f;
}

static uint16_t nearest(const struct format *f, double x)
{
	const uint16_t sign = signbit(x) ? 0x8000 : 0;
	int low = 0, high = f->finite;
	double mid;

	x = fabs(x);
	if (x >= f->value[f->finite])
		return sign | (uint16_t)f->finite;
	/* value[low] <= x < value[high] */
	while (high - low > 1) {
		int k = (low + high) / 2;

		*(f->value[k] <= x ? &low : &high) = k;
	}
	mid = (f->value[low] + f->value[high]) / 2;
	if (x > mid || (x == mid && low % 2))
		low++;
	return sign | (uint16_t)low;
}

static void check64(const struct format *f, double x)
{
	for (int s = 0; s < 2; s++, x = -x)
		expect_msg(f->from64(x) == nearest(f, x), "%s from fp64 %a: %#x, not %#x", f->name,
			   x, f->from64(x), nearest(f, x));
}

static void check32(const struct format *f, float x)
{
	for (int s = 0; s < 2; s++, x = -x)
		expect_msg(f->from32(x) == nearest(f, (double)x), "%s from fp32 %a: %#x, not %#x",
			   f->name, (double)x, f->from32(x), nearest(f, (double)x));
}

START_TEST(all_values)
{
	const struct format *f = setup_format(_i);

	for (int k = 0; k < f->finite; k++) {
		for (int s = 0; s < 2; s++) {
			const uint16_t bits = (uint16_t)(k | s << 15);
			const double want = s ? -f->value[k] : f->value[k];
			const float x = f->widen(bits);

			expect_msg((double)x == want && !signbit(x) == !signbit(want),
				   "%s %#x is %a, not %a", f->name, bits, (double)x, want);
			expect_msg(f->from32(x) == bits && f->from64((double)x) == bits,
				   "%s %#x does not come back", f->name, bits);
		}
	}
	for (int s = 0; s < 2; s++) {
		const uint16_t inf = (uint16_t)(f->finite | s << 15);
		const float x = f->widen(inf);

		expect_msg(isinf(x) && !signbit(x) == !s, "%s infinity", f->name);
		expect_msg(f->from32(x) == inf && f->from64((double)x) == inf, "%s infinity back",
			   f->name);
	}
}
END_TEST

/* Sign kept, quiet, the payload's upper bits kept; the rest of the bits zero when widened. */
START_TEST(nans)
{
	const struct format *f = setup_format(_i);
	const int quiet = 1 << (f->mant - 1);

	for (int k = f->finite + 1; k < 0x8000; k++) {
		for (int s = 0; s < 2; s++) {
			const uint16_t bits = (uint16_t)(k | s << 15),
				       want = (uint16_t)(bits | quiet);
			const uint32_t payload = (uint32_t)(k % (1 << f->mant)), sign = (uint32_t)s;
			const uint32_t in32 = sign << 31 | 0x7f800000u | payload << (23 - f->mant);
			const uint64_t in64 = (uint64_t)sign << 63 | 0x7ff0000000000000u |
					      (uint64_t)payload << (52 - f->mant);

			expect_msg(pldi_bits32(f->widen(bits)) == (in32 | 0x400000),
				   "%s NaN %#x widens to %#x", f->name, bits,
				   pldi_bits32(f->widen(bits)));
			expect_msg(f->from32(pldi_float32(in32 | 1)) == want &&
					   f->from64(pldi_float64(in64 | 1)) == want,
				   "%s NaN %#x does not come back", f->name, bits);
		}
	}
	/* a payload all below what fits must not turn into infinity */
	ck_assert_int_eq(f->from32(pldi_float32(0x7f800001)), f->finite | quiet);
	ck_assert_int_eq(f->from64(pldi_float64(0xfff0000000000001)), 0x8000 | f->finite | quiet);
}
END_TEST

START_TEST(midpoints)
{
	const struct format *f = setup_format(_i);

	for (int k = 0; k < f->finite; k++) {
		const double mid = (f->value[k] + f->value[k + 1]) / 2;
		const float mid32 = (float)mid, value32 = (float)f->value[k];

		/* neighbours as doubles: a way through fp32 would round these twice */
		check64(f, mid);
		check64(f, nextafter(mid, 0));
		check64(f, nextafter(mid, INFINITY));
		check64(f, nextafter(f->value[k], 0));
		check64(f, nextafter(f->value[k], INFINITY));
		check32(f, mid32);
		check32(f, nextafterf(mid32, 0));
		check32(f, nextafterf(mid32, INFINITY));
		check32(f, nextafterf(value32, INFINITY));
	}
	check64(f, f->value[f->finite]);
	check64(f, nextafter(f->value[f->finite], 0));
	check64(f, 1e300);
	check64(f, 5e-324);
	check64(f, 2.2250738585072011e-308);
	check32(f, 1e-45f);
	check32(f, 1.1754942e-38f);
	check32(f, 3.4028235e38f);
}
END_TEST

START_TEST(random_numbers)
{
	const struct format *f = setup_format(_i);
	uint64_t state = 1;

	for (int i = 0; i < 1000000; i++) {
		const uint64_t u = next_random(&state);
		const float x = pldi_float32((uint32_t)u);
		/* an exponent near the format's range, or few would be finite */
		const double y = ldexp(1.0 + (double)(u >> 12) * 0x1p-52, (int)(u % 300) - 150);

		if (!isnan(x))
			check32(f, x);
		check64(f, y);
	}
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, all_values, 0, ROWS(formats));
	tcase_add_loop_test(tc, nans, 0, ROWS(formats));
	tcase_add_loop_test(tc, midpoints, 0, ROWS(formats));
	tcase_add_loop_test(tc, random_numbers, 0, ROWS(formats));
}

int main(void)
{
	return unit_run("half", add);
}
