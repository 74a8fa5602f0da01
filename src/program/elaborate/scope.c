#include "program/elaborate/elab.h"
#include "program/program.h"

#include "base/text.h"

#include <stdarg.h>
#include <string.h>

/* --- findings ------------------------------------------------------------------------------- */

static WsFinding *finding(WsElab *E, WsRuleId rule, const char *at, const char *remedy,
                          const char *format, va_list args)
{
    g_autofree char *text = ws_phrase_v(format, args);
    WsFinding *f = ws_findings_add(E->findings, rule, at, "%s", text);
    g_autofree char *advice = remedy ? ws_phrase_word(remedy) : NULL;
    if (advice)
        ws_finding_set_remedy(f, "%s", advice);
    const WsNode *node = at ? ws_design_find(E->origin, at) : NULL;
    if (node && node->line) {
        f->line = node->line;
        f->column = node->column;
    }
    return f;
}

void ws_elab_error(WsElab *E, WsRuleId rule, const char *at, const char *remedy, const char *format,
                   ...)
{
    if (ws_elab_stop(E))
        return;
    va_list args;
    va_start(args, format);
    finding(E, rule, at, remedy, format, args);
    va_end(args);
    E->errors++;
}

WsFinding *ws_elab_note(WsElab *E, WsRuleId rule, const char *at, const char *remedy,
                        const char *format, ...)
{
    va_list args;
    va_start(args, format);
    WsFinding *f = finding(E, rule, at, remedy, format, args);
    va_end(args);
    return f;
}

gboolean ws_elab_stop(const WsElab *E)
{
    return E->errors >= WS_ELAB_MAX_ERRORS;
}

/* --- tables --------------------------------------------------------------------------------- */

static const char *const reserved[] = {
    "replica", "replicas", "cta",  "ctas",  "row", "col",   "tiles", "group", "all",
    "thread",  "warp",     "true", "false", "inf", "log2e", "ln2",   "any",
};

static gboolean is_reserved(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(reserved); i++)
        if (strcmp(name, reserved[i]) == 0)
            return TRUE;
#define WS_FUNC(id, text, ...)                                                                     \
    if (strcmp(name, text) == 0)                                                                   \
        return TRUE;
#include "expr/func.def"
#undef WS_FUNC
    WsDtype dtype;
    return ws_elab_dtype(name, &dtype);
}

gint ws_elab_var(WsElab *E, WsVarKind kind, const char *name, gint agent)
{
    WsVar var = {
        .kind = kind, .name = ws_arena_strdup(E->arena, name), .agent = agent, .axis = -1
    };
    g_array_append_val(E->vars, var);
    return (gint)E->vars->len - 1;
}

WsExpr *ws_elab_var_expr(WsElab *E, gint var)
{
    return ws_arena_expr(E->arena, ws_expr_var(var, g_array_index(E->vars, WsVar, var).name));
}

static const char *kind_text(WsSymbolKind kind)
{
    static const char *const text[] = {
        [WS_SYMBOL_CONSTANT] = WS_WORD("constant"), [WS_SYMBOL_SIZE] = WS_WORD("size"),
        [WS_SYMBOL_SCALAR] = WS_WORD("scalar"),     [WS_SYMBOL_RUN] = WS_WORD("run name"),
        [WS_SYMBOL_TENSOR] = WS_WORD("tensor"),     [WS_SYMBOL_BUFFER] = WS_WORD("buffer"),
        [WS_SYMBOL_BARRIER] = WS_WORD("barrier"),   [WS_SYMBOL_PIPE] = WS_WORD("pipe"),
        [WS_SYMBOL_AXIS] = WS_WORD("axis"),         [WS_SYMBOL_TILE_NAME] = WS_WORD("tile name"),
        [WS_SYMBOL_VALUE] = WS_WORD("value"),       [WS_SYMBOL_COUNTER] = WS_WORD("counter"),
        [WS_SYMBOL_FLAG] = WS_WORD("flag"),         [WS_SYMBOL_LOOP] = WS_WORD("loop"),
        [WS_SYMBOL_LET] = WS_WORD("let"),
    };
    return text[kind];
}

