/* Findings that the design silences with a written reason. */
#include "base/phrase.h"
#include "check/check.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"

#include <string.h>

static gboolean same_place(const WsDesign *design, const char *a, const char *b)
{
    if (g_strcmp0(a, b) == 0)
        return TRUE;
    const WsNode *x = a && *a ? ws_design_find(design, a) : NULL;
    const WsNode *y = b && *b ? ws_design_find(design, b) : NULL;
    return x && x == y;
}

/* Elaboration has refused the design: the check has not run, and nobody knows what it would say. */
static gboolean was_checked(const WsFindings *findings)
{
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->severity == WS_SEVERITY_ERROR && ws_rule(f->rule)->klass < WS_CLASS_P)
            return FALSE;
    }
    return TRUE;
}

void ws_check_suppress(const WsDesign *design, WsFindings *findings)
{
    const WsNode *root = ws_design_root(design);
    const gboolean checked = was_checked(findings);
    const guint n = findings->list->len;
    for (guint s = 0; s < ws_node_n_children(root, WS_F_suppress); s++) {
        const WsNode *node = ws_node_child(root, WS_F_suppress, s);
        const char *rule = ws_node_text(node, WS_F_rule), *at = ws_node_text(node, WS_F_at),
                   *reason = ws_node_text(node, WS_F_reason);
        const WsRuleId id = ws_rule_find(rule ? rule : "");
        g_autofree char *path = ws_design_path(design, node);
        const char *why = id == WS_RULE_COUNT ? WS_WORD("there is no such rule")
                          : !reason || reason[strspn(reason, " \t\n")] == 0
                              ? WS_WORD("no reason is written")
                              : NULL;
        gboolean used = FALSE, error = FALSE;
        for (guint i = 0; i < n && !why; i++) {
            WsFinding *f = findings->list->pdata[i];
            if (f->rule != id || !same_place(design, f->at, at))
                continue;
            error |= f->severity == WS_SEVERITY_ERROR;
            if (f->severity == WS_SEVERITY_ERROR)
                continue;
            g_free(f->silenced);
            f->silenced = g_strdup(reason);
            used = TRUE;
        }
        if (used || (!why && !error && !checked))
            continue;
        WsFinding *hint =
            ws_findings_add(findings, WS_RULE_N_SUPPRESS, path, "%s at %s is not silenced: %s",
                            rule ? rule : "", at ? at : "",
                            why     ? why
                            : error ? WS_WORD("errors cannot be")
                                    : WS_WORD("nothing is found there"));
        hint->line = node->line, hint->column = node->column;
    }
}
