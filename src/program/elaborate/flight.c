#include "program/flight.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/retired.h"
#include "program/parts/transfer.h"
#include "program/parts/value.h"
#include "program/program.h"

#include <string.h>

/* What every wait for groups retires (PTX ISA: wgmma, cp.async.bulk and cp.async groups). The body
 * of each agent is followed with the set of queues that its histories leave: a branch goes both
 * ways, a loop until a further round adds no queue. All of the agent's threads (the leader alone,
 * for stores) run the same path, so its queues are those of one thread. */

typedef struct {
    WsElab *E;
    WsFlightShape shape;
} Flight;

static WsDeed deed(const Flight *f, const WsOp *op)
{
    return ws_op_queue(op->kind) == f->shape.queue ? ws_op_row(op->kind)->deed : WS_DEED_NONE;
}

/* --- sets of operations ----------------------------------------------------------------------- */

static gboolean has(const guint64 *set, guint op)
{
    return set[op / 64] >> op % 64 & 1;
}

static guint number(const Flight *f, const WsOp *op)
{
    guint i = 0;
    gboolean found = g_ptr_array_find(f->shape.op, op, &i);
    g_assert(found);
    return i;
}

typedef struct {
    GPtrArray *op; /* in order of adding */
    guint64 *seen;
} List;

static void list_add(const Flight *f, List *l, const guint64 *set)
{
    for (guint i = 0; i < f->shape.words; i++) {
        for (guint64 left = set[i] & ~l->seen[i]; left; left &= left - 1)
            g_ptr_array_add(l->op, f->shape.op->pdata[64 * i + (guint)g_bit_nth_lsf(left, -1)]);
        l->seen[i] |= set[i];
    }
}

static const WsOp **list_end(const Flight *f, List *l, guint *n)
{
    *n = l->op->len;
    const WsOp **list = ws_arena_new0(f->E->arena, const WsOp *, MAX(*n, 1));
    if (*n)
        memcpy((gpointer)list, l->op->pdata, sizeof(gpointer) * *n);
    g_ptr_array_unref(l->op);
    g_free(l->seen);
    return list;
}

static List list_begin(const Flight *f)
{
    return (List){ g_ptr_array_new(), g_new0(guint64, f->shape.words) };
}

/* --- registers ---------------------------------------------------------------------------------
 */

/* A product of the set has registers of the value, in the same way. */
static gboolean in_use(Flight *f, const guint64 *set, const WsValueUse *of)
{
    for (guint i = 0; i < f->shape.op->len; i++) {
        const WsOp *op = f->shape.op->pdata[i];
        for (guint k = 0; has(set, i) && k < op->n_value; k++) {
            if (op->value[k].value == of->value && op->value[k].mode == of->mode)
                return TRUE;
        }
    }
    return FALSE;
}

/* The part of a value that a product frees: the whole value if nothing of it stays in use, or where
 * the part depends on a loop. */
static WsValueUse part_of(Flight *f, const WsOp *op, const WsValueUse *u, const guint64 *stays)
{
    const WsRegValue *v = &f->E->p->agent[op->agent].value[u->value];
    WsValueUse part = *u;
    gint64 row, col;
    if (in_use(f, stays, u) && ws_elab_is_int(u->row0, &row) && ws_elab_is_int(u->col0, &col))
        return part;
    part.row0 = part.col0 = ws_elab_int(f->E, 0);
    part.rows = v->rows;
    part.cols = v->cols;
    return part;
}

/* Every register of b is one of a. Both have literal starts. */
static gboolean covers(const WsValueUse *a, const WsValueUse *b)
{
    gint64 ar = 0, ac = 0, br = 0, bc = 0;
    ws_elab_is_int(a->row0, &ar);
    ws_elab_is_int(a->col0, &ac);
    ws_elab_is_int(b->row0, &br);
    ws_elab_is_int(b->col0, &bc);
    return a->value == b->value && a->mode == b->mode && ar <= br && ac <= bc &&
           br + b->rows <= ar + a->rows && bc + b->cols <= ac + a->cols;
}

static gboolean is_literal(const WsValueUse *u)
{
    gint64 at;
    return ws_elab_is_int(u->row0, &at) && ws_elab_is_int(u->col0, &at);
}

/* A product that stays in flight has these registers, whichever round it is of. */
static gboolean held(Flight *f, const guint64 *stays, const WsValueUse *part)
{
    for (guint i = 0; i < f->shape.op->len; i++) {
        const WsOp *op = f->shape.op->pdata[i];
        for (guint k = 0; has(stays, i) && k < op->n_value; k++) {
            if (is_literal(&op->value[k]) && covers(&op->value[k], part))
                return TRUE;
        }
    }
    return FALSE;
}

