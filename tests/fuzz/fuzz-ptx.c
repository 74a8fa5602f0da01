/* Fuzzes the import of compiled PTX alone: a design or an error with file, line and column, never a
 * fault. Seeds are the kernels of tests/import/ptx. */
#include "import/import.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsImport) import =
        ws_import_text((const char *)data, size, "f", WS_IMPORT_PTX, &error);
    if (!import && !(error && g_str_has_prefix(error->message, "f:"))) {
        fprintf(stderr, "neither a design nor an error with its place: %s\n",
                error ? error->message : "");
        abort();
    }
    if (!import)
        return 0;
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsProgram *program = ws_elaborate(import->design, NULL, 0, findings);
    ws_import_locate(import->design, findings);
    if (program)
        ws_program_unref(program);
    return 0;
}
