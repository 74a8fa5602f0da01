#include "program/elaborate/elab.h"
#include "program/parts/tiles.h"
#include "program/program.h"

#include <string.h>

gint64 ws_elab_constant_symbol(WsElab *E, WsElabSymbol *symbol);

typedef struct {
    WsElab *E;
    guint flags;
    const char *at;
    gboolean array; /* array language: values and temporaries stay names */
    GHashTable *temporaries;
} Resolve;

static WsExpr *bad(const char *name)
{
    return ws_expr_int(1);
}

static WsExpr *row_or_col(WsElab *E, gboolean row)
{
    gint *var = row ? &E->row_var : &E->col_var;
    if (*var < 0)
        *var = ws_elab_var(E, row ? WS_VAR_ROW : WS_VAR_COL, row ? "row" : "col", -1);
    return ws_expr_var(*var, row ? "row" : "col");
}

/* replica, replicas, cta, ctas, row, col; NULL if `name` is none of them. */
static WsExpr *special(Resolve *R, const char *name)
{
    WsElab *E = R->E;
    if (strcmp(name, "replica") == 0 || strcmp(name, "replicas") == 0) {
        if (E->replicas == 0) {
            ws_elab_error(E, WS_RULE_N_SCOPE, R->at, NULL, "%s is known inside a group only", name);
            return bad(name);
        }
        return ws_expr_int(name[7] ? E->replicas : E->replica);
    }
    if (strcmp(name, "ctas") == 0)
        return ws_expr_int(E->p->cluster);
    if (strcmp(name, "cta") == 0) {
        if (R->flags & WS_RESOLVE_NO_CTA) {
            ws_elab_error(E, WS_RULE_N_SCOPE, R->at, NULL, "cta has no value here");
            return bad(name);
        }
        return E->cta_var < 0 ? ws_expr_int(0) : ws_expr_var(E->cta_var, "cta");
    }
    if (strcmp(name, "row") == 0 || strcmp(name, "col") == 0) {
        if (!R->array && !(R->flags & WS_RESOLVE_ROW)) {
            ws_elab_error(E, WS_RULE_N_SCOPE, R->at, NULL, "%s has no value here", name);
            return bad(name);
        }
        return row_or_col(E, name[0] == 'r');
    }
    return NULL;
}

static gboolean tile_visible(Resolve *R, const WsElabSymbol *symbol)
{
    WsElab *E = R->E;
    if (R->flags & WS_RESOLVE_NO_TILE)
        return FALSE;
    if (!E->agent)
        return TRUE; /* tiles.let, assume */
    return E->agent->tile_depth > 0 || E->p->tiles->launch == WS_LAUNCH_SINGLE;
}

static WsExpr *let_value(Resolve *R, WsElabSymbol *symbol);

