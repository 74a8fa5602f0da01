/* The graph of a proof as text (docs/soundness.md section 8). */
#include "check/proof/certificate.h"
#include "check/proof/symbols.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/product.h"
#include "program/parts/tiles.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/visit.h"

#include <string.h>

typedef struct {
    char op[4];
    gint64 value;
    gint to;
} Option;

typedef struct {
    GString *text;  /* its block without the options */
    GArray *option; /* Option */
} Node;

struct WsCertificate {
    GPtrArray *node; /* Node* */
    gint begin;
    guint64 residues; /* symbols of which a residue is known or asked: bit MIN(symbol, 63) */
};

static guint64 bit_of(gint symbol)
{
    return 1ull << MIN(symbol, 63);
}

static void node_free(gpointer data)
{
    Node *n = data;
    g_string_free(n->text, TRUE);
    g_array_unref(n->option);
    g_free(n);
}

WsCertificate *ws_certificate_new(void)
{
    WsCertificate *c = g_new0(WsCertificate, 1);
    c->node = g_ptr_array_new_with_free_func(node_free);
    c->begin = -1;
    return c;
}

void ws_certificate_free(WsCertificate *c)
{
    if (!c)
        return;
    g_ptr_array_unref(c->node);
    g_free(c);
}

void ws_certificate_begin(WsCertificate *c, WsBits *b)
{
    g_ptr_array_set_size(c->node, 0);
    c->begin = -1;
    c->residues = 0;
    b->n_groups = 0; /* states as they are: the verifier knows shifts, not turned rings */
}

/* --- words ------------------------------------------------------------------------------------ */
static void put_number(GString *t, gboolean known, gint64 x)
{
    if (known)
        g_string_append_printf(t, " %" G_GINT64_FORMAT, x);
    else
        g_string_append(t, " -");
}

/* Of the second loop over tiles and later ones "1:" and so on comes first. */
static void put_tile(GString *t, gint symbol, gint64 position)
{
    gint64 pass = ws_pass_of(position), at = position % WS_PASS;
    g_string_append_c(t, ' ');
    if (pass > 0)
        g_string_append_printf(t, "%" G_GINT64_FORMAT ":", pass);
    if (symbol == WS_SYMBOL_TILES || position == -2)
        g_string_append(t, "launch");
    else if (position < 0)
        g_string_append(t, "before");
    else if (at == WS_PASS - 1)
        g_string_append(t, "after");
    else
        g_string_append_printf(t, "%" G_GINT64_FORMAT, at);
}

/* Symbols that are an expression of another one have none. */
static guint number_of(const WsControl *c, gint symbol)
{
    guint n = 0;
    for (gint i = 0; i < symbol; i++)
        n += ((const WsSymbol *)c->symbols->pdata[i])->base < 0;
    return n;
}

static void put_instance(GString *t, const WsControl *c, const WsInstance *x)
{
    g_string_append_printf(t, " %u", number_of(c, x->symbol));
    put_tile(t, x->symbol, x->position);
    put_number(t, x->rank >= 0, x->rank);
    put_number(t, TRUE, x->time);
}

void ws_certificate_node(WsCertificate *c, WsBits *b, guint number, const WsInstance *asked)
{
    if (number < c->node->len)
        return;
    Node *n = g_new0(Node, 1);
    n->text = g_string_new(NULL);
    n->option = g_array_new(FALSE, FALSE, sizeof(Option));
    g_ptr_array_add(c->node, n);
    GString *t = n->text;
    g_string_append_printf(t, "node %u ask", number);
    put_instance(t, b->c, asked);
    g_string_append_c(t, '\n');
    for (guint k = 0; k < b->c->instance->len; k++) {
        const WsInstance *x = &g_array_index(b->c->instance, WsInstance, k);
        g_string_append(t, "knows");
        put_instance(t, b->c, x);
        const WsSymbol *s = b->c->symbols->pdata[x->symbol];
        put_number(t, x->position != -2 && (s->bounded || x->lo > s->floor), x->lo);
        gboolean most = s->base < 0 && !s->letter && s->most <= WS_FEW && x->position != -2;
        put_number(t, x->exact || most, x->exact ? x->lo : s->most);
        put_number(t, x->remainder >= 0, x->remainder);
        c->residues |= x->remainder >= 0 ? bit_of(x->symbol) : 0;
        g_string_append_c(t, '\n');
    }
}

