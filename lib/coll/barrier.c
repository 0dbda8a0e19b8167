/* barrier.c - the barrier: on the library's lines, or on the caller's cells. */
#include "config.h"

#include "pldi_coll.h"

pl_status pld_barrier_domain(pld_ctx domain, const char *where)
{
	static const char call[] = "pld_barrier";
	static const struct pldi_call what = { .op = PLDI_CALL_BARRIER };
	struct pldi_domain *d;

	if (!pldi_live(PLDI_MAY_COLLECT, call, where) || !(d = pldi_domain_of(domain, call, where)))
		return pl_last_error()->status;
	return pldi_collect(d, &what, NULL, where);
}

pl_status pld_barrier_signal(pld_tensor signal, const char *where)
{
	struct pldi_coll c = { .call = "pld_barrier",
			       .where = where,
			       .what = { .op = PLDI_CALL_BARRIER_SIGNAL } };
	pl_status rc;

	if ((rc = pldi_coll_signal(&c, signal, 1)))
		return rc;
	if ((rc = pldi_coll_begin(&c, (pl_tensor){ NULL, NULL }, NULL)) == PL_OK)
		rc = pldi_coll_barrier(&c, 0, PLDI_STEP);
	return pldi_coll_end(&c, rc);
}
