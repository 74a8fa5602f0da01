/* The host's side of the printed text: tensor maps, launch. */
#include "codegen/cuda/cuda.h"
#include "codegen/early.h"
#include "codegen/sizes.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"

static const char *map_type(WsDtype t)
{
    static const char *const name[WS_DTYPE_COUNT] = {
        [WS_DTYPE_F32] = "FLOAT32",  [WS_DTYPE_F16] = "FLOAT16", [WS_DTYPE_BF16] = "BFLOAT16",
        [WS_DTYPE_TF32] = "FLOAT32", [WS_DTYPE_E4M3] = "UINT8",  [WS_DTYPE_E5M2] = "UINT8",
        [WS_DTYPE_I8] = "UINT8",     [WS_DTYPE_U8] = "UINT8",    [WS_DTYPE_I32] = "INT32",
    };
    return name[t];
}

static void arguments(WsCuda *c)
{
    const WsProgram *p = c->p;
    ws_cuda_line(c, "// Device addresses of the tensors, and sizes.");
    ws_cuda_open(c, "struct Arguments");
    for (guint i = 0; i < p->n_tensors; i++) {
        GString *shape = g_string_new(NULL);
        for (guint d = 0; d < p->tensor[i].rank; d++) {
            g_autofree char *text = ws_expr_print(p->tensor[i].shape[d]);
            g_string_append_printf(shape, "%s%s", d ? ", " : "", text);
        }
        ws_cuda_line(c, "%svoid *%s; // %s [%s]",
                     p->tensor[i].access == WS_ACCESS_READ ? "const " : "", c->tensor[i],
                     ws_dtype_text(p->tensor[i].dtype), shape->str);
        g_string_free(shape, TRUE);
    }
    for (guint i = 0; i < p->n_vars; i++) {
        const WsVar *v = &p->var[i];
        if (v->kind == WS_VAR_SIZE)
            ws_cuda_line(c, "int64_t %s = %" G_GINT64_FORMAT ";", c->var[i].s,
                         ws_fact_preset(p, (gint)i));
        if (v->kind == WS_VAR_SCALAR)
            ws_cuda_line(c, "float %s = %s;", c->var[i].s, ws_cuda_real(c, v->preset_real));
    }
    if (p->tiles->launch == WS_LAUNCH_DYNAMIC)
        ws_cuda_line(c, "uint32_t *counter; // one word, 0 before the first launch; every launch "
                        "leaves it at 0");
    if (p->tiles->order == WS_ORDER_HILBERT)
        ws_cuda_line(c, "const int32_t *hilbert; // (x, y) of every position along the curve");
    c->depth--;
    ws_cuda_line(c, "};");
    ws_cuda_line(c, "%s", "");
}

static void encode(WsCuda *c)
{
    ws_cuda_line(c, "// cuTensorMapEncodeTiled through the runtime: nothing is linked but cudart.");
    ws_cuda_line(c,
                 "inline bool encode(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank,");
    ws_cuda_line(
        c, "                   const void *tensor, const uint64_t *size, const uint64_t *stride,");
    ws_cuda_line(c, "                   const uint32_t *box, CUtensorMapSwizzle swizzle)");
    ws_cuda_block(c, "");
    ws_cuda_line(c, "using Encode = decltype(&cuTensorMapEncodeTiled);");
    ws_cuda_line(c, "static void *entry = nullptr;");
    ws_cuda_line(c, "cudaDriverEntryPointQueryResult found;");
    g_string_append(c->out,
                    "#if CUDART_VERSION >= 12050\n"
                    "    if (!entry)\n        "
                    "cudaGetDriverEntryPointByVersion(\"cuTensorMapEncodeTiled\", &entry, 12000,\n"
                    "                                         cudaEnableDefault, &found);\n"
                    "#else\n"
                    "    if (!entry)\n        cudaGetDriverEntryPoint(\"cuTensorMapEncodeTiled\", "
                    "&entry, cudaEnableDefault, &found);\n"
                    "#endif\n");
    ws_cuda_line(c, "const uint32_t step[5] = { 1, 1, 1, 1, 1 };");
    ws_cuda_line(c, "return entry && reinterpret_cast<Encode>(entry)(");
    ws_cuda_line(c,
                 "                    map, type, rank, const_cast<void *>(tensor), size, stride, "
                 "box, step,");
    ws_cuda_line(c, "                    CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, "
                    "CU_TENSOR_MAP_L2_PROMOTION_L2_256B,");
    ws_cuda_line(c, "                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;");
    ws_cuda_close(c);
    ws_cuda_line(c, "%s", "");
}

