/*
 * Example: parts of the world.
 *
 * Read after: step 06.
 * Shows:    domains made by colour (pld_domain_split) and by list (pld_domain_subset): each has
 *           ranks of its own numbering, windows of its own, and barriers of its own.
 *           A view can also narrow a window of the world to a domain.
 * Run:      pldrun -n 5 ./domains
 * Prints:   OK
 */
#include <pld.h>
#include <stdio.h>

#define MOST 1024 /* ranks */

/* Each member pushes its world rank around the domain's ring and looks at what came. */
static int ring(pld_ctx domain)
{
	pld_tensor from = pld_new_window(PL_SHAPE(1), PL_INT32, .domain = domain);
	int me = pld_rank(domain), n = pld_nranks(domain);
	int32_t mine = pld_rank(pld_world());
	int bad;

	pld_put(from, (me + 1) % n, pl_wrap(&mine, PL_SHAPE(1), PL_INT32));
	pld_barrier(domain);
	bad = pl_read_int(from, PL_AT(0)) != pld_world_rank(domain, (me - 1 + n) % n);
	pld_free_window(from); /* before the domain that it belongs to */
	return bad;
}

/* The same memory, seen by all and by a half: peers of `part` are numbered by the half. */
static int narrow(pld_ctx half)
{
	pld_buffer buf = pld_alloc_window_buffer(PL_SHAPE(2), PL_INT32);
	pld_tensor all = pld_window(buf, PL_SHAPE(2), PL_INT32);
	pld_tensor part = pld_window(buf, PL_SHAPE(2), PL_INT32, .domain = half);
	pld_tensor second = pl_slice(part, PL_AT(1), PL_SHAPE(1)); /* a view too: peers reach it */
	int32_t mine = pld_rank(half);
	int n = pld_nranks(half), bad;

	pld_put(second, (mine + 1) % n, pl_wrap(&mine, PL_SHAPE(1), PL_INT32));
	pld_barrier(half);
	bad = pl_read_int(all, PL_AT(1)) != (mine - 1 + n) % n;
	bad |= pld_nranks(pld_get_comm_ctx(all)) != pld_nranks(pld_world());
	pld_free_window_buffer(buf); /* by all: it is the world's */
	return bad;
}

static int body(void *arg)
{
	pld_ctx world = pld_world(), half, thirds;
	int me = pld_rank(world), n = pld_nranks(world), ranks[MOST], count = 0, bad;

	(void)arg;
	/* 1. Even and odd ranks, each half in descending order of world rank: by colour and key. */
	half = pld_domain_split(world, me % 2, -me);
	bad = ring(half) || narrow(half);

	/* 2. Every third rank, by list.  Others may call too and are no members. */
	for (int r = 0; r < n && count < MOST; r += 3)
		ranks[count++] = r;
	thirds = pld_domain_subset(world, ranks, count);
	bad |= pld_is_member(thirds) != (me % 3 == 0);
	if (pld_is_member(thirds)) {
		bad |= ring(thirds);
		pld_domain_free(thirds);
	}
	pld_domain_free(half);
	if (me == 0 && !bad)
		puts("OK");
	return bad;
}

int main(void)
{
	return pld_run(&(struct pld_config)PLD_CONFIG(.default_ndevices = 5), body, NULL);
}
