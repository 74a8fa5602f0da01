/* What the proof has to know of a program before it starts. */
#include "check/proof/raw_text.h"
#include "check/proof/symbols.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

static gboolean counts(const WsControl *c, const WsTree *t, gint symbol)
{
    if (t->kind != WS_TREE_LOOP || t->over != WS_OVER_COUNT || !t->count)
        return FALSE;
    const WsExpr *w = g_hash_table_lookup(c->rewritten, t->count);
    const WsForm *f = w ? g_hash_table_lookup(c->forms, w) : NULL;
    return f && f->symbol == symbol;
}

/* A loop over a symbol that can be met twice in a tile: each time it is asked anew. Not if it
 * stands in another one over the same symbol, for the outer one goes on asking meanwhile. */
static void note_split(WsControl *c, gint agent, const WsTree *t, gint symbol)
{
    WsSymbol *s = c->symbols->pdata[symbol];
    guint loops = 0;
    for (guint i = 0; i < c->site[agent]->len; i++) {
        const WsSite *site = &g_array_index(c->site[agent], WsSite, i);
        loops += site->count && site->form->symbol == symbol;
    }
    gboolean nested = loops > 1;
    for (const WsTree *up = t->parent; up; up = up->parent)
        nested |= up->kind == WS_TREE_LOOP && up->over != WS_OVER_TILES;
    for (const WsTree *up = t->parent; up; up = up->parent) /* L-SPLIT */
        s->whole |= counts(c, up, symbol);
    if (s->whole)
        s->split = 0;
    else if (nested && !s->split && c->n_split < WS_MAX_SPLIT) /* else its value is kept as it is */
        s->split = ++c->n_split;
}

/* The condition of a branch is a letter of its round; FALSE: it is not. */
static gboolean by_round(WsControl *c, gint agent, const WsTree *t)
{
    const gint letter = ws_round_letter(c, agent, t);
    if (letter < 0)
        return FALSE;
    WsExpr *w = g_hash_table_lookup(c->rewritten, t->cond);
    if (!w)
        g_hash_table_insert(c->rewritten, t->cond, w = ws_symbol_leaf(c, letter));
    else if (w->op != WS_EXPR_VAR || w->var != (gint)c->n_vars + letter)
        ws_control_outside(c, "a condition that follows two loops", t->cond);
    WsForm *f = g_new0(WsForm, 1);
    f->symbol = letter;
    f->rest = ws_expr_int(0);
    ws_add_site(c, agent, t, ws_keep_form(c, w, f), FALSE);
    return TRUE;
}

