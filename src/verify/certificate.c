/* Reading a certificate: docs/soundness.md section 8.1, to the letter. */
#include "verify/certificate.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 4096 }; /* of one kind in a node */

typedef struct {
    const char *rest; /* lines that were not taken yet */
    guint at;
    char **field; /* of the line before */
    guint n;
    char *wrong;
} Reader;

static void wrong(Reader *r, const char *what)
{
    if (!r->wrong)
        r->wrong = g_strdup_printf("line %u: %s", r->at, what);
}

/* Takes the next line, which must begin with `word` and have n fields. */
static gboolean take(Reader *r, const char *word, guint n)
{
    g_clear_pointer(&r->field, g_strfreev);
    const char *end = strchr(r->rest, '\n');
    if (r->wrong || !end) {
        wrong(r, "the text ends too early");
        return FALSE;
    }
    g_autofree char *line = g_strndup(r->rest, (gsize)(end - r->rest));
    r->rest = end + 1;
    r->at++;
    /* the text of a symbol, of a form, is the rest of its line */
    const gboolean rest = !strcmp(word, "symbol") || !strcmp(word, "form");
    r->field = g_strsplit(line, " ", rest ? (gint)n : -1);
    r->n = g_strv_length(r->field);
    if (r->n != n || strcmp(r->field[0], word) != 0) {
        wrong(r, word);
        return FALSE;
    }
    return TRUE;
}

static gboolean next_is(const Reader *r, const char *word)
{
    const gsize n = strlen(word);
    return !r->wrong && !strncmp(r->rest, word, n) && r->rest[n] == ' ';
}

static gint64 number(Reader *r, guint i)
{
    const char *text = r->field ? r->field[i] : "";
    char *end;
    gint64 x = g_ascii_strtoll(text, &end, 10);
    g_autofree char *again = g_strdup_printf("%" G_GINT64_FORMAT, x);
    if (strcmp(again, text) != 0 || x == NO_LOW || x == NO_HIGH)
        wrong(r, "not a number");
    return x;
}

/* Numbers of symbols, nodes: this one is next. */
static gboolean is_next(Reader *r, guint i, guint next)
{
    return number(r, i) == (gint64)next;
}

static gint64 bound(Reader *r, guint i, gint64 none)
{
    return r->field && !strcmp(r->field[i], "-") ? none : number(r, i);
}

static gint64 count(Reader *r, guint i, gint64 most)
{
    gint64 x = number(r, i);
    if (x < 0 || x > most)
        wrong(r, "number out of range");
    return CLAMP(x, 0, most);
}

static gboolean word(Reader *r, guint i, const char *text)
{
    return r->field && !strcmp(r->field[i], text);
}

static void literal(Reader *r, guint i, const char *text)
{
    if (!word(r, i, text))
        wrong(r, text);
}

static gint target(Reader *r, guint i)
{
    return word(r, i, "end") ? TARGET_END : (gint)count(r, i, G_MAXINT32);
}

