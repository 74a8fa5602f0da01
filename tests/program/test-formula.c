/* The reference as nodes: what is refused, where and why, without any code generator; kinds and
 * scopes; and what a hostile author writes. */
#include "base/phrase.h"
#include "model/design.h"
#include "model/finding.h"
#include "program/elaborate.h"
#include "program/formula.h"
#include "program/parts/tensor.h"
#include "program/program.h"

#include <string.h>

enum { T_A, T_B, T_I, T_C, T_D };

static const char design[] =
    "{ \"warpstave\": 1, \"name\": \"case\", \"target\": \"sm_90a\", \"constants\": { \"BM\": 64 },"
    "  \"sizes\": { \"M\": 64, \"N\": 64, \"K\": 64 }, \"scalars\": { \"scale\": 0.5 },"
    "  \"let\": { \"half\": \"K/2\" },"
    "  \"tensors\": [ { \"name\": \"A\", \"dtype\": \"f32\", \"shape\": [\"M\", \"K\"] },"
    "    { \"name\": \"B\", \"dtype\": \"f32\", \"shape\": [\"N\", \"K\"] },"
    "    { \"name\": \"I\", \"dtype\": \"i32\", \"shape\": [\"M\"] },"
    "    { \"name\": \"C\", \"dtype\": \"f32\", \"shape\": [\"M\", \"N\"], \"access\": \"write\" },"
    "    { \"name\": \"D\", \"dtype\": \"f32\", \"shape\": [\"M\"], \"access\": \"write\" } ],"
    "  \"reference\": [ %s ], \"tiles\": { \"axes\": { \"t\": \"1\" }, \"launch\": \"single\" },"
    "  \"groups\": [ { \"name\": \"all\", \"role\": \"worker\", \"warps\": 4, \"body\": [] } ] }";

static WsProgram *elaborated(const char *const *line, guint n)
{
    g_autoptr(GString) list = g_string_new(NULL);
    for (guint i = 0; i < n && line[i]; i++)
        g_string_append_printf(list, "%s\"%s\"", i ? ", " : "", line[i]);
    g_autofree char *text = g_strdup_printf(design, list->str);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), "case", findings);
    WsProgram *p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p) {
        g_autofree char *report = ws_findings_print(findings, "case");
        g_error("%s: %s", list->str, report);
    }
    return p;
}

/* --- what is refused ---------------------------------------------------------------------------
 */