static WsExpr *symbol_value(Resolve *R, WsElabSymbol *symbol)
{
    WsElab *E = R->E;
    switch (symbol->kind) {
    case WS_SYMBOL_CONSTANT:
        return ws_expr_constant(ws_elab_constant_symbol(E, symbol), symbol->name);
    case WS_SYMBOL_SCALAR:
        if (!R->array && !(R->flags & WS_RESOLVE_REAL))
            ws_elab_error(E, WS_RULE_T_EXPR, R->at, NULL,
                          "%s is a real number; an integer is needed here", symbol->name);
        return ws_expr_var(symbol->var, symbol->name);
    case WS_SYMBOL_RUN:
        if (symbol->state == 1)
            ws_elab_error(E, WS_RULE_N_ORDER, R->at, NULL, "run name %s refers to itself",
                          symbol->name);
        else if (symbol->state == 0 && symbol->text && !E->agent)
            ws_elab_error(E, WS_RULE_N_ORDER, R->at, "Define it before this one.",
                          "run name %s is used before its definition", symbol->name);
        else if (symbol->real && !R->array && !(R->flags & WS_RESOLVE_REAL))
            ws_elab_error(E, WS_RULE_T_EXPR, R->at, NULL,
                          "%s is a real number; an integer is needed here", symbol->name);
        return ws_expr_var(symbol->var, symbol->name);
    case WS_SYMBOL_AXIS:
    case WS_SYMBOL_TILE_NAME:
        if (symbol->kind == WS_SYMBOL_TILE_NAME && symbol->state != 2 && !E->agent)
            ws_elab_error(E, WS_RULE_N_ORDER, R->at, "Define it before this one.",
                          "tile name %s is used before its definition", symbol->name);
        if (!tile_visible(R, symbol))
            ws_elab_error(E, WS_RULE_N_SCOPE, R->at, "Use it inside the loop over tiles.",
                          "%s belongs to a tile and has no value outside of a loop over tiles",
                          symbol->name);
        return ws_expr_var(symbol->var, symbol->name);
    case WS_SYMBOL_SIZE:
        if (symbol->var == E->rank_var && R->flags & WS_RESOLVE_NO_CTA)
            ws_elab_error(
                E, WS_RULE_N_SCOPE, R->at, "Use it in steps and in tile names.",
                "%s is another number on each device, and what stands here is equal on all "
                "of them",
                symbol->name);
        return ws_expr_var(symbol->var, symbol->name);
    case WS_SYMBOL_COUNTER:
        return ws_expr_var(symbol->var, symbol->name);
    case WS_SYMBOL_LET:
        return let_value(R, symbol);
    case WS_SYMBOL_LOOP:
        if (!symbol->loop_index) {
            ws_elab_error(E, WS_RULE_N_SCOPE, R->at, "Use name.total for the rounds completed.",
                          "the index %s has a value only inside its loop", symbol->name);
            return bad(symbol->name);
        }
        return ws_expr_ref(symbol->loop_index);
    case WS_SYMBOL_BARRIER:
    case WS_SYMBOL_BUFFER:
    case WS_SYMBOL_FLAG:
    case WS_SYMBOL_PIPE:
    case WS_SYMBOL_TENSOR:
    case WS_SYMBOL_VALUE:
    default:
        ws_elab_error(E, WS_RULE_T_KIND, R->at, NULL, "%s is not a number", symbol->name);
        return bad(symbol->name);
    }
}

/* A `let` runs as many rounds ahead as it says; a step of another round computes it again. */
static WsExpr *let_value(Resolve *R, WsElabSymbol *symbol)
{
    if (symbol->be)
        return ws_expr_ref(ws_elab_resolve(R->E, symbol->be, R->flags | WS_RESOLVE_TENSOR, R->at));
    return ws_expr_var(symbol->var, symbol->name);
}

static WsExpr *total_value(Resolve *R, const char *name)
{
    WsElab *E = R->E;
    WsElabSymbol *symbol = ws_elab_lookup(E, name);
    if (symbol && symbol->kind == WS_SYMBOL_LOOP)
        return ws_expr_ref(symbol->loop_total);
    ws_elab_error(E, WS_RULE_N_TOTAL, R->at, "Write it after, or inside, a loop of that name.",
                  "%s.total: no loop named %s comes before this place", name, name);
    return bad(name);
}

static WsExpr *element(Resolve *R, const WsExpr *leaf)
{
    WsElab *E = R->E;
    WsElabSymbol *symbol = ws_elab_find(E, leaf->name, WS_SYMBOL_TENSOR, R->at);
    if (!symbol)
        return bad(leaf->name);
    const WsNode *node = ws_node_child(E->root, WS_F_tensors, symbol->index);
    WsDtype dtype = WS_DTYPE_F32;
    const char *text = ws_elab_field_name(E, node, WS_F_dtype);
    if (text)
        ws_elab_dtype(text, &dtype);
    if (dtype != WS_DTYPE_I32 && dtype != WS_DTYPE_I8 && dtype != WS_DTYPE_U8)
        ws_elab_error(E, WS_RULE_T_DTYPE, R->at, NULL, "%s holds %s; only integers can be named",
                      leaf->name, text ? text : WS_WORD("reals"));
    const char *access = ws_elab_field_name(E, node, WS_F_access);
    if (access && strcmp(access, "read") != 0)
        ws_elab_note(E, WS_RULE_L_ACCESS, R->at, "Read another tensor, or write another one.",
                     "%s is written by this kernel, so the kernel does not read it", leaf->name);
    if (!(R->flags & WS_RESOLVE_TENSOR) || R->array)
        ws_elab_error(E, WS_RULE_T_EXPR, R->at, "Name it by a `let` first.",
                      "an element of %s cannot be read here", leaf->name);
    if (leaf->n_args != ws_elab_field_count(node, WS_F_shape))
        ws_elab_error(E, WS_RULE_T_RANK, R->at, NULL, "%s has %u dimensions, not %u", leaf->name,
                      ws_elab_field_count(node, WS_F_shape), leaf->n_args);
    g_autofree WsExpr **args = g_new(WsExpr *, leaf->n_args + 1);
    for (guint i = 0; i < leaf->n_args; i++)
        args[i] = ws_expr_ref(leaf->arg[i]);
    return ws_expr_index(leaf->name, (gint)symbol->index, args, leaf->n_args);
}

