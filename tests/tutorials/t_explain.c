/* t_explain.c - each text with which the check of the steps says what a wrong result holds. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"

#define ROWS(t) ((int)(sizeof(t) / sizeof((t)[0])))
#define SIZE 8
#define MOST 16 /* ranks */

/* Input: no two elements are alike, nor are sums of a few; or, as a ramp, many are. */
static float x[MOST * MOST * SIZE];
static int64_t n, xlen;

static void fill(int ramp)
{
	uint32_t state = 1;

	for (int i = 0; i < ROWS(x); i++) {
		state = state * 1664525 + 1013904223;
		x[i] = ramp ? (float)(100 * (i / xlen) + i % xlen)
			    : (float)(int)(state >> 18) / 16 - 512;
	}
}

static double in(int64_t rank, int64_t i)
{
	return x[rank * xlen + i];
}

static double all(int64_t i)
{
	double sum = 0;

	for (int64_t k = 0; k < n; k++)
		sum += in(k, i);
	return sum;
}

/* ---- what is wanted, as a function of rank and element --------------------------------------- */

typedef double value(int64_t r, int64_t i);

static double next(int64_t r, int64_t i)
{
	return in((r + 1) % n, i);
}

static double sum(int64_t r, int64_t i)
{
	(void)r;
	return all(i);
}

static double plus_rank(int64_t r, int64_t i)
{
	return in(r, i) + (double)r;
}

static double gather(int64_t r, int64_t i)
{
	(void)r;
	return in(i / SIZE, i % SIZE);
}

static double weighted(int64_t r, int64_t i)
{
	return gather(r, i) * (double)(1 + i % SIZE);
}

static double scatter(int64_t r, int64_t i)
{
	return all(r * SIZE + i);
}

static double transpose(int64_t r, int64_t i)
{
	return in(i / SIZE, r * SIZE + i % SIZE);
}

static double count(int64_t r, int64_t i)
{
	return r != i;
}

enum shape { FLAT, WIDE, PARTS, TABLE, CELLS };
static const struct golden {
	value *want;
	enum shape shape; /* FLAT [P, 1, SIZE], WIDE [P, 1, P * SIZE], PARTS of an input so wide,
			   * TABLE [P, P, SIZE], CELLS [P, P, 1] without an input */
	int ramp;
} NEXT = { next, FLAT }, SUM = { sum, FLAT }, RAMPS = { sum, FLAT, 1 }, PLUS = { plus_rank, FLAT },
  GATHER = { gather, WIDE }, WEIGHTED = { weighted, WIDE }, SCATTER = { scatter, PARTS },
  TRANSPOSE = { transpose, TABLE }, COUNT = { count, CELLS };

/* ---- what is got ----------------------------------------------------------------------------- */

#define GOT(name, expression)                                                                      \
	static double name(int64_t r, int64_t i)                                                   \
	{                                                                                          \
		(void)r, (void)i;                                                                  \
		return (expression);                                                               \
	}

GOT(zero, 0)
GOT(own, in(r, i))
GOT(previous, in((r + n - 1) % n, i))
GOT(of_rank_0, in(0, i))
GOT(half_own, i < 4 ? next(r, i) : in(r, i))
GOT(late_on_1, r == 1 && i > 1 && i < 5 ? 0 : next(r, i))
GOT(two_holes, r == 2 && (i == 1 || i == 6) ? 0 : next(r, i))
GOT(noise, (double)((r * 31 + i * 17) % 13) + 0.1234)
GOT(one_wrong, r == 1 && i == 3 ? 77.7 : next(r, i))
GOT(not_a_number, r == 1 ? NAN : next(r, i))

