/* What an expression is taken for where it is evaluated: names by what they are defined as, lets by
 * what they are set to, symbols where they are a part of a sum or have a relation. Every step keeps
 * the value (docs/soundness.md section 8.4; lemmas NAME, LET, FLAT, DIFFERENCE, QUOTIENTS). */
#include "verify/form.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "verify/assume.h"
#include "verify/state.h"
#include "verify/text.h"

#include <string.h>

static gboolean mentions(const WsExpr *e, gint var)
{
    gboolean found = e->op == WS_EXPR_VAR && e->var == var;
    for (guint i = 0; i < e->n_args && !found; i++)
        found = mentions(e->arg[i], var);
    return found;
}

typedef struct {
    gint var;
    gboolean found;
} Mention;

static void note_mention(gpointer data, const WsTree *t, const WsExpr *e, Ask ask)
{
    Mention *m = data;
    m->found |= mentions(e, m->var);
}

/* Nothing outside of places first + 1 .. last asks for it. */
static gboolean only_within(const Plan *plan, const AgentPlan *a, gint var, gint first, gint last)
{
    Mention m = { var, FALSE };
    for (gint n = 1; n <= a->n_places; n++)
        if (n <= first || n > last)
            plan_visit(plan, a->place[n].tree, note_mention, &m);
    return !m.found;
}

static gint place_of(const AgentPlan *a, const WsTree *t)
{
    return GPOINTER_TO_INT(g_hash_table_lookup(a->number, t));
}

/* The last place below `t`. */
static gint last_place(const AgentPlan *a, const WsTree *t)
{
    while (t->n_kids && t->kid[t->n_kids - 1])
        t = t->kid[t->n_kids - 1];
    return t->n_kids ? last_place(a, t->kid[0]) : place_of(a, t);
}

static gboolean begins_at_0(const WsTree *loop)
{
    gint64 x;
    return (!loop->from || (ws_expr_is_int(loop->from, &x) && x == 0)) &&
           (!loop->step_by || (ws_expr_is_int(loop->step_by, &x) && x == 1));
}

static const WsTree *loop_around(const WsTree *t)
{
    for (t = t->parent; t && t->kind != WS_TREE_LOOP;)
        t = t->parent;
    return t;
}

static WsExpr *var_of(const Plan *plan, gint var)
{
    return ws_expr_var(var, plan->p->var[var].name);
}

/* --- lets ------------------------------------------------------------------------------------- */
/* All that stands in a let is the same at every place behind it in its block, first + 1 .. last. */
static gboolean stays(const Plan *plan, const AgentPlan *a, const WsExpr *e, const WsTree *let,
                      gint first, gint last)
{
    const WsVarKind kind =
        e->op == WS_EXPR_VAR && e->var >= 0 ? plan->p->var[e->var].kind : WS_VAR_SIZE;
    gboolean fine = e->op != WS_EXPR_NAME && e->op != WS_EXPR_TOTAL, around = FALSE;
    gboolean tile = plan->p->tiles->launch == WS_LAUNCH_SINGLE;
    for (const WsTree *t = loop_around(let); t; t = loop_around(t)) {
        around |= e->op == WS_EXPR_VAR && t->index_var == e->var;
        tile |= t->over == WS_OVER_TILES;
    }
    if (e->op == WS_EXPR_INDEX || kind == WS_VAR_AXIS || kind == WS_VAR_TILE)
        fine &= tile;
    else if (kind == WS_VAR_INDEX)
        fine &= around;
    else
        fine &= kind == WS_VAR_SIZE || kind == WS_VAR_RUN || kind == WS_VAR_CTA;
    for (gint n = first + 1; n <= last && kind == WS_VAR_INDEX; n++)
        fine &= a->place[n].tree->kind != WS_TREE_LOOP || a->place[n].tree->index_var != e->var;
    for (guint i = 0; i < e->n_args; i++)
        fine &= stays(plan, a, e->arg[i], let, first, last);
    return fine;
}

static WsExpr *put_let(const WsExpr *leaf, gpointer data, GError **error)
{
    const Plan *plan = data;
    return leaf->op == WS_EXPR_VAR && leaf->var >= 0 && plan->let[leaf->var]
               ? ws_expr_ref(plan->let[leaf->var])
               : NULL;
}

