/* Release and acquire: every put between an await of all devices and a notify that is awaited,
 * every load of what devices put behind an await of all of it. Each agent is followed over all its
 * paths; a state holds what may be so on some path to a place, and what is so on all of them. */
#include "check/mesh/order.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tree.h"
#include "program/program.h"

#include <string.h>

enum { MOST_TURNS = 16 };

typedef struct {
    /* puts of the agent, a bit each, on some path: */
    guint64 flying;       /* not known to be complete */
    guint64 read;         /* of those: a wait for their reads stood behind them */
    guint64 kept;         /* of those: a wait that leaves groups stood behind them */
    guint64 fresh, stale; /* not notified yet; stale: of another round */
    gboolean some;        /* not all of it is so on every path */
    /* on every path: */
    gboolean gate, gate_fenced;
    guint n_known;
    WsMeshKnown known[WS_MESH_AWAITS];
} State;

typedef struct {
    WsMeshCheck *M;
    GArray *put;    /* WsMeshPut, of all agents */
    GArray *load;   /* WsMeshLoad */
    GPtrArray *get; /* WsMeshSite*: of inputs of other devices */
    guint first;    /* put of this agent */
    guint *number;  /* [ops] put + 1 */
} Order;

static WsMeshPut *nth(Order *o, guint i)
{
    return &g_array_index(o->put, WsMeshPut, i);
}

static void no_gate(WsMeshCheck *M, const WsOp *op, WsMeshReach reach)
{
    WsFinding *f = ws_mesh_wrong(
        M, WS_RULE_P_PEER, op, WS_HARM_CORRUPTION,
        reach == WS_MESH_OWN ? "%s overwrites what other devices may still get in the launch "
                               "before: no await of all devices stands in front of it"
                             : "%s reaches a device that may not have started this launch: no "
                               "await of all devices stands in front of it",
        op->label);
    ws_finding_set_remedy(
        f, "Notify all devices first, and await each of them: { \"for\": \"d\", \"count\": "
           "…, \"do\": [{ \"await\": \"ready[d]\", \"at_least\": 1 }] }.");
}

/* --- one operation ---------------------------------------------------------------------------- */
/* A fenced await of all devices stands in front of what reaches another one. */
static void behind_gate(WsMeshCheck *M, const State *s, const WsOp *op, WsMeshReach reach)
{
    if (s->gate && s->gate_fenced)
        return;
    if (reach == WS_MESH_PERHAPS) {
        ws_mesh_open(M, op,
                     "no fenced await of all devices stands in front of it, and it was not shown "
                     "whether the device that it reaches is another one");
        return;
    }
    if (s->some) {
        ws_mesh_open(M, op,
                     "whether all devices are awaited and fenced before %s hangs on conditions",
                     op->label);
        return;
    }
    if (!s->gate) {
        if (!ws_mesh_ordered_somehow(
                M, op, -1,
                "whether all devices are awaited before it is not followed: the form "
                "that is known is a "
                "loop of awaits over all of them in this group"))
            no_gate(M, op, reach);
        return;
    }
    WsFinding *f = ws_mesh_wrong(
        M, WS_RULE_P_PEER, op, WS_HARM_CORRUPTION,
        "no fence async_global stands between the await of all devices and %s, which the "
        "async proxy makes",
        op->label);
    ws_finding_set_remedy(f, "Add { \"fence\": \"async_global\" } after the await.");
}

/* Of several turns through a loop the last one stays: it knows least. */
static void do_load(Order *o, const State *s, const WsMeshSite *site)
{
    WsMeshLoad load = { site, s->n_known, { { 0 } } };
    memcpy(load.known, s->known, sizeof load.known);
    for (guint i = 0; i < o->load->len; i++)
        if (g_array_index(o->load, WsMeshLoad, i).load == site)
            g_array_remove_index(o->load, i--);
    g_array_append_val(o->load, load);
}

