/* Uniform expressions as code against exact evaluation. Variables are constants for LLVM's builder,
 * which folds what is built, but unknown (or known only to lie in an interval) for the generator:
 * so the instructions it chooses are judged, and every interval must hold the true value. */
#include "codegen/nvptx/emit.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

static const char *const names[] = { "x", "y", "z" };

typedef struct {
    LLVMContextRef ctx;
    WsEmit e;
    WsProgram p;
    WsVar var[3];
    gint64 value[3];
} Fixture;

static void set_up(Fixture *f)
{
    f->ctx = LLVMContextCreate();
    f->e = (WsEmit){ .p = &f->p, .ctx = f->ctx };
    f->e.i32 = LLVMInt32TypeInContext(f->ctx);
    f->e.none = LLVMVoidTypeInContext(f->ctx);
    f->e.module = LLVMModuleCreateWithNameInContext("test", f->ctx);
    f->e.b = LLVMCreateBuilderInContext(f->ctx);
    f->e.fn = LLVMAddFunction(f->e.module, "f", LLVMFunctionType(f->e.none, NULL, 0, 0));
    LLVMPositionBuilderAtEnd(f->e.b, LLVMAppendBasicBlockInContext(f->ctx, f->e.fn, "b"));
    f->p.n_vars = 3;
    f->p.var = f->var;
    for (guint i = 0; i < 3; i++)
        f->var[i].name = (char *)names[i];
    f->e.var = g_new0(WsBinding, 3);
}

static void tear_down(Fixture *f)
{
    g_free(f->e.var);
    LLVMDisposeBuilder(f->e.b);
    LLVMDisposeModule(f->e.module);
    LLVMContextDispose(f->ctx);
}

static WsExpr *bind(const WsExpr *leaf, gpointer data, GError **error)
{
    (void)data;
    (void)error;
    for (guint i = 0; leaf->name && i < 3; i++) {
        if (!strcmp(leaf->name, names[i]))
            return ws_expr_var((gint)i, names[i]);
    }
    return NULL;
}

static WsLookup look(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    (void)error;
    *value = ((Fixture *)data)->value[leaf->var];
    return WS_LOOKUP_KNOWN;
}

/* `slack`: how far the known interval reaches to both sides; -1: unknown. */
static void give(Fixture *f, guint i, gint64 value, gint64 slack)
{
    LLVMValueRef v = LLVMConstInt(f->e.i32, (guint64)value & 0xffffffffu, 0);
    f->value[i] = value;
    f->e.var[i] = (WsBinding){ .kind = WS_BIND_VALUE,
                               .v = v,
                               .lo = slack < 0 ? WS_UNIFORM_MIN : value - slack,
                               .hi = slack < 0 ? WS_UNIFORM_MAX : value + slack };
}

static void judge(Fixture *f, const WsExpr *x, const char *text)
{
    WsExprEnv env = { .integer = look, .data = f };
    g_autoptr(GError) error = NULL;
    gint64 want;
    if (!ws_expr_eval(x, &env, &want, &error))
        return; /* division by zero: no code is reached with it */
    WsUniform u = ws_uniform(&f->e, x);
    g_assert_no_error(f->e.error);
    g_assert_true(LLVMIsConstant(u.v));
    gint64 got = LLVMConstIntGetSExtValue(u.v);
    if (got != want || want < u.lo || want > u.hi)
        g_error("%s with x=%" G_GINT64_FORMAT " y=%" G_GINT64_FORMAT " z=%" G_GINT64_FORMAT
                ": built %" G_GINT64_FORMAT " in [%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                "], exact %" G_GINT64_FORMAT,
                text, f->value[0], f->value[1], f->value[2], got, u.lo, u.hi, want);
}

static const char *const texts[] = {
    "x / 4",
    "x % 4",
    "x / 3",
    "x % 3",
    "x / y",
    "x % y",
    "cdiv(x, 64)",
    "cdiv(x, y)",
    "(x / 3 + 1) % 2",
    "min(x, y, z)",
    "max(x, y, z)",
    "abs(x)",
    "pow2floor(x)",
    "select(x < y, x - y, z)",
    "x < y && y < z || !x",
    "x == y",
    "x != 0 && y / x > 1",
    "x >= y",
    "-x*y + 3*z",
    "x <= y",
    "x > 0",
    "(x - 1) % 5 + x/7*7",
    "select(z, x, y)",
    "select(x > y, x, y)*2 - z",
};

