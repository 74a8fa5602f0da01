#include "compose.h"

#include <string.h>

typedef struct {
    char *name, *group;
    guint needs;
    GPtrArray *lines; /* char* */
} Feature;

enum { NEEDS_TILES = 1, NEEDS_CLUSTER = 2, NEEDS_MMA = 4, NEEDS_READ = 8 };
static GPtrArray *features; /* Feature*; read once */

static void one_line(char *line, Feature **f)
{
    if (*line == '\0' || *line == '#')
        return;
    if (!g_str_has_prefix(line, "feature ")) {
        g_ptr_array_add((*f)->lines, g_strdup(line));
        return;
    }
    g_auto(GStrv) word = g_strsplit(line, " ", -1);
    *f = g_new0(Feature, 1);
    (*f)->name = g_strdup(word[1]);
    (*f)->lines = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 2; word[i]; i++) {
        static const char *const needs[] = { "tiles", "cluster", "mma", "read" };
        if (strcmp(word[i], "group") == 0 && word[i + 1])
            (*f)->group = g_strdup(word[i + 1]);
        for (guint k = 0; k < G_N_ELEMENTS(needs); k++)
            if (strcmp(word[i], needs[k]) == 0)
                (*f)->needs |= 1u << k;
    }
    g_ptr_array_add(features, *f);
}

static const Feature *feature_at(guint i)
{
    if (!features) {
        g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, "tests/oracle/features.txt", NULL);
        g_autofree char *text = NULL;
        if (!g_file_get_contents(file, &text, NULL, NULL))
            g_error("%s cannot be read", file);
        features = g_ptr_array_new();
        g_auto(GStrv) line = g_strsplit(text, "\n", -1);
        Feature *f = NULL;
        for (guint k = 0; line[k]; k++)
            one_line(line[k], &f);
    }
    return i < features->len ? g_ptr_array_index(features, i) : NULL;
}

guint compose_features(void)
{
    feature_at(0);
    return features->len;
}

const char *compose_name(guint feature)
{
    return feature_at(feature)->name;
}

gboolean compose_pair(guint a, guint b)
{
    const Feature *x = feature_at(a), *y = feature_at(b);
    guint needs = x->needs | y->needs;
    g_auto(GStrv) of_x = g_strsplit(x->group ? x->group : "", ",", -1);
    g_auto(GStrv) of_y = g_strsplit(y->group ? y->group : "", ",", -1);
    for (guint i = 0; of_x[i]; i++)
        if (g_strv_contains((const char *const *)of_y, of_x[i]))
            return FALSE;
    if (a == b)
        return FALSE;
    if ((needs & NEEDS_CLUSTER) && (g_strv_contains((const char *const *)of_x, "dynamic") ||
                                    g_strv_contains((const char *const *)of_y, "dynamic")))
        return FALSE;
    return (needs & (NEEDS_MMA | NEEDS_READ)) != (NEEDS_MMA | NEEDS_READ);
}

/* --- one design ---------------------------------------------------------------------------------
 */

enum { BEGIN, TOP, WAIT, WORK, SETTLE, DONE, LEFT, BOTTOM, AFTER, N_LISTS };
static const char *const list_name[N_LISTS] = { "BEGIN", "TOP",  "WAIT",   "WORK", "SETTLE",
                                                "DONE",  "LEFT", "BOTTOM", "AFTER" };
typedef struct {
    GPtrArray *list[N_LISTS]; /* char* */
    GString *values, *counters;
    GString *tile_wrap, *loop_wrap; /* opening text, one line each */
    guint n_tile_wraps, n_loop_wraps;
    gboolean tile_if, loop_if;
    const char *count, *tiles; /* of its loop, NULL: nothing more to say */
} Role;

typedef struct {
    GRand *rand;
    gboolean tiles, cluster, mma, read, dynamic, multicast, lag;
    guint stages, consumers, ahead;
    const char *use;
    char *loop, *from, *doc;
    Role role[2];
    GString *sizes, *let, *tilelet, *tensors, *buffers, *barriers, *pipes;
    GHashTable *chosen; /* of the feature at hand: name -> text */
    GPtrArray *owned;
} Builder;

