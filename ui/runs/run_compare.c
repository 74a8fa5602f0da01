#include "ui/runs/run_compare.h"
#include "program/op.h"
#include "score/scene.h"
#include "trace/op_kind.h"

#include "ui/document/document_idle.h"
#include "ui/document/document_kin.h"
#include "ui/document/document_runs.h"
#include "ui/parts/format.h"
#include "ui/parts/table.h"
#include "ui/runs/run_rounds.h"
#include "ui/runs/run_sides.h"

#include <glib/gi18n.h>
#include <math.h>

#define MOST    2000 /* rounds listed: those that differ most */
#define FIGURES 430  /* pixels of the table of figures */

struct _WsRunCompare {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *box, *say, *stop, *figures, *rounds, *steps;
    WsTrace *shown, *pinned; /* what is listed */
    guint64 kin, idle;       /* answers that are listed: of a run of another design, of units */
    guint both, only[2];     /* steps with a partner in it, and without */
    GArray *row;             /* WsRunRound, of all rounds */
};

G_DEFINE_FINAL_TYPE(WsRunCompare, ws_run_compare, GTK_TYPE_WIDGET)

enum { TILE, ROUND, SHOWN, PINNED, DIFFERENCE, PERCENT, N_ROUND };

/* --- filling ------------------------------------------------------------------------------------
 */

static WsRow *round_row(const WsRunRound *r, guint i)
{
    g_autofree char *id = g_strdup_printf("%u", i);
    WsRow *row = ws_row_new(N_ROUND, id);
    const gint64 more = r->shown - r->pinned;
    const double share = (double)r->shown / (double)r->pinned - 1;
    ws_row_index(row, i);
    ws_row_number(row, TILE, r->tile,
                  r->tile < 0 ? g_strdup(WS_NO_FIGURE) : ws_format_int(r->tile));
    ws_row_number(row, ROUND, r->round,
                  r->round < 0 ? g_strdup(WS_NO_FIGURE) : ws_format_int(r->round));
    ws_row_number(row, SHOWN, (double)r->shown, ws_format_int(r->shown));
    ws_row_number(row, PINNED, (double)r->pinned, ws_format_int(r->pinned));
    ws_row_number(row, DIFFERENCE, (double)ABS(more), ws_run_signed(more));
    ws_row_number(row, PERCENT, share, ws_format_difference(share));
    return row;
}

static gint by_difference(gconstpointer pa, gconstpointer pb, gpointer data)
{
    const GArray *rows = data;
    const WsRunRound *a = &g_array_index(rows, WsRunRound, *(const guint *)pa);
    const WsRunRound *b = &g_array_index(rows, WsRunRound, *(const guint *)pb);
    const gint64 x = ABS(a->shown - a->pinned), y = ABS(b->shown - b->pinned);
    return x != y ? (x > y ? -1 : 1) : *(const guint *)pa < *(const guint *)pb ? -1 : 1;
}

static void fill_rounds(WsRunCompare *self)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_object_unref);
    g_autofree guint *order = g_new(guint, MAX(self->row->len, 1));
    for (guint i = 0; i < self->row->len; i++)
        order[i] = i;
    if (self->row->len)
        g_qsort_with_data(order, (gint)self->row->len, sizeof(guint), by_difference, self->row);
    for (guint i = 0; i < MIN(self->row->len, MOST); i++)
        g_ptr_array_add(rows, round_row(&g_array_index(self->row, WsRunRound, order[i]), order[i]));
    ws_table_set_rows(WS_TABLE(self->rounds), rows);
}

