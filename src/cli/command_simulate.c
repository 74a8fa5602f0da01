#include "cli/cli.h"
#include "model/text.h"

#include <stdio.h>
#include <string.h>

WsClockResult *ws_cli_clock(const WsProgram *p, const WsLaunchValues *v, const char *machine,
                            gboolean gains, int *code)
{
    const WsClockOptions options = { .gains = gains };
    g_autoptr(GError) error = NULL;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsMachine) m = ws_machine_load(machine, &error);
    if (!m) {
        *code = ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
        return NULL;
    }
    g_autoptr(WsClockResult) result = ws_clock_run(p, v, m, &options, findings);
    ws_cli_print_findings(findings, p->file);
    *code = ws_findings_exit_code(findings, FALSE);
    if (!result || *code != WS_EXIT_YES) {
        if (*code == WS_EXIT_YES)
            *code = WS_EXIT_OUTSIDE;
        return NULL;
    }
    return g_steal_pointer(&result);
}

/* "STAGES=2..6" -> name and bounds. */
static gboolean parse_sweep(const char *text, char **name, gint64 *from, gint64 *to)
{
    const char *equals = strchr(text, '='), *dots = strstr(text, "..");
    if (!equals || !dots || dots < equals || equals == text)
        return FALSE;
    g_autofree char *low = g_strndup(equals + 1, (gsize)(dots - equals - 1));
    if (!g_ascii_string_to_signed(low, 10, G_MININT32, G_MAXINT32, from, NULL) ||
        !g_ascii_string_to_signed(dots + 2, 10, G_MININT32, G_MAXINT32, to, NULL) || *from > *to ||
        *to - *from > 1000)
        return FALSE;
    *name = g_strndup(text, (gsize)(equals - text));
    return TRUE;
}

static void print_json(const WsClockResult *r, const WsProgram *p)
{
    g_autoptr(GString) out = g_string_new("{\n  \"version\": 1,\n  \"cycles\": ");
    g_string_append_printf(out, "%" G_GINT64_FORMAT ",\n  \"seconds\": ", r->cycles);
    ws_text_json_real(out, r->seconds);
    g_string_append(out, ",\n  \"ghz\": ");
    ws_text_json_real(out, r->ghz);
    g_string_append_printf(out, ",\n  \"grid\": %" G_GINT64_FORMAT ",\n  \"bound\": ", r->grid);
    ws_text_json(out, r->bound);
    const struct {
        const char *name;
        double value;
    } shares[] = { { "tensor_busy", r->tensor_busy }, { "tma_busy", r->tma_busy },
                   { "smem_busy", r->smem_busy },     { "alu_busy", r->alu_busy },
                   { "mufu_busy", r->mufu_busy },     { "tile_period", r->tile_period },
                   { "hbm_cycles", r->hbm_cycles } };
    for (guint i = 0; i < G_N_ELEMENTS(shares); i++) {
        g_string_append_printf(out, ",\n  \"%s\": ", shares[i].name);
        ws_text_json_real(out, shares[i].value);
    }
    g_string_append(out, ",\n  \"loops\": [");
    for (guint i = 0; i < r->loop->len; i++) {
        const WsClockLoop *l = &g_array_index(r->loop, WsClockLoop, i);
        g_string_append(out, i ? ",\n    { \"agent\": " : "\n    { \"agent\": ");
        ws_text_json(out, p->agent[l->agent].name);
        g_string_append(out, ", \"loop\": ");
        ws_text_json(out, l->loop->step);
        g_string_append(out, ", \"period\": ");
        ws_text_json_real(out, l->period);
        g_string_append(out, " }");
    }
    g_string_append(out, "\n  ],\n  \"waits\": [");
    for (guint i = 0; i < r->wait->len; i++) {
        const WsClockWait *w = &g_array_index(r->wait, WsClockWait, i);
        g_string_append(out, i ? ",\n    { \"agent\": " : "\n    { \"agent\": ");
        ws_text_json(out, p->agent[w->agent].name);
        g_string_append(out, ", \"step\": ");
        ws_text_json(out, p->op[w->op]->step);
        g_string_append_printf(
            out, ", \"count\": %" G_GINT64_FORMAT ", \"exposed\": %" G_GINT64_FORMAT ", \"gain\": ",
            w->count, w->exposed);
        ws_text_json_real(out, w->gain);
        g_string_append(out, " }");
    }
    g_string_append(out, "\n  ]\n}\n");
    fputs(out->str, stdout);
}

