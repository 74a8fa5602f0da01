#include "amd/mutants.h"

#include <stdlib.h>
#include <string.h>

static const char *words(const char *line)
{
    return line + strspn(line, " ");
}

static const char *at(const GPtrArray *line, guint i)
{
    return i < line->len ? line->pdata[i] : "";
}

static gboolean is_open(const char *line)
{
    return g_str_has_prefix(words(line), "{ \"") && g_str_has_suffix(line, "[");
}

static gboolean is_stage(const char *line)
{
    return is_open(line) && g_str_has_prefix(words(line), "{ \"stage\"");
}

static gboolean is_close(const char *line)
{
    return g_str_has_prefix(words(line), "] }");
}

/* A step in a line of its own. */
static gboolean is_step(const char *line)
{
    gint open = 0;
    if (!g_str_has_prefix(words(line), "{ \""))
        return FALSE;
    for (const char *c = line; *c; c++)
        open += *c == '{' ? 1 : *c == '}' ? -1 : 0;
    return open == 0;
}

static gboolean orders(const char *line)
{
    return is_step(line) && (strstr(line, "\"load_wait\"") || strstr(line, "\"sync\""));
}

static GPtrArray *lines_of(const char *text)
{
    g_auto(GStrv) part = g_strsplit(text, "\n", -1);
    GPtrArray *line = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; part[i]; i++)
        g_ptr_array_add(line, g_strdup(part[i]));
    return line;
}

/* The text, with a comma between two steps and none before the end of a block. */
static char *text_of(const GPtrArray *line)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < line->len; i++) {
        const char *is = at(line, i), *next = words(at(line, i + 1));
        gsize n = strlen(is);
        const gboolean comma = n > 0 && is[n - 1] == ',';
        if (comma && (*next == ']' || *next == '}'))
            n--;
        g_string_append_len(out, is, (gssize)n);
        if (!comma && n > 0 && is[n - 1] == '}' && *next == '{')
            g_string_append_c(out, ',');
        if (i + 1 < line->len)
            g_string_append_c(out, '\n');
    }
    return g_string_free(out, FALSE);
}

static void move(GPtrArray *line, guint from, guint to)
{
    char *is = g_ptr_array_steal_index(line, from);
    g_ptr_array_insert(line, (gint)to, is);
}

/* --- the changes: FALSE where line i has no k-th of its kind ------------------------------------
 */

static gboolean without(GPtrArray *line, guint i, guint k, char **how)
{
    if (k > 0 || !is_step(at(line, i)))
        return FALSE;
    *how = g_strdup_printf("without line %u", i + 1);
    g_ptr_array_remove_index(line, i);
    return TRUE;
}

static gboolean exchanged(GPtrArray *line, guint i, guint k, char **how)
{
    if (k > 0 || !is_step(at(line, i)) || !is_step(at(line, i + 1)))
        return FALSE;
    *how = g_strdup_printf("lines %u and %u exchanged", i + 1, i + 2);
    move(line, i, i + 1);
    return TRUE;
}

/* A number, or a name of one. */
static gsize number_at(const char *line, const char *c)
{
    static const char *const names[] = { "NB", "k", "j", "i", "r", "kt", "nb" };
    gsize n = 0;
    if (c > line && (g_ascii_isalnum(c[-1]) || c[-1] == '_'))
        return 0;
    while (g_ascii_isalnum(c[n]) || c[n] == '_')
        n++;
    gboolean known = n > 0 && g_ascii_isdigit(*c);
    for (guint i = 0; i < G_N_ELEMENTS(names) && !known; i++)
        known = strlen(names[i]) == n && strncmp(names[i], c, n) == 0;
    return known ? n : 0;
}

static gboolean number(GPtrArray *line, guint i, guint k, char **how)
{
    const char *is = at(line, i);
    const gint by = k % 2 ? 1 : -1;
    guint seen = 0;
    if (!is_step(is) && !is_open(is))
        return FALSE;
    for (const char *c = is; *c; c++) {
        const gsize n = number_at(is, c);
        if (n == 0)
            continue;
        if (seen++ == k / 2) {
            g_autofree char *head = g_strndup(is, (gsize)(c - is)), *mid = g_strndup(c, n);
            char *with =
                g_ascii_isdigit(*c)
                    ? g_strdup_printf("%s%d%s", head, atoi(mid) + by, c + n)
                    : g_strdup_printf("%s(%s %c 1)%s", head, mid, by < 0 ? '-' : '+', c + n);
            *how = g_strdup_printf("line %u: %s", i + 1, words(with));
            g_free(line->pdata[i]);
            line->pdata[i] = with;
            return TRUE;
        }
        c += n - 1;
    }
    return FALSE;
}

