/* What is likely added next: read from what the design has and lacks, never from names. */
#include "edit/edit.h"
#include "edit/propose.h"

#include <string.h>

/* Whether something moves from tensors to buffers at or below the node. */
static gboolean moves(const WsNode *node)
{
    return ws_propose_has(node, WS_STEP_LOAD) || ws_propose_has(node, WS_STEP_GATHER);
}

static gboolean in_a_step(const WsDesign *design, const char *name)
{
    g_autoptr(GArray) mention = ws_edit_mentions(design, name);
    for (guint i = 0; i < mention->len; i++) {
        const WsNode *node = ws_design_by_identity(design, g_array_index(mention, guint64, i));
        if (node != NULL && ws_node_kind_is_step(node->kind))
            return TRUE;
    }
    return FALSE;
}

/* Whether some tensor that is only read (written: that is not only read) stands in no step. */
static gboolean is_left(const WsDesign *design, gboolean written)
{
    const WsNode *root = ws_design_root(design);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_tensors); i++) {
        const WsNode *t = ws_node_child(root, WS_F_tensors, i);
        const char *access = ws_node_text(t, WS_F_access);
        const gboolean read = access == NULL || strcmp(access, "read") == 0;
        if (read != written && !in_a_step(design, ws_node_name(t)))
            return TRUE;
    }
    return FALSE;
}

guint ws_edit_likely(const WsDesign *design, const WsNode *at, WsNodeKind likely[WS_EDIT_LIKELY])
{
    const WsNode *root = ws_design_root(design);
    const WsEditSpot spot = ws_edit_spot(design, at);
    const WsNode *owner = ws_design_by_identity(design, spot.owner),
                 *group = owner != NULL ? ws_edit_group(design, owner) : NULL;
    const gboolean unread = is_left(design, FALSE),
                   multiplies = group != NULL && ws_propose_has(group, WS_STEP_MMA);
    guint n = 0;
    if (ws_node_n_children(root, WS_F_tensors) == 0)
        likely[n++] = WS_NODE_TENSOR;
    else if (unread && !multiplies)
        likely[n++] = WS_STEP_LOAD;
    if (!unread && group != NULL && moves(group) && !ws_propose_has(root, WS_STEP_MMA))
        likely[n++] = WS_NODE_GROUP;
    if (!unread && moves(root) && (group == NULL || ws_node_n_children(group, WS_F_body) == 0))
        likely[n++] = WS_STEP_MMA;
    if (multiplies && is_left(design, TRUE))
        likely[n++] = WS_STEP_STORE;
    return n;
}
