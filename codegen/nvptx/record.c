/* The recorder: clocks of one round in registers, written by the leader four at a time as 16-byte
 * vectors, under a predicate that holds for the whole agent. The plan (which operations, which
 * words) is trace/recorder.h's alone. Without a recorder every function here does nothing: a timed
 * build holds no trace of it. */
#include "codegen/nvptx/emit.h"
#include "program/parts/agent.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/program.h"

#include <string.h>

#define WS_RECORD_SMID        0
#define WS_RECORD_CTA         4
#define WS_RECORD_TIMER_START 8
#define WS_RECORD_TIMER_END   16
#define WS_RECORD_CLOCK_START 24
#define WS_RECORD_CLOCK_END   32

static LLVMValueRef i64(WsEmit *e, guint64 v)
{
    return LLVMConstInt(e->i64, v, 0);
}

static LLVMValueRef header(WsEmit *e, guint at)
{
    return LLVMBuildAdd(e->b, e->rec_cta, i64(e, at), "");
}

static LLVMValueRef recorded(WsEmit *e)
{
    return LLVMBuildICmp(e->b, LLVMIntNE, e->rec_cta, i64(e, 0), "");
}

/* CTAs 0, 1, 2 and so on. */
static gboolean from_the_first(const WsRecorder *r)
{
    for (guint i = 0; i < r->n_ctas; i++)
        if (r->cta[i] != i)
            return FALSE;
    return TRUE;
}

/* Address of this CTA's part of the buffer, 0 if it is not recorded. */
static LLVMValueRef cta_part(WsEmit *e)
{
    const WsRecorder *r = e->recorder;
    LLVMValueRef cta = ws_prim0(e, WS_PRIM_CTAID), at = i64(e, 0);
    if (r->n_ctas > 1 && from_the_first(r)) {
        LLVMValueRef by =
            LLVMBuildMul(e->b, LLVMBuildZExt(e->b, cta, e->i64, ""), i64(e, r->cta_bytes), "");
        LLVMValueRef inside = LLVMBuildICmp(e->b, LLVMIntULT, cta, ws_i32(e, r->n_ctas), "");
        return LLVMBuildSelect(e->b, inside, LLVMBuildAdd(e->b, e->record, by, ""), at, "");
    }
    for (guint i = 0; i < r->n_ctas; i++) {
        LLVMValueRef id = r->cta[i] == WS_RECORD_LAST_CTA ? ws_add(e, ws_prim0(e, WS_PRIM_NCTAID),
                                                                   -(gint64)MAX(e->p->cluster, 1))
                                                          : ws_i32(e, r->cta[i]);
        LLVMValueRef here = LLVMBuildICmp(e->b, LLVMIntEQ, cta, id, "");
        LLVMValueRef part = LLVMBuildAdd(e->b, e->record, i64(e, i * r->cta_bytes), "");
        at = LLVMBuildSelect(e->b, here, part, at, "");
    }
    return at;
}

void ws_record_entry(WsEmit *e)
{
    const WsRecorder *r = e->recorder;
    if (!r)
        return;
    e->rec_cta = cta_part(e);
    e->rec_word = g_new0(LLVMValueRef *, MAX(r->n_strips, 1));
    e->rec_taken = g_new0(gboolean *, MAX(r->n_strips, 1));
    for (guint s = 0; s < r->n_strips; s++) {
        e->rec_word[s] = g_new0(LLVMValueRef, MAX(r->strip[s].words, 1));
        e->rec_taken[s] = g_new0(gboolean, MAX(r->strip[s].words, 1));
        for (guint w = 0; w < r->strip[s].words; w++) {
            g_autofree char *name = g_strdup_printf("clock.%u.%u", s, w);
            e->rec_word[s][w] = ws_cell(e, e->i32, name);
        }
    }
    LLVMValueRef first = LLVMBuildICmp(e->b, LLVMIntEQ, e->tid, ws_i32(e, 0), "");
    LLVMBasicBlockRef after = ws_if(e, LLVMBuildAnd(e->b, first, recorded(e), ""), "record.start");
    ws_prim(e, WS_PRIM_ST_GLOBAL_B32, header(e, WS_RECORD_SMID), ws_prim0(e, WS_PRIM_SMID));
    ws_prim(e, WS_PRIM_ST_GLOBAL_B32, header(e, WS_RECORD_CTA), ws_prim0(e, WS_PRIM_CTAID));
    ws_prim(e, WS_PRIM_ST_GLOBAL_B64, header(e, WS_RECORD_TIMER_START),
            ws_prim0(e, WS_PRIM_GLOBALTIMER));
    ws_prim(e, WS_PRIM_ST_GLOBAL_B64, header(e, WS_RECORD_CLOCK_START),
            ws_prim0(e, WS_PRIM_CLOCK64));
    ws_end_if(e, after);
}

