#include "program/elaborate/elab.h"
#include "program/parts/agent.h"
#include "program/parts/raw.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* raw: the author's text, with a declaration of what it touches (LANGUAGE section 21). The
 * declaration becomes accesses and value uses of one operation; `signals` become operations of
 * their own that are counted like all others and emitted by nobody (WsOp.declared). */

static void operand_value(WsStepState *S, WsOp *op, WsRawOperand *o, const WsRef *ref, WsMode mode)
{
    if (op->n_value == G_N_ELEMENTS(op->value)) {
        ws_elab_error(S->E, WS_RULE_T_USE, S->id, "Split the text into two steps.",
                      "a raw step takes %u values at most", (guint)G_N_ELEMENTS(op->value));
        return;
    }
    if (ws_view_value(S, ref, mode, &op->value[op->n_value]) && o) {
        o->kind = WS_RAW_VALUE;
        o->index = op->n_value;
    }
    op->n_value++;
}

static void operand_buffer(WsStepState *S, WsOp *op, WsRawOperand *o, const WsRef *ref, WsMode mode,
                           WsProxy proxy)
{
    WsBufferView view;
    if (!ws_view_buffer(S, ref, mode, proxy, &view))
        return;
    if (o) {
        o->kind = WS_RAW_BUFFER;
        o->index = op->n_access;
    }
    ws_op_access(S->E, op, &view.access);
}

static void operand_barrier(WsStepState *S, WsRawOperand *o, const WsRef *ref)
{
    WsElab *E = S->E;
    WsOp *at = ws_arena_new0(E->arena, WsOp, 1); /* only its address is wanted */
    at->kind = WS_OP_MBAR_ARRIVE;
    o->kind = WS_RAW_BARRIER;
    if (ws_op_barrier(S, at, ref, WS_BARRIER_MBARRIER))
        o->barrier = at;
}

/* One entry of `in` or `out`: what a name of the text stands for. */
static void operand(WsStepState *S, WsOp *op, const char *name, const WsValue *v, WsMode mode,
                    WsProxy proxy)
{
    WsElab *E = S->E;
    WsRawOperand *o = &op->raw[op->n_raw];
    *o = (WsRawOperand){ .name = ws_arena_strdup(E->arena, name),
                         .kind = WS_RAW_EXPR,
                         .out = mode == WS_MODE_WRITE };
    op->n_raw++;
    const WsRef *ref = v->kind == WS_VALUE_REF ? v->ref : NULL;
    WsElabSymbol *symbol = ref ? ws_step_symbol(S, ref->name) : NULL;
    WsSymbolKind kind = symbol ? symbol->kind : WS_SYMBOL_CONSTANT;
    if (symbol && kind == WS_SYMBOL_VALUE) {
        operand_value(S, op, o, ref, mode);
    } else if (symbol && kind == WS_SYMBOL_BUFFER) {
        operand_buffer(S, op, o, ref, mode, proxy);
    } else if (symbol && kind == WS_SYMBOL_BARRIER) {
        operand_barrier(S, o, ref);
    } else if (symbol && kind == WS_SYMBOL_TENSOR) {
        o->kind = WS_RAW_TENSOR;
        o->index = symbol->index;
    } else {
        const WsExpr *x = ref ? ws_arena_expr(E->arena, ws_expr_parse(ref->name, NULL))
                              : ws_elab_value_expr(E, v);
        o->expr = ws_elab_resolve(E, x, 0, S->id);
    }
    if (o->out && (o->kind == WS_RAW_EXPR || o->kind == WS_RAW_TENSOR || o->kind == WS_RAW_BARRIER))
        ws_elab_error(E, WS_RULE_T_USE, S->id, "Name a value or a buffer.",
                      "`out` %s: a raw step defines values and writes buffers only", name);
}

