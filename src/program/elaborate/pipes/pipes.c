#include "program/elaborate/elab.h"
#include "program/op.h"
#include "program/parts/buffer.h"
#include "program/parts/pipe.h"
#include "program/program.h"

#include <string.h>

/* Pipes (LANGUAGE section 15): every pipe step becomes waits, arrivals and expects on two derived
 * mbarriers. */

static WsPipeBuild *pipe_at(WsElab *E, gint pipe)
{
    return &g_array_index(E->pipes, WsPipeBuild, pipe);
}

gint ws_pipe_named(WsElab *E, const char *name)
{
    WsElabSymbol *symbol = ws_elab_lookup(E, name);
    return symbol && symbol->kind == WS_SYMBOL_PIPE && symbol->index < E->pipes->len
               ? (gint)symbol->index
               : -1;
}

/* Which steps read the fields through the generic proxy, anywhere in the design; and `expect`
 * steps. */
static void scan(WsElab *E, guint group, const WsNode *owner, WsFieldId field)
{
    for (guint i = 0; i < ws_node_n_children(owner, field); i++) {
        const WsNode *step = ws_node_child(owner, field, i);
        if (ws_node_bool(step, WS_F_muted, FALSE))
            continue;
        for (guint k = 0; k < E->pipes->len; k++) {
            WsPipeBuild *p = pipe_at(E, (gint)k);
            if (step->kind == WS_STEP_READ &&
                ws_pipe_has_field(p, E, ws_elab_field_ref(E, step, WS_F_from)))
                p->generic_readers = TRUE;
            ws_window_fills(E, p, step);
            if (step->kind == WS_STEP_ACQUIRE &&
                ws_elab_field_is(E, step, WS_F_keyword, ws_node_name(p->node))) {
                if (p->writer && p->writer != group + 1)
                    ws_elab_note(E, WS_RULE_L_PIPE,
                                 ws_arena_printf(E->arena, "pipes/%s", ws_node_name(p->node)), NULL,
                                 "pipe %s has two writers", ws_node_name(p->node));
                p->writer = group + 1;
            }
        }
        if (step->kind == WS_STEP_EXPECT) {
            const char *name = ws_elab_field_name(E, step, WS_F_keyword);
            WsElabSymbol *symbol = name ? g_hash_table_lookup(E->names, name) : NULL;
            if (symbol && symbol->kind == WS_SYMBOL_BARRIER && symbol->index < E->barriers->len)
                E->drawn_expect[symbol->index] = TRUE;
        }
        scan(E, group, step, WS_F_do);
        scan(E, group, step, WS_F_then);
        scan(E, group, step, WS_F_else);
    }
}

