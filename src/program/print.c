
#include "expr/expr.h"
#include "program/elaborate.h"
#include "program/forward.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/mesh.h"
#include "program/parts/product.h"
#include "program/parts/retired.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* `generate --as program`: the whole program as text. Golden tests compare it, people read it; a
 * change of its form is a change of every golden file. */

static void put_expr(GString *out, const WsExpr *e)
{
    g_autofree char *text = e ? ws_expr_print(e) : NULL;
    g_string_append(out, text ? text : "-");
}

static void put_named(GString *out, const char *name, const WsExpr *e)
{
    if (!e)
        return;
    g_string_append_printf(out, " %s=", name);
    put_expr(out, e);
}

/* --- header --------------------------------------------------------------------------------- */

static void put_names(GString *out, const WsProgram *p)
{
    g_string_append_printf(out, "program %s\ntarget %s\n", p->name, p->target);
    for (guint i = 0; i < p->n_constants; i++)
        g_string_append_printf(out, "%s%s = %" G_GINT64_FORMAT "%s", i ? ", " : "constants ",
                               p->constant_name[i], p->constant[i],
                               i + 1 == p->n_constants ? "\n" : "");
    for (guint i = 0; i < p->n_vars; i++) {
        const WsVar *v = &p->var[i];
        if (v->kind == WS_VAR_SIZE)
            g_string_append_printf(
                out, "size %s = %" G_GINT64_FORMAT ", rehearse %" G_GINT64_FORMAT "\n", v->name,
                v->preset, v->rehearse);
        else if (v->kind == WS_VAR_SCALAR)
            g_string_append_printf(out, "scalar %s = %.9g\n", v->name, v->preset_real);
        else if (v->kind == WS_VAR_RUN || v->kind == WS_VAR_TILE) {
            g_string_append_printf(out, "%s name %s = ", v->kind == WS_VAR_RUN ? "run" : "tile",
                                   v->name);
            put_expr(out, v->value);
            g_string_append_c(out, '\n');
        }
    }
    for (guint i = 0; i < p->n_assume; i++)
        g_string_append_printf(out, "assume %s\n", p->assume_text[i]);
}

static void put_tensors(GString *out, const WsProgram *p)
{
    static const char *const access[] = { "read", "write", "reduce", "exchange" };
    for (guint i = 0; i < p->n_tensors; i++) {
        const WsTensor *t = &p->tensor[i];
        g_string_append_printf(out, "tensor %s %s [", t->name, ws_dtype_text(t->dtype));
        for (guint k = 0; k < t->rank; k++) {
            g_string_append(out, k ? ", " : "");
            put_expr(out, t->shape[k]);
        }
        g_string_append(out, "] strides [");
        for (guint k = 0; k < t->rank; k++) {
            g_string_append(out, k ? ", " : "");
            put_expr(out, t->stride[k]);
        }
        g_string_append_printf(out, "] %s\n", access[t->access]);
    }
    for (guint i = 0; i < p->n_maps; i++) {
        const WsTensorMap *m = &p->map[i];
        g_string_append_printf(out, "map %u of %s box", i, p->tensor[m->tensor].name);
        for (guint k = 0; k < m->rank; k++)
            g_string_append_printf(out, "%s%u", k ? "x" : " ", m->box[k]);
        g_string_append_printf(out, " swizzle %u\n", m->swizzle);
    }
}

static void put_tiles(GString *out, const WsProgram *p)
{
    static const char *const launch[] = { "single", "persistent", "dynamic" };
    static const char *const order[] = { "linear", "grouped", "hilbert" };
    const WsTiles *t = p->tiles;
    g_string_append_printf(out, "tiles %s %s", launch[t->launch], order[t->order]);
    if (t->order != WS_ORDER_LINEAR)
        g_string_append_printf(out, "(%s, ", t->axis[t->order_axis].name);
    if (t->order == WS_ORDER_GROUPED)
        put_expr(out, t->order_n);
    else if (t->order == WS_ORDER_HILBERT)
        g_string_append(out, t->axis[t->order_axis2].name);
    g_string_append(out, t->order != WS_ORDER_LINEAR ? ")" : "");
    for (guint i = 0; i < t->n_axes; i++) {
        g_string_append_printf(out, "%s %s < ", i ? "," : "", t->axis[i].name);
        put_expr(out, t->axis[i].extent);
        g_string_append(out, t->axis[i].reverse ? " reversed" : "");
    }
    if (t->xcd[0])
        g_string_append_printf(out, " xcd [%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT "]", t->xcd[0],
                               t->xcd[1]);
    put_named(out, "grid", t->grid);
    g_string_append_printf(out, "\ncluster %u\n", p->cluster);
    if (p->per_sm > 1)
        g_string_append_printf(out, "ctas_per_sm %u\n", p->per_sm);
}

