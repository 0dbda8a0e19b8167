/* observe.c - counters and schedule of a rank. */
#include "config.h"

#include "pldi_observe.h"

#define BACK_EVERY 32768 /* acts: 1 MiB at a time */

static const struct {
	const char *text;
	enum pldi_act_form form;
} acts[PLDI_ACTS] = {
	[PLDI_ACT_NONE] = { "?", PLDI_FORM_NONE },
#define PLDI_ACT(id, text, form) [PLDI_ACT_##id] = { text, PLDI_FORM_##form },
#include "acts.def"
#undef PLDI_ACT
};

const char *pldi_act_text(uint32_t act)
{
	return acts[act < PLDI_ACTS ? act : PLDI_ACT_NONE].text;
}

enum pldi_act_form pldi_act_form(uint32_t act)
{
	return acts[act < PLDI_ACTS ? act : PLDI_ACT_NONE].form;
}

/* All counters are relaxed: they order nothing, and are read when their rank has gone or by it. */
static void count(_Atomic int64_t *counter, int64_t add)
{
	atomic_fetch_add_explicit(counter, add, memory_order_relaxed);
}

/* Memory for act i: acts are backed in steps, since a schedule is mostly short. */
static bool back(struct pldi_observe *o, uint64_t i)
{
	/* acquire, release: between threads of the rank, what one has backed another may write */
	uint64_t backed = atomic_load_explicit(&o->backed, memory_order_acquire);

	while (i >= backed) {
		if (o->commit(o->arg, &o->acts[backed], BACK_EVERY * sizeof(o->acts[0])))
			return false;
		/* two threads may back the same: it keeps what it has */
		if (atomic_compare_exchange_strong_explicit(&o->backed, &backed,
							    backed + BACK_EVERY,
							    memory_order_release,
							    memory_order_acquire))
			backed += BACK_EVERY;
	}
	return true;
}

static void list(struct pldi_observe *o, enum pldi_act act, int32_t peer, uint32_t window,
		 int64_t at, int64_t value, bool reuse)
{
	uint64_t i = atomic_fetch_add_explicit(&o->stats->acts, 1, memory_order_relaxed);
	struct pldi_act_shm *a = &o->acts[i];

	if (i >= PLDI_ACTS_MOST || !back(o, i))
		return;
	a->peer = peer;
	a->window = window;
	a->reuse = reuse;
	a->at = at;
	a->value = value;
	/* release: who reads the number, reads the line */
	atomic_store_explicit(&a->act, act, memory_order_release);
}

void pldi_observe_act(struct pldi_observe *o, enum pldi_act act, int32_t peer, uint32_t window,
		      int64_t at, int64_t value, int64_t bytes, bool reuse)
{
	const bool remote = peer != o->rank;

	switch (pldi_act_form(act)) {
	case PLDI_FORM_READ:
		count(&o->stats->moved[peer][0], remote ? value : 0);
		break;
	case PLDI_FORM_WRITE:
		count(&o->stats->moved[peer][1], remote ? value : 0);
		break;
	case PLDI_FORM_UPDATE:
		count(&o->stats->moved[peer][0], remote ? bytes : 0);
		count(&o->stats->moved[peer][1], remote ? bytes : 0);
		break;
	case PLDI_FORM_NOTIFY:
		count(&o->stats->notifies, 1);
		break;
	case PLDI_FORM_WAIT:
		count(&o->stats->waits, 1);
		break;
	default:
		break;
	}
	if (o->acts)
		list(o, act, peer, window, at, value, reuse);
}

void pldi_observe_read(struct pldi_observe *o, int32_t peer, int64_t bytes)
{
	count(&o->stats->moved[peer][0], peer != o->rank ? bytes : 0);
}
