/* Costs of generic operations: what the statements of a compute step and the moves between
 * registers and memory need of the ALU, the MUFU and the shared-memory port. */
#include "clock/play.h"
#include "program/array.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "program/waves.h"
#include "target/target.h"

guint64 ws_access_bytes(const WsProgram *p, const WsAccess *a)
{
    return (guint64)a->rows * a->cols * ws_dtype_bytes(p->buffer[a->buffer].dtype);
}

typedef struct {
    guint rows, cols; /* 0 x 0: uniform, costs nothing per thread */
} Shape;

typedef struct {
    const WsTarget *hw;
    const WsAgent *agent;
    guint quad;       /* lanes that share a row */
    Shape *temporary; /* [n_math] what statements have left */
    double alu, mufu, convert, shuffles;
    double half; /* of alu, at half rate */
} Count;

static Shape wider(Shape a, Shape b)
{
    return (Shape){ MAX(a.rows, b.rows), MAX(a.cols, b.cols) };
}

/* Results per agent, counted in lanes: replicated values cost every thread that holds them. */
static double lanes(const Count *c, Shape s)
{
    double threads = c->agent->threads;
    if (s.rows == 0)
        return 0;
    if (s.rows == 1 && s.cols == 1)
        return threads;
    if (s.cols == 1)
        return (double)c->quad * s.rows; /* one in each lane of the row's quad */
    if (s.rows == 1)
        return threads * s.cols / c->quad; /* the columns that a lane holds */
    return MAX((double)s.rows * s.cols, threads);
}

static Shape count(Count *c, const WsArray *a);

static Shape count_args(Count *c, const WsArray *a)
{
    Shape s = { 0, 0 };
    for (guint i = 0; i < a->n_arg; i++)
        s = wider(s, count(c, a->arg[i]));
    return s;
}

/* The value of what is made of column numbers and constants alone, in one column. */
static gboolean at_column(const WsArray *a, gint64 col, gint64 *value)
{
    gint64 x, y;
    if (a->form == WS_ARRAY_COL) {
        *value = col;
        return TRUE;
    }
    if (a->form == WS_ARRAY_UNIFORM || a->form == WS_ARRAY_NUMBER)
        return ws_expr_eval(a->x, NULL, value, NULL);
    if (a->form != WS_ARRAY_OPERATION || a->x->op == WS_EXPR_CALL || a->n_arg != 2 ||
        !at_column(a->arg[0], col, &x) || !at_column(a->arg[1], col, &y))
        return FALSE;
    g_autoptr(WsExpr) all = ws_expr_op(a->x->op, ws_expr_int(x), ws_expr_int(y));
    return ws_expr_eval(all, NULL, value, NULL);
}

static void note_whole_row(const WsArray *node, gpointer data)
{
    *(gboolean *)data |= node->form == WS_ARRAY_REDUCTION || node->form == WS_ARRAY_SCAN;
}

/* The share of columns for which the condition of a `select` holds, where it is known for every
 * register before: then only what is chosen is computed. -1 otherwise, and where a side is of the
 * whole row, which one column alone takes. */
static double chosen(const Count *c, const WsArray *a)
{
    const WsArray *if_not = NULL;
    guint cols, held = 0, together = 2 * c->quad; /* columns of a quad's registers of one number */
    if (a->form != WS_ARRAY_OPERATION || a->x->op != WS_EXPR_CALL || a->x->func != WS_FUNC_SELECT ||
        c->hw->halves)
        return -1;
    if_not = a->arg[2];
    gboolean whole = FALSE;
    ws_array_visit(a->arg[1], note_whole_row, &whole);
    ws_array_visit(if_not, note_whole_row, &whole);
    if (whole)
        return -1;
    cols = MAX(a->arg[1]->cols, if_not->cols);
    for (guint i = 0; i < cols; i++) {
        gint64 now, first;
        if (!at_column(a->arg[0], i, &now) || !at_column(a->arg[0], i - i % together, &first) ||
            !now != !first)
            return -1;
        held += now != 0;
    }
    return (double)held / cols;
}

