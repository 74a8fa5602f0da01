/* Both halves as one code. That they are one is looked at, operation by operation: the same steps
 * with the same uses, rows that follow each other, values that are shared out or held by both. */
#include "codegen/python/gluon/amd/whole.h"
#include "base/phrase.h"
#include "codegen/generate.h"
#include "program/array.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

struct WsWhole {
    WsProgram p;
    WsAgent agent;
    gint *twin;        /* variable of the upper half -> of the lower one */
    GPtrArray *owned;  /* everything that was made */
    GPtrArray *op;     /* WsOp */
    gboolean *doubled; /* temporaries of the statement being made */
    const WsProgram *of;
    const char *why; /* what the halves differ in, of the last pair that did */
    GError *error;
};

static gpointer own(WsWhole *w, gpointer made)
{
    g_ptr_array_add(w->owned, made);
    return made;
}

/* --- integers ---------------------------------------------------------------------------------*/

static gboolean same(const WsWhole *w, const WsExpr *x, const WsExpr *y)
{
    if (!x || !y)
        return x == y;
    if (x->op != y->op || x->n_args != y->n_args || x->i != y->i || x->func != y->func ||
        (x->op == WS_EXPR_REAL && x->r != y->r))
        return FALSE;
    if (x->op == WS_EXPR_VAR ? w->twin[y->var] != w->twin[x->var] : x->var != y->var)
        return FALSE;
    if (x->op == WS_EXPR_NAME && g_strcmp0(x->name, y->name) != 0)
        return FALSE;
    for (guint i = 0; i < x->n_args; i++)
        if (!same(w, x->arg[i], y->arg[i]))
            return FALSE;
    return TRUE;
}

/* y is x + n, by its form. */
static gboolean apart(const WsWhole *w, const WsExpr *x, const WsExpr *y, gint64 n)
{
    gint64 a, b;
    if (ws_expr_is_int(x, &a) && ws_expr_is_int(y, &b))
        return b - a == n;
    if (y->op != WS_EXPR_ADD)
        return FALSE;
    if (ws_expr_is_int(y->arg[1], &b) && b == n && same(w, x, y->arg[0]))
        return TRUE;
    if (ws_expr_is_int(y->arg[0], &b) && b == n && same(w, x, y->arg[1]))
        return TRUE;
    return x->op == WS_EXPR_ADD &&
           ((same(w, x->arg[1], y->arg[1]) && apart(w, x->arg[0], y->arg[0], n)) ||
            (same(w, x->arg[0], y->arg[0]) && apart(w, x->arg[1], y->arg[1], n)));
}

/* --- statements -------------------------------------------------------------------------------*/

static gboolean same_array(const WsWhole *w, const WsArray *x, const WsArray *y)
{
    if (!x || !y)
        return x == y;
    if (x->form != y->form || x->kind != y->kind || x->rows != y->rows || x->cols != y->cols ||
        x->index != y->index || x->n_arg != y->n_arg)
        return FALSE;
    if (x->n_arg == 0 ? !same(w, x->x, y->x) : x->x->op != y->x->op || x->x->func != y->x->func)
        return FALSE;
    for (guint i = 0; i < x->n_arg; i++)
        if (!same_array(w, x->arg[i], y->arg[i]))
            return FALSE;
    return TRUE;
}

/* A value that is shared out stands in it, or a temporary made of one. */
static gboolean shared_out(const WsWhole *w, const WsArray *a)
{
    if (!a)
        return FALSE;
    if (a->form == WS_ARRAY_VALUE && w->agent.value[a->index].halved)
        return TRUE;
    if (a->form == WS_ARRAY_TEMPORARY && w->doubled[a->index])
        return TRUE;
    for (guint i = 0; i < a->n_arg; i++)
        if (shared_out(w, a->arg[i]))
            return TRUE;
    return FALSE;
}

static WsArray *twice(WsWhole *w, const WsArray *a)
{
    WsArray *made = own(w, g_memdup2(a, sizeof *a));
    made->rows *= a->rows > 1 ? 2 : 1;
    made->arg = own(w, g_new0(WsArray *, a->n_arg + 1));
    for (guint i = 0; i < a->n_arg; i++)
        made->arg[i] = twice(w, a->arg[i]);
    return made;
}

