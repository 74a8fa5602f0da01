#include "program/elaborate/stages/stages.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* Stages, halves and borders (LANGUAGE section 19). The halves run one code; a barrier of the
 * workgroup has no place of its own, so that the upper half, which joins `phase_gap` rounds before
 * its first stage, meets at each border the half that is ahead of it at its next one. What is drawn
 * at a border (a load_wait, a sync) stands before its barrier, or is it. */

static const WsNode *child(const WsNode *owner, WsFieldId field, guint i)
{
    const WsNode *node = ws_node_child(owner, field, i);
    return ws_node_bool(node, WS_F_muted, FALSE) ? NULL : node;
}

static gboolean is(const WsNode *node, WsNodeKind kind)
{
    return node && node->kind == kind;
}

static gboolean waits(const WsNode *node)
{
    return is(node, WS_STEP_LOAD_WAIT) || is(node, WS_STEP_SYNC);
}

/* Scalars may stand between stages; they belong to the one behind them. */
static gboolean scalar(const WsNode *node)
{
    return is(node, WS_STEP_LET) || is(node, WS_STEP_ADVANCE) || is(node, WS_STEP_MARK);
}

static gboolean has_stage(const WsNode *owner, WsFieldId field)
{
    for (guint i = 0; i < ws_node_n_children(owner, field); i++)
        if (is(child(owner, field, i), WS_STEP_STAGE))
            return TRUE;
    return FALSE;
}

/* --- what is no pipeline -------------------------------------------------------------------- */

static gboolean inside(WsElab *E, const WsNode *owner, WsFieldId field, const char *path)
{
    for (guint i = 0; i < ws_node_n_children(owner, field); i++) {
        const WsNode *node = child(owner, field, i);
        const char *at = ws_arena_printf(E->arena, "%s/%u", path, i);
        if (!node)
            continue;
        if (is(node, WS_STEP_FOR)) {
            ws_elab_error(E, WS_RULE_L_STAGE, at,
                          WS_WORD("Put the stages into the body of the loop."),
                          "a loop stands inside a stage");
            return FALSE;
        }
        if (is(node, WS_STEP_STAGE)) {
            ws_elab_error(E, WS_RULE_L_STAGE, at, WS_WORD("Let it follow the stage."),
                          "a stage stands inside a stage");
            return FALSE;
        }
        if (waits(node)) {
            ws_elab_error(E, WS_RULE_L_STAGE, at, WS_WORD("Put it between two stages."),
                          "a %s stands inside a stage", ws_node_kind_keyword(node->kind));
            return FALSE;
        }
        if (is(node, WS_STEP_RAW)) {
            ws_elab_error(E, WS_RULE_L_LENS, at, NULL,
                          "a raw step inside a stage: whether it joins barriers is not known");
            return FALSE;
        }
        if (!inside(E, node, WS_F_then, ws_arena_printf(E->arena, "%s/then", at)) ||
            !inside(E, node, WS_F_else, ws_arena_printf(E->arena, "%s/else", at)))
            return FALSE;
    }
    return TRUE;
}

static gboolean stage_legal(WsElab *E, const WsNode *node, const char *at, gboolean first)
{
    const char *remedy = NULL, *what = NULL;
    if (ws_node_has(node, WS_F_when) || ws_node_has(node, WS_F_ahead))
        what = WS_WORD("a stage, and what stands between two, happens in every round: it has no "
                       "`when` and no `ahead`");
    else if (!first && ws_node_has(node, WS_F_phase_gap))
        what = WS_WORD("`phase_gap` stands on a stage that is not the first"),
        remedy = WS_WORD("Put it on the first stage.");
    if (what)
        ws_elab_error(E, WS_RULE_L_STAGE, at, remedy, "%s", what);
    return !what && inside(E, node, WS_F_do, ws_arena_printf(E->arena, "%s/do", at));
}

/* One run of stages from `first` on; where it is not the body of a loop it ends at the last stage
 * that only waits and scalars part from the one before. */
