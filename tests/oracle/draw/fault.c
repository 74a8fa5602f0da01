#include "fault.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

/* --- lists of steps ------------------------------------------------------------------------------
 */

static json_object *member(json_object *o, const char *key)
{
    json_object *v = NULL;
    return json_object_is_type(o, json_type_object) && json_object_object_get_ex(o, key, &v) ? v
                                                                                             : NULL;
}

static void collect(GPtrArray *lists, json_object *array)
{
    static const char *const inner[] = { "do", "then", "else" };
    if (!json_object_is_type(array, json_type_array))
        return;
    g_ptr_array_add(lists, array);
    for (gsize i = 0; i < json_object_array_length(array); i++)
        for (guint k = 0; k < G_N_ELEMENTS(inner); k++)
            collect(lists, member(json_object_array_get_idx(array, i), inner[k]));
}

static GPtrArray *lists_of(json_object *tree)
{
    GPtrArray *lists = g_ptr_array_new();
    json_object *groups = member(tree, "groups");
    for (gsize i = 0; groups && i < json_object_array_length(groups); i++)
        collect(lists, member(json_object_array_get_idx(groups, i), "body"));
    return lists;
}

static json_object *copy_of(json_object *o)
{
    return json_tokener_parse(json_object_to_json_string(o));
}

/* Takes the reference. */
static void insert(json_object *array, gsize at, json_object *o)
{
    json_object_array_add(array, json_object_get(o));
    for (gsize i = json_object_array_length(array) - 1; i > at; i--) {
        json_object *before = json_object_array_get_idx(array, i - 1);
        json_object_array_put_idx(array, i, json_object_get(before));
        json_object_array_put_idx(array, i - 1, json_object_get(o));
    }
    json_object_put(o);
}

static void take_out(json_object *array, gsize at)
{
    json_object_array_del_idx(array, at, 1);
}

/* Puts what a loop or a branch holds in its place. */
static gboolean hoist(json_object *array, gsize at, const char *key)
{
    json_object *o = json_object_array_get_idx(array, at), *inside = member(o, key);
    if (!inside)
        return FALSE;
    json_object *kept = copy_of(inside);
    take_out(array, at);
    for (gsize i = 0; i < json_object_array_length(kept); i++)
        insert(array, at + i, json_object_get(json_object_array_get_idx(kept, i)));
    json_object_put(kept);
    return TRUE;
}

/* --- expressions ---------------------------------------------------------------------------------
 */

static gboolean is_expression(const char *key)
{
    static const char *const keys[] = { "use",      "when",      "if",         "count", "from",
                                        "by",       "slot",      "phase",      "be",    "cta",
                                        "mma_wait", "load_wait", "store_wait", "bytes", "first",
                                        "start",    "ahead",     "stages",     "slots" };
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++)
        if (strcmp(key, keys[i]) == 0)
            return TRUE;
    return FALSE;
}

static char *replaced_at(const char *text, gsize at, gsize n, const char *by)
{
    return g_strdup_printf("%.*s%s%s", (int)at, text, by, text + at + n);
}

static char *other_number(const char *text, gsize at, GRand *rand)
{
    char *end;
    gint64 n = g_ascii_strtoll(text + at, &end, 10);
    gint64 m = g_rand_boolean(rand) ? n + 1 : n - 1;
    g_autofree char *by = m < 0 ? g_strdup_printf("(%d)", (int)m) : g_strdup_printf("%d", (int)m);
    return replaced_at(text, at, (gsize)(end - text) - at, by);
}

