/* counters.c - what ranks have counted, read from the segment: as a table, and as JSON. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "pldi_clock.h"
#include "pldi_inner.h"

/* ---- reading --------------------------------------------------------------------------------- */

int pldi_counters_open(const struct pldi_inner *in, struct pldi_counters *c)
{
	*c = (struct pldi_counters){ .copy = aligned_alloc(_Alignof(struct pldi_stats_shm),
							   pldi_stats_stride(in->l->nranks)) };
	return c->copy ? 0 : -1;
}

void pldi_counters_close(struct pldi_counters *c)
{
	free(c->copy);
	c->copy = NULL;
}

/* false: a number that no rank has counted.  relaxed: a copy that nobody else has. */
static bool take(const _Atomic int64_t *from, int64_t *to)
{
	*to = atomic_load_explicit(from, memory_order_relaxed);
	return *to >= 0;
}

static bool add(const _Atomic int64_t *from, int64_t *sum)
{
	int64_t n;

	return take(from, &n) && !__builtin_add_overflow(*sum, n, sum);
}

static bool take_all(const struct pldi_inner *in, struct pldi_counters *c)
{
	const struct pldi_stats_shm *s = c->copy;
	int64_t both = 0;

	for (int p = 0; p < in->l->nranks; p++)
		if (!add(&s->moved[p][0], &c->bytes_read) ||
		    !add(&s->moved[p][1], &c->bytes_written))
			return false;
	/* relaxed: as in take */
	c->acts = atomic_load_explicit(&s->acts, memory_order_relaxed);
	return !__builtin_add_overflow(c->bytes_read, c->bytes_written, &both) &&
	       take(&s->notifies, &c->notifies) && take(&s->waits, &c->waits) &&
	       take(&s->wait_ns, &c->wait_ns) && take(&s->collectives, &c->collectives);
}

