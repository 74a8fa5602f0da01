/* Certificates made without the engine. */
#include "forge.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"

#include "verify/assume.h"
#include "verify/state.h"
#include "verify/text.h"
#include "verify/verify.h"

#include <string.h>

typedef struct {
    State *state;
    Fact ask;
    Option option[8];
    guint n_options;
} Made;

typedef struct {
    const WsProgram *p;
    Certificate c;
    Plan *plan;
    gboolean letters;
    gint64 modulus;
    GHashTable *known; /* texts of symbols */
    GPtrArray *node;   /* Made* */
    gint begin;
} Forge;

/* --- symbols ---------------------------------------------------------------------------------- */
/* Over names of the launch and of the tile, at least one of them. */
static gboolean is_pure(const Forge *f, const WsExpr *e, gboolean *named, gboolean *of_tile)
{
    if (e->op == WS_EXPR_INDEX)
        *named = *of_tile = TRUE;
    if (e->op == WS_EXPR_VAR) {
        const WsVarKind kind = e->var >= 0 ? f->p->var[e->var].kind : WS_VAR_ROW;
        const gboolean tile = kind == WS_VAR_AXIS || kind == WS_VAR_TILE;
        if (!tile && kind != WS_VAR_SIZE && kind != WS_VAR_RUN)
            return FALSE;
        *named = TRUE;
        *of_tile |= tile;
    }
    for (guint i = 0; i < e->n_args; i++)
        if (!is_pure(f, e->arg[i], named, of_tile))
            return FALSE;
    return e->op != WS_EXPR_NAME;
}

static gboolean is_truth(const WsExpr *e)
{
    return e->op == WS_EXPR_NOT || (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE);
}

static gboolean of_cta(const Forge *f, const WsExpr *e)
{
    gboolean cta = e->op == WS_EXPR_VAR && e->var >= 0 && f->p->var[e->var].kind == WS_VAR_CTA;
    if (e->op == WS_EXPR_VAR && e->var >= 0 && f->p->var[e->var].value &&
        (f->p->var[e->var].kind == WS_VAR_RUN || f->p->var[e->var].kind == WS_VAR_TILE))
        cta |= of_cta(f, f->p->var[e->var].value);
    for (guint i = 0; i < e->n_args; i++)
        cta |= of_cta(f, e->arg[i]);
    return cta;
}

static void find_symbols(gpointer data, const WsTree *t, const WsExpr *e, Ask ask)
{
    Forge *f = data;
    gboolean named = FALSE, tile = FALSE;
    const gboolean pure = is_pure(f, e, &named, &tile) && named;
    const gboolean logic = e->op == WS_EXPR_AND || e->op == WS_EXPR_OR || e->op == WS_EXPR_NOT ||
                           (e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT);
    const gboolean letter = is_truth(e);
    /* the arithmetic of the verifier does the rest where a part is asked about */
    const gboolean divides =
        !letter && (e->op == WS_EXPR_MOD || e->op == WS_EXPR_DIV) && !f->letters;
    if (!pure || logic || divides || (letter && !f->letters)) {
        for (guint i = 0; i < e->n_args; i++)
            find_symbols(f, t, e->arg[i], ask);
        return;
    }
    char *same = text_of(e), *text = ws_expr_print(e);
    if (g_hash_table_contains(f->known, same)) {
        g_free(same);
        g_free(text);
        return;
    }
    g_hash_table_insert(f->known, same, text);
    const Range r = letter ? range_of(NO_LOW, NO_HIGH) : assumptions_range(f->p, e);
    Symbol s = { .letter = letter,
                 .of_tile = tile,
                 .of_cta = of_cta(f, e),
                 .least = r.low,
                 .most = r.high,
                 .modulus = letter ? 1 : f->modulus,
                 .every = !letter && r.g > 1 ? r.g : 1 };
    s.left = s.every > 1 ? range_mod(r.v, s.every) : 0;
    s.text = text;
    s.same = same;
    s.expr = ws_expr_ref(e);
    s.whole = text_defined(f->p, e);
    g_array_append_val(f->c.symbol, s);
}

