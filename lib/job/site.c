/* site.c - source lines and operations, by numbers that mean something in other processes. */
#include "config.h"

#include <string.h>

#include "pldi_job.h"

/* Copies the text behind the last '/', and of a long one the end: that has the line. */
static void copy_text(char *to, const char *where)
{
	const char *slash = strrchr(where, '/');
	size_t n;

	if (slash)
		where = slash + 1;
	n = strlen(where);
	if (n >= PLDI_SITE_TEXT) {
		where += n - (PLDI_SITE_TEXT - 1);
		n = PLDI_SITE_TEXT - 1;
	}
	memcpy(to, where, n + 1);
}

/* A full neighbourhood gives its first place away: a report may then show the newer line. */
uint32_t pldi_site_add(struct pldi_rank *self, const char *where, uint32_t at)
{
	uint64_t key = (uint64_t)(uintptr_t)where;
	uint32_t i, found = at;

	if (!where)
		where = "";
	pthread_mutex_lock(&self->mutex);
	for (i = 0; i < PLDI_SITE_PROBES; i++) {
		struct pldi_site_shm *site = &self->slot->site[(at + i) % PLDI_SITES];
		/* relaxed: under the mutex; pldi_site's reader needs the key alone */
		uint64_t seen = atomic_load_explicit(&site->key, memory_order_relaxed);

		if (seen == key || seen == 0) {
			found = (at + i) % PLDI_SITES;
			break;
		}
	}
	copy_text(self->slot->site[found].text, where);
	atomic_store_explicit(&self->slot->site[found].key, key, memory_order_relaxed);
	pthread_mutex_unlock(&self->mutex);
	return found;
}

const char *pldi_opcode_name(uint32_t op)
{
	static const char *const calls[] = {
#define PLDI_CALL(id, name, args) name,
#include "calls.def"
#undef PLDI_CALL
	};
	static const char *const ops[] = {
#define PLDI_OP(id, name) name,
#include "ops.def"
#undef PLDI_OP
	};
	const uint32_t ncalls = sizeof(calls) / sizeof(calls[0]);
	const uint32_t nops = sizeof(ops) / sizeof(ops[0]);

	if (op < ncalls)
		return calls[op];
	if (op > PLDI_OP_FIRST && op <= PLDI_OP_FIRST + nops)
		return ops[op - PLDI_OP_FIRST - 1];
	return "?";
}
