/* The engine clock that the power limit of a GPU leaves: matrix units at work cost power that grows
 * with a power of the clock, bytes from beyond a die cost energy each, the rest is constant. */
#include "clock/result.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "target/target.h"

#include <math.h>

#define LEAST_GHZ 1e-3
#define STEPS     60

/* Watts at an engine clock: `busy` of the matrix units' time, `far` bytes a cycle from beyond the
 * dies. */
static double power(const double *m, double ghz, double busy, double far)
{
    const double tb_per_s = far * ghz / 1e3;
    return m[WS_MACHINE_POWER_REST] + m[WS_MACHINE_POWER_FAR] * tb_per_s +
           m[WS_MACHINE_POWER_MATRIX] * busy * pow(ghz, m[WS_MACHINE_POWER_EXPONENT]);
}

double ws_clock_power_ghz(const WsMachine *machine, double busy, double far)
{
    const double *m = machine->value, most = m[WS_MACHINE_GHZ], limit = m[WS_MACHINE_POWER_LIMIT];
    if (!(limit > 0) || power(m, most, busy, far) <= limit)
        return most;
    double low = MIN(LEAST_GHZ, most), high = most;
    for (guint i = 0; i < STEPS; i++) {
        const double mid = (low + high) / 2;
        *(power(m, mid, busy, far) <= limit ? &low : &high) = mid;
    }
    return low;
}

/* Launches follow each other: what counts is the mean over one of them and over all CUs. */
double ws_clock_play_ghz(const WsClockPlay *play, const WsClockResult *r)
{
    const double *m = play->m->value;
    const WsSm *sm = &play->sm[0];
    const double all = (double)MAX(r->cycles, 1),
                 tiles = (double)ws_launch_tiles(play->v) / (double)MAX(r->tiles_played, 1);
    const double busy = MIN(sm->tensor.busy * tiles / (all * m[WS_MACHINE_SMS]), 1);
    return ws_clock_power_ghz(play->m, busy, sm->hbm.busy * play->far_rate * tiles / all);
}
