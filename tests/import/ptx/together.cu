/* One stage at which all threads arrive, one of them with the bytes that it expects, and wait for the
 * phase of their arrival (cuda::barrier).
 * nvcc -ptx -std=c++17 -arch=sm_90a -O3 together.cu -o together.ptx */
#include <cuda.h>
#include <cuda/barrier>

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

constexpr int FLOATS = 512, BYTES = 4 * FLOATS;

extern "C" __global__ void __launch_bounds__(128)
together(const __grid_constant__ CUtensorMap map, float *out, int rounds)
{
    extern __shared__ __align__(1024) float tile[];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full;
    if (threadIdx.x == 0) {
        init(&full, 128);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < rounds; k++) {
        uint64_t token;
        if (threadIdx.x == 0) {
            cde::cp_async_bulk_tensor_2d_global_to_shared(tile, &map, 0, k * 32, full);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
                         : "=l"(token)
                         : "r"((uint32_t)__cvta_generic_to_shared(&full)), "r"(BYTES)
                         : "memory");
        } else {
            asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];"
                         : "=l"(token)
                         : "r"((uint32_t)__cvta_generic_to_shared(&full))
                         : "memory");
        }
        uint32_t done;
        do
            asm volatile("{\n\t.reg .pred p;\n\t"
                         "mbarrier.try_wait.shared::cta.b64 p, [%1], %2;\n\tselp.b32 %0, 1, 0, p;\n\t}"
                         : "=r"(done)
                         : "r"((uint32_t)__cvta_generic_to_shared(&full)), "l"(token)
                         : "memory");
        while (!done);
        const float4 read = *(const float4 *)(tile + 4 * threadIdx.x);
        sum += read.x + read.y + read.z + read.w;
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
