#include "model/finding.h"
#include "model/findings.h"
#include "ui/gesture/gesture_private.h"

#include "ui/parts/format.h"
#include "ui/parts/words.h"
#include "ui/window/window.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#define PORT 6.0 /* units around the end of an item that are its port */

/* --- what is where ------------------------------------------------------------------------------
 */

gboolean ws_gesture_is_step(const WsScene *scene, const WsSceneItem *item)
{
    const WsRowKind row = g_array_index(scene->row, WsSceneRow, item->row).kind;
    return item->step && !item->measured && item->shape != WS_SHAPE_DENSE &&
           (row == WS_ROW_CONTROL || row == WS_ROW_ASYNC);
}

void ws_gesture_port(WsTimeline *t, const WsSceneItem *item, double *x, double *y)
{
    const WsSceneZone *zone = ws_scene_zone(t->scene, item);
    /* before what narrow steps behind it are given of it */
    *x = ws_scene_narrow(item) ? zone->port : item->x + item->w - zone->given;
    *x += ws_timeline_offset(t) + WS_TIMELINE_GUTTER;
    *y = item->y + item->h * (zone->above > zone->given ? 0.75 : 0.5) - t->view.at.y;
}

/* Whether an edge begins at the end of an item. One that is narrow and only waits or tells has
 * none: it is there to be moved, by its edges too (C begins an edge anywhere). */
gboolean ws_gesture_has_port(WsTimeline *t, const WsSceneItem *item)
{
    const WsSceneZone *zone = ws_scene_zone(t->scene, item);
    if (item->w >= 3 * PORT)
        return TRUE;
    if (ws_scene_narrow(item) && zone->x1 - zone->port < PORT / 2)
        return FALSE;
    const WsDesign *design = ws_document_design(t->document);
    const WsNode *node = design && item->step ? ws_design_find(design, item->step) : NULL;
    return !node || (node->kind != WS_STEP_WAIT && node->kind != WS_STEP_ARRIVE &&
                     node->kind != WS_STEP_EXPECT);
}

/* The item whose port is there: the last of its own width if it is wide enough, or a little beyond
 * its end where nothing else is. */
static const WsSceneItem *port_at(WsTimeline *t, double x, double y)
{
    const WsSceneItem *under = ws_timeline_hit(t, x, y), *best = NULL;
    double least = PORT, px, py;
    if (under && ws_gesture_is_step(t->scene, under)) {
        ws_gesture_port(t, under, &px, &py);
        return ((under->w >= 3 * PORT && px - x < PORT) || x > px) && ws_gesture_has_port(t, under)
                   ? under
                   : NULL;
    }
    for (guint i = 0; t->scene && i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        const double end = item->x + item->w + ws_timeline_offset(t) + WS_TIMELINE_GUTTER;
        if (fabs(x - end) > 3 * PORT || ws_scene_narrow(item) ||
            !ws_gesture_is_step(t->scene, item))
            continue;
        ws_gesture_port(t, item, &px, &py);
        if (fabs(y - py) > item->h / 2 + 1 || x < px || x - px >= least)
            continue;
        least = x - px;
        best = item;
    }
    return best;
}

const char *ws_gesture_cursor(WsTimeline *t, double x, double y)
{
    if (!t->scene || x < 0)
        return NULL;
    if (ws_gesture_ring_at(t, x, y))
        return "row-resize";
    if (port_at(t, x, y))
        return "crosshair";
    const WsSceneItem *item = ws_timeline_hit(t, x, y);
    return item && ws_gesture_is_step(t->scene, item) ? "grab" : NULL;
}

double ws_gesture_ghost_x(WsTimeline *t, double scene_x)
{
    const WsGesture *g = t->gesture;
    const double from = t->view.at.from - (double)t->later[0];
    const double offset =
        g->ghost_folded ? 0 : floor((g->ghost_unit - from) * t->view.at.scale + 0.5);
    return scene_x + offset + WS_TIMELINE_GUTTER;
}

