#include "codegen/term.h"
#include "base/phrase.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"

#include "codegen/generate.h"

#include <stdarg.h>

void ws_term_lost(GError **error, const WsOp *op, const WsAgent *agent, const char *name)
{
    if (!*error)
        g_set_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_INTERNAL,
                    "internal error of the generator at %s: %s has no value here",
                    op      ? op->id
                    : agent ? agent->path
                            : "the kernel",
                    name);
}

WsTerm ws_term(const char *s, guint prec, gint64 lo, gint64 hi)
{
    return (WsTerm){ s, prec, ws_interval(lo, hi) };
}

WsTerm ws_term_unknown(const char *s, guint prec)
{
    return (WsTerm){ s, prec, WS_INTERVAL_ANY };
}

gboolean ws_term_known(WsTerm a, gint64 *value)
{
    return ws_interval_known(a.in, value);
}

const char *ws_term_format(WsTermWriter *t, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_autofree char *text = g_strdup_vprintf(format, ap);
    va_end(ap);
    return g_string_chunk_insert_const(t->pool, text);
}

const char *ws_term_phrase(WsTermWriter *t, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_autofree char *phrase = ws_phrase_v(format, ap);
    va_end(ap);
    return g_string_chunk_insert_const(t->pool, phrase);
}

WsTerm ws_term_int(WsTermWriter *t, gint64 value)
{
    if (value < G_MININT32 || value > G_MAXINT32)
        t->language->refuse(t, WS_WORD("an integer beyond 32 bits"));
    if (value == G_MININT32 && t->language->least)
        return ws_term(t->language->least, WS_PREC_ATOM, value, value);
    const char *s = ws_term_format(t, "%" G_GINT64_FORMAT, value);
    return ws_term(s, value < 0 ? WS_PREC_UNARY : WS_PREC_ATOM, value, value);
}

const char *ws_term_in(WsTermWriter *t, WsTerm a, guint prec)
{
    return a.prec < prec ? ws_term_format(t, "(%s)", a.s) : a.s;
}

WsTerm ws_term_infix(WsTermWriter *t, const char *op, guint prec, WsTerm a, WsTerm b, WsInterval in)
{
    const char *left = ws_term_in(t, a, prec), *right = ws_term_in(t, b, prec + 1);
    return (WsTerm){ ws_term_format(t, "%s %s %s", left, op, right), prec, in };
}

WsTerm ws_term_call(WsTermWriter *t, const char *f, WsTerm a, WsTerm b, WsInterval in)
{
    return (WsTerm){ ws_term_format(t, "%s(%s, %s)", f, a.s, b.s), WS_PREC_ATOM, in };
}

/* --- operators ---------------------------------------------------------------------------------*/

/* Constants fold where both sides have no name; "x + 0" stays where copies are compared. */
static WsTerm sum(WsTermWriter *t, WsTerm a, WsTerm b, gboolean minus)
{
    WsInterval in = minus ? ws_interval_sub(a.in, b.in) : ws_interval_add(a.in, b.in);
    gint64 x, y, v;
    gboolean known_a = ws_term_known(a, &x), known_b = ws_term_known(b, &y);
    if (known_a && known_b && ws_interval_known(in, &v))
        return ws_term_int(t, v);
    if (known_b && y < 0 && y > G_MININT32) {
        minus = !minus;
        b = ws_term_int(t, -y);
    }
    if (known_a && !minus) { /* constants come last */
        WsTerm first = a;
        a = b;
        b = first;
    }
    if (known_a && x == 0 && minus)
        return (WsTerm){ ws_term_format(t, "-%s", ws_term_in(t, b, WS_PREC_ATOM)), WS_PREC_UNARY,
                         in };
    return ws_term_infix(t, minus ? "-" : "+", WS_PREC_SUM, a, b, in);
}

static WsTerm product(WsTermWriter *t, WsTerm a, WsTerm b)
{
    WsInterval in = ws_interval_mul(a.in, b.in);
    gint64 v, x, y;
    gboolean known_a = ws_term_known(a, &x), known_b = ws_term_known(b, &y);
    if (ws_interval_known(in, &v) && (v == 0 || (known_a && known_b)))
        return ws_term_int(t, v);
    if (known_a && x == 1)
        return b;
    if (known_b && y == 1)
        return a;
    return ws_term_infix(t, "*", WS_PREC_TERM, a, b, in);
}

