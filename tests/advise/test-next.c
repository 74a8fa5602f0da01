/* Edges, critical path and ranked edits of small designs, predicted and measured. */
#include "advise/next.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include <math.h>
#include <string.h>

typedef struct {
    WsDesign *design;
    WsProgram *p;
    WsLaunchValues *v;
    WsMachine *m;
    WsFindings *findings;
} Case;

static void case_clear(Case *c)
{
    g_clear_pointer(&c->v, ws_launch_values_free);
    g_clear_pointer(&c->p, ws_program_unref);
    g_clear_pointer(&c->design, ws_design_unref);
    g_clear_pointer(&c->m, ws_machine_free);
    g_clear_pointer(&c->findings, ws_findings_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Case, case_clear)

static void open_case(Case *c, const char *file, const WsSetting *set, guint n_set,
                      const WsSize *size, guint n_size)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, file, NULL);
    c->findings = ws_findings_new();
    c->m = ws_machine_load(NULL, NULL);
    c->design = ws_design_load(path, c->findings);
    g_assert_nonnull(c->design);
    c->p = ws_elaborate(c->design, set, n_set, c->findings);
    g_assert_nonnull(c->p);
    c->v = ws_launch_values(c->p, size, n_size, FALSE, c->findings);
    g_assert_nonnull(c->v);
}

/* Cycles of the design after the edits, timed here and not by the advice. */
static gint64 retimed(const Case *c, const WsSetting *set, guint n_set, const WsNextEdit *e,
                      const WsSize *size, guint n_size)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_ref(c->design);
    for (guint i = 0; i < n_set; i++) {
        WsDesign *with = ws_design_with_constant(design, set[i].name, set[i].value);
        ws_design_unref(design);
        design = with;
    }
    for (guint i = 0; i < e->edits->len; i++) {
        WsDesign *next = ws_design_apply(design, e->edits->pdata[i], findings);
        g_assert_nonnull(next);
        ws_design_unref(design);
        design = next;
    }
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autoptr(WsVerdict) verdict = ws_check(p, NULL, findings);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
    g_assert_cmpint(verdict->kind == WS_VERDICT_PROVED, ==, e->proved);
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, size, n_size, FALSE, findings);
    const WsClockOptions options = { .no_trace = TRUE };
    g_autoptr(WsClockResult) r = ws_clock_run(p, v, c->m, &options, findings);
    return r->cycles;
}

static const WsSize gemm_size[] = { { "M", 4096 }, { "N", 4096 }, { "K", 4096 } };

/* A ring that is too short exposes the loads; the first edit makes it longer. */
static void best_edit(void)
{
    static const struct {
        const char *file, *constant;
        gint64 value;
        const char *from, *to; /* labels of the most exposed edge of a consumer; NULL any */
        const char *title;     /* begins with; NULL: nothing gains more than a per cent */
    } cases[] = {
        { "projects/gemm-bf16/design.wstave", "STAGES", 2, "load ", "wait full", "Ring of a" },
        { "tests/designs/gemm-cooperative.wstave", "STAGES", 2, "load ", "wait full", "Ring of a" },
        { "projects/gemm-bf16/design.wstave", "STAGES", 4, NULL, NULL, NULL },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(Case) c = { 0 };
        const WsSetting set = { cases[i].constant, cases[i].value };
        open_case(&c, cases[i].file, &set, 1, gemm_size, 3);
        g_autoptr(WsNext) n = ws_next_new(c.design, &set, 1, c.p, c.v, c.m, NULL, NULL, c.findings);
        g_assert_nonnull(n);
        g_assert_cmpuint(n->tried, >, 20);
        if (!cases[i].title) {
            for (guint k = 0; k < n->edit->len; k++)
                g_assert_cmpfloat(((WsNextEdit *)n->edit->pdata[k])->gain, <, 0.02);
            continue;
        }
        const WsNextEdge *e = NULL;
        for (guint k = 0; k < n->edge->len && !e; k++) {
            const WsNextEdge *x = &g_array_index(n->edge, WsNextEdge, k);
            if (c.p->agent[c.p->op[x->to_op]->agent].role == WS_ROLE_CONSUMER)
                e = x;
        }
        g_assert_nonnull(e);
        g_assert_true(g_str_has_prefix(c.p->op[e->from_op]->label, cases[i].from));
        g_assert_cmpstr(c.p->op[e->to_op]->label, ==, cases[i].to);
        g_assert_cmpfloat(e->share, >, 0.3);
        g_assert_cmpuint(n->edit->len, >, 0);
        const WsNextEdit *best = n->edit->pdata[0];
        g_assert_true(g_str_has_prefix(best->title, cases[i].title));
        g_assert_cmpfloat(best->gain, >, 0.2);
        g_assert_cmpint(best->cycles_before, ==, n->predicted->cycles);
    }
}

