/*
 * late.c - small programs of tests/mistakes/steps-09-16: mistakes that are no change of a step, and
 * what looks like one and is none.  `late NAME`.
 */
#include <pld.h>

#include <stdio.h>
#include <string.h>

#define SIZE 6 /* for up to 3 ranks a multiple of their number */

static int me(void)
{
	return pld_rank(pld_world());
}

static int nranks(void)
{
	return pld_nranks(pld_world());
}

static void print_ok(void)
{
	if (me() == 0)
		puts("OK");
}

static pld_tensor new_signal(int64_t rows, int64_t columns)
{
	return pld_new_window(PL_SHAPE(rows, columns), PL_INT32, .name = "signal");
}

/* ---- what is no mistake here ----------------------------------------------------------------- */

static int is_all(pld_tensor t, double wanted)
{
	for (int64_t i = 0; i < SIZE; i++)
		if (pl_read_float(pld_local(t), PL_AT(i)) != wanted)
			return 0;
	return 1;
}

/* The ring takes each op and dtype. */
static void any_op_in_a_ring(void)
{
	static const pld_op ops[] = { PLD_MAX, PLD_PROD, PLD_MIN, PLD_SUM };
	static const pl_dtype dtypes[] = { PL_FP16, PL_BF16, PL_FP64 };
	pld_tensor signal = new_signal(2 * (nranks() - 1), nranks());

	for (int k = 0; k < 4; k++) {
		for (int d = 0; d < 3; d++) {
			pld_tensor t = pld_new_window(PL_SHAPE(SIZE), dtypes[d]);
			double n = nranks(), wanted[] = { n, 6, 1, n * (n + 1) / 2 }; /* of 3 */

			for (int64_t i = 0; i < SIZE; i++)
				pl_write(pld_local(t), PL_AT(i), me() + 1.0);
			pld_allreduce(t, .signal = signal, .op = ops[k], .mode = PLD_RING);
			if (!is_all(t, wanted[k]))
				printf("rank %d: wrong for op %d\n", me(), k);
		}
	}
	print_ok();
}

/* Every op, and not only sums, for the builtin that scatters. */
static void any_op_scattered(void)
{
	static const pld_op ops[] = { PLD_MAX, PLD_PROD, PLD_MIN };
	pld_tensor t = pld_new_window(PL_SHAPE(nranks(), SIZE), PL_FP32);

	for (int k = 0; k < 3; k++)
		pld_reduce_scatter(t, .op = ops[k]);
	print_ok();
}

/* The root is a number like any other, as long as all ranks have the same. */
static void root_at_run_time(void)
{
	pld_tensor t = pld_new_window(PL_SHAPE(SIZE), PL_FP32);

	for (int root = 0; root < nranks(); root++)
		pld_broadcast(t, .root = root);
	print_ok();
}

/* ---- operands -------------------------------------------------------------------------------- */

static void other_root(void)
{
	pld_tensor t = pld_new_window(PL_SHAPE(SIZE), PL_FP32);

	pld_broadcast(t, .root = me());
}

static void root_outside(void)
{
	pld_tensor t = pld_new_window(PL_SHAPE(SIZE), PL_FP32);

	pld_broadcast(t, .root = nranks());
}

static void no_op(void)
{
	pld_tensor t = pld_new_window(PL_SHAPE(nranks(), SIZE), PL_FP32);

	pld_reduce_scatter(t, .op = (pld_op)99);
}

static void other_mode(void)
{
	pld_tensor t = pld_new_window(PL_SHAPE(SIZE), PL_FP32);
	pld_tensor signal = new_signal(2 * nranks(), nranks());

	pld_allreduce(t, .signal = signal, .mode = me() ? PLD_MESH : PLD_RING);
}

static void rows_that_do_not_divide(void)
{
	pld_tensor t = pld_new_window(PL_SHAPE(nranks() + 1, SIZE), PL_FP32);

	pld_reduce_scatter(t);
}

static void too_small_a_target(void)
{
	pl_tensor x = pld_host_tensor(PL_SHAPE(SIZE), PL_FP32);
	pld_tensor t = pld_new_window(PL_SHAPE(nranks(), SIZE - 1), PL_FP32);

	pld_allgather(x, t);
}

/* Row 0 of one's window, and not row me. */
static void overlapping_row(void)
{
	pld_tensor t = pld_new_window(PL_SHAPE(nranks(), SIZE), PL_FP32);

	pld_allgather(pl_at(pld_local(t), (me() + 1) % nranks()), t);
}

static void input_is_target(void)
{
	pld_tensor t = pld_new_window(PL_SHAPE(nranks(), SIZE), PL_FP32);

	pld_all_to_all(pld_local(t), t);
}

static void short_signal(void)
{
	pld_tensor t = pld_new_window(PL_SHAPE(nranks(), SIZE), PL_FP32);

	pld_reduce_scatter(t, .signal = new_signal(nranks() - 1, 1));
}

/* A signal of two ranks, a target of all. */
static void two_domains(void)
{
	pld_tensor t = pld_new_window(PL_SHAPE(SIZE), PL_FP32);
	pld_ctx half = pld_domain_split(pld_world(), me() % 2, me());
	pld_tensor signal = pld_new_window(PL_SHAPE(nranks(), 1), PL_INT32, .domain = half);

	pld_allreduce(t, .signal = signal, .mode = PLD_MESH);
}

/* ---- calls that not all ranks make ----------------------------------------------------------- */

static void only_the_root(void)
{
	pld_tensor t = pld_new_window(PL_SHAPE(SIZE), PL_FP32);

	if (me() == 0)
		pld_broadcast(t);
	pld_allreduce(t);
}

static void one_leaves_early(void)
{
	pld_tensor t = pld_new_window(PL_SHAPE(SIZE), PL_FP32);

	if (me() != 1)
		pld_allreduce(t);
}

static const struct {
	const char *name;
	void (*run)(void);
} programs[] = {
	{ "any_op_in_a_ring", any_op_in_a_ring },
	{ "any_op_scattered", any_op_scattered },
	{ "root_at_run_time", root_at_run_time },
	{ "other_root", other_root },
	{ "root_outside", root_outside },
	{ "no_op", no_op },
	{ "other_mode", other_mode },
	{ "rows_that_do_not_divide", rows_that_do_not_divide },
	{ "too_small_a_target", too_small_a_target },
	{ "overlapping_row", overlapping_row },
	{ "input_is_target", input_is_target },
	{ "short_signal", short_signal },
	{ "two_domains", two_domains },
	{ "only_the_root", only_the_root },
	{ "one_leaves_early", one_leaves_early },
};

int main(int argc, char **argv)
{
	const int n = sizeof(programs) / sizeof(programs[0]);
	int i = 0;

	while (i < n && (argc != 2 || strcmp(argv[1], programs[i].name)))
		i++;
	if (i == n) {
		fputs("usage: late NAME\n", stderr);
		return 2;
	}
	pld_init(NULL);
	programs[i].run();
	return pld_finalize();
}
