#include "ui/parts/table.h"
#include "ui/parts/labels.h"

#include <glib/gi18n.h>
#include <math.h>

/* --- rows ---------------------------------------------------------------------------------------
 */

struct _WsRow {
    GObject parent;
    guint n, index;
    char **text;
    double *key; /* NAN: sorts by its text */
    char *place, *tip;
};

G_DEFINE_FINAL_TYPE(WsRow, ws_row, G_TYPE_OBJECT)

static void finalize_row(GObject *object)
{
    WsRow *row = WS_ROW(object);
    for (guint i = 0; i < row->n; i++)
        g_free(row->text[i]);
    g_free(row->text);
    g_free(row->key);
    g_free(row->place);
    g_free(row->tip);
    G_OBJECT_CLASS(ws_row_parent_class)->finalize(object);
}

static void ws_row_class_init(WsRowClass *class)
{
    G_OBJECT_CLASS(class)->finalize = finalize_row;
}

static void ws_row_init(WsRow *row)
{
}

WsRow *ws_row_new(guint n, const char *place)
{
    WsRow *row = g_object_new(WS_TYPE_ROW, NULL);
    row->n = n;
    row->text = g_new0(char *, n);
    row->key = g_new(double, n);
    for (guint i = 0; i < n; i++)
        row->key[i] = NAN;
    row->place = g_strdup(place);
    return row;
}

void ws_row_text(WsRow *row, guint column, char *text)
{
    ws_row_number(row, column, NAN, text);
}

void ws_row_number(WsRow *row, guint column, double key, char *text)
{
    g_return_if_fail(column < row->n);
    g_free(row->text[column]);
    row->text[column] = text;
    row->key[column] = key;
}

void ws_row_tip(WsRow *row, const char *tip)
{
    g_free(row->tip);
    row->tip = g_strdup(tip);
}

void ws_row_index(WsRow *row, guint index)
{
    row->index = index;
}

guint ws_row_get_index(WsRow *row)
{
    return row->index;
}

const char *ws_row_place(WsRow *row)
{
    return row->place;
}

const char *ws_row_get_text(WsRow *row, guint column)
{
    return column < row->n && row->text[column] ? row->text[column] : "";
}

/* --- table --------------------------------------------------------------------------------------
 */

struct _WsTable {
    GtkWidget parent;
    GtkWidget *stack, *view, *empty;
    guint n;
    WsColumn *column;
    GListStore *store;
    GtkSortListModel *sorted;
    GtkSingleSelection *selection;
    gboolean quiet;
};

enum { ACTIVATED, SELECTED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(WsTable, ws_table, GTK_TYPE_WIDGET)

static void dispose(GObject *object)
{
    WsTable *self = WS_TABLE(object);
    GtkWidget *child;
    if (self->selection)
        g_signal_handlers_disconnect_by_data(self->selection, self);
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    g_clear_object(&self->selection);
    g_clear_object(&self->store);
    G_OBJECT_CLASS(ws_table_parent_class)->dispose(object);
}

static void finalize(GObject *object)
{
    g_free(WS_TABLE(object)->column);
    G_OBJECT_CLASS(ws_table_parent_class)->finalize(object);
}

static void ws_table_class_init(WsTableClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    G_OBJECT_CLASS(class)->finalize = finalize;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
    signals[ACTIVATED] = g_signal_new("activated", WS_TYPE_TABLE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                      NULL, G_TYPE_NONE, 1, WS_TYPE_ROW);
    signals[SELECTED] = g_signal_new("selected", WS_TYPE_TABLE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                     NULL, G_TYPE_NONE, 1, WS_TYPE_ROW);
}

static void ws_table_init(WsTable *self)
{
}

/* --- cells --------------------------------------------------------------------------------------
 */

static void on_setup(GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
    const WsColumn *column = data;
    GtkWidget *label = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(label), column->number ? 1 : 0);
    if (!column->number)
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    if (!column->number && column->width == 0)
        gtk_label_set_width_chars(GTK_LABEL(label), 10);
    gtk_label_set_single_line_mode(GTK_LABEL(label), TRUE);
    if (column->number)
        gtk_widget_add_css_class(label, "numeric");
    gtk_list_item_set_child(item, label);
}

static guint column_number(GtkListItemFactory *factory)
{
    return GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(factory), "column"));
}

static void on_bind(GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
    const WsColumn *column = data;
    WsRow *row = gtk_list_item_get_item(item);
    GtkWidget *label = gtk_list_item_get_child(item);
    guint i = column_number(factory);
    const char *text = ws_row_get_text(row, i);
    gtk_label_set_text(GTK_LABEL(label), text);
    ws_tip_set(label, row->tip ? row->tip : column->help ? column->help : text);
    g_autofree char *spoken = g_strdup_printf("%s: %s", column->title, text);
    gtk_accessible_update_property(GTK_ACCESSIBLE(label), GTK_ACCESSIBLE_PROPERTY_LABEL, spoken,
                                   -1);
}

