#include "ui/runs/measurements.h"

#include "ui/document/document_idle.h"
#include "ui/inspector/figures.h"
#include "ui/panels/next_panel.h"
#include "ui/parts/format.h"
#include "ui/runs/overlap_matrix.h"
#include "ui/runs/run_compare.h"
#include "ui/runs/run_history.h"

#include "ui/parts/words.h"

#include <glib/gi18n.h>

/* Statistics of fewer records, and of fewer pairs of steps, take less than a frame. */
#define MANY_RECORDS 20000
#define MANY_STEPS   400

struct _WsMeasurements {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *bound, *note, *stack, *range_text, *result, *runs, *two, *next, *overlap;
    GtkWidget *table[WS_FIGURES_COUNT];
    GtkWidget *busy;
    gboolean stale, range_stale;    /* not yet shown, since nobody looks */
    gboolean old[WS_FIGURES_COUNT]; /* pages not filled since the document changed */
    gboolean working;               /* a thread makes statistics */
    guint idle;
    gint64 from, to;     /* the range that was last heard of */
    guint64 idle_number; /* answer of document_idle.h that the summary has */
};

G_DEFINE_FINAL_TYPE(WsMeasurements, ws_measurements, GTK_TYPE_WIDGET)

static void dispose(GObject *object)
{
    WsMeasurements *self = WS_MEASUREMENTS(object);
    GtkWidget *child;
    g_clear_handle_id(&self->idle, g_source_remove);
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_measurements_parent_class)->dispose(object);
}

/* --- filling ------------------------------------------------------------------------------------
 */

static gboolean is_shown(WsMeasurements *self, GtkWidget *table)
{
    GtkWidget *page = gtk_stack_get_visible_child(GTK_STACK(self->stack));
    return page && (table == page || gtk_widget_is_ancestor(table, page));
}

static void show_range(WsMeasurements *self)
{
    g_autoptr(WsRangeStats) range = ws_figures_range(self->document);
    g_autofree char *text = ws_figures_range_text(self->document, range);
    gtk_label_set_text(GTK_LABEL(self->range_text), text);
    for (WsFiguresKind k = WS_FIGURES_RANGE_LANES; k <= WS_FIGURES_RANGE_OVERLAP; k++) {
        g_autoptr(GPtrArray) rows = ws_figures_rows(k, self->document, range);
        ws_table_set_rows(WS_TABLE(self->table[k]), rows);
    }
    self->range_stale = FALSE;
}

/* A large design has thousands of rows: only the page that is looked at is filled. */
static void fill_page(WsMeasurements *self)
{
    for (WsFiguresKind k = WS_FIGURES_SUMMARY; k <= WS_FIGURES_WAITS; k++) {
        if (!self->old[k] || !is_shown(self, self->table[k]))
            continue;
        g_autoptr(GPtrArray) rows = ws_figures_rows(k, self->document, NULL);
        ws_table_set_rows(WS_TABLE(self->table[k]), rows);
        self->old[k] = FALSE;
    }
    if (self->range_stale && is_shown(self, self->table[WS_FIGURES_RANGE_LANES]))
        show_range(self);
}

static void show_bound(WsMeasurements *self)
{
    g_autofree char *bound = ws_figures_bound_text(self->document);
    gtk_label_set_text(GTK_LABEL(self->bound), bound);
    gtk_widget_set_tooltip_text(self->bound, bound);
}

static void show_all(WsMeasurements *self)
{
    const WsClockResult *clock = ws_document_clock(self->document);
    show_bound(self);
    g_autofree char *note = ws_words(clock ? clock->note : NULL);
    gtk_label_set_text(GTK_LABEL(self->note), note ? note : "");
    gtk_widget_set_tooltip_text(self->note, note);
    for (WsFiguresKind k = WS_FIGURES_SUMMARY; k <= WS_FIGURES_WAITS; k++)
        self->old[k] = TRUE;
    self->stale = FALSE;
}

static void on_page(WsMeasurements *self)
{
    if (!self->stale && gtk_widget_get_mapped(GTK_WIDGET(self)))
        fill_page(self);
}

/* --- statistics of long traces, in a thread ------------------------------------------------------
 */

typedef struct {
    WsTrace *trace;
    gboolean measured;
} Job;

static void free_job(gpointer data)
{
    Job *job = data;
    ws_trace_unref(job->trace);
    g_free(job);
}

static void free_stats(gpointer data)
{
    ws_trace_stats_free(data);
}

static void work(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    const Job *job = data;
    g_task_return_pointer(task, ws_trace_stats_new(job->trace), free_stats);
}

static void want(WsMeasurements *self);

