#include "ui/panels/idle_panel.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include "score/scene.h"
#include "ui/document/document_next.h"
#include "ui/parts/format.h"
#include "ui/parts/table.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#define LEAST 0.0005 /* of the unit's time; less is not listed */

struct _WsIdlePanel {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *box, *units, *say, *table, *take;
    WsUnit unit[WS_UNITS]; /* of the places of `units` */
    guint n_units;
    GArray *cause;           /* WsIdleCause by row, of the measured run if it has it */
    guint64 number, advised; /* answers that are listed */
    gboolean running;
    gboolean quiet; /* the table or the choice is being filled */
};

G_DEFINE_FINAL_TYPE(WsIdlePanel, ws_idle_panel, GTK_TYPE_WIDGET)

enum { CAUSE, AS, PREDICTED, MEASURED, GAPS, EDGE, EDIT, N_COLUMNS };

static const char *const unit_name[WS_UNITS] = {
    N_("Tensor core"),
    N_("MUFU"),
    N_("TMA load"),
    N_("TMA store"),
};
static const char *const reason_name[] = { N_("work"), N_("wait"), N_("flight") };

/* --- filling ------------------------------------------------------------------------------------
 */

static const char *label_of(const WsProgram *p, guint op)
{
    return p->op[op]->label ? p->op[op]->label : p->op[op]->id;
}

/* "mma" of "mma.1": a cause is one of all replicas. */
static char *group_of(const WsProgram *p, guint op)
{
    const gint agent = p->op[op]->agent;
    const char *name = agent >= 0 ? p->agent[agent].name : "";
    const char *dot = agent >= 0 && p->agent[agent].replicas > 1 ? strrchr(name, '.') : NULL;
    return dot ? g_strndup(name, (gsize)(dot - name)) : g_strdup(name);
}

static char *edge_of(const WsProgram *p, const WsIdleCause *k)
{
    if (k->waiter.op >= p->n_ops)
        return g_strdup("");
    const char *waiter = p->agent[k->waiter.agent].name;
    if (k->release.op >= p->n_ops)
        return g_strdup_printf("%s, %s", label_of(p, k->waiter.op), waiter);
    char *edge = g_strdup_printf("%s, %s \xe2\x86\x90 %s, %s", label_of(p, k->waiter.op), waiter,
                                 label_of(p, k->release.op), p->agent[k->release.agent].name);
    if (k->waits_for < 0)
        return edge;
    g_autofree char *own = edge, *device = g_strdup_printf(_("device %d"), k->waits_for);
    return g_strdup_printf("%s, %s", own, device);
}

/* A wait for another device says for which step there. */
static char *cause_text(const WsProgram *p, const WsIdleCause *k, const char *what)
{
    if (k->waits_for < 0)
        return g_strdup(what);
    return k->release.op < p->n_ops
               ? g_strdup_printf(_("%s: waits for device %d: %s"), what, k->waits_for,
                                 label_of(p, k->release.op))
               : g_strdup_printf(_("%s: waits for device %d"), what, k->waits_for);
}

static char *edit_of(WsDocument *d, const WsIdleCause *k)
{
    const WsNextEdit *e = ws_document_idle_edit(d, k);
    if (!e)
        return g_strdup(ws_document_next_running(d)     ? _("trying edits…")
                        : ws_document_next_has_edits(d) ? _("none that was tried")
                                                        : "");
    g_autofree char *gain = ws_format_difference(e->gain);
    g_autofree char *words = ws_words(e->words);
    return g_strdup_printf("%s (%s, %s)", words, gain, e->proved ? _("proved") : _("simulated"));
}

/* A share of what was measured. Where ends of flights were not seen it is that at least, and one
 * that was not seen may have had a part. */
static char *measured_share(const WsIdle *idle, WsUnit unit, double share)
{
    if (idle->most[unit] - idle->idle[unit] < LEAST)
        return ws_format_share(share);
    g_autofree char *figure = ws_format_share(share);
    return share < LEAST ? g_strdup(_("not seen")) : g_strdup_printf("\xe2\x89\xa5 %s", figure);
}

