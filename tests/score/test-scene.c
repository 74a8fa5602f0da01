/* Geometry of scenes: nothing outside the page, nothing on top of each other, everything found
 * again by a hit; and the files that come of it. */
#include "../trace/toy.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include "score/scene.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static const WsSceneItem *item_at(const WsScene *s, guint i)
{
    return &g_array_index(s->item, WsSceneItem, i);
}

static gint by_row(gconstpointer pa, gconstpointer pb)
{
    const WsSceneItem *a = *(WsSceneItem *const *)pa, *b = *(WsSceneItem *const *)pb;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->x < b->x ? -1 : a->x > b->x;
}

static void check_items(const WsScene *s)
{
    g_autoptr(GPtrArray) sorted = g_ptr_array_new();
    for (guint i = 0; i < s->item->len; i++) {
        const WsSceneItem *it = item_at(s, i);
        const WsSceneRow *row = &g_array_index(s->row, WsSceneRow, it->row);
        g_assert_cmpuint(it->id, ==, i + 1);
        g_assert_cmpfloat(it->x, >=, s->left - 0.01);
        g_assert_cmpfloat(it->x + it->w, <=, s->right + 0.01);
        g_assert_cmpfloat(it->w, >, 0);
        g_assert_cmpfloat(it->y, ==, row->y);
        g_assert_cmpfloat(it->y + it->h, <=, s->height);
        g_assert_cmpfloat(it->head, <=, it->w + 0.01);
        g_ptr_array_add(sorted, (gpointer)it);
    }
    g_ptr_array_sort(sorted, by_row);
    for (guint i = 1; i < sorted->len; i++) {
        const WsSceneItem *a = sorted->pdata[i - 1], *b = sorted->pdata[i];
        if (a->row == b->row)
            g_assert_cmpfloat(a->x + a->w, <=, b->x + 0.02);
    }
}

static void check_rows(const WsScene *s)
{
    double y = 0;
    for (guint i = 0; i < s->staff->len; i++) {
        const WsSceneStaff *staff = &g_array_index(s->staff, WsSceneStaff, i);
        g_assert_cmpfloat(staff->y, >=, y);
        y = staff->y + staff->h;
        double row_y = staff->y;
        for (guint k = staff->first_row; k < staff->first_row + staff->n_rows; k++) {
            const WsSceneRow *row = &g_array_index(s->row, WsSceneRow, k);
            g_assert_cmpfloat(row->y, >=, row_y);
            row_y = row->y + row->h;
            g_assert_cmpfloat(row_y, <=, y + 0.01);
        }
    }
    g_assert_cmpfloat(y, <=, s->height);
    for (guint i = 0; i < s->edge->len; i++) {
        const WsSceneEdge *e = &g_array_index(s->edge, WsSceneEdge, i);
        g_assert_cmpfloat(e->x0, >=, s->left - 1);
        g_assert_cmpfloat(e->x1, <=, s->right + 1);
        g_assert_cmpfloat(e->x0, <=, e->x1 + 0.01); /* causes come first */
        g_assert_cmpfloat(MIN(e->y0, e->y1), >=, s->top);
        g_assert_cmpfloat(MAX(e->y0, e->y1), <=, s->bottom);
    }
}

/* Axis: strictly rising inside segments, never falling at all. */
static void check_axis(const WsScene *s)
{
    double last = -1;
    const WsSceneSegment *end = &g_array_index(s->segment, WsSceneSegment, s->segment->len - 1);
    for (gint64 t = 0; t <= end->t1; t += MAX(end->t1 / 500, 1)) {
        double x = ws_scene_x(s, t);
        g_assert_cmpfloat(x, >=, last);
        g_assert_cmpfloat(x, >=, s->left - 0.01);
        g_assert_cmpfloat(x, <=, s->right + 0.01);
        last = x;
    }
}

static void check_hits(WsScene *s)
{
    for (guint i = 0; i < s->item->len; i++) {
        const WsSceneItem *it = item_at(s, i);
        const WsSceneItem *hit = ws_scene_hit(s, it->x + it->w / 2, it->y + it->h / 2);
        if (!ws_scene_narrow(it)) {
            g_assert_true(hit == it || ws_scene_narrow(hit));
            continue;
        }
        const WsSceneZone *z = ws_scene_zone(s, it);
        g_assert_true(ws_scene_hit(s, (z->x0 + z->port) / 2, (z->y0 + z->y1) / 2) == it);
    }
    g_assert_null(ws_scene_hit(s, -5, -5));
    g_assert_null(ws_scene_hit(s, s->width + 50, s->height / 2));
}

