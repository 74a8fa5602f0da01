/* Recorder plan, figures, comparison, exports. */
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "toy.h"
#include "trace/op_kind.h"

#include "trace/recorder.h"
#include "trace/stats.h"

#include <glib/gstdio.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

static const WsOp *find_op(const WsProgram *p, gint agent, WsOpKind kind, const char *step)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->agent == agent && p->op[i]->kind == kind && g_str_equal(p->op[i]->step, step))
            return p->op[i];
    return NULL;
}

static void test_plan(void)
{
    static const guint ctas[] = { 0, 7 };
    WsRecordChoice choice = {
        .first_round = 10, .rounds = 64, .first_tile = 1, .tiles = 2, .n_ctas = 2, .cta = ctas
    };
    WsProgram *p = toy_program();
    g_autoptr(WsRecorder) r = ws_recorder_new(p, &choice);
    const WsRecordStrip *strip = NULL;

    /* The k loop of a consumer: before and after the wait, after the mma's commit, after mma_wait:
     * one 16-byte vector. */
    const WsOp *wait = find_op(p, 1, WS_OP_MBAR_WAIT, "mma/0");
    const WsRecordPoint *point = ws_recorder_point(r, wait, &strip);
    g_assert_nonnull(point);
    g_assert_cmpint(point->before, ==, 0);
    g_assert_cmpint(point->after, ==, 1);
    g_assert_cmpuint(strip->words, ==, 4);
    g_assert_cmpuint(strip->n_points, ==, 3);
    g_assert_cmpint(strip->first_round, ==, 10);
    g_assert_cmpint(strip->rounds, ==, 64);
    const WsOp *mma = find_op(p, 1, WS_OP_MMA, "mma/1");
    const WsOp *commit = find_op(p, 1, WS_OP_MMA_COMMIT, "mma/1");
    point = ws_recorder_point(r, mma, &strip);
    g_assert_cmpuint(point->at, ==, commit->index);
    g_assert_true(ws_recorder_after(r, commit, NULL) == point);
    g_assert_null(ws_recorder_after(r, mma, NULL));
    g_assert_cmpint(point->before, ==, -1);

    /* Bookkeeping reads no clock. */
    g_assert_null(ws_recorder_point(r, find_op(p, 1, WS_OP_MBAR_ARRIVE, "mma/3"), NULL));
    g_assert_null(ws_recorder_point(r, find_op(p, 0, WS_OP_MBAR_EXPECT, "load/1#expect"), NULL));

    /* Tile-level strip: the choice of tiles, the store's clock after its commit. */
    point = ws_recorder_point(r, find_op(p, 2, WS_OP_TMA_STORE, "mma/8"), &strip);
    g_assert_cmpint(strip->first_round, ==, 1);
    g_assert_cmpint(strip->rounds, ==, 2);
    g_assert_cmpuint(point->at, ==, find_op(p, 2, WS_OP_BULK_COMMIT, "mma/8")->index);
    g_assert_cmpuint(strip->kid0, ==, 1);
}

/* Strips do not overlap, vectors are aligned, words are used once. */
static void test_plan_layout(void)
{
    static const gint64 rounds[] = { 0, 1, 63, 100000, G_MAXINT64 };
    for (guint k = 0; k < G_N_ELEMENTS(rounds); k++) {
        WsRecordChoice choice = { .rounds = rounds[k], .tiles = rounds[k] };
        g_autoptr(WsRecorder) r = ws_recorder_new(toy_program(), &choice);
        guint64 end = WS_RECORD_HEADER_BYTES;
        for (guint s = 0; s < r->n_strips; s++) {
            const WsRecordStrip *strip = &r->strip[s];
            g_assert_cmpuint(strip->offset, >=, end);
            g_assert_cmpuint(strip->offset % 16, ==, 0);
            g_assert_cmpuint(strip->round_bytes, ==, 4 * strip->words);
            g_assert_cmpuint(strip->words % 4, ==, 0);
            end = strip->offset + ws_recorder_lines(strip) * strip->round_bytes;
            gint last = -1;
            for (guint i = 0; i < strip->n_points; i++) {
                const WsRecordPoint *p = &strip->point[i];
                if (p->before >= 0)
                    g_assert_cmpint(p->before, ==, ++last);
                last += i == 0 || p->after != p[-1].after; /* loads share a clock */
                g_assert_cmpint(p->after, ==, last);
            }
            g_assert_cmpint(last, <, (gint)strip->words);
        }
        g_assert_cmpuint(r->cta_bytes, >=, end);
        g_assert_cmpuint(r->cta_bytes % 128, ==, 0);
    }
}

