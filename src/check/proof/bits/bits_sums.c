/* L-LAPS: the sums of variables that turns, and what their counters go on by, are made of. */
#include "check/proof/bits/bits.h"
#include "program/parts/barrier.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

enum { MOST_SUMS = 8, DEEPEST = 6 }; /* of one expression; lets and choices within each other */

typedef struct {
    WsBits *b;
    guint agent, deep, rank;
    const WsTree *at;
    guint16 place;
    GArray *sum;      /* WsBitSum */
    GPtrArray *whole; /* GArray* of WsBitTerm: what the expression at hand may be */
    gboolean rough;   /* it is no such sum */
    const WsExpr *slot;
    gboolean anew; /* names that are asked anew may stand in it */
} Find;

static WsBitAgent *agent_of(const Find *f)
{
    return &f->b->agent[f->agent];
}

static gint loop_of_index(const WsBitAgent *a, gint local)
{
    for (guint n = 0; n < a->n_loops; n++)
        if (a->loop[n].index == local)
            return (gint)n;
    return -1;
}

static gint64 number_of(const WsExpr *e)
{
    gint64 x;
    return ws_expr_is_int(e, &x) ? x : 0;
}

/* What has to be divided out of it: a product of numbers; 0: too large. */
static gint64 divisors(const WsExpr *e)
{
    const gboolean divides =
        e->op == WS_EXPR_DIV || (e->op == WS_EXPR_CALL && e->func == WS_FUNC_CDIV);
    gint64 all = divides && number_of(e->arg[1]) > 0 ? number_of(e->arg[1]) : 1;
    for (guint i = 0; i < e->n_args; i++)
        if (e->op != WS_EXPR_MOD && __builtin_mul_overflow(all, divisors(e->arg[i]), &all))
            return 0;
    return all < (gint64)1 << 24 ? all : 0;
}

static void add_term(Find *f, gint local, gint symbol, gint64 factor)
{
    for (guint i = 0; i < f->whole->len; i++) {
        GArray *sum = f->whole->pdata[i];
        WsBitTerm *t = NULL;
        for (guint k = 0; k < sum->len && !t; k++)
            if (g_array_index(sum, WsBitTerm, k).local == local &&
                g_array_index(sum, WsBitTerm, k).symbol == symbol)
                t = &g_array_index(sum, WsBitTerm, k);
        const WsBitTerm new = { local, loop_of_index(agent_of(f), local), symbol, factor };
        if (t)
            t->factor += factor;
        else
            g_array_append_val(sum, new);
    }
}

static void find_sums(Find *f, const WsExpr *e, gint barrier, const WsBitOp *o, gint64 modulus);
static void expand(Find *f, const WsExpr *e, gint64 factor);

static GPtrArray *copies(const GPtrArray *all)
{
    GPtrArray *own = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    for (guint k = 0; k < all->len; k++)
        g_ptr_array_add(own, g_array_copy(all->pdata[k]));
    return own;
}

/* It is one of these: all sums so far with each of them. */
static void expand_each(Find *f, WsExpr *const *e, guint n, gint64 factor)
{
    GPtrArray *before = f->whole;
    GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    f->rough |= ++f->deep > DEEPEST || before->len * n > MOST_SUMS;
    for (guint i = 0; i < n && !f->rough; i++) {
        f->whole = copies(before);
        expand(f, e[i], factor);
        g_ptr_array_extend_and_steal(all, f->whole);
    }
    g_ptr_array_unref(before);
    f->whole = all;
    f->deep--;
}

