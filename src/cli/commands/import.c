#include "cli/import_report.h"

#include <string.h>

/* import FILE --from LANGUAGE -o DESIGN */

int ws_command_import(int argc, char **argv)
{
    g_autofree char *from = NULL, *out = NULL, *kernel = NULL;
    g_auto(GStrv) define = NULL;
    const GOptionEntry entries[] = {
        { "from", 0, 0, G_OPTION_ARG_STRING, &from,
          "language of the file (default: by its suffix and its imports)", "gluon|tle|tlx|ptx" },
        { "kernel", 0, 0, G_OPTION_ARG_STRING, &kernel, "which kernel of the file", "NAME" },
        { "define", 0, 0, G_OPTION_ARG_STRING_ARRAY, &define,
          "what a parameter or a constant of the file is", "NAME=VALUE" },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &out, "the design (default: standard output)",
          "FILE" },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "import", entries, &file))
        return WS_EXIT_USAGE;
    int code;
    const WsImportOptions options = { .kernel = kernel, .define = define };
    g_autoptr(WsImport) import = ws_cli_import(file, from, &options, &code);
    if (!import)
        return code;
    ws_cli_print_unread(import);
    g_autofree char *text = ws_design_print(import->design);
    return ws_cli_write(out, text, -1) ? WS_EXIT_YES : WS_EXIT_USAGE;
}
