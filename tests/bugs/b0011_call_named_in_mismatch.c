/*
 * b0011_call_named_in_mismatch.c - an error of pld_new_window named pld_alloc_window_buffer.
 *
 * Cause: an error of an agreement was named after the operation that the ranks agree about, which
 * for calls built on others is not the call that the program made.
 * Shape: ranks that disagree in pld_new_window, and in pld_free_window; then a broken domain.
 * Fails: pl_last_error()->call is pld_alloc_window_buffer, or pld_free_window_buffer.
 */
#include "config.h"

#include "../errors/errors.h"

#define DISAGREE(op)                                                                               \
	"ranks disagree about call * of the domain: rank * calls " op                              \
	" at b0011_call_named_in_mismatch.c:*, rank * calls " op                                   \
	" at b0011_call_named_in_mismatch.c:*"
#define BROKEN                                                                                     \
	"members of the domain disagreed about its call *: only calls that release its windows "   \
	"and end it are left"

/* A domain for each row: it is broken after it. */
static void rows(int me, int n)
{
	pld_ctx d = pld_domain_split(pld_world(), 0, 0);
	pld_tensor w[2];

	(void)n;
	FAILS(pld_new_window(PL_SHAPE(4 + me), PL_FP32, .domain = d), PL_EMISMATCH,
	      "pld_new_window",
	      DISAGREE("pld_alloc_window_buffer(bytes *, dtype FP32, keep PLD_KEEP_HOST)"));
	FAILS(pld_new_window(PL_SHAPE(4), PL_FP32, .domain = d), PL_EABORTED, "pld_new_window",
	      BROKEN);
	WORKS(pld_domain_free(d));

	d = pld_domain_split(pld_world(), 0, 0);
	for (int i = 0; i < 2; i++)
		w[i] = pld_new_window(PL_SHAPE(4), PL_FP32, .domain = d);
	FAILS(pld_free_window(w[me == 0]), PL_EMISMATCH, "pld_free_window",
	      DISAGREE("pld_free_window_buffer(buffer *)"));
	for (int i = 0; i < 2; i++)
		WORKS(pld_free_window(w[i]));
	WORKS(pld_domain_free(d));
}

int main(void)
{
	return errors_main(rows);
}
