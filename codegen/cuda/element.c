/* Elements: which register holds which row and column (the map of fragment.c, as loops over slots),
 * conversions, and elements of tensors. */
#include "codegen/cuda/cuda.h"
#include "program/parts/agent.h"
#include "program/parts/tensor.h"
#include "program/parts/value.h"
#include "program/program.h"

#include <string.h>

WsPlaceShape ws_cuda_shape(const WsRegValue *v)
{
    if (v->rows == 1 && v->cols == 1)
        return WS_PLACE_SCALAR;
    if (v->layout == WS_LAYOUT_LINEAR)
        return WS_PLACE_LINEAR;
    if (v->rows == 1)
        return WS_PLACE_COLUMNS;
    return v->cols == 1 ? WS_PLACE_ROWS : v->cols == 4 ? WS_PLACE_PARTIAL : WS_PLACE_TILE;
}

const char *ws_cuda_register_type(const WsRegValue *v)
{
    if (v->dtype == WS_DTYPE_I32)
        return "int";
    return ws_dtype_bytes(v->dtype) < 4 ? "uint32_t" : "float";
}

gboolean ws_cuda_view(WsCuda *c, const WsValueUse *use, WsCudaView *v)
{
    const WsRegValue *value = &c->agent->value[use->value];
    *v = (WsCudaView){ .shape = ws_cuda_shape(value),
                       .v = value,
                       .name = c->value[use->value],
                       .rows = use->rows,
                       .cols = use->cols,
                       .n_row = 1,
                       .n_col = 1 };
    if (!ws_cuda_constant(c, use->row0, &v->row0) || !ws_cuda_constant(c, use->col0, &v->col0))
        return FALSE;
    guint unit = ws_dtype_bytes(value->dtype) == 1 ? 16 : 8;
    gboolean rows = v->row0 % 64 == 0 && v->rows % 64 == 0;
    switch (v->shape) {
    case WS_PLACE_SCALAR:
        return TRUE;
    case WS_PLACE_LINEAR:
        v->n_row = value->registers;
        return TRUE;
    case WS_PLACE_TILE:
        v->n_row = v->rows / 32;
        v->n_col = v->cols / 4;
        return rows && v->col0 % unit == 0 && v->cols % unit == 0;
    case WS_PLACE_COLUMNS:
        v->n_col = v->cols / 4;
        return v->col0 % 8 == 0 && v->cols % 8 == 0;
    case WS_PLACE_PARTIAL:
    case WS_PLACE_ROWS:
    default:
        v->n_row = v->rows / 32;
        return rows && v->col0 == 0 && v->cols == value->cols;
    }
}

guint ws_cuda_slots(WsCuda *c, const WsCudaView *v, guint step)
{
    guint n = 0;
    if (v->shape == WS_PLACE_LINEAR) {
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(c, "for (int li = 0; li < %u; ++li)", v->n_row);
        /* opaque: what follows from it is not kept in registers from one step to the next */
        ws_cuda_line(c, "const int element = li * %u + int(%s(thread));", c->agent->threads,
                     ws_cuda_prim_name(WS_PRIM_MOV32));
        if (v->v->rows > 1)
            ws_cuda_line(c, "const int e_row = quot(element, %u), e_col = mod(element, %u);",
                         v->v->cols, v->v->cols);
        return 1;
    }
    if (v->shape == WS_PLACE_TILE || v->shape == WS_PLACE_ROWS || v->shape == WS_PLACE_PARTIAL) {
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(c, "for (int ri = 0; ri < %u; ++ri)", v->n_row);
        n++;
    }
    if (v->shape == WS_PLACE_TILE || v->shape == WS_PLACE_COLUMNS) {
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(c,
                     step == 1 ? "for (int ci = 0; ci < %u; ++ci)"
                               : "for (int ci = 0; ci < %u; ci += %u)",
                     v->n_col, step);
        n++;
    }
    return n;
}

void ws_cuda_end_slots(WsCuda *c, guint n)
{
    while (n--)
        ws_cuda_close(c);
}

static const char *less(WsCuda *c, const char *name, guint by)
{
    return by ? ws_cuda_format(c, "%s - %u", name, by) : name;
}

const char *ws_cuda_row(WsCuda *c, const WsCudaView *v)
{
    if (v->shape == WS_PLACE_LINEAR)
        return v->v->rows > 1 ? less(c, "e_row", v->row0) : "0";
    return v->shape == WS_PLACE_TILE || v->shape == WS_PLACE_ROWS || v->shape == WS_PLACE_PARTIAL
               ? ws_cuda_format(c, "%s + slot_row(ri)", c->row)
               : "0";
}

static const char *slot_col(WsCuda *c, guint more)
{
    return more ? ws_cuda_format(c, "ci + %u", more) : "ci";
}

