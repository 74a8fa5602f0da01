/* What statements of a compute step need: results of the ALU and of the MUFU, conversions,
 * shuffles. */
#include "clock/count.h"
#include "program/array.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"
#include "target/target.h"

static WsShape wider(WsShape a, WsShape b)
{
    return (WsShape){ MAX(a.rows, b.rows), MAX(a.cols, b.cols) };
}

/* Results per agent, counted in lanes: replicated values cost every thread that holds them. */
static double lanes(const WsCount *c, WsShape s)
{
    double threads = c->agent->threads;
    if (s.rows == 0)
        return 0;
    if (s.rows == 1 && s.cols == 1)
        return threads;
    if (c->linear)
        return MAX((double)s.rows * s.cols, threads);
    if (s.cols == 1)
        return (double)c->quad * s.rows; /* one in each lane of the row's quad */
    if (s.rows == 1)
        return threads * s.cols / c->quad; /* the columns that a lane holds */
    return MAX((double)s.rows * s.cols, threads);
}

static WsShape count_args(WsCount *c, const WsArray *a)
{
    WsShape s = { 0, 0 };
    for (guint i = 0; i < a->n_arg; i++)
        s = wider(s, ws_count(c, a->arg[i]));
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
static double chosen(const WsCount *c, const WsArray *a)
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
static void count_half_rate(WsCount *c, double n)
{
    c->alu += c->hw->halves ? n : 2 * n;
    c->half += c->hw->halves ? 0 : 2 * n;
}

/* rowmax, rowsum, lanemax, lanesum: one operation per element, two exchanges inside the quad if the
 * row is completed. Products that are summed up take the instruction of the sum, and columns that
 * `select` leaves out as zeros none. */
static WsShape count_reduction(WsCount *c, const WsArray *a)
{
    const WsExpr *e = a->x;
    double mark = c->alu;
    WsShape s = count_args(c, a);
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
    return (WsShape){ s.rows, complete ? 1 : c->quad };
}

/* cumsum: an addition per element, and for each 8 columns of a row four exchanges in the quad. */
static WsShape count_scan(WsCount *c, const WsArray *a)
{
    const WsShape s = ws_count(c, a->arg[0]);
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
static WsShape count_sides(WsCount *c, const WsArray *a, double share)
{
    WsShape s = { 0, 0 };
    for (guint i = 1; i < 3; i++) {
        WsCount side = *c;
        double part = i == 1 ? share : 1 - share;
        s = wider(s, ws_count(&side, a->arg[i]));
        c->alu += (side.alu - c->alu) * part;
        c->half += (side.half - c->half) * part;
        c->mufu += (side.mufu - c->mufu) * part;
        c->convert += (side.convert - c->convert) * part;
        c->shuffles += (side.shuffles - c->shuffles) * part;
    }
    return s;
}

static WsShape count_call(WsCount *c, const WsArray *a)
{
    const WsExpr *e = a->x;
    double known = chosen(c, a);
    if (known >= 0)
        return count_sides(c, a, known);
    WsShape s = count_args(c, a);
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

static WsShape count_operation(WsCount *c, const WsArray *a)
{
    double mark = c->alu;
    WsShape s;
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
static void count_widening(WsCount *c, const WsArray *a)
{
    const WsDtype t = c->agent->value[a->index].dtype;
    const double n = lanes(c, (WsShape){ a->rows, a->cols });
    if ((t != WS_DTYPE_E4M3 && t != WS_DTYPE_E5M2) || c->hw->halves)
        return;
    c->convert += n;
    c->alu += n;
}

/* f16 of 8-bit floats times a scale: two instructions for two elements. */
void ws_count_half(WsCount *c, guint tile)
{
    const WsRegValue *v = &c->agent->value[tile];
    const double n = lanes(c, (WsShape){ v->rows, v->cols });
    c->convert += n;
    c->alu += n / 2;
}

/* Numbers of rows and columns are taken to be known before: what is made of them alone costs
 * nothing per thread. */
WsShape ws_count(WsCount *c, const WsArray *a)
{
    switch (a->form) {
    case WS_ARRAY_VALUE:
        count_widening(c, a);
        return (WsShape){ a->rows, a->cols };
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
    return (WsShape){ 0, 0 };
}
