/* Accesses at run time: where each lies now, whether what was there before is known, and what it
 * leaves. The cells are those of bits_cells.c. */
#include "check/proof/bits/bits.h"
#include "check/proof/bits/bits_cells.h"
#include "check/touch.h"
#include "program/lanes.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/program.h"

enum { MAX_CORNERS = 512 };

/* Where an access lies, NULL if outside its buffer (an alarm) or met for the first time. */
static const WsBitPlace *resolve(WsBits *b, guint i, const WsBitAccess *x, gint64 corner[2])
{
    gint64 element = 0, stage = 0, use = 0, *row0 = &corner[0], *col0 = &corner[1];
    *row0 = *col0 = 0;
    ws_bit_eval(b, i, &x->element, &element);
    ws_bit_eval(b, i, &x->stage, &stage);
    ws_bit_eval(b, i, &x->row0, row0);
    ws_bit_eval(b, i, &x->col0, col0);
    ws_bit_eval(b, i, &x->use, &use);
    if (b->c->outside)
        return NULL;
    if (use < 0 || element < 0 || element >= x->n_elements || stage < 0 || stage >= x->n_stages ||
        !ws_bit_inside(&b->p->buffer[x->a->buffer], x, *row0, *col0)) {
        ws_bit_alarm(b, WS_RULE_P_UNDEF);
        return NULL;
    }
    guint k = 0, n = x->corner->len;
    const gint64 *at = (const gint64 *)(gconstpointer)x->corner->data;
    while (k < n && (at[2 * k] != *row0 || at[2 * k + 1] != *col0))
        k++;
    if (k == n) {
        g_array_append_vals(x->corner, corner, 1);
        b->recut = TRUE;
        if (n >= MAX_CORNERS)
            ws_bit_outside(b, "too many different ranges of one access");
        return NULL;
    }
    if (b->recut && k >= x->n_cut)
        return NULL;
    return &x->place[(k * x->n_elements + (guint)element) * x->n_stages + (guint)stage];
}

/* Number of what lanes do at one place; 0 (outside the fragment) if there are too many. */
guint16 ws_bit_author_of(WsBits *b, const WsOp *op, const gint64 corner[2])
{
    for (guint k = 0; k < b->author->len; k++) {
        const WsLanesAt *x = &g_array_index(b->author, WsLanesAt, k);
        if (x->op == op && x->row0 == corner[0] && x->col0 == corner[1])
            return (guint16)(k + 1);
    }
    if (b->author->len + 1 >= WS_AUTHOR_MIXED) {
        ws_bit_outside(b, "too many different accesses");
        return 0;
    }
    const WsLanesAt at = { op, corner[0], corner[1] };
    g_array_append_val(b->author, at);
    return (guint16)b->author->len;
}

/* How what lanes did (`code`) and what they do now meet; looked up, because it is asked often. */
static WsLanesMeet lanes_meet(WsBits *b, guint16 code, const WsOp *op, const gint64 corner[2])
{
    guint16 now = ws_bit_author_of(b, op, corner);
    gpointer key = GUINT_TO_POINTER((guint)code << 16 | now);
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(b->meets, key));
    if (known == 0 && now) {
        const WsLanesAt *x = &g_array_index(b->author, WsLanesAt, code - 1),
                        here = { op, corner[0], corner[1] };
        known = 1 + (guint)ws_lanes_meet(b->p, x, &here);
        g_hash_table_insert(b->meets, key, GUINT_TO_POINTER(known));
    }
    return known ? (WsLanesMeet)(known - 1) : WS_LANES_OTHER;
}

/* L-ROW-PRIVATE: every thread meets what it touched itself, or its warp has met since. */
static gboolean private_rows(WsBits *b, guint i, const WsBitOp *o, const WsBitAccess *x,
                             const gint64 corner[2], guint code)
{
    guint16 was = code & WS_AUTHOR_NUMBER;
    if (ws_op_peeks(o->op->kind)) /* an address of the cluster, be it of this CTA */
        return FALSE;
    if (b->agent[ws_bit_agent(b, i)].a->queue >= 0) /* steps of a queue overlap until its barrier */
        return FALSE;
    if (was == 0 || was == WS_AUTHOR_MIXED || code & WS_AUTHOR_FLIES || o->leader || x->more ||
        x->a != &o->op->access[0])
        return FALSE;
    if (g_array_index(b->author, WsLanesAt, was - 1).op->agent != (gint)ws_bit_agent(b, i))
        return FALSE;
    WsLanesMeet least = code & WS_AUTHOR_MET ? WS_LANES_WARP : WS_LANES_SAME;
    return lanes_meet(b, was, o->op, corner) >= least;
}

typedef struct {
    WsBits *b;
    guint i, rank;
    const WsBitOp *o;
    const WsBitAccess *x;
    const WsMask *mask;
    gboolean async;
    gint64 corner[2];
} Touch;

static void check(const Touch *t, guint item)
{
    WsBits *b = t->b;
    guint at = t->rank * b->items_of_rank + item;
    if (b->touch[at] == b->serial)
        return; /* by this operation itself */
    gboolean knows = ws_bit_knows(b, ws_bit_k(b, at), t->mask);
    gboolean own = !knows && t->rank == ws_bit_rank(b, t->i) &&
                   private_rows(b, t->i, t->o, t->x, t->corner, *ws_bit_author(b, t->rank, item));
    if (!knows && !own) {
        ws_bit_alarm(b, WS_RULE_P_RACE);
        return;
    }
    if (t->async && b->q_row[at] >= 0 &&
        !ws_bit_knows(b, ws_bit_q(b, (guint)b->q_row[at]), own ? &b->own_o[t->i] : t->mask))
        ws_bit_alarm(b, WS_RULE_P_PROXY);
}

