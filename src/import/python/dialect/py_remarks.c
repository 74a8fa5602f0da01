#include "import/python/dialect/py_place.h"
#include "import/python/dialect/pyread_terms.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* Remarks at the end of statements, where an export says what the language has no word for, or what
 * does not follow from a sum of pointers. */

/* An expression that an export says in a remark at the end of a statement. */
WsPython *py_said(PyRead *p, const WsPyNode *at, const char *key, const WsPyNode **node)
{
    const char *line = at->end_line <= p->r->n_lines ? p->r->line[at->end_line - 1] : "";
    const char *text = strstr(line, key);
    text = text ? text + strlen(key) : NULL;
    WsPython *tree = text ? ws_python_parse(text, strlen(text), p->file, NULL) : NULL;
    const WsPyNode *module = tree ? ws_python_module(tree) : NULL;
    *node = module && module->n == 1 && module->kid[0]->kind == WS_PY_EXPR ? module->kid[0]->kid[0]
                                                                           : NULL;
    return tree;
}

/* The tensor that a pointer is made of: what stands leftmost. */
static const Val *base_of(PyRead *p, const WsPyNode *pointer)
{
    while (pointer->kind == WS_PY_BINARY || (pointer->kind == WS_PY_CALL && pointer->n > 1))
        pointer = pointer->kid[pointer->kind == WS_PY_CALL]; /* pieces(pointers, 8) */
    return pointer->kind == WS_PY_NAME ? py_lookup(p, pointer->text) : NULL;
}

WsReadStep *py_at_tensor(PyRead *p, WsReadKind kind, gint tensor, const WsExpr *const *coord,
                         guint n, const WsPyNode *at)
{
    WsReadStep *s = py_step(p, kind, at);
    s->tensor = tensor;
    s->n_coord = n;
    memcpy(s->coord, coord, n * sizeof *coord);
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    t->rank = MAX(t->rank, n);
    return s;
}

const WsPyNode *py_argument(const WsPyNode *call, guint i, const char *name)
{
    for (guint k = 1; k < call->n; k++)
        if (call->kid[k]->kind == WS_PY_KEYWORD && !strcmp(call->kid[k]->text, name))
            return call->kid[k]->kid[0];
    const WsPyNode *arg = i + 1 < call->n ? call->kid[i + 1] : NULL;
    return arg && arg->kind != WS_PY_KEYWORD && arg->kind != WS_PY_STAR ? arg : NULL;
}

static gboolean coordinates(PyRead *p, const WsPyNode *list, PyPlace *said)
{
    gboolean known = list->kind == WS_PY_LIST && list->n > 0 && list->n <= 5;
    said->n = known ? list->n : 0;
    for (guint i = 0; known && i < said->n; i++)
        known = (said->coord[i] = py_eval_int(p, list->kid[i])) != NULL;
    return known;
}

/* Whether the line says of the tile what its remark does; what differs is listed. */
static gboolean agrees(PyRead *p, const char *remark, const PyPlace *said, gint tensor,
                       const WsPyNode *pointer, const WsPyNode *mask, const WsPyNode *at)
{
    const char *why = pointer ? py_place_differs(p, said, tensor, pointer, mask) : "its pointer";
    if (why)
        py_unread(
            p, at,
            ws_source_format(p->r, "a remark `%s` that its line does not say: %s", remark, why));
    return !why;
}

/* What a load leaves out is 0. */
static gboolean leaves_zeros(PyRead *p, const WsPyNode *load, const WsPyNode *at)
{
    const WsPyNode *other = py_argument(load, 2, "other");
    gint64 n;
    const gboolean zero =
        !py_argument(load, 1, "mask") || (other && ws_x_is(py_eval_int(p, other), &n) && n == 0);
    if (!zero)
        py_unread(p, at, "what a load of a remark leaves out, which is not 0");
    return zero;
}

/* A tile of a tensor through pointers, where a remark says which coordinates and which extents:
 * "# at: [z, h, m * BM], [64, 1]". NULL: it does not. */
