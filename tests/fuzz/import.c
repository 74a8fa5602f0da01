#include "import.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_import(const char *text, gsize length, WsImportFrom from)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsImport) import = ws_import_text(text, length, "f", from, &error);
    if (!import && !(error && g_str_has_prefix(error->message, "f:"))) {
        fprintf(stderr, "neither a design nor an error with its place: %s\n",
                error ? error->message : "");
        abort();
    }
    if (!import)
        return;
    g_autofree char *printed = ws_design_print(import->design);
    if (!*printed) {
        fprintf(stderr, "an empty design\n");
        abort();
    }
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsProgram *program = ws_elaborate(import->design, NULL, 0, findings);
    ws_import_locate(import->design, findings);
    if (program)
        ws_program_unref(program);
}
