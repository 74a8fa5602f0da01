#include "ui/schedules/schedules_panel.h"
#include "program/walk/launch_values.h"

#include "launch/history.h"
#include "launch/rank.h"
#include "ui/document/document_compare.h"
#include "ui/document/document_machine.h"
#include "ui/parts/format.h"
#include "ui/parts/table.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>
#include <math.h>

#define MOST_RUNS 2000 /* newest ones of the history that are looked at */
#define SECONDS   30
#define FEW       10 /* measured: a rank correlation of fewer says little */

struct _WsSchedulesPanel {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *box, *budget, *go, *say, *axis, *take, *plot, *table;
    GHashTable *measured; /* design hash -> double*: microseconds, for the sizes of this launch */
    gint chosen;          /* schedule that is looked at, -1 none */
    gboolean quiet;       /* the table is being filled */
    gboolean shows;       /* the comparison is of this panel */
};

G_DEFINE_FINAL_TYPE(WsSchedulesPanel, ws_schedules_panel, GTK_TYPE_WIDGET)

enum { CHANGE, HOW, CYCLES, SHARED, REGISTERS, MEASURED, VERDICT, N_COLUMNS };
enum { BY_SHARED, BY_REGISTERS, BY_MEASURED, N_AXES };

/* --- figures ------------------------------------------------------------------------------------
 */

static const WsScheduleFound *schedule(WsSchedulesPanel *self, gint i)
{
    const GPtrArray *all = ws_document_schedules(self->document);
    return all && i >= 0 && (guint)i < all->len ? all->pdata[i] : NULL;
}

/* Microseconds; NAN: not known. */
static double measured_of(WsSchedulesPanel *self, const WsScheduleFound *s)
{
    const double *us = g_hash_table_lookup(self->measured, s->hash);
    return us ? *us : NAN;
}

static double predicted_of(WsSchedulesPanel *self, const WsScheduleFound *s)
{
    const WsClockResult *clock = ws_document_clock(self->document);
    return clock && clock->ghz > 0 ? (double)s->cycles / (clock->ghz * 1e3) : NAN;
}

/* The newest run of each design, of the launch that is shown. */
static void read_runs(WsSchedulesPanel *self)
{
    g_autofree char *file = ws_history_default_file();
    WsLaunchValues *launch = ws_document_launch(self->document);
    g_hash_table_remove_all(self->measured);
    if (!launch || !g_file_test(file, G_FILE_TEST_EXISTS))
        return;
    g_autofree char *sizes = ws_launch_sizes_text(launch);
    g_autoptr(WsRunStore) store = ws_history_open(file, NULL);
    g_autoptr(GPtrArray) runs = store ? ws_history_list(store, NULL, MOST_RUNS, NULL) : NULL;
    for (guint i = 0; runs && i < runs->len; i++) {
        const WsHistoryRun *r = runs->pdata[i];
        const double us = isnan(r->cold_us) ? r->sustained_us : r->cold_us;
        if (isnan(us) || g_strcmp0(r->sizes, sizes) || !r->design_hash ||
            g_hash_table_contains(self->measured, r->design_hash))
            continue;
        g_hash_table_insert(self->measured, g_strdup(r->design_hash), g_memdup2(&us, sizeof us));
    }
}

