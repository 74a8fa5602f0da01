/* Values to and from shared and global memory. */
#include "codegen/cuda/cuda.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/parts/value.h"
#include "program/program.h"

/* --- accumulator layout, whole 8- and 16-column blocks ---------------------------------------- */

typedef struct {
    const WsBuffer *b;
    const WsRegValue *v;
    const char *name, *column; /* "column<…>" of the buffer */
    guint first, col0, rows, cols, atom_regs;
} Target;

/* Declares lane_at: address of row 0 of the view for this lane, swizzled. */
static gboolean target_of(WsCuda *c, const WsOp *op, const char *lane_row, const char *lane_bytes,
                          Target *t)
{
    const WsAccess *a = &op->access[0];
    const WsValueUse *use = &op->value[0];
    guint row, col, row0;
    *t = (Target){ .b = &c->p->buffer[a->buffer],
                   .v = &c->agent->value[use->value],
                   .name = c->value[use->value],
                   .rows = use->rows,
                   .cols = use->cols };
    if (a->transposed || t->v->layout != WS_LAYOUT_ACCUMULATOR ||
        !ws_cuda_constant(c, use->row0, &row) || !ws_cuda_constant(c, use->col0, &col) ||
        !ws_cuda_constant(c, a->col0, &t->col0) || row % 64 || col % 8 || t->col0 % 8 ||
        use->rows % 64 || use->cols % 8 || t->v->cols < 8 ||
        (ws_cuda_constant(c, a->row0, &row0) && row0 % 8))
        return FALSE;
    guint per = ws_dtype_bytes(t->v->dtype) < 4 ? 4 : 2;
    t->first = row / 64 * (t->v->cols / per) + col / per;
    t->atom_regs = t->v->cols / per;
    WsTerm r0 = a->row0 ? ws_cuda_use(c, a->row0) : ws_term_int(&c->terms, 0);
    t->column = ws_cuda_format(c, "column<%u, %u, %u, %u>", t->b->swizzle, t->b->chunk_cols,
                               ws_dtype_bytes(t->b->dtype), t->b->chunk_bytes);
    ws_cuda_line(c,
                 "const uint32_t lane_at = %s + swizzle<%u>((role_warp * 16 + %s + %s) * %u + %s);",
                 ws_cuda_stage(c, a), t->b->swizzle, lane_row,
                 ws_term_in(&c->terms, r0, WS_PREC_SUM), t->b->row_bytes, lane_bytes);
    return TRUE;
}

static const char *atom_loop(WsCuda *c, const Target *t)
{
    if (t->rows == 64)
        return "";
    ws_cuda_line(c, "#pragma unroll");
    ws_cuda_open(c, "for (int atom = 0; atom < %u; ++atom)", t->rows / 64);
    return ws_cuda_format(c, " + atom * %u", t->atom_regs);
}

static const char *atom_bytes(WsCuda *c, const Target *t)
{
    return t->rows == 64 ? "" : ws_cuda_format(c, " + atom * %u", 64 * t->b->row_bytes);
}

/* Pair i of the registers from "r": converted, or as it is. */
static const char *pair(WsCuda *c, const Target *t, guint i)
{
    if (t->v->dtype != WS_DTYPE_F32)
        return i ? ws_cuda_format(c, "%s[reg + %u]", t->name, i)
                 : ws_cuda_format(c, "%s[reg]", t->name);
    const char *lo = ws_cuda_format(c, "%s[reg + %u]", t->name, 2 * i);
    return ws_cuda_pair(c, t->b->dtype, lo, ws_cuda_format(c, "%s[reg + %u]", t->name, 2 * i + 1),
                        FALSE);
}

static void matrices(WsCuda *c, const Target *t, const char *atom, const char *col, guint n)
{
    guint per = t->v->dtype == WS_DTYPE_F32 ? 2 : 4;
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < n; i++)
        g_string_append_printf(s, ",\n%*s%s", 4 * (int)c->depth + 12, "", pair(c, t, i));
    ws_cuda_line(c, "const int reg = %u + %s / %u%s;", t->first, col, per, atom);
    ws_cuda_line(c, "%s(%s(lane_at, %u + %s)%s%s);",
                 ws_cuda_prim_name(n == 4 ? WS_PRIM_STMATRIX_X4 : WS_PRIM_STMATRIX_X2), t->column,
                 t->col0, col, atom_bytes(c, t), s->str);
    g_string_free(s, TRUE);
}

