// C = A * B^T in bf16, written by hand for sm_90a, stamped with the steps of design.wstave beside it
// by the header that `warpstave trace design.wstave --header stamps.h` writes. Prints whether sampled
// elements are right and how long a launch takes; with a file name, one launch is recorded into it.
//   nvcc -O3 -std=c++17 -arch=sm_90a -I. gemm.cu -o gemm                     (-DWS_NO_RECORD: without stamps)
//   ./gemm [M N K [own-kernel.wtrace]]
#include "stamps.h"

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <cudaTypedefs.h>

#include <algorithm>
#include <cmath>
#include <vector>

constexpr int BM = 128, BN = 256, BK = 64, STAGES = 4, THREADS = 384;
constexpr int A_BYTES = BM * BK * 2, B_BYTES = BN * BK * 2;
constexpr int SHARED = STAGES * (A_BYTES + B_BYTES) + 2 * STAGES * 8 + 1024;

// --- instructions ----------------------------------------------------------------------------------

__device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ void wait(uint32_t barrier, uint32_t parity)
{
    asm volatile("{\n\t.reg .pred done;\n"
                 "again:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
                 "@!done bra again;\n\t}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

__device__ __forceinline__ void arrive(uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void expect(uint32_t barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void load(uint32_t to, const CUtensorMap *map, int x, int y, uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(barrier)
                 : "memory");
}

// K-major operand, 128-byte swizzle: 1024 bytes between groups of 8 rows.
__device__ __forceinline__ uint64_t descriptor(uint32_t address)
{
    return (uint64_t)((address & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

#define F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define F16(i) F4(i), F4(i + 4), F4(i + 8), F4(i + 12)
#define F64(i) F16(i), F16(i + 16), F16(i + 32), F16(i + 48)

__device__ __forceinline__ void multiply(float (&d)[128], uint64_t a, uint64_t b, int keep)
{
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %130, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
        "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,"
        "%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,"
        "%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,"
        "%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,"
        "%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,"
        "%118,%119,%120,%121,%122,%123,%124,%125,%126,%127}, %128, %129, p, 1, 1, 0, 0;\n\t}"
        : F64(0), F64(64)
        : "l"(a), "l"(b), "r"(keep));
}

// --- the kernel ------------------------------------------------------------------------------------

__global__ void __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         __nv_bfloat16 *c, int m, int n, int k, WsRecord record)
{
    extern __shared__ unsigned char raw[];
    const uint32_t a = (shared_address(raw) + 1023) & ~1023u, b = a + STAGES * A_BYTES;
    const uint32_t full = b + STAGES * B_BYTES, empty = full + 8 * STAGES;
    const int group = threadIdx.x / 128, lane = threadIdx.x % 128;
    const int rows = (m + BM - 1) / BM, tiles = rows * ((n + BN - 1) / BN), steps = (k + BK - 1) / BK;
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
        WS_RECORD_GROUP(record, WS_AGENT_load, true);
        int it = 0, at = 0;
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, at++) {
            const int row = tile % rows * BM, col = tile / rows * BN;
            for (int j = 0; j < steps; j++, it++) {
                const int s = it % STAGES;
                WS_ROUND(at, it);
                WS_STEP_BEGIN(WS_STEP_load_wait_empty);
                wait(empty + 8 * s, (it / STAGES + 1) & 1);
                WS_STEP_END(WS_STEP_load_wait_empty);
                WS_STEP_BEGIN(WS_STEP_load_load_A_a);
                expect(full + 8 * s, A_BYTES + B_BYTES);
                load(a + s * A_BYTES, &map_a, j * BK, row, full + 8 * s);
                WS_STEP_END(WS_STEP_load_load_A_a);
                WS_STEP_BEGIN(WS_STEP_load_load_B_b);
                load(b + s * B_BYTES, &map_b, j * BK, col, full + 8 * s);
                WS_STEP_END(WS_STEP_load_load_B_b);
            }
        }
        WS_RECORD_END();
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int replica = group - 1;
    float d[128];
    WS_RECORD_GROUP(record, WS_AGENT_mma + replica, lane == 0);
    int it = 0, at = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, at++) {
        const int row = tile % rows * BM + replica * 64, col = tile / rows * BN;
        for (int j = 0; j < steps; j++, it++) {
            const int s = it % STAGES;
            WS_ROUND(at, it);
            WS_STEP_BEGIN(WS_STEP_mma_wait_full);
            wait(full + 8 * s, it / STAGES & 1);
            WS_STEP_END(WS_STEP_mma_wait_full);
            WS_STEP_SEEN(WS_STEP_load_load_A_a, it);
            WS_STEP_SEEN(WS_STEP_load_load_B_b, it);
            WS_STEP_BEGIN(WS_STEP_mma_mma_acc);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            const uint64_t da = descriptor(a + s * A_BYTES + replica * 64 * 128), db = descriptor(b + s * B_BYTES);
            multiply(d, da, db, j > 0);
            multiply(d, da + 2, db + 2, 1);
            multiply(d, da + 4, db + 4, 1);
            multiply(d, da + 6, db + 6, 1);
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            WS_STEP_END(WS_STEP_mma_mma_acc);
            WS_STEP_BEGIN(WS_STEP_mma_mma_wait_1);
            asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
            WS_STEP_END(WS_STEP_mma_mma_wait_1);
            if (j > 0) {
                WS_STEP_SEEN(WS_STEP_mma_mma_acc, it - 1);
                if (lane == 0)
                    arrive(empty + 8 * ((it - 1) % STAGES));
            }
        }
        WS_STEP_BEGIN(WS_STEP_mma_mma_wait_0);
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        WS_STEP_END(WS_STEP_mma_mma_wait_0);
        WS_STEP_SEEN(WS_STEP_mma_mma_acc, it - 1);
        if (lane == 0)
            arrive(empty + 8 * ((it - 1) % STAGES));
        WS_ROUND(at, at);
        WS_STEP_BEGIN(WS_STEP_mma_write_acc_C);
        const int y = row + lane / 32 * 16 + lane % 32 / 4, x = col + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < 32; i++) {
            if (x + 8 * i >= n)
                continue;
            if (y < m)
                *(__nv_bfloat162 *)(c + (size_t)y * n + x + 8 * i) = __floats2bfloat162_rn(d[4 * i], d[4 * i + 1]);
            if (y + 8 < m)
                *(__nv_bfloat162 *)(c + (size_t)(y + 8) * n + x + 8 * i) =
                    __floats2bfloat162_rn(d[4 * i + 2], d[4 * i + 3]);
        }
        WS_STEP_END(WS_STEP_mma_write_acc_C);
    }
    WS_RECORD_END();
}

// --- host ------------------------------------------------------------------------------------------

static void need(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "gemm: %s: %s\n", what, cudaGetErrorString(cudaGetLastError()));
    exit(4);
}

