#include "import/ptx/rolled.h"

#include <string.h>

/* What an unrolled loop looks like in the blocks of a text; whether it is one is asked of its steps
 * (rolled.c). */

static const WsPtxBlock *block_at(const PtxWalk *w, guint b)
{
    return &g_array_index(w->ptx->blocks, WsPtxBlock, b);
}

static const WsPtxInst *last_of(const PtxWalk *w, guint b)
{
    return ws_ptx_inst(w->ptx, block_at(w, b)->last);
}

static gboolean branches(const PtxWalk *w, guint b)
{
    const WsPtxInst *i = last_of(w, b);
    return i->guard && i->target >= 0 && !i->spin && block_at(w, b)->next->len == 2;
}

/* The block behind a branch that is not `other`; -1: neither or both are. */
static gint beside(const PtxWalk *w, guint b, guint other)
{
    const GArray *next = block_at(w, b)->next;
    const guint x = ptx_forward(w, g_array_index(next, guint, 0)),
                y = ptx_forward(w, g_array_index(next, guint, 1));
    return x == other && y != other ? (gint)y : y == other && x != other ? (gint)x : -1;
}

static gboolean is_op(const WsPtxInst *i, const char *op, guint n)
{
    return !strcmp(i->op, op) && i->n == n && !i->guard;
}

/* It writes `reg`, alone or in a list: "%r1", "%p1|%p2", "{%r1, %r2}". */
static gboolean sets(const WsPtxInst *i, const char *reg)
{
    const gsize n = strlen(reg);
    if (!i->n || *i->arg[0] == '[')
        return FALSE;
    for (const char *at = strstr(i->arg[0], reg); at; at = strstr(at + 1, reg))
        if (!g_ascii_isalnum(at[n]) && at[n] != '_' && at[n] != '$')
            return TRUE;
    return FALSE;
}

/* Nothing in it has an effect; the branch at its end aside. */
static gboolean only_computes(const PtxWalk *w, guint b)
{
    const WsPtxBlock *block = block_at(w, b);
    for (guint k = block->first; k <= block->last; k++) {
        const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
        if (i->law != PTX_LAW_VALUE && !(k == block->last && !strncmp(i->op, "bra", 3)))
            return FALSE;
    }
    return TRUE;
}

/* Nothing but what becomes a step, or computes: what initialises, ends or asks for registers is
 * said once in a text, and is not looked for in rounds that are told by others. */
static gboolean only_steps(const PtxWalk *w, GHashTable *blocks)
{
    static const char *const words[] = { "mbarrier.arrive",
                                         "mbarrier.try_wait",
                                         "mbarrier.test_wait",
                                         "cp.async",
                                         "wgmma.",
                                         "fence.",
                                         "ld.",
                                         "st.",
                                         "ldmatrix.",
                                         "stmatrix.",
                                         "bar.sync",
                                         "bra" };
    GHashTableIter it;
    gpointer key;
    g_hash_table_iter_init(&it, blocks);
    while (g_hash_table_iter_next(&it, &key, NULL)) {
        const WsPtxBlock *b = block_at(w, GPOINTER_TO_UINT(key));
        for (guint k = b->first; k <= b->last; k++) {
            const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
            gboolean good = i->law == PTX_LAW_VALUE;
            for (guint n = 0; n < G_N_ELEMENTS(words) && !good; n++)
                good = g_str_has_prefix(i->op, words[n]);
            if (!good)
                return FALSE;
        }
    }
    return TRUE;
}

/* The block at the end of a loop without another one in it, that alone goes back or leaves it; -1.
 */
static gint latch_of(const PtxWalk *w, const WsPtxLoop *l, guint head, guint behind)
{
    gint latch = -1;
    GHashTableIter it;
    gpointer key;
    if (l->dispatch || !only_steps(w, l->blocks))
        return -1;
    g_hash_table_iter_init(&it, l->blocks);
    while (g_hash_table_iter_next(&it, &key, NULL)) {
        const guint b = GPOINTER_TO_UINT(key);
        const GArray *next = block_at(w, b)->next;
        if (b != head && block_at(w, b)->loop >= 0)
            return -1;
        for (guint k = 0; k < next->len && ptx_forward(w, b) == b; k++) {
            const guint to = ptx_forward(w, g_array_index(next, guint, k));
            const gboolean out = !g_hash_table_contains(l->blocks, GUINT_TO_POINTER(to));
            if ((out || to == head) && latch >= 0 && latch != (gint)b)
                return -1;
            if (out || to == head)
                latch = (gint)b;
        }
    }
    return latch >= 0 && branches(w, (guint)latch) && beside(w, (guint)latch, head) == (gint)behind
               ? latch
               : -1;
}