static void check(WsScene *s)
{
    check_items(s);
    check_rows(s);
    check_axis(s);
    check_hits(s);
}

static void test_geometry(void)
{
    static const struct {
        gint tiles, rounds;
        gint64 late;
        double width;
        gboolean both;
    } cases[] = {
        { 4, 32, 0, 0, FALSE },   { 4, 32, 900, 1600, TRUE }, { 1, 64, 300, 1200, TRUE },
        { 1, 3, 0, 1600, FALSE }, { 2, 2, 0, 1600, TRUE },    { 3, 5, 2000, 600, TRUE },
        { 1, 1, 0, 1600, FALSE }, { 6, 300, 50, 2400, TRUE }, { 2, 9, 5000, 100, FALSE }
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsTrace) a = toy_trace(WS_TRACE_PREDICTED, cases[i].tiles, cases[i].rounds, 0);
        g_autoptr(WsTrace) b =
            toy_trace(WS_TRACE_MEASURED, cases[i].tiles, cases[i].rounds, cases[i].late);
        WsSceneOptions o = { .width = cases[i].width };
        g_autoptr(WsScene) s = ws_scene_new(toy_program(), a, cases[i].both ? b : NULL, &o);
        g_assert_cmpuint(s->item->len, >, 0);
        check(s);
        g_autoptr(WsScene) alone = ws_scene_new(toy_program(), NULL, b, &o);
        g_assert_cmpuint(alone->item->len, >, 0);
        check(alone);
    }
}

/* Any window of the trace can be shown. */
static void test_windows(void)
{
    g_autoptr(WsTrace) t = toy_trace(WS_TRACE_PREDICTED, 3, 32, 700);
    g_autoptr(WsTrace) m = toy_trace(WS_TRACE_MEASURED, 3, 32, 100);
    for (guint i = 0; i < 60; i++) {
        WsSceneOptions o = { .from = g_random_int_range(0, (gint)t->cycles) };
        o.to = o.from + g_random_int_range(1, i % 3 ? 8000 : (gint)t->cycles);
        g_autoptr(WsScene) s = ws_scene_new(toy_program(), t, i % 2 ? m : NULL, &o);
        check(s);
    }
}

static guint count_kind(const WsScene *s, WsItemKind kind, WsItemShape shape)
{
    guint n = 0;
    for (guint i = 0; i < s->item->len; i++)
        n += item_at(s, i)->kind == kind && item_at(s, i)->shape == shape;
    return n;
}

/* The opening window: two rounds, the epilogue, two rounds, and a fold on either side. */
static void test_opening(void)
{
    g_autoptr(WsTrace) t = toy_trace(WS_TRACE_PREDICTED, 4, 32, 0);
    g_autoptr(WsScene) s = ws_scene_new(toy_program(), t, NULL, NULL);
    g_assert_cmpuint(s->segment->len, ==, 1);
    g_assert_cmpuint(s->fold->len, ==, 2);
    g_assert_nonnull(strstr(g_array_index(s->fold, WsSceneFold, 0).label, "k 2"));
    gboolean epilogue = FALSE, last = FALSE, first = FALSE;
    for (guint i = 0; i < s->band->len; i++) {
        const char *label = g_array_index(s->band, WsSceneBand, i).label;
        epilogue |= g_strcmp0(label, "epilogue") == 0;
        last |= g_strcmp0(label, "k 31") == 0;
        first |= g_strcmp0(label, "k 1") == 0;
    }
    g_assert_true(epilogue && last && first);
    g_assert_cmpuint(count_kind(s, WS_ITEM_STORE, WS_SHAPE_FLIGHT), ==, 2);
    /* Rings: A and B fold into one of four stages. */
    guint stages = 0;
    for (guint i = 0; i < s->row->len; i++)
        stages += g_array_index(s->row, WsSceneRow, i).kind == WS_ROW_RING;
    g_assert_cmpuint(stages, ==, TOY_STAGES + 2);
    g_assert_cmpuint(count_kind(s, WS_ITEM_FILLING, WS_SHAPE_SLOT), >, 3);
    g_assert_cmpuint(s->edge->len, >, 2);
}

