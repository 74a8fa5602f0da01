/* Quick-fix: phases that begin anew with every tile. A barrier goes on counting; so must its uses.
 */
#include "expr/expr.h"
#include "mend/fixer.h"

/* A loop with a count inside a loop over tiles. */
static gboolean is_loop_of_tile(const WsFixer *F, gint i)
{
    const WsNode *node = ws_spot(F, i)->node;
    if (node->kind != WS_STEP_FOR || !ws_node_has(node, WS_F_count) || !ws_node_name(node))
        return FALSE;
    for (gint up = ws_spot(F, i)->up; up >= 0; up = ws_spot(F, up)->up)
        if (g_strcmp0(ws_node_text(ws_spot(F, up)->node, WS_F_over), "tiles") == 0)
            return TRUE;
    return FALSE;
}

static WsExpr *to_total(const WsExpr *leaf, gpointer name, GError **error)
{
    g_autofree char *total = g_strdup_printf("%s.total", (const char *)name);
    if (leaf->op == WS_EXPR_NAME && strcmp(leaf->name, name) == 0)
        return ws_expr_parse(total, error);
    return NULL;
}

/* `use` inside the loop: its index becomes the total. Behind it: its number of rounds does. NULL:
 * nothing to change. Caller frees. */
static char *counted_on(const WsExpr *e, const char *name, const char *rounds, gboolean inside)
{
    g_autofree char *before = ws_expr_print(e), *after = NULL;
    if (inside) {
        g_autoptr(WsExpr) mapped = ws_expr_map(e, to_total, (gpointer)name, NULL);
        after = mapped ? ws_expr_print(mapped) : NULL;
    } else {
        g_autofree char *total = g_strconcat(name, ".total", NULL);
        g_auto(GStrv) parts = g_strsplit(before, rounds, -1);
        g_autofree char *text = g_strjoinv(total, parts);
        g_autoptr(WsExpr) changed = ws_expr_parse(text, NULL);
        after = changed ? ws_expr_print(changed) : NULL;
    }
    return after && strcmp(before, after) != 0 ? g_steal_pointer(&after) : NULL;
}

static void count_on(WsFixer *F, WsFix *fix, gint loop)
{
    const WsSpot *l = ws_spot(F, loop);
    const char *name = ws_node_name(l->node);
    const WsExpr *rounds = ws_node_expr(l->node, WS_F_count);
    g_autofree char *text = rounds ? ws_expr_print(rounds) : NULL;
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        const WsExpr *use = ws_node_expr(s->node, WS_F_use);
        const gboolean inside = ws_spot_inside(F, i, loop);
        if (s->group != l->group || !use || (!inside && (!text || i < loop)))
            continue;
        g_autofree char *changed = counted_on(use, name, text, inside);
        if (changed)
            ws_fix_set(fix, s->node, WS_F_use, ws_json_expr(changed));
    }
}

/* Loops of a name that one proposal changes: one that rewrites a whole program is no quick fix. */
#define MOST_LOOPS 64

static guint loops_named(const WsFixer *F, const char *name)
{
    guint n = 0;
    for (gint i = 0; i < (gint)F->spot->len; i++)
        n += ws_spot(F, i)->node->kind == WS_STEP_FOR &&
             g_strcmp0(ws_node_name(ws_spot(F, i)->node), name) == 0;
    return n;
}

void ws_fix_count_on(WsFixer *F)
{
    g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        if (!is_loop_of_tile(F, i))
            continue;
        const char *name = ws_node_name(ws_spot(F, i)->node);
        if (!g_hash_table_add(done, (gpointer)name) || loops_named(F, name) > MOST_LOOPS)
            continue;
        WsFix *fix =
            ws_fixer_add(F, "Count the rounds of %s on from tile to tile: %s.total", name, name);
        for (gint k = i; k < (gint)F->spot->len; k++)
            if (is_loop_of_tile(F, k) && strcmp(ws_node_name(ws_spot(F, k)->node), name) == 0)
                count_on(F, fix, k);
    }
}
