/* Inputs by seed, defined once for the GPU (the runner's fill kernel), the CPU rehearsal and tests.
 *
 * A value is a function of (seed, tensor index, element offset in memory): counter-based, no state,
 * integer hashing (SplitMix64) and exact double arithmetic only, so that the CPU and the GPU make
 * the same bits. `normal` is the sum of twelve 16-bit uniforms (Irwin-Hall: mean 0, variance 1,
 * |x| < 6). No GLib: included by C11, by C++ and by CUDA. */
#pragma once

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define WS_INPUT_FN static __host__ __device__ inline
#else
#define WS_INPUT_FN static inline
#endif

/* Same order and values as WsDtype (program.h). */
typedef enum {
#define WS_DTYPE(id, text, bytes, real) WS_INPUT_##id,
#include "program/dtype.def"
#undef WS_DTYPE
    WS_INPUT_TYPE_COUNT
} WsInputType;

/* Same order and values as WsDataKind (program.h). */
typedef enum {
    WS_INPUT_NORMAL,   /* mean 0, variance 1 */
    WS_INPUT_UNIFORM,  /* x <= v < y */
    WS_INPUT_INTEGERS, /* a <= v < b */
    WS_INPUT_ZEROS,
    WS_INPUT_INDICES, /* distinct integers of 0..a-1 along the last dimension, -1 with
                         probability y */
    WS_INPUT_OFFSETS, /* along the last dimension ascending from 0 to a, some equal */
    WS_INPUT_KIND_COUNT
} WsInputKind;

typedef struct {
    int32_t kind, dtype;
    uint64_t key; /* ws_input_key() */
    int64_t last; /* INDICES, OFFSETS: length of the last dimension, in elements */
    int64_t a, b; /* INTEGERS, INDICES, OFFSETS */
    double x, y;  /* UNIFORM, INDICES */
} WsInputFill;

/* SplitMix64 finaliser (Steele, Lea, Flood 2014). */
WS_INPUT_FN uint64_t ws_input_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

#define WS_INPUT_GOLDEN 0x9E3779B97F4A7C15ull

WS_INPUT_FN uint64_t ws_input_key(uint64_t seed, uint32_t tensor)
{
    return ws_input_mix(seed + WS_INPUT_GOLDEN * ((uint64_t)tensor + 1));
}

/* Word j (0..3) of the random words of element `index`. */
WS_INPUT_FN uint64_t ws_input_word(uint64_t key, uint64_t index, uint32_t j)
{
    return ws_input_mix(key + WS_INPUT_GOLDEN * (index * 4 + j + 1));
}

/* Bijection on 0..n-1: four-round Feistel network on the next power of four, cycle-walked. */
WS_INPUT_FN uint64_t ws_input_permute(uint64_t key, uint64_t n, uint64_t i)
{
    uint32_t half = 1;
    while (half < 31 && (1ull << (2 * half)) < n)
        half++;
    uint64_t mask = (1ull << half) - 1;
    do {
        uint64_t l = i >> half, r = i & mask;
        for (uint32_t round = 0; round < 4; round++) {
            uint64_t t = l ^ (ws_input_mix(key + WS_INPUT_GOLDEN * (r * 4 + round + 1)) & mask);
            l = r;
            r = t;
        }
        i = l << half | r;
    } while (i >= n);
    return i;
}

/* Sum of the first n distances of a row of offsets: a quarter of them is 0. */
WS_INPUT_FN uint64_t ws_input_distances(uint64_t key, uint64_t row, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t w = ws_input_word(ws_input_mix(key ^ row), i, 0);
        sum += w >> 62 ? w & 0xfff : 0;
    }
    return sum;
}

