/* Pointer: zoom, pan, selection by click and marquee, range on the ruler, hover facts, menu. */
#include "ui/app/actions.h"
#include "ui/app/settings.h"
#include "ui/compose/edit_menu.h"
#include "ui/gesture/gesture.h"
#include "ui/timeline/timeline_private.h"

#include <glib/gi18n.h>
#include <math.h>

#define CLICK 4.0 /* pixels before a press is a drag */

void ws_timeline_focus_of(const WsSceneItem *item, WsFocus *focus)
{
    *focus = (WsFocus){ item->step, item->agent, item->tile, item->round };
}

/* --- wheel and pinch
 * ------------------------------------------------------------------------------
 */

static gboolean wheel(GtkEventControllerScroll *c, double dx, double dy, WsTimeline *t)
{
    GdkModifierType state = gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(c));
    gboolean steps = gtk_event_controller_scroll_get_unit(c) == GDK_SCROLL_UNIT_WHEEL;
    double x = t->pointer_x >= 0 ? t->pointer_x - WS_TIMELINE_GUTTER : t->view.width / 2;
    if (state & GDK_CONTROL_MASK) {
        ws_timeline_zoom_at(t, CLAMP(x, 0, t->view.width),
                            pow(steps ? 1.2 : 1.01, -(dy != 0 ? dy : dx)));
        return TRUE;
    }
    double by = steps ? 60 : 1 / t->page_scale;
    gboolean swap = !!(state & GDK_SHIFT_MASK) != ws_settings_boolean("swap-wheel", FALSE);
    if (swap && steps && dx == 0)
        ws_timeline_scroll_by(t, dy * by, 0);
    else
        ws_timeline_scroll_by(t, dx * by, dy * by);
    return TRUE;
}

static void pinch_begin(GtkGesture *g, GdkEventSequence *sequence, WsTimeline *t)
{
    t->pinch = 1;
}

static void pinched(GtkGestureZoom *g, double scale, WsTimeline *t)
{
    double x, y;
    if (scale <= 0 || t->pinch <= 0)
        return;
    if (gtk_gesture_is_recognized(GTK_GESTURE(g)) &&
        gtk_gesture_get_bounding_box_center(GTK_GESTURE(g), &x, &y))
        ws_timeline_page(t, &x, NULL);
    else /* fingers that nobody located: about the pointer */
        x = t->pointer_x >= 0 ? t->pointer_x : WS_TIMELINE_GUTTER + t->view.width / 2;
    ws_timeline_zoom_at(t, CLAMP(x - WS_TIMELINE_GUTTER, 0, t->view.width), scale / t->pinch);
    t->pinch = scale;
}

/* --- the middle button, and Space with the first
 * --------------------------------------------------
 */

static void pan_begin(WsTimeline *t)
{
    t->pan_x = t->pan_y = 0;
    ws_pane_push(&t->view, g_get_monotonic_time(), 700000);
    gtk_widget_set_cursor_from_name(t->canvas, "grabbing");
}

static void pan_update(WsTimeline *t, double dx, double dy)
{
    ws_timeline_scroll_by(t, t->pan_x - dx, t->pan_y - dy);
    t->pan_x = dx;
    t->pan_y = dy;
}

static void middle_begin(GtkGestureDrag *g, double x, double y, WsTimeline *t)
{
    gtk_gesture_set_state(GTK_GESTURE(g), GTK_EVENT_SEQUENCE_CLAIMED);
    pan_begin(t);
}

static void middle_update(GtkGestureDrag *g, double dx, double dy, WsTimeline *t)
{
    ws_timeline_page(t, &dx, &dy);
    pan_update(t, dx, dy);
}

static void middle_end(GtkGestureDrag *g, double dx, double dy, WsTimeline *t)
{
    gtk_widget_set_cursor(t->canvas, NULL);
}

/* --- the first button
 * -----------------------------------------------------------------------------
 */

/* An answer may have come since the last frame: the pointer acts on the score as it is. */
static void up_to_date(WsTimeline *t)
{
    if (!t->scene)
        ws_timeline_sync(t);
}