GOT(without_own, all(i) - in(r, i))
GOT(without_1, all(i) - in(1, i))
GOT(own_twice, all(i) + in(r, i))
GOT(own_5_times, all(i) + 4 * in(r, i))
GOT(two_for_one, all(i) + in(2, i) - in(1, i))
GOT(without_0_and_3, all(i) - in(0, i) - in(3, i))
GOT(twice_0_and_3, all(i) + in(0, i) + in(3, i))
GOT(only_own, (double)n *in(r, i))
GOT(minus_own, all(i) - 2 * in(r, i))
GOT(minus_0_and_3, all(i) - 2 * in(0, i) - 2 * in(3, i))
GOT(doubled, 2 * all(i))
GOT(negative, -all(i))
GOT(largest, fmax(fmax(in(0, i), in(1, i)), fmax(in(2, i), in(3, i))))
GOT(smallest, fmin(fmin(in(0, i), in(1, i)), fmin(in(2, i), in(3, i))))
GOT(product, in(0, i) * in(1, i) * in(2, i) * in(3, i))
GOT(halves_changed, all(i < 4 ? i + 4 : i - 4))
GOT(blocks_of_two, all(i < 2 ? i + 2 : i < 4 ? i - 2 : i))

GOT(own_plus_1, in(r, i) + 1)
GOT(own_minus_2, in(r, i) - 2)

GOT(turned, gather(r, (i + r * SIZE) % (n * SIZE)))
GOT(back, gather(r, (n - 1 - i / SIZE) * SIZE + i % SIZE))
GOT(pairs, gather(r, ((i / SIZE) ^ 1) * SIZE + i % SIZE))
GOT(rank_0_everywhere, gather(r, i % SIZE))
GOT(own_everywhere, gather(r, r *SIZE + i % SIZE))
GOT(own_place_empty, i / SIZE == r ? 0 : gather(r, i))
GOT(only_own_place, i / SIZE == r ? gather(r, i) : 0)
GOT(only_place_0, i < SIZE ? gather(r, i) : 0)
GOT(two_in_one, i / SIZE == 2 ? weighted(r, i - SIZE) : weighted(r, i) + (i == 0))

GOT(chunk_0, all(i))
GOT(own_part, in(r, r *SIZE + i))
GOT(own_part_thrice, 3 * in(r, r *SIZE + i))
GOT(from_elsewhere, in(r, i + 3))
GOT(little_from_elsewhere, i < 6 ? in(r, i + 3) : all(r * SIZE + i))
GOT(moved_chunks, all(r *(SIZE - 1) + i))

GOT(straight, in(r, i))
GOT(row_0, i < SIZE ? transpose(r, i) : in(i / SIZE, i % SIZE))
GOT(own_rows, i / SIZE == (r + 1) % n ? in(r, i) : transpose(r, i))

GOT(counted_twice, 2 * count(r, i))
GOT(told_itself, 1)

