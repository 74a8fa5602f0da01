#include "advise/next.h"
#include "cli/cli.h"
#include "model/findings.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include <stdio.h>

static int put(const WsNext *n, const WsProgram *p, const WsTrace *measured, gboolean json)
{
    g_autofree char *text = json ? ws_next_json(n, p) : ws_next_text(n, p, measured);
    fputs(text, stdout);
    return WS_EXIT_YES;
}

/* The sizes of the trace, unless some are asked for. */
static WsLaunchValues *launch(const WsProgram *p, char **size, const WsTrace *t, int *code)
{
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; !size && t && i < t->size->len; i++)
        g_ptr_array_add(list, g_strdup_printf("%s=%" G_GINT64_FORMAT,
                                              g_array_index(t->size_name, char *, i),
                                              g_array_index(t->size, gint64, i)));
    g_ptr_array_add(list, NULL);
    return ws_cli_launch(p, size ? size : (char **)list->pdata, FALSE, code);
}

static int advise(const char *file, const char *trace, char **set, char **size, const char *machine,
                  const WsNextOptions *options, gboolean json)
{
    g_autoptr(GError) error = NULL;
    g_auto(WsCliInput) in = { 0 };
    g_autoptr(WsTrace) measured = NULL;
    g_auto(GStrv) setting = g_strdupv(set); /* cut in place */
    g_autoptr(GArray) settings = NULL;
    int code = ws_cli_load(&in, file, set);
    if (code != WS_EXIT_YES)
        return code;
    if (!ws_cli_settings(setting, "--set", &settings))
        return WS_EXIT_USAGE;
    if (trace && !(measured = ws_cli_trace_of(in.program, trace)))
        return WS_EXIT_USAGE;
    if (measured && options->cta >= measured->cta->len)
        return ws_cli_fail(WS_EXIT_USAGE, "%s has %u CTAs; --cta counts from 0", trace,
                           measured->cta->len);
    g_autoptr(WsMachine) m = ws_machine_for(machine, in.program->target, &error);
    if (!m)
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    g_autoptr(WsLaunchValues) v = launch(in.program, size, measured, &code);
    if (!v)
        return code;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsNext) n =
        ws_next_new(in.design, settings ? (const WsSetting *)settings->data : NULL,
                    settings ? settings->len : 0, in.program, v, m, measured, options, findings);
    ws_cli_print_findings(findings, file);
    code = ws_findings_exit_code(findings, FALSE);
    if (code == WS_EXIT_YES && !n)
        code = WS_EXIT_OUTSIDE;
    return code == WS_EXIT_YES ? put(n, in.program, measured, json) : code;
}

int ws_command_advise(int argc, char **argv)
{
    g_autofree char *machine = NULL, *trace = NULL;
    g_auto(GStrv) set = NULL, size = NULL;
    gboolean json = FALSE, no_edits = FALSE;
    int cta = 0, edits = 0;
    const GOptionEntry entries[] = {
        { "trace", 0, 0, G_OPTION_ARG_FILENAME, &trace, "edges and path of this run", "FILE" },
        { "size", 0, 0, G_OPTION_ARG_STRING_ARRAY, &size, "a size of the launch", "NAME=VALUE" },
        { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &set, "override a constant", "NAME=VALUE" },
        { "machine", 0, 0, G_OPTION_ARG_FILENAME, &machine, "machine description (default: the built-in one)",
          "FILE" },
        { "cta", 0, 0, G_OPTION_ARG_INT, &cta, "CTA of the trace that is looked at (default 0)",
          "N" },
        { "edits", 0, 0, G_OPTION_ARG_INT, &edits, "edits to list (default 8)", "N" },
        { "no-edits", 0, 0, G_OPTION_ARG_NONE, &no_edits, "edges and critical path only", NULL },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "advise", entries, &file))
        return WS_EXIT_USAGE;
    if (cta < 0 || edits < 0)
        return ws_cli_fail(WS_EXIT_USAGE, "--cta and --edits cannot be negative");
    const WsNextOptions options = { .max_edits = (guint)edits,
                                    .no_edits = no_edits,
                                    .cta = (guint)cta };
    return advise(file, trace, set, size, machine, &options, json);
}
