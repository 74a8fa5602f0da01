/* Gathered rows: cp.async, 16 bytes per thread; `share` lanes take a row, as ../nvptx/gather.c
 * does. */
#include "codegen/ahead.h"
#include "codegen/cuda/cuda.h"
#include "codegen/fold.h"
#include "program/lanes.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"

typedef struct {
    const WsExpr *coord;
    guint share, rounds;
    const char *name; /* of the array that holds it for the rows of a thread */
} Looked;

/* More rows of one thread than this have their coordinates worked out one by one. */
#define MOST_AHEAD 8
/* Registers that hold coordinates over a wait. */
#define MOST_LOOKED_UP 16

typedef struct {
    guint units, share, at_once, rounds;
    gboolean even; /* every thread takes as many rows */
} Gather;

static Gather shared_rows(const WsCuda *c, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    const WsBuffer *b = &c->p->buffer[a->buffer];
    Gather g = { .units = a->cols * ws_dtype_bytes(b->dtype) / 16 };
    g.share = g.units ? ws_gather_lanes(g.units) : 1;
    g.at_once = c->agent->threads / g.share;
    g.rounds = (a->rows + g.at_once - 1) / g.at_once;
    g.even = g.rounds * g.at_once == a->rows;
    return g;
}

static void bind_row(WsCuda *c, const char *row, guint rows)
{
    for (guint i = 0; i < c->p->n_vars; i++) {
        if (c->p->var[i].kind == WS_VAR_ROW)
            c->var[i] = (WsTermName){ .bound = row != NULL,
                                      .s = row,
                                      .in = ws_interval(0, (gint64)rows - 1) };
    }
}

static const char *coordinate(WsCuda *c, const WsOp *op, guint d)
{
    c->per_thread = TRUE;
    bind_row(c, "line", op->access[0].rows);
    const char *s = ws_cuda_int(c, op->coord[d]);
    bind_row(c, NULL, 0);
    c->per_thread = FALSE;
    return s;
}

static void each_row(WsCuda *c, const Gather *g)
{
    ws_cuda_line(c, "#pragma unroll");
    ws_cuda_open(c, "for (int n = 0; n < %u; ++n)", g->rounds);
    ws_cuda_line(c, "const int line = thread / %u + n * %u;", g->share, g->at_once);
}

static const char *looked_up(const WsCuda *c, const WsExpr *coord, const Gather *g)
{
    for (guint i = 0; c->looked_up && i < c->looked_up->len; i++) {
        const Looked *l = &g_array_index(c->looked_up, Looked, i);
        if (l->share == g->share && l->rounds == g->rounds && ws_expr_equal(l->coord, coord))
            return l->name;
    }
    return NULL;
}

/* --- before the wait --------------------------------------------------------------------------*/

static void look_up(const WsOp *op, gpointer data)
{
    WsCuda *c = data;
    Gather g = shared_rows(c, op);
    if (!g.even || g.rounds > MOST_AHEAD)
        return;
    if (!c->looked_up)
        c->looked_up = g_array_new(FALSE, FALSE, sizeof(Looked));
    for (guint d = 0; d < op->n_coord; d++) {
        if (!ws_ahead_reads(op->coord[d]) || looked_up(c, op->coord[d], &g) ||
            (c->looked_up->len + 1) * g.rounds > MOST_LOOKED_UP)
            continue;
        Looked l = { op->coord[d], g.share, g.rounds,
                     ws_cuda_format(c, "rows_%u", c->rows_named++) };
        ws_cuda_line(c, "int %s[%u]; // which rows are gathered, read before the wait", l.name,
                     g.rounds);
        each_row(c, &g);
        ws_cuda_line(c, "%s[n] = %s;", l.name, coordinate(c, op, d));
        ws_cuda_close(c);
        g_array_append_val(c->looked_up, l);
    }
}

guint ws_cuda_gather_look_up(WsCuda *c, const WsTree *seq, guint i)
{
    guint end = c->in_leader ? 0 : ws_ahead_gathers(c->p, seq, i, look_up, c);
    return c->looked_up ? end : 0;
}

/* --- copies -----------------------------------------------------------------------------------*/

/* The coordinates of the row `line`. Those that are read from a tensor are read for all rows of a
 * thread before its first copy: the compiler moves no load across a copy, and one after the other
 * they cost the latency of global memory for each row. */
static const char *coordinates(WsCuda *c, const WsOp *op, const Gather *g)
{
    const char *coord[WS_MAX_RANK], *of[WS_MAX_RANK], *names = "";
    gboolean ahead = g->even && g->rounds <= MOST_AHEAD, read = FALSE;
    for (guint d = 0; d < op->n_coord; d++) {
        of[d] = looked_up(c, op->coord[d], g);
        coord[d] = of[d] ? NULL : coordinate(c, op, d);
        names = ws_cuda_format(c, "%s%sat_%u", names, d ? ", " : "", d);
        if (coord[d] && ahead && ws_ahead_reads(op->coord[d]) &&
            ws_fold_mentions(coord[d], "line")) {
            of[d] = ws_cuda_format(c, "at_%u_of", d);
            ws_cuda_line(c, "int %s[%u];", of[d], g->rounds);
            read = TRUE;
        }
    }
    if (read) {
        each_row(c, g);
        for (guint d = 0; d < op->n_coord; d++) {
            if (of[d] && coord[d])
                ws_cuda_line(c, "%s[n] = %s;", of[d], coord[d]);
        }
        ws_cuda_close(c);
    }
    each_row(c, g);
    if (!g->even)
        ws_cuda_line(c, "if (line >= %u) continue;", op->access[0].rows);
    for (guint d = 0; d < op->n_coord; d++)
        ws_cuda_line(c, "const int at_%u = %s;", d,
                     of[d] ? ws_cuda_format(c, "%s[n]", of[d]) : coord[d]);
    return names;
}

