/* report.c - what ranks are doing, read from their slots. */
#include "config.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pld/signal.h>

#include "pldi_clock.h"
#include "pldi_inner.h"

/*
 * A rank may write anything into the segment while this reads.  So a slot is read once, by a system
 * call into a copy (which cannot fault when the file was cut short, and gives no memory to holes),
 * and every number in it is checked.
 */
struct view {
	struct pldi_slot_shm slot;
	bool asleep;
};

bool pldi_segment_read(const struct pldi_inner *in, void *to, size_t bytes, uint64_t off)
{
	return bytes <= in->seg.bytes && off <= in->seg.bytes - bytes &&
	       pread(in->seg.fd, to, bytes, (off_t)off) == (ssize_t)bytes;
}

static bool look(const struct pldi_inner *in, int rank, struct view *v)
{
	const uint64_t off = in->slots_off + (uint64_t)rank * sizeof(v->slot);
	struct pldi_wait_shm again;

	if (!pldi_segment_read(in, &v->slot, sizeof(v->slot), off))
		return false;
	/* relaxed, here and below: a copy that nobody else has */
	v->asleep = atomic_load_explicit(&v->slot.wait.epoch, memory_order_relaxed) % 2 == 1 &&
		    pldi_segment_read(in, &again, sizeof(again),
				      off + offsetof(struct pldi_slot_shm, wait)) &&
		    memcmp(&again, &v->slot.wait, sizeof(again)) == 0;
	return true;
}

/* "pld_wait at step.c:31"; "" when the slot holds no operation. */
static void call_text(const struct view *v, char *text, size_t bytes)
{
	uint32_t doing = atomic_load_explicit(&v->slot.doing, memory_order_relaxed);
	const char *site = v->slot.site[doing % PLDI_SITES].text;
	const char *name = pldi_opcode_name(doing >> 16);
	char place[PLDI_SITE_TEXT];
	size_t n = 0;

	for (; n < sizeof(place) - 1 && site[n]; n++)
		place[n] = isprint((unsigned char)site[n]) ? site[n] : '?';
	place[n] = '\0';
	*text = '\0';
	if (isalpha((unsigned char)*name))
		snprintf(text, bytes, "%s%s%s", name, n ? " at " : "", place);
}

void pldi_report_doing(struct pldi_inner *in, int rank, char *text, size_t bytes)
{
	char call[128];
	struct view v;

	*text = '\0';
	if (!in->ranks[rank].init || !look(in, rank, &v))
		return;
	call_text(&v, call, sizeof(call));
	if (*call)
		snprintf(text, bytes, "%s %s", v.asleep ? " in" : "; its last call:", call);
}

/* The wait of a rank that is asleep. */
static void wait_text(const struct pldi_inner *in, const struct view *v, char *text, size_t bytes)
{
	const struct pldi_wait_shm *w = &v->slot.wait;
	int64_t since_ns = atomic_load_explicit(&w->since_ns, memory_order_relaxed);
	uint64_t off = atomic_load_explicit(&w->off, memory_order_relaxed);
	uint32_t cmp = atomic_load_explicit(&w->cmp, memory_order_relaxed);
	int32_t wanted = atomic_load_explicit(&w->wanted, memory_order_relaxed), is;
	int32_t peer = atomic_load_explicit(&w->peer, memory_order_relaxed);
	char value[16] = "?", who[32] = "";

	if (off % sizeof(is) == 0 && pldi_segment_read(in, &is, sizeof(is), off))
		snprintf(value, sizeof(value), "%" PRId32, is);
	if (peer >= 0 && peer < in->l->nranks)
		snprintf(who, sizeof(who), " for rank %" PRId32, peer);
	if (atomic_load_explicit(&w->kind, memory_order_relaxed) == PLDI_WAIT_CELL)
		snprintf(text, bytes,
			 ", for %.1f s: cell [%" PRId64 "] of window %" PRIu32
			 " is %s, wanted %s %" PRId32,
			 (double)(pldi_now_ns() - since_ns) / 1e9,
			 atomic_load_explicit(&w->index, memory_order_relaxed),
			 atomic_load_explicit(&w->buffer, memory_order_relaxed), value,
			 cmp == PLD_WAIT_EQ ? "==" : ">=", wanted);
	else
		snprintf(text, bytes, ", for %.1f s: waits%s",
			 (double)(pldi_now_ns() - since_ns) / 1e9, who);
}

/* 'T' of a process that is stopped; '?': cannot be read. */
static char process_state(pid_t pid)
{
	char path[48], text[256], *name_end;
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '?';
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	name_end = strrchr(text, ')');
	return name_end && name_end[1] && name_end[2] ? name_end[2] : '?';
}

static void say_rank(struct pldi_inner *in, int rank)
{
	const struct pldi_proc *r = &in->ranks[rank];
	char call[128] = "", wait[160] = "";
	const char *state = "computing";
	struct view v;

	if (r->gone) {
		pldi_say(in, "rank %d has ended with exit status %d", rank,
			 WEXITSTATUS(r->wait_status));
		return;
	}
	if (process_state(r->pid) == 'T' || process_state(r->pid) == 't')
		state = "stopped";
	if (!r->init || !look(in, rank, &v)) {
		pldi_say(in, "rank %d (pid %d): %s, has not called pld_init", rank, (int)r->pid,
			 state);
		return;
	}
	call_text(&v, call, sizeof(call));
	if (r->final) {
		pldi_say(in, "rank %d (pid %d): %s, after pld_finalize", rank, (int)r->pid, state);
	} else if (v.asleep) {
		wait_text(in, &v, wait, sizeof(wait));
		pldi_say(in, "rank %d (pid %d): %s in %s%s", rank, (int)r->pid,
			 *state == 's' ? "stopped" : "asleep", call, wait);
	} else {
		pldi_say(in, "rank %d (pid %d): %s, last call %s", rank, (int)r->pid, state, call);
	}
}

void pldi_report_all(struct pldi_inner *in)
{
	pldi_say(in, "the time limit of %.10g s is over (--timeout)",
		 (double)in->l->timeout_ns / 1e9);
	for (int r = 0; r < in->l->nranks; r++)
		say_rank(in, r);
}
