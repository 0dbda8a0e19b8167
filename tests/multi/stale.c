/* stale.c - views of freed windows: an exact error in every call, however many more have died. */
#include "config.h"

#include "multi.h"

#define CELL PL_AT(0)

/* A view that is dead, and what every call on it must say. */
struct corpse {
	pld_tensor t; /* [4] of INT32 */
	pld_buffer b;
	const char *text;
	pld_tensor live; /* another window, [4] of INT32 */
};

static int status_of_pointer(const void *p)
{
	return p ? PL_OK : pl_last_error()->status;
}

/* ---- every call ------------------------------------------------------------------------------ */

static int call_notify(const struct corpse *c)
{
	return pld_notify(c->t, 0, CELL, 1, PLD_NOTIFY_ADD);
}

static int call_wait(const struct corpse *c)
{
	return pld_wait(c->t, CELL, 0, PLD_WAIT_EQ);
}

static int call_wait_for(const struct corpse *c)
{
	return pld_wait_for(c->t, CELL, 0, PLD_WAIT_EQ, 0);
}

static int call_test(const struct corpse *c)
{
	return pld_test(c->t, CELL, 0, PLD_WAIT_EQ);
}

static int call_wait_any(const struct corpse *c)
{
	const struct pld_condition two[] = { { c->live, CELL, 0, PLD_WAIT_EQ },
					     { c->t, CELL, 0, PLD_WAIT_EQ } };

	return pld_wait_any(two, 2, 0);
}

static int call_put_to(const struct corpse *c)
{
	return pld_put(c->t, 0, c->live);
}

static int call_put_from(const struct corpse *c)
{
	return pld_put(c->live, 0, c->t);
}

static int call_put_signal(const struct corpse *c)
{
	return pld_put(c->live, 0, c->live, .signal = c->t, .signal_at = CELL);
}

static int call_get_to(const struct corpse *c)
{
	return pld_get(c->t, 0, c->live);
}

static int call_get_from(const struct corpse *c)
{
	return pld_get(c->live, 0, c->t);
}

static int call_remote_load(const struct corpse *c)
{
	return status_of_pointer(pld_remote_load(c->t, 0, CELL, PL_SHAPE(4)).t_);
}

static int call_remote_store(const struct corpse *c)
{
	return pld_remote_store(pl_full(PL_SHAPE(4), PL_INT32, 1), c->t, 0, CELL);
}

static int call_barrier(const struct corpse *c)
{
	return pld_barrier(c->t);
}

static int call_all(const struct corpse *c)
{
	return status_of_pointer(pld_all(c->t).as_);
}

static int call_load(const struct corpse *c)
{
	return status_of_pointer(pl_load(c->t, CELL, PL_SHAPE(4)).t_);
}

static int call_store(const struct corpse *c)
{
	return pl_store(pl_full(PL_SHAPE(4), PL_INT32, 1), CELL, c->t);
}

static int call_read(const struct corpse *c)
{
	return pl_read_int(c->t, CELL) == 0 ? pl_last_error()->status : PL_OK;
}

static int call_write(const struct corpse *c)
{
	return pl_write(c->t, CELL, 1);
}

static int call_copy_to(const struct corpse *c)
{
	return pl_copy(c->t, c->live);
}

static int call_copy_from(const struct corpse *c)
{
	return pl_copy(c->live, c->t);
}

static int call_at(const struct corpse *c)
{
	return status_of_pointer(pl_at(c->t, 0).as_);
}

static int call_slice(const struct corpse *c)
{
	return status_of_pointer(pl_slice(c->t, CELL, PL_SHAPE(2)).as_);
}

static int call_free(const struct corpse *c)
{
	return pld_free_window(c->t);
}

static int call_free_buffer(const struct corpse *c)
{
	return pld_free_window_buffer(c->b);
}

static int call_window(const struct corpse *c)
{
	return status_of_pointer(pld_window(c->b, PL_SHAPE(4), PL_INT32).as_);
}

static const struct {
	const char *name;
	int (*call)(const struct corpse *c);
} calls[] = {
	{ "pld_notify", call_notify },
	{ "pld_wait", call_wait },
	{ "pld_wait_for", call_wait_for },
	{ "pld_test", call_test },
	{ "pld_wait_any", call_wait_any },
	{ "pld_put, dst", call_put_to },
	{ "pld_put, src", call_put_from },
	{ "pld_put, .signal", call_put_signal },
	{ "pld_get, dst", call_get_to },
	{ "pld_get, src", call_get_from },
	{ "pld_remote_load", call_remote_load },
	{ "pld_remote_store", call_remote_store },
	{ "pld_barrier", call_barrier },
	{ "pld_all", call_all },
	{ "pl_load", call_load },
	{ "pl_store", call_store },
	{ "pl_read_int", call_read },
	{ "pl_write", call_write },
	{ "pl_copy, dst", call_copy_to },
	{ "pl_copy, src", call_copy_from },
	{ "pl_at", call_at },
	{ "pl_slice", call_slice },
	{ "pld_free_window", call_free },
	{ "pld_free_window_buffer", call_free_buffer },
	{ "pld_window", call_window },
};

