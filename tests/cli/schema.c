#include "schema.h"

#include <string.h>

static GHashTable *files, *met;

static json_object *file_of(const char *name)
{
    if (!files) {
        files = g_hash_table_new(g_str_hash, g_str_equal);
        met = g_hash_table_new(NULL, NULL);
    }
    json_object *schema = g_hash_table_lookup(files, name);
    if (schema)
        return schema;
    g_autofree char *path = g_strdup_printf(WS_SOURCE_ROOT "/docs/schema/%s", name);
    schema = json_object_from_file(path);
    if (!schema)
        g_error("%s: no JSON", path);
    g_hash_table_insert(files, g_strdup(name), schema);
    return schema;
}

static json_object *get(json_object *of, const char *name)
{
    json_object *value = NULL;
    return json_object_object_get_ex(of, name, &value) ? value : NULL;
}

/* "FILE#/POINTER"; `*root` is the file that it stands in, then the one that it leads to. */
static json_object *follow(const char *reference, json_object **root)
{
    g_auto(GStrv) part = g_strsplit(reference, "#", 2);
    json_object *to = NULL;
    if (*part[0])
        *root = file_of(part[0]);
    if (json_pointer_get(*root, part[1], &to) != 0)
        g_error("%s leads nowhere", reference);
    return to;
}

static gboolean is_type(json_object *value, const char *type)
{
    if (strcmp(type, "number") == 0 && json_object_is_type(value, json_type_int))
        return TRUE;
    if (strcmp(type, "number") == 0)
        return json_object_is_type(value, json_type_double);
    if (strcmp(type, "integer") == 0)
        return json_object_is_type(value, json_type_int);
    return strcmp(type, json_type_to_name(json_object_get_type(value))) == 0;
}

static gboolean one_of(json_object *list, json_object *value, gboolean types)
{
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        json_object *one = json_object_array_get_idx(list, i);
        if (types ? is_type(value, json_object_get_string(one)) : json_object_equal(one, value))
            return TRUE;
    }
    return FALSE;
}

typedef struct {
    json_object *root, *schema, *value;
    const char *at;
} Place;

static char *judge(Place p);

static char *wrong(const Place *p, const char *what, const char *more)
{
    return g_strdup_printf("%s: %s %s: %.80s", *p->at ? p->at : "the output", what, more,
                           json_object_to_json_string(p->value));
}

static char *judge_members(const Place *p, json_object *members)
{
    json_object *closed = get(p->schema, "additionalProperties"),
                *most = get(p->schema, "required");
    g_assert_true(closed && !json_object_get_boolean(closed)); /* no schema leaves members open */
    if (!json_object_is_type(p->value, json_type_object))
        return NULL;
    for (size_t i = 0; i < json_object_array_length(most); i++) {
        const char *name = json_object_get_string(json_object_array_get_idx(most, i));
        if (!json_object_object_get_ex(p->value, name, NULL))
            return wrong(p, "has no", name);
    }
    json_object_object_foreach(p->value, name, value)
    {
        json_object *schema = get(members, name);
        g_autofree char *at = g_strconcat(p->at, *p->at ? "." : "", name, NULL);
        if (!schema)
            return wrong(p, "has a member that the schema does not name,", name);
        g_hash_table_add(met, schema);
        char *no = judge((Place){ p->root, schema, value, at });
        if (no)
            return no;
    }
    return NULL;
}

static char *judge_any(const Place *p, json_object *list)
{
    g_autoptr(GString) all = g_string_new(NULL);
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        g_autofree char *no =
            judge((Place){ p->root, json_object_array_get_idx(list, i), p->value, p->at });
        if (!no)
            return NULL;
        g_string_append_printf(all, "%s; ", no);
    }
    return g_string_free(g_steal_pointer(&all), FALSE);
}

static char *judge_keyword(const Place *p, const char *keyword, json_object *says)
{
    static const char *const silent[] = { "$schema", "title",    "description",
                                          "$defs",   "required", "additionalProperties" };
    if (strcmp(keyword, "$ref") == 0) {
        json_object *root = p->root, *to = follow(json_object_get_string(says), &root);
        return judge((Place){ root, to, p->value, p->at });
    }
    if (strcmp(keyword, "anyOf") == 0)
        return judge_any(p, says);
    if (strcmp(keyword, "properties") == 0)
        return judge_members(p, says);
    if (strcmp(keyword, "type") == 0) {
        const gboolean many = json_object_is_type(says, json_type_array);
        return (many ? one_of(says, p->value, TRUE)
                     : is_type(p->value, json_object_get_string(says)))
                   ? NULL
                   : wrong(p, "is not of type", json_object_get_string(says));
    }
    if (strcmp(keyword, "const") == 0 || strcmp(keyword, "enum") == 0)
        return (*keyword == 'e' ? one_of(says, p->value, FALSE) : json_object_equal(says, p->value))
                   ? NULL
                   : wrong(p, "is not", json_object_get_string(says));
    if (strcmp(keyword, "items") == 0) {
        char *no = NULL;
        const gboolean list = json_object_is_type(p->value, json_type_array);
        for (size_t i = 0; list && !no && i < json_object_array_length(p->value); i++) {
            g_autofree char *at = g_strdup_printf("%s[%zu]", p->at, i);
            no = judge((Place){ p->root, says, json_object_array_get_idx(p->value, i), at });
        }
        return no;
    }
    for (guint i = 0; i < G_N_ELEMENTS(silent); i++)
        if (strcmp(keyword, silent[i]) == 0)
            return NULL;
    g_error("keyword %s is not understood", keyword);
}

static char *judge(Place p)
{
    json_object_object_foreach(p.schema, keyword, says)
    {
        char *no = judge_keyword(&p, keyword, says);
        if (no)
            return no;
    }
    return NULL;
}

char *schema_check(const char *name, json_object *value)
{
    g_autofree char *file = g_strconcat(name, ".json", NULL);
    json_object *root = file_of(file);
    return judge((Place){ root, root, value, "" });
}

static void never(json_object *schema, const char *at, GPtrArray *out)
{
    if (json_object_is_type(schema, json_type_array))
        for (size_t i = 0; i < json_object_array_length(schema); i++)
            never(json_object_array_get_idx(schema, i), at, out);
    if (!json_object_is_type(schema, json_type_object))
        return;
    json_object_object_foreach(schema, keyword, inner)
    {
        if (strcmp(keyword, "properties") != 0) {
            never(inner, at, out);
            continue;
        }
        json_object_object_foreach(inner, name, member)
        {
            g_autofree char *path = g_strconcat(at, ".", name, NULL);
            if (!g_hash_table_contains(met, member))
                g_ptr_array_add(out, g_strdup(path));
            never(member, path, out);
        }
    }
}

GPtrArray *schema_never_met(const char *name)
{
    g_autofree char *file = g_strconcat(name, ".json", NULL);
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    never(file_of(file), name, out);
    return out;
}
