/* Every shipped design, played by the clock and drawn: nothing outside the page, nothing on top of
 * each other, and fast enough to follow a drag. */
#include "clock/clock.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"
#include "score/scene.h"
#include "trace/bind.h"

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

/* Bound as far as it is in sight, or altogether: the same edges and stages. */
static void check_bound(const WsProgram *p, WsTrace *t, gint64 from, gint64 to)
{
    g_autoptr(WsScoreCache) cache = ws_score_cache_new();
    WsSceneOptions o = { .from = from, .to = to, .cache = cache }; /* few records: all of them */
    g_autoptr(WsScene) all = ws_scene_new(p, t, NULL, &o);
    o.cache = NULL;
    g_autoptr(WsScene) part = ws_scene_new(p, t, NULL, &o);
    g_assert_cmpuint(part->edge->len, ==, all->edge->len);
    g_assert_cmpuint(part->item->len, ==, all->item->len);
    for (guint i = 0; i < all->edge->len; i++) {
        const WsSceneEdge *a = &g_array_index(all->edge, WsSceneEdge, i);
        const WsSceneEdge *b = &g_array_index(part->edge, WsSceneEdge, i);
        g_assert_cmpuint(a->from_op, ==, b->from_op);
        g_assert_cmpuint(a->to_op, ==, b->to_op);
        g_assert_cmpfloat(a->x0, ==, b->x0);
        g_assert_cmpfloat(a->x1, ==, b->x1);
        g_assert_cmpint(a->exposed, ==, b->exposed);
    }
    for (guint i = 0; i < all->item->len; i++)
        g_assert_cmpstr(g_array_index(all->item, WsSceneItem, i).tip, ==,
                        g_array_index(part->item, WsSceneItem, i).tip);
}

/* Only what is asked about, and that as it is. */
static void check_within(const WsProgram *p, WsTrace *t)
{
    g_autofree gint32 *lo = g_new(gint32, p->n_ops + 1), *hi = g_new(gint32, p->n_ops + 1);
    for (guint i = 0; i < p->n_ops; i++) {
        lo[i] = 3;
        hi[i] = i % 3 ? 5 : 2; /* every third has none */
    }
    g_autoptr(WsBind) all = ws_bind_new(p, t, 0, 0, 2);
    g_autoptr(WsBind) some = ws_bind_new_within(p, t, 0, 0, 2, lo, hi);
    guint same = 0;
    for (guint op = 0; op < p->n_ops; op++)
        for (gint32 round = -1; round < 8; round++) {
            const WsBound *a = ws_bind_get(all, op, round), *b = ws_bind_get(some, op, round);
            if (round < lo[op] || round > hi[op] || !a) {
                g_assert_null(b);
                continue;
            }
            g_assert_cmpint(a->use, ==, b->use);
            g_assert_cmpint(a->slot, ==, b->slot);
            g_assert_cmpint(a->turn, ==, b->turn);
            g_assert_cmpuint(a->n_access, ==, b->n_access);
            for (guint k = 0; k < a->n_access; k++)
                g_assert_cmpint(a->access[k].stage, ==, b->access[k].stage);
            same++;
        }
    g_assert_cmpuint(ws_bind_size(some), ==, same);
    g_assert_cmpuint(same, <, ws_bind_size(all));
}

/* Of barriers alone: the same values and contributors, and nothing besides. */
static void check_barriers(const WsProgram *p, WsTrace *t)
{
    g_autoptr(WsBind) all = ws_bind_new(p, t, 0, 0, 2);
    g_autoptr(WsBind) some = ws_bind_new_barriers(p, t, 0, 0, 2);
    guint same = 0;
    for (guint op = 0; op < p->n_ops; op++)
        for (gint32 round = -1; round < 40; round++) {
            const WsBound *a = ws_bind_get(all, op, round), *b = ws_bind_get(some, op, round);
            const gint barrier = p->op[op]->barrier;
            if (!a || barrier < 0) {
                g_assert_null(b);
                continue;
            }
            g_assert_cmpint(a->element, ==, b->element);
            g_assert_cmpint(a->use, ==, b->use);
            g_assert_cmpint(a->slot, ==, b->slot);
            g_assert_cmpint(a->turn, ==, b->turn);
            g_assert_cmpuint(b->n_access, ==, 0);
            const GArray *x =
                ws_bind_contributors(all, (guint)barrier, a->element, a->slot, a->turn);
            const GArray *y =
                ws_bind_contributors(some, (guint)barrier, a->element, a->slot, a->turn);
            g_assert_cmpint(x != NULL, ==, y != NULL);
            if (x)
                g_assert_cmpmem(x->data, x->len * sizeof(WsTracePlace), y->data,
                                y->len * sizeof(WsTracePlace));
            same++;
        }
    g_assert_cmpuint(ws_bind_size(some), >=, same > 0);
    g_assert_cmpuint(ws_bind_size(some), <=, ws_bind_size(all));
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
    g_autoptr(WsMachine) machine = ws_machine_for(NULL, p->target, NULL);
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, NULL, 0, TRUE, findings);
    g_assert_nonnull(v);
    g_autoptr(WsClockResult) r = ws_clock_run(p, v, machine, NULL, findings);
    if (!r || !r->trace) {
        g_test_skip("not supported by the timing model");
        return;
    }
    check_within(p, r->trace);
    check_barriers(p, r->trace);
    check_bound(p, r->trace, 0, 0);
    for (guint i = 0; i < 5; i++)
        check_bound(p, r->trace, r->trace->cycles * i / 5,
                    r->trace->cycles * i / 5 + MAX(r->trace->cycles / 40, 3000));
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
                  { "other tiles than were simulated", "OTHER TILES" },
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

