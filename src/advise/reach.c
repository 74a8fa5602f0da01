/* Steps moved further than one place, where each place on the way changes nothing by itself: what
 * computes while a product is still in flight, and releases as early as may be. And orders between
 * replicas taken away where they stand outside the rounds. What of it is right is for the check to
 * say. */
#include "advise/gather.h"
#include "base/phrase.h"

#include <string.h>

/* Steps that only wait or tell: whatever passes them finds its values and counters as they are. */
static gboolean may_be_passed(WsNodeKind kind)
{
    return kind == WS_STEP_WAIT || kind == WS_STEP_ARRIVE || kind == WS_STEP_MMA_WAIT ||
           kind == WS_STEP_STORE_WAIT;
}

/* The first place that the step at `index` reaches by passing such steps. */
static guint reach_of(const WsNode *owner, WsFieldId list, guint index)
{
    while (index > 0 && may_be_passed(ws_node_child(owner, list, index - 1)->kind))
        index--;
    return index;
}

static void try_place(WsGather *g, const WsNode *owner, WsFieldId list, guint from, guint to)
{
    const WsNode *step = ws_node_child(owner, list, from);
    WsDraft *d = ws_gather_draft(g->design);
    g_autofree char *label = ws_edit_label(step);
    const guint before = g->list->len;
    const gboolean done = ws_draft_move(d, step->identity, owner->identity, list, to);
    ws_gather_take(g, d, done, step, ws_phrase("%s %u places earlier", label, from - to));
    for (guint i = before; i < g->list->len; i++)
        ((WsCandidate *)g->list->pdata[i])->reorders = step->kind == WS_STEP_COMPUTE;
    if (step->kind != WS_STEP_COMPUTE)
        ws_gather_moved(g, before, &step->identity, 1);
}

/* What computes, past all waits before it and past each of them; arrivals at every place of their
 * reach that is more than one away. */
static void try_earlier(WsGather *g, const WsNode *owner, WsFieldId list, guint i)
{
    const WsNodeKind kind = ws_node_child(owner, list, i)->kind;
    const guint first = reach_of(owner, list, i);
    const guint nearest = kind == WS_STEP_COMPUTE ? 1 : 2;
    if (kind != WS_STEP_COMPUTE && kind != WS_STEP_ARRIVE)
        return;
    for (guint to = first; to + nearest <= i; to++) {
        const WsNodeKind passed = ws_node_child(owner, list, to)->kind;
        /* Elsewhere it computes beside nothing more. */
        if (kind == WS_STEP_ARRIVE || passed == WS_STEP_MMA_WAIT || passed == WS_STEP_WAIT)
            try_place(g, owner, list, i, to);
    }
}

static const WsRef *named(const WsNode *step)
{
    return ws_node_refv(step, WS_F_keyword);
}

/* Whether it takes part at the barrier with which `sync` begins. */
static gboolean hands_on(const WsNode *step, const WsNode *sync)
{
    const WsRef *a = named(step), *b = named(sync);
    return step->kind == WS_STEP_ARRIVE && a && b && g_strcmp0(a->name, b->name) == 0;
}

/* A turn that is taken and handed on once before or behind the rounds orders nothing in them. */
static void try_unordered(WsGather *g, const WsNode *owner, WsFieldId list, guint i)
{
    const WsNode *sync = ws_node_child(owner, list, i);
    const guint n = ws_node_n_children(owner, list);
    guint k = i + 1;
    if (sync->kind != WS_STEP_SYNC)
        return;
    while (k < n && !hands_on(ws_node_child(owner, list, k), sync) &&
           ws_node_child(owner, list, k)->kind != WS_STEP_FOR)
        k++;
    if (k == n || !hands_on(ws_node_child(owner, list, k), sync))
        return;
    WsDraft *d = ws_gather_draft(g->design);
    g_autofree char *label = ws_edit_label(sync);
    const gboolean done = ws_draft_remove(d, ws_node_child(owner, list, k)->identity) &&
                          ws_draft_remove(d, sync->identity);
    ws_gather_take(g, d, done, sync, ws_phrase("Without %s outside the rounds", label));
}

static gboolean is_counted(const WsNode *owner)
{
    return owner->kind == WS_STEP_FOR && !ws_node_has(owner, WS_F_over);
}

void ws_gather_reach(WsGather *g, const WsNode *owner, WsFieldId list)
{
    static const WsFieldId inner[] = { WS_F_do, WS_F_then, WS_F_else };
    for (guint i = 0; i < ws_node_n_children(owner, list); i++) {
        const WsNode *step = ws_node_child(owner, list, i);
        try_earlier(g, owner, list, i);
        if (!is_counted(owner))
            try_unordered(g, owner, list, i);
        for (guint k = 0; k < G_N_ELEMENTS(inner); k++)
            ws_gather_reach(g, step, inner[k]);
    }
}
