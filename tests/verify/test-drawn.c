/* Expressions drawn at random: a form that is discharged holds at every size that the assumptions
 * allow (lemmas NAME, SAME, TRUTH), and a value lies in the range that the verifier works out from
 * the ranges of its names, far from 0, too. */
#include "../check/control.h"
#include "expr/expr.h"
#include "model/findings.h"
#include "program/program.h"
#include "verify/range.h"
#include "verify/verify.h"

#include <string.h>

enum { NAMES = 4, SIZES = 100 };

typedef struct {
    GRand *rand;
    const char *name[NAMES];
    gint64 value[NAMES];
    Range range[NAMES];
} Draw;

static guint any(Draw *d, guint n)
{
    return (guint)g_rand_int_range(d->rand, 0, (gint)n);
}

/* --- expressions ------------------------------------------------------------------------------ */
static WsExpr *number(Draw *d)
{
    static const gint64 all[] = { 0, 1, 1, 2, 2, 3, 4, 5, 6, 8, -1, -2, 7, 12 };
    return ws_expr_int(all[any(d, G_N_ELEMENTS(all))]);
}

static WsExpr *call(WsFunc func, WsExpr *a, WsExpr *b, WsExpr *c)
{
    WsExpr *arg[] = { a, b, c };
    return ws_expr_call(func, arg, c ? 3 : b ? 2 : 1);
}

static WsExpr *draw(Draw *d, guint depth);

static WsExpr *draw_truth(Draw *d, guint depth)
{
    if (depth > 1 && any(d, 3) == 0) {
        WsExpr *a = draw_truth(d, depth - 1);
        const guint how = any(d, 3);
        return how == 0
                   ? ws_expr_op(WS_EXPR_NOT, a, NULL)
                   : ws_expr_op(how == 1 ? WS_EXPR_AND : WS_EXPR_OR, a, draw_truth(d, depth - 1));
    }
    const guint below = MAX(depth, 1) - 1;
    WsExpr *a = draw(d, below), *b = any(d, 2) ? number(d) : draw(d, below);
    return ws_expr_op(WS_EXPR_LT + any(d, WS_EXPR_NE - WS_EXPR_LT + 1), a, b);
}

static WsExpr *draw(Draw *d, guint depth)
{
    static const WsExprOp sum[] = { WS_EXPR_ADD, WS_EXPR_SUB };
    static const WsExprOp by[] = { WS_EXPR_DIV, WS_EXPR_MOD };
    static const WsFunc extreme[] = { WS_FUNC_MIN, WS_FUNC_MAX };
    if (depth == 0 || any(d, 5) == 0)
        return any(d, 3) ? ws_expr_name(d->name[any(d, NAMES)]) : number(d);
    WsExpr *a = draw(d, depth - 1);
    switch (any(d, 8)) {
    case 0:
    case 1:
        return ws_expr_op(sum[any(d, 2)], a, draw(d, depth - 1));
    case 2:
        return ws_expr_op(WS_EXPR_MUL, a, number(d));
    case 3:
        return ws_expr_op(by[any(d, 2)], a, ws_expr_int(1 + any(d, 6)));
    case 4:
        return call(WS_FUNC_CDIV, a, ws_expr_int(1 + any(d, 6)), NULL);
    case 5:
        return call(extreme[any(d, 2)], a, draw(d, depth - 1), NULL);
    case 6:
        return any(d, 2) ? call(WS_FUNC_ABS, a, NULL, NULL)
                         : call(WS_FUNC_SELECT, draw_truth(d, depth - 1), a, draw(d, depth - 1));
    default:
        ws_expr_unref(a);
        return draw_truth(d, depth - 1);
    }
}

