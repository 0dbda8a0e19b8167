/* schedule.c - what ranks have listed of their calls, as text: a line an act. */
#include "config.h"

#include <inttypes.h>

#include "pldi_inner.h"

#define AT_ONCE 512 /* acts */

/* "+1", "=1", "&15": what an element was changed by. */
static const char *sign(uint32_t act)
{
	switch (act) {
	case PLDI_ACT_FETCH_AND:
		return "&";
	case PLDI_ACT_FETCH_OR:
		return "|";
	case PLDI_ACT_FETCH_XOR:
		return "^";
	case PLDI_ACT_NOTIFY_SET:
	case PLDI_ACT_SWAP:
	case PLDI_ACT_COMPARE_SWAP:
		return "=";
	default:
		return ""; /* an addition: its own */
	}
}

static void line(const struct pldi_act_shm *a, uint32_t act, FILE *to)
{
	const bool adds = act == PLDI_ACT_NOTIFY_ADD || act == PLDI_ACT_FETCH_ADD;
	const char *text = pldi_act_text(act), *reuse = a->reuse ? " reuse" : "";

	switch (pldi_act_form(act)) {
	case PLDI_FORM_READ:
	case PLDI_FORM_WRITE:
		fprintf(to, "%s %" PRId32 " w%" PRIu32 "+%" PRId64 " %" PRId64 "%s\n", text,
			a->peer, a->window, a->at, a->value, reuse);
		break;
	case PLDI_FORM_WAIT:
		fprintf(to, "%s self w%" PRIu32 "[%" PRId64 "] %s%" PRId64 "%s\n", text, a->window,
			a->at, act == PLDI_ACT_WAIT_GE ? ">=" : "==", a->value, reuse);
		break;
	default:
		fprintf(to,
			adds ? "%s %" PRId32 " w%" PRIu32 "[%" PRId64 "] %s%+" PRId64 "%s\n"
			     : "%s %" PRId32 " w%" PRIu32 "[%" PRId64 "] %s%" PRId64 "%s\n",
			text, a->peer, a->window, a->at, sign(act), a->value, reuse);
		break;
	}
}

/* Lines that there should be: not kept, not finished, or written over. */
static void gap(uint64_t *missing, FILE *to)
{
	if (*missing)
		fprintf(to, "missing %" PRIu64 "\n", *missing);
	*missing = 0;
}

static void lines(const struct pldi_inner *in, int rank, uint64_t n, FILE *to)
{
	const uint64_t most = n < PLDI_ACTS_MOST ? n : PLDI_ACTS_MOST;
	const uint64_t off =
		in->acts_off + (uint64_t)rank * PLDI_ACTS_MOST * sizeof(struct pldi_act_shm);
	struct pldi_act_shm acts[AT_ONCE];
	uint64_t missing = 0;

	for (uint64_t i = 0; i < most; i += AT_ONCE) {
		const uint64_t some = most - i < AT_ONCE ? most - i : AT_ONCE;

		if (!pldi_segment_read(in, acts, some * sizeof(acts[0]),
				       off + i * sizeof(acts[0]))) {
			missing += most - i;
			break;
		}
		for (uint64_t k = 0; k < some; k++) {
			/* relaxed: a copy that nobody else has */
			uint32_t act = atomic_load_explicit(&acts[k].act, memory_order_relaxed);

			if (pldi_act_form(act) == PLDI_FORM_NONE) {
				missing++;
				continue;
			}
			gap(&missing, to);
			line(&acts[k], act, to);
		}
	}
	missing += n - most;
	gap(&missing, to);
}

void pldi_schedule_write(const struct pldi_inner *in, struct pldi_counters *c, FILE *to)
{
	for (int r = 0; r < in->l->nranks; r++) {
		pldi_counters_read(in, r, c);
		fprintf(to, "rank %d\n", r);
		if (c->known)
			lines(in, r, c->acts, to);
		else
			fputs("missing ?\n", to);
	}
}