static WsTerm divisor(WsTermWriter *t, WsTerm b)
{
    const gboolean maybe = t->branches && b.in.lo <= 0 && b.in.hi >= 0;
    return maybe && t->language->no_zero ? t->language->no_zero(t, b) : b;
}

static WsTerm divide(WsTermWriter *t, WsTerm a, WsTerm b, gboolean rest)
{
    gint64 v, by;
    b = divisor(t, b);
    gboolean known = ws_term_known(b, &by) && by > 0;
    gboolean positive = (a.in.lo >= 0 || t->nonneg) && b.in.lo >= 0;
    if (known && by == 1)
        return rest ? ws_term_int(t, 0) : a;
    if (known && rest && a.in.lo >= 0 && a.in.hi < by)
        return a;
    WsInterval in =
        rest ? ws_interval_mod(a.in, b.in, positive) : ws_interval_div(a.in, b.in, positive);
    if (ws_interval_known(in, &v))
        return ws_term_int(t, v);
    WsTerm made = t->language->divide(t, a, b, rest, positive);
    made.in = in;
    return made;
}

static WsTerm compare(WsTermWriter *t, WsExprOp op, WsTerm a, WsTerm b)
{
    static const char *const text[] = { "<", "<=", ">", ">=", "==", "!=" };
    int known = ws_interval_decide(op, a.in, b.in);
    if (known >= 0)
        return ws_term_int(t, known);
    gboolean equality = op == WS_EXPR_EQ || op == WS_EXPR_NE;
    /* arithmetic on both sides reads without parentheses; nested comparisons do not */
    const char *s = ws_term_format(t, "%s %s %s", ws_term_in(t, a, WS_PREC_BIT),
                                   text[op - WS_EXPR_LT], ws_term_in(t, b, WS_PREC_BIT));
    return ws_term(s, equality ? t->language->equality : WS_PREC_REL, 0, 1);
}

WsTerm ws_term_op(WsTermWriter *t, WsExprOp op, WsTerm a, WsTerm b)
{
    if (op == WS_EXPR_ADD)
        return sum(t, a, b, FALSE);
    if (op == WS_EXPR_SUB)
        return sum(t, a, b, TRUE);
    if (op == WS_EXPR_MUL)
        return product(t, a, b);
    if (op == WS_EXPR_DIV)
        return divide(t, a, b, FALSE);
    if (op == WS_EXPR_MOD)
        return divide(t, a, b, TRUE);
    if (op >= WS_EXPR_LT && op <= WS_EXPR_NE)
        return compare(t, op, a, b);
    t->language->refuse(t, WS_WORD("this operator in a uniform expression"));
    return ws_term_int(t, 0);
}

/* --- functions ---------------------------------------------------------------------------------*/

static WsTerm extreme(WsTermWriter *t, WsTerm a, WsTerm b, gboolean max)
{
    gint64 v;
    if (max ? a.in.lo >= b.in.hi : a.in.hi <= b.in.lo)
        return a;
    if (max ? b.in.lo >= a.in.hi : b.in.hi <= a.in.lo)
        return b;
    WsInterval in = max ? ws_interval_max(a.in, b.in) : ws_interval_min(a.in, b.in);
    if (ws_interval_known(in, &v))
        return ws_term_int(t, v);
    return ws_term_call(t, t->language->function(t, max ? WS_FUNC_MAX : WS_FUNC_MIN), a, b, in);
}

WsTerm ws_term_min(WsTermWriter *t, WsTerm a, WsTerm b)
{
    return extreme(t, a, b, FALSE);
}