static void first_begin(GtkGestureDrag *g, double x, double y, WsTimeline *t)
{
    ws_timeline_page(t, &x, &y);
    up_to_date(t);
    t->drag_x = x;
    t->drag_y = y;
    t->drag_dx = t->drag_dy = 0;
    t->drift_x = t->drift_y = 0;
    gtk_widget_grab_focus(t->canvas);
    if (t->space) {
        t->drag = WS_DRAG_PAN;
        pan_begin(t);
    } else if (t->scene && x >= WS_TIMELINE_GUTTER && y < t->scene->top) {
        t->drag = WS_DRAG_RANGE;
    } else {
        t->drag = WS_DRAG_CLICK;
    }
}

static double cycle_at(WsTimeline *t, double x)
{
    return ws_timeline_cycle_of_x(t, CLAMP(x - WS_TIMELINE_GUTTER, 0, t->view.width));
}

/* The place where the drag began may have scrolled out of sight. */
static double cycle_of_begin(WsTimeline *t)
{
    return t->drift_x == 0 ? cycle_at(t, t->drag_x)
                           : ws_timeline_cycle_of_x(t, t->drag_x - WS_TIMELINE_GUTTER);
}

static void set_range(WsTimeline *t)
{
    double a = cycle_of_begin(t), b = cycle_at(t, t->drag_x + t->drag_dx);
    if (fabs(t->drag_dx) < CLICK)
        a = b = 0;
    ws_document_set_range(t->document, (gint64)floor(MAX(MIN(a, b), 0) + 0.5),
                          (gint64)floor(MAX(MAX(a, b), 0) + 0.5));
}

void ws_timeline_drag_moved(WsTimeline *t)
{
    if (t->drag == WS_DRAG_RANGE)
        set_range(t);
    gtk_widget_queue_draw(t->canvas);
}

/* Shift and Alt over an item extend or reduce the selection by a marquee. */
static gboolean bare_drag(GtkGestureDrag *g)
{
    return gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(g)) &
           (GDK_SHIFT_MASK | GDK_ALT_MASK);
}

static void move_gesture(WsTimeline *t, GtkGestureDrag *g, double x, double y)
{
    const GdkModifierType state =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(g));
    ws_gesture_set_copy(t, !!(state & GDK_CONTROL_MASK));
    ws_gesture_move(t, x, y);
}

static void first_update(GtkGestureDrag *g, double dx, double dy, WsTimeline *t)
{
    ws_timeline_page(t, &dx, &dy);
    t->drag_dx = dx - t->drift_x;
    t->drag_dy = dy - t->drift_y;
    switch (t->drag) {
    case WS_DRAG_PAN:
        pan_update(t, dx, dy);
        break;
    case WS_DRAG_RANGE:
        set_range(t);
        break;
    case WS_DRAG_CLICK:
        if (hypot(dx, dy) < CLICK)
            break;
        if (!bare_drag(g) && ws_gesture_start(t, t->drag_x, t->drag_y)) {
            t->drag = WS_DRAG_GESTURE;
            move_gesture(t, g, t->drag_x + dx, t->drag_y + dy);
            break;
        }
        if (t->drag_x < WS_TIMELINE_GUTTER)
            break;
        t->drag = WS_DRAG_MARQUEE;
        /* fall through */
    case WS_DRAG_MARQUEE:
        gtk_widget_queue_draw(t->canvas);
        break;
    case WS_DRAG_GESTURE:
        move_gesture(t, g, t->drag_x + dx, t->drag_y + dy);
        break;
    case WS_DRAG_NONE:
        break;
    }
    ws_timeline_drift(t);
}

static void clicked(WsTimeline *t, GdkModifierType state)
{
    const WsSceneItem *item = ws_timeline_hit(t, t->drag_x, t->drag_y);
    const WsSceneEdge *away = ws_timeline_origin(t, t->drag_x, t->drag_y);
    if (away && ws_timeline_go_to_origin(t, away))
        return;
    if (item && !(state & (GDK_CONTROL_MASK | GDK_SHIFT_MASK)))
        ws_timeline_crowd(t, item, t->drag_x, t->drag_y);
    if (!item || !item->step) {
        if (!(state & (GDK_CONTROL_MASK | GDK_SHIFT_MASK)))
            ws_document_select(t->document, NULL, WS_SELECT_REPLACE, FALSE);
        return;
    }
    WsFocus focus;
    ws_timeline_focus_of(item, &focus);
    if (state & GDK_SHIFT_MASK) {
        ws_timeline_select_range(t, &focus);
        return;
    }
    g_free(t->anchor_step);
    t->anchor_step = g_strdup(focus.step);
    t->anchor = focus;
    t->anchor.step = t->anchor_step;
    ws_document_select(t->document, &focus,
                       state & GDK_CONTROL_MASK ? WS_SELECT_TOGGLE : WS_SELECT_REPLACE, FALSE);
}

