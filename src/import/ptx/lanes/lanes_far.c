#include "import/ptx/lanes/lanes.h"

#include <string.h>

/* How far apart the lanes of a warp access shared memory. An address is often the sum of what is
 * the same in the warp and of a number that is known in every thread: then the bytes that a warp
 * touches with one instruction are known, in whatever order its lanes lie. Sums, products with
 * numbers and shifts keep that in 32 bits, wrapping as they do. */

#define EVEN_ALL 0x80000000u /* of 0, of nothing else */

/* A power of 2 that divides the product of n and what is a multiple of e. */
static guint32 even_of(guint32 e, guint32 n)
{
    return e == EVEN_ALL || !n ? EVEN_ALL : (guint32)MIN((guint64)e * (n & -n), EVEN_ALL / 2);
}

/* A number that is the same in all threads. */
static gboolean number(PtxLanes *q, const WsPtxInst *i, const char *name, guint32 *n)
{
    g_autofree gint64 *v = g_new0(gint64, q->threads);
    gboolean all = ptx_lanes_operand(q, i, name, v) == KNOWN;
    for (guint t = 0; t < q->threads && all; t++)
        all = v[t] == v[0];
    *n = (guint32)v[0];
    return all;
}

/* The address of an array in shared memory; of anything else nothing is known. */
static guint32 begins_even(PtxWalk *w, const char *name)
{
    for (guint k = 0; k < w->ptx->params->len; k++)
        if (!strcmp(g_array_index(w->ptx->params, const char *, k), name))
            return 1;
    if (!(g_ascii_isalpha(*name) || *name == '_' || *name == '$') || !strcmp(name, "WARP_SZ") ||
        g_hash_table_contains(w->ptx->locals, name))
        return 1;
    const gsize own = GPOINTER_TO_SIZE(g_hash_table_lookup(w->ptx->shared, name));
    return even_of(1, (guint32)(own ? own - 1 : 0) | 1024);
}

static guint32 multiple_of(PtxLanes *q, const WsPtxInst *i, const char *name, guint depth);

/* … of what an instruction gives. Addresses that a program aligns itself (the next multiple of
 * 1024, where they are none) are among them. */
static guint32 multiple_by(PtxLanes *q, const WsPtxInst *by, guint depth)
{
    static const char *const same[] = { "mov.b32",         "mov.u32",           "mov.b64",
                                        "mov.u64",         "cvt.u32.u64",       "cvt.u64.u32",
                                        "cvta.shared.u64", "cvta.to.shared.u64" };
    guint32 n;
    if (by->guard || by->n < 2 || strpbrk(by->arg[0], "{|,"))
        return 1;
    const guint32 first = multiple_of(q, by, by->arg[1], depth);
    for (guint k = 0; k < G_N_ELEMENTS(same); k++)
        if (!strcmp(by->op, same[k]))
            return first;
    if (by->n == 4 && (!strcmp(by->op, "selp.b32") || !strcmp(by->op, "selp.b64")))
        return MIN(first, multiple_of(q, by, by->arg[2], depth));
    if (by->n != 3)
        return 1;
    if (!strcmp(by->op, "shl.b32"))
        return number(q, by, by->arg[2], &n) && n < 32 ? even_of(first, 1u << n) : first;
    if (!strcmp(by->op, "and.b32") || !strcmp(by->op, "and.b64"))
        return number(q, by, by->arg[2], &n) && n < first ? EVEN_ALL : first;
    static const char *const sums[] = { "add.s32", "add.u32", "add.s64", "add.u64",
                                        "sub.s32", "sub.u32", "sub.s64", "sub.u64" };
    for (guint k = 0; k < G_N_ELEMENTS(sums); k++)
        if (!strcmp(by->op, sums[k]))
            return MIN(first, multiple_of(q, by, by->arg[2], depth));
    return 1;
}

/* A power of 2 that divides what is the same in a warp. Shared memory begins at a multiple of 1024
 * (PTX_ALIGNED). */
static guint32 multiple_of(PtxLanes *q, const WsPtxInst *i, const char *name, guint depth)
{
    guint32 n;
    if (number(q, i, name, &n))
        return even_of(1, n);
    const LanesDef *d = depth ? ptx_lanes_only(q, i, name) : NULL;
    if (!d)
        return begins_even(q->w, name);
    const gpointer known = g_hash_table_lookup(q->multiples, d);
    if (known)
        return GPOINTER_TO_UINT(known);
    g_hash_table_insert(q->multiples, (gpointer)d, GUINT_TO_POINTER(1)); /* where it reads itself */
    n = multiple_by(q, ws_ptx_inst(q->w->ptx, d->at), depth - 1);
    g_hash_table_insert(q->multiples, (gpointer)d, GUINT_TO_POINTER(n));
    return n;
}

