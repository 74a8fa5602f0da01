/* check of several files and folders, help, standard input. */
#include "run.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GEMM WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave"
#define WAIT "{ \"wait\": \"empty\", \"use\": \"k.total\" },"

static char *dir;

static void put(const char *name, const char *text)
{
    g_autofree char *path = g_build_filename(dir, name, NULL), *folder = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

/* Designs of each kind, a hidden folder, and a link to the folder itself. */
static void make_folder(void)
{
    g_autofree char *text = NULL, *link = NULL;
    dir = g_dir_make_tmp("warpstave-many-XXXXXX", NULL);
    g_assert_true(g_file_get_contents(GEMM, &text, NULL, NULL));
    put("proved.wstave", text);
    g_autofree char *bare = g_strdup(strchr(text, '{') + 1);
    g_autofree char *given = g_strconcat("{ \"granted\": [\"it is launched once\"],", bare, NULL);
    put("only/.git/given.wstave", given);
    memset(strstr(text, WAIT), ' ', strlen(WAIT));
    put("b/refuted.wstave", text);
    put("b/c/unread.wstave", "{");
    put("b/c/notes.txt", "{");
    put("only/.git/x.wstave", "{");
    put("only/proved.wstave", text);
    link = g_build_filename(dir, "b", "again", NULL);
    g_assert_cmpint(symlink(dir, link), ==, 0);
}

static int check(char **output, const char *first, ...) G_GNUC_NULL_TERMINATED;
static int check(char **output, const char *first, ...)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
    va_list list;
    va_start(list, first);
    g_ptr_array_add(argv, g_strdup("check"));
    for (const char *word = first; word; word = va_arg(list, const char *))
        g_ptr_array_add(argv,
                        *word == '@' ? g_build_filename(dir, word + 1, NULL) : g_strdup(word));
    va_end(list);
    g_ptr_array_add(argv, NULL);
    return run((const char *const *)argv->pdata, output);
}

/* Lines of the table: a verdict and a name. */
static guint rows_of(const char *output, const char *verdict)
{
    g_auto(GStrv) line = g_strsplit(output, "\n", -1);
    guint n = 0;
    for (guint i = 0; line[i]; i++)
        n += g_str_has_prefix(line[i], verdict) && strstr(line[i], dir) != NULL;
    return n;
}

static void test_folder(void)
{
    g_autofree char *output = NULL;
    g_assert_cmpint(check(&output, "@", NULL), ==, 1);
    g_assert_cmpuint(rows_of(output, "proved "), ==, 1);
    g_assert_cmpuint(rows_of(output, "refuted "), ==, 2);
    g_assert_cmpuint(rows_of(output, "unread "), ==, 1);
}

