#include "import/python/dialect/pyread_terms.h"

#include <string.h>

/* extract_tile and insert_tile: parts of tiles, which go through shared memory of the compiler's
 * own where a step cannot name the part. */

/* One of the parts of equal size that a tile is cut into. */
typedef struct {
    gint64 row, col, rows, cols;
} Part;

static gboolean part_of(const Val *whole, const Val *index, gint64 rows, gint64 cols, Part *part)
{
    if (!index || index->kind != VAL_TUPLE || index->n != 2 || rows < 1 || cols < 1)
        return FALSE;
    const gint64 i = py_number(index->item[0], -1), k = py_number(index->item[1], -1);
    if (i < 0 || k < 0 || i >= whole->rows || k >= whole->cols || whole->rows % rows ||
        whole->cols % cols)
        return FALSE;
    *part = (Part){ i * rows, k * cols, rows, cols };
    return part->row + rows <= whole->rows && part->col + cols <= whole->cols;
}

/* A tile of rows and columns that arithmetic or a load made. */
static gboolean is_whole(const Val *v)
{
    return v && py_is_tile(v) && !(v->kind == VAL_TILE && (v->text || v->n)) && v->rows > 1 &&
           v->cols > 1;
}

static const char *type_of(const PyRead *p, gint value)
{
    return g_array_index(p->group->values, WsReadValue, value).dtype;
}

/* Shared memory that holds the tile; NULL: it is none. */
const Val *py_laid_down(PyRead *p, const Val *tile, const WsPyNode *at)
{
    const char *hint = p->hint;
    p->hint = "part";
    const gint value = py_hold(p, "whole", tile, at, 0, 0);
    const char *dtype = value < 0 ? NULL : type_of(p, value);
    Val *shape = py_val(p, VAL_TUPLE), *type = py_val(p, VAL_NAME), *held = py_val(p, VAL_TILE);
    shape->item = g_new0(const Val *, 3);
    g_ptr_array_add(p->r->pool, shape->item);
    shape->item[0] = py_literal(p, tile->rows);
    shape->item[1] = py_literal(p, tile->cols);
    shape->n = 2;
    type->text = dtype ? py_dtype_name(dtype) : "";
    held->index = value;
    held->rows = tile->rows;
    held->cols = tile->cols;
    const Val *buffer =
        dtype ? py_mean_ALLOCATE(p, (const Val *[]){ type, shape, NULL, NULL }, at) : NULL;
    p->hint = hint;
    if (!buffer || buffer->kind != VAL_BUFFER)
        return NULL;
    py_compilers(p, buffer);
    py_mean_WRITE(p, (const Val *[]){ buffer, held, NULL }, at);
    return buffer;
}

static const Val *view_of(PyRead *p, const Val *buffer, const Part *part, const WsPyNode *at)
{
    const Val *rows[] = { buffer, py_literal(p, part->row), py_literal(p, part->rows),
                          py_literal(p, 0) };
    const Val *v = py_mean_SLICE(p, rows, at);
    const Val *cols[] = { v, py_literal(p, part->col), py_literal(p, part->cols),
                          py_literal(p, 1) };
    return py_mean_SLICE(p, cols, at);
}

const Val *py_mean_TLE_EXTRACT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const Val *shape = py_given(a[2]) ? a[2] : a[3];
    const gboolean pair = shape && shape->kind == VAL_TUPLE && shape->n == 2;
    Part part;
    if (a[2] && a[3])
        return py_wrong(p, at, "a part of a tile with more than its shape");
    if (!p->group || !is_whole(a[0]) || !pair)
        return py_wrong(p, at, "a part of something that is no tile");
    if (!part_of(a[0], a[1], py_number(shape->item[0], 0), py_number(shape->item[1], 0), &part))
        return py_wrong(p, at, "a part of a tile that is not one of equal parts");
    if (a[0]->kind == VAL_TILE && part.rows == a[0]->rows && (p->converting || p->handing)) {
        Val *v = py_val(p, VAL_TILE); /* stored, or an operand: the step names the columns */
        *v = *a[0];
        v->at = part.col;
        v->cols = part.cols;
        v->text = ws_source_format(p->r, ".cols(%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ")", v->at,
                                   v->cols);
        return v;
    }
    const Val *buffer = py_laid_down(p, a[0], at);
    const Val *view = buffer ? view_of(p, buffer, &part, at) : NULL;
    return view ? py_mean_READ(p, &view, at)
                : py_wrong(p, at, "a part of something that is no tile");
}

/* insert_tile(x, tile, index): x with one of its parts replaced. */
const Val *py_mean_TLE_INSERT(PyRead *p, const Val **a, const WsPyNode *at)
{
    Part part;
    if (!p->group || !is_whole(a[0]) || !is_whole(a[1]))
        return py_wrong(p, at, "a tile put into something that is no tile, or something else");
    if (!part_of(a[0], a[2], a[1]->rows, a[1]->cols, &part))
        return py_wrong(p, at, "a place in a tile that is not that of one of equal parts");
    const Val *buffer = py_laid_down(p, a[0], at);
    const Val *view = buffer ? view_of(p, buffer, &part, at) : NULL;
    if (!view || view->kind != VAL_BUFFER)
        return py_wrong(p, at, "a tile put into something that is no tile, or something else");
    py_mean_WRITE(p, (const Val *[]){ view, a[1], NULL }, at);
    return py_mean_READ(p, &buffer, at);
}
