/* Quick-fixes of what is drawn too small or in the wrong place: a ring without room for what is in
 * flight, a part that reaches one CTA of several, a buffer that lies over the wrong one. They
 * change bytes and transfers: they are offered. */
#include "expr/expr.h"
#include "mend/fixer.h"

/* A constant that is a depth, one more of it. */
void ws_fix_one_more_stage(WsFixer *F)
{
    static const struct {
        WsFieldId list, field;
    } of[] = { { WS_F_buffers, WS_F_stages },
               { WS_F_barriers, WS_F_slots },
               { WS_F_pipes, WS_F_capacity } };
    const WsNode *root = ws_design_root(F->design);
    const WsValue *constants = ws_node_get(root, WS_F_constants);
    for (guint c = 0; constants->kind == WS_VALUE_MAP && c < constants->n; c++) {
        gint64 now = constants->item[c].i;
        if (constants->item[c].kind == WS_VALUE_EXPR
                ? !ws_expr_is_int(constants->item[c].expr, &now)
                : constants->item[c].kind != WS_VALUE_INT)
            continue;
        gboolean depth = FALSE;
        for (guint i = 0; i < G_N_ELEMENTS(of); i++)
            for (guint k = 0; k < ws_node_n_children(root, of[i].list); k++) {
                const WsExpr *e = ws_node_expr(ws_node_child(root, of[i].list, k), of[i].field);
                g_autofree char *text = e ? ws_expr_print(e) : NULL;
                depth |= g_strcmp0(text, constants->key[c]) == 0;
            }
        g_autoptr(WsDesign) deeper =
            depth ? ws_design_with_constant(F->design, constants->key[c], now + 1) : NULL;
        if (!deeper)
            continue;
        WsFix *fix = ws_fixer_add(F, "Set %s to %" G_GINT64_FORMAT ": room for one more",
                                  constants->key[c], now + 1);
        ws_fix_set(fix, root, WS_F_constants,
                   ws_json_of_field(ws_design_root(deeper), WS_F_constants));
    }
}

/* Each CTA loads the part that its rank names, and all of them read the whole. */
void ws_fix_to_all(WsFixer *F)
{
    if (ws_node_int(ws_design_root(F->design), WS_F_cluster, 1) < 2)
        return;
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsNode *step = ws_spot(F, i)->node;
        g_autofree char *into = step->kind == WS_STEP_LOAD ? ws_field_text(step, WS_F_into) : NULL;
        const char *to = ws_node_text(step, WS_F_multicast);
        if (!into || !strstr(into, "cta") || g_strcmp0(to, "all") == 0)
            continue;
        g_autofree char *name = ws_step_name(step);
        WsFix *fix = ws_fixer_add(F, "Let %s reach all CTAs of the cluster", name);
        ws_fix_set(fix, step, WS_F_multicast, ws_json_text("all"));
    }
}

/* All CTAs send to all, and all send the same part: each sends the one that its rank names. */
void ws_fix_own_part(WsFixer *F)
{
    static const char *const of[] = { ".rows(", ".cols(" };
    if (ws_node_int(ws_design_root(F->design), WS_F_cluster, 1) < 2)
        return;
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsNode *step = ws_spot(F, i)->node;
        const WsRef *into = step->kind == WS_STEP_LOAD && ws_node_has(step, WS_F_multicast)
                                ? ws_node_refv(step, WS_F_into)
                                : NULL;
        for (guint v = 0; into && v < into->n_views; v++) {
            gint64 start;
            if (into->view[v].kind == WS_VIEW_T || !ws_expr_is_int(into->view[v].start, &start))
                continue;
            g_autofree char *text = ws_ref_print(into), *count = ws_expr_print(into->view[v].count),
                            *from = ws_expr_print(into->view[v].start);
            const char *view = of[into->view[v].kind == WS_VIEW_COLS];
            g_autofree char *old = g_strdup_printf("%s%s, ", view, from),
                            *now = g_strdup_printf("%scta*(%s), ", view, count);
            g_auto(GStrv) parts = g_strsplit(text, old, 2);
            g_autofree char *named = g_strjoinv(now, parts), *name = ws_step_name(step);
            if (!parts[1])
                continue;
            WsFix *fix = ws_fixer_add(F, "Let %s of each CTA fill a part of its own", name);
            ws_fix_set(fix, step, WS_F_into, ws_json_text(named));
        }
    }
}

