#include "ui/runs/run_history.h"
#include "program/program.h"

#include "launch/history.h"
#include "ui/parts/format.h"
#include "ui/parts/table.h"

#include <glib/gi18n.h>
#include <math.h>

#define MOST 500 /* runs listed */

struct _WsRunHistory {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *box, *table, *message, *tags, *note, *save, *show;
    GPtrArray *runs; /* WsHistoryRun; NULL: not read */
};

G_DEFINE_FINAL_TYPE(WsRunHistory, ws_run_history, GTK_TYPE_WIDGET)

enum { WHEN, SIZES, DEVICE, COLD, RATE, STATE, TAGS, NOTE, N_COLUMNS };

static const WsHistoryRun *selected(WsRunHistory *self)
{
    gint at = ws_table_selected(WS_TABLE(self->table));
    WsRow *row = at >= 0 ? ws_table_shown(WS_TABLE(self->table), (guint)at) : NULL;
    guint i = row ? ws_row_get_index(row) : G_MAXUINT;
    return self->runs && i < self->runs->len ? self->runs->pdata[i] : NULL;
}

static WsRow *make_row(const WsHistoryRun *r, guint i)
{
    g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, r->id);
    WsRow *row = ws_row_new(N_COLUMNS, id); /* by which the table knows it again */
    g_autoptr(GDateTime) when = g_date_time_new_from_unix_local(r->time);
    ws_row_index(row, i);
    ws_row_number(row, WHEN, (double)r->time,
                  when ? g_date_time_format(when, "%Y-%m-%d %H:%M") : g_strdup(WS_NO_FIGURE));
    ws_row_text(row, SIZES, g_strdup(r->sizes));
    ws_row_text(row, DEVICE,
                r->host ? g_strdup_printf(_("%s on %s"), r->device, r->host) : g_strdup(r->device));
    double us = isnan(r->cold_us) ? r->sustained_us : r->cold_us;
    ws_row_number(row, COLD, us, ws_format_real(us, 2));
    ws_row_number(row, RATE, r->tflops, ws_format_real(r->tflops, 1));
    ws_row_text(row, STATE, g_strdup(r->state));
    ws_row_text(row, TAGS, g_strdup(r->tags));
    ws_row_text(row, NOTE, g_strdup(r->note));
    return row;
}

static void say(WsRunHistory *self, const char *text)
{
    gtk_label_set_text(GTK_LABEL(self->message), text ? text : "");
    gtk_widget_set_visible(self->message, text != NULL);
}

static void show_selected(WsRunHistory *self)
{
    const WsHistoryRun *r = selected(self);
    GtkWidget *part[] = { self->tags, self->note, self->save };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++)
        gtk_widget_set_sensitive(part[i], r != NULL);
    gtk_widget_set_sensitive(self->show, r && r->trace);
    gtk_editable_set_text(GTK_EDITABLE(self->tags), r && r->tags ? r->tags : "");
    gtk_editable_set_text(GTK_EDITABLE(self->note), r && r->note ? r->note : "");
}

void ws_run_history_read(WsRunHistory *self)
{
    const WsProgram *p = ws_document_program(self->document);
    g_autoptr(GError) error = NULL;
    g_autoptr(WsRunStore) h = ws_history_open(NULL, &error);
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_object_unref);
    GPtrArray *runs = h && p ? ws_history_list(h, p->design_hash, MOST, &error) : NULL;
    g_clear_pointer(&self->runs, g_ptr_array_unref);
    self->runs = runs;
    for (guint i = 0; runs && i < runs->len; i++)
        g_ptr_array_add(rows, make_row(runs->pdata[i], i));
    ws_table_set_rows(WS_TABLE(self->table), rows);
    say(self, error ? error->message : NULL);
    show_selected(self);
}

char *ws_run_history_copy(WsRunHistory *self)
{
    return ws_table_copy(WS_TABLE(self->table));
}

static void save(WsRunHistory *self)
{
    const WsHistoryRun *r = selected(self);
    g_autoptr(GError) error = NULL;
    g_autoptr(WsRunStore) h = r ? ws_history_open(NULL, &error) : NULL;
    g_autofree char *tags = g_strdup(gtk_editable_get_text(GTK_EDITABLE(self->tags)));
    g_autofree char *note = g_strdup(gtk_editable_get_text(GTK_EDITABLE(self->note)));
    if (!h || !ws_history_annotate(h, r->id, g_strstrip(note), g_strstrip(tags), &error)) {
        say(self, error ? error->message : NULL);
        return;
    }
    ws_run_history_read(self);
}

static void show_run(WsRunHistory *self)
{
    const WsHistoryRun *r = selected(self);
    g_autoptr(GError) error = NULL;
    g_autoptr(GFile) file = r && r->trace ? g_file_new_for_path(r->trace) : NULL;
    if (file && !ws_document_open_trace(self->document, file, &error))
        say(self, error->message);
}