void ws_cuda_stmatrix(WsCuda *c, const WsOp *op)
{
    const WsRegValue *v = &c->agent->value[op->value[0].value];
    const WsBuffer *b = &c->p->buffer[op->access[0].buffer];
    Target t;
    gsize before = c->out->len;
    ws_cuda_block(c, "16 columns of 16 rows per warp at a time");
    if (ws_dtype_bytes(b->dtype) != 2 || (v->dtype != WS_DTYPE_F32 && v->dtype != b->dtype) ||
        !target_of(c, op, "lane % 16", "lane / 16 * 16", &t)) {
        g_string_truncate(c->out, before);
        c->depth--;
        ws_cuda_st(c, op);
        return;
    }
    const char *atom = atom_loop(c, &t);
    if (t.cols >= 16) {
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(c, "for (int col = 0; col < %u; col += 16)", t.cols / 16 * 16);
        matrices(c, &t, atom, "col", 4);
        ws_cuda_close(c);
    }
    if (t.cols % 16)
        matrices(c, &t, atom, ws_cuda_format(c, "%u", t.cols - 8), 2);
    if (*atom)
        ws_cuda_close(c);
    ws_cuda_close(c);
}

/* Lane l holds rows l/4 and l/4 + 8, columns 2*(l%4) and the next, of every 8 columns. */
static gboolean st_blocks(WsCuda *c, const WsOp *op)
{
    const WsRegValue *v = &c->agent->value[op->value[0].value];
    const WsBuffer *b = &c->p->buffer[op->access[0].buffer];
    guint bytes = ws_dtype_bytes(b->dtype);
    Target t;
    gsize before = c->out->len;
    if ((v->dtype != b->dtype && (bytes != 2 || v->dtype != WS_DTYPE_F32)) ||
        (bytes != 2 && bytes != 4) || b->rank != 2)
        return FALSE;
    ws_cuda_block(c, "");
    if (!target_of(c, op, "lane / 4", ws_cuda_format(c, "lane %% 4 * %u", 2 * bytes), &t)) {
        g_string_truncate(c->out, before);
        c->depth--;
        return FALSE;
    }
    guint per = ws_dtype_bytes(t.v->dtype) < 4 ? 4 : 2;
    const char *atom = atom_loop(c, &t);
    ws_cuda_line(c, "#pragma unroll");
    ws_cuda_open(c, "for (int col = 0; col < %u; col += 8)", t.cols);
    ws_cuda_line(c, "#pragma unroll");
    ws_cuda_open(c, "for (int half = 0; half < 2; ++half)");
    ws_cuda_line(c, "const int reg = %u + col / %u + half * %u%s;", t.first, per, per == 2 ? 2 : 1,
                 atom);
    ws_cuda_line(c, "const uint32_t to = %s(lane_at, %u + col) + half * %u%s;", t.column, t.col0,
                 8 * t.b->row_bytes, atom_bytes(c, &t));
    if (bytes == 2)
        ws_cuda_line(c, "%s(to, %s);", ws_cuda_prim_name(WS_PRIM_ST_SHARED), pair(c, &t, 0));
    else
        ws_cuda_line(c, "%s(to, %s, %s);", ws_cuda_prim_name(WS_PRIM_ST_SHARED_V2),
                     ws_cuda_narrow(c, t.v->dtype == WS_DTYPE_I32 ? WS_DTYPE_I32 : WS_DTYPE_F32,
                                    ws_cuda_format(c, "%s[reg]", t.name)),
                     ws_cuda_narrow(c, t.v->dtype == WS_DTYPE_I32 ? WS_DTYPE_I32 : WS_DTYPE_F32,
                                    ws_cuda_format(c, "%s[reg + 1]", t.name)));
    ws_cuda_end_slots(c, *atom ? 4 : 3);
    return TRUE;
}

/* --- element by element ----------------------------------------------------------------------- */

typedef struct {
    WsCudaView f;
    const WsBuffer *b;
    const char *buffer, *stage, *row0, *col0, *bar, *rank;
    gboolean swap; /* rows of the value are columns of the storage */
    gboolean peer; /* `stage` is an address of the cluster */
    guint by;      /* elements at a time */
} Spot;

