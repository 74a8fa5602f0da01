/* Turns: the replicas of a group go through a stretch of steps one after the other. An edge drawn
 * from a step of one replica to a step of another: a barrier of each replica's own, awaited before
 * the stretch, told to the next replica behind it. */
#include "edit/edit.h"

#include <string.h>

/* The steps `first` to `last` of a list. */
typedef struct {
    const WsNode *owner;
    WsFieldId list;
    guint first, last;
} Stretch;

/* Position in the list of the step that `node` is, or lies in. */
static gboolean position(const WsDesign *design, const Stretch *s, const WsNode *node, guint *index)
{
    WsFieldId list;
    guint at;
    for (const WsNode *owner; (owner = ws_design_owner(design, node, &list, &at)) != NULL;
         node = owner)
        if (owner == s->owner && list == s->list) {
            *index = at;
            return TRUE;
        }
    return FALSE;
}

static gboolean in_tile_loop(const WsDesign *design, const WsNode *node)
{
    for (; node != NULL; node = ws_design_owner(design, node, NULL, NULL))
        if (node->kind == WS_STEP_FOR && ws_node_has(node, WS_F_over))
            return TRUE;
    return FALSE;
}

/* The innermost list that both lie in; for another tile, the list of the loop over tiles. */
static gboolean find_stretch(const WsDesign *design, const WsNode *from, const WsNode *to,
                             gboolean other_tile, Stretch *s)
{
    const gboolean outward = other_tile && in_tile_loop(design, to);
    for (const WsNode *at = to; ws_node_kind_is_step(at->kind); at = s->owner) {
        s->owner = ws_design_owner(design, at, &s->list, &s->first);
        if (position(design, s, from, &s->last) &&
            (!outward || (s->owner->kind == WS_STEP_FOR && ws_node_has(s->owner, WS_F_over))))
            return TRUE;
    }
    return FALSE;
}

gint64 ws_edit_replicas(const WsNode *group)
{
    return ws_node_int(group, WS_F_replicate, ws_node_has(group, WS_F_replicate) ? 0 : 1);
}

/* A barrier for each replica, of which the first one's starts ready. */
static gboolean add_barrier(WsDraft *d, gint64 replicas, WsConnection *how)
{
    g_autofree char *name = ws_edit_fresh(d->design, "turn");
    WsJson *init = ws_json_list();
    for (gint64 i = 0; i < replicas; i++)
        ws_json_add(init, ws_json_text(i == 0 ? "ready" : "pending"));
    how->fresh = how->wait = how->arrive = how->turn = TRUE;
    g_strlcpy(how->barrier, name, sizeof how->barrier);
    g_snprintf(how->slots, sizeof how->slots, "%" G_GINT64_FORMAT, replicas);
    return ws_draft_append(d, ws_design_root(d->design)->identity, WS_F_barriers,
                           WS_MAKE(WS_NODE_BARRIER, { WS_F_name, ws_json_text(name) },
                                   { WS_F_array, ws_json_int(replicas) }, { WS_F_init, init })) !=
           0;
}

static gboolean add_step(WsDraft *d, const Stretch *s, guint index, WsNodeKind kind,
                         const char *element, const WsConnection *how, const WsNode *beside)
{
    const gint64 ahead = ws_node_int(beside, WS_F_ahead, 0);
    const guint64 step = ws_draft_insert(
        d, s->owner->identity, s->list, index,
        WS_MAKE(kind, { WS_F_keyword, ws_json_format("%s[%s]", how->barrier, element) },
                { WS_F_by, kind == WS_STEP_ARRIVE ? ws_json_text("all") : NULL },
                { WS_F_use, ws_json_expr(how->use_to) },
                { WS_F_ahead, ahead > 0 ? ws_json_int(ahead) : NULL }));
    if (step != 0)
        ws_draft_touch(d, step);
    return step != 0;
}

static void describe(WsConnection *how, const WsDesign *design, const Stretch *s)
{
    const WsNode *first = ws_node_child(s->owner, s->list, s->first);
    g_autofree char *a = ws_edit_label(first);
    g_autofree char *b = ws_edit_label(ws_node_child(s->owner, s->list, s->last));
    const WsNode *loop = ws_edit_loop(design, first);
    g_strlcpy(how->first, a, sizeof how->first);
    g_strlcpy(how->last, b, sizeof how->last);
    if (loop != NULL) {
        g_snprintf(how->use_to, sizeof how->use_to, "%s.total", ws_node_text(loop, WS_F_keyword));
        g_strlcpy(how->use_from, how->use_to, sizeof how->use_from);
    }
}

gboolean ws_edit_turn(WsDraft *d, guint64 from_id, guint64 to_id, gboolean other_tile,
                      WsConnection *how)
{
    const WsNode *from = ws_draft_node(d, from_id), *to = ws_draft_node(d, to_id);
    const WsNode *group = from != NULL ? ws_edit_group(d->design, from) : NULL;
    Stretch s;
    *how = (WsConnection){ 0 };
    if (to == NULL || group == NULL || group != ws_edit_group(d->design, to))
        return ws_draft_refuse(d, "a turn runs from one replica of a group to another");
    const gint64 replicas = ws_edit_replicas(group);
    if (replicas < 2)
        return ws_draft_refuse(d, "%s needs two replicas before they can take turns",
                               ws_node_name(group));
    if (!find_stretch(d->design, from, to, other_tile, &s))
        return ws_draft_refuse(d, "these steps share no list");
    if (s.last < s.first)
        return ws_draft_refuse(d, "a turn ends after the step that it begins at: draw the edge "
                                  "from the later step to the earlier one");
    describe(how, d->design, &s);
    /* The same nodes before and after each insertion: only indices behind it move. */
    const WsNode *first = ws_node_child(s.owner, s.list, s.first);
    const WsNode *last = ws_node_child(s.owner, s.list, s.last);
    if (!add_barrier(d, replicas, how))
        return FALSE;
    const char *next = replicas == 2 ? "1 - replica" : "(replica + 1) % replicas";
    const gboolean made = add_step(d, &s, s.last + 1, WS_STEP_ARRIVE, next, how, last) &&
                          add_step(d, &s, s.first, WS_STEP_WAIT, "replica", how, first);
    g_autofree char *what =
        g_strdup_printf("%s (%s … %s)", ws_node_name(group), how->first, how->last);
    ws_draft_name(d, "Take turns in %s", what);
    return made;
}