static void add_text(GString *list, const char *text)
{
    g_string_append_printf(list, "%s%s", list->len ? ",\n    " : "", text);
}

/* "name: a | b | c" */
static void choose(Builder *B, const char *line)
{
    const char *colon = strchr(line, ':');
    g_auto(GStrv) alternative = g_strsplit(colon + 1, " | ", -1);
    guint at = (guint)g_rand_int_range(B->rand, 0, (gint)g_strv_length(alternative));
    char *text = g_strdup(alternative[at]);
    g_strstrip(text);
    g_hash_table_replace(B->chosen, g_strndup(line, (gsize)(colon - line)), text);
}

static char *macro(const Builder *B, const char *word, char **arg)
{
    gboolean any = arg[0] != NULL;
    if (strcmp(word, "settle") == 0)
        return g_strdup(B->mma ? "{ \"mma_wait\": 0 }" : "{ \"mark\": \"settled\" }");
    if (strcmp(word, "consume") == 0 && any)
        return B->mma
                   ? g_strdup_printf("{ \"mma\": \"acc\", \"a\": \"%s\", \"b\": \"%s\", \"use\": "
                                     "\"%s\" }",
                                     arg[0], arg[0], arg[1])
                   : g_strdup_printf("{ \"read\": \"v\", \"from\": \"%s\", \"use\": \"%s\" }",
                                     arg[0], arg[1]);
    if (strcmp(word, "release") == 0 && any)
        return g_strdup_printf("{ \"arrive\": \"%s\"%s, \"use\": \"%s\" }", arg[0],
                               B->mma ? "" : ", \"by\": \"all\"", arg[1]);
    return NULL;
}

static const char *standard(const Builder *B, const char *name)
{
    static char text[N_LISTS][96];
    guint cluster = B->cluster ? 2 : 1;
    if (strcmp(name, "S") == 0)
        g_snprintf(text[0], sizeof text[0], "%u", B->stages);
    else if (strcmp(name, "R") == 0)
        g_snprintf(text[0], sizeof text[0], "%u", B->consumers);
    else if (strcmp(name, "CL") == 0)
        g_snprintf(text[0], sizeof text[0], "%u", cluster);
    else if (strcmp(name, "U") == 0)
        g_snprintf(text[0], sizeof text[0], "k.total");
    else if (strcmp(name, "tile") == 0)
        g_snprintf(text[0], sizeof text[0], "%s", B->tiles ? "tile.total" : "0");
    else if (strcmp(name, "row") == 0)
        g_snprintf(text[0], sizeof text[0], "((t*%u + cta)*%u + replica)*64", cluster,
                   B->consumers);
    else if (strcmp(name, "rows") == 0)
        g_snprintf(text[0], sizeof text[0], "%u%s", 64 * cluster * B->consumers,
                   B->tiles ? "*T" : "");
    else if (strcmp(name, "by") == 0)
        return B->mma ? "thread" : "all";
    else
        return NULL;
    return text[0];
}

/* $names and @macros of a line of a feature. */
static char *expand(Builder *B, const char *line, gboolean consumer)
{
    GString *out = g_string_new(NULL);
    for (const char *c = line; *c;) {
        gsize n = 1;
        if (*c != '$' && *c != '@') {
            g_string_append_c(out, *c++);
            continue;
        }
        while (g_ascii_isalnum(c[n]))
            n++;
        g_autofree char *name = g_strndup(c + 1, n - 1);
        const char *value = *c == '$' ? g_hash_table_lookup(B->chosen, name) : NULL;
        g_autofree char *more = NULL;
        if (*c == '$' && !value && strcmp(name, "U") == 0 && consumer && B->use)
            value = B->use;
        if (*c == '$' && !value)
            value = standard(B, name);
        if (*c == '@') { /* the words behind it, up to the next step or the end of the list */
            const char *end = c + n;
            while (*end && *end != ',' && !g_str_has_prefix(end, " ]"))
                end++;
            g_autofree char *rest = g_strndup(c + n, (gsize)(end - c) - n);
            g_autofree char *filled = expand(B, g_strstrip(rest), consumer);
            g_auto(GStrv) arg = g_strsplit(filled, " ", 2);
            more = macro(B, name, arg);
            value = more;
            n = (gsize)(end - c);
        }
        if (!value)
            g_error("features.txt: %s in: %s", name, line);
        if (*c == '$' && strchr(value, '$')) {
            more = expand(B, value, consumer);
            value = more;
        }
        g_string_append(out, value);
        c += n;
    }
    return g_string_free(out, FALSE);
}

