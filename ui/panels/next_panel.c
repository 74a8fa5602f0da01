#include "ui/panels/next_panel.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include "ui/parts/format.h"
#include "ui/parts/table.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#define MOST_EDGES 200

struct _WsNextPanel {
    GtkWidget parent;
    WsDocument *document;
    GtkWidget *box, *stack, *say, *edits, *edges, *parts, *take, *look, *path;
    gboolean quiet;  /* a table is being filled, or the path's button set */
    guint64 number;  /* of the answer that is listed */
    gboolean trying; /* this panel has asked for what is tried */
};

G_DEFINE_FINAL_TYPE(WsNextPanel, ws_next_panel, GTK_TYPE_WIDGET)

enum { EDIT, GAIN, AFTER, VERDICT, WHY, N_EDIT };
enum { WAIT, FROM, BARRIER, TIMES, EXPOSED, SHARE, N_EDGE };
enum { PART, AGENT, REASON, CYCLES, PATH_SHARE, N_PART };

/* --- filling ------------------------------------------------------------------------------------
 */

static char *label_of(WsDocument *d, guint op)
{
    const WsProgram *p = ws_document_program(d);
    const char *step = op < p->n_ops ? p->op[op]->step : NULL;
    const WsNode *node = step ? ws_design_find(ws_document_design(d), step) : NULL;
    return node ? ws_edit_label(node) : g_strdup(step ? step : WS_NO_FIGURE);
}

static const char *agent_of(const WsProgram *p, guint op)
{
    const gint agent = op < p->n_ops ? p->op[op]->agent : -1;
    return agent >= 0 ? p->agent[agent].name : "";
}

static const char *step_of(const WsProgram *p, guint op)
{
    return op < p->n_ops ? p->op[op]->step : NULL;
}

static WsRow *edit_row(const WsNextEdit *e, guint i)
{
    g_autofree char *id = g_strdup_printf("%u", i);
    WsRow *row = ws_row_new(N_EDIT, id);
    ws_row_index(row, i);
    ws_row_text(row, EDIT, ws_words(e->words));
    ws_row_number(row, GAIN, e->gain, ws_format_difference(e->gain));
    ws_row_number(row, AFTER, (double)e->cycles_after, ws_format_int(e->cycles_after));
    ws_row_text(row, VERDICT, g_strdup(e->proved ? _("proved") : _("simulated")));
    ws_row_text(row, WHY, e->why ? ws_words(e->why) : g_strdup(""));
    return row;
}

static WsRow *edge_row(WsDocument *d, const WsNextEdge *e, guint i)
{
    const WsProgram *p = ws_document_program(d);
    WsRow *row = ws_row_new(N_EDGE, step_of(p, e->to_op));
    g_autofree char *to = label_of(d, e->to_op), *from = label_of(d, e->from_op);
    ws_row_index(row, i);
    ws_row_text(row, WAIT, g_strdup_printf("%s, %s", to, agent_of(p, e->to_op)));
    ws_row_text(row, FROM,
                e->from_op < p->n_ops ? g_strdup_printf("%s, %s", from, agent_of(p, e->from_op))
                                      : g_strdup(WS_NO_FIGURE));
    ws_row_text(row, BARRIER,
                g_strdup(e->barrier >= 0 && (guint)e->barrier < p->n_barriers
                             ? p->barrier[e->barrier].name
                             : _("its own queue")));
    ws_row_number(row, TIMES, (double)e->count, ws_format_int(e->count));
    ws_row_number(row, EXPOSED, (double)e->exposed, ws_format_int(e->exposed));
    ws_row_number(row, SHARE, e->share, ws_format_share(e->share));
    return row;
}

static const char *const reason[] = {
    [WS_NEXT_WORK] = N_("work"),
    [WS_NEXT_WAIT] = N_("wait"),
    [WS_NEXT_FLIGHT] = N_("flight"),
};

static WsRow *part_row(WsDocument *d, const WsNextPart *part, guint i)
{
    const WsProgram *p = ws_document_program(d);
    WsRow *row = ws_row_new(N_PART, step_of(p, part->op));
    ws_row_index(row, i);
    ws_row_text(row, PART, label_of(d, part->op));
    ws_row_text(row, AGENT, g_strdup(part->agent < p->n_agents ? p->agent[part->agent].name : ""));
    ws_row_text(row, REASON, g_strdup(_(reason[part->reason])));
    ws_row_number(row, CYCLES, (double)part->cycles, ws_format_int(part->cycles));
    ws_row_number(row, PATH_SHARE, part->share, ws_format_share(part->share));
    return row;
}

