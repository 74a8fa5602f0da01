// Products whose left operand is in registers that every round writes anew. turns.ptx beside it is
// what nvcc makes of it:
//   nvcc -O3 -std=c++17 -arch=compute_90a -ptx turns.cu -o turns.ptx
#include <cstdint>
#include <cuda.h>

constexpr int BYTES = 8 * 128;

extern "C" __global__ void __launch_bounds__(128, 1)
    turns(const __grid_constant__ CUtensorMap map, float *out, int n)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    __shared__ uint64_t full;
    const uint32_t tile = (uint32_t)__cvta_generic_to_shared(smem), bar = (uint32_t)__cvta_generic_to_shared(&full);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(BYTES) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3}], [%4];" ::"r"(tile), "l"(&map), "r"(0), "r"(0), "r"(bar) : "memory");
    }
    asm volatile("{\n\t.reg .pred done;\n"
                 "again:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n\t"
                 "@!done bra again;\n\t}" ::"r"(bar) : "memory");
    const uint64_t b = (uint64_t)((tile & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
    float d[4] = {};
    int a[4] = { (int)threadIdx.x, 1, 2, 3 };
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        asm volatile("wgmma.wait_group.sync.aligned 0;" : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3])::"memory");
        asm volatile("add.s32 %0, %0, 1;\n\tadd.s32 %1, %1, 1;\n\tadd.s32 %2, %2, 1;\n\tadd.s32 %3, %3, 1;"
                     : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3])::"memory");
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, 1, 0;\n\t"
                     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, p, 1, 1, 0;\n\t}"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b) : "memory");
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
