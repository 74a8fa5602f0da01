/* Nodes: immutable, reference-counted rows of values; an edit copies a node and shares the rest. */
#include "model/findings.h"
#include "model/internal.h"

#include <string.h>

WsNode *ws_node_new(WsNodeKind kind)
{
    static guint64 last_identity;
    WsNode *node = g_new0(WsNode, 1);
    guint n;
    ws_node_rows(kind, &n);
    node->refs = 1;
    node->kind = kind;
    node->identity = __atomic_add_fetch(&last_identity, 1, __ATOMIC_RELAXED);
    node->n_values = n;
    node->value = g_new0(WsValue, n);
    return node;
}

WsNode *ws_node_copy(const WsNode *node)
{
    WsNode *copy = g_new0(WsNode, 1);
    *copy = *node;
    copy->refs = 1;
    copy->sum = copy->below = 0;
    copy->value = g_new(WsValue, node->n_values);
    for (guint i = 0; i < node->n_values; i++)
        ws_value_copy(&copy->value[i], &node->value[i]);
    return copy;
}

WsNode *ws_node_ref(const WsNode *node)
{
    WsNode *n = (WsNode *)node;
    g_atomic_int_inc(&n->refs);
    return n;
}

void ws_node_unref(WsNode *node)
{
    if (node == NULL || !g_atomic_int_dec_and_test(&node->refs))
        return;
    for (guint i = 0; i < node->n_values; i++)
        ws_value_clear(&node->value[i]);
    g_free(node->value);
    g_free(node);
}

void ws_value_clear(WsValue *v)
{
    switch (v->kind) {
    case WS_VALUE_TEXT:
        g_free(v->text);
        break;
    case WS_VALUE_EXPR:
        ws_expr_unref(v->expr);
        break;
    case WS_VALUE_REF:
        ws_ref_unref(v->ref);
        break;
    case WS_VALUE_STATEMENT:
        ws_statement_unref(v->statement);
        break;
    case WS_VALUE_LIST:
    case WS_VALUE_MAP:
        for (guint i = 0; i < v->n; i++)
            ws_value_clear(&v->item[i]);
        for (guint i = 0; v->key != NULL && i < v->n; i++)
            g_free(v->key[i]);
        g_free(v->item);
        g_free(v->key);
        break;
    case WS_VALUE_NODE:
    case WS_VALUE_NODES:
        for (guint i = 0; i < v->n; i++)
            ws_node_unref(v->node[i]);
        g_free(v->node);
        break;
    case WS_VALUE_BOOL:
    case WS_VALUE_INT:
    case WS_VALUE_NONE:
    case WS_VALUE_REAL:
    default:
        break;
    }
    g_free(v->typed);
    memset(v, 0, sizeof *v);
}

void ws_value_copy(WsValue *to, const WsValue *from)
{
    *to = *from;
    to->typed = g_strdup(from->typed);
    switch (from->kind) {
    case WS_VALUE_TEXT:
        to->text = g_strdup(from->text);
        break;
    case WS_VALUE_EXPR:
        to->expr = ws_expr_ref(from->expr);
        break;
    case WS_VALUE_REF:
        to->ref = ws_ref_ref(from->ref);
        break;
    case WS_VALUE_STATEMENT:
        to->statement = ws_statement_ref(from->statement);
        break;
    case WS_VALUE_LIST:
    case WS_VALUE_MAP:
        to->item = g_new0(WsValue, from->n);
        to->key = from->key != NULL ? g_new0(char *, from->n) : NULL;
        for (guint i = 0; i < from->n; i++) {
            ws_value_copy(&to->item[i], &from->item[i]);
            if (to->key != NULL)
                to->key[i] = g_strdup(from->key[i]);
        }
        break;
    case WS_VALUE_NODE:
    case WS_VALUE_NODES:
        to->node = g_new0(WsNode *, from->n);
        for (guint i = 0; i < from->n; i++)
            to->node[i] = ws_node_ref(from->node[i]);
        break;
    case WS_VALUE_BOOL:
    case WS_VALUE_INT:
    case WS_VALUE_NONE:
    case WS_VALUE_REAL:
    default:
        break;
    }
}

