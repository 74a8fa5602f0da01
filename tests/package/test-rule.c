/* Packages with a rule: their choice is that of `warpstave pick`, for 1,000 random shapes; builds
 * that are not called the same way, and names that the rule lacks, are refused. */
#include "base/folder.h"
#include "cli/package/parse.h"
#include "cli/pick/pick.h"
#include "package/rule.h"
#include "package_test.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

enum { BUILDS_MOST = 32, SHAPES = 1000 };

typedef struct {
    WsShapeRule *rule;
    char *text;
    GHashTable *fixed;
    WsProgram *program[BUILDS_MOST];
    WsPackageSpec spec[BUILDS_MOST];
    char *label[BUILDS_MOST];
    WsRulePackage package;
} Made;

static void made_clear(Made *m)
{
    for (guint i = 0; i < m->package.n; i++)
        ws_program_unref(m->program[i]);
    g_clear_pointer(&m->rule, ws_shape_rule_free);
    g_clear_pointer(&m->fixed, g_hash_table_unref);
    g_free(m->text);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Made, made_clear)

static void fix(GHashTable *names, const char *name, gint64 value)
{
    g_hash_table_insert(names, g_strdup(name), g_memdup2(&value, sizeof value));
}

static GHashTable *no_names(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

/* Settings of the rules are not needed: shapes and tiles alone are asked. */
static void make(Made *m, const char *file, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "projects", file, NULL);
    static GBytes *cubin;
    if (!cubin)
        cubin = g_bytes_new_static("cubin", 5);
    m->text = g_strdup(text);
    if (!text)
        g_assert_true(g_file_get_contents(path, &m->text, NULL, NULL));
    m->rule = ws_shape_rule_parse(m->text, &error);
    g_assert_no_error(error);
    if (!m->fixed)
        m->fixed = no_names();
    ws_shape_rule_narrow(m->rule, m->fixed);
    g_assert_cmpuint(m->rule->choice->len, <=, BUILDS_MOST);
    for (guint i = 0; i < m->rule->choice->len; i++) {
        const WsShapeChoice *c = m->rule->choice->pdata[i];
        g_autofree char *design = g_build_filename("projects", c->design, NULL);
        m->program[i] = package_program(design, NULL);
        m->label[i] = c->name;
        m->spec[i] = (WsPackageSpec){
            .program = m->program[i], .ptx = "", .cubin = cubin, .verdict = "", .outcome = "proved"
        };
    }
    m->package = (WsRulePackage){ .name = "k",
                                  .file = file,
                                  .rule_text = m->text,
                                  .rule = m->rule,
                                  .fixed = m->fixed,
                                  .build = m->spec,
                                  .label = m->label,
                                  .n = m->rule->choice->len };
}

/* The program that prints the choice for each line of numbers. */
static gboolean compile(const char *dir, const char *const *size)
{
    g_autoptr(GString) s = g_string_new(
        "#include \"k.h\"\n#include <stdio.h>\nint main(void)\n{\n    long long v[8];\n"
        "    for (;;) {\n        k_arguments a = { 0 };\n");
    for (guint i = 0; size[i]; i++)
        g_string_append_printf(s,
                               "        if (scanf(\"%%lld\", &v[%u]) != 1)\n            return "
                               "0;\n        a.%s = v[%u];\n",
                               i, size[i], i);
    g_string_append(s, "        printf(\"%d\\n\", k_choice(&a));\n    }\n}\n");
    g_autoptr(GError) error = NULL;
    g_assert_true(ws_folder_put_text(dir, "main.c", s->str, &error));
    g_autofree char *command = g_strdup_printf(
        "cd %s && cc -std=c11 -Wall -Wextra -Werror -Wno-missing-field-initializers "
        "main.c k.c k_b*.c -o program -pthread -ldl",
        dir);
    const char *const argv[] = { "sh", "-c", command, NULL };
    int status = 0;
    g_autofree char *said = package_run(argv, NULL, &status);
    g_assert_cmpint(status, ==, 0);
    return said != NULL;
}

/* What pick says: the number of the choice, the number of choices for none, -1 for a line without a
 * value. */
static int picked(const Made *m, const char *const *size, const gint64 *value)
{
    g_autoptr(GHashTable) names = no_names();
    g_autoptr(GError) error = NULL;
    GHashTableIter at;
    gpointer name, fixed;
    g_hash_table_iter_init(&at, m->fixed);
    while (g_hash_table_iter_next(&at, &name, &fixed))
        fix(names, name, *(gint64 *)fixed);
    for (guint i = 0; size[i]; i++)
        fix(names, size[i], value[i]);
    g_autoptr(GPtrArray) choices = ws_pick_judge(m->text, names, &error);
    const WsPickChoice *best = choices ? ws_pick_best(choices) : NULL;
    if (!choices)
        return -1;
    for (guint i = 0; best && i < m->rule->choice->len; i++) {
        const WsShapeChoice *c = m->rule->choice->pdata[i];
        g_autofree char *label =
            *best->set ? g_strdup_printf("%s %s", best->design, best->set) : g_strdup(best->design);
        if (strcmp(c->name, label) == 0)
            return (int)i;
    }
    g_assert_null(best);
    return (int)m->rule->choice->len;
}

/* Small, ragged, huge, and some that overflow. */
static gint64 draw(GRand *random)
{
    const int bits = g_rand_int_range(random, 0, 17);
    gint64 value = g_rand_int_range(random, 0, 1 << bits | 1);
    if (g_rand_int_range(random, 0, 4) == 0)
        value = value / 128 * 128;
    return g_rand_int_range(random, 0, 50) == 0 ? value << 40 : value;
}