static void test_table(void)
{
    static const gint64 sample[] = { -100, -65, -64, -8, -7, -3, -1, 0,   1,
                                     2,    3,   4,   7,  63, 64, 65, 1000 };
    Fixture f = { 0 };
    set_up(&f);
    for (guint t = 0; t < G_N_ELEMENTS(texts); t++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(WsExpr) parsed = ws_expr_parse(texts[t], &error);
        g_assert_no_error(error);
        g_autoptr(WsExpr) x = ws_expr_map(parsed, bind, NULL, NULL);
        for (guint i = 0; i < G_N_ELEMENTS(sample); i++) {
            for (guint j = 0; j < G_N_ELEMENTS(sample); j++) {
                static const gint64 slack[] = { -1, 0, 2, 70 };
                gint64 s = slack[(i * 7 + j + t) % 4];
                give(&f, 0, sample[i], s);
                give(&f, 1, sample[j], slack[(i + j) % 4]);
                give(&f, 2, sample[(i + 5 * j) % G_N_ELEMENTS(sample)], s);
                judge(&f, x, texts[t]);
            }
        }
    }
    tear_down(&f);
}

/* Quotients are defined for every divisor: by 0 what is divided stays, without a rest, and all is
 * modulo 2^32. No instruction that LLVM folds to poison may be among those that are built. */
static gint64 quotient(const char *text, gint64 a, gint64 b)
{
    gint64 q = b ? a / b : a, rest = b ? a % b : 0;
    q -= rest != 0 && (rest < 0) != (b < 0);
    rest += rest != 0 && (rest < 0) != (b < 0) ? b : 0;
    return (gint32)(guint32)(strchr(text, '%')                ? rest
                             : g_str_has_prefix(text, "cdiv") ? q + !!rest
                                                              : q);
}

static void test_edges(void)
{
    static const gint64 edge[] = {
        G_MININT32, G_MININT32 + 1, -1073741825,    -3,        -2, -1, 0, 1, 2, 3, 127,
        1073741824, 1073741825,     G_MAXINT32 - 1, G_MAXINT32
    };
    static const char *const divisions[] = { "x / y", "x % y", "cdiv(x, y)" };
    static const gint64 slack[] = { -1, 0, 1, 5 };
    Fixture f = { 0 };
    set_up(&f);
    for (guint t = 0; t < 3; t++) {
        g_autoptr(WsExpr) parsed = ws_expr_parse(divisions[t], NULL);
        g_autoptr(WsExpr) x = ws_expr_map(parsed, bind, NULL, NULL);
        for (guint k = 0; k < G_N_ELEMENTS(edge) * G_N_ELEMENTS(edge) * 16; k++) {
            const guint pair = k / 16;
            const gint64 a = edge[pair / G_N_ELEMENTS(edge)], b = edge[pair % G_N_ELEMENTS(edge)];
            give(&f, 0, a, slack[k / 4 % 4]);
            give(&f, 1, b, slack[k % 4]);
            /* what has no bound is taken for a coordinate: those end well below 2^31 */
            const gboolean open = slack[k / 4 % 4] < 0;
            if (t == 2 && b <= 1 << 16 && a + b > G_MAXINT32 &&
                (open || (slack[k / 4 % 4] && a + slack[k / 4 % 4] == G_MAXINT32)))
                continue;
            WsUniform u = ws_uniform(&f.e, x);
            if (f.e.error) { /* a quotient of constants that is no i32 is refused by name */
                g_assert_cmpint(a, ==, G_MININT32);
                g_assert_cmpint(b, ==, -1);
                g_clear_error(&f.e.error);
                continue;
            }
            if (!LLVMIsAConstantInt(u.v))
                g_error("%s with x=%" G_GINT64_FORMAT " y=%" G_GINT64_FORMAT ": poison",
                        divisions[t], a, b);
            gint64 got = LLVMConstIntGetSExtValue(u.v), want = quotient(divisions[t], a, b);
            if (got != want)
                g_error("%s with x=%" G_GINT64_FORMAT " y=%" G_GINT64_FORMAT
                        ": built %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT,
                        divisions[t], a, b, got, want);
            if (b > 0) /* elsewhere the exact value may be beyond 32 bits */
                g_assert_true(u.lo <= want && want <= u.hi);
        }
    }
    tear_down(&f);
}

