/* Mutations of a JSON document by node. */
#include "nodes.h"

#include <string.h>

/* A place that holds a node: a member of an object or an item of a list. */
typedef struct {
    json_object *parent;
    char *key; /* NULL: an item of a list */
    size_t index;
} Place;

static void place_clear(gpointer data)
{
    g_free(((Place *)data)->key);
}

static json_object *held(const Place *p)
{
    return p->key ? json_object_object_get(p->parent, p->key)
                  : json_object_array_get_idx(p->parent, p->index);
}

static void put(const Place *p, json_object *node) /* takes it */
{
    if (p->key)
        json_object_object_add(p->parent, p->key, node);
    else
        json_object_array_put_idx(p->parent, p->index, node);
}

static void collect(json_object *node, GArray *places)
{
    if (json_object_is_type(node, json_type_object)) {
        json_object_object_foreach(node, key, child)
        {
            const Place p = { node, g_strdup(key), 0 };
            g_array_append_val(places, p);
            collect(child, places);
        }
    } else if (json_object_is_type(node, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(node); i++) {
            const Place p = { node, NULL, i };
            g_array_append_val(places, p);
            collect(json_object_array_get_idx(node, i), places);
        }
    }
}

static json_object *copy_of(json_object *node)
{
    json_object *copy = NULL;
    if (node)
        json_object_deep_copy(node, &copy, NULL);
    return copy;
}

static const Place *any(GRand *r, const GArray *places)
{
    return &g_array_index(places, Place, g_rand_int_range(r, 0, (gint)places->len));
}

/* One whose node is of this type, else any. */
static const Place *any_of(GRand *r, const GArray *places, json_type type)
{
    for (guint i = 0; i < 40; i++) {
        const Place *p = any(r, places);
        if (json_object_is_type(held(p), type))
            return p;
    }
    return any(r, places);
}

static json_object *number(GRand *r)
{
    return json_tokener_parse(fuzz_numbers[g_rand_int_range(r, 0, (gint)fuzz_n_numbers)]);
}

static json_object *text(GRand *r)
{
    g_autofree char *name = fuzz_name(r);
    return json_object_new_string(name);
}

/* --- one change each; the list of places is made anew for every one ----------------------------
 */

static void change_number(GRand *r, GArray *places)
{
    put(any_of(r, places, json_type_int), number(r));
}

static void change_text(GRand *r, GArray *places)
{
    const Place *p = any_of(r, places, json_type_string);
    if (!json_object_is_type(held(p), json_type_string) || g_rand_int_range(r, 0, 4) == 0) {
        put(p, text(r));
        return;
    }
    g_autofree char *now = fuzz_expression(r, json_object_get_string(held(p)));
    put(p, json_object_new_string(now));
}

static void replace(GRand *r, GArray *places)
{
    const Place *p = any(r, places);
    put(p, copy_of(held(any_of(r, places, json_object_get_type(held(p))))));
}

static void replace_by_any(GRand *r, GArray *places)
{
    const Place *p = any(r, places);
    put(p, copy_of(held(any(r, places))));
}

static void drop(GRand *r, GArray *places)
{
    const Place *p = any(r, places);
    if (p->key)
        json_object_object_del(p->parent, p->key);
    else
        json_object_array_del_idx(p->parent, p->index, 1);
}

static void insert(json_object *list, size_t at, json_object *node)
{
    const size_t n = json_object_array_length(list);
    json_object_array_add(list, node);
    for (size_t i = n; i > at; i--) {
        json_object *before = json_object_get(json_object_array_get_idx(list, i - 1));
        json_object *here = json_object_get(json_object_array_get_idx(list, i));
        json_object_array_put_idx(list, i, before);
        json_object_array_put_idx(list, i - 1, here);
    }
}

/* An item of a list again, there or in another list. */
static void twice(GRand *r, GArray *places)
{
    for (guint i = 0; i < 40; i++) {
        const Place *p = any(r, places);
        if (p->key)
            continue;
        const gboolean many = g_rand_int_range(r, 0, 8) == 0;
        gint n = many ? g_rand_int_range(r, 2, g_rand_boolean(r) ? 20 : 300) : 1;
        json_object *node = held(p);
        while (n-- > 0)
            insert(p->parent,
                   (size_t)g_rand_int_range(r, 0, (gint)json_object_array_length(p->parent) + 1),
                   copy_of(node));
        return;
    }
}

static void move(GRand *r, GArray *places)
{
    const Place *from = any(r, places);
    json_object *list = held(any_of(r, places, json_type_array)), *node = copy_of(held(from));
    if (!json_object_is_type(list, json_type_array)) {
        json_object_put(node);
        return;
    }
    insert(list, (size_t)g_rand_int_range(r, 0, (gint)json_object_array_length(list) + 1), node);
    if (g_rand_boolean(r) && !from->key && from->parent != list)
        json_object_array_del_idx(from->parent, from->index, 1);
}

