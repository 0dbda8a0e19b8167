/*
 * b0009_misaligned_atomic_add.c - an adding put read a misaligned source as aligned elements.
 *
 * Cause: the source was read through a pointer to its dtype; a local tensor may begin at any byte.
 * Shape: all ranks add a source that begins 0 to 7 bytes behind an aligned address to everyone's
 * window, in each dtype; sums against a serial model.
 * Fails: with the undefined behaviour sanitizer "load of misaligned address"; without it only where
 * the CPU or vectorised code wants aligned elements.
 */
#include "config.h"

#include "../multi/multi.h"

enum { COUNT = 37, SHIFTS = 8 };

/* Element k of a source; small, so that sums are exact in each dtype. */
static int value(int k)
{
	return k % 5;
}

static void add_shifted(const struct multi *m, pld_tensor w, int shift)
{
	_Alignas(8) char aligned[COUNT * 8], shifted[COUNT * 8 + SHIFTS];
	pl_dtype t = pl_dtype_of(pld_local(w));
	pl_tensor values = pl_wrap(aligned, PL_SHAPE(COUNT), t);

	for (int k = 0; k < COUNT; k++)
		multi_write(values, PL_AT(k), value(k));
	memcpy(shifted + shift, aligned, sizeof(aligned));
	for (int r = 0; r < m->n; r++)
		pld_put(w, r, pl_wrap(shifted + shift, PL_SHAPE(COUNT), t),
			.atomic = PLD_ATOMIC_ADD);
}

static void all_shifts(const struct multi *m)
{
	for (int i = 0; i < MULTI_DTYPES; i++) {
		for (int shift = 0; shift < SHIFTS; shift++) {
			pld_tensor w = pld_new_window(PL_SHAPE(COUNT), multi_dtypes[i]);

			add_shifted(m, w, shift);
			pld_barrier(pld_world());
			for (int k = 0; k < COUNT; k++)
				expect_float(m, pl_dtype_name(multi_dtypes[i]), k,
					     multi_read(pld_local(w), PL_AT(k)), m->n * value(k));
			pld_free_window(w);
		}
	}
}

static const struct multi_case cases[] = { { "all shifts", all_shifts, 0 } };

int main(void)
{
	return multi_run("b0009_misaligned_atomic_add", cases, ROWS(cases));
}
