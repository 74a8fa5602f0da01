/* Nodes of compute statements as C++ expressions. */
#include "base/phrase.h"
#include "codegen/cuda/math.h"
#include "program/parts/agent.h"

static WsTerm text(WsCudaMath *m, WsCudaNode *n);

WsTerm ws_cuda_node_as(WsCudaMath *m, WsCudaNode *n, WsMathKind kind)
{
    gint64 v;
    if (kind == WS_MATH_REAL && n->is->form == WS_ARRAY_UNIFORM && n->is->x->op == WS_EXPR_INT)
        return ws_term(ws_cuda_format(m->c, "%" G_GINT64_FORMAT ".0f", n->is->x->i), WS_PREC_UNARY,
                       0, 0);
    WsTerm t = text(m, n);
    if (kind == WS_MATH_REAL && n->is->kind != WS_MATH_REAL && n->is->form == WS_ARRAY_UNIFORM &&
        ws_term_known(t, &v))
        return ws_term(ws_cuda_format(m->c, "%" G_GINT64_FORMAT ".0f", v), WS_PREC_UNARY, 0, 0);
    if (kind == WS_MATH_REAL && n->is->kind != WS_MATH_REAL)
        return ws_term(ws_cuda_format(m->c, "float(%s)", t.s), WS_PREC_ATOM, 0, 1);
    return t;
}

/* Row or column number of a slot: a part of the lane, and a constant of the slot. */
static const char *lane_part(const WsCudaNode *n)
{
    if (n->is->form == WS_ARRAY_ROW)
        return n->is->rows > 1 ? "row0" : "0";
    return n->is->cols > 4 ? "col0" : n->is->cols > 1 ? "lane % 4" : "0";
}

static const char *slot_part(const WsCudaNode *n)
{
    if (n->is->form == WS_ARRAY_ROW)
        return n->is->rows > 1 ? "slot_row(ri)" : NULL;
    return n->is->cols > 4 ? "slot_col(ci)" : NULL;
}

static WsTerm place(WsCudaMath *m, const WsCudaNode *n)
{
    if (m->linear) {
        const char *e = ws_cuda_format(m->c, "(li * %u + thread)", m->c->agent->threads);
        if (m->lin_rows == 1)
            return ws_term_unknown(n->is->form == WS_ARRAY_ROW ? "0" : e, WS_PREC_ATOM);
        return ws_term_unknown(ws_cuda_format(m->c, "%s(%s, %u)",
                                              n->is->form == WS_ARRAY_ROW ? "quot" : "mod", e,
                                              m->lin_cols),
                               WS_PREC_ATOM);
    }
    const char *slot = slot_part(n);
    return slot ? ws_term_unknown(ws_cuda_format(m->c, "%s + %s", lane_part(n), slot), WS_PREC_SUM)
                : ws_term_unknown(lane_part(n), WS_PREC_TERM);
}

static WsTerm infix(WsCudaMath *m, const char *op, guint prec, WsTerm a, WsTerm b)
{
    return ws_term_infix(&m->c->terms, op, prec, a, b, WS_INTERVAL_ANY);
}

static WsTerm call(WsCudaMath *m, const char *f, WsTerm a)
{
    return ws_term_unknown(ws_cuda_format(m->c, "%s(%s)", f, a.s), WS_PREC_ATOM);
}

static WsTerm call2(WsCudaMath *m, const char *f, WsTerm a, WsTerm b)
{
    return ws_term_unknown(ws_cuda_format(m->c, "%s(%s, %s)", f, a.s, b.s), WS_PREC_ATOM);
}

WsMathKind ws_cuda_node_own(const WsCudaNode *n)
{
    return n->is->kind == WS_MATH_LITERAL ? WS_MATH_INT : n->is->kind;
}

static gboolean is_product(const WsCudaNode *n)
{
    return n->is->form == WS_ARRAY_OPERATION && n->is->x->op == WS_EXPR_MUL &&
           n->is->kind == WS_MATH_REAL && !n->name;
}

/* a*b + c and its like, fused where the product changes with the column: what is the same for a
 * row is computed once. The other way round costs an instruction per element. s NULL: no such
 * form. */