const WsNode *ws_gesture_node(const WsGesture *g, const WsSceneItem *item)
{
    gpointer known;
    if (!item || !item->step)
        return NULL;
    if (g_hash_table_lookup_extended(g->node_of, item->step, NULL, &known))
        return known;
    const WsNode *node = ws_design_find(g->shown, item->step);
    node = node ? ws_design_by_identity(g->latest, node->identity) : NULL;
    g_hash_table_insert(g->node_of, g_strdup(item->step), (gpointer)node);
    return node;
}

const WsSceneItem *ws_gesture_item_at(WsTimeline *t, double x, double y)
{
    const WsGesture *g = t->gesture;
    const WsSceneItem *found =
        ws_scene_hit(g->ghost, x - ws_gesture_ghost_x(t, 0), y + t->view.at.y);
    return found && ws_gesture_is_step(g->ghost, found) ? found : NULL;
}

/* --- words beside the pointer -------------------------------------------------------------------
 */

/* Only what runs, before and now, has times to be compared. */
static char *gain_text(WsDocument *d)
{
    WsClockResult *before = ws_document_former_clock(d), *now = ws_document_clock(d);
    if (!before || !now || before->cycles <= 0 ||
        ws_findings_count(ws_document_findings(d), WS_SEVERITY_ERROR))
        return NULL;
    const gint64 by = now->cycles - before->cycles;
    if (by == 0)
        return g_strdup(_("as fast as before"));
    g_autofree char *cycles = ws_format_int(by);
    g_autofree char *share = ws_format_share(fabs((double)by) / (double)before->cycles);
    return g_strdup_printf(by < 0 ? _("%s cycles, %s gained") : _("+%s cycles, %s lost"), cycles,
                           share);
}

static char *verdict_text(WsDocument *d)
{
    WsVerdict *verdict = ws_document_verdict(d);
    WsFindings *findings = ws_document_findings(d);
    for (guint i = 0; findings && i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->severity == WS_SEVERITY_ERROR) {
            g_autofree char *message = ws_words_message(f);
            return g_strdup_printf("✖ %s %s", ws_rule(f->rule)->text, message);
        }
    }
    if (!verdict)
        return g_strdup(_("checking…"));
    g_autofree char *words = ws_words_verdict_given(verdict);
    return g_strdup_printf(verdict->kind == WS_VERDICT_PROVED ? "✔ %s" : "? %s", words);
}

static void say(WsTimeline *t)
{
    WsGesture *g = t->gesture;
    WsDocument *d = t->document;
    g_autoptr(GString) s = g_string_new(NULL);
    if (g->refused) {
        g_string_append_printf(s, "✖ %s", g->refused);
    } else if (g->draft) {
        g_string_append(s, g->what ? g->what : "");
        if (ws_document_trying(d) && ws_document_design(d) == g->draft->design) {
            g_autofree char *verdict = verdict_text(d), *gain = gain_text(d);
            if (gain)
                g_string_append_printf(s, "%s%s", s->len ? "\n" : "", gain);
            g_string_append_printf(s, "%s%s", s->len ? "\n" : "", verdict);
        } else {
            g_string_append_printf(s, "%s%s", s->len ? "\n" : "", _("checking…"));
        }
    } else if (g->what) {
        g_string_append(s, g->what);
    }
    if (!g_strcmp0(g->words, s->str))
        return;
    g_free(g->words);
    g->words = g_strdup(s->str);
    gtk_widget_queue_draw(t->canvas);
}

static void previewed(WsDocument *d, WsTimeline *t)
{
    if (t->gesture)
        say(t);
}

static WsWindow *window_of(WsTimeline *t)
{
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(t));
    return root && WS_IS_WINDOW(root) ? WS_WINDOW(root) : NULL;
}

