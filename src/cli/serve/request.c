#include "cli/serve/request.h"

#include "model/design.h"

#include <string.h>

typedef enum { ANY, TEXT, INTEGER, TEXTS, NUMBERS } Form;

/* Members of requests, and the operations that take them. */
static const struct {
    const char *name;
    Form form;
    const char *taken_by; /* words; NULL: all */
} members[] = {
    { "id", ANY, NULL },
    { "do", TEXT, NULL },
    { "file", TEXT, NULL },
    { "design", TEXT, "check simulate advise fix" },
    { "text", TEXT, "import" },
    { "set", NUMBERS, "check simulate advise fix" },
    { "size", NUMBERS, "simulate advise" },
    { "machine", TEXT, "simulate advise" },
    { "edits", INTEGER, "advise" },
    { "from", TEXT, "import" },
    { "kernel", TEXT, "import" },
    { "define", TEXTS, "import" },
};

static const char *const wanted[] = {
    [ANY] = "any value",
    [TEXT] = "a string",
    [INTEGER] = "an integer",
    [TEXTS] = "a list of strings",
    [NUMBERS] = "an object of integers",
};

static gboolean is_text(json_object *value)
{
    /* no byte 0: it would end the text for everybody who reads it */
    return json_object_is_type(value, json_type_string) &&
           strlen(json_object_get_string(value)) == (gsize)json_object_get_string_len(value);
}

/* json-c takes what does not fit for the nearest number that does. */
static gboolean is_integer(json_object *value)
{
    const gint64 i = json_object_get_int64(value);
    return json_object_is_type(value, json_type_int) && i != G_MAXINT64 && i != G_MININT64;
}

static gboolean fits(json_object *value, Form form)
{
    switch (form) {
    case ANY:
        return TRUE;
    case TEXT:
        return is_text(value);
    case INTEGER:
        return is_integer(value);
    case TEXTS:
        if (!json_object_is_type(value, json_type_array))
            return FALSE;
        for (gsize i = 0; i < json_object_array_length(value); i++)
            if (!is_text(json_object_array_get_idx(value, i)))
                return FALSE;
        return TRUE;
    case NUMBERS:
        if (!json_object_is_type(value, json_type_object))
            return FALSE;
        json_object_object_foreach(value, key, number)
        {
            (void)key;
            if (!is_integer(number))
                return FALSE;
        }
        return TRUE;
    }
    return FALSE;
}

static gboolean names(const char *words, const char *word)
{
    g_auto(GStrv) each = g_strsplit(words, " ", -1);
    return g_strv_contains((const char *const *)each, word);
}

/* NULL: it is as it should be. */
static char *problem_of(const char *what, const char *name, json_object *value)
{
    for (guint i = 0; i < G_N_ELEMENTS(members); i++) {
        if (strcmp(members[i].name, name) != 0)
            continue;
        if (members[i].taken_by && !names(members[i].taken_by, what))
            return g_strdup_printf("\"%s\" does not go with \"%s\"", name, what);
        return fits(value, members[i].form)
                   ? NULL
                   : g_strdup_printf("\"%s\" must be %s", name, wanted[members[i].form]);
    }
    return g_strdup_printf("no member \"%s\" is known", name);
}

static GArray *settings(const WsRequest *r, const char *name)
{
    GArray *list = g_array_new(FALSE, TRUE, sizeof(WsSetting));
    json_object *map;
    if (!json_object_object_get_ex(r->json, name, &map))
        return list;
    json_object_object_foreach(map, key, value)
    {
        WsSetting one = { .name = key, .value = json_object_get_int64(value) };
        g_array_append_val(list, one);
    }
    return list;
}

