/* pldi_status.h - how an error is born: once, with the numbers seen and the numbers allowed. */
#ifndef PLDI_STATUS_H
#define PLDI_STATUS_H

#include <pl/status.h>

/*
 * What errors do in this rank.  One per process; a test that runs ranks as threads gives each
 * thread its own with pldi_errors_use().
 */
struct pldi_errors {
	_Atomic int mode; /* enum pl_errors */
	void (*handler)(const struct pl_error *e, void *arg);
	void *handler_arg;
	/* Ends the job under PL_ERRORS_END; NULL: one line and exit(1).  Set by layer job. */
	void (*end)(const struct pl_error *e);
	/* Told of each error that does not end the job; NULL: nobody.  Set by layer job. */
	void (*note)(const struct pl_error *e);
	_Atomic int first; /* first status born since pldi_errors_mark(): what a level returns */
};

struct pldi_errors *pldi_errors(void);
void pldi_errors_use(struct pldi_errors *e); /* for this thread; NULL: the process's */

/*
 * An error is born: records it as this thread's last, calls the handler, and either ends the job
 * or returns status.  call: the public function's name; where: its caller's "file:line", or NULL.
 */
pl_status pldi_fail(pl_status status, const char *call, const char *where, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The status a null tile or tensor stands for: this thread's last error, else PL_EINVAL is born. */
pl_status pldi_null_status(const char *call, const char *where, const char *what);

/* Remembers and clears the first-error mark; pldi_errors_unmark() puts it back. */
int pldi_errors_mark(void);
pl_status pldi_errors_unmark(int mark);

#endif