WsReadStep *py_pointed_by(PyRead *p, WsReadKind kind, const WsPyNode *pointer, const WsPyNode *at,
                          gint64 *rows, gint64 *cols)
{
    const WsPyNode *list = NULL, *extent;
    g_autoptr(WsPython) tree = p->group ? py_said(p, at, "# at: ", &list) : NULL;
    const gboolean pair = list && list->kind == WS_PY_TUPLE && list->n == 2;
    if (!list || (pair ? list->kid[0] : list)->kind != WS_PY_LIST)
        return NULL; /* none of an export */
    extent = pair ? list->kid[1] : list;
    list = pair ? list->kid[0] : list;
    const gboolean load = kind == WS_READ_READ;
    const WsPyNode *mask = /* of a load to shared memory: none is read */
        kind == WS_READ_LOAD ? NULL : py_argument(at, load ? 1 : 2, "mask");
    PyPlace said = { .base = pointer ? base_of(p, pointer) : NULL };
    const gboolean two = extent != list && extent->kind == WS_PY_LIST && extent->n == 2;
    *rows = said.rows = two ? py_number(py_eval(p, extent->kid[0]), 0) : 0;
    *cols = said.cols = two ? py_number(py_eval(p, extent->kid[1]), 0) : 0;
    if (!said.base || *rows < 1 || *cols < 1 || !coordinates(p, list, &said)) {
        py_law_value(p, at, "a remark `# at:` whose tensor, coordinates or extents are not known");
        return NULL;
    }
    const gint tensor = py_tensor(p, said.base, said.n, at->line);
    if (tensor < 0 || !agrees(p, "# at:", &said, tensor, pointer, mask, at) ||
        (load && !leaves_zeros(p, at, at)))
        return NULL;
    return py_at_tensor(p, kind, tensor, said.coord, said.n, at);
}

WsReadStep *py_pointed(PyRead *p, WsReadKind kind, const WsPyNode *at, gint64 *rows, gint64 *cols)
{
    return py_pointed_by(p, kind, py_argument(at, 0, "pointer"), at, rows, cols);
}

const Val *py_tensor_element(PyRead *p, const Val *tensor, const WsPyNode *at)
{
    const guint n = at->kind == WS_PY_TUPLE ? at->n : 1;
    const gint number = n <= 5 ? py_tensor(p, tensor, n, at->line) : -1;
    if (number < 0)
        return py_opaque(p);
    WsExpr *arg[5];
    for (guint i = 0; i < n; i++) {
        const WsExpr *e = py_eval_int(p, at->kind == WS_PY_TUPLE ? at->kid[i] : at);
        if (!e) {
            while (i-- > 0)
                ws_expr_unref(arg[i]);
            return py_opaque(p);
        }
        arg[i] = ws_expr_ref(e);
    }
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, number);
    t->dtype = "i32";
    t->rank = MAX(t->rank, n);
    py_note_number(p, t->name);
    return py_int(p, ws_x_own(p->r, ws_expr_index(t->name, -1, arg, n)));
}

/* How many there are of 0, 1, 2 …, as arange gives them; 0: it is something else. */
static gint64 counted_rows(const PyRead *p, const Val *v)
{
    const Val *m = v->kind == VAL_TILE && !v->text && !py_is_former(p, v) ? v->counted : v;
    return m && m->kind == VAL_MATH && !(m->reads && m->reads->len) &&
                   (!strcmp(m->text, "row") || !strcmp(m->text, "col"))
               ? m->rows * m->cols
               : 0;
}

/* Elements of tensors of integers: "# is: LEN[b, t]" behind the assignment. */
const Val *py_said_value(PyRead *p, const WsPyNode *at)
{
    const WsPyNode *node = NULL, *line = at->kid[at->n - 1];
    g_autoptr(WsPython) tree = p->group ? py_said(p, at, "# is: ", &node) : NULL;
    if (!node)
        return NULL;
    const Val *row = g_hash_table_lookup(p->frame->vars, "row");
    const gint64 rows = row ? counted_rows(p, row) : 0;
    const gboolean counts = rows > 0 || (!row && p->from == WS_IMPORT_TLE);
    const guint steps = p->to->len;
    Val *number = py_val(p, VAL_INT);
    number->e = ws_x_name(p->r, "row");
    number->rows = rows;
    if (counts) { /* of a gather */
        py_assign(p, "row", number);
        py_assign(p, PY_ROW, number);
    }
    const WsExpr *e = py_line_says(p, line, node) ? py_eval_int(p, node) : NULL;
    if (counts && row)
        py_assign(p, "row", row);
    else if (counts)
        g_hash_table_remove(p->frame->vars, "row");
    g_hash_table_remove(p->frame->vars, PY_ROW);
    if (e && p->to->len == steps && number->rows >= 0) {
        Val *v = py_val(p, VAL_INT);
        v->e = e;
        v->rows = ws_expr_mentions(e, "row") ? number->rows : 0;
        return v;
    }
    py_unread(p, at, "a remark that says something else than its line");
    return NULL;
}

