/* How C++ says uniform integer expressions (term.h). */
#include "codegen/cuda/cuda.h"
#include "program/parts/tensor.h"
#include "program/program.h"

#include <math.h>
#include <string.h>

static const char *function(WsTermWriter *t, WsFunc f)
{
    return ws_func_text(f);
}

/* C++ rounds to zero: only where neither side is negative do its operators say what ours do. What
 * may be 0 or -1 is no divisor of C++ at all. */
static WsTerm divide(WsTermWriter *t, WsTerm a, WsTerm b, gboolean rest, gboolean positive)
{
    static const char *const name[][2] = { { "wrap_div", "wrap_mod" },
                                           { "floor_div", "floor_mod" },
                                           { "quot", "mod" } };
    return ws_term_call(t, name[b.in.lo > 0 ? 1 + positive : 0][rest], a, b, a.in);
}

static WsTerm up(WsTermWriter *t, WsTerm a, WsTerm b, gboolean at_least_zero)
{
    return ws_term_call(t, b.in.lo > 0 ? "cdiv" : "wrap_cdiv", a, b, a.in);
}

static WsTerm choose(WsTermWriter *t, WsTerm cond, WsTerm a, WsTerm b)
{
    const char *s = ws_term_format(t, "%s ? %s : %s", ws_term_in(t, cond, WS_PREC_OR),
                                   ws_term_in(t, a, WS_PREC_OR), ws_term_in(t, b, WS_PREC_OR));
    return ws_term_unknown(s, WS_PREC_COND);
}

static const WsTermName *variable(WsTermWriter *t, const WsExpr *x)
{
    WsCuda *c = t->printer;
    const WsTermName *name = x->var >= 0 && (guint)x->var < c->p->n_vars ? &c->var[x->var] : NULL;
    if (name && name->bound && name->stale && !c->in_leader)
        ws_cuda_step_error(c, c->op, "a counter that the leader alone advanced");
    return name;
}

/* T[i, ...]: 0 outside of the tensor; one value per warp. */
static WsTerm element(WsTermWriter *terms, const WsExpr *x)
{
    WsCuda *c = terms->printer;
    const WsTensor *t = &c->p->tensor[x->var];
    GString *s = g_string_new(NULL);
    gboolean outer = terms->nonneg;
    terms->nonneg = FALSE;
    for (guint d = 0; d < t->rank; d++)
        g_string_append_printf(s, "%s%s", d ? ", " : "", ws_term_uniform(terms, x->arg[d]).s);
    terms->nonneg = outer;
    gboolean alone = c->in_leader || c->per_thread;
    const char *text = ws_term_format(terms, alone ? "%s_at(%s)" : "uniform(%s_at(%s))",
                                      c->tensor[x->var], s->str);
    g_string_free(s, TRUE);
    if (ws_dtype_real(t->dtype))
        ws_cuda_step_error(c, c->op, "a float tensor in a uniform expression");
    gint64 lo = t->dtype == WS_DTYPE_I8 ? -128 : t->dtype == WS_DTYPE_U8 ? 0 : G_MININT32;
    gint64 hi = t->dtype == WS_DTYPE_I8 ? 127 : t->dtype == WS_DTYPE_U8 ? 255 : G_MAXINT32;
    return ws_term(text, WS_PREC_ATOM, lo, hi);
}

static const char *constant(WsTermWriter *t, const char *name)
{
    return ws_cuda_ident(t->printer, name);
}

static gboolean decided(WsTermWriter *t, const WsExpr *x, WsTerm *out)
{
    WsCuda *c = t->printer;
    gint64 known;
    if (!c->cuts || !ws_cuts_decide(c->cuts, x, &known))
        return FALSE;
    *out = ws_term_int(t, known);
    return TRUE;
}

static void refuse(WsTermWriter *t, const char *what)
{
    WsCuda *c = t->printer;
    ws_cuda_step_error(c, c->op, what);
}

static void lost(WsTermWriter *t, const char *name)
{
    WsCuda *c = t->printer;
    ws_term_lost(&c->error, c->op, c->agent, name);
}

const WsTermLanguage ws_cuda_language = {
    .and_word = { "&&", WS_PREC_AND, WS_PREC_AND },
    .or_word = { "||", WS_PREC_EQ, WS_PREC_EQ }, /* compilers warn of a && b || c */
    .equality = WS_PREC_EQ,
    .least = "(-2147483647 - 1)",
    .function = function,
    .up = up,
    .divide = divide,
    .choose = choose,
    .variable = variable,
    .element = element,
    .constant = constant,
    .decided = decided,
    .refuse = refuse,
    .lost = lost,
};

gboolean ws_cuda_constant(WsCuda *c, const WsExpr *x, guint *out)
{
    gint64 v;
    if (!ws_term_constant(&c->terms, x, &v))
        return FALSE;
    *out = (guint)v;
    return v >= 0 && v <= G_MAXINT32;
}

const char *ws_cuda_real(WsCuda *c, double x)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    const float r = (float)x; /* nine digits give back the float, not what was rounded to it */
    if (isinf(r))
        return r < 0 ? "-INFINITY" : "INFINITY";
    g_ascii_formatd(buffer, sizeof buffer, "%.9g", r);
    return ws_cuda_format(c, strpbrk(buffer, ".e") ? "%sf" : "%s.0f", buffer);
}
