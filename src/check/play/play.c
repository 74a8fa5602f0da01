/* The play: agents of all CTAs of a cluster run in turn, transfers land when the schedule says. */
#include "check/play/play.h"
#include "check/play/remedy.h"
#include "check/touch.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"

#include <string.h>

/* --- building --------------------------------------------------------------------------------- */
static void layout_slots(WsPlay *play)
{
    const WsProgram *p = play->p;
    play->first_slot = g_new0(guint, p->n_barriers + 1);
    guint n = 0;
    for (guint b = 0; b < p->n_barriers; b++) {
        play->first_slot[b] = n;
        if (p->barrier[b].kind == WS_BARRIER_MBARRIER)
            n += MAX(p->barrier[b].array, 1) * MAX(p->barrier[b].slots, 1);
    }
    play->n_slots = n;
    play->slot = g_new0(WsSlot, (gsize)play->ranks * n + 1);
    for (guint r = 0; r < play->ranks; r++)
        for (guint b = 0; b < p->n_barriers; b++) {
            if (p->barrier[b].kind != WS_BARRIER_MBARRIER)
                continue;
            guint slots = MAX(p->barrier[b].slots, 1), all = MAX(p->barrier[b].array, 1) * slots;
            for (guint i = 0; i < all; i++) {
                WsSlot *s = &play->slot[r * n + play->first_slot[b] + i];
                s->barrier = b, s->element = i / slots, s->slot = i % slots, s->rank = r;
                s->count = p->barrier[b].arrivals ? p->barrier[b].arrivals[i / slots] : 1;
                s->waited = g_new0(WsWaited, p->n_agents);
                s->by_lanes = g_new0(WsWaited, p->n_agents);
                s->contributed = g_new0(guint8, play->n_inst);
            }
        }
}

/* Components: four per instance, one per mbarrier slot, one per named barrier. */
static void layout_clocks(WsPlay *play)
{
    guint slots = play->ranks * play->n_slots, named = play->ranks * play->n_named + 1;
    play->n_comps = 4 * play->n_inst + slots + named;
    gsize width = WS_CLOCK_PARTS * play->n_comps;
    play->clocks = g_new0(WsEpoch, width * (2 * play->n_inst + 2 * slots + 2 * named));
    WsEpoch *next = play->clocks;
    guint comp = 0;
    for (guint i = 0; i < play->n_inst; i++) {
        WsInst *inst = &play->inst[i];
        inst->comp_l = comp++, inst->comp_o = comp++;
        inst->comp_w = comp++, inst->comp_b = comp++;
        inst->lead = next, inst->lanes = next + width;
        next += 2 * width;
    }
    for (guint i = 0; i < slots; i++) {
        play->slot[i].comp = comp++;
        play->slot[i].acc = next, play->slot[i].done = next + width;
        next += 2 * width;
    }
    for (guint i = 0; i < named; i++) {
        WsNamed *n = i + 1 < named ? &play->named[i] : &play->cluster;
        n->comp = comp++;
        n->acc = next, n->done = next + width;
        next += 2 * width;
    }
}

WsPlay *ws_play_new(const WsProgram *p, WsFindings *findings, guint max_findings)
{
    WsPlay *play = g_new0(WsPlay, 1);
    play->p = p;
    play->findings = findings;
    play->max_findings = max_findings;
    play->said = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    play->causes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    play->settled = ws_report_settled();
    play->ranks = MAX(p->cluster, 1);
    play->n_inst = play->ranks * p->n_agents;
    play->inst = g_new0(WsInst, play->n_inst + 1);
    for (guint i = 0; i < play->n_inst; i++) {
        WsInst *inst = &play->inst[i];
        inst->index = i, inst->agent = i % p->n_agents, inst->rank = i / p->n_agents;
        inst->a = &p->agent[inst->agent];
        inst->mma = g_ptr_array_new();
        inst->bulk = g_ptr_array_new();
        inst->cp = g_ptr_array_new();
        inst->busy = g_array_new(FALSE, FALSE, sizeof(WsBusy));
        inst->defined = g_new0(guint64, inst->a->n_values + 1);
        inst->touched = g_new0(guint64, inst->a->n_values + 1);
    }
    layout_slots(play);
    play->n_named = ws_named_ids(p) + p->n_agents;
    play->named = g_new0(WsNamed, play->ranks * play->n_named);
    layout_clocks(play);
    play->shadow = g_new0(WsShadow, play->ranks);
    play->flight = g_ptr_array_new();
    play->remote = g_ptr_array_new();
    play->arena = g_ptr_array_new_with_free_func(g_free);
    play->transfers = g_ptr_array_new();
    play->info = g_new0(WsOpInfo, p->n_ops + 1);
    play->fed_singly = ws_fed_singly(p);
    play->tangled = ws_tangled(p);
    play->unheard = ws_unheard(p);
    play->grid = g_new(WsGrid *, p->n_agents + 1);
    for (guint a = 0; a < p->n_agents; a++)
        play->grid[a] = ws_value_grids(p, a);
    return play;
}

