/* One block of the score as a widget: it can have the focus, has a name and actions. */
#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/timeline/timeline_private.h"

#include <glib/gi18n.h>
#include <math.h>

G_DEFINE_FINAL_TYPE(WsBlock, ws_block, GTK_TYPE_WIDGET)

char *ws_item_name(const WsSceneItem *item)
{
    if (!item->measured)
        return g_strdup(item->tip ? item->tip : "");
    return g_strdup_printf(_("measured: %s"), item->tip ? item->tip : "");
}

static void free_strings(WsBlock *b)
{
    g_free(b->item.label);
    g_free(b->item.tip);
    g_free((char *)b->item.step);
    b->item.label = b->item.tip = NULL;
    b->item.step = NULL;
}

void ws_block_take(WsBlock *b, const WsSceneItem *item)
{
    double fraction = item->x - floor(item->x);
    gboolean size = b->item.w != item->w || b->item.h != item->h || b->item.x != fraction;
    gboolean name = g_strcmp0(b->item.tip, item->tip) != 0;
    char *label = g_strdup(item->label), *tip = g_strdup(item->tip), *step = g_strdup(item->step);
    free_strings(b);
    b->item = *item;
    b->item.label = label;
    b->item.tip = tip;
    b->item.step = step;
    b->at_x = floor(item->x);
    b->at_y = item->y;
    b->item.x = fraction;
    b->item.y = 0;
    if (size && gtk_widget_has_focus(GTK_WIDGET(b)))
        gtk_widget_queue_draw(GTK_WIDGET(b));
    if (!name)
        return;
    g_autofree char *text = ws_item_name(item);
    gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, text,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, step ? step : "", -1);
}

void ws_block_mark(WsBlock *b, gboolean selected)
{
    if (b->selected == selected)
        return;
    b->selected = selected;
    gtk_accessible_update_state(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_STATE_SELECTED, selected, -1);
}

/* The block itself is part of the canvas' image; the ring of the focus is not. */
static void draw(WsBlock *b, cairo_t *cr, double h)
{
    static const double dash[] = { 3, 2 };
    const WsPalette *p = ws_palette(ws_theme_current());
    cairo_set_line_width(cr, 2);
    ws_paint_colour(cr, p->text, 1);
    ws_paint_rect(cr, b->item.x + 1, 1, MAX(b->item.w - 2, 1), h - 2, 2);
    cairo_stroke(cr);
    ws_paint_colour(cr, p->page, 1);
    cairo_set_dash(cr, dash, 2, 0);
    cairo_set_line_width(cr, 1);
    ws_paint_rect(cr, b->item.x + 1, 1, MAX(b->item.w - 2, 1), h - 2, 2);
    cairo_stroke(cr);
}

static void snapshot(GtkWidget *widget, GtkSnapshot *s)
{
    WsBlock *b = WS_BLOCK(widget);
    if (!gtk_widget_has_visible_focus(widget))
        return;
    float w = (float)gtk_widget_get_width(widget), h = (float)gtk_widget_get_height(widget);
    cairo_t *cr = gtk_snapshot_append_cairo(s, &GRAPHENE_RECT_INIT(0, 0, w, h));
    draw(b, cr, h);
    cairo_destroy(cr);
}

static void measure(GtkWidget *widget, GtkOrientation o, int for_size, int *least, int *natural,
                    int *a, int *n)
{
    WsBlock *b = WS_BLOCK(widget);
    *least = *natural =
        o == GTK_ORIENTATION_HORIZONTAL ? (int)ceil(b->item.x + b->item.w) : (int)ceil(b->item.h);
}

static void select_block(GtkWidget *widget, const char *name, GVariant *parameter)
{
    WsBlock *b = WS_BLOCK(widget);
    WsFocus focus;
    ws_timeline_focus_of(&b->item, &focus);
    gboolean code = !g_strcmp0(name, "block.reveal-code");
    ws_document_select(b->timeline->document, &focus, WS_SELECT_REPLACE, code);
    if (code)
        gtk_widget_activate_action(widget, "win.show-code", NULL);
}

static void follow(GtkWidget *widget, const char *name, GVariant *parameter)
{
    select_block(widget, "block.select", NULL);
    ws_timeline_follow(WS_BLOCK(widget)->timeline, TRUE);
}

static void focus_moved(GObject *object, GParamSpec *spec)
{
    gtk_widget_queue_draw(GTK_WIDGET(object));
}

static void finalize(GObject *object)
{
    free_strings(WS_BLOCK(object));
    G_OBJECT_CLASS(ws_block_parent_class)->finalize(object);
}

static void ws_block_class_init(WsBlockClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->finalize = finalize;
    widget->snapshot = snapshot;
    widget->measure = measure;
    gtk_widget_class_set_css_name(widget, "block");
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_LIST_ITEM);
    gtk_widget_class_install_action(widget, "block.select", NULL, select_block);
    gtk_widget_class_install_action(widget, "block.reveal-code", NULL, select_block);
    gtk_widget_class_install_action(widget, "block.follow-edge", NULL, follow);
    gtk_widget_class_add_binding_action(widget, GDK_KEY_Return, 0, "block.select", NULL);
    gtk_widget_class_add_binding_action(widget, GDK_KEY_KP_Enter, 0, "block.select", NULL);
}

static void ws_block_init(WsBlock *b)
{
    gtk_widget_set_focusable(GTK_WIDGET(b), TRUE);
    gtk_widget_set_focus_on_click(GTK_WIDGET(b), FALSE);
    g_signal_connect(b, "notify::has-focus", G_CALLBACK(focus_moved), NULL);
}

GtkWidget *ws_block_new(WsTimeline *t)
{
    WsBlock *b = g_object_new(WS_TYPE_BLOCK, NULL);
    b->timeline = t;
    return GTK_WIDGET(b);
}