const char *ws_cuda_col(WsCuda *c, const WsCudaView *v, guint more)
{
    if (v->shape == WS_PLACE_LINEAR)
        return less(c, v->v->rows > 1 ? "e_col" : "element", v->col0);
    if (v->shape == WS_PLACE_PARTIAL)
        return "lane % 4";
    return v->shape == WS_PLACE_TILE || v->shape == WS_PLACE_COLUMNS
               ? ws_cuda_format(c, "%s + slot_col(%s)", c->col, slot_col(c, more))
               : "0";
}

const char *ws_cuda_there(WsCuda *c, const WsCudaView *v)
{
    guint all = v->v->rows * v->v->cols;
    if (v->shape != WS_PLACE_LINEAR)
        return NULL;
    gboolean part = v->rows < v->v->rows || v->cols < v->v->cols;
    if (!part && v->v->registers * c->agent->threads == all)
        return NULL;
    if (!part)
        return ws_cuda_format(c, "element < %u", all);
    return ws_cuda_format(c, "element < %u && uint32_t(%s) < %u && uint32_t(%s) < %u", all,
                          ws_cuda_row(c, v), v->rows, ws_cuda_col(c, v, 0), v->cols);
}

const char *ws_cuda_owner(const WsCudaView *v)
{
    return v->shape == WS_PLACE_ROWS      ? "lane % 4 == 0"
           : v->shape == WS_PLACE_COLUMNS ? "thread < 4"
           : v->shape == WS_PLACE_SCALAR  ? "thread == 0"
                                          : NULL;
}

const char *ws_cuda_register(WsCuda *c, const WsCudaView *v, guint more)
{
    static const char *const at[] = { "", "at8", "at16", "", "at" };
    switch (v->shape) {
    case WS_PLACE_SCALAR:
        return v->name;
    case WS_PLACE_LINEAR:
        return ws_cuda_format(c, "%s[li]", v->name);
    case WS_PLACE_COLUMNS:
        return ws_cuda_format(c, "%s[%s + %u]", v->name, slot_col(c, more), v->col0 / 4);
    case WS_PLACE_TILE:
        return ws_cuda_format(c, "%s[%s<%u>(ri + %u, %s + %u)]", v->name,
                              at[ws_dtype_bytes(v->v->dtype)], v->v->cols, v->row0 / 32,
                              slot_col(c, more), v->col0 / 4);
    case WS_PLACE_PARTIAL:
    case WS_PLACE_ROWS:
    default:
        return ws_cuda_format(c, "%s[ri + %u]", v->name, v->row0 / 32);
    }
}

/* --- conversions -------------------------------------------------------------------------------*/

const char *ws_cuda_widen(WsCuda *c, WsDtype t, const char *bits)
{
    if (t == WS_DTYPE_I32)
        return ws_cuda_format(c, "int(%s)", bits);
    if (ws_dtype_bytes(t) == 4)
        return ws_cuda_format(c, "__uint_as_float(%s)", bits);
    return ws_cuda_format(c, "widen_%s(%s)", ws_dtype_text(t), bits);
}

const char *ws_cuda_narrow(WsCuda *c, WsDtype t, const char *x)
{
    if (t == WS_DTYPE_I32)
        return ws_cuda_format(c, "uint32_t(%s)", x);
    if (t == WS_DTYPE_F32)
        return ws_cuda_format(c, "__float_as_uint(%s)", x);
    if (t == WS_DTYPE_TF32)
        return ws_cuda_format(c, "cvt_tf32(%s)", x);
    return ws_cuda_format(c, "narrow_%s(%s)", ws_dtype_text(t), x);
}

/* Two neighbours: 16-bit, `lo` in the low half; 8-bit: in the low 16 bits. */
const char *ws_cuda_pair(WsCuda *c, WsDtype t, const char *lo, const char *hi, gboolean here)
{
    static const WsPrim prim[WS_DTYPE_COUNT][2] = {
        [WS_DTYPE_BF16] = { WS_PRIM_CVT_BF16X2, WS_PRIM_CVT_BF16X2_HERE },
        [WS_DTYPE_F16] = { WS_PRIM_CVT_F16X2, WS_PRIM_CVT_F16X2_HERE },
        [WS_DTYPE_E4M3] = { WS_PRIM_CVT_E4M3X2, WS_PRIM_CVT_E4M3X2 },
        [WS_DTYPE_E5M2] = { WS_PRIM_CVT_E5M2X2, WS_PRIM_CVT_E5M2X2 },
    };
    if (!ws_dtype_real(t))
        return ws_cuda_format(c, "pair8(%s, %s)", lo, hi);
    return ws_cuda_format(c, "%s(%s, %s)", ws_cuda_prim_name(prim[t][here]), hi, lo);
}

