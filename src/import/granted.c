#include "import/granted.h"
#include "model/build.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include <string.h>

/* One of src/program/elaborate/fences.c, by its place: that of the prologue publishes barriers. */
static gboolean has_derived_fence(const WsDesign *design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    for (guint i = 0; p && i < p->n_ops; i++)
        if (p->op[i]->derived && g_str_has_prefix(p->op[i]->id, "groups/") &&
            g_str_has_suffix(p->op[i]->id, "#fence"))
            return TRUE;
    return FALSE;
}

static void grant(WsImport *import, const char *what)
{
    if (!g_ptr_array_find_with_equal_func(import->granted, what, g_str_equal, NULL))
        g_ptr_array_add(import->granted, g_strdup(what));
}

/* What an export of a design says that was imported itself. */
static void grant_said(WsImport *import, const char *text)
{
    static const char key[] = "taken for granted: ";
    for (const char *at = text; (at = strstr(at, key)) != NULL;) {
        const char *line = at, *end = at + strcspn(at, "\n\r");
        while (line > text && line[-1] != '\n')
            line--;
        at += strlen(key);
        g_autofree char *what = g_strndup(at, end - at);
        if ((g_str_has_prefix(line, "# ") || g_str_has_prefix(line, "// ")) && *what)
            grant(import, what);
    }
}

void ws_import_keep_granted(WsImport *import, const char *text)
{
    grant_said(import, text);
    if (has_derived_fence(import->design)) /* of a language whose fences are the compiler's */
        grant(import, "the compiler puts a fence of the async proxy where one is derived");
    if (!import->granted->len && !import->given)
        return;
    WsJson *list = ws_json_list();
    for (guint i = 0; i < import->granted->len; i++)
        ws_json_add(list, ws_json_text(import->granted->pdata[i]));
    if (import->given)
        ws_json_add(list, ws_json_format("it is launched with %s, as it was read", import->given));
    g_autoptr(WsEdit) edit = ws_edit_new_set(".", ws_node_key(WS_NODE_DESIGN, WS_F_granted), list);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_apply(import->design, edit, findings);
    g_assert(design); /* texts fit */
    ws_design_unref(import->design);
    import->design = design;
}