static void on_worked(GObject *source, GAsyncResult *result, gpointer data)
{
    WsMeasurements *self = WS_MEASUREMENTS(source);
    const Job *job = g_task_get_task_data(G_TASK(result));
    WsTraceStats *stats = g_task_propagate_pointer(G_TASK(result), NULL);
    self->working = FALSE;
    if (!self->document) { /* the window is gone */
        ws_trace_stats_free(stats);
        return;
    }
    ws_document_take_stats(self->document, job->measured, job->trace, stats);
    want(self);
}

static gboolean is_short(const WsTrace *t)
{
    return t->record->len < MANY_RECORDS && t->op_id->len < MANY_STEPS;
}

/* TRUE if the statistics can be shown now; FALSE: they are being made, and a turn will follow. */
static gboolean have_stats(WsMeasurements *self)
{
    for (guint m = 0; m < 2; m++) {
        WsTrace *t =
            m ? ws_document_measured(self->document) : ws_document_predicted(self->document);
        if (ws_document_stats_ready(self->document, m == 1) || is_short(t))
            continue;
        if (self->working)
            return FALSE;
        Job *job = g_new(Job, 1);
        job->trace = ws_trace_ref(t);
        job->measured = m == 1;
        g_autoptr(GTask) task = g_task_new(self, NULL, on_worked, NULL);
        g_task_set_task_data(task, job, free_job);
        self->working = TRUE;
        g_task_run_in_thread(task, work);
        return FALSE;
    }
    return TRUE;
}

/* Brings on screen what can be shown at once. */
static void update_now(WsMeasurements *self)
{
    gboolean ready = !self->stale || have_stats(self);
    gtk_widget_set_visible(self->busy, !ready);
    if (self->stale && ready)
        show_all(self);
    if (!self->stale)
        fill_page(self);
}

static gboolean update(gpointer data)
{
    WsMeasurements *self = data;
    self->idle = 0;
    update_now(self);
    return G_SOURCE_REMOVE;
}

/* Statistics cost time on a large trace: they are made when the panel is on screen, and once for
 * all the changes of one moment (a range is dragged). */
static void want(WsMeasurements *self)
{
    if (!self->idle && gtk_widget_get_mapped(GTK_WIDGET(self)) &&
        (self->stale || self->range_stale))
        self->idle = g_timeout_add(30, update, self);
}

static gboolean show_results(WsMeasurements *self)
{
    static const char *const heading[] = { N_("Rehearsal"), N_("Run") };
    g_autoptr(GString) out = g_string_new(NULL);
    for (guint i = 0; i < WS_RESULT_COUNT; i++) {
        gboolean good = FALSE;
        const char *text = ws_document_result(self->document, (WsResultKind)i, &good);
        if (text)
            g_string_append_printf(out, "%s%s %s: %s\n\n%s\n", out->len ? "\n" : "",
                                   good ? "\xe2\x9c\x94" : "\xe2\x9c\x96", _(heading[i]),
                                   good ? _("passed") : _("failed"), text);
    }
    gboolean any = out->len > 0;
    if (!any)
        g_string_assign(out, _("Nothing has been rehearsed or run yet. Rehearse runs the kernel on "
                               "the CPU and compares every value with the reference; Run does the "
                               "same on a GPU and measures it."));
    gtk_label_set_text(GTK_LABEL(self->result), out->str);
    return any;
}

static void on_results(WsMeasurements *self)
{
    if (show_results(self))
        gtk_stack_set_visible_child_name(GTK_STACK(self->stack), "results");
}

static void on_changed(WsMeasurements *self)
{
    self->stale = self->range_stale = TRUE;
    show_results(self);
    want(self);
}

/* The summary has figures of units. */
static void on_idle(WsMeasurements *self)
{
    if (ws_document_trying(self->document)) /* the panels stay as they were before the drag */
        return;
    if (ws_document_idle_number(self->document) == self->idle_number)
        return; /* another gap is looked at */
    self->idle_number = ws_document_idle_number(self->document);
    self->old[WS_FIGURES_SUMMARY] = TRUE;
    if (!self->stale)
        show_bound(self);
    on_page(self);
}

static void on_range(WsMeasurements *self)
{
    gint64 from = 0, to = 0;
    const gboolean any = ws_document_range(self->document, &from, &to);
    if (any && from == self->from && to == self->to)
        return; /* something else is new, such as what is compared with */
    self->from = from;
    self->to = to;
    self->range_stale = TRUE;
    if (any)
        gtk_stack_set_visible_child_name(GTK_STACK(self->stack), "range");
    want(self);
}

static void on_map(WsMeasurements *self)
{
    g_clear_handle_id(&self->idle, g_source_remove);
    update_now(self);
}