static void put_shared(GString *out, const WsProgram *p)
{
    g_string_append_printf(out, "shared memory %" G_GUINT64_FORMAT " bytes\n", p->shared_bytes);
    for (guint i = 0; i < p->n_buffers; i++) {
        const WsBuffer *b = &p->buffer[i];
        g_string_append_printf(out, "  %6" G_GUINT64_FORMAT " buffer %s %s [%u, %u]", b->offset,
                               b->name, ws_dtype_text(b->dtype), b->rows, b->cols);
        if (b->is_array)
            g_string_append_printf(out, " array %u pitch %" G_GUINT64_FORMAT, b->array,
                                   b->array_pitch);
        g_string_append_printf(out, " stages %u pitch %" G_GUINT64_FORMAT " swizzle %u", b->stages,
                               b->stage_pitch, b->swizzle);
        if (b->chunk_cols != b->cols)
            g_string_append_printf(out, " chunk %u columns %u bytes", b->chunk_cols,
                                   b->chunk_bytes);
        if (b->pad)
            g_string_append_printf(out, " pad %u", b->pad);
        if (b->gap)
            g_string_append_printf(out, " gap %u pieces %u", b->gap, b->pieces);
        if (b->over >= 0)
            g_string_append_printf(out, " over %s", p->buffer[b->over].name);
        g_string_append_printf(out, " bytes %" G_GUINT64_FORMAT "\n", b->bytes);
    }
    for (guint i = 0; i < p->n_barriers; i++) {
        const WsBarrier *b = &p->barrier[i];
        gboolean named = b->kind == WS_BARRIER_NAMED;
        for (guint e = 0; e < b->array; e++) {
            guint count = named ? b->threads[e] : b->arrivals[e];
            guint derived = named ? b->threads_derived[e] : b->arrivals_derived[e];
            if (named)
                g_string_append_printf(out, "      id %2d named ", b->hw_id[e]);
            else
                g_string_append_printf(out, "  %6" G_GUINT64_FORMAT " mbarrier ",
                                       b->offset + 8 * (guint64)e * b->slots);
            g_string_append(out, b->name);
            if (b->is_array)
                g_string_append_printf(out, "[%u]", e);
            if (!named)
                g_string_append_printf(out, " slots %u %s", b->slots,
                                       b->ready[e] ? "ready" : "pending");
            g_string_append_printf(out, " %s %u", named ? "threads" : "arrivals", count);
            if (count != derived)
                g_string_append_printf(out, " (derived %u)", derived);
            if (b->expected_bytes)
                g_string_append_printf(out, " tx %" G_GUINT64_FORMAT, b->expected_bytes);
            g_string_append(out, b->derived ? " derived\n" : "\n");
        }
    }
}

/* --- operations ------------------------------------------------------------------------------- */

static void put_access(GString *out, const WsProgram *p, const WsAccess *a)
{
    const WsBuffer *b = &p->buffer[a->buffer];
    gint64 row, col;
    g_string_append_printf(out, " %s%s %s", a->mode & WS_MODE_READ ? "read" : "",
                           a->mode & WS_MODE_WRITE ? "write" : "", b->name);
    if (b->is_array) {
        g_string_append_c(out, '[');
        put_expr(out, a->element);
        g_string_append_c(out, ']');
    }
    g_string_append(out, ".rows(");
    put_expr(out, a->row0);
    g_string_append_printf(out, ", %u).cols(", a->rows);
    put_expr(out, a->col0);
    g_string_append_printf(out, ", %u)%s stage=", a->cols, a->transposed ? ".t" : "");
    put_expr(out, a->stage);
    if (!ws_expr_is_int(a->row0, &row) || !ws_expr_is_int(a->col0, &col))
        return;
    WsRange range[4];
    guint n = ws_buffer_ranges(b, (guint)row, a->rows, (guint)col, a->cols, range, 4);
    g_string_append(out, " bytes");
    for (guint i = 0; i < MIN(n, 4); i++)
        g_string_append_printf(out, " %" G_GUINT64_FORMAT "+%" G_GUINT64_FORMAT, range[i].offset,
                               range[i].bytes);
    if (n > 4)
        g_string_append_printf(out, " … %u ranges", n);
}

