/* Launch values, tile orders and the walker, on a program built by hand. */
#include "model/design.h"
#include "model/finding.h"
#include "program/elaborate.h"
#include "program/walk/launch_values.h"
#include "small.h"

/* --- launch values -------------------------------------------------------------------------------
 */
static void values(void)
{
    Small *s = small_new();
    g_autoptr(WsFindings) findings = ws_findings_new();
    const WsSize sizes[] = { { "K", 129 }, { "M", 1000 } };
    WsLaunchValues *v = ws_launch_values(&s->p, sizes, 2, FALSE, findings);
    g_assert_nonnull(v);
    g_assert_cmpint(ws_launch_var(v, SMALL_KT), ==, 3);
    g_assert_cmpfloat(ws_launch_var_real(v, SMALL_S2), ==, 4.0);
    g_assert_cmpint(ws_launch_extent(v, 0), ==, 8);
    g_assert_cmpint(ws_launch_extent(v, 1), ==, 3);
    g_assert_cmpint(ws_launch_tiles(v), ==, 24);
    g_assert_cmpint(ws_launch_shape(v, 0, 0), ==, 8);
    g_assert_cmpint(ws_launch_stride(v, 0, 0), ==, 1);
    g_autofree char *text = ws_launch_sizes_text(v);
    g_assert_cmpstr(text, ==, "M=1000 N=768 K=129");
    ws_launch_values_free(v);
    v = ws_launch_values(&s->p, sizes, 1, TRUE, findings);
    g_assert_cmpint(ws_launch_var(v, SMALL_M), ==, 10);
    g_assert_cmpint(ws_launch_tiles(v), ==, 1);
    ws_launch_values_free(v);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_HINT), ==, 0);
    small_free(s);
}

static void launch_errors(void)
{
    static const struct {
        const char *size;
        gint64 value;
        const char *assume, *shape;
        WsRuleId rule;
        const char *says;
    } cases[] = {
        { "Q", 1, NULL, NULL, WS_RULE_R_SIZE, "no size 'Q'" },
        { "K", -1, NULL, NULL, WS_RULE_R_LAUNCH, "size K is -1" },
        { "K", 0, "K >= 1", NULL, WS_RULE_R_ASSUME, "K >= 1 does not hold for K = 0" },
        { "K", 5, "M > K && KT == 2", NULL, WS_RULE_R_ASSUME, "for M = 512, K = 5, KT = 1" },
        { "K", 5, "KT/(K - 5) > 0", NULL, WS_RULE_R_LAUNCH, "division of 1 by zero" },
        { "K", 5, "scale*4.0 < 2.0", NULL, WS_RULE_R_ASSUME, "for scale = 0.5" },
        { "K", 5, NULL, "K - 6", WS_RULE_R_LAUNCH, "extent 0 of tensor LENS is -1" },
        { "K", G_MAXINT64, NULL, "K*2", WS_RULE_R_LAUNCH, "does not fit in 64 bits" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Small *s = small_new();
        g_autoptr(WsFindings) findings = ws_findings_new();
        WsSize size = { cases[i].size, cases[i].value };
        if (cases[i].assume) {
            s->assume[0] = small_expr(s, cases[i].assume);
            s->assume_text[0] = (char *)cases[i].assume;
            s->p.n_assume = 1;
        }
        if (cases[i].shape)
            s->tensor.shape[0] = small_expr(s, cases[i].shape);
        g_assert_null(ws_launch_values(&s->p, &size, 1, FALSE, findings));
        g_assert_cmpuint(findings->list->len, ==, 1);
        const WsFinding *f = g_ptr_array_index(findings->list, 0);
        g_assert_cmpint(f->rule, ==, cases[i].rule);
        if (!strstr(f->message, cases[i].says))
            g_error("'%s' lacks '%s'", f->message, cases[i].says);
        small_free(s);
    }
}

/* Each of 3,000 names is the sum of the one before with itself: the one that overflows is told
 * once, in no time. Another that fails for itself is told, too. */
static void chains(void)
{
    g_autoptr(GString) text = g_string_new(
        "{\"warpstave\": 1, \"name\": \"chain\", \"target\": \"sm_90a\", \"sizes\": {\"N\": 0},"
        " \"let\": {\"c0\": \"N + 1\", ");
    for (guint i = 1; i < 3000; i++)
        g_string_append_printf(text, "\"c%u\": \"c%u + c%u\", ", i, i - 1, i - 1);
    g_string_append(text,
                    "\"q\": \"1/N\"}, \"tensors\": [],"
                    " \"tiles\": {\"launch\": \"single\", \"axes\": {\"t\": 1}}, \"groups\":"
                    " [{\"name\": \"work\", \"role\": \"worker\", \"warps\": 4, \"body\": []}]}");
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text->str, text->len, "chain", findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p)
        g_error("%s", ((WsFinding *)g_ptr_array_index(findings->list, 0))->message);
    g_autoptr(WsFindings) told = ws_findings_new();
    g_assert_null(ws_launch_values(p, NULL, 0, FALSE, told));
    g_assert_cmpuint(told->list->len, ==, 2);
    g_assert_cmpstr(((WsFinding *)g_ptr_array_index(told->list, 0))->at, ==, "let/c63");
    g_assert_cmpstr(((WsFinding *)g_ptr_array_index(told->list, 1))->at, ==, "let/q");
}