/* Replicas whose times coincide share a staff. */
static void test_fold_replicas(void)
{
    g_autoptr(WsTrace) t = ws_trace_new(toy_program(), WS_TRACE_PREDICTED);
    g_autoptr(WsTrace) source = toy_trace(WS_TRACE_PREDICTED, 2, 8, 0);
    guint offset = 0; /* operations of mma.1 follow those of mma.0 in the same order */
    for (guint i = 0; i < toy_program()->n_ops && !offset; i++)
        if (toy_program()->op[i]->agent == 2)
            offset = i;
    for (guint i = 0; i < toy_program()->n_ops; i++)
        if (toy_program()->op[i]->agent == 1) {
            offset -= i;
            break;
        }
    for (guint i = 0; i < source->record->len; i++) {
        WsTraceRecord r = g_array_index(source->record, WsTraceRecord, i);
        if (r.agent == 2)
            continue;
        ws_trace_add(t, &r);
        if (r.agent == 1) {
            r.agent = 2;
            r.op += offset;
            r.start += 2;
            ws_trace_add(t, &r);
        }
    }
    ws_trace_finish(t);
    g_autoptr(WsScene) s = ws_scene_new(toy_program(), t, NULL, NULL);
    check(s);
    gboolean shared = FALSE;
    for (guint i = 0; i < s->staff->len; i++)
        shared |= g_array_index(s->staff, WsSceneStaff, i).n_agents == 2;
    g_assert_true(shared);
}

static void test_empty(void)
{
    g_autoptr(WsScene) none = ws_scene_new(toy_program(), NULL, NULL, NULL);
    g_assert_cmpuint(none->item->len, ==, 0);
    g_autoptr(WsTrace) t = ws_trace_new(toy_program(), WS_TRACE_PREDICTED);
    ws_trace_finish(t);
    g_autoptr(WsScene) empty = ws_scene_new(toy_program(), t, NULL, NULL);
    g_assert_cmpuint(empty->item->len, ==, 0);
    /* A trace of another design is left out and said so. */
    g_autoptr(WsTrace) other = toy_trace(WS_TRACE_MEASURED, 2, 8, 0);
    g_free(other->design_hash);
    other->design_hash = g_strdup("ffff");
    g_autoptr(WsScene) s = ws_scene_new(toy_program(), NULL, other, NULL);
    const WsSceneText *text = &g_array_index(s->text, WsSceneText, s->text->len - 1);
    g_assert_nonnull(strstr(text->text, "another version"));
}

static void test_save(void)
{
    static const struct {
        const char *ending, *magic;
    } cases[] = { { "svg", "<?xml" }, { "pdf", "%PDF" }, { "png", "\x89PNG" }, { "SVG", "<?xml" } };
    g_autoptr(WsTrace) t = toy_trace(WS_TRACE_PREDICTED, 4, 32, 0);
    g_autoptr(WsScene) s = ws_scene_new(toy_program(), t, t, NULL);
    g_autofree char *dir = g_dir_make_tmp("ws-score-XXXXXX", NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        for (WsTheme theme = WS_THEME_LIGHT; theme <= WS_THEME_DARK; theme++) {
            g_autofree char *file = g_strdup_printf("%s/x.%s", dir, cases[i].ending);
            g_autofree char *text = NULL;
            gsize length;
            g_assert_true(ws_scene_save(s, file, theme, NULL));
            g_assert_true(g_file_get_contents(file, &text, &length, NULL));
            g_assert_cmpuint(length, >, 2000);
            g_assert_cmpmem(text, strlen(cases[i].magic), cases[i].magic, strlen(cases[i].magic));
            if (*cases[i].magic == '<')
                g_assert_nonnull(strstr(text, "</svg>"));
            g_unlink(file);
        }
    }
    g_autoptr(GError) error = NULL;
    g_assert_false(ws_scene_save(s, "/tmp/x.bmp", WS_THEME_LIGHT, &error));
    g_assert_nonnull(strstr(error->message, ".svg"));
    g_clear_error(&error);
    g_assert_false(ws_scene_save(s, "/nonexistent/x.svg", WS_THEME_LIGHT, &error));
    g_assert_nonnull(error);
    g_assert_cmpint(g_rmdir(dir), ==, 0);
}