/* --- answers ---------------------------------------------------------------------------------- */
void ws_certificate_edge(WsCertificate *c, const WsBits *b, gint from, WsAsk ask,
                         const WsInstance *asked, gint64 answer, gint to)
{
    if (from < 0) {
        c->begin = to;
        return;
    }
    const WsSymbol *s = b->c->symbols->pdata[asked->symbol];
    Option o = { .value = answer, .to = to };
    if (ask == WS_ASK_REMAINDER) {
        g_strlcpy(o.op, "mod", sizeof o.op);
        c->residues |= bit_of(asked->symbol);
    } else {
        gboolean below = !s->letter && !s->bounded && asked->lo == s->floor;
        g_strlcpy(o.op, answer && !s->letter ? ">=" : below ? "<=" : "=", sizeof o.op);
        o.value = asked->lo + (answer ? 1 : 0);
    }
    if ((guint)from >= c->node->len)
        return;
    GArray *list = ((Node *)c->node->pdata[from])->option;
    for (guint i = 0; i < list->len; i++) {
        const Option *x = &g_array_index(list, Option, i);
        /* a value moves with the state, a remainder or a truth value does not; the first answer
         * counts: it is that of the state that the node was met with */
        if (!strcmp(x->op, o.op) &&
            ((ask != WS_ASK_REMAINDER && !s->letter) || x->value == o.value))
            return;
    }
    g_array_append_val(list, o);
}

/* --- the whole -------------------------------------------------------------------------------- */
static void put_target(GString *t, gint to)
{
    if (to < 0)
        g_string_append(t, "end\n");
    else
        g_string_append_printf(t, "%d\n", to);
}

static void put_symbols(GString *t, const WsControl *c, guint64 residues)
{
    g_string_append_printf(t, "symbols %u\n", number_of(c, (gint)c->symbols->len));
    for (guint i = 0; i < c->symbols->len; i++) {
        const WsSymbol *s = c->symbols->pdata[i];
        gboolean tiles = i == WS_SYMBOL_TILES;
        if (s->base >= 0) /* it is an expression of another one wherever it stands */
            continue;
        g_string_append_printf(t, "symbol %u %s %s %s", number_of(c, (gint)i),
                               tiles       ? "tiles"
                               : s->letter ? "letter"
                                           : "number",
                               s->run ? "launch" : "tile",
                               s->per_cta && s->split ? "cta,split"
                               : s->per_cta           ? "cta"
                               : s->split             ? "split"
                                                      : "-");
        g_string_append(t, " least");
        put_number(t, tiles || s->bounded,
                   tiles ? c->p->tiles->launch == WS_LAUNCH_SINGLE : s->least);
        g_string_append(t, " most");
        put_number(t, !s->letter && s->most <= WS_FEW, s->most);
        g_string_append_printf(
            t, " modulus %" G_GINT64_FORMAT " every %" G_GINT64_FORMAT " left %" G_GINT64_FORMAT,
            residues & bit_of((gint)i) ? s->modulus : 1, s->every, s->left);
        g_string_append_printf(t, " text %s\n", tiles ? "" : s->text);
    }
}

/* --- what expressions are taken for ------------------------------------------------------------
 */
typedef struct {
    const WsControl *c;
    GHashTable *seen;
    GString *line;
} Forms;

static WsExpr *sum(gint64 factor, WsExpr *x, WsExpr *rest)
{
    gint64 none;
    x = factor == 1 ? x : ws_expr_op(WS_EXPR_MUL, ws_expr_int(factor), x);
    if (!ws_expr_is_int(rest, &none) || none)
        return ws_expr_op(WS_EXPR_ADD, x, rest);
    ws_expr_unref(rest);
    return x;
}

