/* mbarriers, and named barriers as mbarriers: 3.6 has no named ones. Where one group alone waits,
 * the others' arrivals complete a phase; where several do, everyone arrives and then waits. */
#include "codegen/python/gluon.h"

static const char *slot_of(WsPy *y, const WsOp *op)
{
    return ws_py_format(y, "%s.index(%s)", y->barrier[op->barrier], ws_py_slot(y, op));
}

void ws_gluon_wait(WsPy *y, const WsOp *op)
{
    ws_py_line(y, "mbarrier.wait(%s, %s)", slot_of(y, op), ws_py_parity(y, op));
}

void ws_gluon_arrive(WsPy *y, const WsOp *op)
{
    if (op->count == 1)
        ws_py_line(y, "mbarrier.arrive(%s)", slot_of(y, op));
    else
        ws_py_line(y, "mbarrier.arrive(%s, count=%" G_GINT64_FORMAT ")", slot_of(y, op), op->count);
}

void ws_gluon_expect(WsPy *y, const WsOp *op)
{
    if (op->count < 1) {
        ws_py_refuse(y, op, "expected bytes without an arrival (3.6 arrives with them)",
                     "let the copy arrive");
        return;
    }
    ws_py_line(y, "mbarrier.expect(%s, %" G_GINT64_FORMAT ")", slot_of(y, op), op->bytes);
    if (op->count > 1)
        ws_py_line(y, "mbarrier.arrive(%s, count=%" G_GINT64_FORMAT ")", slot_of(y, op),
                   op->count - 1);
}

/* --- named barriers
 * -----------------------------------------------------------------------------*/

typedef struct {
    guint64 wait, arrive; /* agents */
} Sides;

static Sides sides(const WsPy *y, guint barrier, gint64 element)
{
    Sides s = { 0, 0 };
    for (guint i = 0; i < y->p->n_ops; i++) {
        const WsOp *op = y->p->op[i];
        gint64 at = 0;
        if (op->barrier != (gint)barrier || op->agent < 0 || op->agent > 63 ||
            (op->kind != WS_OP_BAR_SYNC && op->kind != WS_OP_BAR_ARRIVE) ||
            (op->element && ws_expr_is_int(op->element, &at) && at != element))
            continue;
        *(op->kind == WS_OP_BAR_SYNC ? &s.wait : &s.arrive) |= G_GUINT64_CONSTANT(1) << op->agent;
    }
    return s;
}

static guint ones(guint64 x)
{
    return (guint)__builtin_popcountll(x);
}

/* One group waits, others arrive. */
static gboolean one_sided(Sides s)
{
    return ones(s.wait) == 1 && s.arrive && !(s.wait & s.arrive);
}

gboolean ws_gluon_becomes_mbarrier(const WsPy *y, guint barrier)
{
    const WsBarrier *b = &y->p->barrier[barrier];
    for (gint64 e = 0; b->kind == WS_BARRIER_NAMED && e < b->array; e++) {
        Sides s = sides(y, barrier, e);
        if (ones(s.wait | s.arrive) > 1)
            return TRUE;
    }
    return FALSE;
}

/* Elements of one barrier on which this role waits. */
static guint waited_elements(const WsPy *y, guint barrier)
{
    guint n = 0;
    for (gint64 e = 0; e < y->p->barrier[barrier].array; e++)
        n += sides(y, barrier, e).wait >> (y->agent - y->p->agent) & 1;
    return n;
}

