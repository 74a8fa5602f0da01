#include "cli/pick.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static void print_set(const char *set)
{
    g_auto(GStrv) word = g_strsplit(set, " ", -1);
    for (guint i = 0; word[i]; i++)
        if (*word[i])
            printf(" --set %s", word[i]);
}

static void print_choice(const char *rules, const WsPickChoice *c)
{
    g_autofree char *dir = g_path_get_dirname(rules);
    g_autofree char *path = g_build_filename(dir, c->design, NULL);
    printf("%s", path);
    print_set(c->set);
    putchar('\n');
}

static void print_all(const char *rules, const GPtrArray *choices)
{
    for (guint i = 0; i < choices->len; i++) {
        const WsPickChoice *c = choices->pdata[i];
        if (c->applies)
            printf("%12" G_GINT64_FORMAT "  ", c->cost);
        else
            printf("%12s  ", "-");
        print_choice(rules, c);
    }
}

static GHashTable *sizes_of(char **size)
{
    g_autoptr(GArray) settings = NULL;
    if (!ws_cli_settings(size, "--size", &settings))
        return NULL;
    GHashTable *sizes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; i < settings->len; i++) {
        const WsSetting *s = &g_array_index(settings, WsSetting, i);
        g_hash_table_insert(sizes, g_strdup(s->name), g_memdup2(&s->value, sizeof s->value));
    }
    return sizes;
}

int ws_command_pick(int argc, char **argv)
{
    g_auto(GStrv) size = NULL;
    gboolean all = FALSE;
    const GOptionEntry entries[] = {
        { "size", 0, 0, G_OPTION_ARG_STRING_ARRAY, &size, "a size of the problem; repeatable",
          "NAME=VALUE" },
        { "all", 0, 0, G_OPTION_ARG_NONE, &all, "every choice with its cost, in file order", NULL },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "pick", entries, &file))
        return WS_EXIT_USAGE;
    g_autoptr(GHashTable) sizes = sizes_of(size);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    if (!sizes)
        return WS_EXIT_USAGE;
    if (!g_file_get_contents(file, &text, NULL, &error))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    g_autoptr(GPtrArray) choices = ws_pick_judge(text, sizes, &error);
    if (!choices)
        return ws_cli_fail(WS_EXIT_USAGE, "%s, %s", file, error->message);
    const WsPickChoice *best = ws_pick_best(choices);
    if (all)
        print_all(file, choices);
    else if (best)
        print_choice(file, best);
    return best ? WS_EXIT_YES : ws_cli_fail(WS_EXIT_NO, "%s: no design for these sizes", file);
}
