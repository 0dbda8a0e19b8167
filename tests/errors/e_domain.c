/* e_domain.c - wrong arguments of the calls that make and end domains, and windows of them. */
#include "config.h"

#include "errors.h"

static void subsets(int n)
{
	pld_ctx world = pld_world(), nobody = { NULL };
	char text[120];
	int twice[64] = { 0 };

	snprintf(text, sizeof(text), "0 ranks of a domain of %d", n);
	FAILS(pld_domain_subset(world, (int[]){ 0 }, 0), PL_EINVAL, "pld_domain_subset", text);
	snprintf(text, sizeof(text), "-2 ranks of a domain of %d", n);
	FAILS(pld_domain_subset(world, (int[]){ 0 }, -2), PL_EINVAL, "pld_domain_subset", text);
	snprintf(text, sizeof(text), "%d ranks of a domain of %d", n + 1, n);
	FAILS(pld_domain_subset(world, twice, n + 1), PL_EINVAL, "pld_domain_subset", text);
	FAILS(pld_domain_subset(world, NULL, 1), PL_EINVAL, "pld_domain_subset",
	      "1 ranks of a domain of *");
	snprintf(text, sizeof(text), "ranks[0] is %d, the domain has 0 to %d", n, n - 1);
	FAILS(pld_domain_subset(world, (int[]){ n }, 1), PL_EINVAL, "pld_domain_subset", text);
	FAILS(pld_domain_subset(world, (int[]){ -1 }, 1), PL_EINVAL, "pld_domain_subset",
	      "ranks[0] is -1, the domain has 0 to *");
	if (n > 1) {
		FAILS(pld_domain_subset(world, (int[]){ 1, 1 }, 2), PL_EINVAL, "pld_domain_subset",
		      "ranks[0] and ranks[1] are both 1");
	}
	FAILS(pld_domain_subset(nobody, (int[]){ 0 }, 1), PL_EINVAL, "pld_domain_subset",
	      "the context is null");
	FAILS(pld_domain_split(nobody, 0, 0), PL_EINVAL, "pld_domain_split", "the context is null");
	FAILS(pld_domain_free(nobody), PL_EINVAL, "pld_domain_free", "the context is null");
	FAILS(pld_domain_free(world), PL_EINVAL, "pld_domain_free",
	      "the world ends with pld_finalize");
}

static void world_ranks(int n)
{
	pld_ctx world = pld_world(), nobody = { NULL };
	char text[80];

	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "rank %d of a domain with ranks 0 to %d", i ? n : -1,
			 n - 1);
		FAILS(pld_world_rank(world, i ? n : -1), PL_EINVAL, "pld_world_rank", text);
	}
	FAILS(pld_world_rank(nobody, 0), PL_EINVAL, "pld_world_rank", "the context is null");
	WORKS(pld_world_rank(world, n - 1));
}

/* Whoever is in no domain cannot act in the others', nor by mistake in the world. */
static void not_a_member(int me, int n)
{
	pld_ctx zero = pld_domain_subset(pld_world(), (int[]){ 0 }, 1);
	pld_ctx none = pld_domain_split(pld_world(), -1, 0);

	HOLDS(pld_is_member(zero) == (me == 0) && !pld_is_member(none));
	FAILS(pld_barrier(none), PL_EINVAL, "pld_barrier",
	      "this rank is no member of the context's domain");
	FAILS(pld_world_rank(none, 0), PL_EINVAL, "pld_world_rank",
	      "this rank is no member of the context's domain");
	FAILS(pld_alloc_window_buffer(.bytes = 8, .domain = none), PL_EINVAL,
	      "pld_alloc_window_buffer", "this rank is no member of the context's domain");
	if (me == 0) {
		pld_tensor w = pld_new_window(PL_SHAPE(2), PL_INT32, .domain = zero);

		FAILS(pld_put(w, 1, w), PL_EINVAL, "pld_put",
		      "peer 1; the window's domain has ranks 0 to 0");
		FAILS(pld_notify(w, 1, PL_AT(0), 1, PLD_NOTIFY_ADD), PL_EINVAL, "pld_notify",
		      "peer 1; the window's domain has ranks 0 to 0");
		FAILS(pld_domain_free(zero), PL_EINVAL, "pld_domain_free",
		      "the domain still has 1 window buffers; free them first");
		WORKS(pld_free_window(w));
		WORKS(pld_domain_free(zero));
	}
	(void)n;
}