static void swap(GRand *r, GArray *places)
{
    const Place *a = any(r, places), *b = any_of(r, places, json_object_get_type(held(a)));
    json_object *of_a = copy_of(held(a)), *of_b = copy_of(held(b));
    put(a, of_b);
    if (b->parent == a->parent) /* else it may be gone with what held it */
        put(b, of_a);
    else
        json_object_put(of_a);
}

static void rename_member(GRand *r, GArray *places)
{
    const Place *p = any(r, places), *other = any(r, places);
    if (!p->key)
        return;
    g_autofree char *name = other->key && g_rand_boolean(r) ? g_strdup(other->key) : fuzz_name(r);
    json_object *node = copy_of(held(p));
    if (g_rand_boolean(r))
        json_object_object_del(p->parent, p->key);
    json_object_object_add(p->parent, name, node);
}

static void empty(GRand *r, GArray *places)
{
    const gboolean list = g_rand_int_range(r, 0, 4) > 0;
    put(any_of(r, places, list ? json_type_array : json_type_object),
        list ? json_object_new_array() : json_object_new_object());
}

static void deepen(GRand *r, GArray *places)
{
    const Place *p = any_of(r, places, g_rand_boolean(r) ? json_type_array : json_type_object);
    json_object *node = copy_of(held(p));
    const gboolean wild = g_rand_int_range(r, 0, 4) == 0;
    const gint how = g_rand_int_range(r, 0, 3);
    for (gint i = g_rand_int_range(r, 1, wild ? 150 : 6); i > 0; i--) {
        json_object *outer = how == 0 ? json_object_new_array() : json_object_new_object();
        if (how == 0) {
            json_object_array_add(outer, node);
            node = outer;
            continue;
        }
        g_autofree char *index = g_strdup_printf("z%d", i);
        json_object *body = node;
        if (!json_object_is_type(node, json_type_array)) {
            body = json_object_new_array();
            json_object_array_add(body, node);
        }
        json_object_object_add(outer, how == 1 ? "for" : "when",
                               json_object_new_string(how == 1 ? index : "k > 0"));
        if (how == 1)
            json_object_object_add(outer, "count", number(r));
        json_object_object_add(outer, "do", body);
        node = json_object_new_array();
        json_object_array_add(node, outer);
    }
    put(p, node);
}

/* A name, everywhere: the design means the same, if it may be called so. */
static char *rename_all(GRand *r, const char *document, GArray *places)
{
    const Place *p = any_of(r, places, json_type_string);
    const char *was = json_object_get_string(held(p));
    g_autofree char *name = fuzz_name(r);
    if (!json_object_is_type(held(p), json_type_string) || strlen(was) == 0 || strlen(was) > 40)
        return NULL;
    g_autofree char *word = g_regex_escape_string(was, -1);
    g_autofree char *pattern = g_strdup_printf("(?<![\\w])%s(?![\\w])", word);
    json_object *as_json = json_object_new_string(name);
    const char *quoted = json_object_to_json_string(as_json);
    g_autofree char *bare = g_strndup(quoted + 1, strlen(quoted) - 2);
    json_object_put(as_json);
    g_autoptr(GRegex) regex = g_regex_new(pattern, 0, 0, NULL);
    return regex ? g_regex_replace_literal(regex, document, -1, 0, bare, 0, NULL) : NULL;
}

char *fuzz_tree(GRand *r, const char *document)
{
    static void (*const changes[])(GRand *, GArray *) = {
        change_number, change_number, change_number, change_number, change_number,  change_text,
        change_text,   change_text,   change_text,   replace,       replace_by_any, drop,
        drop,          drop,          twice,         twice,         move,           move,
        swap,          rename_member, empty,         deepen,
    };
    json_object *root = json_tokener_parse(document);
    if (!root)
        return NULL;
    const gint n = g_rand_int_range(r, 0, 3) ? 1 : g_rand_int_range(r, 2, 6);
    for (gint i = 0; i < n; i++) {
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(Place));
        g_array_set_clear_func(places, place_clear);
        collect(root, places);
        if (places->len == 0)
            break;
        if (g_rand_int_range(r, 0, 12) == 0) {
            g_autofree char *now = g_strdup(json_object_to_json_string(root));
            g_autofree char *renamed = rename_all(r, now, places);
            json_object *again = renamed ? json_tokener_parse(renamed) : NULL;
            if (again) {
                json_object_put(root);
                root = again;
            }
            continue;
        }
        changes[g_rand_int_range(r, 0, G_N_ELEMENTS(changes))](r, places);
    }
    char *out = g_strdup(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
                                                                  JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(root);
    return out;
}