/* PL_EINVAL, a text with the place of the free, and no other effect. */
static void every_call(const struct multi *m, const struct corpse *c)
{
	pl_errors before = pl_set_errors(PL_ERRORS_RETURN);

	for (int i = 0; i < ROWS(calls); i++) {
		int got = PL_OK;

		PL_SCOPE {
			got = calls[i].call(c);
		}
		expect_status(m, calls[i].name, got, PL_EINVAL);
		expect_error(m, calls[i].name, PL_EINVAL, c->text);
	}
	pl_set_errors(before);
	for (int k = 0; k < 4; k++)
		expect_int(m, "live window", k, pl_read_int(c->live, PL_AT(k)), 0);
}

/* ---- ways to die ----------------------------------------------------------------------------- */

/* "freed at FILE:LINE" of the line before. */
#define LINE_BEFORE place_of(__LINE__ - 1)

static const char *place_of(int line)
{
	static char text[512];

	snprintf(text, sizeof(text), "freed at %s:%d", __FILE__, line);
	return text;
}

static void freed(const struct multi *m)
{
	struct corpse c = { .b = pld_alloc_window_buffer(PL_SHAPE(4), PL_INT32),
			    .live = pld_new_window(PL_SHAPE(4), PL_INT32) };

	c.t = pld_window(c.b, PL_SHAPE(4), PL_INT32);
	pld_free_window_buffer(c.b);
	c.text = LINE_BEFORE;
	every_call(m, &c);
	pld_barrier(pld_world());
	pld_free_window(c.live);
}

/* Views of views die with the buffer; so does what another allocation then lies on. */
static void derived(const struct multi *m)
{
	pld_buffer b = pld_alloc_window_buffer(PL_SHAPE(4, 4), PL_INT32);
	pld_tensor whole = pld_window(b, PL_SHAPE(4, 4), PL_INT32);
	struct corpse row = { .b = b,
			      .t = pl_at(whole, 1),
			      .live = pld_new_window(PL_SHAPE(4), PL_INT32) };
	struct corpse column = row;
	pld_tensor after;

	column.t = pl_at(pl_slice(whole, PL_AT(2, 0), PL_SHAPE(1, 4)), 0);
	pld_free_window(column.t); /* any view names its buffer */
	row.text = column.text = LINE_BEFORE;
	after = pld_new_window(PL_SHAPE(4, 4), PL_INT32);
	every_call(m, &row);
	every_call(m, &column);
	for (int k = 0; k < 16; k++)
		expect_int(m, "new window in its place", k, pl_read_int(after, PL_AT(k / 4, k % 4)),
			   0);
	pld_barrier(pld_world());
	pld_free_window(after);
	pld_free_window(row.live);
}

static void make_inside(struct corpse *c)
{
	c->b = pld_alloc_window_buffer(PL_SHAPE(4), PL_INT32);
	c->t = pld_window(c->b, PL_SHAPE(4), PL_INT32);
}

/* The end of PLD_HOST frees too, and is the place that is named. */
static void end_of_host(const struct multi *m)
{
	struct corpse c = { .live = pld_new_window(PL_SHAPE(4), PL_INT32) };

	PLD_HOST(make_inside(&c));
	c.text = LINE_BEFORE;
	every_call(m, &c);
	pld_barrier(pld_world());
	pld_free_window(c.live);
}

/* ---- many deaths ----------------------------------------------------------------------------- */

/* One more buffer lives and dies, with `views` views of different lengths. */
static void live_and_die(const struct multi *m, int views, struct corpse *c)
{
	c->b = pld_alloc_window_buffer(PL_SHAPE(512), PL_INT32);
	c->t = pld_window(c->b, PL_SHAPE(4), PL_INT32);
	for (int k = 1; k < views; k++) {
		pld_tensor t = pld_window(c->b, PL_SHAPE(4 + k), PL_INT32);

		pl_write(t, PL_AT(3 + k), k);
		expect_int(m, "element", k, pl_read_int(t, PL_AT(3 + k)), k);
	}
	pld_free_window_buffer(c->b);
}

/*
 * More views die than are remembered, and more buffers where that is quick (P = 1): the youngest
 * corpses are still exact, the oldest one's object has a new life and must only not crash.
 */
static void many_deaths(const struct multi *m)
{
	enum { VIEWS = 500, BUFFERS = 200, SINGLES = 66000 };
	struct corpse oldest = { .live = pld_new_window(PL_SHAPE(4), PL_INT32) };
	struct corpse c = oldest;

	live_and_die(m, 1, &oldest);
	for (int i = 0; i < BUFFERS; i++)
		live_and_die(m, VIEWS, &c);
	for (int i = 0; m->n == 1 && i < SINGLES; i++)
		live_and_die(m, 2, &c);
	live_and_die(m, VIEWS, &c);
	c.text = "freed at ";
	every_call(m, &c);
	pl_set_errors(PL_ERRORS_RETURN);
	pl_read_int(oldest.t, CELL);
	pld_test(oldest.t, CELL, 0, PLD_WAIT_EQ);
	pl_set_errors(PL_ERRORS_END);
	pld_barrier(pld_world());
	pld_free_window(c.live);
}

int main(void)
{
	static const struct multi_case cases[] = {
		{ "freed", freed, 0 },
		{ "derived views", derived, 0 },
		{ "end of PLD_HOST", end_of_host, 0 },
		{ "many deaths", many_deaths, 0 },
	};

	return multi_run("stale", cases, ROWS(cases));
}