/* The value of the element at `index` (offset in memory, in elements) before it is rounded. */
WS_INPUT_FN double ws_input_value(const WsInputFill *f, uint64_t index)
{
    uint64_t w = ws_input_word(f->key, index, 0);
    switch (f->kind) {
    case WS_INPUT_NORMAL: {
        int64_t sum = 0;
        for (uint32_t j = 0; j < 3; j++) {
            uint64_t u = ws_input_word(f->key, index, j);
            sum += (int64_t)(u & 0xffff) + (int64_t)(u >> 16 & 0xffff) +
                   (int64_t)(u >> 32 & 0xffff) + (int64_t)(u >> 48);
        }
        return (double)(sum - 393210) / 65536.0;
    }
    case WS_INPUT_UNIFORM: {
        double u = (double)(w >> 32) / 4294967296.0;
        double span = f->y - f->x;
        double part = span * u;
        return f->x + part;
    }
    case WS_INPUT_INTEGERS: {
        uint64_t span = f->b > f->a ? (uint64_t)f->b - (uint64_t)f->a : 1;
        return (double)(int64_t)((uint64_t)f->a + w % span);
    }
    case WS_INPUT_INDICES: {
        uint64_t last = f->last > 0 ? (uint64_t)f->last : 1;
        uint64_t row = index / last, column = index % last;
        double u = (double)(w >> 32) / 4294967296.0;
        if (f->a <= 0 || column >= (uint64_t)f->a || u < f->y)
            return -1;
        return (double)ws_input_permute(ws_input_mix(f->key ^ row), (uint64_t)f->a, column);
    }
    case WS_INPUT_OFFSETS: {
        uint64_t last = f->last > 0 ? (uint64_t)f->last : 1;
        uint64_t row = index / last, column = index % last;
        uint64_t all = ws_input_distances(f->key, row, last - 1);
        if (f->a <= 0 || column == 0)
            return 0;
        if (column == last - 1 || all == 0)
            return column == last - 1 ? (double)f->a : 0;
        /* 32 bits of n, 12 of a distance: up to 2^19 distances */
        return (double)((uint64_t)f->a * ws_input_distances(f->key, row, column) / all);
    }
    default:
        return 0;
    }
}

/* --- rounding to a dtype (nearest even; fp8 saturating) and back ------------------------------ */

/* A double as a float of 1 + ebits + mbits bits. `top`: largest finite pattern; `over`: pattern of
 * what lies beyond it (infinity, or `top` where the type saturates). */
WS_INPUT_FN uint32_t ws_input_pack(double v, int ebits, int mbits, uint32_t top, uint32_t over)
{
    uint64_t d;
    memcpy(&d, &v, 8);
    uint32_t sign = (uint32_t)(d >> 63) << (ebits + mbits);
    int e = (int)(d >> 52 & 0x7ff);
    if (e == 0x7ff && (d & 0xFFFFFFFFFFFFFull))
        return sign | ((1u << (ebits + mbits)) - 1);
    if (e == 0)
        return sign;
    int x = e - 1023 + (1 << (ebits - 1)) - 1;
    if (e == 0x7ff || x >= 1 << ebits)
        return sign | over;
    uint64_t full = 1ull << 52 | (d & 0xFFFFFFFFFFFFFull);
    int shift = 52 - mbits;
    if (x < 1) {
        shift += 1 - x;
        x = 1;
        if (shift > 54)
            return sign;
    }
    uint64_t q = full >> shift, rest = full & ((1ull << shift) - 1), half = 1ull << (shift - 1);
    if (rest > half || (rest == half && (q & 1)))
        q++;
    uint32_t bits = (uint32_t)(((uint64_t)(x - 1) << mbits) + q);
    return sign | (bits > top ? over : bits);
}