/* One token of an expression becomes another one. */
static char *other_expression(const char *text, GRand *rand)
{
    static const char *const words[][2] = {
        { "k.total", "k" },
        { "k.total", "k.total + 1" },
        { "tile.total", "tile" },
        { ">=", ">" },
        { "<=", "<" },
        { "==", "!=" },
        { "==", ">=" },
        { "> ", ">= " },
        { "< ", "<= " },
        { " + ", " - " },
        { " - ", " + " },
        { "max(", "min(" },
        { "min(", "max(" },
        { "N", "D" },
        { "N", "(N - 1)" },
        { "cta", "(1 - cta)" },
        { "k", "(k + 1)" },
        { "e", "(-e)" },
        { "left", "(left - 1)" },
        { "tile", "(tile + 1)" },
        { "o", "(o + 1)" },
        { "ring", "ring + 1" },
        { "abs(", "(" },
        { "&&", "||" },
    };
    guint first = (guint)g_rand_int_range(rand, 0, 2 * G_N_ELEMENTS(words));
    for (gsize i = 0; first >= G_N_ELEMENTS(words) && text[i]; i++)
        if (g_ascii_isdigit(text[i]) && (i == 0 || !g_ascii_isalnum(text[i - 1])))
            return other_number(text, i, rand);
    for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
        const char *const *word = words[(first + i) % G_N_ELEMENTS(words)];
        const char *at = strstr(text, word[0]);
        gsize n = strlen(word[0]);
        if (!at || (g_ascii_isalnum(*word[0]) &&
                    ((at > text && (g_ascii_isalnum(at[-1]) || at[-1] == '.' || at[-1] == '_')) ||
                     g_ascii_isalnum(at[n]) || at[n] == '_' || at[n] == '.')))
            continue;
        return replaced_at(text, (gsize)(at - text), n, word[1]);
    }
    return NULL;
}

static gboolean change_expression(json_object *o, GRand *rand, char **what)
{
    g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
    json_object_object_foreach(o, key, v)
    {
        (void)v;
        if (is_expression(key))
            g_ptr_array_add(keys, g_strdup(key));
    }
    if (keys->len == 0)
        return FALSE;
    const char *at = g_ptr_array_index(keys, g_rand_int_range(rand, 0, (gint)keys->len));
    json_object *old = member(o, at);
    g_autofree char *was = g_strdup(json_object_get_string(old));
    g_autofree char *now = NULL;
    if (json_object_is_type(old, json_type_int)) {
        gint64 n = json_object_get_int64(old), m = g_rand_boolean(rand) ? n + 1 : n - 1;
        now = g_strdup_printf("%d", (int)m);
        json_object_object_add(o, at, json_object_new_int64(m));
    } else if (json_object_is_type(old, json_type_string)) {
        now = other_expression(was, rand);
        if (!now)
            return FALSE;
        json_object_object_add(o, at, json_object_new_string(now));
    } else {
        return FALSE;
    }
    *what = g_strdup_printf("%s: %s -> %s", at, was, now);
    return TRUE;
}

/* --- other members -------------------------------------------------------------------------------
 */

static json_object *any_of(json_object *tree, const char *list, GRand *rand)
{
    json_object *a = member(tree, list);
    gsize n = a ? json_object_array_length(a) : 0;
    return n ? json_object_array_get_idx(a, (gsize)g_rand_int_range(rand, 0, (gint)n)) : NULL;
}

static gboolean change_barrier(json_object *tree, GRand *rand, char **what)
{
    json_object *b = any_of(tree, "barriers", rand);
    if (!b || member(b, "kind"))
        return FALSE;
    switch (g_rand_int_range(rand, 0, 3)) {
    case 0:
        if (member(b, "init"))
            json_object_object_del(b, "init");
        else
            json_object_object_add(b, "init", json_object_new_string("ready"));
        break;
    case 1:
        json_object_object_add(b, "arrivals", json_object_new_int(g_rand_int_range(rand, 1, 4)));
        break;
    default:
        if (!change_expression(b, rand, what))
            return FALSE;
        g_free(*what);
    }
    *what = g_strdup_printf("barrier %s", json_object_to_json_string(b));
    return TRUE;
}

