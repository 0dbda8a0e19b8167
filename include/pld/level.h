/* pld/level.h - the three levels: host, device, in-core. */
#ifndef PLD_LEVEL_H
#define PLD_LEVEL_H

#include <pld/job.h>

PL_BEGIN_DECLS

/*
 * PLD_HOST(call)            host level, on every rank; a barrier before and one after; buffers made
 *                           inside with PLD_KEEP_HOST are freed at its end.  Collective over the
 *                           world.
 * PLD_DISPATCH(rank, call)  inside it: only that rank evaluates call, at device level; the others
 *                           go on at once.
 * PLD_INCORE(call)          inside that: kernel level, and a tile scope of its own.
 *
 * Each is an expression of type pl_status: the first error inside it, for PLD_HOST the first error
 * of the lowest rank that had one.  call is any expression and its value is dropped.
 *
 * host: allocation, windows, domains, collectives, PLD_DISPATCH; device: PLD_INCORE; in-core:
 * tiles, signals, remote memory, collectives.  Another call is PL_ELEVEL, with the call, the level
 * and both places in the text.  Anywhere: pl_read_*, pl_write, pl_copy, pl_wrap, pl_at, pl_slice,
 * queries, pld_abort.  A program that uses no level may call everything but PLD_DISPATCH and
 * PLD_INCORE.
 * The level is the rank's, not the thread's.  Leaving a call by longjmp or a C++ exception is not
 * supported.
 */
typedef enum pld_level {
	PLD_LEVEL_SPMD = 0,
	PLD_LEVEL_HOST = 1,
	PLD_LEVEL_DEVICE = 2,
	PLD_LEVEL_INCORE = 3
} pld_level;

/* 1: evaluate the call, then leave(level).  0: do not, leave(PLD_LEVEL_SPMD). */
PL_API int pld_level_enter(pld_level level, int64_t device, const char *where);
PL_API pl_status pld_level_leave(pld_level level);

PL_END_DECLS

#define PLD_LEVEL_(level, device, ...)                                                             \
	(pld_level_enter((level), (device), PL_WHERE)                                              \
		 ? ((void)(__VA_ARGS__), pld_level_leave(level))                                   \
		 : pld_level_leave(PLD_LEVEL_SPMD))
#define PLD_HOST(...) PLD_LEVEL_(PLD_LEVEL_HOST, 0, __VA_ARGS__)
#define PLD_DISPATCH(rank, ...) PLD_LEVEL_(PLD_LEVEL_DEVICE, (rank), __VA_ARGS__)
#define PLD_INCORE(...) PLD_LEVEL_(PLD_LEVEL_INCORE, 0, __VA_ARGS__)

#endif
