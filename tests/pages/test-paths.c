/* What the pages for those who work on the project name is there: paths, tests, cases and names of
 * C in code spans, and where links lead. A path may begin anywhere (`proof/lets.c`); `*` and NAME
 * stand for anything. */
#include "../tree.h"

/* Of the reader's own files, which the tutorials have him make, and of former states. */
static const char *const left_out[] = { "docs/tutorials/", "CHANGELOG.md" };
static const char sources[] = ".c .h .def .md .sh .txt";

typedef struct {
    GHashTable *tails; /* every end of a path that begins behind a slash */
    GHashTable *cases; /* the same of tests and their cases */
    GPtrArray *paths;  /* each file, folder, test and case, with a slash before it */
    GHashTable *names; /* WS_…, ws_… and Ws… of all sources */
    guint named, bad;
    const char *page;
} Tree;

/* --- what is there ---------------------------------------------------------------------------- */

static void add_path(Tree *t, GHashTable *tails, const char *path)
{
    g_autofree char *whole = g_strconcat("/", path, NULL);
    if (g_hash_table_contains(tails, whole))
        return;
    g_autofree char *folder = g_path_get_dirname(path);
    if (strcmp(folder, ".") != 0)
        add_path(t, tails, folder);
    for (const char *tail = path; tail; tail = (tail = strchr(tail, '/')) ? tail + 1 : NULL)
        g_hash_table_add(tails, g_strdup(tail));
    g_hash_table_add(tails, g_strdup(whole));
    g_ptr_array_add(t->paths, g_steal_pointer(&whole));
}

static gboolean is_ours(const char *word)
{
    return g_str_has_prefix(word, "ws_") || g_str_has_prefix(word, "WS_") ||
           (g_str_has_prefix(word, "Ws") && g_ascii_isupper(word[2]));
}

static void add_names(Tree *t, const char *text)
{
    for (const char *c = text; *c;) {
        const char *word = c;
        while (g_ascii_isalnum(*c) || *c == '_')
            c++;
        if (c > word && is_ours(word))
            g_hash_table_add(t->names, g_strndup(word, (gsize)(c - word)));
        c += c == word;
    }
}

/* Tests and cases: what stands in quotes with a slash. */
static void add_cases(Tree *t, const char *text)
{
    static GRegex *quoted;
    g_autoptr(GMatchInfo) each = NULL;
    if (!quoted)
        quoted = g_regex_new("[\"']/?([\\w-]+(?:/[\\w-]+)+)[\"']", 0, 0, NULL);
    for (g_regex_match(quoted, text, 0, &each); g_match_info_matches(each);
         g_match_info_next(each, NULL)) {
        g_autofree char *name = g_match_info_fetch(each, 1);
        add_path(t, t->cases, name);
    }
}

static void see_file(const char *path, const char *text, gpointer data)
{
    Tree *t = data;
    add_path(t, t->tails, path);
    if (strcmp(path, "tests/pages/test-paths.c") == 0 || tree_ends(path, ".md .wstave .json"))
        return;
    add_names(t, text);
    if (g_str_has_prefix(path, "tests/") && tree_ends(path, ".c .build"))
        add_cases(t, text);
}

static Tree *tree_new(void)
{
    Tree *t = g_new0(Tree, 1);
    t->tails = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    t->cases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    t->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    t->paths = g_ptr_array_new_with_free_func(g_free);
    tree_visit("", "", see_file, t);
    return t;
}

static void tree_free(Tree *t)
{
    g_hash_table_unref(t->tails);
    g_hash_table_unref(t->cases);
    g_hash_table_unref(t->names);
    g_ptr_array_unref(t->paths);
    g_free(t);
}

/* --- what is named ---------------------------------------------------------------------------- */

static gboolean any_matches(Tree *t, const char *word)
{
    g_autoptr(GString) glob = g_string_new(word);
    g_string_replace(glob, "NAME", "*", 0);
    g_string_prepend(glob, "*/");
    for (guint i = 0; i < t->paths->len; i++)
        if (g_pattern_match_simple(glob->str, t->paths->pdata[i]))
            return TRUE;
    return FALSE;
}

static gboolean is_test(Tree *t, const char *word)
{
    const char *slash = strrchr(word, '/');
    if (!slash)
        return FALSE;
    g_autofree char *program =
        g_strdup_printf("/tests/%.*s/test-%s.c", (int)(slash - word), word, slash + 1);
    return g_hash_table_contains(t->tails, program);
}

static gboolean is_there(Tree *t, const char *said)
{
    g_autofree char *word = g_strdup(said), *design = NULL;
    if (g_str_has_suffix(word, "/"))
        word[strlen(word) - 1] = '\0';
    design = g_strconcat(word, ".wstave", NULL);
    if (strstr(word, "[ch]")) {
        g_auto(GStrv) part = g_strsplit(word, "[ch]", 2);
        g_autofree char *c = g_strconcat(part[0], "c", part[1], NULL);
        g_autofree char *h = g_strconcat(part[0], "h", part[1], NULL);
        return is_there(t, c) && is_there(t, h);
    }
    if (strchr(word, '*') || strstr(word, "NAME"))
        return any_matches(t, word);
    return g_hash_table_contains(t->tails, word) || g_hash_table_contains(t->tails, design) ||
           g_hash_table_contains(t->cases, word) || is_test(t, word);
}