static WsTerm fused(WsCudaMath *m, WsCudaNode *n)
{
    WsCudaNode *a = n->arg[0], *b = n->arg[1];
    gboolean minus = n->is->x->op == WS_EXPR_SUB, left = is_product(a), right = is_product(b);
    if ((!left && !right) || n->is->kind != WS_MATH_REAL)
        return (WsTerm){ 0 };
    if (left && right) {
        left = a->n_row * a->n_col >= b->n_row * b->n_col;
        right = !left;
    }
    WsCudaNode *product = left ? a : b, *rest = left ? b : a;
    WsTerm x = ws_cuda_node_as(m, product->arg[0], WS_MATH_REAL),
           y = ws_cuda_node_as(m, product->arg[1], WS_MATH_REAL);
    const char *r = ws_cuda_node_as(m, rest, WS_MATH_REAL).s, *f = x.s;
    if (minus && left)
        r = ws_cuda_format(m->c, "-(%s)", r);
    else if (minus)
        f = ws_cuda_format(m->c, "-(%s)", x.s);
    return ws_term_unknown(ws_cuda_format(m->c, "fmaf(%s, %s, %s)", f, y.s, r), WS_PREC_ATOM);
}

/* All that an i32 may be. */
static const WsInterval word = { G_MININT32, G_MAXINT32 };

static gboolean within_word(WsInterval a)
{
    return a.lo >= word.lo && a.hi <= word.hi;
}

static WsInterval range(WsCudaMath *m, WsCudaNode *n);

/* What the operator gives where it does not run over. */
static WsInterval exact(WsCudaMath *m, WsCudaNode *n)
{
    const WsInterval zero = ws_interval(0, 0), a = range(m, n->arg[0]),
                     b = n->is->n_arg > 1 ? range(m, n->arg[1]) : zero;
    if (n->is->x->op == WS_EXPR_ADD)
        return ws_interval_add(a, b);
    if (n->is->x->op == WS_EXPR_SUB)
        return ws_interval_sub(a, b);
    if (n->is->x->op == WS_EXPR_NEG)
        return ws_interval_sub(zero, a);
    if (n->is->x->op == WS_EXPR_MUL)
        return ws_interval_mul(a, b);
    if (n->is->x->op == WS_EXPR_DIV)
        return ws_interval_div(a, b, FALSE);
    if (n->is->x->op == WS_EXPR_MOD)
        return ws_interval_mod(a, b, FALSE);
    return word;
}

/* Of an integer: places and uniforms are small where they are known to be, the rest may be all. */
static WsInterval range(WsCudaMath *m, WsCudaNode *n)
{
    WsInterval r = word;
    if (n->is->form == WS_ARRAY_ROW)
        r = ws_interval(0, MAX(n->is->rows, m->linear ? m->lin_rows : 1) - 1);
    else if (n->is->form == WS_ARRAY_COL)
        r = ws_interval(0, MAX(n->is->cols, m->linear ? m->lin_cols : 1) - 1);
    else if (n->is->form == WS_ARRAY_UNIFORM)
        r = ws_cuda_uniform(m->c, n->is->x).in;
    else if (n->is->form == WS_ARRAY_OPERATION)
        r = exact(m, n);
    return within_word(r) ? r : word;
}

/* May an integer sum or product run over? C++ has none that do, the language has. */
static gboolean wraps(WsCudaMath *m, WsCudaNode *n)
{
    return n->is->kind != WS_MATH_REAL && !within_word(exact(m, n));
}

/* A quotient or rest that C++ has. */
static gboolean divides(WsCudaMath *m, WsCudaNode *n)
{
    return range(m, n->arg[1]).lo > 0;
}

