/* What an expression is taken for where it is evaluated: what the certificate says, or else itself
 * with names as they are defined and lets as they are set. That is worth as much
 * (docs/soundness.md section 8.4; lemmas NAME, LET, FLAT, FROM, SAME). */
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "verify/assume.h"
#include "verify/facts.h"
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

gboolean plan_fixed(const Plan *plan, const WsTree *loop, gint64 *from, gint64 *step)
{
    *from = 0;
    *step = 1;
    return (!loop->from || (plan_start(plan, loop) & START_0) ||
            ws_expr_is_int(loop->from, from)) &&
           (!loop->step_by || (plan_start(plan, loop) & STEP_1) ||
            ws_expr_is_int(loop->step_by, step));
}

/* As the text says. */
static gboolean begins_at_0(const Plan *plan, const WsTree *loop)
{
    gint64 from, step;
    return !plan_start(plan, loop) && plan_fixed(plan, loop, &from, &step) && from == 0 &&
           step == 1;
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
    return plan_is_var(plan, leaf) && plan->let[leaf->var] ? ws_expr_ref(plan->let[leaf->var])
                                                           : NULL;
}

/* Definitions and lets put in; NULL: too large. */
WsExpr *plan_whole(const Plan *plan, const WsExpr *e)
{
    g_autoptr(WsExpr) known = ws_expr_map(e, put_let, (gpointer)plan, NULL);
    return known ? text_defined(plan->p, known) : NULL;
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
    WsExpr *e = t->from ? plan_whole(plan, t->from) : NULL;
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
            sets == 1 && only_within(plan, a, var, n, last) ? plan_whole(plan, t->op->set) : NULL;
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

/* A leaf for a symbol. */
static WsExpr *stands_for(const Plan *plan, guint symbol)
{
    return ws_expr_var((gint)(plan->p->n_vars + symbol),
                       g_array_index(plan->c->symbol, Symbol, symbol).text);
}

/* Lemma FLAT: tile * n + k is k.total. */
static void find_flat(Plan *plan, const AgentPlan *a, const WsTree *k)
{
    const WsTree *tiles = loop_around(k);
    gboolean fine = k->over == WS_OVER_COUNT && k->total_var >= 0 && k->index_var >= 0 &&
                    begins_at_0(plan, k) && tiles && tiles->over == WS_OVER_TILES &&
                    tiles->index_var >= 0 && begins_at_0(plan, tiles) && !loop_around(tiles);
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
    g_autoptr(WsExpr) count = plan_whole(plan, k->count);
    if (!count || (text_leaves(plan->p, count, FALSE) & ~LEAF_LAUNCH))
        return;
    WsExpr *rows = ws_expr_op(WS_EXPR_MUL, var_of(plan, tiles->index_var), ws_expr_ref(count));
    ws_expr_unref(plan->flat[k->total_var].sum);
    plan->flat[k->total_var] =
        (Flat){ ws_expr_op(WS_EXPR_ADD, rows, var_of(plan, k->index_var)), k->index_var };
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
    g_autoptr(WsExpr) all = plan_whole(plan, text_of_site(site));
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

/* `e` is taken for `form`, which is taken for itself. Takes `form`. */
static void take_for(const Plan *plan, const WsExpr *e, gboolean truth, WsExpr *form)
{
    GHashTable *known = plan->form[truth != FALSE];
    g_hash_table_insert(known, ws_expr_ref(e), form);
    if (!g_hash_table_contains(known, form))
        g_hash_table_insert(known, ws_expr_ref(form), ws_expr_ref(form));
}

/* A symbol is what the first count, or condition, says that has its text. */
static void name_symbol(Plan *plan, AgentPlan *a, const WsTree *site, const WsTree *u,
                        const WsExpr *e)
{
    g_autofree char *text = followed_text(site, u);
    for (guint i = 1; i < plan->c->symbol->len; i++) {
        Symbol *s = &g_array_index(plan->c->symbol, Symbol, i);
        if (strcmp(s->text, text) != 0 || !s->local || *s->same ||
            s->of_cta != ((text_leaves(plan->p, e, TRUE) & LEAF(CTA)) != 0) ||
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
        take_for(plan, text_of_site(site), s->letter, stands_for(plan, i));
        return;
    }
}

/* --- forms that a certificate states -----------------------------------------------------------
 */
static WsExpr *put_number(const WsExpr *leaf, gpointer data, GError **error)
{
    g_autofree char *name = g_strdup_printf("_%d", leaf->var);
    return leaf->op == WS_EXPR_VAR ? ws_expr_var(leaf->var, name) : NULL;
}

/* Under which a form of `e` is known. */
static char *key_of(const WsExpr *e, gboolean letter)
{
    g_autoptr(WsExpr) numbered = ws_expr_map(e, put_number, NULL, NULL);
    g_autofree char *text = ws_expr_print(numbered ? numbered : e);
    return g_strconcat(letter ? "letter " : "number ", text, NULL);
}

/* _n is variable n of the program, or the symbol that comes so far behind them. */
static WsExpr *of_number(const WsExpr *leaf, gpointer data, GError **error)
{
    const Plan *plan = data;
    const gint vars = (gint)plan->p->n_vars;
    for (gint n = 0; n < vars + (gint)plan->c->symbol->len && leaf->op == WS_EXPR_NAME; n++) {
        g_autofree char *name = g_strdup_printf("_%d", n);
        if (!strcmp(name, leaf->name))
            return n > vars   ? stands_for(plan, (guint)(n - vars))
                   : n < vars ? var_of(plan, n)
                              : NULL;
    }
    return NULL;
}

/* What is known of the place where a form is made use of: it is one where the program has `of`. */
typedef struct {
    const Plan *plan;
    const WsExpr *of, *whole; /* `whole`: with definitions and lets put in */
    gboolean missing;         /* a symbol stands in it that has no meaning here */
} Meaning;

/* Symbols by what they stand for, variables by what they are known to be: a let behind where it is
 * set, a total within its loop, and so only where the left side has it, or the index of its loop.
 */
static WsExpr *put_meaning(const WsExpr *leaf, gpointer data, GError **error)
{
    Meaning *m = data;
    const Plan *plan = m->plan;
    const gint symbol = leaf->var - (gint)plan->p->n_vars;
    if (leaf->op != WS_EXPR_VAR)
        return NULL;
    if (symbol < 0) {
        const Flat *flat = &plan->flat[leaf->var];
        const gboolean let = plan->p->var[leaf->var].kind == WS_VAR_LET && plan->let[leaf->var];
        return flat->sum && mentions(m->whole, flat->index) ? ws_expr_ref(flat->sum)
               : let && mentions(m->of, leaf->var)          ? ws_expr_ref(plan->let[leaf->var])
                                                            : NULL;
    }
    const Symbol *s = &g_array_index(plan->c->symbol, Symbol, symbol);
    m->missing |= !s->whole; /* a name of rounds is another one in each of them */
    return !s->whole ? NULL : s->letter ? text_truth(s->whole) : ws_expr_ref(s->whole);
}

/* Whatever the names are worth. */
static gboolean is_worth(const Plan *plan, const Facts *f, const WsExpr *a, const WsExpr *b)
{
    g_autofree char *x = text_of(a), *y = text_of(b);
    gboolean same = a->op == b->op && text_is_truth(a) && !text_compares(a);
    if (!strcmp(x, y))
        return TRUE;
    for (guint i = 0; i < a->n_args && same; i++) {
        g_autoptr(WsExpr) p = text_truth(a->arg[i]), q = text_truth(b->arg[i]);
        same = is_worth(plan, f, p, q);
    }
    g_autoptr(WsExpr) other =
        same || !text_compares(a) || text_divides(a) ? NULL : form_compared(plan, a);
    return same || (other && is_worth(plan, f, other, b)) || facts_equal(f, a, b);
}

static gboolean read_form(Plan *plan, const Facts *f, const Form *form)
{
    g_autoptr(WsExpr) e = text_read(form->of, of_number, plan);
    g_autoptr(WsExpr) made = text_read(form->text, of_number, plan);
    g_autoptr(WsExpr) all = e ? plan_whole(plan, e) : NULL;
    Meaning m = { plan, e, all, FALSE };
    g_autoptr(WsExpr) a = all ? ws_expr_map(all, put_meaning, &m, NULL) : NULL;
    g_autoptr(WsExpr) meant = a && made ? ws_expr_map(made, put_meaning, &m, NULL) : NULL;
    g_autoptr(WsExpr) b = meant ? text_defined(plan->p, meant) : NULL;
    g_autoptr(WsExpr) x = a && form->letter ? text_truth(a) : a ? ws_expr_ref(a) : NULL;
    g_autoptr(WsExpr) y = b && form->letter ? text_truth(b) : b ? ws_expr_ref(b) : NULL;
    if (!x || !y || m.missing || !is_worth(plan, f, x, y))
        return FALSE;
    g_hash_table_insert(plan->stated, key_of(e, form->letter), g_steal_pointer(&made));
    return TRUE;
}

/* --- the whole -------------------------------------------------------------------------------- */
/* Where nothing is stated: with symbols for the largest parts that have their texts. */
static WsExpr *with_symbols(const Plan *plan, const WsExpr *e, gboolean truth)
{
    g_autofree char *text = text_of(e);
    g_autofree WsExpr **arg = g_new0(WsExpr *, e->n_args + 1);
    for (guint i = 1; i < plan->c->symbol->len && e->op != WS_EXPR_INT; i++) {
        const Symbol *s = &g_array_index(plan->c->symbol, Symbol, i);
        if (s->whole && s->letter <= truth && !strcmp(s->same, text))
            return stands_for(plan, i);
    }
    if (!e->n_args || e->op == WS_EXPR_INDEX)
        return ws_expr_ref(e);
    for (guint i = 0; i < e->n_args; i++)
        arg[i] = with_symbols(plan, e->arg[i],
                              e->op == WS_EXPR_NOT || e->op == WS_EXPR_AND || e->op == WS_EXPR_OR ||
                                  (i == 0 && e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT));
    return text_with(e, arg);
}

const WsExpr *plan_form(const Plan *plan, const WsExpr *e, gboolean truth)
{
    WsExpr *form = plan->formed && e->op != WS_EXPR_INT
                       ? g_hash_table_lookup(plan->form[truth != FALSE], e)
                       : NULL;
    if (!plan->formed || e->op == WS_EXPR_INT || form)
        return form ? form : e;
    g_autofree char *key = key_of(e, truth);
    form = g_hash_table_lookup(plan->stated, key);
    g_autoptr(WsExpr) all = form ? NULL : plan_whole(plan, e);
    form = form ? ws_expr_ref(form) : with_symbols(plan, all ? all : e, truth);
    take_for(plan, e, truth, form);
    return form;
}

WsExpr *plan_made(Plan *plan, const char *key, WsExpr *e)
{
    if (e)
        g_hash_table_insert(plan->made, g_strdup(key), e);
    return e ? e : g_hash_table_lookup(plan->made, key);
}

void plan_forms(Plan *plan)
{
    plan->let = g_new0(WsExpr *, plan->p->n_vars + 1);
    plan->flat = g_new0(Flat, plan->p->n_vars + 1);
    plan->stated =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)ws_expr_unref);
    plan->made =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)ws_expr_unref);
    plan->start = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(plan->form); i++)
        plan->form[i] = g_hash_table_new_full(NULL, NULL, (GDestroyNotify)ws_expr_unref,
                                              (GDestroyNotify)ws_expr_unref);
    for (guint n = 0; n < plan->p->n_agents; n++) {
        const AgentPlan *a = &plan->agent[n];
        find_lets(plan, a);
        for (gint i = 1; i <= a->n_places; i++)
            if (a->place[i].tree->kind == WS_TREE_LOOP)
                find_flat(plan, a, a->place[i].tree);
    }
    Facts f;
    facts_init(&f, plan->p);
    for (guint i = 0; i < plan->c->form->len && !plan->reason; i++)
        if (!read_form(plan, &f, &g_array_index(plan->c->form, Form, i)))
            plan_fail(plan, WS_VERIFY_REJECTED, "form not discharged: \"%.200s\" as \"%.200s\"",
                      g_array_index(plan->c->form, Form, i).of,
                      g_array_index(plan->c->form, Form, i).text);
    facts_clear(&f);
    for_followed(plan, name_symbol);
    for_followed(plan, name_site);
    plan->formed = TRUE;
}

void plan_forms_free(Plan *plan)
{
    for (guint v = 0; plan->let && v < plan->p->n_vars; v++)
        ws_expr_unref(plan->let[v]), ws_expr_unref(plan->flat[v].sum);
    g_free(plan->let);
    g_free(plan->flat);
    g_hash_table_unref(plan->stated);
    g_hash_table_unref(plan->made);
    for (guint i = 0; i < G_N_ELEMENTS(plan->form); i++)
        g_hash_table_unref(plan->form[i]);
    g_hash_table_unref(plan->start);
}