static void read_symbol(Reader *r, Certificate *c)
{
    if (!take(r, "symbol", 17))
        return;
    Symbol s = { .least = bound(r, 6, NO_LOW),
                 .most = bound(r, 8, NO_HIGH),
                 .modulus = number(r, 10),
                 .every = number(r, 12),
                 .left = number(r, 14) };
    const gboolean first = c->symbol->len == 0;
    if (!is_next(r, 1, c->symbol->len) || word(r, 2, "tiles") != first)
        wrong(r, "symbols out of order");
    if (!first && !word(r, 2, "number") && !word(r, 2, "letter"))
        wrong(r, "kind");
    if (!word(r, 3, "launch") && !word(r, 3, "tile"))
        wrong(r, "scope");
    s.letter = word(r, 2, "letter");
    s.of_tile = word(r, 3, "tile");
    s.of_cta = word(r, 4, "cta") || word(r, 4, "cta,split");
    s.split = word(r, 4, "split") || word(r, 4, "cta,split");
    if (!word(r, 4, "-") && !s.of_cta && !s.split)
        wrong(r, "flags");
    static const char *const key[] = { "least", "most", "modulus", "every", "left", "text" };
    for (guint k = 0; k < G_N_ELEMENTS(key); k++)
        literal(r, 5 + 2 * k, key[k]);
    if (s.modulus < 1 || s.every < 1 || s.left < 0 || s.left >= s.every || s.modulus > 1 << 20)
        wrong(r, "modulus");
    s.text = g_strdup(r->field[16]);
    s.round = strstr(s.text, TEXT_ROUND) != NULL;
    if (s.round && (c->symbol->len >= 64 || !s.split || !s.of_tile))
        wrong(r, "a name of rounds");
    if (first != !*s.text || (first && (s.of_tile || s.of_cta || s.split)))
        wrong(r, "text");
    g_array_append_val(c->symbol, s);
}

static void read_form(Reader *r, Certificate *c)
{
    if (!take(r, "form", 3))
        return;
    g_auto(GStrv) side = g_strsplit(r->field[2], " as ", -1);
    if ((!word(r, 1, "number") && !word(r, 1, "letter")) || g_strv_length(side) != 2)
        wrong(r, "form");
    Form f = { word(r, 1, "letter"), g_strdup(side[0]), g_strdup(side[0] ? side[1] : NULL) };
    g_array_append_val(c->form, f);
}

static void read_anew(Reader *r, Certificate *c)
{
    if (!take(r, "again", 4))
        return;
    Anew x = { (guint)count(r, 1, 4096), (gint)count(r, 2, G_MAXINT32),
               (gint)count(r, 3, G_MAXINT32) };
    g_array_append_val(c->anew, x);
}

gint64 tile_pass(gint64 tile)
{
    return (tile - TILE_LAUNCH) / TILE_PASS;
}

gint64 tile_position(gint64 tile)
{
    return tile - tile_pass(tile) * TILE_PASS;
}

gboolean tile_is(gint64 tile)
{
    return tile_position(tile) >= 0 && tile_position(tile) < TILE_AFTER;
}

char *tile_text(gint64 tile)
{
    const gint64 pass = tile_pass(tile), at = tile_position(tile);
    g_autofree char *text = at == TILE_LAUNCH   ? g_strdup("launch")
                            : at == TILE_BEFORE ? g_strdup("before")
                            : at == TILE_AFTER  ? g_strdup("after")
                                                : g_strdup_printf("%" G_GINT64_FORMAT, at);
    return pass ? g_strdup_printf("%" G_GINT64_FORMAT ":%s", pass, text) : g_steal_pointer(&text);
}

static gint64 read_tile(Reader *r, guint i)
{
    const char *text = r->field ? r->field[i] : "0", *colon = strchr(text, ':');
    const char *at = colon ? colon + 1 : text;
    const gint64 pass = CLAMP(colon ? g_ascii_strtoll(text, NULL, 10) : 0, -1, 1 << 20);
    const gint64 position = CLAMP(g_ascii_strtoll(at, NULL, 10), 0, TILE_AFTER);
    const gint64 tile = pass * TILE_PASS + (!strcmp(at, "launch")   ? TILE_LAUNCH
                                            : !strcmp(at, "before") ? TILE_BEFORE
                                            : !strcmp(at, "after")  ? TILE_AFTER
                                                                    : position);
    g_autofree char *again = pass >= 0 && pass < 1 << 20 ? tile_text(tile) : NULL;
    if (!again || strcmp(again, text) != 0 || (pass && tile_position(tile) == TILE_BEFORE))
        wrong(r, "not a tile");
    return tile;
}