static WsTerm arithmetic(WsCudaMath *m, WsCudaNode *n)
{
    WsTerm together =
        n->is->x->op == WS_EXPR_ADD || n->is->x->op == WS_EXPR_SUB ? fused(m, n) : (WsTerm){ 0 };
    if (together.s)
        return together;
    WsTerm a = ws_cuda_node_as(m, n->arg[0], ws_cuda_node_own(n)),
           b = ws_cuda_node_as(m, n->arg[1], ws_cuda_node_own(n));
    static const char *const wrapping[] = { "wrap_add", "wrap_sub", "wrap_mul" };
    if (n->is->x->op <= WS_EXPR_MUL && wraps(m, n))
        return call2(m, wrapping[n->is->x->op - WS_EXPR_ADD], a, b);
    if (n->is->x->op == WS_EXPR_ADD)
        return infix(m, "+", WS_PREC_SUM, a, b);
    if (n->is->x->op == WS_EXPR_SUB)
        return infix(m, "-", WS_PREC_SUM, a, b);
    if (n->is->x->op == WS_EXPR_MUL)
        return infix(m, "*", WS_PREC_TERM, a, b);
    if (n->is->x->op != WS_EXPR_DIV && (n->is->x->op != WS_EXPR_MOD || n->is->kind == WS_MATH_REAL))
        ws_cuda_math_fail(m, WS_WORD("this operator"));
    if (n->is->kind == WS_MATH_REAL)
        return infix(m, "*", WS_PREC_TERM, a, call(m, "rcp", b));
    static const char *const name[][2] = { { "wrap_div", "wrap_mod" },
                                           { "floor_div", "floor_mod" } };
    return call2(m, name[divides(m, n)][n->is->x->op == WS_EXPR_MOD], a, b);
}

/* --- masks -------------------------------------------------------------------------------------*/

/* The part of a sum of row, col and uniforms that does not change from slot to slot, and the one
 * that does (constants once the loops are unrolled). */
static void index_parts(WsCudaMath *m, WsCudaNode *n, gboolean minus, GString *fixed, GString *slot)
{
    if (n->is->form == WS_ARRAY_OPERATION) {
        index_parts(m, n->arg[0], minus, fixed, slot);
        index_parts(m, n->arg[1], minus != (n->is->x->op == WS_EXPR_SUB), fixed, slot);
        return;
    }
    const char *sign = minus ? " - " : " + ";
    if (n->is->form == WS_ARRAY_UNIFORM) {
        WsTerm t = text(m, n);
        g_string_append_printf(fixed, "%s%s", sign, ws_term_in(&m->c->terms, t, WS_PREC_TERM));
        return;
    }
    g_string_append_printf(fixed, "%s%s", sign, lane_part(n));
    if (slot_part(n))
        g_string_append_printf(slot, "%s%s", minus ? " + " : " - ", slot_part(n));
}

static const char *trimmed(WsCudaMath *m, GString *s)
{
    const char *text = s->len == 0                       ? "0"
                       : g_str_has_prefix(s->str, " + ") ? ws_cuda_format(m->c, "%s", s->str + 3)
                                                         : ws_cuda_format(m->c, "-%s", s->str + 3);
    g_string_free(s, TRUE);
    return text;
}

/* The column against a uniform that a multiple of 8 divides: lanes of a block of columns agree, so
 * the slot alone decides, and all slots of an aligned group alike. 0: not of this form. */
static guint aligned_columns(WsCudaMath *m, const WsCudaNode *n, gboolean *turned)
{
    *turned = n->arg[0]->is->form == WS_ARRAY_UNIFORM;
    const WsCudaNode *col = n->arg[*turned], *bound = n->arg[!*turned];
    WsExprOp less = *turned ? WS_EXPR_GT : WS_EXPR_LT, not_less = *turned ? WS_EXPR_LE : WS_EXPR_GE;
    if (m->linear || col->is->form != WS_ARRAY_COL || col->is->cols <= 4 ||
        bound->is->form != WS_ARRAY_UNIFORM || (n->is->x->op != less && n->is->x->op != not_less))
        return 0;
    guint a = ws_fact_alignment(m->c->p, bound->is->x);
    return a >= 8 ? a : 0;
}

static gboolean is_aligned(WsCudaMath *m, const WsCudaNode *n)
{
    gboolean turned;
    return aligned_columns(m, n, &turned) > 0;
}

static WsInterval uniform_range(gpointer data, const WsExpr *x)
{
    WsCuda *c = data;
    return ws_cuda_uniform(c, x).in;
}

gboolean ws_cuda_node_is_mask(WsCudaMath *m, const WsCudaNode *n)
{
    return n->is->form == WS_ARRAY_OPERATION && n->is->x->op >= WS_EXPR_LT &&
           n->is->x->op <= WS_EXPR_NE && !m->linear &&
           ws_fact_one_difference(n->is, uniform_range, m->c) && !is_aligned(m, n);
}

