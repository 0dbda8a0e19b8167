/* tut.c - main of every step: options, ranks, verdict. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "tut.h"

struct job {
	struct tut t;
	const struct options *o;
};

int tut_mode_is(const struct tut *t, const char *mode)
{
	return t->mode && !strcmp(t->mode, mode);
}

int tut_turn(int use, int uses)
{
	if (use == 1 && uses % 2 == 0)
		return 0;
	return (uses - use) % 2 ? -1 : 1;
}

/* Errors of the command line come to this point too, so that one rank prints them once. */
static int in_rank(void *arg)
{
	struct job *job = arg;
	const struct tut_step *step = job->t.step;
	int is_rank_0 = pld_rank(pld_world()) == 0, status;

	if (job->o->help) {
		if (is_rank_0)
			options_usage(step);
		return 0;
	}
	if (job->o->wrong[0]) {
		if (is_rank_0)
			fprintf(stderr, "%s: %s\n", step->name, job->o->wrong);
		pld_barrier(pld_world()); /* the first rank to leave ends the job */
		return 2;
	}
	status = step->run(&job->t);
	if (!status && is_rank_0)
		puts("OK");
	return status;
}

/* How many ranks, on which devices.  Under pldrun its number counts, and -d must agree with it. */
static struct pld_config ranks(const struct options *o)
{
	if (o->help || o->wrong[0])
		return (struct pld_config)PLD_CONFIG(.default_ndevices = 1);
	if (o->given)
		return (struct pld_config)PLD_CONFIG(.device_ids = o->devices,
						     .ndevices = o->ndevices);
	return (struct pld_config)PLD_CONFIG(.default_ndevices = o->ndevices);
}

int tut_main(int argc, char **argv, const struct tut_step *step)
{
	struct options o;
	struct job job = { .o = &o };
	struct pld_config config;
	int status;

	options_read(argc, argv, step, &o);
	job.t = (struct tut){ .step = step,
			      .mode = o.mode,
			      .input = o.input,
			      .output = o.output,
			      .size = o.size,
			      .repeat = o.repeat };
	config = ranks(&o);
	if (step->size) /* such a step prints what it costs */
		config.counters = PLD_COUNTERS_ON;
	status = pld_run(&config, in_rank, &job);
	free(o.devices);
	return status;
}
