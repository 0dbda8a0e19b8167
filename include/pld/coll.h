/* pld/coll.h - collectives. */
#ifndef PLD_COLL_H
#define PLD_COLL_H

#include <pld/signal.h>

PL_BEGIN_DECLS

/*
 * pld_barrier - returns when every member has called it; what any of them wrote before, all see
 * after.  Collective over the domain.
 *
 *	pld_barrier(ctx)     on the library's own cells
 *	pld_barrier(signal)  on the caller's: an INT32 window with a cell for each member
 *
 * The second form takes cell (r, 0, ..) for member r when the first extent is at least nranks
 * ([P], [P, 1], [P, stride], more rows), else element r of a packed window of at least P elements.
 * The cells must be zero before and are zero again when all members have returned, so one signal
 * serves any number of calls.  Protocol: each member adds 1 to its cell at every peer, waits for
 * 1 or more in every peer's cell of its own, then takes 1 off each; a subtraction, because a fast
 * peer may already have added its next credit.
 */
PL_API pl_status pld_barrier_signal(pld_tensor signal, const char *where);
PL_API pl_status pld_barrier_domain(pld_ctx domain, const char *where);

PL_END_DECLS

#ifndef __cplusplus
#define pld_barrier(on)                                                                            \
	_Generic((on), pld_tensor: pld_barrier_signal, pld_ctx: pld_barrier_domain)((on), PL_WHERE)
#endif

#endif