static void step(Builder *B, guint role, const char *list, const char *text)
{
    for (guint i = 0; i < N_LISTS; i++)
        if (strcmp(list, list_name[i]) == 0) {
            g_ptr_array_add(B->role[role].list[i], expand(B, text, role == 1));
            return;
        }
    g_error("features.txt: list %s", list);
}

static void wrap(Role *r, const char *rest)
{
    gboolean tile = g_str_has_prefix(rest, "TILE ");
    const char *text = rest + 5;
    GString *out = tile ? r->tile_wrap : r->loop_wrap;
    *(tile ? &r->n_tile_wraps : &r->n_loop_wraps) += 1;
    g_string_append_printf(out, "{ %s, \"%s\": [\n", text, strstr(text, "\"if\"") ? "then" : "do");
}

static void set(Builder *B, const char *rest)
{
    g_auto(GStrv) part = g_strsplit(rest, " ", 2);
    char *text = expand(B, part[1], FALSE);
    g_ptr_array_add(B->owned, text);
    const char *key = part[0];
    if (strcmp(key, "count") == 0)
        B->role[0].count = B->role[1].count = text;
    else if (strcmp(key, "P.count") == 0)
        B->role[0].count = text;
    else if (strcmp(key, "C.count") == 0)
        B->role[1].count = text;
    else if (strcmp(key, "from") == 0)
        B->from = text;
    else if (strcmp(key, "loop") == 0)
        B->loop = text;
    else if (strcmp(key, "ahead") == 0)
        B->ahead = 1;
    else if (strcmp(key, "doc") == 0)
        B->doc = text;
    else if (strcmp(key, "P.tiles") == 0)
        B->role[0].tiles = text;
    else if (strcmp(key, "C.tiles") == 0)
        B->role[1].tiles = text;
    /* consumers, launch, lag, use, multicast are known before: look_ahead */
}

static void declare(Builder *B, const char *word, const char *rest)
{
    g_autofree char *text = expand(B, rest, FALSE);
    static const char *const kinds[] = { "tensor", "buffer", "barrier", "pipe", "let", "tilelet" };
    GString *const list[] = { B->tensors, B->buffers, B->barriers, B->pipes, B->let, B->tilelet };
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (strcmp(word, kinds[i]) == 0) {
            add_text(list[i], text);
            return;
        }
    if (strcmp(word, "size") == 0) {
        g_autofree char *size = g_strdup_printf("\"%s\": 1", text);
        if (!strstr(B->sizes->str, size))
            add_text(B->sizes, size);
    } else if (strcmp(word, "value") == 0 || strcmp(word, "counter") == 0) {
        Role *r = &B->role[text[0] == 'C'];
        add_text(*word == 'v' ? r->values : r->counters, text + 2);
    } else {
        g_error("features.txt: %s %s", word, rest);
    }
}

static void build(Builder *B, const Feature *f)
{
    g_hash_table_remove_all(B->chosen);
    for (guint i = 0; i < f->lines->len; i++) {
        const char *line = g_ptr_array_index(f->lines, i);
        if (g_str_has_prefix(line, "choose "))
            choose(B, line + 7);
    }
    for (guint i = 0; i < f->lines->len; i++) {
        const char *line = g_ptr_array_index(f->lines, i);
        g_auto(GStrv) part = g_strsplit(line, " ", 3);
        if (strcmp(part[0], "choose") == 0)
            continue;
        if (strcmp(part[0], "P") == 0 || strcmp(part[0], "C") == 0) {
            step(B, *part[0] == 'C', part[1], part[2]);
        } else if (strcmp(part[0], "wrap") == 0) {
            g_autofree char *text = expand(B, part[2], FALSE);
            wrap(&B->role[*part[1] == 'C'], text);
        } else if (strcmp(part[0], "set") == 0) {
            set(B, line + 4);
        } else {
            declare(B, part[0], line + strlen(part[0]) + 1);
        }
    }
}

