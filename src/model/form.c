/* Values of fields: from JSON to WsValue, by the kind of the field's row. Lists, maps and children
 * are here, everything else in scalar.c. */
#include "model/form.h"

#include "model/internal.h"

static gboolean check_items(WsReader *r, WsNodeKind owner, const WsFieldRow *row,
                            const WsJson *json)
{
    if (json->n >= row->n_lo && json->n <= row->n_hi)
        return TRUE;
    const char *key = ws_node_key(owner, row->field);
    WsFinding *f;
    if (row->n_lo == row->n_hi)
        f = ws_reader_report(r, WS_RULE_S_VALUE, json->at, "%s has %u items, it must have %d", key,
                             json->n, (int)row->n_lo);
    else
        f = ws_reader_report(r, WS_RULE_S_VALUE, json->at, "%s has %u items, it must have %d to %d",
                             key, json->n, (int)row->n_lo, (int)row->n_hi);
    if (f != NULL)
        ws_finding_set_remedy(f, "%s", row->help);
    return FALSE;
}

/* --- lists and maps --------------------------------------------------------------------------- */

static gboolean read_list(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                          WsValue *out, WsReadValue item)
{
    if (json->kind != WS_JSON_LIST)
        return ws_wrong_kind(r, owner, row, json, ws_field_kind_help(row->kind));
    if (!check_items(r, owner, row, json))
        return FALSE;
    out->kind = WS_VALUE_LIST;
    out->n = json->n;
    out->item = g_new0(WsValue, json->n);
    gboolean ok = TRUE;
    for (guint i = 0; i < json->n; i++) {
        const gsize mark = ws_reader_enter_index(r, i);
        if (!item(r, owner, row, &json->item[i], &out->item[i]))
            ok = FALSE;
        ws_reader_leave(r, mark);
    }
    return ok;
}

static gboolean read_map(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                         WsValue *out, WsReadValue item)
{
    if (json->kind != WS_JSON_MAP)
        return ws_wrong_kind(r, owner, row, json, ws_field_kind_help(row->kind));
    if (!check_items(r, owner, row, json))
        return FALSE;
    const gboolean new_names =
        ws_node_kind_is_step(owner) || row->field == WS_F_rehearse || row->field == WS_F_readers
            ? FALSE
            : TRUE;
    out->kind = WS_VALUE_MAP;
    out->n = json->n;
    out->item = g_new0(WsValue, json->n);
    out->key = g_new0(char *, json->n);
    gboolean ok = TRUE;
    for (guint i = 0; i < json->n; i++) {
        out->key[i] = g_strdup(json->key[i]);
        const gsize mark = ws_reader_enter(r, json->key[i]);
        if (new_names ? !ws_check_declared(r, json->key_at[i], json->key[i])
                      : !ws_check_identifier(r, json->key_at[i], json->key[i]))
            ok = FALSE;
        if (!item(r, owner, row, &json->item[i], &out->item[i]))
            ok = FALSE;
        ws_reader_leave(r, mark);
    }
    return ok;
}

#define LIST_OF(function, item)                                                                    \
    static gboolean function(WsReader *r, WsNodeKind owner, const WsFieldRow *row,                 \
                             const WsJson *json, WsValue *out)                                     \
    {                                                                                              \
        return read_list(r, owner, row, json, out, item);                                          \
    }
#define MAP_OF(function, item)                                                                     \
    static gboolean function(WsReader *r, WsNodeKind owner, const WsFieldRow *row,                 \
                             const WsJson *json, WsValue *out)                                     \
    {                                                                                              \
        return read_map(r, owner, row, json, out, item);                                           \
    }
LIST_OF(read_names, ws_read_name)
LIST_OF(read_exprs, ws_read_expr)
LIST_OF(read_refs, ws_read_ref)
LIST_OF(read_numbers, ws_read_number)
MAP_OF(read_map_int, ws_read_int)
MAP_OF(read_map_number, ws_read_number)
MAP_OF(read_map_expr, ws_read_expr)
MAP_OF(read_map_names, read_names)
MAP_OF(read_map_ref, ws_read_ref_or_expr)

static gboolean read_texts(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                           WsValue *out)
{
    if (json->kind == WS_JSON_TEXT)
        return ws_read_text(r, owner, row, json, out);
    return read_list(r, owner, row, json, out, ws_read_text);
}

