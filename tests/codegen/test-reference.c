/* The reference notation against the same sums written in C, on the host; the PTX of the GPU form
 * is looked at and, where ptxas is at hand, assembled. Programs are made by hand. */
#include "codegen/reference/reference.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/arena.h"
#include "program/elaborate.h"
#include "program/formula.h"
#include "program/inputs.h"
#include "program/parts/dtype.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <math.h>
#include <time.h>

/* --- a program that has nothing but variables, tensors and a reference ---------------------------
 */
enum { VAR_M, VAR_N, VAR_K, VAR_SCALE, VAR_HALF, VAR_GAIN, N_VARS };
enum { T_A, T_B, T_IDX, T_OUT, N_TENSORS };
#define M 5
#define N 7
#define K 6
static const gint64 size[] = { M, N, K };
static const double scalar[] = { 0.5 };

typedef struct {
    WsProgram p;
    WsVar var[N_VARS];
    WsTensor tensor[N_TENSORS];
    WsStatement *statement[8];
    float a[M * K], b[N * K + 3], out[M * N];
    gint32 idx[M * K];
} Fixture;

static void set_tensor(Fixture *f, guint i, const char *name, WsDtype dtype, gint rows, gint cols)
{
    WsTensor *t = &f->tensor[i];
    t->name = (char *)name;
    t->dtype = dtype;
    t->rank = 2;
    t->shape[0] = ws_expr_var(rows, "r");
    t->shape[1] = ws_expr_var(cols, "c");
    t->stride[0] = ws_expr_var(cols, "c");
    t->stride[1] = ws_expr_int(1);
}

static Fixture *fixture_new(const char *const *text)
{
    static const char *const names[N_VARS] = { "M", "N", "K", "scale", "half", "gain" };
    Fixture *f = g_new0(Fixture, 1);
    WsInputFill fill = { .kind = WS_INPUT_NORMAL, .dtype = WS_INPUT_F32, .key = 11 };
    guint i;
    f->p.refs = 1;
    f->p.n_vars = N_VARS;
    f->p.var = f->var;
    for (i = 0; i < N_VARS; i++) {
        f->var[i].name = (char *)names[i];
        f->var[i].kind = i <= VAR_K ? WS_VAR_SIZE : i == VAR_SCALE ? WS_VAR_SCALAR : WS_VAR_RUN;
        f->var[i].agent = f->var[i].axis = -1;
        f->var[i].real = i == VAR_SCALE || i == VAR_GAIN;
    }
    f->var[VAR_HALF].value = ws_expr_op(WS_EXPR_DIV, ws_expr_var(VAR_K, "K"), ws_expr_int(2));
    f->var[VAR_GAIN].value =
        ws_expr_op(WS_EXPR_MUL, ws_expr_var(VAR_SCALE, "scale"), ws_expr_real(3));
    f->p.n_tensors = N_TENSORS;
    f->p.tensor = f->tensor;
    set_tensor(f, T_A, "A", WS_DTYPE_F32, VAR_M, VAR_K);
    set_tensor(f, T_B, "B", WS_DTYPE_F32, VAR_N, VAR_K);
    set_tensor(f, T_IDX, "I", WS_DTYPE_I32, VAR_M, VAR_K);
    set_tensor(f, T_OUT, "C", WS_DTYPE_F32, VAR_M, VAR_N);
    f->tensor[T_OUT].access = WS_ACCESS_WRITE;
    for (i = 0; text[i]; i++) {
        g_autoptr(GError) error = NULL;
        f->statement[i] = ws_statement_parse(text[i], &error);
        g_assert_no_error(error);
    }
    f->p.arena = ws_arena_new();
    ws_formulas_bind(&f->p, f->statement, i);
    ws_input_fill(f->a, &fill, M * K);
    fill.key = 12;
    ws_input_fill(f->b, &fill, N * K);
    for (i = 0; i < M * K; i++)
        f->idx[i] = (gint32)((i * 5 + 2) % N) - (i % 11 == 3) * 100;
    return f;
}

static void fixture_free(Fixture *f)
{
    guint i, d;
    for (i = 0; i < N_TENSORS; i++) {
        for (d = 0; d < 2; d++) {
            ws_expr_unref(f->tensor[i].shape[d]);
            ws_expr_unref(f->tensor[i].stride[d]);
        }
    }
    for (i = 0; i < G_N_ELEMENTS(f->statement); i++)
        g_clear_pointer(&f->statement[i], ws_statement_unref);
    ws_arena_free(f->p.arena);
    ws_expr_unref(f->var[VAR_HALF].value);
    ws_expr_unref(f->var[VAR_GAIN].value);
    g_free(f);
}