/* `base + col <= last + row` is one difference per thread against a constant per slot. */
static WsTerm index_comparison(WsCudaMath *m, WsCudaNode *n, const char *op, guint prec)
{
    GString *fixed = g_string_new(NULL), *slot = g_string_new(NULL);
    index_parts(m, n->arg[0], FALSE, fixed, slot);
    index_parts(m, n->arg[1], TRUE, fixed, slot);
    const char *left = trimmed(m, fixed), *right = trimmed(m, slot);
    return ws_term_unknown(ws_cuda_format(m->c, n->fixed ? "%s %s %s" : "(%s) %s %s",
                                          n->fixed ? n->fixed : left, op, right),
                           prec);
}

/* Through an opaque move: the comparisons are made here, not once for all rounds and then kept. */
void ws_cuda_node_name_mask(WsCudaMath *m, WsCudaNode *n)
{
    GString *fixed = g_string_new(NULL), *slot = g_string_new(NULL);
    index_parts(m, n->arg[0], FALSE, fixed, slot);
    index_parts(m, n->arg[1], TRUE, fixed, slot);
    g_string_free(slot, TRUE);
    if (!(m->c->op && m->c->op->n_flying) &&
        !m->stayed) { /* made before the wait for products they take a register each */
        ws_cuda_line(m->c, "// comparisons stay after the wait");
        ws_cuda_line(m->c, "%s(n_tiles);", ws_cuda_prim_name(WS_PRIM_STAY));
        m->stayed = TRUE;
    }
    n->fixed = ws_cuda_format(m->c, "part_%u", m->c->temporaries++);
    ws_cuda_line(m->c, "const int %s = int(%s(%s));", n->fixed, ws_cuda_prim_name(WS_PRIM_MOV32),
                 trimmed(m, fixed));
}

static WsTerm comparison(WsCudaMath *m, WsCudaNode *n)
{
    static const char *const op[] = { "<", "<=", ">", ">=", "==", "!=" };
    guint at = n->is->x->op - WS_EXPR_LT, prec = at < 4 ? WS_PREC_REL : WS_PREC_EQ;
    gboolean real = n->arg[0]->is->kind == WS_MATH_REAL || n->arg[1]->is->kind == WS_MATH_REAL;
    gboolean turned;
    guint group = n->arg[0]->is->kind != WS_MATH_BOOL ? aligned_columns(m, n, &turned) : 0;
    if (group) {
        const char *slot = ws_cuda_format(m->c, "slot_col(ci) / %u * %u", group, group);
        const char *bound = ws_term_in(&m->c->terms, text(m, n->arg[!turned]), WS_PREC_BIT);
        return ws_term_unknown(turned ? ws_cuda_format(m->c, "%s %s %s", bound, op[at], slot)
                                      : ws_cuda_format(m->c, "%s %s %s", slot, op[at], bound),
                               prec);
    }
    if (ws_cuda_node_is_mask(m, n))
        return index_comparison(m, n, op[at], prec);
    WsMathKind kind = real ? WS_MATH_REAL : WS_MATH_INT;
    WsTerm a = ws_cuda_node_as(m, n->arg[0], kind), b = ws_cuda_node_as(m, n->arg[1], kind);
    return ws_term_unknown(ws_cuda_format(m->c, "%s %s %s",
                                          ws_term_in(&m->c->terms, a, WS_PREC_BIT), op[at],
                                          ws_term_in(&m->c->terms, b, WS_PREC_BIT)),
                           prec);
}

/* --- conditions --------------------------------------------------------------------------------*/

/* -1 unless a uniform condition is decided by intervals. */
static int decided(WsCudaMath *m, WsCudaNode *n)
{
    gint64 v;
    if (n->is->form != WS_ARRAY_UNIFORM)
        return -1;
    WsTerm t = ws_term_truth(&m->c->terms, ws_cuda_uniform(m->c, n->is->x));
    return ws_term_known(t, &v) ? v != 0 : -1;
}

