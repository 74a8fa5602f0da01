/* Loops in the hint form: a group to another stage, order or executor, and the loop as the ordinary
 * steps that it means (model/hint.h makes them). */
#include "model/hint.h"
#include "edit/edit.h"
#include "model/finding.h"

#include <string.h>

/* The design of the draft without hints; NULL after refusing. */
static WsDesign *explicit_of(WsDraft *d)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *made = ws_hint_explicit(d->design, FALSE, findings);
    const WsFinding *f = findings->list->len ? g_ptr_array_index(findings->list, 0) : NULL;
    if (!made)
        ws_draft_refuse(d, "%s", f ? f->said : "");
    return made;
}

gboolean ws_edit_explicit(WsDraft *d, guint64 node)
{
    (void)node; /* all loops of the design: an executor serves one of them */
    if (!ws_hint_in(d->design))
        return ws_draft_refuse(d, "no loop has num_stages");
    g_autoptr(WsDesign) made = explicit_of(d);
    if (!made)
        return FALSE;
    const WsNode *to = ws_design_root(made);
    const guint n = ws_node_n_children(to, WS_F_groups);
    if (!ws_draft_set(d, ws_design_root(d->design)->identity, WS_F_pipes,
                      ws_json_of_field(to, WS_F_pipes)))
        return FALSE;
    for (guint i = 0; i < n; i++) {
        const WsNode *group = ws_node_child(ws_design_root(d->design), WS_F_groups, i);
        WsJson *body = ws_json_of_field(ws_node_child(to, WS_F_groups, i), WS_F_body);
        if (!ws_draft_set(d, group->identity, WS_F_body, body))
            return FALSE;
    }
    ws_draft_name(d, "Make %s Explicit", ws_node_text(to, WS_F_name));
    return TRUE;
}

static gint64 order_of(const WsNode *loop, guint i)
{
    return ws_node_int(ws_node_child(loop, WS_F_do, i), WS_F_pipe_order, i);
}

/* Every group gets its order written, since a changed place would change what is left out; the one
 * that had the order gets the old one of this group. */
static gboolean set_order(WsDraft *d, guint64 loop, guint64 group, gint64 order)
{
    const WsNode *node = ws_draft_node(d, loop);
    const guint n = ws_node_n_children(node, WS_F_do);
    gint64 old = 0;
    for (guint i = 0; i < n; i++)
        if (ws_node_child(node, WS_F_do, i)->identity == group)
            old = order_of(node, i);
    for (guint i = 0; i < n; i++) {
        const WsNode *now = ws_draft_node(d, loop);
        const guint64 child = ws_node_child(now, WS_F_do, i)->identity;
        const gint64 had = order_of(now, i);
        const gint64 gets = child == group ? order : had == order ? old : had;
        if (gets != had && !ws_draft_set(d, child, WS_F_pipe_order, ws_json_int(gets)))
            return FALSE;
    }
    return TRUE;
}

gboolean ws_edit_hint_move(WsDraft *d, guint64 group, gint64 stage, gint64 order,
                           const char *executor)
{
    const WsNode *node = ws_draft_node(d, group);
    if (!node || node->kind != WS_STEP_PIPELINE_GROUP)
        return ws_draft_refuse(d, "it is no pipeline group");
    const WsNode *loop = ws_design_owner(d->design, node, NULL, NULL);
    g_autofree char *name = g_strdup(ws_node_name(node));
    if (stage >= 0 && !ws_draft_set(d, group, WS_F_pipe_stage, ws_json_int(stage)))
        return FALSE;
    if (order >= 0 && !set_order(d, loop->identity, group, order))
        return FALSE;
    if (executor) {
        const WsNode *home = ws_edit_group(d->design, node);
        const gboolean own = !*executor || !strcmp(executor, ws_node_name(home));
        if (!ws_draft_set(d, group, WS_F_executor, own ? NULL : ws_json_text(executor)))
            return FALSE;
    }
    g_autoptr(WsDesign) made = explicit_of(d);
    ws_draft_name(d, "Move %s in the Pipeline", name);
    ws_draft_touch(d, group);
    return made != NULL;
}
