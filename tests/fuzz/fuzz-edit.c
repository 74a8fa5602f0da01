/* Lines of edits, applied one after the other to a small design: each is refused with findings, or
 * gives a design that prints and reads back; its own text form is a fixpoint. */
#include "../model/document.h"
#include "model/design.h"
#include "model/findings.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(gboolean fact)
{
    if (!fact)
        abort();
}

static WsDesign *read_back(const WsDesign *design)
{
    g_autofree char *text = ws_design_print(design);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *again = ws_design_parse(text, strlen(text), NULL, findings);
    require(again != NULL);
    g_autofree char *twice = ws_design_print(again);
    require(strcmp(text, twice) == 0);
    return again;
}

static WsDesign *apply_line(WsDesign *design, const char *line)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsEdit) edit = ws_edit_parse(line, &error);
    require((edit == NULL) == (error != NULL));
    if (edit == NULL)
        return design;
    g_autofree char *text = ws_edit_print(edit);
    g_autoptr(WsEdit) same = ws_edit_parse(text, NULL);
    require(same != NULL);
    g_autofree char *again = ws_edit_print(same);
    require(strcmp(text, again) == 0);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *edited = ws_design_apply(design, edit, findings);
    require((edited == NULL) == (ws_findings_count(findings, WS_SEVERITY_ERROR) > 0));
    if (edited == NULL)
        return design;
    ws_design_unref(design);
    ws_design_unref(read_back(edited));
    return edited;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_parse(document, strlen(document), NULL, findings);
    g_autofree char *text = g_strndup((const char *)data, size);
    g_auto(GStrv) lines = g_strsplit(text, "\n", 32);
    for (guint i = 0; lines[i] != NULL; i++)
        design = apply_line(design, lines[i]);
    ws_design_unref(design);
    return 0;
}
