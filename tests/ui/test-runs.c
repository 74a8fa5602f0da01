/* Two runs round by round: a round that is longer in one of them is found, and only that one. */
#include "model/findings.h"
#include "ui/document/answers.h"
#include "ui/document/document_machine.h"
#include "ui/runs/run_rounds.h"

static WsAnswers *answers_of(const char *path)
{
    g_autofree char *full = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(full, findings);
    g_assert_nonnull(design);
    return ws_answers_make(design, NULL, ws_machine_builtin(NULL), 0, NULL);
}

/* The trace with everything from a time on later by some cycles. */
static WsTrace *later(const WsProgram *p, const WsTrace *t, gint64 from, gint64 by)
{
    WsTrace *copy = ws_trace_new(p, WS_TRACE_MEASURED);
    g_array_append_vals(copy->cta, t->cta->data, t->cta->len);
    for (guint i = 0; i < t->record->len; i++) {
        WsTraceRecord r = t->record->data[i];
        r.start += r.start >= from ? by : 0;
        r.issued += r.issued >= from ? by : 0;
        r.done += r.done >= from ? by : 0;
        ws_trace_add(copy, &r);
    }
    ws_trace_finish(copy);
    return copy;
}

static void one_longer_round(void)
{
    g_autoptr(WsAnswers) a = answers_of("projects/gemm-bf16/design.wstave");
    g_autoptr(GArray) rounds = ws_score_rounds(a->program, a->predicted, 0, NULL);
    const WsScoreRound *long_one = NULL;
    for (guint i = 0; i + 1 < rounds->len && !long_one; i++)
        if (g_array_index(rounds, WsScoreRound, i).tile == 1 &&
            g_array_index(rounds, WsScoreRound, i).round == 5)
            long_one = &g_array_index(rounds, WsScoreRound, i);
    g_assert_nonnull(long_one);
    g_autoptr(WsTrace) pinned = later(a->program, a->predicted, G_MAXINT64, 0);
    g_autoptr(WsTrace) shown = later(a->program, a->predicted, long_one->from + 1, 500);
    g_autofree char *loop = NULL;
    g_autoptr(GArray) rows = ws_run_rounds(a->program, shown, a->program, pinned, &loop);
    guint apart = 0;
    g_assert_cmpstr(loop, ==, "k");
    g_assert_cmpuint(rows->len, >, 100);
    for (guint i = 0; i < rows->len; i++) {
        const WsRunRound *r = &g_array_index(rows, WsRunRound, i);
        g_assert_cmpuint(r->n, ==, 1);
        if (r->shown == r->pinned)
            continue;
        apart++;
        g_assert_cmpint(r->tile, ==, 1);
        g_assert_cmpint(r->round, ==, 5);
        g_assert_cmpint(r->shown - r->pinned, ==, 500);
        g_assert_cmpint(r->from, ==, long_one->from);
    }
    g_assert_cmpuint(apart, ==, 1);
}

static void other_ctas(void)
{
    g_autoptr(WsAnswers) a = answers_of("projects/gemm-bf16/design.wstave");
    g_autoptr(WsTrace) pinned = later(a->program, a->predicted, G_MAXINT64, 0);
    g_autoptr(WsTrace) shown = later(a->program, a->predicted, G_MAXINT64, 0);
    g_array_index(shown->cta, WsTraceCta, 0).id += 1000;
    g_autoptr(GArray) rows = ws_run_rounds(a->program, shown, a->program, pinned, NULL);
    g_assert_cmpuint(rows->len, ==, 0);
}

/* Which tiles a CTA claimed is not recorded: a measured run of causal attention has no rounds to be
 * compared, the prediction has them; where all tiles are alike both have. */
static void claimed_tiles(void)
{
    for (gint causal = 0; causal < 2; causal++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design =
            ws_design_load(WS_SOURCE_ROOT "/projects/attention-d128/design.wstave", findings);
        g_autoptr(WsDesign) one = ws_design_with_constant(design, "CAUSAL", causal);
        g_assert_nonnull(one);
        g_autoptr(WsAnswers) a = ws_answers_make(one, NULL, ws_machine_builtin(NULL), 0, NULL);
        g_autoptr(WsTrace) shown = later(a->program, a->predicted, G_MAXINT64, 0);
        g_autoptr(WsTrace) pinned = later(a->program, a->predicted, G_MAXINT64, 0);
        g_autoptr(GArray) predicted = ws_score_rounds(a->program, a->predicted, 0, NULL);
        g_autoptr(GArray) rows = ws_run_rounds(a->program, shown, a->program, pinned, NULL);
        g_assert_cmpuint(predicted->len, >, 10);
        g_assert_true(ws_trace_rounds_unknown(a->program, shown) == (causal == 1));
        g_assert_true((rows->len == 0) == (causal == 1));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runs/one-longer-round", one_longer_round);
    g_test_add_func("/runs/other-ctas", other_ctas);
    g_test_add_func("/runs/claimed-tiles", claimed_tiles);
    return g_test_run();
}
