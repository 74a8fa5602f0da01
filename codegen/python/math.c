/* Statements of compute steps (program/array.h) as arithmetic on tensors. A value [rows, 1] is a
 * tensor of rank 1, and so is a lane partial [rows, 4], which holds the whole row here; [1, cols]
 * has rank 1 too. They are spread where they meet tiles. */
#include "base/phrase.h"
#include "codegen/python/py.h"
#include "program/array.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/value.h"

#include <math.h>
#include <string.h>

typedef const WsArray Node;

typedef struct {
    WsPy *y;
    const WsOp *op;
    const char **temporary; /* [op->n_math] names */
} Math;

static void fail(Math *m, const char *what)
{
    ws_py_refuse(m->y, m->op, what, NULL);
}

/* A sum per lane of the quad. */
static gboolean lanes(const WsArray *a)
{
    return ws_array_by_lane(a->rows, a->cols);
}

/* Columns of the tensor that stands for it. */
static guint cols(const WsArray *a)
{
    return lanes(a) ? 1 : a->cols;
}

static WsPyShape shape(Node *n)
{
    if (n->rows > 1)
        return cols(n) > 1 ? WS_PY_TILE : WS_PY_ROWS;
    return n->cols > 1 ? WS_PY_COLS : WS_PY_SCALAR;
}

/* --- text --------------------------------------------------------------------------------------*/

/* What the text stands in: a tile, where everything is broadcastable in rank 2, or a line. */
typedef struct {
    gboolean tile;
    guint rows, cols;
    gboolean lanes; /* beside sums per lane, where they are tensors of their own */
} Place;

static WsTerm text(Math *m, Node *n, Place at);

static WsTerm real_number(Math *m, double x)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    const float r = (float)x; /* nine digits give back the float, not what was rounded to it */
    if (isinf(r))
        return ws_term_unknown(r < 0 ? "-float(\"inf\")" : "float(\"inf\")",
                               r < 0 ? WS_PREC_UNARY : WS_PREC_ATOM);
    g_ascii_formatd(buffer, sizeof buffer, "%.9g", r);
    const char *s = ws_py_format(m->y, strpbrk(buffer, ".e") ? "%s" : "%s.0", buffer);
    return ws_term_unknown(s, r < 0 ? WS_PREC_UNARY : WS_PREC_ATOM);
}

/* A node as an operand of real, integer or boolean arithmetic. */
static WsTerm as(Math *m, Node *n, WsMathKind kind, Place at)
{
    gint64 v;
    if (kind == WS_MATH_REAL && n->form == WS_ARRAY_UNIFORM && n->kind != WS_MATH_BOOL) {
        WsTerm t = ws_py_uniform(m->y, n->x);
        if (ws_term_known(t, &v))
            return real_number(m, (double)v);
        return t;
    }
    return text(m, n, at);
}

static WsTerm infix(Math *m, const char *op, guint prec, WsTerm a, WsTerm b)
{
    return ws_term_infix(&m->y->terms, op, prec, a, b, WS_INTERVAL_ANY);
}

static WsTerm call(Math *m, const char *f, WsTerm a)
{
    return ws_term_unknown(ws_py_format(m->y, "%s.%s(%s)", m->y->dialect->module, f, a.s),
                           WS_PREC_ATOM);
}

static WsMathKind own(Node *n)
{
    return n->kind == WS_MATH_LITERAL ? WS_MATH_INT : n->kind;
}

static WsTerm arithmetic(Math *m, Node *n, Place at)
{
    static const char *const sign[] = { "+", "-", "*" };
    WsTerm a = as(m, n->arg[0], own(n), at), b = as(m, n->arg[1], own(n), at);
    guint which = n->x->op - WS_EXPR_ADD;
    if (which < G_N_ELEMENTS(sign))
        return infix(m, sign[which], which < 2 ? WS_PREC_SUM : WS_PREC_TERM, a, b);
    if (n->kind == WS_MATH_REAL && n->x->op == WS_EXPR_DIV)
        return infix(m, "/", WS_PREC_TERM, a, b);
    fail(m, WS_WORD("division of tiles of integers (it truncates there, and floors in a design)"));
    return a;
}

/* "a + col <= b", where the compiler of a language takes care by a helper (its name): the numbers
 * of columns change nowhere, so that a register of each would live on around all loops. */