static gboolean is_zero(const WsArray *a)
{
    double x;
    return (a->form == WS_ARRAY_NUMBER || a->form == WS_ARRAY_UNIFORM) &&
           ws_expr_eval_real(a->x, NULL, &x, NULL) && x == 0;
}

/* max, min, select and comparisons: on an SM 64 lanes, measured 128 cycles for 64 max. */
static void count_half_rate(Count *c, double n)
{
    c->alu += c->hw->halves ? n : 2 * n;
    c->half += c->hw->halves ? 0 : 2 * n;
}

/* rowmax, rowsum, lanemax, lanesum: one operation per element, two exchanges inside the quad if the
 * row is completed. Products that are summed up take the instruction of the sum, and columns that
 * `select` leaves out as zeros none. */
static Shape count_reduction(Count *c, const WsArray *a)
{
    const WsExpr *e = a->x;
    double mark = c->alu;
    Shape s = count_args(c, a);
    gboolean complete = e->func == WS_FUNC_ROWMAX || e->func == WS_FUNC_ROWSUM;
    gboolean partial = s.cols == c->quad;
    gboolean max = e->func == WS_FUNC_ROWMAX || e->func == WS_FUNC_LANEMAX;
    const WsArray *what = a->arg[0];
    double n = lanes(c, s), share = max ? -1 : chosen(c, what);
    if (share >= 0 && is_zero(what->arg[2])) {
        n *= share;
        what = what->arg[1];
    }
    if (!max && what->x->op == WS_EXPR_MUL && c->alu - mark >= n)
        c->alu -= n;
    if (!partial || !complete) {
        if (max)
            count_half_rate(c, n);
        else
            c->alu += n;
    }
    if (complete) {
        c->alu += 2.0 * 2 * c->quad * s.rows;
        c->shuffles += 2;
    }
    return (Shape){ s.rows, complete ? 1 : c->quad };
}

/* cumsum: an addition per element, and for each 8 columns of a row four exchanges in the quad. */
static Shape count_scan(Count *c, const WsArray *a)
{
    const Shape s = count(c, a->arg[0]);
    c->alu += 2 * lanes(c, s);
    c->shuffles += s.cols / 2.0;
    return s;
}

/* Instructions of polynomials: exp2, erf, sine and cosine with their reduction. */
#define EXP2_POLY 8
#define ERF_POLY  20
#define SIN_POLY  20

static double exp2_share(const WsExpr *e)
{
    return e->n_args == 3 && e->arg[2]->i > 0 ? (double)e->arg[1]->i / (double)e->arg[2]->i : 0;
}

/* What a `select` of columns takes: each side for its share of them. */
static Shape count_sides(Count *c, const WsArray *a, double share)
{
    Shape s = { 0, 0 };
    for (guint i = 1; i < 3; i++) {
        Count side = *c;
        double part = i == 1 ? share : 1 - share;
        s = wider(s, count(&side, a->arg[i]));
        c->alu += (side.alu - c->alu) * part;
        c->half += (side.half - c->half) * part;
        c->mufu += (side.mufu - c->mufu) * part;
        c->convert += (side.convert - c->convert) * part;
        c->shuffles += (side.shuffles - c->shuffles) * part;
    }
    return s;
}

