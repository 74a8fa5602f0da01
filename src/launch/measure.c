#include "launch/measure.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include "launch/bundle.h"

#include <string.h>

/* A completion of an mbarrier: what loads feed and waits wait for. */
typedef struct {
    gint64 barrier, element, slot, turn;
} Completion;

/* Operations in flight that one later wait retires, oldest group first. */
typedef struct {
    GArray *open;   /* guint: records of the group not yet committed */
    GQueue *groups; /* GArray* of guint */
} Fifo;

typedef struct {
    const WsProgram *p;
    const WsLaunchValues *v;
    const WsRecorder *plan;
    WsWalkElement element; /* of integer tensors */
    gpointer inputs;
    const guint8 *base; /* this CTA's part of the buffer */
    guint64 clock0;     /* %clock64 at its start */
    guint16 cta;
    GArray *record;      /* WsTraceRecord of this CTA */
    GArray *claim;       /* WsTraceClaim of it, in a launch whose CTAs claim their tiles */
    GHashTable *loads;   /* Completion -> GArray of guint */
    GHashTable *arrived; /* Completion -> gint64*: earliest observed */
    guint64 missing;
    gint64 latest;   /* no clock of it can be later; G_MAXINT64: its end is not known */
    gboolean astray; /* a clock that this CTA cannot have read, or that went back */
} Cta;

typedef struct {
    Cta *cta;
    guint agent;
    WsWalker *walker;
    Fifo mma, bulk, gather;
    gint last;             /* its newest record, -1: none, or something unknown came since */
    WsTraceRecord between; /* the first step without a clock that the author drew since then */
    gboolean any_between;
    guint64 unwritten; /* words missed since the last one found */
} Agent;

/* --- words ------------------------------------------------------------------------------------ */

static guint32 word32(const guint8 *at)
{
    guint32 w;
    memcpy(&w, at, 4);
    return GUINT32_FROM_LE(w);
}

static guint64 word64(const guint8 *at)
{
    guint64 w;
    memcpy(&w, at, 8);
    return GUINT64_FROM_LE(w);
}

/* Cycles since the CTA's start; the 32-bit clock may have wrapped once since then. -1: poison. */
static gint64 cycles_of(Cta *c, guint32 word)
{
    if (word == WS_RECORD_POISON)
        return -1;
    const gint64 cycles = (gint64)(guint32)(word - (guint32)c->clock0);
    c->astray |= cycles > c->latest;
    return cycles;
}

/* Total of the strip's loop at this step; 0 outside loops, -1 if the loop is not on the path. */
static gint64 strip_total(const WsRecordStrip *strip, const WsStep *step)
{
    if (!strip->loop)
        return 0;
    for (guint i = 0; i < step->n_rounds; i++)
        if (step->loop[i] == strip->loop)
            return step->round[i];
    return -1;
}

static gint64 clock_of(Cta *c, const WsRecordStrip *strip, gint64 total, gint word)
{
    return cycles_of(c, word32(c->base + ws_recorder_at(strip, total, (guint)word)));
}

/* Reads the clocks of a point in one round; `last`: when the agent's record before ended, -1 not
 * known. FALSE if the round lies outside the window, or the point's beginning does. */
static gboolean read_point(Cta *c, const WsRecordStrip *strip, const WsRecordPoint *point,
                           gint64 total, gint64 last, gint64 *before, gint64 *after)
{
    gboolean chained = point->before < 0;
    if (ws_recorder_at(strip, total, 0) < 0)
        return FALSE;
    *after = clock_of(c, strip, total, point->after);
    *before = point->before >= 0 ? clock_of(c, strip, total, point->before) : -1;
    for (const WsRecordPoint *q = point; *before < 0 && q-- > strip->point;) {
        *before = clock_of(c, strip, total, q->after);
        chained = chained && q->before < 0;
    }
    if (*before < 0 && chained)
        *before = last;
    return *before >= 0 || !chained;
}

/* --- groups and completions ---------------------------------------------------------------------
 */

static void fifo_init(Fifo *f)
{
    f->open = g_array_new(FALSE, FALSE, sizeof(guint));
    f->groups = g_queue_new();
}

static void fifo_clear(Fifo *f)
{
    g_array_unref(f->open);
    g_queue_free_full(f->groups, (GDestroyNotify)g_array_unref);
}