/* Assumptions about tiles are not the launch's. */
static void assume_tile(void)
{
    Small *s = small_new();
    s->assume[0] = small_expr(s, "row0 > 1000");
    s->assume[1] = small_expr(s, "KT >= 1");
    s->assume_text[0] = s->assume_text[1] = (char *)"x";
    s->p.n_assume = 2;
    g_autoptr(WsLaunchValues) v = ws_launch_values(&s->p, NULL, 0, FALSE, NULL);
    g_assert_nonnull(v);
    g_clear_pointer(&v, ws_launch_values_free);
    small_free(s);
}

static void grid(void)
{
    static const struct {
        WsLaunch launch;
        guint cluster;
        const char *grid;
        gint64 m, ctas;
    } cases[] = {
        { WS_LAUNCH_PERSISTENT, 1, NULL, 512, 132 }, { WS_LAUNCH_PERSISTENT, 8, NULL, 512, 128 },
        { WS_LAUNCH_PERSISTENT, 2, "K/3", 512, 66 }, { WS_LAUNCH_DYNAMIC, 1, "K", 512, 200 },
        { WS_LAUNCH_SINGLE, 1, NULL, 512, 12 },      { WS_LAUNCH_SINGLE, 2, NULL, 512, 24 },
        { WS_LAUNCH_PERSISTENT, 1, NULL, 0, 0 },     { WS_LAUNCH_SINGLE, 1, NULL, 0, 0 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Small *s = small_new();
        WsSize m = { "M", cases[i].m };
        s->p.cluster = cases[i].cluster;
        s->p.tiles->launch = cases[i].launch;
        s->p.tiles->grid = cases[i].grid ? small_expr(s, cases[i].grid) : NULL;
        g_autoptr(WsLaunchValues) v = ws_launch_values(&s->p, &m, 1, FALSE, NULL);
        g_assert_cmpint(ws_launch_grid(v, 132), ==, cases[i].ctas);
        g_clear_pointer(&v, ws_launch_values_free);
        small_free(s);
    }
}

/* --- orders
 * ---------------------------------------------------------------------------------------- */
static char *order_text(const WsLaunchValues *v, guint n)
{
    GString *text = g_string_new(NULL);
    for (guint id = 0; id < n; id++) {
        gint64 c[2];
        ws_launch_tile(v, id, c);
        g_string_append_printf(text, "%s%d%d", id ? " " : "", (int)c[0], (int)c[1]);
    }
    return g_string_free(text, FALSE);
}

static void orders(void)
{
    static const struct {
        WsOrder order;
        guint axis, axis2;
        gint64 group;
        guint reverse; /* bit per axis */
        gint64 m, n;
        const char *tiles;
    } cases[] = {
        { WS_ORDER_LINEAR, 0, 0, 0, 0, 384, 512, "00 01 10 11 20 21" },
        { WS_ORDER_LINEAR, 0, 0, 0, 1, 384, 512, "20 21 10 11 00 01" },
        { WS_ORDER_LINEAR, 0, 0, 0, 2, 384, 512, "01 00 11 10 21 20" },
        { WS_ORDER_GROUPED, 0, 0, 2, 0, 384, 768, "00 10 01 11 02 12 20 21 22" },
        { WS_ORDER_GROUPED, 0, 0, 8, 0, 384, 512, "00 10 20 01 11 21" },
        { WS_ORDER_GROUPED, 1, 0, 2, 0, 256, 768, "00 01 10 11 02 12" },
        { WS_ORDER_GROUPED, 0, 0, 2, 1, 384, 512, "20 10 21 11 00 01" },
        { WS_ORDER_HILBERT, 0, 1, 0, 0, 256, 512, "00 01 11 10" },
        { WS_ORDER_HILBERT, 0, 1, 0, 0, 512, 1024,
          "00 10 11 01 02 03 13 12 22 23 33 32 31 21 20 30" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Small *s = small_new();
        WsSize sizes[] = { { "M", cases[i].m }, { "N", cases[i].n } };
        WsTiles *t = s->p.tiles;
        t->order = cases[i].order;
        t->order_axis = cases[i].axis;
        t->order_axis2 = cases[i].axis2;
        t->order_group = cases[i].group;
        for (guint a = 0; a < 2; a++)
            t->axis[a].reverse = (cases[i].reverse >> a) & 1;
        g_autoptr(WsLaunchValues) v = ws_launch_values(&s->p, sizes, 2, FALSE, NULL);
        g_autofree char *text = order_text(v, (guint)ws_launch_tiles(v));
        g_assert_cmpstr(text, ==, cases[i].tiles);
        g_clear_pointer(&v, ws_launch_values_free);
        small_free(s);
    }
}

/* Every order visits every tile exactly once, whatever the extents; Hilbert moves to neighbours. */
static void orders_cover(void)
{
    for (gint64 m = 1; m <= 17; m++)
        for (gint64 n = 1; n <= 17; n++)
            for (guint order = 0; order < 3; order++) {
                Small *s = small_new();
                WsSize sizes[] = { { "M", 128 * m }, { "N", 256 * n } };
                s->p.tiles->order =
                    (WsOrder[]){ WS_ORDER_LINEAR, WS_ORDER_GROUPED, WS_ORDER_HILBERT }[order];
                s->p.tiles->order_axis2 = 1;
                s->p.tiles->order_group = 5;
                g_autoptr(WsLaunchValues) v = ws_launch_values(&s->p, sizes, 2, FALSE, NULL);
                guint8 seen[17][17] = { { 0 } };
                gint64 before[2] = { 0, 0 };
                for (gint64 id = 0; id < m * n; id++) {
                    gint64 c[2];
                    ws_launch_tile(v, id, c);
                    g_assert_true(c[0] >= 0 && c[0] < m && c[1] >= 0 && c[1] < n);
                    g_assert_cmpuint(seen[c[0]][c[1]]++, ==, 0);
                    if (order == 2)
                        g_assert_true(ABS(c[0] - before[0]) <= 1 && ABS(c[1] - before[1]) <= 1);
                    before[0] = c[0], before[1] = c[1];
                }
                g_clear_pointer(&v, ws_launch_values_free);
                small_free(s);
            }
}

/* --- walking
 * ---------------------------------------------------------------------------------------- */

static gboolean zero(gpointer data, gint tensor, const gint64 *at, gint64 *value)
{
    *value = 0;
    return TRUE;
}

static char *walk(Small *s, const WsLaunchValues *v, WsTilesStrided *tiles, GError **error)
{
    g_autoptr(WsWalker) w = ws_walker_new(&s->p, v, 0, 0, ws_tiles_strided, tiles);
    ws_walker_set_element(w, zero, NULL);
    GString *text = g_string_new(NULL);
    WsStep step;
    while (ws_walker_next(w, &step, error)) {
        g_autofree char *rounds = ws_step_rounds_text(&step);
        g_string_append_printf(text, "%s(%s", step.op->id, rounds);
        gint64 x = 0;
        if (step.op->kind == WS_OP_LET &&
            ws_walker_eval(w, &(WsExpr){ .op = WS_EXPR_VAR, .var = SMALL_X }, &x, NULL))
            g_string_append_printf(text, " x=%d", (int)x);
        if (step.op->kind == WS_OP_ADVANCE &&
            ws_walker_eval(w, &(WsExpr){ .op = WS_EXPR_VAR, .var = SMALL_RING }, &x, NULL))
            g_string_append_printf(text, " ring=%d", (int)x);
        if (step.op->kind == WS_OP_MATH &&
            ws_walker_eval(w, &(WsExpr){ .op = WS_EXPR_VAR, .var = SMALL_ROW0 }, &x, NULL))
            g_string_append_printf(text, " row0=%d", (int)x);
        g_string_append(text, ") ");
    }
    return g_string_free(text, FALSE);
}

static void rounds(void)
{
    Small *s = small_new();
    g_autoptr(GError) error = NULL;
    const WsSize sizes[] = { { "K", 100 }, { "N", 256 } };
    g_autoptr(WsLaunchValues) v = ws_launch_values(&s->p, sizes, 2, FALSE, NULL);
    WsTilesStrided tiles = { 1, 2, ws_launch_tiles(v) }; /* tiles 1 and 3: tm 1 and 3 */
    g_autofree char *text = walk(s, v, &tiles, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(text, ==,
                    "w(tile 0, k 0) m(tile 0, k 0 row0=128) w(tile 0, k 1) a(tile 0, k 1) "
                    "l(tile 0 x=102) v(tile 0 ring=9) "
                    "w(tile 1, k 2) m(tile 1, k 2 row0=384) w(tile 1, k 3) a(tile 1, k 3) "
                    "l(tile 1 x=304) v(tile 1 ring=11) e() ");
    g_clear_pointer(&v, ws_launch_values_free);
    small_free(s);
}

/* from and step_by pick positions; k counts down from a bound; no tile and no round are both fine.
 */
static void strided_and_empty(void)
{
    Small *s = small_new();
    g_autoptr(GError) error = NULL;
    const WsSize sizes[] = { { "K", 0 }, { "N", 256 } };
    g_autoptr(WsLaunchValues) v = ws_launch_values(&s->p, sizes, 2, FALSE, NULL);
    s->loop_tile.from = small_expr(s, "1");
    s->loop_tile.step_by = small_expr(s, "2");
    WsTilesStrided tiles = { 0, 1, ws_launch_tiles(v) };
    g_autofree char *text = walk(s, v, &tiles, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(text, ==,
                    "l(tile 0 x=100) v(tile 0 ring=7) l(tile 1 x=300) v(tile 1 ring=7) e() ");
    tiles.count = 0;
    g_autofree char *none = walk(s, v, &tiles, &error);
    g_assert_cmpstr(none, ==, "e() ");
    g_clear_pointer(&v, ws_launch_values_free);
    small_free(s);
}

/* A single launch has its tile open without a loop over tiles. */
static void single(void)
{
    Small *s = small_new();
    g_autoptr(GError) error = NULL;
    s->p.tiles->launch = WS_LAUNCH_SINGLE;
    s->agent.body = &s->seq_tile;
    g_autoptr(WsLaunchValues) v = ws_launch_values(&s->p, NULL, 0, FALSE, NULL);
    WsTilesStrided tiles = { 4, ws_launch_tiles(v), ws_launch_tiles(v) };
    g_autofree char *text = walk(s, v, &tiles, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(text, ==,
                    "w(k 0) m(k 0 row0=128) w(k 1) a(k 1) w(k 2) a(k 2) w(k 3) a(k 3) "
                    "l( x=104) v( ring=11) ");
    g_clear_pointer(&v, ws_launch_values_free);
    small_free(s);
}

static gboolean lens(gpointer data, gint tensor, const gint64 *at, gint64 *value)
{
    *value = 5;
    return TRUE;
}

static void elements(void)
{
    Small *s = small_new();
    g_autoptr(GError) error = NULL;
    const WsSize sizes[] = { { "K", 1 }, { "N", 256 } };
    g_autoptr(WsLaunchValues) v = ws_launch_values(&s->p, sizes, 2, FALSE, NULL);
    WsTilesStrided tiles = { 0, 3, ws_launch_tiles(v) };
    g_autoptr(WsWalker) w = ws_walker_new(&s->p, v, 0, 0, ws_tiles_strided, &tiles);
    WsStep step;
    gint64 row0 = 0;
    /* what nobody says is not 0 */
    g_assert_true(ws_walker_next(w, &step, &error));
    g_assert_false(ws_walker_eval(w, small_expr(s, "row0 + LENS[1]"), &row0, &error));
    g_assert_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_NAME);
    g_clear_error(&error);
    g_clear_pointer(&w, ws_walker_free);
    w = ws_walker_new(&s->p, v, 0, 0, ws_tiles_strided, &tiles);
    ws_walker_set_element(w, lens, NULL);
    g_assert_true(ws_walker_next(w, &step, &error));
    g_assert_cmpint(ws_walker_position(w), ==, 0);
    g_assert_true(ws_walker_eval(w, small_expr(s, "row0 + LENS[99] + LENS[-1]"), &row0, &error));
    g_assert_cmpint(row0, ==, 5);
    g_clear_pointer(&w, ws_walker_free);
    g_clear_pointer(&v, ws_launch_values_free);
    small_free(s);
}

static void errors(void)
{
    static const struct {
        const char *count, *set, *cond, *says;
    } cases[] = {
        { "1/tm", NULL, NULL, "division of 1 by zero" },
        { NULL, "9223372036854775807", NULL, "counter ring does not fit" },
        { NULL, NULL, "x == 0", "x has no value here" },
        { "9223372036854775807", NULL, NULL, "operations and rounds were walked" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Small *s = small_new();
        g_autoptr(GError) error = NULL;
        g_autoptr(WsLaunchValues) v = ws_launch_values(&s->p, NULL, 0, FALSE, NULL);
        WsTilesStrided tiles = { 0, 1, ws_launch_tiles(v) };
        if (cases[i].count)
            s->loop_k.count = small_expr(s, cases[i].count);
        if (i == 3)
            s->loop_k.n_kids = 0; /* a loop without a body must not run for ever either */
        if (cases[i].set)
            s->op[4].set = small_expr(s, cases[i].set);
        if (cases[i].cond)
            s->branch.cond = small_expr(s, cases[i].cond);
        g_autofree char *text = walk(s, v, &tiles, &error);
        g_assert_nonnull(error);
        if (!strstr(error->message, cases[i].says))
            g_error("'%s' lacks '%s'", error->message, cases[i].says);
        g_clear_pointer(&v, ws_launch_values_free);
        small_free(s);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/program/walk/values", values);
    g_test_add_func("/program/walk/launch-errors", launch_errors);
    g_test_add_func("/program/walk/chains", chains);
    g_test_add_func("/program/walk/assume-tile", assume_tile);
    g_test_add_func("/program/walk/grid", grid);
    g_test_add_func("/program/walk/orders", orders);
    g_test_add_func("/program/walk/orders-cover", orders_cover);
    g_test_add_func("/program/walk/rounds", rounds);
    g_test_add_func("/program/walk/strided-and-empty", strided_and_empty);
    g_test_add_func("/program/walk/single", single);
    g_test_add_func("/program/walk/elements", elements);
    g_test_add_func("/program/walk/errors", errors);
    return g_test_run();
}
