/* The program's own benchmark: medians of what an editor does after every movement. */
#include "cli/bench_check.h"
#include "base/median.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"
#ifdef WS_HAVE_CODEGEN
#include "codegen/generate.h"
#endif
#include "score/scene.h"

#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 31 };

typedef struct {
    const char *file, *text;
    gsize length;
    WsProgram *program;
    WsLaunchValues *values;
    WsMachine *machine;
    WsTrace *trace;
    cairo_t *cr;
    WsJsonOut *json; /* NULL: text */
    gboolean failed;
    WsVerdictKind verdict;
} Bench;

static void measure(Bench *b, const char *title, double goal, void (*work)(Bench *b))
{
    double ms[RUNS];
    work(b);
    for (guint i = 0; i < RUNS; i++) {
        gint64 start = g_get_monotonic_time();
        work(b);
        ms[i] = (double)(g_get_monotonic_time() - start) / 1000;
    }
    ws_sort_values(ms, RUNS);
    if (b->json) {
        ws_cli_bench_put(b->json, title, RUNS, ms[RUNS / 2], ms[RUNS * 99 / 100], goal);
        return;
    }
    printf("%-42s %8.2f ms  (min %.2f, max %.2f", title, ms[RUNS / 2], ms[0], ms[RUNS - 1]);
    if (goal > 0)
        printf("; goal %.0f ms: %s", goal, ms[RUNS / 2] <= goal ? "met" : "MISSED");
    printf(")\n");
}

static WsProgram *load(Bench *b)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(b->text, b->length, b->file, findings);
    return design ? ws_elaborate(design, NULL, 0, findings) : NULL;
}

static void work_load(Bench *b)
{
    g_autoptr(WsProgram) p = load(b);
    b->failed |= !p;
}

static void work_check(Bench *b)
{
    g_autoptr(WsProgram) p = load(b);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) verdict = ws_check(p, NULL, findings);
    b->verdict = verdict->kind;
}

static void work_clock(Bench *b)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsClockResult) r = ws_clock_run(b->program, b->values, b->machine, NULL, findings);
    b->failed |= !r;
    if (r && !b->trace)
        b->trace = ws_trace_ref(r->trace);
}

static void work_score(Bench *b)
{
    WsSceneOptions options = { .width = 1600, .height = 900 };
    g_autoptr(WsScene) scene = ws_scene_new(b->program, b->trace, NULL, &options);
    ws_scene_paint(scene, b->cr, WS_THEME_LIGHT);
}

#ifdef WS_HAVE_CODEGEN
static void work_ptx(Bench *b)
{
    g_autoptr(WsProgram) p = load(b);
    g_autofree char *ptx = p ? ws_generate_ptx(p, NULL, NULL) : NULL;
    b->failed |= !ptx;
}
#endif

static void run(Bench *b)
{
    measure(b, "load + elaborate", 0, work_load);
    measure(b, "load + elaborate + check", 5, work_check);
    measure(b, "clock (predicted trace)", 0, work_clock);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1600, 900);
    b->cr = cairo_create(surface);
    if (b->trace)
        measure(b, "scene + paint, 1600x900", 16, work_score);
    cairo_destroy(b->cr);
    cairo_surface_destroy(surface);
#ifdef WS_HAVE_CODEGEN
    measure(b, "design -> PTX", 60, work_ptx);
#else
    if (!b->json)
        printf("design -> PTX: skipped (built without LLVM 22)\n");
#endif
}

static WsJsonOut *file_json(WsJsonOut *j, const char *file, const char *set)
{
    ws_cli_json_begin(j);
    ws_json_out_text(j, "file", file);
    ws_json_out_text(j, "constants", set);
    ws_json_out_open(j, "measures", '[');
    return j;
}

int ws_command_bench(int argc, char **argv)
{
    Bench b = { 0 };
    WsJsonOut j;
    gboolean check = FALSE, json = FALSE;
    double goal = 0;
    g_auto(GStrv) set = NULL;
    const GOptionEntry entries[] = {
        { "check", 0, 0, G_OPTION_ARG_NONE, &check, "time the check alone", NULL },
        { "goal", 0, 0, G_OPTION_ARG_DOUBLE, &goal, "with --check: goal of the proof", "MS" },
        { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &set, "override a constant", "NAME=VALUE" },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        { NULL },
    };
    if (!ws_cli_options(&argc, &argv, "bench", entries, &b.file))
        return WS_EXIT_USAGE;
    g_auto(WsCliInput) in = { 0 };
    g_autofree char *what = set ? g_strjoinv(" ", set) : NULL; /* loading cuts the settings */
    int code = ws_cli_load(&in, b.file, set);
    if (code != WS_EXIT_YES)
        return code;
    g_autofree char *title = g_strdup_printf("%s%s%s", b.file, what ? " " : "", what ? what : "");
    if (check)
        return ws_cli_bench_check(in.program, title, goal,
                                  json ? file_json(&j, b.file, what) : NULL);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    g_autoptr(WsLaunchValues) values = ws_cli_launch(in.program, NULL, FALSE, &code);
    g_autoptr(WsMachine) machine = ws_machine_for(NULL, in.program->target, &error);
    if (!values || !machine || !g_file_get_contents(b.file, &text, &b.length, &error))
        return error ? ws_cli_fail(WS_EXIT_USAGE, "%s", error->message) : code;
    b.text = text;
    b.program = in.program;
    b.values = values;
    b.machine = machine;
    if (json)
        b.json = file_json(&j, b.file, what);
    else
        printf("%s, medians of %d runs after one warm-up\n", b.file, RUNS);
    run(&b);
    if (json)
        ws_cli_bench_end(&j);
    g_clear_pointer(&b.trace, ws_trace_unref);
    if (b.failed)
        return ws_cli_fail(WS_EXIT_DEFECT, "a part of the benchmark failed");
    return b.verdict == WS_VERDICT_PROVED ? WS_EXIT_YES
           : b.verdict == WS_VERDICT_REFUTED
               ? ws_cli_fail(WS_EXIT_NO, "%s is refuted: warpstave check says why", b.file)
               : ws_cli_fail(WS_EXIT_OUTSIDE, "%s is undecided: warpstave check says why", b.file);
}
