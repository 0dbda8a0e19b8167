/*
 * b0003_forked_child_leaves_levels.c - a forked child became its parent's rank again.
 *
 * Cause: the end of PLD_INCORE, PLD_DISPATCH, PLD_HOST gave back the rights of the level outside,
 * also to a child forked inside, which has none; its end of PLD_HOST then counted as the rank's.
 * Shape: rank 0 forks in a kernel and waits there for its child, which returns through all three
 * levels and calls pld_barrier; the peers are at the end of PLD_HOST meanwhile.
 * Fails: the child's PLD_HOST and pld_barrier give PL_OK, and the peers leave theirs with them.
 */
#include "config.h"

#include <sys/wait.h>
#include <unistd.h>

#include "../errors/errors.h"

#define CHILD "called in a forked child, which is no rank"

struct stage {
	pld_ctx world;
	pld_tensor over; /* on each rank 1: rank 0 has seen its child end */
	pid_t child;	 /* 0: this is it */
	int at_host, at_device, at_incore;
};

static void kernel(struct stage *s)
{
	int status;

	fflush(NULL);
	s->child = fork();
	if (s->child == 0)
		return;
	HOLDS(waitpid(s->child, &status, 0) == s->child && status == 0);
	for (int r = 0; r < pld_nranks(s->world); r++)
		WORKS(pld_notify(s->over, r, PL_AT(0), 1, PLD_NOTIFY_SET));
}

static void device(struct stage *s)
{
	s->at_incore = PLD_INCORE(kernel(s));
}

static void host(struct stage *s)
{
	s->at_device = PLD_DISPATCH(0, device(s));
}

static void in_child(struct stage *s)
{
	HOLDS(s->at_incore == PL_ELEVEL && s->at_device == PL_ELEVEL && s->at_host == PL_ELEVEL);
	FAILS(pld_barrier(s->world), PL_ELEVEL, "pld_barrier", CHILD);
	FAILS(pld_notify(s->over, 0, PL_AT(0), 7, PLD_NOTIFY_SET), PL_ELEVEL, "pld_notify", CHILD);
	FAILS(PLD_HOST(errors_state()->failed++), PL_ELEVEL, "PLD_HOST", CHILD);
	FAILS(pld_finalize(), PL_ELEVEL, "pld_finalize", CHILD);
}

static void rows(int me, int n)
{
	struct stage s = { .world = pld_world(), .child = -1 };

	(void)me;
	(void)n;
	s.over = pld_new_window(PL_SHAPE(1), PL_INT32);
	s.at_host = PLD_HOST(host(&s));
	if (s.child == 0) {
		in_child(&s);
		_exit(errors_state()->failed);
	}
	HOLDS(s.at_host == PL_OK);
	HOLDS(pl_read_int(s.over, PL_AT(0)) == 1);
	WORKS(pld_barrier(s.world));
}

int main(void)
{
	return errors_main(rows);
}