/* What is equal to a symbol in the place of what is stated to be (lemma SAME). Takes `e`. */
static WsExpr *put_equal(const Plan *plan, WsExpr *e)
{
    g_autofree char *text = e->op != WS_EXPR_INT && e->op != WS_EXPR_INDEX ? text_of(e) : NULL;
    if (!text || certificate_find(plan->c, text, FALSE) || certificate_find(plan->c, text, TRUE))
        return e;
    WsExpr *made = NULL;
    for (guint i = 0; i < plan->c->equal->len && !made; i++) {
        const Equal *equal = &g_array_index(plan->c->equal, Equal, i);
        if (!strcmp(equal->same, text))
            made = ws_expr_ref(g_array_index(plan->c->symbol, Symbol, equal->symbol).whole);
    }
    if (!made && !e->n_args)
        return e;
    g_autofree WsExpr **arg = g_new0(WsExpr *, e->n_args);
    for (guint i = 0; i < e->n_args && !made; i++)
        arg[i] = put_equal(plan, ws_expr_ref(e->arg[i]));
    if (!made)
        made = text_with(e, arg);
    ws_expr_unref(e);
    return made;
}

/* Definitions and lets put in; NULL: too large. */
static WsExpr *whole(const Plan *plan, const WsExpr *e)
{
    g_autoptr(WsExpr) known = ws_expr_map(e, put_let, (gpointer)plan, NULL);
    WsExpr *all = known ? text_defined(plan->p, known) : NULL;
    return all && plan->c->equal->len ? put_equal(plan, all) : all;
}

guint plan_start(const Plan *plan, const WsTree *loop)
{
    return plan->start ? GPOINTER_TO_UINT(g_hash_table_lookup(plan->start, loop)) : 0;
}

/* Lemma FROM: the index of a loop that starts from `e` is e and that of the loop from 0. */
static void find_start(Plan *plan, const AgentPlan *a, const WsTree *t)
{
    const gint n = place_of(a, t), last = last_place(a, t);
    guint loops = 0, how = 0;
    gint64 x;
    const gboolean named = (t->from && !ws_expr_is_int(t->from, &x)) ||
                           (t->step_by && !ws_expr_is_int(t->step_by, &x));
    if (!named || t->over != WS_OVER_COUNT || (t->from && text_divides(t->from)) ||
        (t->step_by && text_divides(t->step_by)))
        return;
    for (gint k = 1; k <= a->n_places && t->index_var >= 0; k++)
        loops +=
            a->place[k].tree->kind == WS_TREE_LOOP && a->place[k].tree->index_var == t->index_var;
    WsExpr *e = t->from ? whole(plan, t->from) : NULL;
    if (t->index_var < 0 || only_within(plan, a, t->index_var, 0, 0)) {
        how = START_0 | STEP_1; /* nobody reads it */
    } else if (e && loops == 1 && (!t->step_by || ws_expr_is_int(t->step_by, &x)) &&
               text_nodes(e) <= 64 && stays(plan, a, e, t, n, last) &&
               only_within(plan, a, t->index_var, n, last)) {
        how = START_0;
        plan->let[t->index_var] =
            ws_expr_op(WS_EXPR_ADD, ws_expr_ref(e), var_of(plan, t->index_var));
    }
    ws_expr_unref(e);
    g_hash_table_insert(plan->start, (gpointer)t, GUINT_TO_POINTER(how));
}

static void find_lets(Plan *plan, const AgentPlan *a)
{
    for (gint n = 1; n <= a->n_places; n++) {
        const WsTree *t = a->place[n].tree;
        if (t->kind == WS_TREE_LOOP)
            find_start(plan, a, t);
        if (!t->op || t->op->kind != WS_OP_LET)
            continue;
        const gint var = t->op->var, last = last_place(a, t->parent);
        guint sets = 0;
        for (gint k = 1; k <= a->n_places; k++)
            sets += a->place[k].tree->op && a->place[k].tree->op->var == var;
        WsExpr *e =
            sets == 1 && only_within(plan, a, var, n, last) ? whole(plan, t->op->set) : NULL;
        if (e && text_nodes(e) <= 64 && stays(plan, a, e, t, n, last))
            plan->let[var] = e;
        else
            ws_expr_unref(e);
    }
}