static void fifo_add(Fifo *f, gint record)
{
    guint r = (guint)record;
    if (record >= 0)
        g_array_append_val(f->open, r);
}

static void fifo_commit(Fifo *f)
{
    g_queue_push_tail(f->groups, f->open);
    f->open = g_array_new(FALSE, FALSE, sizeof(guint));
}

/* All but the `keep` newest groups were over at `when` (-1: not observed). */
static void fifo_retire(Cta *c, Fifo *f, gint64 keep, gint64 when)
{
    while ((gint64)g_queue_get_length(f->groups) > MAX(keep, 0)) {
        g_autoptr(GArray) group = g_queue_pop_head(f->groups);
        for (guint i = 0; i < group->len; i++)
            g_array_index(c->record, WsTraceRecord, g_array_index(group, guint, i)).done = when;
    }
}

static guint completion_hash(gconstpointer key)
{
    const Completion *k = key;
    guint64 h = (guint64)k->barrier * 1000003u + (guint64)k->element * 10007u +
                (guint64)k->slot * 101u + (guint64)k->turn * 2654435761u;
    return (guint)(h ^ h >> 32);
}

static gboolean completion_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(Completion)) == 0;
}

static gboolean completion_of(Agent *a, const WsOp *op, Completion *k, GError **error)
{
    *k = (Completion){ .barrier = op->barrier };
    if (op->barrier < 0 || !op->slot || !op->turn)
        return FALSE;
    return (!op->element || ws_walker_eval(a->walker, op->element, &k->element, error)) &&
           ws_walker_eval(a->walker, op->slot, &k->slot, error) &&
           ws_walker_eval(a->walker, op->turn, &k->turn, error);
}

static gboolean note_load(Agent *a, const WsOp *op, gint record, GError **error)
{
    Completion k;
    GError *problem = NULL;
    if (record < 0)
        return TRUE;
    if (!completion_of(a, op, &k, &problem)) {
        if (problem)
            g_propagate_error(error, problem);
        return problem == NULL;
    }
    GArray *list = g_hash_table_lookup(a->cta->loads, &k);
    if (!list) {
        list = g_array_new(FALSE, FALSE, sizeof(guint));
        g_hash_table_insert(a->cta->loads, g_memdup2(&k, sizeof k), list);
    }
    guint r = (guint)record;
    g_array_append_val(list, r);
    return TRUE;
}

static gboolean note_wait(Agent *a, const WsOp *op, gint64 when, GError **error)
{
    Completion k;
    GError *problem = NULL;
    if (when < 0)
        return TRUE;
    if (!completion_of(a, op, &k, &problem)) {
        if (problem)
            g_propagate_error(error, problem);
        return problem == NULL;
    }
    gint64 *known = g_hash_table_lookup(a->cta->arrived, &k);
    if (!known)
        g_hash_table_insert(a->cta->arrived, g_memdup2(&k, sizeof k),
                            g_memdup2(&when, sizeof when));
    else
        *known = MIN(*known, when);
    return TRUE;
}

static void settle_loads(Cta *c)
{
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, c->loads);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        const gint64 *when = g_hash_table_lookup(c->arrived, key);
        const GArray *list = value;
        for (guint i = 0; i < list->len; i++)
            g_array_index(c->record, WsTraceRecord, g_array_index(list, guint, i)).done =
                when ? *when : -1;
    }
}

/* --- walking ---------------------------------------------------------------------------------- */

static WsTraceRecord blank_record(const Agent *a, const WsStep *step)
{
    gint64 position = ws_walker_position(a->walker);
    gint64 round = step->n_rounds ? step->round[step->n_rounds - 1] : -1;
    if (step->n_rounds && step->loop[step->n_rounds - 1]->over == WS_OVER_TILES)
        round = position;
    return (WsTraceRecord){ .op = step->op->index,
                            .agent = (guint16)a->agent,
                            .cta = a->cta->cta,
                            .tile = (gint32)CLAMP(position, -1, G_MAXINT32),
                            .round = (gint32)CLAMP(round, -1, G_MAXINT32) };
}

/* Cycles between the last record and `next` went into what reads no clock: into the step that the
 * author drew there (an arrival), else into the work before it, else, behind a wait, into the work
 * after it. So the steps of an agent cover its time. */
