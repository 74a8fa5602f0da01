/* Trees of values, made by hand. */
#include "base/text.h"
#include "model/findings.h"
#include "model/internal.h"

#include <gio/gio.h>
#include <string.h>

static WsJson *new_json(WsJsonKind kind, char *text)
{
    WsJson *json = g_new0(WsJson, 1);
    json->kind = kind;
    json->text = text;
    return json;
}

WsJson *ws_json_int(gint64 value)
{
    WsJson *json = new_json(WS_JSON_INT, g_strdup_printf("%" G_GINT64_FORMAT, value));
    json->i = value;
    json->r = (double)value;
    return json;
}

WsJson *ws_json_bool(gboolean value)
{
    WsJson *json = new_json(WS_JSON_BOOL, NULL);
    json->b = value;
    return json;
}

WsJson *ws_json_take_text(char *text)
{
    return text != NULL ? new_json(WS_JSON_TEXT, text) : NULL;
}

WsJson *ws_json_text(const char *text)
{
    return ws_json_take_text(g_strdup(text));
}

WsJson *ws_json_format(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    WsJson *json = ws_json_take_text(g_strdup_vprintf(format, list));
    va_end(list);
    return json;
}

WsJson *ws_json_expr(const char *text)
{
    gint64 value;
    if (text == NULL || *text == '\0')
        return NULL;
    g_autoptr(WsExpr) e = ws_expr_parse(text, NULL);
    return e != NULL && ws_expr_is_int(e, &value) ? ws_json_int(value) : ws_json_text(text);
}

WsJson *ws_json_list(void)
{
    return new_json(WS_JSON_LIST, NULL);
}

WsJson *ws_json_map(void)
{
    return new_json(WS_JSON_MAP, NULL);
}

void ws_json_append(WsJson *json, const char *key, WsJson *item)
{
    if (item == NULL)
        return;
    if (json->n >= json->room) {
        json->room = MAX(4, 2 * json->n);
        json->item = g_renew(WsJson, json->item, json->room);
        if (json->kind == WS_JSON_MAP) {
            json->key = g_renew(char *, json->key, json->room);
            json->key_at = g_renew(WsTextPlace, json->key_at, json->room);
        }
    }
    json->item[json->n] = *item;
    g_free(item);
    if (json->kind == WS_JSON_MAP) {
        json->key[json->n] = g_strdup(key);
        json->key_at[json->n] = (WsTextPlace){ 0, 0 };
    }
    json->n++;
}

void ws_json_add(WsJson *list, WsJson *item)
{
    ws_json_append(list, NULL, item);
}

void ws_json_put(WsJson *map, const char *key, WsJson *value)
{
    ws_json_append(map, key, value);
}

WsJson *ws_json_with(WsJson *map, const char *key, WsJson *value)
{
    for (guint i = 0; i < map->n; i++) {
        if (strcmp(map->key[i], key) != 0)
            continue;
        ws_json_clear(&map->item[i]);
        if (value) {
            map->item[i] = *value;
            g_free(value);
            return map;
        }
        g_free(map->key[i]);
        for (map->n--; i < map->n; i++) {
            map->item[i] = map->item[i + 1];
            map->key[i] = map->key[i + 1];
            map->key_at[i] = map->key_at[i + 1];
        }
        return map;
    }
    ws_json_append(map, key, value);
    return map;
}

WsJson *ws_json_make(WsNodeKind kind, const WsFieldValue *part, gsize n)
{
    WsJson *json = ws_json_map();
    for (gsize i = 0; i < n; i++)
        ws_json_append(json, ws_node_key(kind, part[i].field), part[i].value);
    return json;
}

WsJson *ws_json_at(WsJson *json, guint line, guint column)
{
    json->at = (WsTextPlace){ line, column };
    return json;
}

WsJson *ws_json_copy(const WsJson *json)
{
    WsJson *copy = new_json(json->kind, g_strdup(json->text));
    copy->at = json->at;
    copy->b = json->b;
    copy->i = json->i;
    copy->r = json->r;
    for (guint i = 0; i < json->n; i++)
        ws_json_append(copy, json->key != NULL ? json->key[i] : NULL, ws_json_copy(&json->item[i]));
    return copy;
}