/* The worst of all, in any order: refuted, then unreadable, then proved. */
static void test_worst(void)
{
    static const struct {
        const char *file[3];
        int code;
    } cases[] = {
        { { "@proved.wstave", "@proved.wstave" }, 0 },
        { { "@proved.wstave", "@b/c/unread.wstave" }, 2 },
        { { "@b/c/unread.wstave", "@proved.wstave" }, 2 },
        { { "@b/c/unread.wstave", "@b/refuted.wstave", "@proved.wstave" }, 1 },
        { { "@b/refuted.wstave", "@b/c/unread.wstave", "@proved.wstave" }, 1 },
        { { "@b/c", "@proved.wstave" }, 2 },
        { { "@proved.wstave", "@absent.wstave" }, 2 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *output = NULL;
        g_assert_cmpint(check(&output, cases[i].file[0], cases[i].file[1], cases[i].file[2], NULL),
                        ==, cases[i].code);
    }
}

/* A proof that builds on something does not stand there bare. */
static void test_given(void)
{
    g_autofree char *output = NULL;
    g_assert_cmpint(check(&output, "@only/.git/given.wstave", "@proved.wstave", NULL), ==, 0);
    g_assert_nonnull(strstr(output, "given.wstave  given that it is launched once\n"));
    g_assert_nonnull(strstr(output, "/proved.wstave\n"));
}

static json_object *member(json_object *of, const char *name)
{
    json_object *value = NULL;
    g_assert_true(json_object_object_get_ex(of, name, &value));
    return value;
}

static void test_json(void)
{
    g_autofree char *output = NULL;
    g_assert_cmpint(check(&output, "--json", "@proved.wstave", "@b", NULL), ==, 1);
    json_object *root = json_tokener_parse(output);
    g_assert_nonnull(root);
    json_object *files = member(root, "files");
    g_assert_cmpint(json_object_get_int(member(root, "exit")), ==, 1);
    g_assert_cmpuint(json_object_array_length(files), ==, 3);
    static const int codes[] = { 0, 2, 1 }; /* b/c/unread before b/refuted */
    for (guint i = 0; i < G_N_ELEMENTS(codes); i++)
        g_assert_cmpint(json_object_get_int(member(json_object_array_get_idx(files, i), "exit")),
                        ==, codes[i]);
    json_object_put(root);
}

/* Each finding of each file, with its line. */
static void test_sarif(void)
{
    g_autofree char *file = g_build_filename(dir, "out.sarif", NULL), *output = NULL;
    g_autofree char *option = g_strconcat("--sarif=", file, NULL);
    g_assert_cmpint(check(&output, option, "@b", NULL), ==, 1);
    json_object *root = json_object_from_file(file);
    g_assert_nonnull(root);
    json_object *results = member(json_object_array_get_idx(member(root, "runs"), 0), "results");
    guint early = 0, unread = 0;
    for (gsize i = 0; i < json_object_array_length(results); i++) {
        json_object *r = json_object_array_get_idx(results, i);
        json_object *at =
            member(json_object_array_get_idx(member(r, "locations"), 0), "physicalLocation");
        const char *uri = json_object_get_string(member(member(at, "artifactLocation"), "uri"));
        const char *rule = json_object_get_string(member(r, "ruleId"));
        if (g_str_has_suffix(uri, "b/refuted.wstave") && g_str_has_prefix(rule, "P-")) {
            g_assert_cmpint(json_object_get_int(member(member(at, "region"), "startLine")), >, 1);
            early++;
        }
        unread += g_str_has_suffix(uri, "unread.wstave") && g_str_has_prefix(rule, "S-");
    }
    g_assert_cmpuint(early, >, 0);
    g_assert_cmpuint(unread, >, 0);
    json_object_put(root);
    g_autofree char *one = NULL;
    g_assert_cmpint(check(&one, option, "@proved.wstave", NULL), ==, 0);
    json_object *none = json_object_from_file(file);
    g_assert_cmpuint(json_object_array_length(
                         member(json_object_array_get_idx(member(none, "runs"), 0), "results")),
                     ==, 0);
    json_object_put(none);
}

static void test_quiet(void)
{
    g_autofree char *proved = NULL, *refuted = NULL, *both = NULL;
    g_assert_cmpint(check(&proved, "--quiet", "@proved.wstave", NULL), ==, 0);
    g_assert_cmpstr(proved, ==, "");
    g_assert_cmpint(check(&refuted, "-q", "@b/refuted.wstave", NULL), ==, 1);
    g_assert_nonnull(strstr(refuted, "error P-"));
    g_assert_null(strstr(refuted, "refuted ("));
    g_assert_cmpint(check(&both, "-q", "@proved.wstave", "@proved.wstave", NULL), ==, 0);
    g_assert_cmpstr(both, ==, "");
}

static void test_refused(void)
{
    static const char *const rows[][4] = {
        { "--fix", "@proved.wstave", "@b/refuted.wstave" },
        { "--fix", "@b" },
        { "--certificate=x", "@proved.wstave", "@b/refuted.wstave" },
        { "--from=gluon", "-" },
        { "--fix", "-" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *output = NULL;
        g_assert_cmpint(check(&output, rows[i][0], rows[i][1], rows[i][2], NULL), ==, 2);
    }
}

/* The hook of the page, as it stands there, in a repository of its own. */
static void test_hook(void)
{
    static const char begin[] = "```sh\n";
    g_autofree char *page = NULL, *hook = NULL, *git = g_find_program_in_path("git");
    if (!git) {
        g_test_skip("no git");
        return;
    }
    g_assert_true(g_file_get_contents(WS_SOURCE_ROOT "/docs/ci.md", &page, NULL, NULL));
    char *from = strstr(page, begin);
    g_assert_nonnull(from);
    from += strlen(begin);
    *strstr(from, "```") = '\0';
    put("hook", from);
    hook = g_build_filename(dir, "hook", NULL);
    static const struct {
        const char *add; /* shell */
        gboolean stops;
    } cases[] = {
        { "true", FALSE },
        { "cp ../proved.wstave 'a b.wstave' && git add .", FALSE },
        { "cp ../b/refuted.wstave c.wstave && cp ../b/c/notes.txt . && git add .", TRUE },
        { "git rm -q --cached c.wstave", FALSE },
    };
    g_autofree char *bin = g_canonicalize_filename(WS_BUILD_ROOT "/bin", NULL);
    g_autofree char *path = g_strconcat(bin, ":", g_getenv("PATH"), NULL);
    const char *make = "mkdir -p repository && cd repository && git init -q .";
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *script =
            g_strdup_printf("export PATH='%s'; unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE; "
                            "cd '%s' && %s && %s && sh ../hook",
                            path, dir, make, cases[i].add);
        const char *argv[] = { "sh", "-c", script, NULL };
        g_autofree char *said = NULL, *errors = NULL;
        int status;
        g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL,
                                   &said, &errors, &status, NULL));
        g_test_message("%u: %d\n%s%s", i, status, said, errors);
        g_assert_cmpint(status != 0, ==, cases[i].stops);
    }
}