static WsRow *step_row(const WsTrace *t, const WsTraceDelta *d)
{
    WsRow *row = ws_row_new(WS_STEPS_COLUMNS, t->op_id->pdata[d->op]);
    const gint64 more = d->held_a.p50 - d->held_b.p50;
    ws_row_text(row, WS_STEPS_STEP, g_strdup(ws_trace_op_label(t, d->op)));
    ws_row_text(row, WS_STEPS_AGENT, g_strdup(t->agent_name->pdata[d->agent]));
    ws_row_number(row, WS_STEPS_TIMES, d->n, ws_format_int(d->n));
    ws_row_number(row, WS_STEPS_A, (double)d->held_a.p50, ws_format_int(d->held_a.p50));
    ws_row_number(row, WS_STEPS_B, (double)d->held_b.p50, ws_format_int(d->held_b.p50));
    ws_row_number(row, WS_STEPS_MORE, (double)ABS(more), ws_run_signed(more));
    ws_row_number(row, WS_STEPS_LATER, (double)ABS(d->drift), ws_run_signed(-d->drift));
    return row;
}

/* What is shown, and what it is compared with. */
static void sides(WsRunCompare *self, const WsKin *kin, WsRunSide side[2])
{
    WsDocument *d = self->document;
    const gboolean measured = self->shown == ws_document_measured(d);
    side[0] =
        (WsRunSide){ self->shown, ws_document_stats(d, measured), ws_document_idle(d, measured),
                     ws_document_findings(d), ws_document_verdict(d) };
    side[1] = (WsRunSide){ .t = self->pinned };
    if (!kin)
        return;
    side[1].stats = kin->stats;
    side[1].idle = kin->idle;
    side[1].findings = kin->answers ? kin->answers->findings : NULL;
    side[1].verdict = kin->answers ? kin->answers->verdict : NULL;
}

/* Executions of the two can be matched by tile and round. */
static gboolean matches(WsRunCompare *self)
{
    const WsProgram *p = ws_document_program(self->document);
    if (!p || ws_trace_rounds_unknown(p, self->shown) || ws_trace_rounds_unknown(p, self->pinned))
        return FALSE;
    for (guint i = 0; i < MIN(self->shown->cta->len, self->pinned->cta->len); i++)
        if (ws_trace_rounds_apart(p, self->shown, i, self->pinned, i))
            return FALSE;
    return TRUE;
}

static void fill_steps(WsRunCompare *self, const WsKin *kin)
{
    g_autoptr(GPtrArray) rows = NULL, figures = NULL;
    WsRunSide side[2];
    if (self->pinned && kin) {
        sides(self, kin, side);
        figures = ws_run_figures(&side[0], &side[1]);
        if (kin->stats)
            rows = ws_run_kin_steps(&side[0], &side[1], &self->both, self->only);
    }
    if (!rows)
        rows = g_ptr_array_new_with_free_func(g_object_unref);
    g_autoptr(WsTraceComparison) c = self->pinned && self->shown && !kin && matches(self)
                                         ? ws_trace_compare(self->shown, self->pinned)
                                         : NULL;
    for (guint i = 0; c && i < c->row->len; i++)
        g_ptr_array_add(rows, step_row(self->shown, &g_array_index(c->row, WsTraceDelta, i)));
    ws_table_set_rows(WS_TABLE(self->steps), rows);
    if (figures)
        ws_table_set_rows(WS_TABLE(self->figures), figures);
    gtk_widget_set_visible(self->figures, figures != NULL);
    gtk_widget_set_visible(self->stop, kin != NULL);
}

/* "17 steps have a partner …" */
static void kin_words(WsRunCompare *self, const WsKin *kin, GString *s)
{
    g_autofree char *title = ws_document_title(self->document);
    const gboolean measured = self->shown->origin == WS_TRACE_MEASURED;
    /* Translators: name of the design that is open, "measured" or "predicted"; a file; what was
     * measured there. */
    g_string_append_printf(s, _("Shown: %s, %s. Pinned: %s, %s, of another design."), title,
                           measured ? _("measured") : _("predicted"), kin->name,
                           kin->trace->origin == WS_TRACE_MEASURED ? _("measured")
                                                                   : _("predicted"));
    g_string_append_c(s, ' ');
    if (!kin->stats)
        g_string_append(s, _("Its design is being worked out…"));
    else
        g_string_append_printf(s,
                               _("By name and role %u steps go together; %u are only in the shown "
                                 "design, %u only in the other."),
                               self->both, self->only[0], self->only[1]);
    g_string_append_c(s, '\n');
}