static CUtensorMap make_map(void *data, int rows, int cols, int box_rows)
{
    static PFN_cuTensorMapEncodeTiled_v12000 encode;
    cudaDriverEntryPointQueryResult found;
    if (!encode)
        need(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault,
                                              &found) == cudaSuccess &&
                 encode,
             "no tensor maps in this driver");
    CUtensorMap map;
    const cuuint64_t extent[] = { (cuuint64_t)cols, (cuuint64_t)rows }, stride[] = { (cuuint64_t)cols * 2 };
    const cuuint32_t box[] = { BK, (cuuint32_t)box_rows }, one[] = { 1, 1 };
    need(encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, extent, stride, box, one,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS,
         "tensor map");
    return map;
}

static float value(uint64_t i, uint64_t seed)
{
    uint64_t x = (i + seed) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
    return ((int)(x >> 40 & 0xff) - 128) / 128.0f;
}

static std::vector<__nv_bfloat16> values(size_t n, uint64_t seed)
{
    std::vector<__nv_bfloat16> v(n);
    for (size_t i = 0; i < n; i++)
        v[i] = __float2bfloat16(value(i, seed));
    return v;
}

int main(int argc, char **argv)
{
    const int m = argc > 3 ? atoi(argv[1]) : 4096, n = argc > 3 ? atoi(argv[2]) : 4096,
              k = argc > 3 ? atoi(argv[3]) : 4096;
    if (m < 1 || n < 8 || k < 8 || n % 8 || k % 8) {
        fprintf(stderr, "usage: gemm [M N K [OUT.wtrace]], N and K multiples of 8\n");
        return 2;
    }
    cudaDeviceProp device;
    need(cudaGetDeviceProperties(&device, 0) == cudaSuccess, "no GPU");
    const std::vector<__nv_bfloat16> a = values((size_t)m * k, 1), b = values((size_t)n * k, 2);
    __nv_bfloat16 *da, *db, *dc;
    need(cudaMalloc(&da, a.size() * 2) == cudaSuccess && cudaMalloc(&db, b.size() * 2) == cudaSuccess &&
             cudaMalloc(&dc, (size_t)m * n * 2) == cudaSuccess &&
             cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice) == cudaSuccess &&
             cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice) == cudaSuccess &&
             cudaMemset(dc, 0xff, (size_t)m * n * 2) == cudaSuccess,
         "memory");
    const CUtensorMap map_a = make_map(da, m, k, BM), map_b = make_map(db, n, k, BN);
    need(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED) == cudaSuccess, "shared memory");
    const int tiles = (m + BM - 1) / BM * ((n + BN - 1) / BN), grid = std::min(tiles, device.multiProcessorCount);
    WsRecord record = {};
