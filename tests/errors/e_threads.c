/* e_threads.c - two threads of a rank in one collective: the second is refused, and told where the
 * first is; the errors of a thread are its own. */
#include "config.h"

#include "errors.h"

static pld_ctx world;
static pld_tensor go;

/* What a thread got, and where it called. */
struct tried {
	int status;
	const char *where;
	char text[200];
};

static void *try_barrier(void *arg)
{
	struct tried *t = arg;
	pld_tensor signal = go;

	t->where = PL_WHERE, t->status = pld_barrier(world);
	snprintf(t->text, sizeof(t->text), "%s", pl_last_error()->text);
	/* the others wait for this before they come to the barrier: so one thread is refused */
	if (t->status == PL_ELEVEL)
		for (int peer = 1; peer < pld_nranks(world); peer++)
			pld_notify(signal, peer, PL_AT(0), 1, PLD_NOTIFY_ADD);
	return NULL;
}

static void one_is_refused(void)
{
	struct tried tried[2];
	pthread_t thread[2];
	int refused;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, try_barrier, &tried[i]))
			abort();
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	refused = tried[1].status != PL_OK;
	HOLDS(tried[refused].status == PL_ELEVEL && tried[!refused].status == PL_OK);
	place(tried[!refused].where);
	HOLDS(errors_match(
		"another thread of this rank is in a collective call on the same domain, at @",
		tried[refused].text, errors_state()->place));
	HOLDS(*tried[!refused].text == 0);
}

static void wrong_in_a_thread(void)
{
	FAILS(pld_world_rank(world, -1), PL_EINVAL, "pld_world_rank",
	      "rank -1 of a domain with ranks 0 to *");
}

static void rows(int me, int n)
{
	world = pld_world();
	go = pld_new_window(PL_SHAPE(1), PL_INT32);
	if (n > 1) {
		if (me == 0)
			one_is_refused();
		else if (pld_wait(go, PL_AT(0), 1, PLD_WAIT_GE) == PL_OK)
			WORKS(pld_barrier(world));
	}
	/* what one thread is told, another does not see */
	HOLDS(pl_last_error()->status == PL_OK && !*pl_last_error()->text);
	errors_fresh(wrong_in_a_thread);
	HOLDS(pl_last_error()->status == PL_OK && !*pl_last_error()->text);
	WORKS(pld_barrier(world));
}

int main(void)
{
	return errors_main(rows);
}
