/* What of a program its sizes, tiles and elements decide. */
#include "check/play/questions.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

typedef struct {
    const WsProgram *p;
    GArray *list;
    gboolean *seen; /* [vars]: lets and counters */
} Ask;

static void ask(Ask *a, const WsExpr *e, gboolean truth, gboolean count);

static void add(Ask *a, const WsExpr *e, gboolean truth, gboolean count, gboolean tile)
{
    for (guint i = 0; i < a->list->len; i++) {
        WsQuestion *q = &g_array_index(a->list, WsQuestion, i);
        if (!ws_expr_equal(q->expr, e))
            continue;
        q->truth = q->truth && truth;
        q->count = q->count || count;
        return;
    }
    const WsQuestion q = { e, truth, count, tile };
    g_array_append_val(a->list, q);
}

/* Lets and counters: what they are set to. */
static void follow(Ask *a, gint var)
{
    if (var < 0 || (guint)var >= a->p->n_vars || a->seen[var])
        return;
    a->seen[var] = TRUE;
    const WsVar *v = &a->p->var[var];
    if (v->kind == WS_VAR_COUNTER && v->value)
        ask(a, v->value, FALSE, FALSE);
    for (guint i = 0; i < a->p->n_ops; i++)
        if (a->p->op[i]->var == var && a->p->op[i]->set)
            ask(a, a->p->op[i]->set, FALSE, FALSE);
}

static void ask(Ask *a, const WsExpr *e, gboolean truth, gboolean count)
{
    gboolean tile, leaf = FALSE;
    if (!e || e->op == WS_EXPR_INT)
        return;
    if (ws_of_tile(a->p, e, &tile)) {
        if (e->op != WS_EXPR_REAL)
            add(a, e, truth, count, tile);
        return;
    }
    leaf = e->op == WS_EXPR_VAR;
    if (leaf)
        follow(a, e->var);
    for (guint i = 0; !leaf && i < e->n_args; i++)
        ask(a, e->arg[i], FALSE, FALSE);
}

static void ask_tree(Ask *a, const WsTree *t)
{
    if (!t)
        return;
    if (t->kind == WS_TREE_LOOP) {
        ask(a, t->over == WS_OVER_COUNT ? t->count : NULL, FALSE, TRUE);
        ask(a, t->from, FALSE, FALSE);
        ask(a, t->step_by, FALSE, FALSE);
    }
    if (t->kind == WS_TREE_BRANCH)
        ask(a, t->cond, TRUE, FALSE);
    for (guint i = 0; i < t->n_kids; i++)
        ask_tree(a, t->kid[i]);
}

GArray *ws_questions(const WsProgram *p)
{
    g_autofree gboolean *seen = g_new0(gboolean, p->n_vars + 1);
    Ask a = { p, g_array_new(FALSE, FALSE, sizeof(WsQuestion)), seen };
    for (guint i = 0; i < p->n_agents; i++)
        ask_tree(&a, p->agent[i].body);
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        const WsExpr *own[] = { op->element, op->use, op->slot, op->turn };
        for (guint k = 0; k < G_N_ELEMENTS(own); k++)
            ask(&a, own[k], FALSE, FALSE);
        for (guint k = 0; k < op->n_access; k++) {
            ask(&a, op->access[k].element, FALSE, FALSE);
            ask(&a, op->access[k].use, FALSE, FALSE);
        }
    }
    return a.list;
}

/* --- answers ---------------------------------------------------------------------------------- */
char *ws_profile(const WsProgram *p, const WsCase *c, const GArray *questions)
{
    g_autoptr(WsAtTile) at = ws_at_tile_new(p, c);
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "%u", c->tiles);
    for (guint t = 0; t < c->tiles; t++) {
        ws_at_tile_move(at, ws_case_tile(p, c, t));
        for (guint i = 0; i < questions->len; i++) {
            const WsQuestion *q = &g_array_index(questions, WsQuestion, i);
            gint64 x = 0;
            if (t > 0 && !q->tile)
                continue;
            if (!ws_at_tile_eval(at, q->expr, &x))
                g_string_append(s, " ?");
            else
                g_string_append_printf(s, " %" G_GINT64_FORMAT,
                                       q->truth   ? x != 0
                                       : q->count ? MAX(x, 0)
                                                  : x);
        }
    }
    return g_string_free(s, FALSE);
}

gboolean ws_case_weigh(const WsProgram *p, WsCase *c, const GArray *questions)
{
    g_autoptr(WsAtTile) at = ws_at_tile_new(p, c);
    enum { MOST_ROUNDS = 200000 };
    gint64 weight = 0;
    c->rounds = -1;
    for (guint i = 0; i < questions->len; i++) {
        const WsQuestion *q = &g_array_index(questions, WsQuestion, i);
        gint64 first = -1;
        for (guint t = 0; q->count && t < MAX(c->tiles, 1); t++) {
            gint64 x = 0, tile = c->tiles ? ws_case_tile(p, c, t) : 0;
            ws_at_tile_move(at, tile);
            if (!ws_at_tile_eval(at, q->expr, &x))
                continue;
            x = MAX(x, 0);
            c->rounds = MAX(c->rounds, x);
            weight += c->tiles ? MIN(x, 1000000) : 0;
            c->mixed = c->mixed || (first >= 0 && x != first);
            first = x;
        }
    }
    c->weight = (guint)MIN(weight, G_MAXINT32);
    return weight <= MOST_ROUNDS && c->rounds <= MOST_ROUNDS;
}