static const struct {
	const char *name;
	const struct golden *golden;
	int ranks;
	value *got;
	int repeat;
	const char *says; /* all of it */
} rows[] = {
#define ZEROS "zeros, as if nothing had been written"
#define OTHER_USE ", as with data of another use\n"
	{ "zeros", &NEXT, 4, zero, 1, "every rank: " ZEROS "\n" },
	{ "own slice", &NEXT, 4, own, 1,
	  "every rank: the own slice, wanted the next rank's slice\n" },
	{ "other neighbour", &NEXT, 4, previous, 1,
	  "every rank: the previous rank's slice, wanted the next rank's slice\n" },
	{ "one slice", &NEXT, 3, of_rank_0, 1,
	  "rank 0: the own slice, wanted rank 1's slice\n"
	  "rank 1: rank 0's slice, wanted rank 2's slice\n" },
	{ "two ranks", &NEXT, 2, own, 1,
	  "rank 0: the own slice, wanted rank 1's slice\n"
	  "rank 1: the own slice, wanted rank 0's slice\n" },
	{ "elements", &NEXT, 4, half_own, 1,
	  "every rank: elements 4 to 7: the own slice, wanted the next rank's slice\n" },
	{ "one rank", &NEXT, 4, late_on_1, 1, "rank 1: elements 2 to 4: " ZEROS "\n" },
	{ "two places", &NEXT, 4, two_holes, 1, "rank 2: element 1, element 6: " ZEROS "\n" },
	{ "noise", &NEXT, 2, noise, 1,
	  "rank 0: unexplained, first wrong at [0][0][0]: got 0.1234, wanted -495.125\n"
	  "rank 1: unexplained, first wrong at [1][0][0]: got 5.1234, wanted -269.875\n" },
	{ "a single element", &NEXT, 4, one_wrong, 1, "" },
	{ "no number", &NEXT, 4, not_a_number, 1,
	  "rank 1: unexplained, first wrong at [1][0][0]: got nan, wanted 369.5\n" },

	{ "own missing", &SUM, 4, without_own, 1, "every rank: the sum without the own part\n" },
	{ "one missing", &SUM, 4, without_1, 1,
	  "ranks 0, 2, 3: the sum without rank 1's part\nrank 1: the sum without the own part\n" },
	{ "twice", &SUM, 4, own_twice, 1, "every rank: the sum with the own part twice\n" },
	{ "5 times", &SUM, 4, own_5_times, 1, "every rank: the sum with the own part 5 times\n" },
	{ "in place of", &SUM, 4, two_for_one, 1,
	  "ranks 0, 3: the sum with rank 2's part in place of rank 1's part\n"
	  "rank 1: the sum with rank 2's part in place of the own part\n"
	  "rank 2: the sum with the own part in place of rank 1's part\n" },
	{ "two missing", &SUM, 5, without_0_and_3, 1,
	  "every rank: the sum without the parts of ranks 0, 3\n" },
	{ "two twice", &SUM, 5, twice_0_and_3, 1,
	  "rank 0: the sum with the own part twice, with rank 3's part twice\n"
	  "ranks 1, 2, 4: the sum with rank 0's part twice, with rank 3's part twice\n"
	  "rank 3: the sum with rank 0's part twice, with the own part twice\n" },
	{ "own only", &SUM, 4, only_own, 1, "every rank: 4 times the own slice\n" },
	{ "another use", &SUM, 4, minus_own, 3,
	  "every rank: the sum with the own part -1 times" OTHER_USE },
	{ "two of another use", &SUM, 5, minus_0_and_3, 3,
	  "rank 0: the sum with the own part -1 times, with rank 3's part -1 times" OTHER_USE
	  "ranks 1, 2, 4: the sum with rank 0's part -1 times, with rank 3's part -1 times" OTHER_USE
	  "rank 3: the sum with rank 0's part -1 times, with the own part -1 times" OTHER_USE },
	{ "doubled", &SUM, 4, doubled, 1, "every rank: twice what was wanted\n" },
	{ "other sign", &SUM, 4, negative, 3, "every rank: -1 times what was wanted" OTHER_USE },
	{ "unreduced", &SUM, 4, own, 1, "every rank: the own slice, unreduced\n" },
	{ "maximum", &SUM, 4, largest, 1, "every rank: the maximum over all ranks, not the sum\n" },
	{ "minimum", &SUM, 4, smallest, 1,
	  "every rank: the minimum over all ranks, not the sum\n" },
	{ "product", &SUM, 4, product, 1, "every rank: the product over all ranks, not the sum\n" },
	{ "two of many", &RAMPS, 4, without_0_and_3, 1,
	  "every rank: the sum without the parts of 2 ranks\n" },
	{ "two of many twice", &RAMPS, 4, twice_0_and_3, 1,
	  "rank 0: unexplained, first wrong at [0][0][0]: got 900, wanted 600\n"
	  "rank 1: unexplained, first wrong at [1][0][0]: got 900, wanted 600\n"
	  "rank 2: unexplained, first wrong at [2][0][0]: got 900, wanted 600\n"
	  "rank 3: unexplained, first wrong at [3][0][0]: got 900, wanted 600\n" },
	{ "maximum of ramps", &RAMPS, 4, largest, 1,
	  "ranks 0, 1, 2: rank 3's slice, unreduced, or the maximum over all ranks\n"
	  "rank 3: the own slice, unreduced, or the maximum over all ranks\n" },
	{ "halves", &SUM, 3, halves_changed, 1,
	  "every rank: elements 0 to 3: what belongs at elements 4 to 7; elements 4 to 7: what belongs "
	  "at elements 0 to 3\n" },
	{ "blocks", &SUM, 4, blocks_of_two, 1,
	  "every rank: the blocks of ranks 1, 0, 2, 3 in this order, wanted 0 to 3\n" },

	{ "plus 1", &PLUS, 3, own_plus_1, 1,
	  "rank 0: the own slice plus 1, wanted the own slice\n"
	  "rank 2: the own slice plus 1, wanted the own slice plus 2\n" },
	{ "minus 2", &PLUS, 1, own_minus_2, 1,
	  "rank 0: the own slice minus 2, wanted the own slice\n" },

	{ "turned", &GATHER, 4, turned, 1,
	  "ranks 1, 2, 3: the blocks in order, but beginning with the own\n" },
	{ "back", &GATHER, 3, back, 1, "every rank: the blocks in reverse order\n" },
	{ "pairs", &GATHER, 4, pairs, 1,
	  "every rank: the blocks of ranks 1, 0, 3, 2 in this order, wanted 0 to 3\n" },
	{ "one block", &GATHER, 4, rank_0_everywhere, 1,
	  "rank 0: the own block in the place of every rank's\n"
	  "ranks 1, 2, 3: rank 0's block in the place of every rank's\n" },
	{ "own block", &GATHER, 4, own_everywhere, 1,
	  "every rank: the own block in the place of every rank's\n" },
	{ "own place", &GATHER, 4, own_place_empty, 1,
	  "every rank: in the own place: " ZEROS "\n" },
	{ "own place only", &GATHER, 3, only_own_place, 1,
	  "rank 0: in the places of ranks 1 to 2: " ZEROS "\n"
	  "rank 1: in rank 0's place, in rank 2's place: " ZEROS "\n"
	  "rank 2: in the places of ranks 0 to 1: " ZEROS "\n" },
	{ "place 0 only", &GATHER, 4, only_place_0, 1,
	  "every rank: in the places of ranks 1 to 3: " ZEROS "\n" },
	{ "unweighted", &WEIGHTED, 3, gather, 1,
	  "every rank: the slices, each in its place, unchanged\n" },
	{ "block in another place", &WEIGHTED, 4, two_in_one, 1,
	  "rank 0: in the own place: unexplained, first wrong at [0][0][0]: got -268.875, wanted "
	  "-269.875; in rank 2's place: what belongs in rank 1's place\n"
	  "rank 1: in rank 0's place: unexplained, first wrong at [1][0][0]: got -268.875, wanted "
	  "-269.875; in rank 2's place: what belongs in the own place\n"
	  "rank 2: in rank 0's place: unexplained, first wrong at [2][0][0]: got -268.875, wanted "
	  "-269.875; in the own place: what belongs in rank 1's place\n"
	  "rank 3: in rank 0's place: unexplained, first wrong at [3][0][0]: got -268.875, wanted "
	  "-269.875; in rank 2's place: what belongs in rank 1's place\n" },

	{ "another rank's", &SCATTER, 4, chunk_0, 1, "ranks 1, 2, 3: what rank 0 should have\n" },
	{ "own part", &SCATTER, 4, own_part, 1, "every rank: the own part, unreduced\n" },
	{ "thrice", &SCATTER, 4, own_part_thrice, 1, "every rank: 3 times the own part\n" },
	{ "from elsewhere", &SCATTER, 3, from_elsewhere, 1,
	  "every rank: elements 3 to 10 of the own slice, unreduced\n" },
	{ "little from elsewhere", &SCATTER, 2, little_from_elsewhere, 1,
	  "rank 0: elements 0 to 5: unexplained, first wrong at [0][0][0]: got 209.75, wanted 99.625\n"
	  "rank 1: elements 0 to 5: unexplained, first wrong at [1][0][0]: got 32.1875, wanted "
	  "-874.25\n" },
	{ "sum of others", &SCATTER, 3, moved_chunks, 1,
	  "rank 1: the sum over all ranks of elements 7 to 14\n"
	  "rank 2: the sum over all ranks of elements 14 to 21\n" },

	{ "not transposed", &TRANSPOSE, 4, straight, 1, "every rank: the own slice, unchanged\n" },
	{ "row 0", &TRANSPOSE, 3, row_0, 1,
	  "ranks 1, 2: in the places of ranks 1 to 2: what rank 0 should have\n" },
	{ "own row", &TRANSPOSE, 3, own_rows, 1,
	  "rank 0: in the places of ranks 0 to 1: the own slice, unchanged\n"
	  "rank 1: in the places of ranks 1 to 2: the own slice, unchanged\n"
	  "rank 2: in rank 0's place: row 0 of the own slice, wanted row 2 of rank 0's slice\n" },

	{ "counted twice", &COUNT, 4, counted_twice, 1, "every rank: twice what was wanted\n" },
	{ "told itself", &COUNT, 4, told_itself, 1, "every rank: in the own place: 1, wanted 0\n" },
	{ "many ways", &SUM, 7, noise, 1,
	  "rank 0: unexplained, first wrong at [0][0][0]: got 0.1234, wanted -381.5\n"
	  "rank 1: unexplained, first wrong at [1][0][0]: got 5.1234, wanted -381.5\n"
	  "rank 2: unexplained, first wrong at [2][0][0]: got 10.1234, wanted -381.5\n"
	  "rank 3: unexplained, first wrong at [3][0][0]: got 2.1234, wanted -381.5\n"
	  "and 3 other ranks, in other ways\n" },
};

