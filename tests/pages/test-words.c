/* Texts for users keep to the words of the field: words.def names those that they avoid, and what
 * they say instead. Read are the string literals of the programs (each with its neighbours, as the
 * compiler joins them; a single word is an identifier, no text), the pages and the files of the
 * desktop. */
#include <glib.h>
#include <string.h>

static const struct {
    const char *pattern, *instead, *sample;
} avoided[] = {
#define WS_AVOID(pattern, instead, sample) { pattern, instead, sample },
#include "words.def"
#undef WS_AVOID
};

static GRegex *compiled(guint i)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *whole = g_strdup_printf("(?<![-\\w`])(?:%s)(?![-\\w`])", avoided[i].pattern);
    GRegex *r = g_regex_new(whole, G_REGEX_CASELESS | G_REGEX_OPTIMIZE, 0, &error);
    g_assert_no_error(error);
    return r;
}

/* Every row finds its sample, and not what it recommends. */
static void rows(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(avoided); i++) {
        g_autoptr(GRegex) r = compiled(i);
        if (!g_regex_match(r, avoided[i].sample, 0, NULL) ||
            g_regex_match(r, avoided[i].instead, 0, NULL)) {
            g_test_message("row \"%s\"", avoided[i].pattern);
            g_test_fail();
        }
    }
}

static guint judge(const char *text, const char *place)
{
    static GRegex *all[G_N_ELEMENTS(avoided)];
    guint bad = 0;
    for (guint i = 0; i < G_N_ELEMENTS(avoided); i++) {
        g_autoptr(GMatchInfo) match = NULL;
        if (!all[i])
            all[i] = compiled(i);
        if (!g_regex_match(all[i], text, 0, &match))
            continue;
        g_autofree char *found = g_match_info_fetch(match, 0);
        int at;
        g_match_info_fetch_pos(match, 0, &at, NULL);
        g_autofree char *around = g_strndup(text + MAX(at - 40, 0), 100);
        g_test_message("%s: \"%s\", write: %s (...%s...)", place, found, avoided[i].instead,
                       around);
        bad++;
    }
    return bad;
}

/* After a comment, a directive that names a file, or a character; NULL if none of these is at `c`.
 */
static const char *skipped(const char *c, const char *line)
{
    const char *end = NULL;
    if (g_str_has_prefix(c, "/*"))
        return (end = strstr(c, "*/")) ? end + 2 : c + strlen(c);
    if (g_str_has_prefix(c, "//") || (c == line && g_str_has_prefix(c, "#include")))
        return c + strcspn(c, "\n");
    if (*c != '\'')
        return NULL;
    for (end = c + 1; *end && *end != '\'' && *end != '\n'; end++)
        end += *end == '\\' && end[1];
    return end + (*end == '\'');
}

/* The literal at the quote `c`, with the neighbours that only blanks part from it. */
static const char *literal(const char *c, GString *text)
{
    const char *end = c;
    for (; *c == '"'; c += strspn(c, " \t\n")) {
        for (c++; *c && *c != '"'; c++) {
            if (*c == '\\' && c[1])
                g_string_append_c(text, *c++ == '\\' && *c == 'n' ? ' ' : *c);
            else
                g_string_append_c(text, *c);
        }
        end = *c ? ++c : c;
    }
    return end;
}

static guint judge_source(const char *source, const char *place, guint *n)
{
    guint bad = 0;
    for (const char *c = source, *line = source; *c;) {
        const char *next = skipped(c, line);
        g_autoptr(GString) text = g_string_new(NULL);
        if (!next && *c == '"') {
            next = literal(c, text);
            *n += strchr(text->str, ' ') != NULL;
            bad += strchr(text->str, ' ') ? judge(text->str, place) : 0;
        }
        c = next ? next : c + 1;
        line = c[-1] == '\n' ? c : line;
    }
    return bad;
}

