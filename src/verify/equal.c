/* Lemma SAME: two expressions are equal because of what is assumed. Their difference is shown to be
 * no less than 0, and no more: case by case where it has a min, a choice, a comparison in it, by
 * x - rest = m * floor(x / m) where it has a quotient. */
#include "verify/facts.h"
#include "verify/text.h"

enum { MOST_STEPS = 64, MOST_NODES = 200 };

static gboolean never_below_0(const Facts *f, const WsExpr *e, guint *steps);

/* `e` with `with` for every part that is `part`. */
static WsExpr *replaced(const WsExpr *e, const WsExpr *part, const WsExpr *with)
{
    if (ws_expr_equal(e, part))
        return ws_expr_ref(with);
    if (!e->n_args || e->op == WS_EXPR_INDEX)
        return ws_expr_ref(e);
    g_autofree WsExpr **arg = g_new0(WsExpr *, e->n_args);
    for (guint i = 0; i < e->n_args; i++)
        arg[i] = replaced(e->arg[i], part, with);
    return text_with(e, arg);
}

/* If `a` OP `b` (and it may) `part` is worth `with`: then `e` is not below 0. */
static gboolean in_case(const Facts *f, const WsExpr *e, const WsExpr *part, const WsExpr *with,
                        WsExprOp op, const WsExpr *a, const WsExpr *b, guint *steps)
{
    Facts here;
    facts_copy(&here, f);
    g_autoptr(WsExpr) holds = ws_expr_op(op, ws_expr_ref(a), ws_expr_ref(b));
    g_autoptr(WsExpr) there = replaced(e, part, with);
    const gboolean fine = !facts_give(&here, holds) || never_below_0(&here, there, steps);
    facts_clear(&here);
    return fine;
}

static gboolean has_cases(const WsExpr *e)
{
    const gboolean extreme = e->n_args > 1 && (e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX);
    return text_compares(e) ||
           (e->op == WS_EXPR_CALL && (extreme || e->func == WS_FUNC_ABS ||
                                      (e->func == WS_FUNC_SELECT && text_compares(e->arg[0]))));
}

/* A part that is one thing or another, its own parts first; NULL: none. */
static const WsExpr *part_with_cases(const WsExpr *e)
{
    const WsExpr *found = NULL;
    const gboolean select = e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT && has_cases(e);
    for (guint i = select; i < e->n_args && !found && e->op != WS_EXPR_INDEX; i++)
        found = part_with_cases(e->arg[i]);
    return found ? found : has_cases(e) ? e : NULL;
}

static gboolean by_cases(const Facts *f, const WsExpr *e, const WsExpr *part, guint *steps)
{
    static const WsExprOp other[] = {
        [WS_EXPR_LT] = WS_EXPR_GE, [WS_EXPR_LE] = WS_EXPR_GT, [WS_EXPR_GT] = WS_EXPR_LE,
        [WS_EXPR_GE] = WS_EXPR_LT, [WS_EXPR_EQ] = WS_EXPR_NE, [WS_EXPR_NE] = WS_EXPR_EQ
    };
    g_autoptr(WsExpr) zero = ws_expr_int(0), one = ws_expr_int(1);
    const gboolean select = part->op == WS_EXPR_CALL && part->func == WS_FUNC_SELECT;
    if (select || text_compares(part)) {
        const WsExpr *c = select ? part->arg[0] : part;
        return in_case(f, e, part, select ? part->arg[1] : one, c->op, c->arg[0], c->arg[1],
                       steps) &&
               in_case(f, e, part, select ? part->arg[2] : zero, other[c->op], c->arg[0], c->arg[1],
                       steps);
    }
    g_autoptr(GPtrArray) rest = g_ptr_array_new(); /* all but the first */
    for (guint i = 1; i < part->n_args; i++)
        g_ptr_array_add(rest, ws_expr_ref(part->arg[i]));
    g_autoptr(WsExpr) others = rest->len > 1
                                   ? ws_expr_call(part->func, (WsExpr **)rest->pdata, rest->len)
                                   : ws_expr_ref(rest->len ? rest->pdata[0] : zero);
    if (rest->len == 1)
        ws_expr_unref(rest->pdata[0]);
    const WsExpr *a = part->arg[0], *b = others;
    g_autoptr(WsExpr) against = ws_expr_op(WS_EXPR_NEG, ws_expr_ref(a), NULL);
    const gboolean least = part->func == WS_FUNC_MIN;
    const WsExpr *second = part->func == WS_FUNC_ABS ? against : b;
    /* numbers come first: where both are alike the other one says more */
    return in_case(f, e, part, a, least ? WS_EXPR_LT : WS_EXPR_GT, a, b, steps) &&
           in_case(f, e, part, second, least ? WS_EXPR_GE : WS_EXPR_LE, a, b, steps);
}

