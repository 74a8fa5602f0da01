#include "import/ptx/walk.h"

#include <string.h>

/* Registers of products that no wait retired. Whoever touches an accumulator then is a step of the
 * design (matrix.c), and its check says so; a copy between accumulators, and what writes the left
 * operand of a product, is none: such a kernel is not judged. */

/* Calls `what` for every register of "{%r1, %r2}", "%p1|%p2" or "%r1". */
static void each(PtxWalk *w, const WsPtxInst *i, const char *list,
                 void (*what)(PtxWalk *w, const WsPtxInst *i, const char *reg))
{
    if (!strpbrk(list, "{|,")) {
        what(w, i, list);
        return;
    }
    g_autofree char *inner = g_strdup(list);
    g_auto(GStrv) word = g_strsplit(g_strdelimit(inner, "{},|", ' '), " ", -1);
    for (guint k = 0; word[k]; k++)
        if (*word[k])
            what(w, i, g_string_chunk_insert_const(w->p.r->text, word[k]));
}

static void flies(PtxWalk *w, const WsPtxInst *i, const char *reg)
{
    (void)i;
    if (*reg == '%' || g_hash_table_contains(w->ptx->locals, reg))
        g_hash_table_insert(w->flying, (gpointer)reg, GUINT_TO_POINTER(1));
}

static void fenced(PtxWalk *w, const WsPtxInst *i, const char *reg)
{
    if (g_hash_table_contains(w->unfenced, reg))
        ptx_opaque(w, i, "a product of registers written after its fence");
}

void ptx_flying_product(PtxWalk *w, const WsPtxInst *i)
{
    each(w, i, i->arg[0], fenced);
    each(w, i, i->arg[0], flies);
    if (*i->arg[1] != '{')
        return;
    each(w, i, i->arg[1], fenced);
    each(w, i, i->arg[1], flies);
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
    (void)reg;
    return GPOINTER_TO_UINT(groups) > 1 + GPOINTER_TO_UINT(most);
}

void ptx_flying_waited(PtxWalk *w, gint64 n)
{
    g_hash_table_foreach_remove(w->flying, is_older, GUINT_TO_POINTER((guint)CLAMP(n, 0, 1 << 20)));
}

void ptx_flying_join(PtxWalk *w, GHashTable *other)
{
    GHashTableIter it;
    gpointer reg, groups, own;
    g_hash_table_iter_init(&it, other);
    while (g_hash_table_iter_next(&it, &reg, &groups))
        if (!g_hash_table_lookup_extended(w->flying, reg, NULL, &own) || own > groups)
            g_hash_table_insert(w->flying, reg, groups);
}

GHashTable *ptx_flying_copy(PtxWalk *w)
{
    GHashTable *copy = w->flying;
    w->flying = g_hash_table_new(g_str_hash, g_str_equal);
    ptx_flying_join(w, copy);
    return copy;
}

static void touched(PtxWalk *w, const WsPtxInst *i, const char *reg)
{
    if (!g_hash_table_contains(w->flying, reg))
        return;
    if (g_hash_table_contains(w->matrix, reg) && !g_str_has_prefix(i->op, "mov"))
        return; /* the check sees it */
    ptx_opaque(w, i, "registers of a product that may still be in flight");
}

static void written(PtxWalk *w, const WsPtxInst *i, const char *reg)
{
    touched(w, i, reg);
    g_hash_table_add(w->unfenced, (gpointer)reg);
}

void ptx_flying_touched(PtxWalk *w, const WsPtxInst *i)
{
    if (!i->n || g_str_has_prefix(i->op, "wgmma") || !g_hash_table_size(w->matrix))
        return;
    if (*i->arg[0] != '[' && strncmp(i->op, "bra", 3) && strncmp(i->op, "bar", 3))
        each(w, i, i->arg[0], written);
    if (g_str_has_prefix(i->op, "mov") && i->n > 1 && g_hash_table_contains(w->matrix, i->arg[0]))
        each(w, i, i->arg[1], touched); /* a copy between accumulators */
}