static guint judge_tree(const char *folder, guint *n)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    guint bad = 0;
    g_assert_nonnull(dir);
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(folder, name, NULL), *content = NULL;
        if (g_file_test(path, G_FILE_TEST_IS_DIR))
            bad += judge_tree(path, n);
        else if ((g_str_has_suffix(name, ".c") || g_str_has_suffix(name, ".h") ||
                  g_str_has_suffix(name, ".def") || g_str_has_suffix(name, ".json")) &&
                 g_file_get_contents(path, &content, NULL, NULL))
            bad += judge_source(content, path + strlen(WS_SOURCE_ROOT) + 1, n);
    }
    return bad;
}

static void texts(void)
{
    guint n = 0, bad = 0;
    for (const char *const *f =
             (const char *const[]){ "src", "ui", "codegen", "docs/schema", NULL };
         *f; f++) {
        g_autofree char *folder = g_build_filename(WS_SOURCE_ROOT, *f, NULL);
        bad += judge_tree(folder, &n);
    }
    g_test_message("%u texts", n);
    g_assert_cmpuint(n, >, 4000);
    g_assert_cmpuint(bad, ==, 0);
}

/* A page as one line, so that an expression across two lines is found. */
static guint judge_page(const char *path)
{
    g_autofree char *content = NULL;
    g_autoptr(GError) error = NULL;
    g_file_get_contents(path, &content, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(GString) line = g_string_new(NULL);
    for (const char *c = content; *c; c++)
        if (!g_ascii_isspace(*c) || (line->len && line->str[line->len - 1] != ' '))
            g_string_append_c(line, g_ascii_isspace(*c) ? ' ' : *c);
    return judge(line->str, path + strlen(WS_SOURCE_ROOT) + 1);
}

static void pages(void)
{
    static const struct {
        const char *folder, *suffix;
        guint least;
    } kept[] = { { "help/C", ".page", 10 },    { "docs/tutorials", ".md", 3 },
                 { "resources/ui", ".in", 3 }, { "resources/ui", ".xml", 1 },
                 { "docs/schema", ".md", 1 },  { "src/cli", ".md", 1 } };
    static const char *const single[] = { "README.md",      "LANGUAGE.md", "CONTRIBUTING.md",
                                          "docs/README.md", "docs/ci.md",  "docs/serve.md" };
    guint bad = 0;
    for (guint i = 0; i < G_N_ELEMENTS(single); i++) {
        g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, single[i], NULL);
        bad += judge_page(path);
    }
    for (guint i = 0; i < G_N_ELEMENTS(kept); i++) {
        g_autofree char *folder = g_build_filename(WS_SOURCE_ROOT, kept[i].folder, NULL);
        g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
        guint n = 0;
        g_assert_nonnull(dir);
        for (const char *name; (name = g_dir_read_name(dir));) {
            g_autofree char *path = g_build_filename(folder, name, NULL);
            if (g_str_has_suffix(name, kept[i].suffix) && ++n)
                bad += judge_page(path);
        }
        g_assert_cmpuint(n, >=, kept[i].least);
    }
    g_assert_cmpuint(bad, ==, 0);
}

/* A literal is read as the compiler reads it, and a comment is none. */
static void reading(void)
{
    guint n = 0;
    g_assert_cmpuint(judge_source("f(\"waits for \"\n  \"ever\"); /* \"for ever and\" */", "", &n),
                     ==, 1);
    g_assert_cmpuint(
        judge_source("c = '\"'; g(\"for\\never \\\" now\"); // \"on whom it\"\n", "", &n), ==, 1);
    g_assert_cmpuint(
        judge_source("#include \"a behind b.h\"\nh(\"behind\", \"a\" N \" b\");", "", &n), ==, 0);
    g_assert_cmpuint(n, ==, 3);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pages/words/rows", rows);
    g_test_add_func("/pages/words/reading", reading);
    g_test_add_func("/pages/words/texts", texts);
    g_test_add_func("/pages/words/pages", pages);
    return g_test_run();
}
