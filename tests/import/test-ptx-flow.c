/* PTX whose control, lanes or launch the import does not follow: outside, whatever the truth is,
 * which stands at the top of each text. */
#include "judged.h"

static const char *const texts[] = {
    "block-of-two-dimensions-required",
    "block-of-two-dimensions",
    "cluster-in-y",
    "elect-in-a-branch",
    "shfl-in-a-data-branch",
    "vote-in-a-data-branch",
    "two-lanes-arrive",
    "two-lanes-initialise",
    "two-lanes-load",
    "init-of-zero",
    "init-of-zero-full",
    "loop-of-twos-until-equal",
    "loop-that-never-ends",
    "tile-loop-until-equal",
    "tile-loop-until-equal-of-both",
    "parity-reset-per-tile",
    "parity-reset-per-tile-of-both",
    "parity-reset-per-tile-of-the-producer",
    "register-of-an-inner-scope",
    "register-of-an-inner-scope-refuted",
    "remote-arrival-of-cta-scope",
};

static void test_outside(gconstpointer data)
{
    g_autofree char *file =
        g_strdup_printf("%s/tests/import/ptx/flow/%s.ptx", WS_SOURCE_ROOT, (const char *)data);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_assert_cmpint(verdict_of(text, WS_IMPORT_PTX), ==, WS_VERDICT_OUTSIDE);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *path = g_strdup_printf("/import/ptx-flow/%s", texts[i]);
        g_test_add_data_func(path, texts[i], test_outside);
    }
    return g_test_run();
}