void pldi_counters_read(const struct pldi_inner *in, int rank, struct pldi_counters *c)
{
	const size_t bytes = pldi_stats_stride(in->l->nranks);
	const uint64_t off = in->stats_off + (uint64_t)rank * in->stats_stride;
	uint32_t on;

	*c = (struct pldi_counters){ .copy = c->copy };
	if (!pldi_segment_read(in, c->copy, bytes, off))
		return;
	/* relaxed: as in take */
	on = atomic_load_explicit(&c->copy->on, memory_order_relaxed);
	if (on == 0) /* it never joined: it has counted nothing */
		memset(c->copy, 0, bytes);
	c->known = on <= 1 && take_all(in, c);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Sums are of numbers that a rank may have made up. */
static int64_t plus(int64_t a, int64_t b)
{
	return a <= INT64_MAX - b ? a + b : INT64_MAX;
}

static void row(FILE *to, const char *name, const struct pldi_counters *c)
{
	if (!c->known) {
		fprintf(to, "%5s %15s %15s %10s %10s %12s %12s\n", name, "?", "?", "?", "?", "?",
			"?");
		return;
	}
	fprintf(to,
		"%5s %15" PRId64 " %15" PRId64 " %10" PRId64 " %10" PRId64 " %12.3f %12" PRId64
		"\n",
		name, c->bytes_read, c->bytes_written, c->notifies, c->waits,
		(double)c->wait_ns / 1e6, c->collectives);
}

void pldi_table_write(const struct pldi_inner *in, struct pldi_counters *c, FILE *to)
{
	struct pldi_counters total = { .known = true };

	fprintf(to, "%5s %15s %15s %10s %10s %12s %12s\n", "rank", "bytes read", "bytes written",
		"notifies", "waits", "wait ms", "collectives");
	for (int r = 0; r < in->l->nranks; r++) {
		char name[16];

		snprintf(name, sizeof(name), "%d", r);
		pldi_counters_read(in, r, c);
		row(to, name, c);
		if (!c->known)
			continue;
		total.bytes_read = plus(total.bytes_read, c->bytes_read);
		total.bytes_written = plus(total.bytes_written, c->bytes_written);
		total.notifies = plus(total.notifies, c->notifies);
		total.waits = plus(total.waits, c->waits);
		total.wait_ns = plus(total.wait_ns, c->wait_ns);
		total.collectives = plus(total.collectives, c->collectives);
	}
	row(to, "total", &total);
	fputs("bytes: what calls read from and wrote to other ranks; what a program does through "
	      "pld_ptr and\npld_all is not counted\n",
	      to);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Bytes of the UTF-8 character at s (RFC 3629); 0: there is none. */
static int character(const unsigned char *s)
{
	const int n = *s < 0x80 ? 1 : *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;

	if (n == 1)
		return 1;
	/* beyond the first and the last; continuations; longer forms than needed, surrogates */
	if (*s < 0xc2 || *s > 0xf4)
		return 0;
	for (int i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static void json_string(FILE *to, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	fputc('"', to);
	while (*s) {
		int n = character(s);

		if (n == 0)
			fputs("\\ufffd", to); /* "replacement character" */
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(to, "\\u%04x", *s);
		else
			fprintf(to, "%s%.*s", *s == '"' || *s == '\\' ? "\\" : "", n,
				(const char *)s);
		s += n ? n : 1;
	}
	fputc('"', to);
}

static void json_number(FILE *to, const char *name, bool known, int64_t n)
{
	if (known)
		fprintf(to, ", \"%s\": %" PRId64, name, n);
	else
		fprintf(to, ", \"%s\": null", name);
}

static void json_text(FILE *to, const char *name, bool known, const char *text)
{
	fprintf(to, ", \"%s\": ", name);
	if (known)
		json_string(to, text);
	else
		fputs("null", to);
}

static int64_t ns_of(const struct timeval *t)
{
	return (int64_t)t->tv_sec * 1000000000 + (int64_t)t->tv_usec * 1000;
}

/* How a rank ended, as wait tells it, and which call of pld was its last. */
static void json_end(const struct pldi_inner *in, int rank, FILE *to)
{
	const struct pldi_proc *r = in->ranks ? &in->ranks[rank] : NULL;
	const bool ended = r && r->gone;
	const bool exited = ended && WIFEXITED(r->wait_status);
	const bool killed = ended && WIFSIGNALED(r->wait_status);
	struct pldi_last_call last = { "", "" };
	const bool called = ended && pldi_report_call(in, rank, &last);

	json_number(to, "code", exited, exited ? WEXITSTATUS(r->wait_status) : 0);
	json_number(to, "signal", killed, killed ? WTERMSIG(r->wait_status) : 0);
	json_text(to, "last_call", called, last.name);
	json_text(to, "last_line", called && *last.place, last.place);
	json_number(to, "cpu_ns", ended,
		    ended ? ns_of(&r->usage.ru_utime) + ns_of(&r->usage.ru_stime) : 0);
	/* the kernel counts in KiB */
	json_number(to, "max_memory_bytes", ended, ended ? r->usage.ru_maxrss * INT64_C(1024) : 0);
}

static void json_job(const struct pldi_inner *in, int status, FILE *to)
{
	const struct pldi_launch *l = in->l;
	char date[32] = "";
	struct tm t;

	if (gmtime_r(&in->begun.tv_sec, &t))
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &t);
	fputs("{\"job\": {\"program\": ", to);
	json_string(to, l->argv ? l->argv[0] : l->name);
	fprintf(to, ", \"nranks\": %d, \"exit_status\": %d, \"version\": \"%s\"", l->nranks, status,
		pld_version());
	fprintf(to, ", \"start\": \"%s.%03dZ\", \"elapsed_ns\": %" PRId64 "},\n \"ranks\": [", date,
		(int)(in->begun.tv_nsec / 1000000), pldi_now_ns() - in->begun_ns);
}

static void json_rank(const struct pldi_inner *in, int rank, const struct pldi_counters *c,
		      FILE *to)
{
	const int status = pldi_rank_status(in, rank);

	fprintf(to, "%s\n  {\"rank\": %d", rank ? "," : "", rank);
	json_number(to, "pid", status >= 0, status >= 0 ? in->ranks[rank].pid : 0);
	json_number(to, "exit_status", status >= 0, status);
	json_end(in, rank, to);
	json_number(to, "remote_bytes_read", c->known, c->bytes_read);
	json_number(to, "remote_bytes_written", c->known, c->bytes_written);
	json_number(to, "notifies", c->known, c->notifies);
	json_number(to, "waits", c->known, c->waits);
	json_number(to, "wait_ns", c->known, c->wait_ns);
	json_number(to, "collectives", c->known, c->collectives);
	fputs("}", to);
}

static void json_row(const struct pldi_inner *in, int rank, const struct pldi_counters *c, FILE *to)
{
	fprintf(to, "%s\n  [", rank ? "," : "");
	for (int p = 0; p < in->l->nranks; p++) {
		int64_t bytes = 0;

		if (p)
			fputs(", ", to);
		if (!c->known)
			fputs("null", to);
		else if (add(&c->copy->moved[p][0], &bytes) && add(&c->copy->moved[p][1], &bytes))
			fprintf(to, "%" PRId64, bytes);
	}
	fputs("]", to);
}

void pldi_report_write(const struct pldi_inner *in, struct pldi_counters *c, int status, FILE *to)
{
	json_job(in, status, to);
	for (int r = 0; r < in->l->nranks; r++) {
		pldi_counters_read(in, r, c);
		json_rank(in, r, c, to);
	}
	fputs("\n ],\n \"bytes\": [", to);
	for (int r = 0; r < in->l->nranks; r++) {
		pldi_counters_read(in, r, c);
		json_row(in, r, c, to);
	}
	fputs("\n ]}\n", to);
}
