/* Expression texts: what parses, how it prints, what is refused and where. */
#include "expr/expr.h"

#include <string.h>

typedef struct {
    const char *text, *print; /* print NULL: same as text */
} RoundTrip;

static const RoundTrip round_trips[] = {
    { "1", NULL },
    { " 1 ", "1" },
    { "-1", NULL },
    { "- 1", "-1" },
    { "-(1)", "-1" },
    { "--1", NULL },
    { "-0", "0" },
    { "9223372036854775807", NULL },
    { "-9223372036854775808", NULL },
    { "1.5", NULL },
    { "1.", "1.0" },
    { "1e3", "1000.0" },
    { "1.25E-3", "0.00125" },
    { "2e+30", "2e+30" },
    { "0.1", NULL },
    { "-0.5", NULL },
    { "-0.0", NULL },
    { "true && false", NULL },
    { "-inf", NULL },
    { "scale*log2e + ln2", NULL },
    { "k.total", NULL },
    { "k . total", "k.total" },
    { "k.total+1", "k.total + 1" },
    { "a*b/c%d", "a*b/c % d" },
    { "a % b", NULL },
    { "a*(b*c)", NULL },
    { "(a*b)*c", "a*b*c" },
    { "a-(b-c)", "a - (b - c)" },
    { "(a-b)-c", "a - b - c" },
    { "a - (b + c)*d", NULL },
    { "(((a)))", "a" },
    { "a < b && c >= d || !e", "a < b && c >= d || !e" },
    { "(a || b) && c", NULL },
    { "a || b && c", NULL },
    { "!(a && b)", NULL },
    { "!a < b", "!a < b" },
    { "!(a < b)", "!a < b" },
    { "(!a) < b", "(!a) < b" },
    { "(!a) + 1", "(!a) + 1" },
    { "(a < b) < c", "(a < b) < c" },
    { "(a == b) != (c == d)", NULL },
    { "-a*b", NULL },
    { "-(a*b)", NULL },
    { "a*-b", NULL },
    { "a - -b", NULL },
    { "a - -1", NULL },
    { "-a.total", NULL },
    { "cdiv(K,BK)", "cdiv(K, BK)" },
    { "min(a, b, c)", NULL },
    { "select(c > 0, a, b)", NULL },
    { "KV[I[t,j],d]", "KV[I[t, j], d]" },
    { "sum(k < K, A[i,k]*B[k,j])", "sum(k < K, A[i, k]*B[k, j])" },
    { "sum(k<K, l < k + 1, A[i, k])", "sum(k < K, l < k + 1, A[i, k])" },
    { "max(x, x, -inf)", NULL },
    { "rowmax(select(col <= row, s, -inf))", NULL },
    { "total + rows + cols + t", NULL },
    { "truely + minimum", NULL },
    { "_x9", NULL },
};

static void round_trip(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(round_trips); i++) {
        const RoundTrip *c = &round_trips[i];
        g_autoptr(GError) error = NULL;
        g_autoptr(WsExpr) e = ws_expr_parse(c->text, &error);
        g_assert_no_error(error);
        g_autofree char *text = ws_expr_print(e);
        g_assert_cmpstr(text, ==, c->print ? c->print : c->text);
        g_autoptr(WsExpr) again = ws_expr_parse(text, &error);
        g_assert_no_error(error);
        g_assert_true(ws_expr_equal(e, again));
    }
}

typedef struct {
    const char *text;
    WsExprError code;
    guint column;
    const char *says;
} Refusal;

