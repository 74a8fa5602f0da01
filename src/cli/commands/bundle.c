#include "base/json_out.h"
#include "cli/kernels.h"

#include <stdio.h>

static void print_json(const char *file, const char *out)
{
    g_autofree char *run = g_strdup_printf("warpstave-runner %s", out),
                    *collect = g_strdup_printf("warpstave collect %s -o OUT.wtrace", out);
    WsJsonOut j;
    ws_cli_json_begin(&j);
    ws_json_out_text(&j, "file", file);
    ws_json_out_text(&j, "folder", out);
    ws_json_out_text(&j, "run", run);
    ws_json_out_text(&j, "collect", collect);
    ws_cli_json_end(&j);
}

int ws_command_bundle(int argc, char **argv)
{
    g_autofree char *out = NULL;
    gboolean json = FALSE;
    g_auto(WsBundleOptions) options;
    ws_bundle_options_init(&options);
    const GOptionEntry entries[] = {
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &out, "the folder to write", "DIR" },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        WS_BUNDLE_ENTRIES(options),
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "bundle", entries, &file))
        return WS_EXIT_USAGE;
    if (!out)
        return ws_cli_fail(WS_EXIT_USAGE, "bundle: say where: -o DIR");
    int code = ws_cli_bundle(file, &options, out);
    if (code == WS_EXIT_YES && json)
        print_json(file, out);
    else if (code == WS_EXIT_YES)
        printf("%s: run it with warpstave-runner %s, then warpstave collect %s -o OUT.wtrace\n",
               out, out, out);
    return code;
}
