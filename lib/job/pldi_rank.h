/* pldi_rank.h - making a rank, for pld_init, pld_run and tests that run ranks as threads. */
#ifndef PLDI_RANK_H
#define PLDI_RANK_H

#include "pldi_job.h"

/* A rank of the job in seg; its slot is not claimed.  NULL: no memory. */
struct pldi_rank *pldi_rank_new(const struct pldi_segment *seg, int32_t rank, int status_fd,
				const struct pldi_params *params);

/* pld_finalize after its level check. */
pl_status pldi_leave(struct pldi_rank *self, const char *where);

#endif