/* --- sorting ----------------------------------------------------------------------
 */

static int compare_rows(gconstpointer pa, gconstpointer pb, gpointer data)
{
    guint column = GPOINTER_TO_UINT(data);
    const WsRow *a = pa, *b = pb;
    double x = a->key[column], y = b->key[column];
    if (!isnan(x) && !isnan(y))
        return x < y ? -1 : x > y;
    if (isnan(x) != isnan(y))
        return isnan(x) ? -1 : 1; /* what is not known stands below all figures */
    return g_utf8_collate(a->text[column] ? a->text[column] : "",
                          b->text[column] ? b->text[column] : "");
}

static void add_column(WsTable *self, guint i)
{
    const WsColumn *column = &self->column[i];
    GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
    g_object_set_data(G_OBJECT(factory), "column", GUINT_TO_POINTER(i));
    g_signal_connect(factory, "setup", G_CALLBACK(on_setup), (gpointer)column);
    g_signal_connect(factory, "bind", G_CALLBACK(on_bind), (gpointer)column);
    g_autoptr(GtkColumnViewColumn) made = gtk_column_view_column_new(column->title, factory);
    g_autoptr(GtkSorter) sorter =
        GTK_SORTER(gtk_custom_sorter_new(compare_rows, GUINT_TO_POINTER(i), NULL));
    gtk_column_view_column_set_sorter(made, sorter);
    gtk_column_view_column_set_resizable(made, TRUE);
    gtk_column_view_column_set_expand(made, column->expand);
    gtk_column_view_append_column(GTK_COLUMN_VIEW(self->view), made);
}

/* Fixed widths are meant for text at 100 % and grow with it. */
static void scale_columns(GtkSettings *settings, GParamSpec *spec, WsTable *self)
{
    GListModel *columns = gtk_column_view_get_columns(GTK_COLUMN_VIEW(self->view));
    int dpi = 0;
    g_object_get(settings, "gtk-xft-dpi", &dpi, NULL);
    double scale = dpi > 0 ? dpi / (96.0 * 1024) : 1;
    for (guint i = 0; i < self->n; i++) {
        g_autoptr(GtkColumnViewColumn) column = g_list_model_get_item(columns, i);
        if (self->column[i].width)
            gtk_column_view_column_set_fixed_width(column, (int)(self->column[i].width * scale));
    }
}

static void show_empty(WsTable *self)
{
    gboolean any = ws_table_n_shown(self) > 0;
    gtk_stack_set_visible_child_name(GTK_STACK(self->stack), any ? "rows" : "empty");
}

static void on_activate(WsTable *self, guint position)
{
    WsRow *row = ws_table_shown(self, position);
    if (row)
        g_signal_emit(self, signals[ACTIVATED], 0, row);
}

static void on_selected(WsTable *self)
{
    if (!self->quiet)
        g_signal_emit(self, signals[SELECTED], 0,
                      gtk_single_selection_get_selected_item(self->selection));
}

/* A view makes widgets for its rows also while nobody sees it: it gets them when it is shown. */
static void give_model(WsTable *self)
{
    if (!gtk_column_view_get_model(GTK_COLUMN_VIEW(self->view)))
        gtk_column_view_set_model(GTK_COLUMN_VIEW(self->view),
                                  GTK_SELECTION_MODEL(self->selection));
}

/* The model chain: rows, in order, one of them selected. */
static void make_models(WsTable *self)
{
    self->store = g_list_store_new(WS_TYPE_ROW);
    GtkSorter *sorter = gtk_column_view_get_sorter(GTK_COLUMN_VIEW(self->view));
    self->sorted =
        gtk_sort_list_model_new(g_object_ref(G_LIST_MODEL(self->store)), g_object_ref(sorter));
    self->selection = gtk_single_selection_new(G_LIST_MODEL(self->sorted));
    gtk_single_selection_set_autoselect(self->selection, FALSE);
    gtk_single_selection_set_can_unselect(self->selection, TRUE);
    gtk_single_selection_set_selected(self->selection, GTK_INVALID_LIST_POSITION);
    g_signal_connect_swapped(self->view, "map", G_CALLBACK(give_model), self);
    g_signal_connect_swapped(self->selection, "notify::selected-item", G_CALLBACK(on_selected),
                             self);
}

