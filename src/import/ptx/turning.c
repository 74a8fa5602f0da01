/* What must hold of the variables of a loop for its rounds to be counted: where indices and
 * parities begin, and that the loop comes to its end. */
#include "import/ptx/walk.h"

#include <string.h>

/* "it goes on while e > 0" */
const WsExpr *ptx_left_over(WsRead *r, const WsExpr *again)
{
    if (!again || again->n_args != 2)
        return NULL;
    const WsExpr *a = ws_x_own(r, ws_expr_ref(again->arg[0])),
                 *b = ws_x_own(r, ws_expr_ref(again->arg[1]));
    const WsExpr *up = ws_x_op(r, WS_EXPR_SUB, b, a), *down = ws_x_op(r, WS_EXPR_SUB, a, b);
    if (again->op == WS_EXPR_LT || again->op == WS_EXPR_NE)
        return up;
    if (again->op == WS_EXPR_LE)
        return ws_x_op(r, WS_EXPR_ADD, up, ws_x_int(r, 1));
    if (again->op == WS_EXPR_GT)
        return down;
    if (again->op == WS_EXPR_GE)
        return ws_x_op(r, WS_EXPR_ADD, down, ws_x_int(r, 1));
    return NULL;
}

/* An index that wraps begins below its modulus, or at -1 where a round advances it first. */
gboolean ptx_begin_below(PyRead *p, GArray *carries)
{
    for (guint i = 0; i < carries->len; i++) {
        PyCarry *c = &g_array_index(carries, PyCarry, i);
        gint64 n;
        if (!c->atom || !c->end || c->end->kind != VAL_INT || c->entry->kind != VAL_INT)
            continue;
        py_classify(p, c);
        if (c->kind == CARRY_UNKNOWN && py_is_parity(c->end->e) && ws_x_is(c->entry->e, &n) &&
            (n < 0 || n > 1))
            return FALSE; /* a parity that flips begins as 0 or 1 */
        if (c->kind != CARRY_MOD)
            continue;
        const WsExpr *e = c->entry->e;
        const gboolean below = ws_x_is(e, &n) ? n >= -1 && n < c->n
                               : e->op == WS_EXPR_MOD
                                   ? ws_x_is(e->arg[1], &n) && n <= c->n
                                   : e->op == WS_EXPR_NAME && g_str_has_prefix(e->name, "__v_");
        if (!below)
            return FALSE;
    }
    return TRUE;
}

/* Counting by g comes to exactly 0 from e: a loop that goes on until two numbers are equal passes
 * by their equality otherwise. That a size is not below it already is what guards say. */
gboolean ptx_comes_to_zero(const WsExpr *e, gint64 g)
{
    WsAffine f;
    if (!e || !ws_expr_affine(e, &f))
        return FALSE;
    gboolean good = f.constant % g == 0 && (f.n || f.constant > 0);
    for (guint i = 0; i < f.n; i++)
        good &= f.factor[i] % g == 0;
    ws_affine_clear(&f);
    return good;
}

/* A parity that flips where an index wraps began with it: both with numbers, or neither. */
static gboolean began_together(const PyCarry *parity, const PyCarry *index)
{
    gint64 n;
    const WsExpr *a = parity->entry->e, *b = index->entry->e;
    return ws_x_is(a, &n) == ws_x_is(b, &n);
}

/* FALSE: a parity begins anew where its slot goes on, or the other way round. */
gboolean ptx_turn_together(PyRead *p, const GArray *carries)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(PyCarry));
    for (guint i = 0; i < carries->len; i++) {
        PyCarry c = g_array_index(carries, PyCarry, i);
        if (!c.atom || !c.end || c.end->kind != VAL_INT || c.entry->kind != VAL_INT)
            continue;
        py_classify(p, &c);
        g_array_append_val(all, c);
    }
    for (guint i = 0; i < all->len; i++) {
        PyCarry *c = &g_array_index(all, PyCarry, i);
        if (c->kind != CARRY_UNKNOWN ||
            !py_flips_on_wrap(p, c, &g_array_index(all, PyCarry, 0), all->len))
            continue;
        for (guint k = 0; k < all->len; k++) {
            const PyCarry *index = &g_array_index(all, PyCarry, k);
            if (!strcmp(index->name, c->index) && !began_together(c, index))
                return FALSE;
        }
    }
    return TRUE;
}

static gboolean of_round(const WsExpr *e, const char *name)
{
    gboolean found = e && e->name && !strcmp(e->name, name);
    for (guint i = 0; e && i < e->n_args && !found; i++)
        found = of_round(e->arg[i], name);
    return found;
}

/* What only a round sets is of the last one behind the loop, where its name counts them all. */
void ptx_forget_rounds(PtxWalk *w, const PyLoop *l)
{
    GHashTableIter it;
    gpointer key, value;
    g_hash_table_iter_init(&it, w->p.frame->vars);
    while (g_hash_table_iter_next(&it, &key, &value)) {
        const Val *v = value;
        if (v->kind == VAL_INT && of_round(v->e, l->name) &&
            !g_ptr_array_find_with_equal_func(l->names, key, g_str_equal, NULL))
            g_hash_table_iter_replace(&it, (gpointer)py_opaque(&w->p));
    }
}
