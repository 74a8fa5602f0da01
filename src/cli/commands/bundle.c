#include "cli/kernels.h"

#include <stdio.h>

int ws_command_bundle(int argc, char **argv)
{
    g_autofree char *out = NULL;
    g_auto(WsBundleOptions) options;
    ws_bundle_options_init(&options);
    const GOptionEntry entries[] = {
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &out, "the folder to write", "DIR" },
        WS_BUNDLE_ENTRIES(options),
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "bundle", entries, &file))
        return WS_EXIT_USAGE;
    if (!out)
        return ws_cli_fail(WS_EXIT_USAGE, "bundle: say where: -o DIR");
    int code = ws_cli_bundle(file, &options, out);
    if (code == WS_EXIT_YES)
        printf("%s: run it with warpstave-runner %s, then warpstave collect %s -o OUT.wtrace\n",
               out, out, out);
    return code;
}
