#include "builder.h"

#include <string.h>

static const char *const list_name[N_LISTS] = { "BEGIN", "TOP",  "WAIT",   "WORK", "SETTLE",
                                                "DONE",  "LEFT", "BOTTOM", "AFTER" };
static const char role_letter[] = "PCW";

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
    guint cluster = B->ctas;
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
        g_snprintf(text[0], sizeof text[0], "((%s*%u + cta)*%u + replica)*64",
                   B->order ? "(t*2 + u)" : "t", cluster, B->consumers);
    else if (strcmp(name, "rows") == 0)
        g_snprintf(text[0], sizeof text[0], "%u%s",
                   64 * cluster * B->consumers * (B->order ? 2 : 1), B->tiles ? "*T" : "");
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
        if ((*c != '$' && *c != '@') || !g_ascii_isalnum(c[1])) {
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
            g_ptr_array_add(B->role[role].list[i], expand(B, text, role != PRODUCER));
            return;
        }
    g_error("features.txt: list %s", list);
}

static Role *role_of(Builder *B, char letter)
{
    const char *at = strchr(role_letter, letter);
    if (!letter || !at)
        g_error("features.txt: role %c", letter);
    return &B->role[at - role_letter];
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
        B->role[PRODUCER].count = B->role[CONSUMER].count = text;
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
    else if (strcmp(key, "axes") == 0)
        add_text(B->axes, text);
    else if (strcmp(key, "order") == 0)
        B->order = text;
    else if (strcmp(key, "P.tiles") == 0)
        B->role[0].tiles = text;
    else if (strcmp(key, "C.tiles") == 0)
        B->role[1].tiles = text;
    /* consumers, launch, lag, use, multicast, ctas are known before: look_ahead */
}

static void declare(Builder *B, const char *word, const char *rest)
{
    g_autofree char *text = expand(B, rest, FALSE);
    static const char *const kinds[] = { "tensor", "buffer", "barrier", "pipe",
                                         "let",    "assume", "tilelet" };
    GString *const list[] = { B->tensors, B->buffers, B->barriers, B->pipes,
                              B->let,     B->assume,  B->tilelet };
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
        Role *r = role_of(B, text[0]);
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
        if (strlen(part[0]) == 1) {
            step(B, (guint)(role_of(B, *part[0]) - B->role), part[1], part[2]);
        } else if (strcmp(part[0], "wrap") == 0) {
            g_autofree char *text = expand(B, part[2], FALSE);
            wrap(role_of(B, *part[1]), text);
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
        else if (g_str_has_prefix(line, "set ctas "))
            B->ctas = (guint)g_ascii_strtoull(line + 9, NULL, 10);
        else if (g_str_has_prefix(line, "set order "))
            B->order = (char *)line + 10; /* as chosen: set */
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
    g_ptr_array_add(B->role[role].list[list], expand(B, text, role != PRODUCER));
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

static void begin(Builder *B, guint32 seed)
{
    B->rand = g_rand_new_with_seed(seed);
    B->stages = (guint)g_rand_int_range(B->rand, 1, 4);
    B->consumers = 1;
    B->tiles = g_rand_int_range(B->rand, 0, 100) < 35;
    B->mma = B->read = FALSE;
    GString **text[] = { &B->sizes,   &B->assume,  &B->let,      &B->axes, &B->tilelet,
                         &B->tensors, &B->buffers, &B->barriers, &B->pipes };
    for (guint i = 0; i < G_N_ELEMENTS(text); i++)
        *text[i] = g_string_new(NULL);
    for (guint r = 0; r < N_ROLES; r++) {
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
    GString *text[] = { B->sizes,   B->assume,  B->let,      B->axes, B->tilelet,
                        B->tensors, B->buffers, B->barriers, B->pipes };
    for (guint i = 0; i < G_N_ELEMENTS(text); i++)
        g_string_free(text[i], TRUE);
    for (guint r = 0; r < N_ROLES; r++) {
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

/* The third group goes through the same tiles and rounds. */
static void follow_consumer(Builder *B)
{
    const Role *c = &B->role[CONSUMER];
    Role *w = &B->role[WORKER];
    w->count = c->count;
    w->tiles = c->tiles;
    if (!w->n_tile_wraps)
        g_string_assign(w->tile_wrap, c->tile_wrap->str), w->n_tile_wraps = c->n_tile_wraps;
    if (!w->n_loop_wraps)
        g_string_assign(w->loop_wrap, c->loop_wrap->str), w->n_loop_wraps = c->n_loop_wraps;
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
    B.ctas = !B.cluster ? 1 : B.ctas ? B.ctas : 2;
    if (!B.mma && !B.read)
        B.mma = g_rand_int_range(B.rand, 0, 100) < 50;
    base(&B);
    for (guint i = 0; i < c.n; i++)
        build(&B, feature_at(c.feature[i]));
    base_end(&B);
    follow_consumer(&B);
    c.text = builder_text(&B);
    c.tiles = B.tiles;
    c.cluster = B.cluster;
    end(&B);
    return c;
}
