#include "import/python/dialect/py_sums.h"

static void clear_term(gpointer data)
{
    g_ptr_array_unref(((PyTerm *)data)->atom);
}

GArray *py_new_terms(void)
{
    GArray *terms = g_array_new(FALSE, FALSE, sizeof(PyTerm));
    g_array_set_clear_func(terms, clear_term);
    return terms;
}

static void add_term(GArray *to, gint64 factor, const PyTerm *x, const PyTerm *y)
{
    PyTerm t = { factor, g_ptr_array_new() };
    for (guint i = 0; x && i < x->atom->len; i++)
        g_ptr_array_add(t.atom, x->atom->pdata[i]);
    for (guint i = 0; y && i < y->atom->len; i++)
        g_ptr_array_add(t.atom, y->atom->pdata[i]);
    g_array_append_val(to, t);
}

#define MOST_TERMS 64
#define MOST       ((gint64)1 << 40)

gboolean py_write_out(const WsExpr *e, gint64 sign, GArray *to)
{
    gint64 n;
    if (to->len > MOST_TERMS)
        return FALSE;
    if (ws_expr_is_int(e, &n)) {
        if (n > MOST || n < -MOST)
            return FALSE;
        add_term(to, sign * n, NULL, NULL);
        return TRUE;
    }
    if (e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB)
        return py_write_out(e->arg[0], sign, to) &&
               py_write_out(e->arg[1], e->op == WS_EXPR_SUB ? -sign : sign, to);
    if (e->op == WS_EXPR_NEG)
        return py_write_out(e->arg[0], -sign, to);
    if (e->op == WS_EXPR_MUL) {
        g_autoptr(GArray) x = py_new_terms(), y = py_new_terms();
        gboolean fine = py_write_out(e->arg[0], sign, x) && py_write_out(e->arg[1], 1, y) &&
                        x->len * y->len <= MOST_TERMS;
        for (guint i = 0; fine && i < x->len; i++)
            for (guint k = 0; fine && k < y->len; k++) {
                const PyTerm *a = &g_array_index(x, PyTerm, i), *b = &g_array_index(y, PyTerm, k);
                gint64 factor;
                fine = !__builtin_mul_overflow(a->factor, b->factor, &factor) && factor <= MOST &&
                       factor >= -MOST;
                if (fine)
                    add_term(to, factor, a, b);
            }
        return fine;
    }
    add_term(to, sign, NULL, NULL);
    g_ptr_array_add(g_array_index(to, PyTerm, to->len - 1).atom, (gpointer)e);
    return TRUE;
}

gboolean py_take_out(GPtrArray *atoms, const WsExpr *e)
{
    for (guint i = 0; i < atoms->len; i++)
        if (ws_expr_equal(atoms->pdata[i], e)) {
            g_ptr_array_remove_index(atoms, i);
            return TRUE;
        }
    return FALSE;
}

const WsExpr *py_quotient(PyRead *p, const PyTerm *t, const PyTerm *by)
{
    g_autoptr(GPtrArray) left = g_ptr_array_new();
    for (guint i = 0; i < t->atom->len; i++)
        g_ptr_array_add(left, t->atom->pdata[i]);
    for (guint i = 0; i < by->atom->len; i++)
        if (!py_take_out(left, by->atom->pdata[i]))
            return NULL;
    if (!by->factor || t->factor % by->factor)
        return NULL;
    const WsExpr *e = ws_x_int(p->r, t->factor / by->factor);
    for (guint i = 0; i < left->len; i++)
        e = ws_x_op(p->r, WS_EXPR_MUL, e, left->pdata[i]);
    return e;
}

const WsExpr *py_ratio(PyRead *p, const WsExpr *a, const WsExpr *b)
{
    g_autoptr(GArray) x = py_new_terms(), y = py_new_terms();
    return a && b && py_write_out(a, 1, x) && py_write_out(b, 1, y) && x->len == 1 && y->len == 1
               ? py_quotient(p, &g_array_index(x, PyTerm, 0), &g_array_index(y, PyTerm, 0))
               : NULL;
}

static gboolean same_atoms(const PyTerm *a, const PyTerm *b)
{
    g_autoptr(GPtrArray) left = g_ptr_array_copy(a->atom, NULL, NULL);
    for (guint i = 0; i < b->atom->len; i++)
        if (!py_take_out(left, b->atom->pdata[i]))
            return FALSE;
    return !left->len;
}

gboolean py_sums_apart(const WsExpr *a, const WsExpr *b, gint64 *by)
{
    g_autoptr(GArray) all = py_new_terms();
    *by = 0;
    if (!a || !b)
        return FALSE;
    if (ws_expr_equal(a, b))
        return TRUE;
    if (!py_write_out(a, 1, all) || !py_write_out(b, -1, all))
        return FALSE;
    for (guint i = 0; i < all->len; i++) {
        PyTerm *t = &g_array_index(all, PyTerm, i);
        for (guint k = i + 1; k < all->len; k++) {
            PyTerm *u = &g_array_index(all, PyTerm, k);
            if (!u->factor || !same_atoms(t, u))
                continue;
            if (__builtin_add_overflow(t->factor, u->factor, &t->factor))
                return FALSE;
            u->factor = 0;
        }
        if (t->factor && t->atom->len)
            return FALSE;
        *by += t->factor;
    }
    return TRUE;
}

gboolean py_sums_equal(const WsExpr *a, const WsExpr *b)
{
    gint64 by;
    return py_sums_apart(a, b, &by) && by == 0;
}
