#include "codegen/facts.h"
#include "base/phrase.h"
#include "program/array.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/product.h"
#include "program/parts/retired.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* Does the kernel itself read the tensor that an operation writes? */
static gboolean is_read(const WsProgram *p, const WsOp *writer)
{
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (ws_op_row(op->kind)->from == WS_DATA_AT_TENSOR && op->tensor == writer->tensor)
            return TRUE;
    }
    return FALSE;
}

gboolean ws_fact_publishes(const WsProgram *p)
{
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        gboolean global = ws_op_stores_global(op->kind);
        if (op->kind == WS_OP_ST_REMOTE || ws_op_peeks(op->kind) || op->kind == WS_OP_RAW ||
            (global && is_read(p, op)))
            return TRUE;
    }
    return p->has_raw;
}

gboolean ws_fact_peeks(const WsProgram *p)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (ws_op_peeks(p->op[i]->kind))
            return TRUE;
    return FALSE;
}

const char ws_fact_unread[] = WS_WORD("what these lines do was not understood when the kernel was "
                                      "read; write it as steps, or as PTX with what it accesses");

WsPrim ws_fact_plain(WsOpKind kind)
{
    enum { WS_PRIM_NONE = WS_PRIM_COUNT };
    static const WsPrim plain[WS_OP_KIND_COUNT] = {
#define WS_LOWER(id, prim, ...) [WS_OP_##id] = (WsPrim)WS_PRIM_##prim,
#include "codegen/lower.def"
#undef WS_LOWER
    };
    return plain[kind];
}

WsPrim ws_fact_reduction(WsDtype t, WsReduce reduce)
{
    static const WsPrim prim[WS_DTYPE_COUNT][WS_REDUCE_MAX + 1] = {
        [WS_DTYPE_F32] = { [WS_REDUCE_ADD] = WS_PRIM_RED_ADD_F32 },
        [WS_DTYPE_BF16] = { [WS_REDUCE_ADD] = WS_PRIM_RED_ADD_BF16 },
        [WS_DTYPE_F16] = { [WS_REDUCE_ADD] = WS_PRIM_RED_ADD_F16 },
        [WS_DTYPE_I32] = { [WS_REDUCE_ADD] = WS_PRIM_RED_ADD_S32,
                           [WS_REDUCE_MIN] = WS_PRIM_RED_MIN_S32,
                           [WS_REDUCE_MAX] = WS_PRIM_RED_MAX_S32 },
    };
    return prim[t][reduce]; /* row 0 of prim.def is no reduction */
}

WsPrim ws_fact_combination(WsDtype t, WsReduce reduce, gboolean old)
{
    /* without what was there, with it; an exchange always hands it back */
    static const WsPrim i32[WS_REDUCE_COUNT][2] = {
        [WS_REDUCE_ADD] = { WS_PRIM_REDS_ADD_S32, WS_PRIM_ATOMS_ADD_S32 },
        [WS_REDUCE_MIN] = { WS_PRIM_REDS_MIN_S32, WS_PRIM_ATOMS_MIN_S32 },
        [WS_REDUCE_MAX] = { WS_PRIM_REDS_MAX_S32, WS_PRIM_ATOMS_MAX_S32 },
        [WS_REDUCE_AND] = { WS_PRIM_REDS_AND_B32, WS_PRIM_ATOMS_AND_B32 },
        [WS_REDUCE_OR] = { WS_PRIM_REDS_OR_B32, WS_PRIM_ATOMS_OR_B32 },
        [WS_REDUCE_XOR] = { WS_PRIM_REDS_XOR_B32, WS_PRIM_ATOMS_XOR_B32 },
        [WS_REDUCE_EXCHANGE] = { WS_PRIM_ATOMS_EXCH_B32, WS_PRIM_ATOMS_EXCH_B32 },
        [WS_REDUCE_COMPARE] = { WS_PRIM_ATOMS_CAS_B32, WS_PRIM_ATOMS_CAS_B32 },
    };
    const guint bytes = ws_dtype_bytes(t);
    if (reduce == WS_REDUCE_STORE)
        return bytes == 4   ? WS_PRIM_STS_B32
               : bytes == 2 ? WS_PRIM_STS_B16
               : bytes == 1 ? WS_PRIM_STS_B8
                            : (WsPrim)0;
    if (t == WS_DTYPE_F32 && reduce == WS_REDUCE_ADD)
        return old ? WS_PRIM_ATOMS_ADD_F32 : WS_PRIM_REDS_ADD_F32;
    return t == WS_DTYPE_I32 || (t == WS_DTYPE_F32 && reduce == WS_REDUCE_EXCHANGE)
               ? i32[reduce][old]
               : (WsPrim)0;
}

