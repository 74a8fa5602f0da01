#include "import/ptx/walk.h"

#include <string.h>

/* Parities that flip where an index wraps, both where they are read: `if (q == N) { q = 0; p ^= 1;
 * }` at the head of a round, `++q` at its end. The index is followed modulo N (lazy.c); so the
 * parity is followed as what it is behind the flip, from `++q` on. That is what the flip itself
 * finds; whatever else reads it between the two, or writes one of both alone, refuses the pair. */

/* What a flip is of. */
typedef struct {
    const char *p, *q; /* `p` flips where `q` is N */
    const WsPtxInst *bit;
    gint64 n;           /* … the number */
    GHashTable *number; /* register -> 1 + the number that it always holds */
} PtxFlip;

/* Of a pair in a place of the text. */
typedef enum {
    UNSEEN,  /* no way there was looked at */
    PLAIN,   /* the parity is what its register holds; the index is below N */
    FLIPPED, /* the parity is followed as flipped where the index is N: only the flip may read it */
    PASSED,  /* the parity is what its register holds, but the index may be N: no flip */
    BAD,
} State;

static gboolean is_b32(const char *op, const char *base)
{
    const gsize n = strlen(base);
    return !strncmp(op, base, n) &&
           (!strcmp(op + n, ".s32") || !strcmp(op + n, ".u32") || !strcmp(op + n, ".b32"));
}

static gboolean has_register(const char *text, const char *reg)
{
    const gsize n = strlen(reg);
    for (const char *at = strstr(text, reg); at; at = strstr(at + 1, reg))
        if (!g_ascii_isalnum(at[n]) && at[n] != '_' && at[n] != '$')
            return TRUE;
    return FALSE;
}

static gboolean writes(const WsPtxInst *i, const char *reg)
{
    return i->n && *i->arg[0] != '[' && has_register(i->arg[0], reg);
}

/* The instruction before `at` in its block, and near, that writes `reg` last, and it alone; -1. */
static gint writer(const PtxWalk *w, guint at, const char *reg)
{
    for (guint k = at;
         k-- > 0 && k + 16 > at && ws_ptx_block_of(w->ptx, k) == ws_ptx_block_of(w->ptx, at);) {
        const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
        if (writes(i, reg))
            return strcmp(i->arg[0], reg) || i->guard ? -1 : (gint)k;
    }
    return -1;
}

static gboolean kept(const PtxWalk *w, guint from, guint to, const char *reg)
{
    for (guint k = from + 1; k < to; k++)
        if (writes(ws_ptx_inst(w->ptx, k), reg))
            return FALSE;
    return TRUE;
}

/* xor Y, P, B; B of selp 1, 0, T; T of setp.eq Q, N: with one P and Q from there to here. */
static gboolean flip_at(const PtxWalk *w, guint at, PtxFlip *found)
{
    const WsPtxInst *x = ws_ptx_inst(w->ptx, at);
    if (!is_b32(x->op, "xor") || x->guard || x->n != 3)
        return FALSE;
    for (guint k = 1; k < 3; k++) {
        const char *p = x->arg[3 - k];
        gint64 n;
        const gint bit = *x->arg[k] == '%' ? writer(w, at, x->arg[k]) : -1;
        const WsPtxInst *s = bit < 0 ? NULL : ws_ptx_inst(w->ptx, (guint)bit);
        if (!s || !is_b32(s->op, "selp") || s->n != 4 || strcmp(s->arg[1], "1") ||
            strcmp(s->arg[2], "0") || *p != '%')
            continue;
        const gint test = writer(w, (guint)bit, s->arg[3]);
        const WsPtxInst *t = test < 0 ? NULL : ws_ptx_inst(w->ptx, (guint)test);
        if (!t || !is_b32(t->op, "setp.eq") || t->n != 3 || !strcmp(t->arg[1], p) ||
            !ptx_number(t->arg[2], &n) || !kept(w, (guint)test, at, t->arg[1]) ||
            !kept(w, (guint)test, at, p))
            continue;
        *found = (PtxFlip){ p, t->arg[1], s, n, NULL };
        return TRUE;
    }
    return FALSE;
}

/* It reads `reg`, beside what a flip may. */
static gboolean reads(const WsPtxInst *i, const char *reg)
{
    gboolean found = i->guard && !strcmp(i->guard, reg);
    for (guint k = i->n && *i->arg[0] != '[' && *i->arg[0] != '{'; k < i->n; k++)
        found |= has_register(i->arg[k], reg);
    return found || (i->n && *i->arg[0] == '[' && has_register(i->arg[0], reg));
}

static State written(const PtxWalk *w, guint at, const PtxFlip *f, gint64 n, State s)
{
    const WsPtxInst *i = ws_ptx_inst(w->ptx, at);
    gint64 c;
    const gboolean p = has_register(i->arg[0], f->p), q = has_register(i->arg[0], f->q);
    if (*i->arg[0] == '[' || (!p && !q))
        return s;
    if (i->guard || strpbrk(i->arg[0], "{|,") || (p && q))
        return BAD;
    if (p) /* anything: it is read as it is */
        return s == FLIPPED || s == PASSED ? PASSED : s;
    if (is_b32(i->op, "add"))
        return s == PLAIN || s == PASSED ? FLIPPED : BAD;
    if (!is_b32(i->op, "mov") || i->n != 2)
        return BAD;
    return ptx_number_at(w, f->number, at, i->arg[1], &c) && c >= 0 && c < n && s != FLIPPED ? PLAIN
                                                                                             : BAD;
}

