#include "import/python/dialect/py_spot.h"
#include "import/python/dialect/pyread_terms.h"

#include <string.h>

/* What tiles of integers hold, as expressions of their places: integers that are loaded from a
 * tensor and what is computed of them. Pointers and masks of gathers are made of such. */

static gboolean is_open(const PyRead *p, gconstpointer loop)
{
    for (guint i = 0; i < p->loops->len; i++)
        if (g_array_index(p->loops, OpenLoop, i).node == loop)
            return TRUE;
    return !loop;
}

/* What places of a design may be made of. */
static void look(const WsExpr *node, gpointer data)
{
    static const WsFunc known[] = { WS_FUNC_CDIV, WS_FUNC_MIN, WS_FUNC_MAX, WS_FUNC_ABS,
                                    WS_FUNC_SELECT };
    gboolean is = node->op != WS_EXPR_CALL;
    for (guint i = 0; i < G_N_ELEMENTS(known); i++)
        is |= node->func == known[i];
    *(gboolean *)data &= is;
}

const WsExpr *py_elements(PyRead *p, const Val *v)
{
    const Val *m = p->group && !py_is_former(p, v) ? py_formula(p, v) : NULL;
    const WsExpr *e = m && m->text ? ws_x_parsed(p->r, m->text) : NULL;
    for (guint i = 0; e && m->reads && i < m->reads->len; i++) {
        const gint64 value = g_array_index(m->reads, gint64, i);
        const WsReadValue *held = &g_array_index(p->group->values, WsReadValue, value);
        const WsExpr *by = is_open(p, held->within) ? held->element : NULL;
        if (held->rows > 1 && held->cols == 1)
            by = ws_x_replace(p->r, by, "col", ws_x_name(p->r, "row"));
        e = ws_x_replace(p->r, e, held->name, by);
    }
    gboolean plain = TRUE;
    if (e)
        ws_expr_visit(e, look, &plain);
    return plain ? e : NULL;
}

void py_note_elements(PyRead *p, gint value, const WsExpr *e)
{
    WsReadValue *held = &g_array_index(p->group->values, WsReadValue, value);
    const guint n = p->loops->len;
    held->within = n ? g_array_index(p->loops, OpenLoop, n - 1).node : NULL;
    held->element = strcmp(held->dtype, "i32") ? NULL
                    : held->rows > 1 && held->cols == 1
                        ? ws_x_replace(p->r, e, "row", ws_x_name(p->r, "col"))
                        : e;
}

void py_forget_elements(PyRead *p)
{
    for (guint i = 0; p->group && i < p->group->values->len; i++)
        g_array_index(p->group->values, WsReadValue, i).element = NULL;
}

static void note_number(const WsExpr *node, gpointer data)
{
    if (node->op == WS_EXPR_INDEX)
        py_note_number(data, node->name);
}

void py_note_numbers(PyRead *p, const WsExpr *e)
{
    ws_expr_visit(e, note_number, p);
}
