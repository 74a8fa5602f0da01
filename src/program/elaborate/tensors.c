#include "program/elaborate/elab.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/program.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *text;
    guint bytes;
    gboolean real;
} dtypes[] = {
#define WS_DTYPE(id, text, bytes, real) [WS_DTYPE_##id] = { text, bytes, real },
#include "program/dtype.def"
#undef WS_DTYPE
};

const char *ws_dtype_text(WsDtype t)
{
    return t < WS_DTYPE_COUNT ? dtypes[t].text : "?";
}

guint ws_dtype_bytes(WsDtype t)
{
    return t < WS_DTYPE_COUNT ? dtypes[t].bytes : 0;
}

gboolean ws_dtype_real(WsDtype t)
{
    return t < WS_DTYPE_COUNT && dtypes[t].real;
}

gboolean ws_elab_dtype(const char *text, WsDtype *out)
{
    for (guint i = 0; text && i < WS_DTYPE_COUNT; i++)
        if (strcmp(text, dtypes[i].text) == 0) {
            *out = i;
            return TRUE;
        }
    return FALSE;
}

/* Default tolerances by dtype: LANGUAGE section 5. */
static void default_tolerance(WsTensor *t)
{
    switch (t->dtype) {
    case WS_DTYPE_BF16:
        t->tolerance_abs = 2e-2;
        t->tolerance_rel = 4e-3;
        break;
    case WS_DTYPE_F16:
        t->tolerance_abs = 5e-3;
        t->tolerance_rel = 1e-3;
        break;
    case WS_DTYPE_E4M3:
    case WS_DTYPE_E5M2:
        t->tolerance_abs = 6e-2;
        t->tolerance_rel = 7e-2;
        break;
    case WS_DTYPE_F32:
    case WS_DTYPE_TF32:
        t->tolerance_abs = t->tolerance_rel = 1e-3;
        break;
    case WS_DTYPE_COUNT:
    case WS_DTYPE_I32:
    case WS_DTYPE_I8:
    case WS_DTYPE_U8:
    default: /* integers must be equal */
        break;
    }
}

static gboolean real_literal(const WsExpr *e, double *value)
{
    static const WsExprEnv nothing;
    return ws_expr_eval_real(e, &nothing, value, NULL);
}

static void data_form(WsElab *E, WsTensor *t, const WsNode *node, const char *at)
{
    static const struct {
        const char *text;
        WsDataKind kind;
        guint n_args;
    } forms[] = {
        { "normal", WS_DATA_NORMAL, 0 },     { "uniform", WS_DATA_UNIFORM, 2 },
        { "integers", WS_DATA_INTEGERS, 2 }, { "zeros", WS_DATA_ZEROS, 0 },
        { "indices", WS_DATA_INDICES, 2 },   { "offsets", WS_DATA_OFFSETS, 1 },
    };
    const char *text = ws_elab_field_name(E, node, WS_F_data);
    t->data_y = 1;
    if (!text)
        return;
    g_autofree char *name = NULL;
    g_autoptr(GPtrArray) args = NULL;
    g_autoptr(GError) error = NULL;
    if (!ws_form_parse(text, &name, &args, &error)) {
        ws_elab_error(E, WS_RULE_T_EXPR, at, NULL, "data: %s", error->message);
        return;
    }
    guint i = 0;
    while (i < G_N_ELEMENTS(forms) && strcmp(forms[i].text, name) != 0)
        i++;
    if (i == G_N_ELEMENTS(forms) || args->len != forms[i].n_args) {
        ws_elab_error(E, WS_RULE_T_KIND, at,
                      "normal, uniform(a, b), integers(a, b), zeros, "
                      "indices(n, p) or offsets(n)",
                      "data %s is not known", text);
        return;
    }
    t->data = forms[i].kind;
    guint flags = WS_RESOLVE_NO_TILE | WS_RESOLVE_NO_CTA;
    if (t->data == WS_DATA_UNIFORM) {
        if (!real_literal(g_ptr_array_index(args, 0), &t->data_x) ||
            !real_literal(g_ptr_array_index(args, 1), &t->data_y))
            ws_elab_error(E, WS_RULE_T_EXPR, at, NULL, "uniform(a, b) takes two numbers");
    } else if (t->data == WS_DATA_INTEGERS) {
        t->data_a = ws_elab_resolve(E, g_ptr_array_index(args, 0), flags, at);
        t->data_b = ws_elab_resolve(E, g_ptr_array_index(args, 1), flags, at);
    } else if (t->data == WS_DATA_OFFSETS) {
        t->data_a = ws_elab_resolve(E, g_ptr_array_index(args, 0), flags, at);
    } else if (t->data == WS_DATA_INDICES) {
        t->data_a = ws_elab_resolve(E, g_ptr_array_index(args, 0), flags, at);
        if (!real_literal(g_ptr_array_index(args, 1), &t->data_y))
            ws_elab_error(E, WS_RULE_T_EXPR, at, NULL, "indices(n, p): p is a number");
    }
}

