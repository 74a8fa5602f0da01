#include "program/elaborate/elab.h"
#include "program/elaborate/stages/stages.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* for, if, let, advance, mark, stage. */

static WsElabSymbol *loop_symbol(WsStepState *S, const char *name)
{
    WsElab *E = S->E;
    WsElabSymbol *symbol = g_hash_table_lookup(E->agent->names, name);
    if (symbol && symbol->kind == WS_SYMBOL_LOOP) {
        if (symbol->loop_index)
            ws_elab_error(E, WS_RULE_N_SHADOW, S->id, "Rename one of them.",
                          "the loop %s is inside another loop %s", name, name);
        return symbol;
    }
    symbol = ws_elab_declare(E, E->agent->names, WS_SYMBOL_LOOP, name, S->id);
    symbol->var = ws_elab_var(E, WS_VAR_INDEX, name, (gint)E->agent->index);
    g_autofree char *total = g_strdup_printf("%s.total", name);
    symbol->total_var = ws_elab_var(E, WS_VAR_TOTAL, total, (gint)E->agent->index);
    symbol->loop_total = ws_elab_var_expr(E, symbol->total_var);
    return symbol;
}

static WsExpr *field_or(WsStepState *S, WsFieldId field, gint64 otherwise)
{
    if (!ws_node_has(S->node, field))
        return ws_elab_int(S->E, otherwise);
    return ws_elab_resolve(S->E, ws_elab_field_expr(S->E, S->node, field), 0, S->id);
}

static void unroll(WsStepState *S, WsTree *loop)
{
    WsElab *E = S->E;
    if (!ws_node_has(S->node, WS_F_unroll))
        return;
    gint64 count;
    if (ws_elab_field_is(E, S->node, WS_F_unroll, "full")) {
        loop->unroll = -1;
        if (!ws_elab_is_int(loop->count, &count))
            ws_elab_error(E, WS_RULE_T_CONST, S->id, "Use constants for `count`.",
                          "a fully unrolled loop needs a constant count");
        else if (count > 256)
            ws_elab_error(E, WS_RULE_T_RANGE, S->id, NULL,
                          "a fully unrolled loop of %" G_GINT64_FORMAT " rounds is too long",
                          count);
        return;
    }
    gint64 n =
        ws_elab_constant_in(E, ws_elab_field_expr(E, S->node, WS_F_unroll), 1, 64, "unroll", S->id);
    loop->unroll = n > 1 ? (gint)n : 0;
}

/* What is behind a place of the loop is greater: cuts and rounds run early are told by comparing.
 */
static gboolean ascends(const WsTree *loop)
{
    gint64 step;
    return ws_elab_is_int(loop->step_by, &step) && step >= 1;
}

static void cuts(WsStepState *S, WsTree *loop)
{
    WsElab *E = S->E;
    guint n = ws_elab_field_count(S->node, WS_F_split);
    if (n && !ascends(loop))
        ws_elab_error(E, WS_RULE_T_CONST, S->id, "Use a constant for `step`.",
                      "`split` needs a constant `step` of at least 1");
    loop->cut = ws_arena_new0(E->arena, WsExpr *, n);
    gint64 before = G_MININT64, value;
    for (guint i = 0; i < n; i++) {
        WsExpr *cut = ws_elab_resolve(
            E, ws_elab_value_expr(E, ws_elab_field_item(S->node, WS_F_split, i)), 0, S->id);
        if (ws_elab_is_int(cut, &value)) {
            if (value < before)
                ws_elab_error(E, WS_RULE_T_RANGE, S->id, NULL, "the cuts of `split` must ascend");
            before = value;
        }
        loop->cut[loop->n_cuts++] = cut;
    }
}

