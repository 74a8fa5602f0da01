/* Values of fields: from JSON to WsValue, by the kind of the field's row. */
#include "model/internal.h"

#include <string.h>

typedef gboolean (*ReadValue)(WsReader *r, WsNodeKind owner, const WsFieldRow *row,
                              const WsJson *json, WsValue *out);

static gboolean wrong_kind(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                           const char *wanted)
{
    WsFinding *f =
        ws_reader_report(r, WS_RULE_S_KIND, json->at, "%s must be %s, not %s",
                         ws_node_key(owner, row->field), wanted, ws_json_kind_text(json));
    if (f != NULL)
        ws_finding_set_remedy(f, "write %s", wanted);
    return FALSE;
}

static char *readable_words(const char *words)
{
    g_auto(GStrv) list = g_strsplit(words, " ", -1);
    return g_strjoinv(", ", list);
}

gboolean ws_word_in(const char *words, const char *text)
{
    g_auto(GStrv) list = g_strsplit(words, " ", -1);
    return g_strv_contains((const gchar *const *)list, text);
}

static gboolean check_word(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                           const char *text)
{
    if (ws_word_in(row->words, text))
        return TRUE;
    g_auto(GStrv) list = g_strsplit(row->words, " ", -1);
    g_autofree char *all = readable_words(row->words);
    const char *near = ws_nearest(text, (const char *const *)list, g_strv_length(list));
    const WsRuleId rule =
        owner == WS_NODE_DESIGN && row->field == WS_F_target ? WS_RULE_V_TARGET : WS_RULE_S_VALUE;
    WsFinding *f = ws_reader_report(r, rule, json->at, "%s is \"%s\", which is none of %s",
                                    ws_node_key(owner, row->field), text, all);
    if (f == NULL)
        return FALSE;
    if (near != NULL)
        ws_finding_set_remedy(f, "did you mean \"%s\"?", near);
    else
        ws_finding_set_remedy(f, "write one of %s", all);
    return FALSE;
}

static gboolean check_range(WsReader *r, WsNodeKind owner, const WsFieldRow *row, WsPlace at,
                            gint64 value)
{
    if (value >= row->lo && value <= row->hi)
        return TRUE;
    g_autofree char *range =
        row->hi == G_MAXINT64
            ? g_strdup_printf("at least %" G_GINT64_FORMAT, row->lo)
            : g_strdup_printf("%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, row->lo, row->hi);
    WsFinding *f =
        ws_reader_report(r, WS_RULE_S_VALUE, at, "%s is %" G_GINT64_FORMAT ", it must be %s",
                         ws_node_key(owner, row->field), value, range);
    if (f != NULL)
        ws_finding_set_remedy(f, "use a number in the range: %s", range);
    return FALSE;
}

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

static gboolean bad_text(WsReader *r, const WsJson *json, const char *what, const GError *error)
{
    WsFinding *f = ws_reader_report(r, WS_RULE_S_EXPR, json->at, "\"%s\" is not %s: %s", json->text,
                                    what, error->message);
    if (f != NULL)
        ws_finding_set_remedy(f, "correct the text at the column named");
    return FALSE;
}

/* --- scalars ---------------------------------------------------------------------------------- */

static gboolean read_int(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                         WsValue *out)
{
    if (json->kind != WS_JSON_INT)
        return wrong_kind(r, owner, row, json, "an integer");
    if (!check_range(r, owner, row, json->at, json->i))
        return FALSE;
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, json->i);
    if (row->words != NULL && !check_word(r, owner, row, json, text))
        return FALSE;
    out->kind = WS_VALUE_INT;
    out->i = json->i;
    return TRUE;
}

static gboolean read_number(WsReader *r, WsNodeKind owner, const WsFieldRow *row,
                            const WsJson *json, WsValue *out)
{
    if (json->kind != WS_JSON_INT && json->kind != WS_JSON_REAL)
        return wrong_kind(r, owner, row, json, "a number");
    if (row->lo == 0 && json->r < 0) {
        ws_reader_report(r, WS_RULE_S_VALUE, json->at, "%s is negative",
                         ws_node_key(owner, row->field));
        return FALSE;
    }
    out->kind = WS_VALUE_REAL;
    out->r = json->r;
    return TRUE;
}

static gboolean read_bool(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                          WsValue *out)
{
    if (json->kind != WS_JSON_BOOL)
        return wrong_kind(r, owner, row, json, "true or false");
    out->kind = WS_VALUE_BOOL;
    out->b = json->b;
    return TRUE;
}

