/* wrong_step.c - a step whose results are what its mode says: to see tut_check refuse them. */
#include "config.h"

#include <math.h>

#include "common/tut.h"

/* [P, 2]: element (P - 1, 1) is the odd one. */
static const struct {
	const char *mode;
	double got, want;
	enum tut_how how;
} rows[] = {
	{ "equal", 3, 3, TUT_EXACT },
	{ "both_inf", INFINITY, INFINITY, TUT_EXACT },
	{ "close", 1, 1 + 1.9e-5, TUT_CLOSE }, /* 1e-5 + 1e-5 * |want| is just over 2e-5 */
	{ "close_low", 0, 0.9e-5, TUT_CLOSE },
	{ "far", 1, 1 + 2.1e-5, TUT_CLOSE },
	{ "not_exact", 1, 1 + 1.9e-5, TUT_EXACT },
	{ "nan", NAN, 3, TUT_CLOSE },
	{ "both_nan", NAN, NAN, TUT_EXACT },
	{ "inf", INFINITY, 3, TUT_CLOSE },
	{ "want_inf", 3, INFINITY, TUT_CLOSE },
	{ "other_inf", -INFINITY, INFINITY, TUT_CLOSE },
	{ "second", 4, 3, TUT_EXACT },
};
#define NROWS ((int)(sizeof(rows) / sizeof(rows[0])))

static int row_of(const struct tut *t)
{
	for (int i = 0; i < NROWS; i++)
		if (tut_mode_is(t, rows[i].mode))
			return i;
	return -1;
}

static double want(const struct tut *t, const int64_t *at)
{
	int i = row_of(t);

	if (at[0] < pld_world_size() - 1 || at[1] == 0)
		return 1;
	return i < 0 ? 1000001 : rows[i].want;
}

static int run(struct tut *t)
{
	int64_t last = pld_world_size() - 1;
	int i = row_of(t);
	pl_tensor y;

	if (i < 0) { /* mode "int": off by one in a million, which would be close for a float */
		y = pld_host_tensor(PL_SHAPE(last + 1, 2), PL_INT32);
		for (int64_t r = 0; r <= last && pld_rank(pld_world()) == 0; r++)
			for (int64_t k = 0; k < 2; k++)
				pl_write(y, PL_AT(r, k), r == last && k ? 1000000 : 1);
		return tut_check(t, y, want, TUT_CLOSE);
	}
	y = pld_host_tensor(PL_SHAPE(last + 1, 2), PL_FP32);
	for (int64_t r = 0; r <= last && pld_rank(pld_world()) == 0; r++)
		for (int64_t k = 0; k < 2; k++)
			pl_write(y, PL_AT(r, k), r == last && k ? rows[i].got : 1.0);
	if (tut_mode_is(t, "second"))
		return tut_check_too(t, "other", y, want, rows[i].how);
	return tut_check(t, y, want, rows[i].how);
}

int main(int argc, char **argv)
{
	const struct tut_step step = {
		.name = "wrong_step",
		.modes = "equal,both_inf,close,close_low,far,not_exact,nan,both_nan,inf,want_inf,"
			 "other_inf,second,int",
		.devices = "0,1",
		.run = run
	};

	return tut_main(argc, argv, &step);
}