static gboolean pair_math(WsWhole *w, const WsOp *x, const WsOp *y, WsOp *out)
{
    if (x->n_math != y->n_math || !same_array(w, x->unless, y->unless))
        return FALSE;
    if (x->n_math == 0)
        return TRUE;
    if (x->skip) { /* the halves decide each for itself, a branch there is one of all warps */
        w->why = WS_WORD("`unless`, which each half decides for itself");
        return FALSE;
    }
    w->doubled = own(w, g_new0(gboolean, x->n_math + 1));
    out->assign = own(w, g_new0(WsAssign, x->n_math + 1));
    for (guint i = 0; i < x->n_math; i++) {
        const WsAssign *s = &x->assign[i];
        if (s->value != y->assign[i].value || !same_array(w, s->array, y->assign[i].array))
            return FALSE;
        const gboolean both = s->value >= 0 && w->agent.value[s->value].halved;
        w->doubled[i] = both || shared_out(w, s->array);
        if (s->value >= 0 && !both && w->doubled[i]) {
            w->why = WS_WORD("a value that both halves hold is made of one that they share out");
            return FALSE;
        }
        out->assign[i] = *s;
        if (s->array && w->doubled[i])
            out->assign[i].array = twice(w, s->array);
    }
    return TRUE;
}

/* --- operations -------------------------------------------------------------------------------*/

static gboolean pair_access(WsWhole *w, const WsAccess *x, const WsAccess *y, WsAccess *out,
                            guint *more)
{
    if (x->buffer != y->buffer || x->rows != y->rows || x->cols != y->cols ||
        x->transposed != y->transposed || x->mode != y->mode || !same(w, x->element, y->element) ||
        !same(w, x->use, y->use) || !same(w, x->stage, y->stage))
        return FALSE;
    const gboolean row = same(w, x->row0, y->row0), col = same(w, x->col0, y->col0);
    if (row && col) {
        if (x->mode & WS_MODE_WRITE)
            w->why = WS_WORD("both write the same bytes");
        return !(x->mode & WS_MODE_WRITE);
    }
    if (col && apart(w, x->row0, y->row0, x->rows)) {
        out->rows *= 2;
        *more = x->rows;
        return TRUE;
    }
    if (row && apart(w, x->col0, y->col0, x->cols)) {
        out->cols *= 2;
        *more = x->cols;
        return TRUE;
    }
    return FALSE;
}

static gboolean pair_use(WsWhole *w, const WsValueUse *x, const WsValueUse *y, WsValueUse *out,
                         guint *more)
{
    gint64 row = 0;
    const WsRegValue *v = &w->agent.value[x->value];
    if (x->value != y->value || x->rows != y->rows || x->cols != y->cols || x->mode != y->mode ||
        !same(w, x->row0, y->row0) || !same(w, x->col0, y->col0))
        return FALSE;
    if (!v->halved)
        return TRUE;
    if ((x->row0 && (!ws_expr_is_int(x->row0, &row) || row != 0)) || x->rows * 2 != v->rows) {
        w->why = WS_WORD("a part of the rows of a value");
        return FALSE;
    }
    *more = x->rows;
    out->rows *= 2;
    return TRUE;
}

/* One coordinate at most is further on in the upper half, and by the rows it has more. */
static gboolean pair_coordinates(const WsWhole *w, const WsOp *x, const WsOp *y, guint more)
{
    guint further = 0;
    for (guint d = 0; d < x->n_coord; d++) {
        if (same(w, x->coord[d], y->coord[d]))
            continue;
        if (!more || !apart(w, x->coord[d], y->coord[d], more))
            return FALSE;
        further++;
    }
    return x->tensor < 0 || further == (more ? 1 : 0);
}

static gboolean pair_product(WsWhole *w, const WsOp *x, const WsOp *y, WsOp *out)
{
    const WsMma *a = x->mma, *b = y->mma;
    if (!a || !b)
        return a == b;
    if (a->m != b->m || a->n != b->n || a->k != b->k || a->a_type != b->a_type ||
        a->b_type != b->b_type || a->acc_type != b->acc_type || !same(w, a->first, b->first))
        return FALSE;
    out->mma = own(w, g_memdup2(a, sizeof *a));
    out->mma->m *= 2;
    return TRUE;
}

static gboolean alike(const WsWhole *w, const WsOp *x, const WsOp *y)
{
    return x->kind == y->kind && x->n == y->n && x->border == y->border &&
           x->lowered == y->lowered && x->bytes == y->bytes && x->tensor == y->tensor &&
           x->n_coord == y->n_coord && x->n_access == y->n_access && x->n_value == y->n_value &&
           x->reduce == y->reduce && x->hint == y->hint && x->barrier == y->barrier &&
           x->full == y->full && x->step_kind == y->step_kind && !x->skip == !y->skip &&
           g_strcmp0(x->step, y->step) == 0 && g_strcmp0(x->text, y->text) == 0 &&
           (x->var < 0) == (y->var < 0) && (x->var < 0 || w->twin[y->var] == w->twin[x->var]) &&
           same(w, x->set, y->set);
}