static void put_operand(GString *out, const char *name, const WsMmaOperand *o)
{
    if (o->in_registers) {
        g_string_append_printf(out, " %s=registers", name);
        return;
    }
    g_string_append_printf(out, " %s(start %" G_GINT64_FORMAT " lbo %u sbo %u swizzle %u%s k", name,
                           o->start, o->leading, o->stride, o->swizzle,
                           o->transposed ? " transposed" : "");
    for (guint i = 0; i < o->n_k; i++)
        g_string_append_printf(out, "%s%u", i ? "," : " ", o->k_offset[i]);
    g_string_append_c(out, ')');
}

static void put_ctas(GString *out, const WsCtas *ctas)
{
    if (ctas->kind == WS_CTAS_ALL)
        g_string_append(out, " ctas=all");
    else if (ctas->kind == WS_CTAS_MASK)
        g_string_append_printf(out, " ctas=0x%x", ctas->mask);
    else if (ctas->kind == WS_CTAS_EXPR)
        put_named(out, "cta", ctas->expr);
}

static void put_barrier(GString *out, const WsProgram *p, const WsOp *op)
{
    if (op->barrier < 0)
        return;
    const WsBarrier *b = &p->barrier[op->barrier];
    g_string_append_printf(out, " %s", b->name);
    if (b->is_array) {
        g_string_append_c(out, '[');
        put_expr(out, op->element);
        g_string_append_c(out, ']');
    }
    put_named(out, "use", op->use);
    put_named(out, "slot", op->slot);
    put_named(out, "parity", op->parity);
    put_named(out, "turn", op->turn);
}

static void put_values(GString *out, const WsProgram *p, const WsOp *op)
{
    for (guint i = 0; i < op->n_value; i++) {
        const WsValueUse *v = &op->value[i];
        g_string_append_printf(out, " %s %s.rows(",
                               i && i == op->expected ? "expected"
                               : i && i == op->mask   ? "mask"
                               : i && i == op->old    ? "old"
                                                      : "value",
                               p->agent[op->agent].value[v->value].name);
        put_expr(out, v->row0);
        g_string_append_printf(out, ", %u).cols(", v->rows);
        put_expr(out, v->col0);
        g_string_append_printf(out, ", %u)", v->cols);
    }
}

/* "retires 22? stay 1": numbers of operations, `?` where paths differ. */
static void put_wait(GString *out, const WsWait *w)
{
    if (!w)
        return;
    g_string_append(out, w->n_retired ? " retires" : " retires nothing");
    for (guint i = 0; i < w->n_retired; i++)
        g_string_append_printf(out, " %u%s", w->retired[i].op->index,
                               w->retired[i].by_path ? "?" : "");
    if (w->stay)
        g_string_append_printf(out, w->stay < 0 ? " stay by path" : " stay %" G_GINT64_FORMAT,
                               w->stay);
}

static void put_mesh(GString *out, const WsProgram *p)
{
    if (!p->mesh)
        return;
    g_string_append_printf(out, "devices %s < ", p->mesh->name);
    put_expr(out, p->mesh->devices);
    g_string_append_c(out, '\n');
    for (guint i = 0; i < p->mesh->n_flags; i++) {
        const WsFlag *f = &p->mesh->flag[i];
        g_string_append_printf(out, "flag %s", f->name);
        if (f->is_array)
            put_named(out, "array", f->array);
        put_named(out, "per_launch", f->per_launch);
        g_string_append_c(out, '\n');
    }
}