/* It goes on until a register is 0 that it counts down by 1: that register; NULL. */
static const char *counted_down(const PtxWalk *w, const WsPtxLoop *l, guint head, guint behind)
{
    const gint latch = latch_of(w, l, head, behind);
    if (latch < 0)
        return NULL;
    const WsPtxBlock *b = block_at(w, (guint)latch);
    const WsPtxInst *i = last_of(w, (guint)latch);
    const gboolean back = ptx_forward(w, g_array_index(b->next, guint, 0)) == head;
    const char *counter = NULL;
    gint64 n;
    guint tested = 0, writes = 0;
    for (guint k = b->first; k < b->last; k++) {
        const WsPtxInst *x = ws_ptx_inst(w->ptx, k);
        if (!sets(x, i->guard))
            continue;
        counter = !strcmp(x->arg[0], i->guard) &&
                          is_op(x, back ? "setp.ne.s32" : "setp.eq.s32", 3) &&
                          !strcmp(x->arg[2], "0")
                      ? x->arg[1]
                      : NULL;
        tested = k;
    }
    GHashTableIter it;
    gpointer key;
    g_hash_table_iter_init(&it, l->blocks);
    while (counter && !i->negated && g_hash_table_iter_next(&it, &key, NULL)) {
        const WsPtxBlock *own = block_at(w, GPOINTER_TO_UINT(key));
        for (guint k = own->first; k <= own->last; k++) {
            const WsPtxInst *x = ws_ptx_inst(w->ptx, k);
            if (!sets(x, counter))
                continue;
            const gboolean good = !strcmp(x->arg[0], counter) && GPOINTER_TO_INT(key) == latch &&
                                  k < tested && is_op(x, "add.s32", 3) &&
                                  !strcmp(x->arg[1], counter) && ptx_number(x->arg[2], &n) &&
                                  n == -1;
            writes += good ? 1 : 2;
        }
    }
    return writes == 1 ? counter : NULL;
}

/* Blocks from `from` on: not behind `cut`, and without `to`. FALSE: there is a loop among them. */
static gboolean blocks_between(const PtxWalk *w, guint from, guint to, guint cut, GHashTable *into)
{
    g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(guint));
    g_array_append_val(open, from);
    while (open->len) {
        const guint b = g_array_index(open, guint, open->len - 1);
        g_array_set_size(open, open->len - 1);
        if (b == to || !g_hash_table_add(into, GUINT_TO_POINTER(b)))
            continue;
        if (block_at(w, b)->loop >= 0 || g_hash_table_size(into) > 400)
            return FALSE;
        const GArray *next = block_at(w, b)->next;
        for (guint k = 0; k < next->len && b + 1 != cut; k++)
            g_array_append_val(open, g_array_index(next, guint, k));
        if (!next->len)
            return FALSE; /* a thread that ends */
    }
    return TRUE;
}

/* Straight code: a round up to the branch that asks whether it was the last one. */
static gboolean find_straight(PtxWalk *w, PtxRolled *o)
{
    guint cut = 0, b = o->first;
    for (guint steps = 0; steps < 100 && !cut && b != o->behind; steps++) {
        if (branches(w, b) && beside(w, b, o->behind) >= 0)
            cut = b + 1;
        else if (block_at(w, b)->join < 0)
            return FALSE;
        else
            b = (guint)block_at(w, b)->join;
    }
    if (!cut && b != o->behind)
        return FALSE;
    o->two |= !cut;
    o->single = (PtxRound){ o->first, (gint)o->behind, cut, &o->own, NULL, NULL };
    o->all = (PtxRound){ o->first, (gint)o->behind, 0, &o->rest, NULL, NULL };
    return blocks_between(w, o->first, o->behind, cut, o->own.blocks) &&
           blocks_between(w, o->first, o->behind, 0, o->rest.blocks) &&
           only_steps(w, o->rest.blocks);
}