static void shape(WsElab *E, WsTensor *t, const WsNode *node, const char *at)
{
    guint flags = WS_RESOLVE_NO_TILE | WS_RESOLVE_NO_CTA;
    t->rank = MIN(ws_elab_field_count(node, WS_F_shape), WS_MAX_RANK);
    for (guint i = 0; i < t->rank; i++)
        t->shape[i] = ws_elab_resolve(
            E, ws_elab_value_expr(E, ws_elab_field_item(node, WS_F_shape, i)), flags, at);
    guint n = ws_elab_field_count(node, WS_F_strides);
    t->strides_given = n > 0;
    if (n > 0 && n != t->rank) {
        ws_elab_error(E, WS_RULE_T_RANK, at, NULL, "%s has %u dimensions but %u strides", t->name,
                      t->rank, n);
        n = 0;
    }
    WsExpr *contiguous = ws_elab_int(E, 1);
    for (guint i = t->rank; i-- > 0;) {
        t->stride[i] = contiguous;
        if (n > 0)
            t->stride[i] = ws_elab_resolve(
                E, ws_elab_value_expr(E, ws_elab_field_item(node, WS_F_strides, i)), flags, at);
        if (i > 0)
            contiguous = ws_elab_op(E, WS_EXPR_MUL, contiguous, t->shape[i], at);
    }
}

void ws_elab_tensors(WsElab *E)
{
    WsProgram *p = E->p;
    guint n = ws_node_n_children(E->root, WS_F_tensors);
    p->tensor = ws_arena_new0(E->arena, WsTensor, n);
    for (p->n_tensors = 0; p->n_tensors < n; p->n_tensors++) {
        const WsNode *node = ws_node_child(E->root, WS_F_tensors, p->n_tensors);
        WsTensor *t = &p->tensor[p->n_tensors];
        t->name = ws_arena_strdup(E->arena, ws_node_name(node));
        const char *at = ws_arena_printf(E->arena, "tensors/%s", t->name);
        if (!ws_elab_dtype(ws_elab_field_name(E, node, WS_F_dtype), &t->dtype))
            ws_elab_error(E, WS_RULE_T_DTYPE, at, NULL, "the dtype of %s is not known", t->name);
        t->access = ws_elab_field_is(E, node, WS_F_access, "write")      ? WS_ACCESS_WRITE
                    : ws_elab_field_is(E, node, WS_F_access, "reduce")   ? WS_ACCESS_REDUCE
                    : ws_elab_field_is(E, node, WS_F_access, "exchange") ? WS_ACCESS_EXCHANGE
                                                                         : WS_ACCESS_READ;
        if (t->access == WS_ACCESS_EXCHANGE && !p->mesh)
            ws_elab_note(E, WS_RULE_L_DEVICES, at, "Say `devices`, or another access.",
                         "%s is put by devices, and the design has one", t->name);
        const char *covers = ws_elab_field_name(E, node, WS_F_covers);
        if (covers && t->access != WS_ACCESS_WRITE)
            ws_elab_note(E, WS_RULE_L_ACCESS, at, "Drop `covers`.",
                         "%s is not written, so nothing has to cover it", t->name);
        else if (covers && covers[strspn(covers, " \t\n")] == 0)
            ws_elab_error(E, WS_RULE_T_KIND, at, "Write the reason.", "`covers` gives no reason");
        else
            t->covers = covers ? ws_arena_strdup(E->arena, covers) : NULL;
        shape(E, t, node, at);
        data_form(E, t, node, at);
        default_tolerance(t);
        double *tolerance[2] = { &t->tolerance_abs, &t->tolerance_rel };
        for (guint i = 0; i < MIN(ws_elab_field_count(node, WS_F_tolerance), 2); i++) {
            const WsValue *v = ws_elab_field_item(node, WS_F_tolerance, i);
            *tolerance[i] = v->kind == WS_VALUE_INT ? (double)v->i : v->r;
        }
    }
}