static WsExpr *map_leaf(const WsExpr *leaf, gpointer data, GError **error)
{
    Resolve *R = data;
    if (leaf->op == WS_EXPR_VAR)
        return NULL;
    if (leaf->op == WS_EXPR_TOTAL)
        return total_value(R, leaf->name);
    if (leaf->op == WS_EXPR_INDEX)
        return leaf->var >= 0 ? NULL : element(R, leaf);
    WsExpr *e = special(R, leaf->name);
    if (e)
        return e;
    if (R->array && R->temporaries && g_hash_table_contains(R->temporaries, leaf->name))
        return NULL;
    WsElabSymbol *symbol = ws_elab_lookup(R->E, leaf->name);
    if (!symbol) {
        ws_elab_unknown(R->E, leaf->name, WS_WORD("name"), R->at);
        return bad(leaf->name);
    }
    if (R->array && symbol->kind == WS_SYMBOL_VALUE)
        return NULL;
    return symbol_value(R, symbol);
}

static void find_literal(const WsExpr *e, gpointer data)
{
    if (e->op == WS_EXPR_REAL)
        *(gboolean *)data = TRUE;
}

WsExpr *ws_elab_int(WsElab *E, gint64 value)
{
    return ws_arena_expr(E->arena, ws_expr_int(value));
}

static WsExpr *folded(WsElab *E, WsExpr *e, gint64 otherwise, const char *at)
{
    static const WsExprEnv nothing;
    g_autoptr(GError) error = NULL;
    WsExpr *result = ws_expr_fold(e, &nothing, &error);
    if (!result) {
        ws_elab_error(E, WS_RULE_T_EXPR, at, NULL, "%s", error->message);
        return ws_elab_int(E, otherwise);
    }
    return ws_arena_expr(E->arena, result);
}

