/*
 * mismatch_time.c - ranks that disagree about a collective: how long after the last of them has
 * called it is said.  Printed by what they disagree about, the most of all runs:
 *
 *	message	from the last call to the line on stderr
 *	exit	from there to the end of the job, with status 1
 *	members	from the last call until every member has its PL_EMISMATCH, where errors return
 *
 * Collectives, numbers of ranks, the odd one and delays before its call or the others' are random.
 * A job that hangs, or ends otherwise, fails; in a long run more than a second does, too.
 */
#include "config.h"

#include <inttypes.h>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../errors/collectives.h"
#include "pldi_clock.h"
#include "stress.h"

#define BAR_NS INT64_C(1000000000)
#define HANG_NS (30 * BAR_NS)

enum what { OTHER_OP, OTHER_DTYPE, OTHER_COUNT, OTHER_ROOT, OTHER_ORDER, LEFT_OUT, WHATS };

static const struct {
	const char *name;
	unsigned needs; /* of the collective */
} whats[WHATS] = {
	[OTHER_OP] = { "op", OP },	     [OTHER_DTYPE] = { "dtype", TARGET },
	[OTHER_COUNT] = { "count", TARGET }, [OTHER_ROOT] = { "root", ROOT },
	[OTHER_ORDER] = { "order", 0 },	     [LEFT_OUT] = { "left out", 0 },
};

struct sample {
	enum what what;
	const struct collective *c;
	int n, odd, with_signal, returns;
	int64_t delay_ns; /* of the odd rank's call, or if negative of the others' */
	_Atomic int64_t called_ns[MOST_RANKS], told_ns[MOST_RANKS];
};

static void differ(struct coll_stage *s, const struct sample *x, struct args *a)
{
	switch (x->what) {
	case OTHER_OP:
		a->op = PLD_MIN;
		break;
	case OTHER_DTYPE:
		coll_set_target(s, x->c, a, pld_window(s->b, PL_SHAPE(s->n, s->cols), PL_FP32));
		break;
	case OTHER_COUNT:
		coll_set_target(s, x->c, a,
				pld_window(s->b, PL_SHAPE(s->n, 2 * s->cols), PL_INT32));
		break;
	case OTHER_ROOT:
		a->root = 1;
		break;
	default:
		break;
	}
}

static void pause_for(int64_t ns)
{
	struct timespec t = { 0, (long)ns };

	if (ns > 0)
		nanosleep(&t, NULL);
}

static int body(void *arg)
{
	struct sample *x = arg;
	struct coll_stage *s = coll_stage_new(pld_world(), 1, 16);
	const struct collective *c = x->c;
	struct args a = coll_args(s, c);
	const char *where;
	int got;

	if (x->returns)
		errors_return();
	if (x->with_signal)
		a.signal = s->sig;
	if (s->me == x->odd) {
		differ(s, x, &a);
		if (x->what == OTHER_ORDER)
			c = &collectives[(c - collectives + 1) % ncollectives];
		if (c != x->c)
			a = coll_args(s, c);
	}
	pld_barrier(s->d);
	pause_for(s->me == x->odd ? x->delay_ns : -x->delay_ns);
	x->called_ns[s->me] = pldi_now_ns();
	got = s->me == x->odd && x->what == LEFT_OUT ? (int)pld_finalize() : c->call(&a, &where);
	x->told_ns[s->me] = pldi_now_ns();
	if (x->returns)
		pld_finalize();
	return x->returns && got != PL_EMISMATCH ? 3 : 0;
}

static int64_t last_of(const _Atomic int64_t *ns, int n)
{
	int64_t last = 0;

	for (int i = 0; i < n; i++)
		last = ns[i] > last ? ns[i] : last;
	return last;
}