/* Two stages become one. */
static gboolean border_left_out(GPtrArray *line, guint i, guint k, char **how)
{
    if (k > 0 || !is_close(at(line, i)) || !is_stage(at(line, i + 1)))
        return FALSE;
    *how = g_strdup_printf("no border at line %u", i + 1);
    g_ptr_array_remove_range(line, i, 2);
    return TRUE;
}

static gboolean inside_stage(const GPtrArray *line, guint i)
{
    while (i > 0 && is_step(at(line, i)))
        i--;
    return is_stage(at(line, i));
}

static gboolean border_added(GPtrArray *line, guint i, guint k, char **how)
{
    if (k > 0 || !is_step(at(line, i)) || !inside_stage(line, i) || !is_step(at(line, i + 1)))
        return FALSE;
    *how = g_strdup_printf("a border after line %u", i + 1);
    g_ptr_array_insert(line, (gint)i + 1, g_strdup("] },"));
    g_ptr_array_insert(line, (gint)i + 2, g_strdup("{ \"stage\": \"more\", \"do\": ["));
    return TRUE;
}

/* A step over the border after or before it, and what waits there. */
static gboolean over_border(GPtrArray *line, guint i, guint k, char **how)
{
    guint to = i;
    if (k > 1 || !is_step(at(line, i)) || !inside_stage(line, i))
        return FALSE;
    if (k == 0 && is_close(at(line, i + 1))) {
        to = i + 2 + orders(at(line, i + 2));
        to = is_stage(at(line, to)) ? to : i;
    }
    if (k == 0 && to == i)
        k = 1; /* its first is the one that stands last */
    if (k == 1 && is_stage(at(line, i - 1))) {
        to = i - 2 - orders(at(line, i - 2));
        to = is_close(at(line, to)) && inside_stage(line, to - 1) ? to : i;
    }
    if (to == i)
        return FALSE;
    *how = g_strdup_printf("line %u over the border %s", i + 1, to > i ? "after it" : "before it");
    move(line, i, to);
    return TRUE;
}

/* A wait or a barrier over the block after it (k 0), or the one before it (k 1). */
static gboolean over_block(GPtrArray *line, guint i, guint k, char **how)
{
    guint to = i;
    gint open = 0;
    if (k > 1 || !orders(at(line, i)))
        return FALSE;
    do {
        to += k == 0 ? 1 : -1u;
        open += is_open(at(line, to)) ? 1 : is_close(at(line, to)) ? -1 : 0;
    } while (open != 0 && to > 0 && to + 1 < line->len);
    if (open != 0 || is_step(at(line, to)))
        return k == 0 && over_block(line, i, 1, how);
    *how = g_strdup_printf("line %u over the block %s", i + 1, k == 0 ? "after it" : "before it");
    move(line, i, to);
    return TRUE;
}

static gboolean (*const kind[])(GPtrArray *, guint, guint,
                                char **) = { without,      exchanged,   number,    border_left_out,
                                             border_added, over_border, over_block };

static gboolean is_place(const char *line)
{
    return is_step(line) || is_open(line) || is_close(line);
}

static guint body_of(const GPtrArray *line)
{
    guint i = 0;
    while (i < line->len && !strstr(at(line, i), "\"body\": ["))
        i++;
    return i + 1;
}

void amd_mutants(const char *text, gboolean (*takes)(guint), AmdMutant *each, gpointer data)
{
    g_autoptr(GPtrArray) whole = lines_of(text);
    guint place = 0;
    for (guint i = body_of(whole); i < whole->len; i++) {
        if (!is_place(at(whole, i)) || (takes && !takes(place++)))
            continue;
        for (guint f = 0; f < G_N_ELEMENTS(kind); f++)
            for (guint k = 0;; k++) {
                g_autoptr(GPtrArray) line = lines_of(text);
                g_autofree char *how = NULL;
                if (!kind[f](line, i, k, &how))
                    break;
                g_autofree char *mutant = text_of(line);
                each(how, mutant, data);
            }
    }
}

void amd_mutant_pairs(const char *text, guint n, guint32 seed, AmdMutant *each, gpointer data)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(seed);
    while (n > 0) {
        g_autoptr(GPtrArray) line = lines_of(text);
        g_autofree char *first = NULL, *second = NULL;
        char **how[] = { &first, &second };
        gboolean made = TRUE;
        for (guint c = 0; c < 2 && made; c++) {
            const guint body = body_of(line), of = line->len - body;
            const guint i = body + (guint)g_rand_int_range(random, 0, (gint)of);
            const guint f = (guint)g_rand_int_range(random, 0, G_N_ELEMENTS(kind));
            made = kind[f](line, i, (guint)g_rand_int_range(random, 0, 2), how[c]);
        }
        if (!made)
            continue;
        g_autofree char *mutant = text_of(line), *both = g_strdup_printf("%s; %s", first, second);
        each(both, mutant, data);
        n--;
    }
}