static void set_dragging(WsTimeline *t, gboolean dragging)
{
    WsWindow *w = window_of(t);
    if (w)
        ws_window_set_dragging(w, dragging);
}

/* --- its life ------------------------------------------------------------------------------------
 */

/* `kept`: what was tried is the score now, and stays where it is shown. */
static void free_gesture(WsTimeline *t, gboolean kept)
{
    WsGesture *g = g_steal_pointer(&t->gesture);
    if (!kept && !t->view.at.folded)
        t->view.at.from -= (double)t->later[0];
    memset(t->later, 0, sizeof t->later);
    g_clear_pointer(&t->scene, ws_scene_free); /* its ruler was that of the score before */
    ws_timeline_refresh(t);
    g_signal_handlers_disconnect_by_func(t->document, previewed, t);
    g_clear_pointer(&g->shown, ws_design_unref);
    g_clear_pointer(&g->latest, ws_design_unref);
    g_clear_pointer(&g->draft, ws_draft_free);
    g_clear_pointer(&g->ghost, ws_scene_free);
    g_clear_pointer(&g->ghost_node, gsk_render_node_unref);
    g_clear_pointer(&g->nodes, g_array_unref);
    g_clear_pointer(&g->node_of, g_hash_table_unref);
    g_free(g->key);
    g_free(g->refused);
    g_free(g->what);
    g_free(g->words);
    g_free(g);
    set_dragging(t, FALSE);
    gtk_widget_set_cursor(t->canvas, NULL);
    gtk_widget_queue_draw(t->canvas);
}

/* The scene of the moment becomes the ghost; a new one is made for what is tried. */
static WsGesture *begin(WsTimeline *t, WsGestureKind kind, const WsSceneItem *item, double x,
                        double y)
{
    WsGesture *g = g_new0(WsGesture, 1);
    const guint at = item ? item->id - 1 : 0;
    g->kind = kind;
    g->x0 = g->x = x;
    g->y0 = g->y = y;
    g->shown = ws_design_ref(ws_document_design(t->document));
    g->latest = ws_design_ref(ws_document_latest(t->document));
    g->ghost_folded = t->view.at.folded;
    g->ghost_unit = t->scene_unit;
    g->nodes = g_array_new(FALSE, FALSE, sizeof(guint64));
    g->node_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    t->gesture = g;
    g->ghost = ws_timeline_take_scene(t);
    g->item = item ? &g_array_index(g->ghost->item, WsSceneItem, at) : NULL;
    g_signal_connect(t->document, "previewed", G_CALLBACK(previewed), t);
    gtk_widget_grab_focus(t->canvas); /* Escape comes here */
    return g;
}

/* What moves along: the selection if the item belongs to it. */
static void collect_nodes(WsTimeline *t, WsGesture *g)
{
    const WsNode *node = ws_gesture_node(g, g->item);
    if (!node)
        return;
    if (ws_document_selected(t->document, g->item->step)) {
        g_autoptr(GArray) all = ws_document_selected_nodes(t->document);
        for (guint i = 0; i < all->len; i++) {
            const WsNode *each = ws_design_by_identity(g->latest, g_array_index(all, guint64, i));
            if (each && ws_node_kind_is_step(each->kind))
                g_array_append_val(g->nodes, each->identity);
        }
    }
    if (!g->nodes->len)
        g_array_append_val(g->nodes, node->identity);
}

static gboolean start_ring(WsTimeline *t, const WsSceneStaff *staff, double x, double y)
{
    g_autofree char *path = g_strdup_printf("buffers/%s", staff->object ? staff->object : "");
    const WsNode *ring = ws_design_find(ws_document_latest(t->document), path);
    if (!ring)
        return FALSE;
    const double pitch = MAX(staff->h / MAX(staff->n_rows, 1), 8);
    WsGesture *g = begin(t, WS_GESTURE_RING, NULL, x, y);
    g->ring = ring->identity;
    g->pitch = pitch;
    g->depth0 = g->depth = ws_edit_depth_of(g->latest, ring);
    return TRUE;
}

