#include "import/ptx/walk.h"

#include <string.h>

/* Registers of products that no wait retired. Whoever touches an accumulator then is a step of the
 * design (matrix.c), and its check says so; a copy of one, and what touches the left operand of a
 * product, is none: such a kernel is not judged. */

/* Calls `what` for every register of "{%r1, %r2}", "%p1|%p2", "[%r1+8]" or "%r1". */
static void each(PtxWalk *w, const WsPtxInst *i, const char *list,
                 void (*what)(PtxWalk *w, const WsPtxInst *i, const char *reg))
{
    if (!strpbrk(list, "{|,[")) {
        what(w, i, list);
        return;
    }
    g_autofree char *inner = g_strdup(list);
    g_auto(GStrv) word = g_strsplit(g_strdelimit(inner, "{}[]+,|", ' '), " ", -1);
    for (guint k = 0; word[k]; k++)
        if (*word[k])
            what(w, i, g_string_chunk_insert_const(w->p.r->text, word[k]));
}

static void flies(PtxWalk *w, const WsPtxInst *i, const char *reg)
{
    if (*reg == '%' || g_hash_table_contains(w->ptx->locals, reg))
        g_hash_table_insert(w->flying, (gpointer)reg, GUINT_TO_POINTER(1));
}

/* PTX ISA, wgmma.fence: one lies between an access of a thread to a register, a read too, and a
 * product that has it; between products none is needed where all add to it in the same shape. A
 * fence makes nobody wait: what a product in flight has, another one does not have otherwise. */
static void used(PtxWalk *w, const WsPtxInst *i, const char *reg, const char *as)
{
    const char *before = g_hash_table_lookup(w->unfenced, reg);
    const char *had = g_hash_table_lookup(w->had, reg);
    if (before && strcmp(before, as))
        ptx_opaque(w, i,
                   *before ? "a product of registers that another one has otherwise, unfenced"
                           : "a product of registers read or written after its fence");
    else if (had && strcmp(had, as))
        ptx_opaque(w, i, "a product of registers that another one in flight has otherwise");
    g_hash_table_insert(w->unfenced, (gpointer)reg, (gpointer)as);
    g_hash_table_insert(w->had, (gpointer)reg, (gpointer)as);
    flies(w, i, reg);
}

static void added(PtxWalk *w, const WsPtxInst *i, const char *reg)
{
    const char *shape = strstr(i->op, ".m64n");
    used(w, i, reg,
         shape ? g_string_chunk_insert_len(w->p.r->text, shape, (gssize)strcspn(shape + 1, ".") + 1)
               : i->op);
}

static void taken(PtxWalk *w, const WsPtxInst *i, const char *reg)
{
    used(w, i, reg, "a");
}

void ptx_flying_product(PtxWalk *w, const WsPtxInst *i)
{
    each(w, i, i->arg[0], added);
    if (*i->arg[1] == '{')
        each(w, i, i->arg[1], taken);
}

static char **words(const char *list)
{
    g_autofree char *inner = g_strdup(list);
    return g_strsplit(g_strdelimit(inner, "{},", ' '), " ", -1);
}

/* Number of a value that stands for one of these registers, which a group that is closed reads and
 * no wait retired; 0. */
guint ptx_flying_held(PtxWalk *w, const char *list)
{
    g_auto(GStrv) word = words(list);
    guint n = 0;
    for (guint k = 0; word[k] && !n; k++)
        if (*word[k] && GPOINTER_TO_UINT(g_hash_table_lookup(w->flying, word[k])) > 1)
            n = GPOINTER_TO_UINT(g_hash_table_lookup(w->value_of, word[k]));
    return n;
}

/* Bits of the values that stand for registers of groups in flight, but of the one just closed. */
guint64 ptx_flying_values(PtxWalk *w)
{
    GHashTableIter it;
    gpointer reg, groups;
    guint64 bits = 0;
    g_hash_table_iter_init(&it, w->flying);
    while (g_hash_table_iter_next(&it, &reg, &groups))
        if (GPOINTER_TO_UINT(groups) > 2)
            bits |= 1ull << GPOINTER_TO_UINT(g_hash_table_lookup(w->value_of, reg));
    return bits;
}

