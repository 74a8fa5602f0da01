/* The package of attention-d128 from C, with grouped heads and lengths that fill no block.
 * Usage: attention KERNEL.cubin; exit 0 right, 1 wrong, 4 no GPU. */
#include "attention_d128.h"
#include "bf16.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { B = 2, HQ = 4, HKV = 2, SQ = 333, SK = 451, D = 128 };

static void must(int ok, const char *what)
{
    if (ok)
        return;
    printf("FAILED: %s: %s\n", what, attention_d128_error());
    exit(1);
}

static CUdeviceptr put(const uint16_t *x, size_t n)
{
    CUdeviceptr p;
    must(!cuMemAlloc(&p, n * 2) && !cuMemcpyHtoD(p, x, n * 2), "memory");
    return p;
}

/* Row of queries (b, i, h) in [B, S, H, D]. */
static double worst_of_row(const uint16_t *q, const uint16_t *k, const uint16_t *v,
                           const uint16_t *o, double lse, int b, int h, int i)
{
    static double score[SK];
    double most = -INFINITY, sum = 0, worst = 0;
    const float scale = 0.08838834764831845f;
    for (int j = 0; j < SK; j++) {
        double dot = 0;
        for (int d = 0; d < D; d++)
            dot += (double)float_of(q[((size_t)(b * SQ + i) * HQ + h) * D + d]) *
                   float_of(k[((size_t)(b * SK + j) * HKV + h / (HQ / HKV)) * D + d]);
        score[j] = scale * dot;
        most = fmax(most, score[j]);
    }
    for (int j = 0; j < SK; j++)
        sum += exp(score[j] - most);
    for (int d = 0; d < D; d += 17) {
        double out = 0;
        for (int j = 0; j < SK; j++)
            out += exp(score[j] - most) / sum *
                   float_of(v[((size_t)(b * SK + j) * HKV + h / (HQ / HKV)) * D + d]);
        const double got = float_of(o[((size_t)(b * SQ + i) * HQ + h) * D + d]);
        worst = fmax(worst, fabs(got - out) / (0.02 + 0.004 * fabs(out)));
    }
    return fmax(worst, fabs(lse - (most + log(sum))) / (0.001 + 0.001 * fabs(lse)));
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    if (argc != 2 || cuInit(0) || cuDeviceGet(&device, 0) ||
        cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context))
        return argc != 2 ? 2 : 4;
    attention_d128 *kernel = NULL;
    must(attention_d128_open(&kernel, argv[1]) == ATTENTION_D128_OK, "open");
    const size_t nq = (size_t)B * SQ * HQ * D, nk = (size_t)B * SK * HKV * D,
                 nl = (size_t)B * HQ * SQ;
    uint16_t *q = malloc(nq * 2), *k = malloc(nk * 2), *v = malloc(nk * 2), *o = malloc(nq * 2);
    float *lse = malloc(nl * 4);
    fill(q, nq, 1), fill(k, nk, 2), fill(v, nk, 3);
    memset(o, 0, nq * 2);
    attention_d128_arguments a = { .Q = put(q, nq),
                                   .K = put(k, nk),
                                   .V = put(v, nk),
                                   .O = put(o, nq),
                                   .B = B,
                                   .HQ = HQ,
                                   .HKV = HKV,
                                   .SQ = SQ,
                                   .SK = SK,
                                   .scale = 0.08838834764831845f };
    must(!cuMemAlloc(&a.LSE, nl * 4), "memory");
    for (int round = 0; round < 3; round++) /* the counter of tiles is 0 again after a launch */
        must(attention_d128_launch(kernel, &a, NULL) == ATTENTION_D128_OK, "launch");
    must(!cuCtxSynchronize() && !cuMemcpyDtoH(o, a.O, nq * 2) && !cuMemcpyDtoH(lse, a.LSE, nl * 4),
         "kernel");
    double worst = 0;
    int rows = 0;
    for (int row = 0; row < B * HQ * SQ; row += 23, rows++) {
        const int i = row % SQ, h = row / SQ % HQ, b = row / SQ / HQ;
        worst = fmax(worst, worst_of_row(q, k, v, o, lse[row], b, h, i));
    }
    printf("%d rows, worst error %.2f of what is allowed\n", rows, worst);
    must(worst <= 1, "values");
    a.HKV = 3;
    must(attention_d128_launch(kernel, &a, NULL) == ATTENTION_D128_SIZES, "4 heads over 3");
    printf("refused: %s\n", attention_d128_error());
    attention_d128_close(kernel);
    printf("attention_d128 from C: right\n");
    return 0;
}
