/* What 32 bits hold: which expressions a launch is asked about, which nobody can be, and up to
 * which size all others fit. Beside the table an oracle: where nothing is said, expressions drawn
 * at random have the same value in 32 bits, wrapping, as in 64. */
#include "small.h"

#include "program/walk/reach.h"

static const struct {
    const char *at;     /* a coordinate of a step in the loop k */
    const char *wide;   /* the only expression that nobody can ask a launch about; NULL: none */
    const char *launch; /* the only one that a launch is asked about beside its tiles */
    gint log;           /* of the largest size, 0: as large as any design's */
} rows[] = {
    { "tm*128", NULL, NULL, 0 },
    { "k*64", NULL, NULL, 0 },
    { "K - k*64", NULL, NULL, 0 },
    { "k*64 + 4096", NULL, NULL, 0 },
    { "-k*64 - 4096", NULL, NULL, 0 },
    { "M + N", NULL, "M + N", 0 },
    { "M*N", NULL, "M*N", 0 },
    { "M*N/K", NULL, "M*N", 0 },
    { "M*0 + 1", NULL, NULL, 0 },
    { "tm*tn", NULL, "(cdiv(M, 128) - 1)*(cdiv(N, 256) - 1)", 0 },
    { "tm*N + tn", NULL, "(cdiv(M, 128) - 1)*N + (cdiv(N, 256) - 1)", 0 },
    { "(tm*N + tn) % 8", NULL, "(cdiv(M, 128) - 1)*N + (cdiv(N, 256) - 1)", 0 },
    { "tm*64*64*64*64", NULL, "(cdiv(M, 128) - 1)*64*64*64*64", 0 },
    { "tm % K*128", NULL, NULL, 0 },
    { "LENS[tm] % K*256", NULL, "(K - 1)*256", 0 },
    { "k*64 - tm*128 - M - N", NULL, NULL, 29 }, /* no launch is asked for a least value */
    { "LENS[tm]", NULL, NULL, 0 },
    { "LENS[tm] + 1", NULL, NULL, 0 },
    { "LENS[tm + 1] - LENS[tm]", "LENS[tm + 1] - LENS[tm]", NULL, 0 },
    { "LENS[tm]*64", "LENS[tm]*64", NULL, 0 },
    { "min(LENS[tm]*64, K)", "LENS[tm]*64", NULL, 0 },
    { "LENS[tm*tn]", NULL, "(cdiv(M, 128) - 1)*(cdiv(N, 256) - 1)", 0 },
    { "select(k < 3, LENS[0]*2, 0)", "select(k < 3, LENS[0]*2, 0)", NULL, 0 },
    { "select(K > 1000, 5, K*K)", NULL, "select(K > 1000, 5, K*K)", 0 },
    { "select(K*K > 1000, 5, K)", NULL, "K*K", 0 },
    { "select(K > 1000, K*K/2, 7)", NULL, "select(K > 1000, K*K, 0)", 0 },
    { "select(K > 1000, 7, K*K/2)", NULL, "select(K > 1000, 0, K*K)", 0 },
    { "select(tm > 1000, 7, K*K/2)", NULL, "K*K", 0 }, /* of a tile: no launch says it */
    { "M < 9 && M*N < 5", NULL, "select(M < 9, M*N, 0)", 0 },
    { "M < 9 || M*N < 5", NULL, "select(M < 9, 0, M*N)", 0 },
    { "M*N < 5 && M < 9", NULL, "M*N", 0 }, /* the first one is evaluated */
    { "!(M < 9 && M*N < 5)", NULL, "select(M < 9, M*N, 0)", 0 },
    { "M < 9 && (N < 9 || M*N < 5)", NULL, "select(M < 9, select(N < 9, 0, M*N), 0)", 0 },
    { "M < 9 && tm*N < 5", NULL, "select(M < 9, (cdiv(M, 128) - 1)*N, 0)", 0 },
    { "tm < 9 && M*N < 5", NULL, "M*N", 0 },
    { "k < 9 && M*N < 5", NULL, "M*N", 0 },
    { "LENS[0] < 9 && M*N < 5", NULL, "M*N", 0 },
    { "M < 9 && LENS[tm]*64 < 5", "LENS[tm]*64", NULL, 0 },
    { "ring*3", NULL, NULL, 0 }, /* advanced by the rounds of a loop */
    { "k.total", NULL, NULL, 0 },
    { "k.total*8", NULL, NULL, 0 },
    { "k.total*20", "k.total*20", NULL, 0 },
    { "x*64", "x*64", NULL, 0 },
    { "cta*64", NULL, NULL, 0 },
};

