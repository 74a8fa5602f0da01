#include "ui/inspector/inspector.h"

#include "ui/inspector/facts.h"
#include "ui/inspector/inspector_fields.h"
#include "ui/parts/format.h"
#include "ui/parts/labels.h"

#include <glib/gi18n.h>

struct _WsInspector {
    GtkWidget parent;
    WsDocument *document;
    GtkSizeGroup *names; /* one column of names through all sections */
    GtkWidget *scroll, *box, *back, *title, *subtitle, *more, *note, *fields;
    char *shown; /* id of what is shown */
    guint idle;
};

G_DEFINE_FINAL_TYPE(WsInspector, ws_inspector, GTK_TYPE_WIDGET)

static void dispose(GObject *object)
{
    WsInspector *self = WS_INSPECTOR(object);
    GtkWidget *child;
    g_clear_handle_id(&self->idle, g_source_remove);
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    g_clear_pointer(&self->shown, g_free);
    g_clear_object(&self->names);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_inspector_parent_class)->dispose(object);
}

/* --- rows ---------------------------------------------------------------------------------------
 */

static GtkWidget *text(const char *value, gboolean selectable)
{
    GtkWidget *label = gtk_label_new(value);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_yalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_selectable(GTK_LABEL(label), selectable);
    gtk_widget_set_can_focus(label, selectable);
    return label;
}

static void on_link(WsInspector *self, GtkButton *button)
{
    WsFocus focus = { .step = g_object_get_data(G_OBJECT(button), "target"),
                      .agent = G_MAXUINT,
                      .tile = -1,
                      .round = -1 };
    ws_document_select(self->document, &focus, WS_SELECT_REPLACE, TRUE);
}

static GtkWidget *link_widget(WsInspector *self, const WsFact *fact)
{
    GtkWidget *button = gtk_button_new(), *label = text(fact->value, FALSE);
    gtk_button_set_child(GTK_BUTTON(button), label);
    gtk_button_set_has_frame(GTK_BUTTON(button), FALSE);
    gtk_widget_add_css_class(button, "link");
    gtk_widget_add_css_class(button, "ws-link");
    gtk_widget_set_halign(button, GTK_ALIGN_START);
    gtk_widget_set_tooltip_text(button, _("Show this place in the score"));
    g_object_set_data_full(G_OBJECT(button), "target", g_strdup(fact->target), g_free);
    g_signal_connect_swapped(button, "clicked", G_CALLBACK(on_link), self);
    g_autofree char *spoken = g_strdup_printf("%s: %s", fact->name, fact->value);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, spoken,
                                   -1);
    return button;
}

static GtkWidget *value_widget(const WsFact *fact)
{
    GtkWidget *label = text(fact->value, TRUE);
    g_autofree char *spoken =
        fact->kind == WS_FACT_DEFAULT
            /* Translators: name of a field, and its default value */
            ? g_strdup_printf(_("%s: %s, by default"), fact->name, fact->value)
            : g_strdup_printf("%s: %s", fact->name, fact->value);
    gtk_widget_add_css_class(label, "ws-value");
    if (fact->kind == WS_FACT_DEFAULT)
        gtk_widget_add_css_class(label, "dim");
    gtk_accessible_update_property(GTK_ACCESSIBLE(label), GTK_ACCESSIBLE_PROPERTY_LABEL, spoken,
                                   -1);
    return label;
}

static void add_row(WsInspector *self, GtkGrid *grid, int row, const WsFact *fact)
{
    GtkWidget *name = text(fact->name, FALSE);
    GtkWidget *value = fact->kind == WS_FACT_LINK ? link_widget(self, fact) : value_widget(fact);
    gtk_label_set_wrap(GTK_LABEL(name), FALSE);
    gtk_label_set_ellipsize(GTK_LABEL(name), PANGO_ELLIPSIZE_END);
    gtk_label_set_width_chars(GTK_LABEL(name), 12);
    gtk_label_set_max_width_chars(GTK_LABEL(name), 20);
    gtk_size_group_add_widget(self->names, name);
    gtk_widget_add_css_class(name, "ws-name");
    gtk_widget_set_valign(name, GTK_ALIGN_START);
    gtk_widget_set_hexpand(value, TRUE);
    ws_tip_set(name, fact->help ? fact->help : fact->name);
    if (fact->help && fact->kind != WS_FACT_LINK)
        ws_tip_set(value, fact->help);
    gtk_grid_attach(grid, name, 0, row, 1, 1);
    gtk_grid_attach(grid, value, 1, row, 1, 1);
}

static GtkWidget *add_section(WsInspector *self, const char *heading)
{
    GtkWidget *expander = gtk_expander_new(heading), *grid = gtk_grid_new();
    GtkLabel *title = GTK_LABEL(gtk_expander_get_label_widget(GTK_EXPANDER(expander)));
    gtk_label_set_wrap(title, TRUE); /* no heading is to be wider than the inspector */
    gtk_label_set_wrap_mode(title, PANGO_WRAP_WORD_CHAR);
    gtk_label_set_xalign(title, 0);
    gtk_expander_set_expanded(GTK_EXPANDER(expander), TRUE);
    gtk_widget_add_css_class(expander, "ws-section");
    gtk_grid_set_column_spacing(GTK_GRID(grid), 10);
    gtk_grid_set_row_spacing(GTK_GRID(grid), 2);
    gtk_expander_set_child(GTK_EXPANDER(expander), grid);
    gtk_box_append(GTK_BOX(self->box), expander);
    return grid;
}