static void free_part(GArray *freed, const WsValueUse *part)
{
    for (guint i = 0; i < freed->len; i++) {
        if (covers(&g_array_index(freed, WsValueUse, i), part))
            return;
    }
    for (guint i = freed->len; i-- > 0;) {
        if (covers(part, &g_array_index(freed, WsValueUse, i)))
            g_array_remove_index(freed, i);
    }
    g_array_append_val(freed, *part);
}

static void free_registers(Flight *f, GArray *freed, const guint64 *retired, const guint64 *stays)
{
    for (guint i = 0; i < f->shape.op->len; i++) {
        const WsOp *op = f->shape.op->pdata[i];
        for (guint k = 0; has(retired, i) && ws_op_is_product(op->kind) && k < op->n_value; k++) {
            WsValueUse part = part_of(f, op, &op->value[k], stays);
            if (!held(f, stays, &part))
                free_part(freed, &part);
        }
    }
}

/* --- waits -------------------------------------------------------------------------------------
 */

typedef struct {
    List retired;
    guint64 *always; /* on all paths */
    gint64 exact, most, least, bytes;
    gboolean settled, differs;
    GArray *freed; /* WsValueUse */
} Facts;

static void see_stay(Facts *x, gint64 stay, gboolean reached)
{
    x->differs |= stay < 0 || (reached && x->settled && stay != x->exact);
    x->most = MAX(x->most, stay);
    if (reached || stay < 0)
        x->least = MIN(x->least, MAX(stay, 0));
    if (reached)
        x->exact = stay;
    x->settled |= reached;
}

/* Bytes of the newest n groups; 0 where they cannot be told. A group has each of its operations
 * once at least. */
static gint64 newest_bytes(Flight *f, guint64 *queue, gint64 n)
{
    const WsFlightHead *head = ws_flight_head(queue);
    gint64 bytes = 0;
    for (guint g = 0; !head->lost && g < MIN((guint64)n, head->n_groups); g++) {
        const guint64 *set = ws_flight_group(&f->shape, queue, g) + 1;
        for (guint i = 0; i < f->shape.op->len; i++)
            if (has(set, i))
                bytes += ((const WsOp *)f->shape.op->pdata[i])->bytes;
    }
    return bytes;
}

/* Does to every queue what the wait does; what it finds goes to the operation. */
static void wait(Flight *f, WsOp *op, WsFlightSet *s)
{
    const guint words = f->shape.words;
    g_autofree guint64 *retired = g_new(guint64, words), *stays = g_new(guint64, words);
    Facts x = { .retired = list_begin(f),
                .always = g_new(guint64, words),
                .least = G_MAXINT64,
                .bytes = G_MAXINT64,
                .freed = g_array_new(FALSE, FALSE, sizeof(WsValueUse)) };
    memset(x.always, 0xff, sizeof(guint64) * words);
    for (guint i = 0; i < s->n; i++) {
        guint64 *queue = ws_flight_at(s, i);
        gboolean reached, lost = ws_flight_head(queue)->lost;
        const gint64 bytes = newest_bytes(f, queue, op->n);
        gint64 stay = ws_flight_wait(&f->shape, queue, op->n, retired, stays, &reached);
        see_stay(&x, stay, reached);
        if (reached || stay < 0)
            x.bytes = MIN(x.bytes, bytes);
        list_add(f, &x.retired, retired);
        for (guint k = 0; k < words; k++)
            x.always[k] &= retired[k] & ~stays[k];
        if (lost)
            memset(stays, 0, sizeof(guint64) * words);
        free_registers(f, x.freed, retired, stays);
    }
    ws_flight_tidy(s);
    WsWait *w = op->wait = ws_arena_new0(f->E->arena, WsWait, 1);
    const WsOp **list = list_end(f, &x.retired, &w->n_retired);
    w->retired = ws_arena_new0(f->E->arena, WsRetired, MAX(w->n_retired, 1));
    for (guint i = 0; i < w->n_retired; i++)
        w->retired[i] = (WsRetired){ list[i], !has(x.always, number(f, list[i])) };
    x.differs |= x.settled && x.most > x.exact;
    w->stay = x.differs ? -1 : x.settled ? x.exact : x.most;
    w->least = x.least == G_MAXINT64 ? MAX(w->stay, 0) : x.least;
    w->stay_bytes = x.bytes == G_MAXINT64 ? -1 : x.bytes;
    w->n_freed = x.freed->len;
    w->freed = ws_arena_new0(f->E->arena, WsValueUse, MAX(w->n_freed, 1));
    if (w->n_freed)
        memcpy(w->freed, x.freed->data, sizeof(WsValueUse) * w->n_freed);
    g_array_unref(x.freed);
    g_free(x.always);
}