gboolean ws_gesture_start(WsTimeline *t, double x, double y)
{
    if (!t->scene) /* an answer has come since the last frame */
        ws_timeline_sync(t);
    if (t->gesture || !t->scene || t->order || !ws_document_latest(t->document) ||
        ws_document_trying(t->document))
        return FALSE;
    const WsSceneStaff *staff = ws_gesture_ring_at(t, x, y);
    if (staff)
        return start_ring(t, staff, x, y);
    const WsSceneItem *port = port_at(t, x, y), *item = ws_timeline_hit(t, x, y);
    if (!port && (!item || !ws_gesture_is_step(t->scene, item)))
        return FALSE;
    WsGesture *g = begin(t, port ? WS_GESTURE_EDGE : WS_GESTURE_MOVE, port ? port : item, x, y);
    collect_nodes(t, g);
    if (!g->nodes->len) { /* a step of a state that is gone */
        free_gesture(t, FALSE);
        return FALSE;
    }
    gtk_widget_set_cursor_from_name(t->canvas, port ? "crosshair" : "grabbing");
    return TRUE;
}

void ws_gesture_take(WsTimeline *t, const char *key, WsDraft *draft, char *what)
{
    WsGesture *g = t->gesture;
    g_free(g->key);
    g->key = g_strdup(key);
    g_free(g->what);
    g->what = what;
    g_clear_pointer(&g->refused, g_free);
    g_clear_pointer(&g->draft, ws_draft_free);
    if (draft && draft->why) {
        g->refused = ws_words(draft->why);
        g_clear_pointer(&draft, ws_draft_free);
    } else if (draft && draft->edits->len == 0) {
        g_clear_pointer(&draft, ws_draft_free); /* where it is already */
    }
    g->draft = draft;
    set_dragging(t, draft != NULL);
    ws_document_try(t->document, draft ? draft->design : NULL);
    say(t);
}

void ws_gesture_set_copy(WsTimeline *t, gboolean copy)
{
    t->gesture->copy = copy;
}

void ws_gesture_move(WsTimeline *t, double x, double y)
{
    static void (*const to[])(WsTimeline * t) = { ws_gesture_move_to, ws_gesture_edge_to,
                                                  ws_gesture_ring_to };
    WsGesture *g = t->gesture;
    g->x = x;
    g->y = y;
    to[g->kind](t);
    gtk_widget_queue_draw(t->canvas);
}

void ws_gesture_finish(WsTimeline *t)
{
    WsGesture *g = t->gesture;
    if (!g)
        return;
    WsDraft *draft = g_steal_pointer(&g->draft);
    g_autofree char *refused = g_steal_pointer(&g->refused);
    WsDocument *d = t->document;
    const gboolean shown = draft && ws_document_design(d) == draft->design;
    if (shown)
        ws_gesture_keep(t, g->latest, draft->design);
    free_gesture(t, shown);
    if (draft) {
        ws_document_commit(d, draft, NULL);
        ws_draft_free(draft);
        return;
    }
    ws_document_try(d, NULL);
    WsWindow *w = window_of(t);
    if (refused && w)
        ws_window_toast(w, refused);
}

gboolean ws_gesture_active(const WsTimeline *t)
{
    return t->gesture != NULL;
}

gboolean ws_gesture_abandon(WsTimeline *t)
{
    if (!t->gesture)
        return FALSE;
    free_gesture(t, FALSE);
    ws_document_try(t->document, NULL);
    return TRUE;
}

void ws_gesture_snapshot(WsTimeline *t, GtkSnapshot *s, double width, double height)
{
    if (!t->gesture) {
        ws_gesture_paint_hover(t, s);
        return;
    }
    ws_gesture_paint_ghost(t, s);
    ws_gesture_paint(t, s, width, height);
}
