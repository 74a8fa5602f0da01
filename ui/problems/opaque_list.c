#include "ui/problems/opaque_list.h"

#include "ui/document/document_source.h"
#include "ui/parts/format.h"
#include "ui/parts/labels.h"

#include <glib/gi18n.h>

typedef struct {
    WsDocument *document;
    GtkWidget *box, *head, *list;
    WsDesign *of; /* the design that is listed */
    WsOpaqueChosen chosen;
    gpointer data;
    gboolean quiet; /* rows are being changed from here */
} List;

static GtkWidget *make_row(const WsOpaque *o)
{
    GtkWidget *row = gtk_list_box_row_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    const guint n = o->steps->len;
    /* Translators: lines of a source file, from and to */
    g_autofree char *lines = o->last > o->first
                                 ? g_strdup_printf(_("lines %u to %u"), o->first + 1, o->last + 1)
                                 : g_strdup_printf(_("line %u"), o->first + 1);
    g_autofree char *count =
        n ? ws_format_count(n, ngettext("%s opaque step", "%s opaque steps", n))
          : g_strdup(_("no step represents it"));
    g_autofree char *second = g_strdup_printf("%s · %s", lines, count);
    gtk_box_append(GTK_BOX(box), ws_label_wrapped(o->what, NULL));
    gtk_box_append(GTK_BOX(box), ws_label_wrapped(second, "dim"));
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, o->what,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, second, -1);
    return row;
}

static void refresh(WsDocument *document, List *l)
{
    if (l->of == ws_document_design(document))
        return;
    GtkListBoxRow *row;
    g_autoptr(GPtrArray) all = ws_document_opaque(document);
    g_clear_pointer(&l->of, ws_design_unref);
    l->of = ws_document_design(document) ? ws_design_ref(ws_document_design(document)) : NULL;
    l->quiet = TRUE;
    while ((row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(l->list), 0)))
        gtk_list_box_remove(GTK_LIST_BOX(l->list), GTK_WIDGET(row));
    for (guint i = 0; i < all->len; i++)
        gtk_list_box_append(GTK_LIST_BOX(l->list), make_row(all->pdata[i]));
    l->quiet = FALSE;
    g_autofree char *head = ws_format_count(
        all->len, ngettext("%s place not understood", "%s places not understood", all->len));
    gtk_label_set_text(GTK_LABEL(l->head), head);
    gtk_widget_set_visible(l->box, all->len > 0);
}

static void choose(List *l, GtkListBoxRow *row)
{
    if (l->quiet || !row)
        return;
    g_autoptr(GPtrArray) all = ws_document_opaque(l->document);
    const guint i = (guint)gtk_list_box_row_get_index(row);
    const WsOpaque *o = i < all->len ? all->pdata[i] : NULL;
    if (!o)
        return;
    for (guint k = o->steps->len; k-- > 0;) { /* the first is primary */
        const WsFocus focus = { o->steps->pdata[k], G_MAXUINT, -1, -1 };
        ws_document_select(l->document, &focus,
                           k + 1 == o->steps->len ? WS_SELECT_REPLACE : WS_SELECT_ADD, k == 0);
    }
    if (!o->steps->len)
        ws_document_select(l->document, NULL, WS_SELECT_REPLACE, FALSE);
    l->chosen(o->first, o->last, l->data);
}

static void selected(GtkListBox *box, GtkListBoxRow *row, List *l)
{
    choose(l, row);
}

static void unmake(gpointer data, GObject *box)
{
    List *l = data;
    g_signal_handlers_disconnect_by_data(l->document, l);
    g_clear_pointer(&l->of, ws_design_unref);
    g_object_unref(l->document);
    g_free(l);
}

GtkWidget *ws_opaque_list_new(WsDocument *document, WsOpaqueChosen chosen, gpointer data)
{
    List *l = g_new0(List, 1);
    GtkWidget *scroll = gtk_scrolled_window_new();
    *l = (List){ .document = g_object_ref(document), .chosen = chosen, .data = data };
    l->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    l->head = ws_label_wrapped("", "ws-heading");
    l->list = gtk_list_box_new();
    gtk_widget_add_css_class(l->list, "ws-findings");
    gtk_widget_add_css_class(l->head, "ws-aside-head");
    gtk_widget_set_tooltip_text(l->head,
                                _("What was not understood counts as doing anything: such a "
                                  "design is never called proved"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(l->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Not understood"), -1);
    /* Not NEVER: low panels would ask for the width at which all of it fits their height. */
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_EXTERNAL,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), l->list);
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_widget_set_size_request(l->box, 260, -1);
    gtk_box_append(GTK_BOX(l->box), l->head);
    gtk_box_append(GTK_BOX(l->box), scroll);
    gtk_widget_set_visible(l->box, FALSE);
    g_signal_connect(l->list, "row-selected", G_CALLBACK(selected), l);
    g_signal_connect(document, "changed", G_CALLBACK(refresh), l);
    g_signal_connect(document, "previewed", G_CALLBACK(refresh), l);
    g_object_weak_ref(G_OBJECT(l->box), unmake, l);
    refresh(document, l);
    return l->box;
}
