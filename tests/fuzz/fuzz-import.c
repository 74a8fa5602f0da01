/* Fuzzes the import: any text as Python, as a Gluon or TLE kernel, as PTX: a design or an error with
 * file, line and column, never a fault; the first byte picks the language. */
#include "import/import.h"
#include "import/python.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(gboolean holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    const WsImportFrom from = (WsImportFrom)(data[0] % WS_IMPORT_FROM_COUNT);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = g_strndup((const char *)data + 1, size - 1);
    g_autoptr(WsImport) import = ws_import_text(text, strlen(text), "f", from, &error);
    need(import || (error && strchr(error->message, ':')), "neither a design nor an error");
    if (!import)
        return 0;
    g_autofree char *printed = ws_design_print(import->design);
    need(strlen(printed) > 0, "an empty design");
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsProgram *program = ws_elaborate(import->design, NULL, 0, findings);
    ws_import_locate(import->design, findings);
    if (program)
        ws_program_unref(program);
    return 0;
}
