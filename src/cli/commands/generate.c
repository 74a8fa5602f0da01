#include "codegen/generate.h"
#include "base/json_out.h"
#include "cli/cli.h"
#include "cli/shown.h"
#include "codegen/python/python.h"
#include "program/elaborate.h"
#ifdef WS_HAVE_CODEGEN
#include "codegen/amdgpu/amdgpu.h"
#include "codegen/nvptx/ptxas/ptxas_steps.h"
#include "program/program.h"
#include "target/target.h"
#endif

#include <stdio.h>
#include <string.h>

/* Where a kernel goes: a file, the standard output, or a member of the JSON form. */
typedef struct {
    const char *file, *as, *out;
    gboolean json, remarks, pinned;
    int version; /* of a code object */
} Sink;

static int put_json(const Sink *to, const char *data, gssize length)
{
    const gboolean kept = to->out != NULL && strcmp(to->out, "-") != 0;
    if (kept && !ws_cli_write(to->out, data, length))
        return WS_EXIT_USAGE;
    WsJsonOut j;
    ws_cli_json_begin(&j);
    ws_json_out_text(&j, "file", to->file);
    ws_json_out_text(&j, "as", to->as);
    ws_json_out_text(&j, "output", kept ? to->out : NULL);
    ws_json_out_integer(&j, "bytes", length < 0 ? (gint64)strlen(data) : length);
    ws_json_out_text(&j, "text", kept ? NULL : data);
    ws_cli_json_end(&j);
    return WS_EXIT_YES;
}

static int put(const Sink *to, const char *data, gssize length)
{
    if (to->json)
        return put_json(to, data, length);
    return ws_cli_write(to->out, data, length) ? WS_EXIT_YES : WS_EXIT_USAGE;
}

static int generate_error(const GError *error)
{
    static const int codes[] = {
        [WS_GENERATE_ERROR_STEP] = WS_EXIT_OUTSIDE,
        [WS_GENERATE_ERROR_INTERNAL] = WS_EXIT_DEFECT,
        [WS_GENERATE_ERROR_ABSENT] = WS_EXIT_ABSENT,
        [WS_GENERATE_ERROR_PTXAS] = WS_EXIT_NO,
    };
    int code = error->domain == WS_GENERATE_ERROR ? codes[error->code] : WS_EXIT_DEFECT;
    return ws_cli_fail_with(code, error);
}

/* Languages of other people: no LLVM. NULL: not one of them. */
static WsPyGenerate *export_of(const char *as)
{
    static const struct {
        const char *as;
        WsPyGenerate *export;
    } known[] = {
#define WS_PY_DIALECT(name) { #name, ws_generate_##name },
#include "codegen/python/dialect.def"
#undef WS_PY_DIALECT
    };
    for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
        if (!strcmp(known[i].as, as))
            return known[i].export;
    }
    return NULL;
}

#ifdef WS_HAVE_CODEGEN
static int write_cubin(const WsProgram *p, const Sink *to)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) cubin = NULL;
    g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
    if (!ptx)
        return generate_error(error);
    WsPtxasReport *report = ws_ptxas_run(ptx, &cubin, &error);
    if (!report)
        return generate_error(error);
    gboolean clean = ws_ptxas_report_clean(report);
    if (!clean) {
        g_autoptr(GPtrArray) notes = ws_ptxas_notes(p, ptx, report);
        g_autofree char *text = ws_ptxas_notes_print(notes);
        ws_cli_fail(WS_EXIT_NO, "ptxas reported a problem:\n%s%s", text, report->log);
    }
    ws_ptxas_report_free(report);
    gsize size;
    const char *data = g_bytes_get_data(cubin, &size);
    if (put(to, data, (gssize)size) != WS_EXIT_YES)
        return WS_EXIT_USAGE;
    return clean ? WS_EXIT_YES : WS_EXIT_NO;
}
#endif

#ifdef WS_HAVE_CODEGEN
static int write_code_object(const WsProgram *p, const Sink *to)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) object = ws_generate_amd_object(p, (guint)to->version, &error);
    if (!object)
        return generate_error(error);
    gsize size;
    const char *data = g_bytes_get_data(object, &size);
    if (put(to, data, (gssize)size) != WS_EXIT_YES)
        return WS_EXIT_USAGE;
    if (ws_generate_amd_clean(object))
        return WS_EXIT_YES;
    return ws_cli_fail(WS_EXIT_NO, "the code object spills registers (--as report)");
}
#endif

#ifdef WS_HAVE_CODEGEN
static int write_amd_report(const WsProgram *p, const Sink *to)
{
    g_autoptr(GError) error = NULL;
    gboolean clean = FALSE;
    g_autofree char *text = ws_generate_amd_report(p, &clean, &error);
    if (!text)
        return generate_error(error);
    return put(to, text, -1) != WS_EXIT_YES ? WS_EXIT_USAGE : clean ? WS_EXIT_YES : WS_EXIT_NO;
}

