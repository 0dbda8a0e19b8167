/* options.c - the command line of a step: read strictly, every error names what is allowed. */
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SIZE INT64_C(1000000000000) /* more than any machine has room for */
#define MOST_REPEAT 1000000		 /* cells of INT32 count the runs */

enum option { DEVICES, MODE, SIZE, REPEAT, INPUT, OUTPUT, HELP, NOPTIONS };

static const struct {
	const char *brief, *name, *arg, *help;
} table[NOPTIONS] = {
	{ "-d", "--devices", "LIST",
	  "devices, one rank each, e.g. 0,1,2; under pldrun: as many as its ranks" },
	{ NULL, "--mode", "MODE", "which of the step's modes" },
	{ NULL, "--size", "N", "elements of a rank's slice" },
	{ NULL, "--repeat", "N", "run the kernel N times, back to back" },
	{ NULL, "--input", "FILE.npy", "take the world tensor from this file" },
	{ NULL, "--output", "FILE.npy", "write the result to this file" },
	{ "-h", "--help", NULL, "print this and exit" },
};

/* Reading ends with it. */
static void wrong(struct options *o, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(o->wrong, sizeof(o->wrong), format, args);
	va_end(args);
}

/* A step without modes, or with a fixed size, does not have the options for them. */
static int has(const struct tut_step *step, int k)
{
	if (k == MODE)
		return step->modes != NULL;
	return (k != SIZE && k != REPEAT) || step->size;
}

/* "-d/--devices LIST, --input FILE.npy, .." */
static const char *allowed(const struct tut_step *step, char *s, size_t size)
{
	size_t at = 0;

	for (int k = 0; k < NOPTIONS && at < size; k++)
		if (has(step, k))
			at += (size_t)snprintf(s + at, size - at, "%s%s%s%s%s%s", at ? ", " : "",
					       table[k].brief ? table[k].brief : "",
					       table[k].brief ? "/" : "", table[k].name,
					       table[k].arg ? " " : "",
					       table[k].arg ? table[k].arg : "");
	return s;
}

/* A whole number from 0 to most at s.  Returns what follows, NULL when it is none. */
static const char *read_number(const char *s, int64_t most, int64_t *number)
{
	char *end;
	long long v;

	if (*s < '0' || *s > '9')
		return NULL;
	errno = 0;
	v = strtoll(s, &end, 10);
	if (errno || v > most)
		return NULL;
	*number = v;
	return end;
}

/* Letters of the entry at s, as many as a message shows. */
static size_t shown(const char *s)
{
	size_t n = strcspn(s, ",");

	return n < 40 ? n : 40;
}

/* The list into o->devices; replaces an earlier one. */
static void read_devices(struct options *o, const char *list)
{
	size_t most = 1;
	const char *s = list;

	for (const char *c = list; *c; c++)
		most += *c == ',';
	free(o->devices);
	o->ndevices = 0;
	o->devices = malloc(most * sizeof(*o->devices));
	if (!o->devices) {
		wrong(o, "no memory for %zu devices", most);
		return;
	}
	for (;;) {
		int n = o->ndevices;
		int64_t id = 0;
		const char *next = read_number(s, INT_MAX, &id);

		if (!next || (*next && *next != ',')) {
			wrong(o,
			      "devices '%.80s': '%.*s' at place %d; allowed: whole numbers from 0 "
			      "to %d, all different, with commas between, e.g. 0,1,2",
			      list, (int)shown(s), s, n, INT_MAX);
			return;
		}
		for (int i = 0; i < n; i++)
			if (o->devices[i] == id) {
				wrong(o,
				      "devices '%.80s': %d at places %d and %d; allowed: each once",
				      list, (int)id, i, n);
				return;
			}
		o->devices[o->ndevices++] = (int)id;
		if (!*next)
			return;
		s = next + 1;
	}
}

