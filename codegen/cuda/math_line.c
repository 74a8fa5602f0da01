/* Sums along the columns of linear values, as codegen/nvptx/math_line.c makes them: helpers that
 * are told how the warps meet and where they hand each other sums. */
#include "base/phrase.h"
#include "codegen/cuda/math.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"

#define WS_CHUNKS 256 /* of 32 elements: each thread reads all of them */

static gboolean good(WsCudaMath *m, guint slots)
{
    const guint threads = m->c->agent->threads;
    if (threads % 32 == 0 && slots * (threads / 32) <= WS_CHUNKS)
        return TRUE;
    ws_cuda_math_fail(m, WS_WORD("a sum along more than 8192 linear elements"));
    return FALSE;
}

/* How the warps meet, store and load: the last arguments of both helpers. */
static const char *between(WsCudaMath *m, const char *type, gboolean real)
{
    WsCuda *c = m->c;
    if (m->c->agent->threads == 32)
        return ws_cuda_format(c, "[] {}, [](int, %s) {}, [](int) { return %s(0); }", type, type);
    const WsBarrier *b = &c->p->barrier[m->op->line_barrier];
    const char *at = ws_cuda_format(c, "smem.base + %" G_GUINT64_FORMAT " + 4 * j", m->op->line_at);
    return ws_cuda_format(
        c,
        "[&] { %s<" WS_FOLD_IMMEDIATE "%u, " WS_FOLD_IMMEDIATE "%u>(); },\n        "
        "[&](int j, %s v) { %s(%s, %s(v)); },\n        [&](int j) { return %s(%s(%s)); }",
        ws_cuda_prim_name(WS_PRIM_BAR_SYNC), (guint)b->hw_id[0], c->agent->threads, type,
        ws_cuda_prim_name(WS_PRIM_ST_SHARED), at, real ? "__float_as_uint" : "uint32_t",
        real ? "__uint_as_float" : "int", ws_cuda_prim_name(WS_PRIM_LD_SHARED), at);
}

static const char *adding(gboolean real)
{
    return real ? "[](float a, float b) { return a + b; }"
                : "[](int a, int b) { return int(uint32_t(a) + uint32_t(b)); }";
}

void ws_cuda_scan_line(WsCudaMath *m, WsCudaNode *n)
{
    WsCuda *c = m->c;
    gboolean exclusive, reverse;
    const gboolean real = ws_cuda_node_own(n) == WS_MATH_REAL;
    const char *type = real ? "float" : "int";
    ws_array_scan(n->is, &exclusive, &reverse);
    n->name = "0";
    if (!good(m, n->n_row))
        return;
    const char *name = ws_cuda_format(c, "part_%u", c->temporaries++);
    ws_cuda_line(c, "%s %s[%u];", type, name, n->n_row);
    ws_cuda_line(c, "line_scan<%u, %u, %u, %u, %s, %s>(%s, thread,", n->n_row, c->agent->threads,
                 m->lin_cols, m->lin_rows * m->lin_cols, exclusive ? "true" : "false",
                 reverse ? "true" : "false", name);
    ws_cuda_line(c, "        [&](int li) { return %s(%s); },", type,
                 ws_cuda_node_as(m, n->arg[0], ws_cuda_node_own(n)).s);
    ws_cuda_line(c, "        %s,", adding(real));
    ws_cuda_line(c, "        %s);", between(m, type, real));
    n->name = ws_cuda_format(c, "%s[li]", name);
}

WsTerm ws_cuda_reduce_line(WsCudaMath *m, WsCudaNode *n, gboolean max)
{
    WsCuda *c = m->c;
    WsCudaNode *a = n->arg[0];
    const gboolean real = ws_cuda_node_own(n) == WS_MATH_REAL;
    const char *type = real ? "float" : "int";
    const guint all = m->lin_rows * m->lin_cols;
    if (max && all < c->agent->threads)
        ws_cuda_math_fail(m, WS_WORD("the largest of fewer linear elements than threads"));
    if (c->error || !good(m, a->n_row))
        return ws_term_unknown("0", WS_PREC_ATOM);
    const char *join = !max   ? adding(real)
                       : real ? "[](float a, float b) { return fmaxf(a, b); }"
                              : "[](int a, int b) { return max(a, b); }";
    return ws_term_unknown(
        ws_cuda_format(c,
                       "line_reduce<%u, %u, %u>(%s(0), thread,\n        [&](int li) { return "
                       "%s(%s); },\n        %s,\n        %s)",
                       a->n_row, c->agent->threads, all, type, type,
                       ws_cuda_node_as(m, a, ws_cuda_node_own(n)).s, join, between(m, type, real)),
        WS_PREC_ATOM);
}
