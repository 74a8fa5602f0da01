/* Reads documents: objects and steps by the tables, findings with path, line and remedy. */
#include "base/phrase.h"
#include "base/text.h"
#include "model/internal.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

/* --- the reader's state ----------------------------------------------------------------------- */

void ws_reader_init(WsReader *r, WsFindings *findings, gboolean places)
{
    memset(r, 0, sizeof *r);
    r->findings = findings;
    r->path = g_string_new(NULL);
    r->places = places;
}

void ws_reader_clear(WsReader *r)
{
    g_string_free(r->path, TRUE);
    r->path = NULL;
}

gboolean ws_reader_full(const WsReader *r)
{
    return r->n_errors >= WS_READER_MAX_ERRORS;
}

gsize ws_reader_enter(WsReader *r, const char *segment)
{
    const gsize mark = r->path->len;
    if (mark > 0)
        g_string_append_c(r->path, '/');
    g_string_append(r->path, segment);
    return mark;
}

gsize ws_reader_enter_index(WsReader *r, guint index)
{
    char text[16];
    g_snprintf(text, sizeof text, "%u", index);
    return ws_reader_enter(r, text);
}

void ws_reader_leave(WsReader *r, gsize mark)
{
    g_string_truncate(r->path, mark);
}

WsFinding *ws_reader_report(WsReader *r, WsRuleId rule, WsTextPlace at, const char *format, ...)
{
    if (ws_reader_full(r))
        return NULL;
    va_list args;
    va_start(args, format);
    g_autofree char *phrase = ws_phrase_v(format, args);
    va_end(args);
    g_autofree char *message = ws_phrase_text(phrase, NULL, NULL);
    if (strlen(message) > 400) { /* texts of the document may be long */
        char *cut = g_utf8_offset_to_pointer(message, g_utf8_strlen(message, 380));
        strcpy(cut, "…");
        g_free(phrase);
        phrase = g_steal_pointer(&message);
    }
    WsFinding *f = ws_findings_add(r->findings, rule, r->path->str, "%s", phrase);
    if (r->places && at.line == 0 && r->json != NULL)
        at = ws_json_place(r->json, r->path->str);
    if (r->places) {
        f->line = at.line;
        f->column = at.column;
    }
    if (f->severity == WS_SEVERITY_ERROR)
        r->n_errors++;
    return f;
}

/* --- objects and steps ------------------------------------------------------------------------ */

static void report_unknown_key(WsReader *r, const WsJson *json, guint i, WsNodeKind kind)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(kind, &n);
    g_autofree const char **keys = g_new(const char *, n);
    for (guint k = 0; k < n; k++)
        keys[k] = ws_node_key(kind, rows[k].field);
    const char *near = ws_text_nearest(json->key[i], keys, n);
    const gsize mark = ws_reader_enter(r, json->key[i]);
    WsFinding *f = ws_reader_report(
        r, WS_RULE_S_KEY, json->key_at[i], "%s%s has no key \"%s\"", ws_node_kind_keyword(kind),
        ws_node_kind_is_step(kind) ? WS_WORD(" step") : "", json->key[i]);
    if (f != NULL && near != NULL)
        ws_finding_set_remedy(f, "did you mean \"%s\"?", near);
    else if (f != NULL)
        ws_finding_set_remedy(f, "remove it; foreign data belongs in note or studio");
    ws_reader_leave(r, mark);
}

/* The row of a key, or NULL; a step's own keyword is its row WS_F_keyword. */
static const WsFieldRow *row_of_key(WsNodeKind kind, const char *key)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(kind, &n);
    for (guint i = 0; i < n; i++)
        if (strcmp(ws_node_key(kind, rows[i].field), key) == 0)
            return &rows[i];
    return NULL;
}