static const struct {
    const char *line[4];
    gint at;
    const char *part; /* of the reason; NULL: it is fine */
} table[] = {
    { { "C[m,n] = sum(k < K, A[m,k]*B[n,k])" }, 0, NULL },
    { { "C[m,n] = sum(k < half, j < k + 1, A[m,j]*scale)" }, 0, NULL },
    { { "C[m,n] = sum(k < K, A[m,k]) + sum(k < K, B[n,k])" }, 0, NULL }, /* one after the other */
    { { "C[m,n] = max(A[m,0], select(n < 2, 1, 0)) + pow2floor(n) + cdiv(n, BM)" }, 0, NULL },
    { { "C[m,n] = A[I[m],n/2]" }, 0, NULL },
    { { "C[m,n] = 0", "X[q] = nothing" }, 0, NULL }, /* nobody asks for X */
    { { "D[m] = A[m,0]" }, -1, "no statement defines output C" },
    /* names */
    { { "C[m,n] = Z[m,n]" }, 0, "unknown tensor or helper \"Z\"" },
    { { "C[m,n] = q + 1" }, 0, "unknown name \"q\"" },
    { { "C[m,n] = t" }, 0, "unknown name \"t\"" }, /* an axis: it belongs to tiles */
    { { "C[m,n] = k.total" }, 0, ".total" },
    { { "C[m,n] = X[m]", "X[m] = n" }, 1, "unknown name \"n\"" }, /* of the caller */
    { { "C[m,n] = sum(k < K, A[m,k]) + k" }, 0, "unknown name \"k\"" },
    { { "C[m,n] = sum(k < j, j < K, A[m,k])" }, 0, "unknown name \"j\"" },
    { { "C[m,n] = D[m]" }, 0, "judge the kernel by itself" },
    { { "C[m,n] = C[m,n]" }, 0, "\"C\" is defined by itself" },
    { { "C[m,n] = X[m]", "X[m] = C[m,0]" }, 0, "\"C\" is defined by itself" },
    { { "C[m,n] = X[m]", "X[m] = Y[m]", "Y[m] = X[m]" }, 1, "\"X\" is defined by itself" },
    { { "C[m,n] = 1", "C[m,n] = 2" }, 1, "\"C\" is defined twice" },
    { { "C[m,n] = X[m]", "X[i] = 1", "X[i] = 2" }, 2, "\"X\" is defined twice" },
    { { "C[m,n] = A[m,n]", "A[i,j] = 1" }, 1, "\"A\" is an input" },
    { { "C[m,m] = 1" }, 0, "index \"m\" has a meaning already" },
    { { "C[M,n] = 1" }, 0, "index \"M\" has a meaning already" },
    { { "C[BM,n] = BM" }, 0, "index \"BM\" has a meaning already" },
    { { "C[scale,n] = 1" }, 0, "index \"scale\" has a meaning already" },
    { { "C[half,n] = 1" }, 0, "index \"half\" has a meaning already" },
    /* ranks */
    { { "C[m] = A[m,0]" }, 0, "C has 2 dimensions, the statement 1 indices" },
    { { "C[m,n,k] = A[m,n]" }, 0, "C has 2 dimensions, the statement 3 indices" },
    { { "C[m,n] = A[m]" }, 0, "\"A\" takes 2 indices, not 1" },
    { { "C[m,n] = A[m,n,0]" }, 0, "\"A\" takes 2 indices, not 3" },
    { { "C[m,n] = X[m]", "X[i,j] = 1" }, 0, "\"X\" takes 2 indices, not 1" },
    /* kinds */
    { { "C[m,n] = A[A[m,0],n]" }, 0, "index 0 of \"A\" is not an integer" },
    { { "C[m,n] = A[m,floor(n*0.5)]" }, 0, "index 1 of \"A\" is not an integer" },
    { { "C[m,n] = X[scale]", "X[i] = i" }, 0, "index 0 of \"X\" is not an integer" },
    { { "C[m,n] = sum(k < 2.5, A[m,k])" }, 0, "the bound of \"k\" is not an integer" },
    { { "C[m,n] = sum(k < scale*4, A[m,k])" }, 0, "the bound of \"k\" is not an integer" },
    { { "C[m,n] = max(k < A[m,0], A[m,k])" }, 0, "the bound of \"k\" is not an integer" },
    { { "C[m,n] = cdiv(A[m,0], 2)" }, 0, "cdiv takes integers" },
    { { "C[m,n] = shl(scale, 2)" }, 0, "shl takes integers" },
    { { "C[m,n] = from_bits(A[m,0])" }, 0, "from_bits takes integers" },
    /* reductions that are none */
    { { "C[m,n] = sum(m < K, A[m,n])" }, 0, "sum needs leading arguments" },
    { { "C[m,n] = max(m < K, A[m,n])" }, 0, "max needs leading arguments" },
    { { "C[m,n] = min(K < 3, A[m,n])" }, 0, "min needs leading arguments" },
    { { "C[m,n] = max(BM < 3, A[m,n])" }, 0, "max needs leading arguments" },
    { { "C[m,n] = sum(k < K, max(k < N, A[m,k]))" }, 0, "max needs leading arguments" },
    { { "C[m,n] = sum(k < K, k < K, A[m,k])" }, 0, "sum needs leading arguments" },
    { { "C[m,n] = sum(k < K, j + 1 < K, A[m,k])" }, 0, "sum needs leading arguments" },
    { { "C[m,n] = max(k < K, 3, A[m,k])" }, 0, "max needs leading arguments" },
    { { "C[m,n] = sum(A[m,n], 1)" }, 0, "sum needs leading arguments" },
    { { "C[m,n] = rowsum(A[m,n])" }, 0, "a function that the reference notation does not have" },
    /* what may hold anything */
    { { "C[m,n] = select(m < I[0], A[m,n], any)" }, 0, NULL },
    { { "C[m,n] = select(m < 2, any, select(n < 2, any, A[m,n]))" }, 0, NULL },
    { { "C[m,n] = any", "D[m] = any" }, 0, NULL },
    { { "C[any,n] = any" }, 0, "index \"any\" has a meaning already" },
    { { "C[m,n] = sum(any < K, A[m,0])" }, 0, "sum needs leading arguments" },
    { { "C[m,n] = any + 0" }, 0, "`any` is not a number" },
    { { "C[m,n] = -any" }, 0, "`any` is not a number" },
    { { "C[m,n] = select(any, 1, 0)" }, 0, "`any` is not a number" },
    { { "C[m,n] = select(m < 2, 1 + select(n < 2, any, 1), 0)" }, 0, "`any` is not a number" },
    { { "C[m,n] = max(any, 0)" }, 0, "`any` is not a number" },
    { { "C[m,n] = sum(k < K, any)" }, 0, "`any` is not a number" },
    { { "C[m,n] = A[any,n]" }, 0, "`any` is not a number" },
    { { "C[m,n] = X[m]", "X[m] = any" }, 1, "`any` is not a number" },
    { { "C[m,n] = D[m]", "D[m] = select(m < 2, 1, any)" }, 0, "hold anything" },
    { { "C[m,n] = D[0] + 1", "D[m] = any" }, 0, "hold anything" },
    { { "C[m,n] = exp2(A[m,n], 1, 4)" }, 0, "a function that the reference notation does not" },
};

