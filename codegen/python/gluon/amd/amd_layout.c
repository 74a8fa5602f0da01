/* Where elements lie in Gluon for AMD. The proof speaks of the rows of each half: so warps 0 to 3
 * must hold, read and load the first half of every value and tile that the halves share out, and
 * the layouts say just that: accumulators in a grid of warps with all of a warp's rows side by side
 * (tiles_per_warp), loads with the half as the last base of the warps. */
#include "codegen/python/gluon/amd/amd.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/value.h"
#include "program/program.h"

#include <string.h>

#define LANES 64

static guint warps_m(WsPy *y)
{
    return 2 * ws_gamd(y)->roles.waves_m;
}

/* --- values -----------------------------------------------------------------------------------*/

static gboolean is_tile(const WsRegValue *v)
{
    return v->rows > 1 && v->cols > 1;
}

gboolean ws_gamd_is_operand(WsPy *y, guint value)
{
    const WsWaveRole *r = &ws_gamd(y)->roles.role[value];
    return (r->a || r->b) && !r->math && !r->sum;
}

const char *ws_gamd_mma_layout(WsPy *y, guint rows)
{
    GArray *all = ws_gamd(y)->mma;
    const guint block = y->p->agent[0].mma_rows;
    if (!ws_py_pow2(rows) || rows % (block * warps_m(y)) != 0)
        ws_py_refuse(y, y->op,
                     ws_py_phrase(y,
                                  "a tile of %u rows in registers (a power of two is needed, "
                                  "%u for each warp at least)",
                                  rows, block),
                     ws_py_phrase(y, "2^n rows, %u or more", 8 * block));
    gboolean known = FALSE;
    for (guint i = 0; i < all->len; i++)
        known |= g_array_index(all, guint, i) == rows;
    if (!known)
        g_array_append_val(all, rows);
    return ws_py_format(y, "mma_%u", rows);
}

/* Both operands of a product have their columns in the same order: in fours, as an accumulator
 * has them, where a statement makes one of them. */
const char *ws_gamd_operand_layout(WsPy *y, guint index, guint value, guint rows)
{
    const WsWaveRoles *r = &ws_gamd(y)->roles;
    const guint width = ws_wave_by_statements(r, r->role[value].klass) ? 4 : 8;
    return ws_py_format(y, "gl.DotOperandLayout(%u, %s, %u)", index, ws_gamd_mma_layout(y, rows),
                        width);
}

/* Rows of the accumulators that a product of this operand adds to; 0: of different ones. */
static guint sum_rows(WsPy *y, guint value)
{
    guint rows = 0;
    for (guint i = 0; i < y->p->n_ops; i++) {
        const WsOp *op = y->p->op[i];
        if (!op->mma || (op->value[1].value != value && op->value[2].value != value))
            continue;
        const guint is = y->agent->value[op->value[0].value].rows;
        if (rows && rows != is)
            return 0;
        rows = is;
    }
    return rows;
}

const char *ws_gamd_layout(WsPy *y, guint value)
{
    const WsRegValue *v = &y->agent->value[value];
    const WsWaveRole *r = &ws_gamd(y)->roles.role[value];
    if (v->rows == 1 && v->cols == 1)
        return NULL;
    if (v->rows == 1 || !ws_py_pow2(v->rows) || !ws_py_pow2(v->cols) ||
        (r->b && (r->a || r->math || r->sum))) {
        ws_py_refuse(y, y->op, ws_py_phrase(y, "value %s, which has no layout in warps", v->name),
                     "tiles of 2^n rows and columns, and a value of its own for operand b");
        return NULL;
    }
    if (!is_tile(v)) {
        if (ws_gamd(y)->rows != v->rows)
            ws_py_refuse(y, y->op,
                         ws_py_phrase(y, "value %s, of other rows than the tiles", v->name),
                         "the same rows in all values");
        return ws_py_format(y, "gl.SliceLayout(1, %s)", ws_gamd_mma_layout(y, v->rows));
    }
    if (!ws_gamd_is_operand(y, value))
        return ws_gamd_mma_layout(y, v->rows);
    const guint rows = sum_rows(y, value);
    if (!rows) {
        ws_py_refuse(y, y->op,
                     ws_py_phrase(y, "value %s, an operand of sums of different rows", v->name),
                     "a value of its own for each");
        return NULL;
    }
    return ws_gamd_operand_layout(y, r->b ? 1 : 0, value, rows);
}

static const char *shape_of(WsPy *y, const WsRegValue *v, gboolean turned)
{
    if (!is_tile(v))
        return ws_py_format(y, "[%u]", v->rows);
    return turned ? ws_py_format(y, "[%u, %u]", v->cols, v->rows)
                  : ws_py_format(y, "[%u, %u]", v->rows, v->cols);
}

