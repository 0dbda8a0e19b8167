/* env.c - environment and arguments of ranks. */
#include "config.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pldi_inner.h"
#include "pldi_launched.h"

extern char **environ;

/* ---- environment ----------------------------------------------------------------------------- */

static bool is_named(const char *setting, const char *name, size_t name_bytes)
{
	return strncmp(setting, name, name_bytes) == 0 && setting[name_bytes] == '=';
}

/* Of a job, and of no other: a pldrun that a rank starts hands none of them on. */
static bool is_of_job(const char *setting)
{
	static const char *const names[] = { PLDI_ENV_RANK, PLDI_ENV_NRANKS, PLDI_ENV_JOB,
					     PLDI_ENV_DIMS };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_named(setting, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool is_overridden(const char *setting, const char *const *by)
{
	const char *equals = strchr(setting, '=');

	for (; equals && by && *by; by++)
		if (is_named(*by, setting, (size_t)(equals - setting)))
			return true;
	return false;
}

static char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char *format(const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	return n < 0 ? NULL : text;
}

char **pldi_env_make(const struct pldi_launch *l, const char *job)
{
	size_t n = 5; /* rank, nranks, job, dims, the end */
	char **env, **to;

	for (char **e = environ; e && *e; e++)
		n++;
	for (const char *const *e = l->env; e && *e; e++)
		n++;
	env = to = calloc(n, sizeof(*env));
	if (!env || !(*to++ = calloc(1, PLDI_RANK_TEXT)))
		return NULL;
	*to++ = format("%s=%d", PLDI_ENV_NRANKS, l->nranks);
	*to++ = format("%s=%s", PLDI_ENV_JOB, job);
	if (!env[1] || !env[2] || (l->dims && !(*to++ = format("%s=%s", PLDI_ENV_DIMS, l->dims))))
		return NULL;
	for (char **e = environ; e && *e; e++)
		if (!is_of_job(*e) && !is_overridden(*e, l->env))
			*to++ = *e;
	for (const char *const *e = l->env; e && *e; e++)
		if (!is_of_job(*e) && !is_overridden(*e, e + 1))
			*to++ = (char *)*e; /* execve takes char *, and changes nothing */
	return env;
}

const char *pldi_env_value(char *const *env, const char *name)
{
	size_t bytes = strlen(name);

	for (; *env; env++)
		if (is_named(*env, name, bytes))
			return *env + bytes + 1;
	return NULL;
}

void pldi_env_hide_outer_job(void)
{
	const char *job = getenv(PLDI_ENV_JOB);
	struct pldi_job_env e;
	unsigned abi;

	if (!job || pldi_job_env_read(job, &e, &abi))
		return;
	if (pldi_job_fd_valid(&e.seg))
		fcntl(e.seg.fd, F_SETFD, FD_CLOEXEC);
	if (pldi_job_fd_valid(&e.status))
		fcntl(e.status.fd, F_SETFD, FD_CLOEXEC);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static char *with_rank(const char *text, int rank, int nranks)
{
	char *out = malloc(strlen(text) + 1), *to = out; /* numbers are shorter than their names */

	while (out && *text) {
		if (strncmp(text, "{rank}", 6) == 0) {
			to += sprintf(to, "%d", rank);
			text += 6;
		} else if (strncmp(text, "{nranks}", 8) == 0) {
			to += sprintf(to, "%d", nranks);
			text += 8;
		} else {
			*to++ = *text++;
		}
	}
	if (out)
		*to = '\0';
	return out;
}
static_assert(PLDI_MAX_RANKS < 100000, "a number of a rank is shorter than {rank}");

char **pldi_args_make(char *const *argv, int rank, int nranks)
{
	size_t n = 0;
	char **args;

	while (argv[n])
		n++;
	args = calloc(n + 2, sizeof(*args));
	if (!args)
		return NULL;
	args[0] = (char *)"sh"; /* execve takes char *, and changes nothing */
	for (size_t i = 0; i < n; i++) {
		args[i + 1] = argv[i];
		if (i && strchr(argv[i], '{') &&
		    !(args[i + 1] = with_rank(argv[i], rank, nranks))) {
			pldi_args_free(args, argv);
			return NULL;
		}
	}
	return args;
}

void pldi_args_free(char **args, char *const *argv)
{
	for (size_t i = 1; args && argv[i] && args[i + 1]; i++)
		if (args[i + 1] != argv[i])
			free(args[i + 1]);
	free(args);
}
