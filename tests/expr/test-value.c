/* What expressions are worth: exact evaluation, folding, mapping, affine form. */
#include "expr/expr.h"

#include <math.h>
#include <string.h>

/* a = 7, b = -3, z = 0, half = 0.5 (real); T[i] = 10*i inside 0..3; everything else unknown. */
static WsLookup integer(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    static const struct {
        const char *name;
        gint64 value;
    } known[] = {
        { "a", 7 }, { "b", -3 }, { "z", 0 }, { "big", G_MAXINT64 }, { "low", G_MININT64 }
    };
    for (guint i = 0; leaf->op == WS_EXPR_NAME && i < G_N_ELEMENTS(known); i++)
        if (strcmp(known[i].name, leaf->name) == 0) {
            *value = known[i].value;
            return WS_LOOKUP_KNOWN;
        }
    return WS_LOOKUP_UNKNOWN;
}

static WsLookup real(gpointer data, const WsExpr *leaf, double *value, GError **error)
{
    *value = 0.5;
    return strcmp(leaf->name, "half") == 0 ? WS_LOOKUP_KNOWN : WS_LOOKUP_UNKNOWN;
}

static WsLookup element(gpointer data, const WsExpr *leaf, const gint64 *at, gint64 *value,
                        GError **error)
{
    *value = at[0] >= 0 && at[0] < 4 ? 10 * at[0] : 0;
    return strcmp(leaf->name, "T") == 0 ? WS_LOOKUP_KNOWN : WS_LOOKUP_UNKNOWN;
}

static const WsExprEnv env = { integer, real, element, NULL };

static WsExpr *parse(const char *text)
{
    g_autoptr(GError) error = NULL;
    WsExpr *e = ws_expr_parse(text, &error);
    g_assert_no_error(error);
    return e;
}

static void evaluate(void)
{
    static const struct {
        const char *text;
        gint64 value;
    } cases[] = {
        { "1 + 2*3", 7 },
        { "10 - 4 - 3", 3 },
        { "100/10/5", 2 },
        { "7/2", 3 },
        { "-7/2", -4 },
        { "7/-2", -4 },
        { "-7/-2", 3 },
        { "7 % 3", 1 },
        { "-7 % 3", 2 },
        { "7 % -3", -2 },
        { "-7 % -3", -1 },
        { "6 % -3", 0 },
        { "low % -1", 0 },
        { "big/-1", -G_MAXINT64 },
        { "cdiv(7, 2)", 4 },
        { "cdiv(-7, 2)", -3 },
        { "cdiv(8, 2)", 4 },
        { "cdiv(0, 5)", 0 },
        { "cdiv(7, -2)", -3 },
        { "min(3, 1, 2) + max(3, 9, 2)", 10 },
        { "abs(b) + abs(a)", 10 },
        { "pow2floor(0)", 0 },
        { "pow2floor(1)", 1 },
        { "pow2floor(1023)", 512 },
        { "pow2floor(-5)", 0 },
        { "pow2floor(big)", G_GINT64_CONSTANT(1) << 62 },
        { "select(a > 0, 1, 1/z)", 1 },
        { "select(0, nobody, 4)", 4 },
        { "z && 1/z", 0 },
        { "a || nobody", 1 },
        { "!a", 0 },
        { "!z && true", 1 },
        { "5 && 9", 1 },
        { "(1 < 2) + (2 <= 2) + (3 > 4) + (4 >= 5) + (1 == 1) + (1 != 1)", 3 },
        { "-a*b", 21 },
        { "- -a", 7 },
        { "T[2] + T[4] + T[-1]", 20 },
        { "T[T[0] + 3]", 30 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsExpr) e = parse(cases[i].text);
        g_autoptr(GError) error = NULL;
        gint64 v = 12345;
        g_assert_true(ws_expr_eval(e, &env, &v, &error));
        g_assert_no_error(error);
        if (v != cases[i].value)
            g_error("%s is %" G_GINT64_FORMAT, cases[i].text, v);
    }
}

