#include "mutate.h"

#include <string.h>

/* Canonical text has one step per line, so that a change of a step is a change of a line. */

static void mutant_free(gpointer data)
{
    Mutant *m = data;
    g_free(m->text);
    g_free(m->what);
    g_free(m);
}

typedef struct {
    char **line;
    guint n;
    GPtrArray *out;
} Mutating;

static gboolean is_step(const char *line)
{
    static const char *const keys[] = { "wait",     "arrive", "expect",  "load",   "mma",
                                        "mma_wait", "store",  "sync",    "fence",  "store_wait",
                                        "read",     "write",  "cluster", "advance" };
    const char *at = line;
    while (*at == ' ')
        at++;
    if (!g_str_has_prefix(at, "{ \""))
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
        gsize n = strlen(keys[i]);
        if (strncmp(at + 3, keys[i], n) == 0 && at[3 + n] == '"')
            return TRUE;
    }
    return FALSE;
}

static const char *stripped(const char *line)
{
    return line + strspn(line, " ");
}

static guint indent(const char *line)
{
    return (guint)strspn(line, " ");
}

static void add(Mutating *M, const char *how, guint i)
{
    Mutant *m = g_new0(Mutant, 1);
    m->text = g_strjoinv("\n", M->line);
    m->what = g_strdup_printf("line %u: %s", i + 1, how);
    g_ptr_array_add(M->out, m);
}

/* Adds the mutant in which line i reads `text` (takes it). */
static void with(Mutating *M, guint i, char *text, const char *how)
{
    char *own = M->line[i];
    g_autofree char *say = g_strdup_printf("%s: %s", how, stripped(own));
    M->line[i] = text;
    add(M, say, i);
    M->line[i] = own;
    g_free(text);
}

static void replace(Mutating *M, guint i, const char *from, const char *to)
{
    const char *at = strstr(M->line[i], from);
    if (!at)
        return;
    g_autofree char *how = g_strdup_printf("%s for %s", to, from);
    char *text =
        g_strdup_printf("%.*s%s%s", (int)(at - M->line[i]), M->line[i], to, at + strlen(from));
    with(M, i, text, how);
}

static void step(Mutating *M, guint i)
{
    char *line = M->line[i];
    gsize n = strlen(line);
    gboolean comma = n && line[n - 1] == ',';
    g_autofree char *bare = g_strndup(line, comma ? n - 1 : n);
    if (g_str_has_suffix(bare, " }")) {
        bare[strlen(bare) - 2] = '\0';
        with(M, i, g_strdup_printf("%s, \"muted\": true }%s", bare, comma ? "," : ""), "dropped");
        g_free(g_steal_pointer(&bare));
        bare = g_strndup(line, comma ? n - 1 : n);
        with(M, i, g_strdup_printf("%s,\n%s%s", bare, bare, comma ? "," : ""), "doubled");
    }
    if (comma && i + 1 < M->n && is_step(M->line[i + 1]) &&
        indent(M->line[i + 1]) == indent(line) && g_str_has_suffix(M->line[i + 1], ",")) {
        char *other = M->line[i + 1];
        M->line[i + 1] = line;
        M->line[i] = other;
        g_autofree char *say = g_strdup_printf("after its successor: %s", stripped(line));
        add(M, say, i);
        M->line[i] = line;
        M->line[i + 1] = other;
    }
    replace(M, i, "\"use\": \"k.total\"", "\"use\": \"k.total + 1\"");
    replace(M, i, "\"use\": \"k.total - 1\"", "\"use\": \"k.total\"");
    replace(M, i, "\"use\": \"k.total\"", "\"use\": \"k\"");
    replace(M, i, "\"mma_wait\": 0", "\"mma_wait\": 1");
    replace(M, i, "\"mma_wait\": 1", "\"mma_wait\": 2");
    replace(M, i, "\"store_wait\": 0", "\"store_wait\": 1");
    replace(M, i, "\"store_wait\": 1", "\"store_wait\": 2");
    replace(M, i, "\"when\": \"k > 0\"", "\"when\": \"k > 1\"");
    replace(M, i, "\"bytes\": 8192", "\"bytes\": 8176");
    replace(M, i, "\"bytes\": 8192", "\"bytes\": 8208");
    replace(M, i, "\"arrive\": \"empty\"", "\"arrive\": \"empty\", \"count\": 2");
}

GPtrArray *mutants_of(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    Mutating M = { .line = lines,
                   .n = g_strv_length(lines),
                   .out = g_ptr_array_new_with_free_func(mutant_free) };
    for (guint i = 0; i < M.n; i++) {
        if (is_step(lines[i]))
            step(&M, i);
        replace(&M, i, "\"init\": \"ready\"", "\"init\": \"pending\"");
        replace(&M, i, "{ \"name\": \"full\", \"slots\": \"S\" }",
                "{ \"name\": \"full\", \"slots\": \"S\", \"init\": \"ready\" }");
        replace(&M, i, "\"slots\": \"S\"", "\"slots\": \"S + 1\"");
        replace(&M, i, "\"stages\": \"S\"", "\"stages\": \"S + 1\"");
        replace(&M, i, "\"count\": \"N\"", "\"count\": \"N + 1\"");
        replace(&M, i, "\"count\": \"N\"", "\"count\": \"max(0, N - 1)\"");
        replace(&M, i, "\"init\": \"ready\" }", "\"init\": \"ready\", \"arrivals\": 1 }");
        replace(&M, i, "\"init\": \"ready\" }", "\"init\": \"ready\", \"arrivals\": 3 }");
    }
    return g_steal_pointer(&M.out);
}