static WsOp *pair_op(WsWhole *w, const WsOp *x, const WsOp *y)
{
    if (x->var >= 0 && y->var >= 0 && strcmp(w->p.var[x->var].name, w->p.var[y->var].name) == 0)
        w->twin[y->var] = x->var;
    if (!alike(w, x, y))
        return NULL;
    guint by_view = 0, by_value = 0;
    WsOp *out = own(w, g_memdup2(x, sizeof *x));
    out->bytes *= 2;
    out->access = own(w, g_memdup2(x->access, x->n_access * sizeof *x->access));
    for (guint i = 0; i < x->n_access; i++)
        if (!pair_access(w, &x->access[i], &y->access[i], &out->access[i], &by_view))
            return NULL;
    for (guint i = 0; i < x->n_value; i++)
        if (!pair_use(w, &x->value[i], &y->value[i], &out->value[i], &by_value))
            return NULL;
    const guint more = by_view ? by_view : by_value;
    if ((by_view && by_value && by_view != by_value) || (by_value && x->n_access && !by_view) ||
        (by_view && x->n_value && !by_value)) {
        w->why = WS_WORD("what a half moves is no half of what both hold");
        return NULL;
    }
    if (!pair_coordinates(w, x, y, more) || !pair_math(w, x, y, out) || !pair_product(w, x, y, out))
        return NULL;
    out->agent = 0;
    return out;
}

/* --- trees ------------------------------------------------------------------------------------*/

static WsTree *differ(WsWhole *w, const WsTree *at)
{
    const char *what =
        w->why ? w->why : WS_WORD("the halves of a group run codes that differ in it");
    const char *path = at && at->step ? at->step : w->of->agent[0].path;
    if (!w->error)
        ws_generate_refuse(&w->error, "gluon", at ? at->op : NULL, path, what,
                           WS_WORD("make one code of it for both halves"));
    return NULL;
}

/* A barrier that one half joins alone: what puts it a stage behind the other. The compiler makes it
 * of the stages. */
static gboolean alone(const WsTree *t)
{
    return t->kind == WS_TREE_OP && ws_op_joins(t->op->kind) && t->op->derived &&
           g_str_has_suffix(t->op->id, "#phase");
}

static WsTree *pair(WsWhole *w, const WsTree *x, const WsTree *y, WsTree *parent);

static gboolean pair_lists(WsWhole *w, const WsTree *x, const WsTree *y, WsTree *out)
{
    guint i = 0, k = 0, n = 0, late = 0, soon = 0;
    out->kid = own(w, g_new0(WsTree *, x->n_kids + 1));
    if (g_strcmp0(x->stage, y->stage) != 0 || x->priority != y->priority)
        return FALSE;
    while (i < x->n_kids || k < y->n_kids) {
        const WsTree *a = i < x->n_kids ? x->kid[i] : NULL, *b = k < y->n_kids ? y->kid[k] : NULL;
        if ((a && alone(a)) || (b && alone(b))) {
            const gboolean lower = a && alone(a);
            i += lower;
            k += !lower;
            if ((lower ? ++soon : ++late) > 1)
                w->why = WS_WORD("phase_gap 2: its stages have no word for it");
            continue;
        }
        soon = late = 0;
        if (w->why)
            return FALSE;
        WsTree *made = a && b ? pair(w, a, b, out) : differ(w, a ? a : b);
        if (!made)
            return FALSE;
        out->kid[n++] = made;
        i++;
        k++;
    }
    out->n_kids = n;
    return !w->why;
}

static gboolean pair_loops(WsWhole *w, const WsTree *x, const WsTree *y)
{
    if (x->over != y->over || x->n_cuts != y->n_cuts || x->unroll != y->unroll ||
        (x->index_var < 0) != (y->index_var < 0) || (x->total_var < 0) != (y->total_var < 0) ||
        g_strcmp0(x->name, y->name) != 0)
        return FALSE;
    if (x->index_var >= 0)
        w->twin[y->index_var] = x->index_var;
    if (x->total_var >= 0)
        w->twin[y->total_var] = x->total_var;
    for (guint i = 0; i < x->n_cuts; i++)
        if (!same(w, x->cut[i], y->cut[i]))
            return FALSE;
    return same(w, x->count, y->count) && same(w, x->from, y->from) &&
           same(w, x->step_by, y->step_by);
}

static gboolean pair_kids(WsWhole *w, const WsTree *x, const WsTree *y, WsTree *out)
{
    if (x->n_kids != y->n_kids)
        return FALSE;
    out->kid = own(w, g_new0(WsTree *, x->n_kids + 1));
    for (guint i = 0; i < x->n_kids; i++) {
        if (!x->kid[i] != !y->kid[i])
            return FALSE;
        if (x->kid[i] && !(out->kid[i] = pair(w, x->kid[i], y->kid[i], out)))
            return FALSE;
    }
    return TRUE;
}

