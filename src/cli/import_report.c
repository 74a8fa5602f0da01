#include "cli/import_report.h"

#include <stdio.h>
#include <string.h>

static WsImportFrom by_content(const char *file)
{
    g_autofree char *text = NULL;
    if (ws_import_guess(file, NULL) != WS_IMPORT_FROM_COUNT)
        g_file_get_contents(file, &text, NULL, NULL);
    return ws_import_guess(file, text);
}

gboolean ws_cli_is_foreign(const char *file)
{
    return ws_import_guess(file, NULL) != WS_IMPORT_FROM_COUNT;
}

WsImport *ws_cli_import(const char *file, const char *from, int *code)
{
    const WsImportFrom language = from ? ws_import_from(from) : by_content(file);
    *code = WS_EXIT_USAGE;
    if (language == WS_IMPORT_FROM_COUNT) {
        GString *known = g_string_new(NULL);
        for (guint i = 0; i < WS_IMPORT_FROM_COUNT; i++)
            g_string_append_printf(known, "%s%s", i ? ", " : "",
                                   ws_import_from_text((WsImportFrom)i));
        ws_cli_fail(WS_EXIT_USAGE, "%s: say --from with one of %s", from ? from : file, known->str);
        g_string_free(known, TRUE);
        return NULL;
    }
    g_autoptr(GError) error = NULL;
    WsImport *import = ws_import_file(file, language, &error);
    if (!import) {
        ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
        fprintf(stderr, "  what is read of %s: %s\n", ws_import_from_text(language),
                ws_import_from_help(language));
        return NULL;
    }
    *code = WS_EXIT_YES;
    return import;
}

void ws_cli_print_unread(const WsImport *import)
{
    if (import->given)
        fprintf(stderr, "%s: read with %s; nothing is said of others\n", import->file,
                import->given);
    for (guint i = 0; i < import->unread->len; i++) {
        const WsUnread *u = g_ptr_array_index(import->unread, i);
        fprintf(stderr, "%s:%u:%u: not read: %s\n", import->file, u->line, u->column, u->what);
        g_auto(GStrv) line = g_strsplit(u->source, "\n", 4);
        for (guint k = 0; line[k] && k < 3; k++)
            fprintf(stderr, "    %s\n", line[k]);
        if (g_strv_length(line) > 3)
            fprintf(stderr, "    …\n");
    }
}
