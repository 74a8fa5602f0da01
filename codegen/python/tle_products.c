/* Matrix products in flight. Every wgmma of TLE is a commit group of its own, a wait names the
 * accumulators that it makes readable, and there is no flag that starts an accumulator at 0. */
#include "codegen/python/tle.h"

#include <string.h>

/* Products in flight, oldest first, as the walk meets them. */
typedef struct {
    guint value;
    gboolean closes; /* last product of its commit group */
} Flight;

typedef struct {
    WsTle *t;
    GArray *flight;  /* Flight */
    gboolean forked; /* paths that left different groups in flight have met */
} Walk;

static gboolean index_is_first(const WsTree *loop, const WsExpr *first)
{
    gint64 from = 0, value;
    if (loop->from && !ws_expr_is_int(loop->from, &from))
        return FALSE;
    return first->op == WS_EXPR_EQ && first->arg[0]->op == WS_EXPR_VAR &&
           first->arg[0]->var == loop->index_var && loop->index_var >= 0 &&
           ws_expr_is_int(first->arg[1], &value) && value == from;
}

static gboolean names(const WsExpr *x, const char *name)
{
    if (x->op == WS_EXPR_NAME && !strcmp(x->name, name))
        return TRUE;
    for (guint i = 0; i < x->n_args; i++) {
        if (names(x->arg[i], name))
            return TRUE;
    }
    return FALSE;
}

static gboolean touches(const WsOp *op, guint value, const char *name)
{
    for (guint i = 0; i < op->n_value; i++) {
        if (op->value[i].value == value)
            return TRUE;
    }
    for (guint i = 0; i < op->n_math; i++) {
        if (names(op->math[i]->value, name) || !strcmp(op->math[i]->name, name))
            return TRUE;
    }
    return FALSE;
}

/* Something in `t` before `stop` looks at the accumulator: then it cannot be 0 before the loop. */
static gboolean used_before(const WsTree *t, const WsOp *stop, const char *name, gboolean *found)
{
    if (t->kind == WS_TREE_OP) {
        *found = *found || t->op == stop;
        return !*found && touches(t->op, stop->value[0].value, name);
    }
    for (guint i = 0; i < t->n_kids && !*found; i++) {
        if (t->kid[i] && used_before(t->kid[i], stop, name, found))
            return TRUE;
    }
    return FALSE;
}

/* `first` is "index == from" of a loop around the product. */
static const WsTree *first_loop(const WsOp *op, const char *name)
{
    gint64 known;
    if (!op->mma->first || ws_expr_is_int(op->mma->first, &known))
        return NULL;
    for (const WsTree *at = op->tree; at; at = at->parent) {
        gboolean found = FALSE;
        if (at->kind == WS_TREE_LOOP && index_is_first(at, op->mma->first))
            return used_before(at, op, name, &found) ? NULL : at;
    }
    return NULL;
}

static void issue(Walk *w, const WsOp *op)
{
    WsTleProduct *product = &w->t->product[op->index];
    guint value = op->value[0].value;
    for (guint i = 0; i < w->flight->len; i++)
        product->in_flight |= g_array_index(w->flight, Flight, i).value == value;
    product->loop = first_loop(op, w->t->y->p->agent[op->agent].value[value].name);
    Flight f = { value, FALSE };
    g_array_append_val(w->flight, f);
}

static void retire(GArray *list, guint value)
{
    for (guint i = 0; i < list->len; i++) {
        if (g_array_index(list, guint, i) == value)
            return;
    }
    g_array_append_val(list, value);
}

static void wait(Walk *w, const WsOp *op)
{
    WsTleProduct *product = &w->t->product[op->index];
    gint64 groups = op->n;
    guint keep = w->flight->len;
    gboolean reached = FALSE; /* there are groups beyond the newest n */
    while (keep > 0 && !reached) {
        if (g_array_index(w->flight, Flight, keep - 1).closes)
            reached = groups-- == 0;
        keep -= !reached;
    }
    guint pendings = w->flight->len - keep;
    if (!product->retired)
        product->retired = g_array_new(FALSE, FALSE, sizeof(guint));
    product->differs |= reached && product->settled && product->pendings != pendings;
    product->differs |= w->forked && op->n > 0;
    w->forked = w->forked && op->n > 0;
    if (reached || !product->settled)
        product->pendings = reached ? pendings : MAX(product->pendings, pendings);
    product->settled |= reached;
    for (guint i = 0; i < keep; i++)
        retire(product->retired, g_array_index(w->flight, Flight, i).value);
    g_array_remove_range(w->flight, 0, keep);
}

static GArray *copy_of(const GArray *flight)
{
    GArray *copy = g_array_new(FALSE, FALSE, sizeof(Flight));
    return g_array_append_vals(copy, flight->data, flight->len);
}

static gboolean equal(const GArray *a, const GArray *b)
{
    gboolean same = a->len == b->len;
    for (guint i = 0; i < a->len && same; i++)
        same = g_array_index(a, Flight, i).closes == g_array_index(b, Flight, i).closes;
    return same;
}

static void walk(Walk *w, const WsTree *t);

static void branch(Walk *w, const WsTree *t)
{
    GArray *before = copy_of(w->flight), *then;
    walk(w, t->kid[0]);
    then = w->flight;
    w->flight = before;
    if (t->n_kids > 1 && t->kid[1])
        walk(w, t->kid[1]);
    w->forked = w->forked || !equal(then, w->flight);
    if (then->len > w->flight->len) {
        GArray *less = w->flight;
        w->flight = then;
        then = less;
    }
    g_array_unref(then);
}

static void walk(Walk *w, const WsTree *t)
{
    if (t->kind == WS_TREE_BRANCH) {
        branch(w, t);
        return;
    }
    if (t->kind == WS_TREE_OP) {
        if (t->op->kind == WS_OP_MMA)
            issue(w, t->op);
        else if (t->op->kind == WS_OP_MMA_COMMIT && w->flight->len)
            g_array_index(w->flight, Flight, w->flight->len - 1).closes = TRUE;
        else if (t->op->kind == WS_OP_MMA_WAIT)
            wait(w, t->op);
        return;
    }
    guint rounds = t->kind == WS_TREE_LOOP ? 3 : 1; /* what a round leaves meets the next one */
    for (guint round = 0; round < rounds; round++) {
        for (guint i = 0; i < t->n_kids; i++) {
            if (t->kid[i])
                walk(w, t->kid[i]);
        }
    }
}

void ws_tle_products(WsTle *t)
{
    for (guint i = 0; i < t->y->p->n_agents; i++) {
        Walk w = { t, g_array_new(FALSE, FALSE, sizeof(Flight)) };
        walk(&w, t->y->p->agent[i].body);
        g_array_unref(w.flight);
    }
}
