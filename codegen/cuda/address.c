/* Shared memory: struct Shared, addresses of stages and barriers, offsets of views. */
#include "codegen/cuda/cuda.h"
#include "program/parts/access.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* --- names of counts ---------------------------------------------------------------------------*/

const char *ws_cuda_count(WsCuda *c, const char *name, guint value)
{
    return name ? ws_cuda_ident(c, name) : ws_cuda_format(c, "%u", value);
}

/* x mod n where n is a number of stages: by its name. */
static const char *ring(WsCuda *c, const WsExpr *x, guint n, const char *name)
{
    gboolean is_mod = x->op == WS_EXPR_MOD && x->arg[1]->op == WS_EXPR_INT && x->arg[1]->i == n;
    if (!is_mod || g_ascii_isdigit(*name))
        return ws_cuda_use(c, x).s;
    WsTerm t = ws_cuda_use(c, x->arg[0]);
    gint64 v;
    if (ws_term_known(t, &v))
        return ws_cuda_use(c, x).s;
    return ws_cuda_format(c, "mod(%s, %s)", t.s, name);
}

/* --- addresses ---------------------------------------------------------------------------------*/

/* "smem.full(1, mod(k_total, STAGES))": element of an array, and which of `n` slots or stages. */
static const char *object(WsCuda *c, const char *name, gboolean array, const WsExpr *element,
                          guint n, const char *count, const WsExpr *at)
{
    const char *which = array ? element ? ws_cuda_use(c, element).s : "0" : "";
    const char *slot = n > 1 ? at ? ring(c, at, n, count) : "0" : "";
    return ws_cuda_format(c, "smem.%s(%s%s%s)", name, which, array && n > 1 ? ", " : "", slot);
}

const char *ws_cuda_barrier(WsCuda *c, const WsOp *op)
{
    const WsBarrier *b = &c->p->barrier[op->barrier];
    return object(c, c->barrier[op->barrier], b->array > 1 || b->is_array, op->element, b->slots,
                  ws_cuda_count(c, b->slots_name, b->slots), op->slot);
}

const char *ws_cuda_stage(WsCuda *c, const WsAccess *a)
{
    const WsBuffer *b = &c->p->buffer[a->buffer];
    return object(c, c->buffer[a->buffer], b->array > 1 || b->is_array, a->element, b->stages,
                  ws_cuda_count(c, b->stages_name, b->stages), a->stage);
}

WsTerm ws_cuda_view_offset(WsCuda *c, const WsAccess *a, guint row, guint col)
{
    const WsBuffer *b = &c->p->buffer[a->buffer];
    guint bytes = ws_dtype_bytes(b->dtype), cols = MAX(b->chunk_cols, 1);
    WsTerm zero = ws_term_int(&c->terms, 0);
    WsTerm r = a->row0 ? ws_cuda_use(c, a->row0) : zero;
    WsTerm k = a->col0 ? ws_cuda_use(c, a->col0) : zero;
    gboolean outer = c->terms.nonneg;
    c->terms.nonneg = TRUE;
    r = ws_term_op(&c->terms, WS_EXPR_ADD, r, ws_term_int(&c->terms, row));
    k = ws_term_op(&c->terms, WS_EXPR_ADD, k, ws_term_int(&c->terms, col));
    WsTerm n = ws_term_int(&c->terms, cols);
    WsTerm chunk = ws_term_op(&c->terms, WS_EXPR_MUL, ws_term_op(&c->terms, WS_EXPR_DIV, k, n),
                              ws_term_int(&c->terms, b->chunk_bytes));
    WsTerm in = ws_term_op(&c->terms, WS_EXPR_MUL, ws_term_op(&c->terms, WS_EXPR_MOD, k, n),
                           ws_term_int(&c->terms, bytes));
    WsTerm at = ws_term_op(&c->terms, WS_EXPR_MUL, r, ws_term_int(&c->terms, b->row_bytes));
    at = ws_term_op(&c->terms, WS_EXPR_ADD, ws_term_op(&c->terms, WS_EXPR_ADD, at, chunk), in);
    c->terms.nonneg = outer;
    return at;
}

/* --- struct Shared -----------------------------------------------------------------------------*/

