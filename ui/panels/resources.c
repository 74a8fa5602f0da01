#include "ui/panels/resources.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/program.h"

#include "ui/parts/format.h"
#include "ui/parts/labels.h"
#include "ui/parts/table.h"

#include <glib/gi18n.h>

struct _WsResources {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *stack, *meters, *table, *empty;
};

enum { OBJECT, KIND, BYTES, SHARE, DETAIL, N_COLUMNS };

G_DEFINE_FINAL_TYPE(WsResources, ws_resources, GTK_TYPE_WIDGET)

static void dispose(GObject *object)
{
    WsResources *self = WS_RESOURCES(object);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_resources_parent_class)->dispose(object);
}

/* --- meters -------------------------------------------------------------------------------------
 */

static const struct {
    const char *glyph, *word, *style;
} states[] = {
    [WS_METER_FREE] = { "", "", "ws-free" },
    [WS_METER_NEAR] = { "\xe2\x96\xb2", N_("near the limit"), "ws-warning" },
    [WS_METER_OVER] = { "\xe2\x9c\x96", N_("over the limit"), "ws-error-text" },
};

static GtkWidget *label_of(const char *text, const char *css_class)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    if (css_class)
        gtk_widget_add_css_class(label, css_class);
    return label;
}

static GtkWidget *bar_of(const WsMeter *m, const char *spoken)
{
    GtkWidget *bar = gtk_level_bar_new_for_interval(0, 1);
    gtk_level_bar_remove_offset_value(GTK_LEVEL_BAR(bar), GTK_LEVEL_BAR_OFFSET_LOW);
    gtk_level_bar_remove_offset_value(GTK_LEVEL_BAR(bar), GTK_LEVEL_BAR_OFFSET_HIGH);
    gtk_level_bar_remove_offset_value(GTK_LEVEL_BAR(bar), GTK_LEVEL_BAR_OFFSET_FULL);
    gtk_level_bar_set_value(GTK_LEVEL_BAR(bar),
                            m->limit > 0 ? MIN((double)m->used / (double)m->limit, 1.0) : 0);
    gtk_widget_set_size_request(bar, 180, -1);
    gtk_widget_set_valign(bar, GTK_ALIGN_CENTER);
    gtk_widget_add_css_class(bar, states[m->state].style);
    gtk_accessible_update_property(GTK_ACCESSIBLE(bar), GTK_ACCESSIBLE_PROPERTY_LABEL, m->name,
                                   GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, spoken, -1);
    return bar;
}

static void add_meter(WsResources *self, int row, const WsMeter *m)
{
    g_autofree char *share = ws_format_share(m->limit > 0 ? (double)m->used / (double)m->limit : 0);
    const char *word = *states[m->state].word ? _(states[m->state].word) : "";
    g_autofree char *warning =
        *word ? g_strdup_printf("%s %s", states[m->state].glyph, word) : g_strdup("");
    g_autofree char *spoken = g_strdup_printf("%s, %s %s", m->text, share, word);
    GtkWidget *cell[] = { label_of(m->name, NULL), bar_of(m, spoken), label_of(m->text, NULL),
                          label_of(share, "numeric"), label_of(warning, states[m->state].style) };
    gtk_label_set_xalign(GTK_LABEL(cell[3]), 1);
    for (guint i = 0; i < G_N_ELEMENTS(cell); i++) {
        ws_tip_set(cell[i], m->help);
        gtk_grid_attach(GTK_GRID(self->meters), cell[i], (int)i, row, 1, 1);
    }
}

static void show_meters(WsResources *self, const WsProgram *p)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(self->meters)))
        gtk_grid_remove(GTK_GRID(self->meters), child);
    if (!p)
        return;
    g_autoptr(GPtrArray) meters = ws_meters_new(p);
    for (guint i = 0; i < meters->len; i++)
        add_meter(self, (int)i, g_ptr_array_index(meters, i));
}

/* --- what lies where ----------------------------------------------------------------------------
 */

static WsRow *memory_row(const WsProgram *p, const char *name, const char *path, const char *kind,
                         gint64 bytes, char *detail)
{
    WsRow *row = ws_row_new(N_COLUMNS, path);
    double share = p->shared_bytes ? (double)bytes / (double)p->shared_bytes : 0;
    ws_row_text(row, OBJECT, g_strdup(name));
    ws_row_text(row, KIND, g_strdup(kind));
    ws_row_number(row, BYTES, (double)bytes, ws_format_int(bytes));
    ws_row_number(row, SHARE, share, ws_format_share(share));
    ws_row_tip(row, detail);
    ws_row_text(row, DETAIL, detail);
    return row;
}

static WsRow *buffer_row(const WsProgram *p, const WsBuffer *b)
{
    g_autofree char *path = g_strdup_printf("buffers/%s", b->name);
    g_autofree char *stages =
        ws_format_count(b->stages, ngettext("%s stage", "%s stages", b->stages));
    g_autofree char *bytes = ws_format_bytes((gint64)b->stage_bytes);
    g_autofree char *from = ws_format_int((gint64)b->offset);
    char *detail =
        b->over >= 0
            ? g_strdup_printf(_("lies over %s, takes nothing of its own"), p->buffer[b->over].name)
        : b->is_array ? g_strdup_printf(_("%u copies of %s of %s, from byte %s"), b->array, stages,
                                        bytes, from)
                      : g_strdup_printf(_("%s of %s, from byte %s"), stages, bytes, from);
    return memory_row(p, b->name, path, _("buffer"), b->over >= 0 ? 0 : (gint64)b->bytes, detail);
}

