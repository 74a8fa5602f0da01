/* Bytes of shared memory in the play: who read and wrote them last, and whether whoever comes next
 * knows it. Aliased buffers share them, because
 * they are ranges and not names (shadow.c). */
#include "check/play/play.h"
#include "check/touch.h"
#include "program/lanes.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/program.h"

#include <string.h>

/* --- names for messages ----------------------------------------------------------------------- */
static char *bytes_name(const WsPlay *play, const WsAccess *a, const WsEvent *e)
{
    const WsBuffer *b = &play->p->buffer[a->buffer];
    GString *s = g_string_new(b->name);
    if (b->is_array)
        ws_phrase_append(s, "[%" G_GINT64_FORMAT "]", e->element);
    if (b->stages > 1)
        ws_phrase_append(s, " stage %" G_GINT64_FORMAT, e->stage);
    return g_string_free(s, FALSE);
}

/* --- conflicts -------------------------------------------------------------------------------- */
static guint64 base_of(const WsPlay *play, const WsEvent *e)
{
    const WsBuffer *b = &play->p->buffer[e->op->access[0].buffer];
    return b->offset + (guint64)e->element * b->array_pitch + (guint64)e->stage * b->stage_pitch;
}

/* Two accesses at their places, and what ws_lanes_collide() says of them: rounds ask it again. */
struct WsPlayMeeting {
    const WsOp *was, *now;
    gint64 at[4];
    guint64 base[2];
    gboolean met, collide, known;
};
enum { MEETINGS = 512 };

static gboolean collide(WsPlay *play, const WsLanesAt *was, guint64 was_base, const WsLanesAt *now,
                        guint64 now_base, gboolean met)
{
    if (!play->meeting)
        play->meeting = g_new0(struct WsPlayMeeting, MEETINGS);
    guint64 h = (guint64)(guintptr)was->op * 31 + (guint64)(guintptr)now->op;
    h = (h ^ (guint64)(was->row0 * 7 + was->col0 * 13 + now->row0 * 17 + now->col0 * 29)) *
        0x9e3779b97f4a7c15u;
    h = (h ^ was_base * 3 ^ now_base * 5) * 0x9e3779b97f4a7c15u + (guint64)met;
    struct WsPlayMeeting *m = &play->meeting[(h >> 32) % MEETINGS];
    if (!m->known || m->was != was->op || m->now != now->op || m->at[0] != was->row0 ||
        m->at[1] != was->col0 || m->at[2] != now->row0 || m->at[3] != now->col0 ||
        m->base[0] != was_base || m->base[1] != now_base || m->met != met)
        *m = (struct WsPlayMeeting){
            was->op,
            now->op,
            { was->row0, was->col0, now->row0, now->col0 },
            { was_base, now_base },
            met,
            ws_lanes_collide(play->p, was, was_base, now, now_base, met),
            TRUE,
        };
    return m->collide;
}

/* L-ROW-PRIVATE: every thread meets what it touched itself, or its warp has met since. Where nobody
 * can say who meets whom nothing is refuted; the proof does not close on it. */
static gboolean private_rows(WsPlay *play, const WsInst *inst, const WsEvent *e, const WsAccess *a,
                             const WsEvent *p)
{
    if (p->inst != e->inst || p->comp != inst->comp_o || ws_by_leader(inst))
        return FALSE;
    if (inst->a->queue >= 0) /* steps of a queue overlap, element by element, until its barrier */
        return FALSE;
    if (ws_op_is_raw(p->op->kind) && ws_op_is_raw(e->op->kind))
        return TRUE; /* the author's text says which thread touches what */
    if (a != &e->op->access[0])
        return FALSE;
    const WsLanesAt was = { p->op, p->row0, p->col0 }, now = { e->op, e->row0, e->col0 };
    return !collide(play, &was, base_of(play, p), &now, base_of(play, e), p->epoch <= inst->met);
}

/* Buffer by which the earlier event knew the bytes, if it is another one; -1: the same. */
static gint other_name(const WsAccess *a, const WsEvent *p, gboolean p_writes)
{
    gint other = -1;
    for (guint i = 0; i < p->op->n_access; i++) {
        const WsAccess *x = &p->op->access[i];
        if (x->buffer == a->buffer)
            return -1;
        if (x->mode & (p_writes ? WS_MODE_WRITE : WS_MODE_READ))
            other = (gint)x->buffer;
    }
    return other;
}