/* Every listed edit holds, gains what it says, and no worse one stands before it. */
static void edits_are_retimed(void)
{
    static const struct {
        const char *file, *constant;
        gint64 value;
    } cases[] = {
        { "projects/gemm-bf16/design.wstave", "STAGES", 2 },
        { "projects/gemm-bf16-pingpong/design.wstave", "STAGES", 3 },
        { "projects/gemm-bf16-deferred/design.wstave", "STAGES", 3 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(Case) c = { 0 };
        const WsSetting set = { cases[i].constant, cases[i].value };
        open_case(&c, cases[i].file, &set, 1, gemm_size, 3);
        g_autoptr(WsNext) n = ws_next_new(c.design, &set, 1, c.p, c.v, c.m, NULL, NULL, c.findings);
        double last = HUGE_VAL;
        for (guint k = 0; k < n->edit->len; k++) {
            const WsNextEdit *e = n->edit->pdata[k];
            g_assert_cmpint(retimed(&c, &set, 1, e, gemm_size, 3), ==, e->cycles_after);
            g_assert_cmpfloat(e->gain, <=, last);
            g_assert_cmpfloat_with_epsilon(
                e->gain, (double)e->cycles_before / (double)e->cycles_after - 1, 1e-12);
            last = e->gain;
        }
        g_assert_cmpuint(n->refuted, >, 0); /* steps moved past what they wait for */
    }
}

/* Where a CTA has one tile there is no period of tiles: the reason names cycles that exist. */
static void reasons_of_one_tile(void)
{
    g_auto(Case) c = { 0 };
    open_case(&c, "tests/designs/epilogue/gemm-int4.wstave", NULL, 0, NULL, 0);
    g_autoptr(WsNext) n = ws_next_new(c.design, NULL, 0, c.p, c.v, c.m, NULL, NULL, c.findings);
    g_assert_cmpuint(n->edit->len, >, 0);
    for (guint k = 0; k < n->edit->len; k++)
        g_assert_null(strstr(((const WsNextEdit *)n->edit->pdata[k])->why, "nan"));
}

/* A constant of a tile that leaves half of the output out is no gain. */
static void meaning_is_kept(void)
{
    g_auto(Case) c = { 0 };
    open_case(&c, "projects/gemm-bf16/design.wstave", NULL, 0, gemm_size, 3);
    const WsNextOptions options = { .max_edits = 200, .max_tried = 1000 };
    g_autoptr(WsNext) n = ws_next_new(c.design, NULL, 0, c.p, c.v, c.m, NULL, &options, c.findings);
    for (guint k = 0; k < n->edit->len; k++) {
        const WsNextEdit *e = n->edit->pdata[k];
        g_assert_false(g_str_has_prefix(e->title, "BM =")); /* without WM */
        g_assert_false(g_str_has_prefix(e->title, "WM ="));
    }
    g_assert_cmpuint(n->unfit, >, 3);
}

/* Pieces follow each other; they cover the time from the first to the last. */
static void path_is_whole(void)
{
    static const struct {
        const char *file;
    } cases[] = { { "projects/gemm-bf16/design.wstave" },
                  { "projects/attention-d128/design.wstave" },
                  { "projects/gemm-bf16-pingpong/design.wstave" },
                  { "projects/gemm-bf16-splitk/design.wstave" },
                  { "tests/designs/sparse-mla-pipes.wstave" } };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(Case) c = { 0 };
        open_case(&c, cases[i].file, NULL, 0, NULL, 0);
        const WsNextOptions options = { .no_edits = TRUE };
        g_autoptr(WsNext) n =
            ws_next_new(c.design, NULL, 0, c.p, c.v, c.m, NULL, &options, c.findings);
        g_assert_nonnull(n);
        g_assert_cmpuint(n->path->len, >, 20);
        gint64 sum = 0, parts = 0;
        double share = 0;
        for (guint k = 0; k < n->path->len; k++) {
            const WsNextPiece *x = &g_array_index(n->path, WsNextPiece, k);
            g_assert_cmpint(x->from, <, x->to);
            if (k > 0)
                g_assert_cmpint(x->from - g_array_index(n->path, WsNextPiece, k - 1).to, <=, 1);
            sum += x->to - x->from;
        }
        for (guint k = 0; k < n->part->len; k++) {
            parts += g_array_index(n->part, WsNextPart, k).cycles;
            share += g_array_index(n->part, WsNextPart, k).share;
        }
        g_assert_cmpint(sum, ==, parts);
        g_assert_cmpfloat_with_epsilon(share, 1, 1e-9);
        const WsNextPiece *first = &g_array_index(n->path, WsNextPiece, 0);
        g_assert_cmpint(first->from, <, 4000); /* it leads back to the start of the CTA */
        g_assert_cmpuint(n->tried, ==, 0);
    }
}

