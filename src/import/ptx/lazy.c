#include "import/ptx/walk.h"

#include <string.h>

/* Indices that wrap where they are read: `if (q == N) q = 0` at the head of a round, `++q` at its
 * end. What holds them, registers that only copy each other, counts from 0 to N, and every reading
 * takes N for 0; so they are followed as what they are modulo N. */

typedef struct {
    PtxWalk *w;
    GHashTable *chosen;  /* register -> n + 1: what selp picks out of one of them */
    GHashTable *tested;  /* predicate -> register that it compares */
    GHashTable *holds;   /* register -> n + 1 */
    GHashTable *refused; /* numbers n + 1 of which something is used otherwise */
    GHashTable *number;  /* register -> 1 + the number that the only writing of it puts there; 0 */
} Lazy;

static gboolean is_op(const WsPtxInst *i, const char *base)
{
    const gsize n = strlen(base);
    return !strncmp(i->op, base, n) && !i->guard &&
           (!strcmp(i->op + n, ".s32") || !strcmp(i->op + n, ".u32") || !strcmp(i->op + n, ".b32"));
}

/* setp.eq P, X, N; the selp behind it in its block, so that each picks by what X is then: Y, 0, X,
 * P. */
static gint64 wraps_at(const PtxWalk *w, guint at, const char **x, const char **p)
{
    const WsPtxInst *i = ws_ptx_inst(w->ptx, at);
    gint64 n;
    if (!is_op(i, "selp") || i->n != 4 || strcmp(i->arg[1], "0") || *i->arg[2] != '%')
        return 0;
    for (guint k = at;
         k-- > 0 && k + 16 > at && ws_ptx_block_of(w->ptx, k) == ws_ptx_block_of(w->ptx, at);) {
        const WsPtxInst *before = ws_ptx_inst(w->ptx, k);
        if (before->n && !strcmp(before->arg[0], i->arg[3])) {
            if (!is_op(before, "setp.eq") || before->n != 3 || strcmp(before->arg[1], i->arg[2]) ||
                !ptx_number(before->arg[2], &n) || n < 2 || n > 1 << 16)
                return 0;
            *x = i->arg[2];
            *p = i->arg[3];
            return n;
        }
        if (before->n && !strcmp(before->arg[0], i->arg[2]))
            return 0;
    }
    return 0;
}

/* Registers that hold one number for ever. */
static void find_numbers(Lazy *q)
{
    for (guint k = 0; k < q->w->ptx->inst->len; k++) {
        const WsPtxInst *i = ws_ptx_inst(q->w->ptx, k);
        gint64 c;
        if (!i->n || *i->arg[0] == '[')
            continue;
        const gboolean only = is_op(i, "mov") && i->n == 2 && ptx_number(i->arg[1], &c) && c >= 0 &&
                              c <= 1 << 16 && !g_hash_table_contains(q->number, i->arg[0]);
        g_autofree char *inner = g_strdelimit(g_strdup(i->arg[0]), "{},|", ' ');
        g_auto(GStrv) word = g_strsplit(inner, " ", -1);
        for (guint r = 0; word[r]; r++)
            if (*word[r])
                g_hash_table_insert(q->number,
                                    g_string_chunk_insert_const(q->w->p.r->text, word[r]),
                                    GINT_TO_POINTER(only ? (gint)c + 1 : 0));
    }
}

/* What a register of that name holds in front of `at`: what its only writing put there, or the last
 * one before in its block. */
gboolean ptx_number_at(const PtxWalk *w, GHashTable *number, guint at, const char *text, gint64 *c)
{
    *c = GPOINTER_TO_INT(g_hash_table_lookup(number, text)) - 1;
    if (*c >= 0 || ptx_number(text, c))
        return TRUE;
    for (guint k = at;
         k-- > 0 && k + 400 > at && ws_ptx_block_of(w->ptx, k) == ws_ptx_block_of(w->ptx, at);) {
        const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
        if (i->n && !strcmp(i->arg[0], text))
            return is_op(i, "mov") && i->n == 2 && ptx_number(i->arg[1], c);
        if (i->n && *i->arg[0] != '[' && strstr(i->arg[0], text) && strpbrk(i->arg[0], "{|,"))
            return FALSE;
    }
    return FALSE;
}

