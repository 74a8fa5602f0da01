#include "cli/cli.h"
#include "model/design.h"
#include "model/findings.h"
#include "model/hint.h"

#include <string.h>

int ws_command_format(int argc, char **argv)
{
    gboolean write = FALSE, json = FALSE, explicit = FALSE;
    const GOptionEntry entries[] = {
        { "write", 'w', 0, G_OPTION_ARG_NONE, &write, "rewrite the file", NULL },
        { "explicit", 0, 0, G_OPTION_ARG_NONE, &explicit,
          "write loops with num_stages as the steps that they mean", NULL },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "format", entries, &file))
        return WS_EXIT_USAGE;
    if (write && !strcmp(file, "-"))
        return ws_cli_fail(WS_EXIT_USAGE, "--write rewrites the file: the standard input is none");
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    if (!design) {
        ws_cli_print_findings(findings, file);
        return ws_findings_exit_code(findings, FALSE);
    }
    if (explicit) {
        WsDesign *made = ws_hint_explicit(design, FALSE, findings);
        if (!made) {
            ws_cli_print_findings(findings, file);
            return ws_findings_exit_code(findings, FALSE);
        }
        ws_design_unref(design);
        design = made;
    }
    if (write) {
        g_autoptr(GError) error = NULL;
        if (!ws_design_save(design, file, &error))
            return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    }
    if (write && !json)
        return WS_EXIT_YES;
    g_autofree char *text = ws_design_print(design);
    if (json) {
        WsJsonOut j;
        ws_cli_json_begin(&j);
        ws_json_out_text(&j, "file", file);
        ws_json_out_truth(&j, "written", write);
        ws_json_out_text(&j, "text", text);
        ws_cli_json_end(&j);
        return WS_EXIT_YES;
    }
    return ws_cli_write(NULL, text, -1) ? WS_EXIT_YES : WS_EXIT_USAGE;
}