static void compare(Made *m, const char *const *size, guint seed)
{
    g_autofree char *dir = package_folder();
    g_autoptr(GError) error = NULL;
    ws_package_rule_write(&m->package, dir, &error);
    g_assert_no_error(error);
    if (!compile(dir, size)) {
        g_test_skip("there is no cc");
        package_remove(dir);
        return;
    }
    g_autoptr(GRand) random = g_rand_new_with_seed(seed);
    g_autoptr(GString) in = g_string_new(NULL);
    g_autoptr(GArray) expected = g_array_new(FALSE, FALSE, sizeof(int));
    guint different[BUILDS_MOST + 2] = { 0 };
    for (guint i = 0; i < SHAPES; i++) {
        gint64 value[8];
        for (guint k = 0; size[k]; k++) {
            value[k] = draw(random);
            g_string_append_printf(in, "%" G_GINT64_FORMAT " ", value[k]);
        }
        const int choice = picked(m, size, value);
        g_string_append_c(in, '\n');
        g_array_append_val(expected, choice);
        different[choice + 1]++;
    }
    g_assert_true(ws_folder_put_text(dir, "shapes.txt", in->str, &error));
    g_autofree char *command = g_strdup_printf("cd %s && ./program < shapes.txt", dir);
    const char *const argv[] = { "sh", "-c", command, NULL };
    int status = 0;
    g_autofree char *said = package_run(argv, NULL, &status);
    g_auto(GStrv) line = g_strsplit(said, "\n", -1);
    g_assert_cmpuint(g_strv_length(line), ==, SHAPES + 1);
    guint seen = 0;
    for (guint i = 0; i < SHAPES; i++)
        g_assert_cmpint(g_ascii_strtoll(line[i], NULL, 10), ==, g_array_index(expected, int, i));
    for (guint i = 1; i <= m->package.n; i++)
        seen += different[i] > 0;
    g_test_message("%u of %u builds are picked; %u shapes have no value, %u no build", seen,
                   m->package.n, different[0], different[m->package.n + 1]);
    g_assert_cmpuint(seen, >=, 2);
    package_remove(dir);
}

static void test_gemm(void)
{
    static const char *const size[] = { "M", "N", "K", NULL };
    g_auto(Made) m = { 0 };
    make(&m, "gemm.pick", NULL);
    g_assert_cmpuint(m.package.n, ==, 6);
    compare(&m, size, 1);
}

static void test_attention(void)
{
    static const char *const size[] = { "B", "HQ", "HKV", "SQ", "SK", NULL };
    g_auto(Made) m = { .fixed = no_names() };
    fix(m.fixed, "D", 128);
    fix(m.fixed, "CAUSAL", 1);
    make(&m, "attention.pick", NULL);
    g_assert_cmpuint(m.package.n, >=, 2);
    compare(&m, size, 2);
}

/* Ties, lines that have no value, choices that never apply, conditions after one that is false,
 * names that --size overrides. */
static void test_corners(void)
{
    static const char *const size[] = { "M", "N", "K", NULL };
    g_auto(Made) m = { .fixed = no_names() };
    fix(m.fixed, "SMS", 7);
    make(&m, "corners.pick",
         "let SMS = 132\nlet M = 5\nlet q = select(K == 3, 1/(N - 1), 0)\n"
         "design gemm-bf16/design.wstave\n when SMS == 132\n cost 0\n"
         "design gemm-bf16-deferred/design.wstave\n when M % 2 == 0\n when N == 0 || K / N >= 0\n "
         "cost abs(M - N) % 5 - 2\n"
         "design gemm-bf16-single/design.wstave\n when M > 3 && !(N > 4)\n when 100 / (K - 8) < "
         "1000\n cost min(M, N, K) - SMS\n"
         "design gemm-bf16/design.wstave\n set BN=128\n when pow2floor(M) < 64\n"
         "design gemm-bf16-splitk/design.wstave\n cost max(-M, -5) * K\n");
    g_assert_cmpuint(m.package.n, ==, 4);
    compare(&m, size, 3);
}

static void test_refused(void)
{
    static const struct {
        const char *text, *says;
    } row[] = {
        { "design gemm-bf16/design.wstave\n cost WIDTH\n",
          "the rule needs WIDTH, which is not a size of its designs: say --size WIDTH=VALUE" },
        { "design gemm-bf16/design.wstave\n cost later\nlet later = 1\n", "the rule needs later" },
        { "design gemm-bf16/design.wstave\ndesign gemm-fp16/design.wstave\n",
          "are not called the same way" },
        { "design gemm-bf16/design.wstave\ndesign attention-d128/design.wstave\n",
          "are not called the same way" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        g_auto(Made) m = { 0 };
        g_autoptr(GError) error = NULL;
        make(&m, "x.pick", row[i].text);
        g_assert_false(ws_package_rule_write(&m.package, "/nonexistent/package", &error));
        g_assert_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_RULE);
        g_assert_nonnull(strstr(error->message, row[i].says));
    }
    static const char *const bad[] = { "cost 1\n", "let = 3\n", "design a\nlet x = 1\ncost x\n",
                                       "design a\ncosts 1\n", "design a\nwhen (\n" };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(ws_shape_rule_parse(bad[i], &error));
        g_assert_true(g_str_has_prefix(error->message, "line "));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/package/rule/gemm", test_gemm);
    g_test_add_func("/package/rule/attention", test_attention);
    g_test_add_func("/package/rule/corners", test_corners);
    g_test_add_func("/package/rule/refused", test_refused);
    return g_test_run();
}