static WsExpr *fold_constant(const WsExpr *leaf, gpointer data, GError **error)
{
    WsElab *E = data;
    if (leaf->op != WS_EXPR_NAME)
        return NULL;
    WsElabSymbol *symbol = g_hash_table_lookup(E->names, leaf->name);
    return symbol && symbol->kind == WS_SYMBOL_CONSTANT
               ? ws_expr_constant(symbol->value, leaf->name)
               : NULL;
}

void ws_elab_reference(WsElab *E)
{
    guint n = ws_elab_field_count(E->root, WS_F_reference);
    E->reference = ws_arena_new0(E->arena, WsStatement *, n);
    for (guint i = 0; i < n; i++) {
        const WsValue *v = ws_elab_field_item(E->root, WS_F_reference, i);
        if (v->kind != WS_VALUE_STATEMENT)
            continue;
        const WsStatement *s = v->statement;
        g_autoptr(GError) error = NULL;
        WsExpr *value = ws_expr_map(s->value, fold_constant, E, &error);
        if (!value) {
            ws_elab_error(E, WS_RULE_T_EXPR, "reference", NULL, "%s: %s", s->name, error->message);
            continue;
        }
        WsStatement *out = g_new0(WsStatement, 1);
        out->refs = 1;
        out->name = g_strdup(s->name);
        out->n_index = s->n_index;
        out->index = g_new0(char *, s->n_index + 1);
        for (guint k = 0; k < s->n_index; k++)
            out->index[k] = g_strdup(s->index[k]);
        out->value = value;
        E->reference[E->n_reference++] = ws_arena_statement(E->arena, out);
    }
}

/* --- tiles ---------------------------------------------------------------------------------- */

static gint axis_by_name(WsElab *E, const WsExpr *e, const char *at)
{
    WsTiles *tiles = E->p->tiles;
    for (guint i = 0; e->op == WS_EXPR_NAME && i < tiles->n_axes; i++)
        if (strcmp(tiles->axis[i].name, e->name) == 0)
            return (gint)i;
    g_autofree char *text = ws_expr_print(e);
    ws_elab_error(E, WS_RULE_N_UNKNOWN, at, NULL, "there is no axis named %s", text);
    return 0;
}

static void order(WsElab *E, const WsNode *node)
{
    WsTiles *tiles = E->p->tiles;
    const char *text = ws_elab_field_name(E, node, WS_F_order), *at = "tiles";
    if (!text)
        return;
    g_autofree char *name = NULL;
    g_autoptr(GPtrArray) args = NULL;
    g_autoptr(GError) error = NULL;
    if (!ws_form_parse(text, &name, &args, &error)) {
        ws_elab_error(E, WS_RULE_T_EXPR, at, NULL, "order: %s", error->message);
    } else if (strcmp(name, "grouped") == 0 && args->len == 2) {
        tiles->order = WS_ORDER_GROUPED;
        tiles->order_axis = (guint)axis_by_name(E, g_ptr_array_index(args, 0), at);
        tiles->order_n = ws_elab_resolve(E, g_ptr_array_index(args, 1),
                                         WS_RESOLVE_NO_TILE | WS_RESOLVE_NO_CTA, at);
        if (ws_elab_is_int(tiles->order_n, &tiles->order_group) && tiles->order_group < 1)
            ws_elab_error(E, WS_RULE_T_RANGE, at, NULL, "grouped(axis, n): n must be at least 1");
    } else if (strcmp(name, "hilbert") == 0 && args->len == 2) {
        tiles->order = WS_ORDER_HILBERT;
        tiles->order_axis = (guint)axis_by_name(E, g_ptr_array_index(args, 0), at);
        tiles->order_axis2 = (guint)axis_by_name(E, g_ptr_array_index(args, 1), at);
        if (tiles->order_axis == tiles->order_axis2)
            ws_elab_error(E, WS_RULE_T_KIND, at, NULL, "hilbert takes two different axes");
    } else if (strcmp(name, "linear") != 0 || args->len > 0) {
        ws_elab_error(E, WS_RULE_T_KIND, at, "linear, grouped(axis, n) or hilbert(axis, axis)",
                      "order %s is not known", text);
    }
}

