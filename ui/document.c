#include "ui/document.h"

#include "program/walk.h"
#include "ui/stream.h"

#include <glib/gi18n.h>
#include <string.h>

struct _WsDocument {
    GObject parent;
    GFile *file;
    WsDesign *design;
    WsProgram *program;
    WsFindings *findings;
    WsVerdict *verdict;
    WsClockResult *clock;
    WsLaunchValues *launch;
    WsTrace *predicted, *measured;
    WsTraceStats *stats[2];
    GPtrArray *selection; /* char*, owned; the last one is primary */
    WsFocus focus;        /* focus.step points into `selection` */
    gint64 from, to;
    char *code[WS_CODE_COUNT];
    char *result[WS_RESULT_COUNT];
    gboolean result_good[WS_RESULT_COUNT];
};

enum { CHANGED, SELECTION, RANGE, CODE, RESULTS, REVEAL, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(WsDocument, ws_document, G_TYPE_OBJECT)

const char *ws_code_kind_text(WsCodeKind kind)
{
    static const char *const text[] = { "program", "ptx", "llvm", "design" };
    return text[kind];
}

/* --- lifetime --------------------------------------------------------------------------------- */

static void clear_code(WsDocument *d)
{
    for (guint i = 0; i < WS_CODE_COUNT; i++)
        g_clear_pointer(&d->code[i], g_free);
    for (guint i = 0; i < WS_RESULT_COUNT; i++)
        g_clear_pointer(&d->result[i], g_free);
}

static void clear_traces(WsDocument *d)
{
    g_clear_pointer(&d->stats[0], ws_trace_stats_free);
    g_clear_pointer(&d->stats[1], ws_trace_stats_free);
    g_clear_pointer(&d->predicted, ws_trace_unref);
    g_clear_pointer(&d->measured, ws_trace_unref);
    g_clear_pointer(&d->clock, ws_clock_result_free);
    g_clear_pointer(&d->launch, ws_launch_values_free);
}

static void clear_design(WsDocument *d)
{
    clear_code(d);
    clear_traces(d);
    g_clear_pointer(&d->verdict, ws_verdict_free);
    g_clear_pointer(&d->findings, ws_findings_free);
    g_clear_pointer(&d->program, ws_program_unref);
    g_clear_pointer(&d->design, ws_design_unref);
    g_ptr_array_set_size(d->selection, 0);
    d->focus = (WsFocus){ .agent = G_MAXUINT, .tile = -1, .round = -1 };
    d->from = d->to = 0;
}

static void finalize(GObject *object)
{
    WsDocument *d = WS_DOCUMENT(object);
    clear_design(d);
    g_ptr_array_unref(d->selection);
    g_clear_object(&d->file);
    G_OBJECT_CLASS(ws_document_parent_class)->finalize(object);
}

static void ws_document_class_init(WsDocumentClass *class)
{
    static const char *const names[] = { "changed",      "selection-changed", "range-changed",
                                         "code-changed", "results-changed",   "reveal" };
    G_OBJECT_CLASS(class)->finalize = finalize;
    for (guint i = 0; i < N_SIGNALS; i++)
        signals[i] = i == CODE ? g_signal_new(names[i], WS_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0,
                                              NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT)
                               : g_signal_new(names[i], WS_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0,
                                              NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void ws_document_init(WsDocument *d)
{
    d->selection = g_ptr_array_new_with_free_func(g_free);
    d->focus = (WsFocus){ .agent = G_MAXUINT, .tile = -1, .round = -1 };
}

WsDocument *ws_document_new(void)
{
    return g_object_new(WS_TYPE_DOCUMENT, NULL);
}

/* --- opening ------------------------------------------------------------------------------------
 */

/* Predicts for the sizes of the measured trace if there is one, else for the design's own. */
static void predict(WsDocument *d)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) sizes = g_array_new(FALSE, FALSE, sizeof(WsSize));
    g_autoptr(WsMachine) machine = ws_machine_load(NULL, &error);
    for (guint i = 0; d->measured && i < d->measured->size->len; i++) {
        WsSize size = { .name = g_array_index(d->measured->size_name, char *, i),
                        .value = g_array_index(d->measured->size, gint64, i) };
        g_array_append_val(sizes, size);
    }
    g_clear_pointer(&d->stats[0], ws_trace_stats_free);
    g_clear_pointer(&d->predicted, ws_trace_unref);
    g_clear_pointer(&d->clock, ws_clock_result_free);
    g_clear_pointer(&d->launch, ws_launch_values_free);
    d->launch = ws_launch_values(d->program, (const WsSize *)(gpointer)sizes->data, sizes->len,
                                 FALSE, d->findings);
    if (!d->launch || !machine || ws_launch_tiles(d->launch) == 0)
        return;
    d->clock = ws_clock_run(d->program, d->launch, machine, NULL, d->findings);
    if (d->clock && d->clock->trace)
        d->predicted = ws_trace_ref(d->clock->trace);
}

static void judge(WsDocument *d)
{
    d->program = ws_elaborate(d->design, NULL, 0, d->findings);
    if (!d->program)
        return;
    if (ws_findings_exit_code(d->findings, FALSE) == 0) {
        d->verdict = ws_check(d->program, NULL, d->findings);
        ws_check_locate(d->design, d->findings);
    }
    predict(d);
    d->code[WS_CODE_PROGRAM] = ws_program_print(d->program);
}

/* Takes design and findings. */
static void take_design(WsDocument *d, WsDesign *design, WsFindings *findings, GFile *file)
{
    clear_design(d);
    g_set_object(&d->file, file);
    d->design = design;
    d->findings = findings;
    d->code[WS_CODE_DESIGN] = ws_design_print(design);
    judge(d);
}

static gboolean open_design(WsDocument *d, GFile *file, const char *path, GError **error)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_load(path, findings);
    if (!design) {
        g_autofree char *text = ws_findings_print(findings, path);
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s", g_strchomp(text));
        return FALSE;
    }
    take_design(d, design, g_steal_pointer(&findings), file);
    return TRUE;
}