static Fact read_instance(Reader *r, const Certificate *c, guint i)
{
    Fact f = { .symbol = (guint)count(r, i, c->symbol->len - 1), .low = NO_LOW, .high = NO_HIGH };
    f.residue = -1;
    f.tile = read_tile(r, i + 1);
    const Symbol *s = &g_array_index(c->symbol, Symbol, f.symbol);
    f.cta = word(r, i + 2, "-") ? -1 : (gint)count(r, i + 2, G_MAXINT32);
    f.time = count(r, i + 3, s->round ? (gint64)1 << 52 : G_MAXINT32);
    if ((f.cta >= 0) != s->of_cta || (f.time && (!s->split || f.tile == TILE_LAUNCH)))
        wrong(r, "instance");
    if (f.symbol && tile_position(f.tile) == TILE_LAUNCH && (s->of_tile || f.tile != TILE_LAUNCH))
        wrong(r, "a residue of a launch");
    if (f.symbol == 0 && tile_position(f.tile) != TILE_LAUNCH)
        wrong(r, "the number of tiles is one of the launch");
    return f;
}

static void read_knows(Reader *r, const Certificate *c, Node *node)
{
    if (!take(r, "knows", 8))
        return;
    Fact f = read_instance(r, c, 1);
    f.low = bound(r, 5, NO_LOW);
    f.high = bound(r, 6, NO_HIGH);
    f.residue = word(r, 7, "-") ? -1 : count(r, 7, G_MAXINT32);
    const Symbol *s = &g_array_index(c->symbol, Symbol, f.symbol);
    if (f.residue >= s->modulus)
        wrong(r, "knows");
    if (s->modulus == 1)
        f.residue = -1; /* says nothing */
    for (guint k = 0; k < node->knows->len; k++)
        if (fact_same(&g_array_index(node->knows, Fact, k), &f))
            wrong(r, "known twice");
    g_array_append_val(node->knows, f);
}

static void read_option(Reader *r, Node *node)
{
    if (!take(r, "option", 4))
        return;
    static const char *const op[] = { "=", ">=", "<=", "mod" };
    Option o = { .value = number(r, 2), .target = target(r, 3) };
    for (guint k = 0; k < G_N_ELEMENTS(op); k++)
        if (word(r, 1, op[k]))
            o.op = op[k][0];
    for (guint k = 0; k < node->option->len; k++) {
        const Option *other = &g_array_index(node->option, Option, k);
        if (other->op == o.op && other->value == o.value)
            wrong(r, "an option twice");
    }
    if (!o.op)
        wrong(r, "option");
    g_array_append_val(node->option, o);
}

static void read_node(Reader *r, Certificate *c)
{
    if (!take(r, "node", 7))
        return;
    literal(r, 2, "ask");
    if (!is_next(r, 1, c->node->len))
        wrong(r, "nodes out of order");
    Node *node = g_new0(Node, 1);
    g_ptr_array_add(c->node, node);
    node->knows = g_array_new(FALSE, FALSE, sizeof(Fact));
    node->option = g_array_new(FALSE, FALSE, sizeof(Option));
    node->ask = read_instance(r, c, 3);
    while (next_is(r, "knows") && node->knows->len < MOST_LINES)
        read_knows(r, c, node);
    while (next_is(r, "option") && node->option->len < MOST_LINES)
        read_option(r, node);
    if (!node->option->len)
        wrong(r, "no option");
}

static void node_free(gpointer data)
{
    Node *n = data;
    g_array_unref(n->knows);
    g_array_unref(n->option);
    g_free(n);
}

/* Residues are kept of those symbols only that some node needs them of. */
static gboolean needs_residue(const Certificate *c, guint symbol)
{
    for (guint n = 0; n < c->node->len; n++) {
        const Node *node = c->node->pdata[n];
        for (guint i = 0; i < node->knows->len; i++)
            if (g_array_index(node->knows, Fact, i).symbol == symbol &&
                g_array_index(node->knows, Fact, i).residue >= 0)
                return TRUE;
        for (guint i = 0; i < node->option->len; i++)
            if (node->ask.symbol == symbol && g_array_index(node->option, Option, i).op == 'm')
                return TRUE;
    }
    return FALSE;
}