/* Variable n is _n; symbols come behind them, but for those that are expressions of another one. */
static WsExpr *put_leaf(const WsExpr *leaf, gpointer data, GError **error)
{
    const WsControl *c = data;
    const gint symbol = leaf->var - (gint)c->n_vars;
    const WsSymbol *s = leaf->op == WS_EXPR_VAR && symbol > 0 ? c->symbols->pdata[symbol] : NULL;
    (void)error;
    if (leaf->op != WS_EXPR_VAR)
        return NULL;
    if (!s || s->base < 0) {
        g_autofree char *name = g_strdup_printf(
            "_%d", symbol > 0 ? (gint)(c->n_vars + number_of(c, symbol)) : leaf->var);
        return ws_expr_name(name);
    }
    g_autoptr(WsExpr) of = ws_expr_var((gint)c->n_vars + s->base, "");
    WsExpr *base = put_leaf(of, data, NULL), *number = ws_expr_int(s->number);
    if (s->relation == WS_RELATION_MUL)
        return ws_expr_unref(number), sum(s->number, base, ws_expr_int(s->offset));
    base = s->offset ? ws_expr_op(WS_EXPR_ADD, base, ws_expr_int(s->offset)) : base;
    return s->relation == WS_RELATION_DIV
               ? ws_expr_op(WS_EXPR_DIV, base, number)
               : ws_expr_call(s->relation == WS_RELATION_MAX ? WS_FUNC_MAX : WS_FUNC_MIN,
                              (WsExpr *[]){ base, number }, 2);
}

static guint terms_of(const WsExpr *e)
{
    return e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB ? terms_of(e->arg[0]) + terms_of(e->arg[1])
                                                        : e->op != WS_EXPR_INT;
}

/* Sums without the terms that cancel. */
static WsExpr *shorter(const WsExpr *e)
{
    WsAffine a = { 0 };
    WsExpr *arg[8];
    if (!e->n_args || e->n_args > G_N_ELEMENTS(arg) || e->op == WS_EXPR_INDEX)
        return ws_expr_ref(e);
    const gboolean fits = terms_of(e) > 1 && ws_expr_affine(e, &a) && a.n < terms_of(e);
    WsExpr *made = fits ? ws_expr_int(a.constant) : NULL;
    for (guint i = 0; fits && i < a.n; i++)
        made = sum(a.factor[i], shorter(a.term[i]), made);
    ws_affine_clear(&a);
    for (guint i = 0; i < e->n_args && !made; i++)
        arg[i] = shorter(e->arg[i]);
    return made                    ? made
           : e->op == WS_EXPR_CALL ? ws_expr_call(e->func, arg, e->n_args)
                                   : ws_expr_op(e->op, arg[0], e->n_args > 1 ? arg[1] : NULL);
}

/* `w` (rewritten) with what is known of its comparisons, or of it as a count. */
static WsExpr *formed(const WsControl *c, const WsExpr *w, gboolean letter)
{
    const WsForm *f = g_hash_table_lookup(c->forms, w);
    WsExpr *x = f && f->symbol >= 0 ? ws_symbol_leaf((WsControl *)c, f->symbol) : NULL;
    if (x && f->factor == 0)
        return x;
    if (f) {
        x = x ? sum(f->factor, x, ws_expr_ref(f->rest)) : ws_expr_ref(f->rest);
        return letter ? ws_expr_op(w->op, x, ws_expr_int(0)) : x;
    }
    if (!letter || (w->op != WS_EXPR_AND && w->op != WS_EXPR_OR && w->op != WS_EXPR_NOT))
        return shorter(w);
    return ws_expr_op(w->op, formed(c, w->arg[0], TRUE),
                      w->n_args > 1 ? formed(c, w->arg[1], TRUE) : NULL);
}