static void do_put(Order *o, State *s, const WsOp *op)
{
    WsMeshCheck *M = o->M;
    const WsMeshReach reach = ws_mesh_site(M, op)->reach;
    if (reach == WS_MESH_OWN && M->p->tensor[op->tensor].access != WS_ACCESS_EXCHANGE)
        return; /* a store: this device has started, and ends after it */
    guint at = o->number[op->index];
    if (!at) {
        WsMeshPut put = { ws_mesh_site(M, op), g_ptr_array_new(), FALSE };
        g_array_append_val(o->put, put);
        at = o->number[op->index] = o->put->len;
    }
    if (at - 1 - o->first >= WS_MESH_PUTS) {
        ws_mesh_open(M, op, "more than 64 puts of one agent");
        return;
    }
    const guint64 bit = (guint64)1 << (at - 1 - o->first);
    s->flying |= bit;
    s->read &= ~bit;
    s->kept &= ~bit;
    if (s->fresh & bit)
        s->stale |= bit;
    s->fresh |= bit;
    if (reach != WS_MESH_OWN || ws_mesh_is_got(M, op->tensor))
        behind_gate(M, s, op, reach);
}

/* All that is told of the put comes from awaits of its readers; a get reads what is there. */
static void do_get(Order *o, State *s, const WsMeshSite *site)
{
    WsMeshCheck *M = o->M;
    if (M->p->tensor[site->op->tensor].access == WS_ACCESS_EXCHANGE) {
        do_load(o, s, site);
        return;
    }
    if (site->reach == WS_MESH_OWN)
        return; /* a load: nothing else reads or writes it while this device runs */
    behind_gate(M, s, site->op, site->reach);
    if (!g_ptr_array_find(o->get, site, NULL))
        g_ptr_array_add(o->get, (gpointer)site);
}

static void do_wait(State *s, const WsOp *op)
{
    if (op->n == 0 && op->full) {
        s->flying = s->read = s->kept = 0;
        return;
    }
    if (op->n == 0)
        s->read |= s->flying;
    else
        s->kept |= s->flying;
}

static const WsMeshPut *flying_put(Order *o, guint64 bits)
{
    guint i = 0;
    while (!(bits >> i & 1))
        i++;
    return nth(o, o->first + i);
}

/* Another device surely has what is put, or reads it. */
static gboolean seen_elsewhere(const WsMeshCheck *M, const WsMeshSite *put)
{
    for (guint i = 0; i < M->site->len && put->reach == WS_MESH_OWN; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (ws_op_gets(s->op->kind) && s->op->tensor == put->op->tensor &&
            s->reach == WS_MESH_ELSEWHERE)
            return TRUE;
    }
    return put->reach == WS_MESH_ELSEWHERE;
}

static void incomplete(Order *o, const State *s, const WsOp *op)
{
    WsMeshCheck *M = o->M;
    const WsMeshPut *put = flying_put(o, s->flying);
    const guint64 one = s->flying & -s->flying;
    const char *label = put->put->op->label;
    if (s->some) {
        ws_mesh_open(M, op, "whether %s is complete here hangs on conditions and rounds", label);
        return;
    }
    if (s->kept & one) {
        ws_mesh_open(M, op, "%s is waited for by a store_wait that leaves groups", label);
        return;
    }
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *n = M->site->pdata[i];
        if (n->op != op && ws_op_notifies(n->op->kind) &&
            ws_mesh_may_precede(put->put->op, n->op)) {
            ws_mesh_open(M, op, "%s is not complete here, and another notify may tell of it",
                         label);
            return;
        }
    }
    if (!seen_elsewhere(M, put->put)) {
        ws_mesh_open(M, op, "%s is not complete here, and may reach this device alone", label);
        return;
    }
    WsFinding *f = ws_mesh_wrong(
        M, WS_RULE_P_PEER, op, WS_HARM_CORRUPTION,
        s->read & one ? "%s comes before %s is complete: the store_wait between them waits until "
                        "shared memory has been "
                        "read, not until the tensor is written"
                      : "%s comes before %s is complete: no store_wait stands between them",
        op->label, label);
    ws_mesh_also(f, put->put->op);
    ws_finding_set_remedy(f, "Wait with { \"store_wait\": 0, \"full\": true } before it.");
}

