#include "advise/idle.h"
#include "advise/steady.h"
#include "base/json_out.h"
#include "cli/sweep.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static WsClockResult *play(const WsProgram *p, const WsLaunchValues *v, const WsMachine *m,
                           const WsClockOptions *options, int *code)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsClockResult) result = ws_clock_run(p, v, m, options, findings);
    ws_cli_print_findings(findings, p->file);
    *code = ws_findings_exit_code(findings, FALSE);
    if (!result || *code != WS_EXIT_YES) {
        if (*code == WS_EXIT_YES)
            *code = WS_EXIT_OUTSIDE;
        return NULL;
    }
    return g_steal_pointer(&result);
}

WsClockResult *ws_cli_clock(const WsProgram *p, const WsLaunchValues *v, const char *machine,
                            gboolean gains, int *code)
{
    const WsClockOptions options = { .gains = gains };
    g_autoptr(GError) error = NULL;
    g_autoptr(WsMachine) m = ws_machine_for(machine, p->target, &error);
    if (m)
        return play(p, v, m, &options, code);
    *code = ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    return NULL;
}

char *ws_cli_clock_json(const WsClockResult *r, const WsProgram *p, const WsIdle *idle)
{
    WsJsonOut j;
    const struct {
        const char *name;
        double value;
    } shares[] = { { "tensor_busy", r->tensor_busy }, { "tma_busy", r->tma_busy },
                   { "smem_busy", r->smem_busy },     { "alu_busy", r->alu_busy },
                   { "mufu_busy", r->mufu_busy },     { "tile_period", r->tile_period },
                   { "hbm_cycles", r->hbm_cycles },
                   { "link_busy", r->link_busy } };
    ws_json_out_init(&j);
    ws_json_out_open(&j, NULL, '{');
    ws_json_out_integer(&j, "version", 1);
    ws_json_out_integer(&j, "cycles", r->cycles);
    ws_json_out_real(&j, "seconds", r->seconds);
    ws_json_out_real(&j, "ghz", r->ghz);
    ws_json_out_integer(&j, "grid", r->grid);
    ws_json_out_text(&j, "bound", r->bound);
    for (guint i = 0; i < G_N_ELEMENTS(shares); i++)
        ws_json_out_real(&j, shares[i].name, shares[i].value);
    ws_json_out_open(&j, "loops", '[');
    for (guint i = 0; i < r->loop->len; i++) {
        const WsClockLoop *l = &g_array_index(r->loop, WsClockLoop, i);
        ws_json_out_open_row(&j, NULL, '{');
        ws_json_out_text(&j, "agent", p->agent[l->agent].name);
        ws_json_out_text(&j, "loop", l->loop->step);
        ws_json_out_real(&j, "period", l->period);
        ws_json_out_close(&j, '}');
    }
    ws_json_out_close(&j, ']');
    ws_json_out_open(&j, "waits", '[');
    for (guint i = 0; i < r->wait->len; i++) {
        const WsClockWait *w = &g_array_index(r->wait, WsClockWait, i);
        ws_json_out_open_row(&j, NULL, '{');
        ws_json_out_text(&j, "agent", p->agent[w->agent].name);
        ws_json_out_text(&j, "step", p->op[w->op]->step);
        ws_json_out_integer(&j, "count", w->count);
        ws_json_out_integer(&j, "exposed", w->exposed);
        ws_json_out_real(&j, "gain", w->gain);
        ws_json_out_close(&j, '}');
    }
    ws_json_out_close(&j, ']');
    ws_idle_json(&j, idle, p);
    ws_json_out_close(&j, '}');
    return ws_json_out_end(&j);
}

/* No tiles: nothing runs, and no unit is busy or idle. */
static int nothing(const WsProgram *p, const char *file, gboolean json)
{
    g_autoptr(GArray) loops = g_array_new(FALSE, FALSE, sizeof(WsClockLoop));
    g_autoptr(GArray) waits = g_array_new(FALSE, FALSE, sizeof(WsClockWait));
    const WsClockResult none = { .tile_period = NAN,
                                 .ghz = NAN,
                                 .tensor_busy = NAN,
                                 .tma_busy = NAN,
                                 .smem_busy = NAN,
                                 .alu_busy = NAN,
                                 .mufu_busy = NAN,
                                 .link_busy = NAN,
                                 .loop = loops,
                                 .wait = waits };
    g_autofree char *text = json ? ws_cli_clock_json(&none, p, NULL)
                                 : g_strdup_printf("%s: nothing to launch: no tiles for these "
                                                   "sizes\n",
                                                   file);
    fputs(text, stdout);
    return WS_EXIT_YES;
}

static int simulate(const WsCliLaunched *l, const char *file, const char *trace, gboolean gains,
                    gboolean units, gboolean json)
{
    const WsProgram *p = l->in.program;
    const WsClockOptions options = { .gains = gains };
    int code;
    if (ws_launch_tiles(l->values) == 0)
        return nothing(p, file, json);
    g_autoptr(WsClockResult) result = play(p, l->values, l->machine, &options, &code);
    if (!result)
        return code;
    g_autoptr(GError) error = NULL;
    if (trace && !ws_trace_save(result->trace, trace, &error))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    ws_cli_say_aside(trace);
    /* Of the tiles that were played. */
    g_autoptr(WsIdle) idle = json || units ? ws_idle_new(p, result->trace, l->machine) : NULL;
    if (json) {
        g_autofree char *text = ws_cli_clock_json(result, p, idle);
        fputs(text, stdout);
    } else {
        g_autofree char *text = ws_clock_result_text(result, p);
        g_autofree char *list = idle ? ws_idle_text(idle, p) : g_strdup("");
        printf("%s%s", text, list);
    }
    return WS_EXIT_YES;
}