/* A view for other peers than the buffer's: they must have the buffer. */
static void narrowed(int me, int n)
{
	pld_ctx low = pld_domain_split(pld_world(), me > 0, 0);
	pld_ctx all = pld_domain_split(pld_world(), 0, 0);
	pld_buffer ours = pld_alloc_window_buffer(.bytes = 64, .domain = low);
	char text[100];

	if (n > 1) {
		snprintf(text, sizeof(text),
			 "rank %d of the world is in .domain, but not in the buffer's domain",
			 me > 0 ? 0 : 1);
		FAILS(pld_window(ours, PL_SHAPE(4), PL_INT32, .domain = all), PL_EINVAL,
		      "pld_window", text);
		FAILS(pld_window(ours, PL_SHAPE(4), PL_INT32, .domain = pld_world()), PL_EINVAL,
		      "pld_window", text);
	}
	WORKS(pld_window(ours, PL_SHAPE(4), PL_INT32, .domain = low));
	WORKS(pld_free_window_buffer(ours));
	WORKS(pld_domain_free(low));
	WORKS(pld_domain_free(all));
}

/* Contexts and views of a domain that has ended. */
static void ended(void)
{
	pld_ctx d = pld_domain_split(pld_world(), 0, 0);
	pld_buffer of_world = pld_alloc_window_buffer(.bytes = 64);
	pld_tensor v = pld_window(of_world, PL_SHAPE(2, 8), PL_INT32, .domain = d);

	place(PL_WHERE), pld_domain_free(d);
	FAILS(pld_domain_free(d), PL_EINVAL, "pld_domain_free", "the domain was freed at @");
	FAILS(pld_domain_subset(d, (int[]){ 0 }, 1), PL_EINVAL, "pld_domain_subset",
	      "the domain was freed at @");
	FAILS(pld_domain_split(d, 0, 0), PL_EINVAL, "pld_domain_split",
	      "the domain was freed at @");
	FAILS(pld_world_rank(d, 0), PL_EINVAL, "pld_world_rank", "the domain was freed at @");
	FAILS(pld_barrier(d), PL_EINVAL, "pld_barrier", "the domain was freed at @");
	FAILS(pld_alloc_window_buffer(.bytes = 64, .domain = d), PL_EINVAL,
	      "pld_alloc_window_buffer", "the domain was freed at @");
	FAILS(pld_window(of_world, PL_SHAPE(4), PL_INT32, .domain = d), PL_EINVAL, "pld_window",
	      "the domain was freed at @");
	FAILS(pld_barrier(v), PL_EINVAL, "pld_barrier", "signal: its domain was freed at @");
	FAILS(pld_put(v, 0, v), PL_EINVAL, "pld_put", "dst: its domain was freed at @");
	FAILS(pld_notify(v, 0, PL_AT(0, 0), 1, PLD_NOTIFY_ADD), PL_EINVAL, "pld_notify",
	      "signal: its domain was freed at @");
	WORKS(pld_free_window_buffer(of_world));
}

/* Slices that do not lie evenly, and the ranks that do. */
static void uneven(int me, int n)
{
	const int odd[] = { 0, 1, 3 }, even[] = { 4, 2, 0 };
	pld_ctx d;

	if (n < 5)
		return;
	d = pld_domain_subset(pld_world(), odd, 3);
	if (pld_is_member(d)) {
		pld_tensor w = pld_new_window(PL_SHAPE(4), PL_INT32, .domain = d);

		FAILS(pld_all(w), PL_EINVAL, "pld_all",
		      "the domain's ranks in the world, {0, 1, 3}, are not evenly spaced: their "
		      "slices are no strided tensor");
		WORKS(pld_free_window(w));
		WORKS(pld_domain_free(d));
	}
	d = pld_domain_subset(pld_world(), even, 3);
	if (pld_is_member(d)) {
		pld_tensor w = pld_new_window(PL_SHAPE(4), PL_INT32, .domain = d);

		WORKS(pld_all(w));
		WORKS(pld_free_window(w));
		WORKS(pld_domain_free(d));
	}
	(void)me;
}

static void too_many_domains(void)
{
	enum { MOST = 1023 }; /* beside the world */
	static pld_ctx made[MOST];

	for (int i = 0; i < MOST; i++)
		made[i] = pld_domain_split(pld_world(), 0, 0);
	FAILS(pld_domain_split(pld_world(), 0, 0), PL_ENOMEM, "pld_domain_split",
	      "1024 domains are in use, the most that a job can have; free some");
	for (int i = 0; i < MOST; i++)
		WORKS(pld_domain_free(made[i]));
	made[0] = pld_domain_split(pld_world(), 0, 0);
	WORKS(pld_domain_free(made[0]));
}

static void rows(int me, int n)
{
	subsets(n);
	world_ranks(n);
	not_a_member(me, n);
	narrowed(me, n);
	ended();
	uneven(me, n);
	if (n <= 2)
		too_many_domains();
}

int main(void)
{
	return errors_main(rows);
}
