#include "base/json_out.h"

#include "base/phrase.h"
#include "base/text.h"

void ws_json_out_init(WsJsonOut *json)
{
    *json = (WsJsonOut){ .out = g_string_new(NULL), .first = TRUE };
}

/* The begin of a member's value, or (name NULL) of an item. */
static void json_out_key(WsJsonOut *json, const char *name)
{
    if (json->line > 0)
        g_string_append(json->out, !json->first                                ? ", "
                                   : json->out->str[json->out->len - 1] == '{' ? " "
                                                                               : "");
    else if (json->depth > 0)
        g_string_append_printf(json->out, "%s\n%*s", json->first ? "" : ",", 2 * (int)json->depth,
                               "");
    json->first = FALSE;
    if (name == NULL)
        return;
    ws_text_json(json->out, name);
    g_string_append(json->out, ": ");
}

void ws_json_out_open(WsJsonOut *json, const char *name, char bracket)
{
    json_out_key(json, name);
    g_string_append_c(json->out, bracket);
    json->depth++;
    json->first = TRUE;
}

void ws_json_out_open_row(WsJsonOut *json, const char *name, char bracket)
{
    ws_json_out_open(json, name, bracket);
    json->line = json->line > 0 ? json->line : json->depth;
}

char *ws_json_out_end(WsJsonOut *json)
{
    g_string_append_c(json->out, '\n');
    return g_string_free(g_steal_pointer(&json->out), FALSE);
}

void ws_json_out_close(WsJsonOut *json, char bracket)
{
    const gboolean row = json->line > 0;
    if (json->line == json->depth)
        json->line = 0;
    json->depth--;
    if (!json->first && row)
        g_string_append(json->out, bracket == '}' ? " " : "");
    else if (!json->first)
        g_string_append_printf(json->out, "\n%*s", 2 * (int)json->depth, "");
    g_string_append_c(json->out, bracket);
    json->first = FALSE;
}

void ws_json_out_text(WsJsonOut *json, const char *name, const char *value)
{
    json_out_key(json, name);
    ws_text_json(json->out, value);
}

void ws_json_out_integer(WsJsonOut *json, const char *name, gint64 value)
{
    json_out_key(json, name);
    g_string_append_printf(json->out, "%" G_GINT64_FORMAT, value);
}

void ws_json_out_real(WsJsonOut *json, const char *name, double value)
{
    json_out_key(json, name);
    ws_text_json_real(json->out, value);
}

void ws_json_out_truth(WsJsonOut *json, const char *name, gboolean value)
{
    json_out_key(json, name);
    g_string_append(json->out, value ? "true" : "false");
}

void ws_json_out_texts(WsJsonOut *json, const char *name, const GPtrArray *list)
{
    json_out_key(json, name);
    g_string_append_c(json->out, '[');
    for (guint i = 0; list != NULL && i < list->len; i++) {
        g_autofree char *text = ws_phrase_text(list->pdata[i], NULL, NULL);
        g_string_append(json->out, i > 0 ? ", " : "");
        ws_text_json(json->out, text);
    }
    g_string_append_c(json->out, ']');
}

void ws_json_out_phrase(WsJsonOut *json, const char *name, const char *phrase)
{
    json_out_key(json, name);
    ws_phrase_json(json->out, phrase);
}
