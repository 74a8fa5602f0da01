/* TLX's allocations: buffers and mbarriers; values that its tensors cannot hold. */
#include "codegen/python/tlx/tlx.h"
#include "codegen/python/triton/triton.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/value.h"
#include "program/program.h"

static void allocate_buffer(WsPy *y, guint i)
{
    const WsBuffer *b = &y->p->buffer[i], *under = b->over >= 0 ? &y->p->buffer[b->over] : NULL;
    if (under && (under->over >= 0 || under->offset != b->offset || under->bytes < b->bytes)) {
        ws_py_refuse(y, NULL,
                     ws_py_phrase(y, "buffer %s, which is no beginning of %s that it lies over",
                                  b->name, under->name),
                     "give it memory of its own");
        return;
    }
    guint part;
    const char *count = ws_py_stages(y, b, &part);
    const char *shape = b->rank == 1 ? ws_py_format(y, "(%u,)", b->cols)
                                     : ws_py_format(y, "(%u, %u)", part, b->cols);
    ws_py_line(y, "%s = tlx.local_alloc(%s, tl.%s, %s%s)", y->buffer[i], shape,
               ws_tl_type(b->dtype), count,
               under ? ws_py_format(y, ", reuse=%s", y->buffer[b->over]) : "");
}

static void allocate_barrier(WsPy *y, guint i)
{
    const WsBarrier *b = &y->p->barrier[i];
    const guint n = b->array * MAX(b->slots, 1);
    const char *name = ws_py_count(y, b->slots_name);
    for (guint e = 1; e < b->array; e++) {
        if (b->arrivals[e] == b->arrivals[0])
            continue;
        ws_py_refuse(y, NULL,
                     ws_py_phrase(y, "barrier %s, whose elements take different arrivals", b->name),
                     "make them barriers of their own");
        return;
    }
    ws_py_line(y, "%s = tlx.alloc_barriers(num_barriers=%s, arrive_count=%u)%s", y->barrier[i],
               name && n == b->slots ? name : ws_py_format(y, "%u", n), b->arrivals[0],
               b->ready && b->ready[0] ? "  # ready: the first waits pass" : "");
}

void ws_tlx_values(WsPy *y)
{
    for (guint i = 0; i < y->p->n_agents; i++) {
        const WsAgent *a = &y->p->agent[i];
        for (guint v = 0; v < a->n_values; v++) {
            const WsRegValue *r = &a->value[v];
            if (ws_py_pow2(r->rows) && ws_py_pow2(r->cols))
                continue;
            y->agent = a;
            ws_py_refuse(
                y, NULL,
                ws_py_phrase(y, "value %s of %u rows and %u columns (extents are powers of two)",
                             r->name, r->rows, r->cols),
                "make them powers of two");
            return;
        }
    }
}

void ws_tlx_objects(WsPy *y)
{
    for (guint over = 0; over < 2; over++) /* what lies over others is made behind them */
        for (guint i = 0; i < y->p->n_buffers && !y->error; i++)
            if ((y->p->buffer[i].over >= 0) == over)
                allocate_buffer(y, i);
    for (guint i = 0; i < y->p->n_barriers && !y->error; i++) {
        if (y->p->barrier[i].kind == WS_BARRIER_MBARRIER)
            allocate_barrier(y, i);
    }
}
