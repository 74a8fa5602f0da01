/* TLE's allocations: buffers, mbarriers and named barriers, pipes. */
#include "codegen/python/tle/tle.h"
#include "codegen/python/triton/triton.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/pipe.h"
#include "program/program.h"

#include <string.h>

static void allocate_buffer(WsTle *t, guint number, gboolean *done)
{
    const WsBuffer *b = &t->y->p->buffer[number];
    if (done[number])
        return;
    done[number] = TRUE;
    const char *alias = "";
    if (b->over >= 0) {
        const WsBuffer *under = &t->y->p->buffer[b->over];
        allocate_buffer(t, (guint)b->over, done);
        alias = ws_py_format(t->y, ", alias=%s, alias_offset_bytes=%" G_GUINT64_FORMAT,
                             t->y->buffer[b->over], b->offset - under->offset);
    }
    guint lead = b->array * b->stages;
    const char *count = b->array == 1 ? ws_py_count(t->y, b->stages_name) : NULL;
    if (!count)
        count = ws_py_format(t->y, "%u", lead);
    gboolean odd = !ws_py_pow2(lead) || !ws_py_pow2(b->rows) || !ws_py_pow2(b->cols);
    /* with a capacity the shape is that of one slot */
    const char *slots = odd ? "" : ws_py_format(t->y, "%s, ", count);
    const char *shape = b->rank == 1 ? ws_py_format(t->y, "[%s%u]", slots, b->cols)
                                     : ws_py_format(t->y, "[%s%u, %u]", slots, b->rows, b->cols);
    const char *capacity = odd ? ws_py_format(t->y, ", capacity=%s", count) : "";
    ws_py_line(t->y, "%s = tle.gpu.alloc(%s, dtype=tl.%s, layout=None, scope=tle.gpu.smem%s%s%s)",
               t->y->buffer[number], shape, ws_tl_type(b->dtype),
               b->swizzle ? "" : ", nv_mma_shared_layout=False", capacity, alias);
}

/* Dimensions of shared memory are powers of two, also those of barriers. */
static const char *barriers_of(WsPy *y, guint n)
{
    return ws_py_format(y, "%u", n > 1 ? 1u << g_bit_storage(n - 1) : 1);
}

static void allocate_mbarriers(WsTle *t, guint number, gint element)
{
    const WsBarrier *b = &t->y->p->barrier[number];
    const WsTleBarrier *plan = &t->barrier[number];
    guint e = (guint)MAX(element, 0), n = element < 0 ? b->array * b->slots : b->slots;
    const char *name = ws_py_count(t->y, b->slots_name);
    const char *count = name && n == b->slots && ws_py_pow2(n) ? name : barriers_of(t->y, n);
    for (guint i = 0; i < plan->n_parts; i++) {
        const WsTlePart *part = &plan->part[i];
        const char *as =
            element < 0 ? part->name : ws_py_format(t->y, "%s_%d", part->name, element);
        const char *bytes =
            part->expect ? ws_py_format(t->y, ", expect_bytes=%" G_GINT64_FORMAT, part->expect)
                         : "";
        const char *remark =
            element >= 0 && plan->n_parts < 2
                ? ws_py_format(t->y, "  # element of: %s, %d of %u", b->name, element, b->array)
            : plan->n_parts > 1 && element < 0 ? ws_py_format(t->y, "  # part of: %s", b->name)
                                               : "";
        ws_py_line(t->y, "%s = tle.gpu.alloc_barriers(%s, arrive_count=%u, init=tle.gpu.%s%s)%s",
                   as, count, part->expect ? 1 : b->arrivals[e], b->ready[e] ? "READY" : "PENDING",
                   bytes, remark);
    }
}

static void allocate_barriers(WsTle *t)
{
    for (guint i = 0; i < t->y->p->n_barriers; i++) {
        const WsBarrier *b = &t->y->p->barrier[i];
        const WsTleBarrier *plan = &t->barrier[i];
        guint arrays = plan->per_element ? b->array : 1;
        if (plan->pipe >= 0 || plan->skipped)
            continue;
        for (guint e = 0; e < arrays; e++) {
            gint element = plan->per_element ? (gint)e : -1;
            if (b->kind == WS_BARRIER_MBARRIER)
                allocate_mbarriers(t, i, element);
            else if (element < 0)
                ws_py_line(t->y, "%s = tle.gpu.alloc_barriers(%s, arrive_count=%u)",
                           plan->part[0].name, barriers_of(t->y, b->array), b->threads[0]);
            else
                ws_py_line(t->y, "%s_%u = tle.gpu.alloc_barriers(1, arrive_count=%u)",
                           plan->part[0].name, e, b->threads[e]);
        }
    }
}

const char *ws_tle_reader(WsTle *t, const WsTlePipe *pipe, guint agent)
{
    const WsPipe *is = pipe->is;
    if (is->n_readers < 2)
        return ws_py_format(t->y, "%s.reader()", pipe->name);
    const char *group = t->y->p->group_name[t->y->p->agent[agent].group], *fields = "";
    for (guint i = 0; i < is->n_reads; i++) {
        const WsPipeReads *r = &is->reads[i];
        if (strcmp(r->group, group) != 0 || r->n_fields == is->n_fields)
            continue;
        for (guint k = 0; k < r->n_fields; k++)
            fields = ws_py_format(t->y, "%s\"%s\",", fields,
                                  ws_py_ident(t->y, t->y->p->buffer[r->field[k]].name));
    }
    return ws_py_format(t->y, "%s.reader(\"%s\"%s%s%s)", pipe->name,
                        ws_py_ident(t->y, t->y->p->agent[agent].name), *fields ? ", fields=(" : "",
                        fields, *fields ? ")" : "");
}

gboolean ws_tle_is_ring(const WsTle *t, gint pipe)
{
    return pipe >= 0 && t->staged && t->staged[pipe];
}

static void create_pipes(WsTle *t)
{
    for (guint i = 0; i < t->pipe->len; i++) {
        const WsTlePipe *pipe = ws_tle_pipe(t, (gint)i);
        if (ws_tle_is_ring(t, (gint)i))
            continue;
        const char *fields = "", *readers = "";
        for (guint k = 0; k < pipe->is->n_fields; k++)
            fields = ws_py_format(t->y, "%s, %s=%s", fields, t->y->buffer[pipe->is->field[k]],
                                  t->y->buffer[pipe->is->field[k]]);
        for (guint k = 0; k < pipe->is->n_readers && pipe->is->n_readers > 1; k++)
            readers = ws_py_format(t->y, "%s%s\"%s\"", readers, k ? ", " : ", readers=(",
                                   ws_py_ident(t->y, t->y->p->agent[pipe->is->reader[k]].name));
        ws_py_line(t->y, "%s = tle.pipe(capacity=%u, scope=\"cta\", name=\"%s\"%s%s%s%s)",
                   pipe->name, pipe->is->capacity, pipe->name, readers, *readers ? ")" : "",
                   pipe->is->one_shot ? ", one_shot=True" : "", fields);
    }
}

void ws_tle_objects(WsTle *t)
{
    const guint n = t->y->p->n_buffers;
    g_autofree gboolean *done = g_new0(gboolean, n + 1);
    for (guint i = 0; i < n; i++)
        if (t->told_of[i] < 0 &&
            !ws_tle_is_ring(t, t->pipe_of[i])) /* the pipe has it, or the compiler */
            allocate_buffer(t, i, done);
    allocate_barriers(t);
    create_pipes(t);
}