static const char *mask_helper(Math *m, Node *n)
{
    Node *left = n->arg[0], *right = n->arg[1];
    if (!m->y->dialect->masks || n->x->op != WS_EXPR_LE || left->form != WS_ARRAY_OPERATION ||
        left->x->op != WS_EXPR_ADD || left->arg[0]->form != WS_ARRAY_UNIFORM ||
        left->arg[1]->form != WS_ARRAY_COL || right->kind == WS_MATH_REAL || cols(right) > 1)
        return NULL;
    return ws_array_places(right) || right->rows > 1 ? "at_most_of_row" : "at_most";
}

static WsTerm comparison(Math *m, Node *n, Place at)
{
    static const char *const sign[] = { "<", "<=", ">", ">=", "==", "!=" };
    gboolean real = n->arg[0]->kind == WS_MATH_REAL || n->arg[1]->kind == WS_MATH_REAL;
    WsMathKind kind = real ? WS_MATH_REAL : WS_MATH_INT;
    const char *helper = mask_helper(m, n);
    if (helper) {
        Node *left = n->arg[0];
        const char *s = ws_py_format(m->y, "%s(%s, %s, %s)", ws_py_helper(m->y, helper),
                                     as(m, left->arg[0], kind, at).s,
                                     as(m, left->arg[1], kind, at).s, as(m, n->arg[1], kind, at).s);
        return ws_term_unknown(s, WS_PREC_ATOM);
    }
    WsTerm a = as(m, n->arg[0], kind, at), b = as(m, n->arg[1], kind, at);
    const char *s = ws_py_format(m->y, "%s %s %s", ws_py_in(m->y, a, WS_PREC_BIT),
                                 sign[n->x->op - WS_EXPR_LT], ws_py_in(m->y, b, WS_PREC_BIT));
    return ws_term_unknown(s, WS_PREC_REL);
}

/* -1 unless intervals decide a condition, or enough of it. */
static int decided(Math *m, Node *n)
{
    gint64 v;
    gboolean both = n->x->op == WS_EXPR_AND;
    if (n->form == WS_ARRAY_OPERATION && (both || n->x->op == WS_EXPR_OR)) {
        int a = decided(m, n->arg[0]), b = decided(m, n->arg[1]);
        if (a == !both || b == !both)
            return !both;
        return a == both && b == both ? both : -1;
    }
    if (n->form != WS_ARRAY_UNIFORM)
        return -1;
    return ws_term_known(ws_py_truth(m->y, ws_py_uniform(m->y, n->x)), &v) ? v != 0 : -1;
}

static WsTerm logic(Math *m, Node *n, Place at)
{
    if (n->x->op == WS_EXPR_NOT) {
        WsTerm a = text(m, n->arg[0], at);
        return ws_term_unknown(ws_py_format(m->y, "~%s", ws_py_in(m->y, a, WS_PREC_ATOM)),
                               WS_PREC_UNARY);
    }
    gboolean is_and = n->x->op == WS_EXPR_AND;
    for (guint i = 0; i < 2; i++) {
        int known = decided(m, n->arg[i]);
        if (known >= 0)
            return text(m, n->arg[known == is_and ? 1 - i : i], at);
    }
    return infix(m, is_and ? "&" : "|", WS_PREC_BIT, text(m, n->arg[0], at),
                 text(m, n->arg[1], at));
}

static WsTerm choose(Math *m, Node *n, Place at)
{
    int known = decided(m, n->arg[0]);
    if (known >= 0)
        return as(m, n->arg[known ? 1 : 2], own(n), at);
    WsTerm c = text(m, n->arg[0], at), a = as(m, n->arg[1], own(n), at),
           b = as(m, n->arg[2], own(n), at);
    return ws_term_unknown(
        ws_py_format(m->y, "%s.where(%s, %s, %s)", m->y->dialect->module, c.s, a.s, b.s),
        WS_PREC_ATOM);
}

static const char *type_name(WsFunc f)
{
    if (f == WS_FUNC_BF16)
        return "bfloat16";
    if (f == WS_FUNC_F16)
        return "float16";
    if (f == WS_FUNC_E4M3)
        return "float8e4nv";
    if (f == WS_FUNC_E5M2)
        return "float8e5";
    return NULL;
}

static gboolean is_zero(const WsExpr *e)
{
    gint64 n;
    return e && (e->op == WS_EXPR_REAL ? e->r == 0 : ws_expr_is_int(e, &n) && n == 0);
}