/* Rows picked by data: "# gather: [b, at_row, 0]" behind a store of what was loaded through
 * pointers, at_row a number that depends on `row`. NULL: it says no such thing. */
WsReadStep *py_gather(PyRead *p, const Val *to, const WsPyNode *pointers, const WsPyNode *mask,
                      const WsPyNode *at)
{
    const WsPyNode *list = NULL;
    g_autoptr(WsPython) tree = p->group ? py_said(p, at, "# gather: ", &list) : NULL;
    if (!list)
        return NULL;
    PyPlace said = { .base = base_of(p, pointers), .each = TRUE };
    Val buffer = *to;
    if (!buffer.rows) /* not a part of it */
        py_extents(p, &buffer);
    said.rows = buffer.rows;
    said.cols = buffer.cols;
    const gboolean known = coordinates(p, list, &said) && said.n > 1 && said.rows > 0;
    const gint tensor = known && said.base ? py_tensor(p, said.base, said.n, at->line) : -1;
    if (tensor < 0)
        py_unread(p, at, "a remark `# gather:` whose tensor or coordinates are not known");
    if (tensor < 0 || !agrees(p, "# gather:", &said, tensor, pointers, mask, at))
        return NULL;
    WsReadStep *s = py_at_tensor(p, WS_READ_GATHER, tensor, said.coord, said.n, at);
    s->buffer = to->place;
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    if (!t->dtype)
        t->dtype = g_array_index(p->r->buffers, WsReadBuffer, to->place.object).dtype;
    return s;
}

/* The same of a load that is stored at once; `x` is what is stored. */
WsReadStep *py_gathered(PyRead *p, const Val *to, const WsPyNode *x, const WsPyNode *at)
{
    const WsPyNode *list = NULL, *pointers = NULL;
    g_autoptr(WsPython) tree = p->group ? py_said(p, at, "# gather: ", &list) : NULL;
    const gboolean call = x->kind == WS_PY_CALL && x->n > 1 && x->kid[0]->kind == WS_PY_ATTR;
    const Val *f = list && call ? py_eval(p, x->kid[0]) : NULL;
    const gboolean load = f && f->kind == VAL_NAME && g_str_has_prefix(f->text, "triton.") &&
                          g_str_has_suffix(f->text, ".language.load");
    if (load)
        pointers = py_argument(x, 0, "pointer");
    if (!list)
        return NULL;
    if (!pointers)
        py_unread(p, at, "a remark `# gather:` after a store of something else than a load");
    return pointers && leaves_zeros(p, x, at)
               ? py_gather(p, to, pointers, py_argument(x, 1, "mask"), at)
               : NULL;
}

/* An atomic operation of a tile and a tensor: a store that adds, or takes the larger or smaller.
 * NULL: no remark says where. */
const Val *py_add_to_tensor(PyRead *p, const char *how, const Val *value, const WsPyNode *at)
{
    gint64 rows, cols;
    const gboolean is = !strcmp(how, "add") || !strcmp(how, "max") || !strcmp(how, "min");
    WsReadStep *s = p->group && is && value && value->kind == VAL_TILE
                        ? py_pointed(p, WS_READ_WRITE, at, &rows, &cols)
                        : NULL;
    if (!s)
        return NULL;
    s->value = value->index;
    s->text = value->text;
    s->reduce = how;
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, s->tensor);
    t->reduced = TRUE;
    py_type_stored(p, t, g_array_index(p->group->values, WsReadValue, s->value).dtype);
    return py_none(p);
}