/* Another barrier, other lanes, a condition, none. */
static gboolean change_step(json_object *tree, json_object *o, GRand *rand, char **what)
{
    static const char *const names[] = { "wait", "arrive", "signal", "expect" };
    static const char *const conditions[] = { "k == 0",       "k > 0",     "N > 1",  "cta == 0",
                                              "replica == 0", "tile == 0", "e >= 0", "D > 1",
                                              "k == 2",       "t < 1" };
    static const char *const by[] = { "thread", "warp", "all" };
    switch (g_rand_int_range(rand, 0, 4)) {
    case 0:
        for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
            json_object *other = any_of(tree, "barriers", rand);
            if (!member(o, names[i]) || !other)
                continue;
            json_object_object_add(o, names[i], json_object_get(member(other, "name")));
            *what = g_strdup_printf("%s of another barrier", names[i]);
            return TRUE;
        }
        return FALSE;
    case 1:
        if (!member(o, "arrive"))
            return FALSE;
        json_object_object_add(o, "by", json_object_new_string(by[g_rand_int_range(rand, 0, 3)]));
        *what = g_strdup("other lanes");
        return TRUE;
    case 2:
        if (!member(o, "when"))
            return FALSE;
        json_object_object_del(o, "when");
        *what = g_strdup("no condition");
        return TRUE;
    default:
        json_object_object_add(
            o, "when",
            json_object_new_string(
                conditions[g_rand_int_range(rand, 0, G_N_ELEMENTS(conditions))]));
        *what = g_strdup("a condition");
        return TRUE;
    }
}

static gboolean change_list(json_object *list, gsize at, GRand *rand, char **what)
{
    gsize n = json_object_array_length(list);
    json_object *o = json_object_array_get_idx(list, at);
    switch (g_rand_int_range(rand, 0, 8)) {
    case 0:
    case 1:
        *what = g_strdup_printf("without %s", json_object_to_json_string(o));
        take_out(list, at);
        return TRUE;
    case 2:
        *what = g_strdup_printf("twice %s", json_object_to_json_string(o));
        insert(list, at, copy_of(o));
        return TRUE;
    case 3:
    case 4: {
        gsize to = (gsize)g_rand_int_range(rand, 0, (gint)n);
        if (to == at)
            return FALSE;
        json_object *kept = copy_of(o);
        *what = g_strdup_printf("elsewhere %s", json_object_to_json_string(o));
        take_out(list, at);
        insert(list, to, kept);
        return TRUE;
    }
    case 5:
        *what = g_strdup("without its condition");
        return member(o, "if") && hoist(list, at, "then");
    case 6:
        *what = g_strdup("the other branch");
        return member(o, "else") && hoist(list, at, "else");
    default: {
        json_object *then = member(o, "then");
        if (!then)
            return FALSE;
        json_object *other = member(o, "else");
        other = other ? copy_of(other) : json_object_new_array();
        json_object_object_add(o, "else", copy_of(then));
        json_object_object_add(o, "then", other);
        *what = g_strdup("branches exchanged");
        return TRUE;
    }
    }
}

char *fault(const char *text, GRand *rand, char **what)
{
    json_object *tree = json_tokener_parse(text);
    g_autoptr(GPtrArray) lists = lists_of(tree);
    gboolean done = FALSE;
    *what = NULL;
    if (lists->len == 0) {
        json_object_put(tree);
        return NULL;
    }
    if (g_rand_int_range(rand, 0, 10) == 0) {
        done = change_barrier(tree, rand, what);
    } else {
        json_object *list = g_ptr_array_index(lists, g_rand_int_range(rand, 0, (gint)lists->len));
        gsize n = json_object_array_length(list);
        gsize at = n ? (gsize)g_rand_int_range(rand, 0, (gint)n) : 0;
        gint kind = g_rand_int_range(rand, 0, 10);
        if (n == 0)
            done = FALSE;
        else if (kind < 4)
            done = change_list(list, at, rand, what);
        else if (kind < 8)
            done = change_expression(json_object_array_get_idx(list, at), rand, what);
        else
            done = change_step(tree, json_object_array_get_idx(list, at), rand, what);
    }
    char *out =
        done ? g_strdup(json_object_to_json_string_ext(tree, JSON_C_TO_STRING_PRETTY)) : NULL;
    if (!done)
        g_clear_pointer(what, g_free);
    json_object_put(tree);
    return out;
}

/* --- smaller -------------------------------------------------------------------------------------
 */

/* Counts down to the nth thing that could be done, and says when it is reached. */
static gboolean reached(guint *nth)
{
    return (*nth)-- == 0;
}

