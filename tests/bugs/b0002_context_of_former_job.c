/*
 * b0002_context_of_former_job.c - a context kept from an earlier pld_run crashed in the next.
 *
 * Cause: a context was checked for pld_domain_free only, not for the pld_finalize of its job; the
 * shared parts of its domain were unmapped.
 * Shape: two jobs in one process; the second gives the world and a subset of the first to calls.
 * Fails: SIGSEGV.
 */
#include "config.h"

#include "../errors/errors.h"

#define ENDED "the domain ended with pld_finalize at *b0002_context_of_former_job.c:*"

struct former {
	pld_ctx world, subset;
};

static int keep(void *arg)
{
	struct former *f = arg;

	f->world = pld_world();
	f->subset = pld_domain_subset(f->world, (int[]){ 0 }, 1);
	return 0;
}

static void use(pld_ctx c)
{
	FAILS(pld_barrier(c), PL_EINVAL, "pld_barrier", ENDED);
	FAILS(pld_world_rank(c, 0), PL_EINVAL, "pld_world_rank", ENDED);
	FAILS(pld_domain_split(c, 0, 0), PL_EINVAL, "pld_domain_split", ENDED);
	FAILS(pld_domain_subset(c, (int[]){ 0 }, 1), PL_EINVAL, "pld_domain_subset", ENDED);
	FAILS(pld_alloc_window_buffer(.bytes = 8, .domain = c), PL_EINVAL,
	      "pld_alloc_window_buffer", ENDED);
	FAILS(pld_new_window(PL_SHAPE(2), PL_INT32, .domain = c), PL_EINVAL, "pld_new_window",
	      ENDED);
}

static int use_both(void *arg)
{
	const struct former *f = arg;

	errors_return();
	use(f->world);
	use(f->subset);
	FAILS(pld_domain_free(f->subset), PL_EINVAL, "pld_domain_free", ENDED);
	WORKS(pld_barrier(pld_world()));
	return errors_state()->failed;
}

int main(void)
{
	struct former former;

	if (pld_run(NULL, keep, &former))
		return EXIT_FAILURE;
	return pld_run(NULL, use_both, &former) ? EXIT_FAILURE : EXIT_SUCCESS;
}
