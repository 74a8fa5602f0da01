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
}

void wsh_stay(guint32 tiles)
{
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

float wsh_rsqrt(float x)
{
    return flushed(1 / sqrtf(flushed(x)));
}

float wsh_floor(float x)
{
    return floorf(x);
}

float wsh_ceil(float x)
{
    return ceilf(x);
}

/* c[0] x^n + … + c[n] with one rounding per step, as the rows of prim.def do it. */
static float horner(float x, guint n, const float *c)
{
    float sum = c[0];
    for (guint i = 1; i <= n; i++)
        sum = fmaf(sum, x, c[i]);
    return sum;
}

float wsh_erf(float x)
{
    static const float near[] = { 0x1.496948p-14f, -0x1.a3f6a8p-11f, 0x1.5405a6p-8f,
                                  -0x1.b7f90cp-6f, 0x1.ce2cf8p-4f,   -0x1.81273ep-2f,
                                  0x1.06eba8p-3f };
    static const float far[] = { 0x1.18c354p-12f, -0x1.15f438p-8f, 0x1.01b76ap-5f,  -0x1.30716p-3f,
                                 -0x1.d76e2ep-1f, -0x1.a04p+0f,    -0x1.0b5cd2p-11f };
    float a = fabsf(x);
    if (!(a >= 1))
        return fmaf(horner(x * x, 6, near), x, x);
    return copysignf(1 - wsh_ex2(horner(fminf(a, 4), 6, far)), x);
}

/* From 2^17 on: the 24 bits of x times 96 bits of 2/pi, the last 30 of which and the two in front
 * of them are the quadrant and what is left of it. */
static float reduced_far(float x, guint32 *quadrant)
{
    static const guint32 bits_of[] = { 0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                       0xf534ddc0, 0xdb629599, 0x3c439041 };
    guint32 i;
    memcpy(&i, &x, sizeof i);
    guint32 m = i << 8 | 0x80000000u, e = (i >> 23 & 255) - 128, s = e & 31, w[3];
    for (guint k = 0; k < 3; k++)
        w[k] = (guint32)(((guint64)bits_of[e / 32 + k] << 32 | bits_of[e / 32 + k + 1]) << s >> 32);
    guint64 low = (guint64)m * w[1] + ((guint64)m * w[2] >> 32);
    guint32 high = m * w[0] + (guint32)(low >> 32);
    gint64 part = (gint64)(((guint64)high << 32 | (guint32)low) << 2);
    float r = (float)((double)part * 0x1.921fb54442d18p-64);
    *quadrant = (high >> 30) + (high >> 29 & 1);
    if (x < 0)
        *quadrant = 0 - *quadrant;
    return x < 0 ? -r : r;
}

static float turned(float x, guint32 more)
{
    static const float sine[] = { 0x1.6cb7fp-19f, -0x1.a00f12p-13f, 0x1.111108p-7f,
                                  -0x1.555556p-3f };
    static const float cosine[] = { 0x1.9910ep-16f, -0x1.6c07eap-10f, 0x1.55553cp-5f, -0.5f, 1 };
    guint32 q;
    float a = fabsf(x), r;
    if (a >= 0x1p17f && a < INFINITY) {
        r = reduced_far(x, &q);
    } else {
        float t = fmaf(x, 0x1.45f306p-1f, 12582912.0f), n = t - 12582912.0f;
        memcpy(&q, &t, sizeof q);
        r = fmaf(n, -0x1.921fb4p+0f, x);
        r = fmaf(n, -0x1.4442dp-24f, r);
        r = fmaf(n, -0x1.846988p-48f, r);
    }
    q += more;
    float s = r * r, p = horner(s, 3, sine) * s;
    float v = q & 1 ? horner(s, 4, cosine) : fmaf(p, r, r);
    return q & 2 ? -v : v;
}

float wsh_sin(float x)
{
    return turned(x, 0);
}

float wsh_cos(float x)
{
    return turned(x, 1);
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
