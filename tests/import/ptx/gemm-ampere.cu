// C = A * B^T in fp16 as for sm_80: every thread copies by cp.async into a ring of three stages, the
// warps read it with ldmatrix for mma.sync. gemm-ampere.ptx beside it is what nvcc makes of it:
//   nvcc -O3 -std=c++17 -arch=compute_80 -ptx gemm-ampere.cu -o gemm-ampere.ptx
#include <cstdint>
#include <cuda_fp16.h>

constexpr int BM = 64, BN = 64, BK = 32, STAGES = 3;
constexpr int BYTES = 64 * BK * 2; // of a stage of either operand: 64 rows of 64 bytes

__device__ __forceinline__ void copy(uint32_t to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__device__ __forceinline__ void read4(uint32_t (&r)[4], uint32_t from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
}

__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void __launch_bounds__(128)
    gemm(const half *a, const half *b, float *c, int n, int k, int steps)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    const uint32_t sa = (uint32_t)__cvta_generic_to_shared(smem), sb = sa + STAGES * BYTES;
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    const half *from_a = a + (size_t)(blockIdx.y * BM + t / 4) * k + t % 4 * 8;
    const half *from_b = b + (size_t)(blockIdx.x * BN + t / 4) * k + t % 4 * 8;
    const uint32_t at = t * 16;
    float d[8][4] = {};
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < steps) {
            copy(sa + s * BYTES + at, from_a + s * BK);
            copy(sa + s * BYTES + at + 2048, from_a + s * BK + (size_t)32 * k);
            copy(sb + s * BYTES + at, from_b + s * BK);
            copy(sb + s * BYTES + at + 2048, from_b + s * BK + (size_t)32 * k);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    int stage = 0, fill = STAGES - 1;
#pragma unroll 1
    for (int i = 0; i < steps; i++) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        if (i + STAGES - 1 < steps) {
            const int s = i + STAGES - 1;
            copy(sa + fill * BYTES + at, from_a + s * BK);
            copy(sa + fill * BYTES + at + 2048, from_a + s * BK + (size_t)32 * k);
            copy(sb + fill * BYTES + at, from_b + s * BK);
            copy(sb + fill * BYTES + at + 2048, from_b + s * BK + (size_t)32 * k);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
#pragma unroll
        for (int kk = 0; kk < 2; kk++) {
            uint32_t x[4], y[4];
            read4(x, sa + stage * BYTES + (warp * 16 + lane % 16) * 64 + kk * 32 + lane / 16 * 16);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                read4(y, sb + stage * BYTES + (j * 16 + lane % 16) * 64 + kk * 32 + lane / 16 * 16);
                multiply(d[2 * j], x, y[0], y[2]);
                multiply(d[2 * j + 1], x, y[1], y[3]);
            }
        }
        if (++stage == STAGES)
            stage = 0;
        if (++fill == STAGES)
            fill = 0;
    }
    float *to = c + (size_t)(blockIdx.y * BM + warp * 16 + lane / 4) * n + blockIdx.x * BN + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        *(float2 *)(to + i * 8) = make_float2(d[i][0], d[i][1]);
        *(float2 *)(to + 8 * (size_t)n + i * 8) = make_float2(d[i][2], d[i][3]);
    }
}