static GPtrArray *new_rows(void)
{
    return g_ptr_array_new_with_free_func(g_object_unref);
}

static void fill(WsNextPanel *self, const WsNext *next)
{
    const WsProgram *p = ws_document_program(self->document);
    g_autoptr(GPtrArray) edits = new_rows(), edges = new_rows(), parts = new_rows();
    for (guint i = 0; next && p && i < next->edit->len; i++)
        g_ptr_array_add(edits, edit_row(next->edit->pdata[i], i));
    for (guint i = 0; next && p && i < MIN(next->edge->len, MOST_EDGES); i++)
        g_ptr_array_add(edges,
                        edge_row(self->document, &g_array_index(next->edge, WsNextEdge, i), i));
    for (guint i = 0; next && p && i < next->part->len; i++)
        g_ptr_array_add(parts,
                        part_row(self->document, &g_array_index(next->part, WsNextPart, i), i));
    self->quiet = TRUE;
    ws_table_set_rows(WS_TABLE(self->edits), edits);
    ws_table_set_rows(WS_TABLE(self->edges), edges);
    ws_table_set_rows(WS_TABLE(self->parts), parts);
    self->quiet = FALSE;
}

static char *words(WsNextPanel *self, const WsNext *next)
{
    const gboolean measured = ws_document_measured(self->document) != NULL;
    if (!ws_document_program(self->document) || ws_document_left_out(self->document))
        return g_strdup(_("This design has errors. The problems say what they are."));
    if (!next && ws_document_next_running(self->document))
        return g_strdup(_("Looking for what would help…"));
    if (!next)
        return g_strdup(_("The timing model cannot simulate this design. The problems say why."));
    GString *s = g_string_new(measured ? _("Edges and path are those of the measured run.")
                                       : _("Edges and path are predicted: nothing is measured."));
    if (!ws_document_next_has_edits(self->document))
        g_string_append_printf(s, " %s", _("Trying edits…"));
    else if (!next->edit->len)
        g_string_append_printf(s, " %s", _("No edit that was tried gains anything."));
    if (ws_document_next_has_edits(self->document)) {
        g_autofree char *tried = ws_format_count(
            next->tried, ngettext("%s edit was timed.", "%s edits were timed.", next->tried));
        g_string_append_printf(s, " %s", tried);
    }
    if (next->refuted) {
        g_autofree char *n =
            ws_format_count(next->refuted, ngettext("%s the check refutes.",
                                                    "%s the check refutes.", next->refuted));
        g_string_append_printf(s, " %s", n);
    }
    return g_string_free(s, FALSE);
}

static void buttons(WsNextPanel *self)
{
    const gboolean any = ws_table_selected(WS_TABLE(self->edits)) >= 0;
    gtk_widget_set_sensitive(self->take, any);
    gtk_widget_set_sensitive(self->look, any);
}

static void update(WsNextPanel *self)
{
    const WsNext *next = ws_document_next(self->document);
    if (ws_document_trying(self->document)) /* what is tried has no list of its own */
        return;
    if (ws_document_next_number(self->document) != self->number || !next)
        fill(self, next);
    self->number = ws_document_next_number(self->document);
    g_autofree char *text = words(self, next);
    gtk_label_set_text(GTK_LABEL(self->say), text);
    self->quiet = TRUE;
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(self->path),
                                 ws_document_path_shown(self->document));
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(self->look), FALSE);
    self->quiet = FALSE;
    buttons(self);
}

static void want(WsNextPanel *self)
{
    if (gtk_widget_get_mapped(GTK_WIDGET(self)))
        ws_document_want_next(self->document, TRUE);
    update(self);
}

/* --- acting -------------------------------------------------------------------------------------
 */

static const WsNextEdit *edit_of(WsNextPanel *self, WsRow *row)
{
    const WsNext *next = ws_document_next(self->document);
    const guint i = row ? ws_row_get_index(row) : G_MAXUINT;
    return next && i < next->edit->len ? next->edit->pdata[i] : NULL;
}

static WsRow *chosen(WsNextPanel *self)
{
    const gint at = ws_table_selected(WS_TABLE(self->edits));
    return at >= 0 ? ws_table_shown(WS_TABLE(self->edits), (guint)at) : NULL;
}