static gboolean node_equal(const WsNode *a, const WsNode *b)
{
    if (a == b)
        return TRUE;
    if (a->kind != b->kind)
        return FALSE;
    for (guint i = 0; i < a->n_values; i++)
        if (!ws_value_equal(&a->value[i], &b->value[i]))
            return FALSE;
    return TRUE;
}

static gboolean printed_equal(char *a, char *b)
{
    const gboolean equal = strcmp(a, b) == 0;
    g_free(a);
    g_free(b);
    return equal;
}

static gboolean items_equal(const WsValue *a, const WsValue *b)
{
    for (guint i = 0; i < a->n; i++) {
        if (a->key != NULL && strcmp(a->key[i], b->key[i]) != 0)
            return FALSE;
        if (a->kind == WS_VALUE_LIST || a->kind == WS_VALUE_MAP
                ? !ws_value_equal(&a->item[i], &b->item[i])
                : !node_equal(a->node[i], b->node[i]))
            return FALSE;
    }
    return TRUE;
}

gboolean ws_value_equal(const WsValue *a, const WsValue *b)
{
    if (a->kind != b->kind || g_strcmp0(a->typed, b->typed) != 0)
        return FALSE;
    switch (a->kind) {
    case WS_VALUE_NONE:
        return TRUE;
    case WS_VALUE_INT:
        return a->i == b->i;
    case WS_VALUE_REAL:
        return a->r == b->r;
    case WS_VALUE_BOOL:
        return !a->b == !b->b;
    case WS_VALUE_TEXT:
        return strcmp(a->text, b->text) == 0;
    case WS_VALUE_EXPR:
        return ws_expr_equal(a->expr, b->expr);
    case WS_VALUE_REF:
        return printed_equal(ws_ref_print(a->ref), ws_ref_print(b->ref));
    case WS_VALUE_STATEMENT:
        return printed_equal(ws_statement_print(a->statement), ws_statement_print(b->statement));
    case WS_VALUE_LIST:
    case WS_VALUE_MAP:
    case WS_VALUE_NODES:
    case WS_VALUE_NODE:
    default:
        return a->n == b->n && items_equal(a, b);
    }
}

/* Defaults are JSON texts in the table; their values are read by the same code as a document's,
 * once, and kept. */
static const WsValue *fallback_value(WsNodeKind owner, const WsFieldRow *row)
{
    static GMutex mutex;
    static GHashTable *values; /* row -> WsValue */
    g_mutex_lock(&mutex);
    if (values == NULL)
        values = g_hash_table_new(NULL, NULL);
    WsValue *value = g_hash_table_lookup(values, row);
    if (value == NULL) {
        value = g_new0(WsValue, 1);
        g_autoptr(WsFindings) findings = ws_findings_new();
        WsReader r;
        ws_reader_init(&r, findings, FALSE);
        WsJson *json = ws_json_parse(row->fallback, strlen(row->fallback), &r);
        if (json != NULL)
            ws_read_field(&r, owner, row, json, value);
        ws_json_free(json);
        ws_reader_clear(&r);
        g_hash_table_insert(values, (gpointer)row, value);
    }
    g_mutex_unlock(&mutex);
    return value;
}

gboolean ws_value_is_default(WsNodeKind owner, const WsFieldRow *row, const WsValue *value)
{
    if (value->kind == WS_VALUE_NONE)
        return TRUE;
    return row->fallback != NULL && ws_value_equal(value, fallback_value(owner, row));
}

/* --- sums ------------------------------------------------------------------------------------- */

static guint64 mixed(guint64 h, guint64 x)
{
    h = (h ^ x) * 0xff51afd7ed558ccdu;
    return h ^ h >> 33;
}

static guint64 sum_of_text(const char *text)
{
    guint64 h = 1469598103934665603u;
    for (const char *c = text; *c; c++)
        h = (h ^ (guchar)*c) * 1099511628211u;
    return h;
}