/* A let: what it is now, and what it will be set to. */
static void expand_let(Find *f, const WsExpr *e, gint local, gint64 factor)
{
    const WsBitAgent *a = agent_of(f);
    g_autoptr(GPtrArray) set = g_ptr_array_new();
    for (guint n = 0; n < a->n_code; n++) {
        const WsBitOp *o = a->code[n].op;
        if (o && o->local == local && o->op->set)
            g_ptr_array_add(set, (gpointer)ws_bit_rewritten(f->b, o->op->set));
    }
    GPtrArray *now = copies(f->whole);
    expand_each(f, (WsExpr *const *)set->pdata, set->len, factor);
    GPtrArray *later = f->whole;
    f->whole = now;
    add_term(f, local, 0, factor);
    g_ptr_array_extend_and_steal(f->whole, later);
    f->rough |= f->whole->len > MOST_SUMS;
}

static void expand_var(Find *f, const WsExpr *e, gint64 factor)
{
    const WsBitAgent *a = agent_of(f);
    const WsVar *v = e->var >= 0 && (guint)e->var < f->b->c->n_vars ? &f->b->p->var[e->var] : NULL;
    gint local = -1;
    if (f->b->firm && e->var >= (gint)f->b->c->n_vars) {
        const gint symbol = e->var - (gint)f->b->c->n_vars;
        const WsSymbol *s = f->b->c->symbols->pdata[symbol];
        f->rough |= s->base >= 0 || (s->split && !f->anew);
        add_term(f, -1, symbol, factor);
        return;
    }
    if (v && v->kind == WS_VAR_CTA)
        return;
    for (guint n = 0; v && n < a->n_locals; n++)
        if (a->var[n] == e->var)
            local = (gint)n;
    f->rough |= local < 0;
    if (local >= 0 && v->kind == WS_VAR_LET)
        expand_let(f, e, local, factor);
    else if (local >= 0)
        add_term(f, local, 0, factor);
}

static gboolean names(const Find *f, const WsExpr *e)
{
    gboolean found = e->op == WS_EXPR_VAR && e->var >= (gint)f->b->c->n_vars;
    for (guint i = 0; i < e->n_args && !found; i++)
        found = names(f, e->arg[i]);
    return found;
}

/* Truths are known exactly (L-SUM), and so is what a choice decides by, if no name stands in it. */
static void expand(Find *f, const WsExpr *e, gint64 factor)
{
    const gboolean call = e->op == WS_EXPR_CALL;
    const gboolean by = e->n_args == 2 && number_of(e->arg[1]) > 0;
    const gboolean truth = (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR) || e->op == WS_EXPR_NOT;
    f->rough |=
        (truth && names(f, e)) || (call && e->func == WS_FUNC_SELECT && names(f, e->arg[0]));
    if (f->rough || e->op == WS_EXPR_INT || e->op == WS_EXPR_TEXT_BOOL || truth)
        return;
    if (e->op == WS_EXPR_VAR) {
        expand_var(f, e, factor);
    } else if (e->op == WS_EXPR_NEG) {
        expand(f, e->arg[0], -factor);
    } else if (e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB) {
        expand(f, e->arg[0], factor);
        expand(f, e->arg[1], e->op == WS_EXPR_SUB ? -factor : factor);
    } else if (e->op == WS_EXPR_MUL &&
               (e->arg[0]->op == WS_EXPR_INT || e->arg[1]->op == WS_EXPR_INT)) {
        const guint number = e->arg[1]->op == WS_EXPR_INT;
        f->rough |= __builtin_mul_overflow(factor, number_of(e->arg[number]), &factor);
        expand(f, e->arg[!number], factor);
    } else if ((e->op == WS_EXPR_DIV || (call && e->func == WS_FUNC_CDIV)) && by) {
        /* divisors() sees those of the expression, not those of what a let in it is set to */
        f->rough |= factor % number_of(e->arg[1]) != 0;
        expand(f, e->arg[0], factor / number_of(e->arg[1]));
    } else if (e->op == WS_EXPR_MOD && by) {
        find_sums(f, e->arg[0], -1, NULL, number_of(e->arg[1]));
    } else if (call && e->func == WS_FUNC_SELECT) {
        expand_each(f, e->arg + 1, 2, factor);
    } else if (call && (e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX)) {
        expand_each(f, e->arg, e->n_args, factor);
    } else {
        f->rough = TRUE;
    }
}