/* The kind of a step by its one keyword; WS_NODE_KIND_COUNT after reporting. */
static WsNodeKind step_kind(WsReader *r, const WsJson *json)
{
    WsNodeKind kind = WS_NODE_KIND_COUNT;
    for (guint i = 0; i < json->n; i++) {
        const WsNodeKind k = ws_step_find(json->key[i]);
        if (k == WS_NODE_KIND_COUNT)
            continue;
        if (kind != WS_NODE_KIND_COUNT) {
            WsFinding *f = ws_reader_report(r, WS_RULE_S_STEP, json->key_at[i],
                                            "a step has one keyword, this one has %s and %s",
                                            ws_node_kind_keyword(kind), json->key[i]);
            if (f != NULL)
                ws_finding_set_remedy(f, "make two steps of it");
            return WS_NODE_KIND_COUNT;
        }
        kind = k;
    }
    if (kind != WS_NODE_KIND_COUNT)
        return kind;
    const char *words[WS_NODE_KIND_COUNT];
    guint n = 0;
    for (WsNodeKind k = 0; k < WS_NODE_KIND_COUNT; k++)
        if (ws_node_kind_is_step(k))
            words[n++] = ws_node_kind_keyword(k);
    WsFinding *f =
        ws_reader_report(r, WS_RULE_S_STEP, json->at,
                         json->n > 0 ? "no key of this step is a step keyword" : "an empty step");
    const char *near = json->n > 0 ? ws_text_nearest(json->key[0], words, n) : NULL;
    if (f != NULL && near != NULL)
        ws_finding_set_remedy(f, "did you mean \"%s\" for \"%s\"?", near, json->key[0]);
    else if (f != NULL)
        ws_finding_set_remedy(f, "begin with a keyword such as \"load\" or \"wait\"");
    return WS_NODE_KIND_COUNT;
}

static gboolean count_step(WsReader *r, const WsJson *json)
{
    if (++r->n_steps <= WS_DESIGN_MAX_STEPS)
        return TRUE;
    if (r->n_steps == WS_DESIGN_MAX_STEPS + 1)
        ws_reader_report(r, WS_RULE_S_LIMIT, json->at, "more than %d steps", WS_DESIGN_MAX_STEPS);
    return FALSE;
}

static gboolean open_body(WsReader *r, const WsJson *json)
{
    if (++r->nesting <= WS_DESIGN_MAX_NESTING)
        return TRUE;
    WsFinding *f = ws_reader_report(r, WS_RULE_S_LIMIT, json->at, "bodies nested deeper than %d",
                                    WS_DESIGN_MAX_NESTING);
    if (f != NULL)
        ws_finding_set_remedy(f, "merge loops or conditions");
    return FALSE;
}

static gboolean read_member(WsReader *r, const WsJson *json, guint i, WsNode *node)
{
    const WsFieldRow *row = row_of_key(node->kind, json->key[i]);
    if (row == NULL) {
        report_unknown_key(r, json, i, node->kind);
        return FALSE;
    }
    const gsize mark = ws_reader_enter(r, json->key[i]);
    gboolean ok = TRUE;
    if (row->kind == WS_FIELD_STEPS)
        ok = open_body(r, &json->item[i]);
    ok = ok && ws_read_field(r, node->kind, row, &json->item[i], ws_node_slot(node, row->field));
    if (row->kind == WS_FIELD_STEPS)
        r->nesting--;
    ws_reader_leave(r, mark);
    return ok;
}

static gboolean check_required(WsReader *r, const WsJson *json, WsNodeKind kind)
{
    guint n;
    gboolean ok = TRUE;
    const WsFieldRow *rows = ws_node_rows(kind, &n);
    for (guint i = 0; i < n; i++) {
        const char *key = ws_node_key(kind, rows[i].field);
        if (!rows[i].required || ws_json_member(json, key) != NULL)
            continue;
        WsFinding *f = ws_reader_report(r, WS_RULE_S_MISSING, json->at, "\"%s\" is missing", key);
        if (f != NULL)
            ws_finding_set_remedy(f, "add \"%s\": %s, %s", key, ws_field_kind_help(rows[i].kind),
                                  rows[i].help);
        ok = FALSE;
    }
    return ok;
}