void ws_play_free(WsPlay *play)
{
    if (!play)
        return;
    for (guint i = 0; i < play->n_inst; i++) {
        WsInst *inst = &play->inst[i];
        g_ptr_array_unref(inst->mma);
        g_ptr_array_unref(inst->bulk);
        g_ptr_array_unref(inst->cp);
        g_array_unref(inst->busy);
        g_free(inst->defined);
        g_free(inst->touched);
    }
    for (guint i = 0; i < play->ranks * play->n_slots; i++) {
        g_free(play->slot[i].waited);
        g_free(play->slot[i].by_lanes);
        g_free(play->slot[i].contributed);
        ws_feeds_clear(&play->slot[i], TRUE);
        g_clear_pointer(&play->slot[i].came, g_array_unref);
        g_clear_pointer(&play->slot[i].came_before, g_array_unref);
    }
    for (guint i = 0; i < play->ranks * play->n_named; i++)
        ws_joins_clear(&play->named[i], TRUE);
    for (guint r = 0; r < play->ranks; r++)
        ws_shadow_free(&play->shadow[r]);
    for (guint i = 0; i < play->transfers->len; i++) {
        WsTransfer *t = play->transfers->pdata[i];
        g_free(t->clock);
        g_free(t);
    }
    for (guint i = 0; i < play->p->n_ops; i++) {
        for (guint k = 0; play->info[i].cache && k < play->p->op[i]->n_access; k++)
            g_free(play->info[i].cache[k].range);
        g_free(play->info[i].cache);
        g_free(play->info[i].read);
        g_free(play->info[i].write);
    }
    g_ptr_array_unref(play->transfers);
    g_ptr_array_unref(play->flight);
    g_ptr_array_unref(play->remote);
    g_ptr_array_unref(play->arena);
    g_hash_table_unref(play->said);
    g_hash_table_unref(play->causes);
    g_hash_table_unref(play->settled);
    g_free(play->info);
    g_free(play->meeting);
    g_free(play->fed_singly);
    g_free(play->tangled);
    g_free(play->unheard);
    for (guint a = 0; a < play->p->n_agents; a++)
        g_free(play->grid[a]);
    g_free(play->grid);
    g_free(play->shadow);
    g_free(play->clocks);
    g_free(play->named);
    g_free(play->slot);
    g_free(play->first_slot);
    g_free(play->inst);
    g_free(play);
}

static void reset_inst(WsPlay *play, WsInst *inst)
{
    inst->state = WS_INST_RUN;
    inst->have = FALSE;
    inst->l = inst->o = inst->w = inst->b = inst->met = inst->fenced = 0;
    inst->slot = NULL, inst->named = NULL, inst->last_wait = NULL;
    inst->joined = inst->cluster_joined = -1;
    inst->mma_committed = 0;
    inst->bulk_committed = 0;
    inst->cp_committed = 0;
    inst->mma_open = inst->bulk_open = FALSE;
    inst->cp_arrival = NULL;
    inst->fence_seen = FALSE;
    g_ptr_array_set_size(inst->mma, 0);
    g_ptr_array_set_size(inst->bulk, 0);
    g_ptr_array_set_size(inst->cp, 0);
    g_array_set_size(inst->busy, 0);
    memset(inst->defined, 0, (inst->a->n_values + 1) * sizeof(guint64));
    memset(inst->touched, 0, (inst->a->n_values + 1) * sizeof(guint64));
}

