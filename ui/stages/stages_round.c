#include "ui/stages/stages_round.h"

#include "edit/edit.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"

#include <glib/gi18n.h>
#include <string.h>

char *ws_stages_derived(const WsHintLoop *loop, guint cell)
{
    const WsHintCell *c = &loop->cell[cell];
    GString *s = g_string_new(NULL);
    if (c->fills)
        g_string_append_printf(
            s, ngettext("ring of %d slot: %s", "ring of %d slots: %s", (gulong)loop->stages),
            (int)loop->stages, c->fills);
    if (c->ahead && s->len)
        g_string_append(s, "; ");
    if (c->ahead)
        g_string_append_printf(s, ngettext("%d round ahead", "%d rounds ahead", (gulong)c->ahead),
                               (int)c->ahead);
    return g_string_free(s, FALSE);
}

/* The loop as it runs in an executor; NULL: not there. */
static const WsNode *loop_in(const WsNode *node, const char *name)
{
    if (node->kind == WS_STEP_FOR && !g_strcmp0(ws_node_name(node), name))
        return node;
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++) {
            const WsNode *found = loop_in(ws_node_child(node, rows[i].field, c), name);
            if (found)
                return found;
        }
    return NULL;
}

/* Steps of a round, those that are derived in italics. */
static char *round_of(const WsNode *loop, gboolean markup)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < ws_node_n_children(loop, WS_F_do); i++) {
        const WsNode *step = ws_node_child(loop, WS_F_do, i);
        const char *id = ws_node_text(step, WS_F_id);
        const gboolean derived = id && strchr(id, '#');
        g_autofree char *label = ws_edit_label(step);
        g_autofree char *safe = markup ? g_markup_escape_text(label, -1) : g_strdup(label);
        const gint64 ahead = ws_node_int(step, WS_F_ahead, 0);
        g_autofree char *by = ahead ? g_strdup_printf(" +%d", (int)ahead) : g_strdup("");
        g_string_append_printf(s, "%s%s%s%s%s", i ? " \xe2\x86\x92 " : "",
                               markup && derived ? "<i>" : "", safe, by,
                               markup && derived ? "</i>" : "");
    }
    return g_string_free(s, FALSE);
}

/* Groups of an executor that run so many rounds ahead, or more. */
static char *ahead_of(const WsHintLoop *loop, const WsNode *executor)
{
    g_autoptr(GString) s = g_string_new(NULL);
    gint64 most = 0;
    for (guint i = 0; i < loop->n; i++) {
        const WsHintCell *c = &loop->cell[i];
        if (c->executor != executor || !c->ahead)
            continue;
        g_string_append_printf(s, "%s%s", s->len ? ", " : "", ws_node_name(c->node));
        most = MAX(most, c->ahead);
    }
    if (!most)
        return NULL;
    return g_strdup_printf(ngettext("Before the first round, and not in the last one: %s.",
                                    "Before the first round, and not in the last ones: %s.",
                                    (gulong)most),
                           s->str);
}

static void one(GString *out, const WsHintLoop *loop, const WsNode *executor, const WsNode *made,
                gboolean markup)
{
    const WsNode *found = loop_in(made, ws_node_name(loop->loop));
    if (!found)
        return;
    g_autofree char *steps = round_of(found, markup), *ahead = ahead_of(loop, executor);
    g_autofree char *words = ahead && markup ? g_markup_escape_text(ahead, -1) : g_strdup(ahead);
    g_autofree char *name = markup ? g_markup_printf_escaped("<b>%s</b>", ws_node_name(executor))
                                   : g_strdup(ws_node_name(executor));
    g_string_append_printf(out, "%s%s: %s.%s%s", out->len ? "\n" : "", name, steps,
                           words ? " " : "", words ? words : "");
}

char *ws_stages_rounds(const WsDesign *design, const WsHintLoop *loop, gboolean markup)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) made = ws_hint_explicit(design, TRUE, findings);
    if (!made)
        return NULL;
    const WsNode *root = ws_design_root(design), *to = ws_design_root(made);
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++) {
        const WsNode *executor = ws_node_child(root, WS_F_groups, i);
        gboolean runs = FALSE;
        for (guint k = 0; k < loop->n; k++)
            runs |= loop->cell[k].executor == executor;
        if (runs)
            one(out, loop, executor, ws_node_child(to, WS_F_groups, i), markup);
    }
    return g_string_free(out, FALSE);
}
