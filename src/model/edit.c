/* Edits as values, and their text form. */
#include "model/edit.h"

#include <gio/gio.h>
#include <string.h>

/* What follows the verb: path, key (of a field or list), to (path), index, value. */
static const struct {
    const char *verb, *form;
    gboolean to, key, index, json;
} shapes[] = {
    [WS_EDIT_SET] = { "set", "set PATH FIELD JSON", FALSE, TRUE, FALSE, TRUE },
    [WS_EDIT_UNSET] = { "unset", "unset PATH FIELD", FALSE, TRUE, FALSE, FALSE },
    [WS_EDIT_INSERT] = { "insert", "insert PATH LIST INDEX JSON", FALSE, TRUE, TRUE, TRUE },
    [WS_EDIT_REMOVE] = { "remove", "remove PATH", FALSE, FALSE, FALSE, FALSE },
    [WS_EDIT_MOVE] = { "move", "move PATH TO-PATH LIST INDEX", TRUE, TRUE, TRUE, FALSE },
    [WS_EDIT_REPLACE] = { "replace", "replace PATH JSON", FALSE, FALSE, FALSE, TRUE },
};

void ws_edit_free(WsEdit *edit)
{
    if (edit == NULL)
        return;
    g_free(edit->path);
    g_free(edit->to);
    g_free(edit->key);
    ws_json_free(edit->value);
    g_free(edit);
}

static WsEdit *new_edit(WsEditKind kind, const char *path, const char *key, WsJson *value)
{
    WsEdit *edit = g_new0(WsEdit, 1);
    edit->kind = kind;
    edit->path = g_strdup(path);
    edit->key = g_strdup(key);
    edit->value = value;
    return edit;
}

WsEdit *ws_edit_new_set(const char *path, const char *field, WsJson *value)
{
    return new_edit(value != NULL ? WS_EDIT_SET : WS_EDIT_UNSET, path, field, value);
}

WsEdit *ws_edit_new_insert(const char *path, const char *list, guint index, WsJson *value)
{
    WsEdit *edit = new_edit(WS_EDIT_INSERT, path, list, value);
    edit->index = index;
    return edit;
}

WsEdit *ws_edit_new_remove(const char *path)
{
    return new_edit(WS_EDIT_REMOVE, path, NULL, NULL);
}

WsEdit *ws_edit_new_move(const char *path, const char *to, const char *list, guint index)
{
    WsEdit *edit = new_edit(WS_EDIT_MOVE, path, list, NULL);
    edit->to = g_strdup(to);
    edit->index = index;
    return edit;
}

WsEdit *ws_edit_new_replace(const char *path, WsJson *value)
{
    return new_edit(WS_EDIT_REPLACE, path, NULL, value);
}

WsEdit *ws_edit_copy_of(const WsEdit *edit)
{
    WsEdit *copy = new_edit(edit->kind, edit->path, edit->key,
                            edit->value != NULL ? ws_json_copy(edit->value) : NULL);
    copy->to = g_strdup(edit->to);
    copy->index = edit->index;
    return copy;
}

gboolean ws_edit_takes_away(const WsEdit *edit)
{
    return edit->kind == WS_EDIT_REMOVE || edit->kind == WS_EDIT_MOVE;
}

/* --- text ------------------------------------------------------------------------------------- */

static gboolean malformed(GError **error, const char *form)
{
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                "an edit of the form \"%s\" is expected", form);
    return FALSE;
}

/* The next word of *rest, or NULL; moves *rest behind it. */
static char *next_word(const char **rest)
{
    while (*(*rest) == ' ')
        (*rest)++;
    const gsize n = strcspn(*rest, " \n");
    char *word = n > 0 ? g_strndup(*rest, n) : NULL;
    *rest += n;
    return word;
}

static gboolean parse_index(const char *word, guint *index)
{
    guint64 value;
    if (word == NULL || !g_ascii_string_to_unsigned(word, 10, 0, G_MAXINT, &value, NULL))
        return FALSE;
    *index = (guint)value;
    return TRUE;
}

static gboolean parse_rest(WsEdit *edit, const char *rest, GError **error)
{
    const char *form = shapes[edit->kind].form;
    edit->path = next_word(&rest);
    if (edit->path == NULL)
        return malformed(error, form);
    if (shapes[edit->kind].to && (edit->to = next_word(&rest)) == NULL)
        return malformed(error, form);
    if (shapes[edit->kind].key && (edit->key = next_word(&rest)) == NULL)
        return malformed(error, form);
    if (shapes[edit->kind].index) {
        g_autofree char *word = next_word(&rest);
        if (!parse_index(word, &edit->index))
            return malformed(error, form);
    }
    if (shapes[edit->kind].json)
        return (edit->value = ws_json_read(rest, error)) != NULL;
    return rest[strspn(rest, " \n")] == '\0' ? TRUE : malformed(error, form);
}

WsEdit *ws_edit_parse(const char *text, GError **error)
{
    const char *rest = text;
    g_autofree char *verb = next_word(&rest);
    for (guint k = 0; verb != NULL && k < G_N_ELEMENTS(shapes); k++) {
        if (strcmp(shapes[k].verb, verb) != 0)
            continue;
        WsEdit *edit = g_new0(WsEdit, 1);
        edit->kind = k;
        if (parse_rest(edit, rest, error))
            return edit;
        ws_edit_free(edit);
        return NULL;
    }
    malformed(error, "set|unset|insert|remove|move|replace PATH …");
    return NULL;
}

char *ws_edit_print(const WsEdit *edit)
{
    GString *s = g_string_new(shapes[edit->kind].verb);
    g_string_append_printf(s, " %s", edit->path);
    if (edit->to != NULL)
        g_string_append_printf(s, " %s", edit->to);
    if (edit->key != NULL)
        g_string_append_printf(s, " %s", edit->key);
    if (shapes[edit->kind].index)
        g_string_append_printf(s, " %u", edit->index);
    if (edit->value != NULL) {
        g_string_append_c(s, ' ');
        ws_json_append_text(s, edit->value);
    }
    return g_string_free(s, FALSE);
}
