/* The table of features (features.txt), and which of them may stand together. */
#include "builder.h"

#include <string.h>

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

const Feature *feature_at(guint i)
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
