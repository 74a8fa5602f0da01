/* Numbers of rounds: totals as counters, and which are evidently at least 1. */
#include "edit/rotate.h"

#include <string.h>

/* --- totals ----------------------------------------------------------------------------------- */

/* The text with NAME.total replaced by the counter; NULL if it does not occur. */
typedef struct {
    const char *loop, *counter;
} Total;

static gboolean is_word(char c)
{
    return g_ascii_isalnum(c) || c == '_';
}

static WsJson *replace_total(const char *text, gpointer data)
{
    const Total *t = data;
    g_autofree char *total = g_strconcat(t->loop, ".total", NULL);
    g_autoptr(GString) out = g_string_new(NULL);
    gboolean any = FALSE;
    for (const char *c = text; *c != '\0';) {
        const gboolean begins = c == text || (!is_word(c[-1]) && c[-1] != '.');
        if (begins && g_str_has_prefix(c, total) && !is_word(c[strlen(total)])) {
            g_string_append(out, t->counter);
            c += strlen(total);
            any = TRUE;
        } else {
            g_string_append_c(out, *c++);
        }
    }
    return any ? ws_json_text(out->str) : NULL;
}

typedef struct {
    guint64 node;
    WsFieldId field;
    WsJson *now;
} Rewrite;

/* Fields in which names stand for values: notes and texts of raw steps are left alone. */
static gboolean computes(const WsFieldRow *row)
{
    return row->kind == WS_FIELD_EXPR || row->kind == WS_FIELD_EXPR_OR_BOOL ||
           row->kind == WS_FIELD_EXPRS || row->kind == WS_FIELD_REF ||
           row->kind == WS_FIELD_STATEMENTS || row->kind == WS_FIELD_MAP_REF ||
           row->kind == WS_FIELD_REFS ||
           (row->kind == WS_FIELD_CHOICE &&
            (row->of == WS_FIELD_EXPR || row->of == WS_FIELD_EXPRS));
}

/* What is to be rewritten below a node, and the loops of that name. */
static void gather(const WsNode *node, const Total *t, GArray *rewrites, GArray *loops)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    if (node->kind == WS_STEP_FOR && g_strcmp0(ws_node_text(node, WS_F_keyword), t->loop) == 0)
        g_array_append_val(loops, node->identity);
    for (guint i = 0; i < n; i++) {
        const WsValue *value = ws_node_get(node, rows[i].field);
        if (value->kind != WS_VALUE_NONE && computes(&rows[i])) {
            WsJson *now = ws_json_of_value(&rows[i], value);
            if (ws_json_replace(now, FALSE, replace_total, (gpointer)t) > 0)
                g_array_append_val(rewrites, ((Rewrite){ node->identity, rows[i].field, now }));
            else
                ws_json_free(now);
        }
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            gather(ws_node_child(node, rows[i].field, c), t, rewrites, loops);
    }
}

static void clear_rewrite(gpointer data)
{
    ws_json_free(((Rewrite *)data)->now);
}

static gboolean runs_ahead(const WsNode *loop)
{
    for (guint i = 0; i < ws_node_n_children(loop, WS_F_do); i++)
        if (ws_node_has(ws_node_child(loop, WS_F_do, i), WS_F_ahead))
            return TRUE;
    return FALSE;
}

static gboolean count_rounds(WsDraft *d, guint64 group, const GArray *loops, const char *counter)
{
    if (ws_draft_append(d, group, WS_F_counters,
                        WS_MAKE(WS_NODE_COUNTER, { WS_F_name, ws_json_text(counter) })) == 0)
        return FALSE;
    for (guint i = 0; i < loops->len; i++) {
        const guint64 loop = g_array_index(loops, guint64, i);
        if (runs_ahead(ws_draft_node(d, loop)))
            return ws_draft_refuse(d, "a step of a loop whose rounds are counted runs ahead");
        if (ws_draft_append(d, loop, WS_F_do,
                            WS_MAKE(WS_STEP_ADVANCE, { WS_F_keyword, ws_json_text(counter) })) == 0)
            return FALSE;
    }
    return TRUE;
}

