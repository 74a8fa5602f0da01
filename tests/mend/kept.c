#include "kept.h"
#include "model/design.h"

#include <string.h>

static gboolean orders(WsNodeKind kind)
{
    static const WsNodeKind kinds[] = { WS_STEP_WAIT,       WS_STEP_ARRIVE,    WS_STEP_SYNC,
                                        WS_STEP_CLUSTER,    WS_STEP_FENCE,     WS_STEP_MMA_WAIT,
                                        WS_STEP_STORE_WAIT, WS_STEP_LOAD_WAIT, WS_STEP_ACQUIRE,
                                        WS_STEP_COMMIT,     WS_STEP_RELEASE };
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (kinds[i] == kind)
            return TRUE;
    return FALSE;
}

/* An arrival that waits now as well: at its place stands a sync on the same barrier. */
static gboolean waits_there(const WsNode *owner, WsFieldId list, guint i, const WsDesign *after)
{
    const WsNode *now = ws_design_by_identity(after, owner->identity);
    for (guint k = i; now && k < MIN(i + 2, ws_node_n_children(now, list)); k++) {
        const WsNode *step = ws_node_child(now, list, k);
        const WsRef *x = ws_node_refv(step, WS_F_keyword),
                    *y = ws_node_refv(ws_node_child(owner, list, i), WS_F_keyword);
        if (step->kind == WS_STEP_SYNC && x && y && strcmp(x->name, y->name) == 0)
            return TRUE;
    }
    return FALSE;
}

static void look_at(const WsNode *owner, const WsDesign *after, Gone *g)
{
    guint n;
    const WsFieldRow *row = ws_node_rows(owner->kind, &n);
    for (guint f = 0; f < n; f++) {
        if (row[f].kind != WS_FIELD_STEPS)
            continue;
        const guint steps = ws_node_n_children(owner, row[f].field);
        for (guint i = 0; i < steps; i++) {
            const WsNode *step = ws_node_child(owner, row[f].field, i);
            look_at(step, after, g);
            const WsNode *now = ws_design_by_identity(after, step->identity);
            if (!orders(step->kind) || (now && (ws_node_bool(step, WS_F_muted, FALSE) ||
                                                !ws_node_bool(now, WS_F_muted, FALSE))))
                continue;
            g_autofree char *own = ws_node_print(step, 0);
            gboolean twin =
                step->kind == WS_STEP_ARRIVE && waits_there(owner, row[f].field, i, after);
            for (gint by = -1; by <= 1; by += 2) {
                const WsNode *beside =
                    (gint)i + by >= 0 && i + (guint)by < steps
                        ? ws_node_child(owner, row[f].field, (guint)((gint)i + by))
                        : NULL;
                g_autofree char *other = beside ? ws_node_print(beside, 0) : NULL;
                twin |= beside && beside->kind == step->kind && strcmp(own, other) == 0 &&
                        ws_design_by_identity(after, beside->identity);
            }
            g->gone++;
            g->twins += twin;
        }
    }
}

Gone order_gone(const WsDesign *before, const WsDesign *after)
{
    Gone g = { 0 };
    const WsNode *root = ws_design_root(before);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++)
        look_at(ws_node_child(root, WS_F_groups, i), after, &g);
    return g;
}

/* --- the work of a design, a line for each step ------------------------------------------------
 */
/* Which slot is meant, who is told, and how groups are cut, is order. */
static gboolean is_order(WsFieldId field)
{
    static const WsFieldId fields[] = { WS_F_use,  WS_F_slot, WS_F_phase, WS_F_open,  WS_F_signal,
                                        WS_F_note, WS_F_id,   WS_F_split, WS_F_unroll };
    for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
        if (fields[i] == field)
            return TRUE;
    return FALSE;
}

static void tell(const WsNode *owner, const char *under, GPtrArray *lines)
{
    guint n;
    const WsFieldRow *row = ws_node_rows(owner->kind, &n);
    for (guint f = 0; f < n; f++) {
        if (row[f].kind != WS_FIELD_STEPS)
            continue;
        for (guint i = 0; i < ws_node_n_children(owner, row[f].field); i++) {
            const WsNode *step = ws_node_child(owner, row[f].field, i);
            if (orders(step->kind) || step->kind == WS_STEP_EXPECT ||
                step->kind == WS_STEP_ADVANCE || ws_node_bool(step, WS_F_muted, FALSE))
                continue;
            GString *s = g_string_new(under);
            g_string_append_printf(s, " %s:%s", ws_node_key(owner->kind, row[f].field),
                                   ws_node_kind_keyword(step->kind));
            guint fields;
            const WsFieldRow *own = ws_node_rows(step->kind, &fields);
            gboolean holds = FALSE;
            for (guint k = 0; k < fields; k++) {
                holds |= own[k].kind == WS_FIELD_STEPS;
                if (own[k].kind == WS_FIELD_STEPS || is_order(own[k].field) ||
                    !ws_node_has(step, own[k].field))
                    continue;
                g_autofree char *json = ws_value_print(&own[k], ws_node_get(step, own[k].field));
                g_string_append_printf(s, " %s", json);
            }
            if (holds)
                tell(step, s->str, lines);
            else
                g_ptr_array_add(lines, g_strdup(s->str));
            g_string_free(s, TRUE);
        }
    }
}

static GPtrArray *work_of(const WsDesign *design)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    const WsNode *root = ws_design_root(design);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++) {
        const WsNode *group = ws_node_child(root, WS_F_groups, i);
        const WsFieldRow *row = ws_node_row(WS_NODE_GROUP, WS_F_replicate);
        g_autofree char *n = ws_node_has(group, WS_F_replicate)
                                 ? ws_value_print(row, ws_node_get(group, WS_F_replicate))
                                 : g_strdup("1"),
                        *name = g_strdup_printf("%s x %s", ws_node_name(group), n);
        tell(group, name, lines);
    }
    return lines;
}

char *work_differs(const WsDesign *before, const WsDesign *after)
{
    g_autoptr(GPtrArray) x = work_of(before), y = work_of(after);
    for (guint i = 0; i < MAX(x->len, y->len); i++) {
        const char *a = i < x->len ? x->pdata[i] : "nothing",
                   *b = i < y->len ? y->pdata[i] : "nothing";
        if (strcmp(a, b) != 0)
            return g_strdup_printf("%s\nbecomes\n%s", a, b);
    }
    return NULL;
}