static gboolean counts_itself(const Find *f, gint local)
{
    for (guint i = 0; i < f->whole->len; i++) {
        const GArray *sum = f->whole->pdata[i];
        if (sum->len == 1 && g_array_index(sum, WsBitTerm, 0).local == local)
            return TRUE;
    }
    return FALSE;
}

/* Each variable in it counts itself, of a let those that it will be set to, too. */
static void each_variable(Find *f, const WsExpr *e)
{
    const WsBitAgent *a = agent_of(f);
    for (guint n = 0; e->op == WS_EXPR_VAR && n < a->n_locals; n++) {
        if (a->var[n] != e->var || counts_itself(f, (gint)n))
            continue;
        GArray *one = g_array_new(FALSE, FALSE, sizeof(WsBitTerm));
        const WsBitTerm t = { (gint)n, loop_of_index(a, (gint)n), 0, 1 };
        g_array_append_val(one, t);
        g_ptr_array_add(f->whole, one);
        for (guint k = 0; k < a->n_code && f->b->p->var[e->var].kind == WS_VAR_LET; k++) {
            const WsBitOp *o = a->code[k].op;
            if (o && o->local == (gint)n && o->op->set)
                each_variable(f, ws_bit_rewritten(f->b, o->op->set));
        }
    }
    for (guint i = 0; i < e->n_args; i++)
        each_variable(f, e->arg[i]);
}

/* --- where an expression stands ----------------------------------------------------------------
 */
/* The index of a loop around it that it needs to be below something: the loop, and the most that it
 * is there. */
static void bounded_by(Find *f, const WsExpr *cond, gboolean holds, WsBitSum *s)
{
    static const WsExprOp opposite[] = { WS_EXPR_GE, WS_EXPR_GT, WS_EXPR_LE,
                                         WS_EXPR_LT, WS_EXPR_NE, WS_EXPR_EQ };
    if (cond->op == WS_EXPR_NOT || cond->op == (holds ? WS_EXPR_AND : WS_EXPR_OR))
        for (guint i = 0; i < cond->n_args; i++)
            bounded_by(f, cond->arg[i], cond->op == WS_EXPR_NOT ? !holds : holds, s);
    if (cond->op < WS_EXPR_LT || cond->op > WS_EXPR_NE)
        return;
    const WsExprOp op = holds ? cond->op : opposite[cond->op - WS_EXPR_LT];
    g_autoptr(WsExpr) d =
        ws_expr_op(WS_EXPR_SUB, ws_expr_ref(cond->arg[0]), ws_expr_ref(cond->arg[1]));
    WsAffine a;
    gint64 step = 1;
    if (ws_expr_affine(d, &a) && a.n == 1 && ABS(a.factor[0]) == 1 &&
        a.term[0]->op == WS_EXPR_VAR && ABS(a.constant) < (gint64)1 << 30)
        for (guint n = 0; n < agent_of(f)->n_loops && s->until < 0; n++) {
            const WsTree *t = agent_of(f)->loop[n].tree, *up = f->at;
            const gboolean below = a.factor[0] > 0 ? op == WS_EXPR_LT || op == WS_EXPR_LE
                                                   : op == WS_EXPR_GT || op == WS_EXPR_GE;
            while (up && up != t)
                up = up->parent;
            if (!up || t->index_var != a.term[0]->var || (!below && op != WS_EXPR_EQ) ||
                (t->step_by && (!ws_expr_is_int(t->step_by, &step) || step < 1)))
                continue;
            s->until = (gint)n;
            s->most = -a.constant * a.factor[0] - (op == WS_EXPR_LT || op == WS_EXPR_GT);
        }
    ws_affine_clear(&a);
}