WsElabSymbol *ws_elab_lookup(WsElab *E, const char *name)
{
    WsElabAgent *A = E->agent;
    if (A) {
        for (guint i = A->lets->len; i-- > 0;) {
            WsElabSymbol *let = g_ptr_array_index(A->lets, i);
            if (strcmp(let->name, name) == 0)
                return let;
        }
        WsElabSymbol *own = g_hash_table_lookup(A->names, name);
        if (own)
            return own;
    }
    return g_hash_table_lookup(E->names, name);
}

WsElabSymbol *ws_elab_declare(WsElab *E, GHashTable *scope, WsSymbolKind kind, const char *name,
                              const char *at)
{
    WsElabSymbol *symbol = ws_arena_new0(E->arena, WsElabSymbol, 1);
    *symbol = (WsElabSymbol){ .kind = kind,
                              .name = ws_arena_strdup(E->arena, name),
                              .at = ws_arena_strdup(E->arena, at),
                              .var = -1,
                              .total_var = -1 };
    WsElabSymbol *before = ws_elab_lookup(E, name);
    if (is_reserved(name)) {
        ws_elab_error(E, WS_RULE_N_RESERVED, at, "Choose another name.",
                      "%s is a word of the language and cannot name a %s", name, kind_text(kind));
    } else if (before) {
        gboolean same = scope && g_hash_table_lookup(scope, name) == before;
        ws_elab_error(E, same ? WS_RULE_N_DUPLICATE : WS_RULE_N_SHADOW, at, "Rename one of them.",
                      "%s is already the name of the %s at %s", name, kind_text(before->kind),
                      before->at);
        if (same)
            return symbol;
    }
    if (scope)
        g_hash_table_replace(scope, (gpointer)symbol->name, symbol);
    return symbol;
}

static gint by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void ws_elab_unknown(WsElab *E, const char *name, const char *what, const char *at)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    GHashTableIter iter;
    gpointer key;
    if (E->agent) {
        g_hash_table_iter_init(&iter, E->agent->names);
        while (g_hash_table_iter_next(&iter, &key, NULL))
            g_ptr_array_add(words, key);
        for (guint i = 0; i < E->agent->lets->len; i++) {
            WsElabSymbol *let = g_ptr_array_index(E->agent->lets, i);
            g_ptr_array_add(words, (gpointer)let->name);
        }
    }
    g_hash_table_iter_init(&iter, E->names);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        g_ptr_array_add(words, key);
    g_ptr_array_sort(words, by_text);
    const char *near = ws_text_nearest(name, (const char *const *)words->pdata, words->len);
    g_autofree char *remedy = near ? ws_phrase("Did you mean %s?", near) : NULL;
    ws_elab_error(E, WS_RULE_N_UNKNOWN, at, remedy, "there is no %s named %s", what, name);
}

WsElabSymbol *ws_elab_find(WsElab *E, const char *name, WsSymbolKind kind, const char *at)
{
    WsElabSymbol *symbol = ws_elab_lookup(E, name);
    if (!symbol) {
        ws_elab_unknown(E, name, kind_text(kind), at);
        return NULL;
    }
    if (symbol->kind != kind) {
        ws_elab_error(E, WS_RULE_T_KIND, at, NULL, "%s is a %s, but a %s is needed here", name,
                      kind_text(symbol->kind), kind_text(kind));
        return NULL;
    }
    return symbol;
}

/* --- document scope --------------------------------------------------------------------------- */

static gint64 constant_value(WsElab *E, WsElabSymbol *symbol)
{
    if (symbol->state == 2)
        return symbol->value;
    if (symbol->state == 1) {
        ws_elab_error(E, WS_RULE_N_ORDER, symbol->at, "Break the cycle with a number.",
                      "constant %s refers to itself", symbol->name);
        return 1;
    }
    symbol->state = 1;
    const WsExpr *e = ws_elab_value_expr(E, symbol->text);
    symbol->value = e ? ws_elab_constant(E, e, symbol->at) : 1;
    symbol->state = 2;
    return symbol->value;
}

gint64 ws_elab_constant_symbol(WsElab *E, WsElabSymbol *symbol);
gint64 ws_elab_constant_symbol(WsElab *E, WsElabSymbol *symbol)
{
    return constant_value(E, symbol);
}

