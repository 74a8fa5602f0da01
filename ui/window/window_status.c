#include "check/verdict.h"
#include "model/findings.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "ui/document/document_fixes.h"
#include "ui/document/document_names.h"
#include "ui/document/document_source.h"
#include "ui/parts/format.h"
#include "ui/parts/words.h"
#include "ui/timeline/scrubber.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>
#include <math.h>

/* Clock in GHz of the trace that is on screen, 0 unknown. */
static double clock_of(WsDocument *d)
{
    WsTrace *measured = ws_document_measured(d);
    if (measured && measured->cta->len)
        return g_array_index(measured->cta, WsTraceCta, 0).ghz;
    return ws_document_clock(d) ? ws_document_clock(d)->ghz : 0;
}

/* Cycles that the selected execution takes; of any execution if none is chosen. FALSE: unknown. */
static gboolean selection_extent(WsDocument *d, gint64 *cycles)
{
    WsTrace *t = ws_document_predicted(d) ? ws_document_predicted(d) : ws_document_measured(d);
    const WsFocus *focus = ws_document_focus(d);
    gint64 total = 0;
    for (guint i = 0; t && focus->step && i < t->record->len && i < 200000; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        const char *id = r->op < t->op_id->len ? g_ptr_array_index(t->op_id, r->op) : NULL;
        if (g_strcmp0(id, focus->step) || (focus->agent != G_MAXUINT && r->agent != focus->agent) ||
            (focus->tile >= 0 && r->tile != focus->tile) ||
            (focus->round >= 0 && r->round != focus->round))
            continue;
        total = ws_trace_record_end(r) - r->start;
        break;
    }
    *cycles = total;
    return total > 0;
}

static void show_selection(WsWindow *w)
{
    WsDocument *d = w->document;
    guint n = ws_document_selection(d)->len;
    gint64 from, to, cycles;
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree char *name =
        n == 1 ? ws_name_of_step(ws_document_program(d), ws_document_focus(d)->step) : NULL;
    if (name)
        g_string_append(text, name);
    else if (n > 1)
        g_string_append_printf(text, g_dngettext(NULL, "%u step", "%u steps", n), n);
    if (n && selection_extent(d, &cycles)) {
        g_autofree char *extent = ws_format_cycles_at(cycles, clock_of(d));
        g_string_append_printf(text, " · %s", extent);
    }
    if (ws_document_range(d, &from, &to)) {
        g_autofree char *range = ws_format_cycles_at(to - from, clock_of(d));
        g_string_append(text, text->len ? " · " : "");
        g_string_append_printf(text, _("range %s"), range);
    }
    gtk_label_set_text(w->status_selection, text->len ? text->str : _("Nothing selected"));
}

/* "proved under 1 assumption, 2 places not understood". Caller frees. */
static char *verdict_words(WsDocument *d, const WsVerdict *v)
{
    g_autofree char *words = ws_words_verdict_given(v);
    g_autofree char *places = v->kind == WS_VERDICT_PROVED ? ws_document_unread_words(d) : NULL;
    return places ? g_strdup_printf("%s, %s", words, places) : g_steal_pointer(&words);
}

static void mark(GtkWidget *widget, const char *name, gboolean on)
{
    if (on)
        gtk_widget_add_css_class(widget, name);
    else
        gtk_widget_remove_css_class(widget, name);
}

static void show_verdict(WsWindow *w)
{
    WsDocument *d = w->document;
    WsFindings *findings = ws_document_findings(d);
    WsVerdict *verdict = ws_document_verdict(d);
    guint errors = findings ? ws_findings_count(findings, WS_SEVERITY_ERROR) : 0;
    guint all = findings ? ws_findings_count(findings, WS_SEVERITY_WARNING) : 0;
    g_autofree char *tip = verdict ? ws_document_verdict_said(d) : NULL;
    const gboolean empty = verdict && !errors && ws_nothing_happens(ws_document_program(d));
    g_autofree char *word = empty     ? g_strdup(_("empty"))
                            : verdict ? verdict_words(d, verdict)
                                      : NULL;
    g_autofree char *count =
        all ? g_strdup_printf(g_dngettext(NULL, "%u problem", "%u problems", all), all)
            : g_strdup(_("No problems"));
    g_autofree char *text = NULL;
    gtk_widget_set_tooltip_text(GTK_WIDGET(w->status_verdict), tip);
    /* over what it holds stands in the tip: the help says so */
    if (ws_document_pending(d)) /* what is known is of an earlier state */
        text = g_strdup(_("checking…"));
    else if (ws_document_left_out(d))
        text = g_strdup_printf(g_dngettext(NULL, "draft without %u step · %s",
                                           "draft without %u steps · %s", ws_document_left_out(d)),
                               ws_document_left_out(d), count);
    else
        text = word ? g_strdup_printf("%s · %s", word, count) : g_strdup(count);
    /* Translators: %s is a verdict, of what a drag would give. */
    g_autofree char *whole = w->dragging ? g_strdup_printf(_("let go here: %s"), text) : NULL;
    gtk_label_set_text(w->status_verdict, whole ? whole : text);
    const gboolean proved = !errors && !empty && verdict && verdict->kind == WS_VERDICT_PROVED &&
                            !ws_document_pending(d) && !ws_document_left_out(d);
    g_autofree char *unread = ws_document_unread_words(d);
    const gboolean good = proved && !unread;
    mark(GTK_WIDGET(w->status_verdict), "bad", errors > 0);
    mark(GTK_WIDGET(w->status_verdict_button), "bad", errors > 0);
    mark(GTK_WIDGET(w->status_verdict_button), "good", good);
    mark(GTK_WIDGET(w->status_verdict_button), "partly", proved && !good);
}