static void do_notify(Order *o, State *s, const WsOp *op)
{
    WsMeshCheck *M = o->M;
    const WsMeshSite *n = ws_mesh_site(M, op);
    if (ws_mesh_weak(n))
        return;
    if (s->flying)
        incomplete(o, s, op);
    for (guint i = 0; i < WS_MESH_PUTS && o->first + i < o->put->len; i++) {
        WsMeshPut *put = nth(o, o->first + i);
        const guint64 bit = (guint64)1 << i;
        const gboolean now = (s->fresh & bit) != 0, before = (s->stale & bit) != 0;
        const gboolean same = n->of_all || ws_poly_equal(n->device, put->put->device);
        if ((!now && !before) || !same)
            continue;
        if (!g_ptr_array_find(put->notify, n, NULL))
            g_ptr_array_add(put->notify, (gpointer)n);
        put->late |= before;
        s->fresh &= ~bit;
        if (n->of_all)
            s->stale &= ~bit;
    }
    if (!M->gates[op->peer->flag] && !s->gate)
        ws_mesh_open(M, op,
                     "%s has elements that several devices add to, and no await of all devices "
                     "stands in front of "
                     "it: a device that is a launch ahead could be taken for one that has not come",
                     ws_mesh_flag(M, op));
}

static void do_await(Order *o, State *s, const WsOp *op)
{
    const WsMeshSite *site = ws_mesh_site(o->M, op);
    if (s->n_known == WS_MESH_AWAITS)
        return; /* the others are known no less */
    s->known[s->n_known++] = (WsMeshKnown){ site, FALSE };
}

static void do_fence(State *s)
{
    for (guint i = 0; i < s->n_known; i++)
        s->known[i].fenced = TRUE;
    s->gate_fenced = s->gate;
}

/* What is none of these other devices do not see: `look` has refused what they could. */
static void do_op(Order *o, State *s, const WsOp *op)
{
    const WsMeshSite *site = ws_mesh_site(o->M, op);
    if (ws_op_puts(op->kind))
        do_put(o, s, op);
    else if (ws_op_gets(op->kind))
        do_get(o, s, site);
    else if (ws_op_notifies(op->kind))
        do_notify(o, s, op);
    else if (ws_op_awaits(op->kind))
        do_await(o, s, op);
    else if (ws_op_fences_global(op->kind))
        do_fence(s);
    else if (ws_op_retires(op->kind) && ws_op_queue(op->kind) == WS_QUEUE_STORES)
        do_wait(s, op);
    else if (site)
        do_load(o, s, site);
}

/* --- paths ------------------------------------------------------------------------------------ */
static State join(const State *a, const State *b)
{
    State out = *a;
    out.some = a->some || b->some || a->flying != b->flying || a->fresh != b->fresh ||
               a->stale != b->stale;
    out.flying |= b->flying;
    out.read |= b->read;
    out.kept |= b->kept;
    out.fresh |= b->fresh;
    out.stale |= b->stale;
    out.gate = a->gate && b->gate;
    out.gate_fenced = a->gate_fenced && b->gate_fenced;
    out.n_known = 0;
    for (guint i = 0; i < MIN(a->n_known, b->n_known) && a->known[i].await == b->known[i].await;
         i++)
        out.known[out.n_known++] =
            (WsMeshKnown){ a->known[i].await, a->known[i].fenced && b->known[i].fenced };
    out.some |= a->gate != b->gate || a->gate_fenced != b->gate_fenced;
    return out;
}

static gboolean equal_puts(const State *a, const State *b)
{
    return a->flying == b->flying && a->read == b->read && a->kept == b->kept &&
           a->fresh == b->fresh && a->stale == b->stale;
}

static gboolean equal(const State *a, const State *b)
{
    if (!equal_puts(a, b) || a->some != b->some || a->gate != b->gate ||
        a->gate_fenced != b->gate_fenced || a->n_known != b->n_known)
        return FALSE;
    for (guint i = 0; i < a->n_known; i++)
        if (a->known[i].await != b->known[i].await || a->known[i].fenced != b->known[i].fenced)
            return FALSE;
    return TRUE;
}

static void walk(Order *o, State *s, const WsTree *t);

