/* Looking around in a JSON tree: members, places by path, compact text. */
#include "base/text.h"
#include "model/internal.h"

#include <string.h>

const WsJson *ws_json_member(const WsJson *json, const char *key)
{
    if (json->kind != WS_JSON_MAP)
        return NULL;
    for (guint i = 0; i < json->n; i++)
        if (strcmp(json->key[i], key) == 0)
            return &json->item[i];
    return NULL;
}

/* Member by key, item by index or by its member "name"; NULL if there is none. */
static const WsJson *step_into(const WsJson *json, const char *segment, WsTextPlace *at)
{
    for (guint i = 0; json->kind == WS_JSON_MAP && i < json->n; i++) {
        if (strcmp(json->key[i], segment) == 0) {
            *at = json->key_at[i].line > 0 ? json->key_at[i] : *at; /* 0: of what was built */
            return &json->item[i];
        }
    }
    for (guint i = 0; json->kind == WS_JSON_LIST && i < json->n; i++) {
        const WsJson *name = ws_json_member(&json->item[i], "name");
        g_autofree char *index = g_strdup_printf("%u", i);
        if (strcmp(index, segment) == 0 ||
            (name != NULL && name->text != NULL && strcmp(name->text, segment) == 0)) {
            *at = json->item[i].at.line > 0 ? json->item[i].at : *at;
            return &json->item[i];
        }
    }
    return NULL;
}

WsTextPlace ws_json_place(const WsJson *json, const char *path)
{
    g_auto(GStrv) segments = g_strsplit(path, "/", -1);
    WsTextPlace at = json->at;
    for (guint i = 0; segments[i] != NULL && json != NULL; i++)
        json = step_into(json, segments[i], &at);
    return at;
}

void ws_json_append_text(GString *out, const WsJson *json)
{
    switch (json->kind) {
    case WS_JSON_NULL:
        g_string_append(out, "null");
        break;
    case WS_JSON_BOOL:
        g_string_append(out, json->b ? "true" : "false");
        break;
    case WS_JSON_INT:
    case WS_JSON_REAL:
        g_string_append(out, json->text);
        break;
    case WS_JSON_TEXT:
        ws_text_json(out, json->text);
        break;
    case WS_JSON_LIST:
    case WS_JSON_MAP:
        g_string_append_c(out, json->kind == WS_JSON_LIST ? '[' : '{');
        for (guint i = 0; i < json->n; i++) {
            if (i > 0)
                g_string_append_c(out, ',');
            if (json->kind == WS_JSON_MAP) {
                ws_text_json(out, json->key[i]);
                g_string_append_c(out, ':');
            }
            ws_json_append_text(out, &json->item[i]);
        }
        g_string_append_c(out, json->kind == WS_JSON_LIST ? ']' : '}');
        break;
    }
}

char *ws_json_print(const WsJson *json)
{
    GString *out = g_string_new(NULL);
    ws_json_append_text(out, json);
    return g_string_free(out, FALSE);
}

const char *ws_json_kind_text(const WsJson *json)
{
    static const char *const text[] = {
        [WS_JSON_NULL] = "null",      [WS_JSON_BOOL] = "true or false",
        [WS_JSON_INT] = "an integer", [WS_JSON_REAL] = "a number with a fraction",
        [WS_JSON_TEXT] = "a string",  [WS_JSON_LIST] = "a list",
        [WS_JSON_MAP] = "an object",
    };
    return text[json->kind];
}
