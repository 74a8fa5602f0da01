/* Designs written against the check by someone who had not read it: two or three features at once,
 * most with a twin that differs in one detail. The note of each says why it is right or wrong,
 * worked out on paper or by a run; the oracle judges them, too (tests/oracle/test-truth.c). */
#include "design.h"
#include "model/findings.h"
#include "program/elaborate.h"

typedef struct {
    const char *file, *rule; /* no rule: right, and proved */
} Row;

static const Row rows[] = {
    { "ahead-by-the-ring", "P-DL" },
    { "ahead-in-each-tile", NULL },
    { "arrivals-around-an-advance", NULL },
    { "arrivals-before-the-writes", "P-RACE" },
    { "bytes-and-arrivals-on-one-barrier", NULL },
    { "cluster-consumer-arrives-early", "P-CLU" },
    { "cluster-counters-mirrored", NULL },
    { "cluster-counters-not-mirrored", "P-DL" },
    { "cluster-expects-both-halves", NULL },
    { "cluster-loader-arrives-early", NULL },
    { "cluster-name-capped-by-rank", "P-DL" },
    { "cluster-one-rank-expects-less", "P-RACE" },
    { "cluster-pairs-shifted", "P-DL" },
    { "cluster-producer-drains", NULL },
    { "cluster-producer-drains-one-slot", "P-CLU" },
    { "cluster-rounds-differ-with-multicast", "P-TX" },
    { "cluster-rounds-of-each-rank", NULL },
    { "copy-source-overwritten", "P-RACE" },
    { "drains-a-slot-too-many", "P-DL" },
    { "drains-both-slots", NULL },
    { "expect-publishes-one-lane-only", "P-RACE" },
    { "expect-publishes-what-was-written", NULL },
    { "fence-beside-the-path", "P-PROXY" },
    { "fence-in-the-middle", NULL },
    { "fence-missing-in-round-37", "P-PROXY" },
    { "fence-of-the-leader-alone", "P-PROXY" },
    { "fence-of-the-leader-then-sync", NULL },
    { "gather-in-one-branch", "P-RACE" },
    { "gathers-in-both-branches", NULL },
    { "gathers-of-two-run-early", NULL },
    { "gathers-three-stages", NULL },
    { "gathers-two-stages", "P-RACE" },
    { "heads-by-quotient-and-rest", NULL },
    { "heads-by-rest-and-quotient", "G-NEVER" },
    { "index-halved-by-replica", NULL },
    { "lanes-wait-and-are-lapped", "P-ABA" },
    { "last-round-peeled-with-the-wrong-use", "P-CNT" },
    { "last-tile-shifted-back", "G-TWICE" },
    { "leader-loop-then-sync", NULL },
    { "leader-waited-alone", "P-RACE" },
    { "leader-waited-then-sync", NULL },
    { "loads-around-an-advance", NULL },
    { "more-slots-than-stages", "P-RACE" },
    { "more-slots-than-stages-two-rounds", NULL },
    { "more-stages-than-slots", NULL },
    { "named-last-arrival-left-out", NULL },
    { "named-without-a-way-back", "P-NB" },
    { "one-cta-knows", NULL },
    { "one-cta-knows-another-uses", "P-UNDEF" },
    { "one-group-loads-and-multiplies", NULL },
    { "one-group-loads-and-multiplies-two-left", "P-ASYNC" },
    { "one-of-two-loops", NULL },
    { "other-half-from-round-100", "P-RACE" },
    { "parity-by-hand-inverted", "P-DL" },
    { "parity-by-hand-of-a-ready-barrier", NULL },
    { "parity-by-hand-of-the-tile", "P-RACE" },
    { "parity-with-a-use-inverted", "P-DL" },
    { "parity-with-a-use-of-a-ready-barrier", NULL },
    { "parts-sent-to-rank-0", NULL },
    { "parts-sent-to-rank-0-overlap", "P-RACE" },
    { "product-in-even-rounds", "P-ABA" },
    { "quotient-as-large-as-what-it-divides", NULL },
    { "reader-inside-of-the-window", NULL },
    { "reader-that-leaves-the-window", "P-RACE" },
    { "release-deferred-and-repeated", "P-CNT" },
    { "release-deferred-one-stage", "P-DL" },
    { "release-deferred-over-the-tile", NULL },
    { "remote-writes-drained", NULL },
    { "ring-of-ranks", NULL },
    { "ring-of-ranks-freed-wrongly", "P-ABA" },
    { "ring-of-ranks-one-round-more", "P-TX" },
    { "rounds-by-a-square", NULL },
    { "rounds-capped-at-1000", "P-EXIT" },
    { "second-product-in-even-rounds", "P-ASYNC" },
    { "stage-by-the-square", NULL },
    { "stage-by-the-square-of-three", "P-RACE" },
    { "stage-off-from-round-1000", "P-RACE" },
    { "store-waited-by-another-agent", "P-ASYNC" },
    { "sum-read-in-every-round", NULL },
    { "sync-every-fifth-round", "P-RACE" },
    { "sync-every-fourth-round", NULL },
    { "tile-claimed-before-it-is-used", NULL },
    { "tile-not-taken-at-one-size", "P-TILE" },
    { "tile-over-the-ring", NULL },
    { "tile-over-the-ring-not-freed", "P-RACE" },
    { "turns-of-three", NULL },
    { "turns-of-three-primed-by-the-first", NULL },
    { "turns-of-three-the-other-way", "P-DL" },
    { "turns-that-meet", "P-NB" },
    { "two-arrivals-of-one-use", "P-CNT" },
    { "two-loaders-in-turns", NULL },
    { "two-loaders-leave-one-out", "P-DL" },
    { "two-products-three-left", "P-ASYNC" },
    { "two-products-two-left", NULL },
    { "two-ranges-of-rows", NULL },
    { "two-stores-three-left", "P-ASYNC" },
    { "two-stores-two-left", NULL },
    { "use-named-before-the-advance", NULL },
    { "wait-at-one-size", "P-DL" },
    { "waits-for-every-second-use", "P-RACE" },
    { "waits-in-two-of-three-rounds", "P-EARLY" },
    { "two-laps-too-far-three-replicas", "P-EARLY" },
    { "two-laps-too-far-two-replicas", "P-EARLY" },
};

static void judged(gconstpointer data)
{
    const Row *row = data;
    g_autofree char *file = g_strdup_printf("attack/%s.wstave", row->file);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = edited_program(file, NULL, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_autofree char *said = ws_findings_print(findings, file), *words = ws_verdict_text(v);
    g_test_message("%s\n%s", words, said);
    g_assert_cmpint(v->kind, ==, row->rule ? WS_VERDICT_REFUTED : WS_VERDICT_PROVED);
    if (row->rule)
        g_assert_nonnull(find_finding(findings, row->rule, NULL, NULL, NULL));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/check/attack/%s", rows[i].file);
        g_test_add_data_func(path, &rows[i], judged);
    }
    return g_test_run();
}