/* The same cause of both runs; either may be NULL. */
static void add_row(WsIdlePanel *self, GPtrArray *rows, const WsIdleCause *predicted,
                    const WsIdleCause *measured)
{
    const WsProgram *p = ws_document_program(self->document);
    const WsIdleCause *k = measured ? measured : predicted;
    const double share[2] = { predicted ? predicted->share : 0, measured ? measured->share : 0 };
    if (MAX(share[0], share[1]) < LEAST)
        return;
    WsRow *row = ws_row_new(N_COLUMNS, p->op[k->op]->step);
    g_autofree char *group = group_of(p, k->op);
    ws_row_index(row, self->cause->len);
    g_array_append_vals(self->cause, k, 1);
    g_autofree char *what =
        g_strdup_printf(ws_idle_together(k) ? _("%s, %s: all agents at once") : "%s, %s",
                        label_of(p, k->op), group);
    ws_row_text(row, CAUSE, cause_text(p, k, what));
    ws_row_text(row, AS, g_strdup(_(reason_name[k->reason])));
    for (guint m = 0; m < 2; m++) {
        const WsIdle *idle = ws_document_idle(self->document, m == 1);
        const char *none = m && ws_document_between(self->document) ? _("not known") : WS_NO_FIGURE;
        ws_row_number(row, m ? MEASURED : PREDICTED, idle ? share[m] : -1,
                      !idle ? g_strdup(none)
                      : m   ? measured_share(idle, k->unit, share[m])
                            : ws_format_share(share[m]));
    }
    ws_row_number(row, GAPS, k->gaps, ws_format_int(k->gaps));
    ws_row_text(row, EDGE, edge_of(p, k));
    ws_row_text(row, EDIT, edit_of(self->document, k));
    g_ptr_array_add(rows, row);
}

static WsUnit chosen_unit(WsIdlePanel *self)
{
    const guint at = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->units));
    return at < self->n_units ? self->unit[at] : WS_UNIT_TENSOR;
}

static void fill_units(WsIdlePanel *self)
{
    const WsUnit was = chosen_unit(self);
    g_autoptr(GtkStringList) names = gtk_string_list_new(NULL);
    guint at = 0;
    self->n_units = 0;
    for (guint unit = 0; unit < WS_UNITS; unit++) {
        const WsIdle *a = ws_document_idle(self->document, FALSE);
        const WsIdle *b = ws_document_idle(self->document, TRUE);
        if (!(a && a->uses[unit]) && !(b && b->uses[unit]))
            continue;
        if (unit == was)
            at = self->n_units;
        self->unit[self->n_units++] = (WsUnit)unit;
        gtk_string_list_append(names, _(unit_name[unit]));
    }
    gtk_drop_down_set_model(GTK_DROP_DOWN(self->units), G_LIST_MODEL(names));
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->units), at);
    gtk_widget_set_sensitive(self->units, self->n_units > 1);
}

static void fill(WsIdlePanel *self)
{
    const WsProgram *p = ws_document_program(self->document);
    const WsIdle *a = ws_document_idle(self->document, FALSE);
    const WsIdle *b = ws_document_idle(self->document, TRUE);
    const WsUnit unit = chosen_unit(self);
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_object_unref);
    g_array_set_size(self->cause, 0);
    for (guint i = 0; p && b && i < b->cause->len; i++) {
        const WsIdleCause *k = &g_array_index(b->cause, WsIdleCause, i);
        if (k->unit == unit)
            add_row(self, rows, ws_idle_same(a, p, k), k);
    }
    for (guint i = 0; p && a && i < a->cause->len; i++) {
        const WsIdleCause *k = &g_array_index(a->cause, WsIdleCause, i);
        if (k->unit == unit && !ws_idle_same(b, p, k))
            add_row(self, rows, k, NULL);
    }
    ws_table_set_rows(WS_TABLE(self->table), rows);
}

static char *words(WsIdlePanel *self)
{
    WsDocument *d = self->document;
    const WsUnit unit = chosen_unit(self);
    const WsIdle *a = ws_document_idle(d, FALSE), *b = ws_document_idle(d, TRUE);
    if (!ws_document_program(d))
        return g_strdup(_("This design has errors. The problems say what they are."));
    if (!a && !b)
        return g_strdup(ws_document_between(d) && !ws_document_predicted(d)
                            ? _(ws_document_between(d))
                        : ws_document_predicted(d) || ws_document_measured(d)
                            ? _("Looking for gaps…")
                            : _("There is no trace to look at: the timing model cannot simulate "
                                "this design, and nothing was measured."));
    GString *s = g_string_new(NULL);
    for (guint m = 0; m < 2; m++) {
        const WsIdle *idle = m ? b : a;
        g_autofree char *text = NULL;
        if (!idle || !idle->uses[unit])
            continue;
        g_autofree char *share = ws_format_share(idle->idle[unit]);
        g_autofree char *rated = ws_format_share(idle->rated[unit]);
        if (isnan(idle->rated[unit]))
            text = g_strdup_printf(m ? _("Measured: idle at least %s.") : _("Predicted: idle %s."),
                                   share);
        else
            text =
                g_strdup_printf(m ? _("Measured: idle at least %s; its work takes %s at its rate.")
                                  : _("Predicted: idle %s; its work takes %s at its rate."),
                                share, rated);
        g_string_append_printf(s, "%s%s", s->len ? " " : "", text);
        if (idle->most[unit] - idle->idle[unit] < 0.0005)
            continue;
        g_autofree char *most = ws_format_share(idle->most[unit]);
        g_string_append_c(s, ' ');
        g_string_append_printf(s,
                               _("At most %s: where waits came after the end of a flight, its end "
                                 "was not seen."),
                               most);
    }
    if (b && b->uses[unit] && b->cta->len > 1) {
        g_string_append_c(s, ' ');
        g_string_append_printf(s,
                               _("Measured is of all %u recorded CTAs together; the rows of the "
                                 "score say it of the CTA that is shown."),
                               b->cta->len);
    }
    if (ws_document_between(d))
        g_string_append_printf(s, "%s%s", s->len ? " " : "", _(ws_document_between(d)));
    return g_string_free(s, FALSE);
}