/* The same in other words; `wrong`: with a slip here and there. Takes nothing. */
static WsExpr *reworded(Draw *d, const WsExpr *e, gboolean wrong)
{
    static const WsExprOp turned[] = {
        [WS_EXPR_LT] = WS_EXPR_GT, [WS_EXPR_LE] = WS_EXPR_GE, [WS_EXPR_GT] = WS_EXPR_LT,
        [WS_EXPR_GE] = WS_EXPR_LE, [WS_EXPR_EQ] = WS_EXPR_EQ, [WS_EXPR_NE] = WS_EXPR_NE
    };
    static const WsExprOp other[] = {
        [WS_EXPR_LT] = WS_EXPR_GE, [WS_EXPR_LE] = WS_EXPR_GT, [WS_EXPR_GT] = WS_EXPR_LE,
        [WS_EXPR_GE] = WS_EXPR_LT, [WS_EXPR_EQ] = WS_EXPR_NE, [WS_EXPR_NE] = WS_EXPR_EQ
    };
    if (!e->n_args)
        return wrong && e->op == WS_EXPR_INT && any(d, 12) == 0 ? ws_expr_int(e->i + 1)
               : wrong && any(d, 40) == 0 ? ws_expr_name(d->name[any(d, NAMES)])
                                          : ws_expr_ref(e);
    WsExpr *a = reworded(d, e->arg[0], wrong), *again = ws_expr_ref(a), *made = NULL;
    WsExpr *b = e->n_args > 1 ? reworded(d, e->arg[1], wrong) : NULL;
    WsExpr *c = e->n_args > 2 ? reworded(d, e->arg[2], wrong) : NULL;
    const gboolean compares = e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE;
    const gboolean extreme = e->op == WS_EXPR_CALL && !c && b && e->func != WS_FUNC_CDIV;
    const WsExprOp op = wrong && compares && any(d, 12) == 0 ? WS_EXPR_LT + any(d, 6) : e->op;
    const WsFunc func = !(wrong && extreme && any(d, 12) == 0) ? e->func
                        : e->func == WS_FUNC_MIN               ? WS_FUNC_MAX
                                                               : WS_FUNC_MIN;
    gint64 m = 0;
    if (b)
        ws_expr_is_int(b, &m);
    if (any(d, 3) == 0 && e->op == WS_EXPR_MOD && m > 0) { /* x - m * (x / m) */
        WsExpr *q = ws_expr_op(WS_EXPR_DIV, a, b);
        made =
            ws_expr_op(WS_EXPR_SUB, ws_expr_ref(again), ws_expr_op(WS_EXPR_MUL, ws_expr_int(m), q));
    } else if (any(d, 3) == 0 && e->op == WS_EXPR_DIV && m > 0) {
        made = call(WS_FUNC_CDIV, ws_expr_op(WS_EXPR_SUB, a, ws_expr_int(m - 1)), b, NULL);
    } else if (any(d, 3) == 0 && e->op == WS_EXPR_CALL && func == WS_FUNC_CDIV && m > 0) {
        const gint64 up = m - 1 + (wrong && any(d, 8) == 0);
        made = ws_expr_op(WS_EXPR_DIV, ws_expr_op(WS_EXPR_ADD, a, ws_expr_int(up)), b);
    } else if (any(d, 3) == 0 && extreme) {
        const WsExprOp first = func == WS_FUNC_MIN ? WS_EXPR_LE : WS_EXPR_GE;
        WsExpr *is = ws_expr_op(first, ws_expr_ref(again), ws_expr_ref(b));
        made = call(WS_FUNC_SELECT, is, a, b);
    } else if (any(d, 3) == 0 && (extreme || e->op == WS_EXPR_ADD)) {
        made = extreme ? call(func, b, a, NULL) : ws_expr_op(e->op, b, a);
    } else if (any(d, 3) == 0 && e->op == WS_EXPR_CALL && func == WS_FUNC_ABS) {
        made = call(WS_FUNC_MAX, a, ws_expr_op(WS_EXPR_NEG, ws_expr_ref(again), NULL), NULL);
    } else if (any(d, 3) == 0 && c) {
        made = call(WS_FUNC_SELECT, ws_expr_op(WS_EXPR_NOT, a, NULL), c, b);
    } else if (any(d, 3) == 0 && e->op == WS_EXPR_SUB) {
        made = ws_expr_op(WS_EXPR_NEG, ws_expr_op(WS_EXPR_SUB, b, a), NULL);
    } else if (any(d, 3) == 0 && compares) {
        made = any(d, 2) ? ws_expr_op(turned[op], b, a)
                         : ws_expr_op(WS_EXPR_NOT, ws_expr_op(other[op], a, b), NULL);
    } else {
        made = e->op == WS_EXPR_CALL ? call(func, a, b, c) : ws_expr_op(op, a, b);
    }
    ws_expr_unref(again);
    return made;
}

static WsLookup value_of(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    const Draw *d = data;
    for (guint i = 0; i < NAMES; i++)
        if (!strcmp(leaf->name, d->name[i])) {
            *value = d->value[i];
            return WS_LOOKUP_KNOWN;
        }
    return WS_LOOKUP_UNKNOWN;
}

