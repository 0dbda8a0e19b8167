/* report.c - what each rank is doing, read from its slot: one table for all who ask. */
#include "config.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pld/signal.h>

#include "pldi_clock.h"
#include "pldi_inner.h"
#include "pldi_process.h"

/* ---- the segment, as untrusted input --------------------------------------------------------- */

/*
 * A rank may write anything into the segment while this reads.  So a slot is read once, by a system
 * call into a copy (which cannot fault when the file was cut short, and gives no memory to holes),
 * and every number in it is checked.
 */
bool pldi_segment_read(const struct pldi_inner *in, void *to, size_t bytes, uint64_t off)
{
	return bytes <= in->seg.bytes && off <= in->seg.bytes - bytes &&
	       pread(in->seg.fd, to, bytes, (off_t)off) == (ssize_t)bytes;
}

struct view {
	struct pldi_slot_shm slot;
	struct pldi_sleeper sleeper;
	bool asleep;
};

static uint64_t slot_off(const struct pldi_inner *in, int rank)
{
	return in->slots_off + (uint64_t)rank * sizeof(struct pldi_slot_shm);
}

/* relaxed, here and below: a copy that nobody else has */
static void read_record(const struct pldi_wait_shm *w, struct pldi_sleeper *s)
{
	s->epoch = atomic_load_explicit(&w->epoch, memory_order_relaxed);
	s->kind = atomic_load_explicit(&w->kind, memory_order_relaxed);
	s->cmp = atomic_load_explicit(&w->cmp, memory_order_relaxed);
	s->wanted = atomic_load_explicit(&w->wanted, memory_order_relaxed);
	s->off = atomic_load_explicit(&w->off, memory_order_relaxed);
	s->index = atomic_load_explicit(&w->index, memory_order_relaxed);
	s->buffer = atomic_load_explicit(&w->buffer, memory_order_relaxed);
	s->peer = atomic_load_explicit(&w->peer, memory_order_relaxed);
	s->since_ns = atomic_load_explicit(&w->since_ns, memory_order_relaxed);
	s->deadline_ns = atomic_load_explicit(&w->deadline_ns, memory_order_relaxed);
	s->domain = atomic_load_explicit(&w->domain, memory_order_relaxed);
	s->call = atomic_load_explicit(&w->call, memory_order_relaxed);
	memcpy(s->name, w->name, sizeof(s->name));
	s->name[sizeof(s->name) - 1] = '\0';
}

bool pldi_report_sleeper(const struct pldi_inner *in, int rank, struct pldi_sleeper *s)
{
	struct pldi_wait_shm w;

	if (!in->ranks[rank].init ||
	    !pldi_segment_read(in, &w, sizeof(w),
			       slot_off(in, rank) + offsetof(struct pldi_slot_shm, wait)))
		return false;
	read_record(&w, s);
	return s->epoch % 2 == 1 && s->kind >= PLDI_WAIT_CELL && s->kind <= PLDI_WAIT_CELLS &&
	       s->since_ns > 0 && s->since_ns <= pldi_now_ns();
}

bool pldi_report_holds(const struct pldi_inner *in, const struct pldi_sleeper *s, int32_t *is)
{
	if (s->off % sizeof(*is) || !pldi_segment_read(in, is, sizeof(*is), s->off))
		return false;
	if (s->kind == PLDI_WAIT_LINE)
		return pldi_line_reached((uint32_t)*is, (uint32_t)s->wanted);
	return s->cmp == PLD_WAIT_EQ ? *is == s->wanted : *is >= s->wanted;
}

static bool look(const struct pldi_inner *in, int rank, struct view *v)
{
	struct pldi_sleeper again;

	if (!in->ranks[rank].init ||
	    !pldi_segment_read(in, &v->slot, sizeof(v->slot), slot_off(in, rank)))
		return false;
	read_record(&v->slot.wait, &v->sleeper);
	v->asleep = pldi_report_sleeper(in, rank, &again) && again.epoch == v->sleeper.epoch;
	return true;
}