/* A run whose CTA claimed the tiles of the prediction, others, or nobody knows which. */
typedef enum { SAME_TILES, OTHER_TILES, UNKNOWN_TILES } Claimed;

static WsTrace *run_of(const WsProgram *p, const WsTrace *predicted, Claimed claimed)
{
    WsTrace *t = ws_trace_new(p, WS_TRACE_MEASURED);
    ws_trace_append(t, predicted);
    g_assert_cmpuint(t->claimed->len, >=, 1);
    for (guint i = 0; i < t->claimed->len; i++)
        g_array_index(t->claimed, WsTraceClaim, i).tile += claimed == OTHER_TILES;
    if (claimed == UNKNOWN_TILES)
        g_array_set_size(t->claimed, 0);
    for (guint i = 0; i < predicted->size->len; i++)
        ws_trace_add_size(t, g_array_index(predicted->size_name, char *, i),
                          g_array_index(predicted->size, gint64, i));
    ws_trace_finish(t);
    return t;
}

static void check_claims(const WsProgram *p, WsTrace *predicted, gint causal, Claimed claimed,
                         gboolean bare)
{
    g_autoptr(WsTrace) run = run_of(p, predicted, claimed);
    WsSceneOptions o = { .bare = bare, .translate = shout };
    const gboolean apart = causal && claimed != SAME_TILES;
    guint measured;
    g_autoptr(WsScene) s = ws_scene_new(p, predicted, run, &o);
    const guint notes = n_notes(s, &measured);
    if (!bare) /* there short bars are merged, and say nothing */
        check(s);
    paint(s);
    g_assert_cmpint(notes > 0, ==, apart);
    g_assert_cmpint(measured > 0, ==, !apart);
    gboolean unknown = FALSE, other = FALSE, loud = FALSE, wait = FALSE;
    for (guint i = 0; i < s->item->len; i++) {
        const WsSceneItem *it = &g_array_index(s->item, WsSceneItem, i);
        unknown |= it->shape == WS_SHAPE_NOTE && !g_strcmp0(it->label, "NOT SEPARABLE");
        other |= it->shape == WS_SHAPE_NOTE && !g_strcmp0(it->label, "OTHER TILES");
        loud |= it->tip && g_str_has_prefix(it->tip, "WAIT ");
        wait |= it->tip && g_str_has_prefix(it->tip, "wait ");
    }
    g_assert_cmpint(unknown, ==, causal && claimed == UNKNOWN_TILES);
    g_assert_cmpint(other, ==, causal && claimed == OTHER_TILES);
    g_assert_true(loud && !wait);
    for (guint i = 0; i < s->row->len; i++)
        g_assert_cmpstr(g_array_index(s->row, WsSceneRow, i).label, !=, "measured");
    g_assert_nonnull(strstr(g_array_index(s->staff, WsSceneStaff, 0).detail, "WARPS"));
    /* alone, its rounds are known wherever its tiles are */
    g_autoptr(GArray) rounds = ws_score_rounds(p, run, 0, NULL);
    g_assert_cmpint(rounds->len > 0, ==, !(causal && claimed == UNKNOWN_TILES));
}

/* Where the rounds of tiles differ (causal attention), measured bars lie under predicted ones only
 * if both are known to be of the same tiles; else the rows say why not. Where all tiles are alike
 * (all of the keys), they are shown. */
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
        for (guint i = 0; i < 6; i++)
            check_claims(p, r->trace, causal, (Claimed)(i / 2), i % 2);
    }
}

int main(int argc, char **argv)
{
    static const char *const designs[] = {
        "gemm-cooperative.wstave",      "gemm-pingpong.wstave",
        "gemm-cluster.wstave",          "gemm-aliased.wstave",
        "gemm-fp8-block.wstave",        "attention-fa3-causal.wstave",
        "attention-fa3-dynamic.wstave", "attention-tle-pingpong.wstave",
        "sparse-mla-pipes.wstave",      "sparse-mla-seesaw.wstave",
        "gemm-gfx950.wstave",           "gemm-gfx950-split.wstave",
        "attention-gfx950.wstave"
    };
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *path = g_strdup_printf("/score/designs/%s", designs[i]);
        g_test_add_data_func(path, designs[i], test_design);
    }
    g_test_add_func("/score/claims", test_claims);
    return g_test_run();
}