/* select(x < 0, ceil(x), floor(x)): x cut towards 0. NULL: it is none. */
static Node *cut(Node *n)
{
    if (n->n_arg != 3 || n->x->op != WS_EXPR_CALL || n->x->func != WS_FUNC_SELECT)
        return NULL;
    Node *c = n->arg[0], *up = n->arg[1], *down = n->arg[2];
    const WsExpr *zero = c->x->n_args == 2 ? c->x->arg[1] : NULL;
    const gboolean calls = up->x->op == WS_EXPR_CALL && up->x->func == WS_FUNC_CEIL &&
                           down->x->op == WS_EXPR_CALL && down->x->func == WS_FUNC_FLOOR;
    if (!calls || c->x->op != WS_EXPR_LT || !is_zero(zero) ||
        !ws_expr_equal(c->x->arg[0], up->x->arg[0]) ||
        !ws_expr_equal(c->x->arg[0], down->x->arg[0]))
        return NULL;
    return c->arg[0];
}

/* `kept`: as it is stored; otherwise the rounded number as f32. */
static WsTerm convert(Math *m, Node *n, Place at, gboolean kept)
{
    const char *module = m->y->dialect->module, *narrow = type_name(n->x->func);
    Node *a = n->arg[0];
    WsTerm x = as(m, a, WS_MATH_REAL, at);
    if (n->x->func == WS_FUNC_F32 || (n->x->func == WS_FUNC_I32 && a->kind != WS_MATH_REAL)) {
        if (a->kind == WS_MATH_REAL || n->x->func == WS_FUNC_I32 || shape(a) == WS_PY_SCALAR)
            return x;
        return ws_term_unknown(
            ws_py_format(m->y, "%s.to(%s.float32)", ws_py_in(m->y, x, WS_PREC_ATOM), module),
            WS_PREC_ATOM);
    }
    Node *whole = n->x->func == WS_FUNC_I32 ? cut(a) : NULL;
    if (whole && shape(whole) != WS_PY_SCALAR && !strcmp(module, "tl"))
        return ws_term_unknown(
            ws_py_format(m->y, "%s.to(tl.int32)",
                         ws_py_in(m->y, as(m, whole, WS_MATH_REAL, at), WS_PREC_ATOM)),
            WS_PREC_ATOM);
    if (!narrow) {
        fail(m, WS_WORD("a conversion to tf32 or to integers (rounding to nearest)"));
        return x;
    }
    if (kept && shape(a) == WS_PY_SCALAR) /* a literal has no `to`; `full` of this type rounds it */
        return x;
    return ws_term_unknown(ws_py_format(m->y, "%s.to(%s.%s)%s%s%s", ws_py_in(m->y, x, WS_PREC_ATOM),
                                        module, narrow, kept ? "" : ".to(", kept ? "" : module,
                                        kept ? "" : ".float32)"),
                           WS_PREC_ATOM);
}

static WsTerm tanh_of(Math *m, WsTerm x)
{
    WsTerm twice = infix(m, "*", WS_PREC_TERM, real_number(m, 2), x);
    return ws_term_unknown(ws_py_format(m->y, "1.0 - 2.0 / (%s + 1.0)", call(m, "exp", twice).s),
                           WS_PREC_SUM);
}

static WsTerm extreme(Math *m, Node *n, Place at)
{
    const char *f = n->x->func == WS_FUNC_MAX ? "maximum" : "minimum";
    WsTerm x = as(m, n->arg[0], own(n), at);
    for (guint i = 1; i < n->n_arg; i++)
        x = ws_term_unknown(ws_py_format(m->y, "%s.%s(%s, %s)", m->y->dialect->module, f, x.s,
                                         as(m, n->arg[i], own(n), at).s),
                            WS_PREC_ATOM);
    return x;
}

static WsTerm cast(Math *m, WsTerm x, const char *type, gboolean bitcast)
{
    const char *module = m->y->dialect->module;
    return ws_term_unknown(ws_py_format(m->y, "%s.cast(%s, %s.%s%s)", module, x.s, module, type,
                                        bitcast ? ", bitcast=True" : ""),
                           WS_PREC_ATOM);
}

/* As 32 bits: a number of the launch may be wider, or a constant. */
static WsTerm word(Math *m, Node *n, Place at)
{
    WsTerm x = as(m, n, WS_MATH_INT, at);
    return n->form == WS_ARRAY_UNIFORM ? cast(m, x, "int32", FALSE) : x;
}

