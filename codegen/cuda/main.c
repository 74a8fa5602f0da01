/* The self test of the printed text (-DWARPSTAVE_MAIN): pseudo-random inputs, a launch that is
 * timed, and a second one that must give the same bits. It judges no value: that is what a bundle
 * does. */
#include "codegen/cuda/cuda.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"

/* Bits of a random element: base | word & mask; magnitudes about one half, small integers. */
static const struct {
    guint32 base, mask;
} pattern[WS_DTYPE_COUNT] = {
    [WS_DTYPE_F32] = { 0x3f000000, 0x807fffff },
    [WS_DTYPE_TF32] = { 0x3f000000, 0x807fe000 },
    [WS_DTYPE_F16] = { 0x3800, 0x83ff },
    [WS_DTYPE_BF16] = { 0x3f00, 0x807f },
    [WS_DTYPE_E4M3] = { 0x30, 0x87 },
    [WS_DTYPE_E5M2] = { 0x38, 0x83 },
    [WS_DTYPE_I8] = { 0, 0x07 },
    [WS_DTYPE_U8] = { 0, 0x07 },
    [WS_DTYPE_I32] = { 0, 0x07 },
};

/* Elements that a tensor spans: the last one by its strides, and one. */
static const char *elements(WsCuda *c, const WsTensor *t)
{
    GString *s = g_string_new("1");
    for (guint d = 0; d < t->rank; d++) {
        gint64 one;
        WsTerm stride = ws_cuda_uniform(c, t->stride[d]);
        g_string_append_printf(s, " + (uint64_t(%s) - 1)", ws_cuda_uniform(c, t->shape[d]).s);
        if (!ws_term_known(stride, &one) || one != 1)
            g_string_append_printf(s, " * uint64_t(%s)", stride.s);
    }
    const char *text = g_string_chunk_insert_const(c->terms.pool, s->str);
    g_string_free(s, TRUE);
    return text;
}

static void helpers(WsCuda *c)
{
    g_string_append(
        c->out, "// Device memory of n elements, each `base` with the bits of `mask` at random.\n"
                "static void *filled(uint64_t n, uint32_t bytes, uint32_t base, uint32_t mask)\n{\n"
                "    std::vector<uint8_t> host(n * bytes);\n"
                "    uint64_t x = 88172645463325252u;\n"
                "    for (uint64_t i = 0; i < n; ++i) {\n"
                "        x ^= x << 13, x ^= x >> 7, x ^= x << 17;\n"
                "        const uint32_t bits = base | (uint32_t(x >> 32) & mask);\n"
                "        memcpy(&host[i * bytes], &bits, bytes);\n"
                "    }\n"
                "    void *device = nullptr;\n"
                "    if (cudaMalloc(&device, host.size()) == cudaSuccess)\n"
                "        cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice);\n"
                "    return device;\n}\n\n"
                "static uint64_t hash_of(const void *device, uint64_t bytes)\n{\n"
                "    std::vector<uint8_t> host(bytes);\n"
                "    cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost);\n"
                "    uint64_t h = 14695981039346656037u;\n"
                "    for (uint8_t byte : host)\n"
                "        h = (h ^ byte) * 1099511628211u;\n"
                "    return h;\n}\n\n");
}

static void outputs(WsCuda *c, const char *variable)
{
    for (guint i = 0; i < c->p->n_tensors; i++) {
        const WsTensor *t = &c->p->tensor[i];
        if (t->access == WS_ACCESS_WRITE)
            ws_cuda_line(c, "%s = %s * 31 + hash_of(a.%s, (%s) * %u);", variable, variable,
                         c->tensor[i], elements(c, t), ws_dtype_bytes(t->dtype));
    }
}

char *ws_cuda_main(WsCuda *c)
{
    const WsProgram *p = c->p;
    if (p->tiles->order == WS_ORDER_HILBERT) /* the curve is the caller's */
        return g_strdup("");
    GString *outer = c->out, *sizes = g_string_new(NULL);
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind == WS_VAR_SIZE)
            g_string_append_printf(sizes, "%sint(a.%s)", sizes->len ? ", " : "",
                                   ws_cuda_ident(c, p->var[i].name));
    }
    c->out = g_string_new(
        "\n#ifdef WARPSTAVE_MAIN // nvcc -DWARPSTAVE_MAIN: a program that tries the kernel\n"
        "#include <cstdio>\n#include <vector>\n\n");
    ws_cuda_line(c, "using namespace %s;\n", c->space);
    helpers(c);
    ws_cuda_line(c, "int main()");
    ws_cuda_block(c, "");
    ws_cuda_line(c, "Arguments a;");
    ws_cuda_line(c, "const Problem problem{ Problem(%s) };", sizes->str);
    g_string_free(sizes, TRUE);
    ws_cuda_bind_problem(c, TRUE);
    for (guint i = 0; i < p->n_tensors; i++) {
        const WsTensor *t = &p->tensor[i];
        gboolean read = t->access == WS_ACCESS_READ;
        ws_cuda_line(c, "a.%s = filled(%s, %u, 0x%x, 0x%x);", c->tensor[i], elements(c, t),
                     ws_dtype_bytes(t->dtype), read ? pattern[t->dtype].base : 0,
                     read ? pattern[t->dtype].mask : 0);
    }
    if (p->tiles->launch == WS_LAUNCH_DYNAMIC)
        ws_cuda_line(c, "a.counter = static_cast<uint32_t *>(filled(1, 4, 0, 0));");
    ws_cuda_line(c, "cudaEvent_t begin, end;");
    ws_cuda_line(c, "cudaEventCreate(&begin);");
    ws_cuda_line(c, "cudaEventCreate(&end);");
    ws_cuda_line(c, "uint64_t first = 0, second = 0;");
    ws_cuda_line(c, "cudaError_t error = launch(a);");
    outputs(c, "first");
    ws_cuda_line(c, "cudaEventRecord(begin);");
    ws_cuda_line(c, "error = error ? error : launch(a);");
    ws_cuda_line(c, "cudaEventRecord(end);");
    ws_cuda_line(c, "error = error ? error : cudaDeviceSynchronize();");
    outputs(c, "second");
    ws_cuda_bind_problem(c, FALSE);
    ws_cuda_line(c, "float ms = 0;");
    ws_cuda_line(c, "cudaEventElapsedTime(&ms, begin, end);");
    ws_cuda_line(c, "printf(\"%%s: %%.1f us, two launches %%s\\n\", cudaGetErrorString(error), "
                    "1000 * ms,");
    ws_cuda_line(c, "       first == second ? \"agree\" : \"DIFFER\");");
    ws_cuda_line(c, "return error || first != second;");
    ws_cuda_close(c);
    ws_cuda_line(c, "#endif");
    char *text = g_string_free(c->out, FALSE);
    c->out = outer;
    return text;
}
