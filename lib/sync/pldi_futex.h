/* pldi_futex.h - the only futex calls: wait on and wake a 32-bit word that processes share. */
#ifndef PLDI_FUTEX_H
#define PLDI_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

#define PLDI_NO_DEADLINE INT64_MAX

/*
 * Sleeps while *word is `seen`, until woken or deadline_ns (pldi_now_ns clock).  Returns 0 for
 * "look again" (woken, value differs, signal), -1 when the deadline has passed.
 */
int pldi_futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t deadline_ns);

/* Wakes everyone who sleeps on word. */
void pldi_futex_wake(_Atomic uint32_t *word);

#endif
