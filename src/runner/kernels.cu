/* The runner's own small kernels. kernels.ptx is made from this file and committed, so that neither
 * nvcc nor CUDA headers are needed to build:
 *   nvcc -ptx -arch=compute_80 -fmad=false -I src -o src/runner/kernels.ptx src/runner/kernels.cu
 * then `.version` is lowered to 7.8 (nothing newer is used), for the widest range of drivers. */
#include "program/inputs.h"

typedef unsigned long long Word;

struct Layout {
    long long rank, extent[5], stride[5];
};

/* Element offset of a flat logical index. */
static __device__ long long offset_of(const Layout &l, long long flat)
{
    long long offset = 0;
#pragma unroll
    for (int d = 4; d >= 0; d--) {
        if (d < l.rank) {
            offset += flat % l.extent[d] * l.stride[d];
            flat /= l.extent[d];
        }
    }
    return offset;
}

static __device__ long long first_index()
{
    return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ long long index_step()
{
    return (long long)gridDim.x * blockDim.x;
}

extern "C" __global__ void ws_fill(void *base, long long n, const WsInputFill fill)
{
    for (long long i = first_index(); i < n; i += index_step())
        ws_input_put(base, fill.dtype, i, ws_input_encode(fill.dtype, ws_input_value(&fill, i)));
}

/* result[0] += elements that are not finite, result[1] = least flat index of one. */
extern "C" __global__ void ws_scan(const void *base, int dtype, const Layout layout, long long n,
                                   Word *result)
{
    for (long long i = first_index(); i < n; i += index_step()) {
        double v = ws_input_decode(dtype, ws_input_get(base, dtype, offset_of(layout, i)));
        if (!(v - v == 0)) {
            atomicAdd(&result[0], 1ull);
            atomicMin(&result[1], (Word)i);
        }
    }
}

/* result[0] += hash of the 32-bit words, independent of the order of evaluation; tail bytes of a
 * last incomplete word are read one by one. */
extern "C" __global__ void ws_hash(const void *base, long long bytes, Word *result)
{
    Word sum = 0;
    long long words = (bytes + 3) / 4;
    for (long long i = first_index(); i < words; i += index_step()) {
        unsigned w = 0;
        if (i * 4 + 4 <= bytes)
            w = ((const unsigned *)base)[i];
        else
            for (long long b = i * 4; b < bytes; b++)
                w |= (unsigned)((const unsigned char *)base)[b] << (8 * (b - i * 4));
        sum += ws_input_mix((Word)w + WS_INPUT_GOLDEN * (Word)(i + 1));
    }
    atomicAdd(result, sum);
}

/* out[i] = element of flat index at[i], as double. */
extern "C" __global__ void ws_gather(const void *base, int dtype, const Layout layout,
                                     const long long *at, double *out, long long n)
{
    for (long long i = first_index(); i < n; i += index_step())
        out[i] = ws_input_decode(dtype, ws_input_get(base, dtype, offset_of(layout, at[i])));
}

/* Runs one thread for `ns` nanoseconds: result = SM cycles, nanoseconds. */
extern "C" __global__ void ws_clock_probe(Word ns, Word *result)
{
    Word t0, t1, c0, c1, t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    do { /* begin at a tick of the timer */
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
    } while (t0 == t);
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(c0));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
    } while (t1 - t0 < ns);
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(c1));
    result[0] = c1 - c0;
    result[1] = t1 - t0;
}

static __device__ Word flag_of(const Word *at)
{
    Word v;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(at) : "memory");
    return v;
}

static __device__ Word timer()
{
    Word t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}

/* One thread on each of two GPUs: a number goes to the other one and back, `n` times. The first
 * writes when each left and came back, two words a round, the other one when it was there; a round
 * that did not come within a second ends the exchange, and the words of the rest stay as they were. */
extern "C" __global__ void ws_timers_meet(Word *mine, Word *theirs, int first, int n, Word *out)
{
    for (int i = 1; i <= n; i++) {
        const Word begun = timer();
        if (first)
            asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(theirs), "l"((Word)i)
                         : "memory");
        while (flag_of(mine) < (Word)i)
            if (timer() - begun > 1000000000ull)
                return;
        const Word here = timer();
        if (first) {
            out[2 * (i - 1)] = begun;
            out[2 * (i - 1) + 1] = here;
        } else {
            out[i - 1] = here;
            asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(theirs), "l"((Word)i)
                         : "memory");
        }
    }
}