static void reset(WsPlay *play)
{
    const gsize width = WS_CLOCK_PARTS * play->n_comps, slots = play->ranks * play->n_slots;
    memset(play->clocks, 0, 2 * width * (play->n_inst + slots) * sizeof(WsEpoch));
    for (guint i = 0; i < play->n_inst; i++)
        reset_inst(play, &play->inst[i]);
    for (guint i = 0; i < play->ranks * play->n_slots; i++) {
        WsSlot *s = &play->slot[i];
        s->phase = 0, s->pend = s->count, s->tx = s->expected = s->credited = 0;
        s->broken = FALSE;
        s->taken = 0;
        s->watched = WS_WATCHED_UNKNOWN;
        ws_feeds_clear(s, FALSE);
        if (s->came)
            g_array_set_size(s->came, 0), g_array_set_size(s->came_before, 0);
        memset(s->contributed, 0, play->n_inst);
        s->lanes_came = 0;
        for (guint a = 0; a < play->p->n_agents; a++)
            s->waited[a].phase = s->by_lanes[a].phase = -2;
    }
    for (guint i = 0; i <= play->ranks * play->n_named; i++) {
        WsNamed *n = i < play->ranks * play->n_named ? &play->named[i] : &play->cluster;
        if (n->generation || n->arrived) /* else nobody has joined it */
            memset(n->acc, 0, 2 * width * sizeof(WsEpoch));
        n->generation = n->arrived = n->count = 0;
        n->joined = n->joined_before = WS_JOINED_BY_NOBODY;
        n->skewed = FALSE;
        ws_joins_clear(n, FALSE);
        n->barrier = -1;
    }
    for (guint r = 0; r < play->ranks; r++)
        ws_shadow_clear(&play->shadow[r]);
    g_ptr_array_set_size(play->flight, 0);
    g_ptr_array_set_size(play->remote, 0);
    play->arena_used = play->transfers_used = 0;
    play->ops = play->walked = 0;
}

/* --- events and values ------------------------------------------------------------------------ */
#define BLOCK 512
WsEvent *ws_play_event(WsPlay *play, WsInst *inst)
{
    guint block = play->arena_used / BLOCK;
    if (block == play->arena->len)
        g_ptr_array_add(play->arena, g_new(WsEvent, BLOCK));
    WsEvent *e = &((WsEvent *)play->arena->pdata[block])[play->arena_used++ % BLOCK];
    const WsStep *step = &inst->step;
    e->op = step->op;
    e->inst = inst->index;
    e->n_rounds = MIN(step->n_rounds, G_N_ELEMENTS(e->round));
    for (guint i = 0; i < e->n_rounds; i++)
        e->round[i] = step->round[i];
    e->pending = FALSE;
    e->comp = 0, e->epoch = 0, e->issue = 0, e->back = 0, e->made = 0, e->group = 0;
    e->cover_comp = 0, e->cover = 0;
    e->next = NULL, e->slot = NULL;
    e->arrival = e->later = NULL;
    e->stage = e->element = e->row0 = e->col0 = -1;
    e->use = 0, e->buffer = 0;
    return e;
}

gboolean ws_play_eval(WsPlay *play, WsInst *inst, const WsExpr *e, gint64 *value)
{
    if (e->op == WS_EXPR_INT) {
        *value = e->i;
        return TRUE;
    }
    g_autoptr(GError) error = NULL;
    if (ws_walker_eval(inst->walker, e, value, &error))
        return TRUE;
    ws_outside(play, inst, error ? error->message : "an expression has no value");
    return FALSE;
}

/* --- one operation ---------------------------------------------------------------------------- */
static void fence_async(WsPlay *play, WsInst *inst)
{
    guint n = play->n_comps;
    inst->lead[inst->comp_l] = inst->l;
    memcpy(inst->lead + n, inst->lead, n * sizeof(WsEpoch));
    if (ws_by_leader(inst))
        return;
    memcpy(inst->lanes + n, inst->lanes, n * sizeof(WsEpoch));
    inst->fenced = inst->o; /* L-FENCE: every lane what it did itself, for nobody else yet */
}

