/*
 * b0012_lack_without_a_limit.c - "9223372036854775807 bytes are needed, .. left under ;".
 *
 * Cause: where no limit is seen the bytes left are INT64_MAX less a margin; a request larger than
 * that was refused because of a limit that is not there, and its place was empty.
 * Shape: the largest requests, on a machine where no limit can be seen.
 * Fails: an error text with an empty place.
 */
#include "config.h"

#include "../errors/errors.h"
#include "pldi_machine.h"

void __wrap_pldi_memory_limits(const char *root, struct pldi_memory_limit *cgroup,
			       struct pldi_memory_limit *machine);

/* No cgroup, no /proc/meminfo. */
void __wrap_pldi_memory_limits(const char *root, struct pldi_memory_limit *cgroup,
			       struct pldi_memory_limit *machine)
{
	(void)root;
	*cgroup = *machine = (struct pldi_memory_limit){ INT64_MAX, "" };
}

/* The text that a lack has now: of the segment's file, or of its address space. */
static void names_a_place(const char *where)
{
	const char *text = pl_last_error()->text;

	if (!errors_match("* bytes on * rank* need * bytes, /* has * free *", text, NULL) &&
	    !errors_match("no range of * bytes and a spare page is free in *", text, NULL))
		errors_report(where, "a text with the place that lacks memory",
			      pl_last_error()->status);
}

static void rows(int me, int n)
{
	static const int64_t bytes[] = { INT64_MAX, INT64_MAX - 1, INT64_MAX - (1 << 20),
					 INT64_MAX / 2 };

	(void)me;
	(void)n;
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		FAILS(pld_alloc_window_buffer(.bytes = bytes[i]), PL_ENOMEM,
		      "pld_alloc_window_buffer", "*");
		names_a_place(PL_WHERE);
		FAILS(pld_host_tensor(PL_SHAPE(bytes[i]), PL_INT8), PL_ENOMEM, "pld_host_tensor",
		      "*");
		names_a_place(PL_WHERE);
	}
}

int main(void)
{
	return errors_main(rows);
}
