#include "model/findings.h"
#include "program/program.h"
#include "ui/document/document_private.h"
#include "ui/parts/words.h"

#include "program/walk/walk.h"
#include "ui/document/document_machine.h"

#include <glib/gi18n.h>
#include <string.h>

static guint signals[WS_SIGNAL_COUNT];

G_DEFINE_FINAL_TYPE(WsDocument, ws_document, G_TYPE_OBJECT)

/* --- lifetime --------------------------------------------------------------------------------- */

void ws_document_clear_stats(WsDocument *d)
{
    g_clear_pointer(&d->stats[0], ws_trace_stats_free);
    g_clear_pointer(&d->stats[1], ws_trace_stats_free);
}

static void clear_design(WsDocument *d)
{
    ws_document_clear_code(d);
    ws_document_take_source(d, NULL);
    ws_document_clear_stats(d);
    ws_document_clear_selection(d);
    ws_document_forget_kin(d);
    if (d->worker)
        ws_worker_forget(d->worker);
    g_clear_pointer(&d->journal, ws_journal_free);
    g_clear_pointer(&d->measured, ws_trace_unref);
    g_clear_pointer(&d->before, ws_answers_unref);
    g_clear_pointer(&d->tried, ws_design_unref);
    g_clear_pointer(&d->answers, ws_answers_unref);
    g_clear_pointer(&d->saved_text, g_free);
    g_array_set_size(d->touched, 0);
    d->from = d->to = 0;
}

static void finalize(GObject *object)
{
    WsDocument *d = WS_DOCUMENT(object);
    clear_design(d);
    g_clear_pointer(&d->worker, ws_worker_free);
    ws_history_free(d->history);
    g_ptr_array_unref(d->selection);
    g_array_unref(d->touched);
    g_clear_object(&d->file);
    G_OBJECT_CLASS(ws_document_parent_class)->finalize(object);
}

static void ws_document_class_init(WsDocumentClass *class)
{
    static const struct {
        const char *name;
        GType argument;
    } made[] = {
        [WS_SIGNAL_CHANGED] = { "changed", G_TYPE_NONE },
        [WS_SIGNAL_SELECTION] = { "selection-changed", G_TYPE_NONE },
        [WS_SIGNAL_RANGE] = { "range-changed", G_TYPE_NONE },
        [WS_SIGNAL_CODE] = { "code-changed", G_TYPE_UINT },
        [WS_SIGNAL_RESULTS] = { "results-changed", G_TYPE_NONE },
        [WS_SIGNAL_REVEAL] = { "reveal", G_TYPE_NONE },
        [WS_SIGNAL_PREVIEWED] = { "previewed", G_TYPE_NONE },
        [WS_SIGNAL_EDITED] = { "edited", G_TYPE_NONE },
        [WS_SIGNAL_COMPARED] = { "compared", G_TYPE_NONE },
        [WS_SIGNAL_HUNG] = { "hung", G_TYPE_NONE },
        [WS_SIGNAL_ADVISED] = { "advised", G_TYPE_NONE },
        [WS_SIGNAL_IDLE] = { "idle", G_TYPE_NONE },
        [WS_SIGNAL_FIXES] = { "fixes", G_TYPE_NONE },
        [WS_SIGNAL_SEARCHED] = { "searched", G_TYPE_NONE },
        [WS_SIGNAL_TROUBLE] = { "trouble", G_TYPE_STRING },
    };
    G_OBJECT_CLASS(class)->finalize = finalize;
    for (guint i = 0; i < WS_SIGNAL_COUNT; i++)
        signals[i] = made[i].argument == G_TYPE_NONE
                         ? g_signal_new(made[i].name, WS_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0, NULL,
                                        NULL, NULL, G_TYPE_NONE, 0)
                         : g_signal_new(made[i].name, WS_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0, NULL,
                                        NULL, NULL, G_TYPE_NONE, 1, made[i].argument);
}

static void ws_document_init(WsDocument *d)
{
    d->selection = g_ptr_array_new_with_free_func(g_free);
    d->touched = g_array_new(FALSE, FALSE, sizeof(guint64));
    d->history = ws_history_new(WS_HISTORY_BYTES);
    d->focus = (WsFocus){ .agent = G_MAXUINT, .tile = -1, .round = -1 };
}