static const WsRecordStrip *strip_from(WsEmit *e, const WsTree *seq, guint kid)
{
    for (guint s = 0; e->recorder && s < e->recorder->n_strips; s++) {
        const WsRecordStrip *strip = &e->recorder->strip[s];
        if (strip->body == seq && &e->p->agent[strip->agent] == e->agent && strip->kid0 == kid)
            return strip;
    }
    return NULL;
}

/* Words that no operation of a round reads keep the poison. */
static void poison(WsEmit *e, const WsRecordStrip *strip, guint from, guint to)
{
    for (guint w = from; w < to; w++)
        LLVMBuildStore(e->b, ws_i32(e, 0xffffffff), e->rec_word[strip - e->recorder->strip][w]);
}

void ws_record_begin_kid(WsEmit *e, const WsTree *seq, guint kid)
{
    const WsRecordStrip *strip = strip_from(e, seq, kid);
    if (!strip)
        return;
    poison(e, strip, 0, strip->late);
    memset(e->rec_taken[strip - e->recorder->strip], 0, strip->words * sizeof(gboolean));
}

/* Last kid of the strip's body under which a word of group `g` (four words) is written. */
static guint last_kid(WsEmit *e, const WsRecordStrip *strip, guint g)
{
    guint last = strip->kid0;
    for (guint i = 0; i < strip->n_points; i++) {
        const WsRecordPoint *p = &strip->point[i];
        if ((p->before < 0 || (guint)p->before / 4 != g) &&
            (p->after < 0 || (guint)p->after / 4 != g))
            continue;
        const WsTree *t = e->p->op[p->at]->tree;
        while (t->parent && t->parent != strip->body)
            t = t->parent;
        for (guint k = strip->kid0; k < strip->kid1; k++) {
            if (strip->body->kid[k] == t)
                last = MAX(last, k);
        }
    }
    return last;
}

/* Whether rounds of this loop are recorded one in so many: the others have no clocks. */
const WsRecordStrip *ws_record_sampled(const WsEmit *e, const WsTree *loop)
{
    for (guint s = 0; e->recorder && s < e->recorder->n_strips; s++) {
        const WsRecordStrip *strip = &e->recorder->strip[s];
        if (strip->every > 1 && strip->loop == loop && &e->p->agent[strip->agent] == e->agent)
            return strip;
    }
    return NULL;
}

/* Where launches take turns it is a parameter, which lies in constant memory and takes no register.
 */
LLVMValueRef ws_record_phase_value(WsEmit *e, const WsRecordStrip *strip)
{
    return e->rec_phase ? e->rec_phase : ws_i32(e, strip->phase);
}

/* No strip has 2^BEYOND lines (WS_RECORD_MAX_ROUNDS). */
enum { BEYOND = 21 };
G_STATIC_ASSERT(WS_RECORD_MAX_ROUNDS + 2 < 1 << BEYOND);
G_STATIC_ASSERT(((guint64)WS_RECORD_MAX_EVERY << BEYOND) + (1u << 31) <= (guint64)1 << 32);

/* The line of this round; everything that is not recorded goes to the last. A minimum: for a choice
 * by predicates ptxas keeps the counters of loops in vector registers, and their rounds are 5 %
 * longer (block scales). */
