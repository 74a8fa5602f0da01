/* The score of the designs of gfx950: two staffs a stage apart, and a line for each barrier round
 * that both halves meet, with what each stands at. */
#include "clock/clock.h"
#include "designs.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/walk/launch_values.h"
#include "score/scene.h"

typedef struct {
    WsProgram *p;
    WsClockResult *r;
    WsScene *s;
} Drawn;

static Drawn draw(const char *design, const AmdChange *change, guint n, const WsSize *size,
                  guint n_size, const WsSceneOptions *o)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsMachine) m = ws_machine_for(NULL, "gfx950", NULL);
    Drawn d = { .p = amd_load(design, change, n, NULL, 0) };
    WsLaunchValues *v = ws_launch_values(d.p, size, n_size, FALSE, findings);
    d.r = ws_clock_run(d.p, v, m, NULL, findings);
    g_assert_nonnull(d.r);
    ws_launch_values_free(v);
    d.s = ws_scene_new(d.p, d.r->trace, NULL, o);
    return d;
}

static void drawn_clear(Drawn *d)
{
    ws_scene_free(d->s);
    ws_clock_result_free(d->r);
    ws_program_unref(d->p);
}

static const char *at(const Drawn *d, const WsSceneMeet *m, guint half)
{
    const WsOp *op = d->p->op[m->op[half]];
    return op->label ? op->label : op->id;
}

/* Short enough that nothing is folded: 3 rounds of the loop. */
static const WsSize three[] = { { "K", 160 } };

/* By hand: the halves meet at the prelude; then the lower one is at the border of mem while the
 * upper one is a stage later, and from then on the border of the one is the other's of the stage
 * before. */
static void rounds(void)
{
    static const struct {
        const char *lower, *upper;
    } pairs[] = {
        { "stages begin", "stages begin" },    { "border of mem", "one stage later" },
        { "border of mfma", "border of mem" }, { "border of mem", "border of mfma" },
        { "border of mfma", "border of mem" }, { "border of mem", "border of mfma" },
        { "border of mfma", "border of mem" }, { "one stage sooner", "border of mfma" },
        { "sync group", "sync group" },
    };
    const WsSceneOptions whole = { .from = 0, .to = 20000 };
    Drawn d = draw("gemm-gfx950", NULL, 0, three, 1, &whole);
    g_assert_true(d.s->halves);
    g_assert_cmpuint(d.s->meet->len, ==, G_N_ELEMENTS(pairs));
    double last = 0;
    for (guint i = 0; i < d.s->meet->len; i++) {
        const WsSceneMeet *m = &g_array_index(d.s->meet, WsSceneMeet, i);
        g_assert_cmpuint(m->number, ==, i + 1);
        g_assert_cmpstr(at(&d, m, 0), ==, pairs[i].lower);
        g_assert_cmpstr(at(&d, m, 1), ==, pairs[i].upper);
        g_assert_cmpfloat(m->x, >, last);
        last = m->x;
        /* from the issue row of the one staff to that of the other */
        g_assert_cmpfloat(m->y0, >=, d.s->top);
        g_assert_cmpfloat(m->y1, <=, d.s->bottom);
        const WsSceneStaff *upper = &g_array_index(d.s->staff, WsSceneStaff, 1);
        g_assert_cmpfloat(m->y0, <, upper->y);
        g_assert_cmpfloat(m->y1, >, upper->y);
    }
    drawn_clear(&d);
}

/* Both halves leave at the line: no product of either lies across it. */
static void between(void)
{
    const WsSceneOptions whole = { .from = 0, .to = 20000 };
    Drawn d = draw("gemm-gfx950", NULL, 0, three, 1, &whole);
    guint products = 0;
    for (guint i = 0; i < d.s->item->len; i++) {
        const WsSceneItem *item = &g_array_index(d.s->item, WsSceneItem, i);
        if (item->op == G_MAXUINT || item->kind != WS_ITEM_MMA)
            continue;
        products++;
        for (guint k = 0; k < d.s->meet->len; k++) {
            const double x = g_array_index(d.s->meet, WsSceneMeet, k).x;
            g_assert_true(x <= item->x + 1 || x >= item->x + item->w - 1);
        }
    }
    g_assert_cmpuint(products, ==, 2 * (3 + 2));
    drawn_clear(&d);
}