/* Whether no unit reaches beyond the last dimension, seen from constants alone. */
static gboolean whole_rows(WsCuda *c, const WsOp *op, const WsTensor *t, guint cols)
{
    gint64 extent, first;
    WsTerm shape = ws_cuda_uniform(c, t->shape[t->rank - 1]);
    bind_row(c, "line", op->access[0].rows);
    WsTerm column = ws_cuda_uniform(c, op->coord[op->n_coord - 1]);
    bind_row(c, NULL, 0);
    return ws_term_known(shape, &extent) && ws_term_known(column, &first) && first >= 0 &&
           first + cols <= extent;
}

void ws_cuda_gather(WsCuda *c, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    const WsBuffer *b = &c->p->buffer[a->buffer];
    const WsTensor *t = &c->p->tensor[op->tensor];
    const char *tensor = c->tensor[op->tensor];
    guint bytes = a->cols * ws_dtype_bytes(b->dtype), unit = 16 / ws_dtype_bytes(b->dtype);
    WsTerm zero = ws_term_int(&c->terms, 0), col0 = a->col0 ? ws_cuda_use(c, a->col0) : zero;
    WsTerm row0 = a->row0 ? ws_cuda_use(c, a->row0) : zero;
    gint64 col;
    if (a->transposed || b->rank != 2 || bytes % 16 || b->row_bytes % 16 ||
        (ws_term_known(col0, &col) && col % unit)) {
        ws_cuda_step_error(c, op, "a gather into a view of this form");
        return;
    }
    const Gather g = shared_rows(c, op);
    gboolean chunks = b->swizzle && b->chunk_cols == g.share * unit && ws_term_known(col0, &col) &&
                      col % b->chunk_cols == 0 && whole_rows(c, op, t, a->cols);
    ws_cuda_block(c, "");
    const char *coords = coordinates(c, op, &g);
    const char *at = ws_cuda_format(c, "%s + smem.%s_offset(%s + line, %s", ws_cuda_stage(c, a),
                                    c->buffer[a->buffer], ws_term_in(&c->terms, row0, WS_PREC_SUM),
                                    ws_term_in(&c->terms, col0, WS_PREC_SUM));
    ws_cuda_line(c, "const bool inside = %s_inside(%s);", tensor, coords);
    ws_cuda_line(c, "const uint64_t source = %s_address(%s);", tensor, coords);
    if (chunks) { /* a lane's units are at one place in chunks that follow each other */
        ws_cuda_line(c, "const uint64_t from = (inside ? source : %s) + thread %% %u * 16;", tensor,
                     g.share);
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(c, "for (int chunk = 0; chunk < %u; ++chunk)", g.units / g.share);
        /* The swizzle comes last, as in ../nvptx/gather.c: of a sum ptxas 13.0 makes an address of
         * two registers, which with a policy is an illegal instruction. */
        const char *first = ws_cuda_format(
            c, "swizzle<%u>(%s + (%s + line) * %u + %u + thread %% %u * 16) + chunk * %u",
            b->swizzle, ws_cuda_stage(c, a), ws_term_in(&c->terms, row0, WS_PREC_SUM), b->row_bytes,
            (guint)(col / b->chunk_cols) * b->chunk_bytes, g.share, b->chunk_bytes);
        ws_cuda_line(c, "%s(%s, from + chunk * %u, inside%s);",
                     ws_cuda_prim_name(op->hint ? WS_PRIM_CP_ASYNC_HINT : WS_PRIM_CP_ASYNC), first,
                     g.share * 16,
                     op->hint ? ws_cuda_format(c, ", %s", ws_cuda_policy(op->hint)) : " ? 16 : 0");
    } else {
        ws_cuda_line(c, "const int left = min(%s - at_%u, 1 << 24) * %u; // bytes of the row",
                     ws_term_in(&c->terms, ws_cuda_uniform(c, t->shape[t->rank - 1]), WS_PREC_TERM),
                     t->rank - 1, ws_dtype_bytes(t->dtype));
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(c, "for (int step = 0; step < %u; step += %u)", g.units, g.share);
        ws_cuda_line(c, "const int unit = step + thread %% %u, rest = min(left - unit * 16, 16);",
                     g.share);
        ws_cuda_line(c, "const int bytes = inside && rest > 0 ? rest : 0;");
        ws_cuda_line(c, "%s(%s + unit * %u), bytes ? source + unit * 16 : %s, bytes);",
                     ws_cuda_prim_name(WS_PRIM_CP_ASYNC), at, unit, tensor);
    }
    ws_cuda_close(c);
    ws_cuda_close(c);
    ws_cuda_close(c);
}