/* Runs the job in a child.  Its status, or -1: it hangs; when its first byte came, and its end. */
static int run(struct sample *x, int64_t *message_ns, int64_t *end_ns)
{
	const struct pld_config config = PLD_CONFIG(.ndevices = x->n);
	int said[2], status = -1;
	char text[2048];
	struct pollfd p;
	pid_t pid;

	fflush(stdout);
	if (pipe(said) || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		dup2(said[1], STDERR_FILENO);
		close(said[0]);
		close(said[1]);
		exit(pld_run(&config, body, x));
	}
	close(said[1]);
	p = (struct pollfd){ said[0], POLLIN, 0 };
	*message_ns = *end_ns = 0;
	/* until the end of the file, which is that of the last process that has it */
	while (poll(&p, 1, (int)(HANG_NS / 1000000)) == 1) {
		const ssize_t n = read(said[0], text, sizeof(text) - 1);

		if (n <= 0) {
			if (waitpid(pid, &status, 0) == pid)
				*end_ns = pldi_now_ns();
			break;
		}
		if (!*message_ns)
			*message_ns = pldi_now_ns();
		text[n] = '\0';
		if (!strstr(text, "ranks disagree about call"))
			fprintf(stderr, "%s", text);
	}
	if (!*end_ns)
		kill(pid, SIGTERM);
	close(said[0]);
	return *end_ns && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct result {
	int runs;
	int64_t message_ns, exit_ns, members_ns;
};

static void more(int64_t *most, int64_t ns)
{
	*most = ns > *most ? ns : *most;
}

/* Whether it was said in time, in both ways. */
static int measure(struct sample *x, struct result *r)
{
	int64_t message_ns, end_ns, called_ns;
	int ended, returned;

	x->returns = 0;
	ended = run(x, &message_ns, &end_ns);
	called_ns = last_of(x->called_ns, x->n);
	more(&r->message_ns, message_ns - called_ns);
	more(&r->exit_ns, message_ns ? end_ns - message_ns : 0);
	x->returns = 1;
	returned = run(x, &message_ns, &end_ns);
	more(&r->members_ns, last_of(x->told_ns, x->n) - last_of(x->called_ns, x->n));
	r->runs++;
	if (ended == 1 && returned == 0)
		return 1;
	printf("%s of %s%s, %d ranks, odd %d, delay %" PRId64 " ns: status %d, %d where errors "
	       "return%s\n",
	       whats[x->what].name, x->c->name, x->with_signal ? " with a signal" : "", x->n,
	       x->odd, x->delay_ns, ended, returned, ended < 0 || returned < 0 ? ": hangs" : "");
	return 0;
}

static void choose(struct sample *x, enum what what, uint64_t *random)
{
	static const int counts[] = { 2, 3, 5 };
	const uint64_t bits = stress_random(random) >> 8;

	do
		x->c = &collectives[stress_random(random) % ncollectives];
	while ((x->c->takes & whats[what].needs) != whats[what].needs);
	x->what = what;
	x->n = counts[bits % 3];
	x->odd = (int)(bits >> 8 & 0xff) % x->n;
	x->with_signal = (int)(bits >> 16) & 1;
	/* up to 20 ms: the early ones are asleep by then */
	x->delay_ns = bits >> 17 & 1 ? (int64_t)(bits >> 20) % 20000000 : 0;
	if (bits >> 18 & 1)
		x->delay_ns = -x->delay_ns;
}

int main(void)
{
	struct stress s = stress_begin("mismatch_time", 1);
	struct sample *x = stress_shared(sizeof(*x));
	struct result results[WHATS] = { { 0 } };
	const int64_t until_ns = pldi_now_ns() + s.run_ns;
	int failed = 0;

	do
		for (int w = 0; w < WHATS; w++) {
			choose(x, (enum what)w, &s.seed);
			failed += !measure(x, &results[w]);
		}
	while (pldi_now_ns() < until_ns);
	printf("%-10s %8s %12s %12s %12s\n", "", "runs", "message ms", "exit ms", "members ms");
	for (int w = 0; w < WHATS; w++) {
		const struct result *r = &results[w];

		printf("%-10s %8d %12.2f %12.2f %12.2f\n", whats[w].name, r->runs,
		       (double)r->message_ns / 1e6, (double)r->exit_ns / 1e6,
		       (double)r->members_ns / 1e6);
		if (s.long_run)
			failed += r->message_ns > BAR_NS || r->members_ns > BAR_NS;
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
