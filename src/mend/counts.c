/* Quick-fixes of counts, bytes and steps that are there too often or not at all. */
#include "base/phrase.h"
#include "mend/fixer.h"
#include "model/finding.h"

enum { MOST = 8 /* proposals of one kind */, DATA = 50, ON_PURPOSE = 20 };

/* Barriers of the design, the finding's first. */
static GPtrArray *barriers(const WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    GPtrArray *list = g_ptr_array_new();
    if (F->object && F->object->kind == WS_NODE_BARRIER)
        g_ptr_array_add(list, (gpointer)F->object);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_barriers); i++) {
        const WsNode *b = ws_node_child(root, WS_F_barriers, i);
        if (b != F->object)
            g_ptr_array_add(list, (gpointer)b);
    }
    return list;
}

void ws_fix_derive_count(WsFixer *F)
{
    static const WsFieldId field[] = { WS_F_arrivals, WS_F_threads };
    g_autoptr(GPtrArray) list = barriers(F);
    const gboolean only = F->finding->rule == WS_RULE_L_OVERRIDE;
    for (guint i = 0; i < list->len && !(only && i > 0); i++)
        for (guint k = 0; k < G_N_ELEMENTS(field); k++) {
            const WsNode *b = list->pdata[i];
            if (!ws_node_has(b, field[k]))
                continue;
            WsFix *fix = ws_fixer_add(F, "Derive %s of %s from the steps",
                                      k ? WS_WORD("the threads") : WS_WORD("the arrival count"),
                                      ws_node_name(b));
            ws_fix_set(fix, b, field[k], NULL);
        }
}

void ws_fix_derive_id(WsFixer *F)
{
    g_autoptr(GPtrArray) list = barriers(F);
    for (guint i = 0; i < list->len; i++) {
        const WsNode *b = list->pdata[i];
        if (!ws_node_has(b, WS_F_hw_id))
            continue;
        WsFix *fix = ws_fixer_add(F, "Let the hardware id of %s be chosen", ws_node_name(b));
        ws_fix_set(fix, b, WS_F_hw_id, NULL);
    }
}

/* Steps of a kind that name a barrier, in document order. */
static GArray *steps_on(const WsFixer *F, WsNodeKind kind, const char *barrier)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(gint));
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsNode *step = ws_spot(F, i)->node;
        if (step->kind == kind && g_strcmp0(ws_step_barrier(step), barrier) == 0)
            g_array_append_val(list, i);
    }
    return list;
}

void ws_fix_derive_bytes(WsFixer *F)
{
    g_autoptr(GPtrArray) list = barriers(F);
    for (guint i = 0; i < list->len; i++) {
        const WsNode *b = list->pdata[i];
        const char *name = ws_node_name(b);
        g_autoptr(GArray) expects = steps_on(F, WS_STEP_EXPECT, name);
        if (expects->len == 0)
            continue;
        for (guint with = 0; with < (ws_node_has(b, WS_F_arrivals) ? 2 : 1); with++) {
            WsFix *fix = ws_fixer_add(F, "Derive the expected bytes of %s from its loads%s", name,
                                      with ? WS_WORD(", and its arrival count") : "");
            for (guint k = expects->len; k-- > 0;)
                ws_fix_remove(F, fix, g_array_index(expects, gint, k));
            if (with)
                ws_fix_set(fix, b, WS_F_arrivals, NULL);
        }
        const gint64 landed = F->finding->fact[WS_FACT_LANDED];
        const WsNode *first = ws_spot(F, g_array_index(expects, gint, 0))->node;
        if (b == F->object && expects->len == 1 && landed > 0 &&
            ws_node_int(first, WS_F_count, 1) == 1) {
            WsFix *set = ws_fixer_add(F, "Expect the %" G_GINT64_FORMAT " bytes that land on %s",
                                      landed, name);
            ws_fix_set(set, first, WS_F_bytes, ws_json_int(landed));
        }
    }
}