/* "k: 1 024 rounds; median 1 031 cycles shown, 1 024 pinned; 17 rounds differ by more than 5 %" */
static void round_words(WsRunCompare *self, const char *loop, GString *s)
{
    guint apart = 0;
    double shown = 0, pinned = 0;
    for (guint i = 0; i < self->row->len; i++) {
        const WsRunRound *r = &g_array_index(self->row, WsRunRound, i);
        shown += (double)r->shown;
        pinned += (double)r->pinned;
        apart += fabs((double)r->shown / (double)r->pinned - 1) > 0.05;
    }
    g_autofree char *n = ws_format_int(self->row->len), *m = ws_format_int(apart);
    g_autofree char *x = ws_format_real(shown / self->row->len, 1);
    g_autofree char *y = ws_format_real(pinned / self->row->len, 1);
    g_autofree char *d = ws_format_difference(shown / pinned - 1);
    /* Translators: name of a loop, its rounds, mean cycles of a round in either run, how much more,
     * how many rounds are far apart. */
    g_string_append_printf(
        s,
        _("%s: %s rounds, on average %s cycles in the run that is shown and %s in "
          "the pinned one (%s). %s of them differ by more than 5 %%."),
        loop ? loop : "", n, x, y, d, m);
}

static char *words(WsRunCompare *self, const WsKin *kin, const char *loop)
{
    GString *s = g_string_new(NULL);
    if (!self->pinned) {
        g_string_append(s,
                        _("Pin a run, then show another one: both are compared here. The runs of "
                          "this design are on the page Runs. A trace of another design is "
                          "compared by the names of its steps: add it like any measured trace."));
        return g_string_free(s, FALSE);
    }
    if (kin)
        kin_words(self, kin, s);
    if (self->row->len)
        round_words(self, loop, s);
    else
        g_string_append(s, ws_document_claims(self->document)
                               ? _(ws_score_claims_text())
                               : _("The two runs have no round in common."));
    return g_string_free(s, FALSE);
}

static void forget(WsRunCompare *self)
{
    g_clear_pointer(&self->shown, ws_trace_unref);
    g_clear_pointer(&self->pinned, ws_trace_unref);
    g_clear_pointer(&self->row, g_array_unref);
}

static void update(WsRunCompare *self)
{
    WsDocument *d = self->document;
    const WsKin *kin = ws_document_program(d) ? ws_document_kin(d) : NULL;
    WsTrace *shown = ws_document_measured(d);
    WsTrace *pinned = kin ? kin->trace : ws_document_pinned_run(d);
    const WsProgram *p = ws_document_program(d), *q = p;
    g_autofree char *loop = NULL;
    if (kin && !shown)
        shown = ws_document_predicted(d);
    if (kin)
        q = kin->answers ? kin->answers->program : NULL;
    if (!shown || !p || pinned == shown)
        pinned = NULL;
    if (!pinned)
        kin = NULL;
    const guint64 number = kin ? kin->number : 0, idle = kin ? ws_document_idle_number(d) : 0;
    if (!gtk_widget_get_mapped(GTK_WIDGET(self)))
        return;
    if (kin)
        ws_document_want_idle(d);
    if (self->row && self->pinned == pinned && self->kin == number && self->idle == idle &&
        (!pinned || self->shown == shown))
        return;
    forget(self);
    self->shown = pinned ? ws_trace_ref(shown) : NULL;
    self->pinned = pinned ? ws_trace_ref(pinned) : NULL;
    self->kin = number;
    self->idle = idle;
    self->row = pinned && q ? ws_run_rounds(p, shown, q, pinned, &loop)
                            : g_array_new(FALSE, FALSE, sizeof(WsRunRound));
    fill_rounds(self);
    fill_steps(self, kin);
    g_autofree char *text = words(self, kin, loop);
    gtk_label_set_text(GTK_LABEL(self->say), text);
}

