#include "program/elaborate/elab.h"
#include "program/elaborate/queues/queues.h"
#include "program/elaborate/stages/stages.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* Step lists: `when`, `ahead`, muted steps, block scope. */

gint64 ws_elab_ahead(WsElab *E, const WsNode *step, const char *at)
{
    if (!ws_node_has(step, WS_F_ahead) || ws_node_bool(step, WS_F_muted, FALSE))
        return 0;
    return ws_elab_constant_in(E, ws_elab_field_expr(E, step, WS_F_ahead), 0, 64, "ahead", at);
}

guint16 ws_rank_mask(WsElab *E, const WsExpr *cond, gboolean negate)
{
    guint16 mask = 0;
    gint64 value;
    for (guint c = 0; c < E->p->cluster; c++)
        if (!ws_elab_at_rank(E, cond, c, &value) || (value != 0) != negate)
            mask |= (guint16)(1u << c);
    return mask;
}

/* A branch around a step; operations go to the sequence that is returned. */
static WsTree *branch(WsElab *E, WsTree *seq, WsExpr *cond, const char *id)
{
    WsTree *tree = ws_tree_new(E, WS_TREE_BRANCH, id);
    WsTree *then = ws_tree_new(E, WS_TREE_SEQ, id);
    tree->cond = cond;
    ws_tree_add(E, seq, tree);
    ws_tree_add(E, tree, then);
    ws_tree_add(E, tree, NULL);
    return then;
}

/* What index and total stand for at the round that a step is run in. */
static void set_round(WsElab *E, const WsPeel *peel, gint64 shift, const char *at)
{
    WsExpr *ahead = ws_elab_op_int(E, WS_EXPR_MUL, peel->step, shift, at);
    peel->loop->loop_index = ws_elab_op(E, WS_EXPR_ADD, peel->base_index, ahead, at);
    peel->loop->loop_total = ws_elab_op_int(E, WS_EXPR_ADD, peel->base_total, shift, at);
}

/* TRUE while the round that runs ahead is not past the last one: index < from + step*count. */
static WsExpr *not_past(WsElab *E, const WsPeel *peel, const char *at)
{
    WsExpr *length = ws_elab_op(E, WS_EXPR_MUL, peel->step, peel->count, at);
    return ws_elab_op(E, WS_EXPR_LT, peel->loop->loop_index,
                      ws_elab_op(E, WS_EXPR_ADD, peel->from, length, at), at);
}

static void lets_for_round(WsElab *E, const WsList *list, gint64 shift)
{
    GPtrArray *lets = E->agent->lets;
    for (guint i = list->first_let; i < lets->len; i++) {
        WsElabSymbol *let = g_ptr_array_index(lets, i);
        let->be = let->shift == shift ? NULL : let->raw;
    }
}

/* A `let` that does not run in this prologue round can still be named: it is computed in place. */
static void declare_let(WsElab *E, const WsNode *node, const char *id)
{
    WsElabSymbol *symbol =
        ws_elab_declare(E, NULL, WS_SYMBOL_LET, ws_elab_field_name(E, node, WS_F_keyword), id);
    symbol->raw = symbol->be = ws_elab_field_expr(E, node, WS_F_be);
    symbol->shift = -1;
    g_ptr_array_add(E->agent->lets, symbol);
}

static void elaborate_step(WsElab *E, WsList *list, const WsNode *node, const char *path,
                           WsTree *seq, const WsPeel *peel)
{
    const char *own = ws_node_text(node, WS_F_id);
    const char *id = own ? ws_arena_strdup(E->arena, own) : path;
    WsStepState S = { .E = E, .list = list, .node = node, .id = id, .path = path, .seq = seq };
    gint64 ahead = ws_elab_ahead(E, node, id), value;
    if (!ws_queue_takes(E, node, id))
        return;
    if (!peel && ahead > 0)
        ws_elab_note(E, WS_RULE_L_AHEAD, id, NULL,
                     "`ahead` belongs on a step directly in the `do` of a counted loop");
    if (peel) {
        S.shift = peel->round >= 0 ? 0 : ahead;
        if (peel->round >= 0 && ahead <= peel->round) {
            if (node->kind == WS_STEP_LET)
                declare_let(E, node, id);
            return;
        }
        set_round(E, peel, S.shift, id);
        lets_for_round(E, list, S.shift);
    }
    guint16 ranks = E->agent->ranks;
    if (peel && peel->round < 0 && ahead > 0)
        S.when = not_past(E, peel, id);
    if (ws_node_has(node, WS_F_when)) {
        WsExpr *when = ws_elab_resolve(E, ws_elab_field_expr(E, node, WS_F_when), 0, id);
        S.when = S.when ? ws_elab_op(E, WS_EXPR_AND, S.when, when, id) : when;
    }
    if (S.when && ws_elab_is_int(S.when, &value)) {
        if (!value)
            return;
        S.when = NULL;
    }
    if (ws_node_has(node, WS_F_use) && node->kind != WS_STEP_FOR) /* of its total: ws_pipe_loop */
        S.use = ws_elab_resolve(E, ws_elab_field_expr(E, node, WS_F_use), 0, id);
    if (S.when && node->kind != WS_STEP_LET) {
        S.seq = branch(E, seq, S.when, id);
        E->agent->ranks &= ws_rank_mask(E, S.when, FALSE);
    }
    const gboolean control = node->kind == WS_STEP_FOR || node->kind == WS_STEP_IF ||
                             node->kind == WS_STEP_LET || node->kind == WS_STEP_ADVANCE;
    if (!ws_target_has_step(E->hw, ws_node_kind_keyword(node->kind)))
        ws_step_illegal(&S);
    else if (E->hw->lacks[WS_LENS_ELABORATE] && !control)
        ws_step_unsupported(&S);
    else if (ws_step_elaborate[node->kind])
        ws_step_elaborate[node->kind](&S);
    E->agent->ranks = ranks;
}

void ws_elab_list_round(WsElab *E, const WsNode *owner, WsFieldId field, const char *path,
                        WsTree *seq, const WsPeel *peel)
{
    WsList list;
    WsStageRun run;
    if (!ws_stage_run(E, owner, field, path, &run))
        return;
    ws_list_begin(E, &list);
    guint n = ws_node_n_children(owner, field);
    for (guint i = 0; i < n && !ws_elab_stop(E); i++) {
        const WsNode *node = ws_node_child(owner, field, i);
        if (ws_node_bool(node, WS_F_muted, FALSE))
            continue;
        ws_stage_before(E, &list, owner, field, path, i, seq, &run);
        elaborate_step(E, &list, node, ws_arena_printf(E->arena, "%s/%u", path, i), seq, peel);
        ws_stage_after(E, &list, owner, field, path, i, seq, &run);
    }
    ws_stage_end(E, &run);
    ws_list_end(E, &list);
}

void ws_elab_list(WsElab *E, const WsNode *owner, WsFieldId field, const char *path, WsTree *seq)
{
    ws_elab_list_round(E, owner, field, path, seq, NULL);
}
