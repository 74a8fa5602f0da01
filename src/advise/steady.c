/* Which rounds, and what their graph says. */
#include "advise/steady.h"
#include "advise/cycle.h"
#include "advise/fold.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "program/visit.h"

#include <math.h>

#define MOST_ROUNDS 10   /* in one period */
#define WINDOWS     12   /* tried of each loop, from the last rounds backwards */
#define DRIFT       1e-6 /* of a period: less is rounding */

const char *ws_steady_text(WsSteadyKind kind)
{
    static const char *const text[] = { "exact", "between", "assumed", "played", "none" };
    return text[kind];
}

static const WsEventRound *round_at(const WsEvents *e, guint i)
{
    return &g_array_index(e->round, WsEventRound, i);
}

/* --- which loop ---------------------------------------------------------------------------------
 */
static void note_product(const WsTree *t, gpointer data)
{
    *(gboolean *)data =
        *(gboolean *)data || (t->kind == WS_TREE_OP && ws_op_is_product(t->op->kind));
}

/* Times at which the rounds of one execution of a loop began: the longest there was. */
static GArray *longest(const WsEvents *e, guint agent, const WsTree *loop)
{
    GArray *best = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) now = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < e->round->len; i++) {
        const WsEventRound *r = round_at(e, i);
        if (r->agent != agent || r->loop != loop)
            continue;
        if (!r->follows)
            g_array_set_size(now, 0);
        g_array_append_val(now, r->at);
        if (now->len >= best->len) {
            g_array_set_size(best, 0);
            g_array_append_vals(best, now->data, now->len);
        }
    }
    return best;
}

typedef struct {
    guint agent;
    const WsTree *loop;
    GArray *at; /* double */
} Rounds;

/* The loop with products and most rounds, counted or over tiles. */
static Rounds main_loop(const WsProgram *p, const WsEvents *e, gboolean tiles)
{
    Rounds best = { 0, NULL, NULL };
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < e->round->len; i++) {
        const WsEventRound *r = round_at(e, i);
        const WsTree *loop = r->loop;
        gboolean product = FALSE;
        if (!g_hash_table_add(seen, (gpointer)loop) || (loop->over == WS_OVER_TILES) != tiles)
            continue;
        ws_tree_each(loop, note_product, &product);
        GArray *at = longest(e, r->agent, loop);
        if (product && (!best.at || at->len > best.at->len)) {
            g_clear_pointer(&best.at, g_array_unref);
            best = (Rounds){ r->agent, loop, g_array_ref(at) };
        }
        g_array_unref(at);
    }
    return best;
}

/* --- what its graph says ------------------------------------------------------------------------
 */
static GArray *arcs_of(const WsFold *f, gboolean most)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(WsArc));
    for (guint i = 0; i < f->arc->len; i++) {
        const WsFoldArc *a = &g_array_index(f->arc, WsFoldArc, i);
        const WsArc arc = { a->from, a->to, most ? a->most : a->least, a->tokens };
        g_array_append_val(list, arc);
    }
    return list;
}

static gboolean is_unit(WsCauseKind kind)
{
    return kind >= WS_CAUSE_TENSOR && kind <= WS_CAUSE_LSU;
}

/* The ratio over the arcs of one unit, or over those of none. */
static double ratio_of(const WsFold *f, gint unit)
{
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(WsArc));
    double ratio = 0;
    for (guint i = 0; i < f->arc->len; i++) {
        const WsFoldArc *a = &g_array_index(f->arc, WsFoldArc, i);
        const WsArc arc = { a->from, a->to, a->most, a->tokens };
        /* One request after the other; not the agent that goes on when it is served. */
        const gboolean serves =
            is_unit(a->kind) && g_array_index(f->of, WsEventOf, a->to).sub == 1u + (guint)a->kind;
        if (unit < 0 ? !serves : serves && a->kind == (WsCauseKind)unit)
            g_array_append_val(list, arc);
    }
    return ws_cycle_ratio(f->n, (const WsArc *)(gpointer)list->data, list->len, &ratio, NULL)
               ? MAX(ratio, 0)
               : 0;
}

static void take_edges(WsSteady *s, const WsFold *f, const GArray *arcs, double ratio)
{
    g_autofree double *slack =
        ws_cycle_slack(f->n, (const WsArc *)(gpointer)arcs->data, arcs->len, ratio);
    for (guint i = 0; i < f->arc->len; i++) {
        const WsFoldArc *a = &g_array_index(f->arc, WsFoldArc, i);
        const WsSteadyEdge edge = { g_array_index(f->of, WsEventOf, a->from),
                                    g_array_index(f->of, WsEventOf, a->to),
                                    a->kind,
                                    a->most,
                                    a->tokens,
                                    slack[i] };
        g_array_append_val(s->edge, edge);
    }
}