static void warp_sync(WsPlay *play, WsInst *inst)
{
    if (ws_by_leader(inst))
        return;
    inst->met = inst->o;
    if (inst->a->warps != 1)
        return;
    ws_release_all(play, inst, inst->lead);
    ws_clock_join(play, inst->lanes, inst->lead);
}

/* One operation; FALSE while the instance must wait. What is not in the table must be of a kind
 * that touches at most the bytes and values that it lists. */
typedef gboolean (*Deed)(WsPlay *play, WsInst *inst);

#define DEED(name, call)                                                                           \
    static gboolean name(WsPlay *play, WsInst *inst)                                               \
    {                                                                                              \
        call;                                                                                      \
        return TRUE;                                                                               \
    }
DEED(arrive, ws_do_arrive(play, inst))
DEED(expect, ws_do_expect(play, inst))
DEED(load, ws_do_load(play, inst))
DEED(rows, ws_do_rows(play, inst))
DEED(cp_arrive, ws_do_cp_arrive(play, inst))
DEED(cp_commit, inst->cp_committed++)
DEED(cp_wait, ws_do_cp_wait(play, inst, inst->step.op->n))
DEED(store, ws_do_store(play, inst))
DEED(bulk_commit, inst->bulk_committed++; inst->bulk_open = FALSE)
DEED(bulk_wait, ws_do_bulk_wait(play, inst, inst->step.op->n))
DEED(mma, ws_do_mma(play, inst))
DEED(mma_commit, inst->mma_committed++; inst->mma_open = FALSE)
DEED(mma_wait, ws_do_mma_wait(play, inst, inst->step.op->n))
DEED(mma_fence, memset(inst->touched, 0, (inst->a->n_values + 1) * sizeof(guint64));
     inst->fence_seen = TRUE)
DEED(async_fence, fence_async(play, inst))
DEED(sync_warp, warp_sync(play, inst))
DEED(generic, ws_do_generic(play, inst))
DEED(peek, ws_do_peek(play, inst))

static const Deed deeds[WS_OP_KIND_COUNT] = {
    [WS_OP_MBAR_WAIT] = ws_do_wait,
    [WS_OP_MBAR_ARRIVE] = arrive,
    [WS_OP_MBAR_EXPECT] = expect,
    [WS_OP_TMA_LOAD] = load,
    [WS_OP_TMA_GET] = load,
    [WS_OP_BULK_COPY] = load,
    [WS_OP_ST_REMOTE] = load,
    [WS_OP_LD_REMOTE] = peek,
    [WS_OP_ST_PEER] = peek,
    [WS_OP_CP_ROWS] = rows,
    [WS_OP_CP_ARRIVE] = cp_arrive,
    [WS_OP_CP_COMMIT] = cp_commit,
    [WS_OP_CP_WAIT] = cp_wait,
    [WS_OP_TMA_STORE] = store,
    [WS_OP_TMA_PUT] = store,
    [WS_OP_BULK_COMMIT] = bulk_commit,
    [WS_OP_BULK_WAIT] = bulk_wait,
    [WS_OP_MMA] = mma,
    [WS_OP_MMA_COMMIT] = mma_commit,
    [WS_OP_MMA_WAIT] = mma_wait,
    [WS_OP_MMA_FENCE] = mma_fence,
    [WS_OP_BAR_SYNC] = ws_do_named,
    [WS_OP_BAR_ARRIVE] = ws_do_named,
    [WS_OP_CLUSTER_ARRIVE] = ws_do_cluster,
    [WS_OP_CLUSTER_WAIT] = ws_do_cluster,
    [WS_OP_FENCE_ASYNC] = async_fence,
    [WS_OP_WARP_SYNC] = sync_warp,
};

static gboolean execute(WsPlay *play, WsInst *inst)
{
    Deed deed = deeds[inst->step.op->kind];
    const WsCheckAs as = ws_op_row(inst->step.op->kind)->check;
    if (deed)
        return deed(play, inst);
    if (as == WS_CHECK_TOUCH || as == WS_CHECK_ASSIGN || as == WS_CHECK_SILENT)
        return generic(play, inst);
    g_autofree char *why = ws_phrase("operation %s is not supported by the simulation",
                                     ws_op_kind_text(inst->step.op->kind));
    ws_outside(play, inst, why);
    return FALSE;
}

