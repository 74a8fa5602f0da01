/* Certificates of right designs, passed off as those of their broken mutants: the hash is edited,
 * then nodes, what they know, symbols and answers at random; where the verifier says what a node
 * cannot know, the forger believes it and tries again. None may be verified. */
#include "../oracle/draw/mutate.h"
#include "../whole.h"
#include "check/check.h"
#include "corrected.h"
#include "damage.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

static const char *const designs[] = {
    "gemm-one-consumer.wstave",
    "gemm-cooperative.wstave",
    "gemm-pingpong.wstave",
    "attention-fa3-causal.wstave",
    "moves/gemm-dynamic.wstave",
    "moves/cluster-copy.wstave",
    "moves/cluster-send.wstave",
    "memory/peek-into-a-ring.wstave",
    "moves/gather-groups.wstave",
    "memory/ring-over-two-passes.wstave",
    "memory/known-by-its-arrivals.wstave",
    "memory/an-arrival-publishes.wstave",
    "memory/exchange-linear-transposed-sync.wstave",
    "catalogue/C13-tiles-that-do-not-fill-the-ring.wstave",
    "catalogue/C35-two-loaders-every-other-slot.wstave",
};

typedef struct {
    guint mutants, broken, tried, corrected, refused;
} Tally;

/* Verified, or after some corrections. Takes `text`. */
static gboolean passes(const WsProgram *p, char *text, Tally *t)
{
    gboolean verified = FALSE;
    for (guint again = 0; again < 40 && text; again++) {
        g_autoptr(WsVerification) v = ws_verify(p, text);
        char *better = v->reason ? ws_corrected(text, v->reason) : NULL;
        verified = v->answer == WS_VERIFIED;
        t->refused += v->answer == WS_VERIFY_REFUSED;
        t->corrected += better != NULL;
        g_free(text);
        text = better;
    }
    g_free(text);
    t->tried++;
    return verified;
}

static void judge(const Mutant *m, const WsProgram *right, const char *certificate, guint32 seeds,
                  guint32 seed, Tally *t)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(m->text, strlen(m->text), "mutant", findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    t->mutants++;
    if (!p || ws_findings_exit_code(findings, FALSE) != 0)
        return;
    const WsCheckOptions o = { .protocol_only = TRUE };
    g_autoptr(WsVerdict) v = ws_check(p, &o, findings);
    if (v->kind != WS_VERDICT_REFUTED)
        return;
    t->broken++;
    g_auto(GStrv) part = g_strsplit(certificate, right->design_hash, 2);
    g_autofree char *forged = g_strjoinv(p->design_hash, part);
    if (passes(p, g_strdup(forged), t))
        g_test_fail_printf("%s: verified, but broken: %s", right->file, m->what);
    for (guint32 s = seed; s < seed + seeds; s++) {
        g_autofree char *what = NULL;
        char *bad = ws_damage(forged, s, &what);
        if (bad && passes(p, bad, t))
            g_test_fail_printf("verified, but broken: %s; seed %u: %s", m->what, s, what);
    }
}

static void passed_off(void)
{
    Tally t = { 0 };
    guint32 seed = 1;
    const guint32 seeds = g_test_slow() ? 4 * WS_DAMAGE_KINDS : 1;
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, "tests/designs", designs[i], NULL);
        g_autofree char *text = NULL;
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
        g_autoptr(WsDesign) d = ws_design_load(file, findings);
        g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
        g_assert_nonnull(p);
        const WsCheckOptions o = { .certificate = TRUE, .protocol_only = TRUE };
        g_autoptr(WsVerdict) v = ws_check(p, &o, findings);
        if (!v->certificate)
            g_error("%s has no certificate", designs[i]);
        g_autoptr(GPtrArray) mutants = mutants_of(text, d, p);
        const guint before = t.broken;
        for (guint k = 0; k < mutants->len; k++, seed += seeds)
            if (test_takes(k, 5, 15))
                judge(mutants->pdata[k], p, v->certificate, seeds, seed, &t);
        if (t.broken == before)
            g_test_fail_printf("%s has no broken mutant", designs[i]);
    }
    g_test_message("%u mutants, %u broken; %u forged certificates, corrected %u times, %u not "
                   "handled, none verified",
                   t.mutants, t.broken, t.tried, t.corrected, t.refused);
    g_assert_cmpuint(t.broken, >=, test_least(800, 6, 18));
    g_assert_cmpuint(t.tried, >, t.broken * 3 / 2);
    g_assert_cmpuint(t.refused, <, t.tried / 4);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/verify/mutants", passed_off);
    return g_test_run();
}
