#include "ui/runs/run_compare.h"
#include "program/op.h"

#include "ui/document/document_runs.h"
#include "ui/parts/format.h"
#include "ui/parts/table.h"
#include "ui/runs/run_rounds.h"

#include <glib/gi18n.h>
#include <math.h>

#define MOST 2000 /* rounds listed: those that differ most */

struct _WsRunCompare {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *box, *say, *rounds, *steps;
    WsTrace *shown, *pinned; /* what is listed */
    GArray *row;             /* WsRunRound, of all rounds */
};

G_DEFINE_FINAL_TYPE(WsRunCompare, ws_run_compare, GTK_TYPE_WIDGET)

enum { TILE, ROUND, SHOWN, PINNED, DIFFERENCE, PERCENT, N_ROUND };
enum { STEP, AGENT, TIMES, HELD_SHOWN, HELD_PINNED, HELD_DIFFERENCE, DRIFT, N_STEP };

/* --- filling ------------------------------------------------------------------------------------
 */

static char *signed_text(gint64 value)
{
    g_autofree char *plain = ws_format_int(ABS(value));
    return g_strconcat(value > 0 ? "+" : value < 0 ? "\xe2\x88\x92" : "", plain, NULL);
}

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
    ws_row_number(row, DIFFERENCE, (double)ABS(more), signed_text(more));
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
    WsRow *row = ws_row_new(N_STEP, t->op_id->pdata[d->op]);
    const gint64 more = d->held_a.p50 - d->held_b.p50;
    ws_row_text(row, STEP, g_strdup(ws_trace_op_label(t, d->op)));
    ws_row_text(row, AGENT, g_strdup(t->agent_name->pdata[d->agent]));
    ws_row_number(row, TIMES, d->n, ws_format_int(d->n));
    ws_row_number(row, HELD_SHOWN, (double)d->held_a.p50, ws_format_int(d->held_a.p50));
    ws_row_number(row, HELD_PINNED, (double)d->held_b.p50, ws_format_int(d->held_b.p50));
    ws_row_number(row, HELD_DIFFERENCE, (double)ABS(more), signed_text(more));
    ws_row_number(row, DRIFT, (double)ABS(d->drift), signed_text(-d->drift));
    return row;
}

static void fill_steps(WsRunCompare *self)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_object_unref);
    g_autoptr(WsTraceComparison) c =
        self->pinned ? ws_trace_compare(self->shown, self->pinned) : NULL;
    for (guint i = 0; c && i < c->row->len; i++)
        g_ptr_array_add(rows, step_row(self->shown, &g_array_index(c->row, WsTraceDelta, i)));
    ws_table_set_rows(WS_TABLE(self->steps), rows);
}

/* "k: 1 024 rounds; median 1 031 cycles shown, 1 024 pinned; 17 rounds differ by more than 5 %" */
static char *words(WsRunCompare *self, const char *loop)
{
    guint apart = 0;
    if (!self->pinned)
        return g_strdup(_("Pin a run, then show another one: both are compared here. The runs of "
                          "this design are on the page Runs."));
    if (!self->row->len)
        return g_strdup(_("The two runs have no round in common."));
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
    return g_strdup_printf(
        _("%s: %s rounds, on average %s cycles in the run that is shown and %s in "
          "the pinned one (%s). %s of them differ by more than 5 %%."),
        loop ? loop : "", n, x, y, d, m);
}

static void forget(WsRunCompare *self)
{
    g_clear_pointer(&self->shown, ws_trace_unref);
    g_clear_pointer(&self->pinned, ws_trace_unref);
    g_clear_pointer(&self->row, g_array_unref);
}

static void update(WsRunCompare *self)
{
    WsTrace *shown = ws_document_measured(self->document);
    WsTrace *pinned = ws_document_pinned_run(self->document);
    const WsProgram *p = ws_document_program(self->document);
    g_autofree char *loop = NULL;
    if (!shown || !p || pinned == shown)
        pinned = NULL;
    if (!gtk_widget_get_mapped(GTK_WIDGET(self)) ||
        (self->row && self->pinned == pinned && (!pinned || self->shown == shown)))
        return;
    forget(self);
    self->shown = pinned ? ws_trace_ref(shown) : NULL;
    self->pinned = pinned ? ws_trace_ref(pinned) : NULL;
    self->row = pinned ? ws_run_rounds(p, shown, pinned, &loop)
                       : g_array_new(FALSE, FALSE, sizeof(WsRunRound));
    fill_rounds(self);
    fill_steps(self);
    g_autofree char *text = words(self, loop);
    gtk_label_set_text(GTK_LABEL(self->say), text);
}

char *ws_run_compare_copy(WsRunCompare *self)
{
    g_autofree char *rounds = ws_table_copy(WS_TABLE(self->rounds));
    g_autofree char *steps = ws_table_copy(WS_TABLE(self->steps));
    return g_strdup_printf("%s\n\n%s\n%s", gtk_label_get_text(GTK_LABEL(self->say)), rounds, steps);
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
    const WsColumn column[N_STEP] = {
        [STEP] = { _("Step"), NULL, FALSE, TRUE, 0 },
        [AGENT] = { _("Agent"), NULL, FALSE, FALSE, 90 },
        [TIMES] = { _("Times"), _("executions that both runs have"), TRUE, FALSE, 70 },
        [HELD_SHOWN] = { _("Shown run"), _("median cycles held"), TRUE, FALSE, 90 },
        [HELD_PINNED] = { _("Pinned run"), _("median cycles held"), TRUE, FALSE, 90 },
        [HELD_DIFFERENCE] = { _("Difference"), NULL, TRUE, FALSE, 90 },
        [DRIFT] = { _("Later"), _("cycles that it begins later in its tile in the shown run"), TRUE,
                    FALSE, 80 },
    };
    GtkWidget *table =
        ws_table_new(_("Two runs by step"), column, N_STEP, _("No two runs to compare"));
    ws_table_sort_by(WS_TABLE(table), HELD_DIFFERENCE, TRUE);
    return table;
}

static void ws_run_compare_init(WsRunCompare *self)
{
    GtkWidget *row = gtk_paned_new(GTK_ORIENTATION_HORIZONTAL);
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->say = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(self->say), 0);
    gtk_label_set_wrap(GTK_LABEL(self->say), TRUE);
    gtk_widget_add_css_class(self->say, "ws-bar");
    self->rounds = make_rounds();
    self->steps = make_steps();
    gtk_paned_set_start_child(GTK_PANED(row), self->rounds);
    gtk_paned_set_end_child(GTK_PANED(row), self->steps);
    gtk_widget_set_vexpand(row, TRUE);
    gtk_box_append(GTK_BOX(self->box), self->say);
    gtk_box_append(GTK_BOX(self->box), row);
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
    return GTK_WIDGET(self);
}
