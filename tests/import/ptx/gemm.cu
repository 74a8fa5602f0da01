// C = A * B^T in bf16 by hand for sm_90a: one loader thread, two consumer warp groups, a ring of
// four stages. gemm.ptx beside it is what nvcc makes of it:
//   nvcc -O3 -std=c++17 -arch=compute_90a -ptx gemm.cu -o gemm.ptx
#include <cstdint>
#include <cuda.h>
#include <cuda_bf16.h>

constexpr int BM = 128, BN = 128, BK = 64, STAGES = 4;
constexpr int A_BYTES = BM * BK * 2, B_BYTES = BN * BK * 2;

__device__ __forceinline__ void wait(uint32_t barrier, uint32_t parity)
{
    asm volatile("{\n\t.reg .pred done;\n"
                 "again:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
                 "@!done bra again;\n\t}" ::"r"(barrier), "r"(parity) : "memory");
}

__device__ __forceinline__ void arrive(uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void load(uint32_t to, const CUtensorMap *map, int x, int y, uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier) : "memory");
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

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         float *c, int tiles, int tiles_n, int steps, int n)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    const uint32_t a = (uint32_t)__cvta_generic_to_shared(smem), b = a + STAGES * A_BYTES;
    const uint32_t full = b + STAGES * B_BYTES, empty = full + 8 * STAGES;
    const int group = threadIdx.x / 128, lane = threadIdx.x % 128;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * s));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(empty + 8 * s));
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (lane != 0)
            return;
        int stage = 0, phase = 1;
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
#pragma unroll 1
            for (int k = 0; k < steps; k++) {
                wait(empty + 8 * stage, phase);
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                             ::"r"(full + 8 * stage), "r"(A_BYTES + B_BYTES) : "memory");
                load(a + stage * A_BYTES, &map_a, k * BK, tile / tiles_n * BM, full + 8 * stage);
                load(b + stage * B_BYTES, &map_b, k * BK, tile % tiles_n * BN, full + 8 * stage);
                if (++stage == STAGES)
                    stage = 0, phase ^= 1;
            }
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float d[64];
    int stage = 0, phase = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
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
            if (lane == 0)
                arrive(empty + 8 * stage);
            if (++stage == STAGES)
                stage = 0, phase ^= 1;
        }
        const int y = tile / tiles_n * BM + (group - 1) * 64 + lane / 32 * 16 + lane % 32 / 4;
        float *to = c + (size_t)y * n + tile % tiles_n * BN + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < 16; i++) {
            *(float2 *)(to + 8 * i) = make_float2(d[4 * i], d[4 * i + 1]);
            *(float2 *)(to + 8 * n + 8 * i) = make_float2(d[4 * i + 2], d[4 * i + 3]);
        }
    }
}
