/* Quick-fixes of what a launch or a role goes over: axes and loops that round down, replicas whose
 * tiles are not their own, strides that let elements meet. They are offered. */
#include "expr/expr.h"
#include "mend/fixer.h"
#include "model/finding.h"

const WsExpr *ws_axis(const WsFixer *F, const char *name)
{
    const WsNode *tiles = ws_node_child(ws_design_root(F->design), WS_F_tiles, 0);
    const WsValue *axes = tiles ? ws_node_get(tiles, WS_F_axes) : NULL;
    for (guint a = 0; axes && axes->kind == WS_VALUE_MAP && a < axes->n; a++)
        if (strcmp(axes->key[a], name) == 0 && axes->item[a].kind == WS_VALUE_EXPR)
            return axes->item[a].expr;
    return NULL;
}

void ws_fix_tiles_of_axis(WsFixer *F, const char *axis, const char *n)
{
    const WsNode *tiles = ws_node_child(ws_design_root(F->design), WS_F_tiles, 0);
    WsFix *fix = ws_fixer_add(F, "Let axis %s have %s tiles", axis, n);
    ws_fix_set(fix, tiles, WS_F_axes,
               ws_json_with(ws_json_of_field(tiles, WS_F_axes), axis, ws_json_expr(n)));
}

/* Replicas that take tiles in turns: each begins at its own, and passes over those of the others.
 */
void ws_fix_own_tiles(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        g_autofree char *from = ws_field_text(s->node, WS_F_from),
                        *step = ws_field_text(s->node, WS_F_step);
        if (s->node->kind != WS_STEP_FOR || !ws_node_has(s->node, WS_F_over) ||
            !ws_node_has(s->group, WS_F_replicate) || (!from && !step) ||
            (g_strcmp0(from, "replica") == 0 && g_strcmp0(step, "replicas") == 0))
            continue;
        WsFix *fix =
            ws_fixer_add(F, "Let the replicas of %s take tiles in turns", ws_node_name(s->group));
        if (g_strcmp0(from, "replica") != 0)
            ws_fix_set(fix, s->node, WS_F_from, ws_json_text("replica"));
        if (g_strcmp0(step, "replicas") != 0)
            ws_fix_set(fix, s->node, WS_F_step, ws_json_text("replicas"));
    }
}

void ws_fix_own_strides(WsFixer *F)
{
    const WsNode *tensor = F->finding->at ? ws_design_find(F->design, F->finding->at) : NULL;
    if (!tensor || tensor->kind != WS_NODE_TENSOR || !ws_node_has(tensor, WS_F_strides))
        return;
    WsFix *fix = ws_fixer_add(F, "Derive the strides of %s from its shape", ws_node_name(tensor));
    ws_fix_set(fix, tensor, WS_F_strides, NULL);
}

/* "N/BN" as "cdiv(N, BN)", NULL if it is no quotient. */
static char *rounded_up(const WsExpr *e)
{
    if (!e || e->op != WS_EXPR_DIV)
        return NULL;
    g_autofree char *x = ws_expr_print(e->arg[0]), *y = ws_expr_print(e->arg[1]);
    return g_strdup_printf("cdiv(%s, %s)", x, y);
}

/* An axis, or a loop that writes, leaves the rest of a division out. */
void ws_fix_round_up(WsFixer *F)
{
    const WsNode *tiles = ws_node_child(ws_design_root(F->design), WS_F_tiles, 0);
    const WsValue *axes = tiles ? ws_node_get(tiles, WS_F_axes) : NULL;
    for (guint a = 0; axes && axes->kind == WS_VALUE_MAP && a < axes->n; a++) {
        g_autofree char *up =
            axes->item[a].kind == WS_VALUE_EXPR ? rounded_up(axes->item[a].expr) : NULL;
        if (!up)
            continue;
        ws_fix_tiles_of_axis(F, axes->key[a], up);
    }
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsNode *loop = ws_spot(F, i)->node;
        g_autofree char *up =
            loop->kind == WS_STEP_FOR ? rounded_up(ws_node_expr(loop, WS_F_count)) : NULL;
        if (!up)
            continue;
        WsFix *fix = ws_fixer_add(F, "Let the loop %s of %s run %s rounds", ws_node_name(loop),
                                  ws_node_name(ws_spot(F, i)->group), up);
        ws_fix_set(fix, loop, WS_F_count, ws_json_expr(up));
    }
}

/* That a loop has a round at all: "K >= 1" of cdiv(K, BK) rounds. NULL: its count is a number, or
 * none. Caller frees. */
static char *some_round_of(const WsNode *loop)
{
    const WsExpr *count = ws_node_expr(loop, WS_F_count);
    if (!count || count->op == WS_EXPR_INT)
        return NULL;
    g_autofree char *whole = ws_expr_print(count);
    const gboolean up = count->op == WS_EXPR_CALL && g_str_has_prefix(whole, "cdiv(");
    g_autofree char *text = ws_expr_print(up ? count->arg[0] : count);
    return g_strdup_printf("%s >= 1", text);
}

/* Behind a loop without a round nothing has been assigned, and no use has gone by. The kernel is
 * for fewer sizes then: it is offered. */
void ws_fix_some_round(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    for (gint i = 0; i < F->at; i++) {
        const WsSpot *s = ws_spot(F, i);
        g_autofree char *condition = s->node->kind == WS_STEP_FOR &&
                                             s->group == ws_spot(F, F->at)->group &&
                                             !ws_spot_inside(F, F->at, i)
                                         ? some_round_of(s->node)
                                         : NULL;
        if (!condition)
            continue;
        WsJson *assume =
            ws_node_has(root, WS_F_assume) ? ws_json_of_field(root, WS_F_assume) : ws_json_list();
        ws_json_add(assume, ws_json_text(condition));
        WsFix *fix = ws_fixer_add(F, "Assume %s", condition);
        ws_fix_set(fix, root, WS_F_assume, assume);
    }
}
