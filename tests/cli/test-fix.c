/* check --fix on a copy of a broken design: what is printed, what is written, what is left alone;
 * and suppressed findings as a person sees them. */
#include "run.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#define BROKEN WS_SOURCE_ROOT "/tests/designs/broken/"

typedef struct {
    char *folder, *file, *before;
} Copy;

static Copy copy_of(const char *name)
{
    Copy c = { 0 };
    g_autofree char *source = g_strconcat(BROKEN, name, NULL);
    c.folder = g_dir_make_tmp("warpstave-fix-XXXXXX", NULL);
    g_assert_nonnull(c.folder);
    c.file = g_build_filename(c.folder, "design.wstave", NULL);
    g_assert_true(g_file_get_contents(source, &c.before, NULL, NULL));
    g_assert_true(g_file_set_contents(c.file, c.before, -1, NULL));
    return c;
}

static void clear_copy(Copy *c)
{
    /* Nothing but the design is left behind. */
    g_assert_cmpint(g_unlink(c->file), ==, 0);
    g_assert_cmpint(g_rmdir(c->folder), ==, 0);
    g_free(c->folder);
    g_free(c->file);
    g_free(c->before);
}

static char *now(const Copy *c)
{
    char *text = NULL;
    g_assert_true(g_file_get_contents(c->file, &text, NULL, NULL));
    return text;
}

static void dry_run(void)
{
    Copy c = copy_of("02-wrong-count.wstave");
    g_autofree char *output = NULL;
    const char *const arguments[] = { "check", "--fix", "--dry-run", c.file, NULL };
    g_assert_cmpint(run(arguments, &output), ==, 0);
    g_assert_nonnull(strstr(output, "fixed P-DL"));
    g_assert_nonnull(strstr(output, "unset barriers/empty arrivals"));
    g_assert_nonnull(strstr(output, "28 -     { \"name\": \"empty\""));
    g_assert_nonnull(strstr(output, "28 +     { \"name\": \"empty\""));
    g_autofree char *after = now(&c);
    g_assert_cmpstr(after, ==, c.before);
    clear_copy(&c);
}

static void written(void)
{
    Copy c = copy_of("05-early-release.wstave");
    g_autofree char *output = NULL, *again = NULL;
    const char *const fix[] = { "check", "--fix", c.file, NULL };
    const char *const check[] = { "check", "--strict", c.file, NULL };
    g_assert_cmpint(run(fix, &output), ==, 0);
    g_assert_nonnull(strstr(output, "Move `arrive empty` after `mma_wait 0`"));
    g_assert_nonnull(strstr(output, "written"));
    g_assert_cmpint(run(check, &again), ==, 0);
    g_autofree char *after = now(&c);
    g_assert_cmpstr(after, !=, c.before);
    clear_copy(&c);
}

/* What changes more than synchronisation is offered, not done; named, it is done. */
static void asked_for(void)
{
    Copy c = copy_of("10-unequal-loops.wstave");
    g_autofree char *output = NULL, *other = NULL, *done = NULL;
    const char *const fix[] = { "check", "--fix", c.file, NULL };
    const char *const named[] = { "check", "--fix", "P-RACE", c.file, NULL };
    const char *const named_too[] = { "check", "--fix=P-DL@groups/mma/body/0/do/0/do/0", "-w",
                                      c.file, NULL };
    g_assert_cmpint(run(fix, &output), ==, 1);
    g_assert_nonnull(strstr(output, "nothing was fixed"));
    g_assert_nonnull(
        strstr(output, "--fix P-DL@groups/mma/body/0/do/0/do/0: Let the loop k of mma"));
    g_assert_cmpint(run(named, &other), ==, 1);
    g_autofree char *same = now(&c);
    g_assert_cmpstr(same, ==, c.before);
    g_assert_cmpint(run(named_too, &done), ==, 0);
    clear_copy(&c);
}

/* What no fix makes right stays as it is, byte for byte, though a part of it could be mended: a
 * wait that nobody arrives for, beside a wrong count. */