void ws_elab_pipes(WsElab *E)
{
    guint n = ws_node_n_children(E->root, WS_F_pipes);
    E->drawn_expect = ws_arena_new0(E->arena, gboolean, E->barriers->len + 1);
    for (guint i = 0; i < n && !ws_elab_stop(E); i++) {
        const WsNode *node = ws_node_child(E->root, WS_F_pipes, i);
        WsPipeBuild p = { .node = node, .capacity = 1, .empty = -1, .told = -1 };
        const char *at = ws_arena_printf(E->arena, "pipes/%s", ws_node_name(node));
        if (ws_node_has(node, WS_F_capacity))
            p.capacity = ws_elab_constant_in(E, ws_elab_field_expr(E, node, WS_F_capacity), 1, 4096,
                                             "capacity", at);
        p.one_shot = ws_node_bool(node, WS_F_one_shot, FALSE);
        guint count = ws_elab_field_count(node, WS_F_fields);
        p.field = ws_arena_new0(E->arena, guint, count);
        for (guint k = 0; k < count; k++) {
            const WsValue *v = ws_elab_field_item(node, WS_F_fields, k);
            WsElabSymbol *symbol =
                ws_elab_find(E, v->kind == WS_VALUE_TEXT ? v->text : "", WS_SYMBOL_BUFFER, at);
            if (!symbol || symbol->index >= E->buffers->len)
                continue;
            if (ws_pipe_of(E, symbol->index) >= 0)
                ws_elab_note(E, WS_RULE_L_PIPE, at, NULL, "buffer %s is a field of two pipes",
                             symbol->name);
            WsBuffer *b = &g_array_index(E->buffers, WsBuffer, symbol->index);
            const WsNode *buffer = g_ptr_array_index(E->buffer_node, symbol->index);
            if (buffer && ws_node_has(buffer, WS_F_stages) && b->stages != p.capacity)
                ws_elab_note(E, WS_RULE_L_PIPE, at, "Drop its `stages`.",
                             "buffer %s has %u stages, but the pipe holds %" G_GINT64_FORMAT,
                             b->name, b->stages, p.capacity);
            ws_buffer_set_stages(b, (guint)p.capacity);
            p.field[p.n_fields++] = symbol->index;
        }
        g_autofree char *full = g_strdup_printf("%s.full", ws_node_name(node));
        g_autofree char *empty = g_strdup_printf("%s.empty", ws_node_name(node));
        p.full = ws_barrier_derived(E, full, at, WS_BARRIER_MBARRIER, (guint)p.capacity, FALSE);
        if (!p.one_shot)
            p.empty =
                ws_barrier_derived(E, empty, at, WS_BARRIER_MBARRIER, (guint)p.capacity, TRUE);
        if (ws_stream_closes(E, ws_node_name(node))) {
            p.told = (gint)ws_stream_buffer(E, ws_node_name(node), (guint)p.capacity);
            p.generic_readers = TRUE; /* of what a slot says of itself */
        }
        g_array_append_val(E->pipes, p);
    }
    for (guint g = 0; g < ws_node_n_children(E->root, WS_F_groups); g++)
        scan(E, g, ws_node_child(E->root, WS_F_groups, g), WS_F_body);
    for (guint i = 0; i < E->pipes->len; i++)
        if (pipe_at(E, (gint)i)->told >= 0)
            ws_stream_judge(E, pipe_at(E, (gint)i));
}

/* --- the program's pipes ------------------------------------------------------------------------
 */

/* The writer fills it; readers wait for it. */
static void agents_of(const WsProgram *p, WsPipe *pipe)
{
    pipe->writer = -1;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        gboolean known = FALSE;
        if (op->agent < 0 || op->barrier < 0 || op->barrier != pipe->full)
            continue;
        for (guint k = 0; k < pipe->n_readers; k++)
            known = known || pipe->reader[k] == (guint)op->agent;
        if (!ws_op_waits(op->kind))
            pipe->writer = op->agent;
        else if (!known)
            pipe->reader[pipe->n_readers++] = (guint)op->agent;
    }
}

static void reads_of(WsElab *E, const WsNode *node, WsPipe *pipe)
{
    const WsValue *readers = ws_node_get(node, WS_F_readers);
    if (readers->kind != WS_VALUE_MAP)
        return;
    pipe->reads = ws_arena_new0(E->arena, WsPipeReads, readers->n);
    for (guint i = 0; i < readers->n; i++) {
        WsPipeReads *r = &pipe->reads[pipe->n_reads++];
        r->group = ws_arena_strdup(E->arena, readers->key[i]);
        r->field = ws_arena_new0(E->arena, guint, readers->item[i].n);
        for (guint k = 0; k < readers->item[i].n; k++) {
            const WsElabSymbol *symbol =
                g_hash_table_lookup(E->names, readers->item[i].item[k].text);
            if (symbol && symbol->kind == WS_SYMBOL_BUFFER)
                r->field[r->n_fields++] = symbol->index;
        }
    }
}

void ws_elab_keep_pipes(WsElab *E)
{
    WsProgram *p = E->p;
    p->pipe = ws_arena_new0(E->arena, WsPipe, E->pipes->len);
    for (guint i = 0; i < E->pipes->len; i++) {
        const WsPipeBuild *from = pipe_at(E, (gint)i);
        WsPipe *pipe = &p->pipe[p->n_pipes++];
        *pipe = (WsPipe){ .name = ws_arena_strdup(E->arena, ws_node_name(from->node)),
                          .path = ws_arena_printf(E->arena, "pipes/%s", ws_node_name(from->node)),
                          .capacity = (guint)from->capacity,
                          .one_shot = from->one_shot,
                          .full = from->full,
                          .empty = from->empty,
                          .n_fields = from->n_fields,
                          .told = from->told,
                          .field = from->field };
        pipe->reader = ws_arena_new0(E->arena, guint, p->n_agents);
        agents_of(p, pipe);
        reads_of(E, from->node, pipe);
    }
}