static void show_facts(WsInspector *self, const WsInspectorFacts *facts)
{
    const char *section = NULL;
    GtkWidget *grid = NULL;
    int row = 0;
    for (guint i = 0; i < facts->list->len; i++) {
        const WsFact *fact = g_ptr_array_index(facts->list, i);
        if (fact->field) /* stands among the fields, to be edited */
            continue;
        if (!section || g_strcmp0(section, fact->section)) {
            grid = add_section(self, fact->section);
            section = fact->section;
            row = 0;
        }
        add_row(self, GTK_GRID(grid), row++, fact);
    }
}

static void show_text(GtkWidget *label, const char *value)
{
    gtk_label_set_text(GTK_LABEL(label), value ? value : "");
    gtk_widget_set_visible(label, value && *value);
}

static gboolean rebuild(gpointer data)
{
    WsInspector *self = data;
    GtkWidget *child;
    self->idle = 0;
    ws_fields_update(WS_FIELDS(self->fields));
    while ((child = gtk_widget_get_first_child(self->box)))
        gtk_box_remove(GTK_BOX(self->box), child);
    g_autoptr(WsInspectorFacts) facts =
        ws_facts_new(self->document, ws_document_focus(self->document)->step);
    show_text(self->title, facts ? facts->title : _("No design is open."));
    show_text(self->subtitle, facts ? facts->subtitle : NULL);
    show_text(self->note, facts ? facts->note : NULL);
    guint others = ws_document_selection(self->document)->len;
    g_autofree char *more =
        others > 1 ? ws_format_count(others - 1, ngettext("and %s more selected",
                                                          "and %s more selected", others - 1))
                   : NULL;
    show_text(self->more, more);
    gtk_widget_set_visible(self->back, facts && facts->subtitle);
    if (facts)
        show_facts(self, facts);
    const char *focus = ws_document_focus(self->document)->step;
    if (g_strcmp0(focus, self->shown)) /* an edit of the same thing leaves the view where it is */
        gtk_adjustment_set_value(
            gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(self->scroll)), 0);
    g_free(self->shown);
    self->shown = g_strdup(focus);
    return G_SOURCE_REMOVE;
}

/* Selecting with the arrow keys may change the selection faster than anyone reads. */
static void refresh(WsInspector *self)
{
    if (!self->idle)
        self->idle = g_idle_add_full(G_PRIORITY_HIGH_IDLE, rebuild, self, NULL);
}

static void on_back(WsInspector *self)
{
    ws_document_select(self->document, NULL, WS_SELECT_REPLACE, FALSE);
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void ws_inspector_class_init(WsInspectorClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(widget, GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_GROUP);
    gtk_widget_class_set_css_name(widget, "inspector");
}

static void ws_inspector_init(WsInspector *self)
{
    GtkWidget *outer = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);
    self->names = gtk_size_group_new(GTK_SIZE_GROUP_HORIZONTAL);
    self->scroll = gtk_scrolled_window_new();
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    self->back = gtk_button_new_with_label(_("← Design"));
    self->title = text("", FALSE);
    self->subtitle = text("", TRUE);
    self->more = text("", FALSE);
    self->note = text("", TRUE);
    self->fields = ws_fields_new(NULL);
    gtk_widget_set_halign(self->back, GTK_ALIGN_START);
    gtk_button_set_has_frame(GTK_BUTTON(self->back), FALSE);
    gtk_widget_add_css_class(self->back, "link");
    gtk_widget_add_css_class(self->back, "ws-link");
    gtk_widget_add_css_class(self->title, "ws-title");
    gtk_widget_add_css_class(self->subtitle, "dim");
    gtk_widget_set_tooltip_text(self->back, _("Select nothing and show the whole design"));
    g_signal_connect_swapped(self->back, "clicked", G_CALLBACK(on_back), self);
    GtkWidget *part[] = { self->back, self->title,  self->subtitle, self->more,
                          self->note, self->fields, self->box };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++)
        gtk_box_append(GTK_BOX(outer), part[i]);
    gtk_widget_add_css_class(outer, "ws-facts");
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(self->scroll), outer);
    /* Never wider for what is selected: the score would move. */
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(self->scroll), GTK_POLICY_AUTOMATIC,
                                   GTK_POLICY_AUTOMATIC);
    gtk_widget_set_hexpand(self->scroll, TRUE);
    gtk_widget_set_vexpand(self->scroll, TRUE);
    gtk_widget_set_parent(self->scroll, GTK_WIDGET(self));
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Inspector"), -1);
}

GtkWidget *ws_inspector_new(WsDocument *document)
{
    WsInspector *self = g_object_new(WS_TYPE_INSPECTOR, NULL);
    self->document = g_object_ref(document);
    ws_fields_set_document(WS_FIELDS(self->fields), document);
    g_signal_connect_object(document, "changed", G_CALLBACK(refresh), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "selection-changed", G_CALLBACK(refresh), self,
                            G_CONNECT_SWAPPED);
    rebuild(self);
    return GTK_WIDGET(self);
}