/* What mends the worst problem stands beside the verdict. */
static void show_fix(WsDocument *d, WsWindow *w)
{
    const WsFinding *finding = NULL;
    const WsFix *fix =
        ws_document_pending(d) || w->dragging ? NULL : ws_document_first_fix(d, &finding);
    gtk_widget_set_visible(w->status_fix, fix != NULL);
    if (!fix)
        return;
    g_autofree char *title = ws_words(fix->said);
    const char *told = ws_document_fix_told(fix);
    /* Translators: %s is a quick-fix: "Wait for full before the mma" */
    g_autofree char *label = g_strdup_printf(_("Fix: %s"), title);
    g_autofree char *problem = ws_words_message(finding);
    g_autofree char *tip = g_strdup_printf("%s\n%s\n%s", problem, label, told);
    gtk_label_set_text(w->status_fix_label, label);
    gtk_widget_set_tooltip_text(w->status_fix, tip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(w->status_fix), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   label, -1);
}

static void on_fix(WsWindow *w)
{
    const WsFinding *finding;
    const WsFix *fix = ws_document_first_fix(w->document, &finding);
    g_autoptr(GError) error = NULL;
    if (fix && !ws_document_fix(w->document, fix, &error) && error)
        ws_window_say(w, GTK_MESSAGE_WARNING, error->message, NULL);
}

static void show_device(WsWindow *w)
{
    WsDocument *d = w->document;
    WsTrace *trace = ws_document_measured(d) ? ws_document_measured(d) : ws_document_predicted(d);
    double ghz = clock_of(d);
    g_autofree char *text = NULL;
    if (trace && trace->device && ghz > 0)
        text = g_strdup_printf(_("%s · %.2f GHz · %s"), trace->device, ghz,
                               trace->origin == WS_TRACE_MEASURED ? _("measured") : _("predicted"));
    else if (trace && trace->device)
        text = g_strdup_printf(_("%s · clock not known"), trace->device);
    gtk_label_set_text(w->status_device, text ? text : "");
    gtk_widget_set_tooltip_text(GTK_WIDGET(w->status_device),
                                text ? _("GPU and SM clock of the times shown") : NULL);
}

static void show_zoom(GObject *timeline, GParamSpec *spec, WsWindow *w)
{
    double zoom = 1;
    g_object_get(timeline, "zoom", &zoom, NULL);
    g_autofree char *text = g_strdup_printf(_("%.0f %%"), 100 * zoom);
    gtk_label_set_text(w->status_zoom, text);
}

static void show_all(WsDocument *d, WsWindow *w)
{
    show_verdict(w);
    show_selection(w);
    show_device(w);
    show_fix(d, w);
}

void ws_window_set_dragging(WsWindow *w, gboolean dragging)
{
    if (w->dragging == dragging)
        return;
    w->dragging = dragging;
    gtk_label_set_text(w->of_before, dragging ? _("below: before the drag") : "");
    show_verdict(w);
    show_fix(w->document, w);
}

static void selection_changed(WsDocument *d, WsWindow *w)
{
    show_selection(w);
}

void ws_window_follow_status(WsWindow *w)
{
    GtkWidget *timeline = w->part[WS_PART_TIMELINE];
    g_signal_connect_object(w->document, "changed", G_CALLBACK(show_all), w, 0);
    g_signal_connect_object(w->document, "edited", G_CALLBACK(show_all), w, 0);
    g_signal_connect_object(w->document, "previewed", G_CALLBACK(show_all), w, 0);
    g_signal_connect_object(w->document, "fixes", G_CALLBACK(show_fix), w, 0);
    g_signal_connect_swapped(w->status_fix, "clicked", G_CALLBACK(on_fix), w);
    g_signal_connect_object(w->document, "selection-changed", G_CALLBACK(selection_changed), w, 0);
    g_signal_connect_object(w->document, "range-changed", G_CALLBACK(selection_changed), w, 0);
    g_signal_connect_object(timeline, "notify::zoom", G_CALLBACK(show_zoom), w, 0);
    w->of_before = GTK_LABEL(gtk_label_new(NULL));
    gtk_widget_add_css_class(GTK_WIDGET(w->of_before), "ws-before");
    gtk_notebook_set_action_widget(w->panels, GTK_WIDGET(w->of_before), GTK_PACK_END);
    GtkWidget *place = ws_scrubber_new(WS_TIMELINE(timeline));
    gtk_box_insert_child_after(GTK_BOX(w->status_box), place,
                               gtk_widget_get_prev_sibling(GTK_WIDGET(w->status_device)));
    gtk_widget_set_tooltip_text(GTK_WIDGET(w->status_zoom), _("Zoom of the score"));
    ws_window_follow_traces(w);
    show_all(w->document, w);
    show_zoom(G_OBJECT(timeline), NULL, w);
}