static void add_item(WsScene *s, double x, double w, guint row, const char *step)
{
    WsSceneItem item = { .x = x, .y = 30.0 * row, .w = w, .h = 22, .row = row };
    item.kind = w < WS_SCENE_TARGET ? WS_ITEM_WAIT : WS_ITEM_MATH; /* the former have no port */
    item.step = (char *)step;
    g_array_append_val(s->item, item);
}

/* A wait of 3 units between wide steps is hit from its begin on for 12, neighbours keep the rest;
 * two side by side share the line between them; of more, every other one has the upper half of its
 * row; what is crowded says how many there are. */
static void test_targets(void)
{
    WsScene s = { .item = g_array_new(FALSE, TRUE, sizeof(WsSceneItem)), .right = 500 };
    add_item(&s, 0, 100, 0, "wide");
    add_item(&s, 100, 3, 0, "wait");
    add_item(&s, 103, 100, 0, "after");
    add_item(&s, 203, 2, 0, "arrive");
    add_item(&s, 205, 3, 0, "second");
    add_item(&s, 208, 60, 0, "last");
    add_item(&s, 100, 50, 1, "below");
    add_item(&s, 50, 50, 2, "left");
    add_item(&s, 100, 2, 2, "a");
    add_item(&s, 102, 2, 2, "b");
    add_item(&s, 104, 2, 2, "c");
    add_item(&s, 106, 50, 2, "right");
    for (guint i = 0; i < 3; i++)
        add_item(&s, 6.0 * i, 3, 3, "p");
    for (guint i = 0; i < 3; i++)
        add_item(&s, 6.0 * i + 3, 3, 3, "q");
    add_item(&s, 18, 13, 3, "no room");
    static const struct {
        double x, y;
        const char *step;
    } at[] = {
        { 50, 7, "wide" },    { 95, 7, "wide" },    { 99, 7, "wide" },    { 101, 7, "wait" },
        { 111, 7, "wait" },   { 113, 7, "after" },  { 192, 7, "after" },  { 194, 7, "arrive" },
        { 204, 7, "arrive" }, { 206, 7, "second" }, { 216, 7, "second" }, { 101, 37, "below" },
        { 218, 7, "last" },   { 270, 7, "last" },   { 280, 7, NULL },     { 101, 64, "a" },
        { 102, 64, "a" },     { 105, 64, "c" },     { 103, 76, "b" },     { 98, 76, "b" },
        { 96, 76, "left" },   { 90, 64, "left" },   { 116, 64, "right" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(at); i++) {
        const WsSceneItem *hit = ws_scene_hit(&s, at[i].x, at[i].y);
        g_assert_cmpstr(hit ? hit->step : NULL, ==, at[i].step);
    }
    static const guint shared[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 6, 6, 6, 6, 6, 0 };
    for (guint i = 0; i < s.item->len; i++) {
        const WsSceneItem *item = &g_array_index(s.item, WsSceneItem, i);
        const WsSceneZone *z = ws_scene_zone(&s, item);
        g_assert_cmpuint(z->shared, ==, shared[i]);
        if (!ws_scene_narrow(item) || shared[i])
            continue;
        g_assert_cmpfloat(z->port - z->x0, >, WS_SCENE_TARGET - 1e-9);
        g_assert_cmpfloat(z->y1 - z->y0, >=, WS_SCENE_TARGET);
    }
    g_assert_cmpfloat_with_epsilon(ws_scene_zone(&s, &g_array_index(s.item, WsSceneItem, 2))->given,
                                   9.75, 1e-9); /* of the end of what stands before two */
    g_free(s.zone);
    g_array_unref(s.item);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/score/geometry", test_geometry);
    g_test_add_func("/score/windows", test_windows);
    g_test_add_func("/score/opening", test_opening);
    g_test_add_func("/score/fold-replicas", test_fold_replicas);
    g_test_add_func("/score/empty", test_empty);
    g_test_add_func("/score/targets", test_targets);
    g_test_add_func("/score/save", test_save);
    int status = g_test_run();
    toy_program_free();
    return status;
}
