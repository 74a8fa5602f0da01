#include "ui/panels/palette_panel.h"
#include "ui/parts/labels.h"

#include "ui/panels/palette_icon.h"

#include <glib/gi18n.h>
#include <string.h>

typedef struct {
    WsDocument *document;
    gboolean templates;
    GtkWidget *entry;
    GtkListBox *list;
    GPtrArray *items;  /* WsPaletteItem */
    GPtrArray *likely; /* the same, in rows above them */
    char *target;      /* that the items are for */
    WsPaletteChosen chosen;
    gpointer data;
} Panel;

static void free_panel(gpointer data)
{
    Panel *p = data;
    g_clear_pointer(&p->items, g_ptr_array_unref);
    g_clear_pointer(&p->likely, g_ptr_array_unref);
    g_free(p->target);
    g_free(p);
}

static const WsPaletteItem *item_of(GtkListBoxRow *row)
{
    return g_object_get_data(G_OBJECT(row), "item");
}

static GdkContentProvider *prepare(GtkDragSource *source, double x, double y, GtkListBoxRow *row)
{
    g_autofree char *text = g_strconcat(WS_PALETTE_DRAG, item_of(row)->name, NULL);
    return gdk_content_provider_new_typed(G_TYPE_STRING, text);
}

static void show_ghost(GtkDragSource *source, GdkDrag *drag, GtkWidget *row)
{
    g_autoptr(GdkPaintable) picture = gtk_widget_paintable_new(row);
    gtk_drag_source_set_icon(source, picture, 8, 8);
}

static void add_clicked(GtkButton *button, Panel *p)
{
    GtkWidget *row = gtk_widget_get_ancestor(GTK_WIDGET(button), GTK_TYPE_LIST_BOX_ROW);
    p->chosen(item_of(GTK_LIST_BOX_ROW(row)), p->data);
}

/* One click adds; the row itself waits for two, or is dragged. */
static GtkWidget *new_add_button(Panel *p, const WsPaletteItem *item)
{
    GtkWidget *button = gtk_button_new_from_icon_name("list-add-symbolic");
    g_autofree char *tip = g_strdup_printf(_("Add %s"), item->title);
    gtk_button_set_has_frame(GTK_BUTTON(button), FALSE);
    gtk_widget_add_css_class(button, "ws-add");
    gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
    gtk_widget_set_focusable(button, FALSE); /* Return adds the selected row */
    ws_tip_set(button, tip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, tip, -1);
    g_signal_connect(button, "clicked", G_CALLBACK(add_clicked), p);
    return button;
}

static GtkWidget *new_row(Panel *p, const WsPaletteItem *item)
{
    GtkWidget *row = gtk_list_box_row_new(), *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 5);
    GtkWidget *name = gtk_label_new(item->title), *help = gtk_label_new(item->help);
    gtk_label_set_xalign(GTK_LABEL(name), 0);
    gtk_widget_add_css_class(name, "ws-keyword");
    /* The longest one does not decide how wide the side is: its row's help gives way first. */
    gtk_label_set_ellipsize(GTK_LABEL(name), PANGO_ELLIPSIZE_END);
    gtk_label_set_width_chars(GTK_LABEL(name), 4);
    gtk_label_set_xalign(GTK_LABEL(help), 0);
    gtk_label_set_ellipsize(GTK_LABEL(help), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(help, "dim");
    gtk_widget_set_hexpand(help, TRUE);
    gtk_box_append(GTK_BOX(box), ws_palette_icon_new(item->kind));
    gtk_box_append(GTK_BOX(box), name);
    gtk_box_append(GTK_BOX(box), help);
    gtk_box_append(GTK_BOX(box), new_add_button(p, item));
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
    ws_tip_set(row, item->help);
    g_object_set_data(G_OBJECT(row), "item", (gpointer)item);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, item->title,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, item->help, -1);
    GtkDragSource *drag = gtk_drag_source_new();
    gtk_drag_source_set_actions(drag, GDK_ACTION_COPY);
    g_signal_connect(drag, "prepare", G_CALLBACK(prepare), row);
    g_signal_connect(drag, "drag-begin", G_CALLBACK(show_ghost), row);
    gtk_widget_add_controller(row, GTK_EVENT_CONTROLLER(drag));
    return row;
}