static void cover_gap(Agent *a, WsTraceRecord *next)
{
    GArray *list = a->cta->record;
    WsTraceRecord *last = a->last >= 0 ? &g_array_index(list, WsTraceRecord, a->last) : NULL;
    if (!last || next->start <= last->issued)
        return;
    if (a->any_between) {
        a->between.start = last->issued;
        a->between.issued = a->between.done = next->start;
        g_array_append_val(list, a->between);
    } else if (!ws_op_waits(a->cta->p->op[last->op]->kind)) {
        if (last->done == last->issued)
            last->done = next->start;
        last->issued = next->start;
    } else {
        next->start = last->issued;
    }
}

/* The record of this step, or -1 if it was not recorded. */
static gint add_record(Agent *a, const WsStep *step, gint64 *after)
{
    Cta *c = a->cta;
    const WsRecordStrip *strip;
    const WsRecordPoint *point = ws_recorder_point(c->plan, step->op, &strip);
    gint64 before;
    *after = -1;
    if (!point) {
        const WsTree *in = step->n_rounds ? step->loop[step->n_rounds - 1] : NULL;
        if (!c->plan->rounds && in && in->over != WS_OVER_TILES) {
            a->last = -1; /* what stands here was not recorded */
            a->any_between = FALSE;
        } else if (!step->op->derived && !a->any_between) {
            a->between = blank_record(a, step);
            a->any_between = TRUE;
        }
        return -1;
    }
    const gint64 last = a->last >= 0 ? g_array_index(c->record, WsTraceRecord, a->last).issued : -1;
    const gboolean inside =
        read_point(c, strip, point, strip_total(strip, step), last, &before, after);
    if (inside && (*after < 0 || before < 0)) {
        a->unwritten++;
    } else if (inside) {
        c->missing += a->unwritten;
        a->unwritten = 0;
    }
    if (!inside || *after < 0 || before < 0) {
        a->last = -1;
        a->any_between = FALSE;
        return -1;
    }
    c->astray |= *after < before;
    WsTraceRecord r = blank_record(a, step);
    r.start = before;
    r.issued = r.done = *after;
    cover_gap(a, &r);
    g_array_append_val(c->record, r);
    a->any_between = FALSE;
    a->last = (gint)c->record->len - 1;
    return a->last;
}

static gboolean take_step(Agent *a, const WsStep *step, GError **error)
{
    Cta *c = a->cta;
    const WsOp *op = step->op;
    gint64 after;
    gint record = add_record(a, step, &after);
    Fifo *const queues[WS_QUEUES] = { &a->mma, &a->bulk, &a->gather };
    const gint q = ws_op_queue(op->kind);
    const gboolean loads = op->barrier >= 0 || ws_op_loads(op->kind);
    if (ws_op_flies(op->kind) && loads)
        return note_load(a, op, record, error);
    if (q >= 0 && ws_op_flies(op->kind))
        fifo_add(queues[q], record);
    else if (q >= 0 && ws_op_closes(op->kind))
        fifo_commit(queues[q]);
    else if (q >= 0 && ws_op_retires(op->kind))
        fifo_retire(c, queues[q], op->n, after);
    else if (ws_op_waits_phase(op->kind))
        return note_wait(a, op, after, error);
    return TRUE;
}

static gboolean walk_agent(Cta *c, guint agent, gint64 grid, guint id, GError **error)
{
    gint64 cluster = MAX(c->p->cluster, 1);
    gint64 clusters =
        c->p->tiles->launch == WS_LAUNCH_SINGLE ? ws_launch_tiles(c->v) : grid / cluster;
    WsTilesStrided tiles = { id / cluster, MAX(clusters, 1), ws_launch_tiles(c->v) };
    WsTraceClaims claims = { (const WsTraceClaim *)(gpointer)c->claim->data, c->claim->len };
    const gboolean claimed = c->plan->claimed != NULL;
    g_autoptr(WsWalker) walker = ws_walker_new(c->p, c->v, agent, (guint)(id % cluster),
                                               claimed ? ws_trace_claim_at : ws_tiles_strided,
                                               claimed ? (gpointer)&claims : &tiles);
    ws_walker_set_element(walker, c->element, c->inputs);
    Agent a = { .cta = c, .agent = agent, .walker = walker, .last = -1 };
    fifo_init(&a.mma);
    fifo_init(&a.bulk);
    fifo_init(&a.gather);
    WsStep step;
    GError *problem = NULL;
    while (!problem && ws_walker_next(walker, &step, &problem))
        take_step(&a, &step, &problem);
    c->missing += a.unwritten;
    fifo_retire(c, &a.mma, 0, -1);
    fifo_retire(c, &a.bulk, 0, -1);
    fifo_retire(c, &a.gather, 0, -1);
    fifo_clear(&a.mma);
    fifo_clear(&a.bulk);
    fifo_clear(&a.gather);
    if (problem)
        g_propagate_error(error, problem);
    return problem == NULL;
}