static gboolean spot_of(WsCuda *c, const WsOp *op, Spot *s)
{
    const WsAccess *a = &op->access[0];
    const WsValueUse *use = &op->value[0];
    WsTerm zero = ws_term_int(&c->terms, 0), r = a->row0 ? ws_cuda_use(c, a->row0) : zero;
    WsTerm k = a->col0 ? ws_cuda_use(c, a->col0) : zero;
    gint64 col;
    *s = (Spot){ .b = &c->p->buffer[a->buffer],
                 .buffer = c->buffer[a->buffer],
                 .stage = ws_cuda_stage(c, a),
                 .row0 = ws_term_in(&c->terms, r, WS_PREC_SUM),
                 .col0 = ws_term_in(&c->terms, k, WS_PREC_SUM),
                 .by = 1 };
    if (!ws_cuda_view(c, use, &s->f))
        return FALSE;
    /* a rank-1 tile is one value per row or per column, whichever the value has */
    s->swap = s->b->rank == 1 ? use->rows > 1 : a->transposed;
    gboolean even = ws_term_known(k, &col) && col % 2 == 0;
    guint bytes = 2 * ws_dtype_bytes(s->b->dtype);
    if ((s->f.shape == WS_PLACE_COLUMNS && s->b->rank == 1 && even) ||
        (s->f.shape == WS_PLACE_TILE && !s->swap && even && s->b->row_bytes % bytes == 0))
        s->by = 2;
    return TRUE;
}

static const char *spot_address(WsCuda *c, const Spot *s, const char *row, const char *col)
{
    return ws_cuda_format(c, "%s + smem.%s_offset(%s + %s, %s + %s)", s->stage, s->buffer, s->row0,
                          s->swap ? col : row, s->col0, s->swap ? row : col);
}

static const char *f(WsPrim id)
{
    return ws_cuda_prim_name(id);
}

static WsPrim plain_store(const Spot *s, guint bytes)
{
    static const WsPrim of[2][3] = {
        { WS_PRIM_ST_SHARED_B8, WS_PRIM_ST_SHARED_B16, WS_PRIM_ST_SHARED },
        { WS_PRIM_ST_CLUSTER_B8, WS_PRIM_ST_CLUSTER_B16, WS_PRIM_ST_CLUSTER }
    };
    return of[s->peer][bytes / 2];
}

static void at_peer(WsCuda *c, const WsOp *op, Spot *s)
{
    s->peer = ws_op_peeks(op->kind);
    if (s->peer)
        s->stage = ws_cuda_format(c, "%s(%s, %s)", f(WS_PRIM_MAPA), s->stage,
                                  ws_cuda_int(c, op->ctas.expr));
}

static void store_element(WsCuda *c, const Spot *s)
{
    WsDtype t = s->b->dtype;
    guint bytes = ws_dtype_bytes(t);
    const char *x = ws_cuda_get(c, &s->f, 0);
    const char *to = spot_address(c, s, ws_cuda_row(c, &s->f), ws_cuda_col(c, &s->f, 0));
    const char *tail = s->rank ? ws_cuda_format(c, ", %s, %s", s->bar, s->rank) : "";
    if (s->by == 2) {
        const char *y = ws_cuda_get(c, &s->f, 1);
        if (bytes == 4)
            ws_cuda_line(c, "%s(%s, %s, %s%s);",
                         f(s->rank   ? WS_PRIM_ST_ASYNC_V2
                           : s->peer ? WS_PRIM_ST_CLUSTER_V2
                                     : WS_PRIM_ST_SHARED_V2),
                         to, ws_cuda_narrow(c, t, x), ws_cuda_narrow(c, t, y), tail);
        else
            ws_cuda_line(c, "%s(%s, %s%s);",
                         f(s->rank ? WS_PRIM_ST_ASYNC : plain_store(s, 2 * bytes)), to,
                         ws_cuda_pair(c, t, x, y, FALSE), tail);
        return;
    }
    ws_cuda_line(c, "%s(%s, %s%s);", f(s->rank ? WS_PRIM_ST_ASYNC : plain_store(s, bytes)), to,
                 ws_cuda_narrow(c, t, x), tail);
}