static WsTerm cdiv(WsTermWriter *t, WsTerm a, WsTerm b, gboolean at_least_zero)
{
    b = divisor(t, b);
    WsInterval one = { 1, 1 }, up = ws_interval_sub(ws_interval_add(a.in, b.in), one);
    WsInterval in = WS_INTERVAL_ANY;
    gint64 v;
    if (b.in.lo > 0)
        in = ws_interval_div(up, b.in, up.lo >= 0);
    if (ws_interval_known(in, &v))
        return ws_term_int(t, v);
    WsTerm made = t->language->up(t, a, b, at_least_zero);
    made.in = in;
    return made;
}

WsTerm ws_term_cdiv(WsTermWriter *t, WsTerm a, WsTerm b)
{
    return cdiv(t, a, b, FALSE);
}

WsTerm ws_term_truth(WsTermWriter *t, WsTerm a)
{
    if (a.prec == WS_PREC_REL || a.prec == WS_PREC_EQ || a.prec == WS_PREC_AND ||
        a.prec == WS_PREC_OR)
        return a;
    return compare(t, WS_EXPR_NE, a, ws_term_int(t, 0));
}

/* What is worked out on one of two paths. */
static WsTerm branch(WsTermWriter *t, const WsExpr *x)
{
    t->branches++;
    WsTerm a = ws_term_uniform(t, x);
    t->branches--;
    return a;
}

static WsTerm choose(WsTermWriter *t, WsTerm cond, const WsExpr *x, const WsExpr *y)
{
    gint64 known;
    cond = ws_term_truth(t, cond);
    if (ws_term_known(cond, &known))
        return ws_term_uniform(t, known ? x : y);
    WsTerm a = branch(t, x), b = branch(t, y);
    WsTerm made = t->language->choose(t, cond, a, b);
    made.in = ws_interval(MIN(a.in.lo, b.in.lo), MAX(a.in.hi, b.in.hi));
    return made;
}

/* Operand i of a minimum or a maximum. */
static WsTerm operand(WsTermWriter *t, const WsExpr *x, guint i)
{
    gint64 v;
    const gboolean hidden =
        x->func == WS_FUNC_MAX && x->n_args == 2 && ws_expr_is_int(x->arg[1 - i], &v) && v >= 0;
    t->at_least_zero = hidden ? x->arg[i] : NULL;
    return ws_term_uniform(t, x->arg[i]);
}

static WsTerm call(WsTermWriter *t, const WsExpr *x)
{
    const gboolean at_least_zero = t->at_least_zero == x;
    const gboolean extremes = x->func == WS_FUNC_MIN || x->func == WS_FUNC_MAX;
    WsTerm a = extremes ? operand(t, x, 0) : ws_term_uniform(t, x->arg[0]);
    if (x->func == WS_FUNC_CDIV)
        return cdiv(t, a, ws_term_uniform(t, x->arg[1]), at_least_zero);
    if (x->func == WS_FUNC_MIN || x->func == WS_FUNC_MAX) {
        for (guint i = 1; i < x->n_args; i++)
            a = extreme(t, a, operand(t, x, i), x->func == WS_FUNC_MAX);
        return a;
    }
    if (x->func == WS_FUNC_ABS)
        return ws_term(ws_term_format(t, "abs(%s)", a.s), WS_PREC_ATOM, 0, MAX(a.in.hi, -a.in.lo));
    if (x->func == WS_FUNC_POW2FLOOR)
        return ws_term(ws_term_format(t, "%s(%s)", t->language->function(t, x->func), a.s),
                       WS_PREC_ATOM, 0, MAX(a.in.hi, 0));
    if (x->func == WS_FUNC_SELECT)
        return choose(t, a, x->arg[1], x->arg[2]);
    t->language->refuse(t, WS_WORD("a real function in a uniform expression"));
    return ws_term_int(t, 0);
}

static WsTerm logic(WsTermWriter *t, const WsExpr *x)
{
    gboolean is_and = x->op == WS_EXPR_AND;
    WsTerm a = ws_term_truth(t, ws_term_uniform(t, x->arg[0]));
    gint64 known;
    if (ws_term_known(a, &known)) {
        if ((known != 0) != is_and)
            return ws_term_int(t, !is_and);
        return ws_term_truth(t, ws_term_uniform(t, x->arg[1]));
    }
    WsTerm b = ws_term_truth(t, branch(t, x->arg[1]));
    if (ws_term_known(b, &known))
        return (known != 0) == is_and ? a : b;
    const WsTermWord *word = is_and ? &t->language->and_word : &t->language->or_word;
    const char *s = ws_term_format(t, "%s %s %s", ws_term_in(t, a, word->left), word->sign,
                                   ws_term_in(t, b, word->right));
    return ws_term(s, is_and ? WS_PREC_AND : WS_PREC_OR, 0, 1);
}

