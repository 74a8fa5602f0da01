/* The broken variants of gemm-cooperative (one of the cluster's), and from 18 on the smallest
 * designs of further faults: each is refuted by the rule that names its fault, at the step, barrier
 * and round where it shows first. */
#include "design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"

typedef struct {
    const char *file, *rule, *at, *barrier, *round;
} Row;

static const Row rows[] = {
    { "01-missing-wait", "P-EARLY", "groups/load/body/0/do/0/do/0", "full slot 0", "tile 0, k 4" },
    { "02-wrong-count", "P-DL", "groups/load/body/0/do/0/do/0", "empty slot 0", "tile 0, k 4" },
    { "03-wrong-parity", "P-RACE", "groups/mma/body/0/do/0/do/1", "full slot 0", "tile 0, k 4" },
    { "04-wrong-bytes", "P-TX", "groups/mma/body/0/do/0/do/0", "full slot 0", "tile 0, k 0" },
    { "05-early-release", "P-ASYNC", "groups/load/body/0/do/0/do/1", "empty slot 0",
      "tile 0, k 4" },
    { "06-staging-overwritten", "P-ASYNC", "groups/mma/body/0/do/3/do/1", "bulk groups of mma.0",
      "tile 0, s 2" },
    { "07-missing-sync", "P-RACE", "groups/mma/body/0/do/3/do/3", "group sync of mma.0",
      "tile 0, s 0" },
    { "08-missing-fence", "P-PROXY", "groups/mma/body/0/do/3/do/4", "group sync of mma.0",
      "tile 0, s 0" },
    { "09-accumulator-in-flight", "P-ASYNC", "groups/mma/body/0/do/1/do/2",
      "commit groups of mma.0", "tile 0, s 0" },
    { "10-unequal-loops", "P-DL", "groups/mma/body/0/do/0/do/0", "full slot 1", "tile 0, k 1" },
    { "11-crossed-syncs", "P-DL", "groups/mma/body/0/do/2", "x", "tile 0" },
    { "12-phase-restarts", "P-CNT", "groups/load/body/0/do/0/do/1", "full slot 0",
      "tile 1, k.total 1" },
    { "13-half-the-bytes", "P-RACE", "groups/mma/body/0/do/0/do/1", "full slot 0", "tile 0, k 0" },
    { "14-slots-freed-alone", "P-EARLY", "groups/load/body/0/do/0/do/2", "full slot 0 of CTA 1",
      "tile 0, k 4" },
    { "15-waits-too-far-ahead", "P-DL", "groups/load/body/0/do/0/do/0", "empty slot 0",
      "tile 0, k 0" },
    { "16-released-twice", "P-DL", "groups/load/body/0/do/0/do/0", "empty slot 1",
      "tile 2, k.total 5" },
    { "17-consumers-do-not-wait", "P-RACE", "groups/mma/body/0/do/0/do/0", "full slot 0",
      "tile 0, k 0" },
    { "18-window-of-six", "P-EXIT", "groups/load/body/0/do/0/do/1", "full", "k 7, j.total 27" },
    { "19-expert-of-none", "P-DL", "groups/math/body/0/do/0/do/0", "full", "tile 0, k 0" },
    { "20-else-reads-what-then-defines", "P-UNDEF", "groups/math/body/0/do/0/else/0", NULL,
      "tile 0" },
    { "21-countdown-nobody-serves", "P-DL", "groups/load/body/0/do/2/then/0", "signal", "k 12" },
    { "22-linear-to-accumulator", "P-RACE", "groups/math/body/4", "group sync of math", "" },
    { "23-gather-waited-by-each-thread", "P-RACE", "groups/math/body/2", "group sync of math", "" },
    { "24-first-copy-unacknowledged", "P-RACE", "groups/send/body/0/then/5", NULL, "" },
    { "25-event-of-a-second-pass", "P-DL", "groups/load/body/1/do/0/then/0", "signal", "t2 5" },
    { "26-lanes-lapped", "P-ABA", "groups/math/body/0/do/0", "full", "k 0" },
    { "27-transposed-twice", "P-RACE", "groups/math/body/4", "group sync of math", "" },
    { "28-sum-from-the-second-round", "P-UNDEF", "groups/math/body/0/do/0/do/1", NULL,
      "tile 0, k 0" },
    { "29-use-below-zero", "P-UNDEF", "groups/cons/body/0/do/1", NULL, "k 1" },
    { "30-counts-read-early", "P-RACE", "groups/count/body/0/do/3/then/0", NULL, NULL },
    { "31-store-among-atomics", "P-RACE", "groups/count/body/0/do/3/do/2/else/0", NULL, NULL },
    { "33-read-before-the-cluster-meets", "P-RACE", "groups/lanes/body/0/do/3/do/0", NULL, NULL },
    { "34-gone-while-others-read", "P-CLU", "groups/lanes/body/0/do/4/do/0", NULL, NULL },
    { "35-lookup-written-early", "P-RACE", "groups/lanes/body/0/do/0/else/1", NULL, NULL },
    { "36-exchanged-among-adds", "P-RACE", "groups/pick/body/0/do/12", NULL, NULL },
    { "37-picked-stores-read-early", "P-RACE", "groups/pick/body/0/do/9", NULL, NULL },
    { "38-list-never-cleared", "P-UNDEF", "groups/pick/body/0/do/7", NULL, NULL },
    { "32-largest-among-counts", "P-RACE", "groups/count/body/0/do/3/do/2/else/0", NULL, NULL },
    { "39-in-flight-among-those-that-go-on", "P-EXIT", "groups/prod/body/0/do/1", NULL, NULL },
};

static void refuted(gconstpointer data)
{
    const Row *row = data;
    g_autofree char *file = g_strdup_printf("broken/%s.wstave", row->file);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree char *design_text = edited_text(file, NULL);
    g_autoptr(WsDesign) design = ws_design_parse(design_text, strlen(design_text), file, findings);
    g_assert_nonnull(design);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    ws_check_locate(design, findings);
    g_autofree char *text = ws_findings_print(findings, file);
    g_test_message("%s", text);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_REFUTED);
    g_assert_cmpint(ws_findings_exit_code(findings, FALSE), ==, 1);
    g_assert_nonnull(find_finding(findings, row->rule, row->at, row->barrier, row->round));
    /* The first finding is the one people read: it must not be a consequence. */
    const WsFinding *first = findings->list->pdata[0];
    for (guint i = 0; first->severity != WS_SEVERITY_ERROR; i++)
        first = findings->list->pdata[i];
    g_assert_nonnull(first->remedy);
    g_assert_true(first->round || !row->round); /* what is wrong without a run has none */
    g_assert_cmpuint(first->line, >, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/check/broken/%s", rows[i].file);
        g_test_add_data_func(path, &rows[i], refuted);
    }
    return g_test_run();
}