static gboolean next_step(WsPlay *play, WsInst *inst)
{
    g_autoptr(GError) error = NULL;
    if (ws_walker_next(inst->walker, &inst->step, &error))
        return TRUE;
    if (error)
        ws_outside(play, inst, error->message);
    return FALSE;
}

/* Runs an instance until it waits or ends, or for one operation. Returns TRUE if it moved. */
static gboolean advance(WsPlay *play, WsInst *inst, gboolean one)
{
    gboolean moved = FALSE;
    while (inst->state != WS_INST_DONE && !play->outside) {
        if (!inst->have) {
            if (!next_step(play, inst)) {
                inst->state = WS_INST_DONE;
                ws_cluster_complete(play);
                return TRUE;
            }
            inst->have = TRUE;
            inst->slot = NULL, inst->named = NULL;
            inst->joined = -1;
        }
        if (!execute(play, inst)) {
            inst->state = WS_INST_STUCK;
            return moved;
        }
        if (play->in_step)
            warp_sync(play, inst);
        inst->state = WS_INST_RUN;
        inst->have = FALSE;
        moved = TRUE;
        if (++play->ops > play->max_ops) {
            ws_outside(play, inst, "the simulation is too long");
            return moved;
        }
        if (one)
            return TRUE;
    }
    return moved;
}

/* Lets one transfer land; FALSE if none is on its way. */
static gboolean land_one(WsPlay *play)
{
    if (play->flight->len == 0)
        return FALSE;
    guint i = play->schedule == WS_SCHEDULE_BACKWARD ? play->flight->len - 1 : 0;
    WsTransfer *t = g_ptr_array_steal_index(play->flight, i);
    ws_land(play, t);
    return TRUE;
}

static void run(WsPlay *play)
{
    gboolean eager = play->schedule == WS_SCHEDULE_EAGER;
    gboolean mixed = play->schedule == WS_SCHEDULE_MIXED;
    while (!play->outside && !(play->cancel && g_atomic_int_get(play->cancel))) {
        gboolean moved = FALSE;
        for (guint i = 0; i < play->n_inst; i++) {
            guint at = play->schedule == WS_SCHEDULE_BACKWARD ? play->n_inst - 1 - i : i;
            if (play->inst[at].state != WS_INST_DONE)
                moved |= advance(play, &play->inst[at], eager || mixed);
            while (eager && land_one(play))
                moved = TRUE;
        }
        if (!moved && !land_one(play))
            break;
    }
}

static void conclude(WsPlay *play)
{
    gboolean done = TRUE;
    for (guint i = 0; i < play->n_inst; i++)
        done &= play->inst[i].state == WS_INST_DONE;
    if (done)
        ws_report_ends(play);
    else
        ws_report_stuck(play);
}

void ws_play_run(WsPlay *play, const WsCase *c, WsSchedule schedule)
{
    WsCaseSource source = { play->p, c };
    reset(play);
    play->c = c, play->schedule = schedule;
    for (guint i = 0; i < play->n_inst; i++) {
        WsInst *inst = &play->inst[i];
        inst->walker = ws_walker_new(play->p, c->values, inst->agent, inst->rank,
                                     ws_case_source_tile, &source);
        ws_walker_set_element(inst->walker, ws_case_source_element, &source);
        ws_walker_limit(inst->walker, ws_play_limit(play));
    }
    const guint before = play->findings->list->len;
    run(play);
    if (!play->outside && !(play->cancel && g_atomic_int_get(play->cancel)))
        conclude(play);
    for (guint i = before; i < play->findings->list->len; i++)
        ws_remedy_evident(play, play->findings->list->pdata[i]);
    for (guint i = 0; i < play->n_inst; i++) {
        play->walked += (guint64)ws_walker_spent(play->inst[i].walker);
        g_clear_pointer(&play->inst[i].walker, ws_walker_free);
    }
}