static json_object *parse(const char *line, gsize length, char **problem)
{
    json_tokener *t = json_tokener_new_ex(WS_DESIGN_MAX_JSON_DEPTH + 2);
    json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    json_object *json = json_tokener_parse_ex(t, line, (int)length);
    const enum json_tokener_error error = json_tokener_get_error(t);
    const gsize end = json_tokener_get_parse_end(t);
    if (error != json_tokener_success)
        *problem = g_strdup_printf("no JSON at byte %" G_GSIZE_FORMAT ": %s", end,
                                   error == json_tokener_continue ? "it ends too early"
                                                                  : json_tokener_error_desc(error));
    else if (end < length)
        *problem = g_strdup_printf("more than one value: byte %" G_GSIZE_FORMAT, end);
    else if (!json_object_is_type(json, json_type_object))
        *problem = g_strdup("a request is an object");
    json_tokener_free(t);
    if (*problem && json) {
        json_object_put(json);
        json = NULL;
    }
    return json;
}

/* What the answer can repeat as it was: json-c takes NaN, and changes numbers of more than 64 bits.
 */
static gboolean is_id(json_object *value)
{
    const gint64 most = (gint64)1 << 53;
    return json_object_is_type(value, json_type_null) ||
           json_object_is_type(value, json_type_string) ||
           (json_object_is_type(value, json_type_int) && json_object_get_int64(value) <= most &&
            json_object_get_int64(value) >= -most);
}

/* The standard input is the requests; what is no file may never end. */
static gboolean is_readable(const char *file)
{
    return strcmp(file, "-") &&
           (!g_file_test(file, G_FILE_TEST_EXISTS) || g_file_test(file, G_FILE_TEST_IS_REGULAR));
}

static void read_text(WsRequest *r)
{
    json_object *value;
    r->file = ws_request_text(r, "file");
    const gboolean given = json_object_object_get_ex(r->json, "design", &value) ||
                           json_object_object_get_ex(r->json, "text", &value);
    if (given) {
        r->text = json_object_get_string(value);
        r->length = strlen(r->text);
    }
    if (!given && r->file && !is_readable(r->file))
        r->problem = g_strdup("\"file\" must name a file, not a stream");
}

void ws_request_read(WsRequest *r, const char *line, gsize length)
{
    json_object *value;
    *r = (WsRequest){ .what = "" };
    r->json = parse(line, length, &r->problem);
    if (!r->json) {
        r->id = g_strdup("null");
        return;
    }
    const gboolean named = json_object_object_get_ex(r->json, "id", &value);
    r->id = g_strdup(named && is_id(value)
                         ? json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN)
                         : "null");
    if (named && !is_id(value)) {
        r->problem = g_strdup("\"id\" must be a text or an integer of at most 2^53");
        return;
    }
    if (!json_object_object_get_ex(r->json, "do", &value) || !is_text(value)) {
        r->problem = g_strdup("say what to do: \"do\"");
        return;
    }
    r->what = json_object_get_string(value);
    json_object_object_foreach(r->json, key, member)
    {
        if (!r->problem)
            r->problem = problem_of(r->what, key, member);
    }
    if (r->problem)
        return;
    r->set = settings(r, "set");
    r->size = settings(r, "size");
    read_text(r);
}

void ws_request_clear(WsRequest *r)
{
    g_clear_pointer(&r->json, json_object_put);
    g_clear_pointer(&r->id, g_free);
    g_clear_pointer(&r->problem, g_free);
    g_clear_pointer(&r->set, g_array_unref);
    g_clear_pointer(&r->size, g_array_unref);
}

const char *ws_request_text(const WsRequest *r, const char *name)
{
    json_object *value;
    return json_object_object_get_ex(r->json, name, &value) ? json_object_get_string(value) : NULL;
}

gint64 ws_request_integer(const WsRequest *r, const char *name, gint64 otherwise)
{
    json_object *value;
    return json_object_object_get_ex(r->json, name, &value) ? json_object_get_int64(value)
                                                            : otherwise;
}

char **ws_request_texts(const WsRequest *r, const char *name)
{
    json_object *list;
    if (!json_object_object_get_ex(r->json, name, &list))
        return NULL;
    const gsize n = json_object_array_length(list);
    char **out = g_new0(char *, n + 1);
    for (gsize i = 0; i < n; i++)
        out[i] = g_strdup(json_object_get_string(json_object_array_get_idx(list, i)));
    return out;
}