static void store_all(WsCuda *c, const Spot *s)
{
    const char *owner = ws_cuda_owner(&s->f), *there = ws_cuda_there(c, &s->f);
    if (owner)
        ws_cuda_open(c, "if (%s)", owner);
    guint n = ws_cuda_slots(c, &s->f, s->by);
    if (there)
        ws_cuda_open(c, "if (%s)", there);
    store_element(c, s);
    ws_cuda_end_slots(c, n + (owner != NULL) + (there != NULL));
}

void ws_cuda_st(WsCuda *c, const WsOp *op)
{
    Spot s;
    if (st_blocks(c, op))
        return;
    if (!spot_of(c, op, &s)) {
        ws_cuda_step_error(c, op, "a write of a view of this form");
        return;
    }
    at_peer(c, op, &s);
    store_all(c, &s);
}

/* The value `number` of an operation, 0 none, in step with its first: register by register. */
static gboolean beside(WsCuda *c, const WsOp *op, guint number, const WsCudaView *f,
                       WsCudaView *out)
{
    if (number == 0)
        return TRUE;
    if (!ws_cuda_view(c, &op->value[number], out) || out->shape != f->shape)
        return FALSE;
    return f->shape != WS_PLACE_LINEAR ||
           (out->row0 == f->row0 && out->col0 == f->col0 && out->v->rows == f->v->rows &&
            out->v->cols == f->v->cols);
}

static gboolean places_of(WsCuda *c, const WsOp *op, const Spot *s, WsCudaView *places)
{
    return beside(c, op, op->places, &s->f, places);
}

/* Declares `at`, the element of the view that `places` picks. The result: it is one of it. */
static const char *picked(WsCuda *c, const WsAccess *a, const Spot *s, const WsCudaView *places,
                          const char **row, const char **col)
{
    const guint cols = a->transposed ? a->rows : a->cols;
    const gboolean line = s->b->rank == 1;
    ws_cuda_line(c, "const uint32_t at = %s;", ws_cuda_get(c, places, 0));
    *row = !line ? ws_cuda_format(c, "at / %u", cols) : s->swap ? "at" : "0";
    *col = !line ? ws_cuda_format(c, "at %% %u", cols) : s->swap ? "0" : "at";
    return ws_cuda_format(c, "at < %u", a->rows * a->cols);
}

/* What a lane of several that hold an element got, for the others; NULL: they are of several warps.
 */
static const char *shared_out(WsCuda *c, const WsCudaView *f, const char *bits)
{
    const char *shuffle = ws_cuda_prim_name(WS_PRIM_SHFL_IDX);
    if (!ws_cuda_owner(f))
        return bits;
    if (f->shape == WS_PLACE_ROWS)
        return ws_cuda_format(c, "%s(%s, lane & ~3)", shuffle, bits);
    return c->agent->warps > 1 ? NULL
                               : ws_cuda_format(c, "%s(%s, %s)", shuffle, bits,
                                                f->shape == WS_PLACE_COLUMNS ? "lane & 3" : "0");
}

/* One element at address `at`, where `in` holds, of the prim that hands back what was there. */
static void combine_and_tell(WsCuda *c, const WsOp *op, WsPrim prim, const Spot *s, const char *at,
                             const char *expected, const char *in, const WsCudaView *old)
{
    const WsDtype t = s->b->dtype;
    const gboolean real = t == WS_DTYPE_F32, adds = real && op->reduce == WS_REDUCE_ADD;
    const char *x = ws_cuda_get(c, &s->f, 0);
    const char *call =
        ws_cuda_format(c, "%s(%s, %s%s%s, %s)", f(prim), at, expected, *expected ? ", " : "",
                       adds ? x : ws_cuda_narrow(c, t, x), in);
    if (!op->old) {
        ws_cuda_line(c, "%s;", call);
        return;
    }
    ws_cuda_line(c, "const uint32_t was = %s;", adds ? ws_cuda_narrow(c, t, call) : call);
    const char *all = shared_out(c, &s->f, "was");
    if (all)
        ws_cuda_set(c, old, 0, ws_cuda_widen(c, t, all));
    else
        ws_cuda_step_error(c, op, "what was there before, in a value that several warps hold");
}

