/* multi.h - what the multi-rank tests share: named cases, and checks that say who failed. */
#ifndef MULTI_H
#define MULTI_H

#include <pld.h>

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* Who runs, and what. */
struct multi {
	const char *program, *row;
	int me, n;
};

struct multi_case {
	const char *name;
	void (*run)(const struct multi *m);
	int least; /* ranks it needs; 0: any number */
};

/* "signals: wrap: rank 1 of 4: ...": one line, then the end of the job. */
__attribute__((format(printf, 2, 3), noreturn)) static inline void multi_fail(const struct multi *m,
									      const char *fmt, ...)
{
	char line[1024];
	int n = snprintf(line, sizeof(line), "%s: %s: rank %d of %d: ", m->program, m->row, m->me,
			 m->n);
	va_list ap;

	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n] = '\n';
	if (write(STDERR_FILENO, line, (size_t)n + 1) < 0)
		_exit(2);
	_exit(1);
}

/* All ranks run all cases, with a barrier after each; what main returns. */
static inline int multi_run(const char *program, const struct multi_case *cases, int count)
{
	struct multi m = { .program = program };

	pld_init(NULL);
	m.me = pld_rank(pld_world());
	m.n = pld_nranks(pld_world());
	for (int i = 0; i < count; i++) {
		if (m.n < cases[i].least)
			continue;
		m.row = cases[i].name;
		cases[i].run(&m);
		pld_barrier(pld_world());
	}
	pld_finalize();
	return 0;
}

/* Many ranks take turns on few CPUs: fewer rounds of what all have to come to. */
static inline int multi_rounds(const struct multi *m, int rounds)
{
	return m->n <= 3 ? rounds : 1 + rounds * 3 / m->n;
}

/* ---- neighbours ------------------------------------------------------------------------------ */

static inline int multi_next(const struct multi *m)
{
	return (m->me + 1) % m->n;
}

static inline int multi_prev(const struct multi *m)
{
	return (m->me + m->n - 1) % m->n;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static inline void expect_int(const struct multi *m, const char *what, int64_t at, int64_t got,
			      int64_t wanted)
{
	if (got != wanted)
		multi_fail(m, "%s [%lld]: got %lld, wanted %lld", what, (long long)at,
			   (long long)got, (long long)wanted);
}

static inline void expect_float(const struct multi *m, const char *what, int64_t at, double got,
				double wanted)
{
	if (!(got == wanted))
		multi_fail(m, "%s [%lld]: got %.17g, wanted %.17g", what, (long long)at, got,
			   wanted);
}

static inline void expect_true(const struct multi *m, const char *what, int holds)
{
	if (!holds)
		multi_fail(m, "%s: does not hold", what);
}

static inline void expect_bytes(const struct multi *m, const char *what, const void *got,
				const void *wanted, size_t bytes)
{
	const unsigned char *g = got, *w = wanted;

	if (memcmp(got, wanted, bytes) == 0)
		return;
	for (size_t i = 0; i < bytes; i++)
		if (g[i] != w[i])
			multi_fail(m, "%s: byte %zu of %zu: got 0x%02x, wanted 0x%02x", what, i,
				   bytes, g[i], w[i]);
}

static inline void expect_filled(const struct multi *m, const char *what, const void *got,
				 unsigned char wanted, size_t bytes)
{
	const unsigned char *g = got;

	/* each byte is the one before it */
	if (bytes && g[0] == wanted && memcmp(g, g + 1, bytes - 1) == 0)
		return;
	for (size_t i = 0; i < bytes; i++)
		if (g[i] != wanted)
			multi_fail(m, "%s: byte %zu of %zu: got 0x%02x, wanted 0x%02x", what, i,
				   bytes, g[i], wanted);
}

static inline void expect_status(const struct multi *m, const char *what, int got, pl_status wanted)
{
	if (got != (int)wanted)
		multi_fail(m, "%s: got %s (%d), wanted %s; last error: %s", what,
			   pl_status_name((pl_status)got), got, pl_status_name(wanted),
			   pl_last_error()->text);
}

/* The thread's last error has this status, and this in its text; errors are PL_ERRORS_RETURN. */
static inline void expect_error(const struct multi *m, const char *what, pl_status wanted,
				const char *part)
{
	const struct pl_error *e = pl_last_error();

	if (e->status != wanted || !strstr(e->text, part))
		multi_fail(m, "%s: wanted %s with '%s', got %s of %s: %s", what,
			   pl_status_name(wanted), part, pl_status_name(e->status), e->call,
			   e->text);
}

/* ---- numbers and time ------------------------------------------------------------------------ */

/*
 * The same sequence every time and on every rank that starts with the same state, so that each
 * rank knows what the others do (the finalizer of splitmix64).
 */
static inline uint64_t multi_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* 0 .. below - 1 */
static inline int64_t multi_pick(uint64_t *state, int64_t below)
{
	return (int64_t)(multi_random(state) % (uint64_t)below);
}

/* A state of its own for each (a, b, c). */
static inline uint64_t multi_seed(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t s = a;

	s = multi_random(&s) + b;
	s = multi_random(&s) + c;
	return multi_random(&s);
}

static inline int64_t multi_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Sometimes nothing, sometimes some work, sometimes the CPU for another rank: shakes the order. */
static inline void multi_delay(uint64_t *state)
{
	uint64_t r = multi_random(state);

	if (r % 4 == 0)
		sched_yield();
	else if (r % 4 == 1)
		for (volatile unsigned i = (r >> 8) % 4096; i > 0; i--)
			continue;
}

/* ---- dtypes ---------------------------------------------------------------------------------- */

static const pl_dtype multi_dtypes[] = { PL_FP64,  PL_FP32,   PL_FP16,	 PL_BF16,
					 PL_INT8,  PL_INT16,  PL_INT32,	 PL_INT64,
					 PL_UINT8, PL_UINT16, PL_UINT32, PL_UINT64 };
enum { MULTI_DTYPES = ROWS(multi_dtypes) };

static inline int multi_is_float(pl_dtype t)
{
	return t <= PL_BF16;
}

/* An element as a number, whatever its dtype. */
static inline double multi_read(pl_tensor t, const pl_dims *at)
{
	return multi_is_float(pl_dtype_of(t)) ? pl_read_float(t, at) : (double)pl_read_int(t, at);
}

/* v is exact in t's dtype. */
static inline void multi_write(pl_tensor t, const pl_dims *at, int64_t v)
{
	if (multi_is_float(pl_dtype_of(t)))
		pl_write(t, at, (double)v);
	else
		pl_write(t, at, v);
}

#endif