static gboolean open_traced_design(WsDocument *d, GFile *file, const char *path, GError **error)
{
    g_autoptr(WsTrace) trace = ws_trace_load(path, error);
    if (!trace)
        return FALSE;
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design =
        ws_design_parse(trace->design_text, strlen(trace->design_text), path, findings);
    if (!design) {
        g_autofree char *text = ws_findings_print(findings, path);
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    _("%s: the design inside this trace cannot be read:\n%s"), path, text);
        return FALSE;
    }
    take_design(d, design, g_steal_pointer(&findings), file);
    if (d->program && trace->origin == WS_TRACE_MEASURED) {
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
        g_signal_emit(d, signals[CHANGED], 0);
    return ok;
}

void ws_document_take_measured(WsDocument *d, WsTrace *trace)
{
    g_clear_pointer(&d->stats[1], ws_trace_stats_free);
    g_clear_pointer(&d->measured, ws_trace_unref);
    d->measured = trace;
    if (d->program)
        predict(d);
    g_signal_emit(d, signals[CHANGED], 0);
}

gboolean ws_document_open_trace(WsDocument *d, GFile *file, GError **error)
{
    g_autofree char *path = g_file_get_path(file);
    g_autoptr(WsTrace) trace = path ? ws_trace_load(path, error) : NULL;
    if (!trace)
        return FALSE;
    if (!d->program || g_strcmp0(trace->design_hash, d->program->design_hash)) {
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
    const char *name = d->design ? ws_node_text(ws_design_root(d->design), WS_F_name) : NULL;
    return g_strdup(name ? name : _("No design"));
}

WsDesign *ws_document_design(WsDocument *d)
{
    return d->design;
}

WsProgram *ws_document_program(WsDocument *d)
{
    return d->program;
}

WsFindings *ws_document_findings(WsDocument *d)
{
    return d->findings;
}

WsVerdict *ws_document_verdict(WsDocument *d)
{
    return d->verdict;
}

WsClockResult *ws_document_clock(WsDocument *d)
{
    return d->clock;
}

WsLaunchValues *ws_document_launch(WsDocument *d)
{
    return d->launch;
}

WsTrace *ws_document_predicted(WsDocument *d)
{
    return d->predicted;
}

WsTrace *ws_document_measured(WsDocument *d)
{
    return d->measured;
}

WsTraceStats *ws_document_stats(WsDocument *d, gboolean measured)
{
    WsTrace *trace = measured ? d->measured : d->predicted;
    WsTraceStats **stats = &d->stats[measured ? 1 : 0];
    if (!*stats && trace)
        *stats = ws_trace_stats_new(trace);
    return *stats;
}

gboolean ws_document_stats_ready(WsDocument *d, gboolean measured)
{
    return d->stats[measured ? 1 : 0] || !(measured ? d->measured : d->predicted);
}

void ws_document_take_stats(WsDocument *d, gboolean measured, const WsTrace *of,
                            WsTraceStats *stats)
{
    WsTraceStats **slot = &d->stats[measured ? 1 : 0];
    if (of != (measured ? d->measured : d->predicted) || *slot)
        ws_trace_stats_free(stats);
    else
        *slot = stats;
}

/* --- selection -----------------------------------------------------------------------------------
 */

const WsFocus *ws_document_focus(WsDocument *d)
{
    return &d->focus;
}

static gboolean find_selected(WsDocument *d, const char *step, guint *at)
{
    return step && g_ptr_array_find_with_equal_func(d->selection, step, g_str_equal, at);
}

gboolean ws_document_selected(WsDocument *d, const char *step)
{
    return find_selected(d, step, NULL);
}

GPtrArray *ws_document_selection(WsDocument *d)
{
    return d->selection;
}

static void focus_last(WsDocument *d, const WsFocus *focus)
{
    d->focus = focus ? *focus : (WsFocus){ .agent = G_MAXUINT, .tile = -1, .round = -1 };
    d->focus.step =
        d->selection->len ? g_ptr_array_index(d->selection, d->selection->len - 1) : NULL;
}

void ws_document_select(WsDocument *d, const WsFocus *focus, WsSelectMode mode, gboolean reveal)
{
    const char *step = focus ? focus->step : NULL;
    g_autofree char *id = g_strdup(step); /* may lie in the selection that is about to go */
    WsFocus kept = focus ? *focus : d->focus;
    guint at;
    if (!id || mode == WS_SELECT_REPLACE)
        g_ptr_array_set_size(d->selection, 0);
    if (id && find_selected(d, id, &at)) {
        g_ptr_array_remove_index(d->selection, at);
        if (mode != WS_SELECT_TOGGLE)
            g_ptr_array_add(d->selection, g_strdup(id));
    } else if (id) {
        g_ptr_array_add(d->selection, g_strdup(id));
    }
    focus_last(d, id ? &kept : NULL);
    g_signal_emit(d, signals[SELECTION], 0);
    if (reveal && id)
        g_signal_emit(d, signals[REVEAL], 0);
}

void ws_document_select_stream(WsDocument *d, gboolean downstream)
{
    if (!d->program || !d->selection->len)
        return;
    g_autoptr(GPtrArray) found = ws_stream_of(d->program, d->selection, downstream);
    for (guint i = 0; i < found->len; i++) /* the focus, last of all, stays */
        g_ptr_array_insert(d->selection, 0, g_strdup(g_ptr_array_index(found, i)));
    if (found->len)
        g_signal_emit(d, signals[SELECTION], 0);
}

void ws_document_select_all(WsDocument *d)
{
    const WsProgram *p = d->program;
    for (guint i = 0; p && i < p->n_ops; i++)
        if (p->op[i]->agent >= 0 && p->op[i]->step && !find_selected(d, p->op[i]->step, NULL))
            g_ptr_array_insert(d->selection, 0, g_strdup(p->op[i]->step));
    focus_last(d, &d->focus);
    g_signal_emit(d, signals[SELECTION], 0);
}

/* --- range
 * ---------------------------------------------------------------------------------------- */

void ws_document_set_range(WsDocument *d, gint64 from, gint64 to)
{
    d->from = from;
    d->to = to;
    g_signal_emit(d, signals[RANGE], 0);
}

gboolean ws_document_range(WsDocument *d, gint64 *from, gint64 *to)
{
    *from = d->from;
    *to = d->to;
    return d->to > d->from;
}

/* --- texts and results
 * ------------------------------------------------------------------------------ */

const char *ws_document_code(WsDocument *d, WsCodeKind kind)
{
    return d->code[kind];
}

void ws_document_take_code(WsDocument *d, WsCodeKind kind, char *text)
{
    g_free(d->code[kind]);
    d->code[kind] = text;
    g_signal_emit(d, signals[CODE], 0, (guint)kind);
}

static gboolean is_step(WsDocument *d, const char *id)
{
    for (guint i = 0; d->program && i < d->program->n_ops; i++)
        if (!g_strcmp0(d->program->op[i]->step, id))
            return TRUE;
    return FALSE;
}

/* The step id that a line names: behind the last "; " (program) or "// " (PTX, and PTX inside of
 * LLVM IR), without "#…"; NULL if the line names none. Caller frees. */
static char *line_step(WsDocument *d, const char *line, gsize length)
{
    static const char *const marks[] = { "; ", "// " };
    g_autofree char *text = g_strndup(line, length);
    for (guint i = 0; i < G_N_ELEMENTS(marks); i++) {
        char *at = g_strrstr(text, marks[i]);
        if (!at)
            continue;
        at += strlen(marks[i]);
        g_autofree char *id = g_strndup(at, strcspn(at, "# \t\"\\"));
        if (is_step(d, id))
            return g_steal_pointer(&id);
    }
    return NULL;
}

GArray *ws_document_code_lines(WsDocument *d, WsCodeKind kind, const char *step)
{
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(guint));
    const char *at = d->code[kind];
    for (guint line = 0; at && *at; line++) {
        const char *end = strchrnul(at, '\n');
        g_autofree char *id = line_step(d, at, (gsize)(end - at));
        if (id && !g_strcmp0(id, step))
            g_array_append_val(lines, line);
        at = *end ? end + 1 : end;
    }
    return lines;
}

char *ws_document_code_step(WsDocument *d, WsCodeKind kind, guint wanted)
{
    char *found = NULL;
    const char *at = d->code[kind];
    for (guint line = 0; at && *at && line <= wanted; line++) {
        const char *end = strchrnul(at, '\n');
        char *id = line_step(d, at, (gsize)(end - at));
        if (id) {
            g_free(found);
            found = id;
        }
        at = *end ? end + 1 : end;
    }
    return found;
}

void ws_document_take_result(WsDocument *d, WsResultKind kind, gboolean good, char *text)
{
    g_free(d->result[kind]);
    d->result[kind] = text;
    d->result_good[kind] = good;
    g_signal_emit(d, signals[RESULTS], 0);
}

const char *ws_document_result(WsDocument *d, WsResultKind kind, gboolean *good)
{
    if (good)
        *good = d->result_good[kind];
    return d->result[kind];
}