/* One round in `every`: only those with a line of their own, none of which is the trash line; steps
 * outside inner loops keep all. */
static void test_plan_every(void)
{
    static const gint64 every[] = { 1, 2, 8, 1024 }, first[] = { 0, 3, 8 };
    g_assert_true(ws_record_every_possible(0) && ws_record_every_possible(1024));
    g_assert_false(ws_record_every_possible(3) || ws_record_every_possible(2048) ||
                   ws_record_every_possible(-1) || ws_record_every_possible(G_MININT64));
    for (guint k = 0; k < G_N_ELEMENTS(every) * G_N_ELEMENTS(first); k++) {
        const gint64 n = every[k % 4], from = first[k / 4];
        WsRecordChoice choice = {
            .first_round = from, .rounds = 100, .tiles = 5, .first_tile = 2, .every = n
        };
        g_autoptr(WsRecorder) r = ws_recorder_new(toy_program(), &choice);
        guint inner = 0;
        for (guint s = 0; s < r->n_strips; s++) {
            const WsRecordStrip *strip = &r->strip[s];
            const gboolean counted = strip->loop && strip->loop->over != WS_OVER_TILES;
            g_autoptr(GHashTable) seen = g_hash_table_new(g_direct_hash, g_direct_equal);
            g_assert_cmpint(strip->every, ==, counted ? n : 1);
            g_assert_true(strip->every == 1 || strip->flush == G_MAXUINT);
            inner += counted;
            for (gint64 total = 0; total < 4096; total++) {
                const gint64 at = ws_recorder_at(strip, total, 0);
                const gboolean inside =
                    total >= strip->first_round && total < strip->first_round + strip->rounds;
                g_assert_cmpint(at >= 0, ==, inside && total % strip->every == strip->every / 2);
                if (at < 0)
                    continue;
                const guint64 line = (guint64)(at - (gint64)strip->offset) / strip->round_bytes;
                g_assert_cmpuint(line + (strip->loop != NULL), <, ws_recorder_lines(strip));
                g_assert_true(g_hash_table_add(seen, GINT_TO_POINTER((gint)line + 1)));
            }
        }
        g_assert_cmpuint(inner, >, 0);
    }
}

/* A period is the mean of `every` rounds; shares and what overlapped are not known. */
static void test_stats_every(void)
{
    g_autoptr(WsTrace) t = ws_trace_new(toy_program(), WS_TRACE_MEASURED);
    const WsTraceCta cta = { 0, 0, 100000, 1 };
    const WsOp *wait = find_op(toy_program(), 1, WS_OP_MBAR_WAIT, "mma/0");
    const WsOp *mma = find_op(toy_program(), 1, WS_OP_MMA, "mma/1");
    g_array_append_val(t->cta, cta);
    t->every = 16;
    for (gint i = 0; i < 4; i++) {
        const gint64 at = 1600 * i;
        ws_trace_add(t, &(WsTraceRecord){ wait->index, 1, 0, 0, 8 + 16 * i, at, at + 30, at + 30 });
        ws_trace_add(t, &(WsTraceRecord){ mma->index, 1, 0, 0, 8 + 16 * i, at + 30, at + 40, -1 });
    }
    ws_trace_finish(t);
    g_autoptr(WsTraceStats) s = ws_trace_stats_new(t);
    g_assert_cmpuint(s->loop->len, ==, 1);
    g_assert_cmpint(g_array_index(s->loop, WsTraceLoopStat, 0).period.p50, ==, 100);
    g_assert_cmpuint(g_array_index(s->loop, WsTraceLoopStat, 0).n, ==, 3);
    g_assert_cmpuint(s->pair->len, ==, 0);
    for (guint i = 0; i < s->step->len; i++) {
        const WsTraceStepStat *step = &g_array_index(s->step, WsTraceStepStat, i);
        g_assert_true(isnan(step->share));
    }
    g_autofree char *text = ws_trace_overlap_print(t, toy_program());
    g_assert_nonnull(strstr(text, "one round of inner loops in 16 was recorded"));
    g_assert_null(strstr(text, "covered by") ? text : strstr(text, "\noverlap:"));
    t->every = 1; /* the same records of a whole trace: no two rounds follow each other */
    g_autoptr(WsTraceStats) whole = ws_trace_stats_new(t);
    g_assert_cmpuint(whole->loop->len, ==, 0);
}

