/* t_lane.c - lines of streams into one file: what passes when, on a clock that the rows move. */
#include "config.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/unit.h"
#include "pldi_lane.h"

enum { STREAMS = 3, MS = 1000000 };

/*
 * Steps: "0abc" text of stream 0, "0." its end, "+50" milliseconds pass, "0A" it can answer
 * questions.  A '/' in a text stands for a newline.
 */
static const struct {
	const char *name;
	int label;
	const char *steps[12];
	const char *out; /* '/' as above */
} rows[] = {
	{ "a line", 0, { "0abc/" }, "abc/" },
	{ "a part waits", 0, { "0abc", "+1000" }, "" },
	{ "a part and its end", 0, { "0abc", "0d/" }, "abcd/" },
	{ "a line and a part", 0, { "0abc/de" }, "abc/" },
	{ "others go on", 0, { "0abc", "1x/", "0d/" }, "x/abcd/" },
	{ "end without newline", 0, { "0abc", "0." }, "abc" },
	{ "then another", 0, { "0abc", "0.", "1x/" }, "abc/x/" },
	{ "two ends", 0, { "0abc", "1x", "0.", "1." }, "abc/x" },
	{ "end with newline", 0, { "0abc/", "0.", "1x/" }, "abc/x/" },
	{ "end without text", 0, { "0.", "1x/" }, "x/" },
	{ "question", 0, { "0A", "0who? ", "+40" }, "" },
	{ "question after a while", 0, { "0A", "0who? ", "+60" }, "who? " },
	{ "question, answered", 0, { "0A", "0who? ", "+60", "0me/" }, "who? me/" },
	{ "question holds others", 0, { "0A", "0who? ", "+60", "1x/" }, "who? " },
	{ "question, its text goes on", 0, { "0A", "0who", "+60", "0? " }, "who? " },
	{ "broken question", 0, { "0A", "0who? ", "+60", "1x/", "+50" }, "who? \\/x/" },
	{ "broken question goes on",
	  0,
	  { "0A", "0who? ", "+60", "1x/", "+50", "0me/" },
	  "who? \\/x/\\me/" },
	{ "not broken while text comes",
	  0,
	  { "0A", "0a", "+60", "1x/", "+30", "0b", "+90", "0c", "+90", "0/" },
	  "abc/x/" },
	{ "broken question ends",
	  0,
	  { "0A", "0who? ", "+60", "1x/", "+50", "0.", "1y/" },
	  "who? \\/x/y/" },
	{ "a part of another breaks none", 0, { "0A", "1A", "0a", "1b", "+60", "+200" }, "a" },
	{ "owner ends inside", 0, { "0A", "0who", "+60", "1x/", "0." }, "who/x/" },
	{ "labels", 1, { "0abc/de/", "1x/" }, "[0] abc/[0] de/[1] x/" },
	{ "labels, empty lines", 1, { "0//" }, "[0] /[0] /" },
	{ "one label a line", 1, { "0a", "0b", "0/" }, "[0] ab/" },
	{ "labels, broken",
	  1,
	  { "0A", "0a", "+60", "1x/", "+50", "0b/c/" },
	  "[0] a\\/[1] x/[0] \\b/[0] c/" },
	{ "labels, two ends", 1, { "0a", "1b", "0.", "1." }, "[0] a/[1] b" },
};

struct bench {
	struct pldi_output output;
	struct pldi_lane lane;
	struct pldi_stream s[STREAMS];
	int file;
	int64_t now_ns;
	int label;
};

static void taken(struct pldi_output *o, struct pldi_stream *s)
{
	(void)o;
	(void)s;
}

static void bench_init(struct bench *b, int label)
{
	memset(b, 0, sizeof(*b));
	b->file = memfd_create("lane", 0);
	b->now_ns = 1;
	b->label = label;
	ck_assert(b->file >= 0 && pldi_lane_init(&b->lane, b->file) == 0);
	for (int i = 0; i < STREAMS; i++) {
		b->s[i] = (struct pldi_stream){ .lane = &b->lane,
						.fd = -1,
						.rank = i,
						.buf = malloc(PLDI_LINE_MOST),
						.cap = PLDI_LINE_MOST };
		ck_assert(b->s[i].buf != NULL);
	}
}

static void bench_free(struct bench *b)
{
	for (int i = 0; i < STREAMS; i++)
		free(b->s[i].buf);
	free(b->lane.out);
	close(b->file);
}

static void pump(struct bench *b)
{
	do {
		pldi_lane_fill(&b->lane, b->label, b->now_ns, taken, &b->output);
		pldi_lane_flush(&b->lane);
	} while (pldi_lane_more(&b->lane));
}