static void never_a_part(void)
{
    Copy c = copy_of("02-wrong-count.wstave");
    g_auto(GStrv) parts = g_strsplit(c.before, "{ \"mma_wait\": 0 },", 2);
    g_assert_nonnull(parts[1]);
    g_autofree char *two = g_strdup_printf(
        "%s{ \"mma_wait\": 0 },\n{ \"wait\": \"event\", \"use\": \"tile.total\" },%s", parts[0],
        parts[1]);
    g_auto(GStrv) barriers = g_strsplit(two, "\"barriers\": [", 2);
    g_autofree char *text = g_strdup_printf(
        "%s\"barriers\": [ { \"name\": \"event\", \"arrivals\": 1 },%s", barriers[0], barriers[1]);
    g_assert_true(g_file_set_contents(c.file, text, -1, NULL));
    g_autofree char *output = NULL;
    const char *const fix[] = { "check", "--fix", c.file, NULL };
    g_assert_cmpint(run(fix, &output), ==, 1);
    g_assert_nonnull(strstr(output, "nothing was fixed"));
    g_assert_null(strstr(output, "written"));
    /* what would only hide it is not offered as safe: the wait taken away, or made to pass */
    g_assert_null(strstr(output, "fixed "));
    g_assert_null(strstr(output, "begin ready"));
    g_autofree char *after = now(&c);
    g_assert_cmpstr(after, ==, text);
    clear_copy(&c);
}

/* A constant that is overridden counts while checking and is not written. */
static void with_setting(void)
{
    Copy c = copy_of("02-wrong-count.wstave");
    g_autofree char *output = NULL;
    const char *const fix[] = { "check", "--fix", "--set", "STAGES=3", c.file, NULL };
    g_assert_cmpint(run(fix, &output), ==, 0);
    g_autofree char *after = now(&c);
    g_assert_nonnull(strstr(after, "\"STAGES\": 4"));
    clear_copy(&c);
}

static void unreadable(void)
{
    g_autofree char *output = NULL, *both = NULL;
    const char *const missing[] = { "check", "--fix", "/nonexistent.wstave", NULL };
    const char *const json[] = { "check", "--fix", "--json", BROKEN "02-wrong-count.wstave", NULL };
    g_assert_cmpint(run(missing, &output), ==, 2);
    g_assert_cmpint(run(json, &both), ==, 2);
}

static void suppressed(void)
{
    g_autofree char *output = NULL, *strict = NULL, *prevented = NULL, *text = NULL;
    const char *const plain[] = { "check", WS_SOURCE_ROOT "/tests/cli/suppressed.wstave", NULL };
    const char *const as_error[] = { "check", "--strict",
                                     WS_SOURCE_ROOT "/tests/cli/suppressed.wstave", NULL };
    g_assert_cmpint(run(plain, &output), ==, 0);
    g_assert_nonnull(
        strstr(output, "suppressed: P-GATHER at groups/math/body/0/do/2: as in CUTLASS"));
    g_assert_null(strstr(output, "warning P-GATHER"));
    g_assert_nonnull(strstr(output, "hint N-SUPPRESS at suppress/1"));
    g_assert_cmpint(run(as_error, &strict), ==, 0);
    /* An error stays one. */
    Copy c = copy_of("02-wrong-count.wstave");
    char *end = strrchr(c.before, '}');
    g_autofree char *with = g_strdup_printf(
        "%.*s, \"suppress\": [{ \"rule\": \"P-DL\", \"at\": \"groups/load/body/0/do/0/do/0\", "
        "\"reason\": \"no\" }] }\n",
        (int)(end - c.before), c.before);
    g_assert_true(g_file_set_contents(c.file, with, -1, NULL));
    const char *const check[] = { "check", c.file, NULL };
    g_assert_cmpint(run(check, &prevented), ==, 1);
    g_assert_nonnull(strstr(prevented, "error P-DL"));
    g_assert_nonnull(strstr(prevented, "is not silenced: errors cannot be"));
    clear_copy(&c);
}

/* A kernel: the edit is printed, nothing is written, and the exit code is that of the kernel as it
 * stands. */