static void judge(const WsProgram *p, gint at, const char *part, const char *text)
{
    gint place;
    gboolean missing;
    g_autofree char *phrase = ws_formula_problem(p, T_C, &place, &missing);
    g_autofree char *why = ws_phrase_text(phrase, NULL, NULL);
    if ((why == NULL) != (part == NULL) || (part && !strstr(why, part)) || place != at)
        g_error("%s: statement %d: %s", text, place, why);
    g_assert_true(missing == (part && strstr(part, "no statement")));
}

static void test_table(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
        g_autoptr(WsProgram) p = elaborated(table[i].line, G_N_ELEMENTS(table[i].line));
        judge(p, table[i].at, table[i].part, table[i].line[0]);
    }
}

/* --- what the nodes say ------------------------------------------------------------------------
 */
static void test_nodes(void)
{
    static const char *const line[] = { "C[m,n] = sum(k < K, j < k + half, A[m,j]) + X[m,n]/2",
                                        "X[a,b] = select(a < b, I[a], 3)",
                                        "D[m] = max(I[m], 1)/2" };
    g_autoptr(WsProgram) p = elaborated(line, G_N_ELEMENTS(line));
    const WsDefinition *c = &p->reference[0], *x = &p->reference[1], *d = &p->reference[2];
    g_assert_cmpint(c->tensor, ==, T_C);
    g_assert_cmpint(x->tensor, ==, -1);
    g_assert_cmpint(d->tensor, ==, T_D);
    g_assert_cmpint(c->kind, ==, WS_FORMULA_REAL);
    g_assert_cmpint(x->kind, ==, WS_FORMULA_INT);
    g_assert_cmpint(d->value->kind, ==, WS_FORMULA_INT); /* floors, as it does in expressions */
    const WsFormula *sum = c->value->arg[0], *half = c->value->arg[1];
    g_assert_cmpint(sum->form, ==, WS_FORMULA_REDUCTION);
    g_assert_cmpuint(sum->n_arg, ==, 3);
    g_assert_cmpuint(sum->depth, ==, 2);
    g_assert_true(sum->costly && c->value->costly && !x->value->costly);
    g_assert_cmpuint(sum->arg[1]->arg[0]->index, ==, 2); /* k, behind m and n */
    g_assert_cmpuint(sum->arg[2]->arg[0]->index, ==, 0); /* m */
    g_assert_cmpuint(sum->arg[2]->arg[1]->index, ==, 3); /* j */
    g_assert_cmpint(sum->arg[1]->arg[1]->form, ==, WS_FORMULA_VARIABLE);
    g_assert_cmpint(sum->arg[1]->arg[1]->n_arg, ==, 1); /* a run name brings its value */
    g_assert_cmpint(half->kind, ==, WS_FORMULA_INT);
    g_assert_cmpint(half->arg[0]->form, ==, WS_FORMULA_HELPER);
    g_assert_cmpuint(half->arg[0]->index, ==, 1);
}

