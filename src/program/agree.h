/* When a value that a kernel wrote agrees with its float64 reference: defined once for the runner
 * and the rehearsal. No GLib. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* What a reference says where its statement is `any`: NaN with a payload that no tensor's type
 * holds. */
#define WS_ANY_BITS UINT64_C(0x7ff800005741594e)

static inline double ws_any(void)
{
    const uint64_t bits = WS_ANY_BITS;
    double any;
    memcpy(&any, &bits, sizeof any);
    return any;
}

static inline bool ws_is_any(double want)
{
    uint64_t bits;
    memcpy(&bits, &want, sizeof bits);
    return bits == WS_ANY_BITS;
}

typedef struct {
    double error, allowed;
    bool agrees;
} WsAgreement;

/* |got - want| <= absolute + relative * |want|. An infinite reference has no neighbourhood: the
 * same infinity agrees and nothing else; a reference that is not a number agrees with nothing, but
 * `any` with everything. */
static inline WsAgreement ws_agree(double got, double want, double absolute, double relative)
{
    if (ws_is_any(want))
        return (WsAgreement){ 0, 0, true };
    if (!isfinite(want)) {
        const bool same = got == want;
        return (WsAgreement){ same ? 0 : INFINITY, 0, same };
    }
    const double error = isnan(got) ? INFINITY : fabs(got - want);
    const double allowed = absolute + relative * fabs(want);
    return (WsAgreement){ error, allowed, isfinite(error) && error <= allowed };
}