static void tree(WsControl *c, gint agent, const WsTree *t, guint *number)
{
    if (!t)
        return;
    g_hash_table_insert(c->number, (gpointer)t, GUINT_TO_POINTER(++*number));
    if (t->kind == WS_TREE_OP)
        ws_learn_operation(c, t->op);
    if (t->kind == WS_TREE_BRANCH && t->cond) {
        if (ws_is_private(c, t))
            g_hash_table_add(c->private_if, (gpointer)t);
        else if (!by_round(c, agent, t))
            ws_learn_condition(c, agent, t, ws_rewritten(c, t->cond));
    }
    if (t->kind == WS_TREE_LOOP) {
        const WsExpr *from = ws_from(c, t), *step = ws_step(c, t);
        ws_learn_exact(c, from, NULL);
        ws_learn_exact(c, step, NULL);
        if ((from && ws_leaves(c, from).symbol) || (step && ws_leaves(c, step).symbol))
            ws_control_outside(c, "a loop that starts or steps by a symbol", from ? from : step);
        gint round = t->over == WS_OVER_COUNT && t->count ? ws_round_symbol(c, agent, t) : -1;
        WsExpr *seen = t->count ? g_hash_table_lookup(c->rewritten, t->count) : NULL;
        gint stands = seen && seen->op == WS_EXPR_VAR ? seen->var - (gint)c->n_vars : -1;
        if (seen && round != stands &&
            (round >= 0 ||
             (stands >= 0 && ((const WsSymbol *)c->symbols->pdata[stands])->by_index)))
            ws_control_outside(c, "a count that follows two loops", t->count);
        if (round >= 0) {
            WsForm *f = g_new0(WsForm, 1);
            f->symbol = round;
            f->factor = 1;
            f->rest = ws_expr_int(0);
            WsExpr *w = seen;
            if (!w) {
                w = ws_symbol_leaf(c, round);
                g_hash_table_insert(c->rewritten, t->count, w);
            }
            f = ws_keep_form(c, w, f);
            ws_add_site(c, agent, t, f, TRUE);
            if (!((const WsSymbol *)c->symbols->pdata[round])->by_round)
                note_split(c, agent, t, round);
        } else if (t->over == WS_OVER_COUNT && t->count) {
            WsExpr *w = ws_rewritten(c, t->count);
            WsForm *f = ws_form_of(c, w);
            if (f && f->symbol >= 0 && f->factor != 1) {
                ws_expr_unref(f->rest);
                g_clear_pointer(&f, g_free);
            }
            if (!f && !c->page && ws_leaves(c, w).symbol && ws_only_remainders(c, w)) {
                ws_learn_remainders(c, w); /* L-REMAINDER: known as soon as they are */
                f = g_new0(WsForm, 1);
                f->symbol = -1;
                f->rest = ws_expr_ref(w);
            }
            if (!f)
                f = ws_sum_of_names(c, w);
            if (!f && ws_leaves(c, w).index == 0) { /* the count is a symbol as a whole */
                f = g_new0(WsForm, 1);
                g_autoptr(WsExpr) count = ws_without_lets(c, t->count);
                f->symbol = ws_symbol_of(c, count, FALSE);
                f->factor = 1;
                f->rest = ws_expr_int(0);
            }
            if (!f) {
                ws_control_outside(c, "a count that is not a symbol and indices", t->count);
            } else {
                f = ws_keep_form(c, w, f);
                if (f->symbol >= 0) {
                    ws_add_site(c, agent, t, f, TRUE);
                    note_split(c, agent, t, f->symbol);
                } else {
                    ws_wish(c, WS_WISH_EXACT, f->rest, 1);
                }
            }
        }
    }
    for (guint i = 0; i < t->n_kids; i++)
        tree(c, agent, t->kid[i], number);
}

/* --- the whole ---- */
static void symbol_free(gpointer data)
{
    WsSymbol *s = data;
    g_free(s->text);
    g_free(s->normal);
    g_clear_pointer(&s->expr, ws_expr_unref);
    g_clear_pointer(&s->form, ws_expr_unref);
    g_free(data);
}

static void form_free(gpointer data)
{
    ws_expr_unref(((WsForm *)data)->rest);
    g_free(data);
}

WsForm *ws_keep_form(WsControl *c, const WsExpr *e, WsForm *f)
{
    WsForm *has = g_hash_table_lookup(c->forms, e);
    if (!has) {
        g_hash_table_insert(c->forms, (gpointer)e, f);
        return f;
    }
    form_free(f);
    return has;
}

