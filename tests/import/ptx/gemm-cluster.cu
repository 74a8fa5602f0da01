// C = A * B^T in bf16 by hand for sm_90a: two CTAs of a cluster share one tile of B, each loads a
// half and multicasts it; consumers free a slot in both. gemm-cluster.ptx beside it is what nvcc
// makes of it:
//   nvcc -O3 -std=c++17 -arch=compute_90a -ptx gemm-cluster.cu -o gemm-cluster.ptx
#include <cstdint>
#include <cuda.h>
#include <cuda_bf16.h>

constexpr int BM = 128, BN = 128, BK = 64, STAGES = 4;
constexpr int A_BYTES = BM * BK * 2, B_BYTES = BN * BK * 2;

__device__ __forceinline__ void wait(uint32_t barrier, uint32_t parity)
{
    asm volatile("{\n\t.reg .pred done;\n"
                 "again:\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n\t"
                 "@!done bra again;\n\t}" ::"r"(barrier), "r"(parity) : "memory");
}

__device__ __forceinline__ void arrive(uint32_t barrier, uint32_t cta)
{
    asm volatile("{\n\t.reg .b32 there;\n\tmapa.shared::cluster.u32 there, %0, %1;\n\t"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n\t}" ::"r"(barrier),
                 "r"(cta) : "memory");
}

__device__ __forceinline__ void load(uint32_t to, const CUtensorMap *map, int x, int y, uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier) : "memory");
}

__device__ __forceinline__ void load_all(uint32_t to, const CUtensorMap *map, int x, int y, uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier),
                 "h"((uint16_t)3) : "memory");
}

__device__ __forceinline__ uint64_t descriptor(uint32_t address)
{
    return (uint64_t)((address & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

#define F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define F16(i) F4(i), F4(i + 4), F4(i + 8), F4(i + 12)

__device__ __forceinline__ void multiply(float (&d)[64], uint64_t a, uint64_t b, int keep)
{
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %66, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
                 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"
                 "%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
                 "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, p, 1, 1, 0, 0;\n\t}"
                 : F16(0), F16(16), F16(32), F16(48) : "l"(a), "l"(b), "r"(keep));
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         float *c, int tiles_n, int steps, int n)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    __shared__ __align__(8) uint64_t barriers[2 * STAGES];
    const uint32_t a = (uint32_t)__cvta_generic_to_shared(smem), b = a + STAGES * A_BYTES;
    const uint32_t full = (uint32_t)__cvta_generic_to_shared(barriers), empty = full + 8 * STAGES;
    const int group = threadIdx.x / 128, lane = threadIdx.x % 128;
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * s));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" ::"r"(empty + 8 * s));
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    const int tile = blockIdx.x / 2, row = (tile / tiles_n * 2 + rank) * BM, column = tile % tiles_n * BN;
    if (group == 0) {
        if (lane == 0) {
            int stage = 0, phase = 1;
#pragma unroll 1
            for (int k = 0; k < steps; k++) {
                wait(empty + 8 * stage, phase);
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                             ::"r"(full + 8 * stage), "r"(A_BYTES + B_BYTES) : "memory");
                load(a + stage * A_BYTES, &map_a, k * BK, row, full + 8 * stage);
                load_all(b + stage * B_BYTES + rank * (B_BYTES / 2), &map_b, k * BK, column + rank * (BN / 2),
                         full + 8 * stage);
                if (++stage == STAGES)
                    stage = 0, phase ^= 1;
            }
        }
    } else {
        float d[64];
        int stage = 0, phase = 0;
#pragma unroll 1
        for (int k = 0; k < steps; k++) {
            wait(full + 8 * stage, phase);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            const uint64_t da = descriptor(a + stage * A_BYTES + (group - 1) * 64 * 128);
            const uint64_t db = descriptor(b + stage * B_BYTES);
            multiply(d, da, db, k > 0);
            multiply(d, da + 2, db + 2, 1);
            multiply(d, da + 4, db + 4, 1);
            multiply(d, da + 6, db + 6, 1);
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            if (lane == 0) {
                arrive(empty + 8 * stage, 0);
                arrive(empty + 8 * stage, 1);
            }
            if (++stage == STAGES)
                stage = 0, phase ^= 1;
        }
        const int warp = lane / 32, l = lane % 32;
        float *to = c + (size_t)(row + (group - 1) * 64 + warp * 16 + l / 4) * n + column + l % 4 * 2;
#pragma unroll
        for (int i = 0; i < 16; i++) {
            *(float2 *)(to + i * 8) = make_float2(d[i * 4], d[i * 4 + 1]);
            *(float2 *)(to + 8 * (size_t)n + i * 8) = make_float2(d[i * 4 + 2], d[i * 4 + 3]);
        }
    }
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