static void report_conflict(WsPlay *play, WsInst *inst, const WsEvent *e, const WsAccess *a,
                            gboolean writes, const WsEvent *p, gboolean p_writes)
{
    const WsOp *was = p->op;
    gboolean issued = p->issue && ws_knows(inst, ws_by_leader(inst), p->comp, p->issue);
    gboolean async = was->engine == WS_ENGINE_MMA || was->engine == WS_ENGINE_TMA_STORE;
    gboolean own = p->inst == e->inst;
    gboolean lanes = own && !p->pending && p->comp == inst->comp_o;
    WsRuleId rule = async && (issued || own) ? WS_RULE_P_ASYNC : WS_RULE_P_RACE;
    if (ws_report_again(play, rule, inst, p))
        return;
    g_autofree char *bytes = bytes_name(play, a, e);
    g_autofree char *other = ws_deed_event(play, p);
    const char *why =
        rule == WS_RULE_P_ASYNC ? WS_WORD("it is not known to have ended")
        : lanes && inst->a->queue >= 0
            ? WS_WORD("the same queue did it, and no barrier of the queue lies between")
        : lanes ? WS_WORD("other lanes of the same agent did it, and no sync lies between")
                : WS_WORD("nothing orders the two");
    const gint alias = other_name(a, p, p_writes);
    const WsBuffer *own_name = &play->p->buffer[a->buffer];
    const char *name = alias < 0 ? NULL : play->p->buffer[alias].name;
    g_autofree char *over = !name ? g_strdup("")
                            : own_name->over >= 0
                                ? ws_phrase("; %s lies over %s", own_name->name, name)
                                : ws_phrase("; %s lies over %s", name, own_name->name);
    g_autofree char *lies = name ? ws_phrase("%s, the same bytes as %s", name, bytes) : NULL;
    WsFinding *f = ws_report(play, rule, inst, p, "%s %s while %s may still %s %s: %s%s",
                             writes ? WS_WORD("writes") : WS_WORD("reads"), bytes, other,
                             p_writes ? WS_WORD("write") : WS_WORD("read"),
                             name ? name : WS_WORD("it"), why, over);
    if (!f)
        return;
    f->object = g_strdup(play->p->buffer[a->buffer].name);
    if (writes)
        f->fact[WS_FACT_USE] = e->use;
    ws_tell_conflict(play, f, inst, writes, p, p_writes, bytes, lies);
    /* Loads are handed over by mbarriers: name the one that let this pass, or should have. */
    if (e->slot || p->slot)
        ws_report_slot(play, f, inst->last_wait ? inst->last_wait : e->slot ? e->slot : p->slot);
    else if (lanes)
        ws_report_queue(play, f, WS_WORD("group sync"), p->inst);
    else if (async)
        ws_report_queue(play, f,
                        was->engine == WS_ENGINE_MMA ? WS_WORD("commit groups")
                                                     : WS_WORD("bulk groups"),
                        p->inst);
    if (rule == WS_RULE_P_RACE && lanes)
        ws_remedy_order(play, f, inst, writes, p);
    else
        ws_remedy_conflict(play, f, inst, writes, p, p_writes);
}

static void report_proxy(WsPlay *play, WsInst *inst, const WsEvent *e, const WsAccess *a,
                         gboolean writes, const WsEvent *p, gboolean p_writes)
{
    WsRuleId rule = !p_writes                           ? WS_RULE_P_PROXY_WAR
                    : p->op->engine == WS_ENGINE_GATHER ? WS_RULE_P_PROXY_GATHER
                                                        : WS_RULE_P_PROXY;
    if (ws_report_again(play, rule, inst, p))
        return;
    g_autofree char *bytes = bytes_name(play, a, e);
    g_autofree char *other = ws_deed_event(play, p);
    WsFinding *f =
        ws_report(play, rule, inst, p,
                  p_writes ? "%s %s through the async proxy, but what %s wrote has no proxy fence"
                           : "%s %s through the async proxy, but what %s read has no proxy fence",
                  writes ? WS_WORD("writes") : WS_WORD("reads"), bytes, other);
    if (!f)
        return;
    f->object = g_strdup(play->p->buffer[a->buffer].name);
    ws_tell_proxy(play, f, inst, writes, p, p_writes, bytes);
    if (p->inst == inst->index)
        ws_report_queue(play, f, WS_WORD("group sync"), p->inst);
    else if (inst->last_wait)
        ws_report_slot(play, f, inst->last_wait);
    if (rule == WS_RULE_P_PROXY_GATHER) {
        ws_finding_set_remedy(f,
                              "{\"fence\": \"async\"} after the wait, before the step that reads");
        return;
    }
    ws_finding_set_remedy(f, p_writes ? "{\"fence\": \"async\"} by the threads that wrote it, "
                                        "before the arrive or sync that hands it over"
                                      : "{\"fence\": \"async\"} by the threads that read it, "
                                        "before the arrive or sync that hands it over");
}

