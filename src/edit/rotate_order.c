/* The order of a rotated round: what of the first part may run before what is left of the round
 * before, and how many product groups each mma_wait may then leave in flight. */
#include "edit/rotate_touch.h"

#include <string.h>

/* A product that a wait retires, so many rounds after its own. */
typedef struct {
    guint product;
    guint rounds;
} Retired;

typedef struct {
    WsDraft *d;
    WsTurnTouch touch;
    guint n, cut;
    WsTurnStep *step;
    GArray **own; /* by step: Retired, of an mma_wait */
} Round;

/* --- what each wait retires ------------------------------------------------------------------- */

static gboolean is_open(const WsNode *product)
{
    return ws_node_bool(product, WS_F_open, FALSE);
}

/* The body as it is, some rounds long: in the last of them every wait retires what it does in the
 * long run. */
static void find_own(Round *r)
{
    enum { ROUNDS = 6 };
    g_autoptr(GArray) flight = g_array_new(FALSE, FALSE, sizeof(Retired)); /* rounds: its own */
    for (guint round = 0; round < ROUNDS; round++)
        for (guint i = 0; i < r->n; i++) {
            const WsNode *step = r->step[i].step;
            if (step->kind == WS_STEP_MMA)
                g_array_append_val(flight, ((Retired){ i, round }));
            if (step->kind != WS_STEP_MMA_WAIT)
                continue;
            gint64 stay = ws_node_int(step, WS_F_keyword, 0);
            guint left = flight->len;
            while (left > 0) {
                const Retired *last = &g_array_index(flight, Retired, left - 1);
                if (!is_open(r->step[last->product].step) && stay-- == 0)
                    break;
                left--;
            }
            for (guint k = 0; k < left && round + 1 == ROUNDS; k++) {
                const Retired *f = &g_array_index(flight, Retired, k);
                g_array_append_val(r->own[i], ((Retired){ f->product, round - f->rounds }));
            }
            g_array_remove_range(flight, 0, left);
        }
}

/* --- the order -------------------------------------------------------------------------------- */

/* Whether step `a` waits for others behind one of the first part that lets them go on: in between
 * they may write again what the round before has not touched yet. */
static gboolean may_hear_back(const Round *r, guint a)
{
    const WsTurnStep *s = &r->step[a];
    gboolean told = s->tells && s->ordered; /* a body of its own may do both, one after the other */
    for (guint i = 0; i < a; i++)
        told |= r->step[i].tells;
    return s->hears && told;
}

/* Whether step `a` of the first part has to wait for the steps `from` … of the second part of the
 * round before. */
static gboolean is_held(const Round *r, guint a, guint from)
{
    const WsTurnStep *s = &r->step[a];
    const gboolean back = may_hear_back(r, a);
    for (guint b = from; b < r->n; b++) {
        if (back && ws_turn_shares(&r->touch, &r->step[b]))
            return TRUE;
        if (ws_turn_conflicts(&r->touch, s, &r->step[b]))
            return TRUE;
        for (guint k = 0; k < r->own[b]->len; k++) {
            const Retired *own = &g_array_index(r->own[b], Retired, k);
            if (own->rounds == 0 && ws_turn_disturbs(&r->touch, s, &r->step[own->product]))
                return TRUE;
        }
        for (guint k = 0; k < r->own[a]->len; k++)
            if (g_array_index(r->own[a], Retired, k).product == b)
                return TRUE;
    }
    return FALSE;
}

static gboolean is_kind(const Round *r, guint i, WsNodeKind kind)
{
    return r->step[i].step->kind == kind;
}

static void put(const Round *r, GArray *order, guint *next)
{
    const guint i = (*next)++;
    const WsTurned t = { r->step[i].step->identity, i, i >= r->cut, -1, -1 };
    g_array_append_val(order, t);
}

/* Last product of a part before its next mma_wait, from `i` on; `end` if there is none. */
static guint last_product(const Round *r, guint i, guint end)
{
    guint last = end;
    for (; i < end && !is_kind(r, i, WS_STEP_MMA_WAIT); i++)
        if (is_kind(r, i, WS_STEP_MMA))
            last = i;
    return last;
}

/* Products first: those of the first part, right behind them those of the second, which run beside
 * what the first part does next. Then the first part, until it has to wait for the second. */
static GArray *make_order(const Round *r)
{
    GArray *order = g_array_new(FALSE, FALSE, sizeof(WsTurned));
    guint a = 0, b = r->cut;
    const guint first = last_product(r, 0, r->cut);
    for (; first < r->cut && a <= first; put(r, order, &a))
        while (is_held(r, a, b))
            put(r, order, &b);
    const guint late = last_product(r, b, r->n);
    while (late < r->n && b <= late)
        put(r, order, &b);
    while (a < r->cut) {
        const gboolean held = is_held(r, a, b);
        while (is_held(r, a, b))
            put(r, order, &b);
        while (held && b < r->n &&
               (is_kind(r, b, WS_STEP_ARRIVE) || is_kind(r, b, WS_STEP_ADVANCE)))
            put(r, order, &b);
        put(r, order, &a);
    }
    while (b < r->n)
        put(r, order, &b);
    return order;
}

/* --- how many groups stay --------------------------------------------------------------------- */

typedef struct {
    const Round *r;
    guint groups;  /* issued so far */
    guint *number; /* by product and round: its group, from 1; 0: not issued */
    guint rounds;
} Issue;

static void least(gint64 *n, gint64 value)
{
    if (*n < 0 || value < *n)
        *n = value;
}