static void see_flying(Flight *f, WsOp *op, const WsFlightSet *s)
{
    List l = list_begin(f);
    for (guint i = 0; i < s->n; i++) {
        guint64 *queue = ws_flight_at(s, i);
        list_add(f, &l, ws_flight_rest(&f->shape, queue));
        for (guint k = (guint)ws_flight_head(queue)->n_groups; k-- > 0;)
            list_add(f, &l, ws_flight_group(&f->shape, queue, k) + 1);
        list_add(f, &l, ws_flight_open(&f->shape, queue));
    }
    op->flying = list_end(f, &l, &op->n_flying);
}

static void one(Flight *f, WsOp *op, WsFlightSet *s)
{
    const WsDeed does = deed(f, op);
    if (f->shape.queue == WS_QUEUE_MMA)
        see_flying(f, op, s);
    if (does == WS_DEED_RETIRE)
        wait(f, op, s);
    for (guint i = 0; i < s->n; i++) {
        if (does == WS_DEED_ISSUE) /* further boxes of a step are no steps */
            ws_flight_issue(&f->shape, ws_flight_at(s, i), number(f, op),
                            !op->transfer || op->transfer->box[0] == op);
        else if (does == WS_DEED_CLOSE)
            ws_flight_commit(&f->shape, ws_flight_at(s, i));
    }
    if (does == WS_DEED_ISSUE || does == WS_DEED_CLOSE)
        ws_flight_tidy(s);
}

/* --- control -----------------------------------------------------------------------------------
 */

static void flow(Flight *f, const WsTree *t, WsFlightSet *s);

static void branch(Flight *f, const WsTree *t, WsFlightSet *s)
{
    const WsTree *otherwise = t->n_kids > 1 ? t->kid[1] : NULL;
    gint64 known;
    if (ws_elab_is_int(t->cond, &known)) {
        if (known || otherwise)
            flow(f, known ? t->kid[0] : otherwise, s);
        return;
    }
    WsFlightSet other = ws_flight_set_copy(s);
    flow(f, t->kid[0], s);
    if (otherwise)
        flow(f, otherwise, &other);
    ws_flight_join(s, &other);
    ws_flight_set_clear(&other);
}

static void loop(Flight *f, const WsTree *t, WsFlightSet *s)
{
    gint64 count = 0;
    gboolean fixed = t->over == WS_OVER_COUNT && ws_elab_is_int(t->count, &count), more = TRUE;
    if (fixed && count <= 0)
        return;
    while (more) { /* s: what rounds may begin with */
        WsFlightSet round = ws_flight_set_copy(s);
        flow(f, t->kid[0], &round);
        more = ws_flight_join(s, &round);
        if (!more && fixed) { /* a round is made: what it leaves, not what it begins with */
            ws_flight_set_clear(s);
            *s = round;
        } else {
            ws_flight_set_clear(&round);
        }
    }
}

static void flow(Flight *f, const WsTree *t, WsFlightSet *s)
{
    if (!t)
        return;
    if (t->kind == WS_TREE_OP)
        one(f, t->op, s);
    else if (t->kind == WS_TREE_BRANCH)
        branch(f, t, s);
    else if (t->kind == WS_TREE_LOOP)
        loop(f, t, s);
    else
        for (guint i = 0; i < t->n_kids; i++)
            flow(f, t->kid[i], s);
}

/* Operations of the queue, and how many groups its waits tell apart. */
static void measure(Flight *f, const WsTree *t, gboolean *waits)
{
    if (!t)
        return;
    if (t->op && deed(f, t->op) == WS_DEED_ISSUE)
        g_ptr_array_add(f->shape.op, t->op);
    if (t->op && deed(f, t->op) == WS_DEED_RETIRE) {
        f->shape.groups = MAX(f->shape.groups, (guint)MIN(t->op->n, WS_FLIGHT_GROUPS));
        t->op->wait = ws_arena_new0(f->E->arena, WsWait, 1); /* of one that no path reaches */
        *waits = TRUE;
    }
    for (guint i = 0; i < t->n_kids; i++)
        measure(f, t->kid[i], waits);
}

void ws_elab_flights(WsElab *E)
{
    for (guint a = 0; a < E->p->n_agents; a++) {
        const WsTree *body = E->p->agent[a].body;
        for (gint q = 0; q < WS_QUEUES; q++) {
            Flight f = { .E = E, .shape = { .queue = q, .op = g_ptr_array_new() } };
            gboolean waits = FALSE;
            measure(&f, body, &waits);
            if (f.shape.op->len || waits) {
                WsFlightSet s;
                f.shape.words = f.shape.op->len / 64 + 1;
                f.shape.size = ws_flight_words(&f.shape);
                ws_flight_set_init(&s, &f.shape);
                flow(&f, body, &s);
                ws_flight_set_clear(&s);
            }
            g_ptr_array_unref(f.shape.op);
        }
    }
}
