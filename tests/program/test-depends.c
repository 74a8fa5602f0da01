/* What names of a program depend on: each followed to what it is made of. */
#include "small.h"

#include "program/walk/depends.h"

enum {
    TILE = WS_DEPENDS_TILE,
    ORDER = WS_DEPENDS_ORDER,
    DATA = WS_DEPENDS_DATA,
    CTA = WS_DEPENDS_CTA,
    SIZES = WS_DEPENDS_SIZES
};

static const struct {
    const char *text;
    guint bits; /* with K as the size that is asked for */
} rows[] = {
    { "7", 0 },
    { "M*N", 0 },
    { "K", SIZES },
    { "KT + 1", SIZES },
    { "tm", TILE },
    { "row0", TILE | DATA },
    { "LENS[M]", DATA },
    { "k", 0 },
    { "tile", ORDER },
    { "tile.total", ORDER },
    { "k.total", ORDER | SIZES },
    { "ring", ORDER | SIZES },
    { "x", TILE | ORDER | SIZES },
    { "min(row0, cta)", TILE | DATA | CTA },
};

static void test_names(void)
{
    Small *s = small_new();
    gboolean sizes[SMALL_VARS] = { [SMALL_K] = TRUE };
    g_autoptr(WsDepends) d = ws_depends_new(&s->p, sizes);
    g_autoptr(WsDepends) plain = ws_depends_new(&s->p, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const WsExpr *e = small_expr(s, rows[i].text);
        g_test_message("%s", rows[i].text);
        g_assert_cmpuint(ws_depends_of(d, e), ==, rows[i].bits);
        g_assert_cmpuint(ws_depends_of(plain, e), ==, rows[i].bits & ~(guint)SIZES);
    }
    g_assert_cmpuint(ws_depends_of(d, NULL), ==, 0);
    small_free(s);
}

static void test_control(void)
{
    Small *s = small_new();
    gboolean sizes[SMALL_VARS] = { [SMALL_K] = TRUE };
    g_autoptr(WsDepends) d = ws_depends_new(&s->p, sizes);
    g_assert_cmpuint(ws_depends_control(d, &s->loop_k), ==, SIZES);
    g_assert_cmpuint(ws_depends_control(d, &s->branch), ==, 0);
    g_assert_cmpuint(ws_depends_control(d, &s->loop_tile), ==, 0);
    g_assert_cmpuint(ws_depends_around(d, &s->leaf[1]), ==, SIZES);
    s->branch.cond = small_expr(s, "row0 > 3 && tile > 0");
    g_autoptr(WsDepends) other = ws_depends_new(&s->p, NULL);
    g_assert_cmpuint(ws_depends_around(other, &s->leaf[1]), ==, TILE | DATA | ORDER);
    g_assert_cmpuint(ws_depends_around(other, &s->leaf[0]), ==, 0);
    /* a counter that a branch advances is as the branch was; one advanced in each round is not */
    s->op[1].var = SMALL_RING;
    s->op[1].set = small_expr(s, "1");
    g_autoptr(WsDepends) last = ws_depends_new(&s->p, NULL);
    g_assert_cmpuint(ws_depends_of(last, small_expr(s, "ring")), ==, TILE | DATA | ORDER);
    small_free(s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/depends/names", test_names);
    g_test_add_func("/depends/control", test_control);
    return g_test_run();
}