static void put_peer(GString *out, const WsProgram *p, const WsOp *op)
{
    const WsPeer *x = op->peer;
    if (!x)
        return;
    if (x->flag >= 0)
        g_string_append_printf(out, " flag %s", p->mesh->flag[x->flag].name);
    put_named(out, "element", x->element);
    if (x->device)
        put_named(out, "device", x->device);
    else if (ws_op_notifies(op->kind))
        g_string_append(out, " device all");
    put_named(out,
              ws_op_notifies(op->kind) ? "count"
              : x->equals              ? "equals"
                                       : "at_least",
              x->amount);
    g_string_append_printf(out, "%s%s", x->relaxed ? " relaxed" : "", x->gpu ? " gpu" : "");
}

static void put_op(GString *out, const WsProgram *p, const WsOp *op, guint indent)
{
    static const char *const breadth[] = { "leader", "warp", "group" };
    static const char *const hint[] = { "", " evict_first", " evict_normal", " evict_last" };
    g_string_append_printf(out, "%*s%u %s %s", (int)indent, "", op->index,
                           ws_op_kind_text(op->kind), breadth[op->breadth]);
    put_barrier(out, p, op);
    if (op->count)
        g_string_append_printf(out, " count=%" G_GINT64_FORMAT, op->count);
    if (op->per)
        g_string_append_printf(out, " per=%" G_GINT64_FORMAT, op->per);
    if (op->bytes)
        g_string_append_printf(out, " bytes=%" G_GINT64_FORMAT, op->bytes);
    put_ctas(out, &op->ctas);
    if (op->tensor >= 0)
        g_string_append_printf(out, " tensor %s", p->tensor[op->tensor].name);
    if (op->map >= 0)
        g_string_append_printf(out, " map %d", op->map);
    for (guint i = 0; i < op->n_coord; i++) {
        g_string_append(out, i ? ", " : " at [");
        put_expr(out, op->coord[i]);
    }
    g_string_append(out, op->n_coord ? "]" : "");
    put_named(out, "rows", op->limit);
    if (op->reduce != WS_REDUCE_NONE)
        g_string_append_printf(out, " %s", ws_reduce_text(op->reduce));
    g_string_append(out, hint[op->hint]);
    for (guint i = 0; i < op->n_access; i++)
        put_access(out, p, &op->access[i]);
    put_values(out, p, op);
    put_peer(out, p, op);
    if (op->mma) {
        const WsMma *m = op->mma;
        g_string_append_printf(out, " m%un%uk%u %s %s %s inst_k %u atoms %u", m->m, m->n, m->k,
                               ws_dtype_text(m->a_type), ws_dtype_text(m->b_type),
                               ws_dtype_text(m->acc_type), m->inst_k, m->atoms);
        put_named(out, "first", m->first);
        put_operand(out, "a", &m->a);
        put_operand(out, "b", &m->b);
    }
    static const char *const border[] = { "", " plain", " local" };
    g_string_append(out, border[op->border]);
    if (op->lowered != WS_BORDER_NONE && op->lowered != op->border)
        g_string_append_printf(out, " (Triton:%s)", border[op->lowered]);
    static const gboolean numbered[WS_OP_KIND_COUNT] = {
        [WS_OP_SETMAXNREG] = TRUE, [WS_OP_PRIORITY] = TRUE
    };
    if (ws_op_retires(op->kind) || numbered[op->kind])
        g_string_append_printf(out, " %" G_GINT64_FORMAT "%s%s", op->n, op->increase ? " inc" : "",
                               op->full ? " full" : "");
    put_wait(out, op->wait);
    if (op->var >= 0)
        g_string_append_printf(out, " %s", p->var[op->var].name);
    if (ws_op_tells(op->kind) || ws_op_asks(op->kind))
        g_string_append(out, op->n ? " end" : " round");
    put_named(out, op->kind == WS_OP_ADVANCE ? "by" : "be", op->set);
    for (guint i = 0; i < op->n_math; i++) {
        g_autofree char *text = ws_statement_print(op->math[i]);
        g_string_append_printf(out, "%s%s", i ? "; " : " ", text);
    }
    put_named(out, "unless", op->skip);
    if (op->line_barrier >= 0)
        g_string_append_printf(out, " between warps at byte %" G_GUINT64_FORMAT " by %s",
                               op->line_at, p->barrier[op->line_barrier].name);
    if (op->text)
        g_string_append_printf(out, " \"%s\"", op->text);
    g_string_append_printf(out, "%s  ; %s\n", op->scope == WS_SCOPE_CLUSTER ? " .cluster" : "",
                           op->id);
}