/* --- steps ---------------------------------------------------------------------------------- */

static gint step_pipe(WsStepState *S)
{
    const char *name = ws_elab_field_name(S->E, S->node, WS_F_keyword);
    WsElabSymbol *symbol = ws_elab_find(S->E, name, WS_SYMBOL_PIPE, S->id);
    return symbol && symbol->index < S->E->pipes->len ? (gint)symbol->index : -1;
}

static WsExpr *pipe_use(WsStepState *S, gint pipe)
{
    if (!S->use && !S->E->agent->pipe_use[pipe])
        ws_elab_error(S->E, WS_RULE_T_USE, S->id, "Add \"use\".", "a pipe step needs a `use`");
    return S->use                        ? S->use
           : S->E->agent->pipe_use[pipe] ? S->E->agent->pipe_use[pipe]
                                         : ws_elab_int(S->E, 0);
}

gint ws_pipe_signal(WsStepState *S, guint buffer, WsExpr **use)
{
    gint pipe = ws_pipe_of(S->E, buffer);
    if (pipe < 0)
        return -1;
    if (S->list->window != pipe) {
        ws_elab_note(S->E, WS_RULE_L_PIPE, S->id, "Put it between `acquire` and `commit`.",
                     "%s is a field of a pipe, but no window of it is open in this list",
                     g_array_index(S->E->buffers, WsBuffer, buffer).name);
        return -1;
    }
    *use = S->E->agent->pipe_use[pipe];
    return pipe_at(S->E, pipe)->full;
}

static WsOp *wait_op(WsStepState *S, gint barrier, WsExpr *use, const char *suffix)
{
    WsOp *op = ws_step_op(S, WS_OP_MBAR_WAIT, suffix);
    ws_op_barrier_at(S, op, barrier, ws_elab_int(S->E, 0), use);
    ws_op_label(S->E, op, "wait %s", g_array_index(S->E->barriers, WsBarrier, barrier).name);
    return op;
}

/* What a slot says of itself: another round, or the end. */
static WsOp *told_op(WsStepState *S, WsOpKind kind, const WsPipeBuild *p, WsExpr *use, gint64 n,
                     const char *suffix)
{
    WsElab *E = S->E;
    WsOp *op = ws_step_op(S, kind, suffix);
    WsExpr *none = ws_elab_int(E, 0);
    const WsAccess a = { .buffer = (guint)p->told,
                         .element = none,
                         .use = use,
                         .stage = ws_elab_op_int(E, WS_EXPR_MOD, use, p->capacity, S->id),
                         .row0 = none,
                         .col0 = none,
                         .rows = 1,
                         .cols = 1,
                         .mode = ws_op_tells(kind) ? WS_MODE_WRITE : WS_MODE_READ,
                         .proxy = WS_PROXY_GENERIC };
    op->n = n;
    ws_op_access(E, op, &a);
    ws_op_label(E, op, n ? "%s %s: the end" : "%s %s: a round", ws_op_tells(kind) ? "tell" : "ask",
                ws_node_name(p->node));
    return op;
}

/* Where all threads fill the windows, all wait for the slot: without a step of theirs between the
 * wait and what the leader says, both would be the leader's alone (LANGUAGE section 9). */
static void together(WsStepState *S, const WsPipeBuild *p)
{
    if (!p->written && !p->gathered)
        return;
    WsOp *sync = ws_step_op(S, WS_OP_WARP_SYNC, "together");
    ws_op_label(S->E, sync, "warp sync");
}

void ws_pipe_wait(WsStepState *S, gint pipe)
{
    WsExpr *use = pipe_use(S, pipe);
    S->E->agent->pipe_use[pipe] = use;
    wait_op(S, pipe_at(S->E, pipe)->full, use, NULL);
}