static const WsIdleCause *cause_of(WsIdlePanel *self, WsRow *row)
{
    const guint i = row ? ws_row_get_index(row) : G_MAXUINT;
    return i < self->cause->len ? &g_array_index(self->cause, WsIdleCause, i) : NULL;
}

static WsRow *chosen(WsIdlePanel *self)
{
    const gint at = ws_table_selected(WS_TABLE(self->table));
    return at >= 0 ? ws_table_shown(WS_TABLE(self->table), (guint)at) : NULL;
}

static void buttons(WsIdlePanel *self)
{
    const WsIdleCause *k = cause_of(self, chosen(self));
    gtk_widget_set_sensitive(self->take, k && ws_document_idle_edit(self->document, k));
}

static void update(WsIdlePanel *self)
{
    const guint64 number = ws_document_idle_number(self->document);
    const guint64 advised = ws_document_next_number(self->document);
    const gboolean running = ws_document_next_running(self->document);
    if (ws_document_trying(self->document)) /* what is tried has no list of its own */
        return;
    self->quiet = TRUE;
    if (number != self->number)
        fill_units(self);
    if (number != self->number || advised != self->advised || running != self->running)
        fill(self);
    self->number = number;
    self->advised = advised;
    self->running = running;
    self->quiet = FALSE;
    g_autofree char *text = words(self);
    gtk_label_set_text(GTK_LABEL(self->say), text);
    buttons(self);
}

static void want(WsIdlePanel *self)
{
    if (gtk_widget_get_mapped(GTK_WIDGET(self))) {
        ws_document_want_idle(self->document);
        ws_document_want_next(self->document, TRUE);
    }
    update(self);
}

/* --- acting -------------------------------------------------------------------------------------
 */

static void on_unit(WsIdlePanel *self)
{
    if (self->quiet)
        return;
    g_autofree char *text = words(self);
    self->quiet = TRUE;
    fill(self);
    self->quiet = FALSE;
    gtk_label_set_text(GTK_LABEL(self->say), text);
    buttons(self);
}

/* The longest gap of this cause, on the score. */
static void on_row(WsIdlePanel *self, WsRow *row)
{
    const WsIdleCause *k = cause_of(self, row);
    const WsProgram *p = ws_document_program(self->document);
    buttons(self);
    if (!k || self->quiet || !p)
        return;
    const WsIdle *b = ws_document_idle(self->document, TRUE);
    const gboolean measured = ws_idle_same(b, p, k) != NULL;
    const WsIdle *idle = ws_document_idle(self->document, measured);
    const WsIdleCta *c = idle && k->cta < idle->cta->len ? idle->cta->pdata[k->cta] : NULL;
    const WsGapRef gap = { measured, c ? c->cta : 0, k->unit, k->gap };
    ws_document_look_at_gap(self->document, c ? &gap : NULL, TRUE);
}

static void take(WsIdlePanel *self)
{
    g_autoptr(GError) error = NULL;
    const WsIdleCause *k = cause_of(self, chosen(self));
    const WsNextEdit *edit = k ? ws_document_idle_edit(self->document, k) : NULL;
    if (edit && !ws_document_take_next(self->document, edit, &error) && error)
        gtk_label_set_text(GTK_LABEL(self->say), error->message);
}

static void copy(WsIdlePanel *self)
{
    g_autofree char *text = ws_idle_panel_copy(self);
    gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(self)), text);
}

char *ws_idle_panel_copy(WsIdlePanel *self)
{
    g_autofree char *table = ws_table_copy(WS_TABLE(self->table));
    return g_strdup_printf("%s\n%s\n\n%s", _(unit_name[chosen_unit(self)]),
                           gtk_label_get_text(GTK_LABEL(self->say)), table);
}

guint ws_idle_panel_n_causes(WsIdlePanel *self)
{
    return ws_table_n_shown(WS_TABLE(self->table));
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void dispose(GObject *object)
{
    WsIdlePanel *self = WS_IDLE_PANEL(object);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_idle_panel_parent_class)->dispose(object);
}