/* The amount of a shift, modulo 32. */
static WsTerm amount(Math *m, Node *n, Place at)
{
    gint64 by;
    if (n->form == WS_ARRAY_UNIFORM && ws_term_known(ws_py_uniform(m->y, n->x), &by))
        return ws_term_unknown(ws_py_format(m->y, "%d", (int)(by & 31)), WS_PREC_ATOM);
    return infix(m, "&", WS_PREC_BIT, word(m, n, at), ws_term_unknown("31", WS_PREC_ATOM));
}

static WsTerm bits(Math *m, Node *n, Place at)
{
    static const char *const sign[WS_FUNC_COUNT] = {
        [WS_FUNC_SHL] = "<<",   [WS_FUNC_SHR] = ">>",  [WS_FUNC_SAR] = ">>",
        [WS_FUNC_BITAND] = "&", [WS_FUNC_BITOR] = "|", [WS_FUNC_BITXOR] = "^",
    };
    WsFunc f = n->x->func;
    gboolean shift = f == WS_FUNC_SHL || f == WS_FUNC_SHR || f == WS_FUNC_SAR;
    WsTerm a = word(m, n->arg[0], at);
    WsTerm b = shift ? amount(m, n->arg[1], at) : word(m, n->arg[1], at);
    if (f == WS_FUNC_UMULHI)
        return ws_term_unknown(
            ws_py_format(m->y, "%s.umulhi(%s, %s)", m->y->dialect->module, a.s, b.s), WS_PREC_ATOM);
    if (f == WS_FUNC_SHR)
        a = cast(m, a, "uint32", TRUE);
    const char *s = ws_py_format(m->y, "%s %s %s", ws_py_in(m->y, a, WS_PREC_ATOM), sign[f],
                                 ws_py_in(m->y, b, WS_PREC_ATOM));
    WsTerm t = ws_term_unknown(s, WS_PREC_BIT);
    return f == WS_FUNC_SHR ? cast(m, t, "int32", TRUE) : t;
}

static WsTerm function(Math *m, Node *n, Place at)
{
    switch (n->x->func) {
    case WS_FUNC_SELECT:
        return choose(m, n, at);
    case WS_FUNC_MIN:
    case WS_FUNC_MAX:
        return extreme(m, n, at);
    case WS_FUNC_ABS:
        return call(m, "abs", as(m, n->arg[0], own(n), at));
    case WS_FUNC_EXP2: /* shares of the FMA pipe are a hint */
        return call(m, "exp2", as(m, n->arg[0], WS_MATH_REAL, at));
    case WS_FUNC_EXP:
    case WS_FUNC_LOG2:
    case WS_FUNC_ELEMENTARY:
        return call(m, ws_func_text(n->x->func), as(m, n->arg[0], WS_MATH_REAL, at));
    case WS_FUNC_LN:
        return call(m, "log", as(m, n->arg[0], WS_MATH_REAL, at));
    case WS_FUNC_RCP:
        return infix(m, "/", WS_PREC_TERM, real_number(m, 1), as(m, n->arg[0], WS_MATH_REAL, at));
    case WS_FUNC_TANH:
        return tanh_of(m, as(m, n->arg[0], WS_MATH_REAL, at));
    case WS_FUNC_BITS:
        return cast(m, as(m, n->arg[0], WS_MATH_REAL, at), "int32", TRUE);
    case WS_FUNC_FROM_BITS:
        return cast(m, word(m, n->arg[0], at), "float32", TRUE);
    case WS_FUNC_OF_BITS:
        return bits(m, n, at);
    case WS_FUNC_CONVERSION:
        return convert(m, n, at, FALSE);
    case WS_FUNC_CDIV:
    case WS_FUNC_OF_ROWS:
    case WS_FUNC_POW2FLOOR:
    case WS_FUNC_SUM:
    case WS_FUNC_COUNT:
    default:
        fail(m, WS_WORD("this function"));
        return ws_term_unknown("0", WS_PREC_ATOM);
    }
}

static WsTerm operation(Math *m, Node *n, Place at)
{
    if (n->x->op == WS_EXPR_CALL)
        return function(m, n, at);
    if (n->x->op == WS_EXPR_NEG) {
        WsTerm a = as(m, n->arg[0], own(n), at);
        return ws_term_unknown(ws_py_format(m->y, "-%s", ws_py_in(m->y, a, WS_PREC_UNARY)),
                               WS_PREC_UNARY);
    }
    if (n->x->op == WS_EXPR_NOT || n->x->op == WS_EXPR_AND || n->x->op == WS_EXPR_OR)
        return logic(m, n, at);
    if (n->x->op == WS_EXPR_LT || n->x->op == WS_EXPR_LE || n->x->op == WS_EXPR_GT ||
        n->x->op == WS_EXPR_GE || n->x->op == WS_EXPR_EQ || n->x->op == WS_EXPR_NE)
        return comparison(m, n, at);
    return arithmetic(m, n, at);
}