/* Element by element, where `places` says or at its own place; what lies outside is left out. */
void ws_cuda_red_shared(WsCuda *c, const WsOp *op)
{
    Spot s;
    WsCudaView places, expected, old;
    const WsAccess *a = &op->access[0];
    const WsDtype t = c->p->buffer[a->buffer].dtype;
    WsPrim prim = ws_fact_combination(t, op->reduce, op->old != 0);
    if (prim == 0 || !spot_of(c, op, &s) || !places_of(c, op, &s, &places) ||
        !beside(c, op, op->expected, &s.f, &expected) || !beside(c, op, op->old, &s.f, &old)) {
        ws_cuda_step_error(c, op, "a write with `reduce` of this form");
        return;
    }
    const char *owner = ws_cuda_owner(&s.f), *there = ws_cuda_there(c, &s.f);
    const gboolean apart = owner && !op->old; /* else all lanes stay, and get what the owner got */
    if (apart)
        ws_cuda_open(c, "if (%s)", owner);
    guint n = ws_cuda_slots(c, &s.f, 1) + apart;
    if (there)
        ws_cuda_open(c, "if (%s)", there);
    else if (!n)
        ws_cuda_block(c, "");
    n += there != NULL || !n;
    const char *row = ws_cuda_row(c, &s.f), *col = ws_cuda_col(c, &s.f, 0), *in = "true";
    if (ws_op_picks(op))
        in = picked(c, a, &s, &places, &row, &col);
    if (owner && !apart)
        in = ws_cuda_format(c, "%s && (%s)", in, owner);
    const char *at = spot_address(c, &s, row, col);
    if (op->old || op->expected || op->reduce == WS_REDUCE_EXCHANGE)
        combine_and_tell(c, op, prim, &s, at,
                         op->expected ? ws_cuda_narrow(c, t, ws_cuda_get(c, &expected, 0)) : "", in,
                         &old);
    else
        ws_cuda_line(c, "%s(%s, %s, %s);", f(prim), at,
                     op->reduce == WS_REDUCE_STORE ? ws_cuda_narrow(c, t, ws_cuda_get(c, &s.f, 0))
                                                   : ws_cuda_get(c, &s.f, 0),
                     in);
    ws_cuda_end_slots(c, n);
}

void ws_cuda_st_remote(WsCuda *c, const WsOp *op)
{
    Spot s;
    if (!spot_of(c, op, &s) || op->barrier < 0 || s.by * ws_dtype_bytes(s.b->dtype) < 4) {
        ws_cuda_step_error(c, op, "a remote write of this form");
        return;
    }
    s.bar = ws_cuda_barrier(c, op);
    if (op->ctas.kind == WS_CTAS_EXPR) {
        s.rank = ws_cuda_int(c, op->ctas.expr);
        store_all(c, &s);
        return;
    }
    for (guint i = 0; i < c->p->cluster; i++) {
        s.rank = ws_cuda_format(c, "%u", i);
        if (ws_fact_reaches(op, i))
            store_all(c, &s);
    }
}

void ws_cuda_ld(WsCuda *c, const WsOp *op)
{
    Spot s;
    WsCudaView places;
    if (!spot_of(c, op, &s) || !places_of(c, op, &s, &places)) {
        ws_cuda_step_error(c, op, "a read of a view of this form");
        return;
    }
    if (ws_op_picks(op))
        s.by = 1;
    at_peer(c, op, &s);
    WsDtype t = s.b->dtype;
    guint bytes = ws_dtype_bytes(t);
    const char *there = ws_cuda_there(c, &s.f);
    guint n = ws_cuda_slots(c, &s.f, s.by);
    if (there)
        ws_cuda_open(c, "if (%s)", there);
    else if (!n)
        ws_cuda_block(c, "");
    n += there != NULL || !n;
    const char *row = ws_cuda_row(c, &s.f), *col = ws_cuda_col(c, &s.f, 0), *in = NULL;
    if (ws_op_picks(op)) /* 0 where it is none of the view */
        in = picked(c, &op->access[0], &s, &places, &row, &col);
    ws_cuda_line(c, "const uint32_t from = %s;", spot_address(c, &s, row, col));
    if (s.by == 2 && bytes == 4) {
        ws_cuda_line(c, "uint32_t lo, hi;");
        ws_cuda_line(c, "%s(lo, hi, from);",
                     f(s.peer ? WS_PRIM_LD_CLUSTER_V2 : WS_PRIM_LD_SHARED_V2));
        ws_cuda_set(c, &s.f, 0, ws_cuda_widen(c, t, "lo"));
        ws_cuda_set(c, &s.f, 1, ws_cuda_widen(c, t, "hi"));
    } else {
        static const WsPrim load_of[2][3] = {
            { WS_PRIM_LD_SHARED_B8, WS_PRIM_LD_SHARED_B16, WS_PRIM_LD_SHARED },
            { WS_PRIM_LD_CLUSTER_B8, WS_PRIM_LD_CLUSTER_B16, WS_PRIM_LD_CLUSTER }
        };
        const char *load = f(load_of[s.peer][s.by * bytes / 2]);
        if (in)
            ws_cuda_line(c, "const uint32_t bits = %s ? %s(from) : 0;", in, load);
        else
            ws_cuda_line(c, "const uint32_t bits = %s(from);", load);
        ws_cuda_set(c, &s.f, 0, ws_cuda_widen(c, t, "bits"));
        if (s.by == 2)
            ws_cuda_set(c, &s.f, 1,
                        ws_cuda_widen(c, t, ws_cuda_format(c, "bits >> %u", 8 * bytes)));
    }
    ws_cuda_end_slots(c, n);
}