/* One agent notes the end: others may still be at their last steps. */
#define LATEST_BEGIN (G_GINT64_CONSTANT(1) << 40) /* ns between two CTAs' beginnings */
#define LATER        (G_GINT64_CONSTANT(1) << 20)

static gboolean refuse_clocks(guint id, const char *why, GError **error)
{
    g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT,
                "the records of CTA %u cannot be read as times: %s", id, why);
    return FALSE;
}

/* The tiles that the CTA claimed, up to the first line that was not written or has no room. */
static gboolean read_claims(Cta *c, guint id, GError **error)
{
    const gint64 tiles = ws_launch_tiles(c->v);
    for (gint64 i = 0; i + 1 < c->plan->claimed_lines; i++) {
        const guint64 tile = word64(c->base + c->plan->claimed_offset + 8 * (guint64)i);
        if (tile == G_MAXUINT64)
            return TRUE;
        if (tile >= (guint64)tiles || tile > G_MAXINT32) {
            g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT,
                        "the records of CTA %u say that it claimed tile %" G_GUINT64_FORMAT
                        ", and the launch has %" G_GINT64_FORMAT ": made by another bundle?",
                        id, tile, tiles);
            return FALSE;
        }
        const WsTraceClaim claim = { c->cta, (gint32)tile };
        g_array_append_val(c->claim, claim);
    }
    return TRUE;
}

/* Reads one CTA. Header: recorder.h. FALSE on error; a CTA that never ran adds nothing. */
static gboolean measure_cta(Cta *c, WsTrace *trace, gint64 grid, guint id, GError **error)
{
    guint32 sm = word32(c->base), claimed = word32(c->base + 4);
    guint64 ns = word64(c->base + 16) - word64(c->base + 8);
    guint64 span = word64(c->base + 32) - word64(c->base + 24);
    if (claimed == WS_RECORD_POISON || word64(c->base + 24) == G_MAXUINT64 || id >= grid)
        return TRUE;
    if (claimed != id) {
        g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT,
                    "the records of CTA %u say they are of CTA %u: made by another bundle?", id,
                    claimed);
        return FALSE;
    }
    c->clock0 = word64(c->base + 24);
    c->cta = (guint16)trace->cta->len;
    const gboolean ended = word64(c->base + 32) != G_MAXUINT64;
    const gboolean timed = ended && ns > 0 && ns < 1ull << 40 && span > 0;
    if (ended && span > G_MAXUINT32)
        return refuse_clocks(id,
                             "it took more than 2^32 cycles, or its clock went back, and "
                             "records hold 32 bits of the clock",
                             error);
    c->latest = ended ? 2 * (gint64)span + LATER : G_MAXINT64;
    WsTraceCta entry = { .id = id,
                         .sm = sm,
                         .cycles = ended ? (gint64)span : 0,
                         .ghz = timed ? (double)span / (double)ns : 0 };
    g_array_append_val(trace->cta, entry);
    const gint64 began = (gint64)(word64(c->base + 8) & G_MAXINT64);
    g_array_append_val(trace->begin, began);
    if (!read_claims(c, id, error))
        return FALSE;
    for (guint i = 0; i < c->claim->len; i++)
        ws_trace_add_claim(trace, c->cta, g_array_index(c->claim, WsTraceClaim, i).tile);
    for (guint a = 0; a < c->p->n_agents; a++)
        if (!walk_agent(c, a, grid, id, error))
            return FALSE;
    if (c->astray)
        return refuse_clocks(id, "a clock went back, or lies outside the time the CTA ran", error);
    settle_loads(c);
    for (guint i = 0; i < c->record->len; i++)
        ws_trace_add(trace, &g_array_index(c->record, WsTraceRecord, i));
    return TRUE;
}

