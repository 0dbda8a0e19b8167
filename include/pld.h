/* pld.h - the distributed vocabulary: job, memory, signals, remote memory, collectives, levels. */
#ifndef PLD_H
#define PLD_H

/*
 * Every call returns PL_OK or a negative pl_status unless said otherwise, and checks all its
 * arguments before its first effect.
 *
 * "Collective over a domain": every member of it makes the call, in the same order as its other
 * collective calls, with equal arguments.  Ranks that disagree get PL_EMISMATCH, with both calls
 * and both source lines in the text.
 *
 * Options are designated initialisers after the last argument:
 *
 *	pld_put(dst, 1, src, .atomic = PLD_ATOMIC_ADD);
 *
 * The function of the same name takes them as a pointer (NULL: none) and the caller's place
 * (PL_WHERE): (pld_put)(dst, 1, src, &opts, PL_WHERE).  C++ has only this form.
 *
 * Threads: put, get, remote_load, remote_store, notify, wait, wait_for, wait_any, test, pld_ptr
 * may be called by any thread of a rank at any time.  All collective calls, and the levels, by one
 * thread of a rank at a time.  A tile belongs to the thread that made it.
 */
#include <pl.h>
#include <pld/job.h>
#include <pld/memory.h>
#include <pld/signal.h>
#include <pld/rma.h>
#include <pld/coll.h>
#include <pld/level.h>
#include <pld/observe.h>

#endif
