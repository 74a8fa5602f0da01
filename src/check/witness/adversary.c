/* A witness becomes gates: every move waits for the one before it. What the witness holds back is
 * held back after its end, too, so that the agent that went wrong has time to do harm. */
#include "check/witness/adversary.h"
#include "base/phrase.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include <string.h>

#define MOST_GATES 600
#define LAND_NS    40000   /* bytes that land by themselves */
#define OTHER_NS   3000    /* an operation of another agent takes effect */
#define HARM_NS    1000000 /* after the last move */

/* --- sizes ------------------------------------------------------------------------------------ */

static gint64 few_tiles(gpointer data, gint64 position)
{
    return position < *(const gint64 *)data ? position : -1;
}

/* Operations of one CTA in so many tiles: tells whether sizes drive the same loops. */
static guint64 steps_of(const WsProgram *p, const WsLaunchValues *v, gint64 tiles)
{
    guint64 n = 0;
    for (guint a = 0; a < p->n_agents; a++) {
        WsWalker *w = ws_walker_new(p, v, a, 0, few_tiles, &tiles);
        WsStep s;
        g_autoptr(GError) error = NULL;
        for (guint i = 0; i < 20000 && ws_walker_next(w, &s, &error); i++)
            n++;
        ws_walker_free(w);
    }
    return n;
}

typedef struct {
    const WsProgram *p;
    GArray *size;
    gint64 tiles; /* wanted */
} Fit;

static WsLaunchValues *values_of(const Fit *F)
{
    g_autoptr(WsFindings) why = ws_findings_new();
    return ws_launch_values(F->p, (const WsSize *)(gpointer)F->size->data, F->size->len, TRUE, why);
}

/* How far the launch is from the wanted number of tiles; -1: no launch, or other loops. */
static gint64 distance(const Fit *F, guint64 steps)
{
    g_autoptr(WsLaunchValues) v = values_of(F);
    gint64 n = v ? ws_launch_tiles(v) : 0;
    if (n < 1 || steps_of(F->p, v, 1) != steps)
        return -1;
    return ABS(n - F->tiles);
}

/* Changes sizes that drive no loop until the launch has as many tiles as the witness. */
static void fit_tiles(Fit *F)
{
    static const gint64 choice[] = {
        1024, 768, 640, 512, 384, 320, 256, 192, 128, 64, 32, 16, 8, 1
    };
    g_autoptr(WsLaunchValues) v = values_of(F);
    guint64 steps = v ? steps_of(F->p, v, 1) : 0;
    gint64 best = v ? distance(F, steps) : 0;
    for (guint i = 0; i < F->size->len && best > 0; i++) {
        WsSize *s = &g_array_index(F->size, WsSize, i);
        gint64 keep = s->value;
        for (guint k = 0; k < G_N_ELEMENTS(choice) && best > 0; k++) {
            s->value = choice[k];
            gint64 d = distance(F, steps);
            if (d >= 0 && d < best)
                best = d, keep = s->value;
        }
        s->value = keep;
    }
}

/* Sizes that TMA takes, where the loops stay the same: 257 columns of bf16 are no multiple of 16
 * bytes, 320 make as many rounds. */
static void round_sizes(Fit *F)
{
    g_autoptr(WsLaunchValues) v = values_of(F);
    guint64 steps = v ? steps_of(F->p, v, 1) : 0;
    gint64 best = v ? distance(F, steps) : -1;
    for (guint i = 0; i < F->size->len && best >= 0; i++) {
        WsSize *s = &g_array_index(F->size, WsSize, i);
        gint64 keep = s->value, by[] = { 64, 16, 8 };
        for (guint k = 0; k < G_N_ELEMENTS(by) && s->value == keep && keep % 8; k++) {
            s->value = (keep + by[k] - 1) / by[k] * by[k];
            if (distance(F, steps) != best)
                s->value = keep;
        }
    }
}

static gboolean choose_sizes(const WsWitness *w, WsHold *h, GError **error)
{
    WsProgram *p = w->program;
    for (guint v = 0; v < p->n_vars; v++) {
        WsSize s = { p->var[v].name, w->size[v] };
        if (p->var[v].kind == WS_VAR_SIZE)
            g_array_append_val(h->size, s);
    }
    Fit F = { p, h->size, MAX((gint64)w->tiles, 1) };
    fit_tiles(&F);
    round_sizes(&F);
    g_autoptr(WsLaunchValues) v = values_of(&F);
    if (!v || (p->tiles->launch == WS_LAUNCH_SINGLE && ws_launch_tiles(v) != 1)) {
        g_set_error(error, WS_WITNESS_ERROR, 0,
                    "no sizes were found that launch what the witness does");
        return FALSE;
    }
    h->grid = (gint64)w->ranks;
    return TRUE;
}