static gboolean find_rest(PtxWalk *w, PtxRolled *o)
{
    guint head = o->first;
    if (block_at(w, head)->loop < 0 && block_at(w, head)->next->len == 1 && only_computes(w, head))
        head = g_array_index(block_at(w, head)->next, guint, 0);
    if (block_at(w, head)->loop < 0)
        return find_straight(w, o);
    o->single = (PtxRound){ head, (gint)head,
                            0,    &g_array_index(w->ptx->loops, WsPtxLoop, block_at(w, head)->loop),
                            NULL, NULL };
    const char *counter = counted_down(w, o->single.blocks, head, o->behind);
    return counter && !strcmp(counter, o->left);
}

/* The register whose being 0 leaves the rest out: setp.eq P, left, 0; of two rounds at once, where
 * it is 0 or 1, also as !((left == 1) ^ 0). NULL: it is not that. */
static const char *asks_left(const PtxWalk *w, PtxRolled *o)
{
    const WsPtxBlock *b = block_at(w, o->test);
    const WsPtxInst *i = last_of(w, o->test), *t = i - 1;
    gint64 n, m;
    if (i->negated || ptx_forward(w, g_array_index(b->next, guint, 0)) != o->behind)
        return NULL;
    for (; t >= ws_ptx_inst(w->ptx, b->first) && !sets(t, i->guard); t--)
        ;
    if (t < ws_ptx_inst(w->ptx, b->first) || strcmp(t->arg[0], i->guard))
        return NULL;
    if (is_op(t, "setp.eq.s32", 3) && ptx_number(t->arg[2], &n) && n == 0)
        return t->arg[1];
    o->two = t >= ws_ptx_inst(w->ptx, b->first) + 3 && is_op(t, "not.pred", 2) &&
             is_op(t - 1, "xor.pred", 3) && is_op(t - 2, "mov.pred", 2) &&
             is_op(t - 3, "setp.eq.b32", 3) && !strcmp(t->arg[1], t[-1].arg[0]) &&
             !strcmp(t[-1].arg[1], t[-3].arg[0]) && !strcmp(t[-1].arg[2], t[-2].arg[0]) &&
             strcmp(t[-2].arg[0], t[-3].arg[0]) && ptx_number(t[-2].arg[1], &n) && n == 0 &&
             ptx_number(t[-3].arg[2], &m) && m == 1;
    return o->two ? t[-3].arg[1] : NULL;
}

/* It is not set behind the question. */
static gboolean asks_last(const PtxWalk *w, const PtxRolled *o)
{
    const WsPtxBlock *b = block_at(w, o->test);
    gboolean asked = FALSE;
    for (guint k = b->first; k <= b->last; k++) {
        const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
        if (asked && sets(i, o->left))
            return FALSE;
        asked |= i->n > 1 && !strcmp(i->arg[1], o->left) && g_str_has_prefix(i->op, "setp.eq");
    }
    return asked;
}

gboolean ptx_rolled_shape(PtxWalk *w, guint block, PtxRolled *o)
{
    const WsPtxBlock *b = block_at(w, block);
    if (b->join < 0 || !branches(w, block))
        return FALSE;
    o->test = (guint)b->join;
    const gint before = beside(w, block, o->test);
    if (before < 0 || !branches(w, o->test) || block_at(w, o->test)->join < 0)
        return FALSE;
    o->before = o->head = (guint)before;
    if (block_at(w, o->head)->loop < 0) {
        if (block_at(w, o->head)->next->len != 1 || !only_computes(w, o->head))
            return FALSE;
        o->head = g_array_index(block_at(w, o->head)->next, guint, 0);
    }
    if (block_at(w, o->head)->loop < 0)
        return FALSE;
    o->at_once =
        (PtxRound){ o->head, (gint)o->head,
                    0,       &g_array_index(w->ptx->loops, WsPtxLoop, block_at(w, o->head)->loop),
                    NULL,    NULL };
    o->behind = (guint)block_at(w, o->test)->join;
    const gint first = beside(w, o->test, o->behind);
    if (latch_of(w, o->at_once.blocks, o->head, o->test) < 0 || first < 0 ||
        !only_computes(w, o->test))
        return FALSE;
    o->left = asks_left(w, o);
    if (!o->left || !asks_last(w, o))
        return FALSE;
    o->first = (guint)first;
    return find_rest(w, o);
}