pid_t pldi_report_pid(const struct pldi_inner *in, int rank)
{
	int32_t pid;

	if (!in->ranks[rank].init ||
	    !pldi_segment_read(in, &pid, sizeof(pid),
			       slot_off(in, rank) + offsetof(struct pldi_slot_shm, pid)))
		return in->ranks[rank].pid;
	/* started through others: one of the tree below them, or an orphan of it */
	if (pid == in->ranks[rank].pid || pldi_process_below(pid, in->ranks[rank].pid, getpid()))
		return pid;
	return -1;
}

/* ---- one rank, in words ---------------------------------------------------------------------- */

/* Text that a rank has written, as one line: no control characters reach a terminal. */
static void copy_line(char *to, const char *from, size_t bytes)
{
	size_t n = 0;

	for (; n < bytes - 1 && from[n]; n++)
		to[n] = isprint((unsigned char)from[n]) ? from[n] : '?';
	to[n] = '\0';
}

/* Of doing, and the site that it names; false: that is no operation. */
static bool split(uint32_t doing, const char *site, struct pldi_last_call *c)
{
	const char *name = pldi_opcode_name(doing >> 16);

	snprintf(c->name, sizeof(c->name), "%s", name);
	copy_line(c->place, site, sizeof(c->place));
	return isalpha((unsigned char)*name);
}

bool pldi_report_call(const struct pldi_inner *in, int rank, struct pldi_last_call *c)
{
	const uint64_t off = slot_off(in, rank);
	char site[PLDI_SITE_TEXT];
	uint32_t doing;

	return in->ranks[rank].init &&
	       pldi_segment_read(in, &doing, sizeof(doing),
				 off + offsetof(struct pldi_slot_shm, doing)) &&
	       pldi_segment_read(in, site, sizeof(site),
				 off + offsetof(struct pldi_slot_shm, site) +
					 doing % PLDI_SITES * sizeof(struct pldi_site_shm) +
					 offsetof(struct pldi_site_shm, text)) &&
	       split(doing, site, c);
}

/* "pld_wait at step.c:31"; "" when the slot holds no operation. */
static void call_text(const struct view *v, char *text, size_t bytes)
{
	/* relaxed: see read_record */
	const uint32_t doing = atomic_load_explicit(&v->slot.doing, memory_order_relaxed);
	struct pldi_last_call c;

	*text = '\0';
	if (split(doing, v->slot.site[doing % PLDI_SITES].text, &c))
		snprintf(text, bytes, "%s%s%s", c.name, *c.place ? " at " : "", c.place);
}

void pldi_report_doing(struct pldi_inner *in, int rank, char *text, size_t bytes)
{
	char call[128];
	struct view v;

	*text = '\0';
	if (!look(in, rank, &v))
		return;
	call_text(&v, call, sizeof(call));
	if (*call)
		snprintf(text, bytes, "%s %s", v.asleep ? " in" : "; its last call:", call);
}

/* How many calls a rank has made in a domain, by the flag whose count is at off; -1: not known. */
static int64_t calls_made(const struct pldi_inner *in, const struct pldi_sleeper *s)
{
	const uint64_t off = s->off - offsetof(struct pldi_flag_shm, v);
	int64_t made = -1;
	uint32_t seq;

	for (uint64_t i = 0; i < 2; i++) {
		if (!pldi_segment_read(in, &seq, sizeof(seq),
				       off + offsetof(struct pldi_flag_shm, call) +
					       i * sizeof(struct pldi_call_shm) +
					       offsetof(struct pldi_call_shm, seq)))
			return -1;
		made = seq > made ? seq : made;
	}
	return made;
}

static void domain_text(const struct pldi_sleeper *s, char *text, size_t bytes)
{
	if (s->domain)
		snprintf(text, bytes, "domain %" PRIu32, s->domain);
	else
		snprintf(text, bytes, "the world");
}

