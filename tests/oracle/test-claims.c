/* Every refuted design of tests/designs names a launch that there is, and there something goes
 * wrong in the lanes: whatever sizes, grid, CTA and elements the finding says. */
#include "check/check.h"
#include "claim.h"
#include "model/design.h"

static GPtrArray *files;

/* Hangs where warps of one agent fall into different generations of a named barrier; the lanes here
 * take the warps of an agent in step. */
static const char *const by_warps[] = { "B71b-generations-mix.wstave" };

static void claims(gconstpointer data)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(data, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        g_test_skip("refused by elaboration");
        return;
    }
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_autofree char *text = NULL;
    gboolean known = claim_judge_first(p, findings, &text) != CLAIM_WRONG;
    if (v->kind != WS_VERDICT_REFUTED || !text) {
        g_test_skip("nothing was refuted in a play");
        return;
    }
    g_test_message("%s", text);
    for (guint k = 0; k < G_N_ELEMENTS(by_warps); k++)
        known |= g_str_has_suffix(data, by_warps[k]);
    g_assert_true(known);
}

static void add_folder(const char *folder)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "tests/designs", folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    g_assert_nonnull(dir);
    for (const char *name; (name = g_dir_read_name(dir));) {
        if (!g_str_has_suffix(name, ".wstave"))
            continue;
        char *file = g_build_filename(path, name, NULL);
        g_autofree char *test = g_strdup_printf("/claims/%s/%s", folder, name);
        g_ptr_array_add(files, file);
        g_test_add_data_func(test, file, claims);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    files = g_ptr_array_new_with_free_func(g_free);
    static const char *const folder[] = { "broken", "catalogue",   "consan", "global",
                                          "memory", "once-proved", "attack" };
    for (guint i = 0; i < G_N_ELEMENTS(folder); i++)
        add_folder(folder[i]);
    const int failed = g_test_run();
    g_ptr_array_unref(files);
    return failed;
}
