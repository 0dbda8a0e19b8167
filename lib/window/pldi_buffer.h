/* pldi_buffer.h - allocating and freeing on all members of a domain: windows, host tensors. */
#ifndef PLDI_BUFFER_H
#define PLDI_BUFFER_H

#include "pldi_job.h"
#include "pldi_window.h"

struct pldi_request {
	const char *call;    /* the public one */
	enum pldi_opcode op; /* PLDI_CALL_ALLOC, or PLDI_CALL_HOST_TENSOR: one slice for all */
	struct pldi_domain *domain;
	int64_t bytes, dtype; /* dtype: 0 by bytes */
	pld_keep keep;
	const char *name, *where;
};

/* Collective.  NULL after an error, on every member. */
struct pld_window_ *pldi_buffer_new(const struct pldi_request *q);

/* Collective.  b's object stays, for handles that remember it. */
pl_status pldi_buffer_free(struct pld_window_ *b, enum pldi_opcode op, const char *call,
			   const char *where);

#endif