const char *ws_gamd_full(WsPy *y, guint v, const char *x)
{
    const WsRegValue *r = &y->agent->value[v];
    const char *layout = ws_gamd_layout(y, v);
    if (!layout)
        return x;
    return ws_py_format(y, "gl.full(%s, %s, %s, %s)", shape_of(y, r, ws_gamd(y)->roles.role[v].b),
                        x, ws_gluon_dtype(y, r->dtype), layout);
}

const char *ws_gamd_fresh(WsPy *y, guint v)
{
    const char *zero = ws_dtype_real(y->agent->value[v].dtype) ? "0.0" : "0";
    return ws_py_format(y, "%s = %s", y->value[v], ws_gamd_full(y, v, zero));
}

const char *ws_gamd_row_index(WsPy *y, guint rows, guint cols)
{
    return ws_py_format(y, "gl.arange(0, %u, layout=gl.SliceLayout(1, %s))%s", rows,
                        ws_gamd_mma_layout(y, rows), cols > 1 ? "[:, None]" : "");
}

const char *ws_gamd_col_index(WsPy *y, guint rows, guint cols)
{
    if (rows <= 1 && !ws_gamd(y)->rows) {
        ws_py_refuse(y, y->op, "columns beside no tile", "statements on tiles");
        return "None";
    }
    return ws_py_format(y, "gl.arange(0, %u, layout=gl.SliceLayout(0, %s))%s", cols,
                        ws_gamd_mma_layout(y, rows > 1 ? rows : ws_gamd(y)->rows),
                        rows > 1 ? "[None, :]" : "");
}

const char *ws_gamd_spread(WsPy *y, const char *x, WsPyShape shape, guint rows, guint cols)
{
    return ws_py_format(y, shape == WS_PY_COLS ? "%s[None, :]" : "%s[:, None]", x);
}

const char *ws_gamd_reduce(WsPy *y, const char *what, const char *x, guint rows, guint cols)
{
    if (g_str_has_prefix(what, "lane"))
        ws_py_refuse(y, y->op, "sums per lane", "row sums");
    return ws_py_format(y, "gl.%s(%s, axis=1)", what, x);
}

/* --- memory -----------------------------------------------------------------------------------*/

static void basis(GString *s, guint row, guint col)
{
    g_string_append_printf(s, "%s[%u, %u]", s->len ? ", " : "", row, col);
}

/* Columns, the rows of a piece, the pieces of a half, the halves; bytes stay free behind a piece.
 */
static const char *padded(WsPy *y, const WsBuffer *b)
{
    const guint bytes = ws_dtype_bytes(b->dtype);
    g_autoptr(GString) s = g_string_new(NULL);
    if (!ws_py_pow2(b->rows) || !ws_py_pow2(b->cols))
        ws_py_refuse(y, NULL,
                     ws_py_phrase(y, "gaps between %u rows of %u elements", b->rows, b->cols),
                     "2^n rows and columns");
    if (!ws_py_pow2(b->gap / bytes))
        ws_py_refuse(y, NULL, ws_py_phrase(y, "gaps of %u elements", b->gap / bytes),
                     "gaps of 2^n elements");
    for (guint col = 1; col < b->cols; col *= 2)
        basis(s, 0, col);
    for (guint row = b->pieces; row < b->share; row *= 2)
        basis(s, row, 0);
    for (guint row = 1; row < b->pieces; row *= 2)
        basis(s, row, 0);
    for (guint row = b->share; row < b->rows; row *= 2)
        basis(s, row, 0);
    return ws_py_format(y, "gl.PaddedSharedLayout([[%u, %u]], [%s], [], [%u, %u])",
                        WS_PIECE / bytes, b->gap / bytes, s->str, b->rows, b->cols);
}

/* A row's pieces of 16 bytes change places by the row: eight rows of 128 bytes meet all banks. */
const char *ws_gamd_shared_layout(WsPy *y, const WsBuffer *b)
{
    const guint bytes = b->cols * ws_dtype_bytes(b->dtype), vec = 16 / ws_dtype_bytes(b->dtype);
    const guint phases = MIN(b->cols / MAX(vec, 1), 8);
    if (b->pad)
        ws_py_refuse(y, NULL, ws_py_phrase(y, "rows of %s, which `pad` keeps apart", b->name),
                     "`gap` or no padding: a wave loads to bytes that follow each other");
    if (b->gap)
        return padded(y, b);
    return ws_py_format(y, "gl.SwizzledSharedLayout(%u, %u, %u, order=[1, 0])", vec,
                        bytes < 128 ? 128 / bytes : 1, MAX(phases, 1));
}