/* "load A one round ahead −7.1 %", by how much the design as it is changes with it. */
static char *how(const WsScheduleFound *s, const WsScheduleFound *start, const char *between)
{
    g_autoptr(GString) out = g_string_new(NULL);
    gint64 before = start->cycles;
    for (guint i = 0; i < s->words->len; i++) {
        const gint64 after = g_array_index(s->after, gint64, i);
        g_autofree char *words = ws_words(s->words->pdata[i]);
        g_autofree char *change =
            ws_format_difference((double)(after - before) / (double)MAX(start->cycles, 1));
        g_string_append_printf(out, "%s%s %s", i ? between : "", words, change);
        before = after;
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

/* --- filling ------------------------------------------------------------------------------------
 */

static WsRow *row_of(WsSchedulesPanel *self, guint i)
{
    const WsScheduleFound *s = schedule(self, (gint)i), *start = schedule(self, 0);
    g_autofree char *id = g_strdup_printf("%u", i);
    WsRow *row = ws_row_new(N_COLUMNS, id);
    const double change = (double)s->cycles / (double)MAX(start->cycles, 1) - 1;
    const double us = measured_of(self, s);
    g_autofree char *tip = how(s, start, "\n");
    ws_row_index(row, i);
    ws_row_number(row, CHANGE, change, ws_format_difference(change));
    ws_row_number(row, CYCLES, (double)s->cycles, ws_format_int(s->cycles));
    ws_row_number(row, SHARED, (double)s->shared, ws_format_int(s->shared));
    ws_row_number(row, REGISTERS, (double)s->registers, ws_format_int(s->registers));
    ws_row_number(row, MEASURED, us,
                  isnan(us) ? g_strdup(WS_NO_FIGURE) : ws_format_seconds(us * 1e-6));
    ws_row_text(row, VERDICT,
                g_strdup(s->judged == WS_JUDGED_SAME ? _("proved; values compared")
                                                     : _("proved; values not compared")));
    ws_row_text(row, HOW, how(s, start, "; "));
    ws_row_tip(row, tip);
    return row;
}

static void fill_table(WsSchedulesPanel *self, const GArray *front)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_object_unref);
    for (guint k = 0; k < front->len; k++)
        g_ptr_array_add(rows, row_of(self, g_array_index(front, guint, k)));
    self->quiet = TRUE;
    ws_table_set_rows(WS_TABLE(self->table), rows);
    self->quiet = FALSE;
}

static gboolean contains(const GArray *front, guint i)
{
    for (guint k = 0; k < front->len; k++)
        if (g_array_index(front, guint, k) == i)
            return TRUE;
    return FALSE;
}

static WsPlotPoint point_of(WsSchedulesPanel *self, guint i, guint axis, gboolean front)
{
    const WsScheduleFound *s = schedule(self, (gint)i);
    WsPlotPoint p = { (double)s->shared, (double)s->cycles,
                      i == 0  ? WS_POINT_START
                      : front ? WS_POINT_FRONT
                              : WS_POINT_BEATEN,
                      i };
    if (axis == BY_REGISTERS)
        p.x = (double)s->registers;
    if (axis == BY_MEASURED) {
        p.x = measured_of(self, s);
        p.y = predicted_of(self, s);
    }
    return p;
}

static guint axis_of(WsSchedulesPanel *self)
{
    return MIN(gtk_drop_down_get_selected(GTK_DROP_DOWN(self->axis)), N_AXES - 1);
}

static void fill_plot(WsSchedulesPanel *self, const GArray *front)
{
    static const char *const x[] = {
        [BY_SHARED] = N_("shared memory, bytes"),
        [BY_REGISTERS] = N_("registers of a CTA"),
        [BY_MEASURED] = N_("measured, \xc2\xb5s"),
    };
    const GPtrArray *all = ws_document_schedules(self->document);
    const guint axis = axis_of(self);
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(WsPlotPoint));
    for (guint i = 0; all && i < all->len; i++) {
        const WsPlotPoint p = point_of(self, i, axis, contains(front, i));
        g_array_append_val(points, p);
    }
    ws_schedules_plot_show(WS_SCHEDULES_PLOT(self->plot), points, _(x[axis]),
                           axis == BY_MEASURED ? _("predicted, \xc2\xb5s") : _("predicted cycles"),
                           axis == BY_MEASURED);
    ws_schedules_plot_choose(WS_SCHEDULES_PLOT(self->plot), self->chosen);
}

static void add_sentence(GString *s, const char *text)
{
    g_string_append_printf(s, "%s%s", s->len ? " " : "", text);
}

