/* config.c - what a program asks for with struct pld_config: well formed, and as pldrun has it. */
#include "config.h"

#include <inttypes.h>

#include "pldi_job.h"

pl_status pldi_config_check(const struct pld_config *config, int nranks, const char *call,
			    const char *where)
{
	if (config->ndevices < 0 || config->ndevices > PLDI_MAX_RANKS)
		return pldi_fail(PL_EINVAL, call, where, "%d devices; allowed: 0 to %d",
				 config->ndevices, PLDI_MAX_RANKS);
	if (config->default_ndevices < 0 || config->default_ndevices > PLDI_MAX_RANKS)
		return pldi_fail(PL_EINVAL, call, where, "default of %d devices; allowed: 0 to %d",
				 config->default_ndevices, PLDI_MAX_RANKS);
	if (nranks && config->ndevices && config->ndevices != nranks)
		return pldi_fail(PL_EINVAL, call, where,
				 "%d devices are listed, pldrun started %d "
				 "rank%s",
				 config->ndevices, nranks, nranks == 1 ? "" : "s");
	if (config->workers < 0)
		return pldi_fail(PL_EINVAL, call, where, "%d workers", config->workers);
	if (config->workers > 0)
		return pldi_fail(PL_EUNSUPPORTED, call, where, "%d workers; only 0 is supported",
				 config->workers);
	if (config->reserve_bytes < 0)
		return pldi_fail(PL_EINVAL, call, where, "reserve of %" PRId64 " bytes",
				 config->reserve_bytes);
	if ((unsigned)config->counters > PLD_COUNTERS_ON)
		return pldi_fail(PL_EINVAL, call, where,
				 "counters is %d; allowed: PLD_COUNTERS_OFF (0), PLD_COUNTERS_ON "
				 "(1)",
				 (int)config->counters);
	for (int i = 0; config->device_ids && i < config->ndevices; i++) {
		if (config->device_ids[i] < 0)
			return pldi_fail(PL_EINVAL, call, where,
					 "device_ids[%d] is %d; ids are >= 0", i,
					 config->device_ids[i]);
		for (int k = 0; k < i; k++)
			if (config->device_ids[k] == config->device_ids[i])
				return pldi_fail(PL_EINVAL, call, where,
						 "device_ids[%d] and [%d] are "
						 "both %d",
						 k, i, config->device_ids[i]);
	}
	return PL_OK;
}
