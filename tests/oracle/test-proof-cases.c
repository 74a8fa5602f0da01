/* Broken designs that the check once proved, one of each class: the oracle must find each of them
 * wrong without help. They lie in the folder that WARPSTAVE_PROOF_CASES names, or in
 * ../shared/cases/proof beside the sources; where neither is there the test is skipped. */
#include "lanes.h"
#include "model/design.h"

#include <string.h>

/* Sizes as they are, and as they are for a rehearsal. */
static WsLaunchValues *values(const WsProgram *p, gboolean rehearse)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    return ws_launch_values(p, NULL, 0, rehearse, findings);
}

static char *found(const WsProgram *p)
{
    static const gint64 element[] = { -1, 0, 1, 60 };
    static const guint tiles[] = { 1, 2, 7 };
    for (guint i = 0; i < 2 * G_N_ELEMENTS(element) * G_N_ELEMENTS(tiles); i++) {
        OracleOptions options = { .tiles = tiles[i / 2 % G_N_ELEMENTS(tiles)],
                                  .stop = TRUE,
                                  .element = element[i / 2 / G_N_ELEMENTS(tiles)] };
        g_autoptr(WsLaunchValues) v = values(p, i % 2 == 0);
        if (!v)
            continue;
        OracleResult r = lanes_run(p, v, &options);
        if (r.verdict & ORACLE_BAD) {
            g_autofree char *say = oracle_text(&r), *sizes = ws_launch_sizes_text(v);
            return g_strdup_printf("%s, %u tiles, elements %d: %s", sizes, options.tiles,
                                   (int)options.element, say);
        }
    }
    return NULL;
}

static void test_design(gconstpointer data)
{
    const char *file = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(file, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        g_autofree char *all = ws_findings_print(findings, file);
        g_test_message("refused by elaboration: %s", all);
        return;
    }
    g_autofree char *say = found(p);
    g_test_message("%s", say ? say : "right");
    g_assert_nonnull(say);
}

static char *folder_of_cases(void)
{
    const char *given = g_getenv("WARPSTAVE_PROOF_CASES");
    return given ? g_strdup(given)
                 : g_build_filename(WS_SOURCE_ROOT, "..", "shared", "cases", "proof", NULL);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    g_autofree char *folder = folder_of_cases();
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    if (!dir) {
        g_print("1..0 # SKIP no broken designs in %s\n", folder);
        return 0;
    }
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    const char *name;
    while ((name = g_dir_read_name(dir)))
        if (g_str_has_suffix(name, ".refuted.wstave")) {
            g_autofree char *path = g_strdup_printf("/proof/%s", name);
            char *file = g_build_filename(folder, name, NULL);
            g_ptr_array_add(files, file);
            g_test_add_data_func(path, file, test_design);
        }
    return g_test_run();
}
