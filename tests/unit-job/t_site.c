/* t_site.c - source lines and operations as numbers: many of them, long ones, several threads. */
#include "config.h"

#include "ranks.h"

static const char *text_of(const struct pldi_rank *self, uint32_t site)
{
	return self->slot->site[site].text;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyz"

static const struct {
	const char *where, *text;
} rows[] = {
	{ "a.c:1", "a.c:1" },
	{ "src/deep/down/step.c:31", "step.c:31" },
	{ "/a.c:1", "a.c:1" },
	{ "dir/", "" },
	{ "", "" },
	{ NULL, "" },
	/* 55 letters fit; of more the end stays, which has the line */
	{ LETTERS LETTERS "c:1", LETTERS LETTERS "c:1" },
	{ LETTERS LETTERS "bc:1", "bcdefghijklmnopqrstuvwxyz" LETTERS "bc:1" },
	{ "x/" LETTERS LETTERS LETTERS ".c:12345", "fghijklmnopqrstuvwxyz" LETTERS ".c:12345" },
};

START_TEST(texts)
{
	struct pldi_rank *self = ranks_make(1, 0, 1 << 20);
	uint32_t site = pldi_site(self, rows[_i].where);

	ck_assert_uint_lt(site, PLDI_SITES);
	ck_assert_str_eq(text_of(self, site), rows[_i].text);
	ck_assert_uint_eq(pldi_site(self, rows[_i].where), site); /* found again */
}
END_TEST

/* As many as there are places, and far more: a number always has the text of its newest line. */
START_TEST(many)
{
	static char where[4000][16];
	struct pldi_rank *self = ranks_make(1, 0, 1 << 20);
	int right = 0, again = 0;

	for (int i = 0; i < ROWS(where); i++) {
		uint32_t site;

		snprintf(where[i], sizeof(where[i]), "f%d.c:%d", i % 7, i);
		site = pldi_site(self, where[i]);
		right += site < PLDI_SITES && strcmp(text_of(self, site), where[i]) == 0;
		again += pldi_site(self, where[i]) == site;
	}
	ck_assert_int_eq(right, ROWS(where));
	ck_assert_int_eq(again, ROWS(where));
}
END_TEST

START_TEST(doing)
{
	struct pldi_rank *self = ranks_make(1, 0, 1 << 20);
	uint32_t word;

	pldi_doing(self, PLDI_OP_PUT, "dir/a.c:7");
	word = atomic_load_explicit(&self->slot->doing, memory_order_relaxed);
	ck_assert_str_eq(pldi_opcode_name(word >> 16), "pld_put");
	ck_assert_str_eq(text_of(self, word & 0xffff), "a.c:7");
}
END_TEST

static const struct {
	uint32_t op;
	const char *name;
} names[] = {
	{ PLDI_CALL_BARRIER, "pld_barrier" },
	{ PLDI_CALL_ALLOC, "pld_alloc_window_buffer" },
	{ PLDI_CALL_HOST_LEAVE, "end of PLD_HOST" },
	{ PLDI_CALL_FINALIZE, "pld_finalize" },
	{ PLDI_CALL_ALL_TO_ALL_V, "pld_all_to_all_v" },
	{ PLDI_CALL_ALL_TO_ALL_V + 1, "?" },
	{ 255, "?" },
	{ PLDI_OP_FIRST, "?" },
	{ PLDI_OP_IDLE, "computing" },
	{ PLDI_OP_GET, "pld_get" },
	{ PLDI_OP_COMPARE_SWAP, "pld_compare_swap" },
	{ PLDI_OP_COMPARE_SWAP + 1, "?" },
	{ 65535, "?" },
	{ UINT32_MAX, "?" },
};

START_TEST(opcode_names)
{
	ck_assert_str_eq(pldi_opcode_name(names[_i].op), names[_i].name);
}
END_TEST

/* Threads of one rank come by the same lines. */
static void *same_lines(void *arg)
{
	static const char *const where[] = { "a.c:1", "b.c:2", "c.c:3", "d.c:4", "e.c:5" };
	struct pldi_rank *self = arg;
	intptr_t wrong = 0;

	for (int i = 0; i < 20000; i++) {
		const char *w = where[i % 5];

		pldi_doing(self, PLDI_OP_NOTIFY, w);
		wrong += strcmp(text_of(self, pldi_site(self, w)), w) != 0;
	}
	return (void *)wrong;
}

START_TEST(threads)
{
	struct pldi_rank *self = ranks_make(1, 0, 1 << 20);
	pthread_t thread[4];
	void *wrong;

	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, same_lines, self), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], &wrong);
		ck_assert_ptr_null(wrong);
	}
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, texts, 0, ROWS(rows));
	tcase_add_test(tc, many);
	tcase_add_test(tc, doing);
	tcase_add_loop_test(tc, opcode_names, 0, ROWS(names));
	tcase_add_test(tc, threads);
}

int main(void)
{
	return unit_run("site", add);
}