/* Matrices of ldmatrix in the order of the registers; transposed, a row of a matrix is a column of
 * the value. */
void ws_cuda_ldmatrix(WsCuda *c, const WsOp *op)
{
    Spot s;
    if (!spot_of(c, op, &s) || s.f.shape != WS_PLACE_TILE || ws_dtype_bytes(s.f.v->dtype) != 2 ||
        s.f.cols % 16 || s.b->rank != 2) {
        ws_cuda_ld(c, op);
        return;
    }
    ws_cuda_block(c, "");
    ws_cuda_line(c, "const int m_row = role_warp * 16 + (lane & 8)%s, m_col = lane / 16 * 8%s;",
                 s.swap ? "" : " + lane % 8", s.swap ? " + lane % 8" : "");
    ws_cuda_line(c, "#pragma unroll");
    ws_cuda_open(c, "for (int atom = 0; atom < %u; ++atom)", s.f.rows / 64);
    ws_cuda_line(c, "#pragma unroll");
    ws_cuda_open(c, "for (int col = 0; col < %u; col += 16)", s.f.cols);
    ws_cuda_line(c, "uint32_t *to = %s + %u + atom * %u + col / 4;", s.f.name,
                 s.f.row0 / 64 * (s.f.v->cols / 4) + s.f.col0 / 4, s.f.v->cols / 4);
    ws_cuda_line(c, "%s(to[0], to[1], to[2], to[3], %s);",
                 f(s.swap ? WS_PRIM_LDMATRIX_X4_T : WS_PRIM_LDMATRIX_X4),
                 spot_address(c, &s, "m_row + atom * 64", "m_col + col"));
    ws_cuda_end_slots(c, 3);
}

/* --- tensors -----------------------------------------------------------------------------------*/

typedef struct {
    WsCudaView f, mask;
    gboolean masked;
    const char *name, *coords;
    const char *limit; /* condition that the row is not left out; NULL: none is */
    WsDtype t;
} Walk;

/* Opens the step's block. Row and column pass through an opaque move: what several steps compute
 * from them is not kept in registers from one to the next. */