static void evaluate_errors(void)
{
    static const struct {
        const char *text;
        WsExprError code;
    } cases[] = {
        { "big + 1", WS_EXPR_ERROR_OVERFLOW },
        { "low - 1", WS_EXPR_ERROR_OVERFLOW },
        { "big*2", WS_EXPR_ERROR_OVERFLOW },
        { "-low", WS_EXPR_ERROR_OVERFLOW },
        { "low/-1", WS_EXPR_ERROR_OVERFLOW },
        { "abs(low)", WS_EXPR_ERROR_OVERFLOW },
        { "cdiv(low, -1)", WS_EXPR_ERROR_OVERFLOW },
        { "1/z", WS_EXPR_ERROR_DIVIDE },
        { "1 % z", WS_EXPR_ERROR_DIVIDE },
        { "cdiv(1, z)", WS_EXPR_ERROR_DIVIDE },
        { "nobody", WS_EXPR_ERROR_NAME },
        { "k.total", WS_EXPR_ERROR_NAME },
        { "U[1]", WS_EXPR_ERROR_NAME },
        { "half", WS_EXPR_ERROR_NAME },
        { "1.5", WS_EXPR_ERROR_TYPE },
        { "inf > 0", WS_EXPR_ERROR_TYPE },
        { "exp2(1)", WS_EXPR_ERROR_TYPE },
        { "sum(a < 3, b)", WS_EXPR_ERROR_TYPE },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsExpr) e = parse(cases[i].text);
        g_autoptr(GError) error = NULL;
        gint64 v = 0;
        g_assert_false(ws_expr_eval(e, &env, &v, &error));
        g_assert_error(error, WS_EXPR_ERROR, (gint)cases[i].code);
        g_assert_false(ws_expr_eval(e, &env, &v, NULL));
    }
}

static void evaluate_real(void)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        { "half*log2e", 0.5 * M_LOG2E },
        { "7/2", 3 },
        { "7/2.0", 3.5 },
        { "a*half", 3.5 },
        { "-inf", -INFINITY },
        { "min(1, half)", 0.5 },
        { "max(1, half)", 1 },
        { "sqrt(16)", 4 },
        { "select(half < 1, 2.5, 0)", 2.5 },
        { "rcp(4)", 0.25 },
        { "abs(-half)", 0.5 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsExpr) e = parse(cases[i].text);
        g_autoptr(GError) error = NULL;
        double v = NAN;
        g_assert_true(ws_expr_eval_real(e, &env, &v, &error));
        g_assert_no_error(error);
        g_assert_cmpfloat(v, ==, cases[i].value);
    }
    g_autoptr(WsExpr) mod = parse("half % 2");
    double v;
    g_assert_false(ws_expr_eval_real(mod, &env, &v, NULL));
}

static void fold(void)
{
    static const struct {
        const char *text, *print;
    } cases[] = {
        { "a + 1", "8" },
        { "x + z", "x" },
        { "z + x", "x" },
        { "x - z", "x" },
        { "x*1 + 0", "x" },
        { "1*x/1", "x" },
        { "x*0", "x*0" }, /* x may be an array of infinities */
        { "k.total*z", "0" },
        { "k.total % 1", "0" },
        { "z*(k.total/4 + k.total%4)", "0" },
        { "z*(4/k.total)", "0*(4/k.total)" }, /* no value where it is divided by 0 */
        { "(1 + 4%k.total)*z", "(1 + 4 % k.total)*0" },
        { "z*cdiv(4, k.total)", "0*cdiv(4, k.total)" },
        { "4/k.total % 1", "4/k.total % 1" },
        { "x*(a - 5)", "x*2" },
        { "-(a)", "-7" },
        { "select(a > 0, x, y)", "x" },
        { "select(z, x/z, y)", "y" },
        { "select(x, 1/z, a)", "select(x, 1/z, 7)" },
        { "a && x < y", "x < y" },
        { "a && x", "x != 0" },
        { "z && x", "0" },
        { "a || x", "1" },
        { "z || x", "x != 0" },
        { "x && a", "x != 0" },
        { "x && z", "0" },
        { "x < y || z", "x < y" },
        { "min(a, 3, x)", "min(7, 3, x)" },
        { "min(a, 3)", "3" },
        { "T[a - 5] + x", "20 + x" },
        { "T[x]", "T[x]" },
        { "half*x", "0.5*x" },
        { "!z", "1" },
        { "sum(i < a, 3)", "sum(i < 7, 3)" },
        { "rowmax(a*2)", "rowmax(14)" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsExpr) e = parse(cases[i].text);
        g_autoptr(GError) error = NULL;
        g_autoptr(WsExpr) f = ws_expr_fold(e, &env, &error);
        g_assert_no_error(error);
        g_autofree char *text = ws_expr_print(f);
        if (strcmp(text, cases[i].print) != 0)
            g_error("%s folds to %s", cases[i].text, text);
    }
    static const char *const bad[] = { "x + 1/z",       "big + 1",  "x*(big*2)",
                                       "min(x, 1 % z)", "1/z && x", "select(1/z, x, y)",
                                       "T[1/z]" };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(WsExpr) e = parse(bad[i]);
        g_autoptr(GError) error = NULL;
        g_assert_null(ws_expr_fold(e, &env, &error));
        g_assert_nonnull(error);
    }
}