static Shape count_call(Count *c, const WsArray *a)
{
    const WsExpr *e = a->x;
    double known = chosen(c, a);
    if (known >= 0)
        return count_sides(c, a, known);
    Shape s = count_args(c, a);
    double n = lanes(c, s);
    switch (e->func) {
    case WS_FUNC_EXP2: {
        double share = exp2_share(e);
        c->mufu += n * (1 - share);
        c->alu += n * share * EXP2_POLY;
        break;
    }
    case WS_FUNC_LOG2:
    case WS_FUNC_RCP:
    case WS_FUNC_TANH:
    case WS_FUNC_RSQRT:
        c->mufu += n;
        break;
    case WS_FUNC_EXP:
    case WS_FUNC_LN:
    case WS_FUNC_SQRT:
        c->mufu += n;
        c->alu += n;
        break;
    case WS_FUNC_ERF:
        c->mufu += n;
        c->alu += n * ERF_POLY;
        break;
    case WS_FUNC_SIN:
    case WS_FUNC_COS:
        c->alu += n * SIN_POLY;
        break;
    case WS_FUNC_FLOOR:
    case WS_FUNC_CEIL:
    case WS_FUNC_BF16:
    case WS_FUNC_F16:
    case WS_FUNC_TF32:
    case WS_FUNC_E4M3:
    case WS_FUNC_E5M2:
    case WS_FUNC_I32:
    case WS_FUNC_U8:
    case WS_FUNC_I8:
        c->convert += n;
        break;
    case WS_FUNC_BITS: /* the same register */
    case WS_FUNC_FROM_BITS:
    case WS_FUNC_ABS: /* an operand modifier */
        break;
    case WS_FUNC_MIN:
    case WS_FUNC_MAX:
        count_half_rate(c, n * (e->n_args - 1));
        break;
    case WS_FUNC_SELECT:
        count_half_rate(c, n);
        break;
    case WS_FUNC_OF_BITS:
    case WS_FUNC_CDIV:
    case WS_FUNC_COUNT:
    case WS_FUNC_F32:
    case WS_FUNC_OF_ROWS:
    case WS_FUNC_POW2FLOOR:
    case WS_FUNC_SUM:
    default:
        c->alu += n;
        break;
    }
    return s;
}

static Shape count_operation(Count *c, const WsArray *a)
{
    double mark = c->alu;
    Shape s;
    if (a->x->op == WS_EXPR_CALL)
        return count_call(c, a);
    s = count_args(c, a);
    switch (a->x->op) {
    case WS_EXPR_ADD:
    case WS_EXPR_SUB:
        /* a*b + c is one instruction */
        for (guint i = 0; i < 2; i++)
            if (a->arg[i]->x->op == WS_EXPR_MUL && c->alu - mark >= lanes(c, s)) {
                c->alu -= lanes(c, s);
                break;
            }
        c->alu += lanes(c, s);
        break;
    case WS_EXPR_DIV:
        c->mufu += lanes(c, s);
        c->alu += lanes(c, s);
        break;
    case WS_EXPR_MOD:
        c->alu += 20 * lanes(c, s);
        break;
    case WS_EXPR_NEG:
    case WS_EXPR_NOT:
        break;
    case WS_EXPR_COMPARISON:
        count_half_rate(c, lanes(c, s));
        break;
    case WS_EXPR_AND:
    case WS_EXPR_CALL:
    case WS_EXPR_INDEX:
    case WS_EXPR_LEAF:
    case WS_EXPR_MUL:
    case WS_EXPR_OR:
    default:
        c->alu += lanes(c, s);
        break;
    }
    return s;
}

/* Two 8-bit floats become f16 by one instruction, and each of them f32 by another. */
static void count_widening(Count *c, const WsArray *a)
{
    const WsDtype t = c->agent->value[a->index].dtype;
    const double n = lanes(c, (Shape){ a->rows, a->cols });
    if ((t != WS_DTYPE_E4M3 && t != WS_DTYPE_E5M2) || c->hw->halves)
        return;
    c->convert += n;
    c->alu += n;
}

/* f16 of 8-bit floats times a scale: two instructions for two elements. */
static void count_half(Count *c, guint tile)
{
    const WsRegValue *v = &c->agent->value[tile];
    const double n = lanes(c, (Shape){ v->rows, v->cols });
    c->convert += n;
    c->alu += n / 2;
}

/* Numbers of rows and columns are taken to be known before: what is made of them alone costs
 * nothing per thread. */
