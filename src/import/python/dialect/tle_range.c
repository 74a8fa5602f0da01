#include "import/python/dialect/tle_range.h"

#include <string.h>

#define ANY ((PyRange){ G_MININT32, G_MAXINT32 })

static PyRange range_of(const WsReadGroup *g, const WsExpr *e, gint64 rows, gint64 cols,
                        guint depth);

/* The steps that set a value. `n` counts them, `last` is one. */
static void setters(const GPtrArray *list, gint64 value, guint *n, const WsReadStep **last)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (!s->off && (s->old == value + 1 || (s->value == value && s->kind != WS_READ_WRITE))) {
            ++*n;
            *last = s;
        }
        setters(s->body, value, n, last);
        setters(s->other, value, n, last);
    }
}

/* A value that one formula sets, and nothing else. */
static PyRange range_of_value(const WsReadGroup *g, const char *name, guint depth)
{
    for (guint i = 0; i < g->values->len; i++) {
        const WsReadValue *v = &g_array_index(g->values, WsReadValue, i);
        guint n = 0;
        const WsReadStep *s = NULL;
        if (strcmp(v->name, name) != 0)
            continue;
        setters(g->body, i, &n, &s);
        if (n != 1 || s->kind != WS_READ_COMPUTE || !s->text || strcmp(v->dtype, "i32") != 0)
            return ANY;
        const char *formula = strstr(s->text, " = ");
        g_autoptr(WsExpr) e = formula ? ws_expr_parse(formula + strlen(" = "), NULL) : NULL;
        return e ? range_of(g, e, v->rows, v->cols, depth + 1) : ANY;
    }
    return ANY;
}

static PyRange range_of_call(const WsExpr *e, PyRange a, PyRange b, PyRange c)
{
    const gboolean shifts = e->n_args == 2 && b.lo == b.hi && b.lo > 0 && b.lo < 32;
    if (e->func == WS_FUNC_BITAND) { /* no bits but those of the one that is not below 0 */
        const gint64 most = MIN(a.lo >= 0 ? a.hi : G_MAXINT32, b.lo >= 0 ? b.hi : G_MAXINT32);
        return a.lo >= 0 || b.lo >= 0 ? (PyRange){ 0, most } : ANY;
    }
    if (e->func == WS_FUNC_SHR && shifts)
        return (PyRange){ 0, G_MAXUINT32 >> b.lo };
    if (e->func == WS_FUNC_SAR && shifts)
        return (PyRange){ a.lo >> b.lo, a.hi >> b.lo };
    if (e->func == WS_FUNC_SELECT)
        return (PyRange){ MIN(b.lo, c.lo), MAX(b.hi, c.hi) };
    if (e->func == WS_FUNC_MIN && e->n_args == 2)
        return (PyRange){ MIN(a.lo, b.lo), MIN(a.hi, b.hi) };
    if (e->func == WS_FUNC_MAX && e->n_args == 2)
        return (PyRange){ MAX(a.lo, b.lo), MAX(a.hi, b.hi) };
    return ANY;
}

static PyRange range_of_sum(const WsExpr *e, PyRange a, PyRange b)
{
    PyRange r = ANY;
    if (e->op == WS_EXPR_ADD)
        r = (PyRange){ a.lo + b.lo, a.hi + b.hi };
    else if (e->op == WS_EXPR_SUB)
        r = (PyRange){ a.lo - b.hi, a.hi - b.lo };
    else if (e->op == WS_EXPR_MUL && a.lo >= 0 && b.lo >= 0)
        r = (PyRange){ a.lo * b.lo, a.hi * b.hi };
    else if (e->op == WS_EXPR_DIV && a.lo >= 0 && b.lo > 0)
        r = (PyRange){ a.lo / b.hi, a.hi / b.lo };
    else if (e->op == WS_EXPR_MOD && a.lo >= 0 && b.lo > 0)
        r = (PyRange){ 0, MIN(a.hi, b.hi - 1) };
    return r.lo >= G_MININT32 && r.hi <= G_MAXINT32 ? r : ANY; /* else it runs over */
}

/* select(x >= 0, …, …) of an x that is never below. */
static gboolean is_from_zero(const WsReadGroup *g, const WsExpr *e, gint64 rows, gint64 cols,
                             guint depth)
{
    const WsExpr *c = e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT ? e->arg[0] : NULL;
    gint64 zero;
    return c && c->op == WS_EXPR_GE && ws_expr_is_int(c->arg[1], &zero) && zero == 0 &&
           range_of(g, c->arg[0], rows, cols, depth + 1).lo >= 0;
}

/* Of a formula of 32-bit integers in a tile of rows x cols. */
static PyRange range_of(const WsReadGroup *g, const WsExpr *e, gint64 rows, gint64 cols,
                        guint depth)
{
    PyRange of[3] = { ANY, ANY, ANY };
    if (depth > 16)
        return ANY;
    if (e->op == WS_EXPR_INT)
        return e->i >= G_MININT32 && e->i <= G_MAXINT32 ? (PyRange){ e->i, e->i } : ANY;
    if (e->op == WS_EXPR_NAME && (!strcmp(e->name, "row") || !strcmp(e->name, "col")))
        return (PyRange){ 0, (*e->name == 'r' ? rows : cols) - 1 };
    if (e->op == WS_EXPR_NAME)
        return range_of_value(g, e->name, depth);
    for (guint i = 0; i < MIN(e->n_args, 3u); i++)
        of[i] = range_of(g, e->arg[i], rows, cols, depth + 1);
    if (is_from_zero(g, e, rows, cols, depth)) /* a quotient that is cut towards 0 */
        return of[1];
    return e->op == WS_EXPR_CALL ? range_of_call(e, of[0], of[1], of[2])
           : e->n_args == 2      ? range_of_sum(e, of[0], of[1])
                                 : ANY;
}

PyRange py_range_of(const WsReadGroup *g, const WsExpr *e, gint64 rows, gint64 cols)
{
    return range_of(g, e, rows, cols, 0);
}