void ws_measurements_update(WsMeasurements *self)
{
    on_map(self);
}

gboolean ws_measurements_show(WsMeasurements *self, const char *page)
{
    if (!gtk_stack_get_child_by_name(GTK_STACK(self->stack), page))
        return FALSE;
    gtk_stack_set_visible_child_name(GTK_STACK(self->stack), page);
    return TRUE;
}

gboolean ws_measurements_ready(WsMeasurements *self)
{
    return !self->stale;
}

/* --- acting -------------------------------------------------------------------------------------
 */

static void on_activated(WsMeasurements *self, WsRow *row)
{
    WsFocus focus = { .step = ws_row_place(row), .agent = G_MAXUINT, .tile = -1, .round = -1 };
    if (focus.step)
        ws_document_select(self->document, &focus, WS_SELECT_REPLACE, TRUE);
}

/* The page that is shown, as text. */
char *ws_measurements_copy(WsMeasurements *self)
{
    const char *page = gtk_stack_get_visible_child_name(GTK_STACK(self->stack));
    GString *out = g_string_new(gtk_label_get_text(GTK_LABEL(self->bound)));
    g_string_append_c(out, '\n');
    if (!g_strcmp0(page, "results"))
        g_string_append(out, gtk_label_get_text(GTK_LABEL(self->result)));
    else if (!g_strcmp0(page, "range"))
        g_string_append_printf(out, "%s\n", gtk_label_get_text(GTK_LABEL(self->range_text)));
    if (!g_strcmp0(page, "runs")) {
        g_autofree char *runs = ws_run_history_copy(WS_RUN_HISTORY(self->runs));
        g_string_append(out, runs);
    }
    if (!g_strcmp0(page, "overlap")) {
        g_autofree char *matrix = ws_overlap_matrix_copy(WS_OVERLAP_MATRIX(self->overlap));
        g_string_append(out, matrix);
    }
    if (!g_strcmp0(page, "next")) {
        g_autofree char *next = ws_next_panel_copy(WS_NEXT_PANEL(self->next));
        g_string_append(out, next);
    }
    if (!g_strcmp0(page, "two-runs")) {
        g_autofree char *two = ws_run_compare_copy(WS_RUN_COMPARE(self->two));
        g_string_append(out, two);
    }
    for (guint i = 0; i < WS_FIGURES_COUNT; i++) {
        GtkWidget *shown = gtk_stack_get_visible_child(GTK_STACK(self->stack));
        if (self->table[i] != shown && !gtk_widget_is_ancestor(self->table[i], shown))
            continue;
        g_autofree char *text = ws_table_copy(WS_TABLE(self->table[i]));
        g_string_append_printf(out, "\n%s", text);
    }
    return g_string_free(out, FALSE);
}

static void copy_action(GtkWidget *widget, const char *name, GVariant *parameter)
{
    g_autofree char *text = ws_measurements_copy(WS_MEASUREMENTS(widget));
    gdk_clipboard_set_text(gtk_widget_get_clipboard(widget), text);
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void ws_measurements_class_init(WsMeasurementsClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(widget, GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_GROUP);
    gtk_widget_class_install_action(widget, "measurements.copy", NULL, copy_action);
}

static GtkWidget *line(const char *css_class)
{
    GtkWidget *label = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(label, TRUE);
    gtk_widget_add_css_class(label, css_class);
    return label;
}

static GtkWidget *make_table(WsMeasurements *self, WsFiguresKind kind)
{
    self->table[kind] = ws_figures_table(kind);
    g_signal_connect_swapped(self->table[kind], "activated", G_CALLBACK(on_activated), self);
    return self->table[kind];
}

static GtkWidget *make_range(WsMeasurements *self)
{
    GtkWidget *page = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    self->range_text = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(self->range_text), 0);
    gtk_label_set_wrap(GTK_LABEL(self->range_text), TRUE);
    gtk_label_set_selectable(GTK_LABEL(self->range_text), TRUE);
    gtk_widget_add_css_class(self->range_text, "ws-bar");
    for (WsFiguresKind k = WS_FIGURES_RANGE_LANES; k <= WS_FIGURES_RANGE_OVERLAP; k++)
        gtk_box_append(GTK_BOX(row), make_table(self, k));
    gtk_widget_set_hexpand(self->table[WS_FIGURES_RANGE_LANES], FALSE);
    gtk_widget_set_size_request(self->table[WS_FIGURES_RANGE_LANES], 312, -1);
    gtk_widget_set_vexpand(row, TRUE);
    gtk_box_append(GTK_BOX(page), self->range_text);
    gtk_box_append(GTK_BOX(page), row);
    return page;
}

