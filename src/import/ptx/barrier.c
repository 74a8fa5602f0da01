#include "import/ptx/region/region.h"

#include <string.h>

/* mbarriers, named barriers, barriers of the cluster. */

#define PTX_MOST_ARRIVALS ((1 << 20) - 1) /* PTX ISA, mbarrier: size of counts, and of bytes */
#define PTX_MOST_NAMED    15              /* PTX ISA, bar: a CTA has 16 of them */

static void init(PtxWalk *w, const WsPtxInst *i)
{
    gint64 at, count, known;
    const WsExpr *guard = ptx_predicate(w, i);
    if (i->n < 2 || !ws_x_is(ptx_address(w, i->arg[0], NULL), &at) ||
        !ws_x_is(ptx_int(w, i->arg[1]), &count)) {
        ptx_lost(w, i, "the initialisation of an mbarrier whose address or count is not a number");
        return;
    }
    if (w->p.probing)
        return;
    if (count < 1 || count > PTX_MOST_ARRIVALS) {
        ptx_lost(w, i, "an mbarrier whose count is not between 1 and 2^20 - 1");
        return;
    }
    const PtxInit *old = g_hash_table_lookup(w->inits, GSIZE_TO_POINTER((gsize)at));
    if (old || w->depth || w->p.loops->len || !ws_x_is(guard, &known)) {
        ptx_lost(w, i,
                 old ? "an mbarrier that is initialised again"
                     : "an mbarrier that is not always initialised once");
        return;
    }
    PtxInit *one = g_new0(PtxInit, 1);
    g_ptr_array_add(w->p.r->pool, one);
    *one = (PtxInit){
        .count = count, .tid = w->tid, .syncs = w->syncs, .line = i->line, .late = w->inner_sync
    };
    g_hash_table_insert(w->inits, GSIZE_TO_POINTER((gsize)at), one);
}

/* Its use ends: whoever uses it has to be done before the last barrier of the CTA. */
static void invalidate(PtxWalk *w, const WsPtxInst *i)
{
    gint64 at;
    PtxInit *one = i->n && ws_x_is(ptx_address(w, i->arg[0], NULL), &at)
                       ? g_hash_table_lookup(w->inits, GSIZE_TO_POINTER((gsize)at))
                       : NULL;
    gint64 known;
    if (!one || w->depth || w->p.loops->len || !ws_x_is(ptx_predicate(w, i), &known))
        ptx_lost(w, i, "the end of an mbarrier");
    else if (!one->ended || one->ended > w->syncs + 1)
        one->ended = w->syncs + 1;
}

static WsReadStep *at_barrier(PtxWalk *w, WsReadKind kind, const WsPtxInst *i, const char *where)
{
    const WsExpr *cta = NULL, *e = ptx_under(w, ptx_address(w, where, &cta), ptx_predicate(w, i));
    if (!e) {
        ptx_lost(w, i, "an mbarrier whose address is no affine expression");
        return NULL;
    }
    WsReadStep *s = ptx_new_step(w, kind, i);
    s->barrier.index = e;
    s->n = 1;
    s->cta = cta;
    return s;
}

/* 0 or 1, whatever its names are; what a round that is tried begins with is asked by the loop. */
static gboolean is_parity(const WsExpr *e)
{
    gint64 n;
    WsAffine f;
    if (ws_x_is(e, &n))
        return n == 0 || n == 1;
    if ((e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR) || e->op == WS_EXPR_NOT)
        return TRUE;
    if (e->op == WS_EXPR_MOD)
        return ws_x_is(e->arg[1], &n) && n == 2;
    if (e->op == WS_EXPR_NAME)
        return g_str_has_prefix(e->name, "__v_");
    if (e->op == WS_EXPR_CALL)
        return e->func == WS_FUNC_SELECT && is_parity(e->arg[1]) && is_parity(e->arg[2]);
    if (!ws_expr_affine(e, &f))
        return FALSE;
    const gboolean turned = f.n == 1 && f.factor[0] == -1 && f.constant == 1 &&
                            !ws_expr_equal(f.term[0], e) && is_parity(f.term[0]);
    ws_affine_clear(&f);
    return turned;
}

/* Of the state that an arrival gave: its phase, and which one that is; NULL: that is not known.
 * Each round makes the one arrival, and the others are counted by ptx_phases_checked(). */
static const WsExpr *phase_of_arrival(PtxWalk *w, const WsPtxInst *i)
{
    WsRead *r = w->p.r;
    const Val *v = ptx_operand(w, i->arg[2]);
    WsReadStep *a = v->kind == VAL_TUPLE ? v->step : NULL;
    const WsExpr *at = ptx_address(w, i->arg[1], NULL);
    gint64 d, n;
    guint found;
    if (!a || !at || i->guard || a->when || a->cta || a->off || !ptx_in_round(w) ||
        !g_ptr_array_find(w->p.to, a, &found) || !ws_x_difference(at, a->barrier.index, &d) || d)
        return NULL;
    if (w->p.probing)
        return ws_x_int(r, 0);
    g_ptr_array_add(w->phases, a);
    if (!w->p.loops->len)
        return ws_x_is(at, &n) ? ws_x_int(r, 0) : NULL;
    const OpenLoop *loop = &g_array_index(w->p.loops, OpenLoop, w->p.loops->len - 1);
    const WsExpr *rounds = ws_x_total(r, loop->name);
    if (ws_x_is(at, &n))
        return ws_x_mod(r, rounds, 2);
    PtxSpot spot;
    if (!ptx_spot(r, at, &spot) || spot.per_cta || spot.open || spot.n < 2 || spot.stride != 8 ||
        !ws_x_difference(spot.index->arg[0], rounds, &d) || d)
        return NULL;
    return ws_x_mod(r, ws_x_op(r, WS_EXPR_DIV, rounds, ws_x_int(r, spot.n)), 2);
}