/* From here on value n stands for these registers. */
void ptx_flying_value(PtxWalk *w, const char *list, guint n)
{
    g_auto(GStrv) word = words(list);
    for (guint k = 0; word[k]; k++)
        if (*word[k])
            g_hash_table_insert(w->value_of, g_string_chunk_insert_const(w->p.r->text, word[k]),
                                GUINT_TO_POINTER(n));
}

/* A group is closed: its products are 2 from here on, as 1 are those that no commit closed. */
void ptx_flying_closed(PtxWalk *w)
{
    GHashTableIter it;
    gpointer groups;
    g_hash_table_iter_init(&it, w->flying);
    while (g_hash_table_iter_next(&it, NULL, &groups))
        g_hash_table_iter_replace(&it, GUINT_TO_POINTER(GPOINTER_TO_UINT(groups) + 1));
}

static gboolean is_older(gpointer reg, gpointer groups, gpointer most)
{
    return GPOINTER_TO_UINT(groups) > 1 + GPOINTER_TO_UINT(most);
}

static gboolean is_over(gpointer reg, gpointer as, gpointer flying)
{
    return !g_hash_table_contains(flying, reg);
}

void ptx_flying_waited(PtxWalk *w, gint64 n)
{
    g_hash_table_foreach_remove(w->flying, is_older, GUINT_TO_POINTER((guint)CLAMP(n, 0, 1 << 20)));
    g_hash_table_foreach_remove(w->had, is_over, w->flying);
}

static void join(PtxWalk *w, const PtxFlying *other)
{
    GHashTableIter it;
    gpointer reg, value, own;
    g_hash_table_iter_init(&it, other->flying);
    while (g_hash_table_iter_next(&it, &reg, &value))
        if (!g_hash_table_lookup_extended(w->flying, reg, NULL, &own) || own > value)
            g_hash_table_insert(w->flying, reg, value);
    g_hash_table_iter_init(&it, other->unfenced);
    while (g_hash_table_iter_next(&it, &reg, &value)) {
        own = g_hash_table_lookup(w->unfenced, reg);
        g_hash_table_insert(w->unfenced, reg, !own || !strcmp(own, value) ? value : (gpointer) "");
    }
    g_hash_table_iter_init(&it, other->had);
    while (g_hash_table_iter_next(&it, &reg, &value)) {
        own = g_hash_table_lookup(w->had, reg);
        g_hash_table_insert(w->had, reg, !own || !strcmp(own, value) ? value : (gpointer) "");
    }
}

PtxFlying ptx_flying_copy(PtxWalk *w)
{
    const PtxFlying now = { w->flying, w->unfenced, w->had };
    w->flying = g_hash_table_new(g_str_hash, g_str_equal);
    w->unfenced = g_hash_table_new(g_str_hash, g_str_equal);
    w->had = g_hash_table_new(g_str_hash, g_str_equal);
    join(w, &now);
    return now;
}

PtxFlying ptx_flying_swap(PtxWalk *w, PtxFlying other)
{
    const PtxFlying now = { w->flying, w->unfenced, w->had };
    w->flying = other.flying;
    w->unfenced = other.unfenced;
    w->had = other.had;
    return now;
}

void ptx_flying_join(PtxWalk *w, PtxFlying other)
{
    join(w, &other);
    g_hash_table_unref(other.flying);
    g_hash_table_unref(other.unfenced);
    g_hash_table_unref(other.had);
}

static void touched(PtxWalk *w, const WsPtxInst *i, const char *reg)
{
    if (!g_hash_table_contains(w->flying, reg))
        return;
    if (g_hash_table_contains(w->matrix, reg) && !g_str_has_prefix(i->op, "mov") && !w->compares)
        return; /* the check sees it, but not of rounds that are only compared */
    ptx_opaque(w, i, "registers of a product that may still be in flight");
}

static void accessed(PtxWalk *w, const WsPtxInst *i, const char *reg)
{
    if (!g_hash_table_contains(w->matrix, reg) && !g_hash_table_contains(w->parts, reg))
        return;
    touched(w, i, reg);
    g_hash_table_insert(w->unfenced, (gpointer)reg, (gpointer) "");
}

/* PTX ISA, wgmma.wait_group: neither accumulators nor left operands are accessed before it. */
void ptx_flying_touched(PtxWalk *w, const WsPtxInst *i)
{
    if (g_str_has_prefix(i->op, "wgmma") || !g_hash_table_size(w->matrix))
        return;
    for (guint k = 0; k < i->n; k++)
        each(w, i, i->arg[k], accessed);
}