/* Differences of one operand, from what is a multiple of `even`; FALSE: they are not known. */
static gboolean operand(PtxLanes *q, const WsPtxInst *i, const char *name, guint32 *far,
                        guint32 *even)
{
    g_autofree gint64 *v = g_new0(gint64, q->threads);
    const PtxHow how = ptx_lanes_operand(q, i, name, v);
    if (how == SAME || how == KNOWN) {
        for (guint t = 0; t < q->threads; t++)
            far[t] = how == KNOWN ? (guint32)v[t] : 0;
        *even = how == KNOWN ? EVEN_ALL : multiple_of(q, i, name, 40);
        return TRUE;
    }
    const LanesDef *d = how == NONE_YET ? NULL : ptx_lanes_only(q, i, name);
    if (!d || !d->far)
        return FALSE;
    memcpy(far, d->far, q->threads * sizeof *far);
    *even = d->even;
    return TRUE;
}

/* Bits below what is the same are changed in the rest alone. */
static gboolean bits(PtxLanes *q, gboolean ors, guint32 even, guint32 *far, const guint32 *b)
{
    for (guint t = 0; t < q->threads; t++) {
        if (b[t] >= even)
            return FALSE;
        far[t] = ors ? far[t] | b[t] : far[t] ^ b[t];
    }
    ws_source_granted(q->w->p.r, PTX_ALIGNED);
    return TRUE;
}

/* Bits below what is the same, and numbers that nothing the same is added to, moved. */
static gboolean part(PtxLanes *q, gboolean masks, guint32 n, guint32 *far, guint32 *even)
{
    if (masks ? n >= *even : *even != EVEN_ALL)
        return FALSE;
    if (*even != EVEN_ALL)
        ws_source_granted(q->w->p.r, PTX_ALIGNED);
    for (guint t = 0; t < q->threads; t++)
        far[t] = masks ? far[t] & n : n > 31 ? 0 : far[t] >> n;
    *even = EVEN_ALL;
    return TRUE;
}

static gboolean result(PtxLanes *q, const WsPtxInst *i, guint32 *far, guint32 *even)
{
    const guint threads = q->threads;
    g_autofree guint32 *b = g_new0(guint32, threads);
    const char *type = strrchr(i->op, '.');
    const gboolean adds = g_str_has_prefix(i->op, "add."), takes = g_str_has_prefix(i->op, "sub."),
                   shifts = g_str_has_prefix(i->op, "shl."),
                   mads = g_str_has_prefix(i->op, "mad.lo."),
                   times = mads || g_str_has_prefix(i->op, "mul.lo."),
                   ors = !strcmp(i->op, "or.b32");
    guint32 n, other = EVEN_ALL;
    if (!type || i->guard || i->n < 2 ||
        (strcmp(type, ".s32") && strcmp(type, ".u32") && strcmp(type, ".b32")) ||
        strstr(i->op, ".sat") || !operand(q, i, i->arg[1], far, even))
        return FALSE;
    if (!strncmp(i->op, "mov.", 4))
        return i->n == 2;
    if (i->n < (mads ? 4u : 3u))
        return FALSE;
    if (ors || !strcmp(i->op, "xor.b32")) {
        if (!operand(q, i, i->arg[2], b, &other) || (other != EVEN_ALL && *even != EVEN_ALL))
            return FALSE;
        if (other != EVEN_ALL) { /* it is the second that begins at what is the same */
            for (guint t = 0; t < threads; t++) {
                const guint32 mine = far[t];
                far[t] = b[t];
                b[t] = mine;
            }
            *even = other;
        }
        return bits(q, ors, *even, far, b);
    }
    if (!strcmp(i->op, "and.b32") || !strcmp(i->op, "shr.u32"))
        return number(q, i, i->arg[2], &n) && part(q, i->op[0] == 'a', n, far, even);
    if (adds || takes) {
        if (!operand(q, i, i->arg[2], b, &other))
            return FALSE;
        for (guint t = 0; t < threads; t++)
            far[t] = adds ? far[t] + b[t] : far[t] - b[t];
        *even = MIN(*even, other);
        return TRUE;
    }
    if ((!shifts && !times) || !number(q, i, i->arg[2], &n) ||
        (mads && !operand(q, i, i->arg[3], b, &other)))
        return FALSE;
    for (guint t = 0; t < threads; t++)
        far[t] = shifts ? (n > 31 ? 0 : far[t] << n) : far[t] * n + b[t];
    *even = MIN(other, even_of(*even, !shifts ? n : n > 31 ? 0 : 1u << n));
    return TRUE;
}