/* What a terminal gets; the environment as NAME=VALUE. */
static char *at_terminal(const char *environment)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    g_assert_cmpint(master, >=, 0);
    g_assert_cmpint(grantpt(master), ==, 0);
    g_assert_cmpint(unlockpt(master), ==, 0);
    const int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    g_assert_cmpint(slave, >=, 0);
    g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_NONE);
    g_autofree char *file = g_build_filename(dir, "b", "refuted.wstave", NULL);
    g_auto(GStrv) one = g_strsplit(environment, "=", 2);
    g_subprocess_launcher_unsetenv(launcher, "NO_COLOR");
    g_subprocess_launcher_setenv(launcher, "TERM", "xterm", TRUE);
    g_subprocess_launcher_setenv(launcher, one[0], one[1], TRUE);
    g_subprocess_launcher_take_stdout_fd(launcher, dup(slave));
    g_subprocess_launcher_take_stderr_fd(launcher, slave);
    g_autoptr(GSubprocess) process = g_subprocess_launcher_spawn(
        launcher, NULL, WS_BUILD_ROOT "/bin/warpstave", "check", file, file, NULL);
    g_assert_nonnull(process);
    g_clear_object(&launcher); /* the last slave of this process */
    GString *said = g_string_new(NULL);
    char block[4096];
    for (gssize n; (n = read(master, block, sizeof block)) > 0;)
        g_string_append_len(said, block, n);
    close(master);
    g_assert_true(g_subprocess_wait(process, NULL, NULL));
    g_assert_cmpint(g_subprocess_get_exit_status(process), ==, 1);
    return g_string_free(said, FALSE);
}

static void test_colours(void)
{
    g_autofree char *plain = at_terminal("TERM=dumb"), *off = at_terminal("NO_COLOR=1");
    g_autofree char *on = at_terminal("NO_COLOR="), *output = NULL;
    g_assert_nonnull(strstr(on, "\033[1;31merror\033[0m P-"));
    g_assert_nonnull(strstr(on, "\033[1;31mrefuted\033[0m "));
    g_assert_null(strstr(plain, "\033[1;31m"));
    g_assert_null(strstr(off, "\033[1;31m"));
    g_assert_cmpint(check(&output, "@b/refuted.wstave", "@b/refuted.wstave", NULL), ==, 1);
    g_assert_null(strchr(output, '\033'));
}

/* "-" is the standard input. */
static void test_input(void)
{
    static const char *const commands[] = {
        "check -", "format -", "generate - --as program", "simulate -", "check --json -",
    };
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
        g_autofree char *command =
            g_strdup_printf(WS_BUILD_ROOT "/bin/warpstave %s < " GEMM, commands[i]);
        const char *argv[] = { "sh", "-c", command, NULL };
        g_autofree char *said = NULL;
        int status;
        g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL,
                                   &said, NULL, &status, NULL));
        g_assert_cmpint(status, ==, 0);
        g_assert_cmpuint(strlen(said), >, 50);
    }
}

static char *help_of(const char *command, gboolean word)
{
    const char *const argv[] = { word ? "help" : command, word ? command : "--help", NULL };
    char *output = NULL;
    g_assert_cmpint(run(argv, &output), ==, 0);
    return output;
}

/* `help COMMAND` is `COMMAND --help`; options in its examples are the command's. */
static void test_help(void)
{
    static const char *const commands[] = {
#define WS_COMMAND(name, arguments, codegen, help) codegen ? NULL : #name,
#include "cli/command.def"
#undef WS_COMMAND
    };
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
        if (!commands[i]) /* not in every build */
            continue;
        g_autofree char *a = help_of(commands[i], FALSE), *b = help_of(commands[i], TRUE);
        g_assert_cmpstr(a, ==, b);
        const char *examples = strstr(a, "Examples:\n");
        g_assert_nonnull(examples);
        g_autofree char *call = g_strdup_printf("warpstave %s", commands[i]);
        g_assert_nonnull(strstr(examples, call));
        for (const char *at = examples; (at = strstr(at, " --")); at += 3) {
            g_autofree char *option =
                g_strndup(at + 1, strspn(at + 1, "-abcdefghijklmnopqrstuvwxyz"));
            const char *listed = strstr(a, option);
            if (!listed || listed >= examples)
                g_error("%s has no %s", commands[i], option);
        }
    }
    const char *const wrong[] = { "help", "chekc", NULL };
    g_autofree char *output = NULL;
    g_assert_cmpint(run(wrong, &output), ==, 2);
    g_assert_nonnull(strstr(output, "did you mean 'check'"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    make_folder();
    g_test_add_func("/cli/many/folder", test_folder);
    g_test_add_func("/cli/many/given", test_given);
    g_test_add_func("/cli/many/worst", test_worst);
    g_test_add_func("/cli/many/json", test_json);
    g_test_add_func("/cli/many/sarif", test_sarif);
    g_test_add_func("/cli/many/quiet", test_quiet);
    g_test_add_func("/cli/many/refused", test_refused);
    g_test_add_func("/cli/many/colours", test_colours);
    g_test_add_func("/cli/many/hook", test_hook);
    g_test_add_func("/cli/many/input", test_input);
    g_test_add_func("/cli/many/help", test_help);
    const int code = g_test_run();
    const char *const remove[] = { "rm", "-rf", dir, NULL };
    g_spawn_sync(NULL, (char **)remove, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
                 NULL);
    g_free(dir);
    return code;
}
