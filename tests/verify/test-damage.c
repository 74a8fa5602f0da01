/* Certificates damaged in more than 1,000 ways (-m slow; some of them otherwise): the verifier
 * rejects every one (it may say that it cannot verify; it may not say that it has), but for those
 * that say the same and know less of names. */
#include "../whole.h"
#include "check/check.h"
#include "damage.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "verify/verify.h"

#include <string.h>

static const char *const designs[] = {
    "tests/designs/gemm-one-consumer.wstave",
    "tests/designs/attention-fa3-causal.wstave",
    "tests/designs/gemm-fp8-block.wstave",
    "tests/designs/catalogue/C13-tiles-that-do-not-fill-the-ring.wstave",
    "tests/designs/catalogue/C35-two-loaders-every-other-slot.wstave",
    "tests/designs/moves/gemm-dynamic.wstave",
    "tests/designs/moves/cluster-copy.wstave",
    "tests/designs/moves/cluster-send.wstave",
    "tests/designs/cluster-allreduce.wstave",
    "tests/designs/sparse-mla-seesaw.wstave",
    "tests/designs/memory/ring-over-two-passes.wstave",
    "tests/designs/memory/known-by-its-arrivals.wstave",
};

static char *path_of(const char *name)
{
    return g_build_filename(WS_SOURCE_ROOT, name, NULL);
}

static WsProgram *program_of(const char *name)
{
    g_autofree char *file = path_of(name), *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), file, findings);
    g_assert_nonnull(design);
    WsProgram *p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    return p;
}

static char *certificate_of(const char *name)
{
    g_autoptr(WsProgram) p = program_of(name);
    g_autoptr(WsFindings) findings = ws_findings_new();
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

static void rejected(void)
{
    const guint32 seeds = g_test_slow() ? 360 : 36; /* of each design; ./dev soak takes all */
    guint tried = 0, harmless = 0;
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *text = certificate_of(designs[i]);
        g_autoptr(WsProgram) p = program_of(designs[i]);
        g_autoptr(WsVerification) right = ws_verify(p, text);
        if (right->answer != WS_VERIFIED)
            g_error("%s: its certificate is not verified: %s", designs[i], right->reason);
        for (guint32 seed = 0; seed < seeds; seed++) {
            if (!test_takes(seed + i, 1, 3))
                continue;
            g_autofree char *what = NULL;
            g_autofree char *bad = ws_damage(text, seed, &what);
            if (!bad)
                continue;
            g_autoptr(WsVerification) v = ws_verify(p, bad);
            tried++;
            if (v->answer != WS_VERIFIED)
                continue;
            harmless++;
            if (!ws_damage_is_harmless(text, bad))
                g_test_fail_printf("%s, seed %u: verified though %s: %s", designs[i], seed,
                                   ws_damage_kind(seed), what);
        }
    }
    g_test_message("%u damaged certificates: %u rejected, %u that only know less verified", tried,
                   tried - harmless, harmless);
    g_assert_cmpuint(tried, >=, g_test_slow() ? 3000 : test_least(300, 1, 3));
    g_assert_cmpuint(harmless, <, tried / 8);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/damage/faults", faults);
    g_test_add_func("/damage/rejected", rejected);
    return g_test_run();
}
