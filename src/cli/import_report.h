/* What `import` and `check --from` share. */
#pragma once

#include "cli/cli.h"
#include "judge/judge.h"

G_BEGIN_DECLS

/* A file and its language; `file` is borrowed. */
typedef struct {
    const char *file;
    char *text;
    gsize length;
    WsImportFrom language;
} WsCliSource;
/* FALSE with *code set, message printed. */
gboolean ws_cli_source(const char *file, const char *from, WsCliSource *source, int *code);
void ws_cli_source_clear(WsCliSource *source);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WsCliSource, ws_cli_source_clear)
/* Names of the kernels of the file; NULL with *code set, message printed. The caller unrefs. */
GPtrArray *ws_cli_kernels(const char *file, const char *from, int *code);
/* Reads and judges, see ws_judge_text(). FALSE with *code set, message printed. */
gboolean ws_cli_judge_kernel(const char *file, const char *from, const WsImportOptions *options,
                             const WsCheckOptions *check, WsJudged *kernel, int *code);
/* The same of a text; nothing is printed. */
gboolean ws_cli_judge_source(const WsCliSource *source, const WsImportOptions *options,
                             const WsCheckOptions *check, WsJudged *kernel, GError **error);
/* TRUE if the suffix of the file is that of a language that is imported. */
gboolean ws_cli_is_foreign(const char *file);
/* What the file was read with, and the list of what was not understood with lines of the source,
 * on stderr. */
void ws_cli_print_unread(const WsImport *import);

G_END_DECLS