void ws_fix_one_arrival(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsNode *step = ws_spot(F, i)->node;
        if ((step->kind != WS_STEP_ARRIVE && step->kind != WS_STEP_EXPECT) ||
            !ws_node_has(step, WS_F_count))
            continue;
        g_autofree char *name = ws_step_name(step);
        WsFix *fix = ws_fixer_add(F, "Arrive once in %s", name);
        if (ws_node_int(step, WS_F_count, 1) == 0) /* somebody else arrives for it */
            fix->cost += ws_in_list(F, i, WS_STEP_ARRIVE, ws_step_barrier(step)) ? ON_PURPOSE : 0;
        ws_fix_set(fix, step, WS_F_count, NULL);
    }
}

void ws_fix_unmute(WsFixer *F)
{
    guint n = 0;
    for (gint i = 0; i < (gint)F->spot->len && n < MOST; i++) {
        const WsNode *step = ws_spot(F, i)->node;
        if (!ws_node_bool(step, WS_F_muted, FALSE))
            continue;
        g_autofree char *name = ws_step_name(step);
        WsFix *fix = ws_fixer_add(F, "Unmute %s", name);
        fix->safe = ws_step_orders(step->kind) || step->kind == WS_STEP_TAKE;
        ws_fix_set(fix, step, WS_F_muted, NULL);
        n++;
    }
}

/* `but`: a field in which they may differ. */
static gboolean same_step(const WsNode *a, const WsNode *b, WsFieldId but)
{
    if (a->kind != b->kind)
        return FALSE;
    guint n;
    const WsFieldRow *field = ws_node_rows(a->kind, &n);
    for (guint i = 0; i < n; i++) {
        if (field[i].kind == WS_FIELD_STEPS || field[i].field == WS_F_id ||
            field[i].field == WS_F_note || field[i].field == WS_F_source || field[i].field == but)
            continue;
        g_autofree char *x = ws_field_text(a, field[i].field);
        g_autofree char *y = ws_field_text(b, field[i].field);
        if (g_strcmp0(x, y) != 0)
            return FALSE;
    }
    return a->kind != WS_STEP_FOR && a->kind != WS_STEP_IF;
}

void ws_fix_remove_twin(WsFixer *F)
{
    guint n = 0;
    for (gint i = 0; i < (gint)F->spot->len && n < MOST; i++) {
        const gint next = ws_spot_next(F, i, 1);
        const WsNode *step = ws_spot(F, i)->node;
        if (next < 0)
            continue;
        const WsNode *twin = ws_spot(F, next)->node;
        if (step->kind == WS_STEP_ARRIVE && same_step(step, twin, WS_F_when) &&
            ws_node_has(step, WS_F_when) != ws_node_has(twin, WS_F_when)) {
            const gboolean first =
                ws_node_has(step, WS_F_when); /* it comes once more on some ways */
            g_autofree char *more = ws_step_name(step),
                            *when = ws_field_text(first ? step : twin, WS_F_when);
            WsFix *once = ws_fixer_add(F, "Remove the second %s, when %s", more, when);
            once->safe = FALSE;
            ws_fix_remove(F, once, first ? i : next);
        }
        if (!same_step(step, twin, WS_F_note))
            continue;
        g_autofree char *name = ws_step_name(step);
        WsFix *fix = ws_fixer_add(F, "Remove the second of two equal %s", name);
        fix->safe = ws_step_orders(step->kind);
        fix->cost += fix->safe ? 0 : DATA;
        ws_fix_remove(F, fix, next);
        n++;
    }
}

void ws_fix_drop_step(WsFixer *F)
{
    const gint spot[] = { F->at, F->other };
    for (guint i = 0; i < G_N_ELEMENTS(spot); i++) {
        if (spot[i] < 0 || !ws_step_orders(ws_spot(F, spot[i])->node->kind))
            continue;
        g_autofree char *name = ws_step_name(ws_spot(F, spot[i])->node);
        WsFix *fix = ws_fixer_add(F, "Remove %s: the order that it draws goes", name);
        gint whole = spot[i]; /* with the choices that hold nothing else */
        for (gint up = ws_spot(F, whole)->up;
             ws_step_is(F, up, WS_STEP_IF) && ws_spot(F, whole)->field == WS_F_then &&
             ws_node_n_children(ws_spot(F, up)->node, WS_F_then) == 1 &&
             ws_node_n_children(ws_spot(F, up)->node, WS_F_else) == 0;
             up = ws_spot(F, whole)->up)
            whole = up;
        ws_fix_remove(F, fix, whole);
    }
}