static gboolean value(Draw *d, const WsExpr *e, gint64 *out)
{
    const WsExprEnv env = { .integer = value_of, .data = d };
    return ws_expr_eval(e, &env, out, NULL);
}

/* --- forms ------------------------------------------------------------------------------------ */
static const char *const assumed[] = {
    "N >= 0",
    "N >= 1",
    "N % 4 == 0",
    "N <= M",
    "M == 3",
    "N + M <= 9 && M >= 2",
    "N - 2*M >= 1",
    "(N + M) % 6 == 2",
    "N % 6 == 5 && M % 4 == 3",
    "N >= 3 && N <= 4",
    "M - N <= 2",
    "2*N == 3*M",
    "N == M",
    "max(N, M) <= 7",
    "N*M <= 12",
    "N/4 >= 2",
    "abs(N - M) <= 1",
    "Q % 5 == N % 5",
    "d >= -2 && d <= 1",
    "d % 3 == 1",
    "min(N, M) == 2",
};

static WsProgram *program_of(const char *assume)
{
    g_autofree char *quoted = g_strconcat("'", assume, "'", NULL);
    const Row row = { .title = "forms", .a = "[SYNC]", .b = "[SYNC]", .assume = quoted };
    g_autofree char *design = design_of(&row);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(design, strlen(design), "forms", findings);
    WsProgram *p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    g_assert_nonnull(p);
    return p;
}

/* Sizes for which `assume` holds: N, M, Q, and d = M - N. */
static guint sizes(Draw *d, const char *assume, gint64 (*all)[NAMES])
{
    static const char *const name[] = { "N", "M", "Q", "d" };
    g_autoptr(WsExpr) e = ws_expr_parse(assume, NULL);
    guint found = 0;
    memcpy(d->name, name, sizeof name);
    for (guint i = 0; i < 20000 && found < SIZES; i++) {
        const guint most = any(d, 3) ? 8 : 40;
        gint64 holds;
        for (guint k = 0; k < 3; k++)
            d->value[k] = any(d, most);
        d->value[3] = d->value[1] - d->value[0];
        if (value(d, e, &holds) && holds)
            memcpy(all[found++], d->value, sizeof d->value);
    }
    g_assert_cmpuint(found, >=, 5);
    return found;
}

/* "_3" for the name of a variable. */
static WsExpr *numbered(const WsExpr *leaf, gpointer program, GError **error)
{
    g_autofree char *name =
        g_strdup_printf("_%d", leaf->name ? ws_program_find_var(program, leaf->name) : -1);
    return leaf->op == WS_EXPR_NAME ? ws_expr_name(name) : NULL;
}

static char *certificate(WsProgram *p, gboolean letter, const WsExpr *of, const WsExpr *as)
{
    g_autoptr(WsExpr) a = ws_expr_map(of, numbered, p, NULL);
    g_autoptr(WsExpr) b = ws_expr_map(as, numbered, p, NULL);
    g_autofree char *x = ws_expr_print(a), *y = ws_expr_print(b);
    return g_strdup_printf("warpstave-certificate 3\ndesign %s\npolicy 0\nsymbols 1\n"
                           "symbol 0 tiles launch - least 1 most - modulus 1 every 1 left 0 text \n"
                           "forms 1\nform %s %s as %s\nbegin end\nnodes 0\nend\n",
                           p->design_hash, letter ? "letter" : "number", x, y);
}

/* One form; TRUE if it is discharged. */
static gboolean holds(Draw *d, WsProgram *p, const char *assume, gint64 (*all)[NAMES], guint n)
{
    const gboolean letter = any(d, 2), wrong = any(d, 3) > 0;
    g_autoptr(WsExpr) e = letter ? draw_truth(d, 3) : draw(d, 2 + any(d, 2));
    g_autoptr(WsExpr) f = reworded(d, e, wrong);
    g_autofree char *x = ws_expr_print(e), *y = ws_expr_print(f);
    if (strlen(x) + strlen(y) > 200 || !strcmp(x, y))
        return FALSE;
    g_autofree char *text = certificate(p, letter, e, f);
    g_autoptr(WsVerification) v = ws_verify(p, text);
    if (v->answer != WS_VERIFIED) {
        g_assert_nonnull(strstr(v->reason, "not discharged"));
        return FALSE;
    }
    for (guint i = 0; i < n; i++) {
        gint64 a = 0, b = 0;
        memcpy(d->value, all[i], sizeof d->value);
        g_assert_true(value(d, e, &a) && value(d, f, &b));
        if (letter ? !a != !b : a != b) {
            g_test_fail_printf("\"%s\" as \"%s\" if %s: not at N = %d, M = %d, Q = %d", x, y,
                               assume, (int)all[i][0], (int)all[i][1], (int)all[i][2]);
            break;
        }
    }
    return TRUE;
}