/* --- exploration ------------------------------------------------------------------------------ */
/* `first`: earlier nodes do not do. */
static gint node_for(Forge *f, State *s, guint first, guint most)
{
    for (guint n = first; n < f->node->len; n++) {
        gint64 tiles;
        g_autofree char *why = NULL;
        Made *m = f->node->pdata[n];
        if (state_covered(f->plan, s, m->state, &tiles, &why)) {
            state_free(s);
            return (gint)n;
        }
    }
    if (f->node->len >= most)
        plan_fail(f->plan, WS_VERIFY_REFUSED, "more than %u nodes", most);
    Made *m = g_new0(Made, 1);
    m->state = s;
    g_ptr_array_add(f->node, m);
    return (gint)f->node->len - 1;
}

/* Two answers that leave nothing out. */
static guint answers(const Forge *f, const State *s, const Fact *ask, gboolean residue, Option *o)
{
    const Symbol *y = &g_array_index(f->c.symbol, Symbol, ask->symbol);
    const Fact k = state_know(f->plan, s, ask);
    const gint64 low = y->letter ? MAX(k.low, 0) : k.low;
    if (residue) {
        const gint64 known = fact_residue(f->plan, s, &k);
        if (y->modulus == 1 || known >= 0 || y->modulus > 8)
            return 0;
        for (gint64 r = 0; r < y->modulus; r++)
            o[r] = (Option){ 'm', r, TARGET_END };
        return (guint)y->modulus;
    }
    if ((k.low == k.high && k.low != NO_LOW) || low > 40)
        return 0;
    const gint64 at = low == NO_LOW ? MIN(k.high == NO_HIGH ? 0 : k.high, 0) : low;
    o[0] = (Option){ low == NO_LOW ? '<' : '=', at, TARGET_END };
    o[1] = (Option){ '>', at + 1, TARGET_END };
    return k.high == at ? 1 : 2;
}

/* Somebody moves after an answer. */
static gboolean helps(Forge *f, const Made *m)
{
    gboolean moved = FALSE;
    for (guint k = 0; k < m->n_options && !moved; k++) {
        State *s = state_copy(f->plan, m->state);
        moved = state_refine(f->plan, s, &m->ask, &m->option[k]) &&
                (state_run(f->plan, s) || f->plan->reason);
        state_free(s);
        if (!f->plan->view_added)
            g_clear_pointer(&f->plan->reason, g_free);
    }
    return moved;
}

/* What somebody waits for: an answer makes somebody move; else anything that is not known. */
static gboolean ask_next(Forge *f, Made *m)
{
    Made other = { .n_options = 0 };
    for (guint residue = 0; residue < 2; residue++)
        for (guint i = 0; i < f->plan->n_inst; i++)
            for (guint y = 0; y < f->c.symbol->len && m->state->inst[i].status == RUN; y++) {
                m->ask = instance_fact(f->plan, m->state, i, y);
                m->n_options = answers(f, m->state, &m->ask, residue != 0, m->option);
                if (helps(f, m))
                    return TRUE;
                const gint64 low = m->ask.low;
                if (m->n_options > 1 && low < 12 && (!other.n_options || low < other.ask.low)) {
                    other.ask = m->ask;
                    other.n_options = m->n_options;
                    memcpy(other.option, m->option, sizeof other.option);
                }
            }
    if (!other.n_options)
        return FALSE;
    m->ask = other.ask;
    m->n_options = other.n_options;
    memcpy(m->option, other.option, sizeof other.option);
    return TRUE;
}

static gint follow(Forge *f, State *s, guint first, guint most)
{
    if (!f->plan->reason && !state_ended(f->plan, s))
        return node_for(f, s, first, most);
    if (!f->plan->reason)
        state_exit(f->plan, s);
    state_free(s);
    return TARGET_END;
}

static void explore(Forge *f, guint most)
{
    State *s = state_new(f->plan);
    state_run(f->plan, s);
    f->begin = follow(f, s, 0, most);
    for (guint n = 0; n < f->node->len && !f->plan->reason; n++) {
        Made *m = f->node->pdata[n];
        if (!ask_next(f, m))
            plan_fail(f->plan, WS_VERIFY_REJECTED, "everybody waits");
        for (guint k = 0; k < m->n_options && !f->plan->reason; k++) {
            s = state_copy(f->plan, m->state);
            if (state_refine(f->plan, s, &m->ask, &m->option[k])) {
                const gboolean moved = state_run(f->plan, s);
                m->option[k].target = follow(f, s, moved ? 0 : n + 1, most);
            } else {
                state_free(s);
            }
        }
    }
}

