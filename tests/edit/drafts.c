#include "drafts.h"
#include "../edit_line.h"
#include "base/phrase.h"
#include "model/findings.h"

#include "program/elaborate.h"

#include <string.h>

WsDesign *load(const char *path)
{
    g_autofree char *full = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_load(full, findings);
    g_assert_nonnull(design);
    return design;
}

guint64 node_at(const WsDesign *design, const char *path)
{
    const WsNode *node = ws_design_find(design, path);
    if (node == NULL)
        g_error("no %s", path);
    return node->identity;
}

/* Step with this label, the nth. */
static void find_label(const WsNode *node, const char *label, guint *nth, guint64 *found)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    g_autofree char *own = ws_edit_label(node);
    if (strcmp(own, label) == 0 && (*nth)-- == 0)
        *found = node->identity;
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            find_label(ws_node_child(node, rows[i].field, c), label, nth, found);
}

guint64 labelled(const WsDesign *design, const char *label, guint nth)
{
    guint64 found = 0;
    find_label(ws_design_root(design), label, &nth, &found);
    if (found == 0)
        g_error("no %s", label);
    return found;
}

/* Why it is refused, in English; the draft keeps it. */
const char *why(WsDraft *d)
{
    char *text = ws_phrase_text(d->why, NULL, NULL);
    g_free(d->why);
    return d->why = text;
}

void must(WsDraft *d, gboolean ok)
{
    if (!ok)
        g_error("refused: %s", why(d));
}

/* The script replayed line by line gives the same document: what the journal relies on. */
void assert_replays(const WsDesign *from, const WsDraft *d)
{
    g_autoptr(WsDraft) again = ws_draft_new(from);
    g_autofree char *script = ws_draft_script(d);
    g_auto(GStrv) lines = g_strsplit(script, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++)
        if (*lines[i] != '\0')
            must(again, draft_line(again, lines[i]));
    g_autofree char *a = ws_design_print(d->design), *b = ws_design_print(again->design);
    g_assert_cmpstr(a, ==, b);
}

WsVerdictKind judge(const WsDesign *design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    if (p == NULL || ws_findings_exit_code(findings, FALSE) != 0) {
        g_autofree char *text = ws_findings_print(findings, NULL);
        g_test_message("%s", text);
        return WS_VERDICT_REFUTED;
    }
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    if (v->kind == WS_VERDICT_REFUTED) {
        g_autofree char *text = ws_findings_print(findings, NULL);
        g_test_message("%s", text);
    }
    return v->kind;
}

guint64 last_group(const WsDesign *design)
{
    const WsNode *root = ws_design_root(design);
    return ws_node_child(root, WS_F_groups, ws_node_n_children(root, WS_F_groups) - 1)->identity;
}
