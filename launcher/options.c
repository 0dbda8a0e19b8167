/* options.c - the command line of pldrun: strict, one line for what is wrong. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pld/job.h>

#include "pldi_info.h"
#include "pldi_layout.h"
#include "pldi_options.h"
#include "pldi_params.h"
#include "pldi_segment.h"
#include "pldi_tensor.h"

#define SECONDS_MOST 1e8

/* One option: -1 from read when its value is wrong, and that is said. */
struct option {
	const char *name, *also; /* "-n", "-np" */
	const char *value;	 /* its name in the help; NULL: takes none */
	int (*read)(struct pldi_options *o, const char *name, const char *value);
	const char *help;
};

static int wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int wrong(const char *fmt, ...)
{
	va_list ap;

	fputs("pldrun: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs(" (see pldrun --help)\n", stderr);
	return -1;
}

/* ---- values ---------------------------------------------------------------------------------- */

static int read_n(struct pldi_options *o, const char *name, const char *value)
{
	int64_t n;

	if (pldi_parse_int(value, 1, PLDI_MAX_RANKS, &n))
		return wrong("%s '%s' is not a number of ranks from 1 to %d", name, value,
			     PLDI_MAX_RANKS);
	o->nranks = (int)n;
	return 0;
}

static int read_devices(struct pldi_options *o, const char *name, const char *value)
{
	char *copy = strdup(value), *rest = copy, *word;
	int *ids = calloc(strlen(value) / 2 + 1, sizeof(*ids)), n = 0;
	int64_t id;

	while (copy && ids && (word = strsep(&rest, ","))) {
		if (pldi_parse_int(word, 0, INT32_MAX, &id) || n == PLDI_MAX_RANKS) {
			free(copy);
			free(ids);
			return wrong(
				"%s '%s' is not a list of at most %d device numbers, as in 0,2,4",
				name, value, PLDI_MAX_RANKS);
		}
		for (int i = 0; i < n; i++) {
			if (ids[i] == id) {
				free(copy);
				free(ids);
				return wrong("%s '%s' has device %" PRId64 " twice", name, value,
					     id);
			}
		}
		ids[n++] = (int)id;
	}
	free(copy);
	free(o->devices);
	o->devices = ids;
	o->ndevices = n;
	return ids ? 0 : wrong("no memory");
}

static int read_bind(struct pldi_options *o, const char *name, const char *value)
{
	static const char *const names[] = { "none", "core", "strict" };

	for (int i = 0; i < 3; i++) {
		if (strcmp(value, names[i]) == 0) {
			o->bind = (enum pldi_binding)i;
			return 0;
		}
	}
	return wrong("%s '%s' is not none, core or strict", name, value);
}

static int read_env(struct pldi_options *o, const char *name, const char *value)
{
	static const char *const own[] = { "PLD_RANK", "PLD_NRANKS", "PLD_JOB", "PLD_DIMS" };
	const char **env;

	if (*value == '=' || *value == '\0')
		return wrong("%s '%s' is not NAME or NAME=VALUE", name, value);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strncmp(value, own[i], strlen(own[i])) == 0 &&
		    (value[strlen(own[i])] == '=' || value[strlen(own[i])] == '\0'))
			return wrong("%s '%s': pldrun itself sets this variable", name, value);
	if (!strchr(value, '='))
		return getenv(value) ? 0
				     : wrong("%s %s: there is no such variable here", name, value);
	env = realloc(o->env, sizeof(*env) * (size_t)(o->nenv + 2));
	if (!env)
		return wrong("no memory");
	env[o->nenv++] = value;
	env[o->nenv] = NULL;
	o->env = env;
	return 0;
}

static int read_wdir(struct pldi_options *o, const char *name, const char *value)
{
	(void)name;
	o->launch.wdir = value;
	return 0;
}

static int read_label(struct pldi_options *o, const char *name, const char *value)
{
	(void)name;
	(void)value;
	o->launch.label = 1;
	return 0;
}

static int read_seconds(const char *name, const char *value, double least, int64_t *ns)
{
	char *end;
	double s = strtod(value, &end);

	/* strtod also reads signs, hexadecimal, infinity */
	if (!(s >= least && s <= SECONDS_MOST) || *end || value[strspn(value, "0123456789.eE-")])
		return wrong("%s '%s' is not a number of seconds from %g to %.0f", name, value,
			     least, SECONDS_MOST);
	*ns = (int64_t)(s * 1e9);
	return 0;
}

static int read_timeout(struct pldi_options *o, const char *name, const char *value)
{
	return read_seconds(name, value, 1e-3, &o->launch.timeout_ns);
}

static int read_grace(struct pldi_options *o, const char *name, const char *value)
{
	return read_seconds(name, value, 0, &o->launch.grace_ns);
}

static int read_dim(struct pldi_options *o, const char *name, const char *value)
{
	char dim[64], *dims;
	int64_t n;

	if (pldi_dim_parse(value, strlen(value), dim, &n))
		return wrong("%s '%s' is not NAME=VALUE: a name of at most 63 letters, digits and "
			     "_, and a whole number",
			     name, value);
	if (strcmp(dim, "NR") == 0)
		return wrong("%s '%s': NR is the number of ranks, which -n sets", name, value);
	if (asprintf(&dims, "%s%s%s", o->dims ? o->dims : "", o->dims ? "," : "", value) < 0)
		return wrong("no memory");
	free(o->dims);
	o->dims = dims;
	return 0;
}