/* What other features need to know. */
static void look_ahead(Builder *B, const Feature *f)
{
    for (guint i = 0; i < f->lines->len; i++) {
        const char *line = g_ptr_array_index(f->lines, i);
        if (g_str_has_prefix(line, "set consumers"))
            B->consumers = 2;
        else if (g_str_has_prefix(line, "set launch"))
            B->dynamic = TRUE;
        else if (g_str_has_prefix(line, "set lag"))
            B->lag = TRUE;
        else if (g_str_has_prefix(line, "set multicast"))
            B->multicast = TRUE;
        else if (g_str_has_prefix(line, "set use "))
            B->use = line + 8;
    }
    B->tiles = B->tiles || (f->needs & NEEDS_TILES);
    B->cluster = B->cluster || (f->needs & NEEDS_CLUSTER);
    B->mma = B->mma || (f->needs & NEEDS_MMA);
    B->read = B->read || (f->needs & NEEDS_READ);
}

static void add(Builder *B, guint role, guint list, const char *text)
{
    g_ptr_array_add(B->role[role].list[list], expand(B, text, role == 1));
}

/* The ring that every design has. */
static void base(Builder *B)
{
    add_text(B->tensors, "{ \"name\": \"A\", \"dtype\": \"bf16\", \"shape\": [64, \"64*N\"] }");
    g_autofree char *declared = g_strdup_printf("{ \"name\": \"full\", \"slots\": %u },\n    { "
                                                "\"name\": \"empty\", \"slots\": %u, \"init\": "
                                                "\"ready\" }",
                                                B->stages, B->stages);
    add_text(B->barriers, declared);
    g_autofree char *buffer = g_strdup_printf(
        "{ \"name\": \"a\", \"dtype\": \"bf16\", \"tile\": [64, 64], \"stages\": %u }", B->stages);
    add_text(B->buffers, buffer);
    add_text(B->role[1].values,
             B->mma ? "{ \"name\": \"acc\", \"dtype\": \"f32\", \"tile\": [64, 64] }"
                    : "{ \"name\": \"v\", \"dtype\": \"bf16\", \"tile\": [64, 64] }");
    add(B, 0, WAIT, "{ \"wait\": \"empty\", \"use\": \"k.total\" }");
    add(B, 0, WORK,
        B->multicast ? "{ \"load\": \"A\", \"at\": [\"cta*32\", \"k*64\"], \"into\": "
                       "\"a.rows(cta*32, 32)\", \"signal\": \"full\", \"multicast\": \"all\", "
                       "\"use\": \"k.total\" }"
                     : "{ \"load\": \"A\", \"at\": [0, \"k*64\"], \"into\": \"a\", \"signal\": "
                       "\"full\", \"use\": \"k.total\" }");
    if (B->mma)
        add(B, 1, TOP, "{ \"compute\": \"acc = 0\" }");
    add(B, 1, WAIT, "{ \"wait\": \"full\", \"use\": \"$U\" }");
    add(B, 1, WORK, "@consume a $U");
}

static void base_end(Builder *B)
{
    const char *cta = B->multicast ? ", \"cta\": \"all\"" : "";
    const char *use = B->use ? B->use : "k.total";
    if (B->mma && B->lag) {
        add(B, 1, SETTLE, "{ \"mma_wait\": 1 }");
        g_autofree char *one = g_strdup_printf(
            "{ \"arrive\": \"empty\"%s, \"use\": \"%s - 1\", \"when\": \"k > %s\" }", cta, use,
            B->from ? B->from : "0");
        add(B, 1, DONE, one);
        add(B, 1, LEFT, "{ \"mma_wait\": 0 }");
        g_autofree char *last = g_strdup_printf(
            "{ \"arrive\": \"empty\"%s, \"use\": \"%s - 1\", \"when\": \"%s > 0\" }", cta, use,
            B->role[1].count);
        add(B, 1, LEFT, last);
        return;
    }
    if (B->mma)
        add(B, 1, SETTLE, "{ \"mma_wait\": 0 }");
    g_autofree char *one = g_strdup_printf("{ \"arrive\": \"empty\"%s%s, \"use\": \"%s\" }", cta,
                                           B->mma ? "" : ", \"by\": \"all\"", use);
    g_ptr_array_insert(B->role[1].list[DONE], 0, g_steal_pointer(&one));
}