static LLVMValueRef line_at(WsEmit *e, const WsRecordStrip *strip)
{
    LLVMValueRef base = header(e, (guint)strip->offset);
    if (!strip->loop || strip->loop->total_var < 0)
        return base;
    LLVMValueRef total = ws_load(e, e->i32, e->var[strip->loop->total_var].v, "");
    LLVMValueRef line = ws_add(e, total, -strip->first_round);
    LLVMValueRef last = ws_i32(e, (gint64)ws_recorder_lines(strip) - 1);
    if (strip->every > 1) { /* a great line for rounds between, and before the first one */
        LLVMValueRef rest = LLVMBuildSub(e->b, total, ws_record_phase_value(e, strip), "");
        rest = LLVMBuildAnd(e->b, rest, ws_i32(e, strip->every - 1), "");
        line = LLVMBuildLShr(e->b, line, ws_i32(e, g_bit_nth_lsf((gulong)strip->every, -1)), "");
        line = LLVMBuildAdd(e->b, line, LLVMBuildShl(e->b, rest, ws_i32(e, BEYOND), ""), "");
    }
    LLVMValueRef out = LLVMBuildICmp(e->b, LLVMIntUGT, line, last, "");
    line = LLVMBuildSelect(e->b, out, last, line, "");
    LLVMValueRef by =
        LLVMBuildMul(e->b, LLVMBuildZExt(e->b, line, e->i64, ""), i64(e, strip->round_bytes), "");
    return LLVMBuildAdd(e->b, base, by, "");
}

static gboolean of_a_point(const WsRecordStrip *strip, guint word)
{
    for (guint i = 0; i < strip->n_points; i++)
        if (strip->point[i].before == (gint)word || strip->point[i].after == (gint)word)
            return TRUE;
    return FALSE;
}

/* Words of a group up to the last one with a clock. What a round does not reach, as what is done
 * under a mask alone, has none: the buffer holds the poison already. */
static guint group_size(WsEmit *e, const WsRecordStrip *strip, guint g)
{
    const gboolean *taken = e->rec_taken[strip - e->recorder->strip];
    for (guint n = 4; n > 0; n--) {
        const guint word = 4 * g + n - 1;
        if (strip->flush != G_MAXUINT ? of_a_point(strip, word) : taken[word])
            return n;
    }
    return 0;
}

static void write_group(WsEmit *e, const WsRecordStrip *strip, guint g)
{
    LLVMValueRef at = LLVMBuildAdd(e->b, line_at(e, strip), i64(e, 16 * g), ""), x[4];
    for (guint i = 0; i < 4; i++)
        x[i] = ws_load(e, e->i32, e->rec_word[strip - e->recorder->strip][4 * g + i], "");
    LLVMValueRef on = e->in_leader ? recorded(e) : e->rec_on;
    const guint n = group_size(e, strip, g);
    if (n > 2)
        ws_prim(e, WS_PRIM_ST_GLOBAL_V4_IF, at, x[0], x[1], x[2], x[3], on);
    else if (n == 2)
        ws_prim(e, WS_PRIM_ST_GLOBAL_V2_IF, at, x[0], x[1], on);
    else if (n == 1)
        ws_prim(e, WS_PRIM_ST_GLOBAL_B32_IF, at, x[0], on);
}

void ws_record_tile(WsEmit *e, const WsTree *loop, LLVMValueRef id, LLVMValueRef position)
{
    const WsRecorder *r = e->recorder;
    if (!r || r->claimed != loop || e->agent != &e->p->agent[r->claimed_agent])
        return;
    LLVMValueRef last = ws_i32(e, r->claimed_lines - 1);
    LLVMValueRef out = LLVMBuildICmp(e->b, LLVMIntUGT, position, last, "");
    LLVMValueRef line =
        LLVMBuildZExt(e->b, LLVMBuildSelect(e->b, out, last, position, ""), e->i64, "");
    LLVMValueRef at = LLVMBuildAdd(e->b, header(e, (guint)r->claimed_offset),
                                   LLVMBuildMul(e->b, line, i64(e, 8), ""), "");
    ws_prim(e, WS_PRIM_ST_GLOBAL_B64_IF, at, LLVMBuildZExt(e->b, id, e->i64, ""),
            e->in_leader ? recorded(e) : e->rec_on);
}

