#include "cli/import_report.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>

static WsImportFrom by_content(const char *file)
{
    g_autofree char *text = NULL;
    gsize length;
    if (ws_import_guess(file, NULL) != WS_IMPORT_FROM_COUNT)
        ws_file_read_some(file, WS_IMPORT_MAX_BYTES + 1, &text, &length, NULL);
    return ws_import_guess(file, text);
}

gboolean ws_cli_is_foreign(const char *file)
{
    return ws_import_guess(file, NULL) != WS_IMPORT_FROM_COUNT;
}

static gboolean pick_language(const char *file, const char *from, WsImportFrom *language)
{
    *language = from ? ws_import_from(from) : by_content(file);
    if (*language != WS_IMPORT_FROM_COUNT)
        return TRUE;
    GString *known = g_string_new(NULL);
    for (guint i = 0; i < WS_IMPORT_FROM_COUNT; i++)
        g_string_append_printf(known, "%s%s", i ? ", " : "", ws_import_from_text((WsImportFrom)i));
    ws_cli_fail(WS_EXIT_USAGE, "%s: say --from with one of %s", from ? from : file, known->str);
    g_string_free(known, TRUE);
    return FALSE;
}

gboolean ws_cli_source(const char *file, const char *from, WsCliSource *source, int *code)
{
    g_autoptr(GError) error = NULL;
    *code = WS_EXIT_USAGE;
    if (!pick_language(file, from, &source->language))
        return FALSE;
    source->file = file;
    if (!ws_file_read_some(file, WS_IMPORT_MAX_BYTES + 1, &source->text, &source->length, &error)) {
        ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
        return FALSE;
    }
    *code = WS_EXIT_YES;
    return TRUE;
}

void ws_cli_source_clear(WsCliSource *source)
{
    g_clear_pointer(&source->text, g_free);
}

static void say_unreadable(const WsCliSource *s, const GError *error)
{
    static gboolean said[WS_IMPORT_FROM_COUNT]; /* a file may hold many kernels */
    ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (!said[s->language])
        fprintf(stderr, "  what is read of %s: %s\n", ws_import_from_text(s->language),
                ws_import_from_help(s->language));
    said[s->language] = TRUE;
}

GPtrArray *ws_cli_kernels(const char *file, const char *from, int *code)
{
    WsImportFrom language;
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    gsize length;
    *code = WS_EXIT_USAGE;
    if (!pick_language(file, from, &language))
        return NULL;
    GPtrArray *kernels = ws_file_read_some(file, WS_IMPORT_MAX_BYTES + 1, &text, &length, &error)
                             ? ws_import_kernels(text, length, file, language, &error)
                             : NULL;
    if (!kernels)
        ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    *code = kernels ? WS_EXIT_YES : *code;
    return kernels;
}

gboolean ws_cli_judge_source(const WsCliSource *s, const WsImportOptions *options,
                             const WsCheckOptions *check, WsJudged *k, GError **error)
{
    WsImportOptions how = options ? *options : (WsImportOptions){ 0 };
    g_autofree char *folder = g_path_get_dirname(s->file);
    how.folder = how.folder ? how.folder : folder;
    return ws_judge_text(s->text, s->length, s->file, s->language, &how, check, k, error);
}

gboolean ws_cli_judge_kernel(const char *file, const char *from, const WsImportOptions *options,
                             const WsCheckOptions *check, WsJudged *k, int *code)
{
    g_auto(WsCliSource) source = { 0 };
    g_autoptr(GError) error = NULL;
    if (!ws_cli_source(file, from, &source, code))
        return FALSE;
    if (ws_cli_judge_source(&source, options, check, k, &error))
        return TRUE;
    *code = WS_EXIT_USAGE;
    say_unreadable(&source, error);
    return FALSE;
}

void ws_cli_print_unread(const WsImport *import)
{
    if (import->given)
        fprintf(stderr, "%s: read with %s; other values are not covered\n", import->file,
                import->given);
    for (guint i = 0; i < import->unread->len; i++) {
        const WsUnread *u = g_ptr_array_index(import->unread, i);
        fprintf(stderr, "%s:%u:%u: not read%s: %s\n", import->file, u->line, u->column,
                u->harmless ? " (a value only)" : "", u->what);
        g_auto(GStrv) line = g_strsplit(u->source, "\n", 4);
        for (guint k = 0; line[k] && k < 3; k++)
            fprintf(stderr, "    %s\n", line[k]);
        if (g_strv_length(line) > 3)
            fprintf(stderr, "    …\n");
    }
}