/* --- text ---------------------------------------------------------------------------------------
 */

static void put(GString *out, const char *text, gboolean *first)
{
    g_string_append_printf(out, "%s\n      %s", *first ? "" : ",", text);
    *first = FALSE;
}

static void put_list(GString *out, const Role *r, guint list, gboolean *first, guint ahead)
{
    for (guint i = 0; i < r->list[list]->len; i++) {
        char *line = g_ptr_array_index(r->list[list], i);
        if (!ahead || !g_str_has_suffix(line, " }") || strstr(line, "\"if\"")) {
            put(out, line, first);
            continue;
        }
        g_autofree char *early =
            g_strdup_printf("%.*s, \"ahead\": %u }", (int)strlen(line) - 2, line, ahead);
        put(out, early, first);
    }
}

static void close_wraps(GString *out, guint n)
{
    for (guint i = 0; i < n; i++)
        g_string_append(out, "] }");
}

static void put_body(const Builder *B, GString *out, const Role *r, gboolean producer)
{
    gboolean first = TRUE;
    g_string_append(out, "\"body\": [");
    put_list(out, r, BEGIN, &first, 0);
    g_autofree char *tiles =
        g_strdup_printf("{ \"for\": \"tile\", \"over\": \"tiles\"%s%s, \"do\": [",
                        r->tiles ? ", " : "", r->tiles ? r->tiles : "");
    if (B->tiles)
        put(out, tiles, &first);
    first = B->tiles || first;
    if (r->n_tile_wraps)
        put(out, r->tile_wrap->str, &first);
    first = r->n_tile_wraps || first;
    put_list(out, r, TOP, &first, 0);
    if (r->n_loop_wraps) {
        put(out, r->loop_wrap->str, &first);
        first = TRUE;
    }
    g_autofree char *head =
        g_strdup_printf("{ \"for\": \"k\", \"count\": \"%s\"%s%s%s%s%s, \"do\": [", r->count,
                        B->from ? ", \"from\": \"" : "", B->from ? B->from : "",
                        B->from ? "\"" : "", B->loop ? ", " : "", B->loop ? B->loop : "");
    put(out, head, &first);
    first = TRUE;
    for (guint l = WAIT; l <= DONE; l++)
        put_list(out, r, l, &first, producer && l <= WORK ? B->ahead : 0);
    g_string_append(out, "] }");
    first = FALSE;
    put_list(out, r, LEFT, &first, 0);
    close_wraps(out, r->n_loop_wraps);
    put_list(out, r, BOTTOM, &first, 0);
    close_wraps(out, r->n_tile_wraps + (B->tiles ? 1 : 0));
    put_list(out, r, AFTER, &first, 0);
    if (B->cluster)
        put(out, "{ \"cluster\": \"sync\" }", &first);
    g_string_append(out, "] }");
}

static void put_group(const Builder *B, GString *out, guint role)
{
    const Role *r = &B->role[role];
    g_string_append_printf(out, "  { \"name\": \"%s\", \"role\": \"%s\", \"warps\": 4, ",
                           role ? "cons" : "prod", role ? "consumer" : "producer");
    if (role && B->consumers > 1)
        g_string_append_printf(out, "\"replicate\": %u, ", B->consumers);
    if (r->values->len)
        g_string_append_printf(out, "\"values\": [ %s ],\n    ", r->values->str);
    if (r->counters->len)
        g_string_append_printf(out, "\"counters\": [ %s ],\n    ", r->counters->str);
    put_body(B, out, r, role == 0);
}