static Place place_of(Node *n)
{
    return (Place){ n->rows > 1 && cols(n) > 1, n->rows, cols(n), lanes(n) };
}

/* In rank 1 (or 0). Where a lane partial holds the whole row its row sum is the value itself. */
static WsTerm reduction(Math *m, Node *n)
{
    static const struct {
        WsFunc func;
        const char *what;
    } kinds[] = {
        { WS_FUNC_ROWMAX, "max" },
        { WS_FUNC_ROWSUM, "sum" },
        { WS_FUNC_LANEMAX, "lanemax" },
        { WS_FUNC_LANESUM, "lanesum" },
    };
    Node *a = n->arg[0];
    WsTerm x = as(m, a, own(n), place_of(a));
    if (a->rows == 1 && n->cols > 1)
        fail(m, WS_WORD("sums per lane of a single row"));
    if (lanes(a) && (n->x->func == WS_FUNC_ROWSUM || n->x->func == WS_FUNC_ROWMAX)) {
        gboolean max = n->x->func == WS_FUNC_ROWMAX && m->y->dialect->of_lanes;
        const char *s =
            ws_py_format(m->y, "%s(%s)", ws_py_helper(m->y, max ? "lanes_max" : "lanes"), x.s);
        return ws_term_unknown(m->y->dialect->of_lanes ? m->y->dialect->of_lanes(m->y, s) : s,
                               WS_PREC_ATOM);
    }
    if (cols(a) == 1)
        return x;
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (kinds[i].func == n->x->func)
            return ws_term_unknown(
                m->y->dialect->reduce(m->y, kinds[i].what, x.s, a->rows, cols(a)), WS_PREC_ATOM);
    }
    return x;
}

/* tl.cumsum adds up what stands before and the element itself; without the element it is a
 * difference, which only integers are. */
static WsTerm scan(Math *m, Node *n)
{
    gboolean exclusive, reverse;
    ws_array_scan(n, &exclusive, &reverse);
    Node *a = n->arg[0];
    WsTerm x = as(m, a, own(n), place_of(a));
    if (strcmp(m->y->dialect->module, "tl") != 0)
        fail(m, WS_WORD("a running sum"));
    else if (exclusive && own(n) == WS_MATH_REAL)
        fail(m, WS_WORD("a running sum of floats without the element itself"));
    const char *s = ws_py_format(m->y, "tl.cumsum(%s, axis=%u%s)", x.s, a->rows > 1 ? 1u : 0u,
                                 reverse ? ", reverse=True" : "");
    if (exclusive)
        s = ws_py_format(m->y, "(%s - %s)", s, ws_py_in(m->y, x, WS_PREC_UNARY));
    return ws_term_unknown(s, WS_PREC_ATOM);
}

static WsTerm value_text(Math *m, Node *n)
{
    const WsRegValue *v = &m->y->agent->value[n->index];
    const char *s = m->y->value[n->index];
    if (ws_dtype_real(v->dtype) && v->dtype != WS_DTYPE_F32 && v->dtype != WS_DTYPE_TF32)
        s = ws_py_format(m->y, "%s.to(%s.float32)", s, m->y->dialect->module);
    if (v->dtype == WS_DTYPE_I8 || v->dtype == WS_DTYPE_U8) /* arithmetic is of 32 bits */
        s = ws_py_format(m->y, "%s.to(%s.int32)", s, m->y->dialect->module);
    return ws_term_unknown(s, WS_PREC_ATOM);
}

