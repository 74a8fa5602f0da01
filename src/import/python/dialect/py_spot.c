#include "import/python/dialect/py_spot.h"
#include "import/python/dialect/py_sums.h"
#include "import/python/dialect/pyread_terms.h"

#include <string.h>

/* Sums of pointers as coordinates of contiguous tensors, and rows that integers of a tensor pick.
 */

/* Elements between neighbours along dimension d as one product. FALSE: an extent is no product. */
static gboolean stride_of(PyRead *p, const WsReadTensor *t, guint d, GArray *to)
{
    const WsExpr *e = ws_x_int(p->r, 1);
    for (guint k = d + 1; k < t->rank && e; k++)
        e = t->shape[k] ? ws_x_op(p->r, WS_EXPR_MUL, e, t->shape[k]) : NULL;
    return e && py_write_out(e, 1, to) && to->len == 1 && g_array_index(to, PyTerm, 0).factor > 0;
}

/* Coordinates of each element. */
static gboolean coordinates(PyRead *p, const Val *pointer, const WsReadTensor *t,
                            const WsExpr *x[5])
{
    g_autoptr(GArray) terms = py_new_terms();
    const WsExpr *e = ws_x_parsed(p->r, pointer->text);
    g_autoptr(GPtrArray) stride = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    if (!t->contiguous || t->rank < 2 || t->rank > 5 || (t->strided && t->stride[0]) || !e ||
        !py_write_out(e, 1, terms))
        return FALSE;
    for (guint d = 0; d < t->rank; d++) {
        GArray *own = py_new_terms();
        g_ptr_array_add(stride, own);
        x[d] = ws_x_int(p->r, 0);
        if (!stride_of(p, t, d, own))
            return FALSE;
    }
    for (guint i = 0; i < terms->len; i++) {
        const PyTerm *term = &g_array_index(terms, PyTerm, i);
        for (guint d = 0; d < t->rank; d++) {
            const GArray *own = g_ptr_array_index(stride, d);
            const WsExpr *part = py_quotient(p, term, &g_array_index(own, PyTerm, 0));
            if (part) {
                x[d] = ws_x_op(p->r, WS_EXPR_ADD, x[d], part);
                break;
            }
        }
    }
    for (guint d = 0; d < t->rank; d++)
        if (!x[d])
            return FALSE;
    return TRUE;
}

gboolean py_spot_by_shape(PyRead *p, const Val *pointer, gint tensor, PySpot *s)
{
    const WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    const gboolean tile = pointer->rows > 1 && pointer->cols > 1;
    const WsExpr *x[5];
    guint along = 0;
    *s = (PySpot){ .n = t->rank };
    if (!coordinates(p, pointer, t, x))
        return FALSE;
    for (guint d = 0; d < s->n; d++) {
        const gboolean rows = ws_expr_mentions(x[d], "row"), cols = ws_expr_mentions(x[d], "col");
        gint64 factor = 1;
        s->at[d] = x[d];
        s->extent[d] = 1;
        if (!rows && !cols)
            continue;
        s->name[d] = rows ? "row" : "col";
        s->extent[d] = rows ? pointer->rows : pointer->cols;
        s->at[d] = ws_x_without(p->r, x[d], s->name[d], FALSE, &factor);
        along++;
        if ((rows && cols) || factor != 1 || !s->at[d] || ws_expr_mentions(s->at[d], s->name[d]) ||
            d + 1 + (tile && rows) != s->n)
            return FALSE;
    }
    return along == (tile ? 2u : 1u);
}

/* --- rows that are picked --------------------------------------------------------------------- */

typedef struct {
    gboolean index;
} Seen;

static void look(const WsExpr *node, gpointer data)
{
    ((Seen *)data)->index |= node->op == WS_EXPR_INDEX;
}

static gboolean has_numbers(const WsExpr *e)
{
    Seen s = { FALSE };
    ws_expr_visit(e, look, &s);
    return s.index;
}

/* a < b whatever the element: a place within its extent. */
static gboolean always(PyRead *p, const WsExpr *e, const char *name, gint64 extent)
{
    gint64 factor, apart;
    const gboolean less = e->op == WS_EXPR_LT;
    const WsExpr *at = less ? ws_x_without(p->r, e->arg[0], name, FALSE, &factor) : NULL;
    return at && factor == 1 && !ws_expr_mentions(at, name) &&
           py_sums_apart(e->arg[1], ws_x_op(p->r, WS_EXPR_ADD, at, ws_x_int(p->r, extent)),
                         &apart) &&
           apart >= 0;
}

