/*
 * b0005_failed_alloc_frees_handle.c - a stale handle pointed to memory that was freed.
 *
 * Cause: after 65536 frees an allocation takes the object of the longest dead buffer, to which old
 * handles still point; when it failed, it gave that object to free() as if it were new.
 * Shape: more frees than that, failed allocations, their memory overwritten, every handle used.
 * Fails: a crash, or an error other than that the window was freed, for the oldest handles; the
 * address sanitizer: heap-use-after-free.
 */
#include "config.h"

#include "../errors/errors.h"
#include "pldi_window.h"

enum { HANDLES = 65536 + 100, LACKS = 8, JUNK = 64 };

/* What was freed must not look as it did. */
static void overwrite(void *junk[JUNK])
{
	for (int i = 0; i < JUNK; i++) {
		junk[i] = malloc(sizeof(struct pld_window_));
		if (!junk[i])
			abort();
		memset(junk[i], 'x', sizeof(struct pld_window_));
	}
}

static void rows(int me, int n)
{
	pld_buffer *handle = calloc(HANDLES, sizeof(*handle));
	void *junk[JUNK];

	(void)me;
	(void)n;
	if (!handle)
		abort();
	for (int i = 0; i < HANDLES; i++) {
		handle[i] = pld_alloc_window_buffer(.bytes = 0);
		HOLDS(pld_free_window_buffer(handle[i]) == PL_OK);
	}
	for (int i = 0; i < LACKS; i++)
		FAILS(pld_alloc_window_buffer(.bytes = INT64_MAX), PL_ENOMEM,
		      "pld_alloc_window_buffer", "*");
	overwrite(junk);
	for (int i = 0; i < HANDLES && !errors_state()->failed; i++)
		FAILS(pld_free_window_buffer(handle[i]), PL_EINVAL, "pld_free_window_buffer",
		      "*freed at *b0005_failed_alloc_frees_handle.c:*");
	for (int i = 0; i < JUNK; i++)
		free(junk[i]);
	free(handle);
}

int main(void)
{
	return errors_main(rows);
}