char *ws_run_compare_copy(WsRunCompare *self)
{
    g_autofree char *rounds = ws_table_copy(WS_TABLE(self->rounds));
    g_autofree char *steps = ws_table_copy(WS_TABLE(self->steps));
    g_autofree char *figures = gtk_widget_get_visible(self->figures)
                                   ? ws_table_copy(WS_TABLE(self->figures))
                                   : g_strdup("");
    return g_strdup_printf("%s\n\n%s\n%s\n%s", gtk_label_get_text(GTK_LABEL(self->say)), figures,
                           rounds, steps);
}

guint ws_run_compare_n_rounds(WsRunCompare *self)
{
    return ws_table_n_shown(WS_TABLE(self->rounds));
}

/* --- acting -------------------------------------------------------------------------------------
 */

/* A step with an effect of its own is what one looks for in a round. */
static const WsTraceRecord *record_in(const WsTrace *t, const WsRunRound *r)
{
    const WsTraceRecord *found = NULL;
    for (guint a = 0; a < t->agent_name->len; a++) {
        const WsTraceLane *lane = ws_trace_lane(t, r->cta, a);
        for (guint64 i = lane ? lane->first : 0; lane && i < lane->first + lane->n; i++) {
            const WsTraceRecord *x = &t->record->data[i];
            const gboolean flies = ws_op_flies(ws_trace_op_kind(t, x->op));
            if (x->start >= r->from && x->tile == r->tile && flies &&
                (!found || x->start < found->start))
                found = x;
        }
    }
    return found;
}

static void on_round(WsRunCompare *self, WsRow *row)
{
    const guint i = row ? ws_row_get_index(row) : G_MAXUINT;
    if (!self->shown || i >= self->row->len)
        return;
    const WsTraceRecord *x = record_in(self->shown, &g_array_index(self->row, WsRunRound, i));
    if (!x)
        return;
    const WsFocus focus = { self->shown->op_id->pdata[x->op], x->agent, x->tile, x->round };
    ws_document_select(self->document, &focus, WS_SELECT_REPLACE, TRUE);
}

static void on_step(WsRunCompare *self, WsRow *row)
{
    const WsFocus focus = { row ? ws_row_place(row) : NULL, G_MAXUINT, -1, -1 };
    if (focus.step)
        ws_document_select(self->document, &focus, WS_SELECT_REPLACE, TRUE);
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void dispose(GObject *object)
{
    WsRunCompare *self = WS_RUN_COMPARE(object);
    forget(self);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_run_compare_parent_class)->dispose(object);
}

static void ws_run_compare_class_init(WsRunCompareClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
}

static GtkWidget *make_rounds(void)
{
    const WsColumn column[N_ROUND] = {
        [TILE] = { _("Tile"), NULL, TRUE, FALSE, 60 },
        [ROUND] = { _("Round"), NULL, TRUE, FALSE, 70 },
        [SHOWN] = { _("Shown run"), _("median cycles of this round over the CTAs"), TRUE, FALSE,
                    100 },
        [PINNED] = { _("Pinned run"), _("median cycles of this round over the CTAs"), TRUE, FALSE,
                     100 },
        [DIFFERENCE] = { _("Difference"), _("cycles that the shown run takes more"), TRUE, TRUE,
                         0 },
        [PERCENT] = { "%", NULL, TRUE, FALSE, 80 },
    };
    GtkWidget *table =
        ws_table_new(_("Two runs by round"), column, N_ROUND, _("No two runs to compare"));
    ws_table_sort_by(WS_TABLE(table), DIFFERENCE, TRUE);
    return table;
}

static GtkWidget *make_steps(void)
{
    const WsColumn column[WS_STEPS_COLUMNS] = {
        [WS_STEPS_STEP] = { _("Step"), NULL, FALSE, TRUE, 0 },
        [WS_STEPS_AGENT] = { _("Agent"), NULL, FALSE, FALSE, 90 },
        [WS_STEPS_TIMES] = { _("Times"), _("executions that both runs have"), TRUE, FALSE, 70 },
        [WS_STEPS_A] = { _("Shown run"), _("median cycles held"), TRUE, FALSE, 90 },
        [WS_STEPS_B] = { _("Pinned run"), _("median cycles held"), TRUE, FALSE, 90 },
        [WS_STEPS_MORE] = { _("Difference"), NULL, TRUE, FALSE, 90 },
        [WS_STEPS_LATER] = { _("Later"),
                             _("cycles that it begins later in its tile in the shown run"), TRUE,
                             FALSE, 80 },
    };
    GtkWidget *table =
        ws_table_new(_("Two runs by step"), column, WS_STEPS_COLUMNS, _("No two runs to compare"));
    ws_table_sort_by(WS_TABLE(table), WS_STEPS_MORE, TRUE);
    return table;
}

