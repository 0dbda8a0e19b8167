/* rank.c - a process becomes a rank, and stops being one. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pl/tensor.h>

#include "pldi_agree.h"
#include "pldi_delay.h"
#include "pldi_domain.h"
#include "pldi_launched.h"
#include "pldi_opts.h"
#include "pldi_rank.h"
#include "pldi_tensor.h"

#define FD_HIGH 400 /* above what programs take for themselves */

static struct pldi_rank *process_rank; /* the newest; former ones hang off it */
static _Thread_local struct pldi_rank *thread_rank;
static void (*leave_hook)(struct pldi_rank *self);

struct pldi_rank *pldi_self(void)
{
	return thread_rank ? thread_rank : process_rank;
}

void pldi_self_use(struct pldi_rank *self)
{
	thread_rank = self;
}

void pldi_at_leave(void (*fn)(struct pldi_rank *self))
{
	leave_hook = fn;
}

/* ---- what may be called ---------------------------------------------------------------------- */

struct pldi_rank *pldi_live(enum pldi_right c, const char *call, const char *where)
{
	struct pldi_rank *self = pldi_self();

	if (!self) {
		pldi_fail(PL_ELEVEL, call, where, "called before pld_init");
		return NULL;
	}
	return pldi_may(self, c, call, where) == PL_OK ? self : NULL;
}

pl_status pldi_may_not(struct pldi_rank *self, const char *call, const char *where)
{
	static const char *const levels[] = { "no", "host", "device", "in-core" };
	static const char *const allowed[] = { "", "memory, domains, collectives and PLD_DISPATCH",
					       "PLD_INCORE",
					       "tiles, signals, remote memory and collectives" };
	const struct pldi_open_level *open;

	if (self->forked)
		return pldi_fail(PL_ELEVEL, call, where,
				 "called in a forked child, which is no rank");
	if (self->final_where)
		return pldi_fail(PL_ELEVEL, call, where, "called after pld_finalize at %s",
				 self->final_where);
	if (self->depth == 0)
		return pldi_fail(PL_ELEVEL, call, where,
				 "outside PLD_HOST; PLD_DISPATCH belongs inside it, PLD_INCORE "
				 "inside PLD_DISPATCH");
	open = &self->open[self->depth - 1];
	return pldi_fail(PL_ELEVEL, call, where,
			 "not allowed at %s level, which began at %s; here: %s",
			 levels[open->level], open->where, allowed[open->level]);
}

/* ---- what the launcher is told --------------------------------------------------------------- */

/* A program may have closed it, and opened a file of its own under its number. */
static bool has_status_fd(const struct pldi_rank *self)
{
	struct stat st;

	return self->status_fd >= 0 && fstat(self->status_fd, &st) == 0 &&
	       st.st_dev == self->status_dev && st.st_ino == self->status_ino;
}

void pldi_tell_as(int32_t rank, int status_fd, enum pldi_told what)
{
	struct pldi_told_msg msg = { (uint32_t)rank, what };

	while (write(status_fd, &msg, sizeof(msg)) < 0 && errno == EINTR)
		continue;
}

void pldi_tell(const struct pldi_rank *self, enum pldi_told what)
{
	if (has_status_fd(self))
		pldi_tell_as(self->rank, self->status_fd, what);
}

void pldi_errors_of_job(void)
{
	pldi_errors()->end = pldi_end_job;
	pldi_errors()->note = pldi_note_error;
}

/* Out of the program's way; the original goes. */
static int move_high(int fd)
{
	struct rlimit files;
	int least = FD_HIGH, high;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur <= FD_HIGH + 2)
		least = files.rlim_cur > 8 ? (int)files.rlim_cur - 4 : 3;
	high = fcntl(fd, F_DUPFD_CLOEXEC, least);
	if (high < 0) {
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		return fd;
	}
	close(fd);
	return high;
}

/* ---- a rank ---------------------------------------------------------------------------------- */

static void choose_patience(struct pldi_rank *self)
{
	const struct pldi_head_shm *h = self->seg.base;
	bool own_cpu = self->nranks <= h->cpus;

	self->patience.spin_ns = self->params.SPIN_US >= 0 ? self->params.SPIN_US * 1000
				 : own_cpu		   ? 20000
							   : 0;
	self->patience.yields = (int32_t)(self->params.YIELDS >= 0 ? self->params.YIELDS
					  : own_cpu		   ? 0
								   : 100);
}

