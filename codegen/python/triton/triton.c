/* The words of triton.language that TLE and TLX share, and the functions that their texts call. */
#include "codegen/python/triton/triton.h"
#include "codegen/python/host_tensors.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/retired.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/program.h"

#include <string.h>

const char *ws_tl_type(WsDtype type)
{
    static const char *const name[WS_DTYPE_COUNT] = {
        [WS_DTYPE_F32] = "float32",  [WS_DTYPE_F16] = "float16",     [WS_DTYPE_BF16] = "bfloat16",
        [WS_DTYPE_TF32] = "float32", [WS_DTYPE_E4M3] = "float8e4nv", [WS_DTYPE_E5M2] = "float8e5",
        [WS_DTYPE_I8] = "int8",      [WS_DTYPE_U8] = "uint8",        [WS_DTYPE_I32] = "int32",
    };
    return name[type];
}

const char *ws_tl_converted(WsPy *y, const char *x, WsDtype from, WsDtype to)
{
    if (!strcmp(ws_tl_type(from), ws_tl_type(to)))
        return x;
    return ws_py_format(y, "%s.to(tl.%s)", x, ws_tl_type(to));
}

const char *ws_tl_reduction(WsReduce reduce)
{
    static const char *const word[] = {
        [WS_REDUCE_ADD] = "add",       [WS_REDUCE_MIN] = "min",     [WS_REDUCE_MAX] = "max",
        [WS_REDUCE_AND] = "and",       [WS_REDUCE_OR] = "or",       [WS_REDUCE_XOR] = "xor",
        [WS_REDUCE_EXCHANGE] = "xchg", [WS_REDUCE_COMPARE] = "cas",
    };
    return word[reduce];
}

static const char *shape_text(WsPy *y, const WsRegValue *v)
{
    if (v->rows == 1)
        return ws_py_format(y, "[%u]", v->cols);
    if (v->cols == 1 || v->cols == 4)
        return ws_py_format(y, "[%u]", v->rows);
    return ws_py_format(y, "[%u, %u]", v->rows, v->cols);
}

const char *ws_tl_full(WsPy *y, guint value, const char *x)
{
    const WsRegValue *v = &y->agent->value[value];
    if (v->rows == 1 && v->cols == 1)
        return x;
    if (!strcmp(x, "0.0") || !strcmp(x, "0"))
        return ws_py_format(y, "tl.zeros(%s, tl.%s)", shape_text(y, v), ws_tl_type(v->dtype));
    return ws_py_format(y, "tl.full(%s, %s, tl.%s)", shape_text(y, v), x, ws_tl_type(v->dtype));
}

const char *ws_tl_fresh(WsPy *y, guint value)
{
    WsDtype t = y->agent->value[value].dtype;
    gboolean integer = t == WS_DTYPE_I8 || t == WS_DTYPE_U8 || t == WS_DTYPE_I32;
    return ws_py_format(y, "%s = %s", y->value[value], ws_tl_full(y, value, integer ? "0" : "0.0"));
}

const char *ws_tl_row_index(WsPy *y, guint rows, guint cols)
{
    return ws_py_format(y, "tl.arange(0, %u)%s", rows, cols > 1 ? "[:, None]" : "");
}

const char *ws_tl_col_index(WsPy *y, guint rows, guint cols)
{
    return ws_py_format(y, "tl.arange(0, %u)%s", cols, rows > 1 ? "[None, :]" : "");
}

const char *ws_tl_spread(WsPy *y, const char *x, WsPyShape shape, guint rows, guint cols)
{
    return ws_py_format(y, "%s%s", x, shape == WS_PY_ROWS ? "[:, None]" : "[None, :]");
}

const char *ws_tl_reduce(WsPy *y, const char *what, const char *x, guint rows, guint cols)
{
    if (g_str_has_prefix(what, "lane"))
        return ws_py_format(y, "%s(%s)", ws_py_helper(y, what), x);
    return ws_py_format(y, "tl.%s(%s, 1)", what, x);
}

/* The last line of code is this one already. */
static gboolean stands(const WsPy *y, const char *line)
{
    g_auto(GStrv) all = g_strsplit(y->out->str, "\n", -1);
    for (guint i = g_strv_length(all); i-- > 0;) {
        const char *code = all[i] + strspn(all[i], " ");
        if (*code && *code != '#')
            return !strcmp(code, line);
    }
    return FALSE;
}