static void note(WsBits *b, guint at, guint16 *touched, guint *n, guint max)
{
    if (b->touch[at] == b->serial)
        return;
    b->touch[at] = b->serial;
    if (*n < max)
        touched[(*n)++] = (guint16)at;
    else
        ws_bit_outside(b, "an operation touches too many pieces of shared memory");
}

static void write_cell(const Touch *t, guint cell, guint16 *touched, guint *n, guint max)
{
    WsBits *b = t->b;
    guint base = t->rank * b->items_of_rank;
    const WsBitCell *c = &b->cell[cell];
    for (guint k = c->first; k < (guint)c->first + c->n; k++) {
        check(t, k);
        guint at = base + k;
        if (b->touch[at] == b->serial)
            ws_bit_alarm(b, WS_RULE_P_RACE); /* L-SELF: it overwrites what it still reads */
        if (b->touch[at] == b->serial)       /* a read of this operation that the write replaces */
            for (guint m = 0; m < *n; m++)
                if (touched[m] == at)
                    touched[m] = touched[--*n];
        b->touch[at] = 0;
        ws_bit_fill(b, ws_bit_k(b, at), G_MAXUINT64);
        if (b->q_row[at] >= 0)
            ws_bit_fill(b, ws_bit_q(b, (guint)b->q_row[at]), G_MAXUINT64);
        *ws_bit_author(b, t->rank, k) = 0;
    }
    guint bit = t->rank * b->n_cells + cell;
    ws_bit_raw(b)[b->o_written + bit / 64] |= 1ull << (bit % 64);
    if (b->claims)
        *ws_bit_claimed(b, t->rank, cell) = WS_NO_TILE;
    note(b, base + cell, touched, n, max);
}

/* L-ATOMIC: atomics stand among the reads of a cell. An add and a max ask for each other. */
static void check_readers(const Touch *t, guint cell, guint64 classes)
{
    const WsBitCell *c = &t->b->cell[cell];
    for (guint64 left = c->readers & classes; left; left &= left - 1)
        check(t, ws_bit_item_of(c, (guint)__builtin_ctzll(left)));
}

/* L-TILE: a slot holds the tile that was claimed in one round, and is taken in the same round.
 * L-CLOSE: a slot says that it is a round, or the end, where it is asked for that. */
void ws_bit_claim(WsBits *b, guint i, const WsBitOp *o)
{
    gint64 corner[2], position = ws_bit_inst(b, i)->position;
    for (guint k = 0; k < o->n_access; k++) {
        const WsBitPlace *p = resolve(b, i, &o->access[k], corner);
        for (guint c = 0; p && c < p->n; c++) {
            gint64 *held = ws_bit_claimed(b, ws_bit_rank(b, i), p->cell[c]);
            if (o->kind == WS_OP_CLAIM)
                *held = position;
            else if (ws_op_tells(o->op->kind))
                *held = WS_TOLD - o->op->n;
            else if (*held != (ws_op_asks(o->op->kind) ? WS_TOLD - o->op->n : position))
                ws_bit_alarm(b, ws_op_asks(o->op->kind) ? WS_RULE_P_CLOSE : WS_RULE_P_TILE);
        }
    }
}

/* Checks all accesses that have `modes` in CTA `rank`; the items they make new are returned. */
void ws_bit_touch(WsBits *b, guint i, const WsBitOp *o, guint rank, guint modes, guint16 *touched,
                  guint *n, guint max)
{
    Touch t = { .b = b, .i = i, .rank = rank, .o = o };
    t.mask = o->leader ? &b->lead[i] : &b->know[i];
    guint base = rank * b->items_of_rank;
    const guint atomic = ws_combination(b->p, o->op);
    for (guint k = 0; k < o->n_access; k++) {
        const WsBitAccess *x = &o->access[k];
        if (!(x->a->mode & modes))
            continue;
        t.x = x;
        t.async = ws_goes_async(o->op, x->a);
        const WsBitPlace *p = resolve(b, i, x, t.corner);
        for (guint c = 0; p && c < p->n; c++) {
            guint cell = p->cell[c], bit = rank * b->n_cells + cell;
            check(&t, cell);
            if (x->a->mode & WS_MODE_READ && !ws_op_reads_nothing(o->op->kind) &&
                !(ws_bit_raw(b)[b->o_written + bit / 64] >> (bit % 64) & 1))
                ws_bit_alarm(b, WS_RULE_P_UNDEF);
            if (x->a->mode & WS_MODE_WRITE && !atomic) { /* asks for all readers */
                write_cell(&t, cell, touched, n, max);
                continue;
            }
            check_readers(&t, cell, atomic ? ~b->atomics[atomic] : b->atomics[0]);
            note(b, base + p->read[c] + (x->n_readers > 1 ? b->target : 0), touched, n, max);
        }
        b->last[0] = t.corner[0], b->last[1] = t.corner[1];
    }
}