static int read_reserve(struct pldi_options *o, const char *name, const char *value)
{
	if (pldi_parse_bytes(value, &o->launch.reserve_bytes) ||
	    o->launch.reserve_bytes < PLDI_PAGE)
		return wrong("%s '%s' is not a size of at least %d bytes, as in 512M or 4G", name,
			     value, PLDI_PAGE);
	return 0;
}

static int read_stdin(struct pldi_options *o, const char *name, const char *value)
{
	int64_t rank;

	o->launch.stdin_file = NULL;
	if (strcmp(value, "none") == 0) {
		o->launch.stdin_rank = PLDI_STDIN_NONE;
	} else if (strcmp(value, "all") == 0) {
		o->launch.stdin_rank = PLDI_STDIN_ALL;
	} else if (pldi_parse_int(value, 0, PLDI_MAX_RANKS - 1, &rank) == 0) {
		o->launch.stdin_rank = (int)rank;
	} else if (value[strspn(value, "+-0123456789")] == '\0') {
		return wrong("%s '%s' is not a rank from 0 to %d, none, all or a file", name, value,
			     PLDI_MAX_RANKS - 1);
	} else {
		o->launch.stdin_rank = PLDI_STDIN_NONE;
		o->launch.stdin_file = value;
	}
	return 0;
}

static int read_stats(struct pldi_options *o, const char *name, const char *value)
{
	(void)name;
	(void)value;
	o->launch.stats = 1;
	o->launch.observe |= PLDI_OBSERVE_STATS;
	return 0;
}

static int read_report(struct pldi_options *o, const char *name, const char *value)
{
	(void)name;
	o->launch.report = value;
	o->launch.observe |= PLDI_OBSERVE_STATS;
	return 0;
}

static int read_schedule(struct pldi_options *o, const char *name, const char *value)
{
	(void)name;
	o->launch.schedule = value;
	o->launch.observe |= PLDI_OBSERVE_STATS | PLDI_OBSERVE_SCHEDULE;
	return 0;
}

/* ---- what is printed ------------------------------------------------------------------------- */

static int print_help(struct pldi_options *o, const char *name, const char *value);

static int print_version(struct pldi_options *o, const char *name, const char *value)
{
	(void)o;
	(void)name;
	(void)value;
	printf("pldrun %s\n", pld_version());
	return 1;
}

static int ask_report(struct pldi_options *o, const char *name, const char *value)
{
	char why[128];
	int64_t pid;

	(void)o;
	if (pldi_parse_int(value, 1, INT32_MAX, &pid))
		return wrong("%s '%s' is not the number of a process", name, value);
	return pldi_report_ask((pid_t)pid, why, sizeof(why)) ? wrong("%s %s: %s", name, value, why)
							     : 1;
}

static int print_params(struct pldi_options *o, const char *name, const char *value)
{
	(void)o;
	(void)name;
	(void)value;
	for (const struct pldi_param_info *p = pldi_param_table; p->name; p++) {
		const char *now = getenv(p->name);

		printf("%s=%s  (%s, %" PRId64 " to %" PRId64 ")  %s\n", p->name, now ? now : "",
		       p->unit, p->least, p->most, p->help);
	}
	return 1;
}

static int print_info(struct pldi_options *o, const char *name, const char *value)
{
	(void)name;
	(void)value;
	pldi_info(o->nranks ? o->nranks : o->ndevices, o->launch.reserve_bytes);
	return 1;
}

static const struct option options[] = {
	{ "-n", "-np", "P", read_n, "start P ranks" },
	{ "-d", "--devices", "LIST", read_devices, "a rank for each device, as in 0,2,4; gives P" },
	{ "--bind", NULL, "HOW", read_bind,
	  "none (default), core: rank k to the k-th core, modulo; strict: a core for each" },
	{ "-x", NULL, "NAME[=VALUE]", read_env, "set a variable for the ranks, or demand it" },
	{ "--wdir", NULL, "DIR", read_wdir, "run in this folder" },
	{ "--label", NULL, NULL, read_label, "begin each line of output with [RANK]" },
	{ "--stdin", NULL, "WHO", read_stdin,
	  "the rank that has stdin (default 0), none, all (a copy each), or a file for each" },
	{ "--timeout", NULL, "SECONDS", read_timeout,
	  "end the job then, with a report and status 124" },
	{ "--grace", NULL, "SECONDS", read_grace, "from SIGTERM to SIGKILL; default 5" },
	{ "--dim", NULL, "NAME=VALUE", read_dim, "bind a name of pl_dynamic" },
	{ "--reserve", NULL, "SIZE", read_reserve, "address space a rank for windows, as in 4G" },
	{ "--stats", NULL, NULL, read_stats,
	  "print what each rank's calls have moved and waited for" },
	{ "--report", NULL, "FILE", read_report, "write the same as JSON; - is stdout" },
	{ "--report-now", NULL, "PID", ask_report,
	  "have the pldrun with this number print what its ranks do" },
	{ "--schedule", NULL, "FILE", read_schedule,
	  "list what each rank's calls do to peers and cells; - is stdout" },
	{ "--info", NULL, NULL, print_info,
	  "print what the machine offers a job of -n ranks, its limits and their cures" },
	{ "--params", NULL, NULL, print_params, "list the variables that tune the library" },
	{ "--help", "-h", NULL, print_help, "this" },
	{ "--version", NULL, NULL, print_version, "the version" },
};
enum { NOPTIONS = sizeof(options) / sizeof(options[0]) };