static State joined(State a, State b)
{
    if (a == b || b == UNSEEN)
        return a;
    if (a == UNSEEN)
        return b;
    if (a == BAD || b == BAD)
        return BAD;
    return a == PLAIN ? b : b == PLAIN ? a : BAD; /* below N the flip finds what is there */
}

static State through(PtxWalk *w, const PtxFlip *f, gint64 n, guint block, State s)
{
    const WsPtxBlock *b = &g_array_index(w->ptx->blocks, WsPtxBlock, block);
    for (guint k = b->first; k <= b->last && s != BAD; k++) {
        const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
        PtxFlip here;
        const gboolean flips =
            flip_at(w, k, &here) && !strcmp(here.p, f->p) && !strcmp(here.q, f->q);
        if (flips ? s == PASSED : reads(i, f->p) && s == FLIPPED)
            return BAD;
        if (i->n)
            s = written(w, k, f, n, s);
    }
    return s;
}

/* In no place of the text is it read as what it is not. A register that nothing wrote holds
 * anything: a parity of it is none. */
static gboolean holds(PtxWalk *w, const PtxFlip *f, gint64 n)
{
    const guint blocks = w->ptx->blocks->len;
    g_autofree State *at = g_new0(State, blocks);
    gboolean changed = TRUE, good = TRUE;
    at[0] = PLAIN;
    while (changed && good) {
        changed = FALSE;
        for (guint b = 0; b < blocks && good; b++) {
            const WsPtxBlock *block = &g_array_index(w->ptx->blocks, WsPtxBlock, b);
            if (at[b] == UNSEEN)
                continue;
            const State left = through(w, f, n, b, at[b]);
            good = left != BAD && ws_source_works(w->p.r, 20);
            for (guint k = 0; k < block->next->len; k++) {
                State *to = &at[g_array_index(block->next, guint, k)];
                const State now = joined(*to, left);
                changed |= now != *to;
                *to = now;
                good &= now != BAD;
            }
        }
    }
    return good;
}

static gboolean is_bit_of_flip(const PtxWalk *w, guint at, const char *bit)
{
    PtxFlip f;
    return flip_at(w, at, &f) && !strcmp(f.bit->arg[0], bit) && strcmp(f.p, bit);
}

/* Nothing but flips uses what a selp picks for them. */
static gboolean only_for_flips(const PtxWalk *w, const char *bit)
{
    for (guint k = 0; k < w->ptx->inst->len; k++)
        if (reads(ws_ptx_inst(w->ptx, k), bit) && !is_bit_of_flip(w, k, bit))
            return FALSE;
    return TRUE;
}

void ptx_flips_find(PtxWalk *w, GHashTable *lazy, GHashTable *number, GHashTable *refused)
{
    for (guint k = 0; k < w->ptx->inst->len; k++) {
        PtxFlip f;
        if (!flip_at(w, k, &f) || !g_hash_table_contains(lazy, f.q))
            continue;
        gpointer n = g_hash_table_lookup(lazy, f.q);
        f.number = number;
        if (f.n != GPOINTER_TO_INT(n) - 1) /* it flips where the index does not wrap */
            g_hash_table_add(refused, n);
        g_hash_table_insert(w->flip_at, ws_ptx_inst(w->ptx, k), (gpointer)f.p);
        g_hash_table_insert(w->flip_at, (gpointer)f.bit, (gpointer)f.q);
        GPtrArray *flips = g_hash_table_lookup(w->flips, f.q);
        if (!flips) {
            flips = g_ptr_array_new();
            g_hash_table_insert(w->flips, (gpointer)f.q, flips);
        }
        if (g_ptr_array_find_with_equal_func(flips, f.p, g_str_equal, NULL))
            continue;
        g_ptr_array_add(flips, (gpointer)f.p);
        if (!holds(w, &f, GPOINTER_TO_INT(n) - 1) || !only_for_flips(w, f.bit->arg[0]))
            g_hash_table_add(refused, n);
    }
}

static gboolean is_dropped(gpointer key, gpointer value, gpointer walk)
{
    const PtxWalk *w = walk;
    const WsPtxInst *i = key;
    PtxFlip f;
    return !g_hash_table_contains(
        w->lazy, flip_at(w, (guint)(i - ws_ptx_inst(w->ptx, 0)), &f) ? f.q : (const char *)value);
}

void ptx_flips_drop(PtxWalk *w)
{
    g_hash_table_foreach_remove(w->flip_at, is_dropped, w);
}

gboolean ptx_flips(const PtxWalk *w, const WsPtxInst *i)
{
    return g_hash_table_contains(w->flip_at, i);
}

gboolean ptx_flip(PtxWalk *w, const WsPtxInst *i)
{
    const char *of = g_hash_table_lookup(w->flip_at, i);
    if (!of)
        return FALSE;
    ptx_set(w, i->arg[0], is_b32(i->op, "xor") ? ptx_operand(w, of) : py_opaque(&w->p));
    return TRUE;
}

/* The index that `q` is now counted on from is `index` (below n). */
void ptx_flip_next(PtxWalk *w, const char *q, const WsExpr *index, gint64 n)
{
    const GPtrArray *flips = g_hash_table_lookup(w->flips, q);
    for (guint k = 0; flips && k < flips->len; k++) {
        const char *p = g_ptr_array_index(flips, k);
        const Val *v = g_hash_table_lookup(w->p.frame->vars, p);
        if (!v)
            continue;
        const WsExpr *e = v->kind == VAL_INT && index ? ptx_flipped(w->p.r, v->e, index, n) : NULL;
        ptx_set(w, p, e ? ptx_value(w, e) : py_opaque(&w->p));
    }
}