static void words(void)
{
    const WsSceneOptions whole = { .from = 0, .to = 20000 };
    Drawn d = draw("gemm-gfx950", NULL, 0, three, 1, &whole);
    guint told = 0;
    for (guint i = 0; i < d.s->item->len; i++) {
        const WsSceneItem *item = &g_array_index(d.s->item, WsSceneItem, i);
        told +=
            item->tip && strstr(item->tip, "barrier round 3: meets \"border of mem\" of all.upper");
        told += item->tip &&
                strstr(item->tip, "barrier round 3: meets \"border of mfma\" of all.lower");
    }
    g_assert_cmpuint(told, ==, 2);
    gboolean units = FALSE;
    for (guint i = 0; i < d.s->staff->len; i++)
        units |= strcmp(g_array_index(d.s->staff, WsSceneStaff, i).name, "matrix units") == 0;
    g_assert_true(units);
    for (guint i = 0; i < d.s->text->len; i++)
        g_assert_null(strstr(g_array_index(d.s->text, WsSceneText, i).text, "tensor core"));
    drawn_clear(&d);
}

/* A window in the middle counts on from the start, and what is drawn on screen has them too. */
static void window(void)
{
    const WsSize size[] = { { "K", 4096 } };
    Drawn all = draw("gemm-gfx950", NULL, 0, size, 1, NULL);
    const gint64 from = all.r->played / 2;
    const WsSceneOptions part = { .from = from, .to = from + 5000, .bare = TRUE, .width = 1200 };
    g_autoptr(WsScene) s = ws_scene_new(all.p, all.r->trace, NULL, &part);
    g_assert_cmpuint(s->meet->len, >, 6);
    for (guint i = 0; i < s->meet->len; i++) {
        const WsSceneMeet *m = &g_array_index(s->meet, WsSceneMeet, i);
        g_assert_true(m->at >= from && m->at <= from + 5000);
        g_assert_cmpuint(m->number, >, 100);
        if (i)
            g_assert_cmpuint(m->number, ==, g_array_index(s->meet, WsSceneMeet, i - 1).number + 1);
    }
    drawn_clear(&all);
}

/* With a gap of two stages the upper half joins two rounds more before it begins. */
static void gap(void)
{
    static const AmdChange two[] = { { "\"stage\": \"mem\", \"priority\": 1,",
                                       "\"stage\": \"mem\", \"priority\": 1, \"phase_gap\": 2," } };
    const WsSceneOptions whole = { .from = 0, .to = 20000 };
    Drawn d = draw("gemm-gfx950", two, 1, three, 1, &whole);
    const WsSceneMeet *m = &g_array_index(d.s->meet, WsSceneMeet, 0);
    g_assert_cmpuint(d.s->meet->len, ==, 10);
    g_assert_cmpstr(at(&d, m + 2, 0), ==, "border of mfma");
    g_assert_cmpstr(at(&d, m + 2, 1), ==, "one stage later");
    g_assert_cmpstr(at(&d, m + 3, 0), ==, "border of mem");
    g_assert_cmpstr(at(&d, m + 3, 1), ==, "border of mem");
    drawn_clear(&d);
}

/* Loads that stand outside of all loops fill their stages, too. */
static void first_fills(void)
{
    const WsSize size[] = { { "K", 256 } };
    const WsSceneOptions whole = { .from = 0, .to = 30000 };
    Drawn d = draw("gemm-gfx950-split", NULL, 0, size, 1, &whole);
    guint filling = 0;
    for (guint i = 0; i < d.s->item->len; i++) {
        const WsSceneItem *item = &g_array_index(d.s->item, WsSceneItem, i);
        filling += item->kind == WS_ITEM_FILLING && item->start < 2000;
    }
    g_assert_cmpuint(filling, ==, 5); /* B, A, A; B, A */
    drawn_clear(&d);
}

/* Every design, whole and narrow, in both themes. */
static void painted(void)
{
    static const char *const designs[] = { "gemm-gfx950", "gemm-gfx950-split", "attention-gfx950",
                                           "refuted-gemm-gfx950-late-wait" };
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++)
        for (guint narrow = 0; narrow < 2; narrow++) {
            const WsSceneOptions o = { .width = narrow ? 480 : 1600 };
            Drawn d = draw(designs[i], NULL, 0, NULL, 0, &o);
            cairo_surface_t *surface =
                cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1600, (int)d.s->height);
            cairo_t *cr = cairo_create(surface);
            ws_scene_paint(d.s, cr, WS_THEME_LIGHT);
            ws_scene_paint(d.s, cr, WS_THEME_DARK);
            g_assert_cmpint(cairo_status(cr), ==, CAIRO_STATUS_SUCCESS);
            cairo_destroy(cr);
            cairo_surface_destroy(surface);
            g_assert_cmpuint(d.s->meet->len, >, 4);
            drawn_clear(&d);
        }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/amd/score/rounds", rounds);
    g_test_add_func("/amd/score/between", between);
    g_test_add_func("/amd/score/words", words);
    g_test_add_func("/amd/score/window", window);
    g_test_add_func("/amd/score/gap", gap);
    g_test_add_func("/amd/score/first-fills", first_fills);
    g_test_add_func("/amd/score/painted", painted);
    return g_test_run();
}