const char *ws_json_member_text(const WsJson *json, const char *key)
{
    const WsJson *member = ws_json_member(json, key);
    return member != NULL && member->kind == WS_JSON_TEXT ? member->text : NULL;
}

guint ws_json_replace(WsJson *json, gboolean keys, WsJsonReplace replace, gpointer data)
{
    guint hits = 0;
    if (json->kind == WS_JSON_TEXT) {
        WsJson *now = replace(json->text, data);
        if (now == NULL)
            return 0;
        ws_json_clear(json);
        *json = *now;
        g_free(now);
        return 1;
    }
    for (guint i = 0; i < json->n; i++) {
        WsJson *key = keys && json->key != NULL ? replace(json->key[i], data) : NULL;
        if (key != NULL) {
            g_free(json->key[i]);
            json->key[i] = g_steal_pointer(&key->text);
            ws_json_free(key);
            hits++;
        }
        hits += ws_json_replace(&json->item[i], keys, replace, data);
    }
    return hits;
}

WsJson *ws_json_read(const char *text, GError **error)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsReader r;
    ws_reader_init(&r, findings, TRUE);
    g_autoptr(WsJson) json = ws_json_parse(text, strlen(text), &r);
    const gboolean ok = json != NULL && r.n_errors == 0;
    ws_reader_clear(&r);
    if (ok)
        return g_steal_pointer(&json);
    const WsFinding *f = g_ptr_array_index(findings->list, 0);
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "not JSON at column %u: %s",
                f->column, f->message);
    return NULL;
}

/* --- what the parser of text looks at --------------------------------------------------------- */

static gboolean check_text(WsReader *r, const WsJson *json, const char *text, gsize *bytes)
{
    *bytes += strlen(text) + 4; /* quotes, and what stands between members */
    if (g_utf8_validate(text, -1, NULL))
        return TRUE;
    ws_reader_report(r, WS_RULE_S_IO, json->at, "a byte that is not UTF-8");
    return FALSE;
}

static gboolean check_tree(WsReader *r, const WsJson *json, guint depth, gsize *bytes)
{
    if (json->text != NULL && !check_text(r, json, json->text, bytes))
        return FALSE;
    if (json->kind != WS_JSON_LIST && json->kind != WS_JSON_MAP)
        return TRUE;
    if (depth >= WS_DESIGN_MAX_JSON_DEPTH) {
        ws_reader_report(r, WS_RULE_S_LIMIT, json->at, "nested deeper than %d lists and objects",
                         WS_DESIGN_MAX_JSON_DEPTH);
        return FALSE;
    }
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < json->n; i++) {
        const gboolean map = json->kind == WS_JSON_MAP;
        const gsize mark = map ? ws_reader_enter(r, json->key[i]) : ws_reader_enter_index(r, i);
        gboolean ok = !map || check_text(r, json, json->key[i], bytes);
        if (ok && map && !g_hash_table_add(known, json->key[i])) {
            WsFinding *f = ws_reader_report(r, WS_RULE_S_REPEATED, json->at,
                                            "key \"%s\" appears twice in one object", json->key[i]);
            if (f != NULL)
                ws_finding_set_remedy(f, "remove one of the two");
            ok = FALSE;
        }
        ok = ok && check_tree(r, &json->item[i], depth + 1, bytes);
        ws_reader_leave(r, mark);
        if (!ok)
            return FALSE;
    }
    return TRUE;
}

gboolean ws_json_check(const WsJson *json, WsReader *reader)
{
    gsize bytes = 0;
    if (!check_tree(reader, json, reader->depth, &bytes))
        return FALSE;
    if (bytes <= WS_DESIGN_MAX_BYTES)
        return TRUE;
    WsFinding *f = ws_reader_report(reader, WS_RULE_S_LIMIT, json->at,
                                    "the text is longer than %d bytes", WS_DESIGN_MAX_BYTES);
    if (f != NULL)
        ws_finding_set_remedy(f, "split the design");
    return FALSE;
}
