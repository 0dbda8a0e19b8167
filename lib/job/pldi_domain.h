/* pldi_domain.h - making and ending domains. */
#ifndef PLDI_DOMAIN_H
#define PLDI_DOMAIN_H

#include "pldi_job.h"

/*
 * This process's object for domain `id`, whose members are list[0 .. n-1] (world ranks) and self
 * is member `me`.  It stays when the domain ends: contexts point to it.  NULL: no memory.
 */
struct pldi_domain *pldi_domain_new(struct pldi_rank *self, uint32_t id, const int32_t *list,
				    int32_t n, int32_t me);
void pldi_domain_delete(struct pldi_domain *d);

/* Of an ended domain, when no view of another buffer was narrowed to it any more. */
void pldi_domain_delete_tables(struct pldi_domain *d);

/* What a rank brings to the making of a domain. */
struct pldi_form {
	struct pldi_rank *self;
	uint32_t parent;
	const int32_t *list; /* world ranks */
	int32_t n, me;
	const char *call, *where;
};

/* Waits for the other ranks of f's list.  NULL after an error. */
struct pldi_domain *pldi_domain_form(const struct pldi_form *f);

/* "{0, 2, 4}" for texts; long lists are cut. */
void pldi_ranks_text(char *to, size_t bytes, const int32_t *list, int32_t n);

#endif
