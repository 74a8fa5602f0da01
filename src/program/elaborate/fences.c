#include "program/elaborate/elab.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/program.h"
#include "target/target.h"

#include <stdlib.h>

/* Derived proxy fences F2, F3, F4 (LANGUAGE section 13); F1 is made with each mma. A fence is put
 * before the first operation that must not come before it; what is pending flows along the tree,
 * around loops too. */

typedef enum { F2, F3, F4, N_PENDING } Pending;

typedef struct {
    const WsOp *source[N_PENDING];
} State;

typedef struct {
    WsElab *E;
    GArray *touched;    /* bytes that the async proxy reads, or that loads write (F2) */
    GArray *loaded;     /* bytes that loads and copies write (F4) */
    gboolean *gathered; /* per barrier: signalled by a gather */
    gboolean *written;  /* per barrier: signalled by a remote write of bytes that an engine reads */
    gboolean emit;
} Fences;

/* --- bytes ---------------------------------------------------------------------------------- */

/* Absolute ranges of a view in all its stages (all elements, rows, columns where not constant). */
static void ranges(WsElab *E, const WsAccess *a, GArray *out)
{
    const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, a->buffer);
    gint64 element, row, col;
    gboolean known = ws_elab_is_int(a->element, &element);
    guint first = known ? (guint)element : 0, end = known ? first + 1 : b->array, n = 1;
    WsRange whole = { 0, b->stage_bytes }, *part = &whole;
    g_autofree WsRange *many = NULL;
    if (ws_elab_is_int(a->row0, &row) && ws_elab_is_int(a->col0, &col)) {
        n = ws_buffer_ranges(b, (guint)row, a->rows, (guint)col, a->cols, NULL, 0);
        part = many = g_new(WsRange, n);
        ws_buffer_ranges(b, (guint)row, a->rows, (guint)col, a->cols, many, n);
    }
    for (guint e = first; e < end; e++)
        for (guint s = 0; s < b->stages; s++)
            for (guint i = 0; i < n; i++) {
                WsRange r = { b->offset + e * b->array_pitch + s * b->stage_pitch + part[i].offset,
                              part[i].bytes };
                g_array_append_val(out, r);
            }
}

static int by_offset(const void *a, const void *b)
{
    guint64 x = ((const WsRange *)a)->offset, y = ((const WsRange *)b)->offset;
    return x < y ? -1 : x > y;
}

static void merge(GArray *list)
{
    WsRange *r = (WsRange *)(gpointer)list->data;
    guint n = 0;
    if (list->len == 0)
        return;
    qsort(r, list->len, sizeof(WsRange), by_offset);
    for (guint i = 1; i < list->len; i++) {
        if (r[i].offset <= r[n].offset + r[n].bytes)
            r[n].bytes = MAX(r[n].offset + r[n].bytes, r[i].offset + r[i].bytes) - r[n].offset;
        else
            r[++n] = r[i];
    }
    g_array_set_size(list, n + 1);
}

static gboolean meets(WsElab *E, const WsAccess *a, const GArray *list)
{
    g_autoptr(GArray) own = g_array_new(FALSE, FALSE, sizeof(WsRange));
    ranges(E, a, own);
    for (guint i = 0; i < own->len; i++) {
        const WsRange *x = &g_array_index(own, WsRange, i);
        for (guint k = 0; k < list->len; k++) {
            const WsRange *y = &g_array_index(list, WsRange, k);
            if (x->offset < y->offset + y->bytes && y->offset < x->offset + x->bytes)
                return TRUE;
        }
    }
    return FALSE;
}

gboolean ws_accesses_overlap(WsElab *E, const WsAccess *a, const WsAccess *b)
{
    g_autoptr(GArray) of_b = g_array_new(FALSE, FALSE, sizeof(WsRange));
    ranges(E, b, of_b);
    return meets(E, a, of_b);
}

static void collect(Fences *F)
{
    WsElab *E = F->E;
    for (guint i = 0; i < E->ops->len; i++) {
        const WsOp *op = g_ptr_array_index(E->ops, i);
        if (op->kind == WS_OP_CP_ARRIVE)
            F->gathered[op->barrier] = TRUE;
        for (guint k = 0; k < op->n_access; k++) {
            const WsAccess *a = &op->access[k];
            if (a->proxy != WS_PROXY_ASYNC || op->kind == WS_OP_ST_REMOTE)
                continue; /* st.async writes through the generic proxy */
            ranges(E, a, F->touched);
            if (a->mode & WS_MODE_WRITE)
                ranges(E, a, F->loaded);
        }
    }
    merge(F->touched);
    merge(F->loaded);
    for (guint i = 0; i < E->ops->len; i++) {
        const WsOp *op = g_ptr_array_index(E->ops, i);
        if (op->kind == WS_OP_ST_REMOTE && op->barrier >= 0 && op->n_access &&
            meets(E, &op->access[0], F->touched))
            F->written[op->barrier] = TRUE;
    }
}

/* --- flow ----------------------------------------------------------------------------------- */