static void kernel_edit(void)
{
    static const struct {
        const char *from, *to; /* a mistake; NULL: none */
        int code;
        const char *says[4];
    } rows[] = {
        { "warpgroup_mma_wait(0, deps",
          "warpgroup_mma_wait(1, deps",
          1,
          { "with this edit the kernel is proved; line 46, a number: 1 becomes 0",
            "\n-            acc = warpgroup_mma_wait(1, deps=[acc])\n"
            "+            acc = warpgroup_mma_wait(0, deps=[acc])\n",
            "nothing was written" } },
        { "mbarrier.init(empty.index(i), count=2)",
          "mbarrier.init(empty.index(i), count=3)",
          1,
          { "count=3)\n+        mbarrier.init(empty.index(i), count=2)\n" } },
        { "            mbarrier.arrive(empty.index(slot), count=1)\n",
          "            if k > 0:\n                mbarrier.arrive(empty.index(slot), count=1)\n",
          1,
          { "done without the condition" } },
        { NULL, NULL, 0, { "no edit is offered: the kernel is proved" } },
        { "        tma.store_wait(0)\n        c_tile",
          "        mystery(slot)\n        c_tile",
          3,
          { "no edit is offered: what is not read comes first" } },
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Copy c = { 0 };
        g_autofree char *output = NULL;
        c.folder = g_dir_make_tmp("warpstave-fix-XXXXXX", NULL);
        c.file = g_build_filename(c.folder, "kernel.py", NULL);
        g_assert_true(g_file_get_contents(WS_SOURCE_ROOT "/tests/import/gluon/gemm.py", &c.before,
                                          NULL, NULL));
        g_autoptr(GString) text = g_string_new(c.before);
        if (rows[i].from)
            g_assert_cmpuint(g_string_replace(text, rows[i].from, rows[i].to, 1), ==, 1);
        g_assert_true(g_file_set_contents(c.file, text->str, -1, NULL));
        const char *const fix[] = { "check", "--fix", c.file, NULL };
        g_assert_cmpint(run(fix, &output), ==, rows[i].code);
        for (guint k = 0; k < 4 && rows[i].says[k]; k++)
            if (!strstr(output, rows[i].says[k]))
                g_error("not said: %s\n%s", rows[i].says[k], output);
        g_autofree char *after = now(&c);
        g_assert_cmpstr(after, ==, text->str);
        clear_copy(&c);
    }
    static const char *const gemm = WS_SOURCE_ROOT "/tests/import/gluon/gemm.py";
    static const char *const ptx = WS_SOURCE_ROOT "/tests/import/ptx/triton-tma.ptx";
    const char *const rule[] = { "check", gemm, "--fix", "P-DL", NULL };
    const char *const json[] = { "check", gemm, "--fix", "--json", NULL };
    const char *const compiled[] = { "check", ptx, "--fix", NULL };
    g_autofree char *one = NULL, *two = NULL, *three = NULL;
    g_assert_cmpint(run(rule, &one), ==, 2);
    g_assert_cmpint(run(json, &two), ==, 2);
    run(compiled, &three);
    g_assert_nonnull(strstr(three, "no edit is offered: "));
}

/* explain prints the lines that make a design wrong; the whole design that it prints is refuted. */
static void explained(void)
{
    g_autofree char *output = NULL, *wrong = NULL, *right = NULL, *none = NULL, *checked = NULL;
    const char *const explain[] = { "explain", "p-race", NULL };
    const char *const print[] = { "explain", "P-RACE", "--example", "wrong", NULL };
    const char *const other[] = { "explain", "P-RACE", "--example", "right", NULL };
    const char *const no_text[] = { "explain", "S-IO", "--example", "wrong", NULL };
    g_assert_cmpint(run(explain, &output), ==, 0);
    g_assert_nonnull(
        strstr(output, "\n-           { \"wait\": \"full\", \"use\": \"k.total\" },\n"));
    g_assert_nonnull(strstr(output, "use-of-others"));
    g_assert_cmpint(run(print, &wrong), ==, 0);
    g_assert_cmpint(run(other, &right), ==, 0);
    g_assert_cmpint(run(no_text, &none), ==, 2);
    Copy c = copy_of("02-wrong-count.wstave");
    const char *const check[] = { "check", c.file, NULL };
    g_assert_true(g_file_set_contents(c.file, wrong, -1, NULL));
    g_assert_cmpint(run(check, &checked), ==, 1);
    g_assert_nonnull(strstr(checked, "error P-RACE"));
    g_clear_pointer(&checked, g_free);
    g_assert_true(g_file_set_contents(c.file, right, -1, NULL));
    g_assert_cmpint(run(check, &checked), ==, 0);
    clear_copy(&c);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cli/fix/dry-run", dry_run);
    g_test_add_func("/cli/fix/written", written);
    g_test_add_func("/cli/fix/asked-for", asked_for);
    g_test_add_func("/cli/fix/never-a-part", never_a_part);
    g_test_add_func("/cli/fix/with-setting", with_setting);
    g_test_add_func("/cli/fix/unreadable", unreadable);
    g_test_add_func("/cli/fix/kernel", kernel_edit);
    g_test_add_func("/cli/suppress", suppressed);
    g_test_add_func("/cli/explain", explained);
    return g_test_run();
}
