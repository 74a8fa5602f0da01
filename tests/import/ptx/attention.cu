// O = softmax(Q K^T) V, D = 64, without the scaling by the largest: one loader warp, one warp group
// whose second product takes its left operand from registers. attention.ptx beside it is what nvcc
// makes of it:
//   nvcc -O3 -std=c++17 -arch=compute_90a -ptx attention.cu -o attention.ptx
#include <cstdint>
#include <cuda.h>
#include <cuda_fp16.h>

constexpr int BN = 64, D = 64, STAGES = 2, BYTES = 64 * 64 * 2;

__device__ __forceinline__ void wait(uint32_t barrier, uint32_t parity)
{
    asm volatile("{\n\t.reg .pred done;\n"
                 "again:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
                 "@!done bra again;\n\t}" ::"r"(barrier), "r"(parity) : "memory");
}

__device__ __forceinline__ void load(uint32_t to, const CUtensorMap *map, int x, int y, uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier) : "memory");
}

__device__ __forceinline__ void expect(uint32_t barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ uint64_t descriptor(uint32_t address)
{
    return (uint64_t)((address & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

#define F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define F16(i) F4(i), F4(i + 4), F4(i + 8), F4(i + 12)
#define SUMS "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"

__device__ __forceinline__ void scores(float (&d)[32], uint64_t a, uint64_t b, int keep)
{
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %34, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " SUMS ", %32, %33, p, 1, 1, 0, 0;\n\t}"
                 : F16(0), F16(16) : "l"(a), "l"(b), "r"(keep));
}

__device__ __forceinline__ void values(float (&d)[32], const uint32_t *a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " SUMS ", {%32,%33,%34,%35}, %36, 1, 1, 1, 1;"
                 : F16(0), F16(16) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

extern "C" __global__ void __launch_bounds__(256, 1)
    attention(const __grid_constant__ CUtensorMap map_q, const __grid_constant__ CUtensorMap map_k,
              const __grid_constant__ CUtensorMap map_v, float *o, int blocks)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    const uint32_t q = (uint32_t)__cvta_generic_to_shared(smem), k = q + BYTES, v = k + STAGES * BYTES;
    const uint32_t q_full = v + STAGES * BYTES, full = q_full + 8, empty = full + 8 * STAGES;
    const int group = threadIdx.x / 128, lane = threadIdx.x % 128, row = blockIdx.x * 64;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(q_full));
        for (int s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * s));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(empty + 8 * s));
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (lane != 0)
            return;
        expect(q_full, BYTES);
        load(q, &map_q, 0, row, q_full);
#pragma unroll 1
        for (int j = 0; j < blocks; j++) {
            wait(empty + 8 * (j % STAGES), j / STAGES % 2 ^ 1);
            expect(full + 8 * (j % STAGES), 2 * BYTES);
            load(k + j % STAGES * BYTES, &map_k, 0, j * BN, full + 8 * (j % STAGES));
            load(v + j % STAGES * BYTES, &map_v, 0, j * BN, full + 8 * (j % STAGES));
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 216;");
    float acc[32] = {}, s[32], sum[2] = {};
    wait(q_full, 0);
#pragma unroll 1
    for (int j = 0; j < blocks; j++) {
        const uint64_t dq = descriptor(q), dk = descriptor(k + j % STAGES * BYTES);
        const uint64_t dv = descriptor(v + j % STAGES * BYTES);
        uint32_t p[16];
        wait(full + 8 * (j % STAGES), j / STAGES % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        scores(s, dq, dk, 0);
        scores(s, dq + 2, dk + 2, 1);
        scores(s, dq + 4, dk + 4, 1);
        scores(s, dq + 6, dk + 6, 1);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
        for (int i = 0; i < 32; i += 2) {
            s[i] = exp2f(s[i]), s[i + 1] = exp2f(s[i + 1]);
            sum[i / 2 % 2] += s[i] + s[i + 1];
            const half2 h = __floats2half2_rn(s[i], s[i + 1]);
            p[i / 2] = *(const uint32_t *)&h;
        }
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < 4; i++)
            values(acc, p + 4 * i, dv + i * 128);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (lane == 0)
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(empty + 8 * (j % STAGES)) : "memory");
    }
    const int warp = lane / 32, l = lane % 32;
    float *to = o + (size_t)(row + warp * 16 + l / 4) * D + l % 4 * 2;
    for (int h = 0; h < 2; h++)
        sum[h] += __shfl_xor_sync(~0u, sum[h], 1), sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        *(float2 *)(to + i * 8) = make_float2(acc[i * 4] / sum[0], acc[i * 4 + 1] / sum[0]);
        *(float2 *)(to + 8 * D + i * 8) = make_float2(acc[i * 4 + 2] / sum[1], acc[i * 4 + 3] / sum[1]);
    }
}