static gboolean pass(PtxLanes *q)
{
    gboolean changed = FALSE;
    guint32 even;
    g_autofree guint32 *far = g_new0(guint32, q->threads);
    for (guint k = 0; k < q->w->ptx->inst->len; k++) {
        const WsPtxInst *i = ws_ptx_inst(q->w->ptx, k);
        LanesDef *d = i->n && !strpbrk(i->arg[0], "[{|") ? ptx_lanes_def(q, i, i->arg[0]) : NULL;
        if (!ws_source_works(q->w->p.r, 20 + q->threads / 8))
            return FALSE;
        if (!d || d->how != MIXED || d->far || q->kept > PTX_MOST_KEPT || !result(q, i, far, &even))
            continue;
        q->kept += q->threads / 2;
        d->far = g_memdup2(far, q->threads * sizeof *far);
        d->even = even;
        changed = TRUE;
    }
    return changed;
}

static gboolean comes_to_some(const PtxLanes *q, guint k)
{
    const guint block = g_array_index(q->w->ptx->block_of, guint, k);
    return g_hash_table_contains(q->some, GUINT_TO_POINTER(block));
}

/* All lanes make it, at an address in one register; of a copy, those that do, and a store may be
 * one of two that are one (alike.c). */
static const char *address_of(const PtxLanes *q, const WsPtxInst *i, guint k, char **own)
{
    const gboolean matrix = strstr(i->op, "matrix.") != NULL,
                   copies = g_str_has_prefix(i->op, "cp.async.c"),
                   accesses = matrix || g_str_has_prefix(i->op, "ld.shared") ||
                              g_str_has_prefix(i->op, "st.shared");
    const gboolean stores = g_str_has_prefix(i->op, "st.shared"),
                   some = i->guard || (comes_to_some(q, k) && !stores);
    if ((!accesses || some) && !copies)
        return NULL;
    if (i->n < 2)
        return NULL;
    const char *at = *i->arg[0] == '[' ? i->arg[0] : i->arg[i->n - 1];
    if (*at != '[')
        return NULL;
    *own = g_strndup(at + 1, strcspn(at + 1, "]+"));
    return g_strstrip(*own);
}

void ptx_lanes_far(PtxLanes *q)
{
    while (pass(q)) /* what is known only grows: it ends */
        ;
    for (guint k = 0; k < q->w->ptx->inst->len; k++) {
        const WsPtxInst *i = ws_ptx_inst(q->w->ptx, k);
        g_autofree char *own = NULL;
        const char *name = address_of(q, i, k, &own);
        if (!name || !ws_source_works(q->w->p.r, q->threads) || q->kept > PTX_MOST_KEPT)
            continue;
        q->kept += q->threads / 2;
        guint32 *far = g_new0(guint32, q->threads), even;
        g_ptr_array_add(q->w->p.r->pool, far);
        if (operand(q, i, name, far, &even))
            g_hash_table_insert(comes_to_some(q, k) && g_str_has_prefix(i->op, "st.shared")
                                    ? q->w->far_if
                                    : q->w->far_of,
                                GUINT_TO_POINTER(k), far);
    }
}

gint ptx_by_place(gconstpointer a, gconstpointer b)
{
    const PtxPiece *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

void ptx_lanes_bytes(PtxWalk *w, const WsPtxInst *i, guint lanes, gint64 bytes, PtxOperand *o)
{
    const WsPtxInst *all = ws_ptx_inst(w->ptx, 0);
    const guint32 *far = g_hash_table_lookup(w->far_of, GUINT_TO_POINTER((guint)(i - all)));
    const guint first = w->tid / 32 * 32;
    const guint8 *twins = g_hash_table_lookup(w->twins, GUINT_TO_POINTER((guint)(i - all)));
    if (!far || o->last)
        return;
    GArray *pieces = g_array_new(FALSE, FALSE, sizeof(PtxPiece));
    g_ptr_array_add(w->p.r->arrays, pieces);
    for (guint k = first; k < first + lanes; k++) {
        const PtxPiece one = { (gint32)(far[k] - far[w->tid]), k,
                               twins ? twins[k / 32] * 32 + k % 32 : k };
        g_array_append_val(pieces, one);
        if (one.at % bytes) {
            ptx_lost(w, i, PTX_UNALIGNED);
            return;
        }
    }
    g_array_sort(pieces, ptx_by_place);
    o->from = g_array_index(pieces, PtxPiece, 0).at;
    o->to = g_array_index(pieces, PtxPiece, lanes - 1).at + bytes;
    o->pieces = pieces;
    o->piece = bytes;
}