static void affine(void)
{
    static const struct {
        const char *text, *form;
    } cases[] = {
        { "3", "3" },
        { "x + 2*y - 5 + x", "-5 +2*x +2*y" },
        { "-(x - y)*3", "0 -3*x +3*y" },
        { "x - x", "0" },
        { "(x + 1)*(2 + 2)", "4 +4*x" },
        { "x*y + y*2", "0 +1*x*y +2*y" },
        { "2*(k.total + cdiv(K, 64)) + 1", "1 +2*cdiv(K, 64) +2*k.total" },
        { "x/2 + x % 2", "0 +1*x % 2 +1*x/2" },
        { "cdiv(10, 4) + x", "3 +1*x" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsExpr) e = parse(cases[i].text);
        WsAffine a;
        g_assert_true(ws_expr_affine(e, &a));
        g_autoptr(GString) text = g_string_new(NULL);
        g_string_printf(text, "%" G_GINT64_FORMAT, a.constant);
        for (guint t = 0; t < a.n; t++) {
            g_autofree char *term = ws_expr_print(a.term[t]);
            g_string_append_printf(text, " %+" G_GINT64_FORMAT "*%s", a.factor[t], term);
        }
        ws_affine_clear(&a);
        g_assert_cmpstr(text->str, ==, cases[i].form);
    }
    g_autoptr(WsExpr) e = parse("x*9223372036854775807 + x");
    WsAffine a;
    g_assert_false(ws_expr_affine(e, &a)); /* nothing is left to clear */
    g_assert_true(a.n == 0 && !a.term && !a.factor);
}

static WsExpr *replace(const WsExpr *leaf, gpointer data, GError **error)
{
    if (leaf->op == WS_EXPR_NAME && strcmp(leaf->name, "bad") == 0) {
        g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_NAME, "unknown name bad");
        return NULL;
    }
    if (leaf->op == WS_EXPR_NAME && strcmp(leaf->name, "x") == 0)
        return ws_expr_var(3, "x");
    if (leaf->op == WS_EXPR_NAME && strcmp(leaf->name, "n") == 0)
        return ws_expr_int(4);
    if (leaf->op == WS_EXPR_INDEX)
        return ws_expr_ref(leaf->arg[0]);
    return NULL;
}

static void count(const WsExpr *node, gpointer data)
{
    ++*(guint *)data;
}

static void map(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsExpr) e = parse("x + T[x*2] - y + -n");
    g_autoptr(WsExpr) m = ws_expr_map(e, replace, NULL, &error);
    g_assert_no_error(error);
    g_autofree char *text = ws_expr_print(m);
    g_assert_cmpstr(text, ==, "x + x*2 - y + -4");
    g_assert_cmpint(m->arg[0]->arg[0]->arg[0]->op, ==, WS_EXPR_VAR);
    guint nodes = 0;
    ws_expr_visit(m, count, &nodes);
    g_assert_cmpuint(nodes, ==, 9);
    g_autoptr(WsExpr) bad = parse("x + min(1, bad)");
    g_assert_null(ws_expr_map(bad, replace, NULL, &error));
    g_assert_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_NAME);
}

static void equality(void)
{
    static const char *const texts[] = { "x",         "y",     "1",
                                         "1.0",       "true",  "x.total",
                                         "x + y",     "y + x", "x - y",
                                         "T[x]",      "U[x]",  "min(x, y)",
                                         "max(x, y)", "log2e", "1.4426950408889634",
                                         "inf" };
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        for (guint j = 0; j < G_N_ELEMENTS(texts); j++) {
            g_autoptr(WsExpr) a = parse(texts[i]);
            g_autoptr(WsExpr) b = parse(texts[j]);
            g_assert_cmpint(ws_expr_equal(a, b), ==, i == j);
        }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/expr/value/evaluate", evaluate);
    g_test_add_func("/expr/value/evaluate-errors", evaluate_errors);
    g_test_add_func("/expr/value/evaluate-real", evaluate_real);
    g_test_add_func("/expr/value/fold", fold);
    g_test_add_func("/expr/value/affine", affine);
    g_test_add_func("/expr/value/map", map);
    g_test_add_func("/expr/value/equality", equality);
    return g_test_run();
}
