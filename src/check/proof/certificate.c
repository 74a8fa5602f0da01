/* The graph of a proof as text (docs/soundness.md section 8). */
#include "check/proof/certificate.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"

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

static void put_instance(GString *t, const WsInstance *x)
{
    g_string_append_printf(t, " %d", x->symbol);
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
    put_instance(t, asked);
    g_string_append_c(t, '\n');
    for (guint k = 0; k < b->c->instance->len; k++) {
        const WsInstance *x = &g_array_index(b->c->instance, WsInstance, k);
        g_string_append(t, "knows");
        put_instance(t, x);
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

/* Of a symbol that is an expression of another one nothing is used but that. */
static void put_symbols(GString *t, const WsControl *c, guint64 residues)
{
    static const char *const relation[] = { "div", "max", "min", "mul" };
    guint relations = 0;
    g_string_append_printf(t, "symbols %u\n", c->symbols->len);
    for (guint i = 0; i < c->symbols->len; i++) {
        const WsSymbol *s = c->symbols->pdata[i];
        gboolean tiles = i == WS_SYMBOL_TILES;
        gboolean used = s->base < 0;
        g_string_append_printf(t, "symbol %u %s %s %s", i,
                               tiles       ? "tiles"
                               : s->letter ? "letter"
                                           : "number",
                               s->run ? "launch" : "tile",
                               s->per_cta && s->split ? "cta,split"
                               : s->per_cta           ? "cta"
                               : s->split             ? "split"
                                                      : "-");
        g_string_append(t, " least");
        put_number(t, tiles || (used && s->bounded),
                   tiles ? c->p->tiles->launch == WS_LAUNCH_SINGLE : s->least);
        g_string_append(t, " most");
        put_number(t, used && !s->letter && s->most <= WS_FEW, s->most);
        g_string_append_printf(
            t, " modulus %" G_GINT64_FORMAT " every %" G_GINT64_FORMAT " left %" G_GINT64_FORMAT,
            residues & bit_of((gint)i) ? s->modulus : 1, used ? s->every : 1, used ? s->left : 0);
        g_string_append_printf(t, " text %s\n", tiles ? "" : s->text);
        relations += s->base >= 0;
    }
    g_string_append_printf(t, "relations %u\n", relations);
    for (guint i = 0; i < c->symbols->len; i++) {
        const WsSymbol *s = c->symbols->pdata[i];
        if (s->base >= 0)
            g_string_append_printf(t,
                                   "relation %u %d %s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n",
                                   i, s->base, relation[s->relation], s->number, s->offset);
    }
    if (c->n_equal)
        g_string_append_printf(t, "equals %u\n%s", c->n_equal, c->equal->str);
}

char *ws_certificate_text(const WsCertificate *c, const WsBits *b)
{
    GString *t = g_string_new("warpstave-certificate 2\n");
    g_string_append_printf(t, "design %s\npolicy %u\n", b->p->design_hash, b->policy & 3);
    put_symbols(t, b->c, c->residues);
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
