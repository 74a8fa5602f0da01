#include "advise/idle.h"
#include "base/file.h"
#include "base/json_out.h"
#include "cli/cli.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "score/scene.h"
#include "trace/header.h"
#include "trace/stats.h"
#include "trace/waves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CLAIMS_PRINTED = 12, CTAS_PRINTED = 4 };

static void print_claims(const WsTrace *t, guint cta)
{
    guint n;
    const WsTraceClaim *claim = ws_trace_claims(t, cta, &n);
    if (!n)
        return;
    printf("CTA %u claimed %u tiles:", g_array_index(t->cta, WsTraceCta, cta).id, n);
    for (guint i = 0; i < MIN(n, CLAIMS_PRINTED); i++)
        printf(" %d", claim[i].tile);
    printf(n > CLAIMS_PRINTED ? " …\n" : "\n");
}

static void put_claims(WsJsonOut *j, const WsTrace *t)
{
    ws_json_out_open(j, "claims", '[');
    for (guint c = 0; c < t->cta->len; c++) {
        guint n;
        const WsTraceClaim *claim = ws_trace_claims(t, c, &n);
        if (!n)
            continue;
        ws_json_out_open(j, NULL, '{');
        ws_json_out_integer(j, "cta", g_array_index(t->cta, WsTraceCta, c).id);
        ws_json_out_open(j, "tiles", '[');
        for (guint i = 0; i < n; i++)
            ws_json_out_integer(j, NULL, claim[i].tile);
        ws_json_out_close(j, ']');
        ws_json_out_close(j, '}');
    }
    ws_json_out_close(j, ']');
}

static void put_waves(WsJsonOut *j, const WsTrace *t)
{
    g_autoptr(WsWaves) w = ws_waves_new(t);
    if (!w) {
        ws_json_out_text(j, "waves", NULL);
        return;
    }
    ws_json_out_open(j, "waves", '{');
    ws_json_out_integer(j, "ctas", w->ctas);
    ws_json_out_integer(j, "grid", w->grid);
    ws_json_out_integer(j, "ns", w->end);
    ws_json_out_real(j, "ran", w->ran);
    ws_json_out_real(j, "tail", w->tail);
    ws_json_out_open(j, "tiles", '[');
    for (guint i = 0; i < w->place->len; i++) {
        const WsWavePlace *p = &g_array_index(w->place, WsWavePlace, i);
        ws_json_out_open(j, NULL, '{');
        ws_json_out_integer(j, "place", p->tile);
        ws_json_out_integer(j, "times", p->n);
        ws_json_out_integer(j, "p10", p->p10);
        ws_json_out_integer(j, "median", p->p50);
        ws_json_out_integer(j, "p90", p->p90);
        ws_json_out_close(j, '}');
    }
    ws_json_out_close(j, ']');
    ws_json_out_open(j, "sms", '[');
    for (guint i = 0; i < w->row->len; i++) {
        const WsWaveRow *r = &g_array_index(w->row, WsWaveRow, i);
        ws_json_out_open(j, NULL, '{');
        ws_json_out_integer(j, "sm", r->sm == G_MAXUINT32 ? -1 : (gint64)r->sm);
        ws_json_out_integer(j, "ctas", r->ctas);
        ws_json_out_integer(j, "tiles", r->n);
        ws_json_out_integer(j, "begin", r->begin);
        ws_json_out_integer(j, "end", r->end);
        ws_json_out_close(j, '}');
    }
    ws_json_out_close(j, ']');
    ws_json_out_close(j, '}');
}

static void print_facts(const WsTrace *t, const char *file)
{
    printf("%s: %s on %s, %u records of %u CTAs, %" G_GINT64_FORMAT " cycles\n", file,
           t->origin == WS_TRACE_MEASURED ? "measured" : "predicted",
           t->device ? t->device : "an unnamed device", t->record->len, t->cta->len, t->cycles);
    for (guint i = 0; i < t->size->len; i++)
        printf("%s%s = %" G_GINT64_FORMAT,
               i ? ", " : "sizes: ", g_array_index(t->size_name, char *, i),
               g_array_index(t->size, gint64, i));
    if (t->size->len)
        printf("\n");
    for (guint c = 0; c < MIN(t->cta->len, CTAS_PRINTED); c++)
        print_claims(t, c);
    g_autoptr(WsWaves) waves = ws_waves_new(t);
    g_autofree char *text =
        waves && waves->row->len >= WS_WAVES_LEAST ? ws_waves_text(waves) : g_strdup("");
    fputs(text, stdout);
    if (t->bound)
        printf("bound: %s\n", t->bound);
    if (!isnan(t->tensor_busy))
        printf("tensor pipe busy %.1f %%, TMA busy %.1f %%\n", 100 * t->tensor_busy,
               100 * t->tma_busy);
    if (!isnan(t->overhead))
        printf("recorder overhead: %+.2f %% of the time of the untraced build%s\n",
               100 * t->overhead, t->overhead > 0.1 ? " (above 10 %: not decision-grade)" : "");
    if (!isnan(t->round_cost) && t->every == 1)
        printf("its rounds of inner loops are %.1f %% longer than those of launches that take "
               "turns\n",
               100 * t->round_cost);
    if (t->overhead > 0.01 && t->every == 1)
        printf("(with --every 64 one round in 64 is recorded, which costs less)\n");
    if (t->note)
        printf("%s\n", t->note);
}