static gboolean run_legal(WsElab *E, const WsNode *owner, WsFieldId field, const char *path,
                          guint from, WsStageRun *run)
{
    const guint count = ws_node_n_children(owner, field);
    const char *second = path; /* of two where one may stand */
    guint maybe = 0;           /* 1 + a wait with a condition, which is none of a border */
    guint between = 0;
    gboolean bottom = FALSE;
    run->n = 0;
    run->priority = FALSE;
    run->gap = 1;
    for (guint i = from; i < count; i++) {
        const WsNode *node = child(owner, field, i);
        const char *at = ws_arena_printf(E->arena, "%s/%u", path, i);
        if (node && run->loop && ws_node_has(node, WS_F_ahead)) {
            stage_legal(E, node, at, FALSE);
            return FALSE;
        }
        if (!node || scalar(node))
            continue;
        if (waits(node)) {
            if (++between == 2)
                second = at;
            if (ws_node_has(node, WS_F_when) || ws_node_has(node, WS_F_ahead))
                maybe = i + 1;
            if (!run->loop)
                continue;
            bottom = run->n > 0;
            run->top |= run->n == 0;
            if (maybe) {
                stage_legal(E, node, at, FALSE);
                return FALSE;
            }
        } else if (is(node, WS_STEP_STAGE)) {
            if (between > 1)
                break;
            if (maybe && run->n > 0) {
                stage_legal(E, child(owner, field, maybe - 1),
                            ws_arena_printf(E->arena, "%s/%u", path, maybe - 1), FALSE);
                return FALSE;
            }
            if (!stage_legal(E, node, at, run->n == 0))
                return FALSE;
            if (run->n == 0)
                run->first = i, run->gap = (guint)ws_node_int(node, WS_F_phase_gap, 1);
            run->priority |= ws_node_has(node, WS_F_priority);
            run->last = i;
            run->n++;
            between = maybe = 0;
            bottom = FALSE;
        } else if (run->loop) {
            ws_elab_error(E, WS_RULE_L_STAGE, at, WS_WORD("Put it into one of the stages."),
                          "a %s stands beside the stages of a loop; there may be stages, and one "
                          "load_wait or sync between two of them",
                          ws_node_kind_keyword(node->kind));
            return FALSE;
        } else {
            between = 0;
            break;
        }
    }
    if (between > 1 && (run->loop || run->last + 1 < count)) {
        gboolean more = run->loop;
        for (guint i = run->last + 1; i < count && !more; i++) {
            const WsNode *node = child(owner, field, i);
            more = is(node, WS_STEP_STAGE);
            if (node && !more && !waits(node) && !scalar(node))
                break;
        }
        if (more) {
            ws_elab_error(E, WS_RULE_L_STAGE, second,
                          WS_WORD("Draw an empty stage between them, or drop one."),
                          "more than one load_wait or sync stands at a border");
            return FALSE;
        }
    }
    if (run->top && bottom) {
        ws_elab_error(E, WS_RULE_L_STAGE, path, WS_WORD("Keep one of them."),
                      "a load_wait or sync stands before the first stage of a loop and another "
                      "after the last one: they are one border");
        return FALSE;
    }
    if (run->n < 2) {
        ws_elab_error(E, WS_RULE_L_STAGE, path, WS_WORD("Draw two stages or more."),
                      "one stage alone is no pipeline");
        return FALSE;
    }
    return TRUE;
}

gboolean ws_stage_run(WsElab *E, const WsNode *owner, WsFieldId field, const char *path,
                      WsStageRun *run)
{
    *run = (WsStageRun){ 0 };
    if (!has_stage(owner, field) || !ws_halves(E)) /* without halves the step itself is refused */
        return TRUE;
    if (E->errors) /* said before */
        return FALSE;
    run->staged = TRUE;
    run->ended = E->ops->len;
    run->loop = owner->kind == WS_STEP_FOR;
    if (!run->loop && owner->kind != WS_NODE_GROUP) {
        ws_elab_error(E, WS_RULE_L_STAGE, path,
                      WS_WORD("Put the stages into the body of a loop, or of the group."),
                      "stages stand in a branch");
        return FALSE;
    }
    guint i = 0;
    while (!run->loop && !is(child(owner, field, i), WS_STEP_STAGE))
        i++;
    return run_legal(E, owner, field, path, i, run);
}

/* --- borders --------------------------------------------------------------------------------- */

