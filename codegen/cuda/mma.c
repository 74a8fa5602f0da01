/* wgmma: descriptors, one call per instruction, waits that hold back what reads the registers. */
#include "codegen/cuda/cuda.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/product.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"

static guint atom_regs(const WsRegValue *v, guint cols)
{
    return ws_dtype_bytes(v->dtype) < 4 ? cols / 4 : cols / 2;
}

static gboolean first_register(WsCuda *c, const WsValueUse *u, guint *at)
{
    const WsRegValue *v = &c->agent->value[u->value];
    guint row, col;
    if (!ws_cuda_constant(c, u->row0, &row) || !ws_cuda_constant(c, u->col0, &col) || row % 64 ||
        col % 8 || v->layout != WS_LAYOUT_ACCUMULATOR)
        return FALSE;
    *at = row / 64 * atom_regs(v, v->cols) + atom_regs(v, col);
    return TRUE;
}

static WsWgmmaScale scale_of(WsCuda *c, const WsOp *op, const char **run)
{
    const WsMma *m = op->mma;
    if (!m->first)
        return WS_WGMMA_ONE;
    WsTerm first = ws_term_truth(&c->terms, ws_cuda_uniform(c, m->first));
    gint64 known;
    if (ws_term_known(first, &known) && known && ws_fact_sum_stays(c->agent, op)) {
        *run = ws_cuda_format(c, "%s(0)", ws_cuda_prim_name(WS_PRIM_MOV32));
        return WS_WGMMA_RUN;
    }
    if (ws_term_known(first, &known))
        return known ? WS_WGMMA_ZERO : WS_WGMMA_ONE;
    *run = ws_cuda_format(c, "!(%s)", first.s);
    return WS_WGMMA_RUN;
}

static void descriptor(WsCuda *c, const char *name, const WsMmaOperand *o, const WsAccess *a)
{
    WsTerm offset =
        o->start >= 0 ? ws_term_int(&c->terms, o->start) : ws_cuda_view_offset(c, a, 0, 0);
    ws_cuda_line(c, "const uint64_t %s = descriptor<%u, %u, %u>(%s + %s);", name, o->swizzle,
                 o->leading, o->stride, ws_cuda_stage(c, a),
                 ws_term_in(&c->terms, offset, WS_PREC_SUM));
}

/* Offset of k-step j in units of 16 bytes: "j * 2", or a table. */
static const char *k_offset(WsCuda *c, const WsMmaOperand *o, const char *table)
{
    guint n = o->n_k;
    gboolean affine = TRUE;
    for (guint j = 2; j < n; j++)
        affine = affine && o->k_offset[j] - o->k_offset[j - 1] == o->k_offset[1] - o->k_offset[0];
    if (affine && o->k_offset[0] == 0)
        return n > 1 ? ws_cuda_format(c, "%u * ks", o->k_offset[1] >> 4) : "0";
    GString *s = g_string_new(NULL);
    for (guint j = 0; j < n; j++)
        g_string_append_printf(s, "%s%u", j ? ", " : "", o->k_offset[j] >> 4);
    ws_cuda_line(c, "// k steps in units of 16 bytes");
    ws_cuda_line(c, "constexpr int %s[] = { %s };", table, s->str);
    g_string_free(s, TRUE);
    return ws_cuda_format(c, "%s[ks]", table);
}

typedef struct {
    const WsMma *m;
    const char *acc, *a_value, *a_k, *b_k, *run;
    guint first, a_first, acc_step, a_atom;
} Step;

static void issue(WsCuda *c, const Step *s, WsWgmmaScale scale, const char *ks)
{
    const WsMma *m = s->m;
    const char *at = m->atoms > 1 ? ws_cuda_format(c, " + %u * atom", s->acc_step) : "", *a;
    const char *a_k = g_strcmp0(ks, "0") ? s->a_k : "0", *b_k = g_strcmp0(ks, "0") ? s->b_k : "0";
    if (m->atoms > 1) {
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(c, "for (int atom = 0; atom < %u; ++atom)", m->atoms);
    }
    if (m->a.in_registers)
        a = m->atoms > 1 ? ws_cuda_format(c, "%s + %u + %u * atom + 4 * %s", s->a_value, s->a_first,
                                          s->a_atom, ks)
                         : ws_cuda_format(c, "%s + %u + 4 * %s", s->a_value, s->a_first, ks);
    else
        a = m->atoms > 1 ? ws_cuda_format(c, "a_desc + %s + %u * atom", a_k, m->a.atom_step >> 4)
                         : ws_cuda_format(c, "a_desc + %s", a_k);
    ws_cuda_line(c, "%s(%s + %u%s, %s, b_desc + %s%s%s);", ws_cuda_wgmma(c, m, scale), s->acc,
                 s->first, at, a, b_k, scale == WS_WGMMA_RUN ? ", " : "",
                 scale == WS_WGMMA_RUN ? "scale_d" : "");
    if (m->atoms > 1)
        ws_cuda_close(c);
}

