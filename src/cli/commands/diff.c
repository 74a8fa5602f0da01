/* warpstave diff A B: two designs object by object, or two traces step by step. */
#include "model/diff.h"
#include "cli/cli.h"
#include "model/design.h"
#include "model/findings.h"
#include "trace/stats.h"

#include <stdio.h>

/* The object of both kinds: names of the files, and `kind`. */
static void json_begin(WsJsonOut *j, const char *file_a, const char *file_b, const char *kind)
{
    ws_cli_json_begin(j);
    ws_json_out_text(j, "a", file_a);
    ws_json_out_text(j, "b", file_b);
    ws_json_out_text(j, "kind", kind);
}

static int diff_traces(const char *file_a, const char *file_b, gboolean json)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsTrace) a = ws_trace_load(file_a, &error);
    if (!a)
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (!json)
        return ws_cli_print_comparison(a, file_b);
    WsJsonOut j;
    json_begin(&j, file_a, file_b, "traces");
    const gsize empty = j.out->len;
    const int code = ws_cli_put_comparison(&j, a, file_b);
    ws_cli_json_end_after(&j, empty);
    return code;
}

static WsDesign *load(const char *file)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_load(file, findings);
    if (!design)
        ws_cli_print_findings(findings, file);
    return design;
}

static void put_designs(const char *file_a, const char *file_b, const GPtrArray *list)
{
    WsJsonOut j;
    json_begin(&j, file_a, file_b, "designs");
    ws_json_out_open(&j, "differences", '[');
    for (guint i = 0; i < list->len; i++) {
        const WsDifference *d = g_ptr_array_index(list, i);
        const char sign[] = { d->sign, '\0' };
        g_autofree char *edit = ws_edit_print(d->edit);
        ws_json_out_open(&j, NULL, '{');
        ws_json_out_text(&j, "sign", sign);
        ws_json_out_text(&j, "words", d->words);
        ws_json_out_text(&j, "edit", edit);
        ws_json_out_close(&j, '}');
    }
    ws_json_out_close(&j, ']');
    ws_cli_json_end(&j);
}

static int diff_designs(const char *file_a, const char *file_b, gboolean edits, gboolean json)
{
    g_autoptr(WsDesign) a = load(file_a);
    g_autoptr(WsDesign) b = a ? load(file_b) : NULL;
    if (!b)
        return WS_EXIT_USAGE;
    g_autoptr(GPtrArray) list = ws_design_diff(a, b);
    if (json)
        put_designs(file_a, file_b, list);
    for (guint i = 0; !json && i < list->len; i++) {
        const WsDifference *d = g_ptr_array_index(list, i);
        g_autofree char *edit = ws_edit_print(d->edit);
        if (edits)
            printf("%s\n", edit);
        else
            printf("%c %s\n", d->sign, d->words);
    }
    if (list->len == 0 && !edits && !json)
        printf("the same design\n");
    return list->len == 0 ? WS_EXIT_YES : WS_EXIT_NO;
}

int ws_command_diff(int argc, char **argv)
{
    gboolean edits = FALSE, json = FALSE;
    const GOptionEntry entries[] = {
        { "edits", 0, 0, G_OPTION_ARG_NONE, &edits,
          "print the edits that lead from the first design to the second", NULL },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        { NULL },
    };
    const char *files[2];
    if (!ws_cli_arguments(&argc, &argv, "diff", entries, 2, files))
        return WS_EXIT_USAGE;
    const gboolean trace_a = g_str_has_suffix(files[0], ".wtrace");
    const gboolean trace_b = g_str_has_suffix(files[1], ".wtrace");
    if (trace_a != trace_b)
        return ws_cli_fail(WS_EXIT_USAGE,
                           "%s and %s: give two designs or two traces, not one of each", files[0],
                           files[1]);
    return trace_a ? diff_traces(files[0], files[1], json)
                   : diff_designs(files[0], files[1], edits, json);
}
