/* The score as a table: every step and every edge in words. */
#include "ui/timeline/timeline_list.h"
#include "ui/timeline/timeline_private.h"

#include <glib/gi18n.h>

typedef enum { COLUMN_WHAT, COLUMN_GROUP, COLUMN_TIMES, COLUMN_ID } Column;

static const char *text_of(const WsListed *l, Column column)
{
    switch (column) {
    case COLUMN_WHAT:
        return l->name;
    case COLUMN_GROUP:
        return l->agent;
    case COLUMN_TIMES:
        return l->times;
    case COLUMN_ID:
        return l->step;
    }
    return "";
}

static void make_cell(GtkSignalListItemFactory *f, GtkListItem *cell, gpointer column)
{
    GtkWidget *label = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_MIDDLE);
    gtk_list_item_set_child(cell, label);
}

static void fill_cell(GtkSignalListItemFactory *f, GtkListItem *cell, gpointer column)
{
    const WsListed *l = gtk_list_item_get_item(cell);
    gtk_label_set_text(GTK_LABEL(gtk_list_item_get_child(cell)),
                       text_of(l, (Column)GPOINTER_TO_UINT(column)));
}

static void add_column(GtkColumnView *view, const char *title, Column column, gboolean expand)
{
    GtkListItemFactory *f = gtk_signal_list_item_factory_new();
    g_signal_connect(f, "setup", G_CALLBACK(make_cell), GUINT_TO_POINTER(column));
    g_signal_connect(f, "bind", G_CALLBACK(fill_cell), GUINT_TO_POINTER(column));
    GtkColumnViewColumn *c = gtk_column_view_column_new(title, f);
    gtk_column_view_column_set_expand(c, expand);
    gtk_column_view_column_set_resizable(c, TRUE);
    gtk_column_view_append_column(view, c);
    g_object_unref(c);
}

static void activated(GtkColumnView *view, guint at, WsTimeline *t)
{
    g_autoptr(WsListed) l =
        g_list_model_get_item(G_LIST_MODEL(gtk_column_view_get_model(view)), at);
    if (!l)
        return;
    WsFocus focus = { l->step, G_MAXUINT, -1, -1 };
    ws_document_select(t->document, &focus, WS_SELECT_REPLACE, TRUE);
}

/* Moving along the rows selects, and the table stays. */
static void row_selected(GtkSingleSelection *selection, GParamSpec *spec, WsTimeline *t)
{
    WsListed *l = gtk_single_selection_get_selected_item(selection);
    if (!l || g_strcmp0(gtk_stack_get_visible_child_name(GTK_STACK(t->stack)), "table"))
        return;
    WsFocus focus = { l->step, G_MAXUINT, -1, -1 };
    ws_document_select(t->document, &focus, WS_SELECT_REPLACE, FALSE);
    if (l->from) {
        focus.step = l->from;
        ws_document_select(t->document, &focus, WS_SELECT_ADD, FALSE);
    }
}

static GtkColumnView *view_of(WsTimeline *t)
{
    return GTK_COLUMN_VIEW(gtk_scrolled_window_get_child(GTK_SCROLLED_WINDOW(t->table)));
}

static void fill_table(WsTimeline *t)
{
    if (gtk_column_view_get_model(view_of(t)))
        return;
    GtkSingleSelection *model =
        gtk_single_selection_new(G_LIST_MODEL(ws_timeline_list(t->document)));
    gtk_single_selection_set_autoselect(model, FALSE);
    gtk_single_selection_set_can_unselect(model, TRUE);
    gtk_single_selection_set_selected(model, GTK_INVALID_LIST_POSITION);
    g_signal_connect(model, "notify::selected-item", G_CALLBACK(row_selected), t);
    gtk_column_view_set_model(view_of(t), GTK_SELECTION_MODEL(model));
    g_object_unref(model);
}

void ws_timeline_table_reset(WsTimeline *t)
{
    gtk_column_view_set_model(view_of(t), NULL);
    if (gtk_widget_get_mapped(t->table))
        fill_table(t);
}

static void shown(GtkWidget *table, WsTimeline *t)
{
    fill_table(t);
}

GtkWidget *ws_timeline_table_new(WsTimeline *t)
{
    GtkWidget *scroller = gtk_scrolled_window_new();
    GtkWidget *view = gtk_column_view_new(NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Steps and edges"), -1);
    add_column(GTK_COLUMN_VIEW(view), _("Step or edge"), COLUMN_WHAT, TRUE);
    add_column(GTK_COLUMN_VIEW(view), _("Group"), COLUMN_GROUP, FALSE);
    add_column(GTK_COLUMN_VIEW(view), _("Predicted"), COLUMN_TIMES, FALSE);
    add_column(GTK_COLUMN_VIEW(view), _("Identifier"), COLUMN_ID, TRUE);
    g_signal_connect(view, "activate", G_CALLBACK(activated), t);
    g_signal_connect(scroller, "map", G_CALLBACK(shown), t);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), view);
    return scroller;
}