/* --- strips that are written in the shadow of an mma ------------------------------------------ */

static gboolean flushed_by(WsEmit *e, const WsRecordStrip *strip)
{
    return strip->flush != G_MAXUINT && &e->p->agent[strip->agent] == e->agent;
}

void ws_record_agent(WsEmit *e)
{
    if (!e->recorder)
        return;
    e->rec_on = LLVMBuildAnd(e->b, e->leader, recorded(e), "record.on");
    for (guint s = 0; s < e->recorder->n_strips; s++) {
        if (flushed_by(e, &e->recorder->strip[s]))
            poison(e, &e->recorder->strip[s], 0, e->recorder->strip[s].words);
    }
}

/* A clock lets nothing pass. Behind the round's last one, how the loop goes on would be worked out
 * when the tensor pipe waits for the agent (ping-pong: 10 cycles of 107 from product to product).
 */
static void decide_latch(WsEmit *e, const WsOp *op)
{
    const WsRecordStrip *strip;
    const WsRecordPoint *point = ws_recorder_point(e->recorder, op, &strip);
    WsLatch *latch = e->rec_latch;
    if (!point || point->maybe || !latch || latch->next || strip->loop != latch->loop)
        return;
    latch->next = ws_add(e, latch->round, latch->by);
    latch->more = ws_prim(e, WS_PRIM_LESS_HERE, latch->next, latch->last);
}

void ws_record_shadow(WsEmit *e, const WsOp *op)
{
    if (e->recorder && !e->host && !e->in_leader)
        decide_latch(e, op);
    for (guint s = 0; e->recorder && s < e->recorder->n_strips; s++) {
        const WsRecordStrip *strip = &e->recorder->strip[s];
        if (strip->flush != op->index)
            continue;
        for (guint g = 0; 4 * g < strip->words; g++)
            write_group(e, strip, g);
        if (!e->in_leader)
            ws_prim0(e, WS_PRIM_WARP_SYNC); /* the store stays in the shadow */
        poison(e, strip, strip->late, strip->words);
    }
}

/* Arithmetic in an inner loop: where clocks stand in it, ptxas finds another schedule. */
static gboolean computes(const WsTree *t, gboolean inner)
{
    if (t->kind == WS_TREE_OP)
        return inner && t->op->kind == WS_OP_MATH;
    inner = inner || (t->kind == WS_TREE_LOOP && t->over != WS_OVER_TILES);
    for (guint i = 0; i < t->n_kids; i++) {
        if (t->kid[i] && computes(t->kid[i], inner))
            return TRUE;
    }
    return FALSE;
}

static gboolean any_computes(WsEmit *e)
{
    for (guint a = 0; a < e->p->n_agents; a++) {
        if (e->p->agent[a].body && computes(e->p->agent[a].body, FALSE))
            return TRUE;
    }
    return FALSE;
}

/* Of a design that computes in its loops, CTAs that are not recorded run the code of the timed
 * build, and that stands first: they pay nothing. Behind the recorded part, twice as far from the
 * entry, a cold launch waited for its instructions (attention-d64, 83 us: 4 %, none recorded). The
 * others (GEMMs) have one code, since what clocks they hold costs less than the registers of a
 * second. So have launches that claim their tiles
 * where inner loops hold no clock (attention: 0.8 to 0.9 % for all CTAs, 2.0 to 6.5 % with two; of
 * those that deal tiles out attention-d128-full 3.1 %, with two 0.1 %). */