/* Without a look at the place: a leaf, or an operation whose operands stand in `at`. */
static WsTerm plain(Math *m, Node *n, Place at)
{
    switch (n->form) {
    case WS_ARRAY_UNIFORM: {
        WsTerm t = ws_py_uniform(m->y, n->x);
        return n->kind == WS_MATH_BOOL ? ws_py_truth(m->y, t) : t;
    }
    case WS_ARRAY_NUMBER:
        return real_number(m, n->x->r);
    case WS_ARRAY_SCALAR:
        return ws_term_unknown(m->y->var[n->x->var].s, WS_PREC_ATOM);
    case WS_ARRAY_ROW:
        return ws_term_unknown(m->y->dialect->row_index(m->y, at.rows, at.tile ? at.cols : 1),
                               WS_PREC_ATOM);
    case WS_ARRAY_COL:
        if (at.lanes)
            fail(m, WS_WORD("col beside sums per lane"));
        return ws_term_unknown(m->y->dialect->col_index(m->y, at.tile ? at.rows : 1, at.cols),
                               WS_PREC_ATOM);
    case WS_ARRAY_VALUE:
        return value_text(m, n);
    case WS_ARRAY_TEMPORARY:
        return ws_term_unknown(m->temporary[n->index], WS_PREC_ATOM);
    case WS_ARRAY_REDUCTION:
        return reduction(m, n);
    case WS_ARRAY_SCAN:
        return scan(m, n);
    case WS_ARRAY_OPERATION:
    default:
        return operation(m, n, at);
    }
}

/* In a tile all operands have rank 2: what has rank 1 is spread as a whole, unless row or col stand
 * in it, which have rank 2 there themselves. */
static WsTerm text(Math *m, Node *n, Place at)
{
    WsPyShape s = shape(n);
    gboolean line = s == WS_PY_ROWS || s == WS_PY_COLS;
    if (at.lanes && s == WS_PY_ROWS && !lanes(n) && m->y->dialect->to_lanes)
        return ws_term_unknown(m->y->dialect->to_lanes(m->y, plain(m, n, place_of(n)).s),
                               WS_PREC_ATOM);
    if (!at.tile || !line || ws_array_places(n))
        return plain(m, n, at);
    WsTerm t = plain(m, n, place_of(n));
    const char *x = ws_py_in(m->y, t, WS_PREC_ATOM);
    return ws_term_unknown(m->y->dialect->spread(m->y, x, s, at.rows, at.cols), WS_PREC_ATOM);
}

/* --- statements --------------------------------------------------------------------------------*/

static void assign(Math *m, guint number, Node *n)
{
    const WsRegValue *v = &m->y->agent->value[number];
    gboolean real = ws_dtype_real(v->dtype), tile = v->rows > 1 && v->cols > 1 && v->cols != 4;
    gboolean by_lane = ws_array_by_lane(v->rows, v->cols);
    Place at = { tile, v->rows, by_lane ? 1 : v->cols, by_lane };
    gboolean kept =
        n->form == WS_ARRAY_OPERATION && n->x->op == WS_EXPR_CALL && type_name(n->x->func);
    Place in = n->rows > 1 || cols(n) > 1 ? at : (Place){ 0 };
    WsTerm t = kept ? convert(m, n, in, TRUE) : as(m, n, real ? WS_MATH_REAL : own(n), in);
    const char *name = m->y->value[number];
    gboolean fills = (n->rows < v->rows && n->rows == 1) || (cols(n) == 1 && at.cols > 1) ||
                     (by_lane && !lanes(n) && m->y->dialect->to_lanes);
    if (fills && n->rows == 1 && cols(n) == 1)
        ws_py_line(m->y, "%s = %s", name, m->y->dialect->full(m->y, number, t.s));
    else if (fills)
        ws_py_line(m->y, "%s = %s + %s", name,
                   m->y->dialect->full(m->y, number, real ? "0.0" : "0"),
                   ws_py_in(m->y, t, WS_PREC_TERM));
    else
        ws_py_line(m->y, "%s = %s", name, t.s);
}

static void statement(Math *m, guint i)
{
    const WsAssign *s = &m->op->assign[i];
    if (s->value >= 0) {
        assign(m, (guint)s->value, s->array);
    } else if (s->array) {
        m->temporary[i] = ws_py_ident(m->y, m->op->math[i]->name);
        ws_py_line(m->y, "%s = %s", m->temporary[i],
                   as(m, s->array, own(s->array), place_of(s->array)).s);
    }
}

void ws_py_math(WsPy *y, const WsOp *op)
{
    g_autofree const char **temporary = g_new0(const char *, op->n_math);
    Math m = { .y = y, .op = op, .temporary = temporary };
    gboolean any = FALSE;
    for (guint i = 0; i < op->n_math && !y->error; i++) {
        statement(&m, i);
        any = any || op->assign[i].array;
    }
    if (!any)
        ws_py_implied(y, op, "the uses of what it names");
}
