/* How Python says uniform integer expressions (codegen/term.h), on the device and (y->host) in the
 * launcher. A division whose sign is not known goes through a helper, since // of a scalar on the
 * device truncates where ours floors. */
#include "codegen/python/py.h"
#include "program/parts/access.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/program.h"

#include <string.h>

static const char *function(WsTermWriter *t, WsFunc f)
{
    WsPy *y = t->printer;
    const char *module = y->dialect->module;
    if (f == WS_FUNC_MIN)
        return y->host ? "min" : ws_py_format(y, "%s.minimum", module);
    if (f == WS_FUNC_MAX)
        return y->host ? "max" : ws_py_format(y, "%s.maximum", module);
    if (f != WS_FUNC_POW2FLOOR)
        ws_py_refuse(y, y->op, ws_func_text(f), NULL);
    else if (!y->host)
        ws_py_refuse(y, y->op, "pow2floor on the device", "make it a `let` of the design");
    return ws_py_helper(y, "pow2floor");
}

static WsTerm divide(WsTermWriter *t, WsTerm a, WsTerm b, gboolean rest, gboolean positive)
{
    WsPy *y = t->printer;
    if (positive || y->host)
        return ws_term_infix(t, rest ? "%" : "//", WS_PREC_TERM, a, b, a.in);
    return ws_term_call(t, ws_py_helper(y, rest ? "floor_mod" : "floor_div"), a, b, a.in);
}

/* The device rounds towards 0, which is up where the sum is negative: a maximum of 0 or more hides
 * that. */
static WsTerm up(WsTermWriter *t, WsTerm a, WsTerm b, gboolean at_least_zero)
{
    WsPy *y = t->printer;
    if (!y->host && !at_least_zero && a.in.lo + b.in.lo < 0) {
        a = ws_term_op(t, WS_EXPR_SUB, ws_term_int(t, 0), a);
        return ws_term_op(t, WS_EXPR_SUB, ws_term_int(t, 0), divide(t, a, b, FALSE, FALSE));
    }
    return ws_term_call(t, ws_py_format(y, "%s.cdiv", y->host ? "triton" : y->dialect->module), a,
                        b, a.in);
}

static WsTerm choose(WsTermWriter *t, WsTerm cond, WsTerm a, WsTerm b)
{
    WsPy *y = t->printer;
    if (!y->host)
        return ws_term_unknown(
            ws_py_format(y, "%s.where(%s, %s, %s)", y->dialect->module, cond.s, a.s, b.s),
            WS_PREC_ATOM);
    const char *s = ws_py_format(y, "%s if %s else %s", ws_term_in(t, a, WS_PREC_OR),
                                 ws_term_in(t, cond, WS_PREC_OR), ws_term_in(t, b, WS_PREC_OR));
    return ws_term_unknown(s, WS_PREC_COND);
}

/* Scalars of the device are tensors: both sides of where, `and` and `or` are worked out there. */
static WsTerm no_zero(WsTermWriter *t, WsTerm divisor)
{
    WsPy *y = t->printer;
    const char *module = y->dialect->module;
    if (y->host)
        return divisor;
    if (divisor.in.lo >= 0)
        return ws_term(ws_py_format(y, "%s.maximum(%s, 1)", module, divisor.s), WS_PREC_ATOM, 1,
                       MAX(divisor.in.hi, 1));
    const char *s = ws_py_format(y, "%s.where(%s == 0, 1, %s)", module,
                                 ws_term_in(t, divisor, WS_PREC_BIT), divisor.s);
    return ws_term(s, WS_PREC_ATOM, divisor.in.lo, MAX(divisor.in.hi, 1));
}

static const WsTermName *variable(WsTermWriter *t, const WsExpr *x)
{
    const WsPy *y = t->printer;
    return x->var >= 0 && (guint)x->var < y->p->n_vars ? &y->var[x->var] : NULL;
}

/* T[i, …] outside of the tensor is 0 with us, and a pointer without a bound there. */
static WsTerm element(WsTermWriter *t, const WsExpr *x)
{
    WsPy *y = t->printer;
    if (y->plain) {
        const char *s = "";
        for (guint i = 0; i < x->n_args; i++)
            s = ws_py_format(y, "%s%s%s", s, i ? ", " : "", ws_term_uniform(t, x->arg[i]).s);
        s = ws_py_format(y, "%s[%s]", y->tensor[x->var], s);
        return ws_term(s, WS_PREC_ATOM, G_MININT32, G_MAXINT32);
    }
    if (y->dialect->element && !y->host)
        return ws_term(y->dialect->element(y, x), WS_PREC_ATOM, G_MININT32, G_MAXINT32);
    ws_py_refuse(
        y, y->op,
        ws_py_phrase(y, "an element of tensor %s in an expression", y->p->tensor[x->var].name),
        "read it by a `let` that no Python export needs, or use --as cuda");
    return ws_term_int(t, 0);
}