/* What is said, to be freed; want and got are functions of rank and element. */
static char *said(const struct golden *g, value *got, int repeat, const char *name)
{
	int64_t len = g->shape == CELLS			      ? n
		      : g->shape == WIDE || g->shape == TABLE ? n * SIZE
							      : SIZE;
	double *are = calloc((size_t)(n * len), sizeof(*are));
	double *want = calloc((size_t)(n * len), sizeof(*want));
	struct explain e = { .step = "step",
			     .name = name,
			     .dims = { 3, { n, 1, len } },
			     .len = len,
			     .got = are,
			     .want = want,
			     .x = g->shape == CELLS ? NULL : x,
			     .how = TUT_CLOSE,
			     .repeat = repeat };
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	ck_assert(are && want && out);
	xlen = e.xlen = g->shape == PARTS || g->shape == TABLE ? n * SIZE : SIZE;
	if (g->shape == TABLE || g->shape == CELLS)
		e.dims = (pl_dims){ 3, { n, n, len / n } };
	if (g->shape == TABLE)
		e.xrow = SIZE;
	fill(g->ramp);
	for (int64_t i = 0; i < n * len; i++) {
		are[i] = got(i / len, i % len);
		want[i] = g->want(i / len, i % len);
	}
	explain(&e, out);
	fclose(out);
	free(are);
	free(want);
	return text;
}

/* With "step: " before each line. */
START_TEST(says)
{
	char *text, wanted[2000] = "", *line, *rest;

	n = rows[_i].ranks;
	text = said(rows[_i].golden, rows[_i].got, rows[_i].repeat, NULL);
	rest = line = strdup(rows[_i].says);
	while (*rest) {
		size_t end = strcspn(rest, "\n") + 1;

		strncat(strcat(wanted, "step: "), rest, end);
		rest += end;
	}
	ck_assert_msg(!strcmp(text, wanted), "%s:\n%swanted\n%s", rows[_i].name, text, wanted);
	free(line);
	free(text);
}
END_TEST

START_TEST(names_the_result)
{
	char *text;

	n = 3;
	text = said(&SUM, zero, 1, "allred");
	ck_assert_str_eq(text, "step: allred, every rank: " ZEROS "\n");
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("explain");
	TCase *tc = tcase_create("explain");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, says, 0, ROWS(rows));
	tcase_add_test(tc, names_the_result);
	suite_add_tcase(s, tc);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