static gboolean check_identifier(WsReader *r, WsPlace at, const char *name)
{
    if (ws_name_is_identifier(name))
        return TRUE;
    WsFinding *f = ws_reader_report(r, WS_RULE_S_NAME, at, "\"%s\" is not a name", name);
    if (f != NULL)
        ws_finding_set_remedy(f, "use letters, digits and _, at most 63, no digit first");
    return FALSE;
}

static gboolean check_declared(WsReader *r, WsPlace at, const char *name)
{
    if (!check_identifier(r, at, name))
        return FALSE;
    if (!ws_name_is_reserved(name))
        return TRUE;
    WsFinding *f =
        ws_reader_report(r, WS_RULE_N_RESERVED, at, "\"%s\" is a word of the language", name);
    if (f != NULL)
        ws_finding_set_remedy(f, "use another name, such as %s_", name);
    return FALSE;
}

/* Whether a NAME field gives a name to something in a scope where words are reserved. */
static gboolean declares(WsNodeKind owner, WsFieldId field)
{
    if (field == WS_F_keyword)
        return owner == WS_STEP_FOR || owner == WS_STEP_LET;
    return field == WS_F_name && owner != WS_NODE_GROUP;
}

static gboolean read_name(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                          WsValue *out)
{
    if (json->kind != WS_JSON_TEXT)
        return wrong_kind(r, owner, row, json, "a name");
    if (declares(owner, row->field) ? !check_declared(r, json->at, json->text)
                                    : !check_identifier(r, json->at, json->text))
        return FALSE;
    out->kind = WS_VALUE_TEXT;
    out->text = g_strdup(json->text);
    return TRUE;
}

/* Forms of `order` and `data`: word, number of arguments, how many of them are names. */
static const struct {
    WsFieldId field;
    const char *word;
    guint n_args, n_names;
    const char *form;
} forms[] = {
    { WS_F_order, "linear", 0, 0, "linear" },
    { WS_F_order, "grouped", 2, 1, "grouped(axis, n)" },
    { WS_F_order, "hilbert", 2, 2, "hilbert(axis, axis)" },
    { WS_F_data, "normal", 0, 0, "normal" },
    { WS_F_data, "uniform", 2, 0, "uniform(a, b)" },
    { WS_F_data, "integers", 2, 0, "integers(a, b)" },
    { WS_F_data, "zeros", 0, 0, "zeros" },
    { WS_F_data, "indices", 2, 0, "indices(n, p)" },
};

static gboolean check_form(WsReader *r, const WsFieldRow *row, const WsJson *json, const char *word,
                           const GPtrArray *args)
{
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++) {
        if (forms[i].field != row->field || strcmp(forms[i].word, word) != 0)
            continue;
        gboolean ok = args->len == forms[i].n_args;
        for (guint j = 0; ok && j < forms[i].n_names; j++)
            ok = ((const WsExpr *)g_ptr_array_index(args, j))->op == WS_EXPR_NAME;
        if (!ok) {
            WsFinding *f =
                ws_reader_report(r, WS_RULE_S_VALUE, json->at, "\"%s\" is not of the form %s",
                                 json->text, forms[i].form);
            if (f != NULL)
                ws_finding_set_remedy(f, "write %s", forms[i].form);
        }
        return ok;
    }
    return FALSE;
}

static gboolean read_form(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                          WsValue *out)
{
    g_autofree char *word = NULL;
    g_autoptr(GPtrArray) args = NULL;
    g_autoptr(GError) error = NULL;
    if (!ws_form_parse(json->text, &word, &args, &error))
        return bad_text(r, json, "a word with arguments", error);
    if (!check_word(r, owner, row, json, word) || !check_form(r, row, json, word, args))
        return FALSE;
    GString *text = g_string_new(word);
    for (guint i = 0; i < args->len; i++) {
        g_autofree char *arg = ws_expr_print(g_ptr_array_index(args, i));
        g_string_append_printf(text, "%s%s", i == 0 ? "(" : ", ", arg);
    }
    if (args->len > 0)
        g_string_append_c(text, ')');
    out->kind = WS_VALUE_TEXT;
    out->text = g_string_free(text, FALSE);
    return TRUE;
}

static gboolean check_id(WsReader *r, const WsJson *json)
{
    const char *bad = json->text;
    while (*bad != '\0' && !g_ascii_isspace(*bad) && *bad != '/' && *bad != '#' &&
           !g_ascii_iscntrl(*bad))
        bad++;
    if (*json->text != '\0' && *bad == '\0')
        return TRUE;
    WsFinding *f =
        ws_reader_report(r, WS_RULE_S_VALUE, json->at, "\"%s\" cannot be an id", json->text);
    if (f != NULL)
        ws_finding_set_remedy(f, "an id is not empty and has no space, / or #");
    return FALSE;
}

