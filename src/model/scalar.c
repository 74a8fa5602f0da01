/* Values of fields that are no lists: from JSON to WsValue, with their ranges and words. */
#include "base/phrase.h"
#include "base/text.h"
#include "model/form.h"
#include "model/internal.h"

#include <string.h>

gboolean ws_wrong_kind(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                       const char *wanted)
{
    g_autofree char *form = ws_phrase_word(wanted),
                    *found = ws_phrase_word(ws_json_kind_text(json));
    WsFinding *f = ws_reader_report(r, WS_RULE_S_KIND, json->at, "%s must be %s, not %s",
                                    ws_node_key(owner, row->field), form, found);
    if (f != NULL)
        ws_finding_set_remedy(f, "write %s", form);
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
    const char *near = ws_text_nearest(text, (const char *const *)list, g_strv_length(list));
    const WsRuleId rule =
        owner == WS_NODE_DESIGN && row->field == WS_F_target ? WS_RULE_V_TARGET : WS_RULE_S_VALUE;
    WsFinding *f = ws_reader_report(r, rule, json->at, "%s is \"%s\", which is none of %s",
                                    ws_node_key(owner, row->field), text, all);
    if (f == NULL)
        return FALSE;
    if (row->field == WS_F_dtype && ws_word_in("e8m0 e2m1 e2m3 e3m2", text))
        ws_finding_set_remedy(f, "elements of fewer than 8 bits, and scales of blocks of elements, "
                                 "are outside of what a design says");
    else if (near != NULL)
        ws_finding_set_remedy(f, "did you mean \"%s\"?", near);
    else
        ws_finding_set_remedy(f, "write one of %s", all);
    return FALSE;
}

static gboolean check_range(WsReader *r, WsNodeKind owner, const WsFieldRow *row, WsTextPlace at,
                            gint64 value)
{
    if (value >= row->lo && value <= row->hi)
        return TRUE;
    g_autofree char *range =
        row->hi == G_MAXINT64
            ? ws_phrase("at least %" G_GINT64_FORMAT, row->lo)
            : ws_phrase("%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, row->lo, row->hi);
    WsFinding *f =
        ws_reader_report(r, WS_RULE_S_VALUE, at, "%s is %" G_GINT64_FORMAT ", it must be %s",
                         ws_node_key(owner, row->field), value, range);
    if (f != NULL)
        ws_finding_set_remedy(f, "use a number in the range: %s", range);
    return FALSE;
}

/* What people write out of habit, and what it is here. */
static const struct {
    const char *written, *instead;
} habits[] = {
    { ";", WS_WORD("one string for each statement, in a list: [\"a = …\", \"b = …\"]") },
    { "**", WS_WORD("powers are products, x*x, or exp2(y*log2(x)) for x > 0") },
    { "//", WS_WORD("`/` of integers floors") },
    { "@",
      WS_WORD("a product of matrices is an `mma` step; in a reference sum(k < K, A[m,k]*B[k,n])") },
    { ".cols(",
      WS_WORD("views are for `mma`, `read`, `write` and transfers; in an expression declare "
              "several values of fewer columns instead") },
    { ".rows(",
      WS_WORD("views are for `mma`, `read`, `write` and transfers; in an expression declare "
              "several values of fewer rows instead") },
    { "+=", WS_WORD("name the value on both sides: x = x + y") },
    { "?", WS_WORD("select(c, a, b)") },
    { " if ", WS_WORD("select(c, a, b)") },
    { "<<", WS_WORD("shl(a, n), shr(a, n), sar(a, n)") },
    { ">>", WS_WORD("shl(a, n), shr(a, n), sar(a, n)") },
};

static gboolean bad_text(WsReader *r, const WsJson *json, const char *what, gboolean reference,
                         const GError *error)
{
    const char *remedy = WS_WORD("correct the text at the column named");
    for (guint i = G_N_ELEMENTS(habits); i-- > 0 && !reference;)
        if (strstr(json->text, habits[i].written))
            remedy = habits[i].instead;
    WsFinding *f = ws_reader_report(r, WS_RULE_S_EXPR, json->at, "\"%s\" is not %s: %s", json->text,
                                    what, error->message);
    if (f != NULL)
        ws_finding_set_remedy(f, "%s", remedy);
    return FALSE;
}

/* --- scalars ---------------------------------------------------------------------------------- */

gboolean ws_read_int(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                     WsValue *out)
{
    if (json->kind != WS_JSON_INT)
        return ws_wrong_kind(r, owner, row, json, WS_WORD("an integer"));
    if (!check_range(r, owner, row, json->at, json->i))
        return FALSE;
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, json->i);
    if (row->words != NULL && !check_word(r, owner, row, json, text))
        return FALSE;
    out->kind = WS_VALUE_INT;
    out->i = json->i;
    return TRUE;
}

