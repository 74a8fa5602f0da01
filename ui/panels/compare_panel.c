#include "ui/panels/compare_panel.h"

#include "ui/app/actions.h"
#include "ui/parts/table.h"

#include <glib/gi18n.h>

#define MOST_STATES 24 /* of the history, in the menu */

struct _WsComparePanel {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *box, *table, *with, *note;
    gboolean quiet; /* the table is being filled */
    guint64 number; /* of the comparison whose rows are shown */
};

G_DEFINE_FINAL_TYPE(WsComparePanel, ws_compare_panel, GTK_TYPE_WIDGET)

enum { WHAT_BECAME, WHAT, WHERE, WAS, IS, N_COLUMNS };

/* --- rows ---------------------------------------------------------------------------------------
 */

static const char *sign_text(char sign)
{
    switch (sign) {
    case '+':
        return _("+ added");
    case '-':
        return _("− removed");
    case '>':
        return _("↔ moved");
    default:
        return _("~ changed");
    }
}

static WsRow *make_row(const WsCompareRow *r, guint i)
{
    g_autofree char *id = g_strdup_printf("%u", i);
    WsRow *row = ws_row_new(N_COLUMNS, id);
    ws_row_index(row, i);
    ws_row_text(row, WHAT_BECAME, g_strdup(sign_text(r->sign)));
    ws_row_text(row, WHAT, g_strdup(*r->what ? r->what : _("the design")));
    ws_row_text(row, WHERE, g_strdup(r->where));
    ws_row_text(row, WAS, g_strdup(r->was));
    ws_row_text(row, IS, g_strdup(r->is));
    return row;
}

static void fill(WsComparePanel *self, const WsComparison *c)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_object_unref);
    for (guint i = 0; c && i < c->compare->row->len; i++)
        g_ptr_array_add(rows, make_row(c->compare->row->pdata[i], i));
    self->quiet = TRUE;
    ws_table_set_rows(WS_TABLE(self->table), rows);
    self->quiet = FALSE;
}

static void update(WsComparePanel *self)
{
    const WsComparison *c = ws_document_comparison(self->document);
    const guint64 number = c ? c->number : 0;
    if (number != self->number)
        fill(self, c);
    self->number = number;
    gtk_label_set_text(GTK_LABEL(self->note),
                       !ws_document_comparing(self->document)
                           ? _("Nothing is compared. Choose what this design is to be compared "
                               "with: the design as saved, a state of the undo history, a file.")
                       : !c                    ? _("Comparing…")
                       : !c->compare->row->len ? _("The two designs are the same.")
                                               : c->name);
}

guint ws_compare_panel_n_rows(WsComparePanel *self)
{
    return ws_table_n_shown(WS_TABLE(self->table));
}

/* --- from a row to the score --------------------------------------------------------------------
 */

/* What is there is selected; of what was removed, its ghost is shown. */
static void show_row(WsComparePanel *self, guint i)
{
    const WsComparison *c = ws_document_comparison(self->document);
    if (!c || i >= c->compare->row->len)
        return;
    const WsCompareRow *r = c->compare->row->pdata[i];
    g_autofree char *path = g_strdup(r->path_b);
    if (ws_document_shows_a(self->document)) {
        g_free(path);
        path = g_strdup(r->path_a);
    }
    ws_document_look_at_row(self->document, (gint)i);
    const WsFocus focus = { path && *path ? path : NULL, G_MAXUINT, -1, -1 };
    ws_document_select(self->document, focus.step ? &focus : NULL, WS_SELECT_REPLACE,
                       focus.step != NULL);
}

static void on_row(WsComparePanel *self, WsRow *row)
{
    if (row && !self->quiet)
        show_row(self, ws_row_get_index(row));
}

static void step(GtkWidget *widget, const char *name, GVariant *parameter)
{
    WsComparePanel *self = WS_COMPARE_PANEL(widget);
    const gint n = (gint)ws_table_n_shown(WS_TABLE(self->table));
    const gint by = g_str_has_suffix(name, "next-difference") ? 1 : -1;
    const gint now = ws_table_selected(WS_TABLE(self->table));
    if (n)
        ws_table_select(WS_TABLE(self->table),
                        (guint)(now < 0 ? (by > 0 ? 0 : n - 1) : (now + by + n) % n));
}

/* --- what to compare with -----------------------------------------------------------------------
 */

