#include "cli/pick/pick.h"
#include "base/file.h"
#include "base/json_out.h"
#include "cli/cli.h"
#include "cli/pick/regret.h"

#include <stdio.h>
#include <string.h>

#define MAX_RULES_BYTES (1 << 20)

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

static void print_json(const char *rules, const GPtrArray *choices, const WsPickChoice *best)
{
    WsJsonOut j;
    g_autofree char *dir = g_path_get_dirname(rules);
    ws_cli_json_begin(&j);
    ws_json_out_text(&j, "file", rules);
    ws_json_out_open(&j, "choices", '[');
    for (guint i = 0; i < choices->len; i++) {
        const WsPickChoice *c = choices->pdata[i];
        g_autofree char *path = g_build_filename(dir, c->design, NULL);
        g_auto(GStrv) word = g_strsplit(c->set, " ", -1);
        g_autoptr(GPtrArray) set = g_ptr_array_new();
        for (guint k = 0; word[k]; k++)
            if (*word[k])
                g_ptr_array_add(set, word[k]);
        ws_json_out_open(&j, NULL, '{');
        ws_json_out_text(&j, "design", path);
        ws_json_out_texts(&j, "set", set);
        ws_json_out_integer(&j, "line", c->line);
        ws_json_out_truth(&j, "applies", c->applies);
        ws_json_out_truth(&j, "picked", c == best);
        if (c->applies)
            ws_json_out_integer(&j, "cost", c->cost);
        else
            ws_json_out_text(&j, "cost", NULL);
        ws_json_out_close(&j, '}');
    }
    ws_json_out_close(&j, ']');
    ws_cli_json_end(&j);
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
    gboolean all = FALSE, json = FALSE, regret = FALSE;
    const GOptionEntry entries[] = {
        { "size", 0, 0, G_OPTION_ARG_STRING_ARRAY, &size, "a size of the problem; repeatable",
          "NAME=VALUE" },
        { "all", 0, 0, G_OPTION_ARG_NONE, &all, "every choice with its cost, in file order", NULL },
        { "regret", 0, 0, G_OPTION_ARG_NONE, &regret,
          "what the rule loses beside the fastest of its designs, by the tables of measured times "
          "that it names",
          NULL },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "every choice, version 1 of the JSON form",
          NULL },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "pick", entries, &file))
        return WS_EXIT_USAGE;
    g_autoptr(GHashTable) sizes = sizes_of(size);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    gsize length;
    if (!sizes)
        return WS_EXIT_USAGE;
    if (!ws_file_read(file, MAX_RULES_BYTES, &text, &length, &error))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (regret) {
        if (size || all)
            return ws_cli_fail(WS_EXIT_USAGE, "--regret takes the sizes of the tables: --size and "
                                              "--all do not go with it");
        g_autoptr(WsPickRegret) r = ws_pick_regret(file, text, &error);
        return r ? ws_pick_regret_print(file, r, json)
                 : ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    }
    g_autoptr(GPtrArray) choices = ws_pick_judge(text, sizes, &error);
    if (!choices)
        return ws_cli_fail(WS_EXIT_USAGE, "%s, %s", file, error->message);
    const WsPickChoice *best = ws_pick_best(choices);
    if (json)
        print_json(file, choices, best);
    else if (all)
        print_all(file, choices);
    else if (best)
        print_choice(file, best);
    return best ? WS_EXIT_YES : ws_cli_fail(WS_EXIT_NO, "%s: no design for these sizes", file);
}
