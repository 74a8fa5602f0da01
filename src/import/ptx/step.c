#include "import/ptx/walk.h"

#include <string.h>

/* What an instruction means: which family of steps it belongs to. Addresses stay expressions until
 * all threads were walked: a step's place holds the address in `index` and object -1. */

const WsExpr *ptx_predicate(PtxWalk *w, const WsPtxInst *i)
{
    if (!i->guard)
        return ws_x_int(w->p.r, 1);
    const WsExpr *e = ptx_int(w, i->guard);
    return i->negated ? ws_x_op(w->p.r, WS_EXPR_NOT, e, NULL) : e;
}

WsReadStep *ptx_new_step(PtxWalk *w, WsReadKind kind, const WsPtxInst *i)
{
    gint64 known;
    WsReadStep *s = ws_source_step(w->p.r, w->p.to, kind, i->line, 1, i->line);
    const WsExpr *guard = ptx_predicate(w, i);
    if (!ws_x_is(guard, &known))
        s->when = guard;
    return s;
}

void ptx_unread(PtxWalk *w, const WsPtxInst *i, const char *what)
{
    if (w->p.probing)
        return;
    const WsRead *r = w->p.r;
    ws_source_unread(w->p.r, i->line, 1, i->line, what,
                     i->line && i->line <= r->n_lines ? r->line[i->line - 1] : "");
}

void ptx_opaque(PtxWalk *w, const WsPtxInst *i, const char *what)
{
    ptx_new_step(w, WS_READ_OPAQUE, i);
    ptx_unread(w, i, what);
}

void ptx_lost(PtxWalk *w, const WsPtxInst *i, const char *what)
{
    ptx_opaque(w, i, what);
    w->lost |= !w->p.probing;
}

static void elect(PtxWalk *w, const WsPtxInst *i)
{
    const char *bar = i->n ? strchr(i->arg[0], '|') : NULL;
    if (bar)
        ptx_set(w, g_string_chunk_insert(w->p.r->text, bar + 1), py_literal(&w->p, w->first));
}

/* mapa to, address, rank: the same address in another CTA. */
static void map_address(PtxWalk *w, const WsPtxInst *i)
{
    PyRead *p = &w->p;
    const Val *at = i->n > 2 ? ptx_operand(w, i->arg[1]) : NULL;
    const WsExpr *rank = i->n > 2 ? ptx_int(w, i->arg[2]) : NULL;
    if (!i->n)
        return;
    if (!rank || at->kind != VAL_INT) {
        ptx_set(w, i->arg[0], py_opaque(p));
        return;
    }
    Val *pair = py_val(p, VAL_TUPLE);
    const Val **item = g_new(const Val *, 2);
    g_ptr_array_add(p->r->pool, item);
    item[0] = at;
    item[1] = py_int(p, rank);
    pair->n = 2;
    pair->item = item;
    ptx_set(w, i->arg[0], pair);
}

static void parameter(PtxWalk *w, const WsPtxInst *i)
{
    g_autofree char *name = g_strndup(i->arg[1] + 1, strcspn(i->arg[1] + 1, "]+"));
    const Val *v = ptx_operand(w, g_string_chunk_insert(w->p.r->text, name));
    ptx_set(w, i->arg[0], strstr(i->op, "64") ? v : py_int(&w->p, py_as_int(&w->p, v)));
}

/* Instructions that every thread makes, whatever its predicate. */
static gboolean unguarded(PtxWalk *w, const WsPtxInst *i)
{
    if (g_str_has_prefix(i->op, "elect.sync")) {
        elect(w, i);
    } else if (g_str_has_prefix(i->op, "shfl.sync.idx") && i->n > 1) {
        g_autofree char *to = g_strndup(i->arg[0], strcspn(i->arg[0], "|"));
        ptx_set(w, g_string_chunk_insert(w->p.r->text, to), ptx_operand(w, i->arg[1]));
    } else if (g_str_has_prefix(i->op, "ld.param") && i->n > 1) {
        parameter(w, i);
    } else {
        return FALSE;
    }
    return TRUE;
}

static void registers(PtxWalk *w, const WsPtxInst *i)
{
    gint64 known;
    if (i->n && ws_x_is(ptx_int(w, i->arg[0]), &known) && !w->p.loops->len && !w->waits)
        w->registers = known;
}

static gboolean is_matrix_access(const char *op)
{
    return g_str_has_prefix(op, "stmatrix") || g_str_has_prefix(op, "ldmatrix");
}

gboolean ptx_step(PtxWalk *w, const WsPtxInst *i)
{
    gint64 known;
    const gboolean mine = !i->guard || !ws_x_is(ptx_predicate(w, i), &known) || known;
    const char *op = i->op;
    if (unguarded(w, i))
        return TRUE;
    if (!mine)
        return TRUE; /* another thread's */
    if (g_hash_table_size(w->sum_names))
        ptx_reads(w, i);
    if (g_str_has_prefix(op, "mbarrier"))
        ptx_mbarrier(w, i);
    else if (g_str_has_prefix(op, "cp.async.bulk") || g_str_has_prefix(op, "cp.reduce"))
        ptx_bulk(w, i);
    else if (g_str_has_prefix(op, "cp.async"))
        ptx_cp_async(w, i);
    else if (g_str_has_prefix(op, "wgmma"))
        ptx_matrix(w, i);
    else if (g_str_has_prefix(op, "barrier.cluster"))
        ptx_cluster(w, i);
    else if ((g_str_has_prefix(op, "bar.") || g_str_has_prefix(op, "barrier.")) &&
             !strstr(op, "warp"))
        ptx_named(w, i), w->warp_synced = FALSE;
    else if (g_str_has_prefix(op, "bar.warp.sync"))
        w->warp_synced = TRUE;
    else if (g_str_has_prefix(op, "mapa"))
        map_address(w, i);
    else if (g_str_has_prefix(op, "setmaxnreg"))
        registers(w, i);
    else if (g_str_has_prefix(op, "fence.proxy.async"))
        ptx_new_step(w, WS_READ_FENCE, i)->name = "async";
    else if ((strstr(op, ".shared") && !g_str_has_prefix(op, "cvta")) || is_matrix_access(op))
        ptx_shared(w, i);
    else
        return FALSE;
    return TRUE;
}
