/* Rotated loops compute what they computed: every counted loop of the shipped designs, cut before
 * every one of its steps. What the check proves of it is rehearsed against the reference; what does
 * not fit is refused with a reason. */
#include "../whole.h"
#include "check/check.h"
#include "codegen/generate.h"
#include "edit/edit.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

static const char *const designs[] = {
    "tests/designs/search/gemm-plain.wstave",
    "projects/attention-d128/ablations/no-overlap.wstave",
    "tests/designs/attention-straight.wstave",
    "tests/designs/search/attention-d256-straight.wstave",
    "projects/gemm-fp8-block/design.wstave",
    "projects/gemm-bf16-splitk/design.wstave",
    "tests/designs/sparse-mla-seesaw.wstave",
    "tests/designs/search/attention-d64-straight.wstave",
    "projects/gemm-bf16/design.wstave",
    "tests/designs/attention-fa3-dynamic.wstave",
    "projects/attention-d256/design.wstave",
};

static void add_loops(const WsNode *node, GArray *steps)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++) {
            const WsNode *child = ws_node_child(node, rows[i].field, c);
            if (node->kind == WS_STEP_FOR && !ws_node_has(node, WS_F_over))
                g_array_append_val(steps, child->identity);
            add_loops(child, steps);
        }
}

static void rehearse(const WsProgram *p, const char *what)
{
    const WsRehearseOptions options = { .seed = 1, .sms = 2 };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    g_assert_no_error(error);
    if (!r->ran || !r->matches)
        g_error("%s computes something else: %s %s", what, r->first_wrong ? r->first_wrong : "",
                r->stuck ? r->stuck : "");
    g_assert_cmpuint(r->elements, >, 0);
    ws_rehearse_result_free(r);
}

/* 0: refused, 1: not elaborated, refuted or undecided, 2: proved, and rehearsed if `run`. */
static guint try_step(const WsDesign *design, guint64 step, gboolean run)
{
    g_autoptr(WsDraft) d = ws_draft_new(design);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree char *what = ws_design_path(design, ws_design_by_identity(design, step));
    if (!ws_edit_rotate(d, step)) {
        g_assert_nonnull(d->why);
        return 0;
    }
    g_autoptr(WsProgram) p = ws_elaborate(d->design, NULL, 0, findings);
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR))
        return 1;
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    if (v->kind != WS_VERDICT_PROVED)
        return 1;
    if (run)
        rehearse(p, what);
    return 2;
}

static void test_design(gconstpointer data)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, data, NULL);
    g_autoptr(WsDesign) design = ws_design_load(path, findings);
    g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(guint64));
    guint count[3] = { 0 };
    add_loops(ws_design_root(design), steps);
    g_assert_cmpuint(steps->len, >, 0);
    for (guint i = 0; i < steps->len; i++)
        count[try_step(design, g_array_index(steps, guint64, i), test_takes(i, 7, 11))]++;
    g_test_message("%s: %u refused, %u not proved, %u proved", (const char *)data, count[0],
                   count[1], count[2]);
    g_assert_cmpuint(count[0], <, steps->len);
}

/* --- what runs ahead at the end of a round
 * ------------------------------------------------------- */

static const WsNode *rounds_of(const WsNode *owner, WsFieldId list)
{
    for (guint i = 0; i < ws_node_n_children(owner, list); i++) {
        const WsNode *step = ws_node_child(owner, list, i);
        if (step->kind == WS_STEP_FOR)
            return ws_node_has(step, WS_F_over) ? rounds_of(step, WS_F_do) : step;
    }
    return NULL;
}

static gboolean is_clean(const WsProgram *p)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
    g_assert_no_error(error);
    WsPtxasReport *report = ws_ptxas_run(ptx, NULL, &error);
    g_assert_no_error(error);
    const gboolean clean = ws_ptxas_report_clean(report);
    ws_ptxas_report_free(report);
    return clean;
}

/* Q·K with its waits at the end of the round, a round ahead: the values are the same, and ptxas
 * serialises the products; written at the beginning of the round it does not. */
static void test_rounds_meet(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design =
        ws_design_load(WS_SOURCE_ROOT "/projects/attention-d128/design.wstave", findings);
    g_autoptr(WsDraft) d = ws_draft_new(design);
    const WsNode *root = ws_design_root(design);
    const guint groups = ws_node_n_children(root, WS_F_groups);
    const WsNode *loop = rounds_of(ws_node_child(root, WS_F_groups, groups - 1), WS_F_body);
    const guint n = ws_node_n_children(loop, WS_F_do);
    gboolean product = FALSE;
    for (guint k = 0; k < n && !product; k++) {
        const WsNode *step = ws_node_child(loop, WS_F_do, k);
        g_assert_true(ws_draft_set(d, step->identity, WS_F_ahead, ws_json_int(1)));
        g_assert_true(ws_draft_move(d, step->identity, loop->identity, WS_F_do, n - 1));
        product = step->kind == WS_STEP_MMA;
    }
    g_assert_true(product);
    g_autoptr(WsProgram) met = ws_elaborate(d->design, NULL, 0, findings);
    g_assert_nonnull(met);
    rehearse(met, "a product where rounds meet");
    g_autoptr(WsDraft) back = ws_draft_new(d->design);
    g_assert_true(ws_edit_roll(back, loop->identity));
    g_autoptr(WsProgram) p = ws_elaborate(back->design, NULL, 0, findings);
    g_assert_nonnull(p);
    if (!ws_ptxas_available()) {
        g_test_skip("ptxas is not installed");
        return;
    }
    g_assert_false(is_clean(met));
    g_assert_true(is_clean(p));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *name = g_strconcat("/codegen/rotated/", designs[i], NULL);
        if (test_takes(i, 3, 5))
            g_test_add_data_func(name, designs[i], test_design);
    }
    if (test_either(1))
        g_test_add_func("/codegen/rotated/rounds-meet", test_rounds_meet);
    return g_test_run();
}
