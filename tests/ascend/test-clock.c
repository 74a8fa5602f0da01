/* The clock of a core by queues: its machine, and what it makes of the designs. */
#include "ascend/designs.h"
#include "clock/clock.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/walk/launch_values.h"

#include <math.h>

static void test_machine(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsMachine) m = ws_machine_for(NULL, "ascend", &error);
    g_assert_no_error(error);
    g_assert_cmpstr(m->target, ==, "ascend");
    g_assert_nonnull(strstr(m->note, "Not measured"));
    for (guint v = 0; v < WS_MACHINE_VALUE_COUNT; v++) {
        g_assert_true(ws_machine_has(m, (WsMachineValue)v) == (m->source[v] && *m->source[v]));
        /* no figure was measured here, and none may say so */
        g_assert_true(!m->source[v] || !g_str_has_prefix(m->source[v], "measured"));
    }
    g_assert_false(ws_machine_has(m, WS_MACHINE_TMA_ISSUE));
    g_assert_false(ws_machine_has(m, WS_MACHINE_MUFU_LANES));
    g_assert_true(ws_machine_has(m, WS_MACHINE_CUBE_MACS));
}

/* Cycles of the first core alone, with one figure of the machine times `factor`. */
static double cycles(const char *design, const AscendChange *change, guint n, gint value,
                     double factor, char **text)
{
    g_autofree char *source = ascend_text(design, change, n);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ascend_program(source, findings);
    g_assert_nonnull(p);
    g_autoptr(GError) error = NULL;
    g_autoptr(WsMachine) m = ws_machine_for(NULL, p->target, &error);
    if (value >= 0)
        m->value[value] *= factor;
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, NULL, 0, FALSE, findings);
    g_assert_nonnull(v);
    g_autoptr(WsClockResult) r = ws_clock_run(p, v, m, NULL, findings);
    g_assert_nonnull(r);
    g_assert_false(r->stuck);
    if (text)
        *text = ws_clock_result_text(r, p);
    return (double)r->played;
}

/* Two slots are faster than one; each queue's rate counts where its queue works, and nowhere else.
 */
static void test_designs(void)
{
    static const AscendChange one[] = { { "\"S\": 2", "\"S\": 1" } };
    static const struct {
        const char *design;
        WsMachineValue value;
        gboolean counts;
    } rows[] = {
        { "vector-add", WS_MACHINE_COPY_OUT, TRUE },
        { "vector-add", WS_MACHINE_VECTOR_BYTES, TRUE },
        { "vector-add", WS_MACHINE_CUBE_MACS, FALSE },
        { "vector-add", WS_MACHINE_MOVE_BYTES, FALSE },
        { "cube-gemm", WS_MACHINE_CUBE_MACS, TRUE },
        { "cube-gemm", WS_MACHINE_MOVE_BYTES, TRUE },
        { "cube-gemm", WS_MACHINE_VECTOR_BYTES, FALSE },
    };
    for (guint i = 0; i < 2; i++) {
        const char *design = i ? "cube-gemm" : "vector-add";
        g_autofree char *text = NULL;
        const double two = cycles(design, NULL, 0, -1, 1, &text);
        g_assert_nonnull(strstr(text, "Not measured"));
        g_assert_nonnull(strstr(text, "One core is simulated"));
        g_assert_null(strstr(text, "TMA"));
        g_assert_cmpfloat(cycles(design, one, 1, -1, 1, NULL), >, two);
    }
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const double was = cycles(rows[i].design, NULL, 0, -1, 1, NULL),
                     now = cycles(rows[i].design, NULL, 0, (gint)rows[i].value, 1.0 / 64, NULL);
        g_assert_true(rows[i].counts ? now > 1.05 * was : fabs(now - was) < 1);
    }
}

/* A wait for what nobody sets stands still here, too. */
static void test_stuck(void)
{
    static const AscendChange change[] = {
        { "          { \"arrive\": \"free\", \"use\": \"s\" },\n", "" }
    };
    g_autofree char *source = ascend_text("vector-add", change, 1);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ascend_program(source, findings);
    g_autoptr(WsMachine) m = ws_machine_for(NULL, "ascend", NULL);
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, NULL, 0, FALSE, findings);
    g_autoptr(WsClockResult) r = ws_clock_run(p, v, m, NULL, findings);
    g_assert_true(r && r->stuck);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ascend/clock/machine", test_machine);
    g_test_add_func("/ascend/clock/designs", test_designs);
    g_test_add_func("/ascend/clock/stuck", test_stuck);
    return g_test_run();
}