static void run_step(Issue *issue, const WsTurned *t, guint round, gint64 *stay)
{
    const Round *r = issue->r;
    if (is_kind(r, t->index, WS_STEP_MMA)) {
        issue->number[round * r->n + t->index] = issue->groups + 1;
        issue->groups += !is_open(r->step[t->index].step);
    }
    if (!is_kind(r, t->index, WS_STEP_MMA_WAIT))
        return;
    guint newest = 0;
    for (guint k = 0; k < r->own[t->index]->len; k++) {
        const Retired *own = &g_array_index(r->own[t->index], Retired, k);
        if (own->rounds <= round)
            newest = MAX(newest, issue->number[(round - own->rounds) * r->n + own->product]);
    }
    if (newest > 0)
        least(stay, (gint64)issue->groups - newest);
}

static WsTurned *of_index(GArray *order, guint index)
{
    for (guint i = 0; i < order->len; i++)
        if (g_array_index(order, WsTurned, i).index == index)
            return &g_array_index(order, WsTurned, i);
    return NULL;
}

/* The whole loop with some number of rounds; of each wait the least that may stay anywhere. */
static void count_groups(const Round *r, GArray *order, guint rounds)
{
    g_autofree guint *number = g_new0(guint, (gsize)rounds * r->n);
    Issue issue = { r, 0, number, rounds };
    for (guint i = 0; i < r->cut; i++) {
        WsTurned *t = of_index(order, i);
        run_step(&issue, t, 0, &t->alone);
    }
    for (guint round = 1; round < rounds; round++)
        for (guint i = 0; i < order->len; i++) {
            WsTurned *t = &g_array_index(order, WsTurned, i);
            run_step(&issue, t, t->late ? round - 1 : round, &t->inside);
        }
    for (guint i = r->cut; i < r->n; i++) {
        WsTurned *t = of_index(order, i);
        run_step(&issue, t, rounds - 1, &t->alone);
    }
}

/* --- what does not fit ------------------------------------------------------------------------ */

static gboolean holds(const WsNode *node, WsNodeKind kind)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    gboolean found = node->kind == kind;
    for (guint i = 0; i < n && !found; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field) && !found; c++)
            found = holds(ws_node_child(node, rows[i].field, c), kind);
    return found;
}

/* A barrier expects the bytes of one round's loads by one arrival. */
static gboolean cuts_transaction(const Round *r, guint load)
{
    const WsRef *signal = ws_node_refv(r->step[load].step, WS_F_signal);
    for (guint i = 0; i < r->cut && load >= r->cut && signal != NULL; i++) {
        const WsRef *other = ws_node_refv(r->step[i].step, WS_F_signal);
        if (other != NULL && strcmp(other->name, signal->name) == 0)
            return TRUE;
    }
    return FALSE;
}

static gboolean fits(const Round *r)
{
    static const WsNodeKind strange[] = { WS_STEP_RAW,  WS_STEP_STAGE, WS_STEP_LET,
                                          WS_STEP_TAKE, WS_STEP_CLAIM, WS_STEP_CLOSE };
    for (guint i = 0; i < r->n; i++) {
        const WsNode *step = r->step[i].step;
        const gboolean product = step->kind == WS_STEP_MMA || step->kind == WS_STEP_MMA_WAIT;
        g_autofree char *label = ws_edit_label(step);
        for (guint k = 0; k < G_N_ELEMENTS(strange); k++)
            if (holds(step, strange[k]))
                return ws_draft_refuse(r->d, "%s cannot be carried into another round", label);
        if (cuts_transaction(r, i))
            return ws_draft_refuse(r->d, "%s and a load before it are expected together", label);
        if (ws_node_has(step, WS_F_ahead))
            return ws_draft_refuse(r->d, "%s runs ahead already", label);
        if (product && ws_node_has(step, WS_F_when))
            return ws_draft_refuse(r->d, "%s does not happen in every round", label);
        if (!product && (holds(step, WS_STEP_MMA) || holds(step, WS_STEP_MMA_WAIT)))
            return ws_draft_refuse(r->d, "%s has products in a body of its own", label);
        if (step->kind == WS_STEP_MMA_WAIT && ws_node_int(step, WS_F_keyword, -1) < 0)
            return ws_draft_refuse(r->d, "%s is an expression; change it in the inspector", label);
        if (step->kind == WS_STEP_MMA && is_open(step) &&
            (i + 1 == r->cut || i + 1 == r->n || !is_kind(r, i + 1, WS_STEP_MMA)))
            return ws_draft_refuse(r->d, "%s is of one group with a step elsewhere", label);
    }
    return TRUE;
}

static void init(Round *r)
{
    r->step = g_new0(WsTurnStep, r->n);
    r->own = g_new0(GArray *, r->n);
    for (guint i = 0; i < r->n; i++) {
        ws_turn_step_init(&r->touch, ws_node_child(r->touch.loop, WS_F_do, i), i, &r->step[i]);
        r->own[i] = g_array_new(FALSE, FALSE, sizeof(Retired));
    }
}

static void clear(Round *r)
{
    for (guint i = 0; i < r->n; i++) {
        ws_turn_step_clear(&r->step[i]);
        g_array_unref(r->own[i]);
    }
    g_free(r->step);
    g_free(r->own);
}

GArray *ws_rotate_order(WsDraft *d, const WsNode *loop, guint cut)
{
    Round r = { .d = d,
                .touch = { d->design, loop, ws_edit_group(d->design, loop), cut },
                .n = ws_node_n_children(loop, WS_F_do),
                .cut = cut };
    GArray *order = NULL;
    init(&r);
    if (fits(&r)) {
        find_own(&r);
        order = make_order(&r);
        for (guint rounds = 1; rounds <= 6; rounds++)
            count_groups(&r, order, rounds);
    }
    clear(&r);
    return order;
}
