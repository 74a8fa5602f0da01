#include "program/elaborate/elab.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/program.h"
#include "program/visit.h"

/* Leader-run bodies (LANGUAGE section 9).
 *
 * A run of steps is given to the leader alone if all its steps are of breadth leader or any and at
 * least one is of breadth leader. At the top level of a group, steps of breadth any behind the last
 * leader step stay with all threads if steps for all threads follow (they wait for what these use);
 * and a run whose names, counters or totals are used outside of it is run by all threads, of which
 * the leader does the leader steps. */

typedef struct {
    gboolean leader; /* has a step of breadth leader */
    gboolean others; /* has a step of another breadth than leader or any */
} Kinds;

static void kinds_of(const WsTree *t, Kinds *k)
{
    if (!t)
        return;
    if (t->op && t->op->breadth == WS_BREADTH_LEADER)
        k->leader = TRUE;
    else if (t->op && !ws_op_row(t->op->kind)->any)
        k->others = TRUE;
    for (guint i = 0; i < t->n_kids; i++)
        kinds_of(t->kid[i], k);
}

/* --- names that escape ---------------------------------------------------------------------- */

static void written(const WsTree *t, GHashTable *vars)
{
    if (!t)
        return;
    if (t->kind == WS_TREE_LOOP)
        g_hash_table_add(vars, GINT_TO_POINTER(t->total_var));
    if (t->op && t->op->var >= 0)
        g_hash_table_add(vars, GINT_TO_POINTER(t->op->var));
    for (guint i = 0; i < t->n_kids; i++)
        written(t->kid[i], vars);
}

typedef struct {
    GHashTable *vars;
    gboolean found;
} Search;

static void search(const WsExpr *e, gpointer data)
{
    Search *s = data;
    if (e->op == WS_EXPR_VAR && g_hash_table_contains(s->vars, GINT_TO_POINTER(e->var)))
        s->found = TRUE;
}

static void search_operand(const WsExpr *e, WsOperand what, gpointer data)
{
    ws_expr_visit(e, search, data);
}

/* Visits everything in `t` but the kids first..end-1 of `seq`. */
static void outside(const WsTree *t, const WsTree *seq, guint first, guint end, Search *s)
{
    if (!t)
        return;
    ws_tree_operands(t, search_operand, s);
    for (guint i = 0; i < t->n_kids; i++)
        if (t != seq || i < first || i >= end)
            outside(t->kid[i], seq, first, end, s);
}

static gboolean escapes(const WsTree *body, const WsTree *seq, guint first, guint end)
{
    g_autoptr(GHashTable) vars = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (guint i = first; i < end; i++)
        written(seq->kid[i], vars);
    if (g_hash_table_size(vars) == 0)
        return FALSE;
    Search s = { vars, FALSE };
    outside(body, seq, first, end, &s);
    return s.found;
}

/* --- marking -------------------------------------------------------------------------------- */

static void mark(WsTree *t)
{
    if (!t)
        return;
    t->leader = TRUE;
    if (t->op)
        t->op->breadth = WS_BREADTH_LEADER;
    for (guint i = 0; i < t->n_kids; i++)
        mark(t->kid[i]);
}

static void mark_inside(const WsTree *body, WsTree *t);

/* A subtree in a body that all threads run. */
static void mark_kid(const WsTree *body, WsTree *seq, guint i)
{
    WsTree *kid = seq->kid[i];
    Kinds k = { FALSE, FALSE };
    if (!kid)
        return;
    kinds_of(kid, &k);
    if (kid->kind == WS_TREE_OP)
        kid->leader = k.leader;
    else if (k.leader && !k.others && !escapes(body, seq, i, i + 1))
        mark(kid);
    else
        mark_inside(body, kid);
}

static void mark_inside(const WsTree *body, WsTree *t)
{
    for (guint i = 0; i < t->n_kids; i++)
        mark_kid(body, t, i);
}

static gboolean leads(const WsTree *t)
{
    Kinds k = { FALSE, FALSE };
    kinds_of(t, &k);
    return k.leader;
}

static void mark_run(WsTree *body, guint first, guint end, gboolean more)
{
    guint start = first, stop = end;
    while (more && stop > start && !leads(body->kid[stop - 1]))
        stop--;
    while (start < stop && !leads(body->kid[start]) && escapes(body, body, start, stop))
        start++;
    gboolean any = FALSE;
    for (guint i = start; i < stop; i++)
        any = any || leads(body->kid[i]);
    if (!any || escapes(body, body, start, stop)) {
        start = stop = end;
        for (guint i = first; i < end; i++)
            mark_kid(body, body, i);
        return;
    }
    for (guint i = start; i < stop; i++)
        mark(body->kid[i]);
}

void ws_elab_leaders(WsElab *E)
{
    for (guint a = 0; a < E->p->n_agents; a++) {
        WsTree *body = E->p->agent[a].body;
        guint first = 0;
        for (guint i = 0; i <= body->n_kids; i++) {
            Kinds k = { FALSE, FALSE };
            if (i < body->n_kids)
                kinds_of(body->kid[i], &k);
            if (i < body->n_kids && !k.others)
                continue;
            mark_run(body, first, i, i < body->n_kids);
            if (i < body->n_kids)
                mark_kid(body, body, i);
            first = i + 1;
        }
    }
}