WsControl *ws_control_new(const WsProgram *p, WsHow how)
{
    WsControl *c = g_new0(WsControl, 1);
    c->p = p;
    c->plain = how & WS_HOW_PLAIN, c->page = how & WS_HOW_PAGE;
    c->far = how & WS_HOW_FAR;
    c->written = how & (WS_HOW_WRITE | WS_HOW_PAGE);
    c->n_vars = p->n_vars;
    c->modulus = g_new0(gint64, p->n_vars + 1);
    c->window = g_new0(WsSpan, p->n_vars + 1);
    c->range = g_new0(WsSpan, p->n_vars + 1);
    c->up = g_new0(gboolean, p->n_vars + 1);
    c->down = g_new0(gboolean, p->n_vars + 1);
    c->wish = ws_wishes_new();
    for (guint v = 0; v < p->n_vars; v++)
        c->modulus[v] = 1, c->window[v] = ws_nowhere;
    c->symbols = g_ptr_array_new_with_free_func(symbol_free);
    WsSymbol *tiles = g_new0(WsSymbol, 1);
    tiles->text = g_strdup("tiles");
    tiles->run = TRUE;
    tiles->modulus = 1;
    tiles->most = G_MAXINT64;
    tiles->window = -1;
    tiles->bounded = TRUE;
    tiles->base = -1;
    tiles->every = 1;
    g_ptr_array_add(c->symbols, tiles);
    c->rewritten = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)ws_expr_unref);
    c->forms = g_hash_table_new_full(NULL, NULL, NULL, form_free);
    c->number = g_hash_table_new(NULL, NULL);
    c->begins = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    c->begun = g_hash_table_new(NULL, NULL);
    c->private_if = g_hash_table_new(NULL, NULL);
    c->rows = g_hash_table_new(NULL, NULL);
    c->site = g_new0(GArray *, p->n_agents + 1);
    c->need = g_new0(GArray *, p->n_ops + 1);
    c->relevant = g_new0(gboolean, p->n_vars + 1);
    c->tainted = g_new0(gboolean, p->n_vars + 1);
    c->instance = g_array_new(FALSE, TRUE, sizeof(WsInstance));
    for (guint i = 0; p->has_raw && i < p->n_ops && !c->outside; i++)
        if (ws_op_is_raw(p->op[i]->kind))
            c->outside = ws_raw_reason(p, p->op[i]);
    c->name_of = g_new0(gint, p->n_vars + 1);
    ws_find_assumed(c);
    ws_find_residues(c);
    c->let = g_new0(WsExpr *, p->n_vars + 1);
    c->start = g_new0(WsExpr *, p->n_vars + 1);
    ws_find_lets(c);
    ws_find_starts(c);
    ws_find_flat(c);
    if (c->outside)
        return c;
    ws_find_variables(c);
    ws_check_growth(c);
    ws_find_differences(c);
    for (guint a = 0; a < p->n_agents; a++) {
        guint number = 0;
        c->site[a] = g_array_new(FALSE, FALSE, sizeof(WsSite));
        tree(c, (gint)a, p->agent[a].body, &number);
    }
    for (guint v = 0; v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_COUNTER && p->var[v].value && c->relevant[v])
            ws_learn_ring(c, p->var[v].value, NULL, 1, FALSE);
    if (!c->outside) {
        ws_find_ranges(c);
        ws_settle_sites(c);
        ws_grant_wishes(c);
    }
    ws_relate_symbols(c);
    ws_find_floors(c);
    if (!c->outside)
        ws_find_begins(c, how & WS_HOW_LEAD);
    return c;
}

void ws_control_free(WsControl *c)
{
    if (!c)
        return;
    for (guint a = 0; a < c->p->n_agents; a++)
        if (c->site[a])
            g_array_unref(c->site[a]);
    for (guint i = 0; i < c->p->n_ops; i++)
        if (c->need[i])
            g_array_unref(c->need[i]);
    for (guint v = 0; v < c->p->n_vars; v++) {
        g_clear_pointer(&c->let[v], ws_expr_unref);
        g_clear_pointer(&c->start[v], ws_expr_unref);
    }
    g_free(c->let);
    g_free(c->start);
    g_free(c->name_of);
    g_free(c->site);
    g_free(c->need);
    g_free(c->relevant);
    g_free(c->tainted);
    g_free(c->modulus);
    g_free(c->window);
    g_free(c->range);
    g_free(c->up);
    g_free(c->down);
    g_free(c->outside);
    g_free(c->endless);
    g_array_unref(c->wish);
    g_array_unref(c->instance);
    g_hash_table_unref(c->forms);
    g_clear_pointer(&c->compared, g_hash_table_unref);
    g_clear_pointer(&c->counted, g_hash_table_unref);
    g_array_unref(c->assumed);
    g_array_unref(c->residues);
    g_hash_table_unref(c->same);
    g_array_unref(c->flat);
    g_hash_table_unref(c->rewritten);
    g_hash_table_unref(c->number);
    g_hash_table_unref(c->begins);
    g_hash_table_unref(c->begun);
    g_hash_table_unref(c->private_if);
    g_hash_table_unref(c->rows);
    g_ptr_array_unref(c->symbols);
    g_free(c);
}