/* What output.c does with bytes that it has read; returns how many fit. */
static size_t give(struct bench *b, int stream, const char *text, size_t bytes)
{
	struct pldi_stream *s = &b->s[stream];
	const char *newline;

	memmove(s->buf, s->buf + s->head, s->len);
	s->head = 0;
	if (bytes > s->cap - s->len)
		bytes = s->cap - s->len;
	s->full = bytes == 0;
	memcpy(s->buf + s->len, text, bytes);
	newline = memrchr(text, '\n', bytes);
	if (newline)
		s->lines = s->len + (size_t)(newline - text) + 1;
	s->len += bytes;
	s->last_ns = b->now_ns;
	pldi_lane_sort(s);
	return bytes;
}

static void step(struct bench *b, const char *text)
{
	const int stream = *text - '0';
	char copy[64];

	if (*text == '+') {
		b->now_ns += atoll(text + 1) * MS;
	} else if (strcmp(text + 1, ".") == 0) {
		pldi_lane_end(&b->s[stream]);
	} else if (strcmp(text + 1, "A") == 0) {
		b->s[stream].answerable = true;
	} else {
		snprintf(copy, sizeof(copy), "%s", text + 1);
		for (char *c = copy; *c; c++)
			*c = *c == '/' ? '\n' : *c;
		give(b, stream, copy, strlen(copy));
	}
	pump(b);
}

START_TEST(passes)
{
	char out[256], *c;
	struct bench b;
	ssize_t n;

	bench_init(&b, rows[_i].label);
	for (int i = 0; rows[_i].steps[i]; i++)
		step(&b, rows[_i].steps[i]);
	n = pread(b.file, out, sizeof(out) - 1, 0);
	out[n > 0 ? n : 0] = '\0';
	for (c = out; *c; c++)
		*c = *c == '\n' ? '/' : *c;
	ck_assert_msg(strcmp(out, rows[_i].out) == 0, "%s: got '%s', wanted '%s'", rows[_i].name,
		      out, rows[_i].out);
	bench_free(&b);
}
END_TEST

/* Each line has a capital letter, then its small form; returns how many lines there are. */
static size_t check_whole(const char *out, size_t bytes)
{
	const char *end = out + bytes, *next;
	size_t got = 0;

	for (const char *p = out; p < end; p = next, got++) {
		next = memchr(p, '\n', (size_t)(end - p));
		next = next ? next + 1 : end;
		for (const char *q = p + 1; q < next - 1; q++)
			if (*q != *p - 'A' + 'a') /* ck_assert is slow */
				ck_abort_msg("line %zu: '%c' in one of '%c'", got, *q, *p);
	}
	return got;
}

/* Lines of random lengths, given in random pieces to three streams: each comes out whole. */
START_TEST(whole)
{
	static char line[3 * PLDI_LINE_MOST], out[64 << 20];
	const size_t longest[] = { 10, 3000, PLDI_LINE_MOST - 10, sizeof(line) - 10 };
	size_t at[STREAMS] = { 0 }, length[STREAMS] = { 0 }, count[STREAMS] = { 0 }, got;
	uint64_t state = (uint64_t)_i + 1;
	struct bench b;
	ssize_t n;

	bench_init(&b, 0);
	for (int i = 0; i < 3000; i++) {
		const int s = (int)(next_random(&state) % STREAMS);
		size_t piece;

		if (at[s] == length[s]) {
			at[s] = 0;
			length[s] = 2 + next_random(&state) % longest[_i];
			count[s]++;
		}
		memset(line, 'a' + s, length[s]);
		line[0] = (char)('A' + s);
		line[length[s] - 1] = '\n';
		piece = 1 + next_random(&state) % (length[s] - at[s]);
		if (next_random(&state) % 2)
			piece = length[s] - at[s];
		at[s] += give(&b, s, line + at[s], piece);
		if (next_random(&state) % 3 == 0)
			pump(&b);
	}
	for (int s = 0; s < STREAMS; s++) {
		pldi_lane_end(&b.s[s]);
		pump(&b);
	}
	n = pread(b.file, out, sizeof(out), 0);
	ck_assert(n > 0 && n < (ssize_t)sizeof(out));
	got = check_whole(out, (size_t)n);
	ck_assert_uint_eq(got, count[0] + count[1] + count[2]);
	bench_free(&b);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, passes, 0, ROWS(rows));
	tcase_add_loop_test(tc, whole, 0, 4);
}

int main(void)
{
	return unit_run("lane", add);
}
