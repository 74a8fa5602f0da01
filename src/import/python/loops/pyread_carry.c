#include "import/fit.h"
#include "import/python/loops/pyread_loop.h"

#include <string.h>

/* What a round does to a variable that it carries: adds, wraps, flips, binds to something else. */

gboolean py_holds_trial(const WsExpr *e)
{
    g_autofree char *text = ws_x_text(e);
    return strstr(text, "__v_") != NULL;
}

/* e = atom + rest */
static const WsExpr *past_atom(PyRead *p, const WsExpr *e, const char *atom)
{
    gint64 factor;
    const WsExpr *rest = ws_x_without(p->r, e, atom, FALSE, &factor);
    return factor == 1 && !ws_expr_mentions(rest, atom) ? rest : NULL;
}

static gboolean is_select(const WsExpr *e)
{
    return e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT;
}

/* select(x == n, 0, x): the step of x. */
static gboolean wraps(PyRead *p, const WsExpr *e, const char *atom, gint64 *n, const WsExpr **step)
{
    gint64 zero;
    if (!is_select(e))
        return FALSE;
    gint64 by;
    if (ws_fit_wraps(e, atom, n, &by)) {
        *step = ws_x_int(p->r, by);
        return TRUE;
    }
    const WsExpr *c = e->arg[0];
    const gboolean straight = c->op == WS_EXPR_EQ || c->op == WS_EXPR_GE;
    if ((!straight && c->op != WS_EXPR_NE && c->op != WS_EXPR_LT) || !ws_x_is(c->arg[1], n) ||
        *n < 1)
        return FALSE;
    const WsExpr *reset = e->arg[straight ? 1 : 2], *kept = e->arg[straight ? 2 : 1];
    *step = past_atom(p, kept, atom);
    return ws_x_is(reset, &zero) && zero == 0 && ws_x_is(*step, &by) && by == 1 &&
           ws_expr_equal(kept, c->arg[0]); /* other steps may pass n by */
}

gboolean py_flips_on_wrap(PyRead *p, PyCarry *c, PyCarry *all, guint n_all)
{
    const WsExpr *e = c->end->e, *inner = NULL;
    gint64 two, n, step;
    c->shift = 0;
    if (p->py) /* shapes of an expression say too little */
        return py_flips_with(p, c, all, n_all);
    for (guint i = 0; i < n_all; i++) {
        PyCarry *index = &all[i];
        if (index == c || !index->atom || !ws_expr_mentions(e, index->atom))
            continue;
        c->index = index->name;
        if (index->kind == CARRY_MOD && ws_x_is(index->step, &step) && step > 0 &&
            step <= index->n && ws_fit_flips(e, c->atom, index->atom, index->n, step)) {
            c->n = index->n;
            return TRUE;
        }
        if (is_select(e) && e->arg[0]->n_args == 2 && ws_x_is(e->arg[0]->arg[1], &n)) {
            const gboolean straight = e->arg[0]->op == WS_EXPR_EQ || e->arg[0]->op == WS_EXPR_GE;
            const WsExpr *kept = e->arg[straight ? 2 : 1], *flipped = e->arg[straight ? 1 : 2];
            c->n = n;
            return kept->op == WS_EXPR_NAME && !strcmp(kept->name, c->atom) &&
                   flipped->op == WS_EXPR_MOD && ws_x_is(flipped->arg[1], &two) && two == 2;
        }
        if (e->op != WS_EXPR_MOD || !ws_x_is(e->arg[1], &two) || two != 2)
            return FALSE;
        inner = past_atom(p, ws_x_own(p->r, ws_expr_ref(e->arg[0])), c->atom);
        const WsExpr *next = index->step ? ws_x_op(p->r, WS_EXPR_ADD, ws_x_name(p->r, index->atom),
                                                   ws_x_own(p->r, ws_expr_ref(index->step)))
                                         : NULL;
        if (inner && inner->op == WS_EXPR_DIV && ws_x_is(inner->arg[1], &c->n))
            return next && ws_x_difference(inner->arg[0], next, &step) && step == 0;
        /* phase ^ (index == 0) with the index of the next round */
        if (inner && inner->op == WS_EXPR_EQ && index->kind == CARRY_MOD) {
            c->n = index->n;
            return TRUE;
        }
        return FALSE;
    }
    return FALSE;
}

void py_classify(PyRead *p, PyCarry *c)
{
    const WsExpr *e = c->end->e, *rest;
    gint64 n, factor;
    if (!ws_expr_mentions(e, c->atom)) {
        c->kind = CARRY_NONE;
        return;
    }
    c->kind = CARRY_UNKNOWN;
    if ((rest = past_atom(p, e, c->atom))) {
        c->kind = CARRY_LINEAR;
        c->step = rest;
    } else if (e->op == WS_EXPR_MOD && ws_x_is(e->arg[1], &n) &&
               (rest = past_atom(p, ws_x_own(p->r, ws_expr_ref(e->arg[0])), c->atom)) &&
               !py_holds_trial(rest)) {
        c->kind = CARRY_MOD;
        c->step = rest;
        c->n = n;
    } else if (wraps(p, e, c->atom, &n, &rest)) {
        c->kind = CARRY_MOD;
        c->step = rest;
        c->n = n;
    } else {
        const gboolean turned = e->op == WS_EXPR_NOT && e->arg[0]->op == WS_EXPR_NAME;
        rest = ws_x_without(p->r, e, c->atom, FALSE, &factor);
        if (turned) { /* !x */
            c->kind = CARRY_MOD;
            c->step = ws_x_int(p->r, 1);
            c->n = 2;
        } else if (factor == -1 && ws_x_is(rest, &n) && n == 1) { /* 1 - x */
            c->kind = CARRY_MOD;
            c->step = ws_x_int(p->r, 1);
            c->n = 2;
        }
    }
}

static gboolean same_text(const WsExpr *a, const WsExpr *b)
{
    return a == b || (a && b && ws_expr_equal(a, b));
}

/* The same thing under another value. */
static gboolean stays(const Val *a, const Val *b)
{
    if (a == b)
        return TRUE;
    if (!a || !b || a->kind != b->kind || a->n != b->n || a->index != b->index ||
        a->node != b->node || g_strcmp0(a->text, b->text) || !same_text(a->e, b->e) ||
        a->place.object != b->place.object || !same_text(a->place.index, b->place.index) ||
        g_strcmp0(a->place.views, b->place.views) || a->at != b->at || a->kind == VAL_OPAQUE)
        return FALSE;
    const guint items = a->kind == VAL_OBJECT ? 2 * a->n : a->item ? a->n : 0;
    for (guint i = 0; i < items; i++)
        if (!stays(a->item[i], b->item[i]))
            return FALSE;
    return TRUE;
}

gboolean py_wanders(const PyCarry *c)
{
    if (c->entry && c->end && (py_is_index(c->entry) || py_is_index(c->end)))
        return !stays(c->entry, c->end);
    const gboolean put_back = c->entry->kind == VAL_TILE && py_is_tile(c->end); /* close_round */
    return !c->atom && !put_back && !stays(c->entry, c->end);
}