static void operands(WsStepState *S, WsOp *op, WsFieldId field, WsMode mode, WsProxy proxy)
{
    const WsValue *map = ws_node_get(S->node, field);
    for (guint i = 0; map->kind == WS_VALUE_MAP && i < map->n; i++)
        operand(S, op, map->key[i], &map->item[i], mode, proxy);
}

/* `reads` and `writes`: touched without being named in the text. */
static void touched(WsStepState *S, WsOp *op, WsFieldId field, WsMode mode, WsProxy proxy)
{
    for (guint i = 0; i < ws_elab_field_count(S->node, field); i++) {
        const WsValue *v = ws_elab_field_item(S->node, field, i);
        if (v->kind != WS_VALUE_REF)
            continue;
        WsElabSymbol *symbol = ws_step_symbol(S, v->ref->name);
        if (symbol && symbol->kind == WS_SYMBOL_VALUE)
            operand_value(S, op, NULL, v->ref, mode);
        else
            operand_buffer(S, op, NULL, v->ref, mode, proxy);
    }
}

/* An entry of `signals` says what the text makes whenever it runs: it has no condition or place of
 * its own, and is not left out. */
static gboolean is_plain(WsStepState *S, const WsNode *node, const char *path)
{
    static const WsFieldId own[] = { WS_F_when, WS_F_ahead, WS_F_muted };
    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        if (ws_node_has(node, own[i])) {
            ws_elab_error(S->E, WS_RULE_T_USE, path, "Give it to the raw step.",
                          "an entry of `signals` has no `%s` of its own: the text arrives whenever "
                          "it runs",
                          ws_field_name(own[i]));
            return FALSE;
        }
    return TRUE;
}

/* Arrivals and expects that the text makes. */
static void signals(WsStepState *S)
{
    WsElab *E = S->E;
    for (guint i = 0; i < ws_node_n_children(S->node, WS_F_signals); i++) {
        const WsNode *node = ws_node_child(S->node, WS_F_signals, i);
        const char *path = ws_arena_printf(E->arena, "%s/signals/%u", S->path, i);
        WsStepState inner = *S;
        if (!is_plain(S, node, path))
            continue;
        inner.node = node;
        inner.id = inner.path = path;
        if (ws_node_has(node, WS_F_use))
            inner.use = ws_elab_resolve(E, ws_elab_field_expr(E, node, WS_F_use), 0, path);
        guint before = E->ops->len;
        ws_step_elaborate[node->kind](&inner);
        for (guint k = before; k < E->ops->len; k++)
            ((WsOp *)g_ptr_array_index(E->ops, k))->declared = TRUE;
    }
}

static WsBreadth breadth_of(WsStepState *S)
{
    if (ws_elab_field_is(S->E, S->node, WS_F_by, "thread"))
        return WS_BREADTH_LEADER;
    return ws_elab_field_is(S->E, S->node, WS_F_by, "warp") ? WS_BREADTH_WARP : WS_BREADTH_GROUP;
}

static char *text_of(WsStepState *S)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < ws_elab_field_count(S->node, WS_F_text); i++) {
        const WsValue *v = ws_elab_field_item(S->node, WS_F_text, i);
        if (v->kind == WS_VALUE_TEXT)
            g_string_append_printf(s, "%s%s", s->len ? "\n" : "", v->text);
    }
    char *text = ws_arena_strdup(S->E->arena, s->str);
    g_string_free(s, TRUE);
    return text;
}

/* Every %{name} of the text is an operand, and %{name.i} a register of a value. */
static void names_legal(WsStepState *S, const WsOp *op)
{
    for (const char *c = strstr(op->text, "%{"); c; c = strstr(c + 2, "%{")) {
        const char *end = c + 2 + strcspn(c + 2, ".}");
        gboolean known = FALSE;
        for (guint i = 0; i < op->n_raw && !known; i++)
            known = strlen(op->raw[i].name) == (gsize)(end - c - 2) &&
                    strncmp(op->raw[i].name, c + 2, end - c - 2) == 0;
        if (!known)
            ws_elab_error(S->E, WS_RULE_N_UNKNOWN, S->id, "Declare it in `in` or `out`.",
                          "%%{%.*s} is not an operand of this raw step", (int)(end - c - 2), c + 2);
    }
}