/* A tensor-bound run is made of products, a starved one of loads. */
static void path_says_what(void)
{
    static const struct {
        gint64 stages;
        const char *label;
    } cases[] = { { 2, "load " }, { 4, "mma " } };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(Case) c = { 0 };
        const WsSetting set = { "STAGES", cases[i].stages };
        open_case(&c, "projects/gemm-bf16/design.wstave", &set, 1, gemm_size, 3);
        const WsNextOptions options = { .no_edits = TRUE };
        g_autoptr(WsNext) n =
            ws_next_new(c.design, &set, 1, c.p, c.v, c.m, NULL, &options, c.findings);
        double share = 0;
        for (guint k = 0; k < n->part->len; k++) {
            const WsNextPart *x = &g_array_index(n->part, WsNextPart, k);
            if (g_str_has_prefix(c.p->op[x->op]->label, cases[i].label))
                share += x->share;
        }
        g_assert_cmpfloat(share, >, 0.5);
    }
}

/* The shipped trace of a real run: recorded rounds only, and of this design. */
static void measured(void)
{
    g_autoptr(GError) error = NULL;
    g_auto(Case) c = { 0 };
    open_case(&c, "projects/gemm-bf16/design.wstave", NULL, 0, gemm_size, 3);
    g_autoptr(WsTrace) t =
        ws_trace_load(WS_SOURCE_ROOT "/projects/gemm-bf16/measured/gemm-bf16.wtrace", &error);
    g_assert_no_error(error);
    const WsNextOptions options = { .no_edits = TRUE };
    g_autoptr(WsNext) n = ws_next_new(c.design, NULL, 0, c.p, c.v, c.m, t, &options, c.findings);
    g_assert_cmpuint(n->path->len, >, 50);
    g_assert_cmpuint(n->edge->len, >, 2);
    g_autofree char *text = ws_next_text(n, c.p, t);
    g_assert_nonnull(strstr(text, "edges and path: measured"));
    g_autofree char *json = ws_next_json(n, c.p);
    g_assert_nonnull(strstr(json, "\"path\": ["));
    /* Of another design: said, not guessed. */
    g_auto(Case) other = { 0 };
    open_case(&other, "projects/gemm-bf16-pingpong/design.wstave", NULL, 0, gemm_size, 3);
    g_autoptr(WsNext) none =
        ws_next_new(other.design, NULL, 0, other.p, other.v, other.m, t, &options, other.findings);
    g_assert_cmpuint(none->path->len, ==, 0);
    g_assert_nonnull(none->note);
}

static void cancelling(void)
{
    g_auto(Case) c = { 0 };
    const gint cancel = 1;
    open_case(&c, "projects/gemm-bf16/design.wstave", NULL, 0, gemm_size, 3);
    const WsNextOptions options = { .cancel = &cancel };
    g_assert_null(ws_next_new(c.design, NULL, 0, c.p, c.v, c.m, NULL, &options, c.findings));
}

/* Attention without overlap: one edit, that is a loop rotated with barriers of their own for an
 * operand, gains what the shipped design has over it. */
static void rotation(void)
{
    g_auto(Case) c = { 0 };
    const WsSize size[] = { { "SQ", 2048 }, { "SK", 2048 } };
    open_case(&c, "projects/attention-d128/ablations/no-overlap.wstave", NULL, 0, size, 2);
    g_autoptr(WsNext) n = ws_next_new(c.design, NULL, 0, c.p, c.v, c.m, NULL, NULL, c.findings);
    g_assert_true(n && n->edit->len > 0);
    const WsNextEdit *e = n->edit->pdata[0];
    g_assert_nonnull(strstr(e->title, "one round later, with barriers of its own"));
    g_assert_cmpfloat(e->gain, >, 0.06);
    g_assert_true(e->proved);
    g_assert_cmpint(retimed(&c, NULL, 0, e, size, 2), ==, e->cycles_after);
    g_autofree char *text = ws_next_text(n, c.p, NULL);
    g_assert_nonnull(strstr(text, "more: --json lists them"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/advise/best-edit", best_edit);
    g_test_add_func("/advise/rotation", rotation);
    g_test_add_func("/advise/edits-are-retimed", edits_are_retimed);
    g_test_add_func("/advise/meaning-is-kept", meaning_is_kept);
    g_test_add_func("/advise/path-is-whole", path_is_whole);
    g_test_add_func("/advise/path-says-what", path_says_what);
    g_test_add_func("/advise/measured", measured);
    g_test_add_func("/advise/one-tile", reasons_of_one_tile);
    g_test_add_func("/advise/cancelling", cancelling);
    return g_test_run();
}