static WsStepState at_stage(WsElab *E, WsList *list, const WsNode *node, const char *path, guint i,
                            WsTree *seq)
{
    const char *at = ws_arena_printf(E->arena, "%s/%u", path, i),
               *own = ws_node_text(node, WS_F_id);
    return (WsStepState){ .E = E,
                          .list = list,
                          .node = node,
                          .id = own ? ws_arena_strdup(E->arena, own) : at,
                          .path = at,
                          .seq = seq };
}

static WsOp *join(WsStepState *S, const char *suffix, WsBorder border, const char *label)
{
    WsOp *op = ws_step_op(S, WS_OP_BAR_SYNC, suffix);
    op->barrier = S->E->cta_barrier;
    op->element = ws_elab_int(S->E, 0);
    op->border = border;
    ws_op_label(S->E, op, "%s", label);
    return op;
}

static void priority(WsStepState *S, gint64 n)
{
    WsOp *op = ws_step_op(S, WS_OP_PRIORITY, "priority");
    op->n = n;
    ws_op_label(S->E, op, "priority %" G_GINT64_FORMAT, n);
}

/* LDS operations of the half's waves may be on their way from the last barrier that waited for them
 * on: the border waits (lgkmcnt(0)) before it joins. */
static gboolean drains(WsElab *E, guint made)
{
    for (guint i = E->ops->len; i > made; i--) {
        const WsOp *op = g_ptr_array_index(E->ops, i - 1);
        if (op->agent != (gint)E->agent->index)
            continue;
        if (op->engine == WS_ENGINE_NONE && op->n_access > 0)
            return TRUE;
    }
    return FALSE;
}

static WsStageMade *last_made(WsStageRun *run)
{
    return run->made && run->made->len ? &g_array_index(run->made, WsStageMade, run->made->len - 1)
                                       : NULL;
}

static void border(WsElab *E, WsStepState *S, WsStageRun *run)
{
    /* What stands at the top of a loop ends the last stage of the round before. */
    const WsBorder kind = run->top || drains(E, run->ended) ? WS_BORDER_LOCAL : WS_BORDER_PLAIN;
    WsOp *op = join(
        S, "border", kind,
        ws_arena_printf(E->arena, "border of %s", ws_elab_field_name(E, S->node, WS_F_keyword)));
    if (last_made(run))
        last_made(run)->border = op;
    run->ended = E->ops->len;
    run->waited = FALSE;
}

static void prelude(WsStepState *S, const WsStageRun *run, const WsNode *first)
{
    join(S, "prelude", WS_BORDER_LOCAL, "stages begin");
    for (guint i = 0; S->E->agent->out->half == 1 && i < run->gap; i++)
        join(S, "phase", WS_BORDER_PLAIN, "one stage later");
    if (run->priority)
        priority(S, ws_node_int(first, WS_F_priority, 0));
}

static void postlude(WsStepState *S, const WsStageRun *run)
{
    if (run->top) /* the last round's own border stands at the top of one that does not come */
        join(S, "last", WS_BORDER_LOCAL, "border of the last round");
    if (run->priority)
        priority(S, 0);
    for (guint i = 0; S->E->agent->out->half == 0 && i < run->gap; i++)
        join(S, "phase", WS_BORDER_PLAIN, "one stage sooner");
}

void ws_stage_enter(WsStepState *S, const char *path)
{
    WsStageRun run;
    if (ws_stage_run(S->E, S->node, WS_F_do, path, &run) && run.staged)
        prelude(S, &run, child(S->node, WS_F_do, run.first));
}

void ws_stage_leave(WsStepState *S, const char *path)
{
    WsStageRun run;
    if (ws_stage_run(S->E, S->node, WS_F_do, path, &run) && run.staged)
        postlude(S, &run);
}

/* The stage of the run that comes next behind step i; the count of steps if none does. */
static guint next_stage(const WsNode *owner, WsFieldId field, const WsStageRun *run, guint i)
{
    for (guint k = i + 1; k <= run->last; k++)
        if (is(child(owner, field, k), WS_STEP_STAGE))
            return k;
    return ws_node_n_children(owner, field);
}

static void give_priority(WsElab *E, WsStepState *S, const WsNode *owner, WsFieldId field,
                          const WsStageRun *run, guint i)
{
    guint next = next_stage(owner, field, run, i);
    if (next == ws_node_n_children(owner, field))
        next = run->first;
    if (run->priority && !ws_elab_stop(E))
        priority(S, ws_node_int(child(owner, field, next), WS_F_priority, 0));
}