typedef struct {
    const Plan *plan;
    const WsTree *u, *tiles;
    gboolean fine, some;
} Followed;

static WsExpr *put_index(const WsExpr *leaf, gpointer data, GError **error)
{
    Followed *f = data;
    const gint first = (gint)(f->plan->p->n_vars + f->plan->c->symbol->len);
    const gboolean var = leaf->op == WS_EXPR_VAR && leaf->var >= 0;
    const WsVarKind kind = var ? f->plan->p->var[leaf->var].kind : WS_VAR_ROW;
    const gboolean of_u = var && f->u && leaf->var == f->u->index_var;
    if (of_u || (var && f->tiles && leaf->var == f->tiles->index_var)) {
        f->some = TRUE;
        return ws_expr_var(first + of_u, of_u ? "round" : "tile");
    }
    f->fine &= leaf->op == WS_EXPR_INDEX || kind == WS_VAR_SIZE || kind == WS_VAR_RUN ||
               kind == WS_VAR_AXIS || kind == WS_VAR_TILE || kind == WS_VAR_CTA;
    return NULL;
}

static gboolean of_rank(const Plan *plan, const WsExpr *e)
{
    gboolean found = e->op == WS_EXPR_VAR && e->var >= 0 && plan_is_var(plan, e) &&
                     plan->p->var[e->var].kind == WS_VAR_CTA;
    for (guint i = 0; i < e->n_args; i++)
        found |= of_rank(plan, e->arg[i]);
    return found;
}

/* --- parts of sums ---------------------------------------------------------------------------- */
/* A leaf for a symbol. */
static WsExpr *stands_for(const Plan *plan, guint symbol)
{
    return ws_expr_var((gint)(plan->p->n_vars + symbol),
                       g_array_index(plan->c->symbol, Symbol, symbol).text);
}

static gboolean of_launch(const WsProgram *p, const WsExpr *e)
{
    gboolean fine = e->n_args ? e->op != WS_EXPR_INDEX : e->op == WS_EXPR_INT;
    if (e->op == WS_EXPR_VAR && e->var >= 0)
        fine = p->var[e->var].kind == WS_VAR_SIZE || p->var[e->var].kind == WS_VAR_RUN;
    for (guint i = 0; i < e->n_args; i++)
        fine &= of_launch(p, e->arg[i]);
    return fine;
}

/* Lemma FLAT: tile * n + k is k.total. */
static void find_flat(Plan *plan, const AgentPlan *a, const WsTree *k)
{
    const WsTree *tiles = loop_around(k);
    gboolean fine = k->over == WS_OVER_COUNT && k->total_var >= 0 && k->index_var >= 0 &&
                    begins_at_0(k) && tiles && tiles->over == WS_OVER_TILES &&
                    tiles->index_var >= 0 && begins_at_0(tiles) && !loop_around(tiles);
    for (const WsTree *t = k; t && fine; t = t->parent)
        fine = t->kind != WS_TREE_BRANCH;
    for (gint n = 1; n <= a->n_places && fine; n++) {
        const WsTree *t = a->place[n].tree;
        fine = t == k || t->kind != WS_TREE_LOOP ||
               (t->total_var != k->total_var && t->index_var != k->index_var &&
                (t == tiles || t->index_var != tiles->index_var));
    }
    if (!fine || !only_within(plan, a, k->index_var, place_of(a, k), last_place(a, k)))
        return;
    g_autoptr(WsExpr) count = whole(plan, k->count);
    if (!count || !of_launch(plan->p, count))
        return;
    WsExpr *rows = ws_expr_op(WS_EXPR_MUL, var_of(plan, tiles->index_var), ws_expr_ref(count));
    g_autoptr(WsExpr) sum = ws_expr_op(WS_EXPR_ADD, rows, var_of(plan, k->index_var));
    form_add_part(plan, sum, var_of(plan, k->total_var), TRUE);
}

/* Symbols whose relation is being put in: (t % 2 - 1) / 2 and t % 2 - 1 have the same text. */
typedef struct Within {
    const struct Within *up;
    guint symbol;
} Within;

