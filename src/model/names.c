/* Names: what is an identifier, what is reserved, and what the document gives away twice. */
#include "base/phrase.h"
#include "base/text.h"
#include "model/internal.h"

#include <string.h>

gboolean ws_name_is_identifier(const char *name)
{
    if (!g_ascii_isalpha(*name) && *name != '_')
        return FALSE;
    gsize n = 1;
    while (g_ascii_isalnum(name[n]) || name[n] == '_')
        n++;
    return name[n] == '\0' && n <= 63;
}

gboolean ws_name_is_reserved(const char *name)
{
    static const char *const words[] = {
        "replica", "replicas", "cta",  "ctas",  "row", "col",   "tiles", "group", "all",
        "thread",  "warp",     "true", "false", "inf", "log2e", "ln2",   "any",
    };
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (strcmp(words[i], name) == 0)
            return TRUE;
    /* Functions of the reference notation alone (sum) stay free. */
    const WsFunc func = ws_func_find(name);
    if (func != WS_FUNC_COUNT)
        return strpbrk(ws_func_where(func), "UA") != NULL;
    return ws_word_in(ws_node_row(WS_NODE_TENSOR, WS_F_dtype)->words, name);
}

typedef struct {
    WsReader *reader;
    GHashTable *names; /* name -> path of what has it, both owned */
    GHashTable *ids;   /* id -> path */
} Names;

/* The reader finds the place by the path. */
#define NOWHERE ((WsTextPlace){ 0, 0 })

static void give(Names *n, GHashTable *scope, WsRuleId rule, const char *name, WsTextPlace at)
{
    const char *other = g_hash_table_lookup(scope, name);
    if (other == NULL) {
        g_hash_table_insert(scope, g_strdup(name), g_strdup(n->reader->path->str));
        return;
    }
    WsFinding *f = ws_reader_report(n->reader, rule, at, "\"%s\" is already %s", name, other);
    if (f != NULL)
        ws_finding_set_remedy(f, "rename one of the two");
}

static WsTextPlace place_of(const WsNode *node)
{
    return (WsTextPlace){ node->line, node->column };
}

static void give_keys(Names *n, GHashTable *scope, WsRuleId rule, const WsNode *owner,
                      WsFieldId field)
{
    const WsValue *map = ws_node_get(owner, field);
    const gsize mark = ws_reader_enter(n->reader, ws_field_name(field));
    for (guint i = 0; map->kind == WS_VALUE_MAP && i < map->n; i++) {
        const gsize inner = ws_reader_enter(n->reader, map->key[i]);
        give(n, scope, rule, map->key[i], NOWHERE);
        ws_reader_leave(n->reader, inner);
    }
    ws_reader_leave(n->reader, mark);
}

static void give_children(Names *n, GHashTable *scope, const WsNode *owner, WsFieldId field)
{
    const gsize mark = ws_reader_enter(n->reader, ws_field_name(field));
    for (guint i = 0; i < ws_node_n_children(owner, field); i++) {
        const WsNode *child = ws_node_child(owner, field, i);
        const gsize inner = ws_reader_enter(n->reader, ws_node_name(child));
        give(n, scope, WS_RULE_N_DUPLICATE, ws_node_name(child), place_of(child));
        ws_reader_leave(n->reader, inner);
    }
    ws_reader_leave(n->reader, mark);
}

static void give_ids(Names *n, const WsNode *node)
{
    const char *id = ws_node_text(node, WS_F_id);
    if (id != NULL)
        give(n, n->ids, WS_RULE_N_DUPLICATE, id, place_of(node));
    guint n_rows;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n_rows);
    for (guint i = 0; i < n_rows; i++) {
        const guint n_children =
            node->value[i].kind == WS_VALUE_NONE ? 0 : ws_node_n_children(node, rows[i].field);
        if (n_children == 0)
            continue;
        const gsize mark = ws_reader_enter(n->reader, ws_node_key(node->kind, rows[i].field));
        for (guint c = 0; c < n_children; c++) {
            const WsNode *child = ws_node_child(node, rows[i].field, c);
            g_autofree char *segment = ws_node_segment(child, c);
            const gsize inner = n->reader->path->len;
            if (rows[i].kind != WS_FIELD_NODE)
                ws_reader_enter(n->reader, segment);
            give_ids(n, child);
            ws_reader_leave(n->reader, inner);
        }
        ws_reader_leave(n->reader, mark);
    }
}

/* Name -> 1 + position, keys borrowed from the map. */
static GHashTable *positions(const WsValue *map)
{
    GHashTable *table = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; map->kind == WS_VALUE_MAP && i < map->n; i++)
        g_hash_table_insert(table, map->key[i], GUINT_TO_POINTER(i + 1));
    return table;
}

