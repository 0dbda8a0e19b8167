/* status.c - the birth of an error, and what it does. */
#include "config.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pldi_status.h"

#define TEXT_BYTES 1024

static struct pldi_errors process_errors;
static _Thread_local struct pldi_errors *thread_errors;
static _Thread_local struct pl_error last = { PL_OK, "", "", "" };
static _Thread_local char last_text[TEXT_BYTES];

struct pldi_errors *pldi_errors(void)
{
	return thread_errors ? thread_errors : &process_errors;
}

void pldi_errors_use(struct pldi_errors *e)
{
	thread_errors = e;
}

static void end_without_job(const struct pl_error *e)
{
	fprintf(stderr, "pld: %s: %s%s%s\n", e->call, e->text, *e->where ? ", " : "", e->where);
	exit(EXIT_FAILURE);
}

pl_status pldi_fail(pl_status status, const char *call, const char *where, const char *fmt, ...)
{
	struct pldi_errors *errors = pldi_errors();
	char text[TEXT_BYTES];
	int none = PL_OK;
	va_list ap;

	/* by way of text: the arguments may be texts of the last error */
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	memcpy(last_text, text, strlen(text) + 1);
	last = (struct pl_error){ status, call, where ? where : "", last_text };

	/* relaxed: a value of this rank that carries nothing else */
	atomic_compare_exchange_strong_explicit(&errors->first, &none, (int)status,
						memory_order_relaxed, memory_order_relaxed);
	if (errors->handler)
		errors->handler(&last, errors->handler_arg);
	/* relaxed: a switch of this rank; its threads may see a change late */
	if (atomic_load_explicit(&errors->mode, memory_order_relaxed) == PL_ERRORS_END)
		(errors->end ? errors->end : end_without_job)(&last);
	else if (errors->note)
		errors->note(&last);
	return status;
}

pl_status pldi_null_status(const char *call, const char *where, const char *what)
{
	/* relaxed: see pldi_fail.  Where errors end the job, an older one says nothing here. */
	if (last.status != PL_OK &&
	    atomic_load_explicit(&pldi_errors()->mode, memory_order_relaxed) == PL_ERRORS_RETURN)
		return last.status;
	return pldi_fail(PL_EINVAL, call, where, "%s is null", what);
}

int pldi_errors_mark(void)
{
	/* relaxed, here and in unmark: see pldi_fail */
	return atomic_exchange_explicit(&pldi_errors()->first, PL_OK, memory_order_relaxed);
}

pl_status pldi_errors_unmark(int mark)
{
	struct pldi_errors *errors = pldi_errors();
	int first = atomic_load_explicit(&errors->first, memory_order_relaxed);

	if (mark != PL_OK || first == PL_OK)
		atomic_store_explicit(&errors->first, mark, memory_order_relaxed);
	return (pl_status)first;
}

pl_errors pl_set_errors(pl_errors what)
{
	/* relaxed: see pldi_fail */
	return (pl_errors)atomic_exchange_explicit(&pldi_errors()->mode, (int)what,
						   memory_order_relaxed);
}

void pl_set_error_handler(void (*fn)(const struct pl_error *e, void *arg), void *arg)
{
	struct pldi_errors *errors = pldi_errors();

	errors->handler = fn;
	errors->handler_arg = arg;
}

const struct pl_error *pl_last_error(void)
{
	return &last;
}

const char *pl_status_name(pl_status s)
{
	static const char *const names[] = { "PL_OK",	    "PL_EINVAL",    "PL_ELEVEL",
					     "PL_ENOMEM",   "PL_ETIMEDOUT", "PL_EMISMATCH",
					     "PL_EABORTED", "PL_ESYS",	    "PL_EUNSUPPORTED",
					     "PL_EDEADLOCK" };
	const unsigned int i = 0u - (unsigned int)s;

	return i < sizeof(names) / sizeof(names[0]) ? names[i] : "unknown pl_status";
}
