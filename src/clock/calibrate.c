/* Adjusting a machine description to measured periods. */
#include "clock/calibrate.h"
#include "model/findings.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include <math.h>
#include <string.h>

/* static const char calibrate_NAME[], from resources/calibrate/NAME.wstave */
#include "clock/calibrate_barrier.inc"
#include "clock/calibrate_cluster.inc"
#include "clock/calibrate_link.inc"
#include "clock/calibrate_load.inc"
#include "clock/calibrate_math.inc"
#include "clock/calibrate_mma-bf16.inc"
#include "clock/calibrate_signal.inc"
#include "clock/calibrate_store.inc"

#define STEPS  40    /* halvings of the interval, on a logarithmic scale */
#define CLOSE  0.002 /* of the period */
#define PLAYED 60    /* rounds that the clock plays between n0' and n1': it is steady sooner */

static const WsCalibrateRow rows[] = {
#define WS_CALIBRATE(value, design, set, size, devices, n0, n1, least, most)                       \
    { WS_MACHINE_##value, design, set, size, devices, n0, n1, least, most },
#include "clock/calibrate.def"
#undef WS_CALIBRATE
};

const WsCalibrateRow *ws_calibrate_rows(guint *n)
{
    *n = G_N_ELEMENTS(rows);
    return rows;
}

const char *ws_calibrate_design(const char *name)
{
    static const struct {
        const char *name, *text;
    } designs[] = {
        { "barrier", calibrate_barrier }, { "cluster", calibrate_cluster },
        { "link", calibrate_link },       { "load", calibrate_load },
        { "math", calibrate_math },       { "mma-bf16", calibrate_mma },
        { "signal", calibrate_signal },   { "store", calibrate_store },
    };
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++)
        if (strcmp(designs[i].name, name) == 0)
            return designs[i].text;
    return NULL;
}

/* Cycles of a launch of `rounds` rounds; NAN. */
static double cycles(const WsCalibrateRow *row, const WsProgram *p, const WsMachine *m,
                     gint64 rounds, WsFindings *findings)
{
    g_auto(GStrv) word = g_strsplit(row->size, " ", -1);
    g_autoptr(GArray) size = g_array_new(FALSE, FALSE, sizeof(WsSize));
    WsSize n = { "ROUNDS", rounds };
    g_array_append_val(size, n);
    for (guint i = 0; word[i]; i++) {
        char *equals = strchr(word[i], '=');
        *equals = '\0';
        WsSize s = { word[i], g_ascii_strtoll(equals + 1, NULL, 10) };
        g_array_append_val(size, s);
    }
    g_autoptr(WsLaunchValues) v =
        ws_launch_values(p, (WsSize *)size->data, size->len, FALSE, findings);
    if (!v)
        return NAN;
    const WsClockOptions options = { .no_trace = TRUE };
    g_autoptr(WsClockResult) r = ws_clock_run(p, v, m, &options, findings);
    /* What is counted here is the play: the floor of the memory traffic knows no rounds. */
    return r && !ws_findings_count(findings, WS_SEVERITY_ERROR) ? (double)r->played : NAN;
}

double ws_calibrate_period(const WsCalibrateRow *row, const WsProgram *p, const WsMachine *m,
                           WsFindings *findings)
{
    double a = cycles(row, p, m, PLAYED, findings), b = cycles(row, p, m, 2 * PLAYED, findings);
    return (b - a) / PLAYED;
}

static double period_with(const WsCalibrateRow *row, const WsProgram *p, const WsMachine *m,
                          double value, double ghz, WsFindings *findings)
{
    g_autoptr(WsMachine) with = ws_machine_at(m, m->value[WS_MACHINE_GHZ]);
    ws_machine_set(with, row->value, value, NULL);
    g_autoptr(WsMachine) there = ws_machine_at(with, ghz);
    return ws_calibrate_period(row, p, there, findings);
}

gboolean ws_calibrate_fit(const WsCalibrateRow *row, const WsProgram *p, double measured,
                          double ghz, WsMachine *m, const char *source, WsFindings *findings)
{
    double low = row->least, high = row->most;
    double at_low = period_with(row, p, m, low, ghz, findings);
    double at_high = period_with(row, p, m, high, ghz, findings);
    if (isnan(at_low) || isnan(at_high) || !(measured > 0))
        return FALSE;
    gboolean falls = at_high < at_low; /* a rate: more of it takes less time */
    for (guint i = 0; i < STEPS; i++) {
        double middle = sqrt(low * high);
        double now = period_with(row, p, m, middle, ghz, findings);
        if ((now > measured) == falls)
            low = middle;
        else
            high = middle;
    }
    double value = sqrt(low * high);
    double reached = period_with(row, p, m, value, ghz, findings);
    if (isnan(reached) || fabs(reached / measured - 1) > CLOSE + 1 / measured)
        return FALSE;
    ws_machine_set(m, row->value, value, source);
    return TRUE;
}