static WsRawText dialect_of(WsStepState *S)
{
    static const char *const word[] = { [WS_RAW_PTX] = "ptx",
                                        [WS_RAW_CUDA] = "cuda",
                                        [WS_RAW_MLIR] = "mlir",
                                        [WS_RAW_LLVM] = "llvm",
                                        [WS_RAW_UNREAD] = "unread" };
    guint i = 0;
    while (i < WS_RAW_UNREAD && !ws_elab_field_is(S->E, S->node, WS_F_keyword, word[i]))
        i++;
    return (WsRawText)i;
}

/* The threads that a text is written for are those that execute it. */
static void threads_fit(WsStepState *S, const WsOp *op)
{
    WsElab *E = S->E;
    gint64 product = 1;
    const guint n = ws_elab_field_count(S->node, WS_F_threads_dim);
    if (!ws_node_has(S->node, WS_F_threads_dim))
        return;
    for (guint i = 0; i < n; i++)
        product *= ws_elab_constant_in(
            E, ws_elab_value_expr(E, ws_elab_field_item(S->node, WS_F_threads_dim, i)), 1, 1024,
            "threads_dim", S->id);
    const guint all = op->breadth == WS_BREADTH_LEADER ? 1
                      : op->breadth == WS_BREADTH_WARP ? E->hw->lanes
                                                       : E->agent->out->threads;
    if (n > 3 || product != all)
        ws_elab_error(E, WS_RULE_T_RANGE, S->id, "Write it for the threads that execute it.",
                      "`threads_dim` says %" G_GINT64_FORMAT " threads, but %u execute the text",
                      product, all);
}

void ws_step_RAW(WsStepState *S)
{
    WsElab *E = S->E;
    gboolean async = ws_elab_field_is(E, S->node, WS_F_proxy, "async");
    WsProxy proxy = async ? WS_PROXY_ASYNC : WS_PROXY_GENERIC;
    const WsRawText dialect = dialect_of(S);
    const gboolean unread = dialect == WS_RAW_UNREAD;
    if (dialect == WS_RAW_LLVM)
        ws_elab_note(E, WS_RULE_L_LENS, S->id, "Write PTX.",
                     "raw text in LLVM IR has no generator here; on sm_90a `ptx` has");
    WsOp *op = ws_step_op(S, WS_OP_RAW, NULL);
    op->breadth = breadth_of(S);
    op->proxy = proxy;
    op->text = text_of(S);
    op->unread = unread;
    op->dialect = dialect;
    op->raw = ws_arena_new0(E->arena, WsRawOperand,
                            ws_elab_field_count(S->node, WS_F_in) +
                                ws_elab_field_count(S->node, WS_F_out) + 1);
    operands(S, op, WS_F_in, WS_MODE_READ, proxy);
    operands(S, op, WS_F_out, WS_MODE_WRITE, proxy);
    touched(S, op, WS_F_reads, WS_MODE_READ, proxy);
    touched(S, op, WS_F_writes, WS_MODE_WRITE, proxy);
    if (dialect == WS_RAW_PTX || dialect == WS_RAW_LLVM)
        names_legal(S, op);
    threads_fit(S, op);
    ws_op_label(E, op, "raw");
    E->p->has_raw = TRUE;
    for (guint i = 0; op->breadth == WS_BREADTH_LEADER && i < op->n_value; i++)
        if (op->value[i].mode & WS_MODE_WRITE)
            ws_elab_error(E, WS_RULE_T_USE, S->id, "Let all threads execute it.",
                          "one thread cannot define a value of the whole group");
    if (async && ws_node_n_children(S->node, WS_F_signals) == 0)
        ws_elab_error(E, WS_RULE_T_USE, S->id, "Add `signals`.",
                      "an asynchronous raw step names the barrier that completes it");
    signals(S);
}
