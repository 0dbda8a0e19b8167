/* wait.c - sleeping: what a rank waits for is published while it does. */
#include "config.h"

#include <string.h>
#include <sys/stat.h>

#include "pldi_delay.h"
#include "pldi_job.h"

#define LOOK_NS 50000000 /* between two looks of a thread whose sleep is not published */

/*
 * All accesses to the record are relaxed but for the epoch: the launcher reads them while they
 * change, and believes what it read when the epoch was odd and the same before and after.
 */
bool pldi_sleep_publish(struct pldi_rank *self, const struct pldi_sleep *s)
{
	struct pldi_wait_shm *w = &self->slot->wait;
	bool none = false;

	/* acquire: pairs with the release in pldi_sleep_end, between threads of this rank */
	if (!atomic_compare_exchange_strong_explicit(&self->publishing, &none, true,
						     memory_order_acquire, memory_order_relaxed))
		return false;
	atomic_store_explicit(&w->cmp, s->cmp, memory_order_relaxed);
	atomic_store_explicit(&w->wanted, s->wanted, memory_order_relaxed);
	atomic_store_explicit(&w->off, (uint64_t)((const char *)s->word - (char *)self->seg.base),
			      memory_order_relaxed);
	atomic_store_explicit(&w->index, s->index, memory_order_relaxed);
	atomic_store_explicit(&w->buffer, s->buffer, memory_order_relaxed);
	atomic_store_explicit(&w->peer, s->who.peer, memory_order_relaxed);
	atomic_store_explicit(&w->domain, s->who.domain, memory_order_relaxed);
	atomic_store_explicit(&w->call, s->who.call, memory_order_relaxed);
	strncpy(w->name, s->name ? s->name : "", sizeof(w->name) - 1);
	atomic_store_explicit(&w->since_ns, s->since_ns, memory_order_relaxed);
	atomic_store_explicit(&w->deadline_ns, s->deadline_ns, memory_order_relaxed);
	atomic_store_explicit(&w->kind, s->kind, memory_order_relaxed);
	PLDI_DELAY();
	/* release: the launcher's acquire of an odd epoch sees the record */
	atomic_fetch_add_explicit(&w->epoch, 1, memory_order_release);
	return true;
}

bool pldi_sleep_begin(struct pldi_rank *self, struct pldi_sleep *s)
{
	s->since_ns = pldi_now_ns();
	/* relaxed: a count for the launcher */
	atomic_fetch_add_explicit(&self->slot->threads_asleep, 1, memory_order_relaxed);
	return pldi_sleep_publish(self, s);
}

void pldi_sleep_end(struct pldi_rank *self, bool published)
{
	struct pldi_wait_shm *w = &self->slot->wait;

	if (published) {
		atomic_store_explicit(&w->kind, PLDI_WAIT_NONE, memory_order_relaxed);
		PLDI_DELAY();
		atomic_fetch_add_explicit(&w->epoch, 1, memory_order_release);
		/* release: pairs with the acquire in pldi_sleep_publish */
		atomic_store_explicit(&self->publishing, false, memory_order_release);
	}
	PLDI_DELAY();
	atomic_fetch_sub_explicit(&self->slot->threads_asleep, 1, memory_order_relaxed);
}

static int sleep_on_line(struct pldi_rank *self, struct pldi_line l, uint32_t x,
			 struct pldi_awaited who)
{
	struct pldi_sleep s = { .kind = PLDI_WAIT_LINE,
				.cmp = 1,
				.wanted = (int32_t)x,
				.word = l.v,
				.who = who,
				.deadline_ns = PLDI_NO_DEADLINE };
	bool published;
	uint32_t seen;
	int rc = 0;

	pldi_line_announce(l);
	published = pldi_sleep_begin(self, &s);
	while (!pldi_line_reached(seen = pldi_line_look(l), x)) {
		if (pldi_aborted(self)) {
			rc = -1;
			break;
		}
		/*
		 * Who ends the job wakes the lines that it finds published.  Of several threads
		 * one is; the others look for themselves, and for its place.
		 */
		published = published || pldi_sleep_publish(self, &s);
		pldi_line_sleep(l, seen, published ? PLDI_NO_DEADLINE : pldi_now_ns() + LOOK_NS);
	}
	pldi_sleep_end(self, published);
	pldi_line_leave(l);
	return rc;
}

static int wait_on_line(struct pldi_rank *self, struct pldi_line l, uint32_t x,
			struct pldi_awaited who)
{
	struct pldi_backoff backoff = { 0, 0, 0, 0 };

	while (!pldi_line_test(l, x))
		if (pldi_backoff(&backoff, &self->patience))
			return sleep_on_line(self, l, x, who);
	return 0;
}

int pldi_wait_line(struct pldi_rank *self, struct pldi_line l, uint32_t x, struct pldi_awaited who)
{
	int64_t since_ns;
	int rc;

	if (pldi_line_test(l, x))
		return 0;
	if (!pldi_observed(self->observe))
		return wait_on_line(self, l, x, who);
	since_ns = pldi_now_ns();
	rc = wait_on_line(self, l, x, who);
	pldi_observe_wait_ns(self->observe, pldi_now_ns() - since_ns);
	return rc;
}

/* Of a folder of threads, links beyond two are threads. */
bool pldi_alone(const struct pldi_rank *self)
{
	struct stat st;

	return self->nranks == 1 && stat("/proc/self/task", &st) == 0 && st.st_nlink == 3;
}