/* --- neighbours --------------------------------------------------------------------------------*/

static const WsOp *next_of(const WsProgram *p, const WsOp *op)
{
    const WsOp *next = op->index + 1 < p->n_ops ? p->op[op->index + 1] : NULL;
    return next && next->agent == op->agent ? next : NULL;
}

gboolean ws_fact_before_named_barrier(const WsProgram *p, const WsOp *op)
{
    const WsOp *next = next_of(p, op);
    return next && next->barrier >= 0 && ws_op_joins(next->kind);
}

static gboolean is_math(const WsOp *op)
{
    return op && op->kind == WS_OP_MATH;
}

gboolean ws_fact_barrier_before_math(const WsProgram *p, const WsOp *op)
{
    return op->barrier >= 0 && ws_op_waits_join(op->kind) && is_math(next_of(p, op));
}

/* What may stand between the wait, the arrival and the arithmetic. */
static const gboolean passed[WS_OP_KIND_COUNT] = { [WS_OP_BAR_ARRIVE] = TRUE, [WS_OP_LET] = TRUE };

const WsOp *ws_fact_wait_again(const WsProgram *p, const WsOp *arrive)
{
    const WsOp *next = next_of(p, arrive), *wait = arrive;
    while (next && passed[next->kind])
        next = next_of(p, next);
    while (passed[wait->kind] && wait->index > 0)
        wait = p->op[wait->index - 1];
    return ws_op_joins(arrive->kind) && !ws_op_waits(arrive->kind) && is_math(next) &&
                   ws_op_retires(wait->kind) && ws_op_queue(wait->kind) == WS_QUEUE_MMA &&
                   wait->agent == arrive->agent && wait->tree->parent == arrive->tree->parent
               ? wait
               : NULL;
}

gboolean ws_fact_feeds_mma(const WsProgram *p, const WsAgent *agent, guint value)
{
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (ws_op_is_product(op->kind) && op->agent >= 0 && &p->agent[op->agent] == agent &&
            op->mma->a.in_registers && op->value[1].value == value)
            return TRUE;
    }
    return FALSE;
}

/* Registers of `cols` columns of a band of rows in accumulator layout. */
static guint atom_registers(const WsRegValue *v, guint cols)
{
    return ws_dtype_bytes(v->dtype) < 4 ? cols * ws_dtype_bytes(v->dtype) / 8 : cols / 2;
}

/* Sets `is` for the registers of value `v` that a use of it names; for all of them where rows or
 * columns are no constants. */
static void mark(const WsProgram *p, const WsRegValue *value, const WsValueUse *u, gboolean *of,
                 gboolean is)
{
    const guint band = p->hardware->matrix.rows;
    gint64 row = 0, col = 0;
    if ((u->row0 && !ws_expr_is_int(u->row0, &row)) ||
        (u->col0 && !ws_expr_is_int(u->col0, &col))) {
        for (guint r = 0; r < value->registers; r++)
            of[r] = is;
        return;
    }
    for (guint atom = 0; atom < u->rows / band; atom++) {
        guint first = ((guint)(row / band) + atom) * atom_registers(value, value->cols) +
                      atom_registers(value, (guint)col);
        for (guint r = 0; r < atom_registers(value, u->cols); r++)
            of[MIN(first + r, value->registers - 1)] = is;
    }
}

gboolean *ws_fact_freed(const WsProgram *p, const WsAgent *agent, const WsOp *wait, guint v)
{
    const WsRegValue *value = &agent->value[v];
    gboolean *freed = NULL;
    for (guint i = 0; i < wait->wait->n_freed; i++) {
        const WsValueUse *u = &wait->wait->freed[i];
        if (u->value != v || !(u->mode & WS_MODE_WRITE))
            continue;
        freed = freed ? freed : g_new0(gboolean, MAX(value->registers, 1));
        mark(p, value, u, freed, TRUE);
    }
    return freed;
}