void ws_cuda_mma(WsCuda *c, const WsOp *op)
{
    const WsMma *m = op->mma;
    const WsRegValue *acc = &c->agent->value[op->value[0].value];
    Step s = { .m = m, .acc = c->value[op->value[0].value] };
    guint b_at = m->a.in_registers ? 0 : 1;
    if (op->n_access <= b_at || !first_register(c, &op->value[0], &s.first) ||
        (m->a.in_registers &&
         (ws_dtype_bytes(m->a_type) != 2 || !first_register(c, &op->value[1], &s.a_first)))) {
        ws_cuda_step_error(c, op, "operands of this form");
        return;
    }
    WsWgmmaScale scale = scale_of(c, op, &s.run);
    s.acc_step = atom_regs(acc, acc->cols);
    ws_cuda_block(c, "");
    if (m->a.in_registers) {
        const WsRegValue *v = &c->agent->value[op->value[1].value];
        s.a_value = c->value[op->value[1].value];
        s.a_atom = atom_regs(v, v->cols);
    } else {
        descriptor(c, "a_desc", &m->a, &op->access[0]);
        s.a_k = k_offset(c, &m->a, "a_step");
    }
    descriptor(c, "b_desc", &m->b, &op->access[b_at]);
    s.b_k = k_offset(c, &m->b, "b_step");
    for (guint v = 0; ws_fact_sum_stays(c->agent, op) && v < c->agent->n_values; v++) {
        if (c->agent->value[v].dtype == WS_DTYPE_F32 && ws_fact_sum_before(c->agent, op, v))
            ws_cuda_line(c, "keep(%s);", c->value[v]);
    }
    if (scale == WS_WGMMA_RUN)
        ws_cuda_line(c, "const int scale_d = %s; // 0: the accumulator starts at 0", s.run);
    guint from = 0;
    if (scale != WS_WGMMA_ONE) {
        issue(c, &s, scale, "0");
        from = 1;
    }
    if (from < m->b.n_k) {
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(c, "for (int ks = %u; ks < %u; ++ks)", from, m->b.n_k);
        issue(c, &s, WS_WGMMA_ONE, "ks");
        ws_cuda_close(c);
    }
    ws_cuda_close(c);
}

/* --- what stays on its side of fences and waits ----------------------------------------------- */

static void keep(WsCuda *c, guint v, guint first, guint end)
{
    if (first == 0 && end == c->agent->value[v].registers)
        ws_cuda_line(c, "keep(%s);", c->value[v]);
    else
        ws_cuda_line(c, "keep_part<%u, %u>(%s);", first, end - first, c->value[v]);
}

/* Nothing that makes one of these registers sinks below here, nothing that reads it moves above. */
static void keep_all(WsCuda *c, guint v, const gboolean *which)
{
    for (guint i = 0, end; which && i < c->agent->value[v].registers; i = end + 1) {
        for (end = i; end < c->agent->value[v].registers && which[end];)
            end++;
        if (end > i)
            keep(c, v, i, end);
    }
}

static gboolean begins_anew(gpointer c, const WsOp *product)
{
    const char *run;
    return scale_of(c, product, &run) == WS_WGMMA_ZERO;
}

void ws_cuda_mma_fence(WsCuda *c, const WsOp *op)
{
    for (guint v = 0; v < c->agent->n_values; v++) {
        g_autofree gboolean *fenced = ws_fact_fenced(c->p, c->agent, op, v, begins_anew, c);
        keep_all(c, v, fenced);
    }
    ws_cuda_line(c, "%s();", ws_cuda_prim_name(WS_PRIM_WGMMA_FENCE));
}

/* What the wait releases passes through an empty asm behind it, so that no arithmetic on it can be
 * moved above the wait. */
void ws_cuda_mma_wait(WsCuda *c, const WsOp *op)
{
    ws_cuda_line(c, "%s<" WS_FOLD_IMMEDIATE "%" G_GINT64_FORMAT ">();",
                 ws_cuda_prim_name(WS_PRIM_WGMMA_WAIT), op->n);
    for (guint v = 0; v < c->agent->n_values; v++) {
        g_autofree gboolean *freed = ws_fact_freed(c->p, c->agent, op, v);
        keep_all(c, v, freed);
    }
}