static WsTerm logic(WsCudaMath *m, WsCudaNode *n)
{
    if (n->is->x->op == WS_EXPR_NOT) {
        WsTerm a = ws_cuda_node_as(m, n->arg[0], WS_MATH_BOOL);
        return ws_term_unknown(
            ws_cuda_format(m->c, "!%s", ws_term_in(&m->c->terms, a, WS_PREC_UNARY)), WS_PREC_UNARY);
    }
    gboolean is_and = n->is->x->op == WS_EXPR_AND;
    for (guint i = 0; i < 2; i++) {
        int known = decided(m, n->arg[i]);
        if (known >= 0)
            return ws_cuda_node_as(m, n->arg[known == is_and ? 1 - i : i], WS_MATH_BOOL);
    }
    WsTerm a = ws_cuda_node_as(m, n->arg[0], WS_MATH_BOOL),
           b = ws_cuda_node_as(m, n->arg[1], WS_MATH_BOOL);
    return infix(m, is_and ? "&&" : "||", is_and ? WS_PREC_AND : WS_PREC_OR, a, b);
}

static WsTerm choose(WsCudaMath *m, WsCudaNode *n)
{
    int known = decided(m, n->arg[0]);
    if (known >= 0)
        return ws_cuda_node_as(m, n->arg[known ? 1 : 2], ws_cuda_node_own(n));
    WsTerm c = ws_cuda_node_as(m, n->arg[0], WS_MATH_BOOL),
           a = ws_cuda_node_as(m, n->arg[1], ws_cuda_node_own(n)),
           b = ws_cuda_node_as(m, n->arg[2], ws_cuda_node_own(n));
    return ws_term_unknown(ws_cuda_format(m->c, "%s ? %s : %s",
                                          ws_term_in(&m->c->terms, c, WS_PREC_OR),
                                          ws_term_in(&m->c->terms, a, WS_PREC_OR),
                                          ws_term_in(&m->c->terms, b, WS_PREC_OR)),
                           WS_PREC_COND);
}

/* --- functions ---------------------------------------------------------------------------------*/

static WsTerm convert(WsCudaMath *m, WsCudaNode *n)
{
    WsFunc f = n->is->x->func;
    WsCudaNode *a = n->arg[0];
    if (f == WS_FUNC_F32)
        return ws_cuda_node_as(m, a, WS_MATH_REAL);
    if (f == WS_FUNC_I32)
        return a->is->kind == WS_MATH_REAL ? call(m, "int", call(m, "cvt_rni", text(m, a)))
                                           : text(m, a);
    if (f == WS_FUNC_I8 || f == WS_FUNC_U8)
        return call(m,
                    ws_cuda_format(m->c, "%s_%s", a->is->kind == WS_MATH_REAL ? "saturate" : "wrap",
                                   ws_func_text(f)),
                    text(m, a));
    return call(m, ws_cuda_format(m->c, "round_%s", ws_func_text(f)),
                ws_cuda_node_as(m, a, WS_MATH_REAL));
}

static WsTerm extreme(WsCudaMath *m, WsCudaNode *n)
{
    const char *f = n->is->x->func == WS_FUNC_MAX ? "max" : "min";
    if (n->is->kind == WS_MATH_REAL)
        f = n->is->x->func == WS_FUNC_MAX ? "fmaxf" : "fminf";
    WsTerm x = ws_cuda_node_as(m, n->arg[0], ws_cuda_node_own(n));
    for (guint i = 1; i < n->is->n_arg; i++)
        x = call2(m, f, x, ws_cuda_node_as(m, n->arg[i], ws_cuda_node_own(n)));
    return x;
}

/* bitand and bitor are other words for & and | in C++. */
static const char *bits_name(WsFunc f)
{
    static const char *const name[WS_FUNC_COUNT] = {
        [WS_FUNC_SHL] = "shl",         [WS_FUNC_SHR] = "shr",       [WS_FUNC_SAR] = "sar",
        [WS_FUNC_BITAND] = "bits_and", [WS_FUNC_BITOR] = "bits_or", [WS_FUNC_BITXOR] = "bits_xor",
        [WS_FUNC_UMULHI] = "umulhi",
    };
    return name[f];
}

