#include "import/python/dialect/pyread_terms.h"

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

/* A tile of a tensor through pointers, where a remark says which coordinates and which extents:
 * "# at: [z, h, m * BM], [64, 1]". NULL: it does not. */
WsReadStep *py_pointed_by(PyRead *p, WsReadKind kind, const WsPyNode *pointer, const WsPyNode *at,
                          gint64 *rows, gint64 *cols)
{
    const WsPyNode *list = NULL, *extent;
    g_autoptr(WsPython) tree = p->group ? py_said(p, at, "# at: ", &list) : NULL;
    if (!list || list->kind != WS_PY_TUPLE || list->n != 2 || list->kid[1]->n != 2)
        return NULL;
    extent = list->kid[1];
    list = list->kid[0];
    *rows = extent->kid[0]->kind == WS_PY_INT ? extent->kid[0]->i : 0;
    *cols = extent->kid[1]->kind == WS_PY_INT ? extent->kid[1]->i : 0;
    const Val *base = list && pointer ? base_of(p, pointer) : NULL;
    if (!base || *rows < 1 || *cols < 1 || list->kind != WS_PY_LIST || !list->n || list->n > 5)
        return NULL;
    const WsExpr *coord[5];
    for (guint i = 0; i < list->n; i++)
        if (!(coord[i] = py_eval_int(p, list->kid[i])))
            return NULL;
    const gint tensor = py_tensor(p, base, list->n, at->line);
    if (tensor < 0)
        return NULL;
    return py_at_tensor(p, kind, tensor, coord, list->n, at);
}

WsReadStep *py_pointed(PyRead *p, WsReadKind kind, const WsPyNode *at, gint64 *rows, gint64 *cols)
{
    return py_pointed_by(p, kind, at->n > 1 ? at->kid[1] : NULL, at, rows, cols);
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

/* 0, 1, 2 …, as arange gives them. */
static gboolean counts_rows(const PyRead *p, const Val *v)
{
    if (v->kind == VAL_MATH)
        return !(v->reads && v->reads->len) && (!strcmp(v->text, "row") || !strcmp(v->text, "col"));
    for (guint i = p->to->len; v->kind == VAL_TILE && !v->text && i-- > 0;) {
        const WsReadStep *s = g_ptr_array_index(p->to, i);
        if (s->kind == WS_READ_COMPUTE && s->value == v->index)
            return s->text &&
                   (g_str_has_suffix(s->text, " = row") || g_str_has_suffix(s->text, " = col"));
        if (s->value == v->index && (s->kind == WS_READ_READ || s->kind == WS_READ_MMA))
            return FALSE;
    }
    return FALSE;
}

/* Elements of tensors of integers: "# is: LEN[b, t]" behind the assignment. */
const Val *py_said_value(PyRead *p, const WsPyNode *at)
{
    const WsPyNode *node = NULL, *line = at->kid[at->n - 1];
    g_autoptr(WsPython) tree = p->group ? py_said(p, at, "# is: ", &node) : NULL;
    if (!node)
        return NULL;
    const Val *row = g_hash_table_lookup(p->frame->vars, "row");
    const gboolean counts = row ? counts_rows(p, row) : p->from == WS_IMPORT_TLE;
    const guint steps = p->to->len;
    const Val *number = py_int(p, ws_x_name(p->r, "row"));
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
    if (e && p->to->len == steps)
        return py_int(p, e);
    py_unread(p, at, "a remark that says something else than its line");
    return NULL;
}

/* Rows picked by data: "# gather: [b, at_row, 0]" behind a store of what was loaded through
 * pointers, at_row a number that depends on `row`. NULL: it says no such thing. */
WsReadStep *py_gather(PyRead *p, const Val *to, const WsPyNode *pointers, const WsPyNode *at)
{
    const WsPyNode *list = NULL;
    const Val *base = NULL;
    g_autoptr(WsPython) tree = p->group ? py_said(p, at, "# gather: ", &list) : NULL;
    if (!list || list->kind != WS_PY_LIST || !list->n || list->n > 5)
        return NULL;
    base = base_of(p, pointers);
    const gint tensor = base ? py_tensor(p, base, list->n, at->line) : -1;
    const WsExpr *coord[5];
    for (guint i = 0; i < list->n; i++)
        if (!(coord[i] = py_eval_int(p, list->kid[i])))
            return NULL;
    if (tensor < 0)
        return NULL;
    WsReadStep *s = py_step(p, WS_READ_GATHER, at);
    s->tensor = tensor;
    s->buffer = to->place;
    s->n_coord = list->n;
    memcpy(s->coord, coord, list->n * sizeof *coord);
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    t->rank = MAX(t->rank, list->n);
    if (!t->dtype)
        t->dtype = g_array_index(p->r->buffers, WsReadBuffer, to->place.object).dtype;
    return s;
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
    if (!t->dtype)
        t->dtype = g_array_index(p->group->values, WsReadValue, s->value).dtype;
    return py_none(p);
}