static gboolean grow(Lazy *q)
{
    gboolean changed = FALSE;
    gint64 c;
    for (guint k = 0; k < q->w->ptx->inst->len; k++) {
        const WsPtxInst *i = ws_ptx_inst(q->w->ptx, k);
        if (!is_op(i, "mov") || i->n != 2 || *i->arg[1] != '%' ||
            ptx_number_at(q->w, q->number, k, i->arg[1], &c))
            continue;
        gpointer a = g_hash_table_lookup(q->holds, i->arg[0]),
                 b = g_hash_table_lookup(q->holds, i->arg[1]);
        if (a && b && a != b) {
            g_hash_table_add(q->refused, a);
            g_hash_table_add(q->refused, b);
        } else if (!a != !b) {
            g_hash_table_insert(q->holds, (gpointer)i->arg[a ? 1 : 0], a ? a : b);
            changed = TRUE;
        }
    }
    return changed;
}

static void refuse(Lazy *q, const char *reg)
{
    gpointer n = g_hash_table_lookup(q->holds, reg);
    if (!n)
        n = g_hash_table_lookup(q->chosen, reg);
    if (n)
        g_hash_table_add(q->refused, n);
}

/* Every register in `text`: "%r1", "{%r1, %r2}", "[%r1+8]". */
static void refuse_all(Lazy *q, const char *text, gboolean chosen_too)
{
    g_autofree char *inner = g_strdelimit(g_strdup(text), "{}[]+,|", ' ');
    g_auto(GStrv) word = g_strsplit(inner, " ", -1);
    for (guint k = 0; word[k]; k++) {
        if (chosen_too || g_hash_table_contains(q->holds, word[k]))
            refuse(q, word[k]);
        const char *x = g_hash_table_lookup(q->tested, word[k]);
        if (x)
            refuse(q, x);
    }
}

/* Whether the instruction uses what is held, or picked, as it may. */
static void look(Lazy *q, guint at)
{
    const WsPtxInst *i = ws_ptx_inst(q->w->ptx, at);
    const char *x, *p;
    gint64 c;
    if (i->guard)
        refuse_all(q, i->guard, FALSE);
    if (!i->n)
        return;
    gpointer n = g_hash_table_lookup(q->holds, i->arg[0]);
    const gboolean test = is_op(i, "setp.eq") && g_hash_table_contains(q->tested, i->arg[0]),
                   copy = is_op(i, "mov") && i->n == 2,
                   next = is_op(i, "add") && i->n == 3 && !strcmp(i->arg[2], "1") && n &&
                          g_hash_table_lookup(q->chosen, i->arg[1]) == n;
    if (wraps_at(q->w, at, &x, &p) || ptx_flips(q->w, i))
        return;
    if (test) { /* of one register alone */
        if (strcmp(g_hash_table_lookup(q->tested, i->arg[0]), i->arg[1]))
            refuse_all(q, i->arg[0], FALSE);
        return;
    }
    if (next)
        return;
    if (copy && n &&
        (g_hash_table_lookup(q->holds, i->arg[1]) == n ||
         (ptx_number_at(q->w, q->number, at, i->arg[1], &c) && c >= 0 &&
          c <= GPOINTER_TO_INT(n) - 1)))
        return;
    gpointer from = copy && !n ? g_hash_table_lookup(q->holds, i->arg[1]) : NULL;
    if (from && ptx_number_at(q->w, q->number, at, i->arg[1], &c) && c >= 0 &&
        c < GPOINTER_TO_INT(from) - 1 && !g_hash_table_contains(q->chosen, i->arg[0]))
        return;                     /* a number that it begins with */
    refuse_all(q, i->arg[0], TRUE); /* written otherwise */
    for (guint k = 1; k < i->n; k++)
        refuse_all(q, i->arg[k], FALSE);
}

