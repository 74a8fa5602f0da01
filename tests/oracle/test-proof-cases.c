/* Broken designs that the check once proved, one of each class: the oracle must find each of them
 * wrong without help. They lie in the folder that WARPSTAVE_PROOF_CASES names, or in
 * ../shared/cases/proof beside the sources; where neither is there the test is skipped. */
#include "lanes.h"
#include "model/design.h"

#include <string.h>

/* Sizes of a rehearsal (`times` 0), or those of the design so many times. */
static WsLaunchValues *values(const WsProgram *p, gint64 times)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsSize size[16];
    guint n = 0;
    for (guint i = 0; i < p->n_vars && n < G_N_ELEMENTS(size); i++)
        if (p->var[i].kind == WS_VAR_SIZE)
            size[n++] = (WsSize){ p->var[i].name, p->var[i].preset * times };
    return ws_launch_values(p, size, times ? n : 0, times == 0, findings);
}

static char *found(const WsProgram *p)
{
    static const gint64 element[] = { -1, 0, 1, 60 }, times[] = { 0, 1, 4, 40 };
    static const guint tiles[] = { 1, 2, 7 };
    guint n = G_N_ELEMENTS(element) * G_N_ELEMENTS(tiles);
    for (guint i = 0; i < n * G_N_ELEMENTS(times); i++) {
        OracleOptions options = { .tiles = tiles[i % G_N_ELEMENTS(tiles)],
                                  .stop = TRUE,
                                  .element =
                                      element[i / G_N_ELEMENTS(tiles) % G_N_ELEMENTS(element)] };
        g_autoptr(WsLaunchValues) v = values(p, times[i / n]);
        if (!v || (times[i / n] > 1 && options.tiles > 1))
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
