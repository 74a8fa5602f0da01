/* Control that needs the latest rules of the proof: the certificate of every proved row of
 * control.def is verified, but for those that unverified-control.def names; damaged ones are not,
 * nor do they pass for the certificate of a row that is not proved. */
#include "../check/control.h"
#include "../whole.h"
#include "corrected.h"
#include "damage.h"
#include "forge.h"
#include "model/findings.h"
#include "program/program.h"
#include "verify/verify.h"

static const struct {
    const char *title, *reason;
} unverified[] = {
#define UNVERIFIED(title, reason) { title, reason },
#include "unverified-control.def"
#undef UNVERIFIED
    { NULL, NULL },
};

static WsProgram *program[G_N_ELEMENTS(rows)];
static char *text[G_N_ELEMENTS(rows)]; /* its certificate; NULL: there is none */

static void make(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *design = design_of(&rows[i]);
        g_autoptr(WsFindings) findings = ws_findings_new(), found = ws_findings_new();
        g_autoptr(WsDesign) d = ws_design_parse(design, strlen(design), "control", findings);
        program[i] = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
        g_assert_nonnull(program[i]);
        const WsCheckOptions o = { .certificate = TRUE, .protocol_only = TRUE };
        g_autoptr(WsVerdict) v = ws_check(program[i], &o, found);
        if (v->kind == WS_VERDICT_PROVED)
            text[i] = g_strdup(v->certificate ? v->certificate : v->uncertified);
        g_assert_true(v->kind != WS_VERDICT_PROVED || text[i]);
    }
}

static const char *reason_of(guint row)
{
    for (guint i = 0; unverified[i].title; i++)
        if (!strcmp(unverified[i].title, rows[row].title))
            return unverified[i].reason;
    return NULL;
}

static void verified(void)
{
    guint all = 0, named = 0;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *reason = reason_of(i);
        if (!text[i]) {
            if (reason)
                g_test_fail_printf("%s is in unverified-control.def, but is not proved",
                                   rows[i].title);
            continue;
        }
        g_autoptr(WsVerification) v = ws_verify(program[i], text[i]);
        g_autofree char *line = ws_verification_text(v);
        all++;
        named += reason != NULL;
        /* not handled, or without a certificate, for the reason that is given there */
        if (reason ? v->answer == WS_VERIFIED || v->answer == WS_VERIFY_REJECTED ||
                         !(strstr(line, reason) || strstr(text[i], reason))
                   : v->answer != WS_VERIFIED)
            g_test_fail_printf("%s: %s (%.60s)", rows[i].title, line, text[i]);
    }
    g_test_message("%u rows proved, %u verified", all, all - named);
    g_assert_cmpuint(all - named, >=, 60);
}

/* Some questions of these rows move nobody: their answers may lead anywhere. */
static gboolean needs_answers(guint row)
{
    return !reason_of(row) && strcmp(rows[row].title, "a question that no answer needs") != 0 &&
           strcmp(rows[row].title, "a half of a half") != 0;
}

/* Each in some ways (-m slow: 20 of each kind; the sanitizers: every fourth row). */
static void damaged(void)
{
    const guint32 seeds = (g_test_slow() ? 20 : 1) * WS_DAMAGE_KINDS;
    guint tried = 0, harmless = 0;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        for (guint32 seed = 0; text[i] && needs_answers(i) && seed < seeds && test_takes(i, 1, 4);
             seed++) {
            g_autofree char *what = NULL;
            g_autofree char *bad = ws_damage(text[i], seed, &what);
            g_autoptr(WsVerification) v = bad ? ws_verify(program[i], bad) : NULL;
            tried += v != NULL;
            if (!v || v->answer != WS_VERIFIED)
                continue;
            harmless++;
            if (!ws_damage_is_harmless(text[i], bad))
                g_test_fail_printf("%s, seed %u: verified though %s: %s", rows[i].title, seed,
                                   ws_damage_kind(seed), what);
        }
    g_test_message("%u damaged certificates: %u rejected, %u that only know less verified", tried,
                   tried - harmless, harmless);
    g_assert_cmpuint(tried, >=, test_least(900, 1, 6));
}

/* Every fourth pair (the sanitizers: every 24th), and those side by side (-m slow: all). */
static void passed_off(void)
{
    const guint every = g_test_slow() ? 1 : test_sanitized() ? 24 : 4;
    guint tried = 0, corrections = 0;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        for (guint k = 0; k < G_N_ELEMENTS(rows) && !text[i]; k++) {
            const gboolean beside =
                (i == k + 1 || k == i + 1) && test_takes(i, 1, 2); /* its twin */
            if (!text[k] || reason_of(k) || ((i + k) % every && !beside))
                continue;
            g_auto(GStrv) part = g_strsplit(text[k], program[k]->design_hash, 2);
            char *forged = g_strjoinv(program[i]->design_hash, part);
            for (guint again = 0; again < 60 && forged; again++) {
                g_autoptr(WsVerification) v = ws_verify(program[i], forged);
                char *better = v->reason ? ws_corrected(forged, v->reason) : NULL;
                /* of what the engine leaves open it may be a proof; what it does not claim says it
                 */
                if (v->answer == WS_VERIFIED && !v->laps && rows[i].verdict == WS_VERDICT_REFUTED)
                    g_test_fail_printf("%s: verified with the certificate of %s", rows[i].title,
                                       rows[k].title);
                g_free(forged);
                forged = better;
                corrections += better != NULL;
            }
            g_free(forged);
            tried++;
        }
    g_test_message("%u certificates of other rows, corrected %u times, none verified", tried,
                   corrections);
    g_assert_cmpuint(tried, >, test_least(1000, 1, 8));
}

/* Certificates made by the verifier's own parts (forge.c) for rows that are not proved: of the
 * quick run every third row, which still meets each kind of them. */
static void forged(void)
{
    guint tried = 0;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        for (guint way = 0; way < 6 && !text[i] && test_takes(i, 3, 12); way++) {
            g_autofree char *why = NULL;
            g_autofree char *made = ws_forge(program[i], way % 2, way > 3,
                                             way > 3 ? 1 : (gint64)1 << way / 2, 100, &why);
            g_autoptr(WsVerification) v = made ? ws_verify(program[i], made) : NULL;
            tried += made != NULL;
            /* asked anew, what no rule of the proof decides may be shown; what is wrong is not */
            if (v && v->answer == WS_VERIFIED && (way < 4 || rows[i].verdict == WS_VERDICT_REFUTED))
                g_test_fail_printf("%s: not proved, but verified", rows[i].title);
        }
    g_test_message("%u forged certificates, none verified", tried);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    make();
    g_test_add_func("/verify/control/verified", verified);
    g_test_add_func("/verify/control/damaged", damaged);
    g_test_add_func("/verify/control/passed off", passed_off);
    g_test_add_func("/verify/control/forged", forged);
    const int failed = g_test_run();
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        ws_program_unref(program[i]);
        g_free(text[i]);
    }
    return failed;
}