static void add(GMenu *menu, const char *name)
{
    g_autofree char *target = g_strdup_printf("win.%s", name);
    g_menu_append(menu, ws_action_label(ws_action_find(name)), target);
}

static void make_menu(GtkMenuButton *button, gpointer data)
{
    WsComparePanel *self = data;
    WsHistory *h = ws_document_history(self->document);
    g_autoptr(GMenu) menu = g_menu_new(), first = g_menu_new(), states = g_menu_new();
    add(first, "compare-saved");
    add(first, "compare-file");
    const guint n = ws_history_n(h), now = n ? ws_history_now(h) : 0;
    for (guint i = n; i-- > 0 && n - i <= MOST_STATES;) {
        const char *name = ws_history_name(h, i);
        /* Translators: a state of the undo history; %s is the step that made it. */
        g_autofree char *text =
            name ? g_strdup_printf(_("After “%s”"), name) : g_strdup(_("As It Was Opened"));
        g_autofree char *plain = g_strdelimit(g_strdup(text), "_", ' ');
        g_autoptr(GMenuItem) item = g_menu_item_new(plain, NULL);
        g_menu_item_set_action_and_target(item, "win.compare-state-at", "u", i);
        if (i != now)
            g_menu_append_item(states, item);
    }
    g_menu_append_section(menu, NULL, G_MENU_MODEL(first));
    g_menu_append_section(menu, _("Undo History"), G_MENU_MODEL(states));
    gtk_menu_button_set_menu_model(button, G_MENU_MODEL(menu));
}

void ws_compare_panel_choose(WsComparePanel *self)
{
    gtk_menu_button_popup(GTK_MENU_BUTTON(self->with));
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void dispose(GObject *object)
{
    WsComparePanel *self = WS_COMPARE_PANEL(object);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_compare_panel_parent_class)->dispose(object);
}

static void ws_compare_panel_class_init(WsComparePanelClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(widget, GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_install_action(widget, "compare.next-difference", NULL, step);
    gtk_widget_class_install_action(widget, "compare.previous-difference", NULL, step);
    ws_actions_bind_keys(widget, WS_PART_COMPARE);
}

static GtkWidget *make_bar(WsComparePanel *self)
{
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    self->with = gtk_menu_button_new();
    gtk_menu_button_set_label(GTK_MENU_BUTTON(self->with), _("Compare With"));
    gtk_menu_button_set_create_popup_func(GTK_MENU_BUTTON(self->with), make_menu, self, NULL);
    self->note = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(self->note), 0);
    gtk_label_set_wrap(GTK_LABEL(self->note), TRUE);
    gtk_widget_set_hexpand(self->note, TRUE);
    gtk_box_append(GTK_BOX(bar), self->with);
    gtk_box_append(GTK_BOX(bar), self->note);
    gtk_widget_add_css_class(bar, "ws-bar");
    return bar;
}

static void ws_compare_panel_init(WsComparePanel *self)
{
    const WsColumn column[N_COLUMNS] = {
        [WHAT_BECAME] = { _("Difference"), NULL, FALSE, FALSE, 110 },
        [WHAT] = { _("Step or object"), NULL, FALSE, FALSE, 200 },
        [WHERE] = { _("Group"), NULL, FALSE, FALSE, 100 },
        [WAS] = { _("In A"), NULL, FALSE, TRUE, 0 },
        [IS] = { _("In B"), NULL, FALSE, TRUE, 0 },
    };
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->table = ws_table_new(_("Differences"), column, N_COLUMNS, _("No difference"));
    gtk_widget_set_vexpand(self->table, TRUE);
    gtk_box_append(GTK_BOX(self->box), make_bar(self));
    gtk_box_append(GTK_BOX(self->box), self->table);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
    g_signal_connect_swapped(self->table, "selected", G_CALLBACK(on_row), self);
    g_signal_connect_swapped(self->table, "activated", G_CALLBACK(on_row), self);
}

GtkWidget *ws_compare_panel_new(WsDocument *document)
{
    WsComparePanel *self = g_object_new(WS_TYPE_COMPARE_PANEL, NULL);
    self->document = g_object_ref(document);
    g_signal_connect_object(document, "compared", G_CALLBACK(update), self, G_CONNECT_SWAPPED);
    update(self);
    return GTK_WIDGET(self);
}
