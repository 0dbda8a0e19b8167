/*
 * Example: a window that lives longer than the host level.
 *
 * Read after: step 06.
 * Shows:    PLD_KEEP_JOB: made in one PLD_HOST, used in the next, with what the first left in it;
 *           and what PLD_HOST returns.
 * Run:      pldrun -n 3 ./keep
 * Prints:   OK
 */
#include <pld.h>
#include <stdio.h>

static void count(pld_tensor visits)
{
	pl_write(visits, PL_AT(0), pl_read_int(visits, PL_AT(0)) + 1);
}

static void device(pld_tensor visits)
{
	PLD_INCORE(count(visits));
}

/* The first time makes the window; with PLD_KEEP_HOST, the default, it would end with the level. */
static void host(pld_tensor *visits, int first)
{
	if (first)
		*visits = pld_new_window(PL_SHAPE(1), PL_INT64, .keep = PLD_KEEP_JOB);
	for (int r = 0; r < pld_world_size(); r++)
		PLD_DISPATCH(r, device(*visits));
}

static int body(void *arg)
{
	pld_tensor visits = { 0 };
	int bad = 0;

	(void)arg;
	bad |= PLD_HOST(host(&visits, 1)) != PL_OK;
	bad |= PLD_HOST(host(&visits, 0)) != PL_OK;
	bad |= pl_read_int(visits, PL_AT(0)) != 2;
	pld_free_window(visits);
	if (pld_rank(pld_world()) == 0 && !bad)
		puts("OK");
	return bad;
}

int main(void)
{
	return pld_run(&(struct pld_config)PLD_CONFIG(.default_ndevices = 3), body, NULL);
}