/* Runs of `ahead` steps of rounds 0, 1, … before the loop (LANGUAGE section 11.5). */
static void prologue(WsStepState *S, WsPeel *peel, gint64 n_max, const char *path)
{
    WsElab *E = S->E;
    gint64 count;
    gboolean known = ws_elab_is_int(peel->count, &count);
    for (gint64 r = 0; r < n_max && !ws_elab_stop(E); r++) {
        WsTree *to = S->seq;
        if (known && r >= count)
            break;
        if (!known) {
            WsTree *branch = ws_tree_new(E, WS_TREE_BRANCH, S->id);
            branch->cond = ws_elab_op_int(E, WS_EXPR_GT, peel->count, r, S->id);
            ws_tree_add(E, S->seq, branch);
            to = ws_tree_new(E, WS_TREE_SEQ, S->id);
            ws_tree_add(E, branch, to);
            ws_tree_add(E, branch, NULL);
        }
        WsPeel round = *peel;
        round.round = r;
        round.base_index = ws_elab_op(E, WS_EXPR_ADD, peel->from,
                                      ws_elab_op_int(E, WS_EXPR_MUL, peel->step, r, S->id), S->id);
        round.base_total = ws_elab_op_int(E, WS_EXPR_ADD, peel->loop->loop_total, r, S->id);
        WsExpr *total = peel->loop->loop_total;
        ws_elab_list_round(E, S->node, WS_F_do, path, to, &round);
        peel->loop->loop_index = NULL;
        peel->loop->loop_total = total;
    }
}

static gint64 largest_ahead(WsStepState *S)
{
    gint64 n = 0;
    for (guint i = 0; i < ws_node_n_children(S->node, WS_F_do); i++)
        n = MAX(n, ws_elab_ahead(S->E, ws_node_child(S->node, WS_F_do, i), S->id));
    return n;
}

static void loop_over_tiles(WsStepState *S, WsTree *loop)
{
    WsElab *E = S->E;
    gint64 from = 0, step = 1;
    loop->over = WS_OVER_TILES;
    if (E->agent->tile_depth > 0)
        ws_elab_error(E, WS_RULE_T_KIND, S->id, NULL, "a loop over tiles is inside another one");
    if (ws_node_has(S->node, WS_F_count))
        ws_elab_error(E, WS_RULE_T_KIND, S->id, NULL, "a loop has `count` or `over`, not both");
    if (!ws_elab_is_int(loop->from, &from) || !ws_elab_is_int(loop->step_by, &step) || from < 0 ||
        step < 1)
        ws_elab_error(E, WS_RULE_T_CONST, S->id, NULL,
                      "`from` and `step` of a loop over tiles use constants and replica only");
    E->agent->tile_depth++;
    E->agent->strided_depth += step > 1;
}

