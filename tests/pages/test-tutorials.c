/* The tutorials (docs/tutorials) do what they say: each is followed in an empty folder, in order.
 * A fenced block is
 *   a file    ```json NAME (or python, c, cuda): written as it is;
 *   an edit   ```diff NAME: what it removes must stand in the file once, with the lines around it;
 *   commands  ```console: `$ COMMAND`, then what it prints. "# exit N" in a command is its status,
 * 0 without. A line `...` leaves lines out, an ellipsis within a line leaves text out. A command
 *             without lines below it may print anything.
 *   ```text   is only read. */
#include "../whole.h"
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

typedef struct {
    char *page, *folder;
    guint files, edits, commands, lines;
} Run;

static void fail(const Run *r, guint line, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void fail(const Run *r, guint line, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    g_autofree char *why = g_strdup_vprintf(format, list);
    va_end(list);
    g_test_message("%s:%u: %s", r->page, line, why);
    g_test_fail();
}

static char *place(const Run *r, const char *name)
{
    g_assert_true(*name && !strchr(name, '/'));
    return g_build_filename(r->folder, name, NULL);
}

static void write_file(Run *r, const char *name, char *const *line, guint n)
{
    g_autofree char *path = place(r, name);
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < n; i++)
        g_string_append_printf(text, "%s\n", line[i]);
    g_assert_true(g_file_set_contents(path, text->str, -1, NULL));
    r->files++;
}

static void edit_file(Run *r, guint at, const char *name, char *const *line, guint n)
{
    g_autofree char *path = place(r, name), *content = NULL;
    g_autoptr(GString) old = g_string_new("\n"), new = g_string_new("\n");
    for (guint i = 0; i < n; i++) {
        const char *text = *line[i] ? line[i] + 1 : line[i];
        if (*line[i] != '+')
            g_string_append_printf(old, "%s\n", text);
        if (*line[i] != '-')
            g_string_append_printf(new, "%s\n", text);
    }
    if (!g_file_get_contents(path, &content, NULL, NULL)) {
        fail(r, at, "there is no %s yet", name);
        return;
    }
    g_autofree char *whole = g_strconcat("\n", content, NULL);
    const char *found = strstr(whole, old->str);
    if (!found || strstr(found + 1, old->str)) {
        fail(r, at, "%s does not hold these lines once", name);
        return;
    }
    g_autofree char *before = g_strndup(whole, (gsize)(found - whole));
    g_autofree char *made = g_strconcat(before, new->str, found + old->len, NULL);
    g_assert_true(g_file_set_contents(path, made + 1, -1, NULL));
    r->edits++;
}

/* An ellipsis in `want` is any text. */
static gboolean fits(const char *line, const char *want)
{
    g_auto(GStrv) piece = g_strsplit(want, "…", -1);
    const guint n = g_strv_length(piece);
    if (n == 0)
        return *line == '\0';
    if (!g_str_has_prefix(line, piece[0]))
        return FALSE;
    line += strlen(piece[0]);
    for (guint i = 1; i < n; i++) {
        const char *at = i + 1 < n                          ? strstr(line, piece[i])
                         : g_str_has_suffix(line, piece[i]) ? line + strlen(line) - strlen(piece[i])
                                                            : NULL;
        if (!at)
            return FALSE;
        line = at + strlen(piece[i]);
    }
    return *line == '\0';
}

static void compare(Run *r, guint at, const char *output, char *const *want, guint n)
{
    g_auto(GStrv) line = g_strsplit(output, "\n", -1);
    guint have = g_strv_length(line), i = 0;
    if (have && !*line[have - 1])
        have--;
    for (guint w = 0; w < n; w++) {
        const gboolean gap = !strcmp(want[w], "...");
        if (gap && w + 1 == n)
            return;
        w += gap;
        while (gap && i < have && !fits(line[i], want[w]))
            i++;
        while (i < have && strstr(line[i], "WARNING: ASan")) /* of a build with sanitizers */
            i++;
        if (i >= have || !fits(line[i], want[w])) {
            fail(r, at + w, "expected \"%s\" in\n%s", want[w], output);
            return;
        }
        i++, r->lines++;
    }
    if (n > 0 && i < have)
        fail(r, at + n, "more is printed: \"%s\"", line[i]);
}

