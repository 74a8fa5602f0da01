#include "import/ptx/finish.h"

#include <string.h>

/* Threads of one group that access the same bytes of shared memory, one of them by a store or a
 * copy of cp.async, with nothing between that they meet at. Steps of a design are what a whole
 * group does: the check of a design sees nothing of it. A wait for an mbarrier is no meeting:
 * nothing says that the others arrived there. */

#define STORES  "stores of several lanes to the same bytes"
#define COPIES  "copies of cp.async that several threads write to the same bytes"
#define LANES   "copies of cp.async of which is not known what bytes each thread writes"
#define BETWEEN "bytes that one thread writes and another one reads with no barrier of both between"
#define READS                                                                                      \
    "reads and writes with no barrier between of which is not known what bytes each thread "       \
    "touches"

/* What was accessed, and nobody met the others since. */
typedef struct {
    WsReadStep *s;
    const WsExpr *at;
    gboolean warp;  /* a barrier of the warp lies behind */
    gboolean stale; /* what the address counts by has changed since */
} Open;

typedef struct {
    PtxFinish *f;
    GPtrArray *body;  /* of the group */
    GArray *open;     /* Open */
    GPtrArray *ahead; /* const char*: loops that are looked at in the round after the first */
    guint waited;     /* the first so many: copies among them are complete, for their own thread */
    guint arrived;    /* … were there before this thread arrived at the barrier of the cluster */
} Collide;

static const PtxPiece *piece_at(const PtxOperand *o, guint i)
{
    return &g_array_index(o->pieces, PtxPiece, i);
}

#define TWINS "warps that compute the same value may all store it to the same bytes"

/* More bytes than there are between the first and the last, or two threads at the same ones. Those
 * of warps that store the same there (lanes_twin.c) are one, if `twins`. */
static gboolean in_itself(Collide *c, const PtxOperand *o, gboolean twins)
{
    gboolean shares = FALSE, twice = FALSE;
    if (!o->pieces)
        return o->touched > o->to - o->from;
    for (guint i = 1; i < o->pieces->len; i++) {
        const PtxPiece *a = piece_at(o, i - 1), *b = piece_at(o, i);
        const gboolean same = twins && a->at == b->at && a->value == b->value;
        shares |= !same && b->at < a->at + o->piece;
        twice |= same;
    }
    if (twice && !shares)
        ws_source_granted(c->f->r, TWINS);
    return shares;
}

/* Threads that need no barrier: one after its own bytes, or those of a warp that met. */
typedef enum { NOBODY, THREAD, WARP } Own;

/* Bytes of both, `d` apart. */
static gboolean share(const PtxOperand *a, const PtxOperand *b, gint64 d, Own own)
{
    for (guint i = 0, first = 0; i < a->pieces->len; i++) {
        const PtxPiece *x = piece_at(a, i);
        while (first < b->pieces->len && piece_at(b, first)->at + d + b->piece <= x->at)
            first++;
        for (guint k = first; k < b->pieces->len; k++) {
            const PtxPiece *y = piece_at(b, k);
            if (y->at + d >= x->at + a->piece)
                break;
            if (own == NOBODY || (own == THREAD && x->tid != y->tid) || x->tid / 32 != y->tid / 32)
                return TRUE;
        }
    }
    return FALSE;
}

static void lose(Collide *c, WsReadStep *s, gboolean copies, const char *what)
{
    if (copies) /* what waits for them would be wrong, too */
        ptx_lose_at(c->f, s->line, what);
    else
        ptx_make_opaque(c->f, s, what);
}

static gboolean is_copy(const WsReadStep *s)
{
    return s->kind == WS_READ_GATHER;
}

static gboolean clear_of(const PtxOperand *a, const PtxOperand *b, gint64 d)
{
    return d + b->from >= a->to || d + b->to <= a->from;
}