static gboolean read_statements(WsReader *r, WsNodeKind owner, const WsFieldRow *row,
                                const WsJson *json, WsValue *out)
{
    if (json->kind == WS_JSON_LIST)
        return read_list(r, owner, row, json, out, ws_read_statement);
    if (json->kind != WS_JSON_TEXT)
        return ws_wrong_kind(r, owner, row, json, ws_field_kind_help(row->kind));
    out->kind = WS_VALUE_LIST;
    out->n = 1;
    out->item = g_new0(WsValue, 1);
    return ws_read_statement(r, owner, row, json, &out->item[0]);
}

static gboolean read_choice(WsReader *r, WsNodeKind owner, const WsFieldRow *row,
                            const WsJson *json, WsValue *out)
{
    if (json->kind == WS_JSON_TEXT &&
        (row->of != WS_FIELD_EXPR || ws_word_in(row->words, json->text)))
        return ws_read_enum(r, owner, row, json, out);
    if (row->of == WS_FIELD_EXPR)
        return ws_read_expr(r, owner, row, json, out);
    if (row->of == WS_FIELD_EXPRS)
        return read_exprs(r, owner, row, json, out);
    return read_list(r, owner, row, json, out, ws_read_enum);
}

/* --- children --------------------------------------------------------------------------------- */

static gboolean read_nodes(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                           WsValue *out)
{
    if (json->kind != WS_JSON_LIST)
        return ws_wrong_kind(r, owner, row, json, ws_field_kind_help(row->kind));
    if (!check_items(r, owner, row, json))
        return FALSE;
    const gboolean steps = row->kind == WS_FIELD_STEPS;
    out->kind = WS_VALUE_NODES;
    out->node = g_new0(WsNode *, json->n);
    gboolean ok = TRUE;
    for (guint i = 0; i < json->n && !ws_reader_full(r); i++) {
        const WsJson *item = &json->item[i];
        const WsJson *name = steps ? NULL : ws_json_member(item, "name");
        const gsize mark = name != NULL && name->kind == WS_JSON_TEXT
                               ? ws_reader_enter(r, name->text)
                               : ws_reader_enter_index(r, i);
        WsNode *node = ws_read_node(r, item, steps ? WS_NODE_KIND_COUNT : (WsNodeKind)row->of);
        if (node != NULL && row->words != NULL && steps &&
            !ws_word_in(row->words, ws_node_kind_keyword(node->kind))) {
            ws_reader_report(r, WS_RULE_S_VALUE, item->at, "only %s may be in %s", row->words,
                             ws_node_key(owner, row->field));
            ok = FALSE;
        }
        if (node != NULL)
            out->node[out->n++] = node;
        else
            ok = FALSE;
        ws_reader_leave(r, mark);
    }
    return ok;
}

static gboolean read_child(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                           WsValue *out)
{
    WsNode *node = ws_read_node(r, json, (WsNodeKind)row->of);
    if (node == NULL)
        return FALSE;
    out->kind = WS_VALUE_NODE;
    out->n = 1;
    out->node = g_new0(WsNode *, 1);
    out->node[0] = node;
    return TRUE;
}

static const WsReadValue readers[] = {
    [WS_FIELD_INT] = ws_read_int,        [WS_FIELD_NUMBER] = ws_read_number,
    [WS_FIELD_BOOL] = ws_read_bool,      [WS_FIELD_NAME] = ws_read_name,
    [WS_FIELD_NAMES] = read_names,       [WS_FIELD_TEXT] = ws_read_text,
    [WS_FIELD_TEXTS] = read_texts,       [WS_FIELD_ENUM] = ws_read_enum,
    [WS_FIELD_EXPR] = ws_read_expr,      [WS_FIELD_EXPR_OR_BOOL] = ws_read_expr_or_bool,
    [WS_FIELD_EXPRS] = read_exprs,       [WS_FIELD_REF] = ws_read_ref,
    [WS_FIELD_REFS] = read_refs,         [WS_FIELD_STATEMENTS] = read_statements,
    [WS_FIELD_MAP_INT] = read_map_int,   [WS_FIELD_MAP_NUMBER] = read_map_number,
    [WS_FIELD_MAP_EXPR] = read_map_expr, [WS_FIELD_MAP_NAMES] = read_map_names,
    [WS_FIELD_NODES] = read_nodes,       [WS_FIELD_NODE] = read_child,
    [WS_FIELD_STEPS] = read_nodes,       [WS_FIELD_JSON] = ws_read_json,
    [WS_FIELD_NUMBERS] = read_numbers,   [WS_FIELD_MAP_REF] = read_map_ref,
    [WS_FIELD_CHOICE] = read_choice,
};

gboolean ws_read_field(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                       WsValue *out)
{
    if (row->kind < G_N_ELEMENTS(readers) && readers[row->kind](r, owner, row, json, out))
        return TRUE;
    ws_value_clear(out);
    return FALSE;
}