static void changed(WsRunHistory *self)
{
    if (gtk_widget_get_mapped(GTK_WIDGET(self)))
        ws_run_history_read(self);
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void dispose(GObject *object)
{
    WsRunHistory *self = WS_RUN_HISTORY(object);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    g_clear_object(&self->document);
    g_clear_pointer(&self->runs, g_ptr_array_unref);
    G_OBJECT_CLASS(ws_run_history_parent_class)->dispose(object);
}

static void ws_run_history_class_init(WsRunHistoryClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
}

static GtkWidget *entry(const char *name, int width)
{
    GtkWidget *e = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(e), name);
    gtk_editable_set_width_chars(GTK_EDITABLE(e), width);
    gtk_accessible_update_property(GTK_ACCESSIBLE(e), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    return e;
}

static GtkWidget *make_bar(WsRunHistory *self)
{
    GtkWidget *bar = gtk_flow_box_new(); /* two lines where the text is large */
    gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(bar), GTK_SELECTION_NONE);
    gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(bar), 2);
    GtkWidget *words = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    self->tags = entry(_("Tags"), 10);
    self->note = entry(_("Note on the selected run"), 20);
    self->save = gtk_button_new_with_label(_("Save"));
    self->show = gtk_button_new_with_label(_("Show This Run"));
    GtkWidget *pin = gtk_button_new_with_label(_("Pin")),
              *flip = gtk_button_new_with_label(_("Flip"));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(pin), "win.pin-run");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(flip), "win.flip-run");
    gtk_widget_set_tooltip_text(self->show, _("Show the trace of this run under the prediction"));
    gtk_widget_set_tooltip_text(pin, _("Keep the run that is shown, to flip between two"));
    gtk_widget_set_tooltip_text(flip, _("Show the pinned run in place of this one, and back"));
    gtk_widget_set_hexpand(self->note, TRUE);
    GtkWidget *part[] = { self->tags, self->note, self->save, self->show, pin, flip };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++)
        gtk_box_append(GTK_BOX(i < 3 ? words : buttons), part[i]);
    gtk_flow_box_append(GTK_FLOW_BOX(bar), words);
    gtk_flow_box_append(GTK_FLOW_BOX(bar), buttons);
    gtk_widget_add_css_class(bar, "ws-bar");
    return bar;
}

static void ws_run_history_init(WsRunHistory *self)
{
    const WsColumn column[N_COLUMNS] = {
        [WHEN] = { _("When"), NULL, FALSE, FALSE, 150 },
        [SIZES] = { _("Sizes"), NULL, FALSE, TRUE, 0 },
        [DEVICE] = { _("GPU"), NULL, FALSE, FALSE, 130 },
        [COLD] = { _("µs"), _("Median time of a launch"), TRUE, FALSE, 90 },
        [RATE] = { _("TFLOP/s"), NULL, TRUE, FALSE, 90 },
        [STATE] = { _("Values"), NULL, FALSE, FALSE, 80 },
        [TAGS] = { _("Tags"), NULL, FALSE, FALSE, 120 },
        [NOTE] = { _("Note"), NULL, FALSE, TRUE, 0 },
    };
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->message = gtk_label_new("");
    gtk_label_set_wrap(GTK_LABEL(self->message), TRUE);
    gtk_label_set_xalign(GTK_LABEL(self->message), 0);
    gtk_widget_add_css_class(self->message, "ws-bar");
    self->table = ws_table_new(_("Runs"), column, N_COLUMNS,
                               _("No run of this design was collected on this machine yet."));
    gtk_box_append(GTK_BOX(self->box), self->message);
    gtk_box_append(GTK_BOX(self->box), self->table);
    gtk_box_append(GTK_BOX(self->box), make_bar(self));
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
    g_signal_connect_swapped(self->table, "selected", G_CALLBACK(show_selected), self);
    g_signal_connect_swapped(self->table, "activated", G_CALLBACK(show_run), self);
    g_signal_connect_swapped(self->save, "clicked", G_CALLBACK(save), self);
    g_signal_connect_swapped(self->note, "activate", G_CALLBACK(save), self);
    g_signal_connect_swapped(self->tags, "activate", G_CALLBACK(save), self);
    g_signal_connect_swapped(self->show, "clicked", G_CALLBACK(show_run), self);
    g_signal_connect(self, "map", G_CALLBACK(ws_run_history_read), NULL);
    show_selected(self);
    say(self, NULL);
}

GtkWidget *ws_run_history_new(WsDocument *document)
{
    WsRunHistory *self = g_object_new(WS_TYPE_RUN_HISTORY, NULL);
    self->document = g_object_ref(document);
    g_signal_connect_object(document, "changed", G_CALLBACK(changed), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "results-changed", G_CALLBACK(changed), self,
                            G_CONNECT_SWAPPED);
    return GTK_WIDGET(self);
}