static void take(WsNextPanel *self, WsRow *row)
{
    g_autoptr(GError) error = NULL;
    if (self->trying) { /* the list belongs to what was shown before */
        self->trying = FALSE;
        ws_document_try(self->document, NULL);
    }
    const WsNextEdit *edit = edit_of(self, row);
    if (edit && !ws_document_take_next(self->document, edit, &error) && error)
        gtk_label_set_text(GTK_LABEL(self->say), error->message);
}

static void take_chosen(WsNextPanel *self)
{
    take(self, chosen(self));
}

/* The score of the edited design, as long as the button is down. */
static void look(WsNextPanel *self)
{
    if (self->quiet)
        return;
    const gboolean on = gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(self->look));
    const WsNextEdit *edit = on ? edit_of(self, chosen(self)) : NULL;
    self->trying = edit != NULL;
    ws_document_try_next(self->document, edit);
}

static void show_path(WsNextPanel *self)
{
    if (!self->quiet)
        ws_document_show_path(self->document,
                              gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(self->path)));
}

static void show_step(WsNextPanel *self, const char *step)
{
    const WsFocus focus = { step, G_MAXUINT, -1, -1 };
    if (step && *step)
        ws_document_select(self->document, &focus, WS_SELECT_REPLACE, TRUE);
}

static void on_edit(WsNextPanel *self, WsRow *row)
{
    const WsNextEdit *edit = edit_of(self, row);
    buttons(self);
    if (edit && !self->quiet)
        show_step(self, edit->step);
}

static void on_step(WsNextPanel *self, WsRow *row)
{
    if (row && !self->quiet)
        show_step(self, ws_row_place(row));
}

char *ws_next_panel_copy(WsNextPanel *self)
{
    GtkWidget *table[] = { self->edits, self->edges, self->parts };
    GString *out = g_string_new(gtk_label_get_text(GTK_LABEL(self->say)));
    for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
        g_autofree char *text = ws_table_copy(WS_TABLE(table[i]));
        g_string_append_printf(out, "\n\n%s", text);
    }
    return g_string_free(out, FALSE);
}

guint ws_next_panel_n_edits(WsNextPanel *self)
{
    return ws_table_n_shown(WS_TABLE(self->edits));
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void dispose(GObject *object)
{
    WsNextPanel *self = WS_NEXT_PANEL(object);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_next_panel_parent_class)->dispose(object);
}

static void ws_next_panel_class_init(WsNextPanelClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
}

static GtkWidget *make_edits(void)
{
    const WsColumn column[N_EDIT] = {
        [EDIT] = { _("Next best edit"), NULL, FALSE, TRUE, 0 },
        [GAIN] = { _("Gain"), _("predicted: cycles now against cycles with the edit"), TRUE, FALSE,
                   80 },
        [AFTER] = { _("Cycles then"), _("of the whole launch, predicted"), TRUE, FALSE, 110 },
        [VERDICT] = { _("Verdict"), _("of the check, on the edited design"), FALSE, FALSE, 80 },
        [WHY] = { _("Why"), NULL, FALSE, TRUE, 0 },
    };
    GtkWidget *table = ws_table_new(_("Next best edits"), column, N_EDIT, _("No edit gains"));
    ws_table_sort_by(WS_TABLE(table), GAIN, TRUE);
    return table;
}

static GtkWidget *make_edges(void)
{
    const WsColumn column[N_EDGE] = {
        [WAIT] = { _("Stalled"), NULL, FALSE, TRUE, 0 },
        [FROM] = { _("Waits for"), NULL, FALSE, TRUE, 0 },
        [BARRIER] = { _("Barrier"), NULL, FALSE, FALSE, 100 },
        [TIMES] = { _("Times"), NULL, TRUE, FALSE, 70 },
        [EXPOSED] = { _("Exposed"), _("cycles it stalled, in total"), TRUE, FALSE, 100 },
        [SHARE] = { _("Share"), _("of the time of the CTA"), TRUE, FALSE, 80 },
    };
    GtkWidget *table = ws_table_new(_("Exposed edges"), column, N_EDGE, _("No agent stalls"));
    ws_table_sort_by(WS_TABLE(table), EXPOSED, TRUE);
    return table;
}