/* Steps of everything that the marquee touches. Shift adds, Alt removes. */
static void enclose(WsTimeline *t, GdkModifierType state)
{
    double off = ws_timeline_offset(t) + WS_TIMELINE_GUTTER, up = t->view.at.y;
    double x0 = MIN(t->drag_x, t->drag_x + t->drag_dx), x1 = x0 + fabs(t->drag_dx);
    double y0 = MIN(t->drag_y, t->drag_y + t->drag_dy), y1 = y0 + fabs(t->drag_dy);
    x0 = MAX(x0, WS_TIMELINE_GUTTER);
    y0 = MAX(y0, t->scene->top);
    g_autoptr(GPtrArray) steps = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    WsFocus focus = { NULL, G_MAXUINT, -1, -1 };
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        if (!item->step || item->shape == WS_SHAPE_SLOT || item->x + off > x1 ||
            item->x + item->w + off < x0 || item->y - up > y1 || item->y + item->h - up < y0 ||
            g_hash_table_contains(known, item->step))
            continue;
        g_ptr_array_add(steps, g_strdup(item->step));
        g_hash_table_add(known, g_ptr_array_index(steps, steps->len - 1));
    }
    gboolean add = !!(state & GDK_SHIFT_MASK), remove = !!(state & GDK_ALT_MASK);
    if (!add && !remove)
        ws_document_select(t->document, NULL, WS_SELECT_REPLACE, FALSE);
    for (guint i = 0; i < steps->len; i++) {
        focus.step = steps->pdata[i];
        if (remove && !ws_document_selected(t->document, focus.step))
            continue;
        ws_document_select(t->document, &focus, remove ? WS_SELECT_TOGGLE : WS_SELECT_ADD, FALSE);
    }
}

static void first_end(GtkGestureDrag *g, double dx, double dy, WsTimeline *t)
{
    GdkModifierType state = gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(g));
    WsDragKind drag = t->drag;
    ws_timeline_page(t, &dx, &dy);
    up_to_date(t);
    t->drag_dx = dx - t->drift_x;
    t->drag_dy = dy - t->drift_y;
    t->drag = WS_DRAG_NONE;
    if (drag == WS_DRAG_CLICK && hypot(dx, dy) < CLICK && t->scene)
        clicked(t, state);
    else if (drag == WS_DRAG_MARQUEE && t->scene)
        enclose(t, state);
    else if (drag == WS_DRAG_GESTURE && t->gesture) {
        ws_gesture_move(t, t->drag_x + dx, t->drag_y + dy); /* where it is let go counts */
        ws_gesture_finish(t);
    } else if (drag == WS_DRAG_RANGE)
        set_range(t);
    else if (drag == WS_DRAG_PAN)
        gtk_widget_set_cursor(t->canvas, NULL);
    gtk_widget_queue_draw(t->canvas);
}

/* The pointer was taken away: nothing was let go. "drag-end" follows. */
static void first_cancel(GtkGesture *g, GdkEventSequence *sequence, WsTimeline *t)
{
    if (ws_gesture_abandon(t))
        t->drag = WS_DRAG_NONE;
}

/* --- hovering
 * -------------------------------------------------------------------------------------
 */

static void moved(GtkEventControllerMotion *c, double x, double y, WsTimeline *t)
{
    ws_timeline_page(t, &x, &y);
    if (x == t->pointer_x && y == t->pointer_y)
        return;
    t->pointer_x = x;
    t->pointer_y = y;
    if (t->drag == WS_DRAG_NONE)
        gtk_widget_set_cursor_from_name(t->canvas, ws_gesture_cursor(t, x, y));
    gtk_widget_queue_draw(t->canvas);
}

