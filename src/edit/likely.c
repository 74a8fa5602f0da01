/* What is likely added next: read from what the design has and lacks, never from names. */
#include "edit/edit.h"

#include <string.h>

typedef struct {
    gboolean any, moves, products; /* of steps at or below a node; moves: from tensors to buffers */
} Has;

static void look(const WsNode *node, Has *has)
{
    static const WsFieldId list[] = { WS_F_body, WS_F_do, WS_F_then, WS_F_else };
    has->any |= ws_node_kind_is_step(node->kind);
    has->moves |= node->kind == WS_STEP_LOAD || node->kind == WS_STEP_GATHER;
    has->products |= node->kind == WS_STEP_MMA;
    for (guint l = 0; l < G_N_ELEMENTS(list); l++)
        for (guint i = 0; i < ws_node_n_children(node, list[l]); i++)
            look(ws_node_child(node, list[l], i), has);
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
    Has all = { 0 }, here = { 0 };
    for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++)
        look(ws_node_child(root, WS_F_groups, i), &all);
    if (group != NULL)
        look(group, &here);
    const gboolean unread = is_left(design, FALSE);
    guint n = 0;
    if (ws_node_n_children(root, WS_F_tensors) == 0)
        likely[n++] = WS_NODE_TENSOR;
    else if (unread && !here.products)
        likely[n++] = WS_STEP_LOAD;
    if (here.moves && !unread && !all.products)
        likely[n++] = WS_NODE_GROUP;
    if (!here.any && all.moves && !unread)
        likely[n++] = WS_STEP_MMA;
    if (here.products && is_left(design, TRUE))
        likely[n++] = WS_STEP_STORE;
    return n;
}
