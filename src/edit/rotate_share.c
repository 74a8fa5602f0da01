/* Bytes that another agent may write while a rotated step has not touched them yet. A ring that is
 * given back stage by stage keeps writers away; whatever is not such a ring is taken for shared. */
#include "edit/rotate_touch.h"

#include <string.h>

static char *printed(const WsNode *node, WsFieldId field)
{
    const WsExpr *e = ws_node_expr(node, field);
    return e != NULL ? ws_expr_print(e) : g_strdup("");
}

static gboolean same_text(const WsNode *a, WsFieldId f, const WsNode *b, WsFieldId g)
{
    g_autofree char *x = printed(a, f), *y = printed(b, g);
    return strcmp(x, y) == 0;
}

/* The barrier or pipe that a step asks (`wait`, `acquire`) or gives back to (`arrive`, `release`),
 * without an element, slot or phase of its own; NULL: none. */
static const char *room_of(const WsNode *step, gboolean asks)
{
    static const WsFieldId own[] = { WS_F_slot, WS_F_phase, WS_F_ahead };
    const WsRef *ref = ws_node_refv(step, WS_F_keyword);
    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        if (ws_node_has(step, own[i]))
            return NULL;
    if (step->kind == (asks ? WS_STEP_ACQUIRE : WS_STEP_RELEASE))
        return ws_node_text(step, WS_F_keyword);
    return step->kind == (asks ? WS_STEP_WAIT : WS_STEP_ARRIVE) && ref != NULL &&
                   ref->element == NULL && ref->use == NULL
               ? ref->name
               : NULL;
}

/* As many slots as the buffer has stages: a completion stands for the stage of its use. */
static gboolean is_as_deep(const WsDesign *design, const char *room, const char *buffer)
{
    const WsNode *r = ws_edit_object(design, room), *b = ws_edit_object(design, buffer);
    if (r == NULL || b == NULL)
        return FALSE;
    return r->kind == WS_NODE_PIPE ? ws_edit_pipe_of(design, buffer) == r
                                   : same_text(r, WS_F_slots, b, WS_F_stages);
}

/* Whether the step itself touches the buffer of that root, at the use of the step and nowhere else.
 */
static gboolean touches_once(const WsTurnTouch *t, const WsNode *step, const char *root)
{
    guint n, found = 0;
    const WsFieldRow *rows = ws_node_rows(step->kind, &n);
    for (guint i = 0; i < n; i++) {
        const WsRef *ref = ws_node_refv(step, rows[i].field);
        if (ws_node_n_children(step, rows[i].field) > 0)
            return FALSE;
        if (ref == NULL || strcmp(ws_edit_root(t->design, ref->name), root) != 0)
            continue;
        found++;
        if (ref->use != NULL)
            return FALSE;
    }
    return found == 1;
}

/* Whether `b` gives the stage back behind itself in the second part, in every round and to
 * everybody who writes it. */
static gboolean gives_back(const WsTurnTouch *t, const WsTurnStep *b, const char *room)
{
    const gboolean alone = ws_node_int(ws_design_root(t->design), WS_F_cluster, 1) == 1;
    for (guint i = b->index + 1; i < ws_node_n_children(t->loop, WS_F_do); i++) {
        const WsNode *step = ws_node_child(t->loop, WS_F_do, i);
        if (g_strcmp0(room_of(step, FALSE), room) == 0 && !ws_node_has(step, WS_F_when) &&
            same_text(step, WS_F_use, b->step, WS_F_use) &&
            (alone || step->kind == WS_STEP_RELEASE ||
             g_strcmp0(ws_node_text(step, WS_F_cta), "all") == 0))
            return TRUE;
    }
    return FALSE;
}

/* Whether the step at `at` of a list writes the buffer only where `b` has given its stage back: it
 * stands behind a wait for that, of the same use. */
static gboolean is_kept_away(const WsTurnTouch *t, const WsTurnStep *b, const WsNode *owner,
                             WsFieldId list, guint at, const WsRef *written)
{
    const WsNode *step = ws_node_child(owner, list, at);
    for (guint i = 0; written->use == NULL && !ws_node_has(step, WS_F_ahead) && i < at; i++) {
        const WsNode *wait = ws_node_child(owner, list, i);
        const char *room = room_of(wait, TRUE);
        if (room != NULL && !ws_node_has(wait, WS_F_when) &&
            same_text(wait, WS_F_use, step, WS_F_use) &&
            is_as_deep(t->design, room, written->name) &&
            touches_once(t, b->step, ws_edit_root(t->design, written->name)) &&
            gives_back(t, b, room))
            return TRUE;
    }
    return FALSE;
}

static gboolean is_written(const WsTurnTouch *t, const WsTurnStep *b, const WsNode *node,
                           const char *root);

/* Whether the step at `at` of a list, or what is below it, may write bytes of that root. */
static gboolean may_write(const WsTurnTouch *t, const WsTurnStep *b, const WsNode *owner,
                          WsFieldId list, guint at, const char *root)
{
    guint n;
    const WsNode *step = ws_node_child(owner, list, at);
    const WsFieldRow *rows = ws_node_rows(step->kind, &n);
    if (step->kind == WS_STEP_RAW) /* what it writes is in maps and lists */
        return TRUE;
    for (guint i = 0; i < n; i++) {
        const WsRef *ref = ws_node_refv(step, rows[i].field);
        if (ref != NULL && ws_edit_is_touch(step->kind, rows[i].field, TRUE) &&
            strcmp(ws_edit_root(t->design, ref->name), root) == 0 &&
            !is_kept_away(t, b, owner, list, at, ref))
            return TRUE;
    }
    return is_written(t, b, step, root);
}

static gboolean is_written(const WsTurnTouch *t, const WsTurnStep *b, const WsNode *node,
                           const char *root)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            if (rows[i].kind == WS_FIELD_STEPS && may_write(t, b, node, rows[i].field, c, root))
                return TRUE;
    return FALSE;
}

/* One agent of several of the same group may be the other one. */
static gboolean has_siblings(const WsTurnTouch *t)
{
    return ws_node_has(t->group, WS_F_replicate) ||
           ws_node_int(ws_design_root(t->design), WS_F_cluster, 1) > 1;
}

static gboolean is_buffer(const WsTurnTouch *t, const char *name)
{
    const WsNode *object = ws_edit_object(t->design, name);
    return object != NULL && object->kind == WS_NODE_BUFFER;
}

gboolean ws_turn_shares(const WsTurnTouch *t, const WsTurnStep *b)
{
    const WsNode *root = ws_design_root(t->design);
    GHashTable *const sets[] = { b->reads, b->writes, b->lands };
    for (guint k = 0; k < G_N_ELEMENTS(sets); k++) {
        GHashTableIter iter;
        gpointer name;
        g_hash_table_iter_init(&iter, sets[k]);
        while (g_hash_table_iter_next(&iter, &name, NULL))
            for (guint g = 0; g < ws_node_n_children(root, WS_F_groups) && is_buffer(t, name);
                 g++) {
                const WsNode *group = ws_node_child(root, WS_F_groups, g);
                if ((group != t->group || has_siblings(t)) && is_written(t, b, group, name))
                    return TRUE;
            }
    }
    return FALSE;
}