/* Two transfers tell of themselves by elements of one barrier, and fill the same element of a
 * buffer: one of them means another one. */
static void fills_own(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsNode *step = ws_spot(F, i)->node;
        const WsRef *into = ws_node_refv(step, WS_F_into);
        const char *barrier = ws_node_has(step, WS_F_signal) ? ws_step_barrier(step) : NULL;
        g_autoptr(GHashTable) tried = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (gint k = 0; barrier && into && into->element && k < (gint)F->spot->len; k++) {
            const WsNode *like = ws_spot(F, k)->node;
            const WsRef *other = ws_node_refv(like, WS_F_into);
            if (k == i || !other || !other->element || strcmp(other->name, into->name) != 0 ||
                !ws_node_has(like, WS_F_signal) || g_strcmp0(ws_step_barrier(like), barrier) != 0)
                continue;
            g_autofree char *text = ws_ref_print(into), *own = ws_expr_print(into->element),
                            *its = ws_expr_print(other->element);
            g_autofree char *old = g_strdup_printf("%s[%s]", into->name, own),
                            *now = g_strdup_printf("%s[%s]", into->name, its);
            if (strcmp(own, its) == 0 || !g_str_has_prefix(text, old) ||
                !g_hash_table_add(tried, g_strdup(its)))
                continue;
            g_autofree char *named = g_strconcat(now, text + strlen(old), NULL),
                            *name = ws_step_name(step), *as = ws_step_name(like);
            WsFix *fix = ws_fixer_add(F, "Let %s fill %s, as %s does", name, now, as);
            ws_fix_set(fix, step, WS_F_into, ws_json_text(named));
        }
    }
}

/* What a store takes is another element of the buffer than what was written for it. */
void ws_fix_same_element(WsFixer *F)
{
    fills_own(F);
    for (gint i = 0; i < (gint)F->spot->len; i++)
        for (gint k = ws_spot_next(F, i, 1); ws_step_is(F, i, WS_STEP_WRITE) && k >= 0;
             k = ws_spot_next(F, k, 1)) {
            const WsNode *write = ws_spot(F, i)->node, *store = ws_spot(F, k)->node;
            const char *buffer = ws_step_ref(write, WS_F_to);
            g_autofree char *to = ws_field_text(write, WS_F_to),
                            *from = store->kind == WS_STEP_STORE ? ws_field_text(store, WS_F_from)
                                                                 : NULL;
            if (!from || g_strcmp0(buffer, ws_step_ref(store, WS_F_from)) != 0 ||
                strcmp(to, from) == 0)
                continue;
            WsFix *fix = ws_fixer_add(F, "Write to %s, which is stored, instead of %s", from, to);
            ws_fix_set(fix, write, WS_F_to, ws_json_text(from));
            fix = ws_fixer_add(F, "Store %s, which has been written, instead of %s", to, from);
            ws_fix_set(fix, store, WS_F_from, ws_json_text(to));
            break;
        }
}

/* A buffer over another one than that which is free by then. */
void ws_fix_over_another(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_buffers); i++) {
        const WsNode *upper = ws_node_child(root, WS_F_buffers, i);
        const char *over = ws_step_ref(upper, WS_F_over);
        for (guint k = 0; over && k < ws_node_n_children(root, WS_F_buffers); k++) {
            const WsNode *lower = ws_node_child(root, WS_F_buffers, k);
            const char *name = ws_node_name(lower);
            if (lower == upper || ws_node_has(lower, WS_F_over) || strcmp(name, over) == 0)
                continue;
            WsFix *fix = ws_fixer_add(F, "Let %s lie over %s instead of %s", ws_node_name(upper),
                                      name, over);
            ws_fix_set(fix, upper, WS_F_over, ws_json_text(name));
        }
    }
}