static gboolean take(WsSteady *s, const WsFold *f, guint rounds)
{
    g_autoptr(GArray) low = arcs_of(f, FALSE), high = arcs_of(f, TRUE);
    double least, most;
    if (!ws_cycle_ratio(f->n, (const WsArc *)(gpointer)low->data, low->len, &least, NULL) ||
        !ws_cycle_ratio(f->n, (const WsArc *)(gpointer)high->data, high->len, &most, s->cycle))
        return FALSE;
    s->kind = most - least <= DRIFT * most ? WS_STEADY_EXACT : WS_STEADY_BETWEEN;
    s->rounds = rounds;
    s->settled = s->kind == WS_STEADY_EXACT && fabs(f->shift_least - most) < DRIFT * most &&
                 fabs(f->shift_most - most) < DRIFT * most;
    s->period = most / rounds;
    s->most = s->period;
    s->least = s->kind == WS_STEADY_EXACT ? s->period : least / rounds;
    for (gint unit = WS_CAUSE_TENSOR; unit <= WS_CAUSE_LSU; unit++) {
        const double work = ratio_of(f, unit) / rounds;
        if (work > s->resource) {
            s->resource = work;
            s->unit = (WsCauseKind)unit;
        }
    }
    s->recurrence = ratio_of(f, -1) / rounds;
    take_edges(s, f, high, most);
    return TRUE;
}

/* --- which rounds -------------------------------------------------------------------------------
 */
static void name(WsSteady *s, const WsProgram *p, const Rounds *r)
{
    s->agent = p->agent[r->agent].name;
    s->loop = r->loop->name ? r->loop->name : r->loop->step;
}

/* Its rounds repeat; whether those of other data would, too, is another question. */
static void doubt(WsSteady *s, const WsProgram *p, const Rounds *r)
{
    const char *why = ws_fold_assumes(p, r->loop->over == WS_OVER_TILES);
    if (why)
        s->kind = WS_STEADY_ASSUMED;
    s->why = why;
}

static gboolean find(WsSteady *s, WsFold *f, const WsEvents *e, const Rounds *r)
{
    const guint n = r->at->len;
    for (guint rounds = 1; rounds <= MOST_ROUNDS && 3 * rounds < n; rounds++)
        for (guint back = 0; back < WINDOWS && 3 * rounds + back < n; back++) {
            double time[4];
            for (guint k = 0; k < 4; k++)
                time[k] = g_array_index(r->at, double, n - 1 - back - (3 - k) * rounds);
            s->played = (time[3] - time[0]) / (3 * rounds);
            if (ws_fold_try(f, e, time) && take(s, f, rounds))
                return TRUE;
        }
    return FALSE;
}

/* Half of the rounds, as played. */
static void mean(WsSteady *s, const Rounds *r)
{
    const guint n = r->at->len, from = n / 2;
    if (n < 3)
        return;
    s->kind = WS_STEADY_PLAYED;
    s->why = NULL;
    s->rounds = n - 1 - from;
    s->played = (g_array_index(r->at, double, n - 1) - g_array_index(r->at, double, from)) /
                (double)s->rounds;
    s->period = s->least = s->most = s->played;
}

WsSteady *ws_steady_new(const WsProgram *p, const WsClockResult *r)
{
    WsSteady *s = g_new0(WsSteady, 1);
    s->kind = WS_STEADY_NONE;
    s->edge = g_array_new(FALSE, FALSE, sizeof(WsSteadyEdge));
    s->cycle = g_array_new(FALSE, FALSE, sizeof(guint));
    s->why = "the clock of this target writes no events";
    if (!r->events)
        return s;
    s->why = "more events than are kept";
    if (r->events->too_many)
        return s;
    s->why = "no round was simulated often enough";
    Rounds loops[] = { main_loop(p, r->events, FALSE), main_loop(p, r->events, TRUE) };
    WsFold *f = ws_fold_new(r->events);
    gboolean found = FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(loops) && !found; i++)
        if (loops[i].at && (found = find(s, f, r->events, &loops[i]))) {
            name(s, p, &loops[i]);
            doubt(s, p, &loops[i]);
        }
    for (guint i = 0; i < G_N_ELEMENTS(loops); i++)
        if (!found && s->kind == WS_STEADY_NONE && loops[i].at) {
            name(s, p, &loops[i]);
            mean(s, &loops[i]);
        }
    for (guint i = 0; i < G_N_ELEMENTS(loops); i++)
        g_clear_pointer(&loops[i].at, g_array_unref);
    ws_fold_free(f);
    return s;
}

void ws_steady_free(WsSteady *s)
{
    if (!s)
        return;
    g_array_unref(s->edge);
    g_array_unref(s->cycle);
    g_free(s);
}
