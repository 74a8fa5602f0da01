/* Named barriers that several groups meet at: which they are, and their ids. */
#include "codegen/python/py.h"
#include "program/op.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "target/target.h"

/* Agents that meet at one element. */
static guint64 sides(const WsPy *y, guint barrier, gint64 element)
{
    guint64 agents = 0;
    for (guint i = 0; i < y->p->n_ops; i++) {
        const WsOp *op = y->p->op[i];
        gint64 at = 0;
        if (op->barrier != (gint)barrier || op->agent < 0 || op->agent > 63 ||
            !ws_op_joins(op->kind) ||
            (op->element && ws_expr_is_int(op->element, &at) && at != element))
            continue;
        agents |= G_GUINT64_CONSTANT(1) << op->agent;
    }
    return agents;
}

/* A named barrier at which several groups meet. */
static gboolean between_groups(const WsPy *y, guint barrier)
{
    const WsBarrier *b = &y->p->barrier[barrier];
    for (gint64 e = 0; b->kind == WS_BARRIER_NAMED && e < b->array; e++) {
        if (__builtin_popcountll(sides(y, barrier, e)) > 1)
            return TRUE;
    }
    return FALSE;
}

const char *ws_py_named(WsPy *y, const WsOp *op)
{
    gint64 element = 0;
    if (op->barrier < 0) {
        ws_py_refuse(y, op, "a barrier of the whole CTA between groups", "an mbarrier or two");
        return NULL;
    }
    if (op->element && !ws_py_constant(y, op->element, &element)) {
        ws_py_refuse(y, op, "a named barrier whose element is not constant", NULL);
        return NULL;
    }
    const guint number = (guint)op->barrier;
    if (!between_groups(y, number))
        return "";
    if (y->p->barrier[number].array > 1)
        return ws_py_format(y, "%s + %s", y->barrier[number], ws_py_text(y, op->element));
    return y->barrier[number];
}

/* What a re-import makes a named barrier of again: a figure per element. */
static const char *threads_of(WsPy *y, const WsBarrier *b)
{
    const char *s = "";
    for (guint e = 0; e < b->array; e++)
        s = ws_py_format(y, "%s%s%u", s, e ? "," : "", b->threads[e]);
    return s;
}

/* Triton takes 0 for the default partition, 1 for handing out work, 2 and on for the workers (and
 * fills the last four warps up with one more): ours are the last ones. */
void ws_py_named_constants(WsPy *y)
{
    guint n = 0, taken = y->p->n_agents + 2;
    for (guint i = 0; i < y->p->n_barriers; i++)
        n += between_groups(y, i) ? y->p->barrier[i].array : 0;
    if (n && n + taken > y->p->hardware->sync.named) {
        ws_py_refuse_at(
            y, NULL, "barriers",
            ws_py_phrase(y,
                         "%u named barriers (the hardware has %u, and the compiler takes "
                         "up to %u)",
                         n, y->p->hardware->sync.named, taken),
            "mbarriers instead of some of them");
        return;
    }
    for (guint i = 0, next = y->p->hardware->sync.named - n; i < y->p->n_barriers; i++) {
        if (!between_groups(y, i))
            continue;
        ws_py_line(y, "%s = %s.constexpr(%u)  # named in the design: %s threads", y->barrier[i],
                   y->dialect->module, next, threads_of(y, &y->p->barrier[i]));
        next += y->p->barrier[i].array;
    }
}

void ws_py_named_guards(WsPy *y)
{
    guint next = y->p->hardware->sync.named;
    for (guint i = y->p->n_barriers; i-- > 0;) {
        if (!between_groups(y, i))
            continue;
        next -= y->p->barrier[i].array;
        ws_py_line(y, "%s.static_assert(%s == %u, \"%s: the ids that the compiler leaves\")",
                   y->dialect->module, y->barrier[i], next, y->barrier[i]);
    }
}
