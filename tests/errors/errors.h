/*
 * errors.h - rows that must fail: a call, and the error that it must give.
 *
 *	FAILS(pld_put(w, 7, x), PL_EINVAL, "pld_put",
 *	      "peer 7; the window's domain has ranks 0 to *");
 *
 * evaluates the call and looks at what it returns (a null handle stands for the last error's
 * status) and at the error: status, name of the call, the caller's place (that very line, so the
 * call comes first), the text; and that it was born once, and shown to the handler.  In a text `*`
 * is any run of characters, and `@` the place that was last given to place().
 *
 * check-all-reached compares the texts in these files with those in lib/.
 */
#ifndef ERRORS_H
#define ERRORS_H

#include <pld.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sanitizer's shadow needs more address space than any limit leaves. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* ---- what the handler has seen --------------------------------------------------------------- */

struct errors_state {
	int born;	      /* since errors_begin() */
	struct pl_error last; /* the handler's copy; texts are the library's */
	const char *place;    /* '@' */
	int failed;	      /* rows that were not as they should be */
};

static inline struct errors_state *errors_state(void)
{
	static _Thread_local struct errors_state state;

	return &state;
}

static inline void errors_seen(const struct pl_error *e, void *arg)
{
	(void)arg;
	errors_state()->born++;
	errors_state()->last = *e;
}

/* Of this rank: errors return, and are seen. */
static inline void errors_return(void)
{
	pl_set_errors(PL_ERRORS_RETURN);
	pl_set_error_handler(errors_seen, NULL);
}