/* mode is one of step->modes, whole. */
static void read_mode(struct options *o, const struct tut_step *step, const char *mode)
{
	size_t n = strlen(mode);
	const char *m = step->modes;

	while (strcspn(m, ",") != n || memcmp(m, mode, n)) {
		m = strchr(m, ',');
		if (!m) {
			wrong(o, "mode '%.80s'; allowed: %s", mode, step->modes);
			return;
		}
		m++;
	}
	o->mode = mode;
}

static int64_t read_count(struct options *o, const char *what, const char *value, int64_t least,
			  int64_t most)
{
	int64_t n = 0;
	const char *end = read_number(value, most, &n);

	if (!end || *end || n < least)
		wrong(o, "%s '%.80s'; allowed: whole numbers from %lld to %lld", what, value,
		      (long long)least, (long long)most);
	return n;
}

static void set(struct options *o, const struct tut_step *step, int k, const char *value)
{
	if (k == DEVICES) {
		read_devices(o, value);
		o->given = 1;
	} else if (k == MODE) {
		read_mode(o, step, value);
	} else if (k == SIZE) {
		o->size = read_count(o, "size", value, 0, MOST_SIZE);
	} else if (k == REPEAT) {
		o->repeat = (int)read_count(o, "repeat", value, 1, MOST_REPEAT);
	} else if (k == INPUT) {
		o->input = value;
	} else if (k == OUTPUT) {
		o->output = value;
	}
}

/* Which option arg is; *value: what stands behind its '=', else NULL.  NOPTIONS: none. */
static int find(const struct tut_step *step, const char *arg, const char **value)
{
	size_t n = strcspn(arg, "=");
	int k = 0;

	*value = NULL;
	for (; k < NOPTIONS; k++) {
		if (!has(step, k))
			continue;
		if (table[k].brief && !strcmp(arg, table[k].brief))
			break;
		if (strlen(table[k].name) == n && !memcmp(arg, table[k].name, n)) {
			*value = arg[n] ? arg + n + 1 : NULL;
			break;
		}
	}
	return k;
}

void options_read(int argc, char **argv, const struct tut_step *step, struct options *o)
{
	char list[400];

	*o = (struct options){ .size = step->size, .repeat = 1 };
	if (step->modes) {
		snprintf(o->first_mode, sizeof(o->first_mode), "%.*s",
			 (int)strcspn(step->modes, ","), step->modes);
		o->mode = o->first_mode;
	}
	read_devices(o, step->devices);
	for (int i = 1; i < argc && !o->wrong[0] && !o->help; i++) {
		const char *value;
		int k = find(step, argv[i], &value);

		if (k == NOPTIONS)
			wrong(o, "%s '%.80s'; allowed: %s",
			      argv[i][0] == '-' ? "unknown option" : "unexpected argument", argv[i],
			      allowed(step, list, sizeof(list)));
		else if (!table[k].arg && value)
			wrong(o, "%s takes no value, '%.80s' came", table[k].name, value);
		else if (k == HELP)
			o->help = 1;
		else if (!value && ++i == argc)
			wrong(o, "%s needs a value: %s", argv[i - 1], table[k].arg);
		else
			set(o, step, k, value ? value : argv[i]);
	}
}

void options_usage(const struct tut_step *step)
{
	printf("Usage: [pldrun -n P] %s [OPTION]...\n", step->name);
	for (int k = 0; k < NOPTIONS; k++) {
		char left[40];

		if (!has(step, k))
			continue;
		snprintf(left, sizeof(left), "%s %s", table[k].name,
			 table[k].arg ? table[k].arg : "");
		printf("  %-3s %-20s %s\n", table[k].brief ? table[k].brief : "", left,
		       table[k].help);
	}
	if (step->modes)
		printf("Modes: %s; the first is the default.\n", step->modes);
	if (step->size)
		printf("Without --size and --repeat: %lld elements, once.\n",
		       (long long)step->size);
	printf("Started alone: ranks on devices %s, or on those of -d.\n", step->devices);
}