void ws_step_ACQUIRE(WsStepState *S)
{
    gint pipe = step_pipe(S);
    if (pipe < 0)
        return;
    WsPipeBuild *p = pipe_at(S->E, pipe);
    if (S->list->window >= 0)
        ws_elab_note(S->E, WS_RULE_L_PIPE, S->id, "Commit the first one before.",
                     "another pipe is still acquired in this list");
    S->list->window = pipe;
    p->window_writes = FALSE;
    p->window_first = S->list->transactions->len;
    p->window_shift = S->shift;
    S->E->agent->pipe_use[pipe] = pipe_use(S, pipe);
    if (!p->one_shot)
        wait_op(S, p->empty, S->E->agent->pipe_use[pipe], NULL);
    if (p->told >= 0) {
        together(S, p);
        told_op(S, WS_OP_PIPE_TELL, p, S->E->agent->pipe_use[pipe], 0, "tell");
    }
}

static void pipe_arrive(WsStepState *S, gint barrier, WsExpr *use, const char *by, gint64 count)
{
    WsOp *op = ws_step_op(S, WS_OP_MBAR_ARRIVE, NULL);
    ws_op_barrier_at(S, op, barrier, ws_elab_int(S->E, 0), use);
    ws_op_label(S->E, op, "arrive %s", g_array_index(S->E->barriers, WsBarrier, barrier).name);
    ws_arrive_breadth(S, op, by, 0, count);
    ws_arrive_warp_sync(S, op);
}

/* A closed pipe: the window arrives as every other does, and as the close. */
static void commit_told(WsStepState *S, const WsPipeBuild *p, WsExpr *use)
{
    const gboolean expect = ws_window_by_expect(S, p), gathers = ws_window_by_gathers(S, p);
    if (p->written)
        pipe_arrive(S, p->full, use, "warp", 1);
    if ((p->loaded || !p->written) && !expect)
        pipe_arrive(S, p->full, use, NULL, 1); /* hands out what the slot says */
    if (p->gathered && !gathers)
        pipe_arrive(S, p->full, use, "all", 1);
}

void ws_step_COMMIT(WsStepState *S)
{
    gint pipe = step_pipe(S);
    if (pipe < 0)
        return;
    WsPipeBuild *p = pipe_at(S->E, pipe);
    if (S->list->window != pipe)
        ws_elab_note(S->E, WS_RULE_L_PIPE, S->id, "Put an `acquire` earlier in this list.",
                     "this commit has no acquire in its list");
    else
        ws_window_in_step(S, pipe);
    WsExpr *use = pipe_use(S, pipe);
    if (p->told >= 0 && S->list->window == pipe)
        commit_told(S, p, use);
    else if (p->window_writes)
        pipe_arrive(S, p->full, use, "warp", 1);
    S->list->window = -1;
    S->E->agent->pipe_use[pipe] = NULL;
}

void ws_step_RELEASE(WsStepState *S)
{
    gint pipe = step_pipe(S);
    if (pipe < 0)
        return;
    WsPipeBuild *p = pipe_at(S->E, pipe);
    if (!p->one_shot)
        pipe_arrive(S, p->empty, pipe_use(S, pipe), p->generic_readers ? "warp" : NULL, 1);
    S->E->agent->pipe_use[pipe] = NULL;
}

/* It arrives as each commit of the pipe does: whoever has waited for the slot has to, before the
 * next use of it. */
void ws_step_CLOSE(WsStepState *S)
{
    gint pipe = step_pipe(S);
    if (pipe < 0)
        return;
    WsPipeBuild *p = pipe_at(S->E, pipe);
    if (S->list->window >= 0)
        ws_elab_note(S->E, WS_RULE_L_PIPE, S->id, "Commit before.",
                     "a pipe is closed while one is acquired in this list");
    if (p->one_shot)
        ws_elab_note(S->E, WS_RULE_L_PIPE, S->id, "Drop `one_shot`.",
                     "a pipe that is filled once has no slot that says where it ends");
    WsExpr *use = pipe_use(S, pipe);
    if (!p->one_shot)
        wait_op(S, p->empty, use, "free");
    together(S, p);
    if (p->told >= 0)
        told_op(S, WS_OP_PIPE_TELL, p, use, 1, NULL);
    if (p->loaded || !p->written)
        pipe_arrive(S, p->full, use, NULL, 1);
    if (p->written)
        pipe_arrive(S, p->full, use, "warp", 1);
    if (p->gathered)
        pipe_arrive(S, p->full, use, "all", 1);
    S->E->agent->pipe_use[pipe] = NULL;
}