/* A heading stands above the first row of its section that is shown. */
static void add_header(GtkListBoxRow *row, GtkListBoxRow *before, gpointer data)
{
    const char *section = item_of(row)->section;
    if (before && !strcmp(item_of(before)->section, section)) {
        gtk_list_box_row_set_header(row, NULL);
        return;
    }
    GtkWidget *label = gtk_label_new(section);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_widget_add_css_class(label, "ws-heading");
    gtk_list_box_row_set_header(row, label);
}

/* Which row of those that are likely, or -1: it is one of all. */
static int likely_place(Panel *p, GtkListBoxRow *row)
{
    guint i;
    return p->likely && g_ptr_array_find(p->likely, item_of(row), &i) ? (int)i : -1;
}

/* What is likely stands there once more, so that a search need not find it twice. */
static gboolean matches(GtkListBoxRow *row, gpointer data)
{
    Panel *p = data;
    const char *typed = gtk_editable_get_text(GTK_EDITABLE(p->entry));
    return likely_place(p, row) >= 0 ? !*typed : ws_palette_match(item_of(row), typed);
}

/* A word that is a step's own name comes first. */
static int rank(GtkListBoxRow *row, Panel *p)
{
    const char *typed = gtk_editable_get_text(GTK_EDITABLE(p->entry));
    if (!*typed)
        return 0;
    return !strcmp(item_of(row)->title, typed)            ? -2
           : g_str_has_prefix(item_of(row)->title, typed) ? -1
                                                          : 0;
}

static int in_order(GtkListBoxRow *a, GtkListBoxRow *b, gpointer data)
{
    Panel *p = data;
    guint i = 0, k = 0;
    const int likely_a = likely_place(p, a), likely_b = likely_place(p, b);
    int difference = rank(a, p) - rank(b, p);
    if (likely_a >= 0 || likely_b >= 0)
        return likely_a < 0 ? 1 : likely_b < 0 ? -1 : likely_a - likely_b;
    g_ptr_array_find(p->items, item_of(a), &i);
    g_ptr_array_find(p->items, item_of(b), &k);
    return difference ? difference : i < k ? -1 : i > k;
}

static GtkListBoxRow *first_row(Panel *p)
{
    GtkListBoxRow *row;
    for (int i = 0; (row = gtk_list_box_get_row_at_index(p->list, i)); i++)
        if (gtk_widget_get_child_visible(GTK_WIDGET(row)))
            return row;
    return NULL;
}

static void typed(Panel *p)
{
    gtk_list_box_invalidate_sort(p->list);
    gtk_list_box_invalidate_filter(p->list);
    gtk_list_box_invalidate_headers(p->list);
    gtk_list_box_select_row(p->list, first_row(p));
}

static void choose(Panel *p, GtkListBoxRow *row)
{
    if (row)
        p->chosen(item_of(row), p->data);
}

static void row_activated(Panel *p, GtkListBoxRow *row)
{
    choose(p, row);
}

static void entry_activated(Panel *p)
{
    GtkListBoxRow *row = gtk_list_box_get_selected_row(p->list);
    choose(p, row ? row : first_row(p));
}

static gboolean key(GtkEventControllerKey *c, guint value, guint code, GdkModifierType state,
                    Panel *p)
{
    GtkListBoxRow *row = gtk_list_box_get_selected_row(p->list);
    const int by = value == GDK_KEY_Down ? 1 : value == GDK_KEY_Up ? -1 : 0;
    if (!by)
        return FALSE;
    for (int i = row ? gtk_list_box_row_get_index(row) + by : 0; i >= 0; i += by) {
        GtkListBoxRow *next = gtk_list_box_get_row_at_index(p->list, i);
        if (!next)
            break;
        if (!gtk_widget_get_child_visible(GTK_WIDGET(next)))
            continue;
        gtk_list_box_select_row(p->list, next);
        break;
    }
    return TRUE;
}

static void remove_rows(Panel *p, GPtrArray *items)
{
    GtkListBoxRow *row;
    for (int i = 0; items && (row = gtk_list_box_get_row_at_index(p->list, i));)
        if (g_ptr_array_find(items, item_of(row), NULL))
            gtk_list_box_remove(p->list, GTK_WIDGET(row));
        else
            i++;
}