static Shape count(Count *c, const WsArray *a)
{
    switch (a->form) {
    case WS_ARRAY_VALUE:
        count_widening(c, a);
        return (Shape){ a->rows, a->cols };
    case WS_ARRAY_TEMPORARY:
        return c->temporary[a->index];
    case WS_ARRAY_REDUCTION:
        return count_reduction(c, a);
    case WS_ARRAY_SCAN:
        return count_scan(c, a);
    case WS_ARRAY_OPERATION:
        return count_operation(c, a);
    case WS_ARRAY_UNIFORM:
    case WS_ARRAY_NUMBER:
    case WS_ARRAY_SCALAR:
    case WS_ARRAY_ROW:
    case WS_ARRAY_COL:
        break;
    }
    return (Shape){ 0, 0 };
}

/* Lanes of `per_sm` that the warps of one agent can use: a warp stays in its quarter of the SM. */
static double usable(const WsTarget *hw, double per_sm, guint warps)
{
    return per_sm * MIN(warps, hw->group_warps) / hw->group_warps;
}

static WsWork math_work(const WsClockPlay *play, const WsOp *op)
{
    const double *m = play->m->value;
    const WsAgent *agent = &play->p->agent[op->agent];
    g_autofree Shape *temporary = g_new0(Shape, op->n_math);
    Count c = { .hw = play->p->hardware,
                .agent = agent,
                .quad = play->p->hardware->matrix.quad,
                .temporary = temporary };
    if (c.hw->halves) /* blocks of 16 or 32 lanes hold columns of the same rows */
        c.quad = c.hw->lanes / agent->mma_rows * MAX(play->waves_n, 1);
    WsWork w = { 0 };
    if (op->unless) /* taken to be skipped: only the question costs */
        count(&c, op->unless);
    for (guint i = 0; !op->unless && i < op->n_math; i++) {
        const WsAssign *s = &op->assign[i];
        guint tile;
        if (s->value >= 0 && !c.hw->halves &&
            ws_array_half(agent, s->array, (guint)s->value, &tile))
            count_half(&c, tile);
        else if (s->array)
            temporary[i] = count(&c, s->array);
        w.latency += m[WS_MACHINE_MATH_START];
    }
    w.alu = c.alu / usable(play->p->hardware, m[WS_MACHINE_ALU_LANES], agent->warps) +
            c.convert / usable(play->p->hardware, m[WS_MACHINE_CONVERT_LANES], agent->warps);
    w.half = c.half / usable(play->p->hardware, m[WS_MACHINE_ALU_LANES], agent->warps) +
             c.convert / usable(play->p->hardware, m[WS_MACHINE_CONVERT_LANES], agent->warps);
    w.mufu = c.mufu / usable(play->p->hardware, m[WS_MACHINE_MUFU_LANES], agent->warps);
    w.latency += c.shuffles * m[WS_MACHINE_SHUFFLE];
    return w;
}

static double value_elements(const WsOp *op)
{
    return op->n_value ? (double)op->value[0].rows * op->value[0].cols : 0;
}

/* A read of two columns of 4 bytes in each lane: under a swizzle of 128 bytes rows 2i and 2i + 1
 * lie in the same banks, and both are in the half of a warp that is served at a time. In a write
 * odd rows begin with the other half of their columns. */
static gboolean meets_itself(const WsProgram *p, const WsOp *op)
{
    if (!ws_op_loads_shared(op->kind) || !op->n_access || !op->n_value || op->value[0].rows < 2 ||
        p->hardware->halves)
        return FALSE;
    const WsBuffer *b = &p->buffer[op->access[0].buffer];
    return b->swizzle == 128 && ws_dtype_bytes(b->dtype) == 4;
}