static void left(GtkEventControllerMotion *c, WsTimeline *t)
{
    t->pointer_x = t->pointer_y = -1;
    gtk_widget_queue_draw(t->canvas);
}

static gboolean tooltip(GtkWidget *canvas, int x, int y, gboolean keyboard, GtkTooltip *tip,
                        WsTimeline *t)
{
    double px = x, py = y;
    ws_timeline_page(t, &px, &py);
    const WsSceneItem *item = keyboard ? NULL : ws_timeline_hit(t, px, py);
    if (keyboard)
        for (guint i = 0; i < t->block->len; i++)
            if (gtk_widget_has_focus(t->block->pdata[i]))
                item = &((WsBlock *)t->block->pdata[i])->item;
    const WsSceneEdge *away = keyboard ? NULL : ws_timeline_origin(t, px, py);
    if (away && t->drag == WS_DRAG_NONE) {
        g_autofree char *origin = ws_timeline_origin_tip(t, away);
        gtk_tooltip_set_text(tip, origin);
        return TRUE;
    }
    if (!item || t->drag != WS_DRAG_NONE)
        return FALSE;
    g_autofree char *text = ws_timeline_tip(t, item);
    gtk_tooltip_set_text(tip, text);
    if (!keyboard) { /* a new tip for each item */
        GdkRectangle area;
        ws_timeline_page_area(t, &area, item->x + ws_timeline_offset(t) + WS_TIMELINE_GUTTER,
                              item->y - t->view.at.y, item->w, item->h);
        gtk_tooltip_set_tip_area(tip, &area);
    }
    return TRUE;
}

/* --- keys that are held, and the menu
 * -------------------------------------------------------------
 */

static gboolean key_down(GtkEventControllerKey *c, guint key, guint code, GdkModifierType state,
                         WsTimeline *t)
{
    if (key == GDK_KEY_Escape && ws_gesture_abandon(t)) {
        t->drag = WS_DRAG_NONE;
        return TRUE;
    }
    if (key != GDK_KEY_space || state & (GDK_CONTROL_MASK | GDK_ALT_MASK))
        return FALSE;
    t->space = TRUE;
    return TRUE;
}

static void key_up(GtkEventControllerKey *c, guint key, guint code, GdkModifierType state,
                   WsTimeline *t)
{
    if (key == GDK_KEY_space)
        t->space = FALSE;
}

static void focus_left(GtkEventControllerFocus *c, WsTimeline *t)
{
    t->space = FALSE;
}

/* What one does to what is under the pointer comes first, what has nothing to do with it last. */
static const struct {
    const char *submenu; /* NULL: a group of its own */
    const char *names;   /* of actions.def */
} context[] = {
    { NULL, "rename connect mute delete" },
    { NULL, "edge-forward edge-back show-code" },
    { N_("Select"), "select-upstream select-downstream select-all select-none select-invert" },
    { N_("View"), "focus-selection fit-all zoom-normal toggle-axis toggle-table toggle-edges "
                  "toggle-path legend" },
};

static GtkWidget *make_menu(void)
{
    g_autoptr(GMenu) menu = g_menu_new(), below = g_menu_new();
    g_autoptr(GMenuModel) edit = ws_edit_menu();
    g_menu_append_submenu(below, _("Edit"), edit);
    for (guint i = 0; i < G_N_ELEMENTS(context); i++) {
        g_auto(GStrv) name = g_strsplit(context[i].names, " ", -1);
        g_autoptr(GMenu) list = g_menu_new();
        for (guint k = 0; name[k]; k++) {
            g_autofree char *target = g_strconcat("win.", name[k], NULL);
            g_menu_append(list, ws_action_label(ws_action_find(name[k])), target);
        }
        if (context[i].submenu)
            g_menu_append_submenu(below, _(context[i].submenu), G_MENU_MODEL(list));
        else
            g_menu_append_section(menu, NULL, G_MENU_MODEL(list));
    }
    g_menu_append_section(menu, NULL, G_MENU_MODEL(below));
    return gtk_popover_menu_new_from_model(G_MENU_MODEL(menu));
}

