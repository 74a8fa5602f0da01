/* The widget of the score: canvas, scrollbars, minimap, table view; and what tests may ask. */
#include "program/parts/operation.h"
#include "program/program.h"
#include "ui/app/theme.h"
#include "ui/gesture/gesture.h"
#include "ui/problems/witness.h"
#include "ui/timeline/marks/compare_score.h"
#include "ui/timeline/marks/hang_score.h"
#include "ui/timeline/marks/path_score.h"
#include "ui/timeline/marks/trouble_score.h"
#include "ui/timeline/timeline_gap.h"
#include "ui/timeline/timeline_private.h"

#include <glib/gi18n.h>
#include <math.h>

G_DEFINE_FINAL_TYPE(WsTimeline, ws_timeline, GTK_TYPE_WIDGET)

enum { PROP_ZOOM = 1 };

void ws_timeline_set_view(WsTimeline *t, double from, double to)
{
    ws_timeline_sync(t);
    ws_pane_show(&t->view, ws_timeline_unit_of(t, from), ws_timeline_unit_of(t, to));
    ws_timeline_refresh(t);
}

void ws_timeline_get_view(WsTimeline *t, double *from, double *to)
{
    *from = ws_timeline_cycle_of_x(t, 0);
    *to = ws_timeline_cycle_of_x(t, t->view.width);
}

void ws_timeline_zoom_at(WsTimeline *t, double x, double factor)
{
    if (!t->scene)
        ws_timeline_sync(t);
    if (!t->scene)
        return;
    ws_pane_push(&t->view, g_get_monotonic_time(), 700000);
    ws_timeline_unfold(t, x);
    t->fitted = FALSE;
    t->zoomed = g_get_monotonic_time();
    ws_pane_zoom_at(&t->view, x, factor);
    ws_timeline_refresh(t);
}

void ws_timeline_scroll_by(WsTimeline *t, double dx, double dy)
{
    if (dx != 0 && t->scene)
        ws_timeline_unfold(t, t->view.width / 2);
    ws_pane_pan(&t->view, dx, dy);
    ws_timeline_refresh(t);
}

double ws_timeline_x_of_cycle(WsTimeline *t, double cycle)
{
    if (t->view.at.folded)
        return t->scene && t->scene_scale == 0 ? ws_scene_x(t->scene, (gint64)cycle) : 0;
    return ws_pane_x(&t->view, ws_timeline_unit_of(t, cycle));
}

double ws_timeline_cycle_of_x(WsTimeline *t, double x)
{
    if (t->view.at.folded)
        return t->scene && t->scene_scale == 0 ? ws_scene_time(t->scene, x) : 0;
    return ws_timeline_cycle_of(t, ws_pane_unit(&t->view, x));
}

double ws_timeline_cycle_of_ruler(WsTimeline *t, double x)
{
    const gboolean second = t->view.at.folded && t->scene && t->scene->segment->len > 1 &&
                            x >= g_array_index(t->scene->segment, WsSceneSegment, 1).x0;
    return ws_timeline_cycle_of_x(t, x) - (double)t->later[second];
}

double ws_timeline_length(WsTimeline *t)
{
    return ws_timeline_cycle_of(t, t->view.length);
}

guint ws_timeline_n_items(WsTimeline *t)
{
    return t->scene ? t->scene->item->len : 0;
}

/* --- the document --------------------------------------------------------------------------------
 */

static void previewed(WsDocument *d, WsTimeline *t)
{
    if (!ws_document_only_judged(d))
        ws_timeline_retake(t);
    /* Of what is tried the gaps are looked for when everything else is known. */
    if (!ws_document_trying(d) || !ws_document_pending(d))
        ws_document_want_idle(d);
}

static void idle_changed(WsDocument *d, WsTimeline *t)
{
    ws_timeline_units_changed(t);
    ws_gap_follow(t);
}

static gboolean has_no_steps(const WsProgram *p)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->step && p->op[i]->agent >= 0)
            return FALSE;
    return TRUE;
}

/* What stands where no score is. Caller frees. */
static char *message_of(WsDocument *d)
{
    const WsDesign *design = ws_document_design(d);
    if (!design)
        return g_strdup(_("No design is open."));
    if (!ws_document_program(d))
        return g_strdup(
            _("This design has errors that leave nothing to draw. The problems say what they "
              "are."));
    if (!has_no_steps(ws_document_program(d)))
        return g_strdup(
            _("There are no times to draw: the prediction did not finish. The problems say why; "
              "a measured trace can be opened as well."));
    return g_strconcat(
        _("Nothing happens in this design yet. Add steps: drag them here from the palette on the "
          "left, press + beside one, or press Insert."),
        ws_node_has(ws_design_root(design), WS_F_reference) ? NULL : "\n\n",
        _("What it computes goes into reference, on the right, as C[m,n] = sum(k < K, "
          "A[m,k]*B[n,k]): tensors and sizes come with it, and the first load, product and store "
          "bring tiles, loops and rings."),
        NULL);
}