WsExpr *ws_elab_resolve(WsElab *E, const WsExpr *e, guint flags, const char *at)
{
    if (!e || ws_elab_stop(E))
        return ws_elab_int(E, 0);
    Resolve R = { .E = E, .flags = flags, .at = at };
    gboolean real = FALSE;
    if (!(flags & WS_RESOLVE_REAL)) {
        ws_expr_visit(e, find_literal, &real);
        if (real) {
            ws_elab_error(E, WS_RULE_T_EXPR, at, NULL, "a whole number is needed here, not %s",
                          ws_elab_text(E, e));
            return ws_elab_int(E, 0);
        }
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(WsExpr) bound = ws_expr_map(e, map_leaf, &R, &error);
    if (!bound) {
        ws_elab_error(E, WS_RULE_T_EXPR, at, NULL, "%s",
                      error ? error->message : WS_WORD("no value"));
        return ws_elab_int(E, 0);
    }
    if (flags & WS_RESOLVE_REAL) /* real arithmetic is left as it was written */
        return ws_arena_expr(E->arena, g_steal_pointer(&bound));
    return folded(E, bound, 0, at);
}

gint64 ws_elab_constant(WsElab *E, const WsExpr *e, const char *at)
{
    guint before = E->errors;
    WsExpr *value = ws_elab_resolve(E, e, WS_RESOLVE_NO_TILE | WS_RESOLVE_NO_CTA, at);
    gint64 number;
    if (ws_expr_is_int(value, &number))
        return E->errors > before ? 1 : number;
    if (E->errors == before)
        ws_elab_error(E, WS_RULE_T_CONST, at, "Use constants only.",
                      "%s is not known when the kernel is generated", ws_elab_text(E, e));
    return 1;
}

gint64 ws_elab_constant_in(WsElab *E, const WsExpr *e, gint64 lo, gint64 hi, const char *what,
                           const char *at)
{
    guint before = E->errors;
    gint64 value = ws_elab_constant(E, e, at);
    if (E->errors > before)
        return CLAMP(1, lo, hi);
    if (value < lo || value > hi) {
        ws_elab_error(E, WS_RULE_T_RANGE, at, NULL,
                      "%s is %" G_GINT64_FORMAT ", but must lie in %" G_GINT64_FORMAT
                      "..%" G_GINT64_FORMAT,
                      what, value, lo, hi);
        return CLAMP(value, lo, hi);
    }
    return value;
}

WsExpr *ws_elab_op(WsElab *E, WsExprOp op, const WsExpr *a, const WsExpr *b, const char *at)
{
    g_autoptr(WsExpr) e = ws_expr_op(op, ws_expr_ref(a), b ? ws_expr_ref(b) : NULL);
    return folded(E, e, 0, at);
}

WsExpr *ws_elab_op_int(WsElab *E, WsExprOp op, const WsExpr *a, gint64 b, const char *at)
{
    return ws_elab_op(E, op, a, ws_elab_int(E, b), at);
}

gboolean ws_elab_is_int(const WsExpr *e, gint64 *value)
{
    return e && ws_expr_is_int(e, value);
}

const char *ws_elab_text(WsElab *E, const WsExpr *e)
{
    if (!e)
        return "";
    g_autofree char *text = ws_expr_print(e);
    return ws_arena_strdup(E->arena, text);
}

typedef struct {
    gint var;
    gint64 value;
} Rank;

static WsLookup rank_value(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    const Rank *rank = data;
    if (leaf->op != WS_EXPR_VAR || leaf->var != rank->var)
        return WS_LOOKUP_UNKNOWN;
    *value = rank->value;
    return WS_LOOKUP_KNOWN;
}

gboolean ws_elab_at_rank(WsElab *E, const WsExpr *e, guint c, gint64 *value)
{
    if (ws_expr_is_int(e, value))
        return TRUE;
    if (E->cta_var < 0)
        return FALSE;
    Rank rank = { E->cta_var, c };
    WsExprEnv env = { .integer = rank_value, .data = &rank };
    g_autoptr(WsExpr) known = ws_expr_fold(e, &env, NULL);
    return known && ws_expr_is_int(known, value);
}

/* --- array language ------------------------------------------------------------------------- */

static WsExpr *array_expr(WsElab *E, const WsExpr *e, GHashTable *temporaries, const char *at)
{
    Resolve R = { .E = E, .at = at, .array = TRUE, .temporaries = temporaries };
    g_autoptr(GError) error = NULL;
    WsExpr *bound = ws_expr_map(e, map_leaf, &R, &error);
    if (!bound) {
        ws_elab_error(E, WS_RULE_T_EXPR, at, NULL, "%s",
                      error ? error->message : WS_WORD("no value"));
        bound = ws_expr_int(0);
    }
    return ws_arena_expr(E->arena, bound);
}

WsExpr *ws_elab_array_expr(WsElab *E, const WsExpr *e, const char *at)
{
    return array_expr(E, e, NULL, at);
}

WsStatement *ws_elab_statement(WsElab *E, const WsStatement *s, GHashTable *temporaries,
                               const char *at)
{
    WsStatement *out = g_new0(WsStatement, 1);
    out->refs = 1;
    out->name = g_strdup(s->name);
    out->value = ws_expr_ref(array_expr(E, s->value, temporaries, at));
    return ws_arena_statement(E->arena, out);
}