static void find_place(Find *f, WsBitSum *s)
{
    WsBitAgent *a = agent_of(f);
    for (const WsTree *t = f->at, *kid = NULL; t; kid = t, t = t->parent) {
        if (t->kind == WS_TREE_BRANCH && kid)
            bounded_by(f, ws_bit_rewritten(f->b, t->cond), t->kid[0] == kid, s);
        for (guint n = 0; n < a->n_loops && t->kind == WS_TREE_LOOP; n++)
            if (a->loop[n].tree == t) {
                s->around |= (guint64)1 << MIN(n, 63);
                s->last = n < 63 ? s->last : G_MAXUINT16;
            }
    }
}

static WsLookup is_rank(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    const Find *f = data;
    if (leaf->op != WS_EXPR_VAR || leaf->var < 0 || (guint)leaf->var >= f->b->c->n_vars ||
        f->b->p->var[leaf->var].kind != WS_VAR_CTA)
        return WS_LOOKUP_UNKNOWN;
    *value = f->rank;
    return WS_LOOKUP_KNOWN;
}

/* What it is in CTA `rank`; -1: that is not all that it depends on. */
static gint64 of_rank(Find *f, const WsExpr *e, guint rank)
{
    gint64 x;
    f->rank = rank;
    const WsExprEnv env = { .integer = is_rank, .data = f };
    g_autoptr(WsExpr) known = e ? ws_expr_fold(e, &env, NULL) : NULL;
    return known && ws_expr_is_int(known, &x) ? x : -1;
}

/* No branch around it is one of other CTAs. */
static gboolean is_met(Find *f, guint rank)
{
    gboolean met = TRUE;
    for (const WsTree *t = f->at->parent, *kid = f->at; t && met; kid = t, t = t->parent) {
        const gint64 cond = t->kind == WS_TREE_BRANCH ? of_rank(f, t->cond, rank) : -1;
        met = cond < 0 || (cond > 0) == (t->kid[0] == kid);
    }
    return met;
}

static guint16 targets(Find *f, const WsBitOp *o, guint rank)
{
    const WsCtas *ctas = o ? &o->op->ctas : NULL;
    const gint64 one = ctas && ctas->kind == WS_CTAS_EXPR ? of_rank(f, ctas->expr, rank) : -1;
    if (!ctas || ctas->kind == WS_CTAS_OWN)
        return (guint16)(1u << rank);
    if (ctas->kind == WS_CTAS_MASK)
        return (guint16)ctas->mask;
    return one >= 0 && one < 16 ? (guint16)(1u << one) : G_MAXUINT16;
}

static int by_local(gconstpointer a, gconstpointer b)
{
    const WsBitTerm *s = a, *t = b;
    return s->local != t->local ? s->local - t->local : s->symbol - t->symbol;
}

/* Takes `term`. */
static void keep_sum(Find *f, GArray *term, WsBitSum s)
{
    for (guint i = term->len; i-- > 0;)
        if (g_array_index(term, WsBitTerm, i).factor == 0)
            g_array_remove_index(term, i);
    g_array_sort(term, by_local);
    s.n_terms = term->len;
    for (guint i = 0; i < f->sum->len; i++) {
        WsBitSum *o = &g_array_index(f->sum, WsBitSum, i);
        gboolean same = o->barrier == s.barrier &&
                        !memcmp(o->element, s.element, sizeof s.element) && o->slot == s.slot &&
                        o->laps == s.laps && o->modulus == s.modulus && o->until == s.until &&
                        o->most == s.most && o->n_terms == s.n_terms;
        for (guint n = 0; n < s.n_terms && same; n++)
            same = o->term[n].local == g_array_index(term, WsBitTerm, n).local &&
                   o->term[n].symbol == g_array_index(term, WsBitTerm, n).symbol &&
                   o->term[n].factor == g_array_index(term, WsBitTerm, n).factor;
        if (same) {
            o->first = MIN(o->first, s.first);
            o->last = MAX(o->last, s.last);
            o->around |= s.around;
            for (guint r = 0; r < G_N_ELEMENTS(s.to); r++)
                o->to[r] |= s.to[r];
            g_array_unref(term);
            return;
        }
    }
    s.term = ws_bit_alloc(f->b, (s.n_terms + 1) * sizeof(WsBitTerm));
    for (guint n = 0; n < s.n_terms; n++)
        s.term[n] = g_array_index(term, WsBitTerm, n);
    g_array_unref(term);
    if (s.n_terms || s.barrier >= 0)
        g_array_append_val(f->sum, s);
}