static void put_tree(GString *out, const WsProgram *p, const WsTree *t, guint indent)
{
    const char *leader = t->leader ? " leader" : "";
    if (t->kind == WS_TREE_OP) {
        put_op(out, p, t->op, indent);
        return;
    }
    if (t->kind == WS_TREE_SEQ) {
        for (guint i = 0; i < t->n_kids; i++)
            if (t->kid[i])
                put_tree(out, p, t->kid[i], indent);
        return;
    }
    if (t->kind == WS_TREE_BRANCH) {
        g_string_append_printf(out, "%*sif ", (int)indent, "");
        put_expr(out, t->cond);
        g_string_append_printf(out, "%s  ; %s\n", leader, t->step);
        put_tree(out, p, t->kid[0], indent + 2);
        if (t->kid[1]) {
            g_string_append_printf(out, "%*selse\n", (int)indent, "");
            put_tree(out, p, t->kid[1], indent + 2);
        }
        return;
    }
    g_string_append_printf(out, "%*sloop %s %s", (int)indent, "", t->name,
                           t->over == WS_OVER_TILES ? "over tiles"
                           : t->ask                 ? "over pipe count "
                                                    : "count ");
    if (t->over == WS_OVER_COUNT)
        put_expr(out, t->count);
    gint64 value;
    if (!ws_expr_is_int(t->from, &value) || value != 0)
        put_named(out, "from", t->from);
    if (!ws_expr_is_int(t->step_by, &value) || value != 1)
        put_named(out, "step", t->step_by);
    for (guint i = 0; i < t->n_cuts; i++)
        put_named(out, "cut", t->cut[i]);
    if (t->unroll)
        g_string_append_printf(out, " unroll=%d", t->unroll);
    g_string_append_printf(out, "%s  ; %s\n", leader, t->step);
    put_tree(out, p, t->kid[0], indent + 2);
}

static void put_agent(GString *out, const WsProgram *p, const WsAgent *a)
{
    static const char *const role[] = { "producer", "consumer", "worker" };
    g_string_append_printf(out, "\nagent %s %s warps %u..%u threads %u", a->name, role[a->role],
                           a->warp0, a->warp0 + a->warps - 1, a->threads);
    if (a->registers)
        g_string_append_printf(out, " registers %u", a->registers);
    if (a->one_code)
        g_string_append(out, " one code");
    if (a->mma_rows != p->hardware->matrix.m && a->mma_rows > 1)
        g_string_append_printf(out, " products of %u rows", a->mma_rows);
    g_string_append_c(out, '\n');
    for (guint i = 0; i < a->n_values; i++)
        g_string_append_printf(out, "  value %s %s [%u, %u] %s registers %u\n", a->value[i].name,
                               ws_dtype_text(a->value[i].dtype), a->value[i].rows, a->value[i].cols,
                               a->value[i].layout == WS_LAYOUT_LINEAR ? "linear" : "accumulator",
                               a->value[i].registers);
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_COUNTER && &p->agent[p->var[i].agent] == a) {
            g_string_append_printf(out, "  counter %s = ", p->var[i].name);
            put_expr(out, p->var[i].value);
            g_string_append_c(out, '\n');
        }
    put_tree(out, p, a->body, 2);
}

char *ws_program_print(const WsProgram *p)
{
    GString *out = g_string_sized_new(16384);
    put_names(out, p);
    put_tensors(out, p);
    put_tiles(out, p);
    put_mesh(out, p);
    put_shared(out, p);
    g_string_append_printf(out, "threads %u idle warps %u entry registers %u\n", p->threads,
                           p->idle_warps, p->entry_registers);
    g_string_append(out, "\nprologue\n");
    for (guint i = 0; i < p->n_prologue; i++)
        put_op(out, p, p->prologue[i], 2);
    for (guint i = 0; i < p->n_agents; i++)
        put_agent(out, p, &p->agent[i]);
    return g_string_free(out, FALSE);
}
