/* move.c - a box from one layout to another, whole or in blocks. */
#include "config.h"

#include "pldi_rma.h"

static void move_runs(const struct pldi_move *m, const struct pldi_runs *r, void *dst,
		      const void *src)
{
	if (m->atomic == PLD_ATOMIC_ADD)
		pldi_rma_add(r, m->dst_layout->dtype, dst, src);
	else
		pldi_rma_copy(r, dst, src);
}

/* Bytes from the box's first element to that of its row: rows are all dimensions but the last. */
static int64_t row_bytes(const struct pl_layout *l, const pl_dims *shape, int64_t row)
{
	int64_t off = 0;

	for (int k = (int)shape->n - 2; k >= 0; k--) {
		off += row % shape->d[k] * l->stride[k];
		row /= shape->d[k];
	}
	return off * l->elem_bytes;
}

/* Columns [col, col + cols) of one row. */
static void move_piece(const struct pldi_move *m, int64_t row, int64_t col, int64_t cols)
{
	const int last = (int)m->shape.n - 1;
	const struct pl_layout *d = m->dst_layout, *s = m->src_layout;
	pl_dims piece = m->shape;
	struct pldi_runs r;

	for (int k = 0; k < last; k++)
		piece.d[k] = 1;
	piece.d[last] = cols;
	pldi_runs_plan(&r, d, s, &piece);
	move_runs(m, &r,
		  (char *)m->dst + row_bytes(d, &m->shape, row) +
			  col * d->stride[last] * d->elem_bytes,
		  (const char *)m->src + row_bytes(s, &m->shape, row) +
			  col * s->stride[last] * s->elem_bytes);
}

static void move_blocks(const struct pldi_move *m)
{
	const int last = (int)m->shape.n - 1;
	int64_t rows = 1, cols = m->shape.d[last], height, width;

	for (int k = 0; k < last; k++)
		rows *= m->shape.d[k];
	height = m->chunk_rows && m->chunk_rows < rows ? m->chunk_rows : rows;
	width = m->chunk_cols && m->chunk_cols < cols ? m->chunk_cols : cols;
	if (rows == 0 || cols == 0)
		return;
	for (int64_t top = 0; top < rows; top += height) {
		int64_t bottom = rows - top < height ? rows : top + height;

		for (int64_t col = 0; col < cols; col += width)
			for (int64_t row = top; row < bottom; row++)
				move_piece(m, row, col, cols - col < width ? cols - col : width);
	}
}

void pldi_rma_move(const struct pldi_move *m)
{
	struct pldi_runs r;

	if (m->chunk_rows || m->chunk_cols) {
		move_blocks(m);
		return;
	}
	pldi_runs_plan(&r, m->dst_layout, m->src_layout, &m->shape);
	move_runs(m, &r, m->dst, m->src);
}