static void begin_whole(Find *f)
{
    f->whole = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    g_ptr_array_add(f->whole, g_array_new(FALSE, FALSE, sizeof(WsBitTerm)));
}

/* What it is made of, as far as it goes: into f->whole. */
static gboolean is_sum(Find *f, const WsExpr *e, gint64 laps)
{
    begin_whole(f);
    f->rough = laps == 0;
    f->deep++;
    expand(f, e, laps);
    f->deep--;
    return !f->rough;
}

/* The sums that `e` is made of; what changes their counters follows later. */
static void find_sums(Find *f, const WsExpr *e, gint barrier, const WsBitOp *o, gint64 modulus)
{
    GPtrArray *outer = f->whole;
    const gboolean rough = f->rough;
    const gint64 laps = divisors(e);
    gint64 first;
    if (!is_sum(f, e, laps)) {
        g_ptr_array_unref(f->whole);
        begin_whole(f);
        each_variable(f, e);
    }
    WsBitSum s = {
        .barrier = barrier, .slot = -1, .first = f->place, .last = f->place, .until = -1
    };
    s.laps = f->rough ? 1 : laps;
    s.modulus = f->rough ? 0 : modulus * laps;
    find_place(f, &s);
    for (guint r = 0; r < MIN(f->b->ranks, G_N_ELEMENTS(s.to)); r++) {
        s.to[r] = is_met(f, r) ? targets(f, o, r) : 0;
        s.element[r] = o ? (gint)of_rank(f, o->op->element, r) : -1;
    }
    const gint64 slots = o ? MAX(f->b->p->barrier[barrier].slots, 1) : 0;
    if (o && ws_bit_slots_of(f->slot, slots, &first) == slots)
        s.slot = (gint)first;
    for (guint i = 0; i < f->whole->len; i++) {
        if (f->rough && i > 0)
            s.barrier = -1;
        keep_sum(f, g_array_ref(f->whole->pdata[i]), s);
    }
    g_ptr_array_unref(f->whole);
    f->whole = outer;
    f->rough = rough;
}

/* --- indices that are numbers ------------------------------------------------------------------
 */
typedef struct {
    gint var[2];
    gint64 value[2];
} Known;

static WsLookup known(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    const Known *k = data;
    for (guint i = 0; i < 2; i++)
        if (leaf->op == WS_EXPR_VAR && k->var[i] >= 0 && leaf->var == k->var[i]) {
            *value = k->value[i];
            return WS_LOOKUP_KNOWN;
        }
    return WS_LOOKUP_UNKNOWN;
}

static gboolean mentions(const WsExpr *e, gint var)
{
    gboolean found = e->op == WS_EXPR_VAR && e->var == var;
    for (guint i = 0; i < e->n_args && !found; i++)
        found = mentions(e->arg[i], var);
    return found;
}

/* Loops around it of few rounds, whose indices decide turn and slot: one after the other. FALSE:
 * that does not help. */