#define S WS_EXPR_ERROR_SYNTAX
static const Refusal refusals[] = {
    { "", S, 1, "expected a number, a name or '(', found the end" },
    { "   ", S, 4, "found the end" },
    { "1 +", S, 4, "a number, a name or '('" },
    { "(1", S, 3, "expected an operator or ')', found the end" },
    { "1)", S, 2, "expected an operator or the end, found ')'" },
    { "a b", S, 3, "found 'b'" },
    { "2x", S, 2, "found 'x'" },
    { "a < b < c", S, 7, "comparisons do not chain" },
    { "a == b != c", S, 8, "comparisons do not chain" },
    { "a = b", S, 3, "an operator or the end" },
    { "a & b", S, 3, "found '&'" },
    { "a + !b", S, 5, "found '!'" },
    { ".5", S, 1, "found '.'" },
    { "a.b", S, 3, "expected 'total', found 'b'" },
    { "a.totals", S, 3, "expected 'total'" },
    { "f(1)", WS_EXPR_ERROR_NAME, 1, "no function 'f'" },
    { "cdiv(1)", S, 1, "cdiv expects 2 arguments, found 1" },
    { "1 + abs(1, 2)", S, 5, "abs expects 1 argument, found 2" },
    { "min(1)", S, 1, "at least 2 arguments" },
    { "min()", S, 1, "found 0" },
    { "min(1, 2", S, 9, "',' or ')'" },
    { "T[", S, 3, "a number" },
    { "T[]", S, 3, "a number" },
    { "T[1", S, 4, "',' or ']'" },
    { "1 + é", S, 5, "found 'é'" },
    { "é + 1", S, 1, "found 'é'" },
    { "a\x01", S, 2, "byte 0x01" },
    { "a + \xff", S, 5, "byte 0xff" },
    { "9223372036854775808", WS_EXPR_ERROR_OVERFLOW, 1, "does not fit in 64 bits" },
    { "1 + 99999999999999999999999", WS_EXPR_ERROR_OVERFLOW, 5, "does not fit" },
    { "-9223372036854775809", WS_EXPR_ERROR_OVERFLOW, 2, "does not fit" },
    { "1e999", WS_EXPR_ERROR_OVERFLOW, 1, "does not fit in a double" },
    { "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcd", S, 1,
      "name of 64 characters" },
};
#undef S

static void refusal(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(refusals); i++) {
        const Refusal *c = &refusals[i];
        g_autoptr(GError) error = NULL;
        g_autoptr(WsExpr) e = ws_expr_parse(c->text, &error);
        g_assert_null(e);
        g_assert_error(error, WS_EXPR_ERROR, (gint)c->code);
        g_autofree char *at = g_strdup_printf("column %u: ", c->column);
        if (!g_str_has_prefix(error->message, at) || !strstr(error->message, c->says))
            g_error("'%s': '%s' lacks '%s' '%s'", c->text, error->message, at, c->says);
    }
}

static char *repeated(const char *text, guint n, const char *middle, const char *tail)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < n; i++)
        g_string_append(s, text);
    g_string_append(s, middle);
    for (guint i = 0; tail && i < n; i++)
        g_string_append(s, tail);
    return g_string_free(s, FALSE);
}

static void depth(void)
{
    static const struct {
        const char *head, *middle, *tail;
        guint fits, fails;
    } cases[] = {
        { "(", "1", ")", 60, 70 },          { "-", "x", NULL, 60, 100000 },
        { "!", "x", NULL, 60, 100000 },     { "abs(", "1", ")", 60, 100000 },
        { "x + ", "1", NULL, 900, 300000 }, { "T[", "1", "]", 60, 100000 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *good =
            repeated(cases[i].head, cases[i].fits, cases[i].middle, cases[i].tail);
        g_autoptr(WsExpr) e = ws_expr_parse(good, &error);
        g_assert_no_error(error);
        g_assert_nonnull(e);
        g_autofree char *bad =
            repeated(cases[i].head, cases[i].fails, cases[i].middle, cases[i].tail);
        g_assert_null(ws_expr_parse(bad, &error));
        g_assert_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_DEPTH);
    }
}