/* How far b lies behind a; FALSE: it is not known. `apart`: they share no byte in any case. */
static gboolean distance(Collide *c, const Open *before, const PtxOperand *a, const WsExpr *behind,
                         const PtxOperand *b, gint64 *d, gboolean *apart)
{
    const WsExpr *at = before->at;
    PtxSpot x, y;
    gint64 turn;
    if (!before->stale && ws_x_difference(at, behind, d)) {
        *apart = clear_of(a, b, *d);
        return TRUE;
    }
    *apart = FALSE;
    if (!ptx_spot(c->f->r, at, &x) || !ptx_spot(c->f->r, behind, &y) || x.open || y.open ||
        x.per_cta || y.per_cta)
        return FALSE;
    *d = y.base - x.base;
    if (!before->stale && x.n > 1 && x.n == y.n && x.stride == y.stride &&
        ws_x_difference(x.index->arg[0], y.index->arg[0], &turn)) {
        turn = (turn % x.n + x.n) % x.n;
        *apart = clear_of(a, b, *d + turn * x.stride) &&
                 (!turn || clear_of(a, b, *d + (turn - x.n) * x.stride));
        return !turn;
    }
    *apart = x.base + (x.n - 1) * x.stride + a->to <= y.base + b->from ||
             y.base + (y.n - 1) * y.stride + b->to <= x.base + a->from;
    return FALSE;
}

static gboolean is_matrix(const PtxFinish *f, const WsReadStep *s)
{
    return ptx_operand_of(f->w, &s->buffer)->matrix;
}

/* A read and a write, whichever is first. */
static gboolean handed_on(Collide *c, const Open *before, const WsReadStep *s, gint64 d,
                          gboolean known)
{
    const PtxOperand *p = ptx_operand_of(c->f->w, &before->s->buffer),
                     *o = ptx_operand_of(c->f->w, &s->buffer);
    const char *what = !known || !p->pieces || !o->pieces ? READS
                       : share(p, o, d,
                               before->warp                                       ? WARP
                               : is_matrix(c->f, before->s) || is_matrix(c->f, s) ? NOBODY
                                                                                  : THREAD)
                           ? BETWEEN
                           : NULL;
    if (what) { /* what is found beside it stays true */
        ws_source_step(c->f->r, c->body, WS_READ_OPAQUE, s->line, 1, s->line);
        ws_source_unread(c->f->r, s->line, 1, s->line, what, "");
    }
    return what != NULL;
}

static const WsExpr *address_of(Collide *c, const WsReadStep *s)
{
    WsRead *r = c->f->r;
    const WsExpr *e = s->buffer.index;
    for (guint i = 0; i < c->ahead->len; i++) {
        const char *loop = g_ptr_array_index(c->ahead, i);
        if (ws_expr_mentions(e, loop))
            e = ws_x_replace(r, e, loop,
                             ws_x_op(r, WS_EXPR_ADD, ws_x_name(r, loop), ws_x_int(r, 1)));
    }
    return e;
}

static void one(Collide *c, WsReadStep *s)
{
    const PtxOperand *o = ptx_operand_of(c->f->w, &s->buffer);
    const gboolean reads = s->kind == WS_READ_READ;
    if (!s->buffer.index)
        return; /* its place is not known: that is said elsewhere */
    const Open now = { .s = s, .at = address_of(c, s) };
    if (is_copy(s) && !o->pieces)
        lose(c, s, TRUE, LANES);
    if (!reads && in_itself(c, o, !is_copy(s))) {
        lose(c, s, is_copy(s), is_copy(s) ? COPIES : STORES);
        return;
    }
    if (!ws_source_works(c->f->r, 20 * (gint64)c->open->len))
        return;
    for (guint i = 0; i < c->open->len; i++) {
        const Open *before = &g_array_index(c->open, Open, i);
        if (!before->s->buffer.index || (reads && before->s->kind == WS_READ_READ))
            continue;
        const PtxOperand *p = ptx_operand_of(c->f->w, &before->s->buffer);
        const gboolean copies = is_copy(s) || is_copy(before->s);
        gint64 d;
        gboolean apart;
        const gboolean known = distance(c, before, p, now.at, o, &d, &apart);
        if (apart)
            continue;
        if (reads && is_copy(before->s))
            continue; /* the check of a design asks for a barrier between these */
        if (reads || before->s->kind == WS_READ_READ) {
            if (handed_on(c, before, s, d, known))
                return;
            continue;
        }
        if (!known)
            continue;
        if (!o->pieces || !p->pieces) {
            if (copies)
                lose(c, s, TRUE, LANES);
            continue;
        }
        if (share(p, o, d, !copies || i < c->waited ? THREAD : NOBODY)) {
            lose(c, s, copies, copies ? COPIES : STORES);
            return;
        }
    }
    g_array_append_val(c->open, now);
}