WsDocument *ws_document_new(void)
{
    return g_object_new(WS_TYPE_DOCUMENT, NULL);
}

void ws_document_emit(WsDocument *d, WsDocumentSignal which)
{
    g_signal_emit(d, signals[which], 0);
}

void ws_document_emit_code(WsDocument *d, WsCodeKind kind)
{
    g_signal_emit(d, signals[WS_SIGNAL_CODE], 0, (guint)kind);
}

void ws_document_emit_trouble(WsDocument *d, const char *text)
{
    g_signal_emit(d, signals[WS_SIGNAL_TROUBLE], 0, text);
}

void ws_document_announce(WsDocument *d)
{
    ws_document_emit(d, WS_SIGNAL_CHANGED);
    ws_document_emit(d, WS_SIGNAL_EDITED);
}

/* --- opening ------------------------------------------------------------------------------------
 */

GArray *ws_document_sizes(WsDocument *d)
{
    WsTrace *trace = ws_document_measured(d);
    if (!trace)
        return NULL;
    GArray *sizes = g_array_new(FALSE, FALSE, sizeof(WsSize));
    for (guint i = 0; i < trace->size->len; i++) {
        WsSize size = { .name = g_intern_string(g_array_index(trace->size_name, char *, i)),
                        .value = g_array_index(trace->size, gint64, i) };
        g_array_append_val(sizes, size);
    }
    return sizes;
}

/* Predicts for the sizes of the measured trace if there is one, else for the design's own. */
static void predict(WsDocument *d)
{
    g_autoptr(GArray) sizes = ws_document_sizes(d);
    g_clear_pointer(&d->stats[0], ws_trace_stats_free);
    ws_answers_predict(d->answers, sizes, ws_document_machine(d), ws_document_measured(d));
}

void ws_document_install(WsDocument *d, WsAnswers *answers, GFile *file, gboolean dirty)
{
    clear_design(d);
    g_set_object(&d->file, file);
    d->answers = answers;
    d->code[WS_CODE_PROGRAM] = g_strdup(answers->program_text);
    d->code[WS_CODE_DESIGN] = ws_design_print(answers->design);
    d->journal = ws_journal_new(answers->design, file);
    ws_history_reset(d->history, answers->design, dirty);
    if (file)
        g_file_load_contents(file, NULL, &d->saved_text, NULL, NULL, NULL);
}

/* Takes the findings. */
static void take_design(WsDocument *d, const WsDesign *design, WsFindings *findings, GFile *file,
                        gboolean dirty)
{
    WsSource *source = ws_source_beside(design, file);
    const WsAnswerAsk what = WS_ASK_TEXTS | WS_ASK_CHECK | (source ? WS_ASK_SOURCE : 0);
    ws_document_install(
        d, ws_answers_make(design, NULL, ws_document_machine_for(d, design), what, findings), file,
        dirty);
    ws_document_take_source(d, source);
}

void ws_document_take_design(WsDocument *d, const WsDesign *design, GFile *file, gboolean dirty)
{
    take_design(d, design, NULL, file, dirty);
    ws_document_announce(d);
}

static gboolean open_design(WsDocument *d, GFile *file, const char *path, GError **error)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(path, findings);
    if (!design) {
        g_autofree char *text = ws_words_findings(findings, path);
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s", text);
        return FALSE;
    }
    take_design(d, design, g_steal_pointer(&findings), file, FALSE);
    return TRUE;
}

static gboolean open_traced_design(WsDocument *d, GFile *file, const char *path, GError **error)
{
    g_autoptr(WsTrace) trace = ws_trace_load(path, error);
    if (!trace)
        return FALSE;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design =
        ws_design_parse(trace->design_text, strlen(trace->design_text), path, findings);
    if (!design) {
        g_autofree char *text = ws_words_findings(findings, path);
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    _("%s: the design inside this trace cannot be read:\n%s"), path, text);
        return FALSE;
    }
    take_design(d, design, g_steal_pointer(&findings), file, FALSE);
    if (ws_document_program(d) && trace->origin == WS_TRACE_MEASURED) {
        d->measured = g_steal_pointer(&trace);
        predict(d);
    }
    return TRUE;
}