static void ask(Small *s, const WsExpr *at)
{
    s->op[2].n_coord = 1;
    s->op[2].coord[0] = (WsExpr *)at;
}

static gboolean asks(GPtrArray *launch, const char *text)
{
    for (guint i = 0; i < launch->len; i++) {
        g_autofree char *has = ws_expr_print(launch->pdata[i]);
        if (g_str_equal(has, text))
            return TRUE;
    }
    return FALSE;
}

/* row0 without data, which its verdict would always name. */
static Small *small(void)
{
    Small *s = small_new();
    s->var[SMALL_ROW0].value = small_expr(s, "tm*128 + 5");
    return s;
}

static void test_table(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Small *s = small();
        gint64 most;
        g_autoptr(GPtrArray) plain = ws_reach_launch(&s->p, &most);
        ask(s, small_expr(s, rows[i].at));
        g_test_message("%s", rows[i].at);
        g_autoptr(GPtrArray) wide = ws_reach_wide(&s->p);
        g_autoptr(GPtrArray) launch = ws_reach_launch(&s->p, &most);
        g_assert_cmpuint(wide->len, ==, rows[i].wide ? 1 : 0);
        if (rows[i].wide)
            g_assert_cmpstr(wide->pdata[0], ==, rows[i].wide);
        g_assert_cmpuint(launch->len, ==, plain->len + (rows[i].launch ? 1 : 0));
        g_assert_true(!rows[i].launch || asks(launch, rows[i].launch));
        g_assert_cmpint(most, ==,
                        rows[i].log ? G_GINT64_CONSTANT(1) << rows[i].log : WS_REACH_SIZE_MOST);
        small_free(s);
    }
}

/* Wherever it stands: a product of sizes is asked about. */
static void test_places(void)
{
    for (guint i = 0; i < 12; i++) {
        Small *s = small();
        WsExpr *e = small_expr(s, "M*N"), *truth = small_expr(s, "M*N < 5");
        g_test_message("place %u", i);
        WsExpr **const place[] = { &s->op[0].use,    &s->op[0].slot,     &s->op[0].parity,
                                   &s->op[0].turn,   &s->op[2].element,  &s->op[3].set,
                                   &s->loop_k.count, &s->loop_k.step_by, &s->var[SMALL_ROW0].value,
                                   &s->op[1].skip,   &s->branch.cond,    &s->tensor.stride[0] };
        *place[i] = i == 9 || i == 10 ? truth : e;
        s->op[2].tensor = 0; /* without a tensor map */
        if (&s->loop_k.step_by == place[i])
            s->loop_k.from = small_expr(s, "0");
        gint64 most;
        g_autoptr(GPtrArray) launch = ws_reach_launch(&s->p, &most);
        g_autoptr(GPtrArray) wide = ws_reach_wide(&s->p);
        if (&s->loop_k.step_by == place[i])
            g_assert_cmpuint(wide->len + launch->len, >, 1);
        else
            g_assert_true(asks(launch, "M*N") || asks(launch, "row0"));
        small_free(s);
    }
}