/* How many of the first open ones all threads of the group have met behind. */
static guint met_behind(Collide *c, const WsReadStep *s)
{
    if (s->kind == WS_READ_SYNC)
        return s->when ? 0 : c->open->len;
    if (s->kind != WS_READ_CLUSTER || s->when)
        return 0;
    const guint met = c->arrived;
    c->arrived = strcmp(s->name, "arrive") ? 0 : c->open->len;
    return c->arrived ? 0 : met;
}

static void meet(Collide *c, guint n)
{
    if (!n)
        return;
    g_array_remove_range(c->open, 0, n);
    c->waited -= MIN(c->waited, n);
    c->arrived -= MIN(c->arrived, n);
}

static void look(Collide *c, GPtrArray *list);

static gboolean has_total(const WsExpr *e)
{
    gboolean has = e->op == WS_EXPR_TOTAL;
    for (guint i = 0; i < e->n_args; i++)
        has |= has_total(e->arg[i]);
    return has;
}

/* Addresses that count by the loop, by tiles or by rounds in all are others in another round. */
static void grow_stale(Collide *c, const char *loop)
{
    const char *tile = c->f->w->p.tile;
    for (guint i = 0; i < c->open->len; i++) {
        Open *o = &g_array_index(c->open, Open, i);
        o->stale |= (loop && ws_expr_mentions(o->at, loop)) || (tile && ws_expr_mentions(o->at, tile)) ||
                    has_total(o->at);
    }
}

/* Every round meets the others: what it leaves open, the next one alone comes to. */
static gboolean meets_each_round(const WsReadStep *loop)
{
    gboolean meets = FALSE;
    for (guint i = 0; i < loop->body->len; i++) {
        const WsReadStep *s = g_ptr_array_index(loop->body, i);
        meets |= !s->off && s->kind == WS_READ_SYNC && !s->when;
    }
    return meets && loop->e && loop->name;
}

static void next_round(Collide *c, WsReadStep *loop)
{
    const gboolean next = meets_each_round(loop);
    grow_stale(c, next ? NULL : loop->name);
    if (next)
        g_ptr_array_add(c->ahead, (gpointer)loop->name);
    c->waited = c->arrived = 0;
    look(c, loop->body);
    if (next)
        g_ptr_array_set_size(c->ahead, (gint)c->ahead->len - 1);
    grow_stale(c, loop->name);
}

static gboolean is_open(const Collide *c, const Open *o)
{
    for (guint i = 0; i < c->open->len; i++) {
        const Open *x = &g_array_index(c->open, Open, i);
        if (x->s == o->s && x->at == o->at && x->warp == o->warp && x->stale == o->stale)
            return TRUE;
    }
    return FALSE;
}

/* The rounds of a loop, or both ways of a branch. */
static void inside(Collide *c, WsReadStep *s)
{
    Collide other = { c->f, c->body, g_array_copy(c->open), c->ahead, c->waited, 0 };
    c->arrived = 0;
    look(c, s->body);
    if (s->kind == WS_READ_FOR)
        next_round(c, s);
    look(&other, s->other); /* one of the two, or neither: what is open is that of both */
    c->waited = c->arrived = 0;
    for (guint i = 0; i < other.open->len; i++) {
        const Open one = g_array_index(other.open, Open, i);
        if (!is_open(c, &one))
            g_array_append_val(c->open, one);
    }
    g_array_unref(other.open);
}

static void look(Collide *c, GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off && !g_strcmp0(s->name, PTX_WARP_MET))
            for (guint k = 0; k < c->open->len; k++)
                g_array_index(c->open, Open, k).warp = TRUE;
        if (s->off)
            continue;
        meet(c, met_behind(c, s));
        if (s->kind == WS_READ_LOAD_WAIT && !s->flag)
            c->waited = c->open->len;
        else if (s->kind == WS_READ_WRITE || s->kind == WS_READ_READ || is_copy(s))
            one(c, s);
        if (s->body)
            inside(c, s);
    }
}

void ptx_collisions(PtxFinish *f, GPtrArray *body)
{
    Collide c = { f, body, g_array_new(FALSE, FALSE, sizeof(Open)), g_ptr_array_new(), 0, 0 };
    look(&c, body);
    g_array_unref(c.open);
    g_ptr_array_unref(c.ahead);
}