/* --critical: a play of its own, long enough for rounds that repeat. */
static int critical(const WsCliLaunched *l, gboolean json)
{
    const WsClockOptions options = { .tiles = 8, .no_trace = TRUE, .events = WS_CLOCK_EVENTS };
    int code;
    g_autoptr(WsClockResult) r = play(l->in.program, l->values, l->machine, &options, &code);
    if (!r)
        return code;
    g_autoptr(WsSteady) s = ws_steady_new(l->in.program, r);
    if (json) {
        WsJsonOut j;
        ws_cli_json_begin(&j);
        ws_steady_json(&j, s, l->in.program);
        ws_cli_json_end(&j);
    } else {
        g_autofree char *text = ws_steady_report(s, l->in.program);
        fputs(text, stdout);
    }
    return s->kind == WS_STEADY_NONE ? WS_EXIT_OUTSIDE : WS_EXIT_YES;
}

/* One line of a sweep; a point that does not elaborate is said and does not stop the others. */
static int sweep_point(const char *file, const WsSweepPoint *point, char **size,
                       const char *machine, gint64 *cycles)
{
    g_auto(GStrv) set = g_strdupv(point->set), sizes = g_strdupv(size);
    g_auto(WsCliInput) in = { 0 };
    int code = ws_cli_elaborate(&in, file, set);
    printf("%-20s ", point->label);
    if (code != WS_EXIT_YES) {
        const WsFinding *first =
            in.findings->list->len ? g_ptr_array_index(in.findings->list, 0) : NULL;
        printf("no: %s\n", first ? first->message : "");
        return code == WS_EXIT_USAGE ? code : WS_EXIT_YES;
    }
    g_autoptr(WsLaunchValues) values = ws_cli_launch(in.program, sizes, FALSE, &code);
    if (!values)
        return code;
    g_autoptr(WsClockResult) r = ws_cli_clock(in.program, values, machine, FALSE, &code);
    if (!r) {
        printf("no: it gets stuck\n");
        return code == WS_EXIT_NO ? WS_EXIT_YES : code;
    }
    *cycles = r->cycles;
    printf("%12" G_GINT64_FORMAT " cycles, tensor %.1f %%, %s\n", r->cycles, 100 * r->tensor_busy,
           r->bound ? r->bound : "");
    return WS_EXIT_YES;
}

static int sweep(const char *file, char **set, char **size, const char *machine, char **range)
{
    g_autoptr(GPtrArray) points = ws_sweep_points(range, set);
    const WsSweepPoint *best = NULL;
    gint64 least = G_MAXINT64;
    if (!points)
        return WS_EXIT_USAGE;
    for (guint i = 0; i < points->len; i++) {
        gint64 cycles = G_MAXINT64;
        const int code = sweep_point(file, points->pdata[i], size, machine, &cycles);
        if (code != WS_EXIT_YES)
            return code;
        if (cycles < least) {
            least = cycles;
            best = points->pdata[i];
        }
        if (ws_cli_interrupted())
            return WS_EXIT_INTERRUPTED;
    }
    if (best && points->len > 1)
        printf("fewest cycles: %s\n", best->label);
    return best ? WS_EXIT_YES : WS_EXIT_NO;
}

int ws_command_simulate(int argc, char **argv)
{
    g_autofree char *machine = NULL, *trace = NULL;
    g_auto(GStrv) set = NULL, size = NULL, range = NULL;
    gboolean json = FALSE, gains = FALSE, idle = FALSE, cycle = FALSE;
    const GOptionEntry entries[] = {
        { "size", 0, 0, G_OPTION_ARG_STRING_ARRAY, &size, "a size of the launch", "NAME=VALUE" },
        { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &set, "override a constant", "NAME=VALUE" },
        { "machine", 0, 0, G_OPTION_ARG_FILENAME, &machine,
          "machine description (default: the built-in one)", "FILE" },
        { "trace", 0, 0, G_OPTION_ARG_FILENAME, &trace, "write the predicted trace", "OUT" },
        { "sweep", 0, 0, G_OPTION_ARG_STRING_ARRAY, &range,
          "one line per value of a constant; repeatable", "NAME=A..B" },
        { "gains", 0, 0, G_OPTION_ARG_NONE, &gains, "what each wait would gain if it were free",
          NULL },
        { "idle", 0, 0, G_OPTION_ARG_NONE, &idle, "where the units of an SM are idle, and why",
          NULL },
        { "critical", 0, 0, G_OPTION_ARG_NONE, &cycle,
          "the steady round: its period, its critical cycle, and what has slack", NULL },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "simulate", entries, &file))
        return WS_EXIT_USAGE;
    if (range && (json || gains || idle || trace))
        return ws_cli_fail(WS_EXIT_USAGE,
                           "--sweep prints one line per value: --json, --gains, --idle and --trace "
                           "do not go with it");
    if (cycle && (range || gains || idle || trace))
        return ws_cli_fail(WS_EXIT_USAGE, "--critical is a play of its own: --sweep, --gains, "
                                          "--idle and --trace do not go with it");
    if (range)
        return sweep(file, set, size, machine, range);
    g_auto(WsCliLaunched) l = { 0 };
    const int code = ws_cli_launched(&l, file, set, size, machine);
    if (code != WS_EXIT_YES)
        return code;
    return cycle ? critical(&l, json) : simulate(&l, file, trace, gains, idle, json);
}