static gboolean simpler_list(json_object *list, guint *nth)
{
    static const char *const inner[] = { "then", "do", "else" };
    static const char *const drop[] = { "when",  "else", "split", "unroll", "from",
                                        "ahead", "by",   "open",  "first",  "hint" };
    for (gsize i = json_object_array_length(list); i-- > 0;) {
        if (reached(nth)) {
            take_out(list, i);
            return TRUE;
        }
        json_object *o = json_object_array_get_idx(list, i);
        for (guint k = 0; k < G_N_ELEMENTS(inner); k++)
            if (member(o, inner[k]) && reached(nth))
                return hoist(list, i, inner[k]);
        for (guint k = 0; k < G_N_ELEMENTS(drop); k++)
            if (member(o, drop[k]) && reached(nth)) {
                json_object_object_del(o, drop[k]);
                return TRUE;
            }
        static const char *const counts[] = { "count", "use" };
        static const char *const simple[] = { "N", "k.total" };
        for (guint k = 0; k < G_N_ELEMENTS(counts); k++) {
            json_object *c = member(o, counts[k]);
            if (c && strcmp(json_object_get_string(c), simple[k]) != 0 && reached(nth)) {
                json_object_object_add(o, counts[k], json_object_new_string(simple[k]));
                return TRUE;
            }
        }
    }
    return FALSE;
}

static gboolean simpler_declared(json_object *array, guint *nth)
{
    static const char *const smaller[] = { "stages", "slots", "arrivals", "init", "over" };
    for (gsize i = array ? json_object_array_length(array) : 0; i-- > 0;) {
        if (reached(nth)) {
            take_out(array, i);
            return TRUE;
        }
        json_object *o = json_object_array_get_idx(array, i);
        for (guint k = 0; k < G_N_ELEMENTS(smaller); k++)
            if (member(o, smaller[k]) && reached(nth)) {
                json_object_object_del(o, smaller[k]);
                return TRUE;
            }
    }
    return FALSE;
}

static gboolean simpler_group(json_object *g, guint *nth)
{
    static const char *const drop[] = { "replicate", "values", "counters" };
    for (guint k = 0; k < G_N_ELEMENTS(drop); k++) {
        json_object *list = member(g, drop[k]);
        if (!list)
            continue;
        if (json_object_is_type(list, json_type_array) ? simpler_declared(list, nth)
                                                       : reached(nth)) {
            if (!json_object_is_type(list, json_type_array))
                json_object_object_del(g, drop[k]);
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean simpler_tree(json_object *tree, guint *nth)
{
    g_autoptr(GPtrArray) lists = lists_of(tree);
    for (guint i = 0; i < lists->len; i++)
        if (simpler_list(g_ptr_array_index(lists, i), nth))
            return TRUE;
    static const char *const declared[] = { "barriers", "buffers", "pipes", "tensors" };
    for (guint i = 0; i < G_N_ELEMENTS(declared); i++)
        if (simpler_declared(member(tree, declared[i]), nth))
            return TRUE;
    static const char *const drop[] = { "let", "cluster" };
    for (guint i = 0; i < G_N_ELEMENTS(drop); i++)
        if (member(tree, drop[i]) && reached(nth)) {
            json_object_object_del(tree, drop[i]);
            return TRUE;
        }
    json_object *groups = member(tree, "groups");
    for (gsize i = 0; i < json_object_array_length(groups); i++)
        if (simpler_group(json_object_array_get_idx(groups, i), nth))
            return TRUE;
    if (json_object_array_length(groups) > 1)
        for (gsize i = 0; i < json_object_array_length(groups); i++)
            if (reached(nth)) {
                take_out(groups, i);
                return TRUE;
            }
    json_object *sizes = member(tree, "sizes");
    if (member(sizes, "D") && reached(nth)) {
        json_object_object_del(sizes, "D");
        return TRUE;
    }
    return FALSE;
}

char *simpler(const char *text, guint nth)
{
    json_object *tree = json_tokener_parse(text);
    char *out = simpler_tree(tree, &nth)
                    ? g_strdup(json_object_to_json_string_ext(tree, JSON_C_TO_STRING_PRETTY))
                    : NULL;
    json_object_put(tree);
    return out;
}