static const char *constant(WsTermWriter *t, const char *name)
{
    WsPy *y = t->printer;
    return y->host ? NULL : ws_py_ident(y, name);
}

static void refuse(WsTermWriter *t, const char *what)
{
    WsPy *y = t->printer;
    ws_py_refuse(y, y->op, what, NULL);
}

static void lost(WsTermWriter *t, const char *name)
{
    WsPy *y = t->printer;
    ws_term_lost(&y->error, y->op, y->agent, name);
}

const WsTermLanguage ws_py_language = {
    .and_word = { "and", WS_PREC_AND, WS_PREC_NOT },
    .or_word = { "or", WS_PREC_OR, WS_PREC_AND },
    .equality = WS_PREC_REL,
    .function = function,
    .up = up,
    .divide = divide,
    .choose = choose,
    .no_zero = no_zero,
    .variable = variable,
    .element = element,
    .constant = constant,
    .refuse = refuse,
    .lost = lost,
};

/* --- slots, parities, stages -------------------------------------------------------------------*/

const char *ws_py_count(WsPy *y, const char *name)
{
    return name ? ws_py_ident(y, name) : NULL;
}

const char *ws_py_plain(WsPy *y, const WsExpr *e)
{
    y->plain = TRUE;
    const char *s = ws_py_text(y, e);
    y->plain = FALSE;
    return s;
}

/* Slots of arrays lie one behind another: element * n + slot. */
static const char *in_array(WsPy *y, const WsExpr *element, guint array, guint n, WsTerm slot,
                            const char *count)
{
    if (array <= 1)
        return slot.s;
    WsTerm at = element ? ws_py_use(y, element) : ws_py_int(y, 0);
    gint64 known;
    if (n > 1) {
        WsTerm by = ws_py_int(y, n);
        if (count)
            by.s = count;
        if (ws_term_known(at, &known) && known == 0 && !y->terms.plus_zero)
            return slot.s;
        at = ws_term_infix(&y->terms, "*", WS_PREC_TERM, at, by, ws_interval_mul(at.in, by.in));
        return ws_py_op(y, WS_EXPR_ADD, at, slot).s;
    }
    return at.s;
}

static WsTerm ring(WsPy *y, const WsExpr *x, guint n, const char *count)
{
    if (n <= 1 || !x)
        return ws_py_int(y, 0);
    gboolean is_mod = x->op == WS_EXPR_MOD && x->arg[1]->op == WS_EXPR_INT && x->arg[1]->i == n;
    gint64 v;
    if (!is_mod || !count)
        return ws_py_use(y, x);
    WsTerm t = ws_py_use(y, x->arg[0]);
    if (ws_term_known(t, &v))
        return ws_py_int(y, v % n);
    return ws_term_infix(&y->terms, "%", WS_PREC_TERM, t, ws_term(count, WS_PREC_ATOM, n, n),
                         ws_interval(0, n - 1));
}

const char *ws_py_slot(WsPy *y, const WsOp *op)
{
    const WsBarrier *b = &y->p->barrier[op->barrier];
    const char *count = ws_py_count(y, b->slots_name);
    return in_array(y, op->element, b->array, b->slots, ring(y, op->slot, b->slots, count), count);
}

const char *ws_py_parity(WsPy *y, const WsOp *op)
{
    const WsBarrier *b = &y->p->barrier[op->barrier];
    y->terms.ring = b->slots;
    y->terms.ring_name = ws_py_count(y, b->slots_name);
    const char *s = ws_py_use(y, op->parity).s;
    y->terms.ring_name = NULL;
    return s;
}

const char *ws_py_stage(WsPy *y, const WsAccess *a)
{
    const WsBuffer *b = &y->p->buffer[a->buffer];
    const char *count = ws_py_count(y, b->stages_name);
    return in_array(y, a->element, b->array, b->stages, ring(y, a->stage, b->stages, count), count);
}