gboolean ws_read_number(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                        WsValue *out)
{
    if (json->kind != WS_JSON_INT && json->kind != WS_JSON_REAL)
        return ws_wrong_kind(r, owner, row, json, WS_WORD("a number"));
    if (row->lo == 0 && json->r < 0) {
        ws_reader_report(r, WS_RULE_S_VALUE, json->at, "%s is negative",
                         ws_node_key(owner, row->field));
        return FALSE;
    }
    if (row->field == WS_F_source && (json->kind != WS_JSON_INT || json->i < 1)) {
        WsFinding *f = ws_reader_report(r, WS_RULE_S_VALUE, json->at, "%s is not a line or column",
                                        ws_node_key(owner, row->field));
        if (f != NULL)
            ws_finding_set_remedy(f, "count from 1, or remove it");
        return FALSE;
    }
    out->kind = WS_VALUE_REAL;
    out->r = json->r;
    return TRUE;
}

gboolean ws_read_bool(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                      WsValue *out)
{
    if (json->kind != WS_JSON_BOOL)
        return ws_wrong_kind(r, owner, row, json, WS_WORD("true or false"));
    out->kind = WS_VALUE_BOOL;
    out->b = json->b;
    return TRUE;
}

gboolean ws_check_identifier(WsReader *r, WsTextPlace at, const char *name)
{
    if (ws_name_is_identifier(name))
        return TRUE;
    WsFinding *f = ws_reader_report(r, WS_RULE_S_NAME, at, "\"%s\" is not a name", name);
    if (f != NULL)
        ws_finding_set_remedy(f, "use letters, digits and _, at most 63, no digit first");
    return FALSE;
}

gboolean ws_check_declared(WsReader *r, WsTextPlace at, const char *name)
{
    if (!ws_check_identifier(r, at, name))
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
        return ws_step_gives_name(owner);
    return field == WS_F_name && owner != WS_NODE_GROUP;
}

gboolean ws_read_name(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                      WsValue *out)
{
    if (json->kind != WS_JSON_TEXT)
        return ws_wrong_kind(r, owner, row, json, WS_WORD("a name"));
    if (declares(owner, row->field) ? !ws_check_declared(r, json->at, json->text)
                                    : !ws_check_identifier(r, json->at, json->text))
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
    { WS_F_data, "offsets", 1, 0, "offsets(n)" },
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
        return bad_text(r, json, WS_WORD("a word with arguments"), FALSE, error);
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
    /* `tiles` is a path already, `.` is the document in edits */
    if (*json->text != '\0' && *bad == '\0' && strcmp(json->text, "tiles") != 0 &&
        strcmp(json->text, ".") != 0)
        return TRUE;
    WsFinding *f =
        ws_reader_report(r, WS_RULE_S_VALUE, json->at, "\"%s\" cannot be an id", json->text);
    if (f != NULL)
        ws_finding_set_remedy(
            f, "an id is not empty, has no space, / or #, and is not \"tiles\" or \".\"");
    return FALSE;
}