const char *ws_cuda_get(WsCuda *c, const WsCudaView *v, guint more)
{
    const char *reg = ws_cuda_register(c, v, more);
    guint bytes = ws_dtype_bytes(v->v->dtype);
    if (bytes == 4)
        return reg;
    if (v->shape == WS_PLACE_TILE)
        reg = bytes == 2 ? ws_cuda_format(c, "%s >> 16 * mod(%s, 2)", reg, slot_col(c, more))
                         : ws_cuda_format(c, "%s >> 8 * mod(%s, 4)", reg, slot_col(c, more));
    return ws_cuda_widen(c, v->v->dtype, reg);
}

void ws_cuda_set(WsCuda *c, const WsCudaView *v, guint more, const char *x)
{
    const char *reg = ws_cuda_register(c, v, more);
    guint bytes = ws_dtype_bytes(v->v->dtype);
    if (v->v->dtype == WS_DTYPE_TF32)
        x = ws_cuda_format(c, "__uint_as_float(%s)", ws_cuda_narrow(c, WS_DTYPE_TF32, x));
    else if (bytes < 4)
        x = ws_cuda_narrow(c, v->v->dtype, x);
    if (bytes < 4 && v->shape == WS_PLACE_TILE)
        ws_cuda_line(c, "%s = insert<%u>(%s, mod(%s, %u), %s);", reg, 8 * bytes, reg,
                     slot_col(c, more), 4 / bytes, x);
    else
        ws_cuda_line(c, "%s = %s;", reg, x);
}

/* --- elements of tensors -----------------------------------------------------------------------*/

static void accessor(WsCuda *c, GString *s, guint i, const char *text)
{
    const WsTensor *t = &c->p->tensor[i];
    GString *args = g_string_new(NULL), *pass = g_string_new(NULL);
    const char *name = c->tensor[i];
    guint bytes = ws_dtype_bytes(t->dtype);
    for (guint d = 0; d < t->rank; d++) {
        g_string_append_printf(args, "%sint i%u", d ? ", " : "", d);
        g_string_append_printf(pass, "%si%u", d ? ", " : "", d);
    }
    g_string_append_printf(s,
                           "\n    // elements of %s (%s); nothing is read outside of its shape\n",
                           name, ws_dtype_text(t->dtype));
    g_string_append_printf(s,
                           "    __device__ __forceinline__ bool %s_inside(%s) const\n    {\n"
                           "        return ",
                           name, args->str);
    for (guint d = 0; d < t->rank; d++)
        g_string_append_printf(s, "%suint32_t(i%u) < uint32_t(%s)", d ? " && " : "", d,
                               ws_cuda_uniform(c, t->shape[d]).s);
    g_string_append_printf(
        s,
        ";\n    }\n    __device__ __forceinline__ uint64_t %s_address(%s) const\n"
        "    {\n        return %s + %u * (",
        name, args->str, name, bytes);
    for (guint d = 0; d < t->rank; d++) {
        WsTerm stride = ws_cuda_uniform(c, t->stride[d]);
        gint64 one;
        if (ws_term_known(stride, &one) && one == 1)
            g_string_append_printf(s, "%sint64_t(i%u)", d ? " + " : "", d);
        else
            g_string_append_printf(s, "%sint64_t(i%u) * %s", d ? " + " : "", d,
                                   ws_term_in(&c->terms, stride, WS_PREC_UNARY));
    }
    g_string_append(s, ");\n    }\n");
    if (ws_cuda_calls(text, ws_cuda_format(c, "%s_at", name))) {
        const char *load = ws_cuda_format(c, "%s(%s_address(%s), %s_inside(%s))",
                                          ws_cuda_prim_name(bytes == 4   ? WS_PRIM_LDG_B32
                                                            : bytes == 2 ? WS_PRIM_LDG_B16
                                                                         : WS_PRIM_LDG_B8),
                                          name, pass->str, name, pass->str);
        g_string_append_printf(s,
                               "    __device__ __forceinline__ %s %s_at(%s) const\n    {\n"
                               "        return %s;\n    }\n",
                               ws_dtype_real(t->dtype) ? "float" : "int", name, args->str,
                               ws_cuda_widen(c, t->dtype, load));
    }
    g_string_free(args, TRUE);
    g_string_free(pass, TRUE);
}

char *ws_cuda_tensor_access(WsCuda *c, const char *text)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < c->p->n_tensors; i++) {
        if (ws_cuda_calls(text, ws_cuda_format(c, "%s_at", c->tensor[i])) ||
            ws_cuda_calls(text, ws_cuda_format(c, "%s_address", c->tensor[i])))
            accessor(c, s, i, text);
    }
    return g_string_free(s, FALSE);
}