static void wait(PtxWalk *w, const WsPtxInst *i)
{
    WsRead *r = w->p.r;
    const WsPtxInst *all = ws_ptx_inst(w->ptx, 0);
    const gboolean by_parity = strstr(i->op, ".parity") != NULL;
    const WsExpr *parity = i->n > 2 && by_parity ? ptx_int(w, i->arg[2]) : NULL;
    if (parity && !is_parity(parity))
        parity = NULL; /* no phase has another one */
    parity = parity ? ptx_fit(w, ws_x_mod(r, parity, 2)) : NULL;
    if (parity && ws_expr_mentions(parity, PTX_SMEM))
        parity = NULL;
    if (i->n > 2 && !by_parity && i->spin)
        parity = phase_of_arrival(w, i);
    const GPtrArray *lost = g_hash_table_lookup(w->ptx->spun, GUINT_TO_POINTER((guint)(i - all)));
    for (guint k = 0; lost && k < lost->len; k++)
        ptx_forget(w, g_ptr_array_index(lost, k));
    if (!i->spin) { /* nothing waits: what it finds is a value */
        const WsExpr *at = i->n > 1 ? ptx_address(w, i->arg[1], NULL) : NULL;
        if (i->n)
            ptx_set(w, i->arg[0], py_int(&w->p, ptx_token(w, at, parity)));
        return;
    }
    if (i->n)
        ptx_forget(w, i->arg[0]);
    w->waits = w->held = TRUE;
    if (!parity) {
        ptx_lost(w, i,
                 by_parity ? "a wait whose parity is no affine expression"
                           : "a wait for the phase of an arrival that is not followed");
        return;
    }
    WsReadStep *s = at_barrier(w, WS_READ_WAIT, i, i->arg[1]);
    if (s)
        s->parity = parity;
}

/* The state that an arrival gives: the phase it is in. */
static void give_state(PtxWalk *w, const WsPtxInst *i, WsReadStep *s)
{
    if (!i->n || *i->arg[0] == '[' || !strcmp(i->arg[0], "_"))
        return;
    Val *v = py_val(&w->p, s ? VAL_TUPLE : VAL_OPAQUE);
    v->step = s;
    ptx_set(w, i->arg[0], v);
}

static void expect(PtxWalk *w, const WsPtxInst *i)
{
    const guint at = strstr(i->op, "mbarrier.arrive") ? 1 : 0;
    gint64 bytes;
    give_state(w, i, NULL);
    if (i->n < at + 2 || !ws_x_is(ptx_int(w, i->arg[at + 1]), &bytes)) {
        ptx_lost(w, i, "an expect whose number of bytes is not a number");
        return;
    }
    if (bytes < 0 || bytes > PTX_MOST_ARRIVALS) {
        ptx_lost(w, i, "an expect whose number of bytes is not between 0 and 2^20 - 1");
        return;
    }
    if (!at) {
        ptx_lost(w, i, "an expect that does not arrive");
        return;
    }
    WsReadStep *s = at_barrier(w, WS_READ_EXPECT, i, i->arg[at]);
    if (s)
        s->n = bytes;
    give_state(w, i, s);
}

static void arrive(PtxWalk *w, const WsPtxInst *i)
{
    WsReadStep *s = at_barrier(w, WS_READ_ARRIVE, i, i->arg[1]);
    give_state(w, i, s);
    const gboolean there = s && s->cta && w->ptx->cluster < 2; /* how many CTAs is not said */
    if (there || (s && strstr(i->op, "shared::cluster") && !s->cta)) {
        s->off = TRUE;
        ptx_lost(w, i, "an arrival in a CTA that is not known");
        return;
    }
    if (s && s->cta && !strstr(i->op, "shared::cluster")) {
        s->off = TRUE;
        ptx_lost(w, i, "an arrival in this CTA's window at an address in another's");
        return;
    }
    if (s && s->cta && strstr(i->op, ".cta")) { /* it orders nothing for the other CTA */
        s->off = TRUE;
        ptx_lost(w, i, "an arrival in another CTA that releases to its own one only");
        return;
    }
    const WsPtxInst *all = ws_ptx_inst(w->ptx, 0);
    if (s && w->apart)
        g_hash_table_add(w->alone, s);
    if (s && s->cta && g_hash_table_contains(w->spread, GUINT_TO_POINTER((guint)(i - all)))) {
        s->cta = NULL;
        s->ctas = G_MAXUINT;
        s->text = PTX_SPREAD;
    }
    if (s && i->n > 2 &&
        (!ws_x_is(ptx_int(w, i->arg[2]), &s->n) || s->n < 1 || s->n > PTX_MOST_ARRIVALS)) {
        s->off = TRUE;
        ptx_lost(w, i, "an arrival whose count is not a number between 1 and 2^20 - 1");
    }
}