static gboolean evaluate(Fixture *f, double *out, GError **error)
{
    const void *tensor[N_TENSORS] = { f->a, f->b, f->idx, f->out };
    WsReferenceInput input = { tensor, size, scalar };
    g_autoptr(WsReference) r = ws_reference_new(&f->p, error);
    return r && ws_reference_eval(r, T_OUT, &input, NULL, 0, M * N, out, error);
}

/* --- the same in C
 * ---------------------------------------------------------------------------------- */
#define A(i, j) ((double)f->a[(i)*K + (j)])
#define B(i, j) ((double)f->b[(i)*K + (j)])
#define I(i, j) (f->idx[(i)*K + (j)])

static double dot(const Fixture *f, gint m, gint n)
{
    double s = 0;
    for (gint k = 0; k < K; k++)
        s += A(m, k) * B(n, k);
    return s;
}

static double gemm_scaled(const Fixture *f, gint m, gint n)
{
    return 0.5 * dot(f, m, n) + 1.5;
}

static double softmax(const Fixture *f, gint m, gint n)
{
    double x = -INFINITY, l = 0;
    for (gint j = 0; j < N; j++)
        x = fmax(x, dot(f, m, j));
    for (gint j = 0; j < N; j++)
        l += exp(dot(f, m, j) - x);
    return exp(dot(f, m, n) - x) / l + log(l) + log2(l) + exp2(-l) + sqrt(l) + tanh(x);
}

static double gathered(const Fixture *f, gint m, gint n)
{
    double s = 0;
    for (gint k = 0; k < K; k++)
        s += I(m, k) >= 0 && I(m, k) < N ? B(I(m, k), k) : -1;
    return s + n;
}

static double triangle(const Fixture *f, gint m, gint n)
{
    double s = 0;
    for (gint j = 0; j < m; j++)
        for (gint k = 0; k < j + 1; k++)
            s += A(j, k) * B(n, k);
    return s;
}

