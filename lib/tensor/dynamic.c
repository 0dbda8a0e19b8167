/* dynamic.c - names bound to extents, for the whole process. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pldi_params.h"
#include "pldi_tensor.h"

enum { MOST = 256, NAME_BYTES = 64 };

struct binding {
	char name[NAME_BYTES];
	char where[128];
	int64_t value;
	int of_job;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct binding bindings[MOST];
static int used;

static int is_name(const char *name, size_t bytes)
{
	static const char start[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

	if (!bytes || bytes >= NAME_BYTES || !memchr(start, *name, sizeof(start) - 1))
		return 0;
	for (size_t i = 1; i < bytes; i++)
		if (!memchr(start, name[i], sizeof(start) - 1) && (name[i] < '0' || name[i] > '9'))
			return 0;
	return 1;
}

/* Under the lock. */
static struct binding *find(const char *name)
{
	for (int i = 0; i < used; i++)
		if (strcmp(bindings[i].name, name) == 0)
			return &bindings[i];
	return NULL;
}

/* Binds, or says in *old what stands against it.  0, 1: bound otherwise, -1: full. */
static int bind_locked(const char *name, int64_t value, const char *where, int of_job,
		       struct binding *old)
{
	struct binding *b;
	int rc = 0;

	pthread_mutex_lock(&lock);
	b = find(name);
	if (b) {
		*old = *b;
		rc = b->value != value;
	} else if (used == MOST) {
		rc = -1;
	} else {
		b = &bindings[used++];
		snprintf(b->name, sizeof(b->name), "%s", name);
		snprintf(b->where, sizeof(b->where), "%s", where ? where : "an unknown place");
		b->value = value;
		b->of_job = of_job;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static pl_status bind_name(const char *name, int64_t value, const char *call, const char *where,
			   const char *bound_at, int of_job)
{
	struct binding old;
	int rc;

	if (!name || !is_name(name, strlen(name)))
		return pldi_fail(PL_EINVAL, call, where,
				 "name '%s': a letter or _, then letters, digits, _; at most %d",
				 name ? name : "(NULL)", NAME_BYTES - 1);
	if (value < 0)
		return pldi_fail(PL_EINVAL, call, where, "%s = %lld, an extent is 0 or more", name,
				 (long long)value);
	rc = bind_locked(name, value, bound_at, of_job, &old);
	if (rc < 0)
		return pldi_fail(PL_ENOMEM, call, where, "%s: %d names are bound, no more can be",
				 name, MOST);
	if (rc)
		return pldi_fail(PL_EINVAL, call, where,
				 "%s is %lld, bound at %s, and cannot become %lld at %s", name,
				 (long long)old.value, old.where, (long long)value, bound_at);
	return PL_OK;
}

pl_status(pl_bind)(const char *name, int64_t value, const char *where)
{
	/* NR is the job's whoever binds it */
	return bind_name(name, value, "pl_bind", where, where, name && strcmp(name, "NR") == 0);
}

pl_status pldi_bind(const char *name, int64_t value, const char *call, const char *where)
{
	return bind_name(name, value, call, where, where, 1);
}

int64_t(pl_dynamic)(const char *name, const char *where)
{
	const struct binding *b;
	int64_t value = -1;

	pthread_mutex_lock(&lock);
	b = name ? find(name) : NULL;
	if (b)
		value = b->value;
	pthread_mutex_unlock(&lock);
	if (value >= 0)
		return value;
	return pldi_fail(PL_EINVAL, "pl_dynamic", where,
			 "'%s' is bound to nothing; pl_bind or pldrun --dim NAME=VALUE binds it%s",
			 name ? name : "(NULL)",
			 name && strcmp(name, "NR") == 0 ? ", NR: pld_init" : "");
}

int pldi_dim_parse(const char *text, size_t bytes, char name[64], int64_t *value)
{
	const char *equals = memchr(text, '=', bytes);
	char number[24];
	size_t digits;

	if (!equals || !is_name(text, (size_t)(equals - text)))
		return -1;
	digits = bytes - (size_t)(equals + 1 - text);
	if (digits >= sizeof(number))
		return -1;
	memcpy(number, equals + 1, digits);
	number[digits] = '\0';
	if (pldi_parse_int(number, 0, INT64_MAX, value))
		return -1;
	memcpy(name, text, (size_t)(equals - text));
	name[equals - text] = '\0';
	return 0;
}

pl_status pldi_bind_env(const char *call, const char *where)
{
	const char *text = getenv("PLD_DIMS");
	char name[NAME_BYTES];
	int64_t value;
	pl_status s;

	if (!text || !*text)
		return PL_OK;
	for (const char *end;; text = end + 1) {
		end = strchrnul(text, ',');
		if (pldi_dim_parse(text, (size_t)(end - text), name, &value))
			return pldi_fail(PL_EINVAL, call, where,
					 "PLD_DIMS: '%.*s' is not NAME=VALUE, a name and a whole "
					 "number from 0 to %lld",
					 (int)(end - text), text, (long long)INT64_MAX);
		s = bind_name(name, value, call, where, "pldrun --dim", 1);
		if (s != PL_OK || !*end)
			return s;
	}
}

void pldi_dynamic_reset(void)
{
	int kept = 0;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < used; i++)
		if (!bindings[i].of_job)
			bindings[kept++] = bindings[i];
	used = kept;
	pthread_mutex_unlock(&lock);
}