/* Behind the rounds of a loop: what they put is of another round than the next one. */
static void walk_loop(Order *o, State *s, const WsTree *t)
{
    State head = *s;
    const gboolean gate = ws_mesh_is_gate(o->M, t);
    const guint rounds = ws_mesh_rounds(o->M, t);
    for (guint turn = 0;; turn++) {
        State body = head;
        const guint64 outer = head.fresh;
        body.some |= rounds < 1;
        for (guint i = 0; i < t->n_kids; i++)
            walk(o, &body, t->kid[i]);
        if (gate) { /* every device has been awaited, however many there are */
            *s = head;
            s->gate = TRUE;
            s->gate_fenced = body.n_known > head.n_known && body.known[head.n_known].fenced;
            return;
        }
        body.n_known = MIN(body.n_known, head.n_known);
        body.stale |= body.fresh & ~outer;
        body.fresh &= outer;
        State next = join(&head, &body);
        /* a round adds what it leaves behind: no path is without it but that of no round at all */
        next.some = head.some || (rounds >= 1 && body.some) || (head.flying & ~body.flying) != 0 ||
                    (head.fresh & ~body.fresh) != 0 || (head.stale & ~body.stale) != 0;
        next.some |= rounds < 2 && !equal_puts(&next, &head);
        const gboolean same = equal(&next, &head);
        head = next;
        if (same)
            break;
        if (turn == MOST_TURNS) {
            ws_mesh_open(o->M, NULL, "the rounds of %s do not settle", t->step ? t->step : "?");
            break;
        }
    }
    *s = head;
}

static void walk(Order *o, State *s, const WsTree *t)
{
    if (!t)
        return;
    switch (t->kind) {
    case WS_TREE_SEQ:
        for (guint i = 0; i < t->n_kids; i++)
            walk(o, s, t->kid[i]);
        return;
    case WS_TREE_LOOP:
        walk_loop(o, s, t);
        return;
    case WS_TREE_BRANCH: {
        const gint side = ws_mesh_side(o->M, t);
        const gboolean some = s->some;
        if (side >= 0) {
            walk(o, s, side ? t->kid[0] : t->n_kids > 1 ? t->kid[1] : NULL);
            return;
        }
        State yes = *s, no = *s;
        yes.some = no.some = TRUE; /* whether it is ever taken is not known */
        if (t->n_kids > 0)
            walk(o, &yes, t->kid[0]);
        if (t->n_kids > 1)
            walk(o, &no, t->kid[1]);
        yes.n_known = MIN(yes.n_known, s->n_known);
        no.n_known = MIN(no.n_known, s->n_known);
        yes.some = no.some = some;
        *s = join(&yes, &no);
        return;
    }
    case WS_TREE_OP:
        do_op(o, s, t->op);
        return;
    }
}

void ws_mesh_order(WsMeshCheck *M)
{
    Order o = { .M = M,
                .put = g_array_new(FALSE, TRUE, sizeof(WsMeshPut)),
                .load = g_array_new(FALSE, TRUE, sizeof(WsMeshLoad)),
                .get = g_ptr_array_new(),
                .number = g_new0(guint, M->p->n_ops + 1) };
    for (guint a = 0; a < M->p->n_agents; a++) {
        State s;
        memset(&s, 0, sizeof s);
        o.first = o.put->len;
        walk(&o, &s, M->p->agent[a].body);
        for (guint i = 0; i < WS_MESH_PUTS && o.first + i < o.put->len; i++)
            if ((s.fresh | s.stale) >> i & 1)
                ws_mesh_unnotified(M, nth(&o, o.first + i), s.some, M->p->agent[a].name);
    }
    for (guint i = 0; i < o.put->len; i++) {
        const WsMeshPut *put = nth(&o, i);
        const gboolean output = M->p->tensor[put->put->op->tensor].access != WS_ACCESS_EXCHANGE;
        for (guint k = 0; k < put->notify->len && output; k++)
            ws_mesh_awaited(M, put, put->notify->pdata[k]);
        for (guint k = 0; k < o.load->len && !output; k++)
            if (g_array_index(o.load, WsMeshLoad, k).load->op->tensor == put->put->op->tensor)
                ws_mesh_covered(M, &g_array_index(o.load, WsMeshLoad, k), put);
    }
    for (guint i = 0; i < o.get->len; i++)
        ws_mesh_kept(M, o.get->pdata[i]);
    for (guint i = 0; i < o.put->len; i++)
        g_ptr_array_unref(nth(&o, i)->notify);
    g_array_unref(o.put);
    g_array_unref(o.load);
    g_ptr_array_unref(o.get);
    g_free(o.number);
}
