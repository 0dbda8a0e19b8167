/*
 * e_mismatch_world.c - ranks that disagree about calls on the world: PLD_HOST and its end, host
 * tensors, pld_finalize.  After it the world is broken, and only ending is left: a job a row.
 */
#include "config.h"

#include "mismatch.h"

static int barrier(struct stage *s)
{
	return OP(pld_barrier(s->d));
}

static int alloc(struct stage *s)
{
	return OP(pld_alloc_window_buffer(.bytes = 64));
}

static int host_tensor(struct stage *s)
{
	return OP(pld_host_tensor(PL_SHAPE(4), PL_INT32));
}

static int host_tensor_8(struct stage *s)
{
	return OP(pld_host_tensor(PL_SHAPE(8), PL_INT32));
}

static int host_tensor_float(struct stage *s)
{
	return OP(pld_host_tensor(PL_SHAPE(4), PL_FP32));
}

static int host_free_s(struct stage *s)
{
	return OP(pld_host_free(s->s));
}

static int host_free_t(struct stage *s)
{
	return OP(pld_host_free(s->t));
}

static int free_w(struct stage *s)
{
	return OP(pld_free_window(s->w));
}

static int host(struct stage *s)
{
	return OP(PLD_HOST(errors_state()->failed++));
}

static int finalize(struct stage *s)
{
	return OP(pld_finalize());
}

static int split(struct stage *s)
{
	return OP(pld_domain_split(s->d, 0, 0));
}

static const struct op op_barrier = { barrier, "pld_barrier", "pld_barrier()" };
static const struct op op_alloc = {
	alloc, "pld_alloc_window_buffer",
	"pld_alloc_window_buffer(bytes 64, dtype none, keep PLD_KEEP_HOST)"
};
static const struct op op_host_tensor = { host_tensor, "pld_host_tensor",
					  "pld_host_tensor(bytes 16, dtype INT32)" };
static const struct op op_host_tensor_8 = { host_tensor_8, "pld_host_tensor",
					    "pld_host_tensor(bytes 32, dtype INT32)" };
static const struct op op_host_tensor_float = { host_tensor_float, "pld_host_tensor",
						"pld_host_tensor(bytes 16, dtype FP32)" };
static const struct op op_host_free_s = { host_free_s, "pld_host_free", "pld_host_free(buffer *)" };
static const struct op op_host_free_t = { host_free_t, "pld_host_free", "pld_host_free(buffer *)" };
static const struct op op_free_w = { free_w, "pld_free_window",
				     "pld_free_window_buffer(buffer *)" };
static const struct op op_host = { host, "PLD_HOST", "PLD_HOST()" };
static const struct op op_finalize = { finalize, "pld_finalize", "pld_finalize()" };
static const struct op op_split = { split, "pld_domain_split", "pld_domain_split()" };

static const struct mismatch rows[] = {
	{ "extents of host tensors", &op_host_tensor, &op_host_tensor_8 },
	{ "dtypes of host tensors", &op_host_tensor_float, &op_host_tensor },
	{ "host tensor, buffer", &op_host_tensor, &op_alloc },
	{ "barrier, host tensor", &op_barrier, &op_host_tensor },
	{ "two host tensors", &op_host_free_s, &op_host_free_t },
	{ "free, host free", &op_free_w, &op_host_free_s },
	{ "host level, barrier", &op_host, &op_barrier },
	{ "barrier, host level", &op_barrier, &op_host },
	{ "host level, alloc", &op_host, &op_alloc },
	{ "host level, finalize", &op_host, &op_finalize },
	{ "finalize, barrier", &op_finalize, &op_barrier },
	{ "barrier, finalize", &op_barrier, &op_finalize },
	{ "finalize, alloc", &op_finalize, &op_alloc },
	{ "free, finalize", &op_free_w, &op_finalize },
	{ "split, finalize", &op_split, &op_finalize },
};

/* How a body is told its row and the odd rank. */
struct job {
	const struct mismatch *row;
	int odd;
};

static struct stage make_stage(void)
{
	struct stage s = { .d = pld_world() };

