#include "cli/collect.h"
#include "launch/collect.h"
#include "launch/history.h"

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

int ws_cli_collect(const char *dir, guint which, const char *host, const char *out)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(WsCollected) collected = ws_collect(dir, findings, &error);
    if (!collected) {
        ws_cli_print_findings(findings, dir);
        gboolean absent = g_error_matches(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT);
        return ws_cli_fail(absent ? WS_EXIT_ABSENT : WS_EXIT_USAGE, "%s", error->message);
    }
    g_autofree char *text = ws_collected_print(collected);
    fputs(text, stdout);
    if (!out) {
        remember(collected, host, NULL);
        return collected->status;
    }
    if (which >= collected->cases->len)
        return ws_cli_fail(WS_EXIT_USAGE, "%s has %u cases, --which counts from 0", dir,
                           collected->cases->len);
    g_autoptr(WsTrace) trace = ws_collected_trace(collected, which, &error);
    if (!trace)
        return ws_cli_fail(WS_EXIT_ABSENT, "%s", error->message);
    if (!ws_trace_save(trace, out, &error))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    printf("%s: %u records\n", out, trace->record->len);
    if (trace->note && strstr(trace->note, "never written")) /* nothing is lost unnoticed */
        ws_cli_fail(WS_EXIT_YES, "%s: %s", out, trace->note);
    remember(collected, host, which == 0 ? out : NULL);
    return collected->status;
}

int ws_command_collect(int argc, char **argv)
{
    g_autofree char *out = NULL;
    gint which = 0;
    const GOptionEntry entries[] = {
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &out, "write the measured trace", "OUT.wtrace" },
        { "which", 0, 0, G_OPTION_ARG_INT, &which, "case of the trace (default 0)", "N" },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "collect", entries, &file))
        return WS_EXIT_USAGE;
    return ws_cli_collect(file, (guint)MAX(which, 0), NULL, out);
}