static gboolean is_within(const Within *within, guint symbol)
{
    while (within && within->symbol != symbol)
        within = within->up;
    return within != NULL;
}

static WsExpr *rewritten(const Plan *plan, const WsExpr *e, const Within *within);

/* Terms by what they are taken for; FALSE: one of them is all of `e`. */
static gboolean rewrite_terms(const Plan *plan, WsAffine *f, const WsExpr *e, const Within *within)
{
    for (guint i = 0; i < f->n; i++) {
        WsExpr *term = f->term[i];
        if (ws_expr_equal(term, e))
            return FALSE;
        f->term[i] = rewritten(plan, term, within);
        ws_expr_unref(term);
    }
    return TRUE;
}

/* How many parts are added up, of those that are no numbers. */
static guint terms_of(const WsExpr *e)
{
    if (e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB)
        return terms_of(e->arg[0]) + terms_of(e->arg[1]);
    return e->op != WS_EXPR_INT;
}

/* A sum, or a comparison of sums, with all parts put in that stand in it; NULL: none does. `flat`:
 * before its terms were rewritten; else a shorter sum will do, too. */
static WsExpr *with_parts(const Plan *plan, const WsExpr *e, gboolean flat, const Within *within)
{
    const gboolean compares = e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE;
    if (!compares && (e->op < WS_EXPR_NEG || e->op > WS_EXPR_MUL || e->op == WS_EXPR_NOT))
        return NULL;
    g_autoptr(WsExpr) sum =
        compares ? ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]))
                 : ws_expr_ref(e);
    if (text_divides(sum)) /* a term that cancels may have no value */
        return NULL;
    WsAffine f;
    gboolean some = FALSE, fits = ws_expr_affine(sum, &f);
    const gboolean fewer = fits && f.n < terms_of(sum);
    fits = fits && (!flat || rewrite_terms(plan, &f, e, within));
    some = fits && form_put_parts(plan, &f);
    for (guint i = 0; i < f.n && fits; i++)
        some |= form_put_rest(&f, i);
    g_autoptr(WsExpr) all = fits ? text_sum(&f) : ws_expr_ref(sum);
    WsExpr *made =
        some || fewer || (!flat && text_nodes(all) < text_nodes(sum)) ? ws_expr_ref(all) : NULL;
    ws_affine_clear(&f);
    return made && compares ? ws_expr_op(e->op, made, ws_expr_int(0)) : made;
}

/* --- counts and conditions that follow an index ------------------------------------------------
 */
static const WsExpr *text_of_site(const WsTree *t)
{
    return t->kind == WS_TREE_LOOP ? t->count : t->cond;
}

/* The index of a loop U around a count, and of the loop over tiles, under names that all agents
 * have in common; NULL: it follows none, or something else of its agent. `u`: U, NULL: tiles alone.
 * A condition stands in no other loop that is in U.
 */
static WsExpr *followed(const Plan *plan, const WsTree *site, const WsTree **u)
{
    g_autoptr(WsExpr) all = whole(plan, text_of_site(site));
    Followed f = { .plan = plan, .fine = all != NULL };
    for (const WsTree *t = loop_around(site); t && all; t = loop_around(t))
        if (t->over == WS_OVER_TILES)
            f.tiles = t;
        else if (!f.u && t->index_var >= 0 && mentions(all, t->index_var))
            f.u = t;
    *u = f.u;
    gint64 x;
    if (f.u && site->kind == WS_TREE_LOOP && f.u->count && ws_expr_is_int(f.u->count, &x))
        return NULL; /* every index is known */
    if (site->kind == WS_TREE_BRANCH && (!f.u || f.u != loop_around(site)))
        return NULL;
    g_autoptr(WsExpr) e = all ? ws_expr_map(all, put_index, &f, NULL) : NULL;
    return e && f.fine && f.some && !text_divides(e) ? g_steal_pointer(&e) : NULL;
}

/* The text that a certificate has for it. */
static char *followed_text(const WsTree *site, const WsTree *u)
{
    g_autofree char *text = ws_expr_print(text_of_site(site));
    return u ? g_strconcat(text, TEXT_ROUND, u->name, NULL) : g_steal_pointer(&text);
}

