/* Refuted designs held to their witnesses, on the CPU: each hangs where its witness says, or spoils
 * values, by every move of it. Proved ones have no witness. The bundle says what must be seen. */
#include "run.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>

#ifdef __SANITIZE_ADDRESS__
#define SECONDS 12.0
#else
#define SECONDS 2.0
#endif

#define BROKEN WS_SOURCE_ROOT "/tests/designs/broken/"

typedef struct {
    const char *file;
    int status;
    const char *seen[3];
} Row;

static const Row rows[] = {
    { "02-wrong-count", 0, { "62 of 62 moves", "load in CTA 0 waits for empty slot 0, parity 0" } },
    { "03-wrong-parity", 0, { "56 of 56 moves", "it hangs" } },
    { "04-wrong-bytes", 0, { "4 of 4 moves", "and -16 bytes", "mma.1 in CTA 0" } },
    { "05-early-release", 0, { "29 of 29 moves", "elements are wrong" } },
    { "06-staging-overwritten", 0, { "30 of 30 moves", "elements are wrong" } },
    /* three warps stand before the write, the fourth stores: rows 16 to 63 */
    { "07-missing-sync", 0, { "17 of 17 moves", "first C[16, 0] = NaN" } },
    /* the rehearsal has no proxies: it cannot show this one, and says so */
    { "08-missing-fence", 1, { "the counterexample is NOT reproduced", "values are right" } },
    { "10-unequal-loops", 0, { "14 of 14 moves", "mma.0 in CTA 0 waits for full slot 1" } },
    { "11-crossed-syncs", 0, { "mma.0 in CTA 0 waits for x", "mma.1 in CTA 0 waits for y" } },
    { "12-phase-restarts", 0, { "6 of 6 moves" } },
    { "13-half-the-bytes", 0, { "7 of 7 moves", "elements are wrong" } },
    { "14-slots-freed-alone", 0, { "50 of 50 moves", "elements are wrong" } },
    { "15-waits-too-far-ahead", 0, { "it hangs", "missing 2 of 2 arrivals" } },
    { "16-released-twice", 0, { "230 of 230 moves", "missing 2 of 4 arrivals" } },
    { "17-consumers-do-not-wait", 0, { "5 of 5 moves", "elements are wrong" } },
    /* gates whose turn never comes are opened when nothing else can move, not after a while */
    { "09-accumulator-in-flight", 1, { "NOT reproduced", "a replay gate timed out" } },
    { "24-first-copy-unacknowledged", 1, { "NOT reproduced", "a replay gate timed out" } },
};

static double seconds_of_children(void)
{
    struct rusage used;
    g_assert_cmpint(getrusage(RUSAGE_CHILDREN, &used), ==, 0);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void rehearsed(gconstpointer data)
{
    const double before = seconds_of_children();
    const Row *row = data;
    g_autofree char *file = g_strconcat(BROKEN, row->file, ".wstave", NULL);
    g_autofree char *output = NULL;
    const char *const arguments[] = { "rehearse", "--adversary", file, NULL };
    int status = run(arguments, &output);
    if (status == 4) {
        g_test_skip("built without code generation");
        return;
    }
    g_test_message("%s", output);
    g_assert_cmpfloat(seconds_of_children() - before, <, SECONDS);
    g_assert_cmpint(status, ==, row->status);
    if (row->status == 0)
        g_assert_nonnull(strstr(output, ": the counterexample is reproduced\n"));
    for (gsize i = 0; i < G_N_ELEMENTS(row->seen) && row->seen[i]; i++)
        g_assert_nonnull(strstr(output, row->seen[i]));
}

static void proved(void)
{
    g_autofree char *output = NULL;
    const char *const arguments[] = { "rehearse", "--adversary",
                                      WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave", NULL };
    int status = run(arguments, &output);
    if (status == 4)
        return;
    g_assert_cmpint(status, ==, 3);
    g_assert_nonnull(strstr(output, "there is no counterexample to replay"));
}

/* Names what the runner compares with: moves, end, and the waits with slot, parity and rounds. */
static void bundled(void)
{
    g_autofree char *dir = g_dir_make_tmp("warpstave-adversary-XXXXXX", NULL), *output = NULL;
    g_autofree char *to = g_build_filename(dir, "b", NULL);
    g_autofree char *path = g_build_filename(to, "bundle.txt", NULL), *manifest = NULL;
    const char *const arguments[] = { "bundle", "--adversary", BROKEN "02-wrong-count.wstave", "-o",
                                      to,       NULL };
    const char *const both[] = {
        "bundle", "--adversary", BROKEN "02-wrong-count.wstave", "-o", to, "--delays=1", NULL
    };
    int status = run(both, &output);
    if (status == 4)
        return;
    g_assert_cmpint(status, ==, 2);
    g_clear_pointer(&output, g_free);
    g_assert_cmpint(run(arguments, &output), ==, 0);
    g_assert_true(g_file_get_contents(path, &manifest, NULL, NULL));
    g_assert_nonnull(strstr(manifest, "\nmodule debug debug.ptx\n"));
    g_assert_nonnull(strstr(manifest, "\nagents load mma.0 mma.1\n"));
    g_assert_nonnull(strstr(manifest, "\nadversary 62 hang\ntold No agent can continue"));
    g_assert_nonnull(strstr(manifest, " ctas 1 1 ")); /* one CTA, one tile */
    g_auto(GStrv) line = g_strsplit(manifest, "\n", -1);
    guint awaits = 0;
    for (guint i = 0; line[i]; i++)
        awaits += g_str_has_prefix(line[i], "await ") && g_str_has_suffix(line[i], " 0 4");
    g_assert_cmpuint(awaits, ==, 3);
    GDir *d = g_dir_open(to, 0, NULL);
    for (const char *name; d && (name = g_dir_read_name(d));) {
        g_autofree char *file = g_build_filename(to, name, NULL);
        g_unlink(file);
    }
    g_dir_close(d);
    g_assert_cmpint(g_rmdir(to), ==, 0);
    g_assert_cmpint(g_rmdir(dir), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/cli/adversary/%s", rows[i].file);
        g_test_add_data_func(path, &rows[i], rehearsed);
    }
    g_test_add_func("/cli/adversary/proved", proved);
    g_test_add_func("/cli/adversary/bundle", bundled);
    return g_test_run();
}