/* --- the order of the moves ------------------------------------------------------------------- */

/* Is b issued with a, as one step? What closes its queue is, and the fence of a product. */
static gboolean same_work(const WsOp *a, const WsOp *b)
{
    const gint queue = ws_op_queue(a->kind);
    if (a->agent != b->agent || g_strcmp0(a->step, b->step) != 0 || !ws_op_flies(a->kind))
        return FALSE;
    return a->kind == b->kind ||
           (queue >= 0 && ws_op_closes(b->kind) && ws_op_queue(b->kind) == queue) ||
           (queue == WS_QUEUE_MMA && b->kind == WS_OP_MMA_FENCE);
}

/* The first of the two moves that collide; -1. The second is the last move. */
static gint first_of_two(const WsWitness *w)
{
    for (guint i = 0; w->end == WS_END_COLLISION && i + 1 < w->n_moves; i++)
        if (w->move[i].collide)
            return (gint)i;
    return -1;
}

/* Moves by number: as they are, or with the first of the two and what is issued with it behind the
 * last. */
static GArray *order_of(const WsWitness *w, guint variant, WsHold *h)
{
    GArray *order = g_array_new(FALSE, FALSE, sizeof(guint)),
           *later = g_array_new(FALSE, FALSE, sizeof(guint));
    gint first = variant == 0 ? first_of_two(w) : -1;
    const WsMove *x = first >= 0 ? &w->move[first] : NULL;
    for (guint i = 0; i < w->n_moves; i++) {
        const WsMove *m = &w->move[i];
        gboolean put = x && m->agent == x->agent && m->n_rounds == x->n_rounds &&
                       memcmp(m->round, x->round, sizeof m->round) == 0 &&
                       ((gint)i == first || same_work(x->op, m->op));
        g_array_append_val(put ? later : order, i);
    }
    for (guint i = 0; x && i < w->program->n_ops; i++)
        if (same_work(x->op, w->program->op[i])) {
            guint op = w->program->op[i]->index;
            g_array_append_val(h->late, op);
        }
    g_array_append_vals(order, later->data, later->len);
    g_array_unref(later);
    return order;
}

static gboolean joins_and_waits(const WsOp *op)
{
    return ws_op_row(op->kind)->waits == WS_WAITS_JOIN;
}

/* --- gates ------------------------------------------------------------------------------------ */

static WsHoldGate *gate_at(const WsWitness *w, WsHold *h, guint agent, const WsOp *op, guint n,
                           const gint64 *round, gboolean make)
{
    WsHoldGate want = { .op = op->index,
                        .rank = agent / w->program->n_agents,
                        .n_rounds = MIN(n, WS_HOLD_ROUNDS),
                        .need = WS_HOLD_FREE,
                        .then = WS_HOLD_FREE,
                        .need_others = WS_HOLD_FREE,
                        .need_after = WS_HOLD_FREE,
                        .then_after = WS_HOLD_FREE };
    memcpy(want.round, round, want.n_rounds * sizeof *round);
    for (guint i = 0; i < h->gate->len; i++) {
        WsHoldGate *g = &g_array_index(h->gate, WsHoldGate, i);
        if (g->op == want.op && g->rank == want.rank && g->n_rounds == want.n_rounds &&
            memcmp(g->round, want.round, sizeof want.round) == 0)
            return g;
    }
    if (!make)
        return NULL;
    g_array_append_val(h->gate, want);
    return &g_array_index(h->gate, WsHoldGate, h->gate->len - 1);
}

static void make_gates(const WsWitness *w, WsHold *h, const GArray *order)
{
    gboolean landed = FALSE, reordered = h->late->len > 0 || first_of_two(w) >= 0;
    gint before = -1;
    for (guint i = 0; i < order->len; i++) {
        const WsMove *m = &w->move[g_array_index(order, guint, i)];
        if (m->kind == WS_MOVE_LAND) {
            landed = TRUE;
            continue;
        }
        if (m->op->declared)
            continue;
        gboolean pass = m->kind == WS_MOVE_PASS && joins_and_waits(m->op);
        WsHoldGate *g = gate_at(w, h, m->agent, m->op, m->n_rounds, m->round, TRUE);
        if (pass) {
            g->need_after = h->end, g->then_after = h->end + 1;
        } else {
            g->need = h->end, g->then = h->end + 1;
            g->settle = landed || (reordered && i + 1 == order->len) ? LAND_NS
                        : before >= 0 && (guint)before != m->agent   ? OTHER_NS
                                                                     : 0;
        }
        h->end++;
        landed = FALSE;
        before = (gint)m->agent;
    }
}

