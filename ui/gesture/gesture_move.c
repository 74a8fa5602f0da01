/* Dragging a step: between which two executions of the former score it is let go says between which
 * two steps it goes, and in which round. */
#include "model/findings.h"
#include "ui/gesture/gesture_private.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

/* The staff of agents at a height of the canvas; NULL if there is none. */
static const WsSceneStaff *staff_at(WsTimeline *t, double y)
{
    const WsGesture *g = t->gesture;
    const double at = y + t->view.at.y;
    for (guint i = 0; i < g->ghost->staff->len; i++) {
        const WsSceneStaff *staff = &g_array_index(g->ghost->staff, WsSceneStaff, i);
        if (staff->n_agents && at >= staff->y && at <= staff->y + staff->h)
            return staff;
    }
    return NULL;
}

static gboolean moves(const WsGesture *g, const WsNode *node)
{
    for (guint i = 0; i < g->nodes->len; i++)
        if (g_array_index(g->nodes, guint64, i) == node->identity)
            return TRUE;
    return FALSE;
}

/* What is drawn on the line of the agents of a staff: what they do themselves. */
static gboolean on_line(const WsGesture *g, const WsSceneStaff *staff, const WsSceneItem *item)
{
    const WsSceneRow *row = &g_array_index(g->ghost->row, WsSceneRow, item->row);
    return ws_gesture_is_step(g->ghost, item) && row->kind == WS_ROW_CONTROL &&
           item->row >= staff->first_row && item->row < staff->first_row + staff->n_rows;
}

typedef struct {
    const WsSceneItem *before, *behind; /* neighbours of the place, either may be NULL */
} Place;

/* The executions between which x lies, what moves left out. */
static Place place_at(WsTimeline *t, const WsSceneStaff *staff, double x)
{
    const WsGesture *g = t->gesture;
    Place p = { NULL, NULL };
    for (guint i = 0; i < g->ghost->item->len; i++) {
        const WsSceneItem *item = &g_array_index(g->ghost->item, WsSceneItem, i);
        const WsNode *node = on_line(g, staff, item) ? ws_gesture_node(g, item) : NULL;
        if (!node || moves(g, node))
            continue;
        const double middle = ws_gesture_ghost_x(t, item->x + item->w / 2);
        if (middle <= x && (!p.before || item->x >= p.before->x))
            p.before = item;
        if (middle > x && (!p.behind || item->x < p.behind->x))
            p.behind = item;
    }
    return p;
}

/* Round of the loop in which an execution happens: its own, less what it runs ahead. */
static gint64 loop_round(const WsNode *step, const WsSceneItem *item)
{
    return (gint64)item->round - ws_node_int(step, WS_F_ahead, 0);
}

typedef struct {
    WsEditSpot spot;
    gint64 round; /* of the loop; -1: none to speak of */
    const WsSceneItem *beside;
    gboolean behind; /* the place is behind `beside` */
} Target;

static gboolean target_beside(const WsGesture *g, const WsSceneItem *item, gboolean behind,
                              Target *out)
{
    const WsNode *node = ws_gesture_node(g, item);
    const WsNode *owner =
        node ? ws_design_owner(g->latest, node, &out->spot.list, &out->spot.index) : NULL;
    if (!owner)
        return FALSE;
    out->spot.owner = owner->identity;
    out->spot.index += behind ? 1 : 0;
    out->round = item->round >= 0 ? loop_round(node, item) : -1;
    out->beside = item;
    out->behind = behind;
    return TRUE;
}

/* Beside the nearer neighbour; on one's own staff a place in the own loop goes first. */
static gboolean find_target(WsTimeline *t, const WsSceneStaff *staff, Target *out)
{
    const WsGesture *g = t->gesture;
    const Place p = place_at(t, staff, g->x);
    if (!p.before && !p.behind)
        return FALSE;
    const double from =
        p.before ? g->x - ws_gesture_ghost_x(t, p.before->x + p.before->w) : G_MAXDOUBLE;
    const double to = p.behind ? ws_gesture_ghost_x(t, p.behind->x) - g->x : G_MAXDOUBLE;
    const gboolean behind = p.before && (!p.behind || from <= to);
    return target_beside(g, behind ? p.before : p.behind, behind, out);
}

