/* Sums of products, told apart round by round: a walk over the steps of a group in which a value is
 * the number of products it holds. */
#include "../check/words.h"
#include "kept.h"
#include "model/design.h"

#include <string.h>

enum { MOST_ROUNDS = 5, MOST_TILES = 2 };

typedef struct {
    const WsDesign *before;
    GHashTable *name;  /* of constants, sizes, rounds: gint64* */
    GHashTable *holds; /* value: products since somebody read it or made it anew */
    char *wrong;
} Walk;

static WsLookup look(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    (void)error;
    const gint64 *known =
        leaf->op == WS_EXPR_NAME ? g_hash_table_lookup(((Walk *)data)->name, leaf->name) : NULL;
    *value = known ? *known : 0;
    return known ? WS_LOOKUP_KNOWN : WS_LOOKUP_UNKNOWN;
}

/* What nobody knows here is `otherwise`. */
static gint64 number(Walk *w, const WsNode *node, WsFieldId field, gint64 otherwise)
{
    const WsExprEnv env = { .integer = look, .data = w };
    const WsValue *v = ws_node_get(node, field);
    gint64 n = otherwise;
    if (v->kind == WS_VALUE_BOOL)
        return v->b;
    if (v->kind == WS_VALUE_INT)
        return v->i;
    return v->kind == WS_VALUE_EXPR && ws_expr_eval(v->expr, &env, &n, NULL) ? n : otherwise;
}

static void set_name(Walk *w, const char *name, gint64 n)
{
    g_hash_table_replace(w->name, g_strdup(name), g_memdup2(&n, sizeof n));
}

static guint products(Walk *w, const char *value)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(w->holds, value));
}

static void multiply(Walk *w, const WsNode *step)
{
    const WsNode *was = ws_design_by_identity(w->before, step->identity);
    const char *value = ws_node_refv(step, WS_F_keyword)->name;
    const gboolean begins = number(w, step, WS_F_first, 0) != 0,
                   began = was && number(w, was, WS_F_first, 0) != 0;
    if (was && begins && !began && products(w, value) > 0 && !w->wrong)
        w->wrong = g_strdup_printf("a sum of %u products in %s is lost: it begins anew",
                                   products(w, value), value);
    if (was && !begins && began && !w->wrong && products(w, value) > 0)
        w->wrong =
            g_strdup_printf("%s begins no more, and holds %u products", value, products(w, value));
    g_hash_table_insert(w->holds, g_strdup(value),
                        GUINT_TO_POINTER(begins ? 1 : products(w, value) + 1));
}

/* A step that names a value and does not make it has read its sum: what comes then is another. */
static void read_sums(Walk *w, const WsNode *step)
{
    g_autofree char *text = ws_node_print(step, 0);
    GHashTableIter iter;
    gpointer value, n;
    const WsValue *made = step->kind == WS_STEP_COMPUTE ? ws_node_get(step, WS_F_keyword) : NULL;
    g_hash_table_iter_init(&iter, w->holds);
    while (g_hash_table_iter_next(&iter, &value, &n)) {
        gboolean makes =
            step->kind == WS_STEP_MMA && strcmp(ws_node_refv(step, WS_F_keyword)->name, value) == 0;
        for (guint i = 0; made && made->kind == WS_VALUE_LIST && i < made->n; i++)
            makes |= strcmp(made->item[i].statement->name, value) == 0;
        if (!makes && has_word(text, value))
            g_hash_table_iter_replace(&iter, GUINT_TO_POINTER(0));
    }
}

static void walk(Walk *w, const WsNode *owner, WsFieldId list)
{
    for (guint i = 0; i < ws_node_n_children(owner, list); i++) {
        const WsNode *step = ws_node_child(owner, list, i);
        if (ws_node_bool(step, WS_F_muted, FALSE) || number(w, step, WS_F_when, 1) == 0)
            continue;
        if (step->kind == WS_STEP_IF) {
            walk(w, step, number(w, step, WS_F_keyword, 1) ? WS_F_then : WS_F_else);
        } else if (step->kind == WS_STEP_FOR) {
            const gboolean tiles = !ws_node_has(step, WS_F_count);
            const gint64 n = tiles ? MOST_TILES : number(w, step, WS_F_count, MOST_ROUNDS),
                         from = number(w, step, WS_F_from, 0), by = number(w, step, WS_F_step, 1);
            for (gint64 r = 0; r < MIN(n, MOST_ROUNDS); r++) {
                set_name(w, ws_node_name(step), from + r * by);
                walk(w, step, WS_F_do);
            }
        } else if (step->kind == WS_STEP_MMA) {
            read_sums(w, step);
            multiply(w, step);
        } else
            read_sums(w, step);
    }
}

static void set_names(Walk *w, const WsNode *root, WsFieldId field)
{
    const WsValue *map = ws_node_get(root, field);
    for (guint i = 0; map->kind == WS_VALUE_MAP && i < map->n; i++)
        if (map->item[i].kind == WS_VALUE_INT)
            set_name(w, map->key[i], map->item[i].i);
        else if (map->item[i].kind == WS_VALUE_EXPR) {
            gint64 n;
            const WsExprEnv env = { .integer = look, .data = w };
            if (ws_expr_eval(map->item[i].expr, &env, &n, NULL))
                set_name(w, map->key[i], n);
        }
}

char *sum_lost(const WsDesign *before, const WsDesign *after)
{
    const WsNode *root = ws_design_root(after);
    char *wrong = NULL;
    for (guint i = 0; !wrong && i < ws_node_n_children(root, WS_F_groups); i++) {
        const WsNode *group = ws_node_child(root, WS_F_groups, i);
        for (gint64 k = 0; !wrong && k < MIN(ws_node_int(group, WS_F_replicate, 1), 2); k++) {
            g_autoptr(GHashTable) name =
                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
            g_autoptr(GHashTable) holds =
                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
            Walk w = { before, name, holds, NULL };
            set_names(&w, root, WS_F_constants);
            set_names(&w, root, WS_F_sizes);
            set_name(&w, "replica", k);
            set_name(&w, "cta", 0);
            walk(&w, group, WS_F_body);
            wrong = w.wrong;
        }
    }
    return wrong;
}
