/* Where elements lie: layouts of values, of row and column numbers, of shared memory. One
 * accumulator layout per number of columns, so that values of the same width meet without a
 * conversion; values [rows, 1] follow the rows of the role's widest tile, sums per lane the lanes
 * that hold a row of an accumulator. */
#include "codegen/python/gluon/gluon.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/value.h"
#include "program/program.h"

#include <string.h>

const char *ws_gluon_dtype(WsPy *y, WsDtype t)
{
    static const char *const name[WS_DTYPE_COUNT] = {
        [WS_DTYPE_F32] = "float32",   [WS_DTYPE_F16] = "float16", [WS_DTYPE_BF16] = "bfloat16",
        [WS_DTYPE_TF32] = "float32",  [WS_DTYPE_I8] = "int8",     [WS_DTYPE_E4M3] = "float8e4nv",
        [WS_DTYPE_E5M2] = "float8e5", [WS_DTYPE_U8] = "uint8",    [WS_DTYPE_I32] = "int32",
    };
    if (!name[t])
        ws_py_refuse(y, y->op, ws_py_phrase(y, "dtype %s", ws_dtype_text(t)), NULL);
    return ws_py_format(y, "gl.%s", name[t] ? name[t] : "float32");
}

static guint ws_gluon_warps(WsPy *y)
{
    const WsPyPlan *plan = ws_gluon(y)->plan;
    for (guint i = 0; i < plan->n; i++) {
        if (&y->p->agent[plan->agent[i]] == y->agent)
            return plan->warps[i];
    }
    return y->agent->warps;
}

gboolean ws_gluon_lanes(const WsRegValue *v)
{
    return v->rows > 1 && v->cols == 4;
}

static gboolean is_tile(const WsRegValue *v)
{
    return v->rows > 1 && v->cols > 4;
}

const char *ws_gluon_tile_layout(WsPy *y, guint cols)
{
    WsGluon *g = ws_gluon(y);
    guint n = MIN(cols, 256);
    guint warps = y->agent ? y->agent->warps : 4;
    if (n % 8 != 0 || (cols & (cols - 1)) != 0 || warps % 4 != 0) {
        ws_py_refuse(y, y->op,
                     ws_py_phrase(y,
                                  "a tile of %u columns in registers of %u warps (extents are "
                                  "powers of two)",
                                  cols, warps),
                     "2^n columns, groups of 4 warps");
        return "None";
    }
    for (guint i = 0; i < g->layout->len; i++) {
        const WsGluonLayout *is = &g_array_index(g->layout, WsGluonLayout, i);
        if (is->k == g->inst_k && is->cols == n)
            return is->name;
    }
    WsGluonLayout is = { g->inst_k, n,
                         g->layout->len ? ws_py_format(y, "mma_layout_%u", g->layout->len + 1)
                                        : "mma_layout" };
    g_array_append_val(g->layout, is);
    return is.name;
}

/* One element per lane: the four lanes of a quad share rows, as in an accumulator. */
static const char *quad_layout(WsPy *y, guint rows)
{
    WsGluon *g = ws_gluon(y);
    if (y->agent->warps != 4 || !ws_py_pow2(rows) || rows < 64 || (g->quad && g->quad != rows)) {
        ws_py_refuse(y, y->op,
                     ws_py_phrase(y, "sums per lane of %u rows in %u warps", rows, y->agent->warps),
                     "row sums, or the same 2^n rows and groups of 4 warps everywhere");
        return "None";
    }
    g->quad = rows;
    return ws_py_format(y, "quad_%u", rows);
}

static char *quad_definition(guint rows)
{
    GString *s = g_string_new(NULL);
    g_string_append_printf(s,
                           "quad_%u = gl.constexpr(gl.DistributedLinearLayout(\n"
                           "    reg_bases=[[8, 0]",
                           rows);
    for (guint row = 64; row < rows; row *= 2)
        g_string_append_printf(s, ", [%u, 0]", row);
    g_string_append_printf(s,
                           "], lane_bases=[[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]],\n"
                           "    warp_bases=[[16, 0], [32, 0]], block_bases=[], shape=[%u, 4]))\n",
                           rows);
    return g_string_free(s, FALSE);
}

