/* What `import` and `check --from` share. */
#pragma once

#include "check/check.h"
#include "cli/cli.h"
#include "import/import.h"

G_BEGIN_DECLS

/* Reads `file` as language `from` (NULL: by its suffix). NULL with *code set, message printed. */
WsImport *ws_cli_import(const char *file, const char *from, const WsImportOptions *options,
                        int *code);
/* Names of the kernels of the file; NULL with *code set, message printed. The caller unrefs. */
GPtrArray *ws_cli_kernels(const char *file, const char *from, int *code);
/* What a check of the design says of the kernel: `verdict` NULL where it does not elaborate, then
 * one is made. Findings that do not hold for the kernel become warnings. */
void ws_cli_import_verdict(const WsImport *import, WsVerdict **verdict, WsFindings *findings);
/* TRUE if the suffix of the file is that of a language that is imported. */
gboolean ws_cli_is_foreign(const char *file);
/* What the file was read with, and the list of what was not understood with lines of the source,
 * on stderr. */
void ws_cli_print_unread(const WsImport *import);

G_END_DECLS