/* What a rank that sleeps waits for, what there is of it, and from whom it must come. */
static void wait_text(const struct pldi_inner *in, const struct pldi_sleeper *s, char *text,
		      size_t bytes)
{
	char value[16] = "?", name[PLDI_NAME_TEXT], domain[32], who[32] = "", part[96] = "";
	bool holds;
	int32_t is = 0;

	holds = pldi_report_holds(in, s, &is);
	domain_text(s, domain, sizeof(domain));
	if (s->peer >= 0 && s->peer < in->l->nranks)
		snprintf(who, sizeof(who), "rank %" PRId32, s->peer);
	if (s->kind == PLDI_WAIT_LINE && s->domain == PLDI_NO_CALL) {
		snprintf(text, bytes, "%" PRId32 " ranks of a new domain; %" PRId32 " have come",
			 s->wanted, is);
		return;
	}
	if (s->kind == PLDI_WAIT_LINE) {
		int64_t made = calls_made(in, s);

		if (made < s->call)
			snprintf(part, sizeof(part), "; it has made %" PRId64, made);
		snprintf(text, bytes, "%s in call %" PRIu32 " of %s%s", *who ? who : "a rank",
			 s->call, domain, made >= 0 ? part : "");
		return;
	}
	if (s->off % sizeof(is) == 0 && pldi_segment_read(in, &is, sizeof(is), s->off))
		snprintf(value, sizeof(value), "%" PRId32, is);
	copy_line(name, s->name, sizeof(name));
	if (s->domain != PLDI_NO_CALL)
		snprintf(part, sizeof(part), ", from %s in call %" PRIu32 " of %s",
			 *who ? who : "a rank", s->call, domain);
	snprintf(text, bytes,
		 "cell [%" PRId64 "] of window %" PRIu32 "%s%s%s %s %" PRId32 "%s%s; it is %s%s",
		 s->index, s->buffer, *name ? " '" : "", name, *name ? "'" : "",
		 s->cmp == PLD_WAIT_EQ ? "==" : ">=", s->wanted, part,
		 s->kind == PLDI_WAIT_CELLS ? ", or another condition" : "", value,
		 holds ? ", but was changed by no call that notifies"
		 : s->cmp == PLD_WAIT_EQ && is > s->wanted ? ", past it"
							   : "");
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { PID, STATE, CALL, WAITS, NCOLUMNS };
struct row {
	int rank;
	char text[NCOLUMNS][224];
	char error[PLDI_ERROR_TEXT]; /* the rank's last, or "" */
};

static void end_text(const struct pldi_proc *r, char *text, size_t bytes)
{
	if (WIFSIGNALED(r->wait_status))
		snprintf(text, bytes, "killed by signal %d", WTERMSIG(r->wait_status));
	else
		snprintf(text, bytes, "exit status %d%s", WEXITSTATUS(r->wait_status),
			 r->init && !r->final ? ", without pld_finalize" : "");
}

static void fill(const struct pldi_inner *in, int rank, struct row *row)
{
	const struct pldi_proc *r = &in->ranks[rank];
	struct pldi_process p = { .state = '?' };
	pid_t pid = pldi_report_pid(in, rank);
	const char *state = "computing";
	struct view v;

	*row = (struct row){ .rank = rank };
	if (!r->started) {
		snprintf(row->text[STATE], sizeof(row->text[0]), "not started");
		return;
	}
	snprintf(row->text[PID], sizeof(row->text[0]), "%d", (int)r->pid);
	if (r->gone) {
		snprintf(row->text[STATE], sizeof(row->text[0]), "has left");
		end_text(r, row->text[WAITS], sizeof(row->text[0]));
		return;
	}
	if (pid > 0)
		pldi_process_look(pid, &p);
	if (p.state == 'T' || p.state == 't')
		state = "stopped";
	else if (p.state == 'S' || p.state == 'D')
		state = "sleeping"; /* in a call that is not pld's */
	if (!look(in, rank, &v)) {
		snprintf(row->text[STATE], sizeof(row->text[0]), "%s", state);
		snprintf(row->text[CALL], sizeof(row->text[0]), "before pld_init");
		return;
	}
	call_text(&v, row->text[CALL], sizeof(row->text[0]));
	if (isalpha((unsigned char)v.slot.error.text[0]))
		copy_line(row->error, v.slot.error.text, sizeof(row->error));
	if (r->final) {
		snprintf(row->text[CALL], sizeof(row->text[0]), "after pld_finalize");
	} else if (v.asleep) {
		wait_text(in, &v.sleeper, row->text[WAITS], sizeof(row->text[0]));
		snprintf(row->text[STATE], sizeof(row->text[0]), "%s %.1f s",
			 *state == 's' && state[1] == 't' ? "stopped in a wait," : "waiting",
			 (double)(pldi_now_ns() - v.sleeper.since_ns) / 1e9);
		return;
	} else if (*row->text[CALL]) {
		memmove(row->text[CALL] + strlen("last "), row->text[CALL],
			strlen(row->text[CALL]) + 1);
		memcpy(row->text[CALL], "last ", strlen("last "));
	}
	snprintf(row->text[STATE], sizeof(row->text[0]), "%s", state);
}

static void print_row(FILE *to, const char *name, const char *rank, char text[NCOLUMNS][224],
		      const int width[NCOLUMNS])
{
	char line[2048];
	int n = snprintf(line, sizeof(line), "%s: %6s", name, rank);

	for (int c = 0; c < NCOLUMNS; c++)
		n += snprintf(line + n, sizeof(line) - (size_t)n, "  %-*s", width[c], text[c]);
	while (n && line[n - 1] == ' ')
		n--;
	fprintf(to, "%.*s\n", n, line);
}

void pldi_report_table(const struct pldi_inner *in, const int *order, int n, FILE *to)
{
	char head[NCOLUMNS][224] = { "pid", "state", "call", "waits for" };
	struct row *rows = calloc((size_t)n, sizeof(*rows));
	int width[NCOLUMNS];
	char rank[16];

	if (!rows)
		return;
	for (int c = 0; c < NCOLUMNS; c++)
		width[c] = (int)strlen(head[c]);
	for (int i = 0; i < n; i++) {
		fill(in, order[i], &rows[i]);
		for (int c = 0; c < NCOLUMNS; c++)
			if ((int)strlen(rows[i].text[c]) > width[c])
				width[c] = (int)strlen(rows[i].text[c]);
	}
	print_row(to, in->l->name, "rank", head, width);
	for (int i = 0; i < n; i++) {
		snprintf(rank, sizeof(rank), "%d", rows[i].rank);
		print_row(to, in->l->name, rank, rows[i].text, width);
	}
	for (int i = 0; i < n; i++)
		if (*rows[i].error)
			fprintf(to, "%s: rank %d's last error: %s\n", in->l->name, rows[i].rank,
				rows[i].error);
	free(rows);
}

static char *all_ranks(struct pldi_inner *in, const char *head)
{
	int *order = calloc((size_t)in->l->nranks, sizeof(*order));
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (order && to) {
		for (int r = 0; r < in->l->nranks; r++)
			order[r] = r;
		fprintf(to, "%s: %s\n", in->l->name, head);
		pldi_report_table(in, order, in->l->nranks, to);
	}
	if (to)
		fclose(to);
	free(order);
	return text;
}

void pldi_report_timeout(struct pldi_inner *in)
{
	char head[80], *text;

	snprintf(head, sizeof(head), "the time limit of %.10g s is over (--timeout)",
		 (double)in->l->timeout_ns / 1e9);
	text = all_ranks(in, head);
	if (text)
		pldi_say_text(in, text, strlen(text));
	free(text);
}

void pldi_report_now(struct pldi_inner *in)
{
	char head[80], *text;

	snprintf(head, sizeof(head), "report after %.1f s (--report-now)",
		 (double)(pldi_now_ns() - in->begun_ns) / 1e9);
	text = all_ranks(in, head);
	if (text)
		pldi_output_say(&in->out, text, strlen(text));
	free(text);
}