static void finalize(GObject *object)
{
    g_array_unref(WS_IDLE_PANEL(object)->cause);
    G_OBJECT_CLASS(ws_idle_panel_parent_class)->finalize(object);
}

static void ws_idle_panel_class_init(WsIdlePanelClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    G_OBJECT_CLASS(class)->finalize = finalize;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(class), GTK_ACCESSIBLE_ROLE_GROUP);
}

static GtkWidget *make_table(void)
{
    const WsColumn column[N_COLUMNS] = {
        [CAUSE] = { _("The unit is idle for"),
                    _("from its next use backwards, along whatever was "
                      "waited for"),
                    FALSE, TRUE, 0 },
        [AS] = { _("As"),
                 _("work of an agent; a wait, from the event to its return; a copy or "
                   "product under way"),
                 FALSE, FALSE, 70 },
        [PREDICTED] = { _("Predicted"), _("share of the simulated time"), TRUE, FALSE, 120 },
        [MEASURED] = { _("Measured"),
                       _("share of the time recorded, at least: a flight is over at "
                         "the latest when its wait returns"),
                       TRUE, FALSE, 120 },
        [GAPS] = { _("Gaps"), _("in which it has a part"), TRUE, FALSE, 70 },
        [EDGE] = { _("Stalled \xe2\x86\x90 waits for"), _("in the gap that it has most of"), FALSE,
                   TRUE, 0 },
        [EDIT] = { _("Best edit that lowers it"),
                   _("of the next best edits, each simulated and checked: the one that gains most "
                     "and lowers this by a third; gain of the whole launch, predicted"),
                   FALSE, TRUE, 0 },
    };
    GtkWidget *table = ws_table_new(_("Causes of idle units"), column, N_COLUMNS,
                                    _("The unit is never idle between its first and last use"));
    ws_table_sort_by(WS_TABLE(table), PREDICTED, TRUE);
    ws_table_sort_by(WS_TABLE(table), MEASURED, TRUE);
    return table;
}

static GtkWidget *make_bar(WsIdlePanel *self)
{
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    GtkWidget *copy_button = gtk_button_new_with_label(_("Copy"));
    self->units = gtk_drop_down_new(NULL, NULL);
    self->say = gtk_label_new("");
    self->take = gtk_button_new_with_label(_("Make This Edit"));
    gtk_label_set_xalign(GTK_LABEL(self->say), 0);
    gtk_label_set_wrap(GTK_LABEL(self->say), TRUE);
    gtk_widget_set_hexpand(self->say, TRUE);
    gtk_widget_set_tooltip_text(self->units, _("Unit of the SM"));
    gtk_widget_set_tooltip_text(self->take,
                                _("Make the selected edit, as one step that can be undone"));
    gtk_widget_set_tooltip_text(copy_button, _("Copy this page as text"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->units), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Unit of the SM"), -1);
    GtkWidget *part[] = { self->units, self->say, self->take, copy_button };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++) {
        gtk_widget_set_valign(part[i], GTK_ALIGN_CENTER);
        gtk_box_append(GTK_BOX(bar), part[i]);
    }
    g_signal_connect_swapped(copy_button, "clicked", G_CALLBACK(copy), self);
    gtk_widget_add_css_class(bar, "ws-bar");
    return bar;
}

static void ws_idle_panel_init(WsIdlePanel *self)
{
    self->cause = g_array_new(FALSE, FALSE, sizeof(WsIdleCause));
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(self->box), make_bar(self));
    self->table = make_table();
    gtk_widget_set_vexpand(self->table, TRUE);
    gtk_box_append(GTK_BOX(self->box), self->table);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
    g_signal_connect_swapped(self->table, "selected", G_CALLBACK(on_row), self);
    g_signal_connect_swapped(self->table, "activated", G_CALLBACK(on_row), self);
    g_signal_connect_swapped(self->take, "clicked", G_CALLBACK(take), self);
    g_signal_connect_swapped(self->units, "notify::selected", G_CALLBACK(on_unit), self);
    g_signal_connect(self, "map", G_CALLBACK(want), NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Idle"),
                                   -1);
}

GtkWidget *ws_idle_panel_new(WsDocument *document)
{
    WsIdlePanel *self = g_object_new(WS_TYPE_IDLE_PANEL, NULL);
    self->document = g_object_ref(document);
    g_signal_connect_object(document, "changed", G_CALLBACK(want), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "idle", G_CALLBACK(update), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "advised", G_CALLBACK(update), self, G_CONNECT_SWAPPED);
    update(self);
    return GTK_WIDGET(self);
}
