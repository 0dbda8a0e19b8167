/* options.h - the command line of a step. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "tut.h"

struct options {
	const char *mode, *input, *output; /* as in struct tut */
	int64_t size;			   /* as in struct tut */
	int repeat;
	char first_mode[32]; /* what mode points to without --mode */
	int *devices;	     /* from -d or the step's default; from malloc */
	int ndevices;
	int given;	 /* 1: there was a -d */
	int help;	 /* 1: print options_usage, do nothing */
	char wrong[600]; /* not empty: what is wrong with the command line */
};

/* Never prints; o->devices is to be freed. */
void options_read(int argc, char **argv, const struct tut_step *step, struct options *o);
void options_usage(const struct tut_step *step);

#endif
