/* Any bytes: a design or findings, never both or neither. What was read prints, what was printed
 * reads back and prints the same; every node is found by its path. */
#include "model/design.h"
#include "model/findings.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(gboolean fact)
{
    if (!fact)
        abort();
}

static void check_paths(const WsDesign *design, const WsNode *node, guint *budget)
{
    if (*budget == 0)
        return;
    --*budget;
    g_autofree char *path = ws_design_path(design, node);
    require(ws_design_find(design, path) == node);
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            check_paths(design, ws_node_child(node, rows[i].field, c), budget);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *copy = g_memdup2(data, size); /* exact bounds for the sanitizer */
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(copy != NULL ? copy : "", size, "x", findings);
    g_autofree char *all = ws_findings_print(findings, "x");
    require((design == NULL) == (ws_findings_count(findings, WS_SEVERITY_ERROR) > 0));
    require(ws_findings_exit_code(findings, TRUE) == (design == NULL ? 2 : 0));
    require(g_utf8_validate(all, -1, NULL));
    require(findings->list->len <= 10);
    if (design == NULL)
        return 0;
    g_autofree char *once = ws_design_print(design);
    g_autoptr(WsFindings) none = ws_findings_new();
    g_autoptr(WsDesign) again = ws_design_parse(once, strlen(once), "x", none);
    require(again != NULL && none->list->len == 0);
    g_autofree char *twice = ws_design_print(again);
    require(strcmp(once, twice) == 0);
    guint budget = 200;
    check_paths(again, ws_design_root(again), &budget);
    return 0;
}