/* Accumulators whose first product starts them at 0: there is no flag for it. */
static void start_at_zero(WsPy *y, const WsTree *tree, const WsTree *loop)
{
    if (tree->kind == WS_TREE_OP && ws_op_is_product(tree->op->kind) &&
        ws_py_zeros_before(tree->op) == loop) {
        const char *line = ws_tl_fresh(y, tree->op->value[0].value);
        if (!stands(y, line))
            ws_py_line(y, "%s", line);
    }
    for (guint i = 0; i < tree->n_kids; i++) {
        if (tree->kid[i])
            start_at_zero(y, tree->kid[i], loop);
    }
}

void ws_tl_block_around(WsPy *y, const WsTree *block, gboolean begin)
{
    if (begin && block->kind == WS_TREE_LOOP)
        start_at_zero(y, block, block);
}

void ws_tl_mma_wait(WsPy *y, const WsOp *op, const char *call)
{
    const WsWait *w = op->wait;
    if (!op->n_flying) {
        ws_py_remark(y, op, "mma_wait %" G_GINT64_FORMAT ": nothing is in flight here", op->n);
        return;
    }
    const gint64 stay = ws_py_stay(y, op);
    for (guint i = 0; i < MAX(w->n_retired, 1); i++) {
        const WsOp *product = w->n_retired ? w->retired[i].op : op->flying[op->n_flying - 1];
        const guint value = product->value[0].value;
        gboolean again = FALSE;
        for (guint k = 0; k < i; k++)
            again = again || w->retired[k].op->value[0].value == value;
        if (!again)
            ws_py_line(y, "%s = %s(%" G_GINT64_FORMAT ", %s)", y->value[value], call, stay,
                       y->value[value]);
    }
}

/* Functions that the text may call. */
static const struct {
    const char *name, *text;
} helpers[] = {
    { "lanes",
      "@triton.jit\ndef lanes(x):\n"
      "    # sums per lane of a design: here they hold the whole row\n    return x\n\n\n" },
    { "lanesum", "@triton.jit\ndef lanesum(x):\n    return tl.sum(x, 1)\n\n\n" },
    { "lanemax", "@triton.jit\ndef lanemax(x):\n    return tl.max(x, 1)\n\n\n" },
    { "columns", "@triton.jit\ndef columns(x, start: tl.constexpr, size: tl.constexpr):\n"
                 "    # columns start .. start + size of a tile in registers\n"
                 "    if x.shape[1] == size:\n"
                 "        return x\n"
                 "    else:\n"
                 "        half: tl.constexpr = x.shape[1] // 2\n"
                 "        lo, hi = x.reshape([x.shape[0], 2, half]).permute(0, 2, 1).split()\n"
                 "        return columns(lo if start < half else hi, start % half, size)\n\n\n" },
    { "floor_div", "@triton.jit\ndef floor_div(x, n):\n"
                   "    return (x - (x % n + n) % n) // n\n\n\n" },
    { "floor_mod", "@triton.jit\ndef floor_mod(x, n):\n    return (x % n + n) % n\n\n\n" },
    { "fits", WS_PY_FITS "\n\n" },
    { "spaced", WS_PY_SPACED "\n\n" },
    { "counted", WS_PY_COUNTED "\n\n" },
    { "pow2floor",
      "def pow2floor(n):\n    return 1 << (n.bit_length() - 1) if n > 0 else 0\n\n\n" },
};

void ws_tl_helpers(WsPy *y)
{
    for (guint i = 0; i < G_N_ELEMENTS(helpers); i++) {
        if (g_hash_table_contains(y->helpers, helpers[i].name))
            g_string_append(y->out, helpers[i].text);
    }
}

void ws_tl_constants(WsPy *y)
{
    const WsProgram *p = y->p;
    for (guint i = 0; i < p->n_constants; i++) {
        if (y->of_file[i])
            ws_py_line(y, "%s = tl.constexpr(%" G_GINT64_FORMAT ")", y->constant[i],
                       p->constant[i]);
    }
}