void ptx_mbarrier(PtxWalk *w, const WsPtxInst *i)
{
    if (strstr(i->op, "mbarrier.init"))
        init(w, i);
    else if (strstr(i->op, "mbarrier.inval"))
        invalidate(w, i);
    else if (strstr(i->op, "_wait"))
        wait(w, i);
    else if (strstr(i->op, "expect_tx"))
        expect(w, i);
    else if (g_str_has_prefix(i->op, "mbarrier.arrive") && i->n > 1 && !strstr(i->op, "drop"))
        arrive(w, i);
    else
        ptx_lost(w, i, "an operation on an mbarrier");
}

void ptx_warp(PtxWalk *w, const WsPtxInst *i)
{
    gint64 known;
    const gboolean all = ws_x_is(ptx_predicate(w, i), &known) && known;
    w->warp_synced |= all;
    if (all) {
        WsReadStep *s = ptx_new_step(w, WS_READ_COMPUTE, i);
        s->name = PTX_WARP_MET;
        s->off = TRUE;
    }
    w->apart &= !all;
}

/* Threads arrive at it elsewhere, and go on: whoever comes to it does not meet all others. */
static gboolean handed_on(const PtxWalk *w, gint64 id)
{
    for (guint k = 0; k < w->ptx->inst->len; k++) {
        const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
        gint64 at;
        if ((g_str_has_prefix(i->op, "bar.") || g_str_has_prefix(i->op, "barrier.")) && i->n > 1 &&
            strstr(i->op, ".arrive") && ptx_number(i->arg[0], &at) && at == id)
            return TRUE;
    }
    return FALSE;
}

/* bar.sync id, n: of the CTA, or named. */
void ptx_named(PtxWalk *w, const WsPtxInst *i)
{
    gint64 id = 0, n = w->ptx->threads, known;
    if (!i->n || !ws_x_is(ptx_int(w, i->arg[0]), &id) ||
        (i->n > 1 && !ws_x_is(ptx_int(w, i->arg[1]), &n)) || strstr(i->op, "red")) {
        ptx_lost(w, i, "a barrier whose number is not known");
        return;
    }
    if (id < 0 || id > PTX_MOST_NAMED || n < 1) {
        ptx_lost(w, i, "a barrier whose number is not between 0 and 15, or of no threads");
        return;
    }
    const gboolean sync = !strstr(i->op, "arrive");
    w->warp_synced = FALSE;
    w->apart &= !ws_x_is(ptx_predicate(w, i), &known); /* lanes of a warp come together */
    if (sync && n == w->ptx->threads && !handed_on(w, id)) {
        WsReadStep *s = ptx_new_step(w, WS_READ_SYNC, i);
        s->name = "cta";
        s->n = id;
        s->all =
            !w->p.loops->len && !w->depth && !s->when; /* may be what opens and closes the roles */
        w->passed += !s->when;
        if (s->all && !w->p.probing) {
            g_array_append_val(w->sync_ids, id);
            w->syncs++;
            w->held = FALSE;
        } else {
            w->inner_sync |= !w->p.probing;
            w->inner_syncs++;
            w->held = (w->depth > 1 || s->when) && w->held;
        }
        return;
    }
    w->held |= sync;
    WsReadStep *s = ptx_new_step(w, sync ? WS_READ_SYNC : WS_READ_BAR_ARRIVE, i);
    s->name = ws_source_format(w->p.r, "bar_%d", (int)id);
    s->n = n;
}

/* A pair of arrive and wait before anything else was done is the one a design derives. */
void ptx_cluster(PtxWalk *w, const WsPtxInst *i)
{
    const gint64 id = -1;
    const gboolean wait = strstr(i->op, ".wait") != NULL, one = w->ptx->cluster < 2;
    gint64 known;
    const gboolean opens = !w->p.loops->len && !w->depth && ws_x_is(ptx_predicate(w, i), &known);
    if (one && !wait)
        return; /* of one CTA: its wait is a barrier of all threads */
    WsReadStep *s = ptx_new_step(w, one ? WS_READ_SYNC : WS_READ_CLUSTER, i);
    s->name = one ? "cta" : wait ? "wait" : "arrive";
    s->n = id;
    s->flag = strstr(i->op, "relaxed") != NULL;
    s->all = opens;
    w->held |= wait && !opens;
    if (wait && opens && !w->p.probing) {
        g_array_append_val(w->sync_ids, id);
        w->syncs++;
        w->passed++;
        w->held = FALSE;
    }
    if (!wait && !w->p.loops->len && !w->p.probing)
        w->arrivals += opens; /* in a branch: a group that works does it, and the check counts */
    else
        w->inner_sync |= !opens && !w->p.probing;
}