static GtkWidget *make_results(WsMeasurements *self)
{
    GtkWidget *scroll = gtk_scrolled_window_new();
    self->result = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(self->result), 0);
    gtk_label_set_yalign(GTK_LABEL(self->result), 0);
    gtk_label_set_wrap(GTK_LABEL(self->result), TRUE);
    gtk_label_set_selectable(GTK_LABEL(self->result), TRUE);
    gtk_widget_add_css_class(self->result, "ws-result");
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), self->result);
    return scroll;
}

static void make_pages(WsMeasurements *self)
{
    static const struct {
        WsFiguresKind kind;
        const char *name, *title;
    } page[] = {
        { WS_FIGURES_SUMMARY, "summary", N_("Summary") },
        { WS_FIGURES_LOOPS, "loops", N_("Loops") },
        { WS_FIGURES_STEPS, "steps", N_("Steps") },
        { WS_FIGURES_WAITS, "waits", N_("Waits") },
    };
    for (guint i = 0; i < G_N_ELEMENTS(page); i++)
        gtk_stack_add_titled(GTK_STACK(self->stack), make_table(self, page[i].kind), page[i].name,
                             _(page[i].title));
}

static void ws_measurements_init(WsMeasurements *self)
{
    GtkWidget *outer = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    GtkWidget *side = gtk_stack_sidebar_new(), *copy = gtk_button_new_with_label(_("Copy"));
    self->bound = line("ws-bound");
    self->note = line("dim");
    gtk_widget_set_hexpand(self->bound, FALSE);
    gtk_label_set_max_width_chars(GTK_LABEL(self->note), 20); /* it gives way */
    gtk_actionable_set_action_name(GTK_ACTIONABLE(copy), "measurements.copy");
    gtk_widget_set_tooltip_text(copy, _("Copy this page as text"));
    self->stack = gtk_stack_new();
    gtk_widget_set_hexpand(self->stack, TRUE);
    make_pages(self);
    g_signal_connect_swapped(self->stack, "notify::visible-child", G_CALLBACK(on_page), self);
    gtk_stack_sidebar_set_stack(GTK_STACK_SIDEBAR(side), GTK_STACK(self->stack));
    gtk_accessible_update_property(GTK_ACCESSIBLE(side), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Pages of measurements"), -1);
    self->busy = gtk_label_new(_("Working out the statistics…"));
    gtk_widget_set_visible(self->busy, FALSE);
    gtk_widget_add_css_class(self->busy, "dim");
    GtkWidget *part[] = { self->bound, self->note, self->busy, copy };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++)
        gtk_box_append(GTK_BOX(head), part[i]);
    gtk_widget_add_css_class(head, "ws-bar");
    gtk_widget_set_vexpand(row, TRUE);
    gtk_box_append(GTK_BOX(row), side);
    gtk_box_append(GTK_BOX(row), self->stack);
    gtk_box_append(GTK_BOX(outer), head);
    gtk_box_append(GTK_BOX(outer), row);
    gtk_widget_add_css_class(outer, "ws-measure");
    gtk_widget_set_parent(outer, GTK_WIDGET(self));
    g_signal_connect(self, "map", G_CALLBACK(on_map), NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Measurements"), -1);
}

GtkWidget *ws_measurements_new(WsDocument *document)
{
    WsMeasurements *self = g_object_new(WS_TYPE_MEASUREMENTS, NULL);
    self->document = g_object_ref(document);
    self->stale = self->range_stale = TRUE;
    g_signal_connect_object(document, "changed", G_CALLBACK(on_changed), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "idle", G_CALLBACK(on_idle), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "range-changed", G_CALLBACK(on_range), self,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "results-changed", G_CALLBACK(on_results), self,
                            G_CONNECT_SWAPPED);
    self->overlap = ws_overlap_matrix_new(document);
    gtk_stack_add_titled(GTK_STACK(self->stack), self->overlap, "overlap", _("Overlap"));
    gtk_stack_add_titled(GTK_STACK(self->stack), make_range(self), "range", _("Time range"));
    gtk_stack_add_titled(GTK_STACK(self->stack), make_results(self), "results", _("Results"));
    self->next = ws_next_panel_new(document);
    gtk_stack_add_titled(GTK_STACK(self->stack), self->next, "next", _("Next Edit"));
    self->runs = ws_run_history_new(document);
    gtk_stack_add_titled(GTK_STACK(self->stack), self->runs, "runs", _("Runs"));
    self->two = ws_run_compare_new(document);
    gtk_stack_add_titled(GTK_STACK(self->stack), self->two, "two-runs", _("Two Runs"));
    show_results(self);
    return GTK_WIDGET(self);
}