gboolean *ws_fact_fenced(const WsProgram *p, const WsAgent *agent, const WsOp *fence, guint v,
                         WsFactAnew *anew, gpointer data)
{
    const WsRegValue *value = &agent->value[v];
    const WsTree *seq = fence->tree->parent;
    gboolean after = FALSE, *fenced = g_new0(gboolean, MAX(value->registers, 1));
    g_autofree gboolean *written = g_new0(gboolean, MAX(value->registers, 1));
    for (guint i = 0; seq && i < seq->n_kids; i++) {
        const WsTree *t = seq->kid[i];
        after = after || t == fence->tree;
        if (!after || t->kind != WS_TREE_OP)
            continue;
        if (t->op->kind == WS_OP_MMA_COMMIT)
            break;
        for (guint k = 0; ws_op_is_product(t->op->kind) && k < t->op->n_value; k++) {
            const WsValueUse *u = &t->op->value[k];
            g_autofree gboolean *now = g_new0(gboolean, MAX(value->registers, 1));
            if (u->value != v)
                continue;
            mark(p, value, u, now, TRUE);
            const gboolean begins = k == 0 && anew(data, t->op);
            for (guint r = 0; r < value->registers; r++) {
                fenced[r] |= now[r] && !begins && !written[r];
                written[r] |= now[r] && begins;
            }
        }
    }
    for (guint i = 0; i < fence->n_flying; i++)
        for (guint k = 0; k < fence->flying[i]->n_value; k++)
            if (fence->flying[i]->value[k].value == v)
                mark(p, value, &fence->flying[i]->value[k], fenced, FALSE);
    for (guint r = 0; r < value->registers; r++)
        if (fenced[r])
            return fenced;
    g_free(fenced);
    return NULL;
}

gboolean ws_fact_meets_in_flight(const WsProgram *p, const WsAgent *agent, guint value)
{
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        gboolean own = op->agent >= 0 && &p->agent[op->agent] == agent;
        for (guint k = 0; own && op->wait && k < op->wait->n_retired; k++) {
            const WsRetired *r = &op->wait->retired[k];
            gint64 zero = 0;
            if (r->by_path && ws_op_is_product(r->op->kind) && r->op->value[0].value == value &&
                !(ws_expr_is_int(r->op->mma->first, &zero) && zero))
                return TRUE;
        }
    }
    return FALSE;
}

typedef struct {
    guint value;
    gboolean found;
} Sum;

/* It sets the value to what has nothing to do with what was there: twice 0 is 0 still. */
static gboolean sets_anew(const Sum *s, const WsOp *op)
{
    gboolean sets = FALSE, read = FALSE;
    for (guint i = 0; i < op->n_math; i++) {
        read = read || ws_array_reads(op->assign[i].array, s->value);
        sets = sets || op->assign[i].value == (gint)s->value;
    }
    for (guint i = 0; i < op->n_value; i++)
        sets = sets || (op->value[i].value == s->value && (op->value[i].mode & WS_MODE_WRITE));
    return sets && !read;
}

/* Looks for products that add to the value. TRUE if a path goes through `t` without setting it. A
 * loop is no way to them: what it begins with meets what its rounds leave, and is no constant. */
static gboolean passes(Sum *s, const WsTree *t)
{
    gboolean through = TRUE;
    gint64 first = 0;
    if (!t)
        return TRUE;
    if (t->kind == WS_TREE_OP) {
        through = !sets_anew(s, t->op);
        s->found |= !through && ws_op_is_product(t->op->kind) &&
                    ws_expr_is_int(t->op->mma->first, &first) && !first;
    } else if (t->kind == WS_TREE_BRANCH) {
        gboolean other = passes(s, t->n_kids > 1 ? t->kid[1] : NULL);
        return passes(s, t->kid[0]) || other;
    } else if (t->kind == WS_TREE_SEQ || t->unroll < 0) {
        for (guint i = 0; i < t->n_kids && through; i++)
            through = passes(s, t->kid[i]);
    }
    return through;
}

