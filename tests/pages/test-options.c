/* Commands that pages name: each `warpstave COMMAND --option` in README.md, LANGUAGE.md, docs and
 * the manual is a command with that option. Read are code spans and blocks of Markdown and <cmd> of
 * the manual. */
#include <glib.h>
#include <string.h>

typedef struct {
    GHashTable
        *help; /* command -> what `warpstave help COMMAND` prints; NULL: there is no such command */
    const char *page;
    guint named, options, bad;
} Look;

static const char *help_of(Look *l, const char *command)
{
    gpointer text = NULL;
    if (g_hash_table_lookup_extended(l->help, command, NULL, &text))
        return text;
    const char *argv[] = { WS_BUILD_ROOT "/bin/warpstave", "help", command, NULL };
    char *out = NULL;
    int status = 0;
    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                               &out, NULL, &status, NULL));
    if (status != 0)
        g_clear_pointer(&out, g_free);
    g_hash_table_insert(l->help, g_strdup(command), out);
    return out;
}

/* An option as help shows it: after a blank, and no part of a longer one. */
static gboolean offers(const char *help, const char *option)
{
    const gsize n = strlen(option);
    for (const char *at = strstr(help, option); at; at = strstr(at + 1, option))
        if (at > help && (at[-1] == ' ' || at[-1] == '[') && !g_ascii_isalpha(at[n]) &&
            at[n] != '-')
            return TRUE;
    return FALSE;
}

static void command_line(Look *l, const char *text)
{
    g_autoptr(GRegex) name = g_regex_new("^(?:\\$ )?(?:build/bin/)?warpstave ([a-z]+)", 0, 0, NULL);
    g_autoptr(GRegex) option = g_regex_new("(?<=\\s)--[a-z][a-z-]*", 0, 0, NULL);
    g_autoptr(GMatchInfo) command = NULL, each = NULL;
    if (!g_regex_match(name, text, 0, &command))
        return;
    g_autofree char *word = g_match_info_fetch(command, 1);
    const char *help = help_of(l, word);
    l->named++;
    if (!help) {
        g_test_message("%s: there is no command \"%s\": %s", l->page, word, text);
        l->bad++;
        return;
    }
    g_autofree char *own = g_strndup(text, strcspn(text, "|;#")); /* not of what it is piped to */
    for (g_regex_match(option, own, 0, &each); g_match_info_matches(each);
         g_match_info_next(each, NULL)) {
        g_autofree char *wanted = g_match_info_fetch(each, 0);
        l->options++;
        if (!offers(help, wanted)) {
            g_test_message("%s: %s has no option %s: %s", l->page, word, wanted, text);
            l->bad++;
        }
    }
}

static void spans(Look *l, const char *text, const char *pattern)
{
    g_autoptr(GRegex) r = g_regex_new(pattern, G_REGEX_DOTALL, 0, NULL);
    g_autoptr(GMatchInfo) each = NULL;
    for (g_regex_match(r, text, 0, &each); g_match_info_matches(each);
         g_match_info_next(each, NULL)) {
        g_autofree char *span = g_match_info_fetch(each, 1);
        g_strdelimit(span, "\n", ' ');
        command_line(l, span);
    }
}

static void look_at(Look *l, const char *path)
{
    g_autofree char *content = NULL;
    g_assert_true(g_file_get_contents(path, &content, NULL, NULL));
    l->page = path + strlen(WS_SOURCE_ROOT) + 1;
    if (g_str_has_suffix(path, ".page")) {
        spans(l, content, "<cmd>([^<]*)</cmd>");
        return;
    }
    g_auto(GStrv) line = g_strsplit(content, "\n", -1);
    g_autoptr(GString) prose = g_string_new(NULL);
    gboolean block = FALSE;
    for (guint i = 0; line[i]; i++) {
        const gboolean fence = g_str_has_prefix(line[i], "```");
        /* A command and what a table says of it are parted by blanks. */
        char *end = block ? strstr(line[i], "    ") : NULL;
        if (end && end != line[i])
            *end = '\0';
        if (block && !fence)
            command_line(l, line[i]);
        else if (!fence)
            g_string_append_printf(prose, "%s\n", line[i]);
        block ^= fence;
    }
    spans(l, prose->str, "`([^`]*)`");
}

static void folder(Look *l, const char *name, const char *suffix)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, name, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    g_assert_nonnull(dir);
    for (const char *file; (file = g_dir_read_name(dir));) {
        g_autofree char *page = g_build_filename(path, file, NULL);
        if (g_str_has_suffix(file, suffix))
            look_at(l, page);
    }
}

static Look begin(void)
{
    return (Look){ .help = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free) };
}

static void pages(void)
{
    Look l = begin();
    look_at(&l, WS_SOURCE_ROOT "/README.md");
    look_at(&l, WS_SOURCE_ROOT "/LANGUAGE.md");
    folder(&l, "docs", ".md");
    folder(&l, "docs/tutorials", ".md");
    folder(&l, "help/C", ".page");
    g_test_message("%u commands, %u options", l.named, l.options);
    g_assert_cmpuint(l.named, >, 60);
    g_assert_cmpuint(l.options, >, 60);
    g_assert_cmpuint(l.bad, ==, 0);
    g_hash_table_unref(l.help);
}

static void judges(void)
{
    static const struct {
        const char *text;
        guint bad;
    } row[] = { { "warpstave check DESIGN --fix", 0 },
                { "$ warpstave check d.wstave --fixx", 1 },
                { "warpstave check DESIGN --fi", 1 },
                { "warpstave chek DESIGN", 1 },
                { "warpstave check d --witness | grep --color x", 0 },
                { "other check --fixx", 0 } };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        Look l = begin();
        command_line(&l, row[i].text);
        g_assert_cmpuint(l.bad, ==, row[i].bad);
        g_hash_table_unref(l.help);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pages/options/judges", judges);
    g_test_add_func("/pages/options/pages", pages);
    return g_test_run();
}
