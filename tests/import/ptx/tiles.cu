// A ring whose index wraps, and whose parity flips, where a round begins, over tiles that a CTA counts
// by a number; it arrives before it knows whether it has one. tiles.ptx beside it is what nvcc makes of
// it, which makes several rounds at once and then, in straight code, those that are left:
//   nvcc -O3 -std=c++17 -arch=compute_90a -ptx tiles.cu -o tiles.ptx
#include <cstdint>
#include <cuda.h>

constexpr int STAGES = 3, CTAS = 128, ROWS = 64, COLS = 64, BYTES = ROWS * COLS * 2;

__device__ static uint32_t of(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ static void wait(uint32_t bar, uint32_t parity)
{
    asm volatile("{\n\t.reg .pred done;\nagain:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
                 "@!done bra again;\n\t}" ::"r"(bar), "r"(parity) : "memory");
}

__device__ static void load(const CUtensorMap *map, uint32_t to, uint32_t bar, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(bar) : "memory");
}

extern "C" __global__ void __launch_bounds__(256, 1)
    tiles(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *out, int k, int m, int n)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const uint32_t at = of(smem), bt = at + STAGES * BYTES;
    const int rounds = k / COLS, wide = n / ROWS, all = m / ROWS * wide;
    if (threadIdx.x == 0)
        for (int i = 0; i < STAGES; i++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(of(&full[i])));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(of(&empty[i])));
        }
    __syncthreads();
    uint32_t p = 0;
    int q = 0;
    if (threadIdx.x < 128) {
        if (threadIdx.x == 0)
            for (int it = 0, tile = blockIdx.x; tile < all; tile = ++it * CTAS + (int)blockIdx.x)
                for (int i = 0; i < rounds; i++, q++) {
                    if (q == STAGES) {
                        q = 0;
                        p ^= 1;
                    }
                    wait(of(&empty[q]), p);
                    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(of(&full[q])), "r"(2 * BYTES) : "memory");
                    load(&a, at + q * BYTES, of(&full[q]), i * COLS, tile / wide * ROWS);
                    load(&b, bt + q * BYTES, of(&full[q]), i * COLS, tile % wide * ROWS);
                }
        return;
    }
    if (threadIdx.x == 128)
        for (int i = 0; i < STAGES; i++)
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(of(&empty[i])) : "memory");
    for (int it = 0, tile = blockIdx.x; tile < all; tile = ++it * CTAS + (int)blockIdx.x) {
        float d[4] = {};
        for (int i = 0; i < rounds; i++, q++) {
            if (q == STAGES) {
                q = 0;
                p ^= 1;
            }
            wait(of(&full[q]), p);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            const uint64_t bits = 1ull << 16 | 64ull << 32 | 1ull << 62;
            const uint64_t x = (((at + q * BYTES) & 0x3ffff) >> 4) | bits, y = (((bt + q * BYTES) & 0x3ffff) >> 4) | bits;
            asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, 1, 0;\n\t"
                         "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0;\n\t}"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(x), "l"(y) : "memory");
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
            if (threadIdx.x == 128)
                asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(of(&empty[q])) : "memory");
        }
        out[tile * 128 + threadIdx.x - 128] = d[0] + d[1] + d[2] + d[3];
    }
}
