/*
 * e_coll_end.c - collectives and the end: of a job that one of them ends by its error, in forked
 * children, after pld_finalize, and against a rank that has gone there.  Each row is a job.
 */
#include "config.h"

#include <sys/wait.h>

#include "collectives.h"
#include "mismatch.h"
#include "output.h"

/* How a body is told which collective. */
struct job {
	const struct collective *c;
	int with_signal, odd;
};

static struct args args_of(struct coll_stage *s, const struct job *job)
{
	struct args a = coll_args(s, job->c);

	if (job->with_signal)
		a.signal = s->sig;
	return a;
}

/* ---- errors that end the job ----------------------------------------------------------------- */

static int wrong_argument(void *arg)
{
	const struct job *job = arg;
	struct coll_stage *s = coll_stage_new(pld_world(), 1, 4);
	struct args a = args_of(s, job);
	const char *where;

	pld_barrier(pld_world());
	if (s->me == job->odd)
		a.signal = pld_window(s->sb, PL_SHAPE(2 * s->n, s->n), PL_FP32);
	job->c->call(&a, &where);
	pld_barrier(pld_world());
	return 0;
}

static int another_argument(void *arg)
{
	const struct job *job = arg;
	struct coll_stage *s = coll_stage_new(pld_world(), 1, 4);
	struct args a = args_of(s, job);
	const char *where;

	pld_barrier(pld_world());
	if (s->me == job->odd) {
		a.target = s->v;
		if (!(job->c->takes & TARGET))
			a.signal = s->sig_v;
	}
	job->c->call(&a, &where);
	pld_barrier(pld_world());
	return 0;
}

static int left_out(void *arg)
{
	const struct job *job = arg;
	struct coll_stage *s = coll_stage_new(pld_world(), 1, 4);
	struct args a = args_of(s, job);
	const char *where;

	pld_barrier(pld_world());
	if (s->me != job->odd)
		job->c->call(&a, &where);
	return 0;
}

/* One line of the whole job, and status 1. */
static int ends(int (*body)(void *arg), const char *name, struct job *job, int n,
		const char *wanted)
{
	const struct pld_config config = PLD_CONFIG(.ndevices = n);
	int err_before, err_file = divert(STDERR_FILENO, &err_before);
	int status = pld_run(&config, body, job);
	char err[4096];

	restore(STDERR_FILENO, err_before, err_file, err, sizeof(err));
	if (status == 1 && lines(err) == 1 && errors_match(wanted, err, NULL))
		return 0;
	fprintf(stderr, "%s, %s, %d ranks: status %d\n--- stderr\n%s--- wanted\n%s\n", job->c->name,
		name, n, status, err, wanted);
	return 1;
}

static int all_ends(struct job *job, int n)
{
	char text[512];
	int failed = 0;

	snprintf(text, sizeof(text),
		 "pld: rank %d: %s: the signal is a window of FP32; a signal has INT32, "
		 "*collectives.h:*\n",
		 job->odd, job->c->name);
	failed += ends(wrong_argument, "wrong argument", job, n, text);
	snprintf(text, sizeof(text),
		 "pld: rank *: %s: ranks disagree about call * of the domain: rank * calls %s(*) "
		 "at collectives.h:*, rank * calls %s(*) at collectives.h:*, *collectives.h:*\n",
		 job->c->name, job->c->name, job->c->name);
	failed += ends(another_argument, "another argument", job, n, text);
	/* the end of a body is a pld_finalize */
	snprintf(text, sizeof(text),
		 "pld: rank *: *: ranks disagree about call * of the domain: rank * calls *(*) at "
		 "*, rank * calls *(*) at *\n");
	return failed + ends(left_out, "left out", job, n, text);
}

/* ---- errors that return ---------------------------------------------------------------------- */

/* The odd rank goes to pld_finalize instead. */
static int finalize_instead(void *arg)
{
	const struct job *job = arg;
	const char *here, *there, *mine, *theirs;
	char text[512], call[64];
	struct coll_stage *s;
	struct args a;
	int got;

	errors_return();
	s = coll_stage_new(pld_world(), 1, 4);
	a = args_of(s, job);
	snprintf(call, sizeof(call), "%s(*)", job->c->name);
	job->c->call(NULL, &there);
	errors_begin();
	if (s->me == job->odd) {
		here = PL_WHERE, got = pld_finalize();
		mine = "pld_finalize()";
		theirs = call;
	} else {
		got = job->c->call(&a, &here);
		there = "e_coll_end.c:*";
		mine = call;
		theirs = "pld_finalize()";
	}
	snprintf(text, sizeof(text),
		 "ranks disagree about call * of the domain: rank %d calls %s at %s, rank * calls "
		 "%s at %s",
		 s->me, mine, mismatch_base(here), theirs, mismatch_base(there));
	errors_fails(got, "instead of pld_finalize", PL_EMISMATCH,
		     s->me == job->odd ? "pld_finalize" : job->c->name, text, here);
	FAILS(pld_barrier(s->d), PL_EABORTED, "pld_barrier", BROKEN);
	coll_stage_free(s);
	WORKS(pld_finalize());
	return errors_state()->failed;
}

static void all_fail(struct coll_stage *s, pl_status status, const char *text,
		     const char *signal_text)
{
	for (int i = 0; i < ncollectives; i++) {
		const struct args a = coll_args(s, &collectives[i]);
		const char *where;
		int got;

		errors_begin();
		got = collectives[i].call(&a, &where);
		errors_fails(got, "there", status, collectives[i].name,
			     collectives[i].takes & TARGET ? text : signal_text, where);
	}
}

static int in_forked_children(void *arg)
{
	const char *text = "called in a forked child, which is no rank";
	struct coll_stage *s;
	int status;
	pid_t pid;

	(void)arg;
	errors_return();
	s = coll_stage_new(pld_world(), 1, 4);
	pid = fork();
	if (pid == 0) {
		all_fail(s, PL_ELEVEL, text, text);
		_exit(errors_state()->failed);
	}
	HOLDS(waitpid(pid, &status, 0) == pid && status == 0);
	coll_works(s);
	coll_stage_free(s);
	return errors_state()->failed;
}

static int after_finalize(void *arg)
{
	struct coll_stage *s;

	(void)arg;
	errors_return();
	s = coll_stage_new(pld_world(), 1, 4);
	place(PL_WHERE), pld_finalize();
	all_fail(s, PL_EINVAL, "target: window freed by pld_finalize at @",
		 "signal: window freed by pld_finalize at @");
	return errors_state()->failed;
}

static int returns(int (*body)(void *arg), const char *name, struct job *job, int n)
{
	const struct pld_config config = PLD_CONFIG(.ndevices = n);
	int status = pld_run(&config, body, job);

	if (status)
		fprintf(stderr, "%s, %s, %d ranks: status %d\n", job->c->name, name, n, status);
	return status != 0;
}

int main(void)
{
	static const int counts[] = { 2, 3, 5 };
	int failed = 0;

	for (int i = 0; i < 3 * ncollectives; i++) {
		const int n = counts[i % 3];
		struct job job = { &collectives[i / 3], i % 2, i % 4 < 2 ? 0 : n - 1 };

		if (i % 3 == i / 3 % 3)
			failed += all_ends(&job, n);
		failed += returns(finalize_instead, "pld_finalize", &job, n);
	}
	for (int k = 0; k < 2; k++) {
		struct job job = { &collectives[0], 0, 0 };

		failed += returns(in_forked_children, "forked children", &job, counts[k]);
		failed += returns(after_finalize, "after pld_finalize", &job, counts[k]);
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