static void references(void)
{
    static const RoundTrip good[] = {
        { "a", NULL },
        { "full[replica]", NULL },
        { "a.rows(replica*WM,WM)", "a.rows(replica*WM, WM)" },
        { "k[0].cols(H, R).t", NULL },
        { "q[ 1 ] . rows(0,64).cols(0,64).t.t @ k.total+1",
          "q[1].rows(0, 64).cols(0, 64).t.t @ k.total + 1" },
        { "b@u", "b @ u" },
        { "rows.rows(0, 1)", NULL },
    };
    static const Refusal bad[] = {
        { "", WS_EXPR_ERROR_SYNTAX, 1, "the name of a buffer" },
        { "a[", WS_EXPR_ERROR_SYNTAX, 3, "a number" },
        { "a[1", WS_EXPR_ERROR_SYNTAX, 4, "expected ']'" },
        { "a.row(1, 2)", WS_EXPR_ERROR_SYNTAX, 3, "expected 'rows', 'cols' or 't', found 'row'" },
        { "a.rows(1)", WS_EXPR_ERROR_SYNTAX, 9, "expected ','" },
        { "a.rows(1, 2", WS_EXPR_ERROR_SYNTAX, 12, "expected ')'" },
        { "a @", WS_EXPR_ERROR_SYNTAX, 4, "a number" },
        { "a @ 1 @ 2", WS_EXPR_ERROR_SYNTAX, 7, "an operator or the end" },
        { "a + 1", WS_EXPR_ERROR_SYNTAX, 3, "'@' or the end" },
        { "a[1][2]", WS_EXPR_ERROR_SYNTAX, 5, "'@' or the end" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(good); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(WsRef) ref = ws_ref_parse(good[i].text, &error);
        g_assert_no_error(error);
        g_autofree char *text = ws_ref_print(ref);
        g_assert_cmpstr(text, ==, good[i].print ? good[i].print : good[i].text);
    }
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(ws_ref_parse(bad[i].text, &error));
        g_autofree char *at = g_strdup_printf("column %u: ", bad[i].column);
        if (!g_str_has_prefix(error->message, at) || !strstr(error->message, bad[i].says))
            g_error("'%s': '%s' lacks '%s' '%s'", bad[i].text, error->message, at, bad[i].says);
    }
}

static void statements(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsStatement) s = ws_statement_parse("C[i,j]=sum(k<K, A[i,k]*B[k,j])", &error);
    g_assert_no_error(error);
    g_assert_cmpuint(s->n_index, ==, 2);
    g_autofree char *text = ws_statement_print(s);
    g_assert_cmpstr(text, ==, "C[i, j] = sum(k < K, A[i, k]*B[k, j])");
    g_autoptr(WsStatement) t = ws_statement_parse("m = max(m, rowmax(s))", &error);
    g_assert_no_error(error);
    g_assert_cmpuint(t->n_index, ==, 0);
    static const char *const bad[] = { "m",       "m == 1", "m =",     "C[] = 1",  "C[1] = 1",
                                       "C[i = 1", "= 1",    "m = 1 2", "C[i,] = 1" };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) problem = NULL;
        g_assert_null(ws_statement_parse(bad[i], &problem));
        g_assert_error(problem, WS_EXPR_ERROR, WS_EXPR_ERROR_SYNTAX);
    }
}

static void forms(void)
{
    g_autofree char *name = NULL;
    g_autoptr(GPtrArray) args = NULL;
    g_assert_true(ws_form_parse("grouped( m , 8 )", &name, &args, NULL));
    g_assert_cmpstr(name, ==, "grouped");
    g_assert_cmpuint(args->len, ==, 2);
    g_autofree char *word = NULL;
    g_autoptr(GPtrArray) none = NULL;
    g_assert_true(ws_form_parse("linear", &word, &none, NULL));
    g_assert_cmpuint(none->len, ==, 0);
    static const char *const bad[] = { "", "grouped(", "grouped()", "grouped(m,8) x", "a b", "3" };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        char *n = NULL;
        GPtrArray *a = NULL;
        g_assert_false(ws_form_parse(bad[i], &n, &a, &error));
        g_assert_nonnull(error);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/expr/text/round-trip", round_trip);
    g_test_add_func("/expr/text/refusal", refusal);
    g_test_add_func("/expr/text/depth", depth);
    g_test_add_func("/expr/text/references", references);
    g_test_add_func("/expr/text/statements", statements);
    g_test_add_func("/expr/text/forms", forms);
    return g_test_run();
}