/* On every shipped design: points belong to their agent, clocks come after what they time, and no
 * two points want the same operation. */
static void test_plan_designs(void)
{
    static const char *const designs[] = { "gemm-cooperative", "gemm-pingpong",
                                           "gemm-aliased",     "attention-fa3-causal",
                                           "sparse-mla-pipes", "sparse-mla-seesaw" };
    for (guint d = 0; d < G_N_ELEMENTS(designs); d++) {
        g_autofree char *file =
            g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, designs[d]);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_load(file, findings);
        g_assert_nonnull(design);
        g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
        g_assert_nonnull(p);
        WsRecordChoice choice = { .rounds = 16, .tiles = 4 };
        g_autoptr(WsRecorder) r = ws_recorder_new(p, &choice);
        guint waits = 0, recorded = 0;
        for (guint i = 0; i < p->n_ops; i++)
            waits += p->op[i]->kind == WS_OP_MBAR_WAIT && p->op[i]->agent >= 0;
        for (guint s = 0; s < r->n_strips; s++) {
            const WsRecordStrip *strip = &r->strip[s];
            g_assert_cmpuint(strip->kid0, <, strip->kid1);
            g_assert_cmpuint(strip->kid1, <=, strip->body->n_kids);
            for (guint k = 0; k < strip->n_points; k++) {
                const WsRecordPoint *point = &strip->point[k];
                const WsOp *op = p->op[point->op], *at = p->op[point->at];
                const WsRecordStrip *found = NULL;
                g_assert_cmpint(op->agent, ==, (gint)strip->agent);
                g_assert_cmpuint(point->at, >=, point->op);
                g_assert_true(op->tree->parent == at->tree->parent);
                g_assert_true(ws_recorder_point(r, op, &found) == point && found == strip);
                const WsRecordPoint *after = ws_recorder_after(r, at, &found);
                g_assert_true(found == strip && after->after == point->after);
                recorded += op->kind == WS_OP_MBAR_WAIT;
            }
        }
        g_assert_cmpuint(recorded, ==, waits);
    }
}

typedef struct {
    gint64 from, to;
    guint n, bad;
} Count;

static void count_visit(const WsTraceRecord *r, gpointer data)
{
    Count *c = data;
    c->n++;
    c->bad += r->start >= c->to || ws_trace_record_end(r) < c->from;
}

/* The index finds exactly what a scan finds. */
static void test_window(void)
{
    g_autoptr(WsTrace) t = toy_trace(WS_TRACE_PREDICTED, 6, 400, 500);
    for (guint i = 0; i < 200; i++) {
        Count c = { .from = g_random_int_range(0, (gint)t->cycles) };
        c.to = c.from + g_random_int_range(1, i % 2 ? 2000 : 500000);
        guint agent = i % 3, scan = 0;
        const WsTraceLane *lane = ws_trace_lane(t, 0, agent);
        for (guint64 k = 0; k < lane->n; k++) {
            const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, lane->first + k);
            scan += r->start < c.to && ws_trace_record_end(r) >= c.from;
        }
        ws_trace_window(t, lane, c.from, c.to, count_visit, &c);
        g_assert_cmpuint(c.n, ==, scan);
        g_assert_cmpuint(c.bad, ==, 0);
    }
}