static void put_form(Forms *f, const WsExpr *e, gboolean letter)
{
    const WsControl *c = f->c;
    const WsExpr *w = e ? g_hash_table_lookup(c->rewritten, e) : NULL;
    const WsForm *known = w ? g_hash_table_lookup(c->forms, w) : NULL;
    /* names of rounds are known by where they stand */
    if (!w || (known && known->symbol > 0 &&
               ((const WsSymbol *)c->symbols->pdata[known->symbol])->by_index))
        return;
    g_autoptr(WsExpr) made = formed(c, w, letter);
    g_autoptr(WsExpr) of = ws_expr_map(e, put_leaf, (gpointer)c, NULL);
    g_autoptr(WsExpr) as = ws_expr_map(made, put_leaf, (gpointer)c, NULL);
    g_autofree char *key = of ? ws_expr_print(of) : NULL, *text = as ? ws_expr_print(as) : NULL;
    if (!key || !text || !strcmp(key, text))
        return;
    char *line = g_strdup_printf("form %s %s as %s\n", letter ? "letter" : "number", key, text);
    if (!g_hash_table_contains(f->seen, line))
        g_string_append(f->line, line);
    g_hash_table_add(f->seen, line);
}

/* The turn says what matters of a use. */
static void put_operand(const WsExpr *e, WsOperand what, gpointer data)
{
    const gboolean truth = what == WS_OPERAND_FIRST || what == WS_OPERAND_CONDITION;
    if (what != WS_OPERAND_USE && (what < WS_OPERAND_COORD || what > WS_OPERAND_RAW) &&
        what != WS_OPERAND_CUT)
        put_form(data, e, truth);
}

static void put_node(const WsTree *t, gpointer data)
{
    ws_tree_operands(t, put_operand, data);
}

static void put_forms(GString *t, const WsControl *c)
{
    Forms f = { c, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                g_string_new(NULL) };
    for (guint a = 0; a < c->p->n_agents; a++)
        ws_tree_each(c->p->agent[a].body, put_node, &f);
    for (guint v = 0; v < c->p->n_vars; v++)
        if (c->p->var[v].kind == WS_VAR_COUNTER)
            put_form(&f, c->p->var[v].value, FALSE);
    g_string_append_printf(t, "forms %u\n%s", g_hash_table_size(f.seen), f.line->str);
    g_hash_table_unref(f.seen);
    g_string_free(f.line, TRUE);
}

/* --- where names are asked anew (L-BEGIN) ------------------------------------------------------
 */
typedef struct {
    const WsControl *c;
    GHashTable *number; /* WsTree* -> its number in its agent, from 1 in preorder */
    GString *line;
    guint agent, at, n;
} Anew;

static void put_anew(const WsTree *t, gpointer data)
{
    Anew *x = data;
    g_hash_table_insert(x->number, (gpointer)t, GUINT_TO_POINTER(++x->at));
    const WsTree *begin = g_hash_table_lookup(x->c->begun, t);
    if (!begin)
        return;
    g_string_append_printf(x->line, "again %u %u %u\n", x->agent,
                           GPOINTER_TO_UINT(g_hash_table_lookup(x->number, begin)), x->at);
    x->n++;
}

static void put_begins(GString *t, const WsControl *c)
{
    Anew x = { c, g_hash_table_new(NULL, NULL), g_string_new(NULL), 0, 0, 0 };
    for (; x.agent < c->p->n_agents; x.agent++) {
        x.at = 0;
        ws_tree_each(c->p->agent[x.agent].body, put_anew, &x);
    }
    if (x.n)
        g_string_append_printf(t, "begins %u\n%s", x.n, x.line->str);
    g_hash_table_unref(x.number);
    g_string_free(x.line, TRUE);
}

char *ws_certificate_text(const WsCertificate *c, const WsBits *b)
{
    GString *t = g_string_new("warpstave-certificate 3\n");
    g_string_append_printf(t, "design %s\npolicy %u\n", b->p->design_hash, b->policy & 3);
    put_symbols(t, b->c, c->residues);
    put_forms(t, b->c);
    put_begins(t, b->c);
    g_string_append(t, "begin ");
    put_target(t, c->begin);
    g_string_append_printf(t, "nodes %u\n", c->node->len);
    for (guint i = 0; i < c->node->len; i++) {
        const Node *n = c->node->pdata[i];
        g_string_append(t, n->text->str);
        for (guint k = 0; k < n->option->len; k++) {
            const Option *o = &g_array_index(n->option, Option, k);
            g_string_append_printf(t, "option %s %" G_GINT64_FORMAT " ", o->op, o->value);
            put_target(t, o->to);
        }
    }
    g_string_append(t, "end\n");
    return g_string_free(t, FALSE);
}