	s.me = pld_rank(s.d);
	s.n = pld_nranks(s.d);
	s.w = pld_new_window(PL_SHAPE(s.n, 4), PL_INT32);
	s.s = pld_host_tensor(PL_SHAPE(4), PL_INT32);
	s.t = pld_host_tensor(PL_SHAPE(4), PL_INT32);
	return s;
}

static int row_body(void *arg)
{
	const struct job *job = arg;
	struct stage s;
	pld_ctx sub;
	pld_tensor w;

	errors_return();
	s = make_stage();
	sub = pld_domain_split(s.d, 0, -s.me);
	w = pld_new_window(PL_SHAPE(4), PL_INT32, .domain = sub);
	mismatch_run(job->row, &s, job->odd);
	FAILS(pld_barrier(s.d), PL_EABORTED, "pld_barrier", BROKEN);
	FAILS(PLD_HOST(errors_state()->failed++), PL_EABORTED, "PLD_HOST", BROKEN);
	FAILS(pld_host_tensor(PL_SHAPE(4), PL_INT32), PL_EABORTED, "pld_host_tensor", BROKEN);
	/* another domain of the same ranks lives */
	WORKS(pld_barrier(sub));
	WORKS(pld_notify(w, (s.me + 1) % s.n, PL_AT(0), 1, PLD_NOTIFY_ADD));
	WORKS(pld_wait(w, PL_AT(0), 1, PLD_WAIT_GE));
	WORKS(pld_barrier(sub));
	WORKS(pld_free_window(w));
	WORKS(pld_domain_free(sub));
	/* what is the world's can be released */
	WORKS(pld_host_free(s.s));
	WORKS(pld_free_window(s.w));
	WORKS(pld_finalize());
	return errors_state()->failed;
}

/* ---- inside PLD_HOST: one rank allocates, the others have come to its end ------------------- */

static void alloc_inside(const struct stage *s, int odd)
{
	WORKS(pld_new_window(PL_SHAPE(8), PL_INT32));
	if (s->me == odd)
		FAILS(pld_alloc_window_buffer(.bytes = 64), PL_EMISMATCH, "pld_alloc_window_buffer",
		      "ranks disagree about call * of the domain: rank * calls "
		      "pld_alloc_window_buffer(bytes 64, dtype none, keep PLD_KEEP_HOST) at "
		      "e_mismatch_world.c:*, rank * calls end of PLD_HOST() at @");
	errors_begin();
}

static int end_body(void *arg)
{
	const struct job *job = arg;
	const char *at;
	struct stage s;
	int got;

	errors_return();
	s = make_stage();
	place(mismatch_base(at = PL_WHERE)), got = PLD_HOST(alloc_inside(&s, job->odd));
	HOLDS(got == PL_EMISMATCH);
	if (s.me != job->odd)
		errors_fails(got, "end of a host level", PL_EMISMATCH, "end of PLD_HOST",
			     "ranks disagree about call * of the domain: rank * calls end of "
			     "PLD_HOST() at @, rank * calls pld_alloc_window_buffer(bytes 64, "
			     "dtype none, keep PLD_KEEP_HOST) at e_mismatch_world.c:*",
			     at);
	WORKS(pld_free_window(s.w));
	WORKS(pld_finalize());
	return errors_state()->failed;
}

/* ---- running --------------------------------------------------------------------------------- */

static int run(const char *name, int (*body)(void *arg), struct job *job, int n)
{
	const struct pld_config config = PLD_CONFIG(.ndevices = n);
	int status = pld_run(&config, body, job);

	if (status)
		fprintf(stderr, "%s, %d ranks, odd rank %d: status %d\n", name, n, job->odd,
			status);
	return status != 0;
}

int main(void)
{
	const int counts[] = { 2, 3, 5 };
	int failed = 0;

	for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
		for (int odd = 0; odd < counts[k]; odd += counts[k] - 1) {
			struct job job = { NULL, odd };

			for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
				job.row = &rows[i];
				failed += run(rows[i].name, row_body, &job, counts[k]);
			}
			failed += run("inside a host level", end_body, &job, counts[k]);
		}
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
