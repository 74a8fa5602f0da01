/* L-DRIFT: a turn that names decide is the completion that it meets, not one whole pairs of laps
 * away, if every value in it is known by then and all that goes into it is the same in two states
 * of one key. The sums of bits_sums.c are that for variables; of the values of names that can still
 * go into one a key holds each as it is. */
#include "check/proof/bits/bits.h"

/* Locals that turns which names decide are made of. */
static guint64 in_turns(const WsBits *b, const WsBitAgent *a)
{
    guint64 in = 0, before;
    do {
        before = in;
        for (guint v = 0; v < MIN(a->n_locals, 64); v++)
            for (guint n = 0; n < a->n_code && !(in >> v & 1); n++) {
                const WsBitOp *o = a->code[n].op;
                const gboolean meets = o && o->barrier >= 0 && o->named < 0 && !o->exact;
                if ((meets && ws_bit_uses(&o->turn, v)) ||
                    (o && o->local >= 0 && in >> MIN(o->local, 63) & 1 && ws_bit_uses(&o->set, v)))
                    in |= 1ull << v;
            }
    } while (in != before);
    return a->n_locals > 64 ? G_MAXUINT64 : in;
}

/* Where the side of a branch begins; 0: that branch is not asked about. */
guint16 ws_bit_side_of(const WsBitAgent *a, const WsTree *branch, const WsTree *kid)
{
    for (guint n = 0; n < a->n_code; n++)
        if (a->code[n].kind == WS_BIT_IF && a->code[n].branch == branch)
            return branch->kid[0] == kid ? (guint16)(n + 1) : a->code[n].to;
    return 0;
}

static guint64 loops_around(const WsBitAgent *a, const WsTree *at)
{
    guint64 around = 0;
    for (const WsTree *t = at; t; t = t->parent)
        for (guint n = 0; n < a->n_loops && t->kind == WS_TREE_LOOP; n++)
            if (a->loop[n].tree == t && t->over != WS_OVER_TILES)
                around |= 1ull << MIN(n, 63);
    return around;
}

static void add(WsBits *b, GArray *to, const WsBitExpr *e, WsBitAmount x)
{
    for (guint s = 1; s < b->c->symbols->len; s++) {
        x.symbol = ws_base_of(b->c, (gint)s);
        if (ws_bit_uses_symbol(b, e, (gint)s))
            g_array_append_val(to, x);
    }
}

/* From one tile of an agent to the next one. */
static gint64 stride_of(const WsBitAgent *a)
{
    gint64 least = G_MAXINT64;
    for (guint n = 0; n < a->n_loops; n++)
        if (a->loop[n].tree->over == WS_OVER_TILES)
            least = MIN(least, a->loop[n].by.constant ? a->loop[n].by.value : 1);
    return MAX(least == G_MAXINT64 ? 1 : least, 1);
}

static void find_in_agent(WsBits *b, WsBitAgent *a)
{
    a->stride = stride_of(a);
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(WsBitAmount));
    const guint64 in = in_turns(b, a);
    for (guint n = 0; n < a->n_code; n++) {
        const WsBitOp *o = a->code[n].op;
        WsBitAmount x = { .place = (guint16)n };
        if (!o)
            continue;
        x.around = loops_around(a, o->op->tree);
        x.term = o->summed;
        if (o->barrier >= 0 && o->named < 0 && !o->exact)
            add(b, found, &o->turn, x);
        x.factor = o->debt.factor;
        x.term = o->local >= 0 && a->strides[o->local].place == n;
        if (o->local >= 0 && in >> MIN(o->local, 63) & 1)
            add(b, found, &o->set, x);
    }
    for (guint n = 0; n < a->n_loops; n++) {
        const WsBitLoop *l = &a->loop[n];
        const WsBitAmount x = { .place = l->enter, .around = loops_around(a, l->tree->parent) };
        if (l->index >= 0 && in >> MIN(l->index, 63) & 1) {
            add(b, found, &l->from, x);
            add(b, found, &l->by, x);
        }
    }
    a->n_amounts = found->len;
    a->amount = ws_bit_alloc(b, (found->len + 1) * sizeof(WsBitAmount));
    for (guint n = 0; n < found->len; n++)
        a->amount[n] = g_array_index(found, WsBitAmount, n);
}

void ws_bit_find_amounts(WsBits *b)
{
    for (guint a = 0; a < b->n_agents; a++)
        find_in_agent(b, &b->agent[a]);
}

/* It can be executed again before the next tile. */
static gboolean lies_ahead(const WsBits *b, guint i, const WsBitAmount *m)
{
    gboolean ahead = m->place >= ws_bit_place(b, i);
    for (guint64 l = m->around; l && !ahead; l &= l - 1) {
        const guint n = (guint)__builtin_ctzll(l);
        ahead = n == 63 || ws_bit_active(b, i, n);
    }
    return ahead;
}

gboolean ws_bit_is_amount(const WsBits *b, guint i, const WsInstance *x)
{
    const WsBitInst *in = ws_bit_inst(b, i);
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    if (in->state == WS_INST_DONE || x->position == -2 ||
        (x->rank >= 0 && x->rank != (gint)ws_bit_rank(b, i)))
        return FALSE;
    for (guint n = 0; n < a->n_amounts; n++) {
        const WsBitAmount *m = &a->amount[n];
        const gint64 first = m->factor ? b->owe_from : 0, ahead = x->position - in->position;
        if (m->symbol != x->symbol)
            continue;
        if (in->position < 0 || ahead >= first + a->stride ||
            (!m->term && ahead >= first && ahead < first + MAX(m->factor, 1) &&
             lies_ahead(b, i, m)))
            return TRUE;
    }
    return FALSE;
}