static void test_stats(void)
{
    g_autoptr(WsTrace) t = toy_trace(WS_TRACE_PREDICTED, 3, 64, 0);
    g_autoptr(WsTraceStats) s = ws_trace_stats_new(t);
    gboolean seen = FALSE;
    for (guint i = 0; i < s->loop->len; i++) {
        const WsTraceLoopStat *l = &g_array_index(s->loop, WsTraceLoopStat, i);
        if (l->agent == 1 && g_str_equal(l->loop, "tile/k")) {
            seen = TRUE;
            g_assert_cmpint(l->period.p50, ==, 1024); /* two mma of 512 cycles per round */
            g_assert_cmpuint(l->n, ==, 3 * 63);
        }
    }
    g_assert_true(seen);
    for (guint i = 0; i < s->pair->len; i++) {
        const WsTracePair *p = &g_array_index(s->pair, WsTracePair, i);
        g_assert_cmpint(p->both, <=, MIN(p->a, p->b));
        g_assert_cmpfloat(p->share_a, <=, 1);
        g_assert_cmpfloat(p->share_b, <=, 1);
    }
    for (guint i = 0; i < s->step->len; i++) {
        const WsTraceStepStat *p = &g_array_index(s->step, WsTraceStepStat, i);
        g_assert_cmpint(p->held.p50, <=, p->held.p95);
        g_assert_cmpint(p->held.p95, <=, p->held.max);
        g_assert_cmpint(p->total, <=, t->cycles);
    }
    g_autofree char *text = ws_trace_overlap_print(t, toy_program());
    g_assert_nonnull(strstr(text, "wait empty"));
    g_assert_nonnull(strstr(text, "1024"));
}