static void print_loops(const WsTrace *t)
{
    g_autoptr(WsTraceStats) stats = ws_trace_stats_new(t);
    for (guint i = 0; i < stats->loop->len; i++) {
        const WsTraceLoopStat *l = &g_array_index(stats->loop, WsTraceLoopStat, i);
        printf("loop %s of %s: period %" G_GINT64_FORMAT " cycles (p95 %" G_GINT64_FORMAT
               ", max %" G_GINT64_FORMAT ", %u rounds)\n",
               l->loop, (char *)g_ptr_array_index(t->agent_name, l->agent), l->period.p50,
               l->period.p95, l->period.max, l->n);
    }
}

/* The embedded design, elaborated again; NULL with what is wrong among the findings. */
static WsProgram *program_of(const WsTrace *t, WsFindings *findings)
{
    g_autoptr(WsDesign) design =
        ws_design_parse(t->design_text, strlen(t->design_text), "embedded design", findings);
    return design ? ws_elaborate(design, NULL, 0, findings) : NULL;
}

static gboolean rounds_unknown(const WsTrace *t)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) program = program_of(t, findings);
    return program && ws_trace_rounds_unknown(program, t);
}

/* Rates of units are those of the built-in machine description. */
static WsIdle *idle_of(const WsTrace *t, const WsProgram *p)
{
    g_autoptr(WsMachine) m = ws_machine_for(NULL, p->target, NULL);
    return ws_idle_new(p, t, m);
}

static void print_json(const WsTrace *t, const char *file)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) program = program_of(t, findings);
    g_autoptr(WsIdle) idle = program ? idle_of(t, program) : NULL;
    g_autoptr(WsTraceStats) stats = ws_trace_stats_new(t);
    const gboolean unknown = program && ws_trace_rounds_unknown(program, t);
    WsJsonOut j;
    ws_cli_json_begin(&j);
    ws_json_out_text(&j, "file", file);
    ws_json_out_text(&j, "origin", t->origin == WS_TRACE_MEASURED ? "measured" : "predicted");
    ws_json_out_text(&j, "device", t->device);
    ws_json_out_integer(&j, "records", t->record->len);
    ws_json_out_integer(&j, "ctas", t->cta->len);
    ws_json_out_integer(&j, "cycles", t->cycles);
    ws_json_out_open(&j, "sizes", '[');
    for (guint i = 0; i < t->size->len; i++) {
        ws_json_out_open(&j, NULL, '{');
        ws_json_out_text(&j, "name", g_array_index(t->size_name, char *, i));
        ws_json_out_integer(&j, "value", g_array_index(t->size, gint64, i));
        ws_json_out_close(&j, '}');
    }
    ws_json_out_close(&j, ']');
    put_claims(&j, t);
    ws_json_out_text(&j, "bound", t->bound);
    ws_json_out_real(&j, "tensor_busy", t->tensor_busy);
    ws_json_out_real(&j, "tma_busy", t->tma_busy);
    ws_json_out_real(&j, "overhead", t->overhead);
    ws_json_out_integer(&j, "every", t->every == WS_TRACE_NO_ROUNDS ? 0 : t->every);
    ws_json_out_integer(&j, "launches", ws_trace_launches(t));
    ws_json_out_real(&j, "round_cost", t->round_cost);
    ws_json_out_text(&j, "note", unknown ? ws_score_claims_text() : t->note);
    ws_json_out_open(&j, "loops", '[');
    for (guint i = 0; i < stats->loop->len && !unknown; i++) {
        const WsTraceLoopStat *l = &g_array_index(stats->loop, WsTraceLoopStat, i);
        ws_json_out_open(&j, NULL, '{');
        ws_json_out_text(&j, "agent", g_ptr_array_index(t->agent_name, l->agent));
        ws_json_out_text(&j, "loop", l->loop);
        ws_json_out_integer(&j, "rounds", l->n);
        ws_json_out_integer(&j, "median", l->period.p50);
        ws_json_out_integer(&j, "p95", l->period.p95);
        ws_json_out_integer(&j, "most", l->period.max);
        ws_json_out_close(&j, '}');
    }
    ws_json_out_close(&j, ']');
    put_waves(&j, t);
    ws_idle_json(&j, idle, program);
    ws_cli_json_end(&j);
}

