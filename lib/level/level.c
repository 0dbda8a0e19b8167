/*
 * level.c - the three levels, each a switch of what the rank may call.
 *
 * Every rank runs the host body; PLD_DISPATCH picks one rank at a time.  The only synchronisation
 * that a level adds is at PLD_HOST's two ends: its entry publishes the inputs that the ranks have
 * written, its exit waits until all are done and carries the first error of the lowest rank.
 */
#include "config.h"

#include <pld/level.h>

#include <pl/tile.h>

#include "pldi_agree.h"
#include "pldi_tile.h"
#include "pldi_window.h"

static const uint32_t may_at[] = {
	[PLD_LEVEL_SPMD] = PLDI_MAY_SPMD,
	[PLD_LEVEL_HOST] = PLDI_MAY_MEMORY | PLDI_MAY_COLLECT | PLDI_MAY_DISPATCH,
	[PLD_LEVEL_DEVICE] = PLDI_MAY_INCORE,
	[PLD_LEVEL_INCORE] = PLDI_MAY_TILE | PLDI_MAY_SIGNAL | PLDI_MAY_COLLECT,
};
static const char *const names[] = { "", "PLD_HOST", "PLD_DISPATCH", "PLD_INCORE" };
static const enum pldi_right class_of[] = { PLDI_MAY_ALL, PLDI_MAY_HOST, PLDI_MAY_DISPATCH,
					    PLDI_MAY_INCORE };

/* From an enter that gives 0 to the leave that follows it in the macro: why. */
static _Thread_local pl_status refused;

static int refuse(pl_status why)
{
	refused = why;
	return 0;
}

static void set_level(struct pldi_rank *self, pld_level level)
{
	/* relaxed: see pldi_may */
	atomic_store_explicit(&self->may, may_at[level], memory_order_relaxed);
}

static pl_status refuse_tiles(const char *call, const char *where)
{
	struct pldi_rank *self = pldi_self();

	/* before and after a job tiles are local, and anybody's */
	return !self || self->final_where ? PL_OK : pldi_may(self, PLDI_MAY_TILE, call, where);
}

/* Whether the call is for this rank: 1, 0, or a status. */
static int is_mine(struct pldi_rank *self, pld_level level, int64_t device, const char *where)
{
	if (level != PLD_LEVEL_DEVICE)
		return 1;
	if (device < 0 || device >= self->nranks)
		return pldi_fail(PL_EINVAL, "PLD_DISPATCH", where, "rank %lld of a job of %d ranks",
				 (long long)device, self->nranks);
	return device == self->rank;
}

int pld_level_enter(pld_level level, int64_t device, const char *where)
{
	const struct pldi_call enter = { .op = PLDI_CALL_HOST_ENTER };
	struct pldi_open_level *open;
	struct pldi_rank *self;
	pl_status rc;
	int mine;

	if (level < PLD_LEVEL_HOST || level > PLD_LEVEL_INCORE)
		return refuse(
			pldi_fail(PL_EINVAL, "pld_level_enter", where, "level %d", (int)level));
	self = pldi_live(class_of[level], names[level], where);
	if (!self)
		return refuse(pl_last_error()->status);
	mine = is_mine(self, level, device, where);
	if (mine <= 0)
		return refuse((pl_status)mine); /* 0: another rank's */
	if (level == PLD_LEVEL_HOST && (rc = pldi_collect(self->world, &enter, NULL, where)))
		return refuse(rc);
	pldi_tiles_gate(refuse_tiles);
	open = &self->open[self->depth++];
	*open = (struct pldi_open_level){ .level = level,
					  .where = where ? where : "",
					  .errors_mark = pldi_errors_mark() };
	set_level(self, level);
	if (level == PLD_LEVEL_INCORE)
		open->scope = pl_scope_enter(where);
	return 1;
}

/* The exit of PLD_HOST: everyone's first error, then what was made inside is freed. */
static pl_status leave_host(struct pldi_rank *self, pl_status mine, const char *where)
{
	const struct pldi_call what = { .op = PLDI_CALL_HOST_LEAVE };
	const int64_t payload[PLDI_PAYLOAD] = { mine };
	pl_status rc = pldi_collect(self->world, &what, payload, where), first = PL_OK, freed;

	for (int32_t m = 0; rc == PL_OK && first == PL_OK && m < self->nranks; m++)
		first = (pl_status)pldi_posted(self->world, m)[0];
	freed = pldi_free_made_inside(self, self->depth, where);
	pldi_doing(self, PLDI_CALL_HOST_LEAVE, where); /* for reports: not the frees */
	/* an exit that cannot agree says less than what broke the agreement */
	if (rc)
		return mine ? mine : rc;
	return first ? first : freed;
}

pl_status pld_level_leave(pld_level level)
{
	struct pldi_rank *self = pldi_self();
	struct pldi_open_level *open;
	pl_status first;

	if (level == PLD_LEVEL_SPMD) /* of an enter that gave 0 */
		return refused;
	open = &self->open[self->depth - 1];
	if (self->forked) { /* its rights stay none, and the flags are its parent's */
		self->depth--;
		return pldi_may_not(self, names[open->level], open->where);
	}
	if (open->level == PLD_LEVEL_INCORE)
		pl_scope_leave(&open->scope);
	first = pldi_errors_unmark(open->errors_mark);
	if (open->level == PLD_LEVEL_HOST)
		first = leave_host(self, first, open->where);
	self->depth--;
	set_level(self, self->depth ? self->open[self->depth - 1].level : PLD_LEVEL_SPMD);
	return first;
}
