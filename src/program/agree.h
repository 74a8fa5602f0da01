/* When a value that a kernel wrote agrees with its float64 reference: defined once for the runner
 * and the rehearsal. No GLib. */
#pragma once

#include <math.h>
#include <stdbool.h>

typedef struct {
    double error, allowed;
    bool agrees;
} WsAgreement;

/* |got - want| <= absolute + relative * |want|. An infinite reference has no neighbourhood: the
 * same infinity agrees and nothing else; a reference that is not a number agrees with nothing. */
static inline WsAgreement ws_agree(double got, double want, double absolute, double relative)
{
    if (!isfinite(want)) {
        const bool same = got == want;
        return (WsAgreement){ same ? 0 : INFINITY, 0, same };
    }
    const double error = isnan(got) ? INFINITY : fabs(got - want);
    const double allowed = absolute + relative * fabs(want);
    return (WsAgreement){ error, allowed, isfinite(error) && error <= allowed };
}