static void add_count(GString *s, gint64 n, const char *form)
{
    g_autofree char *text = ws_format_count(n, form);
    add_sentence(s, text);
}

/* How far the order that is predicted is the one that was measured, of those that were. */
static void add_measured(GString *s, WsSchedulesPanel *self)
{
    const GPtrArray *all = ws_document_schedules(self->document);
    g_autoptr(GArray) predicted = g_array_new(FALSE, FALSE, sizeof(double)),
                      measured = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; all && i < all->len; i++) {
        const double cycles = (double)schedule(self, (gint)i)->cycles;
        const double us = measured_of(self, all->pdata[i]);
        if (isnan(us))
            continue;
        g_array_append_val(predicted, cycles);
        g_array_append_val(measured, us);
    }
    const guint n = measured->len;
    const double rank = ws_rank_correlation((const double *)(gpointer)predicted->data,
                                            (const double *)(gpointer)measured->data, n);
    if (n == 0) {
        add_sentence(s, _("None of them was measured for these sizes; warpstave profile and "
                          "warpstave search --measure keep what they measure."));
        return;
    }
    add_count(s, n,
              ngettext("%s was measured for these sizes.", "%s were measured for these sizes.", n));
    if (n < 3)
        add_sentence(s,
                     _("That is too few for a rank correlation of predicted and measured time."));
    else if (isnan(rank))
        add_sentence(s,
                     _("They have one time, predicted or measured: there is no rank correlation."));
    else {
        g_autofree char *figure = ws_format_real(rank, 2);
        g_autofree char *is = g_strdup_printf(
            _("Rank correlation (Spearman) of predicted and measured time: %s."), figure);
        add_sentence(s, is);
        if (n < FEW)
            add_sentence(s, _("So few may agree or disagree without a meaning."));
    }
}

static char *words(WsSchedulesPanel *self)
{
    WsDocument *d = self->document;
    const WsSearchState *state = ws_document_search_state(d);
    const GPtrArray *all = ws_document_schedules(d);
    const WsScheduleFound *start = schedule(self, 0);
    if (state->why) {
        g_autofree char *why = ws_words(state->why);
        return g_strdup_printf(_("No search: %s."), why);
    }
    if (!state->of)
        return g_strdup(ws_document_program(d) && !ws_document_left_out(d)
                            ? _("Many edits one after the other: what is listed is proved, and "
                                "timed by prediction.")
                            : _("This design has errors. The problems say what they are."));
    GString *s = g_string_new(state->running ? _("Searching…") : "");
    if (start) {
        g_autofree char *cycles = ws_format_cycles(start->cycles);
        g_autofree char *is = g_strdup_printf(_("As it is: %s."), cycles);
        add_sentence(s, is);
    }
    add_count(s, state->tried,
              ngettext("%s edit was tried,", "%s edits were tried,", state->tried));
    const guint proved = all ? all->len - 1 : 0;
    add_count(s, proved,
              ngettext("%s design was kept: proved.", "%s designs were kept: all proved.", proved));
    const guint out = ws_document_schedules_out(d);
    if (out)
        add_count(s, out,
                  ngettext("%s is left out: it is not built or does not compute as it is meant.",
                           "%s are left out: they are not built or do not compute as they are "
                           "meant.",
                           out));
    if (ws_document_schedules_judging(d))
        add_sentence(s, _("The next one is assembled and rehearsed\xe2\x80\xa6"));
    if (!state->running && state->stopped)
        add_sentence(s, _("Stopped: edits were left."));
    if (start && axis_of(self) == BY_MEASURED)
        add_measured(s, self);
    if (!ws_document_schedules_fit(d))
        add_sentence(s, _("The design was edited since: undo these edits to take one."));
    return g_string_free(s, FALSE);
}

static void say(WsSchedulesPanel *self)
{
    g_autofree char *text = words(self);
    gtk_label_set_text(GTK_LABEL(self->say), text);
}