static gboolean is_trace(const char *path)
{
    return g_str_has_suffix(path, ".wtrace");
}

gboolean ws_document_open(WsDocument *d, GFile *file, GError **error)
{
    g_autofree char *path = g_file_get_path(file);
    if (!path) {
        g_autofree char *uri = g_file_get_uri(file);
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                    _("%s is not a local file. Copy it to this machine and open the copy."), uri);
        return FALSE;
    }
    gboolean ok = is_trace(path) ? open_traced_design(d, file, path, error)
                                 : open_design(d, file, path, error);
    if (ok)
        ws_document_announce(d);
    return ok;
}

void ws_document_take_measured(WsDocument *d, WsTrace *trace)
{
    g_clear_pointer(&d->stats[1], ws_trace_stats_free);
    g_clear_pointer(&d->measured, ws_trace_unref);
    d->measured = trace;
    ws_document_predict(d);
}

void ws_document_predict(WsDocument *d)
{
    if (ws_document_program(d))
        predict(d);
    ws_document_emit(d, WS_SIGNAL_CHANGED);
}

gboolean ws_document_open_trace(WsDocument *d, GFile *file, GError **error)
{
    g_autofree char *path = g_file_get_path(file);
    g_autoptr(WsTrace) trace = path ? ws_trace_load(path, error) : NULL;
    if (!trace)
        return FALSE;
    if (!ws_document_program(d) ||
        g_strcmp0(trace->design_hash, ws_document_program(d)->design_hash)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    _("%s was recorded from another design. Open it on its own to see it with the "
                      "design it holds."),
                    path);
        return FALSE;
    }
    ws_document_take_measured(d, g_steal_pointer(&trace));
    return TRUE;
}

/* --- what there is ------------------------------------------------------------------------------
 */

GFile *ws_document_file(WsDocument *d)
{
    return d->file;
}

char *ws_document_title(WsDocument *d)
{
    WsDesign *design = ws_document_design(d);
    const char *name = design ? ws_node_text(ws_design_root(design), WS_F_name) : NULL;
    return g_strdup(name ? name : _("No design"));
}

/* What the worker has answered; NULL before it has. */
#define ANSWERED(Type, what)                                                                       \
    Type *ws_document_##what(WsDocument *d)                                                        \
    {                                                                                              \
        return d->answers ? d->answers->what : NULL;                                               \
    }
ANSWERED(WsDesign, design)
ANSWERED(WsProgram, program)
ANSWERED(WsFindings, findings)
ANSWERED(WsVerdict, verdict)
ANSWERED(WsClockResult, clock)
ANSWERED(WsLaunchValues, launch)
ANSWERED(WsTrace, predicted)
#undef ANSWERED

WsTrace *ws_document_measured(WsDocument *d)
{
    const WsProgram *p = ws_document_program(d);
    return d->measured && p && !g_strcmp0(d->measured->design_hash, p->design_hash) ? d->measured
                                                                                    : NULL;
}

guint ws_document_left_out(WsDocument *d)
{
    return d->answers ? d->answers->left_out : 0;
}

WsTraceStats *ws_document_stats(WsDocument *d, gboolean measured)
{
    WsTrace *trace = measured ? ws_document_measured(d) : ws_document_predicted(d);
    WsTraceStats **stats = &d->stats[measured ? 1 : 0];
    if (!*stats && trace)
        *stats = ws_trace_stats_new(trace);
    return *stats;
}

gboolean ws_document_stats_ready(WsDocument *d, gboolean measured)
{
    return d->stats[measured ? 1 : 0] ||
           !(measured ? ws_document_measured(d) : ws_document_predicted(d));
}

void ws_document_take_stats(WsDocument *d, gboolean measured, const WsTrace *of,
                            WsTraceStats *stats)
{
    WsTraceStats **slot = &d->stats[measured ? 1 : 0];
    if (of != (measured ? ws_document_measured(d) : ws_document_predicted(d)) || *slot)
        ws_trace_stats_free(stats);
    else
        *slot = stats;
}
