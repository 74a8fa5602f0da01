#include "cli/collect.h"
#include "base/json_out.h"
#include "launch/collect.h"
#include "launch/history.h"
#include "model/findings.h"

#include <stdio.h>
#include <string.h>

/* The history is a convenience: a failure is said and changes nothing. */
static void remember(const WsCollected *collected, const char *host, const char *trace)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsRunStore) history = ws_history_open(NULL, &error);
    if (history && ws_history_add(history, collected, host, trace, &error))
        return;
    if (!g_error_matches(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT))
        ws_cli_fail(WS_EXIT_YES, "not kept in the run history: %s", error->message);
}

static int exit_of(const WsCollected *c)
{
    return c->answer == WS_COLLECTED_RIGHT   ? WS_EXIT_YES
           : c->answer == WS_COLLECTED_WRONG ? WS_EXIT_NO
                                             : c->claimed;
}

static void put_time(WsJsonOut *j, const char *name, const WsCollectedTime *t)
{
    if (t->n == 0) {
        ws_json_out_text(j, name, NULL);
        return;
    }
    ws_json_out_open(j, name, '{');
    ws_json_out_integer(j, "launches", t->n);
    ws_json_out_real(j, "median_us", t->median_us);
    ws_json_out_real(j, "least_us", t->min_us);
    ws_json_out_real(j, "most_us", t->max_us);
    ws_json_out_real(j, "p10_us", t->p10_us);
    ws_json_out_real(j, "p90_us", t->p90_us);
    ws_json_out_real(j, "tflops", t->tflops);
    ws_json_out_real(j, "cycles", t->cycles);
    ws_json_out_real(j, "sm_mhz", t->sm_mhz);
    ws_json_out_real(j, "watt", t->watt);
    ws_json_out_close(j, '}');
}

static void put_case(WsJsonOut *j, const WsCollectedCase *c)
{
    ws_json_out_open(j, NULL, '{');
    ws_json_out_text(j, "label", c->label);
    ws_json_out_text(j, "state", c->state);
    ws_json_out_truth(j, "right", c->right);
    ws_json_out_text(j, "error", c->error);
    ws_json_out_text(j, "stuck", c->stuck);
    ws_json_out_text(j, "wrong", c->wrong);
    ws_json_out_integer(j, "n_wrong", c->n_wrong);
    ws_json_out_real(j, "worst_error", c->worst_error);
    ws_json_out_real(j, "worst_allowed", c->worst_allowed);
    ws_json_out_integer(j, "grid", c->grid);
    ws_json_out_text(j, "seen", c->seen);
    put_time(j, "cold", &c->cold);
    put_time(j, "sustained", &c->sustained);
    ws_json_out_real(j, "overhead", c->overhead);
    ws_json_out_text(j, "records", c->records);
    ws_json_out_close(j, '}');
}

void ws_cli_put_collected(WsJsonOut *j, const WsCollected *c)
{
    ws_json_out_text(j, "name", c->name);
    ws_json_out_integer(j, "exit", exit_of(c));
    ws_json_out_text(j, "error", c->error);
    ws_json_out_text(j, "device", c->device);
    ws_json_out_integer(j, "sms", c->sms);
    ws_json_out_integer(j, "driver", c->driver);
    ws_json_out_integer(j, "registers", c->registers);
    ws_json_out_integer(j, "local_bytes", c->local_bytes);
    ws_json_out_integer(j, "diagnostics", c->diagnostics);
    ws_json_out_open(j, "cases", '[');
    for (guint i = 0; i < c->cases->len; i++)
        put_case(j, c->cases->pdata[i]);
    ws_json_out_close(j, ']');
}

int ws_cli_collect(const char *dir, guint which, const char *host, const char *out, WsJsonOut *json)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(WsCollected) collected = ws_collect(dir, findings, &error);
    if (!collected) {
        ws_cli_print_findings(findings, dir);
        gboolean absent = g_error_matches(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT);
        return ws_cli_fail(absent ? WS_EXIT_ABSENT : WS_EXIT_USAGE, "%s", error->message);
    }
    if (json) {
        ws_cli_put_collected(json, collected);
    } else {
        g_autofree char *text = ws_collected_print(collected);
        fputs(text, stdout);
    }
    if (!out) {
        remember(collected, host, NULL);
        return exit_of(collected);
    }
    if (which >= collected->cases->len)
        return ws_cli_fail(WS_EXIT_USAGE, "%s has %u cases, --which counts from 0", dir,
                           collected->cases->len);
    g_autoptr(WsTrace) trace = ws_collected_trace(collected, which, &error);
    if (!trace)
        return ws_cli_fail(g_error_matches(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT)
                               ? WS_EXIT_ABSENT
                               : WS_EXIT_USAGE,
                           "%s", error->message);
    if (!ws_trace_save(trace, out, &error))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (!json)
        printf("%s: %u records\n", out, trace->record->len);
    if (trace->missing > 0) /* nothing is lost unnoticed */
        ws_cli_fail(WS_EXIT_YES, "%s: %s", out, trace->note);
    remember(collected, host, which == 0 ? out : NULL);
    return exit_of(collected);
}

int ws_command_collect(int argc, char **argv)
{
    g_autofree char *out = NULL;
    gint which = 0;
    gboolean json = FALSE;
    const GOptionEntry entries[] = {
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &out, "write the measured trace", "OUT.wtrace" },
        { "which", 0, 0, G_OPTION_ARG_INT, &which, "case of the trace (default 0)", "N" },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "collect", entries, &file))
        return WS_EXIT_USAGE;
    if (!json)
        return ws_cli_collect(file, (guint)MAX(which, 0), NULL, out, NULL);
    WsJsonOut j;
    ws_cli_json_begin(&j);
    ws_json_out_text(&j, "folder", file);
    const gsize empty = j.out->len;
    const int code = ws_cli_collect(file, (guint)MAX(which, 0), NULL, out, &j);
    ws_cli_json_end_after(&j, empty);
    return code;
}