static void forms_hold(void)
{
    Draw d = { .rand = g_rand_new_with_seed(g_test_rand_int()) };
    const guint tries = g_test_slow() ? 1000 : 60;
    guint discharged = 0;
    for (guint i = 0; i < G_N_ELEMENTS(assumed); i++) {
        g_autoptr(WsProgram) p = program_of(assumed[i]);
        gint64 all[SIZES][NAMES];
        const guint n = sizes(&d, assumed[i], all);
        for (guint k = 0; k < tries; k++)
            discharged += holds(&d, p, assumed[i], all, n);
    }
    g_test_message("%u forms in other words discharged", discharged);
    g_assert_cmpuint(discharged, >=, tries * G_N_ELEMENTS(assumed) / 10);
    g_rand_free(d.rand);
}

/* --- ranges ----------------------------------------------------------------------------------- */
typedef struct {
    RangeEnv env;
    const Draw *d;
} Ranges;

static gboolean range_of_name(RangeEnv *env, const WsExpr *e, gboolean truth, Range *out)
{
    const Draw *d = ((Ranges *)env)->d;
    for (guint i = 0; i < NAMES && e->op == WS_EXPR_NAME; i++)
        if (!strcmp(e->name, d->name[i])) {
            *out = d->range[i];
            return TRUE;
        }
    return FALSE;
}

static gint64 rest(gint64 a, gint64 b, gint64 m) /* of a - b */
{
    const __int128 r = ((__int128)a - b) % m;
    return (gint64)(r < 0 ? r + m : r);
}

/* A value, and something that is known of it. */
static void draw_range(Draw *d, guint i)
{
    static const gint64 around[] = { 0,
                                     0,
                                     1000,
                                     -((gint64)1 << 40),
                                     (gint64)1 << 62,
                                     -((gint64)1 << 62),
                                     G_MAXINT64 - 20,
                                     G_MININT64 + 20 };
    const gint64 x = around[any(d, G_N_ELEMENTS(around))] + any(d, 19) - 9, g = 1 + any(d, 7);
    Range *r = &d->range[i];
    d->value[i] = x;
    *r = any(d, 4)
             ? range_of(any(d, 3) ? x - any(d, 4) : NO_LOW, any(d, 3) ? x + any(d, 4) : NO_HIGH)
             : range_exact(x);
    if (r->low == r->high || any(d, 2))
        return;
    r->g = g;
    r->v = r->low == NO_LOW ? rest(x, 0, g) : r->low + rest(x, r->low, g);
}

static void values_lie_within(void)
{
    Draw d = { .rand = g_rand_new_with_seed(g_test_rand_int()), .name = { "x", "y", "z", "w" } };
    const guint tries = g_test_slow() ? 20000 : 1000;
    guint known = 0;
    for (guint n = 0; n < tries; n++) {
        g_autoptr(WsExpr) e = draw(&d, 2 + any(&d, 2));
        g_autoptr(WsExpr) zero = ws_expr_int(0);
        for (guint k = 0; k < 20; k++) {
            for (guint i = 0; i < NAMES; i++)
                draw_range(&d, i);
            Ranges env = { { .leaf = range_of_name, .either = any(&d, 2) }, &d };
            const Range r =
                any(&d, 2) ? range_eval(&env.env, e, FALSE) : range_difference(&env.env, e, zero);
            gint64 x;
            if (env.env.wrong || r.open || !value(&d, e, &x))
                continue;
            known++;
            if (x < r.low || x > r.high || (r.g ? rest(x, r.v, r.g) != 0 : x != r.v)) {
                g_autofree char *text = ws_expr_print(e);
                g_test_fail_printf("\"%s\" is not within its range", text);
            }
        }
    }
    g_assert_cmpuint(known, >=, 10 * tries);
    g_rand_free(d.rand);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/verify/drawn/forms hold", forms_hold);
    g_test_add_func("/verify/drawn/values lie within", values_lie_within);
    return g_test_run();
}
