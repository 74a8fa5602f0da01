#include "edit/propose.h"

#include "model/design.h"
#include "target/target.h"

#include <string.h>

static char *text_of(const WsValue *value)
{
    if (value->kind == WS_VALUE_EXPR)
        return ws_expr_print(value->expr);
    return value->kind == WS_VALUE_INT ? g_strdup_printf("%" G_GINT64_FORMAT, value->i) : NULL;
}

/* Of "cdiv(M, BM)" for "M" the step "BM"; NULL if it counts anything else. */
static char *step_of(const WsExpr *count, const char *dimension)
{
    if (count == NULL || count->op != WS_EXPR_CALL || count->func != WS_FUNC_CDIV ||
        count->n_args != 2)
        return NULL;
    g_autofree char *counted = ws_expr_print(count->arg[0]);
    const WsExprOp op = count->arg[1]->op;
    if (strcmp(counted, dimension) != 0 || (op != WS_EXPR_NAME && op != WS_EXPR_INT))
        return NULL;
    return ws_expr_print(count->arg[1]);
}

char *ws_propose_first(const WsDesign *design, const WsNode *owner)
{
    const WsTarget *t = ws_target_find(ws_node_text(ws_design_root(design), WS_F_target));
    if (t && t->matrix.values) /* its product takes a constant: a statement clears accumulators */
        return g_strdup("false");
    for (const WsNode *up = owner; up != NULL; up = ws_design_owner(design, up, NULL, NULL))
        if (up->kind == WS_STEP_FOR && ws_node_text(up, WS_F_keyword) != NULL &&
            ws_node_expr(up, WS_F_count) != NULL)
            return g_strdup_printf("%s == 0", ws_node_text(up, WS_F_keyword));
    return g_strdup("true");
}

char *ws_propose_coordinate(const WsDesign *design, const WsNode *owner, const WsNode *tensor,
                            guint i, char **step)
{
    const WsValue *shape = ws_node_get(tensor, WS_F_shape);
    g_autofree char *dimension = i < shape->n ? text_of(&shape->item[i]) : NULL, *by = NULL;
    const WsNode *tiles = ws_node_child(ws_design_root(design), WS_F_tiles, 0);
    const WsValue *axes = tiles != NULL ? ws_node_get(tiles, WS_F_axes) : NULL;
    const char *name = NULL;
    for (guint k = 0; dimension && axes && axes->kind == WS_VALUE_MAP && k < axes->n && !by; k++)
        if (axes->item[k].kind == WS_VALUE_EXPR &&
            (by = step_of(axes->item[k].expr, dimension)) != NULL)
            name = axes->key[k];
    for (const WsNode *up = owner; dimension && up != NULL && by == NULL;
         up = ws_design_owner(design, up, NULL, NULL))
        if (up->kind == WS_STEP_FOR &&
            (by = step_of(ws_node_expr(up, WS_F_count), dimension)) != NULL)
            name = ws_node_text(up, WS_F_keyword);
    char *at = name != NULL ? g_strdup_printf("%s*%s", name, by) : g_strdup("0");
    if (step != NULL)
        *step = g_steal_pointer(&by);
    return at;
}

/* Whether a step of this kind at or below the node has that name in that field (NULL: any). */
static gboolean has_step(const WsNode *node, WsNodeKind kind, WsFieldId field, const char *name)
{
    static const WsFieldId list[] = { WS_F_groups, WS_F_body, WS_F_do, WS_F_then, WS_F_else };
    if (node->kind == kind) {
        const WsValue *value = ws_node_get(node, field);
        const char *what =
            value->kind == WS_VALUE_REF ? value->ref->name : ws_node_text(node, field);
        if (name == NULL || g_strcmp0(what, name) == 0)
            return TRUE;
    }
    for (guint l = 0; l < G_N_ELEMENTS(list); l++)
        for (guint i = 0; i < ws_node_n_children(node, list[l]); i++)
            if (has_step(ws_node_child(node, list[l], i), kind, field, name))
                return TRUE;
    return FALSE;
}

/* Whether a load at or below the node takes that tensor (`into`: fills that buffer). */
static gboolean ws_propose_loaded(const WsNode *node, const char *name, gboolean into)
{
    return has_step(node, WS_STEP_LOAD, into ? WS_F_into : WS_F_keyword, name);
}

gboolean ws_propose_has(const WsNode *node, WsNodeKind kind)
{
    return has_step(node, kind, WS_F_keyword, NULL);
}

const WsNode *ws_propose_tensor(const WsDesign *design, gboolean written)
{
    const WsNode *root = ws_design_root(design), *any = NULL;
    for (guint i = 0; i < ws_node_n_children(root, WS_F_tensors); i++) {
        const WsNode *t = ws_node_child(root, WS_F_tensors, i);
        const char *access = ws_node_text(t, WS_F_access);
        any = any != NULL ? any : t;
        if (!written && ws_propose_loaded(root, ws_node_name(t), FALSE))
            continue;
        if ((access != NULL && strcmp(access, "read") != 0) == written)
            return t;
    }
    return any;
}

static gboolean has_tile(const WsNode *buffer, char *const *step, guint n)
{
    const WsValue *tile = ws_node_get(buffer, WS_F_tile);
    if (tile->n != n)
        return FALSE;
    for (guint i = 0; i < n; i++) {
        g_autofree char *side = text_of(&tile->item[i]);
        if (side == NULL || step[i] == NULL || strcmp(side, step[i]) != 0)
            return FALSE;
    }
    return TRUE;
}

const char *ws_propose_buffer(const WsDesign *design, const WsNode *owner, const WsNode *tensor)
{
    const WsNode *root = ws_design_root(design);
    const guint n = ws_node_get(tensor, WS_F_shape)->n;
    g_autoptr(GPtrArray) step = g_ptr_array_new_with_free_func(g_free);
    const char *found = NULL;
    for (guint i = 0; i < n; i++) {
        char *by = NULL;
        g_free(ws_propose_coordinate(design, owner, tensor, i, &by));
        g_ptr_array_add(step, by);
    }
    for (guint i = 0; i < ws_node_n_children(root, WS_F_buffers); i++) {
        const WsNode *buffer = ws_node_child(root, WS_F_buffers, i);
        if (!has_tile(buffer, (char *const *)step->pdata, n))
            continue;
        if (!ws_propose_loaded(root, ws_node_name(buffer), TRUE))
            return ws_node_name(buffer);
        if (found == NULL)
            found = ws_node_name(buffer);
    }
    return found;
}