/* Not a point of the plot that is not in the list. */
static gboolean is_listed(WsSchedulesPanel *self)
{
    g_autoptr(GArray) front = ws_document_schedule_front(self->document);
    return self->chosen >= 0 && contains(front, (guint)self->chosen);
}

static void buttons(WsSchedulesPanel *self)
{
    const WsSearchState *state = ws_document_search_state(self->document);
    const gboolean program =
        ws_document_program(self->document) && !ws_document_left_out(self->document);
    gtk_button_set_label(GTK_BUTTON(self->go), state->running ? _("Stop") : _("Search"));
    gtk_widget_set_sensitive(self->go, state->running || program);
    gtk_widget_set_sensitive(self->take, schedule(self, self->chosen) &&
                                             ws_document_schedules_fit(self->document) &&
                                             is_listed(self));
}

static void end_comparison(WsSchedulesPanel *self)
{
    if (self->shows)
        ws_document_compare_with(self->document, NULL, NULL);
    self->shows = FALSE;
}

static void update(WsSchedulesPanel *self)
{
    if (!gtk_widget_get_mapped(GTK_WIDGET(self)))
        return;
    if (!schedule(self, self->chosen))
        self->chosen = -1;
    g_autoptr(GArray) front = ws_document_schedule_front(self->document);
    fill_table(self, front);
    fill_plot(self, front);
    say(self);
    buttons(self);
}

static void read_and_update(WsSchedulesPanel *self)
{
    if (gtk_widget_get_mapped(GTK_WIDGET(self)))
        read_runs(self);
    update(self);
}

static void on_searched(WsSchedulesPanel *self)
{
    const WsSearchState *state = ws_document_search_state(self->document);
    if (!state->of) {
        self->chosen = -1;
        end_comparison(self);
    }
    update(self);
}

/* --- acting -------------------------------------------------------------------------------------
 */

static void on_go(WsSchedulesPanel *self)
{
    if (ws_document_search_state(self->document)->running) {
        ws_document_search_stop(self->document);
        return;
    }
    end_comparison(self);
    self->chosen = -1;
    gtk_spin_button_update(GTK_SPIN_BUTTON(self->budget));
    if (!ws_document_search(self->document,
                            gtk_spin_button_get_value(GTK_SPIN_BUTTON(self->budget))))
        gtk_label_set_text(GTK_LABEL(self->say), _("Wait until the last edit has its answer."));
}

/* Its ghosts are laid on the score. */
static void choose(WsSchedulesPanel *self, gint i)
{
    const WsScheduleFound *s = schedule(self, i);
    if (self->chosen == i && self->shows)
        return;
    self->chosen = i;
    ws_schedules_plot_choose(WS_SCHEDULES_PLOT(self->plot), i);
    buttons(self);
    if (!s) {
        end_comparison(self);
        return;
    }
    ws_document_compare_with(self->document, s->design, _("the schedule that was found"));
    self->shows = TRUE;
}

static void on_row(WsSchedulesPanel *self, WsRow *row)
{
    if (!self->quiet)
        choose(self, row ? (gint)ws_row_get_index(row) : -1);
}

static void on_point(WsSchedulesPanel *self, guint index)
{
    for (guint k = 0; k < ws_table_n_shown(WS_TABLE(self->table)); k++)
        if (ws_row_get_index(ws_table_shown(WS_TABLE(self->table), k)) == index)
            ws_table_select(WS_TABLE(self->table), k);
    choose(self, (gint)index); /* also where the row was chosen already */
}

static void take(WsSchedulesPanel *self)
{
    g_autoptr(GError) error = NULL;
    const gint i = self->chosen;
    if (!schedule(self, i))
        return;
    end_comparison(self);
    if (!ws_document_take_schedule(self->document, (guint)i, &error) && error)
        gtk_label_set_text(GTK_LABEL(self->say), error->message);
}

static void on_axis(WsSchedulesPanel *self)
{
    g_autoptr(GArray) front = ws_document_schedule_front(self->document);
    fill_plot(self, front);
    say(self);
}