static void document_changed(WsDocument *d, WsTimeline *t)
{
    if (ws_document_only_judged(d))
        return;
    if (ws_document_was_edited(d)) {
        ws_timeline_retake(t);
        ws_minimap_reset(WS_MINIMAP(t->minimap));
    } else {
        ws_timeline_reset(t);
    }
    ws_timeline_outline_reset(t);
    ws_timeline_table_reset(t);
    ws_document_want_idle(d);
    g_autofree char *message = message_of(d);
    gtk_label_set_text(GTK_LABEL(t->message), message);
}

static void selection_changed(WsDocument *d, WsTimeline *t)
{
    if (!t->scene)
        return;
    t->fitted = FALSE;
    ws_timeline_mark(t);
    g_clear_pointer(&t->node[WS_LAYER_ITEMS], gsk_render_node_unref);
    gtk_widget_queue_draw(t->canvas);
}

static void range_changed(WsDocument *d, WsTimeline *t)
{
    gtk_widget_queue_draw(t->canvas);
    gtk_widget_queue_draw(t->minimap);
}

static void reveal(WsDocument *d, WsTimeline *t)
{
    ws_timeline_reveal(t);
}

static void theme_changed(GObject *theme, WsTimeline *t)
{
    ws_timeline_drop_nodes(t);
    ws_minimap_reset(WS_MINIMAP(t->minimap));
    gtk_widget_queue_draw(t->canvas);
}

/* --- the scrollbars ------------------------------------------------------------------------------
 */

static void scrolled(GtkAdjustment *a, WsTimeline *t)
{
    if (t->adjusting || !t->scene)
        return;
    if (a == t->v) {
        t->view.at.y = gtk_adjustment_get_value(a);
    } else {
        ws_timeline_unfold(t, t->view.width / 2);
        t->view.at.from = gtk_adjustment_get_value(a);
    }
    ws_pane_clamp(&t->view);
    ws_timeline_refresh(t);
}

/* --- the widget ----------------------------------------------------------------------------------
 */

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    WsTimeline *t = WS_TIMELINE(object);
    double zoom = t->view.at.folded || t->order || t->unit_of_zoom <= 0
                      ? 1
                      : t->view.at.scale / t->unit_of_zoom;
    g_value_set_double(value, zoom);
}

static void dispose(GObject *object)
{
    WsTimeline *t = WS_TIMELINE(object);
    ws_timeline_unlink(t);
    ws_gesture_abandon(t);
    g_clear_handle_id(&t->settle, g_source_remove);
    if (t->tick)
        gtk_widget_remove_tick_callback(t->canvas, t->tick);
    t->tick = 0;
    if (t->document)
        g_signal_handlers_disconnect_by_data(t->document, t);
    g_clear_pointer(&t->menu, gtk_widget_unparent);
    g_clear_pointer(&t->crowd, gtk_widget_unparent);
    if (t->block)
        g_ptr_array_set_size(t->block, 0);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(t))))
        gtk_widget_unparent(child);
    g_clear_object(&t->document);
    G_OBJECT_CLASS(ws_timeline_parent_class)->dispose(object);
}

static void finalize(GObject *object)
{
    WsTimeline *t = WS_TIMELINE(object);
    ws_timeline_drop_nodes(t);
    g_clear_pointer(&t->compare, ws_compare_score_free);
    g_clear_pointer(&t->scene, ws_scene_free);
    g_clear_pointer(&t->cache, ws_score_cache_free);
    g_clear_pointer(&t->main_trace, ws_trace_unref);
    g_clear_pointer(&t->knots, g_array_unref);
    g_clear_pointer(&t->rounds, g_array_unref);
    g_clear_pointer(&t->gone, g_array_unref);
    g_clear_pointer(&t->of_scene, ws_design_unref);
    g_free(t->special);
    g_free(t->loop);
    g_free(t->how);
    g_free(t->block_of);
    g_free(t->anchor_step);
    g_array_free(t->candidate, TRUE);
    g_ptr_array_free(t->block, TRUE);
    ws_pane_clear(&t->view);
    G_OBJECT_CLASS(ws_timeline_parent_class)->finalize(object);
}

