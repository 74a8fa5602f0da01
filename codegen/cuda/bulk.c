/* TMA boxes, copies inside a cluster. */
#include "codegen/cuda/cuda.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/program.h"

#include <string.h>

#define MOST_RANGES 512

const char *ws_cuda_policy(WsHint hint)
{
    static const char *const name[] = { [WS_HINT_EVICT_FIRST] = "EVICT_FIRST",
                                        [WS_HINT_EVICT_NORMAL] = "EVICT_NORMAL",
                                        [WS_HINT_EVICT_LAST] = "EVICT_LAST" };
    return name[hint];
}

/* --- boxes -------------------------------------------------------------------------------------*/

/* "base + offset", or the base alone. */
static const char *plus(WsCuda *c, const char *base, WsTerm offset)
{
    return ws_cuda_format(c, "%s + %s", base, ws_term_in(&c->terms, offset, WS_PREC_SUM));
}

static void box(WsCuda *c, const WsOp *op, const char *f, const char *at, const char *bar,
                const char *const *coord, guint rank, const char *tail)
{
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "%s(%s, %s", f, at, c->map[op->map]);
    if (bar)
        g_string_append_printf(s, ", %s", bar);
    for (guint i = 0; i < rank; i++)
        g_string_append_printf(s, ", %s", coord[i]);
    g_string_append_printf(s, "%s);", tail);
    ws_cuda_line(c, "%s", s->str);
    g_string_free(s, TRUE);
}

static void boxes(WsCuda *c, const WsOp *op, const char *f, const char *bar, const char *tail)
{
    const WsTensorMap *map = &c->p->map[op->map];
    const WsAccess *a = &op->access[0];
    guint wide = map->box[0], high = map->rank > 1 && a->rows > 1 ? map->box[1] : 1;
    if (a->transposed || !wide || !high || a->cols % wide || a->rows % high ||
        op->n_coord != map->rank) {
        ws_cuda_step_error(c, op, "a view that boxes do not fill");
        return;
    }
    const char *stage = ws_cuda_stage(c, a);
    for (guint col = 0; col < a->cols; col += wide) {
        for (guint row = 0; row < a->rows; row += high) {
            const char *coord[WS_MAX_RANK];
            for (guint i = 0; i < map->rank; i++) {
                const WsExpr *x = op->coord[map->rank - 1 - i];
                guint more = i == 0 ? col : i == 1 ? row : 0;
                coord[i] = ws_cuda_int(c, x);
                if (more)
                    coord[i] = ws_cuda_format(
                        c, "%s + %u", ws_term_in(&c->terms, ws_cuda_uniform(c, x), WS_PREC_SUM),
                        more);
            }
            box(c, op, f, plus(c, stage, ws_cuda_view_offset(c, a, row, col)), bar, coord,
                map->rank, tail);
        }
    }
}

static const char *bulk_name(WsCuda *c, const char *what, guint rank, const char *suffix)
{
    return ws_cuda_format(c, "tma_%s_%ud%s", what, rank, suffix);
}

void ws_cuda_load(WsCuda *c, const WsOp *op)
{
    if (op->map < 0 || op->barrier < 0 || op->ctas.kind == WS_CTAS_EXPR) {
        ws_cuda_step_error(c, op, "a load without tensor map or barrier");
        return;
    }
    guint mask = ws_fact_receivers(c->p, op), rank = c->p->map[op->map].rank;
    const char *tail = mask ? ws_cuda_format(c, ", 0x%x", mask) : "";
    if (op->hint)
        tail = ws_cuda_format(c, "%s, %s", tail, ws_cuda_policy(op->hint));
    const char *suffix = mask ? op->hint ? "_multi_hint" : "_multi" : op->hint ? "_hint" : "";
    boxes(c, op, bulk_name(c, "load", rank, suffix), ws_cuda_barrier(c, op), tail);
}

void ws_cuda_store(WsCuda *c, const WsOp *op)
{
    static const char *const what[] = { [WS_REDUCE_NONE] = "store",
                                        [WS_REDUCE_ADD] = "add",
                                        [WS_REDUCE_MIN] = "min",
                                        [WS_REDUCE_MAX] = "max" };
    if (op->map < 0) {
        ws_cuda_step_error(c, op, "a store without tensor map");
        return;
    }
    gboolean hint = op->hint && op->reduce == WS_REDUCE_NONE; /* a hint is only advice */
    boxes(c, op, bulk_name(c, what[op->reduce], c->p->map[op->map].rank, hint ? "_hint" : ""), NULL,
          hint ? ws_cuda_format(c, ", %s", ws_cuda_policy(op->hint)) : "");
}

void ws_cuda_prefetch(WsCuda *c, const WsOp *op)
{
    if (op->map < 0 || op->n_coord != c->p->map[op->map].rank) {
        ws_cuda_step_error(c, op, "a prefetch without tensor map");
        return;
    }
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "%s(%s",
                           bulk_name(c, "prefetch", op->n_coord, op->hint ? "_hint" : ""),
                           c->map[op->map]);
    for (guint i = 0; i < op->n_coord; i++)
        g_string_append_printf(s, ", %s", ws_cuda_int(c, op->coord[op->n_coord - 1 - i]));
    if (op->hint)
        g_string_append_printf(s, ", %s", ws_cuda_policy(op->hint));
    ws_cuda_line(c, "%s);", s->str);
    g_string_free(s, TRUE);
}

/* --- copies inside a cluster -------------------------------------------------------------------*/

static guint ranges_of(WsCuda *c, const WsAccess *a, WsRange *out)
{
    guint row, col;
    if (a->transposed || !ws_cuda_constant(c, a->row0, &row) || !ws_cuda_constant(c, a->col0, &col))
        return 0;
    return ws_buffer_ranges(&c->p->buffer[a->buffer], row, a->rows, col, a->cols, out, MOST_RANGES);
}

static void copy_to(WsCuda *c, const WsOp *op, const WsRange *from, const WsRange *to, guint n,
                    const char *rank)
{
    for (guint i = 0; i < n; i++)
        ws_cuda_line(c,
                     "%s(%s + %" G_GUINT64_FORMAT ", %s + %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT
                     ", %s, %s);",
                     ws_cuda_prim_name(WS_PRIM_BULK_COPY), ws_cuda_stage(c, &op->access[1]),
                     to[i].offset, ws_cuda_stage(c, &op->access[0]), from[i].offset, from[i].bytes,
                     ws_cuda_barrier(c, op), rank);
}

void ws_cuda_copy(WsCuda *c, const WsOp *op)
{
    WsRange from[MOST_RANGES], to[MOST_RANGES];
    guint n = ranges_of(c, &op->access[0], from), m = ranges_of(c, &op->access[1], to);
    if (!n || n != m || n > MOST_RANGES || !ws_fact_copy_fits(c->p, op, from, to, n) ||
        op->barrier < 0) {
        ws_cuda_step_error(c, op, "a copy between views of this form");
        return;
    }
    if (op->ctas.kind == WS_CTAS_EXPR) {
        copy_to(c, op, from, to, n, ws_cuda_int(c, op->ctas.expr));
        return;
    }
    for (guint i = 0; i < c->p->cluster; i++) {
        if (ws_fact_reaches(op, i))
            copy_to(c, op, from, to, n, ws_cuda_format(c, "%u", i));
    }
    if (op->ctas.kind == WS_CTAS_OWN)
        copy_to(c, op, from, to, n, c->p->cluster > 1 ? "cta" : "0");
}
