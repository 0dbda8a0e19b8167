/*
 * e_mismatch.c - members of a domain that call different things: every one of them is told, with
 * both calls and both places; the domain is broken, the others live, and everything is released.
 */
#include "config.h"

#include <sys/stat.h>

#include "mismatch.h"
#include "pldi_job.h"

static int alloc_64(struct stage *s)
{
	return OP(pld_alloc_window_buffer(.bytes = 64, .domain = s->d));
}

static int alloc_128(struct stage *s)
{
	return OP(pld_alloc_window_buffer(.bytes = 128, .domain = s->d));
}

static int alloc_large(struct stage *s)
{
	return OP(pld_alloc_window_buffer(.bytes = 3 << 20, .domain = s->d));
}

static int alloc_shape(struct stage *s)
{
	return OP(pld_alloc_window_buffer(PL_SHAPE(16), PL_FP32, .domain = s->d));
}

static int alloc_keep(struct stage *s)
{
	return OP(pld_alloc_window_buffer(.bytes = 64, .domain = s->d, .keep = PLD_KEEP_JOB));
}

static int alloc_own_size(struct stage *s)
{
	return OP(pld_alloc_window_buffer(.bytes = 64 * (s->me + 1), .domain = s->d));
}

static int barrier(struct stage *s)
{
	return OP(pld_barrier(s->d));
}

static int barrier_w(struct stage *s)
{
	return OP(pld_barrier(s->w));
}

static int barrier_v(struct stage *s)
{
	return OP(pld_barrier(s->v));
}

static int barrier_inside(struct stage *s)
{
	return OP(pld_barrier(pl_slice(s->w, PL_AT(0, 1), PL_SHAPE(s->n, 3))));
}

static int barrier_row(struct stage *s)
{
	return OP(pld_barrier(pl_slice(s->w, PL_AT(0, 0), PL_SHAPE((s->n + 3) / 4, 4))));
}

static int free_w(struct stage *s)
{
	return OP(pld_free_window(s->w));
}

static int free_v(struct stage *s)
{
	return OP(pld_free_window(s->v));
}

static int split(struct stage *s)
{
	return OP(pld_domain_split(s->d, 0, 0));
}

static int end(struct stage *s)
{
	if (!s->dry) {
		HOLDS(pld_free_window(s->w) == PL_OK && pld_free_window(s->v) == PL_OK);
		s->w.as_ = s->v.as_ = NULL;
	}
	return OP(pld_domain_free(s->d));
}

/* After the same frees, so that their numbers agree. */
static int barrier_freed(struct stage *s)
{
	if (!s->dry) {
		HOLDS(pld_free_window(s->w) == PL_OK && pld_free_window(s->v) == PL_OK);
		s->w.as_ = s->v.as_ = NULL;
	}
	return OP(pld_barrier(s->d));
}

#define ALLOC "pld_alloc_window_buffer"

static const struct op op_alloc_64 = { alloc_64, ALLOC,
				       ALLOC "(bytes 64, dtype none, keep PLD_KEEP_HOST)" };
static const struct op op_alloc_128 = { alloc_128, ALLOC,
					ALLOC "(bytes 128, dtype none, keep PLD_KEEP_HOST)" };
static const struct op op_alloc_large = { alloc_large, ALLOC,
					  ALLOC "(bytes 3145728, dtype none, keep PLD_KEEP_HOST)" };
static const struct op op_alloc_shape = { alloc_shape, ALLOC,
					  ALLOC "(bytes 64, dtype FP32, keep PLD_KEEP_HOST)" };
static const struct op op_alloc_keep = { alloc_keep, ALLOC,
					 ALLOC "(bytes 64, dtype none, keep PLD_KEEP_JOB)" };
static const struct op op_alloc_own_size = { alloc_own_size, ALLOC,
					     ALLOC "(bytes *, dtype none, keep PLD_KEEP_HOST)" };
static const struct op op_barrier = { barrier, "pld_barrier", "pld_barrier()" };
static const struct op op_barrier_w = { barrier_w, "pld_barrier",
					"pld_barrier(signal buffer *, signal offset 0, *)" };
static const struct op op_barrier_v = { barrier_v, "pld_barrier",
					"pld_barrier(signal buffer *, signal offset 0, *)" };