/* --- expressions -------------------------------------------------------------------------------*/

static WsTerm variable(WsTermWriter *t, const WsExpr *x)
{
    const WsTermName *name = t->language->variable(t, x);
    gint64 v;
    if (!name || !name->bound) {
        t->language->lost(t, x->name);
        return ws_term_int(t, 0);
    }
    return ws_interval_known(name->in, &v) ? ws_term_int(t, v)
                                           : (WsTerm){ name->s, WS_PREC_ATOM, name->in };
}

static WsTerm literal(WsTermWriter *t, const WsExpr *x)
{
    WsTerm a = ws_term_int(t, x->i);
    const char *name = x->name ? t->language->constant(t, x->name) : NULL;
    if (name) {
        a.s = name;
        a.prec = WS_PREC_ATOM;
    }
    return a;
}

static WsTerm binary(WsTermWriter *t, const WsExpr *x)
{
    gint64 v;
    WsTerm known;
    if (t->language->decided && t->language->decided(t, x, &known))
        return known;
    if (x->n_args != 2) {
        t->language->refuse(t, WS_WORD("an unbound name in a uniform expression"));
        return ws_term_int(t, 0);
    }
    WsTerm a = ws_term_uniform(t, x->arg[0]), b = ws_term_uniform(t, x->arg[1]);
    if (t->ring_name && x->op == WS_EXPR_DIV && ws_term_known(b, &v) && v == t->ring)
        b.s = t->ring_name;
    return ws_term_op(t, x->op, a, b);
}

WsTerm ws_term_uniform(WsTermWriter *t, const WsExpr *x)
{
    if (x->op == WS_EXPR_INT)
        return literal(t, x);
    if (x->op == WS_EXPR_TEXT_BOOL)
        return ws_term_int(t, x->i);
    if (x->op == WS_EXPR_VAR)
        return variable(t, x);
    if (x->op == WS_EXPR_NEG)
        return sum(t, ws_term_int(t, 0), ws_term_uniform(t, x->arg[0]), TRUE);
    if (x->op == WS_EXPR_NOT)
        return compare(t, WS_EXPR_EQ, ws_term_uniform(t, x->arg[0]), ws_term_int(t, 0));
    if (x->op == WS_EXPR_AND || x->op == WS_EXPR_OR)
        return logic(t, x);
    if (x->op == WS_EXPR_CALL)
        return call(t, x);
    if (x->op == WS_EXPR_INDEX)
        return t->language->element(t, x);
    return binary(t, x);
}

WsTerm ws_term_use(WsTermWriter *t, const WsExpr *x)
{
    gboolean outer = t->nonneg;
    t->nonneg = TRUE;
    WsTerm a = ws_term_uniform(t, x);
    t->nonneg = outer;
    return a;
}

const char *ws_term_text(WsTermWriter *t, const WsExpr *x)
{
    WsTerm a = ws_term_uniform(t, x);
    gint64 v;
    if (!t->plus_zero || ws_term_known(a, &v))
        return a.s;
    gboolean ends = (x->op == WS_EXPR_ADD || x->op == WS_EXPR_SUB) && x->n_args == 2 &&
                    ws_term_known(ws_term_uniform(t, x->arg[1]), &v);
    return ends ? a.s : ws_term_format(t, "%s + 0", ws_term_in(t, a, WS_PREC_SUM));
}

gboolean ws_term_constant(WsTermWriter *t, const WsExpr *x, gint64 *out)
{
    gint64 v = 0;
    if (x && !ws_term_known(ws_term_uniform(t, x), &v))
        return FALSE;
    *out = v;
    return TRUE;
}
