#include "cli/serve/answer.h"

#include "advise/idle.h"
#include "advise/next.h"
#include "base/file.h"
#include "cli/check_report.h"
#include "cli/serve/request.h"
#include "judge/judge.h"
#include "mend/fix.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/launchable.h"
#include "program/walk/walk.h"

#include <stdarg.h>
#include <string.h>

typedef struct {
    WsRequest request;
    WsCliInput in; /* its findings: those of reading, elaboration and the operation */
    char *result;  /* JSON text, or NULL */
    char *message; /* why there is no result, or NULL: the first error says */
} Work;

static void clear_work(Work *w)
{
    ws_request_clear(&w->request);
    ws_cli_input_clear(&w->in);
    g_free(w->result);
    g_free(w->message);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Work, clear_work)

static int fail(Work *w, int code, const char *format, ...) G_GNUC_PRINTF(3, 4);
static int fail(Work *w, int code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    g_free(w->message);
    w->message = g_strdup_vprintf(format, list);
    va_end(list);
    return code;
}

static const WsSetting *constants(const Work *w)
{
    return (const WsSetting *)(gconstpointer)w->request.set->data;
}

/* --- what several operations begin with ------------------------------------------------------- */

static int load(Work *w)
{
    const WsRequest *r = &w->request;
    w->in.findings = ws_findings_new();
    w->in.design = r->text ? ws_design_parse(r->text, r->length, r->file, w->in.findings)
                           : ws_design_load(r->file, w->in.findings);
    if (w->in.design)
        w->in.program = ws_elaborate(w->in.design, constants(w), r->set->len, w->in.findings);
    const int code = ws_findings_exit_code(w->in.findings, FALSE);
    return code == WS_EXIT_YES && !w->in.program ? WS_EXIT_DEFECT : code;
}

static WsLaunchValues *launch(Work *w)
{
    G_STATIC_ASSERT(sizeof(WsSize) == sizeof(WsSetting));
    const WsProgram *p = w->in.program;
    g_autoptr(WsLaunchValues) v =
        ws_launch_values(p, (const WsSize *)(gconstpointer)w->request.size->data,
                         w->request.size->len, FALSE, w->in.findings);
    if (v)
        ws_launchable(p, v, ws_launch_grid(v, ws_launch_most(p)), w->in.findings);
    return ws_findings_count(w->in.findings, WS_SEVERITY_ERROR) ? NULL : g_steal_pointer(&v);
}

/* A program that can be launched, and the machine that it is timed on. */
static int ready(Work *w, WsLaunchValues **v, WsMachine **m)
{
    g_autoptr(GError) error = NULL;
    const int code = load(w);
    if (code != WS_EXIT_YES)
        return code;
    *v = launch(w);
    if (!*v)
        return WS_EXIT_USAGE;
    *m = ws_machine_for(ws_request_text(&w->request, "machine"), w->in.program->target, &error);
    return *m ? WS_EXIT_YES : fail(w, WS_EXIT_USAGE, "%s", error->message);
}

/* --- operations ------------------------------------------------------------------------------- */

static int check(Work *w)
{
    g_autoptr(WsVerdict) verdict = NULL;
    int code = load(w);
    if (code == WS_EXIT_YES) {
        verdict = ws_check(w->in.program, NULL, w->in.findings);
        ws_cli_check_design(w->in.program, w->in.findings);
        ws_check_locate(w->in.design, w->in.findings);
        code = ws_findings_exit_code(w->in.findings, FALSE);
        if (code == WS_EXIT_YES)
            code = verdict->kind == WS_VERDICT_REFUTED   ? WS_EXIT_NO
                   : verdict->kind == WS_VERDICT_OUTSIDE ? WS_EXIT_OUTSIDE
                                                         : code;
    }
    w->result =
        ws_cli_check_json_text(w->request.file, &w->in, w->request.set, verdict, code, FALSE);
    return code;
}

static int simulate(Work *w)
{
    g_autoptr(WsLaunchValues) v = NULL;
    g_autoptr(WsMachine) m = NULL;
    int code = ready(w, &v, &m);
    if (code != WS_EXIT_YES)
        return code;
    if (ws_launch_tiles(v) == 0)
        return fail(w, WS_EXIT_NO, "nothing to launch: no tiles for these sizes");
    const WsClockOptions options = { .gains = FALSE };
    g_autoptr(WsClockResult) result = ws_clock_run(w->in.program, v, m, &options, w->in.findings);
    code = ws_findings_exit_code(w->in.findings, FALSE);
    if (!result || code != WS_EXIT_YES)
        return code == WS_EXIT_YES ? WS_EXIT_OUTSIDE : code;
    g_autoptr(WsIdle) idle = ws_idle_new(w->in.program, result->trace, m);
    w->result = ws_cli_clock_json(result, w->in.program, idle);
    return WS_EXIT_YES;
}