static void one_map(WsCuda *c, guint i)
{
    const WsTensorMap *m = &c->p->map[i];
    const WsTensor *t = &c->p->tensor[m->tensor];
    GString *size = g_string_new(NULL), *stride = g_string_new(NULL), *box = g_string_new(NULL);
    for (guint d = 0; d < m->rank; d++) { /* innermost first */
        guint at = t->rank - 1 - d;
        g_string_append_printf(size, "%suint64_t(%s)", d ? ", " : "",
                               ws_cuda_uniform(c, t->shape[at]).s);
        g_string_append_printf(box, "%s%u", d ? ", " : "", m->box[d]);
        if (d > 0)
            g_string_append_printf(stride, "%suint64_t(%s) * %u", d > 1 ? ", " : "",
                                   ws_cuda_uniform(c, t->stride[at]).s, ws_dtype_bytes(t->dtype));
    }
    if (!stride->len)
        g_string_append(stride, "0");
    const char *sw = m->swizzle ? ws_cuda_format(c, "%uB", m->swizzle) : "NONE";
    ws_cuda_block(c, "");
    ws_cuda_line(c, "const uint64_t size[] = { %s }, stride[] = { %s }; // innermost first",
                 size->str, stride->str);
    ws_cuda_line(c, "const uint32_t box[] = { %s };", box->str);
    ws_cuda_line(c, "if (!encode(&%s, CU_TENSOR_MAP_DATA_TYPE_%s, %u, a.%s, size, stride, box,",
                 c->map[i], map_type(t->dtype), m->rank, c->tensor[m->tensor]);
    ws_cuda_line(c, "            CU_TENSOR_MAP_SWIZZLE_%s))", sw);
    ws_cuda_line(c, "    return cudaErrorInvalidValue;");
    ws_cuda_close(c);
    g_string_free(size, TRUE);
    g_string_free(stride, TRUE);
    g_string_free(box, TRUE);
}

/* The sizes and run names as members of `problem`. */
void ws_cuda_bind_problem(WsCuda *c, gboolean on)
{
    for (guint i = 0; i < c->p->n_vars; i++) {
        const WsVar *v = &c->p->var[i];
        if (v->kind != WS_VAR_SIZE && (v->kind != WS_VAR_RUN || v->real))
            continue;
        const char *name = ws_cuda_ident(c, v->name);
        c->var[i].s = on ? ws_cuda_format(c, "problem.%s", name) : name;
    }
}

static void call(WsCuda *c)
{
    const WsProgram *p = c->p;
    GString *s = g_string_new("&config, warpstave");
    for (guint i = 0; i < p->n_maps; i++)
        g_string_append_printf(s, ", %s", c->map[i]);
    for (guint i = 0; i < p->n_tensors; i++)
        g_string_append_printf(s, ", reinterpret_cast<uint64_t>(a.%s)", c->tensor[i]);
    for (guint pass = 0; pass < 2; pass++) {
        for (guint i = 0; i < p->n_vars; i++) {
            if (p->var[i].kind == (pass ? WS_VAR_SCALAR : WS_VAR_SIZE))
                g_string_append_printf(s, ", a.%s", ws_cuda_ident(c, p->var[i].name));
        }
    }
    if (p->tiles->launch == WS_LAUNCH_DYNAMIC)
        g_string_append(s, ", reinterpret_cast<uint64_t>(a.counter)");
    if (p->tiles->order == WS_ORDER_HILBERT)
        g_string_append(s, ", reinterpret_cast<uint64_t>(a.hilbert)");
    ws_cuda_line(c, "return cudaLaunchKernelEx(%s);", s->str);
    g_string_free(s, TRUE);
}