const WsGamdLoad *ws_gamd_load_layout(WsPy *y, const WsOp *op, const WsBuffer *b)
{
    GArray *all = ws_gamd(y)->load;
    const guint bytes = ws_dtype_bytes(b->dtype), rows = b->rows, cols = b->cols;
    if (!ws_py_pow2(rows) || !ws_py_pow2(cols) || cols * bytes < 16 ||
        (guint64)rows * cols * bytes < LANES * 16 * 8) {
        ws_py_refuse(y, op,
                     ws_py_phrase(y,
                                  "a tile of %u rows of %u elements, which eight warps do not "
                                  "share out in pieces of 16 bytes",
                                  rows, cols),
                     "2^n rows and columns, 8 KiB or more");
        return NULL;
    }
    for (guint i = 0; i < all->len; i++) {
        const WsGamdLoad *is = &g_array_index(all, WsGamdLoad, i);
        if (is->rows == rows && is->cols == cols && is->bytes == bytes && is->pieces == b->pieces)
            return is;
    }
    WsGamdLoad is = { rows, cols, bytes, b->pieces,
                      bytes == 2 ? ws_py_format(y, "%ux%u", rows, cols)
                                 : ws_py_format(y, "%ux%ux%u", rows, cols, bytes) };
    if (b->pieces)
        is.name = ws_py_format(y, "%s_%u", is.name, b->pieces);
    g_array_append_val(all, is);
    return &g_array_index(all, WsGamdLoad, all->len - 1);
}

/* Bases of the places of a tile in order of memory, from 16 bytes on, up to half of the rows. */
static guint bases(const WsGamdLoad *is, guint (*at)[2])
{
    guint n = 0;
    for (guint col = 16 / is->bytes; col < is->cols; col *= 2, n++)
        at[n][0] = 0, at[n][1] = col;
    const guint deal = MAX(is->pieces, 1); /* rows of a piece are so far apart */
    for (guint row = deal; row < is->rows / 2; row *= 2, n++)
        at[n][0] = row, at[n][1] = 0;
    for (guint row = 1; row < deal; row *= 2, n++)
        at[n][0] = row, at[n][1] = 0;
    return n;
}

static void listed(GString *s, const char *name, guint (*at)[2], guint from, guint to)
{
    g_string_append_printf(s, "%s", name);
    for (guint i = from; i < to; i++)
        g_string_append_printf(s, "%s[%u, %u]", i > from ? ", " : "", at[i][0], at[i][1]);
}

static void load_head(GString *s, const WsGamdLoad *is)
{
    guint at[64][2], small[4][2] = { { 0 } }, n = 0, all = bases(is, at);
    for (guint col = 1; col < 16 / is->bytes; col *= 2, n++)
        small[n][1] = col;
    g_string_append_printf(s, "    load_%s: gl.constexpr = gl.DistributedLinearLayout(\n",
                           is->name);
    listed(s, "        reg_bases=[", small, 0, n);
    if (all > 8)
        listed(s, ", ", at, 8, all);
    listed(s, "],\n        lane_bases=[", at, 0, 6);
    listed(s, "],\n        warp_bases=[", at, 6, 8);
    g_string_append_printf(s, ", [%u, 0]], block_bases=[], shape=[%u, %u])\n", is->rows / 2,
                           is->rows, is->cols);
    g_string_append_printf(
        s,
        "    row_%s = gl.arange(0, %u, layout=gl.SliceLayout(1, load_%s))[:, None]\n"
        "    col_%s = gl.arange(0, %u, layout=gl.SliceLayout(0, load_%s))[None, :]\n",
        is->name, is->rows, is->name, is->name, is->cols, is->name);
}

/* --- of a role --------------------------------------------------------------------------------*/

void ws_gamd_role_begin(WsPy *y)
{
    WsGamd *g = ws_gamd(y);
    g->rows = 0;
    for (guint v = 0; v < y->agent->n_values; v++) {
        const WsRegValue *is = &y->agent->value[v];
        if (is_tile(is) && !ws_gamd_is_operand(y, v))
            g->rows = MAX(g->rows, is->rows);
    }
}

char *ws_gamd_role_head(WsPy *y, const char *body)
{
    const WsGamd *g = ws_gamd(y);
    const guint block = y->p->agent[0].mma_rows;
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < g->mma->len; i++) {
        const guint rows = g_array_index(g->mma, guint, i);
        g_string_append_printf(s,
                               "    mma_%u: gl.constexpr = gl.amd.AMDMFMALayout(\n"
                               "        version=4, instr_shape=[%u, %u, %u], transposed=True, "
                               "warps_per_cta=[%u, %u],\n"
                               "        tiles_per_warp=[%u, 1])\n",
                               rows, block, block, 16 * 32 / block, warps_m(y), g->roles.waves_n,
                               rows / (block * warps_m(y)));
    }
    for (guint i = 0; i < g->load->len; i++)
        load_head(s, &g_array_index(g->load, WsGamdLoad, i));
    return g_string_free(s, FALSE);
}
