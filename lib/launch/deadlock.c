/*
 * deadlock.c - a job in which nobody can go on: every rank sleeps on what only another rank could
 * change.
 *
 * Only ranks change cells and lines, and a rank that sleeps changes none.  So a job is dead when
 * every live rank sleeps without a deadline and nothing that they wait for is there.  Ranks are not
 * looked at in one instant, so it takes two looks: the record of a sleep has an epoch that changes
 * at its begin and its end.  When all epochs are odd and as they were, all ranks slept at the same
 * time, between the looks.  Then what they wait for is read, and the epochs once more: a rank that
 * had been notified, woke, and sleeps again has another one.
 *
 * Not asleep, so that the job is not dead: a rank that computes, reads, polls with pld_test, has a
 * deadline, has not called pld_init, or is stopped (a debugger may go on with it).  Of a rank with
 * more threads than one another may be about to notify, and the same holds of a process that cannot
 * be seen (in a pid namespace of its own): when all have been quiet for a while, that is said once,
 * and the job goes on.
 *
 * What a rank waits for may be there although it sleeps: a store that is no notify has put it there
 * and woken nobody.  With all others asleep nobody will; that is a dead job, too, and its table
 * says so.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pldi_clock.h"
#include "pldi_inner.h"
#include "pldi_process.h"

#define LOOK_NS INT64_C(400000000)
#define UNTOLD_NS INT64_C(800000000) /* since all sleep: what is there will not be told */
#define WARN_NS INT64_C(2000000000)  /* since all sleep and no thread of theirs computes */

/* ---- is it one? ------------------------------------------------------------------------------ */

static bool live(const struct pldi_proc *r)
{
	/* after pld_finalize a rank cannot notify */
	return r->started && !r->gone && !r->final;
}

/* Whether all live ranks sleep, and have since the last look. */
static bool all_asleep(struct pldi_inner *in)
{
	struct pldi_sleeper s;
	bool same = true;
	int n = 0;

	for (int i = 0; i < in->l->nranks; i++) {
		struct pldi_proc *r = &in->ranks[i];

		if (!live(r))
			continue;
		n++;
		if (!pldi_report_sleeper(in, i, &s) || s.deadline_ns != PLDI_NO_DEADLINE)
			return false;
		same = same && s.epoch == r->epoch;
		r->epoch = s.epoch;
	}
	return n > 0 && same;
}

enum verdict { ALIVE, MAY_LIVE, UNTOLD, DEAD };

/* Of all ranks that sleep; why: of MAY_LIVE, the first rank that may, and the reason. */
static enum verdict judge(const struct pldi_inner *in, char *why, size_t bytes)
{
	enum verdict v = DEAD;
	struct pldi_process p;
	struct pldi_sleeper s;
	int32_t is;

	for (int i = 0; i < in->l->nranks; i++) {
		const struct pldi_proc *r = &in->ranks[i];
		bool seen, holds;

		if (!live(r))
			continue;
		seen = pldi_process_visible() && pldi_process_look(pldi_report_pid(in, i), &p) == 0;
		if (seen && p.state != 'S')
			return ALIVE;
		if (!pldi_report_sleeper(in, i, &s))
			return ALIVE;
		holds = pldi_report_holds(in, &s, &is);
		/* again: if it has not woken meanwhile, this is what it still waits for */
		if (!pldi_report_sleeper(in, i, &s) || s.epoch != r->epoch)
			return ALIVE;
		if (v != MAY_LIVE && !seen)
			snprintf(why, bytes, "the process of rank %d cannot be seen", i);
		else if (v != MAY_LIVE && p.threads > 1)
			snprintf(why, bytes,
				 "rank %d has %ld threads, one of which may still notify", i,
				 p.threads);
		if (!seen || p.threads > 1)
			v = MAY_LIVE;
		else if (holds && v == DEAD)
			v = UNTOLD;
	}
	return v;
}

/* Has any thread of a rank that sleeps used its CPU since the last call? */
static bool quiet(struct pldi_inner *in)
{
	struct pldi_process p;
	bool same = true;

	for (int i = 0; i < in->l->nranks; i++) {
		struct pldi_proc *r = &in->ranks[i];

		if (!live(r) || pldi_process_look(pldi_report_pid(in, i), &p))
			continue;
		same = same && p.cpu_ticks == r->cpu_ticks;
		r->cpu_ticks = p.cpu_ticks;
	}
	return same;
}

/* ---- the odd one out ------------------------------------------------------------------------- */