static inline void place(const char *where)
{
	errors_state()->place = where;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static inline int errors_match(const char *pattern, const char *text, const char *at)
{
	size_t n = at ? strlen(at) : 0;

	for (; *pattern; pattern++) {
		if (*pattern == '*') {
			do {
				if (errors_match(pattern + 1, text, at))
					return 1;
			} while (*text++);
			return 0;
		}
		if (*pattern == '@') {
			if (!at || strncmp(text, at, n))
				return 0;
			text += n;
		} else if (*pattern != *text++) {
			return 0;
		}
	}
	return *text == '\0';
}

static inline void errors_begin(void)
{
	errors_state()->born = 0;
}

static inline void errors_report(const char *what, const char *wanted, int status)
{
	struct errors_state *s = errors_state();
	const struct pl_error *e = pl_last_error();

	s->failed++;
	fprintf(stderr, "%s\n\twanted  %s\n\tgot     %s; %d born; last: %s of %s at %s: %s\n", what,
		wanted, pl_status_name((pl_status)status), s->born, pl_status_name(e->status),
		e->call, e->where, e->text);
}

/*
 * An error's place is the row's: to the line with gcc, for which a macro is where it begins; with
 * clang it is where it ends, a few lines behind the call in it.
 */
static inline int errors_same_place(const char *seen, const char *row)
{
	const char *seen_line = strrchr(seen, ':'), *row_line = strrchr(row, ':');
	int behind;

	if (!seen_line || !row_line || seen_line - seen != row_line - row ||
	    strncmp(seen, row, (size_t)(row_line - row)) != 0)
		return 0;
	behind = atoi(row_line + 1) - atoi(seen_line + 1);
#if defined(__clang__)
	return behind >= 0 && behind < 12;
#else
	return behind == 0;
#endif
}

static inline void errors_fails(int got, const char *expr, pl_status status, const char *call,
				const char *text, const char *where)
{
	struct errors_state *s = errors_state();
	const struct pl_error *e = pl_last_error();
	char what[512], wanted[1024];

	if (got == (int)status && s->born == 1 && e->status == status && s->last.status == status &&
	    strcmp(e->call, call) == 0 && errors_same_place(e->where, where) &&
	    strcmp(s->last.text, e->text) == 0 && errors_match(text, e->text, s->place))
		return;
	snprintf(what, sizeof(what), "%s: %.400s", where, expr);
	snprintf(wanted, sizeof(wanted), "%s, 1 born: of %s at %s: %s%s%s", pl_status_name(status),
		 call, where, text, strchr(text, '@') ? ", @ " : "",
		 strchr(text, '@') && s->place ? s->place : "");
	errors_report(what, wanted, got);
}

static inline void errors_quiet(int got, const char *expr, pl_status status, const char *where)
{
	char what[512], wanted[128];

	if (got == (int)status && errors_state()->born == 0)
		return;
	snprintf(what, sizeof(what), "%s: %.400s", where, expr);
	snprintf(wanted, sizeof(wanted), "%s, 0 born", pl_status_name(status));
	errors_report(what, wanted, got);
}

static inline int errors_of_int(int s)
{
	return s > 0 ? 0 : s;
}

static inline int errors_of_int64(int64_t s)
{
	return s > 0 ? 0 : (int)s;
}

static inline int errors_of_double(double v)
{
	return v != v ? (int)pl_last_error()->status : PL_OK;
}

static inline int errors_of_null(int null)
{
	return null ? (int)pl_last_error()->status : PL_OK;
}

static inline int errors_of_tensor(pl_tensor t)
{
	return errors_of_null(!t.as_);
}

static inline int errors_of_window(pld_tensor t)
{
	return errors_of_null(!t.as_);
}

static inline int errors_of_tile(pl_tile t)
{
	return errors_of_null(!t.t_);
}

static inline int errors_of_buffer(pld_buffer b)
{
	return errors_of_null(!b.w_);
}

static inline int errors_of_ctx(pld_ctx c)
{
	return errors_of_null(!pld_is_member(c));
}

/* ---- rows ------------------------------------------------------------------------------------ */

#define ERRORS_STATUS(x)                                                                           \
	_Generic((x), int                                                                          \
		 : errors_of_int, int64_t                                                          \
		 : errors_of_int64, double                                                         \
		 : errors_of_double, pl_tensor                                                     \
		 : errors_of_tensor, pld_tensor                                                    \
		 : errors_of_window, pl_tile                                                       \
		 : errors_of_tile, pld_buffer                                                      \
		 : errors_of_buffer, pld_ctx                                                       \
		 : errors_of_ctx)(x)

#define FAILS(expr, status, call, text)                                                            \
	(errors_begin(),                                                                           \
	 errors_fails(ERRORS_STATUS(expr), #expr, (status), (call), (text), PL_WHERE))

/* The call is given a null handle: it returns the status of that one's birth, and bears nothing. */
#define PASSES_ON(expr, status)                                                                    \
	(errors_begin(), errors_quiet(ERRORS_STATUS(expr), #expr, (status), PL_WHERE))

#define WORKS(expr) PASSES_ON(expr, PL_OK)

/* Anything else that must be true. */
#define HOLDS(what)                                                                                \
	((what) ? (void)0                                                                          \
		: errors_report(PL_WHERE ": " #what, "true", (int)pl_last_error()->status))

/* ---- running --------------------------------------------------------------------------------- */

/* fn in a thread of its own, which has had no error yet; its failed rows count here. */
static inline void *errors_thread(void *fn)
{
	(*(void (**)(void))fn)();
	return (void *)(intptr_t)errors_state()->failed;
}

static inline void errors_fresh(void (*fn)(void))
{
	pthread_t thread;
	void *failed;

	if (pthread_create(&thread, NULL, errors_thread, &fn) || pthread_join(thread, &failed))
		abort();
	errors_state()->failed += (int)(intptr_t)failed;
}

/* Joins the job, runs the rows, leaves; what main returns. */
static inline int errors_main(void (*rows)(int me, int n))
{
	pld_ctx world;

	if (pld_init(NULL))
		return EXIT_FAILURE;
	errors_return();
	world = pld_world();
	rows(pld_rank(world), pld_nranks(world));
	WORKS(pld_finalize());
	return errors_state()->failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
