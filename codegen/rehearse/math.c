/* The approximate functions of the GPU, with denormals flushed as they do. */
#include "codegen/rehearse/host.h"

#include <float.h>
#include <math.h>
#include <string.h>

static float flushed(float x)
{
    return fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}

float wsh_ex2(float x)
{
    return flushed(exp2f(flushed(x)));
}

float wsh_ex2_poly(float x)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23: the integer part ends up in the low bits */
    x = fmaxf(x, -127);
    float t = x + magic, f = x - (t - magic);
    float p = fmaf(f, 0x1.c2a248p-5f, 0x1.f00c7cp-3f);
    p = fmaf(fmaf(p, f, 0x1.62f5fcp-1f), f, 1);
    guint32 i, r;
    memcpy(&i, &t, sizeof i);
    memcpy(&r, &p, sizeof r);
    r += i << 23;
    memcpy(&p, &r, sizeof r);
    return p;
}

void wsh_hold(float x) /* the order of this machine is that of the program */
{
    (void)x;
}

void wsh_stay(guint32 tiles)
{
    (void)tiles;
}

float wsh_lg2(float x)
{
    return flushed(log2f(flushed(x)));
}

float wsh_rcp(float x)
{
    return flushed(1 / flushed(x));
}

float wsh_sqrt(float x)
{
    return flushed(sqrtf(flushed(x)));
}

float wsh_tanh(float x)
{
    return tanhf(x);
}

/* Nearest integer, ties to even; saturates, NaN gives 0. */
guint32 wsh_cvt_rni(float x)
{
    if (isnan(x))
        return 0;
    if (x >= 0x1p31f)
        return G_MAXINT32;
    return x <= -0x1p31f ? (guint32)G_MININT32 : (guint32)(gint32)rintf(x);
}