GtkWidget *ws_table_new(const char *name, const WsColumn *column, guint n, const char *empty)
{
    WsTable *self = g_object_new(WS_TYPE_TABLE, NULL);
    GtkWidget *scroll = gtk_scrolled_window_new();
    self->n = n;
    self->column = g_memdup2(column, n * sizeof *column);
    self->view = gtk_column_view_new(NULL);
    make_models(self);
    for (guint i = 0; i < n; i++)
        add_column(self, i);
    g_signal_connect_object(gtk_settings_get_default(), "notify::gtk-xft-dpi",
                            G_CALLBACK(scale_columns), self, 0);
    scale_columns(gtk_settings_get_default(), NULL, self);
    gtk_widget_add_css_class(self->view, "data-table");
    g_signal_connect_swapped(self->view, "activate", G_CALLBACK(on_activate), self);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->view), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                   -1);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), self->view);
    self->empty = gtk_label_new(empty);
    gtk_label_set_wrap(GTK_LABEL(self->empty), TRUE);
    gtk_widget_add_css_class(self->empty, "dim");
    gtk_widget_add_css_class(self->empty, "ws-empty");
    self->stack = gtk_stack_new();
    gtk_stack_add_named(GTK_STACK(self->stack), scroll, "rows");
    gtk_stack_add_named(GTK_STACK(self->stack), self->empty, "empty");
    gtk_widget_set_hexpand(self->stack, TRUE);
    gtk_widget_set_vexpand(self->stack, TRUE);
    gtk_widget_set_hexpand(GTK_WIDGET(self), TRUE);
    gtk_widget_set_vexpand(GTK_WIDGET(self), TRUE);
    gtk_widget_set_parent(self->stack, GTK_WIDGET(self));
    show_empty(self);
    return GTK_WIDGET(self);
}

void ws_table_set_rows(WsTable *self, GPtrArray *rows)
{
    WsRow *old = gtk_single_selection_get_selected_item(self->selection);
    guint kept = old ? old->index : G_MAXUINT;
    g_autofree char *place = old ? g_strdup(old->place) : NULL;
    self->quiet = TRUE;
    g_list_store_splice(self->store, 0, g_list_model_get_n_items(G_LIST_MODEL(self->store)),
                        rows->pdata, rows->len);
    gtk_single_selection_set_selected(self->selection, GTK_INVALID_LIST_POSITION);
    for (guint i = 0; place && i < ws_table_n_shown(self); i++) {
        WsRow *row = ws_table_shown(self, i);
        if (row->index == kept && !g_strcmp0(row->place, place))
            gtk_single_selection_set_selected(self->selection, i);
    }
    self->quiet = FALSE;
    show_empty(self);
    on_selected(self);
}

void ws_table_sort_by(WsTable *self, guint column, gboolean descending)
{
    GListModel *columns = gtk_column_view_get_columns(GTK_COLUMN_VIEW(self->view));
    g_autoptr(GtkColumnViewColumn) wanted = g_list_model_get_item(columns, column);
    gtk_column_view_sort_by_column(GTK_COLUMN_VIEW(self->view), wanted,
                                   descending ? GTK_SORT_DESCENDING : GTK_SORT_ASCENDING);
}

guint ws_table_n_shown(WsTable *self)
{
    return g_list_model_get_n_items(G_LIST_MODEL(self->selection));
}

WsRow *ws_table_shown(WsTable *self, guint position)
{
    g_autoptr(WsRow) row = g_list_model_get_item(G_LIST_MODEL(self->selection), position);
    return row; /* the store holds it */
}

gint ws_table_selected(WsTable *self)
{
    guint at = gtk_single_selection_get_selected(self->selection);
    return at == GTK_INVALID_LIST_POSITION ? -1 : (gint)at;
}

void ws_table_select(WsTable *self, guint position)
{
    if (position >= ws_table_n_shown(self))
        return;
    gtk_single_selection_set_selected(self->selection, position);
    /* gtk_column_view_scroll_to() came with 4.12; the list inside has the action. */
    for (GtkWidget *w = gtk_widget_get_first_child(self->view); w;
         w = gtk_widget_get_next_sibling(w))
        if (GTK_IS_LIST_VIEW(w))
            gtk_widget_activate_action(w, "list.scroll-to-item", "u", position);
}

char *ws_table_copy(WsTable *self)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < self->n; i++)
        g_string_append_printf(out, "%s%s", i ? "\t" : "", self->column[i].title);
    g_string_append_c(out, '\n');
    for (guint r = 0; r < ws_table_n_shown(self); r++) {
        WsRow *row = ws_table_shown(self, r);
        for (guint i = 0; i < self->n; i++)
            g_string_append_printf(out, "%s%s", i ? "\t" : "", ws_row_get_text(row, i));
        g_string_append_c(out, '\n');
    }
    return g_string_free(out, FALSE);
}