/* --- text ------------------------------------------------------------------------------------- */
#define D "%" G_GINT64_FORMAT
static void put(GString *t, gboolean there, gint64 x)
{
    if (there)
        g_string_append_printf(t, " " D, x);
    else
        g_string_append(t, " -");
}

static void put_instance(const Forge *f, GString *t, const Fact *x)
{
    g_autofree char *tile = tile_text(x->tile);
    g_string_append_printf(t, " %u %s", x->symbol, tile);
    put(t, x->cta >= 0, x->cta);
    put(t, TRUE, x->time);
}

static void put_target(GString *t, gint target)
{
    if (target == TARGET_END)
        g_string_append(t, " end\n");
    else
        g_string_append_printf(t, " %d\n", target);
}

static void put_node(const Forge *f, GString *t, guint n)
{
    const Made *m = f->node->pdata[n];
    g_string_append_printf(t, "node %u ask", n);
    put_instance(f, t, &m->ask);
    g_string_append_c(t, '\n');
    for (guint i = 0; i < m->state->fact->len; i++) {
        const Fact *x = &g_array_index(m->state->fact, Fact, i);
        g_string_append(t, "knows");
        put_instance(f, t, x);
        put(t, x->low != NO_LOW, x->low);
        put(t, x->high != NO_HIGH, x->high);
        put(t, x->residue >= 0, x->residue);
        g_string_append_c(t, '\n');
    }
    for (guint k = 0; k < m->n_options; k++) {
        const char op = m->option[k].op;
        g_string_append_printf(t, "option %s " D,
                               op == 'm'   ? "mod"
                               : op == '=' ? "="
                               : op == '<' ? "<="
                                           : ">=",
                               m->option[k].value);
        put_target(t, m->option[k].target);
    }
}

static gboolean needs_modulus(const Forge *f, guint symbol)
{
    for (guint n = 0; n < f->node->len; n++) {
        const Made *m = f->node->pdata[n];
        if (m->ask.symbol == symbol && m->n_options && m->option[0].op == 'm')
            return TRUE;
        for (guint i = 0; i < m->state->fact->len; i++)
            if (g_array_index(m->state->fact, Fact, i).symbol == symbol &&
                g_array_index(m->state->fact, Fact, i).residue >= 0)
                return TRUE;
    }
    return FALSE;
}

static char *certificate_text(const Forge *f)
{
    GString *t = g_string_new("warpstave-certificate 3\n");
    g_string_append_printf(t, "design %s\npolicy 0\nsymbols %u\n", f->p->design_hash,
                           f->c.symbol->len);
    for (guint i = 0; i < f->c.symbol->len; i++) {
        const Symbol *s = &g_array_index(f->c.symbol, Symbol, i);
        g_string_append_printf(t, "symbol %u %s %s %s least", i,
                               i == 0      ? "tiles"
                               : s->letter ? "letter"
                                           : "number",
                               s->of_tile ? "tile" : "launch",
                               s->of_cta && s->split ? "cta,split"
                               : s->of_cta           ? "cta"
                               : s->split            ? "split"
                                                     : "-");
        put(t, s->least != NO_LOW, s->least);
        g_string_append(t, " most");
        put(t, s->most != NO_HIGH, s->most);
        g_string_append_printf(t, " modulus " D " every " D " left " D " text %s\n",
                               needs_modulus(f, i) ? s->modulus : 1, s->every, s->left, s->text);
    }
    g_string_append(t, "forms 0\n");
    if (f->c.anew->len)
        g_string_append_printf(t, "begins %u\n", f->c.anew->len);
    for (guint i = 0; i < f->c.anew->len; i++) {
        const Anew *x = &g_array_index(f->c.anew, Anew, i);
        g_string_append_printf(t, "again %u %d %d\n", x->agent, x->place, x->loop);
    }
    g_string_append(t, "begin");
    put_target(t, f->begin);
    g_string_append_printf(t, "nodes %u\n", f->node->len);
    for (guint n = 0; n < f->node->len; n++)
        put_node(f, t, n);
    g_string_append(t, "end\n");
    return g_string_free(t, FALSE);
}

