/* The approximate functions of the GPU, with denormals flushed as they do. */
#include "codegen/rehearse/host.h"

#include <float.h>
#include <math.h>

static float flushed(float x)
{
    return fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}

float wsh_ex2(float x)
{
    return flushed(exp2f(flushed(x)));
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