static void constants(WsElab *E)
{
    const WsValue *map = ws_node_get(E->root, WS_F_constants);
    guint n = map->kind == WS_VALUE_MAP ? map->n : 0;
    for (guint i = 0; i < n; i++) {
        WsElabSymbol *symbol =
            ws_elab_declare(E, E->names, WS_SYMBOL_CONSTANT, map->key[i],
                            ws_arena_printf(E->arena, "constants/%s", map->key[i]));
        symbol->text = &map->item[i];
    }
    for (guint i = 0; i < E->n_set; i++) {
        WsElabSymbol *symbol = g_hash_table_lookup(E->names, E->set[i].name);
        if (!symbol || symbol->kind != WS_SYMBOL_CONSTANT) {
            ws_elab_unknown(E, E->set[i].name, WS_WORD("constant"), "constants");
            continue;
        }
        symbol->value = E->set[i].value;
        symbol->state = 2;
    }
    E->p->constant_name = ws_arena_new0(E->arena, char *, n);
    E->p->constant = ws_arena_new0(E->arena, gint64, n);
    for (guint i = 0; i < n && !ws_elab_stop(E); i++) {
        WsElabSymbol *symbol = g_hash_table_lookup(E->names, map->key[i]);
        E->p->constant_name[E->p->n_constants] = (char *)symbol->name;
        E->p->constant[E->p->n_constants++] = constant_value(E, symbol);
    }
}

static void sizes(WsElab *E)
{
    const WsValue *map = ws_node_get(E->root, WS_F_sizes);
    for (guint i = 0; map->kind == WS_VALUE_MAP && i < map->n; i++) {
        const char *at = ws_arena_printf(E->arena, "sizes/%s", map->key[i]);
        WsElabSymbol *symbol = ws_elab_declare(E, E->names, WS_SYMBOL_SIZE, map->key[i], at);
        symbol->var = ws_elab_var(E, WS_VAR_SIZE, map->key[i], -1);
        WsVar *var = &g_array_index(E->vars, WsVar, symbol->var);
        var->preset = var->rehearse = map->item[i].i;
    }
    const WsValue *small = ws_node_get(E->root, WS_F_rehearse);
    for (guint i = 0; small->kind == WS_VALUE_MAP && i < small->n; i++) {
        WsElabSymbol *symbol = ws_elab_find(E, small->key[i], WS_SYMBOL_SIZE, "rehearse");
        if (symbol)
            g_array_index(E->vars, WsVar, symbol->var).rehearse = small->item[i].i;
    }
    map = ws_node_get(E->root, WS_F_scalars);
    for (guint i = 0; map->kind == WS_VALUE_MAP && i < map->n; i++) {
        const char *at = ws_arena_printf(E->arena, "scalars/%s", map->key[i]);
        WsElabSymbol *symbol = ws_elab_declare(E, E->names, WS_SYMBOL_SCALAR, map->key[i], at);
        symbol->var = ws_elab_var(E, WS_VAR_SCALAR, map->key[i], -1);
        WsVar *var = &g_array_index(E->vars, WsVar, symbol->var);
        var->real = TRUE;
        var->preset_real =
            map->item[i].kind == WS_VALUE_INT ? (double)map->item[i].i : map->item[i].r;
    }
}

static void objects(WsElab *E, WsFieldId field, WsSymbolKind kind, const char *folder)
{
    for (guint i = 0; i < ws_node_n_children(E->root, field); i++) {
        const WsNode *node = ws_node_child(E->root, field, i);
        const char *at = ws_arena_printf(E->arena, "%s/%s", folder, ws_node_name(node));
        ws_elab_declare(E, E->names, kind, ws_node_name(node), at)->index = i;
    }
}

void ws_elab_scope(WsElab *E)
{
    const WsValue *map = ws_node_get(E->root, WS_F_let);
    sizes(E); /* first, so that the kernel's arguments come first among the variables */
    ws_elab_devices(E);
    constants(E);
    for (guint i = 0; map->kind == WS_VALUE_MAP && i < map->n; i++) {
        const char *at = ws_arena_printf(E->arena, "let/%s", map->key[i]);
        WsElabSymbol *symbol = ws_elab_declare(E, E->names, WS_SYMBOL_RUN, map->key[i], at);
        symbol->var = ws_elab_var(E, WS_VAR_RUN, map->key[i], -1);
        symbol->text = &map->item[i];
    }
    objects(E, WS_F_tensors, WS_SYMBOL_TENSOR, "tensors");
    objects(E, WS_F_buffers, WS_SYMBOL_BUFFER, "buffers");
    objects(E, WS_F_barriers, WS_SYMBOL_BARRIER, "barriers");
    objects(E, WS_F_pipes, WS_SYMBOL_PIPE, "pipes");
    objects(E, WS_F_flags, WS_SYMBOL_FLAG, "flags");
}

