#include "program/elaborate/elab.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* Budgets of the target: LANGUAGE section 22, class B. */

/* The constant that alone sets the `stages` of a buffer, NULL if there is none. */
static const char *stages_constant(WsElab *E)
{
    for (guint i = 0; i < ws_node_n_children(E->root, WS_F_buffers); i++) {
        const WsExpr *e = ws_node_expr(ws_node_child(E->root, WS_F_buffers, i), WS_F_stages);
        WsElabSymbol *symbol =
            e && e->op == WS_EXPR_NAME ? g_hash_table_lookup(E->names, e->name) : NULL;
        if (symbol && symbol->kind == WS_SYMBOL_CONSTANT)
            return symbol->name;
    }
    return NULL;
}

static guint64 shared_with(WsElab *E, const char *name, gint64 value)
{
    g_autofree WsSetting *set = g_new(WsSetting, E->n_set + 1);
    guint n = 0;
    for (guint i = 0; i < E->n_set; i++)
        if (strcmp(E->set[i].name, name) != 0)
            set[n++] = E->set[i];
    set[n++] = (WsSetting){ name, value };
    return ws_elab_shared_bytes(E->origin, set, n);
}

/* The largest value below the one that is given with which the design elaborates and fits; 0: none;
 * -1: not found in so many trials. Each is tried, since others may not elaborate in between. */
static gint64 largest(WsElab *E, const char *name, gint64 given, guint64 need, guint64 limit)
{
    enum { TRIALS = 64 };
    gint64 from = given - 1;
    if (from > TRIALS) /* bytes are a sum that grows with the depth at least in proportion */
        from = MIN(from, (gint64)((gdouble)given * (gdouble)limit / (gdouble)need) + 1);
    for (gint64 value = from; value > 0; value--) {
        if (from - value >= TRIALS)
            return -1;
        const guint64 bytes = shared_with(E, name, value);
        if (bytes > 0 && bytes <= limit)
            return value;
    }
    return 0;
}

static void shared(WsElab *E)
{
    guint64 need = E->p->shared_bytes, limit = ws_target_shared(E->hw, E->p->per_sm);
    if (need <= limit)
        return;
    const char *name = stages_constant(E);
    g_autofree char *remedy = NULL;
    gint64 lo = -1;
    if (name && !E->probe) {
        WsElabSymbol *symbol = g_hash_table_lookup(E->names, name);
        lo = largest(E, name, symbol->value, need, limit);
    }
    if (lo > 0)
        remedy = ws_phrase("The largest %s that fits is %" G_GINT64_FORMAT ".", name, lo);
    else if (lo == 0)
        remedy = ws_phrase("No %s fits: use smaller tiles.", name);
    WsFinding *f = ws_elab_note(E, WS_RULE_B_SHARED, "buffers",
                                remedy ? remedy : WS_WORD("Use smaller tiles, or fewer stages."),
                                E->p->per_sm > 1 ? "shared memory takes %" G_GUINT64_FORMAT
                                                   " bytes, each CTA of an SM of %s has "
                                                   "%" G_GUINT64_FORMAT
                                                 : "shared memory takes %" G_GUINT64_FORMAT
                                                   " bytes, a CTA of %s has %" G_GUINT64_FORMAT,
                                need, E->p->target, limit);
    if (lo > 0) { /* what a quick-fix takes */
        f->object = g_strdup(name);
        f->fact[WS_FACT_LARGEST] = lo;
    }
}

static void threads(WsElab *E)
{
    if (E->p->threads > E->hw->threads)
        ws_elab_note(E, WS_RULE_B_THREADS, "groups", "Use fewer warps.",
                     "the groups take %u threads, a CTA has at most %u", E->p->threads,
                     E->hw->threads);
}

/* What a launch would need to know to keep several CTAs on an SM (which ids a CTA takes, how many
 * there are, which meet) is said for one alone. */
static void residents(WsElab *E)
{
    const WsProgram *p = E->p;
    const WsTargetSm *sm = &E->hw->sm;
    if (p->per_sm <= 1)
        return;
    if (!sm->shared)
        ws_elab_note(E, WS_RULE_B_SM, "ctas_per_sm", WS_WORD("Leave it out."),
                     "what several CTAs of an SM share is not described for %s", p->target);
    else if (p->per_sm > sm->ctas || p->per_sm * p->threads > sm->threads)
        ws_elab_note(E, WS_RULE_B_SM, "ctas_per_sm", NULL,
                     "%u CTAs of %u threads: an SM has %u threads", p->per_sm, p->threads,
                     sm->threads);
    else if (p->mesh || p->tiles->launch == WS_LAUNCH_DYNAMIC)
        ws_elab_note(E, WS_RULE_B_SM, "ctas_per_sm", WS_WORD("Leave it out."),
                     p->mesh ? "devices count on one CTA of each SM"
                             : "a dynamic launch has one CTA on each SM");
    else if (p->tiles->launch == WS_LAUNCH_PERSISTENT && !p->tiles->grid)
        ws_elab_note(E, WS_RULE_B_SM, "tiles", WS_WORD("Say the number of CTAs as `grid`."),
                     "a persistent launch has as many CTAs as SMs where it does not say `grid`");
}

static void transactions(WsElab *E)
{
    for (guint i = 0; i < E->ops->len; i++) {
        const WsOp *op = g_ptr_array_index(E->ops, i);
        if (ws_op_expects(op->kind) && op->bytes > E->hw->sync.transaction)
            ws_elab_note(E, WS_RULE_B_TX, op->step, "Split the transaction over two barriers.",
                         "%" G_GINT64_FORMAT " bytes are expected at once, an mbarrier counts to "
                         "%" G_GINT64_FORMAT,
                         op->bytes, E->hw->sync.transaction);
    }
}

/* A generator writes a copy of the body for each round that is unrolled and each part that `split`
 * makes. Compilers take minutes and much memory where there are more copies than this. */
#define MOST_COPIES 1024

/* Steps that the subtree becomes; beyond the most, the loop that multiplies them is named. */
static gint64 copies_of(WsElab *E, const WsTree *t, const WsTree **beyond)
{
    gint64 sum = t->kind == WS_TREE_OP, rounds;
    for (guint i = 0; i < t->n_kids; i++) {
        const gint64 kid = t->kid[i] ? copies_of(E, t->kid[i], beyond) : 0;
        if (*beyond)
            return kid;
        sum += kid;
    }
    if (t->kind != WS_TREE_LOOP)
        return sum;
    if (t->unroll < 0 && ws_elab_is_int(t->count, &rounds))
        sum *= MAX(rounds, 0);
    else
        sum *= MAX(t->unroll, 1) + (t->unroll > 1) + (gint64)t->n_cuts;
    if (sum > MOST_COPIES)
        *beyond = t;
    return sum;
}

static void code(WsElab *E)
{
    for (guint i = 0; i < E->p->n_agents; i++) {
        const WsTree *beyond = NULL;
        gint64 sum = copies_of(E, E->p->agent[i].body, &beyond);
        if (!beyond)
            continue;
        ws_elab_error(E, WS_RULE_T_RANGE, beyond->step,
                      WS_WORD("Unroll fewer loops, or split at fewer places."),
                      "unrolled and split, this loop becomes %" G_GINT64_FORMAT
                      " steps of code; at most %d are generated",
                      sum, MOST_COPIES);
        return;
    }
}

void ws_elab_budgets(WsElab *E)
{
    code(E);
    shared(E);
    threads(E);
    residents(E);
    transactions(E);
}