/* m times the sum, with m * floor(x / m) = x - rest in the place of one of its terms. */
static gboolean by_quotient(const Facts *f, WsAffine *sum, guint n, guint *steps)
{
    gint64 m;
    const WsExpr *t = sum->term[n];
    if (t->op != WS_EXPR_DIV || !ws_expr_is_int(t->arg[1], &m) || m < 2)
        return FALSE;
    Facts here = *f;
    const Range r = facts_range(&here, t->arg[0]);
    const gint64 rest = r.low == r.high      ? range_mod(r.low, m)
                        : r.g % m == 0       ? range_mod(r.v, m)
                        : sum->factor[n] > 0 ? m - 1
                                             : 0;
    WsExpr *x = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(t->arg[0]), ws_expr_int(rest));
    x = ws_expr_op(WS_EXPR_MUL, ws_expr_int(sum->factor[n]), x);
    sum->factor[n] = 0;
    WsExpr *others = ws_expr_op(WS_EXPR_MUL, ws_expr_int(m), text_sum(sum));
    g_autoptr(WsExpr) all = ws_expr_op(WS_EXPR_ADD, others, x);
    return never_below_0(f, all, steps);
}

static gboolean never_below_0(const Facts *f, const WsExpr *given, guint *steps)
{
    g_autoptr(WsExpr) e = text_normal(given);
    Facts here = *f;
    if (facts_range(&here, e).low >= 0)
        return TRUE;
    if (*steps == 0)
        return FALSE;
    --*steps;
    const WsExpr *part = part_with_cases(e);
    if (part)
        return by_cases(f, e, part, steps);
    WsAffine sum;
    gboolean shown = FALSE;
    const gboolean fits = ws_expr_affine(e, &sum);
    guint n = 0;
    while (n < sum.n && sum.term[n]->op != WS_EXPR_DIV)
        n++;
    shown = fits && n < sum.n && by_quotient(f, &sum, n, steps);
    ws_affine_clear(&sum);
    return shown;
}

/* Names that have one value are it: what is known of sums then is of fewer terms. */
static WsExpr *put_value(const WsExpr *leaf, gpointer data, GError **error)
{
    Facts here = *(const Facts *)data;
    const Range r = facts_range(&here, leaf);
    return leaf->op == WS_EXPR_VAR && r.low == r.high ? ws_expr_int(r.low) : NULL;
}

gboolean facts_equal(const Facts *f, const WsExpr *a, const WsExpr *b)
{
    gboolean equal = text_nodes(a) <= MOST_NODES && text_nodes(b) <= MOST_NODES &&
                     !text_divides(a) && !text_divides(b);
    for (guint i = 0; i < 2 && equal; i++) {
        guint steps = MOST_STEPS;
        g_autoptr(WsExpr) d =
            ws_expr_op(WS_EXPR_SUB, ws_expr_ref((i ? b : a)), ws_expr_ref((i ? a : b)));
        g_autoptr(WsExpr) fixed = ws_expr_map(d, put_value, (gpointer)f, NULL);
        equal = fixed && never_below_0(f, fixed, &steps);
    }
    return equal;
}