void ws_step_FOR(WsStepState *S)
{
    WsElab *E = S->E;
    WsElabAgent *A = E->agent;
    WsElabSymbol *symbol = loop_symbol(S, ws_elab_field_name(E, S->node, WS_F_keyword));
    WsTree *loop = ws_tree_new(E, WS_TREE_LOOP, S->id);
    loop->name = (char *)symbol->name;
    loop->index_var = symbol->var;
    loop->total_var = symbol->total_var;
    loop->from = field_or(S, WS_F_from, 0);
    loop->step_by = field_or(S, WS_F_step, 1);
    guint tile_depth = A->tile_depth, strided = A->strided_depth;
    gint pipe = -1;
    if (ws_elab_field_is(E, S->node, WS_F_over, "tiles"))
        loop_over_tiles(S, loop);
    else if (ws_node_has(S->node, WS_F_over))
        pipe = ws_pipe_loop(S, symbol, loop);
    else if (ws_node_has(S->node, WS_F_count))
        loop->count = field_or(S, WS_F_count, 0);
    else
        ws_elab_error(E, WS_RULE_T_KIND, S->id, NULL, "a loop needs `count` or `over`");
    const gboolean counted =
        !ws_node_has(S->node, WS_F_over) || ws_elab_field_is(E, S->node, WS_F_over, "tiles");
    if (counted && ws_node_has(S->node, WS_F_use))
        ws_elab_error(E, WS_RULE_S_KEY, S->id, "Remove it.", "`use` belongs to a loop over a pipe");
    unroll(S, loop);
    cuts(S, loop);
    symbol->fixed = loop->count && ws_elab_is_int(loop->count, &symbol->count) &&
                    ws_elab_is_int(loop->from, &symbol->from) &&
                    ws_elab_is_int(loop->step_by, &symbol->step);
    symbol->full = loop->unroll < 0;
    const char *path = ws_arena_printf(E->arena, "%s/do", S->path);
    gint64 n_max = pipe >= 0 ? 0 : largest_ahead(S); /* nobody knows the rounds that come */
    WsPeel peel = {
        .loop = symbol, .round = -1, .from = loop->from, .step = loop->step_by, .count = loop->count
    };
    if (n_max > 0 && !loop->count) {
        ws_elab_note(E, WS_RULE_L_AHEAD, S->id, NULL, "`ahead` belongs in a counted loop");
        n_max = 0;
    }
    if (n_max > 0 && !ascends(loop))
        ws_elab_error(E, WS_RULE_T_CONST, S->id, "Use a constant for `step`.",
                      "`ahead` needs a constant `step` of at least 1");
    if (n_max > 0)
        prologue(S, &peel, n_max, path);
    ws_stage_enter(S, path);
    ws_tree_add(E, S->seq, loop);
    WsTree *body = ws_tree_new(E, WS_TREE_SEQ, S->id);
    ws_tree_add(E, loop, body);
    WsExpr *total = symbol->loop_total;
    const guint made = E->ops->len;
    peel.base_index = symbol->loop_index = ws_elab_var_expr(E, symbol->var);
    peel.base_total = total;
    if (++A->nesting > WS_DESIGN_MAX_NESTING)
        ws_elab_error(E, WS_RULE_T_RANGE, S->id, NULL, "bodies nested deeper than %d",
                      WS_DESIGN_MAX_NESTING);
    else if (pipe >= 0)
        ws_pipe_loop_body(S, loop, body, pipe, path);
    else if (n_max > 0)
        ws_elab_list_round(E, S->node, WS_F_do, path, body, &peel);
    else
        ws_elab_list(E, S->node, WS_F_do, path, body);
    A->nesting--;
    /* What runs ahead asks anew whether its round comes: LANGUAGE's count is that of the start. */
    if (n_max > 0 && (ws_elab_changes_within(E, loop->count, made, E->ops->len) ||
                      ws_elab_changes_within(E, loop->from, made, E->ops->len) ||
                      ws_elab_changes_within(E, loop->step_by, made, E->ops->len)))
        ws_elab_note(E, WS_RULE_L_AHEAD, S->id, "Keep the number in a `let` before the loop.",
                     "the rounds of a loop with `ahead` follow a counter that its body changes");
    for (guint i = 0; i < loop->n_cuts; i++)
        if (ws_elab_changes_within(E, loop->cut[i], made, E->ops->len))
            ws_elab_error(E, WS_RULE_T_CONST, S->id, "Keep the number in a `let` before the loop.",
                          "`split` follows a counter that the body of the loop changes");
    symbol->loop_index = NULL;
    symbol->loop_total = total;
    ws_stage_leave(S, path);
    const WsRoundEnd end = { symbol->total_var, E->ops->len };
    g_array_append_val(E->round_ends, end);
    if (pipe >= 0)
        ws_pipe_loop_end(S, pipe);
    A->tile_depth = tile_depth;
    A->strided_depth = strided;
}

void ws_step_IF(WsStepState *S)
{
    WsElab *E = S->E;
    WsExpr *cond = ws_elab_resolve(E, ws_elab_field_expr(E, S->node, WS_F_keyword), 0, S->id);
    const char *then = ws_arena_printf(E->arena, "%s/then", S->path);
    const char *other = ws_arena_printf(E->arena, "%s/else", S->path);
    gint64 value;
    WsElabAgent *A = E->agent;
    if (++A->nesting > WS_DESIGN_MAX_NESTING) {
        ws_elab_error(E, WS_RULE_T_RANGE, S->id, NULL, "bodies nested deeper than %d",
                      WS_DESIGN_MAX_NESTING);
    } else if (ws_elab_is_int(cond, &value)) {
        WsTree *seq = ws_tree_new(E, WS_TREE_SEQ, S->id);
        ws_tree_add(E, S->seq, seq);
        ws_elab_list(E, S->node, value ? WS_F_then : WS_F_else, value ? then : other, seq);
    } else {
        WsTree *branch = ws_tree_new(E, WS_TREE_BRANCH, S->id);
        branch->cond = cond;
        ws_tree_add(E, S->seq, branch);
        WsTree *seq = ws_tree_new(E, WS_TREE_SEQ, S->id);
        ws_tree_add(E, branch, seq);
        guint16 ranks = A->ranks;
        A->ranks &= ws_rank_mask(E, cond, FALSE);
        ws_elab_list(E, S->node, WS_F_then, then, seq);
        seq = NULL;
        if (ws_node_n_children(S->node, WS_F_else))
            seq = ws_tree_new(E, WS_TREE_SEQ, S->id);
        ws_tree_add(E, branch, seq);
        A->ranks = ranks & ws_rank_mask(E, cond, TRUE);
        if (seq)
            ws_elab_list(E, S->node, WS_F_else, other, seq);
        A->ranks = ranks;
    }
    A->nesting--;
}

