/* Random designs of the oracle (tests/oracle): what is proved is verified, unless it has no
 * certificate; of what is refuted no certificate is verified that the verifier's own parts make. */
#include "../oracle/draw/compose.h"
#include "../oracle/draw/control.h"
#include "../oracle/draw/fault.h"
#include "../whole.h"
#include "check/check.h"
#include "forge.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    guint designs, proved, verified, rejected, uncertified, refuted, outside;
} Tally;

static gboolean forged(const WsProgram *p)
{
    for (guint way = 0; way < 4; way++) {
        g_autofree char *why = NULL;
        g_autofree char *text = ws_forge(p, way % 2, FALSE, (gint64)1 << way / 2, 100, &why);
        g_autoptr(WsVerification) v = text ? ws_verify(p, text) : NULL;
        if (v && v->answer == WS_VERIFIED)
            return TRUE;
    }
    return FALSE;
}

static void judge(Tally *t, const char *kind, guint32 seed, const char *text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), kind, findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    if (!p || ws_findings_exit_code(findings, FALSE) != 0)
        return;
    if (getenv("WS_DUMP"))
        puts(text), fflush(stdout);
    const WsCheckOptions o = { .certificate = TRUE, .protocol_only = TRUE };
    g_autoptr(WsVerdict) v = ws_check(p, &o, findings);
    t->designs++;
    if (v->kind == WS_VERDICT_REFUTED) {
        t->refuted++;
        if (forged(p)) {
            g_test_message("%s", text);
            g_test_fail_printf("%s, seed %u: refuted, but verified", kind, seed);
        }
    } else if (v->kind != WS_VERDICT_PROVED || ws_findings_exit_code(findings, FALSE) != 0) {
        t->outside++;
    } else if (!v->certificate) {
        t->proved++;
        t->uncertified++;
        g_test_message("%s, seed %u: %s", kind, seed, v->uncertified);
    } else {
        g_autoptr(WsVerification) x = ws_verify(p, v->certificate);
        t->proved++;
        t->verified += x->answer == WS_VERIFIED;
        if (x->answer != WS_VERIFIED)
            g_test_message("%s, seed %u: %s%s", kind, seed,
                           x->answer == WS_VERIFY_REJECTED ? "REJECTED: " : "", x->reason);
        t->rejected += x->answer == WS_VERIFY_REJECTED;
        if (x->reason && strstr(x->reason, "P-")) /* no matter of form: it finds a broken rule */
            g_test_fail_printf("%s, seed %u: proved, but %s", kind, seed, x->reason);
    }
}

static void report(const Tally *t, guint least_percent)
{
    g_test_message("%u designs: of %u proved %u verified, %u without a certificate; of %u refuted "
                   "none verified; %u outside; %u rejected",
                   t->designs, t->proved, t->verified, t->uncertified, t->refuted, t->outside,
                   t->rejected);
    g_assert_cmpuint(t->proved, >, 0);
    g_assert_cmpuint(t->refuted, >, 0);
    /* of those with a certificate */
    g_assert_cmpuint(t->verified * 100, >=, (t->proved - t->uncertified) * least_percent);
}

static guint32 first = 1, many; /* of the command line: SEED N */

static guint32 seeds(void)
{
    return many > 0           ? many
           : g_test_slow()    ? 3000
           : test_sanitized() ? 30
           : test_quick()     ? 120
                              : 150;
}

static void features(void)
{
    Tally t = { 0 };
    for (guint32 seed = first; seed < first + seeds(); seed++) {
        GRand *rand = g_rand_new_with_seed(seed);
        guint feature[3], n = 2 + (guint)g_rand_int_range(rand, 0, 2);
        for (guint i = 0; i < n; i++)
            feature[i] = (guint)g_rand_int_range(rand, 0, (gint)compose_features());
        g_autofree char *right = compose(seed, feature, n).text, *what = NULL;
        g_autofree char *text = seed % 2 ? fault(right, rand, &what) : NULL;
        judge(&t, "features", seed, text ? text : right);
        g_rand_free(rand);
    }
    report(&t, 95);
}

/* Conditions that are always false are asked about by the proof, and by the verifier not. */
static void control(void)
{
    Tally t = { 0 };
    for (guint32 seed = first; seed < first + seeds(); seed++) {
        g_autofree char *text = control_design(seed);
        judge(&t, "control", seed, text);
    }
    report(&t, 90);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    if (argc == 3)
        first = (guint32)atoi(argv[1]), many = (guint32)atoi(argv[2]);
    else if (test_sanitized())
        first = 121; /* behind those of the quick run */
    g_test_add_func("/verify/random/features", features);
    g_test_add_func("/verify/random/control", control);
    return g_test_run();
}