static WsTerm function(WsCudaMath *m, WsCudaNode *n)
{
    switch (n->is->x->func) {
    case WS_FUNC_SELECT:
        return choose(m, n);
    case WS_FUNC_MIN:
    case WS_FUNC_MAX:
        return extreme(m, n);
    case WS_FUNC_ABS:
        return call(m, n->is->kind == WS_MATH_REAL ? "fabsf" : "wrap_abs",
                    ws_cuda_node_as(m, n->arg[0], ws_cuda_node_own(n)));
    case WS_FUNC_EXP2: {
        WsTerm x = ws_cuda_node_as(m, n->arg[0], WS_MATH_REAL);
        if (n->is->n_arg != 3)
            return call(m, "ex2", x);
        return call2(m,
                     ws_cuda_format(m->c, "ex2_share<%d, %d>", (int)n->is->x->arg[1]->i,
                                    (int)n->is->x->arg[2]->i),
                     x,
                     ws_term_unknown(n->n_col > 1   ? "ci"
                                     : m->linear    ? "li"
                                     : n->n_row > 1 ? "ri"
                                                    : "0",
                                     WS_PREC_ATOM));
    }
    case WS_FUNC_EXP:
        return call(m, "ex2",
                    infix(m, "*", WS_PREC_TERM, ws_cuda_node_as(m, n->arg[0], WS_MATH_REAL),
                          ws_term_unknown(ws_cuda_real(m->c, 1 / G_LN2), WS_PREC_ATOM)));
    case WS_FUNC_LOG2:
        return call(m, "lg2", ws_cuda_node_as(m, n->arg[0], WS_MATH_REAL));
    case WS_FUNC_LN:
        return infix(m, "*", WS_PREC_TERM,
                     call(m, "lg2", ws_cuda_node_as(m, n->arg[0], WS_MATH_REAL)),
                     ws_term_unknown(ws_cuda_real(m->c, G_LN2), WS_PREC_ATOM));
    case WS_FUNC_RCP:
    case WS_FUNC_ELEMENTARY:
    case WS_FUNC_TANH:
        return call(m, ws_func_text(n->is->x->func), ws_cuda_node_as(m, n->arg[0], WS_MATH_REAL));
    case WS_FUNC_BITS:
        return call(m, "__float_as_int", ws_cuda_node_as(m, n->arg[0], WS_MATH_REAL));
    case WS_FUNC_FROM_BITS:
        return call(m, "__int_as_float", ws_cuda_node_as(m, n->arg[0], WS_MATH_INT));
    case WS_FUNC_CDIV:
        return call2(m, "wrap_cdiv", ws_cuda_node_as(m, n->arg[0], WS_MATH_INT),
                     ws_cuda_node_as(m, n->arg[1], WS_MATH_INT));
    case WS_FUNC_OF_BITS:
        return call2(m, bits_name(n->is->x->func), ws_cuda_node_as(m, n->arg[0], WS_MATH_INT),
                     ws_cuda_node_as(m, n->arg[1], WS_MATH_INT));
    case WS_FUNC_CONVERSION:
        return convert(m, n);
    case WS_FUNC_OF_ROWS:
    case WS_FUNC_POW2FLOOR:
    case WS_FUNC_SUM:
    case WS_FUNC_COUNT:
    default:
        ws_cuda_math_fail(m, WS_WORD("this function"));
        return ws_term_unknown("0", WS_PREC_ATOM);
    }
}

/* Over what the thread holds of the row, then (finished ones) over the quad of lanes. */
static WsTerm reduction(WsCudaMath *m, WsCudaNode *n)
{
    WsCudaNode *a = n->arg[0];
    gboolean max = n->is->x->func == WS_FUNC_ROWMAX || n->is->x->func == WS_FUNC_LANEMAX;
    gboolean finish = n->is->x->func == WS_FUNC_ROWMAX || n->is->x->func == WS_FUNC_ROWSUM;
    if (m->linear && finish && a->is->rows == 1 && a->is->cols > 1)
        return ws_cuda_reduce_line(m, n, max);
    if (m->linear) {
        ws_cuda_math_fail(m, WS_WORD("a reduction of linear values (64*n rows and 8*n columns in a "
                                     "group of 4 warps are not linear)"));
        return ws_term_unknown("0", WS_PREC_ATOM);
    }
    if (a->is->cols == 1)
        return ws_cuda_node_as(m, a, ws_cuda_node_own(n));
    WsTerm x = ws_cuda_node_as(m, a, ws_cuda_node_own(n));
    const char *f = max ? "max" : n->is->kind != WS_MATH_REAL ? "sum_i32" : "sum";
    const char *s =
        a->n_col == 1
            ? x.s
            : ws_cuda_format(m->c, "columns_%s<%u>([&](int ci) { return %s; })", f, a->n_col, x.s);
    return ws_term_unknown(finish ? ws_cuda_format(m->c, "quad_%s(%s)", f, s) : s, WS_PREC_ATOM);
}