char *ws_gluon_layouts(WsPy *y)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < ws_gluon(y)->gathers->len; i++)
        g_string_append_printf(s, "%s\n", (const char *)ws_gluon(y)->gathers->pdata[i]);
    if (ws_gluon(y)->quad) {
        g_autofree char *quad = quad_definition(ws_gluon(y)->quad);
        g_string_append(s, quad);
    }
    return g_string_free(s, FALSE);
}

const char *ws_gluon_line_layout(WsPy *y)
{
    return ws_py_format(y, "gl.BlockedLayout([1], [32], [%u], [0])", ws_gluon_warps(y));
}

static const char *rows_of(WsPy *y, guint cols)
{
    return ws_py_format(y, "gl.SliceLayout(1, %s)", ws_gluon_tile_layout(y, cols));
}

static const char *rows_layout(WsPy *y)
{
    guint cols = ws_gluon(y)->row_cols;
    return cols ? rows_of(y, cols) : ws_gluon_line_layout(y);
}

static const char *cols_layout(WsPy *y, guint cols)
{
    return ws_gluon(y)->row_cols
               ? ws_py_format(y, "gl.SliceLayout(0, %s)", ws_gluon_tile_layout(y, cols))
               : ws_gluon_line_layout(y);
}

const char *ws_gluon_layout(WsPy *y, const WsRegValue *v)
{
    if (!ws_py_pow2(v->rows) || (!is_tile(v) && !ws_py_pow2(v->cols)))
        ws_py_refuse(y, y->op,
                     ws_py_phrase(y,
                                  "value %s of %u rows and %u columns (extents are powers of two)",
                                  v->name, v->rows, v->cols),
                     "make them powers of two");
    if (is_tile(v))
        return ws_gluon_tile_layout(y, v->cols);
    if (ws_gluon_lanes(v))
        return quad_layout(y, v->rows);
    if (v->rows > 1)
        return rows_layout(y);
    return v->cols > 1 ? cols_layout(y, v->cols) : NULL;
}

/* "[64, 256]" */
static const char *shape_of(WsPy *y, const WsRegValue *v)
{
    if (is_tile(v) || ws_gluon_lanes(v))
        return ws_py_format(y, "[%u, %u]", v->rows, v->cols);
    return ws_py_format(y, "[%u]", MAX(v->rows, v->rows > 1 ? 1 : v->cols));
}

const char *ws_gluon_shared_layout(WsPy *y, guint swizzle, WsDtype t, guint rank)
{
    return ws_py_format(y,
                        "gl.NVMMASharedLayout(swizzle_byte_width=%u, element_bitwidth=%u, rank=%u)",
                        swizzle, ws_dtype_bytes(t) * 8, rank);
}

/* --- of a role -------------------------------------------------------------------------------- */

void ws_gluon_role_begin(WsPy *y)
{
    WsGluon *g = ws_gluon(y);
    const WsAgent *a = y->agent;
    g_free(g->token);
    g->token = g_new0(gboolean, a->n_values + 1);
    g->row_cols = 0;
    g->inst_k = 16;
    for (guint v = 0; v < a->n_values; v++) {
        if (is_tile(&a->value[v]))
            g->row_cols = MAX(g->row_cols, a->value[v].cols);
    }
    guint seen = 0;
    for (guint i = 0; i < y->p->n_ops; i++) {
        const WsOp *op = y->p->op[i];
        if (!ws_op_is_product(op->kind) || op->agent < 0 || &y->p->agent[op->agent] != a)
            continue;
        if (seen && seen != op->mma->inst_k)
            ws_py_refuse(y, op, "products of different element sizes in one group",
                         "one element size per group");
        seen = g->inst_k = op->mma->inst_k;
    }
}