/* L-TX-DATA: what threads stored themselves, each at its own time; bytes that land do not publish
 * it. */
static gboolean is_store(const WsPlay *play, const WsEvent *p)
{
    const WsInst *by = &play->inst[p->inst];
    return ws_is_generic(p->op) && (p->comp == by->comp_o || p->comp == by->comp_l);
}

/* L-ROWS-SO-FAR: a later arrival of the threads that gathered has completed, and the agent knows.
 */
static gboolean told_later(const WsInst *inst, gboolean leader, const WsEvent *p)
{
    const WsEvent *e = p->arrival ? p->arrival->later : NULL;
    for (; e; e = e->later)
        if (!e->pending && ws_knows(inst, leader, e->comp, e->epoch))
            return TRUE;
    return FALSE;
}

static void check(WsPlay *play, WsInst *inst, const WsEvent *e, const WsAccess *a, gboolean writes,
                  WsEvent *p, gboolean p_writes)
{
    if (p == e && writes && !p_writes && !ws_op_is_raw(e->op->kind))
        report_conflict(play, inst, e, a, writes, p, p_writes); /* L-SELF; raw: not known */
    if (p == e)
        return;
    gboolean leader = ws_by_leader(inst);
    gboolean knows = ws_knows(inst, leader, p->comp, p->epoch);
    if (knows && p_writes && is_store(play, p) &&
        !ws_published(play, inst, leader, p->comp, p->epoch))
        knows = FALSE;
    const gboolean so_far = p_writes && (p->pending || !knows) && told_later(inst, leader, p);
    knows = knows || so_far;
    if ((p->pending && !so_far) || (!knows && !private_rows(play, inst, e, a, p))) {
        report_conflict(play, inst, e, a, writes, p, p_writes);
        return;
    }
    guint comp = p->cover ? p->cover_comp : p->comp;
    WsEpoch epoch = p->cover ? p->cover : p->epoch;
    gboolean fenced = knows ? ws_fenced(play, inst, leader, comp, epoch)
                            : comp == inst->comp_o && epoch <= inst->fenced;
    if (ws_goes_async(e->op, a) && ws_is_generic(p->op) && !fenced)
        report_proxy(play, inst, e, a, writes, p, p_writes);
}

/* L-ATOMIC: atomics of the same bytes that do the same (add, max) need no order among themselves.
 * They stand among the reads, each kind for itself: a read asks for the atomics before it, an
 * atomic for the reads and for atomics that do something else, whose order the result would show.
 */
static gboolean is_atomic(const WsEvent *e)
{
    return ws_op_is_atomic(e->op->kind);
}

static gboolean same_atomic(const WsPlay *play, const WsEvent *a, const WsEvent *b)
{
    return is_atomic(a) && ws_combination(play->p, a->op) == ws_combination(play->p, b->op);
}

/* L-LAST-READ: a later read of an agent stands for an earlier one where the end of the later one
 * says that the earlier one has ended: the same operation at the same place (but for copies, whose
 * ends come in any order), or an earlier one that has ended as far as the reader knows. */
