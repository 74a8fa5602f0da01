/* bf16 on the host, and inputs for the packages' tests. */
#pragma once

#include <stdint.h>
#include <string.h>

static inline uint16_t bf16_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static inline float float_of(uint16_t b)
{
    uint32_t u = (uint32_t)b << 16;
    float x;
    memcpy(&x, &u, 4);
    return x;
}

/* Sum of four uniform numbers: near normal, variance 1. */
static inline float draw(uint64_t *state)
{
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (float)(*state >> 40) / 16777216.0f - 0.5f;
    }
    return sum * 1.7320508f;
}

static inline void fill(uint16_t *x, size_t n, uint64_t seed)
{
    uint64_t state = seed * 2654435761u + 1;
    for (size_t i = 0; i < n; i++)
        x[i] = bf16_of(draw(&state));
}