/* --- values ----------------------------------------------------------------------------------- */

const char *ws_gluon_full(WsPy *y, guint v, const char *x)
{
    const WsRegValue *r = &y->agent->value[v];
    const char *layout = ws_gluon_layout(y, r);
    if (!layout)
        return x;
    return ws_py_format(y, "gl.full(%s, %s, %s, %s)", shape_of(y, r), x,
                        ws_gluon_dtype(y, r->dtype), layout);
}

const char *ws_gluon_fresh(WsPy *y, guint v)
{
    const WsRegValue *r = &y->agent->value[v];
    const char *layout = ws_gluon_layout(y, r);
    if (!layout)
        return ws_py_format(y, "%s = %s", y->value[v], r->dtype == WS_DTYPE_I32 ? "0" : "0.0");
    return ws_py_format(y, "%s = gl.zeros(%s, %s, %s)", y->value[v], shape_of(y, r),
                        ws_gluon_dtype(y, r->dtype), layout);
}

const char *ws_gluon_row_index(WsPy *y, guint rows, guint cols)
{
    if (cols <= 1)
        return ws_py_format(y, "gl.arange(0, %u, layout=%s)", rows, rows_layout(y));
    return ws_py_format(y, "gl.arange(0, %u, layout=%s)[:, None]", rows, rows_of(y, cols));
}

const char *ws_gluon_col_index(WsPy *y, guint rows, guint cols)
{
    const char *s = ws_py_format(y, "gl.arange(0, %u, layout=%s)", cols, cols_layout(y, cols));
    return rows <= 1 ? s : ws_py_format(y, "%s[None, :]", s);
}

const char *ws_gluon_spread(WsPy *y, const char *x, WsPyShape shape, guint rows, guint cols)
{
    if (shape == WS_PY_COLS)
        return ws_py_format(y, "%s[None, :]", x);
    if (MIN(cols, 256) == MIN(ws_gluon(y)->row_cols, 256))
        return ws_py_format(y, "%s[:, None]", x);
    return ws_py_format(y, "gl.convert_layout(%s, %s)[:, None]", x, rows_of(y, cols));
}

const char *ws_gluon_to_lanes(WsPy *y, const char *rows)
{
    return ws_py_format(y, "gl.convert_layout(%s, gl.SliceLayout(1, quad_%u))[:, None]", rows,
                        ws_gluon(y)->quad);
}

const char *ws_gluon_of_lanes(WsPy *y, const char *rows)
{
    return ws_py_format(y, "gl.convert_layout(%s, %s)", rows, rows_layout(y));
}

const char *ws_gluon_reduce(WsPy *y, const char *what, const char *x, guint rows, guint cols)
{
    if (g_str_has_prefix(what, "lane")) {
        quad_layout(y, rows);
        return ws_py_format(y, "%s(%s)", ws_py_helper(y, what), x);
    }
    const char *s = ws_py_format(y, "gl.%s(%s, axis=1)", what, x);
    if (MIN(cols, 256) == MIN(ws_gluon(y)->row_cols, 256))
        return s;
    return ws_py_format(y, "gl.convert_layout(%s, %s)", s, rows_layout(y));
}

char *ws_gluon_role_head(WsPy *y, const char *body)
{
    GString *s = g_string_new(NULL);
    const GArray *all = ws_gluon(y)->layout;
    for (guint i = 0; i < all->len; i++) {
        const WsGluonLayout *is = &g_array_index(all, WsGluonLayout, i);
        if (ws_py_mentions(body, is->name))
            g_string_append_printf(s,
                                   "    %s: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, "
                                   "1], [16, %u, %u])\n",
                                   is->name, is->cols, is->k);
    }
    return g_string_free(s, FALSE);
}