static int print_help(struct pldi_options *o, const char *name, const char *value)
{
	(void)o;
	(void)name;
	(void)value;
	puts("usage: pldrun -n P [options] [--] program [arguments]\n"
	     "Runs P ranks of program; {rank} and {nranks} in its arguments are replaced.\n");
	for (int i = 0; i < NOPTIONS; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s%s%s%s%s", options[i].name,
			 options[i].also ? ", " : "", options[i].also ? options[i].also : "",
			 options[i].value ? " " : "", options[i].value ? options[i].value : "");
		printf("  %-22s  %s\n", text, options[i].help);
	}
	puts("\nExit status: the first failing rank's, 128+n for a signal, 120 for a deadlock,\n"
	     "124 for --timeout, 125 when pldrun itself fails, 126 or 127 when the program cannot\n"
	     "be started.\n"
	     "More: man pldrun");
	return 1;
}

/* ---- the line -------------------------------------------------------------------------------- */

static int is_option(const char *word, size_t bytes, const char *name)
{
	return name && strlen(name) == bytes && strncmp(word, name, bytes) == 0;
}

static const struct option *find(const char *word, size_t bytes)
{
	for (int i = 0; i < NOPTIONS; i++)
		if (is_option(word, bytes, options[i].name) ||
		    is_option(word, bytes, options[i].also))
			return &options[i];
	return NULL;
}

/* One option and its value; how many words, 0: what was asked for is printed, -1. */
static int read_one(struct pldi_options *o, char **words)
{
	const char *word = words[0], *equals = strchr(word, '='), *value = words[1];
	size_t bytes = equals && word[1] == '-' ? (size_t)(equals - word) : strlen(word);
	const struct option *option = find(word, bytes);
	int used = 2, rc;

	if (!option && word[1] == 'n' && isdigit((unsigned char)word[2])) { /* -n4 */
		option = &options[0];
		value = word + 2;
		used = 1;
	} else if (!option) {
		return wrong("there is no option %.*s", (int)bytes, word);
	} else if (word[bytes] == '=') {
		value = equals + 1;
		used = 1;
	}
	if (!option->value) {
		if (word[bytes] == '=')
			return wrong("%s takes no value", option->name);
		used = 1;
	} else if (!value) {
		return wrong("%.*s needs a value: %s", (int)bytes, word, option->value);
	}
	rc = option->read(o, option->name, value);
	return rc < 0 ? -1 : rc > 0 ? 0 : used;
}

/* valgrind, valgrind.bin, under any folder */
static int is_valgrind(const char *program)
{
	const char *slash = strrchr(program, '/');

	return strncmp(slash ? slash + 1 : program, "valgrind", strlen("valgrind")) == 0;
}

/* What only all options together can show. */
static int check(struct pldi_options *o)
{
	if (!o->nranks && !o->ndevices)
		return wrong("how many ranks? give -n P or -d LIST");
	if (o->nranks && o->ndevices && o->nranks != o->ndevices)
		return wrong("-n %d disagrees with -d, which lists %d device%s", o->nranks,
			     o->ndevices, o->ndevices == 1 ? "" : "s");
	o->launch.nranks = o->nranks ? o->nranks : o->ndevices;
	if (o->launch.stdin_rank >= o->launch.nranks)
		return wrong("--stdin %d: ranks are 0 to %d", o->launch.stdin_rank,
			     o->launch.nranks - 1);
	if (!o->launch.argv[0])
		return wrong("which program?");
	if (!o->launch.reserve_bytes && is_valgrind(o->launch.argv[0]))
		o->launch.reserve_bytes = PLDI_RESERVE_VALGRIND;
	o->launch.env = o->env;
	o->launch.dims = o->dims;
	return 0;
}

int pldi_options_read(struct pldi_options *o, int argc, char **argv)
{
	int i = 1, used;

	*o = (struct pldi_options){ .launch = { .name = "pldrun", .grace_ns = PLDI_GRACE_NS } };
	while (i < argc && argv[i][0] == '-' && argv[i][1]) {
		if (strcmp(argv[i], "--") == 0) {
			i++;
			break;
		}
		used = read_one(o, argv + i);
		if (used <= 0)
			return used < 0 ? -1 : 1;
		i += used;
	}
	o->launch.argv = argv + i;
	return check(o);
}

void pldi_options_free(struct pldi_options *o)
{
	free(o->devices);
	free(o->env);
	free(o->dims);
	free(o->cpus);
}