guint64 ws_node_sum(const WsNode *node)
{
    guint64 h = __atomic_load_n(&node->sum, __ATOMIC_RELAXED);
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    if (h != 0)
        return h;
    h = mixed(0x9e3779b97f4a7c15u, node->kind);
    for (guint i = 0; i < n; i++) {
        const WsValue *v = &node->value[i];
        if (ws_value_is_default(node->kind, &rows[i], v))
            continue;
        h = mixed(h, rows[i].field);
        if (v->kind == WS_VALUE_NODES || v->kind == WS_VALUE_NODE) {
            for (guint c = 0; c < v->n; c++)
                h = mixed(h, ws_node_sum(v->node[c]));
        } else {
            g_autofree char *text = ws_value_print(&rows[i], v);
            h = mixed(h, sum_of_text(text));
        }
    }
    h += h == 0;
    __atomic_store_n(&((WsNode *)node)->sum, h, __ATOMIC_RELAXED);
    return h;
}

guint64 ws_node_below(const WsNode *node)
{
    guint64 bits = __atomic_load_n(&node->below, __ATOMIC_RELAXED);
    if (bits != 0)
        return bits;
    bits = G_GUINT64_CONSTANT(1) << node->identity % 64;
    for (guint i = 0; i < node->n_values; i++) {
        const WsValue *v = &node->value[i];
        for (guint c = 0; (v->kind == WS_VALUE_NODES || v->kind == WS_VALUE_NODE) && c < v->n; c++)
            bits |= ws_node_below(v->node[c]);
    }
    __atomic_store_n(&((WsNode *)node)->below, bits, __ATOMIC_RELAXED);
    return bits;
}

/* --- access ----------------------------------------------------------------------------------- */

WsValue *ws_node_slot(WsNode *node, WsFieldId field)
{
    const gint place = ws_node_place(node->kind, field);
    return place >= 0 ? &node->value[place] : NULL;
}

const WsValue *ws_node_get(const WsNode *node, WsFieldId field)
{
    static const WsValue none;
    const WsValue *v = ws_node_slot((WsNode *)node, field);
    return v != NULL ? v : &none;
}

gboolean ws_node_has(const WsNode *node, WsFieldId field)
{
    return ws_node_get(node, field)->kind != WS_VALUE_NONE;
}

const char *ws_node_text(const WsNode *node, WsFieldId field)
{
    const WsValue *v = ws_node_get(node, field);
    if (v->kind == WS_VALUE_TEXT)
        return v->text;
    if (v->kind == WS_VALUE_REF && v->ref->element == NULL && v->ref->use == NULL &&
        v->ref->n_views == 0)
        return v->ref->name;
    return NULL;
}

const WsExpr *ws_node_expr(const WsNode *node, WsFieldId field)
{
    const WsValue *v = ws_node_get(node, field);
    return v->kind == WS_VALUE_EXPR ? v->expr : NULL;
}

const WsRef *ws_node_refv(const WsNode *node, WsFieldId field)
{
    const WsValue *v = ws_node_get(node, field);
    return v->kind == WS_VALUE_REF ? v->ref : NULL;
}

gboolean ws_node_bool(const WsNode *node, WsFieldId field, gboolean otherwise)
{
    const WsValue *v = ws_node_get(node, field);
    return v->kind == WS_VALUE_BOOL ? v->b : otherwise;
}

gint64 ws_node_int(const WsNode *node, WsFieldId field, gint64 otherwise)
{
    const WsValue *v = ws_node_get(node, field);
    gint64 i;
    if (v->kind == WS_VALUE_INT)
        return v->i;
    return v->kind == WS_VALUE_EXPR && ws_expr_is_int(v->expr, &i) ? i : otherwise;
}

guint ws_node_n_children(const WsNode *node, WsFieldId field)
{
    const WsValue *v = ws_node_get(node, field);
    return v->kind == WS_VALUE_NODES || v->kind == WS_VALUE_NODE ? v->n : 0;
}

const WsNode *ws_node_child(const WsNode *node, WsFieldId field, guint i)
{
    return i < ws_node_n_children(node, field) ? ws_node_get(node, field)->node[i] : NULL;
}

const char *ws_node_name(const WsNode *node)
{
    const char *name = ws_node_text(node, WS_F_name);
    return name != NULL ? name : ws_node_text(node, WS_F_keyword);
}

char *ws_node_segment(const WsNode *child, guint index)
{
    const char *name = ws_node_kind_is_step(child->kind) ? NULL : ws_node_text(child, WS_F_name);
    return name != NULL ? g_strdup(name) : g_strdup_printf("%u", index);
}