gboolean ws_fact_begins_sum(const WsOp *op, guint value)
{
    Sum s = { .value = value };
    gboolean through = TRUE;
    for (const WsTree *t = op->tree; through && t->parent; t = t->parent) {
        const WsTree *list = t->parent;
        guint at = 0;
        while (list->kind == WS_TREE_SEQ && list->kid[at] != t)
            at++;
        for (guint i = at + 1; list->kind == WS_TREE_SEQ && through && i < list->n_kids; i++)
            through = passes(&s, list->kid[i]);
    }
    return s.found;
}

/* Some path has a product in flight here that has the value as accumulator or operand. */
static gboolean ws_fact_in_flight(const WsOp *op, guint value)
{
    for (guint i = 0; i < op->n_flying; i++) {
        for (guint k = 0; k < op->flying[i]->n_value; k++) {
            if (op->flying[i]->value[k].value == value)
                return TRUE;
        }
    }
    return FALSE;
}

gboolean ws_fact_sum_stays(const WsAgent *agent, const WsOp *product)
{
    const WsMma *m = product->mma;
    guint all = agent->value[product->value[0].value].registers;
    for (guint v = 0; v < agent->n_values; v++)
        all += agent->value[v].registers;
    return m->first && ws_dtype_bytes(m->a_type) == 1 && m->first->op == WS_EXPR_INT &&
           agent->registers && all > agent->registers;
}

gboolean ws_fact_sum_before(const WsAgent *agent, const WsOp *product, guint value)
{
    const WsRegValue *v = &agent->value[value];
    return value != product->value[0].value && v->layout == WS_LAYOUT_ACCUMULATOR && v->cols >= 8 &&
           !ws_fact_in_flight(product, value);
}

gboolean ws_fact_rounds(const WsArray *a, WsDtype t)
{
    return a->form == WS_ARRAY_OPERATION && a->x->op == WS_EXPR_CALL && a->x->func >= WS_FUNC_F32 &&
           a->x->func <= WS_FUNC_E5M2 && ws_dtype_real(t) &&
           strcmp(ws_func_text(a->x->func), ws_dtype_text(t)) == 0;
}

gboolean ws_fact_sums(const WsAgent *agent, const WsAssign *s)
{
    return s->value >= 0 && agent->value[s->value].dtype == WS_DTYPE_F32 &&
           ws_array_calls(s->array, WS_FUNC_LANESUM, WS_FUNC_ROWSUM);
}

gboolean ws_fact_place(WsInterval in)
{
    return in.hi >= WS_INTERVAL_MAX || (in.hi == G_MAXINT32 && in.lo < in.hi && in.lo > G_MININT32);
}

gboolean ws_fact_index(const WsArray *a)
{
    if (a->form == WS_ARRAY_OPERATION && (a->x->op == WS_EXPR_ADD || a->x->op == WS_EXPR_SUB))
        return ws_fact_index(a->arg[0]) && ws_fact_index(a->arg[1]);
    return a->kind != WS_MATH_BOOL &&
           (a->form == WS_ARRAY_ROW || a->form == WS_ARRAY_COL || a->form == WS_ARRAY_UNIFORM);
}

typedef struct {
    WsInterval (*of)(gpointer data, const WsExpr *x);
    gpointer data;
    WsInterval all; /* what any of the parts together come to */
} Parts;

static void add_parts(Parts *s, const WsArray *a, gboolean minus)
{
    if (a->form == WS_ARRAY_OPERATION) {
        add_parts(s, a->arg[0], minus);
        add_parts(s, a->arg[1], minus != (a->x->op == WS_EXPR_SUB));
        return;
    }
    const WsInterval zero = { 0, 0 };
    WsInterval in = { 0, (a->form == WS_ARRAY_ROW ? a->rows : a->cols) - 1 };
    if (a->form == WS_ARRAY_UNIFORM) {
        in = s->of(s->data, a->x);
        const gint64 most = G_MAXINT32 - WS_FACT_MARGIN;
        const gboolean size = a->x->op == WS_EXPR_VAR && in.hi == G_MAXINT32;
        if (in.lo < in.hi && !size) {
            in.lo = in.lo < -most ? MIN(in.hi, 0) : in.lo;
            in.hi = in.hi > most ? MAX(in.lo, 0) : in.hi;
        }
    }
    if (minus)
        in = ws_interval_sub(zero, in);
    s->all = ws_interval_add(s->all, ws_interval(MIN(in.lo, 0), MAX(in.hi, 0)));
}

