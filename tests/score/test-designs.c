/* Every shipped design, played by the clock and drawn: nothing outside the page, nothing on top of
 * each other, and fast enough to follow a drag. */
#include "clock/clock.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"
#include "score/scene.h"

#include <string.h>

static gint by_row(gconstpointer pa, gconstpointer pb)
{
    const WsSceneItem *a = *(WsSceneItem *const *)pa, *b = *(WsSceneItem *const *)pb;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->x < b->x ? -1 : a->x > b->x;
}

static void check(const WsScene *s)
{
    g_autoptr(GPtrArray) sorted = g_ptr_array_new();
    for (guint i = 0; i < s->item->len; i++) {
        WsSceneItem *it = &g_array_index(s->item, WsSceneItem, i);
        g_assert_cmpfloat(it->x, >=, s->left - 0.01);
        g_assert_cmpfloat(it->x + it->w, <=, s->right + 0.01);
        g_assert_cmpfloat(it->y + it->h, <=, s->bottom);
        g_assert_nonnull(it->tip);
        g_assert_true(g_utf8_validate(it->tip, -1, NULL));
        g_ptr_array_add(sorted, it);
    }
    g_ptr_array_sort(sorted, by_row);
    for (guint i = 1; i < sorted->len; i++) {
        const WsSceneItem *a = sorted->pdata[i - 1], *b = sorted->pdata[i];
        if (a->row == b->row)
            g_assert_cmpfloat(a->x + a->w, <=, b->x + 0.02);
    }
    for (guint i = 0; i < s->edge->len; i++) {
        const WsSceneEdge *e = &g_array_index(s->edge, WsSceneEdge, i);
        g_assert_cmpfloat(e->x0, <=, e->x1 + 0.01);
        g_assert_cmpfloat(MIN(e->y0, e->y1), >=, s->top);
        g_assert_cmpfloat(MAX(e->y0, e->y1), <=, s->bottom);
    }
}

static void paint(const WsScene *s)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1600, 900);
    cairo_t *cr = cairo_create(surface);
    ws_scene_paint(s, cr, WS_THEME_LIGHT);
    ws_scene_paint(s, cr, WS_THEME_DARK);
    g_assert_cmpint(cairo_status(cr), ==, CAIRO_STATUS_SUCCESS);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
}

/* A scene of what is in sight alone: rows lie where they do in the whole one, what is in sight is
 * the same, and what is not has no items. */
static void check_sight(const WsProgram *p, WsTrace *t, guint staff)
{
    g_autoptr(WsScoreCache) cache = ws_score_cache_new();
    WsSceneOptions o = { .width = 1200,
                         .from = t->cycles / 3,
                         .to = t->cycles / 3 + MAX(t->cycles / 50, 4000),
                         .bare = TRUE,
                         .no_units = TRUE,
                         .no_edges = TRUE,
                         .no_tips = TRUE,
                         .cache = cache };
    g_autoptr(WsScene) whole = ws_scene_new(p, t, NULL, &o);
    guint agents = 0, in_whole = 0, in_part = 0;
    for (guint i = 0; i < whole->staff->len; i++)
        agents += g_array_index(whole->staff, WsSceneStaff, i).n_agents > 0;
    if (staff >= agents)
        return;
    const WsSceneStaff *seen = &g_array_index(whole->staff, WsSceneStaff, staff);
    o.sight0 = seen->y + 1;
    o.sight1 = seen->y + seen->h - 1;
    g_autoptr(WsScene) part = ws_scene_new(p, t, NULL, &o);
    g_assert_cmpfloat(part->height, ==, whole->height);
    g_assert_cmpuint(part->row->len, ==, whole->row->len);
    for (guint i = 0; i < whole->row->len; i++)
        g_assert_cmpfloat(g_array_index(part->row, WsSceneRow, i).y, ==,
                          g_array_index(whole->row, WsSceneRow, i).y);
    for (guint k = 0; k < 2; k++) {
        const WsScene *s = k ? part : whole;
        for (guint i = 0; i < s->item->len; i++) {
            const WsSceneItem *item = &g_array_index(s->item, WsSceneItem, i);
            const gboolean inside = item->y >= seen->y && item->y < seen->y + seen->h;
            *(k ? &in_part : &in_whole) += inside;
            if (k && !inside && item->shape != WS_SHAPE_SLOT) /* rings are not left out */
                for (guint n = 0; n < agents; n++) {
                    const WsSceneStaff *other = &g_array_index(whole->staff, WsSceneStaff, n);
                    g_assert_false(n != staff && ABS((gint)n - (gint)staff) > 1 &&
                                   item->y >= other->y && item->y < other->y + other->h);
                }
        }
    }
    g_assert_cmpuint(in_part, ==, in_whole);
    g_assert_cmpuint(in_part, >, 0);
}