/* How many rounds earlier than now the dragged execution's step would run. */
static gint ahead_by(const WsGesture *g, const Target *to)
{
    const WsNode *node = ws_gesture_node(g, g->item);
    const WsNode *owner = ws_design_owner(g->latest, node, NULL, NULL);
    if (!owner || owner->identity != to->spot.owner || owner->kind != WS_STEP_FOR ||
        ws_node_has(owner, WS_F_over) || to->round < 0 || g->item->round < 0)
        return 0;
    const gint64 ahead = ws_node_int(node, WS_F_ahead, 0);
    const gint64 wanted = (gint64)g->item->round - to->round;
    return (gint)CLAMP(wanted, 0, 64) - (gint)ahead;
}

static char *words_of(const WsGesture *g, const Target *to, gint ahead)
{
    const WsNode *beside = ws_gesture_node(g, to->beside);
    const WsNode *node = ws_gesture_node(g, g->item);
    const WsNode *from = ws_edit_group(g->latest, node), *into = ws_edit_group(g->latest, beside);
    g_autofree char *label = ws_edit_label(beside);
    GString *s = g_string_new(g->copy ? _("a copy ") : NULL);
    g_string_append_printf(s, to->behind ? _("after %s") : _("before %s"), label);
    if (into && from != into)
        g_string_append_printf(s, _(" in %s"), ws_node_name(into));
    const gint64 now = ws_node_int(node, WS_F_ahead, 0) + ahead;
    g_autofree char *rounds = g_strdup_printf(
        g_dngettext(NULL, "%d round ahead", "%d rounds ahead", (gulong)now), (int)now);
    if (ahead)
        g_string_append_printf(s, ", %s", now == 0 ? _("in its own round") : rounds);
    return g_string_free(s, FALSE);
}

static void mark(WsTimeline *t, const WsSceneStaff *staff, const Target *to)
{
    WsGesture *g = t->gesture;
    g->beside = to->beside;
    g->mark_x = ws_gesture_ghost_x(t, to->beside->x + (to->behind ? to->beside->w : 0));
    g->mark_y = staff->y - t->view.at.y;
    g->mark_h = staff->h;
}

static void copy_to(WsDraft *draft, const WsGesture *g, WsEditSpot spot)
{
    g_autofree char *text =
        ws_edit_copy(g->latest, (const guint64 *)(gpointer)g->nodes->data, g->nodes->len);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) clip = text ? ws_design_parse(text, strlen(text), NULL, findings) : NULL;
    if (clip)
        ws_edit_paste(draft, clip, spot);
    else
        ws_draft_refuse(draft, "%s", _("This cannot be copied."));
}

/* What goes along is part of what is meant: it is named beside the pointer. */
static char *with_along(const WsGesture *g, const WsAlong *along, const char *words)
{
    const GArray *const both[] = { along->before, along->behind };
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint k = 0; k < G_N_ELEMENTS(both); k++)
        for (guint i = 0; i < both[k]->len; i++) {
            const WsNode *step =
                ws_design_by_identity(g->latest, g_array_index(both[k], guint64, i));
            g_autofree char *label = ws_edit_label(step);
            g_string_append_printf(names, "%s%s", names->len ? ", " : "", label);
        }
    return names->len ? g_strdup_printf(_("%s, with %s"), words, names->str) : g_strdup(words);
}

void ws_gesture_move_to(WsTimeline *t)
{
    WsGesture *g = t->gesture;
    const WsSceneStaff *staff = staff_at(t, g->y);
    Target to = { 0 };
    g->mark_h = 0;
    g->beside = NULL;
    if (!staff || !find_target(t, staff, &to)) {
        if (g_strcmp0(g->key, ""))
            ws_gesture_take(t, "", NULL, g_strdup(_("onto a track")));
        return;
    }
    const gint ahead = g->copy ? 0 : ahead_by(g, &to);
    g_autofree char *key = g_strdup_printf("%" G_GUINT64_FORMAT " %d %u %d %d", to.spot.owner,
                                           to.spot.list, to.spot.index, ahead, g->copy);
    mark(t, staff, &to);
    if (!g_strcmp0(g->key, key))
        return;
    WsDraft *draft = ws_draft_new(g->latest);
    g_autofree char *words = words_of(g, &to, ahead);
    if (g->copy) {
        copy_to(draft, g, to.spot);
        ws_gesture_take(t, key, draft, g_steal_pointer(&words));
        return;
    }
    const guint64 *nodes = (const guint64 *)(gpointer)g->nodes->data;
    g_autoptr(WsAlong) along = ws_edit_along(g->latest, nodes, g->nodes->len, to.spot, ahead);
    ws_edit_move_along(draft, nodes, g->nodes->len, to.spot, ahead, along);
    ws_gesture_take(t, key, draft, with_along(g, along, words));
}
