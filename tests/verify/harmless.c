/* Damage that leaves a certificate acceptable: its nodes know less, or an answer leads to another
 * node from which all goes on in the same way. */
#include "damage.h"

#include <string.h>

static gboolean is_number(const char *text)
{
    return g_ascii_isdigit(*text) || (*text == '-' && g_ascii_isdigit(text[1]));
}

/* `knows` lines of a node by instance, and the text without them. */
static char *split_knows(const char *text, GHashTable *knows)
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    GString *rest = g_string_new(NULL);
    guint node = 0;
    for (guint i = 0; line[i]; i++) {
        g_auto(GStrv) f = g_strsplit(line[i], " ", -1);
        node += g_str_has_prefix(line[i], "node ");
        if (strcmp(f[0] ? f[0] : "", "knows") != 0) {
            g_string_append_printf(rest, "%s\n", line[i]);
            continue;
        }
        char *key = g_strdup_printf("%u %s %s %s %s", node, f[1], f[2], f[3], f[4]);
        g_hash_table_insert(knows, key, g_strdup(line[i]));
    }
    return g_string_free(rest, FALSE);
}

/* What is assumed of a symbol, as a line `knows` would say it; `plain`: nothing is known of it
 * modulo 1. */
static char *assumed(const char *text, const char *symbol, gboolean *plain)
{
    g_autofree char *head = g_strdup_printf("\nsymbol %s ", symbol);
    const char *at = strstr(text, head);
    g_auto(GStrv) f = g_strsplit(at ? at + 1 : "", " ", 17);
    *plain = g_strv_length(f) > 10 && !strcmp(f[10], "1");
    return g_strv_length(f) > 8 ? g_strdup_printf("knows - - - - %s %s -", f[6], f[8]) : NULL;
}

/* a says no more than b. */
static gboolean says_less(const char *a, const char *b, gboolean plain)
{
    g_auto(GStrv) x = g_strsplit(a, " ", -1), y = g_strsplit(b, " ", -1);
    if (g_strv_length(x) != 8 || g_strv_length(y) != 8)
        return FALSE;
    for (guint n = 5; n < 7; n++) {
        const gint64 p = g_ascii_strtoll(x[n], NULL, 10), q = g_ascii_strtoll(y[n], NULL, 10);
        if (is_number(x[n]) && (!is_number(y[n]) || (n == 5 ? p > q : p < q)))
            return FALSE;
    }
    return plain || !is_number(x[7]) || !strcmp(x[7], y[7]);
}

/* What a node asks, and its answers with where they lead. NULL: there is no such node. */
static char *question(const char *text, const char *node)
{
    g_autofree char *head = g_strdup_printf("\nnode %s ask ", node);
    const char *at = strstr(text, head);
    g_auto(GStrv) line = g_strsplit(at ? at + strlen(head) : "", "\n", -1);
    GString *all = at ? g_string_new(line[0]) : NULL;
    for (guint i = 1; at && line[i] && !g_str_has_prefix(line[i], "node "); i++)
        if (g_str_has_prefix(line[i], "option "))
            g_string_append_printf(all, "\n%s", line[i]);
    return all ? g_string_free(all, FALSE) : NULL;
}

/* An answer leads to a twin of the node that it led to: one that asks the same, and whose answers
 * lead to the same nodes. That the twin covers the state is what the verifier says; then the paths
 * that follow are those that were there before, and the certificate proves as much. So it is where
 * whole pairs of laps are all that two states differ by ("rounds of a loop in a loop counted at
 * once": in its second tile two rounds of i, or none, leave the groups at the same place, with all
 * counters and phases two further). */
static gboolean leads_to_twins(const char *text, const char *damaged)
{
    g_auto(GStrv) a = g_strsplit(text, "\n", -1), b = g_strsplit(damaged, "\n", -1);
    gboolean twins = g_strv_length(a) == g_strv_length(b) && strcmp(text, damaged) != 0;
    for (guint i = 0; twins && a[i]; i++) {
        const char *x = strrchr(a[i], ' '), *y = strrchr(b[i], ' ');
        if (!strcmp(a[i], b[i]))
            continue;
        twins = g_str_has_prefix(a[i], "option ") && x && y && x - a[i] == y - b[i] &&
                strncmp(a[i], b[i], (gsize)(x - a[i])) == 0;
        g_autofree char *p = twins ? question(text, x + 1) : NULL;
        g_autofree char *q = twins ? question(text, y + 1) : NULL;
        twins = p && q && !strcmp(p, q);
    }
    return twins;
}

gboolean ws_damage_is_harmless(const char *text, const char *damaged)
{
    if (leads_to_twins(text, damaged))
        return TRUE;
    g_autoptr(GHashTable) a = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GHashTable) b = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autofree char *x = split_knows(text, a), *y = split_knows(damaged, b);
    gboolean less = strcmp(x, y) == 0;
    GHashTableIter i;
    gpointer key, line;
    g_hash_table_iter_init(&i, b);
    while (less && g_hash_table_iter_next(&i, &key, &line)) {
        g_auto(GStrv) f = g_strsplit(line, " ", -1);
        const char *was = g_hash_table_lookup(a, key);
        gboolean plain;
        g_autofree char *default_of = assumed(text, f[1], &plain);
        less = default_of && says_less(line, was ? was : default_of, plain);
    }
    return less;
}