static gboolean stands_for(const WsPlay *play, const WsInst *inst, const WsEvent *e,
                           const WsEvent *was)
{
    if (was->inst != e->inst || ((is_atomic(e) || is_atomic(was)) && !same_atomic(play, e, was)))
        return FALSE;
    if (!was->pending && ws_knows(inst, ws_by_leader(inst), was->comp, was->epoch))
        return TRUE;
    if (was->op->engine != e->op->engine || was->op->breadth != e->op->breadth)
        return FALSE;
    if (e->op->engine == WS_ENGINE_MMA || e->op->engine == WS_ENGINE_TMA_STORE)
        return TRUE; /* groups end in order */
    return e->op->engine == WS_ENGINE_NONE &&
           (ws_by_leader(inst) ||
            (was->op == e->op && was->row0 == e->row0 && was->col0 == e->col0));
}

/* What is being touched, and what the class before it held: classes in a row often hold the same,
 * of which the same would be found. */
typedef struct {
    WsPlay *play;
    WsInst *inst;
    WsShadow *shadow;
    WsEvent *e;
    const WsAccess *a;
    gint64 use;
    gboolean begun;
    const WsEvent *write, *read[4]; /* last checked; NULL: none */
    guint n_read;
    const WsEvent *was; /* last asked whether e stands for it, and the answer */
    gboolean stands;
} Touch;

static gboolean stands_here(Touch *t, const WsEvent *was)
{
    if (t->was != was)
        t->stands = stands_for(t->play, t->inst, t->e, was);
    t->was = was;
    return t->stands;
}

static void add_read(Touch *t, WsBytes *c)
{
    for (guint i = 0; i < c->n_reads; i++)
        if (stands_here(t, c->read[i])) {
            c->read[i] = t->e;
            return;
        }
    if (c->n_reads == c->cap_reads) {
        c->cap_reads = MAX(4, 2 * c->cap_reads);
        c->read = g_renew(WsEvent *, c->read, c->cap_reads);
    }
    c->read[c->n_reads++] = t->e;
}

/* A read of bytes that nobody wrote, or that hold something else by now. */
static void check_content(WsPlay *play, WsInst *inst, const WsBytes *c, const WsEvent *e,
                          const WsAccess *a, gint64 use)
{
    g_autofree char *bytes = NULL;
    const WsEvent *w = c->write;
    if (!w) {
        if (ws_report_again(play, WS_RULE_P_UNDEF, inst, NULL))
            return;
        bytes = bytes_name(play, a, e);
        WsFinding *f = ws_report(play, WS_RULE_P_UNDEF, inst, NULL,
                                 "reads %s, where nothing has been written", bytes);
        if (f) {
            f->object = g_strdup(play->p->buffer[a->buffer].name);
            ws_finding_tell(f, WS_STORY_MISSING, "a load, gather or write that fills it before");
            ws_finding_tell(f, WS_STORY_SO, "undefined: whatever shared memory held is used");
            ws_remedy_unwritten(play, f, inst, a->buffer);
        }
        return;
    }
    if (w->buffer == a->buffer && (use == w->use || use == G_MININT64 || w->use == G_MININT64))
        return;
    if (ws_report_again(play, WS_RULE_P_STALE, inst, w))
        return;
    g_autofree char *other = ws_deed_event(play, w);
    bytes = bytes_name(play, a, e);
    WsFinding *f;
    if (w->buffer != a->buffer)
        f = ws_report(play, WS_RULE_P_STALE, inst, w,
                      "reads %s, whose bytes %s has overwritten as %s", bytes, other,
                      play->p->buffer[w->buffer].name);
    else
        f = ws_report(play, WS_RULE_P_STALE, inst, w,
                      "reads %s at use %" G_GINT64_FORMAT
                      ", but there lies what %s wrote at use %" G_GINT64_FORMAT,
                      bytes, use, other, w->use);
    if (!f)
        return;
    f->object = g_strdup(play->p->buffer[a->buffer].name);
    if (use != G_MININT64)
        f->fact[WS_FACT_USE] = use;
    ws_finding_tell(f, WS_STORY_FIRST, "%s has filled the bytes", other);
    ws_finding_tell(f, WS_STORY_SO, "corruption: it computes with the bytes of another use");
    f->harm = WS_HARM_CORRUPTION;
    if (w->buffer == a->buffer)
        ws_finding_set_remedy(f, "let reader and writer name the same use");
    else
        ws_finding_set_remedy(f, "read it before its bytes are given to %s",
                              play->p->buffer[w->buffer].name);
}