static const struct op op_barrier_inside = { barrier_inside, "pld_barrier",
					     "pld_barrier(signal buffer *, signal offset 4, *)" };
static const struct op op_barrier_row = { barrier_row, "pld_barrier",
					  "pld_barrier(signal buffer *, signal offset 0, *)" };
static const struct op op_free_w = { free_w, "pld_free_window",
				     "pld_free_window_buffer(buffer *)" };
static const struct op op_free_v = { free_v, "pld_free_window",
				     "pld_free_window_buffer(buffer *)" };
static const struct op op_split = { split, "pld_domain_split", "pld_domain_split()" };
static const struct op op_end = { end, "pld_domain_free", "pld_domain_free(domain *)" };
static const struct op op_barrier_freed = { barrier_freed, "pld_barrier", "pld_barrier()" };

static const struct mismatch rows[] = {
	{ "bytes", &op_alloc_64, &op_alloc_128 },
	{ "much more", &op_alloc_64, &op_alloc_large },
	{ "dtype", &op_alloc_64, &op_alloc_shape },
	{ "keep", &op_alloc_64, &op_alloc_keep },
	{ "each another size", &op_alloc_own_size, &op_alloc_own_size },
	{ "barrier, alloc", &op_barrier, &op_alloc_64 },
	{ "alloc, barrier", &op_alloc_large, &op_barrier },
	{ "barrier of a signal, alloc", &op_barrier_w, &op_alloc_64 },
	{ "alloc, barrier of a signal", &op_alloc_64, &op_barrier_w },
	{ "both barriers", &op_barrier, &op_barrier_w },
	{ "both barriers, the other way", &op_barrier_w, &op_barrier },
	{ "two signals", &op_barrier_w, &op_barrier_v },
	{ "two offsets", &op_barrier_w, &op_barrier_inside },
	{ "two steps", &op_barrier_w, &op_barrier_row },
	{ "free, barrier of it", &op_free_w, &op_barrier_w },
	{ "order of frees", &op_free_w, &op_free_v },
	{ "free, alloc", &op_free_w, &op_alloc_64 },
	{ "split, barrier", &op_split, &op_barrier },
	{ "barrier, split", &op_barrier, &op_split },
	{ "end, barrier", &op_end, &op_barrier_freed },
	{ "barrier, end", &op_barrier_freed, &op_end },
};

static void run_row(int i, int odd)
{
	struct stage s = { .d = pld_domain_split(pld_world(), 0, 0) };

	s.me = pld_rank(s.d);
	s.n = pld_nranks(s.d);
	s.w = pld_new_window(PL_SHAPE(s.n, 4), PL_INT32, .domain = s.d);
	s.v = pld_new_window(PL_SHAPE(s.n, 4), PL_INT32, .domain = s.d);
	mismatch_run(&rows[i], &s, odd);

	/* broken: nothing but releasing works */
	FAILS(pld_barrier(s.d), PL_EABORTED, "pld_barrier", BROKEN);
	FAILS(pld_alloc_window_buffer(.bytes = 8, .domain = s.d), PL_EABORTED, ALLOC, BROKEN);
	if (s.w.as_) {
		FAILS(pld_barrier(s.w), PL_EABORTED, "pld_barrier", BROKEN);
		WORKS(pld_free_window(s.w));
		WORKS(pld_free_window(s.v));
	}
	WORKS(pld_domain_free(s.d));
	WORKS(pld_barrier(pld_world()));
}

/* Memory of the job's segment. */
static long blocks(void)
{
	struct stat st;

	pld_barrier(pld_world());
	if (fstat(pldi_self()->seg.fd, &st))
		abort();
	pld_barrier(pld_world());
	return (long)st.st_blocks;
}

static void all(int me, int n)
{
	long before = 0;

	(void)me;
	for (int odd = 0; odd < n; odd += n - 1) {
		for (int i = 0; i < (int)(sizeof(rows) / sizeof(rows[0])); i++)
			run_row(i, odd);
		/* the first round has touched pages of tables that stay */
		HOLDS(odd == 0 || blocks() == before);
		if (odd == 0)
			before = blocks();
	}
}

int main(void)
{
	return errors_main(all);
}