static char *text_of(const Builder *B)
{
    GString *out = g_string_new(NULL);
    g_string_append_printf(out,
                           "{ \"warpstave\": 1, \"name\": \"random\", \"target\": \"sm_90a\",\n"
                           "  \"sizes\": { \"N\": 3, \"T\": 3%s%s },\n",
                           B->sizes->len ? ", " : "", B->sizes->str);
    if (B->doc)
        g_string_append_printf(out, "  %s,\n", B->doc);
    if (B->let->len)
        g_string_append_printf(out, "  \"let\": { %s },\n", B->let->str);
    g_string_append_printf(out, "  \"tensors\": [ %s ],\n", B->tensors->str);
    if (B->cluster)
        g_string_append(out, "  \"cluster\": 2,\n");
    g_string_append_printf(out, "  \"tiles\": { \"axes\": { \"t\": \"%s\" }, \"launch\": \"%s\"",
                           B->tiles ? "T" : "1",
                           B->dynamic ? "dynamic"
                           : B->tiles ? "persistent"
                                      : "single");
    if (B->tilelet->len)
        g_string_append_printf(out, ", \"let\": { %s }", B->tilelet->str);
    g_string_append_printf(out, " },\n  \"buffers\": [ %s ],\n  \"barriers\": [ %s ],\n",
                           B->buffers->str, B->barriers->str);
    if (B->pipes->len)
        g_string_append_printf(out, "  \"pipes\": [ %s ],\n", B->pipes->str);
    g_string_append(out, "  \"groups\": [\n");
    put_group(B, out, 0);
    g_string_append(out, ",\n");
    put_group(B, out, 1);
    g_string_append(out, " ] }\n");
    return g_string_free(out, FALSE);
}

static void begin(Builder *B, guint32 seed)
{
    B->rand = g_rand_new_with_seed(seed);
    B->stages = (guint)g_rand_int_range(B->rand, 1, 4);
    B->consumers = 1;
    B->tiles = g_rand_int_range(B->rand, 0, 100) < 35;
    B->mma = B->read = FALSE;
    GString **text[] = { &B->sizes,   &B->let,      &B->tilelet, &B->tensors,
                         &B->buffers, &B->barriers, &B->pipes };
    for (guint i = 0; i < G_N_ELEMENTS(text); i++)
        *text[i] = g_string_new(NULL);
    for (guint r = 0; r < 2; r++) {
        Role *role = &B->role[r];
        role->count = "N";
        GString **own[] = { &role->values, &role->counters, &role->tile_wrap, &role->loop_wrap };
        for (guint i = 0; i < G_N_ELEMENTS(own); i++)
            *own[i] = g_string_new(NULL);
        for (guint i = 0; i < N_LISTS; i++)
            role->list[i] = g_ptr_array_new_with_free_func(g_free);
    }
    B->chosen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    B->owned = g_ptr_array_new_with_free_func(g_free);
}

static void end(Builder *B)
{
    GString *text[] = {
        B->sizes, B->let, B->tilelet, B->tensors, B->buffers, B->barriers, B->pipes
    };
    for (guint i = 0; i < G_N_ELEMENTS(text); i++)
        g_string_free(text[i], TRUE);
    for (guint r = 0; r < 2; r++) {
        Role *role = &B->role[r];
        GString *own[] = { role->values, role->counters, role->tile_wrap, role->loop_wrap };
        for (guint i = 0; i < G_N_ELEMENTS(own); i++)
            g_string_free(own[i], TRUE);
        for (guint i = 0; i < N_LISTS; i++)
            g_ptr_array_free(role->list[i], TRUE);
    }
    g_hash_table_destroy(B->chosen);
    g_ptr_array_free(B->owned, TRUE);
    g_rand_free(B->rand);
}

Composed compose(guint32 seed, const guint *feature, guint n)
{
    Builder B = { 0 };
    Composed c = { 0 };
    begin(&B, seed);
    for (guint i = 0; i < n && c.n < COMPOSE_MAX; i++) {
        gboolean fits = TRUE;
        for (guint k = 0; k < c.n; k++)
            fits = fits && compose_pair(feature[i], c.feature[k]);
        if (!fits)
            continue;
        c.feature[c.n++] = feature[i];
        look_ahead(&B, feature_at(feature[i]));
    }
    if (!B.mma && !B.read)
        B.mma = g_rand_int_range(B.rand, 0, 100) < 50;
    base(&B);
    for (guint i = 0; i < c.n; i++)
        build(&B, feature_at(c.feature[i]));
    base_end(&B);
    c.text = text_of(&B);
    c.tiles = B.tiles;
    c.cluster = B.cluster;
    end(&B);
    return c;
}