/* The comparison is over, or another one's. */
static void on_compared(WsSchedulesPanel *self)
{
    self->shows = self->shows && ws_document_comparing(self->document);
}

char *ws_schedules_panel_copy(WsSchedulesPanel *self)
{
    g_autofree char *table = ws_table_copy(WS_TABLE(self->table));
    return g_strdup_printf("%s\n\n%s", gtk_label_get_text(GTK_LABEL(self->say)), table);
}

static void copy(WsSchedulesPanel *self)
{
    g_autofree char *text = ws_schedules_panel_copy(self);
    gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(self)), text);
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void dispose(GObject *object)
{
    WsSchedulesPanel *self = WS_SCHEDULES_PANEL(object);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_schedules_panel_parent_class)->dispose(object);
}

static void finalize(GObject *object)
{
    g_hash_table_unref(WS_SCHEDULES_PANEL(object)->measured);
    G_OBJECT_CLASS(ws_schedules_panel_parent_class)->finalize(object);
}

static void ws_schedules_panel_class_init(WsSchedulesPanelClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    G_OBJECT_CLASS(class)->finalize = finalize;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(class), GTK_ACCESSIBLE_ROLE_GROUP);
}

static GtkWidget *make_table(void)
{
    const WsColumn column[N_COLUMNS] = {
        [CHANGE] = { _("Change"),
                     _("of the predicted cycles; less than 1 % means nothing: the "
                       "clock cannot tell them"),
                     TRUE, FALSE, 80 },
        [CYCLES] = { _("Cycles then"), _("of the whole launch, predicted"), TRUE, FALSE, 110 },
        [SHARED] = { _("Shared memory"), _("bytes of a CTA"), TRUE, FALSE, 150 },
        [REGISTERS] = { _("Registers"), _("of a CTA, as planned"), TRUE, FALSE, 90 },
        [MEASURED] = { _("Measured"),
                       _("newest run of that design for these sizes, of the "
                         "history of runs"),
                       TRUE, FALSE, 90 },
        [VERDICT] = { _("Verdict"),
                      _("The check says nothing of values. Where what computes was moved, "
                        "rehearse the design once it is taken."),
                      FALSE, FALSE, 0 },
        [HOW] = { _("Edits, and what each changes"), NULL, FALSE, TRUE, 0 },
    };
    GtkWidget *table =
        ws_table_new(_("Schedules found"), column, N_COLUMNS, _("Nothing better is found yet"));
    ws_table_sort_by(WS_TABLE(table), CHANGE, FALSE);
    return table;
}

static void name_widget(GtkWidget *w, const char *name)
{
    gtk_widget_set_tooltip_text(w, name);
    gtk_accessible_update_property(GTK_ACCESSIBLE(w), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

static GtkWidget *make_axis(void)
{
    g_autoptr(GtkStringList) names = gtk_string_list_new(NULL);
    gtk_string_list_append(names, _("Shared memory"));
    gtk_string_list_append(names, _("Registers"));
    gtk_string_list_append(names, _("Measured"));
    GtkWidget *axis = gtk_drop_down_new(G_LIST_MODEL(g_steal_pointer(&names)), NULL);
    name_widget(axis, _("What the points stand over"));
    return axis;
}

static GtkWidget *row_of_widgets(GtkWidget *const *widget, guint n, GtkAlign align)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    for (guint i = 0; i < n; i++)
        gtk_box_append(GTK_BOX(box), widget[i]);
    gtk_widget_set_halign(box, align);
    return box;
}

static void make_controls(WsSchedulesPanel *self)
{
    self->budget = gtk_spin_button_new_with_range(1, 3600, 10);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->budget), SECONDS);
    name_widget(self->budget, _("Time of one processor that the search may take, in seconds"));
    self->go = gtk_button_new_with_label(_("Search"));
    gtk_widget_set_tooltip_text(self->go,
                                _("Search for faster schedules of this design, or stop; what was "
                                  "found stays"));
    self->say = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(self->say), 0);
    gtk_label_set_wrap(GTK_LABEL(self->say), TRUE);
    gtk_widget_set_hexpand(self->say, TRUE);
    self->axis = make_axis();
    self->take = gtk_button_new_with_label(_("Take"));
    gtk_widget_set_tooltip_text(self->take, _("Make the design the selected schedule, as one step "
                                              "that can be undone"));
}