static void read_all(Reader *r, Certificate *c)
{
    if (take(r, "warpstave-certificate", 2))
        literal(r, 1, "3");
    if (take(r, "design", 2))
        c->design = g_strdup(r->field[1]);
    if (take(r, "policy", 2))
        c->policy = (guint)count(r, 1, 3);
    gint64 n = take(r, "symbols", 2) ? count(r, 1, 4096) : 0;
    if (n < 1)
        wrong(r, "no symbols");
    while (!r->wrong && c->symbol->len < n)
        read_symbol(r, c);
    for (n = take(r, "forms", 2) ? count(r, 1, 1 << 16) : 0; n > 0 && !r->wrong; n--)
        read_form(r, c);
    if (next_is(r, "begins")) {
        n = take(r, "begins", 2) ? count(r, 1, 4096) : 0;
        if (n < 1)
            wrong(r, "no places");
        for (; n > 0 && !r->wrong; n--)
            read_anew(r, c);
    }
    if (take(r, "begin", 2))
        c->begin = target(r, 1);
    n = take(r, "nodes", 2) ? count(r, 1, 1 << 20) : 0;
    while (!r->wrong && c->node->len < n)
        read_node(r, c);
    take(r, "end", 1);
    if (!r->wrong && *r->rest)
        wrong(r, "something after the end");
    for (guint i = 0; !r->wrong && i < c->symbol->len; i++) {
        if (g_array_index(c->symbol, Symbol, i).modulus > 1 && !needs_residue(c, i))
            wrong(r, "a modulus that nobody needs");
    }
}

static void form_clear(gpointer data)
{
    g_free(((Form *)data)->of);
    g_free(((Form *)data)->text);
}

Certificate *certificate_read(const char *text, char **message)
{
    Reader r = { .rest = text };
    Certificate *c = g_new0(Certificate, 1);
    c->symbol = g_array_new(FALSE, FALSE, sizeof(Symbol));
    c->form = g_array_new(FALSE, FALSE, sizeof(Form));
    c->anew = g_array_new(FALSE, FALSE, sizeof(Anew));
    g_array_set_clear_func(c->form, form_clear);
    c->node = g_ptr_array_new_with_free_func(node_free);
    if (!g_utf8_validate(text, -1, NULL))
        wrong(&r, "not UTF-8");
    read_all(&r, c);
    g_strfreev(r.field);
    if (!r.wrong)
        return c;
    *message = r.wrong;
    certificate_free(c);
    return NULL;
}

static void symbol_clear(Symbol *s)
{
    g_free(s->text);
    g_free(s->same);
    ws_expr_unref(s->expr);
    ws_expr_unref(s->whole);
    g_clear_pointer(&s->divisor, g_ptr_array_unref);
}

void certificate_free(Certificate *c)
{
    for (guint i = 0; i < c->symbol->len; i++)
        symbol_clear(&g_array_index(c->symbol, Symbol, i));
    g_array_unref(c->symbol);
    g_array_unref(c->anew);
    g_array_unref(c->form);
    g_ptr_array_unref(c->node);
    g_free(c->design);
    g_free(c);
}

gboolean fact_same(const Fact *a, const Fact *b)
{
    return a->symbol == b->symbol && a->tile == b->tile && a->cta == b->cta && a->time == b->time;
}

char *fact_text(const Certificate *c, const Fact *f)
{
    const char *text = f->symbol ? g_array_index(c->symbol, Symbol, f->symbol).text : "tiles";
    g_autofree char *tile = tile_text(f->tile);
    return g_strdup_printf("%s of tile %s, CTA %d, time %" G_GINT64_FORMAT, text, tile, f->cta,
                           f->time);
}