void ws_record_roles(WsEmit *e)
{
    const WsRecorder *r = e->recorder;
    const gboolean claims = e->p->tiles->launch == WS_LAUNCH_DYNAMIC;
    if (!r || (!r->rounds && claims) || !any_computes(e)) {
        ws_agent_roles(e);
        return;
    }
    LLVMBasicBlockRef without = ws_block(e, "unrecorded"), with = ws_block(e, "recorded");
    LLVMBasicBlockRef done = ws_block(e, "done");
    LLVMBuildCondBr(e->b, recorded(e), with, without);
    LLVMPositionBuilderAtEnd(e->b, without);
    e->recorder = NULL;
    ws_agent_roles(e);
    e->recorder = r;
    LLVMBuildBr(e->b, done);
    LLVMMoveBasicBlockAfter(with, LLVMGetInsertBlock(e->b));
    LLVMPositionBuilderAtEnd(e->b, with);
    ws_agent_roles(e);
    LLVMBuildBr(e->b, done);
    LLVMMoveBasicBlockAfter(done, LLVMGetInsertBlock(e->b));
    LLVMPositionBuilderAtEnd(e->b, done);
}

/* A producer whose threads all had something to do behind the leader's part would get vector
 * registers for its uniform values, and be late with its loads by tens of cycles: it writes no end
 * where others do, who are later anyway. */
static gboolean writes_end(WsEmit *e)
{
    gboolean others = FALSE;
    for (guint a = 0; a < e->p->n_agents; a++)
        others = others || e->p->agent[a].role != WS_ROLE_PRODUCER;
    return !others || e->agent->role != WS_ROLE_PRODUCER;
}

/* End of an agent: every leader writes the end; the last to come stays. */
void ws_record_end(WsEmit *e)
{
    if (!e->recorder)
        return;
    for (guint s = 0; s < e->recorder->n_strips; s++) { /* late words of the last round */
        const WsRecordStrip *strip = &e->recorder->strip[s];
        if (!flushed_by(e, strip))
            continue;
        poison(e, strip, 0, strip->late); /* of a round that never was */
        for (guint g = strip->late / 4; 4 * g < strip->words; g++)
            write_group(e, strip, g);
    }
    if (!writes_end(e))
        return;
    ws_prim(e, WS_PRIM_ST_GLOBAL_B64_IF, header(e, WS_RECORD_TIMER_END),
            ws_prim0(e, WS_PRIM_GLOBALTIMER), e->rec_on);
    ws_prim(e, WS_PRIM_ST_GLOBAL_B64_IF, header(e, WS_RECORD_CLOCK_END),
            ws_prim0(e, WS_PRIM_CLOCK64), e->rec_on);
}

/* --- the others ------------------------------------------------------------------------------- */

/* Four words go out as soon as the last of them is known, so that few clocks stay in registers
 * while the accumulators are in flight; under a predicate, which splits no block. */
void ws_record_end_kid(WsEmit *e, const WsTree *seq, guint kid)
{
    for (guint s = 0; e->recorder && !e->error && s < e->recorder->n_strips; s++) {
        const WsRecordStrip *strip = &e->recorder->strip[s];
        if (strip->flush != G_MAXUINT || strip->body != seq ||
            &e->p->agent[strip->agent] != e->agent || kid < strip->kid0 || kid >= strip->kid1)
            continue;
        for (guint g = 0; 4 * g < strip->words; g++) {
            if (last_kid(e, strip, g) == kid)
                write_group(e, strip, g);
        }
    }
}

static void take_clock(WsEmit *e, const WsRecordStrip *strip, gint word)
{
    if (word < 0 || (guint)word >= strip->words)
        return;
    LLVMValueRef cell = e->rec_word[strip - e->recorder->strip][word];
    LLVMBuildStore(e->b, ws_prim0(e, WS_PRIM_CLOCK), cell);
    e->rec_taken[strip - e->recorder->strip][word] = TRUE;
}

void ws_record_before(WsEmit *e, const WsOp *op)
{
    const WsRecordStrip *strip;
    const WsRecordPoint *point = e->recorder ? ws_recorder_point(e->recorder, op, &strip) : NULL;
    if (point)
        take_clock(e, strip, point->before);
}

void ws_record_after(WsEmit *e, const WsOp *op)
{
    const WsRecordStrip *strip;
    const WsRecordPoint *point =
        e->recorder && !e->error ? ws_recorder_after(e->recorder, op, &strip) : NULL;
    if (point)
        take_clock(e, strip, point->after);
}
