/* The package of gemm-bf16 from C: sampled elements against a double sum, and what it refuses.
 * Usage: gemm KERNEL.cubin; exit 0 right, 1 wrong, 4 no GPU. */
#include "bf16.h"
#include "gemm_bf16.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int ok, const char *what)
{
    if (ok)
        return;
    printf("FAILED: %s: %s\n", what, gemm_bf16_error());
    exit(1);
}

/* C = A B^T with A [M, K], B [N, K]; every 97th element is judged. */
static void multiply(gemm_bf16 *kernel, int64_t M, int64_t N, int64_t K)
{
    uint16_t *a = malloc((size_t)(M * K) * 2), *b = malloc((size_t)(N * K) * 2),
             *c = malloc((size_t)(M * N) * 2);
    CUdeviceptr A, B, C;
    fill(a, (size_t)(M * K), 1);
    fill(b, (size_t)(N * K), 2);
    must(!cuMemAlloc(&A, (size_t)(M * K) * 2) && !cuMemAlloc(&B, (size_t)(N * K) * 2) &&
             !cuMemAlloc(&C, (size_t)(M * N) * 2),
         "memory");
    must(!cuMemcpyHtoD(A, a, (size_t)(M * K) * 2) && !cuMemcpyHtoD(B, b, (size_t)(N * K) * 2),
         "copy");
    gemm_bf16_arguments arguments = { .A = A, .B = B, .C = C, .M = M, .N = N, .K = K };
    must(gemm_bf16_launch(kernel, &arguments, NULL) == GEMM_BF16_OK, "launch");
    must(!cuCtxSynchronize() && !cuMemcpyDtoH(c, C, (size_t)(M * N) * 2), "kernel");
    double worst = 0;
    long judged = 0;
    for (int64_t i = 0; i < M * N; i += 97, judged++) {
        double sum = 0;
        for (int64_t k = 0; k < K; k++)
            sum += (double)float_of(a[i / N * K + k]) * float_of(b[i % N * K + k]);
        const double error = fabs(float_of(c[i]) - sum) / (0.02 + 0.004 * fabs(sum));
        worst = error > worst ? error : worst;
    }
    printf("M %ld N %ld K %ld: %ld elements, worst error %.2f of what is allowed\n", (long)M,
           (long)N, (long)K, judged, worst);
    must(worst <= 1, "values");
    cuMemFree(A), cuMemFree(B), cuMemFree(C);
    free(a), free(b), free(c);
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    if (argc != 2 || cuInit(0) || cuDeviceGet(&device, 0) ||
        cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context))
        return argc != 2 ? 2 : 4;
    gemm_bf16 *kernel = NULL;
    must(gemm_bf16_open(&kernel, "/nowhere/kernel.cubin") == GEMM_BF16_FILE && !kernel,
         "a file that is not there");
    printf("refused: %s\n", gemm_bf16_error());
    must(gemm_bf16_open(&kernel, argv[1]) == GEMM_BF16_OK, "open");
    multiply(kernel, 512, 512, 256);
    multiply(kernel, 1000, 776, 520);
    multiply(kernel, 1, 8, 8);
    gemm_bf16_arguments none = { .M = 0, .N = 8, .K = 8 };
    must(gemm_bf16_launch(kernel, &none, NULL) == GEMM_BF16_OK, "no rows, no launch");
    gemm_bf16_arguments odd = { .A = 256, .B = 256, .C = 256, .M = 64, .N = 64, .K = 63 };
    must(gemm_bf16_launch(kernel, &odd, NULL) == GEMM_BF16_SIZES, "rows of 126 bytes");
    printf("refused: %s\n", gemm_bf16_error());
    gemm_bf16_arguments less = { .A = 256, .B = 256, .C = 256, .M = -1, .N = 64, .K = 64 };
    must(gemm_bf16_launch(kernel, &less, NULL) == GEMM_BF16_SIZES, "-1 rows");
    printf("refused: %s\n", gemm_bf16_error());
    gemm_bf16_close(kernel);
    printf("gemm_bf16 from C: right\n");
    return 0;
}
