/* The depth of a ring: the constant it is given by, or the stages and slots of all its members. */
#include "edit/look.h"

#include <string.h>

static WsFieldId depth_field(WsNodeKind kind)
{
    return kind == WS_NODE_BUFFER    ? WS_F_stages
           : kind == WS_NODE_BARRIER ? WS_F_slots
           : kind == WS_NODE_PIPE    ? WS_F_capacity
                                     : WS_F_COUNT;
}

static const char *constant_of(const WsNode *object)
{
    const WsExpr *e = ws_node_expr(object, depth_field(object->kind));
    return e != NULL && e->op == WS_EXPR_NAME ? e->name : NULL;
}

gint64 ws_edit_depth_of(const WsDesign *design, const WsNode *node)
{
    const WsFieldId field = depth_field(node->kind);
    if (field == WS_F_COUNT)
        return 0;
    const char *constant = constant_of(node);
    if (constant != NULL)
        return ws_edit_number(design, constant);
    return ws_node_has(node, field) ? ws_node_int(node, field, 0) : 1;
}

/* --- members ------------------------------------------------------------------------------------
 */

typedef struct {
    const WsDesign *design;
    gint64 depth;
    GPtrArray *members; /* WsNode*, borrowed */
} Ring;

static gboolean is_member(const Ring *r, const WsNode *object)
{
    return object != NULL && g_ptr_array_find(r->members, object, NULL);
}

static gboolean join(Ring *r, const WsNode *object)
{
    if (object == NULL || is_member(r, object) || depth_field(object->kind) == WS_F_COUNT ||
        ws_edit_depth_of(r->design, object) != r->depth || constant_of(object) != NULL)
        return FALSE;
    g_ptr_array_add(r->members, (gpointer)object);
    return TRUE;
}

static const WsNode *named(const Ring *r, const WsNode *step, WsFieldId field)
{
    const WsRef *ref = ws_node_refv(step, field);
    return ref != NULL ? ws_edit_object(r->design, ref->name) : NULL;
}

/* A transfer ties its buffer to the barrier it signals, and to those awaited right before it. */
static gboolean tie(Ring *r, const WsNode *owner, WsFieldId list, guint index)
{
    const WsNode *step = ws_node_child(owner, list, index);
    const WsNode *into = named(r, step, WS_F_into), *signal = named(r, step, WS_F_signal);
    gboolean grown = FALSE, touched = is_member(r, into) || is_member(r, signal);
    g_autoptr(GPtrArray) waits = g_ptr_array_new();
    if (into == NULL)
        return FALSE;
    for (guint i = index; i > 0; i--) {
        const WsNode *before = ws_node_child(owner, list, i - 1);
        if (before->kind == WS_STEP_WAIT && named(r, before, WS_F_keyword) != NULL)
            g_ptr_array_add(waits, (gpointer)named(r, before, WS_F_keyword));
        else if (before->kind != WS_STEP_LOAD && before->kind != WS_STEP_GATHER)
            break;
    }
    for (guint i = 0; i < waits->len; i++)
        touched |= is_member(r, waits->pdata[i]);
    if (!touched)
        return FALSE;
    grown |= join(r, into);
    grown |= join(r, signal);
    for (guint i = 0; i < waits->len; i++)
        grown |= join(r, waits->pdata[i]);
    return grown;
}

static gboolean tie_below(Ring *r, const WsNode *node)
{
    static const WsFieldId list[] = { WS_F_body, WS_F_do, WS_F_then, WS_F_else };
    gboolean grown = FALSE;
    for (guint l = 0; l < G_N_ELEMENTS(list); l++)
        for (guint i = 0; i < ws_node_n_children(node, list[l]); i++) {
            grown |= tie(r, node, list[l], i);
            grown |= tie_below(r, ws_node_child(node, list[l], i));
        }
    return grown;
}

static void add_pipe_fields(Ring *r, const WsNode *pipe)
{
    const WsValue *fields = ws_node_get(pipe, WS_F_fields);
    for (guint i = 0; i < fields->n; i++)
        join(r, ws_edit_object(r->design, fields->item[i].text));
}

static void gather(Ring *r, const WsNode *start)
{
    const WsNode *root = ws_design_root(r->design);
    g_ptr_array_add(r->members, (gpointer)start);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_pipes); i++) {
        const WsNode *pipe = ws_node_child(root, WS_F_pipes, i);
        const WsValue *fields = ws_node_get(pipe, WS_F_fields);
        for (guint k = 0; k < fields->n; k++)
            if (pipe == start || ws_edit_object(r->design, fields->item[k].text) == start) {
                join(r, pipe);
                add_pipe_fields(r, pipe);
            }
    }
    for (gboolean grown = TRUE; grown;) {
        grown = FALSE;
        for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++)
            grown |= tie_below(r, ws_node_child(root, WS_F_groups, i));
    }
}