static int advise(Work *w)
{
    enum { MOST = 64 };
    g_autoptr(WsLaunchValues) v = NULL;
    g_autoptr(WsMachine) m = NULL;
    int code = ready(w, &v, &m);
    if (code != WS_EXIT_YES)
        return code;
    const gint64 edits = ws_request_integer(&w->request, "edits", 8);
    if (edits < 0 || edits > MOST)
        return fail(w, WS_EXIT_USAGE, "\"edits\" must be 0 to %d", MOST);
    const WsNextOptions options = { .max_edits = (guint)edits, .no_edits = edits == 0 };
    g_autoptr(WsNext) n = ws_next_new(w->in.design, constants(w), w->request.set->len,
                                      w->in.program, v, m, NULL, &options, w->in.findings);
    code = ws_findings_exit_code(w->in.findings, FALSE);
    if (!n || code != WS_EXIT_YES)
        return code == WS_EXIT_YES ? WS_EXIT_OUTSIDE : code;
    w->result = ws_next_json(n, w->in.program);
    return WS_EXIT_YES;
}

static gboolean error_or_warning(const WsFinding *f, gpointer unused)
{
    return f->severity >= WS_SEVERITY_WARNING;
}

/* Nothing is written: the fixed design is the answer. */
static int fix(Work *w)
{
    const int code = load(w);
    if (!w->in.design)
        return code;
    const WsCheckOptions options = { .verdict_only = TRUE };
    const WsFixAsk ask = { .wanted = error_or_warning,
                           .set = constants(w),
                           .n_set = w->request.set->len,
                           .options = &options };
    g_autoptr(GPtrArray) steps = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) offers = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(WsFixState) before = ws_fix_state_new(w->in.design, ask.set, ask.n_set, ask.options);
    g_autoptr(WsFixState) after = ws_fix_repair(before, &ask, steps, offers);
    const WsFixState *now = after ? after : before;
    g_autofree char *text = after ? ws_design_print(after->design) : NULL;
    WsJsonOut j;
    ws_json_out_init(&j);
    ws_json_out_open(&j, NULL, '{');
    ws_json_out_truth(&j, "fixed", after != NULL);
    ws_json_out_text(&j, "verdict", now->verdict ? ws_verdict_word(now->verdict->kind) : NULL);
    ws_json_out_integer(&j, "errors", now->errors);
    ws_json_out_integer(&j, "warnings", now->warnings);
    ws_json_out_texts(&j, "steps", steps);
    ws_json_out_texts(&j, "offers", offers);
    ws_json_out_text(&j, "design", text);
    ws_json_out_close(&j, '}');
    w->result = ws_json_out_end(&j);
    return now->errors == 0 && now->verdict && now->verdict->kind == WS_VERDICT_PROVED ? WS_EXIT_YES
                                                                                       : WS_EXIT_NO;
}

static void put_import(Work *w, const WsJudged *k, WsImportFrom from)
{
    const WsImport *import = k->import;
    g_autofree char *design = ws_design_print(import->design);
    g_autofree char *says = ws_verdict_text(k->verdict);
    WsJsonOut j;
    ws_json_out_init(&j);
    ws_json_out_open(&j, NULL, '{');
    ws_json_out_text(&j, "from", ws_import_from_text(from));
    ws_json_out_text(&j, "kernel", import->kernel);
    ws_json_out_text(&j, "given", import->given);
    ws_json_out_texts(&j, "granted", import->granted);
    ws_json_out_open(&j, "unread", '[');
    for (guint i = 0; i < import->unread->len; i++) {
        const WsUnread *u = import->unread->pdata[i];
        ws_json_out_open_row(&j, NULL, '{');
        ws_json_out_integer(&j, "line", u->line);
        ws_json_out_integer(&j, "column", u->column);
        ws_json_out_text(&j, "what", u->what);
        ws_json_out_truth(&j, "harmless", u->harmless);
        ws_json_out_close(&j, '}');
    }
    ws_json_out_close(&j, ']');
    ws_json_out_text(&j, "verdict", ws_verdict_word(k->verdict->kind));
    ws_json_out_text(&j, "says", says);
    ws_json_out_text(&j, "design", design);
    ws_json_out_close(&j, '}');
    w->result = ws_json_out_end(&j);
}

