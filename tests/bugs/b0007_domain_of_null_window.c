/*
 * b0007_domain_of_null_window.c - the domain of a null window was the world.
 *
 * Cause: pld_get_comm_ctx gave a null context for a null window; as an option, that is one that was
 * not given, and means the world (of pld_window: the buffer's domain).
 * Shape: that context in every call that takes a domain.
 * Fails: .domain makes a buffer of the world; the other calls say that the context is null, and
 * pld_rank crashes.
 */
#include "config.h"

#include "../errors/errors.h"

#define NO_MEMBER "this rank is no member of the context's domain"

static void rows(int me, int n)
{
	const pld_tensor null = { NULL, NULL };
	pld_ctx c = pld_get_comm_ctx(null);
	pld_buffer b = pld_alloc_window_buffer(.bytes = 64);

	(void)me;
	(void)n;
	HOLDS(!pld_is_member(c));
	FAILS(pld_alloc_window_buffer(.bytes = 64, .domain = c), PL_EINVAL,
	      "pld_alloc_window_buffer", NO_MEMBER);
	FAILS(pld_new_window(PL_SHAPE(4), PL_INT32, .domain = c), PL_EINVAL, "pld_new_window",
	      NO_MEMBER);
	FAILS(pld_window(b, PL_SHAPE(4), PL_INT32, .domain = c), PL_EINVAL, "pld_window",
	      NO_MEMBER);
	FAILS(pld_barrier(c), PL_EINVAL, "pld_barrier", NO_MEMBER);
	FAILS(pld_domain_split(c, 0, 0), PL_EINVAL, "pld_domain_split", NO_MEMBER);
	FAILS(pld_domain_subset(c, (int[]){ 0 }, 1), PL_EINVAL, "pld_domain_subset", NO_MEMBER);
	FAILS(pld_domain_free(c), PL_EINVAL, "pld_domain_free", NO_MEMBER);
	FAILS(pld_world_rank(c, 0), PL_EINVAL, "pld_world_rank", NO_MEMBER);
	HOLDS(pld_rank(c) == -1 && pld_nranks(c) == 0);
	WORKS(pld_free_window_buffer(b));
}

int main(void)
{
	return errors_main(rows);
}
