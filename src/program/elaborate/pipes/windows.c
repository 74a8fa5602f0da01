#include "program/elaborate/elab.h"
#include "program/op.h"
#include "program/program.h"

#include <string.h>

/* Windows of pipes (LANGUAGE section 15): which steps fill them, and how what fills a window
 * arrives at its end. */

gboolean ws_pipe_has_field(const WsPipeBuild *p, WsElab *E, const WsRef *ref)
{
    WsElabSymbol *symbol = ref ? g_hash_table_lookup(E->names, ref->name) : NULL;
    for (guint i = 0; symbol && symbol->kind == WS_SYMBOL_BUFFER && i < p->n_fields; i++)
        if (p->field[i] == symbol->index)
            return TRUE;
    return FALSE;
}

/* Whether an entry of a map or list of a raw step is a field. */
static gboolean has_field(const WsPipeBuild *p, WsElab *E, const WsNode *step, WsFieldId list)
{
    const WsValue *v = ws_node_get(step, list);
    gboolean found = FALSE;
    if (v->kind == WS_VALUE_MAP || v->kind == WS_VALUE_LIST)
        for (guint i = 0; i < v->n; i++)
            found |= v->item[i].kind == WS_VALUE_REF && ws_pipe_has_field(p, E, v->item[i].ref);
    return found || (v->kind == WS_VALUE_REF && ws_pipe_has_field(p, E, v->ref));
}

/* How a step fills the pipe: by the leader's transfers, by stores of threads, by gathers. */
void ws_window_fills(WsElab *E, WsPipeBuild *p, const WsNode *step)
{
    const gboolean transfer = step->kind == WS_STEP_LOAD || step->kind == WS_STEP_GET ||
                              step->kind == WS_STEP_COPY,
                   into = (transfer || step->kind == WS_STEP_GATHER ||
                           step->kind == WS_STEP_TRANSPOSE) &&
                          ws_pipe_has_field(p, E, ws_elab_field_ref(E, step, WS_F_into));
    p->loaded |= into && transfer;
    p->gathered |= into && step->kind == WS_STEP_GATHER;
    p->written |= into && step->kind == WS_STEP_TRANSPOSE;
    p->written |=
        step->kind == WS_STEP_WRITE && ws_pipe_has_field(p, E, ws_elab_field_ref(E, step, WS_F_to));
    p->written |= step->kind == WS_STEP_RAW &&
                  (has_field(p, E, step, WS_F_out) || has_field(p, E, step, WS_F_writes));
}

/* The slot that is filled is that of the window only in the round of its acquire. */
void ws_window_in_step(WsStepState *S, gint pipe)
{
    const WsPipeBuild *p = &g_array_index(S->E->pipes, WsPipeBuild, pipe);
    if (p->told >= 0 && S->list->window == pipe && S->shift != p->window_shift)
        ws_elab_note(S->E, WS_RULE_L_PIPE, S->id, "Give it the `ahead` of the acquire.",
                     "the window of pipe %s is acquired for another round than this step's",
                     ws_node_name(p->node));
}

/* Whether a transaction is made whenever the window is committed: without a condition, or under
 * that of the commit, as where both run ahead. */
static gboolean always(WsStepState *S, const WsTransactionBuild *t)
{
    return *t->when == '\0' ||
           (strcmp(t->when, ws_elab_text(S->E, S->when)) == 0 &&
            !ws_elab_changes_within(S->E, S->when, WS_BUILD(t->first)->made, S->E->ops->len));
}

/* Whether the leader's expect is an arrival of each window that is committed here. If it is one of
 * several, or one under a condition, it only adds its bytes (before the commit, which arrives). */
gboolean ws_window_by_expect(WsStepState *S, const WsPipeBuild *p)
{
    guint n = 0, whole = 0;
    for (guint i = p->window_first; i < S->list->transactions->len; i++) {
        const WsTransactionBuild *t = &g_array_index(S->list->transactions, WsTransactionBuild, i);
        n += t->barrier == p->full && t->expect;
        whole += t->barrier == p->full && t->expect && always(S, t);
    }
    if (n == 1 && whole == 1)
        return TRUE;
    for (guint i = p->window_first; i < S->list->transactions->len; i++) {
        WsTransactionBuild *t = &g_array_index(S->list->transactions, WsTransactionBuild, i);
        if (t->barrier == p->full && t->expect)
            t->expect->count = 0;
    }
    return FALSE;
}

/* Whether all threads arrive by the gathers of the window. */
gboolean ws_window_by_gathers(WsStepState *S, const WsPipeBuild *p)
{
    guint n = 0, whole = 0;
    for (guint i = p->window_first; i < S->list->transactions->len; i++) {
        const WsTransactionBuild *t = &g_array_index(S->list->transactions, WsTransactionBuild, i);
        n += t->barrier == p->full && t->last;
        whole += t->barrier == p->full && t->last && always(S, t);
    }
    if (n > 1 || whole < n)
        ws_elab_note(S->E, WS_RULE_L_PIPE, S->id,
                     "Let all gathers of the window happen whenever it is committed.",
                     "pipe %s is closed, and gathers of this window have conditions of their own",
                     ws_node_name(p->node));
    return n > 0;
}