/* What a condition names is made without it, too, and what stands beside it is not under it. */
static void test_sides(void)
{
    static const struct {
        const char *x, *at;
    } cases[] = {
        { "M*N/K", "M < 9 && x < 5" },
        { "M*N/K", "M < 9 || x < 5" },
        { "M*N/K", "select(M < 9, x, 0)" },
        { "M", "(M < 9 && M*N < 5) + M*N/K" },
        { "M", "M*N/K + (M < 9 && M*N < 5)" },
        { "M", "select(M < 9, M*N/K, M*N/K)" },
        { "M*N/K", "N < 9 && (M < 9 && x < 5)" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Small *s = small();
        g_test_message("%s, x = %s", cases[i].at, cases[i].x);
        s->op[3].set = small_expr(s, cases[i].x);
        ask(s, small_expr(s, cases[i].at));
        gint64 most;
        g_autoptr(GPtrArray) launch = ws_reach_launch(&s->p, &most);
        g_assert_true(asks(launch, "M*N") || (asks(launch, "select(M < 9, M*N, 0)") &&
                                              asks(launch, "select(M < 9, 0, M*N)")));
        small_free(s);
    }
}

/* A counter counts rounds where it is advanced by those of the loop beside it. */
static void test_counters(void)
{
    static const struct {
        const char *by;
        gboolean named;
    } cases[] = {
        { "KT", FALSE },       { "KT + 1", FALSE },
        { "2*KT", FALSE },     { "0 - 5", FALSE },
        { "M - ring", FALSE }, { "M", TRUE },
        { "KT*M", TRUE },      { "select(M > 3, KT, 1)", TRUE },
        { "0 - K", TRUE },     { "k.total", TRUE },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Small *s = small();
        ask(s, small_expr(s, "ring"));
        s->op[4].set = small_expr(s, cases[i].by);
        g_test_message("%s", cases[i].by);
        g_autoptr(GPtrArray) wide = ws_reach_wide(&s->p);
        g_assert_true((wide->len > 0) == cases[i].named);
        small_free(s);
    }
}

/* --- the oracle ---------------------------------------------------------------------------------
 */
typedef struct {
    gint64 value[SMALL_VARS];
    guint32 seed;  /* of LENS */
    gboolean none; /* divided by 0, no element, or more than 127 bits */
} Point;

__extension__ typedef __int128 Wide; /* products of what 32 bits hold, several of them */

static Wide lens(const Point *p, Wide i)
{
    const guint32 h = ((guint32)i + p->seed) * 2654435761u;
    return (gint64)(h % (2u * (guint32)WS_REACH_SIZE_MOST + 1u)) - WS_REACH_SIZE_MOST;
}

static Wide cut(Wide x, gboolean narrow)
{
    return narrow ? (gint32)(guint32)(guint64)x : x;
}

static Wide divide(Point *p, Wide a, Wide b, gboolean mod)
{
    if (b == 0) {
        p->none = TRUE;
        return 0;
    }
    const Wide q = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return mod ? a - q * b : q;
}

/* With `narrow` each operation is one of 32 bits. */
static Wide value_of(Point *p, const WsExpr *e, gboolean narrow)
{
    Wide x[3] = { 0, 0, 0 };
    if (e->op == WS_EXPR_INT)
        return cut(e->i, narrow);
    if (e->op == WS_EXPR_VAR)
        return cut(p->value[e->var], narrow);
    for (guint i = 0; i < e->n_args && i < 3; i++)
        x[i] = value_of(p, e->arg[i], narrow);
    if (e->op == WS_EXPR_INDEX)
        return lens(p, x[0]);
    if (e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB || e->op == WS_EXPR_MUL) {
        Wide r;
        const gboolean over = e->op == WS_EXPR_ADD   ? __builtin_add_overflow(x[0], x[1], &r)
                              : e->op == WS_EXPR_SUB ? __builtin_sub_overflow(x[0], x[1], &r)
                                                     : __builtin_mul_overflow(x[0], x[1], &r);
        p->none = p->none || over;
        return over ? 0 : cut(r, narrow);
    }
    if (e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD)
        return cut(divide(p, x[0], x[1], e->op == WS_EXPR_MOD), narrow);
    if (e->op == WS_EXPR_LT)
        return x[0] < x[1];
    if (e->op == WS_EXPR_AND)
        return x[0] && x[1];
    if (e->op == WS_EXPR_OR)
        return x[0] || x[1];
    if (e->op == WS_EXPR_NOT)
        return !x[0];
    if (e->op == WS_EXPR_NEG)
        return cut(-x[0], narrow);
    g_assert_true(e->op == WS_EXPR_CALL);
    if (e->func == WS_FUNC_MIN)
        return MIN(x[0], x[1]);
    if (e->func == WS_FUNC_MAX)
        return MAX(x[0], x[1]);
    if (e->func == WS_FUNC_SELECT)
        return x[0] ? x[1] : x[2];
    g_assert_true(e->func == WS_FUNC_CDIV);
    return cut(-divide(p, -x[0], x[1], FALSE), narrow);
}

static char *draw(GRand *rand, guint depth)
{
    static const char *const leaf[] = { "M", "N", "K", "KT", "tm", "tn", "k", "cta", "row0", "x" };
    static const char *const form[] = { "(%s + %s)",
                                        "(%s - %s)",
                                        "%s*%s",
                                        "(%s)/(%s)",
                                        "(%s) % (%s)",
                                        "min(%s, %s)",
                                        "cdiv(%s, %s)",
                                        "max(%s, %s)",
                                        "select(%s < 7, 3, %s)",
                                        "(%s < 900 && %s < 8)",
                                        "(%s < 90000 || %s < 8)" };
    const guint kind = (guint)g_rand_int_range(rand, 0, depth ? 16 : 4);
    if (kind == 0)
        return g_strdup_printf("%d", g_rand_int_range(rand, 0, 2000));
    if (kind < 4)
        return g_strdup(leaf[g_rand_int_range(rand, 0, G_N_ELEMENTS(leaf))]);
    g_autofree char *a = draw(rand, depth - 1), *b = draw(rand, depth - 1);
    if (kind == 4)
        return g_strdup_printf("LENS[%s]", a);
    g_auto(GStrv) part = g_strsplit(form[(kind - 5) % G_N_ELEMENTS(form)], "%s", -1);
    return g_strconcat(part[0], a, part[1], b, part[2], NULL);
}

static gint64 size_of(GRand *rand, gint64 most)
{
    const gint64 at = (gint64)g_rand_int(rand) % (most + 1);
    return g_rand_boolean(rand) ? MAX(most - at % 5, 0) : at >> g_rand_int_range(rand, 0, 28);
}

static gint64 in(GRand *rand, gint64 n)
{
    return n < 1 ? 0 : g_rand_boolean(rand) ? n - 1 : (gint64)g_rand_int(rand) % n;
}

static Point point_of(Small *s, GRand *rand, gint64 most)
{
    Point p = { .seed = g_rand_int(rand) };
    gint64 *v = p.value;
    for (guint i = SMALL_M; i <= SMALL_K; i++)
        v[i] = size_of(rand, most);
    v[SMALL_KT] = (gint64)value_of(&p, s->var[SMALL_KT].value, FALSE);
    v[SMALL_TM] = in(rand, (gint64)value_of(&p, s->tiles.axis[0].extent, FALSE));
    v[SMALL_TN] = in(rand, (gint64)value_of(&p, s->tiles.axis[1].extent, FALSE));
    v[SMALL_INDEX] = in(rand, v[SMALL_KT]);
    v[SMALL_TOTAL] = (gint64)g_rand_int(rand) >> 5;
    v[SMALL_ROW0] = (gint64)value_of(&p, s->var[SMALL_ROW0].value, FALSE);
    v[SMALL_X] = (gint64)value_of(&p, s->op[3].set, FALSE);
    return p;
}

/* The launch is taken where all that it is asked about fits. */
static gboolean taken(Point *p, GPtrArray *launch)
{
    for (guint i = 0; i < launch->len; i++) {
        const Wide x = value_of(p, launch->pdata[i], FALSE);
        if (x < G_MININT32 || x > G_MAXINT32)
            return FALSE;
    }
    return TRUE;
}

static void test_oracle(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(47);
    guint compared = 0, silent = 0, refused = 0;
    for (guint n = 0; n < 4000; n++) {
        Small *s = small();
        g_autofree char *text = draw(rand, 3);
        WsExpr *e = small_expr(s, text);
        ask(s, e);
        g_autoptr(GPtrArray) wide = ws_reach_wide(&s->p);
        gint64 most;
        g_autoptr(GPtrArray) launch = ws_reach_launch(&s->p, &most);
        silent += wide->len == 0;
        for (guint k = 0; wide->len == 0 && k < 20; k++) {
            Point p = point_of(s, rand, most);
            if (!taken(&p, launch)) {
                refused++;
                continue;
            }
            const Wide exact = value_of(&p, e, FALSE);
            const Wide kernel = value_of(&p, e, TRUE);
            if (p.none)
                continue;
            if (exact != kernel)
                g_test_message("%s: M %" G_GINT64_FORMAT " N %" G_GINT64_FORMAT
                               " K %" G_GINT64_FORMAT,
                               text, p.value[SMALL_M], p.value[SMALL_N], p.value[SMALL_K]);
            g_assert_true(exact == kernel);
            compared++;
        }
        small_free(s);
    }
    g_test_message("%u expressions of 4000 without a word, %u launches compared, %u refused",
                   silent, compared, refused);
    g_assert_cmpuint(silent, >, 1000);
    g_assert_cmpuint(compared, >, 10000);
    g_assert_cmpuint(refused, >, 1000);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/reach/table", test_table);
    g_test_add_func("/reach/places", test_places);
    g_test_add_func("/reach/sides", test_sides);
    g_test_add_func("/reach/counters", test_counters);
    g_test_add_func("/reach/oracle", test_oracle);
    return g_test_run();
}
