/*
 * e_end.c - how a job ends of an error: one line on stderr from the whole job, its exit status, and
 * nothing lost of what was printed before.  Each row is a job that pld_run starts.
 */
#include "config.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errors.h"
#include "output.h"

static int me(void)
{
	return pld_rank(pld_world());
}

static int last(void)
{
	return pld_nranks(pld_world()) - 1;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Printed by every rank, the last line without its end: the stream still has it. */
static void say_hello(void)
{
	printf("rank %d says hello\n", me());
	printf("<%d>", me());
}

static int wrong_peer_of_one(void *arg)
{
	pld_tensor w = pld_new_window(PL_SHAPE(4), PL_INT32);

	(void)arg;
	say_hello();
	pld_barrier(pld_world());
	if (me() == last())
		pld_put(w, 99, w);
	pld_barrier(pld_world());
	return 0;
}

static int wrong_peer_of_all(void *arg)
{
	pld_tensor w = pld_new_window(PL_SHAPE(4), PL_INT32);

	(void)arg;
	say_hello();
	pld_barrier(pld_world());
	pld_put(w, 99, w);
	return 0;
}

/* The others sleep in every way there is. */
static int wrong_while_others_wait(void *arg)
{
	pld_tensor w = pld_new_window(PL_SHAPE(1, 8), PL_INT32);
	const struct pld_condition c = { w, PL_AT(0, 2), 1, PLD_WAIT_GE };

	(void)arg;
	say_hello();
	pld_barrier(pld_world());
	if (me() == 1)
		pld_wait(w, PL_AT(0, 1), 1, PLD_WAIT_GE);
	else if (me() == 2)
		pld_wait_any(&c, 1, PLD_FOREVER);
	else if (me() == 3)
		pld_wait_for(w, PL_AT(0, 3), 1, PLD_WAIT_EQ, PLD_FOREVER);
	else if (me() == 4)
		pld_domain_subset(pld_world(), (int[]){ 4, 0 }, 2);
	else if (me() == 0)
		pld_window((pld_buffer){ NULL }, PL_SHAPE(4), PL_INT32);
	return 0;
}

static int different_sizes(void *arg)
{
	(void)arg;
	say_hello();
	pld_barrier(pld_world());
	pld_alloc_window_buffer(.bytes = 64 * (1 + (me() == last())));
	pld_barrier(pld_world());
	return 0;
}

static int different_calls(void *arg)
{
	pld_tensor w = pld_new_window(PL_SHAPE(pld_nranks(pld_world()), 1), PL_INT32);

	(void)arg;
	say_hello();
	pld_barrier(pld_world());
	if (me() == 0)
		pld_barrier(w);
	else
		pld_host_tensor(PL_SHAPE(2, 2), PL_FP32);
	pld_barrier(pld_world());
	return 0;
}

static int different_lists(void *arg)
{
	(void)arg;
	say_hello();
	pld_barrier(pld_world());
	if (me() == 0)
		pld_domain_subset(pld_world(), (int[]){ 0, 1 }, 2);
	if (me() == 1)
		pld_domain_subset(pld_world(), (int[]){ 1, 0 }, 2);
	pld_barrier(pld_world());
	return 0;
}

static int too_much_memory(void *arg)
{
	(void)arg;
	say_hello();
	pld_barrier(pld_world());
	pld_alloc_window_buffer(.bytes = INT64_MAX);
	return 0;
}

static int wrong_level(void *arg)
{
	(void)arg;
	say_hello();
	pld_barrier(pld_world());
	PLD_HOST(pl_full(PL_SHAPE(1), PL_INT32, 1));
	return 0;
}

static int aborts(void *arg)
{
	say_hello();
	pld_barrier(pld_world());
	if (me() == last())
		pld_abort(*(const int *)arg, "enough");
	pld_barrier(pld_world());
	return 0;
}

static int aborts_silently(void *arg)
{
	say_hello();
	pld_barrier(pld_world());
	if (me() == last())
		pld_abort(*(const int *)arg, NULL);
	pld_barrier(pld_world());
	return 0;
}

static int all_abort(void *arg)
{
	say_hello();
	pld_barrier(pld_world());
	pld_abort(*(const int *)arg, "enough");
	return 0;
}

static void tell(const struct pl_error *e, void *arg)
{
	(void)arg;
	printf("handler of %d: %s of %s\n", me(), pl_status_name(e->status), e->call);
}

static int with_a_handler(void *arg)
{
	(void)arg;
	say_hello();
	pl_set_error_handler(tell, NULL);
	pld_barrier(pld_world());
	if (me() == last())
		pld_world_rank(pld_world(), -1);
	pld_barrier(pld_world());
	return 0;
}

/* Whose errors return is told that the job ends, by whom, and may still speak. */
static int others_are_told(void *arg)
{
	pld_tensor w = pld_new_window(PL_SHAPE(8), PL_INT32);

	(void)arg;
	say_hello();
	if (me() < last())
		errors_return();
	signal(SIGTERM, SIG_IGN); /* it comes soon, and a busy machine may be slow */
	pld_barrier(pld_world());
	if (me() == last())
		pld_world_rank(pld_world(), -1);
	if (me() == 0)
		FAILS(pld_wait(w, PL_AT(0), 1, PLD_WAIT_GE), PL_EABORTED, "pld_wait",
		      "the job ends: rank 2 failed");
	else
		FAILS(pld_barrier(pld_world()), PL_EABORTED, "pld_barrier",
		      "the job ends: rank 2 failed");
	printf("told %d, %d wrong\n", me(), errors_state()->failed);
	return 0;
}

static int the_launcher_ends_it(void *arg)
{
	pld_tensor w = pld_new_window(PL_SHAPE(8), PL_INT32);

	(void)arg;
	say_hello();
	signal(SIGTERM, SIG_IGN);
	pld_barrier(pld_world());
	if (me() == last())
		exit(3);
	errors_return();
	FAILS(pld_wait_for(w, PL_AT(0), 1, PLD_WAIT_GE, PLD_FOREVER), PL_EABORTED, "pld_wait_for",
	      "the job ends");
	printf("told %d, %d wrong\n", me(), errors_state()->failed);
	return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const int statuses[] = { 7, 255, 256, -1, 0 };

static const struct row {
	const char *name;
	int ranks;
	int (*body)(void *arg);
	int status;
	const char *err;  /* all of stderr */
	const char *more; /* in stdout, after each rank's hello; NULL: nothing */
	int arg;
} rows[] = {
	{ "one of two", 2, wrong_peer_of_one, 1,
	  "pld: rank 1: pld_put: peer 99; the window's domain has ranks 0 to 1, *e_end.c:*\n", NULL,
	  0 },
	{ "one of five", 5, wrong_peer_of_one, 1,
	  "pld: rank 4: pld_put: peer 99; the window's domain has ranks 0 to 4, *e_end.c:*\n", NULL,
	  0 },
	{ "all of five", 5, wrong_peer_of_all, 1,
	  "pld: rank *: pld_put: peer 99; the window's domain has ranks 0 to 4, *e_end.c:*\n", NULL,
	  0 },
	{ "alone", 1, wrong_peer_of_one, 1,
	  "pld: rank 0: pld_put: peer 99; the window's domain has ranks 0 to 0, *e_end.c:*\n", NULL,
	  0 },
	{ "others wait", 5, wrong_while_others_wait, 1, "pld: rank *: pld_*: *, *e_end.c:*\n", NULL,
	  0 },
	{ "sizes", 2, different_sizes, 1,
	  "pld: rank *: pld_alloc_window_buffer: ranks disagree about call * of the domain: rank "
	  "* calls pld_alloc_window_buffer(bytes *, dtype none, keep PLD_KEEP_HOST) at "
	  "e_end.c:*, rank * calls pld_alloc_window_buffer(bytes *, dtype none, keep "
	  "PLD_KEEP_HOST) at e_end.c:*, *e_end.c:*\n",
	  NULL, 0 },
	{ "sizes of five", 5, different_sizes, 1,
	  "pld: rank *: pld_alloc_window_buffer: ranks disagree about *e_end.c:*\n", NULL, 0 },
	{ "calls", 3, different_calls, 1,
	  "pld: rank *: pld_*: ranks disagree about *pld_host_tensor(bytes 16, dtype "
	  "FP32)*e_end.c:*\n",
	  NULL, 0 },
	{ "calls, the other way", 2, different_calls, 1,
	  "pld: rank *: pld_*: ranks disagree about *e_end.c:*\n", NULL, 0 },
	{ "lists", 3, different_lists, 1,
	  "pld: rank *: pld_domain_subset: ranks disagree about a new domain: rank * makes one "
	  "of the world's ranks {*}, rank * one of {*} at e_end.c:*, *e_end.c:*\n",
	  NULL, 0 },
	{ "memory", 3, too_much_memory, 1,
	  "pld: rank *: pld_alloc_window_buffer: 9223372036854775807 bytes on 3 ranks *e_end.c:*\n",
	  NULL, 0 },
	{ "level", 2, wrong_level, 1,
	  "pld: rank *: pl_full: not allowed at host level, which began at *e_end.c:*; here: "
	  "memory, domains, collectives and PLD_DISPATCH, *e_end.c:*\n",
	  NULL, 0 },
	{ "abort with 7", 3, aborts, 7, "pld: rank 2: pld_abort: enough, *e_end.c:*\n", NULL, 0 },
	{ "abort with 255", 2, aborts, 255, "pld: rank 1: pld_abort: enough, *e_end.c:*\n", NULL,
	  1 },
	{ "abort with 256", 2, aborts, 1, "pld: rank 1: pld_abort: enough, *e_end.c:*\n", NULL, 2 },
	{ "abort with -1", 2, aborts, 1, "pld: rank 1: pld_abort: enough, *e_end.c:*\n", NULL, 3 },
	{ "abort with 0", 3, aborts, 0, "pld: rank 2: pld_abort: enough, *e_end.c:*\n", NULL, 4 },
	{ "silent abort", 3, aborts_silently, 7, "", NULL, 0 },
	{ "all abort", 5, all_abort, 7, "pld: rank *: pld_abort: enough, *e_end.c:*\n", NULL, 0 },
	{ "alone, abort", 1, aborts, 7, "pld: rank 0: pld_abort: enough, *e_end.c:*\n", NULL, 0 },
	{ "handler", 2, with_a_handler, 1,
	  "pld: rank 1: pld_world_rank: rank -1 of a domain with ranks 0 to 1, *e_end.c:*\n",
	  "handler of 1: PL_EINVAL of pld_world_rank\n", 0 },
	{ "told", 3, others_are_told, 1,
	  "pld: rank 2: pld_world_rank: rank -1 of a domain with ranks 0 to 2, *e_end.c:*\n",
	  "told 0, 0 wrong\n", 0 },
	{ "told of the launcher", 2, the_launcher_ends_it, 3,
	  "*rank 1 (pid *) ended with exit status 3*\n", "told 0, 0 wrong\n", 0 },
};

enum { RIGHT, WRONG, TOO_LATE };

/* Alone the rank is this process: it must not be the test's. */
static int run_alone(const struct row *row, const struct pld_config *config)
{
	int status = 0, arg = statuses[row->arg];
	pid_t pid = fork();

	if (pid == 0)
		exit(pld_run(config, row->body, &arg));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_row(const struct row *row)
{
	const struct pld_config config = PLD_CONFIG(.ndevices = row->ranks);
	int arg = statuses[row->arg], status, bad = 0, failed, out_before, err_before;
	int out_file = divert(STDOUT_FILENO, &out_before);
	int err_file = divert(STDERR_FILENO, &err_before);
	char out[4096], err[4096], hello[64];

	status = row->ranks == 1 ? run_alone(row, &config) : pld_run(&config, row->body, &arg);
	restore(STDOUT_FILENO, out_before, out_file, out, sizeof(out));
	restore(STDERR_FILENO, err_before, err_file, err, sizeof(err));

	bad |= status != row->status;
	bad |= !errors_match(row->err, err, NULL) || lines(err) > 1;
	for (int r = 0; r < row->ranks; r++) {
		snprintf(hello, sizeof(hello), "rank %d says hello\n", r);
		bad |= !strstr(out, hello);
	}
	/* what its stream had: of who failed; others may be killed before they can write it */
	if (sscanf(err, "pld: rank %d", &failed) == 1) {
		snprintf(hello, sizeof(hello), "<%d>", failed);
		bad |= !strstr(out, hello);
	}
	if (!bad && row->more && !strstr(out, row->more) && !strstr(out, "told"))
		return TOO_LATE;
	bad |= row->more && !strstr(out, row->more);
	if (bad)
		fprintf(stderr,
			"%s: status %d, wanted %d\n--- stderr\n%s--- wanted\n%s--- stdout\n%s\n",
			row->name, status, row->status, err, row->err, out);
	return bad ? WRONG : RIGHT;
}

int main(void)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int tries = 20, got;

		/* who is told that the job ends is killed if it takes long to say so */
		do
			got = run_row(&rows[i]);
		while (got == TOO_LATE && --tries);
		if (got == TOO_LATE)
			fprintf(stderr, "%s: never printed: %s", rows[i].name, rows[i].more);
		failed += got != RIGHT;
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