static gboolean find_by_index(Find *f, const WsBitOp *o, const WsExpr *turn, const WsExpr *slot)
{
    Known k = { { -1, -1 }, { 0 } };
    const gint64 slots = MAX(f->b->p->barrier[o->barrier].slots, 1);
    gint64 rounds[2] = { 1, 1 }, from = 0, step = 1, x;
    guint n = 0;
    for (const WsTree *t = f->at; t && n < 2; t = t->parent) {
        if (t->kind != WS_TREE_LOOP || t->index_var < 0 || t->over != WS_OVER_COUNT ||
            !(mentions(turn, t->index_var) || mentions(slot, t->index_var)) ||
            !ws_expr_is_int(t->count, &x) || x < 1 || x > 16 ||
            (t->from && !(ws_expr_is_int(t->from, &from) && from == 0)) ||
            (t->step_by && !(ws_expr_is_int(t->step_by, &step) && step == 1)))
            continue;
        k.var[n] = t->index_var;
        rounds[n++] = x;
    }
    for (guint make = 0; make < 2 && n; make++)
        for (gint64 i = 0; i < rounds[0] * rounds[1]; i++) {
            k.value[0] = i % rounds[0], k.value[1] = i / rounds[0];
            const WsExprEnv env = { .integer = known, .data = &k };
            g_autoptr(WsExpr) its = ws_expr_fold(turn, &env, NULL);
            g_autoptr(WsExpr) at = ws_expr_fold(slot, &env, NULL);
            if (!its || !at || ws_bit_slots_of(at, slots, &x) != slots)
                return FALSE;
            f->slot = at;
            if (make)
                find_sums(f, its, o->barrier, o, 0);
            else if (!is_sum(f, its, divisors(its)))
                n = 0;
            if (!make)
                g_clear_pointer(&f->whole, g_ptr_array_unref);
            f->rough = FALSE;
            f->slot = NULL;
        }
    return n > 0;
}

static void find_turn(Find *f, WsBitOp *o)
{
    const WsExpr *turn = ws_bit_rewritten(f->b, o->op->turn);
    const WsExpr *slot = ws_bit_rewritten(f->b, o->op->slot);
    const gboolean fine = is_sum(f, turn, divisors(turn));
    g_clear_pointer(&f->whole, g_ptr_array_unref);
    f->rough = FALSE;
    o->by_slot = !fine && find_by_index(f, o, turn, slot);
    o->summed = fine;
    if (o->by_slot)
        return;
    f->slot = slot;
    find_sums(f, turn, o->barrier, o, 0);
    f->slot = NULL;
}

static gboolean in_sums(const Find *f, gint local)
{
    for (guint i = 0; i < f->sum->len; i++) {
        const WsBitSum *s = &g_array_index(f->sum, WsBitSum, i);
        for (guint n = 0; n < s->n_terms; n++)
            if (s->term[n].local == local && local >= 0)
                return TRUE;
    }
    return FALSE;
}

/* Every loop that asks for such a name anew stands in that loop, in no branch and no other loop:
 * each round asks. */
static gboolean asked_directly(const WsBitAgent *a, const WsBitStride *s, guint split)
{
    gboolean direct = s->loop >= 0 && !s->sure, found = FALSE;
    for (guint n = 0; n < a->n_loops && direct; n++) {
        const WsTree *t = a->loop[n].split == split ? a->loop[n].tree->parent : NULL;
        while (t && t->kind != WS_TREE_LOOP && t->kind != WS_TREE_BRANCH)
            t = t->parent;
        direct = a->loop[n].split != split || t == a->loop[s->loop].tree;
        found |= a->loop[n].split == split;
    }
    return direct && found;
}