typedef struct {
    GHashTable *constants;
    guint position; /* 1 + position of the constant that is looked at */
    const char *bad;
} Order;

static void see_name(const WsExpr *e, gpointer data)
{
    Order *o = data;
    if (e->op != WS_EXPR_NAME)
        return;
    if (GPOINTER_TO_UINT(g_hash_table_lookup(o->constants, e->name)) >= o->position)
        o->bad = e->name;
}

static void check_order(WsReader *r, const WsNode *root)
{
    const WsValue *constants = ws_node_get(root, WS_F_constants);
    g_autoptr(GHashTable) table = positions(constants);
    for (guint i = 0; constants->kind == WS_VALUE_MAP && i < constants->n; i++) {
        Order o = { table, i + 1, NULL };
        ws_expr_visit(constants->item[i].expr, see_name, &o);
        if (o.bad == NULL)
            continue;
        const gsize mark = ws_reader_enter(r, "constants");
        ws_reader_enter(r, constants->key[i]);
        WsFinding *f = ws_reader_report(
            r, WS_RULE_N_ORDER, NOWHERE, "\"%s\" uses %s, which is not an earlier constant",
            constants->key[i], strcmp(o.bad, constants->key[i]) == 0 ? WS_WORD("itself") : o.bad);
        if (f != NULL)
            ws_finding_set_remedy(f, "constants may use earlier constants only");
        ws_reader_leave(r, mark);
    }
}

static void report_unknown_size(WsReader *r, const WsValue *sizes, const char *name)
{
    const gsize mark = ws_reader_enter(r, "rehearse");
    ws_reader_enter(r, name);
    WsFinding *f = ws_reader_report(r, WS_RULE_N_UNKNOWN, NOWHERE,
                                    "\"%s\" is not a size of this design", name);
    const char *near = sizes->kind == WS_VALUE_MAP
                           ? ws_text_nearest(name, (const char *const *)sizes->key, sizes->n)
                           : NULL;
    if (f != NULL && near != NULL)
        ws_finding_set_remedy(f, "did you mean \"%s\"?", near);
    else if (f != NULL)
        ws_finding_set_remedy(f, "declare it in sizes");
    ws_reader_leave(r, mark);
}

static void check_rehearse(WsReader *r, const WsNode *root)
{
    const WsValue *sizes = ws_node_get(root, WS_F_sizes);
    const WsValue *over = ws_node_get(root, WS_F_rehearse);
    g_autoptr(GHashTable) table = positions(sizes);
    for (guint i = 0; over->kind == WS_VALUE_MAP && i < over->n && !ws_reader_full(r); i++)
        if (!g_hash_table_contains(table, over->key[i]))
            report_unknown_size(r, sizes, over->key[i]);
}

static GHashTable *new_scope(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

/* Groups have a name space of their own; values and counters of one group share one. */
static void check_groups(Names *n, const WsNode *root)
{
    g_autoptr(GHashTable) groups = new_scope();
    give_children(n, groups, root, WS_F_groups);
    const gsize mark = ws_reader_enter(n->reader, "groups");
    for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++) {
        const WsNode *group = ws_node_child(root, WS_F_groups, i);
        g_autoptr(GHashTable) inner = new_scope();
        const gsize at = ws_reader_enter(n->reader, ws_node_name(group));
        give_children(n, inner, group, WS_F_values);
        give_children(n, inner, group, WS_F_counters);
        ws_reader_leave(n->reader, at);
    }
    ws_reader_leave(n->reader, mark);
}

void ws_check_document(WsReader *r, const WsNode *root)
{
    static const WsFieldId maps[] = { WS_F_constants, WS_F_sizes, WS_F_scalars, WS_F_let,
                                      WS_F_devices };
    static const WsFieldId lists[] = { WS_F_tensors, WS_F_buffers, WS_F_barriers, WS_F_pipes,
                                       WS_F_flags };
    g_autoptr(GHashTable) names = new_scope();
    g_autoptr(GHashTable) ids = new_scope();
    Names n = { r, names, ids };
    for (guint i = 0; i < G_N_ELEMENTS(maps); i++)
        give_keys(&n, names, WS_RULE_N_DUPLICATE, root, maps[i]);
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
        give_children(&n, names, root, lists[i]);
    const WsNode *tiles = ws_node_child(root, WS_F_tiles, 0);
    const gsize mark = ws_reader_enter(r, "tiles");
    give_keys(&n, names, WS_RULE_N_SHADOW, tiles, WS_F_axes);
    give_keys(&n, names, WS_RULE_N_SHADOW, tiles, WS_F_let);
    ws_reader_leave(r, mark);
    check_groups(&n, root);
    give_ids(&n, root);
    check_order(r, root);
    check_rehearse(r, root);
}
