#include "import/python/dialect/pyread_terms.h"
#include "import/python/pyread_branch.h"
#include "import/python/pyread_object.h"

#include <string.h>

/* Accumulators that are read by what is not followed any further: a product that is in flight
 * there is, whatever becomes of what was read. */

static gboolean is_accumulator(const PyRead *p, gint64 value)
{
    return g_array_index(p->group->values, WsReadValue, value).accumulator;
}

static gboolean reads_one(const PyRead *p, const Val *v)
{
    gboolean any = v->kind == VAL_TILE && is_accumulator(p, v->index);
    for (guint i = 0; v->reads && i < v->reads->len; i++)
        any |= is_accumulator(p, g_array_index(v->reads, gint64, i));
    return any;
}

gboolean py_holds_tile(const Val *v)
{
    const guint step = v->kind == VAL_OBJECT ? 2 : 1;
    const gboolean bundle = v->kind == VAL_OBJECT || v->kind == VAL_TUPLE;
    gboolean any = v->kind == VAL_TILE || v->kind == VAL_MATH;
    for (guint i = 0; bundle && i < v->n && !any; i++)
        any = py_holds_tile(v->item[step * i + step - 1]);
    return any;
}

void py_look(PyRead *p, const Val *v, const WsPyNode *at)
{
    const guint step = v->kind == VAL_OBJECT ? 2 : 1;
    if (v->kind == VAL_OBJECT || v->kind == VAL_TUPLE) {
        for (guint i = 0; i < v->n; i++)
            py_look_at(p, v->item[step * i + step - 1], at);
        return;
    }
    Val whole = *v; /* a formula has no word for parts of a value */
    if (v->kind == VAL_TILE)
        whole.text = NULL;
    const Val *m = py_is_tile(v) && p->group ? py_formula(p, &whole) : NULL;
    if (!m || m->rows * m->cols <= 1)
        return;
    if (!g_strcmp0(m->dtype, "b")) /* a condition holds little as it is */
        m = py_function_tile(p, "select", (const Val *[]){ m, py_literal(p, 1), py_literal(p, 0) },
                             3, FALSE);
    const char *dtype = m->dtype;
    if (m->cols > 1) {
        m = py_function_tile(p, "rowmax", &m, 1, TRUE);
        if (m->kind == VAL_MATH)
            ((Val *)m)->dtype = dtype;
    }
    py_hold(p, "seen", m, at, 0, 0);
}

void py_look_at(PyRead *p, const Val *v, const WsPyNode *at)
{
    const gboolean bundle = v->kind == VAL_OBJECT || v->kind == VAL_TUPLE;
    if (p->group && p->in_kernel && !p->computing && !p->touching && (bundle || reads_one(p, v)))
        py_look(p, v, at);
}

/* The same of all that the expression names. */
static void py_look_at_names(PyRead *p, const WsPyNode *node, const WsPyNode *at)
{
    g_autofree char *dotted =
        node->kind == WS_PY_NAME || node->kind == WS_PY_ATTR ? ws_python_dotted(node) : NULL;
    const Val *v = !dotted                    ? NULL
                   : node->kind == WS_PY_NAME ? py_lookup(p, dotted)
                                              : py_path(p, dotted);
    if (v && (node->kind == WS_PY_NAME || v->kind != VAL_OPAQUE)) {
        py_look_at(p, v, at);
        return;
    }
    if (node->kind == WS_PY_ATTR && strcmp(node->text, "T") != 0)
        return; /* its shape, its type */
    const WsPyNode *callee = node->kind == WS_PY_CALL ? node->kid[0] : NULL;
    for (guint i = 0; i < node->n; i++)
        py_look_at_names(
            p, node->kid[i] == callee && callee->kind == WS_PY_ATTR ? callee->kid[0] : node->kid[i],
            at);
}

/* Whether the value of such a node is made of what its parts are; a function of the file was
 * walked, and the law looks at what others are given. */
static gboolean computes(PyRead *p, const WsPyNode *node)
{
    if (node->kind == WS_PY_NAME || node->kind == WS_PY_TUPLE || node->kind == WS_PY_LIST)
        return FALSE;
    if (node->kind == WS_PY_ATTR)
        return !strcmp(node->text, "T");
    const Val *f = node->kind == WS_PY_CALL && node->kid[0]->kind == WS_PY_NAME
                       ? py_lookup(p, node->kid[0]->text)
                       : NULL;
    return !f || (f->kind != VAL_FUNC && f->kind != VAL_CLASS);
}

const Val *py_eval(PyRead *p, const WsPyNode *node)
{
    const guint within = p->deciding && !py_joins(node) ? PY_WITHIN : 0;
    p->deciding += within;
    const Val *v = py_current(p, py_evaluate(p, node), node);
    p->deciding -= within;
    const gboolean looked = node->kind == WS_PY_CALL && v->depth; /* by the law */
    if (v->kind == VAL_OPAQUE && !looked && p->group && p->in_kernel && computes(p, node))
        py_look_at_names(p, node, node);
    return v;
}