WS_INPUT_FN double ws_input_unpack(uint32_t bits, int ebits, int mbits, int has_inf)
{
    uint32_t m = bits & ((1u << mbits) - 1), e = bits >> mbits & ((1u << ebits) - 1);
    uint64_t sign = (uint64_t)(bits >> (ebits + mbits) & 1) << 63, d;
    int bias = (1 << (ebits - 1)) - 1;
    double v;
    if (e == (1u << ebits) - 1 && (has_inf || m == (1u << mbits) - 1)) {
        d = sign | 0x7ffull << 52 | (m ? 1ull << 51 : 0);
        memcpy(&v, &d, 8);
        return v;
    }
    /* m * 2^(e - bias - mbits), implicit bit for normals: exact in double. */
    d = (uint64_t)((e ? (int)e : 1) - bias - mbits + 1023) << 52;
    memcpy(&v, &d, 8);
    v *= (double)(e ? m | 1u << mbits : m);
    return sign ? -v : v;
}

/* The stored pattern of `v`, in the low bytes. */
WS_INPUT_FN uint32_t ws_input_encode(int32_t dtype, double v)
{
    switch (dtype) {
    case WS_INPUT_F16:
        return ws_input_pack(v, 5, 10, 0x7bff, 0x7c00);
    case WS_INPUT_BF16:
        return ws_input_pack(v, 8, 7, 0x7f7f, 0x7f80);
    case WS_INPUT_TF32:
        return ws_input_pack(v, 8, 10, 0x3fbff, 0x3fc00) << 13;
    case WS_INPUT_E4M3:
        return ws_input_pack(v, 4, 3, 0x7e, 0x7e);
    case WS_INPUT_E5M2:
        return ws_input_pack(v, 5, 2, 0x7b, 0x7b);
    case WS_INPUT_F32:
        return ws_input_pack(v, 8, 23, 0x7f7fffff, 0x7f800000);
    default:
        return (uint32_t)(int64_t)v; /* integers: the low bytes */
    }
}

WS_INPUT_FN double ws_input_decode(int32_t dtype, uint32_t bits)
{
    switch (dtype) {
    case WS_INPUT_F16:
        return ws_input_unpack(bits, 5, 10, 1);
    case WS_INPUT_BF16:
        return ws_input_unpack(bits, 8, 7, 1);
    case WS_INPUT_TF32:
    case WS_INPUT_F32:
        return ws_input_unpack(bits, 8, 23, 1);
    case WS_INPUT_E4M3:
        return ws_input_unpack(bits, 4, 3, 0);
    case WS_INPUT_E5M2:
        return ws_input_unpack(bits, 5, 2, 1);
    case WS_INPUT_I8:
        return (double)(int8_t)bits;
    case WS_INPUT_U8:
        return (double)(uint8_t)bits;
    default:
        return (double)(int32_t)bits;
    }
}

WS_INPUT_FN uint32_t ws_input_bytes(int32_t dtype)
{
    switch (dtype) {
#define WS_DTYPE(id, text, bytes, real)                                                            \
    case WS_INPUT_##id:                                                                            \
        return bytes;
#include "program/dtype.def"
#undef WS_DTYPE
    default:
        return 0;
    }
}

/* Reads and writes one element of an array of `dtype` (little-endian). */
WS_INPUT_FN uint32_t ws_input_get(const void *base, int32_t dtype, uint64_t index)
{
    switch (ws_input_bytes(dtype)) {
    case 1:
        return ((const uint8_t *)base)[index];
    case 2:
        return ((const uint16_t *)base)[index];
    default:
        return ((const uint32_t *)base)[index];
    }
}

WS_INPUT_FN void ws_input_put(void *base, int32_t dtype, uint64_t index, uint32_t bits)
{
    switch (ws_input_bytes(dtype)) {
    case 1:
        ((uint8_t *)base)[index] = (uint8_t)bits;
        break;
    case 2:
        ((uint16_t *)base)[index] = (uint16_t)bits;
        break;
    default:
        ((uint32_t *)base)[index] = bits;
    }
}

/* Fills `n` elements from offset 0. */
WS_INPUT_FN void ws_input_fill(void *base, const WsInputFill *f, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        ws_input_put(base, f->dtype, i, ws_input_encode(f->dtype, ws_input_value(f, i)));
}
