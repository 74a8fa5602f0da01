/* Loads that tiles choose among are shared as those of tiles that all load by one step. */
#include "clock/clock.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <math.h>

static gint64 cycles(const char *name, gint64 m, gint64 n, gint64 k)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsFindings) f = ws_findings_new();
    g_autofree char *file =
        g_build_filename(WS_SOURCE_ROOT, "projects", name, "design.wstave", NULL);
    g_autoptr(WsDesign) design = ws_design_load(file, f);
    g_assert_nonnull(design);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, f);
    const WsSize size[] = { { "M", m }, { "N", n }, { "K", k } };
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, size, 3, FALSE, f);
    g_assert_nonnull(v);
    g_autoptr(WsMachine) machine = ws_machine_load(NULL, &error);
    g_assert_no_error(error);
    g_autoptr(WsClockResult) r = ws_clock_run(p, v, machine, NULL, f);
    g_assert_nonnull(r);
    return r->cycles;
}

/* gemm-bf16-balanced has wide tiles first and narrow ones behind them, each with loads of their
 * own; half of these launches are narrow tiles, which come late. Its work is that of
 * gemm-bf16-deferred, within the padding of either. */
static void chosen_by_tile(void)
{
    static const gint64 sizes[][3] = {
        { 8192, 8192, 1024 },
        { 8192, 8192, 512 },
        { 4096, 16384, 1024 },
        { 16384, 8192, 2048 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        const gint64 *s = sizes[i];
        const gint64 chosen = cycles("gemm-bf16-balanced", s[0], s[1], s[2]),
                     same = cycles("gemm-bf16-deferred", s[0], s[1], s[2]);
        g_test_message("%" G_GINT64_FORMAT " beside %" G_GINT64_FORMAT, chosen, same);
        g_assert_cmpfloat(fabs((double)chosen / (double)same - 1), <, 0.15);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/clock/shares/chosen-by-tile", chosen_by_tile);
    return g_test_run();
}