/* Where the generator cannot see the divisor: no rest by -1 is taken, and no quotient of what may
 * reach the least integer; both would be poison. */
static void test_least(void)
{
    static const struct {
        const char *text;
        gint64 lo, hi, by_lo;
        gboolean guarded;
    } row[] = {
        { "x % y", WS_UNIFORM_MIN, WS_UNIFORM_MAX, WS_UNIFORM_MIN, TRUE },
        { "x % y", G_MININT32, G_MAXINT32, -1, TRUE },
        { "x / y", G_MININT32, G_MAXINT32, -1, TRUE },
        { "(x - 1) / y", -5, G_MAXINT32, -1, FALSE },
        { "x % y", -5, 5, -1, FALSE },
        { "x % y", G_MININT32, G_MAXINT32, 0, FALSE },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        Fixture f = { 0 };
        set_up(&f);
        g_autoptr(WsExpr) parsed = ws_expr_parse(row[i].text, NULL);
        g_autoptr(WsExpr) x = ws_expr_map(parsed, bind, NULL, NULL);
        LLVMValueRef place = LLVMGetUndef(LLVMPointerTypeInContext(f.ctx, 0));
        const gint64 ends[][2] = { { row[i].lo, row[i].hi }, { row[i].by_lo, WS_UNIFORM_MAX } };
        for (guint k = 0; k < 2; k++)
            f.e.var[k] = (WsBinding){ WS_BIND_VALUE, LLVMBuildLoad2(f.e.b, f.e.i32, place, ""),
                                      ends[k][0], ends[k][1], FALSE };
        ws_uniform(&f.e, x);
        g_assert_no_error(f.e.error);
        char *code = LLVMPrintModuleToString(f.e.module);
        g_test_message("%s", code);
        const char *test = strstr(code, ", -1\n"), *division = strstr(code, "rem i32");
        g_assert_nonnull(division);
        g_assert_true((test && test < division) == row[i].guarded);
        LLVMDisposeMessage(code);
        tear_down(&f);
    }
}

/* What an interval decides is folded: this is what makes a peeled round straight code. */
static void test_folds(void)
{
    static const struct {
        const char *text;
        gint64 lo, hi, value;
    } row[] = {
        { "x == 0", 1, 9, 0 },          { "x > 0", 1, WS_UNIFORM_MAX, 1 },
        { "x > 0", 0, 0, 0 },           { "x % 8", 3, 3, 3 },
        { "x / 16", 16, 31, 1 },        { "x < 4 && y < 0", 4, 9, 0 },
        { "x >= -5", -5, 2, 1 },        { "min(x, 3)", 3, WS_UNIFORM_MAX, 3 },
        { "select(x, 7, y)", 1, 5, 7 },
    };
    Fixture f = { 0 };
    set_up(&f);
    LLVMValueRef unknown = LLVMGetUndef(f.e.i32);
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        g_autoptr(WsExpr) parsed = ws_expr_parse(row[i].text, NULL);
        g_autoptr(WsExpr) x = ws_expr_map(parsed, bind, NULL, NULL);
        f.e.var[0] = (WsBinding){ WS_BIND_VALUE, unknown, row[i].lo, row[i].hi, FALSE };
        f.e.var[1] = (WsBinding){ WS_BIND_VALUE, unknown, WS_UNIFORM_MIN, WS_UNIFORM_MAX, FALSE };
        WsUniform u = ws_uniform(&f.e, x);
        gint64 got = -1;
        g_assert_true(ws_uniform_known(&u, &got));
        g_assert_cmpint(got, ==, row[i].value);
    }
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/codegen/uniform/table", test_table);
    g_test_add_func("/codegen/uniform/edges", test_edges);
    g_test_add_func("/codegen/uniform/least", test_least);
    g_test_add_func("/codegen/uniform/folds", test_folds);
    return g_test_run();
}