void ws_elab_tiles(WsElab *E)
{
    WsTiles *tiles = E->p->tiles;
    const WsNode *node = ws_node_child(E->root, WS_F_tiles, 0);
    const WsValue *axes = ws_node_get(node, WS_F_axes);
    guint flags = WS_RESOLVE_NO_TILE | WS_RESOLVE_NO_CTA;
    tiles->launch = ws_elab_field_is(E, node, WS_F_launch, "single")    ? WS_LAUNCH_SINGLE
                    : ws_elab_field_is(E, node, WS_F_launch, "dynamic") ? WS_LAUNCH_DYNAMIC
                                                                        : WS_LAUNCH_PERSISTENT;
    for (guint i = 0; axes->kind == WS_VALUE_MAP && i < MIN(axes->n, 8); i++) {
        WsElabSymbol *symbol = g_hash_table_lookup(E->names, axes->key[i]);
        const char *at = ws_arena_printf(E->arena, "tiles/axes/%s", axes->key[i]);
        tiles->axis[i].name = ws_arena_strdup(E->arena, axes->key[i]);
        tiles->axis[i].var = symbol && symbol->kind == WS_SYMBOL_AXIS ? symbol->var : 0;
        tiles->axis[i].extent =
            ws_elab_resolve(E, ws_elab_value_expr(E, &axes->item[i]), flags, at);
        tiles->n_axes = i + 1;
    }
    for (guint i = 0; i < ws_elab_field_count(node, WS_F_reverse); i++) {
        const WsValue *v = ws_elab_field_item(node, WS_F_reverse, i);
        g_autoptr(WsExpr) name = ws_expr_name(v->kind == WS_VALUE_TEXT ? v->text : "");
        tiles->axis[axis_by_name(E, name, "tiles/reverse")].reverse = TRUE;
    }
    order(E, node);
    for (guint i = 0; i < MIN(ws_elab_field_count(node, WS_F_xcd), 2); i++)
        tiles->xcd[i] =
            ws_elab_constant_in(E, ws_elab_value_expr(E, ws_elab_field_item(node, WS_F_xcd, i)), 1,
                                1 << 20, "xcd", "tiles/xcd");
    if (ws_node_has(node, WS_F_grid))
        tiles->grid =
            ws_elab_resolve(E, ws_elab_field_expr(E, node, WS_F_grid), flags, "tiles/grid");
    if (tiles->launch == WS_LAUNCH_DYNAMIC && E->p->cluster > 1)
        ws_elab_note(E, WS_RULE_L_DYNAMIC, "tiles", "Use launch persistent, or cluster 1.",
                     "dynamic tiles are not available with clusters");
    const WsValue *let = ws_node_get(node, WS_F_let);
    for (guint i = 0; let->kind == WS_VALUE_MAP && i < let->n; i++) {
        WsElabSymbol *symbol = g_hash_table_lookup(E->names, let->key[i]);
        const WsExpr *e = ws_elab_value_expr(E, &let->item[i]);
        if (!symbol || symbol->kind != WS_SYMBOL_TILE_NAME || !e)
            continue;
        symbol->state = 1;
        WsExpr *value = ws_elab_resolve(E, e, WS_RESOLVE_TENSOR, symbol->at);
        symbol->state = 2;
        g_array_index(E->vars, WsVar, symbol->var).value = value;
    }
}
