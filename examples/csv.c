/* csv.c - the data set of train_dp: read by rank 0 into memory that all ranks share. */
#define _POSIX_C_SOURCE 200809L
#include "csv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CLASSES 1000

struct table {
	double *cell;
	int64_t rows, columns, room; /* room: cells */
};

/* The numbers of line number `line` behind those that are there. */
static void read_line(const struct args *a, struct table *t, int64_t line, char *s)
{
	int64_t columns = 0, at = t->rows * t->columns;

	for (char *end; *s; s = end, columns++) {
		if (at + columns == t->room) {
			t->room = 2 * t->room + 1000;
			t->cell = realloc(t->cell, (size_t)t->room * sizeof(*t->cell));
			if (!t->cell)
				args_fail(a, "%s: no memory for line %lld", a->file,
					  (long long)line);
		}
		t->cell[at + columns] = strtod(s, &end);
		if (end == s || !isfinite(t->cell[at + columns]) || (*end && *end != ','))
			args_fail(a,
				  "%s: line %lld, number %lld: '%.20s'; allowed: numbers with "
				  "commas between",
				  a->file, (long long)line, (long long)columns + 1, s);
		end += *end == ',';
	}
	if (columns < 2 || (t->rows && columns != t->columns))
		args_fail(a,
			  "%s: line %lld has %lld numbers; allowed: %s%lld, the last one the class",
			  a->file, (long long)line, (long long)columns,
			  t->rows ? "as the first line has, " : "at least ",
			  (long long)(t->rows ? t->columns : 2));
	t->columns = columns;
	t->rows++;
}

/* Returns how many classes there are. */
static int64_t scale(const struct args *a, struct table *t)
{
	double most = 0;
	int64_t classes = 0;

	for (int64_t i = 0; i < t->rows * t->columns; i++) {
		double v = t->cell[i];

		if (i % t->columns != t->columns - 1) {
			most = fabs(v) > most ? fabs(v) : most;
			continue;
		}
		if (v < 0 || v >= MOST_CLASSES || v != floor(v))
			args_fail(a, "%s: row %lld: class %g; allowed: whole numbers from 0 to %d",
				  a->file, (long long)(i / t->columns) + 1, v, MOST_CLASSES - 1);
		classes = v >= (double)classes ? (int64_t)v + 1 : classes;
	}
	for (int64_t i = 0; i < t->rows * t->columns && most > 0; i++)
		if (i % t->columns != t->columns - 1)
			t->cell[i] /= most;
	return classes;
}

static int64_t read_file(const struct args *a, struct table *t)
{
	FILE *f = fopen(a->file, "r");
	char *s = NULL;
	size_t size = 0;
	int64_t line = 0, classes;

	if (!f)
		args_fail(a, "%s: cannot open: %s", a->file, strerror(errno));
	errno = 0;
	while (getline(&s, &size, f) > 0) {
		line++;
		s[strcspn(s, "\r\n")] = 0;
		if (*s)
			read_line(a, t, line, s);
	}
	if (!feof(f))
		args_fail(a, "%s: cannot read: %s", a->file, strerror(errno));
	if (!t->rows)
		args_fail(a, "%s: is empty; allowed: lines of numbers with commas between",
			  a->file);
	classes = scale(a, t);
	free(s);
	fclose(f);
	return classes;
}

pl_tensor csv_read(const struct args *a, int64_t *classes)
{
	int is_rank_0 = pld_rank(pld_world()) == 0;
	pld_tensor shape = pld_new_window(PL_SHAPE(3), PL_INT64);
	int64_t *s = pl_data(pld_local(shape));
	struct table t = { .cell = NULL };
	pl_tensor data;

	if (is_rank_0) {
		s[2] = read_file(a, &t);
		s[0] = t.rows;
		s[1] = t.columns;
	}
	pld_broadcast(shape);
	data = pld_host_tensor(PL_SHAPE(s[0], s[1]), PL_FP64);
	if (is_rank_0)
		memcpy(pl_data(data), t.cell, (size_t)(t.rows * t.columns) * sizeof(*t.cell));
	free(t.cell);
	*classes = s[2];
	pld_free_window(shape); /* waits for all, so the data is there too */
	return data;
}