/* A slot is claimed once: a second process of the same rank would corrupt the first. */
static pl_status claim_slot(struct pldi_rank *self, const char *call, const char *where)
{
	int32_t none = 0;

	/* relaxed: the slot's contents belong to whoever wins */
	if (!atomic_compare_exchange_strong_explicit(&self->slot->pid, &none, self->pid,
						     memory_order_relaxed, memory_order_relaxed))
		return pldi_fail(PL_EINVAL, call, where,
				 "rank %d is process %d already; a second "
				 "process cannot be the same rank",
				 self->rank, none);
	PLDI_DELAY();
	atomic_store_explicit(&self->slot->state, PLDI_SLOT_INIT, memory_order_relaxed);
	return PL_OK;
}

struct pldi_rank *pldi_rank_new(const struct pldi_segment *seg, int32_t rank, int status_fd,
				const struct pldi_params *params)
{
	const struct pldi_head_shm *h = seg->base;
	struct pldi_rank *self = calloc(1, sizeof(*self));
	int32_t *list = calloc((size_t)h->nranks, sizeof(*list));
	struct stat st;

	if (!self || !list)
		goto free;
	self->rank = rank;
	self->nranks = h->nranks;
	self->seg = *seg;
	self->slot = pldi_slot(seg->base, rank);
	self->pid = (int32_t)getpid();
	self->status_fd = status_fd;
	if (status_fd >= 0 && fstat(status_fd, &st) == 0) {
		self->status_dev = st.st_dev;
		self->status_ino = st.st_ino;
	}
	self->params = *params;
	pthread_mutex_init(&self->mutex, NULL);
	choose_patience(self);
	for (int32_t r = 0; r < h->nranks; r++)
		list[r] = r;
	self->world = pldi_domain_new(self, 0, list, h->nranks, rank);
	if (!self->world)
		goto free;
	free(list);
	/* relaxed: no other thread knows self yet */
	atomic_store_explicit(&self->may, PLDI_MAY_SPMD, memory_order_relaxed);
	return self;

free:
	free(list);
	free(self);
	return NULL;
}

/* exit(0) between pld_init and pld_finalize is an error; where there is a launcher, it says so. */
static void at_exit(int status, void *arg)
{
	struct pldi_rank *self = process_rank;

	(void)arg;
	if (status || !self || self->final_where || self->forked || self->status_fd >= 0 ||
	    self->pid != (int32_t)getpid())
		return;
	fprintf(stderr, "pld: rank %d: exit with 0 after pld_init at %s, without pld_finalize\n",
		self->rank, self->init_where);
	fflush(NULL);
	_exit(EXIT_FAILURE);
}

static void in_forked_child(void)
{
	for (struct pldi_rank *r = process_rank; r; r = r->former) {
		r->forked = true;
		/* relaxed: this thread is alone in the child */
		atomic_store_explicit(&r->may, 0, memory_order_relaxed);
	}
}

static void once_a_process(void)
{
	on_exit(at_exit, NULL);
	pthread_atfork(NULL, NULL, in_forked_child);
}

/* The death of the launcher is the death of its ranks, also of one that it started through a
 * wrapper; and a launcher that is dead already cannot send a signal. */
static void follow_launcher(const struct pldi_rank *self)
{
	struct pollfd p = { .fd = self->status_fd, .events = POLLOUT };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (poll(&p, 1, 0) == 1 && p.revents & POLLERR)
		_exit(EXIT_FAILURE);
}

static pl_status map_or_create(const struct pldi_launched *l, int64_t reserve_bytes,
			       struct pldi_segment *seg, const char *call, const char *where)
{
	char text[512];
	int rc = l->nranks ? pldi_segment_map(l->seg_fd, seg, text, sizeof(text))
			   : pldi_segment_create(1, reserve_bytes, 0, seg, text, sizeof(text));

	return rc ? pldi_fail(PL_ESYS, call, where, "%s", text) : PL_OK;
}

/* All or nothing: after an error the process is as before. */
static pl_status make_self(const struct pldi_launched *l, const struct pld_config *config,
			   const struct pldi_params *params, const char *call, const char *where)
{
	struct pldi_segment seg = { .fd = -1 };
	struct pldi_rank *self = NULL;
	pl_status rc = map_or_create(l, config->reserve_bytes, &seg, call, where);

	if (rc)
		return rc;
	if (l->nranks && l->nranks != pldi_head(seg.base)->nranks) {
		rc = pldi_fail(PL_EINVAL, call, where, "%s is %d, the job has %d ranks",
			       PLDI_ENV_NRANKS, l->nranks, pldi_head(seg.base)->nranks);
		goto unmap;
	}
	self = pldi_rank_new(&seg, l->rank, l->nranks ? l->status_fd : -1, params);
	if (!self) {
		rc = pldi_fail(PL_ENOMEM, call, where, "no memory for a rank's tables");
		goto unmap;
	}
	if ((rc = claim_slot(self, call, where)) ||
	    (rc = pldi_observe_start(self, config->counters, call, where)))
		goto delete;
	if (l->nranks) {
		self->seg.fd = move_high(l->seg_fd);
		self->status_fd = move_high(l->status_fd);
	}
	self->init_where = where ? where : "";
	self->former = process_rank;
	process_rank = self;
	return PL_OK;

	delete : pldi_domain_delete(self->world);
	free(self);
unmap:
	if (l->nranks)
		seg.fd = -1; /* the launcher's gift stays open */
	pldi_segment_close(&seg);
	return rc;
}