/* Whether a word of a code span means a file or folder of the tree. */
static gboolean is_path(Tree *t, const char *word)
{
    static const char chars[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./*[]";
    gsize first = strcspn(word, "/");
    if (g_str_has_prefix(word, "I") && first == 3 && word[first])
        return TRUE; /* the number of an interaction: a scenario of the studio */
    if (!*word || *word == '/' || *word == '.' || word[strspn(word, chars)] ||
        strspn(word, "*.") == strlen(word))
        return FALSE;
    if (!word[first])
        return tree_ends(word, sources) && !g_str_has_prefix(word, "*.");
    g_autofree char *root = g_strndup(word, first);
    g_autofree char *room = g_strconcat("/src/", root, NULL), *top = g_strconcat("/", root, NULL);
    return tree_ends(word, sources) || g_hash_table_contains(t->tails, top) ||
           g_hash_table_contains(t->tails, room);
}

static gboolean is_named(Tree *t, const char *said)
{
    g_autofree char *word = g_strdup(said);
    gsize n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    const char *any = strstr(word, "NAME");
    gboolean open = word[n] == '*' || any;
    GHashTableIter at;
    gpointer name;
    word[any ? (gsize)(any - word) : n] = '\0';
    if (!open)
        return g_hash_table_contains(t->names, word);
    g_hash_table_iter_init(&at, t->names);
    while (g_hash_table_iter_next(&at, &name, NULL))
        if (g_str_has_prefix(name, word))
            return TRUE;
    return FALSE;
}

static void judge(Tree *t, const char *word)
{
    gboolean path = is_path(t, word), name = !path && is_ours(word);
    t->named += path || name;
    if ((path && !is_there(t, word)) || (name && !is_named(t, word))) {
        g_test_message("%s: there is no %s", t->page, word);
        t->bad++;
    }
}

/* A link is relative to its page. */
static void follow(Tree *t, const char *link)
{
    g_autofree char *folder = g_path_get_dirname(t->page);
    g_autofree char *file = g_strndup(link, strcspn(link, "#"));
    if (!*file || strstr(link, ":"))
        return;
    g_autofree char *root = g_strconcat("/", folder, NULL);
    g_autofree char *at = g_canonicalize_filename(file, root);
    t->named++;
    if (!g_hash_table_contains(t->tails, at)) {
        g_test_message("%s: the link to %s leads nowhere", t->page, link);
        t->bad++;
    }
}

static void read_page(Tree *t, const char *page, const char *text)
{
    g_autoptr(GRegex) span = g_regex_new("`([^`\\n]+)`|\\]\\(([^)\\s]+)\\)", 0, 0, NULL);
    g_autoptr(GMatchInfo) each = NULL;
    t->page = page;
    for (g_regex_match(span, text, 0, &each); g_match_info_matches(each);
         g_match_info_next(each, NULL)) {
        g_autofree char *code = g_match_info_fetch(each, 1), *link = g_match_info_fetch(each, 2);
        g_auto(GStrv) word = g_strsplit_set(code, " (),;", -1);
        for (guint i = 0; word[i]; i++)
            judge(t, word[i]);
        if (link && *link)
            follow(t, link);
    }
}

static void see_page(const char *path, const char *text, gpointer data)
{
    for (guint i = 0; i < G_N_ELEMENTS(left_out); i++)
        if (g_str_has_prefix(path, left_out[i]))
            return;
    read_page(data, path, text);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test_pages(void)
{
    Tree *t = tree_new();
    tree_visit("", ".md", see_page, t);
    g_test_message("%u paths and names", t->named);
    g_assert_cmpuint(t->named, >, 900);
    g_assert_cmpuint(t->bad, ==, 0);
    tree_free(t);
}

/* Each of these is found to be wrong, and what lies beside it right. */
static void test_found(void)
{
    static const struct {
        const char *text;
        guint named, bad;
    } said[] = {
        { "`src/model/step.def` and `step.def`, `model/table`", 3, 0 },
        { "`src/model/stap.def` and `stap.def`, `model/tables`", 3, 3 },
        { "`src/target/NAME.c`, `steps_*.c`, `src/score/`", 3, 0 },
        { "`src/target/NAME.cc`, `stepz_*.c`, `src/scores/`", 3, 3 },
        { "`tests/oracle/watch.[ch]` `tests/designs/gemm-fp8-block`", 2, 0 },
        { "`tests/oracle/results.[ch]` `tests/designs/gemm-fp9`", 2, 2 },
        { "`ws_step_NAME`, `WsDesign *`, `ws_expr_parse(text)`, `WS_PY_DIALECT`", 4, 0 },
        { "`ws_stop_NAME`, `WsDesigns *`, `ws_expr_parses(text)`, `WS_PY_DIALECTS`", 4, 4 },
        { "[a](docs/nothing.md) [b](LANGUAGE.md#steps) [c](https://example.org/a.md)", 2, 1 },
        { "`N/2`, `*.wstave`, `groups/mma/body/0`, `/check/prove`, `a.b`, `--json`", 0, 0 },
    };
    Tree *t = tree_new();
    for (guint i = 0; i < G_N_ELEMENTS(said); i++) {
        t->named = t->bad = 0;
        read_page(t, "page.md", said[i].text);
        if (t->named != said[i].named || t->bad != said[i].bad) {
            g_test_message("%s: %u named, %u wrong", said[i].text, t->named, t->bad);
            g_test_fail();
        }
    }
    tree_free(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    g_test_add_func("/pages/paths/found", test_found);
    g_test_add_func("/pages/paths/pages", test_pages);
    return g_test_run();
}
