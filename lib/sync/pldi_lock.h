/* pldi_lock.h - a lock that processes share, for tables of the job; a dead holder ends the job. */
#ifndef PLDI_LOCK_H
#define PLDI_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * Word values: 0 free, 1 held, 2 held and somebody sleeps (U. Drepper, "Futexes are tricky", 2011,
 * mutex 3).  pldi_lock returns 0 with the lock held, or -1 when *aborted became non-zero: the
 * holder may be dead, and the job ends.
 */
int pldi_lock(_Atomic uint32_t *word, const _Atomic uint32_t *aborted);
void pldi_unlock(_Atomic uint32_t *word);

#endif
