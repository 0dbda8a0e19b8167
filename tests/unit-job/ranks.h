/*
 * ranks.h - a job whose ranks are threads of one process over one mapping of its segment, so that a
 * thread sanitizer sees every access of every rank.
 */
#ifndef RANKS_H
#define RANKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "../unit/unit.h"

#include "pldi_rank.h"

#define RANKS_MOST 16

struct ranks_job;

/* What a rank's thread has. */
struct ranks_thread {
	struct ranks_job *job;
	struct pldi_rank *self;
	struct pldi_errors errors;
	pthread_t thread;
};

struct ranks_job {
	struct pldi_segment seg;
	int n;
	void (*body)(struct pldi_rank *self, void *arg);
	void *arg;
	_Atomic int failed;
	struct ranks_thread ranks[RANKS_MOST];
};

/* Objects of ranks stay until the process ends, reachable for a leak checker. */
static inline void ranks_keep(struct pldi_rank *self)
{
	static struct pldi_rank *volatile kept[1 << 14];
	static int n;

	ck_assert(self != NULL && n < (int)(sizeof(kept) / sizeof(kept[0])));
	kept[n++] = self;
}

/* A rank of a new job of n, for a test that needs no others. */
static inline struct pldi_rank *ranks_make(int n, int32_t rank, int64_t reserve)
{
	struct pldi_segment seg;
	struct pldi_params params;
	struct pldi_rank *self;
	char text[512];

	ck_assert_int_eq(pldi_params_read(&params, text, sizeof(text)), 0);
	ck_assert_msg(pldi_segment_create(n, reserve, 0, &seg, text, sizeof(text)) == 0, "%s",
		      text);
	self = pldi_rank_new(&seg, rank, -1, &params);
	ranks_keep(self);
	return self;
}

static inline void ranks_failed(int line, const char *what)
{
	const struct pl_error *e = pl_last_error();
	struct ranks_thread *t = (struct ranks_thread *)pldi_errors()->handler_arg;

	/* relaxed: a count, read when the thread has been joined */
	atomic_fetch_add_explicit(&t->job->failed, 1, memory_order_relaxed);
	fprintf(stderr, "rank %d, line %d: %s; last error: %s of %s: %s\n", t->self->rank, line,
		what, pl_status_name(e->status), e->call, e->text);
}

/* In a rank's thread, where Check cannot be asked. */
#define RANK_HOLDS(what) ((what) ? (void)0 : ranks_failed(__LINE__, #what))

static inline void ranks_seen(const struct pl_error *e, void *arg)
{
	(void)e;
	(void)arg;
}

static inline void *ranks_main(void *arg)
{
	struct ranks_thread *t = arg;

	pldi_self_use(t->self);
	pldi_errors_use(&t->errors);
	t->job->body(t->self, t->job->arg);
	return NULL;
}

/*
 * Runs body in n ranks.  They do not leave the job, which would take the mapping from the others;
 * their objects stay, like those of ranks that have left.
 */
static inline void ranks_run(int n, void (*body)(struct pldi_rank *self, void *arg), void *arg)
{
	struct ranks_job job = { .n = n, .body = body, .arg = arg };
	struct pldi_params params;
	char text[512];

	ck_assert_int_eq(pldi_params_read(&params, text, sizeof(text)), 0);
	ck_assert_msg(pldi_segment_create(n, 64 << 20, 0, &job.seg, text, sizeof(text)) == 0, "%s",
		      text);
	for (int r = 0; r < n; r++) {
		struct ranks_thread *t = &job.ranks[r];

		t->job = &job;
		t->self = pldi_rank_new(&job.seg, r, -1, &params);
		ranks_keep(t->self);
		atomic_init(&t->errors.mode, PL_ERRORS_RETURN);
		t->errors.handler = ranks_seen;
		t->errors.handler_arg = t;
	}
	for (int r = 0; r < n; r++)
		ck_assert_int_eq(pthread_create(&job.ranks[r].thread, NULL, ranks_main,
						&job.ranks[r]),
				 0);
	for (int r = 0; r < n; r++)
		pthread_join(job.ranks[r].thread, NULL);
	pldi_segment_close(&job.seg);
	ck_assert_msg(job.failed == 0, "%d of the %d ranks' checks failed", job.failed, n);
}

static const int ranks_counts[] = { 1, 2, 3, 5, 8 };

#endif