static WsWork shared_work(const WsClockPlay *play, const WsOp *op)
{
    const double *m = play->m->value;
    const WsAgent *agent = &play->p->agent[op->agent];
    WsWork w = { 0 };
    guint64 bytes = 0;
    for (guint i = 0; i < op->n_access; i++)
        bytes += ws_access_bytes(play->p, &op->access[i]);
    gboolean stores = ws_op_stores_shared(op->kind);
    w.smem = (double)bytes / m[stores ? WS_MACHINE_SMEM_STORE : WS_MACHINE_SMEM_BYTES];
    if (meets_itself(play->p, op))
        w.smem *= 2;
    gboolean loads = ws_op_loads_shared(op->kind);
    if (loads && ws_op_picks(op)) /* lanes that meet in a bank are not counted */
        w.smem = value_elements(op) * ws_dtype_bytes(play->p->buffer[op->access[0].buffer].dtype) /
                 m[WS_MACHINE_SMEM_BYTES];
    /* Every warp reads a row that all of them hold, and takes the port once for two columns of a
     * lane. */
    if (loads && op->n_value && op->value[0].rows == 1 && !play->p->hardware->halves)
        w.smem = MAX(w.smem, (double)agent->warps * op->value[0].cols /
                                 (2 * play->p->hardware->matrix.quad));
    if (loads || op->kind == WS_OP_TRANSPOSE)
        w.latency = m[WS_MACHINE_SMEM_LATENCY];
    if (op->kind == WS_OP_TRANSPOSE) /* byte permutes, two per 32-bit word */
        w.alu =
            (double)bytes / 4 / usable(play->p->hardware, m[WS_MACHINE_ALU_LANES], agent->warps);
    if (!loads && op->n_value && op->n_access) {
        guint from = ws_dtype_bytes(agent->value[op->value[0].value].dtype);
        guint to = ws_dtype_bytes(play->p->buffer[op->access[0].buffer].dtype);
        if (from != to)
            w.alu += value_elements(op) /
                     usable(play->p->hardware, m[WS_MACHINE_CONVERT_LANES], agent->warps);
    }
    return w;
}

WsWork ws_work_of(const WsClockPlay *play, const WsOp *op)
{
    if (op->kind == WS_OP_MATH)
        return math_work(play, op);
    return shared_work(play, op);
}

double *ws_clock_special_cycles(const WsProgram *p, const WsMachine *m)
{
    WsClockPlay play = { .p = p, .m = m };
    ws_waves_grid(p, &play.waves_m, &play.waves_n);
    double *cycles = g_new0(double, MAX(p->n_ops, 1));
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->kind == WS_OP_MATH && p->op[i]->agent >= 0)
            /* of the whole unit: fewer than four warps reach a part of it only */
            cycles[i] = usable(p->hardware, math_work(&play, p->op[i]).mufu,
                               p->agent[p->op[i]->agent].warps);
    return cycles;
}

/* Cycles of one instruction: N/2 by the pipe, or what its operands take through the port. */
double ws_work_product(const WsClockPlay *play, const WsMma *mma, double *smem)
{
    const double *m = play->m->value;
    double a = mma->a.in_registers ? 0
                                   : (double)play->p->hardware->matrix.m * mma->inst_k *
                                         ws_dtype_bytes(mma->a_type);
    double b = (double)mma->n * mma->inst_k * ws_dtype_bytes(mma->b_type);
    *smem = (a + b) / m[WS_MACHINE_SMEM_BYTES];
    return MAX(mma->n / m[WS_MACHINE_MMA_COLUMNS], *smem);
}

double *ws_clock_product_cycles(const WsProgram *p, const WsMachine *m)
{
    const WsClockPlay play = { .p = p, .m = m };
    double *cycles = g_new0(double, MAX(p->n_ops, 1)), smem;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsMma *mma = p->op[i]->mma;
        if (mma && p->hardware->halves)
            cycles[i] = ws_clock_half_product(&play, mma);
        else if (ws_op_is_product(p->op[i]->kind) && mma && mma->inst_k)
            cycles[i] = ws_work_product(&play, mma, &smem) * MAX(mma->atoms, 1) *
                        MAX(mma->k / mma->inst_k, 1);
    }
    return cycles;
}