static GtkWidget *make_figures(void)
{
    const WsColumn column[WS_SIDES_COLUMNS] = {
        [WS_SIDES_FIGURE] = { _("Figure"), NULL, FALSE, TRUE, 0 },
        [WS_SIDES_A] = { _("Shown run"), NULL, TRUE, FALSE, 110 },
        [WS_SIDES_B] = { _("Pinned run"), NULL, TRUE, FALSE, 110 },
        [WS_SIDES_MORE] = { _("Difference"),
                            _("of the shown run against the pinned one; of shares, in points"),
                            TRUE, FALSE, 90 },
    };
    return ws_table_new(_("Figures of two runs"), column, WS_SIDES_COLUMNS,
                        _("No two runs to compare"));
}

static void stop(WsRunCompare *self)
{
    ws_document_compare_kin(self->document, NULL, NULL);
}

static GtkWidget *make_bar(WsRunCompare *self)
{
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    self->say = gtk_label_new("");
    self->stop = gtk_button_new_with_label(_("Stop Comparing"));
    gtk_label_set_xalign(GTK_LABEL(self->say), 0);
    gtk_label_set_wrap(GTK_LABEL(self->say), TRUE);
    gtk_widget_set_hexpand(self->say, TRUE);
    gtk_widget_set_valign(self->stop, GTK_ALIGN_CENTER);
    gtk_widget_set_visible(self->stop, FALSE);
    gtk_box_append(GTK_BOX(bar), self->say);
    gtk_box_append(GTK_BOX(bar), self->stop);
    gtk_widget_add_css_class(bar, "ws-bar");
    g_signal_connect_swapped(self->stop, "clicked", G_CALLBACK(stop), self);
    return bar;
}

static void ws_run_compare_init(WsRunCompare *self)
{
    GtkWidget *row = gtk_paned_new(GTK_ORIENTATION_HORIZONTAL);
    GtkWidget *outer = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(self->box), make_bar(self));
    self->figures = make_figures();
    gtk_widget_set_visible(self->figures, FALSE);
    self->rounds = make_rounds();
    self->steps = make_steps();
    gtk_paned_set_start_child(GTK_PANED(row), self->rounds);
    gtk_paned_set_end_child(GTK_PANED(row), self->steps);
    gtk_widget_set_size_request(self->figures, FIGURES, -1);
    gtk_widget_set_hexpand(self->figures, FALSE);
    gtk_widget_set_hexpand(row, TRUE);
    gtk_box_append(GTK_BOX(outer), self->figures);
    gtk_box_append(GTK_BOX(outer), row);
    gtk_widget_set_vexpand(outer, TRUE);
    gtk_box_append(GTK_BOX(self->box), outer);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
    g_signal_connect_swapped(self->rounds, "selected", G_CALLBACK(on_round), self);
    g_signal_connect_swapped(self->rounds, "activated", G_CALLBACK(on_round), self);
    g_signal_connect_swapped(self->steps, "activated", G_CALLBACK(on_step), self);
    g_signal_connect(self, "map", G_CALLBACK(update), NULL);
}

GtkWidget *ws_run_compare_new(WsDocument *document)
{
    WsRunCompare *self = g_object_new(WS_TYPE_RUN_COMPARE, NULL);
    self->document = g_object_ref(document);
    g_signal_connect_object(document, "changed", G_CALLBACK(update), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "range-changed", G_CALLBACK(update), self,
                            G_CONNECT_SWAPPED); /* pinned */
    g_signal_connect_object(document, "idle", G_CALLBACK(update), self, G_CONNECT_SWAPPED);
    return GTK_WIDGET(self);
}
