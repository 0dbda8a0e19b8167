/* abort.c - how an error ends the whole job: one rank prints, all end. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pldi_delay.h"
#include "pldi_futex.h"
#include "pldi_job.h"

bool pldi_abort_claim(void *base, int32_t by, int32_t status)
{
	uint32_t none = 0, word = (1 + (uint32_t)by) | (uint32_t)(status & 0xff) << 16;

	/* relaxed: one word says all, and orders nothing */
	return atomic_compare_exchange_strong_explicit(&pldi_head(base)->aborted, &none, word,
						       memory_order_relaxed, memory_order_relaxed);
}

int32_t pldi_abort_by(const void *base, int32_t *status)
{
	const struct pldi_head_shm *h = base;
	uint32_t word = atomic_load_explicit(&h->aborted, memory_order_relaxed);

	*status = (int32_t)(word >> 16 & 0xff);
	return (int32_t)(word & 0xffff) - 1;
}

void pldi_abort_wake(struct pldi_slot_shm *slot, void *base, uint64_t bytes)
{
	struct pldi_bell bell = { &slot->doorbell, &slot->sleepers };
	uint64_t off;

	pldi_bell_ring(bell);
	/* relaxed: a stale offset wakes somebody who looks again and sleeps on */
	off = atomic_load_explicit(&slot->wait.off, memory_order_relaxed);
	PLDI_DELAY();
	if (atomic_load_explicit(&slot->wait.kind, memory_order_relaxed) == PLDI_WAIT_LINE &&
	    off % sizeof(uint32_t) == 0 && off <= bytes - sizeof(uint32_t))
		pldi_futex_wake((_Atomic uint32_t *)(void *)((char *)base + off));
}

void pldi_abort_ring(void *base, uint64_t bytes)
{
	for (int32_t r = 0; r < pldi_head(base)->nranks; r++)
		pldi_abort_wake(pldi_slot(base, r), base, bytes);
}

/* What the program has printed so far comes out, unless another thread holds the stream. */
static void flush_stdout(void)
{
	if (ftrylockfile(stdout) == 0) {
		fflush_unlocked(stdout);
		funlockfile(stdout);
	}
}

/* rank < 0: of a process that never was one. */
static void print_error(int32_t rank, const struct pl_error *e)
{
	char line[2048], who[32] = "";
	int n;

	if (rank >= 0)
		snprintf(who, sizeof(who), "rank %d: ", rank);
	n = snprintf(line, sizeof(line) - 1, "pld: %s%s: %s%s%s", who, e->call, e->text,
		     *e->where ? ", " : "", e->where);
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n] = '\n';
	/* one write: lines of other ranks do not come between */
	if (write(STDERR_FILENO, line, (size_t)n + 1) < 0)
		return; /* nobody to tell */
}

/*
 * The first to end the job says why and wakes the others; they take its status, which is 0 only of
 * pld_abort(0): the launcher asks who began it before it believes one.
 */
_Noreturn static void end_job(struct pldi_rank *self, const struct pl_error *e, int32_t status)
{
	if (pldi_abort_claim(self->seg.base, self->rank, status)) {
		if (*e->text)
			print_error(self->rank, e);
		PLDI_DELAY();
		pldi_tell(self, PLDI_TOLD_ERROR);
		PLDI_DELAY();
		pldi_abort_ring(self->seg.base, self->seg.bytes);
	}
	PLDI_DELAY();
	pldi_abort_by(self->seg.base, &status);
	flush_stdout();
	_exit(status);
}

/* A process that is no rank, or none yet. */
_Noreturn static void end_process(const struct pldi_rank *self, const struct pl_error *e,
				  int status)
{
	int32_t rank = self ? self->rank : -1;
	int status_fd;
	struct pldi_head_shm *h = self ? NULL : pldi_launched_head(&rank, &status_fd);

	if (h && !pldi_abort_claim(h, rank, status)) {
		pldi_abort_by(h, &status);
	} else {
		if (*e->text)
			print_error(rank, e);
		if (h)
			pldi_tell_as(rank, status_fd, PLDI_TOLD_ERROR);
	}
	flush_stdout();
	_exit(status);
}

void pldi_end_job(const struct pl_error *e)
{
	const int status = e->status == PL_EDEADLOCK ? PLDI_EXIT_DEADLOCK : EXIT_FAILURE;
	struct pldi_rank *self = pldi_self();

	if (self && !self->forked && !self->final_where)
		end_job(self, e, status);
	end_process(self, e, status);
}

void pldi_note_error(const struct pl_error *e)
{
	struct pldi_rank *self = pldi_self();

	/* that the job ends is no reason of this rank's */
	if (!self || self->forked || !self->slot || e->status == PL_EABORTED)
		return;
	/* an error may be born under the mutex: better no note than a wait for oneself */
	if (pthread_mutex_trylock(&self->mutex))
		return;
	snprintf(self->slot->error.text, sizeof(self->slot->error.text), "%s: %s%s%s", e->call,
		 e->text, *e->where ? ", " : "", e->where);
	pthread_mutex_unlock(&self->mutex);
}

pl_status pldi_fail_aborted(struct pldi_rank *self, const char *call, const char *where)
{
	int32_t status, by = pldi_abort_by(self->seg.base, &status);

	if (by >= 0 && by < self->nranks)
		return pldi_fail(PL_EABORTED, call, where, "the job ends: rank %d failed", by);
	return pldi_fail(PL_EABORTED, call, where, "the job ends");
}

void(pld_abort)(int exit_status, const char *why, const char *where)
{
	struct pldi_rank *self = pldi_self();
	struct pl_error e = { PL_EABORTED, "pld_abort", where ? where : "", why ? why : "" };

	if (exit_status < 0 || exit_status > 255)
		exit_status = EXIT_FAILURE;
	if (self && !self->forked && !self->final_where)
		end_job(self, &e, exit_status);
	end_process(self, &e, exit_status);
}