static pl_status become(const struct pldi_launched *l, const struct pld_config *config,
			const struct pldi_params *params, const char *call, const char *where)
{
	pl_status rc = pldi_config_check(config, l->nranks, call, where);

	if (rc)
		return rc;
	pldi_dynamic_reset();
	if ((rc = pldi_bind_env(call, where)) ||
	    (rc = pldi_bind("NR", l->nranks ? l->nranks : 1, call, where)))
		return rc;
	return make_self(l, config, params, call, where);
}

pl_status pldi_join(const struct pld_config *config, const char *call, const char *where)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct pldi_launched l;
	struct pldi_params params;
	struct pld_config known = { 0 };
	struct pldi_rank *self;
	char text[256];
	pl_status rc;

	pldi_errors_of_job();
	if (config && (rc = pldi_opts(&known, sizeof(known), config, 0, call, where)))
		return rc;
	if (pldi_params_read(&params, text, sizeof(text)))
		return pldi_fail(PL_EINVAL, call, where, "%s", text);
	if ((rc = pldi_launched_find(&l, call, where)))
		return rc;
	if ((rc = become(&l, &known, &params, call, where))) {
		if (l.handed) {
			close(l.seg_fd);
			close(l.status_fd);
		}
		return rc;
	}

	self = process_rank;
	pldi_segment_dump(&self->seg, (uint64_t)((char *)self->slot - (char *)self->seg.base),
			  sizeof(*self->slot), 1);
	pthread_once(&once, once_a_process);
	if (self->status_fd >= 0) {
		follow_launcher(self);
		setvbuf(stdout, NULL, _IOLBF, 0);
	}
	pldi_doing(self, PLDI_OP_INIT, where);
	PLDI_DELAY();
	pldi_tell(self, PLDI_TOLD_INIT);
	return PL_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */

pl_status(pld_init)(const struct pld_config *config, const char *where)
{
	struct pldi_rank *self = pldi_self();

	if (self && self->forked)
		return pldi_may_not(self, "pld_init", where);
	if (self)
		return pldi_fail(PL_ELEVEL, "pld_init", where,
				 "called a second time; the first was at "
				 "%s",
				 self->init_where);
	return pldi_join(config, "pld_init", where);
}

pl_status pldi_leave(struct pldi_rank *self, const char *where)
{
	const struct pldi_call what = { .op = PLDI_CALL_FINALIZE };
	pl_status rc;

	/* relaxed: a thread that begins to wait meanwhile breaks the same rule unseen */
	if (atomic_load_explicit(&self->slot->threads_asleep, memory_order_relaxed))
		return pldi_fail(PL_ELEVEL, "pld_finalize", where,
				 "another thread of this rank is waiting in pld");
	if ((rc = pldi_begin(self->world, "pld_finalize", where)))
		return rc;
	PLDI_DELAY();
	rc = pldi_agree_release(self->world, &what, where);
	pldi_end(self->world);
	if (rc)
		return rc;
	/* relaxed: other threads must be out of pld by now */
	atomic_store_explicit(&self->may, 0, memory_order_relaxed);
	self->final_where = where ? where : "";
	PLDI_DELAY();
	atomic_store_explicit(&self->slot->state, PLDI_SLOT_FINAL, memory_order_relaxed);
	if (leave_hook)
		leave_hook(self);
	pldi_errors()->end = NULL;
	pldi_errors()->note = NULL;
	PLDI_DELAY();
	pldi_tell(self, PLDI_TOLD_FINAL);
	if (has_status_fd(self))
		close(self->status_fd);
	if (!pldi_segment_has_fd(&self->seg))
		self->seg.fd = -1;
	PLDI_DELAY();
	self->slot = NULL;
	pldi_segment_close(&self->seg);
	return PL_OK;
}

pl_status(pld_finalize)(const char *where)
{
	struct pldi_rank *self = pldi_live(PLDI_MAY_FINALIZE, "pld_finalize", where);

	return self ? pldi_leave(self, where) : pl_last_error()->status;
}

const char *pld_version(void)
{
	return PACKAGE_VERSION;
}