/* An await is of at least so much, or of exactly so much. */
static gboolean check_await(WsReader *r, WsTextPlace at, const WsNode *node)
{
    const gboolean least = ws_node_has(node, WS_F_at_least);
    if (least != ws_node_has(node, WS_F_equals))
        return TRUE;
    WsFinding *f =
        ws_reader_report(r, least ? WS_RULE_S_VALUE : WS_RULE_S_MISSING, at,
                         least ? "an await has \"at_least\" or \"equals\", this one has both"
                               : "an await has \"at_least\" or \"equals\", this one has none");
    if (f != NULL)
        ws_finding_set_remedy(f, least ? "remove one of the two"
                                       : "add \"at_least\" with what a launch must have added");
    return FALSE;
}

gboolean ws_check_together(WsReader *r, WsTextPlace at, const WsNode *node)
{
    if (node->kind == WS_STEP_AWAIT)
        return check_await(r, at, node);
    if (node->kind != WS_STEP_FOR)
        return TRUE;
    const gboolean count = ws_node_has(node, WS_F_count), over = ws_node_has(node, WS_F_over);
    if (count != over)
        return TRUE;
    WsFinding *f = ws_reader_report(r, count ? WS_RULE_S_VALUE : WS_RULE_S_MISSING, at,
                                    count ? "a loop has \"count\" or \"over\", this one has both"
                                          : "a loop has \"count\" or \"over\", this one has none");
    if (f != NULL)
        ws_finding_set_remedy(f, count ? "remove one of the two"
                                       : "add \"count\" with the number of rounds");
    return FALSE;
}

WsNode *ws_read_node(WsReader *r, const WsJson *json, WsNodeKind kind)
{
    const gboolean step = kind == WS_NODE_KIND_COUNT || ws_node_kind_is_step(kind);
    if (ws_reader_full(r))
        return NULL;
    if (json->kind != WS_JSON_MAP) {
        g_autofree char *found = ws_phrase_word(ws_json_kind_text(json));
        WsFinding *f =
            ws_reader_report(r, WS_RULE_S_KIND, json->at, "%s must be an object, not %s",
                             step ? WS_WORD("a step") : ws_node_kind_keyword(kind), found);
        if (f != NULL)
            ws_finding_set_remedy(f, "write { … }");
        return NULL;
    }
    if (step && !count_step(r, json))
        return NULL;
    if (kind == WS_NODE_KIND_COUNT)
        kind = step_kind(r, json);
    if (kind == WS_NODE_KIND_COUNT)
        return NULL;
    WsNode *node = ws_node_new(kind);
    node->line = r->places ? json->at.line : 0;
    node->column = r->places ? json->at.column : 0;
    gboolean ok = check_required(r, json, kind);
    for (guint i = 0; i < json->n && !ws_reader_full(r); i++)
        if (!read_member(r, json, i, node))
            ok = FALSE;
    if (ok && !ws_reader_full(r) && ws_check_together(r, json->at, node))
        return node;
    ws_node_unref(node);
    return NULL;
}

/* --- documents -------------------------------------------------------------------------------- */

/* Looks at the version before anything else: a newer document may have keys unknown here. */
static gboolean check_version(WsReader *r, const WsJson *json)
{
    const WsJson *v = ws_json_member(json, "warpstave");
    if (v == NULL || v->kind != WS_JSON_INT)
        return TRUE; /* reported with the other fields */
    if (v->i >= 1 && v->i <= WS_DESIGN_VERSION)
        return TRUE;
    const gsize mark = ws_reader_enter(r, "warpstave");
    WsFinding *f = ws_reader_report(
        r, WS_RULE_V_VERSION, v->at,
        "format version %" G_GINT64_FORMAT ", this program reads 1 to %d", v->i, WS_DESIGN_VERSION);
    if (f != NULL)
        ws_finding_set_remedy(f, v->i > WS_DESIGN_VERSION ? "use a newer Warpstave"
                                                          : "write \"warpstave\": 1");
    ws_reader_leave(r, mark);
    return FALSE;
}

WsNode *ws_read_document(WsReader *r, const WsJson *json)
{
    WsNode *root = NULL;
    r->json = json;
    if (json != NULL && r->n_errors == 0 && check_version(r, json))
        root = ws_read_node(r, json, WS_NODE_DESIGN);
    if (root != NULL && r->n_errors == 0)
        ws_check_document(r, root);
    r->json = NULL;
    if (r->n_errors == 0)
        return root;
    ws_node_unref(root);
    return NULL;
}