static WsTerm operation(WsCudaMath *m, WsCudaNode *n)
{
    if (n->is->x->op == WS_EXPR_CALL)
        return function(m, n);
    if (n->is->x->op == WS_EXPR_NEG) {
        WsTerm a = ws_cuda_node_as(m, n->arg[0], ws_cuda_node_own(n));
        if (wraps(m, n))
            return call2(m, "wrap_sub", ws_term_unknown("0", WS_PREC_ATOM), a);
        return ws_term_unknown(
            ws_cuda_format(m->c, "-%s", ws_term_in(&m->c->terms, a, WS_PREC_ATOM)), WS_PREC_UNARY);
    }
    if (n->is->x->op == WS_EXPR_NOT || n->is->x->op == WS_EXPR_AND || n->is->x->op == WS_EXPR_OR)
        return logic(m, n);
    if (n->is->x->op == WS_EXPR_LT || n->is->x->op == WS_EXPR_LE || n->is->x->op == WS_EXPR_GT ||
        n->is->x->op == WS_EXPR_GE || n->is->x->op == WS_EXPR_EQ || n->is->x->op == WS_EXPR_NE)
        return comparison(m, n);
    return arithmetic(m, n);
}

/* Element of a temporary held in an array: one per slot of its shape. */
WsTerm ws_cuda_node_slot(WsCudaMath *m, const WsCudaNode *n)
{
    const char *name = n->name;
    if (n->n_row * n->n_col == 1)
        return ws_term_unknown(name, WS_PREC_ATOM);
    if (m->linear)
        return ws_term_unknown(ws_cuda_format(m->c, "%s[li]", name), WS_PREC_ATOM);
    if (n->n_col == 1)
        return ws_term_unknown(ws_cuda_format(m->c, "%s[ri]", name), WS_PREC_ATOM);
    if (n->n_row == 1)
        return ws_term_unknown(ws_cuda_format(m->c, "%s[ci]", name), WS_PREC_ATOM);
    return ws_term_unknown(ws_cuda_format(m->c, "%s[ri * %u + ci]", name, n->n_col), WS_PREC_ATOM);
}

static WsTerm text(WsCudaMath *m, WsCudaNode *n)
{
    if (n->is->form == WS_ARRAY_TEMPORARY)
        return ws_cuda_node_slot(m, n);
    if (n->name)
        return ws_term_unknown(n->name, WS_PREC_ATOM);
    switch (n->is->form) {
    case WS_ARRAY_UNIFORM: {
        WsTerm t = ws_cuda_uniform(m->c, n->is->x);
        return n->is->kind == WS_MATH_BOOL ? ws_term_truth(&m->c->terms, t) : t;
    }
    case WS_ARRAY_NUMBER:
        return ws_term_unknown(ws_cuda_real(m->c, n->is->x->r),
                               n->is->x->r < 0 ? WS_PREC_UNARY : WS_PREC_ATOM);
    case WS_ARRAY_SCALAR:
        return ws_term_unknown(m->c->var[n->is->x->var].s, WS_PREC_ATOM);
    case WS_ARRAY_ROW:
    case WS_ARRAY_COL:
        return place(m, n);
    case WS_ARRAY_VALUE:
        return ws_term_unknown(ws_cuda_get(m->c, &n->view, 0), WS_PREC_ATOM);
    case WS_ARRAY_SCAN: /* named before the loops (math.c) */
        ws_cuda_math_fail(m, WS_WORD("a running sum here"));
        return ws_term_unknown("0", WS_PREC_ATOM);
    case WS_ARRAY_REDUCTION:
        return reduction(m, n);
    case WS_ARRAY_OPERATION:
    case WS_ARRAY_TEMPORARY:
    default:
        return operation(m, n);
    }
}