static void member(GString *s, const char *name, gboolean array, gboolean stages, guint64 offset,
                   guint64 array_pitch, guint64 pitch)
{
    g_string_append_printf(s,
                           "    __device__ __forceinline__ uint32_t %s(%s%s%s) const { return base "
                           "+ %" G_GUINT64_FORMAT,
                           name, array ? "int element" : "", array && stages ? ", " : "",
                           stages ? "int stage" : "", offset);
    if (array)
        g_string_append_printf(s, " + element * %" G_GUINT64_FORMAT, array_pitch);
    if (stages)
        g_string_append_printf(s, " + stage * %" G_GUINT64_FORMAT, pitch);
    g_string_append(s, "; }\n");
}

/* Byte offset of an element in its stage. */
static void offset_function(WsCuda *c, GString *s, guint i)
{
    const WsBuffer *b = &c->p->buffer[i];
    g_string_append_printf(
        s,
        "    __device__ __forceinline__ static uint32_t %s_offset(int row, int col)\n"
        "    {\n        return swizzle<%u>(row * %u + ",
        c->buffer[i], b->swizzle, b->row_bytes);
    if (b->chunk_cols && b->chunk_cols < b->cols)
        g_string_append_printf(s, "quot(col, %u) * %u + mod(col, %u) * %u);\n    }\n",
                               b->chunk_cols, b->chunk_bytes, b->chunk_cols,
                               ws_dtype_bytes(b->dtype));
    else
        g_string_append_printf(s, "col * %u);\n    }\n", ws_dtype_bytes(b->dtype));
}

static void buffer(WsCuda *c, GString *s, guint i, const char *text)
{
    const WsBuffer *b = &c->p->buffer[i];
    gboolean array = b->array > 1 || b->is_array;
    g_string_append_printf(s, "    // %s: %s", c->buffer[i], ws_dtype_text(b->dtype));
    if (array)
        g_string_append_printf(s, " [%u]", b->array);
    if (b->stages > 1)
        g_string_append_printf(s, " [%s stages]", ws_cuda_count(c, b->stages_name, b->stages));
    if (b->rank == 2)
        g_string_append_printf(s, " [%u rows][%u columns]", b->rows, b->cols);
    else
        g_string_append_printf(s, " [%u]", b->cols);
    if (b->swizzle)
        g_string_append_printf(s, ", %u-byte swizzle, chunks of %u columns", b->swizzle,
                               b->chunk_cols);
    if (b->over >= 0)
        g_string_append_printf(s, "; lies over %s", c->buffer[b->over]);
    g_string_append_printf(s, "; %" G_GUINT64_FORMAT " bytes\n", b->bytes);
    member(s, c->buffer[i], array, b->stages > 1, b->offset, b->array_pitch, b->stage_pitch);
    if (ws_cuda_calls(text, ws_cuda_format(c, "%s_offset", c->buffer[i])))
        offset_function(c, s, i);
}

static void barrier(WsCuda *c, GString *s, guint i)
{
    const WsBarrier *b = &c->p->barrier[i];
    if (b->kind != WS_BARRIER_MBARRIER)
        return;
    gboolean array = b->array > 1 || b->is_array;
    g_string_append_printf(s, "    // %s: mbarrier", c->barrier[i]);
    if (b->slots > 1)
        g_string_append_printf(s, " [%s slots]", ws_cuda_count(c, b->slots_name, b->slots));
    for (guint k = 0; k < b->array; k++)
        g_string_append_printf(s, "%s %u arrival%s%s", k ? "," : "; completes after",
                               b->arrivals[k], b->arrivals[k] == 1 ? "" : "s",
                               b->ready[k] ? " (begins ready)" : "");
    if (b->expected_bytes)
        g_string_append_printf(s, " and %" G_GUINT64_FORMAT " bytes", b->expected_bytes);
    g_string_append_c(s, '\n');
    member(s, c->barrier[i], array, b->slots > 1, b->offset,
           c->p->hardware->sync.bytes * (guint64)b->slots, c->p->hardware->sync.bytes);
}

char *ws_cuda_shared(WsCuda *c, const char *text)
{
    GString *s = g_string_new(NULL);
    g_string_append(s, "// Dynamic shared memory: 32-bit addresses in the window of the CTA.\n"
                       "struct Shared {\n    uint32_t base; // 1024-byte aligned\n\n");
    for (guint i = 0; i < c->p->n_buffers; i++)
        buffer(c, s, i, text);
    for (guint i = 0; i < c->p->n_barriers; i++)
        barrier(c, s, i);
    g_string_append(s, "};\n\n");
    return g_string_free(s, FALSE);
}