#ifndef WS_NO_RECORD
    const int per_cta = (tiles + grid - 1) / grid;
    need(ws_record_open(&record, 2, (uint32_t)per_cta * ((k + BK - 1) / BK * 6 + 4)) == 0, "record buffer");
#endif
    cudaEvent_t from, to;
    cudaEventCreate(&from), cudaEventCreate(&to);
    std::vector<float> times;
    for (int i = 0; i < 23; i++) {
        float ms;
        cudaEventRecord(from);
        gemm<<<grid, THREADS, SHARED>>>(map_a, map_b, dc, m, n, k, record);
        cudaEventRecord(to);
        need(cudaEventSynchronize(to) == cudaSuccess && cudaEventElapsedTime(&ms, from, to) == cudaSuccess, "launch");
        if (i >= 3)
            times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    std::vector<__nv_bfloat16> c((size_t)m * n);
    need(cudaMemcpy(c.data(), dc, c.size() * 2, cudaMemcpyDeviceToHost) == cudaSuccess, "results");
    int wrong = 0;
    for (int i = 0; i < 2000; i++) {
        const int y = (int)((uint64_t)i * 7919 % m), x = (int)((uint64_t)i * 104729 % n);
        double sum = 0;
        for (int j = 0; j < k; j++)
            sum += (double)__bfloat162float(a[(size_t)y * k + j]) * (double)__bfloat162float(b[(size_t)x * k + j]);
        const double got = (double)__bfloat162float(c[(size_t)y * n + x]);
        wrong += !(std::fabs(got - sum) <= 0.02 + 0.01 * std::fabs(sum));
    }
    printf("%d x %d x %d on %s: %s, median of %zu: %.2f us, %.1f TF/s\n", m, n, k, device.name,
           wrong ? "WRONG" : "2000 samples agree", times.size(), times[times.size() / 2] * 1e3,
           2.0 * m * n * k / times[times.size() / 2] * 1e-9);
#ifndef WS_NO_RECORD
    if (argc > 4) {
        const char *names[] = { "M", "N", "K" };
        const int64_t sizes[] = { m, n, k };
        wrong |= ws_record_save(&record, argv[4], device.name, (uint32_t)grid, 3, names, sizes) != 0;
    }
    ws_record_close(&record);
#endif
    return wrong != 0;
}
