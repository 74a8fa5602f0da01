/* A record buffer of a GEMM made up by walking its program, for tests that read it back. */
#pragma once

#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include "launch/measure.h"

#include <string.h>

#define GEMM WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave"

/* The 32-bit clock wraps soon after the CTA's start. */
#define CLOCK0 G_GUINT64_CONSTANT(0x7ffffff80)

enum { GRID = 3, ROUNDS = 24 };

typedef struct {
    WsProgram *p;
    WsLaunchValues *v;
    WsRecorder *plan;
    guint8 *data;
    gsize size;
    WsWalkElement element; /* of integer tensors; with the fixture */
    guint later;           /* cycles that what is recorded outside of inner loops takes more */
} Fixture;

static void put32(guint8 *at, guint32 w)
{
    w = GUINT32_TO_LE(w);
    memcpy(at, &w, 4);
}

static void put64(guint8 *at, guint64 w)
{
    w = GUINT64_TO_LE(w);
    memcpy(at, &w, 8);
}

static guint8 *word_at(const Fixture *f, guint cta, const WsRecordStrip *s, const WsStep *step,
                       gint word)
{
    gint64 total = 0;
    for (guint i = 0; s->loop && i < step->n_rounds; i++)
        if (step->loop[i] == s->loop)
            total = step->round[i];
    const gint64 at = ws_recorder_at(s, total, (guint)word);
    return at < 0 ? NULL : f->data + cta * f->plan->cta_bytes + at;
}

/* Every operation of an agent takes 10 cycles plus a few that depend on the agent. */
static void record_agent(const Fixture *f, guint slot, guint agent)
{
    const gboolean single = f->p->tiles->launch == WS_LAUNCH_SINGLE;
    WsTilesStrided tiles = { f->plan->cta[slot] / f->p->cluster,
                             single ? ws_launch_tiles(f->v) : GRID, ws_launch_tiles(f->v) };
    g_autoptr(WsWalker) w = ws_walker_new(f->p, f->v, agent, f->plan->cta[slot] % f->p->cluster,
                                          ws_tiles_strided, &tiles);
    ws_walker_set_element(w, f->element, (gpointer)f);
    g_autoptr(GError) error = NULL;
    WsStep step;
    guint64 clock = CLOCK0 + 100 * agent;
    while (ws_walker_next(w, &step, &error)) {
        const WsRecordStrip *s;
        const WsRecordPoint *point = ws_recorder_point(f->plan, step.op, &s);
        guint8 *at;
        if (point && point->before >= 0 && (at = word_at(f, slot, s, &step, point->before)))
            put32(at, (guint32)clock);
        clock += 10 + agent;
        point = ws_recorder_after(f->plan, step.op, &s);
        if (point && (!s->loop || s->loop->over == WS_OVER_TILES))
            clock += f->later;
        if (point && (at = word_at(f, slot, s, &step, point->after)))
            put32(at, (guint32)clock);
    }
    g_assert_no_error(error);
}

static void record(const Fixture *f, guint slot)
{
    guint8 *head = f->data + slot * f->plan->cta_bytes;
    put32(head, 40 + slot);
    put32(head + 4, f->plan->cta[slot]);
    put64(head + 8, 1000);
    put64(head + 16, 3000);
    put64(head + 24, CLOCK0);
    put64(head + 32, CLOCK0 + 3400);
    for (guint a = 0; a < f->p->n_agents; a++)
        record_agent(f, slot, a);
}

/* `every`: GINT_TO_POINTER, NULL for all rounds. */
static void set_up(Fixture *f, gconstpointer every)
{
    static const guint cta[] = { 1, 2, 9 }; /* 9 is not in the grid */
    WsRecordChoice choice = { 0, ROUNDS, 0, 2, 3, cta, GPOINTER_TO_INT(every) };
    const WsSize size[] = { { "M", 200 }, { "N", 768 }, { "K", 640 } };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(GEMM, findings);
    f->element = NULL;
    f->later = 0;
    f->p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(f->p);
    f->v = ws_launch_values(f->p, size, 3, FALSE, findings);
    g_assert_nonnull(f->v);
    f->plan = ws_recorder_new(f->p, &choice);
    f->size = f->plan->cta_bytes * f->plan->n_ctas;
    f->data = g_malloc(f->size);
    memset(f->data, 0xff, f->size);
    record(f, 0);
    record(f, 1);
}

static void tear_down(Fixture *f, gconstpointer unused)
{
    ws_recorder_free(f->plan);
    ws_launch_values_free(f->v);
    ws_program_unref(f->p);
    g_free(f->data);
}
