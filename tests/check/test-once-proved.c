/* Broken designs that the proof once closed on, a lemma of docs/soundness.md section 6 each: the
 * check refutes them, and the proof does not close even where the play would not look. */
#include "check/proof/bits/bits.h"
#include "design.h"

static const struct {
    const char *file, *rule;
} rows[] = {
    { "cluster-arrive-twice", "P-CLU" },
    { "cols-of-a-tile-shifted", NULL },
    { "count-changes-inside", "P-DL" },
    { "counter-as-count", "P-EARLY" },
    { "expect-nobody-fills", "P-TX" },
    { "half-written", "P-UNDEF" },
    { "lanes-arrive-twice", "P-EARLY" },
    { "lanes-lapped", "P-ABA" },
    { "laps-behind-a-let", "P-EARLY" },
    { "laps-of-a-square", "P-EARLY" },
    { "let-as-count", "P-EARLY" },
    { "min-of-a-difference", "P-DL" },
    { "mma-issue-is-no-meeting", "P-ABA" },
    { "named-arrives-alone", NULL },
    { "named-arrives-in-a-loop-alone", NULL },
    { "pad-read-unwritten", "P-UNDEF" },
    { "rank-behind-many-lets", "P-DL" },
    { "rows-of-a-block", NULL },
    { "two-laps-on", "P-EARLY" },
    { "two-laps-on-by-a-let", "P-EARLY" },
    { "two-laps-on-by-a-name", "P-EARLY" },
    { "unless-assigns", "P-UNDEF" },
    { "use-compare", "P-ABA" },
    { "use-min-40", "P-RACE" },
};

static void row(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *file = g_strdup_printf("once-proved/%s.wstave", rows[i].file);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsProgram *p = edited_program(file, NULL, NULL, 0, findings);
    g_assert_nonnull(p);
    const WsBitOptions options = { .max_states = 16000 };
    WsProof *proof = ws_bits_prove(p, &options);
    g_assert_cmpint(proof->kind, !=, WS_PROOF_CLOSED);
    ws_proof_free(proof);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    if (rows[i].rule) {
        g_assert_cmpint(v->kind, ==, WS_VERDICT_REFUTED);
        g_assert_nonnull(find_finding(findings, rows[i].rule, NULL, NULL, NULL));
    } else {
        g_assert_cmpint(v->kind, !=, WS_VERDICT_PROVED);
    }
    ws_program_unref(p);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/check/once-proved/%s", rows[i].file);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), row);
    }
    return g_test_run();
}