void ws_timeline_popup(WsTimeline *t, double x, double y)
{
    if (!t->menu) {
        t->menu = make_menu();
        gtk_widget_set_parent(t->menu, t->canvas);
        gtk_popover_set_has_arrow(GTK_POPOVER(t->menu), FALSE);
        gtk_widget_set_halign(t->menu, GTK_ALIGN_START);
    }
    GdkRectangle at;
    ws_timeline_page_area(t, &at, x, y, 0, 0);
    gtk_popover_set_pointing_to(GTK_POPOVER(t->menu), &at);
    gtk_popover_popup(GTK_POPOVER(t->menu));
}

static void pressed(GtkGestureClick *g, int n, double x, double y, WsTimeline *t)
{
    GdkEvent *event = gtk_event_controller_get_current_event(GTK_EVENT_CONTROLLER(g));
    if (!event || !gdk_event_triggers_context_menu(event))
        return;
    gtk_gesture_set_state(GTK_GESTURE(g), GTK_EVENT_SEQUENCE_CLAIMED);
    ws_timeline_page(t, &x, &y);
    up_to_date(t);
    const WsSceneItem *item = ws_timeline_hit(t, x, y);
    if (item && item->step && !ws_document_selected(t->document, item->step)) {
        WsFocus focus;
        ws_timeline_focus_of(item, &focus);
        ws_document_select(t->document, &focus, WS_SELECT_REPLACE, FALSE);
    }
    ws_timeline_popup(t, x, y);
}

static GtkGesture *add_drag(WsTimeline *t, guint button, GCallback begin, GCallback update,
                            GCallback end)
{
    GtkGesture *g = gtk_gesture_drag_new();
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(g), button);
    g_signal_connect(g, "drag-begin", begin, t);
    g_signal_connect(g, "drag-update", update, t);
    g_signal_connect(g, "drag-end", end, t);
    gtk_widget_add_controller(t->canvas, GTK_EVENT_CONTROLLER(g));
    return g;
}

void ws_timeline_input_attach(WsTimeline *t)
{
    GtkGesture *first = add_drag(t, GDK_BUTTON_PRIMARY, G_CALLBACK(first_begin),
                                 G_CALLBACK(first_update), G_CALLBACK(first_end));
    g_signal_connect(first, "cancel", G_CALLBACK(first_cancel), t);
    add_drag(t, GDK_BUTTON_MIDDLE, G_CALLBACK(middle_begin), G_CALLBACK(middle_update),
             G_CALLBACK(middle_end));
    GtkGesture *click = gtk_gesture_click_new();
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(click), 0);
    g_signal_connect(click, "pressed", G_CALLBACK(pressed), t);
    gtk_widget_add_controller(t->canvas, GTK_EVENT_CONTROLLER(click));
    GtkEventController *scroll =
        gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
    g_signal_connect(scroll, "scroll", G_CALLBACK(wheel), t);
    gtk_widget_add_controller(t->canvas, scroll);
    GtkGesture *zoom = gtk_gesture_zoom_new();
    g_signal_connect(zoom, "begin", G_CALLBACK(pinch_begin), t);
    g_signal_connect(zoom, "scale-changed", G_CALLBACK(pinched), t);
    gtk_widget_add_controller(t->canvas, GTK_EVENT_CONTROLLER(zoom));
    GtkEventController *motion = gtk_event_controller_motion_new();
    g_signal_connect(motion, "enter", G_CALLBACK(moved), t);
    g_signal_connect(motion, "motion", G_CALLBACK(moved), t);
    g_signal_connect(motion, "leave", G_CALLBACK(left), t);
    gtk_widget_add_controller(t->canvas, motion);
    GtkEventController *keys = gtk_event_controller_key_new();
    g_signal_connect(keys, "key-pressed", G_CALLBACK(key_down), t);
    g_signal_connect(keys, "key-released", G_CALLBACK(key_up), t);
    gtk_widget_add_controller(t->canvas, keys);
    GtkEventController *focus = gtk_event_controller_focus_new();
    g_signal_connect(focus, "leave", G_CALLBACK(focus_left), t);
    gtk_widget_add_controller(t->canvas, focus);
    ws_timeline_drop_attach(t);
    g_signal_connect(t->canvas, "query-tooltip", G_CALLBACK(tooltip), t);
}