static int print_program(const WsTrace *t, gboolean overlap, gboolean idle)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) program = program_of(t, findings);
    if (!program) {
        ws_cli_print_findings(findings, "embedded design");
        return WS_EXIT_USAGE;
    }
    g_autofree char *text = overlap ? ws_trace_overlap_print(t, program) : g_strdup("");
    fputs(text, stdout);
    if (idle) {
        g_autoptr(WsIdle) units = idle_of(t, program);
        g_autofree char *list = units ? ws_idle_text(units, program) : NULL;
        puts(list ? list : ws_score_between_text(program, t));
    }
    return WS_EXIT_YES;
}

/* FILE is a design here: what is to be stamped, not what was recorded. */
static int write_header(const char *file, const char *out)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    g_autoptr(WsProgram) program = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    if (!program) {
        ws_cli_print_findings(findings, file);
        return WS_EXIT_USAGE;
    }
    g_autofree char *text = ws_trace_header(program);
    g_autoptr(GError) error = NULL;
    if (strcmp(out, "-") == 0)
        fputs(text, stdout);
    else if (!ws_file_write(out, text, strlen(text), &error))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    return WS_EXIT_YES;
}

int ws_command_trace(int argc, char **argv)
{
    gboolean overlap = FALSE, idle = FALSE, json = FALSE;
    g_autofree char *chrome = NULL, *perfetto = NULL, *csv = NULL, *with = NULL, *header = NULL;
    const GOptionEntry entries[] = {
        { "overlap", 0, 0, G_OPTION_ARG_NONE, &overlap, "table of overlaps and exposed waits",
          NULL },
        { "idle", 0, 0, G_OPTION_ARG_NONE, &idle, "where the units of an SM are idle, and why",
          NULL },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "facts and loops, version 1 of the JSON form",
          NULL },
        { "compare", 0, 0, G_OPTION_ARG_FILENAME, &with, "a second trace, step by step", "FILE" },
        { "chrome", 0, 0, G_OPTION_ARG_FILENAME, &chrome, "write Chrome trace JSON", "OUT" },
        { "perfetto", 0, 0, G_OPTION_ARG_FILENAME, &perfetto, "write a Perfetto trace", "OUT" },
        { "csv", 0, 0, G_OPTION_ARG_FILENAME, &csv, "write CSV", "OUT" },
        { "header", 0, 0, G_OPTION_ARG_FILENAME, &header,
          "FILE is a design: write a C header that stamps a kernel of your own with its steps",
          "OUT.h" },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "trace", entries, &file))
        return WS_EXIT_USAGE;
    if (json && (overlap || with || header))
        return ws_cli_fail(WS_EXIT_USAGE,
                           "trace: --json has facts and loops; --overlap, --compare and --header "
                           "are texts");
    if (header)
        return write_header(file, header);
    g_autoptr(GError) error = NULL;
    g_autoptr(WsTrace) t = ws_trace_load(file, &error);
    if (!t)
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (chrome && !ws_trace_export_chrome(t, chrome, &error))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (perfetto && !ws_trace_export_perfetto(t, perfetto, &error))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (csv && !ws_trace_export_csv(t, csv, &error))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    ws_cli_say_aside(chrome);
    ws_cli_say_aside(perfetto);
    ws_cli_say_aside(csv);
    if (with)
        return ws_cli_print_comparison(t, with);
    if (json) {
        print_json(t, file);
        return WS_EXIT_YES;
    }
    print_facts(t, file);
    if (rounds_unknown(t)) {
        printf("%s\n", ws_score_claims_text());
        return WS_EXIT_YES;
    }
    if (t->every == WS_TRACE_NO_ROUNDS)
        printf("no round of inner loops was recorded\n");
    else if (t->launch->len)
        printf(WS_TRACE_MERGED "\n", t->launch->len, t->every);
    else if (t->every > 1)
        printf("one round of inner loops in %d was recorded\n", t->every);
    print_loops(t);
    return overlap || idle ? print_program(t, overlap, idle) : WS_EXIT_YES;
}