static void test_design(gconstpointer data)
{
    const char *name = data;
    g_autofree char *file = g_strdup_printf("%s/tests/designs/%s", WS_SOURCE_ROOT, name);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    g_assert_nonnull(design);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autoptr(WsMachine) machine = ws_machine_load(NULL, NULL);
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, NULL, 0, TRUE, findings);
    g_assert_nonnull(v);
    g_autoptr(WsClockResult) r = ws_clock_run(p, v, machine, NULL, findings);
    if (!r || !r->trace) {
        g_test_skip("not supported by the timing model");
        return;
    }
    for (guint i = 0; i < 8; i++)
        check_sight(p, r->trace, i);
    g_autoptr(WsScene) s = ws_scene_new(p, r->trace, NULL, NULL);
    g_assert_cmpuint(s->item->len, >, 10);
    check(s);
    paint(s);
    /* Where there are rings there are stages, and somebody waits for somebody. */
    gboolean ring = FALSE;
    for (guint i = 0; i < s->row->len; i++)
        ring |= g_array_index(s->row, WsSceneRow, i).kind == WS_ROW_RING;
    g_assert_true(ring);
    /* All of it, and its overlay on itself. */
    WsSceneOptions all = { .from = 0, .to = r->trace->cycles + 1 };
    g_autoptr(WsScene) whole = ws_scene_new(p, r->trace, r->trace, &all);
    check(whole);
    paint(whole);
}

/* "WAIT full": what is translated is shouted here. */
static const char *shout(const char *text, gpointer data)
{
    static const struct {
        const char *text, *loud;
    } words[] = { { "wait", "WAIT" },
                  { "measured", "MEASURED" },
                  { "not separable: this launch claims tiles", "NOT SEPARABLE" },
                  { "%u warps", "%u WARPS" } };
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (!strcmp(text, words[i].text))
            return words[i].loud;
    return text;
}

static guint n_notes(const WsScene *s, guint *measured)
{
    guint n = 0;
    *measured = 0;
    for (guint i = 0; i < s->item->len; i++) {
        const WsSceneItem *it = &g_array_index(s->item, WsSceneItem, i);
        const WsSceneRow *row = &g_array_index(s->row, WsSceneRow, it->row);
        n += it->shape == WS_SHAPE_NOTE;
        *measured += it->shape != WS_SHAPE_NOTE && row->kind == WS_ROW_MEASURED;
    }
    return n;
}

/* Which tiles a CTA claimed is not recorded: where their rounds differ (causal attention) the rows
 * say so and show no bar; where all are alike (all of the keys), they are shown. */
static void test_claims(void)
{
    for (gint causal = 0; causal < 2; causal++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design =
            ws_design_load(WS_SOURCE_ROOT "/projects/attention-d128/design.wstave", findings);
        const WsSetting set = { "CAUSAL", causal };
        g_autoptr(WsProgram) p = ws_elaborate(design, &set, 1, findings);
        g_autoptr(WsMachine) machine = ws_machine_load(NULL, NULL);
        g_autoptr(WsLaunchValues) v = ws_launch_values(p, NULL, 0, TRUE, findings);
        g_autoptr(WsClockResult) r = ws_clock_run(p, v, machine, NULL, findings);
        g_assert_nonnull(r->trace);
        for (guint bare = 0; bare < 2; bare++) {
            WsSceneOptions o = { .bare = bare, .translate = shout };
            guint measured;
            g_autoptr(WsScene) s = ws_scene_new(p, r->trace, r->trace, &o);
            const guint notes = n_notes(s, &measured);
            if (!bare) /* there short bars are merged, and say nothing */
                check(s);
            paint(s);
            g_assert_cmpint(notes > 0, ==, causal);
            g_assert_cmpint(measured > 0, ==, !causal);
            gboolean words = FALSE, loud = FALSE, wait = FALSE;
            for (guint i = 0; i < s->item->len; i++) {
                const WsSceneItem *it = &g_array_index(s->item, WsSceneItem, i);
                words |= it->shape == WS_SHAPE_NOTE && !g_strcmp0(it->label, "NOT SEPARABLE");
                loud |= it->tip && g_str_has_prefix(it->tip, "WAIT ");
                wait |= it->tip && g_str_has_prefix(it->tip, "wait ");
            }
            g_assert_cmpint(words, ==, causal);
            g_assert_true(loud && !wait);
            for (guint i = 0; i < s->row->len; i++)
                g_assert_cmpstr(g_array_index(s->row, WsSceneRow, i).label, !=, "measured");
            g_assert_nonnull(strstr(g_array_index(s->staff, WsSceneStaff, 0).detail, "WARPS"));
        }
    }
}

int main(int argc, char **argv)
{
    static const char *const designs[] = {
        "gemm-cooperative.wstave",      "gemm-pingpong.wstave",
        "gemm-cluster.wstave",          "gemm-aliased.wstave",
        "gemm-fp8-block.wstave",        "attention-fa3-causal.wstave",
        "attention-fa3-dynamic.wstave", "attention-tle-pingpong.wstave",
        "sparse-mla-pipes.wstave",      "sparse-mla-seesaw.wstave"
    };
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *path = g_strdup_printf("/score/designs/%s", designs[i]);
        g_test_add_data_func(path, designs[i], test_design);
    }
    g_test_add_func("/score/claims", test_claims);
    return g_test_run();
}