void ws_step_LET(WsStepState *S)
{
    WsElab *E = S->E;
    const char *name = ws_elab_field_name(E, S->node, WS_F_keyword);
    const WsExpr *be = ws_elab_field_expr(E, S->node, WS_F_be);
    WsExpr *value = ws_elab_resolve(E, be, WS_RESOLVE_TENSOR, S->id);
    WsElabSymbol *symbol = ws_elab_declare(E, NULL, WS_SYMBOL_LET, name, S->id);
    symbol->var = ws_elab_var(E, WS_VAR_LET, name, (gint)E->agent->index);
    symbol->raw = be;
    symbol->shift = S->shift;
    g_ptr_array_add(E->agent->lets, symbol);
    WsOp *op = ws_step_op(S, WS_OP_LET, NULL);
    op->var = symbol->var;
    op->set = value;
    ws_op_label(E, op, "let %s", name);
}

void ws_step_ADVANCE(WsStepState *S)
{
    WsElab *E = S->E;
    const char *name = ws_elab_field_name(E, S->node, WS_F_keyword);
    WsElabSymbol *symbol = ws_elab_find(E, name, WS_SYMBOL_COUNTER, S->id);
    if (!symbol)
        return;
    WsOp *op = ws_step_op(S, WS_OP_ADVANCE, NULL);
    op->var = symbol->var;
    op->set = field_or(S, WS_F_by, 1);
    ws_op_label(E, op, "advance %s", name);
}

void ws_step_MARK(WsStepState *S)
{
    WsElab *E = S->E;
    WsOp *op = ws_step_op(S, WS_OP_MARK, NULL);
    op->text = ws_arena_strdup(E->arena, ws_elab_field_name(E, S->node, WS_F_keyword));
    ws_op_label(E, op, "mark %s", op->text);
}

void ws_step_unsupported(WsStepState *S)
{
    const char *lacks = S->E->hw->lacks[WS_LENS_ELABORATE], *target = S->E->p->target;
    g_autofree char *why = lacks ? ws_phrase(" for %s: %s", target, lacks) : g_strdup("");
    ws_elab_error(S->E, WS_RULE_L_LENS, S->id, NULL,
                  "step %s at %s: not supported by elaboration%s",
                  ws_node_kind_keyword(S->node->kind), S->id, why);
    if (lacks) /* the same would be said of every step */
        S->E->errors = WS_ELAB_MAX_ERRORS;
}

void ws_step_illegal(WsStepState *S)
{
    ws_elab_error(S->E, WS_RULE_L_LENS, S->id, NULL, "step %s at %s: %s has no such step",
                  ws_node_kind_keyword(S->node->kind), S->id, S->E->p->target);
}

void ws_step_PIPELINE_GROUP(WsStepState *S)
{
    ws_elab_note(S->E, WS_RULE_L_HINT, S->id, "Give the loop num_stages, or draw its steps there.",
                 "a pipeline group stands directly in a loop with num_stages");
}

void ws_step_STAGE(WsStepState *S)
{
    WsElab *E = S->E;
    WsTree *seq = ws_tree_new(E, WS_TREE_SEQ, S->id);
    seq->stage = ws_arena_strdup(E->arena, ws_elab_field_name(E, S->node, WS_F_keyword));
    seq->priority = ws_node_int(S->node, WS_F_priority, -1);
    ws_tree_add(E, S->seq, seq);
    ws_elab_list(E, S->node, WS_F_do, ws_arena_printf(E->arena, "%s/do", S->path), seq);
}