/* What tells a rank from others, and how many others want something of it. */
struct place {
	int rank, alike, wanted;
	uint32_t kind, domain, call, buffer;
	int32_t expected;
	struct pldi_last_call at;
};

static bool alike(const struct place *a, const struct place *b)
{
	if (a->kind != b->kind || a->domain != b->domain || a->call != b->call ||
	    strcmp(a->at.name, b->at.name) || strcmp(a->at.place, b->at.place))
		return false;
	/* cells of a collective call, and lines, are those of the awaited peer */
	return a->domain != PLDI_NO_CALL || (a->buffer == b->buffer && a->expected == b->expected);
}

/* Fewest of a kind first; of two alone, the one that more wait for. */
static int by_oddness(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;

	if (a->alike != b->alike)
		return a->alike < b->alike ? -1 : 1;
	if (a->wanted != b->wanted)
		return a->wanted > b->wanted ? -1 : 1;
	return a->rank < b->rank ? -1 : 1;
}

static int places(const struct pldi_inner *in, struct place *p)
{
	struct pldi_sleeper s;
	int n = 0;

	for (int i = 0; i < in->l->nranks; i++) {
		if (!live(&in->ranks[i]) || !pldi_report_sleeper(in, i, &s))
			continue;
		p[n] = (struct place){ .rank = i,
				       .kind = s.kind,
				       .domain = s.domain,
				       .call = s.call,
				       .buffer = s.buffer,
				       .expected = s.wanted };
		pldi_report_call(in, i, &p[n].at);
		n++;
	}
	for (int i = 0; i < n; i++) {
		if (!pldi_report_sleeper(in, p[i].rank, &s))
			continue;
		for (int k = 0; k < n; k++) {
			p[k].alike += alike(&p[i], &p[k]);
			p[k].wanted += s.peer == p[k].rank;
		}
	}
	return n;
}

/* All ranks, the odd ones first, then those that have left. */
static int order_ranks(const struct pldi_inner *in, int *order)
{
	struct place *p = calloc((size_t)in->l->nranks, sizeof(*p));
	int n = p ? places(in, p) : 0, all = 0;

	if (p)
		qsort(p, (size_t)n, sizeof(*p), by_oddness);
	for (int i = 0; i < n; i++)
		order[all++] = p[i].rank;
	for (int i = 0; i < in->l->nranks; i++) {
		bool listed = false;

		for (int k = 0; k < n; k++)
			listed = listed || p[k].rank == i;
		if (!listed)
			order[all++] = i;
	}
	free(p);
	return all;
}

/* ---- what is said ---------------------------------------------------------------------------- */

static char *table(const struct pldi_inner *in, const char *head)
{
	int *order = calloc((size_t)in->l->nranks, sizeof(*order));
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (order && to) {
		fprintf(to, "%s: %s\n", in->l->name, head);
		pldi_report_table(in, order, order_ranks(in, order), to);
	}
	if (to)
		fclose(to);
	free(order);
	return text;
}

static void end_dead(struct pldi_inner *in)
{
	char *text = table(in, "deadlock: every rank that is left waits, and only a rank could "
			       "end a wait");

	if (text)
		pldi_say_text(in, text, strlen(text));
	free(text);
	pldi_watch_verdict(in, PLDI_EXIT_DEADLOCK);
}

static void warn(struct pldi_inner *in, const char *why)
{
	char head[160], *text;

	snprintf(head, sizeof(head), "every rank that is left waits, but %s: the job goes on", why);
	text = table(in, head);
	if (text)
		pldi_output_say(&in->out, text, strlen(text));
	free(text);
	in->warned = true;
}

int64_t pldi_deadlock_look(struct pldi_inner *in, int64_t now_ns)
{
	char why[96] = "";
	enum verdict v;

	if (now_ns < in->look_ns)
		return in->look_ns;
	in->look_ns = now_ns + LOOK_NS;
	if (!all_asleep(in)) {
		in->asleep_ns = 0;
		return in->look_ns;
	}
	if (!in->asleep_ns)
		in->asleep_ns = now_ns;
	v = judge(in, why, sizeof(why));
	if (v == ALIVE || (v == MAY_LIVE && !quiet(in)))
		in->asleep_ns = 0;
	else if (v == DEAD || (v == UNTOLD && now_ns - in->asleep_ns >= UNTOLD_NS))
		end_dead(in);
	else if (v == MAY_LIVE && !in->warned && now_ns - in->asleep_ns >= WARN_NS)
		warn(in, why);
	return in->look_ns;
}