/* The conditions of a mask that are about rows alone, joined. FALSE: another one is in it. */
static gboolean about_rows(PyRead *p, const WsExpr *e, const char *row, const char *col,
                           gint64 cols, const WsExpr **all)
{
    if (e->op == WS_EXPR_AND)
        return about_rows(p, e->arg[0], row, col, cols, all) &&
               about_rows(p, e->arg[1], row, col, cols, all);
    if (ws_expr_mentions(e, col))
        return always(p, e, col, cols);
    *all = *all ? ws_x_op(p->r, WS_EXPR_AND, *all, ws_x_own(p->r, ws_expr_ref(e)))
                : ws_x_own(p->r, ws_expr_ref(e));
    return TRUE;
}

/* Along dimension d; of integers of a tensor it is taken for granted. */
static gboolean lies(PyRead *p, const PyPick *pick, guint d, const WsExpr *shape)
{
    const WsExpr *at = pick->coord[d];
    gint64 factor = 0, extent = 1;
    if (has_numbers(at)) {
        ws_source_granted(
            p->r,
            ws_source_format(p->r,
                             "integers that pick rows of `%s`, where the mask "
                             "lets them pass, lie in its dimension %u",
                             g_array_index(p->r->tensors, WsReadTensor, pick->tensor).name, d));
        return TRUE;
    }
    if (ws_expr_mentions(at, "row")) {
        at = ws_x_without(p->r, at, "row", FALSE, &factor);
        extent = pick->rows;
        if (factor != 1 || ws_expr_mentions(at, "row"))
            return FALSE;
    }
    return (py_is_from_zero(p, at) || py_is_never_negative(p, at)) && py_fits(p, at, extent, shape);
}

gboolean py_picked(PyRead *p, const Val *pointer, const Val *mask, PyPick *pick, const char **why)
{
    const gint tensor = py_tensor(p, pointer->item[0], 0, 0);
    const WsReadTensor *t = tensor < 0 ? NULL : &g_array_index(p->r->tensors, WsReadTensor, tensor);
    const WsExpr *x[5], *only = NULL;
    gint64 factor;
    guint rows = 0;
    *why = NULL;
    if (!t || pointer->rows < 2 || pointer->cols < 2 || !coordinates(p, pointer, t, x))
        return FALSE;
    const guint last = t->rank - 1;
    const gboolean turned = ws_expr_mentions(x[last], "row");
    const char *row = turned ? "col" : "row", *col = turned ? "row" : "col";
    *pick = (PyPick){ .tensor = tensor,
                      .n = t->rank,
                      .turned = turned,
                      .rows = turned ? pointer->cols : pointer->rows,
                      .cols = turned ? pointer->rows : pointer->cols };
    gboolean numbers = FALSE;
    for (guint d = 0; d < last; d++) {
        if (ws_expr_mentions(x[d], col))
            return FALSE;
        if (ws_expr_mentions(x[d], row))
            rows++;
        numbers |= has_numbers(x[d]);
        pick->coord[d] = ws_x_replace(p->r, x[d], row, ws_x_name(p->r, "row"));
    }
    pick->coord[last] = ws_x_without(p->r, x[last], col, FALSE, &factor);
    if (rows != 1 || factor != 1 || ws_expr_mentions(pick->coord[last], row) ||
        ws_expr_mentions(pick->coord[last], col) || (!numbers && !turned))
        return FALSE;
    const WsExpr *m = py_given(mask) ? py_elements(p, mask) : NULL;
    if (py_given(mask) && (!m || !about_rows(p, m, row, col, pick->cols, &only)))
        *why = "a mask of rows that asks for more than which rows";
    for (guint d = 0; d < last; d++)
        if (!lies(p, pick, d, t->shape[d]))
            *why = "rows that are not shown to lie in their tensor";
    for (guint d = 0; d < last && only; d++)
        if (ws_expr_mentions(pick->coord[d], "row")) /* what is in front of the tensor reads as 0 */
            pick->coord[d] = ws_x_call(p->r, WS_FUNC_SELECT,
                                       ws_x_replace(p->r, only, row, ws_x_name(p->r, "row")),
                                       pick->coord[d], ws_x_int(p->r, -1));
    if (!py_is_from_zero(p, pick->coord[last]) ||
        !py_fits(p, pick->coord[last], pick->cols, t->shape[last]))
        *why = "rows of which not all columns are shown to lie in their tensor";
    return TRUE;
}