static gboolean triggers(const WsOp *op, Pending pending)
{
    static const WsOrders bit[N_PENDING] = { WS_ORDERS_F2, WS_ORDERS_F3, WS_ORDERS_F4 };
    return (ws_op_row(op->kind)->orders & bit[pending]) != 0;
}

static const WsOp *wanted(const State *s, const WsOp *op)
{
    for (guint i = 0; i < N_PENDING; i++)
        if (s->source[i] && triggers(op, (Pending)i))
            return s->source[i];
    return NULL;
}

/* The first operation in a subtree that needs a fence for what is pending. */
static const WsOp *wanted_inside(const State *s, const WsTree *t)
{
    if (!t)
        return NULL;
    const WsOp *source = t->op ? wanted(s, t->op) : NULL;
    for (guint i = 0; !source && i < t->n_kids; i++)
        source = wanted_inside(s, t->kid[i]);
    return source;
}

/* Returns how many trees were put before position `at`. */
static guint fence(Fences *F, WsTree *seq, guint at, const WsOp *source, State *s)
{
    static const State nothing;
    *s = nothing;
    if (!F->emit)
        return 0;
    WsElab *E = F->E;
    WsOp *op = ws_op_new(E, WS_OP_FENCE_ASYNC, ws_arena_printf(E->arena, "%s#fence", source->step),
                         source->step, source->step_kind);
    op->agent = source->agent;
    op->derived = TRUE;
    op->breadth = seq->leader ? WS_BREADTH_LEADER : WS_BREADTH_GROUP;
    ws_op_label(E, op, "fence async");
    WsTree *leaf = ws_tree_op(E, op);
    leaf->leader = seq->leader;
    ws_tree_insert(E, seq, at, leaf);
    return 1;
}

static void after(Fences *F, const WsOp *op, State *s)
{
    static const State nothing;
    WsElab *E = F->E;
    if (op->kind == WS_OP_FENCE_ASYNC)
        *s = nothing;
    if (ws_op_waits_phase(op->kind) && op->barrier >= 0 && F->gathered[op->barrier])
        s->source[F3] = op;
    if (ws_op_waits_phase(op->kind) && op->barrier >= 0 && F->written[op->barrier] &&
        !s->source[F2])
        s->source[F2] = op;
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *a = &op->access[i];
        if (a->proxy != WS_PROXY_GENERIC || op->kind == WS_OP_CP_ROWS)
            continue;
        if ((a->mode & WS_MODE_WRITE) && !s->source[F2] && meets(E, a, F->touched))
            s->source[F2] = op;
        if ((a->mode & WS_MODE_READ) && E->war && !s->source[F4] && meets(E, a, F->loaded))
            s->source[F4] = op;
    }
}

static void join(State *s, const State *other)
{
    for (guint i = 0; i < N_PENDING; i++)
        if (!s->source[i])
            s->source[i] = other->source[i];
}

static void flow(Fences *F, WsTree *t, State *s);

static void flow_seq(Fences *F, WsTree *seq, State *s)
{
    for (guint i = 0; i < seq->n_kids; i++) {
        WsTree *kid = seq->kid[i];
        if (!kid)
            continue;
        const WsOp *source = NULL;
        if (kid->op)
            source = wanted(s, kid->op);
        else if (kid->leader && !seq->leader) /* all writers fence, not the leader alone */
            source = wanted_inside(s, kid);
        if (source)
            i += fence(F, seq, i, source, s);
        if (kid->op)
            after(F, kid->op, s);
        else
            flow(F, kid, s);
    }
}

static void flow(Fences *F, WsTree *t, State *s)
{
    if (t->kind == WS_TREE_SEQ) {
        flow_seq(F, t, s);
    } else if (t->kind == WS_TREE_LOOP) {
        State round = *s;
        gboolean emit = F->emit;
        F->emit = FALSE;
        flow_seq(F, t->kid[0], &round);
        F->emit = emit;
        join(&round, s);
        flow_seq(F, t->kid[0], &round);
        join(s, &round);
    } else if (t->kind == WS_TREE_BRANCH) {
        State then = *s, other = *s;
        flow_seq(F, t->kid[0], &then);
        if (t->kid[1])
            flow_seq(F, t->kid[1], &other);
        *s = then;
        join(s, &other);
    }
}

void ws_elab_fences(WsElab *E)
{
    if (!E->fences || !E->hw->sync.proxies)
        return;
    Fences F = { .E = E,
                 .touched = g_array_new(FALSE, FALSE, sizeof(WsRange)),
                 .loaded = g_array_new(FALSE, FALSE, sizeof(WsRange)),
                 .gathered = g_new0(gboolean, E->barriers->len + 1),
                 .written = g_new0(gboolean, E->barriers->len + 1),
                 .emit = TRUE };
    collect(&F);
    for (guint a = 0; a < E->p->n_agents; a++) {
        State s = { { NULL } };
        flow(&F, E->p->agent[a].body, &s);
    }
    g_array_free(F.touched, TRUE);
    g_array_free(F.loaded, TRUE);
    g_free(F.gathered);
    g_free(F.written);
}
