/* Levels, whiskers and rounds against the plain way of finding them: adding up every cycle. */
#include "../trace/toy.h"
#include "program/op_kind.h"
#include "trace/op_kind.h"

#include "score/build.h"

#include <string.h>

typedef struct {
    double weight;
    gboolean flights;
} Rule;

static double weigh(const WsTraceRecord *r, gint64 *end, gpointer data)
{
    const Rule *rule = data;
    *end = rule->flights ? ws_trace_record_end(r) : MAX(r->issued, r->start);
    return rule->weight;
}

/* Share of each cycle by looking at all records. */
static double plainly(const WsTrace *t, guint cta, const Rule *rule, gboolean apart, gint64 from,
                      gint64 to)
{
    double sum = 0;
    for (gint64 c = from; c < to; c++) {
        double now = 0;
        for (guint a = 0; a < t->agent_name->len; a++) {
            const WsTraceLane *lane = ws_trace_lane(t, cta, a);
            gboolean mine = FALSE;
            for (guint64 i = lane ? lane->first : 0; lane && i < lane->first + lane->n; i++) {
                const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
                gint64 end;
                double w = weigh(r, &end, (gpointer)rule);
                mine |= w > 0 && r->start <= c && c < end;
            }
            now += mine ? rule->weight : 0;
        }
        sum += apart ? now : MIN(now, rule->weight);
    }
    return CLAMP(sum / (double)(to - from), 0, 1);
}

static void cover_matches(void)
{
    static const Rule rules[] = { { 1, TRUE }, { 1, FALSE }, { 0.25, FALSE } };
    g_autoptr(WsTrace) t = toy_trace(WS_TRACE_PREDICTED, 2, 6, 37);
    gint64 length = g_array_index(t->cta, WsTraceCta, 0).cycles;
    for (guint k = 0; k < 2 * G_N_ELEMENTS(rules); k++) {
        const Rule *rule = &rules[k / 2];
        gboolean apart = k & 1 && rule->weight < 1;
        WsScoreCover *c = ws_cover_new();
        ws_cover_build(c, t, 0, weigh, (gpointer)rule, apart);
        g_assert_true(ws_cover_any(c));
        for (guint i = 0; i < 40; i++) {
            gint64 from = g_test_rand_int_range(0, (gint32)length);
            gint64 to = from + g_test_rand_int_range(1, 400);
            g_assert_cmpfloat_with_epsilon(ws_cover_share(c, from, to),
                                           plainly(t, 0, rule, apart, from, to), 1e-6);
        }
        ws_cover_free(c);
    }
}

/* What levels add up to is the share of the whole. */
static void levels_add_up(void)
{
    g_autoptr(WsTrace) t = toy_trace(WS_TRACE_PREDICTED, 40, 60, 3);
    g_autoptr(WsScoreCache) cache = ws_score_cache_new();
    gint64 length = g_array_index(t->cta, WsTraceCta, 0).cycles;
    for (guint hasty = 0; hasty < 2; hasty++) {
        WsSceneOptions o = {
            .bare = TRUE, .width = 900, .from = 0, .to = length, .cache = cache, .hasty = hasty != 0
        };
        g_autoptr(WsScene) s = ws_scene_new(toy_program(), t, NULL, &o);
        double sum = 0, tensor = 0;
        guint n = 0;
        for (guint i = 0; i < s->item->len; i++) {
            const WsSceneItem *item = &g_array_index(s->item, WsSceneItem, i);
            const WsSceneRow *row = &g_array_index(s->row, WsSceneRow, item->row);
            if (item->shape != WS_SHAPE_LEVEL)
                continue;
            g_assert_cmpfloat(item->level, >, 0);
            g_assert_cmpfloat(item->level, <=, 1);
            n++;
            sum += item->level * item->w;
            if (row->kind == WS_ROW_UNIT && item->kind == WS_ITEM_MMA)
                tensor += item->level * item->w;
        }
        g_assert_cmpuint(n, >, 10);
        g_assert_cmpfloat(sum, >, tensor);
        WsBuild b = { .t = t };
        const Rule rule = { 1, TRUE };
        WsScoreCover *c = ws_cover_new();
        for (guint a = 0; a < t->agent_name->len; a++) {
            const WsTraceLane *lane = ws_trace_lane(t, 0, a);
            for (guint64 i = lane ? lane->first : 0; lane && i < lane->first + lane->n; i++) {
                const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
                gint64 end;
                weigh(r, &end, (gpointer)&rule);
                if (ws_trace_op_kind(b.t, r->op) == WS_OP_MMA && a == 1)
                    ws_cover_add(c, r->start, end);
            }
        }
        ws_cover_end(c);
        g_assert_cmpfloat(tensor / s->width, >=, ws_cover_share(c, 0, length) - 0.05);
        ws_cover_free(c);
    }
}

/* 60 % of the executions lie between the ends of a whisker. */
static void whiskers(void)
{
    g_autoptr(WsTrace) p = toy_trace(WS_TRACE_PREDICTED, 3, 40, 0);
    g_autoptr(WsTrace) m = toy_trace(WS_TRACE_MEASURED, 3, 40, 90);
    WsSceneOptions o = { .bare = TRUE, .width = 1200 };
    g_autoptr(WsScene) s = ws_scene_new(toy_program(), p, m, &o);
    guint looked = 0;
    for (guint i = 0; i < s->item->len; i++) {
        const WsSceneItem *item = &g_array_index(s->item, WsSceneItem, i);
        g_assert_true(item->measured || !item->n_runs);
        if (!item->n_runs)
            continue;
        guint n = 0, inside = 0;
        const WsTraceLane *lane = ws_trace_lane(m, 0, item->agent);
        for (guint64 k = lane->first; k < lane->first + lane->n; k++) {
            const WsTraceRecord *r = &g_array_index(m->record, WsTraceRecord, k);
            gint64 took = item->shape == WS_SHAPE_FLIGHT ? ws_trace_record_end(r) - r->start
                                                         : MAX(r->issued, r->start) - r->start;
            if (r->op != item->op)
                continue;
            n++;
            inside += took >= item->p20 && took <= item->p80;
        }
        g_assert_cmpuint(n, ==, item->n_runs);
        g_assert_cmpfloat((double)inside / n, >=, 0.55);
        g_assert_cmpfloat(item->low, <=, item->high);
        looked++;
    }
    g_assert_cmpuint(looked, >, 5);
}

static void rounds(void)
{
    g_autoptr(WsTrace) t = toy_trace(WS_TRACE_PREDICTED, 3, 5, 0);
    g_autofree char *loop = NULL;
    g_autoptr(GArray) list = ws_score_rounds(toy_program(), t, 0, &loop);
    g_assert_cmpuint(list->len, ==, 15);
    g_assert_nonnull(loop);
    for (guint i = 0; i < list->len; i++) {
        const WsScoreRound *r = &g_array_index(list, WsScoreRound, i);
        g_assert_cmpint(r->round, ==, (gint)(i % 5));
        g_assert_cmpint(r->tile, ==, (gint)(i / 5));
        if (i)
            g_assert_cmpint(r->from, >, r[-1].from);
    }
    g_autoptr(GArray) none = ws_score_rounds(toy_program(), t, 99, NULL);
    g_assert_cmpuint(none->len, ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/score/levels/cover", cover_matches);
    g_test_add_func("/score/levels/add-up", levels_add_up);
    g_test_add_func("/score/levels/whiskers", whiskers);
    g_test_add_func("/score/levels/rounds", rounds);
    int status = g_test_run();
    toy_program_free();
    return status;
}
