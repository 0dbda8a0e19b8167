/*
 * e_subset.c - ranks that make domains of different lists: each rank that a list names is told,
 * with its own list and another one; nobody waits for ever, and nothing is left in the table.
 */
#include "config.h"

#include "errors.h"
#include "pldi_job.h"

#define MOST 5

/* What each rank passes; n 0: it calls nothing. */
struct list {
	int n;
	int ranks[MOST];
};

static const struct row {
	const char *name;
	int least; /* ranks */
	struct list list[MOST];
} rows[] = {
	{ "order", 2, { { 2, { 0, 1 } }, { 2, { 1, 0 } } } },
	{ "order of three", 3, { { 3, { 0, 1, 2 } }, { 3, { 0, 2, 1 } }, { 3, { 0, 1, 2 } } } },
	{ "the first another", 3, { { 3, { 2, 1, 0 } }, { 3, { 0, 1, 2 } }, { 3, { 0, 1, 2 } } } },
	{ "each another", 3, { { 3, { 0, 1, 2 } }, { 3, { 1, 2, 0 } }, { 3, { 2, 0, 1 } } } },
	{ "one too few", 3, { { 2, { 0, 1 } }, { 3, { 0, 1, 2 } }, { 3, { 0, 1, 2 } } } },
	{ "one too many", 3, { { 3, { 0, 1, 2 } }, { 2, { 0, 1 } }, { 3, { 0, 1, 2 } } } },
	{ "two and two",
	  5,
	  { { 4, { 0, 1, 2, 3 } },
	    { 4, { 0, 1, 2, 3 } },
	    { 4, { 3, 2, 1, 0 } },
	    { 4, { 3, 2, 1, 0 } },
	    { 0, { 0 } } } },
	{ "chain",
	  5,
	  { { 5, { 0, 1, 2, 3, 4 } },
	    { 5, { 1, 0, 2, 3, 4 } },
	    { 5, { 2, 1, 0, 3, 4 } },
	    { 5, { 3, 1, 2, 0, 4 } },
	    { 5, { 0, 1, 2, 3, 4 } } } },
};

static void list_text(char to[64], const struct list *l)
{
	size_t n = 0;

	for (int i = 0; i < l->n; i++)
		n += (size_t)snprintf(to + n, 64 - n, "%s%d", i ? ", " : "{", l->ranks[i]);
	snprintf(to + n, 64 - n, "}");
}

/* Whether the last error shows r's list, and its rank beside it. */
static int shows(const struct row *row, int r)
{
	const char *theirs = strstr(pl_last_error()->text, ", rank ");
	char list[64], text[128];

	list_text(list, &row->list[r]);
	snprintf(text, sizeof(text), ", rank %d one of %s at e_subset.c:*", r, list);
	return theirs && errors_match(text, theirs, NULL);
}

static int same(const struct list *a, const struct list *b)
{
	return a->n == b->n && memcmp(a->ranks, b->ranks, sizeof(a->ranks)) == 0;
}

static void run_row(const struct row *row, int me, int n)
{
	const struct list *mine = &row->list[me];
	char list[64], text[256];
	pld_ctx d = { NULL };
	int shown = 0, got;

	if (n < row->least || me >= row->least || !mine->n)
		return;
	list_text(list, mine);
	snprintf(text, sizeof(text),
		 "ranks disagree about a new domain: rank %d makes one of the world's ranks %s, "
		 "rank * one of * at e_subset.c:*",
		 me, list);
	errors_begin();
	place(PL_WHERE), d = pld_domain_subset(pld_world(), mine->ranks, mine->n);
	got = ERRORS_STATUS(d);
	errors_fails(got, row->name, PL_EMISMATCH, "pld_domain_subset", text,
		     errors_state()->place);
	for (int r = 0; r < row->least && got == PL_EMISMATCH; r++)
		shown += !same(mine, &row->list[r]) && shows(row, r);
	HOLDS(shown == 1);
}

static int entries_in_use(void)
{
	struct pldi_head_shm *h = pldi_self()->seg.base;
	int used = 0;

	for (uint32_t id = 0; id < h->domains_used; id++)
		used += pldi_domain_entry(h, id)->state != PLDI_DOMAIN_FREE;
	return used;
}

/* A domain that lacks nothing, by the ranks that have just disagreed. */
static void try_again(int n)
{
	int ranks[MOST];
	pld_ctx d;

	for (int r = 0; r < n; r++)
		ranks[r] = n - 1 - r;
	d = pld_domain_subset(pld_world(), ranks, n);
	WORKS(d);
	WORKS(pld_barrier(d));
	WORKS(pld_domain_free(d));
	WORKS(pld_barrier(pld_world()));
}

static void all(int me, int n)
{
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			run_row(&rows[i], me, n);
			WORKS(pld_barrier(pld_world()));
			HOLDS(entries_in_use() == 1);
			WORKS(pld_barrier(pld_world()));
			try_again(n);
		}
	}
}

int main(void)
{
	return errors_main(all);
}