static gboolean read_text(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                          WsValue *out)
{
    if (json->kind != WS_JSON_TEXT)
        return wrong_kind(r, owner, row, json, "a string");
    if (row->words != NULL)
        return read_form(r, owner, row, json, out);
    if (row->field == WS_F_id && !check_id(r, json))
        return FALSE;
    out->kind = WS_VALUE_TEXT;
    out->text = g_strdup(json->text);
    return TRUE;
}

static gboolean read_enum(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                          WsValue *out)
{
    if (json->kind != WS_JSON_TEXT) {
        g_autofree char *all = readable_words(row->words);
        g_autofree char *wanted = g_strdup_printf("one of %s", all);
        return wrong_kind(r, owner, row, json, wanted);
    }
    if (!check_word(r, owner, row, json, json->text))
        return FALSE;
    out->kind = WS_VALUE_TEXT;
    out->text = g_strdup(json->text);
    return TRUE;
}

static gboolean read_expr(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                          WsValue *out)
{
    if (json->kind != WS_JSON_TEXT && json->kind != WS_JSON_INT)
        return wrong_kind(r, owner, row, json, "an integer or a string with an expression");
    WsExpr *e;
    if (json->kind == WS_JSON_INT) {
        e = ws_expr_int(json->i);
    } else {
        g_autoptr(GError) error = NULL;
        e = ws_expr_parse(json->text, &error);
        if (e == NULL)
            return bad_text(r, json, "an expression", error);
    }
    gint64 i;
    if (ws_expr_is_int(e, &i) && !check_range(r, owner, row, json->at, i)) {
        ws_expr_unref(e);
        return FALSE;
    }
    out->kind = WS_VALUE_EXPR;
    out->expr = e;
    return TRUE;
}

static gboolean read_expr_or_bool(WsReader *r, WsNodeKind owner, const WsFieldRow *row,
                                  const WsJson *json, WsValue *out)
{
    if (json->kind == WS_JSON_BOOL)
        return read_bool(r, owner, row, json, out);
    return read_expr(r, owner, row, json, out);
}

static gboolean read_ref(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                         WsValue *out)
{
    if (json->kind != WS_JSON_TEXT)
        return wrong_kind(r, owner, row, json, "a string with a reference");
    g_autoptr(GError) error = NULL;
    WsRef *ref = ws_ref_parse(json->text, &error);
    if (ref == NULL)
        return bad_text(r, json, "a reference", error);
    if (owner == WS_NODE_BUFFER && row->field == WS_F_over && ref->use != NULL) {
        WsFinding *f = ws_reader_report(r, WS_RULE_S_VALUE, json->at,
                                        "over names storage, a use means nothing here");
        if (f != NULL)
            ws_finding_set_remedy(f, "remove what follows the @");
        ws_ref_unref(ref);
        return FALSE;
    }
    out->kind = WS_VALUE_REF;
    out->ref = ref;
    return TRUE;
}

static gboolean read_ref_or_expr(WsReader *r, WsNodeKind owner, const WsFieldRow *row,
                                 const WsJson *json, WsValue *out)
{
    if (json->kind == WS_JSON_TEXT) {
        WsRef *ref = ws_ref_parse(json->text, NULL);
        if (ref != NULL) {
            out->kind = WS_VALUE_REF;
            out->ref = ref;
            return TRUE;
        }
    }
    return read_expr(r, owner, row, json, out);
}

static gboolean read_json(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                          WsValue *out)
{
    if (json->kind != WS_JSON_MAP)
        return wrong_kind(r, owner, row, json, "an object");
    out->kind = WS_VALUE_TEXT;
    out->text = ws_json_print(json);
    return TRUE;
}

static gboolean read_statement(WsReader *r, WsNodeKind owner, const WsFieldRow *row,
                               const WsJson *json, WsValue *out)
{
    if (json->kind != WS_JSON_TEXT)
        return wrong_kind(r, owner, row, json, "a string with a statement");
    g_autoptr(GError) error = NULL;
    WsStatement *s = ws_statement_parse(json->text, &error);
    if (s == NULL)
        return bad_text(r, json, "a statement", error);
    const gboolean reference = owner == WS_NODE_DESIGN;
    if (reference != (s->n_index > 0)) {
        WsFinding *f = ws_reader_report(
            r, WS_RULE_S_EXPR, json->at,
            reference ? "\"%s\" defines no elements" : "\"%s\" assigns elements", json->text);
        if (f != NULL)
            ws_finding_set_remedy(f, reference ? "write %s[i, j] = …" : "write %s = …", s->name);
        ws_statement_unref(s);
        return FALSE;
    }
    out->kind = WS_VALUE_STATEMENT;
    out->statement = s;
    out->typed = reference ? g_strdup(json->text) : NULL;
    return TRUE;
}