static void add_rows(Panel *p, GPtrArray *items)
{
    for (guint i = 0; i < items->len; i++)
        gtk_list_box_append(p->list, new_row(p, items->pdata[i]));
}

static gboolean same_kinds(GPtrArray *a, GPtrArray *b)
{
    if (!a || a->len != b->len)
        return FALSE;
    for (guint i = 0; i < a->len; i++)
        if (((WsPaletteItem *)a->pdata[i])->kind != ((WsPaletteItem *)b->pdata[i])->kind)
            return FALSE;
    return TRUE;
}

static void fill_likely(Panel *p)
{
    WsDesign *design = p->templates ? NULL : ws_document_latest(p->document);
    g_autoptr(GArray) selected = ws_document_selected_nodes(p->document);
    const WsNode *at = design && selected && selected->len
                           ? ws_design_by_identity(design, g_array_index(selected, guint64, 0))
                           : NULL;
    g_autoptr(GPtrArray) likely = ws_palette_likely(design, at);
    if (same_kinds(p->likely, likely))
        return;
    remove_rows(p, p->likely);
    g_clear_pointer(&p->likely, g_ptr_array_unref);
    p->likely = g_steal_pointer(&likely);
    add_rows(p, p->likely);
    gtk_list_box_invalidate_headers(p->list);
}

static void fill(Panel *p)
{
    WsDesign *design = ws_document_design(p->document);
    const char *target = design ? ws_node_text(ws_design_root(design), WS_F_target) : "";
    if (g_strcmp0(target, p->target)) {
        remove_rows(p, p->items);
        g_clear_pointer(&p->items, g_ptr_array_unref);
        g_free(p->target);
        p->target = g_strdup(target);
        p->items = ws_palette_items(design, p->templates);
        add_rows(p, p->items);
    }
    fill_likely(p);
}

static void shown(GtkWidget *box)
{
    fill(g_object_get_data(G_OBJECT(box), "panel"));
}

/* A panel that nobody sees is filled when it is shown. */
static void changed(WsDocument *document, GtkWidget *box)
{
    if (gtk_widget_get_mapped(box))
        shown(box);
}

GtkWidget *ws_palette_panel_new(WsDocument *document, gboolean templates, WsPaletteChosen chosen,
                                gpointer data)
{
    Panel *p = g_new0(Panel, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *scroll = gtk_scrolled_window_new();
    p->document = document;
    p->templates = templates;
    p->chosen = chosen;
    p->data = data;
    p->entry = gtk_search_entry_new();
    p->list = GTK_LIST_BOX(gtk_list_box_new());
    g_object_set(p->entry, "placeholder-text", _("Add a step or object"), NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Add a step or object"), -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("What can be added"), -1);
    gtk_list_box_set_activate_on_single_click(p->list, FALSE);
    gtk_list_box_set_filter_func(p->list, matches, p, NULL);
    gtk_list_box_set_sort_func(p->list, in_order, p, NULL);
    gtk_list_box_set_header_func(p->list, add_header, p, NULL);
    g_signal_connect_swapped(p->list, "row-activated", G_CALLBACK(row_activated), p);
    g_signal_connect_swapped(p->entry, "changed", G_CALLBACK(typed), p);
    g_signal_connect_swapped(p->entry, "activate", G_CALLBACK(entry_activated), p);
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(key), p);
    gtk_widget_add_controller(p->entry, keys);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), GTK_WIDGET(p->list));
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_widget_add_css_class(box, "ws-palette-panel");
    gtk_box_append(GTK_BOX(box), p->entry);
    gtk_box_append(GTK_BOX(box), scroll);
    g_object_set_data_full(G_OBJECT(box), "panel", p, free_panel);
    g_signal_connect_object(document, "changed", G_CALLBACK(changed), box, 0);
    g_signal_connect_object(document, "selection-changed", G_CALLBACK(changed), box, 0);
    g_signal_connect(box, "map", G_CALLBACK(shown), NULL);
    return box;
}

GtkWidget *ws_palette_panel_entry(GtkWidget *panel)
{
    return ((Panel *)g_object_get_data(G_OBJECT(panel), "panel"))->entry;
}