/* By hand: two intervals 0..100 and 60..120 share 40 cycles. */
static void test_overlap_exact(void)
{
    g_autoptr(WsTrace) t = ws_trace_new(toy_program(), WS_TRACE_PREDICTED);
    guint load = find_op(toy_program(), 0, WS_OP_TMA_LOAD, "load/1")->index;
    guint mma = find_op(toy_program(), 1, WS_OP_MMA, "mma/1")->index;
    WsTraceRecord r[] = {
        { .op = load, .agent = 0, .round = 0, .start = 0, .issued = 10, .done = 100 },
        { .op = mma, .agent = 1, .round = 0, .start = 60, .issued = 70, .done = 120 },
        { .op = mma, .agent = 1, .round = 1, .start = 110, .issued = 115, .done = 160 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(r); i++)
        ws_trace_add(t, &r[i]);
    ws_trace_finish(t);
    g_autoptr(WsTraceStats) s = ws_trace_stats_new(t);
    g_assert_cmpuint(s->pair->len, ==, 1);
    const WsTracePair *p = &g_array_index(s->pair, WsTracePair, 0);
    g_assert_cmpint(p->a, ==, 100);
    g_assert_cmpint(p->b, ==, 100);
    g_assert_cmpint(p->both, ==, 40);
}

static void test_compare(void)
{
    g_autoptr(WsTrace) a = toy_trace(WS_TRACE_PREDICTED, 3, 32, 0);
    g_autoptr(WsTrace) b = toy_trace(WS_TRACE_MEASURED, 2, 32, 0);
    for (guint i = 0; i < b->record->len; i++) { /* b: later, and every mma issue 25 longer */
        WsTraceRecord *r = &g_array_index(b->record, WsTraceRecord, i);
        r->start += 5000;
        r->issued += 5000 + (ws_trace_op_kind(b, r->op) == WS_OP_MMA ? 25 : 0);
        r->done += 5000;
    }
    ws_trace_finish(b);
    g_autoptr(WsTraceComparison) c = ws_trace_compare(a, b);
    g_assert_cmpuint(c->common, ==, b->record->len);
    g_assert_cmpuint(c->only_b, ==, 0);
    g_assert_cmpuint(c->only_a, ==, a->record->len - b->record->len);
    for (guint i = 0; i < c->row->len; i++) {
        const WsTraceDelta *d = &g_array_index(c->row, WsTraceDelta, i);
        gint64 more = ws_trace_op_kind(a, d->op) == WS_OP_MMA ? 25 : 0;
        g_assert_cmpint(d->held_b.p50 - d->held_a.p50, ==, more);
        g_assert_cmpint(d->drift, ==, 0);
    }
    g_autofree char *text = ws_trace_comparison_print(c, a, b);
    g_assert_nonnull(strstr(text, "k loop of mma.0: 1024 -> 1024"));
    g_assert_null(strstr(text, "note:"));
}

/* Rounds of other sizes, grids, CTAs and GPUs are compared, and it is said that they are. */
static void test_compare_unlike(void)
{
    g_autoptr(WsTrace) a = toy_trace(WS_TRACE_MEASURED, 2, 32, 0);
    g_autoptr(WsTrace) b = toy_trace(WS_TRACE_MEASURED, 2, 32, 0);
    ws_trace_add_size(a, "K", 4096);
    ws_trace_add_size(b, "K", 8192);
    a->grid = 132;
    b->grid = 66;
    g_array_index(b->cta, WsTraceCta, 0).id = 7;
    g_free(a->device);
    g_free(b->device);
    a->device = g_strdup("H200");
    b->device = g_strdup("H100");
    for (guint i = 0; i < a->record->len; i++) { /* all rounds begin at once: no share of 0 */
        WsTraceRecord *r = &g_array_index(a->record, WsTraceRecord, i);
        r->start = r->issued = r->done = 0;
    }
    ws_trace_finish(a);
    g_autoptr(WsTraceComparison) c = ws_trace_compare(a, b);
    g_autofree char *text = ws_trace_comparison_print(c, a, b);
    g_test_message("%.600s", text);
    g_assert_nonnull(strstr(text, "note: the sizes differ"));
    g_assert_nonnull(strstr(text, "note: grids of 132 and 66 CTAs"));
    g_assert_nonnull(strstr(text, "note: CTAs of other numbers"));
    g_assert_nonnull(strstr(text, "note: on H200 and on H100"));
    g_assert_nonnull(strstr(text, "k loop of mma.0: 0 -> 1024 cycles\n"));
}

/* Loads that were never seen to be over have no median of 0 cycles. */
static void test_unknown_ends(void)
{
    g_autoptr(WsTrace) t = toy_trace(WS_TRACE_MEASURED, 2, 32, 0);
    g_autofree char *known = ws_trace_overlap_print(t, NULL);
    g_assert_null(strstr(known, "unknown"));
    for (guint i = 0; i < t->record->len; i++) {
        WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        if (ws_trace_op_kind(t, r->op) == WS_OP_TMA_LOAD)
            r->done = -1;
    }
    g_autofree char *text = ws_trace_overlap_print(t, NULL);
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    guint loads = 0;
    for (guint i = 0; line[i]; i++)
        if (strstr(line[i], "load A -> a") && g_str_has_suffix(line[i], "unknown"))
            loads++;
    g_assert_cmpuint(loads, ==, 1);
}

/* One round of b is longer, one shorter: they are named, and what the loop lost in all. */
static void test_compare_rounds(void)
{
    g_autoptr(WsTrace) a = toy_trace(WS_TRACE_MEASURED, 2, 16, 0);
    g_autoptr(WsTrace) b = toy_trace(WS_TRACE_MEASURED, 2, 16, 0);
    gint64 shift = 0;
    for (guint i = 0; i < b->record->len; i++) {
        WsTraceRecord *r = &g_array_index(b->record, WsTraceRecord, i);
        if (r->agent != 1)
            continue;
        const gboolean mma = ws_trace_op_kind(b, r->op) == WS_OP_MMA && r->tile == 0;
        shift += mma && r->round == 6 ? 500 : mma && r->round == 11 ? -40 : 0;
        r->start += shift;
        r->issued += shift;
        r->done += shift;
    }
    ws_trace_finish(b);
    g_autofree char *text = ws_trace_rounds_print(a, b, 4);
    g_test_message("%s", text);
    g_assert_nonnull(
        strstr(text, "tile/k of mma.0: 30 rounds in both, 27824 -> 28284 cycles in all (+460)"));
    g_assert_nonnull(strstr(text, "CTA 0 tile 0 round 5: 1024 -> 1524 (+500)\n"
                                  "  CTA 0 tile 0 round 10: 1024 -> 984 (-40)\n"));
    g_assert_nonnull(
        strstr(text, "tile/k of mma.1: 30 rounds in both, 28336 -> 28336 cycles in all (+0)"));
}

static char *temporary(const char *ending)
{
    g_autofree char *dir = g_dir_make_tmp("ws-trace-XXXXXX", NULL);
    g_assert_nonnull(dir);
    return g_strconcat(dir, "/trace.", ending, NULL);
}

static void discard(const char *file)
{
    g_autofree char *dir = g_path_get_dirname(file);
    g_unlink(file);
    g_assert_cmpint(g_rmdir(dir), ==, 0); /* nothing else was left there */
}

static void test_chrome(void)
{
    g_autoptr(WsTrace) t = toy_trace(WS_TRACE_PREDICTED, 2, 8, 0);
    g_free(t->op_label->pdata[0]);
    t->op_label->pdata[0] = g_strdup("quote \" back \\ tab \t");
    g_autofree char *file = temporary("json");
    g_assert_true(ws_trace_export_chrome(t, file, NULL));
    json_object *root = json_object_from_file(file);
    g_assert_nonnull(root);
    json_object *events;
    g_assert_true(json_object_object_get_ex(root, "traceEvents", &events));
    guint n = 0, begins = 0, ends = 0;
    for (gsize i = 0; i < json_object_array_length(events); i++) {
        json_object *phase;
        g_assert_true(
            json_object_object_get_ex(json_object_array_get_idx(events, i), "ph", &phase));
        const char *p = json_object_get_string(phase);
        n += *p == 'X';
        begins += *p == 'b';
        ends += *p == 'e';
    }
    g_assert_cmpuint(n, ==, t->record->len);
    g_assert_cmpuint(begins, >, 0);
    g_assert_cmpuint(begins, ==, ends);
    json_object_put(root);
    discard(file);
}

/* A trace may state any rate of its clock. */
static void test_chrome_rates(void)
{
    static const double rates[] = { 1e-320, 1e-300, 1e300, 1.7 };
    for (guint i = 0; i < G_N_ELEMENTS(rates); i++) {
        g_autoptr(WsTrace) t = toy_trace(WS_TRACE_MEASURED, 2, 8, 0);
        for (guint c = 0; c < t->cta->len; c++)
            g_array_index(t->cta, WsTraceCta, c).ghz = rates[i];
        g_autofree char *file = temporary("json");
        g_assert_true(ws_trace_export_chrome(t, file, NULL));
        g_autofree char *text = NULL;
        g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
        g_assert_null(strstr(text, "inf"));
        g_assert_nonnull(strstr(text, i == 3 ? "\"unit\":\"us\"" : "\"unit\":\"SM cycles as us"));
        json_object *root = json_tokener_parse(text);
        g_assert_nonnull(root);
        json_object_put(root);
        discard(file);
    }
}

/* One file has one unit: where the clock of one CTA is not known, none is used. */
static void test_chrome_unit(void)
{
    g_autoptr(WsTrace) t = toy_trace(WS_TRACE_MEASURED, 2, 8, 0);
    g_autofree char *file = temporary("json"), *text = NULL, *cycles = NULL;
    WsTraceCta known = { .id = 5, .sm = 1, .cycles = 10, .ghz = 2 };
    g_array_append_val(t->cta, known);
    WsTraceRecord r = g_array_index(t->record, WsTraceRecord, 0);
    r.cta = (guint16)(t->cta->len - 1);
    r.start = 12000;
    r.issued = r.done = 12000;
    ws_trace_add(t, &r);
    ws_trace_finish(t);
    for (guint c = 0; c + 1 < t->cta->len; c++)
        g_array_index(t->cta, WsTraceCta, c).ghz = 0;
    g_assert_true(ws_trace_export_chrome(t, file, NULL));
    g_assert_true(g_file_get_contents(file, &cycles, NULL, NULL));
    g_assert_nonnull(strstr(cycles, "\"ts\":12000.0000"));
    g_assert_nonnull(strstr(cycles, "CTA 5 (1 us = 1 SM cycle)"));
    for (guint c = 0; c < t->cta->len; c++)
        g_array_index(t->cta, WsTraceCta, c).ghz = 2;
    g_assert_true(ws_trace_export_chrome(t, file, NULL));
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_assert_nonnull(strstr(text, "\"ts\":6.0000"));
    g_assert_nonnull(strstr(text, "\"name\":\"CTA 5\""));
    discard(file);
}

/* Whatever order records come in, and however they are spread over lanes, each lane is in order of
 * time, none is lost, and equals stay as they came (`round` is when it came). */
static void test_order(void)
{
    static const struct {
        guint n, ctas, agents;
        gboolean in_time; /* as a play adds them: each lane is in order already */
    } row[] = { { 5000, 1, 3, FALSE }, { 5000, 2, 4, TRUE }, { 40, 9, 9, FALSE },
                { 5000, 7, 1, FALSE }, { 1, 1, 1, FALSE },   { 0, 1, 1, FALSE } };
    for (guint k = 0; k < G_N_ELEMENTS(row); k++) {
        g_autoptr(GRand) random = g_rand_new_with_seed(11 + k);
        g_autoptr(WsTrace) t = ws_trace_new(toy_program(), WS_TRACE_PREDICTED);
        g_autofree guint8 *seen = g_new0(guint8, row[k].n + 1);
        for (guint i = 0; i < row[k].n; i++) {
            WsTraceRecord r = { .agent = (guint16)g_rand_int_range(random, 0, (gint)row[k].agents),
                                .cta = (guint16)g_rand_int_range(random, 0, (gint)row[k].ctas),
                                .tile = -1,
                                .round = (gint32)i };
            r.start = row[k].in_time ? i / 3 : (guint)g_rand_int_range(random, 0, 500);
            r.issued = r.done = r.start + 1;
            ws_trace_add(t, &r);
        }
        ws_trace_finish(t);
        g_assert_cmpuint(t->record->len, ==, row[k].n);
        for (guint i = 0; i < t->record->len; i++) {
            const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
            g_assert_cmpuint(seen[r->round]++, ==, 0);
            if (!i)
                continue;
            const WsTraceRecord *q = r - 1;
            g_assert_cmpuint(q->cta, <=, r->cta);
            g_assert_true(q->cta < r->cta || q->agent <= r->agent);
            if (q->cta == r->cta && q->agent == r->agent)
                g_assert_true(q->start < r->start || (q->start == r->start && q->round < r->round));
        }
    }
}

static void test_csv(void)
{
    g_autoptr(WsTrace) t = toy_trace(WS_TRACE_PREDICTED, 2, 8, 0);
    g_free(t->op_label->pdata[g_array_index(t->record, WsTraceRecord, 0).op]);
    t->op_label->pdata[g_array_index(t->record, WsTraceRecord, 0).op] = g_strdup("=1+2");
    g_autofree char *file = temporary("csv"), *text = NULL;
    g_assert_true(ws_trace_export_csv(t, file, NULL));
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_assert_nonnull(strstr(text, ",\"'=1+2\",")); /* a text, no formula */
    g_assert_null(strstr(text, ",=1+2"));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, t->record->len + 2);
    for (guint i = 0; i <= t->record->len; i++) {
        guint commas = 0;
        for (const char *c = lines[i]; *c; c++)
            commas += *c == ',';
        g_assert_cmpuint(commas, ==, 11);
    }
    g_autoptr(GError) error = NULL;
    g_assert_false(ws_trace_export_csv(t, "/nonexistent/x.csv", &error));
    g_assert_nonnull(error);
    discard(file);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/trace/plan", test_plan);
    g_test_add_func("/trace/plan-layout", test_plan_layout);
    g_test_add_func("/trace/plan-every", test_plan_every);
    g_test_add_func("/trace/stats-every", test_stats_every);
    g_test_add_func("/trace/plan-designs", test_plan_designs);
    g_test_add_func("/trace/window", test_window);
    g_test_add_func("/trace/stats", test_stats);
    g_test_add_func("/trace/overlap-exact", test_overlap_exact);
    g_test_add_func("/trace/compare", test_compare);
    g_test_add_func("/trace/compare-unlike", test_compare_unlike);
    g_test_add_func("/trace/unknown-ends", test_unknown_ends);
    g_test_add_func("/trace/chrome-unit", test_chrome_unit);
    g_test_add_func("/trace/compare-rounds", test_compare_rounds);
    g_test_add_func("/trace/chrome", test_chrome);
    g_test_add_func("/trace/chrome-rates", test_chrome_rates);
    g_test_add_func("/trace/order", test_order);
    g_test_add_func("/trace/csv", test_csv);
    int status = g_test_run();
    toy_program_free();
    return status;
}