/* From the earliest on. Of one CTA there is nothing to know, and times that are no launch's are
 * none. */
static void count_begins(WsTrace *t)
{
    gint64 first = G_MAXINT64, last = 0;
    for (guint i = 0; i < t->begin->len; i++) {
        first = MIN(first, g_array_index(t->begin, gint64, i));
        last = MAX(last, g_array_index(t->begin, gint64, i));
    }
    if (t->begin->len < 2 || last - first > LATEST_BEGIN)
        g_array_set_size(t->begin, 0);
    for (guint i = 0; i < t->begin->len; i++)
        g_array_index(t->begin, gint64, i) -= first;
}

WsTrace *ws_measure(const WsProgram *p, const WsLaunchValues *v, const WsRecorder *plan,
                    gint64 grid, const guint8 *data, gsize size, WsWalkElement element,
                    gpointer inputs, guint64 *n_missing, GError **error)
{
    *n_missing = 0;
    if (plan->cta_bytes * plan->n_ctas != size) {
        g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT,
                    "the records hold %" G_GSIZE_FORMAT
                    " bytes, this design's plan %" G_GUINT64_FORMAT,
                    size, (guint64)(plan->cta_bytes * plan->n_ctas));
        return NULL;
    }
    g_autoptr(WsTrace) trace = ws_trace_new(p, WS_TRACE_MEASURED);
    trace->grid = grid;
    for (guint i = 0; i < plan->n_ctas; i++) {
        Cta c = { .p = p,
                  .v = v,
                  .plan = plan,
                  .base = data + i * plan->cta_bytes,
                  .element = element,
                  .inputs = inputs };
        c.record = g_array_new(FALSE, FALSE, sizeof(WsTraceRecord));
        c.claim = g_array_new(FALSE, FALSE, sizeof(WsTraceClaim));
        c.loads = g_hash_table_new_full(completion_hash, completion_equal, g_free,
                                        (GDestroyNotify)g_array_unref);
        c.arrived = g_hash_table_new_full(completion_hash, completion_equal, g_free, g_free);
        gboolean ok =
            measure_cta(&c, trace, grid, ws_recorder_cta(plan, i, grid, p->cluster), error);
        *n_missing += c.missing;
        g_array_unref(c.record);
        g_array_unref(c.claim);
        g_hash_table_unref(c.loads);
        g_hash_table_unref(c.arrived);
        if (!ok)
            return NULL;
    }
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE)
            ws_trace_add_size(trace, p->var[i].name, ws_launch_var(v, (gint)i));
    count_begins(trace);
    trace->every = plan->rounds ? 1 : WS_TRACE_NO_ROUNDS;
    ws_trace_finish(trace);
    return g_steal_pointer(&trace);
}

/* FNV-1a over every figure of the plan. */
guint64 ws_measure_plan_key(const WsRecorder *plan)
{
    guint64 h = G_GUINT64_CONSTANT(0xcbf29ce484222325);
#define MIX(x) (h = (h ^ (guint64)(x)) * G_GUINT64_CONSTANT(0x100000001b3))
    MIX(plan->cta_bytes);
    if (plan->claimed) { /* of other launches the figures are those of plans without */
        MIX(plan->claimed_agent);
        MIX(plan->claimed_offset);
        MIX(plan->claimed_lines);
    }
    for (guint i = 0; i < plan->n_strips; i++) {
        const WsRecordStrip *s = &plan->strip[i];
        MIX(s->agent);
        MIX(s->offset);
        MIX(s->round_bytes);
        MIX(s->flush);
        MIX(s->late);
        MIX(s->first_round);
        MIX(s->rounds);
        if (s->every > 1)
            MIX(s->every);
        if (plan->launches > 1)
            MIX(s->phase);
        for (guint k = 0; k < s->n_points; k++) {
            MIX(s->point[k].op);
            MIX(s->point[k].at);
            MIX((gint64)s->point[k].before);
            MIX(s->point[k].after);
        }
    }
#undef MIX
    return h >> 1; /* 63 bits: fits a signed integer of the manifest */
}