static gboolean grab_focus(GtkWidget *widget)
{
    return gtk_widget_grab_focus(WS_TIMELINE(widget)->canvas);
}

static void ws_timeline_class_init(WsTimelineClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = dispose;
    G_OBJECT_CLASS(class)->finalize = finalize;
    G_OBJECT_CLASS(class)->get_property = get_property;
    widget->grab_focus = grab_focus;
    g_object_class_install_property(G_OBJECT_CLASS(class), PROP_ZOOM,
                                    g_param_spec_double("zoom", NULL, NULL, 0, G_MAXDOUBLE, 1,
                                                        G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
    g_signal_new("rounds-changed", WS_TYPE_TIMELINE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                 G_TYPE_NONE, 0);
    gtk_widget_class_set_layout_manager_type(widget, GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_css_name(widget, "timeline");
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_GROUP);
    ws_timeline_install_actions(widget);
}

static void ws_timeline_init(WsTimeline *t)
{
    ws_pane_init(&t->view);
    t->candidate = g_array_new(FALSE, FALSE, sizeof(guint));
    t->block = g_ptr_array_new();
    t->cache = ws_score_cache_new();
    t->pointer_x = t->pointer_y = -1;
    t->page_scale = 1;
    t->stack = gtk_stack_new();
    gtk_widget_set_parent(t->stack, GTK_WIDGET(t));
    t->h = g_object_ref_sink(gtk_adjustment_new(0, 0, 1, 1, 1, 1));
    t->v = g_object_ref_sink(gtk_adjustment_new(0, 0, 1, 1, 1, 1));
    t->canvas = ws_canvas_new(t);
    t->hbar = gtk_scrollbar_new(GTK_ORIENTATION_HORIZONTAL, t->h);
    t->vbar = gtk_scrollbar_new(GTK_ORIENTATION_VERTICAL, t->v);
    t->minimap = ws_minimap_new(t);
    g_object_unref(t->h);
    g_object_unref(t->v);
    GtkWidget *grid = gtk_grid_new();
    gtk_grid_attach(GTK_GRID(grid), t->canvas, 0, 0, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), t->vbar, 1, 0, 1, 1);
    t->units = ws_timeline_units_new(t);
    gtk_grid_attach(GTK_GRID(grid), t->units, 0, 1, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), t->minimap, 0, 2, 2, 1);
    t->heat = ws_timeline_heat_new(t);
    gtk_grid_attach(GTK_GRID(grid), t->heat, 0, 3, 2, 1);
    gtk_grid_attach(GTK_GRID(grid), t->hbar, 0, 4, 2, 1);
    t->message = gtk_label_new(_("No design is open."));
    gtk_label_set_wrap(GTK_LABEL(t->message), TRUE);
    gtk_label_set_justify(GTK_LABEL(t->message), GTK_JUSTIFY_CENTER);
    gtk_widget_add_css_class(t->message, "ws-message");
    gtk_stack_add_named(GTK_STACK(t->stack), t->message, "message");
    gtk_stack_add_named(GTK_STACK(t->stack), grid, "score");
    g_signal_connect(t->h, "value-changed", G_CALLBACK(scrolled), t);
    g_signal_connect(t->v, "value-changed", G_CALLBACK(scrolled), t);
}

GtkWidget *ws_timeline_new(WsDocument *document)
{
    WsTimeline *t = g_object_new(WS_TYPE_TIMELINE, NULL);
    t->document = g_object_ref(document);
    t->table = ws_timeline_table_new(t);
    gtk_stack_add_named(GTK_STACK(t->stack), t->table, "table");
    t->outline = ws_timeline_outline_new(t);
    gtk_widget_set_parent(t->outline, t->canvas);
    gtk_widget_set_child_visible(t->outline, FALSE);
    ws_timeline_input_attach(t);
    ws_timeline_page_follow(t);
    ws_witness_follow(t);
    ws_compare_follow(t);
    ws_path_follow(t);
    ws_trouble_follow(t);
    ws_hang_follow(t);
    g_signal_connect(document, "changed", G_CALLBACK(document_changed), t);
    g_signal_connect(document, "previewed", G_CALLBACK(previewed), t);
    g_signal_connect(document, "selection-changed", G_CALLBACK(selection_changed), t);
    g_signal_connect(document, "range-changed", G_CALLBACK(range_changed), t);
    g_signal_connect(document, "reveal", G_CALLBACK(reveal), t);
    g_signal_connect(document, "idle", G_CALLBACK(idle_changed), t);
    g_signal_connect_object(ws_theme_watch(), "changed", G_CALLBACK(theme_changed), t, 0);
    document_changed(document, t);
    return GTK_WIDGET(t);
}
