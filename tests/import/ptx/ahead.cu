// Tiles loaded one round ahead through one mbarrier by the thread that works, too. ahead.ptx beside
// it is what nvcc makes of it:
//   nvcc -O3 -std=c++17 -arch=compute_90a -ptx ahead.cu -o ahead.ptx
#include <cstdint>
#include <cuda.h>

constexpr int BYTES = 128 * 16;

__device__ __forceinline__ void load(uint32_t to, const CUtensorMap *map, int x, uint32_t barrier)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(BYTES) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(x), "r"(0), "r"(barrier) : "memory");
}

extern "C" __global__ void ahead(const __grid_constant__ CUtensorMap map, int4 *out, int n)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    __shared__ uint64_t full;
    const uint32_t tile = (uint32_t)__cvta_generic_to_shared(smem), bar = (uint32_t)__cvta_generic_to_shared(&full);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
        load(tile, &map, 0, bar);
    }
    __syncthreads();
    int tic = 0, sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++, tic ^= 1) {
        asm volatile("{\n\t.reg .pred done;\n"
                     "again:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
                     "@!done bra again;\n\t}" ::"r"(bar), "r"(tic) : "memory");
        __syncthreads();
        if (threadIdx.x == 0 && i + 1 < n)
            load(tile + (tic ^ 1) * BYTES, &map, i + 1, bar);
        int v[4];
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                     : "r"(tile + tic * BYTES + threadIdx.x * 16) : "memory");
        sum += v[0] + v[1] + v[2] + v[3];
        __syncthreads();
    }
    out[threadIdx.x] = make_int4(sum, 0, 0, 0);
}
