/* Parts of buffers and of values. Where extents are powers of two, a tile of 192 rows is three of
 * 64 that follow each other; values are halved. */
#include "codegen/python/py.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/value.h"
#include "program/program.h"

guint ws_py_part_rows(guint rows)
{
    return rows & -rows;
}

const char *ws_py_stages(WsPy *y, const WsBuffer *b, guint *rows)
{
    *rows = b->rank == 1 ? 1 : ws_py_part_rows(b->rows);
    const guint n = b->stages * b->array * (b->rank == 1 ? 1 : b->rows / *rows);
    const char *count = ws_py_count(y, b->stages_name);
    if (!ws_py_pow2(b->cols) || (b->rank > 1 && *rows < 8 && *rows != b->rows))
        ws_py_refuse(y, NULL,
                     ws_py_phrase(y,
                                  "buffer %s of %u rows and %u columns (extents are powers of "
                                  "two)",
                                  b->name, b->rows, b->cols),
                     "make them powers of two");
    return count && n == b->stages ? count : ws_py_format(y, "%u", n);
}

const char *ws_py_part_stage(WsPy *y, const WsAccess *a, const char *part)
{
    const WsBuffer *b = &y->p->buffer[a->buffer];
    const char *stage = ws_py_stage(y, a);
    if (!part)
        return stage;
    return ws_py_format(y, b->array > 1 ? "(%s) * %u + %s" : "%s * %u + %s", stage,
                        b->rows / ws_py_part_rows(b->rows), part);
}

const char *ws_py_view_part(WsPy *y, const WsAccess *a)
{
    const WsBuffer *b = &y->p->buffer[a->buffer];
    const guint rows = ws_py_part_rows(b->rows);
    gint64 row0 = 0;
    if (b->rank == 1 || rows == b->rows)
        return NULL;
    if (!ws_py_constant(y, a->row0, &row0) || a->rows != rows || row0 % rows != 0 ||
        a->cols != b->cols)
        ws_py_refuse(y, y->op,
                     ws_py_phrase(y, "%u rows of a tile of %u (extents are powers of two)", a->rows,
                                  b->rows),
                     ws_py_phrase(y, "views of %u rows, or a tile of 2^n rows", rows));
    return ws_py_format(y, "%" G_GINT64_FORMAT, row0 / rows);
}

gboolean ws_py_whole(const WsPy *y, const WsValueUse *u)
{
    const WsRegValue *v = &y->agent->value[u->value];
    return u->rows == v->rows && u->cols == v->cols;
}

const char *ws_py_columns(WsPy *y, const WsValueUse *u)
{
    const WsRegValue *v = &y->agent->value[u->value];
    const char *name = y->value[u->value];
    if (ws_py_whole(y, u))
        return name;
    if (u->rows != v->rows || !u->cols || v->cols % u->cols != 0 ||
        !ws_py_pow2(v->cols / u->cols)) {
        ws_py_refuse(y, y->op, "part of a value that halving its columns does not give",
                     "all rows, and columns in a power-of-two share");
        return name;
    }
    return ws_py_format(y, "%s(%s, %s, %u)", ws_py_helper(y, "columns"), name,
                        ws_py_text(y, u->col0), u->cols);
}