static int status_wanted(const char *command)
{
    const char *at = strstr(command, "# exit ");
    return at ? (int)g_ascii_strtoll(at + strlen("# exit "), NULL, 10) : 0;
}

static void run_command(Run *r, guint at, const char *command, char *const *want, guint n)
{
    g_autoptr(GSubprocessLauncher) launcher =
        g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE);
    /* it runs in a folder of its own */
    g_autofree char *bin = g_canonicalize_filename(WS_BUILD_ROOT "/bin", NULL);
    g_autofree char *source = g_canonicalize_filename(WS_SOURCE_ROOT, NULL);
    g_autofree char *path = g_strdup_printf("%s:%s", bin, g_getenv("PATH"));
    g_autofree char *output = NULL;
    g_autoptr(GError) error = NULL;
    g_subprocess_launcher_set_cwd(launcher, r->folder);
    g_subprocess_launcher_setenv(launcher, "PATH", path, TRUE);
    g_subprocess_launcher_setenv(launcher, "LC_ALL", "C.UTF-8", TRUE);
    g_subprocess_launcher_setenv(launcher, "WARPSTAVE_SOURCE", source, TRUE);
    g_autoptr(GSubprocess) run =
        g_subprocess_launcher_spawn(launcher, &error, "/bin/sh", "-c", command, NULL);
    g_assert_no_error(error);
    g_subprocess_communicate_utf8(run, NULL, NULL, &output, NULL, &error);
    g_assert_no_error(error);
    const int status = g_subprocess_get_if_exited(run) ? g_subprocess_get_exit_status(run) : -1;
    if (status != status_wanted(command))
        fail(r, at, "\"%s\" exits with %d\n%s", command, status, output);
    compare(r, at + 1, output, want, n);
    r->commands++;
}

static void run_console(Run *r, guint at, char *const *line, guint n)
{
    for (guint i = 0; i < n;) {
        guint k = i + 1;
        if (!g_str_has_prefix(line[i], "$ ")) {
            fail(r, at + i, "no command: \"%s\"", line[i]);
            return;
        }
        while (k < n && !g_str_has_prefix(line[k], "$ "))
            k++;
        run_command(r, at + i, line[i] + 2, line + i + 1, k - i - 1);
        i = k;
    }
}

static void run_block(Run *r, guint at, const char *head, char *const *line, guint n)
{
    g_auto(GStrv) word = g_strsplit(head, " ", 2);
    if (!strcmp(head, "console"))
        run_console(r, at, line, n);
    else if (!g_strcmp0(word[0], "diff") && word[1])
        edit_file(r, at, word[1], line, n);
    else if (word[0] && word[1])
        write_file(r, word[1], line, n);
    else if (strcmp(head, "text") != 0)
        fail(r, at, "a block of no known kind: \"%s\"", head);
}

static void follow(Run *r, const char *page)
{
    g_auto(GStrv) line = g_strsplit(page, "\n", -1);
    for (guint i = 0; line[i]; i++) {
        if (!g_str_has_prefix(line[i], "```"))
            continue;
        guint end = i + 1;
        while (line[end] && strcmp(line[end], "```") != 0)
            end++;
        if (!line[end]) {
            fail(r, i + 1, "a block without end");
            return;
        }
        run_block(r, i + 2, line[i] + 3, line + i + 1, end - i - 1);
        i = end;
    }
}

static void clear(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_DIR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK))
            clear(path);
        else
            g_remove(path);
    }
    g_rmdir(folder);
}

static Run begin(const char *page)
{
    Run r = { .page = g_strdup(page), .folder = g_dir_make_tmp("warpstave-page-XXXXXX", NULL) };
    g_assert_nonnull(r.folder);
    return r;
}