void ws_stage_before(WsElab *E, WsList *list, const WsNode *owner, WsFieldId field,
                     const char *path, guint i, WsTree *seq, WsStageRun *run)
{
    const WsNode *node = child(owner, field, i);
    if (!run->staged || !is(node, WS_STEP_STAGE))
        return;
    if (!run->loop && i > run->last) { /* another run of stages in the body of the group */
        ws_stage_end(E, run);
        *run = (WsStageRun){ .staged = TRUE, .ended = E->ops->len };
        if (!run_legal(E, owner, field, path, i, run))
            return;
    }
    WsStepState S = at_stage(E, list, node, path, i, seq);
    if (i == run->first && !run->loop) {
        prelude(&S, run, node);
        run->ended = E->ops->len;
    } else if (i == run->first && run->top) {
        if (!run->waited)
            border(E, &S, run);
    }
    run->waited = FALSE;
    run->at = i;
    if (!run->made)
        run->made = g_array_new(FALSE, TRUE, sizeof(WsStageMade));
    const WsStageMade begun = { .from = E->ops->len };
    g_array_append_val(run->made, begun);
}

void ws_stage_end(WsElab *E, WsStageRun *run)
{
    if (!run->made)
        return;
    if (!E->errors)
        ws_stage_lowering(E, run);
    g_clear_pointer(&run->made, g_array_unref);
}

static gboolean touches(const WsElab *E, guint made)
{
    for (guint i = made; i < E->ops->len; i++) {
        const WsOp *op = g_ptr_array_index(E->ops, i);
        if (op->n_access > 0 || op->n_value > 0 || op->n_math > 0 || op->tensor >= 0)
            return TRUE;
    }
    return FALSE;
}

/* At the step behind which the border of stage `run->at` is complete: the last wait before the next
 * stage or the end of the loop. */
void ws_stage_after(WsElab *E, WsList *list, const WsNode *owner, WsFieldId field, const char *path,
                    guint i, WsTree *seq, WsStageRun *run)
{
    const WsNode *node = child(owner, field, i);
    if (!run->staged || !node || E->errors || (!run->loop && (i < run->first || i > run->last)))
        return;
    const guint count = ws_node_n_children(owner, field);
    if (last_made(run) && waits(node))
        last_made(run)->drawn = TRUE;
    if (is(node, WS_STEP_STAGE)) {
        last_made(run)->to = E->ops->len;
        if (ws_node_n_children(node, WS_F_do) > 0 && !touches(E, run->ended) &&
            E->agent->out->half == 0) {
            WsStepState S = at_stage(E, list, node, path, i, seq);
            ws_elab_note(E, WS_RULE_L_TURN, S.id, NULL,
                         "stage %s holds no work on memory, matrix units or values",
                         ws_elab_field_name(E, node, WS_F_keyword));
        }
    } else if (is(node, WS_STEP_SYNC)) {
        WsOp *op = g_ptr_array_index(E->ops, E->ops->len - 1);
        op->border = WS_BORDER_LOCAL;
        if (last_made(run))
            last_made(run)->border = op;
        run->waited = TRUE;
        run->ended = E->ops->len;
    }
    /* does something of this border still come? */
    for (guint k = i + 1; k < count; k++) {
        const WsNode *then = child(owner, field, k);
        if (waits(then) && (run->loop || k <= run->last))
            return;
        if (is(then, WS_STEP_STAGE))
            break;
    }
    const gboolean begun = i >= run->first, ends = next_stage(owner, field, run, i) == count;
    if (scalar(node) || (!begun && !waits(node)))
        return;
    const WsNode *stage = child(owner, field, begun ? run->at : run->first);
    WsStepState S = at_stage(E, list, stage, path, begun ? run->at : run->first, seq);
    if (!begun) { /* drawn at the top */
        if (!run->waited)
            border(E, &S, run);
        run->waited = TRUE;
        return;
    }
    if (ends && !run->loop) {
        ws_stage_end(E, run);
        postlude(&S, run);
        return;
    }
    give_priority(E, &S, owner, field, run, i);
    if (!run->waited && !(ends && run->top))
        border(E, &S, run);
    run->waited = FALSE;
}