static int import(Work *w)
{
    const WsRequest *r = &w->request;
    const char *named = ws_request_text(r, "from"), *file = r->file ? r->file : "kernel";
    g_autoptr(GError) error = NULL;
    g_autofree char *read = NULL;
    gsize length = r->length;
    if (!r->text && !ws_file_read_some(r->file, WS_IMPORT_MAX_BYTES + 1, &read, &length, &error))
        return fail(w, WS_EXIT_USAGE, "%s", error->message);
    const char *text = r->text ? r->text : read;
    const WsImportFrom from = named ? ws_import_from(named) : ws_import_guess(file, text);
    if (from == WS_IMPORT_FROM_COUNT)
        return fail(w, WS_EXIT_USAGE, "say the language: \"from\" (%s)", ws_import_names);
    g_auto(GStrv) define = ws_request_texts(r, "define");
    WsImportOptions how = { .kernel = ws_request_text(r, "kernel"), .define = define };
    const WsCheckOptions options = { .verdict_only = TRUE };
    g_autofree char *folder = r->file ? g_path_get_dirname(r->file) : NULL;
    how.folder = folder;
    g_auto(WsJudged) judged = { 0 };
    if (!ws_judge_text(text, length, file, from, &how, &options, &judged, &error))
        return fail(w, WS_EXIT_USAGE, "%s", error->message);
    put_import(w, &judged, from);
    return ws_cli_verdict_code(judged.verdict, judged.findings, FALSE, NULL);
}

static int hello(Work *w)
{
    w->result = g_strdup("{ \"warpstave\": \"" WARPSTAVE_VERSION "\" }");
    return WS_EXIT_YES;
}

static const struct {
    const char *name;
    int (*run)(Work *w);
    gboolean reads; /* a design or a kernel */
} operations[] = {
    { "check", check, TRUE }, { "simulate", simulate, TRUE }, { "advise", advise, TRUE },
    { "fix", fix, TRUE },     { "import", import, TRUE },     { "hello", hello, FALSE },
};

static int run(Work *w)
{
    WsRequest *r = &w->request;
    const guint n = G_N_ELEMENTS(operations);
    guint at = 0;
    while (at < n && strcmp(operations[at].name, r->what) != 0)
        at++;
    if (r->json && *r->what && at == n)
        return fail(w, WS_EXIT_USAGE,
                    "\"do\" is \"%s\": check, simulate, advise, fix, import or hello", r->what);
    if (r->problem)
        return fail(w, WS_EXIT_USAGE, "%s", r->problem);
    if (operations[at].reads && !r->text && !r->file)
        return fail(w, WS_EXIT_USAGE, "say which: \"file\", or \"%s\"",
                    strcmp(r->what, "import") == 0 ? "text" : "design");
    return operations[at].run(w);
}

/* --- the line --------------------------------------------------------------------------------- */

/* What the writer breaks into lines, on one: strings hold no line ends of their own. */
static void append_flat(GString *line, const char *json)
{
    for (const char *s = json; *s; s++) {
        g_string_append_c(line, *s == '\n' ? ' ' : *s);
        if (*s == '\n')
            s += strspn(s + 1, " ");
    }
}

static void put_error(WsJsonOut *j, const Work *w)
{
    const GPtrArray *list = w->in.findings ? w->in.findings->list : NULL;
    static const char *const severities[] = { "hint", "warning", "error" };
    const char *message = w->message;
    for (guint i = 0; list && i < list->len && !message; i++) {
        const WsFinding *f = list->pdata[i];
        message = f->severity == WS_SEVERITY_ERROR ? f->message : NULL;
    }
    ws_json_out_open(j, "error", '{');
    ws_json_out_text(j, "message", message ? message : "it cannot be answered");
    ws_json_out_open(j, "findings", '[');
    for (guint i = 0; list && i < list->len; i++) {
        const WsFinding *f = list->pdata[i];
        g_autofree char *remedy = ws_finding_remedy(f, NULL, NULL);
        ws_json_out_open(j, NULL, '{');
        ws_json_out_text(j, "rule", ws_rule(f->rule)->text);
        ws_json_out_text(j, "severity", severities[f->severity]);
        ws_json_out_text(j, "at", f->at);
        ws_json_out_integer(j, "line", f->line);
        ws_json_out_integer(j, "column", f->column);
        ws_json_out_text(j, "message", f->message);
        ws_json_out_text(j, "remedy", remedy);
        ws_json_out_close(j, '}');
    }
    ws_json_out_close(j, ']');
    ws_json_out_close(j, '}');
}

char *ws_serve_answer(const char *line, gsize length)
{
    g_auto(Work) w = { 0 };
    ws_request_read(&w.request, line, length);
    const int code = run(&w);
    GString *out = g_string_new("{ \"id\": ");
    g_string_append_printf(out, "%s, \"exit\": %d, ", w.request.id, code);
    if (w.result) {
        g_string_append(out, "\"result\": ");
        append_flat(out, g_strchomp(w.result));
    } else {
        WsJsonOut j;
        ws_json_out_init(&j);
        put_error(&j, &w);
        g_autofree char *error = ws_json_out_end(&j);
        append_flat(out, g_strchomp(error));
    }
    g_string_append(out, " }");
    return g_string_free(out, FALSE);
}