/* L-DRIFT: it goes on by a sum with names in it at one place, once in every round. */
static void find_stride(Find *f, gint local)
{
    WsBitAgent *a = agent_of(f);
    WsBitStride *s = &a->strides[local];
    const gboolean counts = f->b->p->var[a->var[local]].kind == WS_VAR_COUNTER;
    guint n_ops = 0;
    for (guint n = 0; n < a->n_code; n++) {
        const WsBitOp *o = a->code[n].op;
        if (!o || o->local != local || !o->op->set || !counts ||
            !names(f, ws_bit_rewritten(f->b, o->op->set)))
            continue;
        n_ops++;
        *s = (WsBitStride){ .place = (guint16)n, .loop = -1, .op = o };
    }
    if (n_ops != 1) {
        *s = (WsBitStride){ 0 };
        return;
    }
    for (const WsTree *t = s->op->op->tree, *kid = NULL; t && s->loop < 0; kid = t, t = t->parent) {
        for (guint n = 0; n < a->n_loops && t->kind == WS_TREE_LOOP; n++)
            if (a->loop[n].tree == t)
                s->loop = (gint)n;
        if (t->kind == WS_TREE_BRANCH && !s->sure)
            s->sure = ws_bit_side_of(a, t, kid);
        if (t->kind == WS_TREE_BRANCH && !s->sure)
            s->place = 0;
    }
    const gboolean tiles = s->loop < 0 || a->loop[s->loop].tree->over == WS_OVER_TILES;
    f->at = s->op->op->tree, f->place = s->place;
    f->anew = TRUE;
    if (s->place && is_sum(f, ws_bit_rewritten(f->b, s->op->op->set), 1) && f->whole->len == 1) {
        const GArray *sum = f->whole->pdata[0];
        s->term = ws_bit_alloc(f->b, (sum->len + 1) * sizeof(WsBitTerm));
        for (guint n = 0; n < sum->len; n++)
            s->term[s->n_terms++] = g_array_index(sum, WsBitTerm, n);
        for (guint n = 0; n < s->n_terms; n++) {
            const WsSymbol *x = f->b->c->symbols->pdata[s->term[n].symbol];
            if (!s->term[n].symbol || (x->split ? !asked_directly(a, s, x->split) : !tiles))
                s->place = 0;
        }
    } else {
        s->place = 0;
    }
    g_clear_pointer(&f->whole, g_ptr_array_unref);
    f->rough = f->anew = FALSE;
    if (!s->place) /* what it goes on by counts by itself */
        *s = (WsBitStride){ 0 };
}

/* What a counter goes on by is the same in both: so are the sums that make it. */
static void find_in_agent(WsBits *b, guint agent)
{
    WsBitAgent *a = &b->agent[agent];
    Find f = { .b = b, .agent = agent, .sum = g_array_new(FALSE, FALSE, sizeof(WsBitSum)) };
    g_autofree guint8 *done = g_new0(guint8, a->n_code + 1);
    a->strides = ws_bit_alloc(b, (a->n_locals + 1) * sizeof(WsBitStride));
    for (guint n = 0; n < a->n_locals && b->firm; n++)
        find_stride(&f, (gint)n);
    for (gboolean more = TRUE; more;) {
        more = FALSE;
        for (guint n = 0; n < a->n_code; n++) {
            WsBitOp *o = a->code[n].op;
            const gboolean meets = o && o->barrier >= 0 && o->named < 0 && o->turn.given &&
                                   (o->exact || b->firm) && !b->unwatched[o->barrier];
            const gboolean advances = o && o->local >= 0 && o->op->set &&
                                      b->p->var[a->var[o->local]].kind == WS_VAR_COUNTER &&
                                      in_sums(&f, o->local) && a->strides[o->local].op != o;
            if (done[n] || (!meets && !advances))
                continue;
            f.at = o->op->tree, f.place = (guint16)n;
            if (meets)
                find_turn(&f, o);
            else
                find_sums(&f, ws_bit_rewritten(b, o->op->set), -1, NULL, 0);
            done[n] = 1;
            more = TRUE;
        }
    }
    a->n_sums = f.sum->len;
    a->sum = ws_bit_alloc(b, (f.sum->len + 1) * sizeof(WsBitSum));
    for (guint i = 0; i < f.sum->len; i++)
        a->sum[i] = g_array_index(f.sum, WsBitSum, i);
    g_array_unref(f.sum);
}

void ws_bit_find_sums(WsBits *b)
{
    for (guint a = 0; a < b->n_agents; a++)
        find_in_agent(b, a);
    ws_bit_find_rings(b);
}