/* The last move reads what lanes of the same agent have written, and nothing makes it wait for
 * them: the first warp goes on to it while the others stand before the write. */
static void hold_lanes(const WsWitness *w, WsHold *h)
{
    const WsMove *y = w->n_moves ? &w->move[w->n_moves - 1] : NULL;
    if (!y || w->end != WS_END_COLLISION || first_of_two(w) >= 0 || !y->op->n_access)
        return;
    for (guint i = w->n_moves - 1; i-- > 0;) {
        const WsMove *m = &w->move[i];
        if (m->agent != y->agent || m->kind != WS_MOVE_STEP)
            continue;
        WsHoldGate *g = gate_at(w, h, m->agent, m->op, m->n_rounds, m->round, FALSE);
        if (joins_and_waits(m->op) || !g)
            return;
        g->first = TRUE;
        if ((ws_op_stores_shared(m->op->kind)) && m->op->n_access &&
            m->op->access[0].buffer == y->op->access[0].buffer) {
            g->need_others = h->end;
            g->settle = LAND_NS;
            return;
        }
    }
}

/* Whoever has not moved last stands still a while after the end. */
static void hold_back(const WsWitness *w, WsHold *h, const GArray *order)
{
    gint last = -1;
    for (guint i = 0; i < order->len; i++)
        if (w->move[g_array_index(order, guint, i)].kind != WS_MOVE_LAND)
            last = (gint)w->move[g_array_index(order, guint, i)].agent;
    for (guint a = 0; a < w->n_agents; a++) {
        const WsAgentState *s = ws_witness_agent(w, w->n_moves, a);
        if ((gint)a == last || !s->op || s->op->declared)
            continue;
        WsHoldGate *g = gate_at(w, h, a, s->op, s->n_rounds, s->round, TRUE);
        if (g->need != WS_HOLD_FREE)
            continue; /* it has its place in the order */
        g->need = h->end, g->settle = HARM_NS;
    }
}

static guint slot_in_ring(const WsWitness *w, guint slot)
{
    const WsProgram *p = w->program;
    guint within = slot % MAX(w->n_barriers / MAX(w->ranks, 1), 1);
    for (guint i = 0; i < p->n_barriers; i++) {
        guint slots = MAX(p->barrier[i].slots, 1), n = MAX(p->barrier[i].array, 1) * slots;
        if (p->barrier[i].kind != WS_BARRIER_MBARRIER)
            continue;
        if (within < n)
            return within % slots;
        within -= n;
    }
    return 0;
}

static void note_waits(const WsWitness *w, WsHold *h)
{
    for (guint a = 0; a < w->n_agents; a++) {
        const WsAgentState *s = ws_witness_agent(w, w->n_moves, a);
        if (s->mode != WS_AGENT_WAITING)
            continue;
        WsHoldAwait x = { .op = s->op->index,
                          .rank = a / w->program->n_agents,
                          .parity = -1,
                          .n_rounds = MIN(s->n_rounds, WS_HOLD_ROUNDS) };
        memcpy(x.round, s->round, x.n_rounds * sizeof x.round[0]);
        if (s->barrier >= 0) {
            x.slot = slot_in_ring(w, (guint)s->barrier);
            x.parity = (gint)(ws_witness_barrier(w, w->n_moves, (guint)s->barrier)->phase & 1);
        }
        g_array_append_val(h->await, x);
    }
}

WsHold *ws_adversary_hold(const WsWitness *w, guint variant, GError **error)
{
    g_autoptr(WsHold) h = ws_hold_new();
    if (ws_rule(w->rule)->klass == WS_CLASS_G) {
        g_set_error(error, WS_WITNESS_ERROR, 0,
                    "what is written to global memory needs no order: rehearse shows it without");
        return NULL;
    }
    const gboolean pinned = w->pinned && !w->first_of_several;
    if (pinned || w->n_moves > MOST_GATES) {
        g_set_error(error, WS_WITNESS_ERROR, 0, "%s",
                    pinned
                        ? "the witness is of another CTA, or of elements that it chooses one by one"
                        : "the witness has more moves than a kernel should hold");
        return NULL;
    }
    if (!choose_sizes(w, h, error))
        return NULL;
    g_autoptr(GArray) order = order_of(w, variant, h);
    make_gates(w, h, order);
    if (variant == 0)
        hold_lanes(w, h);
    h->hangs = w->end == WS_END_HANG;
    if (h->hangs)
        note_waits(w, h);
    else
        hold_back(w, h, order);
    h->told = ws_phrase_text(w->ending ? w->ending : w->message, NULL, NULL);
    return g_steal_pointer(&h);
}
