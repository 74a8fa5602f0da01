/* Every step and edge for assistive technology, whatever part of the score is shown: widgets
 * without a size, one per step and edge, in a list per group. What is only painted does not exist
 * for a screen reader. */
#include "ui/timeline/timeline_list.h"
#include "ui/timeline/timeline_private.h"

#include <glib/gi18n.h>

#define AT_ONCE 150 /* items made without a pause */

#define WS_TYPE_OUTLINE ws_outline_get_type()
G_DECLARE_FINAL_TYPE(WsOutline, ws_outline, WS, OUTLINE, GtkWidget)
#define WS_TYPE_OUTLINE_LIST ws_outline_list_get_type()
G_DECLARE_FINAL_TYPE(WsOutlineList, ws_outline_list, WS, OUTLINE_LIST, GtkWidget)
#define WS_TYPE_OUTLINE_ITEM ws_outline_item_get_type()
G_DECLARE_FINAL_TYPE(WsOutlineItem, ws_outline_item, WS, OUTLINE_ITEM, GtkWidget)

struct _WsOutline {
    GtkWidget parent;
    WsTimeline *timeline;
    GListStore *list;
    guint next, source;
};
struct _WsOutlineList {
    GtkWidget parent;
    char *group;
};
struct _WsOutlineItem {
    GtkWidget parent;
    WsTimeline *timeline;
    WsListed *listed;
};
G_DEFINE_FINAL_TYPE(WsOutline, ws_outline, GTK_TYPE_WIDGET)
G_DEFINE_FINAL_TYPE(WsOutlineList, ws_outline_list, GTK_TYPE_WIDGET)
G_DEFINE_FINAL_TYPE(WsOutlineItem, ws_outline_item, GTK_TYPE_WIDGET)

static void drop_children(GtkWidget *widget)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(widget)))
        gtk_widget_unparent(child);
}

static void no_size(GtkWidget *widget, GtkOrientation o, int for_size, int *least, int *natural,
                    int *a, int *b)
{
    *least = *natural = 0;
}

/* --- one step or edge
 * -----------------------------------------------------------------------------
 */

static void select_item(GtkWidget *widget, const char *name, GVariant *parameter)
{
    WsOutlineItem *i = WS_OUTLINE_ITEM(widget);
    gboolean back = !g_strcmp0(name, "block.follow-edge") && i->listed->from;
    WsFocus focus = { back ? i->listed->from : i->listed->step, G_MAXUINT, -1, -1 };
    ws_document_select(i->timeline->document, &focus, WS_SELECT_REPLACE, TRUE);
    if (!g_strcmp0(name, "block.reveal-code"))
        gtk_widget_activate_action(widget, "win.show-code", NULL);
    else if (!g_strcmp0(name, "block.follow-edge") && !i->listed->from)
        ws_timeline_follow(i->timeline, TRUE);
}

static void item_dispose(GObject *object)
{
    g_clear_object(&WS_OUTLINE_ITEM(object)->listed);
    G_OBJECT_CLASS(ws_outline_item_parent_class)->dispose(object);
}

static void ws_outline_item_class_init(WsOutlineItemClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = item_dispose;
    widget->measure = no_size;
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_LIST_ITEM);
    gtk_widget_class_install_action(widget, "block.select", NULL, select_item);
    gtk_widget_class_install_action(widget, "block.reveal-code", NULL, select_item);
    gtk_widget_class_install_action(widget, "block.follow-edge", NULL, select_item);
}

static void ws_outline_item_init(WsOutlineItem *i)
{
}

static GtkWidget *new_item(WsTimeline *t, WsListed *l)
{
    WsOutlineItem *i = g_object_new(WS_TYPE_OUTLINE_ITEM, NULL);
    i->timeline = t;
    i->listed = g_object_ref(l);
    g_autofree char *name = *l->times ? g_strdup_printf("%s, %s, %s", l->name, l->agent, l->times)
                                      : g_strdup_printf("%s, %s", l->name, l->agent);
    gtk_accessible_update_property(GTK_ACCESSIBLE(i), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, l->step, -1);
    return GTK_WIDGET(i);
}