static gboolean walk_of(WsCuda *c, const WsOp *op, Walk *w)
{
    const WsTensor *t = &c->p->tensor[op->tensor];
    if (!ws_cuda_view(c, &op->value[0], &w->f)) {
        ws_cuda_step_error(c, op, "a view of this form");
        return FALSE;
    }
    w->masked = op->mask != 0;
    if (!beside(c, op, op->mask, &w->f, &w->mask)) {
        ws_cuda_step_error(c, op, "a mask of this form");
        return FALSE;
    }
    ws_cuda_block(c, "");
    if (w->f.shape == WS_PLACE_TILE) {
        ws_cuda_line(c, "const int row1 = int(%s(row0)), col1 = int(%s(col0));",
                     ws_cuda_prim_name(WS_PRIM_MOV32), ws_cuda_prim_name(WS_PRIM_MOV32));
        c->row = "row1";
        c->col = "col1";
    }
    const char *origin[WS_MAX_RANK];
    guint at = t->rank;
    for (guint d = 0; d < t->rank; d++)
        origin[d] = ws_cuda_int(c, op->coord[d]);
    if (w->f.cols > 1 && at-- > 0)
        origin[at] = ws_cuda_format(
            c, "%s + %s", ws_term_in(&c->terms, ws_cuda_uniform(c, op->coord[at]), WS_PREC_SUM),
            ws_cuda_col(c, &w->f, 0));
    if (w->f.rows > 1 && at-- > 0)
        origin[at] = ws_cuda_format(
            c, "%s + %s", ws_term_in(&c->terms, ws_cuda_uniform(c, op->coord[at]), WS_PREC_SUM),
            ws_cuda_row(c, &w->f));
    GString *s = g_string_new(NULL);
    for (guint d = 0; d < t->rank; d++)
        g_string_append_printf(s, "%s%s", d ? ", " : "", origin[d]);
    w->coords = g_string_chunk_insert_const(c->terms.pool, s->str);
    g_string_free(s, TRUE);
    w->limit =
        op->limit
            ? ws_cuda_format(c, "%s < %s", ws_cuda_row(c, &w->f),
                             ws_term_in(&c->terms, ws_cuda_uniform(c, op->limit), WS_PREC_SUM))
            : NULL;
    c->row = "row0";
    c->col = "col0";
    w->name = c->tensor[op->tensor];
    w->t = t->dtype;
    return TRUE;
}

static const char *inside(WsCuda *c, const Walk *w)
{
    const char *there = ws_cuda_there(c, &w->f), *owner = ws_cuda_owner(&w->f);
    const char *limit = w->limit;
    const char *mask =
        w->masked ? ws_cuda_format(c, " && %s != 0", ws_cuda_get(c, &w->mask, 0)) : "";
    return ws_cuda_format(c, "%s_inside(%s)%s%s%s%s%s%s%s", w->name, w->coords, there ? " && " : "",
                          there ? there : "", limit ? " && " : "", limit ? limit : "",
                          owner ? " && " : "", owner ? owner : "", mask);
}

void ws_cuda_ld_global(WsCuda *c, const WsOp *op)
{
    Walk w;
    if (!walk_of(c, op, &w))
        return;
    const char *there = ws_cuda_there(c, &w.f);
    guint n = ws_cuda_slots(c, &w.f, 1);
    if (there) {
        ws_cuda_open(c, "if (%s)", there);
        n++;
    }
    ws_cuda_set(c, &w.f, 0, ws_cuda_format(c, "%s_at(%s)", w.name, w.coords));
    ws_cuda_end_slots(c, n + 1);
}

void ws_cuda_st_global(WsCuda *c, const WsOp *op)
{
    Walk w;
    if (!walk_of(c, op, &w))
        return;
    guint n = ws_cuda_slots(c, &w.f, 1), bytes = ws_dtype_bytes(w.t);
    ws_cuda_line(c, "%s(%s_address(%s), %s,",
                 f(bytes == 4   ? WS_PRIM_STG_B32
                   : bytes == 2 ? WS_PRIM_STG_B16
                                : WS_PRIM_STG_B8),
                 w.name, w.coords, ws_cuda_narrow(c, w.t, ws_cuda_get(c, &w.f, 0)));
    ws_cuda_line(c, "        %s);", inside(c, &w));
    ws_cuda_end_slots(c, n + 1);
}

void ws_cuda_red_global(WsCuda *c, const WsOp *op)
{
    Walk w;
    WsPrim add = ws_fact_reduction(c->p->tensor[op->tensor].dtype, op->reduce);
    if (add == 0) {
        ws_cuda_step_error(c, op, "a reduction of this kind and dtype");
        return;
    }
    if (!walk_of(c, op, &w))
        return;
    guint n = ws_cuda_slots(c, &w.f, 1);
    const char *x = ws_cuda_get(c, &w.f, 0);
    ws_cuda_line(c, "%s(%s_address(%s), %s,", f(add), w.name, w.coords,
                 ws_dtype_bytes(w.t) == 2 ? ws_cuda_narrow(c, w.t, x) : x);
    ws_cuda_line(c, "        %s);", inside(c, &w));
    ws_cuda_end_slots(c, n + 1);
}