static GtkWidget *make_bar(WsSchedulesPanel *self)
{
    GtkWidget *bar = gtk_flow_box_new(); /* several lines where the text is large */
    GtkWidget *copy_button = gtk_button_new_with_label(_("Copy"));
    gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(bar), GTK_SELECTION_NONE);
    gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(bar), 3);
    make_controls(self);
    gtk_widget_set_tooltip_text(copy_button, _("Copy this page as text"));
    GtkWidget *left[] = { self->go, self->budget, gtk_label_new(_("s")) };
    GtkWidget *right[] = { self->axis, self->take, copy_button };
    GtkWidget *part[] = { row_of_widgets(left, G_N_ELEMENTS(left), GTK_ALIGN_START), self->say,
                          row_of_widgets(right, G_N_ELEMENTS(right), GTK_ALIGN_END) };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++) {
        gtk_widget_set_valign(part[i], GTK_ALIGN_CENTER);
        gtk_flow_box_append(GTK_FLOW_BOX(bar), part[i]);
    }
    g_signal_connect_swapped(copy_button, "clicked", G_CALLBACK(copy), self);
    gtk_widget_add_css_class(bar, "ws-bar");
    return bar;
}

static GtkWidget *make_plot(WsSchedulesPanel *self)
{
    self->plot = ws_schedules_plot_new();
    gtk_widget_set_size_request(self->plot, 240, -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->plot), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Schedules as points"), -1);
    gtk_widget_set_tooltip_text(self->plot,
                                _("Square: the design as it is. Filled: no other schedule is "
                                  "better in all. Hollow: another one is. All are proved."));
    return self->plot;
}

static void ws_schedules_panel_init(WsSchedulesPanel *self)
{
    self->chosen = -1;
    self->measured = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->table = make_table();
    GtkWidget *body = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_box_append(GTK_BOX(self->box), make_bar(self));
    gtk_box_append(GTK_BOX(body), make_plot(self));
    gtk_widget_set_hexpand(self->table, TRUE);
    gtk_box_append(GTK_BOX(body), self->table);
    gtk_widget_set_vexpand(body, TRUE);
    gtk_box_append(GTK_BOX(self->box), body);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
    g_signal_connect_swapped(self->table, "selected", G_CALLBACK(on_row), self);
    g_signal_connect_swapped(self->table, "activated", G_CALLBACK(on_row), self);
    g_signal_connect_swapped(self->plot, "picked", G_CALLBACK(on_point), self);
    g_signal_connect_swapped(self->go, "clicked", G_CALLBACK(on_go), self);
    g_signal_connect_swapped(self->take, "clicked", G_CALLBACK(take), self);
    g_signal_connect_swapped(self->axis, "notify::selected", G_CALLBACK(on_axis), self);
    g_signal_connect(self, "map", G_CALLBACK(read_and_update), NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Schedules"), -1);
}

GtkWidget *ws_schedules_panel_new(WsDocument *document)
{
    WsSchedulesPanel *self = g_object_new(WS_TYPE_SCHEDULES_PANEL, NULL);
    self->document = g_object_ref(document);
    g_signal_connect_object(document, "changed", G_CALLBACK(read_and_update), self,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "edited", G_CALLBACK(update), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "searched", G_CALLBACK(on_searched), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "compared", G_CALLBACK(on_compared), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "results-changed", G_CALLBACK(read_and_update), self,
                            G_CONNECT_SWAPPED);
    return GTK_WIDGET(self);
}