void ws_gluon_named(WsPy *y, const WsOp *op)
{
    if (op->barrier < 0) {
        ws_py_refuse(y, op, "a barrier of the whole CTA between groups", "an mbarrier or two");
        return;
    }
    guint number = (guint)op->barrier;
    gint64 element = 0;
    if (op->element && !ws_py_constant(y, op->element, &element)) {
        ws_py_refuse(y, op, "a named barrier whose element is not constant", NULL);
        return;
    }
    if (!ws_gluon_becomes_mbarrier(y, number)) {
        if (op->kind == WS_OP_BAR_SYNC)
            ws_py_line(y, "gl.thread_barrier()");
        return;
    }
    Sides s = sides(y, number, element);
    const char *at = ws_py_format(y, "%s.index(%s)", y->barrier[number],
                                  op->element ? ws_py_text(y, op->element) : "0");
    if (op->kind == WS_OP_BAR_ARRIVE || !one_sided(s))
        ws_py_line(y, "mbarrier.arrive(%s)", at);
    if (op->kind == WS_OP_BAR_ARRIVE)
        return;
    const char *name = ws_py_format(y, "%s_uses", y->p->barrier[number].name);
    if (waited_elements(y, number) > 1)
        name = ws_py_format(y, "%s_%" G_GINT64_FORMAT, name, element);
    name = ws_py_local(y, name);
    if (!g_ptr_array_find(y->counters, name, NULL))
        g_ptr_array_add(y->counters, (gpointer)name);
    ws_py_line(y, "mbarrier.wait(%s, %s %% 2)", at, name);
    ws_py_line(y, "%s += 1", name);
}

/* --- storage
 * ------------------------------------------------------------------------------------*/

static guint arrivals_of(const WsPy *y, guint barrier, guint element)
{
    const WsBarrier *b = &y->p->barrier[barrier];
    if (b->kind == WS_BARRIER_MBARRIER)
        return b->arrivals[element];
    Sides s = sides(y, barrier, element);
    return one_sided(s) ? ones(s.arrive) : MAX(ones(s.wait | s.arrive), 1);
}

static void initialise(WsPy *y, guint i, guint slots)
{
    const WsBarrier *b = &y->p->barrier[i];
    gboolean alike = TRUE;
    for (guint e = 1; e < b->array; e++)
        alike = alike && arrivals_of(y, i, e) == arrivals_of(y, i, 0);
    if (alike) {
        ws_py_open(y, "for i in gl.static_range(%u)", b->array * slots);
        ws_py_line(y, "mbarrier.init(%s.index(i), count=%u)", y->barrier[i], arrivals_of(y, i, 0));
        ws_py_close(y);
        return;
    }
    for (guint e = 0; e < b->array; e++) {
        ws_py_open(y, "for i in gl.static_range(%u)", slots);
        ws_py_line(y, "mbarrier.init(%s.index(%u + i), count=%u)", y->barrier[i], e * slots,
                   arrivals_of(y, i, e));
        ws_py_close(y);
    }
}

/* What a re-import makes a named barrier of again. */
static const char *remark_of(WsPy *y, const WsBarrier *b)
{
    if (b->kind != WS_BARRIER_NAMED)
        return b->ready && b->ready[0] ? "  # ready: the first waits pass" : "";
    g_autoptr(GString) text = g_string_new("  # named in the design: ");
    gboolean alike = TRUE;
    for (guint e = 1; e < b->array; e++)
        alike = alike && b->threads[e] == b->threads[0];
    for (guint e = 0; e < (alike ? 1 : b->array); e++)
        g_string_append_printf(text, "%s%u", e ? "," : "", b->threads[e]);
    return ws_py_format(y, "%s threads", text->str);
}

void ws_gluon_barriers(WsPy *y)
{
    for (guint i = 0; i < y->p->n_barriers; i++) {
        const WsBarrier *b = &y->p->barrier[i];
        gboolean named = b->kind == WS_BARRIER_NAMED;
        if (named && !ws_gluon_becomes_mbarrier(y, i))
            continue;
        guint slots = named ? 1 : MAX(b->slots, 1);
        ws_py_line(y,
                   "%s = gl.allocate_shared_memory(gl.int64, [%u, 1], mbarrier.MBarrierLayout())%s",
                   y->barrier[i], b->array * slots, remark_of(y, b));
        initialise(y, i, slots);
    }
}
