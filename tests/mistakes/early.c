/*
 * early.c - small programs of tests/mistakes/steps-01-08: mistakes that are no change of a step,
 * and what looks like one and is none.  `early NAME`.
 */
#include <pld.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* "rank 1: 1 0 1" */
static void print_cells(pld_tensor signal)
{
	char line[200];
	int n = snprintf(line, sizeof(line), "rank %d:", me());

	for (int i = 0; i < nranks() && n < (int)sizeof(line); i++)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " %lld",
			      (long long)pl_read_int(signal, PL_AT(i, 0)));
	puts(line);
}

static pld_tensor new_signal(void)
{
	return pld_new_window(PL_SHAPE(nranks(), 1), PL_INT32, .name = "signal");
}

/* ---- what looks wrong and is not ------------------------------------------------------------- */

/* A page or a line for each: more than their data, and none of them too many. */
static void small_buffers(void)
{
	for (int i = 0; i < 100; i++)
		pld_new_window(PL_SHAPE(1), PL_INT32);
	print_ok();
}

/* Nobody notifies itself. */
static void own_cell(void)
{
	pld_tensor signal = new_signal();

	for (int peer = 0; peer < nranks(); peer++)
		if (peer != me())
			pld_notify(signal, peer, PL_AT(me(), 0), 1, PLD_NOTIFY_ADD);
	for (int src = 0; src < nranks(); src++)
		if (src != me())
			pld_wait(signal, PL_AT(src, 0), 1, PLD_WAIT_GE);
	print_cells(signal);
}

static void builtin_cells(void)
{
	pld_tensor signal = new_signal();

	pld_barrier(signal);
	print_cells(signal);
}

/* ---- of no step ------------------------------------------------------------------------------ */

static void stale_view(void)
{
	pld_tensor w = pld_new_window(PL_SHAPE(4), PL_FP32),
		   part = pl_slice(w, PL_AT(1), PL_SHAPE(2));

	pld_free_window(w);
	pl_read_float(part, PL_AT(0));
}

static pld_tensor kept;

static void make_window(void)
{
	kept = pld_new_window(PL_SHAPE(4), PL_FP32);
}

static void stale_host_window(void)
{
	PLD_HOST(make_window());
	pld_put(kept, 0, kept);
}

static pl_tile loaded;

static void load_tile(pl_tensor x)
{
	loaded = pl_load(x, PL_AT(0), PL_SHAPE(4));
}

static void stale_tile(void)
{
	pl_tensor x = pld_host_tensor(PL_SHAPE(4), PL_FP32);

	PL_SCOPE
		load_tile(x);
	pl_store(loaded, PL_AT(0), x);
}

static void other_sizes(void)
{
	pld_new_window(PL_SHAPE(4 + me()), PL_FP32);
}

static void other_calls(void)
{
	pld_tensor w = pld_new_window(PL_SHAPE(4), PL_FP32);

	if (me() == 1)
		pld_barrier(pld_world());
	else
		pld_allreduce(w);
}

static void one_call_too_few(void)
{
	if (me() != 2)
		pld_barrier(pld_world());
}

static void float_signal(void)
{
	pld_tensor w = pld_new_window(PL_SHAPE(4), PL_FP32);

	pld_notify(w, me(), PL_AT(0), 1, PLD_NOTIFY_ADD);
}

static void short_signal(void)
{
	pld_tensor w = pld_new_window(PL_SHAPE(4), PL_FP32);
	pld_tensor signal = pld_new_window(PL_SHAPE(1), PL_INT32);

	pld_allreduce(w, .signal = signal);
}

static void own_signal(void)
{
	pld_tensor w = pld_new_window(PL_SHAPE(nranks()), PL_INT32);

	pld_allreduce(w, .signal = w);
}

static void overlap(void)
{
	pld_tensor w = pld_new_window(PL_SHAPE(8), PL_FP32);

	pld_put(w, me(), w, .dst_offsets = PL_AT(2), .src_offsets = PL_AT(0), .shape = PL_SHAPE(4));
}

static void world_peer(void)
{
	pld_ctx upper = pld_domain_subset(pld_world(), (const int[]){ 1, 2 }, 2);
	pld_tensor w;

	if (!pld_is_member(upper))
		return;
	w = pld_new_window(PL_SHAPE(4), PL_FP32, .domain = upper);
	pld_put(w, 2, w);
}

static void wait_order(void)
{
	pld_wait(new_signal(), PL_AT(0, 0), PLD_WAIT_GE, 5);
}

static void overshoot(void)
{
	pld_tensor signal = new_signal();

	if (me() == 0)
		pld_wait(signal, PL_AT(1, 0), 2, PLD_WAIT_EQ);
	else if (me() == 1)
		pld_notify(signal, 0, PL_AT(1, 0), 3, PLD_NOTIFY_ADD);
}

static void wait_alone(void)
{
	pld_wait(new_signal(), PL_AT(0, 0), 1, PLD_WAIT_GE);
}

static void leaves_early(void)
{
	if (me() == 1)
		exit(0);
	pld_barrier(pld_world());
}

static void dies(void)
{
	pld_tensor signal = new_signal();

	if (me() == 1)
		abort();
	pld_wait(signal, PL_AT(1, 0), 1, PLD_WAIT_GE);
}

static const struct {
	const char *name;
	void (*run)(void);
} mistakes[] = {
	{ "small_buffers", small_buffers },
	{ "own_cell", own_cell },
	{ "builtin_cells", builtin_cells },
	{ "stale_view", stale_view },
	{ "stale_host_window", stale_host_window },
	{ "stale_tile", stale_tile },
	{ "other_sizes", other_sizes },
	{ "other_calls", other_calls },
	{ "one_call_too_few", one_call_too_few },
	{ "float_signal", float_signal },
	{ "short_signal", short_signal },
	{ "own_signal", own_signal },
	{ "overlap", overlap },
	{ "world_peer", world_peer },
	{ "wait_order", wait_order },
	{ "overshoot", overshoot },
	{ "wait_alone", wait_alone },
	{ "leaves_early", leaves_early },
	{ "dies", dies },
};

int main(int argc, char **argv)
{
	const int n = sizeof(mistakes) / sizeof(mistakes[0]);
	int i = 0;

	while (i < n && (argc != 2 || strcmp(argv[1], mistakes[i].name)))
		i++;
	if (i == n) {
		fputs("usage: early NAME\n", stderr);
		return 2;
	}
	pld_init(NULL);
	mistakes[i].run();
	return pld_finalize();
}