static void end(Run *r)
{
    clear(r->folder);
    g_free(r->page);
    g_free(r->folder);
}

static gboolean has_codegen(void)
{
    g_autofree char *out = NULL;
    const char *argv[] = { WS_BUILD_ROOT "/bin/warpstave", "--version", NULL };
    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                               &out, NULL, NULL, NULL));
    return strstr(out, "code generation: yes") != NULL;
}

static void tutorial(gconstpointer data)
{
    const char *path = data;
    g_autofree char *content = NULL;
    g_assert_true(g_file_get_contents(path, &content, NULL, NULL));
    if (!has_codegen()) { /* all of them rehearse or generate */
        g_test_skip("built without LLVM");
        return;
    }
    Run r = begin(path + strlen(WS_SOURCE_ROOT) + 1);
    follow(&r, content);
    g_test_message("%u files, %u edits, %u commands, %u lines of output", r.files, r.edits,
                   r.commands, r.lines);
    if (r.commands < 3 || r.lines < 3)
        fail(&r, 1, "hardly anything is run");
    end(&r);
}

/* What is wrong in a page is found: each row is one, and how many lines of it are in order. */
static void runner(void)
{
    static const struct {
        const char *line, *want;
        gboolean fits;
    } row[] = {
        { "abc", "abc", TRUE },
        { "abc", "ab", FALSE },
        { "abc", "a…c", TRUE },
        { "a 12 ms", "a … ms", TRUE },
        { "a 12 s", "a … ms", FALSE },
        { "", "", TRUE },
        { "x", "", FALSE },
        { "aXbXc", "a…b…c", TRUE },
        { "acb", "a…b…c", FALSE },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++)
        g_assert_true(fits(row[i].line, row[i].want) == row[i].fits);
    Run r = begin("page");
    follow(&r, "```text a\none\ntwo\n```\n```diff a\n one\n-two\n+2\n```\n"
               "```console\n$ cat a\none\n2\n$ seq 9\n1\n...\n8\n9\n$ false # exit 1\n```\n");
    g_assert_cmpuint(r.files + r.edits, ==, 2);
    g_assert_cmpuint(r.commands, ==, 3);
    g_assert_cmpuint(r.lines, ==, 5);
    end(&r);
}

/* Each of these fails. */
static void bad_page(gconstpointer data)
{
    if (g_test_subprocess()) {
        Run r = begin("page");
        follow(&r, data);
        end(&r);
        return;
    }
    g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
    g_test_trap_assert_failed();
}

int main(int argc, char **argv)
{
    static const char *const bad[] = {
        "```console\n$ false\n```\n",
        "```console\n$ true # exit 1\n```\n",
        "```console\n$ seq 3\n1\n2\n```\n",
        "```console\n$ seq 3\n1\n3\n```\n",
        "```console\n$ seq 3\n1\n...\n4\n```\n",
        "```console\nseq 3\n```\n",
        "```diff a\n-x\n```\n",
        "```text a\nx\nx\n```\n```diff a\n-x\n+y\n```\n",
        "```console\n$ true\n",
        "```sh\ntrue\n```\n",
    };
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pages/tutorials/runner", runner);
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *name = g_strdup_printf("/pages/tutorials/bad-page/%u", i);
        g_test_add_data_func(name, bad[i], bad_page);
    }
    g_autoptr(GDir) dir = g_dir_open(WS_SOURCE_ROOT "/docs/tutorials", 0, NULL);
    g_assert_nonnull(dir);
    guint n = 0;
    for (const char *file; (file = g_dir_read_name(dir));) {
        if (!g_str_has_suffix(file, ".md") || !strcmp(file, "README.md") || !test_either(n++))
            continue;
        g_autofree char *stem = g_strndup(file, strlen(file) - strlen(".md"));
        g_autofree char *name = g_strdup_printf("/pages/tutorials/%s", stem);
        g_test_add_data_func_full(
            name, g_build_filename(WS_SOURCE_ROOT, "docs/tutorials", file, NULL), tutorial, g_free);
    }
    return g_test_run();
}