/* Registers as estimated, and what ptxas makes of the kernel, laid at the steps of the design. */
static int write_report(const WsProgram *p, const Sink *to)
{
    if (p->hardware->halves)
        return write_amd_report(p, to);
    g_autoptr(GError) error = NULL;
    g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
    g_autofree char *estimate = ws_register_report(p);
    if (!ptx)
        return generate_error(error);
    GString *s = g_string_new(estimate);
    WsPtxasReport *report = ws_ptxas_available() ? ws_ptxas_run(ptx, NULL, &error) : NULL;
    gboolean clean = !report || ws_ptxas_report_clean(report);
    if (report) {
        g_autoptr(GPtrArray) notes = ws_ptxas_notes(p, ptx, report);
        g_autofree char *text = ws_ptxas_notes_print(notes);
        g_string_append_printf(s, "ptxas: %u registers, %u bytes of stack, %u barriers%s\n%s",
                               report->registers, report->stack, report->barriers,
                               clean ? ", no warnings" : "", text);
    } else {
        g_string_append_printf(s, "ptxas: %s\n", error ? error->message : "not installed");
    }
    ws_ptxas_report_free(report);
    gboolean written = put(to, s->str, -1) == WS_EXIT_YES;
    g_string_free(s, TRUE);
    return !written || error ? WS_EXIT_USAGE : clean ? WS_EXIT_YES : WS_EXIT_NO;
}
#endif

typedef struct {
    WsCliShown *shown;
    guint n; /* designs so far */
} Tried;

static gboolean tried(const WsProgram *p, gpointer data)
{
    Tried *t = data;
    ws_cli_progress("proving and rehearsing: %u designs with other constants so far", t->n++);
    const gboolean right = ws_cli_shown(p, t->shown);
    ws_cli_progress(NULL);
    return right;
}

static int write_kernel(const WsProgram *p, const Sink *to)
{
    const char *as = to->as;
    WsPyGenerate *export = export_of(as);
    if (export) {
        g_autoptr(GError) refused = NULL;
        g_autoptr(WsCliShown) shown = ws_cli_shown_new();
        Tried all = { shown, 0 };
        const WsPyJudge judge = { tried, &all, ws_cli_proved, to->pinned };
        g_autofree char *python = export(p, to->remarks, &judge, &refused);
        if (!python)
            return generate_error(refused);
        return put(to, python, -1);
    }
#ifdef WS_HAVE_CODEGEN
    g_autoptr(GError) error = NULL;
    if (!strcmp(as, "cubin"))
        return write_cubin(p, to);
    if (!strcmp(as, "report"))
        return write_report(p, to);
    if (!strcmp(as, "hsaco"))
        return write_code_object(p, to);
    g_autofree char *text = !strcmp(as, "ptx")      ? ws_generate_ptx(p, NULL, &error)
                            : !strcmp(as, "cuda")   ? ws_generate_cuda(p, to->remarks, &error)
                            : !strcmp(as, "amdgpu") ? ws_generate_amd_assembly(p, &error)
                                                    : ws_generate_llvm(p, NULL, &error);
    if (!text)
        return generate_error(error);
    return put(to, text, -1);
#else
    return ws_cli_fail(WS_EXIT_ABSENT,
                       "--as %s needs code generation: build with LLVM 22 "
                       "(apt-get install llvm-22-dev)",
                       as);
#endif
}

/* What --as takes. */
static const char forms[] = "program|ptx|llvm|cubin|cuda|report|amdgpu|hsaco"
#define WS_PY_DIALECT(name) "|" #name
#include "codegen/python/dialect.def"
#undef WS_PY_DIALECT
    ;

static const char remarks_of[] = "cuda"
#define WS_PY_DIALECT(name) ", " #name
#include "codegen/python/dialect.def"
#undef WS_PY_DIALECT
                                 ": the place of every step in the design";

int ws_command_generate(int argc, char **argv)
{
    g_autofree char *as = NULL, *out = NULL;
    g_auto(GStrv) set = NULL;
    gboolean force = FALSE, json = FALSE, remarks = FALSE, pinned = FALSE;
    int version = 5;
    const GOptionEntry entries[] = {
        { "as", 0, 0, G_OPTION_ARG_STRING, &as, "form of the output", forms },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &out, "file instead of standard output",
          "FILE" },
        { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &set, "override a constant", "NAME=VALUE" },
        { "force", 0, 0, G_OPTION_ARG_NONE, &force, "generate a refuted design too", NULL },
        { "remarks", 0, 0, G_OPTION_ARG_NONE, &remarks, remarks_of, NULL },
        { "pinned", 0, 0, G_OPTION_ARG_NONE, &pinned,
          "languages of Python: tries no other constants (every value is proved and rehearsed), "
          "all are fixed",
          NULL },
        { "code-object", 0, 0, G_OPTION_ARG_INT, &version,
          "hsaco: version of the code object, 4, 5 (default) or 6", "N" },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json,
          "version 1 of the JSON form, with the text unless it goes to a file", NULL },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "generate", entries, &file))
        return WS_EXIT_USAGE;
    if (!as)
        return ws_cli_fail(WS_EXIT_USAGE, "generate: say --as %s", forms);
    g_auto(GStrv) known = g_strsplit(forms, "|", -1);
    if (!g_strv_contains((const char *const *)known, as))
        return ws_cli_fail(WS_EXIT_USAGE, "generate: no form '%s'; known: %s", as, forms);
    if (version < 4 || version > 6)
        return ws_cli_fail(WS_EXIT_USAGE, "generate: --code-object takes 4, 5 or 6");
    if (json && (!strcmp(as, "cubin") || !strcmp(as, "hsaco")) && !out)
        return ws_cli_fail(WS_EXIT_USAGE, "generate: --json holds no binary, say -o FILE");
    const Sink to = { file, as, out, json, remarks, pinned, version };
    g_auto(WsCliInput) in = { 0 };
    int code = ws_cli_load(&in, file, set);
    if (code != WS_EXIT_YES)
        return code;
    if (!strcmp(as, "program")) {
        g_autofree char *text = ws_program_print(in.program);
        return put(&to, text, -1);
    }
    code = ws_cli_refuse_refuted(&in, file, force);
    return code == WS_EXIT_YES ? write_kernel(in.program, &to) : code;
}
