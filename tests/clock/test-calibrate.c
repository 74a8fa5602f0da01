/* Calibration finds the value that a machine has by what the clock measures on it. */
#include "clock/calibrate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <math.h>
#include <string.h>

static WsProgram *program_of(const WsCalibrateRow *row, WsFindings *findings)
{
    const char *text = ws_calibrate_design(row->design);
    g_assert_nonnull(text);
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), row->design, findings);
    g_assert_nonnull(design);
    g_auto(GStrv) word = g_strsplit(row->set, " ", -1);
    g_autoptr(GArray) set = g_array_new(FALSE, FALSE, sizeof(WsSetting));
    for (guint i = 0; word[i]; i++) {
        char *equals = strchr(word[i], '=');
        *equals = '\0';
        WsSetting s = { word[i], g_ascii_strtoll(equals + 1, NULL, 10) };
        g_array_append_val(set, s);
    }
    WsProgram *p = ws_elaborate(design, (WsSetting *)set->data, set->len, findings);
    g_assert_nonnull(p);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
    return p;
}

/* Another machine, a little slower or quicker: each row brings its value back, with its source.
 * (Much quicker, something else would limit the design.) */
static void values_come_back(void)
{
    static const double factor[] = { 0.7, 1.15 };
    guint n;
    const WsCalibrateRow *row = ws_calibrate_rows(&n);
    g_assert_cmpuint(n, >=, 12);
    for (guint i = 0; i < n; i++)
        for (guint k = 0; k < G_N_ELEMENTS(factor); k++) {
            g_autoptr(WsFindings) findings = ws_findings_new();
            g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL),
                                 other = ws_machine_load(NULL, NULL);
            g_autoptr(WsProgram) p = program_of(&row[i], findings);
            double truth = m->value[row[i].value] * factor[k];
            ws_machine_set(other, row[i].value, truth, "truth");
            g_autoptr(WsMachine) there = ws_machine_at(other, 1.98);
            double period = ws_calibrate_period(&row[i], p, there, findings);
            double as_shipped = ws_calibrate_period(&row[i], p, m, findings);
            if (fabs(period / as_shipped - 1) < 0.01)
                g_error("%s does not show in %s %s", ws_machine_key(row[i].value), row[i].design,
                        row[i].set);
            if (!ws_calibrate_fit(&row[i], p, period, 1.98, m, "fitted", findings))
                g_error("%s: no value for %g cycles", ws_machine_key(row[i].value), period);
            if (fabs(m->value[row[i].value] / truth - 1) > 0.03)
                g_error("%s: %g instead of %g", ws_machine_key(row[i].value),
                        m->value[row[i].value], truth);
            g_assert_cmpstr(m->source[row[i].value], ==, "fitted");
        }
}

/* A period that no value gives leaves the description as it was. */
static void out_of_reach(void)
{
    guint n;
    const WsCalibrateRow *row = ws_calibrate_rows(&n);
    for (guint i = 0; i < n; i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
        g_autoptr(WsProgram) p = program_of(&row[i], findings);
        double was = m->value[row[i].value];
        const double impossible[] = { 1e12, 0.0, -5, NAN };
        for (guint k = 0; k < G_N_ELEMENTS(impossible); k++)
            g_assert_false(ws_calibrate_fit(&row[i], p, impossible[k], 1.98, m, "never", findings));
        g_assert_cmpfloat(m->value[row[i].value], ==, was);
        g_assert_cmpstr(m->source[row[i].value], !=, "never");
    }
}

/* Memory keeps its own clock. */
static void other_clock(void)
{
    g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL), twice = NULL;
    twice = ws_machine_at(m, 2 * m->value[WS_MACHINE_GHZ]);
    g_assert_cmpfloat_with_epsilon(twice->value[WS_MACHINE_HBM_BYTES],
                                   m->value[WS_MACHINE_HBM_BYTES] / 2, 1e-9);
    g_assert_cmpfloat(twice->value[WS_MACHINE_TMA_BYTES], ==, m->value[WS_MACHINE_TMA_BYTES]);
    /* memory adds a time */
    g_assert_cmpfloat_with_epsilon(
        twice->value[WS_MACHINE_TMA_LATENCY_HBM] - twice->value[WS_MACHINE_TMA_LATENCY],
        2 * (m->value[WS_MACHINE_TMA_LATENCY_HBM] - m->value[WS_MACHINE_TMA_LATENCY]), 1e-9);
    g_assert_cmpstr(twice->source[WS_MACHINE_TMA_BYTES], ==, m->source[WS_MACHINE_TMA_BYTES]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/calibrate/values-come-back", values_come_back);
    g_test_add_func("/calibrate/out-of-reach", out_of_reach);
    g_test_add_func("/calibrate/other-clock", other_clock);
    return g_test_run();
}
