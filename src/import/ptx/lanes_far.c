#include "import/ptx/lanes.h"

#include <string.h>

/* How far apart the lanes of a warp access shared memory. An address is often the sum of what is
 * the same in the warp and of a number that is known in every thread: then the bytes that a warp
 * touches with one instruction are known, in whatever order its lanes lie. Sums, products with
 * numbers and shifts keep that in 32 bits, wrapping as they do. */

static const WsPtxInst *inst_at(const PtxLanes *q, guint i)
{
    return &g_array_index(q->w->ptx->inst, WsPtxInst, i);
}

/* Differences of one operand; FALSE: they are not known. */
static gboolean operand(PtxLanes *q, const WsPtxInst *i, const char *name, guint32 *far)
{
    g_autofree gint64 *v = g_new0(gint64, q->threads);
    const PtxHow how = ptx_lanes_operand(q, i, name, v);
    if (how == SAME || how == KNOWN) {
        for (guint t = 0; t < q->threads; t++)
            far[t] = how == KNOWN ? (guint32)v[t] : 0;
        return TRUE;
    }
    const LanesDef *d = how == NONE_YET ? NULL : ptx_lanes_only(q, i, name);
    if (d && d->far)
        memcpy(far, d->far, q->threads * sizeof *far);
    return d && d->far;
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

static gboolean result(PtxLanes *q, const WsPtxInst *i, guint32 *far)
{
    const guint threads = q->threads;
    g_autofree guint32 *b = g_new0(guint32, threads);
    const char *type = strrchr(i->op, '.');
    const gboolean adds = g_str_has_prefix(i->op, "add."), takes = g_str_has_prefix(i->op, "sub."),
                   shifts = g_str_has_prefix(i->op, "shl."),
                   mads = g_str_has_prefix(i->op, "mad.lo."),
                   times = mads || g_str_has_prefix(i->op, "mul.lo.");
    guint32 n;
    if (i->guard || i->n < 2 ||
        (strcmp(type, ".s32") && strcmp(type, ".u32") && strcmp(type, ".b32")) ||
        strstr(i->op, ".sat") || !operand(q, i, i->arg[1], far))
        return FALSE;
    if (!strncmp(i->op, "mov.", 4))
        return i->n == 2;
    if (i->n < (mads ? 4u : 3u))
        return FALSE;
    if (adds || takes) {
        if (!operand(q, i, i->arg[2], b))
            return FALSE;
        for (guint t = 0; t < threads; t++)
            far[t] = adds ? far[t] + b[t] : far[t] - b[t];
        return TRUE;
    }
    if ((!shifts && !times) || !number(q, i, i->arg[2], &n) ||
        (mads && !operand(q, i, i->arg[3], b)))
        return FALSE;
    for (guint t = 0; t < threads; t++)
        far[t] = shifts ? (n > 31 ? 0 : far[t] << n) : far[t] * n + b[t];
    return TRUE;
}

static gboolean pass(PtxLanes *q)
{
    gboolean changed = FALSE;
    g_autofree guint32 *far = g_new0(guint32, q->threads);
    for (guint k = 0; k < q->w->ptx->inst->len; k++) {
        const WsPtxInst *i = inst_at(q, k);
        LanesDef *d = i->n && !strpbrk(i->arg[0], "[{|") ? ptx_lanes_def(q, i, i->arg[0]) : NULL;
        if (!d || d->how != MIXED || d->far || !result(q, i, far))
            continue;
        d->far = g_memdup2(far, q->threads * sizeof *far);
        changed = TRUE;
    }
    return changed;
}

/* All lanes make it, at an address in one register; of a copy, those that do. */
static const char *address_of(const PtxLanes *q, const WsPtxInst *i, guint k, char **own)
{
    const gboolean matrix = strstr(i->op, "matrix.") != NULL,
                   copies = g_str_has_prefix(i->op, "cp.async.c"),
                   accesses = matrix || g_str_has_prefix(i->op, "ld.shared") ||
                              g_str_has_prefix(i->op, "st.shared");
    const guint block = g_array_index(q->w->ptx->block_of, guint, k);
    const gboolean some = i->guard || g_hash_table_contains(q->some, GUINT_TO_POINTER(block));
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
        const WsPtxInst *i = inst_at(q, k);
        g_autofree char *own = NULL;
        const char *name = address_of(q, i, k, &own);
        if (!name)
            continue;
        guint32 *far = g_new0(guint32, q->threads);
        g_ptr_array_add(q->w->p.r->pool, far);
        if (operand(q, i, name, far))
            g_hash_table_insert(q->w->far_of, GUINT_TO_POINTER(k), far);
    }
}

gint ptx_by_place(gconstpointer a, gconstpointer b)
{
    const PtxPiece *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

void ptx_lanes_bytes(PtxWalk *w, const WsPtxInst *i, guint lanes, gint64 bytes, PtxOperand *o)
{
    const WsPtxInst *all = &g_array_index(w->ptx->inst, WsPtxInst, 0);
    const guint32 *far = g_hash_table_lookup(w->far_of, GUINT_TO_POINTER((guint)(i - all)));
    const guint first = w->tid / 32 * 32;
    if (!far || o->last)
        return;
    GArray *pieces = g_array_new(FALSE, FALSE, sizeof(PtxPiece));
    g_ptr_array_add(w->p.r->arrays, pieces);
    for (guint k = first; k < first + lanes; k++) {
        const PtxPiece one = { (gint32)(far[k] - far[w->tid]), k };
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