static gboolean pair_leaf(WsWhole *w, const WsTree *x, const WsTree *y, WsTree *out)
{
    WsOp *op = pair_op(w, x->op, y->op);
    if (!op)
        return FALSE;
    op->index = w->op->len;
    op->tree = out;
    out->op = op;
    g_ptr_array_add(w->op, op);
    return TRUE;
}

static WsTree *pair(WsWhole *w, const WsTree *x, const WsTree *y, WsTree *parent)
{
    if (x->kind != y->kind || x->leader || y->leader)
        return differ(w, x);
    WsTree *out = own(w, g_memdup2(x, sizeof *x));
    out->parent = parent;
    gboolean ok = FALSE;
    switch (x->kind) {
    case WS_TREE_SEQ:
        ok = pair_lists(w, x, y, out);
        break;
    case WS_TREE_LOOP:
        ok = pair_loops(w, x, y) && pair_kids(w, x, y, out);
        break;
    case WS_TREE_BRANCH:
        ok = same(w, x->cond, y->cond) && pair_kids(w, x, y, out);
        break;
    case WS_TREE_OP:
        ok = pair_leaf(w, x, y, out);
        break;
    }
    return ok ? out : differ(w, x);
}

/* --- the program ------------------------------------------------------------------------------*/

static gboolean values(WsWhole *w)
{
    const WsAgent *x = &w->of->agent[0], *y = &w->of->agent[1];
    if (x->n_values != y->n_values || x->threads != y->threads || x->warps != y->warps)
        return FALSE;
    w->agent = *x;
    w->agent.half = -1;
    w->agent.warps *= 2;
    w->agent.threads *= 2;
    w->agent.value = own(w, g_memdup2(x->value, x->n_values * sizeof *x->value));
    for (guint i = 0; i < x->n_values; i++) {
        const WsRegValue *a = &x->value[i], *b = &y->value[i];
        if (a->dtype != b->dtype || a->rows != b->rows || a->cols != b->cols ||
            a->halved != b->halved || strcmp(a->name, b->name) != 0)
            return FALSE;
        w->agent.value[i].rows *= a->halved ? 2 : 1;
    }
    return TRUE;
}

/* Counters have one name in both halves. */
static void twins(WsWhole *w)
{
    const WsProgram *p = w->of;
    for (guint i = 0; i < p->n_vars; i++)
        w->twin[i] = (gint)i;
    for (guint i = 0; i < p->n_vars; i++)
        for (guint k = 0; k < p->n_vars && p->var[i].agent == 1; k++)
            if (p->var[k].agent == 0 && p->var[k].kind == p->var[i].kind &&
                p->var[i].kind == WS_VAR_COUNTER && strcmp(p->var[k].name, p->var[i].name) == 0 &&
                same(w, p->var[k].value, p->var[i].value))
                w->twin[i] = (gint)k;
}

WsWhole *ws_whole_new(const WsProgram *p, GError **error)
{
    WsWhole *w = g_new0(WsWhole, 1);
    w->p = *p;
    w->of = p;
    w->owned = g_ptr_array_new_with_free_func(g_free);
    w->op = g_ptr_array_new();
    w->twin = own(w, g_new0(gint, p->n_vars + 1));
    twins(w);
    for (guint i = 0; i < p->n_prologue; i++)
        if (!ws_op_joins(p->prologue[i]->kind))
            ws_generate_refuse(&w->error, "gluon", p->prologue[i], NULL,
                               WS_WORD("an operation before the groups begin"), NULL);
    const gboolean two =
        p->n_agents == 2 && p->agent[0].half == 0 && p->agent[1].half == 1 && values(w);
    if (!two)
        differ(w, NULL);
    else if (!w->error)
        w->agent.body = pair(w, p->agent[0].body, p->agent[1].body, NULL);
    if (w->error) {
        g_propagate_error(error, w->error);
        ws_whole_free(w);
        return NULL;
    }
    w->p.n_agents = 1;
    w->p.agent = &w->agent;
    w->p.n_prologue = 0;
    w->p.n_barriers = 0; /* there is one, and it needs no name */
    w->p.n_ops = w->op->len;
    w->p.op = (WsOp **)w->op->pdata;
    return w;
}

const WsProgram *ws_whole_program(const WsWhole *w)
{
    return &w->p;
}

void ws_whole_free(WsWhole *w)
{
    g_ptr_array_unref(w->op);
    g_ptr_array_unref(w->owned);
    g_free(w);
}
