/* Certificates damaged in 1,000 ways: the verifier rejects every one (it may say that it cannot
 * verify; it may not say that it has). */
#include "check/check.h"
#include "program/program.h"
#include "damage.h"
#include "model/design.h"
#include "program/program.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

static const char *const designs[] = {
    "tests/designs/gemm-one-consumer.wstave",
    "tests/designs/attention-fa3-causal.wstave",
    "tests/designs/gemm-fp8-block.wstave",
    "tests/designs/catalogue/C13-tiles-that-do-not-fill-the-ring.wstave",
    "tests/designs/catalogue/C35-two-loaders-every-other-slot.wstave",
};

static char *path_of(const char *name)
{
    return g_build_filename(WS_SOURCE_ROOT, name, NULL);
}

static char *certificate_of(const char *name)
{
    g_autofree char *file = path_of(name), *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), file, findings);
    g_assert_nonnull(design);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    const WsCheckOptions o = { .certificate = TRUE };
    g_autoptr(WsVerdict) v = ws_check(p, &o, findings);
    g_assert_nonnull(v->certificate);
    return g_strdup(v->certificate);
}

/* The tool itself: every kind of fault happens, each changes the text, each seed says the same. */
static void faults(void)
{
    guint done[WS_DAMAGE_KINDS] = { 0 };
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *text = certificate_of(designs[i]);
        for (guint32 seed = 0; seed < 20 * WS_DAMAGE_KINDS; seed++) {
            g_autofree char *what = NULL, *again = NULL;
            g_autofree char *bad = ws_damage(text, seed, &what);
            g_autofree char *same = ws_damage(text, seed, &again);
            g_assert_cmpstr(bad, ==, same);
            g_assert_cmpstr(what, ==, again);
            g_assert_true(!bad || strcmp(bad, text) != 0);
            done[seed % WS_DAMAGE_KINDS] += bad != NULL;
        }
    }
    for (guint k = 0; k < WS_DAMAGE_KINDS; k++)
        if (!done[k])
            g_error("\"%s\" never happens", ws_damage_kind(k));
}

/* Exit code of the verifier. */
static int verify(const char *program, const char *design, const char *certificate)
{
    g_autofree char *quiet_out = NULL, *quiet_err = NULL;
    g_autoptr(GError) error = NULL;
    const char *argv[] = { program, design, certificate, NULL };
    int status = 0;
    if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &quiet_out,
                      &quiet_err, &status, &error))
        g_error("%s", error->message);
    g_assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void rejected(void)
{
    g_autofree char *program = g_build_filename(WS_BUILD_ROOT, "bin", "warpstave-verify", NULL);
    if (!g_file_test(program, G_FILE_TEST_IS_EXECUTABLE)) {
        g_test_skip("there is no verifier in this build");
        return;
    }
    g_autofree char *folder = g_dir_make_tmp("damage-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(folder, "certificate", NULL);
    guint tried = 0;
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *design = path_of(designs[i]), *text = certificate_of(designs[i]);
        g_assert_true(g_file_set_contents(file, text, -1, NULL));
        if (verify(program, design, file) != 0)
            g_error("%s: its certificate is not verified", designs[i]);
        for (guint32 seed = 0; seed < 240; seed++) {
            g_autofree char *what = NULL;
            g_autofree char *bad = ws_damage(text, seed, &what);
            if (!bad)
                continue;
            g_assert_true(g_file_set_contents(file, bad, -1, NULL));
            int code = verify(program, design, file);
            if (code == 0)
                g_error("%s, seed %u: verified though %s: %s", designs[i], seed,
                        ws_damage_kind(seed), what);
            g_assert_cmpint(code, <=, 3);
            tried++;
        }
    }
    g_remove(file);
    g_rmdir(folder);
    g_test_message("%u damaged certificates", tried);
    g_assert_cmpuint(tried, >=, 1000);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/damage/faults", faults);
    g_test_add_func("/damage/rejected", rejected);
    return g_test_run();
}
