#include "check/title.h"
#include "cli/check_report.h"
#include "cli/import_report.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

/* import FILE --from LANGUAGE -o DESIGN */

/* What `check` says of the design that is written, which holds less than the reading it comes from:
 * what an unread line may reach is not in it. */
typedef struct {
    WsCliInput in;
    WsVerdict *verdict; /* NULL: it does not elaborate */
    int code;
} Written;

static void written_clear(Written *w)
{
    g_clear_pointer(&w->verdict, ws_verdict_free);
    ws_cli_input_clear(&w->in);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Written, written_clear)

static void check_written(Written *w, const char *text, const char *name)
{
    const WsCheckOptions options = { .verdict_only = TRUE };
    w->in.findings = ws_findings_new();
    w->in.design = ws_design_parse(text, strlen(text), name, w->in.findings);
    w->in.program = w->in.design ? ws_elaborate(w->in.design, NULL, 0, w->in.findings) : NULL;
    const gboolean sound = w->in.program && !ws_findings_count(w->in.findings, WS_SEVERITY_ERROR);
    w->verdict = sound ? ws_cli_check_program(&w->in, &options) : NULL;
    w->code = w->verdict ? ws_cli_verdict_code(w->verdict, w->in.findings, FALSE, NULL)
                         : ws_findings_exit_code(w->in.findings, FALSE);
    if (!sound && w->code == WS_EXIT_YES)
        w->code = WS_EXIT_DEFECT;
}

/* Where the design alone is judged another way, that is no verdict on the kernel. */
static void print_verdicts(const WsJudged *k, int code, const Written *w, const char *name)
{
    g_autofree char *kernel = ws_verdict_text(k->verdict);
    g_autofree char *alone = w->verdict ? ws_verdict_text(w->verdict) : NULL;
    if (code == WS_EXIT_NO)
        ws_cli_fail_findings(code, k->findings, k->import->file);
    g_printerr("%s: %s\n", k->import->file, kernel);
    if (w->verdict && w->verdict->kind == k->verdict->kind && w->code == code)
        return;
    if (code == WS_EXIT_YES)
        ws_cli_fail_findings(w->code, w->in.findings, name);
    g_printerr("%s: the design by itself: %s\n", name,
               alone ? alone : "refused: the rules of designs refuse what was read");
}

static const char *title_of(const WsVerdict *verdict)
{
    return verdict ? ws_verdict_title(verdict->kind) : "refused";
}

static void put_json(const char *file, const char *out, const WsJudged *k, const char *text,
                     const Written *written)
{
    const WsImport *import = k->import;
    WsJsonOut j;
    ws_cli_json_begin(&j);
    ws_json_out_text(&j, "file", file);
    ws_json_out_text(&j, "kernel", import->kernel);
    ws_json_out_text(&j, "given", import->given);
    ws_json_out_texts(&j, "assumed", import->granted);
    ws_json_out_open(&j, "unread", '[');
    for (guint i = 0; i < import->unread->len; i++) {
        const WsUnread *u = g_ptr_array_index(import->unread, i);
        ws_json_out_open(&j, NULL, '{');
        ws_json_out_integer(&j, "line", u->line);
        ws_json_out_integer(&j, "column", u->column);
        ws_json_out_text(&j, "what", u->what);
        ws_json_out_text(&j, "source", u->source);
        ws_json_out_truth(&j, "value_only", u->harmless);
        ws_json_out_close(&j, '}');
    }
    ws_json_out_close(&j, ']');
    ws_json_out_text(&j, "verdict", title_of(k->verdict));
    ws_json_out_text(&j, "design_alone", title_of(written->verdict));
    ws_json_out_text(&j, "output", out);
    ws_json_out_text(&j, "text", out ? NULL : text);
    ws_cli_json_end(&j);
}

/* What the verdict on the design is said with. */
static void print_granted(const WsImport *import, const char *file)
{
    for (guint i = 0; import->granted && i < import->granted->len; i++)
        g_printerr("%s: taken for granted: %s\n", file, (const char *)import->granted->pdata[i]);
}

int ws_command_import(int argc, char **argv)
{
    g_autofree char *from = NULL, *out = NULL, *kernel = NULL;
    g_auto(GStrv) define = NULL, modules = NULL;
    gboolean json = FALSE;
    const GOptionEntry entries[] = {
        { "from", 0, 0, G_OPTION_ARG_STRING, &from,
          "language of the file (default: by its suffix and its imports)", ws_import_names },
        { "kernel", 0, 0, G_OPTION_ARG_STRING, &kernel, "which kernel of the file", "NAME" },
        { "define", 0, 0, G_OPTION_ARG_STRING_ARRAY, &define,
          "what a parameter or a constant of the file is", "NAME=VALUE" },
        { "modules", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &modules,
          "where else to look for files that the file imports from", "FOLDER" },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &out, "the design (default: standard output)",
          "FILE" },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "import", entries, &file))
        return WS_EXIT_USAGE;
    int code;
    const WsImportOptions options = { .kernel = kernel, .define = define, .modules = modules };
    const WsCheckOptions check = { .verdict_only = TRUE };
    g_auto(WsJudged) judged = { 0 };
    if (!ws_cli_judge_kernel(file, from, &options, &check, &judged, &code))
        return code;
    const WsImport *import = judged.import;
    if (!json) {
        ws_cli_print_unread(import);
        print_granted(import, file);
    }
    g_autofree char *text = ws_design_print(import->design);
    const char *kept = g_strcmp0(out, "-") == 0 ? NULL : out;
    const char *name = kept ? kept : "design";
    g_auto(Written) written = { 0 };
    check_written(&written, text, name);
    if ((kept || !json) && !ws_cli_write(out, text, -1))
        return WS_EXIT_USAGE;
    ws_check_locate(judged.design, judged.findings);
    ws_import_locate(judged.design, judged.findings);
    code = ws_cli_verdict_code(judged.verdict, judged.findings, FALSE, NULL);
    if (json)
        put_json(file, kept, &judged, text, &written);
    else
        print_verdicts(&judged, code, &written, name);
    return code == WS_EXIT_YES ? written.code : code; /* who reads a proof gets a proved design */
}
