/* notify.c - changing a peer's cell. */
#include "config.h"

#include "pldi_signal.h"

pl_status pldi_signal_fail(pld_tensor t, const char *call, const char *where)
{
	return pldi_fail(PL_EINVAL, call, where, "the signal is a window of %s; a signal has INT32",
			 pl_dtype_name(t.as_->layout->dtype));
}

pl_status pldi_notify_op_fail(int op, const char *call, const char *where)
{
	return pldi_fail(PL_EINVAL, call, where,
			 "op is %d; allowed: PLD_NOTIFY_ADD (0), PLD_NOTIFY_SET (1)", op);
}

pl_status(pld_notify)(pld_tensor signal, int peer, const pl_dims *at, int32_t value,
		      pld_notify_op op, const char *where)
{
	static const char call[] = "pld_notify";
	struct pldi_domain *d = pldi_window_check(signal, PLDI_MAY_SIGNAL, call, where, "signal");
	int64_t off;
	pl_status rc;

	if (!d)
		return pl_last_error()->status;
	if ((rc = pldi_signal_check(signal, call, where)) ||
	    (rc = pldi_peer_check(d, peer, call, where)) ||
	    (rc = pldi_notify_op_check(op, call, where)) ||
	    (rc = pldi_index(signal.as_->layout, at, &off, call, where, "cell")))
		return rc;
	pldi_doing(d->self, PLDI_OP_NOTIFY, where);
	pldi_signal(signal, d, peer, off * (int64_t)sizeof(int32_t), value, op);
	return PL_OK;
}