gboolean ws_fact_one_difference(const WsArray *comparison,
                                WsInterval (*of)(gpointer data, const WsExpr *x), gpointer data)
{
    Parts s = { of, data, { 0, 0 } };
    if (!ws_fact_index(comparison->arg[0]) || !ws_fact_index(comparison->arg[1]))
        return FALSE;
    add_parts(&s, comparison->arg[0], FALSE);
    add_parts(&s, comparison->arg[1], TRUE);
    return s.all.lo >= -G_MAXINT32 && s.all.hi <= G_MAXINT32;
}

guint ws_slots(guint extent, guint per)
{
    return extent <= 4 ? 1 : extent / per;
}

gboolean ws_fact_shared_tiles(const WsOp *op)
{
    for (const WsTree *t = op->tree; t; t = t->parent) {
        if (t->kind == WS_TREE_LOOP && t->over == WS_OVER_TILES)
            return !t->leader;
    }
    return TRUE;
}

gboolean ws_fact_copy_fits(const WsProgram *p, const WsOp *op, const WsRange *from,
                           const WsRange *to, guint n)
{
    const WsBuffer *a = &p->buffer[op->access[0].buffer];
    const WsBuffer *b = &p->buffer[op->access[1].buffer];
    const guint pattern = p->hardware->shared.swizzle_rows * a->swizzle;
    const guint granule = p->hardware->bulk.granule;
    for (guint i = 0; i < n; i++) {
        if (from[i].bytes != to[i].bytes || from[i].bytes % granule || from[i].offset % granule ||
            to[i].offset % granule ||
            (pattern && from[i].offset % pattern != to[i].offset % pattern))
            return FALSE;
    }
    return a->swizzle == b->swizzle;
}

guint ws_fact_receivers(const WsProgram *p, const WsOp *op)
{
    if (op->ctas.kind == WS_CTAS_ALL)
        return p->cluster > 1 ? (1u << p->cluster) - 1 : 0;
    return op->ctas.kind == WS_CTAS_MASK ? op->ctas.mask : 0;
}

/* --- alignment ---------------------------------------------------------------------------------*/

#define MOST_ALIGNED 4096

static guint least(const WsProgram *p, const WsExpr *x, guint from)
{
    guint a = MOST_ALIGNED;
    for (guint i = from; i < x->n_args; i++)
        a = MIN(a, ws_fact_alignment(p, x->arg[i]));
    return a;
}

guint ws_fact_alignment(const WsProgram *p, const WsExpr *x)
{
    if (x->op == WS_EXPR_INT)
        return x->i == 0 ? MOST_ALIGNED : (guint)MIN((guint64)(x->i & -x->i), MOST_ALIGNED);
    if (x->op == WS_EXPR_VAR) {
        const WsVar *v = &p->var[x->var];
        gboolean defined = (v->kind == WS_VAR_TILE || v->kind == WS_VAR_RUN) && !v->real;
        return defined && v->value ? ws_fact_alignment(p, v->value) : 1;
    }
    if (x->op == WS_EXPR_MUL)
        return MIN(ws_fact_alignment(p, x->arg[0]) * ws_fact_alignment(p, x->arg[1]), MOST_ALIGNED);
    if (x->op == WS_EXPR_NEG || x->op == WS_EXPR_ADD || x->op == WS_EXPR_SUB ||
        x->op == WS_EXPR_MOD) /* what divides both divides the rest */
        return least(p, x, 0);
    if (x->op == WS_EXPR_CALL) {
        if (x->func == WS_FUNC_MIN || x->func == WS_FUNC_MAX || x->func == WS_FUNC_SELECT)
            return least(p, x, x->func == WS_FUNC_SELECT);
        return 1;
    }
    return 1;
}
