/* The floor under a launch: by hand, never above what the clock predicts, the same for every order.
 */
#include "advise/floor.h"
#include "edit/edit.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

static WsFloor floor_of(const WsDesign *design, const WsSize *size, guint n_size, gint64 *cycles)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, size, n_size, FALSE, findings);
    g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
    g_assert_true(v && m);
    if (cycles) {
        const WsClockOptions options = { .no_trace = TRUE };
        g_autoptr(WsClockResult) r = ws_clock_run(p, v, m, &options, findings);
        g_assert_nonnull(r);
        *cycles = r->cycles;
    }
    return ws_floor_of(p, v, m, 0);
}

static WsDesign *load(const char *file)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, file, NULL);
    WsDesign *design = ws_design_load(path, findings);
    g_assert_nonnull(design);
    return design;
}

/* projects/attention-d128/README.md: a round of 128 rows by 128 keys is 2048 cycles of the tensor
 * pipe. 132 SMs: one of them has at least a tile where there are 132, two where there are 133. */
static void by_hand(void)
{
    g_autoptr(WsDesign) design = load("projects/attention-d128/design.wstave");
    static const struct {
        gint64 heads, rows, keys, cycles;
    } cases[] = {
        { 132, 128, 1024, 8 * 2048 },
        { 133, 128, 1024, 2 * 8 * 2048 },
        { 1, 128, 128, 2048 },
        { 132, 256, 512, 2 * 4 * 2048 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const WsSize size[] = { { "B", 1 },
                                { "HQ", cases[i].heads },
                                { "HKV", cases[i].heads },
                                { "SQ", cases[i].rows },
                                { "SK", cases[i].keys } };
        const WsFloor f = floor_of(design, size, G_N_ELEMENTS(size), NULL);
        g_assert_cmpint(f.cycles, ==, cases[i].cycles);
        g_assert_cmpstr(f.unit, ==, "tensor pipe");
    }
}

/* Never above the prediction: it would be none. */
static void below_prediction(void)
{
    static const struct {
        const char *file;
        WsSize size[3];
        guint n;
    } cases[] = {
        { "projects/gemm-bf16/design.wstave", { { "M", 4096 }, { "N", 4096 }, { "K", 1024 } }, 3 },
        { "projects/gemm-bf16-pingpong/design.wstave",
          { { "M", 4096 }, { "N", 4096 }, { "K", 1024 } },
          3 },
        { "projects/gemm-bf16-cluster2/design.wstave",
          { { "M", 4096 }, { "N", 4096 }, { "K", 1024 } },
          3 },
        { "projects/gemm-bf16-splitk/design.wstave",
          { { "M", 1024 }, { "N", 1024 }, { "K", 4096 } },
          3 },
        { "projects/gemm-fp8/design.wstave", { { "M", 4096 }, { "N", 4096 }, { "K", 1024 } }, 3 },
        { "projects/attention-d64/design.wstave", { { "SQ", 1024 }, { "SK", 1024 } }, 2 },
        { "projects/attention-d128/design.wstave", { { "SQ", 1024 }, { "SK", 1024 } }, 2 },
        { "projects/attention-d256/design.wstave", { { "SQ", 1024 }, { "SK", 1024 } }, 2 },
        { "projects/attention-d128/ablations/no-overlap.wstave",
          { { "SQ", 1024 }, { "SK", 1024 } },
          2 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsDesign) design = load(cases[i].file);
        gint64 cycles;
        const WsFloor f = floor_of(design, cases[i].size, cases[i].n, &cycles);
        g_test_message("%s: floor %" G_GINT64_FORMAT " (%s), predicted %" G_GINT64_FORMAT,
                       cases[i].file, f.cycles, f.unit, cycles);
        g_assert_cmpint(f.cycles, >, cycles / 4);
        g_assert_cmpint(f.cycles, <=, cycles);
    }
}

static guint64 product(const WsNode *node)
{
    guint n;
    guint64 found = 0;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++) {
            const WsNode *child = ws_node_child(node, rows[i].field, c);
            const guint64 below = child->kind == WS_STEP_MMA ? child->identity : product(child);
            found = below ? below : found; /* the last one */
        }
    return found;
}

/* A rotated loop has the same products, and the mask leaves out the same of them. */
static void same_for_every_order(void)
{
    g_autoptr(WsDesign) full = load("projects/attention-d128/ablations/no-overlap.wstave");
    g_autoptr(WsDesign) masked = ws_design_with_constant(full, "CAUSAL", 1);
    const WsDesign *const designs[] = { full, masked };
    const WsSize size[] = { { "SQ", 1000 }, { "SK", 1100 } };
    gint64 floors[2];
    for (guint i = 0; i < 2; i++) {
        g_autoptr(WsDraft) d = ws_draft_new(designs[i]);
        g_assert_true(ws_edit_rotate(d, product(ws_design_root(designs[i]))));
        const WsFloor a = floor_of(designs[i], size, 2, NULL),
                      b = floor_of(d->design, size, 2, NULL);
        g_assert_cmpint(a.cycles, ==, b.cycles);
        floors[i] = a.cycles;
    }
    g_assert_cmpint(floors[1], <, floors[0]);
}

/* No tile: no floor. Too much to walk: not known. */
static void unknown(void)
{
    g_autoptr(WsDesign) design = load("projects/gemm-bf16/design.wstave");
    const WsSize none[] = { { "M", 0 } };
    g_assert_cmpint(floor_of(design, none, 1, NULL).cycles, ==, 0);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, NULL, 0, FALSE, findings);
    g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
    g_assert_cmpint(ws_floor_of(p, v, m, 100).cycles, ==, 0);
    g_assert_null(ws_floor_of(p, v, m, 100).unit);
}

/* A round of d128: two groups of 64 rows by 128 keys, 2048 cycles for both. Never more than is
 * played; nothing where no loop has products. */
static void rounds(void)
{
    static const struct {
        const char *file;
        double least;
    } cases[] = {
        { "projects/attention-d128/ablations/no-overlap.wstave", 2048 },
        { "tests/designs/search/gemm-plain.wstave", 0 },
        { "tests/designs/raw-add.wstave", -1 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = load(cases[i].file);
        g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
        g_autoptr(WsLaunchValues) v = ws_launch_values(p, NULL, 0, FALSE, findings);
        g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
        const WsClockOptions options = { .no_trace = TRUE };
        g_autoptr(WsClockResult) r = ws_clock_run(p, v, m, &options, findings);
        g_assert_nonnull(r);
        const WsRound round = ws_round_of(p, r, m);
        g_assert_cmpint(round.agent != NULL, ==, cases[i].least >= 0);
        if (cases[i].least > 0)
            g_assert_cmpfloat(round.least, ==, cases[i].least);
        g_assert_cmpfloat(round.least, <=, round.period * 1.001);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/advise/floor/by-hand", by_hand);
    g_test_add_func("/advise/floor/below-prediction", below_prediction);
    g_test_add_func("/advise/floor/same-for-every-order", same_for_every_order);
    g_test_add_func("/advise/floor/unknown", unknown);
    g_test_add_func("/advise/floor/rounds", rounds);
    return g_test_run();
}