static GtkWidget *make_parts(void)
{
    const WsColumn column[N_PART] = {
        [PART] = { _("On the critical path"), NULL, FALSE, TRUE, 0 },
        [AGENT] = { _("Agent"), NULL, FALSE, FALSE, 90 },
        [REASON] = { _("As"), NULL, FALSE, FALSE, 80 },
        [CYCLES] = { _("Cycles"), NULL, TRUE, FALSE, 100 },
        [PATH_SHARE] = { _("Share"), _("of the critical path"), TRUE, FALSE, 80 },
    };
    GtkWidget *table = ws_table_new(_("Critical path"), column, N_PART, _("No path is known"));
    ws_table_sort_by(WS_TABLE(table), CYCLES, TRUE);
    return table;
}

static GtkWidget *make_bar(WsNextPanel *self)
{
    GtkWidget *bar = gtk_flow_box_new(); /* two lines where the text is large */
    gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(bar), GTK_SELECTION_NONE);
    gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(bar), 3);
    GtkWidget *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *pages = gtk_stack_switcher_new();
    gtk_stack_switcher_set_stack(GTK_STACK_SWITCHER(pages), GTK_STACK(self->stack));
    self->say = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(self->say), 0);
    gtk_label_set_wrap(GTK_LABEL(self->say), TRUE);
    gtk_widget_set_hexpand(self->say, TRUE);
    self->look = gtk_toggle_button_new_with_label(_("Preview"));
    self->take = gtk_button_new_with_label(_("Make This Edit"));
    self->path = gtk_toggle_button_new_with_label(_("Draw the Path"));
    gtk_widget_set_tooltip_text(self->look, _("Show the score that this edit would give"));
    gtk_widget_set_tooltip_text(self->take,
                                _("Make the selected edit, as one step that can be undone"));
    gtk_widget_set_tooltip_text(self->path, _("Show the critical path on the score"));
    GtkWidget *button[] = { self->path, self->look, self->take };
    for (guint i = 0; i < G_N_ELEMENTS(button); i++)
        gtk_box_append(GTK_BOX(buttons), button[i]);
    gtk_widget_set_halign(buttons, GTK_ALIGN_END);
    gtk_widget_set_halign(pages, GTK_ALIGN_START);
    GtkWidget *part[] = { pages, self->say, buttons };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++) {
        gtk_widget_set_valign(part[i], GTK_ALIGN_CENTER);
        gtk_flow_box_append(GTK_FLOW_BOX(bar), part[i]);
    }
    gtk_widget_add_css_class(bar, "ws-bar");
    return bar;
}

static void ws_next_panel_init(WsNextPanel *self)
{
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->stack = gtk_stack_new();
    self->edits = make_edits();
    self->edges = make_edges();
    self->parts = make_parts();
    gtk_stack_add_titled(GTK_STACK(self->stack), self->edits, "edits", _("Edits"));
    gtk_stack_add_titled(GTK_STACK(self->stack), self->edges, "edges", _("Edges"));
    gtk_stack_add_titled(GTK_STACK(self->stack), self->parts, "path", _("Path"));
    gtk_widget_set_vexpand(self->stack, TRUE);
    gtk_box_append(GTK_BOX(self->box), make_bar(self));
    gtk_box_append(GTK_BOX(self->box), self->stack);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
    g_signal_connect_swapped(self->edits, "selected", G_CALLBACK(on_edit), self);
    g_signal_connect_swapped(self->edits, "activated", G_CALLBACK(take), self);
    g_signal_connect_swapped(self->edges, "activated", G_CALLBACK(on_step), self);
    g_signal_connect_swapped(self->edges, "selected", G_CALLBACK(on_step), self);
    g_signal_connect_swapped(self->parts, "activated", G_CALLBACK(on_step), self);
    g_signal_connect_swapped(self->parts, "selected", G_CALLBACK(on_step), self);
    g_signal_connect_swapped(self->take, "clicked", G_CALLBACK(take_chosen), self);
    g_signal_connect_swapped(self->look, "toggled", G_CALLBACK(look), self);
    g_signal_connect_swapped(self->path, "toggled", G_CALLBACK(show_path), self);
    g_signal_connect(self, "map", G_CALLBACK(want), NULL);
}

GtkWidget *ws_next_panel_new(WsDocument *document)
{
    WsNextPanel *self = g_object_new(WS_TYPE_NEXT_PANEL, NULL);
    self->document = g_object_ref(document);
    g_signal_connect_object(document, "changed", G_CALLBACK(want), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(document, "advised", G_CALLBACK(update), self, G_CONNECT_SWAPPED);
    update(self);
    return GTK_WIDGET(self);
}