typedef void (*SeeLoop)(Plan *plan, AgentPlan *a, const WsTree *loop, const WsTree *u,
                        const WsExpr *e);

static void for_followed(Plan *plan, SeeLoop see)
{
    for (guint n = 0; n < plan->p->n_agents; n++)
        for (gint i = 1; i <= plan->agent[n].n_places; i++) {
            const WsTree *t = plan->agent[n].place[i].tree, *u = NULL;
            const gboolean counts = t->kind == WS_TREE_LOOP && t->over == WS_OVER_COUNT;
            const gboolean decides = t->kind == WS_TREE_BRANCH && !plan_private(plan, t);
            g_autoptr(WsExpr) e = counts || decides ? followed(plan, t, &u) : NULL;
            if (e)
                see(plan, &plan->agent[n], t, u, e);
        }
}

/* A symbol is what the first count, or condition, says that has its text. */
static void name_symbol(Plan *plan, AgentPlan *a, const WsTree *site, const WsTree *u,
                        const WsExpr *e)
{
    g_autofree char *text = followed_text(site, u);
    for (guint i = 1; i < plan->c->symbol->len; i++) {
        Symbol *s = &g_array_index(plan->c->symbol, Symbol, i);
        if (strcmp(s->text, text) != 0 || !s->local || *s->same || s->of_cta != of_rank(plan, e) ||
            s->letter != (site->kind == WS_TREE_BRANCH))
            continue;
        g_free(s->same);
        s->same = text_of(e);
        if (!symbol_within(s, s->letter ? range_of(0, 1) : assumptions_range(plan->p, e)))
            plan_fail(plan, WS_VERIFY_REJECTED, "assumption not discharged: \"%s\"", s->text);
    }
}

static void name_site(Plan *plan, AgentPlan *a, const WsTree *site, const WsTree *u,
                      const WsExpr *e)
{
    g_autofree char *text = text_of(e);
    for (guint i = 1; i < MIN(plan->c->symbol->len, 64); i++) {
        const Symbol *s = &g_array_index(plan->c->symbol, Symbol, i);
        if (!s->local || strcmp(s->same, text) != 0 || s->letter != (site->kind == WS_TREE_BRANCH))
            continue;
        gboolean nested = FALSE;
        for (const WsTree *t = u; t && (t = loop_around(t));)
            nested |= a->place[place_of(a, t)].of_rounds >> i & 1;
        for (gint n = u ? place_of(a, u) + 1 : 1; u && n <= last_place(a, u); n++)
            nested |= a->place[n].of_rounds >> i & 1;
        if (nested)
            continue;
        if (u)
            a->place[place_of(a, u)].of_rounds |= (guint64)1 << i;
        WsExpr *leaf = stands_for(plan, i);
        g_hash_table_insert(plan->form, ws_expr_ref(text_of_site(site)), leaf);
        g_hash_table_insert(plan->form, ws_expr_ref(leaf), ws_expr_ref(leaf));
        return;
    }
}

/* --- the whole -------------------------------------------------------------------------------- */
static WsExpr *with_rewritten_args(const Plan *plan, const WsExpr *e, const Within *within)
{
    g_autofree WsExpr **arg = g_new0(WsExpr *, e->n_args);
    for (guint i = 0; i < e->n_args; i++)
        arg[i] = rewritten(plan, e->arg[i], within);
    return text_with(e, arg);
}

static gboolean has_text(const WsExpr *e, const char *text)
{
    g_autofree char *own = text_of(e);
    return !strcmp(own, text);
}

