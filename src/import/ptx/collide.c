#include "import/ptx/finish.h"

/* Threads of one group that write the same bytes, by stores or by copies of cp.async, with nothing
 * between that they meet at. Steps of a design are what a whole group does: the check of a design
 * sees nothing of it. */

#define STORES "stores of several lanes to the same bytes"
#define COPIES "copies of cp.async that several threads write to the same bytes"
#define LANES  "copies of cp.async of which is not known what bytes each thread writes"

typedef struct {
    PtxFinish *f;
    GPtrArray *open; /* WsReadStep*: stores and copies behind which nobody met the others */
    guint waited;    /* the first so many: copies among them are complete, for their own thread */
} Collide;

static const PtxPiece *piece_at(const PtxOperand *o, guint i)
{
    return &g_array_index(o->pieces, PtxPiece, i);
}

/* More bytes than there are between the first and the last, or two threads at the same ones. */
static gboolean in_itself(const PtxOperand *o)
{
    gboolean shares = o->touched > o->to - o->from;
    for (guint i = 1; o->pieces && i < o->pieces->len; i++)
        shares |= piece_at(o, i)->at < piece_at(o, i - 1)->at + o->piece;
    return shares;
}

/* Bytes of both, `d` apart; of two stores a thread may write its own again. */
static gboolean share(const PtxOperand *a, const PtxOperand *b, gint64 d, gboolean own)
{
    for (guint i = 0, first = 0; i < a->pieces->len; i++) {
        const PtxPiece *x = piece_at(a, i);
        while (first < b->pieces->len && piece_at(b, first)->at + d + b->piece <= x->at)
            first++;
        for (guint k = first; k < b->pieces->len; k++) {
            const PtxPiece *y = piece_at(b, k);
            if (y->at + d >= x->at + a->piece)
                break;
            if (!own || x->tid != y->tid)
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

static void one(Collide *c, WsReadStep *s)
{
    const PtxOperand *o = ptx_operand_of(c->f->w, &s->buffer);
    if (!s->buffer.index)
        return; /* its place is not known: that is said elsewhere */
    if (is_copy(s) && !o->pieces)
        lose(c, s, TRUE, LANES);
    if (in_itself(o)) {
        lose(c, s, is_copy(s), is_copy(s) ? COPIES : STORES);
        return;
    }
    for (guint i = 0; i < c->open->len; i++) {
        WsReadStep *before = g_ptr_array_index(c->open, i);
        const PtxOperand *p = ptx_operand_of(c->f->w, &before->buffer);
        const gboolean copies = is_copy(s) || is_copy(before);
        gint64 d;
        if (!ws_x_difference(before->buffer.index, s->buffer.index, &d) || d + o->from >= p->to ||
            d + o->to <= p->from)
            continue;
        if (!o->pieces || !p->pieces) {
            if (copies)
                lose(c, s, TRUE, LANES);
            continue;
        }
        if (share(p, o, d, !copies || i < c->waited)) {
            lose(c, s, copies, copies ? COPIES : STORES);
            return;
        }
    }
    g_ptr_array_add(c->open, s);
}

static gboolean meets(const WsReadStep *s)
{
    return s->kind == WS_READ_SYNC || s->kind == WS_READ_WAIT || s->kind == WS_READ_CLUSTER;
}

static void look(Collide *c, GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        if (meets(s))
            g_ptr_array_set_size(c->open, c->waited = 0);
        else if (s->kind == WS_READ_LOAD_WAIT && !s->flag)
            c->waited = c->open->len;
        else if (s->kind == WS_READ_WRITE || is_copy(s))
            one(c, s);
        if (!s->body)
            continue;
        Collide other = { c->f, g_ptr_array_copy(c->open, NULL, NULL), c->waited };
        look(c, s->body);
        look(&other, s->other); /* one of the two, or neither: what is open is that of both */
        c->waited = 0;
        g_ptr_array_extend_and_steal(c->open, other.open);
    }
}

void ptx_collisions(PtxFinish *f, GPtrArray *body)
{
    Collide c = { f, g_ptr_array_new(), 0 };
    look(&c, body);
    g_ptr_array_unref(c.open);
}
