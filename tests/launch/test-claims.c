/* Launches whose CTAs claim their tiles: which ones a CTA got is recorded, so that its rounds are
 * those of its tiles. Rounds of a causal attention are counted here by hand. */
#include "clock/clock.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/op.h"
#include "program/op_kind.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"
#include "trace/op_kind.h"

#include "launch/bundle.h"
#include "launch/measure.h"

#include <string.h>

#define CLOCK0 G_GUINT64_CONSTANT(0x1000)

enum { GRID = 12, ROUNDS = 200, TILES = 8, BLOCKS = 8, HEADS = 4 };

/* 2 x 2 heads of 1024 queries and keys: 8 row blocks of each, 32 tiles. */
static const WsSize size[] = {
    { "B", 2 }, { "HQ", 2 }, { "HKV", 2 }, { "SQ", 1024 }, { "SK", 1024 }
};

typedef struct {
    WsProgram *p;
    WsLaunchValues *v;
    WsRecorder *plan;
    guint8 *data;
    gsize bytes;
    gint64 latest;
} Fixture;

static const guint recorded[] = { 1, 7 };
static const WsTraceClaim claimed[][4] = { { { 0, 1 }, { 0, 13 }, { 0, 30 }, { 0, 31 } },
                                           { { 1, 7 } } };
static const guint n_claimed[] = { 4, 1 };

static void put(guint8 *at, guint64 w, guint bytes)
{
    w = GUINT64_TO_LE(w);
    memcpy(at, &w, bytes);
}

static void put_clock(Fixture *f, guint slot, const WsStep *step, gint word, guint64 clock)
{
    const WsRecordStrip *s;
    const WsRecordPoint *point = word == 0 ? ws_recorder_point(f->plan, step->op, &s)
                                           : ws_recorder_after(f->plan, step->op, &s);
    if (!point || (word == 0 && point->before < 0))
        return;
    gint64 total = 0;
    for (guint i = 0; s->loop && i < step->n_rounds; i++)
        if (step->loop[i] == s->loop)
            total = step->round[i];
    const gint64 at = ws_recorder_at(s, total, (guint)(word == 0 ? point->before : point->after));
    if (at >= 0)
        put(f->data + slot * f->plan->cta_bytes + at, (guint32)clock, 4);
}

static void record_agent(Fixture *f, guint slot, guint agent)
{
    WsTraceClaims claims = { claimed[slot], n_claimed[slot] };
    g_autoptr(WsWalker) w = ws_walker_new(f->p, f->v, agent, 0, ws_trace_claim_at, &claims);
    g_autoptr(GError) error = NULL;
    WsStep step;
    guint64 clock = CLOCK0 + 100 * agent;
    while (ws_walker_next(w, &step, &error)) {
        put_clock(f, slot, &step, 0, clock);
        clock += 10;
        put_clock(f, slot, &step, 1, clock);
    }
    g_assert_no_error(error);
    f->latest = MAX(f->latest, (gint64)clock);
}

static void put_claims(Fixture *f, guint slot, guint n)
{
    for (guint i = 0; i < n; i++)
        put(f->data + slot * f->plan->cta_bytes + f->plan->claimed_offset + 8 * (gsize)i,
            (guint64)claimed[slot][i].tile, 8);
}

static void set_up(Fixture *f, gconstpointer tiles)
{
    const WsRecordChoice choice = { 0, ROUNDS, 0, GPOINTER_TO_INT(tiles), 2, recorded };
    const WsSetting set = { "CAUSAL", 1 };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design =
        ws_design_load(WS_SOURCE_ROOT "/projects/attention-d128/design.wstave", findings);
    f->p = ws_elaborate(design, &set, 1, findings);
    g_assert_nonnull(f->p);
    f->v = ws_launch_values(f->p, size, G_N_ELEMENTS(size), FALSE, findings);
    g_assert_cmpint(ws_launch_tiles(f->v), ==, BLOCKS * HEADS);
    f->plan = ws_recorder_new(f->p, &choice);
    g_assert_nonnull(f->plan->claimed);
    f->bytes = f->plan->cta_bytes * f->plan->n_ctas;
    f->data = g_malloc(f->bytes);
    memset(f->data, 0xff, f->bytes);
    for (guint slot = 0; slot < 2; slot++) {
        guint8 *head = f->data + slot * f->plan->cta_bytes;
        for (guint a = 0; a < f->p->n_agents; a++)
            record_agent(f, slot, a);
        put(head, 40 + slot, 4);
        put(head + 4, recorded[slot], 4);
        put(head + 8, 1000, 8);
        put(head + 16, 3000, 8);
        put(head + 24, CLOCK0, 8);
        put(head + 32, (guint64)f->latest, 8);
        put_claims(f, slot, MIN(n_claimed[slot], (guint)f->plan->claimed_lines - 1));
    }
}

static void tear_down(Fixture *f, gconstpointer unused)
{
    ws_recorder_free(f->plan);
    ws_launch_values_free(f->v);
    ws_program_unref(f->p);
    g_free(f->data);
}

