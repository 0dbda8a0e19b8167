/* arena.c - each thread's stack of tiles, and the scopes that free them. */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pldi_params.h"
#include "pldi_tile.h"

/*
 * An arena is address space in which tiles are stacked; a scope remembers the top and puts it back.
 *
 * Each scope has a number that no other scope of the process ever had, and a thread keeps the
 * numbers of its open scopes by depth.  A tile carries depth and number of the scope that made it:
 * it lives just as long as its thread's open scope of that depth has that number.  So the check
 * reads nothing of the tile's memory, and a tile of another thread fails it too.  (Numbers come
 * around after 2^32 scopes; a tile must be kept that long, and meet its depth, to be mistaken.)
 */

enum { MOST_DEPTH = 1 << 20, IDS = 1024 };
static const size_t keep_bytes = (size_t)64 << 20; /* memory kept above the top at a scope's end */
static const size_t huge_bytes = (size_t)2 << 20;

struct arena {
	char *base;
	size_t bytes, top;
	size_t high; /* no page above it has been touched since it was last given back */
	uint32_t depth;
	uint32_t next_id, last_id; /* numbers this thread may give to scopes */
	uint32_t *scope;	   /* number of the open scope of each depth, 0 .. depth */
};

static _Thread_local struct arena *mine;
static pthread_key_t at_thread_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int no_key;
static _Atomic uint32_t ids = 1;
static _Atomic(pl_status (*)(const char *, const char *)) gate;

void pldi_tiles_gate(pl_status (*fn)(const char *call, const char *where))
{
	/* relaxed: set before tiles are used, by whoever starts the job */
	atomic_store_explicit(&gate, fn, memory_order_relaxed);
}

pl_status pldi_tiles_allowed(const char *call, const char *where)
{
	/* relaxed: see pldi_tiles_gate */
	pl_status (*fn)(const char *, const char *) =
		atomic_load_explicit(&gate, memory_order_relaxed);

	return __builtin_expect(fn != NULL, 0) ? fn(call, where) : PL_OK;
}

static void release(void *arena)
{
	struct arena *a = arena;

	munmap(a->base, a->bytes);
	munmap(a->scope, MOST_DEPTH * sizeof(*a->scope));
	free(a);
	mine = NULL;
}

static void make_key(void)
{
	no_key = pthread_key_create(&at_thread_exit, release);
}

static void *reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static uint32_t new_id(struct arena *a)
{
	if (a->next_id == a->last_id) {
		/* relaxed: only that no number is given out twice */
		a->next_id = atomic_fetch_add_explicit(&ids, IDS, memory_order_relaxed);
		a->last_id = a->next_id + IDS;
	}
	return a->next_id++;
}

/*
 * Where address space is scarce (ulimit -v, valgrind) a smaller arena does: a quarter each time, so
 * that it never takes the last of it.
 */
static int map_arena(struct arena *a, size_t bytes)
{
	for (; bytes >= (size_t)1 << 20; bytes /= 4) {
		a->base = reserve(bytes);
		if (a->base)
			break;
	}
	a->bytes = bytes;
	a->scope = a->base ? reserve(MOST_DEPTH * sizeof(*a->scope)) : NULL;
	if (!a->scope) {
		if (a->base)
			munmap(a->base, a->bytes);
		return -1;
	}
	/* the first small tile must not cost 2 MiB of zeroes; only advice, so no error */
	madvise(a->base, bytes < huge_bytes ? bytes : huge_bytes, MADV_NOHUGEPAGE);
	return 0;
}

/* This thread's arena, made on first use.  NULL after an error. */
static struct arena *arena(const char *call, const char *where)
{
	struct pldi_params params;
	char text[256];
	struct arena *a;

	if (mine)
		return mine;
	if (pldi_params_read(&params, text, sizeof(text))) {
		pldi_fail(PL_EINVAL, call, where, "%s", text);
		return NULL;
	}
	pthread_once(&once, make_key);
	a = calloc(1, sizeof(*a));
	if (!a || map_arena(a, (size_t)params.ARENA_MB << 20)) {
		pldi_fail(PL_ENOMEM, call, where,
			  "no address space for a tile arena, not even 1 MiB of the %lld MiB of "
			  "PLD_ARENA_MB; see ulimit -v",
			  (long long)params.ARENA_MB);
		free(a);
		return NULL;
	}
	a->scope[0] = new_id(a);
	/* without a key the arena outlives its thread: a leak, no error */
	if (!no_key)
		pthread_setspecific(at_thread_exit, a);
	mine = a;
	return a;
}