/* --- a group
 * --------------------------------------------------------------------------------------
 */

static void list_dispose(GObject *object)
{
    drop_children(GTK_WIDGET(object));
    g_clear_pointer(&WS_OUTLINE_LIST(object)->group, g_free);
    G_OBJECT_CLASS(ws_outline_list_parent_class)->dispose(object);
}

static void ws_outline_list_class_init(WsOutlineListClass *class)
{
    G_OBJECT_CLASS(class)->dispose = list_dispose;
    GTK_WIDGET_CLASS(class)->measure = no_size;
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(class), GTK_ACCESSIBLE_ROLE_LIST);
}

static void ws_outline_list_init(WsOutlineList *l)
{
}

static GtkWidget *list_for(WsOutline *o, const WsListed *l)
{
    const char *group = l->edge ? "" : l->agent;
    GtkWidget *child = gtk_widget_get_last_child(GTK_WIDGET(o));
    if (child && !g_strcmp0(WS_OUTLINE_LIST(child)->group, group))
        return child;
    WsOutlineList *list = g_object_new(WS_TYPE_OUTLINE_LIST, NULL);
    list->group = g_strdup(group);
    g_autofree char *name =
        l->edge ? g_strdup(_("edges")) : g_strdup_printf(_("steps of %s"), l->agent);
    gtk_accessible_update_property(GTK_ACCESSIBLE(list), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    gtk_widget_set_parent(GTK_WIDGET(list), GTK_WIDGET(o));
    return GTK_WIDGET(list);
}

/* --- all
 * ------------------------------------------------------------------------------------------
 */

static gboolean add_some(gpointer data)
{
    WsOutline *o = data;
    guint n = g_list_model_get_n_items(G_LIST_MODEL(o->list));
    for (guint i = 0; i < AT_ONCE && o->next < n; i++, o->next++) {
        g_autoptr(WsListed) l = g_list_model_get_item(G_LIST_MODEL(o->list), o->next);
        gtk_widget_set_parent(new_item(o->timeline, l), list_for(o, l));
    }
    if (o->next < n)
        return G_SOURCE_CONTINUE;
    o->source = 0;
    g_clear_object(&o->list);
    return G_SOURCE_REMOVE;
}

static gboolean begin(gpointer data)
{
    WsOutline *o = data;
    o->list = ws_timeline_list(o->timeline->document);
    o->next = 0;
    o->source = g_idle_add_full(G_PRIORITY_LOW, add_some, o, NULL);
    return G_SOURCE_REMOVE;
}

static void stop(WsOutline *o)
{
    g_clear_handle_id(&o->source, g_source_remove);
    g_clear_object(&o->list);
    drop_children(GTK_WIDGET(o));
}

void ws_timeline_outline_reset(WsTimeline *t)
{
    WsOutline *o = WS_OUTLINE(t->outline);
    stop(o);
    o->source = g_idle_add_full(G_PRIORITY_LOW, begin, o, NULL);
}

static void outline_dispose(GObject *object)
{
    stop(WS_OUTLINE(object));
    G_OBJECT_CLASS(ws_outline_parent_class)->dispose(object);
}

static void ws_outline_class_init(WsOutlineClass *class)
{
    G_OBJECT_CLASS(class)->dispose = outline_dispose;
    GTK_WIDGET_CLASS(class)->measure = no_size;
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(class), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void ws_outline_init(WsOutline *o)
{
    gtk_accessible_update_property(GTK_ACCESSIBLE(o), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("All steps and edges"), -1);
}

GtkWidget *ws_timeline_outline_new(WsTimeline *t)
{
    WsOutline *o = g_object_new(WS_TYPE_OUTLINE, NULL);
    o->timeline = t;
    return GTK_WIDGET(o);
}