static char *field_text(const WsNode *node, WsFieldId field)
{
    g_autoptr(WsJson) json = ws_json_of_field(node, field);
    return json != NULL ? ws_json_print(json) : NULL;
}

/* Whether two buffers are the same ring under two names, stage by stage. */
static gboolean is_same_ring(const WsNode *a, const WsNode *b)
{
    static const WsFieldId shape[] = { WS_F_dtype, WS_F_tile,    WS_F_array,  WS_F_stages,
                                       WS_F_pad,   WS_F_swizzle, WS_F_k_order };
    static const WsFieldId part[] = { WS_F_over, WS_F_offset };
    const WsNode *const both[] = { a, b };
    gboolean same = TRUE;
    for (guint i = 0; i < G_N_ELEMENTS(shape) && same; i++) {
        g_autofree char *x = field_text(a, shape[i]);
        g_autofree char *y = field_text(b, shape[i]);
        same = g_strcmp0(x, y) == 0;
    }
    for (guint i = 0; i < G_N_ELEMENTS(both) && same; i++) {
        const WsRef *over = ws_node_refv(both[i], part[0]);
        same = !ws_node_has(both[i], part[1]) &&
               (over == NULL || (over->element == NULL && over->use == NULL && over->n_views == 0));
    }
    return same;
}

const WsNode *ws_edit_laid_over(const WsDesign *design, const WsNode *buffer, gboolean alike)
{
    const WsNode *root = ws_design_root(design);
    const char *own = ws_edit_root(design, ws_node_name(buffer));
    for (guint i = 0; i < ws_node_n_children(root, WS_F_buffers); i++) {
        const WsNode *other = ws_node_child(root, WS_F_buffers, i);
        if (other != buffer && g_strcmp0(ws_edit_root(design, ws_node_name(other)), own) == 0 &&
            is_same_ring(buffer, other) == alike)
            return other;
    }
    return NULL;
}

/* The members share no bytes with a buffer that would not follow them: through it other stages
 * would be seen than before, and nothing need be a race. */
static gboolean stands_alone(WsDraft *d, const WsNode *object)
{
    const WsNode *other =
        object->kind == WS_NODE_BUFFER ? ws_edit_laid_over(d->design, object, FALSE) : NULL;
    return other == NULL || ws_draft_refuse(d, "%s shares bytes with %s, which is another ring",
                                            ws_node_name(object), ws_node_name(other));
}

/* Names for the bytes of a member that are the same ring. */
static void add_aliases(Ring *r)
{
    const WsNode *root = ws_design_root(r->design);
    for (guint i = 0; i < r->members->len; i++) {
        const WsNode *member = r->members->pdata[i];
        const char *own = ws_edit_root(r->design, ws_node_name(member));
        for (guint k = 0; k < ws_node_n_children(root, WS_F_buffers); k++) {
            const WsNode *other = ws_node_child(root, WS_F_buffers, k);
            if (member->kind == WS_NODE_BUFFER &&
                g_strcmp0(ws_edit_root(r->design, ws_node_name(other)), own) == 0)
                join(r, other);
        }
    }
}

static gboolean set_constant(WsDraft *d, const char *name, gint64 depth)
{
    const WsNode *root = ws_design_root(d->design);
    return ws_draft_set(
        d, root->identity, WS_F_constants,
        ws_json_with(ws_json_of_field(root, WS_F_constants), name, ws_json_int(depth)));
}

gboolean ws_edit_depth(WsDraft *d, guint64 node, gint64 depth)
{
    const WsNode *object = ws_draft_node(d, node);
    if (object == NULL || depth_field(object->kind) == WS_F_COUNT)
        return ws_draft_refuse(d, "only buffers, barriers and pipes have a depth");
    const gint64 now = ws_edit_depth_of(d->design, object);
    if (now <= 0)
        return ws_draft_refuse(d, "its depth is an expression; change it in the inspector");
    if (depth < 1)
        return ws_draft_refuse(d, "a ring has at least one stage");
    ws_draft_name(d, "Ring depth of %s", ws_node_name(object));
    ws_draft_touch(d, node);
    if (constant_of(object) != NULL)
        return stands_alone(d, object) && set_constant(d, constant_of(object), depth);
    g_autoptr(GPtrArray) members = g_ptr_array_new();
    Ring r = { d->design, now, members };
    gather(&r, object);
    add_aliases(&r);
    for (guint i = 0; i < members->len; i++)
        if (!stands_alone(d, members->pdata[i]))
            return FALSE;
    g_autoptr(GArray) who = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint i = 0; i < members->len; i++)
        g_array_append_val(who, ((WsNode *)members->pdata[i])->identity);
    for (guint i = 0; i < who->len; i++) {
        const WsNode *member = ws_draft_node(d, g_array_index(who, guint64, i));
        if (!ws_draft_set(d, member->identity, depth_field(member->kind),
                          depth == 1 ? NULL : ws_json_int(depth)))
            return FALSE;
    }
    return TRUE;
}