/* L-TILE: the slot holds what was claimed in the round in which it is taken. */
static void check_tile(WsPlay *play, WsInst *inst, const WsEvent *w)
{
    if (w && w->op->kind == WS_OP_CLAIM && w->n_rounds && inst->step.n_rounds &&
        w->round[0] == inst->step.round[0])
        return;
    g_autofree char *other = w ? ws_deed_event(play, w) : NULL;
    WsFinding *f = ws_report(play, WS_RULE_P_TILE, inst, w,
                             w ? "takes a tile from a slot that holds what %s left there, not what "
                                 "was claimed in this round"
                               : "takes a tile from a slot into which none was claimed%s",
                             w ? other : "");
    if (!f)
        return;
    ws_finding_tell(f, WS_STORY_SO, "corruption: the agents of the CTA work on different tiles");
    ws_remedy_tile(play, f, w);
}

/* L-CLOSE: the slot says what the loop over its pipe takes it for. */
static void check_told(WsPlay *play, WsInst *inst, const WsEvent *e, const WsEvent *w)
{
    if (w && ws_op_tells(w->op->kind) && w->op->n == e->op->n)
        return;
    g_autofree char *other = w ? ws_deed_event(play, w) : NULL;
    WsFinding *f =
        ws_report(play, WS_RULE_P_CLOSE, inst, w,
                  !w         ? "asks a slot that says nothing%s"
                  : e->op->n ? "ends its loop at a slot of which %s says that it is a round"
                             : "continues at a slot of which %s says that it is the end",
                  w ? other : "");
    if (!f)
        return;
    f->harm = WS_HARM_CORRUPTION;
    ws_finding_tell(f, WS_STORY_SO,
                    "corruption: the loop takes other slots than were meant for it");
}

static void check_write(Touch *t, const WsBytes *c, gboolean writes)
{
    if (t->begun && t->write == c->write)
        return;
    t->begun = TRUE;
    t->write = c->write;
    if (c->write)
        check(t->play, t->inst, t->e, t->a, writes, c->write, TRUE);
    if (t->e->op->kind == WS_OP_TAKE)
        check_tile(t->play, t->inst, c->write);
    if (ws_op_asks(t->e->op->kind))
        check_told(t->play, t->inst, t->e, c->write);
    if (t->a->mode & WS_MODE_READ && !ws_op_reads_nothing(t->e->op->kind))
        check_content(t->play, t->inst, c, t->e, t->a, t->use);
}

static void check_read(Touch *t, WsEvent *read)
{
    for (guint i = 0; i < G_N_ELEMENTS(t->read); i++)
        if (t->read[i] == read)
            return;
    t->read[t->n_read++ % G_N_ELEMENTS(t->read)] = read;
    check(t->play, t->inst, t->e, t->a, (t->a->mode & WS_MODE_WRITE) != 0, read, is_atomic(read));
}

static void touch(Touch *t, WsBytes *c)
{
    const gboolean writes = (t->a->mode & WS_MODE_WRITE) != 0;
    const gboolean atomic = is_atomic(t->e);
    check_write(t, c, writes);
    for (guint i = 0; i < c->n_reads; i++)
        if (atomic ? !same_atomic(t->play, t->e, c->read[i]) : writes || is_atomic(c->read[i]))
            check_read(t, c->read[i]);
    if (!writes || atomic) {
        add_read(t, c);
        return;
    }
    c->write = t->e;
    c->n_reads = 0;
}

/* --- accesses --------------------------------------------------------------------------------- */
static WsRangeCache *ranges(WsPlay *play, const WsOp *op, guint i, gint64 row0, gint64 col0)
{
    WsOpInfo *info = &play->info[op->index];
    if (!info->cache)
        info->cache = g_new0(WsRangeCache, op->n_access);
    WsRangeCache *cache = &info->cache[i];
    if (cache->valid && cache->row0 == row0 && cache->col0 == col0)
        return cache;
    const WsAccess *a = &op->access[i];
    const WsBuffer *b = &play->p->buffer[a->buffer];
    cache->row0 = row0, cache->col0 = col0, cache->valid = TRUE;
    guint r = (guint)row0, c = (guint)col0;
    cache->n = ws_buffer_ranges(b, r, a->rows, c, a->cols, NULL, 0);
    cache->range = g_renew(WsRange, cache->range, cache->n + 1);
    ws_buffer_ranges(b, r, a->rows, c, a->cols, cache->range, cache->n);
    return cache;
}

