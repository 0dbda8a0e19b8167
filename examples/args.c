/* args.c - the command line of an example: read strictly, every error names what is allowed. */
#include "args.h"

#include <errno.h>
#include <pld.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void wrong(struct args *a, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(a->wrong, sizeof(a->wrong), format, list);
	va_end(list);
}

static void read_number(struct args *a, const struct args_option *o, const char *value)
{
	char *end = NULL;
	long long v = 0;

	errno = 0;
	if (*value >= '0' && *value <= '9')
		v = strtoll(value, &end, 10);
	if (!end || *end || errno || v < o->least || v > o->most)
		wrong(a, "%s '%.40s'; allowed: whole numbers from %lld to %lld", o->name, value,
		      (long long)o->least, (long long)o->most);
	else
		*o->number = v;
}

static const struct args_option *find(const struct args *a, const char *name)
{
	const struct args_option *o = a->options;

	while (o->name && strcmp(o->name, name) != 0)
		o++;
	return o->name ? o : NULL;
}

static void unknown(struct args *a, const char *arg)
{
	char list[300];
	size_t at = 0;

	for (const struct args_option *o = a->options; o->name && at < sizeof(list); o++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s N, ", o->name);
	wrong(a, "%s '%.40s'; allowed: %s--help%s",
	      *arg == '-' ? "unknown option" : "unexpected argument", arg, list,
	      a->file_help ? ", one FILE" : "");
}

void args_read(struct args *a, int argc, char **argv)
{
	for (int i = 1; i < argc && !a->wrong[0] && !a->help; i++) {
		const struct args_option *o = find(a, argv[i]);

		if (!strcmp(argv[i], "--help"))
			a->help = 1;
		else if (o && i + 1 == argc)
			wrong(a, "%s needs a value: N", o->name);
		else if (o)
			read_number(a, o, argv[++i]);
		else if (argv[i][0] != '-' && a->file_help && !a->file)
			a->file = argv[i];
		else
			unknown(a, argv[i]);
	}
	if (!a->wrong[0] && !a->help && a->file_needed && !a->file)
		wrong(a, "no FILE given: %s", a->file_help);
}

int args_done(const struct args *a, int *status)
{
	int is_rank_0 = pld_rank(pld_world()) == 0;

	*status = a->help ? 0 : 2;
	if (!a->help && !a->wrong[0])
		return 0;
	if (is_rank_0 && a->help) {
		printf("Usage: [pldrun -n P] %s [OPTION]...%s\n", a->program,
		       a->file_needed ? " FILE"
		       : a->file_help ? " [FILE]"
				      : "");
		for (const struct args_option *o = a->options; o->name; o++)
			printf("  %s N: %s; %lld to %lld, without it %lld\n", o->name, o->help,
			       (long long)o->least, (long long)o->most, (long long)*o->number);
		if (a->file_help)
			printf("  FILE: %s\n", a->file_help);
	} else if (is_rank_0) {
		fprintf(stderr, "%s: %s\n", a->program, a->wrong);
	}
	pld_barrier(pld_world()); /* the first rank to leave ends the job */
	return 1;
}

void args_fail(const struct args *a, const char *format, ...)
{
	va_list list;
	char text[400];

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	fprintf(stderr, "%s: %s\n", a->program, text);
	pld_abort(2, NULL);
	exit(2); /* pld_abort does not return: for the compiler */
}
