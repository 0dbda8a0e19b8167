/*
 * Example: errors that come back instead of ending the job.
 *
 * Read after: step 05.
 * Shows:    PL_ERRORS_RETURN; null tensors and tiles that carry an error through a chain;
 *           pl_last_error; a handler that sees each error; names of extents (pl_bind); and the end
 *           of a job on purpose (pld_abort, when something here is not as promised).
 * Run:      ./errors
 * Prints:   OK
 */
#include <pld.h>
#include <stdio.h>
#include <string.h>

/* Whose business an error is. */
static const char *meaning(pl_status s)
{
	switch (s) {
	case PL_EINVAL:
	case PL_ELEVEL:
		return "this program calls it wrongly";
	case PL_EMISMATCH:
		return "the ranks disagree: compare the two places in the text";
	case PL_ENOMEM:
	case PL_ESYS:
		return "the machine lacks something: the text says what";
	case PL_EABORTED:
		return "the job is ending, for a reason born elsewhere";
	case PL_EUNSUPPORTED:
		return "not in this version";
	case PL_EDEADLOCK:
		return "nobody is left who could notify";
	case PL_ETIMEDOUT:
	case PL_OK:
		break;
	}
	return "no error";
}

struct seen {
	int errors, print;
};

/* Called before the error takes effect; must not call pl_ or pld_. */
static void count(const struct pl_error *e, void *arg)
{
	struct seen *seen = arg;

	seen->errors++;
	if (seen->print)
		printf("  %s: %s\n    %s\n", e->call, e->text, meaning(e->status));
}

static void need(int holds, const char *what)
{
	if (!holds)
		pld_abort(1, what);
}

static int body(void *arg)
{
	float four[4] = { 1, 2, 3, 4 };
	pl_tensor x = pl_wrap(four, PL_SHAPE(4), PL_FP32), none;
	pld_tensor w = pld_new_window(PL_SHAPE(4), PL_FP32);
	pl_errors before = pl_set_errors(PL_ERRORS_RETURN);
	struct seen seen = { .errors = 0, .print = pld_rank(pld_world()) == 0 };

	(void)arg;
	need(before == PL_ERRORS_END, "errors end the job unless told otherwise");
	pl_set_error_handler(count, &seen);

	/* 1. A call that returns a status. */
	need(pld_put(w, pld_nranks(pld_world()), x) == PL_EINVAL, "one rank too far");

	/* 2. A call that returns a tensor returns the null one; a chain is checked at its end. */
	none = pl_slice(x, PL_AT(2), PL_SHAPE(9));
	need(pl_is_null(none), "2 + 9 is more than 4");
	need(pl_store(pl_add(pl_load(none, PL_AT(0), PL_SHAPE(1)), 1), PL_AT(0), x) == PL_EINVAL,
	     "the status that pl_slice was born with");
	need(seen.errors == 2, "one error each, however long the chain");
	need(strstr(pl_last_error()->where, "errors.c:") != NULL, "the place is this file");
	need(!strcmp(pl_status_name(pl_last_error()->status), "PL_EINVAL"),
	     "the status has a name");

	/* 3. Time that runs out is an answer, not an error: nobody calls the handler. */
	need(pld_wait_for(pld_new_window(PL_SHAPE(1), PL_INT32), PL_AT(0), 1, PLD_WAIT_GE, 0) ==
		     PL_ETIMEDOUT,
	     "nobody notifies");
	need(seen.errors == 2, "still two");

	/* 4. A name has one value. */
	need(pl_bind("ROWS", 3) == PL_OK && pl_dynamic("ROWS") == 3, "bound");
	need(pl_bind("ROWS", 4) == PL_EINVAL && seen.errors == 3, "bound to 3 already");

	pl_set_error_handler(NULL, NULL);
	pl_set_errors(before);
	if (seen.print)
		puts("OK");
	return 0;
}

int main(void)
{
	return pld_run(NULL, body, NULL);
}