/* Resolves where an access lies; FALSE (and said so) if that is outside its buffer. */
static gboolean place(WsPlay *play, WsInst *inst, const WsAccess *a, WsEvent *e, gint64 *said)
{
    const WsBuffer *b = &play->p->buffer[a->buffer];
    gint64 use = 0;
    *said = G_MININT64;
    e->element = e->stage = e->row0 = 0;
    gint64 *col0 = &e->col0;
    *col0 = 0;
    if (a->use && b->stages > 1 && !ws_play_eval(play, inst, a->use, &use))
        return FALSE;
    if ((a->element && !ws_play_eval(play, inst, a->element, &e->element)) ||
        (a->stage && !ws_play_eval(play, inst, a->stage, &e->stage)) ||
        (a->row0 && !ws_play_eval(play, inst, a->row0, &e->row0)) ||
        (a->col0 && !ws_play_eval(play, inst, a->col0, col0)))
        return FALSE;
    if (a->use && b->stages > 1)
        *said = use;
    if (use < 0) {
        WsFinding *f = ws_report(play, WS_RULE_P_UNDEF, inst, NULL,
                                 "uses %s at use %" G_GINT64_FORMAT, b->name, use);
        ws_finding_set_remedy(f, "let this use be 0 or above in every round");
        return FALSE;
    }
    if (e->element < 0 || e->element >= MAX(b->array, 1) || e->stage < 0 ||
        e->stage >= MAX(b->stages, 1) || e->row0 < 0 || e->row0 > (gint64)b->rows - a->rows ||
        *col0 < 0 || *col0 > (gint64)b->cols - a->cols) {
        ws_report(play, WS_RULE_P_UNDEF, inst, NULL,
                  "reaches outside %s: element %" G_GINT64_FORMAT ", stage %" G_GINT64_FORMAT
                  ", rows from %" G_GINT64_FORMAT ", columns from %" G_GINT64_FORMAT,
                  b->name, e->element, e->stage, e->row0, *col0);
        return FALSE;
    }
    return TRUE;
}

/* L-SWIZZLE: buffers over bytes that not all swizzle alike. */
gboolean *ws_tangled(const WsProgram *p)
{
    gboolean *tangled = g_new0(gboolean, p->n_buffers + 1);
    for (guint i = 0; i < p->n_buffers; i++)
        for (guint k = 0; k < p->n_buffers; k++) {
            const WsBuffer *x = &p->buffer[i], *y = &p->buffer[k];
            const gboolean overlap =
                x->offset < y->offset + y->bytes && y->offset < x->offset + x->bytes;
            const gint64 apart = (gint64)x->offset - (gint64)y->offset;
            if (i != k && overlap &&
                (x->swizzle != y->swizzle || (x->swizzle && apart % (8 * (gint64)x->swizzle))))
                tangled[i] = tangled[k] = TRUE;
        }
    return tangled;
}

void ws_do_access(WsPlay *play, WsInst *inst, guint rank, WsEvent *e, guint modes)
{
    const WsOp *op = e->op;
    WsShadow *shadow = &play->shadow[rank];
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *a = &op->access[i];
        gint64 use;
        if (!(a->mode & modes) || !place(play, inst, a, e, &use))
            continue;
        if (a->mode & WS_MODE_WRITE)
            e->use = use, e->buffer = a->buffer;
        const WsBuffer *b = &play->p->buffer[a->buffer];
        const guint64 base =
            b->offset + (guint64)e->element * b->array_pitch + (guint64)e->stage * b->stage_pitch;
        const WsTouched key = { .access = a, .base = base, .row0 = e->row0, .col0 = e->col0 };
        const WsTouched *view = ws_shadow_known(shadow, &key);
        if (!view) {
            const WsRangeCache *r = ranges(play, op, i, e->row0, e->col0);
            const WsShadowPlace at = { b, base, r->range, r->n, play->tangled[a->buffer] };
            view = ws_shadow_view(shadow, &key, &at);
        }
        Touch t = { play, inst, shadow, e, a, use };
        for (guint k = 0; k < view->n; k++)
            touch(&t, &shadow->class[view->class[k]]);
    }
}