/* What a verdict repeats says something. */
static gboolean check_said(WsReader *r, const WsFieldRow *row, const WsJson *json)
{
    static const WsFieldId said[] = { WS_F_granted, WS_F_unread };
    gboolean asked = FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(said); i++)
        asked |= row->field == said[i];
    for (const char *c = json->text; asked && *c; c = g_utf8_next_char(c))
        if (g_unichar_isgraph(g_utf8_get_char(c)))
            return TRUE;
    if (!asked)
        return TRUE;
    WsFinding *f = ws_reader_report(r, WS_RULE_S_VALUE, json->at, "a text of %s that says nothing",
                                    ws_field_name(row->field));
    if (f != NULL)
        ws_finding_set_remedy(f, "say what is meant, or leave it out");
    return FALSE;
}

gboolean ws_read_text(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                      WsValue *out)
{
    if (json->kind != WS_JSON_TEXT)
        return ws_wrong_kind(r, owner, row, json, WS_WORD("a string"));
    if (row->words != NULL)
        return read_form(r, owner, row, json, out);
    if ((row->field == WS_F_id && !check_id(r, json)) || !check_said(r, row, json))
        return FALSE;
    out->kind = WS_VALUE_TEXT;
    out->text = g_strdup(json->text);
    return TRUE;
}

gboolean ws_read_enum(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                      WsValue *out)
{
    if (json->kind != WS_JSON_TEXT) {
        g_autofree char *all = readable_words(row->words);
        g_autofree char *wanted = ws_phrase("one of %s", all);
        return ws_wrong_kind(r, owner, row, json, wanted);
    }
    if (!check_word(r, owner, row, json, json->text))
        return FALSE;
    out->kind = WS_VALUE_TEXT;
    out->text = g_strdup(json->text);
    return TRUE;
}

gboolean ws_read_expr(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                      WsValue *out)
{
    if (json->kind != WS_JSON_TEXT && json->kind != WS_JSON_INT)
        return ws_wrong_kind(r, owner, row, json,
                             WS_WORD("an integer or a string with an expression"));
    WsExpr *e;
    if (json->kind == WS_JSON_INT) {
        e = ws_expr_int(json->i);
    } else {
        g_autoptr(GError) error = NULL;
        e = ws_expr_parse(json->text, &error);
        if (e == NULL)
            return bad_text(r, json, WS_WORD("an expression"), FALSE, error);
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

gboolean ws_read_expr_or_bool(WsReader *r, WsNodeKind owner, const WsFieldRow *row,
                              const WsJson *json, WsValue *out)
{
    if (json->kind == WS_JSON_BOOL)
        return ws_read_bool(r, owner, row, json, out);
    return ws_read_expr(r, owner, row, json, out);
}

gboolean ws_read_ref(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                     WsValue *out)
{
    if (json->kind != WS_JSON_TEXT)
        return ws_wrong_kind(r, owner, row, json, WS_WORD("a string with a reference"));
    g_autoptr(GError) error = NULL;
    WsRef *ref = ws_ref_parse(json->text, &error);
    if (ref == NULL)
        return bad_text(r, json, WS_WORD("a reference"), TRUE, error);
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

gboolean ws_read_ref_or_expr(WsReader *r, WsNodeKind owner, const WsFieldRow *row,
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
    return ws_read_expr(r, owner, row, json, out);
}

gboolean ws_read_json(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                      WsValue *out)
{
    if (json->kind != WS_JSON_MAP)
        return ws_wrong_kind(r, owner, row, json, WS_WORD("an object"));
    out->kind = WS_VALUE_TEXT;
    out->text = ws_json_print(json);
    return TRUE;
}

gboolean ws_read_statement(WsReader *r, WsNodeKind owner, const WsFieldRow *row, const WsJson *json,
                           WsValue *out)
{
    if (json->kind != WS_JSON_TEXT)
        return ws_wrong_kind(r, owner, row, json, WS_WORD("a string with a statement"));
    g_autoptr(GError) error = NULL;
    WsStatement *s = ws_statement_parse(json->text, &error);
    if (s == NULL)
        return bad_text(r, json, WS_WORD("a statement"), FALSE, error);
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