static gint64 floor_divide(gint64 a, gint64 b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static double integers(const Fixture *f, gint m, gint n)
{
    gint64 a = m - 3, b = n - 9, q = floor_divide(a, b), r = a - q * b, up = -floor_divide(-m, 3);
    return (double)(q * 100 + r + up * 10000 + (n >= 4 ? 4 : n >= 2 ? 2 : n) + ABS(a) * 7 + K / 2);
}

static double extremes(const Fixture *f, gint m, gint n)
{
    double lo = INFINITY;
    gint64 hi = G_MININT64;
    for (gint k = 0; k < K; k++)
        lo = fmin(lo, A(m, k)), hi = MAX(hi, I(m, k));
    return lo + (double)hi + fmax(fmin(A(m, 0), B(n, 0)), 0.25) + (m < 2 || n == 3 ? 1 : 0);
}

/* What only some rounds need is computed in the first of them, and not at all where none does. */
static double branches(const Fixture *f, gint m, gint n)
{
    double s = 0, x = -INFINITY;
    for (gint j = 0; j < N; j++)
        x = fmax(x, dot(f, m, j));
    for (gint k = 0; k < K; k++)
        s += k > 2 && I(m, k) >= 0 ? A(m, k) - x : n;
    return s;
}

static double empty(const Fixture *f, gint m, gint n)
{
    return n == 0 ? -INFINITY : m == 0 ? INFINITY : 0;
}

static const struct {
    const char *name;
    const char *text[6];
    double (*want)(const Fixture *f, gint m, gint n);
} table[] = {
    { "gemm", { "C[m,n] = sum(k < K, A[m,k]*B[n,k])" }, dot },
    { "scalars", { "C[m,n] = scale*sum(k < K, A[m,k]*B[n,k]) + gain" }, gemm_scaled },
    { "softmax",
      { "C[m,n] = P[m,n]/L[m] + ln(L[m]) + log2(L[m]) + exp2(-L[m]) + sqrt(L[m]) + tanh(X[m])",
        "P[m,j] = exp(S[m,j] - X[m])", "X[m] = max(j < N, S[m,j])", "L[m] = sum(j < N, P[m,j])",
        "S[m,j] = sum(k < K, A[m,k]*B[j,k])" },
      softmax },
    { "gather",
      { "C[m,n] = sum(k < K, select(I[m,k] >= 0 && I[m,k] < N, B[I[m,k],k], -1)) + n" },
      gathered },
    { "bounds", { "C[m,n] = sum(j < m, k < j + 1, A[j,k]*B[n,k])" }, triangle },
    { "integers",
      { "C[m,n] = H[m - 3,n - 9]*100 + (m - 3) % (n - 9) + cdiv(m, 3)*10000 + pow2floor(n) + "
        "abs(m - 3)*7 + half",
        "H[a,b] = a/b" },
      integers },
    { "extremes",
      { "C[m,n] = min(k < K, A[m,k]) + max(k < K, I[m,k]) + max(min(A[m,0], B[n,0]), 0.25) + "
        "select(m < 2 || n == 3, 1, 0)" },
      extremes },
    { "branches",
      { "C[m,n] = sum(k < K, select(k > 2 && I[m,k] >= 0, A[m,k] - max(j < N, sum(q < K, "
        "A[m,q]*B[j,q])), select(k > K, X[m + 1000], n)))",
        "X[m] = sum(j < N, A[m,j])" },
      branches },
    { "branches of helpers",
      { "C[m,n] = sum(k < K, select(k > 2 && I[m,k] >= 0, A[m,k] - X[m], n))",
        "X[m] = max(j < N, S[m,j])", "S[m,j] = sum(q < K, A[m,q]*B[j,q])" },
      branches },
    { "empty",
      { "C[m,n] = select(n == 0, max(k < m - m, A[m,k]), select(m == 0, min(k < 0, A[m,k]), "
        "sum(k < 0, A[m,k])))" },
      empty },
};

static void test_values(void)
{
    guint i, at;
    for (i = 0; i < G_N_ELEMENTS(table); i++) {
        Fixture *f = fixture_new(table[i].text);
        g_autoptr(GError) error = NULL;
        double out[M * N];
        gboolean fine = evaluate(f, out, &error);
        g_test_message("%s", table[i].name);
        g_assert_no_error(error);
        g_assert_true(fine);
        for (at = 0; at < M * N; at++) {
            double want = table[i].want(f, (gint)at / N, (gint)at % N);
            if (!(out[at] == want || fabs(out[at] - want) <= 1e-12 * (1 + fabs(want))))
                g_error("%s: element %u is %.17g, want %.17g", table[i].name, at, out[at], want);
        }
        fixture_free(f);
    }
}

/* A maximum in a branch of a sum is as much work as one beside it: 16 million steps, not 64
 * milliards. */
static void test_branch_once(void)
{
    enum { MANY = 4000 };
    static const char *const text[] = {
        "C[m,n] = sum(k < K, select(k >= 0, 1 - max(j < K, sum(q < K, (q + j)*0.5)), 0))", NULL
    };
    const gint64 sizes[] = { 1, 1, MANY };
    Fixture *f = fixture_new(text);
    const void *tensor[N_TENSORS] = { f->a, f->b, f->idx, f->out };
    WsReferenceInput input = { tensor, sizes, scalar };
    g_autoptr(GError) error = NULL;
    WsReference *r = ws_reference_new(&f->p, &error);
    double out = 0;
    clock_t start = clock();
    g_assert_no_error(error);
    g_assert_true(ws_reference_eval(r, T_OUT, &input, NULL, 0, 1, &out, &error));
    g_assert_cmpfloat(out, ==, MANY * (1 - 0.75 * MANY * (MANY - 1)));
    /* 16 million additions; 64 milliards if the maximum were computed in every round */
    g_assert_cmpfloat((double)(clock() - start) / CLOCKS_PER_SEC, <, 60);
    ws_reference_free(r); /* it holds the fixture's program */
    fixture_free(f);
}

/* A NaN stays, wherever it stands: in both arguments of min and max, in every one of three, in the
 * first, a middle and the last term of a reduction. `A[m,k]` is NaN where k is `at`. */
static void test_nan(void)
{
    static const struct {
        const char *text;
        gint at; /* the element that has to be NaN for the result to be; -1: any */
    } row[] = {
        { "C[m,n] = min(A[m,0], 1.5)", 0 },
        { "C[m,n] = min(1.5, A[m,0])", 0 },
        { "C[m,n] = max(A[m,0], n)", 0 },
        { "C[m,n] = max(n, A[m,0])", 0 },
        { "C[m,n] = max(min(A[m,0], A[m,1]), min(A[m,2], A[m,3]), max(A[m,4], A[m,5]))", -1 },
        { "C[m,n] = min(A[m,0], A[m,1], A[m,2], A[m,3], A[m,4], A[m,5])", -1 },
        { "C[m,n] = min(k < K, A[m,k])", -1 },
        { "C[m,n] = max(k < K, A[m,k])", -1 },
        { "C[m,n] = max(k < K, max(A[m,k], -100))", -1 },
        { "C[m,n] = min(k < K, min(100, A[m,k]))", -1 },
        { "C[m,n] = sum(k < K, A[m,k])", -1 },
        { "C[m,n] = abs(A[m,0])", 0 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        for (gint at = -1; at < K; at++) {
            const char *const text[] = { row[i].text, NULL };
            const gboolean want = at >= 0 && (row[i].at < 0 || row[i].at == at);
            Fixture *f = fixture_new(text);
            g_autoptr(GError) error = NULL;
            double out[M * N];
            for (gint m = 0; m < M && at >= 0; m++)
                f->a[m * K + at] = m % 2 ? -NAN : NAN;
            g_assert_true(evaluate(f, out, &error));
            for (gint k = 0; k < M * N; k++)
                if (isnan(out[k]) != want)
                    g_error("%s, NaN at %d: %g", row[i].text, at, out[k]);
            fixture_free(f);
        }
    }
}

/* --- what is refused
 * ---------------------------------------------------------------------------------- */
static const struct {
    const char *text[3], *part;
} refused[] = {
    { { "D[m,n] = A[m,n]" }, "no statement defines output C" },
    { { "C[m] = A[m,0]" }, "2 dimensions" },
    { { "C[m,n] = A[m]" }, "\"A\" takes 2 indices" },
    { { "C[m,n] = Z[m,n]" }, "unknown tensor or helper \"Z\"" },
    { { "C[m,n] = q + 1" }, "unknown name \"q\"" },
    { { "C[m,n] = X[m]", "X[m] = C[m,0]" }, "is defined by itself" },
    { { "C[m,n] = A[A[m,0],n]" }, "is not an integer" },
    { { "C[m,n] = sum(m < K, A[m,n])" }, "sum needs leading arguments" },
    { { "C[m,n] = rowsum(A[m,n])" }, "not supported by reference" },
    { { "C[m,n] = A[m,K]" }, "outside its shape" },
    { { "C[m,n] = A[m - 1,0]" }, "outside its shape" },
    { { "C[m,n] = m/(n - 2)" }, "by zero" },
};

static void test_refused(void)
{
    guint i;
    for (i = 0; i < G_N_ELEMENTS(refused); i++) {
        Fixture *f = fixture_new(refused[i].text);
        g_autoptr(GError) error = NULL;
        double out[M * N];
        g_assert_false(evaluate(f, out, &error));
        g_assert_nonnull(error);
        if (!strstr(error->message, refused[i].part))
            g_error("\"%s\" does not say \"%s\"", error->message, refused[i].part);
        fixture_free(f);
    }
}

/* Helpers that name each other twice grow without bound when written out: refused for the GPU, and
 * quick on the host, where their values are remembered. */
static void test_growth(void)
{
    static const char *const text[] = { "C[m,n] = H7[m] + H7[m]",     "H7[i] = H6[i] + H6[i]",
                                        "H6[i] = H5[i] + H5[i]",      "H5[i] = H4[i] + H4[i]",
                                        "H4[i] = H3[i] + H3[i]",      "H3[i] = H2[i] + H2[i]",
                                        "H2[i] = sum(k < K, A[i,k])", NULL };
    GString *wide = g_string_new("H7[i] = H6[i]");
    Fixture *f;
    g_autoptr(GError) error = NULL;
    g_autofree char *ptx = NULL;
    const char *grown[8];
    WsStatement *many[WS_FORMULA_STATEMENTS + 1];
    double out[M * N];
    guint i;
    for (i = 0; i < 20; i++)
        g_string_append(wide, " + H6[i]");
    for (i = 0; i < 8; i++)
        grown[i] = text[i];
    grown[1] = wide->str;
    f = fixture_new(text);
    g_assert_true(evaluate(f, out, &error));
    g_assert_no_error(error);
    fixture_free(f);
    for (i = 2; i < 6; i++) { /* 21^5 terms */
        char *line = g_strdup(wide->str);
        line[1] = (char)('8' - (char)i);
        for (char *c = strchr(line, '='); (c = strchr(c, 'H')); c++)
            c[1] = (char)('7' - (char)i);
        grown[i] = line;
    }
    f = fixture_new(grown);
    ptx = ws_generate_reference_ptx(&f->p, T_OUT, &error);
    g_assert_null(ptx);
    g_assert_nonnull(strstr(error->message, "written out"));
    fixture_free(f);
    for (i = 2; i < 6; i++)
        g_free((char *)grown[i]);
    g_string_free(wide, TRUE);
    g_clear_error(&error);
    f = fixture_new(text); /* too many statements */
    for (i = 0; i < G_N_ELEMENTS(many); i++)
        many[i] = f->statement[0];
    ws_formulas_bind(&f->p, many, G_N_ELEMENTS(many));
    g_assert_null(ws_reference_new(&f->p, &error));
    g_assert_nonnull(strstr(error->message, "more than 64 statements"));
    fixture_free(f);
}

/* --- every stored pattern of every type
 * ------------------------------------------------------------------ */
static void test_dtypes(void)
{
    static const char *const text[] = { "C[m,n] = A[0,m*N + n]", NULL };
    gint dtype;
    for (dtype = 0; dtype < WS_DTYPE_COUNT; dtype++) {
        guint bytes = ws_input_bytes(dtype);
        gint64 cells = bytes == 1 ? 256 : 65536, i, shape[3] = { cells / 256, 256, cells };
        g_autofree guint8 *data = g_malloc((gsize)cells * bytes);
        g_autofree double *out = g_new(double, cells);
        Fixture *f = fixture_new(text);
        g_autoptr(GError) error = NULL;
        const void *tensor[N_TENSORS] = { data, f->b, f->idx, f->out };
        WsReferenceInput input = { tensor, shape, scalar };
        WsReference *r = NULL;
        f->tensor[T_A].dtype = (WsDtype)dtype;
        ws_formulas_bind(&f->p, f->statement, 1);
        for (i = 0; i < cells; i++)
            ws_input_put(data, dtype, (guint64)i,
                         bytes == 4 ? (guint32)(i * 0x10001 + (i << 7)) : (guint32)i);
        r = ws_reference_new(&f->p, &error);
        g_assert_no_error(error);
        g_assert_true(ws_reference_eval(r, T_OUT, &input, NULL, 0, cells, out, &error));
        for (i = 0; i < cells; i++) {
            double want = ws_input_decode(dtype, ws_input_get(data, dtype, (guint64)i));
            if (!(out[i] == want || (isnan(out[i]) && isnan(want))))
                g_error("dtype %d pattern %lld: %g, want %g", dtype, (long long)i, out[i], want);
        }
        ws_reference_free(r);
        fixture_free(f);
    }
}

/* --- GPU form
 * ------------------------------------------------------------------------------------------- */
static void test_ptx(void)
{
    guint i;
    for (i = 0; i < G_N_ELEMENTS(table); i++) {
        Fixture *f = fixture_new(table[i].text);
        g_autoptr(GError) error = NULL;
        g_autofree char *ptx = ws_generate_reference_ptx(&f->p, T_OUT, &error);
        g_assert_no_error(error);
        g_assert_nonnull(strstr(ptx, ".entry warpstave_reference"));
        g_assert_null(strstr(ptx, "call")); /* helpers are inlined, no library is needed */
        if (ws_ptxas_available()) {
            WsPtxasReport *report = ws_ptxas_run(ptx, NULL, &error);
            g_assert_no_error(error);
            ws_ptxas_report_free(report);
        }
        fixture_free(f);
    }
}

/* --- the shipped designs
 * ----------------------------------------------------------------------------------- */
static void test_designs(void)
{
    g_autofree char *folder = g_build_filename(WS_SOURCE_ROOT, "tests", "designs", NULL);
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;
    guint seen = 0, i;
    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir))) {
        g_autofree char *file = g_build_filename(folder, name, NULL);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_load(file, findings);
        g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
        g_autoptr(WsReference) r = NULL;
        g_autoptr(GError) error = NULL;
        if (!p || !p->n_reference)
            continue;
        r = ws_reference_new(p, &error);
        g_assert_no_error(error);
        for (i = 0; i < p->n_tensors; i++) {
            g_autofree char *ptx = NULL;
            if (p->tensor[i].access == WS_ACCESS_READ)
                continue;
            ptx = ws_generate_reference_ptx(p, i, &error);
            g_assert_no_error(error);
            g_assert_null(strstr(ptx, "call"));
            if (ws_ptxas_available()) {
                WsPtxasReport *report = ws_ptxas_run(ptx, NULL, &error);
                g_assert_no_error(error);
                g_test_message("%s %s: %u registers, %u bytes of stack", name, p->tensor[i].name,
                               report->registers, report->stack);
                ws_ptxas_report_free(report);
            }
        }
        seen++;
    }
    g_dir_close(dir);
    g_assert_cmpuint(seen, >=, 10);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/reference/values", test_values);
    g_test_add_func("/reference/branch-once", test_branch_once);
    g_test_add_func("/reference/refused", test_refused);
    g_test_add_func("/reference/nan", test_nan);
    g_test_add_func("/reference/growth", test_growth);
    g_test_add_func("/reference/dtypes", test_dtypes);
    g_test_add_func("/reference/ptx", test_ptx);
    g_test_add_func("/reference/designs", test_designs);
    return g_test_run();
}