static WsExpr *rewritten(const Plan *plan, const WsExpr *e, const Within *within)
{
    g_autofree char *text = text_of(e);
    const guint number = certificate_find(plan->c, text, FALSE),
                letter = certificate_find(plan->c, text, TRUE);
    const Symbol *s = number ? &g_array_index(plan->c->symbol, Symbol, number) : NULL;
    char *end;
    const gint64 worth = g_ascii_strtoll(text, &end, 10);
    if (!*end) /* a name that is worth a number stands for no number */
        return e->op == WS_EXPR_INT ? ws_expr_ref(e) : ws_expr_int(worth);
    if (letter || e->op == WS_EXPR_INDEX)
        return ws_expr_ref(e); /* a truth value, or a number, as it is asked for */
    /* of (x % 3) % 3 no more is asked than what it leaves */
    const gboolean twice = s && e->op == WS_EXPR_MOD && has_text(e->arg[0], text);
    if (s && !s->relation && !twice)
        return s->whole && !s->whole->n_args ? ws_expr_ref(s->whole) : stands_for(plan, number);
    if (!e->n_args)
        return ws_expr_ref(e);
    if (!s && e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE && !text_divides(e)) {
        g_autoptr(WsExpr) other = form_compared(plan, e);
        if (other)
            return rewritten(plan, other, within);
    }
    WsExpr *flat = s ? NULL : with_parts(plan, e, TRUE, within);
    if (flat)
        return flat;
    const Within here = { within, number };
    const gboolean means = s && s->relation && !is_within(within, number);
    g_autoptr(WsExpr) made =
        with_rewritten_args(plan, means ? s->means : e, means ? &here : within);
    WsExpr *with = with_parts(plan, made, FALSE, NULL);
    return with ? with : g_steal_pointer(&made);
}

const WsExpr *plan_form(const Plan *plan, const WsExpr *e)
{
    if (!plan->formed || e->op == WS_EXPR_INT)
        return e;
    WsExpr *form = g_hash_table_lookup(plan->form, e);
    if (!form) {
        g_autoptr(WsExpr) all = whole(plan, e);
        form = rewritten(plan, all ? all : e, NULL);
        g_hash_table_insert(plan->form, ws_expr_ref(e), form);
        g_hash_table_insert(plan->form, ws_expr_ref(form), ws_expr_ref(form));
    }
    return form;
}

WsExpr *plan_made(Plan *plan, const char *key, WsExpr *e)
{
    if (e)
        g_hash_table_insert(plan->made, g_strdup(key), e);
    return e ? e : g_hash_table_lookup(plan->made, key);
}

/* A number that is a sum, or equal to one. */
static void add_symbol(Plan *plan, guint symbol, const WsExpr *e)
{
    const Symbol *s = &g_array_index(plan->c->symbol, Symbol, symbol);
    WsAffine f;
    if (s->letter || s->relation || !e || !e->n_args)
        return;
    const gboolean fits = ws_expr_affine(e, &f) && rewrite_terms(plan, &f, e, NULL);
    g_autoptr(WsExpr) sum = fits ? text_sum(&f) : ws_expr_int(0);
    ws_affine_clear(&f);
    form_add_part(plan, sum, stands_for(plan, symbol), s->asked);
}

void plan_forms(Plan *plan)
{
    plan->let = g_new0(WsExpr *, plan->p->n_vars + 1);
    plan->part = form_parts_new();
    plan->made =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)ws_expr_unref);
    plan->start = g_hash_table_new(NULL, NULL);
    plan->form = g_hash_table_new_full(NULL, NULL, (GDestroyNotify)ws_expr_unref,
                                       (GDestroyNotify)ws_expr_unref);
    for (guint i = 1; i < plan->c->symbol->len; i++)
        add_symbol(plan, i, g_array_index(plan->c->symbol, Symbol, i).whole);
    for (guint i = 0; i < plan->c->equal->len; i++)
        add_symbol(plan, g_array_index(plan->c->equal, Equal, i).symbol,
                   g_array_index(plan->c->equal, Equal, i).whole);
    for (guint n = 0; n < plan->p->n_agents; n++) {
        const AgentPlan *a = &plan->agent[n];
        find_lets(plan, a);
        for (gint i = 1; i <= a->n_places; i++)
            if (a->place[i].tree->kind == WS_TREE_LOOP)
                find_flat(plan, a, a->place[i].tree);
    }
    form_sort_parts(plan);
    for_followed(plan, name_symbol);
    for_followed(plan, name_site);
    plan->formed = TRUE;
}

void plan_forms_free(Plan *plan)
{
    for (guint v = 0; plan->let && v < plan->p->n_vars; v++)
        ws_expr_unref(plan->let[v]);
    g_free(plan->let);
    g_ptr_array_unref(plan->part);
    g_hash_table_unref(plan->made);
    g_hash_table_unref(plan->form);
    g_hash_table_unref(plan->start);
}