static int simulate(const char *file, char **set, char **size, const char *machine,
                    const char *trace, gboolean gains, gboolean json)
{
    g_auto(WsCliInput) in = { 0 };
    int code = ws_cli_load(&in, file, set);
    if (code != WS_EXIT_YES)
        return code;
    g_autoptr(WsLaunchValues) values = ws_cli_launch(in.program, size, FALSE, &code);
    if (!values)
        return code;
    if (ws_launch_tiles(values) == 0) {
        printf("%s: nothing to launch: no tiles for these sizes\n", file);
        return WS_EXIT_YES;
    }
    g_autoptr(WsClockResult) result = ws_cli_clock(in.program, values, machine, gains, &code);
    if (!result)
        return code;
    g_autoptr(GError) error = NULL;
    if (trace && !ws_trace_save(result->trace, trace, &error))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (json) {
        print_json(result, in.program);
    } else {
        g_autofree char *text = ws_clock_result_text(result, in.program);
        fputs(text, stdout);
    }
    return WS_EXIT_YES;
}

/* One line per value; a value that does not elaborate is said and does not stop the sweep. */
static int sweep(const char *file, char **set, char **size, const char *machine, const char *range)
{
    g_autofree char *name = NULL;
    gint64 from, to;
    if (!parse_sweep(range, &name, &from, &to))
        return ws_cli_fail(WS_EXIT_USAGE, "--sweep %s: write NAME=FROM..TO", range);
    for (gint64 v = from; v <= to; v++) {
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        for (guint i = 0; set && set[i]; i++)
            g_strv_builder_add(builder, set[i]);
        g_autofree char *setting = g_strdup_printf("%s=%" G_GINT64_FORMAT, name, v);
        g_strv_builder_add(builder, setting);
        g_auto(GStrv) all = g_strv_builder_end(builder), sizes = g_strdupv(size);
        g_auto(WsCliInput) in = { 0 };
        int code = ws_cli_elaborate(&in, file, all);
        if (code != WS_EXIT_YES) {
            const WsFinding *first =
                in.findings->list->len ? g_ptr_array_index(in.findings->list, 0) : NULL;
            printf("%s = %-4" G_GINT64_FORMAT " no: %s\n", name, v, first ? first->message : "");
            if (code == WS_EXIT_USAGE)
                return code;
            continue;
        }
        g_autoptr(WsLaunchValues) values = ws_cli_launch(in.program, sizes, FALSE, &code);
        if (!values)
            return code;
        g_autoptr(WsClockResult) r = ws_cli_clock(in.program, values, machine, FALSE, &code);
        if (!r && code == WS_EXIT_NO) {
            printf("%s = %-4" G_GINT64_FORMAT " no: it gets stuck\n", name, v);
            continue;
        }
        if (!r)
            return code;
        printf("%s = %-4" G_GINT64_FORMAT " %12" G_GINT64_FORMAT " cycles, tensor %.1f %%, %s\n",
               name, v, r->cycles, 100 * r->tensor_busy, r->bound ? r->bound : "");
        if (ws_cli_interrupted())
            return WS_EXIT_INTERRUPTED;
    }
    return WS_EXIT_YES;
}

int ws_command_simulate(int argc, char **argv)
{
    g_autofree char *machine = NULL, *trace = NULL, *range = NULL;
    g_auto(GStrv) set = NULL, size = NULL;
    gboolean json = FALSE, gains = FALSE;
    const GOptionEntry entries[] = {
        { "size", 0, 0, G_OPTION_ARG_STRING_ARRAY, &size, "a size of the launch", "NAME=VALUE" },
        { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &set, "override a constant", "NAME=VALUE" },
        { "machine", 0, 0, G_OPTION_ARG_FILENAME, &machine, "machine description (default: H200)",
          "FILE" },
        { "trace", 0, 0, G_OPTION_ARG_FILENAME, &trace, "write the predicted trace", "OUT" },
        { "sweep", 0, 0, G_OPTION_ARG_STRING, &range, "one line per value of a constant",
          "NAME=A..B" },
        { "gains", 0, 0, G_OPTION_ARG_NONE, &gains, "what each wait would gain if it were free",
          NULL },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "simulate", entries, &file))
        return WS_EXIT_USAGE;
    return range ? sweep(file, set, size, machine, range)
                 : simulate(file, set, size, machine, trace, gains, json);
}
