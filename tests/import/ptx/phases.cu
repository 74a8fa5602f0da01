/* Waits for the phase of an arrival (cuda::barrier): a ring whose index wraps where it is read.
 * nvcc -ptx -std=c++17 -arch=sm_90a -O3 phases.cu -o phases.ptx */
#include <cuda.h>
#include <cuda/barrier>

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

constexpr int STAGES = 3, FLOATS = 512, BYTES = 4 * FLOATS;

extern "C" __global__ void __launch_bounds__(256)
ring(const __grid_constant__ CUtensorMap map, float *out, int rounds)
{
    extern __shared__ __align__(1024) float tile[];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            init(&full[i], 129);
            init(&empty[i], 129);
        }
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        if (threadIdx.x == 0) {
            int slot = 0;
            for (int k = 0; k < rounds; k++, slot++) {
                if (slot == STAGES)
                    slot = 0;
                empty[slot].wait(empty[slot].arrive());
                cde::cp_async_bulk_tensor_2d_global_to_shared(tile + slot * FLOATS, &map, 0, k * 32,
                                                              full[slot]);
                barrier::arrival_token done = cuda::device::barrier_arrive_tx(full[slot], 1, BYTES);
            }
        }
    } else {
        float sum = 0;
        for (int i = 0; i < STAGES; i++)
            barrier::arrival_token free = empty[i].arrive();
        int slot = 0;
        for (int k = 0; k < rounds; k++, slot++) {
            if (slot == STAGES)
                slot = 0;
            full[slot].wait(full[slot].arrive());
            const float4 read = *(const float4 *)(tile + slot * FLOATS + 4 * (threadIdx.x % 128));
            sum += read.x + read.y + read.z + read.w;
            barrier::arrival_token free = empty[slot].arrive();
        }
        out[threadIdx.x] = sum;
    }
}