/* TRUE if the expression is a real one: it uses a scalar, a real literal or a real run name. */
static void find_real(const WsExpr *e, gpointer data)
{
    WsElab *E = ((gpointer *)data)[0];
    gboolean *real = ((gpointer *)data)[1];
    if (e->op == WS_EXPR_REAL)
        *real = TRUE;
    if (e->op == WS_EXPR_NAME) {
        WsElabSymbol *symbol = ws_elab_lookup(E, e->name);
        if (symbol &&
            (symbol->kind == WS_SYMBOL_SCALAR || (symbol->kind == WS_SYMBOL_RUN && symbol->real)))
            *real = TRUE;
        else if (!symbol && (strcmp(e->name, "log2e") == 0 || strcmp(e->name, "ln2") == 0 ||
                             strcmp(e->name, "inf") == 0))
            *real = TRUE;
    }
}

void ws_elab_run_values(WsElab *E)
{
    const WsValue *map = ws_node_get(E->root, WS_F_let);
    guint n = map->kind == WS_VALUE_MAP ? map->n : 0;
    for (guint i = 0; i < n && !ws_elab_stop(E); i++) {
        WsElabSymbol *symbol = g_hash_table_lookup(E->names, map->key[i]);
        const WsExpr *e = ws_elab_value_expr(E, &map->item[i]);
        if (!symbol || symbol->kind != WS_SYMBOL_RUN || !e)
            continue;
        gboolean real = FALSE;
        gpointer data[2] = { E, &real };
        ws_expr_visit(e, find_real, data);
        symbol->real = real;
        symbol->state = 1; /* visible to itself only as a mistake */
        WsExpr *value = ws_elab_resolve(
            E, e, WS_RESOLVE_NO_TILE | WS_RESOLVE_NO_CTA | (real ? WS_RESOLVE_REAL : 0),
            symbol->at);
        symbol->state = 2;
        WsVar *var = &g_array_index(E->vars, WsVar, symbol->var);
        var->real = real;
        var->value = value;
    }
    const WsNode *root = E->root;
    guint count = ws_elab_field_count(root, WS_F_assume);
    E->p->assume = ws_arena_new0(E->arena, WsExpr *, count);
    E->p->assume_text = ws_arena_new0(E->arena, char *, count);
    for (guint i = 0; i < count; i++) {
        const WsExpr *e = ws_elab_value_expr(E, ws_elab_field_item(root, WS_F_assume, i));
        const char *at = ws_arena_printf(E->arena, "assume/%u", i);
        if (!e)
            continue;
        E->p->assume_text[E->p->n_assume] = (char *)ws_elab_text(E, e);
        E->p->assume[E->p->n_assume++] =
            ws_elab_resolve(E, e, WS_RESOLVE_NO_TILE | WS_RESOLVE_NO_CTA, at);
    }
}

void ws_elab_tile_scope(WsElab *E)
{
    const WsNode *tiles = ws_node_child(E->root, WS_F_tiles, 0);
    const WsValue *axes = ws_node_get(tiles, WS_F_axes);
    for (guint i = 0; axes->kind == WS_VALUE_MAP && i < axes->n && i < 8; i++) {
        const char *at = ws_arena_printf(E->arena, "tiles/axes/%s", axes->key[i]);
        WsElabSymbol *symbol = ws_elab_declare(E, E->names, WS_SYMBOL_AXIS, axes->key[i], at);
        symbol->index = i;
        symbol->var = ws_elab_var(E, WS_VAR_AXIS, axes->key[i], -1);
        g_array_index(E->vars, WsVar, symbol->var).axis = (gint)i;
    }
    const WsValue *let = ws_node_get(tiles, WS_F_let);
    for (guint i = 0; let->kind == WS_VALUE_MAP && i < let->n; i++) {
        const char *at = ws_arena_printf(E->arena, "tiles/let/%s", let->key[i]);
        WsElabSymbol *symbol = ws_elab_declare(E, E->names, WS_SYMBOL_TILE_NAME, let->key[i], at);
        symbol->var = ws_elab_var(E, WS_VAR_TILE, let->key[i], -1);
        symbol->text = &let->item[i];
    }
}