/* Maps are made anew where the arguments are others than those of the last launch. */
static void maps(WsCuda *c)
{
    const WsProgram *p = c->p;
    for (guint i = 0; i < p->n_maps; i++)
        ws_cuda_line(c, "static thread_local CUtensorMap %s;", c->map[i]);
    ws_cuda_line(c, "static thread_local Arguments made; // what the maps were made for");
    ws_cuda_line(c, "static thread_local bool any = false;");
    ws_cuda_bind_problem(c, TRUE);
    ws_cuda_open(c, "if (!any || memcmp(&made, &a, sizeof a) != 0)");
    ws_cuda_line(c, "any = false;");
    for (guint i = 0; i < p->n_maps && !c->error; i++)
        one_map(c, i);
    ws_cuda_line(c, "memcpy(&made, &a, sizeof a);");
    ws_cuda_line(c, "any = true;");
    ws_cuda_close(c);
    ws_cuda_bind_problem(c, FALSE);
}

static void launch(WsCuda *c)
{
    const WsProgram *p = c->p;
    GString *sizes = g_string_new(NULL);
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind == WS_VAR_SIZE)
            g_string_append_printf(sizes, "%sint(a.%s)", sizes->len ? ", " : "",
                                   ws_cuda_ident(c, p->var[i].name));
    }
    ws_cuda_line(c, "inline cudaError_t launch(const Arguments &a, cudaStream_t stream = 0)");
    ws_cuda_block(c, "");
    ws_cuda_line(c, "if (!counted(a))");
    ws_cuda_line(c, "    return cudaErrorInvalidValue;");
    ws_cuda_line(c, sizes->len ? "const Problem problem(%s);" : "const Problem problem{%s};",
                 sizes->str);
    g_string_free(sizes, TRUE);
    if (p->n_maps)
        maps(c);
    ws_cuda_bind_problem(c, TRUE);
    ws_cuda_line(c, "int device = 0, sms = 0;");
    ws_cuda_line(c, "cudaGetDevice(&device);");
    ws_cuda_line(c, "cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);");
    if (p->tiles->launch == WS_LAUNCH_SINGLE)
        ws_cuda_line(c, "const int ctas = problem.n_tiles * CLUSTER; // one tile each");
    else if (p->tiles->grid)
        ws_cuda_line(c, "const int ctas = max(int(%s) / CLUSTER, 1) * CLUSTER;",
                     ws_cuda_uniform(c, p->tiles->grid).s);
    else
        ws_cuda_line(c, "const int ctas = max(sms / CLUSTER, 1) * CLUSTER; // persistent");
    ws_cuda_bind_problem(c, FALSE);
    ws_cuda_line(c, "if (problem.n_tiles == 0)");
    ws_cuda_line(c, "    return cudaSuccess;");
    ws_cuda_line(c, "cudaFuncSetAttribute(warpstave, cudaFuncAttributeMaxDynamicSharedMemorySize, "
                    "SHARED_BYTES);");
    ws_cuda_line(c, "cudaLaunchConfig_t config = {};");
    ws_cuda_line(c, "config.gridDim = dim3(ctas);");
    ws_cuda_line(c, "config.blockDim = dim3(THREADS);");
    ws_cuda_line(c, "config.dynamicSmemBytes = SHARED_BYTES;");
    ws_cuda_line(c, "config.stream = stream;");
    if (ws_launch_begins_early(p)) {
        ws_cuda_line(c, "cudaLaunchAttribute early = {};");
        ws_cuda_line(c, "early.id = cudaLaunchAttributeProgrammaticStreamSerialization;");
        ws_cuda_line(c, "early.val.programmaticStreamSerializationAllowed = 1;");
        ws_cuda_line(c, "config.attrs = &early;");
        ws_cuda_line(c, "config.numAttrs = 1;");
    }
    call(c);
    ws_cuda_close(c);
}

char *ws_cuda_host(WsCuda *c)
{
    GString *outer = c->out;
    c->out = g_string_new(
        "// --- host: launch "
        "-----------------------------------------------------------------------------\n\n");
    c->depth = 0;
    arguments(c);
    if (c->p->n_maps)
        encode(c);
    ws_cuda_counted(c);
    launch(c);
    char *text = g_string_free(c->out, FALSE);
    c->out = outer;
    return text;
}