gboolean ws_edit_count_total(WsDraft *d, guint64 group, const char *loop)
{
    g_autoptr(GArray) rewrites = g_array_new(FALSE, FALSE, sizeof(Rewrite));
    g_autoptr(GArray) loops = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_autofree char *counter = ws_edit_fresh(d->design, "u");
    const Total t = { loop, counter };
    g_array_set_clear_func(rewrites, clear_rewrite);
    gather(ws_draft_node(d, group), &t, rewrites, loops);
    if (rewrites->len == 0)
        return TRUE;
    for (guint i = 0; i < rewrites->len; i++) {
        Rewrite *r = &g_array_index(rewrites, Rewrite, i);
        if (!ws_draft_set(d, r->node, r->field, g_steal_pointer(&r->now)))
            return FALSE;
    }
    return count_rounds(d, group, loops, counter);
}

/* --- at least 1 ------------------------------------------------------------------------------- */

static gboolean positive(const WsDesign *design, const WsExpr *e, guint depth);

static const WsExpr *entry(const WsNode *node, WsFieldId field, const char *name)
{
    const WsValue *map = node != NULL ? ws_node_get(node, field) : NULL;
    for (guint i = 0; map != NULL && map->kind == WS_VALUE_MAP && i < map->n; i++)
        if (strcmp(map->key[i], name) == 0 && map->item[i].kind == WS_VALUE_EXPR)
            return map->item[i].expr;
    return NULL;
}

/* What stands behind a name. A constant has a value of its own: --set may replace it by any other,
 * and elaborates anew. */
static const WsExpr *meaning(const WsDesign *design, const char *name)
{
    const WsNode *root = ws_design_root(design), *tiles = ws_node_child(root, WS_F_tiles, 0);
    const WsExpr *e = entry(tiles, WS_F_let, name);
    if (e == NULL)
        e = entry(root, WS_F_let, name);
    return e;
}

static gboolean at_least(const WsExpr *e, gint64 least)
{
    gint64 value;
    return ws_expr_is_int(e, &value) && value >= least;
}

/* An assumption `large >= small` (small NULL: of a number that is at least 1). */
static gboolean is_assumed(const WsDesign *design, const WsExpr *large, const WsExpr *small)
{
    const WsValue *list = ws_node_get(ws_design_root(design), WS_F_assume);
    for (guint i = 0; list->kind == WS_VALUE_LIST && i < list->n; i++) {
        const WsExpr *e = list->item[i].expr;
        if (e == NULL || (e->op != WS_EXPR_GE && e->op != WS_EXPR_GT) ||
            !ws_expr_equal(e->arg[0], large))
            continue;
        if (small != NULL ? ws_expr_equal(e->arg[1], small)
                          : at_least(e->arg[1], e->op == WS_EXPR_GE ? 1 : 0))
            return TRUE;
    }
    return FALSE;
}

static gboolean positive_call(const WsDesign *design, const WsExpr *e, guint depth)
{
    gboolean all = TRUE, any = FALSE;
    for (guint i = 0; i < e->n_args; i++) {
        const gboolean one = positive(design, e->arg[i], depth);
        all = all && one;
        any = any || one;
    }
    if (e->func == WS_FUNC_MAX)
        return any;
    return (e->func == WS_FUNC_MIN || e->func == WS_FUNC_CDIV) && all;
}

static gboolean positive(const WsDesign *design, const WsExpr *e, guint depth)
{
    if (depth == 0)
        return FALSE;
    if (at_least(e, 1) || is_assumed(design, e, NULL))
        return TRUE;
    if (e->op == WS_EXPR_CALL)
        return positive_call(design, e, depth - 1);
    if (e->op == WS_EXPR_MUL)
        return positive(design, e->arg[0], depth - 1) && positive(design, e->arg[1], depth - 1);
    if (e->op == WS_EXPR_ADD) /* both are: one of them could be negative */
        return positive(design, e->arg[0], depth - 1) && positive(design, e->arg[1], depth - 1);
    if (e->op == WS_EXPR_DIV) /* X / Y with X >= Y >= 1 */
        return is_assumed(design, e->arg[0], e->arg[1]) && positive(design, e->arg[1], depth - 1);
    if (e->op != WS_EXPR_NAME)
        return FALSE;
    const WsNode *root = ws_design_root(design);
    const WsExpr *constant = entry(root, WS_F_constants, e->name);
    const WsExpr *behind = constant != NULL ? constant : meaning(design, e->name);
    return behind != NULL && positive(design, behind, depth - 1);
}

gboolean ws_edit_is_positive(const WsDesign *design, const WsExpr *count)
{
    return positive(design, count, 16);
}