static WsRow *barrier_row(const WsProgram *p, const WsBarrier *b)
{
    gint64 bytes = b->kind == WS_BARRIER_NAMED ? 0 : (gint64)8 * b->array * b->slots;
    g_autofree char *slots = ws_format_count(
        (gint64)b->array * b->slots, ngettext("%s slot", "%s slots", (gulong)b->array * b->slots));
    g_autofree char *from = ws_format_int((gint64)b->offset);
    char *detail = b->kind == WS_BARRIER_NAMED
                       ? g_strdup_printf(_("hardware id %d"), b->array ? b->hw_id[0] : -1)
                       : g_strdup_printf(_("%s of 8 bytes, from byte %s"), slots, from);
    return memory_row(p, b->name, b->derived ? NULL : b->path,
                      b->kind == WS_BARRIER_NAMED ? _("named barrier") : _("mbarrier"), bytes,
                      detail);
}

static void show_memory(WsResources *self, const WsProgram *p)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_object_unref);
    gint64 used = 0;
    for (guint i = 0; p && i < p->n_buffers; i++) {
        g_ptr_array_add(rows, buffer_row(p, &p->buffer[i]));
        used += p->buffer[i].over >= 0 ? 0 : (gint64)p->buffer[i].bytes;
    }
    for (guint i = 0; p && i < p->n_barriers; i++) {
        g_ptr_array_add(rows, barrier_row(p, &p->barrier[i]));
        if (p->barrier[i].kind == WS_BARRIER_MBARRIER)
            used += (gint64)8 * p->barrier[i].array * p->barrier[i].slots;
    }
    if (p && (gint64)p->shared_bytes > used)
        g_ptr_array_add(rows, memory_row(p, _("rest"), NULL, _("alignment"),
                                         (gint64)p->shared_bytes - used,
                                         g_strdup(_("gaps for alignment, and the tile queue"))));
    for (guint i = 0; i < rows->len; i++)
        ws_row_index(g_ptr_array_index(rows, i), i);
    ws_table_set_rows(WS_TABLE(self->table), rows);
}

static void on_activated(WsResources *self, WsRow *row)
{
    WsFocus focus = { .step = ws_row_place(row), .agent = G_MAXUINT, .tile = -1, .round = -1 };
    if (focus.step)
        ws_document_select(self->document, &focus, WS_SELECT_REPLACE, TRUE);
}

static void refresh(WsResources *self)
{
    const WsProgram *p = ws_document_program(self->document);
    gtk_stack_set_visible_child_name(GTK_STACK(self->stack), p ? "meters" : "empty");
    gtk_label_set_text(GTK_LABEL(self->empty),
                       ws_document_design(self->document)
                           ? _("The design does not elaborate: see the problems.")
                           : _("No design is open."));
    show_meters(self, p);
    show_memory(self, p);
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void ws_resources_class_init(WsResourcesClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(widget, GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void ws_resources_init(WsResources *self)
{
    const WsColumn column[N_COLUMNS] = {
        [OBJECT] = { _("Object"), NULL, FALSE, FALSE, 130 },
        [KIND] = { _("Kind"), NULL, FALSE, FALSE, 140 },
        [BYTES] = { _("Bytes"), NULL, TRUE, FALSE, 0 },
        [SHARE] = { _("Share"), NULL, TRUE, FALSE, 0 },
        [DETAIL] = { _("Where"), NULL, FALSE, TRUE, 0 },
    };
    GtkWidget *paned = gtk_paned_new(GTK_ORIENTATION_HORIZONTAL), *scroll;
    self->meters = gtk_grid_new();
    gtk_grid_set_column_spacing(GTK_GRID(self->meters), 12);
    gtk_grid_set_row_spacing(GTK_GRID(self->meters), 4);
    gtk_widget_add_css_class(self->meters, "ws-meters");
    scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), self->meters);
    self->table = ws_table_new(_("Shared memory"), column, N_COLUMNS,
                               _("This design takes no shared memory."));
    g_signal_connect_swapped(self->table, "activated", G_CALLBACK(on_activated), self);
    gtk_paned_set_start_child(GTK_PANED(paned), scroll);
    gtk_paned_set_end_child(GTK_PANED(paned), self->table);
    gtk_paned_set_resize_start_child(GTK_PANED(paned), FALSE);
    gtk_paned_set_position(GTK_PANED(paned), 760);
    self->empty = label_of("", "dim");
    gtk_label_set_wrap(GTK_LABEL(self->empty), TRUE);
    gtk_label_set_xalign(GTK_LABEL(self->empty), 0.5);
    self->stack = gtk_stack_new();
    gtk_stack_add_named(GTK_STACK(self->stack), paned, "meters");
    gtk_stack_add_named(GTK_STACK(self->stack), self->empty, "empty");
    gtk_widget_set_parent(self->stack, GTK_WIDGET(self));
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Resources"), -1);
}

GtkWidget *ws_resources_new(WsDocument *document)
{
    WsResources *self = g_object_new(WS_TYPE_RESOURCES, NULL);
    self->document = g_object_ref(document);
    g_signal_connect_object(document, "changed", G_CALLBACK(refresh), self, G_CONNECT_SWAPPED);
    refresh(self);
    return GTK_WIDGET(self);
}