static size_t align(size_t n)
{
	return (n + 63) & ~(size_t)63;
}

pl_tile pldi_tile_new(pl_dtype dtype, const pl_dims *shape, const pl_dims *valid, void **data,
		      const char *call, const char *where)
{
	const struct pl_layout *l = pldi_layout_packed(dtype, shape, call, where);
	struct arena *a = l ? arena(call, where) : NULL;
	const size_t head = align(sizeof(struct pl_tile_));
	struct pl_tile_ *t;
	size_t bytes, left;

	if (!a)
		return (pl_tile){ NULL, 0, 0 };
	bytes = (size_t)pldi_bytes(l);
	left = a->bytes - a->top;
	if (align(bytes) + head > left) { /* a layout has at most INT64_MAX bytes: no overflow */
		pldi_fail(PL_ENOMEM, call, where,
			  "a tile of %zu bytes, %zu of the arena's %zu bytes are free: end scopes "
			  "sooner (PL_SCOPE), raise PLD_ARENA_MB, or move tensors with pl_copy",
			  bytes, left, a->bytes);
		return (pl_tile){ NULL, 0, 0 };
	}
	t = (struct pl_tile_ *)(void *)(a->base + a->top);
	*data = a->base + a->top + head;
	a->top += head + align(bytes);
	if (a->top > a->high)
		a->high = a->top;
	t->layout = l;
	t->data = *data;
	t->valid = valid ? *valid : *shape;
	return (pl_tile){ t, a->depth, a->scope[a->depth] };
}

void pldi_tile_clear(pl_tile t)
{
	for (int i = 0; i < t.t_->layout->ndim; i++) {
		if (t.t_->valid.d[i] != t.t_->layout->dim[i]) {
			memset(t.t_->data, 0, (size_t)pldi_bytes(t.t_->layout));
			return;
		}
	}
}

pl_status pldi_tile_check(pl_tile t, const char *call, const char *where, const char *what)
{
	const struct arena *a = mine;

	if (__builtin_expect(!t.t_, 0))
		return pldi_null_status(call, where, what);
	if (__builtin_expect(!a || t.depth_ > a->depth || a->scope[t.depth_] != t.scope_, 0))
		return pldi_fail(PL_EINVAL, call, where,
				 "%s is a tile whose scope has ended, or another thread's; "
				 "pl_assign carries a result out of a scope",
				 what);
	return PL_OK;
}

struct pl_mark pl_scope_enter(const char *where)
{
	struct arena *a = arena("PL_SCOPE", where);
	struct pl_mark m = { 0, 0, 0, 1 };

	/* after an error the body runs in the enclosing scope: scope 0 is no scope's number */
	if (!a)
		return m;
	if (a->depth + 1 == MOST_DEPTH) {
		pldi_fail(PL_ENOMEM, "PL_SCOPE", where,
			  "%d scopes are open; one left by break, return or goto stays open until "
			  "the one around it ends",
			  MOST_DEPTH);
		return m;
	}
	m.top = a->top;
	m.depth = ++a->depth;
	m.scope = a->scope[a->depth] = new_id(a);
	return m;
}

/* Gives memory back to the system, all but the keep_bytes above the top. */
static void trim(struct arena *a)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t keep = (a->top + keep_bytes + page - 1) / page * page;

	if (keep < a->bytes)
		madvise(a->base + keep, a->bytes - keep, MADV_DONTNEED);
	a->high = keep;
}

void pl_scope_leave(struct pl_mark *m)
{
	struct arena *a = mine;

	m->live = 0;
	/* not open any more: an enclosing one was left first, or this is another thread */
	if (!a || !m->scope || m->depth > a->depth || a->scope[m->depth] != m->scope)
		return;
	a->depth = m->depth - 1;
	a->top = m->top;
	if (a->high - a->top > keep_bytes)
		trim(a);
}