/* --- loops over a pipe --------------------------------------------------------------------------

 * Before the first round and at the end of each one the next slot is waited for. It says whether it
 * is a round: a kernel reads that and knows no number of rounds. The program has both, `count` is
 * what the writer commits, and the check shows that they are one (P-CLOSE). */

gint ws_pipe_loop(WsStepState *S, const WsElabSymbol *symbol, WsTree *loop)
{
    WsElab *E = S->E;
    static const WsFieldId of_counted[] = { WS_F_from, WS_F_step, WS_F_split, WS_F_unroll };
    const char *name = ws_elab_field_name(E, S->node, WS_F_over);
    WsElabSymbol *found = ws_elab_find(E, name ? name : "", WS_SYMBOL_PIPE, S->id);
    loop->count = ws_elab_int(E, 0);
    if (!found || found->index >= E->pipes->len ||
        ws_step_strays(S, "pipe", of_counted, G_N_ELEMENTS(of_counted)))
        return -1;
    WsPipeBuild *p = pipe_at(E, (gint)found->index);
    if (p->told < 0 || p->one_shot) {
        ws_elab_error(E, WS_RULE_L_PIPE, S->id, "Let its writer close it, or give a count.",
                      "a loop over pipe %s ends when its writer closes it, and nobody does", name);
        return -1;
    }
    loop->count = ws_stream_rounds(S, p);
    WsExpr *use = symbol->loop_total;
    if (ws_node_has(S->node, WS_F_use))
        use = ws_elab_resolve(E, ws_elab_field_expr(E, S->node, WS_F_use), 0, S->id);
    E->agent->pipe_use[found->index] = use;
    wait_op(S, p->full, use, "first");
    return (gint)found->index;
}

void ws_pipe_loop_body(WsStepState *S, WsTree *loop, WsTree *body, gint pipe, const char *path)
{
    WsElab *E = S->E;
    WsPipeBuild *p = pipe_at(E, pipe);
    WsElabSymbol *symbol = g_hash_table_lookup(E->agent->names, loop->name);
    WsStepState inner = *S;
    WsExpr *use = E->agent->pipe_use[pipe], *total = symbol->loop_total;
    inner.seq = body;
    loop->ask = told_op(&inner, WS_OP_PIPE_ASK, p, use, 0, "ask");
    ws_elab_list(E, S->node, WS_F_do, path, body);
    symbol->loop_total = ws_elab_op_int(E, WS_EXPR_ADD, total, 1, S->id);
    if (ws_node_has(S->node, WS_F_use))
        use = ws_elab_resolve(E, ws_elab_field_expr(E, S->node, WS_F_use), 0, S->id);
    else
        use = symbol->loop_total;
    wait_op(&inner, p->full, use, "next");
    symbol->loop_total = total;
}

void ws_pipe_loop_end(WsStepState *S, gint pipe)
{
    WsElab *E = S->E;
    WsPipeBuild *p = pipe_at(E, pipe);
    WsElabSymbol *symbol =
        g_hash_table_lookup(E->agent->names, ws_elab_field_name(E, S->node, WS_F_keyword));
    WsExpr *use = symbol->loop_total;
    if (ws_node_has(S->node, WS_F_use))
        use = ws_elab_resolve(E, ws_elab_field_expr(E, S->node, WS_F_use), 0, S->id);
    told_op(S, WS_OP_PIPE_ASK, p, use, 1, "end");
    pipe_arrive(S, p->empty, use, "warp", 1);
    E->agent->pipe_use[pipe] = NULL;
}