/* Views that depend on indices are found on the way. */
static gboolean explore_until_known(Forge *f, guint most)
{
    for (guint round = 0; round < 200; round++) {
        f->plan->view_added = FALSE;
        plan_items(f->plan);
        explore(f, most);
        if (!f->plan->view_added)
            return TRUE;
        for (guint n = 0; n < f->node->len; n++)
            state_free(((Made *)f->node->pdata[n])->state);
        g_ptr_array_set_size(f->node, 0);
        g_clear_pointer(&f->plan->reason, g_free);
    }
    return FALSE;
}

/* What stands first in the sequence in front of a loop; NULL: nothing does. */
static const WsTree *first_before(const WsTree *loop)
{
    for (const WsTree *t = loop; t->parent && t->parent->kind != WS_TREE_LOOP; t = t->parent)
        if (t->parent->kind == WS_TREE_SEQ && t->parent->n_kids && t->parent->kid[0] != t)
            return t->parent->kid[0];
    return NULL;
}

/* Every name may be another one each time that its loop comes, asked as early as can be. */
static void ask_anew(Forge *f, const Plan *plan)
{
    for (guint i = 1; i < f->c.symbol->len; i++) {
        Symbol *s = &g_array_index(f->c.symbol, Symbol, i);
        s->split = !s->letter;
    }
    for (guint a = 0; a < f->p->n_agents; a++)
        for (gint n = 1; n <= plan->agent[a].n_places; n++) {
            const WsTree *t = plan->agent[a].place[n].tree;
            const WsTree *first =
                t->kind == WS_TREE_LOOP && t->over == WS_OVER_COUNT ? first_before(t) : NULL;
            const Anew x = { a, GPOINTER_TO_INT(g_hash_table_lookup(plan->agent[a].number, first)),
                             n };
            if (first && x.place > 1)
                g_array_append_val(f->c.anew, x);
        }
}

char *ws_forge(const WsProgram *p, gboolean letters, gboolean anew, gint64 modulus,
               guint most_nodes, char **why)
{
    Forge f = { .p = p, .letters = letters, .modulus = modulus };
    f.c.anew = g_array_new(FALSE, TRUE, sizeof(Anew));
    f.c.symbol = g_array_new(FALSE, TRUE, sizeof(Symbol));
    f.c.form = g_array_new(FALSE, TRUE, sizeof(Form));
    f.known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    f.node = g_ptr_array_new_with_free_func(g_free);
    Symbol tiles = { .least = p->tiles->launch == WS_LAUNCH_SINGLE, .most = NO_HIGH };
    tiles.modulus = tiles.every = 1;
    tiles.text = (char *)"";
    g_array_append_val(f.c.symbol, tiles);
    Plan *first = plan_new(p, &f.c); /* knows the places; symbols are not known yet */
    for (guint a = 0; a < p->n_agents; a++)
        for (gint i = 1; i <= first->agent[a].n_places; i++)
            plan_visit(first, first->agent[a].place[i].tree, find_symbols, &f);
    if (anew)
        ask_anew(&f, first);
    plan_free(first);
    f.plan = plan_new(p, &f.c);
    char *text = NULL;
    if (f.plan->reason || !explore_until_known(&f, most_nodes) || f.plan->reason)
        *why = g_strdup(f.plan->reason ? f.plan->reason : "too many views");
    else
        text = certificate_text(&f);
    for (guint n = 0; n < f.node->len; n++)
        state_free(((Made *)f.node->pdata[n])->state);
    plan_free(f.plan);
    g_ptr_array_unref(f.node);
    for (guint i = 1; i < f.c.symbol->len; i++) { /* their texts are those of `known` */
        ws_expr_unref(g_array_index(f.c.symbol, Symbol, i).expr);
        ws_expr_unref(g_array_index(f.c.symbol, Symbol, i).whole);
    }
    g_array_unref(f.c.symbol);
    g_array_unref(f.c.form);
    g_array_unref(f.c.anew);
    g_hash_table_unref(f.known);
    return text;
}
