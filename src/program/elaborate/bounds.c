#include "program/elaborate/elab.h"
#include "program/program.h"

/* Ranges of starts and elements that depend on the rank or on loops of constant length: every value
 * they take is tried, so that a view out of range is found here and not on the GPU. */

#define MAX_VARS   4
#define MAX_TRIALS 4096

typedef struct {
    WsElab *E;
    guint n;
    gint var[MAX_VARS];
    gint64 from[MAX_VARS], step[MAX_VARS], count[MAX_VARS], now[MAX_VARS];
    gboolean open;     /* depends on something that is not enumerated */
    gboolean unrolled; /* nothing but indices of fully unrolled loops */
} Bounds;

static const WsElabSymbol *loop_of(WsElab *E, gint var)
{
    GHashTableIter iter;
    gpointer symbol;
    g_hash_table_iter_init(&iter, E->agent->names);
    while (g_hash_table_iter_next(&iter, NULL, &symbol)) {
        const WsElabSymbol *s = symbol;
        if (s->kind == WS_SYMBOL_LOOP && s->var == var && s->fixed)
            return s;
    }
    return NULL;
}

static void collect(const WsExpr *e, gpointer data)
{
    Bounds *B = data;
    if (e->op == WS_EXPR_INDEX)
        B->open = TRUE;
    if (e->op != WS_EXPR_VAR)
        return;
    for (guint i = 0; i < B->n; i++)
        if (B->var[i] == e->var)
            return;
    const WsElabSymbol *loop = loop_of(B->E, e->var);
    gboolean rank = e->var == B->E->cta_var;
    if ((!loop && !rank) || B->n == MAX_VARS) {
        B->open = TRUE;
        return;
    }
    B->unrolled = B->unrolled && loop && loop->full;
    B->var[B->n] = e->var;
    B->from[B->n] = loop ? loop->from : 0;
    B->step[B->n] = loop ? loop->step : 1;
    B->count[B->n] = loop ? loop->count : B->E->p->cluster;
    B->n++;
}

static WsLookup value_of(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    const Bounds *B = data;
    for (guint i = 0; i < B->n; i++)
        if (leaf->op == WS_EXPR_VAR && leaf->var == B->var[i]) {
            *value = B->now[i];
            return WS_LOOKUP_KNOWN;
        }
    return WS_LOOKUP_UNKNOWN;
}

/* The next combination of values; FALSE after the last one. */
static gboolean advance(Bounds *B, gint64 *at)
{
    for (guint i = 0; i < B->n; i++) {
        if (++at[i] < B->count[i]) {
            B->now[i] += B->step[i];
            return TRUE;
        }
        at[i] = 0;
        B->now[i] = B->from[i];
    }
    return FALSE;
}

gboolean ws_bounds_check(WsStepState *S, const char *name, const WsExpr *start, gint64 count,
                         gint64 extent, gboolean value)
{
    WsElab *E = S->E;
    Bounds B = { .E = E, .unrolled = TRUE };
    gint64 at[MAX_VARS] = { 0 }, first, known;
    if (!E->agent || ws_elab_is_int(start, &known))
        return TRUE;
    ws_expr_visit(start, collect, &B);
    if (value && (B.open || !B.unrolled)) {
        ws_elab_error(E, WS_RULE_T_CONST, S->id, "Unroll that loop: \"unroll\": \"full\".",
                      "the view of %s starts at %s, which is known only while the kernel runs",
                      name, ws_elab_text(E, start));
        return FALSE;
    }
    if (B.open || S->shift != 0)
        return TRUE;
    gint64 trials = 1;
    for (guint i = 0; i < B.n; i++) {
        if (B.count[i] <= 0 || B.count[i] > MAX_TRIALS)
            return TRUE;
        trials *= B.count[i];
        if (trials > MAX_TRIALS)
            return TRUE;
        B.now[i] = B.from[i];
    }
    WsExprEnv env = { .integer = value_of, .data = &B };
    do {
        if (!ws_expr_eval(start, &env, &first, NULL))
            return TRUE;
        if (first >= 0 && first <= extent - count)
            continue;
        ws_elab_error(E, WS_RULE_T_VIEW, S->id, NULL,
                      "%s at %s = %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                      " long, lies outside of 0..%" G_GINT64_FORMAT,
                      name, ws_elab_text(E, start), first, count, extent);
        return FALSE;
    } while (advance(&B, at));
    return TRUE;
}
