/* What operations mean: lanes, transfers, values, named barriers. Every design of
 * tests/designs/memory says in its note what it must be judged: "Expected: refuted P-RACE." The
 * truth was worked out on paper from LANGUAGE and PTX, not by the check. */
#include "design.h"
#include "model/findings.h"
#include "program/elaborate.h"

static void judged(gconstpointer data)
{
    const char *name = data;
    g_autofree char *file = g_build_filename("memory", name, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree char *text = edited_text(file, NULL);
    g_auto(GStrv) part = g_strsplit(text, "Expected: ", 2);
    g_assert_nonnull(part[1]);
    g_auto(GStrv) word = g_strsplit_set(part[1], " ,.\"", 3);
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), file, findings);
    g_assert_nonnull(design);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    ws_check_locate(design, findings);
    g_autofree char *said = ws_findings_print(findings, file);
    g_test_message("%s", said);
    if (strcmp(word[0], "proved") == 0) {
        g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
        return;
    }
    if (strcmp(word[0], "outside") == 0) {
        g_assert_cmpint(v->kind, ==, WS_VERDICT_OUTSIDE);
        return;
    }
    g_assert_cmpstr(word[0], ==, "refuted");
    g_assert_cmpint(v->kind, ==, WS_VERDICT_REFUTED);
    g_assert_nonnull(find_finding(findings, word[1], NULL, NULL, NULL));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_autofree char *folder = g_build_filename(WS_SOURCE_ROOT, "tests/designs/memory", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *n; dir && (n = g_dir_read_name(dir));)
        if (g_str_has_suffix(n, ".wstave"))
            g_ptr_array_add(names, g_strdup(n));
    g_assert_cmpuint(names->len, >, 50);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *path = g_strdup_printf("/check/memory/%s", (char *)names->pdata[i]);
        g_test_add_data_func(path, names->pdata[i], judged);
    }
    return g_test_run();
}