void ptx_lazy_find(PtxWalk *w)
{
    Lazy q = { w,
               g_hash_table_new(g_str_hash, g_str_equal),
               g_hash_table_new(g_str_hash, g_str_equal),
               w->lazy,
               g_hash_table_new(NULL, NULL),
               g_hash_table_new(g_str_hash, g_str_equal) };
    for (guint k = 0; k < w->ptx->inst->len; k++) {
        const char *x, *p;
        const gint64 n = wraps_at(w, k, &x, &p);
        if (!n)
            continue;
        gpointer key = GINT_TO_POINTER((gint)n + 1), old = g_hash_table_lookup(q.holds, x);
        const char *other = g_hash_table_lookup(q.tested, p);
        if ((old && old != key) || (other && strcmp(other, x)))
            g_hash_table_add(q.refused, old ? old : key), g_hash_table_add(q.refused, key);
        g_hash_table_insert(q.holds, (gpointer)x, key);
        g_hash_table_insert(q.tested, (gpointer)p, (gpointer)x);
        old = g_hash_table_lookup(q.chosen, ws_ptx_inst(w->ptx, k)->arg[0]);
        if (old && old != key)
            g_hash_table_add(q.refused, old), g_hash_table_add(q.refused, key);
        g_hash_table_insert(q.chosen, (gpointer)ws_ptx_inst(w->ptx, k)->arg[0], key);
    }
    if (g_hash_table_size(q.holds))
        find_numbers(&q);
    while (g_hash_table_size(q.holds) && grow(&q))
        ;
    if (g_hash_table_size(q.holds))
        ptx_flips_find(w, q.holds, q.number, q.refused);
    for (guint k = 0; k < w->ptx->inst->len && g_hash_table_size(q.holds); k++)
        look(&q, k);
    GHashTableIter it;
    gpointer n;
    g_hash_table_iter_init(&it, q.holds);
    while (g_hash_table_iter_next(&it, NULL, &n))
        if (g_hash_table_contains(q.refused, n))
            g_hash_table_iter_remove(&it);
    ptx_flips_drop(w);
    g_hash_table_unref(q.chosen);
    g_hash_table_unref(q.tested);
    g_hash_table_unref(q.refused);
    g_hash_table_unref(q.number);
}

gboolean ptx_lazy(PtxWalk *w, const WsPtxInst *i)
{
    gint64 c;
    if (!g_hash_table_size(w->lazy) || !i->n)
        return FALSE;
    const gint64 n = GPOINTER_TO_INT(g_hash_table_lookup(w->lazy, i->arg[0])) - 1;
    if (n < 0 && ptx_flip(w, i))
        return TRUE;
    if (n < 0 && is_op(i, "selp") && i->n == 4 && g_hash_table_contains(w->lazy, i->arg[2])) {
        ptx_set(w, i->arg[0], ptx_operand(w, i->arg[2]));
        return TRUE;
    }
    if (n < 0)
        return FALSE;
    if (is_op(i, "mov") && ws_x_is(ptx_int(w, i->arg[1]), &c)) {
        ptx_set(w, i->arg[0], py_literal(&w->p, c % n));
        return TRUE;
    }
    if (!is_op(i, "add"))
        return FALSE;
    const WsExpr *e = ptx_int(w, i->arg[1]);
    ptx_flip_next(w, i->arg[0], e, n);
    ptx_set(
        w, i->arg[0],
        e ? ptx_value(w, ws_x_mod(w->p.r, ws_x_op(w->p.r, WS_EXPR_ADD, e, ws_x_int(w->p.r, 1)), n))
          : py_opaque(&w->p));
    return TRUE;
}