static WsTrace *measure(Fixture *f, guint64 *missing, GError **error)
{
    return ws_measure(f->p, f->v, f->plan, GRID, f->data, f->bytes, NULL, NULL, missing, error);
}

/* Products of a tile: with blocks of 128 by 128, the row block m has m + 1 blocks of keys, each of
 * which is multiplied twice, by two groups. Row blocks come last first, in each group of heads. */
static guint products_of(gint32 tile)
{
    const guint m = BLOCKS - 1 - (guint)(tile / HEADS) % BLOCKS;
    return 2 * 2 * (m + 1);
}

static void count(const WsTrace *t, guint cta, guint *products)
{
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &t->record->data[i];
        if (r->cta != cta || !ws_op_is_product(ws_trace_op_kind(t, r->op)))
            continue;
        g_assert_cmpint(r->tile, >=, 0);
        g_assert_cmpint(r->tile, <, TILES);
        products[r->tile]++;
    }
}

static void check_products(const WsTrace *t, guint known)
{
    for (guint slot = 0; slot < 2; slot++) {
        guint products[TILES] = { 0 };
        count(t, slot, products);
        for (guint i = 0; i < MIN(n_claimed[slot], known); i++)
            g_assert_cmpuint(products[i], ==, products_of(claimed[slot][i].tile));
        for (guint i = MIN(n_claimed[slot], known); i < TILES; i++)
            g_assert_cmpuint(products[i], ==, 0);
    }
}

static void test_rounds(Fixture *f, gconstpointer tiles)
{
    const guint known = (guint)GPOINTER_TO_INT(tiles);
    g_autoptr(GError) error = NULL;
    guint64 missing;
    g_autoptr(WsTrace) t = measure(f, &missing, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(missing, ==, 0);
    g_assert_cmpuint(t->claimed->len, ==, MIN(4, known) + 1);
    check_products(t, known);
    /* The clock plays the same tiles, so its rounds are the same ones. */
    g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
    g_autoptr(WsTrace) predicted = ws_clock_claimed(f->p, f->v, m, t);
    g_assert_nonnull(predicted);
    g_assert_cmpuint(predicted->cta->len, ==, 2);
    for (guint slot = 0; slot < 2; slot++) {
        g_assert_cmpuint(g_array_index(predicted->cta, WsTraceCta, slot).id, ==, recorded[slot]);
        g_assert_true(ws_trace_same_claims(t, slot, predicted, slot));
        g_assert_cmpint(ws_trace_same_claims(t, slot, predicted, 1 - slot), ==, FALSE);
    }
    check_products(predicted, known);
}

/* Claims that cannot be, or that do not fit the rounds that were recorded. */
static void test_wrong(Fixture *f, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    guint64 missing;
    guint8 *at = f->data + f->plan->claimed_offset;
    put(at, BLOCKS * HEADS, 8);
    g_assert_null(measure(f, &missing, &error));
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT);
    g_assert_nonnull(strstr(error->message, "CTA 1 say that it claimed tile 32"));
    g_clear_error(&error);
    put(at, (guint64)claimed[0][0].tile, 8);
    put(at + 8, 1, 8); /* a tile of more rounds: records of some are not there */
    g_autoptr(WsTrace) more = measure(f, &missing, &error);
    g_assert_true(!more || missing > 0);
    g_clear_error(&error);
    put(at, G_MAXUINT64, 8); /* no claim */
    g_autoptr(WsTrace) none = measure(f, &missing, &error);
    g_assert_nonnull(none);
    guint products[TILES] = { 0 };
    count(none, 0, products);
    for (guint i = 0; i < TILES; i++)
        g_assert_cmpuint(products[i], ==, 0);
}

/* A trace that speaks of another design, or of tiles that the launch has not, is not played. */
static void test_foreign(Fixture *f, gconstpointer unused)
{
    guint64 missing;
    g_autoptr(WsTrace) t = measure(f, &missing, NULL);
    g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
    g_array_index(t->claimed, WsTraceClaim, 0).tile = BLOCKS * HEADS;
    g_assert_null(ws_clock_claimed(f->p, f->v, m, t));
    g_array_index(t->claimed, WsTraceClaim, 0).tile = 0;
    g_free(t->design_hash);
    t->design_hash = g_strdup("another");
    g_assert_null(ws_clock_claimed(f->p, f->v, m, t));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/launch/claims/rounds", Fixture, GINT_TO_POINTER(TILES), set_up, test_rounds,
               tear_down);
    g_test_add("/launch/claims/two-known", Fixture, GINT_TO_POINTER(2), set_up, test_rounds,
               tear_down);
    g_test_add("/launch/claims/wrong", Fixture, GINT_TO_POINTER(TILES), set_up, test_wrong,
               tear_down);
    g_test_add("/launch/claims/foreign", Fixture, GINT_TO_POINTER(TILES), set_up, test_foreign,
               tear_down);
    return g_test_run();
}