/* --- lists and maps --------------------------------------------------------------------------- */

static gboolean read_list(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                          WsValue *out, ReadValue item)
{
    if (json->kind != WS_JSON_LIST)
        return wrong_kind(r, owner, row, json, ws_field_kind_help(row->kind));
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
                         WsValue *out, ReadValue item)
{
    if (json->kind != WS_JSON_MAP)
        return wrong_kind(r, owner, row, json, ws_field_kind_help(row->kind));
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
        if (new_names ? !check_declared(r, json->key_at[i], json->key[i])
                      : !check_identifier(r, json->key_at[i], json->key[i]))
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
LIST_OF(read_names, read_name)
LIST_OF(read_exprs, read_expr)
LIST_OF(read_refs, read_ref)
LIST_OF(read_numbers, read_number)
MAP_OF(read_map_int, read_int)
MAP_OF(read_map_number, read_number)
MAP_OF(read_map_expr, read_expr)
MAP_OF(read_map_names, read_names)
MAP_OF(read_map_ref, read_ref_or_expr)

static gboolean read_texts(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                           WsValue *out)
{
    if (json->kind == WS_JSON_TEXT)
        return read_text(r, owner, row, json, out);
    return read_list(r, owner, row, json, out, read_text);
}

static gboolean read_statements(WsReader *r, WsNodeKind owner, const WsFieldRow *row,
                                const WsJson *json, WsValue *out)
{
    if (json->kind == WS_JSON_LIST)
        return read_list(r, owner, row, json, out, read_statement);
    if (json->kind != WS_JSON_TEXT)
        return wrong_kind(r, owner, row, json, ws_field_kind_help(row->kind));
    out->kind = WS_VALUE_LIST;
    out->n = 1;
    out->item = g_new0(WsValue, 1);
    return read_statement(r, owner, row, json, &out->item[0]);
}

static gboolean read_choice(WsReader *r, WsNodeKind owner, const WsFieldRow *row,
                            const WsJson *json, WsValue *out)
{
    if (json->kind == WS_JSON_TEXT &&
        (row->of != WS_FIELD_EXPR || ws_word_in(row->words, json->text)))
        return read_enum(r, owner, row, json, out);
    if (row->of == WS_FIELD_EXPR)
        return read_expr(r, owner, row, json, out);
    if (row->of == WS_FIELD_EXPRS)
        return read_exprs(r, owner, row, json, out);
    return read_list(r, owner, row, json, out, read_enum);
}

/* --- children --------------------------------------------------------------------------------- */

static gboolean read_nodes(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                           WsValue *out)
{
    if (json->kind != WS_JSON_LIST)
        return wrong_kind(r, owner, row, json, ws_field_kind_help(row->kind));
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
            ws_reader_report(r, WS_RULE_S_VALUE, item->at, "only %s may stand in %s", row->words,
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

static const ReadValue readers[] = {
    [WS_FIELD_INT] = read_int,           [WS_FIELD_NUMBER] = read_number,
    [WS_FIELD_BOOL] = read_bool,         [WS_FIELD_NAME] = read_name,
    [WS_FIELD_NAMES] = read_names,       [WS_FIELD_TEXT] = read_text,
    [WS_FIELD_TEXTS] = read_texts,       [WS_FIELD_ENUM] = read_enum,
    [WS_FIELD_EXPR] = read_expr,         [WS_FIELD_EXPR_OR_BOOL] = read_expr_or_bool,
    [WS_FIELD_EXPRS] = read_exprs,       [WS_FIELD_REF] = read_ref,
    [WS_FIELD_REFS] = read_refs,         [WS_FIELD_STATEMENTS] = read_statements,
    [WS_FIELD_MAP_INT] = read_map_int,   [WS_FIELD_MAP_NUMBER] = read_map_number,
    [WS_FIELD_MAP_EXPR] = read_map_expr, [WS_FIELD_MAP_NAMES] = read_map_names,
    [WS_FIELD_NODES] = read_nodes,       [WS_FIELD_NODE] = read_child,
    [WS_FIELD_STEPS] = read_nodes,       [WS_FIELD_JSON] = read_json,
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