/* --- large and deep ----------------------------------------------------------------------------
 */
/* Sixty helpers, each a thousand levels above the next: what walks the nodes would not come back.
 */
static void test_deep(void)
{
    const char *line[WS_FORMULA_STATEMENTS + 1];
    g_autoptr(GPtrArray) text = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < WS_FORMULA_STATEMENTS; i++) {
        GString *s = g_string_new(NULL);
        g_string_printf(s, i ? "H%u[i] = H%u[i]" : "C[i,j] = H%u[i]", i ? i : 1, i + 1);
        if (i + 1 == WS_FORMULA_STATEMENTS)
            g_string_printf(s, "H%u[i] = 0", i);
        for (guint k = 0; k < 900; k++)
            g_string_append(s, " + 1");
        line[i] = s->str;
        g_ptr_array_add(text, g_string_free(s, FALSE));
    }
    line[WS_FORMULA_STATEMENTS] = "D[m] = 1";
    g_autoptr(WsProgram) p = elaborated(line, WS_FORMULA_STATEMENTS);
    judge(p, WS_FORMULA_STATEMENTS - 5, "deeper than 4000 levels", "deep");
    g_autoptr(WsProgram) more = elaborated(line, WS_FORMULA_STATEMENTS + 1);
    judge(more, -1, "more than 64 statements", "many");
    /* Each names the next one twice: 2^59 terms, counted and not walked. */
    for (guint i = 0; i < 60; i++) {
        g_free(text->pdata[i]);
        line[i] = text->pdata[i] =
            i == 0    ? g_strdup("C[i,j] = H1[i] + H1[i]")
            : i == 59 ? g_strdup("H59[i] = 1")
                      : g_strdup_printf("H%u[i] = H%u[i] + H%u[i]", i, i + 1, i + 1);
    }
    g_autoptr(WsProgram) wide = elaborated(line, 60);
    judge(wide, 0, NULL, "wide");
    g_assert_cmpuint(wide->reference[0].terms, ==, WS_FORMULA_TERMS);
}

/* Many indices, and reductions in reductions as deep as the text may go. */
static void test_indices(void)
{
    g_autoptr(GString) many = g_string_new("X[i0");
    g_autoptr(GString) use = g_string_new("C[m,n] = X[0");
    g_autoptr(GString) nested = g_string_new("C[m,n] = ");
    for (guint i = 1; i <= WS_FORMULA_INDICES; i++) {
        g_string_append_printf(many, ",i%u", i);
        g_string_append(use, ",0");
    }
    g_string_append(many, "] = i7");
    g_string_append(use, "]");
    const char *line[] = { use->str, many->str };
    g_autoptr(WsProgram) p = elaborated(line, 2);
    judge(p, 1, "more than 60 indices", "indices");
    for (guint i = 0; i < 60; i++)
        g_string_append_printf(nested, "sum(k%u < K, l%u < k%u, ", i, i, i);
    g_string_append(nested, "k0*l59");
    for (guint i = 0; i < 60; i++)
        g_string_append(nested, ")");
    line[0] = nested->str;
    g_autoptr(WsProgram) sums = elaborated(line, 1);
    judge(sums, 0, NULL, "sums");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/formula/table", test_table);
    g_test_add_func("/formula/nodes", test_nodes);
    g_test_add_func("/formula/deep", test_deep);
    g_test_add_func("/formula/indices", test_indices);
    return g_test_run();
}
