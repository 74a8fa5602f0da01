#include "base/json_out.h"
#include "cli/kernels.h"

#include <stdio.h>

/* Only a traced build leaves a trace to write; without one, and so of HIP, `collect` reads what was
 * right and how long it took. */
static char *collect_words(const char *out, const WsBundleOptions *options)
{
    return g_strdup_printf("warpstave collect %s%s", out, options->traced ? " -o OUT.wtrace" : "");
}

static void print_json(const char *file, const char *out, const char *collect)
{
    g_autofree char *run = g_strdup_printf("warpstave-runner %s", out);
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
    g_autofree char *collect = collect_words(out, &options);
    if (code == WS_EXIT_YES && json)
        print_json(file, out, collect);
    else if (code == WS_EXIT_YES)
        printf("%s: run it with warpstave-runner %s, then %s\n", out, out, collect);
    return code;
}
